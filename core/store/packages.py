"""All rows of a study as tables that another database takes in, with their keys.

Rows of a table have one order and numbers of their own, so that equal studies give equal tables,
whatever else stands in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from core.errors import FileError
from core.store.banks import item_id
from core.store.database import Database, insert, scratch_connection
from core.store.migrations import MIGRATIONS

SCHEMA = MIGRATIONS[-1][0]
"""The step of the schema that the tables of an export follow."""

# The rows of a study, by table. A table stands after those that its rows name.

_OWN = "study_id = $study"
_OF_ATTEMPT = "attempt_id in (select attempt_id from attempt where study_id = $study)"
_OF_AUDIT = "audit_id in (select audit_id from audit where study_id = $study)"
_ROWS: Mapping[str, str] = {
    "study": _OWN,
    "instrument": "instrument_id = (select instrument_id from study where study_id = $study)",
    "respondent": "respondent_id in"
    " (select respondent_id from administration where study_id = $study)",
    "study_context": _OWN,
    "context_text": _OWN,
    "study_template": _OWN,
    "study_phase": _OWN,
    "study_recipe": _OWN,
    "person_fact": _OWN,
    "person_value": _OWN,
    "administration": _OWN,
    "trial": _OWN,
    "call_shown": _OWN,
    "amendment": _OWN,
    "run_event": _OWN,
    "sending": _OWN,
    "prompt": "prompt_id in (select prompt_id from attempt where study_id = $study"
    " union select prompt_id from batch_call where study_id = $study)",
    "attempt": _OWN,
    "attempt_text": _OF_ATTEMPT,
    "attempt_token": _OF_ATTEMPT,
    "attempt_part": _OF_ATTEMPT,
    "attempt_usage": _OF_ATTEMPT,
    "attempt_cache": _OF_ATTEMPT,
    "response": _OWN,
    "recoding": _OWN,
    "audit": _OWN,
    "audit_kind": _OF_AUDIT,
    "audit_sample": _OWN,
    "adjudicator": _OF_AUDIT,
    "coding": _OF_AUDIT,
    "coding_note": _OF_AUDIT,
    "adjudication": _OF_AUDIT,
    "batch": _OWN,
    "batch_call": _OWN,
    "batch_reply": _OWN,
    "batch_event": "batch_id in (select batch_id from batch where study_id = $study)",
    "batch_drive": _OWN,
    "import_event": _OWN,
}
_SEQUENCES: Mapping[str, str] = {
    "amendment": "amendment_number",
    "run_event": "run_event_number",
    "recoding": "recoding_number",
    "coding": "coding_number",
    "coding_note": "coding_note_number",
    "adjudication": "adjudication_number",
    "batch_event": "batch_event_number",
    "batch_drive": "batch_drive_number",
    "import_event": "import_event_number",
}
"""Tables whose rows are numbered as they are written; the numbers of an export begin with 1."""
_RUN_OF_STUDY = """
* replace ((select count(*) from run_event e
    where e.study_id = sending.study_id and e.number <= sending.run) as run)
"""
_AS_OF_STUDY = "* replace ((select frozen_at from study where study_id = $study) as {})"
_COLUMNS: Mapping[str, tuple[str, str]] = {
    "instrument": (_AS_OF_STUDY.format("published_at"), "rowid"),
    "respondent": (_AS_OF_STUDY.format("created_at"), "respondent_id"),
    "prompt": ("*", "prompt_id"),
    "sending": (_RUN_OF_STUDY, "rowid"),
    **{
        name: ("* replace (row_number() over (order by number) as number)", "number")
        for name in _SEQUENCES
    },
}
"""Columns and order of the rows where they are not all columns in the order of writing.

