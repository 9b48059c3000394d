"""The one thread that asks models, and writes what they say.

It is kept in a table of this module, not in Streamlit's caches: clearing a cache must not start a
second one. What remains to be asked is read from the database each time, never remembered.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from core.collect.budget import Budget
from core.collect.client import ChatClient, Message, Reply
from core.collect.endpoints import KeyRing
from core.collect.lanes import Control, EndpointCalls, Task
from core.collect.runner import Attempt, Outcome, RetryPolicy, RunResult, run
from core.domain.numbers import count_text
from core.domain.study import CONTENT_FILTER, CUT_OFF, Respondent, Status
from core.errors import StoreError, UserError
from core.store import batches, runs
from core.store import collection as store
from core.workflow import study_log
from core.workflow.designs.studies import (
    load_materials,
    plan_stated_phase,
    respondents_as_amended,
)
from core.workflow.prompts import StudyMaterials, said
from core.workflow.respondents import prices
from core.workflow.respondents.catalog import client_for
from core.workflow.runs.reading import Reader, outcome_columns, request_hash
from core.workflow.workspace import Workspace

log = logging.getLogger(__name__)

_BATCH = 500
FLUSH_S = 1.0
_ANNOUNCE_S = 0.015  # between two writings of what is about to be sent, where it is many calls
_PAGE = 5000  # trials
_LARGE_PAGE = 20_000  # where a call asks several items, so that the plan is not read too often
RETRY_POLICY = RetryPolicy()

RETRY_WRITING_S = 3.0
_LOOK_S = 0.1  # between two looks at whether a run that ends has ended
_WRITE_S = 5.0  # for writing what came, once calls under way are waited for no longer
_LATEST_REPLIES = 40  # of a respondent, that are looked at
_FEWEST_REPLIES = 20
_SMALLEST_SHARE = 0.05  # of them that hold an answer
_UNREADABLE = "unreadable"
"""The cause of a pause: hardly a reply of a respondent holds an answer."""

write_problems: dict[int, str] = {}
"""What keeps a run from writing, by study id; the database cannot tell when it is what fails."""

remarks: dict[int, Callable[[], tuple[str, ...]]] = {}
"""Sentences on each run of this process, by study id: whom it paused, and what it waits for."""

_Planned = TypeVar("_Planned", store.PlannedCall, list[store.PlannedCall])


@dataclass(frozen=True)
class _Ending:
    """Why the runs of a process end, and whether calls under way are waited for no longer."""

    reason: str
    at_once: threading.Event = field(default_factory=threading.Event)


_endings: dict[str, _Ending] = {}
"""The processes whose runs are ending; nothing further of them is begun."""

_under_way: dict[str, _StudyRun] = {}
"""The run of each process."""

_threads: dict[str, threading.Thread] = {}
_keys: dict[tuple[str, int], KeyRing] = {}
"""The keys of each queued run, by process and study: those of the session that started it."""
_guard = threading.Lock()


def ensure_running(workspace: Workspace) -> None:
    """Start the collector of this process where it is not running; at most one per database.

    It works for all members: a run was allowed when it was asked for.
    """
    workspace = workspace.for_process()
    with _guard:
        thread = _threads.get(workspace.process)
        if thread is not None and thread.is_alive():
            return
        thread = threading.Thread(
            target=_collect, args=(workspace,), name="inkblot-collector", daemon=True
        )
        _threads[workspace.process] = thread
        if not workspace.endings:
            workspace.endings.append(partial(end_runs, workspace, "Inkblot was closed."))
        thread.start()


def is_running(workspace: Workspace) -> bool:
    """Whether the collector of this process is under way, or waits for a disk."""
    thread = _threads.get(workspace.process)
    return thread is not None and thread.is_alive()


def end_runs(
    workspace: Workspace, reason: str, within_s: float, asked: Callable[[], bool] = lambda: False
) -> list[str]:
    """End all that this process asks; whoever ends a run from outside comes here.

    No new call is sent. Calls under way are waited for, at most `within_s` seconds or until `asked`
    says to leave; the others count as sent without an answer. What came is written, and each run
    is paused with the reason. Returns a sentence on all that could not be written.
    """
    with _guard:
        thread = _threads.get(workspace.process)
        if thread is None or not thread.is_alive():
            return []
        ending = _endings[workspace.process] = _Ending(reason)
        run_now = _under_way.get(workspace.process)
    if run_now is not None:
        run_now.control.request_stop("pause")
    until = time.monotonic() + within_s
    while thread.is_alive() and time.monotonic() < until and not asked():
        thread.join(_LOOK_S)
    ending.at_once.set()
    run_now = _under_way.get(workspace.process)
    if run_now is not None:
        run_now.leave()
    thread.join(_WRITE_S)
    with _guard:
        del _endings[workspace.process]
    told = [*write_problems.values()]
    write_problems.clear()
    return told if told or not thread.is_alive() else ["A run could not be ended in time."]


def request_start(workspace: Workspace, study_id: int, detail: Mapping[str, Any]) -> bool:
    """Queue a run once, however many tabs press Start at the same moment."""
    with workspace.database.deciding(), _guard:
        with workspace.database.all_or_nothing():
            started = runs.request_start(workspace.database, study_id, workspace.process, detail)
            if started:
                study_log.add(workspace, study_id, "Started the run")
        if started:
            _keys[workspace.process, study_id] = workspace.keys.for_run()
    ensure_running(workspace)
    return started


def _collect(workspace: Workspace) -> None:
    """Work off the queue, unless Inkblot ends meanwhile."""
    try:
        _work_off_queue(workspace)
    except StoreError as error:  # tried again when somebody looks at a run
        if not workspace.database.closed:
            log.warning("the queue of studies could not be read: %s", error)


def _work_off_queue(workspace: Workspace) -> None:
    """Run queued studies one after the other until the queue is empty."""
    while True:
        with _guard:
            waiting = runs.queued_runs(workspace.database, workspace.process)
            ending = _endings.get(workspace.process)
            if ending is not None:
                for study_id, _ in waiting:
                    detail: dict[str, Any] = {"reason": f"Taken out of the queue. {ending.reason}"}
                    runs.report_event(
                        workspace.database, study_id, "paused", workspace.process, detail
                    )
                waiting = []
            if not waiting:
                _threads.pop(workspace.process, None)
                for stopped in [run for run in _keys if run[0] == workspace.process]:
                    del _keys[stopped]
                return
            study_id, asked = waiting[0]
            # This thread was started with the keys of one session, and serves the runs of all.
            keys = _keys.pop((workspace.process, study_id), None) or workspace.keys.for_session()
        _run_reported(workspace.with_keys(keys), study_id, asked)


def _run_reported(workspace: Workspace, study_id: int, detail: Mapping[str, Any]) -> None:
    """Run one study and write how it ended, whatever happens."""
    detail_of_end: dict[str, Any] = {}
    try:
        number = runs.report_event(
            workspace.database, study_id, "running", workspace.process, detail
        )
        started = _StudyRun(workspace, study_id, number, detail.get("cost_cap"))
        result = started.asked()
        if result.outcome is Outcome.FINISHED and plan_stated_phase(workspace, study_id):
            started = _StudyRun(workspace, study_id, number, detail.get("cost_cap"))
            result = started.asked()
        detail_of_end = started.pauses()
        kind, reason = str(result.outcome), result.reason
        if result.failed and kind == "finished":
            reason = f"{count_text(result.failed, 'call')} got no reply; continue to ask again."
            reason += _not_asked_words(workspace, study_id)
    except UserError as error:
        kind, reason = "paused", str(error)
    except Exception as error:  # noqa: BLE001  # told on the page; a key in its words is not logged
        log.error(
            "the run of study %s failed: %s\n%s",
            study_id,
            type(error).__name__,
            "".join(traceback.format_tb(error.__traceback__)),
        )
        kind, reason = "paused", "A fault in Inkblot stopped the run; the log has the details."
    ending = _endings.get(workspace.process)
    if ending is not None and kind == "paused":
        reason = ending.reason
    _report_end(workspace, study_id, kind, workspace.keys.redact(reason), detail_of_end)


def _not_asked_words(workspace: Workspace, study_id: int) -> str:
    """How many trials a run to its end did not ask: those after a call without a reply."""
    n_trials, n_done = store.progress(workspace.database, study_id)
    waiting = n_trials - n_done - store.count_failed(workspace.database, study_id)
    if not waiting:
        return ""
    words = "question that follows waits", "questions that follow wait"
    return f" {count_text(waiting, *words)} for that."


def _report_end(
    workspace: Workspace, study_id: int, kind: str, reason: str, of_pauses: Mapping[str, Any]
) -> None:
    """Write how a run ended; where the disk is full, as soon as it can be written."""
    database = workspace.database
    while not database.closed:
        try:
            lost = runs.count_lost(database, study_id, ended=True)
            detail: dict[str, Any] = {"reason": reason, **of_pauses}
            detail |= {"no_answer_kept": lost.count} if lost.count else {}
            runs.report_event(database, study_id, kind, workspace.process, detail)
        except StoreError as error:
            log.warning("the end of the run of study %s is not written yet: %s", study_id, error)
            ending = _endings.get(workspace.process)
            if ending is not None and ending.at_once.is_set():
                write_problems.setdefault(study_id, f"How the run ended is not written: {error}")
                return
            write_problems[study_id] = f"{reason} {error}"
            time.sleep(RETRY_WRITING_S if ending is None else _LOOK_S)
        else:
            write_problems.pop(study_id, None)
            return


@dataclass(eq=False)
class _StudyRun:
    """One run of one study."""

    workspace: Workspace
    study_id: int
    number: int  # of the event that reported its start
    cost_cap: float | None
    control: Control = field(default_factory=Control)
    batch: list[store.AttemptRow] = field(default_factory=list)
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    spent: float = 0.0  # before this run, in US dollars
    full: str = ""  # why answers could not be written, if they could not
    latest: _LatestReplies = field(init=False)
    materials: StudyMaterials = field(init=False)
    readers: dict[int, Reader] = field(default_factory=dict)  # of calls under way, by call id
    cancel: Callable[[], object] = lambda: None  # what is under way, from any thread

    def asked(self) -> RunResult:
        """Ask everything that remains, where no other run of this process is under way."""
        with _guard:
            _under_way[self.workspace.process] = self
            if self.workspace.process in _endings:
                self.control.request_stop("pause")
        try:
            return asyncio.run(self.go())
        finally:
            del _under_way[self.workspace.process]

    def leave(self) -> None:
        """Wait for calls under way no longer, nor for a disk that cannot be written."""
        with suppress(RuntimeError):  # the loop is closed: the run is over
            self.cancel()

    async def go(self) -> RunResult:
        """Ask everything that remains; returns when done, paused or stopped."""
        database = self.workspace.database
        people = {
            respondent_id: prices.with_prices(self.workspace, person)
            for respondent_id, person in respondents_as_amended(
                self.workspace, self.study_id
            ).items()
        }
        self.materials = load_materials(self.workspace, self.study_id)
        known = runs.paused_for(database, self.study_id, _UNREADABLE)
        self.latest = _LatestReplies(
            {
                key: person.label
                for key, person in people.items()
                if person.kind != "simulated" and known is not None and person.label not in known
            }
        )
        self.spent = sum(s.cost for s in store.attempt_summaries(database, self.study_id))
        self.spent += runs.count_lost(database, self.study_id, ended=True).cost
        self.spent += batches.count_out(database, self.study_id)[1]
        clients, lanes = self._lanes(people)
        remarks[self.study_id] = self.remarks
        helpers = [
            asyncio.create_task(self._watch_requests()),
            asyncio.create_task(self._flush_now_and_then()),
        ]
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            self.cancel = partial(loop.call_soon_threadsafe, task.cancel)
        try:
            result = await self._result(lanes)
        finally:
            del remarks[self.study_id]
            await _to_its_end(self._settled(helpers, clients))
        if self.full:
            return replace(result, reason=self.full)
        n_trials, n_done = store.progress(database, self.study_id)
        if self.control.paused and n_done == n_trials:
            return replace(result, outcome=Outcome.FINISHED, reason="")
        return result

    async def _settled(
        self, helpers: Sequence[asyncio.Task[None]], clients: Sequence[ChatClient]
    ) -> None:
        """End what ran beside the calls, and write what came."""
        # A write that is cancelled goes on in its thread and clashes with the next one.
        async with self.writing:
            for helper in helpers:
                helper.cancel()
        await asyncio.gather(*helpers, return_exceptions=True)
        for client in clients:
            await client.close()
        await self._flush_until_written()

    async def _result(self, lanes: Sequence[EndpointCalls]) -> RunResult:
        """What comes of all calls; of those that were left under way, that the run is paused."""
        try:
            return await run(
                lanes,
                record=self._record,
                control=self.control,
                policy=RETRY_POLICY,
                budget=Budget(self.cost_cap, self.spent),
                random=random.Random(),
            )
        except asyncio.CancelledError:
            if not self._leaves:
                raise
            return RunResult(Outcome.PAUSED, "", 0, 0)

    @property
    def _leaves(self) -> bool:
        """Whether the process ends and waits for nothing."""
        ending = _endings.get(self.workspace.process)
        return ending is not None and ending.at_once.is_set()

    def remarks(self) -> tuple[str, ...]:
        """What the run waits for now, and whom it asks nothing further."""
        now = datetime.now(UTC)
        sentences = [
            f"Waiting until {until.astimezone():%H:%M:%S}. {name}: {reason}"
            for name, (until, reason) in list(self.control.waiting.items())
            if until > now
        ]
        sentences += [
            f"'{label}' is paused, the others are asked on. {reason}"
            for label, reason in list(self.control.paused.items())
        ]
        return tuple(map(self.workspace.keys.redact, sentences))

    def pauses(self) -> dict[str, Any]:
        """Who was paused in the run, for the report of its end."""
        paused = self.control.paused
        if not paused:
            return {}
        redact = self.workspace.keys.redact
        unreadable = [label for label in self.latest.told if label in paused]
        detail: dict[str, Any] = {
            "paused": {label: redact(reason) for label, reason in paused.items()},
            _UNREADABLE: unreadable,
        }
        return detail | ({"cause": _UNREADABLE} if len(unreadable) == len(paused) else {})

    def _lanes(
        self, people: Mapping[int, Respondent]
    ) -> tuple[list[ChatClient], list[EndpointCalls]]:
        """One lane per endpoint, so that a slow service does not hold up another."""
        by_endpoint: dict[str, dict[int, Respondent]] = {}
        for respondent_id, person in people.items():
            place = person.base_url or person.model
            name = f"simulated:{respondent_id}" if person.kind == "simulated" else place
            by_endpoint.setdefault(name, {})[respondent_id] = person
        clients, lanes = [], []
        announcer = _Announcer(self.workspace, self.study_id, self.number)
        for name, members in by_endpoint.items():
            first = next(iter(members.values()))
            calls = [p.sampling.per_minute for p in members.values() if p.sampling.per_minute]
            tokens = [
                p.sampling.tokens_per_minute
                for p in members.values()
                if p.sampling.tokens_per_minute
            ]
            client = client_for(self.workspace, first)
            clients.append(client)
            lanes.append(
                EndpointCalls(
                    name=name,
                    client=client,
                    tasks=self._tasks(members),
                    at_once=min(person.sampling.at_once for person in members.values()),
                    per_minute=min(calls, default=None),
                    tokens_per_minute=min(tokens, default=None),
                    announcer=None if first.kind == "simulated" else announcer,
                    respondents=tuple(person.label for person in members.values()),
                )
            )
        return clients, lanes

    async def _tasks(self, people: Mapping[int, Respondent]) -> AsyncIterator[Task]:
        """What is left to answer, a page at a time, in the order of the plan.

        Calls that stand alone come first, then the first open call of each chain.
        """
        read = partial(self._page, list(people))
        after = 0
        while calls := await read(store.remaining_calls, after):
            for call in calls:
                after = call.last_ordinal
                if people[call.respondent_id].label in self.control.paused:
                    continue
                yield self._task(people[call.respondent_id], call)
        after = 0
        while chains := await read(store.remaining_chains, after):
            replies = await asyncio.to_thread(
                store.last_replies,
                self.workspace.database,
                self.study_id,
                [call.call_id for chain in chains for call in chain if not call.waits],
            )
            for chain in chains:
                after = chain[0].last_ordinal
                if people[chain[0].respondent_id].label in self.control.paused:
                    continue
                yield self._chain(people[chain[0].respondent_id], chain, replies)

    async def _page(
        self, respondent_ids: list[int], read: Callable[..., list[_Planned]], after: int
    ) -> list[_Planned]:
        """What comes next in the plan."""
        limit = _PAGE if 1 in self.materials.design.block_sizes else _LARGE_PAGE
        return await asyncio.to_thread(
            read, self.workspace.database, self.study_id, respondent_ids, after=after, limit=limit
        )

    def _chain(
        self, person: Respondent, calls: Sequence[store.PlannedCall], replies: Mapping[int, str]
    ) -> Task:
        """The first open call of an administration with history, after the calls before it."""
        earlier = self.materials.exchanges(person, calls, replies)
        first, *later = (call for call in calls if call.waits)
        return self._task(person, first, earlier, later)

    def _task(
        self,
        person: Respondent,
        call: store.PlannedCall,
        earlier: tuple[Message, ...] = (),
        later: Sequence[store.PlannedCall] = (),
    ) -> Task:
        """A call to make; `later` are those of its chain, which see its question and its reply."""
        question = self.materials.question(call)
        request = self.materials.request(person, question, earlier)
        design = self.materials.design
        reader = Reader(
            question, call, most_replies=1 + design.ask_again, whole_calls=design.whole_calls
        )
        self.readers[call.call_id] = reader

        def following(reply: Reply) -> Task | None:
            if not later:
                return None
            exchanges = (*earlier, request.messages[-1], said(reply.text))
            return self._task(person, later[0], exchanges, later[1:])

        return Task(
            call.call_id,
            request,
            call.tries,
            reader.judge,
            max(reader.most_replies - call.replies, 1),
            following,
            person.label,
        )

    async def _record(self, attempt: Attempt) -> None:
        """Take one attempt into the batch; full batches are written before more is asked."""
        reader = self.readers[attempt.call_id]
        if attempt.final:
            del self.readers[attempt.call_id]
        codings = reader.codings() if attempt.reply is not None else ()
        if attempt.reply is not None:
            self.latest.add(reader.respondent_id, attempt.reply, reader.statuses(), self.control)
        self.batch.append(_attempt_row(self.study_id, attempt, codings, self.workspace.keys.redact))
        if len(self.batch) >= _BATCH:
            await self._flush_or_pause()

    async def _flush(self) -> None:
        async with self.writing:
            batch, self.batch = self.batch, []
            try:
                await asyncio.to_thread(store.save_attempts, self.workspace.database, batch)
            except BaseException:
                self.batch = batch + self.batch
                raise

    async def _flush_until_written(self) -> None:
        """Hold on to answers that could not be written (a full disk) until they can be."""
        while True:
            try:
                await self._flush()
            except StoreError as error:
                if self._leaves:
                    lost = count_text(len(self.batch), "answer that came", "answers that came")
                    write_problems[self.study_id] = (
                        f"{lost} could not be written: {error.problem} Their calls count as sent, "
                        "and are asked again."
                    )
                    return
                waiting = (
                    count_text(len(self.batch), "answer waits", "answers wait")
                    + " in memory to be written."
                )
                write_problems[self.study_id] = f"{error} {waiting} Do not close Inkblot."
                until = time.monotonic() + RETRY_WRITING_S
                while time.monotonic() < until and not self._leaves:
                    await asyncio.sleep(_LOOK_S)
            else:
                write_problems.pop(self.study_id, None)
                return

    async def _flush_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            await self._flush_or_pause()

    async def _flush_or_pause(self) -> None:
        """Write the batch, or pause and keep it: the end of the run writes it."""
        try:
            await self._flush()
        except StoreError as error:
            log.warning("answers could not be written yet: %s", error)
            self.full = f"Paused because answers could not be written: {error}"
            self.control.request_stop("pause")

    async def _watch_requests(self) -> None:
        """Hand pause and stop over from the database, where any tab may have put them."""
        while True:
            with suppress(StoreError):  # which the next write tells
                event = await asyncio.to_thread(
                    runs.last_event, self.workspace.database, self.study_id
                )
                if event is not None and event.kind in ("pause", "stop"):
                    self.control.request_stop("pause" if event.kind == "pause" else "stop")
            await asyncio.sleep(0.3)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for it also where this task is cancelled meanwhile."""
    task = asyncio.create_task(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(task)
    task.result()


class _LatestReplies:
    """Pauses a respondent, once in a study, while hardly one of its latest replies holds an answer.

    `labels` are those of the respondents that may be paused, by id; `told` those that were.
    """

    def __init__(self, labels: Mapping[int, str]) -> None:
        self._labels = dict(labels)
        self._latest = {key: deque[str](maxlen=_LATEST_REPLIES) for key in labels}
        self.told: list[str] = []

    def add(
        self, respondent_id: int, reply: Reply, statuses: Sequence[Status], control: Control
    ) -> None:
        """Count a reply, and pause its respondent where too few hold an answer."""
        latest = self._latest.get(respondent_id)
        if latest is None:
            return
        usable = any(status.usable for status in statuses)
        latest.append("" if usable else _missing_kind(reply, statuses))
        n_usable = latest.count("")
        # One answer among a few replies may be all that a hard beginning holds.
        enough = _SMALLEST_SHARE * len(latest) if len(latest) == _LATEST_REPLIES else 1
        if len(latest) < _FEWEST_REPLIES or n_usable >= enough:
            return
        label = self._labels[respondent_id]
        control.pause_respondents([label], _few_usable_words(label, latest, n_usable))
        self.told.append(label)
        del self._latest[respondent_id]


def _few_usable_words(label: str, latest: Sequence[str], n_usable: int) -> str:
    counts = Counter(kind for kind in latest if kind)
    kinds = ", ".join(f"{count} {words}" for words, count in counts.most_common())
    hold = "none holds" if not n_usable else "1 holds"
    advice = (
        "A model that reasons before it answers, or that is cut off, needs a higher limit of "
        "tokens. "
        if counts.keys() & {"cut off", "empty"}
        else ""
    )
    return (
        f"Of the last {len(latest)} replies of '{label}' {hold} an answer that can be used: "
        f"{kinds}. Read some of them on the page Answers. {advice}Continue goes on all the same, "
        "and the study does not pause this respondent for it again."
    )


def _missing_kind(reply: Reply, statuses: Sequence[Status]) -> str:
    """Why a reply holds no answer, as far as it shows."""
    if reply.finish_reason == CUT_OFF:
        return "cut off"
    if reply.finish_reason == CONTENT_FILTER:
        return "withheld by a filter"
    if Status.INVALID_CALL in statuses:
        return "without an answer to some of its items"
    if Status.REFUSED in statuses:
        return "refused"
    return "unreadable" if reply.text.strip() else "empty"


class _Announcer:
    """Writes what is about to be sent, several calls at once, and lets them go when it is written.

    Calls that come one by one are written at once. Others wait at most _ANNOUNCE_S, and are written
    together.
    """

    def __init__(self, workspace: Workspace, study_id: int, run: int) -> None:
        self._database = workspace.database
        self._study_id, self._run = study_id, run
        self._next: list[runs.Sending] = []
        self._writing: asyncio.Task[None] | None = None  # of what is in `_next`
        self._turn = asyncio.Lock()
        self._not_before = 0.0

    async def announce(self, call_id: int, number: int, cost: float | None) -> None:
        """Return when the try is on file."""
        self._next.append(runs.Sending(call_id, number, cost))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
            # Its waiters are told of a failure; where they have left, asyncio would print it.
            self._writing.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._writing)

    async def withdraw(self, call_id: int, number: int) -> None:
        """Return when a try that will not be sent is no longer on file."""
        async with self._turn:
            await asyncio.to_thread(
                runs.withdraw_sending, self._database, self._study_id, self._run, call_id, number
            )

    async def _write(self) -> None:
        async with self._turn:
            await asyncio.sleep(self._not_before - time.monotonic())
            batch, self._next, self._writing = self._next, [], None
            await asyncio.to_thread(
                runs.save_sendings, self._database, self._study_id, self._run, batch
            )
            if len(batch) > 1:
                self._not_before = time.monotonic() + _ANNOUNCE_S


def _attempt_row(
    study_id: int,
    attempt: Attempt,
    codings: tuple[store.Coding, ...],
    redact: Callable[[str], str],
) -> store.AttemptRow:
    """An attempt as it is kept, with what its trials came to."""
    return store.AttemptRow(
        study_id=study_id,
        call_id=attempt.call_id,
        number=attempt.number,
        messages=attempt.request.messages,
        request_hash=request_hash(attempt.request),
        sent_at=attempt.sent_at,
        latency_s=attempt.latency_s,
        cost=attempt.cost,
        cost_estimated=attempt.cost_estimated,
        codings=codings,
        **outcome_columns(attempt.failure or attempt.reply, redact),
    )
