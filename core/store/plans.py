"""Plans of studies: every trial of a design, crossed inside the database and never in memory.

A trial's key is a hash of what it crosses, so that a plan made twice has the same keys.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from core.domain.study import Context, Design
from core.errors import DesignError

_LEVELS = {  # factor -> type of its levels
    "respondent": pa.int64(),
    "language": pa.string(),
    "form": pa.string(),
    "format": pa.string(),
    "template": pa.string(),
    "label_order": pa.string(),
}
_CROSS = """
insert into administration
with crossed as (
    select r.level as respondent, l.level as language, c.context,
        case when swapped then e.entity_b else e.entity end as entity,
        case when swapped then e.entity else e.entity_b end as entity_b,
        f.level as form, m.level as format, t.level as template, o.level as label_order,
        p.repetition
    from levels_respondent r cross join levels_language l cross join levels_context c
        cross join levels_entity e cross join levels_form f cross join levels_format m
        cross join levels_template t cross join levels_label_order o
        cross join (select repetition, repetition > (cast(? as integer) + 1) // 2 and ? as swapped
                    from (select unnest(range(1, cast(? as integer) + 1)) as repetition)) p
)
select
    cast(md5_number_lower(concat_ws(chr(31), 'administration', ?, respondent, language, context,
        entity, entity_b, form, format, template, label_order, 'initial', repetition)) // 2
        as bigint),
    ?, respondent, language, context, entity, entity_b, form, format, template, label_order,
    'initial', repetition
from crossed
"""
_PLACES = """
create or replace temp table asked as
with placed as (
    select a.administration_id, a.language, a.form, row_number() over (order by a.repetition,
        r.place, l.place, f.place, m.place, t.place, o.place, e.place, c.place,
        a.administration_id) as place
    from administration a
        join levels_respondent r on r.level = a.respondent_id
        join levels_language l on l.level = a.language
        join levels_form f on f.level = a.form
        join levels_format m on m.level = a.format
        join levels_template t on t.level = a.template
        join levels_label_order o on o.level = a.label_order
        join (select entity, entity_b, place from levels_entity
              union select entity_b, entity, place from levels_entity) e
            on e.entity = a.entity and e.entity_b = a.entity_b
        join levels_context c on c.context = a.context
    where a.study_id = $study and a.phase = 'initial'
    qualify row_number() over (partition by a.administration_id order by e.place) = 1
),
worded as (
    select w.language, w.form, count(distinct item_id) as n
    from wording w join item i using (item_id)
    where i.instrument_id = $instrument and trim(w.text) <> '' group by 1, 2
)
select administration_id, p.language, p.form,
    coalesce(sum(w.n) over (order by place rows between unbounded preceding and 1 preceding), 0)
        as before
from placed p left join worded w using (language, form)
"""
_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal, position, call_id)
with usable as (
    select distinct i.item_id, i.code, i.position, w.language, w.form
    from item i join wording w using (item_id)
    where i.instrument_id = $instrument and trim(w.text) <> ''
),
put as (
    select s.administration_id, s.before, i.item_id, i.code,
        row_number() over (partition by s.administration_id order by case when $shuffled
            then md5_number_lower(concat_ws(chr(31), 'order', $seed, s.administration_id, i.code))
            else i.position end) as place
    from asked s join usable i on i.language = s.language and i.form = s.form
),
keyed as (
    select *, cast(md5_number_lower(concat_ws(chr(31), 'trial', administration_id, code)) // 2
        as bigint) as trial_id
    from put
)
select trial_id, $study, administration_id, item_id, before + place,
    case when $block = 1 then null else (place - 1) % $block + 1 end,
    case when $block = 1 then trial_id else cast(md5_number_lower(concat_ws(chr(31), 'call',
        administration_id, (place - 1) // $block)) // 2 as bigint) end
from keyed order by before + place
"""
_RANDOM_ORDERS = """
insert into call_shown (call_id, study_id, option_order)
select t.call_id, $study, string_agg(o.code, chr(31) order by o.points is null,
    md5_number_lower(concat_ws(chr(31), 'options', $seed, t.call_id, o.code)))
from (select distinct call_id, administration_id from trial where study_id = $study) t
    join administration a using (administration_id)
    join answer_option o on o.instrument_id = $instrument and o.format = a.format
where a.label_order = 'random' and a.phase = $phase
group by t.call_id
"""
_ADD_CONTEXTS = """
insert into study_context (study_id, code, text, messages, language, variant_of)
select ?, context, text, messages, language, variant_of from levels_context
"""
_FINGERPRINT = """
select count(*), coalesce(bit_xor(trial_id), 0), count(distinct trial_id)
from trial where study_id = ?
"""


