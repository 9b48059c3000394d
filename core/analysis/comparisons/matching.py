"""Which administrations are partners: numbers of what they agree in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.items.cells import Integers, codes_of


def unit_numbers(parts: Sequence[pd.DataFrame], names: Sequence[str]) -> list[Integers]:
    """A number for every row of some frames, the same where rows agree in the columns named.

    Numbers follow the order in which the frames, one after the other, first hold such a row.
    """
    ends = np.cumsum([len(part) for part in parts])
    number = np.zeros(ends[-1], dtype=np.int64)
    for name in names:
        place: dict[Any, int] = {}
        codes = []
        for part in parts:
            own, values = codes_of(part[name])
            codes.append(np.array([place.setdefault(value, len(place)) for value in values])[own])
        number = pd.factorize(number * max(len(place), 1) + np.concatenate(codes))[0]
    return np.split(number, ends[:-1])


def repeated_note(n: int) -> str:
    """What to say of administrations that cannot be told apart."""
    return (
        f"{n} administrations are the same as another in study and every factor, so they cannot "
        "be matched and were left out."
    )
