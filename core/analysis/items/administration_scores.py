"""The score of an administration: the mean of its items, and what is done about gaps."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from core.analysis.items.cells import Floats
from core.analysis.registry import Choice

GapRule = Literal["complete", "available"]
GAP_RULES = (
    ("complete", "Only administrations without a gap"),
    ("available", "Mean of the answers there are"),
)
Gaps = Annotated[
    GapRule, Choice("Missing answers", GAP_RULES, help="Which administrations get a score.")
]


def administration_scores(scores: Floats, missing: GapRule) -> Floats:
    """The score of each row of an (administrations, items) matrix; NaN where it has none.

    "complete" gives a score to the rows without gaps only, "available" the mean of the answers to
    every row that has any.
    """
    answered = ~np.isnan(scores)
    counts = answered.sum(axis=1)
    sums = np.where(answered, scores, 0).sum(axis=1)
    scored = counts == scores.shape[1] if missing == "complete" else counts > 0
    return np.where(scored, sums / np.maximum(counts, 1), np.nan)
