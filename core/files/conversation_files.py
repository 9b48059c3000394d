"""Contexts in a file of JSON lines, as published collections of conversations have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.domain.languages import language_code
from core.domain.study import Context, Message
from core.errors import FileError
from core.files.context_codes import Placed, with_codes, wrong
from core.files.conversation_tables import role

_CODES = ("code", "id", "conversation_id")
_MESSAGES = ("messages", "conversation", "conversations")
_ROLES, _CONTENTS = ("role", "from"), ("content", "value")


def conversations_of_lines(name: str, text: str) -> tuple[Context, ...]:
    """The contexts of a JSON Lines file, one a line.

    A line is a list of messages, or an object that holds one under messages, conversation or
    conversations, or the text of a persona under text. Those without a code are called c001, c002
    and so on by their place.

    Raises
    ------
    FileError
        A line cannot be read as it stands; names the line and the reason. Nothing is kept.
    """
    lines = enumerate(text.split("\n"), start=1)
    found = [Placed(number, _context(name, number, line)) for number, line in lines if line.strip()]
    if not found:
        raise FileError(f"{name}: there is no conversation.", "Write one on each line.")
    return with_codes(name, found, "c")


def _context(name: str, line: int, text: str) -> Context:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise wrong(name, line, "this is not one whole JSON value") from None
    if isinstance(body, list):
        return Context("", messages=tuple(_messages(name, line, body)))
    if not isinstance(body, dict):
        raise wrong(name, line, "this is neither a list of messages nor an object that holds one")
    said = _first(body, _MESSAGES)
    persona = _text(name, line, body, ("text",)) if "text" in body else None
    if said is None and persona is None:
        raise wrong(name, line, f"there is nothing under {', '.join(_MESSAGES)} or text")
    return Context(
        code=_text(name, line, body, _CODES).strip(),
        text=(persona or "").strip(),
        messages=tuple(_messages(name, line, said)) if said is not None else (),
        language=language_code(_text(name, line, body, ("language",))),
        variant_of=_text(name, line, body, ("variant_of",)).strip(),
    )


def _messages(name: str, line: int, said: object) -> Iterator[Message]:
    if not isinstance(said, list) or not said:
        raise wrong(name, line, "there is no list of messages")
    for number, message in enumerate(said, start=1):
        if not isinstance(message, dict):
            raise wrong(name, line, f"message {number} is not an object with role and content")
        speaker, content = _first(message, _ROLES), _first(message, _CONTENTS)
        if not isinstance(speaker, str):
            raise wrong(name, line, f"message {number} does not say whose it is")
        if not isinstance(content, str) or not content.strip():
            raise wrong(name, line, f"message {number} has no text")
        yield {"role": role(name, line, speaker), "content": content}


def _first(body: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """What stands under the first of the keys that is there."""
    return next((body[key] for key in keys if body.get(key) is not None), None)


def _text(name: str, line: int, body: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    value = _first(body, keys)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        key = next(key for key in keys if body.get(key) is not None)
        raise wrong(name, line, f"what stands under {key} is no text")
    return str(value)