When a database first had a bank or a model says nothing about the study; the study's time does.
"""
_SHARED = {"prompt": "messages", "respondent": "body"}
"""Tables whose rows several studies share, with the column that an equal key stands for."""
_REFERENCES = (
    ("study", "instrument_id", "instrument", "instrument_id"),
    ("context_text", "code", "study_context", "code"),
    ("administration", "respondent_id", "respondent", "respondent_id"),
    ("trial", "administration_id", "administration", "administration_id"),
    ("call_shown", "call_id", "trial", "call_id"),
    ("amendment", "respondent_id", "respondent", "respondent_id"),
    ("sending", "call_id", "trial", "call_id"),
    ("attempt", "call_id", "trial", "call_id"),
    ("attempt", "prompt_id", "prompt", "prompt_id"),
    ("attempt_text", "attempt_id", "attempt", "attempt_id"),
    ("attempt_token", "attempt_id", "attempt", "attempt_id"),
    ("attempt_part", "attempt_id", "attempt", "attempt_id"),
    ("attempt_usage", "attempt_id", "attempt", "attempt_id"),
    ("attempt_cache", "attempt_id", "attempt", "attempt_id"),
    ("response", "trial_id", "trial", "trial_id"),
    ("response", "attempt_id", "attempt", "attempt_id"),
    ("recoding", "trial_id", "trial", "trial_id"),
    ("audit_kind", "audit_id", "audit", "audit_id"),
    ("audit_sample", "audit_id", "audit", "audit_id"),
    ("audit_sample", "trial_id", "trial", "trial_id"),
    ("adjudicator", "audit_id", "audit", "audit_id"),
    ("coding", "audit_id", "audit", "audit_id"),
    ("coding", "trial_id", "trial", "trial_id"),
    ("coding_note", "audit_id", "audit", "audit_id"),
    ("coding_note", "trial_id", "trial", "trial_id"),
    ("adjudication", "audit_id", "audit", "audit_id"),
    ("adjudication", "trial_id", "trial", "trial_id"),
    ("batch", "respondent_id", "respondent", "respondent_id"),
    ("batch_call", "batch_id", "batch", "batch_id"),
    ("batch_call", "call_id", "trial", "call_id"),
    ("batch_call", "prompt_id", "prompt", "prompt_id"),
    ("batch_reply", "call_id", "trial", "call_id"),
    ("batch_event", "batch_id", "batch", "batch_id"),
    ("batch_drive", "respondent_id", "respondent", "respondent_id"),
)
_KEYS = {
    "prompt": "prompt_id",
    "administration": "administration_id",
    "trial": "trial_id",
    "call_shown": "call_id",
    "attempt": "attempt_id",
    **dict.fromkeys(
        ("attempt_text", "attempt_token", "attempt_part", "attempt_usage", "attempt_cache"),
        "attempt_id",
    ),
    "response": "trial_id",
}
"""The keys of the tables that have no index."""
CHANGED = "The package was changed after it was made, or made by another program."
"""What to say of a package whose parts do not fit together."""


def study_tables(database: Database, study_id: int) -> dict[str, pa.Table]:
    """The rows of a study by table; tables without a row are left out."""
    tables = {}
    for name, condition in _ROWS.items():
        columns, order = _COLUMNS.get(name, ("*", "rowid"))
        # names, columns and conditions are constants of this module
        sql = f"select {columns} from {name} where {condition} order by {order}"  # noqa: S608
        rows = database.arrow(sql, {"study": study_id})
        if rows.num_rows:
            tables[name] = rows
    return tables


# Tables of a file: checked in a database of their own, and brought to the schema of today.


def checked_tables(tables: Mapping[str, pa.Table], schema: str) -> dict[str, pa.Table]:
    """The tables of an export by an Inkblot of the step `schema`, as this Inkblot has them.

    They have passed the types, keys and conditions of the schema, and every row names rows that
    are there.

    Raises
    ------
    FileError
        They were made by a newer Inkblot, or are not what an export holds.
    """
    steps = [name for name, _ in MIGRATIONS]
    if schema not in steps:
        raise FileError(f"The package was made by a newer Inkblot ({schema}).", "Update Inkblot.")
    if unknown := sorted(set(tables) - set(_ROWS)):
        raise FileError(f"The package holds an unknown table '{unknown[0]}'.", CHANGED)
    place = steps.index(schema) + 1
    with scratch_connection() as scratch:
        try:
            for _, sql in MIGRATIONS[:place]:
                scratch.execute(sql)
            for name in _ROWS:
                if name in tables:
                    _check_columns(scratch, name, tables[name])
                    insert(scratch, name, tables[name])
            for _, sql in MIGRATIONS[place:]:
                scratch.execute(sql)
        except (duckdb.IOException, duckdb.FatalException):  # of the disk, and not of the package
            raise
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise FileError(f"The tables of the package do not fit: {first}", CHANGED) from error
        _check_rows(scratch)
        found = {
            name: scratch.execute(f"from {name} order by rowid").to_arrow_table() for name in _ROWS
        }
    return {name: rows for name, rows in found.items() if rows.num_rows}


def _check_columns(scratch: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Raise FileError where a table has other columns than its schema."""
    described = scratch.execute(f"describe {name}").fetchall()
    if rows.column_names != [row[0] for row in described]:
        raise FileError(f"The table '{name}' of the package has other columns.", CHANGED)


