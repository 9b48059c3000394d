"""Tests of majorities: by hand, against resampling answers one by one, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from core.stats.statement_tests import (
    SamplingRule,
    majority_stances,
    pass_all,
    same_in_templates,
    same_stance,
    sampling_chances,
    sampling_intervals,
    sampling_verdicts,
    stance_chances,
)

NAN = float("nan")
EXACT = SamplingRule(resamples=0)


def floats(*values):
    return np.array(values, dtype=float)


def test_a_majority_is_a_stance_and_a_tie_is_what_the_user_says():
    positive, n = floats(20, 15, 10, 9, 0), floats(30, 30, 30, 9, 0)
    expected = {"fails": 0, "not_judged": NAN, "negative": -1}
    for ties, tie in expected.items():
        stances = majority_stances(positive, n, ties=ties, least=10)
        np.testing.assert_array_equal(stances, [1, tie, -1, NAN, NAN])
    np.testing.assert_array_equal(majority_stances(positive, n, least=1), [1, 0, -1, 1, NAN])


def test_the_interval_is_that_of_answers_resampled_one_by_one():
    chance = np.random.default_rng(3)
    for positive, n in ((3, 12), (15, 30), (22, 30), (29, 30), (30, 30)):
        answers = np.array([1] * positive + [0] * (n - positive))
        means = chance.choice(answers, (40_000, n)).mean(axis=1)
        low, high = sampling_intervals(floats(positive), floats(n), SamplingRule(40_000))
        expected = np.quantile(means, [0.025, 0.975])
        np.testing.assert_allclose([low[0], high[0]], expected, atol=0.51 / n)


def test_without_resamples_the_interval_is_that_of_the_binomial_distribution():
    low, high = sampling_intervals(floats(22, 8, 0), floats(30, 30, 30), EXACT)
    ends = binom.ppf([0.025, 0.975], 30, 22 / 30) / 30
    np.testing.assert_allclose(low, [ends[0], 1 - ends[1], 0])
    np.testing.assert_allclose(high, [ends[1], 1 - ends[0], 0])


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 100))
def test_the_verdict_does_not_depend_on_which_answer_is_positive(positive, negative, seed):
    n = positive + negative
    rule = SamplingRule(200, seed)
    low, high = sampling_intervals(floats(positive, negative, 7), floats(n, n, 20), rule)
    alone = sampling_intervals(floats(positive), floats(n), rule)
    if not n:
        assert np.isnan(low[:2]).all()
        return
    if positive != negative:  # of a tie, both are the same draws
        np.testing.assert_allclose([low[0], high[0]], [1 - high[1], 1 - low[1]], atol=1e-12)
    np.testing.assert_array_equal([low[0], high[0]], np.ravel(alone))
    verdicts = sampling_verdicts(low, high)
    assert verdicts[0] == verdicts[1]


def test_a_share_is_settled_where_both_bounds_lie_outside_on_one_side():
    low = floats(0.56, 0.55, 0.30, 0.2, 0.2, 0.47, 0.4, NAN)
    high = floats(0.90, 0.90, 0.44, 0.45, 0.55, 0.53, 0.6, NAN)
    np.testing.assert_array_equal(sampling_verdicts(low, high), [1, 0, 1, 0, 0, 0, 0, NAN])


def test_another_wording_has_the_stance_of_the_original_or_not():
    original = floats(1, 1, -1, 0, NAN, 1, 1)
    others = np.array([[1, 1], [1, -1], [-1, -1], [0, 0], [1, 1], [1, NAN], [0, 1]], dtype=float)
    np.testing.assert_array_equal(same_stance(original, others), [1, 0, 1, 0, NAN, NAN, 0])
    only_first = np.tile([True, False], (7, 1))
    np.testing.assert_array_equal(
        same_stance(original, others, only_first), [1, 1, 1, 0, NAN, 1, 0]
    )
    nothing = same_stance(original, np.empty((7, 0)))
    assert np.isnan(nothing).all()


def test_a_statement_has_one_stance_in_all_its_templates_or_not():
    stances = floats(1, 1, 1, -1, -1, -1, 0, 0, 1, NAN, 1)
    statement = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5])
    expected = [1, 1, 0, 0, 1, 1, 0, 0, NAN, NAN, NAN]
    np.testing.assert_array_equal(same_in_templates(stances, statement), expected)


def test_all_tests_are_passed_where_each_can_be_judged():
    verdicts = np.array([[1, 1], [1, 0], [0, NAN], [1, NAN]], dtype=float)
    np.testing.assert_array_equal(pass_all(verdicts), [1, 0, NAN, NAN])
    assert np.isnan(pass_all(np.empty((1, 0)))).all()


@pytest.mark.parametrize("ties", ["fails", "not_judged", "negative"])
def test_chances_of_random_answers_are_those_of_simulated_ones(ties):
    n, draws = 12, 60_000
    positive = np.random.default_rng(5).binomial(n, 0.5, draws).astype(float)
    size = np.full(draws, float(n))
    stances = majority_stances(positive, size, ties=ties)
    chances = stance_chances(floats(n, 9), ties=ties)
    simulated = [(stances == 1).mean(), (stances == -1).mean(), np.isfinite(stances).mean()]
    exact = [part[0] for part in (chances.positive, chances.negative, chances.judged)]
    np.testing.assert_allclose(exact, simulated, atol=0.007)
    assert chances.positive[1] == chances.judged[1] == 0  # fewer answers than needed
    settled = sampling_verdicts(*sampling_intervals(positive, size)) == 1
    passing = sampling_chances(floats(n, 9), SamplingRule(), ties=ties)
    np.testing.assert_allclose(
        [passing.positive[0], passing.negative[0]],
        [(settled & (stances == side)).mean() for side in (1, -1)],
        atol=0.005,
    )
    assert passing.judged.tolist() == [1, 0]
