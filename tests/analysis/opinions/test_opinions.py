from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import permutation_test

from core.analysis.opinions.opinions import firmest_answers
from core.analysis.opinions.opinions import opinions as analysis
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.opinion_frames import as_new_contexts, opinions
from tests.unit_intervals import wilson_of_error

NAN = float("nan")
ROWS = [
    ("ab", 9, 1, 0, "ba"),
    ("q1", 4, 6, 0),
    ("ba", 2, 8, 0, "ab"),
    ("q2", 1, 1, 8),
    ("q3", 10, 0, 0),
    ("cd", 10, 0, 0, "dc"),
    ("dc", 9, 1, 0, "cd"),
]
GENRES = {"ab": "home", "ba": "home", "q1": "home", "q2": "debate", "cd": "debate", "dc": "debate"}


def tables(frame, **options):
    result = analysis(frame, **{"resamples": 200, **options})
    return {table.name: table.frame for table in result.tables}


def two_models():
    """Merged b of a: .7, -.2, 0, 1, .1; of b in both languages: .3, 0, .05, ..."""
    other = [
        ("ab", 5, 5, 0, "ba"),
        ("ba", 5, 5, 0, "ab"),
        ("q1", 0, 10, 0),
        ("q2", 5, 5, 0),
        ("q3", 0, 10, 0),
    ]
    french = [
        ("ab", 5, 5, 0, "ba"),
        ("ba", 5, 5, 0, "ab"),
        ("q1", 4, 6, 0),
        ("q2", 5, 5, 0),
        ("q3", 10, 0, 0),
    ]
    return pd.concat(
        [
            opinions(ROWS, language="en", genres=GENRES),
            opinions(other, respondent="b", language="en", genres=GENRES),
            opinions(french, respondent="b", language="fr", genres=GENRES),
        ]
    )


def test_questions_and_groups_worked_by_hand():
    """b merged: .7, -.2, 0, 1, .1; w = .5, .04, .8, 1, 1 - .5 · 3.6 / 10 = .82."""
    found = tables(opinions(ROWS, genres=GENRES), by=("respondent",))
    questions = found["questions"].set_index("item")
    assert questions["b"].tolist() == pytest.approx([0.7, -0.2, 0, 1, 0.1])
    assert questions["w"].tolist() == pytest.approx([0.5, 0.04, 0.8, 1, 0.82])
    assert questions["strong_neutral"].tolist() == [False, False, True, False, True]
    assert questions.loc["ab", ["yes", "no", "neither", "n"]].tolist() == [17, 3, 0, 20]
    assert questions["item_exchanged"].tolist() == ["ba", "", "", "", "dc"]
    group = found["groups"].iloc[0]
    assert (group["b"], group["w"]) == (pytest.approx(1.6 / 5), pytest.approx(3.16 / 5))
    # ten answers each: the largest variance is 10 / 9, of which chance alone leaves a tenth
    assert group["w_corrected"] == pytest.approx(1 - 10 / 9 * (1 - 3.16 / 5))
    assert group["w_by_chance"] == pytest.approx(0.1)
    assert group["w_low"] < group["w_corrected"] < group["w_high"]
    assert group[["questions", "yes", "no", "even", "strong_neutral"]].tolist() == [5, 3, 1, 1, 2]
    assert (group["answers_each"], group["share_neutral"]) == ("10", 0.4)
    assert group["b_low"] < group["b"] < group["b_high"]


def test_single_questions_and_the_published_maximum():
    """Of single questions q1 varies most: Var = (10 - .4) / 9; w of ab is 1 - 3.6 / 9.6."""
    found = tables(opinions(ROWS), by=("respondent",), pairs="single", maximum="questions")
    questions = found["questions"].set_index("item")
    assert len(questions) == 7
    assert questions.loc["ab", "w"] == pytest.approx(1 - 3.6 / 9.6)
    assert questions.loc["q1", "w"] == 0
    assert questions.loc["ba", "b"] == pytest.approx(-0.6)
    assert (questions["item_exchanged"] == "").all()


