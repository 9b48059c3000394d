"""Human norms as a user types them in: read, checked against the study, and explained if wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from core.errors import NotEnoughData
from core.psychometrics.comparisons.mean_comparison import Summary

_WHAT_TO_TYPE = (
    "Type a row for each scale you have norms of: the name of a subscale (or 'all items'), mean "
    "and SD of people's scores as a mean per item, and how many people there were."
)


@dataclass(frozen=True)
class Norm:
    """Mean, SD and n of people on one scale of the study."""

    scale: str
    people: Summary


def read_norms(rows: Sequence[Sequence[str | float]], scales: Sequence[str]) -> tuple[Norm, ...]:
    """The norms of the rows typed in, under the names that the study's scales have.

    Parameters
    ----------
    rows : sequence of (scale, mean, sd, n)
        Empty rows are passed over; upper and lower case do not matter.
    scales : sequence of str
        The names of the scales of the study.

    Raises
    ------
    NotEnoughData
        There are no norms, a row is incomplete or impossible, or a scale is not in the study or
        has two rows.
    """
    found: dict[str, Norm] = {}
    for number, row in enumerate(rows, 1):
        name, *numbers = row
        if not str(name).strip() and all(_is_blank(value) for value in numbers):
            continue
        scale = _scale(str(name).strip(), number, scales)
        if scale in found:
            raise NotEnoughData(
                f"There are two rows of norms of '{scale}'.",
                "Keep one; compare with other norms in a second run.",
            )
        found[scale] = Norm(scale, _people(numbers, number))
    if not found:
        raise NotEnoughData("There are no norms to compare with.", _WHAT_TO_TYPE)
    return tuple(found.values())


def _scale(name: str, number: int, scales: Sequence[str]) -> str:
    """The scale of the study that a name typed in stands for."""
    known = {scale.casefold(): scale for scale in reversed(scales)}
    if name.casefold() in known:
        return known[name.casefold()]
    near = [known[one] for one in get_close_matches(name.casefold(), list(known), 3, 0.5)]
    listed = ", ".join(f"'{scale}'" for scale in (near or list(scales)[:8]))
    remedy = f"Did you mean {listed}?" if near else f"Use one of: {listed}."
    if not name:
        raise NotEnoughData(f"Row {number} of the norms names no scale.", remedy)
    raise NotEnoughData(f"There is no scale '{name}' in these answers.", remedy)


def _people(numbers: Sequence[str | float], number: int) -> Summary:
    """Mean, SD and n of a row."""
    if len(numbers) != 3 or any(_is_blank(value) for value in numbers):
        raise NotEnoughData(
            f"Row {number} of the norms lacks a number.", "Fill in mean, SD and n of every row."
        )
    mean, sd, n = (float(value) for value in numbers)
    if not (math.isfinite(mean) and math.isfinite(sd) and sd > 0):
        raise NotEnoughData(
            f"Row {number} of the norms has mean {mean:g} and SD {sd:g}.",
            "Type a mean, and an SD above 0: people differ.",
        )
    if not (math.isfinite(n) and n >= 2 and n == int(n)):
        raise NotEnoughData(
            f"Row {number} of the norms has n = {n:g}.", "Type a whole number of 2 or more people."
        )
    return Summary(mean, sd, int(n))


def _is_blank(value: str | float | None) -> bool:
    """Whether a cell was left empty."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
