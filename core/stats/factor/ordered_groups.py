"""One measurement model of ordered answers at several levels, with equal parameters (WLSMV)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from core.domain.notes import Note
from core.stats.factor.cfa import NO_INFORMATION, modification_rows
from core.stats.factor.estimation import start_values
from core.stats.factor.fit_indices import ChiSquares, plain_indices, undefined_indices
from core.stats.factor.likelihood import GroupData
from core.stats.factor.model import (
    COVARIANCE,
    LOADING,
    Matrices,
    Parameter,
    ParameterTable,
)
from core.stats.factor.ordered_levels import (
    LevelAnswers,
    LevelMoments,
    OrderedLevels,
    Partial,
    spreads,
)
from core.stats.factor.result import (
    NOT_IDENTIFIED,
    CfaResult,
    FitIndices,
    GroupFit,
    ModificationIndex,
    Standardizer,
    correlations_of_covariance,
    error_problems,
    explained_shares,
    matrix_problems,
    raw_estimates,
    standardized_estimates,
)
from core.stats.factor.wlsmv import (
    THRESHOLD,
    scale_and_shift,
    scaled_and_shifted,
    undetermined_parameters,
)
from core.stats.inputs import Floats, check_level

# The search for the parameters.

_SETTLED = 1e-12  # a further step would lower n times the loss by less
_STEPS = 300
_TOO_DAMPED = 1e10
_NOT_CONVERGED = Note(
    "The search did not converge; there are no tests and no standard errors. Simplify the model, "
    "or use more rows.",
    kind="no fit",
)


def _start(moments: LevelMoments) -> Floats:
    """Loadings as if the first level's correlations were covariances, its thresholds, no means."""
    table = moments.structure.table
    p = len(table.items)
    first = moments.levels[0].correlations
    group = GroupData("", (), np.zeros(p), first, np.zeros(p), np.ones(p))
    theta = np.zeros(moments.n_free)
    theta[: table.n_free] = start_values(table, [group] * table.n_groups)
    for parameter in table.parameters:
        if parameter.is_free and parameter.op == COVARIANCE and parameter.left == parameter.right:
            theta[parameter.free] = 1.0
    spread = spreads(moments.structure.matrices(theta[: table.n_free], 0).covariance)
    for level in reversed(range(len(moments.levels))):
        answers = moments.levels[level].answers
        item = np.repeat(np.arange(p), answers.n_thresholds)
        values = np.concatenate(moments.levels[level].thresholds)
        theta[moments.cuts[level]] = values * spread[item]
    return theta


def _search(moments: LevelMoments, weights: Sequence[Floats], n: int) -> tuple[Floats, bool]:
    """The free parameters with the least weighted squares, and whether it is a minimum.

    Gauss and Newton's steps with Levenberg's damping. `weights` are those of the loss.
    """
    roots = [np.sqrt(own) for own in weights]
    observed = [moments.observed(level) for level in range(len(roots))]

    def misfit(theta: Floats) -> tuple[Floats, Floats]:
        parts = [moments.implied(theta, level) for level in range(len(roots))]
        gaps = [r * (own - at) for r, own, (at, _) in zip(roots, observed, parts, strict=True)]
        slopes = [r[:, None] * slope for r, (_, slope) in zip(roots, parts, strict=True)]
        return np.concatenate(gaps), np.vstack(slopes)

    theta, damping, left = _start(moments), 1e-3, math.inf
    gaps, slopes = misfit(theta)
    for _ in range(_STEPS):
        scale = np.sqrt(np.maximum((slopes**2).sum(axis=0), 1e-300))
        scaled = slopes / scale
        product, pull = scaled.T @ scaled, scaled.T @ gaps
        try:
            factor = scipy.linalg.cho_factor(product + damping * np.eye(len(theta)))
            step = np.asarray(scipy.linalg.cho_solve(factor, pull))
        except scipy.linalg.LinAlgError:
            step = np.linalg.lstsq(product + damping * np.eye(len(theta)), pull, rcond=1e-11)[0]
        left = n * float(step @ pull)
        proposed, new_slopes = misfit(theta + step / scale)
        if proposed @ proposed <= (gaps @ gaps) * (1 + 1e-14):
            theta, gaps, slopes = theta + step / scale, proposed, new_slopes
            if left < _SETTLED and damping < 1e-6:
                break
            damping = damping / 10 if damping > 1e-9 else 0.0
        else:
            if left < _SETTLED or damping > _TOO_DAMPED:
                break
            damping = max(10 * damping, 1e-6)
    return theta, bool(left < 1e-6)


