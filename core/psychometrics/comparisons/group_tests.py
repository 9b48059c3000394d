"""Means tested: paired differences and one sample, one- or two-tailed, with effect size."""
# Ours for scores that do not vary or are out of range, where scipy's t-tests warn or pass rounding
# for spread, and because the interval of the effect needs the same t. p is the t distribution of
# scipy. Checked against scipy's ttest_1samp and ttest_rel, which agree to 1e-14.

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, nct
from scipy.stats import t as student

from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.correlation import Alternative, stars
from core.psychometrics.estimate import check_level
from core.psychometrics.score_values import ROUNDING, is_constant, undefined_for_size

_LARGE_T = 1e4


@dataclass(frozen=True)
class MeanTest:
    """A t-test of a mean difference.

    `difference` and its two-sided interval `low`, `high` are in score points; `effect` is the
    standardized difference (d_z of one group, d of two) with its two-sided interval. `p` is of the
    `alternative`; intervals are two-sided of coverage `level` whatever the alternative.
    """

    difference: float
    low: float
    high: float
    t: float
    df: float
    p: float
    effect: float
    effect_low: float
    effect_high: float
    n: tuple[int, ...]
    n_left_out: int
    alternative: Alternative
    level: float
    problems: tuple[str, ...] = ()

    @property
    def stars(self) -> str:
        """*, **, *** for p below .05, .01, .001."""
        return stars(self.p)


def undefined_test(
    n: tuple[int, ...],
    n_left_out: int,
    alternative: Alternative,
    level: float,
    problem: str,
) -> MeanTest:
    """A test without numbers, and why."""
    numbers = (math.nan,) * 9
    return MeanTest(*numbers, n, n_left_out, alternative, level, (problem,))


def one_sample_t(
    scores: Floats,
    *,
    against: float = 0.0,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> MeanTest:
    """Whether the mean of scores differs from a fixed value.

    Parameters
    ----------
    scores : (rows,)
        In score points; NaN is left out. Rows are taken as independent.
    against : float
        The value tested, in score points.
    alternative : "two-sided", "greater" or "less"
        What p tests; "greater" is a mean above `against`.
    level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    MeanTest : mean minus `against`, t with n - 1 degrees of freedom, Cohen's d_z (difference / SD).
    NaN with a reason under two rows; the difference alone where all scores are the same.

    Raises
    ------
    ValueError : the scores are not one-dimensional or the level not within 0 and 1.

    Notes
    -----
    Student (1908). d_z: Cohen (1988); its interval inverts the noncentral t, Cumming & Finch (2001)
    doi:10.1177/0013164401614002. Agrees with R 4.2.2 t.test to 1e-12.
    """
    check_level(level)
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores of shape {values.shape} are not one score per row")
    kept = values[np.isfinite(values)]
    n, left_out = len(kept), len(values) - len(kept)
    if n < 2:
        problem = f"Undefined: it needs two rows, and there are {n}."
        return undefined_test((n,), left_out, alternative, level, problem)
    size = undefined_for_size(kept, np.array([against]))
    if size:
        return undefined_test((n,), left_out, alternative, level, size)
    difference = float(kept.mean()) - against
    if is_constant(kept):
        problem = (
            "Undefined but for the difference: it is the same in every row, so there is no spread "
            "to judge it against."
        )
        result = undefined_test((n,), left_out, alternative, level, problem)
        return replace(result, difference=difference)
    spread = float(kept.std(ddof=1))
    error = spread / math.sqrt(n)
    statistic = difference / error
    reach = error * float(student.isf((1 - level) / 2, n - 1))
    low, high = noncentral_interval(statistic, n - 1, level)
    return MeanTest(
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        t=statistic,
        df=float(n - 1),
        p=tail_probability(statistic, n - 1, alternative),
        effect=difference / spread,
        effect_low=low / math.sqrt(n),
        effect_high=high / math.sqrt(n),
        n=(n,),
        n_left_out=left_out,
        alternative=alternative,
        level=level,
    )


def paired_t(
    before: Floats,
    after: Floats,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
) -> MeanTest:
    """Whether the same rows score differently under two conditions (an ablation, say).

    Parameters
    ----------
    before, after : (rows,)
        Scores of the same rows in the same order; a row that lacks either is left out.
    alternative : "two-sided", "greater" or "less"
        What p tests; "greater" is after above before.
    level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    MeanTest : of after - before; see `one_sample_t`.

    Raises
    ------
    ValueError : the scores are of different lengths.
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"scores of shapes {first.shape} and {second.shape} do not pair")
    both = np.isfinite(first) & np.isfinite(second)
    left_out = int((~both).sum())
    size = undefined_for_size(first[both], second[both])
    if size:
        return undefined_test((int(both.sum()),), left_out, alternative, level, size)
    # Differences of equal size in binary fractions would differ by rounding and pass for spread.
    scale = float(np.abs(np.concatenate([first[both], second[both], [1.0]])).max())
    kept = second[both] - first[both]
    if len(kept) and np.ptp(kept) <= ROUNDING * scale:
        kept = np.full(len(kept), kept.mean())
    result = one_sample_t(kept, alternative=alternative, level=level)
    return replace(result, n_left_out=left_out)


def tail_probability(statistic: float, df: float, alternative: Alternative) -> float:
    """Probability of a t statistic under the alternative."""
    if alternative == "two-sided":
        return min(1.0, 2 * float(student.sf(abs(statistic), df)))
    return float(student.sf(statistic if alternative == "greater" else -statistic, df))


def noncentral_interval(statistic: float, df: float, level: float) -> tuple[float, float]:
    """Two-sided interval of the noncentrality of an observed t; NaN where it cannot be found.

    Of a very large t only the estimated spread is uncertain, so its chi distribution gives the ends
    (to a share of 1 / t²); the noncentral t cannot be computed there.
    """
    tail = (1 - level) / 2
    if abs(statistic) > _LARGE_T:
        low, high = (math.sqrt(float(chi2.ppf(q, df)) / df) for q in (tail, 1 - tail))
        ends = statistic * low, statistic * high
        return min(ends), max(ends)

    def end(probability: float) -> float:
        def excess(noncentrality: float) -> float:
            return float(nct.sf(statistic, df, noncentrality)) - probability

        return _root(excess, statistic, 4.0 + abs(statistic))

    return end(tail), end(1 - tail)


def _root(excess: Callable[[float], float], middle: float, reach: float) -> float:
    """Where an increasing function is 0, searched ever further from the middle."""
    for width in (reach, 4 * reach):
        low, high = excess(middle - width), excess(middle + width)
        if math.isfinite(low) and math.isfinite(high) and low < 0 < high:
            return float(brentq(excess, middle - width, middle + width, xtol=1e-12))
    return math.nan
