import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr, t
from statsmodels.stats.proportion import proportion_confint

from core.stats.correlation import (
    category_correlation,
    correlation,
    disattenuated_correlation,
    fisher_interval,
    stars,
)
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected, scores

R = expected("tests_R")


def related(n: int, seed: int):
    generator = np.random.default_rng(seed)
    first = generator.normal(size=n)
    return first, 0.5 * first + generator.normal(size=n)


def likert():
    table = scores("likert22", [f"i{number}" for number in range(1, 22)])
    return table[~np.isnan(table).any(axis=1)]


def test_pearson_its_interval_and_p_equal_those_of_r():
    table, own = scores("hs1939"), R["pearson_hs_x1_x4"]
    result = correlation(table[:, 0], table[:, 3])
    assert result.r == pytest.approx(own["r"], abs=1e-12)
    assert (result.low, result.high) == pytest.approx(tuple(own["ci"]), abs=1e-12)
    assert result.p == pytest.approx(own["p"], rel=1e-9)
    assert (result.n, stars(result.p)) == (own["n"], "***")


def test_spearman_with_ties_its_interval_and_p_equal_those_of_r():
    table, own = likert(), R["spearman_likert_i1_i2"]
    result = correlation(table[:, 0], table[:, 1], kind="spearman")
    assert result.r == pytest.approx(own["rho"], abs=1e-12)
    assert (result.low, result.high) == pytest.approx(tuple(own["ci_bonett_wright"]), abs=1e-12)
    assert result.p == pytest.approx(own["p"], rel=1e-9)


def test_pearson_of_likert_items_equals_that_of_r():
    table, own = likert(), R["pearson_likert_i1_i2"]
    result = correlation(table[:, 0], table[:, 1])
    assert (result.r, result.low, result.high) == pytest.approx((own["r"], *own["ci"]), abs=1e-12)


def test_rows_that_lack_a_score_are_left_out_and_counted():
    first, second = related(30, 1)
    first[3], second[7] = np.nan, np.inf
    result = correlation(first, second)
    kept = np.delete(np.arange(30), [3, 7])
    assert (result.n, result.n_left_out) == (28, 2)
    assert result.r == pytest.approx(np.corrcoef(first[kept], second[kept])[0, 1], abs=1e-12)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_the_bootstrap_is_that_of_resampling_row_by_row(kind):
    generator = np.random.default_rng(9)
    first = generator.integers(0, 5, 25).astype(float)
    second = first + generator.integers(0, 4, 25)
    quick = correlation(first, second, kind=kind, bootstrap=Bootstrap(250, 7))
    draws = np.random.default_rng(7).integers(25, size=(250, 25))
    measure = pearsonr if kind == "pearson" else spearmanr
    slow = [measure(first[rows], second[rows]).statistic for rows in draws]
    half = t.ppf(0.975, 24) * np.std(np.arctanh(slow)) * np.sqrt(25 / 24)
    expected = np.tanh(np.arctanh(quick.r) + np.array([-half, half]))
    assert (quick.bootstrap_low, quick.bootstrap_high) == pytest.approx(tuple(expected), abs=1e-10)


@pytest.mark.parametrize("n", [10, 20])
@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_intervals_by_resampling_cover(n, rho):
    """300 studies; percentiles cover 87 to 91 % of them."""
    generator = np.random.default_rng([n, int(10 * rho)])
    held = 0
    for _ in range(300):
        first = generator.normal(size=n)
        second = rho * first + np.sqrt(1 - rho**2) * generator.normal(size=n)
        found = correlation(first, second, bootstrap=Bootstrap(200, 1))
        held += found.bootstrap_low <= rho <= found.bootstrap_high
    assert 0.91 <= held / 300 <= 0.985


def test_fishers_interval_covers_the_true_correlation_as_often_as_it_says():
    true = 0.5 / np.sqrt(1.25)
    results = [correlation(*related(40, seed)) for seed in range(500)]
    assert 0.92 <= np.mean([own.low <= true <= own.high for own in results]) <= 0.98


@given(
    seed=st.integers(0, 100),
    n=st.integers(5, 40),
    scale=st.floats(0.1, 30),
    shift=st.floats(-100, 100),
)
def test_unit_and_order_of_the_scores_do_not_matter_but_turning_one_round_does(
    seed, n, scale, shift
):
    first, second = related(n, seed)
    own = correlation(first, second)
    assert correlation(second, shift + scale * first).r == pytest.approx(own.r, abs=1e-9)
    turned = correlation(first, -second)
    assert turned.r == pytest.approx(-own.r, abs=1e-12)
    assert (turned.low, turned.high) == pytest.approx((-own.high, -own.low), abs=1e-12)
    assert -1 <= own.low <= own.r <= own.high <= 1


def test_one_tailed_p_is_half_on_its_side_and_the_rest_on_the_other():
    first, second = related(20, 2)
    both, greater, less = (
        correlation(first, second, alternative=side).p for side in ("two-sided", "greater", "less")
    )
    assert greater == pytest.approx(both / 2, rel=1e-12)
    assert greater + less == pytest.approx(1, abs=1e-12)


