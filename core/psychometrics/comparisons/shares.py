"""Shares of answers, with two intervals: Wilson's, and that of unlimited resampling."""
# Wilson's interval is statsmodels'; no trials, and none or all successes, are answered here.

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from core.psychometrics.arrays import Floats
from core.psychometrics.estimate import check_level


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
    """What share of trials succeeded, and where the true share may lie.

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
    nan = math.nan
    if n == 0:
        reason = "Undefined: there are no trials."
        return Share(0, 0, nan, nan, nan, nan, nan, level, (reason,))
    own = successes / n
    ends = [float(binom.ppf(tail, n, own)) / n for tail in ((1 - level) / 2, (1 + level) / 2)]
    extreme = successes in (0, n)
    return Share(
        successes=successes,
        n=n,
        share=own,
        low=low,
        high=high,
        bootstrap_low=max(0.0, ends[0]),
        bootstrap_high=ends[1],
        level=level,
        problems=(
            ("Every resample is like the sample: the bootstrap interval has no width.",)
            if extreme
            else ()
        ),
    )


def wilson_interval(successes: int, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Where the true share of successes may lie, from so many successes in n independent trials.

    Unlike the interval of the normal approximation, Wilson's stays within 0 and 1 and has a width
    where every trial or none succeeded.

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
    """
    check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials")
    if n == 0:
        return math.nan, math.nan
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    # 0 and n successes have an end at exactly 0 or 1, which rounding would miss by an ulp.
    return 0.0 if successes == 0 else float(low), 1.0 if successes == n else float(high)


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
    return tuple(share(int(own), total, level=level) for own in values)
