from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from core.errors import StoreError
from core.store.database import Database, insert

ROOT = Path(__file__).parents[2]


def test_threads_read_their_own_rows(database):
    def ask(number):
        return database.rows("select ?::int", [number]) == [(number,)]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(500), timeout=60))


def test_a_transaction_is_kept_whole_or_not_at_all(database):
    def two_rows():
        with database.transaction() as cursor:
            cursor.execute("insert into study_context values (1, 'a', 'text')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        two_rows()
    assert database.rows("select * from study_context") == []


def test_all_or_nothing_joins_the_transactions_of_its_thread_only(database):
    add = "insert into study_context values (?, 'a', 'text')"

    def count():
        return database.row("select count(*) from study_context")

    def two_then_a_fault():
        with database.all_or_nothing():
            for number in (1, 2):
                with database.transaction() as cursor:
                    cursor.execute(add, [number])
            assert count() == (2,)
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(count).result() == (0,)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        two_then_a_fault()
    assert count() == (0,)
    with database.all_or_nothing(), database.transaction() as cursor:
        cursor.execute(add, [3])
    assert count() == (1,)


def test_rows_with_a_known_key_are_left_as_they_were(database):
    for text in ("first", "second"):
        with database.transaction() as cursor:
            rows = pa.table({"prompt_id": pa.array([7], pa.int64()), "messages": [text]})
            insert(cursor, "prompt", rows, key="prompt_id")
    assert database.rows("select messages from prompt") == [("first",)]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from read_text('/etc/hostname')",
        "copy study to '/tmp/inkblot_out.csv'",
        "attach '/tmp/inkblot_other.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set memory_limit = '9GB'",
    ],
)
def test_sql_can_reach_nothing_outside(database, sql):
    with pytest.raises((StoreError, duckdb.Error)):
        database.rows(sql)


def test_a_second_process_is_told_who_has_the_file(tmp_path):
    path = tmp_path / "x.duckdb"
    held = Database(path)
    script = (
        "from core.store.database import Database\nfrom core.errors import StoreError\n"
        f"try:\n    Database({str(path)!r})\nexcept StoreError as e:\n    print(e)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    held.close()
    assert "already running (process" in done.stdout
    assert str(path) in done.stdout


def test_a_file_that_is_not_a_database_is_named_and_left_alone(tmp_path):
    path = tmp_path / "x.duckdb"
    path.write_text("not a database, but long enough to look like one " * 200)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Database(path)
    assert str(path) in caught.value.problem
    assert path.read_bytes() == before


def test_a_damaged_database_is_told(tmp_path):
    path = tmp_path / "x.duckdb"
    Database(path).close()
    data = bytearray(path.read_bytes())
    data[4096:4160] = b"\xff" * 64
    data[8192:8256] = b"\xff" * 64
    path.write_bytes(bytes(data))
    with pytest.raises(StoreError) as caught:
        Database(path)
    assert "damaged" in caught.value.problem


def test_a_truncated_database_is_told_as_damaged(tmp_path):
    path = tmp_path / "x.duckdb"
    Database(path).close()
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(StoreError, match="is damaged"):
        Database(path)


def test_a_folder_given_as_database_is_told(tmp_path):
    with pytest.raises(StoreError, match="is a folder, not a database file"):
        Database(tmp_path)


def test_a_database_of_a_newer_inkblot_is_not_touched(tmp_path):
    path = tmp_path / "x.duckdb"
    Database(path).close()
    with duckdb.connect(str(path)) as raw:
        raw.execute("insert into schema_migration values ('9999_future', now())")
    with pytest.raises(StoreError, match=r"newer Inkblot.*9999_future"):
        Database(path)


def test_somebody_elses_database_is_not_touched(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as raw:
        raw.execute("create table theirs (a int)")
    with pytest.raises(StoreError, match="not one of Inkblot's"):
        Database(path)
    with duckdb.connect(str(path)) as raw:
        assert raw.execute("select table_name from duckdb_tables()").fetchall() == [("theirs",)]


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="folder"):
        Database(tmp_path / "file" / "deeper" / "x.duckdb")


def test_migrations_apply_once(tmp_path):
    path = tmp_path / "x.duckdb"
    for _ in range(2):
        Database(path).close()
    with duckdb.connect(str(path)) as raw:
        assert raw.execute("select count(*) from schema_migration").fetchone() == (1,)
