"""Indices, and the Yuan-Bentler factor, worked by hand."""

import math

import numpy as np
import pytest

from core.stats.factor.cfa import fit_cfa
from core.stats.factor.estimation import prepare_groups
from core.stats.factor.fit_indices import (
    ChiSquares,
    cfi,
    few_rows_factor,
    p_value,
    plain_indices,
    rmsea,
    robust_indices,
    scaled_indices,
    tli,
)
from core.stats.factor.likelihood import baseline_model, saturated_model


def test_chi_squares_of_few_rows_times_the_factor_hold_where_they_do_not():
    """The factor by hand, and 250 true models of 6 items and 20 rows."""
    p, df, n = 6, 9, 20
    assert few_rows_factor(df, p, [n]) == pytest.approx(1 - (2.381 + 0.361 * 6 + 0.006 * 12) / 20)
    assert few_rows_factor(2 * df, p, [n, n]) == pytest.approx(few_rows_factor(df, p, [n]))
    assert few_rows_factor(df, p, [100_000]) == pytest.approx(1, abs=1e-4)
    fewer, more = few_rows_factor(df, p, [20]), few_rows_factor(df, p, [300])
    assert few_rows_factor(2 * df, p, [20, 300]) == pytest.approx(2 / (1 / fewer + 1 / more))
    assert math.isnan(few_rows_factor(0, 3, [50]))
    assert math.isnan(few_rows_factor(df, p, [4]))
    draw = np.random.default_rng(3)
    names = [f"x{i}" for i in range(p)]
    few, plain = 0, 0
    for _ in range(250):
        scores = draw.normal(size=(n, 1)) + draw.normal(size=(n, p))
        fit = fit_cfa(scores, names, "F =~ " + " + ".join(names), estimator="ML").fit
        plain += fit.p < 0.05
        few += p_value(fit.chi2 * few_rows_factor(df, p, [n]), df) < 0.05
    assert plain / 250 > 0.1
    assert 0.02 <= few / 250 <= 0.08


def test_cfi_tli_and_rmsea_of_round_numbers():
    # chi-square 30 on 20 df, baseline 120 on 30 df, 101 rows
    x = plain_indices(ChiSquares(30, 20, 120, 30, 100))
    assert x.cfi == pytest.approx(1 - 10 / 90)
    assert x.tli == pytest.approx(1 - (10 / 20) / (90 / 30))
    assert x.rmsea == pytest.approx(math.sqrt(10 / (20 * 100)))
    assert x.rmsea_low <= x.rmsea <= x.rmsea_high


def test_a_model_better_than_chance_has_cfi_one_and_rmsea_zero():
    x = plain_indices(ChiSquares(10, 20, 120, 30, 100))
    assert (x.cfi, x.rmsea, x.rmsea_low) == (1.0, 0.0, 0.0)
    assert x.tli > 1


def test_a_model_worse_than_unrelated_items_has_cfi_zero():
    # misfit 12 - 5 = 7, of unrelated items 11 - 10 = 1: 1 - 7 / 7, and not 1 - 7 / 1
    assert cfi(12, 5, 11, 10) == 0.0


def test_groups_widen_rmsea_by_the_root_of_their_number():
    assert rmsea(30, 20, 100, 4).value == pytest.approx(2 * rmsea(30, 20, 100, 1).value)


def test_scaling_divides_the_chi_square_and_leaves_df():
    x = scaled_indices(ChiSquares(30, 20, 120, 30, 100), 1.25, 1.5)
    assert (x.chi2, x.df, x.baseline_chi2) == (24.0, 20, 80.0)
    assert x.cfi == pytest.approx(1 - 4 / 50)


def test_robust_indices_correct_the_expectation_not_the_discrepancy():
    x = robust_indices(ChiSquares(30, 20, 120, 30, 100), 30, 1.25, 120, 1.5)
    assert x.cfi == pytest.approx(1 - 5 / 75)
    assert x.tli == pytest.approx(1 - (5 / 20) / (75 / 30))
    assert x.rmsea == pytest.approx(math.sqrt(5 / (20 * 100)))
    assert math.isnan(x.chi2)


