"""The options that several analyses share, so that they read and mean the same everywhere."""

from __future__ import annotations

from typing import Annotated

from core.analysis.matrices import MISSING_CHOICES
from core.analysis.registry import Choice, Factors, Number
from core.psychometrics.consistency.item_covariances import Missing

By = Annotated[
    tuple[str, ...],
    Factors("Side by side", help="Everything is computed within each group of these factors."),
]
ConfidenceLevel = Annotated[float, Number("Confidence level", 0.5, 0.999)]
MissingRule = Annotated[
    Missing,
    Choice(
        "Missing answers",
        MISSING_CHOICES,
        help="Which administrations discrimination and alpha are computed from.",
    ),
]
