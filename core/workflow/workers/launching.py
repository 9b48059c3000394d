"""Starting the processes that compute analyses, and how each has ended.

`subprocess` starts them. `multiprocessing` would import the page that happens to be open, which
Streamlit puts in the place of the main module.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from core.errors import WorkerError
from core.workflow.workers import handover
from core.workflow.workers.handover import AnalysisTask

_ROOT = Path(__file__).parents[3]
_COMMAND = (sys.executable, "-m", "core.workflow.workers.process")
_END_S = 0.5  # longer only while it loads


class Worker(Protocol):
    """A process that does one task."""

    @property
    def messages(self) -> BinaryIO:
        """What the process sends (see `handover.receive`)."""

    def kill(self) -> None:
        """End it at once, if it has not ended; `messages` come to their end."""

    def exit_code(self) -> int | None:
        """How it has ended, once `messages` have; None where nobody can say."""

    def close(self) -> None:
        """Take back what belongs to it here."""


class WrittenTask:
    """A task in a temporary file, so that nobody holds its frame while it waits."""

    def __init__(self, task: AnalysisTask, *, named: bool) -> None:
        """Write it; `named` for a process that opens the file by its name.

        Raises
        ------
        WorkerError
            The file cannot be written.
        """
        try:
            self.file: Any = tempfile.TemporaryFile() if not named else _named_file()  # noqa: SIM115
            self._named = named
            try:
                handover.write(self.file, task)
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise WorkerError(
                "The answers could not be handed to the analysis: the folder "
                f"{tempfile.gettempdir()} cannot be written ({error.strerror}).",
                "Free space there, or set TMPDIR to another folder and start Inkblot again.",
            ) from error

    def close(self) -> None:
        """Delete the file."""
        self.file.close()
        if self._named:
            Path(self.file.name).unlink(missing_ok=True)


def _named_file() -> Any:
    return tempfile.NamedTemporaryFile(prefix="inkblot-", delete=False)


class Workers(Protocol):
    """Starts workers."""

    named: bool
    """Whether a worker opens its task by the name of the file."""

    def warm_up(self) -> None:
        """Begin to load what the next worker needs."""

    def start(self, task: WrittenTask) -> Worker:
        """A worker that does this task."""

    def close(self) -> None:
        """End what was started."""


# --- Where the system can fork --------------------------------------------------------------------


class _Fork:
    """A child of the process that forks."""

    def __init__(self, channel: socket.socket, status: int) -> None:
        self.messages: BinaryIO = channel.makefile("rb")
        self._channel, self._status = channel, status

    def kill(self) -> None:
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_RDWR)  # the process that forks sees it, and kills

    def exit_code(self) -> int | None:
        said = os.read(self._status, handover.STATUS.size)
        return handover.STATUS.unpack(said)[0] if len(said) == handover.STATUS.size else None

    def close(self) -> None:
        self.messages.close()
        self._channel.close()
        os.close(self._status)


class Forks:
    """Asks a process that has loaded all analyses for children; starts it when there is none."""

    named = False

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The process that forks, if it was started."""
        return self._process

    def warm_up(self) -> None:
        """Let the process load, if it does not run."""
        with self._guard:
            self._running()

    def start(self, task: WrittenTask) -> Worker:
        """A child that does this task."""
        ours, theirs = socket.socketpair()
        status, their_status = os.pipe()
        files = [task.file.fileno(), theirs.fileno(), their_status]
        try:
            with self._guard:
                try:
                    socket.send_fds(self._running(), [b"t"], files)
                except OSError:  # it has ended a moment ago
                    self._end()
                    socket.send_fds(self._running(), [b"t"], files)
        finally:
            theirs.close()
            os.close(their_status)
        return _Fork(ours, status)

    def close(self) -> None:
        """End the process and its children."""
        with self._guard:
            self._end()

    def _running(self) -> socket.socket:
        """The socket on which the process takes orders."""
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._orders is None:
            self._orders, theirs = socket.socketpair()
            with theirs:
                self._process = _started(_COMMAND, stdin=theirs)
        return self._orders

    def _end(self) -> None:
        if self._orders is not None:
            self._orders.close()
        if self._process is not None:
            _wait_for_end(self._process)
        self._orders = self._process = None


# --- Where it cannot ------------------------------------------------------------------------------


class _Spare:
    """A process of its own that was started before there was a task."""

    def __init__(self) -> None:
        self._process = _started(
            (*_COMMAND, "--once"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        if self._process.stdout is None or self._process.stdin is None:
            raise RuntimeError("the process has no input or output")
        self.messages: Any = self._process.stdout
        self._input = self._process.stdin

    def take(self, task: WrittenTask) -> None:
        with suppress(OSError):  # it has ended: `messages` say so
            self._input.write(f"{task.file.name}\n".encode())
            self._input.flush()

    def kill(self) -> None:
        self._process.kill()

    def exit_code(self) -> int | None:
        return self._process.wait()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self.messages.close()
        with suppress(OSError):
            self._input.close()


class Spares:
    """Starts a process for each task; the next one is loading while it has nothing to do."""

    named = True

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._spare: _Spare | None = None

    def warm_up(self) -> None:
        """Let a process load, if none waits for a task."""
        with self._guard:
            self._spare = self._spare or _Spare()

    def start(self, task: WrittenTask) -> Worker:
        """A process that does this task."""
        with self._guard:
            worker, self._spare = self._spare or _Spare(), _Spare()
        worker.take(task)
        return worker

    def close(self) -> None:
        """End the process that waits."""
        with self._guard:
            if self._spare is not None:
                self._spare.close()
            self._spare = None


def _started(command: tuple[str, ...], **pipes: Any) -> subprocess.Popen[bytes]:
    """The process. Ctrl-C in a terminal does not reach it: it ends with the server."""
    own = {
        "OPENBLAS_NUM_THREADS": "1",  # a process that forks has one thread
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "ARROW_DEFAULT_MEMORY_POOL": "system",  # another reserves memory that counts as taken
    }
    group: dict[str, Any] = (
        {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        if os.name != "posix"
        else {"start_new_session": True}
        if os.access(handover.SESSION_NICENESS, os.W_OK)
        else {"process_group": 0}
    )
    try:
        return subprocess.Popen(command, cwd=_ROOT, env={**own, **os.environ}, **pipes, **group)
    except OSError as error:
        raise WorkerError(
            f"The process of an analysis could not be started ({error.strerror}).",
            "Close other programs, or start Inkblot again.",
        ) from error


def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- The server's ---------------------------------------------------------------------------------

_of_this_process: Workers | None = None


def use_workers(workers: Workers | None = None) -> Workers:
    """From now on this process has its analyses computed by workers."""
    global _of_this_process  # one for each process, as the database
    stop_using_workers()
    _of_this_process = workers or (Forks() if hasattr(os, "fork") else Spares())
    return _of_this_process


def stop_using_workers() -> None:
    """Compute analyses in this process again."""
    global _of_this_process
    if _of_this_process is not None:
        _of_this_process.close()
    _of_this_process = None


def workers() -> Workers | None:
    """What starts the workers of this process; None where it computes analyses itself."""
    return _of_this_process


atexit.register(stop_using_workers)
