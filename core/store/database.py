"""The database file: opening it, reading and writing, and its errors in plain words."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pandas as pd
import pyarrow as pa

from core.errors import ConflictError, StoreError
from core.store import database_file
from core.store.database_file import FileState
from core.store.migrations import MIGRATIONS, apply_migrations, steps_to_apply
from core.store.recent_reads import RecentReads, key_of

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

log = logging.getLogger(__name__)

IN_MEMORY = ":memory:"
_CHECKPOINT_TRIES, _CHECKPOINT_WAIT_S = 100, 0.01
_COPY_WAIT_S = 60.0  # for what is read or written, before the file is copied or replaced
_PART_ROWS = 250_000  # of what is read in parts

Parameters = Sequence[object] | Mapping[str, object]
"""Values of a query: in order, or by the names of its $parameters."""


class FrameEngine(Protocol):
    """What counts the analysis frames in place of the database (see core.store.frames)."""

    dialect: str
    """Of the SQL it takes, as ibis calls it."""

    def rows(self, sql: str, studies: Sequence[str]) -> pa.Table:
        """Rows of a query in which the table `study` has only the studies of these codes."""
        ...


class Database:
    """A database file. Safe to share between threads: every call takes its own cursor.

    A DuckDB connection keeps its pending result, so two threads sharing one connection can read
    each other's rows without an error.
    """

    def __init__(
        self, path: Path | str, *, memory_limit: str = "2GB", readable: Path | None = None
    ) -> None:
        """Open (or create) the file, bring its schema up to date and lock its configuration.

        SQL reads no other files than those in the folder `readable`.

        Raises
        ------
        StoreError
            The file is in use, damaged, not a database, made by a newer Inkblot, or cannot be
            created; the message says which.
        """
        self.path = str(path)
        self.engine: FrameEngine | None = None
        self.memory: dict[str, Any] = {}
        """What modules of the store keep of this file while it is open, by their name for it."""
        self._thread_state = threading.local()  # .cursor: of an `all_or_nothing`
        self._idle = threading.Condition()  # of `_open`
        self._open = 0  # cursors in use; -1: closed
        self._adding_answers = threading.RLock()
        self._deciding = threading.RLock()
        self._memory_limit = memory_limit
        self._readable = readable
        self.notices: list[str] = []
        """What opening the file did beside opening it, in sentences for the user."""
        self._state: FileState | None = None
        self._beginning = threading.Lock()
        self._has_begun = False  # writing, since the file was opened
        self._recent = RecentReads()
        self._connect_again()

    def _connect_again(self) -> None:
        self._connection = _open_connection(
            self.path, self._memory_limit, self._readable, self.notices.append
        )
        self._has_unused_space = _ends_with_unused_space(self._connection, self.path)
        self._state = database_file.state_of(self.path)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[tuple[Any, ...]]:
        """Rows of a query as tuples."""
        rows: list[tuple[Any, ...]] = self._read(sql, parameters, _all_rows)
        return rows

    def row(self, sql: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
        """The first row of a query, or None."""
        rows: list[tuple[Any, ...]] = self._read(sql, parameters, _first_row)
        return rows[0] if rows else None

    def frame(self, sql: str, parameters: Parameters = ()) -> pd.DataFrame:
        """Rows of a query as a DataFrame."""
        frame: pd.DataFrame = self._read(sql, parameters, _frame)
        return frame

    def _read(self, sql: str, parameters: Parameters, fetch: Callable[..., Any]) -> Any:
        """What a query finds, or found since the last write."""
        key = None if self.in_transaction else key_of(sql, parameters)
        if key is None:
            with self._cursor() as cursor:
                return fetch(cursor.execute(sql, parameters))
        with self._in_use():  # which notices that the file was closed or moved away
            state = self._recent.state
            found = self._recent.find((fetch, key))
        if found is None:
            with self._cursor() as cursor:
                found = fetch(cursor.execute(sql, parameters))
            self._recent.keep((fetch, key), state, found)
        return found

    def arrow(self, sql: str, parameters: Parameters = ()) -> pa.Table:
        """Rows of a query as an Arrow table."""
        with self._cursor() as cursor:
            return cursor.execute(sql, parameters).to_arrow_table()

    def arrow_parts(
        self, sql: str, parameters: Parameters = ()
    ) -> Generator[pa.RecordBatch, None, None]:
        """Rows of a query in parts, of which one at a time is in memory."""
        with self._cursor() as cursor:
            yield from cursor.execute(sql, parameters).to_arrow_reader(_PART_ROWS)

    @contextmanager
    def batches(
        self, sql: str, parameters: Parameters = ()
    ) -> Generator[pa.RecordBatchReader, None, None]:
        """Rows of a query as Arrow batches, one after the other."""
        with self._cursor() as cursor:
            yield cursor.execute(sql, parameters).to_arrow_reader(100_000)

    @contextmanager
    def transaction(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        """A cursor for one transaction: all of its statements take effect, or none."""
        cursor = self._open_cursor()
        if cursor is not None:
            yield cursor
            return
        with self._freeing_space(), self._cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                _rollback(cursor)
                raise
            cursor.commit()

    def write(self, sql: str, parameters: Parameters = ()) -> None:
        """One statement as a transaction, which takes half the time of opening one for it."""
        with self._freeing_space(), self._cursor() as cursor:
            cursor.execute(sql, parameters)

    @contextmanager
    def all_or_nothing(self) -> Generator[None, None, None]:
        """One transaction for several calls of the store by this thread.

        Reads see the writes of the transaction, and nested transactions are part of it. Other
        threads have cursors of their own.
        """
        with self.transaction() as cursor:
            if self._open_cursor() is not None:
                yield
                return
            self._thread_state.cursor = cursor
            try:
                yield
            finally:
                self._thread_state.cursor = None

    @contextmanager
    def adding_answers(self) -> Generator[None, None, None]:
        """Holds back other threads that add answers, until this one has committed its own.

        The tables of answers have no unique keys, so each thread looks first for the rows on file.
        It enters before its transaction begins.
        """
        with self._adding_answers:
            yield

    @contextmanager
    def deciding(self) -> Generator[None, None, None]:
        """Holds back other threads that look at something first and then write because of it.

        What was looked at is true until the write is done: no other tab or command of this process
        has changed it, and no other process has the file. It enters before its transaction begins,
        and before `adding_answers`.
        """
        with self._deciding:
            yield

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is within `all_or_nothing`: what it reads may be undone yet."""
        return self._open_cursor() is not None

    def checkpoint(self) -> None:
        """Write the log into the file, so that a copy of the file alone is complete."""
        self.write("checkpoint")

    @property
    def closed(self) -> bool:
        """Whether the file is released; reads and writes fail from then on."""
        return self._open < 0

    def close(self, *, within_s: float | None = None) -> None:
        """Release the file once no read or write is under way; later ones are refused.

        What is under way after `within_s` seconds goes on, and the file stays open: DuckDB crashes
        the process where a connection closes during a query.
        """
        with self._idle:
            if not self._idle.wait_for(lambda: self._open <= 0, within_s) or self._open < 0:
                return
            self._open = -1
        self._close_connection()

    def _close_connection(self) -> None:
        """Close, with all of the log in the file; a log is left alone beside another file."""
        try:
            self._refuse_another_file(whole=True)
            self._connection.execute("checkpoint")
        except (StoreError, duckdb.Error) as error:
            log.warning("the log of %s stays beside it: %s", self.path, error)
        self._state = None
        self._connection.close()

    @contextmanager
    def _freeing_space(self) -> Generator[None, None, None]:
        """Has DuckDB use the space of a failed write again, and writes into no other file."""
        with self._idle:  # else the file might be closed and opened again while it is looked at
            self._refuse_another_file(whole=True)
        self._begin_generation()
        size = _file_size(self.path)
        try:
            with self._recent.writing():
                yield
        except StoreError:
            if self._has_unused_space or _file_size(self.path) > size:
                self._reopen()
            raise
        with self._idle:
            now = database_file.state_of(self.path)
            if self._state is not None and self._state.goes_on_as(now):
                self._state = now

    def _begin_generation(self) -> None:
        """Before the first write, have the file differ from every copy of it made before.

        The log then belongs to this state, and is not read beside such a copy.
        """
        with self._beginning:
            if not self._has_begun:
                self._next_generation()
                self._has_begun = True

    def _next_generation(self) -> None:
        with self._cursor() as cursor:
            cursor.execute("update generation set number = number + 1")
            self._recent.forget()
            for _ in range(_CHECKPOINT_TRIES):
                try:
                    cursor.execute("checkpoint")
                except duckdb.TransactionException:  # DuckDB takes a reader for a writer at times
                    time.sleep(_CHECKPOINT_WAIT_S)
                else:
                    return
            log.warning("%s: a copy made just now cannot be told from the file", self.path)

    def _reopen(self) -> None:
        """Open the file again once no read or write is under way; others wait.

        Until then DuckDB counts the space of a failed write as used.
        """
        with self._alone():
            pass

    def copy_to(self, target: Path) -> None:
        """Copy the file, complete, while nothing is read or written; others wait.

        Raises
        ------
        StoreError
            The database is closed or busy, or the target cannot be written.
        """
        with self._alone(within_s=_COPY_WAIT_S):
            database_file.copy_file(self.path, target)

    def replace_by(self, other: Path, kept: Path) -> None:
        """Put another database in the place of this one, which is kept under another name.

        Raises
        ------
        StoreError
            The database is closed or busy, or the other one cannot be opened; then this one is
            as it was.
        """
        with self._alone(within_s=_COPY_WAIT_S):
            database_file.copy_file(self.path, kept)
            try:
                database_file.copy_file(other, Path(self.path))
                _open_connection(
                    self.path, self._memory_limit, self._readable, self.notices.append
                ).close()
            except StoreError:
                kept.replace(self.path)
                raise

    @contextmanager
    def _alone(self, *, within_s: float | None = None) -> Generator[None, None, None]:
        """The file is closed meanwhile, with all of the log in it, and opened again afterwards."""
        with self._idle:
            if not self._idle.wait_for(lambda: self._open <= 0, within_s):
                raise StoreError(
                    "The database is busy: something is read or written all the time.",
                    "Wait for it or pause the run, then try again.",
                )
            if self._open < 0:
                return
            self._refuse_another_file(whole=True)
            self._close_connection()
            try:
                yield
            finally:
                self._open = -1  # should opening fail
                self._recent.forget()
                self._connect_again()
                self._open = 0
                if self._has_begun:  # now, as later another write could be under way
                    self._next_generation()

    def _refuse_another_file(self, *, whole: bool = False) -> None:
        """Raise where another file, or none, is in the place of the one that is open.

        Without `whole` only its place is looked at, with it also what it is: a file that was
        written over has the same place.
        """
        if (state := self._state) is None:
            return
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            raise _gone(self.path, "was moved or deleted") from None
        except OSError:  # of the folder, which says nothing about the file
            return
        if (status.st_dev, status.st_ino) != (state.device, state.inode):
            raise _gone(self.path, "was replaced by another file")
        if whole and os.name != "nt":  # Windows lets nobody write over a file that is open
            now = database_file.state_of(self.path)
            if now is None or not state.goes_on_as(now):
                raise _gone(self.path, "was written over by another program")
            self._state = now

    def _open_cursor(self) -> duckdb.DuckDBPyConnection | None:
        return getattr(self._thread_state, "cursor", None)

    @contextmanager
    def _cursor(self) -> Generator[duckdb.DuckDBPyConnection, None, None]:
        open_cursor = self._open_cursor()
        if open_cursor is not None:  # `transaction` explains its errors
            yield open_cursor
            return
        try:
            with self._in_use(), self._connection.cursor() as cursor:
                yield cursor
        except duckdb.CatalogException as error:
            raise _lacking(error, self.path) from error
        except (duckdb.IOException, duckdb.FatalException, duckdb.OutOfMemoryException) as error:
            raise _explain(error, self.path) from error
        except RuntimeError as error:
            if "Query interrupted" in str(error):  # by Ctrl-C, whatever DuckDB makes of it
                raise KeyboardInterrupt from error
            raise
        except (duckdb.ConstraintException, duckdb.TransactionException) as error:
            if _is_conflict(str(error)):
                raise ConflictError(
                    "Another tab or a run saved the same thing at this moment.", "Try again."
                ) from error
            if "Failed to commit" not in str(error):  # a commit that could not be written
                raise
            raise _explain(error, self.path) from error

    @contextmanager
    def _in_use(self) -> Generator[None, None, None]:
        with self._idle:
            if self._open < 0:
                raise StoreError("The database is closed.", "Start Inkblot again.")
            self._refuse_another_file()
            self._open += 1
        try:
            yield
        finally:
            with self._idle:
                self._open -= 1
                self._idle.notify_all()


