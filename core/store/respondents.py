"""Respondents: models with their settings. Rows are values; the shelf says which are on offer."""

from __future__ import annotations

import json

from core.domain.json_values import plain
from core.domain.study import RESPONDENT, Respondent
from core.store.database import Database

_ADD = "insert into respondent values (?, ?, ?, ?, ?, now()) on conflict do nothing"
_SHELVE = """
insert into respondent_shelf values (?, ?, false)
on conflict (label) do update set respondent_id = excluded.respondent_id, archived = false
"""
_LIST = """
select r.body, s.archived from respondent_shelf s join respondent r using (respondent_id)
order by s.label
"""
_GET = "select body from respondent where respondent_id = ?"
_ARCHIVE = "update respondent_shelf set archived = ? where label = ?"


def add(database: Database, respondent: Respondent) -> None:
    """Keep a respondent as a value, without offering it on the design page."""
    with database.transaction() as cursor:
        cursor.execute(_ADD, _row(respondent))


def shelve(database: Database, respondent: Respondent) -> None:
    """Offer a respondent; one of the same label is replaced, for studies yet to come."""
    with database.transaction() as cursor:
        cursor.execute(_ADD, _row(respondent))
        cursor.execute(_SHELVE, [respondent.label, respondent.respondent_id])


def set_archived(database: Database, label: str, archived: bool) -> None:
    """Take a respondent off the shelf, or put it back."""
    with database.transaction() as cursor:
        cursor.execute(_ARCHIVE, [archived, label])


def on_shelf(database: Database) -> tuple[tuple[Respondent, bool], ...]:
    """Every respondent on offer with whether it is archived, by label."""
    return tuple(
        (RESPONDENT.validate_json(body), archived) for body, archived in database.rows(_LIST)
    )


def get(database: Database, respondent_id: int) -> Respondent:
    """A respondent as it was when a study used it."""
    row = database.row(_GET, [respondent_id])
    if row is None:
        raise KeyError(respondent_id)
    return RESPONDENT.validate_json(row[0])


def _row(respondent: Respondent) -> list[object]:
    body = json.dumps(plain(respondent), ensure_ascii=False)
    return [
        respondent.respondent_id, respondent.label, respondent.kind, respondent.model, body,
    ]  # fmt: skip
