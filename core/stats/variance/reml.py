"""Restricted maximum likelihood of variance components, for designs with gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from core.stats.inputs import Floats
from core.stats.variance.design import Cells

MOST_LEVELS = 1500
"""Levels of all effects but the largest: a matrix of so many rows is inverted a dozen times."""

_MOST_STEPS = 60
_CLOSE = 1e-9  # of the log-likelihood, relative to the number of answers
_LEAST = 1e-9  # of the total; a component below is 0
_LONGEST = 2.0  # of a step of the logarithm of a component


@dataclass(frozen=True, eq=False)
class RemlFit:
    """REML estimates: of the effects given, of all facets together if replicated, residual."""

    estimates: Floats
    log_likelihood: float
    converged: bool


def fit_reml(design: Cells, lower: Sequence[int], start: Floats, *, of_cells: bool) -> RemlFit:
    """REML estimates of variance components, at least 0.

    Parameters
    ----------
    design : Cells
        The answers by cell.
    lower : sequence of int
        The effects but that of all facets together, as sets of facets.
    start : (effects,)
        Above 0: the effects in `lower`, then that of all facets together if asked for, then the
        residual.
    of_cells : bool
        Whether all facets together have an effect beside the residual, as replicates allow.

    Notes
    -----
    The likelihood is that of the means of cells and, if there are replicates, of the sum of squares
    within cells; the effect of a cell adds to the variance of its mean. Newton steps on logarithms
    with the average information (Gilmour, Thompson and Cullis, 1995, doi:10.2307/2533274), damped
    until the likelihood rises. A component whose share falls below 1e-9 is 0. Checked against
    lme4 1.1.
    """
    model = _Model(design, lower, of_cells=of_cells)
    logs = np.log(start)
    point = model.at(np.exp(logs))
    damping = 1e-3
    converged = False
    for _ in range(_MOST_STEPS):
        values = np.exp(logs)
        free = values > _LEAST * values.sum()
        slope = point.gradient * values
        curve = point.information * np.outer(values, values)
        if not free.any():
            break
        rising = False
        for _ in range(12):
            matrix = curve[np.ix_(free, free)]
            matrix = matrix + np.diag(damping * np.diag(matrix) + 1e-10)
            step = np.zeros(len(logs))
            step[free] = np.clip(np.linalg.solve(matrix, slope[free]), -_LONGEST, _LONGEST)
            candidate = model.at(np.exp(logs + step))
            if candidate.log_likelihood >= point.log_likelihood:
                rising = True
                break
            damping = max(damping * 10, 1e-2)
        if not rising:
            converged = bool(np.abs(slope[free]).max() < 1e-4 * design.n_cells)
            break
        gain = candidate.log_likelihood - point.log_likelihood
        logs, point, damping = logs + step, candidate, damping / 10
        if gain < _CLOSE * design.n_cells and np.abs(step).max() < 1e-5:
            converged = True
            break
        if gain < 1e-11 * design.n_cells:
            converged = True
            break
    values = np.exp(logs)
    values[values < 10 * _LEAST * values.sum()] = 0.0
    return RemlFit(values, point.log_likelihood, converged)


@dataclass(frozen=True, eq=False)
class _Point:
    log_likelihood: float
    gradient: Floats
    information: Floats


class _Model:
    """The means of the cells as a sum of effects, evaluated at values of the components."""

    def __init__(self, design: Cells, lower: Sequence[int], *, of_cells: bool) -> None:
        self.of_cells = of_cells
        full = design.full
        self.counts = full.counts
        self.means = full.sums / full.counts
        self.within = design.within
        self.n_within = design.n - design.n_cells
        rows = np.arange(design.n_cells)
        columns, offset, self.spans = [], 0, []
        for effect in lower:
            first, place = design.places(effect, full.codes)
            columns.append(place + offset)
            self.spans.append(slice(offset, offset + len(first)))
            offset += len(first)
        self.columns = (
            np.stack(columns, axis=1) if columns else np.empty((design.n_cells, 0), dtype=np.int64)
        )
        self.effects = sparse.csr_matrix(
            (np.ones(self.columns.size), (np.repeat(rows, len(columns)), self.columns.ravel())),
            shape=(design.n_cells, offset),
        )

    def at(self, values: Floats) -> _Point:
        """Restricted log-likelihood, its gradient and the average information at components."""
        n_lower = len(self.spans)
        residual = values[-1]
        of_cell = values[n_lower] if self.of_cells else 0.0
        weight = 1.0 / (of_cell + residual / self.counts)
        roots = np.concatenate(
            [np.full(span.stop - span.start, np.sqrt(value))
             for span, value in zip(self.spans, values, strict=False)]
        ) if self.spans else np.empty(0)  # fmt: skip
        z = self.effects
        crossed = (z.T @ z.multiply(weight[:, None])).toarray()
        matrix = np.eye(len(roots)) + roots[:, None] * crossed * roots
        factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            return _Point(-np.inf, np.zeros(len(values)), np.eye(len(values)))
        log_det = 2.0 * np.log(np.diag(factor)).sum() - np.log(weight).sum()
        inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        inner = roots[:, None] * inverse * roots

        def solve(right: Floats) -> Floats:
            """The inverse of the covariance of the means, times columns."""
            weighted = weight[:, None] * right
            return np.asarray(weighted - weight[:, None] * (z @ (inner @ (z.T @ weighted))))

        ones, own = solve(np.stack([np.ones(len(weight)), self.means], axis=1)).T
        precision = ones.sum()
        projected = own - ones * (own.sum() / precision)
        likelihood = -0.5 * (
            log_det
            + np.log(precision)
            + self.means @ projected
            + (self.n_within * np.log(residual) + self.within / residual if self.n_within else 0.0)
        )
        # Traces of the projection with the covariance of each effect, and its images of the data.
        sums, sums_of_ones = z.T @ projected, z.T @ ones
        diagonal = np.diag(inverse)
        traces, forms, images = [], [], []
        for span, value in zip(self.spans, values, strict=False):
            trace = (span.stop - span.start - diagonal[span].sum()) / value
            traces.append(trace - (sums_of_ones[span] ** 2).sum() / precision)
            forms.append((sums[span] ** 2).sum())
            images.append(z[:, span] @ sums[span])
        spread = weight - weight**2 * self._quadratic(inner) - ones**2 / precision
        if self.of_cells:
            traces.append(spread.sum())
            forms.append((projected**2).sum())
            images.append(projected)
        traces.append((spread / self.counts).sum())
        forms.append((projected**2 / self.counts).sum())
        images.append(projected / self.counts)
        stacked = np.stack(images, axis=1)
        solved = solve(stacked)
        total = solved.sum(axis=0)
        information = 0.5 * (stacked.T @ solved - np.outer(total, total) / precision)
        gradient = -0.5 * (np.array(traces) - np.array(forms))
        if self.n_within:
            gradient[-1] -= 0.5 * (self.n_within / residual - self.within / residual**2)
            information[-1, -1] += 0.5 * self.n_within / residual**2
        return _Point(float(likelihood), gradient, information)

    def _quadratic(self, inner: Floats) -> Floats:
        """For each cell, the sum of the entries of a matrix at its own effects."""
        total = np.zeros(len(self.columns))
        for first in range(self.columns.shape[1]):
            for second in range(first + 1):
                entries = inner[self.columns[:, first], self.columns[:, second]]
                total += entries if first == second else 2.0 * entries
        return total
