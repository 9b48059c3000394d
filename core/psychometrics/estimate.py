"""A coefficient with its interval, its counts, and the reasons for whatever is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """One coefficient, as a reader needs it to judge how far it can be trusted.

    Fields
    ------
    value : the coefficient; NaN where it is undefined, and then `problems` says why.
    low, high : ends of the two-sided interval of coverage `level`; NaN where there is none.
    n : rows (units, pairs) the coefficient was computed from.
    n_left_out : rows that the rule for missing answers left out.
    method : formula and interval in words.
    problems : why something is undefined, and cautions, each a whole sentence.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    n: int = 0
    n_left_out: int = 0
    method: str = ""
    problems: tuple[str, ...] = ()

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return math.isfinite(self.value)


def check_level(level: float) -> float:
    """The coverage, if an interval can have it; ValueError otherwise."""
    if not 0 < level < 1:
        raise ValueError(f"no interval has a coverage of {level}")
    return level
