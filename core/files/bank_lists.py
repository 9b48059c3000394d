"""Several values in one cell: `a;b`, or `name=value;name=value`.

A backslash stands before a semicolon, an equals sign, a backslash or a blank that belongs to a
value, so that every value comes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_TOKENS = re.compile(r"\\[;=\\\s]|.", re.DOTALL)
_MARKS_IN_LIST = re.compile(r"[;\\]")
_MARKS_IN_PAIRS = re.compile(r"[;=\\]")
_BLANKS_AT_ENDS = re.compile(r"\A\s+|\s+\Z")


def join(values: Iterable[str]) -> str:
    """The values as one cell."""
    return ";".join(_escaped(value, _MARKS_IN_LIST) for value in values)


def join_pairs(pairs: Mapping[str, str]) -> str:
    """Names and values as one cell."""
    return ";".join(
        "=".join(_escaped(part, _MARKS_IN_PAIRS) for part in pair) for pair in pairs.items()
    )


def split(cell: str) -> list[str]:
    """The values of a cell, without those that are empty."""
    found = (_plain(tokens) for tokens in _parts(_TOKENS.findall(cell), ";"))
    return [value for value in found if value]


def split_pairs(cell: str) -> list[tuple[str, str | None]]:
    """Names and values of a cell; None where there is no equals sign."""
    pairs: list[tuple[str, str | None]] = []
    for tokens in _parts(_TOKENS.findall(cell), ";"):
        name, *rest = _parts(tokens, "=")
        value = _plain([token for part in rest for token in ("=", *part)][1:]) if rest else None
        if rest or _plain(name):
            pairs.append((_plain(name), value))
    return pairs


def _parts(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _plain(tokens: list[str]) -> str:
    """The text of the tokens, without the blanks around it."""
    filled = [place for place, token in enumerate(tokens) if not token.isspace()]
    kept = tokens[filled[0] : filled[-1] + 1] if filled else []
    return "".join(token[-1] for token in kept)


def _escaped(text: str, marks: re.Pattern[str]) -> str:
    marked = marks.sub(lambda found: f"\\{found[0]}", text)
    return _BLANKS_AT_ENDS.sub(lambda found: re.sub(r"(\s)", r"\\\1", found[0]), marked)
