"""What readers call the factors of a design."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS: Mapping[str, str] = {
    "label_order": "order of options",
    "entity_b": "second entity",
    "template": "instructions",
}


def factor_word(factor: str) -> str:
    """A factor as a reader calls it."""
    return _WORDS.get(factor, factor.replace("_", " "))
