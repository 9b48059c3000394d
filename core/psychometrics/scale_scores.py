"""The score of a scale: the mean of its items, and what is done about missing answers."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from core.psychometrics.arrays import Floats

ScoreRule = Literal["listwise", "half", "available"]


def scale_scores(
    sums: npt.ArrayLike, answered: npt.ArrayLike, planned: npt.ArrayLike, missing: ScoreRule
) -> Floats:
    """The mean of the items answered, NaN where the rule for missing answers gives no score.

    Parameters
    ----------
    sums : (rows,)
        Sums of the item scores there are.
    answered : (rows,)
        Numbers of items with a score.
    planned : (rows,)
        Numbers of items asked.
    missing : "listwise", "half" or "available"
        A row has a score where it holds all items planned, at least half of them, or any.
    """
    total, there, asked = (np.asarray(one, dtype=np.float64) for one in (sums, answered, planned))
    needed = {"listwise": asked, "half": asked / 2, "available": np.zeros_like(asked)}[missing]
    scored = (there >= needed) & (there > 0)
    return np.where(scored, total / np.maximum(there, 1), np.nan)


def row_scores(scores: Floats, missing: ScoreRule) -> Floats:
    """The score of each row of a (rows, items) matrix, NaN for no answer; see `scale_scores`."""
    answered = ~np.isnan(scores)
    counts, sums = answered.sum(axis=1), np.where(answered, scores, 0).sum(axis=1)
    return scale_scores(sums, counts, np.full(len(scores), scores.shape[1]), missing)


def shares_of_range(scores: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Scores with 0 for the lowest possible score and 1 for the highest; NaN where they are equal.

    The mean of an item's shares is its difficulty.
    """
    reach = np.where(highest > lowest, highest - lowest, np.nan)
    return np.asarray((scores - lowest) / reach)
