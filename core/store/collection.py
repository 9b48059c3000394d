"""What remains to be asked, and keeping what was said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from core.domain.identifiers import stable_id
from core.store.database import Database, insert

_REMAINING = """
with page as (
    select t.trial_id, t.ordinal, t.item_id, a.respondent_id, a.language, a.context, a.entity,
        a.format, a.repetition
    from trial t join administration a using (administration_id)
    where t.study_id = ? and t.ordinal > ? and a.respondent_id in (select unnest(?::bigint[]))
        and not exists (select 1 from response r where r.trial_id = t.trial_id)
    order by t.ordinal limit ?
)
select page.trial_id, page.ordinal, i.code, page.respondent_id, page.language, page.context,
    page.entity, page.format, page.repetition,
    (select count(*) from attempt m where m.trial_id = page.trial_id and m.study_id = ?)
from page join item i using (item_id)
order by page.ordinal
"""
_PROGRESS = """
select
    (select count(*) from trial where study_id = ?),
    (select count(*) from response where study_id = ?)
"""
_ATTEMPTS = """
select outcome, message, count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
    coalesce(sum(cost), 0), count(*) filter (where cost is null), bool_or(cost_estimated)
from attempt where study_id = ? group by outcome, message order by 3 desc
"""
_RATE = """
select count(*), min(sent_at), max(sent_at) from attempt
where study_id = ? and outcome = 'reply' and sent_at > now() - interval 60 second
"""


@dataclass(frozen=True)
class RemainingTrial:
    """A planned trial without a response."""

    trial_id: int
    ordinal: int
    item: str
    respondent_id: int
    language: str
    context: str
    entity: str
    format: str
    repetition: int
    attempts: int


@dataclass(frozen=True)
class AttemptRow:
    """One try, with what it came to when it got a reply."""

    study_id: int
    trial_id: int
    number: int
    messages: Sequence[Any]
    request_hash: int
    sent_at: datetime
    latency_s: float
    outcome: str
    http_status: int | None = None
    message: str = ""
    reply: str | None = None
    finish_reason: str = ""
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    cost_estimated: bool = False
    status: str | None = None  # of the response; None: none came of it
    option: str | None = None
    parser: int | None = None


@dataclass(frozen=True)
class AttemptSummary:
    """Attempts of a study of one outcome."""

    outcome: str
    message: str
    count: int
    tokens_in: int
    tokens_out: int
    cost: float
    cost_unknown: int
    cost_estimated: bool


def remaining(
    database: Database, study_id: int, respondent_ids: Sequence[int], *, after: int, limit: int
) -> list[RemainingTrial]:
    """The next planned trials without a response, read from the database and never from memory."""
    rows = database.rows(_REMAINING, [study_id, after, list(respondent_ids), limit, study_id])
    return [RemainingTrial(*row) for row in rows]


def append(database: Database, attempts: Iterable[AttemptRow]) -> None:
    """Keep attempts, their texts and what they came to; all of the batch or nothing.

    A row that is there already (a batch committed but not acknowledged) is left as it was.
    """
    batch = list(attempts)
    if not batch:
        return
    prompts = {row.trial_id: _prompt(row.messages) for row in batch}
    replied = [row for row in batch if row.reply is not None]
    answered = [row for row in batch if row.status is not None]
    with database.transaction() as cursor:
        insert(cursor, "prompt", _prompt_table(prompts), key="prompt_id")
        insert(cursor, "attempt", _attempt_table(batch, prompts), key="attempt_id")
        if replied:
            insert(cursor, "attempt_text", _text_table(replied), key="attempt_id")
        if answered:
            insert(cursor, "response", _response_table(answered), key="trial_id")


def progress(database: Database, study_id: int) -> tuple[int, int]:
    """Planned trials and trials with a response."""
    row = database.row(_PROGRESS, [study_id, study_id])
    return row or (0, 0)


def attempt_summaries(database: Database, study_id: int) -> tuple[AttemptSummary, ...]:
    """Attempts by what they came to, with tokens and cost; most frequent first."""
    return tuple(AttemptSummary(*row) for row in database.rows(_ATTEMPTS, [study_id]))


def recent_rate(database: Database, study_id: int) -> float | None:
    """Replies a second over the last minute; None where there were fewer than two."""
    count, first, last = database.row(_RATE, [study_id]) or (0, None, None)
    if count < 2 or first is None or last <= first:
        return None
    return float((count - 1) / (last - first).total_seconds())


def storable(text: str) -> str:
    """`text` with its lone surrogates, which no file can hold, written out as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def attempt_id(trial_id: int, number: int) -> int:
    """Key of the n-th attempt at a trial."""
    return stable_id("attempt", trial_id, number)


def _prompt(messages: Sequence[Any]) -> tuple[int, str]:
    text = storable(json.dumps([dict(m) for m in messages], ensure_ascii=False))
    return stable_id("prompt", text), text


def _prompt_table(prompts: dict[int, tuple[int, str]]) -> pa.Table:
    distinct = dict(prompts.values())
    return pa.table(
        {
            "prompt_id": pa.array(list(distinct), pa.int64()),
            "messages": pa.array(list(distinct.values()), pa.string()),
        }
    )


_ATTEMPT_FIELDS: tuple[tuple[str, pa.DataType], ...] = (
    ("study_id", pa.int64()),
    ("trial_id", pa.int64()),
    ("number", pa.int32()),
    ("request_hash", pa.int64()),
    ("sent_at", pa.timestamp("us", tz="UTC")),
    ("latency_s", pa.float64()),
    ("outcome", pa.string()),
    ("http_status", pa.int16()),
    ("message", pa.string()),
    ("finish_reason", pa.string()),
    ("model", pa.string()),
    ("tokens_in", pa.int32()),
    ("tokens_out", pa.int32()),
    ("cost", pa.float64()),
    ("cost_estimated", pa.bool_()),
)
_TEXT_FIELDS = frozenset({"message", "finish_reason", "model"})


def _attempt_table(batch: list[AttemptRow], prompts: dict[int, tuple[int, str]]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "attempt_id": pa.array([attempt_id(r.trial_id, r.number) for r in batch], pa.int64()),
        "prompt_id": pa.array([prompts[r.trial_id][0] for r in batch], pa.int64()),
    }
    for name, kind in _ATTEMPT_FIELDS:
        values = [getattr(row, name) for row in batch]
        if name in _TEXT_FIELDS:
            values = [storable(value) for value in values]
        columns[name] = pa.array(values, kind)
    return pa.table(columns)


def _text_table(replied: list[AttemptRow]) -> pa.Table:
    ids = [attempt_id(row.trial_id, row.number) for row in replied]
    texts = [storable(row.reply or "") for row in replied]
    return pa.table(
        {"attempt_id": pa.array(ids, pa.int64()), "reply": pa.array(texts, pa.string())}
    )


def _response_table(answered: list[AttemptRow]) -> pa.Table:
    return pa.table(
        {
            "trial_id": pa.array([row.trial_id for row in answered], pa.int64()),
            "study_id": pa.array([row.study_id for row in answered], pa.int64()),
            "attempt_id": pa.array(
                [attempt_id(row.trial_id, row.number) for row in answered], pa.int64()
            ),
            "status": pa.array([row.status for row in answered], pa.string()),
            "option": pa.array([row.option for row in answered], pa.string()),
            "parser": pa.array([row.parser for row in answered], pa.int32()),
        }
    )
