"""Audits of replies by persons, and changes of codings by a newer parser, a person or a judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Literal

import pandas as pd
import pyarrow as pa

from core.domain.study import Certainty, Layer, Status
from core.domain.values import stable_id
from core.store.collection import OPTION_MARK
from core.store.database import Database

# Audits: seeded samples of replies, the codings of several persons, their notes, and final codings.

# The same seed and size give the sample on file, even after more replies have come in.
_ADD = "insert into audit values (?, ?, ?, ?, ?, now()) on conflict do nothing returning audit_id"
# How the reader read a reply: as on file now, or before a person's coding replaced it.
_READ = """
    case when v.trial_id is null then r.layer else v.layer end as layer,
    case when v.trial_id is null then r.certainty else v.certainty end as certainty,
    case when v.trial_id is null then r.hedged else v.hedged end as hedged,
    case when v.trial_id is null then r.judge else v.judge end as judge
"""
_IS_ANSWER = "option is not null"
_KINDS = {
    **{str(certainty): f"certainty = '{certainty}'" for certainty in Certainty},
    "guess": f"certainty = '{Certainty.GUESS}' and {_IS_ANSWER}",
    "hedged": f"hedged and {_IS_ANSWER}",
    "judged": f"layer = '{Layer.JUDGE}' and {_IS_ANSWER}",
}
KINDS = tuple(_KINDS)
"""The kinds of replies to which a sample can be restricted: classes of certainty, answers with a
disclaimer, judged answers. Guesses have an option, as in analyses that leave them out."""
_REPLIED = f"""
    select r.trial_id, p.model, {_READ},
        case when v.trial_id is null then r.option else v.option end as option
    from response r join trial t using (trial_id) join study s on s.study_id = t.study_id
        join administration a using (administration_id) join respondent p using (respondent_id)
        left join person_set v on v.study_id = r.study_id and v.trial_id = r.trial_id
    where r.study_id = $study and r.attempt_id in (select attempt_id from attempt_text)
        and r.status <> '{Status.INVALID_CALL}'  -- nobody reads it otherwise: its call is left out
        and (s.instrument_id, a.format) in (select (instrument_id, format) from answer_option)
"""  # noqa: S608 - the parts are constants
# A reply of several kinds stands in each of them, and is drawn once.
_DRAW = f"""
insert into audit_sample
with replied as ({_REPLIED}),
sorted as ($sorted),
placed as (
    select trial_id, row_number() over (partition by model, kind order by
        md5_number_lower(concat_ws(chr(31), 'audit', $seed, trial_id)), trial_id) as place
    from sorted
)
select $audit, $study, trial_id, min(place) from placed where place <= $per_model group by trial_id
"""  # noqa: S608
_OF_KIND = "select trial_id, model, '{}' as kind from replied where {}"
_ADD_KIND = "insert into audit_kind values (?, ?)"
_COUNT_KINDS = f"""
with replied as ({_REPLIED})
select {", ".join(f"count(*) filter (where {condition})" for condition in _KINDS.values())}
from replied
"""  # noqa: S608
_TIME = "strftime({} at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')"
_AUDITS = """
select a.audit_id, a.study_id, a.seed, a.per_model, a.at_end, a.drawn_at,
    (select count(*) from audit_sample s where s.audit_id = a.audit_id),
    (select count(distinct trial_id) from coding c where c.audit_id = a.audit_id),
    (select list(kind) from audit_kind k where k.audit_id = a.audit_id)
from audit a where a.study_id = ? order by a.drawn_at desc, a.audit_id
"""
_CODERS = """
select coder, count(distinct trial_id) from coding where audit_id = ? group by coder
order by min(number)
"""
_ADJUDICATORS = "select name from adjudicator where audit_id = ? order by since, name"
_ADD_ADJUDICATOR = "insert into adjudicator values (?, ?, now()) on conflict do nothing"
# Models take turns, so that tiredness and habit affect all of them alike.
_UNFINISHED = """
select s.trial_id from audit_sample s join trial t using (trial_id)
    join administration a using (administration_id) join respondent p using (respondent_id)
where s.audit_id = $audit and s.trial_id not in
    (select trial_id from coding where audit_id = $audit and coder = $coder)
