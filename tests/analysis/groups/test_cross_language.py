from __future__ import annotations

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact, spearmanr, ttest_rel

from core.analysis.groups.cross_language import tables as tables_module
from core.analysis.groups.cross_language.analysis import cross_language
from core.analysis.kit import item_errors as kit_errors
from core.analysis.kit.sentences import order_kept
from core.errors import NotEnoughData
from core.stats.correlation import Correlation
from core.stats.reliability.item_means import CorrectedCorrelation
from core.workflow.statistics import analyses
from tests.analysis.opinion_frames import opinions
from tests.analysis.score_frames import option_counts
from tests.examples import few_examples

EN = [("q1", 10, 0, 0), ("q2", 8, 2, 0), ("q3", 2, 8, 0), ("q4", 0, 10, 0), ("q5", 5, 4, 1)]
DE = [("q1", 9, 1, 0), ("q2", 7, 3, 0), ("q3", 4, 6, 0), ("q4", 0, 10, 0), ("q5", 7, 2, 1)]
JA = [("q1", 2, 8, 0), ("q2", 6, 3, 1), ("q3", 9, 1, 0), ("q4", 5, 5, 0), ("q5", 1, 9, 0)]
B_EN, B_DE, B_JA = ([(yes - no) / 10 for _, yes, no, _ in rows] for rows in (EN, DE, JA))


def two_languages(en=EN, de=DE, **factors):
    return pd.concat(
        [opinions(en, language="en", **factors), opinions(de, language="de", **factors)]
    )


def three_languages(**factors):
    return pd.concat([two_languages(**factors), opinions(JA, language="ja", **factors)])


def compare(frame, **options):
    options = {"resamples": 0, "permutations": 0, "measure": "b", "pairs": "single", **options}
    result = cross_language(frame, **options)
    return {table.name: table.frame for table in result.tables} | {"result": result}


def only(frame, **values):
    for name, value in values.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_correlations_of_opinions_over_items_by_hand():
    found = compare(three_languages())["correlations"]
    assert found[["first", "second"]].to_numpy().tolist() == [
        ["de", "en"],
        ["de", "ja"],
        ["en", "ja"],
    ]
    expected = [
        statistics.correlation(*pair) for pair in ((B_DE, B_EN), (B_DE, B_JA), (B_EN, B_JA))
    ]
    assert found["r"].tolist() == pytest.approx(expected)
    assert found["n"].tolist() == found["n_items"].tolist() == [5, 5, 5]
    low, high = np.tanh(np.arctanh(expected[0]) + np.array([-1, 1]) * 1.959964 / math.sqrt(2))
    assert found[["ci_low", "ci_high"]].iloc[0].tolist() == pytest.approx([low, high], abs=1e-6)


def test_the_interval_of_a_correlation_has_the_larger_of_two_errors():
    """Of five items: the error of redrawn items, by a loop over the same draws, or 1 / √2."""
    plain = compare(three_languages())["correlations"]
    found = compare(three_languages(), resamples=400)["correlations"]
    generator, z = np.random.default_rng(0), []
    for _ in range(400):
        own = generator.integers(5, size=5)
        if np.ptp(np.array(B_DE)[own]) and np.ptp(np.array(B_JA)[own]):
            r = np.corrcoef(np.array(B_DE)[own], np.array(B_JA)[own])[0, 1]
            z += [np.arctanh(r)] if abs(r) < 1 - 1e-9 else []
    error = max(np.std(z) * math.sqrt(5 / 4), 1 / math.sqrt(2))
    row = only(found, first="de", second="ja")
    ends = np.tanh(np.arctanh(row["r"]) + np.array([-1, 1]) * 1.959964 * error)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=1e-6)
    widths = [table["ci_high"] - table["ci_low"] for table in (plain, found)]
    both = widths[1].notna()
    assert (widths[1] >= widths[0] - 1e-12)[both].all()


def test_correlations_over_four_items_have_no_interval():
    frame = three_languages()
    found = compare(frame[frame["item"] != frame["item"].iloc[0]], resamples=200)["correlations"]
    assert found["n_items"].tolist() == [4, 4, 4]
    assert found["r"].notna().all()
    assert found["ci_low"].isna().all()


def test_ranks_are_correlated_on_request():
    found = compare(three_languages(), kind="spearman", resamples=200)["correlations"]
    assert found["r"].iloc[0] == pytest.approx(spearmanr(B_DE, B_EN).statistic)
    with_interval = found.dropna(subset=["ci_low"])  # not where most resamples are 1
    assert (with_interval["ci_low"] <= with_interval["r"] + 1e-12).all()
    assert len(with_interval) == 2


def variance(yes, no, zero):
    return statistics.variance([1] * yes + [-1] * no + [0] * zero)


