"""Contexts from a file or from a box on a page: personas, or conversations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.domain.languages import language_code
from core.domain.study import Context
from core.errors import FileError
from core.files.context_codes import Placed, refuse_repeats, with_codes
from core.files.context_writing import contexts_csv, contexts_jsonl
from core.files.conversation_files import conversations_of_lines
from core.files.conversation_tables import conversations_of_table, holds_conversations
from core.files.reading import Table, decode, read_table, unpack

__all__ = [
    "contexts_csv", "contexts_jsonl", "parse_personas", "read_contexts", "read_personas",
]  # fmt: skip

_JSON_ENDINGS = (".jsonl", ".ndjson")
_HEADERS = frozenset({"text", "persona", "personas", "context"})
_COLUMNS = frozenset({"code", "text", "language", "variant_of"})
_TYPED = "The personas typed in"

_Line = tuple[int, dict[str, str]]  # line number, cells by column


def read_contexts(name: str, data: bytes) -> tuple[Context, ...]:
    """The personas or the conversations in a file, whichever it holds.

    Conversations stand in a .jsonl file, or in a table with the columns role and content, or user
    and assistant. Every other file holds personas, as `read_personas` says.

    Raises
    ------
    FileError
        Anything at all is wrong; names the file, the line and the reason. Nothing is kept.
    """
    inner, content = unpack(name, data)
    if inner.lower().endswith(_JSON_ENDINGS):
        return conversations_of_lines(name, decode(name, content))
    if inner.lower().endswith(".txt"):
        return _personas(name, _lines(decode(name, content)))
    table = read_table(inner, content)
    if holds_conversations(table):
        return conversations_of_table(name, table)
    return _personas(name, _rows(name, table))


def read_personas(name: str, data: bytes) -> tuple[Context, ...]:
    """The personas in a .txt file (one a line), or in the columns code and text of a table.

    Those without a code are called p001, p002 and so on by their place. The columns language and
    variant_of may stand beside them.

    Raises
    ------
    FileError
        Two personas are the same or share a code, or the file cannot be read; names the line.
    """
    inner, content = unpack(name, data)
    if inner.lower().endswith(".txt"):
        return _personas(name, _lines(decode(name, content)))
    return _personas(name, _rows(name, read_table(inner, content)))


def parse_personas(text: str) -> tuple[Context, ...]:
    """The personas typed in a box, one a line; FileError as for a file."""
    return _personas(_TYPED, _lines(text))


def _lines(text: str) -> list[_Line]:
    lines = re.split("\r\n|\r|\n", text)
    return [(number, {"text": line}) for number, line in enumerate(lines, start=1)]


def _rows(name: str, table: Table) -> list[_Line]:
    header = tuple(column.strip().lower() for column in table.header)
    if len(header) == 1 and header[0] != "code":
        rows: list[_Line] = [(line, {"text": cells[0]}) for line, cells in table.rows]
        if header[0] not in _HEADERS:  # a list without a heading: its first line is a persona
            rows.insert(0, (1, {"text": table.header[0]}))
        return rows
    if "text" not in header or len(set(header)) < len(header) or not _COLUMNS.issuperset(header):
        raise FileError(
            f"{name}: the columns are {', '.join(map(repr, table.header))}; "
            "personas need the columns 'code' and 'text', or 'text' alone.",
            "Rename or delete columns, or save the personas as a .txt file with one on each line.",
        )
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in table.rows]


def _personas(name: str, lines: Iterable[_Line]) -> tuple[Context, ...]:
    """The personas of the lines that hold something, checked and each with a code."""
    found = [
        Placed(
            number,
            Context(
                cells.get("code", "").strip(),
                cells["text"].strip(),
                language=language_code(cells.get("language", "")),
                variant_of=cells.get("variant_of", "").strip(),
            ),
        )
        for number, cells in lines
        if (cells.get("code", "") + cells["text"]).strip()
    ]
    if not found:
        raise FileError(f"{name}: there is no persona.", "Write one persona on each line.")
    personas = with_codes(name, found, "p")
    refuse_repeats(name, "text", [(placed.line, placed.context.text) for placed in found])
    return personas
