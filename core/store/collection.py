"""The calls that remain, and the attempts, replies and codings that come of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from core.domain.characters import readable
from core.domain.values import stable_id
from core.store.database import Database, insert

_PARTS = ("reasoning", "tool_calls", "refusal", "body")

OPTION_MARK = "\x1f"
"""Separator of the codes in a stored order of options."""

_NEXT_CALLS = """
page as (
    select t.call_id, t.ordinal
    from trial t join administration a using (administration_id)
    where t.study_id = $study and t.ordinal > $after and a.history <> 'own'
        and a.respondent_id in (select unnest($people::bigint[]))
        and not exists (select 1 from response r where r.trial_id = t.trial_id)
        and t.call_id not in (select call_id from call_out where study_id = $study)
    order by t.ordinal limit $limit
),
"""
_NEXT_CHAINS = """
chained as (
    select t.administration_id, t.call_id, count(*) as n, max(t.ordinal) as ordinal,
        bool_or(r.trial_id is null) as waits
    from trial t join administration a using (administration_id)
        left join response r on r.trial_id = t.trial_id
    where t.study_id = $study and a.history = 'own'
        and a.respondent_id in (select unnest($people::bigint[]))
    group by 1, 2
),
waiting as (
    select administration_id, sum(n) as n, min(ordinal) as place from chained
    group by 1 having bool_or(waits) and min(ordinal) > $after
        and not bool_or(call_id in (select call_id from call_out where study_id = $study))
),
chosen as (
    select administration_id from waiting
    qualify coalesce(sum(n) over (order by place rows between unbounded preceding
        and 1 preceding), 0) < $limit
),
page as (select call_id from chained semi join chosen using (administration_id)),
"""
_NAMED_CALLS = """
page as (select unnest($calls::bigint[]) as call_id),
"""
_PLANNED = """
tried as (
    select call_id, max(number) as tries, count(*) filter (where outcome = 'reply') as replies
    from (
        select call_id, number, outcome from attempt where study_id = $study
        union all
        select call_id, number, null from sending where study_id = $study
        union all
        select call_id, number, null from batch_call where study_id = $study
    )
    where call_id in (select call_id from page) group by 1
)
select t.call_id, t.ordinal, t.trial_id, i.code,
    not exists (select 1 from response r where r.trial_id = t.trial_id),
    a.administration_id, a.respondent_id, a.language, a.context, a.entity, a.entity_b, a.form,
    a.format, a.template, a.label_order, a.phase, a.items_per_call, a.history, a.repetition,
    c.option_order, c.opinion,
    coalesce(m.tries, 0), coalesce(m.replies, 0)
from trial t join administration a using (administration_id) join item i using (item_id)
    left join call_shown c on c.call_id = t.call_id
    left join tried m on m.call_id = t.call_id
where t.study_id = $study and t.call_id in (select call_id from page)
order by t.ordinal
"""
_LAST_REPLIES = """
select a.call_id, arg_max(x.reply, a.number)
from attempt a join attempt_text x using (attempt_id)
where a.study_id = ? and a.outcome = 'reply' and a.call_id in (select unnest(?::bigint[]))
group by 1
"""
_KNOWN_ATTEMPTS = """
select distinct attempt_id from attempt
where study_id in (select unnest(?::bigint[])) and attempt_id in (select unnest(?::bigint[]))
"""
_KNOWN_RESPONSES = """
select distinct trial_id from response
where study_id in (select unnest(?::bigint[])) and trial_id in (select unnest(?::bigint[]))
"""
_PROGRESS = """
select
    (select count(*) from trial where study_id = ?),
    (select count(*) from response where study_id = ?)
"""
_STATUSES = """
with failed as ({failed})
select * from (
    select status, count(*) from response where study_id = $study group by 1 order by 2 desc, 1
)
union all select null, * from failed
"""
_FAILED = """
select count(*) from trial t
    semi join (select call_id from attempt where study_id = $study and outcome <> 'reply')
        using (call_id)
    anti join response using (trial_id)
where t.study_id = $study
"""
_ATTEMPTS = """
select outcome, message, count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0),
    coalesce(sum(cost), 0), count(*) filter (where cost is null), bool_or(cost_estimated),
    sum(tokens_cached), count(*) filter (where number > 1)
