"""McDonald's omega hierarchical: the share of the total's variance due to one general factor."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.consistency.omega import negative_variances, within_bounds
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.factor_models.covariance_fit import CovarianceFit, Model, fit_covariance
from core.psychometrics.item_rows import item_rows
from core.psychometrics.keying import against_factor
from core.psychometrics.usable_items import UsableItems
from core.psychometrics.wording import listed


@dataclass(frozen=True)
class OmegaHierarchical:
    """Omega hierarchical with omega total of the same model, and the Schmid-Leiman loadings.

    `general` and `group` are standardized loadings of the items in `names` on the general factor
    and on what is left of their subscale's factor; `second_order` are the loadings of the
    subscales' factors (in the order of `subscales`) on the general factor.
    """

    hierarchical: Estimate
    total: float
    subscales: tuple[Hashable, ...]
    second_order: tuple[float, ...]
    names: tuple[str, ...]
    general: tuple[float, ...]
    group: tuple[float, ...]


def omega_hierarchical(
    scores: Floats,
    subscales: Sequence[Hashable],
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> OmegaHierarchical:
    """How much of the variance of the total score is due to what all subscales share.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Rows with a gap are left out;
        constant items are left out and named.
    subscales : sequence of length items
        The subscale of each item.
    names : sequence of str, optional
        Items' names for messages.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    OmegaHierarchical : the coefficient, unitless, 0 to 1, in the metric of the items as scored.
    NaN with a reason where the general factor is not identified (under three subscales, or one
    with a single varying item), where rows are no more than items, where the model does not
    converge, or where a subscale's loading on the general factor exceeds 1.

    Raises
    ------
    ValueError : there are not as many subscales as items, or the level is not within 0 and 1.

    Notes
    -----
    A second-order model is fitted by maximum likelihood and rotated into orthogonal general and
    group factors (Schmid & Leiman 1957, doi:10.1007/BF02289209): an item's general loading is its
    loading times its factor's. Omega is (sum of general loadings in score points)² / implied
    variance of the total; Zinbarg, Revelle, Yovel & Li (2005) doi:10.1007/s11336-003-0974-7.
    Interval by the delta method. psych derives the factors exploratively, so it differs. Checked
    against the loadings and factor correlations of lavaan 0.6-19 (HS 1939, three subscales, where
    the second-order model is the same as correlated factors) to 1e-5, and by recovery.
    """
    check_level(level)
    if len(subscales) != np.shape(scores)[1]:
        raise ValueError(f"{len(subscales)} subscales for {np.shape(scores)[1]} items")
    rows = item_rows(scores, names)
    labels = tuple(dict.fromkeys(subscales))
    member = np.array([labels.index(subscales[place]) for place in rows.kept], dtype=np.int64)
    method = (
        "omega hierarchical after Schmid and Leiman from a second-order model, maximum "
        f"likelihood, complete rows, {level * 100:g}% interval (delta method)"
    )
    result = Estimate(math.nan, math.nan, math.nan, level, rows.n, rows.n_left_out, method)
    result = replace(result, problems=rows.problems)
    reason = _not_identified(rows, member, labels)
    if reason:
        return _undefined(result, rows, labels, reason)
    correlation = np.atleast_2d(np.corrcoef(rows.scores, rowvar=False))
    fit = fit_covariance(
        correlation, _start(correlation, member, len(labels)), _second_order(member, len(labels))
    )
    k, m = rows.n_items, len(labels)
    second = fit.parameters[k : k + m]
    if fit.problem:
        return _undefined(result, rows, labels, f"Undefined: {fit.problem}")
    if np.abs(second).max() > 1:
        over = [label for label, value in zip(labels, second, strict=True) if abs(value) > 1]
        return _undefined(
            result,
            rows,
            labels,
            f"Undefined: the general factor would explain more than all of {listed(over)}.",
        )
    return _solution(result, rows, labels, member, fit)


def _solution(
    result: Estimate,
    rows: UsableItems,
    labels: tuple[Hashable, ...],
    member: Integers,
    fit: CovarianceFit,
) -> OmegaHierarchical:
    """The coefficients of an admissible second-order model."""
    k, m = rows.n_items, len(labels)
    loadings, second = fit.parameters[:k], fit.parameters[k : k + m]
    residuals = fit.parameters[k + m :]
    spread = rows.scores.std(axis=0)
    general, group = loadings * second[member], loadings * np.sqrt(1 - second[member] ** 2)
    common, total = float(general @ spread), float(spread @ fit.implied @ spread)
    _, slopes = _second_order(member, m)(fit.parameters)
    of_common = np.concatenate(
        [spread * second[member], np.bincount(member, spread * loadings, m), np.zeros(k)]
    )
    of_total = np.einsum("qij,i,j->q", slopes, spread, spread)
    gradient = 2 * common / total * of_common - (common / total) ** 2 * of_total
    value = common**2 / total
    improper = negative_variances(rows.names, residuals)
    against = against_factor(rows.names, general * (1 if common >= 0 else -1))
    # The delta method needs an admissible solution; at a negative variance it goes far astray.
    error = math.nan if improper else fit.standard_error(gradient, rows.n)
    reach = NormalDist().inv_cdf((1 + result.level) / 2) * error
    low, high, cut = within_bounds(value, reach)
    return OmegaHierarchical(
        hierarchical=replace(
            result,
            value=value,
            low=low,
            high=high,
            problems=result.problems + improper + against + cut,
        ),
        total=1 - float(residuals @ spread**2) / total,
        subscales=labels,
        second_order=tuple(float(value) for value in second),
        names=rows.names,
        general=tuple(float(value) for value in general),
        group=tuple(float(value) for value in group),
    )


def _undefined(
    result: Estimate, rows: UsableItems, labels: tuple[Hashable, ...], reason: str
) -> OmegaHierarchical:
    """No coefficient, and why."""
    items, factors = (math.nan,) * rows.n_items, (math.nan,) * len(labels)
    return OmegaHierarchical(
        hierarchical=replace(result, problems=(*result.problems, reason)),
        total=math.nan,
        subscales=labels,
        second_order=factors,
        names=rows.names,
        general=items,
        group=items,
    )


def _not_identified(rows: UsableItems, member: Integers, labels: Sequence[Hashable]) -> str:
    """Why a general factor above the subscales cannot be determined; empty where it can."""
    if len(labels) < 3:
        return (
            f"Undefined: a general factor is identified by three subscales or more, and there are "
            f"{len(labels)}: their correlation alone does not tell how much each takes part in it."
        )
    sizes = np.bincount(member, minlength=len(labels))
    short = [label for label, size in zip(labels, sizes, strict=True) if size < 2]
    if short:
        return f"Undefined: fewer than two items vary in {listed(short)}."
    if rows.n <= rows.n_items:
        return (
            f"Undefined: it needs more complete rows than items, and there are {rows.n} rows of "
            f"{rows.n_items} items."
        )
    return ""


def _second_order(member: Integers, m: int) -> Model:
    """Model of k loadings, m second-order loadings and k residual variances; factors vary by 1."""
    k = len(member)
    unit, factors = np.eye(k), np.eye(m)

    def model(parameters: Floats) -> tuple[Floats, Floats]:
        loadings, second = parameters[:k], parameters[k : k + m]
        pattern = loadings[:, None] * factors[member]
        between = np.outer(second, second)
        np.fill_diagonal(between, 1.0)
        implied = pattern @ between @ pattern.T + np.diag(parameters[k + m :])
        of_loading = unit[:, :, None] * (between[member] @ pattern.T)[:, None, :]
        # only correlations move with a second-order loading: variances stay 1
        moved = factors[:, :, None] * (second * (1 - factors))[:, None, :]
        of_second = pattern @ (moved + moved.transpose(0, 2, 1)) @ pattern.T
        return implied, np.concatenate(
            [of_loading + of_loading.transpose(0, 2, 1), of_second, unit[:, :, None] * unit]
        )

    return model


def _start(correlation: Floats, member: Integers, m: int) -> Floats:
    """Where to begin: each subscale's first principal axis, and moderate general loadings."""
    loadings = np.zeros(len(member))
    for factor in range(m):
        own = np.flatnonzero(member == factor)
        values, vectors = np.linalg.eigh(correlation[np.ix_(own, own)])
        axis = vectors[:, -1] * math.sqrt(values[-1])
        loadings[own] = 0.8 * (axis if axis.sum() >= 0 else -axis)
    axes = loadings[:, None] * np.eye(m)[member]
    between = axes.T @ correlation @ axes
    leading = np.linalg.eigh(between)[1][:, -1]
    signs = np.where(leading * (1 if leading.sum() >= 0 else -1) < 0, -1.0, 1.0)
    return np.concatenate([loadings, 0.6 * signs, np.maximum(1 - loadings**2, 0.2)])
