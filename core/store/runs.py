"""Events of runs, and the log of sent attempts, each written before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from core.store.database import Database

# Requests to the collector and its reports: an append-only list of events.

_ADD = """
insert into run_event (study_id, reported_at, kind, process, detail) values (?, now(), ?, ?, ?)
returning number
"""
_LAST = """
select kind, process, detail, reported_at from run_event
where study_id = ? order by number desc limit 1
"""
_ADD_START = """
insert into run_event (study_id, reported_at, kind, process, detail)
select ?, now(), 'start', ?, ?
where not exists (
    select 1 from (select kind, process from run_event
                   where study_id = ? order by number desc limit 1)
    where process = ? and kind in ('start', 'running', 'pause', 'stop')
)
returning number
"""
_QUEUE = """
select study_id, detail from (
    select *, row_number() over (partition by study_id order by number desc) as place
    from run_event
) where place = 1 and kind = 'start' and process = ? order by number
"""
_LATEST = """
select study_id, kind, process, detail, reported_at from (
    select *, row_number() over (partition by study_id order by number desc) as place
    from run_event
) where place = 1
"""
_PAUSED = "select detail from run_event where study_id = ? and kind = 'paused'"
_HISTORY = """
select reported_at, kind, detail from run_event where study_id = ? order by number desc limit ?
"""


@dataclass(frozen=True)
class RunEvent:
    """The newest event of the run of a study.

    `kind` is a request (start, pause, stop) or a report (running, paused, stopped, finished).
    """

    kind: str
    process: str
    detail: Mapping[str, Any]
    at: datetime


def report_event(
    database: Database, study_id: int, kind: str, process: str, detail: Mapping[str, Any]
) -> int:
    """Append an event; returns its number."""
    with database.transaction() as cursor:
        row = cursor.execute(_ADD, [study_id, kind, process, json.dumps(dict(detail))]).fetchone()
    return int(row[0]) if row else 0


def request_start(
    database: Database, study_id: int, process: str, detail: Mapping[str, Any]
) -> bool:
    """Request a run; False where this process has one queued or under way already."""
    with database.transaction() as cursor:
        row = cursor.execute(
            _ADD_START, [study_id, process, json.dumps(dict(detail)), study_id, process]
        ).fetchone()
    return row is not None


def last_event(database: Database, study_id: int) -> RunEvent | None:
    """The newest event of a study, or None where it was never started."""
    row = database.row(_LAST, [study_id])
    return RunEvent(row[0], row[1], json.loads(row[2]), row[3]) if row else None


def last_events(database: Database) -> dict[int, RunEvent]:
    """The newest event of every study that was ever started, by study id."""
    return {
        row[0]: RunEvent(row[1], row[2], json.loads(row[3]), row[4])
        for row in database.rows(_LATEST)
    }


def queued_runs(database: Database, process: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Studies with a requested run that this process has not started, oldest request first."""
    return [(row[0], json.loads(row[1])) for row in database.rows(_QUEUE, [process])]


def paused_for(database: Database, study_id: int, cause: str) -> frozenset[str] | None:
    """The labels of the respondents that were ever paused for that cause in the study.

    None: all of them, as an earlier Inkblot paused the whole study.
    """
    labels: set[str] = set()
    for (text,) in database.rows(_PAUSED, [study_id]):
        detail = json.loads(text)
        if cause not in detail and detail.get("cause") == cause:
            return None
        labels.update(detail.get(cause, ()))
    return frozenset(labels)


def history(database: Database, study_id: int, limit: int = 20) -> list[tuple[datetime, str, Any]]:
    """Newest events of a study first."""
    rows = database.rows(_HISTORY, [study_id, limit])
    return [(at, kind, json.loads(detail)) for at, kind, detail in rows]


# Sent attempts. Each is written before it is sent, so that none is lost without a trace:
# sent = replies on file + failures on file + attempts without an answer on file.

_NO_ANSWER_KEPT = "no_answer_kept"
"""The outcome, in the list of calls, of an attempt whose answer is not on file."""

