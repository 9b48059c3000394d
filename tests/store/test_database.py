from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from core.errors import ConflictError, StoreError
from core.store import answers, audits, collection, frames, saved_inputs, studies
from core.store import database as database_module
from core.store.database import Database, insert
from core.store.migrations import MIGRATIONS

ROOT = Path(__file__).parents[2]
BEFORE_CALLS = {  # one study of three trials, as a file of the first schema holds it
    "instrument": [(1, "bank", 1, "hash", "2026-01-01 00:00:00+00", "{}")],
    "item": [(11, 1, 1, "a1", "A", 1), (12, 1, 2, "a2", "A", -1), (13, 1, 3, "a3", "A", 1)],
    "wording": [(i, "en", "original", f"Text {i}.") for i in (11, 12, 13)],
    "answer_option": [(1, "three", p, str(p), float(p), p - 2) for p in (1, 2, 3)],
    "respondent": [(21, "one", "api", "m", "{}", "2026-01-01 00:00:00+00")],
    "persona_set": [("Mine", "2026-01-01 00:00:00+00", '[{"code": "p", "text": "a nurse"}]')],
    "study": [
        (
            31,
            "s",
            "planned",
            1,
            json.dumps(
                {
                    "study": "s",
                    "instrument": "bank",
                    "respondents": ["one"],
                    "languages": ["en"],
                    "format": "three",
                    "contexts": [{"code": "p", "text": "a nurse"}],
                    "entities": [],
                    "temperatures": [],
                    "repetitions": 1,
                }
            ),
            "plan",
            "2026-01-01 00:00:00+00",
        )
    ],
    "study_context": [(31, "p", "a nurse")],
    "administration": [
        (41, 31, 21, "en", "p", "", "", "original", "three", "standard", "as_is", "initial", 1)
    ],
    "trial": [(50 + n, 31, 41, 10 + n, n, None, None, None) for n in (1, 2, 3)],
    "prompt": [(61, '[{"role": "user", "content": "Hello"}]')],
    "attempt": [
        (
            71,
            31,
            51,
            1,
            61,
            5,
            "2026-01-02 00:00:00+00",
            0.5,
            "server",
            500,
            "busy",
            "",
            "",
            None,
            None,
            0.0,
            False,
        ),
        (
            72,
            31,
            51,
            2,
            61,
            5,
            "2026-01-02 00:00:01+00",
            0.25,
            "reply",
            None,
            "",
            "stop",
            "m-1",
            10,
            1,
            0.125,
            False,
        ),
        (
            73,
            31,
            52,
            1,
            61,
            6,
            "2026-01-02 00:00:02+00",
            0.25,
            "reply",
            None,
            "",
            "stop",
            "m-1",
            10,
            1,
            0.125,
            True,
        ),
    ],
    "attempt_text": [(72, "3"), (73, "I cannot.")],
    "response": [(51, 31, 72, "answered", "3", None, 1), (52, 31, 73, "refused", None, None, 1)],
    "page_memory": [("draft", "2026-01-01 00:00:00+00", '"x"')],
}


def test_threads_read_their_own_rows(database):
    def ask(number):
        return database.rows("select ?::int", [number]) == [(number,)]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(500), timeout=60))


def test_a_transaction_is_kept_whole_or_not_at_all(database):
    def two_rows():
        with database.transaction() as cursor:
            cursor.execute("insert into study_context (study_id, code, text) values (1, 'a', 'x')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        two_rows()
    assert database.rows("select * from study_context") == []


def test_all_or_nothing_joins_the_transactions_of_its_thread_only(database):
    add = "insert into study_context (study_id, code, text) values (?, 'a', 'text')"

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


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("enable_external_access", "false"),
        ("autoinstall_known_extensions", "false"),
        ("autoload_known_extensions", "false"),
        ("allow_community_extensions", "false"),
        ("lock_configuration", "true"),
    ],
)
def test_an_open_database_fetches_and_loads_nothing_and_stays_so(database, setting, value):
    read = "select value from duckdb_settings() where name = ?"
    assert database.row(read, [setting]) == (value,)


def test_a_database_that_could_reach_outside_is_not_handed_out(monkeypatch):
    monkeypatch.setitem(database_module._LOCKED_DOWN, "enable_external_access", "true")
    with pytest.raises(RuntimeError, match="not locked down"):
        Database(":memory:")


