from __future__ import annotations

import csv
import gzip
import io
import math
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.__main__ import main
from core.analysis.words.word_association.analysis import word_association as analysis
from core.charts.words import word_association_charts
from core.errors import NotEnoughData
from core.stats.association import RATES
from core.workflow.statistics import analyses
from tests.analysis.word_frames import word_bank, word_counts

GOLDEN = Path(__file__).parents[2] / "golden/word_association/csi_gpt4o_en.csv"
TESTS = {"love": "++", "cat": "++", "war": "--", "tax": "0r", "day": "+-", "law": "-0"}
"""O = 2/6, P = 1/6, N = 3/6, consistency = 4/6, reluctancy = 3/12."""


def result(frame, **options):
    return analysis(frame, **{"resamples": 100, **options})


def tables(frame, **options):
    return {table.name: table.frame for table in result(frame, **options).tables}


def test_rates_worked_by_hand():
    found = result(word_counts(TESTS))
    row = found.tables[0].frame.iloc[0]
    assert row[list(RATES)].tolist() == pytest.approx([2 / 6, 1 / 6, 3 / 6, 4 / 6, 3 / 12])
    assert row[["words", "words_left_out", "tests"]].tolist() == [6, 0, "2"]
    assert row[["neutral_words", "inconsistent_words"]].tolist() == [1, 2]
    assert row[["answers", "neutral_answers"]].tolist() == [12, 3]
    assert row["optimism_low"] <= 2 / 6 <= row["optimism_high"]
    # three neutral answers are replies without a label: they are in the rates, and not usable
    assert (found.n_used, found.n_missing, found.n_left_out) == (9, 3, 0)
    assert "Replies without a label of the pair are neutral answers: 3 replies." in found.notes
    (answer,) = analyses.by_name("word_association").answer(found)
    assert answer.sentence.startswith("Of 6 words, 33.3% [")
    assert "; consistency 66.7% [" in answer.sentence


def test_published_answers_give_the_published_figures_from_file_to_tables(tmp_path, capsys):
    """O .4792, P .2726, N .2482, consistency .7536, reluctancy .0400; words in order of rank."""
    with GOLDEN.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    answers = {"+": "comedy,", "-": "tragedy,", "0": ",neutral"}
    lines = ["item,word,model,language,format,repetition,answer,status"]
    for test in (0, 1):
        for row in rows:
            word, answer = row["word"] or f"w{row['rank']}", answers[row["tests"][test]]
            code = f"W{int(row['rank']):04}"  # the same codes as in the bank of words that is there
            lines.append(f"{code},{word},gpt-4o,en,comedy_tragedy,{test + 1},{answer}")
    path, archive = tmp_path / "csi.csv.gz", tmp_path / "out.zip"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    database = ["--db", str(tmp_path / "x.duckdb"), "--study", "csi"]
    assert main(["import", str(path), *database]) == 0
    assert "Made from the file, with its words." in capsys.readouterr().out
    assert main(["analyze", "word_association", *database, "--out", str(archive)]) == 0
    groups, top = (
        pd.read_csv(io.BytesIO(content))
        for content in (read(archive, "groups.csv"), read(archive, "top_words.csv"))
    )
    row = groups.iloc[0]
    assert row[list(RATES)].tolist() == pytest.approx([0.4792, 0.2726, 0.2482, 0.7536, 0.04])
    # binomial.R
    ends = {
        "optimism": (0.4654, 0.493),
        "pessimism": (0.2604, 0.285),
        "neutrality": (0.2362, 0.2602),
        "consistency": (0.7416, 0.7654),
    }
    for rate, (low, high) in ends.items():
        assert row[[f"{rate}_low", f"{rate}_high"]].tolist() == pytest.approx([low, high], abs=2e-3)
    positive = (
        "is you has they help we me she make using s You create including support health language",
        "energy example ensure",
    )
    assert " ".join(top["positive"]) == " ".join(positive)
    assert top["negative_rank"].tolist() == [
        6,
        13,
        15,
        16,
        18,
        21,
        22,
        24,
        26,
        33,
        35,
        36,
        42,
        46,
        60,
        66,
        69,
        71,
        72,
        82,
    ]
    assert top["neutral"].tolist()[:8] == ["I", "it", "be", "It", "have", "use", "he", "data"]


def read(archive, name):
    with zipfile.ZipFile(archive) as opened:
        entry = next(entry for entry in opened.namelist() if entry.endswith(name))
        return opened.read(entry)


