"""Rewritings waiting for a person: read each beside its original, edit, accept or discard it.

What a model wrote is a draft, kept beside the set it came from. Only what was accepted enters a
set, so no study can use anything that nobody has read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import TypeAdapter

from core.domain.study import Context, as_json_values
from core.errors import ConflictError, DesignError
from core.workflow import context_rewriting, contexts, drafts
from core.workflow.workspace import Workspace

State = Literal["waiting", "accepted", "discarded"]

_DRAFTS = "contexts:rewritings:"
_changing = threading.RLock()  # a run and any tab change the list of drafts


@dataclass(frozen=True)
class Draft:
    """One rewriting beside its original, and how it came about."""

    original: Context
    variant: Context
    state: State
    instruction: str
    respondent: str
    model: str
    written_at: str
    edited: bool = False
    set_name: str = ""  # where it was accepted


_REWRITINGS = TypeAdapter(tuple[Draft, ...])


def of_set(workspace: Workspace, name: str) -> tuple[Draft, ...]:
    """Every rewriting of the contexts of a set, oldest first."""
    kept = drafts.recall(workspace, _DRAFTS + name)
    return _REWRITINGS.validate_python(kept.value, strict=False) if kept else ()


def add(workspace: Workspace, name: str, original: Context, write: Callable[[str], Draft]) -> None:
    """Keep one more rewriting of a context; `write` makes it from the code it is to have."""
    with _changing:
        known = of_set(workspace, name)
        taken = {draft.variant.code for draft in known}
        taken |= {context.code for context in contexts.sets(workspace).get(name, ())}
        draft = write(context_rewriting.free_code(original.code, taken))
        _keep_all(workspace, name, (*known, draft))


def edit(workspace: Workspace, name: str, code: str, variant: Context) -> None:
    """Replace the text of a waiting draft by what a person typed."""
    _change(workspace, name, code, variant=variant, edited=True)


def discard(workspace: Workspace, name: str, code: str) -> None:
    """Put a waiting draft aside; no set gets it."""
    _change(workspace, name, code, state="discarded")


def accept(
    workspace: Workspace, name: str, code: str, into: str, *, with_original: bool = True
) -> None:
    """Put a waiting draft into a set, after its original where that is wished.

    Raises
    ------
    DesignError
        The text is empty, or the set holds another context of the same code.
    ConflictError
        The draft was accepted or discarded in another tab.
    """
    if not into.strip():
        raise DesignError("The new set has no name.", "Type a name.")
    if into.strip() == name:
        raise DesignError(
            "The rewritings cannot go into the set they come from.", "Type another name."
        )
    with _changing, workspace.database.all_or_nothing():
        draft = _waiting(workspace, name, code)
        empty = not draft.variant.text.strip() and not draft.variant.messages
        if empty or not all(m["content"].strip() for m in draft.variant.messages):
            raise DesignError(f"A text of {code} is empty.", "Type it, or discard the rewriting.")
        found = contexts.sets(workspace).get(into.strip(), ())
        for context in (*((draft.original,) if with_original else ()), draft.variant):
            found = _with(found, context, into)
        contexts.save(workspace, into, found, made=f"Accepted rewritings of '{name}'")
        _change(workspace, name, code, state="accepted", set_name=into.strip())


def _with(found: tuple[Context, ...], context: Context, into: str) -> tuple[Context, ...]:
    """The set with a context at its end; as it is where it holds that very one."""
    same = [known for known in found if known.code == context.code]
    if same and same[0] != context:
        raise DesignError(
            f"The set '{into}' holds another context called {context.code}.",
            "Type another name for the set.",
        )
    return found if same else (*found, context)


def _waiting(workspace: Workspace, name: str, code: str) -> Draft:
    for draft in of_set(workspace, name):
        if draft.variant.code == code and draft.state == "waiting":
            return draft
    raise ConflictError(
        f"The rewriting {code} was accepted or discarded in another tab.", "Choose another one."
    )


def _change(workspace: Workspace, name: str, code: str, **changes: Any) -> None:
    with _changing:
        _waiting(workspace, name, code)
        known = of_set(workspace, name)
        _keep_all(
            workspace,
            name,
            tuple(replace(d, **changes) if d.variant.code == code else d for d in known),
        )


def _keep_all(workspace: Workspace, name: str, kept: tuple[Draft, ...]) -> None:
    drafts.remember(workspace, _DRAFTS + name, as_json_values(kept))
