"""Sends planned calls to models, several at a time, and hands back every attempt."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from random import Random

from core.collect.budget import Budget, Reservation
from core.collect.client import PAUSES, RETRIED, CallFailure, ChatRequest, FailureKind, Reply
from core.collect.lanes import Control, EndpointCalls, EndpointState, Task
from core.collect.limits import Start
from core.errors import CollectionError, UserError

# How long to wait before a call is tried again, and when to give up.


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential waiting with full jitter, never shorter than the service asked for."""

    max_attempts: int = 6
    base_s: float = 1.0
    cap_s: float = 60.0
    retry_after_cap_s: float = 600.0

    def wait_s(self, attempt_number: int, failure: CallFailure, random: Random) -> float | None:
        """Seconds to wait after the `attempt_number`-th try (1, 2, ...); None means give up."""
        if failure.kind not in RETRIED or attempt_number >= self.max_attempts:
            return None
        asked = failure.retry_after_s
        if asked is None:
            return random.uniform(0.0, self._longest(attempt_number))
        if asked > self.retry_after_cap_s:
            return None
        # Calls that were told the same moment would otherwise all come back in it.
        return asked + random.uniform(0.0, min(self.base_s, self.cap_s))

    def _longest(self, attempt_number: int) -> float:
        # Beyond 2 ** 40 the cap has long been reached, and a float would overflow in the end.
        return min(self.cap_s, self.base_s * 2.0 ** min(attempt_number - 1, 40))


# Send planned calls to models, several at a time, and hand back every attempt as it is made.
#
# Runs in one event loop. Knows neither the store nor threads; only Control may be used from others.

logger = logging.getLogger(__name__)

_OF_ENDPOINT = frozenset(
    {FailureKind.KEY, FailureKind.PAYMENT, FailureKind.PROTOCOL, FailureKind.UNREACHABLE}
)
"""Failures that meet every respondent of an endpoint, as they share its address and its key."""


@dataclass(frozen=True)
class Attempt:
    """One try of a call: a reply or a failure, never both.

    `number` counts from 1 over all runs, `cost` is in US dollars. `final` says that the call is
    done with: it has its reply, or it was given up. A try cut short by a pause or stop, and one
    whose failure paused the run, is not final: a continued run asks again. Nor is a reply that
    does not satisfy and is asked for anew.
    """

    call_id: int
    number: int
    request: ChatRequest
    sent_at: datetime
    latency_s: float
    reply: Reply | None
    failure: CallFailure | None
    cost: float | None
    cost_estimated: bool
    final: bool


@dataclass
class _Tries:
    """How often a call was tried in this run, and what came of it."""

    made: int = 0
    replied: int = 0
    failed_since: int = 0  # since the last reply


@dataclass(frozen=True)
class _Sending:
    """A try that may be sent now."""

    number: int  # counts from 1 over all runs
    reservation: Reservation
    start: Start


