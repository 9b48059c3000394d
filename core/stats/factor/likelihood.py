"""The normal likelihood of rows with or without gaps, and the two reference models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from core.stats.factor.model import Derivatives, Structure
from core.stats.inputs import Booleans, Floats, Integers

# Rows by pattern of missing answers, and the moments of a group.

LikelihoodRule = Literal["listwise", "fiml"]


@dataclass(frozen=True, eq=False)
class Pattern:
    """Rows of a group that answer the same items.

    Parameters
    ----------
    items : positions of the items answered, shape (k,).
    scores : their scores, shape (n, k).
    mean : shape (k,). covariance : shape (k, k), divisor n.
    """

    items: Integers
    scores: Floats
    mean: Floats
    covariance: Floats

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.scores)


@dataclass(frozen=True, eq=False)
class GroupData:
    """One group's rows by pattern, and the best unrestricted means and covariances.

    Parameters
    ----------
    name : label of the group.
    patterns : one if no answer is missing.
    means, covariance : maximum-likelihood moments, shapes (p,) and (p, p); with missing answers by
        expectation-maximization (Dempster, Laird & Rubin 1977).
    item_means, item_variances : of each item by itself over its answers, shape (p,).
    has_maximum : False where too many answers are missing for a likeliest covariance matrix; means
        and covariance are then only where a search may start.
    """

    name: str
    patterns: tuple[Pattern, ...]
    means: Floats
    covariance: Floats
    item_means: Floats
    item_variances: Floats
    has_maximum: bool = True

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(pattern.n for pattern in self.patterns)

    @cached_property
    def answered(self) -> Booleans:
        """Which items each pattern answers, shape (patterns, p)."""
        out = np.zeros((len(self.patterns), len(self.means)), dtype=bool)
        for row, pattern in zip(out, self.patterns, strict=True):
            row[pattern.items] = True
        return out

    @cached_property
    def counts(self) -> Floats:
        """Rows of each pattern, shape (patterns,)."""
        return np.array([pattern.n for pattern in self.patterns], dtype=np.float64)

    @cached_property
    def pattern_means(self) -> Floats:
        """Means of each pattern, 0 where not answered, shape (patterns, p)."""
        out = np.zeros(self.answered.shape)
        for row, pattern in zip(out, self.patterns, strict=True):
            row[pattern.items] = pattern.mean
        return out

    @cached_property
    def pattern_covariances(self) -> Floats:
        """Covariances of each pattern, 0 where not answered, shape (patterns, p, p)."""
        out = np.zeros((*self.answered.shape, len(self.means)))
        for block, pattern in zip(out, self.patterns, strict=True):
            block[np.ix_(pattern.items, pattern.items)] = pattern.covariance
        return out

    @property
    def n_values(self) -> int:
        """Number of scores that are not missing."""
        return sum(pattern.scores.size for pattern in self.patterns)


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Groups with the same items, and what is left out.

    Parameters
    ----------
    items : names of the items used. dropped : names left out, both in the order given.
    n_given : rows given. problems : sentences on what is left out, and why.
    """

    items: tuple[str, ...]
    dropped: tuple[str, ...]
    groups: tuple[GroupData, ...]
    n_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows used."""
        return sum(group.n for group in self.groups)


# The normal likelihood of rows with or without gaps, and its derivatives.
#
# Rows are handled by pattern of missing answers; complete data are one pattern, so the same lines
# serve maximum likelihood and full-information maximum likelihood (Arbuckle 1996; Yuan & Bentler
# 2000, doi:10.1111/0081-1750.00078). With K the inverse of the implied covariance of the items
# answered, zero elsewhere, every formula for complete data holds per pattern.

_CHUNK = 2_000_000  # numbers of one array
NONE: Integers = np.array([], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ModelMoments:
    """Means (p,) and covariance (p, p) of a group, and how parameters move them."""

    means: Floats
    covariance: Floats
    derivatives: Derivatives


@dataclass(frozen=True, eq=False)
class FreeCells:
    """Moments that are parameters: these means, then these cells of the covariance."""

    n_items: int
    rows: Integers
    columns: Integers
    means: Integers

    @property
    def derivatives(self) -> Derivatives:
        """How the moments move with them."""
        p, unit = self.n_items, np.eye(self.n_items)
        n_means = len(self.means)
        halves = np.where(self.rows == self.columns, 0.5, 1)
        left = np.hstack([np.zeros((p, n_means)), unit[:, self.rows]])
        right = np.hstack([np.zeros((p, n_means)), unit[:, self.columns] * halves])
        mean = np.hstack([unit[:, self.means], np.zeros((p, len(self.rows)))])
        return Derivatives(left, right, mean, np.eye(left.shape[1]))


def deviance(group: GroupData, means: Floats, covariance: Floats) -> float:
    """Minus twice the log-likelihood of a group without its constant; infinite if not defined."""
    try:
        roots = np.linalg.cholesky(_of_answered(group, covariance))
        inverses = _inverses(group, covariance)
    except np.linalg.LinAlgError:
        return float("inf")
    logs = 2 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    distances = np.sum(inverses * _squares(group, means), axis=(1, 2))
    return float(group.counts @ (logs + distances))


def _expected_changes(group: GroupData, means: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """What one step of expectation-maximization is made of: (p,) and (p, p), per row.

    With Sigma the covariance, means move by Sigma times the first; the covariance about the old
    means moves by Sigma times the second times Sigma.
    """
    inverses = _inverses(group, covariance)
    pulls = np.einsum("kij,kj->ki", inverses, _gaps(group, means))
    misfit = inverses @ _squares(group, means) @ inverses - inverses
    shares = group.counts / group.n
    return shares @ pulls, np.einsum("k,kij->ij", shares, misfit)


def moment_slopes(group: GroupData, means: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Derivatives of `deviance` by the means, (p,), and by the covariance as a whole, (p, p)."""
    inverses = _inverses(group, covariance)
    pulls = np.einsum("kij,kj->ki", inverses, _gaps(group, means))
    misfit = inverses - inverses @ _squares(group, means) @ inverses
    return -2 * group.counts @ pulls, np.einsum("k,kij->ij", group.counts, misfit)


