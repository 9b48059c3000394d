"""The two models every measurement model is judged against: saturated and unrelated items.

With missing answers the moments of the saturated model have to be searched for. Expectation-
maximisation (Dempster, Laird & Rubin 1977) finds the way, and Newton's steps end the search, since
the former slows down the more answers are missing. Checked against lavaan 0.6-14.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_likelihood import (
    FreeCells,
    Moments,
    casewise_scores,
    deviance,
    deviance_gradient,
    expected_changes,
    observed_information,
)

Array = np.ndarray
_EM_STEPS = 50  # before each try of Newton's steps
_EM_SETTLED = 1e-7  # change in the metric of correlations
_ROUNDS = 6
_NEWTON_STEPS = 30
_DECREMENT = 1e-12  # a further step would lower the deviance by less
_SINGULAR = 1e-5  # smallest eigenvalue of a correlation matrix that is on its way to 0


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """A model with its own parameters in every group, estimated without a search.

    Parameters
    ----------
    groups : moments per group.
    deviance : minus twice the log-likelihood without its constant, over groups.
    n_free : number of parameters over groups.
    information, scores : observed information and mean outer product of scores per row, one block
        per group, each of its own group's rows.
    """

    groups: tuple[Moments, ...]
    deviance: float
    n_free: int
    information: tuple[Array, ...]
    scores: tuple[Array, ...]

    @property
    def trace(self) -> float:
        """What n times twice the log-likelihood would be expected to gain; n_free if normal."""
        return float(
            sum(
                np.trace(np.linalg.solve(a, b))
                for a, b in zip(self.information, self.scores, strict=True)
            )
        )


def saturated_model(groups: Sequence[GroupData], *, means: bool) -> ReferenceModel:
    """Every mean, variance and covariance free: what the answers say without a model."""
    cells = _all_cells(len(groups[0].means), means=means)
    return _reference(groups, [(g.means, g.covariance) for g in groups], cells)


def baseline_model(groups: Sequence[GroupData], *, means: bool) -> ReferenceModel:
    """Items with their own means and variances, and no relation at all."""
    p = len(groups[0].means)
    cells = FreeCells(p, np.arange(p), np.arange(p), means)
    return _reference(groups, [(g.item_means, np.diag(g.item_variances)) for g in groups], cells)


def _all_cells(p: int, *, means: bool) -> FreeCells:
    """All variances and covariances of p items, below the diagonal, column by column."""
    rows, columns = np.tril_indices(p)
    order = np.lexsort((rows, columns))
    return FreeCells(p, rows[order], columns[order], means)


def _reference(
    groups: Sequence[GroupData], moments: Sequence[tuple[Array, Array]], cells: FreeCells
) -> ReferenceModel:
    """The model with its deviance and informations."""
    information, outer, total = [], [], 0.0
    derivatives = cells.derivatives
    placed = [Moments(means, covariance, derivatives) for means, covariance in moments]
    for group, at in zip(groups, placed, strict=True):
        total += deviance(group, at.means, at.covariance)
        information.append(observed_information(group, at, cells) / group.n)
        scores = casewise_scores(group, at)
        outer.append(scores.T @ scores / group.n)
    n_free = len(groups) * derivatives.incidence.shape[1]
    return ReferenceModel(tuple(placed), total, n_free, tuple(information), tuple(outer))


@dataclass(frozen=True, eq=False)
class UnrestrictedMoments:
    """Means (p,) and covariance (p, p) where the search ended, and whether it is a maximum."""

    means: Array
    covariance: Array
    settled: bool = False


def unrestricted_moments(group: GroupData) -> UnrestrictedMoments:
    """Maximum-likelihood means and covariance of rows with missing answers.

    Parameters
    ----------
    group : GroupData
        Its `means` and `covariance` are where the search starts.

    Returns
    -------
    UnrestrictedMoments
        Settled where the gradient is 0 and the information positive definite. Where few rows hold
        all of some items, the likelihood can rise without limit towards a covariance matrix without
        inverse, under which these rows lie on a plane; the search is then given up.
    """
    at = UnrestrictedMoments(group.means, group.covariance)
    for _ in range(_ROUNDS):
        at = _newton(group, _expectation_maximisation(group, at))
        if at.settled or _smallest_eigenvalue(at.covariance) < _SINGULAR:
            break
    return at


def _expectation_maximisation(group: GroupData, at: UnrestrictedMoments) -> UnrestrictedMoments:
    """Some steps of expectation-maximisation, for all patterns at once."""
    means, covariance = at.means, at.covariance
    for _ in range(_EM_STEPS):
        slope, curve = expected_changes(group, means, covariance)
        step = covariance @ slope
        change = covariance @ curve @ covariance - np.outer(step, step)
        spread = np.sqrt(np.diag(covariance))
        means, covariance = means + step, covariance + (change + change.T) / 2
        moved = np.abs(change / np.outer(spread, spread)).max()
        if max(moved, np.abs(step / spread).max()) < _EM_SETTLED:
            break
    return UnrestrictedMoments(means, covariance)


def _newton(group: GroupData, at: UnrestrictedMoments) -> UnrestrictedMoments:
    """Newton's steps up to the maximum; where they lead nowhere, what they reached."""
    cells = _all_cells(len(at.means), means=True)
    derivatives = cells.derivatives
    means, covariance = at.means, at.covariance
    value = deviance(group, means, covariance)
    for _ in range(_NEWTON_STEPS):
        now = Moments(means, covariance, derivatives)
        slope = deviance_gradient(group, now) / 2
        step = _newton_step(observed_information(group, now, cells), slope)
        if step is None:
            break
        decrement = 2 * float(slope @ step)
        size, gained = 1.0, False
        while not gained and size > 1e-4:
            new_means, new = _moved(means, covariance, cells, -size * step)
            possible = _smallest_eigenvalue(new) > 0
            proposed = deviance(group, new_means, new) if possible else np.inf
            gained = proposed <= value + 1e-13 * abs(value)
            size /= 2
        if gained:
            means, covariance, value = new_means, new, proposed
        if decrement < _DECREMENT * max(1.0, abs(value)):
            return UnrestrictedMoments(means, covariance, settled=True)
        if not gained:
            break
    return UnrestrictedMoments(means, covariance)


def _newton_step(information: Array, slope: Array) -> Array | None:
    """Information inverse times slope; None where the information is not positive definite."""
    diagonal = np.diag(information)
    if (diagonal <= 0).any():
        return None
    scale = np.sqrt(diagonal)
    try:
        factor = cho_factor(information / np.outer(scale, scale), lower=True)
    except LinAlgError:
        return None
    return np.asarray(cho_solve(factor, slope / scale) / scale)


def _moved(means: Array, covariance: Array, cells: FreeCells, step: Array) -> tuple[Array, Array]:
    """Moments after a step of the parameters."""
    p = len(means)
    change = np.zeros((p, p))
    change[cells.rows, cells.columns] = step[p:]
    change[cells.columns, cells.rows] = step[p:]
    return means + step[:p], covariance + change


def _smallest_eigenvalue(covariance: Array) -> float:
    """Of the correlation matrix; below 0 where a variance is."""
    variances = np.diag(covariance)
    if (variances <= 0).any():
        return -1.0
    spread = np.sqrt(variances)
    return float(np.linalg.eigvalsh(covariance / np.outer(spread, spread))[0])
