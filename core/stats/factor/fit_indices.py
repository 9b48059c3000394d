"""Tests of fit and fit indices of a factor model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from core.domain.notes import Note
from core.stats.factor.likelihood import (
    IncompleteReference,
    ModelMoments,
    NormalLikelihood,
    baseline_model,
    free_cells,
    incomplete_saturated_model,
    saturated_model,
    trace_products,
)
from core.stats.factor.result import FitIndices
from core.stats.inputs import Estimate, Floats, Integers

# Fit indices that follow from a chi-square and its degrees of freedom.

_RMSEA_CLOSE = 0.05
"""Browne & Cudeck (1993): a model with an RMSEA up to here fits closely."""
_ROUNDING = 1e-6  # of the chi-square of a model that fits any answers
_COVERAGE = (0.95, 0.05)  # a 90 % interval, the convention for RMSEA


@dataclass(frozen=True)
class ChiSquares:
    """The tests of a model and of its baseline, before any correction.

    Parameters
    ----------
    model, model_df : chi-square and degrees of freedom of the model.
    baseline, baseline_df : the same for the model in which items are unrelated.
    n : rows (or n - 1 where the estimator uses that). n_groups : number of groups.
    """

    model: float
    model_df: int
    baseline: float
    baseline_df: int
    n: int
    n_groups: int = 1


@dataclass(frozen=True)
class Rmsea(Estimate):
    """The estimate, its 90 % interval and p of close fit."""

    p_close: float = math.nan


def p_value(chi2: float, df: int) -> float:
    """Probability of a chi-square this large if the model holds; NaN without degrees of freedom.

    Examples
    --------
    >>> round(p_value(3.841459, 1), 6)
    0.05
    """
    return float(scipy.stats.chi2.sf(chi2, df)) if df > 0 and np.isfinite(chi2) else math.nan


def few_rows_factor(df: int, n_items: int, rows: Sequence[int]) -> float:
    """What a chi-square of few rows is multiplied by, so that it is as large as its df on average.

    Parameters
    ----------
    df : int
        Degrees of freedom of the model.
    n_items : int
        Items of the model.
    rows : sequence of int
        Complete rows of each group. With several groups, each adds the same degrees of freedom to
        the mean of chi-square, divided by its own factor.

    Returns
    -------
    float
        NaN without degrees of freedom, or with so few rows that the factor is not above 0.

    Notes
    -----
    Yuan, Tian & Yanagihara (2015) doi:10.1007/s11336-013-9386-5, their empirical Bartlett factor
    from p items and q free variances, covariances and loadings: 1 - (2.381 + .361 p + .006 q) / n,
    of a chi-square of maximum likelihood that is n times the misfit of normal answers. Of 150 to
    500 simulated true models of one factor and five options, 4 to 8 % are significant with 6 items
    and 10 to 200 rows (without the factor 38 to 5 %), with 10 items and 40 to 200 rows, and 7 to
    11 % with 20 items and 40 to 100 rows (88 to 35 %). The scaled chi-square times the factor: 5 to
    8 % from 60 rows (100 with 20 items), and 5 to 12 % where most answers are at one end, of which
    the plain one has 8 to 45 %.

    Examples
    --------
    By hand: 6 items and 9 df leave q = 12, so of 20 rows it is 1 - 4.619 / 20.

    >>> round(few_rows_factor(9, 6, [20]), 6)
    0.76905
    """
    free = n_items * (n_items + 1) / 2 - df / len(rows)
    lost = 2.381 + 0.361 * n_items + 0.006 * free
    if df < 1 or min(rows) <= lost:
        return math.nan
    return len(rows) / sum(1 / (1 - lost / n) for n in rows)


def cfi(model: float, model_df: float, baseline: float, baseline_df: float) -> float:
    """Comparative fit index (Bentler 1990, doi:10.1037/0033-2909.107.2.238), within 0..1."""
    misfit, worst = max(model - model_df, 0.0), max(model - model_df, baseline - baseline_df, 0.0)
    if not np.isfinite(worst):
        return math.nan
    return 1.0 - misfit / worst if worst > 0 else 1.0


def tli(
    model: float, model_df: float, baseline: float, baseline_df: float, *, ratio: float
) -> float:
    """Tucker-Lewis index (Tucker & Lewis 1973, doi:10.1007/BF02291170).

    `ratio` is baseline over model degrees of freedom; corrections change the numbers that are
    subtracted from chi-square, not this ratio.
    """
    spare = baseline - baseline_df
    return 1.0 - (model - model_df) / spare * ratio if spare != 0 else math.nan


def rmsea(chi2: float, df: float, n: int, n_groups: int, *, stretch: float = 1.0) -> Rmsea:
    """Root mean square error of approximation with its 90 % interval and test of close fit.

    Steiger (1990); Browne & Cudeck (1993). With several groups it is multiplied by the root of
    their number (Steiger 1998). `stretch` is the scaling factor for a robust version (Brosseau-
    Liard, Savalei & Li 2012, doi:10.1080/00273171.2012.715252), else 1.
    """
    if df <= 0 or not np.isfinite(chi2):
        return Rmsea(math.nan)
    unit = n_groups * stretch / (df * n)
    low, high = (_noncentrality(chi2, df, coverage) for coverage in _COVERAGE)
    close = _RMSEA_CLOSE**2 / unit
    return Rmsea(
        float(np.sqrt(max(chi2 - df, 0.0) * unit)),
        float(np.sqrt(low * unit)),
        float(np.sqrt(high * unit)),
        level=0.9,
        n=n,
        p_close=float(scipy.stats.ncx2.sf(chi2, df, close)),
    )


def _noncentrality(chi2: float, df: float, coverage: float) -> float:
    """The noncentrality at which a chi-square up to this one has the given probability."""
    if scipy.stats.chi2.cdf(chi2, df) < coverage:
        return 0.0
    high = 2 * chi2 + 100
    return float(
        scipy.optimize.brentq(
            lambda x: float(scipy.stats.ncx2.cdf(chi2, df, x)) - coverage, 1e-12, high, xtol=1e-10
        )
    )


def plain_indices(x: ChiSquares) -> FitIndices:
    """Indices of the uncorrected chi-square."""
    return _indices(x, x.model, x.baseline, rmsea(x.model, x.model_df, x.n, x.n_groups))


def scaled_indices(x: ChiSquares, factor: float, baseline_factor: float) -> FitIndices:
    """Indices of the chi-square divided by its scaling factor.

    The interval of RMSEA sets the uncorrected chi-square against df times the factor, as lavaan
    does; it therefore does not lie quite symmetrically with the point estimate.
    """
    model, baseline = x.model / factor, x.baseline / baseline_factor
    point = rmsea(model, x.model_df, x.n, x.n_groups).value
    around = rmsea(x.model, x.model_df * factor, x.n, x.n_groups)
    return _indices(
        x,
        model,
        baseline,
        replace(around, value=point),
        scaling=(factor, baseline_factor),
    )


def robust_indices(
    x: ChiSquares, model: float, factor: float, baseline: float, baseline_factor: float
) -> FitIndices:
    """Indices whose population value does not depend on the distribution of the answers.

    `model` and `baseline` are uncorrected discrepancies, the factors their expected value over df
    (Brosseau-Liard & Savalei 2014, doi:10.1080/00273171.2014.933697).
    """
    df, baseline_df = factor * x.model_df, baseline_factor * x.baseline_df
    error = rmsea(model / factor, x.model_df, x.n, x.n_groups, stretch=factor)
    ratio = x.baseline_df / x.model_df if x.model_df > 0 else math.nan
    return FitIndices(
        math.nan,
        x.model_df,
        math.nan,
        math.nan,
        x.baseline_df,
        cfi(model, df, baseline, baseline_df) if x.model_df > 0 else math.nan,
        tli(model, df, baseline, baseline_df, ratio=ratio),
        error.value,
        error.low,
        error.high,
        error.p_close,
        factor,
        0.0,
        baseline_factor,
    )


def undefined_indices(df: int, baseline_df: int = 0) -> FitIndices:
    """A test that cannot be computed: nothing but its degrees of freedom."""
    tests = (math.nan, df, math.nan, math.nan, baseline_df)
    return FitIndices(*tests, *(math.nan,) * 7, shift=math.nan, baseline_scaling_factor=math.nan)


def _indices(
    x: ChiSquares,
    model: float,
    baseline: float,
    error: Rmsea,
    *,
    scaling: tuple[float, float] = (1.0, 1.0),
) -> FitIndices:
    """Indices of a chi-square, corrected or not; without degrees of freedom 0, and nothing else."""
    if x.model_df == 0 and abs(model) < _ROUNDING:
        model = 0.0
    ratio = x.baseline_df / x.model_df if x.model_df > 0 else math.nan
    return FitIndices(
        model,
        x.model_df,
        p_value(model, x.model_df),
        baseline,
        x.baseline_df,
        cfi(model, x.model_df, baseline, x.baseline_df) if x.model_df > 0 else math.nan,
        tli(model, x.model_df, baseline, x.baseline_df, ratio=ratio),
        error.value,
        error.low,
        error.high,
        error.p_close,
        scaling_factor=scaling[0],
        baseline_scaling_factor=scaling[1],
    )


# Tests of fit: the likelihood ratio, its correction for non-normal answers, robust indices.
#
# Correction: Yuan & Bentler (2000) T2* in the form of Mplus, with observed information (Asparouhov
# & Muthen 2005): factor = (tr saturated - tr model) / df, where tr is the trace of the scores'
# information over the observed information. Robust indices with missing answers: Zhang & Savalei
# (2023, doi:10.1037/met0000445). Checked against lavaan 0.6-19.

_NOT_SCALED = (
    "The scaling factor of the {} is {:.3g}, and a correction needs one above 0: there are too few "
    "answers. The scaled χ² and the scaled and robust indices are undefined; the plain ones assume "
    "normal answers."
)


@dataclass(frozen=True, eq=False)
class Informations:
    """Informations of the fitted model per row, shape (q, q): expected, observed, of the scores."""

    expected: Floats
    observed: Floats
    scores: Floats


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
    theta: Floats,
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
    groups = likelihood.groups
    given = likelihood.structure.table.covariate_places
    without = incomplete_saturated_model(groups, given=given) if incomplete else None
    saturated = without or saturated_model(groups, means=means, given=given)
    baseline = baseline_model(groups, means=means, given=given)
    n_free = likelihood.structure.table.n_free
    x = ChiSquares(
        likelihood.n * likelihood.value(theta) - saturated.deviance,
        saturated.n_free - n_free,
        baseline.deviance - saturated.deviance,
        saturated.n_free - baseline.n_free,
        likelihood.n,
        len(groups),
    )
    fit, scaled, robust, factors = plain_indices(x), None, None, (math.nan, math.nan)
    if corrected:
        trace = float(np.trace(np.linalg.solve(informations.observed, informations.scores)))
        factors = trace / n_free, saturated.trace / saturated.n_free
        if x.model_df > 0:
            factor = (saturated.trace - trace) / x.model_df
            baseline_factor = (saturated.trace - baseline.trace) / x.baseline_df
            for name, scaling in (("model", factor), ("model of unrelated items", baseline_factor)):
                if not scaling > 0:
                    nothing = undefined_indices(x.model_df, x.baseline_df)
                    reason = Note(_NOT_SCALED.format(name, scaling), kind="no fit")
                    return TestsOfFit(fit, nothing, nothing, *factors, (reason,))
            scaled = scaled_indices(x, factor, baseline_factor)
            robust = robust_indices(x, x.model, factor, x.baseline, baseline_factor)
    if without and x.model_df > 0:
        robust = _robust_incomplete(x, likelihood, theta, without, baseline, corrected)
    return TestsOfFit(fit, scaled, robust, *factors)


def _robust_incomplete(
    x: ChiSquares,
    likelihood: NormalLikelihood,
    theta: Floats,
    saturated: IncompleteReference,
    baseline: IncompleteReference,
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
    fitted, given = likelihood.moments(theta), likelihood.structure.table.covariate_places
    for moments, change in (
        (fitted, np.vstack([_moment_changes(at, given) for at in fitted])),
        (
            baseline.groups,
            scipy.linalg.block_diag(*[_moment_changes(at, given) for at in baseline.groups]),
        ),
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


def _blocks(blocks: list[Floats] | tuple[Floats, ...], weights: list[float]) -> Floats:
    """Group matrices as one, each weighted by its share of the rows."""
    return np.asarray(
        scipy.linalg.block_diag(*[w * b for w, b in zip(weights, blocks, strict=True)])
    )


def _moment_changes(at: ModelMoments, given: Integers) -> Floats:
    """Changes of means and covariances by parameter, in the order of the saturated model."""
    cells = free_cells(len(at.means), given)
    changes = at.derivatives.covariance_changes()[:, cells.rows, cells.columns]
    return np.vstack([at.derivatives.mean_changes()[cells.means], changes.T])


def _complete_information(at: ModelMoments) -> Floats:
    """Information of the saturated parameters if no answer were missing."""
    inverse, d = np.asarray(np.linalg.inv(at.covariance)), at.derivatives
    return np.asarray(0.5 * trace_products(inverse, inverse, d, d) + d.mean.T @ inverse @ d.mean)


def _discrepancy(sample: ModelMoments, model: ModelMoments) -> float:
    """Normal-theory discrepancy of complete moments (Joreskog 1967)."""
    gap = sample.means - model.means
    inverse = np.linalg.inv(model.covariance)
    logs = np.linalg.slogdet(model.covariance)[1] - np.linalg.slogdet(sample.covariance)[1]
    return float(logs + np.sum(inverse * sample.covariance) - len(gap) + gap @ inverse @ gap)
