"""Bootstrap resamples of rows as weights, so that a coefficient is computed for many at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.distributions import effective_wilson_intervals
from core.stats.inputs import Floats, Integers, check_level

# Ours because scipy's bootstrap draws rows anew for each coefficient and takes twice as long. With
# weights, one product of matrices gives a coefficient of all resamples.

_CELLS_AT_ONCE = 2_000_000
_ALIKE = 1e-9
_ROUNDED = 1e-12  # the share of squares below which their difference is rounding
"""Units vary no more than this share of the way from bound to bound where they are all alike."""


Bounds = tuple[float | Floats, float | Floats]
"""The lowest and the highest value that a mean can have."""


@dataclass(frozen=True)
class Bootstrap:
    """The number of resamples of an interval, and the seed."""

    n_resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_resamples < 1:
            raise ValueError(f"{self.n_resamples} resamples")


@dataclass(frozen=True)
class ResampledInterval:
    """Ends of an interval, and how many resamples had no coefficient."""

    low: float
    high: float
    n_undefined: int


@dataclass(frozen=True, eq=False)
class ResampledIntervals:
    """Ends of the intervals of many coefficients, and how many resamples had none."""

    low: Floats
    high: Floats
    n_undefined: Integers

    def of_cell(self, cell: int) -> ResampledInterval:
        """That of one coefficient."""
        return ResampledInterval(
            float(self.low[cell]), float(self.high[cell]), int(self.n_undefined[cell])
        )


def row_weights(n_rows: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """How often each row was drawn, in blocks of (resamples, rows); every line sums to n_rows.

    Blocks bound the memory; the draws are the same for the same seed and number of rows.

    Examples
    --------
    >>> next(row_weights(4, Bootstrap(3))).sum(axis=1).tolist()
    [4.0, 4.0, 4.0]
    """
    generator = np.random.default_rng(bootstrap.seed)
    at_once = max(1, _CELLS_AT_ONCE // max(n_rows, 1))
    for start in range(0, bootstrap.n_resamples, at_once):
        size = min(at_once, bootstrap.n_resamples - start)
        rows = generator.integers(n_rows, size=(size, n_rows))
        rows += np.arange(size)[:, None] * n_rows
        counts = np.bincount(rows.ravel(), minlength=size * n_rows)
        yield counts.reshape(size, n_rows).astype(np.float64)


def resampled_totals(values: Floats, bootstrap: Bootstrap) -> Iterator[Floats]:
    """The total of every cell in every resample of whole units.

    Parameters
    ----------
    values : (units, cells) array
        What each unit adds to each cell, finite; 0 where a unit has no answers in a cell. Units are
        what is drawn, such as items; cells are everything that is kept apart, such as models and
        options, in any number.
    bootstrap : Bootstrap
        How many resamples, and the seed.

    Yields
    ------
    (resamples, cells) array
        Blocks of resamples, in order, which bound the memory. All cells of a line are of the same
        draw of units, so that differences and ratios between cells can be formed in each line.
        Concatenate what you compute from the blocks, not the blocks, where cells are many.

    Raises
    ------
    ValueError
        A value is not finite: it would spread to every resample.

    Notes
    -----
    Unit of analysis: one unit. Totals of whole numbers are exact. Checked against numpy's drawing
    of units one resample at a time.

    Examples
    --------
    Whatever is drawn, four units of 2 sum to 8.

    >>> next(resampled_totals(np.full((4, 1), 2.0), Bootstrap(3))).tolist()
    [[8.0], [8.0], [8.0]]
    """
    if not np.isfinite(values).all():
        raise ValueError("values that are not finite")
    n_units, n_cells = values.shape
    at_once = max(1, _CELLS_AT_ONCE // max(n_cells, 1))
    for weights in row_weights(n_units, bootstrap):
        for start in range(0, len(weights), at_once):
            yield weights[start : start + at_once] @ values


def resampled_ratios(above: Floats, below: Floats, bootstrap: Bootstrap) -> Floats:
    """A ratio of two totals, such as a share of answers, in every resample of whole units.

    Parameters
    ----------
    above, below : (units, cells) array
        What each unit adds to the numerator and to the denominator of each cell; see
        `resampled_totals`.
    bootstrap : Bootstrap
        How many resamples, and the seed.

    Returns
    -------
    (resamples, cells) array
        NaN where the denominator is 0, as where no unit of a cell was drawn.

    Raises
    ------
    ValueError
        A value is not finite, or the shapes differ.

    Examples
    --------
    Whatever is drawn, units of 1 in 2 have a share of a half.

    >>> resampled_ratios(np.ones((4, 1)), np.full((4, 1), 2.0), Bootstrap(3)).tolist()
    [[0.5], [0.5], [0.5]]
    """
    if above.shape != below.shape:
        raise ValueError(f"{above.shape} numerators and {below.shape} denominators")
    n_cells = above.shape[1]
    ratios = np.full((bootstrap.n_resamples, n_cells), np.nan)
    done = 0
    for totals in resampled_totals(np.hstack([above, below]), bootstrap):
        numerators, denominators = totals[:, :n_cells], totals[:, n_cells:]
        block = ratios[done : done + len(totals)]
        np.divide(numerators, denominators, out=block, where=denominators != 0)
        done += len(totals)
    return ratios


def resampled_means(values: Floats, bootstrap: Bootstrap) -> Floats:
    """The mean of every cell's units in every resample of whole units.

    Parameters
    ----------
    values : (units, cells) array
        The value of each unit in each cell, such as the entropy of each item for each model; NaN
        where it has none. Means are of the units that have one.
    bootstrap : Bootstrap
        How many resamples, and the seed.

    Returns
    -------
    (resamples, cells) array
        NaN where no unit with a value was drawn. All cells of a line are of the same draw. For the
        sum over units, where no value is missing, multiply by the number of units.

    Examples
    --------
    Whatever is drawn, the mean of equal units is their value.

    >>> resampled_means(np.full((4, 1), 2.0), Bootstrap(3)).tolist()
    [[2.0], [2.0], [2.0]]
    """
    defined = np.isfinite(values)
    return resampled_ratios(np.where(defined, values, 0.0), defined.astype(np.float64), bootstrap)


def shares_among_highest(values: Floats, count: int) -> Floats:
    """How often each of several is among the highest: of resamples, or of any lines.

    Parameters
    ----------
    values : (lines, columns) array
        Such as the share of usable answers of each template in every resample; NaN for none.
    count : int
        How many of the highest of a line are taken.

    Returns
    -------
    (columns,) array
        Share of the lines, 0 to 1. Equal values share the places that are left: two at the last
        place get a half each. A column without a value in a line has no place there; NaN where it
        has none in any.

    Notes
    -----
    Unit of analysis: one line. Without NaN, the shares sum to `count`, or to the number of columns
    where that is less. Checked by hand and against ranks of scipy.

    Examples
    --------
    By hand: the first leads one line of two; the others share the lead of the second line.

    >>> shares_among_highest(np.array([[3.0, 2, 1], [1, 2, 2]]), 1).tolist()
    [0.5, 0.25, 0.25]
    """
    above = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    tied = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    places = np.clip(count - above, 0, tied) / np.maximum(tied, 1)
    defined = np.isfinite(values).any(axis=0)
    shares: Floats = np.where(defined, places.sum(axis=0) / max(len(values), 1), np.nan)
    return shares


def percentile_interval(values: Floats, level: float) -> ResampledInterval:
    """The middle `level` of resampled coefficients, from those that are defined.

    Efron (1979) doi:10.1214/aos/1176344552. NaN both where fewer than half the resamples have a
    coefficient: the rest would be a selection.

    Examples
    --------
    By hand: 5 % of the numbers from 0 to 100 lie below 5, and 5 % above 95.

    >>> interval = percentile_interval(np.arange(101.0), 0.9)
    >>> round(interval.low, 6), round(interval.high, 6)
    (5.0, 95.0)
    """
    return percentile_intervals(values[:, None], level).of_cell(0)


def percentile_intervals(values: Floats, level: float) -> ResampledIntervals:
    """The `percentile_interval` of each column of a (resamples, cells) array.

    Checked against numpy.quantile, whose rule between two values it follows.

    Examples
    --------
    By hand, as for `percentile_interval`; the second column is twice the first.

    >>> numbers = np.arange(101.0)
    >>> intervals = percentile_intervals(np.column_stack([numbers, 2 * numbers]), 0.9)
    >>> intervals.low.round(6).tolist(), intervals.high.round(6).tolist()
    ([5.0, 10.0], [95.0, 190.0])
    """
    check_level(level)
    ordered = np.sort(np.where(np.isfinite(values), values, np.nan).T, axis=1)  # NaN at the end
    n_defined = np.isfinite(ordered).sum(axis=1)
    n_undefined = len(values) - n_defined
    enough = (n_defined > 0) & (n_undefined <= len(values) / 2)
    low, high = (
        np.where(enough, _quantiles(ordered, n_defined, share), np.nan)
        for share in ((1 - level) / 2, (1 + level) / 2)
    )
    return ResampledIntervals(low, high, n_undefined)


def unit_intervals(
    observed: Floats,
    resampled: Floats,
    n_units: Floats | Integers | int,
    level: float,
    bounds: Bounds | None = (0.0, 1.0),
) -> ResampledIntervals:
    """Intervals of means over units, such as items, that hold where units are few.

    Parameters
    ----------
    observed : (cells,) array
        The means, or whatever else of the units is about as variable as a mean.
    resampled : (resamples, cells) array
        The same in resamples of whole units, which say how variable it is; NaN for none.
    n_units : int or (cells,) array
        Units that have a value in each cell.
    level : float
        Such as 0.95.
    bounds : (lowest, highest) or None
        What the mean can be, of all cells or of each; None where nothing bounds it.

    Returns
    -------
    The ends for each cell: NaN with fewer than two units, without a mean, or where half of the
    resamples or more have none.

    Notes
    -----
    The standard error is the standard deviation over resamples times the root of G / (G - 1), as a
    resample of G units varies less than units of their population do. Without bounds: the mean
    plus and minus this times the quantile of t with G - 1 degrees of freedom. Within bounds: the
    interval of Wilson (1927) doi:10.1080/01621459.1927.10502953 of the share of the way from the
    lowest to the highest, with the quantile of t and with as many answers as would give this
    standard error (Korn & Graubard 1998; Dean & Pagano 2015 doi:10.1093/jssam/smv024). Where all
    units are at the same bound, with as many answers as units and the normal quantile, so that its
    width is not zero. Where they are alike elsewhere they do not say how far others would lie, and
    there is no interval. Of simulated means of 4 to 30 items it covers 93 to 99 %, where
    percentiles cover 35 to 94 % (docs/coverage.md).

    Examples
    --------
    By hand: two units at 1 are as 2 of 2 answers, 2 / (2 + 1.96 squared).

    >>> ends = unit_intervals(np.array([1.0]), np.ones((9, 1)), 2, 0.95)
    >>> ends.low.round(4).tolist(), ends.high.tolist()
    ([0.3424], [1.0])
    """
    check_level(level)
    defined = np.isfinite(resampled)
    n_defined = defined.sum(axis=0)
    n_undefined = len(resampled) - n_defined
    g = np.broadcast_to(np.asarray(n_units, dtype=np.float64), np.shape(observed))
    enough = (n_defined > 0) & (n_undefined <= len(resampled) / 2) & (g > 1)
    enough &= np.isfinite(observed)
    g = np.where(enough, g, 2.0)
    center = np.where(defined, resampled, 0.0).sum(axis=0) / np.maximum(n_defined, 1)
    squares = np.where(defined, resampled - center, 0.0) ** 2
    variance = squares.sum(axis=0) / np.maximum(n_defined, 1) * g / (g - 1)
    if bounds is None:
        half = scipy.stats.t.ppf((1 + level) / 2, g - 1) * np.sqrt(variance)
        half = np.where(variance > _ALIKE**2, half, np.nan)
        low, high = observed - half, observed + half
    else:
        low, high = bounded_intervals(observed, variance, g, level, bounds)
    return ResampledIntervals(
        np.where(enough, low, np.nan), np.where(enough, high, np.nan), n_undefined
    )


def studentized_ratio_intervals(
    above: Floats, below: Floats, bootstrap: Bootstrap, level: float, bounds: Bounds
) -> ResampledIntervals:
    """Intervals of ratios of two totals over units that hold where units are few and skewed.

    Parameters
    ----------
    above, below : (units, cells) array
        What each unit adds to the numerator and to the denominator of each cell, the latter not
        negative; a unit that adds nothing below belongs to no ratio.
    bootstrap : Bootstrap
        How many resamples, and the seed.
    level : float
        Such as 0.95.
    bounds : (lowest, highest)
        What a ratio can be.

    Returns
    -------
    The ends for each cell: NaN with fewer than two units. Where units are so much alike that more
    resamples than a tail has none but equal ones, and no error, those of `unit_intervals`.

    Notes
    -----
    The bootstrap-t of Efron (1982) doi:10.1137/1.9781611970319: quantiles of (ratio of a resample -
    ratio) / its own standard error, which is that of a ratio estimate, in place of those of t.
    Of 10 units of which a few weigh most it covers 92 to 97 %, where t and Wilson's interval cover
    89 to 94 % (simulated; docs/coverage.md). A resample without an error is as far away as can be,
    so that the ends of few different units would come out too near.

    Examples
    --------
    Skewed units: the far end is farther away than the near one.

    >>> above, below = np.array([[0.0], [0.0], [1.0], [0.0], [4.0], [1.0]]), np.ones((6, 1))
    >>> ends = studentized_ratio_intervals(above, below, Bootstrap(2000), 0.95, (-9.0, 9.0))
    >>> bool(ends.high[0] - 1 > 1 - ends.low[0])
    True
    """
    check_level(level)
    if above.shape != below.shape:
        raise ValueError(f"{above.shape} numerators and {below.shape} denominators")
    used = (below > 0) * 1.0
    parts = np.hstack([above * used, below, above**2 * used, above * below, below**2, used])

    def ratios_and_errors(totals: Floats) -> tuple[Floats, Floats]:
        x, w, xx, xw, ww, n = np.split(totals, 6, axis=-1)
        enough = (w > 0) & (n > 1)
        w, n = np.where(enough, w, np.nan), np.where(enough, n, np.nan)
        ratio = x / w
        squares = xx - 2 * ratio * xw + ratio**2 * ww
        squares = np.where(squares > _ROUNDED * (xx + ratio**2 * ww), squares, 0.0)
        return ratio, np.sqrt(squares * n / (n - 1)) / w

    ratio, error = ratios_and_errors(parts.sum(axis=0))
    drawn = []
    for totals in resampled_totals(parts, bootstrap):
        ratios, errors = ratios_and_errors(totals)
        distances = np.full(ratios.shape, np.nan)
        varies = errors > _ALIKE
        np.divide(ratios - ratio, errors, out=distances, where=varies)
        drawn.append(distances)
    tails = percentile_intervals(np.concatenate(drawn), level)
    low, high = ratio - tails.high * error, ratio - tails.low * error
    alike = bounded_intervals(ratio, error**2, parts[:, -used.shape[1] :].sum(0), level, bounds)
    too_alike = error <= _ALIKE
    too_alike |= tails.n_undefined > (1 - level) / 2 * bootstrap.n_resamples
    low, high = (
        np.where(too_alike, whole, np.clip(end, *bounds))
        for whole, end in zip(alike, (low, high), strict=True)
    )
    return ResampledIntervals(low, high, tails.n_undefined)


def bounded_intervals(
    observed: Floats, variance: Floats, n_units: Floats, level: float, bounds: Bounds
) -> tuple[Floats, Floats]:
    """Wilson's interval with as many answers as would vary as much as these units do.

    `observed`, `variance` (squared standard errors) and `n_units` are of each cell; Notes of
    `unit_intervals` say how.
    """
    lowest, width = bounds[0], bounds[1] - bounds[0]
    share = np.clip((observed - lowest) / width, 0.0, 1.0)
    spread = share * (1 - share)
    at_end = spread <= _ALIKE
    alike = variance <= (_ALIKE * width) ** 2
    n = np.where(at_end, n_units, spread * width**2 / np.where(alike, np.nan, variance))
    low, high = effective_wilson_intervals(
        np.where(at_end, np.round(share), share),
        n,
        np.where(at_end, np.inf, n_units - 1),
        level=level,
    )
    return lowest + width * low, lowest + width * high


def cosine_intervals(observed: Floats, resampled: Floats, level: float) -> ResampledIntervals:
    """Intervals of the cosine of the angle between what two noisy vectors estimate.

    Parameters
    ----------
    observed : (cells,) array
        The cosines, such as congruences of loadings.
    resampled : (resamples, cells) array
        The same in resamples; NaN for none.
    level : float in (0, 1)
        Coverage.

    Notes
    -----
    Errors turn vectors apart, so a cosine is too low and a resampled one lower still: percentiles
    of it cover 0 to 92 %, and never hold a truth of 1. The squared distance of vectors of length 1,
    d² = 2 - 2 cos, is taken as c times a noncentral chi-square with f degrees of freedom. By
    resampling, c f is its mean less d², and its variance is 2 c² f + 4 c d². The ends are
    the distances for which d² is at the upper and the lower tail; 0 where it is no farther than
    errors alone take it, as an RMSEA has it, and no interval where even the lower end would be 1.
    Ours, as no library has it; how often it covers is in docs/coverage.md.

    Examples
    --------
    As far apart as errors alone take them: the upper end is 1.

    >>> ends = cosine_intervals(np.array([0.98]), np.array([[0.95], [0.97], [0.96]]), 0.95)
    >>> ends.high.tolist(), bool(ends.low[0] < 1)
    ([1.0], True)
    """
    tail = (1 - check_level(level)) / 2
    defined = np.isfinite(resampled)
    n_undefined = (~defined).sum(axis=0)
    ends = np.full((2, len(observed)), np.nan)
    for cell in np.flatnonzero(np.isfinite(observed) & (n_undefined <= len(resampled) / 2)):
        distance = max(2 - 2 * float(observed[cell]), _ALIKE)
        drawn = 2 - 2 * resampled[defined[:, cell], cell]
        excess = max(float(drawn.mean()) - distance, _ALIKE)
        scale = float(drawn.var()) / (2 * excess + 4 * distance)
        if scale > 0:
            found = distance / scale, excess / scale
            farthest, nearest = (_noncentrality(*found, share) for share in (tail, 1 - tail))
            if farthest > 0:  # else errors alone take them farther apart: no interval has no width
                ends[:, cell] = 1 - scale * np.array([farthest, nearest]) / 2
    return ResampledIntervals(np.maximum(ends[0], -1.0), ends[1], n_undefined)


def _noncentrality(value: float, df: float, share: float) -> float:
    """That of a chi-square of which this share is below a value; 0 where less is with none."""

    def below(noncentrality: float) -> float:
        return float(scipy.stats.ncx2.cdf(value, df, noncentrality)) - share

    if float(scipy.stats.chi2.cdf(value, df)) <= share:
        return 0.0
    if value > _MANY_TIMES:  # as good as normal, where its distribution function gives up
        return max(value - df - float(scipy.stats.norm.ppf(share)) * 2 * math.sqrt(value), 0.0)
    most = max(value, 1.0)
    while below(most) > 0:
        most *= 2
    return float(scipy.optimize.brentq(below, 1e-12 * most, most))


_MANY_TIMES = 1e6
"""A value over which the distribution function of noncentral chi-square is no longer computed."""


def _quantiles(ordered: Floats, n_defined: Integers, share: float) -> Floats:
    """The quantile of the first values of each line of ordered values, between two by their line.

    To the last digit as numpy.quantile, which counts from the nearer of the two.
    """
    if not ordered.shape[1]:
        return np.full(len(ordered), np.nan)
    position = np.maximum(n_defined - 1, 0) * share
    before = np.floor(position).astype(np.int64)
    after = np.minimum(before + 1, np.maximum(n_defined - 1, 0))
    lines = np.arange(len(ordered))
    first, second, way = ordered[lines, before], ordered[lines, after], position - before
    step = second - first
    return np.where(way < 0.5, first + step * way, second - step * (1 - way))


def resampling_problems(interval: ResampledInterval, bootstrap: Bootstrap) -> tuple[str, ...]:
    """A sentence on resamples without a coefficient."""
    if not interval.n_undefined:
        return ()
    share = f"{interval.n_undefined} of {bootstrap.n_resamples} resamples have no coefficient"
    if math.isnan(interval.low):
        return (f"No bootstrap interval: {share}.",)
    return (f"The bootstrap interval leaves resamples out: {share}.",)
