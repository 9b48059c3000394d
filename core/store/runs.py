"""What was asked of the collector and what it reports: an append-only list of events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.store.database import Database

_ADD = """
insert into run_event (study_id, reported_at, kind, process, detail) values (?, now(), ?, ?, ?)
returning number
"""
_LAST = """
select kind, process, detail, reported_at from run_event
where study_id = ? order by number desc limit 1
"""
_START_ONCE = """
insert into run_event (study_id, reported_at, kind, process, detail)
select ?, now(), 'start', ?, ?
where not exists (
    select 1 from (select kind, process from run_event
                   where study_id = ? order by number desc limit 1)
    where process = ? and kind in ('start', 'running', 'pause', 'stop')
)
returning number
"""
_QUEUE = """
select study_id, detail from (
    select *, row_number() over (partition by study_id order by number desc) as place
    from run_event
) where place = 1 and kind = 'start' and process = ? order by number
"""
_LATEST = """
select study_id, kind, process, detail, reported_at from (
    select *, row_number() over (partition by study_id order by number desc) as place
    from run_event
) where place = 1
"""
_PAUSED = "select detail from run_event where study_id = ? and kind = 'paused'"
_HISTORY = """
select reported_at, kind, detail from run_event where study_id = ? order by number desc limit ?
"""


@dataclass(frozen=True)
class RunEvent:
    """The newest thing known about the run of a study.

    `kind` is a request (start, pause, stop) or a report (running, paused, stopped, finished).
    """

    kind: str
    process: str
    detail: Mapping[str, Any]
    at: datetime


def report(
    database: Database, study_id: int, kind: str, process: str, detail: Mapping[str, Any]
) -> int:
    """Append an event; returns its number."""
    with database.transaction() as cursor:
        row = cursor.execute(_ADD, [study_id, kind, process, json.dumps(dict(detail))]).fetchone()
    return int(row[0]) if row else 0


def request_start(
    database: Database, study_id: int, process: str, detail: Mapping[str, Any]
) -> bool:
    """Ask for a run; False where this process has one queued or under way already."""
    with database.transaction() as cursor:
        row = cursor.execute(
            _START_ONCE, [study_id, process, json.dumps(dict(detail)), study_id, process]
        ).fetchone()
    return row is not None


def last(database: Database, study_id: int) -> RunEvent | None:
    """The newest event of a study, or None where it was never started."""
    row = database.row(_LAST, [study_id])
    return RunEvent(row[0], row[1], json.loads(row[2]), row[3]) if row else None


def latest(database: Database) -> dict[int, RunEvent]:
    """The newest event of every study that was ever started, by study id."""
    return {
        row[0]: RunEvent(row[1], row[2], json.loads(row[3]), row[4])
        for row in database.rows(_LATEST)
    }


def queued(database: Database, process: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Studies this process was asked to run and has not begun, first asked first."""
    return [(row[0], json.loads(row[1])) for row in database.rows(_QUEUE, [process])]


def has_paused_for(database: Database, study_id: int, cause: str) -> bool:
    """Whether a run of the study has ever paused for that cause."""
    found = database.rows(_PAUSED, [study_id])
    return any(json.loads(detail).get("cause") == cause for (detail,) in found)


def history(database: Database, study_id: int, limit: int = 20) -> list[tuple[datetime, str, Any]]:
    """Newest events of a study first."""
    rows = database.rows(_HISTORY, [study_id, limit])
    return [(at, kind, json.loads(detail)) for at, kind, detail in rows]
