"""Question banks: working copies with their revisions, and published versions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import pyarrow as pa

from core.domain.characters import readable_json
from core.domain.instrument import (
    ATTRIBUTE_FIELDS,
    INSTRUMENT,
    Instrument,
    Item,
    Kind,
    to_dict,
    value_text,
)
from core.domain.instrument import content_hash as hash_of
from core.domain.values import stable_id
from core.errors import BankError, ConflictError
from core.store.database import Database, insert

# A published version as rows of tables, for joins with answers.

_KEY, _TEXT, _SIGN = pa.int64(), pa.string(), pa.int8()
FIELD_TYPES = {
    "subscale": _TEXT,
    "keyed": _SIGN,
    "pair": _TEXT,
    "genre": _TEXT,
    "rank": pa.int32(),
}
"""The facts about an item that are columns of the table `item`; a later one is an attribute there,
and needs no migration."""


def item_id(instrument_id: int, code: str) -> int:
    """Key of an item of a published version."""
    return stable_id("item", instrument_id, code)


def _version_tables(instrument_id: int, content: Instrument) -> Iterator[tuple[str, pa.Table]]:
    """The tables that hold the parts of a version, by name, with their rows."""
    items = [(item_id(instrument_id, item.code), item) for item in content.items]
    yield "item", _item_table(instrument_id, items)
    yield "wording", _wording_table(items)
    yield "item_loading", _sign_table("domain", "loading", [(key, i.loadings) for key, i in items])
    yield "item_position", _sign_table("party", "answer", [(key, i.positions) for key, i in items])
    yield (
        "item_direction",
        _sign_table("form", "direction", [(key, i.directions) for key, i in items]),
    )
    yield "item_attribute", _attribute_table(items)
    yield "answer_format", _format_table(instrument_id, content)
    yield "answer_option", _option_table(instrument_id, content)


def _item_table(instrument_id: int, items: Sequence[tuple[int, Item]]) -> pa.Table:
    rows = [
        (key, instrument_id, place, i.code, *(getattr(i, name) for name in FIELD_TYPES))
        for place, (key, i) in enumerate(items, 1)
    ]
    place = {"item_id": _KEY, "instrument_id": _KEY, "position": pa.int32(), "code": _TEXT}
    return _table(place | FIELD_TYPES, rows)


def _wording_table(items: Sequence[tuple[int, Item]]) -> pa.Table:
    rows = [
        (key, w.language, w.form, w.text, w.mood, w.drafted_by)
        for key, item in items
        for w in item.wordings
    ]
    names = ("language", "form", "text", "mood", "drafted_by")
    return _table({"item_id": _KEY, **dict.fromkeys(names, _TEXT)}, rows)


def _sign_table(key_column: str, value_column: str, items: Sequence[tuple[int, Any]]) -> pa.Table:
    rows = [(key, name, mark) for key, marks in items for name, mark in marks.items()]
    return _table({"item_id": _KEY, key_column: _TEXT, value_column: _SIGN}, rows)


def _attribute_table(items: Sequence[tuple[int, Item]]) -> pa.Table:
    later = [name for name in ATTRIBUTE_FIELDS if name not in FIELD_TYPES]
    rows = [
        (key, name, value_text(value), None if isinstance(value, str) else float(value))
        for key, item in items
        for name, value in (
            *((name, getattr(item, name)) for name in later if item.attribute(name)),
            *item.attributes.items(),
        )
    ]
    types = {"item_id": _KEY, "name": _TEXT, "text": _TEXT, "number": pa.float64()}
    return _table(types, rows)


def _format_table(instrument_id: int, content: Instrument) -> pa.Table:
    rows = [(instrument_id, f.code, f.midpoint, f.mood) for f in content.formats]
    names = ("format", "midpoint", "mood")
    return _table({"instrument_id": _KEY, **dict.fromkeys(names, _TEXT)}, rows)


def _option_table(instrument_id: int, content: Instrument) -> pa.Table:
    rows = [
        (instrument_id, f.code, position, option.code, option.points, option.stance)
        for f in content.formats
        for position, option in enumerate(f.options, 1)
    ]
    return _table(
        {
            "instrument_id": _KEY,
            "format": _TEXT,
            "position": pa.int32(),
            "code": _TEXT,
            "points": pa.float64(),
            "stance": _SIGN,
        },
        rows,
    )


def _table(types: dict[str, pa.DataType], rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types.values(), strict=True)]
    return pa.table(arrays, names=list(types))


# Working copies and published versions.

KEPT_REVISIONS = 200

_HEADS = """
select h.code, h.archived, d.revision, d.parent, d.saved_at, d.body
from draft_head h join draft d on d.code = h.code and d.revision = h.revision
where h.code = coalesce(?, h.code)
order by h.code
"""
_CODES = "select code from draft_head order by code"
_LINES = """
select h.code, h.archived, d.saved_at, d.revision, coalesce(v.n, 0), coalesce(v.used_in, ''),
    d.summary
