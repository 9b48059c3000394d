"""Cells pasted or typed into the grid of items: spread over the grid, and what cannot be read.

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
from core.workflow.bank_grid import (
    CODE,
    KEYED,
    KEYED_WORDS,
    POSITION,
    SUBSCALE,
    TEXT,
    Cells,
    GridEdits,
)  # fmt: skip

_CELL = re.compile(r'(?:"((?:[^"]|"")*)"(?=[\t\n]|\Z)|([^\t\n]*))([\t\n]|\Z)')
_BREAKS = re.compile(r"[\t\r\n]")


def spread(edits: GridEdits, languages: Sequence[str]) -> GridEdits:
    """The edits with each block pasted into one cell of a new row as rows of cells."""
    columns = _columns(languages)
    added = [row for cells in edits.added for row in _rows(cells, columns)]
    return replace(edits, added=added)


def has_block(edits: GridEdits, languages: Sequence[str]) -> bool:
    """Whether a new row holds a block that `spread` takes apart."""
    columns = _columns(languages)
    return any(_block_column(cells, columns) is not None for cells in edits.added)


def remarks(
    edits: GridEdits, languages: Sequence[str], items: Sequence[Item], rows: Sequence[int]
) -> tuple[str, ...]:
    """What was typed and not taken as written, by item; `rows` are the places the grid shows."""
    found: list[str] = []
    for row, cells in edits.edited.items():
        if row < len(rows) and row not in edits.deleted:
            item = items[rows[row]]
            code = _written(cells.get(CODE)) or item.code
            found += _cell_remarks(f"Item {_in_a_line(code)}", cells, item.keyed)
    for cells in spread(edits, languages).added:
        code = _written(cells.get(CODE))
        found += _cell_remarks(f"Item {_in_a_line(code)}" if code else "New item", cells, 1)
    n_beyond = sum(_n_beyond(cells, _columns(languages)) for cells in edits.added)
    if n_beyond:
        found.append(
            f"Pasted rows: what stood to the right of the last column of this table was left out "
            f"(cells: {n_beyond:,}). Add the missing language first, then paste again."
        )
    return tuple(found)


def _cell_remarks(where: str, cells: Cells, keyed: int) -> Iterator[str]:
    written = _written(cells.get(KEYED))
    if keying.sign(written) is None:
        yield (
            f"{where}: “{_in_a_line(written)}” under Keyed is not known, so the item stays "
            f"“{KEYED_WORDS[-1 if keyed < 0 else 1]}”. Write + or 1, or for a reverse-keyed item "
            "−, -1, R or reverse."
        )
    if _BREAKS.search(_written(cells.get(CODE))):
        yield (
            f"{where}: several cells were pasted into one code. Press Undo, click the cell only "
            "once, and paste again."
        )


def _columns(languages: Sequence[str]) -> tuple[str, ...]:
    """The columns a block can fill, in the order of the grid."""
    return (CODE, SUBSCALE, KEYED, *(TEXT + language for language in languages))


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
