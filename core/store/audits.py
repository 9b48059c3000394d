"""Audits of replies by persons, and changes of codings by a newer parser or a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

import pandas as pd
import pyarrow as pa

from core.domain.values import stable_id
from core.store.collection import OPTION_MARK, PlannedCall, PlannedItem
from core.store.database import Database
from core.store.scoring import point_ranges_sql, score_sql

# Audits: seeded samples of replies, the codings of several persons, their notes, and final codings.

# The same seed and size give the sample on file, even after more replies have come in.
_ADD = "insert into audit values (?, ?, ?, ?, ?, now()) on conflict do nothing returning audit_id"
_DRAW = """
insert into audit_sample
with replied as (
    select r.trial_id, p.model
    from response r join trial t using (trial_id) join study s on s.study_id = t.study_id
        join administration a using (administration_id) join respondent p using (respondent_id)
    where r.study_id = $study and r.attempt_id in (select attempt_id from attempt_text)
        and (s.instrument_id, a.format) in (select (instrument_id, format) from answer_option)
),
placed as (
    select trial_id, row_number() over (partition by model order by
        md5_number_lower(concat_ws(chr(31), 'audit', $seed, trial_id)), trial_id) as place
    from replied
)
select $audit, $study, trial_id, place from placed where place <= $per_model
"""
_TIME = "strftime({} at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ')"
_AUDITS = """
select a.audit_id, a.study_id, a.seed, a.per_model, a.at_end, a.drawn_at,
    (select count(*) from audit_sample s where s.audit_id = a.audit_id),
    (select count(distinct trial_id) from coding c where c.audit_id = a.audit_id)
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
_SAMPLE = """
select t.trial_id, t.ordinal, p.model, p.label as respondent, i.code as item, a.language,
    a.format,
    case when v.trial_id is null then r.status else v.status end as parser_status,
    case when v.trial_id is null then r.option else v.option end as parser_option,
    r.status as data_status, r.option as data_option,
    v.trial_id is not null as taken, coalesce(x.reply, '') as reply
from audit_sample s join trial t on t.trial_id = s.trial_id
    join administration a using (administration_id) join respondent p using (respondent_id)
    join item i using (item_id) join response r on r.trial_id = s.trial_id
    left join person_set v on v.trial_id = s.trial_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where s.audit_id = ? order by p.model, s.place
"""
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

    `n_coded` counts the replies that any coder has coded.
    """

    audit_id: int
    study_id: int
    seed: int
    per_model: int
    at_end: bool
    drawn_at: datetime
    n: int
    n_coded: int


def draw(database: Database, study_id: int, *, seed: int, per_model: int, at_end: bool) -> int:
    """Draw `per_model` replies of each model, and return the audit's key.

    The sample follows from the seed and the plan: the same replies on file give the same sample
    everywhere. A sample of that seed and size that is on file already stays as it is. Trials of
    free text have no option and are left out.
    """
    audit_id = stable_id("audit", study_id, seed, per_model)
    with database.transaction() as cursor:
        added = cursor.execute(_ADD, [audit_id, study_id, seed, per_model, at_end]).fetchall()
        if added:
            keys = {"audit": audit_id, "study": study_id, "seed": seed, "per_model": per_model}
            cursor.execute(_DRAW, keys)
    return audit_id


def audits(database: Database, study_id: int) -> tuple[Audit, ...]:
    """The audits of a study, newest first."""
    return tuple(Audit(*row) for row in database.rows(_AUDITS, [study_id]))


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
    says that a person's has.
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
        "audit": audit_id, "trial": trial_id, "coder": coder, "status": status, "option": option,
    }  # fmt: skip
    with database.transaction() as cursor:
        cursor.execute(statement, values)


# Changes of responses by a newer parser or a person. The old values stay on file.

Cause = Literal["parser", "person", "undo"]

_PAGE = 20_000
_CALLS = """
with page as (
    select call_id from trial where study_id = $study and ordinal > $after
    order by ordinal limit $limit
)
select t.call_id, t.ordinal, t.trial_id, i.code,
    r.trial_id is not null and case when v.trial_id is null then r.parser is not null
        else v.parser is not null and $persons end,
    r.status, r.option, r.attempt_id,
    a.administration_id, a.respondent_id, a.language, a.context, a.entity, a.entity_b, a.form,
    a.format, a.template, a.label_order, a.phase, a.items_per_call, a.history, a.repetition,
    c.option_order, c.opinion
