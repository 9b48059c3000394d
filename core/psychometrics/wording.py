"""Lists as a reader writes them, and sentences that several statistics say."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[object], shown: int = 5) -> str:
    """The names if few, else the first few and how many more."""
    text = ", ".join(str(name) for name in names[:shown])
    return text if len(names) <= shown else f"{text} and {len(names) - shown} more"


def never_answered(names: Sequence[str], where: str = "") -> str:
    """That items nobody answered are left out; `where` begins with a blank, or is empty."""
    return f"Left out, because nobody answered{where}: {', '.join(names)}."


def always_the_same(names: Sequence[str], where: str = "") -> str:
    """That items whose answers do not vary are left out; `where` as in `never_answered`."""
    return f"Left out, because all answers are the same{where}: {', '.join(names)}."
