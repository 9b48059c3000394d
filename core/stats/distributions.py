"""Distributions: moments, quartiles, shares with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import Floats, check_level, is_constant

# Distributions of scores: mean, variance, shape, quartiles, quantile groups.


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

    Examples
    --------
    By hand.

    >>> result = moments(np.array([1.0, 2, 3, 4, np.nan]))
    >>> result.n, result.mean, round(result.variance, 4)
    (4, 2.5, 1.6667)
    """
    finite = scores[np.isfinite(scores)]
    n = len(finite)
    constant = n > 1 and is_constant(finite)
    variance = 0.0 if constant else float(finite.var(ddof=1)) if n > 1 else math.nan
    return Moments(n, float(finite.mean()) if n else math.nan, variance, constant)


def skewness_and_kurtosis(scores: Floats) -> tuple[float, float]:
    """Sample skewness G1 and excess kurtosis G2 of the scores that are finite.

    Joanes and Gill (1998) doi:10.1111/1467-9884.00122. NaN where the scores do not differ, and for
    fewer than three scores or, for kurtosis, four.

    Examples
    --------
    skew and kurtosi of psych (R) with type = 2.

    >>> skewness, kurtosis = skewness_and_kurtosis(np.array([1.0, 2, 3, 10]))
    >>> round(skewness, 4), round(kurtosis, 4)
    (1.7636, 3.228)
    """
    finite = scores[np.isfinite(scores)]
    if not moments(finite).varies:
        return math.nan, math.nan
    skew = float(scipy.stats.skew(finite, bias=False)) if len(finite) > 2 else math.nan
    kurtosis = float(scipy.stats.kurtosis(finite, bias=False)) if len(finite) > 3 else math.nan
    return skew, kurtosis


def quartiles(scores: Floats) -> Floats:
    """Lowest score, quartiles (linear interpolation, R's type 7), highest: (5,); NaN for none.

    Examples
    --------
    quantile of R.

    >>> quartiles(np.array([1.0, 2, 3, 10])).tolist()
    [1.0, 1.75, 2.5, 4.75, 10.0]
    """
    finite = scores[np.isfinite(scores)]
    return np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]) if len(finite) else np.full(5, np.nan)


def floor_and_ceiling(shares: Floats) -> tuple[float, float]:
    """Shares of rows with every answer at the lowest possible score, and at the highest.

    `shares` are (rows, items) scores as shares of their range, 0 to 1, NaN for no answer; both are
    NaN where there is none.

    Examples
    --------
    By hand: one row of four is at the floor throughout, two are at the ceiling.

    >>> floor_and_ceiling(np.array([[0.0, 0], [1, 1], [1, np.nan], [0, 1]]))
    (0.25, 0.5)
    """
    answered = ~np.isnan(shares)
    if not answered.any():
        return math.nan, math.nan
    low = (answered & (shares <= 0)).sum(axis=1) == answered.sum(axis=1)
    high = (answered & (shares >= 1)).sum(axis=1) == answered.sum(axis=1)
    return float(low.mean()), float(high.mean())


