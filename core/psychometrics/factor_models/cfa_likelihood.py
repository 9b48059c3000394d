"""The normal likelihood of rows with or without gaps, and its derivatives.

Rows are handled by pattern of missing answers; complete data are one pattern, so the same lines
serve maximum likelihood and full-information maximum likelihood (Arbuckle 1996; Yuan & Bentler
2000, doi:10.1111/0081-1750.00078). With K the inverse of the implied covariance of the items
answered, zero elsewhere, every formula for complete data holds per pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.psychometrics.factor_models.cfa_data import GroupData
from core.psychometrics.factor_models.cfa_structure import Derivatives, Structure

Array = np.ndarray
_STEP = 1e-5  # step of the central differences of the gradient, in units of one row's error
_CHUNK = 2_000_000  # numbers of one array
_WIDEST = 1e3  # keeps the step sensible where a parameter is not identified


@dataclass(frozen=True, eq=False)
class Moments:
    """Means (p,) and covariance (p, p) of a group, and how parameters move them."""

    means: Array
    covariance: Array
    derivatives: Derivatives


@dataclass(frozen=True, eq=False)
class FreeCells:
    """Moments that are parameters: all means if `means`, then these cells of the covariance."""

    n_items: int
    rows: Array
    columns: Array
    means: bool

    @property
    def derivatives(self) -> Derivatives:
        """How the moments move with them."""
        p, unit = self.n_items, np.eye(self.n_items)
        n_means = p if self.means else 0
        halves = np.where(self.rows == self.columns, 0.5, 1)
        left = np.hstack([np.zeros((p, n_means)), unit[:, self.rows]])
        right = np.hstack([np.zeros((p, n_means)), unit[:, self.columns] * halves])
        mean = np.hstack([unit[:, :n_means], np.zeros((p, len(self.rows)))])
        return Derivatives(left, right, mean, np.eye(left.shape[1]))


def deviance(group: GroupData, means: Array, covariance: Array) -> float:
    """Minus twice the log-likelihood of a group without its constant; infinite if not defined."""
    try:
        roots = np.linalg.cholesky(_of_answered(group, covariance))
        inverses = _inverses(group, covariance)
    except np.linalg.LinAlgError:
        return float("inf")
    logs = 2 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    distances = np.sum(inverses * _squares(group, means), axis=(1, 2))
    return float(group.counts @ (logs + distances))


def expected_changes(group: GroupData, means: Array, covariance: Array) -> tuple[Array, Array]:
    """What one step of expectation-maximisation is made of: (p,) and (p, p), per row.

    With Sigma the covariance, means move by Sigma times the first; the covariance about the old
    means moves by Sigma times the second times Sigma.
    """
    inverses = _inverses(group, covariance)
    pulls = np.einsum("kij,kj->ki", inverses, _gaps(group, means))
    misfit = inverses @ _squares(group, means) @ inverses - inverses
    shares = group.counts / group.n
    return shares @ pulls, np.einsum("k,kij->ij", shares, misfit)


def deviance_gradient(group: GroupData, at: Moments) -> Array:
    """Gradient of `deviance` by the free parameters, shape (q,)."""
    inverses = _inverses(group, at.covariance)
    pulls = np.einsum("kij,kj->ki", inverses, _gaps(group, at.means))
    by_mean = -2 * group.counts @ pulls
    misfit = inverses - inverses @ _squares(group, at.means) @ inverses
    by_covariance = np.einsum("k,kij->ij", group.counts, misfit)
    d = at.derivatives
    cells = by_mean @ d.mean + 2 * np.sum(d.left * (by_covariance @ d.right), axis=0)
    return np.asarray(cells @ d.incidence)


def expected_information(group: GroupData, at: Moments, other: Derivatives | None = None) -> Array:
    """Expected information of a group, shape (q, q); with `other`, the block between two sets."""
    d, e = at.derivatives, at.derivatives if other is None else other
    cells = np.zeros((d.left.shape[1], e.left.shape[1]))
    inverses = _inverses(group, at.covariance)
    together = max(1, _CHUNK // cells.size)
    for first in range(0, len(inverses), together):  # as many patterns at once as memory is worth
        some = inverses[first : first + together]
        products = 0.5 * trace_products(some, some, d, e)
        by_pattern = products + d.mean.T @ some @ e.mean
        cells += np.tensordot(group.counts[first : first + together], by_pattern, axes=1)
    return np.asarray(d.incidence.T @ cells @ e.incidence)


def observed_information(group: GroupData, at: Moments, cells: FreeCells) -> Array:
    """Observed information of a model whose parameters are moments themselves, shape (q, q).

    For the saturated model and the baseline; a measurement model adds second derivatives, which
    `NormalLikelihood.observed_information` takes from the gradient.
    """
    p = len(at.means)
    inverses = _inverses(group, at.covariance)
    pulls = np.einsum("kij,kj->ki", inverses, _gaps(group, at.means))
    # half of K Sigma_r (2 KMK - K) Sigma_s, the second derivative of log|Sigma| + tr(K M)
    middles = inverses @ _squares(group, at.means) @ inverses - inverses / 2
    weighted = (group.counts[:, None, None] * inverses).reshape(-1, p * p).T
    products = (weighted @ middles.reshape(-1, p * p)).reshape(p, p, p, p)
    i, j = cells.rows[:, None], cells.columns[:, None]
    k, m = cells.rows, cells.columns
    halves = np.where(cells.rows == cells.columns, 0.5, 1.0)
    block = products[i, k, j, m] + products[i, m, j, k] + products[j, k, i, m]
    block = (block + products[j, m, i, k]) * np.outer(halves, halves)
    block = (block + block.T) / 2
    if not cells.means:
        return np.asarray(block)
    crossed = (weighted @ pulls).reshape(p, p, p)
    cross = (crossed[:, k, m] + crossed[:, m, k]) * halves
    by_mean = weighted.sum(axis=1).reshape(p, p)
    return np.block([[by_mean, cross], [cross.T, block]])


def casewise_scores(group: GroupData, at: Moments) -> Array:
    """Derivatives of each row's log-likelihood by the free parameters, shape (n, q)."""
    d = at.derivatives
    out = []
    inverses = _inverses(group, at.covariance)
    for pattern, inverse in zip(group.patterns, inverses, strict=True):
        weighted = (pattern.scores - at.means[pattern.items]) @ inverse[pattern.items]
        cells = (weighted @ d.left) * (weighted @ d.right) + weighted @ d.mean
        out.append((cells - np.sum(d.left * (inverse @ d.right), axis=0)) @ d.incidence)
    return np.vstack(out)


