"""What is read again without a question to the database, and what never is."""

from __future__ import annotations

import threading

import duckdb
import pytest

from core.errors import StoreError
from core.store.database import Database
from core.store.recent_reads import RecentReads, key_of


@pytest.fixture
def database(tmp_path):
    opened = Database(tmp_path / "inkblot.duckdb")
    opened.write("create table note (number integer, words varchar)")
    yield opened
    opened.close()


def _asked(database, monkeypatch):
    """The statements that reach the database from now on."""
    asked = []
    cursor = database._cursor

    def counted():
        asked.append(1)
        return cursor()

    monkeypatch.setattr(database, "_cursor", counted)
    return asked


def test_a_read_is_asked_once_until_something_is_written(database, monkeypatch):
    asked = _asked(database, monkeypatch)
    read = "select number, words from note order by number"
    assert database.rows(read) == []
    assert database.rows(read) == []
    assert len(asked) == 1
    database.write("insert into note values (1, 'one')")
    assert database.rows(read) == [(1, "one")]
    with database.transaction() as cursor:
        cursor.execute("insert into note values (2, 'two')")
    assert database.rows(read) == [(1, "one"), (2, "two")]
    assert database.row(read) == (1, "one")


def test_a_transaction_sees_its_own_writes_and_leaves_nothing_behind_when_it_is_undone(database):
    read = "select count(*) from note"
    assert database.row(read) == (0,)

    def begun() -> None:
        with database.all_or_nothing():
            database.write("insert into note values (1, 'one')")
            assert database.row(read) == (1,)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        begun()
    assert database.row(read) == (0,)


def test_another_thread_does_not_see_what_is_not_committed(database):
    seen = []
    with database.all_or_nothing():
        with database.transaction() as cursor:
            cursor.execute("insert into note values (1, 'one')")
        other = threading.Thread(
            target=lambda: seen.append(database.row("select count(*) from note"))
        )
        other.start()
        other.join()
    assert seen == [(0,)]
    assert database.row("select count(*) from note") == (1,)


def test_values_of_different_types_are_different_questions(database):
    kinds = "select typeof(?), ?"
    assert database.row(kinds, [1, 1]) == ("INTEGER", 1)
    assert database.row(kinds, [True, True]) == ("BOOLEAN", True)
    assert database.row(kinds, [1.0, 1.0]) == ("DOUBLE", 1.0)
    of_list = "select list_sum(?)"
    assert database.row(of_list, [[1, 2]]) == (3,)
    assert database.row(of_list, [[1, 4]]) == (5,)


def test_what_a_caller_does_with_the_rows_changes_nothing(database):
    database.write("insert into note values (1, 'one')")
    read = "select number, words from note"
    database.rows(read).clear()
    assert database.rows(read) == [(1, "one")]
    frame = database.frame(read)
    frame["words"] = "two"
    frame.loc[0, "number"] = 2
    assert database.frame(read).to_numpy().tolist() == [[1, "one"]]
    lists = "select [1, 2]"
    database.row(lists)[0].append(3)
    assert database.row(lists) == ([1, 2],)


@pytest.mark.parametrize(
    "sql",
    [
        "select now()",
        "select localtimestamp, 1",
        "select age(frozen_at) from study",
        "select 1; drop table note",
        "select * from note tablesample 3",
        "select * from read_csv('people.csv')",
        "select * from duckdb_settings()",
        "select * from note using sample 3",
        "insert into note values (1, 'one') returning number",
        "with one as (select 1) insert into note select 1, 'one' from one",
    ],
)
def test_what_changes_without_a_write_is_always_asked(sql):
    assert key_of(sql, ()) is None


def test_functions_of_the_clock_and_of_chance_are_known():
    """Those that DuckDB itself does not call the same each time."""
    names = duckdb.sql(
        "select distinct function_name from duckdb_functions() where stability <> 'CONSISTENT'"
    ).fetchall()
    assert len(names) > 20
    kept = [name for (name,) in names if key_of(f"select {name}()", ()) is not None]
    assert kept == []
    assert key_of("select sampled, randomized_at, age from note where language = ?", ["en"])


def test_a_table_as_a_parameter_is_always_asked():
    assert key_of("select ?", [duckdb.sql("select 1").df()]) is None


def test_a_read_that_began_before_a_write_is_not_kept():
    reads = RecentReads()
    state = reads.state
    reads.forget()
    reads.keep("study", state, [(1,)])
    assert reads.find("study") is None
    reads.keep("study", reads.state, [(2,)])
    assert reads.find("study") == [(2,)]


def test_nothing_is_found_or_kept_while_something_is_written():
    reads = RecentReads()
    reads.keep("study", reads.state, [(1,)])
    with reads.writing():
        assert reads.find("study") is None
        reads.keep("study", reads.state, [(2,)])
        with reads.writing():
            pass
        assert reads.find("study") is None
    assert reads.find("study") is None


def test_what_is_kept_is_little():
    reads = RecentReads()
    for number in range(1000):
        reads.keep(number, reads.state, [("x" * 60_000,)])
    assert reads.find(0) is None
    kept = sum(reads.find(number) is not None for number in range(1000))
    assert 400 < kept < 540  # 32 MB
    reads.keep("long", reads.state, [("x" * 70_000,)])
    assert reads.find("long") is None
    assert key_of("select ?", [list(range(2000))]) is None


def test_a_closed_database_answers_nothing_it_has_read_before(database):
    assert database.row("select count(*) from note") == (0,)
    database.close()
    with pytest.raises(StoreError, match="closed"):
        database.row("select count(*) from note")


def test_readers_never_see_less_than_was_written_before_they_asked(database):
    """Eight readers and a writer: a count is at least the rows that were committed before it."""
    committed = [0]
    wrong = []
    ended = threading.Event()

    def read():
        while not ended.is_set():
            least = committed[0]
            found = database.row("select count(*) from note")[0]
            if found < least:
                wrong.append((least, found))

    readers = [threading.Thread(target=read) for _ in range(8)]
    for reader in readers:
        reader.start()
    for number in range(200):
        database.write("insert into note values (?, 'x')", [number])
        committed[0] = number + 1
    ended.set()
    for reader in readers:
        reader.join()
    assert not wrong
