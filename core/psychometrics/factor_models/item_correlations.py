"""The correlations that factors are looked for in: of scores, or behind ordered answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.psychometrics.answer_options import Offered
from core.psychometrics.arrays import Floats
from core.psychometrics.ordered.ordered_answers import LISTWISE
from core.psychometrics.ordered.polychoric import Polychoric, polychoric
from core.psychometrics.usable_items import usable_items

Correlation = Literal["pearson", "polychoric"]


@dataclass(frozen=True, eq=False)
class ItemCorrelations:
    """Correlations of the items that vary, on complete rows, and what they were made of."""

    names: tuple[str, ...]
    n: int  # rows
    matrix: Floats  # (p, p); NaN where a pair has none
    scores: Floats | None  # (n, p), of Pearson correlations
    polychoric: Polychoric | None
    problems: tuple[str, ...]


def item_correlations(
    scores: Floats,
    names: Sequence[str],
    correlation: Correlation,
    offered: Sequence[Offered] | None = None,
) -> ItemCorrelations:
    """Pearson or polychoric correlations of the items, complete rows.

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; NaN where there is no score.
    names : p names
        One for each column.
    correlation : "pearson" or "polychoric"
        Of the scores, or of normal variables behind ordered answers.
    offered : p lists of scores, optional
        Options of the items, for polychoric correlations.

    Raises
    ------
    NotEnoughData
        As `usable_items` and `polychoric`.
    """
    if correlation == "polychoric":
        fitted = polychoric(scores, names, missing=LISTWISE, offered=offered)
        return ItemCorrelations(
            fitted.names, fitted.answers.n, fitted.correlations, None, fitted, fitted.problems
        )
    used = usable_items(scores, names)
    matrix = np.corrcoef(used.scores, rowvar=False).reshape(used.n_items, used.n_items)
    return ItemCorrelations(used.names, used.n, matrix, used.scores, None, used.problems)
