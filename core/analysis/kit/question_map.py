"""All questions by all groups: the opinions of one result beside the shifts of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import group_name
from core.analysis.kit.sentences import table_of
from core.domain.results import AnalysisResult
from core.stats.inputs import Floats

Order = Literal["bank", "bias", "difference", "shift", "code"]
ORDERS: Mapping[Order, str] = {
    "bank": "As in the bank",
    "bias": "By mean b, yes first",
    "difference": "By difference between groups",
    "shift": "By shift s",
    "code": "By code",
}


@dataclass(frozen=True, eq=False)
class QuestionMap:
    """Questions (rows) by groups (columns): b, w, strong neutral and s, NaN where undefined.

    Fields
    ------
    groups : the names of the groups; `levels` has their factors and values.
    items, exchanged, genres : of each question, in the order of the bank.
    n : answers of each cell; 0 where a group was not asked.
    """

    groups: tuple[str, ...]
    levels: tuple[Mapping[str, Any], ...]
    items: tuple[str, ...]
    exchanged: tuple[str, ...]
    genres: tuple[str, ...]
    bias: Floats
    willingness: Floats
    strong_neutral: np.ndarray
    n: Floats
    shift: Floats | None

    def order(self, by: Order, chosen: Sequence[int]) -> list[int]:
        """The chosen rows in this order; undefined ones come last."""
        if by == "bank":
            return list(chosen)
        if by == "code":
            return sorted(chosen, key=self.items.__getitem__)
        values = {
            "bias": self._bias_means,
            "difference": self.differences,
            "shift": self._shift_means,
        }[by]()
        keys = np.where(np.isnan(values), np.inf, -values)
        return sorted(chosen, key=lambda row: float(keys[row]))

    def differences(self) -> Floats:
        """Highest less lowest b over the groups of each question; NaN below two groups."""
        known = np.isfinite(self.bias)
        high = np.where(known, self.bias, -np.inf).max(axis=1, initial=-np.inf)
        low = np.where(known, self.bias, np.inf).min(axis=1, initial=np.inf)
        return np.where(known.sum(axis=1) > 1, high - low, np.nan)

    def search(self, text: str, wordings: Mapping[str, str]) -> list[int]:
        """The rows whose codes, genre or wording hold the text, without regard to case."""
        wanted = text.strip().casefold()
        rows = zip(self.items, self.exchanged, self.genres, strict=True)
        return [
            place
            for place, (item, other, genre) in enumerate(rows)
            if wanted in " ".join((item, other, genre, wordings.get(item, ""))).casefold()
        ]

    def _bias_means(self) -> Floats:
        return _row_means(self.bias)

    def _shift_means(self) -> Floats:
        return _row_means(self.shift) if self.shift is not None else np.full(len(self.items), 0.0)


def question_map(opinions: AnalysisResult, shifts: AnalysisResult | None) -> QuestionMap:
    """The map of a result of `opinions`, with s of a result of `bias_shift` where there is one.

    Both have the same groups and rule for pairs; a cell of one that the other lacks is NaN.
    """
    frame = table_of(opinions, "questions").frame
    factors = list(frame.columns)[: list(frame.columns).index("item")]
    names = [
        group_name(values, factors) for values in frame[factors].itertuples(index=False, name=None)
    ]
    groups, items = list(dict.fromkeys(names)), list(dict.fromkeys(frame["item"]))
    first = frame.drop_duplicates("item")
    levels = frame.assign(own=names).drop_duplicates("own")[factors]
    place = {name: number for number, name in enumerate(groups)}
    row_of = {item: number for number, item in enumerate(items)}
    at = (
        np.array([row_of[item] for item in frame["item"]], dtype=np.int64),
        np.array([place[name] for name in names], dtype=np.int64),
    )

    def cells(column: str, missing: float = np.nan) -> Floats:
        values = np.full((len(items), len(groups)), missing)
        values[at] = frame[column].to_numpy(dtype=np.float64)
        return values

    shift = None
    if shifts is not None:
        shift = np.full((len(items), len(groups)), np.nan)
        own = table_of(shifts, "questions").frame
        for values, item, s in zip(
            own[factors].itertuples(index=False, name=None), own["item"], own["s"], strict=True
        ):
            column = place.get(group_name(values, factors))
            if column is not None and item in row_of:
                shift[row_of[item], column] = s
    return QuestionMap(
        groups=tuple(groups),
        levels=tuple({str(k): v for k, v in row.items()} for row in levels.to_dict("records")),
        items=tuple(items),
        exchanged=tuple(first["item_exchanged"]),
        genres=tuple(first["genre"]),
        bias=cells("b"),
        willingness=cells("w"),
        strong_neutral=cells("strong_neutral", 0.0) > 0,
        n=cells("n", 0.0),
        shift=shift,
    )


def map_frame(whole: QuestionMap, rows: Sequence[int], wordings: Mapping[str, str]) -> pd.DataFrame:
    """The rows as a table: question, wording, genre, and b and s of each group."""
    columns: dict[str, Any] = {
        "Question": [whole.items[row] for row in rows],
        "Wording": [wordings.get(whole.items[row], "") for row in rows],
    }
    if any(whole.exchanged):
        columns["Other way round"] = [whole.exchanged[row] for row in rows]
    if any(whole.genres):
        columns["Genre"] = [whole.genres[row] for row in rows]
    places = np.asarray(rows, dtype=np.int64)
    for name, values in (("b", whole.bias), ("s", whole.shift)):
        if values is not None:
            for column, group in enumerate(whole.groups):
                columns[_column(name, group)] = values[places, column]
    return pd.DataFrame(columns)


def columns_of_groups(whole: QuestionMap) -> dict[str, tuple[str, str]]:
    """The columns of numbers of `map_frame`: which number, and of which group."""
    names = ("b", "s")
    return {_column(name, group): (name, group) for name in names for group in whole.groups}


def _column(name: str, group: str) -> str:
    return f"{name} · {group}"


def _row_means(values: Floats) -> Floats:
    known = np.isfinite(values)
    n = known.sum(axis=1)
    return np.asarray(np.where(known, values, 0.0).sum(axis=1) / np.where(n > 0, n, np.nan))
