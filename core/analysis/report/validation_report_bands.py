"""The bands of the validation report as the user typed them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import pandas as pd

from core.analysis.registry import Number, Numbers
from core.domain.results import Column, ResultTable
from core.errors import NotEnoughData
from core.psychometrics.rating_bands import (
    JUNG_2025,
    Bands,
    CoefficientCriterion,
    FactorialBand,
    RatingScheme,
)

_HELP = (
    "The lowest coefficient for ++, for + and for -, falling; what is below is --. With two "
    "numbers, what is below the second is -. ++ and + are acceptable."
)
_FROM = "Coefficients from here on, as computed and not rounded, have this rating"

ConsistencyBands = Annotated[
    tuple[float, ...], Numbers("Bands: internal consistency", -1, 1, help=_HELP)
]
FormBands = Annotated[tuple[float, ...], Numbers("Bands: alternate form", -1, 1, help=_HELP)]
OrderBands = Annotated[tuple[float, ...], Numbers("Bands: option order", -1, 1, help=_HELP)]
ConcurrentBands = Annotated[tuple[float, ...], Numbers("Bands: concurrent", -1, 1, help=_HELP)]
ConvergentBands = Annotated[tuple[float, ...], Numbers("Bands: convergent", -1, 1, help=_HELP)]
HighestRmsea = Annotated[
    float, Number("Factorial: highest acceptable RMSEA", 0, 1, help="+ needs this and the CFI.")
]
LowestCfi = Annotated[
    float, Number("Factorial: lowest acceptable CFI", 0, 1, help="+ needs this and the RMSEA.")
]


def chosen_scheme(
    edges: Mapping[CoefficientCriterion, Sequence[float]], highest_rmsea: float, lowest_cfi: float
) -> RatingScheme:
    """The bands as typed, under the name of their source where they are still its own.

    Raises
    ------
    NotEnoughData
        Bands do not fall, or are not two or three; the message names the criterion.
    """
    bands: dict[CoefficientCriterion, Bands] = {}
    for criterion, own in edges.items():
        try:
            bands[criterion] = Bands(tuple(float(edge) for edge in own))
        except ValueError:
            typed = ", ".join(f"{edge:g}" for edge in own) or "none"
            usual = ", ".join(f"{edge:g}" for edge in JUNG_2025.bands[criterion].edges)
            raise NotEnoughData(
                f"Bands of the criterion '{criterion}' need two or three falling numbers, and they "
                f"are: {typed}.",
                f"Type, for example, {usual}.",
            ) from None
    scheme = replace(JUNG_2025, bands=bands, factorial=FactorialBand(highest_rmsea, lowest_cfi))
    return scheme if scheme == JUNG_2025 else replace(scheme, name="set by the user")


def source_of(scheme: RatingScheme) -> str:
    """Where bands come from, as it stands after the word "bands"."""
    return f"of {scheme.name}" if scheme.name == JUNG_2025.name else scheme.name


def bands_table(scheme: RatingScheme) -> ResultTable:
    """What the ratings rest on, so that they can be read without the options."""
    columns = (
        Column("criterion", "Criterion"),
        Column("very_good_from", "++ from", "correlation", f"{_FROM}; acceptable."),
        Column("good_from", "+ from", "correlation", f"{_FROM}; acceptable."),
        Column("poor_from", "- from", "correlation", f"{_FROM}; below it is --. Empty where - is "
               "the lowest."),
        Column("highest_rmsea", "Highest RMSEA", "correlation", "Of an acceptable factor model."),
        Column("lowest_cfi", "Lowest CFI", "correlation", "Of an acceptable factor model."),
        Column("bands", "Bands", help="Where they come from."),
    )  # fmt: skip
    nan = math.nan
    rows = [
        (
            criterion,
            *own.edges,
            *(nan,) * (3 - len(own.edges)),
            nan,
            nan,
            _source(own == JUNG_2025.bands[criterion]),
        )
        for criterion, own in scheme.bands.items()
    ]
    factorial = scheme.factorial
    rows.append(
        (
            "factorial",
            nan,
            nan,
            nan,
            factorial.highest_rmsea,
            factorial.lowest_cfi,
            _source(factorial == JUNG_2025.factorial),
        )
    )
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return ResultTable("bands", "Bands of the ratings", frame, columns)


def _source(usual: object) -> str:
    """Where bands come from."""
    return JUNG_2025.name if usual else "set by the user"
