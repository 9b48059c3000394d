"""However a run ends, what was sent is what is on file, and the state and the words are true."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.workflow.opening import open_workspace
from core.workflow.runs import collector, control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service

ROOT = Path(__file__).parents[3]
KEY = "sk-test-canary-0123456789"
AT_ONCE = 8
N = int(os.environ.get("INKBLOT_ENDINGS", "6"))
"""How many moments of a run are tried; 100 before a release."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def planned(tmp_path, new_database):
    """A file with a study of 400 calls to a server."""

    def planned(server, n_personas=20):
        path = tmp_path / "x.duckdb"
        workspace = open_workspace(shutil.copyfile(new_database, path))
        freeze(workspace, service(server.base_url, at_once=AT_ONCE), n_personas=n_personas)
        workspace.close()
        return path

    return planned


@contextlib.contextmanager
def running(path, **environment):
    """The command `run` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "core", "--db", str(path), "run", "study"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, KEY_VARIABLE: KEY, **environment},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def when(server, n_requests):
    deadline = time.monotonic() + 60
    while len(server.chats) < n_requests and time.monotonic() < deadline:
        time.sleep(0.002)
    assert len(server.chats) >= n_requests


def on_file(path):
    workspace = open_workspace(path)
    now = control.progress(workspace, "study")
    (attempts,) = workspace.database.row("select count(*) from attempt")
    (replies,) = workspace.database.row("select count(*) from response")
    workspace.close()
    assert (attempts, replies) == (now.n_attempts, now.n_done)
    return now


def assert_counted(now, server):
    """Every call that the service saw is on file.

    Calls that were left may be counted although they had not reached it: nobody can know.
    """
    assert len(server.chats) <= now.n_sent <= len(server.chats) + 8
    assert now.n_sent == now.n_attempts + now.no_answer_kept


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_run_ended_from_the_keyboard_waits_writes_and_says_so(planned, kind):
    randomly = random.Random(30)
    with FaultServer(latency_s=0.02) as server:
        n_calls = 20 * max(20, 2 * N)
        path = planned(server, n_personas=n_calls // 20)
        sent_before = 0
        for _ in range(N):
            with running(path) as process:
                when(server, sent_before + randomly.randrange(1, 40))
                process.send_signal(kind)
                _, said = process.communicate(timeout=60)
            now = on_file(path)
            assert "Traceback" not in said
            assert "closed" not in said
            assert len(server.chats) == now.n_attempts
            assert now.no_answer_kept == 0
            if now.state == "finished":
                assert now.n_done == n_calls
                break
            assert (process.returncode, now.state) == (2, "paused")
            assert "Ended from the keyboard." in said
            assert f"paused: {now.n_done:,} of {n_calls:,} replied" in said
            sent_before = len(server.chats)


def test_a_second_signal_leaves_calls_under_way_and_counts_them(planned):
    def hangs(number, _body):
        return Step(hang=True) if number >= 30 else None

    with FaultServer(script=hangs) as server:
        path = planned(server)
        with running(path) as process:
            when(server, 32)
            process.send_signal(signal.SIGINT)
            while "calls under way are waited for" not in process.stderr.readline():
                pass
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=8)  # and not the ten seconds of the first
        now = on_file(path)
        assert "Traceback" not in said
        assert now.state == "paused"
        assert 20 <= now.n_attempts <= 30
        assert_counted(now, server)
        assert "no answer kept" in said


def test_a_closed_workspace_ends_its_runs(planned, monkeypatch):
    """As the app ends: the database is released after what runs has been ended."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    held = threading.Event()
    with FaultServer(script=lambda number, _: Step(until=held) if number >= 20 else None) as server:
        path = planned(server)
        workspace = open_workspace(path)
        control.start(workspace, "study")
        when(server, 21)
        assert workspace.close() == []
        held.set()
        assert workspace.database.closed
        now = on_file(path)
        assert now.state == "paused"
        assert now.reason == "Inkblot was closed."
        assert 0 < now.n_attempts <= 20  # what had come; nothing was waited for
        assert_counted(now, server)