from attempt left join attempt_cache using (attempt_id)
where study_id = ? group by outcome, message order by 3 desc
"""
_COLLECTED = """
with calls as (
    select t.call_id, any_value(a.respondent_id) as respondent_id
    from trial t join administration a using (administration_id)
    where t.study_id = $study group by 1
)
select p.label, m.model, min(m.sent_at), max(m.sent_at), count(*)
from attempt m join calls using (call_id) join respondent p using (respondent_id)
where m.study_id = $study and m.outcome = 'reply'
group by 1, 2 order by 3, 1, 2
"""
_PARSERS = """
select distinct parser from response where study_id = ? and parser is not null order by 1
"""
_RATE = """
select count(*), min(sent_at), max(sent_at) from attempt
where study_id = ? and outcome = 'reply' and sent_at > now() - interval 60 second
"""


class PlannedItem(NamedTuple):
    """An item of a call; `waiting` says that it has no response yet."""

    trial_id: int
    item: str
    waiting: bool


@dataclass(frozen=True)
class PlannedCall:
    """A call to make, or one of a chain that is made. `items` holds all of its trials, in order.

    `option_order` are the codes as shown where the order was drawn. `tries` is the number of the
    last attempt, `replies` the number of attempts with a reply on file.
    """

    call_id: int
    items: tuple[PlannedItem, ...]
    last_ordinal: int
    administration_id: int
    respondent_id: int
    language: str
    context: str
    entity: str
    entity_b: str
    form: str
    format: str
    template: str
    label_order: str
    phase: str
    items_per_call: str
    history: str
    repetition: int
    option_order: tuple[str, ...] | None
    opinion: str
    tries: int
    replies: int

    @property
    def waits(self) -> bool:
        """Whether a trial of the call has no response yet."""
        return any(planned.waiting for planned in self.items)


class Coding(NamedTuple):
    """The coding of one trial in a reply. `chance` is the option's probability, where recorded.

    `layer`, `certainty` and `hedged` say how it was read; see core.domain.study.
    """

    trial_id: int
    status: str
    option: str | None
    parser: int
    tries: int  # replies it took
    chance: float | None = None
    layer: str | None = None
    certainty: str | None = None
    hedged: bool | None = None


@dataclass(frozen=True)
class AttemptRow:
    """One attempt at a call, with the codings of its trials once they are final.

    `messages` are needed where `prompt_id` is None; else the prompt is on file. `latency_s` is None
    where the service does not say how long one call took.
    """

    study_id: int
    call_id: int
    number: int
    messages: Sequence[Any]
    request_hash: int
    sent_at: datetime
    latency_s: float | None
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
    codings: tuple[Coding, ...] = ()
    first_token: tuple[tuple[str, float], ...] = ()  # token, natural log probability
    reasoning: str = ""
    tool_calls: str = ""
    refusal: str = ""
    body: str = ""
    tokens_reasoning: int | None = None
    tokens_cached: int | None = None
    prompt_id: int | None = None

    @cached_property
    def attempt_id(self) -> int:
        """Key of the attempt: the n-th one at its call."""
        return stable_id("attempt", self.call_id, self.number)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a response other than the text of the reply, in the order of `_PARTS`."""
        return tuple(getattr(self, name) for name in _PARTS)


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
    tokens_cached: int | None = None  # part of `tokens_in`; None: no service says
    repeated: int = 0  # calls that were made before


def remaining_calls(
    database: Database, study_id: int, respondent_ids: Sequence[int], *, after: int, limit: int
) -> list[PlannedCall]:
    """The next calls that have a trial without a response, but for those of a chain or a batch.

    `limit` counts such trials; `after` is the `last_ordinal` of the call before.
    """
    return _planned_calls(database, _NEXT_CALLS, study_id, respondent_ids, after, limit)


def remaining_chains(
    database: Database, study_id: int, respondent_ids: Sequence[int], *, after: int, limit: int
) -> list[list[PlannedCall]]:
    """The next administrations with history that have a trial without a response.

    Each is all of its calls, answered ones too, in the order of asking. The page ends with the
    administration in which the number of trials reaches `limit`; `after` is the `last_ordinal` of
    the first call of the administration before.
    """
    chains: dict[int, list[PlannedCall]] = {}
    for call in _planned_calls(database, _NEXT_CHAINS, study_id, respondent_ids, after, limit):
        chains.setdefault(call.administration_id, []).append(call)
    return list(chains.values())


def last_replies(database: Database, study_id: int, call_ids: Sequence[int]) -> dict[int, str]:
    """The words of the last reply to each of these calls that has one, by call id."""
    return dict(database.rows(_LAST_REPLIES, [study_id, list(call_ids)]))