def test_a_second_process_is_told_who_has_the_file(tmp_path):
    path = tmp_path / "x.duckdb"
    held = Database(path)
    held.write("create table t (i integer)")  # it looks at the file, which must not end the lock
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
    with pytest.raises(StoreError, match="not a database of Inkblot"):
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
        applied = raw.execute("select name from schema_migration order by name").fetchall()
    assert applied == [(name,) for name, _ in MIGRATIONS]


def migrate_until(raw, step):
    """The schema as it was before a step."""
    raw.execute(
        "create table schema_migration (name varchar primary key, applied_at timestamptz not null)"
    )
    for name, sql in MIGRATIONS[: [name for name, _ in MIGRATIONS].index(step)]:
        raw.execute(sql)
        raw.execute("insert into schema_migration values (?, now())", [name])


@pytest.fixture
def old_file(tmp_path):
    """A file as an Inkblot before calls of several items left it."""
    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as raw:
        migrate_until(raw, "0002_calls")
        for table, rows in BEFORE_CALLS.items():
            marks = ", ".join("?" * len(rows[0]))
            raw.executemany(f"insert into {table} values ({marks})", rows)  # noqa: S608
    return path


def test_an_older_file_keeps_every_row_through_the_migration(old_file):
    with duckdb.connect(str(old_file), read_only=True) as raw:
        before = {t: raw.execute(f"from {t} order by all").fetchall() for t in BEFORE_CALLS}
    Database(old_file).close()
    with duckdb.connect(str(old_file), read_only=True) as raw:
        for table, rows in before.items():
            width = len(rows[0])
            kept = raw.execute(f"from {table} order by all").fetchall()
            assert [row[:width] for row in kept] == rows, table


def test_an_older_file_killed_right_after_its_migration_has_each_row_once(old_file, tmp_path):
    with duckdb.connect(str(old_file), read_only=True) as raw:
        before = {t: raw.execute(f"from {t} order by all").fetchall() for t in BEFORE_CALLS}
    database = Database(old_file)
    killed = tmp_path / "killed.duckdb"
    copy_as_after_a_kill(old_file, killed)
    database.close()
    for _ in range(2):
        Database(killed).close()
        with duckdb.connect(str(killed), read_only=True) as raw:
            for table, rows in before.items():
                kept = raw.execute(f"from {table} order by all").fetchall()
                assert [row[: len(rows[0])] for row in kept] == rows, table


def test_codings_of_a_file_without_coders_belong_to_coder_1(tmp_path):
    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as raw:
        migrate_until(raw, "0006_coders")
        raw.execute("insert into audit values (7, 31, 1, 100, false, '2026-02-01 00:00:00+00')")
        for trial, status, option in ((51, "answered", "3"), (52, "neutral", None)):
            raw.execute("insert into audit_sample values (7, 31, ?, ?)", [trial, trial - 50])
            raw.execute(
                "insert into coding (audit_id, trial_id, coded_at, status, option, parser_status,"
                " parser_option) values (7, ?, '2026-02-02 00:00:00+00', ?, ?, 'refused', null)",
                [trial, status, option],
            )
    for _ in range(2):  # migrated, closed, and opened again
        database = Database(path)
        assert audits.coders(database, 7) == {"Coder 1": 2}
        kept = audits.codings(database, 7)
        assert kept[["trial_id", "person_status"]].to_numpy().tolist() == [
            [51, "answered"],
            [52, "neutral"],
        ]
        assert set(kept["coded_at"]) == {"2026-02-02T00:00:00Z"}
        assert audits.next_uncoded(database, 7, "Coder 1") is None
        database.close()
    with duckdb.connect(str(path)) as raw, pytest.raises(duckdb.ConstraintException):
        raw.execute(
            "insert into coding (audit_id, trial_id, coder, coded_at, status, parser_status)"
            " values (7, 51, null, now(), 'refused', 'refused')"
        )


