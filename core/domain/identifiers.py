"""Identifiers that come out the same wherever they are made."""

from __future__ import annotations

import hashlib
import re

SEPARATOR = "\x1f"


def stable_id(*parts: object) -> int:
    """63-bit hash of the parts, equal to the store's own SQL hash of the same parts.

    MD5 serves as a mixing function here, not for security. The last eight bytes are read
    little-endian and halved, so that the number fits a signed BIGINT.
    """
    text = SEPARATOR.join(str(part) for part in parts)
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()
    return int.from_bytes(digest[8:], "little") // 2


def slug(text: str) -> str:
    """`text` cut down to what is safe as a code and as a file name: a-z, 0-9, _ and -."""
    return re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_")[:60] or "untitled"
