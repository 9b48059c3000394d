"""Names and texts as they may stand in the data of scripts, whatever somebody called things.

Names of groups, items and subscales are whatever users typed. They stand in CSV files only, which
every script reads: no line break may end a row, and no spreadsheet may take a name for a formula.
Names of columns and in models are further made of letters that R and Python take for names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

GROUP = "group"
"""The column of the data that says which group a row belongs to."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._]*")
_LONGEST = 40
_FORMULA = tuple("=+-@'")
# what R reads as something else than a name, even in a formula
_RESERVED = frozenset(
    {"if", "else", "repeat", "while", "function", "for", "next", "break", "in", "TRUE", "FALSE"}
    | {"NULL", "Inf", "NaN", "NA", "NA_integer_", "NA_real_", "NA_character_", "NA_complex_"}
)


@dataclass
class Names:
    """Names that every script, formula and column heading allows, one for each real name.

    A plain name stays as it is unless it is taken; others lose what R or Python could misread. The
    same name may be that of an item and of a factor, which their `kind` distinguishes.
    """

    reserved: frozenset[str] = frozenset({GROUP})
    given: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> str:
        """The allowed name of a real one, the same at every call."""
        key = (kind, name)
        if key not in self.given:
            taken = self.reserved.union(self.given.values())
            self.given[key] = _first_free(_allowed(name, kind), "_", lambda own: own in taken)
        return self.given[key]

    def changed(self) -> list[tuple[str, str, str]]:
        """Each name that differs from the real one, its kind, and the real one as a safe cell."""
        return [
            (name, kind, safe_cell(real))
            for (kind, real), name in self.given.items()
            if name != real
        ]


def group_labels(names: Sequence[str]) -> list[str]:
    """The names of groups as `distinct_lines`, none like a spreadsheet's formula."""
    return distinct_lines(list(map(safe_cell, names)))


def safe_cell(text: str) -> str:
    """The text as one line that no spreadsheet takes for a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line


def distinct_lines(names: Sequence[str]) -> list[str]:
    """Each name as one line that is not empty, all different."""
    labels: dict[str, None] = {}
    for name in names:
        line = one_line(name) or "(none)"
        labels[_first_free(line, " ", lambda own: own in labels)] = None
    return list(labels)


def one_line(text: str) -> str:
    """The text without line breaks and other signs that do not print."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def csv_text(header: Sequence[str], rows: Iterable[tuple[str, Sequence[float]]]) -> str:
    """A table of a label and numbers per row as CSV; empty where a number is not finite."""
    lines = [",".join(map(_csv_cell, header))]
    lines += [",".join([_csv_cell(label), *map(_number, values)]) for label, values in rows]
    return "\n".join(lines) + "\n"


def text_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts as CSV; a text is one line."""
    return "\n".join(",".join(map(_csv_cell, row)) for row in (header, *rows)) + "\n"


def _allowed(name: str, kind: str) -> str:
    """The nearest name of ASCII letters, digits, points and underscores, begun by a letter."""
    if _PLAIN.fullmatch(name) and len(name) <= _LONGEST:
        return f"{kind}_{name}" if name in _RESERVED else name
    plain = re.sub(r"[^A-Za-z0-9.]+", "_", name).strip("_.")[:_LONGEST]
    if not plain:
        return kind
    return plain if plain[0].isalpha() and plain not in _RESERVED else f"{kind}_{plain}"


def _first_free(name: str, between: str, taken: Callable[[str], bool]) -> str:
    """The name, or the first with a number behind it that is not taken."""
    tried: Iterator[str] = (
        name if number == 1 else f"{name}{between}{number}" for number in count(1)
    )
    return next(own for own in tried if not taken(own))


def _csv_cell(text: str) -> str:
    """A text as a cell, quoted where it holds a delimiter or quotes."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,;"\s]', text) else text


def _number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    if not math.isfinite(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
