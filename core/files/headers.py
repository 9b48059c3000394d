"""Which rows of a sheet say what its columns are: their names, and below them texts of questions.

Survey programs write the question in a second row, and people write titles above a table or join
cells of its header. What the rows are is found by their cells; whoever sees the sheet can say it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import with_config

from core.domain.values import STRICT
from core.errors import FileError
from core.files.tables import (
    FileTable,
    cell_text,
    check_header,
    checked_cells,
    empty_file_error,
    too_many_rows_error,
)

HEAD_ROWS = 40
"""Rows at the top by which the header is found."""
_SHOWN_ROWS = 12
_FEWEST_BELOW = 3  # rows without which a second row of header cannot be told from an answer
_FEWEST_WORDS = 3  # columns of repeated words that tell it apart where no column holds numbers
_IMPORT_ID = '{"ImportId"'
_STEM = re.compile(r"(.*\S)\s+- (.+)|(.*[.?!:…])\s*-\s*(.+)|(.*\S)\s*\[(.+)\]", re.DOTALL)

Record = tuple[int, Sequence[str]]
"""A row that is not empty: its number in the file, from 1, and its cells."""


@with_config(STRICT)
@dataclass(frozen=True)
class HeaderRows:
    """The row with the names of the columns and that with the texts of the questions.

    Rows are counted from 1 as in the file; 0 means that there is no such row. Columns without names
    are called column_1, column_2 and so on.
    """

    names: int = 1
    texts: int = 0


def find_header(records: Sequence[Record]) -> HeaderRows:
    """The rows of the header, by the first rows of a file that are not empty.

    A title above the table fills less than half of the columns. A second row holds texts of
    questions where it names columns that have no name, or where none of its texts comes again below
    and columns of numbers (or of words that come again and again) have such a text.
    """
    if not records:
        return HeaderRows()
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in records]
    first = next(i for i, n in enumerate(filled) if n * 2 >= max(filled))
    line, names = records[first]
    below = records[first + 1 :]
    if len(below) > _FEWEST_BELOW and not _is_of_qualtrics(names, below):
        (texts_line, texts), rest = below[0], [cells for _, cells in below[1:]]
        is_of_texts = _is_of_texts(texts, rest)
        if filled[first] < filled[first + 1] == max(filled) and is_of_texts:
            return HeaderRows(texts_line)
        if is_of_texts or _fills_gaps(names, texts, rest):
            return HeaderRows(line, texts_line)
    return HeaderRows(line)


def _is_of_qualtrics(names: Sequence[str], below: Sequence[Record]) -> bool:
    """Whether the rows are those that core/files/survey_programs.py reads itself."""
    return "ResponseId" in names or any(
        cells[0].startswith(_IMPORT_ID) for _, cells in below[:2] if cells
    )


def _fills_gaps(names: Sequence[str], texts: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether the names have gaps that the texts fill, as below joined cells."""
    gaps = [column for column in range(1, len(texts)) if not _at(names, column)]
    filled = [column for column in gaps if _at(texts, column)]
    values = {(column, _at(cells, column)) for cells in rest for column in filled}
    again = any((column, _at(texts, column)) in values for column in filled)
    return bool(filled) and len(filled) * 2 >= len(gaps) and not again


