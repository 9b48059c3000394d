from __future__ import annotations

import math

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import nct, ttest_ind_from_stats

from core.analysis.scales.norm_comparison import norm_comparison
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

LIKERT = hnp.arrays(
    float, st.tuples(st.integers(2, 9), st.just(2)), elements=st.integers(1, 5).map(float)
)


def rows_of(frame, norms, **options):
    return norm_comparison(frame, norms=norms, **options).tables[0].frame


def test_worked_by_hand():
    # Scores 1, 2, 3, 4, 5: M 3, variance 2.5. Norms M 2, SD 1, n 20: Welch's standard error is
    # sqrt(2.5 / 5 + 1 / 20) = sqrt(.55), df = .55^2 / (.5^2 / 4 + .05^2 / 19).
    row = rows_of(item_scores(np.arange(1.0, 6)[:, None]), [("s", 2, 1, 20)]).iloc[0]
    assert (row["n"], row["mean"], row["difference"]) == (5, 3, 1)
    assert (row["norm_n"], row["norm_mean"], row["norm_sd"]) == (20, 2, 1)
    assert row["sd"] == pytest.approx(2.5**0.5)
    assert row["t"] == pytest.approx(1 / 0.55**0.5)
    assert row["df"] == pytest.approx(0.55**2 / (0.5**2 / 4 + 0.05**2 / 19))
    # Pooled variance (4 * 2.5 + 19 * 1) / 23 = 29 / 23.
    assert row["d"] == pytest.approx((23 / 29) ** 0.5)
    for end, tail in (("d_low", 0.975), ("d_high", 0.025)):
        t = row["d"] * (5 * 20 / 25) ** 0.5
        assert nct.cdf(t, 23, row[end] * 2) == pytest.approx(tail, abs=1e-6)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_agrees_with_scipy(alternative):
    values = np.random.default_rng(2).integers(1, 6, (30, 4)).astype(float)
    norms = [("all items", 3.4, 0.8, 250)]
    row = rows_of(item_scores(values), norms, alternative=alternative, ci_level=0.9).iloc[0]
    scores = values.mean(axis=1)
    theirs = ttest_ind_from_stats(
        scores.mean(),
        scores.std(ddof=1),
        30,
        3.4,
        0.8,
        250,
        equal_var=False,
        alternative=alternative,
    )
    assert row["t"] == pytest.approx(theirs.statistic)
    assert row["p"] == pytest.approx(theirs.pvalue)
    assert row["ci_low"] < row["difference"] < row["ci_high"]


def test_every_group_stands_beside_every_norm_and_p_is_adjusted_over_all():
    rng = np.random.default_rng(7)
    frame = pd.concat(
        item_scores(
            rng.integers(1, 6, (20, 3)), respondent=name, start=start, subscales=["x", "x", "y"]
        )
        for name, start in (("a", 1), ("b", 50))
    )
    norms = [("all items", 3.3, 0.5, 90), ("Y", 2.2, 1, 90)]
    rows = rows_of(frame, norms)
    assert rows["respondent"].tolist() == ["a", "a", "b", "b"]
    assert rows["scale"].tolist() == ["all items", "y"] * 2  # the study's own spelling
    order = np.argsort(rows["p"].to_numpy())
    holm = np.maximum.accumulate(np.minimum(1, rows["p"].to_numpy()[order] * [4, 3, 2, 1]))
    np.testing.assert_allclose(rows["p_adjusted"].to_numpy()[order], holm)
    other = rows_of(frame, norms, adjust="benjamini-hochberg")
    assert (other["p_adjusted"] <= rows["p_adjusted"]).all()
    assert (other["p_adjusted"] < rows["p_adjusted"]).any()


def test_gaps_follow_the_rule_and_every_score_is_accounted_for():
    values = [[1, 2, 4], [3, np.nan, 5], [5, 4, np.nan], [np.nan, np.nan, np.nan], [2, 2, 2]]
    frame = item_scores(values, subscales=["x", "x", "y"])
    norms = [("x", 3, 1, 50)]
    complete = norm_comparison(frame, norms=norms)
    row = complete.tables[0].frame.iloc[0]
    assert (row["n"], row["missing"], row["mean"]) == (3, 2, (1.5 + 4.5 + 2) / 3)
    # Used: two answers each of three administrations; left out: a lone answer, and subscale y.
    assert (complete.n_used, complete.n_left_out, complete.n_missing) == (6, 4, 5)
    available = norm_comparison(frame, norms=norms, missing="available")
    assert available.tables[0].frame.iloc[0]["n"] == 4
    assert (available.n_used, available.n_left_out) == (7, 3)
    both = norm_comparison(frame, norms=[*norms, ("all items", 3, 1, 50)], missing="available")
    assert (both.n_used, both.n_left_out) == (10, 0)  # each counted once
    assert both.n_planned == frame.shape[0]
    both = norm_comparison(frame, norms=[*norms, ("all items", 3, 1, 50)])
    assert both.n_used == 8  # six on x, and the answers on y of the two complete ones


