"""The columns of the tidy response file, and how they are held as Arrow text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

REQUIRED = ("item", "answer")
INTEGERS = ("repetition", "position", "tokens_in", "tokens_out")
DECIMALS = ("score", "latency_s", "cost")
TIDY_COLUMNS = (
    "study", "instrument", "item", "model", "language", "entity", "entity_b", "context", "form",
    "format", "template", "label_order", "phase", "repetition", "call", "position", "answer",
    "raw", "status", "score", "latency_s", "tokens_in", "tokens_out", "cost", "time", "tags",
)  # fmt: skip
"""Columns of the frame. `tags` is JSON of the file's other columns that hold something, or ""."""
KEY = TIDY_COLUMNS[: TIDY_COLUMNS.index("repetition") + 1]
"""What makes a row unique: which item was asked under which conditions."""

FILE_COLUMNS = TIDY_COLUMNS[:-1]
PERSON_COLUMNS = (
    "respondentid", "participantid", "subjectid", "personid", "respondent", "participant",
    "subject", "person", "id",
)  # fmt: skip
"""Columns that say who answered, the surest first, without case and separators."""

Texts = dict[str, Any]  # column -> pyarrow array of text without nulls


def large(text: str) -> Any:
    """A scalar of the one text type used throughout, whose columns may pass 2 GB."""
    return pa.scalar(text, pa.large_string())


def joined(before: str, texts: Any, after: str) -> Any:
    """Every text between `before` and `after`."""
    return pc.binary_join_element_wise(large(before), texts, large(after), large(""))


def one_chunk(column: Any) -> Any:
    """The column as one array, which can be encoded as a dictionary with its indices."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
