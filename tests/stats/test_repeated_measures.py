from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.anova import AnovaRM

from core.stats.groups import MORE_ALIKE, paired_t, unbiased_factor
from core.stats.repeated_measures import average_d, repeated_measures
from tests.stats.reference import scores

R = json.loads((Path(__file__).parent / "golden" / "within_R.json").read_text())
SCORES = np.array(R["scores"])


def test_analysis_of_variance_agrees_with_r():
    test = repeated_measures(SCORES)
    assert test.epsilon == pytest.approx(R["epsilon"], abs=1e-4)  # R prints four digits
    for name in ("f", "p"):
        assert getattr(test, name) == pytest.approx(R[name], rel=1e-8)
    assert (test.partial.value, test.generalized.value) == pytest.approx(
        (R["partial"], R["generalized"]), rel=1e-8
    )
    ends = (test.partial.low, test.partial.high)
    assert ends == pytest.approx((R["partial_low"], R["partial_high"]), abs=2e-5)
    assert (test.df1, test.df2) == pytest.approx((3 * test.epsilon, 39 * test.epsilon))


def test_shares_corrected_for_chance_by_hand():
    """Sums of squares 6 between conditions, 10 of errors, 42 between the 4 units."""
    test = repeated_measures(np.array([[1.0, 2, 3], [2, 5, 2], [3, 5, 4], [6, 6, 9]]))
    assert (test.partial.by_chance, test.generalized.by_chance) == pytest.approx((1 / 4, 4 / 58))
    corrected = ((6 - 10 / 3) / 16, (6 - 10 / 3) / 58)
    assert (test.partial.corrected, test.generalized.corrected) == pytest.approx(corrected)


def test_chance_gives_the_mean_shares_of_all_deals_within_units():
    scores = np.array([[0.0, 1, 5], [2, 2, 3], [7, 1, 0]])
    deals = [
        repeated_measures(np.array(rows))
        for rows in itertools.product(*(list(itertools.permutations(row)) for row in scores))
    ]
    for name in ("partial", "generalized"):
        shares = [getattr(test, name) for test in deals if np.isfinite(test.f)]
        assert len(shares) == 216
        assert np.mean([own.value for own in shares]) == pytest.approx(shares[0].by_chance)
        assert np.mean([own.corrected for own in shares]) == pytest.approx(0, abs=1e-12)


def test_conditions_more_alike_than_by_chance_have_no_interval():
    scores = np.random.default_rng(3).normal(size=(8, 3))
    test = repeated_measures(scores - scores.mean(axis=0) + [0, 0.01, 0])
    assert test.problems == (MORE_ALIKE,)
    assert np.isnan((test.partial.low, test.generalized.high)).all()
    assert test.partial.corrected < 0


def test_d_of_few_paired_units_is_right_on_average_once_corrected():
    draw = np.random.default_rng(8).multivariate_normal([0, 1.5], [[1, 1], [1, 4]], (60_000, 5))
    first, second = np.moveaxis(draw, 2, 0)
    variances = draw.var(axis=1, ddof=1)
    d = (second - first).mean(axis=1) / np.sqrt(variances.mean(axis=1))
    truth = 1.5 / np.sqrt(2.5)
    assert d.mean() > 1.1 * truth
    centered = draw - draw.mean(axis=1, keepdims=True)
    shared = centered.prod(axis=2).sum(axis=1) / 4
    df = 4 * variances.sum(axis=1) ** 2 / ((variances**2).sum(axis=1) + 2 * shared**2)
    corrected = d * [unbiased_factor(own) for own in df]
    assert corrected.mean() == pytest.approx(truth, rel=0.025)
    few = [average_d(first[row], second[row]).corrected for row in range(20)]
    assert few == pytest.approx(corrected[:20])


def test_f_agrees_with_statsmodels():
    long = pd.DataFrame(
        {"score": SCORES.ravel(), "unit": np.repeat(range(14), 4), "level": np.tile(range(4), 14)}
    )
    other = AnovaRM(long, "score", "unit", within=["level"]).fit().anova_table.iloc[0]
    assert repeated_measures(SCORES).f == pytest.approx(other["F Value"], rel=1e-9)


def test_standardized_differences_agree_with_r():
    first, second = SCORES[:, 0], SCORES[:, 3]
    paired, d = paired_t(first, second), average_d(first, second)
    assert (paired.t, paired.p, paired.effect) == pytest.approx((R["t"], R["t_p"], R["d_z"]))
    found = (d.value, d.low, d.high)
    assert found == pytest.approx((R["d_av"], R["d_av_low"], R["d_av_high"]), rel=1e-7)