order by s.place, p.model, s.trial_id limit 1
"""
_LATEST = """
select trial_id from coding where audit_id = ? and coder = ?
group by trial_id order by max(number) desc
"""
_HOLDS = "select 1 from audit_sample where audit_id = ? and trial_id = ?"
_CODE = """
insert into coding (audit_id, trial_id, coder, coded_at, status, option, parser_status,
    parser_option)
select $audit, r.trial_id, $coder, now(), $status, $option,
    case when v.trial_id is null then r.status else v.status end,
    case when v.trial_id is null then r.option else v.option end
from response r left join person_set v using (trial_id) where r.trial_id = $trial
"""
_DECIDE = """
insert into adjudication (audit_id, trial_id, adjudicator, decided_at, status, option)
values ($audit, $trial, $coder, now(), $status, $option)
"""
_DECIDED = """
select trial_id from adjudication where audit_id = ? group by trial_id order by max(number) desc
"""
_ADJUDICATIONS = f"""
select trial_id, status, option, adjudicator, {_TIME.format("decided_at")} as decided_at
from adjudication where audit_id = ?
qualify row_number() over (partition by trial_id order by number desc) = 1
"""  # noqa: S608 - the parts are constants
_NOTE = """
insert into coding_note (audit_id, trial_id, coder, noted_at, note) values (?, ?, ?, now(), ?)
"""
_NOTES = """
select trial_id, coder, note from (
    select * from coding_note where audit_id = ?
    qualify row_number() over (partition by trial_id, coder order by number desc) = 1
) where note <> '' order by number
"""
_SAMPLE = f"""
with read as (
    select t.trial_id, t.ordinal, s.place, p.model, p.name as respondent, i.code as item,
        a.language, a.format,
        case when v.trial_id is null then r.status else v.status end as parser_status,
        case when v.trial_id is null then r.option else v.option end as parser_option,
        r.status as data_status, r.option as data_option,
        v.trial_id is not null as taken, coalesce(x.reply, '') as reply, {_READ}
    from audit_sample s join trial t on t.trial_id = s.trial_id
        join administration a using (administration_id) join respondent p using (respondent_id)
        join item i using (item_id) join response r on r.trial_id = s.trial_id
        left join person_set v on v.trial_id = s.trial_id
        left join attempt_text x on x.attempt_id = r.attempt_id
    where s.audit_id = ?
)
select * exclude (place)
    replace (case when hedged then 'yes' when not hedged then 'no' end as hedged)
from read order by model, place, trial_id
"""  # noqa: S608
_CODED = f"""
select trial_id, coder, status as person_status, option as person_option,
    parser_status as parser_status_then, parser_option as parser_option_then,
    {_TIME.format("coded_at")} as coded_at
