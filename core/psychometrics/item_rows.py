"""The rows and items a reliability coefficient is computed from, and why one cannot be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.arrays import Floats
from core.psychometrics.usable_items import Rows, UsableItems, usable_items


def item_rows(
    scores: Floats, names: Sequence[str] | None = None, rows: Rows = "complete"
) -> UsableItems:
    """Rows without a gap in the items that vary; none, with the reason, where nothing is left.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying; NaN (or infinite) where there is no score.
    names : sequence of str, optional
        What to call the items in messages; "item 1", "item 2", ... otherwise.
    rows : "complete" or "any"
        As in `usable_items`.

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
        return usable_items(table, labels, rows=rows)
    except NotEnoughData as nothing:
        why = f"Undefined: {nothing.problem[0].lower()}{nothing.problem[1:]}"
        if not len(table):
            why = "Undefined: there are no rows."
        none = np.empty(0, dtype=np.int64)
        return UsableItems(np.empty((0, 0)), (), none, len(table), (why,))


def too_little(rows: UsableItems, *, items: int = 2, n: int = 2) -> str:
    """Why these rows cannot carry a coefficient; empty where they can."""
    if not rows.n_items:
        return rows.problems[0]  # `item_rows` has said why nothing is left
    if rows.n < n:
        return f"Undefined: it needs {n} complete rows, and there {_are(rows.n)}."
    if rows.n_items < items:
        return f"Undefined: it needs {items} items that vary, and there {_are(rows.n_items)}."
    return ""


def with_reason(rows: UsableItems, reason: str) -> tuple[str, ...]:
    """What is to be said of the rows and why nothing is computed from them, each once."""
    return tuple(dict.fromkeys((*rows.problems, reason)))


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"
