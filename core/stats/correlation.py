"""Correlations of two scores, and of any number of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
import scipy

from core.domain.notes import about, undefined_note
from core.stats.inputs import (
    ROUNDING,
    Estimate,
    Floats,
    Integers,
    check_level,
    is_constant,
    ratios,
    undefined_size_note,
)
from core.stats.resampling import (
    Bootstrap,
    ResampledIntervals,
    bounded_intervals,
    resampling_problems,
    row_weights,
    unit_intervals,
)

# Correlation of two scores: Pearson or Spearman, with intervals, p and stars.
#
# Ours for scores that do not vary or determine each other, and for the interval of Spearman's
# coefficient, which scipy does not have. scipy's pearsonr agrees to 2e-14 and takes 2.4 times as
# long with its interval; its bootstrap takes twice as long. Checked against pearsonr and spearmanr.

CorrelationMethod = Literal["pearson", "spearman"]
Alternative = Literal["two-sided", "greater", "less"]

_STARS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


@dataclass(frozen=True)
class Correlation(Estimate):
    """A correlation with its intervals.

    `low`, `high` follow Fisher's z, `bootstrap_low`, `bootstrap_high` resampled rows (NaN unless
    asked for); both are two-sided of coverage `level`. `p` tests the correlation against 0.
    """

    p: float = math.nan
    kind: CorrelationMethod = "pearson"
    bootstrap_low: float = math.nan
    bootstrap_high: float = math.nan

    @property
    def r(self) -> float:
        """The value, as the literature calls it."""
        return self.value


def stars(p: float) -> str:
    """*, **, *** for p below .05, .01, .001; empty otherwise or where p is NaN.

    Examples
    --------
    >>> stars(0.0004), stars(0.03), stars(0.2)
    ('***', '*', '')
    """
    return next((mark for limit, mark in _STARS if p < limit), "")


def correlation(
    first: Floats,
    second: Floats,
    *,
    kind: CorrelationMethod = "pearson",
    level: float = 0.95,
    alternative: Alternative = "two-sided",
    bootstrap: Bootstrap | None = None,
) -> Correlation:
    """The correlation of two scores of the same rows.

    Parameters
    ----------
    first, second : (rows,)
        The scores, in the same order of rows; NaN where there is none. Rows that lack either are
        left out. A row is the unit of analysis; rows are taken as independent.
    kind : "pearson" or "spearman"
        Linear, or of mean ranks.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    alternative : "two-sided", "greater" or "less"
        What p tests.
    bootstrap : Bootstrap, optional
        Resample rows for a further interval (`resampled_r_intervals`).

    Returns
    -------
    Correlation : r, unitless, -1 to 1. NaN with a reason under three rows or where a score is
    constant; without an interval under four rows.

    Raises
    ------
    ValueError : the scores are of different lengths, or the level is not within 0 and 1.

    Notes
    -----
    Interval: Fisher (1921), tanh(atanh r ± z / √(n - 3)); for Spearman the variance is
    (1 + r²/2) / (n - 3) of Bonett & Wright (2000) doi:10.1007/BF02294183. p: t with n - 2 degrees
    of freedom, as R's cor.test has it where there are ties. Agrees with R 4.2.2 to 1e-12.

    Examples
    --------
    Anscombe's (1973) first data set; cor.test of R.

    >>> x = np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    >>> y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    >>> result = correlation(x, y)
    >>> [round(number, 4) for number in (result.r, result.low, result.high, result.p)]
    [0.8164, 0.4244, 0.9507, 0.0022]
    """
    check_level(level)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"scores of shapes {x.shape} and {y.shape} do not pair")
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    n, left_out = len(x), len(both) - len(x)
    result = Correlation(math.nan, level=level, n=n, n_left_out=left_out, kind=kind)
    reason = _why_undefined(x, y)
    if reason:
        return replace(result, problems=(reason,))
    r = _product_moment(_in_ranks(x, kind), _in_ranks(y, kind))
    low, high = fisher_interval(r, n, level, kind)
    t = math.copysign(math.inf, r) if abs(r) == 1 else r * math.sqrt((n - 2) / (1 - r * r))
    p = p_of_t(t, n - 2, alternative)
    result = replace(result, value=r, low=low, high=high, p=p)
    problems: tuple[str, ...] = ()
    if n < 4:
        problems += (
            f"No interval by Fisher's z: the interval needs four rows, and there are {n}.",
        )
    if abs(r) == 1:
        problems += ("The scores determine each other exactly, so the interval has no width.",)
    if bootstrap:
        values = _resampled(x, y, kind, bootstrap)
        ends = resampled_r_intervals(np.array([r]), values[:, None], n, level)
        interval = ends.of_cell(0)
        problems += resampling_problems(interval, bootstrap)
        result = replace(result, bootstrap_low=interval.low, bootstrap_high=interval.high)
    return replace(result, problems=problems)


def category_correlation(first: Floats, second: Floats, *, level: float = 0.95) -> Correlation:
    """Spearman's correlation of scores of few values, such as positions, with its interval.

    Parameters
    ----------
    first, second : (rows,)
        As for `correlation`.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    Correlation : that of `correlation`, whose interval takes scores as without ties. Of two or
    three values it covers 30 to 96 %.

    Notes
    -----
    Fisher's z with the quantile of t and the larger of two standard errors: that of `correlation`,
    and that of the jackknife; where r is 1 or -1, or no row changes it, Wilson's interval from -1
    to 1 (`bounded_intervals`). The variance of the jackknife is n - 1 / n times the sum of squares
    of r without one row each; that of z divides it by the square of 1 - r². Of 8 to 60 rows, values
    that are alike often and a correlation of .2 to .6 it covers 90 to 99 %, of .9 with 40 or 60
    rows 86 to 97 %; of unrelated scores with mostly one value 97 % and more, where the jackknife
    alone covers 22 to 61 % (simulated). Rows of the same values leave the same r, so each cell of
    the cross table is left out once. Checked against leaving out each row.

    Examples
    --------
    All 6 agree: as of 6 answers of which 6 are alike, 2 · 6 / (6 + 1.96 squared) - 1.

    >>> positions = np.array([1.0, 1, 1, -1, -1, -1])
    >>> result = category_correlation(positions, positions)
    >>> round(result.r, 4), round(result.low, 4), round(result.high, 4)
    (1.0, 0.2193, 1.0)
    """
    result = correlation(first, second, kind="spearman", level=level)
    if math.isnan(result.low):
        return result
    both = np.isfinite(first) & np.isfinite(second)
    (values, x), (others, y) = (
        np.unique(scores[both], return_inverse=True) for scores in (first, second)
    )
    table = np.zeros((len(values), len(others)))
    np.add.at(table, (x, y), 1)
    cells = np.flatnonzero(table)
    counts, n = table.ravel()[cells], float(result.n)
    without = table - np.eye(table.size)[cells].reshape(len(cells), *table.shape)
    left = _spearman_of_tables(without)
    known = np.isfinite(left)
    variance = math.nan
    if (share := float(counts[known].sum()) / n) > 0.5:
        apart = left[known] - np.average(left[known], weights=counts[known])
        variance = float(counts[known] @ apart**2) * (n - 1) / n / share
    if variance > ROUNDING and abs(result.r) < 1 - ROUNDING:
        z = math.atanh(result.r)
        error = math.sqrt(max(variance / (1 - result.r**2) ** 2, (1 + result.r**2 / 2) / (n - 3)))
        half_width = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error
        low, high = math.tanh(z - half_width), math.tanh(z + half_width)
    else:
        low, high = (
            float(end[0])
            for end in bounded_intervals(
                np.array([result.r]), np.array([variance]), np.array([n]), level, (-1.0, 1.0)
            )
        )
    alike = ("No interval: the rows are too much alike.",) if math.isnan(low) else ()
    return replace(result, low=low, high=high, problems=alike)


def _spearman_of_tables(tables: Floats) -> Floats:
    """Spearman's correlation of each cross table of (tables, values, values); NaN without one."""
    n = tables.sum(axis=(1, 2))[:, None]
    of_first, of_second = tables.sum(axis=2), tables.sum(axis=1)
    first, second = (
        np.cumsum(counts, axis=1) - counts / 2 - n / 2 for counts in (of_first, of_second)
    )
    above = np.einsum("tab,ta,tb->t", tables, first, second)
    squares = (of_first * first**2).sum(axis=1) * (of_second * second**2).sum(axis=1)
    return ratios(above, np.sqrt(squares))