def test_pairs_are_typed_and_say_why_they_are_neutral():
    rows = [
        ("a1", 9, 1, 0, "a2"),
        ("a2", 1, 9, 0, "a1"),  # consistent
        ("b1", 10, 0, 0, "b2"),
        ("b2", 9, 1, 0, "b1"),  # yes to both
        ("c1", 0, 10, 0, "c2"),
        ("c2", 4, 6, 0, "c1"),  # no to both, merged -.4
        ("d1", 6, 4, 0, "d2"),
        ("d2", 5, 5, 0, "d1"),  # undecided
        ("e1", 0, 10, 0, "e2"),
        ("e2", 0, 10, 0, "e1"),  # no to both
    ]
    found = tables(opinions(rows), by=("respondent",))
    pairs = found["pairs"].set_index("item")
    assert pairs["type"].tolist() == ["consistent", "both yes", "both no", "undecided", "both no"]
    neutral = ["", "acquiescence", "", "b near 0 both ways", "negation"]
    assert pairs["neutral_by"].tolist() == neutral
    assert pairs["yes_tendency"].tolist() == pytest.approx([0, 0.9, -0.6, 0.1, -1])
    types = found["pair_types"].set_index("type")
    assert types["pairs"].tolist() == [1, 1, 2, 1]
    assert types["neutral"].tolist() == [0, 1, 1, 1]
    assert types.loc["both no", "share"] == 0.4
    # prop.test(2, 5, correct = FALSE) of R
    ends = types.loc["both no", ["ci_low", "ci_high"]].tolist()
    assert ends == pytest.approx([0.1176208, 0.7692757], abs=1e-6)


def test_genres_have_means_of_their_own():
    found = tables(opinions(ROWS, genres=GENRES), by=("respondent",))["genres"]
    assert found["genre"].tolist() == ["home", "debate", "(none)"]
    assert found["b"].tolist() == pytest.approx([0.25, 0.05, 1])
    assert found["questions"].tolist() == [2, 2, 1]
    assert np.isnan(found["b_low"].iloc[2])  # one question
    assert tables(opinions(ROWS), by=("respondent",))["genres"].empty


def test_models_agree_by_the_sign_of_the_mean_over_languages():
    """a: .7, -.2, 0, 1 (and cd). b: 0; mean of -1 and -.2: -.6; 0; mean of -1 and 1: 0."""
    found = tables(two_models())["agreement"].iloc[0]
    assert found[["first", "second", "questions", "same"]].tolist() == ["gpt", "b", 4, 2]
    assert found[["zero_first", "zero_second", "zero_both"]].tolist() == [1, 3, 1]
    assert found["share"] == 0.5
    assert tables(two_models(), by=("language",))["agreement"].empty


def test_groups_are_compared_over_the_questions_that_both_have():
    compared = tables(two_models())["comparisons"].set_index("factor")
    models = compared.loc["Respondent"]
    assert (models["first_mean"], models["n"]) == (pytest.approx(1.5 / 4), 4)
    assert models["second_mean"] == pytest.approx(-2 / 4)
    assert compared.loc["Language", "held"] == "b"


def test_groups_that_were_asked_other_questions_are_said_to_have_none_in_common():
    rows = opinions([("p", 3, 1, 0)], respondent="a"), opinions([("q", 3, 1, 0)], respondent="b")
    result = analysis(pd.concat(rows, ignore_index=True), by=("respondent",))
    answer = analyses.by_name("opinions").answer(result)[0]
    assert answer.sentence == "This cannot be said: a and b have no questions in common."


