"""The tables of studies as Parquet files: written from the database, and read as a database.

Other engines read the files too (core/store/spark.py). Texts of prompts and replies are not among
them: no count needs them, and they are larger than all the rest.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import duckdb
from pydantic import Field, TypeAdapter, ValidationError

from core.errors import FileError
from core.store.database import Database, quoted, scratch_connection
from core.store.migrations import MIGRATIONS
from core.store.studies import frozen_study

VERSION = MIGRATIONS[-1][0]
"""The step of the schema that the tables follow; those of another step are not read."""
MANIFEST = "inkblot-tables.json"
"""The file in the folder that says what stands there; it is complete only after all else is."""
_DRAFT = f".{MANIFEST}.part"

_OF_STUDY = "study_id in (select unnest($studies))"
_OF_BANK = f"instrument_id in (select instrument_id from study where {_OF_STUDY})"  # noqa: S608
_OF_ITEM = f"item_id in (select item_id from item where {_OF_BANK})"  # noqa: S608
# of several studies, each respondent once
_ASKED = f"respondent_id in (select respondent_id from administration where {_OF_STUDY})"  # noqa: S608
_ROWS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "study",
            "study_context",
            "context_text",
            "study_template",
            "study_phase",
            "study_recipe",
            "person_fact",
            "person_value",
            "amendment",
            "run_event",
            "import_event",
            "call_shown",
            "recoding",
        ),
        _OF_STUDY,
    ),
    **dict.fromkeys(("instrument", "item", "answer_option", "answer_format"), _OF_BANK),
    **dict.fromkeys(
        ("wording", "item_attribute", "item_direction", "item_loading", "item_position"), _OF_ITEM
    ),
    "respondent": _ASKED,
    **dict.fromkeys(("administration", "trial", "attempt", "response"), _OF_STUDY),
}
"""The rows of the studies, by table."""
_BY_STUDY = ("administration", "trial", "attempt", "response")
"""Tables with a row for each answer or so: a folder for each study, named `study_id=` and its key,
so that an engine opens only the files of the studies it counts."""
_COPY = "copy (from incoming) to {} (format parquet, compression zstd, file_size_bytes '256MB')"
_PATTERN = set("*?[]{}\\'")  # an engine would take the name of a folder with them for a pattern


_Name = Annotated[str, Field(pattern="^[a-z0-9_]+$")]
_File = Annotated[str, Field(pattern=r"^[a-z0-9_]+(/study_id=\d+)?/\w+\.parquet$")]
_Type = Annotated[str, Field(pattern="^[A-Z ]+$")]
# They become parts of SQL, so a file that somebody else wrote must not hold anything else.


@dataclass(frozen=True)
class Table:
    """One table: its rows, its columns with DuckDB's types, and its files with their bytes."""

    n_rows: int
    columns: Mapping[_Name, _Type]
    files: Mapping[_File, int]


@dataclass(frozen=True)
class Tables:
    """What stands in a folder. Unless `complete`, the writing of it was interrupted."""

    version: str
    studies: tuple[str, ...]
    complete: bool
    tables: Mapping[_Name, Table]


_TABLES = TypeAdapter(Tables)


def write_tables(database: Database, studies: Sequence[str], directory: Path) -> Tables:
    """Write the tables of some studies into a folder, as they are at one moment.

    Rows are streamed. The folder is new, empty, or one in which the same was interrupted before.

    Raises
    ------
    DesignError
        There is no such study.
    FileError
        The folder holds something else, or cannot be written.
    """
    place = whole_path(directory)
    codes = tuple(dict.fromkeys(studies))
    with database.all_or_nothing():
        keys = [frozen_study(database, code).study_id for code in codes]
        try:
            _take(place)
            _save(place, Tables(VERSION, codes, complete=False, tables={}))
            with scratch_connection(writable=place) as scratch:
                tables = {
                    name: _write_table(database, scratch, name, keys, place) for name in _ROWS
                }
            written = Tables(VERSION, codes, complete=True, tables=tables)
            _save(place, written)
        except (OSError, duckdb.IOException) as error:
            raise FileError(
                f"The tables cannot be written into {place} ({str(error).splitlines()[0]}).",
                "Free some space or choose another folder, then write them again.",
            ) from error
    return written