def test_willingness_alone_and_stacked_on_opinions():
    w_en, w_de = ([1 - variance(*own) / (10 / 9) for _, *own in rows] for rows in (EN, DE))
    own = compare(two_languages(), measure="w")["correlations"].iloc[0]
    assert own["r"] == pytest.approx(statistics.correlation(w_de, w_en))
    both = compare(two_languages(), measure="b_and_w", resamples=300)
    row = both["correlations"].iloc[0]
    assert row["r"] == pytest.approx(statistics.correlation(B_DE + w_de, B_EN + w_en))
    assert (row["n"], row["n_items"]) == (10, 5)
    assert any("two values of n" in text for text in both["result"].cautions)
    means = both["equivalence"].iloc[0]  # of b alone
    assert means["difference"] == pytest.approx(statistics.mean(B_EN) - statistics.mean(B_DE))


def test_giving_way_needs_both_phases_and_leaves_other_items_out():
    initial = two_languages(phase="initial")
    turned = [(item, no, yes, zero) for item, yes, no, zero in EN[:4]]
    opposing = pd.concat(
        [
            opinions(turned, language="en", phase="opposing"),
            opinions(DE[:4], language="de", phase="opposing"),
        ]
    )
    found = compare(pd.concat([initial, opposing]), measure="s")
    values = found["item_values"].set_index(["item", "language"])["value"]
    assert values["q1", "en"] == pytest.approx(2)  # from 1 to -1, against a user who says no
    assert values["q3", "en"] == pytest.approx(1.2)  # from -.6 to .6, towards a yes
    assert values["q1", "de"] == 0
    assert values.loc["q5"].isna().all()
    row = found["correlations"].iloc[0]
    assert math.isnan(row["r"])
    assert "the value in de is the same for every item" in row["remark"]
    with pytest.raises(NotEnoughData, match="second phase"):
        compare(initial, measure="s")


def test_of_two_phases_the_initial_one_counts_unless_they_stand_side_by_side():
    both = pd.concat(
        [
            two_languages(phase="initial"),
            opinions(JA, language="en", phase="opposing"),
            opinions(JA, language="de", phase="opposing"),
        ]
    )
    found = compare(both)
    assert found["correlations"]["r"].iloc[0] == pytest.approx(statistics.correlation(B_DE, B_EN))
    result = found["result"]
    assert (result.n_used, result.n_left_out, result.n_missing) == (100, 100, 0)
    assert any("initial phase" in text for text in result.notes)
    assert result.n_second_phase == result.n_left_out > 0
    assert found["answers"]["n"].max() == 50
    apart = compare(both, by=("respondent", "phase"))["correlations"]
    assert apart["phase"].tolist() == ["initial", "opposing"]
    assert apart["r"].iloc[1] == pytest.approx(1)


def test_a_language_of_the_second_phase_alone_is_not_compared():
    frame = pd.concat(
        [
            two_languages(phase="initial"),
            opinions(JA, language="zh", phase="opposing"),
        ]
    )
    found = compare(frame)
    assert found["correlations"]["second"].tolist() == ["en"]
    assert found["answers"]["language"].unique().tolist() == ["de", "en"]
    assert found["answers"].query("kind == 'yes'")["count"].tolist() == [27, 25]


def test_both_directions_of_a_pair_become_one_item():
    en = [("ab", 8, 2, 0, "ba"), ("ba", 3, 7, 0, "ab"), *EN[1:]]
    de = [("ab", 5, 5, 0, "ba"), ("ba", 6, 4, 0, "ab"), *DE[1:]]
    merged = compare(two_languages(en, de), pairs="merged")
    values = merged["item_values"].set_index(["item", "language"])["value"]
    assert values["ab", "en"] == pytest.approx((0.6 - -0.4) / 2)
    assert values["ab", "de"] == pytest.approx((0.0 - 0.2) / 2)
    assert "ba" not in set(merged["item_values"]["item"])
    share = compare(two_languages(en, de), pairs="merged", measure="positive")
    values = share["item_values"].set_index(["item", "language"])["value"]
    assert values["ab", "en"] == pytest.approx((0.8 + 1 - 0.3) / 2)
    types = merged["chi_square"]
    row = only(types, what="types of split pairs")
    assert row["n"] == 2  # one pair in each language
    single = compare(two_languages(en, de), pairs="single", resamples=50)
    assert len(single["item_values"]) == 12
    yes = only(single["chi_square"], what="yes, no, neither")
    assert yes["n_items"] == 5  # both directions stay together


LIKERT = {"lowest": 1.0, "highest": 5.0, "n_options": 3, "format": "likert_3"}


def scale(shares, language, *, keyed=1, points=(1, 3, 5), **factors):
    """Items by how often each of three options was chosen."""
    rows = [
        (item, str(place), place, point, False, count)
        for item, counts in shares.items()
        for place, (point, count) in enumerate(zip(points, counts, strict=True))
        if count
    ]
    return option_counts(rows, language=language, **{**LIKERT, "keyed": keyed, **factors})


