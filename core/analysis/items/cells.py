"""Where every score of an ITEM_SCORES frame stands: group, subscale, administration and item.

Texts become integer codes once, and matrices are then laid out from codes alone. Counting into a
table of all codes is used wherever that table is not much larger than the data, else sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.domain.frames import HIGHEST, LOWEST
from core.errors import NotEnoughData
from core.psychometrics.scale_scores import shares_of_range

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_SPARSE = 4
"""Tables of codes may hold this many times as many places as there are rows to place."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The place of each row of one group and subscale in a matrix administrations by items."""

    group: tuple[Any, ...]
    subscale: str
    items: tuple[str, ...]
    keyed: tuple[int, ...]
    administrations: Integers
    rows: Any  # which rows of the frame: their numbers, or all of them as a slice
    places: Integers  # of each such row, in the matrix read line by line

    def filled(self, values: Floats) -> Floats:
        """The values of all rows of the frame as this matrix; NaN where there is no row."""
        matrix = np.full((len(self.administrations), len(self.items)), np.nan)
        matrix.reshape(-1)[self.places] = values[self.rows]
        return matrix


@dataclass(frozen=True, eq=False)
class Cells:
    """Codes of every row of a frame, with what each code stands for."""

    administration: Integers
    administrations: npt.NDArray[Any]
    item: Integers
    items: list[Any]
    subscale: Integers
    subscales: list[Any]
    group: Integers
    groups: dict[int, tuple[Any, ...]]
    keyed: Integers

    def layouts(self, whole: str | None = None) -> tuple[Layout, ...]:
        """One layout per group and subscale, or per group under the name `whole`."""
        n_subscales = 1 if whole is not None else len(self.subscales)
        block = self.group if whole is not None else self.group * n_subscales + self.subscale
        found = []
        for code, rows in _blocks(block):
            people, row = _renumbered(self.administration[rows], len(self.administrations))
            columns, column = _renumbered(self.item[rows], len(self.items))
            found.append(
                Layout(
                    group=self.groups[code // n_subscales],
                    subscale=whole
                    if whole is not None
                    else str(self.subscales[code % n_subscales]),
                    items=tuple(str(self.items[one]) for one in columns),
                    keyed=self._keys(rows, column, len(columns)),
                    administrations=np.asarray(self.administrations[people]),
                    rows=rows,
                    places=row * len(columns) + column,
                )
            )
        return tuple(found)

    def _keys(self, rows: Any, column: Integers, n_columns: int) -> tuple[int, ...]:
        """The key of each column of a layout: that of its first row."""
        first = np.empty(n_columns, dtype=np.int64)
        # Of several values for one place numpy keeps the last: backwards, the first row.
        first[column[::-1]] = np.arange(len(column))[::-1]
        return tuple(int(key) for key in self.keyed[rows][first])


def cells_of(item_scores: pd.DataFrame, by: Sequence[str]) -> Cells:
    """Codes of all rows of an ITEM_SCORES frame, groups made by the factors `by`.

    Raises
    ------
    TypeError
        An administration holds an item twice. Averaging it would hide a fault.
    NotEnoughData
        There are no rows, or answers are not kept by one of the factors.
    """
    if item_scores.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    administration, administrations = codes_of(item_scores["administration"])
    item, items = codes_of(item_scores["item"])
    if _repeats(administration * len(items) + item, len(administrations) * len(items)):
        raise TypeError("an administration holds an item twice")
    subscale, subscales = codes_of(item_scores["subscale"])
    group, groups = _group_codes(item_scores, by)
    return Cells(
        administration, np.asarray(administrations), item, items, subscale, subscales, group,
        groups, item_scores["keyed"].to_numpy(),
    )  # fmt: skip


def scores_of(item_scores: pd.DataFrame) -> Floats:
    """The scores of all rows; NaN where there is none."""
    return item_scores["score"].to_numpy(dtype=np.float64, na_value=np.nan)


def relative_scores(item_scores: pd.DataFrame) -> Floats:
    """Scores with 0 for the lowest and 1 for the highest option of their format.

    Where the frame does not say which they are, the lowest and highest score that came up anywhere
    under the same format take their place, after reverse-keying. NaN where they are the same.
    """
    scores = scores_of(item_scores)
    lowest, highest = _observed_ends(item_scores)
    known = known_ends(item_scores)
    if known.any():
        ends = item_scores[[LOWEST, HIGHEST]].to_numpy(dtype=np.float64)
        lowest = np.where(known, ends[:, 0], lowest)
        highest = np.where(known, ends[:, 1], highest)
    return shares_of_range(scores, lowest, highest)


def known_ends(item_scores: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether the frame says, for each row, which scores its answer format allows.

    It does not where scores lie beyond what it says, as imported ones may.
    """
    if LOWEST not in item_scores or HIGHEST not in item_scores:
        return np.zeros(len(item_scores), dtype=np.bool_)
    ends = item_scores[[LOWEST, HIGHEST]].to_numpy(dtype=np.float64)
    lowest, highest = _observed_ends(item_scores)
    beyond = (lowest < ends[:, 0]) | (highest > ends[:, 1])
    return np.asarray(np.isfinite(ends).all(axis=1) & ~beyond)


def _observed_ends(item_scores: pd.DataFrame) -> tuple[Floats, Floats]:
    """For each row, the lowest and highest score that came up under its answer format."""
    scores = scores_of(item_scores)
    code, labels = codes_of(item_scores["format"])
    ends = (
        pd.Series(scores).groupby(code, sort=False).agg(["min", "max"]).reindex(range(len(labels)))
    )
    return np.asarray(ends["min"].to_numpy()[code]), np.asarray(ends["max"].to_numpy()[code])


def codes_of(column: pd.Series[Any]) -> tuple[Integers, list[Any]]:
    """Integer codes and labels of a column, in order of first appearance; empty for missing."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, seen = pd.factorize(column.cat.codes.to_numpy())
        categories = list(column.cat.categories)
        labels = ["" if code < 0 else _label(categories[code]) for code in seen]
    elif isinstance(column.dtype, np.dtype) and column.dtype.kind in "iu":
        codes, numbers = pd.factorize(column.to_numpy())
        return np.asarray(codes, dtype=np.int64), numbers.tolist()
    else:
        codes, values = pd.factorize(column, use_na_sentinel=False)
        labels = [_label(value) for value in values]
    unique = list(dict.fromkeys(labels))
    if len(unique) < len(labels):  # an empty text and a missing one, say
        place = {label: number for number, label in enumerate(unique)}
        codes = np.array([place[label] for label in labels])[codes]
    return np.asarray(codes, dtype=np.int64), unique


def _label(value: Any) -> Any:
    """A whole number as int, nothing as empty text, anything else as text."""
    if pd.isna(value):
        return ""
    whole = isinstance(value, int | np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else str(value)


def _group_codes(
    item_scores: pd.DataFrame, by: Sequence[str]
) -> tuple[Integers, dict[int, tuple[Any, ...]]]:
    """Group code of every row, and the factor values behind each code."""
    group = np.zeros(len(item_scores), dtype=np.int64)
    groups: dict[int, tuple[Any, ...]] = {0: ()}
    for name in dict.fromkeys(by):
        if name not in item_scores:
            raise NotEnoughData(f"Answers are not kept by {name}.", "Choose another factor.")
        codes, labels = codes_of(item_scores[name])
        group = group * len(labels) + codes
        seen = {int(code) for code in pd.unique(group)}
        groups = {
            code: (*groups[code // len(labels)], labels[code % len(labels)])
            for code in sorted(seen)
        }
    return group, groups


def _repeats(cell: Integers, n_cells: int) -> bool:
    """Whether a cell comes up twice."""
    if n_cells > _SPARSE * len(cell):
        return not pd.Index(cell).is_unique
    taken = np.zeros(n_cells, dtype=bool)
    taken[cell] = True
    return int(np.count_nonzero(taken)) < len(cell)


def _renumbered(codes: Integers, n_codes: int) -> tuple[Integers, Integers]:
    """The codes that come up, in order, and for each row the place of its code among them."""
    if n_codes > _SPARSE * len(codes):
        found, place = np.unique(codes, return_inverse=True)
        return found, np.asarray(place, dtype=np.int64)
    taken = np.zeros(n_codes, dtype=bool)
    taken[codes] = True
    found = np.flatnonzero(taken)
    if len(found) == n_codes:  # nothing to renumber
        return found, codes
    number = np.empty(n_codes, dtype=np.int64)
    number[found] = np.arange(len(found))
    return found, number[codes]


def _blocks(block: Integers) -> list[tuple[int, Any]]:
    """Each block's code and rows, in order of code."""
    if (block == block[0]).all():
        return [(int(block[0]), slice(None))]
    # Small numbers of 16 bits are sorted by counting, many times as fast.
    small = block.astype(np.uint16) if block.max() < 2**16 else block
    order = np.argsort(small, kind="stable")
    ordered = small[order]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    codes = ordered[np.concatenate([[0], starts])]
    return list(zip(codes.tolist(), np.split(order, starts), strict=True))
