from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from core.stats.paired import paired_differences

NAN = float("nan")
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 8
"""Inches by which a crossed plant is taller than its self-fertilized partner; Fisher (1935)."""


def against_zero(differences, **options):
    own = np.asarray(differences, dtype=float)
    return paired_differences(np.stack([np.zeros(len(own)), own]), **options)


def test_darwins_plants_have_the_p_that_fisher_counted():
    result = against_zero(DARWIN)
    assert result.difference[0] == pytest.approx(314 / 15 / 8, abs=1e-12)
    # 863 of 32,768 patterns have a sum of 314 or more; as many have -314 or less.
    assert result.p[0] == pytest.approx(2 * 863 / 32768, abs=1e-15)


def test_p_of_few_units_is_that_of_scipy():
    values = np.random.default_rng(3).normal(size=(3, 9)).round(1)
    result = paired_differences(values)
    for (first, second), p in zip(result.pairs, result.p, strict=True):
        reference = permutation_test(
            (values[second], values[first]),
            lambda x, y: np.mean(x - y),
            permutation_type="samples",
            n_resamples=np.inf,
        )
        assert p == pytest.approx(reference.pvalue, abs=1e-12)


def test_p_of_many_units_is_near_the_exact_one():
    apart = np.array([0.3] * 14 + [-0.3] * 6)
    # Sums of 20 signs reach 8 where at most 6, or at least 14, are negative: binomial tails.
    exact = 2 * sum((1, 20, 190, 1140, 4845, 15504, 38760)) / 2**20
    result = against_zero(apart, seed=5)
    assert result.p[0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))
    assert result.p[0] * 10_000 == pytest.approx(round(result.p[0] * 10_000), abs=1e-9)
    assert against_zero(apart, seed=5).p[0] == result.p[0]
    assert against_zero(np.ones(40)).p[0] == 1 / 10_000  # (b + 1) / (m + 1), never 0


def test_means_are_over_the_units_that_both_have():
    values = np.array([[0.2, 0.4, NAN, 0.9, NAN], [0.5, 0.3, 0.8, NAN, NAN]])
    result = paired_differences(values)
    assert (result.n[0], result.n_left_out[0]) == (2, 2)
    assert result.first_mean[0] == pytest.approx(0.3)
    assert result.second_mean[0] == pytest.approx(0.4)
    assert result.difference[0] == pytest.approx(0.1)
    assert result.p[0] == 1.0  # +.3 - .1 is the smallest of its sums in size
    assert result.problems[0][0] == "With 2 units, p cannot be below 0.5."


def test_the_interval_is_that_of_the_mean_where_all_units_are_shared():
    apart = np.random.default_rng(1).normal(0.1, 0.2, 200)
    result = against_zero(apart, level=0.9)
    expected = stats.ttest_1samp(apart, 0).confidence_interval(0.9)
    assert (result.low[0], result.high[0]) == pytest.approx(tuple(expected))


def test_p_is_adjusted_within_each_family():
    values = np.random.default_rng(8).normal(size=(4, 8)) + np.arange(4)[:, None] * 0.7
    families = ["model", "language", "model", "model", "language", "model"]
    for method, name in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        result = paired_differences(values, families=families, adjustment=method)
        for family in ("model", "language"):
            own = np.array(families) == family
            reference = multipletests(result.p[own], method=name)[1]
            assert result.p_adjusted[own] == pytest.approx(reference, abs=1e-12)


def test_too_few_shared_units_leave_the_other_pairs_defined():
    values = np.array([[0.1, 0.5, 0.2], [0.3, NAN, NAN], [NAN, 0.4, 0.6], [0.0, 0.1, 0.1]])
    result = paired_differences(values)
    by_pair = {tuple(pair): place for place, pair in enumerate(result.pairs.tolist())}
    one, none, three = by_pair[0, 1], by_pair[1, 2], by_pair[0, 3]
    assert result.difference[one] == pytest.approx(0.2)
    assert np.isnan([result.p[one], result.low[one], result.p_adjusted[one]]).all()
    assert result.problems[one] == ("No interval and no p: the two share one unit only.",)
    assert np.isnan([result.difference[none], result.first_mean[none], result.p[none]]).all()
    assert result.problems[none] == ("Undefined: the two share no unit with a value.",)
    assert np.isfinite([result.low[three], result.p[three], result.p_adjusted[three]]).all()


def test_groups_that_are_the_same_have_a_p_of_one_and_no_pairs_give_nothing():
    same = paired_differences(np.full((2, 30), 0.25))
    assert (same.difference[0], same.p[0]) == (0, 1)
    assert np.isnan([same.low[0], same.high[0]]).all()
    assert same.problems[0] == ("No interval: all units differ alike.",)
    assert paired_differences(np.ones((1, 5))).p.shape == (0,)
    assert paired_differences(np.ones((0, 0))).p.shape == (0,)


def test_what_is_no_table_of_groups_is_refused():
    with pytest.raises(ValueError, match="groups and units"):
        paired_differences(np.ones(3))
    with pytest.raises(ValueError, match="families"):
        paired_differences(np.ones((2, 3)), families=["a", "b"])


@given(
    values=arrays(np.float64, (3, 7), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])),
    shift=st.floats(-2, 2),
)
def test_turning_a_pair_turns_its_difference_and_a_shift_of_both_changes_nothing(values, shift):
    one = paired_differences(values, pairs=[(0, 1), (2, 1)])
    other = paired_differences(values + shift, pairs=[(1, 0), (1, 2)])
    np.testing.assert_allclose(one.difference, -other.difference, atol=1e-9)
    np.testing.assert_allclose(one.low, -other.high, atol=1e-9)
    np.testing.assert_allclose(one.p, other.p, atol=1e-12)
    defined = np.isfinite(one.p)
    assert ((one.p[defined] > 0) & (one.p[defined] <= 1)).all()
    assert (one.n + one.n_left_out <= values.shape[1]).all()
