"""The file under the database: its log, its format, other files in its place, copies of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from core.errors import StoreError
from core.store import database_file
from core.store.database import Database
from core.store.migrations import MIGRATIONS

ROOT = Path(__file__).parents[2]
ADD = "insert into page_memory (name, saved_at, value) values ('{}', now(), '1')"
STEPS = [name for name, _ in MIGRATIONS]
IS_POSIX = os.name != "nt"


def names(database):
    return [name for (name,) in database.rows("select name from page_memory order by 1")]


def killed(path, *statements):
    """A process that opens the file, runs statements, and is killed."""
    lines = "".join(f"database.write({sql!r})\n" for sql in statements)
    script = (
        "import os, signal\nfrom core.store.database import Database\n"
        f"database = Database({str(path)!r})\n{lines}os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False, timeout=120)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "x.duckdb"
    database = Database(file)
    database.write(ADD.format("first"))
    database.close()
    return file


def test_a_log_that_is_its_own_is_read(path):
    killed(path, ADD.format("second"))
    assert Path(f"{path}.wal").stat().st_size
    database = Database(path)
    assert (names(database), database.notices) == (["first", "second"], [])
    database.close()


def set_aside(path):
    return [*path.parent.glob(f"{path.name}.wal-of-another-state-*")]


@pytest.mark.parametrize("checkpoints", [0, 1, 2, 5])
def test_the_log_beside_a_restored_backup_is_set_aside_and_told(path, tmp_path, checkpoints):
    backup = tmp_path / "kept" / "x.duckdb"
    backup.parent.mkdir()
    shutil.copy(path, backup)
    more = [ADD.format(f"later {n}") for n in range(checkpoints)]
    killed(path, *(sql for add in more for sql in (add, "force checkpoint")), ADD.format("lost"))
    shutil.copy(backup, path)
    database = Database(path)
    assert names(database) == ["first"]
    (told,) = database.notices
    (aside,) = set_aside(path)
    assert "did not belong to this database" in told
    assert aside.name in told
    assert b"lost" in aside.read_bytes()
    database.close()
    again = Database(path)
    assert again.notices == []
    again.close()


@pytest.mark.parametrize("log", ["of another database", "no log at all" * 9, "cut"])
def test_a_log_of_another_file_is_set_aside_and_one_cut_off_is_read(path, tmp_path, log):
    killed(path, ADD.format("second"), ADD.format("third"))
    own = Path(f"{path}.wal")
    if log == "of another database":
        killed(tmp_path / "other.duckdb", ADD.format("foreign"))
        shutil.copy(tmp_path / "other.duckdb.wal", own)
    elif log == "cut":
        own.write_bytes(own.read_bytes()[:-3])
    else:
        own.write_bytes(log.encode())
    database = Database(path)
    if log == "cut":
        assert (names(database), set_aside(path)) == (["first", "second"], [])
    else:
        assert names(database) == ["first"]
        assert len(set_aside(path)) == len(database.notices) == 1
    database.close()


def test_no_new_database_is_made_beside_the_log_of_one_that_is_gone(path):
    killed(path, ADD.format("second"))
    kept = path.with_name("elsewhere.duckdb")
    path.rename(kept)
    with pytest.raises(StoreError, match=r"is not there.*is, in .*x\.duckdb\.wal"):
        Database(path)
    assert not path.exists()
    kept.rename(path)
    database = Database(path)
    assert names(database) == ["first", "second"]
    database.close()


def test_a_new_database_beside_backups_of_an_earlier_one_is_told(path):
    database = Database(path)
    target = database_file.backup_path(str(path))
    database.copy_to(target)
    database.close()
    path.unlink()
    new = Database(path)
    assert names(new) == []
    assert "a new one was made" in new.notices[0]
    assert str(target.parent) in new.notices[0]
    new.close()


# Older formats.

CHANGED = ("schema_migration", "run_event")


@pytest.fixture
def old_file(tmp_path):
    """A file in the format of earlier versions, with a compression that newer ones lack."""
    file = tmp_path / "old.duckdb"
    config = {"storage_compatibility_version": "v1.0.0"}
    with duckdb.connect(str(file), config=config) as raw:
        raw.execute(
            "create table schema_migration (name varchar primary key, "
            "applied_at timestamptz not null)"
        )
        for name, sql in MIGRATIONS[: STEPS.index("0019_prompts_in_any_format")]:
            raw.execute(sql)
            raw.execute("insert into schema_migration values (?, now())", [name])
        raw.execute("drop table prompt")
        raw.execute(
            "create table prompt (prompt_id bigint not null, messages varchar not null "
            "using compression fsst)"
        )
        raw.execute("insert into prompt select range, 'prompt ' || range from range(5000)")
        raw.execute(
            "insert into run_event (study_id, reported_at, kind, process, detail) "
            "select 1, now(), 'start', 'p', '{}' from range(7)"
        )
    return file


def contents(file):
    with duckdb.connect(str(file), read_only=True) as raw:
        tables = raw.execute("select table_name from duckdb_tables() order by 1").fetchall()
        return {t: raw.execute(f'from "{t}"').fetchall() for (t,) in tables}


def test_an_older_format_is_kept_as_a_backup_and_has_an_identity_afterwards(old_file):
    before = contents(old_file)
    bytes_before = old_file.read_bytes()
    assert database_file.state_of(str(old_file)).identity == b""
    database = Database(old_file)
    (kept,) = (old_file.parent / "backups").iterdir()
    assert kept.read_bytes() == bytes_before
    assert str(kept) in database.notices[0]
    with database.transaction() as cursor:
        number = cursor.execute(
            "insert into run_event (study_id, reported_at, kind, process, "
            "detail) values (1, now(), 'pause', 'p', '{}') returning number"
        ).fetchone()
    assert number == (8,)
    database.close()
    assert database_file.state_of(str(old_file)).identity
    after = contents(old_file)
    assert {t: r for t, r in after.items() if t in before and t not in CHANGED} == {
        t: r for t, r in before.items() if t not in CHANGED
    }
    again = Database(old_file)
    assert again.notices == []
    again.close()
    assert len([*(old_file.parent / "backups").iterdir()]) == 1


@pytest.mark.parametrize(
    "moment", ["shutil.copyfile", "Path.replace", "os.fsync", "duckdb.connect"]
)
@pytest.mark.parametrize("number", [1, 2])
def test_a_kill_while_an_older_file_is_brought_up_to_date_loses_nothing(old_file, moment, number):
    before = contents(old_file)
    script = f"""
