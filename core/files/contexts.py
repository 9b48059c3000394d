"""Files of contexts: personas and conversations in tables and JSON lines, read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain.characters import readable, readable_value
from core.domain.factors import fact_name, is_person_fact
from core.domain.languages import is_language_code, language_code
from core.domain.people import PERSON_FACT
from core.domain.study import Context, Message, texts_by_language, translation_fault
from core.errors import FileError
from core.files.tables import (
    MAX_ROWS_BANK,
    FileTable,
    decode,
    read_table,
    too_many_rows_error,
    unpack,
)
from core.files.writing import csv_bytes, csv_fault

# Common to every list of contexts: codes, repeats, and errors by line.


@dataclass(frozen=True)
class ContextLine:
    """A context, whose code may be empty, and the line on which it begins."""

    line: int
    context: Context


def _line_error(name: str, line: int, what: str) -> FileError:
    """The error for one line of a file that is not imported."""
    return FileError(
        f"{name}, line {line}: {what}.",
        "Nothing was imported. Correct the file and choose it again.",
    )


def _refuse_repeats(name: str, what: str, values: Iterable[tuple[int, str]]) -> None:
    """Refuse a value that an earlier line has already."""
    first: dict[str, int] = {}
    for line, value in values:
        if value in first:
            raise FileError(
                f"{name}, line {line}: the {what} '{_shortened(value)}' is in line {first[value]} "
                "already.",
                "Delete or change one of the two lines.",
            )
        first[value] = line


def _with_codes(name: str, entries: list[ContextLine], letter: str) -> tuple[Context, ...]:
    """The contexts. Those without a code get c001 and so on by their place (or p001).

    Raises
    ------
    FileError
        Two contexts share a code, there are too many, or a text cannot stand in a file.
    """
    if len(entries) > MAX_ROWS_BANK:
        raise too_many_rows_error(name, MAX_ROWS_BANK)
    _refuse_repeats(
        name, "code", [(entry.line, entry.context.code) for entry in entries if entry.context.code]
    )
    for entry in entries:
        _refuse_unwritable(name, entry)
        if fault := translation_fault(entry.context):
            raise _line_error(name, entry.line, fault)
    codes = {entry.context.code for entry in entries}
    return tuple(
        replace(entry.context, code=entry.context.code or _free_code(letter, place, codes))
        for place, entry in enumerate(entries, start=1)
    )


def _refuse_unwritable(name: str, entry: ContextLine) -> None:
    context = entry.context
    texts = _code_and_origin(context)
    for column, text in texts.items():
        if fault := csv_fault(text):
            raise _line_error(name, entry.line, f"the {column} holds {fault}")
    for number, message in enumerate(context.messages, start=1):
        if fault := csv_fault(message["content"]):
            raise _line_error(name, entry.line, f"message {number} holds {fault}")
    for text in (context.text, *(text for _, text in context.translations)):
        if fault := csv_fault(text):
            raise FileError(f"{name}, line {entry.line}: the persona has {fault}.", "Shorten it.")


def _free_code(letter: str, place: int, codes: set[str]) -> str:
    """p001 for the first place, or the next free code; adds it to `codes`."""
    while (code := f"{letter}{place:03d}") in codes:
        place += 1
    codes.add(code)
    return code


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


# Writing contexts to a file that reads back as the same contexts.

_OPTIONAL = ("language", "variant_of")
TEXT_IN = "text_"
"""Begins the columns of personas in further languages, such as text_de."""

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
        The list holds both kinds, two personas are the same, a text cannot stand in a CSV file, or
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
    translated = sorted({name for r in records for name in r if name.startswith(TEXT_IN)})
    text_columns = ("role", "content") if conversations else ("text", *translated)
    facts = dict.fromkeys(n for record in records for n in record if is_person_fact(n))
    optional = (*(column for column in _OPTIONAL if column in used), *facts)
    header = ("code", *optional, *text_columns)
    if len(records) > MAX_ROWS_BANK:
        raise _csv_error(f"There are {len(records):,} rows, more than {MAX_ROWS_BANK:,}")
    for record in records:
        for column, cell in record.items():
            if fault := csv_fault(cell):
                raise _csv_error(f"{record['code']}, {column}: {fault} cannot be in a CSV file")
    rows = ([record.get(column, "") for column in header] for record in records)
    return csv_bytes([header, *rows])


def _body(context: Context) -> dict[str, object]:
    """The JSON object of a context, without its empty fields."""
    body: dict[str, object] = {
        column: cell for column, cell in _code_and_origin(context).items() if cell
    }
    if context.text or not context.messages:
        body["text"] = context.text
    if context.translations:
        body["translations"] = dict(context.translations)
    if context.messages:
        body["messages"] = [{"role": m["role"], "content": m["content"]} for m in context.messages]
    return body


def _of_persona(context: Context) -> Iterator[_Record]:
    translated = {f"{TEXT_IN}{language}": text for language, text in context.translations}
    yield {**_code_and_origin(context), "text": context.text, **translated}


def _of_conversation(context: Context) -> Iterator[_Record]:
    if context.text:
        raise _csv_error(
            f"{context.code} is a persona, which cannot be in one CSV file with conversations"
        )
    for message in context.messages or ({"role": "", "content": ""},):
        yield {**_code_and_origin(context), "role": message["role"], "content": message["content"]}


def _refuse_same(personas: Sequence[Context]) -> None:
    first: dict[object, str] = {}
    for persona in personas:
        texts = (persona.text, persona.translations)
        if first.setdefault(texts, persona.code) != persona.code:
            pair = f"{first[texts]} and {persona.code}"
            raise _csv_error(f"{pair} are the same persona, and a table can hold it only once")


def _code_and_origin(context: Context) -> _Record:
    return {
        "code": context.code,
        "language": context.language,
        "variant_of": context.variant_of,
        **{PERSON_FACT + fact: value for fact, value in context.facts},
    }


def _csv_error(what: str) -> FileError:
    return FileError(f"{what}.", "Save the contexts as JSON Lines (.jsonl) instead.")


# Reading conversations from a table: a row is one message, or one exchange.

_ROLES_IN_TABLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "system": "system",
}
"""The roles as files name them -> the roles of Inkblot."""
_MESSAGE = frozenset({"role", "content"})
_EXCHANGE = frozenset({"user", "assistant"})
_CODE_AND_ORIGIN = frozenset({"code", "language", "variant_of"})


@dataclass
class _Conversation:
    """The rows of one code that are read so far."""

    line: int
    code: str
    messages: list[Message] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)


def _holds_conversations(table: FileTable) -> bool:
    """Whether the columns are those of conversations."""
    header = set(_header(table))
    return header.issuperset(_MESSAGE) or header.issuperset(_EXCHANGE)


def _conversations_of_table(name: str, table: FileTable) -> tuple[Context, ...]:
    """The conversations of a table, in their order; rows with one code follow each other.

    A code whose only row has no message is an empty context.

    Raises
    ------
    FileError
        A message has no text or no role, or a code is in two places; names the line.
    """
    header = _header(table)
    _check_columns(name, table, header)
    conversations: list[_Conversation] = []
    for line, cells in table.rows:
        row = dict(zip(header, cells, strict=True))
        code = row.get("code", "").strip()
        if not code and "role" in row:
            raise _line_error(
                name,
                line,
                "the column 'code' is empty; it says to which conversation the message belongs",
            )
        if not code or not conversations or conversations[-1].code != code:
            conversations.append(_Conversation(line, code))
        _add(name, line, row, conversations[-1])
    if not conversations:
        raise FileError(f"{name}: there is no conversation.", "Write one message in each row.")
    _refuse_repeats(name, "code", [(one.line, one.code) for one in conversations if one.code])
    return _with_codes(
        name, [ContextLine(one.line, _context_of_table(one)) for one in conversations], "c"
    )


def read_role(text: object) -> str:
    """The role in Inkblot's words; empty for an unknown one."""
    return _ROLES_IN_TABLES.get(text.strip().lower(), "") if isinstance(text, str) else ""


