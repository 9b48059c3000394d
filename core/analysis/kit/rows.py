"""What a row of an analysis is, rows averaged over factors, and the cells of a frame."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.domain.factors import DERIVED, ORIGIN, is_person_fact
from core.domain.frames import HIGHEST, LOWEST, OPTION_POINTS, PEOPLE
from core.domain.study import FACTORS, Status
from core.domain.wide_scores import NOT_PLANNED, STATUSES, ItemScores, WideScores
from core.errors import NotEnoughData
from core.stats.ordered.answer_options import why_not_ordered
from core.stats.scores import scale_scores, shares_of_range

# ITEM_SCORES as rows or as a wide table.


def administrations_of(item_scores: ItemScores) -> pd.DataFrame:
    """Every administration with its factors: in one row of a wide table, else in all of its own."""
    return item_scores.administrations if isinstance(item_scores, WideScores) else item_scores


def items_of(item_scores: ItemScores) -> pd.DataFrame:
    """Every item with its subscale and key: in one row of a wide table, else in all of its own."""
    return item_scores.items if isinstance(item_scores, WideScores) else item_scores


def with_columns(item_scores: ItemScores, columns: Mapping[str, Any]) -> ItemScores:
    """The same with other columns of administrations, as long as those of `administrations_of`."""
    asked = administrations_of(item_scores).assign(**columns)
    if isinstance(item_scores, WideScores):
        return replace(item_scores, administrations=asked)
    return asked


def n_planned(item_scores: ItemScores) -> int:
    """How many answers were planned."""
    if isinstance(item_scores, WideScores):
        return int(np.count_nonzero(item_scores.status != NOT_PLANNED))
    return len(item_scores)


def n_without_score(item_scores: ItemScores) -> int:
    """How many planned answers have no score."""
    if isinstance(item_scores, WideScores):
        return n_planned(item_scores) - int(np.isfinite(item_scores.scores).sum())
    return int(item_scores["score"].isna().sum())


def n_with_status(item_scores: ItemScores, status: str) -> int:
    """How many planned answers have that status."""
    if isinstance(item_scores, WideScores):
        return int(np.count_nonzero(item_scores.status == STATUSES.index(status)))
    return int((item_scores["status"] == status).sum())


# Where every score stands: group, subscale, administration and item.
#
# Texts become integer codes once, and matrices are then laid out from codes alone. Counting into a
# table of all codes is used wherever that table is not much larger than the data, else sorting.

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

_SPARSE = 4
"""Tables of codes may hold this many times as many places as there are rows to place."""


@dataclass(frozen=True, eq=False)
class MatrixLayout:
    """Which scores make the matrix administrations by items of one group and subscale."""

    group: tuple[Any, ...]
    subscale: str
    items: tuple[str, ...]
    keyed: tuple[int, ...]
    administrations: Integers

    @abstractmethod
    def filled(self, values: Floats) -> Floats:
        """The values of all answers (see `scores_of`) as this matrix; NaN where there is none."""

    @abstractmethod
    def asked(self) -> npt.NDArray[np.bool_] | None:
        """Where an answer was planned, (administrations, items); None where it was everywhere."""


@dataclass(frozen=True, eq=False)
class RowsLayout(MatrixLayout):
    """Of a frame with a row for each answer."""

    rows: Any  # which rows of the frame: their numbers, or all of them as a slice
    places: Integers  # of each such row, in the matrix read line by line

    def filled(self, values: Floats) -> Floats:
        """The values of the rows at their places."""
        matrix = np.full((len(self.administrations), len(self.items)), np.nan)
        matrix.reshape(-1)[self.places] = values[self.rows]
        return matrix

    def asked(self) -> npt.NDArray[np.bool_] | None:
        """Where there is a row."""
        shape = len(self.administrations), len(self.items)
        if len(self.places) == math.prod(shape):
            return None
        asked = np.zeros(shape, dtype=np.bool_)
        asked.reshape(-1)[self.places] = True
        return asked


@dataclass(frozen=True, eq=False)
class _WideLayout(MatrixLayout):
    """Of a wide table."""

    rows: Any  # numbers, or all of them as a slice
    columns: Any
    planned: npt.NDArray[np.bool_] | None

    def filled(self, values: Floats) -> Floats:
        """The part of the table that these rows and columns are."""
        return np.asarray(values[self.rows][:, self.columns])

    def asked(self) -> npt.NDArray[np.bool_] | None:
        """Where the table does not say that nothing was planned."""
        return self.planned


class ScoreCells(ABC):
    """Where every score stands."""

    @abstractmethod
    def layouts(self, whole: str | None = None) -> tuple[MatrixLayout, ...]:
        """One layout per group and subscale, or per group under the name `whole`."""


@dataclass(frozen=True, eq=False)
class FrameCells(ScoreCells):
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

    def layouts(self, whole: str | None = None) -> tuple[RowsLayout, ...]:
        """One layout per group and subscale, or per group under the name `whole`."""
        n_subscales = 1 if whole is not None else len(self.subscales)
        block = self.group if whole is not None else self.group * n_subscales + self.subscale
        layouts = []
        for code, rows in _blocks(block):
            people, row = _renumber(self.administration[rows], len(self.administrations))
            columns, column = _renumber(self.item[rows], len(self.items))
            layouts.append(
                RowsLayout(
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
        return tuple(layouts)

    def _keys(self, rows: Any, column: Integers, n_columns: int) -> tuple[int, ...]:
        """The key of each column of a layout: that of its first row."""
        first = np.empty(n_columns, dtype=np.int64)
        # Of several values for one place numpy keeps the last: backwards, the first row.
        first[column[::-1]] = np.arange(len(column))[::-1]
        return tuple(int(key) for key in self.keyed[rows][first])


@dataclass(frozen=True, eq=False)
class _WideCells(ScoreCells):
    """The rows of each group and the columns of each subscale of a wide table."""

    table: WideScores
    group: Integers  # of each row
    groups: dict[int, tuple[Any, ...]]

    def layouts(self, whole: str | None = None) -> tuple[MatrixLayout, ...]:
        """One layout per group and subscale, or per group under the name `whole`."""
        administrations = self.table.administrations["administration"].to_numpy()
        items = [str(item) for item in codes_of(self.table.items["item"])[1]]
        keyed = self.table.items["keyed"].to_numpy()
        planned = self.table.status != NOT_PLANNED
        every = bool(planned.all())
        layouts = []
        for group, rows in _blocks(self.group):
            for subscale, columns in self._subscales(whole):
                own, taken, asked = rows, columns, None
                if not every:
                    asked = planned[rows][:, columns]
                    in_rows, in_columns = asked.any(axis=1), asked.any(axis=0)
                    own, taken = _part(rows, in_rows), _part(columns, in_columns)
                    asked = asked[in_rows][:, in_columns]
                    asked = None if asked.all() else asked
                numbers = np.arange(len(items))[taken].tolist()
                people = administrations[own]
                if not numbers or not len(people):
                    continue
                layouts.append(
                    _WideLayout(
                        group=self.groups[group],
                        subscale=subscale,
                        items=tuple(items[number] for number in numbers),
                        keyed=tuple(int(keyed[number]) for number in numbers),
                        administrations=people,
                        rows=own,
                        columns=taken,
                        planned=asked,
                    )
                )
        return tuple(layouts)

    def _subscales(self, whole: str | None) -> list[tuple[str, Any]]:
        """The columns of each subscale, or all under one name."""
        if whole is not None:
            return [(whole, slice(None))]
        codes, names = codes_of(self.table.items["subscale"])
        return [(str(names[code]), columns) for code, columns in _blocks(codes)]


def _part(places: Any, chosen: Any) -> Any:
    """Some of the places; all of them stay a slice."""
    if chosen.all():
        return places
    return np.flatnonzero(chosen) if isinstance(places, slice) else places[chosen]


def require_answers(frame: pd.DataFrame | WideScores, names: Iterable[str] = ()) -> None:
    """Refuse a frame without rows, or without one of these factors."""
    if frame.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    if isinstance(frame, pd.DataFrame):
        require_factors(frame, names)


def require_factors(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Refuse a frame without one of these factors."""
    for name in names:
        if name not in frame:
            raise NotEnoughData(f"The answers have no factor {name}.", "Choose another factor.")


