"""How people write whether an item is reverse-keyed, in files and in grids alike."""

from __future__ import annotations

_SIGNS = {
    "": 1, "+": 1, "1": 1, "+1": 1, "1.0": 1,
    "-": -1, "-1": -1, "-1.0": -1, "r": -1, "reverse": -1, "reversed": -1, "- reverse": -1,
}  # fmt: skip
_DASHES = str.maketrans(dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}", "-"))


def sign(text: str) -> int | None:
    """1, or -1 for reverse-keyed, from what was written; None for a word that says neither.

    Nothing written means 1, as in a file without the column.
    """
    return _SIGNS.get(text.strip().lower().translate(_DASHES))
