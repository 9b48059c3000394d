"""Which estimator suits the answers, where the user leaves the choice to the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd

from core.analysis.factor_models.cfa_models import AUTOMATIC, EstimatorKind
from core.analysis.items.offered_options import points_of_formats, with_options
from core.analysis.matrices import ScoreMatrix, score_matrices
from core.psychometrics.answer_options import not_ordered

_ENOUGH_OPTIONS = 5
"""Options from which answers may be taken as numbers; Rhemtulla and others (2012)."""
_RHEMTULLA = "Rhemtulla, Brosseau-Liard & Savalei, 2012, doi:10.1037/a0029315"


def chosen_estimator(
    asked: Literal["automatic"] | EstimatorKind, item_scores: pd.DataFrame
) -> tuple[EstimatorKind, tuple[str, ...]]:
    """The estimator asked for, or the one that suits the answers and a note that says why.

    Parameters
    ----------
    asked : str
        An estimator, which stays as it is and needs no note, or "automatic".
    item_scores : ITEM_SCORES frame
        All groups together, so that one result has one estimator.

    Notes
    -----
    Fewer than five options: WLSMV. Five or more: MLR, which then hardly differs from it and has
    AIC and BIC (Rhemtulla, Brosseau-Liard & Savalei 2012 doi:10.1037/a0029315). Scores that are no
    ordered answers: MLR. Options are those of the answer format, or, where it is not known, the
    different scores that came up in a subscale; those of the format with the fewest count.
    """
    if asked != AUTOMATIC:
        return asked, ()
    matrices = with_options(item_scores, score_matrices(item_scores, ("format",), whole=True))
    for matrix in matrices:
        for item, scores, options in zip(
            matrix.items, matrix.scores.T, matrix.options, strict=True
        ):
            reason = not_ordered(scores, item, options)
            if reason:
                return "mlr", (f"Estimator: MLR, because {reason}",)
    known = points_of_formats(item_scores)
    fewest = min((_n_options(one, known) for one in matrices), default=0)
    if 0 < fewest < _ENOUGH_OPTIONS:
        return "wlsmv", (
            f"Estimator: WLSMV, because the answers have {fewest} options. With fewer than "
            f"{_ENOUGH_OPTIONS}, ML and MLR understate loadings and reject true models too often "
            f"({_RHEMTULLA}).",
        )
    return "mlr", (
        f"Estimator: MLR, because the answers have {fewest} options. With {_ENOUGH_OPTIONS} or "
        f"more they may be taken as numbers ({_RHEMTULLA}).",
    )


def _n_options(matrix: ScoreMatrix, known: Mapping[int, frozenset[float]]) -> int:
    """How many options the answers of one format have."""
    points = {known.get(int(one), frozenset()) for one in matrix.administrations}
    if frozenset() not in points and all(matrix.options):
        return min(map(len, points))
    scores = matrix.scores[np.isfinite(matrix.scores)]
    return len(np.unique(scores))
