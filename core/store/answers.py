"""Answers as stored: counts, pages of rows, one answer in full, texts, and the tidy export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa

from core.domain.factors import Filters, is_of_context
from core.domain.study import CONTENT_FILTER, SETTINGS, Certainty, Layer, Status
from core.store import people
from core.store.collection import OPTION_MARK
from core.store.database import Database
from core.store.people import passes_sql
from core.store.respondents import SERVICE_SQL
from core.store.scoring import point_ranges_sql, score_sql

_HEDGED = "case when r.hedged then 'yes' when not r.hedged then 'no' end"
_JOINS = {
    "a": " join administration a using (administration_id)",
    "p": " join respondent p using (respondent_id)",
    "i": " join item i using (item_id)",
    "r": " left join response r using (trial_id)",
    "f": (
        " left join (select distinct call_id, 'error' as status from attempt"
        " where outcome <> 'reply') f on f.call_id = t.call_id"
    ),
}
DAY_SQL = """
coalesce(
    (select strftime(make_timestamp(epoch_us(m.sent_at)), '%Y-%m-%d')
        from response x join attempt m on m.attempt_id = x.attempt_id
        where x.trial_id = t.trial_id),
    (select strftime(make_timestamp(epoch_us(max(m.sent_at))), '%Y-%m-%d')
        from attempt m where m.call_id = t.call_id),
    '')
""".strip()
"""The day (see core/domain/factors.py) of the trial `t`; microseconds know no time zone."""
_FILTERS = {  # filter -> expression that it compares, and the tables of that expression
    "status": ("coalesce(r.status, f.status, 'not_asked')", "rf"),
    "respondent": ("p.name", "ap"),
    "model": ("p.model", "ap"),
    "service": (SERVICE_SQL, "ap"),
    "day": (DAY_SQL, "t"),
    "language": ("a.language", "a"),
    "context": ("a.context", "a"),
    "entity": ("a.entity", "a"),
    "entity_b": ("a.entity_b", "a"),
    "form": ("a.form", "a"),
    "format": ("a.format", "a"),
    "template": ("a.template", "a"),
    "label_order": ("a.label_order", "a"),
    "phase": ("a.phase", "a"),
    "items_per_call": ("a.items_per_call", "a"),
    "history": ("a.history", "a"),
    **{name: (f"a.{name}", "a") for name in SETTINGS},
    "repetition": ("a.repetition", "a"),
    "item": ("i.code", "i"),
    "option": ("r.option", "r"),
    "tries": ("r.tries", "r"),
    "certainty": ("r.certainty", "r"),
    "layer": ("r.layer", "r"),
    "hedged": (_HEDGED, "r"),
    "judge": ("r.judge", "r"),
}
_SEARCH = """
t.call_id in (select call_id from attempt where study_id = ? and (
    attempt_id in (select attempt_id from attempt_text where contains(lower(reply), lower(?)))
    or prompt_id in (select prompt_id from prompt where contains(lower(messages), lower(?)))))
"""
_MATCHING_PAGE = """
with hit as materialized (select t.trial_id, t.ordinal from trial t$joins where $where)
select (select count(*) from hit),
    (select list(trial_id order by ordinal)
     from (select trial_id, ordinal from hit order by ordinal limit ? offset ?))
"""
# Without filters the ordinals, 1 .. n without gaps, give the place of a page; no sorting is needed.
_ALL = """
select (select count(*) from trial where study_id = ?),
    (select list(trial_id order by ordinal) from trial
     where study_id = ? and ordinal > ? and ordinal <= ?)
"""
# With the keys first, little is left to join; a join of everything would scan every table.
_PAGE = f"""
with asked as (select * from trial where trial_id in (select unnest(?::bigint[]))),
    given as (select * from response where trial_id in (select unnest(?::bigint[]))),
    failed as (
        select distinct call_id, 'error' as status from attempt
        where outcome <> 'reply' and call_id in (select call_id from asked)
    )
