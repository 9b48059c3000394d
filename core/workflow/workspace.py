"""The open database with what belongs to this process: its collector and its keys.

One workspace per database file and process, whatever Streamlit caches, clears or reruns: a second
connection or a second collector would break "a trial is answered at most once".
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from core import settings
from core.collect.endpoints import KeyRing
from core.errors import UserError
from core.files.instrument_files import read_instrument
from core.store import banks as bank_store
from core.store import memory, respondents
from core.store.database import Database


@dataclass(eq=False)
class Workspace:
    """What every workflow function works on. Pages pass it on; they do not look inside."""

    database: Database
    data_directory: Path
    keys: KeyRing = field(default_factory=KeyRing)
    secrets: dict[str, str] = field(default_factory=dict)  # from the page; process memory only
    process: str = field(default_factory=lambda: uuid.uuid4().hex)

    def with_keys(self, keys: KeyRing) -> Workspace:
        """The same database and collector, with the keys of a browser session or of a run."""
        return replace(self, keys=keys)

    def close(self) -> None:
        """Release the database file."""
        with _lock:
            for path, workspace in list(_open.items()):
                if workspace is self:
                    del _open[path]
        self.database.close()


_STARTER_SETS = {
    "Starter personas": "personas_25.csv",
    "Personas (60)": "personas_60.csv",
    "Conversations (40)": "conversations_40.jsonl",
}
_FILLED = "starters"
"""Under this name the database remembers that all it starts with was put in."""
_open: dict[str, Workspace] = {}
_lock = threading.Lock()


def open_workspace(path: Path | str | None = None) -> Workspace:
    """The workspace of a database file, opened and filled with starter banks the first time."""
    configured = settings.from_environment()
    place = str(path or configured.database)
    with _lock:
        if place not in _open:
            database = Database(place, memory_limit=configured.memory_limit)
            workspace = Workspace(database, configured.data_directory)
            try:
                _fill(workspace)
            except BaseException:
                database.close()
                raise
            _open[place] = workspace
        return _open[place]


def offer_secrets(workspace: Workspace, secrets: Mapping[str, str]) -> None:
    """Let keys that a page found in its secrets file be used by this process."""
    workspace.secrets.update(secrets)


def key_for(workspace: Workspace, base_url: str, key_variable: str) -> str | None:
    """The key to send to an address: typed for it, or from secrets or the environment."""
    return workspace.keys.find(base_url, key_variable, {**os.environ, **workspace.secrets})


def _fill(workspace: Workspace) -> None:
    """Put in starter banks, contexts and the two respondents that need no account; all or nothing.

    An earlier Inkblot could be killed in between: what such a database lacks is put in once. What
    a user has changed or archived is there, and stays as it is.
    """
    from core.workflow import contexts
    from core.workflow.sample import STARTER_RESPONDENTS

    database = workspace.database
    if memory.recall(database, _FILLED):
        return
    with database.all_or_nothing():
        _fill_banks(workspace)
        known = {respondent.label for respondent, _ in respondents.on_shelf(database)}
        for respondent in STARTER_RESPONDENTS:
            if respondent.label not in known:
                respondents.shelve(database, respondent)
        sets = contexts.sets(workspace)
        for name, file_name in _STARTER_SETS.items():
            if name not in sets:
                data = (workspace.data_directory / file_name).read_bytes()
                found = contexts.read(file_name, data)
                contexts.save(workspace, name, found, made="Comes with Inkblot")
        memory.remember(database, _FILLED, True)


def _fill_banks(workspace: Workspace) -> None:
    known = {state.instrument.code for state in bank_store.drafts(workspace.database)}
    for file in sorted((workspace.data_directory / "banks").glob("*.csv")):
        draft = read_instrument(file.name, file.read_bytes())
        if draft.errors:
            raise UserError(f"The starter bank {file.name} is damaged.", "Install Inkblot again.")
        if draft.instrument.code not in known:
            bank_store.save_draft(
                workspace.database, draft.instrument, expected_revision=None, summary="Starter bank"
            )