def resampled_r_intervals(
    r: Floats, resampled: Floats, n_units: int | Integers, level: float
) -> ResampledIntervals:
    """Intervals of correlations from resamples of whole units, on the scale of Fisher's z.

    Parameters
    ----------
    r : (cells,) array
        The correlations.
    resampled : (resamples, cells) array
        The same in resamples; NaN for none.
    n_units : int or (cells,) array
        Units that are drawn, such as rows, or pairs of items.
    level : float in (0, 1)
        Coverage of the intervals.

    Notes
    -----
    tanh(atanh r ± t s), s the standard deviation of atanh r over resamples times the root of
    G / (G - 1), t with G - 1 degrees of freedom for G units; see `unit_intervals`. Of 10 to 80 rows
    it covers 94 to 97 %, where percentiles cover 87 to 93 %. No interval where r is 1 or -1;
    resamples in which it is count as without a coefficient.

    Examples
    --------
    By hand: a standard deviation of .1, t of 2.2622 and the root of 10 / 9.

    >>> drawn = np.tanh(np.arctanh(0.5) + np.array([[0.1], [-0.1]]))
    >>> ends = resampled_r_intervals(np.array([0.5]), drawn, 10, 0.95)
    >>> round(float(np.arctanh(ends.high[0]) - np.arctanh(0.5)), 4)
    0.2385
    """
    with np.errstate(divide="ignore"):
        z, drawn = (np.arctanh(np.clip(values, -1.0, 1.0)) for values in (r, resampled))
    drawn = np.where(np.abs(resampled) < 1 - ROUNDING, drawn, np.nan)
    ends = unit_intervals(np.where(np.isfinite(z), z, np.nan), drawn, n_units, level, None)
    return replace(ends, low=np.tanh(ends.low), high=np.tanh(ends.high))