def _planned_calls(
    database: Database,
    page: str,
    study_id: int,
    respondent_ids: Sequence[int],
    after: int,
    limit: int,
) -> list[PlannedCall]:
    """The calls of a page, each with all of its trials, in the order of asking."""
    rows = database.rows(
        f"with {page} {_PLANNED}",
        {"study": study_id, "after": after, "people": list(respondent_ids), "limit": limit},
    )
    return [_call(list(group)) for _, group in groupby(rows, key=itemgetter(0))]


def named_calls(
    database: Database, study_id: int, call_ids: Sequence[int]
) -> dict[int, PlannedCall]:
    """Those of the calls that the study has, by their ids."""
    rows = database.rows(
        f"with {_NAMED_CALLS} {_PLANNED}", {"study": study_id, "calls": list(call_ids)}
    )
    return {key: _call(list(group)) for key, group in groupby(rows, key=itemgetter(0))}


def save_attempts(database: Database, attempts: Iterable[AttemptRow]) -> None:
    """Save attempts, their texts and codings; all of the batch or nothing.

    A row that is on file already (of a batch committed but not acknowledged) stays as it is.
    """
    with database.adding_answers(), database.transaction() as cursor:
        batch = _not_on_file(cursor, list(attempts))
        if not batch:
            return
        prompts = {r.call_id: prompt_of(r.messages) for r in batch if r.prompt_id is None}
        prompt_ids = [prompts[r.call_id][0] if r.prompt_id is None else r.prompt_id for r in batch]
        if prompts:
            insert(cursor, "prompt", prompt_table(prompts.values()), key="prompt_id")
        insert(cursor, "attempt", _attempt_table(batch, prompt_ids))
        if replied := [row for row in batch if row.reply is not None]:
            insert(cursor, "attempt_text", _text_table(replied))
        if with_first_token := [row for row in batch if row.first_token]:
            insert(cursor, "attempt_token", _token_table(with_first_token))
        if with_parts := [row for row in batch if any(row.parts)]:
            insert(cursor, "attempt_part", _part_table(with_parts))
        if with_reasoning := [row for row in batch if row.tokens_reasoning is not None]:
            table = _usage_table(with_reasoning, "tokens_reasoning")
            insert(cursor, "attempt_usage", table)
        if with_cached := [row for row in batch if row.tokens_cached is not None]:
            insert(cursor, "attempt_cache", _usage_table(with_cached, "tokens_cached"))
        if any(row.codings for row in batch):
            insert(cursor, "response", _new_responses(cursor, batch))


def _not_on_file(
    cursor: duckdb.DuckDBPyConnection, attempts: Sequence[AttemptRow]
) -> list[AttemptRow]:
    """The attempts that are not on file, each once."""
    by_id = {row.attempt_id: row for row in reversed(attempts)}
    study_ids = sorted({row.study_id for row in attempts})
    known = cursor.execute(_KNOWN_ATTEMPTS, [study_ids, list(by_id)]).fetchall()
    for (attempt_id,) in known:
        del by_id[attempt_id]
    return [*reversed(by_id.values())]


def _new_responses(cursor: duckdb.DuckDBPyConnection, batch: list[AttemptRow]) -> pa.Table:
    """The responses of a batch to trials that have none on file, one to a trial."""
    table = _response_table(batch)
    trials = table["trial_id"].to_pylist()
    study_ids = sorted({row.study_id for row in batch})
    seen = {key for (key,) in cursor.execute(_KNOWN_RESPONSES, [study_ids, trials]).fetchall()}
    rows = []
    for row, trial in enumerate(trials):
        if trial not in seen:
            rows.append(row)
            seen.add(trial)
    return table.take(rows)


def progress(database: Database, study_id: int) -> tuple[int, int]:
    """Planned trials and trials with a response."""
    row = database.row(_PROGRESS, [study_id, study_id])
    return row or (0, 0)


def status_counts(database: Database, study_id: int) -> tuple[dict[str, int], int]:
    """Trials with a response by their status, the most frequent first; and failed ones so far.

    One statement reads both, so that the counts belong together while answers come in.
    """
    rows = database.rows(_STATUSES.format(failed=_FAILED), {"study": study_id})
    statuses = {status: n for status, n in rows if status is not None}
    return statuses, next(int(n) for status, n in rows if status is None)


def count_failed(database: Database, study_id: int) -> int:
    """Number of trials without a response whose calls all failed so far."""
    row = database.row(_FAILED, {"study": study_id})
    return int(row[0]) if row else 0