def deviance_gradient(slopes: tuple[Floats, Floats], d: Derivatives) -> Floats:
    """Gradient of `deviance` by the free parameters, shape (q,), from `moment_slopes`."""
    by_mean, by_covariance = slopes
    cells = by_mean @ d.mean + 2 * np.sum(d.left * (by_covariance @ d.right), axis=0)
    return np.asarray(cells @ d.incidence)


def expected_information(group: GroupData, at: ModelMoments) -> Floats:
    """Expected information of a group, shape (q, q)."""
    d = at.derivatives
    cells = np.zeros((d.left.shape[1],) * 2)
    inverses = _inverses(group, at.covariance)
    together = max(1, _CHUNK // cells.size)
    for first in range(0, len(inverses), together):  # as many patterns at once as memory is worth
        some = inverses[first : first + together]
        left, right, mean = some @ d.left, some @ d.right, some @ d.mean
        by_pattern = (d.left.T @ left) * (d.right.T @ right)
        by_pattern += (d.left.T @ right) * (d.right.T @ left) + d.mean.T @ mean
        cells += np.tensordot(group.counts[first : first + together], by_pattern, axes=1)
    return np.asarray(d.incidence.T @ cells @ d.incidence)


def candidate_information(
    group: GroupData, at: ModelMoments, candidates: Derivatives
) -> tuple[Floats, Floats]:
    """Expected information of r further cells: each by itself, (r,), and with parameters, (r, q).

    Most cells move one residual, so products with their columns only pick rows.
    """
    d, e = candidates, at.derivatives
    information, cross = np.zeros(d.left.shape[1]), np.zeros((d.left.shape[1], e.left.shape[1]))
    first, second, third = (scipy.sparse.csr_array(part.T) for part in (d.left, d.right, d.mean))
    for count, inverse in zip(group.counts, _inverses(group, at.covariance), strict=True):
        left, right, mean = inverse @ e.left, inverse @ e.right, inverse @ e.mean
        by_pattern = (first @ left) * (second @ right) + (first @ right) * (second @ left)
        cross += count * (by_pattern + third @ mean)
        left, right, mean = inverse @ d.left, inverse @ d.right, inverse @ d.mean
        by_itself = (d.left * left).sum(axis=0) * (d.right * right).sum(axis=0)
        by_itself += (d.left * right).sum(axis=0) ** 2 + (d.mean * mean).sum(axis=0)
        information += count * by_itself
    return information, cross @ e.incidence


def _observed_information(group: GroupData, at: ModelMoments) -> Floats:
    """Observed information of moments that move in straight lines, shape (q, q).

    That of a measurement model has the curvature of its moments besides.
    """
    d = at.derivatives
    inverses, gaps = _inverses(group, at.covariance), _gaps(group, at.means)
    out = np.zeros((d.left.shape[1],) * 2)
    squares = _squares(group, at.means)
    for count, inverse, gap, square in zip(group.counts, inverses, gaps, squares, strict=True):
        # half of K Sigma_r (2 KMK - K) Sigma_s, the second derivative of log|Sigma| + tr(K M)
        middle = inverse @ square @ inverse - inverse / 2
        pull, turned = inverse @ gap, inverse @ d.mean
        crossed = (turned.T @ d.right) * (pull @ d.left) + (turned.T @ d.left) * (pull @ d.right)
        both = trace_products(inverse, middle, d, d) + d.mean.T @ turned
        out += count * (both / 2 + crossed)
    return np.asarray(d.incidence.T @ ((out + out.T) @ d.incidence))


def _saturated_information(group: GroupData, at: ModelMoments, cells: FreeCells) -> Floats:
    """Observed information of all means, variances and covariances, shape (q, q)."""
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
    if not len(cells.means):
        return np.asarray(block)
    crossed = (weighted @ pulls).reshape(p, p, p)
    cross = (crossed[:, k, m] + crossed[:, m, k]) * halves
    by_mean = weighted.sum(axis=1).reshape(p, p)[np.ix_(cells.means, cells.means)]
    cross = cross[cells.means]
    return np.block([[by_mean, cross], [cross.T, block]])


def _products_of_scores(group: GroupData, at: ModelMoments) -> Floats:
    """Outer products of the derivatives of rows' log-likelihoods, summed over rows, (q, q)."""
    d = at.derivatives
    out = np.zeros((d.incidence.shape[1],) * 2)
    together = max(1, _CHUNK // max(d.left.shape[1], 1))
    inverses = _inverses(group, at.covariance)
    for pattern, inverse in zip(group.patterns, inverses, strict=True):
        expected = np.sum(d.left * (inverse @ d.right), axis=0)
        for first in range(0, pattern.n, together):
            rows = pattern.scores[first : first + together] - at.means[pattern.items]
            weighted = rows @ inverse[pattern.items]
            cells = (weighted @ d.left) * (weighted @ d.right) + weighted @ d.mean
            scores = (cells - expected) @ d.incidence
            out += scores.T @ scores
    return out


def trace_products(first: Floats, second: Floats, d: Derivatives, e: Derivatives) -> Floats:
    """tr(first dSigma_r second dSigma_s) for all r of d and s of e; both matrices symmetric.

    Either may be a stack of matrices, (k, p, p); the result then is, too.
    """
    return np.asarray(
        (d.left.T @ first @ e.left) * (d.right.T @ second @ e.right)
        + (d.left.T @ first @ e.right) * (d.right.T @ second @ e.left)
        + (d.right.T @ first @ e.left) * (d.left.T @ second @ e.right)
        + (d.right.T @ first @ e.right) * (d.left.T @ second @ e.left)
    )


def _of_answered(group: GroupData, covariance: Floats) -> Floats:
    """Covariance of the items each pattern answers, identity elsewhere; (patterns, p, p)."""
    both = group.answered[:, :, None] & group.answered[:, None, :]
    return np.where(both, covariance, np.eye(len(covariance)))


def _inverses(group: GroupData, covariance: Floats) -> Floats:
    """Inverse covariance of the items each pattern answers, 0 elsewhere; (patterns, p, p)."""
    both = group.answered[:, :, None] & group.answered[:, None, :]
    return np.where(both, np.linalg.inv(_of_answered(group, covariance)), 0.0)


def _gaps(group: GroupData, means: Floats) -> Floats:
    """Pattern means minus implied ones, 0 where not answered; (patterns, p)."""
    return np.where(group.answered, group.pattern_means - means, 0.0)


def _squares(group: GroupData, means: Floats) -> Floats:
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

    def moments(self, theta: Floats) -> list[ModelMoments]:
        """Moments of every group."""
        out = []
        for number, group in enumerate(self.groups):
            matrices = self.structure.matrices(theta, number)
            means = matrices.means if self.structure.table.means else group.means
            derivatives = self.structure.derivatives(theta, number)
            out.append(ModelMoments(means, matrices.covariance, derivatives))
        return out

    def value(self, theta: Floats) -> float:
        """Mean deviance; infinite where an implied covariance is not positive definite."""
        total = 0.0
        for number, group in enumerate(self.groups):
            matrices = self.structure.matrices(theta, number)
            means = matrices.means if self.structure.table.means else group.means
            total += deviance(group, means, matrices.covariance)
        return total / self.n

    def gradient(self, theta: Floats) -> Floats:
        """Gradient of `value`, shape (q,)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        total = sum(
            deviance_gradient(moment_slopes(g, at.means, at.covariance), at.derivatives)
            for g, at in pairs
        )
        return np.asarray(total / self.n)

    def expected_information(self, theta: Floats) -> Floats:
        """Expected information per row, shape (q, q)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        return np.asarray(sum(expected_information(g, at) for g, at in pairs) / self.n)

    def observed_information(self, theta: Floats) -> Floats:
        """Observed information per row, shape (q, q)."""
        total = np.zeros((len(theta),) * 2)
        for number, (group, at) in enumerate(zip(self.groups, self.moments(theta), strict=True)):
            by_mean, by_covariance = moment_slopes(group, at.means, at.covariance)
            curvature = self.structure.curvature(theta, by_covariance, by_mean, number)
            total += _observed_information(group, at) + (curvature + curvature.T) / 4
        return total / self.n

    def scores_information(self, theta: Floats) -> Floats:
        """Mean outer product of the rows' scores, shape (q, q)."""
        pairs = zip(self.groups, self.moments(theta), strict=True)
        return np.asarray(sum(_products_of_scores(g, at) for g, at in pairs) / self.n)


# The two models every measurement model is judged against: saturated and unrelated items.
#
# With missing answers the moments of the saturated model have to be searched for. Expectation-
# maximization (Dempster, Laird & Rubin 1977) comes near the maximum, and Newton's steps end the
# search, since the former is slow where many answers are missing. Checked against lavaan 0.6-14.

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
    deviance : minus twice the log-likelihood without its constant, over groups.
    n_free : number of parameters over groups.
    trace : of the scores' information over the observed one, over groups; what n times twice the
        log-likelihood would be expected to gain. n_free if answers are normal.
    """

    deviance: float
    n_free: int
    trace: float


@dataclass(frozen=True, eq=False)
class IncompleteReference(ReferenceModel):
    """A reference model of rows with missing answers, and what its trace consists of.

    Parameters
    ----------
    groups : moments per group.
    information, scores : observed information and mean outer product of scores per row, one block
        per group, each of its own group's rows.
    """

    groups: tuple[ModelMoments, ...]
    information: tuple[Floats, ...]
    scores: tuple[Floats, ...]


# Covariates, whose moments are those of the answers whatever the model, are no part of it: `given`
# has their positions. Every row has all of them. What is left is the likelihood of the other items
# given the covariates.


def saturated_model(
    groups: Sequence[GroupData], *, means: bool, given: Integers = NONE
) -> ReferenceModel:
    """Every mean, variance and covariance of complete rows free.

    The information has closed form, so its trace with the scores is that of squared distances d
    of rows from the mean: half of (mean d^4 - p), and p for the means. No matrix of all covariances
    is needed. Covariates take their own part of the trace with them.
    """
    p, total, trace = len(groups[0].means), 0.0, 0.0
    for group in groups:
        total += deviance(group, group.means, group.covariance)
        for sign, places in ((1, np.arange(p)), (-1, given)):
            (rows,) = (
                pattern.scores[:, places] - group.means[places] for pattern in group.patterns
            )
            covariance = group.covariance[np.ix_(places, places)]
            distances = np.sum(rows * np.linalg.solve(covariance, rows.T).T, axis=1)
            k = len(places)
            trace += sign * ((float((distances**2).mean()) - k) / 2 + (k if means else 0))
    n_free = sum(
        sign * (k * (k + 1) // 2 + (k if means else 0)) for sign, k in ((1, p), (-1, len(given)))
    )
    return ReferenceModel(total, len(groups) * n_free, trace)


def incomplete_saturated_model(
    groups: Sequence[GroupData], *, given: Integers = NONE
) -> IncompleteReference:
    """Every mean, variance and covariance free: what rows with missing answers say by themselves.

    Holds matrices of all moments, which check_memory of model_text.py counts.
    """
    cells = free_cells(len(groups[0].means), given)
    moments = [(g.means, g.covariance) for g in groups]
    return _reference(groups, moments, cells, lambda g, at: _saturated_information(g, at, cells))


def baseline_model(
    groups: Sequence[GroupData], *, means: bool, given: Integers = NONE
) -> IncompleteReference:
    """Items with their own means and variances, and no relation at all but among covariates."""
    p = len(groups[0].means)
    free = np.setdiff1d(np.arange(p), given)
    cells = FreeCells(p, free, free, free if means else NONE)
    moments = []
    for group in groups:
        covariance = np.diag(group.item_variances)
        covariance[np.ix_(given, given)] = group.covariance[np.ix_(given, given)]
        moments.append((group.item_means, covariance))
    return _reference(groups, moments, cells, _observed_information)


def free_cells(p: int, given: Integers = NONE) -> FreeCells:
    """All means, variances and covariances of p items, below the diagonal, column by column."""
    rows, columns = np.tril_indices(p)
    free = ~(np.isin(rows, given) & np.isin(columns, given))
    rows, columns = rows[free], columns[free]
    order = np.lexsort((rows, columns))
    return FreeCells(p, rows[order], columns[order], np.setdiff1d(np.arange(p), given))


def _reference(
    groups: Sequence[GroupData],
    moments: Sequence[tuple[Floats, Floats]],
    cells: FreeCells,
    information_of: Callable[[GroupData, ModelMoments], Floats],
) -> IncompleteReference:
    """The model with its deviance and informations."""
    information, outer, total = [], [], 0.0
    derivatives = cells.derivatives
    placed = [ModelMoments(means, covariance, derivatives) for means, covariance in moments]
    for group, at in zip(groups, placed, strict=True):
        total += deviance(group, at.means, at.covariance)
        information.append(information_of(group, at) / group.n)
        outer.append(_products_of_scores(group, at) / group.n)
    n_free = len(groups) * derivatives.incidence.shape[1]
    pairs = zip(information, outer, strict=True)
    trace = float(sum(np.trace(np.linalg.solve(inner, scores)) for inner, scores in pairs))
    return IncompleteReference(
        total, n_free, trace, tuple(placed), tuple(information), tuple(outer)
    )


@dataclass(frozen=True, eq=False)
class UnrestrictedMoments:
    """Means (p,) and covariance (p, p) where the search ended, and whether it is a maximum."""

    means: Floats
    covariance: Floats
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
        near = _expectation_maximization(group, at)
        if not _smallest_eigenvalue(near.covariance) > 0:
            return near
        at = _newton(group, near)
        if at.settled or _smallest_eigenvalue(at.covariance) < _SINGULAR:
            break
    return at


def _expectation_maximization(group: GroupData, at: UnrestrictedMoments) -> UnrestrictedMoments:
    """Some steps of expectation-maximization, for all patterns at once."""
    means, covariance = at.means, at.covariance
    for _ in range(_EM_STEPS):
        slope, curve = _expected_changes(group, means, covariance)
        step = covariance @ slope
        change = covariance @ curve @ covariance - np.outer(step, step)
        spread = np.sqrt(np.diag(covariance))
        means, covariance = means + step, covariance + (change + change.T) / 2
        moved = np.abs(change / np.outer(spread, spread)).max()
        if not (np.diag(covariance) > 0).all():
            break  # on the way to a matrix without inverse, rounding takes the lead
        if max(moved, np.abs(step / spread).max()) < _EM_SETTLED:
            break
    return UnrestrictedMoments(means, covariance)


def _newton(group: GroupData, at: UnrestrictedMoments) -> UnrestrictedMoments:
    """Newton's steps up to the maximum; else the moments where they stopped."""
    cells = free_cells(len(at.means))
    derivatives = cells.derivatives
    means, covariance = at.means, at.covariance
    value = deviance(group, means, covariance)
    for _ in range(_NEWTON_STEPS):
        now = ModelMoments(means, covariance, derivatives)
        slope = deviance_gradient(moment_slopes(group, means, covariance), derivatives) / 2
        step = _newton_step(_saturated_information(group, now, cells), slope)
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


def _newton_step(information: Floats, slope: Floats) -> Floats | None:
    """Information inverse times slope; None where the information is not positive definite."""
    diagonal = np.diag(information)
    if (diagonal <= 0).any():
        return None
    scale = np.sqrt(diagonal)
    try:
        factor = scipy.linalg.cho_factor(information / np.outer(scale, scale), lower=True)
    except scipy.linalg.LinAlgError:
        return None
    return np.asarray(scipy.linalg.cho_solve(factor, slope / scale) / scale)


def _moved(
    means: Floats, covariance: Floats, cells: FreeCells, step: Floats
) -> tuple[Floats, Floats]:
    """Moments after a step of the parameters."""
    p = len(means)
    change = np.zeros((p, p))
    change[cells.rows, cells.columns] = step[p:]
    change[cells.columns, cells.rows] = step[p:]
    return means + step[:p], covariance + change


def _smallest_eigenvalue(covariance: Floats) -> float:
    """Of the correlation matrix; below 0 where a variance is."""
    variances = np.diag(covariance)
    if not (np.isfinite(covariance).all() and (variances > 0).all()):
        return -1.0
    spread = np.sqrt(variances)
    return float(np.linalg.eigvalsh(covariance / np.outer(spread, spread))[0])