FEWEST_FOR_R = 5
"""Rows under which a correlation of values that may be skewed has no interval."""


def larger_error_intervals(
    r: Floats,
    resampled: Floats,
    n_units: int | Integers,
    level: float,
    kind: CorrelationMethod = "pearson",
) -> ResampledIntervals:
    """Intervals of correlations by Fisher's z with the larger of two errors.

    Parameters
    ----------
    r : (cells,) array
        The correlations.
    resampled : (resamples, cells) array
        The same in resamples of whole units; NaN for none.
    n_units : int or (cells,) array
        Units that are drawn, such as items, or pairs of items.
    level : float in (0, 1)
        Coverage of the intervals.
    kind : "pearson" or "spearman"
        What the correlations are.

    Returns
    -------
    The ends for each cell: NaN with fewer than `FEWEST_FOR_R` units, where r is 1 or -1, or where
    half of the resamples or more have no correlation.

    Notes
    -----
    The error of z is that of normal values, of `fisher_interval`, or that over resamples
    (`resampled_r_intervals`), whichever is larger. Of means of 5 to 30 items that are even, at both
    ends, or nearly all at one end it covers 93 to 97 %, where Fisher's covers 89 to 95 % and that
    of resamples 87 to 97 % (simulated; docs/coverage.md).

    Examples
    --------
    Errors of .1 over resamples of 28 rows are smaller than 1 / √25: the ends are Fisher's.

    >>> drawn = np.tanh(np.arctanh(0.5) + np.array([[0.1], [-0.1]]))
    >>> ends = larger_error_intervals(np.array([0.5]), drawn, 28, 0.95)
    >>> ends.low.round(4).tolist(), ends.high.round(4).tolist()
    ([0.156], [0.7358])
    """
    ends = resampled_r_intervals(r, resampled, n_units, level)
    n = np.broadcast_to(np.asarray(n_units, dtype=np.float64), np.shape(r))
    enough = np.isfinite(ends.low) & (n >= FEWEST_FOR_R)
    n = np.where(enough, n, np.nan)
    z = np.arctanh(np.where(enough, r, np.nan))
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    of_resamples = (
        (np.arctanh(ends.high) - z) * quantile / scipy.stats.t.ppf((1 + level) / 2, n - 1)
    )
    spread = 1 + r * r / 2 if kind == "spearman" else 1.0
    half_width = np.maximum(of_resamples, quantile * np.sqrt(spread / (n - 3)))
    return replace(ends, low=np.tanh(z - half_width), high=np.tanh(z + half_width))


