import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, ttest_1samp, ttest_rel

from core.stats.groups import one_sample_t, paired_t
from tests.stats.reference import expected

R = expected("tests_R")["paired_t"]
BEFORE, AFTER = np.array(R["before"]), np.array(R["after"])


def test_a_paired_test_equals_that_of_r():
    greater = paired_t(BEFORE, AFTER, alternative="greater")
    assert greater.t == pytest.approx(R["greater"]["t"], abs=1e-12)
    assert greater.df == R["greater"]["df"]
    assert greater.p == pytest.approx(R["greater"]["p"], abs=1e-12)
    assert paired_t(BEFORE, AFTER, alternative="less").p == pytest.approx(R["less_p"], abs=1e-12)


def test_interval_and_two_sided_p_equal_those_of_scipy():
    own, other = paired_t(BEFORE, AFTER, level=0.9), ttest_rel(AFTER, BEFORE)
    ends = other.confidence_interval(0.9)
    assert own.p == pytest.approx(other.pvalue, rel=1e-12)
    assert (own.low, own.high) == pytest.approx((ends.low, ends.high), abs=1e-12)
    one = one_sample_t(AFTER, against=3)
    assert one.t == pytest.approx(ttest_1samp(AFTER, 3).statistic, rel=1e-12)


def test_the_effect_is_the_mean_difference_over_its_spread_with_noncentral_ends():
    own = paired_t(BEFORE, AFTER)
    difference = AFTER - BEFORE
    assert own.effect == pytest.approx(difference.mean() / difference.std(ddof=1), rel=1e-12)
    root = np.sqrt(10)
    assert nct.sf(own.t, 9, own.effect_low * root) == pytest.approx(0.025, abs=1e-8)
    assert nct.sf(own.t, 9, own.effect_high * root) == pytest.approx(0.975, abs=1e-8)


def test_the_interval_of_the_effect_covers_the_true_one_as_often_as_it_says():
    generator = np.random.default_rng(1)
    results = [one_sample_t(generator.normal(0.4, 1, 25)) for _ in range(200)]
    covered = np.mean([own.effect_low <= 0.4 <= own.effect_high for own in results])
    assert 0.9 <= covered <= 0.99


@given(seed=st.integers(0, 60), shift=st.floats(-20, 20), scale=st.floats(0.1, 10))
def test_the_test_does_not_depend_on_origin_and_unit(seed, shift, scale):
    generator = np.random.default_rng(seed)
    before, after = generator.normal(size=(2, 12))
    own, moved = paired_t(before, after), paired_t(shift + scale * before, shift + scale * after)
    assert moved.t == pytest.approx(own.t, rel=1e-6, abs=1e-9)
    assert moved.effect == pytest.approx(own.effect, rel=1e-6, abs=1e-9)
    assert moved.difference == pytest.approx(scale * own.difference, rel=1e-6, abs=1e-9)


def test_pairs_with_a_gap_are_left_out_and_counted():
    own = paired_t(np.append(BEFORE, [np.nan, 1]), np.append(AFTER, [1, np.nan]))
    assert (own.n, own.n_left_out) == ((10,), 2)
    assert own.t == paired_t(BEFORE, AFTER).t


def test_the_same_difference_everywhere_has_no_p_rather_than_zero():
    before = np.array([0.1, 0.2, 0.3, 1.7])
    own = paired_t(before, before + 0.4)
    assert own.difference == pytest.approx(0.4, abs=1e-15)
    assert np.isnan([own.t, own.p, own.effect, own.low]).all()
    assert "the same in every row" in own.problems[0]


@pytest.mark.parametrize("values", [[], [1.0], [np.nan, np.nan], [2.0, np.nan]])
def test_too_few_rows_give_no_test_but_a_reason(values):
    own = one_sample_t(np.array(values))
    assert np.isnan([own.difference, own.t, own.p]).all()
    assert "two rows" in own.problems[0]


def test_a_huge_effect_still_has_an_interval():
    own = one_sample_t(np.array([10.0, 10.1, 9.9, 10.05]))
    assert own.effect_low < own.effect < own.effect_high


def test_scores_that_do_not_pair_are_refused():
    with pytest.raises(ValueError, match="pair"):
        paired_t(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="coverage"):
        one_sample_t(np.arange(3.0), level=1)