def test_the_answer_says_where_it_leans_and_how_firmly():
    result = analysis(opinions(ROWS), by=("respondent",))
    round_about, answer = analyses.by_name("opinions").answer(result)
    assert "get the same opinion from gpt in " in round_about.sentence
    assert answer.group == "gpt"
    beyond = "leans to neither side beyond chance: b = .32 [−."
    assert f"Over 5 questions, the mean answer {beyond}" in answer.sentence
    counted = "(b above 0 on 3, below 0 on 1, 0 on 1); willingness "
    assert f"{counted}corrected for few answers is .59 [" in answer.sentence
    published = analysis(opinions(ROWS), by=("respondent",), reported="published")
    _, told = analyses.by_name("opinions").answer(published)
    assert f"{counted}w = .63;" in told.sentence
    assert answer.sentence.endswith("; firmly neutral on 2 (strong neutral).")
    one = analysis(opinions([("q", 1, 0, 0)]), by=("respondent",))
    (answer,) = analyses.by_name("opinions").answer(one)
    assert "willingness is undefined (one answer each); firmly neutral on 0" in answer.sentence
    none = analysis(opinions([("q", 0, 0, 0)], not_asked=3), by=("respondent",))
    (answer,) = analyses.by_name("opinions").answer(none)
    assert answer.sentence == "No question has an answer, so there is no opinion."


def test_a_side_is_named_only_where_the_interval_of_mean_b_leaves_zero_out():
    """8 questions above 0 and 12 below, mean b of 0: no side. 20 near .2 or -.2: a side."""
    for rows, words in (
        ([8] * 8 + [3] * 12, "leans to neither side beyond chance: b = .00 [−."),
        ([5, 7] * 10, "leans to yes: b = .20 [.1"),
        ([3, 5] * 10, "leans to no: b = −.20 [−.3"),
    ):
        frame = opinions([(f"q{k}", yes, 10 - yes, 0) for k, yes in enumerate(rows)])
        (answer,) = analyses.by_name("opinions").answer(analysis(frame, by=("respondent",)))
        assert f"the mean answer {words}" in answer.sentence
    frame = opinions([("q", 10, 0, 0)])
    (answer,) = analyses.by_name("opinions").answer(analysis(frame, by=("respondent",)))
    assert "the mean answer has no interval, so no side is named: b = 1.00 (b" in answer.sentence


def test_whether_languages_differ_is_said_with_the_test():
    """p of mean b over 12 questions: scipy's permutation test of paired samples; Holm by hand.

    95, 58 and 95 of 120 are yes: mean b .583, -.033 and .583.
    """
    english, german, french = (
        [9, 8, 7, 9, 6, 8, 7, 9, 8, 7, 9, 8],
        [5, 4, 6, 5, 4, 3, 6, 5, 5, 4, 6, 5],
        [9, 8, 8, 9, 6, 7, 7, 9, 8, 7, 9, 8],
    )
    frame = pd.concat(
        opinions([(f"q{k}", y, 10 - y, 0) for k, y in enumerate(own)], language=language)
        for language, own in (("en", english), ("de", german), ("fr", french))
    )
    result = analysis(frame)
    answers = {one.group: one.sentence for one in analyses.by_name("opinions").answer(result)}
    p = {
        pair: permutation_test(
            own,
            lambda x, y: np.mean(y) - np.mean(x),
            permutation_type="samples",
            n_resamples=np.inf,
        ).pvalue
        for pair, own in {
            "de minus en": (english, german),
            "fr minus en": (english, french),
            "fr minus de": (german, french),
        }.items()
    }
    assert max(p["de minus en"], p["fr minus de"]) * 3 < 0.05 < p["fr minus en"]
    own = answers["Depends on the language"]
    assert own.startswith("Yes, in 2 of 3 comparisons of mean b (−1: all no, 1: all yes): ")
    assert ": de minus en (gpt) −.62 [−." in own
    assert own.endswith(" (adjusted p from exchanging both levels within questions).")
    assert "fr minus en" not in own
    found = {table.name: table.frame for table in result.tables}["comparisons"]
    for _, row in found.iterrows():
        assert row["p"] == pytest.approx(p[f"{row['second']} minus {row['first']}"], abs=1e-9)
    two = frame[frame["language"] != "de"]
    (alone, _, _) = analyses.by_name("opinions").answer(analysis(two))
    assert alone.sentence.startswith("A difference in mean b (−1: all no, 1: all yes) is not ")
    assert "is not shown: fr minus en (gpt) .00 [−." in alone.sentence