def fisher_interval(
    r: float, n: int, level: float = 0.95, kind: CorrelationMethod = "pearson"
) -> tuple[float, float]:
    """Two-sided interval of a correlation of n rows by Fisher's z; NaN under four rows.

    Examples
    --------
    By hand: tanh(atanh .5 ± 1.96 / √25).

    >>> [round(end, 4) for end in fisher_interval(0.5, 28)]
    [0.156, 0.7358]
    """
    if math.isnan(r) or n < 4:
        return math.nan, math.nan
    if abs(r) >= 1:
        return r, r
    spread = (1 + r * r / 2) if kind == "spearman" else 1.0
    half_width = NormalDist().inv_cdf((1 + check_level(level)) / 2) * math.sqrt(spread / (n - 3))
    return math.tanh(math.atanh(r) - half_width), math.tanh(math.atanh(r) + half_width)


def major_axis_residuals(first: Floats, second: Floats) -> Floats:
    """How far each row lies from the major axis of two scores, above it where positive.

    The major axis goes through both means in the direction in which the scores vary most, so that
    neither score is taken to predict the other; Pearson (1901) doi:10.1080/14786440109462720.
    Distances are perpendicular, in units of the scores; NaN where a row lacks a score, and
    throughout where no direction is the one of most variance. Checked against R's prcomp.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = np.isfinite(x) & np.isfinite(y)
    residuals = np.full(x.shape, np.nan)
    if both.sum() < 2:
        return residuals
    x, y = x[both] - x[both].mean(), y[both] - y[both].mean()
    apart, together = float(x @ x - y @ y), float(2 * x @ y)
    if math.hypot(apart, together) <= ROUNDING * float(x @ x + y @ y):
        return residuals
    angle = math.atan2(together, apart) / 2  # within a quarter turn of the first axis
    residuals[both] = y * math.cos(angle) - x * math.sin(angle)
    return residuals


def disattenuated_correlation(
    r: float, first_reliability: float, second_reliability: float
) -> float:
    """The correlation corrected for unreliability; NaN unless both reliabilities are positive.

    r / √(product of the reliabilities); Spearman (1904) doi:10.2307/1412159. It may exceed 1 where
    a reliability is estimated too low.
    """
    if not (first_reliability > 0 and second_reliability > 0):
        return math.nan
    return r / math.sqrt(first_reliability * second_reliability)


def _why_undefined(x: Floats, y: Floats) -> str:
    """Why there is no correlation; empty where there is one."""
    if len(x) < 3:
        return undefined_note(
            f"Undefined: the correlation needs three rows with both scores, and there are {len(x)}."
        )
    note = undefined_size_note(x, y)
    if note:
        return note
    constant = [name for name, score in (("first", x), ("second", y)) if is_constant(score)]
    if not constant:
        return ""
    return undefined_note(
        f"Undefined: the {' and the '.join(constant)} score is the same in every row."
    )


def _in_ranks(values: Floats, kind: CorrelationMethod) -> Floats:
    """The values, each column in ranks where the correlation is Spearman's."""
    ranks = scipy.stats.rankdata(values, axis=0) if kind == "spearman" else values
    return np.asarray(ranks, dtype=np.float64)


def _product_moment(x: Floats, y: Floats) -> float:
    """Pearson's r, exactly 1 or -1 where it differs from that by rounding only."""
    x, y = x - x.mean(), y - y.mean()
    r = float(x @ y / math.sqrt(float(x @ x) * float(y @ y)))
    return math.copysign(1.0, r) if abs(r) > 1 - 1e-14 else r


def p_of_t(statistic: float, df: float, alternative: Alternative) -> float:
    """The p of a t statistic under the alternative."""
    if alternative == "two-sided":
        return min(1.0, 2 * float(scipy.stats.t.sf(abs(statistic), df)))
    return float(scipy.stats.t.sf(statistic if alternative == "greater" else -statistic, df))


