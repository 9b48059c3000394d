"""The log of a study, which says who did what: a part of what is done, or it is not done."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from core.files.writing import csv_bytes
from core.store import studies
from core.store import study_log as store
from core.store.study_log import LogEntry
from core.workflow.workspace import Workspace


@contextmanager
def logged(workspace: Workspace, study: str, what: str) -> Generator[None, None, None]:
    """All of a change of a study, with its entry in the log, or nothing of both."""
    record = studies.get(workspace.database, study)
    with workspace.database.all_or_nothing():
        yield
        store.add_entry(workspace.database, record.study_id, workspace.name, what)


def add(workspace: Workspace, study_id: int, what: str) -> None:
    """Append an entry, within the transaction of what it tells of."""
    store.add_entry(workspace.database, study_id, workspace.name, what)


def entries(workspace: Workspace, study: str) -> tuple[LogEntry, ...]:
    """The log, newest first."""
    return store.entries(workspace.database, studies.get(workspace.database, study).study_id)


def as_csv(workspace: Workspace, study: str) -> bytes:
    """The log as a file: `done_at` in ISO 8601, `member`, `what`."""
    rows = ((e.done_at.isoformat(), e.member, e.what) for e in entries(workspace, study))
    return csv_bytes([("done_at", "member", "what"), *rows])