def _write_table(
    database: Database,
    scratch: duckdb.DuckDBPyConnection,
    name: str,
    studies: Sequence[int],
    place: Path,
) -> Table:
    """Write the rows of one table; without rows it has no files."""
    columns = {str(row[0]): str(row[1]) for row in database.rows(f"describe {name}")}
    groups = {place / name: studies}
    if name in _BY_STUDY:
        (place / name).mkdir()
        groups = {place / name / f"study_id={study}": [study] for study in studies}
    left_out = " exclude (study_id)" if name in _BY_STUDY else ""
    sql = f"select *{left_out} from {name} where {_ROWS[name]}"  # noqa: S608
    n_rows = 0
    for folder, keys in groups.items():
        with database.batches(sql, {"studies": list(keys)}) as rows:
            scratch.register("incoming", rows)
            ((n_written,),) = scratch.execute(_COPY.format(quoted(folder))).fetchall()
            scratch.unregister("incoming")
        if not n_written:
            shutil.rmtree(folder, ignore_errors=True)
        n_rows += n_written
    files = sorted((place / name).rglob("*.parquet"))
    return Table(
        n_rows, columns, {f.relative_to(place).as_posix(): f.stat().st_size for f in files}
    )


def _take(place: Path) -> None:
    """Make the folder, or empty it of what an interrupted writing left; refuse any other."""
    place.mkdir(parents=True, exist_ok=True)
    if {entry.name for entry in place.iterdir()} <= {_DRAFT}:
        return
    before = _load(place)
    if before is None:
        raise FileError(
            f"{place} is not empty, and what it holds was not written by this command.",
            "Name a new folder.",
        )
    if before.complete:
        raise FileError(
            f"{place} holds tables already, of {', '.join(before.studies)}.",
            "Name a new folder, or delete this one.",
        )
    for name in _ROWS:
        shutil.rmtree(place / name, ignore_errors=True)


def _save(place: Path, tables: Tables) -> None:
    draft = place / _DRAFT
    draft.write_bytes(_TABLES.dump_json(tables, indent=1))
    os.replace(draft, place / MANIFEST)


def _load(place: Path) -> Tables | None:
    """What the folder says of itself; None where nothing does."""
    try:
        return _TABLES.validate_json((place / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def whole_path(directory: Path) -> Path:
    """The path of a folder, which no engine takes for a pattern."""
    place = directory.resolve()
    if marks := sorted(_PATTERN & set(place.as_posix())):
        raise FileError(
            f"The path {place} has the character {marks[0]}, which stands for other characters.",
            "Choose a folder without it.",
        )
    return place


# Reading them.


def read_tables(directory: Path) -> Tables:
    """What the folder holds, if it is complete and of this version.

    Raises
    ------
    FileError
        It was not written by `write_tables`, not to the end, by another version, or was changed.
    """
    place = whole_path(directory)
    tables = _load(place)
    if tables is None:
        raise FileError(
            f"{place} holds no tables of Inkblot.", "Write them: python -m core tables STUDY DIR"
        )
    again = f"Write them again: python -m core tables {' '.join(tables.studies)} DIR"
    if tables.version != VERSION:
        raise FileError(
            f"The tables in {place} are of another version of Inkblot ({tables.version}, this one "
            f"has {VERSION}).",
            again,
        )
    if not tables.complete:
        raise FileError(f"The tables in {place} were not written to the end.", again)
    for table in tables.tables.values():
        for name, size in table.files.items():
            if not (place / name).is_file() or (place / name).stat().st_size != size:
                raise FileError(f"{place / name} is missing or was changed.", again)
    return tables


@contextmanager
def database_of_tables(directory: Path, memory_limit: str) -> Generator[Database, None, None]:
    """A database whose tables are the files of a folder. It is gone afterwards."""
    place = whole_path(directory)
    tables = read_tables(place)
    with tempfile.TemporaryDirectory(prefix="inkblot-") as folder:
        file = Path(folder) / "tables.duckdb"
        database = Database(file, memory_limit=memory_limit, readable=place)
        try:
            with database.transaction() as cursor:
                for name, table in tables.tables.items():
                    if table.files:
                        cursor.execute(f"drop table {name}")
                        cursor.execute(_view(place, name, table))
            yield database
        finally:
            database.close()


def _view(place: Path, name: str, table: Table) -> str:
    files = ", ".join(quoted(place / file) for file in table.files)
    by_study = name in _BY_STUDY
    of_folder = ", hive_partitioning = true, hive_types = {'study_id': bigint}" if by_study else ""
    columns = ", ".join(table.columns)
    return f"create view {name} as select {columns} from read_parquet([{files}]{of_folder})"  # noqa: S608
