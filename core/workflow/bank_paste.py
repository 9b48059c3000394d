"""Cells pasted or typed into a grid: spread over the grid, and what cannot be read.

A block copied in a spreadsheet and pasted while one cell is open for typing arrives as a single
text with tabs and line breaks. In a new row it is spread over the cells and rows it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.domain import keying
from core.domain.instrument import Item
from core.workflow.bank_columns import (
    CODE,
    KEYED,
    KEYED_WORDS,
    LOADING,
    PARTY,
    POINTS,
    POSITION,
    RANK,
    STANCE,
    TEXT,
    is_sign,
    read_number,
)
from core.workflow.bank_grid import Cells, GridEdits

_CELL = re.compile(r'(?:"((?:[^"]|"")*)"(?=[\t\n]|\Z)|([^\t\n]*))([\t\n]|\Z)')
_BREAKS = re.compile(r"[\t\r\n]")


def spread(edits: GridEdits, columns: Sequence[str]) -> GridEdits:
    """The edits with each block pasted into one cell of a new row as rows of cells.

    `columns` are those the grid shows, from the code on.
    """
    added = [row for cells in edits.added for row in _rows(cells, columns)]
    return replace(edits, added=added)


def has_block(edits: GridEdits, columns: Sequence[str]) -> bool:
    """Whether a new row holds a block that `spread` takes apart."""
    return any(_block_column(cells, columns) is not None for cells in edits.added)


def remarks(
    edits: GridEdits, columns: Sequence[str], items: Sequence[Item], rows: Sequence[int]
) -> tuple[str, ...]:
    """What was typed and not taken as written, by item; `rows` are the places the grid shows."""
    found: list[str] = []
    for row, cells in edits.edited.items():
        if row < len(rows) and row not in edits.deleted:
            item = items[rows[row]]
            code = _written(cells.get(CODE)) or item.code
            found += _cell_remarks(f"Item {_in_a_line(code)}", cells, item.keyed)
    for cells in spread(edits, columns).added:
        code = _written(cells.get(CODE))
        found += _cell_remarks(f"Item {_in_a_line(code)}" if code else "New item", cells, 1)
    return (*found, *_left_out(edits, columns))


def option_remarks(
    edits: GridEdits, columns: Sequence[str], codes: Sequence[str]
) -> tuple[str, ...]:
    """What was typed into the grid of response options and not taken as written, by option."""
    found: list[str] = []
    for row, cells in edits.edited.items():
        if row < len(codes) and row not in edits.deleted:
            found += _option_cell_remarks(_in_a_line(codes[row]), cells)
    for cells in spread(edits, columns).added:
        found += _option_cell_remarks(_in_a_line(_written(cells.get(CODE))), cells)
    return (*found, *_left_out(edits, columns))


def _left_out(edits: GridEdits, columns: Sequence[str]) -> Iterator[str]:
    n_beyond = sum(_n_beyond(cells, columns) for cells in edits.added)
    if n_beyond:
        yield (
            f"Pasted rows: what stood to the right of the last column of this table was left out "
            f"(cells: {n_beyond:,}). Show the missing column first, then paste again."
        )


def _cell_remarks(where: str, cells: Cells, keyed: int) -> Iterator[str]:
    keying_word = _written(cells.get(KEYED))
    if keying.sign(keying_word) is None:
        yield (
            f"{where}: “{_in_a_line(keying_word)}” under Keyed is not known, so the item stays "
            f"“{KEYED_WORDS[-1 if keyed < 0 else 1]}”. Write + or 1, or for a reverse-keyed item "
            "−, -1, R or reverse."
        )
    if _BREAKS.search(_written(cells.get(CODE))):
        yield (
            f"{where}: several cells were pasted into one code. Press Undo, click the cell only "
            "once, and paste again."
        )
    rank = _written(cells.get(RANK))
    number = read_number(rank)
    if rank and (number is None or number < 0):
        yield f"{where}: “{_in_a_line(rank)}” under Rank is no number from 0 up; nothing changed."
    yield from _sign_remarks(where, cells)


def _option_cell_remarks(code: str, cells: Cells) -> Iterator[str]:
    points = _written(cells.get(POINTS))
    if points and read_number(points) is None:
        yield f"Option {code}: “{_in_a_line(points)}” under Points is no number, such as 2.5."
    yield from _sign_remarks(f"Option {code}", cells)


def _sign_remarks(where: str, cells: Cells) -> Iterator[str]:
    """Cells that should say for, against or neutral, and do not."""
    for column, value in cells.items():
        if (column.startswith((LOADING, PARTY)) or column == STANCE) and not is_sign(value):
            yield (
                f"{where}: “{_in_a_line(_written(value))}” under "
                f"{_in_a_line(column.partition(':')[2]) or 'Stance'} is not known, so nothing "
                "changed there. Write +1, 0 or −1, or leave it empty."
            )


def _block_column(cells: Cells, columns: Sequence[str]) -> int | None:
    """Which column holds a block; a line break alone may belong to the text of an item."""
    for place, column in enumerate(columns):
        written = _written(cells.get(column))
        if "\t" in written or (not column.startswith(TEXT) and _BREAKS.search(written)):
            return place
    return None


def _rows(cells: Cells, columns: Sequence[str]) -> list[Cells]:
    place = _block_column(cells, columns)
    if place is None:
        return [cells]
    block = _block(str(cells[columns[place]]))
    rows: list[dict[str, Any]] = [
        dict(zip(columns[place:], values, strict=False)) for values in block
    ]
    others = {column: value for column, value in cells.items() if column != columns[place]}
    if not rows:
        return [others]
    position = {POSITION: cells[POSITION]} if POSITION in cells else {}
    return [{**others, **rows[0]}, *({**position, **row} for row in rows[1:])]


def _n_beyond(cells: Cells, columns: Sequence[str]) -> int:
    place = _block_column(cells, columns)
    if place is None:
        return 0
    room = len(columns) - place
    block = _block(str(cells[columns[place]]))
    return sum(bool(value.strip()) for values in block for value in values[room:])


def _block(text: str) -> list[list[str]]:
    """Rows of cells as a spreadsheet puts them on the clipboard; blank rows are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    rows: list[list[str]] = [[]]
    for match in _CELL.finditer(text):
        quoted, plain, end = match.groups()
        rows[-1].append(plain if quoted is None else _unquoted(quoted))
        if not end:
            break
        if end == "\n":
            rows.append([])
    return [row for row in rows if any(cell.strip() for cell in row)]


def _unquoted(inside: str) -> str:
    """A cell found in quotation marks, which are its own unless it needed them."""
    return inside.replace('""', '"') if _BREAKS.search(inside) else f'"{inside}"'


def _in_a_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _written(value: Any) -> str:
    return "" if value is None else str(value).strip()
