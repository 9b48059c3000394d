"""Answers and attempts of a study, counted by any of their factors: one query for each measure.

The database groups and sums; what is read is one row for each combination of levels. Scores follow
core/store/scoring.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd

from core.domain.attributes import is_attribute
from core.domain.factors import (
    CONTEXT_SET,
    DAY,
    REWRITING,
    SERVICE,
    ContextColumn,
    Factor,
    factor_names,
    is_of_context,
)
from core.domain.instrument import ATTRIBUTE
from core.domain.study import FACTORS, LEAVE_OUT, LEFT_OUT, NOT_ASKED, Status
from core.store.answers import DAY_SQL
from core.store.banks import FIELD_TYPES
from core.store.database import Database
from core.store.people import passes_sql, value_sql
from core.store.respondents import SERVICE_SQL
from core.store.scoring import point_ranges_sql, score_sql, without_sql

_COLUMNS: Mapping[str, str] = {
    **{name: f"a.{name}" for name in FACTORS},
    "respondent": "p.name",
    "model": "p.model",
    "item": "i.code",
    "subscale": "i.subscale",
    **{name: value_sql(ContextColumn(name), str) for name in (CONTEXT_SET, REWRITING)},
    SERVICE: SERVICE_SQL,
    DAY: DAY_SQL,
}
_FIELDS = {f"{ATTRIBUTE}{name}": f"coalesce(cast(i.{name} as varchar), '')" for name in FIELD_TYPES}
_OWN_ATTRIBUTE = """
coalesce((select x.text from item_attribute x where x.item_id = i.item_id and x.name = $<name>), '')
""".strip()
FACTORS_AND_ITEMS = tuple(_COLUMNS)
"""The factors of the design, item and subscale, and what is known of context, service and day."""

Where = Mapping[str, Sequence[str]]
"""Levels, as text, by factor, attribute or fact about people; without levels, all pass. The levels
of LEAVE_OUT are the kinds of answers that count as missing."""

AttemptNumber = Literal["tokens_in", "tokens_out", "latency_s", "cost"]

_USABLE = ", ".join(f"'{status.value}'" for status in Status if status.usable)
_TRIALS = """
from trial t join administration a using (administration_id)
    join respondent p using (respondent_id) join item i using (item_id)
"""
_RESPONSE = "left join response r using (trial_id)"
_RESPONSES = f"""
    {_RESPONSE}
    left join (
        select distinct call_id, 'error' as status from attempt
        where study_id = $study and outcome <> 'reply'
    ) f on f.call_id = t.call_id
"""  # noqa: S608 - all parts are constants of the program; values are parameters
_SCORE = score_sql(
    keyed="i.keyed",
    form="a.form",
    exception="d.direction",
    given="r.score",
    points="o.points",
    low="b.low",
    high="b.high",
)
_UNITS = """
    a.context as unit_context, p.name as unit_respondent, a.repetition as unit_repetition,
    i.code as unit_item, t.trial_id as unit_answer