def attempt_summaries(database: Database, study_id: int) -> tuple[AttemptSummary, ...]:
    """Attempts by outcome, with tokens and cost; most frequent first."""
    return tuple(AttemptSummary(*row) for row in database.rows(_ATTEMPTS, [study_id]))


@dataclass(frozen=True)
class CollectedReplies:
    """The replies of one respondent that name the same model; None where times are not known."""

    respondent: str
    model: str  # as the service named it; empty: it did not
    first: datetime | None
    last: datetime | None
    count: int


def collected_replies(database: Database, study_id: int) -> tuple[CollectedReplies, ...]:
    """The replies of a study by respondent and model as reported, the earliest first."""
    rows = database.rows(_COLLECTED, {"study": study_id})
    return tuple(CollectedReplies(*row) for row in rows)


def parser_versions(database: Database, study_id: int) -> tuple[int, ...]:
    """The versions of the rules that read the replies of a study; none of imported answers."""
    return tuple(row[0] for row in database.rows(_PARSERS, [study_id]))


def recent_rate(database: Database, study_id: int) -> float | None:
    """Replies a second over the last minute; None where there were fewer than two."""
    count, first, last = database.row(_RATE, [study_id]) or (0, None, None)
    if count < 2 or first is None or last <= first:
        return None
    return float((count - 1) / (last - first).total_seconds())


def _storable_json(text: str) -> str:
    """A text of JSON as it is kept: lone surrogates stand as escapes, which JSON reads back."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _call(rows: list[tuple[Any, ...]]) -> PlannedCall:
    """One call from its rows, one for each trial in the order of asking."""
    (
        call_id,
        _,
        _,
        _,
        _,
        administration_id,
        respondent_id,
        language,
        context,
        entity,
        entity_b,
        form,
        response_format,
        template,
        label_order,
        phase,
        items_per_call,
        history,
        repetition,
        option_order,
        opinion,
        tries,
        replies,
    ) = rows[0]
    return PlannedCall(
        call_id=call_id,
        items=tuple(PlannedItem(row[2], row[3], row[4]) for row in rows),
        last_ordinal=rows[-1][1],
        administration_id=administration_id,
        respondent_id=respondent_id,
        language=language,
        context=context,
        entity=entity,
        entity_b=entity_b,
        form=form,
        format=response_format,
        template=template,
        label_order=label_order,
        phase=phase,
        items_per_call=items_per_call,
        history=history,
        repetition=repetition,
        option_order=tuple(option_order.split(OPTION_MARK)) if option_order else None,
        opinion=opinion or "",
        tries=tries,
        replies=replies,
    )


class CallUsage(NamedTuple):
    """Sums over the calls of a study to a model in one format, each with the same number of items.

    `bytes_in` are those of the prompts as they are kept.
    """

    study_id: int
    model: str
    format: str
    calls: int
    items: int
    bytes_in: int
    tokens_in: int
    tokens_out: int


_USAGE = """
with calls as (
    select call_id, any_value(administration_id) as administration_id, count(*) as items
    from trial where study_id in (
        select distinct study_id from administration join respondent using (respondent_id)
        where kind <> 'imported' and model in (select unnest(?::varchar[]))
    ) group by 1
)
select m.study_id, r.model, a.format, count(*), sum(c.items),
    sum(strlen(q.messages)), sum(m.tokens_in), sum(m.tokens_out)
from attempt m join calls c using (call_id) join administration a using (administration_id)
    join respondent r using (respondent_id) join prompt q using (prompt_id)
where m.outcome = 'reply' and m.tokens_in is not null and m.tokens_out is not null
    and r.model in (select unnest(?::varchar[]))
group by 1, 2, 3, c.items order by 1, 2, 3, c.items
"""
_REMAINING_KINDS = """
with waiting as (
    select t.call_id, any_value(t.administration_id) as administration_id, count(*) as items
    from trial t left join response r using (trial_id)
    where t.study_id = $study
        and t.call_id not in (select call_id from call_out where study_id = $study)
    group by 1 having bool_or(r.trial_id is null)
)
select count(*), count(*) / count(distinct administration_id),
    list_sort(list_distinct([min(call_id), quantile_disc(call_id, .5), max(call_id)]))
