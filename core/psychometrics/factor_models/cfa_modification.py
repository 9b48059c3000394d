"""Which parameters left out of a model would improve its fit most."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats

from core.psychometrics.factor_models.cfa_likelihood import (
    Moments,
    NormalLikelihood,
    deviance_gradient,
    expected_information,
)
from core.psychometrics.factor_models.cfa_model import (
    COVARIANCE,
    LOADING,
    Parameter,
    ParameterTable,
)
from core.psychometrics.factor_models.cfa_result import ModificationIndex
from core.psychometrics.factor_models.cfa_standardize import Standardizer

Array = np.ndarray
NO_INFORMATION = 1e-8  # share of a parameter's information that the model leaves unexplained


def modification_indices(
    likelihood: NormalLikelihood, theta: Array
) -> tuple[ModificationIndex, ...]:
    """Score test of every loading, residual covariance and factor covariance fixed at 0.

    Sorbom (1989, doi:10.1007/BF02294623), with expected information, uncorrected for non-normal
    answers also under MLR, as lavaan does. Parameters that would not be identified are left out.

    Parameters
    ----------
    likelihood : NormalLikelihood
        The model and its data.
    theta : (q,) array
        Estimates.

    Returns
    -------
    tuple of ModificationIndex
        Largest first.
    """
    table = likelihood.structure.table
    wanted = [fixed_at_zero(table, number) for number in range(table.n_groups)]
    return _score_tests(likelihood, theta, wanted)


def release_indices(likelihood: NormalLikelihood, theta: Array) -> tuple[ModificationIndex, ...]:
    """Score test of every parameter held equal across groups, if that group had its own.

    For finding what stands against invariance (partial invariance, Byrne, Shavelson & Muthen 1989,
    doi:10.1037/0033-2909.105.3.456). Parameters and order as for `modification_indices`;
    `expected_change` is how far the group's own value would lie from the common one.
    """
    table = likelihood.structure.table
    groups_of: dict[int, set[int]] = {}
    for p in table.parameters:
        groups_of.setdefault(p.free, set()).add(p.group)
    shared = [p for p in table.parameters if p.is_free and len(groups_of[p.free]) > 1]
    wanted = [[p for p in shared if p.group == number] for number in range(table.n_groups)]
    return _score_tests(likelihood, theta, wanted)


def _score_tests(
    likelihood: NormalLikelihood, theta: Array, wanted: list[list[Parameter]]
) -> tuple[ModificationIndex, ...]:
    """Score tests of parameters per group, largest first."""
    if not any(wanted):
        return ()
    structure, n = likelihood.structure, likelihood.n
    inverse = np.linalg.pinv(likelihood.expected_information(theta))
    out: list[ModificationIndex] = []
    groups = zip(likelihood.groups, likelihood.moments(theta), strict=True)
    for number, (group, at) in enumerate(groups):
        if not wanted[number]:
            continue
        d = structure.candidates(theta, wanted[number], number)
        new = Moments(at.means, at.covariance, d)
        slope = -0.5 * deviance_gradient(group, new) / n
        own = np.diag(expected_information(group, new)) / n
        cross = expected_information(group, new, at.derivatives) / n
        left = own - np.einsum("rs,st,rt->r", cross, inverse, cross)
        scale = Standardizer(structure.table, structure.matrices(theta, number))
        for r in np.flatnonzero(left > NO_INFORMATION * own):
            change, p = float(slope[r] / left[r]), wanted[number][r]
            out.append(index_of(p, float(n * slope[r] * change), change, scale))
    return tuple(sorted(out, key=lambda found: -found.index))


def index_of(
    parameter: Parameter, index: float, change: float, scale: Standardizer
) -> ModificationIndex:
    """The index of one parameter with its p, and its expected change raw and standardised."""
    return ModificationIndex(
        group=parameter.group,
        left=parameter.left,
        op=parameter.op,
        right=parameter.right,
        index=index,
        p=float(stats.chi2.sf(index, 1)),
        expected_change=change,
        standardized_change=change * scale.multiplier(parameter),
    )


def fixed_at_zero(table: ParameterTable, group: int = 0) -> list[Parameter]:
    """Loadings and covariances of a group that the model fixes at 0."""
    listed = {
        (p.op, frozenset((p.left, p.right)))
        for p in table.parameters
        if p.group == group and (p.is_free or p.value != 0)
    }
    explained = {p.right for p in table.parameters if p.op == LOADING}
    top = [f for f in table.factors if f not in explained]
    pairs = [(f, LOADING, i) for f in table.factors for i in table.items]
    pairs += [(a, COVARIANCE, b) for a, b in combinations(table.items, 2)]
    pairs += [(a, COVARIANCE, b) for a, b in combinations(top, 2)]
    return [
        Parameter(group, left, op, right, 0, float("nan"))
        for left, op, right in pairs
        if (op, frozenset((left, right))) not in listed
    ]
