"""Frames of simulated answers: scores as ITEM_SCORES, chosen options as OPTION_COUNTS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.domain.frames import OPTION_COUNTS
from core.domain.study import FACTORS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_NOBODY = dict.fromkeys(FACTORS, "") | {"respondent": "m", "model": "m", "format": "yes_no"}


def _cells(shape: tuple[int, ...], factors: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """The levels of each value of an array whose axes are these factors, and items last."""
    index = np.indices(shape).reshape(len(shape), -1)
    varied = {
        name: np.asarray(levels)[axis]
        for (name, levels), axis in zip(factors.items(), index, strict=False)
    }
    items = np.array([f"i{number + 1:02}" for number in range(shape[-1])])
    return pd.DataFrame({"study": "s", **_NOBODY, **varied, "item": items[index[-1]]})


def persons(n: int) -> list[str]:
    """The names of so many contexts."""
    return [f"p{number + 1:03}" for number in range(n)]


def item_scores(
    values: Floats, factors: Mapping[str, Sequence[object]], scales: Sequence[str] = ()
) -> pd.DataFrame:
    """ITEM_SCORES of an array: an axis for each factor, in this order, and items last.

    NaN becomes an item that was not planned; `scales` names the scale of each item.
    """
    frame = _cells(values.shape, factors).assign(
        administration=np.arange(values.size) // values.shape[-1] + 1,
        subscale=np.tile(list(scales) or ["s"], values.size)[: values.size],
        keyed=1,
        status="answered",
        score=values.ravel(),
    )
    return frame[frame["score"].notna()]


def option_counts(
    chosen: Integers,
    factors: Mapping[str, Sequence[object]],
    points: Sequence[float],
    keeps: Sequence[str] = (),
) -> pd.DataFrame:
    """OPTION_COUNTS of an array of places among options, with an axis for each factor.

    A place of -1 is a refusal. Factors that `keeps` does not name are counted together. A point's
    stance is its side of the middle of the options.
    """
    scale = np.asarray(points, dtype=float)
    frame = _cells(chosen.shape, factors).assign(position=chosen.ravel())
    by = ["study", "item", "position", *dict.fromkeys(("respondent", "model", "format", *keeps))]
    frame = frame.groupby(by, as_index=False).size().rename(columns={"size": "count"})
    place = frame["position"]
    refused = place < 0
    points_of = pd.Series(np.where(refused, np.nan, scale[place]), frame.index)
    frame = frame.assign(
        option=place.astype(str).mask(refused, ""),
        position=place.astype(float).mask(refused),
        points=points_of,
        stance=np.sign(points_of - scale.mean()),
        coin=np.nan,
        status=np.where(refused, "refused", "answered"),
        lowest=scale.min(),
        highest=scale.max(),
        n_options=len(scale),
        midpoint="coin",
        keyed=1,
        direction=1,
        subscale="s",
        pair="",
        genre="",
    )
    return frame[list(dict.fromkeys((*OPTION_COUNTS.columns, *by)))]
