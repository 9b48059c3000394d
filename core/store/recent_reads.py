"""Small results of reads, which are the same until something is written."""

from __future__ import annotations

import datetime
import decimal
import re
import threading
import uuid
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

import pandas as pd

Found = list[tuple[Any, ...]] | pd.DataFrame

_MOST_READS, _MOST_ROWS, _LONGEST_SQL = 2_000, 200, 10_000
_PLAIN = (
    *(str, int, float, bool, type(None), bytes, decimal.Decimal, uuid.UUID),
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
)
_READS = re.compile(r"\s*(select|with|from)\b", re.IGNORECASE)
# What gives another result although nothing was written.
_CHANGES = re.compile(
    r"\b(now|random|nextval|currval|uuid|read_\w+|duckdb_\w+|current_\w+|today|sample)\b"
    r"|\b(insert|update|delete)\b",
    re.IGNORECASE,
)


class RecentReads:
    """Rows that were read since the last write of this process, which alone has the file.

    A page asks for the same few rows (a study, its levels, its counts) many times in one drawing,
    and each question costs the database some milliseconds.

    A read notes the `state` before it begins, and is kept only if nothing was written meanwhile:
    what it saw may be of before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self.state = 0

    def find(self, key: Hashable) -> Any:
        """What a read found, for the caller to change as it likes, or None."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
        return None if found is None else _own(found)

    def keep(self, key: Hashable, state: int, found: Found) -> None:
        """Keep what a read that began in a state found, if it is little and of plain values."""
        if len(found) > _MOST_ROWS or not all(map(_is_plain, _values(found))):
            return
        with self._lock:
            if state == self.state:
                self._found[key] = _own(found)
                if len(self._found) > _MOST_READS:
                    self._found.popitem(last=False)

    def forget(self) -> None:
        """Something was written."""
        with self._lock:
            self.state += 1
            self._found.clear()


def _own(found: Found) -> Found:
    """A copy that its owner may change; pandas copies the values of a frame once they change."""
    if isinstance(found, pd.DataFrame):
        return found.copy(deep=False)
    return [tuple(list(v) if isinstance(v, list) else v for v in row) for row in found]


def _values(found: Found) -> Iterator[Any]:
    """The values that could be something that changes."""
    if not isinstance(found, pd.DataFrame):
        return chain.from_iterable(found)
    return chain.from_iterable(found[name] for name in found if found[name].dtype.kind == "O")


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(part, _PLAIN) for part in value)
    return isinstance(value, _PLAIN)


def key_of(sql: str, parameters: Any) -> Hashable | None:
    """What tells a read from others; None where its rows can change without a write."""
    if not _lasts(sql):
        return None
    try:
        if isinstance(parameters, Mapping):
            return sql, tuple((name, _frozen(value)) for name, value in parameters.items())
        return sql, _frozen(parameters)
    except TypeError:
        return None


@lru_cache(_MOST_READS)
def _lasts(sql: str) -> bool:
    """Whether a statement reads only, and reads the same until something is written."""
    return bool(len(sql) <= _LONGEST_SQL and _READS.match(sql) and not _CHANGES.search(sql))


def _frozen(value: Any) -> Hashable:
    """A value of a query with its type, as 1, 1.0 and True are equal."""
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(part) for part in value)
    if type(value) not in _PLAIN:
        raise TypeError(type(value))
    return type(value), value
