"""Score matrices: administrations by items, one for each group and subscale.

Everything that needs whole administrations (correlations, alpha, scores) starts here, so that
missing answers and repeated cells are treated in one place. What stands where is in `cells`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.items.cells import Floats as Floats
from core.analysis.items.cells import Integers as Integers
from core.analysis.items.cells import Layout, cells_of, scores_of
from core.analysis.rows import of_people
from core.domain.results import Column
from core.psychometrics.score_values import varying_columns

ALL_ITEMS = "all items"
MISSING_CHOICES = (
    ("listwise", "Administrations complete on the subscale (listwise)"),
    ("pairwise", "All answers there are (pairwise)"),
)
KEYED_TITLE = "Keyed (1 or -1 = reverse)"
INDEPENDENCE = (
    "Intervals take administrations as independent.",
    "Repeated administrations of one model are not, so the true uncertainty is larger.",
)


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Scores of one group on one subscale; NaN where there is no score."""

    group: tuple[Any, ...]  # values of the factors set side by side
    subscale: str
    items: tuple[str, ...]
    keyed: tuple[int, ...]
    administrations: Integers
    scores: Floats  # (administrations, items)
    options: tuple[tuple[float, ...] | None, ...] = ()
    """Scores that each item offers; filled by `offered_options.with_options` where needed."""

    @property
    def n_used(self) -> int:
        """Number of scores."""
        return int(np.isfinite(self.scores).sum())

    @property
    def n_missing(self) -> int:
        """Number of cells without a score."""
        return self.scores.size - self.n_used

    def answered(self) -> ScoreMatrix:
        """The matrix of the items that were answered at all; the others would cost every row."""
        return self._of(np.isfinite(self.scores).any(axis=0))

    def varying(self) -> ScoreMatrix:
        """The matrix of the items with two different scores; gaps of the others cost no row."""
        return self._of(varying_columns(self.scores))

    def _of(self, chosen: Any) -> ScoreMatrix:
        """The matrix of some items; without rows where none is chosen."""
        kept: list[int] = np.flatnonzero(chosen).tolist()
        if len(kept) == len(self.items):
            return self
        rows = slice(None) if kept else slice(0)
        return replace(
            self,
            items=tuple(self.items[place] for place in kept),
            keyed=tuple(self.keyed[place] for place in kept),
            options=tuple(self.options[place] for place in kept) if self.options else (),
            administrations=self.administrations[rows],
            scores=self.scores[rows][:, kept],
        )

    def complete(self) -> Floats:
        """The rows without gaps."""
        return self.scores[~np.isnan(self.scores).any(axis=1)]


def score_matrices(
    item_scores: pd.DataFrame, by: Sequence[str], *, whole: bool = False
) -> tuple[ScoreMatrix, ...]:
    """One matrix per group and subscale, in the order the frame first names them.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        Text columns may be categories, strings or numbers.
    by : sequence of factors
        Their values make the groups; none puts everything into one group.
    whole : bool
        Put all subscales of a group into one matrix, called "all items".

    Raises
    ------
    TypeError
        An administration holds an item twice. Averaging it would hide a fault.
    NotEnoughData
        There are no rows.
    """
    layouts = cells_of(item_scores, by).layouts(ALL_ITEMS if whole else None)
    return laid_out(layouts, scores_of(item_scores))


def laid_out(layouts: Sequence[Layout], values: Floats) -> tuple[ScoreMatrix, ...]:
    """The values of all rows of a frame, one matrix for each layout."""
    return tuple(
        ScoreMatrix(
            layout.group,
            layout.subscale,
            layout.items,
            layout.keyed,
            layout.administrations,
            layout.filled(values),
        )
        for layout in layouts
    )


def by_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The leading columns of a result table: the factors set side by side."""
    return tuple(Column(name, name.replace("_", " ").capitalize()) for name in distinct(by))


def distinct(by: Sequence[str]) -> tuple[str, ...]:
    """The factors without repeats."""
    return tuple(dict.fromkeys(by))


def group_name(group: Sequence[Any]) -> str:
    """What to call a group in a note: its values, or "all administrations"."""
    return " · ".join(str(value) or "(none)" for value in group) or "all administrations"


def data_notes(item_scores: pd.DataFrame, matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Cautions that hold for any analysis: one administration, identical ones, several studies."""
    notes: list[str] = []
    for group in dict.fromkeys(matrix.group for matrix in matrices):
        own = [matrix.scores for matrix in matrices if matrix.group == group]
        n = max(len(scores) for scores in own)
        if n == 1:
            notes.append(
                f"{group_name(group)}: there is only one administration, so nothing can vary."
                + ("" if of_people(item_scores) else " Ask under several contexts or repetitions.")
            )
        elif all(len(scores) > 1 and (scores == scores[0]).all() for scores in own):
            notes.append(
                f"{group_name(group)}: all {n} administrations are identical; they say no more "
                "than one."
            )
    not_asked = int((item_scores["status"] == "not_asked").sum())
    if not_asked:
        notes.append(f"{not_asked} planned trials have not been asked yet; they count as missing.")
    n_studies = item_scores["study"].nunique()
    if n_studies > 1:
        notes.append(f"Answers of {n_studies} studies are analyzed together.")
    return notes