def _resampled(x: Floats, y: Floats, kind: CorrelationMethod, bootstrap: Bootstrap) -> Floats:
    """The correlation in every resample; NaN where a score is constant in it."""
    values: Callable[[Floats], tuple[Floats, Floats]]
    if kind == "spearman":
        ranks = _weighted_ranks(x), _weighted_ranks(y)

        def values(weights: Floats) -> tuple[Floats, Floats]:
            return ranks[0](weights), ranks[1](weights)
    else:
        centered = ((x - x.mean()) / x.std())[None, :], ((y - y.mean()) / y.std())[None, :]

        def values(weights: Floats) -> tuple[Floats, Floats]:
            return centered

    return np.concatenate(
        [_weighted(weights, *values(weights)) for weights in row_weights(len(x), bootstrap)]
    )


def _weighted(weights: Floats, x: Floats, y: Floats) -> Floats:
    """(resamples,) correlations of (resamples or 1, rows) values."""
    n = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    x = x - (weights * x).sum(axis=1, keepdims=True) / n
    y = y - (weights * y).sum(axis=1, keepdims=True) / n
    of_x, of_y = (weights * x * x).sum(axis=1), (weights * y * y).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (weights * x * y).sum(axis=1) / np.sqrt(of_x * of_y)
    return np.where(np.minimum(of_x, of_y) > 1e-12 * n[:, 0], np.clip(r, -1, 1), np.nan)


def _weighted_ranks(score: Floats) -> Callable[[Floats], Floats]:
    """A function from (resamples, rows) weights to the rows' mean ranks within each resample."""
    unique, code = np.unique(score, return_inverse=True)
    member = np.eye(len(unique))[code]

    def ranks(weights: Floats) -> Floats:
        counts = weights @ member
        return np.asarray((np.cumsum(counts, axis=1) - (counts - 1) / 2)[:, code])

    return ranks


def resampled_correlations(
    table: Floats,
    pairs: Sequence[tuple[int, int]],
    bootstrap: Bootstrap,
    *,
    kind: CorrelationMethod = "pearson",
    units: Integers | None = None,
) -> Floats:
    """The correlations of many pairs of columns in every resample, the same one for all pairs.

    Parameters
    ----------
    table : (rows, scores)
        NaN where a row has no score; a pair uses the rows that have both.
    pairs : sequence of (first, second)
        Columns.
    bootstrap : Bootstrap
        Resamples and seed.
    kind : "pearson" or "spearman"
        As for `correlation`.
    units : (rows,), optional
        The number of the unit, from 0, that is drawn as a whole; each row is one otherwise.

    Returns
    -------
    (resamples, pairs), NaN where a score is constant in the resample, or a pair has no row.

    Notes
    -----
    Of Pearson's r one product of matrices serves all pairs: weighted sums of n, x, y, x², y² and
    xy. The scores are standardized before, so that nothing is lost by rounding. Checked against
    `correlation`, which takes one pair at a time.

    Examples
    --------
    Whatever rows are drawn, a score correlates to -1 with its negative.

    >>> score = np.arange(9.0)
    >>> table = np.column_stack([score, -score])
    >>> resampled_correlations(table, [(0, 1)], Bootstrap(3)).round(10).tolist()
    [[-1.0], [-1.0], [-1.0]]
    """
    unit_of_row = np.arange(len(table)) if units is None else units
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    values = _pearson_in(table, places) if kind == "pearson" else _spearman_in(table, places)
    resampled = [
        values(weights[:, unit_of_row])
        for weights in row_weights(int(unit_of_row.max(initial=-1)) + 1, bootstrap)
    ]
    return np.concatenate(resampled)


def _pearson_in(table: Floats, places: Integers) -> Callable[[Floats], Floats]:
    """A function from (resamples, rows) weights to (resamples, pairs) correlations."""
    present = np.isfinite(table)
    n = np.maximum(present.sum(axis=0), 1)
    centered = np.where(present, table - np.where(present, table, 0.0).sum(axis=0) / n, 0.0)
    spread = np.sqrt((centered**2).sum(axis=0) / n)
    standard = centered / np.where(spread > 0, spread, 1.0)
    both = (present[:, places[:, 0]] & present[:, places[:, 1]]).astype(np.float64)
    x, y = standard[:, places[:, 0]] * both, standard[:, places[:, 1]] * both
    parts = np.concatenate([both, x, y, x * x, y * y, x * y], axis=1)

    def values(weights: Floats) -> Floats:
        n, x, y, xx, yy, xy = np.split(weights @ parts, 6, axis=1)  # weighted sums
        with np.errstate(divide="ignore", invalid="ignore"):
            of_x, of_y, of_both = xx - x * x / n, yy - y * y / n, xy - x * y / n
            r = of_both / np.sqrt(of_x * of_y)
        varies = np.minimum(of_x, of_y) > 1e-12 * n
        return np.where(varies, np.clip(r, -1, 1), np.nan)

    return values


