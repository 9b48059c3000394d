"""Tests of normality: against R, by hand, by property, on simulated and on unusable data."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import NotEnoughData
from core.stats.normality import normality
from tests.examples import few_examples

GOLDEN = Path(__file__).parent / "golden"
R = json.loads((GOLDEN / "tests_R.json").read_text())


def published(which):
    """Scores, names and R's numbers of one data set."""
    if which == "hs1939":
        frame, key = pd.read_csv(GOLDEN / "hs1939.csv"), "hs1939_x1_x9"
    else:
        frame, key = pd.read_csv(GOLDEN / "likert22.csv").iloc[:, :21], "likert22_listwise21"
    return frame.to_numpy(float), list(frame), R[key]


@pytest.mark.parametrize("which", ["hs1939", "likert22"])
def test_mardia_equals_r_with_divisor_n(which):
    scores, names, expected = published(which)
    found, wanted = normality(scores, names), expected["mardia_ML_covariance_divisor_n"]
    assert found.n == expected["n"]
    assert found.mardia.b1 == pytest.approx(wanted["b1p"], rel=1e-10)
    assert found.mardia.b2 == pytest.approx(wanted["b2p"], rel=1e-10)
    assert found.mardia.skewness.statistic == pytest.approx(wanted["skew_chi2"], rel=1e-10)
    assert found.mardia.skewness.df == wanted["skew_df"]
    assert found.mardia.skewness.p_value == pytest.approx(wanted["p_skew"], rel=1e-8)
    assert found.mardia.kurtosis.statistic == pytest.approx(wanted["kurt_z"], rel=1e-10)


def test_small_sample_factor_is_the_one_psych_uses():
    scores, names, expected = published("hs1939")
    found = normality(scores, names).mardia
    factor = expected["mardia_skew_chi2_small_sample"] / expected["mardia_skew_chi2"]
    ratio = found.skewness_small_sample.statistic / found.skewness.statistic
    assert ratio == pytest.approx(factor, rel=1e-10)


@pytest.mark.parametrize("which", ["hs1939", "likert22"])
def test_multivariate_shapiro_equals_r(which):
    scores, names, expected = published(which)
    found = normality(scores, names).joint_shapiro
    assert found.statistic == pytest.approx(expected["mvShapiro_MVW"], abs=1e-8)
    assert found.p_value == pytest.approx(expected["mvShapiro_p"], rel=1e-5)


@pytest.mark.parametrize("which", ["hs1939", "likert22"])
def test_each_item_equals_r(which):
    scores, names, expected = published(which)
    complete = scores[~np.isnan(scores).any(axis=1)]  # R was given complete rows
    for found in normality(complete, names).items:
        wanted = expected["uni_shapiro"][found.name]
        assert found.statistic == pytest.approx(wanted["W"], abs=1e-8)
        assert found.p_value == pytest.approx(wanted["p"], rel=1e-5)


def test_mardia_of_one_item_worked_by_hand():
    # 0 0 0 4: mean 1, m2 = 3, m3 = 6, m4 = 21, so b1 = 36 / 27 and b2 = 21 / 9
    found = normality(np.array([[0.0], [0.0], [0.0], [4.0]]), ["a"]).mardia
    assert found.b1 == pytest.approx(4 / 3)
    assert found.b2 == pytest.approx(7 / 3)
    assert found.skewness.statistic == pytest.approx(4 * (4 / 3) / 6)
    assert found.skewness.df == 1
    assert found.kurtosis.statistic == pytest.approx((7 / 3 - 3) / math.sqrt(24 / 4))


def test_joint_test_of_one_item_is_the_item_test():
    values = np.random.default_rng(4).gamma(2, size=(60, 1))
    found = normality(values, ["a"])
    alone = stats.shapiro(values[:, 0])
    assert found.joint_shapiro.statistic == pytest.approx(alone.statistic, abs=1e-12)
    assert found.joint_shapiro.p_value == pytest.approx(alone.pvalue, rel=1e-6)


@few_examples
@given(seed=st.integers(0, 10_000))
def test_mardia_does_not_depend_on_units_or_order(seed):
    rng = np.random.default_rng(seed)
    scores = rng.gamma(2, size=(40, 3))
    turned = (scores @ rng.normal(size=(3, 3)) + rng.normal(size=3) * 100)[rng.permutation(40)]
    one, other = normality(scores, list("abc")).mardia, normality(turned, list("abc")).mardia
    assert other.b1 == pytest.approx(one.b1, rel=1e-5)
    assert other.b2 == pytest.approx(one.b2, rel=1e-5)


