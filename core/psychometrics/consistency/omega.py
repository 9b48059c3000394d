"""McDonald's omega total: the share of the sum's variance that one common factor explains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.factor_models.covariance_fit import fit_covariance
from core.psychometrics.item_rows import item_rows, too_little, with_reason
from core.psychometrics.keying import against_factor
from core.psychometrics.usable_items import UsableItems
from core.psychometrics.wording import listed

_NO_ERROR_LEFT = (
    "Undefined: the residual variances sum to less than 0, so the factor would explain more than "
    "all of the variance."
)
_CUT = (
    "The interval is cut at 0 and 1, which it would pass: it takes the estimate as normal, which "
    "is rough so near the bound."
)
_NEEDS_THREE = "Undefined: two items do not determine a factor; omega needs three that vary."


def omega_total(
    scores: Floats, *, names: Sequence[str] | None = None, level: float = 0.95
) -> Estimate:
    """How much of the variance of the scale's score one common factor explains.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Rows with a gap are left out
        (listwise); constant items are left out and named.
    names : sequence of str, optional
        Items' names for messages.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    Estimate : omega, unitless, 0 to 1, in the metric of the items as scored. NaN with a reason
    under three varying items, with fewer rows than items, with items that are combinations of
    others, or where the model does not converge or leaves less than no residual variance. With a
    negative residual variance of some item, which is named, there is a value but no interval. Items
    that load negatively are named.

    Raises
    ------
    ValueError : the table is not two-dimensional or the level not within 0 and 1.

    Notes
    -----
    (sum of loadings)² / ((sum of loadings)² + sum of residual variances) of a one-factor model
    fitted by maximum likelihood to the covariance matrix; McDonald (1999, Test Theory). Interval:
    estimate plus and minus z standard errors by the delta method (Raykov 2002,
    doi:10.1207/S15327906MBR3701_04), which takes answers as normal and rows as independent; cut at
    0 and 1, with a note. If a
    single factor does not fit, omega has no clear meaning: read it beside the factor model.
    Agrees with lavaan 0.6-19 to 1e-6 (HS 1939 and simulated six-point items).
    """
    z = NormalDist().inv_cdf((1 + check_level(level)) / 2)
    rows = item_rows(scores, names)
    method = (
        "omega total of a one-factor model, maximum likelihood, complete rows, "
        f"{level * 100:g}% interval (delta method)"
    )
    result = Estimate(math.nan, math.nan, math.nan, level, rows.n, rows.n_left_out, method)
    reason = _too_little(rows)
    if reason:
        return replace(result, problems=with_reason(rows, reason))
    spread = rows.scores.std(axis=0)
    correlation = np.atleast_2d(np.corrcoef(rows.scores, rowvar=False))
    k = rows.n_items
    start = np.concatenate([_first_axis(correlation), np.full(k, 0.6)])
    fit = fit_covariance(correlation, start, _one_factor)
    if fit.problem:
        return replace(result, problems=(*rows.problems, f"Undefined: {fit.problem}"))
    loadings, residuals = fit.parameters[:k], fit.parameters[k:]
    common, unique = float(loadings @ spread), float(residuals @ spread**2)
    total = common**2 + unique
    gradient = np.concatenate(
        [2 * common * unique / total**2 * spread, -(common**2) / total**2 * spread**2]
    )
    value, error = common**2 / total, fit.standard_error(gradient, rows.n)
    improper = negative_variances(rows.names, residuals)
    if unique < 0:
        return replace(result, problems=(*rows.problems, *improper, _NO_ERROR_LEFT))
    # The delta method needs an admissible solution; at a negative variance it goes far astray.
    low, high, cut = within_bounds(value, math.nan if improper else z * error)
    against = against_factor(rows.names, loadings * (1 if common >= 0 else -1))
    problems = rows.problems + improper + against + cut
    return replace(result, value=value, low=low, high=high, problems=problems)


def within_bounds(value: float, reach: float) -> tuple[float, float, tuple[str, ...]]:
    """The interval from value - reach to value + reach within 0 and 1, and a note if it was cut."""
    low, high = value - reach, value + reach
    if (low >= 0 and high <= 1) or math.isnan(reach):
        return low, high, ()
    return max(low, 0.0), min(high, 1.0), (_CUT,)


def negative_variances(names: Sequence[str], residuals: Floats) -> tuple[str, ...]:
    """A caution naming the items whose residual variance came out below 0."""
    improper = [name for name, value in zip(names, residuals, strict=True) if value < 0]
    if not improper:
        return ()
    return (
        f"Negative residual variance ({listed(improper)}): the factor model is improper, so "
        "distrust this coefficient; it has no interval.",
    )


def _too_little(rows: UsableItems) -> str:
    """Why one factor cannot be fitted; empty where it can."""
    reason = too_little(rows)
    if reason:
        return reason
    if rows.n_items < 3:
        return _NEEDS_THREE
    if rows.n <= rows.n_items:
        return (
            f"Undefined: it needs more complete rows than items, and there are {rows.n} rows of "
            f"{rows.n_items} items."
        )
    return ""


def _one_factor(parameters: Floats) -> tuple[Floats, Floats]:
    """Implied correlations of loadings and residual variances (2k,), and their derivatives."""
    k = len(parameters) // 2
    loadings, residuals = parameters[:k], parameters[k:]
    unit = np.eye(k)
    outer = unit[:, :, None] * loadings
    slopes = np.concatenate([outer + outer.transpose(0, 2, 1), unit[:, :, None] * unit])
    return np.outer(loadings, loadings) + np.diag(residuals), slopes


def _first_axis(correlation: Floats) -> Floats:
    """Loadings to begin with: the first principal axis, shrunk, its sum positive."""
    values, vectors = np.linalg.eigh(correlation)
    axis = vectors[:, -1] * math.sqrt(values[-1] / max(values[-1], 1.0)) * math.sqrt(values[-1])
    axis = np.clip(axis, -0.9, 0.9)
    return np.asarray(axis if axis.sum() >= 0 else -axis)