def _spearman_in(table: Floats, places: Integers) -> Callable[[Floats], Floats]:
    """As `_pearson_in`, of ranks within each resample."""
    present = np.isfinite(table)
    both = [np.flatnonzero(present[:, a] & present[:, b]) for a, b in places.tolist()]
    ranks = [
        (_weighted_ranks(table[rows, a]), _weighted_ranks(table[rows, b]))
        for rows, (a, b) in zip(both, places.tolist(), strict=True)
    ]

    def values(weights: Floats) -> Floats:
        columns = [np.empty((len(weights), 0))]
        for rows, (of_x, of_y) in zip(both, ranks, strict=True):
            of_rows = weights[:, rows]
            columns.append(_weighted(of_rows, of_x(of_rows), of_y(of_rows))[:, None])
        return np.concatenate(columns, axis=1)

    return values


# The difference of two correlations of the same rows.
#
# Ours: scipy and statsmodels have no test of it. Checked against psych's r.test and the output of
# cocor, both of R.


@dataclass(frozen=True)
class CorrelationDifference:
    """The first correlation minus the second, both of the `n` rows that have all their scores.

    `low`, `high` are Zou's interval of coverage `level`; `p` is two-sided, of `test`: Williams's t
    with `df` degrees of freedom where both correlations share a score, else Steiger's z.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    statistic: float
    df: float
    p: float
    n: int
    n_left_out: int
    test: str
    problems: tuple[str, ...] = ()


def correlation_difference(
    table: Floats,
    first: tuple[int, int],
    second: tuple[int, int],
    *,
    kind: CorrelationMethod = "pearson",
    level: float = 0.95,
) -> CorrelationDifference:
    """Whether two correlations of the same rows differ.

    Parameters
    ----------
    table : (rows, scores)
        NaN where a row has no score. Rows that lack one of the scores of either pair are left out
        of both, so that the correlations may differ from those of all rows of each pair.
    first, second : (column, column)
        Two different pairs, which may share a score.
    kind : "pearson" or "spearman"
        Of scores, or of their ranks; the formulas are those for Pearson's r.
    level : float in (0, 1)
        Two-sided coverage of the interval.

    Returns
    -------
    CorrelationDifference : NaN with a reason under four rows, where a score is constant, where
    two scores determine each other, or where both correlations are of the same values.

    Raises
    ------
    ValueError : the pairs are the same, or a pair names one score twice.

    Notes
    -----
    Williams (1959), as in Steiger (1980) doi:10.1037/0033-2909.87.2.245, where a score is shared:
    t with n - 3 degrees of freedom. Else Steiger's z with the mean of both correlations. Interval:
    Zou (2007) doi:10.1037/1082-989X.12.4.399, from Fisher's intervals of both. A row is the unit;
    rows are taken as independent. Agrees with psych's r.test (R) to 1e-10, with Zou's published
    example and with printed output of cocor.

    Examples
    --------
    r.test of psych (R) with n = 5, r12 = .8250, r13 = .7035 and r23 = .9594.

    >>> table = np.array([[3.0, 4, 3], [2, 2, 3], [4, 5, 4], [1, 2, 1], [5, 4, 5]])
    >>> result = correlation_difference(table, (0, 1), (1, 2))
    >>> [round(number, 4) for number in (result.difference, result.statistic, result.p)]
    [0.1214, 1.2781, 0.3295]
    """
    check_level(level)
    (a, b), (c, d) = first, second
    if len({a, b}) < 2 or len({c, d}) < 2 or {a, b} == {c, d}:
        raise ValueError(f"the pairs {first} and {second} are no two correlations")
    columns = list(dict.fromkeys((a, b, c, d)))
    used = table[:, columns]
    complete = used[np.isfinite(used).all(axis=1)]
    n, left_out = len(complete), int(np.isfinite(used).any(axis=1).sum()) - len(complete)
    shared = len(columns) == 3
    undefined = CorrelationDifference(
        *(math.nan,) * 8, n, left_out, "Williams's t" if shared else "Steiger's z"
    )
    if n < 4:
        reason: str = undefined_note(
            f"Undefined: the test needs four rows with all scores, and there are {n}."
        )
        return replace(undefined, problems=(reason,))
    if any(is_constant(score) for score in complete.T):
        reason = undefined_note("Undefined: a score is the same in every row.")
        return replace(undefined, problems=(reason,))
    matrix = np.asarray(np.corrcoef(_in_ranks(complete, kind), rowvar=False))
    r = {
        (left, right): float(matrix[columns.index(left), columns.index(right)])
        for left in columns
        for right in columns
    }
    result = replace(undefined, first=r[a, b], second=r[c, d], difference=r[a, b] - r[c, d])
    if max(abs(r[a, b]), abs(r[c, d])) > 1 - 1e-12:
        reason = "No test: two scores determine each other exactly."
        return replace(result, problems=(reason,))
    if shared:
        common = ({a, b} & {c, d}).pop()
        left, right = ({a, b} - {common}).pop(), ({c, d} - {common}).pop()
        apart = r[left, right]
        statistic, df = _williams(r[a, b], r[c, d], apart, n), float(n - 3)
        p = p_of_t(statistic, df, "two-sided")
        together = _overlapping_covariance(r[a, b], r[c, d], apart)
    else:
        cross = (r[a, c], r[a, d], r[b, c], r[b, d])
        if max(min(abs(r[a, c]), abs(r[b, d])), min(abs(r[a, d]), abs(r[b, c]))) > 1 - 1e-12:
            reason = "No test: both correlations are of the same values."
            return replace(result, problems=(reason,))
        mean = (r[a, b] + r[c, d]) / 2  # Steiger's z takes the mean for both
        together = _separate_covariance(mean, mean, cross) / (1 - mean**2) ** 2
        difference = math.atanh(r[a, b]) - math.atanh(r[c, d])
        statistic, df = difference * math.sqrt((n - 3) / (2 * (1 - together))), math.nan
        p = 2 * NormalDist().cdf(-abs(statistic))
        together = _separate_covariance(r[a, b], r[c, d], cross)
        together /= (1 - r[a, b] ** 2) * (1 - r[c, d] ** 2)
    low, high = _zou_interval(r[a, b], r[c, d], together, n, level)
    return replace(result, low=low, high=high, statistic=statistic, df=df, p=p)


def _williams(r_12: float, r_13: float, r_23: float, n: int) -> float:
    """Williams's t of two correlations that share a score."""
    determinant = 1 - r_12**2 - r_13**2 - r_23**2 + 2 * r_12 * r_13 * r_23
    mean = (r_12 + r_13) / 2
    below = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_23) ** 3
    if below <= 0:
        return 0.0 if r_12 == r_13 else math.copysign(math.inf, r_12 - r_13)
    return (r_12 - r_13) * math.sqrt((n - 1) * (1 + r_23) / below)