from trial t join administration a using (administration_id) join item i using (item_id)
    left join response r on r.trial_id = t.trial_id
    left join (select trial_id, parser from person_set where study_id = $study) v
        on v.trial_id = t.trial_id
    left join call_shown c on c.call_id = t.call_id
where t.study_id = $study and t.call_id in (select call_id from page)
order by t.ordinal
"""
_CONDITIONS = (
    "administration_id", "respondent_id", "language", "context", "entity", "entity_b", "form",
    "format", "template", "label_order", "phase", "items_per_call", "history", "repetition",
)  # fmt: skip
_REPLIES = """
select m.call_id, m.attempt_id, m.finish_reason, x.reply, k.body
from attempt m join attempt_text x using (attempt_id) left join attempt_token k using (attempt_id)
where m.study_id = ? and m.outcome = 'reply' and m.call_id in (select unnest(?::bigint[]))
order by m.call_id, m.number
"""
_VERSIONS = """
select parser, count(*) from response where study_id = ? group by parser order by parser
"""
_SIZE = """
select (select count(*) from trial where study_id = $study),
    (select count(*) from person_set where study_id = $study)
"""
_UNCHANGED = """
r.trial_id = c.trial_id and r.study_id = $study and r.status = c.old_status
    and r.option is not distinct from c.old_option
    and r.attempt_id is not distinct from c.old_attempt_id
"""
_KEEP = f"""
insert into recoding (trial_id, study_id, recoded_at, cause, status, option, parser, attempt_id,
    tries, chance, score)
select r.trial_id, r.study_id, now(), $cause, r.status, r.option, r.parser, r.attempt_id, r.tries,
    r.chance, r.score
from response r join changes c on {_UNCHANGED}
"""  # noqa: S608 - the condition is a constant of this module
_CHANGE = f"""
update response r set status = c.status, option = c.option, parser = c.parser,
    attempt_id = c.attempt_id, tries = c.tries, chance = c.chance, score = c.score
from changes c where {_UNCHANGED}
"""  # noqa: S608
_CONFIRM = "update response set parser = ? where study_id = ? and parser is not null"
_NOW = """
select r.trial_id, r.status as old_status, r.option as old_option, r.attempt_id as old_attempt_id,
    r.attempt_id, r.tries
from response r where r.study_id = ? and r.trial_id in (select unnest(?::bigint[]))
"""
_BEFORE_PERSON = """
select r.trial_id, r.status as old_status, r.option as old_option, r.attempt_id as old_attempt_id,
    v.status, v.option, v.parser, v.attempt_id, v.tries, v.chance, v.score
