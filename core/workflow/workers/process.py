"""The processes that compute analyses: `python -m core.workflow.workers.process`.

Where the system can fork, the process loads all analyses once and then forks a child for each task,
which shares what is loaded. Its input is a socket on which the server asks for children. It has one
thread, so that a fork has everything it needs. With `--once` the process does one task itself.

Neither opens the database or the network: `core.analysis` knows neither.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from core.workflow.workers import handover
from core.workflow.workers.handover import AnalysisTask, TaskOutcome, TaskProgress

_REPORT_S = 0.1  # between two reports of progress
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
LOADED_ON_USE = ("scipy.stats", "statsmodels.stats.inter_rater", "statsmodels.stats.proportion")
"""What modules of statistics load when they use it, and a worker at once."""
_FIRST_TO_END = b"500"  # of 1000: for Linux, when memory of the whole system runs out


def main(arguments: list[str]) -> None:
    """Fork children until the server is gone, or do one task."""
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    if "--once" in arguments:
        _do_one()
        return
    with socket.socket(fileno=os.dup(0)) as orders, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        _load()
        _let_other_sessions_go_first()
        _Forks(orders).serve()


def _let_other_sessions_go_first() -> None:
    """Give the session of this process the niceness that counts between sessions.

    Linux shares out the processor among sessions first, so that the niceness of a process counts
    among those of its own session only.
    """
    if sys.platform == "linux" and os.getsid(0) == os.getpid():
        with suppress(OSError):
            handover.SESSION_NICENESS.write_text(str(handover.NICENESS))


def _load() -> None:
    """Load all that analyses need, also what the first use would load."""
    import numpy as np

    import core.analysis  # noqa: F401

    for package in LOADED_ON_USE:
        import_module(package)
    np.linalg.eigvalsh(np.eye(2))
    gc.collect()
    gc.freeze()  # so that children do not copy what they never change


# --- Forking --------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Child:
    """A child with the channel to the server; `alive` is closed by the system when it ends."""

    number: int
    alive: int
    channel: int
    status: int

    @property
    def files(self) -> tuple[int, ...]:
        return self.alive, self.channel, self.status


class _Forks:
    """Forks children as ordered, ends those that the server gives up, and says how they ended."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._ready = selectors.DefaultSelector()
        self._ready.register(orders, selectors.EVENT_READ)
        self._children: set[_Child] = set()

    def serve(self) -> None:
        """Go on until the server closes the socket, or has ended."""
        while True:
            for key, _ in self._ready.select():
                child: _Child | None = key.data
                if child is None:
                    if not self._take_order():
                        return
                elif child not in self._children:  # ended by what was ready before, at once
                    continue
                elif key.fd == child.channel:  # the server never writes there: it has hung up
                    self._ready.unregister(child.channel)
                    os.kill(child.number, signal.SIGKILL)
                else:
                    self._ended(child)

    def _take_order(self) -> bool:
        """Fork a child for the next order; False where the server is gone."""
        word, files, _, _ = socket.recv_fds(self._orders, 1, handover.N_FILES)
        if not word:
            for child in self._children:
                os.kill(child.number, signal.SIGKILL)
            return False
        task, channel, status = files
        alive, ending = os.pipe()
        try:
            number = os.fork()
        except OSError:  # too many processes: the server finds the channel closed
            for one in (*files, alive, ending):
                os.close(one)
            return True
        if not number:
            self._become_child(task, channel, (alive, status))
        os.close(ending)
        os.close(task)
        child = _Child(number, alive, channel, status)
        self._children.add(child)
        for one in (alive, channel):
            self._ready.register(one, selectors.EVENT_READ, child)
        return True

    def _become_child(self, task: int, channel: int, others: tuple[int, ...]) -> None:
        """Do the task in this process, which is the child, and end it."""
        try:
            _end_with_parent()
            self._ready.close()
            self._orders.close()
            for one in (*others, *(file for child in self._children for file in child.files)):
                os.close(one)
            with open(task, "rb") as file, open(channel, "wb") as messages:
                _do(file, messages)
            os._exit(0)
        except BaseException:  # noqa: BLE001  # only the parent may go on
            traceback.print_exc()
            os._exit(1)

    def _ended(self, child: _Child) -> None:
        """Say how a child has ended, and forget it."""
        _, ended = os.waitpid(child.number, 0)
        with suppress(OSError):  # the server may have gone
            os.write(child.status, handover.STATUS.pack(os.waitstatus_to_exitcode(ended)))
        self._ready.unregister(child.alive)
        with suppress(KeyError):
            self._ready.unregister(child.channel)
        for file in child.files:
            os.close(file)
        self._children.discard(child)


def _end_with_parent() -> None:
    """Let Linux kill this process when its parent ends; the parent ends with the server."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_bytes(_FIRST_TO_END)


# --- One task -------------------------------------------------------------------------------------


def _do_one() -> None:
    """Load everything, wait for the path of a task on the input, do it, and end with the input."""
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an analysis prints does not stand between messages
    _load()
    _let_other_sessions_go_first()
    path = sys.stdin.buffer.readline().decode().strip()
    if not path:
        return
    threading.Thread(target=_end_with_input, daemon=True).start()
    with open(path, "rb") as file:
        _do(file, messages)
    messages.flush()
    os._exit(0)  # not waiting for the thread


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _do(file: BinaryIO, messages: BinaryIO) -> None:
    """Do the task in a file and send what comes of it."""
    task: AnalysisTask = handover.read(file)
    if hasattr(os, "nice"):
        os.nice(handover.NICENESS)
    handover.send(messages, _outcome(task, _Reports(messages)))


def _outcome(task: AnalysisTask, reports: _Reports) -> TaskOutcome:
    from core.analysis.kit.registry import all_analyses
    from core.progress import watch
    from core.stats import reuse

    reuse.add(task.known)
    analysis = next(one for one in all_analyses() if one.name == task.analysis)
    lift = _limit_memory(task.memory)
    try:
        with watch(reports.report):
            result = analysis.run(task.frame, **task.options)
    except Exception as error:  # noqa: BLE001  # raised again in the server
        lift()
        return TaskOutcome(error=_portable(error))
    lift()
    return TaskOutcome(result, new=reuse.values_besides(task.known))


class _Reports:
    """Sends progress, but not more often than anybody could read it."""

    def __init__(self, messages: BinaryIO) -> None:
        self._messages = messages
        self._next = 0.0

    def report(self, done: int, total: int, unit: str) -> None:
        """Say how far the task is."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _REPORT_S
            handover.send(self._messages, TaskProgress(done, total, unit))


def _portable(error: Exception) -> Exception:
    """The error as another process can have it, with its way through the analysis as a note."""
    from core.errors import UserError

    if not isinstance(error, UserError):
        error.add_note("In the process of the analysis:\n" + traceback.format_exc())
    error = error.with_traceback(None)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  # some have arguments that cannot travel, or lose them
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            plain.add_note(note)
        return plain
    return error


def _limit_memory(most: int) -> Any:
    """Let this process take so many bytes more than now; returns what lifts the bound.

    RLIMIT_DATA counts what a process may write to, RLIMIT_AS also what is only reserved. Only
    Linux keeps to it.
    """
    if sys.platform != "linux":
        return lambda: None
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[5])
    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = pages * resource.getpagesize() + most
    if before[1] != resource.RLIM_INFINITY:
        limit = min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, before)


if __name__ == "__main__":
    main(sys.argv[1:])
