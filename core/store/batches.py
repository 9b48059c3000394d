"""Batches: files of requests that went out, what became of each, and the calls that are in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa

from core.store.collection import prompt_table
from core.store.database import Database, insert

BatchStatus = Literal["exported", "waiting", "uploaded", "created", "done", "released"]
"""`exported`: its file is written, for a person; `waiting`: it waits to be uploaded; `uploaded`:
the service has the file; `created`: the service has the batch; `done`: its replies are on file;
`released`: its calls were given back."""

_BATCHES = """
with latest as (
    select batch_id, status, detail, reported_at from batch_event
    qualify row_number() over (partition by batch_id order by number desc) = 1
)
select b.batch_id, b.study_id, b.respondent_id, b.number, b.file, b.sha256, b.price_factor,
    b.exported_at, count(*) as calls, count(o.call_id) as waiting,
    e.status, e.detail, e.reported_at
from batch b join latest e using (batch_id) join batch_call c using (batch_id)
    left join call_out o on o.batch_id = c.batch_id and o.call_id = c.call_id
        and o.number = c.number
where $study is null or b.study_id = $study
group by all order by b.exported_at, b.number
"""
"""One query, as a batch that is written between two would be in the second alone."""
_NEXT_NUMBER = "select coalesce(max(number), 0) + 1 from batch where study_id = ?"
_ADD = "insert into batch values (?, ?, ?, ?, ?, ?, ?, now())"
_ADD_EVENT = """
insert into batch_event (batch_id, reported_at, status, detail) values (?, now(), ?, ?)
"""
_OUT = "select count(*), coalesce(sum(cost), 0) from call_out where study_id = ?"
_TRIES = """
select c.call_id, c.number, c.batch_id, c.prompt_id, c.request_hash, c.cost, b.price_factor,
    b.exported_at, m.outcome, m.message, m.http_status, m.finish_reason, m.model, m.tokens_in,
    m.tokens_out, x.reply, r.line_hash, coalesce(r.returned, false)
from batch_call c join batch b using (batch_id)
    left join attempt m on m.call_id = c.call_id and m.number = c.number
    left join attempt_text x on x.attempt_id = m.attempt_id
    left join batch_reply r on r.call_id = c.call_id and r.number = c.number
where c.study_id = $study and c.call_id in (select unnest($calls::bigint[]))
    and ($batch is null or c.batch_id = $batch)
order by c.number desc
"""
_STUDIES_OF = """
select call_id, s.code from trial join study s using (study_id)
where call_id in (select unnest(?::bigint[]))
"""

_ADD_DRIVE = """
insert into batch_drive (study_id, respondent_id, reported_at, kind, process, detail)
values (?, ?, now(), ?, ?, ?)
"""
_DRIVES = """
select study_id, respondent_id, kind, process, detail, reported_at from batch_drive
qualify row_number() over (partition by study_id, respondent_id order by number desc) = 1
"""
_PROGRESS = """
select count(*), count(r.trial_id) from trial t join administration a using (administration_id)
    left join response r on r.trial_id = t.trial_id
where t.study_id = ? and a.respondent_id = ?
"""


@dataclass(frozen=True)
class Batch:
    """A file of requests and what became of it. `waiting` counts its calls without a reply.

    `detail` holds the ids that the service gave (`file_id`, `service_id`), its own word for the
    state (`service_status`), its counts, and a `problem` in words.
    """

    batch_id: int
    study_id: int
    respondent_id: int
    number: int
    file: str
    sha256: str
    price_factor: float
    exported_at: datetime
    calls: int = 0
    waiting: int = 0
    status: BatchStatus = "exported"
    detail: Mapping[str, Any] = field(default_factory=dict)
    changed_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether its calls without a reply are kept from runs and from other batches."""
        return self.status not in ("done", "released")


@dataclass(frozen=True)
class BatchTry:
    """A try at a call that went into a batch, with what is on file of it.

    `line_hash` is None where no line has come for it. `cost` are US dollars at worst, with the
    price factor.
    """

    call_id: int
    number: int
    batch_id: int
    prompt_id: int
    request_hash: int
    cost: float | None
    price_factor: float
    exported_at: datetime
    outcome: str | None
    message: str | None
    http_status: int | None
    finish_reason: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    reply: str | None
    line_hash: int | None
    returned: bool


@dataclass(frozen=True)
class BatchDrive:
    """The newest word about driving the batches of one respondent of a study."""

    kind: str
    process: str
    detail: Mapping[str, Any]
    at: datetime


