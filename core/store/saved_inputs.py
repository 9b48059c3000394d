"""Inputs that users save: unfinished entries of pages, and sets of contexts."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from core.domain.characters import readable_json
from core.domain.recipes import RECIPE, Recipe
from core.domain.study import CONTEXTS, Context, as_json_values
from core.domain.values import json_value
from core.store.database import Database

_SAVE_PAGE_INPUT = """
insert into page_memory values (?, now(), ?)
on conflict (name) do update set saved_at = excluded.saved_at, value = excluded.value
"""
_PAGE_INPUT = "select value, saved_at from page_memory where name = ?"
_SAVE_MEMBER_INPUT = """
insert into member_memory values (?, ?, now(), ?)
on conflict (member, name) do update set saved_at = excluded.saved_at, value = excluded.value
"""
_MEMBER_INPUT = "select value, saved_at from member_memory where member = ? and name = ?"
_SAVE_CONTEXT_SET = """
insert into persona_set values (?, now(), ?)
on conflict (name) do update set saved_at = excluded.saved_at, body = excluded.body
"""
_CONTEXT_SET = "select body from persona_set where name = ?"
_CONTEXT_SET_NAMES = "select name from persona_set order by name"
_CONTEXT_SETS = "select name, body from persona_set order by name"
_FORGET_RECIPE = "delete from context_recipe where set_name = ?"
_SAVE_RECIPE = "insert into context_recipe values (?, now(), ?)"
_RECIPES = "select set_name, body from context_recipe order by set_name"


def save_page_input(database: Database, name: str, value: Any) -> None:
    """Save a JSON value, such as the fields of a form, under a name."""
    body = readable_json(json.dumps(value, ensure_ascii=False))
    with database.transaction() as cursor:
        cursor.execute(_SAVE_PAGE_INPUT, [name, body])


def page_input(database: Database, name: str) -> tuple[Any, datetime] | None:
    """The value saved under a name and the time of saving, or None."""
    row = database.row(_PAGE_INPUT, [name])
    return (json.loads(row[0]), row[1]) if row else None


def save_member_input(database: Database, member: str, name: str, value: Any) -> None:
    """Save a JSON value of one member of a lab under a name."""
    body = readable_json(json.dumps(value, ensure_ascii=False))
    with database.transaction() as cursor:
        cursor.execute(_SAVE_MEMBER_INPUT, [member, name, body])


def member_input(database: Database, member: str, name: str) -> tuple[Any, datetime] | None:
    """The value that a member saved under a name and the time of saving, or None."""
    row = database.row(_MEMBER_INPUT, [member, name])
    return (json.loads(row[0]), row[1]) if row else None


def save_context_set(database: Database, name: str, contexts: tuple[Context, ...]) -> None:
    """Save a set of contexts; it replaces one of the same name. Studies hold their own copy."""
    body = readable_json(json.dumps(as_json_values(contexts), ensure_ascii=False))
    with database.transaction() as cursor:
        cursor.execute(_SAVE_CONTEXT_SET, [name, body])


def context_set(database: Database, name: str) -> tuple[Context, ...] | None:
    """One set of contexts; None where there is none of that name."""
    row = database.row(_CONTEXT_SET, [name])
    return CONTEXTS.validate_json(row[0]) if row else None


def context_set_names(database: Database) -> tuple[str, ...]:
    """The names of all sets of contexts."""
    return tuple(name for (name,) in database.rows(_CONTEXT_SET_NAMES))


def context_sets(database: Database) -> dict[str, tuple[Context, ...]]:
    """Every set of contexts, by name."""
    return {name: CONTEXTS.validate_json(body) for name, body in database.rows(_CONTEXT_SETS)}


def save_recipe(database: Database, name: str, recipe: Recipe | None) -> None:
    """Save how a set of contexts was chosen from a corpus; None: it was made in another way."""
    with database.transaction() as cursor:
        cursor.execute(_FORGET_RECIPE, [name])
        if recipe is not None:
            body = json.dumps(json_value(recipe), ensure_ascii=False)
            cursor.execute(_SAVE_RECIPE, [name, body])


def recipes(database: Database) -> dict[str, Recipe]:
    """The recipes of the sets that were chosen from a corpus, by the name of the set."""
    return {name: RECIPE.validate_json(body) for name, body in database.rows(_RECIPES)}
