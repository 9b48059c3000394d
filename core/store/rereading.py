"""Replies on file as they are read again, and what the new readings change in the responses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from core.store.audits import apply_changes
from core.store.database import Database

_PAGE = 10_000  # trials, or a 20th of them: each page takes a look at every reply
_MOST_PAGES = 20
# Flat columns that Python groups: lists that DuckDB makes for each call take ten times as long.
_OF_PAGE = """
    select call_id from trial
    where study_id = $study and ordinal > $after and ordinal <= $until
"""
_TRIALS = f"""
select t.call_id, t.ordinal, t.trial_id, i.code as item,
    a.format, a.language, a.template, a.label_order, a.entity, a.entity_b, a.form,
    c.option_order, a.respondent_id
from trial t join item i using (item_id) join administration a using (administration_id)
    left join call_shown c using (call_id)
where t.study_id = $study and t.call_id in ({_OF_PAGE})
order by t.ordinal
"""  # noqa: S608 - the parts are constants
_REPLIES = f"""
select m.call_id, m.attempt_id, m.finish_reason, x.reply as text, k.body as tokens
from attempt m join attempt_text x using (attempt_id) left join attempt_token k using (attempt_id)
where m.study_id = $study and m.outcome = 'reply' and m.call_id in ({_OF_PAGE})
order by m.call_id, m.number
"""  # noqa: S608
_SIZE = """
select (select coalesce(max(ordinal), 0) from trial where study_id = $study),
    (select count(*) from person_set where study_id = $study),
    (select count(*) from response where study_id = $study and layer = 'judge'),
    (select count(*) from response where study_id = $study and parser is not null)
"""
_VERSIONS = """
select parser, count(*) from response where study_id = ? group by parser order by parser
"""
# What a person set has no parser, and neither has what a judge or an imported file gave.
_COMPARED = """
select r.trial_id, r.status as old_status, r.option as old_option,
    r.attempt_id as old_attempt_id, n.status, n.option, $parser::integer as parser, n.attempt_id,
    n.tries, n.chance, null::double as score, n.layer, n.certainty, n.hedged,
    null::varchar as judge, r.certainty as old_certainty, r.hedged as old_hedged,
    n.status <> r.status or n.option is distinct from r.option
        or n.attempt_id is distinct from r.attempt_id as changed,
    not changed and v.trial_id is null and (n.layer is distinct from r.layer
        or n.certainty is distinct from r.certainty or n.hedged is distinct from r.hedged) as rated
from response r join readings n using (trial_id) join trial t using (trial_id)
    left join (select trial_id from person_set where study_id = $study) v using (trial_id)
where r.study_id = $study
    and case when v.trial_id is null then r.parser is not null else $persons end
order by t.ordinal
"""
_RATE = """
update response r set layer = c.layer, certainty = c.certainty, hedged = c.hedged
from ratings c
where r.trial_id = c.trial_id and r.study_id = $study and r.parser is not null
    and r.status = c.status and r.option is not distinct from c.option
    and r.attempt_id is not distinct from c.attempt_id
"""
_CONFIRM = "update response set parser = ? where study_id = ? and parser is not null"


class AnsweredCalls(NamedTuple):
    """Calls with their trials in the order asked, and their replies in the order received.

    `trials` has call_id, ordinal, trial_id and item, then all that a call shows beside its items as
    far as replies are read by it. `replies` has call_id, attempt_id, finish_reason, text and tokens
    (JSON of the probabilities of the first token, if recorded). A call whose first trial does not
    stand behind the place `after` of the plan belongs to the part before.
    """

    after: int
    trials: pa.Table
    replies: pa.Table


@dataclass(frozen=True)
class RereadingSize:
    """The last place of a study's plan, and how many responses persons, judges and parsers set."""

    last_ordinal: int
    n_persons: int
    n_judged: int
    n_read: int


def rereading_size(database: Database, study_id: int) -> RereadingSize:
    """How much there is to read again, and how much of it others have decided."""
    return RereadingSize(*database.row(_SIZE, {"study": study_id}) or (0, 0, 0, 0))


def parser_versions(database: Database, study_id: int) -> dict[int | None, int]:
    """The number of responses that each version of the parser coded; None: no parser."""
    return dict(database.rows(_VERSIONS, [study_id]))


def answered_calls(
    database: Database, study_id: int, *, last_ordinal: int
) -> Iterator[AnsweredCalls]:
    """The calls of a study and their replies, a part at a time, in the order of the plan."""
    size = max(_PAGE, last_ordinal // _MOST_PAGES)
    for after in range(0, last_ordinal, size):
        values = {"study": study_id, "after": after, "until": after + size}
        yield AnsweredCalls(
            after, database.arrow(_TRIALS, values), database.arrow(_REPLIES, values)
        )


def compare_readings(
    database: Database, study_id: int, readings: pa.Table, *, parser: int, persons: bool
) -> pa.Table:
    """Responses beside their new readings, in the order of the plan.

    The columns of changes come first. `changed` says that status, option or reply differ, `rated`
    that only layer, certainty or disclaimer do. Imported and judged responses are left out, and
    those that a person has set unless `persons`.
    """
    values = {"study": study_id, "parser": parser, "persons": persons}
    with database.transaction() as cursor:
        cursor.register("readings", readings)
        try:
            return cursor.execute(_COMPARED, values).to_arrow_table()
        finally:
            cursor.unregister("readings")


def apply_readings(
    database: Database, study_id: int, changes: pa.Table, ratings: pa.Table, *, parser: int
) -> int:
    """Make the changes, keep the old codings, and return the number; all or nothing.

    `ratings` say how responses were read whose coding stays; old ratings are not kept. A response
    that something else has changed first stays as it is. All responses that a parser has read are
    those of this version from now on.
    """
    with database.all_or_nothing():
        count = apply_changes(database, study_id, changes, cause="parser")
        with database.transaction() as cursor:
            cursor.register("ratings", ratings)
            try:
                cursor.execute(_RATE, {"study": study_id})
            finally:
                cursor.unregister("ratings")
            cursor.execute(_CONFIRM, [parser, study_id])
    return count
