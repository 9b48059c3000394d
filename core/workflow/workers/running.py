"""Running an analysis in a worker: its place among others, its progress, its end.

Short analyses do not wait for long ones. At most `MAX_AT_ONCE` run as long as they need. While
these places are taken, others are tried for `TRY_S` seconds each; what is not done by then is ended
and starts again when a place is free.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Literal

from core import progress, settings
from core.analysis.kit.registry import Analysis
from core.domain.results import AnalysisResult
from core.errors import TooLarge, WorkerError
from core.stats import reuse
from core.workflow import background
from core.workflow.workers import handover, launching
from core.workflow.workers.handover import AnalysisTask, TaskOutcome, TaskProgress
from core.workflow.workers.launching import Worker, Workers, WrittenTask

MAX_AT_ONCE = 2  # more would only slow each other down
TRIED_AT_ONCE = 2
TRY_S = 5.0
_READ_AT_ONCE = 2  # frames are held in the server while they are read
_POLL_S = 0.1
_KILLED = -9
_COMPUTE_AGAIN = "Compute it again."


class ComputedHere:
    """An analysis of a process without workers, which computes it itself."""

    def __init__(self, analysis: Analysis, frame: Any, options: Mapping[str, Any]) -> None:
        self._analysis, self._frame, self._options = analysis, frame, options

    def run(self) -> AnalysisResult:
        """The result."""
        return self._analysis.run(self._frame, **self._options)


class ComputedByWorker:
    """An analysis that was handed over: its frame is in a file, no longer in this process."""

    def __init__(
        self, workers: Workers, analysis: Analysis, frame: Any, options: Mapping[str, Any]
    ) -> None:
        self._workers, self._title = workers, analysis.title
        self._known = reuse.values_besides({})
        memory = settings.from_environment().memory_bytes
        task = AnalysisTask(analysis.name, frame, options, memory, self._known)
        self._task = WrittenTask(task, named=workers.named)

    def run(self) -> AnalysisResult:
        """The result; may be asked for once.

        Raises
        ------
        TooLarge
            The analysis needs more memory than INKBLOT_MEMORY.
        WorkerError
            Its process was killed, crashed, or could not be started.
        """
        try:
            with _places.taken() as place:
                outcome = None
                while outcome is None:
                    outcome = self._tried(place)
        finally:
            self._task.close()
        reuse.add(outcome.new)
        if isinstance(outcome.error, MemoryError):
            raise self._too_large() from outcome.error
        if outcome.error is not None:
            raise outcome.error
        result: AnalysisResult = outcome.result
        return result

    def _tried(self, place: _QueuePlace) -> TaskOutcome | None:
        """What comes of it in one process; None where that took too long for the place."""
        worker = self._workers.start(self._task)
        try:
            messages: SimpleQueue[Any] = SimpleQueue()
            reader = threading.Thread(
                target=_read, args=(worker, messages), name="inkblot-worker", daemon=True
            )
            reader.start()
            try:
                return self._followed(worker, messages, place)
            finally:
                worker.kill()
                reader.join()
        finally:
            worker.close()

    def _followed(
        self, worker: Worker, messages: SimpleQueue[Any], place: _QueuePlace
    ) -> TaskOutcome | None:
        _places.begin(place)
        while True:
            try:
                message = messages.get(timeout=_POLL_S)
            except Empty:
                background.stop_if_cancelled()
                message = None
            if isinstance(message, TaskProgress):
                progress.step(message.done, message.total, message.unit)
            elif isinstance(message, TaskOutcome):
                return message
            elif isinstance(message, Exception):
                raise self._fault(worker.exit_code())
            if not _places.may_go_on(place):
                worker.kill()
                _places.wait_for_lasting(place)
                return None

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"{self._title} needs more memory than it may take "
            f"({settings.from_environment().memory_limit}, by INKBLOT_MEMORY).",
            "Set INKBLOT_MEMORY to more (for example 4GB) and restart Inkblot, or choose fewer "
            "answers.",
        )

    def _fault(self, code: int | None) -> WorkerError:
        """What to say of a process that ended without an outcome."""
        if code is None:
            return WorkerError(
                f"{self._title} has no result: the system ended its process, or did not start it.",
                _COMPUTE_AGAIN,
            )
        if code == _KILLED:
            return WorkerError(
                f"{self._title} has no result: its process was killed from outside. The system "
                "does so when memory runs out.",
                f"{_COMPUTE_AGAIN} If it is killed again, close other programs or choose fewer "
                "answers.",
            )
        with suppress(ValueError):
            return WorkerError(
                f"{self._title} has no result: its process crashed ({signal.Signals(-code).name}).",
                f"{_COMPUTE_AGAIN} If it crashes again, set INKBLOT_MEMORY to more, or choose "
                "fewer answers.",
            )
        return WorkerError(
            f"{self._title} has no result: its process ended by itself (exit code {code}; the log "
            "has the details).",
            _COMPUTE_AGAIN,
        )


def _read(worker: Worker, messages: SimpleQueue[Any]) -> None:
    """Pass on what a worker sends, and at last why nothing more comes."""
    try:
        while True:
            messages.put(handover.receive(worker.messages))
    except Exception as error:  # noqa: BLE001  # the thread that waits for messages raises it
        messages.put(error)


# --- Places ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _QueuePlace:
    """What a task holds while it runs: a lasting place, or one to be tried in until some time."""

    kind: Literal["none", "try", "lasting"] = "none"
    until: float = math.inf


class _Places:
    """Which tasks may run."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._held: set[_QueuePlace] = set()
        self._waiting = 0  # for a lasting place, after a try

    @contextmanager
    def taken(self) -> Generator[_QueuePlace, None, None]:
        """A place: a lasting one if one is free for which nobody has waited."""
        place = _QueuePlace()
        try:
            background.wait_until(self._change, lambda: self._enter(place))
            yield place
        finally:
            self._give(place, "none")

    def begin(self, place: _QueuePlace) -> None:
        """The task runs from now on."""
        if place.kind == "try":
            place.until = time.monotonic() + TRY_S

    def may_go_on(self, place: _QueuePlace) -> bool:
        """Whether the task may stay; at the end of a try, only in a lasting place."""
        if place.kind == "lasting" or time.monotonic() < place.until:
            return True
        with self._change:
            return self._enter_lasting(place)

    def wait_for_lasting(self, place: _QueuePlace) -> None:
        """Give up the place for a try, and take the next lasting one."""
        with self._change:
            self._waiting += 1
        self._give(place, "none")
        try:
            background.wait_until(self._change, lambda: self._enter_lasting(place))
        finally:
            with self._change:
                self._waiting -= 1

    def _enter(self, place: _QueuePlace) -> bool:
        if not self._waiting and self._enter_lasting(place):
            return True
        if self._number("try") < TRIED_AT_ONCE:
            self._give(place, "try")
        return place.kind != "none"

    def _enter_lasting(self, place: _QueuePlace) -> bool:
        if self._number("lasting") < MAX_AT_ONCE:
            self._give(place, "lasting")
        return place.kind == "lasting"

    def _number(self, kind: str) -> int:
        return sum(place.kind == kind for place in self._held)

    def _give(self, place: _QueuePlace, kind: Literal["none", "try", "lasting"]) -> None:
        with self._change:
            place.kind = kind
            self._held.discard(place)
            if kind != "none":
                self._held.add(place)
            self._change.notify_all()


_places = _Places()
_reader_ended = threading.Condition()
_readers = threading.Semaphore(_READ_AT_ONCE)


@contextmanager
def reading() -> Generator[None, None, None]:
    """While a thread reads the frame of an analysis, which waits for other readers only."""
    if launching.workers() is None:
        yield
        return
    background.wait_until(_reader_ended, lambda: _readers.acquire(blocking=False))
    try:
        yield
    finally:
        _readers.release()
        with _reader_ended:
            _reader_ended.notify()


def hand_over(
    analysis: Analysis, frame: Any, options: Mapping[str, Any]
) -> ComputedHere | ComputedByWorker:
    """The analysis of a frame, to be run by a worker where this process has some.

    Raises
    ------
    WorkerError
        The frame cannot be written.
    """
    workers = launching.workers()
    if workers is None:
        return ComputedHere(analysis, frame, options)
    return ComputedByWorker(workers, analysis, frame, options)