_Cross = tuple[float, float, float, float]
"""Correlations of 1 with 3, 1 with 4, 2 with 3 and 2 with 4."""


def _separate_covariance(r_12: float, r_34: float, cross: _Cross) -> float:
    """N times the covariance of two correlations without a shared score; Pearson & Filon (1898)."""
    r_13, r_14, r_23, r_24 = cross
    return (
        (r_13 - r_12 * r_23) * (r_24 - r_23 * r_34)
        + (r_14 - r_13 * r_34) * (r_23 - r_12 * r_13)
        + (r_13 - r_14 * r_34) * (r_24 - r_12 * r_14)
        + (r_14 - r_12 * r_24) * (r_23 - r_24 * r_34)
    ) / 2


def _overlapping_covariance(r_12: float, r_13: float, r_23: float) -> float:
    """The correlation of two correlations that share a score."""
    above = (r_23 - r_12 * r_13 / 2) * (1 - r_12**2 - r_13**2 - r_23**2) + r_23**3
    return above / ((1 - r_12**2) * (1 - r_13**2))


def _zou_interval(
    first: float, second: float, together: float, n: int, level: float
) -> tuple[float, float]:
    """Zou's interval of the difference of two correlations that correlate by `together`."""
    (low_1, high_1), (low_2, high_2) = (fisher_interval(r, n, level) for r in (first, second))

    def reach(of_first: float, of_second: float) -> float:
        return math.sqrt(max(of_first**2 + of_second**2 - 2 * together * of_first * of_second, 0.0))

    difference = first - second
    return (
        difference - reach(first - low_1, high_2 - second),
        difference + reach(high_1 - first, second - low_2),
    )


