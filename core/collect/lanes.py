"""The calls of one endpoint, how fast they may start, and how a run is ended from outside."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from core.collect.client import ChatClient, ChatRequest, Reply

_FEWEST_FAILED_IN_A_ROW = 3
StopReason = Literal["pause", "stop"]


def _always(reply: Reply) -> bool:
    return True


@dataclass(frozen=True)
class Task:
    """One call to make. `attempts_before` counts the tries of earlier runs.

    A reply that does not satisfy `judge` is asked for anew, until `most_replies` have come.
    """

    call_id: int
    request: ChatRequest
    attempts_before: int = 0
    judge: Callable[[Reply], bool] = _always
    most_replies: int = 1


@dataclass(frozen=True)
class Lane:
    """The calls of one endpoint. `per_minute` limits how many start in a minute; None: no limit.

    `announce` is awaited before each try is sent, with the call id, the number of the try and its
    cost at worst (None: unknown). A try whose announcement fails is not sent.
    """

    name: str
    client: ChatClient
    tasks: AsyncIterator[Task]
    at_once: int
    per_minute: int | None
    announce: Callable[[int, int, float | None], Awaitable[None]] | None = None


class Control:
    """Ends a run from outside: calls in flight are awaited, nothing new is sent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason: StopReason | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event: asyncio.Event | None = None

    @property
    def stopping(self) -> StopReason | None:
        """What was requested, or None."""
        return self._reason

    def request_stop(self, reason: StopReason) -> None:
        """Ask the run to end. Safe from any thread; a stop outranks a pause."""
        with self._lock:
            if self._reason != "stop":
                self._reason = reason
            loop, event = self._loop, self._event
        if loop is not None and event is not None:
            with suppress(RuntimeError):  # the loop is closed: the run is over
                loop.call_soon_threadsafe(event.set)

    async def sleep(self, seconds: float) -> None:
        """Wait that long, or until a stop is requested."""
        event = self._attached()
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()

    def _attached(self) -> asyncio.Event:
        """The event of the running loop, set when a stop was requested before."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._event is None or self._loop is not loop:
                self._loop, self._event = loop, asyncio.Event()
                if self._reason is not None:
                    self._event.set()
            return self._event


class LaneState:
    """What the workers of one lane share."""

    def __init__(self, lane: Lane, control: Control) -> None:
        self.name = lane.name
        self.client = lane.client
        self.announce = lane.announce
        self.failed_in_a_row = 0
        self.has_replied = False
        self.probing = asyncio.Lock()
        """Held by the one call under way until the lane has replied for the first time."""
        self._at_once = lane.at_once
        self._tasks = lane.tasks
        self._exhausted = False
        self._pulling = asyncio.Lock()  # an async generator cannot be asked twice at a time
        self._control = control
        self._interval_s = 60.0 / lane.per_minute if lane.per_minute else 0.0
        self._next_start = 0.0
        self._closed_until = 0.0

    @property
    def bearable(self) -> int:
        """How many calls in a row may be given up."""
        return max(_FEWEST_FAILED_IN_A_ROW, self._at_once if self.has_replied else 0)

    async def next_task(self) -> Task | None:
        """The lane's next task; None when there is none or the run is ending."""
        async with self._pulling:
            if self._exhausted or self._control.stopping:
                return None
            try:
                return await anext(self._tasks)
            except StopAsyncIteration:
                self._exhausted = True
                return None

    def close_for(self, seconds: float) -> None:
        """Let no call of the lane start for that long."""
        self._closed_until = max(self._closed_until, _now() + seconds)

    async def turn(self) -> None:
        """Wait until a call may start, or until the run is ending."""
        while not self._control.stopping:
            if _now() < self._closed_until:
                await self._control.sleep(self._closed_until - _now())
                continue
            start = max(_now(), self._next_start)
            self._next_start = start + self._interval_s
            await self._control.sleep(start - _now())
            if _now() >= self._closed_until:
                return


def _now() -> float:
    return asyncio.get_running_loop().time()
