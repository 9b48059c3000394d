"""Small results of reads, which are the same until something is written."""

from __future__ import annotations

import datetime
import decimal
import re
import threading
import uuid
from collections import OrderedDict
from collections.abc import Generator, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any

import pandas as pd

Found = list[tuple[Any, ...]] | pd.DataFrame

_MOST_READS, _MOST_ROWS, _MOST_VALUES = 2_000, 200, 1_000
_LONGEST_SQL, _LARGEST, _MOST_BYTES = 10_000, 64_000, 32_000_000
_PLAIN = (
    *(str, int, float, bool, type(None), bytes, decimal.Decimal, uuid.UUID),
    *(datetime.datetime, datetime.date, datetime.time, datetime.timedelta),
)
_READS = re.compile(r"\s*(select|with|from)\b", re.IGNORECASE)
# What gives another result although nothing was written, and what writes.
_CHANGES = re.compile(
    r"\b(now|today|random|setseed|nextval|currval|stats|\w*uuid\w*|txid_\w+|read_\w+|duckdb_\w+)\b"
    r"|\b(get_)?current_\w+|\b\w*(timestamp|localtime)\b\s*\(|\blocal(time|timestamp)\b|\bage\s*\("
    r"|\b(error|in_search_path|sleep_ms|write_log)\s*\(|\b(using|table)\s*sample\b"
    r"|\b(insert|update|delete|create|drop|alter|copy)\b",
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
        self._found: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._n_writing = 0
        self.state = 0

    def find(self, key: Hashable) -> Any:
        """What a read found, for the caller to change as it likes, or None."""
        with self._lock:
            if self._n_writing or key not in self._found:
                return None
            self._found.move_to_end(key)
            found, _ = self._found[key]
        return _own(found)

    def keep(self, key: Hashable, state: int, found: Found) -> None:
        """Keep what a read that began in a state found, if it is little and of plain values."""
        if len(found) > _MOST_ROWS or not all(map(_is_plain, _values(found))):
            return
        size = _size(found)
        if size > _LARGEST:
            return
        with self._lock:
            if state != self.state or self._n_writing or key in self._found:
                return
            self._found[key] = _own(found), size
            self._bytes += size
            while self._bytes > _MOST_BYTES or len(self._found) > _MOST_READS:
                _, (_, freed) = self._found.popitem(last=False)
                self._bytes -= freed

    @contextmanager
    def writing(self) -> Generator[None, None, None]:
        """Something is written meanwhile: nothing is found or kept until that is done.

        Between a commit and its end, a kept read would be of before, and others of after.
        """
        self._forget(1)
        try:
            yield
        finally:
            self._forget(-1)

    def forget(self) -> None:
        """The file may be another one."""
        self._forget(0)

    def _forget(self, writers: int) -> None:
        with self._lock:
            self._n_writing += writers
            self.state += 1
            self._found.clear()
            self._bytes = 0


def _size(found: Found) -> int:
    """Bytes of the values, roughly."""
    if isinstance(found, pd.DataFrame):
        return int(found.memory_usage(deep=True).sum())
    return sum(
        64 + (len(value) if isinstance(value, (str, bytes, list)) else 0)
        for row in found
        for value in row
    )


def _own(found: Found) -> Found:
    """A copy that its owner may change."""
    if isinstance(found, pd.DataFrame):
        return found.copy()
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
    if not _lasts(sql) or _n_values(parameters) > _MOST_VALUES:
        return None
    try:
        if isinstance(parameters, Mapping):
            return sql, tuple((name, _frozen(value)) for name, value in parameters.items())
        return sql, _frozen(parameters)
    except TypeError:
        return None


def _n_values(parameters: Any) -> int:
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    return sum(len(value) if isinstance(value, (list, tuple)) else 1 for value in values)


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