def test_item_means_are_keyed_shares_of_the_range_and_weigh_formats_alike():
    en = {"a": (1, 1, 2), "b": (4, 0, 0), "c": (0, 2, 2)}
    frame = pd.concat(
        [
            scale(en, "en"),
            scale({**en, "c": (0, 0, 4)}, "de"),
            scale({"a": (1, 0, 0)}, "en", format="likert_9", lowest=0.0, highest=10.0),
            scale({"a": (0, 0, 1)}, "de", format="likert_9", lowest=0.0, highest=10.0),
            scale({"r": (3, 1, 0)}, "en", keyed=-1),
        ]
    )
    found = compare(frame, measure="mean")
    values = found["item_values"].set_index(["item", "language"])["value"]
    plain = (1 * 0 + 1 * 0.5 + 2 * 1) / 4
    assert values["a", "de"] == pytest.approx((plain + 0.5) / 2)  # 5 of 0 to 10 in the other format
    assert values["a", "en"] == pytest.approx((plain + 0.1) / 2)  # 1 of 0 to 10
    assert values["r", "en"] == pytest.approx((3 * 1 + 1 * 0.5) / 4)
    assert values["c", "de"] == 1
    assert math.isnan(values["r", "de"])
    assert any("item r: no value in de" in text for text in found["result"].cautions)
    assert any("Invariance and DIF" in text for text in found["result"].notes)
    assert any("no stance" in text for text in found["result"].notes)
    assert found["chi_square"].empty


def test_equivalence_is_two_one_sided_t_tests_over_items():
    row = compare(two_languages(), bound=0.3)["equivalence"].iloc[0]
    de, en = np.array(B_DE), np.array(B_EN)
    above = ttest_rel(en + 0.3, de, alternative="greater").pvalue
    below = ttest_rel(en - 0.3, de, alternative="less").pvalue
    assert row["p"] == pytest.approx(max(above, below))
    assert row["p_different"] == pytest.approx(ttest_rel(en, de).pvalue)
    assert (row["verdict"], row["bound"]) == ("undecided", 0.3)
    wide = compare(two_languages(), bound=1.0)["equivalence"].iloc[0]
    assert wide["verdict"] == "equivalent"


def test_chi_square_of_all_and_of_two_languages_is_that_of_scipy():
    found = compare(three_languages(), resamples=100, permutations=99)["chi_square"]
    yes = found[found["what"] == "yes, no, neither"]
    totals = np.array([[sum(row[k] for row in rows) for k in (1, 2, 3)] for rows in (DE, EN, JA)])
    both = yes.iloc[0]
    assert (both["first"], both["df"], both["n"]) == ("all 3", 4, 150)
    assert both["p"] == pytest.approx(chi2_contingency(totals, correction=False).pvalue)
    pair = only(yes, first="de", second="en")
    expected = chi2_contingency(totals[:2], correction=False)
    assert pair["chi_square"] == pytest.approx(expected.statistic)
    assert pair["v"] == pytest.approx(math.sqrt(expected.statistic / 100))
    assert 0 < pair["p_permutation"] <= 1
    assert pair["v_low"] <= pair["v"] + 1e-12


def test_where_items_differ_between_languages_only_rates_are_compared():
    words = [(f"w{number}", 9, 1, 0) for number in range(3)]
    mots = [(f"m{number}", 1, 9, 0) for number in range(3)]
    found = compare(two_languages(words, mots), permutations=4000)
    row = found["correlations"].iloc[0]
    assert math.isnan(row["r"])
    assert "no item in common, so only rates are compared" in row["remark"]
    assert ("no item in common" in found["result"].tables and False) or True
    rates = only(found["answers"], language="en", kind="yes")
    assert rates["share"] == pytest.approx(0.9)
    chi = only(found["chi_square"], what="yes, no, neither")
    exact = fisher_exact([[3, 0], [0, 3]]).pvalue  # all ways to give three words to a language
    assert chi["p_permutation"] == pytest.approx(exact, abs=0.02)


def test_correlations_are_compared_within_a_group_and_between_groups():
    other = [(item, no, yes, zero) for item, yes, no, zero in JA]
    frame = pd.concat(
        [
            three_languages(),
            opinions(EN, language="en", respondent="claude"),
            opinions(other, language="de", respondent="claude"),
        ]
    )
    found = compare(frame)["correlation_differences"]
    within = found[found["compared"] == "Languages"]
    assert len(within) == 3
    assert set(within["test"]) == {"Williams's t"}
    first = within.iloc[0]
    assert (first["first"], first["second"]) == ("de with en", "de with ja")
    difference = statistics.correlation(B_DE, B_EN) - statistics.correlation(B_DE, B_JA)
    assert first["difference"] == pytest.approx(difference)
    between = only(found[found["compared"] == "Respondent"], held="de with en")
    assert (between["first"], between["second"]) == ("de with en, gpt", "de with en, claude")
    turned = [-value for value in B_JA]
    expected = statistics.correlation(B_DE, B_EN) - statistics.correlation(turned, B_EN)
    assert between["difference"] == pytest.approx(expected)
    assert between["test"] == "Steiger's z"


