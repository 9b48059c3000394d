"""Scores of administrations: means of items on each scale, and what each administration was."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.matrices import ALL_ITEMS
from core.errors import NotEnoughData
from core.psychometrics.scale_scores import ScoreRule, scale_scores
from core.psychometrics.wording import listed

_FIRST_LEVELS = ("original", "as_is", "standard", "initial")
"""Levels that others are variations of, so they come first."""


def administration_scores(item_scores: pd.DataFrame, incomplete: ScoreRule) -> pd.DataFrame:
    """Mean of the items of every administration, on all items and on each subscale.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    incomplete : "listwise", "half" or "available"
        A score needs an answer to every planned item of the scale, to half of them, or to any.

    Returns
    -------
    pandas.DataFrame
        One row per scale ("all items" first) and administration: `scale`, `administration`,
        `score`, NaN where too few items were answered.
    """
    rows = item_scores[["administration", "score"]].assign(scale=labels(item_scores["subscale"]))
    means = (
        pd.concat([rows.assign(scale=ALL_ITEMS), rows])
        .groupby(["scale", "administration"], sort=False)["score"]
        .agg(["sum", "count", "size"])
        .reset_index()
        # as numbers, the 63-bit ids would lose digits beside a missing one
        .astype({"administration": "object"})
    )
    found = scale_scores(means["sum"], means["count"], means["size"], incomplete)
    return means.assign(score=found).drop(columns=["sum", "count", "size"])


def administration_labels(item_scores: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The levels of some columns under which each administration was given, by its id.

    Raises
    ------
    NotEnoughData
        The frame lacks one of the columns.
    """
    for name in names:
        if name not in item_scores:
            raise NotEnoughData(f"Answers are not kept by {name}.", "Choose another factor.")
    kept = item_scores[["administration", *names]].drop_duplicates("administration")
    found = pd.DataFrame({name: labels(kept[name]) for name in names}, index=kept.index)
    return found.set_index(pd.Index(kept["administration"].astype("object")))


def remedy(item_scores: pd.DataFrame, incomplete: ScoreRule, otherwise: str) -> str:
    """What to do where no score is known: first about items that never got a usable answer."""
    answered = item_scores["score"].notna().groupby(labels(item_scores["item"]), sort=False).any()
    never = [str(item) for item in answered.index[~answered]]
    if incomplete != "listwise" or not never:
        return otherwise
    which = f"Item {never[0]}" if len(never) == 1 else f"Items {listed(never)}"
    return (
        f"{which} never got a usable answer, so no scale with {'it' if len(never) == 1 else 'them'}"
        " is ever complete: take scores with answers to half of the items, or choose the other "
        "items above."
    )


def shown_scales(scales: Iterable[str]) -> list[str]:
    """All items together, then each subscale; a single subscale alone, which is all there is."""
    own = [scale for scale in dict.fromkeys(scales) if scale != ALL_ITEMS]
    return [ALL_ITEMS, *own] if len(own) > 1 else own


def scores_used(item_scores: pd.DataFrame, used: Mapping[str, Iterable[int]]) -> int:
    """How many item scores stand behind the administrations used on each scale, each once."""
    administration, subscale = item_scores["administration"], labels(item_scores["subscale"])
    found = administration.isin(list(used.get(ALL_ITEMS, ())))
    for scale, ids in used.items():
        found |= (subscale == scale) & administration.isin(list(ids))
    return int((found & item_scores["score"].notna()).sum())


def labels(column: pd.Series[Any]) -> Any:
    """Whole numbers as int, nothing as empty text, anything else as text, row by row."""
    codes, values = pd.factorize(column.astype("object"), use_na_sentinel=False)
    return np.array([_label(value) for value in values], dtype=object)[codes]


def level_place(level: Any) -> tuple[int, Any, str]:
    """Where a level stands: numbers in their order, what others vary, then the alphabet."""
    if isinstance(level, int | np.integer):
        return 0, int(level), ""
    return 1, _FIRST_LEVELS.index(level) if level in _FIRST_LEVELS else 99, str(level)


def level_name(level: Any) -> Any:
    """What to call a level in a table."""
    return "(none)" if level == "" else level


def _label(value: Any) -> Any:
    if pd.isna(value):
        return ""
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else str(value)