def test_without_degrees_of_freedom_everything_is_undefined():
    x = plain_indices(ChiSquares(0, 0, 120, 3, 100))
    assert all(math.isnan(v) for v in (x.p, x.cfi, x.tli, x.rmsea, x.rmsea_high, x.rmsea_p_close))
    assert math.isnan(p_value(1.0, 0))


def test_a_baseline_that_fits_leaves_tli_undefined():
    assert cfi(0, 5, 10, 10) == 1.0
    assert math.isnan(tli(6, 5, 10, 10, ratio=2))


def test_the_yuan_bentler_factor_of_a_toy_worked_by_hand():
    """Two items, eight rows, covariance 0, variances 1.5: is their covariance 0?

    The factor of this one-df test is mean(x^2 y^2) / (var x var y) = 0.5 / 2.25 = 2/9. The trace of
    the saturated model is (mean d^4 - 2) / 2 = (40/9 - 2) / 2 = 11/9; that of the baseline is
    half of each kurtosis (2) less 1, so 1.
    """
    x = np.array([2, -2, 0, 0, 1, -1, 1, -1.0])
    y = np.array([0, 0, 2, -2, 1, 1, -1, -1.0])
    data = prepare_groups([np.column_stack([x, y])], ["x", "y"], missing="listwise", names=[""])
    saturated = saturated_model(data.groups, means=False)
    baseline = baseline_model(data.groups, means=False)
    assert saturated.trace == pytest.approx(11 / 9)
    assert baseline.trace == pytest.approx(1)
    assert saturated.trace - baseline.trace == pytest.approx(2 / 9)


def test_the_yuan_bentler_test_of_a_toy_worked_by_hand():
    """Two items, six rows: are they unrelated?

    Variances are 10 / 6 = 5/3, the covariance is 6 / 6 = 1, so the determinant is 25/9 - 1 = 16/9
    and ML's test is 6 log((25/9) / (16/9)) = 12 log(5/4) with 1 degree of freedom.

    The inverse covariance is 9/16 [[5/3, -1], [-1, 5/3]], so the squared distances are
    9/16 (5/3 (x^2 + y^2) - 2 x y) = 3, 3, 3, 3, 0, 0: their squares average 6, and the trace of the
    saturated model is (6 - 2) / 2 = 2. The trace of the model adds, for each item, half of its
    kurtosis less 1: mean x^4 = 17/3, over (5/3)^2 it is 2.04, so 2 (2.04 - 1) / 2 = 1.04.
    The factor is (2 - 1.04) / 1 = 0.96, the scaled test 12 log(5/4) / 0.96 = 12.5 log(5/4).
    Scaling of the log-likelihoods: 1.04 / 2 parameters, and 2 / 3 parameters.
    """
    x, y = [2, -2, 1, -1, 0, 0], [2, -2, -1, 1, 0, 0]
    rows = np.array([x, y], dtype=float).T
    fit = fit_cfa(rows, ["x", "y"], "F =~ x\nG =~ y\nF ~~ 0*G", estimator="MLR")
    assert fit.fit.df == 1
    assert fit.fit.chi2 == pytest.approx(12 * math.log(5 / 4), abs=1e-12)
    assert fit.scaled.scaling_factor == pytest.approx(0.96, abs=1e-8)
    assert fit.scaled.chi2 == pytest.approx(12.5 * math.log(5 / 4), abs=1e-7)
    assert (fit.scaling_h0, fit.scaling_h1) == pytest.approx((0.52, 2 / 3), abs=1e-8)


def test_means_add_their_number_to_the_trace():
    rng = np.random.default_rng(5)
    data = prepare_groups(
        [rng.normal(size=(50, 3))], ["a", "b", "c"], missing="listwise", names=[""]
    )
    with_means = saturated_model(data.groups, means=True).trace
    assert with_means == pytest.approx(saturated_model(data.groups, means=False).trace + 3)