def test_a_group_without_an_answer_lacks_all_items_of_the_others():
    answered = item_scores([[1, 2], [3, 4]], respondent="a")
    none = item_scores([[np.nan, np.nan]], respondent="b", start=50)
    frame = pd.concat([answered, none], ignore_index=True)
    rows = rows_of(frame, [("s", 3, 1, 50)]).set_index("respondent")
    assert rows.loc["b", ["n_items", "items_left_out"]].tolist() == [0, 2]


@given(LIKERT, st.floats(-3, 3), st.randoms(use_true_random=False))
@few_examples
def test_order_does_not_matter_and_the_origin_moves_nothing_but_means(values, shift, random):
    frame = item_scores(values)
    numbers = ["difference", "t", "p", "d"]
    expected = rows_of(frame, [("s", 3, 1, 40)])[numbers].to_numpy(dtype=float)
    places = list(range(len(frame)))
    random.shuffle(places)
    moved = frame.iloc[places].assign(score=lambda own: own["score"] + shift)
    found = rows_of(moved, [("s", 3 + shift, 1, 40)])[numbers].to_numpy(dtype=float)
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_what_is_undefined_or_odd_is_told_in_the_row():
    frame = pd.concat(
        [
            item_scores([[3, 3]], respondent="one"),
            item_scores([[2, 2]] * 4, respondent="same", start=5),
            item_scores([[1], [5], [2]], items=["o"], subscales=["other"], respondent="o", start=9),
        ]
    )
    rows = rows_of(frame, [("s", 34.5, 6, 100)]).set_index("respondent")
    assert math.isnan(rows.loc["one", "t"])
    assert rows.loc["one", "remark"].startswith("Undefined: each group needs")
    assert rows.loc["same", "remark"].startswith("The scores are all the same.")
    assert math.isfinite(rows.loc["same", "t"])
    assert (
        "check that norms are means per item in the same points, not sums"
        in (rows.loc["same", "remark"])
    )
    assert rows.loc["o", "remark"].startswith("No item of this scale was asked here.")
    assert (rows.loc["o", "n"], rows.loc["o", "missing"]) == (0, 0)
    fine = rows_of(item_scores([[1, 2], [5, 4], [3, 3]]), [("S", 3, 1, 10)])
    assert fine["remark"].tolist() == [""]


def test_items_without_a_subscale_can_be_compared_by_either_name():
    frame = item_scores([[1, 2, 5], [3, 3, 4], [5, 4, 1]], subscales=["", "", "x"])
    rows = rows_of(frame, [("(no subscale)", 3, 1, 10), ("x", 3, 1, 10)])
    assert rows["mean"].tolist() == [3, pytest.approx(10 / 3)]


def test_rows_of_a_model_are_said_to_be_no_sample_of_people():
    notes = norm_comparison(item_scores([[1, 2], [5, 4]]), norms=[("s", 3, 1, 10)]).all_notes
    assert any(note.startswith("Rows of a model are not a sample of people") for note in notes)


def test_without_norms_it_says_what_to_type():
    for norms in ((), (("", math.nan, math.nan, math.nan),), ((" ", None, "", None),)):
        with pytest.raises(NotEnoughData, match="no norms to compare with") as caught:
            norm_comparison(item_scores([[1, 2], [5, 4]]), norms=norms)
        assert "name of a subscale (or 'all items')" in caught.value.remedy
        assert "mean and SD of people's scores as a mean per item" in caught.value.remedy


def test_a_scale_that_is_not_in_the_study_is_answered_with_the_nearest_names():
    frame = item_scores([[1, 2], [5, 4]], subscales=["hostile", "benevolent"])
    with pytest.raises(NotEnoughData, match="no scale 'Hostil sexism'") as caught:
        norm_comparison(frame, norms=[("Hostil sexism", 3, 1, 10)])
    assert caught.value.remedy == "Did you mean 'hostile'?"
    with pytest.raises(NotEnoughData, match="no scale 'zzz'") as caught:
        norm_comparison(frame, norms=[("zzz", 3, 1, 10)])
    assert caught.value.remedy == "Use one of: 'hostile', 'benevolent', 'all items'."


@pytest.mark.parametrize(
    ("norms", "problem"),
    [
        ([("s", 3, 1, 10), ("S ", 2, 1, 10)], "two rows of norms of 's'"),
        ([("", 3, 1, 10)], "Row 1 of the norms names no scale"),
        ([("s", 3, math.nan, 10)], "Row 1 of the norms lacks a number"),
        ([("", math.nan, math.nan, math.nan), ("s", 3, -1, 10)], "Row 2 of the norms has mean 3"),
        ([("s", 3, 0, 10)], "Row 1 of the norms has mean 3 and SD 0"),
        ([("s", math.inf, 1, 10)], "Row 1 of the norms has mean inf"),
        ([("s", 3, 1, 1)], "Row 1 of the norms has n = 1"),
        ([("s", 3, 1, 10.5)], "Row 1 of the norms has n = 10.5"),
    ],
)
def test_norms_that_cannot_be_are_named_by_row(norms, problem):
    with pytest.raises(NotEnoughData, match=problem) as caught:
        norm_comparison(item_scores([[1, 2], [5, 4]]), norms=norms)
    assert caught.value.remedy


def test_no_score_at_all_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="No administration has a score") as caught:
        norm_comparison(item_scores([[1, np.nan], [np.nan, 2]]), norms=[("s", 3, 1, 10)])
    assert caught.value.remedy
