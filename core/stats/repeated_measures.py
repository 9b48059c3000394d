"""The same units under several conditions: analysis of variance and standardized differences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.groups import (
    MORE_ALIKE,
    noncentral_f_interval,
    noncentral_t_interval,
    unbiased_factor,
)
from core.stats.inputs import (
    ROUNDING,
    Estimate,
    Floats,
    check_level,
    undefined_size_note,
)

# Ours because AnovaRM of statsmodels corrects no degrees of freedom and takes no units with a gap.
# Checked against anova of R's mlm (F, epsilon, corrected p), aov of R and AnovaRM of statsmodels.


@dataclass(frozen=True)
class ShareBetween(Estimate):
    """A share of variance between conditions, its mean by chance, and what is left without that."""

    by_chance: float = math.nan
    corrected: float = math.nan


@dataclass(frozen=True)
class RepeatedMeasures:
    """Analysis of variance of the same units under three conditions or more.

    `df1` and `df2` are those of `f` times `epsilon`, and `p` is by them. `partial` is the share of
    the variance within units that lies between conditions, `generalized` that of all variance.
    Both have what chance gives, and are corrected for it; intervals are of the population's share.
    """

    f: float
    df1: float
    df2: float
    p: float
    epsilon: float
    partial: ShareBetween
    generalized: ShareBetween
    n: int
    n_left_out: int
    problems: tuple[str, ...] = ()


def repeated_measures(scores: Floats, *, level: float = 0.95) -> RepeatedMeasures:
    """Whether the means of several conditions differ, over the units that have all of them.

    Parameters
    ----------
    scores : (units, conditions)
        NaN where there is no score; such units are left out.
    level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    RepeatedMeasures : NaN with a reason under two complete units, or where the differences between
    conditions are the same in every unit.

    Raises
    ------
    ValueError : the scores are no table of two conditions or more, or the level is not within 0
    and 1.

    Notes
    -----
    Units are independent of each other. Degrees of freedom are multiplied by the epsilon of
    Greenhouse & Geisser (1959) doi:10.1007/BF02289823, so that variances of differences may be
    unequal. Generalized eta squared: Olejnik & Algina (2003) doi:10.1037/1082-989X.8.4.434. The
    interval of partial eta squared inverts the noncentral F of the corrected degrees of freedom,
    noncentrality / (noncentrality + df1 + df2 + 1), Smithson (2003); that of generalized eta
    squared is the same one, with the ratio of the sums of squares of units and errors as observed.
    Where the scores of each unit are dealt to the conditions at random, 1 / n of the variance
    within units lies between conditions on average. Partial epsilon squared, (partial - 1 / n) /
    (1 - 1 / n), is the adjusted partial eta squared of Mordkoff (2019)
    doi:10.1177/2515245919855053; generalized epsilon squared has the same numerator. F, epsilon and
    p agree with anova(lm(scores ~ 1), X = ~1, test = "Spherical") of R 4.2.2.

    Examples
    --------
    By hand: sums of squares 6 between conditions, 10 of errors and 42 between units, so that
    F = 6 / 2 / (10 / 6). Epsilon and p: R.

    >>> test = repeated_measures(np.array([[1.0, 2, 3], [2, 5, 2], [3, 5, 4], [6, 6, 9]]))
    >>> round(test.f, 4), round(test.epsilon, 4), round(test.p, 5), round(test.partial.value, 4)
    (1.8, 0.5, 0.27223, 0.375)
    """
    check_level(level)
    table = np.array(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"scores of shape {table.shape} are no table of units and conditions")
    complete = table[np.isfinite(table).all(axis=1)]
    n, k = complete.shape
    left_out = len(table) - n
    problem: str = undefined_size_note(complete)
    if n < 2:
        problem = undefined_note(
            f"Undefined: it needs two units with a score under every condition, and there are {n}."
        )
    if problem:
        return _undefined(n, left_out, level, problem)
    unit, condition = complete.mean(axis=1), complete.mean(axis=0)
    grand = complete.mean()
    residuals = complete - unit[:, None] - condition + grand
    effect = n * float(((condition - grand) ** 2).sum())
    units, errors = k * float(((unit - grand) ** 2).sum()), float((residuals**2).sum())
    if np.abs(residuals).max() <= ROUNDING * max(1.0, float(np.abs(complete).max())):
        problem = undefined_note(
            "Undefined: the differences are the same in every unit, so that their standard error "
            "is 0."
        )
        return _undefined(n, left_out, level, problem)
    # The squares of both products have the same sum; the smaller one is made.
    products = residuals @ residuals.T if n < k else residuals.T @ residuals
    epsilon = errors**2 / ((k - 1) * float((products**2).sum()))
    df1, df2 = epsilon * (k - 1), epsilon * (k - 1) * (n - 1)
    statistic = effect / errors * (n - 1)
    low, high = (
        noncentrality / (noncentrality + df1 + df2 + 1)
        for noncentrality in noncentral_f_interval(statistic, df1, df2, level)
    )
    partial, generalized = _shares_between((effect, units, errors), n, (low, high), level)
    return RepeatedMeasures(
        f=statistic,
        df1=df1,
        df2=df2,
        p=float(scipy.stats.f.sf(statistic, df1, df2)),
        epsilon=epsilon,
        partial=partial,
        generalized=generalized,
        n=n,
        n_left_out=left_out,
        problems=(MORE_ALIKE,) if math.isnan(high) else (),
    )


def _shares_between(
    squares: tuple[float, float, float], n: int, interval: tuple[float, float], level: float
) -> tuple[ShareBetween, ShareBetween]:
    """Partial and generalized eta squared, of sums of squares of effect, units and errors."""
    effect, units, errors = squares
    low, high = interval
    beside = (units + errors) / errors
    ends = [share / (share + (1 - share) * beside) for share in (low, high)]
    total, above = effect + units + errors, effect - errors / (n - 1)  # above what chance adds
    partial = ShareBetween(
        effect / (effect + errors),
        low,
        high,
        level,
        by_chance=1 / n,
        corrected=above / (effect + errors),
    )
    generalized = ShareBetween(
        effect / total,
        ends[0],
        ends[1],
        level,
        by_chance=(effect + errors) / n / total,
        corrected=above / total,
    )
    return partial, generalized


def _undefined(n: int, n_left_out: int, level: float, problem: str) -> RepeatedMeasures:
    """A test without numbers, and why."""
    none = ShareBetween(math.nan, level=level)
    return RepeatedMeasures(*(math.nan,) * 5, none, none, n, n_left_out, (problem,))


@dataclass(frozen=True)
class AverageD(Estimate):
    """d_av with its interval; `corrected` is without what few units add, or `problems` say why not.

    The interval is of the population's value, and so of both.
    """

    corrected: float = math.nan
    problems: tuple[str, ...] = ()


def average_d(before: Floats, after: Floats, *, level: float = 0.95) -> AverageD:
    """Standardized difference of paired scores: d_av, comparable with d of separate groups.

    Parameters
    ----------
    before, after : (units,)
        Scores of the same units in the same order; a unit that lacks either is left out.
    level : float in (0, 1)
        Two-sided coverage of the interval.

    Returns
    -------
    AverageD : mean of after - before, divided by the root of the mean of both variances. NaN under
    two units or where neither condition varies; without an interval where all differences are the
    same; of two units without a corrected value.

    Notes
    -----
    Cumming (2012), Understanding the new statistics. The interval, by the noncentral t, is that of
    Algina & Keselman (2003) doi:10.1177/0013164403256358. The corrected d is Hedges's (1981), with
    the degrees of freedom that the mean of two variances has where scores correlate by r:
    (n - 1) (s1² + s2²)² / (s1⁴ + s2⁴ + 2 r² s1² s2²); Satterthwaite (1946) doi:10.2307/3002019,
    as of Cousineau (2020) doi:10.20982/tqmp.16.4.p418 for equal variances. Unbiased in simulations.

    Examples
    --------
    Student's (1908) hours of sleep: 1.58 / sqrt((3.2006 + 4.009) / 2).

    >>> first = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
    >>> second = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])
    >>> round(average_d(first, second).value, 4)
    0.8322
    """
    check_level(level)
    both = np.isfinite(before) & np.isfinite(after)
    first, second = before[both], after[both]
    n = len(first)
    if n < 2 or undefined_size_note(first, second):
        return AverageD(math.nan, level=level)
    spread = math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    size = max(1.0, float(np.abs(np.concatenate([first, second])).max()))
    if spread <= ROUNDING * size:
        return AverageD(math.nan, level=level)
    differences = second - first
    d = float(differences.mean()) / spread
    squares = np.cov(first, second) ** 2
    # Of scores that correlate by 1 these are n - 1 and no less, as rounding would have it.
    df = max(n - 1.0, (n - 1) * 4 * spread**4 / float(squares.sum()))
    corrected = d * unbiased_factor(df)
    problems = () if math.isfinite(corrected) else ("No corrected effect: it needs three units.",)
    error = float(differences.std(ddof=1)) / math.sqrt(n)
    if np.ptp(differences) <= ROUNDING * size:
        return AverageD(d, level=level, corrected=corrected, problems=problems)
    low, high = noncentral_t_interval(float(differences.mean()) / error, n - 1, level)
    ends = low * error / spread, high * error / spread
    return AverageD(d, *ends, level, corrected=corrected, problems=problems)
