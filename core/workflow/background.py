"""Work in the background: started once, watched from any page, stopped when asked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from core.errors import WorkerError
from core.progress import Cancelled, watch

ComputationState = Literal["waiting", "running", "done", "failed", "cancelled"]
T = TypeVar("T")
MAX_AT_ONCE = 2  # more would only slow each other down
MAX_RESULTS = 60  # results, the least recently wanted go first
_POLL_S = 0.1  # how soon what waits sees that it is given up


@dataclass(eq=False)
class Computation(Generic[T]):
    """A result under way or finished. Pages read it; the thread that computes writes it.

    `name` is that of the analysis, or of what else is computed. One that `finishes_steps` saves as
    it goes: canceled, it ends once the step that it is at is saved.
    """

    name: str
    finishes_steps: bool = False
    state: ComputationState = "waiting"
    done: int = 0
    total: int = 0
    unit: str = ""
    result: T | None = None
    error: Exception | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self._ended.is_set()

    @property
    def may_be_repeated(self) -> bool:
        """Whether it ended without a result that the same inputs may well have."""
        return self.state == "cancelled" or isinstance(self.error, WorkerError)

    @property
    def stopping(self) -> bool:
        """Whether it was canceled and finishes its step."""
        return self._stop.is_set() and not self.ended

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it has ended."""
        return self._ended.wait(seconds)

    def cancel(self) -> None:
        """Give it up at once; what is under way is not kept, unless it `finishes_steps`.

        A worker is killed, other work stops before its next step.
        """
        with _guard:
            if self.ended:
                return
            self._stop.set()
            if not self.finishes_steps:
                self.state = "cancelled"
                self._ended.set()

    def end(
        self,
        state: ComputationState,
        result: T | None = None,
        error: Exception | None = None,
    ) -> None:
        """Take the end of the computation, unless it was given up before."""
        with _guard:
            if not self.ended:
                self.state, self.result, self.error = state, result, error
                self._ended.set()

    def value(self) -> T:
        """The result; raises what kept it from being computed."""
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise RuntimeError(f"the computation is {self.state}")
        return self.result

    def watch(self, done: int, total: int, unit: str) -> None:
        """Take how far it is; stops the analysis where it was given up."""
        self.stop_if_cancelled()
        self.done, self.total, self.unit = done, total, unit

    def stop_if_cancelled(self) -> None:
        """Stop the thread that computes, where it was given up."""
        if self._stop.is_set():
            raise Cancelled

    def now(self, state: ComputationState) -> None:
        """Take whether it runs or waits, unless it has ended."""
        with _guard:
            if not self.ended:
                self.state = state


_guard = threading.Lock()
_slots = threading.Semaphore(MAX_AT_ONCE)
_computations: OrderedDict[str, Computation[Any]] = OrderedDict()
_current: ContextVar[Computation[Any] | None] = ContextVar("computation", default=None)


def begin(
    key: str,
    name: str,
    compute: Callable[[], T],
    *,
    waits_for_others: bool = False,
    finishes_steps: bool = False,
) -> Computation[T]:
    """The computation of that key, begun if it is not yet; `finishes_steps` as in `Computation`.

    One that `waits_for_others` does not count among those at once: each that it waits for does, or
    is counted by the workers that compute it (core/workflow/workers/running.py).
    """
    with _guard:
        computation = _computations.get(key)
        if computation is None:
            computation = _computations[key] = Computation(name, finishes_steps)
            threading.Thread(
                target=_compute,
                args=(computation, compute, nullcontext() if waits_for_others else _slots),
                name="inkblot-analysis",
                daemon=True,
            ).start()
        _computations.move_to_end(key)
        _forget_oldest()
    return computation


def known(key: str) -> Computation[Any] | None:
    """The computation of that key, if it was begun."""
    return _computations.get(key)


def forget_key(key: str) -> None:
    """Let what has that key be computed anew, unless it is under way."""
    with _guard:
        if key in _computations and _computations[key].ended:
            del _computations[key]


def stop_if_cancelled() -> None:
    """Stop the computation of this thread where it was given up; without one, nothing."""
    computation = _current.get()
    if computation is not None:
        computation.stop_if_cancelled()


def wait_until(change: threading.Condition, ready: Callable[[], bool]) -> None:
    """Wait until `ready`, which is asked at every change; stops where this was given up.

    Meanwhile the computation of this thread is said to wait.
    """
    with change:
        if ready():
            return
        computation = _current.get()
        if computation is not None:
            computation.now("waiting")
        while not ready():
            change.wait(_POLL_S)
            stop_if_cancelled()
        if computation is not None:
            computation.now("running")


def _compute(
    computation: Computation[T], compute: Callable[[], T], slot: AbstractContextManager[Any]
) -> None:
    """Compute in a slot and keep the result, or what kept it from being computed."""
    with slot:
        if computation.ended:  # given up while it waited
            return
        computation.now("running")
        _current.set(computation)
        try:
            with watch(computation.watch):
                result = compute()
            computation.end("done", result)
        except Cancelled:
            computation.end("cancelled")
        except Exception as error:  # noqa: BLE001  # raised again where the result is asked for
            computation.end("failed", error=error)


def _forget_oldest() -> None:
    """Drop the results that were not wanted for longest; what is under way stays."""
    for key in [key for key, one in _computations.items() if one.ended][
        : max(len(_computations) - MAX_RESULTS, 0)
    ]:
        del _computations[key]
