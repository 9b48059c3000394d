"""The items and rows a multivariate statistic can use, and in words which ones it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.errors import NotEnoughData

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Rows = Literal["complete", "any"]


@dataclass(frozen=True, eq=False)
class UsableItems:
    """Items that vary, on the rows kept; the rest is named in `problems`."""

    scores: Floats  # (rows kept, items kept); without NaN if rows="complete"
    names: tuple[str, ...]
    kept: tuple[int, ...]  # columns of the matrix given
    n_rows_given: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows kept."""
        return len(self.scores)

    @property
    def p(self) -> int:
        """Number of items kept."""
        return len(self.names)


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
        Nothing is left: no rows, no items, or no row that holds a score.
    """
    matrix = score_matrix(scores, names)
    columns = np.arange(len(names), dtype=np.int64)
    problems: list[str] = []
    empty = np.isnan(matrix).all(axis=0)
    _note(problems, names, columns[empty], "no score at all")
    columns = columns[~empty]
    varying = _varies(matrix[:, columns])
    _note(problems, names, columns[~varying], "the same score everywhere")
    columns = columns[varying]
    kept_rows = _rows(matrix[:, columns], rows)
    still = _varies(matrix[np.ix_(kept_rows, columns)])
    if kept_rows.any():
        _note(problems, names, columns[~still], "the same score on all rows that can be used")
        columns = columns[still]
    if not columns.size or not kept_rows.any():
        what = "No item varies" if not columns.size else "No row holds a score of every item"
        raise NotEnoughData(
            ". ".join([what, *(problem.rstrip(".") for problem in problems)]) + ".",
            "Ask more items or more administrations, or fill the gaps.",
        )
    lost = matrix.shape[0] - int(kept_rows.sum())
    if lost:
        why = "a missing score" if rows == "complete" else "no score"
        problems.append(f"{lost} of {matrix.shape[0]} rows were left out: {why}.")
    return UsableItems(
        scores=matrix[np.ix_(kept_rows, columns)],
        names=tuple(names[column] for column in columns.tolist()),
        kept=tuple(int(column) for column in columns),
        n_rows_given=matrix.shape[0],
        problems=tuple(problems),
    )


def score_matrix(scores: Floats, names: Sequence[str]) -> Floats:
    """The scores as a matrix of floats, infinite values as missing, if the shape fits the names.

    Raises ValueError where the number of names is not the number of columns.
    """
    matrix = np.array(scores, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ValueError(f"{matrix.shape} scores for {len(names)} items")
    matrix[~np.isfinite(matrix)] = np.nan
    return matrix


def _varies(matrix: Floats) -> Booleans:
    """Whether each column holds two different scores, however many are missing."""
    low = np.where(np.isnan(matrix), np.inf, matrix).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(matrix), -np.inf, matrix).max(axis=0, initial=-np.inf)
    return np.asarray(high > low)


def _rows(matrix: Floats, rows: Rows) -> Booleans:
    """The rows to keep: without gaps, or with any score."""
    present = ~np.isnan(matrix)
    return np.asarray(present.all(axis=1) if rows == "complete" else present.any(axis=1))


def _note(
    problems: list[str], names: Sequence[str], columns: npt.NDArray[np.int64], why: str
) -> None:
    """Name the items left out and why, if any."""
    if columns.size:
        left_out = ", ".join(names[column] for column in columns.tolist())
        problems.append(f"Left out, because of {why}: {left_out}.")