def test_a_word_with_a_test_missing_is_left_out_or_counts_on_the_others():
    tests = {"a": "++", "b": "+?", "c": "-e", "d": "+", "f": "--", "g": "+-"}
    found = result(word_counts(tests))
    row = found.tables[0].frame.iloc[0]
    assert row[["words", "words_left_out", "optimism", "pessimism"]].tolist() == [
        3,
        3,
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    ]
    assert (found.n_used, found.n_missing, found.n_left_out) == (6, 2, 3)
    assert found.cautions == (
        "gpt · en · comedy_tragedy: 3 words lack a test; such words are left out.",
    )
    words = found.tables[-1].frame.set_index("item")
    assert words["class"].tolist() == ["positive", "", "", "", "negative", "inconsistent"]
    assert words["missing"].tolist() == [0, 1, 1, 1, 0, 0]
    row = result(word_counts(tests), missing="available").tables[0].frame.iloc[0]
    assert row[["words", "optimism", "pessimism"]].tolist() == pytest.approx([6, 3 / 6, 2 / 6])
    assert row["consistency"] == pytest.approx(2 / 3)  # of the words with two tests
    assert row["tests"] == "1 to 2"


def test_one_test_leaves_consistency_undefined_and_the_rest_stands():
    found = result(word_counts({"a": "+", "b": "-", "c": "0"}))
    row = found.tables[0].frame.iloc[0]
    assert math.isnan(row["consistency"])
    assert math.isnan(row["consistency_low"])
    assert row[["optimism", "pessimism", "reluctancy"]].tolist() == pytest.approx([1 / 3] * 3)
    assert "gpt · en · comedy_tragedy: each word has one test" in found.cautions[0]
    (answer,) = analyses.by_name("word_association").answer(found)
    assert "consistency is undefined (one test)" in answer.sentence


@pytest.mark.parametrize("unusable", ["neutral", "left_out"])
def test_a_group_that_nobody_can_read_has_no_rate(unusable):
    """1,200 of 1,200 replies without a label: neither consistent nor neutral, with the reason."""
    unread = word_counts({f"w{n}": "rr" for n in range(600)}, respondent="b")
    found = result(pd.concat([word_counts(TESTS), unread]), unusable=unusable)
    row = found.tables[0].frame.set_index("respondent").loc["b"]
    for rate in RATES:
        assert row[[rate, f"{rate}_low", f"{rate}_high"]].isna().all(), rate
    assert row[["words", "words_left_out", "labeled", "no_label"]].tolist() == [0, 600, 0, 1200]
    caution = (
        "b · en · comedy_tragedy: no reply of 1,200 has a label of the pair, so the rates are "
        "undefined: neither neutral nor consistent words can be told."
    )
    assert [text for text in found.cautions if text.startswith("b ·")] == [caution]
    answers = {
        one.group: one.sentence for one in analyses.by_name("word_association").answer(found)
    }
    assert answers["b · en · comedy_tragedy"].startswith(
        "No reply of 1,200 has a label of the pair, so there is no rate."
    )
    assert (found.n_used, found.n_missing) == (9 if unusable == "neutral" else 8, 1203)
    agreement = {table.name: table.frame for table in found.tables}["agreement"]
    assert agreement[["share", "kappa", "r"]].isna().all(axis=None)


def test_what_a_neutral_answer_is():
    tests = {"a": "+m", "b": "mm", "c": "oo", "d": "0r", "f": "++"}
    found = result(word_counts(tests))
    row = found.tables[0].frame.iloc[0]
    assert row[["neutral_words", "inconsistent_words", "neutral_answers"]].tolist() == [3, 1, 7]
    assert "Answers whose option states no stance are neutral: 2 answers." in found.notes
    left_out = result(word_counts(tests), unusable="left_out")
    assert left_out.tables[0].frame.iloc[0]["words"] == 4
    assert "Replies without a label of the pair are missing tests: 2 replies." in left_out.notes
    assert (left_out.n_used, left_out.n_missing) == (8, 2)


def test_no_neutral_answer_has_an_interval_from_zero():
    """Wilson's upper end of 0 of 8 words: 1.96² / (8 + 1.96²) = .3244."""
    row = tables(word_counts({f"w{n}": "++" for n in range(8)}))["groups"].iloc[0]
    assert row[["reluctancy", "reluctancy_low"]].tolist() == [0, 0]
    assert row["reluctancy_high"] == pytest.approx(0.3244, abs=1e-4)
    assert row[["optimism", "optimism_high", "pessimism"]].tolist() == [1, 1, 0]


