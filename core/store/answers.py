"""Reading answers back: counts, pages of rows, one answer in full, and the tidy export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd
import pyarrow as pa

from core.store.database import Database

_JOINS = {
    "a": " join administration a using (administration_id)",
    "p": " join respondent p using (respondent_id)",
    "i": " join item i using (item_id)",
    "r": " left join response r using (trial_id)",
    "f": (
        " left join (select distinct trial_id, 'error' as status from attempt"
        " where outcome <> 'reply') f using (trial_id)"
    ),
}
_FILTERS = {  # what a filter compares, and the tables that takes
    "status": ("coalesce(r.status, f.status, 'not_asked')", "rf"),
    "respondent": ("p.label", "ap"),
    "model": ("p.model", "ap"),
    "language": ("a.language", "a"),
    "context": ("a.context", "a"),
    "entity": ("a.entity", "a"),
    "entity_b": ("a.entity_b", "a"),
    "form": ("a.form", "a"),
    "format": ("a.format", "a"),
    "template": ("a.template", "a"),
    "label_order": ("a.label_order", "a"),
    "phase": ("a.phase", "a"),
    "repetition": ("a.repetition", "a"),
    "item": ("i.code", "i"),
    "option": ("r.option", "r"),
}
_SEARCH = """
t.trial_id in (select trial_id from attempt where study_id = ? and (
    attempt_id in (select attempt_id from attempt_text where contains(lower(reply), lower(?)))
    or prompt_id in (select prompt_id from prompt where contains(lower(messages), lower(?)))))
"""
_HITS = """
with hit as materialized (select t.trial_id, t.ordinal from trial t$joins where $where)
select (select count(*) from hit),
    (select list(trial_id order by ordinal)
     from (select trial_id, ordinal from hit order by ordinal limit ? offset ?))
"""
# Without filters the ordinals, 1 .. n without gaps, say where a page lies; nothing need be sorted.
_ALL = """
select (select count(*) from trial where study_id = ?),
    (select list(trial_id order by ordinal) from trial
     where study_id = ? and ordinal > ? and ordinal <= ?)
"""
# Looking the keys up first leaves little to join; joined as a whole, every table is gone through.
_PAGE = """
with asked as (select * from trial where trial_id in (select unnest(?::bigint[]))),
    given as (select * from response where trial_id in (select unnest(?::bigint[]))),
    failed as (
        select distinct trial_id, 'error' as status from attempt
        where outcome <> 'reply' and trial_id in (select unnest(?::bigint[]))
    )
select t.trial_id, t.ordinal, p.label as respondent, p.model, i.code as item, a.language,
    a.context, a.entity, a.entity_b, a.form, a.format, a.template, a.label_order, a.phase,
    a.repetition, coalesce(r.status, f.status, 'not_asked') as status, r.option,
    coalesce(r.attempt_id, -1) as attempt_id
from asked t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    left join given r using (trial_id) left join failed f using (trial_id)
order by t.ordinal
"""
_REPLIES = (
    "select attempt_id, reply from attempt_text where attempt_id in (select unnest(?::bigint[]))"
)
_COUNTS = """
with n as (
    select a.respondent_id, coalesce(r.status, f.status) as status, count(*) as count
    from trial t join administration a using (administration_id)
        left join response r using (trial_id)
        left join (select distinct trial_id, 'error' as status from attempt
                   where study_id = ? and outcome <> 'reply') f using (trial_id)
    where t.study_id = ? group by all
)
select p.label as respondent, coalesce(n.status, 'not_asked') as status,
    cast(sum(n.count) as bigint) as count
from n join respondent p using (respondent_id) group by 1, 2 order by 1, 2
"""
_LEVEL_COLUMNS = (
    "language", "context", "entity", "entity_b", "form", "format", "template", "label_order",
    "phase", "repetition",
)  # fmt: skip
_LEVELS = """
select list(distinct language), list(distinct context), list(distinct entity),
    list(distinct entity_b), list(distinct form), list(distinct format), list(distinct template),
    list(distinct label_order), list(distinct phase), list(distinct repetition)
