"""Members of a lab: their file, what each role may change, their own inputs and keys, the log."""

from __future__ import annotations

import json
import stat
import time

import pytest

from core.collect.endpoints import KeyRing
from core.domain.members import Member, Role
from core.errors import FileError, MemberError, RoleError, UserError
from core.store.permitted import PermittedDatabase
from core.workflow import backups, members, saved_inputs, study_log
from core.workflow.answers import audits
from core.workflow.contexts import rewriting
from core.workflow.opening import forget_notices, open_workspace
from core.workflow.packages import making
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.runs.batches import requests
from tests.workflow.studies import finished, freeze, simulated
from tests.workflow.test_failing_writes import VERBS, contents, database_file, filled

__all__ = ["database_file", "filled"]  # fixtures

PASSWORD = "a quiet word of many letters"  # of nobody


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A file of members of its own, with an owner."""
    monkeypatch.setenv("INKBLOT_MEMBERS", str(tmp_path / "members.json"))
    members.save("Olga", Role.OWNER, PASSWORD)
    return tmp_path / "members.json"


def as_member(workspace, role, name="Anna"):
    return workspace.for_member(Member(name, role), workspace.keys.for_session())


# The file of members.


def test_a_password_is_known_by_its_hash_alone_and_the_file_is_the_owners(lab):
    assert PASSWORD not in lab.read_text()
    assert stat.S_IMODE(lab.stat().st_mode) == 0o600
    assert members.check_password("Olga", PASSWORD) == Member("Olga", Role.OWNER)
    assert members.check_password("  olga ", PASSWORD) == Member("Olga", Role.OWNER)
    for name, password in (("Olga", PASSWORD + " "), ("Olga", ""), ("Nobody", PASSWORD)):
        assert members.check_password(name, password) is None


def test_equal_passwords_have_different_hashes(lab):
    members.save("Anna", Role.CODER, PASSWORD)
    assert len({one.password for one in members.load()}) == 2


def test_a_member_without_a_password_is_let_in_with_none(lab):
    members.save("anna@example.org", Role.CODER, None)
    assert members.check_password("anna@example.org", "") is None
    assert members.check_password("anna@example.org", PASSWORD) is None


def test_a_role_given_or_taken_counts_at_once(lab):
    members.save("Anna", Role.READER, PASSWORD)
    members.save("anna", Role.EDITOR, None)
    assert members.check_password("Anna", PASSWORD) == Member("Anna", Role.EDITOR)
    members.remove("ANNA")
    assert members.find("Anna") is None


def test_somebody_always_stays_an_owner(lab):
    members.save("Anna", Role.EDITOR, PASSWORD)
    before = lab.read_bytes()
    with pytest.raises(MemberError, match="Nobody would be an owner"):
        members.save("Olga", Role.EDITOR, None)
    with pytest.raises(MemberError, match="Nobody would be an owner"):
        members.remove("Olga")
    assert lab.read_bytes() == before


@pytest.mark.parametrize("name", ["", " Anna", "An  na", "A\nB", "A\x00", "x" * 61, "Inkblot"])
def test_a_name_that_cannot_be_one_is_refused(lab, name):
    with pytest.raises(MemberError):
        members.save(name, Role.READER, PASSWORD)


@pytest.mark.parametrize("password", ["", "short", "x" * 1001, "with a NUL \x00 in it"])
def test_a_password_that_cannot_be_one_is_refused(lab, password):
    with pytest.raises(MemberError, match="password"):
        members.save("Anna", Role.READER, password)
    assert members.check_password("Olga", PASSWORD + "\x00") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "inkblot members 1"}',
        "\x00",
        '{"format": "inkblot members 1", "members": [{"name": "a", "role": "god"}]}',
        json.dumps(
            {
                "format": "inkblot members 1",
                "members": [{"name": n, "role": "owner", "password": ""} for n in ("A", "a")],
            }
        ),
    ],
)
def test_a_damaged_file_lets_nobody_in(lab, text):
    lab.write_text(text)
    with pytest.raises(FileError):
        members.check_password("Olga", PASSWORD)


def test_a_damaged_hash_lets_nobody_in(lab):
    for hashed in ("x", "scrypt-16-8-1$$", "scrypt-16-8-1$!$!", "$$", "plain$a$b"):
        body = json.loads(lab.read_text())
        body["members"][0]["password"] = hashed
        lab.write_text(json.dumps(body))
        assert members.check_password("Olga", PASSWORD) is None
        assert members.check_password("Olga", "") is None


def test_an_unknown_name_takes_as_long_as_a_wrong_password(lab):
    def seconds(name):
        took = []
        for _ in range(5):
            start = time.process_time()
            members.check_password(name, "wrong")
            took.append(time.process_time() - start)
        return min(took)

    known, unknown = seconds("Olga"), seconds("Nobody")
    assert unknown > known / 3


# What each role may change: every kind of write, and each thing that costs money.

CODINGS = {"a coding"}
OF_ONESELF = {"fields of a form"}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("role", [Role.CODER, Role.READER])
def test_a_role_changes_nothing_that_it_must_not(database_file, verb, role):
    workspace = open_workspace(database_file)
    before = contents(workspace.database)
    limited = as_member(workspace, role, audits.FIRST_CODER)
    allowed = OF_ONESELF | (CODINGS if role is Role.CODER else set())
    if verb in allowed:
        VERBS[verb](limited)
        after = contents(workspace.database)
        changed = {name for name in after if after[name] != before[name]}
        assert changed == {"coding" if verb in CODINGS else "member_memory"}
    else:
        with pytest.raises(RoleError, match=f"Your role here, {role}"):
            VERBS[verb](limited)
        assert contents(workspace.database) == before
    workspace.close()


@pytest.mark.parametrize("verb", ["a frozen study", "a coding", "prices"])
def test_an_editor_does_what_whoever_works_alone_does(database_file, verb):
    workspace = open_workspace(database_file)
    before = contents(workspace.database)
    VERBS[verb](as_member(workspace, Role.EDITOR, audits.FIRST_CODER))
    assert contents(workspace.database) != before
    workspace.close()


STATEMENTS = {
    "insert into study values (1)": False,
    "with a as (select 1) insert into study select * from a": False,
    "select 1; delete from response": False,
    "insert or replace into study values (1)": False,
    "update response set status = 'x'": False,
    "truncate coding": False,
    "drop table coding": False,
    "create or replace table coding as select 1": False,
    "create temp table a as select 1": False,
    "alter table coding add column x int": False,
    "checkpoint": False,
    "copy coding to 'a.csv'": False,
    "attach 'a.duckdb'": False,
    "insert into coding_notes values (1)": False,
    'insert into "study" values (1)': False,
    "insert into main.study values (1)": False,
    "merge into coding using study on true when matched then delete": False,
    "select count(*) from coding": True,
    "/* update coding */ delete from study": False,
    "explain analyze delete from study": False,
    "with x as (select 'update coding') update study set code = 'x'": False,
    "delete from coding where false": True,
}


@pytest.mark.parametrize("sql", STATEMENTS)
@pytest.mark.parametrize("how", ["rows", "write", "transaction", "all_or_nothing"])
def test_a_statement_is_looked_at_however_it_is_run(workspace, sql, how):
    before = contents(workspace.database)
    database = as_member(workspace, Role.CODER).database

    def run():
        if how == "rows":
            database.rows(sql)
        elif how == "write":
            database.write(sql)
        elif how == "transaction":
            with database.transaction() as cursor:
                cursor.execute(sql)
        else:
            with database.all_or_nothing(), database.transaction() as cursor:
                cursor.execute(sql)

    if STATEMENTS[sql]:
        run()
    else:
        with pytest.raises(RoleError):
            run()
    assert contents(workspace.database) == before
    assert workspace.database.rows("select 42") == [(42,)]  # nothing is left open


def test_a_cursor_of_a_member_has_no_other_way_to_write(workspace):
    database = as_member(workspace, Role.READER).database
    with database.transaction() as cursor:
        for name in ("append", "executemany", "sql", "query", "from_df", "table", "load_extension"):
            with pytest.raises(AttributeError):
                getattr(cursor, name)


def test_the_database_of_a_member_is_the_same_file(workspace):
    limited = as_member(workspace, Role.READER).database
    freeze(workspace, simulated(), n_personas=1)
    assert limited.rows("select code from study") == [("study",)]
    workspace.database.write("checkpoint")
    workspace.database._reopen()
    assert limited.rows("select code from study") == [("study",)]
    workspace.close()
    assert limited.closed
    assert isinstance(limited, PermittedDatabase)


def test_backups_are_for_the_owner(workspace, tmp_path):
    for role in (Role.EDITOR, Role.CODER, Role.READER):
        limited = as_member(workspace, role)
        with pytest.raises(RoleError):
            backups.back_up(limited, tmp_path / f"{role}.duckdb")
        assert not (tmp_path / f"{role}.duckdb").exists()
    own = backups.back_up(as_member(workspace, Role.OWNER), tmp_path / "own.duckdb")
    for role in (Role.EDITOR, Role.CODER, Role.READER):
        with pytest.raises(RoleError):
            backups.restore(as_member(workspace, role), own)
    assert not workspace.database.closed


def test_asking_is_for_those_who_may_spend(workspace):
    for role in (Role.CODER, Role.READER):
        limited = as_member(workspace, role)
        with pytest.raises(RoleError):
            catalog.test(limited, simulated())
        with pytest.raises(RoleError):
            catalog.list_models(limited, "http://127.0.0.1:9/v1", "")
        with pytest.raises(RoleError):
            rewriting._save_all(limited, "x", ())
        with pytest.raises(RoleError):
            forget_notices(limited)
    assert catalog.test(as_member(workspace, Role.EDITOR), simulated()).reply


def test_a_run_goes_on_when_a_reader_looks_at_it(workspace):
    freeze(workspace, simulated(), n_personas=100)  # it must not end before it is paused
    editor, reader = as_member(workspace, Role.EDITOR), as_member(workspace, Role.READER, "Rob")
    with pytest.raises(RoleError):
        control.start(reader, "study")
    control.start(editor, "study")
    control.list_runs(reader)
    control.progress(reader, "study")
    for verb in (control.pause, control.stop):
        with pytest.raises(RoleError):
            verb(reader, "study")
    finished(reader)
    assert control.progress(reader, "study").n_done == 2000


# Each member's own: inputs, keys, codings.


def test_inputs_are_each_members_own(workspace):
    saved_inputs.save(workspace, "form", {"a": "alone"})
    anna, rob = as_member(workspace, Role.READER), as_member(workspace, Role.EDITOR, "Rob")
    assert saved_inputs.load(anna, "form").value == {"a": "alone"}
    saved_inputs.update(anna, "form", {"b": "Anna's"})
    assert saved_inputs.load(anna, "form").value == {"a": "alone", "b": "Anna's"}
    assert saved_inputs.load(rob, "form").value == {"a": "alone"}
    saved_inputs.save(rob, "form", None)
    assert saved_inputs.load(rob, "form") is None
    assert saved_inputs.load(anna, "form").value["b"] == "Anna's"
    assert saved_inputs.load(workspace, "form").value == {"a": "alone"}


def test_keys_are_each_members_own(workspace):
    anna, rob = as_member(workspace, Role.EDITOR), as_member(workspace, Role.EDITOR, "Rob")
    catalog.remember_key(anna, "https://api.openai.com/v1", "sk-of-anna-and-nobody-else")
    assert catalog.has_key(anna, "https://api.openai.com/v1", "")
    assert not catalog.has_key(rob, "https://api.openai.com/v1", "")
    assert not catalog.has_key(workspace, "https://api.openai.com/v1", "")
    assert isinstance(anna.for_process().keys, KeyRing)


def test_a_key_of_the_lab_goes_where_whoever_set_it_has_said(workspace, monkeypatch):
    monkeypatch.setenv("INKBLOT_KEY_LAB", "a-key-of-the-lab")
    editor = as_member(workspace, Role.EDITOR)
    assert catalog.has_key(editor, "https://editor.example/v1", "INKBLOT_KEY_LAB")  # alone
    monkeypatch.setenv("INKBLOT_SERVE", "https://lab.example.org")
    for one in (editor, editor.for_process(), workspace):
        assert not catalog.has_key(one, "https://editor.example/v1", "INKBLOT_KEY_LAB")
    monkeypatch.setenv("INKBLOT_KEY_LAB_URL", "https://models.example.org/v1")
    assert catalog.has_key(editor, "https://models.example.org/v1", "INKBLOT_KEY_LAB")
    assert not catalog.has_key(editor, "https://models.example.org:444/v1", "INKBLOT_KEY_LAB")


def test_one_member_does_not_disturb_anothers_work(workspace, tmp_path):
    freeze(workspace, simulated(), n_personas=1)
    reader, coder = as_member(workspace, Role.READER), as_member(workspace, Role.CODER)
    with pytest.raises(RoleError):
        rewriting.stop(reader, "Personas (60)")
    with pytest.raises(RoleError):
        requests.export(reader, "study", tmp_path / "out")
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(RoleError):
        making.make_package(coder, "study")
    with pytest.raises(MemberError, match="longer than"):
        saved_inputs.save(reader, "form", "x" * 1_100_000)


def test_nobody_codes_under_another_name(workspace):
    freeze(workspace, simulated(), n_personas=1)
    control.start(workspace, "study")
    finished(workspace)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=5)
    anna, rob = as_member(workspace, Role.CODER), as_member(workspace, Role.CODER, "Rob")
    trial = audits.reply_to_code(anna, audit, coder="Anna").answer.trial_id
    before = contents(workspace.database)
    for tried in (
        lambda: audits.save_coding(anna, audit, trial, option="1", coder="Rob"),
        lambda: audits.save_note(anna, audit, trial, "Rob", "A note."),
        lambda: audits.begin_adjudication(anna, audit, "Rob"),
        lambda: audits.adjudicate(anna, audit, trial, adjudicator="Rob", option="1"),
        lambda: audits.accept_codings(anna, audit, [trial]),
    ):
        with pytest.raises(RoleError):
            tried()
    assert contents(workspace.database) == before
    audits.save_coding(anna, audit, trial, option="1", coder="Anna")
    audits.save_coding(rob, audit, trial, option="2", coder="Rob")
    audits.save_note(rob, audit, trial, "Rob", "Unclear.")
    assert audits.list_coders(workspace, audit) == {"Anna": 1, "Rob": 1}
    log = study_log.entries(workspace, "study")
    assert {e.member for e in log if e.what == "Planned and froze the study"} == {""}
    assert {e.member for e in log if e.what == "Coded 1 reply of a sample"} == {"Anna", "Rob"}


# The log.

LOGGED = {
    "a frozen study": ("frozen", "Planned and froze the study"),
    "imported answers": ("new", "Imported 24 answers from new.csv"),
    "more answers of a study": ("people", "Imported 4 answers from people.csv"),
    "facts about people": ("people", "Changed what is known of the people"),
    "a sample to code": ("study", "Drew a sample of 3 replies, seed 2"),
    "an amendment": ("asked", "Amended Service: seed left to the service"),
    "a package": ("packed", "Imported the package p.zip"),
}


@pytest.mark.parametrize("verb", LOGGED)
def test_the_log_says_who_did_it(database_file, verb):
    study, words = LOGGED[verb]
    workspace = open_workspace(database_file)
    VERBS[verb](as_member(workspace, Role.EDITOR, "Eva"))
    newest = study_log.entries(workspace, study)[0]
    assert (newest.member, newest.what) == ("Eva", words)
    head, first, *_ = study_log.as_csv(workspace, study).decode("utf-8-sig").splitlines()
    assert head == "done_at,member,what"
    assert ",Eva," in first
    workspace.close()


def test_the_run_stands_on_the_log(workspace):
    freeze(workspace, simulated(), n_personas=1)
    control.start(as_member(workspace, Role.EDITOR, "Eva"), "study")
    finished(workspace)
    newest = study_log.entries(workspace, "study")[0]
    assert (newest.member, newest.what) == ("Eva", "Started the run")


def test_a_study_from_before_the_log_has_none(database_file):
    workspace = open_workspace(database_file)
    workspace.database.write("delete from study_log")
    assert study_log.entries(workspace, "people") == ()
    with pytest.raises(UserError):
        study_log.entries(workspace, "nothing of that name")
    workspace.close()
