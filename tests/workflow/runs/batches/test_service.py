"""The batch service of an endpoint is driven over HTTP, and a driver that is killed goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from core.errors import CollectionError
from core.store import batches as store
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.runs.batches import requests, service, states
from core.workflow.runs.batches.service import Drive
from tests.batch_server import KEY, BatchServer, first_time
from tests.workflow.studies import KEY_VARIABLE, finished, freeze
from tests.workflow.studies import service as respondent

ROOT = Path(__file__).parents[4]
QUICK = Drive(poll_s=0.02, limits=requests.Limits(requests=15))
CAME_TO = (
    "select i.code, a.context, r.status, r.option, x.reply, m.finish_reason, m.model, m.tokens_in,"
    " m.tokens_out, p.messages"
    " from response r join trial t using (trial_id) join administration a using (administration_id)"
    " join item i using (item_id) join attempt m using (attempt_id)"
    " join attempt_text x using (attempt_id) join prompt p using (prompt_id) order by 1, 2"
)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def batch_server():
    with BatchServer() as server:
        yield server


def drive(workspace, how=QUICK, **settings):
    return service.drive(workspace, "study", "Service", how, **settings)


def statuses(workspace):
    return [row.batch.status for row in states.batch_rows(workspace, "study")]


def test_a_driven_study_comes_to_what_a_run_by_calls_comes_to(
    workspace, batch_server, server, tmp_path, new_database
):
    freeze(workspace, respondent(batch_server.base_url, price_in=1.0, price_out=1.0), n_personas=2)
    assert drive(workspace, Drive(0.5, 0.02, requests.Limits(15))) == "All calls have a reply."
    assert batch_server.done["create"] == 3
    assert batch_server.asked.total() == 40
    assert statuses(workspace) == ["done"] * 3
    assert not list(requests.folder(workspace).iterdir())
    by_calls = other(tmp_path, new_database)
    freeze(by_calls, respondent(server.base_url, price_in=1.0, price_out=1.0), n_personas=2)
    control.start(by_calls, "study")
    cost = finished(by_calls).cost
    assert workspace.database.rows(CAME_TO) == by_calls.database.rows(CAME_TO)
    assert control.progress(workspace, "study").cost == pytest.approx(cost / 2)
    by_calls.close()


def other(tmp_path, new_database):
    path = tmp_path / "other.duckdb"
    shutil.copyfile(new_database, path)
    return open_workspace(path)


def test_errors_expired_and_lost_calls_are_asked_again(workspace):
    with BatchServer(first_time({3: 500, 4: "expire", 5: "lose"})) as server:
        freeze(workspace, respondent(server.base_url), n_personas=2)
        assert drive(workspace) == "All calls have a reply."
        assert set(server.asked.values()) == {1, 2}
    attempts = workspace.database.rows("select outcome, count(*) from attempt group by 1")
    failed = sum(times - 1 for times in server.asked.values())
    assert dict(attempts)["reply"] == 40
    assert 0 < dict(attempts)["server"] < failed + 1


def test_a_service_that_answers_nothing_is_not_asked_for_ever(workspace):
    with BatchServer(lambda *_: 400) as server:
        freeze(workspace, respondent(server.base_url), n_personas=1)
        with pytest.raises(CollectionError, match="brought no reply"):
            drive(workspace)
        assert server.asked.total() == 20


def test_a_wrong_key_is_told_and_the_calls_stay_out(workspace, batch_server, monkeypatch):
    freeze(workspace, respondent(batch_server.base_url), n_personas=1)
    monkeypatch.setenv(KEY_VARIABLE, "sk-another-0123456789")
    with pytest.raises(CollectionError, match="refused the key"):
        drive(workspace)
    assert statuses(workspace)[0] == "waiting"
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    assert drive(workspace) == "All calls have a reply."
    assert batch_server.asked.total() == 20


def test_a_batch_that_was_created_but_not_written_down_is_found(workspace, batch_server):
    def lose_the_answer(server):
        del server.hooks["create"]
        from aiohttp import web

        return web.Response(status=502, text="bad gateway")

    batch_server.hooks["create"] = lose_the_answer
    freeze(workspace, respondent(batch_server.base_url), n_personas=1)
    assert drive(workspace, Drive(poll_s=0.02)) == "All calls have a reply."
    assert batch_server.done["create"] == 1
    assert batch_server.asked.total() == 20


def test_a_changed_or_deleted_file_is_not_sent(workspace, batch_server):
    freeze(workspace, respondent(batch_server.base_url), n_personas=1)
    folder = requests.folder(workspace)
    (batch,) = requests.export(workspace, "study", folder, status="waiting")
    (folder / batch.file).write_text((folder / batch.file).read_text().replace("test-model", "m"))
    assert drive(workspace, Drive(poll_s=0.02)) == "All calls have a reply."
    rows = states.batch_rows(workspace, "study")
    assert [row.batch.status for row in rows] == ["released", "done"]
    assert "its file was changed" in rows[0].state


def test_a_cancelled_batch_brings_what_was_made_and_gives_the_rest_back(workspace):
    with BatchServer(work_s=60) as server:
        freeze(workspace, respondent(server.base_url), n_personas=1)
        started = service.start_driving(workspace, "study", "Service", Drive(poll_s=0.02))
        assert started
        assert not service.start_driving(workspace, "study", "Service", Drive())
        wait_for(lambda: statuses(workspace) == ["created"])
        service.stop_driving(workspace, "study", "Service")
        wait_for(lambda: state(workspace).state == "ended")
        assert state(workspace).words.startswith("Stopped on request.")
        for batch in server.batches.values():
            batch["ends"] = 0
        words = drive(workspace, Drive(poll_s=0.02, cancel=True))
        assert words == "10 questions have no reply yet."
        assert server.done["create"] == 1
    assert statuses(workspace) == ["done"]
    assert states.out_words(workspace, "study") == ""
    assert len(requests.export(workspace, "study", requests.folder(workspace))) == 1


def state(workspace):
    ((study, person),) = {(b.study_id, b.respondent_id) for b in store.batches(workspace.database)}
    return service.drive_state(workspace, study, person)


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(300)
def test_a_driver_killed_again_and_again_comes_to_the_data_set_of_a_run_by_calls(
    tmp_path, new_database, server
):
    path = tmp_path / "driven.duckdb"
    shutil.copyfile(new_database, path)
    with serving("--work", "0.2", "--faults") as started:
        workspace = open_workspace(path)
        freeze(workspace, respondent(started["base_url"]), n_personas=25)
        workspace.close()
        kills = 0
        for seconds in (0.3, 0.9, 0.1, 0.6):
            kills += killed(path, seconds)
        assert kills >= 2
        ended = command(path)
        out, err = ended.communicate(timeout=120)
        assert (ended.returncode, out) == (0, "All calls have a reply.\n"), err
        with urllib.request.urlopen(started["base_url"].removesuffix("v1") + "received") as answer:
            counted = json.load(answer)
    workspace = open_workspace(path)
    driven = workspace.database.rows(CAME_TO)
    rows = states.batch_rows(workspace, "study")
    asked = workspace.database.row("select count(*) from attempt")[0]
    workspace.close()
    assert {row.batch.status for row in rows} == {"done"}
    assert counted["done"]["create"] == len(rows)  # none was made twice
    assert asked <= counted["asked"]  # a line may be lost, and none is invented

    by_calls = other(tmp_path, new_database)
    freeze(by_calls, respondent(server.base_url), n_personas=25)
    control.start(by_calls, "study")
    finished(by_calls)
    expected = by_calls.database.rows(CAME_TO)
    by_calls.close()
    assert len(driven) == 500
    assert driven == expected


def command(path):
    arguments = ["batch", "drive", "study", "--poll", "0.05", "--max-requests", "100"]
    return subprocess.Popen(
        [sys.executable, "-m", "core", "--db", str(path), *arguments],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def killed(path, seconds):
    """Drive, and kill the driver so many seconds after its first word; whether it was met."""
    process = command(path)
    process.stderr.readline()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    return process.returncode == -signal.SIGKILL


class serving:
    """The batch server in a process of its own."""

    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.batch_server", *self.options],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        return json.loads(self.process.stdout.readline())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
