"""Ordered answers at several levels: their options, parameters, and the moments these imply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import NotEnoughData
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
from core.stats.factor.wlsmv import (
    LEAST_VARIANCE,
    THRESHOLD,
)
from core.stats.inputs import Floats, Integers, PairRule, name_list, select_usable
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
class LevelAnswers:
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
) -> LevelAnswers:
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
    return LevelAnswers(
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


# Thresholds and correlations as the parameters imply them.

_TINY = 1e-6


@dataclass(frozen=True, eq=False)
class LevelMoments:
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
        spread = spreads(at.covariance)
        thresholds = (theta[cuts] - at.means[item]) / spread[item]
        slopes = np.zeros((len(item) + len(answers.pairs()[0]), self.n_free))
        slopes[:, :q] = self.changes(at, d, thresholds, level) @ d.incidence
        slopes[np.arange(len(item)), cuts] = 1 / spread[item]
        return np.concatenate([thresholds, _pair_correlations(at.covariance, answers)]), slopes

    def changes(self, at: Matrices, d: Derivatives, thresholds: Floats, level: int) -> Floats:
        """Moments of a level by cells of the model: (moments, r).

        Both are in standard deviations, which move with the cells too.
        """
        answers, spread = self.levels[level].answers, spreads(at.covariance)
        first, second = answers.pairs()
        item = np.repeat(np.arange(len(answers.names)), answers.n_thresholds)
        relative = d.left * d.right / (spread**2)[:, None]
        by_cut = -d.mean[item] / spread[item][:, None] - thresholds[:, None] * relative[item]
        by_pair = d.left[first] * d.right[second] + d.right[first] * d.left[second]
        by_pair /= (spread[first] * spread[second])[:, None]
        correlations = _pair_correlations(at.covariance, answers)[:, None]
        by_pair -= correlations * (relative[first] + relative[second])
        return np.vstack([by_cut, by_pair])


def spreads(covariance: Floats) -> Floats:
    """Standard deviations; variances below 0 on the way of the search count as tiny."""
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), _TINY)))


def _pair_correlations(covariance: Floats, answers: OrderedAnswers) -> Floats:
    """Implied correlation of each pair of items."""
    first, second = answers.pairs()
    spread = spreads(covariance)
    return np.asarray(covariance[first, second] / (spread[first] * spread[second]))


def level_moments(
    table: ParameterTable, answers: LevelAnswers, equal: frozenset[str], partial: Partial
) -> LevelMoments:
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
    return LevelMoments(Structure(table), answers.levels, tuple(cuts), table.n_free + len(numbers))


# From scores to levels that can be fitted.


@dataclass(frozen=True, eq=False)
class OrderedLevels:
    """The answers of all levels, ready to be fitted, with the model of their items."""

    answers: LevelAnswers
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

    def moments(self, equal: frozenset[str], partial: Partial) -> LevelMoments:
        """The moments of a step by its parameters."""
        cuts = self.answers.levels[0].thresholds
        counts = {item: len(own) for item, own in zip(self.items, cuts, strict=True)}
        table = ordered_table(self.model, counts, len(self.names), equal, partial)
        return level_moments(table, self.answers, equal, partial)


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