def trace_products(first: Array, second: Array, d: Derivatives, e: Derivatives) -> Array:
    """tr(first dSigma_r second dSigma_s) for all r of d and s of e; both matrices symmetric.

    Either may be a stack of matrices, (k, p, p); the result then is, too.
    """
    return np.asarray(
        (d.left.T @ first @ e.left) * (d.right.T @ second @ e.right)
        + (d.left.T @ first @ e.right) * (d.right.T @ second @ e.left)
        + (d.right.T @ first @ e.left) * (d.left.T @ second @ e.right)
        + (d.right.T @ first @ e.right) * (d.left.T @ second @ e.left)
    )


def _of_answered(group: GroupData, covariance: Array) -> Array:
    """Covariance of the items each pattern answers, identity elsewhere; (patterns, p, p)."""
    both = group.answered[:, :, None] & group.answered[:, None, :]
    return np.where(both, covariance, np.eye(len(covariance)))


def _inverses(group: GroupData, covariance: Array) -> Array:
    """Inverse covariance of the items each pattern answers, 0 elsewhere; (patterns, p, p)."""
    both = group.answered[:, :, None] & group.answered[:, None, :]
    return np.where(both, np.linalg.inv(_of_answered(group, covariance)), 0.0)


def _gaps(group: GroupData, means: Array) -> Array:
    """Pattern means minus implied ones, 0 where not answered; (patterns, p)."""
    return np.where(group.answered, group.pattern_means - means, 0.0)


def _squares(group: GroupData, means: Array) -> Array:
    """Mean squares of each pattern about the implied means; (patterns, p, p)."""
    gaps = _gaps(group, means)
    return np.asarray(group.pattern_covariances + gaps[:, :, None] * gaps[:, None, :])


class NormalLikelihood:
    """The likelihood of a measurement model over all groups, per row.

    `value` is minus twice the mean log-likelihood without its constant. Without a mean structure
    the implied means are the sample means.
    """

    def __init__(self, structure: Structure, groups: Sequence[GroupData]) -> None:
        self.structure = structure
        self.groups = tuple(groups)
        self.n = sum(group.n for group in groups)

    def moments(self, theta: Array) -> list[Moments]:
        """Moments of every group."""
        out = []
        for number, group in enumerate(self.groups):
            matrices = self.structure.matrices(theta, number)
            means = matrices.means if self.structure.table.means else group.means
            derivatives = self.structure.derivatives(theta, number)
            out.append(Moments(means, matrices.covariance, derivatives))
        return out

    def value(self, theta: Array) -> float:
        """Mean deviance; infinite where an implied covariance is not positive definite."""
        total = 0.0
        for number, group in enumerate(self.groups):
            matrices = self.structure.matrices(theta, number)
            means = matrices.means if self.structure.table.means else group.means
            total += deviance(group, means, matrices.covariance)
        return total / self.n

    def gradient(self, theta: Array) -> Array:
        """Gradient of `value`, shape (q,)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        return np.asarray(sum(deviance_gradient(g, at) for g, at in pairs) / self.n)

    def expected_information(self, theta: Array) -> Array:
        """Expected information per row, shape (q, q)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        return np.asarray(sum(expected_information(g, at) for g, at in pairs) / self.n)

    def observed_information(self, theta: Array) -> Array:
        """Observed information per row by central differences of the gradient, shape (q, q)."""
        rows = []
        # one row's sampling error is a unit that does not depend on the units of the items
        units = 1 / np.sqrt(np.maximum(np.diag(self.expected_information(theta)), 1e-300))
        for position in range(len(theta)):
            step = np.zeros_like(theta)
            step[position] = _STEP * min(units[position], _WIDEST * max(1, abs(theta[position])))
            change = self.gradient(theta + step) - self.gradient(theta - step)
            rows.append(change / (4 * step[position]))
        hessian = np.array(rows)
        return np.asarray((hessian + hessian.T) / 2)

    def scores_information(self, theta: Array) -> Array:
        """Mean outer product of the rows' scores, shape (q, q)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        scores = np.vstack([casewise_scores(g, at) for g, at in pairs])
        return np.asarray(scores.T @ scores / self.n)