class Outcome(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    PAUSED = "paused"
    STOPPED = "stopped"


@dataclass(frozen=True)
class RunResult:
    """How a run ended and why. `sent` counts tries, `failed` calls given up without a reply."""

    outcome: Outcome
    reason: str
    sent: int
    failed: int
    unrecorded: tuple[Attempt, ...] = ()


async def run(
    lanes: Sequence[EndpointCalls],
    *,
    record: Callable[[Attempt], Awaitable[None]],
    control: Control,
    policy: RetryPolicy,
    budget: Budget,
    random: Random,
) -> RunResult:
    """Make the calls of all lanes and hand every attempt to `record`, which is awaited.

    At most `at_once` calls of a lane are in flight, so that stopping costs at most those; until
    the lane has replied it is one, and then each reply adds one. A respondent is paused by a
    failure that only a person can mend (with all of its lane, where key, payment or address are at
    fault) and by `at_once` (at least 3; 3 before its first reply) of its calls in a row that were
    given up; the others are asked on. A record that fails and a cap that is reached pause the run.
    """
    async with asyncio.TaskGroup() as workers:
        asked = [respondent for lane in lanes for respondent in lane.respondents]
        state = _Run(record, control, policy, budget, random, workers, asked)
        for lane in lanes:
            state.add_workers(EndpointState(lane, control))
    return await state.result()


class _Run:
    """One run: what its workers share, and what comes of it."""

    def __init__(
        self,
        record: Callable[[Attempt], Awaitable[None]],
        control: Control,
        policy: RetryPolicy,
        budget: Budget,
        random: Random,
        workers: asyncio.TaskGroup,
        asked: Sequence[str],
    ) -> None:
        self._workers = workers
        self._asked = asked
        self._record = record
        self._control = control
        self._policy = policy
        self._budget = budget
        self._random = random
        self._settled = asyncio.Event()
        self._reason = ""
        self._sent = 0
        self._failed = 0
        self._unrecorded: list[Attempt] = []

    def add_workers(self, lane: EndpointState) -> None:
        """Have as many workers ask the lane's calls as it wants now."""
        while lane.workers < lane.wanted_workers:
            lane.workers += 1
            self._workers.create_task(self._work(lane))

    async def _work(self, lane: EndpointState) -> None:
        """Make one call of the lane after the other until none is left or the run is ending.

        Until the lane has replied, its calls go one at a time: a fault that meets every call then
        costs one, not as many as may be in flight.
        """
        while not lane.has_replied:
            async with lane.probing:
                if not lane.has_replied and not await self._ask_next(lane):
                    return
        while lane.has_begun or lane.workers <= lane.wanted_workers:
            if not await self._ask_next(lane):
                return
            self.add_workers(lane)
        lane.workers -= 1

    async def _ask_next(self, lane: EndpointState) -> bool:
        """Make the lane's next call; False where there is none or the run is ending."""
        task = await self._pull(lane)
        if task is not None:
            await self._ask(lane, task)
        return task is not None

    async def result(self) -> RunResult:
        """How the run ended, after unrecorded attempts have been offered once more."""
        waiting, self._unrecorded = self._unrecorded, []
        for attempt in waiting:
            await self._keep(attempt)
        outcome, reason = self._ending()
        return RunResult(outcome, reason, self._sent, self._failed, tuple(self._unrecorded))

    def _ending(self) -> tuple[Outcome, str]:
        stopping = self._control.stopping
        paused = self._control.paused
        whom = paused_words(paused, self._asked) if paused else ""
        if stopping is None:
            return (Outcome.PAUSED, whom) if whom else (Outcome.FINISHED, "All calls were made.")
        outcome = Outcome.STOPPED if stopping == "stop" else Outcome.PAUSED
        reason = self._reason or f"{outcome.value.capitalize()} on request."
        return outcome, f"{reason} {whom}".strip()

    async def _pull(self, lane: EndpointState) -> Task | None:
        try:
            return await lane.next_task()
        except Exception as error:  # noqa: BLE001  # calls in flight must still be recorded
            self._pause_unread(error)
        return None

    def _pause_unread(self, error: Exception) -> None:
        """Pause because the next call cannot be made of the plan."""
        if isinstance(error, UserError):
            self._pause(str(error))
            return
        _log("reading what is to be asked", error)
        self._pause("Inkblot could not read what is to be asked next. The log says more.")

    async def _ask(self, lane: EndpointState, task: Task) -> None:
        """Try one call until it is done with or the run is ending."""
        tries = _Tries()
        while not lane.is_over(task):
            sending = await self._started(lane, task, task.attempts_before + tries.made + 1)
            if sending is None:
                continue
            tries.made += 1
            try:
                wait = await self._try(lane, task, tries, sending)
            finally:
                lane.end(sending.start)
            if wait is None:
                return
            await self._control.sleep(wait)

    async def _started(self, lane: EndpointState, task: Task, number: int) -> _Sending | None:
        """A try that has its money, is announced and may be sent now; None: not yet, or never."""
        size = await lane.near(task.request)
        if size is None:
            return None
        start = reservation = None
        try:
            reservation = await self._reserved(task.request)
            if reservation is None or not await self._announced(lane, task, number, reservation):
                return None
            start = await lane.turn(size)
        except asyncio.CancelledError:  # the process ends: what is not sent must not count as sent
            if reservation is not None:
                await self._withdrawn(lane, task.call_id, number)
            raise
        finally:
            if start is None:
                lane.give_up(size)
        if start is not None:
            return _Sending(number, reservation, start)
        self._release(reservation)
        await self._withdrawn(lane, task.call_id, number)
        return None

    async def _reserved(self, request: ChatRequest) -> Reservation | None:
        """Money for the call, once there is room for it; None when the run is ending."""
        while not self._control.stopping:
            try:
                reservation = self._budget.reserve(request)
            except CollectionError as error:
                self._pause(str(error))
                return None
            if reservation is not None:
                return reservation
            if not self._budget.in_flight:
                self._pause(_cap_words(self._budget, request))
                return None
            # Calls in flight are reserved at their worst; most leave room when they are settled.
            self._settled.clear()
            await self._settled.wait()
        return None

    async def _try(
        self, lane: EndpointState, task: Task, tries: _Tries, sending: _Sending
    ) -> float | None:
        """Send once and record it. Returns the wait before the next try; None: no further."""
        self._sent += 1
        sent_at, started = datetime.now(UTC), time.perf_counter()
        request = task.request
        if sending.number > 1:
            request = replace(request, number=sending.number)
        outcome = await self._sent_to(lane, request, sending.reservation)
        latency_s = time.perf_counter() - started
        lane.end(sending.start, outcome)
        if outcome is None:
            return None
        cost = self._budget.settle(sending.reservation, outcome)
        self._settled.set()
        if isinstance(outcome, CallFailure):
            failure, reply = outcome, None
            wait = self._after_failure(lane, task, tries, outcome)
        else:
            failure, reply = None, outcome
            wait = self._after_reply(lane, task, tries, outcome)
        await self._keep(
            Attempt(
                call_id=task.call_id,
                number=sending.number,
                request=task.request,
                sent_at=sent_at,
                latency_s=latency_s,
                reply=reply,
                failure=failure,
                cost=cost.amount,
                cost_estimated=cost.estimated,
                final=wait is None and (failure is None or failure.kind not in PAUSES),
            )
        )
        if wait is None and reply is not None:
            self._follow(lane, task, reply)
        return wait

    def _follow(self, lane: EndpointState, task: Task, reply: Reply) -> None:
        """Go on with the chain of a call that has its last reply."""
        if self._control.stopping:
            return
        try:
            following = task.following(reply)
        except Exception as error:  # noqa: BLE001  # calls in flight must still be recorded
            self._pause_unread(error)
            return
        if following is not None:
            lane.put_next(following)

    async def _announced(
        self, lane: EndpointState, task: Task, number: int, reservation: Reservation
    ) -> bool:
        """Whether the try is announced, so that it may be sent; else the run is ending."""
        if lane.announcer is None:
            return True
        try:
            await lane.announcer.announce(task.call_id, number, reservation.amount)
        except Exception as error:  # noqa: BLE001  # calls in flight must still be recorded
            _log("announcing a call", error)
            self._release(reservation)
            self._pause(f"A call was not sent, because this could not be written before: {error}")
            return False
        return True

    async def _withdrawn(self, lane: EndpointState, call_id: int, number: int) -> None:
        """Take an announced try back; where that fails, the run pauses, as the try looks sent."""
        if lane.announcer is None:
            return
        try:
            await lane.announcer.withdraw(call_id, number)
        except Exception as error:  # noqa: BLE001  # calls in flight must still be recorded
            _log("withdrawing a call", error)
            self._pause(
                f"A call counts as sent that was not, as this could not be written: {error}"
            )

    def _release(self, reservation: Reservation) -> None:
        """Free the money of a call that is not sent."""
        self._budget.release(reservation)
        self._settled.set()

    async def _sent_to(
        self, lane: EndpointState, request: ChatRequest, reservation: Reservation
    ) -> Reply | CallFailure | None:
        """What the service said; None where the client itself is at fault."""
        try:
            return await lane.client.complete(request)
        except CallFailure as failure:
            # Its frames hold this one, and would keep the reply alive until a garbage collection.
            return failure.with_traceback(None)
        except Exception as error:  # noqa: BLE001  # other calls in flight must still be recorded
            _log(f"calling {lane.name}", error)
            # Whether the service charged is unknown.
            self._budget.settle(reservation, CallFailure(FailureKind.BROKEN_REPLY, ""))
            self._settled.set()
            self._pause(
                f"Inkblot made a mistake while calling {lane.name} ({type(error).__name__}). "
                "The log says more."
            )
            return None

    def _after_reply(
        self, lane: EndpointState, task: Task, tries: _Tries, reply: Reply
    ) -> float | None:
        """No wait where the reply is to be asked for anew; None: no further try."""
        lane.note_reply(task.respondent)
        tries.failed_since = 0
        tries.replied += 1
        try:
            satisfied = task.judge(reply)
        except Exception as error:  # noqa: BLE001  # the reply must be kept, readable or not
            _log("reading a reply", error)
            self._pause("Inkblot could not read a reply. It is kept; the log says more.")
            return None
        return None if satisfied or tries.replied >= task.most_replies else 0.0

    def _after_failure(
        self, lane: EndpointState, task: Task, tries: _Tries, failure: CallFailure
    ) -> float | None:
        """Seconds to wait before the next try; None: no further try."""
        tries.failed_since += 1
        if failure.kind in PAUSES:
            met = self._met_by(lane, task, failure)
            self._control.pause_respondents(met, f"{lane.name}: {failure.message}")
            return None
        wait = self._policy.wait_s(tries.failed_since, failure, self._random)
        if wait is None:
            self._give_up(lane, task, failure)
        elif failure.retry_after_s is not None:
            lane.close_for(failure.retry_after_s, failure.message)
        return wait

    def _give_up(self, lane: EndpointState, task: Task, failure: CallFailure) -> None:
        self._failed += 1
        in_a_row = lane.note_given_up(task.respondent)
        if in_a_row is not None:
            met = self._met_by(lane, task, failure)
            name = task.respondent if met == (task.respondent,) else ""
            self._control.pause_respondents(
                met,
                f"{name or lane.name}: {in_a_row} calls in a row got no reply. "
                f"The last one: {failure.message}",
            )

    def _met_by(self, lane: EndpointState, task: Task, failure: CallFailure) -> tuple[str, ...]:
        """The respondents that a failure will meet again."""
        return lane.respondents if failure.kind in _OF_ENDPOINT else (task.respondent,)

    async def _keep(self, attempt: Attempt) -> None:
        """Record the attempt, or hold on to it and pause."""
        try:
            await self._record(attempt)
        except Exception as error:  # noqa: BLE001  # whatever it was, the attempt must not be lost
            _log("saving a reply", error)
            self._unrecorded.append(attempt)
            self._pause(f"A reply could not be saved: {error}")

    def _pause(self, reason: str) -> None:
        """End the run; the first reason is the one that is told."""
        self._reason = self._reason or reason
        self._control.request_stop("pause")


def paused_words(paused: Mapping[str, str], asked: Collection[str]) -> str:
    """Who was paused, where others were not, and the reasons, each once."""
    reasons = " ".join(dict.fromkeys(paused.values()))
    if set(asked) <= paused.keys():
        return reasons
    names = ", ".join(f"'{name}'" for name in paused)
    verb = "was" if len(paused) == 1 else "were"
    return f"{names} {verb} paused, the others were not. {reasons}"


def _cap_words(budget: Budget, request: ChatRequest) -> str:
    """Why the cap leaves no room for the next call."""
    cap, most = budget.cap or 0.0, budget.ceiling(request) or 0.0
    if most <= cap:
        return f"The cost cap of {_dollars(cap)} is reached."
    return (
        f"The cost cap of {_dollars(cap)} is below what one call may cost at most, "
        f"{_dollars(most)}: raise the cap, or set a lower longest reply with the respondent."
    )


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}" if amount >= 0.01 or amount == 0 else f"${amount:.4g}"


def _log(doing: str, error: Exception) -> None:
    """The traceback without the exception's own words, which might quote a key.

    A problem in the user's words is told to the user, and is no fault to look for.
    """
    if isinstance(error, UserError):
        return
    frames = "".join(traceback.format_tb(error.__traceback__))
    logger.error("%s while %s\n%s", type(error).__name__, doing, frames)
