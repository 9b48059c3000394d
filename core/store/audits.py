"""Audits: seeded samples of replies, and what a person made of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pandas as pd

from core.domain.identifiers import stable_id
from core.store.database import Database

# Whoever asks for the same sample again gets the one on file, though more replies have come in.
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
_AUDITS = """
select a.audit_id, a.study_id, a.seed, a.per_model, a.at_end, a.drawn_at,
    (select count(*) from audit_sample s where s.audit_id = a.audit_id),
    (select count(distinct trial_id) from coding c where c.audit_id = a.audit_id)
from audit a where a.study_id = ? order by a.drawn_at desc, a.audit_id
"""
_PROGRESS = """
select p.model, count(*) as n,
    count(*) filter (where s.trial_id in (select trial_id from coding where audit_id = $audit))
        as coded
from audit_sample s join trial t using (trial_id)
    join administration a using (administration_id) join respondent p using (respondent_id)
where s.audit_id = $audit group by p.model order by p.model
"""
# Models take turns, so that tiredness and habit fall on all of them alike.
_UNFINISHED = """
select s.trial_id from audit_sample s join trial t using (trial_id)
    join administration a using (administration_id) join respondent p using (respondent_id)
where s.audit_id = $audit
    and s.trial_id not in (select trial_id from coding where audit_id = $audit)
order by s.place, p.model, s.trial_id limit 1
"""
_LATEST = """
select trial_id from coding where audit_id = ? group by trial_id order by max(number) desc
"""
_HOLDS = "select 1 from audit_sample where audit_id = ? and trial_id = ?"
_CODE = """
insert into coding (audit_id, trial_id, coded_at, status, option, parser_status, parser_option)
select $audit, r.trial_id, now(), $status, $option,
    case when v.trial_id is null then r.status else v.status end,
    case when v.trial_id is null then r.option else v.option end
from response r left join person_set v using (trial_id) where r.trial_id = $trial
"""
_CODED = """
with coded as (
    select * from coding where audit_id = $audit
    qualify row_number() over (partition by trial_id order by number desc) = 1
)
select t.trial_id, t.ordinal, p.model, p.label as respondent, i.code as item, a.language,
    a.format, c.status as person_status, c.option as person_option,
    case when v.trial_id is null then r.status else v.status end as parser_status,
    case when v.trial_id is null then r.option else v.option end as parser_option,
    c.parser_status as parser_status_then, c.parser_option as parser_option_then,
    v.trial_id is not null as taken,
    strftime(c.coded_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%SZ') as coded_at,
    coalesce(x.reply, '') as reply
from audit_sample s join coded c using (trial_id) join trial t on t.trial_id = s.trial_id
    join administration a using (administration_id) join respondent p using (respondent_id)
    join item i using (item_id) join response r on r.trial_id = s.trial_id
    left join person_set v on v.trial_id = s.trial_id
    left join attempt_text x on x.attempt_id = r.attempt_id
where s.audit_id = $audit order by p.model, s.place
"""


@dataclass(frozen=True)
class Audit:
    """One draw. `at_end` keeps the parser's verdicts back until everything is coded."""

    audit_id: int
    study_id: int
    seed: int
    per_model: int
    at_end: bool
    drawn_at: datetime
    n: int
    n_coded: int

    @property
    def finished(self) -> bool:
        """Whether every reply is coded."""
        return self.n_coded >= self.n


def draw(database: Database, study_id: int, *, seed: int, per_model: int, at_end: bool) -> int:
    """Draw so many replies of each model, and return the audit's key.

    The draw follows from the seed and the plan: the same replies on file give the same sample
    everywhere. A sample of that seed and size that is on file already is kept as it is. Questions
    that ask for a text have nothing to be coded and are left out.
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


def progress(database: Database, audit_id: int) -> pd.DataFrame:
    """By model: replies drawn (`n`) and coded."""
    return database.frame(_PROGRESS, {"audit": audit_id})


def unfinished(database: Database, audit_id: int) -> int | None:
    """The trial to be coded next; None when all are."""
    row = database.row(_UNFINISHED, {"audit": audit_id})
    return row[0] if row else None


def latest(database: Database, audit_id: int) -> tuple[int, ...]:
    """The trials coded so far, the one coded last first."""
    return tuple(row[0] for row in database.rows(_LATEST, [audit_id]))


def holds(database: Database, audit_id: int, trial_id: int) -> bool:
    """Whether a trial is in the sample."""
    return database.row(_HOLDS, [audit_id, trial_id]) is not None


def code(
    database: Database, audit_id: int, trial_id: int, *, status: str, option: str | None
) -> None:
    """Keep a person's coding of a reply; of several the newest counts, all stay on file."""
    values = {"audit": audit_id, "trial": trial_id, "status": status, "option": option}
    with database.transaction() as cursor:
        cursor.execute(_CODE, values)


def coded(database: Database, audit_id: int) -> pd.DataFrame:
    """Every reply coded so far with the person's coding and the parser's.

    The parser's is the one on file now, and where a person's coding was taken, the one before
    that; `parser_status_then` and `parser_option_then` are what it had said at the coding.
    """
    return database.frame(_CODED, {"audit": audit_id})