def test_top_words_follow_ranks_and_then_the_bank():
    tests = {"a": "++", "b": "++", "c": "++", "d": "--", "f": "00", "g": "+-"}
    words = {"f": "fog", "g": "", "a": "apple", "b": "bee", "c": "cat", "d": "dog"}
    bank = word_bank(words, ranks={"c": 3, "a": 10, "d": 1})
    found = result(word_counts(tests), **bank, top=2)
    top = next(table.frame for table in found.tables if table.name == "top_words")
    assert top["positive"].tolist() == ["cat", "apple"]
    assert top["positive_rank"].tolist() == [3, 10]
    assert top["negative"].tolist() == ["dog", ""]
    assert top["neutral"].tolist() == ["fog", "g"]
    assert top["neutral_rank"].isna().all()
    assert any(note.startswith("3 words have no rank and stand after") for note in found.notes)
    assert any(note.startswith("1 word has no text in the bank") for note in found.notes)
    without = result(word_counts(tests), **word_bank(words), top=9)
    top = next(table.frame for table in without.tables if table.name == "top_words")
    assert top["positive"].tolist() == ["apple", "bee", "cat"]
    assert top["positive_rank"].tolist() == [3, 4, 5]
    assert "No word has a rank; the place in the bank stands for it." in without.notes
    assert top["neutral"].tolist() == ["fog", "g", ""]


def two_languages():
    chinese = {"love": "++", "cat": "--", "war": "--", "tax": "+0", "day": "0r", "law": "-?"}
    return pd.concat([word_counts(TESTS), word_counts(chinese, language="zh")], ignore_index=True)


def test_agreement_of_two_languages_worked_by_hand():
    """Five words count in both: + and +, + and −, − and −, and twice neutral or inconsistent.

    Kappa: observed 4/5, expected (2·1 + 1·2 + 2·2) / 25 = 8/25, so (20 - 8) / (25 - 8) = 12/17.
    Means: 1, 1, −1, 0, 0 and 1, −1, −1, .5, 0.
    """
    bank = word_bank({item: f"the {item}" for item in TESTS})
    bank["wordings"] = pd.concat(
        [bank["wordings"], bank["wordings"].assign(language="zh", text="字")]
    )
    found = tables(two_languages(), **bank)
    row = found["agreement"].iloc[0]
    assert row[["factor", "first", "second"]].tolist() == ["Language", "en", "zh"]
    assert row[["words", "left_out", "same", "share"]].tolist() == [5, 1, 4, 0.8]
    assert row["kappa"] == pytest.approx(12 / 17)
    expected = np.corrcoef([1, 1, -1, 0, 0], [1, -1, -1, 0.5, 0])[0, 1]
    assert row["r"] == pytest.approx(expected)
    assert found["comparisons"].iloc[0][["n", "first_mean", "second_mean"]].tolist() == [
        5,
        pytest.approx(2 / 5),
        pytest.approx(1 / 5),
    ]
    assert set(found["words"].query("language == 'zh'")["word"]) == {"字"}
    assert set(found["words"].query("language == 'en'")["word"]) == {f"the {w}" for w in TESTS}


def test_r_between_groups_stands_beside_the_reliability_of_mean_answers():
    """Means of two tests: alpha of tests with words as rows, by hand from its definition."""
    answers = {"en": TESTS, "zh": {**TESTS, "cat": "+-", "tax": "+0", "law": "--"}}
    parts = [
        word_counts(
            {word: tests[place] for word, tests in words.items()}, language=language
        ).assign(repetition=place + 1)
        for language, words in answers.items()
        for place in (0, 1)
    ]
    row = tables(pd.concat(parts, ignore_index=True))["agreement"].iloc[0]
    value = {"+": 1.0, "-": -1.0, "0": 0.0, "r": 0.0}
    en, zh = (
        np.array([[value[test] for test in tests] for tests in words.values()])
        for words in answers.values()
    )
    alphas = [
        2 * (1 - own.var(axis=0, ddof=1).sum() / own.sum(axis=1).var(ddof=1)) for own in (en, zh)
    ]
    assert (row["reliability_first"], row["reliability_second"]) == pytest.approx(tuple(alphas))
    r = np.corrcoef(en.mean(axis=1), zh.mean(axis=1))[0, 1]
    assert row["r_corrected"] == pytest.approx(r / math.sqrt(alphas[0] * alphas[1]))
    assert row["errors_over"] == "repetitions"
    together = tables(pd.concat(parts, ignore_index=True).drop(columns="repetition"))["agreement"]
    assert together["r"].iloc[0] == pytest.approx(row["r"])
    assert "Reliability unknown" in together["remark"].iloc[0]


@pytest.mark.parametrize(
    ("compared", "first", "difference"),
    [
        ("pessimism", 1 / 5, 1 / 5),
        ("neutrality", 2 / 5, 0),
        ("consistency", 4 / 5, 0),
        ("balance", 1 / 5, -2 / 5),
    ],
)
def test_groups_are_compared_by_the_rate_asked_for(compared, first, difference):
    row = tables(two_languages(), compared=compared)["comparisons"].iloc[0]
    assert row[["first_mean", "difference"]].tolist() == pytest.approx([first, difference])