def _role(name: str, line: int, text: str) -> str:
    """The role in Inkblot's words; FileError for an unknown one."""
    role = read_role(text)
    if not role:
        roles = ", ".join(_ROLES_IN_TABLES)
        raise _line_error(name, line, f"the role '{_shortened(text)}' is not one of {roles}")
    return role


def _header(table: FileTable) -> tuple[str, ...]:
    """The columns in small letters, but for facts and languages, which stay as they are."""
    columns = (column.strip() for column in table.header)
    return tuple(
        name if is_person_fact(name) or _is_translation(name) else name.lower() for name in columns
    )


def _check_columns(name: str, table: FileTable, header: tuple[str, ...]) -> None:
    message_columns = _MESSAGE if _MESSAGE.issubset(header) else _EXCHANGE
    unknown = set(header) - message_columns - _CODE_AND_ORIGIN
    unknown = {column for column in unknown if not is_person_fact(column)}
    needs_code = message_columns is _MESSAGE and "code" not in header
    if unknown or needs_code or len(set(header)) < len(header):
        raise FileError(
            f"{name}: the columns are {', '.join(map(repr, table.header))}; conversations need "
            "'code', 'role' and 'content', or 'user' and 'assistant', and may have 'language', "
            "'variant_of' and facts such as 'person.gender'.",
            "Rename or delete columns.",
        )