from coding where audit_id = $audit
qualify row_number() over (partition by trial_id, coder order by number desc) = 1
order by min(number) over (partition by coder), number
"""  # noqa: S608


@dataclass(frozen=True)
class Audit:
    """One sample. With `at_end`, pages show the parser's codings only after the last reply.

    `n_coded` counts the replies that any coder has coded. `kinds` are those to which the sample is
    restricted, in the order of `KINDS`; none: all replies.
    """

    audit_id: int
    study_id: int
    seed: int
    per_model: int
    at_end: bool
    drawn_at: datetime
    n: int
    n_coded: int
    kinds: tuple[str, ...] = ()


def draw(
    database: Database,
    study_id: int,
    *,
    seed: int,
    per_model: int,
    at_end: bool,
    kinds: Collection[str] = (),
) -> int:
    """Draw `per_model` replies of each model, and return the audit's key.

    With `kinds`, so many of each model and kind. The sample follows from the seed and the plan: the
    same replies on file give the same sample everywhere. A sample of that seed, size and kinds that
    is on file already stays as it is. Trials of free text have no option and are left out.
    """
    chosen = _in_order(kinds)
    audit_id = stable_id("audit", study_id, seed, per_model, *chosen)
    parts = [_OF_KIND.format(kind, _KINDS[kind]) for kind in chosen]
    of_kinds = " union all ".join(parts or [_OF_KIND.format("", "true")])
    with database.transaction() as cursor:
        added = cursor.execute(_ADD, [audit_id, study_id, seed, per_model, at_end]).fetchall()
        if added:
            keys = {"audit": audit_id, "study": study_id, "seed": seed, "per_model": per_model}
            cursor.execute(_DRAW.replace("$sorted", of_kinds), keys)
            for kind in chosen:
                cursor.execute(_ADD_KIND, [audit_id, kind])
    return audit_id


def kind_counts(database: Database, study_id: int) -> dict[str, int]:
    """How many replies of a study are of each kind, where a sample could have one."""
    counts = database.row(_COUNT_KINDS, {"study": study_id}) or ()
    return {kind: int(n) for kind, n in zip(KINDS, counts, strict=True) if n}


def audits(database: Database, study_id: int) -> tuple[Audit, ...]:
    """The audits of a study, newest first."""
    rows = database.rows(_AUDITS, [study_id])
    return tuple(Audit(*[*row[:-1], _in_order(row[-1] or ())]) for row in rows)


def _in_order(kinds: Collection[str]) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if kind in kinds)


def coders(database: Database, audit_id: int) -> dict[str, int]:
    """How many replies each coder has coded, the coder who began first first."""
    return dict(database.rows(_CODERS, [audit_id]))


def adjudicators(database: Database, audit_id: int) -> tuple[str, ...]:
    """The persons who see all codings of an audit and code nothing themselves."""
    return tuple(row[0] for row in database.rows(_ADJUDICATORS, [audit_id]))


def add_adjudicator(database: Database, audit_id: int, name: str) -> None:
    """Let a person see all codings of an audit from now on."""
    with database.transaction() as cursor:
        cursor.execute(_ADD_ADJUDICATOR, [audit_id, name])


def next_uncoded(database: Database, audit_id: int, coder: str) -> int | None:
    """The next trial that a coder has not coded; None when all are coded."""
    row = database.row(_UNFINISHED, {"audit": audit_id, "coder": coder})
    return row[0] if row else None


def coded_trials(database: Database, audit_id: int, coder: str) -> tuple[int, ...]:
    """The trials that a coder has coded so far, newest first."""
    return tuple(row[0] for row in database.rows(_LATEST, [audit_id, coder]))


def is_sampled(database: Database, audit_id: int, trial_id: int) -> bool:
    """Whether the audit's sample holds a trial."""
    return database.row(_HOLDS, [audit_id, trial_id]) is not None


def save_coding(
    database: Database, audit_id: int, trial_id: int, *, coder: str, status: str, option: str | None
) -> None:
    """Save a person's coding of a reply; the newest counts, earlier ones stay on file."""
    _save_code(database, _CODE, audit_id, trial_id, coder, status, option)


def save_adjudication(
    database: Database, audit_id: int, trial_id: int, *, coder: str, status: str, option: str | None
) -> None:
    """Save the final coding of a reply; the newest counts, earlier ones stay on file."""
    _save_code(database, _DECIDE, audit_id, trial_id, coder, status, option)


def adjudicated_trials(database: Database, audit_id: int) -> tuple[int, ...]:
    """The trials that have a final coding by an adjudicator, newest first."""
    return tuple(row[0] for row in database.rows(_DECIDED, [audit_id]))


def adjudications(database: Database, audit_id: int) -> pd.DataFrame:
    """The final coding of each adjudicated reply: `status`, `option`, who and when."""
    return database.frame(_ADJUDICATIONS, [audit_id])


def save_note(database: Database, audit_id: int, trial_id: int, coder: str, note: str) -> None:
    """Save a person's note about a reply; the newest counts, and an empty one takes it away."""
    with database.transaction() as cursor:
        cursor.execute(_NOTE, [audit_id, trial_id, coder, note])


def notes(database: Database, audit_id: int) -> dict[tuple[int, str], str]:
    """The notes of an audit by trial and person."""
    return {(trial, coder): note for trial, coder, note in database.rows(_NOTES, [audit_id])}


def sample(database: Database, audit_id: int) -> pd.DataFrame:
    """Every reply of a sample with the parser's coding and the one in the data.

    The parser's is the one on file now, or the one before a person's coding replaced it; `taken`
    says that a person's has. `layer`, `certainty`, `hedged` (yes, no) and `judge` say how the
    parser read it.
    """
    return database.frame(_SAMPLE, [audit_id])


def codings(database: Database, audit_id: int) -> pd.DataFrame:
    """Every coder's coding of each reply, with the parser's at that time, by coder in order."""
    return database.frame(_CODED, {"audit": audit_id})


