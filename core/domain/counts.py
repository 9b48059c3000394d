"""Counted things in words: "1 item", "2 items", "12,000 replies"."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """A number and what it counts, in the singular for 1 and in the plural otherwise.

    Parameters
    ----------
    count : int
        How many there are.
    one : str
        The words for one, with a verb or not: "item", "item has".
    many : str
        The words for any other number; empty where an s at the end makes them.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def with_count(name: str, count: str) -> str:
    """A name and how many it holds in brackets, unless the name ends with just these brackets."""
    brackets = f"({count})"
    return name if name.rstrip().endswith(brackets) else f"{name} {brackets}"
