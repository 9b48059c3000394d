"""Opening a database file, and filling a new one with what comes with Inkblot.

One workspace per database file and process, whatever Streamlit caches, clears or reruns: a second
connection or a second collector would break "a trial is answered at most once". Pages and the
command line open workspaces here; no verb does.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  # registers its own end first, so that ours is before
import logging
import threading
from pathlib import Path

from core import settings
from core.domain.numbers import count_text
from core.errors import UserError
from core.store import database_file, orphans, saved_inputs
from core.store.database import Database
from core.workflow.workspace import Workspace

log = logging.getLogger(__name__)

_STARTER_SETS = {
    "Starter personas": "personas_25.csv",
    "Personas (60)": "personas_60.csv",
    "Conversations (40)": "conversations_40.jsonl",
}
_FILLED_MARK = "starters"
"""Under this name the database remembers that all it starts with was put in."""
_NOTICES = "notices"
_CALLS_S, _QUERIES_S = 4.0, 2.0  # together less than start.py grants before it ends the process
_open: dict[str, Workspace] = {}
_lock = threading.Lock()


def open_workspace(path: Path | str | None = None) -> Workspace:
    """The workspace of a database file, opened and filled with starter banks the first time."""
    configured = settings.from_environment()
    place = str(path or configured.database)
    with _lock:
        if place not in _open or _open[place].database.closed:
            database = Database(place, memory_limit=configured.memory_limit)
            workspace = Workspace(database, configured.data_directory)
            try:
                _fill(workspace)
                _set_orphans_aside(database)
                _keep_notices(database)
            except BaseException:
                database.close()
                raise
            _open[place] = workspace
        return _open[place]


def _set_orphans_aside(database: Database) -> None:
    """Take rows without a study out, after a backup that has them.

    A new study of the same name would take them for its own.
    """
    found = orphans.find(database)
    if not found:
        return
    kept = database_file.backup_path(database.path, "with-rows-of-no-study")
    database.copy_to(kept)
    orphans.remove(database, found)
    n_answers = found.get("response", 0)
    database.notices.append(
        f"{count_text(n_answers, 'answer')} and {sum(found.values()) - n_answers:,} other rows "
        f"belonged to no study and were taken out. The database as it was is kept as {kept}."
    )


def _keep_notices(database: Database) -> None:
    """Keep what opening the file did for the page Home: the opener may be another process."""
    if database.notices:
        kept = saved_inputs.page_input(database, _NOTICES)
        before = kept[0] if kept else []
        saved_inputs.save_page_input(database, _NOTICES, [*before, *database.notices])


def notices(workspace: Workspace) -> list[str]:
    """What was done to the database file beside opening it, and nobody has said to have read."""
    kept = saved_inputs.page_input(workspace.database, _NOTICES)
    return list(kept[0]) if kept else []


def forget_notices(workspace: Workspace) -> None:
    """What was done to the file has been read."""
    saved_inputs.save_page_input(workspace.database, _NOTICES, [])


def close_all() -> None:
    """End all runs, and leave nothing in the log beside a file, so that a copy is complete."""
    for workspace in _open.values():
        if not workspace.database.closed:
            for sentence in workspace.close(calls_s=_CALLS_S, queries_s=_QUERIES_S):
                log.error("%s", sentence)


# Python ends the threads that asyncio writes with before it calls what atexit has.
getattr(threading, "_register_atexit", atexit.register)(close_all)


def _fill(workspace: Workspace) -> None:
    """Put in starter banks, contexts and the two respondents that need no account; all or nothing.

    An earlier Inkblot could be killed in between: what such a database lacks is put in once. What
    a user has changed or archived is there, and stays as it is.
    """
    database = workspace.database
    if saved_inputs.page_input(database, _FILLED_MARK):
        return
    from core.files.contexts import read_contexts
    from core.store import respondents
    from core.workflow.contexts import sets as contexts
    from core.workflow.respondents.catalog import STARTER_RESPONDENTS

    with database.all_or_nothing():
        _fill_banks(workspace)
        known = {respondent.label for respondent, _ in respondents.offered_respondents(database)}
        for respondent in STARTER_RESPONDENTS:
            if respondent.label not in known:
                respondents.offer(database, [respondent])
        sets = contexts.load_all(workspace)
        for name, file_name in _STARTER_SETS.items():
            if name not in sets:
                data = (workspace.data_directory / file_name).read_bytes()
                contexts_of_file = read_contexts(file_name, data)
                contexts.save(workspace, name, contexts_of_file, made="Comes with Inkblot")
        saved_inputs.save_page_input(database, _FILLED_MARK, True)


def _fill_banks(workspace: Workspace) -> None:
    from core.files.banks.reading import read_instrument
    from core.store import banks as bank_store

    known = set(bank_store.codes(workspace.database))
    for file in sorted((workspace.data_directory / "banks").glob("*.csv")):
        draft = read_instrument(file.name, file.read_bytes())
        if draft.errors:
            raise UserError(f"The starter bank {file.name} is damaged.", "Install Inkblot again.")
        if draft.instrument.code not in known:
            bank_store.save_draft(
                workspace.database,
                draft.instrument,
                expected_revision=None,
                summary=bank_store.AS_IT_CAME,
            )
