"""Analyses in worker processes: what ends them, what they may take, and who waits for whom."""

from __future__ import annotations

import functools
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pytest

from core import progress
from core.analysis.kit.registry import all_analyses
from core.errors import NotEnoughData, TooLarge, WorkerError
from core.workflow import background
from core.workflow.workers import handover, launching, process, running
from tests.analysis.score_frames import item_scores
from tests.stats.simulated_answers import simulated

ROOT = Path(__file__).parents[3]
ANALYSES = {analysis.name: analysis for analysis in all_analyses()}
SMALL = item_scores(simulated(1, n=200, p=4, options=4).answers)
LARGE = item_scores(simulated(1, n=4000, p=40, options=5).answers)  # takes the model half a minute
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture(scope="module")
def forks():
    found = launching.use_workers()
    found.warm_up()
    yield found
    launching.stop_using_workers()


def task(name, frame, **options):
    return running.hand_over(ANALYSES[name], frame, options)


def begun(key, name, frame):
    """A computation of its own, as pages begin it."""
    return background.begin(key, name, task(name, frame).run, waits_for_others=True)


def children(process):
    """The processes that one has begun and that have not ended."""
    return {
        int(number)
        for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    }


def open_files(process):
    """What a process has open, by name; a file that it closes meanwhile is left out."""
    names = set()
    for one in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            names.add(os.readlink(one))
    return names


def sockets(process):
    return {name for name in open_files(process) if name.startswith("socket:")}


