"""Facts about the people of a study: what kind each is, and the values of each person."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from core.domain.factors import CONTEXT_SET, REWRITING, ContextColumn, fact_name
from core.domain.people import PersonFact, wanted_range
from core.store.database import Database, insert

_FACTS = "select name, kind, levels from person_fact where study_id = ? order by rowid"
_VALUES = """
select context, name, value from person_value where study_id = ? order by rowid
"""


def facts(database: Database, study_id: int) -> tuple[PersonFact, ...]:
    """The facts that a study knows of its people, in the order in which they came."""
    return tuple(
        PersonFact(name, kind, tuple(json.loads(levels)))
        for name, kind, levels in database.rows(_FACTS, [study_id])
    )


def values(database: Database, study_id: int) -> pd.DataFrame:
    """The values of each person: context, name and value, those that are known."""
    return database.frame(_VALUES, [study_id])


def save(
    database: Database, study_id: int, known: Sequence[PersonFact], of_people: pd.DataFrame
) -> None:
    """Write the facts and the values of a study in the place of those on file."""
    table = pa.table(
        {
            "study_id": pa.array([study_id] * len(of_people), pa.int64()),
            **{
                name: pa.array(of_people[name].astype("str"), pa.string())
                for name in ("context", "name", "value")
            },
        }
    )
    with database.transaction() as cursor:
        cursor.execute("delete from person_fact where study_id = ?", [study_id])
        cursor.execute("delete from person_value where study_id = ?", [study_id])
        for one in known:
            cursor.execute(
                "insert into person_fact values (?, ?, ?, ?)",
                [study_id, one.name, one.kind, json.dumps(list(one.levels), ensure_ascii=False)],
            )
        insert(cursor, "person_value", table)


# Facts about the people of several studies together, and facts in queries of answers.

MOST_LEVELS = 200
"""Levels of a fact that are listed at most; nobody reads more."""
_OF_STUDIES = f"""
with known as (
    select v.study_id, v.name, v.value,
        case when f.kind = 'number' then try_cast(v.value as double) end as number
    from person_value v join person_fact f on f.study_id = v.study_id and f.name = v.name
    where v.study_id in (select study_id from study where code in (select unnest(?::varchar[])))
)
select name, count(distinct value),
    case when count(distinct value) <= {MOST_LEVELS} then list(distinct value) end,
    quantile_cont(number, [0.25, 0.5, 0.75]), min(number), max(number),
    coalesce(bool_and(number = trunc(number)), false)
from known group by name
"""  # noqa: S608 - a number of the program
_KINDS = """
select s.code, f.name, f.kind, f.levels from person_fact f join study s using (study_id)
where s.code in (select unnest(?::varchar[]))
"""


@dataclass(frozen=True)
class FactSummary:
    """The values of a fact among the people of some studies.

    `values` are the different ones, None where there are too many to list. The others are of its
    numbers: quartiles, ends, and whether all are whole; there may be none.
    """

    n_values: int = 0
    values: tuple[str, ...] | None = ()
    quartiles: tuple[float, ...] = ()
    low: float = math.nan
    high: float = math.nan
    whole: bool = False


def facts_by_study(database: Database, codes: Sequence[str]) -> list[tuple[str, PersonFact]]:
    """The code of a study and a fact that it knows, for each of some studies."""
    by_study = [
        (str(code), PersonFact(name, kind, tuple(json.loads(levels))))
        for code, name, kind, levels in database.rows(_KINDS, [list(codes)])
    ]
    return sorted(by_study, key=lambda pair: (list(codes).index(pair[0]), pair[1].name))


def summaries(database: Database, codes: Sequence[str]) -> dict[str, FactSummary]:
    """The values of each fact among the people of some studies."""
    return {
        name: FactSummary(
            n_values,
            None if values is None else tuple(values),
            tuple(quartiles or ()),
            math.nan if low is None else low,
            math.nan if high is None else high,
            whole,
        )
        for name, n_values, values, quartiles, low, high, whole in database.rows(
            _OF_STUDIES, [list(codes)]
        )
    }


_OF_PERSON = """
from person_value v
where v.study_id = a.study_id and v.context = a.context and v.name = <name>
"""


_OF_CONTEXTS = {
    CONTEXT_SET: """
coalesce((select case when c.messages not in ('', '[]') then 'conversations'
    when c.text <> '' then 'personas' else '' end
    from study_context c where c.study_id = a.study_id and c.code = a.context), '')
""",
    REWRITING: """
case when exists (select 1 from study_context c
    where c.study_id = a.study_id and c.code = a.context and c.variant_of <> '')
then 'rewritten' else 'original' end
""",
}


def levels_of_contexts(database: Database, study_id: int) -> dict[str, list[str]]:
    """The levels that the contexts of a study have, of what is known of contexts."""
    columns = ", ".join(f"{sql} as {name}" for name, sql in _OF_CONTEXTS.items())
    asked = database.frame(
        f"select distinct {columns} from (select distinct study_id, context from administration "  # noqa: S608
        "where study_id = ?) a",
        [study_id],
    )
    return {name: asked[name].unique().tolist() for name in _OF_CONTEXTS}


def passes_sql(name: str, values: Sequence[Any], parameter: Callable[[Any], str]) -> str:
    """A condition on the administration `a`: its person has one of these values of a fact.

    So has its context, for a set of contexts or a rewriting. Numbers pass where a range or band
    among the values holds them, as in core/store/frames.py. Each value is given to `parameter`,
    which returns what stands for it in the query.
    """
    texts = list(map(str, values))
    if name in _OF_CONTEXTS:
        return f"{_OF_CONTEXTS[name]} in (select unnest({parameter(texts)}::varchar[]))"
    of_person = _OF_PERSON.replace("<name>", parameter(fact_name(name)))
    wanted = [f"v.value in (select unnest({parameter(texts)}::varchar[]))"]
    for low, high in filter(None, map(wanted_range, texts)):
        ends = [(">=", low), ("<=", high)]
        bounds = [
            f"try_cast(v.value as double) {sign} {parameter(end)}"
            for sign, end in ends
            if math.isfinite(end)
        ]
        wanted.append(f"({' and '.join(bounds or ['try_cast(v.value as double) is not null'])})")
    passes = f"exists (select 1 {of_person} and ({' or '.join(wanted)}))"
    if "" not in texts:
        return passes
    again = _OF_PERSON.replace("<name>", parameter(fact_name(name)))
    return f"({passes} or not exists (select 1 {again}))"


def value_sql(column: ContextColumn, parameter: Callable[[Any], str]) -> str:
    """The value of a fact, or its band, of the person of the administration `a`; empty for none.

    Also the kind of its context, or whether it was rewritten.
    """
    if column.name in _OF_CONTEXTS:
        return _OF_CONTEXTS[column.name]
    value = "v.value"
    if column.bands:
        bands = [
            f"when try_cast(v.value as double) >= {parameter(band.low)} then {parameter(band.name)}"
            for band in reversed(column.bands)
        ]
        value = f"case {' '.join(bands)} end"
    of_person = _OF_PERSON.replace("<name>", parameter(fact_name(column.name)))
    return f"coalesce((select {value} {of_person}), '')"
