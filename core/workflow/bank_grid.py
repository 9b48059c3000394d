"""A bank as rows of a grid, and the bank that comes of editing them.

A grid reports all its edits since it was drawn, each time anew. They are applied to the state it
was drawn from, so applying them twice, or late, gives the same bank and never loses an edit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from core.domain.instrument import Instrument, Item, Option, ResponseFormat
from core.workflow.bank_columns import (
    CODE,
    POINTS,
    POSITION,
    RANK,
    STANCE,
    STANCE_WORDS,
    TEXT,
    cell,
    columns_of,
    edited,
    is_sign,
    read_number,
    read_sign,
    written,
)

Cells = Mapping[str, Any]
_Entry = TypeVar("_Entry", Item, Option)
_Place = tuple[int, int, int]


@dataclass(frozen=True)
class GridEdits:
    """What was typed into a grid, by row number of the grid as it was drawn."""

    edited: Mapping[int, Cells]
    added: Sequence[Cells]
    deleted: Collection[int]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> GridEdits:
        """The edits in the state of a data editor."""
        return cls(
            {int(row): cells for row, cells in state.get("edited_rows", {}).items()},
            state.get("added_rows", ()),
            frozenset(state.get("deleted_rows", ())),
        )

    def __bool__(self) -> bool:
        """Whether anything was edited."""
        return bool(self.edited or self.added or self.deleted)


def item_rows(
    bank: Instrument, rows: Sequence[int], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """The items at these places (from 0), one row each, with these columns after the position."""
    items = [bank.items[row] for row in rows]
    shown = columns_of(bank) if columns is None else columns
    found: dict[str, Any] = {POSITION: pd.Series([row + 1 for row in rows], dtype="int64")}
    for column in shown:
        values = [cell(item, column) for item in items]
        found[column] = pd.Series(values, dtype="float64") if column == RANK else _texts(values)
    return pd.DataFrame(found)


def option_rows(
    bank: Instrument, response_format: ResponseFormat, languages: Sequence[str] | None = None
) -> pd.DataFrame:
    """The options of one set, one row each, a label column per language."""
    options = response_format.options
    columns: dict[str, Any] = {
        POSITION: pd.Series(range(1, len(options) + 1), dtype="int64"),
        CODE: _texts(option.code for option in options),
        POINTS: pd.Series([option.points for option in options], dtype="float64"),
        STANCE: _texts(_stance_word(option.stance) for option in options),
    }
    for language in bank.languages if languages is None else languages:
        columns[TEXT + language] = _texts(option.labels.get(language, "") for option in options)
    return pd.DataFrame(columns)


def found_rows(
    bank: Instrument, search: str, among: Iterable[int] | None = None
) -> tuple[int, ...]:
    """Places (from 0) of the items whose code, a fact or text holds `search`; all without one."""
    places = range(len(bank.items)) if among is None else among
    wanted = search.strip().casefold()
    if not wanted:
        return tuple(places)
    return tuple(row for row in places if _holds(bank.items[row], wanted))


def edit_items(items: Sequence[Item], rows: Sequence[int], edits: GridEdits) -> tuple[Item, ...]:
    """The items after edits of a grid that showed those at `rows` (places from 0).

    A row that got no code is given the next free one. An item with a new position is put there;
    added rows follow the last row shown.
    """
    typed = {rows[row]: cells for row, cells in edits.edited.items() if row < len(rows)}
    gone = {rows[row] for row in edits.deleted if row < len(rows)}
    entries = [
        None if place in gone else _edited_item(item, typed.get(place, {}))
        for place, item in enumerate(items)
    ]
    after = rows[-1] + 1 if rows else len(items)
    kept = [entry.code for entry in entries if entry is not None]
    codes = _new_codes("item_", kept, edits.added, len(items))
    added = [
        _edited_item(Item(code), cells) for code, cells in zip(codes, edits.added, strict=True)
    ]
    added = [replace(item, code=code) for code, item in zip(codes, added, strict=True)]
    return tuple(_in_order(entries, typed, added, edits.added, after))


def edit_options(options: Sequence[Option], edits: GridEdits) -> tuple[Option, ...]:
    """The response options after edits of their grid; a new one without a code gets a free one."""
    entries = [
        None if place in edits.deleted else _edited_option(option, edits.edited.get(place, {}))
        for place, option in enumerate(options)
    ]
    kept = [entry.code for entry in entries if entry is not None]
    codes = _new_codes("", kept, edits.added, len(options))
    added = [
        replace(_edited_option(Option(code, None), cells), code=code)
        for code, cells in zip(codes, edits.added, strict=True)
    ]
    return tuple(_in_order(entries, edits.edited, added, edits.added, len(options)))


def given_codes(edits: GridEdits, before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The codes that new rows without one were given, by the codes before and after the edits."""
    cells = (*edits.edited.values(), *edits.added)
    known = {*before, *(written(row.get(CODE)).strip() for row in cells)}
    return tuple(code for code in after if code not in known)


