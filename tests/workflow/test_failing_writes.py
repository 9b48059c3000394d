"""Every kind of data, with every write failing once: nothing half there, and then it is done.

The statement that fails is the first, the second, ... that a verb runs on the real database, until
the verb runs none that fails. After each failure the database holds what it held before, to the
row, or (where a verb is several writes) what the verb itself says that it keeps.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from core.domain.study import Context
from core.errors import StoreError, UserError
from core.workflow import backups, people, saved_inputs
from core.workflow.answers import audits, exports, imports
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.opening import open_workspace
from core.workflow.packages import making, reading
from core.workflow.respondents import catalog, prices
from core.workflow.runs import amendments, control
from core.workflow.templates import editing as templates
from tests.workflow.studies import finished, freeze, service, simulated

WRITES = ("insert", "update", "delete", "create", "commit")
PEOPLE = b"person,item,answer,person.age\n" + b"".join(
    b"p%d,q%d,%d,%d\n" % (p, q, (p + q) % 5 + 1, 20 + p) for p in range(6) for q in range(4)
)


PRICES = b"""model,price_in,price_out,price_cached,as_of,source
m,1,2,,2026-01-01,x
n,3,4,,2026-01-01,x
"""


class Failing:
    """A connection of DuckDB, or a cursor of it, whose n-th write fails as on a full disk."""

    def __init__(self, real, count):
        self._real, self._count = real, count

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __enter__(self):
        self._real.__enter__()
        return self

    def __exit__(self, *error):
        return self._real.__exit__(*error)

    def cursor(self):
        return Failing(self._real.cursor(), self._count)

    def execute(self, sql, *parameters):
        if sql.split(None, 1)[0].lower() in WRITES:
            self._step()
        self._real.execute(sql, *parameters)
        return self

    def executemany(self, sql, *parameters):
        self._step()
        self._real.executemany(sql, *parameters)
        return self

    def commit(self):
        self._step()
        return self._real.commit()

    def _step(self):
        self._count[0] -= 1
        if self._count[0] == 0:
            raise duckdb.IOException("IO Error: Could not write file: No space left on device")


@contextmanager
def failing(database, number):
    """The database with its n-th write failing; gives what counts down."""
    count = [number]
    real = database._connection
    database._connection = Failing(real, count)
    try:
        yield count
    finally:
        database._connection = real


def contents(database):
    """How many rows every table has, and the sum of their hashes."""
    names = database.rows("select table_name from duckdb_tables() order by 1")
    return {
        name: database.row(f'select count(*), sum(hash(t)::hugeint) from "{name}" t')  # noqa: S608
        for (name,) in names
        if name != "generation"
    }


def rename_bank(workspace):
    state = editing.load(workspace, "attitudes_20")
    renamed = replace(state.instrument, title="Another title")
    editing.save(workspace, renamed, expected_revision=state.revision)


def correct_people(workspace):
    known = people.facts(workspace, "people")
    rows = people.table(workspace, "people")
    rows.loc[0, "age"] = "99"
    people.save(workspace, "people", known, rows)


def code_a_reply(workspace):
    (audit,) = audits.list_audits(workspace, "study")
    reply = audits.reply_to_code(workspace, audit, None)
    audits.save_coding(workspace, audit, reply.answer.trial_id, option="3")


def amend(workspace):
    amendments.amend(workspace, "asked", "Service", leave_out=["seed"], reason="It is refused.")


def packed():
    return Path(os.environ["PACKAGE"]).read_bytes()


VERBS = {
    "a new bank": lambda w: editing.create(w, "New", response_format="likert_5"),
    "an edit of a bank": rename_bank,
    "an undone edit": lambda w: editing.undo(w, "attitude_22"),
    "a bank put away": lambda w: editing.set_archived(w, "attitude_22", archived=True),
    "a version of a bank": lambda w: editing.publish(w, "attitude_22"),
    "personas": lambda w: sets.save(w, "Two", (Context("a", "A."), Context("b", "B.")), made="x"),
    "a template": lambda w: templates.create(w, "Mine"),
    "a respondent": lambda w: catalog.save(w, simulated("Another")),
    "prices": lambda w: prices.import_prices(w, "p.csv", PRICES),
    "fields of a form": lambda w: saved_inputs.save(w, "form", {"a": 1}),
    "a frozen study": lambda w: freeze(w, simulated(), study="frozen", n_personas=2),
    "imported answers": lambda w: imports.import_tidy(w, "new.csv", PEOPLE),
    "more answers of a study": lambda w: imports.import_tidy(
        w, "people.csv", PEOPLE.replace(b"p1,", b"p9,"), study="people", add=True
    ),
    "facts about people": correct_people,
    "a sample to code": lambda w: audits.draw_audit(w, "study", seed=2, per_model=3),
    "a coding": code_a_reply,
    "an amendment": amend,
    "a package": lambda w: reading.import_package(w, "p.zip", packed()),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory, new_database):
    """A database with a study that was asked, one to ask, people, an audit; and a package."""
    folder = tmp_path_factory.mktemp("failing")
    path = folder / "x.duckdb"
    workspace = open_workspace(shutil.copyfile(new_database, path))
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    audits.draw_audit(workspace, "study", seed=1, per_model=5)
    freeze(workspace, service("http://127.0.0.1:9", seed=7), study="asked", n_personas=1)
    imports.import_tidy(workspace, "people.csv", PEOPLE)
    state = editing.load(workspace, "attitude_22")
    editing.save(workspace, replace(state.instrument, title="T"), expected_revision=state.revision)
    workspace.close()
    other = open_workspace(shutil.copyfile(new_database, folder / "other.duckdb"))
    freeze(other, simulated(), study="packed", n_personas=1)
    control.start(other, "packed")
    finished(other, "packed")
    package = folder / "p.zip"
    package.write_bytes(making.make_package(other, "packed").data)
    other.close()
    return path, package


@pytest.fixture
def database_file(filled, tmp_path, monkeypatch):
    path, package = filled
    monkeypatch.setenv("PACKAGE", str(package))
    return Path(shutil.copyfile(path, tmp_path / "x.duckdb"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_write_that_fails_leaves_nothing_half_there(database_file, verb):
    workspace = open_workspace(database_file)
    before = contents(workspace.database)
    numbers, number = 0, 1
    while True:
        with failing(workspace.database, number) as count:
            told = ""
            try:
                VERBS[verb](workspace)
            except StoreError as error:
                told = str(error)
        if not told:
            assert count[0] > 0, "a failed write was passed over"
            break
        assert "disk is full" in told
        numbers += 1
        assert contents(workspace.database) == before, f"write {number} failed"
        number += 1
        assert number < 500
    assert numbers > 0
    assert contents(workspace.database) != before
    workspace.close()
    again = open_workspace(database_file)
    assert contents(again.database) != before
    again.close()


# Files: what is written is whole, or as it was.


FILES = {
    "a backup": lambda w, folder: backups.back_up(w, folder / "copy.duckdb"),
    "an export": lambda w, folder: exports.export_study(w, "study", folder / "exported"),
}


@pytest.mark.parametrize("verb", FILES)
def test_a_file_that_cannot_be_written_is_not_half_there(
    database_file, verb, tmp_path, monkeypatch
):
    workspace = open_workspace(database_file)
    before = contents(workspace.database)
    FILES[verb](workspace, tmp_path / "whole")
    whole = {
        path.relative_to(tmp_path / "whole"): path.read_bytes()
        for path in (tmp_path / "whole").rglob("*")
        if path.is_file()
    }
    real = os.replace
    for number in range(1, len(whole) + 1):
        calls = []

        def failing_replace(*arguments, calls=calls, number=number):
            calls.append(1)
            if len(calls) == number:
                raise OSError(28, "No space left on device")
            return real(*arguments)

        monkeypatch.setattr(os, "replace", failing_replace)
        monkeypatch.setattr(Path, "replace", lambda path, target: failing_replace(path, target))
        folder = tmp_path / f"attempt_{number}"
        with pytest.raises(UserError, match=r"space|written|full"):
            FILES[verb](workspace, folder)
        monkeypatch.undo()
        for path in folder.rglob("*"):
            if path.is_file():
                name = path.relative_to(folder)
                assert name in whole, f"{name} was left over"
                assert verb == "a backup" or path.read_bytes() == whole[name]
    assert contents(workspace.database) == before
    workspace.close()


def test_a_backup_cut_off_in_the_middle_is_not_there(database_file, tmp_path, monkeypatch):
    def cut(source, target):
        Path(target).write_bytes(Path(source).read_bytes()[:1000])
        raise OSError(28, "No space left on device")

    workspace = open_workspace(database_file)
    monkeypatch.setattr(shutil, "copyfile", cut)
    with pytest.raises(StoreError, match="No space left"):
        backups.back_up(workspace, tmp_path / "copies" / "x.duckdb")
    assert not [*(tmp_path / "copies").iterdir()]
    assert isinstance(contents(workspace.database), dict)
    workspace.close()
