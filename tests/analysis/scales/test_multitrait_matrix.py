from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.analysis.scales.multitrait_matrix.analysis import multitrait_matrix
from core.analysis.scales.multitrait_matrix.tables import ABOVE_ONE, NOT_CORRECTED, PART_OF_WHOLE
from core.analysis.scales.reliability import reliability
from core.analysis.words.odds_ratios import choose_contrast, odds_ratio_scores
from core.errors import NotEnoughData
from core.stats.correlation import correlation
from core.stats.resampling import Bootstrap
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

SUBSCALES = ["x", "x", "y", "y"]


def study(values, name="asi", start=1, contexts=None, subscales=None, **factors):
    """One administration per row of `values`, each under a context of its own."""
    frame = item_scores(values, subscales=subscales, study=name, start=start, **factors)
    names = contexts or [f"c{number}" for number in range(len(values))]
    return frame.assign(context=np.repeat(names, np.shape(values)[1]))


def noisy(n=25, k=4, seed=0):
    draw = np.random.default_rng(seed).normal
    return np.clip(np.round(3 + draw(size=(n, 1)) + draw(size=(n, k))), 1, 5)


def two_forms(seed=0, n=25):
    first, second = noisy(n, seed=seed), noisy(n, seed=seed + 1)
    second = (first + second) / 2
    frame = pd.concat(
        [
            study(first, subscales=SUBSCALES, form="original"),
            study(second, subscales=SUBSCALES, form="b", start=1000),
        ]
    )
    return frame.reset_index(drop=True), first, second


def pairs(result):
    frame = result.tables[0].frame
    return frame.set_index(["score_1", "score_2"])


def test_worked_by_hand():
    # x: 1 2 3 4, y: 2 1 4 3 by two equal items each: r = 3/5; alpha of equal items is 1
    values = [[1, 1, 2, 2], [2, 2, 1, 1], [3, 3, 4, 4], [4, 4, 3, 3]]
    result = multitrait_matrix(study(values, subscales=SUBSCALES))
    row = pairs(result).loc[("x", "y")]
    assert row["r"] == pytest.approx(0.6, abs=1e-14)
    assert row["corrected"] == pytest.approx(0.6, abs=1e-14)
    assert row["n"] == 4
    # t = .6 sqrt(2 / (1 - .36)) with 2 degrees of freedom: p = 1 - t / sqrt(2 + t²) = .4
    assert row["p"] == pytest.approx(0.4, abs=1e-12)
    # the whole is 1.5 1.5 3.5 3.5: with x, 2 / sqrt(5) by sums of squares 4 and 5, products 4
    assert pairs(result).loc[("all items", "x"), "r"] == pytest.approx(4 / math.sqrt(20))
    matrix = result.tables[1].frame
    assert matrix["score"].tolist() == ["all items", "x", "y"]
    assert matrix.loc[2, "2"] == pytest.approx(0.6)
    assert matrix.loc[1, "2"] == pytest.approx(1)
    assert math.isnan(matrix.loc[1, "3"])
    assert (result.n_used, result.n_left_out, result.n_missing) == (16, 0, 0)


def test_traits_and_methods_arise_by_splitting():
    frame, first, second = two_forms()
    result = multitrait_matrix(frame, split=("form",))
    names = ["all items", "x", "y"]
    wanted = [f"{name} · {form}" for form in ("original", "b") for name in names]
    assert result.tables[1].frame["score"].tolist() == wanted
    table = pairs(result)
    same = table.loc[("x · original", "x · b")]
    assert (same["same_trait"], same["same_method"]) == (True, False)
    across = table.loc[("x · original", "y · b")]
    assert (across["same_trait"], across["same_method"]) == (False, False)
    within = table.loc[("x · original", "y · original")]
    assert (within["same_trait"], within["same_method"]) == (False, True)
    x, y = first[:, :2].mean(axis=1), second[:, 2:].mean(axis=1)
    reference = stats.pearsonr(x, y)
    assert across["r"] == pytest.approx(reference.statistic, abs=1e-12)
    assert across["p"] == pytest.approx(reference.pvalue, rel=1e-9)
    interval = reference.confidence_interval()
    assert (across["ci_low"], across["ci_high"]) == pytest.approx((interval.low, interval.high))


