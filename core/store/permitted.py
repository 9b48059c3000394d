"""The database as one person may use it: some tables are written, and the file is left alone.

What is refused is decided where a statement names its table, so that no verb can be forgotten and
no message made by hand goes around it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import duckdb

from core.errors import UserError
from core.store.database import Database

# At the beginning, with no comment and no WITH before it: words elsewhere decide nothing.
_TARGET = re.compile(r"\s*(?:insert\s+into|update|delete\s+from)\s+(\w+)\b(?!\s*\.)", re.I)
_CHANGES_OF_ROWS = (
    duckdb.StatementType.INSERT,
    duckdb.StatementType.UPDATE,
    duckdb.StatementType.DELETE,
)
_OTHERWISE = frozenset(
    {
        "begin",
        "commit",
        "rollback",
        "register",
        "unregister",
        "description",
        "fetchall",
        "fetchone",
        "df",
        "to_arrow_table",
        "to_arrow_reader",
    }
)
"""What a cursor does beside running statements."""


class PermittedDatabase(Database):
    """The same open file as `whole`, through which only `tables` are written (None: all).

    Nobody copies the file or puts another in its place through it. `refusal` is what is raised.
    """

    __slots__ = ("_refusal", "_tables", "whole")

    def __init__(self, whole: Database, tables: Collection[str] | None, refusal: UserError) -> None:
        # The state of the file is one, whoever uses it. What differs stands in the slots.
        self.__dict__ = whole.__dict__
        self.whole = whole
        self._tables = tables
        self._refusal = refusal

    def copy_to(self, target: Path) -> None:
        """Refused."""
        raise self._refusal

    def replace_by(self, other: Path, kept: Path) -> None:
        """Refused."""
        raise self._refusal

    def _next_generation(self) -> None:
        self.whole._next_generation()

    @contextmanager
    def _cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        with super()._cursor() as cursor:
            if self._tables is None:
                yield cursor
            else:
                yield cast("duckdb.DuckDBPyConnection", _PermittedCursor(cursor, self._refuse))

    def _refuse(self, sql: str) -> None:
        """Raise where a statement changes anything else than rows of the tables."""
        for statement in duckdb.extract_statements(sql):
            if statement.type == duckdb.StatementType.SELECT:
                continue
            target = _TARGET.match(statement.query)
            if (
                statement.type not in _CHANGES_OF_ROWS
                or target is None
                or target.group(1).lower() not in (self._tables or ())
            ):
                raise self._refusal


class _PermittedCursor:
    """A cursor that looks at every statement before it is run."""

    def __init__(self, cursor: Any, refuse: Any) -> None:
        self._own = cursor
        self._refuse = refuse

    def __getattr__(self, name: str) -> Any:
        if name not in _OTHERWISE:
            raise AttributeError(f"a cursor of one person has no {name}")
        return getattr(self._own, name)

    def execute(self, sql: str, *parameters: Any) -> Any:
        self._refuse(sql)
        return self._own.execute(sql, *parameters)
