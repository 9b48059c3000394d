"""Tests of fit for ordered answers: plain, scaled and shifted, and robust indices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_fit_indices import (
    ChiSquares,
    plain_indices,
    robust_indices,
)
from core.psychometrics.factor_models.cfa_result import NAN, FitIndices
from core.psychometrics.ordered.wlsmv_fit import WeightedFit

_POSITIVE = 1e-8
_ROUNDING = 1e-8


def _chi_squares(fit: WeightedFit) -> ChiSquares:
    """The weighted sums of squares of the model and of unrelated items, with n - 1 as n."""
    squares = fit.weights * fit.polychoric.pair_correlations**2
    baseline = fit.n_weight * float(squares.sum())
    return ChiSquares(fit.chi2, fit.df, baseline, len(squares), fit.n_weight)


def plain_fit(fit: WeightedFit) -> FitIndices:
    """The statistic taken for a chi-square, which it is not: p is not to be believed."""
    return plain_indices(_chi_squares(fit))


def scaled_fit(fit: WeightedFit) -> FitIndices:
    """The statistic scaled and shifted to the mean and variance of a chi-square.

    Asparouhov & Muthen (2010), Simple second order chi-square correction: T / c + s with
    c = sqrt(tr(UGUG) / df), s = df - tr(UG) / c, G the covariance of the correlations times n,
    U = W - W D (D'WD)^-1 D'W. Degrees of freedom stay as they are; there must be some.
    """
    weighted = fit.weights[:, None] * fit.slopes
    u = np.diag(fit.weights) - weighted @ fit.bread() @ weighted.T
    gamma = fit.moments.correlation_covariance()
    x = _chi_squares(fit)
    factor, shift = scale_and_shift(u @ gamma, x.model_df)
    baseline_factor, baseline_shift = scale_and_shift(fit.weights[:, None] * gamma, x.baseline_df)
    moved = replace(
        x, model=x.model / factor + shift, baseline=x.baseline / baseline_factor + baseline_shift
    )
    return replace(
        plain_indices(moved),
        scaling_factor=factor,
        shift=shift,
        baseline_scaling_factor=baseline_factor,
        baseline_shift=baseline_shift,
    )


def robust_fit(fit: WeightedFit) -> FitIndices | None:
    """CFI, TLI and RMSEA as they would be for continuous answers; None where undefined.

    Savalei (2021) doi:10.1080/00273171.2020.1717922: the normal-theory discrepancy of the
    polychoric matrix at the estimates, less its expected value under the model. Observed and
    implied matrix must be positive definite, and there must be degrees of freedom.
    """
    observed = fit.polychoric.correlations
    implied = fit.structure.matrices(fit.theta).covariance
    if min(np.linalg.eigvalsh(observed)[0], np.linalg.eigvalsh(implied)[0]) < _POSITIVE:
        return None
    gamma = fit.moments.correlation_covariance()
    weighted = fit.weights[:, None] * fit.slopes
    project = np.eye(len(gamma)) - fit.slopes @ fit.bread() @ weighted.T
    model, expected = _normal_theory(fit, implied, project @ gamma @ project.T)
    baseline, baseline_expected = _normal_theory(fit, np.eye(len(observed)), gamma)
    if min(expected / fit.df, baseline_expected / len(gamma)) < _ROUNDING:
        return None
    return robust_indices(
        _chi_squares(fit), model, expected / fit.df, baseline, baseline_expected / len(gamma)
    )


def srmr(fit: WeightedFit) -> float:
    """Root mean square residual correlation, counting the diagonal, which fits exactly."""
    cells = len(fit.residuals) + len(fit.polychoric.names)
    return math.sqrt(float((fit.residuals**2).sum()) / cells)


def scale_and_shift(product: Floats, df: int) -> tuple[float, float]:
    """Scaling factor and shift from U times Gamma; NaN where nothing varies."""
    squares = float((product * product.T).sum())
    if not squares > _ROUNDING * len(product):  # so few rows that any model fits them
        return NAN, NAN
    factor = math.sqrt(squares / df)
    return factor, df - float(np.trace(product)) / factor


def _normal_theory(fit: WeightedFit, implied: Floats, covariance: Floats) -> tuple[float, float]:
    """Normal discrepancy of the polychoric matrix, times n, and its expected value."""
    first, second = fit.polychoric.answers.pairs()
    observed = fit.polychoric.correlations
    inverse = np.linalg.inv(implied)
    discrepancy = (
        np.linalg.slogdet(implied)[1]
        - np.linalg.slogdet(observed)[1]
        + float((inverse * observed).sum())
        - len(observed)
    )
    cross = inverse[np.ix_(first, first)] * inverse[np.ix_(second, second)]
    cross += inverse[np.ix_(first, second)] * inverse[np.ix_(second, first)]
    return fit.n * float(discrepancy), float((cross * covariance).sum())
