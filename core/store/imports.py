"""Import of answers that were collected elsewhere: all of a study or nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa

from core.domain.study import Design, as_json_values
from core.domain.values import stable_id
from core.store.banks import item_id
from core.store.database import Database
from core.store.studies import FrozenStudy, check_name

_ADD_STUDY = "insert into study values (?, ?, 'imported', ?, ?, ?, now())"
_KEYED = """
create or replace temp table keyed as
select *, cast(md5_number_lower(concat_ws(chr(31), 'administration', ?, model, language, context,
        entity, entity_b, form, format, template, label_order, phase, repetition,
        case when items_per_call <> '' then 'items_per_call ' || items_per_call end,
        case when history <> '' then 'history ' || history end)) // 2 as bigint)
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
    cast(repetition as integer), items_per_call, history
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
insert into response (trial_id, study_id, attempt_id, status, option, score, parser, layer,
    certainty, hedged, judge)
select t.trial_id, ?, m.attempt_id, k.status, nullif(k.answer, ''), k.score, null,
    nullif(k.layer, ''), nullif(k.certainty, ''),
    case k.hedged when 'yes' then true when 'no' then false end, nullif(k.judge, '')
from keyed k join trial t on t.study_id = ? and t.ordinal = k.row
    left join attempt m on m.call_id = t.call_id
"""
_ITEMS = """
select distinct i.code, i.position from trial t join item i using (item_id)
where t.study_id = ? order by i.position
"""
_USED = """
select distinct a.format, coalesce(r.option, '') from trial t
    join administration a using (administration_id) left join response r using (trial_id)
where t.study_id = ? order by all
"""
_N_SCORES = "select count(score) from response where study_id = ?"
_MOVE_TRIALS = """
update trial set item_id = m.new
from (select unnest(?::bigint[]) as old, unnest(?::bigint[]) as new) m
where trial.study_id = ? and trial.item_id = m.old
"""
_MOVE_FORMATS = "update administration set format = ? where study_id = ? and format = ?"
_MOVE_STUDY = "update study set instrument_id = ?, design = ? where study_id = ?"
_DROP_SCORES = "update response set score = null where study_id = ? and score is not null"
_DROP_EARLIER_SCORES = "update recoding set score = null where study_id = ? and score is not null"


def items_and_options(database: Database, study_id: int) -> tuple[list[str], dict[str, list[str]]]:
    """The items of a study in the order of its bank, and the options chosen by answer format."""
    items = [code for code, _ in database.rows(_ITEMS, [study_id])]
    options_by_format: dict[str, list[str]] = {}
    for name, option in database.rows(_USED, [study_id]):
        options_by_format.setdefault(name, []).extend([option] if option else [])
    return items, options_by_format


def count_scores(database: Database, study_id: int) -> int:
    """Number of answers of a study with an imported score."""
    row = database.row(_N_SCORES, [study_id])
    return int(row[0]) if row else 0


def attach_bank(
    database: Database,
    record: FrozenStudy,
    design: Design,
    instrument_id: int,
    *,
    items: Mapping[str, str],
    formats: Mapping[str, str],
) -> int:
    """Move an imported study to a version of another bank, all of it or nothing.

    `items` and `formats` map the old codes to the new ones. Returns the number of imported scores,
    which scores derived from the bank replace.
    """
    old_items = [item_id(record.instrument_id, code) for code in items]
    new_items = [item_id(instrument_id, code) for code in items.values()]
    renamed = [(new, old) for old, new in formats.items() if new != old]
    body = json.dumps(as_json_values(design), ensure_ascii=False)
    n_imported_scores = count_scores(database, record.study_id)
    with database.transaction() as cursor:
        cursor.execute(_MOVE_TRIALS, [old_items, new_items, record.study_id])
        for new_format, old_format in renamed:
            cursor.execute(_MOVE_FORMATS, [new_format, record.study_id, old_format])
        cursor.execute(_DROP_SCORES, [record.study_id])
        cursor.execute(_DROP_EARLIER_SCORES, [record.study_id])
        cursor.execute(_MOVE_STUDY, [instrument_id, body, record.study_id])
    return n_imported_scores


def add_imported_study(
    database: Database, design: Design, instrument_id: int, rows: pa.Table, plan_hash: str
) -> int:
    """Save an imported study; `rows` are tidy rows of one instrument. Returns the study's id."""
    check_name(database, design.study)
    study_id = stable_id("study", design.study)
    numbered = rows.append_column("row", pa.array(range(1, rows.num_rows + 1), pa.int64()))
    body = json.dumps(as_json_values(design), ensure_ascii=False)
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