def test_scores_that_determine_each_other_have_no_width_and_say_so():
    first = np.array([0.1, 0.2, 0.3, 0.7])
    result = correlation(first, 3 * first + 1)
    assert (result.r, result.low, result.high, result.p) == (1.0, 1.0, 1.0, 0.0)
    assert result.problems


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([1.0, 1, 1, 1], [1.0, 2, 3, 4], "first score is the same"),
        ([0.1 + 0.2, 0.3, 0.3], [1.0, 2, 3], "first score is the same"),
        ([2.0, 2, 2], [3.0, 3, 3], "first and the second score is the same"),
        ([1.0, 2], [2.0, 3], "three rows"),
        ([np.nan] * 5, [1.0, 2, 3, 4, 5], "three rows"),
        ([], [], "three rows"),
    ],
)
def test_bad_scores_give_no_correlation_but_a_reason(first, second, reason):
    for kind in ("pearson", "spearman"):
        result = correlation(np.array(first), np.array(second), kind=kind, bootstrap=Bootstrap(10))
        assert np.isnan([result.r, result.low, result.p, result.bootstrap_low]).all()
        assert reason in " ".join(result.problems)
        assert stars(result.p) == ""


def test_three_rows_have_a_correlation_but_no_interval():
    result = correlation(np.array([1.0, 2, 4]), np.array([2.0, 1, 5]))
    assert np.isfinite(result.r)
    assert np.isnan(result.low)
    assert "four rows" in result.problems[0]


def test_scores_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="pair"):
        correlation(np.ones(3), np.ones(4))


@pytest.mark.parametrize(
    ("p", "mark"),
    [
        (0.05, ""),
        (0.0499, "*"),
        (0.01, "*"),
        (0.0099, "**"),
        (0.001, "**"),
        (0.00099, "***"),
        (np.nan, ""),
    ],
)
def test_stars_start_below_their_limit(p, mark):
    assert stars(p) == mark


def test_correction_for_unreliability_by_hand():
    assert disattenuated_correlation(0.36, 0.81, 0.64) == pytest.approx(0.5, abs=1e-15)
    assert np.isnan(disattenuated_correlation(0.4, 0.8, -0.1))
    assert np.isnan(disattenuated_correlation(0.4, np.nan, 0.8))


def test_the_interval_of_a_rank_correlation_equals_that_of_its_author():
    # printed for ci.spear of D. Bonett's R package statpsych
    second = [21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19]
    first = [67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51]
    own = correlation(np.array(first), np.array(second), kind="spearman")
    printed = (0.8699639, 0.5840951, 0.9638297)
    assert (own.r, own.low, own.high) == pytest.approx(printed, abs=5e-8)


def test_fishers_interval_by_hand():
    # r = tanh(1), n = 103: z interval 1 ± 1.959964 / 10
    low, high = fisher_interval(np.tanh(1), 103)
    assert np.arctanh([low, high]) == pytest.approx([0.8040036, 1.1959964], abs=1e-7)


def party_positions(n, seed, kinds=3):
    """Positions of two parties, of whom the second has that of the first in more than half."""
    draw = np.random.default_rng(seed)
    first, other = draw.integers(kinds, size=(2, n)) * 1.0
    return first, np.where(draw.random(n) < 0.6, first, other)


@pytest.mark.parametrize("n", [7, 20, 60])
def test_positions_have_the_interval_of_leaving_out_each_row(n):
    first, second = party_positions(n, seed=n)
    found = category_correlation(first, second)
    left = np.array(
        [spearmanr(np.delete(first, row), np.delete(second, row))[0] for row in range(n)]
    )
    error = np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())
    of_ranks = np.sqrt((1 + found.r**2 / 2) / (n - 3))
    reach = t.ppf(0.975, n - 1) * max(error / (1 - found.r**2), of_ranks)
    ends = np.tanh(np.arctanh(found.r) + np.array([-reach, reach]))
    assert (found.r, found.low, found.high) == pytest.approx((spearmanr(first, second)[0], *ends))


def test_intervals_of_positions_hold_where_those_of_fisher_do_not():
    """500 times 60 statements, of three positions: ranks correlate with .6, as places do."""
    found = [party_positions(60, seed) for seed in range(500)]
    covered = [
        [result.low <= 0.6 <= result.high for result in (correlate(*both) for both in found)]
        for correlate in (category_correlation, partial(correlation, kind="spearman"))
    ]
    by_cells, by_fisher = np.mean(covered, axis=1)
    assert 0.92 <= by_cells <= 0.98
    assert by_fisher < 0.92


def test_intervals_of_unrelated_one_sided_positions_hold_0():
    """200 times 20 statements on which both parties mostly agree; leaving out rows alone: 61 %."""
    draw = np.random.default_rng(3)
    found = [category_correlation(*np.sign(draw.random((2, 20)) - 0.2)) for _ in range(200)]
    held = [own.low <= 0 <= own.high for own in found if math.isfinite(own.low)]
    assert len(held) > 180
    assert np.mean(held) >= 0.94


def test_positions_that_are_alike_or_too_few_are_said_to_be():
    same = category_correlation(np.array([1.0, 1, -1, -1]), np.array([1.0, 1, -1, -1]))
    low, _ = proportion_confint(4, 4, method="wilson")
    assert (same.low, same.high) == pytest.approx((2 * low - 1, 1))
    assert 0 < same.low < 0.2
    assert same.problems == ()
    alone = category_correlation(np.array([1.0, -1, -1, -1]), np.array([1.0, 1, 1, -1]))
    assert math.isnan(alone.low) == bool(alone.problems)
    few = category_correlation(np.array([1.0, 0, -1]), np.array([1.0, 0, -1]))
    assert math.isnan(few.low)
    assert "four rows" in few.problems[0]
