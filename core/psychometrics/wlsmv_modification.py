"""Which parameters left out of a model of ordered answers would improve its fit most."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from core.psychometrics.cfa_model import COVARIANCE, LOADING, Parameter, ParameterTable
from core.psychometrics.cfa_result import ModificationIndex
from core.psychometrics.cfa_standardize import Standardizer
from core.psychometrics.wlsmv_fit import WeightedFit

NO_INFORMATION = 1e-8  # share of a parameter's information that the model leaves unexplained


def weighted_modification_indices(fit: WeightedFit) -> tuple[ModificationIndex, ...]:
    """Score test of every loading, residual covariance and factor covariance fixed at 0.

    Returns
    -------
    tuple of ModificationIndex, largest first
        None where the free parameters are not determined. The index is (n - 1)^2 / n g^2 / v, as
        in lavaan, and not corrected for the ordered answers. The expected change g / v is what
        freeing the parameter gives to first order; lavaan 0.6-19 reports it with the opposite
        sign and times (n - 1) / n (its issue 401).
    """
    candidates = _candidates(fit.structure.table)
    if not candidates or fit.undetermined:
        return ()
    first, second = fit.polychoric.answers.pairs()
    d = fit.structure.candidates(fit.theta, candidates)
    new = d.left[first] * d.right[second] + d.right[first] * d.left[second]
    weighted = fit.weights[:, None] * new
    slope = weighted.T @ fit.residuals
    own = (weighted * new).sum(axis=0)
    cross = weighted.T @ fit.slopes
    left = own - np.einsum("rs,st,rt->r", cross, fit.bread(), cross)
    standardizer = Standardizer(fit.structure.table, fit.structure.matrices(fit.theta))
    found: list[ModificationIndex] = []
    for r in np.flatnonzero(left > NO_INFORMATION * np.maximum(own, 1e-300)):
        parameter = candidates[r]
        change = float(slope[r] / left[r])
        index = fit.n_weight**2 / fit.n * float(slope[r]) * change
        found.append(
            ModificationIndex(
                group=0,
                left=parameter.left,
                op=parameter.op,
                right=parameter.right,
                index=index,
                p=float(stats.chi2.sf(index, 1)),
                expected_change=change,
                standardized_change=change * standardizer.multiplier(parameter),
            )
        )
    return tuple(sorted(found, key=lambda each: -each.index))


def _candidates(table: ParameterTable) -> list[Parameter]:
    """Loadings and covariances that the model fixes at 0."""
    taken = {
        (p.op, frozenset((p.left, p.right))) for p in table.parameters if p.is_free or p.value != 0
    }
    explained = {p.right for p in table.parameters if p.op == LOADING}
    top = [factor for factor in table.factors if factor not in explained]
    cells = [(factor, LOADING, item) for factor in table.factors for item in table.items]
    cells += [(a, COVARIANCE, b) for a, b in combinations(table.items, 2)]
    cells += [(a, COVARIANCE, b) for a, b in combinations(top, 2)]
    return [
        Parameter(0, left, op, right, 0, float("nan"))
        for left, op, right in cells
        if (op, frozenset((left, right))) not in taken
    ]
