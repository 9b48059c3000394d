"""Distributions: moments, quartiles, shares with intervals, divergences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import stats
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from core.stats.inputs import Estimate, Floats, check_level, is_constant
from core.stats.resampling import Bootstrap, percentile_interval

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
    """
    finite = scores[np.isfinite(scores)]
    if not moments(finite).varies:
        return math.nan, math.nan
    skew = float(stats.skew(finite, bias=False)) if len(finite) > 2 else math.nan
    kurtosis = float(stats.kurtosis(finite, bias=False)) if len(finite) > 3 else math.nan
    return skew, kurtosis


def quartiles(scores: Floats) -> Floats:
    """Lowest score, quartiles (linear interpolation, R's type 7), highest: (5,); NaN for none."""
    finite = scores[np.isfinite(scores)]
    return np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]) if len(finite) else np.full(5, np.nan)


def floor_and_ceiling(shares: Floats) -> tuple[float, float]:
    """Shares of rows with every answer at the lowest possible score, and at the highest.

    `shares` are (rows, items) scores as shares of their range, 0 to 1, NaN for no answer; both are
    NaN where there is none.
    """
    answered = ~np.isnan(shares)
    if not answered.any():
        return math.nan, math.nan
    low = (answered & (shares <= 0)).sum(axis=1) == answered.sum(axis=1)
    high = (answered & (shares >= 1)).sum(axis=1) == answered.sum(axis=1)
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
        reason = "Undefined: there are no trials."
        return Share(0, 0, math.nan, math.nan, math.nan, math.nan, math.nan, level, (reason,))
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
    """
    check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials")
    if n == 0:
        return math.nan, math.nan
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    # 0 and n successes have an end at exactly 0 or 1, which rounding would miss by an ulp.
    return 0.0 if successes == 0 else float(low), 1.0 if successes == n else float(high)


def wilson_intervals(successes: Floats, n: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """`wilson_interval` of many shares at once: (shares,) lower and upper ends.

    Raises
    ------
    ValueError : as `wilson_interval`.
    """
    check_level(level)
    own, trials = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if (own < 0).any() or (own > trials).any():
        raise ValueError("more successes than trials, or fewer than none")
    known = trials > 0
    low, high = proportion_confint(
        own, np.where(known, trials, 1.0), alpha=1 - level, method="wilson"
    )
    return (
        np.where(known, np.where(own == 0, 0.0, low), np.nan),
        np.where(known, np.where(own == trials, 1.0, high), np.nan),
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
    return tuple(share(int(own), total, level=level) for own in values)


# Distributions over answer options: the entropy of one, and the distance between two.

Distance = Literal["jensen-shannon", "earth mover's"]
_EMPTY = "Undefined: one of the two distributions has no answers."


def entropy_bits(weights: Floats, *, normalized: bool = False) -> float:
    """How evenly answers spread over the options, in bits.

    Parameters
    ----------
    weights : (options,)
        Counts or shares, none negative; only their proportions matter.
    normalized : bool
        Divide by log2 of the number of options, so that 1 is even; NaN for one option.

    Returns
    -------
    0 where one option has all answers, log2 of the number of options where all have the same
    share; NaN where all weights are 0.

    Raises
    ------
    ValueError : a weight is negative or not a number.

    Notes
    -----
    - sum p log2 p, Shannon (1948) doi:10.1002/j.1538-7305.1948.tb01338.x. Checked by hand.
    """
    shares = _shares(weights)
    bits = float(_entropies(shares))
    if not normalized:
        return bits
    return bits / math.log2(len(shares)) if len(shares) > 1 else math.nan


def jensen_shannon_bits(first: Floats, second: Floats) -> float:
    """Jensen-Shannon divergence of two distributions over the same options, without order.

    Parameters
    ----------
    first, second : (options,)
        Counts or shares in the same order of options.

    Returns
    -------
    The divergence in bits: 0 for equal distributions, 1 where no option has answers in both; NaN
    where either is all 0.

    Raises
    ------
    ValueError : the options do not match, or a weight is negative or not a number.

    Notes
    -----
    Entropy of the mean less mean of the entropies; Lin (1991) doi:10.1109/18.61115. Some libraries
    return its square root, the distance. Checked by hand.
    """
    p, q = _shares(first), _shares(second)
    if p.shape != q.shape:
        raise ValueError(f"{len(p)} options against {len(q)}")
    return float(_jensen_shannon(p, q))


def earth_movers_distance(
    first: Floats,
    second: Floats,
    *,
    first_positions: Floats | None = None,
    second_positions: Floats | None = None,
) -> float:
    """How far answers move along the scale to turn one distribution into the other.

    Parameters
    ----------
    first, second : (options,)
        Counts or shares of ordered options; the two may have different numbers of options.
    first_positions, second_positions : (options,), optional
        Where the options lie on 0 to 1; evenly from 0 to 1 otherwise (a single option at 1/2).

    Returns
    -------
    0 for equal distributions, 1 where one has all answers at the bottom and the other all at the
    top; NaN where either is all 0.

    Raises
    ------
    ValueError : a weight is negative or not a number; positions do not match or leave 0 to 1.

    Notes
    -----
    Area between the two cumulative distributions (Wasserstein-1); Rubner, Tomasi & Guibas (2000)
    doi:10.1023/A:1026543900054. Checked by hand.
    """
    p, q = _shares(first), _shares(second)
    of_p, of_q = _positions(p, first_positions), _positions(q, second_positions)
    places = np.concatenate([of_p, of_q])
    order = np.argsort(places, kind="stable")
    steps = np.concatenate([p, -q])[order]
    return float((np.abs(np.cumsum(steps)[:-1]) * np.diff(places[order])).sum())


def resampled_distance(
    first: Floats,
    second: Floats,
    distance: Distance,
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """A distance between two sets of answers to the same options, with its interval.

    Parameters
    ----------
    first, second : (options,)
        Counts of answers, in the same order of options (evenly spaced for the earth mover's).
    distance : "jensen-shannon" or "earth mover's"
        In bits, or in the range of the scale.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        2,000 resamples of seed 0 by default.

    Returns
    -------
    Estimate : `n` counts the answers of both. NaN with a reason where either has none. A distance
    is never negative, so it is above 0 by chance alone even where the two are alike.

    Raises
    ------
    ValueError : counts are not whole, or as `jensen_shannon_bits`.

    Notes
    -----
    Percentile interval from answers redrawn within each set, taken as independent.
    """
    p, q = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    bootstrap = bootstrap or Bootstrap()
    shares = _shares(p), _shares(q)
    if p.shape != q.shape:
        raise ValueError(f"{len(p)} options against {len(q)}")
    if (p % 1).any() or (q % 1).any():
        raise ValueError("resampling needs counts of answers, in whole numbers")
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=int(p.sum() + q.sum()),
        method=f"{distance} distance, {level * 100:g}% interval (percentile bootstrap)",
    )
    if not (p.any() and q.any()):
        return replace(result, problems=(_EMPTY,))
    generator = np.random.default_rng(bootstrap.seed)
    drawn = [
        generator.multinomial(int(counts.sum()), share, size=bootstrap.n_resamples) / counts.sum()
        for counts, share in zip((p, q), shares, strict=True)
    ]
    measure = _jensen_shannon if distance == "jensen-shannon" else _earth_movers
    interval = percentile_interval(measure(drawn[0], drawn[1]), level)
    return replace(result, value=float(measure(*shares)), low=interval.low, high=interval.high)


def _shares(weights: Floats) -> Floats:
    """Weights as shares; all NaN where they sum to 0."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"weights of shape {values.shape} are not one per option")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("a weight is negative or not a number")
    total = float(values.sum())
    return values / total if total > 0 else np.full(values.shape, np.nan)


def _entropies(shares: Floats) -> Floats:
    """Entropy in bits along the last axis; NaN for NaN."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    # Adding 0 turns a negative zero into zero.
    return np.asarray(-(shares * logs).sum(axis=-1) + 0.0)


def _jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Divergence in bits along the last axis, never below 0 by rounding."""
    divergence = _entropies((p + q) / 2) - (_entropies(p) + _entropies(q)) / 2
    return np.asarray(np.clip(divergence, 0.0, 1.0))


def _earth_movers(p: Floats, q: Floats) -> Floats:
    """Earth mover's distance along the last axis, for options evenly from 0 to 1."""
    steps = max(p.shape[-1] - 1, 1)
    return np.asarray(np.abs(np.cumsum(p - q, axis=-1))[..., :-1].sum(axis=-1) / steps)


def _positions(shares: Floats, positions: Floats | None) -> Floats:
    """Where options lie on 0 to 1."""
    if positions is None:
        return np.linspace(0.0, 1.0, len(shares)) if len(shares) > 1 else np.array([0.5])
    given = np.asarray(positions, dtype=np.float64)
    if given.shape != shares.shape or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("options need one position each, within 0 and 1")
    return given
