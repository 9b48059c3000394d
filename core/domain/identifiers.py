"""Identifiers that come out the same wherever they are made."""

from __future__ import annotations

import hashlib
import re

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
    """`text` cut down to what is safe as a code and as a file name: a-z, 0-9, _ and -."""
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