def next_number(database: Database, study_id: int) -> int:
    """The number of the next batch of a study."""
    row = database.row(_NEXT_NUMBER, [study_id])
    return int(row[0]) if row else 1


def save_batch(
    database: Database, batch: Batch, calls: pa.Table, prompts: Sequence[tuple[int, str]]
) -> None:
    """Write a batch with its calls and their prompts; from now on they are out.

    `calls` has the columns call_id, number, prompt_id, request_hash and cost.
    """
    n = calls.num_rows
    keys = {"batch_id": batch.batch_id, "study_id": batch.study_id}
    for name, value in keys.items():
        calls = calls.append_column(name, pa.array([value] * n, pa.int64()))
    with database.adding_answers(), database.transaction() as cursor:
        cursor.execute(
            _ADD,
            [
                batch.batch_id,
                batch.study_id,
                batch.respondent_id,
                batch.number,
                batch.file,
                batch.sha256,
                batch.price_factor,
            ],
        )
        insert(cursor, "prompt", prompt_table(prompts), key="prompt_id")
        insert(cursor, "batch_call", calls)
        cursor.execute(_ADD_EVENT, [batch.batch_id, batch.status, "{}"])


def report_batch(
    database: Database, batch_id: int, status: BatchStatus, detail: Mapping[str, Any]
) -> None:
    """Write what became of a batch."""
    with database.transaction() as cursor:
        cursor.execute(_ADD_EVENT, [batch_id, status, json.dumps(dict(detail))])


def batches(database: Database, study_id: int | None = None) -> tuple[Batch, ...]:
    """The batches of a study, or of all, oldest first."""
    found = []
    for *columns, status, detail, changed_at in database.rows(_BATCHES, {"study": study_id}):
        batch = Batch(*columns)
        found.append(
            replace(batch, status=status, detail=json.loads(detail), changed_at=changed_at)
        )
    return tuple(found)


def count_out(database: Database, study_id: int) -> tuple[int, float]:
    """How many calls of a study are out in batches, and what they cost at worst."""
    return database.row(_OUT, [study_id]) or (0, 0.0)


def tries(
    database: Database, study_id: int, call_ids: Sequence[int], batch_id: int | None
) -> dict[int, list[BatchTry]]:
    """The tries at the calls that went into batches, or into one batch; the newest first."""
    found: dict[int, list[BatchTry]] = {}
    names = {"study": study_id, "calls": list(call_ids), "batch": batch_id}
    for row in database.rows(_TRIES, names):
        found.setdefault(row[0], []).append(BatchTry(*row))
    return found


def studies_of(database: Database, call_ids: Sequence[int]) -> dict[int, str]:
    """The codes of the studies that the calls belong to, for those that any study has."""
    return dict(database.rows(_STUDIES_OF, [list(call_ids)]))


def save_lines(
    database: Database, study_id: int, lines: Sequence[tuple[int, int, int, bool]]
) -> None:
    """Write which lines came: call id, number of the try, hash, and whether it was given back."""
    ids, numbers, hashes, returned = zip(*lines, strict=True)
    columns = {
        "study_id": pa.array([study_id] * len(ids), pa.int64()),
        "call_id": pa.array(ids, pa.int64()),
        "number": pa.array(numbers, pa.int32()),
        "line_hash": pa.array(hashes, pa.int64()),
        "returned": pa.array(returned, pa.bool_()),
    }
    with database.transaction() as cursor:
        insert(cursor, "batch_reply", pa.table(columns))


def report_drive(
    database: Database,
    study_id: int,
    respondent_id: int,
    kind: str,
    process: str,
    detail: Mapping[str, Any],
) -> None:
    """Write that the driving of batches began, is to stop, or ended."""
    with database.transaction() as cursor:
        cursor.execute(
            _ADD_DRIVE, [study_id, respondent_id, kind, process, json.dumps(dict(detail))]
        )


def drives(database: Database) -> dict[tuple[int, int], BatchDrive]:
    """The newest word about every drive, by study and respondent."""
    return {
        (row[0], row[1]): BatchDrive(row[2], row[3], json.loads(row[4]), row[5])
        for row in database.rows(_DRIVES)
    }


def progress_of(database: Database, study_id: int, respondent_id: int) -> tuple[int, int]:
    """Planned trials of a respondent, and those with a response."""
    return database.row(_PROGRESS, [study_id, respondent_id]) or (0, 0)