def _save_code(
    database: Database,
    statement: str,
    audit_id: int,
    trial_id: int,
    coder: str,
    status: str,
    option: str | None,
) -> None:
    values = {
        "audit": audit_id,
        "trial": trial_id,
        "coder": coder,
        "status": status,
        "option": option,
    }
    with database.transaction() as cursor:
        cursor.execute(statement, values)


# Changes of responses by a newer parser or a person. The old values stay on file.

Cause = Literal["parser", "person", "judge", "undo"]

_UNCHANGED = """
r.trial_id = c.trial_id and r.study_id = $study and r.status = c.old_status
    and r.option is not distinct from c.old_option
    and r.attempt_id is not distinct from c.old_attempt_id
"""
_KEEP = f"""
insert into recoding (trial_id, study_id, recoded_at, cause, status, option, parser, attempt_id,
    tries, chance, score, layer, certainty, hedged, judge)
select r.trial_id, r.study_id, now(), $cause, r.status, r.option, r.parser, r.attempt_id, r.tries,
    r.chance, r.score, r.layer, r.certainty, r.hedged, r.judge
from response r join changes c on {_UNCHANGED}
"""  # noqa: S608 - the condition is a constant of this module
_CHANGE = f"""
update response r set status = c.status, option = c.option, parser = c.parser,
    attempt_id = c.attempt_id, tries = c.tries, chance = c.chance, score = c.score,
    layer = c.layer, certainty = c.certainty, hedged = c.hedged, judge = c.judge
from changes c where {_UNCHANGED}
"""  # noqa: S608
_NOW = """
select r.trial_id, r.status as old_status, r.option as old_option, r.attempt_id as old_attempt_id,
    r.attempt_id, r.tries
from response r where r.study_id = ? and r.trial_id in (select unnest(?::bigint[]))
"""
_BEFORE_PERSON = """
select r.trial_id, r.status as old_status, r.option as old_option, r.attempt_id as old_attempt_id,
    v.status, v.option, v.parser, v.attempt_id, v.tries, v.chance, v.score, v.layer, v.certainty,
    v.hedged, v.judge
from person_set v join response r using (trial_id)
where v.study_id = ? and v.trial_id in (select unnest(?::bigint[]))
"""
# A person's coding of a judged reply hides the judge's, which stands again when it is undone.
_UNCLEAR = """
with unjudged as (
    select * from recoding where study_id = $study and cause = 'judge'
    qualify row_number() over (partition by trial_id order by number desc) = 1
),
reading as (
    select r.trial_id, r.attempt_id, case when r.layer = 'judge' then r.judge end as judge,
        case when r.layer = 'judge' then u.status else r.status end as status,
        case when r.layer = 'judge' then u.option else r.option end as option,
        case when r.layer = 'judge' then u.certainty else r.certainty end as certainty,
        coalesce(case when r.layer = 'judge' then u.hedged else r.hedged end, false) as hedged
    from response r left join unjudged u using (trial_id)
    where r.study_id = $study and r.layer is distinct from 'person'
        and (r.layer is distinct from 'judge' or u.trial_id is not null)  -- as imported
)
select g.trial_id, g.status, g.option, g.option is not null and g.certainty = 'guess',
    g.option is not null and g.hedged, g.judge, x.reply, i.code, a.language, a.entity, a.entity_b,
    a.form, a.format, a.template, a.label_order, c.option_order,
    case when a.items_per_call <> '1' then t.position end
from reading g join trial t using (trial_id) join administration a using (administration_id)
    join item i using (item_id) join attempt_text x on x.attempt_id = g.attempt_id
    left join call_shown c on c.call_id = t.call_id
where trim(x.reply) <> ''
    and (g.option is null or g.certainty = 'guess' or g.hedged)
order by t.ordinal
"""
_JUDGED_ITEMS = """
select i.code, coalesce(r.status, 'not_asked'), r.option, r.certainty, coalesce(x.reply, '')
from trial t join item i using (item_id) left join response r using (trial_id)
    left join attempt_text x using (attempt_id)
where t.study_id = ?
"""
_NOW_WITH_FLAG = """
select r.trial_id, r.status, r.option, r.attempt_id, r.tries, r.hedged
from response r where r.study_id = ? and r.trial_id in (select unnest(?::bigint[]))
"""
_BEFORE_JUDGE = """
select r.trial_id, r.status as old_status, r.option as old_option, r.attempt_id as old_attempt_id,
    u.status, u.option, u.parser, u.attempt_id, u.tries, u.chance, u.score, u.layer, u.certainty,
    u.hedged, u.judge
from response r join recoding u using (trial_id)
where r.study_id = ? and r.trial_id in (select unnest(?::bigint[])) and r.layer = 'judge'
    and u.cause = 'judge'
qualify row_number() over (partition by r.trial_id order by u.number desc) = 1
"""
_ROW = {
    "keyed": "i.keyed",
    "form": "a.form",
    "exception": "d.direction",
    "low": "b.low",
    "high": "b.high",
}
_NEW_SCORE = "case when c.trial_id is null then r.score else c.score end"
_COLUMNS = (
    ("trial_id", pa.int64()),
    ("old_status", pa.string()),
    ("old_option", pa.string()),
    ("old_attempt_id", pa.int64()),
    ("status", pa.string()),
    ("option", pa.string()),
    ("parser", pa.int32()),
    ("attempt_id", pa.int64()),
    ("tries", pa.int32()),
    ("chance", pa.float64()),
    ("score", pa.float64()),
    ("layer", pa.string()),
    ("certainty", pa.string()),
    ("hedged", pa.bool_()),
    ("judge", pa.string()),
)
CHANGE_COLUMNS = tuple(name for name, _ in _COLUMNS)
"""The columns of a table of changes."""


