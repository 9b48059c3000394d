"""How studies stand in lists: another name, archived, deleted, and back again.

Nothing of a plan or an answer changes. A deleted study is in no list, and its answers stay in the
database, so that it can be brought back.
"""

from __future__ import annotations

from core.domain.numbers import count_text
from core.domain.values import name_fault
from core.errors import DesignError
from core.store import imports
from core.store import studies as store
from core.store.studies import Place, StudyRecord
from core.workflow.runs import control
from core.workflow.workspace import Workspace

__all__ = ["Place", "move", "put_away", "rename"]

_MOST_CHARACTERS = 80
_DONE: dict[Place, str] = {
    "listed": "Brought back to the lists",
    "archived": "Archived",
    "deleted": "Deleted",
}


def put_away(workspace: Workspace) -> tuple[StudyRecord, ...]:
    """Studies that were archived or deleted, oldest first."""
    every = store.studies(workspace.database, put_away=True)
    return tuple(record for record in every if record.place != "listed")


def rename(workspace: Workspace, study: str, title: str) -> StudyRecord:
    """Show a study under another name; an empty one gives it back that which it was made with.

    Files, addresses and commands keep the first name, as the ids of its questions are made of it.

    Raises
    ------
    DesignError
        The name cannot be shown, is too long, or is that of another study.
    """
    record = store.get(workspace.database, study)
    title = title.strip()
    if title == record.code:
        title = ""
    if title and (fault := name_fault(title)):
        raise DesignError(f"The name of the study {fault}.", "Type another name.")
    if len(title) > _MOST_CHARACTERS:
        raise DesignError(
            f"The name has {count_text(len(title), 'character')}.",
            f"Type at most {_MOST_CHARACTERS}.",
        )
    if title == record.title:
        return record
    if title and store.is_there(workspace.database, title):
        raise DesignError(f"There is a study called '{title}' already.", "Type another name.")
    what = f"Renamed to {title}" if title else "Given back its first name"
    _shelve(workspace, record, title, record.place, what)
    return store.get(workspace.database, study)


def move(workspace: Workspace, study: str, place: Place) -> None:
    """Archive a study, delete it, or bring it back.

    Raises
    ------
    DesignError
        It is to be put away while it is asked or imported.
    """
    record = store.get(workspace.database, study)
    if place == record.place:
        return
    if place != "listed":
        _refuse_unfinished(workspace, record)
    _shelve(workspace, record, record.title, place, _DONE[place])


def _refuse_unfinished(workspace: Workspace, record: StudyRecord) -> None:
    if any(event.study == record.code for event in imports.unfinished_imports(workspace.database)):
        raise DesignError(
            f"The import into the study '{record.code}' is not finished.",
            "Finish it, or undo it, on Import and export.",
        )
    if record.kind == "imported":
        return
    if any(run.under_way for run in control.list_runs(workspace) if run.study == record.code):
        raise DesignError(
            f"The study '{record.code}' is being asked at this moment.",
            "Pause it on Collect first.",
        )
    if control.progress(workspace, record.code).n_out:
        raise DesignError(
            f"Calls of the study '{record.code}' are out in a batch.",
            "Import their replies, or give the batch up, on Collect first.",
        )


def _shelve(workspace: Workspace, record: StudyRecord, title: str, place: Place, what: str) -> None:
    store.shelve(workspace.database, record, title, place, member=workspace.name, what=what)