""".strip()
_CLUSTERED = """
, cell as (
    select <names>, <summary>, count(*) as planned, count(value) as n, avg(value) as mean,
        min(value) = max(value) as same, <unit> as unit
    from answer group by all
),
cluster as (
    select <keys>, <cluster> as cluster, sum(value - mean) as residual
    from answer c join cell k on <joined> where value is not null group by all
),
error as (
    select <names>, count(*) as units,
        sqrt(sum(residual * residual) * count(*) / nullif(count(*) - 1, 0)) as residual
    from cluster group by all
)
select k.*, coalesce(c.units, 0) as units, coalesce(c.residual / k.n, 'nan'::double) as error
from cell k left join error c on <joined>
"""
"""The mean of `value` in each cell, with its standard error robust to clusters: the root of the sum
over the clusters of the squared sums of their residuals, times G / (G - 1), divided by n. The
clusters are the first units of UNITS of which a cell has several."""
UNITS = ("context", "respondent", "repetition", "item", "answer")
_UNIT = " ".join(
    f"when min(unit_{name}) filter (value is not null)"
    f" < max(unit_{name}) filter (value is not null) then '{name}'"
    for name in UNITS[:-1]
)
# numbers are grouped faster than texts
_CLUSTER = " ".join(f"when '{name}' then hash(unit_{name})" for name in UNITS)
_CLUSTERED = _CLUSTERED.replace("<unit>", f"case {_UNIT} else '{UNITS[-1]}' end").replace(
    "<cluster>", f"case unit {_CLUSTER} end"
)
_SCORES = f"""
with answer as (
    select <factors>, {_UNITS}, {_SCORE} as value, b.low, b.high
    {_TRIALS} join study s on s.study_id = t.study_id {_RESPONSES}
        left join answer_option o on o.instrument_id = s.instrument_id and o.format = a.format
            and o.code = r.option
        left join ({point_ranges_sql()}) b
            on b.range_instrument = s.instrument_id and b.range_format = a.format
        left join item_direction d on d.item_id = i.item_id and d.form = a.form
    where t.study_id = $study <where>
)
"""
_RANGES = "count(distinct (low, high)) filter (where value is not null) as n_ranges"
_STATUSES = f"""
with replied as (
    select <factors>, {_UNITS}, coalesce(r.status, f.status, '{NOT_ASKED}') as status
    {_TRIALS} {_RESPONSES} where t.study_id = $study <where>
),
answer as (
    select *, case when status not in ('{NOT_ASKED}', '{LEFT_OUT}')
        then cast(status in (<statuses>) as double) end as value
    from replied
)
"""  # noqa: S608
_STATUSES_OF = {"usable": _USABLE, "refused": f"'{Status.REFUSED.value}'"}
_SHARES = f"""
with answer as (
    select <factors>, {_UNITS}, a.format as answer_format,
        cast(r.option = $option as double) as value
    {_TRIALS} {_RESPONSE} where t.study_id = $study <where>
)
"""
_FORMATS = """
count(distinct answer_format) filter (value is not null) as n_formats,
count(distinct answer_format) filter (
    value is not null and answer_format not in (select unnest($offering::varchar[]))
) as n_without
"""
_CHOSEN = f"""
select <factors>, a.format as answer_format, r.option as chosen, count(*) as count
{_TRIALS} {_RESPONSE}
where t.study_id = $study <where> group by all
"""
_ATTEMPTS = f"""
with asked as (
    select distinct <factors>, t.call_id, t.administration_id
    {_TRIALS} where t.study_id = $study <where>
),
answer as (
    select <names>, a.context as unit_context, p.name as unit_respondent,
        a.repetition as unit_repetition, '' as unit_item, call_id as unit_answer,
        cast(<value> as double) as value
    from asked join attempt m using (call_id) join administration a using (administration_id)
        join respondent p using (respondent_id)
    where m.study_id = $study
)
"""  # noqa: S608
_OFFERED = """
select o.format, o.code, min(o.position) as position
from answer_option o join study s using (instrument_id)
where s.study_id = $study
    and o.format in (select format from administration where study_id = $study)