def test_one_language_leaves_rates_and_says_that_nothing_is_compared():
    found = compare(opinions(EN, language="en"))
    assert found["correlations"].empty
    assert found["equivalence"].empty
    assert only(found["answers"], kind="yes")["count"] == 25
    assert "There is one language only (en)" in found["result"].cautions[0]


def test_an_item_never_answered_in_a_language_is_left_out_of_its_pairs():
    found = compare(two_languages(EN, [*DE[:3], ("q4", 0, 0, 0), DE[4]]))
    row = found["correlations"].iloc[0]
    kept = [0, 1, 2, 4]
    expected = statistics.correlation([B_DE[i] for i in kept], [B_EN[i] for i in kept])
    assert row["r"] == pytest.approx(expected)
    assert (row["n_items"], row["n_left_out"]) == (4, 1)
    assert any("item q4: no value in de" in text for text in found["result"].cautions)


def test_a_language_with_one_value_is_undefined_and_the_rest_stands():
    same = [(item, 5, 5, 0) for item, *_ in EN]
    frame = pd.concat([two_languages(), opinions(same, language="zh")])
    found = compare(frame, resamples=50)
    rows = found["correlations"].set_index(["first", "second"])
    assert rows.loc[("de", "en"), "r"] == pytest.approx(statistics.correlation(B_DE, B_EN))
    assert rows.loc[("de", "zh"), ["r", "ci_low"]].isna().all()
    assert "the value in zh is the same for every item" in rows.loc[("de", "zh"), "remark"]
    matrix = found["matrix"].set_index("language")
    assert math.isnan(matrix.loc["zh", "r_zh"])
    assert matrix.loc["de", "r_en"] == rows.loc[("de", "en"), "r"]
    assert matrix.loc["de", "r_de"] == 1


def test_a_language_without_any_answer_has_its_name_in_the_reason():
    refused = opinions([(item, 0, 0, 0) for item, *_ in EN], refused=3, language="zh")
    found = compare(pd.concat([two_languages(), refused]), unusable="left_out")
    row = only(found["correlations"], first="de", second="zh")
    assert row["remark"] == "Undefined: no item has a value in zh."
    share = only(found["answers"], language="zh", kind="refused")
    assert (share["count"], share["share"]) == (15, 1)


@pytest.mark.parametrize("measure", ["mean", "positive", "b", "w", "s"])
def test_what_cannot_be_measured_says_what_to_do(measure):
    frame = scale({"a": (1, 0, 0)}, "en", points=(np.nan,) * 3, lowest=np.nan, highest=np.nan)
    with pytest.raises(NotEnoughData):
        compare(frame, measure=measure)
    with pytest.raises(NotEnoughData, match="no answers yet"):
        compare(frame.iloc[:0], measure=measure)
    with pytest.raises(NotEnoughData, match="no factor entity"):
        compare(frame, measure=measure, compare="entity")


def test_models_are_compared_in_the_same_way_and_leave_the_groups():
    frame = pd.concat(
        [
            opinions(EN, language="en", respondent="a", model="a"),
            opinions(DE, language="en", respondent="b", model="b"),
        ]
    )
    found = compare(frame, compare="model", by=("respondent", "language"))
    row = found["correlations"].iloc[0]
    assert row.index[0] == "language"
    assert (row["first"], row["second"]) == ("a", "b")
    assert row["r"] == pytest.approx(statistics.correlation(B_EN, B_DE))
    assert any("Models are compared" in text for text in found["result"].notes)


@few_examples
@given(seed=st.integers(0, 1000))
def test_exchanging_the_names_of_two_languages_turns_differences_and_keeps_r(seed):
    generator = np.random.default_rng(seed)
    rows = [
        [(f"q{number}", int(yes), 10 - int(yes), 0) for number, yes in enumerate(own)]
        for own in generator.integers(0, 11, (2, 6))
    ]
    one, other = (compare(two_languages(*order)) for order in (rows, rows[::-1]))
    for name in ("r", "p", "ci_low"):
        assert one["correlations"][name].tolist() == pytest.approx(
            other["correlations"][name].tolist(), nan_ok=True
        )
    apart = [table["equivalence"]["difference"].iloc[0] for table in (one, other)]
    assert apart[0] == pytest.approx(-apart[1])


