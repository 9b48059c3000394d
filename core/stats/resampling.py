"""Bootstrap resamples of rows as weights, so that a coefficient is computed for many at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from core.stats.inputs import Estimate, Floats, check_level

# Ours because scipy's bootstrap draws rows anew for each coefficient and takes twice as long. With
# weights, one product of matrices gives a coefficient of all resamples.

_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class Bootstrap:
    """The number of resamples of an interval, and the seed."""

    n_resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_resamples < 1:
            raise ValueError(f"{self.n_resamples} resamples")


@dataclass(frozen=True)
class PercentileInterval:
    """Ends of a percentile interval, and how many resamples had no coefficient."""

    low: float
    high: float
    n_undefined: int


def row_weights(n_rows: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """How often each row was drawn, in blocks of (resamples, rows); every line sums to n_rows.

    Blocks bound the memory; the draws are the same for the same seed and number of rows.
    """
    generator = np.random.default_rng(bootstrap.seed)
    at_once = max(1, _CELLS_AT_ONCE // max(n_rows, 1))
    for start in range(0, bootstrap.n_resamples, at_once):
        size = min(at_once, bootstrap.n_resamples - start)
        drawn = generator.integers(n_rows, size=(size, n_rows))
        drawn += np.arange(size)[:, None] * n_rows
        counts = np.bincount(drawn.ravel(), minlength=size * n_rows)
        yield counts.reshape(size, n_rows).astype(np.float64)


def percentile_interval(values: Floats, level: float) -> PercentileInterval:
    """The middle `level` of resampled coefficients, from those that are defined.

    Efron (1979) doi:10.1214/aos/1176344552. NaN both where fewer than half the resamples have a
    coefficient: the rest would be a selection.
    """
    check_level(level)
    defined = values[np.isfinite(values)]
    n_undefined = len(values) - len(defined)
    if len(defined) == 0 or n_undefined > len(values) / 2:
        return PercentileInterval(math.nan, math.nan, n_undefined)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return PercentileInterval(float(low), float(high), n_undefined)


def resampling_problems(interval: PercentileInterval, bootstrap: Bootstrap) -> tuple[str, ...]:
    """A sentence on resamples without a coefficient."""
    if not interval.n_undefined:
        return ()
    share = f"{interval.n_undefined} of {bootstrap.n_resamples} resamples have no coefficient"
    if math.isnan(interval.low):
        return (f"No bootstrap interval: {share}.",)
    return (f"The bootstrap interval leaves resamples out: {share}.",)


def with_resampled_interval(result: Estimate, values: Floats, bootstrap: Bootstrap) -> Estimate:
    """The estimate with the percentile interval of its resampled values, and its problems."""
    interval = percentile_interval(values, result.level)
    return replace(
        result,
        low=interval.low,
        high=interval.high,
        problems=result.problems + resampling_problems(interval, bootstrap),
    )
