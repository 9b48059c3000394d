"""Personas: one line of text each, from a file or from a box on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.domain.study import Context
from core.errors import FileError
from core.files.reading import (
    MAX_CELL_CHARACTERS,
    MAX_ROWS_BANK,
    decode,
    read_table,
    too_many_rows,
    unpack,
)

_HEADERS = frozenset({"text", "persona", "personas", "context"})
_TYPED = "The personas typed in"

_Line = tuple[int, str, str]  # line number, code or "", text


def read_personas(name: str, data: bytes) -> tuple[Context, ...]:
    """The personas in a .txt file (one a line), or in the columns code and text of a table.

    Those without a code are called p001, p002 and so on by their place.

    Raises
    ------
    FileError
        Two personas are the same or share a code, or the file cannot be read; names the line.
    """
    inner, content = unpack(name, data)
    if inner.lower().endswith(".txt"):
        return _personas(name, _lines(decode(name, content)))
    table = read_table(inner, content)
    header = tuple(column.strip().lower() for column in table.header)
    rows: list[_Line]
    if len(header) == 1:
        rows = [(line, "", cells[0]) for line, cells in table.rows]
        if header[0] not in _HEADERS:  # a list without a heading: its first line is a persona
            rows.insert(0, (1, "", table.header[0]))
    elif sorted(header) == ["code", "text"]:
        code, text = header.index("code"), header.index("text")
        rows = [(line, cells[code], cells[text]) for line, cells in table.rows]
    else:
        raise FileError(
            f"{name}: the columns are {', '.join(map(repr, table.header))}; "
            "personas need the columns 'code' and 'text', or 'text' alone.",
            "Rename or delete columns, or save the personas as a .txt file with one on each line.",
        )
    return _personas(name, rows)


def parse_personas(text: str) -> tuple[Context, ...]:
    """The personas typed in a box, one a line; FileError as for a file."""
    return _personas(_TYPED, _lines(text))


def _lines(text: str) -> list[_Line]:
    return [(number, "", line) for number, line in enumerate(re.split("\r\n|\r|\n", text), start=1)]


def _personas(name: str, lines: Iterable[_Line]) -> tuple[Context, ...]:
    """The personas of the lines that hold something, checked and each with a code."""
    kept = [(n, code.strip(), text.strip()) for n, code, text in lines if (code + text).strip()]
    if not kept:
        raise FileError(f"{name}: there is no persona.", "Write one persona on each line.")
    if len(kept) > MAX_ROWS_BANK:
        raise too_many_rows(name, MAX_ROWS_BANK)
    _refuse_repeats(name, "text", [(line, text) for line, _, text in kept])
    _refuse_repeats(name, "code", [(line, code) for line, code, _ in kept if code])
    taken = {code for _, code, _ in kept}
    personas: list[Context] = []
    for place, (line, code, text) in enumerate(kept, start=1):
        if len(text) > MAX_CELL_CHARACTERS:
            raise FileError(
                f"{name}, line {line}: the persona has {len(text):,} characters.", "Shorten it."
            )
        personas.append(Context(code or _free_code(place, taken), text))
    return tuple(personas)


def _refuse_repeats(name: str, what: str, values: list[tuple[int, str]]) -> None:
    first: dict[str, int] = {}
    for line, value in values:
        if value in first:
            shown = value if len(value) <= 60 else f"{value[:60]}…"
            raise FileError(
                f"{name}, line {line}: the {what} '{shown}' stands in line {first[value]} already.",
                "Delete or change one of the two lines.",
            )
        first[value] = line


def _free_code(place: int, taken: set[str]) -> str:
    """p001 for the first place, or the next such code that nobody has; marks it as taken."""
    while (code := f"p{place:03d}") in taken:
        place += 1
    taken.add(code)
    return code