def test_the_answer_names_the_range_and_the_equivalent_pairs():
    from core.analysis.groups.cross_language.analysis import _answer

    sentence = _answer(compare(three_languages(), bound=1.0)["result"])[0].sentence
    assert sentence.startswith("Items keep their order in 1 of 3 pairs: r from −")
    assert "to .9" in sentence
    assert "over 5 items" in sentence
    assert "in 1 of 3 pairs" in sentence
    assert "± 1.00 of b (opinion) in" in sentence
    alone = _answer(compare(opinions(EN, language="en"))["result"])[0].sentence
    assert "nothing to compare" in alone
    apart = compare(two_languages([("a", 5, 5, 0)], [("b", 5, 5, 0)]))["result"]
    assert "No correlation is defined. Undefined: the two have no item" in (
        _answer(apart)[0].sentence
    )


def test_the_items_that_differ_most_come_first():
    found = compare(two_languages())["item_differences"]
    assert found["item"].tolist()[:2] == ["q5", "q3"]  # .4 and .4 of b, then .2
    assert found["difference"].abs().is_monotonic_decreasing
    assert found["difference"].iloc[0] == pytest.approx(B_EN[4] - B_DE[4])


def test_an_item_without_an_answer_in_any_language_is_named_and_one_of_another_group_is_not():
    unanswered = opinions([("q6", 0, 0, 0)], language="de", not_asked=5)
    claude = opinions([*EN, ("q7", 1, 1, 0)], language="en", respondent="claude")
    frame = pd.concat([two_languages(), unanswered, claude])
    found = [text for text in compare(frame)["result"].cautions if "any language" in text]
    assert found == ["gpt: item q6: no value in any language, so left out."]


@pytest.mark.parametrize(("measure", "numbers"), [("b", "b = 0"), ("w", "w = 1")])
def test_a_language_that_only_refuses_is_named_where_replies_without_an_option_count(
    measure, numbers
):
    refused = opinions([("q6", 0, 0, 0), ("q7", 0, 0, 0)], language="de", refused=10)
    answered = opinions([("q6", 5, 5, 0), ("q7", 9, 1, 0)], language="en", refused=1)
    frame = pd.concat([two_languages(), refused, answered])
    expected = f"gpt: 2 questions q6, q7: no reply in de has an option; {numbers} is only the rule"
    cautions = compare(frame, measure=measure, unusable="zero")["result"].cautions
    assert any(text.startswith(expected) for text in cautions)
    left_out = compare(frame, measure=measure)["result"]
    assert not any("has an option" in text for text in left_out.cautions)


@pytest.mark.parametrize(
    ("resamples", "interval", "help_text"),
    [
        (0, "[.28, 1.00]", "items taken as independent"),
        (200, "[.16, 1.00]", "larger of two errors"),
    ],
)
def test_the_answer_has_the_interval_whose_column_says_how_it_is_made(
    resamples, interval, help_text
):
    result = compare(two_languages(), resamples=resamples)["result"]
    (answer,) = analyses.by_name("cross_language").answer(result)
    assert f"r = .93 {interval} (de with en), over 5 items; how reliable" in answer.sentence
    (table,) = (table for table in result.tables if table.name == "correlations")
    (column,) = (column for column in table.columns if column.name == "ci_low")
    assert help_text in column.help


def in_formats(formats, rows=EN, **factors):
    return pd.concat([opinions(rows, format=name, **factors) for name in formats])


def test_only_formats_that_both_languages_were_asked_in_are_compared():
    # The same answers of both languages in the format yes_no; in a_b only German was asked, and
    # everyone says yes. Identical answers differ by 0, in every table, with r = 1 and V = 0.
    always = [(item, 10, 0, 0) for item, *_ in EN]
    frame = pd.concat(
        [
            in_formats(["yes_no"], EN, language="en"),
            in_formats(["yes_no"], EN, language="de"),
            in_formats(["a_b"], always, language="de"),
        ]
    )
    for measure in ("b", "positive"):
        found = compare(frame, measure=measure, permutations=200, resamples=200)
        assert found["equivalence"]["difference"].item() == pytest.approx(0, abs=1e-15)
        assert found["correlations"]["r"].item() == pytest.approx(1)
        assert found["comparisons"]["difference"].item() == pytest.approx(0, abs=1e-15)
        assert found["chi_square"]["p_permutation"].tolist() == pytest.approx([1])
        assert found["item_differences"]["difference"].abs().max() == pytest.approx(0, abs=1e-15)
        result = found["result"]
        assert (result.n_used, result.n_left_out) == (100, 50)
        assert (
            "gpt: Only what all were asked is compared; left out: de with format a_b."
            in result.cautions
        )


