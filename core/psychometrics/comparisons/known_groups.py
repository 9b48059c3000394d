"""Groups known to differ, compared by analysis of variance with the variance accounted for."""
# Ours for groups that do not vary: statsmodels' anova_oneway and scipy's f_oneway divide by zero
# there. From the same summaries statsmodels gives F, df and p to 2e-14; its interval of the
# noncentrality is searched only to 1e-3. Checked against anova_oneway of statsmodels 0.15.0 and
# scipy's f_oneway.

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import f, ncf

from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.mean_comparison import Summary, summary
from core.psychometrics.estimate import check_level
from core.psychometrics.wording import listed


@dataclass(frozen=True)
class GroupsTest:
    """Analysis of variance of three groups or more.

    `f`, `df1`, `df2`, `p` are Welch's, which lets variances differ; `classic_f`, `classic_p` take
    them as equal. `eta_squared` is the share of variance between groups, with its interval from
    the classic F; `omega_squared` is less biased.
    """

    groups: tuple[str, ...]
    summaries: tuple[Summary, ...]
    f: float
    df1: float
    df2: float
    p: float
    classic_f: float
    classic_p: float
    eta_squared: float
    low: float
    high: float
    omega_squared: float
    level: float
    problems: tuple[str, ...] = ()


def known_groups(scores: Mapping[str, Floats], *, level: float = 0.95) -> GroupsTest:
    """Whether groups that ought to differ do, with the share of variance they account for.

    Parameters
    ----------
    scores : mapping of group to (rows,) scores
        NaN is left out. Groups with fewer than two scores are left out and named.
    level : float in (0, 1)
        Two-sided coverage of the interval of eta squared.

    Returns
    -------
    GroupsTest : NaN with a reason where fewer than two groups remain or nothing varies within
    them. Welch's F needs variance in each group; the classic F does not.

    Raises
    ------
    ValueError : the level is not within 0 and 1.

    Notes
    -----
    Welch (1951) doi:10.1093/biomet/38.3-4.330; eta squared by sums of squares with the interval of
    Steiger (2004) doi:10.1037/1082-989X.9.2.164 (noncentral F, noncentrality / (noncentrality +
    N)); omega squared of Hays. Agrees with scipy's f_oneway and statsmodels' anova_oneway.
    """
    check_level(level)
    found = {name: summary(values) for name, values in scores.items()}
    kept = {name: own for name, own in found.items() if math.isfinite(own.sd)}
    problems: list[str] = []
    short = [name for name, own in found.items() if own.n < 2]
    if short:
        problems.append(f"Left out for having fewer than two scores: {listed(short)}.")
    strange = [name for name, own in found.items() if own.n > 1 and name not in kept]
    if strange:
        problems.append(
            f"Left out for scores too large or too small to compute with: {listed(strange)}."
        )
    groups, numbers = tuple(kept), tuple(kept.values())
    nan = math.nan
    if len(kept) < 2:
        problems.append("Undefined: it needs two groups with two scores each.")
    elif all(own.sd == 0 for own in numbers):
        problems.append("Undefined: nothing varies within the groups.")
    else:
        return _analyzed(groups, numbers, level, problems)
    return GroupsTest(groups, numbers, *(nan,) * 10, level, tuple(problems))


def _analyzed(
    groups: tuple[str, ...], numbers: tuple[Summary, ...], level: float, problems: list[str]
) -> GroupsTest:
    """Both tests and the effect sizes of groups that can be analyzed."""
    sizes = np.array([own.n for own in numbers], dtype=np.float64)
    means = np.array([own.mean for own in numbers])
    variances = np.array([own.sd**2 for own in numbers])
    total, df1 = float(sizes.sum()), len(numbers) - 1.0
    between = float(sizes @ (means - sizes @ means / total) ** 2)
    within = float((sizes - 1) @ variances)
    classic_df = total - len(numbers)
    classic = between / df1 / (within / classic_df)
    welch, df2 = _welch(sizes, means, variances)
    if math.isnan(welch):
        problems.append("No Welch test: a group does not vary; the classic F takes its place.")
    low, high = (
        noncentrality / (noncentrality + total)
        for noncentrality in _noncentrality(classic, df1, classic_df, level)
    )
    noise = within / classic_df
    return GroupsTest(
        groups=groups,
        summaries=numbers,
        f=welch,
        df1=df1,
        df2=df2,
        p=float(f.sf(welch, df1, df2)),
        classic_f=classic,
        classic_p=float(f.sf(classic, df1, classic_df)),
        eta_squared=between / (between + within),
        low=low,
        high=high,
        omega_squared=(between - df1 * noise) / (between + within + noise),
        level=level,
        problems=tuple(problems),
    )


def _welch(sizes: Floats, means: Floats, variances: Floats) -> tuple[float, float]:
    """Welch's F and its second degrees of freedom; NaN where a group does not vary."""
    if (variances == 0).any():
        return math.nan, math.nan
    weights = sizes / variances
    share = weights / weights.sum()
    groups = len(sizes)
    spread = float(((1 - share) ** 2 / (sizes - 1)).sum())
    between = float(weights @ (means - share @ means) ** 2) / (groups - 1)
    correction = 1 + 2 * (groups - 2) / (groups**2 - 1) * spread
    return between / correction, (groups**2 - 1) / (3 * spread)


def _noncentrality(statistic: float, df1: float, df2: float, level: float) -> tuple[float, float]:
    """Interval of the noncentrality of an observed F; ends that would be negative are 0."""
    tail = (1 - level) / 2

    def end(probability: float) -> float:
        def excess(noncentrality: float) -> float:
            return float(ncf.cdf(statistic, df1, df2, noncentrality)) - probability

        return _falling_root(excess, 10 + 4 * df1 * statistic)

    return end(1 - tail), end(tail)


def _falling_root(excess: Callable[[float], float], high: float) -> float:
    """Where a falling function from 0 on is 0; 0 where it starts below, NaN where not found."""
    if excess(0.0) <= 0:
        return 0.0
    for _ in range(8):
        end = excess(high)
        if math.isfinite(end) and end < 0:
            return float(brentq(excess, 0.0, high, xtol=1e-10))
        high *= 2
    return math.nan
