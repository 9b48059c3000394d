"""Which parameters left out of a model of ordered answers would improve its fit most."""

from __future__ import annotations

import numpy as np

from core.psychometrics.factor_models.cfa_modification import (
    NO_INFORMATION,
    fixed_at_zero,
    index_of,
)
from core.psychometrics.factor_models.cfa_result import ModificationIndex
from core.psychometrics.factor_models.cfa_standardize import Standardizer
from core.psychometrics.ordered.wlsmv_fit import WeightedFit


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
    candidates = fixed_at_zero(fit.structure.table)
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
        change = float(slope[r] / left[r])
        index = fit.n_weight**2 / fit.n * float(slope[r]) * change
        found.append(index_of(candidates[r], index, change, standardizer))
    return tuple(sorted(found, key=lambda each: -each.index))