def test_normal_data_are_rejected_about_as_often_as_they_should():
    rng = np.random.default_rng(7)
    found = [normality(rng.normal(size=(150, 4)), list("abcd")) for _ in range(400)]
    for p_values in (
        [each.joint_shapiro.p_value for each in found],
        [each.mardia.skewness.p_value for each in found],
        [each.mardia.kurtosis.p_value for each in found],
    ):
        assert 0.02 < np.mean(np.array(p_values) < 0.05) < 0.085


def test_a_constant_item_is_left_out_and_named():
    scores = np.random.default_rng(1).normal(size=(50, 3))
    scores[:, 1] = 4
    found = normality(scores, ["a", "b", "c"])
    assert found.n_items == 2
    assert "b" in found.problems[0]
    assert math.isnan(found.items[1].statistic)
    assert "same score everywhere" in found.items[1].problems[0]
    assert math.isfinite(found.joint_shapiro.statistic)


def test_dependent_items_have_no_joint_test_but_their_own():
    scores = np.random.default_rng(1).normal(size=(50, 3))
    scores[:, 2] = scores[:, 0] + scores[:, 1]
    found = normality(scores, ["a", "b", "c"])
    for test in (found.joint_shapiro, found.mardia.skewness, found.mardia.kurtosis):
        assert math.isnan(test.statistic)
        assert math.isnan(test.p_value)
        assert "predicted by others" in test.problems[0]
    assert all(math.isfinite(each.statistic) for each in found.items)


def test_more_items_than_rows_says_so():
    found = normality(np.random.default_rng(1).normal(size=(5, 6)), list("abcdef"))
    assert math.isnan(found.mardia.b1)
    assert "too few" in found.mardia.skewness.problems[0]
    assert math.isnan(found.mardia.kurtosis.df)  # a z test


def test_kurtosis_of_few_rows_has_the_moments_that_it_has_under_normality():
    """400 draws of ten items on 40 rows, and the values of one by hand."""
    draw, p, n = np.random.default_rng(5), 10, 40
    names = [f"i{k}" for k in range(p)]
    found = [normality(draw.normal(size=(n, p)), names).mardia for _ in range(400)]
    b2 = np.array([each.b2 for each in found])
    mean, variance = 120 * 39 / 41, 8 * 120 * 37 * 29 * 31 / (41**2 * 43 * 45)
    assert b2.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 400))
    assert b2.var() == pytest.approx(variance, rel=0.3)
    z = (b2[0] - mean) / np.sqrt(variance)
    assert found[0].kurtosis_small_sample.statistic == pytest.approx(z, rel=1e-12)
    few = [each.kurtosis_small_sample.p_value < 0.05 for each in found]
    assert 0.02 <= np.mean(few) <= 0.08


def test_two_rows_of_one_item_have_no_small_sample_test():
    found = normality(np.array([[1.0], [2.0]]), ["a"]).mardia
    assert math.isnan(found.skewness_small_sample.statistic)
    assert "too few" in found.skewness_small_sample.problems[0]
    assert found.skewness.statistic == pytest.approx(0)


def test_few_rows_have_mardia_but_no_joint_shapiro():
    found = normality(np.random.default_rng(1).normal(size=(11, 2)), ["a", "b"])
    assert math.isfinite(found.mardia.b1)
    assert math.isnan(found.joint_shapiro.statistic)
    assert "12 to 5000" in found.joint_shapiro.problems[0]


def test_too_many_rows_for_shapiro_say_so():
    found = normality(np.random.default_rng(1).normal(size=(5001, 2)), ["a", "b"])
    assert math.isnan(found.items[0].p_value)
    assert "5000" in found.items[0].problems[0]
    assert math.isfinite(found.mardia.b2)


def test_missing_scores_cost_joint_rows_but_not_item_scores():
    scores = np.random.default_rng(1).normal(size=(50, 2))
    scores[:10, 0] = np.nan
    found = normality(scores, ["a", "b"])
    assert (found.n, found.items[0].n, found.items[1].n) == (40, 40, 50)
    assert "10 of 50 rows" in found.problems[0]


@pytest.mark.parametrize(
    "scores",
    [np.full((20, 2), np.nan), np.ones((20, 2)), np.zeros((0, 2)), np.array([[1.0, 2.0]])],
    ids=["all missing", "all constant", "no row", "one row"],
)
def test_nothing_to_test_is_one_clear_message(scores):
    with pytest.raises(NotEnoughData, match="No item varies"):
        normality(scores, ["a", "b"])
