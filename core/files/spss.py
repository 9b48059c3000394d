"""Answers as an SPSS file: a row for each administration, a variable for each item."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

_RESERVED = frozenset(
    ("ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH")
)
_MOST_NAME_BYTES = 64
_MOST_LABEL_BYTES = 250
_MOST_VALUE_LABEL_BYTES = 120
_CREATED = slice(92, 109)
"""Where the header of a .sav file has the day and the time at which it was written."""


@dataclass(frozen=True)
class SpssVariable:
    """A variable: the column of the frame, its label, labels of values, and user-missing values."""

    column: str
    label: str
    value_labels: Mapping[float, str]
    missing: tuple[int, int] | None = None


def write_sav(frame: pd.DataFrame, variables: Iterable[SpssVariable], title: str) -> bytes:
    """The frame as .sav; equal content gives equal bytes.

    Columns that no variable describes are texts.
    """
    known = {variable.column: variable for variable in variables}
    names = variable_names(frame.columns)
    labels: dict[str, str | None] = {}
    values: dict[str, dict[float, str]] = {}
    missing: dict[str, list[Any]] = {}
    measures: dict[str, Any] = {}
    for column, name in names.items():
        variable = known.get(column)
        labels[name] = _cut(variable.label if variable else column, _MOST_LABEL_BYTES)
        measures[name] = "ordinal" if variable else "nominal"
        if variable is not None:
            values[name] = {
                value: _cut(text, _MOST_VALUE_LABEL_BYTES)
                for value, text in variable.value_labels.items()
            }
            if variable.missing:
                low, high = variable.missing
                missing[name] = [{"lo": low, "hi": high}]
    import pyreadstat

    with tempfile.TemporaryDirectory(prefix="inkblot-") as folder:
        path = Path(folder) / "answers.sav"
        pyreadstat.write_sav(
            frame.rename(columns=names),
            str(path),
            file_label=_cut(title, 60),
            column_labels=labels,
            variable_value_labels=values,
            missing_ranges=missing,
            variable_measure=measures,
        )
        body = bytearray(path.read_bytes())
    body[_CREATED] = b"01 Jan 8000:00:00"
    return bytes(body)


def variable_names(columns: Iterable[str]) -> dict[str, str]:
    """A name that SPSS takes for each column: it begins with a letter, and case does not count."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for column in columns:
        stem = re.sub(r"[^\w.$#@]", "_", column).rstrip("._")
        if not stem or not stem[0].isalpha() or stem.upper() in _RESERVED:
            stem = f"v_{stem}"
        stem = _cut(stem, _MOST_NAME_BYTES - 6)
        name, number = stem, 2
        while name.upper() in taken:
            name, number = f"{stem}_{number}", number + 1
        taken.add(name.upper())
        names[column] = name
    return names


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
