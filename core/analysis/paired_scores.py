"""Scores of the same administrations under every level of one factor, set side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.matrices import ALL_ITEMS, distinct, group_name
from core.domain.study import FACTORS

Incomplete = Literal["listwise", "half"]

FIRST_LEVELS = ("original", "as_is", "standard", "initial")
"""Levels that others are variations of, so they come first."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores of one group on one scale: a row per matched unit, a column per level.

    A unit is whatever is the same in study and all other factors. `scores` are means of items in
    score points after reverse-keying, NaN where there is none; `administrations` are their ids
    (missing where there is no administration).
    """

    group: tuple[Any, ...]
    scale: str
    scores: pd.DataFrame
    administrations: pd.DataFrame

    @property
    def where(self) -> str:
        """What to call group and scale in a note."""
        return f"{group_name(self.group)}, scale {self.scale or '(none)'}"


def paired_scores(
    item_scores: pd.DataFrame, factor: str, by: Sequence[str], incomplete: Incomplete
) -> tuple[tuple[PairedScores, ...], tuple[str, ...]]:
    """Scores by matched unit and level, for every group and scale, and what was left out.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        With one row or more.
    factor : str
        Its levels become the columns.
    by : sequence of factors
        Groups; `factor` itself is ignored here.
    incomplete : "listwise" or "half"
        A score needs an answer to every planned item of the scale, or to half of them.

    Notes
    -----
    Administrations that share study and every factor cannot be told apart, so none of them has a
    partner: they are left out and counted in a note.
    """
    names = [name for name in distinct(by) if name != factor]
    cells, notes = _cells(item_scores, factor, names)
    scored = _scores(item_scores, incomplete).join(cells, on="administration", how="inner")
    found = []
    for _, own in scored.groupby("group", sort=True):
        labels = tuple(own[name].iloc[0] for name in names)
        scales = list(dict.fromkeys(own["scale"]))
        # a single subscale is all there is, so all items together would only repeat it
        shown = [scale for scale in scales if scale != ALL_ITEMS]
        for scale in [ALL_ITEMS, *shown] if len(shown) > 1 else shown:
            part = own[own["scale"] == scale]
            levels = sorted(part["level"].unique(), key=_place)
            scores, ids = (
                part.pivot(index="unit", columns="level", values=column).reindex(columns=levels)
                for column in ("score", "administration")
            )
            found.append(PairedScores(labels, scale, scores, ids))
    return tuple(found), notes


def _cells(
    item_scores: pd.DataFrame, factor: str, by: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Group, matched unit and level of every administration, indexed by its id."""
    kept = item_scores[["administration", "study", *FACTORS]].drop_duplicates("administration")
    labels = pd.DataFrame(
        {name: kept[name].astype("object").map(_label) for name in ("study", *FACTORS)}
    )
    others = [name for name in labels if name != factor]
    cells = labels[list(by)].assign(
        administration=kept["administration"],
        level=labels[factor],
        unit=labels.groupby(others, sort=False).ngroup(),
        group=labels.groupby(list(by), sort=False).ngroup() if by else 0,
    )
    repeated = cells.duplicated(["unit", "level"], keep=False)
    notes = (
        (
            f"{int(repeated.sum())} administrations are the same as another in study and every "
            "factor, so they cannot be matched and were left out.",
        )
        if repeated.any()
        else ()
    )
    return cells[~repeated].set_index("administration"), notes


def _scores(item_scores: pd.DataFrame, incomplete: Incomplete) -> pd.DataFrame:
    """Mean of the items of every administration, on each subscale and on all items."""
    rows = item_scores[["administration", "score"]].assign(
        scale=item_scores["subscale"].astype("object").map(_label)
    )
    everything = rows.assign(scale=ALL_ITEMS)
    means = (
        pd.concat([everything, rows])
        .groupby(["scale", "administration"], sort=False)["score"]
        .agg(["mean", "count", "size"])
        .reset_index()
        # as numbers, the 63-bit ids would lose digits beside a missing one
        .astype({"administration": "object"})
    )
    needed = means["size"] if incomplete == "listwise" else means["size"] / 2
    return means.assign(
        score=means["mean"].where((means["count"] >= needed) & (means["count"] > 0))
    ).drop(columns=["mean", "count", "size"])


def _label(value: Any) -> Any:
    """A whole number as int, nothing as empty text, anything else as text."""
    if pd.isna(value):
        return ""
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else str(value)


def _place(level: Any) -> tuple[int, Any, str]:
    """Numbers in their order, then what others vary, then the alphabet."""
    if isinstance(level, int | np.integer):
        return 0, int(level), ""
    return 1, FIRST_LEVELS.index(level) if level in FIRST_LEVELS else 99, str(level)
