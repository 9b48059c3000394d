"""A kill at any moment of anything that writes: nothing is lost, doubled or half there.

INKBLOT_TEST_KILLS says how many kills each verb gets.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys

import pytest

from core.errors import FileError
from core.store import tables
from core.workflow.answers import rereading
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.workflow.killed_verbs import ROWS, STUDIES, orders
from tests.workflow.studies import freeze, service, simulated
from tests.workflow.test_kill import received, served

KILLS = int(os.environ.get("INKBLOT_TEST_KILLS", "4"))
AT_ONCE = 16

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX"),
    pytest.mark.timeout(60 + 30 * KILLS),
]


@pytest.fixture(scope="module")
def order():
    """Has a verb done in a process of its own."""
    with orders() as order:
        yield order


@pytest.fixture
def server():
    """The test service in a process of its own, so that it outlives every kill."""
    yield from served()


def killed(order, verb, prepared, tmp_path):
    """Files after kills at random moments, each made from the prepared one."""
    whole = tmp_path / "whole.duckdb"
    if prepared is not None:
        shutil.copyfile(prepared, whole)
    seconds = order(verb, whole)["seconds"]
    chance = random.Random(verb)
    kills = 0
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "x.duckdb"
        if prepared is not None:
            shutil.copyfile(prepared, path)
        ended = order(verb, path, chance.uniform(0, seconds))
        if ended["status"] == -signal.SIGKILL:
            kills += 1
        else:  # it took less time than the first
            seconds = min(seconds, ended["seconds"])
        yield path
    assert kills >= KILLS // 2
    record(verb, kills)


def record(verb, kills, **figures):
    """For those who want to know how many kills there were (pytest -s)."""
    sys.stdout.write(json.dumps({"verb": verb, "kills": kills} | figures) + "\n")


def holdings(workspace):
    return (
        [bank.code for bank in editing.summaries(workspace)],
        [person.label for person in catalog.list_respondents(workspace)],
        list(sets.load_all(workspace)),
    )


def test_a_killed_first_start_is_made_whole_by_the_next(order, tmp_path, workspace):
    whole = holdings(workspace)
    for path in killed(order, "first_start", None, tmp_path):
        again = open_workspace(path)
        assert holdings(again) == whole
        drafts = again.database.rows("select code, count(*) from draft group by code")
        assert sorted(drafts) == sorted((code, 1) for code in whole[0])
        again.close()


def test_a_killed_import_keeps_all_or_nothing(order, tmp_path, new_database):
    for path in killed(order, "import_answers", new_database, tmp_path):
        again = open_workspace(path)
        kept = [(study.code, study.n_responses) for study in studies.list_studies(again)]
        assert kept in ([], [(code, ROWS) for code in STUDIES])
        counts = "select (select count(*) from trial), (select count(*) from attempt_text)"
        n_kept = 2 * ROWS if kept else 0
        assert again.database.row(counts) == (n_kept, n_kept)
        made = "select count(*) from instrument where code = 'a'"
        assert again.database.row(made) == (1 if kept else 0,)
        again.close()


def test_a_killed_freeze_keeps_all_or_nothing(order, tmp_path, new_database):
    for path in killed(order, "freeze_study", new_database, tmp_path):
        again = open_workspace(path)
        found = [study.n_trials for study in studies.list_studies(again)]
        assert found in ([], [10_000])
        assert len(editing.versions(again, "attitudes_20")) == len(found)
        assert again.database.row("select count(*) from trial") == (sum(found),)
        if not found:
            assert freeze(again, simulated(), n_personas=1).n_trials == 20
        again.close()


@pytest.fixture(scope="module")
def asked(tmp_path_factory, new_database):
    """A study whose replies an earlier version of the rules could not read."""
    path = tmp_path_factory.mktemp("asked") / "asked.duckdb"
    shutil.copyfile(new_database, path)
    workspace = open_workspace(path)
    freeze(workspace, simulated(), n_personas=50)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    with workspace.database.transaction() as cursor:
        cursor.execute("update response set status = 'ambiguous', option = null, parser = 1")
    workspace.close()
    return path


def test_a_killed_reading_changes_all_or_nothing(order, tmp_path, asked):
    for path in killed(order, "reread", asked, tmp_path):
        again = open_workspace(path)
        states = "select count(*) filter (where option is null), count(*) from response"
        old, n = again.database.row(states)
        kept = again.database.row("select count(*) from recoding")[0]
        assert (n, old + kept) == (1000, 1000)
        assert old in (0, 1000)
        rereading.apply_rereading(again, rereading.preview_rereading(again, "study"))
        assert again.database.row(states) == (0, 1000)
        assert again.database.row("select count(*) from recoding") == (1000,)
        again.close()


def test_a_killed_export_leaves_whole_files_and_the_next_one_completes_it(order, tmp_path, asked):
    contents = None
    for path in killed(order, "export", asked, tmp_path):
        contents = contents or files(tmp_path / "exported")
        assert "answers.csv" in contents
        assert "SHA256SUMS" in contents
        found = files(path.parent / "exported")
        whole = {name: data for name, data in found.items() if not name.endswith(".part")}
        assert whole.items() <= contents.items()
        order("export", path)
        assert files(path.parent / "exported") == contents


def test_killed_tables_are_recognised_and_the_next_export_makes_them_whole(order, tmp_path, asked):
    for path in killed(order, "export_tables", asked, tmp_path):
        folder = path.parent / "tables"
        if "complete" not in (problem := fault_of_tables(folder)):
            assert re.search("holds no tables|not written to the end", problem)
            order("export_tables", path)
        whole = tables.read_tables(folder)
        assert whole.tables["trial"].n_rows == whole.tables["response"].n_rows == 1000


def fault_of_tables(folder):
    try:
        tables.read_tables(folder)
    except FileError as error:
        return error.problem
    return "complete"


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.exists() else {}


def test_what_a_killed_run_sent_is_recorded_or_counted_as_lost(
    order,
    tmp_path,
    server,
    new_database,
):
    path = tmp_path / "run.duckdb"
    shutil.copyfile(new_database, path)
    workspace = open_workspace(path)
    person = service(server["base_url"], at_once=AT_ONCE, price_in=1.0, price_out=2.0)
    n_trials = freeze(workspace, person, n_personas=15 + 15 * KILLS).n_trials
    workspace.close()
    chance = random.Random(11)
    kills, before = 0, set()
    for _ in range(KILLS):
        ended = order("run", path, chance.uniform(0, 0.7))
        kills += ended["status"] == -signal.SIGKILL
        now, kept = sent(path)
        assert before <= kept
        # under way when it was killed, and announced ahead: at most half as many (Pace.expected)
        most = AT_ONCE + AT_ONCE // 2
        assert received(server) <= now.n_sent <= received(server) + most * kills
        before = kept
    interrupted = sent(path)[0].no_answer_kept
    assert order("run", path)["status"] == 0
    now, kept = sent(path)
    assert (now.n_done, len(kept), now.no_answer_kept) == (n_trials, n_trials, interrupted)
    assert received(server) <= now.n_sent == n_trials + interrupted
    assert kills >= KILLS // 2
    assert interrupted > 0
    figures = {"received": received(server), "recorded": len(kept), "lost": interrupted}
    record("run", kills, **figures)


def sent(path):
    """Progress, and every attempt on file with its reply and what it came to."""
    workspace = open_workspace(path)
    now = control.progress(workspace, "study")
    rows = workspace.database.rows(
        "select m.call_id, m.number, x.reply, r.option from attempt m"
        " join attempt_text x using (attempt_id) join response r using (attempt_id)"
    )
    workspace.close()
    assert len(rows) == now.n_attempts == now.n_done == len({row[0] for row in rows})
    return now, set(rows)