# The end of the search, and the parts of tests.


@dataclass(frozen=True, eq=False)
class GroupedFit:
    """The end of the search, with what tests and standard errors are made of.

    Arrays stand level by level; q is the number of free parameters.
    """

    answers: LevelAnswers
    moments: LevelMoments
    theta: Floats  # (q,): those of the table, then thresholds
    converged: bool

    @property
    def rows(self) -> tuple[Floats, ...]:
        """As of the answers."""
        return self.answers.rows

    @property
    def weights(self) -> tuple[Floats, ...]:
        """As of the answers."""
        return self.answers.weights

    @property
    def sizes(self) -> list[int]:
        """Rows of each level."""
        return [level.answers.n for level in self.answers.levels]

    @property
    def n(self) -> int:
        """Rows of all levels."""
        return sum(self.sizes)

    @property
    def too_few(self) -> bool:
        """Never, as such levels are refused."""
        return False

    @cached_property
    def parts(self) -> list[tuple[Floats, Floats]]:
        """Residuals and slopes of the moments."""
        out = []
        for level in range(len(self.rows)):
            implied, slopes = self.moments.implied(self.theta, level)
            out.append((self.moments.observed(level) - implied, slopes))
        return out

    @property
    def slopes(self) -> Floats:
        """Implied moments of all levels by free parameter: (moments, q)."""
        return np.vstack([slopes for _, slopes in self.parts])

    @property
    def df(self) -> int:
        """Moments less free parameters."""
        return sum(len(residuals) for residuals, _ in self.parts) - len(self.theta)

    @property
    def chi2(self) -> float:
        """Weighted sum of squared residuals times n - 1 of each level; not yet a chi-square."""
        levels = zip(self.sizes, self.weights, self.parts, strict=True)
        return float(sum((n - 1) / n * self.n * (w @ r**2) for n, w, (r, _) in levels))

    @property
    def baseline_chi2(self) -> float:
        """The same where all correlations are 0 and thresholds fit."""
        levels = zip(self.sizes, self.weights, self.answers.levels, strict=True)
        return float(
            sum(
                (n - 1) / n * self.n * (w[-len(at.pair_correlations) :] @ at.pair_correlations**2)
                for n, w, at in levels
            )
        )

    @cached_property
    def undetermined(self) -> tuple[int, ...]:
        """Free parameters the moments say nothing about."""
        return undetermined_parameters(np.sqrt(np.concatenate(self.weights))[:, None] * self.slopes)

    @cached_property
    def _inverse(self) -> Floats:
        levels = zip(self.weights, self.parts, strict=True)
        return np.asarray(np.linalg.inv(sum(d.T @ (w[:, None] * d) for w, (_, d) in levels)))

    def inverse_cross_product(self) -> Floats:
        """Inverse of the weighted cross product of the slopes, (q, q); NaN if undetermined."""
        return np.full((len(self.theta),) * 2, np.nan) if self.undetermined else self._inverse

    @cached_property
    def pulls(self) -> list[Floats]:
        """R of each level, of which R'R add up to D'W Gamma W D."""
        levels = zip(self.sizes, self.rows, self.weights, self.parts, strict=True)
        return [s @ (w[:, None] * d) * math.sqrt(self.n / n) for n, s, w, (_, d) in levels]

    def spread(self) -> Floats:
        """D'W Gamma W D, (q, q)."""
        return np.asarray(sum(pull.T @ pull for pull in self.pulls))

    def covariance(self) -> Floats:
        """Sandwich covariance of the free parameters, (q, q)."""
        inverse = self.inverse_cross_product()
        levels = zip(self.sizes, self.pulls, strict=True)
        middle = sum(n / (n - 1) * pull.T @ pull for n, pull in levels)
        return np.asarray(inverse @ middle @ inverse / self.n)

    def traces(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Traces of U Gamma and of its square, of the model and of the baseline.

        U = W - W D (D'WD)^-1 D'W, made of parts of the size of a level's rows.
        """
        inverse, spread = self.inverse_cross_product(), self.spread()
        trace, squares, base_trace, base_squares = 0.0, 0.0, 0.0, 0.0
        twice = np.zeros(spread.shape)
        levels = zip(self.sizes, self.rows, self.weights, self.answers.levels, strict=True)
        for (n, rows, w, at), pull in zip(levels, self.pulls, strict=True):
            plain = (rows * w) @ rows.T * (self.n / n)
            pairs = slice(-len(at.pair_correlations), None)
            base = (rows[:, pairs] * w[pairs]) @ rows[:, pairs].T * (self.n / n)
            trace, squares = trace + float(np.trace(plain)), squares + float((plain**2).sum())
            base_trace += float(np.trace(base))
            base_squares += float((base**2).sum())
            twice += pull.T @ plain @ pull
        within = inverse @ spread
        trace -= float(np.trace(within))
        squares += float((within * within.T).sum()) - 2 * float((inverse * twice).sum())
        return (trace, squares), (base_trace, base_squares)


def _fit(answers: LevelAnswers, moments: LevelMoments) -> GroupedFit:
    """The end of the search for the parameters."""
    sizes = [level.answers.n for level in answers.levels]
    loss = [(n - 1) / n * own for n, own in zip(sizes, answers.weights, strict=True)]
    theta, converged = _search(moments, loss, sum(sizes))
    return GroupedFit(answers, moments, theta, converged)


# Score tests of what is held equal.


def _release_indices(fit: GroupedFit) -> tuple[ModificationIndex, ...]:
    """Score test of every equality, if one level had its own value; largest first.

    Not corrected for ordered answers, as `_weighted_modification_indices`. Of parameters that are
    fixed alike everywhere, those that equality alone fixes count: intercepts and residual
    variances.
    """
    if fit.undetermined or not fit.converged:
        return ()
    table, q = fit.moments.structure.table, fit.moments.structure.table.n_free
    levels_of: dict[int, set[int]] = {}
    for p in table.parameters:
        levels_of.setdefault(p.free, set()).add(p.group)
    out: list[ModificationIndex] = []
    inverse = fit.inverse_cross_product()
    for level, (w, (residuals, slopes)) in enumerate(zip(fit.weights, fit.parts, strict=True)):
        own = [
            p
            for p in table.parameters
            if p.group == level
            and (len(levels_of[p.free]) > 1 if p.is_free else _held_at_value(p, table))
        ]
        at = fit.moments.structure.matrices(fit.theta[:q], level)
        cut_slopes = slopes[:, fit.moments.cuts[level]]
        changes, parameters = [np.zeros((len(residuals), 0))], []
        if own:
            d = fit.moments.structure.candidates(at, fit.moments.structure.cells(own))
            n_cuts = len(fit.moments.cuts[level])
            thresholds = (fit.moments.observed(level) - residuals)[:n_cuts]
            changes, parameters = [fit.moments.changes(at, d, thresholds, level)], list(own)
        shared = [
            k
            for k, number in enumerate(fit.moments.cuts[level])
            if sum(number in cuts for cuts in fit.moments.cuts) > 1
        ]
        changes.append(cut_slopes[:, shared])
        names = fit.moments.threshold_names()
        parameters += [Parameter(level, *names[k], 0, math.nan) for k in shared]
        new = np.hstack(changes)
        cross = (w[:, None] * new).T @ slopes
        information = (new**2).T @ w
        left = information - np.sum((cross @ inverse) * cross, axis=1)
        n = fit.sizes[level]
        slope = (n - 1) / n * new.T @ (w * residuals)
        identified = np.flatnonzero(left > NO_INFORMATION * np.maximum(information, 1e-300))
        out += modification_rows(
            [parameters[r] for r in identified],
            fit.n * slope[identified] ** 2 / left[identified],
            n / (n - 1) * slope[identified] / left[identified],
            _Scale(table, at),
        )
    return tuple(sorted(out, key=lambda each: -each.index))


def _held_at_value(p: Parameter, table: ParameterTable) -> bool:
    """Whether a parameter of an item is fixed at every level, and by equality if by anything."""
    if p.left not in table.items or (p.op == COVARIANCE and (p.left != p.right or p.value != 1)):
        return False
    names = (p.left, p.op, p.right)
    same = [o for o in table.parameters if (o.left, o.op, o.right) == names]
    return p.op != LOADING and not any(other.is_free for other in same)


class _Scale(Standardizer):
    """A Standardizer that knows thresholds, which are in the unit of their item."""

    def multiplier(self, p: Parameter) -> float:
        """The factor of one parameter."""
        if p.op == THRESHOLD:
            return 1 / self.whole[self.place[p.left]]
        return super().multiplier(p)


# From levels to a fitted model.


@dataclass(frozen=True, eq=False)
class OrderedStep:
    """One step: what is reported of it, and what difference tests take."""

    result: CfaResult
    fit: GroupedFit


def fit_ordered_levels(
    levels: OrderedLevels,
    *,
    equal: frozenset[str] = frozenset(),
    partial: Partial = frozenset(),
    ci_level: float = 0.95,
) -> OrderedStep:
    """A model of ordered answers at all levels, with some parameters held equal.

    Parameters
    ----------
    levels : OrderedLevels
        Answers and model.
    equal : set of str
        Of "thresholds", "loadings", "intercepts" and "residuals".
    partial : set of (left, op, right)
        Exceptions, such as ("F", "=~", "x2"), ("x2", "~1", ""), ("x2", "|", "t1"),
        ("x2", "~~", "x2").
    ci_level : float in (0, 1)
        Coverage of the intervals of parameters.

    Returns
    -------
    OrderedStep
        `result.scaled` is the test to report. `parameters` end with the thresholds.

    Notes
    -----
    Diagonally weighted least squares of thresholds and polychoric correlations, with the scaled and
    shifted test of Asparouhov & Muthen (2010), as of `fit_wlsmv`. Theta parameterization, factors
    of variance 1 at the first level, constraints after Wu & Estabrook (2016
    doi:10.1007/s11336-016-9506-0): with three options or more thresholds, then loadings, then
    intercepts can be tested; of items with two options they can be tested only together, so that
    the first of these steps leave them as they are. Checked against lavaan 0.6-14.

    Examples
    --------
    lavaan 0.6-14 (R), cfa(ordered = TRUE, parameterization = "theta").

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> from core.stats.factor.ordered_levels import ordered_levels
    >>> groups = {"first": scores, "second": scores[:48]}
    >>> step = fit_ordered_levels(ordered_levels(groups, list("abcd"), "F =~ a + b + c + d"))
    >>> step.result.fit.df
    4
    """
    fit = _fit(levels.answers, levels.moments(equal, partial))
    return OrderedStep(_result(levels, fit, check_level(ci_level)), fit)


def _result(levels: OrderedLevels, fit: GroupedFit, ci_level: float) -> CfaResult:
    """Everything reported about a fitted model."""
    structure = fit.moments.structure
    table, q = structure.table, structure.table.n_free
    covariance = fit.covariance()
    of_table = covariance[:q, :q]
    standardized = standardized_estimates(structure, fit.theta[:q], of_table, ci_level)
    matrices = [structure.matrices(fit.theta[:q], level) for level in range(table.n_groups)]
    raw = raw_estimates(
        replace(table, parameters=(*table.parameters, *fit.moments.thresholds())),
        fit.theta,
        covariance,
        ci_level,
    )
    impossible = matrix_problems(matrices, table.items, table.factors, fit.answers.names)
    doubtful = [*impossible, *(error_problems(raw, standardized) if fit.converged else [])]
    if not fit.converged:
        doubtful.insert(0, _NOT_CONVERGED)
    elif fit.undetermined:
        doubtful.insert(0, NOT_IDENTIFIED)
    plain, scaled = _tests(fit)
    return CfaResult(
        estimator="WLSMV",
        missing=levels.missing,
        items=table.items,
        factors=table.factors,
        dropped_items=levels.dropped,
        n=fit.n,
        n_given=levels.n_given,
        n_free=len(fit.theta),
        converged=fit.converged,
        admissible=bool(fit.converged and not fit.undetermined and not impossible),
        fit=plain,
        scaled=scaled,
        robust=None,
        srmr=_srmr(fit) if fit.converged else math.nan,
        log_likelihood=math.nan,
        aic=math.nan,
        bic=math.nan,
        adjusted_bic=math.nan,
        scaling_h0=math.nan,
        scaling_h1=math.nan,
        parameters=raw,
        standardized=standardized,
        modification_indices=(),
        groups=tuple(_group(fit, matrices[level], level) for level in range(table.n_groups)),
        table=table,
        theta=fit.theta,
        covariance=covariance,
        problems=(*fit.answers.problems, *doubtful),
        release_indices=_release_indices(fit),
        option_scores=fit.answers.option_scores,
    )


def _tests(fit: GroupedFit) -> tuple[FitIndices, FitIndices | None]:
    """The plain statistic, taken for a chi-square, and the scaled and shifted one."""
    baseline_df = sum(len(level.pair_correlations) for level in fit.answers.levels)
    if not fit.converged or fit.undetermined:
        return undefined_indices(fit.df, baseline_df), None
    n_levels = len(fit.sizes)
    x = ChiSquares(fit.chi2, fit.df, fit.baseline_chi2, baseline_df, fit.n - n_levels, n_levels)
    if not fit.df > 0:
        return plain_indices(x), None
    model, baseline = fit.traces()
    n_moments = len(fit.slopes)
    corrections = (
        scale_and_shift(*traces, n_moments, df)
        for traces, df in ((model, fit.df), (baseline, baseline_df))
    )
    return plain_indices(x), scaled_and_shifted(x, *corrections)


def _srmr(fit: GroupedFit) -> float:
    """Typical residual correlation, the diagonal counted, levels weighted by their rows."""
    p, total = len(fit.answers.items), 0.0
    for n, level, (residuals, _) in zip(fit.sizes, fit.answers.levels, fit.parts, strict=True):
        squares = residuals[-len(level.pair_correlations) :] ** 2
        total += n / fit.n * math.sqrt(float(squares.sum()) / (len(squares) + p))
    return total


def _group(fit: GroupedFit, at: Matrices, level: int) -> GroupFit:
    """Observed and implied correlations of a level."""
    observed = fit.answers.levels[level].correlations
    implied = correlations_of_covariance(at.covariance)
    residuals = np.diag(at.residuals) / np.diag(at.covariance)
    return GroupFit(
        name=fit.answers.names[level],
        n=fit.sizes[level],
        sample_covariance=observed,
        implied_covariance=implied,
        residual_correlations=observed - implied,
        factor_correlations=correlations_of_covariance(at.factor_covariance),
        residual_variances=residuals,
        r_squared=explained_shares(residuals, np.ones(len(observed))),
    )