from draft_head h join draft d on d.code = h.code and d.revision = h.revision
left join (
    select i.code, count(distinct i.instrument_id) as n,
        string_agg(distinct s.code, ', ' order by s.code) as used_in
    from instrument i left join study s on s.instrument_id = i.instrument_id group by i.code
) v on v.code = h.code
order by h.code
"""
_FACTS = """
select code, revision, body->>'title', coalesce(body->>'kind', 'items'),
    coalesce(json_array_length(body->'items'), 0),
    coalesce(from_json(body->'languages', '["varchar"]'), ['en']),
    len(list_filter(
        json_extract_string(body, '$.items[*].wordings[*].drafted_by'), lambda name: name <> ''
    )),
    coalesce(json_array_length(body->'formats'), 0) > 0 and len(list_filter(
        json_extract_string(body, '$.items[*].wordings[*].text'), lambda text: trim(text) <> ''
    )) > 0
from draft semi join (
    select unnest(?::varchar[]) as code, unnest(?::integer[]) as revision
) using (code, revision)
"""
_NEXT_REVISION = "select coalesce(max(revision), 0) + 1 from draft where code = ?"
_ADD_DRAFT = "insert into draft values (?, ?, ?, now(), ?, ?)"
_MOVE_HEAD = """
insert into draft_head values (?, ?, false)
on conflict (code) do update set revision = excluded.revision
"""
_FORGET_OLD = "delete from draft where code = ? and revision <= ? and revision <> ?"
_ARCHIVE = "update draft_head set archived = ? where code = ?"
_CHILD = "select max(revision) from draft where code = ? and parent = ?"
_PARENT = """
select p.revision from draft d join draft p on p.code = d.code and p.revision = d.parent
where d.code = ? and d.revision = ?
"""
_VERSIONS = """
select i.version, i.published_at, i.content_hash, i.instrument_id,
    coalesce((select string_agg(s.code, ', ' order by s.code) from study s
              where s.instrument_id = i.instrument_id), '') as used_in
