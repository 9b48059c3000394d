"""Runs: start, pause, continue, stop, and how far they are.

Requests and reports go through the database (core/store/runs.py), so that any page, tab or process
sees the same. The collector (core/workflow/runs/collector.py) is the one thread that asks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.collect.client import PAUSES, FailureKind
from core.domain.numbers import count_text, usable_words
from core.domain.study import SETTINGS, Status
from core.errors import CollectionError, StoreError
from core.files.writing import csv_bytes
from core.store import batches, runs, studies
from core.store import collection as store
from core.store import respondents as respondent_store
from core.workflow import study_log
from core.workflow.respondents import prices
from core.workflow.runs import collector
from core.workflow.workspace import ENDING_S, Workspace

RunState = Literal[
    "not_started",
    "queued",
    "running",
    "pausing",
    "stopping",
    "paused",
    "stopped",
    "finished",
    "interrupted",
]

STATE_WORDS: Mapping[RunState, str] = {
    "not_started": "not started",
    "queued": "waiting in the queue",
    "running": "running",
    "pausing": "pausing",
    "stopping": "stopping",
    "paused": "paused",
    "stopped": "stopped",
    "finished": "finished",
    "interrupted": "interrupted",
}
_LOOK_S = 0.05
_ASKING: frozenset[RunState] = frozenset({"running", "pausing", "stopping"})
UNDER_WAY: frozenset[RunState] = _ASKING | {"queued"}
EVENT_WORDS: Mapping[str, str] = {
    "start": "Start was pressed",
    "running": "Asking began",
    "pause": "Pause was pressed",
    "stop": "Stop was pressed",
    "paused": "Paused",
    "stopped": "Stopped",
    "finished": "Finished",
}

FAILURE_WORDS: Mapping[str, str] = {
    FailureKind.KEY: "The service refused the key",
    FailureKind.PAYMENT: "The service asks for payment",
    FailureKind.NOT_FOUND: "The model or the address was not found",
    FailureKind.RATE_LIMIT: "The service asked to go slower",
    FailureKind.SERVER: "The service had a fault of its own",
    FailureKind.TIMEOUT: "No reply in time",
    FailureKind.UNREACHABLE: "The service could not be reached",
    FailureKind.BROKEN_REPLY: "The reply arrived broken",
    FailureKind.PROTOCOL: "The address does not answer as a chat service does",
    FailureKind.REJECTED: "The service rejected the request",
}


@dataclass(frozen=True)
class FailureCount:
    """How often something went wrong, in plain words."""

    title: str
    detail: str
    count: int


@dataclass(frozen=True)
class Progress:
    """How far a study is. Costs in US dollars, rate in answers a second.

    Calls sent are `n_attempts` with a reply or a failure on file and `no_answer_kept` without:
    Inkblot was killed before their answers were written. Their estimated cost is part of `cost`.
    """

    study: str
    state: RunState
    reason: str
    n_trials: int
    n_done: int
    n_attempts: int
    failures: tuple[FailureCount, ...]
    tokens_in: int
    tokens_out: int
    cost: float
    cost_unknown: int  # attempts whose cost is not known
    cost_estimated: bool
    rate: float | None
    seconds_left: float | None
    since: datetime | None
    no_answer_kept: int = 0
    no_answer_cost: float = 0.0
    statuses: Mapping[str, int] = field(default_factory=dict)  # of the trials with a response
    n_failed: int = 0  # trials asked without a reply so far
    tokens_cached: int | None = None  # part of `tokens_in`; None: no service says
    cause: str = ""  # what kind of thing paused the run, where its report says
    noted: tuple[tuple[str, int], ...] = ()  # what is said of replies, and of how many
    n_out: int = 0  # calls that are out in batches
    n_repeated: int = 0  # of `n_attempts`, calls that were made before
    remarks: tuple[str, ...] = ()  # on a run under way: what it waits for, whom it paused

    @property
    def n_sent(self) -> int:
        """Calls that were sent, whatever came of them."""
        return self.n_attempts + self.no_answer_kept

    @property
    def share(self) -> float:
        """Done of planned, 0 to 1."""
        return self.n_done / self.n_trials if self.n_trials else 0.0

    @property
    def n_usable(self) -> int:
        """Trials whose answer is an option."""
        return sum(n for status, n in self.statuses.items() if Status(status).usable)

    @property
    def n_asked(self) -> int:
        """Trials that were asked, whether or not a reply came."""
        return self.n_done + self.n_failed


@dataclass(frozen=True)
class StudyRun:
    """One study in the list of all runs. `place` counts from 1 in the queue, if it waits there."""

    study: str
    kind: str
    state: RunState
    place: int | None
    n_trials: int
    n_done: int
    since: datetime | None
    n_usable: int = 0
    n_asked: int = 0

    @property
    def under_way(self) -> bool:
        """Whether it runs, or will without anybody doing anything."""
        return self.state in UNDER_WAY


def start(workspace: Workspace, study: str, *, cost_cap: float | None = None) -> bool:
    """Queue a study, or continue it; False where it is queued or running already.

    Raises
    ------
    CollectionError
        The study was archived or deleted, a cost cap is set and is no amount, or a respondent's
        prices are not known.
    """
    if cost_cap is not None and not 0 <= cost_cap < math.inf:
        raise CollectionError(
            f"A cost cap of {cost_cap:g} is no amount of money.",
            "Give an amount in US dollars from 0 up, or start without a cap.",
        )
    record = studies.get(workspace.database, study)
    if record.kind == "imported":
        raise CollectionError(
            f"'{study}' holds imported answers.", "Plan a study of its own to ask a model."
        )
    if record.place != "listed":
        raise CollectionError(
            f"The study '{study}' was {record.place}.", "Bring it back on Home first."
        )
    if cost_cap is not None:
        for respondent_id in studies.respondent_ids(workspace.database, record.study_id):
            person = prices.with_prices(
                workspace, respondent_store.get(workspace.database, respondent_id)
            )
            if person.sampling.price_in is None or person.sampling.price_out is None:
                raise CollectionError(
                    f"The prices of '{person.label}' are not known, so a cost cap cannot hold.",
                    f"Enter the prices of {person.model} under Prices on the page Respondents, "
                    "or start without a cap.",
                )
    return collector.request_start(workspace, record.study_id, {"cost_cap": cost_cap})


def pause(workspace: Workspace, study: str) -> None:
    """Ask the run to pause: calls under way are finished and kept, no new one is sent."""
    _request(workspace, study, "pause")


def stop(workspace: Workspace, study: str) -> None:
    """Ask the run to stop. What is answered stays; it can be continued later."""
    _request(workspace, study, "stop")


def progress(workspace: Workspace, study: str) -> Progress:
    """How far a study is, read from the database."""
    record = studies.get(workspace.database, study)
    event = runs.last_event(workspace.database, record.study_id)
    statuses, n_failed = store.status_counts(workspace.database, record.study_id)
    n_trials, n_done = record.n_trials, sum(statuses.values())
    summaries = store.attempt_summaries(workspace.database, record.study_id)
    state = _state(event, workspace.process)
    lost = runs.count_lost(workspace.database, record.study_id, ended=state not in _ASKING)
    rate = store.recent_rate(workspace.database, record.study_id) if state == "running" else None
    return Progress(
        study=study,
        state="finished" if record.kind == "imported" else state,
        reason=collector.write_problems.get(record.study_id)
        or (str(event.detail.get("reason", "")) if event else ""),
        n_trials=n_trials,
        n_done=n_done,
        n_attempts=sum(s.count for s in summaries),
        failures=tuple(
            FailureCount(FAILURE_WORDS.get(s.outcome, s.outcome), s.message, s.count)
            for s in summaries
            if s.outcome != "reply"
        ),
        noted=tuple((s.message, s.count) for s in summaries if s.outcome == "reply" and s.message),
        n_out=batches.count_out(workspace.database, record.study_id)[0],
        tokens_in=sum(s.tokens_in for s in summaries),
        tokens_out=sum(s.tokens_out for s in summaries),
        tokens_cached=sum(cached)
        if (cached := [s.tokens_cached for s in summaries if s.tokens_cached is not None])
        else None,
        n_repeated=sum(s.repeated for s in summaries),
        cost=sum(s.cost for s in summaries) + lost.cost,
        cost_unknown=sum(s.cost_unknown for s in summaries) + lost.cost_unknown,
        cost_estimated=any(s.cost_estimated for s in summaries) or lost.cost > 0,
        rate=rate,
        seconds_left=(n_trials - n_done) / rate if rate else None,
        since=event.at if event else None,
        no_answer_kept=lost.count,
        no_answer_cost=lost.cost,
        statuses=statuses,
        n_failed=n_failed,
        cause=str(event.detail.get("cause", "")) if event else "",
        remarks=_remarks(record.study_id) if state in _ASKING else (),
    )


def list_runs(workspace: Workspace) -> tuple[StudyRun, ...]:
    """Every planned study with its state and its place in the queue, oldest first."""
    events = runs.last_events(workspace.database)
    waiting = [study_id for study_id, _ in runs.queued_runs(workspace.database, workspace.process)]
    study_runs = []
    for record in studies.studies(workspace.database, put_away=True):
        if record.kind == "imported":
            continue
        event = events.get(record.study_id)
        state = _state(event, workspace.process)
        place = waiting.index(record.study_id) + 1 if record.study_id in waiting else None
        since = event.at if event else None
        study_runs.append(
            StudyRun(
                record.code,
                record.kind,
                state,
                place,
                record.n_trials,
                record.n_responses,
                since,
                record.n_usable,
                record.n_asked,
            )
        )
    return tuple(study_runs)


def calls_csv(workspace: Workspace, study: str) -> bytes:
    """Every call that was sent, with what came of it and what it cost."""
    record = studies.get(workspace.database, study)
    state = _state(runs.last_event(workspace.database, record.study_id), workspace.process)
    calls = runs.call_table(workspace.database, record.study_id, ended=state not in _ASKING)
    not_varied = [name for name in SETTINGS if set(calls[name].unique().to_pylist()) <= {""}]
    calls = calls.drop_columns(not_varied)
    rows = zip(*(column.to_pylist() for column in calls.columns), strict=True)
    return csv_bytes([calls.column_names, *rows])


def no_answer_words(now: Progress) -> str:
    """How many calls were sent without an answer on file, and what they cost; empty: none."""
    if not now.no_answer_kept:
        return ""
    one = now.no_answer_kept == 1
    priced = f"{'It counts' if one else 'They count'} with an estimated cost of"
    return (
        f"{now.no_answer_kept:,} call{' was' if one else 's were'} sent, no answer kept: Inkblot "
        f"ended before {'its answer' if one else 'their answers'} could be saved. "
        f"{priced} ${now.no_answer_cost:,.4f}."
    )


def out_words(now: Progress) -> str:
    """How many calls are out in batches, and how their replies come in; empty: none."""
    if not now.n_out:
        return ""
    calls = count_text(now.n_out, "call is", "calls are")
    return f"{calls} out in a batch. Take in its replies: page Collect, Batches, or `batch import`."


def replied_words(now: Progress | StudyRun) -> str:
    """How many trials have a reply, and how many of those asked have a usable answer."""
    return f"{now.n_done:,} of {now.n_trials:,} replied, {usable_words(now.n_usable, now.n_asked)}"


def pause_cause(now: Progress) -> str | None:
    """The kind of failure that paused a run: a value of FailureKind, or `unreadable`.

    None for other reasons.
    """
    if now.state != "paused":
        return None
    if now.cause:
        return now.cause
    for kind in (*PAUSES, FailureKind.REJECTED):
        words = FAILURE_WORDS[kind]
        if any(f.title == words and f.detail and f.detail in now.reason for f in now.failures):
            return kind.value
    return None


def history(workspace: Workspace, study: str) -> list[tuple[datetime, str, Any]]:
    """What happened to the run, newest first."""
    record = studies.get(workspace.database, study)
    return runs.history(workspace.database, record.study_id)


def wait(
    workspace: Workspace,
    study: str,
    *,
    report: Callable[[Progress], None] | None = None,
    tell: Callable[[str], None] = lambda _: None,
    every_s: float = 0.5,
    asked_to_end: Callable[[], int] = lambda: 0,
) -> Progress:
    """Block until the run has ended; `report(progress)` is called now and then.

    `tell` is given what is wrong with the database, which answers in memory wait for.
    `asked_to_end` says how often somebody asked to end all runs of this process: the first time
    calls under way are waited for, up to ENDING_S seconds, the second time no longer.
    """
    record = studies.get(workspace.database, study)
    while True:
        try:
            event = runs.last_event(workspace.database, record.study_id)
            ended = _state(event, workspace.process) not in UNDER_WAY
            if report is not None or ended:
                now = progress(workspace, study)
                if report is not None:
                    report(now)
                if now.state not in UNDER_WAY:
                    return now
            collector.ensure_running(workspace)
        except StoreError as error:
            if not collector.is_running(workspace):
                raise
            tell(str(error))
        until = time.monotonic() + every_s
        while time.monotonic() < until and not asked_to_end():
            time.sleep(_LOOK_S)
        if asked_to_end():
            for sentence in collector.end_runs(
                workspace, "Ended from the keyboard.", ENDING_S, lambda: asked_to_end() > 1
            ):
                tell(sentence)
            return progress(workspace, study)


def _remarks(study_id: int) -> tuple[str, ...]:
    """What the run itself says, where it is one of this process."""
    says = collector.remarks.get(study_id)
    problem = collector.write_problems.get(study_id)
    return (*(says() if says is not None else ()), *((problem,) if problem else ()))


def _request(workspace: Workspace, study: str, kind: str) -> None:
    record = studies.get(workspace.database, study)
    event = runs.last_event(workspace.database, record.study_id)
    state = _state(event, workspace.process)
    detail: dict[str, Any] = {}
    if state == "queued":
        event_kind = {"pause": "paused", "stop": "stopped"}[kind]
        detail = {"reason": "Taken out of the queue"}
    elif state in ("running", "pausing"):
        event_kind = kind
    elif kind == "stop" and state in ("paused", "interrupted"):
        event_kind = "stopped"
    else:
        return
    with study_log.logged(workspace, study, EVENT_WORDS[kind]):
        runs.report_event(
            workspace.database, record.study_id, event_kind, workspace.process, detail
        )


def _state(event: runs.RunEvent | None, process: str) -> RunState:
    if event is None:
        return "not_started"
    under_way: dict[str, RunState] = {
        "start": "queued",
        "running": "running",
        "pause": "pausing",
        "stop": "stopping",
    }
    if event.kind in under_way:
        return under_way[event.kind] if event.process == process else "interrupted"
    ended: dict[str, RunState] = {"paused": "paused", "stopped": "stopped", "finished": "finished"}
    return ended[event.kind]
