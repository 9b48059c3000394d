"""One measurement model of ordered answers at several levels, with equal parameters (WLSMV)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from core.errors import NotEnoughData
from core.stats.factor.cfa import NO_INFORMATION, modification_rows
from core.stats.factor.estimation import start_values
from core.stats.factor.fit_indices import ChiSquares, plain_indices, undefined_indices
from core.stats.factor.likelihood import GroupData
from core.stats.factor.model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    Derivatives,
    Matrices,
    Parameter,
    ParameterTable,
    ParsedModel,
    Structure,
    Term,
    with_defaults,
)
from core.stats.factor.model_text import MANY_ITEMS, check_memory, model_scores, read_model
from core.stats.factor.result import (
    NOT_CONVERGED,
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
    LEAST_VARIANCE,
    THRESHOLD,
    scale_and_shift,
    scaled_and_shifted,
    undetermined_parameters,
)
from core.stats.inputs import Floats, Integers, PairRule, check_level, name_list, select_usable
from core.stats.ordered.answer_options import Offered, ordered_items
from core.stats.ordered.polychoric import OrderedAnswers, Polychoric, ordered_moments, polychoric

# The parameters of ordered answers at several levels, after Wu & Estabrook (2016).
#
# Behind each answer stands a normal variable that thresholds cut into options. In the theta
# parameterization its residual variance is a parameter: 1 at the first level, and at the others as
# soon as equal thresholds give the variable its unit there; its intercept is 0 at the first level,
# and free at the others until intercepts are to be equal. Lavaan's delta parameterization has the
# same fit, but no residual variance that could be held equal.

Partial = frozenset[tuple[str, str, str]]


@dataclass(frozen=True)
class _Equalities:
    """What is held equal across levels in one step."""

    model: ParsedModel
    n_thresholds: Mapping[str, int]
    equal: frozenset[str]
    partial: Partial

    def anchors(self, item: str) -> int:
        """Number of thresholds of an item that are held equal."""
        if "thresholds" not in self.equal:
            return 0
        names = (f"t{number + 1}" for number in range(self.n_thresholds[item]))
        return sum((item, THRESHOLD, name) not in self.partial for name in names)

    def alone(self, item: str) -> bool:
        """Whether an item is the only one of its factor, which then has no error."""
        factors = [t.left for t in self.model.terms if t.op == LOADING and t.right == item]
        return any(self.model.indicators(factor) == (item,) for factor in factors)

    def loading(self, factor: str, right: str) -> bool:
        """Whether a loading is held equal.

        An item with one equal threshold, such as one of two options, has no unit of its own: its
        loading can be compared only together with its intercept.
        """
        if "loadings" not in self.equal or (factor, LOADING, right) in self.partial:
            return False
        if right in self.model.factors:
            return self.linked(right)
        return self.anchors(right) >= 2 or "intercepts" in self.equal

    def linked(self, factor: str) -> bool:
        """Whether a loading that is held equal gives a factor the same unit at all levels."""
        return any(self.loading(factor, right) for right in self.model.indicators(factor))

    def intercept(self, item: str) -> bool:
        """Whether the intercept of an item is held equal."""
        return "intercepts" in self.equal and (item, INTERCEPT, "") not in self.partial

    def frees(self, term: Term) -> bool:
        """Whether a parameter that is fixed at the first level is free at the others."""
        name, indicators = term.left, self.model.indicators(term.left)
        if term.op == COVARIANCE and term.left == term.right:
            if name in self.model.factors:
                single = len(indicators) == 1 and indicators[0] in self.model.items
                return self.anchors(indicators[0]) >= 2 if single else self.linked(name)
            if "residuals" in self.equal and (name, COVARIANCE, name) not in self.partial:
                return False
            factors = [t.left for t in self.model.terms if t.op == LOADING and t.right == name]
            scaled = "intercepts" in self.equal and any(self.loading(f, name) for f in factors)
            return not self.alone(name) and (self.anchors(name) >= 2 or scaled)
        if term.op == INTERCEPT and name in self.model.items:
            return self.anchors(name) >= 1 and not self.intercept(name)
        return term.op == INTERCEPT and any(
            item in self.model.items and self.anchors(item) and self.intercept(item)
            for item in indicators
        )


def ordered_table(
    model: ParsedModel,
    n_thresholds: Mapping[str, int],
    n_groups: int,
    equal: frozenset[str],
    partial: Partial,
) -> ParameterTable:
    """Parameters of the normal variables behind ordered answers, without the thresholds.

    Factors have variance 1 at the first level. `equal` holds "thresholds", "loadings", "intercepts"
    and "residuals".

    Examples
    --------
    By hand: three loadings; then at the second level three intercepts and three residual variances.

    >>> from core.stats.factor.model_text import parse_model
    >>> options, model = dict.fromkeys("abc", 3), parse_model("F =~ a + b + c")
    >>> steps = [frozenset(), frozenset({"thresholds"})]
    >>> [ordered_table(model, options, 2, step, frozenset()).n_free for step in steps]
    [6, 12]
    """
    held = _Equalities(model, n_thresholds, equal, partial)
    written = {(t.left, t.op, t.right) for t in model.terms}
    numbers: dict[object, int] = {}
    rows: list[Parameter] = []
    for group in range(n_groups):
        for term in with_defaults(model, "std.lv", means=True, ordered=False):
            names, fixed = (term.left, term.op, term.right), term.fixed
            own_variance = term.op == COVARIANCE and term.left == term.right
            if names not in written:
                if term.left in model.items and (own_variance or term.op == INTERCEPT):
                    fixed = float(own_variance and not held.alone(term.left))
                if fixed is not None and group and held.frees(term):
                    fixed = None
            if term.op == LOADING and held.alone(term.right):
                fixed = 1.0
            free, value = -1, math.nan if fixed is None else fixed
            if fixed is None:
                shared = term.op == LOADING and held.loading(term.left, term.right)
                key = term.label or (0 if shared else group, *names)
                free = numbers.setdefault(key, len(numbers))
            rows.append(Parameter(group, *names, free, value, term.label or ""))
    return ParameterTable(model.items, model.factors, tuple(rows), n_groups, means=True)


# Answers with the same options at every level.


@dataclass(frozen=True, eq=False)
class _Answers:
    """The polychoric correlations of each level, of the same items and options."""

    names: tuple[str, ...]
    items: tuple[str, ...]
    levels: tuple[Polychoric, ...]
    rows: tuple[Floats, ...]  # S with S'S = covariance of the moments of the level, times n
    weights: tuple[Floats, ...]  # share of the level in n, over the variance of the moment
    option_scores: tuple[tuple[float, ...], ...]  # mean score of each option of each item
    problems: tuple[str, ...]


def _prepared(
    scores: Mapping[str, Floats],
    items: Sequence[str],
    missing: PairRule,
    offered: Sequence[Offered] | None,
) -> _Answers:
    """Items that vary at every level, with options that somebody chose at every level."""
    matrices = list(scores.values())
    ordered_items(np.vstack(matrices), items, offered)
    left, notes = list(items), list[str]()
    while True:
        places = [items.index(item) for item in left]
        own = [matrix[:, places] for matrix in matrices]
        usable = select_usable(own, left, "listwise" if missing == "listwise" else "available")
        names = [left[column] for column in usable.columns.tolist()]
        notes += [problem for problem in usable.problems if problem not in notes]
        parts = [m[np.ix_(r, usable.columns)] for m, r in zip(own, usable.rows, strict=True)]
        if len(names) < 2 or min(map(len, parts)) < 2:
            raise NotEnoughData(
                " ".join([f"{len(names)} items vary at every level.", *notes]),
                "Add items or administrations.",
            )
        joined = [_joined(column, names[k]) for k, column in enumerate(_columns(parts))]
        constant = [name for name, (codes, _) in zip(names, joined, strict=True) if not codes]
        if not constant:
            break
        left = [name for name in names if name not in constant]
        notes.append(
            "Left out, as no two options were chosen at every level: " + name_list(constant) + "."
        )
    notes += [note for _, note in joined if note]
    levels = []
    for number, (level, part) in enumerate(zip(scores, parts, strict=True)):
        if len(part) <= len(names):
            raise NotEnoughData(
                f"There are {len(part)} usable rows for {len(names)} items at {level}.",
                "Ask more administrations, or fewer items.",
            )
        numbered = np.column_stack([codes[number] for codes, _ in joined])
        levels.append(polychoric(numbered, names, missing=missing))
        notes += [f"{level}: {problem}" for problem in levels[-1].problems]
    rows = [_rows(level, name) for level, name in zip(levels, scores, strict=True)]
    n = sum(map(len, parts))
    weights = tuple(
        len(part) / n / np.einsum("np,np->p", own, own)
        for part, own in zip(parts, rows, strict=True)
    )
    points = []
    for column, (codes, _) in zip(_columns(parts), joined, strict=True):
        numbers, given = np.concatenate(codes), np.concatenate(column)
        options = np.unique(numbers[np.isfinite(numbers)])
        points.append(tuple(float(given[numbers == code].mean()) for code in options))
    return _Answers(
        tuple(scores),
        tuple(names),
        tuple(levels),
        tuple(rows),
        weights,
        tuple(points),
        tuple(notes),
    )


def _rows(level: Polychoric, name: str) -> Floats:
    """What rows contribute to thresholds and correlations; fewer with the same products.

    Raises
    ------
    NotEnoughData
        A pair has no correlation, or one without sampling variance.
    """
    if np.isnan(level.pair_correlations).any():
        raise NotEnoughData(
            f"Some pairs of items have no correlation at {name}. " + " ".join(level.problems),
            "Leave these items out.",
        )
    contributed = ordered_moments(level)
    every = np.hstack([contributed.thresholds, contributed.correlations])
    every /= math.sqrt(level.answers.n)
    if not (np.einsum("np,np->p", every, every) > LEAST_VARIANCE).all():
        raise NotEnoughData(
            f"Some correlations do not vary over samples at {name}, because two items are "
            "answered alike. " + " ".join(level.problems),
            "Leave one item of each such pair out.",
        )
    return every if len(every) <= every.shape[1] else np.asarray(np.linalg.qr(every, mode="r"))


def _columns(parts: Sequence[Floats]) -> list[list[Floats]]:
    """The answers to each item, level by level."""
    return [[part[:, column] for part in parts] for column in range(parts[0].shape[1])]


def _joined(levels: list[Floats], name: str) -> tuple[list[Floats], str]:
    """Answers to an item counted from 0 over options that every level chose, and a note.

    An option that nobody at some level chose is joined with its neighbor of fewer answers. No codes
    where one option would be left.
    """
    whole = np.round(np.concatenate(levels), 9)
    options = [[value] for value in np.unique(whole[np.isfinite(whole)]).tolist()]
    counts = np.array(
        [[np.count_nonzero(np.round(part, 9) == o[0]) for o in options] for part in levels]
    )
    notes: list[str] = []
    while len(options) > 1 and (counts == 0).any():
        empty = int(np.argmin(counts.min(axis=0)))
        total = counts.sum(axis=0)
        sides = [k for k in (empty - 1, empty + 1) if 0 <= k < len(options)]
        other = min(sides, key=lambda k: total[k])
        low, high = sorted((empty, other))
        notes.append(f"{options[empty][0]:g} with {options[other][0]:g}")
        options[low] += options.pop(high)
        counts[:, low] += counts[:, high]
        counts = np.delete(counts, high, axis=1)
    if len(options) < 2:
        return [], ""
    code = {value: float(k) for k, joined in enumerate(options) for value in joined}
    codes = [
        np.array([code.get(value, math.nan) for value in np.round(part, 9).tolist()])
        for part in levels
    ]
    why = "options that nobody at some level chose are joined with a neighbor"
    return codes, f"{name}: {why}: {', '.join(notes)}." if notes else ""


# Thresholds and correlations as the parameters imply them, and the search for the parameters.

_SETTLED = 1e-12  # a further step would lower n times the loss by less
_STEPS = 300
_TOO_DAMPED = 1e10
_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments of each level, thresholds before correlations, as functions of the parameters.

    `cuts` say which free parameter each threshold of a level is; those of the table come first.
    """

    structure: Structure
    levels: tuple[Polychoric, ...]
    cuts: tuple[Integers, ...]
    n_free: int

    def threshold_names(self) -> list[tuple[str, str, str]]:
        """Every threshold of a level as a parameter."""
        pairs = zip(self.levels[0].names, self.levels[0].thresholds, strict=True)
        return [(item, THRESHOLD, f"t{k + 1}") for item, cuts in pairs for k in range(len(cuts))]

    def thresholds(self) -> list[Parameter]:
        """The thresholds of all levels."""
        return [
            Parameter(level, *name, number, math.nan)
            for level, cuts in enumerate(self.cuts)
            for name, number in zip(self.threshold_names(), cuts.tolist(), strict=True)
        ]

    def observed(self, level: int) -> Floats:
        """The thresholds and correlations of a level."""
        at = self.levels[level]
        return np.concatenate([*at.thresholds, at.pair_correlations])

    def implied(self, theta: Floats, level: int) -> tuple[Floats, Floats]:
        """Thresholds and correlations that the parameters imply, and their slopes (moments, q)."""
        q, answers, cuts = self.structure.table.n_free, self.levels[level].answers, self.cuts[level]
        at = self.structure.matrices(theta[:q], level)
        d = self.structure.derivatives(theta[:q], level)
        item = np.repeat(np.arange(len(answers.names)), answers.n_thresholds)
        spread = _spread(at.covariance)
        thresholds = (theta[cuts] - at.means[item]) / spread[item]
        slopes = np.zeros((len(item) + len(answers.pairs()[0]), self.n_free))
        slopes[:, :q] = self.changes(at, d, thresholds, level) @ d.incidence
        slopes[np.arange(len(item)), cuts] = 1 / spread[item]
        return np.concatenate([thresholds, _pair_correlations(at.covariance, answers)]), slopes

    def changes(self, at: Matrices, d: Derivatives, thresholds: Floats, level: int) -> Floats:
        """Moments of a level by cells of the model: (moments, r).

        Both are in standard deviations, which move with the cells too.
        """
        answers, spread = self.levels[level].answers, _spread(at.covariance)
        first, second = answers.pairs()
        item = np.repeat(np.arange(len(answers.names)), answers.n_thresholds)
        relative = d.left * d.right / (spread**2)[:, None]
        by_cut = -d.mean[item] / spread[item][:, None] - thresholds[:, None] * relative[item]
        by_pair = d.left[first] * d.right[second] + d.right[first] * d.left[second]
        by_pair /= (spread[first] * spread[second])[:, None]
        correlations = _pair_correlations(at.covariance, answers)[:, None]
        by_pair -= correlations * (relative[first] + relative[second])
        return np.vstack([by_cut, by_pair])


