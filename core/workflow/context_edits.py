"""Contexts as rows of a grid, and the contexts that come of editing them.

As for banks, a grid reports all its edits since it was drawn, and they are applied to the state it
was drawn from: applying them twice gives the same contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from core.domain.languages import language_code
from core.domain.study import Context, Message
from core.errors import DesignError
from core.files.guard import csv_fault
from core.workflow.bank_grid import GridEdits

CODE, TEXT, LANGUAGE, VARIANT_OF = "code", "text", "language", "variant_of"
ROLE, CONTENT = "role", "content"
ROLES = ("user", "assistant", "system")


def persona_rows(personas: Sequence[Context]) -> pd.DataFrame:
    """One persona a row: code, text, language and, where there is one, the original's code."""
    names = [CODE, TEXT, LANGUAGE]
    names += [VARIANT_OF] if any(persona.variant_of for persona in personas) else []
    return pd.DataFrame(
        {name: pd.Series([getattr(p, name) for p in personas], dtype="object") for name in names}
    )


def message_rows(conversation: Context) -> pd.DataFrame:
    """One message a row: who says it, and what."""
    return pd.DataFrame(
        {
            name: pd.Series([message[name] for message in conversation.messages], dtype="object")
            for name in (ROLE, CONTENT)
        }
    )


def edit_personas(base: Sequence[Context], edits: GridEdits) -> tuple[Context, ...]:
    """The personas after edits of a grid that showed `base`.

    A persona without a code gets the next free one. Rewritings keep the link to an original whose
    code was changed. A new row without a text is not taken yet.

    Raises
    ------
    DesignError
        A text cannot be kept; names the code.
    """
    typed = [
        _edited(persona, edits.edited.get(row, {}))
        for row, persona in enumerate(base)
        if row not in edits.deleted
    ]
    added = [_edited(Context(""), cells) for cells in edits.added if _written(cells.get(TEXT))]
    taken = [persona.code for persona in (*typed, *added) if persona.code]
    personas = [_with_code(persona, taken) for persona in (*typed, *added)]
    _refuse(personas)
    kept = [persona for row, persona in enumerate(base) if row not in edits.deleted]
    renamed = {
        old.code: new.code for old, new in zip(kept, personas, strict=False) if old.code != new.code
    }
    return tuple(replace(p, variant_of=renamed.get(p.variant_of, p.variant_of)) for p in personas)


def edit_messages(base: Context, edits: GridEdits) -> Context:
    """The conversation after edits of a grid that showed the messages of `base`.

    A new row without a text is not taken yet; one without a role follows the message before.

    Raises
    ------
    DesignError
        A message was emptied, or none is left.
    """
    messages: list[Message] = []
    for row, message in enumerate(base.messages):
        if row not in edits.deleted:
            messages.append(_message(base, row, message, edits.edited.get(row, {})))
    for cells in edits.added:
        content = _written(cells.get(CONTENT))
        if content.strip():
            role = cells.get(ROLE) or _next_role(messages)
            messages.append({"role": role, "content": content})
    if not messages:
        raise DesignError(
            f"Conversation {base.code} has no message left.", "Keep at least one message in it."
        )
    edited = replace(base, messages=tuple(messages))
    _refuse([edited])
    return edited


def replaced(contexts: Iterable[Context], code: str, edited: Context) -> tuple[Context, ...]:
    """The contexts with another one in the place of that code; links to it follow its new code."""
    return tuple(
        edited
        if context.code == code
        else replace(context, variant_of=edited.code)
        if context.variant_of == code
        else context
        for context in contexts
    )


def without(contexts: Iterable[Context], code: str) -> tuple[Context, ...]:
    """The contexts but for the one of that code."""
    return tuple(context for context in contexts if context.code != code)


def _edited(persona: Context, cells: Mapping[str, Any]) -> Context:
    said = {name: _written(value).strip() for name, value in cells.items()}
    return replace(
        persona,
        code=said.get(CODE, persona.code),
        text=said.get(TEXT, persona.text),
        language=language_code(said.get(LANGUAGE, persona.language)),
    )


def _message(base: Context, row: int, message: Message, cells: Mapping[str, Any]) -> Message:
    changed = {
        "role": cells.get(ROLE) or message["role"],
        "content": _written(cells[CONTENT]) if CONTENT in cells else message["content"],
    }
    if not changed["content"].strip():
        raise DesignError(
            f"Message {row + 1} of {base.code} has no text.", "Type it, or delete the row."
        )
    return changed


def _next_role(messages: Sequence[Message]) -> str:
    return "assistant" if messages and messages[-1]["role"] == "user" else "user"


def _with_code(persona: Context, taken: list[str]) -> Context:
    if persona.code:
        return persona
    number = len(taken) + 1
    while (code := f"p{number:03d}") in taken:
        number += 1
    taken.append(code)
    return replace(persona, code=code)


def _refuse(contexts: Sequence[Context]) -> None:
    for context in contexts:
        said = (context.code, context.text, context.language)
        for text in (*said, *(message["content"] for message in context.messages)):
            if fault := csv_fault(text):
                raise DesignError(f"{context.code}: a text has {fault}.", "Shorten or retype it.")


def _written(value: object) -> str:
    """What stands in a cell; an emptied one reports None."""
    return "" if value is None else str(value)