import os, shutil, signal, duckdb
from pathlib import Path
from core.store.database import Database
owner, name = {{"shutil": shutil, "Path": Path, "os": os, "duckdb": duckdb}}, {moment!r}.split(".")
real, calls = getattr(owner[name[0]], name[1]), []
def killing(*arguments, **named):
    calls.append(1)
    if len(calls) == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
setattr(owner[name[0]], name[1], killing)
Database({str(old_file)!r})
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False, timeout=120)
    Database(old_file).close()
    after = contents(old_file)
    assert {t: r for t, r in after.items() if t in before and t not in CHANGED} == {
        t: r for t, r in before.items() if t not in CHANGED
    }
    assert database_file.state_of(str(old_file)).identity
    assert not [*old_file.parent.glob("*.in-new-format*")]


def test_a_file_that_cannot_be_written_anew_is_used_as_it_is(old_file, monkeypatch):
    def full(*_):
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(database_file, "write_in_new_format", full)
    database = Database(old_file)
    assert database.row("select count(*) from prompt") == (5000,)
    database.close()


def test_an_older_backup_beside_the_log_of_a_newer_format_opens_and_the_log_is_set_aside(
    old_file, path
):
    killed(path, ADD.format("foreign"))
    shutil.copy(f"{path}.wal", f"{old_file}.wal")
    database = Database(old_file)
    assert database.row("select count(*) from prompt") == (5000,)
    assert names(database) == []
    assert "did not belong to this database" in database.notices[0]
    assert len(set_aside(old_file)) == 1
    database.close()


def test_a_file_that_keeps_its_format_leaves_one_backup_however_often_it_is_opened(
    old_file, monkeypatch
):
    def full(*_):
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(database_file, "write_in_new_format", full)
    for _ in range(3):
        Database(old_file).close()
    assert len([*(old_file.parent / "backups").iterdir()]) == 1


