"""Ratings of coefficients, ++ to --, by bands the user may edit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Criterion = Literal[
    "internal consistency",
    "alternate form",
    "option order",
    "concurrent",
    "convergent",
    "factorial",
]
CoefficientCriterion = Literal[
    "internal consistency", "alternate form", "option order", "concurrent", "convergent"
]
Rating = Literal["++", "+", "-", "--", ""]

_GRADES: tuple[Rating, ...] = ("++", "+", "-", "--")


@dataclass(frozen=True)
class Bands:
    """Lowest coefficient of each rating: edges .8, .7, .5 read ++ from .8, + from .7, - from .5.

    What is below the last edge has the next rating down: with three edges --, with two -. An edge
    belongs to the better rating. ++ and + are acceptable.
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        falling = all(high > low for high, low in zip(self.edges, self.edges[1:], strict=False))
        if not (2 <= len(self.edges) <= 3 and falling and all(map(math.isfinite, self.edges))):
            raise ValueError(f"bands need two or three falling edges, not {self.edges}")

    def rate(self, coefficient: float) -> Rating:
        """The rating of a coefficient; empty where it is NaN."""
        if math.isnan(coefficient):
            return ""
        return _GRADES[sum(coefficient < edge for edge in self.edges)]


@dataclass(frozen=True)
class FactorialBand:
    """The factor model is acceptable (+) up to this RMSEA and from this CFI on; otherwise -."""

    highest_rmsea: float = 0.05
    lowest_cfi: float = 0.9

    def rate(self, rmsea: float, cfi: float) -> Rating:
        """The rating of a fit; empty where either index is NaN."""
        if math.isnan(rmsea) or math.isnan(cfi):
            return ""
        return "+" if rmsea <= self.highest_rmsea and cfi >= self.lowest_cfi else "-"


@dataclass(frozen=True)
class RatingScheme:
    """Bands of all six criteria, and where they come from."""

    name: str
    bands: Mapping[CoefficientCriterion, Bands]
    factorial: FactorialBand


JUNG_2025 = RatingScheme(
    # "-" of the convergent band is printed overlapping "+"; it is read as .1 to .3. The concurrent
    # criterion has three ratings, two edges: so read, its printed ratings follow the coefficients
    # of the text (-.10, .08), which its table contradicts.
    name="Jung (2025)",
    bands={
        "internal consistency": Bands((0.8, 0.7, 0.5)),
        "alternate form": Bands((0.8, 0.7, 0.5)),
        "option order": Bands((0.5, 0.3, 0.1)),
        "concurrent": Bands((0.3, 0.1)),
        "convergent": Bands((0.6, 0.3, 0.1)),
    },
    factorial=FactorialBand(),
)


def acceptable(rating: Rating) -> bool | None:
    """Whether a rating is ++ or +; None where there is no rating."""
    return rating in ("++", "+") if rating else None
