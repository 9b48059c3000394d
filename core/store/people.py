"""Facts about the people of a study: what kind each is, and the values of each person."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from core.domain.people import PersonFact
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
