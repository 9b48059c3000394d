"""Whose answers belong together over studies: respondents and contexts, compared as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.items.cells import Integers

Mask = npt.NDArray[np.bool_]

PERSON = ("respondent", "context")
_SHARED = ("respondent", "model", "language", "context")
"""What groups have in common with other studies of the same respondents and contexts."""


def belonging(frame: pd.DataFrame, own: pd.DataFrame, group: Mapping[str, Any]) -> Mask:
    """Which rows of another study belong to a group: to its respondents and contexts.

    `own` are the administrations of the group; of its factors, only those count that studies share.
    """
    kept = np.ones(len(frame), dtype=bool)
    people, wanted = np.zeros(len(frame), dtype=np.int64), np.zeros(len(own), dtype=np.int64)
    for name in PERSON:
        ours, texts = _coded(own[name])
        theirs, others = _coded(frame[name])
        place = {text: number for number, text in enumerate(texts)}
        here = np.array([place.get(text, -1) for text in others])[theirs]
        kept &= here >= 0
        people, wanted = people * len(texts) + here, wanted * len(texts) + ours
    kept &= np.isin(people, wanted)
    for name, value in group.items():
        if name in _SHARED and name in frame:
            kept &= is_one_of(frame[name], [str(value)])
    return kept


def same_people(frame: pd.DataFrame, own: pd.DataFrame, group: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of another study that belong to a group."""
    return frame[belonging(frame, own, group)]


def is_one_of(column: pd.Series[Any], values: Collection[str]) -> Mask:
    """Whether each row has one of these; nothing is as good as empty text."""
    hit = column.isin(list(values)).to_numpy()
    return np.asarray(hit | column.isna().to_numpy() if "" in values else hit)


def distinct_texts(column: pd.Series[Any]) -> list[str]:
    """The different values as text, in the order the column first has them."""
    codes, texts = _coded(column)
    return [texts[code] for code in pd.unique(codes)]


def as_text(column: pd.Series[Any]) -> Any:
    """The column as text, empty where it is missing."""
    codes, texts = _coded(column)
    return np.array(texts, dtype=object)[codes]


def _coded(column: pd.Series[Any]) -> tuple[Integers, list[str]]:
    """The column as text, empty where it is missing: a code for every row, and their texts.

    A value becomes text once, however many rows have it.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        codes, values = pd.factorize(column)
    place: dict[str, int] = {}
    # what is missing has the code -1, which is the last text
    numbers = [place.setdefault(text, len(place)) for text in (*map(str, values), "")]
    return np.array(numbers)[codes], list(place)