from person_set v join response r using (trial_id)
where v.study_id = ? and v.trial_id in (select unnest(?::bigint[]))
"""
_ROW = {
    "keyed": "i.keyed", "form": "a.form", "exception": "d.direction", "low": "b.low",
    "high": "b.high",
}  # fmt: skip
_NEW_SCORE = "case when c.trial_id is null then r.score else c.score end"
_MEANS = f"""
with scored as (
    select p.label as respondent, a.format, i.code as item, i.position,
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
_COLUMNS = (
    ("trial_id", pa.int64()), ("old_status", pa.string()), ("old_option", pa.string()),
    ("old_attempt_id", pa.int64()), ("status", pa.string()), ("option", pa.string()),
    ("parser", pa.int32()), ("attempt_id", pa.int64()), ("tries", pa.int32()),
    ("chance", pa.float64()), ("score", pa.float64()),
)  # fmt: skip


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


@dataclass(frozen=True)
class StoredReply:
    """A reply on file; `tokens` is the JSON of the first token's probabilities, if recorded."""

    attempt_id: int
    finish_reason: str
    text: str
    tokens: str | None


@dataclass(frozen=True)
class AnsweredCall:
    """A call with its replies in order. Items are `waiting` where they are to be coded again.

    `current` holds status, option and attempt of every trial that has a response, by trial.
    """

    call: PlannedCall
    replies: tuple[StoredReply, ...]
    current: dict[int, tuple[str, str | None, int | None]]


def parser_versions(database: Database, study_id: int) -> dict[int | None, int]:
    """The number of responses that each version of the parser coded; None: no parser."""
    return dict(database.rows(_VERSIONS, [study_id]))


def trial_counts(database: Database, study_id: int) -> tuple[int, int]:
    """Number of trials of a study, and of its responses that a person has set."""
    return database.row(_SIZE, {"study": study_id}) or (0, 0)


def answered_calls(
    database: Database, study_id: int, *, persons: bool
) -> Iterator[list[AnsweredCall]]:
    """Every call of a study with its replies, a page at a time, in the order of the plan.

    Imported responses are not coded again, and those that a person set only with `persons`.
    """
    last_ordinal = 0
    while True:
        values = {"study": study_id, "after": last_ordinal, "limit": _PAGE, "persons": persons}
        rows = database.rows(_CALLS, values)
        if not rows:
            return
        last_ordinal = rows[-1][1]
        # a call's rows stand together: its trials follow one another in the plan
        calls = [_call(list(group)) for _, group in groupby(rows, key=itemgetter(0))]
        yield _with_replies(database, study_id, calls)


def change_table(changes: Sequence[ResponseChange]) -> pa.Table:
    """Changes as `apply_changes` and `item_means` take them."""
    return pa.table(
        {name: pa.array([getattr(c, name) for c in changes], kind) for name, kind in _COLUMNS}
    )


def item_means(database: Database, study_id: int, changes: pa.Table) -> pd.DataFrame:
    """Item means by respondent and format before and after, where a change moves a score."""
    with database.transaction() as cursor:
        cursor.register("changes", changes)
        try:
            return cursor.execute(_MEANS, {"study": study_id}).df()
        finally:
            cursor.unregister("changes")


def apply_changes(
    database: Database,
    study_id: int,
    changes: pa.Table,
    *,
    cause: Cause,
    confirmed: int | None = None,
) -> int:
    """Make the changes and keep the old codings, in one transaction. Returns their number.

    A response that another change has reached first stays as it is. `confirmed` is the version of
    a parser that gives all other responses of the study the coding they have.
    """
    with database.transaction() as cursor:
        cursor.register("changes", changes)
        try:
            values = {"study": study_id, "cause": cause}
            count = cursor.execute(_KEEP, values).fetchone()
            cursor.execute(_CHANGE, {"study": study_id})
        finally:
            cursor.unregister("changes")
        if confirmed is not None:
            cursor.execute(_CONFIRM, [confirmed, study_id])
    return int(count[0]) if count else 0


def changes_by_person(
    database: Database, study_id: int, codings: dict[int, tuple[str, str | None]]
) -> pa.Table:
    """The changes that replace codings by a person's: status and option by trial."""
    rows = database.rows(_NOW, [study_id, list(codings)])
    changes = []
    for trial_id, status, option, old_attempt, attempt, tries in rows:
        coding = codings[trial_id]
        changes.append(
            ResponseChange(trial_id, status, option, old_attempt, *coding, None, attempt, tries)
        )
    return change_table(changes)


def changes_undoing_person(database: Database, study_id: int, trial_ids: Sequence[int]) -> pa.Table:
    """The changes that undo the codings of persons among these trials."""
    rows = database.rows(_BEFORE_PERSON, [study_id, list(trial_ids)])
    return change_table([ResponseChange(*row) for row in rows])


def _call(rows: list[tuple[Any, ...]]) -> AnsweredCall:
    option_order, opinion = rows[0][-2:]
    call = PlannedCall(
        call_id=rows[0][0],
        items=tuple(PlannedItem(row[2], row[3], row[4]) for row in rows),
        last_ordinal=rows[-1][1],
        **dict(zip(_CONDITIONS, rows[0][8:-2], strict=True)),
        option_order=tuple(option_order.split(OPTION_MARK)) if option_order else None,
        opinion=opinion or "",
        tries=0,  # as before the first attempt
        replies=0,
    )
    current = {row[2]: (row[5], row[6], row[7]) for row in rows if row[5] is not None}
    return AnsweredCall(call, (), current)


def _with_replies(
    database: Database, study_id: int, calls: list[AnsweredCall]
) -> list[AnsweredCall]:
    rows = database.rows(_REPLIES, [study_id, [answered.call.call_id for answered in calls]])
    replies = {
        call_id: tuple(StoredReply(*row[1:]) for row in group)
        for call_id, group in groupby(rows, key=itemgetter(0))
    }
    return [
        replace(answered, replies=replies[answered.call.call_id])
        for answered in calls
        if answered.call.call_id in replies
    ]
