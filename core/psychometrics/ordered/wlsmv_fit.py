"""Diagonally weighted least squares: parameters that reproduce polychoric correlations best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from core.errors import NotEnoughData
from core.psychometrics.arrays import Floats
from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_estimate import start_values
from core.psychometrics.factor_models.cfa_model import ParameterTable
from core.psychometrics.factor_models.cfa_structure import Structure
from core.psychometrics.ordered.polychoric import Polychoric
from core.psychometrics.ordered.polychoric_covariance import OrderedMoments, ordered_moments

_SETTLED = 1e-9  # a further step would lower n times the loss by less
_LEAST_VARIANCE = 1e-6  # n times the variance of a correlation; that of r = .9967 is 4e-5
_NOT_DETERMINED = 1e-7  # singular value of the scaled slopes, relative to the largest


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """Where the search ended, and what tests and standard errors are made of.

    Pairs are those of `polychoric.answers.pairs()`; q is the number of free parameters.
    """

    polychoric: Polychoric
    moments: OrderedMoments
    structure: Structure
    theta: Floats  # (q,)
    residuals: Floats  # (pairs,): observed minus implied correlation
    weights: Floats  # (pairs,): 1 / (n times the variance of the correlation)
    slopes: Floats  # (pairs, q): implied correlation by parameter
    converged: bool
    undetermined: tuple[int, ...]  # free parameters the correlations say nothing about

    @property
    def n(self) -> int:
        """Rows used."""
        return self.polychoric.answers.n

    @property
    def n_weight(self) -> int:
        """Rows less 1, which tests, standard errors and RMSEA of this estimator use."""
        return self.n - 1

    @property
    def df(self) -> int:
        """Correlations less free parameters; thresholds fit exactly and count on both sides."""
        return len(self.residuals) - len(self.theta)

    @property
    def chi2(self) -> float:
        """Weighted sum of squared residuals times n - 1; not yet a chi-square."""
        return float(self.n_weight * (self.weights * self.residuals**2).sum())

    def bread(self) -> Floats:
        """Inverse of the weighted cross product of the slopes, (q, q); NaN if undetermined."""
        if self.undetermined:
            return np.full((len(self.theta),) * 2, np.nan)
        return np.asarray(np.linalg.inv(self.slopes.T @ (self.weights[:, None] * self.slopes)))

    def contributions(self) -> Floats:
        """What each row adds to free parameters, then thresholds, to first order: (n, q + t)."""
        pull = self.weights[:, None] * self.slopes @ self.bread()
        return np.hstack([self.moments.correlations @ pull, self.moments.thresholds])

    def covariance(self) -> Floats:
        """Sandwich covariance of free parameters, then thresholds: (q + t, q + t)."""
        rows = self.contributions()
        return np.asarray(rows.T @ rows / self.n / self.n_weight)


def fit_weighted(polychoric: Polychoric, table: ParameterTable) -> WeightedFit:
    """The free parameters with the least weighted sum of squared residual correlations.

    Parameters
    ----------
    polychoric : Polychoric
        Of the items of the table, in its order.
    table : ParameterTable
        Of ordered answers, one group.

    Raises
    ------
    NotEnoughData
        A pair has no correlation, a correlation has no sampling variance, or the model has more
        free parameters than there are correlations.
    """
    target = polychoric.pair_correlations
    if table.n_free > len(target):
        raise NotEnoughData(
            f"The model has {table.n_free} free parameters and only {len(target)} correlations to "
            "take them from.",
            "Take parameters out, or add items.",
        )
    if np.isnan(target).any():
        raise NotEnoughData(
            "Some pairs of items have no correlation. " + " ".join(polychoric.problems),
            "Leave these items out of the model.",
        )
    moments = ordered_moments(polychoric)
    spread = (moments.correlations**2).mean(axis=0)
    if not (spread > _LEAST_VARIANCE).all():
        raise NotEnoughData(
            "Some correlations do not vary over samples, because two items are answered alike. "
            + " ".join(polychoric.problems),
            "Leave one item of each such pair out of the model.",
        )
    structure = Structure(table)
    search = _Search(structure, polychoric, 1 / spread)
    theta, converged = search.run(_start(table, polychoric))
    slopes = search.slopes(theta)
    return WeightedFit(
        polychoric=polychoric,
        moments=moments,
        structure=structure,
        theta=theta,
        residuals=target - search.implied(theta),
        weights=1 / spread,
        slopes=slopes,
        converged=converged,
        undetermined=_undetermined(np.sqrt(search.weights)[:, None] * slopes),
    )


class _Search:
    """Implied correlations of pairs as a function of the free parameters, and the search."""

    def __init__(self, structure: Structure, polychoric: Polychoric, weights: Floats) -> None:
        self.structure, self.weights = structure, weights
        self.first, self.second = polychoric.answers.pairs()
        self.target = polychoric.pair_correlations
        self.n = polychoric.answers.n

    def implied(self, theta: Floats) -> Floats:
        """Implied correlations, (pairs,)."""
        return np.asarray(self.structure.matrices(theta).covariance[self.first, self.second])

    def slopes(self, theta: Floats) -> Floats:
        """Implied correlations by free parameter, (pairs, q)."""
        d = self.structure.derivatives(theta)
        cells = d.left[self.first] * d.right[self.second]
        cells += d.right[self.first] * d.left[self.second]
        return np.asarray(cells @ d.incidence)

    def run(self, start: Floats) -> tuple[Floats, bool]:
        """Free parameters at the minimum, and whether it is one."""
        root = np.sqrt(self.weights)
        if not len(start):
            return start, True

        def misfit(theta: Floats) -> Floats:
            return np.asarray(root * (self.implied(theta) - self.target))

        def misfit_slopes(theta: Floats) -> Floats:
            return np.asarray(root[:, None] * self.slopes(theta))

        found = least_squares(
            misfit,
            start,
            jac=misfit_slopes,
            x_scale="jac",
            xtol=1e-15,
            ftol=1e-15,
            gtol=1e-15,
            max_nfev=1000,
        )
        theta = np.asarray(found.x, dtype=np.float64)
        slopes = misfit_slopes(theta)
        step = np.linalg.lstsq(slopes, misfit(theta), rcond=1e-10)[0]
        return theta, bool(self.n * float(((slopes @ step) ** 2).sum()) < _SETTLED)


def _start(table: ParameterTable, polychoric: Polychoric) -> Floats:
    """Start values from the polychoric correlations as if they were covariances."""
    p = len(polychoric.names)
    group = GroupData("", (), np.zeros(p), polychoric.correlations, np.zeros(p), np.ones(p))
    return np.asarray(start_values(table, [group]))


def _undetermined(weighted_slopes: Floats) -> tuple[int, ...]:
    """Free parameters in a direction that changes no correlation, if there is one."""
    scale = np.sqrt((weighted_slopes**2).sum(axis=0))
    flat = scale == 0
    scaled = weighted_slopes / np.where(flat, 1, scale)
    _, values, directions = np.linalg.svd(scaled, full_matrices=False)
    null = directions[values <= _NOT_DETERMINED * max(values.max(initial=0.0), 1e-300)]
    return tuple(int(i) for i in np.flatnonzero((np.abs(null) > 1e-3).any(axis=0) | flat))
