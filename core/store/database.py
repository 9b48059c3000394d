"""Opening the database file, and the one way to talk to it."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from core.errors import StoreError
from core.store.migrations import MIGRATIONS, apply_migrations

_LOCKED_DOWN = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
}
_MUST_HOLD = {**_LOCKED_DOWN, "lock_configuration": "true"}
_READ_SETTINGS = """
select name, value from duckdb_settings() where name in (select unnest(?)) order by name
"""

Parameters = Sequence[object] | Mapping[str, object]
"""Values of a query: in order, or by the names of its $parameters."""


class Database:
    """A database file. Safe to share between threads: every call takes its own cursor.

    A DuckDB connection keeps its pending result, so two threads sharing one connection can read
    each other's rows without an error.
    """

    def __init__(self, path: Path | str, *, memory_limit: str = "2GB") -> None:
        """Open (or create) the file, bring its schema up to date and lock its configuration.

        Raises
        ------
        StoreError
            The file is in use, damaged, not a database, made by a newer Inkblot, or cannot be
            created; the message says which.
        """
        self.path = str(path)
        self._whole = threading.local()  # .cursor: of the thread's open `all_or_nothing`
        self._idle = threading.Condition()  # of `_open`
        self._open = 0  # cursors in use; -1: closed
        self._connection = _connect(self.path, memory_limit)
        try:
            _refuse_newer(self._connection, self.path)
            apply_migrations(self._connection)
            self._connection.execute("set lock_configuration = true")
            _refuse_unlocked(self._connection)
        except duckdb.Error as error:
            self._connection.close()
            raise _explain(error, self.path) from error
        except (StoreError, RuntimeError):
            self._connection.close()
            raise

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Rows of a query as tuples."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).fetchone()

    def frame(self, sql: str, parameters: Parameters = ()) -> pd.DataFrame:
        """Rows of a query as a DataFrame."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).df()

    def arrow(self, sql: str, parameters: Parameters = ()) -> pa.Table:
        """Rows of a query as an Arrow table."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).to_arrow_table()

    @contextmanager
    def transaction(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """A cursor whose statements all happen, or none do."""
        outer = self._outer()
        if outer is not None:
            yield outer
            return
        with self._cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                _rollback(cursor)
                raise
            cursor.commit()

    @contextmanager
    def all_or_nothing(self) -> Generator[None, None, None]:
        """One transaction of all that this thread does inside, over several calls of the store.

        Reads see what was written inside, and nested transactions are part of this one. Other
        threads go on with cursors of their own.
        """
        with self.transaction() as cursor:
            if self._outer() is not None:
                yield
                return
            self._whole.cursor = cursor
            try:
                yield
            finally:
                self._whole.cursor = None

    def checkpoint(self) -> None:
        """Write the log into the file, so that a copy of the file alone is complete."""
        with self._cursor() as cursor:
            cursor.execute("checkpoint")

    @property
    def closed(self) -> bool:
        """Whether the file is released; nothing can be read or written any more."""
        return self._open < 0

    def close(self) -> None:
        """Release the file, once nothing reads or writes; what comes later is refused.

        DuckDB takes the process down where a connection is closed under a query.
        """
        with self._idle:
            self._idle.wait_for(lambda: self._open <= 0)
            self._open = -1
        self._connection.close()

    def _outer(self) -> duckdb.DuckDBPyConnection | None:
        return getattr(self._whole, "cursor", None)

    @contextmanager
    def _cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        outer = self._outer()
        if outer is not None:  # its errors are explained where it was opened
            yield outer
            return
        try:
            with self._in_use(), self._connection.cursor() as cursor:
                yield cursor
        except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
            raise _explain(error, self.path) from error
        except duckdb.TransactionException as error:  # a commit that could not be written
            if "Failed to commit" not in str(error):
                raise
            raise _explain(error, self.path) from error

    @contextmanager
    def _in_use(self) -> Generator[None, None, None]:
        with self._idle:
            if self._open < 0:
                raise StoreError("The database is closed.", "Start Inkblot again.")
            self._open += 1
        try:
            yield
        finally:
            with self._idle:
                self._open -= 1
                self._idle.notify_all()


def insert(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, *, key: str | None = None
) -> None:
    """Append Arrow rows to `table` by column name; a row whose `key` is there already is left out.

    Arrow INSERT ... SELECT writes a batch in milliseconds where executemany takes a hundred times
    as long. `table`, `key` and the columns are ours, never a user's.
    """
    columns = ", ".join(rows.column_names)
    known = f" on conflict ({key}) do nothing" if key else ""
    cursor.register("incoming", rows)
    try:
        cursor.execute(
            f"insert into {table} ({columns}) select {columns} from incoming{known}"  # noqa: S608
        )
    finally:
        cursor.unregister("incoming")


def _connect(path: str, memory_limit: str) -> duckdb.DuckDBPyConnection:
    try:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        return duckdb.connect(path, config={**_LOCKED_DOWN, "memory_limit": memory_limit})
    except OSError as error:
        raise StoreError(
            f"The folder of the database {path} cannot be made ({error.strerror}).",
            "Choose another place with INKBLOT_DB, or free the folder.",
        ) from error
    except duckdb.Error as error:
        raise _explain(error, path) from error


def _refuse_unlocked(connection: duckdb.DuckDBPyConnection) -> None:
    """Raise where a setting that keeps SQL inside the file is not what was asked for."""
    found = dict(connection.execute(_READ_SETTINGS, [list(_MUST_HOLD)]).fetchall())
    if found != _MUST_HOLD:
        raise RuntimeError(f"the database is not locked down: {found}")


def _refuse_newer(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    tables = {
        name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()
    }
    if not tables:
        return
    if "schema_migration" not in tables:
        raise StoreError(
            f"{path} is a DuckDB file, but not one of Inkblot's.",
            "Choose another file with INKBLOT_DB or --db.",
        )
    known = {name for name, _ in MIGRATIONS}
    applied = connection.execute("select name from schema_migration order by name").fetchall()
    unknown = [name for (name,) in applied if name not in known]
    if unknown:
        raise StoreError(
            f"{path} was made by a newer Inkblot (it has the step '{unknown[-1]}').",
            "Update Inkblot, or choose another file with INKBLOT_DB or --db.",
        )


def _rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    try:
        cursor.rollback()
    except duckdb.Error:  # a failed commit has rolled back already
        return


def _explain(error: duckdb.Error, path: str) -> StoreError:
    """The cause in plain words. DuckDB tells these apart only in its message."""
    text = str(error)
    holder = re.search(r"PID (\d+)", text)
    if Path(path).is_dir():
        return StoreError(
            f"{path} is a folder, not a database file.",
            "Choose a file in it with INKBLOT_DB or --db, for example inkblot.duckdb.",
        )
    if "lock" in text.lower() and (holder or "being used" in text):
        who = f" (process {holder.group(1)})" if holder else ""
        return StoreError(
            f"Inkblot is already running{who} and has {path} open.",
            "Use the one that is running, or close it first.",
        )
    if re.search(
        r"No space left|disk quota|could not write|File too large|Failed to write", text, re.I
    ):
        return StoreError(
            f"The disk is full, or {path} cannot be written.",
            "Free some space, then restart Inkblot; all that was saved before is kept.",
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return StoreError(
            "The database needs more memory than it may take.",
            "Set INKBLOT_MEMORY to more (for example 4GB) and restart Inkblot.",
        )
    if re.search(
        r"not a valid DuckDB|corrupt|checksum|invalidated|newer version of DuckDB"
        r"|could not read enough bytes",
        text,
        re.I,
    ):
        return StoreError(
            f"{path} is damaged, or not a database file of Inkblot.",
            "Restore a backup, or choose another file with INKBLOT_DB. Nothing was changed.",
        )
    first_line = text.splitlines()[0] if text else type(error).__name__
    return StoreError(
        f"The database {path} could not be used: {first_line}",
        "Check that the file can be read and written, then restart Inkblot.",
    )