def unsaved_items(before: Instrument, after: Instrument) -> tuple[int, ...]:
    """Places (from 0) in `after` of the items that `before` does not hold as they are."""
    known: dict[str, list[Item]] = {}
    for item in before.items:
        known.setdefault(item.code, []).append(item)
    return tuple(
        place for place, item in enumerate(after.items) if item not in known.get(item.code, ())
    )


def _holds(item: Item, wanted: str) -> bool:
    facts = (item.code, item.subscale, item.pair, item.genre, *item.tags)
    texts = (*facts, *(wording.text for wording in item.wordings))
    return any(wanted in text.casefold() for text in texts)


def _edited_item(item: Item, cells: Cells) -> Item:
    for column, value in cells.items():
        item = edited(item, column, value)
    return item


def _edited_option(option: Option, cells: Cells) -> Option:
    for column, value in cells.items():
        text = written(value)
        if column == CODE:
            option = replace(option, code=text.strip())
        elif column == POINTS and (read_number(value) is not None or not text.strip()):
            option = replace(option, points=read_number(value))
        elif column == STANCE and is_sign(value):
            option = replace(option, stance=read_sign(value))
        elif column.startswith(TEXT):
            labels = {**option.labels, column.removeprefix(TEXT): text}
            option = replace(option, labels={k: v for k, v in labels.items() if v})
    return option


def _new_codes(
    stem: str, taken: Sequence[str], added: Sequence[Cells], n_before: int
) -> tuple[str, ...]:
    """The code of each added row: as typed, or the next free one."""
    typed = [written(cells.get(CODE)).strip() for cells in added]
    used = {code.casefold() for code in (*taken, *typed)}
    codes, number = [], n_before
    for code in typed:
        if not code:
            number += 1
            while f"{stem}{number}" in used:
                number += 1
            code = f"{stem}{number}"
        codes.append(code)
    return tuple(codes)


def _in_order(
    entries: Sequence[_Entry | None],
    typed: Mapping[int, Cells],
    added: Sequence[_Entry],
    added_cells: Sequence[Cells],
    after: int,
) -> Iterator[_Entry]:
    """Entries that are left, moved ones at the position typed for them, added ones after `after`.

    A place is (position as drawn, 0 before / 1 at / 2 after the entry drawn there, order).
    """
    placed: list[tuple[_Place, _Entry]] = []
    for place, entry in enumerate(entries):
        if entry is not None:
            own = place + 1
            wished = _position(typed.get(place, {}), own)
            side = 1 + (wished > own) - (wished < own)
            placed.append(((wished, side, place), entry))
    for number, (entry, cells) in enumerate(zip(added, added_cells, strict=True)):
        wished = _position(cells, 0)
        where, side = (wished, 0) if wished else (after, 3)
        placed.append(((where, side, len(entries) + number), entry))
    return (entry for _, entry in sorted(placed, key=lambda found: found[0]))


def _position(cells: Cells, otherwise: int) -> int:
    """The position typed, or `otherwise`."""
    number = read_number(cells.get(POSITION))
    return otherwise if number is None else int(number)


def _stance_word(stance: int | None) -> str:
    return "" if stance is None else STANCE_WORDS.get(stance, str(stance))


def _texts(values: Iterable[str | None]) -> pd.Series:
    return pd.Series(list(values), dtype="object")