@pytest.mark.parametrize(
    ("kind", "design", "said"),
    [
        ("planned", "{}", {"initial": ("1", "none")}),
        ("planned", '{"items_per_call": 10}', {"initial": ("10", "none")}),
        ("planned", '{"items_per_call": 0}', {"initial": ("all", "none")}),
        (
            "planned",
            '{"items_per_call": 1}',
            {"initial": ("1", "none"), "opposing": ("1", "none")},
        ),
        ("imported", '{"items_per_call": 1}', {"initial": ("", "")}),
    ],
)
def test_an_older_file_says_how_many_items_a_call_asked(tmp_path, kind, design, said):
    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as raw:
        migrate_until(raw, "0007_call_factors")
        raw.execute("insert into study values (31, 's', ?, 1, ?, '', now())", [kind, design])
        for number, phase in enumerate(said):
            raw.execute(
                "insert into administration values"
                " (?, 31, 21, 'en', '', '', '', 'original', 'f', 't', 'as_is', ?, 1)",
                [number, phase],
            )
    for _ in range(2):  # migrated, closed, and opened again
        database = Database(path)
        rows = database.rows("select phase, items_per_call, history from administration")
        assert {phase: (size, history) for phase, size, history in rows} == said
        database.close()


def test_attempts_of_an_older_file_are_read_and_its_study_can_go_on(old_file):
    database = Database(old_file)
    detail = answers.detail(database, 51)
    assert [(t.number, t.outcome, t.reply) for t in detail.attempts] == [
        (1, "server", None),
        (2, "reply", "3"),
    ]
    assert detail.attempts[1].messages == ({"role": "user", "content": "Hello"},)
    page, _ = answers.page(database, 31, {}, "", offset=0, limit=9)
    assert page["status"].tolist() == ["answered", "refused", "not_asked"]
    assert frames.item_scores(database, ["s"], {})["score"].tolist()[0] == 3.0
    tidy = answers.tidy(database, 31).to_pandas()
    assert tidy["raw"].tolist() == ["3", "I cannot."]
    assert tidy["cost"].tolist() == [0.125, 0.125]
    assert studies.get(database, "s").design.formats == ("three",)
    assert studies.contexts(database, 31)["p"].text == "a nurse"
    (left,) = collection.remaining_calls(database, 31, [21], after=0, limit=9)
    assert (left.call_id, left.items[0].trial_id, left.items[0].item) == (53, 53, "a3")
    assert (left.tries, left.replies, left.option_order) == (0, 0, None)
    database.close()


def test_a_format_of_an_older_file_counts_a_neutral_answer_as_a_coin(old_file):
    database = Database(old_file)
    assert database.rows("from answer_format") == [(1, "three", "coin", "")]
    assert database.rows("select distinct pair, genre, rank from item") == [("", "", None)]
    database.close()


def test_closing_waits_for_what_is_under_way_and_refuses_what_comes_later(tmp_path):
    found = Database(tmp_path / "x.duckdb")
    started, order = threading.Event(), []

    def read():
        with found.transaction() as cursor:
            started.set()
            cursor.execute("select sum(range) from range(30000000)").fetchall()
            order.append("read")

    reader = threading.Thread(target=read)
    reader.start()
    started.wait(5)
    found.close()
    order.append("closed")
    reader.join(10)
    assert order == ["read", "closed"]
    with pytest.raises(StoreError, match="is closed"):
        found.rows("select 1")


def test_closing_leaves_the_file_open_where_something_is_under_way_for_too_long(tmp_path):
    found = Database(tmp_path / "x.duckdb")
    with found.transaction():
        found.close(within_s=0.01)
        assert found.rows("select 1") == [(1,)]
    found.close(within_s=0.01)
    assert found.closed


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("Read-only file system", "is on a disk that cannot be written to"),
        ("Permission denied", "You may not read and write"),
        ("Operation not permitted", "You may not read and write"),
    ],
)
def test_a_file_that_may_not_be_written_is_told_in_plain_words(tmp_path, monkeypatch, cause, words):
    """The words of DuckDB 1.5 on such a disk; making one takes an administrator."""
    path = tmp_path / "x.duckdb"

    def refuse(*_arguments, **_named):
        raise duckdb.IOException(f'IO Error: Cannot open file "{path}": {cause}')

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(StoreError) as caught:
        Database(path)
    assert words in str(caught.value)
    assert "IO Error" not in str(caught.value)
    assert "INKBLOT_DB" in caught.value.remedy


def test_a_row_that_changed_since_the_file_was_opened_is_written_into_it(tmp_path):
    """A result left open at opening would keep its transaction, and so every checkpoint."""
    database = Database(tmp_path / "file.duckdb")
    for value in (1, 2, 3):
        saved_inputs.save_page_input(database, "name", value)
    database.checkpoint()
    assert not (tmp_path / "file.duckdb.wal").exists()
    assert saved_inputs.page_input(database, "name")[0] == 3
    database.close()


