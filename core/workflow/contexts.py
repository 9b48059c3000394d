"""Sets of contexts: personas and conversations that designs can use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from core.domain.contexts import cropped, describe, of_language, sampled
from core.domain.languages import language_code
from core.domain.study import Context
from core.errors import ConflictError, DesignError
from core.files.context_files import parse_personas, read_contexts
from core.files.context_writing import contexts_csv, contexts_jsonl
from core.store import memory
from core.workflow.workspace import Workspace

__all__ = [
    "Making", "SetSummary", "contexts_csv", "contexts_jsonl", "describe", "language_code", "load",
    "make", "parse_personas", "read_contexts", "save", "sets", "suggested_name", "summaries",
]  # fmt: skip

_ABOUT = "context_set:"
_writing = threading.Lock()  # what a set holds is compared and then replaced


@dataclass(frozen=True)
class SetSummary:
    """A set as it stands in a list. `made` says how it came about; None: saved at an unknown time.

    `lengths` is the smallest and the largest number of messages of its conversations.
    """

    name: str
    kind: str
    n_contexts: int
    n_variants: int
    languages: tuple[str, ...]
    lengths: tuple[int, int] | None
    made: str
    saved_at: datetime | None


@dataclass(frozen=True)
class Making:
    """How a set is made from another: a language, then the first exchanges, then a random draw.

    None leaves a step out. An empty language stands for contexts whose language is not stated.
    """

    language: str | None = None
    exchanges: int | None = None
    count: int | None = None
    seed: int = 1


def sets(workspace: Workspace) -> dict[str, tuple[Context, ...]]:
    """The sets kept in the database, by name."""
    return memory.context_sets(workspace.database)


def load(workspace: Workspace, name: str) -> tuple[Context, ...]:
    """The contexts of one set."""
    found = sets(workspace).get(name)
    if found is None:
        raise DesignError(f"There is no set '{name}'.", "Choose one from the list of sets.")
    return found


def summaries(workspace: Workspace) -> tuple[SetSummary, ...]:
    """Every set with its kind, size and languages, by name."""
    return tuple(_summary(workspace, name, found) for name, found in sets(workspace).items())


def save(
    workspace: Workspace,
    name: str,
    contexts: tuple[Context, ...],
    *,
    made: str = "",
    expected: tuple[Context, ...] | None = None,
) -> None:
    """Keep a set; studies hold their own copy, so replacing one changes no study.

    `made` says how it came about; empty leaves what was said. `expected` is what the set held
    when the change was begun.

    Raises
    ------
    DesignError
        There is no name or no context, or two contexts share a code; nothing is kept.
    ConflictError
        The set no longer holds what was expected; nothing is kept.
    """
    name = name.strip()
    if not name:
        raise DesignError("The set has no name.", "Type a name.")
    _check(contexts)
    with _writing, workspace.database.all_or_nothing():
        if expected is not None and sets(workspace).get(name) != expected:
            raise ConflictError(
                f"The set '{name}' was changed in another tab meanwhile.",
                "The newer state is shown; make the change again.",
            )
        about = memory.recall(workspace.database, _ABOUT + name)
        kept = made or (about[0] or {}).get("made", "") if about else made
        memory.save_context_set(workspace.database, name, contexts)
        memory.remember(workspace.database, _ABOUT + name, {"made": kept})


def make(contexts: Sequence[Context], making: Making) -> tuple[Context, ...]:
    """What is left of a set after filtering, cropping and drawing, in its order."""
    found = tuple(contexts)
    if making.language is not None:
        found = of_language(found, making.language)
    if making.exchanges is not None:
        found = cropped(found, making.exchanges)
    if making.count is not None:
        found = sampled(found, making.count, making.seed)
    return found


def suggested_name(name: str, making: Making) -> str:
    """A name that says from which set a new one was made, and how."""
    parts = [name]
    if making.language is not None:
        parts.append(making.language or "language not stated")
    if making.exchanges is not None:
        many = making.exchanges > 1
        parts.append(f"first {making.exchanges} exchanges" if many else "first exchange")
    if making.count is not None:
        parts.append(f"{making.count} drawn with seed {making.seed}")
    return ", ".join(parts)


def _check(contexts: tuple[Context, ...]) -> None:
    if not contexts:
        raise DesignError(
            "The set would be empty.", "Keep at least one context in it; nothing was changed."
        )
    seen: set[str] = set()
    for context in contexts:
        if context.code in seen:
            raise DesignError(
                f"The code '{context.code}' stands twice.", "Give one of the two another code."
            )
        seen.add(context.code)


def _summary(workspace: Workspace, name: str, contexts: tuple[Context, ...]) -> SetSummary:
    lengths = [len(context.messages) for context in contexts if context.messages]
    kinds = (
        *(("personas",) if len(lengths) < len(contexts) else ()),
        *(("conversations",) if lengths else ()),
    )
    about = memory.recall(workspace.database, _ABOUT + name)
    return SetSummary(
        name=name,
        kind=" and ".join(kinds),
        n_contexts=len(contexts),
        n_variants=sum(bool(context.variant_of) for context in contexts),
        languages=tuple(sorted({c.language for c in contexts if c.language})),
        lengths=(min(lengths), max(lengths)) if lengths else None,
        made=(about[0] or {}).get("made", "") if about else "",
        saved_at=about[1] if about else None,
    )