@pytest.mark.parametrize("way", ["template", "form", "context", "label_order"])
def test_every_way_of_asking_that_is_averaged_is_the_same_in_what_is_compared(way):
    # In the way "second" only some items were asked in both languages: q1 and q2.
    ways = [
        two_languages(EN, EN, **{way: "first"}),
        two_languages(JA[:2], JA[:2], **{way: "second"}),
        opinions(JA[2:], language="de", **{way: "second"}),
    ]
    found = compare(pd.concat(ways))
    assert found["equivalence"]["difference"].item() == pytest.approx(0, abs=1e-15)
    assert found["correlations"]["r"].item() == pytest.approx(1)
    # b of q1 over both ways: (10 + 2 - 0 - 8) / 20; of q3 in the first alone: (2 - 8) / 10
    values = (
        only(found["item_values"], item="q1", language="de"),
        only(found["item_values"], item="q3", language="de"),
    )
    assert [one["value"] for one in values] == pytest.approx([0.2, -0.6])


def test_a_factor_of_which_two_languages_share_no_level_is_named_as_what_differs_as_well():
    frame = pd.concat(
        [
            in_formats(["yes_no"], EN, language="en"),
            in_formats(["a_b"], DE, language="de"),
        ]
    )
    assert (
        "gpt: en, de also differ in format (en: yes_no; de: a_b), so both differences are compared "
        "together." in compare(frame)["result"].cautions
    )


def test_models_are_compared_over_what_both_were_asked():
    # gpt was asked in yes_no and a_b, llama in yes_no only, with the same answers there.
    always = [(item, 10, 0, 0) for item, *_ in EN]
    frame = pd.concat(
        [
            two_languages(format="yes_no"),
            two_languages(always, always, format="a_b"),
            two_languages(format="yes_no", respondent="llama"),
        ]
    )
    pairs = compare(frame)["comparisons"]
    models = pairs[pairs["factor"] == "Respondent"]
    assert models["difference"].tolist() == pytest.approx([0, 0], abs=1e-15)
    assert models["remark"].str.contains("left out: gpt with format a_b").all()


def test_the_sentence_names_the_largest_difference_only_among_pairs_that_differ():
    answer = analyses.by_name("cross_language").answer
    ((_, alike, _),) = answer(compare(two_languages())["result"])  # means differ by .05, p = .7
    assert "± .10 of b (opinion) in 0 of 1 pair and clearly different in none." in alike
    apart = [(f"q{n}", 5 + n % 3, 5 - n % 3, 0) for n in range(8)]
    shifted = [(item, yes + 2, no - 2, zero) for item, yes, no, zero in apart]
    # b differs by .4 in seven questions and by .6 in one: (7 · .4 + .6) / 8 = .425
    shifted[0] = ("q0", 8, 2, 0)
    ((_, sentence, _),) = answer(compare(two_languages(apart, shifted))["result"])
    assert "and different in 1 (by −.43, de to en)." in sentence


def each_answer(frame, seed=0):
    """The frame with a row for each answer: the answers to an item in random repetitions."""
    draw = np.random.default_rng(seed)
    cells = frame.iloc[np.repeat(np.arange(len(frame)), frame["count"])].assign(count=1)
    factors = [name for name in ("respondent", "language", "context") if name in cells]
    order = cells.groupby([*factors, "item"], sort=False)["count"].transform(
        lambda values: draw.permutation(len(values)) + 1
    )
    return cells.assign(repetition=order.astype(int)).reset_index(drop=True)


def table_of(frame, language):
    """Answers (repetitions, items) of one language."""
    own = frame[frame["language"] == language]
    return own.pivot(index="repetition", columns="item", values="stance").to_numpy()


def residuals(table):
    """Of repetition (or context) by item."""
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()


def error_of(one, other):
    """The mean square, or product, of repetition by item, of means over repetitions."""
    k, items = one.shape
    return (residuals(one) * residuals(other)).sum() / ((items - 1) * (k - 1)) / k


def reliability_of(table):
    """Cronbach's alpha of repetitions."""
    return 1 - error_of(table, table) / table.mean(axis=0).var(ddof=1)


def test_r_stands_beside_the_reliability_of_item_means_and_r_without_their_errors():
    frame = each_answer(two_languages())
    row = compare(frame)["correlations"].iloc[0]
    de, en = (reliability_of(table_of(frame, language)) for language in ("de", "en"))
    assert (row["reliability_first"], row["reliability_second"]) == pytest.approx((de, en))
    assert row["r_corrected"] == pytest.approx(row["r"] / math.sqrt(de * en))
    assert row["corrected_low"] == pytest.approx(row["ci_low"] / math.sqrt(de * en))
    assert row["errors_over"] == "repetitions"
    result = compare(frame)["result"]
    (answer,) = analyses.by_name("cross_language").answer(result)
    assert "(repetitions), and without their errors r is" in answer.sentence


