"""Estimates with standard errors, z, p and intervals, raw and standardised."""

from __future__ import annotations

import numpy as np
from scipy import stats

from core.psychometrics.factor_models.cfa_model import INTERCEPT, LOADING, Parameter, ParameterTable
from core.psychometrics.factor_models.cfa_result import Estimate
from core.psychometrics.factor_models.cfa_structure import Matrices, Structure

Array = np.ndarray
_NAN = float("nan")
_STEP = 1e-4


def raw_estimates(
    table: ParameterTable, theta: Array, covariance: Array, ci_level: float
) -> tuple[Estimate, ...]:
    """Every listed parameter in the units of the items.

    Parameters
    ----------
    table : ParameterTable
        Which parameters are free.
    theta : (q,) array
        Estimates.
    covariance : (q, q) array
        Their sampling covariance; NaN where it cannot be computed.
    ci_level : float
        Coverage of the intervals, in (0, 1).

    Returns
    -------
    tuple of Estimate
        In the order of the table; intervals and p from the normal distribution (Wald).
    """
    errors = _roots(np.diag(covariance))
    return tuple(
        _estimate(p, float(value), float(errors[p.free]) if p.is_free else 0.0, ci_level)
        for p, value in zip(table.parameters, table.values(theta), strict=True)
    )


def standardized_estimates(
    structure: Structure, theta: Array, covariance: Array, ci_level: float
) -> tuple[Estimate, ...]:
    """Every listed parameter with items and factors of variance 1 (std.all).

    Covariances become correlations (of residuals, where the names are explained). Standard errors
    by the delta method with central differences. Parameters as for `raw_estimates`.
    """
    values = _standardized(structure, theta)
    columns = []
    # steps in units of the sampling error do not depend on the units of the items
    errors = _roots(np.diag(covariance))
    steps = np.where(np.isfinite(errors) & (errors > 0), _STEP * errors, _STEP)
    for position in range(len(theta)):
        step = np.zeros_like(theta)
        step[position] = steps[position]
        change = _standardized(structure, theta + step) - _standardized(structure, theta - step)
        columns.append(change / (2 * step[position]))
    slopes = np.array(columns).T.reshape(len(values), len(theta))
    errors = _roots(np.einsum("ij,jk,ik->i", slopes, covariance, slopes))
    # a fixed variance of 1 standardises to exactly 1, its error is rounding
    errors = np.where(np.abs(slopes * steps / _STEP).max(axis=1, initial=0.0) < 1e-9, 0.0, errors)
    return tuple(
        _estimate(p, float(value), float(error), ci_level)
        for p, value, error in zip(structure.table.parameters, values, errors, strict=True)
    )


class Standardizer:
    """What raw parameters of one group are multiplied by to be standardised."""

    def __init__(self, table: ParameterTable, at: Matrices) -> None:
        names = table.items + table.factors
        whole = np.append(np.diag(at.covariance), np.diag(at.factor_covariance))
        own = np.append(np.diag(at.residuals), np.diag(at.disturbances))
        self.whole: dict[str, float] = dict(zip(names, _roots(whole).tolist(), strict=True))
        self.own: dict[str, float] = dict(zip(names, _roots(own).tolist(), strict=True))

    def multiplier(self, p: Parameter) -> float:
        """The factor of one parameter; NaN beside a variance that is not positive."""
        if p.op == LOADING:
            return self.whole[p.left] * _reciprocal(self.whole[p.right])
        if p.op == INTERCEPT:
            return _reciprocal(self.whole[p.left])
        # covariances beside explained names are those of what is left unexplained
        spread = self.whole if p.left == p.right else self.own
        return _reciprocal(spread[p.left] * spread[p.right])


def _standardized(structure: Structure, theta: Array) -> Array:
    """Standardised values of all listed parameters."""
    table = structure.table
    groups = [Standardizer(table, structure.matrices(theta, g)) for g in range(table.n_groups)]
    factors = [groups[p.group].multiplier(p) for p in table.parameters]
    return np.asarray(table.values(theta) * np.array(factors))


def _reciprocal(value: float) -> float:
    """One over the value, NaN for 0."""
    return 1.0 / value if value else _NAN


def _roots(values: Array) -> Array:
    """Square roots, NaN for negative values."""
    return np.asarray(np.sqrt(np.where(values >= 0, values, np.nan)))


def _estimate(p: Parameter, value: float, error: float, ci_level: float) -> Estimate:
    """One estimate with everything that follows from its standard error."""
    z = value / error if error > 0 else _NAN
    reach = float(stats.norm.ppf(0.5 + ci_level / 2)) * error
    return Estimate(
        p.group,
        p.left,
        p.op,
        p.right,
        p.label,
        p.is_free,
        value,
        error,
        z,
        float(2 * stats.norm.sf(abs(z))),
        value - reach,
        value + reach,
    )
