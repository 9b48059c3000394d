"""Stories around words: ratings by the number of negative words in a story."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from core.stats.correlation import Correlation, correlation, resampled_r_intervals
from core.stats.groups import mean_interval, summary
from core.stats.inputs import ROUNDING, Floats, Integers
from core.stats.resampling import Bootstrap, resampled_totals, resampling_problems

# Ours: scipy has no correlation of means with an interval that redraws what the means are of.
# Checked by hand, and against R's cor.test and t.test.


@dataclass(frozen=True, eq=False)
class LevelMeans:
    """Means of values at each level, lowest level first, with Student's intervals.

    Fields are arrays of one number for each level; `low` and `high` are NaN where a level has one
    value. `sd` has the divisor n - 1.
    """

    level: Floats
    n: Integers
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats


def level_means(levels: Floats, values: Floats, coverage: float = 0.95) -> LevelMeans:
    """Mean and interval of the values at each level.

    Parameters
    ----------
    levels, values : (units,)
        The level and the value of each unit, such as a story; units that lack either are left out.
    coverage : float in (0, 1)
        Two-sided, of the interval of each mean: mean ± t * sd / √n.

    Returns
    -------
    LevelMeans : without an entry where no unit has both.

    Notes
    -----
    Units are taken as independent. Agrees with R's t.test.

    Examples
    --------
    By hand: 2 ± 12.706 · √2 / √2, and 5 ± the same.

    >>> means = level_means(np.array([0.0, 0, 1, 1]), np.array([1.0, 3, 4, 6]))
    >>> means.mean.tolist(), means.low.round(3).tolist()
    ([2.0, 5.0], [-10.706, -7.706])
    """
    both = np.isfinite(levels) & np.isfinite(values)
    groups = [
        (level, summary(values[both & (levels == level)])) for level in np.unique(levels[both])
    ]
    ends = [mean_interval(group, coverage) for _, group in groups]
    columns = [
        [level for level, _ in groups],
        [group.mean for _, group in groups],
        [group.sd for _, group in groups],
        [low for low, _ in ends],
        [high for _, high in ends],
    ]
    level, mean, sd, low, high = (np.array(column, dtype=np.float64) for column in columns)
    return LevelMeans(
        level, np.array([group.n for _, group in groups], dtype=np.int64), mean, sd, low, high
    )


def level_correlations(
    levels: Floats,
    values: Floats,
    *,
    coverage: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> tuple[Correlation, Correlation]:
    """The correlation of the level with the mean value of each level, and with single values.

    Parameters
    ----------
    levels, values : (units,)
        The level and the value of each unit, such as the number of negative words of a story and
        its rating; units that lack either are left out.
    coverage : float in (0, 1)
        Two-sided, of the intervals.
    bootstrap : Bootstrap, optional
        Redraws whole units within each level, since the design sets the levels: a further interval
        of the correlation with single values (`resampled_r_intervals`).

    Returns
    -------
    (of means, of single values) : Correlation
        Pearson's r. `n` counts levels for the first and units for the second. `low`, `high` and p
        are those of so many independent rows: Fisher's z. NaN with a reason in `problems` under
        three levels or three units, and where levels, means or values are all the same.

    Notes
    -----
    Units are taken as independent. Values are redrawn as far from the mean of their level as those
    of all units are, by the root of n / (n - 1) for n of a level, and the degrees of freedom of t
    are the units less the levels. Means have no such interval: redrawn means scatter more than the
    means themselves, so that it covered 0 to 90 % of true correlations. Source: Core Sentiment
    Inventory, which correlates means. Agrees with R's cor.test.

    Examples
    --------
    By hand: 5 / √(2 · 14) of the means 2, 3 and 7, and 10 / √(4 · 34) of single values.

    >>> levels, values = np.array([0.0, 0, 1, 1, 2, 2]), np.array([1.0, 3, 2, 4, 6, 8])
    >>> [round(result.r, 4) for result in level_correlations(levels, values)]
    [0.9449, 0.8575]
    """
    both = np.isfinite(levels) & np.isfinite(values)
    own_levels, own_values = levels[both], values[both]
    by_level = level_means(own_levels, own_values, coverage)
    of_means = correlation(by_level.level, by_level.mean, level=coverage)
    of_units = correlation(own_levels, own_values, level=coverage)
    if bootstrap is None or math.isnan(of_units.r):
        return of_means, of_units
    centered = own_values - own_values.mean()
    parts = []
    for number, level in enumerate(by_level.level):
        # a seed for each level, as levels are drawn independently
        seed = np.random.SeedSequence((bootstrap.seed, number)).generate_state(1)[0]
        of_level = centered[own_levels == level]
        n = len(of_level)
        of_level = of_level.mean() + (of_level - of_level.mean()) * math.sqrt(n / max(n - 1, 1))
        totals = resampled_totals(
            np.column_stack([of_level, of_level**2]), Bootstrap(bootstrap.n_resamples, int(seed))
        )
        parts.append(np.concatenate(list(totals)))
    drawn = _drawn_correlations(by_level.level, by_level.n, np.stack(parts))
    units = len(own_values) - len(parts) + 1
    ends = resampled_r_intervals(np.array([of_units.r]), drawn[:, None], units, coverage).of_cell(0)
    problems = (*of_units.problems, *resampling_problems(ends, bootstrap))
    return of_means, replace(
        of_units, bootstrap_low=ends.low, bootstrap_high=ends.high, problems=problems
    )


def _drawn_correlations(levels: Floats, n: Integers, sums: Floats) -> Floats:
    """(resamples,) correlations of levels with single values; NaN where the values do not vary.

    `sums` are (levels, resamples, 2): the sum and the sum of squares of the values of each level.
    """
    total, squares = sums[:, :, 0], sums[:, :, 1]
    apart = levels - (n * levels).sum() / n.sum()
    of_x = float((n * apart**2).sum())
    of_y = squares.sum(axis=0) - total.sum(axis=0) ** 2 / n.sum()
    varies = (of_y > ROUNDING * n.sum()) & (of_x > 0)
    scale = np.sqrt(np.where(varies, of_y, 1.0) * (of_x or 1.0))
    r = (apart[:, None] * total).sum(axis=0) / scale
    return np.where(varies, np.clip(r, -1, 1), np.nan)
