"""What printed numbers can be, since each is rounded: whether a table of a paper fits itself.

A number printed with so many decimals stands for all values that round to it. What is computed from
several such numbers has a lowest and a highest value; a printed result outside of both cannot be
right together with them. Which of them is wrong, no arithmetic says.

Own code: libraries of intervals follow no statistic, and each of these is monotone in its parts, so
that the ends are found at the ends of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import scipy

Tail = Literal["greater", "less", "two-sided"]
_ROUNDING = 1e-9  # of sums in binary numbers


@dataclass(frozen=True)
class Range:
    """The values from `low` to `high` that a number may have."""

    low: float
    high: float

    def meets(self, other: Range) -> bool:
        """Whether both have a value in common."""
        return self.low <= other.high + _ROUNDING and other.low <= self.high + _ROUNDING


def printed_range(text: str, decimals: int | None = None) -> Range:
    """The values that are printed like this.

    Parameters
    ----------
    text : str
        A number such as ".63" or "-0.8", or a bound such as "<.001", which is one from 0.
    decimals : int, optional
        How many were printed, where the text has lost zeros at its end.

    Raises
    ------
    ValueError
        The text is no number.

    Examples
    --------
    >>> printed_range(".63")
    Range(low=0.625, high=0.635)
    >>> printed_range("<.001")
    Range(low=0.0, high=0.001)
    """
    text = text.strip()
    if text.startswith("<"):
        return Range(0.0, float(text[1:]))
    places = len(text.partition(".")[2]) if decimals is None else decimals
    value, half = float(text), 0.5 * 10.0**-places
    if not math.isfinite(value):
        raise ValueError(f"'{text}' is no number")
    return Range(round(value - half, places + 1), round(value + half, places + 1))


def sum_range(parts: Sequence[Range]) -> Range:
    """The sum of rounded parts.

    Examples
    --------
    Three parts of one decimal may miss their sum by .15.

    >>> total = sum_range([printed_range(part) for part in ("1.4", "1.8", "3.3")])
    >>> round(total.low, 2), round(total.high, 2)
    (6.35, 6.65)
    """
    return Range(math.fsum(part.low for part in parts), math.fsum(part.high for part in parts))


def mean_range(parts: Sequence[Range]) -> Range:
    """The mean of rounded parts.

    Raises
    ------
    ValueError : there is none.
    """
    if not parts:
        raise ValueError("a mean of nothing")
    total = sum_range(parts)
    return Range(total.low / len(parts), total.high / len(parts))


def share_range(count: Range, n: int) -> Range:
    """The percentage that a count is of n.

    Raises
    ------
    ValueError : n is not above 0.

    Examples
    --------
    >>> share_range(Range(859, 859), 6600)
    Range(low=13.015151515151516, high=13.015151515151516)
    """
    if n <= 0:
        raise ValueError(f"a share of {n}")
    return Range(100 * count.low / n, 100 * count.high / n)


def p_range(t: Range, df: float, tail: Tail) -> Range:
    """The p of Student's t that was rounded.

    Parameters
    ----------
    t : Range
        Of all t that are printed alike.
    df : float
        Degrees of freedom, above 0.
    tail : "greater", "less" or "two-sided"
        Which differences speak against the hypothesis.

    Raises
    ------
    ValueError : df is not above 0.

    Notes
    -----
    p falls with t, that of two sides with its size. Checked against pt of R.

    Examples
    --------
    pt(2.115, 31, lower.tail = FALSE) and pt(2.125, 31, lower.tail = FALSE) of R.

    >>> p = p_range(printed_range("2.12"), 31, "greater")
    >>> round(p.low, 4), round(p.high, 4)
    (0.0208, 0.0213)
    """
    if not df > 0:
        raise ValueError(f"{df} degrees of freedom")
    above = [float(scipy.stats.t.sf(end, df)) for end in (t.high, t.low)]
    if tail == "greater":
        return Range(*above)
    if tail == "less":
        return Range(1 - above[1], 1 - above[0])
    ends = [2 * min(p, 1 - p) for p in above]
    return Range(min(ends), 1.0 if t.low <= 0 <= t.high else max(ends))


@dataclass(frozen=True)
class PrintedScale:
    """A scale or a part of it as a paper prints it: variances of its items, SD of their mean."""

    variances: tuple[Range, ...]
    sd: Range


def alpha_range(parts: Sequence[PrintedScale], sd: Range) -> Range:
    """Stratified alpha of a scale, from what is printed of its parts; alpha where it is one part.

    Parameters
    ----------
    parts : sequence of PrintedScale
        The strata, such as subscales, each of two items or more.
    sd : Range
        Standard deviation of the mean of all items, above 0.

    Returns
    -------
    Range
        NaN in both where the SD may be 0.

    Raises
    ------
    ValueError : there is no part, or a part of one item.

    Notes
    -----
    With sums of items, alpha_s = 1 - sum of var(part) (1 - alpha(part)) / var(all), and
    var(part) (1 - alpha(part)) = (k sum of item variances - var(part)) / (k - 1). Its numerator
    grows with item variances and falls with the SD of a part. Cronbach, Schönemann & McKie (1965)
    doi:10.1177/001316446502500201.

    Examples
    --------
    Two items of variance 1 whose mean has the variance .75: alpha = 2/1 (1 - 2/3) = 2/3.

    >>> exact = Range(1.0, 1.0)
    >>> sd = Range(0.75**0.5, 0.75**0.5)
    >>> alpha = alpha_range([PrintedScale((exact, exact), sd)], sd)
    >>> round(alpha.low, 6), round(alpha.high, 6)
    (0.666667, 0.666667)
    """
    if not parts or any(len(part.variances) < 2 for part in parts):
        raise ValueError("every part needs two items or more")
    n_items = sum(len(part.variances) for part in parts)
    least, most = 0.0, 0.0
    for part in parts:
        k = len(part.variances)
        items = sum_range(part.variances)
        widest, narrowest = (k * part.sd.high) ** 2, (k * max(part.sd.low, 0.0)) ** 2
        least += (k * max(items.low, 0.0) - widest) / (k - 1)
        most += (k * items.high - narrowest) / (k - 1)
    if sd.low <= 0:
        return Range(math.nan, math.nan)
    totals = [(n_items * end) ** 2 for end in (sd.low, sd.high)]
    return Range(
        1 - max(most / total for total in totals), 1 - min(least / total for total in totals)
    )