def _all_rows(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return cursor.fetchall()


def _first_row(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    return cursor.fetchmany(1)


def _frame(cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    return cursor.df()


def insert(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: pa.Table, *, key: str | None = None
) -> None:
    """Append Arrow rows to `table` by column name, without rows whose `key` is on file already.

    INSERT ... SELECT from Arrow takes a hundredth of the time of executemany. `table`, `key` and
    the columns are constants of the program, never a user's text. With a `key`, the caller is in
    `adding_answers`: the table may have no unique keys.
    """
    columns = ", ".join(rows.column_names)
    known = f" anti join (from {table} semi join incoming using ({key})) using ({key})"
    cursor.register("incoming", rows)
    try:
        cursor.execute(
            f"insert into {table} ({columns})"  # noqa: S608
            f" select {columns} from incoming{known if key else ''}"
        )
    finally:
        cursor.unregister("incoming")


def _open_connection(
    path: str, memory_limit: str, readable: Path | None, tell: Callable[[str], object]
) -> duckdb.DuckDBPyConnection:
    """A connection to the file, with its schema up to date and its configuration locked.

    `tell` is given a sentence on whatever is done beside that.
    """
    connection = _connect_with_log(path, memory_limit, readable, tell)
    try:
        _refuse_newer(connection, path)
        connection = _brought_up_to_date(connection, path, memory_limit, readable, tell)
        if _ends_with_unused_space(connection, path):
            try:
                _free_ends_with_unused_space(connection, path)
            except duckdb.Error:  # a full disk; DuckDB uses the space again later
                connection.close()
                connection = _connect(path, memory_limit, readable)
        # Closing would write the log into whatever file is there by then; see _close_connection.
        connection.execute("pragma disable_checkpoint_on_shutdown")
        connection.execute("set lock_configuration = true")
        _refuse_unlocked(connection)
    except duckdb.Error as error:
        connection.close()
        raise _explain(error, path) from error
    except (StoreError, RuntimeError):
        connection.close()
        raise
    return connection


def _connect_with_log(
    path: str, memory_limit: str, readable: Path | None, tell: Callable[[str], object]
) -> duckdb.DuckDBPyConnection:
    """A connection to the file and its log; a log of another file or state is set aside."""
    if path == IN_MEMORY:
        return _connect(path, memory_limit, readable)
    database_file.refuse_log_alone(path)
    is_new = _file_size(path) == 0
    backups = Path(path).parent / database_file.BACKUPS
    if told := database_file.set_aside_foreign_log(path):
        tell(told)
    try:
        connection = _connect(path, memory_limit, readable)
    except StoreError as error:
        if not re.search(r"WAL.*does not match", str(error.__cause__)):
            raise
        if told := database_file.set_aside_foreign_log(path, refused=True):
            tell(told)
        connection = _connect(path, memory_limit, readable)
    if is_new and any(backups.glob(f"{Path(path).stem}-*")):
        tell(
            f"There was no database at {path}, so a new one was made. Backups of an earlier one "
            f"are in {backups}: restore one if you miss your studies."
        )
    return connection


def _brought_up_to_date(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    memory_limit: str,
    readable: Path | None,
    tell: Callable[[str], object],
) -> duckdb.DuckDBPyConnection:
    """The connection with the newest schema and format; an older file is kept as a backup."""
    has_tables = bool(connection.execute("select 1 from duckdb_tables() limit 1").fetchall())
    state = database_file.state_of(path)
    is_old_format = has_tables and state is not None and not state.identity
    steps = steps_to_apply(connection) if has_tables else []
    kept = None
    if is_old_format or steps:
        connection.close()
        kept = database_file.backup_path(path, "before-update")
        database_file.copy_file(path, kept)
        connection = _connect(path, memory_limit, readable)
    apply_migrations(connection)
    if is_old_format:
        connection.close()
        try:
            database_file.write_in_new_format(path, memory_limit)
        except (duckdb.Error, OSError) as error:  # it is as it was, and is tried again next time
            log.warning("%s keeps its older format: %s", path, error)
            if kept is not None and not steps:  # nothing was changed: else each start left a copy
                kept.unlink(missing_ok=True)
                kept = None
        connection = _connect(path, memory_limit, readable)
    if kept is not None:
        tell(f"The database was brought up to date. What it was before is kept as {kept}.")
    return connection


@contextmanager
def scratch_connection(
    memory_limit: str = "2GB", *, writable: Path | None = None
) -> Generator[duckdb.DuckDBPyConnection]:
    """An empty database of its own, confined as every other, which is gone afterwards.

    It writes no other files than those in the folder `writable`.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="inkblot-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_scratch(error) from error
    with folder as place:
        connection = _connect(str(Path(place) / "scratch.duckdb"), memory_limit, writable)
        try:
            connection.execute("set lock_configuration = true")
            yield connection
        except (duckdb.IOException, duckdb.FatalException) as error:
            raise _no_scratch(error) from error
        finally:
            connection.close()


def _no_scratch(error: Exception) -> StoreError:
    first_line = str(error).splitlines()[0]
    return StoreError(
        f"Temporary files could not be written ({first_line}).",
        "Free some space in the folder for temporary files, or name another one in the environment "
        "variable TMPDIR, then start Inkblot again.",
    )


def _ends_with_unused_space(connection: duckdb.DuckDBPyConnection, path: str) -> bool:
    """Whether the file is longer than its blocks, as after a write that failed midway."""
    result = connection.execute("select total_blocks, block_size from pragma_database_size()")
    # fetchall, because an open result would prevent every checkpoint
    ((blocks, size),) = result.fetchall()
    return _file_size(path) > (int(blocks) + 2) * int(size)


def _free_ends_with_unused_space(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Cut off the unused end of the file. DuckDB does so only when its last block becomes free.

    Blocks that are free further up are filled first, so each round takes more of them.
    """
    for n_rows in (10, 30_000, 60_000, 120_000, 240_000, 480_000):  # some 30,000 to a block
        connection.execute(
            "create or replace table freed as select random() as number from range(?)", [n_rows]
        )
        for sql in ("force checkpoint", "drop table freed", "force checkpoint"):
            connection.execute(sql)
        if not _ends_with_unused_space(connection, path):
            return


def _file_size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:  # in memory
        return 0


def quoted(text: object) -> str:
    """A text as SQL, for statements that take no parameters."""
    return "'" + str(text).replace("'", "''") + "'"


def _connect(path: str, memory_limit: str, folder: Path | None) -> duckdb.DuckDBPyConnection:
    """A connection whose SQL reaches the files in the folder, if one is named, and no others."""
    config: dict[str, Any] = {
        **_LOCKED_DOWN,
        "memory_limit": memory_limit,
        "storage_compatibility_version": database_file.FORMAT,
    }
    try:
        if path != IN_MEMORY:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        if folder is None:
            return duckdb.connect(path, config=config)
        config.pop("enable_external_access")  # a folder can be allowed before, and not after
        connection = duckdb.connect(path, config=config)
        connection.execute(f"set allowed_directories = [{quoted(folder)}]")
        connection.execute("set enable_external_access = false")
        return connection
    except OSError as error:
        raise StoreError(
            f"The folder of the database {path} cannot be created ({error.strerror}).",
            "Choose another place with INKBLOT_DB, or free the folder.",
        ) from error
    except duckdb.Error as error:
        raise _explain(error, path) from error


def _refuse_unlocked(connection: duckdb.DuckDBPyConnection) -> None:
    """Raise where a setting that confines SQL to the file does not have its value."""
    settings = dict(connection.execute(_READ_SETTINGS, [list(_MUST_HOLD)]).fetchall())
    if settings != _MUST_HOLD:
        raise RuntimeError(f"the database is not locked down: {settings}")


def _refuse_newer(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    tables = {
        name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()
    }
    if not tables:
        return
    if "schema_migration" not in tables:
        raise StoreError(
            f"{path} is a DuckDB file, but not a database of Inkblot.",
            "Choose another file with INKBLOT_DB or --db.",
        )
    known = {name for name, _ in MIGRATIONS}
    applied = connection.execute("select name from schema_migration order by name").fetchall()
    newer_steps = [name for (name,) in applied if name not in known]
    if newer_steps:
        raise StoreError(
            f"{path} was made by a newer Inkblot (it has the step '{newer_steps[-1]}').",
            "Update Inkblot, or choose another file with INKBLOT_DB or --db.",
        )


def _is_conflict(text: str) -> bool:
    """Whether a row was there already or was changed meanwhile, which only the message says."""
    return bool(re.search(r"Conflict on|Duplicate key|UNIQUE constraint violat", text))


def _gone(path: str, what: str) -> StoreError:
    return StoreError(
        f"The database {path} {what} while Inkblot had it open. Nothing is asked or written now.",
        "Put the file back to go on, or close Inkblot and start it again.",
    )


def _lacking(error: duckdb.Error, path: str) -> StoreError:
    """The cause of a missing table or column, which only another program can have removed."""
    first_line = str(error).splitlines()[0]
    return StoreError(
        f"{path} lacks something that Inkblot keeps there ({first_line}). Another program has "
        "changed the file.",
        "Restore a backup, or choose another file with INKBLOT_DB or --db.",
    )


def _rollback(cursor: duckdb.DuckDBPyConnection) -> None:
    try:
        cursor.rollback()
    except duckdb.Error:  # a failed commit has rolled back already
        return


def _explain(error: duckdb.Error, path: str) -> StoreError:
    """The cause in plain words. Only DuckDB's message distinguishes these."""
    text = str(error)
    holder = re.search(r"PID (\d+)", text)
    if Path(path).is_dir():
        return StoreError(
            f"{path} is a folder, not a database file.",
            "Choose a file in it with INKBLOT_DB or --db, for example inkblot.duckdb.",
        )
    if "lock" in text.lower() and (holder or "being used" in text):
        process = f" (process {holder.group(1)})" if holder else ""
        return StoreError(
            f"Inkblot is already running{process} and has {path} open.",
            "Use the Inkblot that is running, or close it first.",
        )
    if "Read-only file system" in text:
        return StoreError(
            f"{path} is on a disk that cannot be written to.",
            "Copy it to another disk, or choose another file with INKBLOT_DB or --db.",
        )
    if re.search(r"Permission denied|Operation not permitted", text):
        return StoreError(
            f"You may not read and write {path}, or the folder it is in.",
            "Change the permissions of both, or choose another file with INKBLOT_DB or --db.",
        )
    if re.search(
        r"No space left|disk quota|could not write|File too large|Failed to write", text, re.I
    ):
        return StoreError(
            f"The disk is full, or {path} cannot be written.",
            "Free some space, then try again. Everything saved before is still there.",
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
            f"{path} is damaged, or it is not a database file of Inkblot.",
            "Restore a backup, or choose another file with INKBLOT_DB. Nothing was changed.",
        )
    first_line = text.splitlines()[0] if text else type(error).__name__
    return StoreError(
        f"The database {path} could not be used: {first_line}",
        "Check that the file can be read and written, then restart Inkblot.",
    )
