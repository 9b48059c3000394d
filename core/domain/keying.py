"""Keying: how people write whether an item is reverse-keyed, and what keying does to points."""

from __future__ import annotations

from typing import Any

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


def keyed_points(points: Any, low: Any, high: Any, sign: Any) -> Any:
    """Points after keying: as they are where `sign` is 1, mirrored in their range where it is -1.

    `sign` is the keying of the item times the direction of the form. Plain arithmetic, so that
    numbers, arrays and columns of a database all take it.
    """
    return sign * points + (1 - sign) / 2 * (low + high)
