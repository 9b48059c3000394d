"""Files in which a row is an item, and a column a repetition, a person or a model: made long."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa

from core.files.columns import ColumnLabels, TextColumns
from core.files.mapping import ANSWER, AnswerMapping

_ANSWERS, _RUNS = "answers of the columns", "names of the columns"
_NUMBER = re.compile(r".*?(\d{1,6})\D*")


def run_names(columns: list[str], columns_are: str) -> dict[str, str]:
    """What each column of answers stands for: its number where it is a repetition, else its name.

    Columns without numbers, or with a number twice, are numbered in their order.
    """
    if columns_are != "repetition":
        return {column: column for column in columns}
    numbers = [_NUMBER.fullmatch(column) for column in columns]
    found = [int(match[1]) for match in numbers if match]
    if len(set(found)) == len(columns) and min(found) > 0:
        return dict(zip(columns, map(str, found), strict=True))
    return {column: str(place) for place, column in enumerate(columns, start=1)}


def made_long(source: TextColumns, mapping: AnswerMapping) -> tuple[TextColumns, AnswerMapping]:
    """The file with a row for each item and column of answers, and the mapping of that file."""
    columns = mapping.with_role(ANSWER)
    names = run_names(columns, mapping.columns_are)
    n = len(columns)
    rows = pa.array(np.repeat(np.arange(source.n_rows), n))
    # the first row of each column, then the second, ...
    places = pa.array((np.tile(np.arange(n), source.n_rows) * source.n_rows) + np.asarray(rows))
    answers = pa.chunked_array(
        [chunk for column in columns for chunk in _chunks(source.columns[column])],
        pa.large_string(),
    ).take(places)
    others = {c: own for c, own in source.columns.items() if mapping.columns.get(c) != ANSWER}
    made = {column: texts.take(rows) for column, texts in others.items()}
    turned = pa.array([names[column] for column in columns] * source.n_rows, pa.large_string())
    labels = source.labels.get(columns[0], ColumnLabels())
    long = TextColumns(
        source.name,
        {**made, _ANSWERS: answers, _RUNS: turned},
        source.n_rows * n,
        lambda index: source.place(index // n),
        {**source.labels, _ANSWERS: labels},
        lambda column, index: columns[index % n] if column in (_ANSWERS, ANSWER) else column,
        source.header,
    )
    roles = {column: mapping.columns[column] for column in others}
    roles |= {_ANSWERS: ANSWER, _RUNS: mapping.columns_are}
    return long, replace(mapping, layout="long", columns=roles)


def _chunks(texts: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    chunked = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    return [chunk.cast(pa.large_string()) for chunk in chunked]