def column_means(values: Floats) -> Floats:
    """The mean of each column, leaving gaps out; NaN where there are only gaps.

    Examples
    --------
    >>> column_means(np.array([[1.0, np.nan], [3, np.nan]])).tolist()
    [2.0, nan]
    """
    present = ~np.isnan(values)
    counts = present.sum(axis=0)
    sums = np.where(present, values, 0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def quantile_groups(values: Sequence[float], n_groups: int, *, digits: int) -> tuple[int, ...]:
    """The quantile group of each value, from 1; equal values are always in the same group.

    The groups are divided at quantiles that interpolate linearly (R's type 7), rounded to so many
    digits as the values are. A value at a division belongs to the lower group.
    """
    cuts = np.quantile(np.asarray(values), [k / n_groups for k in range(1, n_groups)])
    indices = np.searchsorted(np.round(cuts, digits), values, side="left")
    return tuple(int(index) + 1 for index in indices)


# Shares of answers with Wilson's interval and the bootstrap's. Wilson's is statsmodels'; no trials,
# and none or all successes, are treated here.


@dataclass(frozen=True)
class Share:
    """`successes` of `n`: the share, Wilson's interval (`low`, `high`) and the bootstrap's."""

    successes: int
    n: int
    share: float
    low: float
    high: float
    bootstrap_low: float
    bootstrap_high: float
    level: float
    problems: tuple[str, ...] = ()


def share(successes: int, n: int, *, level: float = 0.95) -> Share:
    """The share of trials that succeeded, with two intervals.

    Parameters
    ----------
    successes : int
        0 to n.
    n : int
        Trials, taken as independent.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    Share : a proportion, 0 to 1. NaN with a reason where n is 0. At 0 and n successes the bootstrap
    interval has no width and a caution says so; read Wilson's.

    Raises
    ------
    ValueError : more successes than trials or fewer than none, or a level not within 0 and 1.

    Notes
    -----
    Wilson (1927) doi:10.1080/01621459.1927.10502953. The percentile bootstrap is taken at its limit
    of unlimited resamples, where it is the quantiles of a binomial of share k / n, so it needs no
    seed. Agrees with R's prop.test(correct = FALSE) and qbinom to 1e-12.
    """
    low, high = wilson_interval(successes, n, level=level)
    if n == 0:
        reason = undefined_note("Undefined: there are no trials.")
        return Share(0, 0, math.nan, math.nan, math.nan, math.nan, math.nan, level, (reason,))
    proportion = successes / n
    ends = [
        float(scipy.stats.binom.ppf(tail, n, proportion)) / n
        for tail in ((1 - level) / 2, (1 + level) / 2)
    ]
    extreme = successes in (0, n)
    return Share(
        successes=successes,
        n=n,
        share=proportion,
        low=low,
        high=high,
        bootstrap_low=max(0.0, ends[0]),
        bootstrap_high=ends[1],
        level=level,
        problems=(
            ("Every resample equals the sample, so the bootstrap interval has no width.",)
            if extreme
            else ()
        ),
    )


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of the share of successes in n independent trials.

    Unlike the interval of the normal approximation, it stays within 0 and 1 and has a width where
    every trial or none succeeded.

    Parameters
    ----------
    successes
        Number of successes, 0 to n.
    n
        Number of trials, taken as independent.
    level
        Two-sided coverage, between 0 and 1.

    Returns
    -------
    Lower and upper end, both within 0 and 1; NaN both where n is 0.

    Raises
    ------
    ValueError
        There are more successes than trials, fewer than none, or `level` is not within 0 and 1.

    Notes
    -----
    With z the normal quantile of the level and p = successes / n, the ends are
    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n).
    Wilson (1927) doi:10.1080/01621459.1927.10502953. Agrees with R's prop.test(correct = FALSE).

    Examples
    --------
    prop.test(8, 10, correct = FALSE) of R.

    >>> [round(end, 4) for end in wilson_interval(8, 10)]
    [0.4902, 0.9433]
    """
    low, high = wilson_intervals(np.array([successes]), np.array([n]), level=level)
    return float(low[0]), float(high[0])


def clustered_share_interval(
    share: float, n: int, error: float, n_clusters: int, *, level: float = 0.95
) -> tuple[float, float]:
    """Wilson's interval of a share of answers that stand in clusters, by their effective number.

    Parameters
    ----------
    share
        Share of successes among the answers, 0 to 1.
    n
        Number of answers.
    error
        Standard error of the share that is robust to clusters.
    n_clusters
        Number of clusters. Where each holds one answer, the interval is `wilson_interval`.
    level
        Two-sided coverage, between 0 and 1.

    Returns
    -------
    Lower and upper end, both within 0 and 1, never equal; NaN both where n is 0.

    Notes
    -----
    The effective number is p(1-p) / error², at most n: the interval is never shorter than that of
    independent answers. Where all answers are alike, nothing says how alike the answers of a
    cluster are, and it is the number of clusters. The quantile is that of t with n_clusters - 1
    degrees of freedom. Franco, Little, Louis and Slud (2019) doi:10.1093/jssam/smy019; the quantile
    as in Korn and Graubard (1998), Survey Methodology 24, 193-201.

    Examples
    --------
    By hand: the effective number is 25, t with 10 degrees of freedom 2.22814.

    >>> [round(end, 4) for end in clustered_share_interval(0.5, 100, 0.1, 11)]
    [0.2965, 0.7035]
    """
    check_level(level)
    if n in (0, n_clusters):
        return wilson_interval(round(share * n), n, level=level)
    effective = float(n_clusters)
    if 0 < share < 1:
        effective = min(n, share * (1 - share) / error**2) if error > 0 else float(n)
    (low,), (high,) = effective_wilson_intervals(
        np.array([share]), np.array([effective]), np.array([n_clusters - 1.0]), level=level
    )
    return float(low), float(high)


def effective_wilson_intervals(
    shares: Floats, n: Floats, df: Floats, *, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Wilson's intervals of shares that vary as those of n independent answers, with t.

    Parameters
    ----------
    shares, n : (shares,)
        The shares, and their effective numbers of answers, which need not be whole.
    df : (shares,)
        Degrees of freedom of their standard errors; infinite for the normal quantile.
    level : float in (0, 1)
        Two-sided coverage.

    Examples
    --------
    By hand, with t of 10 degrees of freedom, 2.22814, in Wilson's formula.

    >>> low, high = effective_wilson_intervals(np.array([0.5]), np.array([25]), np.array([10.0]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.2965], [0.7035])
    """
    tail = (1 - level) / 2
    weight = n * (scipy.stats.norm.isf(tail) / scipy.stats.t.isf(tail, df)) ** 2
    return wilson_intervals(shares * weight, weight, level=level)


def wilson_intervals(successes: Floats, n: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """`wilson_interval` of many shares at once: (shares,) lower and upper ends.

    Raises
    ------
    ValueError : as `wilson_interval`.

    Examples
    --------
    prop.test(correct = FALSE) of R, of 8 and of 0 in 10.

    >>> low, high = wilson_intervals(np.array([8.0, 0]), np.array([10.0, 10]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.4902, 0.0], [0.9433, 0.2775])
    """
    check_level(level)
    counts, trials = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if (counts < 0).any() or (counts > trials).any():
        raise ValueError("more successes than trials, or fewer than none")
    defined = trials > 0
    from statsmodels.stats.proportion import proportion_confint  # slow to load

    low, high = proportion_confint(
        counts, np.where(defined, trials, 1.0), alpha=1 - level, method="wilson"
    )
    # 0 and n successes have an end at exactly 0 or 1, which rounding would miss by an ulp.
    return (
        np.where(defined, np.where(counts == 0, 0.0, low), np.nan),
        np.where(defined, np.where(counts == trials, 1.0, high), np.nan),
    )


def option_shares(counts: Floats, *, level: float = 0.95) -> tuple[Share, ...]:
    """The share of every option, each with its intervals; see `share`.

    Parameters
    ----------
    counts : (options,)
        How many answers chose each option.
    level : float in (0, 1)
        Two-sided coverage of each interval by itself, not of all together.

    Raises
    ------
    ValueError : a count is negative or not whole.
    """
    values = np.asarray(counts, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or (values % 1).any():
        raise ValueError("counts of answers are whole numbers from 0")
    total = int(values.sum())
    return tuple(share(int(count), total, level=level) for count in values)