def _check_rows(scratch: duckdb.DuckDBPyConnection) -> None:
    """Raise FileError where a row belongs to no study, or names a row that is not there."""
    counts = scratch.execute(
        "select (select count(*) from study), (select count(*) from instrument)"
    ).fetchone()
    if counts != (1, 1):
        raise FileError("The package does not hold exactly one study and its bank.", CHANGED)
    for name, key in _KEYS.items():
        row = scratch.execute(f"select count(*) - count(distinct {key}) from {name}").fetchone()  # noqa: S608
        if row and row[0]:
            raise FileError(f"The table '{name}' of the package has a row twice.", CHANGED)
    checks = [(name, "study_id", "study", "study_id") for name in _ROWS if _ROWS[name] == _OWN]
    for name, column, other, key in (*checks, *_REFERENCES):
        row = scratch.execute(
            f"select count(*) from {name} where {column} is not null"  # noqa: S608
            f" and {column} not in (select {key} from {other} where {key} is not null)"
        ).fetchone()
        if row and row[0]:
            raise FileError(
                f"In the table '{name}' of the package, the column {column} names rows that are "
                "not there.",
                CHANGED,
            )


# Adding the study.


@dataclass(frozen=True)
class BankVersion:
    """The version of a bank that a study is based on, by its key, and the codes of its items."""

    instrument_id: int
    items: Sequence[str]


def add_study_tables(
    database: Database, tables: Mapping[str, pa.Table], old: BankVersion, new: BankVersion
) -> None:
    """Add a study with all its rows, all of it or nothing; `tables` come from `checked_tables`.

    `old` is the version of the bank in the tables, `new` the version on file with the same content.

    Raises
    ------
    FileError
        A row has the key of another row that is on file.
    """
    own_keys = [item_id(old.instrument_id, code) for code in old.items]
    new_keys = [item_id(new.instrument_id, code) for code in new.items]
    with database.adding_answers(), database.transaction() as cursor:
        numbers: dict[int, int] = {}
        for name in _ROWS:
            rows = tables.get(name)
            if rows is None or name == "instrument":
                continue
            if name in ("study", "trial"):
                column = "instrument_id" if name == "study" else "item_id"
                moved = dict(zip(own_keys, new_keys, strict=True))
                moved[old.instrument_id] = new.instrument_id
                rows = _with_values(rows, column, moved)
            if name in _SEQUENCES:
                given = _next_numbers(cursor, _SEQUENCES[name], rows.num_rows)
                if name == "run_event":
                    numbers = dict(enumerate(given, 1))
                rows = _with_values(rows, "number", dict(enumerate(given, 1)))
            if name == "sending":
                rows = _with_values(rows, "run", numbers)
            _add(cursor, name, rows)


def _add(cursor: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Add rows; those of a shared table that are on file already must be the same."""
    if name in _SHARED:
        _check_shared(cursor, name, rows)
        insert(cursor, name, rows, key=f"{name}_id")
        return
    on_file = FileError(
        "Rows of this study are in the database already, under another study.",
        "Import the package into another database.",
    )
    if name in ("administration", "trial", "attempt"):
        with _registered(cursor, "incoming_rows", rows.select([_KEYS[name]])):
            same = cursor.execute(
                f"select count(*) from {name} semi join incoming_rows using ({_KEYS[name]})"  # noqa: S608
            ).fetchone()
        if same and same[0]:
            raise on_file
    try:
        insert(cursor, name, rows)
    except duckdb.ConstraintException as error:
        raise on_file from error


def _check_shared(cursor: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    column = _SHARED[name]
    with _registered(cursor, "incoming_shared", rows):
        row = cursor.execute(
            f"select count(*) from {name} k join incoming_shared n using ({name}_id)"  # noqa: S608
            f" where k.{column} <> n.{column}"
        ).fetchone()
    if row and row[0]:
        raise FileError(f"A row '{name}' of the package is another one in the database.", CHANGED)


@contextmanager
def _registered(cursor: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> Iterator[None]:
    cursor.register(name, rows)
    try:
        yield
    finally:
        cursor.unregister(name)


def _next_numbers(cursor: duckdb.DuckDBPyConnection, sequence: str, count: int) -> list[int]:
    rows = cursor.execute(f"select nextval('{sequence}') from range({count})").fetchall()  # noqa: S608
    return sorted(number for (number,) in rows)


def _with_values(rows: pa.Table, column: str, values: Mapping[int, int]) -> pa.Table:
    """The table with the values of a column of integers replaced; others stay."""
    place = rows.column_names.index(column)
    if all(old == new for old, new in values.items()):
        return rows
    changed = [values.get(value, value) for value in rows[column].to_pylist()]
    return rows.set_column(place, rows.schema.field(place), pa.array(changed, rows[column].type))
