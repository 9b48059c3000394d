"""What a person has typed and not yet made into anything, kept in the database.

A reload, another page or another tab finds it again. Keys of services never go here: callers pass
only fields that are no secrets, and text that looks like a key is refused.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


def save(workspace: Workspace, name: str, value: Any) -> None:
    """Keep a value of plain lists, texts and numbers under a name; None clears it."""
    with _write_lock:
        saved_inputs.save_page_input(workspace.database, name, value)


def load(workspace: Workspace, name: str) -> SavedDraft | None:
    """What is kept under a name, or None."""
    saved = saved_inputs.page_input(workspace.database, name)
    if saved is None or saved[0] is None:
        return None
    return SavedDraft(saved[0], saved[1])


def update(workspace: Workspace, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change single fields of a draft and return all of it.

    Fields that another tab has changed meanwhile stay as that tab left them.
    """
    with _write_lock:
        saved = saved_inputs.page_input(workspace.database, name)
        fields: dict[str, Any] = dict(saved[0] or {}) if saved else {}
        fields |= changes
        saved_inputs.save_page_input(workspace.database, name, fields)
    return fields


def looks_like_key(text: str) -> bool:
    """Whether a text holds what looks like the key of a service."""
    return _KEY_SHAPE.search(text) is not None
