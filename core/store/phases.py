"""The second phase of a study: every question again, with an opinion against the first answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import duckdb

from core.errors import DesignError
from core.store.database import Database

_STATE = """
select count(*) filter (where a.phase = 'initial'),
    count(*) filter (where a.phase = 'initial' and r.trial_id is null),
    count(*) filter (where a.phase = 'opposing')
from trial t join administration a using (administration_id)
    left join response r on r.trial_id = t.trial_id
where t.study_id = ?
"""
_PHASE = "select plan_hash, frozen_at from study_phase where study_id = ? and phase = 'opposing'"
# An answer that takes no side, or cannot be used, counts as 0 in the mean b of a question.
_FIRST = """
create or replace temp table first_answer as
select t.trial_id, t.call_id, t.item_id, t.ordinal, i.code, a.*,
    cast(md5_number_lower(concat_ws(chr(31), 'administration', a.administration_id, 'opposing',
        $template)) // 2 as bigint) as again_id,
    avg(coalesce(o.stance, 0)) over (partition by a.respondent_id, a.language, a.context,
        a.entity, a.entity_b, a.form, a.format, a.template, a.label_order, t.item_id) as b
from trial t join administration a using (administration_id) join item i using (item_id)
    join response r on r.trial_id = t.trial_id
    left join answer_option o on o.instrument_id = i.instrument_id and o.format = a.format
        and o.code = r.option
where t.study_id = $study and a.phase = 'initial'
"""
# Of the options of one side, the one farthest from the middle; of two such, the one shown first.
_SIDES = """
create or replace temp table side as
select o.format, o.stance, arg_max(o.code, abs(o.points - m.middle) - o.position / 1e6) as code
from answer_option o
    join (select format, (min(points) + max(points)) / 2 as middle from answer_option
          where instrument_id = $instrument group by 1) m using (format)
where o.instrument_id = $instrument and o.stance in (-1, 1) group by 1, 2
"""
_SIDELESS = """
select distinct format from first_answer
where format not in (select format from side group by 1 having count(*) = 2) order by 1
"""
_ADMINISTRATIONS = """
insert into administration
select distinct again_id, study_id, respondent_id, language, context, entity, entity_b, form,
    format, $template, label_order, 'opposing', repetition
from first_answer
"""
_TRIALS = """
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
_FINGERPRINT = """
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
    """How far the phases of a study are. `hash` and `frozen_at` are of the second, once planned."""

    initial: int
    unanswered: int
    opposing: int
    plan_hash: str
    frozen_at: datetime | None


def state(database: Database, study_id: int) -> Phases:
    """Trials of each phase, and how many of the first have no response."""
    initial, unanswered, opposing = database.row(_STATE, [study_id]) or (0, 0, 0)
    plan_hash, frozen_at = database.row(_PHASE, [study_id]) or ("", None)
    return Phases(initial, unanswered, opposing, plan_hash, frozen_at)


def add_opposing(
    database: Database,
    study_id: int,
    *,
    instrument_id: int,
    template: str,
    body: str,
    plan_hash_of: Callable[[int, int], str],
) -> None:
    """Plan the second phase from the coded answers of the first; all of it or nothing.

    Each question is put again as often, under the same conditions, with the opinion opposite to
    the mean stance b of its first answers: against where b >= 0, in favor where b < 0. `template`
    is the prompt template that tells the opinion and `body` what the study keeps of it.

    Raises
    ------
    DesignError
        The second phase is planned already, a trial of the first has no response, or the options
        of a format take no sides.
    """
    now = state(database, study_id)
    if now.opposing:
        raise DesignError("The second phase is planned already.", "Run it on the page Collect.")
    if now.unanswered or not now.initial:
        raise DesignError(
            f"{now.unanswered:,} of {now.initial:,} trials of the first phase have no answer yet.",
            "Let the study run to its end first.",
        )
    with database.transaction() as cursor:
        cursor.execute(_FIRST, {"study": study_id, "template": template})
        cursor.execute(_SIDES, {"instrument": instrument_id})
        _refuse_sideless(cursor)
        cursor.execute(_ADMINISTRATIONS, {"template": template})
        cursor.execute(_TRIALS, {"study": study_id})
        cursor.execute(_SHOWN, {"study": study_id})
        cursor.execute(_KEEP_TEMPLATE, {"study": study_id, "template": template, "body": body})
        count, mark = cursor.execute(_FINGERPRINT, [study_id]).fetchone() or (0, 0)
        cursor.execute(_ADD_PHASE, [study_id, plan_hash_of(count, mark)])
        cursor.execute("drop table first_answer")
        cursor.execute("drop table side")


def _refuse_sideless(cursor: duckdb.DuckDBPyConnection) -> None:
    row = cursor.execute(_SIDELESS).fetchone()
    if row:
        raise DesignError(
            f"The options of the format '{row[0]}' do not take sides, so none opposes an answer.",
            "Give its options a stance (-1 and 1) in the bank, and freeze the study anew.",
        )
