"""Contexts as a file that reads back as the same contexts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from core.domain.study import Context
from core.errors import FileError
from core.files.guard import csv_fault, csv_line
from core.files.reading import MAX_ROWS_BANK

_OPTIONAL = ("language", "variant_of")

_Record = dict[str, str]


def contexts_jsonl(contexts: Sequence[Context]) -> bytes:
    """One context a line, as JSON."""
    lines = (json.dumps(_body(context), ensure_ascii=False) + "\n" for context in contexts)
    return "".join(lines).encode("utf-8")


def contexts_csv(contexts: Sequence[Context]) -> bytes:
    """Personas as one a row, conversations as one message a row.

    Raises
    ------
    FileError
        Both stand in the list, two personas are the same, a text cannot stand in a CSV file, or
        there are too many rows.
    """
    conversations = any(context.messages for context in contexts)
    if not conversations:
        _refuse_same(contexts)
    records = [
        record
        for context in contexts
        for record in (_of_conversation(context) if conversations else _of_persona(context))
    ]
    used = {column for record in records for column, cell in record.items() if cell}
    own = ("role", "content") if conversations else ("text",)
    header = ("code", *(column for column in _OPTIONAL if column in used), *own)
    if len(records) > MAX_ROWS_BANK:
        raise _cannot_hold(f"There are {len(records):,} rows, more than {MAX_ROWS_BANK:,}")
    for record in records:
        for column, cell in record.items():
            if fault := csv_fault(cell):
                raise _cannot_hold(f"{record['code']}, {column}: {fault} cannot stand in CSV")
    rows = ([record.get(column, "") for column in header] for record in records)
    return "".join(csv_line(row) for row in (header, *rows)).encode("utf-8")


def _body(context: Context) -> dict[str, object]:
    """What stands in the line of a context, which leaves out what it does not use."""
    body: dict[str, object] = {column: cell for column, cell in _about(context).items() if cell}
    if context.text or not context.messages:
        body["text"] = context.text
    if context.messages:
        body["messages"] = [{"role": m["role"], "content": m["content"]} for m in context.messages]
    return body


def _of_persona(context: Context) -> Iterator[_Record]:
    yield {**_about(context), "text": context.text}


def _of_conversation(context: Context) -> Iterator[_Record]:
    if context.text:
        raise _cannot_hold(f"{context.code} is a persona, which cannot stand beside conversations")
    for message in context.messages or ({"role": "", "content": ""},):
        yield {**_about(context), "role": message["role"], "content": message["content"]}


def _refuse_same(personas: Sequence[Context]) -> None:
    first: dict[str, str] = {}
    for persona in personas:
        if first.setdefault(persona.text, persona.code) != persona.code:
            same = f"{first[persona.text]} and {persona.code} are the same persona"
            raise _cannot_hold(f"{same}, which a table holds only once")


def _about(context: Context) -> _Record:
    about = {"language": context.language, "variant_of": context.variant_of}
    return {"code": context.code, **about}


def _cannot_hold(what: str) -> FileError:
    return FileError(f"{what}.", "Save the contexts as JSON Lines (.jsonl) instead.")