@dataclass(frozen=True)
class ResponseChange:
    """The coding of a response now (`old_...`) and after the change."""

    trial_id: int
    old_status: str
    old_option: str | None
    old_attempt_id: int | None
    status: str
    option: str | None
    parser: int | None  # None: no parser coded it
    attempt_id: int | None
    tries: int | None
    chance: float | None = None
    score: float | None = None  # imported scores only
    layer: str | None = None  # this and the next: how the reply was read
    certainty: str | None = None
    hedged: bool | None = None
    judge: str | None = None  # label of the respondent that judged it


def change_table(changes: Sequence[ResponseChange]) -> pa.Table:
    """Changes as `apply_changes` and `item_means` take them."""
    return pa.table(
        {name: pa.array([getattr(c, name) for c in changes], kind) for name, kind in _COLUMNS}
    )


@cache
def _means_sql() -> str:
    """Means of items before and after a change; the rule of scores loads ibis, which takes long."""
    from core.store.scoring import point_ranges_sql, score_sql

    return f"""
with scored as (
    select p.name as respondent, a.format, i.code as item, i.position,
        {score_sql(**_ROW, given="r.score", points="o.points")} as before,
        {score_sql(**_ROW, given=_NEW_SCORE, points="n.points")} as after,
        before is distinct from after as moved
    from trial t join response r using (trial_id) join study s on s.study_id = t.study_id
        join administration a using (administration_id) join respondent p using (respondent_id)
        join item i using (item_id)
        left join item_direction d on d.item_id = i.item_id and d.form = a.form
        left join changes c on c.trial_id = t.trial_id
        left join answer_option o on o.instrument_id = s.instrument_id and o.format = a.format
            and o.code = r.option
        left join answer_option n on n.instrument_id = s.instrument_id and n.format = a.format
            and n.code = case when c.trial_id is null then r.option else c.option end
        left join ({point_ranges_sql()}) b
            on b.range_instrument = s.instrument_id and b.range_format = a.format
    where t.study_id = $study
)
select respondent, format, item, avg(before) as old_mean, avg(after) as new_mean,
    count(before) as old_n, count(after) as new_n, count(*) filter (where moved) as changed
from scored group by respondent, format, item, position having bool_or(moved)
order by respondent, format, position
"""  # noqa: S608 - the parts are constants


def item_means(database: Database, study_id: int, changes: pa.Table) -> pd.DataFrame:
    """Item means by respondent and format before and after, where a change moves a score."""
    with database.transaction() as cursor:
        cursor.register("changes", changes)
        try:
            return cursor.execute(_means_sql(), {"study": study_id}).df()
        finally:
            cursor.unregister("changes")


