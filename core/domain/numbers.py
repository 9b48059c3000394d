"""Counts and numbers as a reader sees them: "1 item", rounding half away from zero."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd


def count_text(count: int, one: str, many: str = "") -> str:
    """The count with its noun: "1 item", "12,000 items".

    `one` are the words for one, with a verb or not ("item has"); `many` those for any other number,
    empty where they are `one` with an s.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def name_with_count(name: str, count: str) -> str:
    """The name with the count in brackets, unless the name ends with these brackets already."""
    brackets = f"({count})"
    return name if name.rstrip().endswith(brackets) else f"{name} {brackets}"


# Rounding of every number that is shown: half away from zero, on the decimal text.

_DIGITS = Context(prec=400)  # the largest float has 309 digits before its point


def number_text(value: float, decimals: int) -> str:
    """The number with so many decimals, ties away from zero: 3.125 is 3.13, 1.005 is 1.01.

    The decimal text is rounded, as a reader would round it, and not the binary number. Zero has no
    sign; NaN and infinite numbers are as Python writes them.
    """
    if not math.isfinite(value):
        return str(value)
    return f"{_round_decimal(Decimal(repr(float(value))), decimals):f}"


def percent_text(share: float, decimals: int = 0) -> str:
    """The share as a percentage with so many decimals, rounded as `number_text` rounds."""
    if not math.isfinite(share):
        return str(share)
    return f"{_round_decimal(Decimal(repr(float(share))).scaleb(2), decimals):f}%"


_MOST_DECIMALS = 10  # a number nearer to a bound than that differs from it by the arithmetic only


def judged_decimals(value: float, bounds: Iterable[float], decimals: int) -> int:
    """How many decimals a number needs beside the bounds that it is judged by: `decimals` or more.

    The number with so many decimals lies on the same side of each bound as the number itself, so
    that a reader who compares what is printed comes to the same verdict. An RMSEA of .0531 with a
    bound of .05 is written .053, as .05 would meet the bound.
    """
    if not math.isfinite(value):
        return decimals
    exact = _round_decimal(Decimal(repr(float(value))), _MOST_DECIMALS)
    for bound in (Decimal(repr(float(one))) for one in bounds if math.isfinite(one)):
        while _round_decimal(exact, decimals).compare(bound) != exact.compare(bound):
            decimals += 1
    return decimals


SIGNIFICANCE = (0.05,)
"""The level below which a p speaks of a difference."""


def p_decimals(p: float) -> int:
    """The decimals of a p in texts and tables: three, or more where .05 judges it otherwise."""
    return judged_decimals(p, SIGNIFICANCE, 3)


def round_half_away(values: npt.ArrayLike, decimals: int) -> npt.NDArray[np.float64]:
    """The numbers that `number_text` writes; NaN and infinite numbers stay."""
    exact = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(exact) * 10.0**decimals
        # Where binary and decimal text may differ: near ties, and where few digits are left.
        doubtful = (np.abs(scaled - np.floor(scaled) - 0.5) < 1e-4) | (scaled > 1e11)
        result = np.round(exact, decimals)
    for place in np.argwhere(doubtful & np.isfinite(exact)):
        result[tuple(place)] = float(number_text(float(exact[tuple(place)]), decimals))
    return np.asarray(result + 0.0)  # no negative zero


def round_frame(
    frame: pd.DataFrame, decimals: int, names: Iterable[str] | None = None
) -> pd.DataFrame:
    """The table with these columns, or all of type float, rounded as a page shows them."""
    columns = frame.select_dtypes("float").columns if names is None else names
    return frame.assign(**{name: round_half_away(frame[name], decimals) for name in columns})


def _round_decimal(exact: Decimal, decimals: int) -> Decimal:
    result = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _DIGITS)
    return result if result else abs(result)


def usable_words(n_usable: int, n_asked: int) -> str:
    """How many answers are an option, of the trials that were asked."""
    return f"{n_usable:,} of {n_asked:,} usable"


def cell_number(text: str) -> float | None:
    """The number in a cell; nothing where it holds a text, NaN or infinity."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
