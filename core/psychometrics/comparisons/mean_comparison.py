"""Two means compared: groups by Welch's t, and a model with human norms typed in."""
# Ours for groups that do not vary or have one member, where scipy's t-tests warn and give inf.
# Checked against scipy's ttest_ind and ttest_ind_from_stats, which agree to 1e-14.

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.correlation import Alternative
from core.psychometrics.comparisons.group_tests import (
    MeanTest,
    noncentral_interval,
    tail_probability,
    undefined_test,
)
from core.psychometrics.distribution import moments
from core.psychometrics.estimate import check_level
from core.psychometrics.score_values import out_of_range, undefined_for_size


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation (divisor n - 1) and number of scores of a group."""

    mean: float
    sd: float
    n: int


def summary(scores: Floats) -> Summary:
    """Mean, SD and number of the scores that are not NaN; SD is NaN under two.

    Both are NaN where the scores are too large or too small to compute with.
    """
    values = np.asarray(scores, dtype=np.float64)
    kept = values[np.isfinite(values)]
    if not len(kept) or out_of_range(kept):
        return Summary(math.nan, math.nan, len(kept))
    own = moments(kept)
    return Summary(own.mean, own.sd, own.n)


def mean_interval(own: Summary, level: float = 0.95) -> tuple[float, float]:
    """Two-sided interval of a mean by Student's t; NaN under two scores."""
    if own.n < 2:
        return math.nan, math.nan
    reach = float(student.isf((1 - check_level(level)) / 2, own.n - 1)) * own.sd / math.sqrt(own.n)
    return own.mean - reach, own.mean + reach


def compare_summaries(
    first: Summary,
    second: Summary,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    n_left_out: int = 0,
) -> MeanTest:
    """Whether two groups differ in their mean, from mean, SD and n alone (typed norms, say).

    Parameters
    ----------
    first, second : Summary
        In the same score points. Groups are independent and so are their members.
    alternative : "two-sided", "greater" or "less"
        What p tests; "greater" is first above second.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    n_left_out : int
        To be reported with the result.

    Returns
    -------
    MeanTest : first - second, Welch's t, Cohen's d by the pooled SD. NaN with a reason where a
    group has fewer than two members, no SD, or neither group varies.

    Raises
    ------
    ValueError : an SD is negative or the level not within 0 and 1.

    Notes
    -----
    Welch (1947) doi:10.1093/biomet/34.1-2.28. d = difference / pooled SD, Cohen (1988); its
    interval inverts the noncentral t of the pooled test, so it takes variances as equal. t, p and
    interval agree with scipy's ttest_ind_from_stats.
    """
    check_level(level)
    if first.sd < 0 or second.sd < 0:
        raise ValueError("a standard deviation cannot be negative")
    n = (first.n, second.n)
    problem = _why_not(first, second)
    if problem:
        return undefined_test(n, n_left_out, alternative, level, problem)
    parts = first.sd**2 / first.n, second.sd**2 / second.n
    error = math.sqrt(sum(parts))
    df = sum(parts) ** 2 / (parts[0] ** 2 / (first.n - 1) + parts[1] ** 2 / (second.n - 1))
    difference = first.mean - second.mean
    reach = error * float(student.isf((1 - level) / 2, df))
    freedom = first.n + second.n - 2
    pooled = math.sqrt(((first.n - 1) * first.sd**2 + (second.n - 1) * second.sd**2) / freedom)
    size = math.sqrt(first.n * second.n / (first.n + second.n))
    low, high = noncentral_interval(difference / pooled * size, freedom, level)
    return MeanTest(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        t=difference / error,
        df=df,
        p=tail_probability(difference / error, df, alternative),
        effect=difference / pooled,
        effect_low=low / size,
        effect_high=high / size,
        n=n,
        n_left_out=n_left_out,
        alternative=alternative,
        level=level,
    )


def _why_not(first: Summary, second: Summary) -> str:
    """Why two groups cannot be compared; empty where they can."""
    numbers = (first.mean, second.mean, first.sd, second.sd)
    if min(first.n, second.n) < 2 or not all(map(math.isfinite, numbers)):
        return (
            "Undefined: each group needs at least two members with a mean and an SD that can be "
            "computed."
        )
    if first.sd == second.sd == 0:
        return "Undefined: neither group varies, so there is no spread to judge by."
    return undefined_for_size(np.array(numbers))


def welch_t(
    first: Floats,
    second: Floats,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> MeanTest:
    """Whether two known groups differ in their mean; NaN scores are left out and counted.

    See `compare_summaries`, which does the work.
    """
    own, other = summary(first), summary(second)
    left_out = len(first) + len(second) - own.n - other.n
    return compare_summaries(own, other, alternative=alternative, level=level, n_left_out=left_out)


def against_norms(
    scores: Floats,
    norms: Summary,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> MeanTest:
    """Whether a model's scores differ from human norms typed in as mean, SD and n.

    See `compare_summaries`. Rows of one model are not a sample of people: the test compares
    the two means, it does not make the model a person of that population.
    """
    own = summary(scores)
    return compare_summaries(
        own, norms, alternative=alternative, level=level, n_left_out=len(scores) - own.n
    )