def cells_of(item_scores: ItemScores, by: Sequence[str]) -> ScoreCells:
    """Where all answers of ITEM_SCORES stand, groups made by the factors `by`.

    Raises
    ------
    TypeError
        An administration holds an item twice. Averaging it would hide a fault.
    NotEnoughData
        There are no rows, or the frame lacks one of the factors.
    """
    require_answers(item_scores)
    if isinstance(item_scores, WideScores):
        return _WideCells(item_scores, *_group_codes(item_scores.administrations, by))
    return row_cells(item_scores, by)


def row_cells(item_scores: pd.DataFrame, by: Sequence[str]) -> FrameCells:
    """Codes of all rows of an ITEM_SCORES frame; as `cells_of`."""
    administration, administrations = codes_of(item_scores["administration"])
    item, items = codes_of(item_scores["item"])
    if _has_repeats(administration * len(items) + item, len(administrations) * len(items)):
        raise TypeError("an administration holds an item twice")
    subscale, subscales = codes_of(item_scores["subscale"])
    group, groups = _group_codes(item_scores, by)
    return FrameCells(
        administration,
        np.asarray(administrations),
        item,
        items,
        subscale,
        subscales,
        group,
        groups,
        item_scores["keyed"].to_numpy(),
    )


def scores_of(item_scores: ItemScores) -> Floats:
    """The scores of all rows, or of the wide table; NaN where there is none."""
    if isinstance(item_scores, WideScores):
        return item_scores.scores
    return item_scores["score"].to_numpy(dtype=np.float64, na_value=np.nan)


