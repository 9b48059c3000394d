"""The rows and items a reliability coefficient is computed from, and why one cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.estimate import Floats, Integers
from core.psychometrics.usable_items import usable_items


@dataclass(frozen=True, eq=False)
class ItemRows:
    """Rows answered on every item that varies.

    `scores` is (rows, items kept); `kept` are the positions of these items in the table that was
    given, `names` what to call them; `problems` names items and rows that were left out.
    """

    scores: Floats
    kept: Integers
    names: tuple[str, ...]
    n_left_out: int
    problems: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Number of items that vary."""
        return len(self.kept)


def item_rows(scores: Floats, names: Sequence[str] | None = None) -> ItemRows:
    """Rows without a gap in the items that vary; none, with the reason, where nothing is left.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying; NaN (or infinite) where there is no score.
    names : sequence of str, optional
        What to call the items in messages; "item 1", "item 2", ... otherwise.

    Raises
    ------
    ValueError
        `scores` is not a two-dimensional table, or there are not as many names as items.

    Notes
    -----
    A constant item is left out because it adds nothing to the variance of any score, true or
    error; psych (R) and SPSS leave it out too. A model fitted to the same table uses the same rows.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"item scores need rows and columns, not {table.ndim} dimensions")
    labels = tuple(names or [f"item {number + 1}" for number in range(table.shape[1])])
    try:
        usable = usable_items(table, labels)
    except NotEnoughData as nothing:
        none = np.empty(0, dtype=np.int64)
        return ItemRows(np.empty((0, 0)), none, (), len(table), (nothing.problem,))
    return ItemRows(
        scores=usable.scores,
        kept=np.array(usable.kept, dtype=np.int64),
        names=usable.names,
        n_left_out=len(table) - usable.n,
        problems=usable.problems,
    )


def too_little(rows: ItemRows, *, items: int = 2, n: int = 2) -> str:
    """Why these rows cannot carry a coefficient; empty where they can."""
    if rows.n < n:
        return f"Undefined: it needs {n} complete rows, and there are {rows.n}."
    if rows.n_items < items:
        return f"Undefined: it needs {items} items that vary, and there are {rows.n_items}."
    return ""


def listed(names: Sequence[object], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    text = ", ".join(str(name) for name in names[:shown])
    return text if len(names) <= shown else f"{text} and {len(names) - shown} more"
