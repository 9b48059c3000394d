"""Contingency tables: chi-square, Cramér's V, and tests that move or resample whole units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import Estimate, Floats, check_level
from core.stats.resampling import (
    Bootstrap,
    ResampledInterval,
    resampled_ratios,
    resampling_problems,
    row_weights,
    unit_intervals,
)

# Chi-square and Cramér's V of one table.
#
# Ours for empty rows and columns, for tables without a margin, and for many tables at once.
# scipy's chi2_contingency and contingency.association agree to 1e-12.

_SMALL_EXPECTED = 5.0
"""Cochran (1954): below it, in more than a fifth of the cells, the chi-square p is doubtful."""
_NOT_CORRECTED = undefined_note(
    "V is not corrected: resamples tell what chance adds, and there are none."
)
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class ChiSquare:
    """Pearson's chi-square of a table of counts.

    `residuals` has the table's shape: how many standard errors each count lies from what
    independence expects, adjusted for the margins; NaN in empty rows and columns. `n` is the sum
    of the table. `problems` say why a number is undefined, or what is doubtful.
    """

    statistic: float
    df: int
    p: float
    n: float
    residuals: Floats
    problems: tuple[str, ...] = ()


def chi_square(table: Floats) -> ChiSquare:
    """Whether groups differ in their shares of categories.

    Parameters
    ----------
    table : (groups, categories)
        Counts, halves possible. Groups and categories without any count are left out.

    Returns
    -------
    ChiSquare : NaN with the reason where fewer than two groups or categories have a count.

    Raises
    ------
    ValueError : the table has not two dimensions, or a count is negative or not finite.

    Notes
    -----
    Pearson (1900) doi:10.1080/14786440009463897, without a correction for continuity. The unit is
    one count; p takes them as independent, which repetitions of one question are not: see
    `unit_permutation_p`. Residuals: Haberman (1973) doi:10.2307/2529686. Agrees with R 4.2.2
    chisq.test(correct = FALSE) and scipy's chi2_contingency to 1e-12.

    Examples
    --------
    chisq.test(correct = FALSE) of R; by hand 50 (20 · 15 - 5 · 10)² / (25 · 25 · 30 · 20).

    >>> result = chi_square(np.array([[20.0, 5], [10, 15]]))
    >>> round(result.statistic, 4), result.df, round(result.p, 6)
    (8.3333, 1, 0.003892)
    """
    counts = _checked_table(table)
    rows, columns = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
    residuals = np.full(counts.shape, np.nan)
    n = float(counts.sum())
    if rows.sum() < 2 or columns.sum() < 2:
        reason = undefined_note("Undefined: all counts are in one category.")
        if rows.sum() < 2:
            reason = undefined_note("Undefined: only one group has counts.")
        if not rows.any():
            reason = undefined_note("Undefined: there is no count.")
        return ChiSquare(math.nan, 0, math.nan, n, residuals, (reason,))
    used = np.ix_(rows, columns)
    observed = counts[used]
    row_shares = observed.sum(axis=1, keepdims=True) / n
    column_shares = observed.sum(axis=0, keepdims=True) / n
    expected = n * row_shares * column_shares
    statistic = float(((observed - expected) ** 2 / expected).sum())
    errors = np.sqrt(expected * (1 - row_shares) * (1 - column_shares))
    residuals[used] = (observed - expected) / errors
    df = (observed.shape[0] - 1) * (observed.shape[1] - 1)
    n_small = int((expected < _SMALL_EXPECTED).sum())
    problems = (
        (
            f"The p of chi-square is doubtful: {n_small} of {expected.size} expected counts are "
            f"below {_SMALL_EXPECTED:g}.",
        )
        if n_small > expected.size / 5 or expected.min() < 1
        else ()
    )
    return ChiSquare(
        statistic, df, float(scipy.stats.chi2.sf(statistic, df)), n, residuals, problems
    )


@dataclass(frozen=True)
class CramersV(Estimate):
    """V as published, with an interval of that of the population, and `corrected` for chance."""

    corrected: float = math.nan


def cramers_v(table: Floats, *, level: float = 0.95) -> CramersV:
    """Cramér's V of a table, with the interval that takes all counts as independent.

    Parameters
    ----------
    table : (groups, categories)
        Counts; see `chi_square`.
    level : float in (0, 1)
        Two-sided coverage of the interval.

    Returns
    -------
    CramersV : V = √(chi-square / (n (k - 1))), 0 to 1, where k is the smaller number of groups or
    categories with a count; `n` is the sum of the table, rounded. `corrected` is `corrected_v`.

    Notes
    -----
    Cramér (1946), Mathematical methods of statistics, p. 282. V of independent variables is above
    0 on average. The interval inverts the noncentral chi-square: Steiger (2004)
    doi:10.1037/1082-989X.9.2.164; its ends are 0 where the statistic is small, so V may lie above
    it. Agrees with scipy's contingency.association and with R's pchisq(ncp = ) to 1e-6.

    Examples
    --------
    By hand: √(8.3333 / 50), of the table of `chi_square`.

    >>> v = cramers_v(np.array([[20.0, 5], [10, 15]]))
    >>> round(v.value, 4), round(v.corrected, 4)
    (0.4082, 0.3864)
    """
    check_level(level)
    test = chi_square(table)
    n = round(test.n)
    method = "Cramér's V; interval by the noncentral chi-square"
    if math.isnan(test.statistic):
        return CramersV(math.nan, level=level, n=n, method=method, problems=test.problems)
    largest = test.n * (_smaller_dimension(_checked_table(table)) - 1)
    tail = (1 - level) / 2
    low, high = (_noncentrality(test.statistic, test.df, q) for q in (1 - tail, tail))
    groups, categories = _dimensions(_checked_table(table))
    return CramersV(
        math.sqrt(test.statistic / largest),
        math.sqrt(low / largest),
        min(math.sqrt(high / largest), 1.0),
        level,
        n,
        method=method,
        problems=test.problems,
        corrected=corrected_v(
            test.statistic / test.n,
            (groups - 1) * (categories - 1) / (test.n - 1) if test.n > 1 else math.nan,
            (groups, categories),
        ),
    )


def corrected_v(square: float, by_chance: float, size: tuple[int, int]) -> float:
    """Cramér's V without what chance adds to it; 0 where chance alone gives as much.

    Parameters
    ----------
    square : float
        Chi-square / n.
    by_chance : float
        What chance adds to it on average: (groups - 1) (categories - 1) / (n - 1) of independent
        answers. NaN where it is unknown.
    size : (int, int)
        Groups and categories with a count.

    Notes
    -----
    Bergsma (2013) doi:10.1016/j.jkss.2012.10.002: each dimension shrinks as well, so that groups
    with nothing in common still have 1. Where answers depend on each other, as those to one item
    do, `by_chance` is that of whole items.

    Examples
    --------
    By hand, for 50 answers in a table of two by two: (1 / 6 - 1 / 49) / (1 - 1 / 49) is .1493.

    >>> round(corrected_v(1 / 6, 1 / 49, (2, 2)) ** 2, 4)
    0.1493
    """
    if math.isnan(by_chance):
        return math.nan
    others = size[1], size[0]
    smaller = min(
        n - 1 - (n - 1) * by_chance / (other - 1) for n, other in zip(size, others, strict=True)
    )
    excess = square - by_chance
    return min(1.0, math.sqrt(excess / smaller)) if excess > 0 and smaller > 0 else 0.0


def _checked_table(table: Floats) -> Floats:
    """The table as floats."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2:
        raise ValueError(f"a table of counts has two dimensions, not {counts.ndim}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("a count is negative or not finite")
    return counts


def _smaller_dimension(counts: Floats) -> int:
    """The number of groups or of categories with a count, whichever is smaller."""
    return min(_dimensions(counts))


def _dimensions(counts: Floats) -> tuple[int, int]:
    """The numbers of groups and of categories with a count."""
    return int((counts.sum(axis=1) > 0).sum()), int((counts.sum(axis=0) > 0).sum())


def _noncentrality(statistic: float, df: int, probability: float) -> float:
    """The noncentrality under which the statistic is this quantile; 0 where there is none."""
    if scipy.stats.chi2.cdf(statistic, df) <= probability:
        return 0.0

    def excess(noncentrality: float) -> float:
        return float(scipy.stats.ncx2.cdf(statistic, df, noncentrality)) - probability

    high = statistic + 10 * math.sqrt(statistic) + 50
    return float(scipy.optimize.brentq(excess, 0.0, high, xtol=1e-10))


# Tables that are sums over units, such as questions: permutation and resampling of whole units.
#
# Answers to one question depend on each other, so that counts of answers are not independent. What
# can be moved is a whole unit: all counts of a question in one group. No library has it.


def unit_permutation_p(counts: Floats, *, n_permutations: int = 2000, seed: int = 0) -> float:
    """The p of chi-square where the groups of each unit are exchanged, whole units at a time.

    Parameters
    ----------
    counts : (units, groups, categories)
        Counts of each unit, such as a question, in each group, such as a language; NaN or 0
        throughout where the unit is not in the group.
    n_permutations : int
        Random permutations.
    seed : int
        The same seed gives the same p.

    Returns
    -------
    float
        Share of permutations, the data as they are among them, whose chi-square is at least that
        of the data. NaN where chi-square is undefined, or no unit can be moved.

    Raises
    ------
    ValueError : the counts have not three dimensions, or one is negative.

    Notes
    -----
    Units that several groups share, as questions of one bank in several languages: under the null
    hypothesis a question's counts could as well be those of another language, so they are exchanged
    among the groups that have the question. Where every unit is in one group only, as words of
    different languages, the groups of whole units are exchanged. The unit of analysis is the unit.
    Phipson & Smyth (2010) doi:10.2202/1544-6115.1585: the data count as one permutation. Checked
    against all permutations of a small table, enumerated in R.
    """
    alone = np.eye(np.shape(counts)[-1])
    return float(unit_permutation_ps(counts, [alone], n_permutations=n_permutations, seed=seed)[0])


def unit_permutation_ps(
    counts: Floats, kinds: Sequence[Floats], *, n_permutations: int = 2000, seed: int = 0
) -> Floats:
    """`unit_permutation_p` of several tables that put categories together, by one permutation.

    Parameters
    ----------
    counts, n_permutations, seed
        As for `unit_permutation_p`.
    kinds : sequence of (categories, kinds)
        For each table, 1 where a category counts as a kind: [[1, 0], [0, 1], [0, 1]] puts the
        second and the third of three together.

    Returns
    -------
    (tables,) p; NaN where chi-square is undefined, or no unit can be moved.

    Examples
    --------
    By hand: of the 16 ways to exchange the groups of four units, only all and none keep them as
    different as they are: p is 2 / 16.

    >>> counts = np.array([[[1.0, 0], [0, 1]]] * 4)
    >>> unit_permutation_ps(counts, [np.eye(2)]).round(1).tolist()
    [0.1]
    """
    table = _checked_units(counts)
    observed = np.array([float(_statistics(table.sum(axis=0)[None] @ kind)[0]) for kind in kinds])
    present = table.sum(axis=2) > 0
    nested = (present.sum(axis=1) <= 1).all()
    move = _tables_of_moved_groups if nested else _tables_of_exchanged_units
    n_as_large = np.zeros(len(kinds))
    if np.isfinite(observed).any():
        bounds = observed * (1 - 1e-10) - 1e-12
        for block in move(table, present, n_permutations, seed):
            n_as_large += [
                (_statistics(block @ kind) >= bound).sum()
                for kind, bound in zip(kinds, bounds, strict=True)
            ]
    p = (1 + n_as_large) / (1 + n_permutations)
    return np.where(np.isfinite(observed), p, np.nan)


def resampled_cramers_v(
    counts: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> CramersV:
    """Cramér's V of the sum of units, with an interval by resampling whole units.

    Parameters
    ----------
    counts : (units, groups, categories)
        As for `unit_permutation_p`.
    level : float in (0, 1)
        Two-sided coverage of the interval.
    bootstrap : Bootstrap, optional
        How many resamples of units; no interval without.

    Returns
    -------
    CramersV : `n` is the number of units with a count. NaN with the reason where V is undefined; no
    interval and no corrected value with one unit. What chance adds is the mean squared length of
    the errors of resamples.

    Notes
    -----
    V is the length of a vector (see `_departures`), which chance makes longer: resamples of groups
    that do not differ lie above V, so that percentiles of V leave 0 out and may leave out V itself.
    So a test is inverted: Carpenter and Bithell (2000), Stat. Med. 19, 1141-1164. The interval has
    each V under which the data are not in an outer tail, where the departures would be those of the
    data made longer or shorter, and their errors those of the resamples, re-centered, and wider as
    t is than the normal distribution. It holds V and, where groups do not differ, 0. In simulations
    with 4 to 30 units, two groups and two categories (half and a tenth of the answers in one), the
    interval of 95 % lies wholly above 0 in 2 to 5 % of studies in which V of the population is 0
    (without t in 4 to 10 %), and holds .15 and .32 in 92 to 97 %.

    Examples
    --------
    By hand: √(8.3333 / 50), of the table of `chi_square`.

    >>> round(resampled_cramers_v(np.array([[[20.0, 5], [10, 15]]])).value, 4)
    0.4082
    """
    check_level(level)
    table = _checked_units(counts)
    pooled = table.sum(axis=0)
    value = float(_values_of_v(pooled[None])[0])
    n = int((table.sum(axis=(1, 2)) > 0).sum())
    result = CramersV(
        value,
        level=level,
        n=n,
        problems=chi_square(pooled).problems,
        method="Cramér's V; interval by resampling whole units",
    )
    if bootstrap is None or not result.defined:
        return result
    flat = table.reshape(len(table), -1)
    resampled = [
        (weights @ flat).reshape(-1, *table.shape[1:])
        for weights in row_weights(len(table), bootstrap)
    ]
    return _with_interval_of_v(result, pooled, np.concatenate(resampled), bootstrap)


def _with_interval_of_v(
    result: CramersV, pooled: Floats, tables: Floats, bootstrap: Bootstrap
) -> CramersV:
    """V of a pooled table with its interval from tables of resampled units, (resamples, ...)."""
    if result.n < 2:
        return replace(result, problems=(*result.problems, "No interval: there is one unit only."))
    counted = tables[tables.sum(axis=(1, 2)) > 0]
    n_undefined = len(tables) - len(counted)
    low = high = corrected = math.nan
    if n_undefined <= len(tables) / 2:
        departure = _departures(pooled[None])[0]
        errors = (_departures(counted) - departure) * math.sqrt(result.n / (result.n - 1))
        scale = math.sqrt(_smaller_dimension(pooled) - 1)
        wider = errors * _few_units(result.n, result.level)
        low, high = _lengths(departure, wider, result.level)
        high = max(high, _lengths(departure, errors, result.level)[1])
        by_chance = float((errors**2).sum(axis=1).mean())
        corrected = corrected_v(float(departure @ departure), by_chance, _dimensions(pooled))
        low = min(low / scale, corrected)
        high = min(max(high / scale, result.value), 1.0)
    interval = ResampledInterval(low, high, n_undefined)
    problems = result.problems + resampling_problems(interval, bootstrap)
    return replace(result, low=low, high=high, corrected=corrected, problems=problems)


def _few_units(n: int, level: float) -> float:
    """How much wider an interval is by t than by the normal distribution: errors are estimated."""
    share = (1 + level) / 2
    return float(scipy.stats.t.ppf(share, n - 1) / scipy.stats.norm.ppf(share))


def _departures(tables: Floats) -> Floats:
    """(tables, cells): each share less that of independence, over the root of the latter.

    The squared length of a line is chi-square / n, and V² (k - 1). It is 0 where all counts are in
    one group or category, as in resamples without a rare one.
    """
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    expected = shares.sum(axis=2, keepdims=True) * shares.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.where(expected > 0, (shares - expected) / np.sqrt(expected), 0.0)
    return np.asarray(apart.reshape(len(tables), -1))


_HALVINGS = 40


def _lengths(vector: Floats, errors: Floats, level: float) -> tuple[float, float]:
    """Ends of the interval of the length of a vector with errors, (resamples, cells).

    A vector of another length in the same direction would be seen with the same errors. The lower
    end is the length from which it is seen shorter than `vector` in all but the upper tail of the
    resamples, the upper end that from which it is seen shorter only in the lower tail. The upper
    end is at least what the errors along `vector` come to, as chance may bring it too near to 0.
    """
    length = float(np.linalg.norm(vector))
    along = errors @ vector / length if length > 0 else np.linalg.norm(errors, axis=1)
    squares = (errors**2).sum(axis=1)
    tail = (1 - level) / 2

    def shorter(true: float) -> float:
        return float((true**2 - 2 * true * along + squares <= length**2 * (1 + 1e-12)).mean())

    def end(share: float) -> float:
        low, high = 0.0, 2 * (length + math.sqrt(squares.max(initial=0.0)))
        if shorter(low) <= share:
            return low
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if shorter(middle) > share else (low, middle)
        return low

    widest = float(np.quantile(np.abs(along), level))
    return end(1 - tail), max(end(tail), widest)


@dataclass(frozen=True, eq=False)
class GroupShares:
    """Shares of categories in groups, with the ends of their intervals; all (groups, categories).

    `n_units` is the number of units with a count in each group, (groups,).
    """

    share: Floats
    low: Floats
    high: Floats
    n_units: np.ndarray


def resampled_shares(
    counts: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> GroupShares:
    """The share of each category in each group, with intervals by resampling whole units.

    Parameters
    ----------
    counts : (units, groups, categories)
        As for `unit_permutation_p`.
    level : float in (0, 1)
        Two-sided coverage of each interval by itself.
    bootstrap : Bootstrap, optional
        How many resamples of units; no intervals without.

    Returns
    -------
    GroupShares : counts of a category / counts of the group, summed over units: 0 to 1. NaN in a
    group without a count; no interval in a group of fewer than two units.

    Raises
    ------
    ValueError : the counts have not three dimensions, or one is negative.

    Notes
    -----
    Intervals as in `unit_intervals`. The unit of analysis is the unit: of each group, as many units
    are drawn as have a count there. Groups with the same units have the same draws. Checked by
    hand and against statsmodels.

    Examples
    --------
    By hand: 20 of 25, and 10 of 25.

    >>> resampled_shares(np.array([[[20.0, 5], [10, 15]]])).share.tolist()
    [[0.8, 0.2], [0.4, 0.6]]
    """
    check_level(level)
    table = _checked_units(counts)
    with np.errstate(invalid="ignore"):
        pooled = table.sum(axis=0)
        share = pooled / pooled.sum(axis=1, keepdims=True)
    present = table.sum(axis=2) > 0
    low, high = np.full(share.shape, np.nan), np.full(share.shape, np.nan)
    result = GroupShares(share, low, high, present.sum(axis=0))
    if bootstrap is None:
        return result
    patterns, pattern_of = np.unique(present.T, axis=0, return_inverse=True)
    for number, units in enumerate(patterns):
        if units.sum() < 2:
            continue
        alike = np.flatnonzero(pattern_of.ravel() == number)
        cells = table[np.ix_(units, alike)]
        totals = np.broadcast_to(cells.sum(axis=2, keepdims=True), cells.shape)
        ratios = resampled_ratios(
            cells.reshape(len(cells), -1), totals.reshape(len(cells), -1), bootstrap
        )
        ends = unit_intervals(share[alike].ravel(), ratios, int(units.sum()), level)
        low[alike] = ends.low.reshape(cells.shape[1:])
        high[alike] = ends.high.reshape(cells.shape[1:])
    return result


@dataclass(frozen=True, eq=False)
class UnitAssociation:
    """Chi-square of some groups, Cramér's V with its interval, and the p of moving whole units."""

    chi_square: ChiSquare
    v: CramersV
    p_permutation: float


def unit_associations(
    counts: Floats,
    compared: Sequence[Sequence[int]],
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
    n_permutations: int = 2000,
    seed: int = 0,
) -> tuple[UnitAssociation, ...]:
    """Chi-square, Cramér's V and permutation of many sets of groups at once, such as all pairs.

    Parameters
    ----------
    counts : (units, groups, categories)
        As for `unit_permutation_p`.
    compared : sequence of sequences of groups
        What each test compares.
    level, bootstrap, n_permutations, seed
        As for `resampled_cramers_v` and `unit_permutation_p`. All tests share resamples. Tests of
        two groups, and tests of groups with the same units, share permutations.

    Returns
    -------
    tuple of UnitAssociation, one for each test. Without a bootstrap, the interval of V is that of
    `cramers_v`, which takes counts as independent, and V is not corrected: what chance adds to
    counts that depend on each other is not known. With one, the lower end is 0 where p of the
    exchanges is above 1 - level (with fewer than six shared units it always is): where nearly all
    answers are alike, it would be above 0 too often (simulated; docs/coverage.md).

    Examples
    --------
    The table of `chi_square`, as one unit with two groups.

    >>> (result,) = unit_associations(np.array([[[20.0, 5], [10, 15]]]), [[0, 1]])
    >>> round(result.chi_square.statistic, 4), round(result.v.value, 4)
    (8.3333, 0.4082)
    """
    check_level(level)
    table = _checked_units(counts)
    flat = table.reshape(len(table), -1)
    resampled = (
        np.concatenate([weights @ flat for weights in row_weights(len(table), bootstrap)])
        if bootstrap and len(table)
        else np.empty((0, flat.shape[1]))
    ).reshape(-1, *table.shape[1:])
    pairs = [groups for groups in compared if len(groups) == 2]
    larger = [groups for groups in compared if len(groups) > 2]
    exchanged = _exchange_p(table, pairs, n_permutations, seed)
    exchanged |= _permutation_p(table, larger, n_permutations, seed)
    results = []
    for groups in compared:
        chosen = table[:, list(groups)]
        pooled = chosen.sum(axis=0)
        v = resampled_cramers_v(chosen, level=level)
        if bootstrap and v.defined:
            tables = resampled[:, list(groups)]
            v = _with_interval_of_v(v, pooled, tables, bootstrap)
        elif v.defined:
            independent = cramers_v(pooled, level=level)
            problems = (*independent.problems, _NOT_CORRECTED)
            v = replace(independent, n=v.n, corrected=math.nan, problems=problems)
        p = exchanged.get(tuple(groups))
        if p is None:
            p = unit_permutation_p(chosen, n_permutations=n_permutations, seed=seed)
        if bootstrap and p > 1 - level:  # p holds its level; an end near 0 need not
            v = replace(v, low=min(v.low, 0.0))
        results.append(UnitAssociation(chi_square(pooled), v, p))
    return tuple(results)


def _exchange_p(
    table: Floats, pairs: Sequence[Sequence[int]], n_permutations: int, seed: int
) -> dict[tuple[int, ...], float]:
    """The p of each pair of groups that shares units, by the same exchanges for all pairs."""
    present = table.sum(axis=2) > 0
    sharing = [(a, b) for a, b in pairs if (present[:, a] & present[:, b]).any()]
    if not sharing:
        return {}
    both = np.stack([present[:, a] & present[:, b] for a, b in sharing], axis=1)[:, :, None]
    apart = np.stack([table[:, b] - table[:, a] for a, b in sharing], axis=1) * both
    first = np.stack([table[:, a].sum(axis=0) for a, _ in sharing])
    whole = first + np.stack([table[:, b].sum(axis=0) for _, b in sharing])
    observed = _statistics(np.stack([first, whole - first], axis=1))
    n_units, as_large = len(table), np.zeros(len(sharing))
    generator = np.random.default_rng(seed)
    for size in _blocks(n_permutations, max(n_units, first.size * 4)):
        moved = generator.integers(0, 2, (size, n_units)).astype(np.float64)
        tables = first + (moved @ apart.reshape(n_units, -1)).reshape(size, *first.shape)
        pairs_of = np.stack([tables, whole - tables], axis=2)  # (size, pairs, 2, categories)
        values = _statistics(pairs_of.reshape(-1, 2, first.shape[1])).reshape(size, len(sharing))
        as_large += (values >= observed * (1 - 1e-10) - 1e-12).sum(axis=0)
    p = np.where(np.isnan(observed), np.nan, (1 + as_large) / (1 + n_permutations))
    return {pair: float(value) for pair, value in zip(sharing, p, strict=True)}


def _permutation_p(
    table: Floats, sets: Sequence[Sequence[int]], n_permutations: int, seed: int
) -> dict[tuple[int, ...], float]:
    """The p of sets of groups that have the same units, by the same permutations for all sets."""
    present = table.sum(axis=2) > 0
    alike: dict[tuple[int, bytes], list[tuple[int, ...]]] = {}
    for chosen in sets:
        groups = tuple(chosen)
        alike.setdefault((len(groups), present[:, groups].tobytes()), []).append(groups)
    p_of_sets: dict[tuple[int, ...], float] = {}
    for members in alike.values():
        there = present[:, members[0]]
        if (there.sum(axis=1) <= 1).all():
            continue  # units of one group each: see `unit_permutation_p`
        observed = np.array(
            [_statistics(table[:, chosen].sum(axis=0)[None])[0] for chosen in members]
        )
        bounds = observed * (1 - 1e-10) - 1e-12
        together = np.concatenate([table[:, chosen] for chosen in members], axis=2)
        as_large = np.zeros(len(members))
        for block in _tables_of_exchanged_units(together, there, n_permutations, seed):
            parts = np.split(block, len(members), axis=2)
            values = np.stack([_statistics(part) for part in parts], axis=1)
            as_large += (values >= bounds).sum(axis=0)
        p = np.where(np.isnan(observed), np.nan, (1 + as_large) / (1 + n_permutations))
        p_of_sets |= dict(zip(members, p.tolist(), strict=True))
    return p_of_sets


def _checked_units(counts: Floats) -> Floats:
    """The counts as floats, 0 where a unit is not in a group."""
    table = np.nan_to_num(np.asarray(counts, dtype=np.float64), nan=0.0)
    if table.ndim != 3:
        raise ValueError(f"counts of units have three dimensions, not {table.ndim}")
    if (table < 0).any() or np.isinf(table).any():
        raise ValueError("a count is negative or not finite")
    return table


def _statistics(tables: Floats) -> Floats:
    """(tables,) chi-squares of (tables, groups, categories); NaN where undefined."""
    n = tables.sum(axis=(1, 2), keepdims=True)
    rows, columns = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = rows * columns / n
        parts = np.where(expected > 0, (tables - expected) ** 2 / expected, 0.0)
    defined = ((rows > 0).sum(axis=(1, 2)) > 1) & ((columns > 0).sum(axis=(1, 2)) > 1)
    return np.where(defined, parts.sum(axis=(1, 2)), np.nan)


def _values_of_v(tables: Floats) -> Floats:
    """(tables,) Cramér's V of (tables, groups, categories); NaN where undefined."""
    n_rows = (tables.sum(axis=2) > 0).sum(axis=1)
    n_columns = (tables.sum(axis=1) > 0).sum(axis=1)
    largest = tables.sum(axis=(1, 2)) * (np.minimum(n_rows, n_columns) - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.sqrt(_statistics(tables) / largest))


def _tables_of_exchanged_units(
    table: Floats, present: np.ndarray, n_permutations: int, seed: int
) -> Iterator[Floats]:
    """Pooled tables, in blocks, with each unit's counts exchanged among the groups that have it."""
    generator = np.random.default_rng(seed)
    n_units, n_groups, n_categories = table.shape
    flat = table.reshape(n_units * n_groups, n_categories)
    # Groups that have a unit come first in its order, so that they change places among themselves.
    places = np.argsort(~present, axis=1, kind="stable")
    absent = np.take_along_axis(~present, places, axis=1)
    for size in _blocks(n_permutations, table.shape[0] * n_groups * n_groups):
        keys = generator.random((size, n_units, n_groups))
        keys[:, absent] = 2.0  # stays behind the others
        source = np.take_along_axis(places[None], np.argsort(keys, axis=2), axis=2)
        moved = np.empty_like(source)
        np.put_along_axis(moved, np.broadcast_to(places[None], source.shape), source, axis=2)
        pooled = np.zeros((size, n_groups, n_categories))
        for group in range(n_groups):
            # (size, units * groups): 1 where the counts of that unit and group come here
            taken = moved[:, :, group, None] == np.arange(n_groups)
            pooled[:, group] = taken.reshape(size, -1).astype(np.float64) @ flat
        yield pooled


def _tables_of_moved_groups(
    table: Floats, present: np.ndarray, n_permutations: int, seed: int
) -> Iterator[Floats]:
    """Pooled tables, in blocks, with the groups of whole units exchanged."""
    generator = np.random.default_rng(seed)
    kept = present.any(axis=1)
    counts, group_of = table[kept].sum(axis=1), present[kept].argmax(axis=1)
    n_groups = table.shape[1]
    for size in _blocks(n_permutations, len(counts) * n_groups):
        moved = generator.permuted(np.broadcast_to(group_of, (size, len(counts))), axis=1)
        yield np.stack(
            [(moved == group).astype(np.float64) @ counts for group in range(n_groups)], axis=1
        )


def _blocks(n_permutations: int, cells: int) -> Iterator[int]:
    """Sizes of blocks that bound the memory."""
    at_once = max(1, _CELLS_AT_ONCE // max(cells, 1))
    for start in range(0, n_permutations, at_once):
        yield min(at_once, n_permutations - start)
