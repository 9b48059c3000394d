"""Studies and their plans. A plan is crossed inside the database, never in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa

from core.domain.identifiers import stable_id
from core.domain.study import Design, design_from_dict, design_to_dict
from core.errors import DesignError
from core.store.database import Database

_ADD_STUDY = "insert into study values (?, ?, 'planned', ?, ?, ?, now())"
_CROSS = """
insert into administration
select
    cast(md5_number_lower(concat_ws(chr(31), 'administration', ?, r.respondent_id, l.language,
        c.context, e.entity, '', 'original', ?, ?, 'as_is', 'initial', p.repetition)) // 2
        as bigint),
    ?, r.respondent_id, l.language, c.context, e.entity, '', 'original', ?, ?, 'as_is', 'initial',
    p.repetition
from levels_respondent r cross join levels_language l cross join levels_context c
    cross join levels_entity e cross join (select unnest(range(1, ? + 1)) as repetition) p
"""
_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal)
select
    cast(md5_number_lower(concat_ws(chr(31), 'trial', a.administration_id, i.code)) // 2 as bigint),
    a.study_id, a.administration_id, i.item_id,
    row_number() over (order by a.repetition, r.place, l.place, e.place, c.place, i.position)
from administration a
    join levels_respondent r using (respondent_id)
    join levels_language l using (language)
    join levels_context c using (context)
    join levels_entity e using (entity)
    cross join (select * from item where instrument_id = ?) i
where a.study_id = ?
order by 5
"""
_FINGERPRINT = """
select count(*), bit_xor(trial_id), count(distinct trial_id) from trial where study_id = ?
"""
_ADD_CONTEXTS = "insert into study_context select ?, context, text from levels_context"
_SUMMARY = """
select s.study_id, s.code, s.kind, s.design, s.plan_hash, s.frozen_at, s.instrument_id,
    i.code, i.version
from study s join instrument i using (instrument_id)
where s.code = coalesce(?, s.code)
order by s.frozen_at, s.code
"""
_COUNTS = """
select study_id, t.n, coalesce(r.n, 0) from
    (select study_id, count(*) as n from trial group by study_id) t
    left join (select study_id, count(*) as n from response group by study_id) r using (study_id)
"""
_RESPONDENTS = """
select distinct r.respondent_id from administration a join respondent r using (respondent_id)
where a.study_id = ? order by 1
"""
_CONTEXTS = "select code, text from study_context where study_id = ?"
_PLAN = """
select t.ordinal, t.trial_id, r.label as respondent, a.language, a.context, a.entity, a.form,
    a.format, a.template, a.label_order, a.phase, a.repetition, i.code as item
from trial t join administration a using (administration_id)
    join respondent r using (respondent_id) join item i using (item_id)
where t.study_id = ? order by t.ordinal
"""


@dataclass(frozen=True)
class StudyRecord:
    """A study on file."""

    study_id: int
    code: str
    kind: str  # planned or imported
    design: Design
    plan_hash: str
    frozen_at: datetime
    instrument_id: int
    instrument: str
    version: int
    n_trials: int
    n_responses: int


def freeze(
    database: Database,
    design: Design,
    *,
    instrument_id: int,
    respondent_ids: list[int],
    plan_hash_of: Callable[[int, int], str],
    template: str,
) -> StudyRecord:
    """Write the crossed plan; all of it or nothing.

    `plan_hash_of(n_trials, fingerprint)` gives the plan hash from what the database has written,
    so that a plan made twice has the same hash and the same trial ids.

    Raises
    ------
    DesignError
        A study of that code exists, or two trials came out with the same id.
    """
    if database.row("select 1 from study where code = ?", [design.study]):
        raise DesignError(
            f"There is a study called '{design.study}' already.", "Give this one another name."
        )
    study_id = stable_id("study", design.study)
    levels: dict[str, tuple[str, list[Any]]] = {
        "levels_respondent": ("respondent_id", respondent_ids),
        "levels_language": ("language", list(design.languages)),
        "levels_entity": ("entity", list(design.entities) or [""]),
    }
    contexts = design.contexts
    with database.transaction() as cursor:
        for name, (column, values) in levels.items():
            places = list(range(len(values)))
            cursor.register(name, pa.table({column: values, "place": places}))
        cursor.register(
            "levels_context",
            pa.table(
                {
                    "context": [c.code for c in contexts] or [""],
                    "text": [c.text for c in contexts] or [""],
                    "place": list(range(max(len(contexts), 1))),
                }
            ),
        )
        cursor.execute(
            _CROSS,
            [
                design.study, design.format, template, study_id, design.format, template,
                design.repetitions,
            ],
        )  # fmt: skip
        cursor.execute(_TRIALS, [instrument_id, study_id])
        if contexts:
            cursor.execute(_ADD_CONTEXTS, [study_id])
        count, fingerprint, distinct = cursor.execute(_FINGERPRINT, [study_id]).fetchone() or (
            0,
            0,
            0,
        )
        if count != distinct:
            raise DesignError("Two trials of this plan have the same id.", "Rename the study.")
        body = json.dumps(design_to_dict(design), ensure_ascii=False)
        plan_hash = plan_hash_of(count, fingerprint)
        cursor.execute(_ADD_STUDY, [study_id, design.study, instrument_id, body, plan_hash])
    return get(database, design.study)


def studies(database: Database) -> tuple[StudyRecord, ...]:
    """Every study, oldest first."""
    counts = {row[0]: row[1:] for row in database.rows(_COUNTS)}
    return tuple(_record(row, counts) for row in database.rows(_SUMMARY, [None]))


def get(database: Database, code: str) -> StudyRecord:
    """One study by its code."""
    row = database.row(_SUMMARY, [code])
    if row is None:
        raise DesignError(f"There is no study '{code}'.", "Choose one from the list of studies.")
    return _record(row, {r[0]: r[1:] for r in database.rows(_COUNTS)})


def respondent_ids(database: Database, study_id: int) -> tuple[int, ...]:
    """Who takes part in a study."""
    return tuple(row[0] for row in database.rows(_RESPONDENTS, [study_id]))


def context_texts(database: Database, study_id: int) -> dict[str, str]:
    """Text of each context of a study, by its code."""
    return dict(database.rows(_CONTEXTS, [study_id]))


def plan(database: Database, study_id: int) -> pa.Table:
    """The plan, one row per trial in the order of asking."""
    return database.arrow(_PLAN, [study_id])


def _record(row: tuple[Any, ...], counts: dict[int, tuple[int, int]]) -> StudyRecord:
    study_id, code, kind, design, plan_hash, frozen_at, instrument_id, instrument, version = row
    n_trials, n_responses = counts.get(study_id, (0, 0))
    return StudyRecord(
        study_id, code, kind, design_from_dict(json.loads(design)), plan_hash, frozen_at,
        instrument_id, instrument, version, n_trials, n_responses,
    )  # fmt: skip
