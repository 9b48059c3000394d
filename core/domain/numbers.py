"""How counts and numbers are written for a reader: "1 item", rounding half away from zero."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import numpy.typing as npt
import pandas as pd

# Counted things in words: "1 item", "2 items", "12,000 replies".


def count_text(count: int, one: str, many: str = "") -> str:
    """A number and what it counts, in the singular for 1 and in the plural otherwise.

    Parameters
    ----------
    count : int
        How many there are.
    one : str
        The words for one, with a verb or not: "item", "item has".
    many : str
        The words for any other number; empty where an s at the end makes them.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def name_with_count(name: str, count: str) -> str:
    """A name and how many it holds in brackets, unless the name ends with just these brackets."""
    brackets = f"({count})"
    return name if name.rstrip().endswith(brackets) else f"{name} {brackets}"


# How numbers are rounded wherever they are shown: half away from zero, on their decimal text.

_DIGITS = Context(prec=400)  # the largest float has 309 digits before its point


def number_text(value: float, decimals: int) -> str:
    """The number with so many decimals, ties away from zero: 3.125 is 3.13, 1.005 is 1.01.

    Its decimal text is rounded, as a reader would, and not the binary number behind it. Zero has no
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


def round_half_away(values: npt.ArrayLike, decimals: int) -> npt.NDArray[np.float64]:
    """The numbers that `number_text` writes, NaN and infinite ones as they are."""
    exact = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.abs(exact) * 10.0**decimals
        # Where binary and decimal text may differ: near ties, and where few digits are left.
        doubtful = (np.abs(scaled - np.floor(scaled) - 0.5) < 1e-4) | (scaled > 1e11)
        found = np.round(exact, decimals)
    for place in np.argwhere(doubtful & np.isfinite(exact)):
        found[tuple(place)] = float(number_text(float(exact[tuple(place)]), decimals))
    return np.asarray(found + 0.0)  # no negative zero


def round_frame(
    frame: pd.DataFrame, decimals: int, names: Iterable[str] | None = None
) -> pd.DataFrame:
    """The table with these columns, or all that hold broken numbers, rounded as they are shown."""
    found = frame.select_dtypes("float").columns if names is None else names
    return frame.assign(**{name: round_half_away(frame[name], decimals) for name in found})


def _round_decimal(exact: Decimal, decimals: int) -> Decimal:
    found = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, _DIGITS)
    return found if found else abs(found)
