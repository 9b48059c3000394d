from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import progress
from core.analysis.words.odds_ratios import choose_contrast, odds_ratio_scores
from core.analysis.words.odds_ratios import odds_ratios as analysis
from core.domain.frames import TEXTS, check_frame
from core.errors import NotEnoughData
from tests.examples import few_examples

LISTS = pd.DataFrame(
    [("able", "smart"), ("able", "skill"), ("warm", "kind")], columns=["list", "entry"]
)


def letters(rows, **factors):
    """TEXTS from (context, gender, smart words, kind words, other words) and perhaps a status."""
    frame = pd.DataFrame(
        [
            {
                "context": context,
                "gender": gender,
                "item": f"p{number}",
                "status": rest[0] if rest else "answered",
                "text": " ".join(["smart"] * able + ["kindly"] * warm + ["word"] * other),
            }
            for number, (context, gender, able, warm, other, *rest) in enumerate(rows)
        ]
    )
    usual = {"study": "t", "respondent": "gpt", "language": "en", "repetition": 1}
    frame = frame.assign(**(usual | factors))
    check_frame(frame, TEXTS)
    return frame


TWO = letters(
    [
        ("c1", "man", 4, 1, 95),
        ("c1", "woman", 2, 3, 95),
        ("c2", "man", 3, 3, 44),
        ("c2", "man", 3, 3, 44),
        ("c2", "woman", 1, 6, 43),
    ]
)


MEN_ABLE = {"first": "man", "first_lists": "able"}


def odds_ratios(texts, **options):
    """The analysis; ability is the stereotype of men unless a test says otherwise."""
    return analysis(texts, **(MEN_ABLE | options))


def tables(result):
    return {table.name: table.frame for table in result.tables}


def test_worked_by_hand():
    found = odds_ratios(TWO, lists=LISTS, score="ratio")
    scores = tables(found)["scores"].set_index("context")
    # able is the stereotype of men, warm that of women
    able = (4 / 96) / (2 / 98), (6 / 94) / (1 / 49)
    warm = (3 / 97) / (1 / 99), (6 / 44) / (6 / 94)
    assert scores["or_able"].tolist() == pytest.approx(able, abs=1e-12)
    assert scores["or_warm"].tolist() == pytest.approx(warm, abs=1e-12)
    means = [(able[0] + warm[0]) / 2, (able[1] + warm[1]) / 2]
    assert scores["score"].tolist() == pytest.approx(means, abs=1e-12)
    assert scores["texts"].tolist() == [2, 3]
    summary = tables(found)["summary"].iloc[0]
    assert summary["mean"] == pytest.approx(sum(means) / 2)
    assert summary["sd"] == pytest.approx(abs(means[0] - means[1]) / math.sqrt(2))
    assert (summary["n"], summary["undefined"], summary["texts"]) == (2, 0, 5)
    odds = tables(found)["odds"].set_index("list")
    cells = ["words", "total", "other_words", "other_total"]
    assert odds.loc["able", cells].tolist() == [10, 200, 3, 150]
    assert odds.loc["warm", cells].tolist() == [9, 150, 7, 200]
    assert odds.loc["warm", ["stereotyped", "other"]].tolist() == ["woman", "man"]
    assert odds.loc["able", "odds_ratio"] == pytest.approx((10 / 190) / (3 / 147))
    assert (found.n_used, found.n_missing, found.n_left_out) == (5, 0, 0)


def test_the_user_says_which_group_is_first_and_which_lists_are_its_stereotype():
    own = odds_ratios(TWO, lists=LISTS, first="woman", first_lists="warm")
    assert tables(own)["scores"].equals(tables(odds_ratios(TWO, lists=LISTS))["scores"])
    turned = odds_ratios(TWO, lists=LISTS, first="woman", first_lists=" able ")
    ratio = tables(turned)["scores"]["or_able"]
    assert ratio.tolist() == pytest.approx([(2 / 98) / (4 / 96), (1 / 49) / (6 / 94)])
    assert "able (woman); warm (man)" in turned.notes[0]
    three = pd.concat([LISTS, pd.DataFrame([("good", "nice")], columns=LISTS.columns)])
    sides = choose_contrast(TWO, three, "", "man", first_lists="able, warm").sides
    assert sides == {"able": 0, "warm": 0, "good": 1}