def _is_of_texts(texts: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    if not _differ(texts):
        return False
    among_numbers = among_words = n_filled = 0
    for column in range(len(texts)):
        text = _at(texts, column)
        values = [value for cells in rest if (value := _at(cells, column))]
        if not text or not values:
            continue
        n_filled += 1
        if text in values:
            return False
        if all(map(_is_number, values)):
            if _is_number(text):
                return False
            among_numbers += 1
        elif len(set(values)) * 2 <= len(values):
            among_words += 1
    return n_filled > 1 and (among_numbers > 0 or among_words >= _FEWEST_WORDS)


def _differ(texts: Sequence[str]) -> bool:
    own = [text.strip() for text in texts if text.strip()]
    return len(own) == len(set(own)) > 0


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _at(cells: Sequence[str], column: int) -> str:
    return cells[column].strip() if column < len(cells) else ""


# The table below its header.


@dataclass(frozen=True)
class HeadedTable:
    """A table with the rows of its header and the texts of its columns."""

    table: FileTable
    header: HeaderRows
    texts: Mapping[str, str]


def headed_table(
    name: str,
    records: Iterable[Record],
    max_rows: int,
    header: HeaderRows | None = None,
    *,
    may_be_empty: bool = False,
    pads: bool = False,
) -> HeadedTable:
    """The table below a header, found where none is given; `pads`: short rows have empty cells.

    Raises
    ------
    FileError
        The file has no such row, a column with cells has neither name nor text, two columns have
        one name, or a row has more cells than the header.
    """
    rows = iter(records)
    head = [(line, [*map(cell_text, cells)]) for line, cells in itertools.islice(rows, HEAD_ROWS)]
    if not head:
        if may_be_empty:
            return HeadedTable(FileTable(name, (), []), HeaderRows(), {})
        raise empty_file_error(name)
    chosen = header or find_header(head)
    lines = {line: cells for line, cells in head}
    for line in (chosen.names, chosen.texts):
        if line and line not in lines:
            raise FileError(
                f"{name}: row {line} is empty, or not among the first {HEAD_ROWS} rows with cells.",
                "Choose another row for the names of the columns or the texts of the questions.",
            )
    below = [record for record in head if record[0] > max(chosen.names, chosen.texts)]
    texts = lines[chosen.texts] if chosen.texts else []
    width = max(len(cells) for _, cells in head)
    unnamed = [f"column_{number}" for number in range(1, width + 1)]
    names_row = lines[chosen.names] if chosen.names else unnamed
    columns = _named(name, names_row, texts, [cells for _, cells in below])
    names = check_header(name, columns.values())
    kept: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in itertools.chain(below, rows):
        if len(kept) >= max_rows:
            raise too_many_rows_error(name, max_rows)
        kept.append((line, _cells(name, line, cells, columns, names, pads=pads)))
    own = own_texts({column: _at(texts, place) for place, column in columns.items()})
    labels = {column: text for column, text in own.items() if text}
    return HeadedTable(FileTable(name, names, kept), chosen, labels)


def _cells(
    name: str,
    line: int,
    cells: Sequence[str],
    columns: Mapping[int, str],
    names: tuple[str, ...],
    *,
    pads: bool,
) -> tuple[str, ...]:
    """The cells of the columns that are kept; the others are empty."""
    width = max(columns) + 1
    wide = [*cells]
    while len(wide) > width and not wide[-1].strip():
        wide.pop()
    if pads or not all(place in columns for place in range(width)):
        wide += [""] * (width - len(wide))
    if len(wide) != width:
        return checked_cells(name, line, wide, tuple(map(str, range(width))))
    if left := [place for place in range(width) if place not in columns and wide[place].strip()]:
        raise FileError(
            f"{name}, line {line}: column {left[0] + 1} has a cell, but no name in the header.",
            "Name the column, or delete the cell.",
        )
    return checked_cells(name, line, [wide[place] for place in columns], names)


def _named(
    name: str, names: Sequence[str], texts: Sequence[str], below: Sequence[Sequence[str]]
) -> dict[int, str]:
    """The name of each column by its place; columns without name, text or cells are left out.

    Where a name stands over several columns, each is called as its own text is.
    """
    width = max(len(names), len(texts))
    found: dict[int, str] = {}
    taken = Counter(_at(names, place) for place in range(width))
    for place in range(width):
        own, text = _at(names, place), _at(texts, place)
        spans = place + 1 < width and not _at(names, place + 1) and _at(texts, place + 1)
        called = text if text and (spans or not own) else own
        if called and called != own and (called in found.values() or taken[called]):
            called = f"{called} ({place + 1})"
        if called:
            found[place] = called
        elif any(_at(cells, place) for cells in below):
            raise FileError(
                f"{name}: column {place + 1} has no name in the header line.",
                "Name the column, or delete it. If the names stand in another row, choose that row "
                "on the page Import and export.",
            )
    return found


def own_texts(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts of columns without the question that several statements of a table share.

    The statement stands after a dash or in square brackets, as survey programs write it.
    """
    parts = {column: _parted(" ".join(text.split())) for column, text in texts.items()}
    stems = Counter(stem for stem, _ in parts.values() if stem)
    return {
        column: own if stem and stems[stem] > 1 else " ".join(texts[column].split())
        for column, (stem, own) in parts.items()
    }


def _parted(text: str) -> tuple[str, str]:
    match = _STEM.fullmatch(text)
    if match is None:
        return "", text
    stem, own = (part for part in match.groups() if part is not None)
    return stem, own


@dataclass(frozen=True)
class Sheet:
    """The first rows of a CSV file or a sheet as they are, and the header found in them."""

    rows: tuple[Record, ...]
    header: HeaderRows

    def cells(self) -> Iterator[dict[str, str]]:
        """A row for each row of the sheet, with its number and a column for each cell."""
        width = max((len(cells) for _, cells in self.rows), default=0)
        for line, cells in self.rows:
            yield {"Row": str(line), **{str(at + 1): _at(cells, at) for at in range(width)}}


def sheet_of(records: Iterable[Record]) -> Sheet:
    """What a page shows of a file before it is said where its header stands."""
    head = [
        (line, [*map(cell_text, cells)]) for line, cells in itertools.islice(records, HEAD_ROWS)
    ]
    return Sheet(tuple(head[:_SHOWN_ROWS]), find_header(head))
