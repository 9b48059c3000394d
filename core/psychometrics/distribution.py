"""How scores are distributed: mean, variance, shape, quartiles, groups between quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from core.psychometrics.arrays import Floats
from core.psychometrics.score_values import is_constant


@dataclass(frozen=True)
class Moments:
    """Mean and variance (divisor n - 1) of `n` scores; `constant` where several do not differ."""

    n: int
    mean: float
    variance: float
    constant: bool

    @property
    def sd(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.variance)

    @property
    def varies(self) -> bool:
        """Whether there are two scores that differ."""
        return self.n > 1 and not self.constant


def moments(scores: Floats) -> Moments:
    """Mean and variance of the scores that are finite.

    The mean of no score is NaN, and the variance of fewer than two; the variance of scores that
    differ by nothing but rounding is exactly 0.
    """
    kept = scores[np.isfinite(scores)]
    n = len(kept)
    constant = n > 1 and is_constant(kept)
    variance = 0.0 if constant else float(kept.var(ddof=1)) if n > 1 else math.nan
    return Moments(n, float(kept.mean()) if n else math.nan, variance, constant)


def skewness_and_kurtosis(scores: Floats) -> tuple[float, float]:
    """Sample skewness G1 and excess kurtosis G2 of the scores that are finite.

    Joanes and Gill (1998) doi:10.1111/1467-9884.00122. NaN where the scores do not differ, and for
    fewer than three scores or, for kurtosis, four.
    """
    kept = scores[np.isfinite(scores)]
    if not moments(kept).varies:
        return math.nan, math.nan
    skew = float(stats.skew(kept, bias=False)) if len(kept) > 2 else math.nan
    kurtosis = float(stats.kurtosis(kept, bias=False)) if len(kept) > 3 else math.nan
    return skew, kurtosis


def quartiles(scores: Floats) -> Floats:
    """Lowest score, quartiles (linear interpolation, R's type 7), highest: (5,); NaN for none."""
    kept = scores[np.isfinite(scores)]
    return np.quantile(kept, [0, 0.25, 0.5, 0.75, 1]) if len(kept) else np.full(5, np.nan)


def floor_and_ceiling(shares: Floats) -> tuple[float, float]:
    """Shares of rows with every answer at the lowest possible score, and at the highest.

    `shares` are (rows, items) scores as shares of their range, 0 to 1, NaN for no answer; both are
    NaN where there is none.
    """
    known = ~np.isnan(shares)
    if not known.any():
        return math.nan, math.nan
    low = (known & (shares <= 0)).sum(axis=1) == known.sum(axis=1)
    high = (known & (shares >= 1)).sum(axis=1) == known.sum(axis=1)
    return float(low.mean()), float(high.mean())


def column_means(values: Floats) -> Floats:
    """The mean of each column, leaving gaps out; NaN where there are only gaps."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    sums = np.where(known, values, 0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def quantile_groups(values: Sequence[float], n_groups: int, *, digits: int) -> tuple[int, ...]:
    """The quantile group of each value, from 1; equal values are always in the same group.

    The groups are divided at quantiles that interpolate linearly (R's type 7), rounded to so many
    digits as the values are. A value at a division belongs to the lower group.
    """
    cuts = np.quantile(np.asarray(values), [k / n_groups for k in range(1, n_groups)])
    places = np.searchsorted(np.round(cuts, digits), values, side="left")
    return tuple(int(place) + 1 for place in places)