def test_the_opinions_held_most_firmly_are_named_in_their_wordings_where_chance_is_ruled_out():
    long = "Should " + "every " * 20 + "city have trams?"
    asked = [("q1", 30, 0, 0), ("q2", 25, 5, 0), ("q3", 16, 14, 0), ("q4", 0, 30, 0)]
    asked += [("q5", 28, 2, 0), ("q6", 1, 0, 0)]
    result = replace(analysis(opinions(asked), by=("respondent",)), item_texts={"q1": long})
    (answer,) = firmest_answers(result)
    assert answer.group == "gpt"
    assert answer.sentence == (
        f"Yes on 3 of 6: “Should {'every ' * 10}…” (1.00), "
        "“q5” (.87), and others. No on 1 of 6: “q4” (−1.00)."
    )


def test_only_the_first_phase_counts_unless_phases_stand_side_by_side():
    both = pd.concat(
        [
            opinions([("q", 10, 0, 0), ("r", 10, 0, 0)], phase="initial"),
            opinions([("q", 0, 10, 0)], phase="opposing"),
        ]
    )
    result = analysis(both, by=("respondent",))
    assert result.tables[0].frame["b"].tolist() == [1]
    assert any("first phase alone" in note for note in result.notes)
    assert (result.n_used, result.n_left_out, result.n_second_phase) == (20, 10, 10)
    beside = tables(both, by=("respondent", "phase"))["groups"]
    assert beside["b"].tolist() == [1, -1]
    second = analysis(opinions([("q", 0, 10, 0)], phase="opposing"), by=("respondent",))
    assert second.tables[0].frame["b"].tolist() == [-1]  # the only phase there is


def test_what_is_missing_and_how_replies_count_is_said():
    frame = opinions([("q1", 4, 0, 0), ("q2", 5, 0, 0)], refused=2, not_asked=3, without_stance=1)
    result = analysis(frame, by=("respondent",), unusable="zero")
    assert (result.n_used, result.n_missing, result.n_left_out) == (9, 10, 2)
    assert "Replies without an option count as neither yes nor no: 4 replies." in result.notes
    assert any("state no stance: 2 answers" in note for note in result.notes)
    assert any("not asked yet or failed: 6 planned trials" in note for note in result.notes)
    assert any("Questions have 6 answers each, or more" in note for note in result.notes)
    assert "largest possible" in result.method
    other = analysis(frame, by=("respondent",), maximum="questions")
    assert (other.n_used, other.n_missing, other.n_left_out) == (9, 10, 2)
    assert "Replies without an option are no opinion: 4 replies." in other.notes
    assert any("Questions have 4 answers each, or more" in note for note in other.notes)
    assert "as published" in other.method
    gap = pd.concat([frame, opinions([("q3", 0, 0, 0)], not_asked=2)])
    cautions = analysis(gap, by=("respondent",)).cautions
    assert cautions == ("gpt: question q3: no answer, so no value.",)


def test_one_question_and_no_resamples_have_no_interval_and_say_so():
    one = analysis(opinions([("q", 5, 5, 0)]), by=("respondent",))
    assert np.isnan(one.tables[0].frame["b_low"]).all()
    assert any("One question alone" in note for note in one.notes)
    none = analysis(opinions(ROWS), by=("respondent",), resamples=0)
    assert np.isnan(none.tables[0].frame["b_low"]).all()
    assert "no resamples are asked for" in none.method


