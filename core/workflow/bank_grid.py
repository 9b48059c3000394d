"""A bank as rows of a grid, and the bank that comes of editing them.

A grid reports all its edits since it was drawn, each time anew. They are applied to the state it
was drawn from, so applying them twice, or late, gives the same bank and never loses an edit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pandas as pd

from core.domain import keying
from core.domain.instrument import ORIGINAL, Instrument, Item, Option, ResponseFormat, Wording

POSITION, CODE, SUBSCALE, KEYED, POINTS, STANCE = (
    "position", "code", "subscale", "keyed", "points", "stance",
)  # fmt: skip
TEXT = "text:"
"""Columns with a text are called by this and the language."""
KEYED_WORDS = {1: "+", -1: "− reverse"}
STANCE_WORDS = {-1: "against (−1)", 0: "neutral (0)", 1: "for (+1)"}

_STANCE_NUMBERS = {word: number for number, word in STANCE_WORDS.items()}

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


def item_rows(bank: Instrument, rows: Sequence[int]) -> pd.DataFrame:
    """The items at these places (from 0), one row each, a text column per language."""
    items = [bank.items[row] for row in rows]
    columns: dict[str, Any] = {
        POSITION: pd.Series([row + 1 for row in rows], dtype="int64"),
        CODE: _texts(item.code for item in items),
        SUBSCALE: _texts(item.subscale for item in items),
        KEYED: _texts(KEYED_WORDS[-1 if item.keyed < 0 else 1] for item in items),
    }
    for language in bank.languages:
        columns[TEXT + language] = _texts(item.text(language) for item in items)
    return pd.DataFrame(columns)


def option_rows(bank: Instrument, response_format: ResponseFormat) -> pd.DataFrame:
    """The options of one set, one row each, a label column per language."""
    options = response_format.options
    columns: dict[str, Any] = {
        POSITION: pd.Series(range(1, len(options) + 1), dtype="int64"),
        CODE: _texts(option.code for option in options),
        POINTS: pd.Series([option.points for option in options], dtype="float64"),
        STANCE: _texts(STANCE_WORDS.get(_or_none(option.stance)) for option in options),
    }
    for language in bank.languages:
        columns[TEXT + language] = _texts(option.labels.get(language, "") for option in options)
    return pd.DataFrame(columns)


def found_rows(bank: Instrument, search: str) -> tuple[int, ...]:
    """Places (from 0) of the items whose code, subscale or text holds `search`; all without one."""
    wanted = search.strip().casefold()
    if not wanted:
        return tuple(range(len(bank.items)))
    return tuple(
        row
        for row, item in enumerate(bank.items)
        if any(
            wanted in text.casefold()
            for text in (item.code, item.subscale, *(wording.text for wording in item.wordings))
        )
    )


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


def unsaved_items(before: Instrument, after: Instrument) -> tuple[int, ...]:
    """Places (from 0) in `after` of the items that `before` does not hold as they are."""
    known = set(before.items)
    return tuple(place for place, item in enumerate(after.items) if item not in known)


def _edited_item(item: Item, cells: Cells) -> Item:
    for column, value in cells.items():
        text = _text(value)
        if column == CODE:
            item = replace(item, code=text.strip())
        elif column == SUBSCALE:
            item = replace(item, subscale=text)
        elif column == KEYED:
            item = replace(item, keyed=keying.sign(text) or item.keyed)
        elif column.startswith(TEXT):
            item = _with_text(item, column.removeprefix(TEXT), text)
    return item


def _with_text(item: Item, language: str, text: str) -> Item:
    """The item with another original wording; its place among the wordings is kept."""
    new = Wording(language, text)
    wordings = [new if (w.language, w.form) == (language, ORIGINAL) else w for w in item.wordings]
    if new not in wordings:
        wordings.append(new)
    return replace(item, wordings=tuple(w for w in wordings if w is not new or text))


def _edited_option(option: Option, cells: Cells) -> Option:
    for column, value in cells.items():
        text = _text(value)
        if column == CODE:
            option = replace(option, code=text)
        elif column == POINTS:
            option = replace(option, points=_number(value))
        elif column == STANCE:
            option = replace(option, stance=_STANCE_NUMBERS.get(text))
        elif column.startswith(TEXT):
            labels = {**option.labels, column.removeprefix(TEXT): text}
            option = replace(option, labels={k: v for k, v in labels.items() if v})
    return option


def _new_codes(
    stem: str, taken: Sequence[str], added: Sequence[Cells], n_before: int
) -> tuple[str, ...]:
    """The code of each added row: as typed, or the next free one."""
    typed = [_text(cells.get(CODE)).strip() for cells in added]
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
    number = _number(cells.get(POSITION))
    return otherwise if number is None else int(number)


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, str):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _or_none(stance: int | None) -> int:
    return 99 if stance is None else stance  # a key that no word has


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts(values: Iterable[str | None]) -> pd.Series:
    return pd.Series(list(values), dtype="object")
