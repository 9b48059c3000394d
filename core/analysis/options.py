"""The options that several analyses share, so that they read and mean the same everywhere."""

from __future__ import annotations

from typing import Annotated

from core.analysis.matrices import MISSING_CHOICES
from core.analysis.registry import Choice, DesignFactors, Number
from core.psychometrics.consistency.item_covariances import Missing
from core.psychometrics.scale_scores import ScoreRule

By = Annotated[
    tuple[str, ...],
    DesignFactors(
        "Side by side", help="Everything is computed within each group of these factors."
    ),
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
SCORE_RULES = (
    ("listwise", "Only administrations without a gap (listwise)"),
    ("half", "Mean of the answers, where half of the items have one"),
    ("available", "Mean of the answers there are"),
)
ScoreMissing = Annotated[
    ScoreRule,
    Choice("Missing answers", SCORE_RULES, help="Which administrations get a score of a scale."),
]
