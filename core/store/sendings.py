"""What was sent: every try is written before it goes out, so that none is lost without a trace.

sent = replies on file + failures on file + "sent, no answer kept"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from core.store.database import Database

_NO_ANSWER_KEPT = "no_answer_kept"
"""The outcome, in a list of calls, of one that was sent and whose answer is not on file."""

# Lists as parameters: for the few rows of a batch they take half the time of an Arrow table.
_WRITE = """
insert into sending (study_id, call_id, number, run, written_at, cost)
select ?, unnest(?::bigint[]), unnest(?::integer[]), ?, now(), unnest(?::double[])
"""
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
    select call_id, number, sent_at, outcome, http_status, message, finish_reason, model,
        latency_s, tokens_in, tokens_out, tokens_reasoning, cost, cost_estimated,
        reasoning, tool_calls, refusal, body
    from attempt left join attempt_usage using (attempt_id)
        left join attempt_part using (attempt_id)
    where study_id = $study
    union all
    select call_id, number, written_at, '{_NO_ANSWER_KEPT}', null, '', '', '', null, null, null,
        null, cost, cost is not null, '', '', '', ''
    from ({_LOST})
),
asked as (
    select call_id, min(ordinal) as place, any_value(p.label) as respondent
    from trial join administration using (administration_id) join respondent p using (respondent_id)
    where trial.study_id = $study group by call_id
)
select respondent, cast(call_id as varchar) as call, number as "try",
    strftime(sent_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') as time,
    outcome, http_status, message, finish_reason, model, latency_s, tokens_in, tokens_out,
    tokens_reasoning, cost, cost_estimated, coalesce(reasoning, '') as reasoning,
    coalesce(tool_calls, '') as tool_calls, coalesce(refusal, '') as refusal,
    coalesce(body, '') as body
from sent join asked using (call_id) order by place, number
"""  # noqa: S608


@dataclass(frozen=True)
class Sending:
    """A try that is about to be sent, with its cost in dollars at worst; None: unknown."""

    call_id: int
    number: int
    cost: float | None


@dataclass(frozen=True)
class Lost:
    """Tries that were sent and whose answer is not kept, with what they cost at worst."""

    count: int
    cost: float
    cost_unknown: int


def write(database: Database, study_id: int, run: int, sendings: Sequence[Sending]) -> None:
    """Write tries that are about to be sent; `run` is the number of the run's first event."""
    with database.transaction() as cursor:
        cursor.execute(
            _WRITE,
            [
                study_id,
                [sending.call_id for sending in sendings],
                [sending.number for sending in sendings],
                run,
                [sending.cost for sending in sendings],
            ],
        )


def lost(database: Database, study_id: int, *, ended: bool) -> Lost:
    """What was sent and has no answer on file.

    While a run is under way (`ended` is False) its own calls are in flight and do not count.
    """
    row = database.row(_COUNT_LOST, {"study": study_id, "ended": ended})
    return Lost(*(row or (0, 0.0, 0)))


def calls(database: Database, study_id: int, *, ended: bool) -> pa.Table:
    """Every try that was sent, in the order of the plan, with what came of it and its cost."""
    return database.arrow(_CALLS, {"study": study_id, "ended": ended})