def test_spearman_and_bootstrap_are_those_of_the_two_scores():
    frame, first, second = two_forms()
    result = multitrait_matrix(frame, split=("form",), kind="spearman", resamples=300, seed=3)
    row = pairs(result).loc[("x · original", "x · b")]
    own = correlation(
        first[:, :2].mean(axis=1),
        second[:, :2].mean(axis=1),
        kind="spearman",
        bootstrap=Bootstrap(300, 3),
    )
    assert (row["r"], row["ci_low"], row["ci_high"]) == pytest.approx((own.r, own.low, own.high))
    ends = own.bootstrap_low, own.bootstrap_high
    assert (row["bootstrap_low"], row["bootstrap_high"]) == pytest.approx(ends)
    assert row["kind"] == "spearman"
    plain = multitrait_matrix(frame, split=("form",))
    assert pairs(plain)["bootstrap_low"].isna().all()


def test_reliabilities_are_those_of_the_analysis_of_reliability():
    frame, *_ = two_forms()
    only = frame[frame["form"] == "original"]
    table = multitrait_matrix(only, ci_level=0.9).tables[2].frame.set_index("score")
    known = reliability(only, ci_level=0.9, resamples=100).tables[0].frame
    known = known[known["coefficient"] == "α (Feldt)"].set_index("scale")
    for ours, theirs in (("alpha", "value"), ("alpha_low", "ci_low"), ("alpha_high", "ci_high")):
        assert table[ours].to_dict() == pytest.approx(known[theirs].to_dict(), abs=1e-12)
    row = pairs(multitrait_matrix(only)).loc[("x", "y")]
    product = table.loc["x", "alpha"] * table.loc["y", "alpha"]
    assert row["corrected"] == pytest.approx(row["r"] / math.sqrt(product))
    assert (ABOVE_ONE in row["remark"]) == (row["corrected"] > 1)


def test_part_and_whole_are_marked_and_left_out_of_the_adjustment():
    frame, *_ = two_forms()
    table = pairs(multitrait_matrix(frame, split=("form",), adjust="holm"))
    shared = table["remark"].str.contains(PART_OF_WHOLE, regex=False)
    assert shared.sum() == 4
    assert table.loc[shared, ["p_adjusted", "corrected"]].isna().all(axis=None)
    assert table.loc[shared, "r"].notna().all()
    # with the smallest p of the eleven others, Holm multiplies by eleven
    others = table[~shared]
    assert len(others) == 11
    assert others["p_adjusted"].min() == pytest.approx(11 * others["p"].min())
    other = pairs(multitrait_matrix(frame, split=("form",), adjust="benjamini-hochberg"))
    wanted = stats.false_discovery_control(others["p"].to_numpy())
    assert other.loc[~shared, "p_adjusted"].to_numpy() == pytest.approx(wanted)


def test_another_study_is_matched_by_respondent_and_context():
    frame = study(noisy(20), subscales=SUBSCALES)
    values = noisy(20, k=3, seed=5)
    order = list(range(20))[::-1]
    other = study(
        values[order], name="mss", contexts=[f"c{n}" for n in order], start=1, form="other form"
    )
    stranger = study(noisy(20, k=3, seed=6), name="mss", start=500, respondent="llama")
    result = multitrait_matrix(frame, other=pd.concat([other, stranger], ignore_index=True))
    row = pairs(result).loc[("asi: all items", "mss: s")]
    wanted = stats.pearsonr(noisy(20).mean(axis=1), values.mean(axis=1))
    assert (row["r"], row["n"]) == (pytest.approx(wanted.statistic, abs=1e-12), 20)
    assert (row["same_trait"], row["same_method"]) == (False, True)
    assert any("matched on respondent and context" in note for note in result.all_notes)
    assert result.tables[0].frame["respondent"].unique().tolist() == ["gpt"]
    # the stranger's answers are left out and counted
    assert (result.n_used, result.n_left_out) == (20 * 4 + 20 * 3, 20 * 3)


