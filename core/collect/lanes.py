"""The calls of one endpoint: how fast they may start, and how a run is ended from outside."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol

from core.collect.budget import longest_reply
from core.collect.client import CallFailure, ChatClient, ChatRequest, FailureKind, Reply
from core.collect.limits import Pace, Start

_FEWEST_FAILED_IN_A_ROW = 3
_LONGEST_WAIT_S = 1.0  # before a call that waits for its turn looks at the limits again
_AHEAD_S = 0.04  # before its turn a call is announced, so that none waits for that to be written
StopReason = Literal["pause", "stop"]


def _always(reply: Reply) -> bool:
    return True


def _nothing(reply: Reply) -> None:
    return None


@dataclass(frozen=True)
class Task:
    """One call to make. `attempts_before` counts the tries of earlier runs.

    A reply that does not satisfy `judge` is asked for anew, until `most_replies` have come.
    `following` gives the next call of a chain from the last reply to this one; None ends the chain.
    A call that is given up ends its chain too. `respondent` is whom the call asks: where that one
    is paused, its calls wait for another run.
    """

    call_id: int
    request: ChatRequest
    attempts_before: int = 0
    judge: Callable[[Reply], bool] = _always
    most_replies: int = 1
    following: Callable[[Reply], Task | None] = _nothing
    respondent: str = ""


class Announcer(Protocol):
    """Keeps what is about to be sent, so that no try is lost without a trace."""

    async def announce(self, call_id: int, number: int, cost: float | None) -> None:
        """Return when a try is on file, with its cost at worst (None: unknown).

        A try whose announcement fails is not sent.
        """

    async def withdraw(self, call_id: int, number: int) -> None:
        """Take a try back that was announced and will not be sent."""


@dataclass(frozen=True)
class EndpointCalls:
    """The calls of one endpoint. None: no limit.

    `at_once` is the largest number of calls in flight, `per_minute` of calls started in a minute,
    `tokens_per_minute` of tokens of prompts and replies. A run starts slower and adapts: see Pace.
    Each try is announced before it is sent; simulated ones (None) are not. `respondents` are all
    that the calls ask.
    """

    name: str
    client: ChatClient
    tasks: AsyncIterator[Task]
    at_once: int
    per_minute: int | None
    announcer: Announcer | None = None
    tokens_per_minute: int | None = None
    respondents: tuple[str, ...] = ("",)


class Control:
    """Ends a run from outside: calls in flight are awaited, nothing new is sent.

    `paused` holds the reason of each respondent that is asked nothing further in this run;
    `waiting` holds, by endpoint, until when no call starts and why. Others may read both.
    """

    def __init__(self) -> None:
        self.paused: dict[str, str] = {}
        self.waiting: dict[str, tuple[datetime, str]] = {}
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

    def pause_respondents(self, respondents: Iterable[str], reason: str) -> None:
        """Ask these nothing further; the first reason of each is the one that is told."""
        for respondent in respondents:
            self.paused.setdefault(respondent, reason)

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


@dataclass(frozen=True)
class Size:
    """Of a call: the tokens to set aside for it, and the bytes of its prompt; 0 without a limit."""

    tokens: float
    prompt: int


class EndpointState:
    """What the workers of one lane share."""

    def __init__(self, lane: EndpointCalls, control: Control) -> None:
        self.name = lane.name
        self.client = lane.client
        self.announcer = lane.announcer
        self.respondents = lane.respondents
        self.workers = 0
        self.has_replied = False
        self.probing = asyncio.Lock()
        """Held by the one call under way until the lane has replied for the first time."""
        self._failed_in_a_row: Counter[str] = Counter()
        self._replied: set[str] = set()
        self._at_once = lane.at_once
        self._tasks = lane.tasks
        self._begun: deque[Task] = deque()
        """The next call of each chain whose last one has its reply; at most one a worker."""
        self._exhausted = False
        self._pulling = asyncio.Lock()  # an async generator cannot be asked twice at a time
        self._control = control
        self._pace = Pace(lane.at_once, lane.per_minute, lane.tokens_per_minute)
        self._entering = asyncio.Lock()  # calls come near, and start, in the order they came in
        self._starting = asyncio.Lock()
        self._near = 0  # calls that are announced, or being announced, and have no place yet
        self._ahead = 0
        """How many of them may be more than there are places: so few that each has one soon.

        A kill leaves them on file though they were not sent.
        """
        self._changed = asyncio.Event()
        self._closed_until = 0.0

    def note_reply(self, respondent: str) -> None:
        """The respondent has replied: its count of failures begins anew."""
        self.has_replied = True
        self._replied.add(respondent)
        self._failed_in_a_row.pop(respondent, None)

    def note_given_up(self, respondent: str) -> int | None:
        """Count a call without a reply; how many in a row it is, where those are too many."""
        self._failed_in_a_row[respondent] += 1
        n_failed = self._failed_in_a_row[respondent]
        bearable = self._at_once if respondent in self._replied else 0
        return n_failed if n_failed >= max(_FEWEST_FAILED_IN_A_ROW, bearable) else None

    def is_over(self, task: Task) -> bool:
        """Whether the run is ending, or the task's respondent is paused."""
        return self._control.stopping is not None or task.respondent in self._control.paused

    async def next_task(self) -> Task | None:
        """The lane's next task; None when there is none or the run is ending.

        Chains under way come before what was not begun, so that few are under way at a time.
        """
        async with self._pulling:
            while not self._control.stopping:
                if self._begun:
                    task = self._begun.popleft()
                elif self._exhausted:
                    return None
                else:
                    try:
                        task = await anext(self._tasks)
                    except StopAsyncIteration:
                        self._exhausted = True
                        return None
                if not self.is_over(task):
                    return task
            return None

    def put_next(self, task: Task) -> None:
        """Make this the next task that a worker takes: one that follows on what it has asked."""
        self._begun.append(task)

    @property
    def has_begun(self) -> bool:
        """Whether a chain that is begun waits for a worker, who may be the last one."""
        return bool(self._begun)

    def close_for(self, seconds: float, reason: str) -> None:
        """Let no call of the lane start for that long."""
        until = _now() + seconds
        if until > self._closed_until:
            self._closed_until = until
            self._control.waiting[self.name] = (
                datetime.now(UTC) + timedelta(seconds=seconds),
                reason,
            )

    @property
    def wanted_workers(self) -> int:
        """As many as calls may be in flight, and those that are announced before their turn."""
        return max(1, self._at_once) + self._ahead

    async def near(self, request: ChatRequest) -> Size | None:
        """Wait until a call will have its turn in a moment; None where the run is ending.

        It counts against the limits from then on. `turn` or `give_up` must follow.
        """
        async with self._entering:
            while not self._control.stopping:
                size = self._size(request)
                wait = max(self._closed_until - _now(), self._pace.wait_s(size.tokens, _now()))
                if wait > 0:
                    await self._control.sleep(min(wait, _LONGEST_WAIT_S))
                elif not self._pace.has_room(self._near - self._ahead):
                    await self._change()
                else:
                    self._near += 1
                    self._pace.spend(size.tokens, _now())
                    return size
        return None

    async def turn(self, size: Size) -> Start | None:
        """Wait until a call that is near has a place; `end` gives it back.

        None where the run is ending, or where the service wants no calls for long.
        """
        async with self._starting:
            while not self._control.stopping:
                wait = self._closed_until - _now()
                if wait > _LONGEST_WAIT_S:
                    break
                if wait > 0:
                    await self._control.sleep(wait)
                elif not self._pace.has_room(0):
                    await self._change()
                else:
                    self._near -= 1
                    return self._pace.start(size.tokens, size.prompt)
        return None

    def give_up(self, size: Size) -> None:
        """A call that was near will not be sent."""
        self._near -= 1
        self._pace.restore(size.tokens, _now())
        self._changed.set()

    async def _change(self) -> None:
        """Wait until a call has ended or has been given up; one is in flight or near."""
        self._changed.clear()
        await self._changed.wait()

    def _size(self, request: ChatRequest) -> Size:
        if not self._pace.counts_tokens:
            return Size(0.0, 0)
        prompt = sum(len(m["content"].encode("utf-8", "replace")) for m in request.messages)
        return Size(self._pace.set_aside(prompt, longest_reply(request.sampling)), prompt)

    def end(self, start: Start, outcome: Reply | CallFailure | None = None) -> None:
        """The call is no longer in flight; its outcome shows how many more the service takes."""
        self._pace.release(start)
        self._changed.set()
        if outcome is None:
            return
        if isinstance(outcome, Reply):
            self._pace.note_reply(start, outcome.tokens_in, outcome.tokens_out, _now())
            if self.announcer is not None:
                self._ahead = self._pace.expected(_AHEAD_S, _now())
        elif outcome.kind is FailureKind.RATE_LIMIT:
            self._pace.note_refusal(start, _now())
        else:
            self._pace.note_failure(start, _now())
        if outcome.limits is not None:
            self._pace.note_limits(start, outcome.limits, _now())


def _now() -> float:
    return asyncio.get_running_loop().time()
