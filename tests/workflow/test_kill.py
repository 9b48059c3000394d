"""A run that is killed again and again ends with the data set of an uninterrupted one."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from core.workflow.answers import exports
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.workflow.killed_verbs import orders
from tests.workflow.studies import KEY_VARIABLE, freeze, service

ROOT = Path(__file__).parents[2]
CALLS = 1000
KILLS = 10


@pytest.fixture(scope="module")
def order():
    """Has a run done in a process of its own, and killed after its first call is on file."""
    with orders() as order:
        yield order


@pytest.fixture
def server():
    """The test service in a process of its own, so that it outlives every kill."""
    yield from served()


@pytest.fixture
def server_of_blocks():
    """The same, but it answers numbered blocks, and not all of them at once."""
    yield from served("--blocks", "evading")


def served(*options):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fault_server", "--latency", "0.02", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    started = json.loads(process.stdout.readline())
    yield started
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture
def planned(tmp_path, new_database):
    """Freezes one study in two files: for a run that is left alone and one that is killed."""

    def planned(server, *, at_once=16, n_personas=CALLS // 20, **factors):
        whole, broken = tmp_path / "whole.duckdb", tmp_path / "broken.duckdb"
        workspace = open_workspace(shutil.copyfile(new_database, whole))
        person = service(server["base_url"], at_once=at_once)
        record = freeze(workspace, person, n_personas=n_personas, **factors)
        assert record.n_trials == 20 * n_personas * factors.get("repetitions", 1)
        workspace.close()
        return whole, shutil.copyfile(whole, broken)

    return planned


def answered(path):
    workspace = open_workspace(path)
    tidy = exports.export_tidy(workspace, "study", "parquet")
    record = workspace.database.row("select count(*), count(distinct trial_id) from response")
    texts = workspace.database.row(
        "select count(*) from attempt where outcome = 'reply' and attempt_id not in"
        " (select attempt_id from attempt_text)"
    )
    workspace.close()
    return tidy, record, texts


def killed(order, path, kills, moments):
    """How many of these runs a kill met, each at a random moment of the seconds after its start."""
    ends = [order("run", path, moments.uniform(0, 0.25))["status"] for _ in range(kills)]
    return ends.count(-signal.SIGKILL)


def received(server):
    """Chat requests that the service counted itself."""
    with urllib.request.urlopen(server["base_url"].removesuffix("v1") + "received") as answer:
        return json.load(answer)


def columns(parquet):
    import io

    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(parquet))
    operational = ["latency_s", "time", "try"]
    return frame.drop(columns=[c for c in operational if c in frame.columns])


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(600)
def test_a_run_killed_ten_times_equals_an_uninterrupted_one(planned, order, server):
    whole, broken = planned(server)
    assert order("run", whole)["status"] == 0
    before = received(server)

    kills = killed(order, broken, KILLS, random.Random(7))
    assert kills >= KILLS // 2
    last = subprocess.run(
        [sys.executable, "-m", "core", "--db", str(broken), "run", "study"],
        cwd=ROOT,
        env=os.environ | {KEY_VARIABLE: server["key"]},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert last.returncode == 0, last.stderr
    workspace = open_workspace(broken)
    now = control.progress(workspace, "study")
    workspace.close()
    # A kill may fall between writing what is about to be sent and sending it.
    assert now.n_attempts == CALLS < received(server) - before
    assert received(server) - before <= now.n_sent <= received(server) - before + 16 * kills
    assert f"{now.no_answer_kept} calls were sent, no answer kept" in last.stderr

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (CALLS, CALLS)
    assert without_text == (0,)
    assert columns(found).equals(columns(expected))


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(300)
def test_a_run_in_blocks_killed_again_and_again_comes_to_the_same_answers(
    planned, order, server_of_blocks
):
    factors = {"items_per_call": 5, "ask_again": 2, "item_order": "shuffled"}
    whole, broken = planned(server_of_blocks, at_once=2, n_personas=30, **factors)
    assert order("run", whole)["status"] == 0
    assert killed(order, broken, 5, random.Random(5)) >= 3
    assert order("run", broken)["status"] == 0

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (600, 600)
    assert without_text == (0,)
    # Replies a kill swallowed were given, so that others may have been the ones that settled.
    came_to = ["item", "context", "call", "position", "answer", "status", "score"]
    assert columns(found)[came_to].equals(columns(expected)[came_to])
    workspace = open_workspace(broken)
    replies = "select count(*) from attempt where outcome = 'reply' group by call_id"
    assert {count for (count,) in workspace.database.rows(replies)} <= {1, 2, 3}
    workspace.close()


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(300)
def test_a_second_phase_killed_again_and_again_equals_an_uninterrupted_one(planned, order, server):
    factors = {"repetitions": 2, "formats": ("likert_5",)}
    whole, broken = planned(server, at_once=4, n_personas=10, **factors)
    assert order("run", whole)["status"] == 0
    workspace = open_workspace(whole)
    studies.plan_second_phase(workspace, "study", "opposing")
    workspace.close()
    shutil.copyfile(whole, broken)
    assert order("run", whole)["status"] == 0
    assert killed(order, broken, 4, random.Random(3)) >= 2
    assert order("run", broken)["status"] == 0

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (800, 800)
    assert without_text == (0,)
    assert columns(found).equals(columns(expected))


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(300)
def test_a_run_with_history_killed_again_and_again_puts_the_messages_of_an_uninterrupted_one(
    planned, order, server
):
    whole, broken = planned(server, at_once=2, n_personas=6, histories=("own",))
    assert order("run", whole)["status"] == 0
    before = received(server)
    after = 0.6  # seconds; replies are written once a second
    while not parts_on_file(broken):
        assert order("run", broken, after)["status"] == -signal.SIGKILL
        after += 0.3
    assert order("run", broken)["status"] == 0
    assert before == 120 < received(server) - before

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (120, 120)
    assert without_text == (0,)
    assert columns(found).equals(columns(expected))
    messages = put_messages(whole)
    assert put_messages(broken) == messages
    # The service answers by the messages: a reply of another history would have another sequel.
    assert sorted(len(json.loads(put)) for _, put in messages) == [
        2 + 2 * n for n in range(20) for _ in range(6)
    ]


def parts_on_file(path):
    """Administrations that are answered in part."""
    workspace = open_workspace(path)
    rows = workspace.database.rows(
        "select t.administration_id from trial t left join response r using (trial_id)"
        " group by 1 having count(r.trial_id) between 1 and count(*) - 1"
    )
    workspace.close()
    return rows


def put_messages(path):
    """The messages of the attempts that have a reply, in the order of the plan."""
    workspace = open_workspace(path)
    rows = workspace.database.rows(
        "select t.ordinal, p.messages from trial t join attempt m using (call_id)"
        " join prompt p using (prompt_id) where m.outcome = 'reply' order by 1"
    )
    workspace.close()
    return rows