def until(condition, seconds=10):
    """What `condition` gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def lives(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def heavy_ones(forks, number):
    """So many computations that take long, under way."""
    until(lambda: not children(forks.process.pid))
    found = [
        begun(f"heavy {n} {time.monotonic()}", "graded_response", LARGE) for n in range(number)
    ]
    until(lambda: len(children(forks.process.pid)) == number)
    try:
        yield found
    finally:
        for one in found:
            one.cancel()
        until(lambda: not children(forks.process.pid))


def test_a_result_is_that_of_this_process_to_the_last_digit(forks):
    theirs = task("graded_response", SMALL).run()
    ours = ANALYSES["graded_response"].run(SMALL)
    assert [table.name for table in theirs.tables] == [table.name for table in ours.tables]
    for one, other in zip(theirs.tables, ours.tables, strict=True):
        pd.testing.assert_frame_equal(one.frame, other.frame, check_exact=True)
        assert one.columns == other.columns
    assert (theirs.method, theirs.notes, theirs.n_used) == (ours.method, ours.notes, ours.n_used)


def test_errors_arrive_as_they_were_and_faults_with_their_way_through_the_analysis(forks):
    with pytest.raises(NotEnoughData) as refused:
        ANALYSES["item_statistics"].run(SMALL.iloc[:0])
    with pytest.raises(NotEnoughData) as same:
        task("item_statistics", SMALL.iloc[:0]).run()
    assert (same.value.problem, same.value.remedy) == (refused.value.problem, refused.value.remedy)
    with pytest.raises(KeyError) as fault:
        task("item_statistics", SMALL.drop(columns="score")).run()
    assert "core/analysis/items/item_statistics.py" in fault.value.__notes__[0]


@pytest.mark.parametrize(
    ("sent", "words"),
    [(signal.SIGKILL, "killed from outside"), (signal.SIGSEGV, r"crashed \(SIGSEGV\)")],
)
def test_a_worker_that_is_killed_or_crashes_is_one_message_and_others_go_on(forks, sent, words):
    with heavy_ones(forks, 2) as (first, second):
        (killed, *_) = sorted(children(forks.process.pid))
        os.kill(killed, sent)
        until(lambda: first.ended or second.ended)
        ended, other = (first, second) if first.ended else (second, first)
        with pytest.raises(WorkerError, match=words):
            ended.value()
        assert ended.may_be_repeated
        assert other.state == "running"
        assert task("item_statistics", SMALL).run().n_used == SMALL["score"].notna().sum()


def test_where_the_process_that_forks_is_killed_its_children_end_and_a_new_one_begins(forks):
    with heavy_ones(forks, 1) as (under_way,):
        before = forks.process.pid
        (child,) = children(before)
        os.kill(before, signal.SIGKILL)
        assert under_way.wait(10)
        with pytest.raises(WorkerError, match="the system ended its process"):
            under_way.value()
        until(lambda: not lives(child))
        assert task("item_statistics", SMALL).run().n_used
        assert forks.process.pid != before


class EndFirst(selectors.DefaultSelector):
    """Gives what is ready with the end of a child before its channel, and orders last."""

    def select(self, timeout=None):
        return sorted(super().select(timeout), key=lambda one: (one[0].data is None, one[0].fd))


def test_the_end_of_a_child_and_its_closed_channel_may_be_seen_at_once():
    """Else the process that forks would end, and with it the children of all others."""
    alive, ending = os.pipe()
    channel, server = socket.socketpair()
    assert alive < channel.fileno()
    status_of, status = os.pipe()
    orders, ours = socket.socketpair()
    forks = process._Forks(orders)
    forks._ready = EndFirst()
    forks._ready.register(orders, selectors.EVENT_READ)
    child = process._Child(
        os.posix_spawnp("true", ["true"], os.environ), alive, channel.detach(), status
    )
    os.waitid(os.P_PID, child.number, os.WEXITED | os.WNOWAIT)  # it has ended, and stays to be seen
    forks._children.add(child)
    for one in (child.alive, child.channel):
        forks._ready.register(one, selectors.EVENT_READ, child)
    os.close(ending)
    for one in (server, ours):
        one.close()
    forks.serve()
    assert forks._children == set()
    assert os.read(status_of, 10) == handover.STATUS.pack(0)
    os.close(status_of)
    orders.close()
    forks._ready.close()


def test_cancelling_ends_the_process_at_once(forks):
    with heavy_ones(forks, 1) as (under_way,):
        (child,) = children(forks.process.pid)
        until(lambda: under_way.total)
        assert under_way.unit == "scales"
        under_way.cancel()
        until(lambda: not lives(child), seconds=1)


def test_a_short_analysis_has_its_result_in_a_second_behind_two_heavy_ones(forks):
    with heavy_ones(forks, 2) as heavy:
        begin = time.monotonic()
        short = begun(f"short {begin}", "internal_consistency", SMALL)
        assert short.wait(10)
        assert time.monotonic() - begin < 1
        assert short.state == "done"
        assert [one.state for one in heavy] == ["running", "running"]


def test_what_is_not_done_after_a_try_waits_for_a_place_and_gets_its_result(forks, monkeypatch):
    monkeypatch.setattr(running, "MAX_AT_ONCE", 1)
    monkeypatch.setattr(running, "TRIED_AT_ONCE", 1)
    monkeypatch.setattr(running, "TRY_S", 0.01)
    with heavy_ones(forks, 1) as (heavy,):
        (child,) = children(forks.process.pid)
        tried = begun(f"tried {time.monotonic()}", "graded_response", SMALL)
        until(lambda: tried.state == "running")
        until(lambda: tried.state == "waiting")
        until(lambda: children(forks.process.pid) == {child})
        heavy.cancel()
        assert tried.wait(10)
        assert tried.state == "done"


def test_more_memory_than_allowed_is_a_message_that_names_the_setting(forks, monkeypatch):
    monkeypatch.setenv("INKBLOT_MEMORY", "100 MB")
    with pytest.raises(TooLarge, match="100 MB, by INKBLOT_MEMORY") as refused:
        task("graded_response", LARGE, points=4001).run()  # 4,000 x 4,001 numbers take 128 MB
    assert "Set INKBLOT_MEMORY to more" in refused.value.remedy
    assert task("item_statistics", SMALL).run().n_used


def test_a_full_disk_is_a_message(forks, monkeypatch):
    full = functools.partial(Path.open, Path("/dev/full"), "r+b", buffering=0)
    monkeypatch.setattr(launching.tempfile, "TemporaryFile", full)
    with pytest.raises(WorkerError, match="cannot be written"):
        task("item_statistics", SMALL)


def test_a_worker_has_neither_the_database_nor_what_asks_services(forks, tmp_path):
    with (tmp_path / "own.duckdb").open("wb"), heavy_ones(forks, 1):
        (child,) = children(forks.process.pid)
        maps = Path(f"/proc/{child}/maps").read_text()
        assert "pandas" in maps
        assert "duckdb" not in maps
        until(lambda: len(sockets(child)) == 1)  # its channel: it has closed what the fork left
        assert not [name for name in open_files(child) if "own.duckdb" in name]


def test_the_server_and_what_else_runs_go_first(forks):
    with heavy_ones(forks, 1):
        (child,) = children(forks.process.pid)
        until(lambda: os.getpriority(os.PRIO_PROCESS, child) == 10)
        among_sessions = Path(f"/proc/{child}/autogroup")
        if among_sessions.exists():
            assert among_sessions.read_text().split()[1:] == ["nice", "10"]
            assert os.getsid(child) == forks.process.pid != os.getsid(0)


def test_all_processes_end_with_the_server_even_when_it_is_killed(tmp_path):
    program = (
        "from tests.workflow.workers import test_workers as own\n"
        "forks = own.launching.use_workers()\n"
        "own.begun('one', 'graded_response', own.LARGE)\n"
        "child, = own.until(lambda: forks.process and own.children(forks.process.pid))\n"
        "print(forks.process.pid, child, flush=True)\n"
        "own.time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as server:
        both = [int(number) for number in server.stdout.readline().split()]
        assert [lives(one) for one in both] == [True, True]
        server.kill()
    until(lambda: not any(map(lives, both)), seconds=5)


def test_where_the_system_cannot_fork_a_process_of_its_own_computes_each(forks):
    spares = launching.Spares()
    try:
        one = running.ComputedByWorker(spares, ANALYSES["item_statistics"], SMALL, {})
        written = Path(one._task.file.name)
        assert one.run().n_used == SMALL["score"].notna().sum()
        assert not written.exists()
    finally:
        spares.close()


def test_a_worker_says_how_far_it_is(forks):
    seen = []
    with progress.watch(lambda *step: seen.append(step)):
        task("graded_response", SMALL).run()
    assert seen == [(0, 1, "scales")]