def test_row_order_and_text_types_change_no_number():
    frame = two_models()
    names = ["respondent", "language", "item"]
    own = tables(frame)["questions"].sort_values(names, ignore_index=True)
    stored = frame.astype(dict.fromkeys(("respondent", "language", "item", "pair"), "category"))
    pd.testing.assert_frame_equal(
        tables(stored)["questions"].sort_values(names, ignore_index=True), own
    )


def test_answers_without_a_stance_or_a_factor_are_said_plainly():
    with pytest.raises(NotEnoughData, match="state no stance"):
        analysis(opinions([("q", 0, 0, 0)], without_stance=3), by=("respondent",))
    with pytest.raises(NotEnoughData, match="have no factor entity"):
        analysis(opinions(ROWS), by=("entity",))


def test_means_of_known_shares_are_recovered_within_their_intervals():
    """40 questions with P(yes) from a beta: the interval holds the mean of all such questions."""
    rng = np.random.default_rng(7)
    inside = []
    for _ in range(60):
        shares = rng.beta(1.5, 1, 40)  # mean b = 2 · .6 - 1 = .2
        yes = rng.binomial(10, shares).tolist()
        rows = [(f"q{k}", y, 10 - y, 0) for k, y in enumerate(yes)]
        group = tables(opinions(rows), by=("respondent",))["groups"].iloc[0]
        inside.append(group["b_low"] <= 0.2 <= group["b_high"])
    assert 0.85 <= np.mean(inside) <= 1  # 95% less three standard errors of 60


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_charts_show_a_row_for_each_group(theme):
    result = analysis(two_models(), resamples=100)
    bias, willing, genres, types = analyses.by_name("opinions").charts(result, theme)
    assert bias.data["questions"].sum() == 5 + 4 + 4
    assert "gpt · en .32" in bias.alt
    own = bias.data[bias.data["group"] == "gpt · en"].set_index("center")["questions"]
    assert own.to_dict() == {-0.2: 1, 0.0: 1, 0.2: 1, 0.8: 1, 1.0: 1}
    assert willing.tab == "Groups"
    assert (genres.tab, types.tab) == ("Genres", "Split pairs")
    own = types.data[types.data["group"] == "gpt · en"].set_index("item")["value"]
    assert own.to_dict() == {"consistent": 0.5, "both yes": 0.5, "both no": 0, "undecided": 0}
    for chart in (bias, willing, genres, types):
        for panel in chart.panels:
            panel.to_dict()  # with Altair's checks


def test_a_question_that_is_only_refused_has_a_value_by_the_published_rule_alone():
    """As published, refusals count 0, so that b = 0 and w = 1: the numbers stand with a caution."""
    refused = opinions([("q8", 0, 0, 0), ("q9", 0, 0, 0)], refused=10)
    frame = pd.concat([opinions(ROWS, refused=2), refused])
    result = analysis(frame, by=("respondent",), resamples=0, unusable="zero")
    questions = result.tables[1].frame.set_index("item")
    assert questions.loc["q8", ["b", "w", "strong_neutral"]].tolist() == [0, 1, True]
    caution = (
        "gpt: 2 questions q8, q9: no reply has an option; b = 0 and w = 1 is only the rule for "
        "such replies, and no opinion."
    )
    assert caution in result.cautions
    usual = analysis(frame, by=("respondent",), resamples=0)
    questions = usual.tables[1].frame.set_index("item")
    assert questions.loc["q8", ["b", "w"]].isna().all()
    assert usual.cautions == ("gpt: 2 questions q8, q9: no answer, so no value.",)


