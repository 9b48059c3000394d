"""The items and rows a multivariate statistic can use, and in words which ones it cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.arrays import Booleans, Floats, Integers
from core.psychometrics.score_values import score_matrix, varying_columns
from core.psychometrics.wording import always_the_same, never_answered

Rows = Literal["complete", "any"]


@dataclass(frozen=True, eq=False)
class UsableItems:
    """Items that vary, on the rows kept; the rest is named in `problems`."""

    scores: Floats  # (rows kept, items kept); without NaN if rows="complete"
    names: tuple[str, ...]
    kept: Integers  # columns of the matrix given
    n_rows_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows kept."""
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Number of items kept."""
        return len(self.names)

    @property
    def n_left_out(self) -> int:
        """Number of rows left out."""
        return self.n_rows_given - self.n


@dataclass(frozen=True, eq=False)
class Selection:
    """Columns that vary in every matrix, and the rows of each matrix that can be used."""

    columns: Integers
    rows: tuple[Booleans, ...]
    problems: tuple[str, ...]


def usable_items(scores: Floats, names: Sequence[str], *, rows: Rows = "complete") -> UsableItems:
    """Items with at least two different scores, on the rows complete in them (or with any score).

    Parameters
    ----------
    scores : (n, p) array
        A row is one administration; score points, NaN (or infinite) where there is none.
    names : p names
        What to call the items in `problems`.
    rows : "complete" or "any"
        Keep rows without gaps in the items kept (listwise), or every row with a score.

    Returns
    -------
    UsableItems
        An item without scores or without variance is left out before rows are judged, so it costs
        no rows; one that is constant on the rows kept is left out afterwards.

    Raises
    ------
    NotEnoughData
        Nothing is left: no rows, no items, or no row that holds a score; or as `score_matrix`.
    """
    matrix = score_matrix(scores, names)
    found = selection([matrix], names, rows)
    columns, kept = found.columns, found.rows[0]
    n = int(kept.sum())
    if not columns.size or n < 2:
        what = "No item varies"
        if columns.size:
            holds = "No row holds" if n == 0 else f"Only 1 of {len(matrix)} rows holds"
            what = f"{holds} {'a score of every item' if rows == 'complete' else 'a score'}"
        elif n < len(matrix) and varying_columns(matrix).any():
            what = f"No item varies over the {n} rows that hold a score of every item"
        raise NotEnoughData(
            ". ".join([what, *(problem.rstrip(".") for problem in found.problems)]) + ".",
            "Ask more items or more administrations, or fill the gaps.",
        )
    return UsableItems(
        scores=matrix[np.ix_(kept, columns)],
        names=tuple(names[column] for column in columns.tolist()),
        kept=columns,
        n_rows_given=matrix.shape[0],
        problems=found.problems,
    )


def selection(matrices: Sequence[Floats], names: Sequence[str], rows: Rows) -> Selection:
    """What can be used of one matrix, or of several (groups) that must keep the same items.

    Parameters
    ----------
    matrices : sequence of (n, p) arrays
        Scores, NaN where there is none. An item that does not vary in one is left out of all.
    names : p names
        What to call the items in `problems`.
    rows : "complete" or "any"
        As in `usable_items`.
    """
    columns = np.arange(len(names), dtype=np.int64)
    problems: list[str] = []

    def keep(
        good: Sequence[Booleans], sentence: Callable[[Sequence[str], str], str], where: str
    ) -> Integers:
        """The columns good in every matrix; a note on the others."""
        in_all = np.all(good, axis=0)
        left_out = [names[column] for column in columns[~in_all].tolist()]
        if left_out:
            problems.append(sentence(left_out, where))
        return columns[in_all]

    some = " in some group" if len(matrices) > 1 else ""
    present = [np.asarray(~np.isnan(m).all(axis=0)) for m in matrices]
    columns = keep(present, never_answered, some)
    varying = [varying_columns(m[:, columns]) for m in matrices]
    columns = keep(varying, always_the_same, some)
    kept = tuple(_rows(m[:, columns], rows) for m in matrices)
    if all(own.sum() > 1 for own in kept):
        used = [m[np.ix_(own, columns)] for m, own in zip(matrices, kept, strict=True)]
        varying = [varying_columns(m) for m in used]
        columns = keep(varying, always_the_same, f" on the rows that can be used{some}")
    n = sum(map(len, matrices))
    lost = n - sum(int(own.sum()) for own in kept)
    if lost and columns.size:
        why = "a missing score" if rows == "complete" else "no score"
        problems.append(f"{lost} of {n} rows were left out: {why}.")
    return Selection(columns, kept, tuple(problems))


def _rows(matrix: Floats, rows: Rows) -> Booleans:
    """The rows to keep: without gaps, or with any score."""
    present = ~np.isnan(matrix)
    return np.asarray(present.all(axis=1) if rows == "complete" else present.any(axis=1))
