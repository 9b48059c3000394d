"""The log of a study: who did what, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from core.store.database import Database

_ADD = "insert into study_log (study_id, logged_at, member, what) values (?, now(), ?, ?)"
# Codings are many and name their coder, so they are told by coder and day.
_ENTRIES = """
select logged_at as done_at, member, what from study_log where study_id = $study
union all
select max(coded_at), coder,
    'Coded ' || count(distinct trial_id) || if(count(distinct trial_id) = 1, ' reply', ' replies')
    || ' of a sample'
from coding where audit_id in (select audit_id from audit where study_id = $study)
group by audit_id, coder, coded_at::date
union all
select max(decided_at), adjudicator,
    'Adjudicated ' || count(distinct trial_id)
    || if(count(distinct trial_id) = 1, ' reply', ' replies') || ' of a sample'
from adjudication where audit_id in (select audit_id from audit where study_id = $study)
group by audit_id, adjudicator, decided_at::date
union all
select changed_at, member, what from study_shelf where study_id = $study
union all
select since, name, 'Adjudicates a sample from now on'
from adjudicator where audit_id in (select audit_id from audit where study_id = $study)
order by done_at desc, member, what
"""


@dataclass(frozen=True)
class LogEntry:
    """What a member did; the name is empty for who works alone."""

    done_at: datetime
    member: str
    what: str


def add_entry(database: Database, study_id: int, member: str, what: str) -> None:
    """Append an entry, in the transaction of what it tells of."""
    with database.transaction() as cursor:
        cursor.execute(_ADD, [study_id, member, what])


def entries(database: Database, study_id: int) -> tuple[LogEntry, ...]:
    """All entries, newest first."""
    return tuple(LogEntry(*row) for row in database.rows(_ENTRIES, {"study": study_id}))