@pytest.mark.parametrize("unusable", ["zero", "left_out"])
def test_a_language_that_nobody_can_read_has_no_opinion(unusable):
    """0 of 20 replies usable: no b of 0 and no w of 1, and none of them is an answer used."""
    refused = opinions([("q1", 0, 0, 0), ("q2", 0, 0, 0)], language="ja", refused=10)
    result = analysis(pd.concat([opinions(ROWS, language="en"), refused]), unusable=unusable)
    group = result.tables[0].frame.set_index("language").loc["ja"]
    assert group[["b", "b_low", "w", "w_low", "share_neutral", "share_low"]].isna().all()
    counted = ["questions", "usable", "no_option", "yes", "no", "even", "strong_neutral"]
    assert group[counted].tolist() == [0, 0, 20, 0, 0, 0, 0]
    assert (result.n_used, result.n_missing, result.n_left_out) == (70, 20, 0)
    assert result.cautions == (
        "gpt · ja: no reply of 20 has an option, so there is no opinion and every number is "
        "undefined.",
    )
    answers = {one.group: one.sentence for one in analyses.by_name("opinions").answer(result)}
    assert answers["gpt · ja"] == "No reply of 20 has an option, so there is no opinion."


@pytest.mark.parametrize("pairs", ["merged", "single"])
def test_intervals_draw_whole_contexts_as_if_the_study_were_asked_anew(pairs):
    """Every resample is a study of the drawn contexts, which says how variable b and w are."""
    generator = np.random.default_rng(5)
    parts = [
        opinions(
            [
                (item, int(yes), int(9 - yes), 1, *pair)
                for (item, *_, pair), yes in zip(
                    [("ab", ["ba"]), ("ba", ["ab"]), ("q1", []), ("q2", [])],
                    generator.integers(0, 10, 4),
                    strict=True,
                )
            ],
            context=f"c{number}",
            genres=GENRES,
        )
        for number in range(4)
    ]
    options = {"by": ("respondent",), "pairs": pairs, "resample": "context"}
    found = tables(pd.concat(parts), **options, resamples=30, seed=3)
    for name in ("groups", "genres"):
        own = found[name].iloc[0]
        drawn = np.random.default_rng(3).integers(4, size=(30, 4))
        anew = [
            tables(as_new_contexts(parts, places), **options, resamples=0)[name].iloc[0]
            for places in drawn
        ]
        for kind, column in (("b", "b"), ("w", "w_corrected")):
            error = np.std([row[column] for row in anew]) * np.sqrt(4 / 3)
            ends = own[[f"{kind}_low", f"{kind}_high"]].tolist()
            expected = wilson_of_error(own[column], error, 4, bounds=(-1, 1))
            assert ends == pytest.approx(expected)
    alone = analysis(parts[0], **options, resamples=30)
    assert np.isnan(alone.tables[0].frame["b_low"].iloc[0])
    assert "redraw whole contexts 30 times" in alone.method
    few = "gpt: no intervals of means: there are not two contexts to draw from."
    assert few in alone.cautions


def test_groups_are_compared_over_the_contexts_that_both_have():
    frames = [
        opinions([("q1", yes, 10 - yes, 0)], respondent=name, context=context)
        for name, context, yes in (
            ("gpt", "c1", 10),
            ("gpt", "c2", 5),
            ("b", "c1", 0),
            ("b", "c2", 5),
        )
    ]
    options = {"by": ("respondent",), "resample": "context"}
    row = tables(pd.concat(frames), **options)["comparisons"].iloc[0]
    assert row[["first_mean", "second_mean", "difference", "n"]].tolist() == [0.5, -0.5, -1, 2]


def test_the_mean_of_a_chart_lies_within_the_interval_that_is_drawn_around_it():
    """The mean as published beside the interval of the corrected one lay outside of it."""
    result = analysis(two_models(), resamples=200)
    for chart in analyses.by_name("opinions").charts(result, "light"):
        if chart.title.endswith("of the questions"):
            drawn = chart.data[["ci_low", "mean", "ci_high"]].dropna().to_numpy()
            assert len(drawn)
            assert (drawn[:, 0] <= drawn[:, 1]).all()
            assert (drawn[:, 1] <= drawn[:, 2]).all()