def test_without_space_for_the_backup_an_older_file_is_left_as_it_is(old_file, monkeypatch):
    before = old_file.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(StoreError, match=r"could not be copied.*No space left"):
        Database(old_file)
    assert old_file.read_bytes() == before


# Another file in the place of the one that is open.


def delete(path, _):
    path.unlink()


def move(path, _):
    path.rename(path.with_name("moved.duckdb"))


def replace(path, backup):
    shutil.copy(backup, path.with_name("new.duckdb"))
    path.with_name("new.duckdb").replace(path)


def write_over(path, backup):
    shutil.copyfile(backup, path)


def empty(path, _):
    path.write_bytes(b"")


@pytest.mark.skipif(not IS_POSIX, reason="Windows lets nobody touch a file that is open")
@pytest.mark.parametrize("change", [delete, move, replace, write_over, empty])
def test_nothing_is_written_once_another_file_is_in_its_place(path, tmp_path, change):
    backup = tmp_path / "kept.duckdb"
    shutil.copy(path, backup)
    database = Database(path)
    database.write(ADD.format("second"))
    database.checkpoint()
    change(path, backup)
    before = path.read_bytes() if path.exists() else None
    for attempt in (
        lambda: database.write(ADD.format("third")),
        lambda: database.checkpoint(),
        lambda: database.copy_to(tmp_path / "copy.duckdb"),
    ):
        with pytest.raises(StoreError, match="while Inkblot had it open"):
            attempt()
    if change in (delete, move, replace):
        with pytest.raises(StoreError, match="while Inkblot had it open"):
            names(database)
    assert (path.read_bytes() if path.exists() else None) == before
    if change is move:  # what is put back is gone on with
        path.with_name("moved.duckdb").rename(path)
        database.write(ADD.format("third"))
        assert names(database) == ["first", "second", "third"]
    database.close()
    if change is not move:  # closing writes into no other file either
        assert (path.read_bytes() if path.exists() else None) == before


def test_a_missing_table_is_told(path):
    with duckdb.connect(str(path)) as raw:
        raw.execute("drop table page_memory")
    database = Database(path)
    with pytest.raises(StoreError, match=r"page_memory.*Another program has changed the file"):
        names(database)
    database.close()


# Copies.


def test_a_copy_is_complete_while_others_read_and_write(path, tmp_path):
    database = Database(path)
    ended = threading.Event()
    written = []

    def write():
        while not ended.is_set():
            database.write(ADD.format(f"n{len(written):05}"))
            written.append(1)

    threads = [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    copies = []
    for number in range(5):
        before = len(written)
        copies.append((before, tmp_path / "copies" / f"{number}.duckdb"))
        database.copy_to(copies[-1][1])
    ended.set()
    for thread in threads:
        thread.join()
    database.close()
    for before, copy in copies:
        assert not Path(f"{copy}.wal").exists()
        opened = Database(copy)
        assert before <= len(names(opened)) - 1 <= len(written)
        opened.close()


def test_a_database_is_replaced_and_the_one_before_is_kept(path, tmp_path):
    database = Database(path)
    backup = tmp_path / "backup.duckdb"
    database.copy_to(backup)
    database.write(ADD.format("second"))
    kept = tmp_path / "kept.duckdb"
    database.replace_by(backup, kept)
    assert names(database) == ["first"]
    database.write(ADD.format("after"))
    database.close()
    for file, held in ((path, ["after", "first"]), (kept, ["first", "second"])):
        opened = Database(file)
        assert names(opened) == held
        opened.close()


def test_a_database_is_not_replaced_by_what_is_none(path, tmp_path):
    database = Database(path)
    other = tmp_path / "other.duckdb"
    other.write_bytes(b"no database, but as long as one " * 1000)
    with pytest.raises(StoreError, match="is damaged, or it is not a database"):
        database.replace_by(other, tmp_path / "kept.duckdb")
    assert names(database) == ["first"]
    assert not (tmp_path / "kept.duckdb").exists()
    database.close()
