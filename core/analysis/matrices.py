"""Score matrices: administrations by items, one for each group and subscale.

Everything that needs whole administrations (correlations, alpha, scores) starts here, so that
missing answers and repeated cells are treated in one place. What stands where is in `cells`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.items.cells import Floats as Floats
from core.analysis.items.cells import Integers as Integers
from core.analysis.items.cells import Layout, cells_of, scores_of
from core.analysis.result import Column

Missing = Literal["listwise", "pairwise"]

ALL_ITEMS = "all items"
MISSING_CHOICES = (
    ("listwise", "Administrations complete on the subscale (listwise)"),
    ("pairwise", "All answers there are (pairwise)"),
)
KEYED_TITLE = "Keyed (1 or -1 = reverse)"
INDEPENDENCE = (
    "Intervals take administrations as independent. Repeated administrations of one model are "
    "not, so the true uncertainty is larger."
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
        known = np.isfinite(self.scores)
        low = np.where(known, self.scores, np.inf).min(axis=0, initial=np.inf)
        high = np.where(known, self.scores, -np.inf).max(axis=0, initial=-np.inf)
        return self._of(high > low)

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


@dataclass(frozen=True, eq=False)
class Covariances:
    """What alpha and discrimination need of the items' covariance matrix C (divisor n - 1)."""

    own: Floats  # the diagonal: variances, exactly 0 for a constant item
    rows: Floats  # sums of rows: covariance of each item with the sum of all
    n: int  # administrations behind it

    @property
    def rest(self) -> Floats:
        """Variance of the sum of all items but this one, for each item."""
        return np.asarray(self.rows.sum() - 2 * self.rows + self.own)

    def alpha(self) -> float:
        """Cronbach's alpha; NaN where it is undefined.

        Items of zero variance are left out: a constant adds nothing to the variance of the score,
        true or error, and counting it in k would lower alpha for no reason.
        """
        return float(_alpha(np.count_nonzero(self.own), self.own.sum(), self.rows.sum()))

    def alpha_if_dropped(self) -> Floats:
        """Alpha of the other items, for each item."""
        others = np.count_nonzero(self.own) - (self.own != 0)
        return _alpha(others, self.own.sum() - self.own, self.rest)


def covariances(scores: Floats, missing: Missing) -> Covariances:
    """Covariances of the items of an (administrations, items) matrix, NaN where undefined.

    "listwise" keeps the rows without gaps; "pairwise" takes each pair of items from the rows that
    hold both, and counts the rows with any answer.
    """
    answered = ~np.isnan(scores)
    kept = answered.all(axis=1) if missing == "listwise" else answered.any(axis=1)
    values, present, n = scores[kept], answered[kept], int(kept.sum())
    if n < 2:
        unknown = np.full(scores.shape[1], np.nan)
        return Covariances(unknown, unknown, n)
    # Starting from each item's lowest score keeps constants exactly constant at any origin.
    lowest = np.where(present, values, np.inf).min(axis=0)
    shifted = np.where(present, values - np.where(np.isfinite(lowest), lowest, 0), 0)
    means = shifted.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    centered = np.where(present, shifted - means, 0)
    if present.all():
        rows = centered.T @ centered.sum(axis=1) / (n - 1)
        return Covariances((centered**2).sum(axis=0) / (n - 1), rows, n)
    return Covariances(*_pairwise(centered, present.astype(np.float64)), n)


def _pairwise(centered: Floats, present: Floats) -> tuple[Floats, Floats]:
    """Diagonal and row sums of the pairwise covariances, some columns at a time."""
    k = centered.shape[1]
    own, rows = np.full(k, np.nan), np.zeros(k)
    for start in range(0, k, 512):
        block = slice(start, start + 512)
        pairs = present.T @ present[:, block]
        sums = (centered.T @ present[:, block]) * (present.T @ centered[:, block])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (centered.T @ centered[:, block] - sums / pairs) / (pairs - 1)
        part[pairs < 2] = np.nan
        rows += part.sum(axis=1)
        own[block] = np.diag(part[block])
    return own, rows


def _alpha(k: Any, trace: Any, total: Any) -> Floats:
    """Alpha from number of items, sum of variances and variance of the sum; NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - np.float64(1)) * (1 - trace / total)
    return np.where((k > 1) & (total > 1e-12 * trace), value, np.nan)


def by_columns(by: Sequence[str]) -> tuple[Column, ...]:
    """The leading columns of a result table: the factors set side by side."""
    return tuple(Column(name, name.replace("_", " ").capitalize()) for name in distinct(by))


def distinct(by: Sequence[str]) -> tuple[str, ...]:
    """The factors without repeats."""
    return tuple(dict.fromkeys(by))


def group_name(group: Sequence[Any]) -> str:
    """What to call a group in a note: its values, or "all administrations"."""
    return " · ".join(str(value) or "(none)" for value in group) or "all administrations"


def some_of(names: Sequence[str], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    listed = ", ".join(names[:shown])
    return listed if len(names) <= shown else f"{listed} and {len(names) - shown} more"


def data_notes(item_scores: pd.DataFrame, matrices: Sequence[ScoreMatrix]) -> list[str]:
    """Cautions that hold for any analysis: one administration, identical ones, several studies."""
    notes: list[str] = []
    for group in dict.fromkeys(matrix.group for matrix in matrices):
        own = [matrix.scores for matrix in matrices if matrix.group == group]
        n = max(len(scores) for scores in own)
        if n == 1:
            notes.append(
                f"{group_name(group)}: there is only one administration, so nothing can vary. Ask "
                "under several contexts or repetitions."
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