def test_scores_are_averaged_over_what_is_neither_a_row_nor_kept_apart():
    parts = [noisy(12, seed=seed) for seed in range(4)]
    frame = pd.concat(
        [
            study(
                parts[2 * form + rep],
                subscales=SUBSCALES,
                start=100 * (2 * form + rep),
                form=f"f{form}",
                repetition=rep + 1,
            )
            for form in range(2)
            for rep in range(2)
        ],
        ignore_index=True,
    )
    result = multitrait_matrix(frame)
    means = [(parts[rep] + parts[2 + rep]) / 2 for rep in range(2)]
    rows = np.concatenate(means)
    wanted = stats.pearsonr(rows[:, :2].mean(axis=1), rows[:, 2:].mean(axis=1)).statistic
    assert pairs(result).loc[("x", "y"), "r"] == pytest.approx(wanted, abs=1e-12)
    assert pairs(result).loc[("x", "y"), "n"] == 24
    assert "Scores are averaged over form." in result.all_notes
    # beside a study with one repetition, repetitions are averaged as well
    single = noisy(12, k=3, seed=9)
    beside = multitrait_matrix(frame, other=study(single, name="mss", repetition=1))
    mean = (means[0] + means[1]) / 2
    wanted = stats.pearsonr(mean[:, :2].mean(axis=1), single.mean(axis=1)).statistic
    assert pairs(beside).loc[("asi: x", "mss: s"), "r"] == pytest.approx(wanted, abs=1e-12)
    assert "asi: scores are averaged over form and repetition." in beside.all_notes
    table = beside.tables[2].frame.set_index("score")
    own = mean[:, :2]
    alpha = 2 * (1 - own.var(axis=0, ddof=1).sum() / own.sum(axis=1).var(ddof=1))
    assert table.loc["asi: x", "alpha"] == pytest.approx(alpha, abs=1e-12)


def test_a_language_that_only_one_study_has_is_not_averaged_in():
    english, german, other = noisy(12), noisy(12, seed=1), noisy(12, k=2, seed=2)
    frame = pd.concat(
        [
            study(english, subscales=SUBSCALES, language="en"),
            study(german, subscales=SUBSCALES, language="de", start=100),
        ],
        ignore_index=True,
    )
    result = multitrait_matrix(frame, other=study(other, name="mss", language="en"))
    row = pairs(result).loc[("asi: x", "mss: s")]
    wanted = stats.pearsonr(english[:, :2].mean(axis=1), other.mean(axis=1)).statistic
    assert (row["r"], row["n"]) == (pytest.approx(wanted, abs=1e-12), 12)
    assert pairs(result).loc[("asi: x", "asi: y"), "n"] == 24


def test_groups_are_matched_by_themselves_and_a_study_of_one_form_stands_beside_each():
    frame, first, second = two_forms()
    other = noisy(25, k=3, seed=8)
    result = multitrait_matrix(
        frame, by=("respondent", "form"), other=study(other, name="mss", form="original")
    )
    table = result.tables[0].frame.set_index(["form", "score_1", "score_2"])
    for form, values in (("original", first), ("b", second)):
        wanted = stats.pearsonr(values.mean(axis=1), other.mean(axis=1)).statistic
        cell = table.loc[(form, "asi: all items", "mss: s"), "r"]
        assert cell == pytest.approx(wanted, abs=1e-12)


def test_a_score_has_one_number_in_every_group():
    frame, *_ = two_forms()
    lone = study(noisy(10, k=2), respondent="llama", start=5000, subscales=["y", "y"])
    more = study(noisy(10, k=2, seed=4), respondent="llama", start=6000, subscales=["z", "z"])
    result = multitrait_matrix(pd.concat([frame, lone, more], ignore_index=True))
    matrix = result.tables[1].frame
    numbers = matrix.groupby("score")["number"].unique()
    assert all(len(own) == 1 for own in numbers)
    assert sorted(own[0] for own in numbers) == [1, 2, 3, 4]
    own = matrix[(matrix["respondent"] == "llama") & (matrix["score"] == "z")].iloc[0]
    y = int(numbers["y"][0])
    assert math.isfinite(own[str(y)])
    assert math.isnan(own[str(int(numbers["x"][0]))])