def test_of_two_conditions_f_is_the_square_of_the_paired_t():
    test, paired = repeated_measures(SCORES[:, :2]), paired_t(SCORES[:, 0], SCORES[:, 1])
    assert (test.f, test.p, test.epsilon) == pytest.approx((paired.t**2, paired.p, 1))


def test_more_conditions_than_units_have_the_same_epsilon_by_the_smaller_product():
    scores = np.random.default_rng(2).normal(size=(5, 9))
    centered = scores - scores.mean(axis=1, keepdims=True)
    covariance = np.cov(centered.T)
    expected = np.trace(covariance) ** 2 / (8 * (covariance**2).sum())
    assert repeated_measures(scores).epsilon == pytest.approx(expected)


def test_units_with_a_gap_are_left_out_and_counted():
    scores = SCORES.copy()
    scores[3, 1] = np.nan
    test, without = repeated_measures(scores), repeated_measures(np.delete(SCORES, 3, axis=0))
    assert (test.f, test.n, test.n_left_out) == (without.f, 13, 1)


def test_shifting_a_unit_changes_its_share_alone():
    shifted = SCORES + np.arange(14)[:, None]
    test, other = repeated_measures(SCORES), repeated_measures(shifted)
    assert other.f == pytest.approx(test.f)
    assert other.partial.value == pytest.approx(test.partial.value)
    assert other.generalized.value < test.generalized.value


@pytest.mark.parametrize(
    "scores",
    [
        SCORES[:1],
        np.array([[1.0, 2, 4], [2, 3, 5], [0, 1, 3]]),
        np.full((5, 3), 2.0),
        SCORES * 1e40,
    ],
)
def test_what_cannot_be_tested_is_undefined_with_a_reason(scores):
    test = repeated_measures(np.asarray(scores))
    assert math.isnan(test.p)
    assert len(test.problems) == 1


def test_a_standardized_difference_without_spread_is_undefined_or_has_no_interval():
    flat = np.full(4, 2.0)
    assert math.isnan(average_d(flat, flat + 1).value)
    d = average_d(np.arange(4.0), np.arange(4.0) + 1)
    assert d.value == pytest.approx(1 / np.std(range(4), ddof=1))
    assert math.isnan(d.low)
    assert math.isnan(average_d(flat[:1], flat[:1]).value)


@pytest.mark.parametrize("first", [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7, 0.4]])
def test_the_same_difference_has_a_corrected_value_from_n_less_one_degrees(first):
    first = np.array(first)
    d = average_d(first, first + 0.2)
    expected = 0.2 / first.std(ddof=1) * unbiased_factor(len(first) - 1)
    assert d.corrected == pytest.approx(expected)
    assert d.problems == ()


def test_of_two_units_there_is_no_corrected_value_and_a_reason():
    d = average_d(np.array([0.0, 1.0]), np.array([1.0, 2.5]))
    assert d.low < d.value < d.high
    assert math.isnan(d.corrected)
    assert len(d.problems) == 1


def test_scores_that_are_no_table_are_a_fault():
    with pytest.raises(ValueError, match="no table"):
        repeated_measures(SCORES[:, :1])


@pytest.mark.parametrize("deviations", [(1, 1, 1), (0.4, 1, 1.4)], ids=["spherical", "other"])
def test_intervals_cover_the_effects_of_simulated_studies(deviations):
    """Shifts of 0, .4 and .8; the effects are what the estimates tend to in large studies."""
    draw, n = np.random.default_rng(21).normal, 400
    shifts, errors = np.array([-0.4, 0, 0.4]), np.square(deviations)
    effect, noise = (shifts**2).sum(), errors.sum() * 2 / 3
    partial, general = effect / (effect + noise), effect / (effect + errors.sum() + 3)
    d = 0.4 / math.sqrt(1 + errors[:2].mean())
    covered = np.zeros(3)
    for _ in range(n):
        scores = shifts + draw(size=(20, 1)) + deviations * draw(size=(20, 3))
        test, pair = repeated_measures(scores), average_d(scores[:, 0], scores[:, 1])
        for place, (estimate, value) in enumerate(
            ((test.partial, partial), (test.generalized, general), (pair, d))
        ):
            covered[place] += estimate.low <= value <= estimate.high
    assert (covered / n >= 0.92).all()
    assert (covered / n <= 0.99).all()


def test_effects_of_three_tests_of_pupils_are_those_of_effectsize():
    """x1, x2 and x3 of the first forty pupils; effectsize 0.8.3 and aov of R 4.2.2."""
    result = repeated_measures(scores("hs1939", ["x1", "x2", "x3"])[:40])
    assert result.partial.value == pytest.approx(0.7968624054, abs=1e-9)
    assert result.partial.corrected == pytest.approx(0.7916537491, abs=1e-9)
    assert result.generalized.value == pytest.approx(0.6489335214, abs=1e-9)
