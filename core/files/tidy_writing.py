"""The answers of a frame as the columns and the bytes of a tidy file."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import FileError
from core.files.guard import csv_fault, csv_line
from core.files.reading import MAX_CELL_CHARACTERS
from core.files.tidy_columns import (
    DECIMALS,
    FILE_COLUMNS,
    INTEGERS,
    REQUIRED,
    Texts,
    joined,
    large,
    one_chunk,
)

_RISKY_PATTERN = r"\A([=+\-@\t\r'])"


def columns_to_write(frame: pd.DataFrame) -> Texts:
    """Arrow columns of text and numbers that are required or hold something."""
    columns: Texts = {}
    for column in (name for name in FILE_COLUMNS if name in frame.columns):
        if column in INTEGERS or column in DECIMALS:
            numbers = _number_array(frame[column], whole=column in INTEGERS)
            if numbers.null_count < len(numbers):
                columns[column] = numbers
        else:
            texts = _text_array(frame[column])
            if column in REQUIRED or pc.any(pc.not_equal(texts, "")).as_py():
                columns[column] = texts
    return columns | _tag_columns(frame)


def _number_array(column: pd.Series[Any], *, whole: bool) -> Any:
    numbers = column.astype("Int64") if whole else column.astype("float64")
    return one_chunk(pa.array(numbers, from_pandas=True))


def _text_array(column: pd.Series[Any]) -> Any:
    texts = pa.array(column.astype("str"), from_pandas=True)
    return pc.fill_null(pc.cast(one_chunk(texts), pa.large_string()), "")


def _tag_columns(frame: pd.DataFrame) -> Texts:
    if "tags" not in frame.columns:
        return {}
    coded = _text_array(frame["tags"]).dictionary_encode()
    rows = [json.loads(text) if text else {} for text in coded.dictionary.to_pylist()]
    names = sorted({name for row in rows for name in row})
    if clash := set(names) & set(FILE_COLUMNS):
        raise ValueError(f"tags named like columns: {clash}")
    return {
        name: pa.array([_tag_text(row.get(name)) for row in rows], pa.large_string()).take(
            coded.indices
        )
        for name in names
    }


def _tag_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def csv_bytes(columns: Texts) -> bytes:
    """The columns as UTF-8 CSV; FileError where a text cannot stand in one."""
    header = csv_line(columns).encode("utf-8")
    cells = [_csv_cells(name, column) for name, column in columns.items()]
    n_rows = len(cells[0])
    if not n_rows:
        return header
    lines = pc.binary_join_element_wise(*cells, large(","))
    whole = pc.binary_join(pa.LargeListArray.from_arrays([0, n_rows], lines), large("\n"))
    return b"".join((header, whole[0].as_buffer().to_pybytes(), b"\n"))


def _csv_cells(name: str, column: Any) -> Any:
    """The cells of one column as they stand in the file."""
    if not pa.types.is_large_string(column.type):
        return pc.fill_null(pc.cast(column, pa.large_string()), "")
    impossible = pc.or_(
        pc.match_substring(column, "\0"), pc.greater(pc.utf8_length(column), MAX_CELL_CHARACTERS)
    )
    if (row := pc.index(impossible, value=True).as_py()) >= 0:
        raise FileError(
            f"Row {row + 1}, column {name}: {csv_fault(column[row].as_py())} cannot stand in CSV.",
            "Choose Parquet instead, which can hold it.",
        )
    guarded = pc.replace_substring_regex(column, _RISKY_PATTERN, r"'\1")
    quotable = pc.match_substring_regex(guarded, '[,;\t"\r\n]')
    if not pc.any(quotable).as_py():
        return guarded
    doubled = pc.replace_substring(guarded, '"', '""')
    return pc.if_else(quotable, joined('"', doubled, '"'), guarded)
