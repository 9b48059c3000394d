"""A reply in JSON as pairs of an item's number and what is said of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

Pair = tuple[int | None, str]

_NUMBER = re.compile(r"[^\W\d]{0,12}[\s_.#-]*(\d{1,4})[.:)]?")
_NUMBER_KEYS = frozenset(
    [
        "item",
        "number",
        "id",
        "index",
        "no",
        "nr",
        "n",
        "#",
        "q",
        "question_number",
        "item_number",
        "statement_number",
        "key",
    ]
)
_DEEPEST = 6


class _Members(list[tuple[str, Any]]):
    """An object's members in order; a key that comes twice is kept twice."""


def entries_of_json(text: str) -> list[Pair]:
    """Number, or None, and what is said of each item; empty where the text is no JSON."""
    if not text.startswith(("{", "[")):
        return []
    try:
        value = json.loads(text, object_pairs_hook=_Members, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []
    return _pairs(value, _DEEPEST)


def _pairs(value: Any, depth: int) -> list[Pair]:
    if depth == 0:
        return []
    if isinstance(value, _Members):
        if len(value) == 1 and isinstance(value[0][1], list):
            return _pairs(value[0][1], depth - 1)
        return [_member(key, said) for key, said in value]
    if isinstance(value, list):
        return [_element(said) for said in value]
    return []


def _member(key: str, said: Any) -> Pair:
    number = _NUMBER.fullmatch(key.strip())
    if number:
        return int(number[1]), _text(said)
    return None, f"{key} - {_text(said)}"


def _element(said: Any) -> Pair:
    if not isinstance(said, _Members):
        return None, _text(said)
    number: int | None = None
    rest: list[str] = []
    for key, value in said:
        found = _NUMBER.fullmatch(str(value).strip()) if key.casefold() in _NUMBER_KEYS else None
        if found and number is None:
            number = int(found[1])
        else:
            rest.append(_text(value))
    return number, " - ".join(rest)


def _text(value: Any) -> str:
    """The value in words; what holds further values, one level of them."""
    if isinstance(value, _Members):
        return " - ".join(str(said) for _, said in value if not isinstance(said, list))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " - ".join(str(said) for said in value if not isinstance(said, list))
    return "" if value is None else str(value)