def _add(name: str, line: int, row: dict[str, str], conversation: _Conversation) -> None:
    """Add a row's messages, language, variant_of and facts to its conversation."""
    fields = {
        "language": language_code(row.get("language", "")),
        "variant_of": row.get("variant_of", "").strip(),
        **{column: cell.strip() for column, cell in row.items() if is_person_fact(column)},
    }
    for column, value in fields.items():
        earlier = conversation.origin.setdefault(column, value)
        if value != earlier:
            what = f"the {column} is '{value}', but the conversation begins with '{earlier}'"
            raise _line_error(name, line, what)
    is_later_row = line != conversation.line
    if is_later_row and not conversation.messages:
        raise _line_error(
            name, line, "the first row of this code has no message, but this row has one"
        )
    cells = [row.get(column, "") for column in ("role", "content", "user", "assistant")]
    if not is_later_row and conversation.code and not "".join(cells).strip():
        return
    conversation.messages.extend(_messages_of_table(name, line, row))


def _messages_of_table(name: str, line: int, row: dict[str, str]) -> Iterator[Message]:
    if "role" in row:
        cells = [(_role(name, line, row["role"]), "content", row["content"])]
    else:
        cells = [(role_name, role_name, row[role_name]) for role_name in ("user", "assistant")]
    for role_name, column, content in cells:
        if not content.strip():
            raise _line_error(name, line, f"the column '{column}' is empty")
        yield {"role": role_name, "content": content}


def _context_of_table(conversation: _Conversation) -> Context:
    return Context(
        conversation.code,
        messages=tuple(conversation.messages),
        language=conversation.origin["language"],
        variant_of=conversation.origin["variant_of"],
        facts=_facts(conversation.origin),
    )


# Reading contexts from JSON lines, as published collections of conversations have them.

_CODE_KEYS = ("code", "id", "conversation_id")
_MESSAGES_KEYS = ("messages", "conversation", "conversations")
_ROLE_KEYS, _CONTENT_KEYS = ("role", "from"), ("content", "value")


def _conversations_of_lines(name: str, text: str) -> tuple[Context, ...]:
    """The contexts of a JSON Lines file, one a line.

    A line is a list of messages, or an object with one under messages, conversation or
    conversations, or with the text of a persona under text. Those without a code get c001, c002
    and so on by their place.

    Raises
    ------
    FileError
        A line cannot be read; names the line and the reason. Nothing is imported.
    """
    lines = enumerate(text.split("\n"), start=1)
    contexts = [
        ContextLine(number, _context_of_line(name, number, line))
        for number, line in lines
        if line.strip()
    ]
    if not contexts:
        raise FileError(f"{name}: there is no conversation.", "Write one on each line.")
    return _with_codes(name, contexts, "c")


def _context_of_line(name: str, line: int, text: str) -> Context:
    try:
        body = readable_value(json.loads(text))
    except (ValueError, RecursionError):
        raise _line_error(name, line, "this is not valid JSON") from None
    if isinstance(body, list):
        return Context("", messages=tuple(_messages_of_line(name, line, body)))
    if not isinstance(body, dict):
        raise _line_error(name, line, "this is neither a list of messages nor an object with one")
    messages = _first(body, _MESSAGES_KEYS)
    persona = _text(name, line, body, ("text",)) if "text" in body else None
    if messages is None and persona is None:
        raise _line_error(
            name, line, f"none of the keys {', '.join(_MESSAGES_KEYS)} or text has a value"
        )
    return Context(
        code=_text(name, line, body, _CODE_KEYS).strip(),
        text=(persona or "").strip(),
        messages=tuple(_messages_of_line(name, line, messages)) if messages is not None else (),
        language=language_code(_text(name, line, body, ("language",))),
        variant_of=_text(name, line, body, ("variant_of",)).strip(),
        facts=_facts({k: _text(name, line, body, (k,)) for k in body if is_person_fact(k)}),
        translations=_translations(name, line, body.get("translations")),
    )


def _translations(name: str, line: int, found: object) -> tuple[tuple[str, str], ...]:
    """The persona in further languages, by their codes."""
    if found is None:
        return ()
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise _line_error(name, line, "'translations' is not an object of texts by language")
    return _sorted(name, line, {str(language): text for language, text in found.items()})


def _sorted(name: str, line: int, texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    try:
        return texts_by_language(texts.items())
    except ValueError as error:
        raise _line_error(name, line, str(error)) from None


def _messages_of_line(name: str, line: int, messages: object) -> Iterator[Message]:
    if not isinstance(messages, list) or not messages:
        raise _line_error(name, line, "the list of messages is missing or empty")
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict):
            raise _line_error(
                name, line, f"message {number} is not an object with role and content"
            )
        role, content = _first(message, _ROLE_KEYS), _first(message, _CONTENT_KEYS)
        if not isinstance(role, str):
            raise _line_error(name, line, f"message {number} has no role")
        if not isinstance(content, str) or not content.strip():
            raise _line_error(name, line, f"message {number} has no text")
        yield {"role": _role(name, line, role), "content": content}