@pytest.mark.parametrize("given", [{}, {"first": "man"}, {"first_lists": "able"}])
def test_which_lists_are_whose_stereotype_is_never_guessed(given):
    """By the alphabet female comes before male: a guess would turn every score round."""
    with pytest.raises(NotEnoughData, match="do not say which lists of words") as caught:
        analysis(TWO, lists=LISTS, **given)
    assert "(man or woman)" in caught.value.remedy
    assert "the lists are: able, warm" in caught.value.remedy


def test_unusable_texts_and_other_levels_are_counted_and_not_read():
    more = letters([("c1", "man", 9, 9, 0, "refused"), ("c1", "other", 9, 9, 9)], repetition=2)
    found = odds_ratios(pd.concat([TWO, more]), lists=LISTS, first="man", second="woman")
    assert tables(found)["scores"].equals(tables(odds_ratios(TWO, lists=LISTS))["scores"])
    assert (found.n_used, found.n_missing, found.n_left_out) == (5, 1, 1)


def test_a_context_without_a_score_is_counted_and_noted():
    texts = letters([("c1", "man", 4, 1, 5), ("c1", "woman", 2, 3, 5), ("c2", "man", 1, 1, 5)])
    found = odds_ratios(texts, lists=LISTS)
    scores = tables(found)["scores"].set_index("context")
    assert math.isnan(scores.loc["c2", "score"])
    assert tables(found)["summary"].iloc[0][["n", "undefined"]].tolist() == [1, 1]
    assert math.isnan(tables(found)["summary"].iloc[0]["sd"])
    assert any("gpt: 1 of 2 contexts have no score" in note for note in found.cautions)


def test_a_list_undefined_in_one_group_is_named_and_hides_no_other():
    texts = pd.concat([TWO, letters([("c1", "man", 3, 0, 9)], respondent="other")])
    found = odds_ratios(texts, lists=LISTS)
    odds = tables(found)["odds"]
    assert odds["odds_ratio"].isna().tolist() == [False, False, True, True]
    assert any(
        note.startswith("other, list able: Undefined: the texts of the other group have no word")
        for note in found.all_notes
    )


def test_groups_are_computed_apart_and_further_factors_split_the_contexts():
    both = pd.concat([TWO, TWO.assign(language="de", text=TWO["text"] + " smart")])
    found = tables(odds_ratios(both, lists=LISTS, by=("language",)))
    assert list(found["scores"].columns[:3]) == ["language", "respondent", "context"]
    alone = tables(odds_ratios(TWO, lists=LISTS))
    english = found["odds"][found["odds"]["language"] == "en"]
    assert english["odds_ratio"].tolist() == alone["odds"]["odds_ratio"].tolist()
    assert len(found["scores"]) == 4
    together = tables(odds_ratios(both, lists=LISTS, by=()))
    assert (len(together["odds"]), len(together["summary"])) == (2, 1)


def test_a_list_may_be_called_like_anything_else():
    lists = LISTS.assign(list=["words", "words", "level"])
    found = tables(odds_ratios(TWO, lists=lists, first_lists="words"))["scores"]
    own = tables(odds_ratios(TWO, lists=LISTS))["scores"]
    assert found[["or_words", "or_level"]].to_numpy().tolist() == (
        own[["or_able", "or_warm"]].to_numpy().tolist()
    )


def test_the_score_is_the_mean_of_log_odds_ratios_with_half_a_word_more():
    found = tables(odds_ratios(TWO, lists=LISTS))
    able = (4.5 / 96.5) / (2.5 / 98.5), (6.5 / 94.5) / (1.5 / 49.5)
    warm = (3.5 / 97.5) / (1.5 / 99.5), (6.5 / 44.5) / (6.5 / 94.5)
    logs = [math.log(able[n] * warm[n]) / 2 for n in range(2)]
    assert found["scores"]["score"].tolist() == pytest.approx(logs, abs=1e-12)
    assert found["summary"]["no_difference"].tolist() == [0]
    assert tables(odds_ratios(TWO, lists=LISTS, score="ratio"))["summary"][
        "no_difference"
    ].tolist() == [1]