from instrument i where i.code = ? order by i.version
"""
_BODY = "select body from instrument where instrument_id = ?"
_ADD_INSTRUMENT = "insert into instrument values (?, ?, ?, ?, now(), ?)"


@dataclass(frozen=True)
class DraftState:
    """The working copy of a bank."""

    instrument: Instrument
    revision: int
    saved_at: datetime
    can_undo: bool
    can_redo: bool
    archived: bool


@dataclass(frozen=True)
class Version:
    """A published, immutable state of a bank."""

    version: int
    published_at: datetime
    content_hash: str
    instrument_id: int
    used_in: str  # study codes, comma-separated


@dataclass(frozen=True)
class BankLine:
    """A bank in a list: what can be said of it without reading its items one by one.

    `used_in` are the studies that use a version of it, `n_unreviewed` its texts that a model
    drafted and nobody has reviewed. One without any text or options cannot be asked. `last_edit`
    says what was done last.
    """

    code: str
    title: str
    kind: Kind
    n_items: int
    languages: tuple[str, ...]
    n_unreviewed: int
    can_be_asked: bool
    saved_at: datetime
    archived: bool
    n_versions: int
    used_in: str
    last_edit: str


AS_IT_CAME = "Starter bank"
"""What was done last to a bank of Inkblot that nobody has edited."""
_MOST_FACTS = 50_000
_facts: dict[tuple[str, int, datetime], tuple[str, Kind, int, tuple[str, ...], int, bool]] = {}
"""What lists say of the working copies that were looked at, by code, revision and time."""


def lines(database: Database) -> list[BankLine]:
    """Every bank for a list, archived ones included, by code; each revision is read once."""
    heads = database.rows(_LINES)
    keys = {(code, revision): saved_at for code, _, saved_at, revision, *_ in heads}
    new = [key for key, saved_at in keys.items() if (*key, saved_at) not in _facts]
    if len(_facts) > _MOST_FACTS:
        _facts.clear()
        new = list(keys)
    if new:
        codes, revisions = zip(*new, strict=True)
        for code, revision, title, kind, n_items, languages, *others in database.rows(
            _FACTS, [list(codes), list(revisions)]
        ):
            about = (title, kind, n_items, tuple(languages), *others)
            _facts[code, revision, keys[code, revision]] = about
    return [
        BankLine(code, *_facts[code, revision, saved_at], saved_at, archived, *others)
        for code, archived, saved_at, revision, *others in heads
    ]


def codes(database: Database) -> list[str]:
    """The codes of all banks, archived ones included."""
    return [code for (code,) in database.rows(_CODES)]


def drafts(database: Database) -> Iterator[DraftState]:
    """Every working copy, archived ones included, by code; one at a time is in memory."""
    for code in codes(database):
        if state := draft(database, code):
            yield state


def draft(database: Database, code: str) -> DraftState | None:
    """The working copy of one bank."""
    row = database.row(_HEADS, [code])
    return _state(database, row) if row else None


def save_draft(
    database: Database, instrument: Instrument, *, expected_revision: int | None, summary: str
) -> DraftState:
    """Save a new revision of the working copy.

    Raises
    ------
    ConflictError
        Another tab has saved a revision after `expected_revision`. Nothing is changed.
    """
    body = readable_json(json.dumps(to_dict(instrument), ensure_ascii=False))
    code = instrument.code
    with database.transaction() as cursor:
        head = cursor.execute("select revision from draft_head where code = ?", [code]).fetchone()
        current_revision = head[0] if head else None
        if current_revision != expected_revision:
            raise ConflictError(
                f"Bank '{code}' was changed in another tab or window meanwhile.",
                "Reload the page to see the newer state, then make your change again.",
            )
        (revision,) = cursor.execute(_NEXT_REVISION, [code]).fetchone() or (1,)
        cursor.execute(_ADD_DRAFT, [code, revision, current_revision, summary, body])
        cursor.execute(_MOVE_HEAD, [code, revision])
        cursor.execute(_FORGET_OLD, [code, revision - KEPT_REVISIONS, revision])
    return _existing_draft(database, code)


def undo(database: Database, code: str) -> DraftState:
    """Go back to the state before the last save."""
    return _move(database, code, _PARENT, "There is nothing to undo.")


def redo(database: Database, code: str) -> DraftState:
    """Go forward again after an undo."""
    return _move(database, code, _CHILD, "There is nothing to redo.")


def set_archived(database: Database, code: str, archived: bool) -> None:
    """Hide a bank from the lists, or bring it back. Nothing is deleted."""
    with database.transaction() as cursor:
        cursor.execute(_ARCHIVE, [archived, code])


def versions(database: Database, code: str) -> tuple[Version, ...]:
    """Published versions of a bank, oldest first."""
    return tuple(Version(*row) for row in database.rows(_VERSIONS, [code]))


def instrument(database: Database, instrument_id: int) -> Instrument:
    """The content of a published version."""
    row = database.row(_BODY, [instrument_id])
    if row is None:
        raise BankError("This version of the bank is not in the database.", "Choose another one.")
    return _bank_of_json(row[0])


def publish(database: Database, content: Instrument) -> Version:
    """The version that holds `content`: the newest if it is the same, else a new one."""
    known = versions(database, content.code)
    content_hash = hash_of(content)
    if known and known[-1].content_hash == content_hash:
        return known[-1]
    number = known[-1].version + 1 if known else 1
    instrument_id = stable_id("instrument", content.code, number, content_hash)
    body = json.dumps(to_dict(content), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_ADD_INSTRUMENT, [instrument_id, content.code, number, content_hash, body])
        for name, table in _version_tables(instrument_id, content):
            insert(cursor, name, table)
    return versions(database, content.code)[-1]


@lru_cache(maxsize=128)
def _bank_of_json(body: str) -> Instrument:
    """The bank of a JSON text; a list of words takes a tenth of a second, and pages ask often."""
    return INSTRUMENT.validate_json(body)


def _state(database: Database, row: tuple[str, bool, int, int | None, datetime, str]) -> DraftState:
    code, archived, revision, _, saved_at, body = row
    child = database.row(_CHILD, [code, revision])
    parent = database.row(_PARENT, [code, revision])
    can_redo = bool(child and child[0])
    return DraftState(
        _bank_of_json(body), revision, saved_at, parent is not None, can_redo, archived
    )


def _existing_draft(database: Database, code: str) -> DraftState:
    state = draft(database, code)
    if state is None:
        raise BankError(f"There is no bank '{code}'.", "Choose one from the list.")
    return state


def _move(database: Database, code: str, query: str, refusal: str) -> DraftState:
    current = _existing_draft(database, code)
    row = database.row(query, [code, current.revision])
    if not row or row[0] is None:
        raise BankError(refusal, "Go on editing.")
    with database.transaction() as cursor:
        cursor.execute(_MOVE_HEAD, [code, row[0]])
    return _existing_draft(database, code)
