"""What is wrong with the rows of a file of answers, and the error that names the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.domain.study import Status
from core.errors import FileError
from core.files.tidy_columns import KEY
from core.files.tidy_sources import Source

_WHY_NOT = tuple(status.value for status in Status if not status.usable)
_STATUSES = tuple(status.value for status in Status)
_TIME = r"\A[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.,]+ ?(Z|[+-][0-9:]+)?)?)?\z"


@dataclass(frozen=True, eq=False)
class Fault:
    """Rows in which a column is wrong, and the reason for one of them."""

    column: str
    rows: np.ndarray[Any, np.dtype[np.bool_]]
    reason: Callable[[int], str]


def time_fault(times: pd.Series[str]) -> Fault:
    """Rows whose time is none, in one of the forms of ISO 8601."""
    filled = times != ""
    formed = times.str.fullmatch(_TIME)
    parsed = pd.to_datetime(times.where(formed), format="ISO8601", errors="coerce", utc=True)
    return Fault(
        "time",
        (filled & parsed.isna()).to_numpy(bool),
        lambda i: f"{quoted(times[i])} is not a time such as 2025-03-31T14:05:00Z",
    )


def answer_faults(frame: pd.DataFrame) -> Iterator[Fault]:
    """Rows without an item, and rows whose answer and status contradict each other."""
    item, answer, status = frame["item"], frame["answer"], frame["status"]
    yield Fault("item", (item.str.strip() == "").to_numpy(bool), lambda _: "the item is missing")
    unknown = (status != "") & ~status.isin(_STATUSES)
    yield Fault(
        "status",
        unknown.to_numpy(bool),
        lambda i: f"{quoted(status[i])} is not one of {', '.join(_STATUSES)}",
    )
    unusable = status.isin(_WHY_NOT)
    yield Fault(
        "answer",
        ((answer == "") & ~unusable & ~unknown).to_numpy(bool),
        lambda _: f"it is empty, and the status does not say why ({', '.join(_WHY_NOT)})",
    )
    yield Fault(
        "status",
        ((answer != "") & unusable).to_numpy(bool),
        lambda i: f"'{status[i]}' cannot stand beside the answer {quoted(answer[i])}",
    )


def repeats(source: Source, frame: pd.DataFrame) -> list[Fault]:
    """Rows that answer the same item under the same conditions as an earlier one."""
    if frame.empty:
        return []
    varied = [column for column in KEY if (frame[column] != frame[column].iloc[0]).any()]
    again = frame.duplicated(varied or ["item"]).to_numpy(bool)

    def reason(index: int) -> str:
        same = np.logical_and.reduce([frame[c] == frame[c].iloc[index] for c in KEY])
        return (
            f"{quoted(frame['item'].iloc[index])} was answered under the same conditions in "
            f"{source.place(int(same.argmax()))} already"
        )

    return [Fault("item", again, reason)] if again.any() else []


def first_fault(source: Source, faults: list[Fault]) -> FileError:
    """The error that names the first wrong row and counts the others."""
    first = min(faults, key=lambda fault: int(fault.rows.argmax()))
    index = int(first.rows.argmax())
    others = int(np.logical_or.reduce([fault.rows for fault in faults]).sum()) - 1
    more = f" {others:,} more rows have errors." if others else ""
    where = f"{source.name}, {source.place(index)}, column {first.column}"
    return FileError(
        f"{where}: {first.reason(index)}.{more}",
        "Nothing was kept. Correct the file and choose it again.",
    )


def quoted(text: str) -> str:
    """The text in quotation marks, cut where it is long."""
    return f"'{text}'" if len(text) <= 60 else f"'{text[:60]}…'"
