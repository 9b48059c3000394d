"""Restricted maximum likelihood of variance components, for designs with gaps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from core.stats.inputs import Booleans, Floats, Integers
from core.stats.variance.design import DesignCells

MOST_LEVELS = 2000
"""Levels of all effects but the largest: a matrix of so many rows is inverted a dozen times."""

_MOST_STEPS = 60
_MOST_ROUNDS = 6
_MOST_TRIALS = 12  # of one step
_DAMPING = 1e-3
_CLOSE = 1e-8  # expected gain in log-likelihood of the next step
_SMALL = 1e-3  # of the total; a component below that still falls is tried as 0
_LEAST = 1e-7  # of the total; a component below is 0
_ALIKE = 1e-9  # of an eigenvalue of the information, as correlations
_LONGEST = 2.0  # of a step of the logarithm of a component


@dataclass(frozen=True, eq=False)
class RemlFit:
    """REML estimates: of the effects given, of all facets together if replicated, residual.

    `covariance` is that of the estimates: the inverse of the expected information; None where
    that can hardly be inverted. `unbounded` are the estimates after one step of scoring that may go
    below 0: minimum variance quadratic unbiased ones at these components, the same where none is 0.
    """

    estimates: Floats
    unbounded: Floats
    covariance: Floats | None
    log_likelihood: float
    converged: bool


def fit_reml(
    design: DesignCells, lower: Sequence[int], start: Floats, *, of_cells: bool
) -> RemlFit:
    """REML estimates of variance components, at least 0.

    Parameters
    ----------
    design : DesignCells
        The answers by cell.
    lower : sequence of int
        The effects but that of all facets together, as sets of facets.
    start : (effects,)
        Of the effects in `lower`, then that of all facets together if asked for, then the residual,
        which is above 0. Effects that start at 0 are tried last.
    of_cells : bool
        Whether all facets together have an effect beside the residual, as replicates allow.

    Notes
    -----
    The likelihood is that of the means of cells and, if there are replicates, of the sum of squares
    within cells; the effect of a cell adds to the variance of its mean. Newton steps on logarithms
    with the average information (Gilmour, Thompson and Cullis, 1995, doi:10.2307/2533274), damped
    until the likelihood rises. A component that falls below a thousandth of the total is set to 0
    and left out; at the end, one that would raise the likelihood from 0 comes back. Checked against
    lme4 1.1.
    """
    values = np.array(start)
    every = [*lower, *([design.everything] if of_cells else [])]
    inside = values[:-1] > _SMALL * values.sum()
    returned = np.zeros(len(every), dtype=np.bool_)
    converged, model = False, _Model(design, [], of_cells=False)
    for _ in range(_MOST_ROUNDS * (len(every) + 1)):
        taken = np.flatnonzero(inside)
        included = [every[index] for index in taken]
        cell = bool(of_cells and inside[-1])
        model = _Model(design, included[:-1] if cell else included, of_cells=cell)
        places = [*taken, len(every)]
        climb = _climb(model, values[places], ~returned[taken])
        values[places] = climb.values
        if climb.falling.any():
            inside[taken[climb.falling]] = False
            continue
        values[:-1][~inside] = 0.0
        outside = np.flatnonzero(~inside)
        rising = [index for index in outside if model.rises_from_zero(values[places], every[index])]
        if not rising or not climb.converged:
            converged = climb.converged
            break
        inside[rising] = returned[rising] = True
        values[rising] = 10 * _SMALL * values.sum()
    values[values < _LEAST * values.sum()] = 0.0
    every_effect = _Model(design, lower, of_cells=of_cells)
    information = every_effect.information(values)
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    relative = information / np.outer(scale, scale)
    apart = bool(np.linalg.eigvalsh(relative)[0] > _ALIKE)
    if not apart:
        return RemlFit(values, values, None, climb.log_likelihood, converged)
    covariance = np.linalg.inv(relative) / np.outer(scale, scale)
    unbounded = covariance @ every_effect.forms(every_effect.solved(values), values) / 2
    inside = values > 0  # one that is not at its bound is where the likelihood is highest
    unbounded = np.where(inside.all(), values, unbounded)
    return RemlFit(values, unbounded, covariance, climb.log_likelihood, converged)


@dataclass(frozen=True, eq=False)
class _Climb:
    """Where the steps ended; `falling` are components that are small and still fall."""

    values: Floats
    log_likelihood: float
    falling: Booleans
    converged: bool


def _climb(model: _Model, start: Floats, may_fall: Booleans) -> _Climb:
    """Newton steps on the logarithms of components until the likelihood rises no more."""
    logs = np.log(start)
    point = model.at(start)
    damping = _DAMPING
    none = np.zeros(len(may_fall), dtype=np.bool_)
    for _ in range(_MOST_STEPS):
        values = np.exp(logs)
        falling = may_fall & (values < _SMALL * values.sum())[:-1] & (point.gradient < 0)[:-1]
        if falling.any():
            return _Climb(values, point.log_likelihood, falling, converged=False)
        free = values > _LEAST * values.sum()
        slope = point.gradient * values
        curve = point.information * np.outer(values, values)
        gain = math.nan
        for trial in range(_MOST_TRIALS):
            matrix = curve[np.ix_(free, free)]
            matrix = matrix + np.diag(damping * np.diag(matrix) + 1e-10)
            step = np.zeros(len(logs))
            step[free] = np.linalg.solve(matrix, slope[free])
            gain = float(slope @ step) if trial == 0 else gain
            if gain < _CLOSE:
                return _Climb(values, point.log_likelihood, none, converged=True)
            step *= min(1.0, _LONGEST / np.abs(step).max())
            candidate = model.at(np.exp(logs + step))
            if candidate.log_likelihood > point.log_likelihood:
                break
            damping = max(damping * 10, 1e-2)
        else:
            return _Climb(values, point.log_likelihood, none, converged=bool(gain < 1e-5))
        logs, point, damping = logs + step, candidate, min(damping / 10, _DAMPING)
    return _Climb(np.exp(logs), point.log_likelihood, none, converged=False)


@dataclass(frozen=True, eq=False)
class _Point:
    log_likelihood: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class _Solved:
    """The means of the cells through the inverse of their covariance, at some components.

    `weight` and `inner` make the inverse; `ones` and `projected` are the inverse times ones and the
    projection times the means; `spread` is the diagonal of the projection.
    """

    weight: Floats
    inner: Floats
    diagonal: Floats
    log_det: float
    ones: Floats
    precision: float
    projected: Floats
    spread: Floats


class _Model:
    """The means of the cells as a sum of effects, evaluated at values of the components."""

    def __init__(self, design: DesignCells, lower: Sequence[int], *, of_cells: bool) -> None:
        self.of_cells, self.design = of_cells, design
        full = design.full
        self.counts = full.counts
        self.means = full.sums / full.counts
        self.within = design.within
        self.n_within = design.n - design.n_cells
        columns: list[Integers] = []
        self.spans: list[slice] = []
        offset = 0
        for effect in lower:
            first, level_of = design.places(effect, full.codes)
            columns.append(level_of + offset)
            self.spans.append(slice(offset, offset + len(first)))
            offset += len(first)
        self.columns = np.array(columns, dtype=np.int64).reshape(len(lower), design.n_cells).T
        self.effects = _indicators(self.columns, offset)

    def solved(self, values: Floats) -> _Solved:
        """The inverse of the covariance of the means at these components, and what it makes."""
        of_cell = values[len(self.spans)] if self.of_cells else 0.0
        weight = 1.0 / (of_cell + values[-1] / self.counts)
        lengths = [span.stop - span.start for span in self.spans]
        roots = np.repeat(np.sqrt(values[: len(lengths)]), lengths)
        z = self.effects
        crossed = (z.T @ z.multiply(weight[:, None])).toarray()
        inverse, log_det = _inverse(np.eye(len(roots)) + roots[:, None] * crossed * roots)
        log_det -= float(np.log(weight).sum())
        inner = roots[:, None] * inverse * roots
        right = np.stack([np.ones(len(weight)), self.means], axis=1)
        ones, of_values = self.solve(weight, inner, right).T
        precision = float(ones.sum())
        projected = of_values - ones * (of_values.sum() / precision)
        spread = weight - weight**2 * self._quadratic(inner) - ones**2 / precision
        return _Solved(weight, inner, np.diag(inverse), log_det, ones, precision, projected, spread)

    def solve(self, weight: Floats, inner: Floats, right: Floats) -> Floats:
        """The inverse of the covariance of the means, times columns."""
        weighted = weight[:, None] * right
        back = self.effects @ (inner @ (self.effects.T @ weighted))
        return np.asarray(weighted - weight[:, None] * back)

    def at(self, values: Floats) -> _Point:
        """Restricted log-likelihood, its gradient and the average information at components."""
        point, z, residual = self.solved(values), self.effects, values[-1]
        projected = point.projected
        likelihood = -0.5 * (
            point.log_det
            + np.log(point.precision)
            + self.means @ projected
            + (self.n_within * np.log(residual) + self.within / residual if self.n_within else 0.0)
        )
        # Traces of the projection with the covariance of each effect, and its images of the data.
        sums, sums_of_ones = z.T @ projected, z.T @ point.ones
        traces, images = [], []
        for span, value in zip(self.spans, values, strict=False):
            trace = (span.stop - span.start - point.diagonal[span].sum()) / value
            traces.append(trace - (sums_of_ones[span] ** 2).sum() / point.precision)
            images.append(z[:, span] @ sums[span])
        if self.of_cells:
            traces.append(point.spread.sum())
            images.append(projected)
        traces.append((point.spread / self.counts).sum())
        images.append(projected / self.counts)
        stacked = np.stack(images, axis=1)
        solved = self.solve(point.weight, point.inner, stacked)
        total = solved.sum(axis=0)
        information = 0.5 * (stacked.T @ solved - np.outer(total, total) / point.precision)
        if self.n_within:
            traces[-1] += self.n_within / residual
        gradient = -0.5 * (np.array(traces) - self.forms(point, values))
        if self.n_within:
            information[-1, -1] += 0.5 * self.n_within / residual**2
        return _Point(float(likelihood), gradient, information)

    def forms(self, point: _Solved, values: Floats) -> Floats:
        """The data through the projection with the covariance of each effect in the middle."""
        sums, squares = self.effects.T @ point.projected, point.projected**2
        forms = [(sums[span] ** 2).sum() for span in self.spans]
        if self.of_cells:
            forms.append(squares.sum())
        within = self.within / values[-1] ** 2 if self.n_within else 0.0
        return np.array([*forms, (squares / self.counts).sum() + within])

    def information(self, values: Floats) -> Floats:
        """The expected information at components, which may be 0 but for the residual.

        Half the traces of P V_i P V_j, P the projection and V_i what component i adds to the
        covariance of the means. Of the residual they are what is left of the trace of P V_i, as
        the components sum the V_i to the covariance, which P inverts.
        """
        point, z, residual = self.solved(values), self.effects, values[-1]
        weight, ones, precision = point.weight, point.ones, point.precision
        crossed, squared, cubed = (
            (z.T @ z.multiply((weight**power)[:, None])).toarray() for power in (1, 2, 3)
        )
        outside = np.eye(len(crossed)) - point.inner @ crossed
        sums_of_ones = z.T @ ones
        blocks = crossed @ outside - np.outer(sums_of_ones, sums_of_ones) / precision
        n_effects = len(values)
        traces = np.zeros((n_effects, n_effects))
        totals = np.zeros(n_effects)
        for first, span in enumerate(self.spans):
            totals[first] = np.trace(blocks[span, span])
            for second, other in enumerate(self.spans):
                traces[first, second] = (blocks[span, other] ** 2).sum()
        if self.of_cells:
            cell = len(self.spans)
            totals[cell] = point.spread.sum()
            across = z.T @ (weight * ones)
            for first, span in enumerate(self.spans):
                own = outside[:, span]
                trace = (own * (squared @ own)).sum()
                trace -= 2 * (across @ own) @ sums_of_ones[span] / precision
                trace += (ones @ ones) * (sums_of_ones[span] ** 2).sum() / precision**2
                traces[first, cell] = traces[cell, first] = trace
            inner = point.inner @ squared
            again = self.solve(weight, point.inner, ones[:, None])[:, 0]
            traces[cell, cell] = (weight**2).sum() - 2 * (point.inner * cubed).sum()
            traces[cell, cell] += (inner * inner.T).sum() - 2 * (ones @ again) / precision
            traces[cell, cell] += (ones @ ones) ** 2 / precision**2
        totals[-1] = (point.spread / self.counts).sum()
        for first in (*range(n_effects - 1), n_effects - 1):
            left = (totals[first] - traces[first, :-1] @ values[:-1]) / residual
            traces[first, -1] = traces[-1, first] = left
        traces[-1, -1] += self.n_within / residual**2
        return traces / 2

    def rises_from_zero(self, values: Floats, effect: int) -> bool:
        """Whether an effect that is left out would raise the likelihood."""
        solved = self.solved(values)
        if effect == self.design.everything:
            trace, form = solved.spread.sum(), (solved.projected**2).sum()
        else:
            _, level_of = self.design.places(effect, self.design.full.codes)
            columns = _indicators(level_of[:, None], int(level_of.max()) + 1)
            crossed = (self.effects.T @ columns.multiply(solved.weight[:, None])).toarray()
            trace = solved.weight.sum() - ((solved.inner @ crossed) * crossed).sum()
            trace -= ((columns.T @ solved.ones) ** 2).sum() / solved.precision
            form = ((columns.T @ solved.projected) ** 2).sum()
        return bool(form > trace * (1 + 1e-6))

    def _quadratic(self, inner: Floats) -> Floats:
        """For each cell, the sum of the entries of a matrix at its own effects."""
        total = np.zeros(len(self.columns))
        for first in range(self.columns.shape[1]):
            for second in range(first + 1):
                entries = inner[self.columns[:, first], self.columns[:, second]]
                total += entries if first == second else 2.0 * entries
        return total


def _indicators(columns: Integers, n_columns: int) -> Any:
    """A sparse matrix with a 1 in each of the columns named for a row."""
    rows = np.repeat(np.arange(len(columns)), columns.shape[1])
    shape = (len(columns), n_columns)
    return scipy.sparse.csr_matrix((np.ones(columns.size), (rows, columns.ravel())), shape=shape)


def _inverse(matrix: Floats) -> tuple[Floats, float]:
    """The inverse of a positive definite matrix, and the logarithm of its determinant."""
    if not matrix.size:
        return matrix, 0.0
    factor, _ = scipy.linalg.lapack.dpotrf(matrix, lower=1)
    log_det = 2.0 * float(np.log(np.diag(factor)).sum())
    inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T), log_det