def test_two_transactions_that_change_the_same_row_are_told_apart(tmp_path):
    database = Database(tmp_path / "x.duckdb")
    save = (
        "insert into page_memory values ('a', now(), ?)"
        " on conflict (name) do update set value = excluded.value"
    )
    with database.transaction() as cursor:
        cursor.execute(save, ["0"])
    with database.transaction() as first:
        first.execute(save, ["1"])
        with pytest.raises(ConflictError, match="at this moment"), database.transaction() as second:
            second.execute(save, ["2"])
    assert database.row("select value from page_memory") == ("1",)
    database.close()


def test_recodings_of_an_older_file_keep_their_numbers_also_after_a_kill(tmp_path):
    path = tmp_path / "old.duckdb"
    add = (
        "insert into recoding (trial_id, study_id, recoded_at, cause, status, option, parser)"
        " values (?, 31, '2026-02-01 00:00:00+00', ?, ?, ?, ?)"
    )
    kept = [
        (51, "parser", "ambiguous", None, 1),
        (51, "person", "answered", "3", 2),
        (52, "person", "refused", None, 2),
        (52, "undo", "neutral", None, None),
    ]
    with duckdb.connect(str(path)) as raw:
        migrate_until(raw, "0013_readings")
        raw.execute("insert into study values (31, 's', 'planned', 1, '{}', '', now())")
        for trial, status, option, parser in (
            (51, "answered", "1", None),
            (52, "refused", None, 2),
        ):
            raw.execute(
                "insert into response (trial_id, study_id, status, option, parser)"
                " values (?, 31, ?, ?, ?)",
                [trial, status, option, parser],
            )
        for row in kept:
            raw.execute(add, row)
        raw.execute("delete from recoding where number = 1")
    database = Database(path)
    killed = tmp_path / "killed.duckdb"
    copy_as_after_a_kill(path, killed)
    database.close()
    for file in (path, killed, killed):
        database = Database(file)
        found = database.rows(
            "select number, trial_id, cause, status, option, parser, layer, certainty, hedged,"
            " judge from recoding order by number"
        )
        nothing = (None,) * 4
        assert found[:3] == [(n + 2, *row, *nothing) for n, row in enumerate(kept[1:])]
        assert database.rows("select trial_id, option, layer from person_set") == [(51, "3", None)]
        assert database.rows("select trial_id, layer, hedged from response order by 1") == [
            (51, "person", None),
            (52, None, None),
        ]
        if len(found) == 3:
            with database.transaction() as cursor:
                cursor.execute(add, [52, "judge", "refused", None, 2])
        assert database.row("select max(number) from recoding") == (5,)
        assert database.rows("select trial_id, status from judge_set") == [(52, "refused")]
        database.close()


def copy_as_after_a_kill(path, copy):
    """The file of an open database and what its log still holds, as a kill would leave them."""
    for end in ("", ".wal"):
        if Path(f"{path}{end}").exists():
            shutil.copy(f"{path}{end}", f"{copy}{end}")


def test_how_replies_were_read_survives_a_kill_right_after_the_migration(old_file, tmp_path):
    database = Database(old_file)
    read = {"layer": "single_mention", "certainty": "guess", "hedged": True}
    first = audits.ResponseChange(51, "answered", "3", 72, "answered", "1", 2, 72, 1, **read)
    table = audits.change_table([first])
    assert audits.apply_changes(database, 31, table, cause="parser") == 1
    by_person = audits.changes_by_person(database, 31, {51: ("refused", None)})
    assert audits.apply_changes(database, 31, by_person, cause="person") == 1
    killed = tmp_path / "killed.duckdb"
    copy_as_after_a_kill(old_file, killed)
    database.close()
    database = Database(killed)
    undo = audits.changes_undoing_person(database, 31, [51])
    assert audits.apply_changes(database, 31, undo, cause="undo") == 1
    detail = answers.detail(database, 51)
    assert (detail.option, detail.layer, detail.certainty, detail.hedged) == (
        "1",
        "single_mention",
        "guess",
        True,
    )
    assert [old.layer for old in detail.earlier_codings] == ["person", "single_mention", None]
    assert [old.parser for old in detail.earlier_codings] == [None, 2, 1]
    database.close()
