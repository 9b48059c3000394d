"""Lists as a reader writes them."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[object], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    text = ", ".join(str(name) for name in names[:shown])
    return text if len(names) <= shown else f"{text} and {len(names) - shown} more"
