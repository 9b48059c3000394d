"""The open database with what belongs to this process: its keys and its data directory.

Every verb takes a workspace; the workspace knows no verb. core.workflow.opening opens one.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from core import settings
from core.collect import endpoints
from core.collect.endpoints import KeyRing
from core.domain.members import Member
from core.store.database import Database
from core.workflow import members

ENDING_S = 10.0
"""How long calls under way are waited for where a command ends, in seconds."""


@dataclass(eq=False)
class Workspace:
    """What every workflow function works on. Pages pass it on; they do not look inside."""

    database: Database
    data_directory: Path
    keys: KeyRing = field(default_factory=KeyRing)
    secrets: dict[str, str] = field(default_factory=dict)  # from the page; process memory only
    process: str = field(default_factory=lambda: uuid.uuid4().hex)
    endings: list[Callable[[float], list[str]]] = field(default_factory=list)
    """What ends the work of this process, within so many seconds; returns what was lost."""
    member: Member | None = None
    """Who works; None: whoever is at this computer, and the process itself."""
    whole: Workspace | None = None
    """The workspace of the process, of which this is the part that a member may use."""

    @property
    def name(self) -> str:
        """The name of the member; empty for whoever works alone."""
        return self.member.name if self.member else ""

    def for_member(self, member: Member, keys: KeyRing) -> Workspace:
        """The same database with the keys of a member, as far as the role allows."""
        database = members.permitted(self.database, member)
        return replace(self, database=database, keys=keys, member=member, whole=self)

    def for_process(self) -> Workspace:
        """The same without a member: for work that was allowed when it was asked for."""
        return self if self.whole is None else self.whole.with_keys(self.keys)

    def refuse_asking(self) -> None:
        """Raise RoleError where the member may have no model asked."""
        if self.member and not self.member.may_ask:
            raise members.refusal(self.member)

    def with_keys(self, keys: KeyRing) -> Workspace:
        """The same database and collector, with the keys of a browser session or of a run."""
        return replace(self, keys=keys)

    def close(self, *, calls_s: float = 0.0, queries_s: float | None = None) -> list[str]:
        """End what this process does, and release the database file.

        Calls under way are waited for up to `calls_s` seconds, reads and writes up to `queries_s`
        (None: to their end). Returns a sentence on all that could not be written.
        """
        told = [sentence for end in self.endings for sentence in end(calls_s)]
        self.database.close(within_s=queries_s)
        return told


def offer_secrets(workspace: Workspace, secrets: Mapping[str, str]) -> None:
    """Let keys that a page found in its secrets file be used by this process."""
    workspace.secrets.update(secrets)


def key_for(workspace: Workspace, base_url: str, key_variable: str) -> str | None:
    """The key to send to an address: typed for it, or from secrets or the environment.

    On the server of a lab, an editor could have one of the lab's keys sent to an address of the
    editor's own: there it goes only where whoever set it has named the address.
    """
    variables = {**os.environ, **workspace.secrets}
    if settings.is_lab() and not endpoints.is_named_for(key_variable, base_url, variables):
        variables.pop(key_variable, None)
    return workspace.keys.find(base_url, key_variable, variables)
