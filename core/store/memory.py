"""What a person was typing, and the persona sets they keep."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from core.domain.study import Context
from core.store.database import Database

_REMEMBER = """
insert into page_memory values (?, now(), ?)
on conflict (name) do update set saved_at = excluded.saved_at, value = excluded.value
"""
_RECALL = "select value, saved_at from page_memory where name = ?"
_SAVE_SET = """
insert into persona_set values (?, now(), ?)
on conflict (name) do update set saved_at = excluded.saved_at, body = excluded.body
"""
_SETS = "select name, body from persona_set order by name"


def remember(database: Database, name: str, value: Any) -> None:
    """Keep a JSON value under a name."""
    with database.transaction() as cursor:
        cursor.execute(_REMEMBER, [name, json.dumps(value, ensure_ascii=False)])


def recall(database: Database, name: str) -> tuple[Any, datetime] | None:
    """The value kept under a name and when it was saved, or None."""
    row = database.row(_RECALL, [name])
    return (json.loads(row[0]), row[1]) if row else None


def save_persona_set(database: Database, name: str, contexts: tuple[Context, ...]) -> None:
    """Keep a set of personas; one of the same name is replaced. Studies hold their own copy."""
    body = json.dumps([{"code": c.code, "text": c.text} for c in contexts], ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_SAVE_SET, [name, body])


def persona_sets(database: Database) -> dict[str, tuple[Context, ...]]:
    """Every persona set, by name."""
    return {
        name: tuple(Context(c["code"], c["text"]) for c in json.loads(body))
        for name, body in database.rows(_SETS)
    }
