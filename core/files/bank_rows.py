"""One row of a question bank's file: what its cells say, and what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.domain import keying
from core.domain.instrument import Rating
from core.files.bank_columns import TextColumn
from core.files.bank_lists import split_pairs

_WHOLE_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_SIGNS = {"": None, "-1": -1, "0": 0, "1": 1, "+1": 1}


@dataclass(frozen=True)
class RowError:
    """What is wrong in one row of a file. `sheet` is empty for a CSV file."""

    line: int
    column: str
    reason: str
    sheet: str = ""


@dataclass(frozen=True)
class Row:
    """One row as it stands in the file; `cells` holds the columns that the file has."""

    line: int
    sheet: str
    cells: dict[str, str]
    texts: tuple[tuple[TextColumn, str], ...]

    def cell(self, column: str) -> str:
        """What stands in the column; empty where the file does not have it."""
        return self.cells.get(column, "")


class Remarks:
    """Collects the errors and warnings of a file, and where each entry stood first."""

    def __init__(self) -> None:
        self.errors: list[RowError] = []
        self.warnings: list[str] = []
        self._first: dict[tuple[str, ...], tuple[int, str]] = {}

    def wrong(self, row: Row, column: str, reason: str) -> None:
        """Note an error in one cell."""
        self.errors.append(RowError(row.line, column, reason, row.sheet))

    def warn(self, message: str) -> None:
        """Note a warning, once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def is_first(self, row: Row, column: str, *key: str) -> bool:
        """Whether the key is new and not blank; what is not is noted as an error."""
        first = self._first.setdefault(key, (row.line, row.sheet))
        if not key[-1].strip():
            if column in row.cells:
                self.wrong(row, column, f"the {column} is missing")
            return False
        if first != (row.line, row.sheet):
            self.wrong(row, column, f"'{row.cell(column)}' stands in line {first[0]} already")
            return False
        return True


def position(row: Row, remarks: Remarks, *kind: str) -> float:
    """Where the row's entry stands among its like; those without a position come last."""
    number = whole_number(row, remarks, "position")
    if number is None:
        return math.inf
    remarks.is_first(row, "position", "position", *kind, str(number))
    return number


def whole_number(row: Row, remarks: Remarks, column: str) -> int | None:
    """The whole number in a cell, from 0 up; None where there is none."""
    text = row.cell(column).strip()
    if text and not _WHOLE_NUMBER.fullmatch(text):
        remarks.wrong(row, column, f"'{text}' is not a whole number")
        return None
    return int(text) if text else None


def points(row: Row, remarks: Remarks) -> float | None:
    """The option's points; None where there are none."""
    text = row.cell("points").strip()
    try:
        number = float(text) if text else None
    except ValueError:
        number = math.nan
    if number is not None and not math.isfinite(number):
        remarks.wrong(row, "points", f"'{text}' is not a number such as 3 or 0.5")
        return None
    return number


def sign(row: Row, remarks: Remarks, column: str) -> int | None:
    """-1, 0 or 1 from a cell; None where there is none."""
    text = row.cell(column).strip()
    if text not in _SIGNS:
        remarks.wrong(row, column, f"'{text}' is not -1, 0 or 1")
    return _SIGNS.get(text)


def choice(row: Row, remarks: Remarks, column: str, choices: Iterable[str]) -> str:
    """One of the words that may stand in a cell; empty where there is none."""
    text = row.cell(column).strip().lower()
    if text and text not in choices:
        remarks.wrong(row, column, f"'{text}' is not one of {', '.join(choices)}")
        return ""
    return text


def keyed(row: Row, remarks: Remarks) -> int:
    """1, or -1 for an item that is scored in reverse."""
    sign = keying.sign(row.cell("keyed"))
    if sign is None:
        remarks.wrong(row, "keyed", f"'{row.cell('keyed')}' is not 1, -1, +, -, R or reverse")
    return sign or 1


def ratings(row: Row, remarks: Remarks) -> tuple[Rating, ...]:
    """The qualities a judge rates, written as `tragedy=1..10;comedy=1..10`."""
    found = []
    for name, value in split_pairs(row.cell("ratings")):
        low, _, high = (value or "").partition("..")
        try:
            rating = Rating(name, float(low), float(high))
        except ValueError:
            rating = Rating("", 0, 0)
        if not rating.code or not math.isfinite(rating.low) or not math.isfinite(rating.high):
            remarks.wrong(row, "ratings", f"'{name}={value}' is not a range such as tragedy=1..10")
            continue
        found.append(rating)
    return tuple(found)