group by all
union all by name
select a.format, r.option as code, 1000 as position
from response r join trial t using (trial_id) join administration a using (administration_id)
where r.study_id = $study and r.option is not null
group by all
order by position, code, format
"""
_SUBSCALES = """
select i.subscale from item i join study s using (instrument_id)
where s.study_id = ? group by i.subscale order by min(i.position)
"""


def scores(database: Database, study_id: int, by: Sequence[Factor], where: Where) -> pd.DataFrame:
    """By the factors `by`: planned answers, and the mean score with its error (see `_CLUSTERED`).

    `n` are the scored answers, `same` says whether all their scores are equal, `units` is the
    number of clusters and `unit` what they are, one of UNITS. `n_ranges` is the number of different
    ranges of points of the formats of the scored answers.
    """
    return _clustered(database, _SCORES, _RANGES, study_id, by, where)


def status_shares(
    database: Database,
    study_id: int,
    by: Sequence[Factor],
    where: Where,
    kind: Literal["usable", "refused"],
) -> pd.DataFrame:
    """By the factors `by`: planned answers, those asked (`n`), and the share of one kind of them.

    Columns are as in `scores`. An answer that is left out counts as planned only.
    """
    sql = _STATUSES.replace("<statuses>", _STATUSES_OF[kind])
    return _clustered(database, sql, "", study_id, by, where)


def chosen_shares(
    database: Database,
    study_id: int,
    by: Sequence[Factor],
    where: Where,
    option: str,
    offering: Sequence[str],
) -> pd.DataFrame:
    """By the factors `by`: planned answers, those with an option (`n`), and the share of one.

    Columns are as in `scores`. `n_formats` is the number of formats of the `n`, `n_without` of
    those that are not among `offering`, the formats that have the option.
    """
    more = {"option": option, "offering": list(offering)}
    return _clustered(database, _SHARES, _FORMATS, study_id, by, where, more)


def chosen_options(
    database: Database, study_id: int, by: Sequence[Factor], where: Where
) -> pd.DataFrame:
    """By the factors `by`, `answer_format` and option `chosen` (null for none): the count."""
    return _grouped(database, _CHOSEN, study_id, by, where)


def attempts(
    database: Database, study_id: int, by: Sequence[Factor], where: Where, number: AttemptNumber
) -> pd.DataFrame:
    """By the factors `by`: attempts (`planned`), the mean of a number of theirs, and its total.

    Columns are as in `scores`. An attempt at several items counts once in every combination of
    levels that it asks, so items are no units. Latency is of attempts with a reply. No attempts can
    be left out.
    """
    replied = "case when m.outcome = 'reply' then m.latency_s end"
    value = replied if number == "latency_s" else f"m.{number}"
    sql = _ATTEMPTS.replace("<value>", value)
    return _clustered(database, sql, "sum(value) as total", study_id, by, where)


def offered_options(database: Database, study_id: int) -> pd.DataFrame:
    """`format` and `code` of every option that the study offers or an answer has, in bank order."""
    frame = database.frame(_OFFERED, {"study": study_id})
    return frame.drop_duplicates(["format", "code"])[["format", "code"]].reset_index(drop=True)


def subscales(database: Database, study_id: int) -> list[str]:
    """The subscales of the bank of a study, in its order."""
    return [str(name) for (name,) in database.rows(_SUBSCALES, [study_id])]


def _column(factor: Factor, parameters: dict[str, Any]) -> str:
    """The expression of a factor; the names of attributes and facts become parameters."""
    if isinstance(factor, ContextColumn):
        return value_sql(factor, partial(_placeholder, parameters))
    if not is_attribute(factor):
        return _COLUMNS[factor]
    if factor in _FIELDS:
        return _FIELDS[factor]
    name = _placeholder(parameters, factor.removeprefix(ATTRIBUTE))
    return _OWN_ATTRIBUTE.replace("$<name>", name)


def _placeholder(parameters: dict[str, Any], value: Any) -> str:
    """What stands for a value in a query, which becomes a parameter."""
    name = f"value_{len(parameters)}"
    parameters[name] = value
    return f"${name}"


def _clustered(
    database: Database,
    answers: str,
    summary: str,
    study_id: int,
    by: Sequence[Factor],
    where: Where,
    more: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """The rows of _CLUSTERED on a table `answer`; `summary` are further columns of a cell."""
    tail = _CLUSTERED.replace("<summary>, ", f"{summary}, " if summary else "")
    return _grouped(database, answers + tail, study_id, by, where, more)


def _grouped(
    database: Database,
    sql: str,
    study_id: int,
    by: Sequence[Factor],
    where: Where,
    more: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """The rows of a query grouped by these factors, of the answers that pass the filters."""
    names = [f"factor_{place}" for place in range(len(by))]  # a factor may be called "format"
    parameters: dict[str, Any] = {"study": study_id, **(more or {})}
    if kinds := where.get(LEAVE_OUT):
        sql = sql.replace(
            _RESPONSE, _RESPONSE.replace("response", f"({without_sql(tuple(kinds))})")
        )
    factors = ", ".join(
        f"{_column(factor, parameters)} as {name}" for factor, name in zip(by, names, strict=True)
    )
    conditions = []
    for factor, levels in where.items():
        if factor == LEAVE_OUT or not levels:
            continue
        if is_of_context(factor):
            passes = passes_sql(factor, levels, partial(_placeholder, parameters))
            conditions.append(f"and {passes}")
        else:
            column = _column(factor, parameters)
            texts = _placeholder(parameters, [str(level) for level in levels])
            conditions.append(
                f"and cast({column} as varchar) in (select unnest({texts}::varchar[]))"
            )
    for part, text in (
        ("<factors>", factors),
        ("<names>", ", ".join(names)),
        ("<keys>", ", ".join(f"c.{name}" for name in names)),
        ("<joined>", " and ".join(f"c.{name} is not distinct from k.{name}" for name in names)),
        ("<where>", " ".join(conditions)),
    ):
        sql = sql.replace(part, text)
    frame = database.frame(sql, parameters)
    return frame.rename(columns=dict(zip(names, factor_names(by), strict=True)))
