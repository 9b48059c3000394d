"""What a person has typed and not yet made into anything, kept in the database.

A reload, another page or another tab finds it again. Each member of a lab has their own; what is
not there is as it was before there were members. Keys of services never go here: callers pass
only fields that are no secrets, and text that looks like a key is refused.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import MemberError
from core.store import saved_inputs
from core.workflow.workspace import Workspace

# Beginnings that services give their keys. A key pasted into the wrong field must not be stored.
_KEY_SHAPE = re.compile(r"\b(sk-|gsk_|AIza|hf_|xai-|pplx-|Bearer )[\w-]{8,}")
_write_lock = (
    threading.Lock()
)  # two tabs saving one draft at once would end in a failed transaction


@dataclass(frozen=True)
class SavedDraft:
    """A draft and when it was saved."""

    value: Any
    saved_at: datetime


def save(workspace: Workspace, name: str, value: Any, *, shared: bool = False) -> None:
    """Keep a value of plain lists, texts and numbers under a name; None clears it.

    What is `shared` all members see and editors change: the work of a model, not what one types.
    """
    with _write_lock:
        if shared:
            saved_inputs.save_page_input(workspace.database, name, value)
        else:
            _save(workspace, name, value)


def load(workspace: Workspace, name: str) -> SavedDraft | None:
    """What is kept under a name, or None."""
    saved = _saved(workspace, name)
    if saved is None or saved[0] is None:
        return None
    return SavedDraft(saved[0], saved[1])


def update(workspace: Workspace, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change single fields of a draft and return all of it.

    Fields that another tab has changed meanwhile stay as that tab left them.
    """
    with _write_lock:
        saved = _saved(workspace, name)
        fields: dict[str, Any] = dict(saved[0] or {}) if saved else {}
        fields |= changes
        _save(workspace, name, fields)
    return fields


MOST_CHARACTERS = 1_000_000
"""Of one form of a member; what is longer belongs into a file."""


def _save(workspace: Workspace, name: str, value: Any) -> None:
    if workspace.member is not None and len(json.dumps(value)) > MOST_CHARACTERS:
        raise MemberError(
            f"This is longer than {MOST_CHARACTERS:,} characters and was not saved.", "Shorten it."
        )
    if workspace.member is None:
        saved_inputs.save_page_input(workspace.database, name, value)
    else:
        saved_inputs.save_member_input(workspace.database, workspace.name, name, value)


def _saved(workspace: Workspace, name: str) -> tuple[Any, datetime] | None:
    own = None
    if workspace.member is not None:
        own = saved_inputs.member_input(workspace.database, workspace.name, name)
    return saved_inputs.page_input(workspace.database, name) if own is None else own


def looks_like_key(text: str) -> bool:
    """Whether a text holds what looks like the key of a service."""
    return _KEY_SHAPE.search(text) is not None
