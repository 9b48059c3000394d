"""Odds ratio of two groups of counts, with Woolf's interval and Wald's test."""
# scipy and statsmodels offer the same ratio and interval, and neither says which count is 0. p is
# ours because statsmodels' Table2x2 differs from twice the upper tail by up to 2e-12 of p. Checked
# against scipy's contingency.odds_ratio and statsmodels' Table2x2.

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class OddsRatio:
    """An odds ratio with its interval and test; NaN with a problem where it is undefined."""

    value: float
    low: float
    high: float
    z: float
    p: float
    problem: str = ""


def odds_ratio(first: int, first_total: int, second: int, second_total: int) -> float:
    """Odds of an event in the first group over those in the second.

    The odds of a group are events / (total - events). NaN where an odds is not defined or the
    second one is 0: no event in the second group, or nothing but events.
    """
    if first_total <= first or second_total <= second or second == 0:
        return math.nan
    return (first / (first_total - first)) / (second / (second_total - second))


def woolf_odds_ratio(
    first: int, first_total: int, second: int, second_total: int, level: float
) -> OddsRatio:
    """Odds ratio of two groups of words by whether a list has them, with interval and test.

    Parameters
    ----------
    first, second : int
        Listed words in the texts of the stereotyped group and of the other.
    first_total, second_total : int
        All words.
    level : float in (0, 1)
        Two-sided coverage of the interval.

    Notes
    -----
    Interval and p by Wald on the log odds ratio, whose variance is the sum of the reciprocals of
    the four counts (Woolf, 1955, doi:10.1111/j.1469-1809.1955.tb01348.x). NaN with a reason where
    one of them is 0.
    """
    counts = np.array([first, first_total - first, second, second_total - second], dtype=float)
    for group, (listed, others) in (("stereotyped", counts[:2]), ("other", counts[2:])):
        if listed <= 0 or others <= 0:
            which = "no word" if listed <= 0 else "no word but those"
            problem = f"Undefined: the texts of the {group} group have {which} of the list."
            return OddsRatio(*(math.nan,) * 5, problem)
    value = odds_ratio(first, first_total, second, second_total)
    error = math.sqrt(float((1 / counts).sum()))
    reach = float(stats.norm.ppf((1 + level) / 2)) * error
    z = math.log(value) / error
    p = 2 * float(stats.norm.sf(abs(z)))
    return OddsRatio(value, value * math.exp(-reach), value * math.exp(reach), z, p)
