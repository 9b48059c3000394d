"""Equivalence of means: whether the mean difference of the same units lies within bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import ROUNDING, Floats

# Ours for differences that do not vary, and because statsmodels' ttost_paired has no interval and
# no NaN. It agrees to 1e-12, as does t.test of R.

EquivalenceVerdict = Literal[
    "equivalent", "equivalent, though different", "different", "undecided", "undefined"
]


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of a mean paired difference (second minus first).

    Fields
    ------
    first_mean, second_mean, difference : over the rows that have both.
    low, high : interval of coverage 1 - 2 alpha, the one that lies within the bounds where the
        tests say so.
    p : of a difference outside the bounds, the larger one of both tests; small means equivalent.
    p_different : of a difference of 0, two-sided.
    n, n_left_out : rows with both values, and with one of them.
    problems : why a number is undefined.
    """

    first_mean: float
    second_mean: float
    difference: float
    low: float
    high: float
    p: float
    p_different: float
    n: int
    n_left_out: int
    problems: tuple[str, ...] = ()


def equivalence(first: Floats, second: Floats, *, bound: float, alpha: float = 0.05) -> Equivalence:
    """Whether the mean paired difference is surely smaller than a bound.

    Parameters
    ----------
    first, second : (rows,)
        Values of the same rows, such as items; NaN where there is none. A row that lacks one is
        left out.
    bound : float above 0
        The largest difference, either way, that does not matter; in units of the values.
    alpha : float in (0, .5)
        Of each one-sided test.

    Returns
    -------
    Equivalence : without p and interval under two rows, or where all differences are the same.

    Raises
    ------
    ValueError : values of different lengths, a bound that is not above 0, or alpha out of range.

    Notes
    -----
    Schuirmann (1987) doi:10.1007/BF01068419; in psychology Lakens (2017)
    doi:10.1177/1948550617697177. Student's t with n - 1 degrees of freedom. The row is the unit;
    rows are taken as independent. Agrees with one-sided t.test of R to 1e-12.

    Examples
    --------
    t.test of R of the differences: one-sided against .5, two-sided against 0, interval of 90 %.

    >>> differences = np.array([0.1, -0.2, 0.3, 0.2, 0.0, 0.1])
    >>> result = equivalence(np.zeros(6), differences, bound=0.5)
    >>> [round(number, 4) for number in (result.p, result.p_different, result.low, result.high)]
    [0.001, 0.2892, -0.0584, 0.225]
    """
    if not bound > 0:
        raise ValueError(f"a bound of {bound} is not above 0")
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha of {alpha} is not within 0 and .5")
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"values of shapes {x.shape} and {y.shape} do not pair")
    both = np.isfinite(x) & np.isfinite(y)
    n, left_out = int(both.sum()), int((np.isfinite(x) ^ np.isfinite(y)).sum())
    nothing = (math.nan,) * 4
    if not n:
        reason: str = undefined_note("Undefined: no row has both values.")
        return Equivalence(math.nan, math.nan, math.nan, *nothing, n, left_out, (reason,))
    apart = y[both] - x[both]
    means = float(x[both].mean()), float(y[both].mean()), float(apart.mean())
    if n < 2:
        reason = "No test: there is one row with both values, and a test needs two."
        return Equivalence(*means, *nothing, n, left_out, (reason,))
    size = max(float(np.abs(x[both]).max()), float(np.abs(y[both]).max()), bound)
    if np.ptp(apart) <= ROUNDING * size:
        reason = "No test: the difference is the same in every row."
        return Equivalence(*means, *nothing, n, left_out, (reason,))
    error = float(apart.std(ddof=1)) / math.sqrt(n)
    above = float(scipy.stats.t.sf((means[2] + bound) / error, n - 1))
    below = float(scipy.stats.t.cdf((means[2] - bound) / error, n - 1))
    half_width = error * float(scipy.stats.t.isf(alpha, n - 1))
    return Equivalence(
        *means,
        means[2] - half_width,
        means[2] + half_width,
        max(above, below),
        2 * float(scipy.stats.t.sf(abs(means[2]) / error, n - 1)),
        n,
        left_out,
    )


def equivalence_verdict(p: float, p_different: float, alpha: float = 0.05) -> EquivalenceVerdict:
    """What both tests together say, from their p, adjusted or not; Lakens (2017).

    Examples
    --------
    >>> equivalence_verdict(0.001, 0.29), equivalence_verdict(0.2, 0.3)
    ('equivalent', 'undecided')
    """
    if not (math.isfinite(p) and math.isfinite(p_different)):
        return "undefined"
    if p < alpha:
        return "equivalent, though different" if p_different < alpha else "equivalent"
    return "different" if p_different < alpha else "undecided"