def relative_scores(item_scores: ItemScores) -> Floats:
    """Scores with 0 for the lowest and 1 for the highest option of their format.

    Where the frame does not say which they are, the lowest and highest score that came up anywhere
    under the same format take their place, after reverse-keying. NaN where they are the same.
    """
    asked = administrations_of(item_scores)
    lowest, highest = _observed_ends(item_scores)
    known = known_ends(item_scores)
    if known.any():
        ends = asked[[LOWEST, HIGHEST]].to_numpy(dtype=np.float64)
        lowest = np.where(known, ends[:, 0], lowest)
        highest = np.where(known, ends[:, 1], highest)
    if isinstance(item_scores, WideScores):
        return shares_of_range(scores_of(item_scores), lowest[:, None], highest[:, None])
    return shares_of_range(scores_of(item_scores), lowest, highest)


def known_ends(item_scores: ItemScores) -> npt.NDArray[np.bool_]:
    """Whether the frame says, for each row, which scores its answer format allows.

    It does not where scores lie beyond what it says, as imported ones may.
    """
    asked = administrations_of(item_scores)
    if LOWEST not in asked or HIGHEST not in asked:
        return np.zeros(len(asked), dtype=np.bool_)
    ends = asked[[LOWEST, HIGHEST]].to_numpy(dtype=np.float64)
    lowest, highest = _observed_ends(item_scores)
    beyond = (lowest < ends[:, 0]) | (highest > ends[:, 1])
    return np.asarray(np.isfinite(ends).all(axis=1) & ~beyond)


def _observed_ends(item_scores: ItemScores) -> tuple[Floats, Floats]:
    """For each row, the lowest and highest score that came up under its answer format."""
    scores = scores_of(item_scores)
    code, labels = codes_of(administrations_of(item_scores)["format"])
    ends = np.full((len(labels), 2), np.nan)
    for number, rows in _blocks(code) if len(code) else ():
        own = scores[rows]
        ends[number] = np.fmin.reduce(own, axis=None), np.fmax.reduce(own, axis=None)
    return ends[code, 0], ends[code, 1]


