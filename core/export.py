"""Results as files: CSV and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.domain.numbers import SIGNIFICANCE, judged_decimals, round_half_away
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.values import slug
from core.files.writing import Cell, csv_bytes
from core.files.writing import files_zip as files_zip

DECIMALS: Mapping[str, int] = {
    "none": 2,
    "points": 2,
    "points squared": 2,
    "proportion": 2,
    "correlation": 2,
    "p": 3,
    "compared": 4,
}
"""Decimals that are shown of a number, by the unit of its column."""


def decimals_of(column: Column, values: pd.Series) -> int:
    """The decimals of a column: those of its unit, or as many as its bounds need to judge it."""
    decimals = DECIMALS[column.unit]
    is_p = column.unit == "p"
    numbers = values.to_numpy(dtype=np.float64, na_value=math.nan)
    for bound in SIGNIFICANCE if is_p else column.bounds:
        for value in numbers[np.abs(numbers - bound) < 10.0**-decimals]:
            decimals = judged_decimals(float(value), [bound], decimals)
    return decimals


def frame_csv(frame: pd.DataFrame) -> bytes:
    """A table as CSV in UTF-8: every digit, empty where undefined, safe in a spreadsheet."""
    return csv_bytes(rows_of(frame))


def rows_of(frame: pd.DataFrame) -> list[Iterator[Cell]]:
    """The cells of a table for a file, the first row the names of the columns."""
    return [map(str, frame.columns), *(map(_cell, row) for row in _rows(frame))]


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
            decimals = decimals_of(column, values)
            rounded = pd.Series(round_half_away(values, decimals), index=values.index)
            frame[column.name] = (
                values.where(values < 0.001, rounded) if column.unit == "p" else rounded
            )
    return frame


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