select t.trial_id, t.ordinal, p.name as respondent, p.model, i.code as item, a.language,
    a.context, a.entity, a.entity_b, a.form, a.format, a.template, a.label_order, a.phase,
    a.items_per_call, a.history, a.temperature, a.top_p, a.max_tokens, a.repetition,
    coalesce(r.status, f.status, 'not_asked') as status, r.option,
    r.layer, r.certainty, {_HEDGED} as hedged, r.judge, {SERVICE_SQL} as service,
    {DAY_SQL} as day, coalesce(r.attempt_id, -1) as attempt_id
from asked t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    left join given r using (trial_id) left join failed f on f.call_id = t.call_id
order by t.ordinal
"""  # noqa: S608 - all parts are constants of the program; values are parameters
_REPLIES = (
    "select attempt_id, reply from attempt_text where attempt_id in (select unnest(?::bigint[]))"
)
_COUNTS = """
with failed as (
    select distinct call_id, 'error' as status from attempt
    where study_id = $study and outcome <> 'reply'
),
n as (
    select t.administration_id, coalesce(r.status, f.status, 'not_asked') as status,
        count(*) as count
    from trial t left join response r using (trial_id) left join failed f on f.call_id = t.call_id
    where t.study_id = $study group by all
)
select $columns, n.status, cast(sum(n.count) as bigint) as count
from n join administration a using (administration_id) join respondent p using (respondent_id)
group by all order by all
"""
_READINGS = f"""
select $columns, count(*) as answers,
    {", ".join(f"count(*) filter (r.certainty = '{name}') as {name}" for name in Certainty)},
    count(*) filter (r.layer = '{Layer.PERSON}') as person,
    count(*) filter (r.layer = '{Layer.JUDGE}') as judged,
    count(*) filter (r.layer is null) as unknown, count(*) filter (r.hedged) as hedged
from response r join trial t using (trial_id) join administration a using (administration_id)
    join respondent p using (respondent_id)
where r.study_id = $study and (r.option is not null or r.score is not null)
group by all order by all
"""  # noqa: S608
_LEVEL_COLUMNS = (
    "language",
    "context",
    "entity",
    "entity_b",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
    "repetition",
)
_LEVELS = """
select list(distinct language), list(distinct context), list(distinct entity),
    list(distinct entity_b), list(distinct form), list(distinct format), list(distinct template),
    list(distinct label_order), list(distinct phase), list(distinct items_per_call),
    list(distinct history), list(distinct temperature), list(distinct top_p),
    list(distinct max_tokens), list(distinct repetition)
