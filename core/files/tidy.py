"""The tidy response file: one answer a row, as CSV or Parquet, read and written without loss.

Files may hold a million rows, so columns are read, checked and written as a whole. Only to say
in which line something is wrong is a CSV file gone through row by row.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.domain.study import Status
from core.errors import FileError
from core.files.reading import TEXT_ENDINGS, unpack
from core.files.tidy_columns import (
    DECIMALS,
    FILE_COLUMNS,
    INTEGERS,
    KEY,
    PERSON_COLUMNS,
    REQUIRED,
    TIDY_COLUMNS,
    joined,
    large,
    one_chunk,
)
from core.files.tidy_entities import codes_to_names, names_to_codes
from core.files.tidy_faults import Fault, answer_faults, first_fault, quoted, repeats, time_fault
from core.files.tidy_sources import Source, csv_source, parquet_source
from core.files.tidy_writing import columns_to_write, csv_bytes

__all__ = ["CONTEXT_FROM", "KEY", "TIDY_COLUMNS", "read_tidy", "write_tidy"]

CONTEXT_FROM = "context_from"
"""Attribute of a frame that was read: the file's own name of the column taken as the context."""

_NUMBER = r"\A[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\z"
_LARGEST = 2**31 - 1  # what a whole number of the database holds
_LOWEST = {
    "repetition": ("a whole number from 1 up", 1),
    "position": ("a whole number", -_LARGEST),
    "tokens_in": ("a whole number from 0 up", 0),
    "tokens_out": ("a whole number from 0 up", 0),
}
_NOT_NEGATIVE = ("latency_s", "cost")


def read_tidy(name: str, data: bytes) -> pd.DataFrame:
    """Every answer of a .csv, .csv.gz or .parquet file, in the columns TIDY_COLUMNS.

    Text that is missing is "", a number that is missing is NaN or NA. A repetition that is missing
    is 1; a status that is missing beside an answer is "answered". In the format name_entity, an
    answer that names the row's entity or entity_b becomes the code of that option. In a file
    without contexts, a column that says who answered (PERSON_COLUMNS) is the context; its name
    stands in the frame's attribute CONTEXT_FROM.

    Raises
    ------
    FileError
        Anything at all is wrong; names the file, line, column and reason. Nothing is kept.
    """
    inner, content = unpack(name, data)
    if inner.lower().endswith(".parquet"):
        source = parquet_source(name, content)
    elif inner.lower().endswith(TEXT_ENDINGS):
        source = csv_source(name, content)
    else:
        raise FileError(
            f"{name}: answers are read from .csv, .csv.gz and .parquet files.",
            'In Excel choose File, Save As and the type "CSV UTF-8 (Comma delimited)".',
        )
    person = _person_column(source)
    if person:
        others = {c: texts for c, texts in source.columns.items() if c not in (person, "context")}
        source = replace(source, columns={**others, "context": source.columns[person]})
    frame, faults = _frame(source)
    faults = [fault for fault in (*faults, *answer_faults(frame)) if fault.rows.any()]
    faults += repeats(source, frame) if not faults else []
    if faults:
        raise first_fault(source, faults)
    frame = names_to_codes(frame)
    frame.attrs[CONTEXT_FROM] = person
    return frame


def write_tidy(frame: pd.DataFrame, fmt: Literal["csv", "parquet"]) -> bytes:
    """The answers as a file that `read_tidy` gives back; equal frames give equal bytes.

    A column is written if it is required or holds something; tags become columns again, and
    answers in the format name_entity the names of what was chosen. In CSV, text that a spreadsheet
    could take for a formula is guarded.
    """
    columns = columns_to_write(codes_to_names(frame))
    if fmt == "csv":
        return csv_bytes(columns)
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written, compression="zstd")
    return written.getvalue()