def _first(body: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first key that has one."""
    return next((body[key] for key in keys if body.get(key) is not None), None)


def _text(name: str, line: int, body: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    value = _first(body, keys)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        key = next(key for key in keys if body.get(key) is not None)
        raise _line_error(name, line, f"the value of {key} is not a text")
    return str(value)


# Reading contexts from a file, or personas typed on a page.

_JSON_ENDINGS = (".jsonl", ".ndjson")
_HEADERS = frozenset({"text", "persona", "personas", "context"})
_COLUMNS = frozenset({"code", "text", "language", "variant_of"})
_TYPED = "The typed personas"

_Line = tuple[int, dict[str, str]]  # line number, cells by column


def read_contexts(name: str, data: bytes) -> tuple[Context, ...]:
    """The personas or the conversations in a file.

    Conversations are in a .jsonl file, or in a table with the columns role and content, or user
    and assistant. Every other file holds personas, as `read_personas` says.

    Raises
    ------
    FileError
        The file has any fault; names the file, the line and the reason. Nothing is imported.
    """
    inner, content = unpack(name, data)
    if inner.lower().endswith(_JSON_ENDINGS):
        return _conversations_of_lines(name, decode(name, content))
    if inner.lower().endswith(".txt"):
        return _personas(name, _lines(decode(name, content)))
    table = read_table(inner, content)
    if _holds_conversations(table):
        return _conversations_of_table(name, table)
    return _personas(name, _rows(name, table))


def read_personas(name: str, data: bytes) -> tuple[Context, ...]:
    """The personas in a .txt file (one a line), or in the columns code and text of a table.

    Those without a code get p001, p002 and so on by their place. The columns language and
    variant_of are optional, and so are facts in columns such as person.gender.

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
    return [(number, {"text": readable(line)}) for number, line in enumerate(lines, start=1)]


def _rows(name: str, table: FileTable) -> list[_Line]:
    header = _header(table)
    if len(header) == 1 and header[0] != "code":
        rows: list[_Line] = [(line, {"text": cells[0]}) for line, cells in table.rows]
        if header[0] not in _HEADERS:  # a list without a heading: its first line is a persona
            rows.insert(0, (1, {"text": table.header[0]}))
        return rows
    others = [name for name in header if not is_person_fact(name) and not _is_translation(name)]
    if "text" not in header or len(set(header)) < len(header) or not _COLUMNS.issuperset(others):
        raise FileError(
            f"{name}: the columns are {', '.join(map(repr, table.header))}; "
            "personas need the columns 'code' and 'text', or 'text' alone; further languages stand "
            "in columns such as 'text_de', and facts about them in columns such as "
            "'person.gender'.",
            "Rename or delete columns, or save the personas as a .txt file with one on each line.",
        )
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in table.rows]


def _is_code_or_text(column: str) -> bool:
    return column in ("code", "text") or _is_translation(column)


def _is_translation(column: str) -> bool:
    return column.startswith(TEXT_IN) and is_language_code(column.removeprefix(TEXT_IN))


def _facts(cells: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What columns such as person.gender say of a persona."""
    return tuple(
        (fact_name(column), value)
        for column, cell in cells.items()
        if is_person_fact(column) and (value := str(cell).strip())
    )


def _personas(name: str, lines: Iterable[_Line]) -> tuple[Context, ...]:
    """The personas of the filled lines, checked and each with a code."""
    entries = [
        ContextLine(
            number,
            Context(
                cells.get("code", "").strip(),
                cells["text"].strip(),
                language=language_code(cells.get("language", "")),
                variant_of=cells.get("variant_of", "").strip(),
                facts=_facts(cells),
                translations=_sorted(
                    name,
                    number,
                    {
                        column.removeprefix(TEXT_IN): cell
                        for column, cell in cells.items()
                        if _is_translation(column)
                    },
                ),
            ),
        )
        for number, cells in lines
        if any(cells[column].strip() for column in cells if _is_code_or_text(column))
    ]
    if not entries:
        raise FileError(f"{name}: there is no persona.", "Write one persona on each line.")
    personas = _with_codes(name, entries, "p")
    texts = [
        (entry.line, "\n".join((entry.context.text, *map("=".join, entry.context.translations))))
        for entry in entries
    ]
    _refuse_repeats(name, "text", texts)
    return personas
