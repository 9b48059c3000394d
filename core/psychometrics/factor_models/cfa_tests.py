"""Tests of fit: the likelihood ratio, its correction for non-normal answers, robust indices.

Correction: Yuan & Bentler (2000) T2* in the form of Mplus, with observed information (Asparouhov &
Muthen 2005): factor = (tr saturated - tr model) / df, where tr is the trace of the scores'
information over the observed information. Robust indices with missing answers: Zhang & Savalei
(2023, doi:10.1037/met0000445). Checked against lavaan 0.6-19.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from core.psychometrics.factor_models.cfa_fit_indices import (
    ChiSquares,
    plain_indices,
    robust_indices,
    scaled_indices,
    undefined_indices,
)
from core.psychometrics.factor_models.cfa_likelihood import (
    Moments,
    NormalLikelihood,
    trace_products,
)
from core.psychometrics.factor_models.cfa_reference import (
    ReferenceModel,
    baseline_model,
    saturated_model,
)
from core.psychometrics.factor_models.cfa_result import FitIndices

Array = np.ndarray
_NOT_SCALED = (
    "The scaling factor of the {} comes out at {:.3g}, and it has to be above 0: there are too few "
    "answers to correct the test. The scaled χ² and the scaled and robust indices are undefined; "
    "the plain ones take answers as normal."
)
_NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Informations:
    """Informations of the fitted model per row, shape (q, q): expected, observed, of the scores."""

    expected: Array
    observed: Array
    scores: Array


@dataclass(frozen=True, eq=False)
class TestsOfFit:
    """All versions of the test of fit.

    Parameters
    ----------
    fit, scaled, robust : as in `CfaResult`.
    scaling_h0, scaling_h1 : scaling factors of the two log-likelihoods; NaN without correction.
    problems : why versions are undefined.
    """

    fit: FitIndices
    scaled: FitIndices | None
    robust: FitIndices | None
    scaling_h0: float
    scaling_h1: float
    problems: tuple[str, ...] = ()


def tests_of_fit(
    likelihood: NormalLikelihood,
    theta: Array,
    informations: Informations,
    *,
    corrected: bool,
    incomplete: bool,
) -> TestsOfFit:
    """The tests of a fitted model.

    Parameters
    ----------
    likelihood : NormalLikelihood
        The model and its data.
    theta : (q,) array
        Estimates.
    informations : Informations
        At the estimates.
    corrected : bool
        Whether to correct for non-normal answers (MLR).
    incomplete : bool
        Whether rows have missing answers that are not left out (full information).

    Returns
    -------
    TestsOfFit
    """
    means = likelihood.structure.table.means
    saturated = saturated_model(likelihood.groups, means=means)
    baseline = baseline_model(likelihood.groups, means=means)
    n_free = likelihood.structure.table.n_free
    x = ChiSquares(
        likelihood.n * likelihood.value(theta) - saturated.deviance,
        saturated.n_free - n_free,
        baseline.deviance - saturated.deviance,
        saturated.n_free - baseline.n_free,
        likelihood.n,
        len(likelihood.groups),
    )
    fit, scaled, robust, factors = plain_indices(x), None, None, (_NAN, _NAN)
    if corrected:
        trace = float(np.trace(np.linalg.solve(informations.observed, informations.scores)))
        factors = trace / n_free, saturated.trace / saturated.n_free
        if x.model_df > 0:
            factor = (saturated.trace - trace) / x.model_df
            baseline_factor = (saturated.trace - baseline.trace) / x.baseline_df
            for name, own in (("model", factor), ("model of unrelated items", baseline_factor)):
                if not own > 0:
                    nothing = undefined_indices(x.model_df, x.baseline_df)
                    reason = _NOT_SCALED.format(name, own)
                    return TestsOfFit(fit, nothing, nothing, *factors, (reason,))
            scaled = scaled_indices(x, factor, baseline_factor)
            robust = robust_indices(x, x.model, factor, x.baseline, baseline_factor)
    if incomplete and x.model_df > 0:
        robust = _robust_incomplete(x, likelihood, theta, saturated, baseline, corrected)
    return TestsOfFit(fit, scaled, robust, *factors)


def _robust_incomplete(
    x: ChiSquares,
    likelihood: NormalLikelihood,
    theta: Array,
    saturated: ReferenceModel,
    baseline: ReferenceModel,
    corrected: bool,
) -> FitIndices:
    """Robust indices as if no answer were missing (Zhang & Savalei 2023)."""
    weights = [group.n / likelihood.n for group in likelihood.groups]
    information = _blocks(saturated.information, weights)
    inverse = np.linalg.inv(information)
    spread = inverse
    if corrected:
        spread = inverse @ _blocks(saturated.scores, weights) @ inverse
    complete = _blocks([_complete_information(at) for at in saturated.groups], weights)
    numbers: list[float] = []
    fitted = likelihood.moments(theta)
    for moments, change in (
        (fitted, np.vstack([_moment_changes(at) for at in fitted])),
        (baseline.groups, block_diag(*[_moment_changes(at) for at in baseline.groups])),
    ):
        discrepancy = sum(
            group.n * _discrepancy(at, target)
            for group, at, target in zip(likelihood.groups, saturated.groups, moments, strict=True)
        )
        weighted = information @ change
        residual = np.eye(len(information)) - change @ np.linalg.solve(
            change.T @ weighted, weighted.T
        )
        expected = float(np.sum(complete * (residual @ spread @ residual.T)))
        numbers += [discrepancy, expected]
    return robust_indices(
        x, numbers[0], numbers[1] / x.model_df, numbers[2], numbers[3] / x.baseline_df
    )


def _blocks(blocks: list[Array] | tuple[Array, ...], weights: list[float]) -> Array:
    """Group matrices as one, each weighted by its share of the rows."""
    return np.asarray(block_diag(*[w * b for w, b in zip(weights, blocks, strict=True)]))


def _moment_changes(at: Moments) -> Array:
    """Changes of means and covariances (column by column, lower half) by parameter."""
    p = len(at.means)
    rows, columns = np.tril_indices(p)
    order = np.lexsort((rows, columns))
    changes = at.derivatives.covariance_changes()[:, rows[order], columns[order]]
    return np.vstack([at.derivatives.mean_changes(), changes.T])


def _complete_information(at: Moments) -> Array:
    """Information of the saturated parameters if no answer were missing."""
    inverse, d = np.linalg.inv(at.covariance), at.derivatives
    return np.asarray(0.5 * trace_products(inverse, inverse, d, d) + d.mean.T @ inverse @ d.mean)


def _discrepancy(sample: Moments, model: Moments) -> float:
    """Normal-theory discrepancy of complete moments (Joreskog 1967)."""
    gap = sample.means - model.means
    inverse = np.linalg.inv(model.covariance)
    logs = np.linalg.slogdet(model.covariance)[1] - np.linalg.slogdet(sample.covariance)[1]
    return float(logs + np.sum(inverse * sample.covariance) - len(gap) + gap @ inverse @ gap)