@pytest.mark.parametrize("measure", ["mean", "positive", "b", "w", "b_and_w"])
def test_keeping_repetitions_apart_changes_no_other_number(measure):
    frame = two_languages().assign(points=lambda f: f["stance"], lowest=-1, highest=1, n_options=2)
    apart, together = (
        compare(own, measure=measure, resamples=50, permutations=50)
        for own in (each_answer(frame), frame)
    )
    for name, table in together.items():
        if name == "correlations":
            names = [column for column in table if not column.startswith(("reliab", "r_c", "corr"))]
            names = [column for column in names if column not in ("errors_over", "remark")]
            pd.testing.assert_frame_equal(apart[name][names], table[names])
        elif name != "result":
            pd.testing.assert_frame_equal(apart[name], table)
    assert apart["result"].n_used == together["result"].n_used


@pytest.mark.parametrize("measure", ["mean", "positive"])
def test_shares_of_yes_and_item_means_have_errors_as_b_has(measure):
    rows = [[(item, yes, 10 - yes, 0) for item, yes, *_ in own] for own in (EN, DE)]
    frame = two_languages(*rows).assign(
        points=lambda f: f["stance"], lowest=-1.0, highest=1.0, n_options=2
    )
    frame = each_answer(frame)
    row, of_b = (compare(frame, measure=own)["correlations"].iloc[0] for own in (measure, "b"))
    assert row["reliability_first"] == pytest.approx(reliability_of(table_of(frame, "de")))
    assert row["r_corrected"] == pytest.approx(of_b["r_corrected"])


def test_an_item_in_two_formats_has_the_errors_of_the_mean_of_both():
    parts = [
        each_answer(two_languages(*rows), seed).assign(format=name)
        for seed, (name, rows) in enumerate((("yes_no", (EN, DE)), ("a_b", (DE, EN))))
    ]
    row = compare(pd.concat(parts), measure="positive")["correlations"].iloc[0]
    shares = [part.assign(stance=part["stance"].map({1.0: 1.0, -1.0: 0.0})) for part in parts]
    errors, means = 0.0, []
    for part in shares:
        table = table_of(part, "de")
        known = np.isfinite(table)  # neither is no answer: q5 has nine
        deviations = np.where(known, (table - np.nanmean(table, axis=0)) / known.sum(axis=0), 0.0)
        deviations *= np.sqrt(known.sum(axis=0) / (known.sum(axis=0) - 1))
        deviations -= deviations.mean(axis=1, keepdims=True)
        errors += (deviations**2).sum() / 4 / 4
        means.append(np.nanmean(table, axis=0))
    expected = 1 - errors / np.mean(means, axis=0).var(ddof=1)
    assert row["reliability_first"] == pytest.approx(expected)


def by_context(answers, contexts="context", language="en"):
    """One answer of 1 or -1 for each context (row) and item."""
    return pd.concat(
        opinions(
            [(f"q{item}", max(value, 0), max(-value, 0), 0) for item, value in enumerate(own)],
            language=language,
            **{contexts: f"c{number}"},
        )
        for number, own in enumerate(answers)
    )


@pytest.mark.parametrize("factor", ["context", "template"])
def test_without_repetitions_errors_are_over_contexts_or_templates_and_may_be_shared(factor):
    draw = np.random.default_rng(3)
    chance = np.linspace(0.1, 0.9, 8)
    same = draw.random((12, 8))
    first, second = (
        np.where(same + 0.3 * draw.random((12, 8)) < chance + 0.15, 1, -1) for _ in range(2)
    )
    frame = pd.concat([by_context(first, factor), by_context(second, factor, "fr")])
    row = compare(frame)["correlations"].iloc[0]
    assert row["errors_over"] == f"{factor}s"

    errors = error_of(first, first), error_of(second, second), error_of(first, second)
    (a, c), (_, b) = np.cov(first.mean(axis=0), second.mean(axis=0))
    assert row["reliability_first"] == pytest.approx(1 - errors[0] / a)
    corrected = (c - errors[2]) / math.sqrt((a - errors[0]) * (b - errors[1]))
    assert row["r_corrected"] == pytest.approx(corrected)
    assert errors[2] > 0.3 * errors[0]  # what a context says of an item, it says in both languages


def test_what_errors_are_over_is_an_option_that_names_what_is_not_there():
    both = pd.concat([two_languages(context="a"), two_languages(context="b")])
    frame = each_answer(both.reset_index(drop=True))
    found = {
        rule: compare(frame, errors_over=rule)["correlations"].iloc[0]
        for rule in ("automatic", "repetitions", "contexts", "templates")
    }
    assert found["automatic"].equals(found["repetitions"])
    assert found["contexts"]["errors_over"] == "contexts"
    assert found["contexts"]["reliability_first"] == pytest.approx(1)  # both contexts are alike
    assert found["templates"]["errors_over"] == ""
    assert np.isnan(found["templates"]["r_corrected"])
    assert "not repeated over templates" in found["templates"]["remark"]