def apply_changes(
    database: Database,
    study_id: int,
    changes: pa.Table,
    *,
    cause: Cause,
) -> int:
    """Make the changes and keep the old codings, in one transaction. Returns their number.

    A response that another change has reached first stays as it is.
    """
    with database.transaction() as cursor:
        cursor.register("changes", changes)
        try:
            values = {"study": study_id, "cause": cause}
            count = cursor.execute(_KEEP, values).fetchone()
            cursor.execute(_CHANGE, {"study": study_id})
        finally:
            cursor.unregister("changes")
    return int(count[0]) if count else 0


def changes_by_person(
    database: Database, study_id: int, codings: dict[int, tuple[str, str | None]]
) -> pa.Table:
    """The changes that replace codings by a person's: status and option by trial."""
    rows = database.rows(_NOW, [study_id, list(codings)])
    changes = []
    for trial_id, status, option, old_attempt, attempt, tries in rows:
        changes.append(
            ResponseChange(
                trial_id,
                status,
                option,
                old_attempt,
                *codings[trial_id],
                None,
                attempt,
                tries,
                layer=Layer.PERSON,
            )
        )
    return change_table(changes)


def changes_undoing_person(database: Database, study_id: int, trial_ids: Sequence[int]) -> pa.Table:
    """The changes that undo the codings of persons among these trials."""
    rows = database.rows(_BEFORE_PERSON, [study_id, list(trial_ids)])
    return change_table([ResponseChange(*row) for row in rows])


# Judges: respondents of a study of their own, put to decide what the reader left unclear.


@dataclass(frozen=True)
class UnclearReply:
    """A reply from which no option was read surely, with the conditions it was given under.

    `status`, `option`, `guess` and `hedged` are what the reader made of it, also where a judge has
    decided since; then `judge` names the judge. `position` is the item's place in a call of
    several items; None: the call asked for this item alone.
    """

    trial_id: int
    status: str
    option: str | None
    guess: bool
    hedged: bool
    judge: str | None
    reply: str
    item: str
    language: str
    entity: str
    entity_b: str
    form: str
    format: str
    template: str
    label_order: str
    option_order: tuple[str, ...]  # the codes as shown, where their order was drawn
    position: int | None


@dataclass(frozen=True)
class JudgeAnswer:
    """What a judge's study holds for one of its items; status `not_asked` where it has no reply."""

    status: str
    option: str | None
    certainty: str | None
    reply: str


@dataclass(frozen=True)
class JudgedCoding:
    """What becomes of a response: the option that a judge gave, and how surely that was read."""

    status: str
    option: str
    certainty: str | None
    judge: str


def unclear_replies(database: Database, study_id: int) -> list[UnclearReply]:
    """Replies without an option, or with a guess or a disclaimer, in the order of asking.

    Responses that a person has set are left out, as are empty replies.
    """
    names = tuple(UnclearReply.__dataclass_fields__)
    rows = (
        dict(zip(names, row, strict=True)) for row in database.rows(_UNCLEAR, {"study": study_id})
    )
    return [UnclearReply(**row | {"option_order": _codes(row["option_order"])}) for row in rows]


def _codes(option_order: str | None) -> tuple[str, ...]:
    return tuple(option_order.split(OPTION_MARK)) if option_order else ()


def judge_answers(database: Database, study_id: int) -> dict[str, JudgeAnswer]:
    """What a judge's study holds for each of its items, by the code of the item."""
    rows = database.rows(_JUDGED_ITEMS, [study_id])
    return {code: JudgeAnswer(*values) for code, *values in rows}


def changes_by_judge(
    database: Database, study_id: int, codings: Mapping[int, JudgedCoding]
) -> pa.Table:
    """The changes that replace codings by a judge's, by trial."""
    rows = database.rows(_NOW_WITH_FLAG, [study_id, list(codings)])
    changes = []
    for trial_id, status, option, attempt, tries, hedged in rows:
        given = codings[trial_id]
        changes.append(
            ResponseChange(
                trial_id,
                status,
                option,
                attempt,
                given.status,
                given.option,
                None,
                attempt,
                tries,
                layer=Layer.JUDGE,
                certainty=given.certainty,
                hedged=hedged,
                judge=given.judge,
            )
        )
    return change_table(changes)


def changes_undoing_judge(database: Database, study_id: int, trial_ids: Sequence[int]) -> pa.Table:
    """The changes that undo the codings of judges among these trials."""
    rows = database.rows(_BEFORE_JUDGE, [study_id, list(trial_ids)])
    return change_table([ResponseChange(*row) for row in rows])