def letters(n, seed=0):
    """Letters for women and men under n contexts, with words of two lists in them."""
    draw = np.random.default_rng(seed)
    rows = []
    for context in range(n):
        for gender in ("man", "woman"):
            words = ["caring"] * int(draw.integers(1, 6)) + ["leads"] * int(draw.integers(1, 6))
            rows.append(
                {
                    "study": "letters",
                    "respondent": "gpt",
                    "language": "en",
                    "context": f"c{context}",
                    "repetition": 1,
                    "item": f"t_{gender}",
                    "status": "answered",
                    "text": " ".join([*words, *["the"] * 20]),
                    "gender": gender,
                }
            )
    return pd.DataFrame(rows)


LISTS = pd.DataFrame({"list": ["agentic", "communal"], "entry": ["lead", "caring"]})


def test_texts_of_the_same_contexts_give_a_score_of_their_own():
    values, texts = noisy(15), letters(20)
    result = multitrait_matrix(
        study(values, subscales=SUBSCALES),
        texts=texts,
        lists=LISTS,
        descriptor="gender",
        first="man",
        first_lists="agentic",
    )
    contrast = choose_contrast(texts, LISTS, "gender", "man", first_lists="agentic")
    scores = odds_ratio_scores(texts, contrast).set_index("context")["score"]
    wanted = stats.pearsonr(values.mean(axis=1), [scores[f"c{n}"] for n in range(15)])
    row = pairs(result).loc[("asi: all items", "letters: words of stereotypes")]
    assert (row["r"], row["n"]) == (pytest.approx(wanted.statistic, abs=1e-12), 15)
    assert NOT_CORRECTED in row["remark"]
    own = result.tables[2].frame.set_index("score").loc["letters: words of stereotypes"]
    assert math.isnan(own["alpha"])
    assert "not a mean of items" in own["remark"]
    assert result.n_planned == 60


def test_texts_need_lists_and_usable_texts():
    frame, texts = study(noisy(15), subscales=SUBSCALES), letters(15)
    with pytest.raises(NotEnoughData, match="No lists of words"):
        multitrait_matrix(frame, texts=texts)
    with pytest.raises(NotEnoughData, match="No text of the study of texts"):
        multitrait_matrix(
            frame,
            texts=texts.assign(status="refused"),
            lists=LISTS,
            first="man",
            first_lists="agentic",
        )


def test_a_constant_score_is_undefined_with_a_reason_and_does_not_hide_the_others():
    values = noisy(20)
    values[:, 2:] = 3
    result = multitrait_matrix(study(values, subscales=SUBSCALES))
    table = pairs(result)
    assert table["r"].isna().to_dict() == {
        ("all items", "x"): False,
        ("all items", "y"): True,
        ("x", "y"): True,
    }
    assert np.isnan(table.loc[("x", "y"), "p_adjusted"])
    assert "the same in every row" in table.loc[("x", "y"), "remark"]
    assert any("x with y" in note and "same in every row" in note for note in result.cautions)
    assert result.tables[2].frame.set_index("score").loc["y", "remark"]
    assert math.isnan(result.tables[1].frame.set_index("score").loc["y", "3"])


def test_incomplete_administrations_have_no_score_unless_half_is_enough():
    values = noisy(20)
    values[3, 0] = np.nan
    frame = study(values, subscales=SUBSCALES)
    strict, half = multitrait_matrix(frame), multitrait_matrix(frame, incomplete="half")
    assert pairs(strict)["n"].tolist() == [19, 19, 19]
    assert pairs(half)["n"].tolist() == [20, 20, 20]
    assert (strict.n_used, strict.n_missing, strict.n_left_out) == (19 * 4 + 2, 1, 1)
    assert (half.n_used, half.n_missing, half.n_left_out) == (79, 1, 0)


def test_an_item_nobody_answered_is_named_where_half_is_enough():
    values = np.hstack([noisy(20), np.full((20, 1), np.nan)])
    frame = study(values, subscales=["x", "x", "y", "y", "x"])
    remark = multitrait_matrix(frame, incomplete="half").tables[2].frame.set_index("score")
    assert "i5" in remark.loc["x", "remark"]
    assert remark.loc["x", "n_alpha"] == 20
    with pytest.raises(NotEnoughData, match="No scores can be correlated"):
        multitrait_matrix(frame, incomplete="listwise")