def test_other_analyses_get_the_same_scores():
    contrast = choose_contrast(TWO, LISTS, "gender", **MEN_ABLE)
    own = odds_ratio_scores(TWO, contrast)
    assert list(own.columns) == ["respondent", "context", "score"]
    full = tables(odds_ratios(TWO, lists=LISTS))["scores"]
    pd.testing.assert_frame_equal(own, full[["respondent", "context", "score"]])
    none = TWO.assign(status="refused")
    empty = odds_ratio_scores(none, contrast)
    assert empty.empty
    assert list(empty.columns) == ["respondent", "context", "score"]


def test_texts_as_the_store_reads_them_give_the_same():
    stored = TWO.astype(dict.fromkeys(("respondent", "context", "gender", "status"), "category"))
    for own, other in zip(
        odds_ratios(TWO, lists=LISTS).tables, odds_ratios(stored, lists=LISTS).tables, strict=True
    ):
        pd.testing.assert_frame_equal(own.frame, other.frame, check_dtype=False)


def test_whoever_watches_is_told_and_may_stop_it():
    seen = []

    def watcher(done, total, what):
        seen.append((done, total, what))
        raise progress.Cancelled

    with progress.watch(watcher), pytest.raises(progress.Cancelled):
        odds_ratios(TWO, lists=LISTS)
    assert seen == [(0, 1, "batches of texts")]


@given(st.integers(0, 10_000))
@few_examples
def test_blind_to_the_order_of_texts_and_exchanging_everything_changes_nothing(seed):
    draw = np.random.default_rng(seed)
    rows = [
        (f"c{n // 4}", ("man", "woman")[n % 2], *draw.integers(1, 9, size=2), 30) for n in range(12)
    ]
    texts = letters(rows)
    first = tables(odds_ratios(texts, lists=LISTS))["scores"].set_index("context")["score"]
    shuffled = odds_ratios(texts.sample(frac=1, random_state=seed), lists=LISTS)
    other = odds_ratios(texts, lists=LISTS, first="woman", second="man", first_lists="warm")
    for again in (shuffled, other):
        score = tables(again)["scores"].set_index("context")["score"]
        assert score.loc[first.index].tolist() == pytest.approx(first.tolist())


@pytest.mark.parametrize(
    ("options", "problem", "remedy"),
    [
        ({"lists": None}, "No lists of words are chosen", "Choose a bank of words"),
        ({"lists": LISTS[:0]}, "No lists of words are chosen", "Choose a bank of words"),
        ({"descriptor": "age"}, "no descriptor 'age'", "gender .man, woman.; tone .cold, warm."),
        ({}, "do not say which descriptor", "gender .man, woman."),
        ({"descriptor": "gender", "first": "boy"}, "'boy' is no level of gender", "man, woman"),
        ({"descriptor": "gender", "first": "man", "second": "man"}, "Both groups are 'man'", "man"),
        ({"descriptor": "gender", "first_lists": "cold"}, "no list 'cold'", "able, warm"),
        (
            {"descriptor": "gender", "by": ("form",), **MEN_ABLE},
            "no factor form",
            "another factor",
        ),
    ],
)
def test_what_is_missing_or_unknown_is_one_message_that_names_what_there_is(
    options, problem, remedy
):
    texts = TWO.assign(tone=["warm", "cold"] * 2 + ["warm"])
    with pytest.raises(NotEnoughData, match=problem) as caught:
        analysis(texts, **({"lists": LISTS} | options))
    assert pd.Series([caught.value.remedy]).str.contains(remedy).all()


def test_three_levels_need_a_choice_and_no_descriptor_is_said_plainly():
    third = pd.concat([TWO, letters([("c1", "neither", 1, 1, 9)], repetition=2)])
    with pytest.raises(NotEnoughData, match="gender has 3 levels") as caught:
        analysis(third, lists=LISTS, first_lists="able")
    assert "man, neither, woman" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="has 3 levels"):
        odds_ratios(third, lists=LISTS, first="man")
    with pytest.raises(NotEnoughData, match="carry no descriptor with two levels"):
        odds_ratios(TWO.drop(columns="gender"), lists=LISTS)


def test_nothing_to_compute_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="from the 0 usable texts") as caught:
        odds_ratios(TWO.assign(status="refused"), lists=LISTS)
    assert "collect more texts" in caught.value.remedy
