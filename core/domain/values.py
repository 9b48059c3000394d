"""What the values of the domain share: stable keys, names, and their JSON."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ConfigDict

_SEPARATOR = "\x1f"
_LONGEST_NAME = 100_000  # characters, which is the most that a cell of a file holds


def stable_id(*parts: object) -> int:
    """63-bit hash of the parts, equal to the store's own SQL hash of the same parts.

    MD5 serves as a mixing function here, not for security. The last eight bytes are read
    little-endian and halved, so that the number fits a signed BIGINT.
    """
    text = _SEPARATOR.join(str(part) for part in parts)
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little") // 2


def slug(text: str) -> str:
    """`text` reduced to characters that are safe in a code and a file name: a-z, 0-9, _ and -."""
    return re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_")[:60] or "untitled"


def name_fault(name: str) -> str:
    """Why a study or a bank cannot have this name, as the end of a sentence; empty where it can.

    Names stand in titles, file names, lists and commands, so a line break, a control character or
    a change of writing direction would make one name look like another.
    """
    if not name.strip():
        return "is empty"
    if not name.isprintable():
        return "holds a line break or another character that cannot be seen"
    return "is too long" if len(name) > _LONGEST_NAME else ""


# Values as JSON.

Number = int | float
"""A number as it was written: 1 and 1.0 differ, because hashes of content are made of them."""

STRICT = ConfigDict(strict=True, extra="forbid")
"""Of files that people write by hand: no unknown key, and no text in place of a number."""

_NONE: Mapping[str, object] = MappingProxyType({})


def json_value(value: Any, defaults: Mapping[str, object] = _NONE) -> Any:
    """A frozen value as lists, mappings, texts and numbers.

    A field is left out where it holds the value that `defaults` has under its name.
    """
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, tuple):
        return [json_value(part, defaults) for part in value]
    if isinstance(value, Mapping):
        return {name: json_value(part, defaults) for name, part in value.items()}
    if not hasattr(value, "__dataclass_fields__"):
        return value
    return {
        name: json_value(part, defaults)
        for name, part in vars(value).items()
        if name not in defaults or part != defaults[name]
    }