def test_words_of_two_lists_are_not_taken_for_each_other():
    frame = pd.concat(
        [
            word_counts({"w1": "++", "w2": "--"}),
            word_counts({"w1": "--", "w2": "--"}, study="t", language="zh"),
        ]
    )
    banks = [
        word_bank({"w1": "is", "w2": "you"}),
        word_bank({"w1": "的", "w2": "你"}, study="t", language="zh"),
    ]
    other = {name: pd.concat([bank[name] for bank in banks]) for name in banks[0]}
    assert tables(frame, **other)["agreement"].iloc[0]["words"] == 0
    assert tables(frame, by=(), **other)["groups"].iloc[0]["words"] == 4
    same = {name: pd.concat([banks[0][name], banks[0][name].assign(study="t")]) for name in other}
    assert tables(frame, **same)["agreement"].iloc[0]["words"] == 2
    pooled = tables(frame, by=(), **same)["groups"].iloc[0]
    # each study has two tests of its own: rates are means over studies
    assert pooled[["words", "conditions", "tests", "consistency"]].tolist() == [2, 2, "2", 1.0]


def test_undefined_groups_say_why_and_the_rest_stands():
    frame = pd.concat([word_counts(TESTS), word_counts({"love": "??", "cat": "e?"}, format="b")])
    found = result(frame)
    groups = found.tables[0].frame
    assert groups["words"].tolist() == [6, 0]
    assert groups["optimism"].isna().tolist() == [
        False,
        True,
    ]
    assert "gpt · en · b: no word counts, so the rates are undefined." in found.cautions
    answers = analyses.by_name("word_association").answer(found)
    assert answers[1].sentence == "No word has all its tests, so there is no rate."
    agreement = next(table.frame for table in found.tables if table.name == "agreement").iloc[0]
    assert agreement["words"] == 0
    assert agreement["remark"]
    assert len(word_association_charts(found, "dark")) == 4


def test_options_without_a_stance_an_unknown_factor_and_no_answers_are_refused():
    with pytest.raises(NotEnoughData, match="state no stance"):
        analysis(word_counts({"a": "oo"}))
    with pytest.raises(NotEnoughData, match="no factor template"):
        analysis(word_counts(TESTS), by=("template",))
    with pytest.raises(NotEnoughData, match="no answers yet"):
        analysis(word_counts(TESTS).head(0))


def test_conditions_that_are_numbers_make_curves_and_many_groups_rows():
    sizes = [word_counts(TESTS, items_per_call=size) for size in ("10", "30", "100")]
    by = ("respondent", "items_per_call")
    charts = word_association_charts(result(pd.concat(sizes), by=by), "light")
    curve = next(chart for chart in charts if chart.title == "Rates by items per call")
    assert curve.table["place"].unique().tolist() == [10, 30, 100]
    assert "optimism 33.3% to 33.3%" in curve.alt
    names = ("gpt", "gpt T=0.1", "gpt T=0.5", "gpt T=1.0", "other")
    frame = pd.concat([word_counts(TESTS, respondent=name) for name in names])
    charts = word_association_charts(result(frame, by=("respondent",)), "light")
    curve = next(chart for chart in charts if chart.title == "Rates by temperature")
    assert curve.table["place"].unique().tolist() == [0.1, 0.5, 1.0]
    assert curve.table["group"].unique().tolist() == ["gpt"]
    assert "names no number" not in curve.alt
    assert "gpt, other" in curve.alt
    assert list(dict.fromkeys(charts[0].table["group"])) == [
        "Optimism",
        "Neutrality",
        "Pessimism",
    ]


letters = st.text("+-0", min_size=2, max_size=2)


@settings(max_examples=15)
@given(
    st.dictionaries(st.sampled_from([f"w{n}" for n in range(12)]), letters, min_size=1).filter(
        lambda tests: any(set(own) & set("+-") for own in tests.values())
    )
)
def test_shares_add_to_one_and_exchanged_labels_exchange_optimism_and_pessimism(tests):
    turned = {word: text.translate(str.maketrans("+-", "-+")) for word, text in tests.items()}
    own, other = (tables(word_counts(t), resamples=0)["groups"].iloc[0] for t in (tests, turned))
    assert own["optimism"] + own["pessimism"] + own["neutrality"] == pytest.approx(1)
    assert own["consistency"] >= own["optimism"] + own["pessimism"] - 1e-12
    assert own["reluctancy"] <= own["neutrality"]
    assert [own["optimism"], own["neutrality"]] == [other["pessimism"], other["neutrality"]]
