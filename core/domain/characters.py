"""Characters that no file or no picture can hold, and what stands in the text for each of them.

XML 1.0 (Char), and so SVG, Word, Excel and HTML, has no place for most control characters, halves
of surrogate pairs, U+FFFE and U+FFFF. JavaScript long took U+2028 and U+2029 for the end of a line,
and Vega draws nothing where one stands in a list of names. Text is made readable where it comes in,
and once more where a chart or a file takes it, because older databases hold what came in before.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Collection, Mapping
from dataclasses import is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar, cast

_BREAKS = "\x0b\x0c\u2028\u2029"
_UNSAFE = re.compile(f"[\0-\x08\x0e-\x1f{_BREAKS}\ud800-\udfff\ufffe\uffff]")
UNSAFE_IN_UTF8 = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x{2028}\\x{2029}\\x{fffe}\\x{ffff}]"
"""The same characters for the regular expressions of Arrow, whose texts hold no surrogates."""

_IN_JSON = re.compile(f"\\\\(?:u[0-9a-f]{{4}}|[^u])|{_UNSAFE.pattern}")

_Value = TypeVar("_Value")


def readable(text: str) -> str:
    r"""The text with every character that no file or picture can hold made readable.

    Vertical tabs, form feeds and the separators U+2028 and U+2029 become line feeds. Every other
    one stands as its escape: U+0000 as \u0000, half of a surrogate pair as \ud800. Tabs, line feeds
    and carriage returns stay. A readable text comes back as it is.
    """
    if text.isascii() and text.isprintable():
        return text  # nearly always, and four times faster
    return _UNSAFE.sub(_stand_in, text)


def readable_json(body: str) -> str:
    """The text of a JSON value, as `json.dumps` writes it, with each text in it readable."""
    return _IN_JSON.sub(_stand_in_json, body)


def readable_value(value: _Value) -> _Value:
    """The value with each of its texts readable, those in lists, mappings and frozen values too.

    What is readable already comes back as the same object.
    """
    made: Any = value
    if isinstance(value, str):
        made = readable(value)
    elif not value or isinstance(value, (int, float)):
        return value
    elif isinstance(value, Mapping):
        names, parts = _readable_list(value), _readable_list(value.values())
        if names or parts:
            made = dict(zip(names or value, parts or value.values(), strict=True))
            made = MappingProxyType(made) if isinstance(value, MappingProxyType) else made
    elif isinstance(value, (list, tuple)):
        if parts := _readable_list(value):
            made = type(value)(parts)
    elif is_dataclass(value) and not isinstance(value, type):
        own = vars(value)
        if parts := _readable_list(own.values()):
            made = replace(value, **dict(zip(own, parts, strict=True)))
    return cast(_Value, made)


def _readable_list(values: Collection[Any]) -> list[Any]:
    """The values made readable; empty where all of them are readable as they are."""
    made = [readable_value(value) for value in values]
    return made if any(map(operator.is_not, made, values)) else []


def _stand_in(unsafe: re.Match[str]) -> str:
    return "\n" if unsafe[0] in _BREAKS else f"\\u{ord(unsafe[0]):04x}"


def _stand_in_json(found: re.Match[str]) -> str:
    text = found[0] if len(found[0]) == 1 else json.loads(f'"{found[0]}"')
    made = readable(text)
    return found[0] if made == text else json.dumps(made)[1:-1]