def _spread(covariance: Floats) -> Floats:
    """Standard deviations; variances below 0 on the way of the search count as tiny."""
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), _TINY)))


def _pair_correlations(covariance: Floats, answers: OrderedAnswers) -> Floats:
    """Implied correlation of each pair of items."""
    first, second = answers.pairs()
    spread = _spread(covariance)
    return np.asarray(covariance[first, second] / (spread[first] * spread[second]))


def _moments(
    table: ParameterTable, answers: _Answers, equal: frozenset[str], partial: Partial
) -> _Moments:
    """The moments with thresholds numbered behind the parameters of the table."""
    numbers: dict[object, int] = {}
    cuts = []
    for level, fitted in enumerate(answers.levels):
        own = []
        for item, values in zip(answers.items, fitted.thresholds, strict=True):
            for k in range(len(values)):
                names = (item, THRESHOLD, f"t{k + 1}")
                shared = "thresholds" in equal and names not in partial
                key = (0 if shared else level, *names)
                own.append(table.n_free + numbers.setdefault(key, len(numbers)))
        cuts.append(np.array(own, dtype=np.int64))
    return _Moments(Structure(table), answers.levels, tuple(cuts), table.n_free + len(numbers))


def _start(moments: _Moments) -> Floats:
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
    spread = _spread(moments.structure.matrices(theta[: table.n_free], 0).covariance)
    for level in reversed(range(len(moments.levels))):
        answers = moments.levels[level].answers
        item = np.repeat(np.arange(p), answers.n_thresholds)
        values = np.concatenate(moments.levels[level].thresholds)
        theta[moments.cuts[level]] = values * spread[item]
    return theta


