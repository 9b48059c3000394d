"""Bringing in answers that were collected elsewhere, all of them or none."""

from __future__ import annotations

import json

import pyarrow as pa

from core.domain.identifiers import stable_id
from core.domain.study import Design, design_to_dict
from core.store.database import Database
from core.store.studies import refuse_name

_ADD_STUDY = "insert into study values (?, ?, 'imported', ?, ?, ?, now())"
_KEYED = """
create or replace temp table keyed as
select *, cast(md5_number_lower(concat_ws(chr(31), 'administration', ?, model, language, context,
        entity, entity_b, form, format, template, label_order, phase, repetition)) // 2 as bigint)
        as administration_id
from incoming
"""
_RESPONDENTS = """
insert into respondent
select cast(md5_number_lower(concat_ws(chr(31), 'imported', model)) // 2 as bigint), model,
    'imported', model, '', now()
from (select distinct model from keyed) on conflict do nothing
"""
_ADMINISTRATIONS = """
insert into administration
select distinct administration_id, ?,
    cast(md5_number_lower(concat_ws(chr(31), 'imported', model)) // 2 as bigint),
    language, context, entity, entity_b, form, format, template, label_order, phase,
    cast(repetition as integer)
from keyed
"""
_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal, call, position, tags,
    call_id)
select
    cast(md5_number_lower(concat_ws(chr(31), 'trial', administration_id, k.item)) // 2 as bigint),
    ?, k.administration_id, i.item_id, k.row, nullif(k.call, ''), cast(k.position as integer),
    nullif(k.tags, ''),
    cast(md5_number_lower(concat_ws(chr(31), 'trial', administration_id, k.item)) // 2 as bigint)
from keyed k join item i on i.code = k.item and i.instrument_id = ?
order by row
"""
_ATTEMPTS = """
insert into attempt
select cast(md5_number_lower(concat_ws(chr(31), 'attempt', trial_id, 1)) // 2 as bigint), ?,
    trial_id, 1, null, null, try_cast(nullif(time, '') as timestamptz), latency_s,
    case when status = 'error' then 'error' else 'reply' end, null, '', '', '',
    cast(tokens_in as integer), cast(tokens_out as integer), cost, false
from keyed k
    join trial t on t.study_id = ? and t.ordinal = k.row
where raw <> '' or latency_s is not null or tokens_in is not null or tokens_out is not null
    or cost is not null or time <> ''
"""
_TEXTS = """
insert into attempt_text
select m.attempt_id, k.raw from keyed k join trial t on t.study_id = ? and t.ordinal = k.row
    join attempt m on m.call_id = t.call_id
where k.raw <> ''
"""
_RESPONSES = """
insert into response (trial_id, study_id, attempt_id, status, option, score, parser)
select t.trial_id, ?, m.attempt_id, k.status, nullif(k.answer, ''), k.score, null
from keyed k join trial t on t.study_id = ? and t.ordinal = k.row
    left join attempt m on m.call_id = t.call_id
"""


def add_study(
    database: Database, design: Design, instrument_id: int, rows: pa.Table, plan_hash: str
) -> int:
    """Keep an imported study; `rows` are tidy rows of one instrument. Returns the study's id."""
    refuse_name(database, design.study)
    study_id = stable_id("study", design.study)
    numbered = rows.append_column("row", pa.array(range(1, rows.num_rows + 1), pa.int64()))
    body = json.dumps(design_to_dict(design), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.register("incoming", numbered)
        cursor.execute(_KEYED, [design.study])
        cursor.execute(_RESPONDENTS)
        cursor.execute(_ADMINISTRATIONS, [study_id])
        cursor.execute(_TRIALS, [study_id, instrument_id])
        cursor.execute(_ATTEMPTS, [study_id, study_id])
        cursor.execute(_TEXTS, [study_id])
        cursor.execute(_RESPONSES, [study_id, study_id])
        cursor.execute(_ADD_STUDY, [study_id, design.study, instrument_id, body, plan_hash])
        cursor.execute("drop table keyed")
        cursor.unregister("incoming")
    return study_id