def codes_of(column: pd.Series[Any]) -> tuple[Integers, list[Any]]:
    """Integer codes and labels of a column, in order of first appearance; empty for missing.

    Levels that have an order, such as those of facts about people, stand in it.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        if levels := level_order(column):
            code_of = pd.Index(levels).get_indexer(pd.Index(column.cat.categories))
            return code_of[column.cat.codes.to_numpy()].astype(np.int64), levels
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


def level_order(column: pd.Series[Any]) -> list[Any]:
    """The levels that come up in a column whose levels have an order; none for others."""
    if not isinstance(column.dtype, pd.CategoricalDtype) or not column.cat.ordered:
        return []
    return [str(column.cat.categories[code]) for code in np.unique(column.cat.codes.to_numpy())]


def in_level_order(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The rows in the order of the levels of these columns, as far as levels have an order."""
    ordered = [name for name in dict.fromkeys(names) if level_order(frame[name])]
    return frame.sort_values(ordered, kind="stable") if ordered else frame


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
    require_factors(item_scores, by)
    for name in dict.fromkeys(by):
        codes, labels = codes_of(item_scores[name])
        group = group * len(labels) + codes
        seen = {int(code) for code in pd.unique(group)}
        groups = {
            code: (*groups[code // len(labels)], labels[code % len(labels)])
            for code in sorted(seen)
        }
    return group, groups


def _has_repeats(cell: Integers, n_cells: int) -> bool:
    """Whether a cell comes up twice."""
    if n_cells > _SPARSE * len(cell):
        return not pd.Index(cell).is_unique
    taken = np.zeros(n_cells, dtype=bool)
    taken[cell] = True
    return int(np.count_nonzero(taken)) < len(cell)


def _renumber(codes: Integers, n_codes: int) -> tuple[Integers, Integers]:
    """The codes that come up, in order, and for each row the place of its code among them."""
    if n_codes > _SPARSE * len(codes):
        used, place = np.unique(codes, return_inverse=True)
        return used, np.asarray(place, dtype=np.int64)
    taken = np.zeros(n_codes, dtype=bool)
    taken[codes] = True
    used = np.flatnonzero(taken)
    if len(used) == n_codes:  # nothing to renumber
        return used, codes
    number = np.empty(n_codes, dtype=np.int64)
    number[used] = np.arange(len(used))
    return used, number[codes]


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


# The unit of analysis, its cautions, and averages over factors.

_MODELS_UNIT = (
    "one administration: a respondent answering the bank once under one context and repetition"
)
_AVERAGED_UNIT = "one administration: a respondent answering the bank under one context"
_PEOPLE_UNIT = (
    "one administration: a person, or a respondent under one context, answering the bank once"
)
_IDENTITY = ("study", *FACTORS, *DERIVED, ORIGIN)


def rows_are_people(item_scores: ItemScores) -> bool:
    """Whether every row is of a person, or of a context of its own; see PEOPLE."""
    asked = administrations_of(item_scores)
    return PEOPLE in asked and bool(asked[PEOPLE].all())


def analysis_unit(item_scores: ItemScores, *, called: str = "") -> str:
    """What a row is; `called` is what notes call one."""
    unit = _PEOPLE_UNIT
    if not rows_are_people(item_scores):
        repetitions = codes_of(administrations_of(item_scores)["repetition"])[1]
        unit = _AVERAGED_UNIT if repetitions == [0] else _MODELS_UNIT
    return f"{unit} (a {called}, where notes speak of {called}s)" if called else unit


def row_cautions(item_scores: ItemScores, always: str, of_models: str) -> tuple[str, ...]:
    """A caution on what an analysis takes for granted, where repetitions of a model are rows.

    `always` says what it takes for granted of its {rows}, `of_models` how repetitions differ.
    """
    always = always.replace("{rows}", "administrations")
    caution = " ".join(part for part in (always, of_models) if part)
    return (caution,) if caution and _has_repetitions(item_scores) else ()


def row_notes(item_scores: ItemScores, always: str, _of_models: str) -> tuple[str, ...]:
    """The same as a note, where no row is a repetition: rows are people, or contexts of a model."""
    note = always.replace("{rows}", "people" if rows_are_people(item_scores) else "administrations")
    return (note,) if note and not _has_repetitions(item_scores) else ()


def _has_repetitions(item_scores: ItemScores) -> bool:
    """Whether rows are repetitions of a model, which have not been averaged."""
    repetitions = codes_of(administrations_of(item_scores)["repetition"])[1]
    return len(repetitions) > 1 and not rows_are_people(item_scores)


def average_over(
    item_scores: ItemScores, over: Sequence[str], only: Booleans | None = None
) -> ItemScores:
    """The scores of administrations that differ only in some factors, averaged into one.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame or wide table
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    over : sequence of factors
        Administrations that agree in study and in every other factor become one.
    only : (rows of `administrations_of`,) of bool, optional
        The administrations to average; the others stay as they are.

    Returns
    -------
    ITEM_SCORES, in the shape and the order of the scores given. A score is the mean of the usable
    scores of its item, NaN where there is none; its status is then the first one that came.
    Factors averaged over are empty (repetition: 0). `option_points` are those of the options,
    or of the scores that came up under the format before averaging, so that means are not
    taken for options.

    Notes
    -----
    The unit of analysis is then one combination of the other factors. A mean of few answers weighs
    as much as a mean of many.
    """
    dropped = {*over, ORIGIN} if "context" in over else set(over)
    if not dropped & set(_IDENTITY) or item_scores.empty:
        return item_scores
    asked = administrations_of(item_scores)
    names = [
        name
        for name in map(str, asked)
        if name not in dropped and (name in _IDENTITY or is_person_fact(name))
    ]
    first_rows = ~asked["administration"].duplicated().to_numpy()
    cases = asked[first_rows]
    dropped_rows = np.ones(len(cases), dtype=np.bool_) if only is None else only[first_rows]
    alone = np.where(dropped_rows, 0, np.arange(1, len(cases) + 1))  # what is not averaged
    case_of = _numbers(cases[names].assign(alone=alone))
    if isinstance(item_scores, WideScores):
        leading = np.unique(case_of, return_index=True)[1]
        averaged = _average_wide(item_scores, case_of)
        of_cases = cases.iloc[leading].reset_index(drop=True)
        points = _option_points(item_scores)[leading]
        emptied = _without(of_cases, dropped, dropped_rows[leading])
        return replace(averaged, administrations=emptied.assign(**{OPTION_POINTS: points}))
    first = pd.Series(cases["administration"].to_numpy()).groupby(case_of).transform("first")
    place = pd.Index(cases["administration"]).get_indexer(item_scores["administration"])
    case, (items, item_names) = case_of[place], pd.factorize(item_scores["item"])
    cell = case * len(item_names) + items
    order, leading = np.unique(cell, return_index=True)
    row = np.searchsorted(order, cell)
    scores = item_scores["score"].to_numpy(dtype=np.float64, na_value=np.nan)
    usable = np.isfinite(scores)
    sums = np.bincount(row, np.where(usable, scores, 0.0), len(order))
    counts = np.bincount(row, usable, len(order))
    means = scale_scores(sums, counts, counts, "available")
    sequence = np.argsort(leading)  # the order in which cells first appear
    frame = item_scores.iloc[leading[sequence]].reset_index(drop=True)
    mean, count = means[sequence], counts[sequence]
    status = frame["status"].astype("object").where(count == 0, Status.ANSWERED.value)
    emptied = _without(frame, dropped, dropped_rows[place][leading[sequence]])
    return emptied.assign(
        administration=first.to_numpy()[place][leading[sequence]],
        score=mean,
        status=status.astype("category"),
        **{OPTION_POINTS: _option_points(item_scores)[leading[sequence]]},
    )


def _average_wide(table: WideScores, case_of: Integers) -> WideScores:
    """The rows of each case averaged; cases are numbered in the order of their first rows."""
    order = np.argsort(case_of, kind="stable")
    starts = np.flatnonzero(np.diff(case_of[order], prepend=-1))
    scores = table.scores[order]
    usable = np.isfinite(scores)
    counts = np.add.reduceat(usable, starts, axis=0, dtype=np.int64)
    sums = np.add.reduceat(np.where(usable, scores, 0.0), starts, axis=0)
    means = scale_scores(sums, counts, counts, "available")
    sizes = np.diff(starts, append=len(order))
    status = table.status[order[starts]]
    for further in range(1, int(sizes.max())):  # the first status of a planned answer
        more = sizes > further
        later = table.status[order[starts[more] + further]]
        status[more] = np.where(status[more] == NOT_PLANNED, later, status[more])
    status = np.where(counts > 0, STATUSES.index(Status.ANSWERED.value), status)
    return replace(table, scores=means, status=status.astype(np.int8))


def _without(frame: pd.DataFrame, factors: Iterable[str], rows: Booleans) -> pd.DataFrame:
    """The frame with nothing in some factors of some rows (repetition: 0)."""
    columns: dict[str, Any] = {}
    for name in factors:
        if name not in frame:
            continue
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            columns[name] = column.where(~rows, 0)
        else:
            columns[name] = column.astype("object").where(~rows, "").astype("category")
    return frame.assign(**columns)


def _option_points(item_scores: ItemScores) -> np.ndarray:
    """The points of the options of every row, as text; empty where there are too many."""
    asked = administrations_of(item_scores)
    if OPTION_POINTS in asked:
        return asked[OPTION_POINTS].astype("object").fillna("").to_numpy()
    scores = scores_of(item_scores)
    code, labels = codes_of(asked["format"])
    texts = []
    for number in range(len(labels)):
        own = scores[code == number]
        came_up = np.unique(own[np.isfinite(own)])
        ordered = came_up.size and not why_not_ordered(came_up, "")
        texts.append(" ".join(map(repr, came_up.tolist())) if ordered else "")
    return np.array(texts, dtype=object)[code]


def _numbers(columns: pd.DataFrame) -> np.ndarray:
    """A number for each distinct row."""
    number = np.zeros(len(columns), dtype=np.int64)
    for name in columns:
        codes, values = pd.factorize(columns[name], use_na_sentinel=False)
        number = pd.factorize(number * max(len(values), 1) + codes)[0]
    return number
