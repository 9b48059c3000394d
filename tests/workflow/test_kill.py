"""A run that is killed again and again ends with the data set of an uninterrupted one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from core.workflow import answers, collection, phases
from core.workflow.opening import open_workspace
from tests.workflow.studies import KEY_VARIABLE, freeze, service

ROOT = Path(__file__).parents[2]
CALLS = 2000
KILLS = 20


@pytest.fixture
def server():
    """The test service in a process of its own, so that it outlives every kill."""
    yield from served()


@pytest.fixture
def server_of_blocks():
    """The same, but it answers numbered blocks, and not all of them at once."""
    yield from served("--blocks")


def served(*options):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fault_server", "--latency", "0.02", *options],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    started = json.loads(process.stdout.readline())
    yield started
    process.kill()
    process.wait()
    process.stdout.close()


def planned(path, server, *, at_once=16, n_personas=CALLS // 20, **factors):
    workspace = open_workspace(path)
    person = service(server["base_url"], at_once=at_once)
    record = freeze(workspace, person, study="killed", n_personas=n_personas, **factors)
    assert record.n_trials == 20 * n_personas * factors.get("repetitions", 1)
    workspace.close()


def answered(path):
    workspace = open_workspace(path)
    tidy = answers.export_tidy(workspace, "killed", "parquet")
    record = workspace.database.row("select count(*), count(distinct trial_id) from response")
    texts = workspace.database.row(
        "select count(*) from attempt where outcome = 'reply' and attempt_id not in"
        " (select attempt_id from attempt_text)"
    )
    workspace.close()
    return tidy, record, texts


def run(path, server, *, kill_after=None):
    """Run the study in a process of its own, and kill it that long after its first call came in."""
    environment = os.environ | {KEY_VARIABLE: server["key"]}
    before = received(server)
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "--db", str(path), "run", "killed"],
        cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    killed = False
    if kill_after is not None:
        while process.poll() is None and received(server) == before:
            time.sleep(0.01)
        time.sleep(kill_after)
        process.send_signal(signal.SIGKILL)
        killed = True
    errors = process.communicate(timeout=240)[1]
    return process.returncode, killed, errors


def received(server):
    """Chat requests that the service counted itself."""
    with urllib.request.urlopen(server["base_url"].removesuffix("v1") + "received") as answer:
        return json.load(answer)


def columns(parquet):
    import io

    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(parquet))
    operational = ["latency_s", "time"]
    return frame.drop(columns=[c for c in operational if c in frame.columns])


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(600)
def test_a_run_killed_twenty_times_equals_an_uninterrupted_one(tmp_path, server):
    whole, broken = tmp_path / "whole.duckdb", tmp_path / "broken.duckdb"
    planned(whole, server)
    planned(broken, server)
    assert run(whole, server)[0] == 0
    before = received(server)

    chance = random.Random(7)
    kills = 0
    for _ in range(KILLS):
        code, killed, errors = run(broken, server, kill_after=chance.uniform(0, 0.25))
        assert killed, errors
        assert code in (-signal.SIGKILL, 0), errors
        kills += code == -signal.SIGKILL
    assert kills >= KILLS // 2
    code, _, errors = run(broken, server)
    assert code == 0, errors
    workspace = open_workspace(broken)
    now = collection.progress(workspace, "killed")
    workspace.close()
    # A kill may fall between writing what is about to be sent and sending it.
    assert now.n_attempts == CALLS < received(server) - before
    assert received(server) - before <= now.n_sent <= received(server) - before + 16 * kills
    assert f"{now.no_answer_kept} calls were sent, no answer kept" in errors

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (CALLS, CALLS)
    assert without_text == (0,)
    assert columns(found).equals(columns(expected))


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
@pytest.mark.timeout(300)
def test_a_run_in_blocks_killed_again_and_again_comes_to_the_same_answers(
    tmp_path, server_of_blocks
):
    whole, broken = tmp_path / "whole.duckdb", tmp_path / "broken.duckdb"
    factors = {"items_per_call": 5, "ask_again": 2, "item_order": "shuffled"}
    for path in (whole, broken):
        planned(path, server_of_blocks, at_once=2, n_personas=30, **factors)
    assert run(whole, server_of_blocks)[0] == 0
    chance = random.Random(5)
    kills = 0
    for _ in range(5):
        code, _, errors = run(broken, server_of_blocks, kill_after=chance.uniform(0, 0.3))
        assert code in (-signal.SIGKILL, 0), errors
        kills += code == -signal.SIGKILL
    assert kills >= 3
    assert run(broken, server_of_blocks)[0] == 0

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
def test_a_second_phase_killed_again_and_again_equals_an_uninterrupted_one(tmp_path, server):
    whole, broken = tmp_path / "whole.duckdb", tmp_path / "broken.duckdb"
    chance = random.Random(3)
    for path in (whole, broken):
        planned(path, server, at_once=4, n_personas=15, repetitions=2, formats=("likert_5",))
        assert run(path, server)[0] == 0
        workspace = open_workspace(path)
        phases.plan_opposing(workspace, "killed", "opposing")
        workspace.close()
    assert run(whole, server)[0] == 0
    kills = 0
    for _ in range(4):
        code, _, errors = run(broken, server, kill_after=chance.uniform(0, 0.3))
        assert code in (-signal.SIGKILL, 0), errors
        kills += code == -signal.SIGKILL
    assert kills >= 2
    assert run(broken, server)[0] == 0

    expected, counted, _ = answered(whole)
    found, counted_broken, without_text = answered(broken)
    assert counted == counted_broken == (1200, 1200)
    assert without_text == (0,)
    assert columns(found).equals(columns(expected))