from waiting join administration a using (administration_id)
group by a.respondent_id, a.format, a.template, a.language, a.items_per_call, a.history, items
order by 3
"""


def token_usage(database: Database, models: Sequence[str]) -> list[CallUsage]:
    """What the replies of some models on file took, where the service reported it."""
    rows = database.rows(_USAGE, [list(models), list(models)])
    return [CallUsage(*row[:3], *map(int, row[3:])) for row in rows]


def remaining_kinds(database: Database, study_id: int) -> list[tuple[int, float, list[int]]]:
    """The calls of a study that wait for a reply, by kind.

    Their number, how many of them an administration has, and some of them: the same ones each
    time, so that a cost said twice is one number.
    """
    rows = database.rows(_REMAINING_KINDS, {"study": study_id})
    return [(int(count), float(of_one), calls) for count, of_one, calls in rows]


def prompt_of(messages: Sequence[Any]) -> tuple[int, str]:
    """The key and the stored text of a prompt."""
    text = _storable_json(json.dumps([dict(m) for m in messages], ensure_ascii=False))
    return stable_id("prompt", text), text


def prompt_table(prompts: Iterable[tuple[int, str]]) -> pa.Table:
    """Rows of the table of prompts, each prompt once."""
    distinct = dict(prompts)
    return pa.table(
        {
            "prompt_id": pa.array(list(distinct), pa.int64()),
            "messages": pa.array(list(distinct.values()), pa.string()),
        }
    )


_ATTEMPT_FIELDS: tuple[tuple[str, pa.DataType], ...] = (
    ("study_id", pa.int64()),
    ("call_id", pa.int64()),
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


def _attempt_table(batch: list[AttemptRow], prompt_ids: list[int]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "attempt_id": pa.array([r.attempt_id for r in batch], pa.int64()),
        "prompt_id": pa.array(prompt_ids, pa.int64()),
    }
    for name, kind in _ATTEMPT_FIELDS:
        values = [getattr(row, name) for row in batch]
        if name in _TEXT_FIELDS:
            values = [readable(value) for value in values]
        columns[name] = pa.array(values, kind)
    return pa.table(columns)


def _text_table(attempts: list[AttemptRow]) -> pa.Table:
    ids = [row.attempt_id for row in attempts]
    texts = [readable(row.reply or "") for row in attempts]
    return pa.table(
        {"attempt_id": pa.array(ids, pa.int64()), "reply": pa.array(texts, pa.string())}
    )


def _token_table(attempts: list[AttemptRow]) -> pa.Table:
    ids = [row.attempt_id for row in attempts]
    bodies = [_storable_json(json.dumps(row.first_token, ensure_ascii=False)) for row in attempts]
    return pa.table(
        {"attempt_id": pa.array(ids, pa.int64()), "body": pa.array(bodies, pa.string())}
    )


def _part_table(attempts: list[AttemptRow]) -> pa.Table:
    ids = pa.array([row.attempt_id for row in attempts], pa.int64())
    columns = zip(_PARTS, zip(*(row.parts for row in attempts), strict=True), strict=True)
    texts = {
        name: pa.array([readable(text) if text else None for text in values], pa.string())
        for name, values in columns
    }
    return pa.table({"attempt_id": ids, **texts})


def _usage_table(attempts: list[AttemptRow], name: str) -> pa.Table:
    ids = [row.attempt_id for row in attempts]
    tokens = pa.array([getattr(row, name) for row in attempts], pa.int32())
    return pa.table({"attempt_id": pa.array(ids, pa.int64()), name: tokens})


def _response_table(batch: list[AttemptRow]) -> pa.Table:
    codings = [(row, coding) for row in batch for coding in row.codings]
    attempt_ids = [row.attempt_id for row, _ in codings]
    study_ids = [row.study_id for row, _ in codings]
    return pa.table(
        {
            "trial_id": pa.array([coding.trial_id for _, coding in codings], pa.int64()),
            "study_id": pa.array(study_ids, pa.int64()),
            "attempt_id": pa.array(attempt_ids, pa.int64()),
            "status": pa.array([coding.status for _, coding in codings], pa.string()),
            "option": pa.array([coding.option for _, coding in codings], pa.string()),
            "parser": pa.array([coding.parser for _, coding in codings], pa.int32()),
            "chance": pa.array([coding.chance for _, coding in codings], pa.float64()),
            "tries": pa.array([coding.tries for _, coding in codings], pa.int32()),
            "layer": pa.array([coding.layer for _, coding in codings], pa.string()),
            "certainty": pa.array([coding.certainty for _, coding in codings], pa.string()),
            "hedged": pa.array([coding.hedged for _, coding in codings], pa.bool_()),
        }
    )