def test_several_studies_analyzed_together_keep_their_scores_apart():
    frame = pd.concat(
        [
            study(noisy(12, k=2), subscales=["s", "s"]),
            study(noisy(12, k=2, seed=3), name="second", subscales=["s", "s"], start=100),
        ],
        ignore_index=True,
    )
    table = pairs(multitrait_matrix(frame))
    assert list(table.index) == [("asi: s", "second: s")]
    assert not table["same_trait"].item()


def test_a_reliability_of_nothing_corrects_nothing():
    # two unrelated items: their alpha is 0, give or take rounding that differs with the unit
    x, y = [[1, 1], [2, 2], [3, 3], [4, 5]], [[1, 1], [1, 3], [3, 1], [3, 3]]
    for unit in np.arange(1, 30) / 7:
        result = multitrait_matrix(study(np.hstack([x, y]) * unit, subscales=SUBSCALES))
        row = pairs(result).loc[("x", "y")]
        assert math.isfinite(row["r"])
        assert math.isnan(row["corrected"])
        assert NOT_CORRECTED in row["remark"]


def test_a_language_the_other_study_has_not_is_averaged_over():
    values = [noisy(12), noisy(12, seed=1)]
    frame = pd.concat(
        [
            study(values[0], subscales=SUBSCALES, language="en"),
            study(values[1], subscales=SUBSCALES, language="de", start=100),
        ],
        ignore_index=True,
    )
    other = noisy(12, k=2, seed=2)
    result = multitrait_matrix(frame, other=study(other, name="mss", language="fr"))
    mean = (values[0] + values[1]) / 2
    wanted = stats.pearsonr(mean[:, :2].mean(axis=1), other.mean(axis=1)).statistic
    row = pairs(result).loc[("asi: x", "mss: s")]
    assert (row["r"], row["n"]) == (pytest.approx(wanted, abs=1e-12), 12)
    assert "asi: scores are averaged over language." in result.all_notes


@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.1, 10))
@few_examples
def test_blind_to_the_order_of_rows_and_to_origin_and_unit_of_the_points(seed, shift, unit):
    frame, *_ = two_forms(seed, n=10)
    wanted = pairs(multitrait_matrix(frame, split=("form",)))
    other = frame.sample(frac=1, random_state=seed)
    other["score"] = other["score"] * unit + shift
    found = pairs(multitrait_matrix(other, split=("form",)))
    assert {frozenset(names) for names in found.index} == {frozenset(n) for n in wanted.index}
    for names, row in wanted.iterrows():
        again = found.loc[names] if names in found.index else found.loc[names[::-1]]
        for value in ("r", "ci_low", "p", "corrected"):
            assert again[value] == pytest.approx(row[value], abs=1e-8, nan_ok=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"by": ("respondent", "context_set")}, "The answers have no factor context_set"),
        ({"split": ("context_set",)}, "The answers have no factor context_set"),
    ],
)
def test_a_missing_column_is_named(options, told):
    with pytest.raises(NotEnoughData, match=told):
        multitrait_matrix(study(noisy(10), subscales=SUBSCALES), **options)


def test_what_cannot_be_correlated_is_an_error_with_a_next_step():
    one = study(noisy(10))
    with pytest.raises(NotEnoughData, match="one score only") as caught:
        multitrait_matrix(one)
    assert "another study" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="needs three rows"):
        multitrait_matrix(study(noisy(2), subscales=SUBSCALES))
    with pytest.raises(NotEnoughData, match="is compared with itself"):
        multitrait_matrix(one, other=one)
    with pytest.raises(NotEnoughData, match="The other study has no answers"):
        multitrait_matrix(one, other=one.iloc[:0])
    with pytest.raises(NotEnoughData, match="no answers yet"):
        multitrait_matrix(one.iloc[:0])
    elsewhere = study(noisy(10, seed=2), name="mss", contexts=[f"d{n}" for n in range(10)])
    with pytest.raises(NotEnoughData, match="mss: it has no scores of the same"):
        multitrait_matrix(one, other=elsewhere)
