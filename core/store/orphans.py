"""Rows that belong to no study: left by a log that an earlier Inkblot read into another file."""

from __future__ import annotations

from core.store.database import Database

_TABLES = """
select c.table_name from duckdb_columns() c join duckdb_tables() t using (table_name)
where c.column_name = 'study_id' and c.table_name <> 'study' order by 1
"""


def find(database: Database) -> dict[str, int]:
    """How many rows of each table name a study that is not there."""
    found = {}
    for (table,) in database.rows(_TABLES):
        # the names come from the schema; the ids of studies are few, so they are looked at alone
        row = database.row(
            f"select count(*) from {table} where study_id in (select study_id from ("  # noqa: S608
            f"select distinct study_id from {table}) anti join study using (study_id))"
        )
        if row and row[0]:
            found[table] = int(row[0])
    return found


def remove(database: Database, tables: dict[str, int]) -> None:
    """Delete these rows, all of them or none."""
    with database.transaction() as cursor:
        for table in tables:
            cursor.execute(
                f"delete from {table} where study_id not in (select study_id from study)"  # noqa: S608
            )
