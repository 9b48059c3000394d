"""Results as files: CSV, JSON, and tables and notes in APA style."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.domain.numbers import number_text, percent_text, round_half_away
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.values import slug
from core.files.writing import Cell, csv_bytes

_UNDEFINED = "—"
DECIMALS: Mapping[str, int] = {
    "none": 2, "points": 2, "points squared": 2, "proportion": 2, "correlation": 2, "p": 3,
    "compared": 4,
}  # fmt: skip
"""Decimals that are shown of a number, by the unit of its column."""
_LEADING_ZERO_DROPPED = frozenset({"proportion", "correlation", "p"})
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # so that the bytes depend on the content only


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A table as CSV in UTF-8: every digit, empty where undefined, safe in a spreadsheet."""
    return csv_bytes([map(str, frame.columns), *(map(_cell, row) for row in _rows(frame))])


def table_csv(table: ResultTable) -> bytes:
    """The table as CSV: UTF-8, every digit, empty where undefined, safe to open in a spreadsheet.

    Texts that a spreadsheet would take for a formula start with ' (core/files/writing.py).
    """
    return frame_csv(table.frame)


def result_zip(result: AnalysisResult) -> bytes:
    """All tables as CSV and the whole result as JSON in a zip; equal results give equal bytes."""
    files = {f"{slug(table.name)}.csv": table_csv(table) for table in result.tables}
    files["result.json"] = result_json(result)
    return files_zip(files)


def files_zip(files: Mapping[str, bytes]) -> bytes:
    """Files in a zip; equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name, _ZIP_TIME)
            entry.create_system = 3  # else the file names the system that made it
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, body)
    return buffer.getvalue()


def result_json(result: AnalysisResult) -> bytes:
    """The result as JSON: tables with columns, method, notes and counts; null is undefined."""
    body = {
        "method": result.method,
        "unit": result.unit,
        "n_used": result.n_used,
        "n_left_out": result.n_left_out,
        "n_missing": result.n_missing,
        "notes": list(result.all_notes),
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "columns": [
                    {"name": c.name, "title": c.title, "unit": c.unit, "help": c.help}
                    for c in table.columns
                ],
                "rows": [[_json_value(value) for value in row] for row in _rows(table.frame)],
            }
            for table in result.tables
        ],
    }
    return json.dumps(body, ensure_ascii=True, allow_nan=False, indent=1).encode() + b"\n"


def display_frame(table: ResultTable) -> pd.DataFrame:
    """The table with numbers rounded as on a page; a p below .001 keeps its digits."""
    frame = table.frame.copy()
    for column in table.columns:
        values = frame[column.name]
        if column.unit != "count" and pd.api.types.is_float_dtype(values):
            rounded = pd.Series(round_half_away(values, DECIMALS[column.unit]), index=values.index)
            frame[column.name] = (
                values.where(values < 0.001, rounded) if column.unit == "p" else rounded
            )
    return frame


def apa_table(table: ResultTable) -> pd.DataFrame:
    """The table in APA style: texts only, rounded, intervals as [.12, .34].

    Two decimals, three for p; no leading zero where a value cannot exceed 1; a dash where
    undefined. A pair of columns ending in `_low` and `_high` becomes one.
    """
    names = [column.name for column in table.columns]
    titles: list[str] = []
    cells: list[list[str]] = []
    for column in table.columns:
        values = table.frame[column.name].tolist()
        stem = column.name.removesuffix("_low")
        if stem != column.name and f"{stem}_high" in names:
            highs = table.frame[f"{stem}_high"].tolist()
            titles.append(_interval_title(column))
            pairs = zip(values, highs, strict=True)
            cells.append([_interval(low, high, column.unit) for low, high in pairs])
        elif column.name.endswith("_high") and column.name.removesuffix("high") + "low" in names:
            continue
        else:
            titles.append(column.title)
            cells.append([_apa_cell(value, column.unit) for value in values])
    frame = pd.DataFrame(dict(enumerate(cells)), dtype=object, index=range(len(table.frame)))
    frame.columns = pd.Index(_distinct(titles), dtype=object)
    return frame


def apa_note(
    result: AnalysisResult, table: ResultTable, versions: Mapping[str, str] | None = None
) -> str:
    """The note under an APA table: unit, n, missing, method with interval level, software."""
    parts = [f"Note. Unit of analysis: {result.unit}.",
             f"Answers used: {result.n_used:,} ({_missing_words(result)}).",
             result.method]  # fmt: skip
    if any(_is_undefined(value) for row in _rows(table.frame) for value in row):
        parts.append(f"{_UNDEFINED} = undefined or not applicable; see the notes of the result.")
    if versions:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        parts.append(f"Software: {listed}.")
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts)


def _missing_words(result: AnalysisResult) -> str:
    """The numbers of scores left out and missing, in words."""
    if not result.n_missing:
        missing = "none missing"
    else:
        share = percent_text(result.n_missing / result.n_planned, 1)
        missing = f"{result.n_missing:,} missing, {share} of {result.n_planned:,}"
    left_out = f"{result.n_left_out:,} left out by the analysis; "
    return (left_out if result.n_left_out else "") + missing


def _rows(frame: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Rows as plain values, each column in its own type."""
    return zip(*(frame[name].tolist() for name in frame.columns), strict=True)


def _is_undefined(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def _cell(value: Any) -> Cell:
    """One CSV cell: None where undefined, a number as number, anything else as text."""
    if _is_undefined(value):
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return value if isinstance(value, int | float) else str(value)


def _json_value(value: Any) -> Any:
    """One JSON value; null or text for a number that JSON does not have."""
    if _is_undefined(value):
        return None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else str(value)
    return value.item() if isinstance(value, np.generic) else str(value)


def _apa_cell(value: Any, unit: str) -> str:
    """One cell as printed."""
    if _is_undefined(value):
        return _UNDEFINED
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if unit == "count":
        return f"{int(value):,}"
    if unit == "p":
        return "< .001" if value < 0.001 else _rounded(float(value), DECIMALS["p"], unit)
    if isinstance(value, float):
        return _rounded(value, DECIMALS[unit], unit)
    return _signed(str(value))


def _rounded(value: float, decimals: int, unit: str) -> str:
    """A number with a true minus sign, without a leading zero where the unit is bounded by 1."""
    text = number_text(value, decimals)
    if unit in _LEADING_ZERO_DROPPED:
        text = text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
    return _signed(text)


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _interval(low: Any, high: Any, unit: str) -> str:
    """Both ends in brackets, or a dash where there is no interval."""
    if _is_undefined(low) and _is_undefined(high):
        return _UNDEFINED
    return f"[{_apa_cell(low, unit)}, {_apa_cell(high, unit)}]"


def _interval_title(column: Column) -> str:
    """The title without " low" at its end: 95% CI for 95% CI low."""
    return column.title.removesuffix(" low")


def _distinct(titles: list[str]) -> list[str]:
    """Titles with a number after repeats; a table on a page needs distinct titles."""
    seen: dict[str, int] = {}
    distinct = []
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        distinct.append(title if seen[title] == 1 else f"{title} ({seen[title]})")
    return distinct