def write_plan(
    cursor: duckdb.DuckDBPyConnection,
    design: Design,
    *,
    study_id: int,
    instrument_id: int,
    respondent_ids: Sequence[int],
) -> tuple[int, int]:
    """Write every administration, trial and call; returns the number of trials and a fingerprint.

    Trials stand in the order of asking: repetition, respondent, language, form, format, template,
    label order, entities, context, item. An item without a text in the language and form of an
    administration is left out of it.

    Raises
    ------
    DesignError
        Nothing is left to ask, or two trials came out with the same key.
    """
    _register_levels(cursor, design, respondent_ids)
    repetitions = design.repetitions
    cursor.execute(_CROSS, [repetitions, design.swap_halves, repetitions, design.study, study_id])
    keys = {"study": study_id, "instrument": instrument_id}
    cursor.execute(_PLACES, keys)
    shuffled = design.item_order == "shuffled"
    block = design.items_per_call or 2**31 - 1
    cursor.execute(_TRIALS, keys | {"shuffled": shuffled, "seed": design.seed, "block": block})
    cursor.execute("drop table asked")
    if "random" in design.label_orders:
        cursor.execute(_RANDOM_ORDERS, keys | {"seed": design.seed, "phase": "initial"})
    if design.contexts:
        cursor.execute(_ADD_CONTEXTS, [study_id])
    return _fingerprint(cursor, study_id)


def _fingerprint(cursor: duckdb.DuckDBPyConnection, study_id: int) -> tuple[int, int]:
    """Number of trials of a study, and a number that changes with any of their keys."""
    count, mark, distinct = cursor.execute(_FINGERPRINT, [study_id]).fetchone() or (0, 0, 0)
    if not count:
        raise DesignError("This plan asks nothing.", "Choose items that have a text.")
    if count != distinct:
        raise DesignError("Two trials of this plan have the same id.", "Rename the study.")
    return count, mark


def _register_levels(
    cursor: duckdb.DuckDBPyConnection, design: Design, respondent_ids: Sequence[int]
) -> None:
    levels: dict[str, Sequence[Any]] = {
        "respondent": respondent_ids,
        "language": design.languages,
        "form": design.forms,
        "format": design.formats,
        "template": design.templates,
        "label_order": design.label_orders,
    }
    for name, values in levels.items():
        level = pa.array(list(values), _LEVELS[name])
        table = pa.table({"level": level, "place": pa.array(range(len(values)), pa.int64())})
        cursor.register(f"levels_{name}", table)
    entities = [*design.pairs] or [(name, "") for name in design.entities] or [("", "")]
    cursor.register(
        "levels_entity",
        pa.table(
            {
                "entity": [first for first, _ in entities],
                "entity_b": [second for _, second in entities],
                "place": list(range(len(entities))),
            }
        ),
    )
    cursor.register("levels_context", _contexts(design))


def _contexts(design: Design) -> pa.Table:
    contexts = design.contexts or (Context(""),)
    return pa.table(
        {
            "context": [one.code for one in contexts],
            "text": [one.text for one in contexts],
            "messages": [
                json.dumps(one.messages, ensure_ascii=False) if one.messages else ""
                for one in contexts
            ],
            "language": [one.language for one in contexts],
            "variant_of": [one.variant_of for one in contexts],
            "place": list(range(len(contexts))),
        }
    )