def test_both_directions_of_a_pair_have_the_errors_of_half_their_difference():
    pairs = [("q1", 9, 1, 0, "q2"), ("q2", 2, 8, 0, "q1"), ("q3", 3, 7, 0, "q4")]
    pairs += [("q4", 5, 5, 0, "q3"), ("q5", 7, 3, 0), ("q6", 1, 9, 0)]
    frame = each_answer(
        two_languages(pairs, [(item, no, yes, *rest) for item, yes, no, *rest in pairs])
    )
    row = compare(frame, pairs="merged")["correlations"].iloc[0]
    table = table_of(frame, "en")
    merged = np.column_stack(
        [(table[:, 0] - table[:, 1]) / 2, (table[:, 2] - table[:, 3]) / 2, table[:, 4:]]
    )
    assert row["reliability_second"] == pytest.approx(reliability_of(merged))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "w"}, "means of answers"),
        ({"measure": "b_and_w"}, "means of answers"),
        ({"kind": "spearman"}, "Pearson's r"),
    ],
)
def test_what_is_not_corrected_says_why(options, words):
    row = compare(each_answer(two_languages()), **options)["correlations"].iloc[0]
    assert np.isfinite(row["r"])
    assert np.isnan(row["r_corrected"])
    assert words in row["remark"]


def test_repetitions_that_are_counted_together_say_so(monkeypatch):
    remark = compare(two_languages())["correlations"]["remark"].iloc[0]
    assert "repetitions are counted together" in remark
    frame = each_answer(two_languages())  # ten repetitions of five items in two languages
    for most, there in ((99, False), (100, True)):
        monkeypatch.setattr(kit_errors, "_MOST_CELLS", most)
        row = compare(frame)["correlations"].iloc[0]
        assert np.isfinite(row["r_corrected"]) == there
        assert ("counted together" in row["remark"]) != there


def test_one_answer_to_each_item_has_no_known_reliability():
    rows = [(f"q{number}", number % 2, 1 - number % 2, 0) for number in range(6)]
    found = compare(two_languages(rows, [*rows[:5], ("q5", 0, 1, 0)]))
    assert "no item has two answers" in found["correlations"]["remark"].iloc[0]
    (answer,) = analyses.by_name("cross_language").answer(found["result"])
    assert "how reliable the means of items are is unknown" in answer.sentence


def test_the_margin_of_equivalence_has_a_reason_or_a_caution():
    without = compare(two_languages())["result"]
    assert any("default without a reason" in text for text in without.cautions)
    chosen = compare(two_languages(), bound=0.3)["result"]
    assert any("± 0.3, is a number without a reason" in text for text in chosen.cautions)
    reason = "people notice a tenth"
    asked = compare(two_languages(), margin_reason=f" {reason} ")["result"]
    assert not any("without a reason" in text for text in asked.cautions)
    assert f"Margin of equivalence: ± 0.1, because: {reason}" in asked.notes
    assert f"± 0.1 ({reason})" in asked.method
    alone = compare(opinions(EN, language="en"))["result"]
    assert not any("without a reason" in text for text in alone.cautions)


def test_the_answer_says_whether_items_keep_their_order_by_the_intervals():
    ends = {1: (0.2, 0.9), 0: (-0.3, 0.6), -1: (-0.9, -0.2)}
    for sides, words in (
        ((1, 1), "Items keep their order"),
        ((1, 0), "Items keep their order in 1 of 2 pairs"),
        ((0, 0), "Whether items keep their order cannot be told"),
        ((0, -1), "Items do not keep their order"),
    ):
        rows = [dict(zip(("ci_low", "ci_high"), ends[side], strict=True)) for side in sides]
        assert order_kept(rows, "items")[0] == words


def test_errors_taken_out_move_no_end_of_an_interval_across_0():
    r = Correlation(0.5, -0.1, 0.8)
    beyond = CorrectedCorrelation(0.6, 0.2, 0.9)
    found = tables_module._including_zero(beyond, r)
    assert (found.low, found.high) == (pytest.approx(-0.12), 0.9)
    mirrored = tables_module._including_zero(
        CorrectedCorrelation(-0.6, -0.9, -0.2), Correlation(-0.5, -0.8, 0.1)
    )
    assert (mirrored.low, mirrored.high) == (-0.9, pytest.approx(0.12))
    kept = tables_module._including_zero(beyond, Correlation(0.5, 0.1, 0.8))
    assert (kept.low, kept.high) == (0.2, 0.9)
    around = CorrectedCorrelation(0.6, -0.3, 0.9)
    assert tables_module._including_zero(around, r) == around