def _search(moments: _Moments, weights: Sequence[Floats], n: int) -> tuple[Floats, bool]:
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
            factor = cho_factor(product + damping * np.eye(len(theta)))
            step = np.asarray(cho_solve(factor, pull))
        except LinAlgError:
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

    answers: _Answers
    moments: _Moments
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


def _fit(answers: _Answers, moments: _Moments) -> GroupedFit:
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


# From scores to a fitted model.


@dataclass(frozen=True, eq=False)
class OrderedLevels:
    """The answers of all levels, ready to be fitted, with the model of their items."""

    answers: _Answers
    model: ParsedModel
    missing: PairRule
    n_given: int
    dropped: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The levels."""
        return self.answers.names

    @property
    def items(self) -> tuple[str, ...]:
        """Items that vary at every level."""
        return self.answers.items

    @property
    def option_scores(self) -> tuple[tuple[float, ...], ...]:
        """Mean score of each option of each item; the options of a row are its places here."""
        return self.answers.option_scores

    def numbered(self) -> list[Floats]:
        """Answers of the rows used, counted from 0, level by level; NaN where there is none."""
        return [
            np.where(level.answers.codes < 0, np.nan, level.answers.codes)
            for level in self.answers.levels
        ]

    def scores(self) -> list[Floats]:
        """The same as mean scores of the options."""
        out = []
        for numbers in self.numbered():
            columns = zip(numbers.T, self.option_scores, strict=True)
            out.append(
                np.column_stack(
                    [
                        np.append(own, np.nan)[np.nan_to_num(c, nan=-1).astype(int)]
                        for c, own in columns
                    ]
                )
            )
        return out

    def moments(self, equal: frozenset[str], partial: Partial) -> _Moments:
        """The moments of a step by its parameters."""
        cuts = self.answers.levels[0].thresholds
        counts = {item: len(own) for item, own in zip(self.items, cuts, strict=True)}
        table = ordered_table(self.model, counts, len(self.names), equal, partial)
        return _moments(table, self.answers, equal, partial)


@dataclass(frozen=True, eq=False)
class OrderedStep:
    """One step: what is reported of it, and what difference tests take."""

    result: CfaResult
    fit: GroupedFit


def ordered_levels(
    scores: Mapping[str, Floats],
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    missing: PairRule = "listwise",
    offered: Sequence[Offered] | None = None,
) -> OrderedLevels:
    """Polychoric correlations of the same items and options at every level.

    Parameters
    ----------
    scores : mapping
        Name of the level to its (n, p) ordered scores, NaN where missing.
    items, model, missing, offered
        As for `fit_wlsmv`.

    Raises
    ------
    NotEnoughData
        Fewer than two items vary at every level, a level has no more rows than items, or scores are
        no ordered answers.
    TooLarge
        So many items that the tests would take more memory than the limit of `check_memory`.

    Notes
    -----
    An option that nobody at some level chose is joined with its neighbor of fewer answers, at all
    levels, as thresholds can be equal only where there are as many; a note names it.

    Examples
    --------
    >>> rows = np.array([[1.0, 2], [2, 1], [3, 3], [1, 1], [2, 3]])
    >>> fewer = np.array([[1.0, 2], [2, 1], [2, 3], [1, 1], [2, 3]])
    >>> levels = ordered_levels({"x": rows, "y": fewer}, ["a", "b"], "F =~ a + b")
    >>> [len(cuts) for cuts in levels.answers.levels[0].thresholds]
    [1, 2]
    """
    parsed = read_model(model, items)
    matrices = {level: model_scores(rows, items, parsed) for level, rows in scores.items()}
    most = max((len(np.unique(rows[np.isfinite(rows)])) for rows in matrices.values()), default=2)

    def cells(p: int) -> float:
        moments = len(matrices) * (p * (p - 1) / 2 + p * most)
        free = len(matrices) * p * (most + 2)
        return 4 * moments * free + max(map(len, matrices.values())) * p * (p - 1)

    check_memory(len(parsed.items), cells, MANY_ITEMS)
    options = None if offered is None else dict(zip(items, offered, strict=True))
    known = None if options is None else [options[item] for item in parsed.items]
    answers = _prepared(matrices, parsed.items, missing, known)
    dropped = tuple(item for item in parsed.items if item not in answers.items)
    usable = parsed.without(frozenset(dropped))
    if not usable.factors:
        raise NotEnoughData(
            " ".join(["No factor has an item left.", *answers.problems]), "Add items."
        )
    return OrderedLevels(answers, usable, missing, sum(map(len, matrices.values())), dropped)


def ordered_parameters(
    levels: OrderedLevels, equal: frozenset[str], partial: Partial
) -> tuple[Parameter, ...]:
    """All parameters of a step, thresholds last; those held equal have the same number.

    Examples
    --------
    By hand: at each of two levels a loading, an intercept and a residual variance of each item,
    variance and mean of the factor, and three thresholds.

    >>> rows = np.array([[1.0, 2], [2, 1], [3, 3], [1, 1], [2, 3]])
    >>> fewer = np.array([[1.0, 2], [2, 1], [2, 3], [1, 1], [2, 3]])
    >>> levels = ordered_levels({"x": rows, "y": fewer}, ["a", "b"], "F =~ a + b")
    >>> len(ordered_parameters(levels, frozenset(), frozenset()))
    22
    """
    moments = levels.moments(equal, partial)
    return (*moments.structure.table.parameters, *moments.thresholds())


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
    impossible = matrix_problems(matrices, table.items, table.factors, fit.answers.names)
    doubtful = [*impossible, *(error_problems(standardized) if fit.converged else [])]
    if not fit.converged:
        doubtful.insert(0, NOT_CONVERGED)
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
        parameters=raw_estimates(
            replace(table, parameters=(*table.parameters, *fit.moments.thresholds())),
            fit.theta,
            covariance,
            ci_level,
        ),
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