def _frame(source: Source) -> tuple[pd.DataFrame, list[Fault]]:
    """The columns TIDY_COLUMNS, and where a number or a time is none."""
    missing = [column for column in REQUIRED if column not in source.columns]
    if missing:
        raise FileError(
            f"{source.name}: there is no column {' and no column '.join(map(repr, missing))}; "
            f"the file has {', '.join(map(repr, source.columns))}.",
            "Name the columns as the page on files says.",
        )
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    for column in FILE_COLUMNS:
        texts = source.columns.get(column)
        if texts is None:
            texts = pa.repeat(large(""), source.n_rows)
        if column in INTEGERS or column in DECIMALS:
            columns[column], fault = _numbers(column, texts)
            faults.append(fault)
        else:
            columns[column] = _series(texts)
    unstated = (columns["status"] == "") & (columns["answer"] != "")
    columns["status"] = columns["status"].mask(unstated, Status.ANSWERED.value)
    columns["tags"] = _series(_tags(source))
    faults.append(time_fault(columns["time"]))
    return pd.DataFrame(columns), faults


def _person_column(source: Source) -> str:
    """The column that says who answered, in a file without contexts; empty where there is none.

    A column `id` with another number in every row numbers the rows, unless there is one item only.
    """
    if _filled(source.columns.get("context")) or "item" not in source.columns:
        return ""
    known = {re.sub(r"[\s_.-]", "", name.casefold()): name for name in source.columns}
    for plain in PERSON_COLUMNS:
        name = known.get(plain, "")
        texts = source.columns.get(name)
        if not _filled(texts) or name in FILE_COLUMNS:
            continue
        numbers_rows = plain == "id" and pc.count_distinct(texts).as_py() == source.n_rows
        if not numbers_rows or pc.count_distinct(source.columns["item"]).as_py() == 1:
            return name
    return ""


def _filled(texts: Any) -> bool:
    return texts is not None and bool(pc.any(pc.not_equal(texts, "")).as_py())


def _series(texts: Any) -> pd.Series[str]:
    return pd.Series(texts, dtype="str")


def _numbers(column: str, texts: Any) -> tuple[pd.Series[Any], Fault]:
    trimmed = pc.utf8_trim_whitespace(texts)
    formed = pc.match_substring_regex(trimmed, _NUMBER)
    readable = pc.if_else(formed, pc.utf8_ltrim(trimmed, "+"), None)
    values = np.asarray(pc.cast(readable, pa.float64()).to_numpy(zero_copy_only=False))
    filled = pc.not_equal(trimmed, "").to_numpy(zero_copy_only=False)
    kind = "a number such as 0.5"
    wrong = filled & ~np.isfinite(values)
    numbers = pd.Series(values)
    if column in _NOT_NEGATIVE:
        kind = "a number from 0 up, such as 0.5"
        wrong |= filled & (values < 0)
    if column in INTEGERS:
        kind, lowest = _LOWEST[column]
        kind += f" (at most {_LARGEST:,})"
        inside = (values >= lowest) & (values <= _LARGEST) & (np.floor(values) == values)
        wrong = filled & ~inside
        numbers = pd.Series(np.where(inside, values, np.nan)).astype("Int64")
    if column == "repetition":
        numbers = numbers.fillna(1).astype("int64")
    return numbers, Fault(column, wrong, lambda i: f"{quoted(texts[i].as_py())} is not {kind}")


def _tags(source: Source) -> Any:
    """JSON of every cell in a column we do not know; "" where there is none in the row."""
    pieces = []
    for name in sorted(set(source.columns) - set(FILE_COLUMNS)):
        coded = one_chunk(source.columns[name]).dictionary_encode()
        texts = [
            json.dumps({name: text}, ensure_ascii=False)[1:-1] + ", " if text else ""
            for text in coded.dictionary.to_pylist()
        ]
        pieces.append(pa.array(texts, pa.large_string()).take(coded.indices))
    if not pieces:
        return pa.repeat(large(""), source.n_rows)
    # not null_handling="skip", which leaves out rows that are null throughout
    inside = pc.binary_join_element_wise(*pieces, large(""))
    inside = pc.replace_substring_regex(inside, r", \z", "")
    return pc.if_else(pc.equal(inside, ""), large(""), joined("{", inside, "}"))