def test_studies_in_the_queue_are_taken_out_when_the_process_ends(planned, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    held = threading.Event()
    with FaultServer(script=lambda number, _: Step(until=held)) as server:
        path = planned(server)
        workspace = open_workspace(path)
        freeze(workspace, service(server.base_url), study="second")
        for study in ("study", "second"):
            control.start(workspace, study)
        when(server, 1)
        workspace.close()
        held.set()
        workspace = open_workspace(path)
        second = control.progress(workspace, "second")
        assert (second.state, second.n_sent) == ("paused", 0)
        assert "Taken out of the queue. Inkblot was closed." in second.reason
        workspace.close()


def full_disk(process, path):
    """No file that the process writes grows further, as on a disk that is full."""
    import resource

    size = Path(f"{path}.wal").stat().st_size
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def deleted(_process, path):
    path.unlink()


def moved(_process, path):
    path.rename(path.with_name("moved.duckdb"))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are Linux")
@pytest.mark.parametrize("fault", [full_disk, deleted, moved])
def test_a_disk_that_fails_is_told_while_it_fails_and_at_the_end(planned, fault):
    with FaultServer(latency_s=0.02) as server:
        path = planned(server, n_personas=200)
        script = (
            "import signal, sys\nfrom core.__main__ import main\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"sys.exit(main(['--db', {str(path)!r}, 'run', 'study']))"
        )
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", script],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, KEY_VARIABLE: KEY},
        )
        said = []
        reader = threading.Thread(target=lambda: said.extend(process.stderr))
        reader.start()
        when(server, 60)
        fault(process, path)
        words = "disk is full" if fault is full_disk else "while Inkblot had it open"
        deadline = time.monotonic() + 60
        while words not in "".join(said) and time.monotonic() < deadline:
            time.sleep(0.05)
        n_sent = len(server.chats)
        for words_before in ("calls under way are waited for", ""):
            process.send_signal(signal.SIGINT)
            while words_before not in "".join(said):
                time.sleep(0.02)
        process.wait(timeout=60)
        reader.join()
        process.stderr.close()
        everything = "".join(said)
        assert words in everything
        assert "Traceback" not in everything
        assert process.returncode == 2, everything
        assert len(server.chats) == n_sent  # nothing more was asked
        # A call is noted before it is sent, and the end may come in between: all that was asked is
        # on file, and what is on file beyond that are calls that were at once.
        may_be_noted = range(n_sent, n_sent + AT_ONCE + 1)
        if fault is full_disk:
            now = on_file(path)
            assert now.n_sent in may_be_noted
            assert now.state == "interrupted"
        elif fault is moved:
            path.with_name("moved.duckdb").rename(path)
            assert on_file(path).n_sent in may_be_noted
        else:
            assert not path.exists()


def test_a_reply_that_cannot_be_saved_is_taken_once(planned, monkeypatch):
    """A batch that fails in the middle of a run is kept, and written at its end."""
    from core.errors import StoreError

    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setattr(collector, "_BATCH", 5)
    failures = iter([False, True, False])
    real = collector.store.save_attempts

    def failing(*arguments):
        if next(failures, False):
            raise StoreError("The disk is full.", "Free some space.")
        return real(*arguments)

    monkeypatch.setattr(collector.store, "save_attempts", failing)
    with FaultServer() as server:
        path = planned(server)
        workspace = open_workspace(path)
        control.start(workspace, "study")
        now = control.wait(workspace, "study", every_s=0.05)
        assert now.state == "paused"
        assert "disk is full" in now.reason
        assert now.n_attempts == now.n_sent == len(server.chats)
        workspace.close()


def test_the_end_of_a_process_ends_its_runs(planned):
    """As the app ends, whose main thread returns while the collector goes on."""
    with FaultServer(latency_s=0.05) as server:
        path = planned(server)
        script = (
            "import time\nfrom core.workflow.opening import open_workspace\n"
            "from core.workflow.runs import control\n"
            f"workspace = open_workspace({str(path)!r})\ncontrol.start(workspace, 'study')\n"
            "while control.progress(workspace, 'study').n_attempts < 20:\n    time.sleep(0.01)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, KEY_VARIABLE: KEY},
        )
        assert done.stderr == ""
        now = on_file(path)
        assert (now.state, now.reason) == ("paused", "Inkblot was closed.")
        assert now.n_attempts == len(server.chats)
        assert now.no_answer_kept == 0


def test_a_run_that_is_left_while_it_writes_still_writes(planned, monkeypatch):
    """The second Ctrl-C comes while what came is being written."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    writing, go_on = threading.Event(), threading.Event()
    real = collector.store.save_attempts

    def slow(*arguments):
        writing.set()
        go_on.wait(10)
        return real(*arguments)

    monkeypatch.setattr(collector.store, "save_attempts", slow)
    with FaultServer() as server:
        path = planned(server, n_personas=200)
        workspace = open_workspace(path)
        control.start(workspace, "study")
        writing.wait(30)
        threading.Timer(0.5, go_on.set).start()
        assert workspace.close() == []
        monkeypatch.undo()
        now = on_file(path)
        assert now.state == "paused"
        assert now.n_attempts > 0
        assert_counted(now, server)
        workspace.close()
