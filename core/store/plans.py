"""Plans of studies: the trials of a design, and those of the second phase."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import duckdb
import pyarrow as pa

from core.domain.cells import AXES, PlanCells, places, plan_cells
from core.domain.study import SETTINGS, Context, Design
from core.errors import DesignError
from core.store.database import Database

# The first phase. DuckDB crosses the factors; the trials are never in memory. A trial's key is a
# hash of its factor levels, so that a plan made twice has the same keys.

_LEVELS = {  # axis of a cell -> type of its levels
    "respondent": pa.int64(),
    "language": pa.string(),
    "form": pa.string(),
    "format": pa.string(),
    "template": pa.string(),
    "label_order": pa.string(),
    "items_per_call": pa.int64(),
    "history": pa.string(),
    "context": pa.string(),
}
_CROSS = """
create or replace temp table asked as
with crossed as (
    select cell.item_set, r.level as respondent, l.level as language, c.level as context,
        e.entity, e.entity_b, f.level as form, m.level as format, t.level as template,
        o.level as label_order, p.repetition, n.level as size, h.level as history,
        case when n.level = 0 then 'all' else cast(n.level as varchar) end as items_per_call,
        r.place as r, l.place as l, f.place as f, m.place as m, t.place as t, o.place as o,
        n.place as n, h.place as h, e.place as e, c.place as c
    from cell
        join levels_respondent r on r.level_set = cell.respondent
        join levels_language l on l.level_set = cell.language
        join levels_form f on f.level_set = cell.form
        join levels_format m on m.level_set = cell.format
        join levels_template t on t.level_set = cell.template
        join levels_label_order o on o.level_set = cell.label_order
        join levels_items_per_call n on n.level_set = cell.items_per_call
        join levels_history h on h.level_set = cell.history
        join levels_entities e on e.level_set = cell.entities
        join levels_context c on c.level_set = cell.context
        join (select level_set, unnest(range(first, last + 1)) as repetition
              from levels_repetition) p on p.level_set = cell.repetition
),
keyed as (
    select *, cast(md5_number_lower(concat_ws(chr(31), 'administration', $code, respondent,
        language, context, entity, entity_b, form, format, template, label_order, 'initial',
        repetition, case when $sizes then 'items_per_call ' || items_per_call end,
        case when $histories then 'history ' || history end)) // 2 as bigint)
        as administration_id
    from crossed
),
worded as (
    select s.item_set, w.language, w.form, count(distinct item_id) as words
    from wording w join item i using (item_id) join item_sets s using (code)
    where i.instrument_id = $instrument and trim(w.text) <> '' group by all
),
placed as (
    select *, row_number() over (order by repetition, r, l, f, m, t, o, n, h, e, c,
        administration_id) as place
    from keyed
)
select * exclude (r, l, f, m, t, o, n, h, e, c),
    coalesce(sum(words) over (order by place rows between unbounded preceding and 1 preceding), 0)
        as before
from placed left join worded using (item_set, language, form)
"""
_ADD_ADMINISTRATIONS = """
insert into administration
select administration_id, $study, respondent, language, context, entity, entity_b, form, format,
    template, label_order, 'initial', repetition, items_per_call, history,
    s.temperature, s.top_p, s.max_tokens
from asked join stated_settings s using (respondent)
"""
_FIRST_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal, position, call_id)
with usable as (
    select distinct s.item_set, i.item_id, i.code, i.position, w.language, w.form
    from item i join wording w using (item_id) join item_sets s using (code)
    where i.instrument_id = $instrument and trim(w.text) <> ''
),
put as (
    select a.administration_id, a.before, a.size, i.item_id, i.code,
        row_number() over (partition by a.administration_id order by case when $shuffled
            then md5_number_lower(concat_ws(chr(31), 'order', $seed, a.administration_id, i.code))
            else i.position end) as place
    from asked a join usable i using (item_set, language, form)
),
keyed as (
    select * replace (case when size = 0 then 2147483647 else size end as size),
        cast(md5_number_lower(concat_ws(chr(31), 'trial', administration_id, code)) // 2
        as bigint) as trial_id
    from put
)
select trial_id, $study, administration_id, item_id, before + place,
    case when size = 1 then null else (place - 1) % size + 1 end,
    case when size = 1 then trial_id else cast(md5_number_lower(concat_ws(chr(31), 'call',
        administration_id, (place - 1) // size)) // 2 as bigint) end
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
_ITEMS = "select code from item where instrument_id = ? order by position"
_ADD_CONTEXTS = """
insert into study_context (study_id, code, text, messages, language, variant_of)
select ?, code, text, messages, language, variant_of from contexts_used
"""
_ADD_CONTEXT_TEXTS = """
insert into context_text (study_id, code, language, text)
select ?, code, language, text from context_texts_used
"""
_FIRST_FINGERPRINT = """
select count(*), coalesce(bit_xor(trial_id), 0), count(distinct trial_id)
from trial where study_id = ?
"""


def write_plan(
    cursor: duckdb.DuckDBPyConnection,
    design: Design,
    *,
    study_id: int,
    instrument_id: int,
    respondent_ids: Sequence[Sequence[int]],
    settings: Mapping[int, Mapping[str, str]],
) -> tuple[int, int]:
    """Write every administration, trial and call; returns the number of trials and a fingerprint.

    `respondent_ids` are those of each crossing of the design, `settings` the levels of SETTINGS of
    each of them. Trials stand in the order of asking:
    repetition, respondent, language, form, format, template, label order, items per call, history,
    entities, context, item. An item without a text in the language and form of an administration
    is left out of it. A trial of several crossings is written once. The keys of administrations
    name items per call and history where the design varies them.

    Raises
    ------
    DesignError
        The plan has no trial, or two trials have the same key.
    """
    items = [code for (code,) in cursor.execute(_ITEMS, [instrument_id]).fetchall()]
    plan = plan_cells(design, respondent_ids, items)
    _register_cells(cursor, plan)
    keys = {"study": study_id, "instrument": instrument_id}
    varied = {
        "sizes": len(plan.levels["items_per_call"]) > 1,
        "histories": len(plan.levels["history"]) > 1,
    }
    cursor.execute(_CROSS, {"instrument": instrument_id, "code": design.study, **varied})
    stated = {name: [levels[name] for levels in settings.values()] for name in SETTINGS}
    cursor.register("stated_settings", pa.table({"respondent": list(settings), **stated}))
    cursor.execute(_ADD_ADMINISTRATIONS, {"study": study_id})
    shuffled = design.item_order == "shuffled"
    cursor.execute(_FIRST_TRIALS, keys | {"shuffled": shuffled, "seed": design.seed})
    cursor.execute("drop table asked")
    if "random" in plan.levels["label_order"]:
        cursor.execute(_RANDOM_ORDERS, keys | {"seed": design.seed, "phase": "initial"})
    codes = set(plan.levels["context"])
    if used := [context for context in design.contexts if context.code in codes]:
        cursor.register("contexts_used", _contexts(used))
        cursor.execute(_ADD_CONTEXTS, [study_id])
        texts = [(c.code, language, text) for c in used for language, text in c.translations]
        if texts:
            names = ("code", "language", "text")
            table = pa.table(dict(zip(names, map(list, zip(*texts, strict=True)), strict=True)))
            cursor.register("context_texts_used", table)
            cursor.execute(_ADD_CONTEXT_TEXTS, [study_id])
    return _fingerprint(cursor, study_id)


def _fingerprint(cursor: duckdb.DuckDBPyConnection, study_id: int) -> tuple[int, int]:
    """Number of trials of a study, and the xor of their keys."""
    count, fingerprint, distinct = cursor.execute(_FIRST_FINGERPRINT, [study_id]).fetchone() or (
        0,
        0,
        0,
    )
    if not count:
        raise DesignError("This plan has no trials.", "Choose items that have a text.")
    if count != distinct:
        raise DesignError("Two trials of this plan have the same id.", "Rename the study.")
    return count, fingerprint


def _register_cells(cursor: duckdb.DuckDBPyConnection, plan: PlanCells) -> None:
    """The tables of _CROSS: the cells, the sets of levels that they name, and sets of items."""
    cells: dict[str, list[int]] = {}
    for number, axis in enumerate(AXES):
        sets = dict.fromkeys(cell.levels[number] for cell in plan.cells)
        set_number = {bits: n for n, bits in enumerate(sets)}
        cells[axis] = [set_number[cell.levels[number]] for cell in plan.cells]
        members = [(n, place) for bits, n in set_number.items() for place in places(bits)]
        cursor.register(f"levels_{axis}", _level_table(plan, axis, members))
    item_sets = {bits: n for n, bits in enumerate(dict.fromkeys(c.items for c in plan.cells))}
    cells["item_set"] = [item_sets[cell.items] for cell in plan.cells]
    cursor.register("cell", pa.table({name: pa.array(n, pa.int64()) for name, n in cells.items()}))
    asked = [(n, plan.items[place]) for bits, n in item_sets.items() for place in places(bits)]
    cursor.register(
        "item_sets",
        pa.table(
            {
                "item_set": pa.array([n for n, _ in asked], pa.int64()),
                "code": pa.array([code for _, code in asked], pa.string()),
            }
        ),
    )


def _level_table(plan: PlanCells, axis: str, members: Sequence[tuple[int, int]]) -> pa.Table:
    """The levels of each set of an axis, with their places in the order of asking."""
    levels = [plan.levels[axis][place] for _, place in members]
    columns: dict[str, Any] = {
        "level_set": pa.array([n for n, _ in members], pa.int64()),
        "place": pa.array([place for _, place in members], pa.int64()),
    }
    if axis == "repetition":
        for name, end in (("first", 0), ("last", 1)):
            columns[name] = pa.array([level[end] for level in levels], pa.int32())
    elif axis == "entities":
        for name, end in (("entity", 0), ("entity_b", 1)):
            columns[name] = pa.array([level[end] for level in levels], pa.string())
        together = [plan.entity_places[place] for _, place in members]
        columns["place"] = pa.array(together, pa.int64())
    else:
        columns["level"] = pa.array(levels, _LEVELS[axis])
    return pa.table(columns)


def _contexts(contexts: Sequence[Context]) -> pa.Table:
    return pa.table(
        {
            "code": [context.code for context in contexts],
            "text": [context.text for context in contexts],
            "messages": [
                json.dumps(context.messages, ensure_ascii=False) if context.messages else ""
                for context in contexts
            ],
            "language": [context.language for context in contexts],
            "variant_of": [context.variant_of for context in contexts],
        }
    )


# The second phase: every question again, with an opinion that opposes the first answers.

_STATE = """
select count(*) filter (where a.phase = 'initial'),
    count(*) filter (where a.phase = 'initial' and r.trial_id is null),
    count(*) filter (where a.phase = 'opposing')
from trial t join administration a using (administration_id)
    left join response r on r.trial_id = t.trial_id
where t.study_id = ?
"""
_PHASE = "select plan_hash, frozen_at from study_phase where study_id = ? and phase = 'opposing'"
# An answer that takes no side, or cannot be used, counts as 0 in the mean b of a question. One
# none of whose first answers chose an option has no opinion to oppose, and is left out.
_FIRST = """
create or replace temp table first_answer as
select t.trial_id, t.call_id, t.item_id, t.ordinal, i.code, a.*,
    cast(md5_number_lower(concat_ws(chr(31), 'administration', a.administration_id, 'opposing',
        $template)) // 2 as bigint) as again_id,
    avg(coalesce(o.stance, 0)) over question as b
from trial t join administration a using (administration_id) join item i using (item_id)
    join response r on r.trial_id = t.trial_id
    left join answer_option o on o.instrument_id = i.instrument_id and o.format = a.format
        and o.code = r.option
where t.study_id = $study and a.phase = 'initial'
window question as (partition by a.respondent_id, a.language, a.context, a.entity, a.entity_b,
    a.form, a.format, a.template, a.label_order, t.item_id)
qualify count(o.code) over question > 0
"""
_ANY_OPINION = """
select count(*) from (
    select 1 from trial t join administration a using (administration_id)
        join response r on r.trial_id = t.trial_id
    where t.study_id = ? and a.phase = 'initial' and r.option is not null limit 1
)
"""
# The option of each side farthest from the middle; of two such options, the one shown first.
_SIDES = """
create or replace temp table side as
select o.format, o.stance, arg_max(o.code, abs(o.points - m.middle) - o.position / 1e6) as code
from answer_option o
    join (select format, (min(points) + max(points)) / 2 as middle from answer_option
          where instrument_id = $instrument group by 1) m using (format)
where o.instrument_id = $instrument and o.stance in (-1, 1) group by 1, 2
"""
_FORMAT_WITHOUT_STANCE = """
select distinct format from first_answer
where format not in (select format from side group by 1 having count(*) = 2) order by 1
"""
_ADMINISTRATIONS = """
insert into administration
select distinct again_id, study_id, respondent_id, language, context, entity, entity_b, form,
    format, $template, label_order, 'opposing', repetition, '1', 'none', temperature, top_p,
    max_tokens
from first_answer
"""
_SECOND_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal, call_id)
select id, study_id, again_id, item_id, row_number() over (order by ordinal) + last, id
from (
    select *, (select max(ordinal) from trial where study_id = $study) as last,
        cast(md5_number_lower(concat_ws(chr(31), 'trial', again_id, code)) // 2 as bigint) as id
    from first_answer
)
"""
_SHOWN = """
insert into call_shown (call_id, study_id, option_order, opinion)
select t.trial_id, t.study_id, c.option_order, s.code
from trial t
    join first_answer f on f.again_id = t.administration_id and f.item_id = t.item_id
    join side s on s.format = f.format and s.stance = case when f.b >= 0 then -1 else 1 end
    left join call_shown c on c.call_id = f.call_id
where t.study_id = $study
"""
_SECOND_FINGERPRINT = """
select count(*), coalesce(bit_xor(md5_number_lower(concat_ws(chr(31), c.call_id, c.opinion)) // 2),
    0)
from call_shown c where c.study_id = ? and c.opinion is not null
"""
_KEEP_TEMPLATE = """
insert into study_template select $study, $template, $body
where not exists (select 1 from study_template where study_id = $study and code = $template)
"""
_ADD_PHASE = "insert into study_phase values (?, 'opposing', ?, now())"


@dataclass(frozen=True)
class Phases:
    """Trials of both phases. `plan_hash` and `frozen_at` are of the second, once it is planned."""

    initial: int
    unanswered: int
    opposing: int
    plan_hash: str
    frozen_at: datetime | None

    @property
    def without_opinion(self) -> int:
        """Trials of questions without a first opinion, which the second phase does not repeat."""
        return self.initial - self.opposing if self.opposing else 0


def phase_state(database: Database, study_id: int) -> Phases:
    """Trials of each phase, and how many of the first have no response."""
    initial, unanswered, opposing = database.row(_STATE, [study_id]) or (0, 0, 0)
    plan_hash, frozen_at = database.row(_PHASE, [study_id]) or ("", None)
    return Phases(initial, unanswered, opposing, plan_hash, frozen_at)


def has_opinion(database: Database, study_id: int) -> bool:
    """Whether any answer of the first phase chose an option."""
    return bool((database.row(_ANY_OPINION, [study_id]) or (0,))[0])


def add_opposing_phase(
    database: Database,
    study_id: int,
    *,
    instrument_id: int,
    template: str,
    body: str,
    plan_hash_of: Callable[[int, int], str],
) -> None:
    """Plan the second phase from the coded answers of the first; all of it or nothing.

    Each question is repeated as often, under the same conditions, with the opinion opposite to the
    mean stance b of its first answers: against where b >= 0, in favor where b < 0. A question
    none of whose first answers chose an option is not repeated. `template`
    is the prompt template that states the opinion, and `body` its JSON, which the study keeps.

    Raises
    ------
    DesignError
        The second phase is planned already, a trial of the first has no response, none chose an
        option, or the options of a format take no sides.
    """
    phases = phase_state(database, study_id)
    if phases.opposing:
        raise DesignError("The second phase is planned already.", "Run it on the page Collect.")
    if phases.unanswered or not phases.initial:
        raise DesignError(
            f"{phases.unanswered:,} of {phases.initial:,} trials of the first phase have no "
            "answer yet.",
            "Run the study to its end first.",
        )
    if not has_opinion(database, study_id):
        raise DesignError(
            "No answer of the first phase chose an option, so there is no opinion to oppose.",
            "Read some replies on the page Answers.",
        )
    with database.transaction() as cursor:
        cursor.execute(_FIRST, {"study": study_id, "template": template})
        cursor.execute(_SIDES, {"instrument": instrument_id})
        _refuse_format_without_stance(cursor)
        cursor.execute(_ADMINISTRATIONS, {"template": template})
        cursor.execute(_SECOND_TRIALS, {"study": study_id})
        cursor.execute(_SHOWN, {"study": study_id})
        cursor.execute(_KEEP_TEMPLATE, {"study": study_id, "template": template, "body": body})
        count, fingerprint = cursor.execute(_SECOND_FINGERPRINT, [study_id]).fetchone() or (0, 0)
        cursor.execute(_ADD_PHASE, [study_id, plan_hash_of(count, fingerprint)])
        cursor.execute("drop table first_answer")
        cursor.execute("drop table side")


def _refuse_format_without_stance(cursor: duckdb.DuckDBPyConnection) -> None:
    row = cursor.execute(_FORMAT_WITHOUT_STANCE).fetchone()
    if row:
        raise DesignError(
            f"The options of the format '{row[0]}' have no stance, so none opposes an answer.",
            "Give its options a stance (-1 and 1) in the bank, and freeze the study again.",
        )