from administration where study_id = ?
"""
_PEOPLE = """
select p.label, p.model from respondent p
where p.respondent_id in (select respondent_id from administration where study_id = ?)
"""
_ITEMS = """
select i.code from item i join study s using (instrument_id)
where s.study_id = ? order by i.position
"""
_DETAIL = """
select t.trial_id, p.label, i.code, a.language, a.context, a.entity, a.form, a.format,
    a.repetition,
    coalesce(r.status, (select 'error' from attempt m
                        where m.trial_id = t.trial_id and m.outcome <> 'reply' limit 1),
             'not_asked'),
    r.option, r.parser, i.item_id, a.entity_b, a.phase, t.ordinal,
    (select code from study s where s.study_id = t.study_id)
from trial t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    left join response r using (trial_id)
where t.trial_id = ?
"""
_TRIES = """
select m.number, m.sent_at, m.latency_s, m.outcome, m.http_status, m.message, m.finish_reason,
    m.model, m.tokens_in, m.tokens_out, m.cost, x.reply, q.messages
from attempt m left join attempt_text x using (attempt_id) left join prompt q using (prompt_id)
where m.trial_id = ? order by m.number
"""
_WORDING = "select text from wording where item_id = ? and language = ? and form = ?"
_TIDY = """
select s.code as study, n.code as instrument, i.code as item, p.label as model, a.language,
    a.entity, a.entity_b, a.context, a.form, a.format, a.template, a.label_order, a.phase,
    a.repetition, coalesce(t.call, '') as call, t.position, coalesce(r.option, '') as answer,
    coalesce(x.reply, '') as raw, r.status,
    coalesce(r.score, case when i.keyed = 1 then o.points else b.low + b.high - o.points end)
        as score,
    m.latency_s, m.tokens_in, m.tokens_out, m.cost,
    case when m.sent_at is null then ''
        else strftime(m.sent_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') end as time,
    coalesce(t.tags, '') as tags
from trial t join study s using (study_id) join instrument n using (instrument_id)
    join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    join (
        select trial_id, status, option, score, attempt_id from response where study_id = ?
        union all
        select trial_id, 'error', null, null, max_by(attempt_id, number) from attempt
        where study_id = ? and trial_id not in (select trial_id from response where study_id = ?)
        group by trial_id
    ) r using (trial_id)
    left join answer_option o on o.instrument_id = s.instrument_id and o.format = a.format
        and o.code = r.option
    left join (select instrument_id, format, min(points) as low, max(points) as high
               from answer_option group by 1, 2) b
        on b.instrument_id = s.instrument_id and b.format = a.format
    left join attempt m on m.attempt_id = r.attempt_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = ? order by t.ordinal
"""

Filters = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Try:
    """One attempt as sent and as answered."""

    messages: tuple[Mapping[str, str], ...]
    number: int
    sent_at: datetime | None
    latency_s: float | None
    outcome: str
    http_status: int | None
    message: str
    finish_reason: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    reply: str | None


@dataclass(frozen=True)
class AnswerDetail:
    """One trial in full."""

    trial_id: int
    respondent: str
    item: str
    text: str
    language: str
    context: str
    entity: str
    form: str
    format: str
    repetition: int
    status: str
    option: str | None
    parser: int | None
    tries: tuple[Try, ...]
    entity_b: str = ""
    phase: str = ""
    ordinal: int = 0
    study: str = ""


def counts(database: Database, study_id: int) -> pd.DataFrame:
    """Number of trials by respondent and status.

    A trial whose calls all failed so far counts as `error`, as in the tidy format.
    """
    return database.frame(_COUNTS, [study_id, study_id])


def levels(database: Database, study_id: int) -> dict[str, list[Any]]:
    """What each factor of a study takes, for filters; factors that do not vary are left out."""
    people = database.rows(_PEOPLE, [study_id])
    found: dict[str, list[Any]] = {
        "respondent": [label for label, _ in people],
        "model": [model for _, model in people],
    }
    lists = database.row(_LEVELS, [study_id]) or ()
    found |= {name: values or [] for name, values in zip(_LEVEL_COLUMNS, lists, strict=bool(lists))}
    varied = {name: sorted(set(values)) for name, values in found.items() if len(set(values)) > 1}
    return varied | {"item": [row[0] for row in database.rows(_ITEMS, [study_id])]}


def page(
    database: Database, study_id: int, filters: Filters, search: str, *, offset: int, limit: int
) -> tuple[pd.DataFrame, int]:
    """Some rows of the answers that pass the filters, in order of asking, and how many pass.

    `search` is looked for in the reply and in the prompt, without regard to case.
    """
    total, keys = _hits(database, study_id, filters, search, offset=offset, limit=limit)
    frame = database.frame(_PAGE, [keys] * 3)
    # -1 for none: a null could turn the column into floats, which are too short for these keys
    attempts = frame.pop("attempt_id").tolist()
    replies = dict(database.rows(_REPLIES, [attempts]))
    return frame.assign(reply=[replies.get(key, "") for key in attempts]), total


def detail(database: Database, trial_id: int) -> AnswerDetail | None:
    """One trial with its prompt as sent and every try."""
    row = database.row(_DETAIL, [trial_id])
    if row is None:
        return None
    (trial, respondent, item, language, context, entity, form, response_format, repetition,
     status, option, parser, item_id, entity_b, phase, ordinal,
     study) = row  # fmt: skip
    text = database.row(_WORDING, [item_id, language, form])
    tries = tuple(_try(values) for values in database.rows(_TRIES, [trial_id]))
    return AnswerDetail(
        trial, respondent, item, text[0] if text else "", language, context, entity, form,
        response_format, repetition, status, option, parser, tries, entity_b, phase, ordinal,
        study,
    )  # fmt: skip


def tidy(database: Database, study_id: int) -> pa.Table:
    """Every answer of a study in the tidy format, in the order of asking.

    Trials whose calls all failed stand with the status `error`; trials never asked are left out.
    """
    return database.arrow(_TIDY, [study_id] * 4)


def _try(values: tuple[Any, ...]) -> Try:
    *fields, messages = values
    return Try(tuple(json.loads(messages)) if messages else (), *fields)


def _hits(
    database: Database, study_id: int, filters: Filters, search: str, *, offset: int, limit: int
) -> tuple[int, list[int]]:
    """How many trials pass, and the keys of those on the page in order of asking."""
    if search or any(filters.values()):
        joins, where, parameters = _conditions(study_id, filters, search)
        sql = _HITS.replace("$joins", joins).replace("$where", where)
        row = database.row(sql, [*parameters, limit, offset])
    else:
        row = database.row(_ALL, [study_id, study_id, offset, offset + limit])
    total, keys = row or (0, None)
    return int(total), list(keys or [])


def _conditions(study_id: int, filters: Filters, search: str) -> tuple[str, str, list[Any]]:
    """Joins and conditions made of our own constants; every value is a parameter."""
    clauses = ["t.study_id = ?"]
    parameters: list[Any] = [study_id]
    tables: set[str] = set()
    for name, values in filters.items():
        if values:
            expression, needed = _FILTERS[name]
            tables |= set(needed)
            clauses.append(f"{expression} in ({', '.join('?' * len(values))})")
            parameters.extend(values)
    if search:
        clauses.append(_SEARCH)
        as_stored = json.dumps(search, ensure_ascii=False)[1:-1]  # prompts are kept as JSON
        parameters.extend([study_id, search, as_stored])
    joins = "".join(join for table, join in _JOINS.items() if table in tables)
    return joins, " and ".join(clauses), parameters