# Lists as parameters: for the few rows of a batch they take half the time of an Arrow table.
_WRITE = """
insert into sending (study_id, call_id, number, run, written_at, cost)
select ?, call_id, number, ?, now(), cost from (
    select unnest(?::bigint[]) as call_id, unnest(?::integer[]) as number,
        unnest(?::double[]) as cost
)
"""
_WITHDRAW = "delete from sending where study_id = ? and run = ? and call_id = ? and number = ?"
_LOST = """
select s.* from sending s
anti join (select call_id, number from attempt where study_id = $study) using (call_id, number)
where s.study_id = $study and ($ended or s.run < (
    select coalesce(max(number), 0) from run_event where study_id = $study and kind = 'running'))
"""
_COUNT_LOST = f"""
select count(*), coalesce(sum(cost), 0), count(*) filter (where cost is null) from ({_LOST})
"""  # noqa: S608
_CALLS = f"""
with sent as (
    select call_id, number, prompt_id, sent_at, outcome, http_status, message, finish_reason, model,
        latency_s, tokens_in, tokens_out, tokens_reasoning, tokens_cached, cost, cost_estimated,
        reasoning, tool_calls, refusal, body, reply
    from attempt left join attempt_text using (attempt_id)
        left join attempt_usage using (attempt_id) left join attempt_cache using (attempt_id)
        left join attempt_part using (attempt_id)
    where study_id = $study
    union all
    select call_id, number, null, written_at, '{_NO_ANSWER_KEPT}', null, '', '', '', null, null,
        null, null, null, cost, cost is not null, '', '', '', '', ''
    from ({_LOST})
),
asked as (
    select call_id, min(ordinal) as place, any_value(p.name) as respondent,
        any_value(temperature) as temperature, any_value(top_p) as top_p,
        any_value(max_tokens) as max_tokens
    from trial join administration using (administration_id) join respondent p using (respondent_id)
    where trial.study_id = $study group by call_id
)
select respondent, temperature, top_p, max_tokens, cast(call_id as varchar) as call,
    number as "try",
    coalesce(cast(prompt_id as varchar), '') as prompt,
    strftime(sent_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') as time,
    outcome, http_status, message, finish_reason, model, latency_s, tokens_in, tokens_out,
    tokens_reasoning, tokens_cached, cost, cost_estimated, coalesce(reasoning, '') as reasoning,
    coalesce(tool_calls, '') as tool_calls, coalesce(refusal, '') as refusal,
    coalesce(body, '') as body, coalesce(reply, '') as reply
from sent join asked using (call_id) order by place, number
"""  # noqa: S608


@dataclass(frozen=True)
class Sending:
    """An attempt about to be sent, with its highest possible cost in dollars; None: unknown."""

    call_id: int
    number: int
    cost: float | None


@dataclass(frozen=True)
class LostAttempts:
    """Sent attempts without an answer on file, with their highest possible cost."""

    count: int
    cost: float
    cost_unknown: int


def save_sendings(database: Database, study_id: int, run: int, sendings: Sequence[Sending]) -> None:
    """Write attempts about to be sent; `run` is the number of the run's first event."""
    database.write(
        _WRITE,
        [
            study_id,
            run,
            [sending.call_id for sending in sendings],
            [sending.number for sending in sendings],
            [sending.cost for sending in sendings],
        ],
    )


def withdraw_sending(
    database: Database, study_id: int, run: int, call_id: int, number: int
) -> None:
    """Take back an attempt of a run that was written and not sent."""
    database.write(_WITHDRAW, [study_id, run, call_id, number])


_PROMPTS = """
select cast(prompt_id as varchar), messages from prompt
semi join (select prompt_id from attempt where study_id = ?) using (prompt_id) order by prompt_id
"""


def sent_prompts(database: Database, study_id: int) -> list[tuple[str, list[dict[str, str]]]]:
    """Each different prompt that was sent: its key, and its messages with role and content."""
    rows = database.rows(_PROMPTS, [study_id])
    return [(key, json.loads(messages)) for key, messages in rows]


def count_lost(database: Database, study_id: int, *, ended: bool) -> LostAttempts:
    """Number and cost of sent attempts without an answer on file.

    While a run is under way (`ended` is False), its calls in flight do not count.
    """
    row = database.row(_COUNT_LOST, {"study": study_id, "ended": ended})
    return LostAttempts(*(row or (0, 0.0, 0)))


def call_table(database: Database, study_id: int, *, ended: bool) -> pa.Table:
    """Every sent attempt in the order of the plan, with its outcome and cost."""
    return database.arrow(_CALLS, {"study": study_id, "ended": ended})