# The multitrait matrix: correlations of any number of named scores (pairwise).


@dataclass(frozen=True, eq=False)
class TraitMatrix:
    """A multitrait matrix: (scores, scores) tables in the order of `names`.

    `r`, `low`, `high`, `p` are NaN where undefined, `n` counts the rows of each pair. The diagonal
    of `r` is 1 where the score varies; its interval and p are NaN. `corrected` holds correlations
    corrected for unreliability, NaN where a reliability is not given or not positive. `of_pairs`
    has the problems of each pair of scores, by their numbers.
    """

    names: tuple[str, ...]
    r: Floats
    low: Floats
    high: Floats
    p: Floats
    n: Floats
    corrected: Floats
    problems: tuple[str, ...] = ()
    of_pairs: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)


def trait_matrix(
    scores: Floats,
    names: Sequence[str],
    *,
    kind: CorrelationMethod = "pearson",
    level: float = 0.95,
    reliabilities: Mapping[str, float] | None = None,
    bootstrap: Bootstrap | None = None,
) -> TraitMatrix:
    """The correlation of every score with every other: the multitrait matrix of convergence.

    Parameters
    ----------
    scores : (rows, scores)
        One column per named score, NaN where a row lacks it; pairs use the rows that have both
        (pairwise), so `n` differs between cells and the matrix need not be positive definite.
    names : sequence of length scores
        No name twice.
    kind : "pearson" or "spearman"
        As for `correlation`.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    reliabilities : mapping, optional
        Reliability of some of the scores, for the correlations corrected for it.
    bootstrap : Bootstrap, optional
        Take the intervals from resampled rows instead of Fisher's z.

    Returns
    -------
    TraitMatrix : undefined cells are NaN and named in `problems`.

    Raises
    ------
    ValueError : names and columns do not match, or a name repeats.

    Notes
    -----
    Campbell & Fiske (1959) doi:10.1037/h0046016. p are not adjusted for their number: see
    `core.stats.groups`. Cells agree with R's cor.test (see `correlation`).

    Examples
    --------
    cor of R is .8250; divided by the root of .9 · .8 it is .9722.

    >>> scores = np.array([[3.0, 4], [2, 2], [4, 5], [1, 2], [5, 4]])
    >>> matrix = trait_matrix(scores, ["a", "b"], reliabilities={"a": 0.9, "b": 0.8})
    >>> round(float(matrix.r[0, 1]), 4), round(float(matrix.corrected[0, 1]), 4)
    (0.825, 0.9722)
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(names) or len(set(names)) < len(names):
        raise ValueError(f"{table.shape} scores for the names {list(names)}")
    size, given = len(names), reliabilities or {}
    r, low, high, p, corrected = (np.full((size, size), np.nan) for _ in range(5))
    present = np.isfinite(table).astype(np.float64)
    problems = [] if size > 1 else [f"A correlation takes two scores, and there is {size}."]
    of_pairs: dict[tuple[int, int], tuple[str, ...]] = {}
    for first in range(size):
        score = table[np.isfinite(table[:, first]), first]
        r[first, first] = 1.0 if len(score) > 1 and not is_constant(score) else math.nan
        for second in range(first + 1, size):
            cell = correlation(
                table[:, first], table[:, second], kind=kind, level=level, bootstrap=bootstrap
            )
            ends = (cell.bootstrap_low, cell.bootstrap_high) if bootstrap else (cell.low, cell.high)
            pair = (given.get(names[number], math.nan) for number in (first, second))
            corrected[first, second] = corrected[second, first] = disattenuated_correlation(
                cell.r, *pair
            )
            for position in ((first, second), (second, first)):
                r[position], p[position] = cell.r, cell.p
                low[position], high[position] = ends
            of_pair = f"{names[first]} with {names[second]}"
            problems += [about(of_pair, text) for text in cell.problems]
            of_pairs[first, second] = cell.problems
    return TraitMatrix(
        tuple(names), r, low, high, p, present.T @ present, corrected, tuple(problems), of_pairs
    )
