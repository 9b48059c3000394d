"""Names of settings that hold keys. Settings are saved in the database, and keys must not be."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from core.errors import CollectionError

_ANYWHERE = (
    "apikey", "accesskey", "privatekey", "authtoken", "accesstoken", "secret", "password", "passwd",
    "passphrase", "authorization", "bearer", "credential", "cookie", "header",
)  # fmt: skip
_WORDS = frozenset({"auth", "pwd"})
_LAST_WORDS = frozenset({"key", "keys", "token"})
# What ends like a key and is none: a name for the service's cache, and tokens of a vocabulary.
_NO_KEYS = ("promptcachekey", "eostoken", "bostoken", "padtoken", "stoptoken", "masktoken")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def refuse_key_names(settings: Any) -> None:
    """Raise CollectionError if a name in additional settings, at any depth, is one of a key's."""
    waiting = [settings]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            if named := next((name for name in value if holds_key(str(name))), None):
                raise CollectionError(
                    f"The additional settings name '{str(named)[:60]}', which holds a key, and "
                    "they are saved in the database.",
                    "Delete it there. Type a key into the field for the key, or keep it in the "
                    "environment variable that is named there; both are saved nowhere.",
                )


def holds_key(name: str) -> bool:
    """Whether a setting of that name holds a key, however the name is spelt."""
    words = [word.lower() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]
    joined = "".join(words)
    if joined.endswith(_NO_KEYS):
        return False
    return (
        any(part in joined for part in _ANYWHERE)
        or not _WORDS.isdisjoint(words)
        or (bool(words) and words[-1] in _LAST_WORDS)
    )