from administration where study_id = ?
"""
_RESPONDENTS = f"""
select distinct p.name, p.model, {SERVICE_SQL} from respondent p
where p.respondent_id in (select respondent_id from administration where study_id = ?)
"""  # noqa: S608 - all parts are constants of the program
_DAYS = """
select coalesce(cast(cast(make_timestamp(day * 86400000000) as date) as varchar), '')
from (select distinct epoch_us(sent_at) // 86400000000 as day from attempt where study_id = ?)
"""
_ANY_WITHOUT_DAY = """
select exists(select 1 from trial t anti join attempt m on m.call_id = t.call_id
    where t.study_id = ?)
"""
_ITEMS = """
select i.code from item i join study s using (instrument_id)
where s.study_id = ? order by i.position
"""
_ASKED_ITEMS = """
select code from item where item_id in (select item_id from trial where study_id = ?)
order by position
"""
_EXPRESSIONS = {"study": "s.code"} | {name: sql for name, (sql, _) in _FILTERS.items()}
_CONDITIONS = """
select $columns from administration a join respondent p using (respondent_id)
    join study s using (study_id)
where s.code in (select unnest(?::varchar[]))
"""
_OF_RESPONSES = """
select list(distinct tries) filter (where tries is not null),
    list(distinct option) filter (where option is not null)
from response where study_id = ?
"""
_READING_LEVELS = f"""
select list(distinct certainty), list(distinct layer), list(distinct {_HEDGED}),
    list(distinct judge order by judge)
from response r where study_id = ?
"""  # noqa: S608
_STATUSES = """
select $status as status, count(*) as count from trial t$joins where $where group by all
""".replace("$status", _FILTERS["status"][0])
_SCORE = score_sql(
    keyed="i.keyed",
    form="a.form",
    exception="d.direction",
    given="r.score",
    points="o.points",
    low="b.low",
    high="b.high",
)
_TIDY = f"""
select s.code as study, n.code as instrument, i.code as item, p.name as model, a.language,
    a.entity, a.entity_b, a.context, a.form, a.format, a.template, a.label_order, a.phase,
    a.items_per_call, a.history, a.temperature, a.top_p, a.max_tokens, a.repetition,
    coalesce(t.call, case when t.position is null then '' else cast(t.call_id as varchar) end)
        as call,
    t.position, coalesce(r.option, '') as answer,
    coalesce(x.reply, '') as raw, r.status,
    coalesce(r.layer, '') as layer, coalesce(r.certainty, '') as certainty,
    coalesce({_HEDGED}, '') as hedged, coalesce(r.judge, '') as judge,
    {_SCORE} as score,
    case when lone then m.latency_s end as latency_s,
    case when lone then m.tokens_in end as tokens_in,
    case when lone then m.tokens_out end as tokens_out,
    case when lone then m.cost end as cost,
    case when m.sent_at is null then ''
        else strftime(m.sent_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') end as time,
    coalesce(t.tags, case when m.prompt_id is not null then
        '{{' || concat_ws(', ',
            '"chance": "' || r.chance || '"',
            case when m.finish_reason = 'content_filter' and r.status = 'refused'
                then '"refused_by": "provider''s content filter"' end,
            '"try": "' || m.number || '"',
            '"prompt": "' || m.prompt_id || '"') || '}}' end, '') as tags
from (select *, call is not null or coalesce(position, 1) = 1 as lone from trial) t
    join study s using (study_id) join instrument n using (instrument_id)
    join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    join (
        select trial_id, status, option, score, attempt_id, chance, layer, certainty, hedged,
            judge
        from response where study_id = ?
        union all
        select u.trial_id, 'error', null, null, max_by(n.attempt_id, n.number), null, null, null,
            null, null
        from attempt n join trial u on u.call_id = n.call_id
        where n.study_id = ? and n.outcome <> 'reply'
            and u.trial_id not in (select trial_id from response where study_id = ?)
        group by u.trial_id
    ) r using (trial_id)
    left join answer_option o on o.instrument_id = s.instrument_id and o.format = a.format
        and o.code = r.option
    left join ({point_ranges_sql()}) b
        on b.range_instrument = s.instrument_id and b.range_format = a.format
    left join item_direction d on d.item_id = i.item_id and d.form = a.form
    left join attempt m on m.attempt_id = r.attempt_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = ? order by t.ordinal
"""  # noqa: S608


def counts(database: Database, study_id: int, by: Sequence[str]) -> pd.DataFrame:
    """Number of trials by some factors and status.

    A trial whose calls all failed so far counts as `error`, as in the tidy format.
    """
    columns = ", ".join(f"{_FILTERS[name][0]} as {name}" for name in by)
    # the columns are constants of this module; values are parameters
    return database.frame(_COUNTS.replace("$columns", columns), {"study": study_id})


def levels(database: Database, study_id: int) -> dict[str, list[Any]]:
    """The values of each factor of a study, those of factors with one value as well.

    Besides the factors, and what is known of contexts, services and days: `item`, all of the
    bank in its order; `option`, the options that were chosen; and `tries`, the numbers of replies
    that answers took.
    """
    respondents = database.rows(_RESPONDENTS, [study_id])
    factors: dict[str, list[Any]] = {
        name: [row[place] for row in respondents]
        for place, name in enumerate(("respondent", "model", "service"))
    }
    days = [day for (day,) in database.rows(_DAYS, [study_id])]
    if len(days) > 1 and database.rows(_ANY_WITHOUT_DAY, [study_id]) == [(True,)]:
        days.append("")  # what is not asked yet; of a single day it would make two levels
    factors |= {"day": days}
    factors |= people.levels_of_contexts(database, study_id)
    lists = database.row(_LEVELS, [study_id]) or ()
    factors |= {
        name: values or [] for name, values in zip(_LEVEL_COLUMNS, lists, strict=bool(lists))
    }
    tries, options = database.row(_OF_RESPONSES, [study_id]) or ([], [])
    factors |= {"tries": tries or [], "option": options or []}
    sorted_levels = {name: sorted(set(values)) for name, values in factors.items()}
    return sorted_levels | {"item": [row[0] for row in database.rows(_ITEMS, [study_id])]}


def asked_items(database: Database, study_id: int) -> tuple[str, ...]:
    """The codes of the items that a study asks, in the order of the bank."""
    return tuple(code for (code,) in database.rows(_ASKED_ITEMS, [study_id]))


def reading_counts(database: Database, study_id: int, by: Sequence[str]) -> pd.DataFrame:
    """Number of answers by some factors, and of those how many were read how.

    Answers have an option or an imported score. `certain`, `likely` and `guess` are classes of
    certainty; `person` and `judged` say who coded the reply; of `unknown` it is not known how they
    were read; `hedged` ones come with a disclaimer. A person's coding has no certainty.
    """
    columns = ", ".join(f"{_FILTERS[name][0]} as {name}" for name in by)
    return database.frame(_READINGS.replace("$columns", columns), {"study": study_id})


def reading_levels(database: Database, study_id: int) -> dict[str, list[str]]:
    """How the responses of a study were read: the values of each filter, in their usual order."""
    names = ("certainty", "layer", "hedged", "judge")
    row: Sequence[Any] = database.row(_READING_LEVELS, [study_id]) or ([],) * len(names)
    found = {
        name: [value for value in values or () if value is not None]
        for name, values in zip(names, row, strict=True)
    }
    usual = {"certainty": tuple(Certainty), "layer": tuple(Layer), "hedged": ("yes", "no")}
    return {
        name: [str(value) for value in usual.get(name, values) if value in values]
        for name, values in found.items()
    }


def statuses(database: Database, study_id: int, filters: Filters, search: str) -> dict[str, int]:
    """How many of the trials that pass the filters have which status."""
    joins, where, parameters = _conditions(study_id, filters, search, always="rf")
    sql = _STATUSES.replace("$joins", joins).replace("$where", where)
    return {str(status): int(count) for status, count in database.rows(sql, parameters)}


def conditions(
    database: Database, studies: Sequence[str], names: Sequence[str], filters: Filters
) -> pd.DataFrame:
    """The combinations of these factors, or of study, that some studies asked within the filters.

    Only filters by factors, days and facts about people count.
    """
    columns = ", ".join(f"{_EXPRESSIONS[name]} as {name}" for name in names)
    return database.frame(*_of_conditions(f"distinct {columns}", studies, filters))


def n_levels(
    database: Database,
    studies: Sequence[str],
    names: Sequence[str],
    filters: Filters,
    per: Sequence[str] = (),
    *,
    empty: bool = True,
) -> pd.DataFrame:
    """How many levels each of these factors has within each combination of the factors `per`.

    `filters` are as in `conditions`. The empty level counts unless `empty` is false.
    """
    counted = "count(distinct {0})" if empty else "count(distinct nullif(({0})::varchar, ''))"
    columns = [f"{_EXPRESSIONS[name]} as {name}" for name in per]
    columns += [f"{counted.format(_EXPRESSIONS[name])} as n_{name}" for name in names]
    sql, parameters = _of_conditions(", ".join(columns), studies, filters)
    return database.frame(f"{sql} group by all" if per else sql, parameters)


def _of_conditions(columns: str, studies: Sequence[str], filters: Filters) -> tuple[str, list[Any]]:
    """A query of the administrations that some studies asked within the filters."""
    sql = _CONDITIONS.replace("$columns", columns)
    parameters: list[Any] = [list(studies)]
    for name, values in filters.items():
        if is_of_context(name) and values:
            sql += f" and {passes_sql(name, values, partial(_placeholder, parameters))}"
        expression, tables = _FILTERS.get(name, ("", "-"))
        if values and (set(tables) <= {"a", "p"} or name == "day"):
            passes = f"{expression} in ({', '.join('?' * len(values))})"
            if name == "day":  # which an administration has through its trials
                of_trials = f"select t.administration_id from trial t where {passes}"  # noqa: S608
                passes = f"a.administration_id in ({of_trials})"
            sql += f" and {passes}"
            parameters.extend(values)
    return sql, parameters


def page(
    database: Database, study_id: int, filters: Filters, search: str, *, offset: int, limit: int
) -> tuple[pd.DataFrame, int]:
    """One page of the answers that pass the filters, in order of asking, and the number of all.

    `search` matches text of the reply and of the prompt, in upper or lower case.
    """
    total, keys = _matching_trials(database, study_id, filters, search, offset=offset, limit=limit)
    return trial_rows(database, keys), total


def trial_rows(database: Database, trial_ids: Sequence[int]) -> pd.DataFrame:
    """These trials with their conditions, status, option and reply, in order of asking.

    `layer`, `certainty`, `hedged` (yes, no) and `judge` say how the reply was read; null where
    that is not known.
    """
    frame = database.frame(_PAGE, [list(trial_ids)] * 2)
    # -1 for none: a null could turn the column into floats, which are too short for these keys
    attempt_ids = frame.pop("attempt_id").tolist()
    replies = dict(database.rows(_REPLIES, [attempt_ids]))
    return frame.assign(reply=[replies.get(key, "") for key in attempt_ids])


def tidy(database: Database, study_id: int) -> pa.Table:
    """Every answer of a study in the tidy format, in the order of asking.

    Trials whose calls all failed stand with the status `error`; trials never asked are left out.
    Time, tokens and cost of a call of several items stand at its first item alone.
    """
    return database.arrow(_TIDY, [study_id] * 4)


def _matching_trials(
    database: Database, study_id: int, filters: Filters, search: str, *, offset: int, limit: int
) -> tuple[int, list[int]]:
    """The number of trials that pass, and the keys of those on the page in order of asking."""
    if search or any(filters.values()):
        joins, where, parameters = _conditions(study_id, filters, search)
        sql = _MATCHING_PAGE.replace("$joins", joins).replace("$where", where)
        row = database.row(sql, [*parameters, limit, offset])
    else:
        row = database.row(_ALL, [study_id, study_id, offset, offset + limit])
    total, keys = row or (0, None)
    return int(total), list(keys or [])


def _conditions(
    study_id: int, filters: Filters, search: str, *, always: str = ""
) -> tuple[str, str, list[Any]]:
    """Joins and conditions from constants of this module; every value is a parameter.

    The tables `always` are joined even where no filter needs them.
    """
    clauses = ["t.study_id = ?"]
    parameters: list[Any] = [study_id]
    tables: set[str] = set(always)
    for name, values in filters.items():
        if is_of_context(name) and values:
            tables.add("a")
            clauses.append(passes_sql(name, values, partial(_placeholder, parameters)))
        elif values:
            expression, needed = _FILTERS[name]
            tables |= set(needed)
            clauses.append(f"{expression} in ({', '.join('?' * len(values))})")
            parameters.extend(values)
    if search:
        clauses.append(_SEARCH)
        as_stored = json.dumps(search, ensure_ascii=False)[1:-1]  # prompts are JSON
        parameters.extend([study_id, search, as_stored])
    joins = "".join(join for table, join in _JOINS.items() if table in tables)
    return joins, " and ".join(clauses), parameters


def _placeholder(parameters: list[Any], value: Any) -> str:
    """What stands for a value in a query, which becomes the next parameter."""
    parameters.append(value)
    return "?"


# One answer in full: its conditions, attempts, coding and earlier codings.

_DETAIL = """
select t.trial_id, t.ordinal, s.code, p.name, p.model, i.code, a.language, a.context, a.entity,
    a.entity_b, a.form, a.format, a.template, a.label_order, a.phase,
    a.items_per_call, a.history, a.temperature, a.top_p, a.max_tokens, a.repetition,
    coalesce(t.position, 1), (select count(*) from trial u where u.call_id = t.call_id),
    c.option_order, coalesce(c.opinion, ''),
    coalesce(r.status, (select 'error' from attempt m
                        where m.call_id = t.call_id and m.outcome <> 'reply' limit 1),
             'not_asked'),
    r.option, r.parser, r.attempt_id, r.tries, r.chance, r.layer, r.certainty, r.hedged, r.judge,
    i.item_id
from trial t join administration a using (administration_id)
    join study s on s.study_id = t.study_id
    join respondent p using (respondent_id) join item i using (item_id)
    left join response r using (trial_id) left join call_shown c on c.call_id = t.call_id
where t.trial_id = ?
"""
_ATTEMPTS_OF_TRIAL = """
select m.attempt_id, m.number, m.sent_at, m.latency_s, m.outcome, m.http_status, m.message,
    m.finish_reason, m.model, m.tokens_in, m.tokens_out, m.cost, x.reply,
    u.tokens_reasoning, k.tokens_cached, coalesce(w.reasoning, ''), coalesce(w.tool_calls, ''),
    coalesce(w.refusal, ''), coalesce(w.body, ''), q.messages
from attempt m left join attempt_text x using (attempt_id) left join prompt q using (prompt_id)
    left join attempt_part w using (attempt_id) left join attempt_usage u using (attempt_id)
    left join attempt_cache k using (attempt_id)
where m.call_id = (select call_id from trial where trial_id = ?) order by m.number
"""
_WORDING = """
select w.text from wording w join item i using (item_id)
    left join answer_format f on f.instrument_id = i.instrument_id and f.format = ?
where item_id = ? and language = ? and form = ? and w.mood in ('', coalesce(f.mood, ''))
order by w.mood = '' limit 1
"""
_EARLIER = """
select cause, recoded_at, status, option, parser, layer, certainty, hedged, judge from recoding
where trial_id = ? order by number desc
"""


@dataclass(frozen=True)
class AttemptDetail:
    """One attempt: the messages sent and the reply or failure."""

    messages: tuple[Mapping[str, str], ...]
    attempt_id: int
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
    tokens_reasoning: int | None = None  # part of `tokens_out`
    tokens_cached: int | None = None  # part of `tokens_in`
    reasoning: str = ""
    tool_calls: str = ""
    refusal: str = ""
    body: str = ""  # of a response that is no reply


@dataclass(frozen=True)
class EarlierCoding:
    """The coding of an answer until a change by the parser, a person, a judge or an undo."""

    cause: str
    until: datetime
    status: str
    option: str | None
    parser: int | None
    layer: str | None  # this and the next: how the reply was read; None where that is not known
    certainty: str | None
    hedged: bool | None
    judge: str | None


@dataclass(frozen=True)
class AnswerDetail:
    """One trial in full. `option_order` are the codes as shown, where their order was drawn."""

    trial_id: int
    ordinal: int
    study: str
    respondent: str
    model: str
    item: str
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
    temperature: str
    top_p: str
    max_tokens: str
    repetition: int
    position: int  # of the item in its call, from 1
    n_in_call: int
    option_order: tuple[str, ...]
    opinion: str  # option code of the opinion put to the model
    status: str
    option: str | None
    parser: int | None
    attempt_id: int | None  # the attempt whose reply was coded
    replies_taken: int | None
    chance: float | None  # of the option, by the probabilities of the first token
    layer: str | None  # this and the next: how the reply was read; None where that is not known
    certainty: str | None
    hedged: bool | None  # whether the reply disclaims
    judge: str | None  # label of the respondent that judged the reply
    text: str
    attempts: tuple[AttemptDetail, ...]
    earlier_codings: tuple[EarlierCoding, ...]  # newest first

    @property
    def reply(self) -> str | None:
        """The reply that was coded, else the last one; None: there is none."""
        replied = [attempt for attempt in self.attempts if attempt.reply is not None]
        coded = [attempt for attempt in replied if attempt.attempt_id == self.attempt_id]
        return (coded or replied)[-1].reply if replied else None

    @property
    def withheld_by_filter(self) -> bool:
        """Whether the provider's content filter withheld the reply, which counts as a refusal."""
        reasons = {a.finish_reason for a in self.attempts if a.attempt_id == self.attempt_id}
        return self.status == Status.REFUSED and CONTENT_FILTER in reasons

    @property
    def messages(self) -> tuple[Mapping[str, str], ...]:
        """The prompt of the last attempt; empty where it is not known."""
        return next((a.messages for a in reversed(self.attempts) if a.messages), ())

    @property
    def set_by_person(self) -> bool:
        """Whether the coding is a person's instead of the parser's."""
        return bool(self.earlier_codings) and self.earlier_codings[0].cause == "person"


def detail(database: Database, trial_id: int) -> AnswerDetail | None:
    """One trial with its prompt as sent, every attempt, and every earlier coding."""
    row = database.row(_DETAIL, [trial_id])
    if row is None:
        return None
    *fields, item_id = row
    trial = dict(zip(_TRIAL_FIELDS, fields, strict=True))
    order = trial["option_order"]
    trial["option_order"] = tuple(order.split(OPTION_MARK)) if order else ()
    text = database.row(_WORDING, [trial["format"], item_id, trial["language"], trial["form"]])
    return AnswerDetail(
        **trial,
        text=text[0] if text else "",
        attempts=tuple(
            _attempt(values) for values in database.rows(_ATTEMPTS_OF_TRIAL, [trial_id])
        ),
        earlier_codings=tuple(
            EarlierCoding(*values) for values in database.rows(_EARLIER, [trial_id])
        ),
    )


_TRIAL_FIELDS = tuple(AnswerDetail.__dataclass_fields__)[:-3]


def _attempt(values: tuple[Any, ...]) -> AttemptDetail:
    *fields, messages = values
    return AttemptDetail(tuple(json.loads(messages)) if messages else (), *fields)


# Replies in free text, and ratings, verbatim.

_TEXTS = """
select t.trial_id, t.administration_id as administration, i.code as item,
    p.name as respondent, a.language, a.context, a.repetition, r.status, x.reply as text
from trial t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    join response r on r.trial_id = t.trial_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = ? order by t.ordinal
"""


def texts(database: Database, study_id: int) -> pd.DataFrame:
    """One row per answered trial: its conditions, its status and the reply, verbatim."""
    return database.frame(_TEXTS, [study_id])


_RATED = """
select t.trial_id, i.code as item, p.name as respondent, p.model, a.language, a.context,
    a.template, a.repetition, coalesce(r.status, 'not_asked') as status, x.reply as text
from trial t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
    left join response r on r.trial_id = t.trial_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = ? order by t.ordinal
"""


def judgements(database: Database, study_id: int) -> pd.DataFrame:
    """One row per planned trial of a judge: its conditions, its status and the reply, verbatim."""
    return database.frame(_RATED, [study_id])
