"""Import of answers that were collected elsewhere, part by part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

import duckdb
import pyarrow as pa

from core.domain.study import Design, as_json_values
from core.domain.values import stable_id
from core.errors import DesignError, FileError
from core.store.banks import item_id
from core.store.database import Database
from core.store.studies import FrozenStudy, check_name

_ADD_STUDY = "insert into study values (?, ?, 'imported', ?, ?, ?, now())"
_CHANGE_STUDY = "update study set design = ?, plan_hash = ? where study_id = ?"
_ADMINISTRATION_ID = """
cast(md5_number_lower(concat_ws(chr(31), 'administration', ?, model, language, context,
    entity, entity_b, form, format, template, label_order, phase, repetition,
    case when items_per_call <> '' then 'items_per_call ' || items_per_call end,
    case when history <> '' then 'history ' || history end,
    case when temperature <> '' then 'temperature ' || temperature end,
    case when top_p <> '' then 'top_p ' || top_p end,
    case when max_tokens <> '' then 'max_tokens ' || max_tokens end)) // 2 as bigint)
"""
_KEYED = f"""
create or replace temp table keyed as
select *, {_ADMINISTRATION_ID} as administration_id,
    'trial' || chr(31) || administration_id || chr(31) as start_of_trial
from incoming_administrations
"""  # noqa: S608 - all parts are constants of the program; values are parameters
# One administration of each format and one trial of each item, with the key they would have now.
_OTHER_KEYS = f"""
select
    (select count(*) from (
        select distinct on (a.format) a.administration_id as stored, r.label as model,
            a.* exclude (administration_id)
        from administration a join respondent r using (respondent_id) where a.study_id = ?
    ) where stored <> {_ADMINISTRATION_ID})
    + (select count(*) from (
        select distinct on (item_id) trial_id, administration_id, item_id from trial
        where study_id = ?
    ) t join item i using (item_id)
    where trial_id <> cast(md5_number_lower(
        concat_ws(chr(31), 'trial', t.administration_id, i.code)) // 2 as bigint))
"""  # noqa: S608
_FORMATS = "select distinct format from administration where study_id = ? order by 1"
_COMING = """
create or replace temp table coming as
select cast(md5_number_lower(k.start_of_trial || r.item) // 2 as bigint) as trial_id,
    k.administration_id, i.item_id, r.* exclude (administration)$blank
from incoming r join keyed k using (administration)
    join item i on i.code = r.item and i.instrument_id = ?
"""
MAY_BE_BLANK: Mapping[str, str] = {
    **dict.fromkeys(("call", "raw", "layer", "certainty", "hedged", "judge", "time"), "varchar"),
    **dict.fromkeys(("position", "tokens_in", "tokens_out"), "bigint"),
    **dict.fromkeys(("latency_s", "cost"), "double"),
}
"""Columns that the rows need not have, with their types."""
_COUNT_COMING = "select count(*), count(distinct trial_id) from coming"
_TWICE = """
select item, min(row), max(row) from coming group by trial_id, item
having count(*) > 1 order by 3 limit 1
"""
_OF_KNOWN_ADMINISTRATIONS = """
create or replace temp table likely_known as
select trial_id from coming where administration_id in
    (select administration_id from administration where study_id = ?
        and administration_id in (select administration_id from keyed))
"""
_COUNT_KNOWN = """
select count(*) from trial
where study_id = ? and trial_id in (select trial_id from likely_known)
"""
# A response that a person or another reading has changed since says nothing about the file.
_KNOWN = """
create or replace temp table known as
select c.trial_id, c.item, c.row, c.answer, c.status,
    coalesce(r.option, '') as old_answer, r.status as old_status,
    t.trial_id in (select trial_id from recoding where study_id = $study) or (
        c.status = r.status and c.answer = coalesce(r.option, '')
        and c.score is not distinct from r.score and c.raw = coalesce(x.reply, '')) as same
from coming c join trial t using (trial_id)
    left join response r on r.trial_id = t.trial_id and r.study_id = $study
    left join attempt_text x on x.attempt_id = r.attempt_id
where t.study_id = $study
"""
_CONFLICT = "select row, item, answer, status, old_answer, old_status from known where not same"
_LEAVE_OUT_KNOWN = "delete from coming where trial_id in (select trial_id from known)"
_RESPONDENTS = """
insert into respondent
select cast(md5_number_lower(concat_ws(chr(31), 'imported', model)) // 2 as bigint), model,
    'imported', model, '', now(), model
from (select distinct model from keyed) on conflict do nothing
"""
_ADMINISTRATIONS = """
insert into administration
select administration_id, $study,
    cast(md5_number_lower(concat_ws(chr(31), 'imported', model)) // 2 as bigint),
    language, context, entity, entity_b, form, format, template, label_order, phase,
    cast(repetition as integer), items_per_call, history, temperature, top_p, max_tokens
from keyed
where administration_id in (select administration_id from coming) and administration_id not in
    (select administration_id from administration where study_id = $study
        and administration_id in (select administration_id from keyed))
order by administration
"""
_TRIALS = """
insert into trial (trial_id, study_id, administration_id, item_id, ordinal, call, position, tags,
    call_id)
select trial_id, ?, administration_id, item_id, ? + row_number() over (order by row),
    nullif(call, ''), cast(position as integer), nullif(tags, ''), trial_id
from coming order by row
"""
_HAS_ATTEMPT = """
(raw <> '' or latency_s is not null or tokens_in is not null or tokens_out is not null
    or cost is not null or time <> '')
"""
_ATTEMPT_ID = "cast(md5_number_lower(concat_ws(chr(31), 'attempt', trial_id, 1)) // 2 as bigint)"
_ATTEMPTS = f"""
insert into attempt
select {_ATTEMPT_ID}, ?, trial_id, 1, null, null, try_cast(nullif(time, '') as timestamptz),
    latency_s, case when status = 'error' then 'error' else 'reply' end, null, '', '', '',
    cast(tokens_in as integer), cast(tokens_out as integer), cost, false
from coming where {_HAS_ATTEMPT} order by row
"""  # noqa: S608 - all parts are constants of the program; values are parameters
_TEXTS = f"""
insert into attempt_text select {_ATTEMPT_ID}, raw from coming where raw <> '' order by row
"""  # noqa: S608
_RESPONSES = f"""
insert into response (trial_id, study_id, attempt_id, status, option, score, parser, layer,
    certainty, hedged, judge)
select trial_id, ?, case when {_HAS_ATTEMPT} then {_ATTEMPT_ID} end, status, nullif(answer, ''),
    score, null, nullif(layer, ''), nullif(certainty, ''),
    case hedged when 'yes' then true when 'no' then false end, nullif(judge, '')
from coming order by row
"""  # noqa: S608
_LAST_ORDINAL = "select coalesce(max(ordinal), 0) from trial where study_id = ?"
_ADD_EVENT = """
insert into import_event
    (study_id, reported_at, kind, file, sha256, n_rows, n_saved, n_new, n_before)
values (?, now(), ?, ?, ?, ?, ?, ?, ?)
"""
_EVENTS = """
select s.code, e.kind, e.file, e.sha256, e.n_rows, e.n_saved, e.n_new, e.n_before
from import_event e join study s using (study_id)
qualify row_number() over (partition by study_id order by number desc) = 1
order by number
"""
_UNDONE_TRIALS = """
create or replace temp table undone as
select trial_id, call_id from trial where study_id = ? and ordinal > ?
"""
_IN_USE = """
select count(*) from undone where trial_id in (select trial_id from audit_sample)
    or trial_id in (select trial_id from recoding)
"""
_UNDO = (
    """delete from attempt_text where attempt_id in
        (select attempt_id from attempt where call_id in (select call_id from undone))""",
    "delete from attempt where call_id in (select call_id from undone)",
    "delete from response where trial_id in (select trial_id from undone)",
    "delete from trial where trial_id in (select trial_id from undone)",
    """delete from administration where study_id = $study and administration_id not in
        (select administration_id from trial where study_id = $study)""",
    "delete from import_event where study_id = $study",
    """delete from person_fact where study_id = $study
        and study_id not in (select study_id from trial where study_id = $study)""",
    """delete from person_value where study_id = $study and context not in
        (select context from administration where study_id = $study)""",
    """delete from study where study_id = $study
        and study_id not in (select study_id from trial where study_id = $study)""",
    """delete from study_log where study_id = $study
        and study_id not in (select study_id from study)""",
    """delete from study_shelf where study_id = $study
        and study_id not in (select study_id from study)""",
)
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


@dataclass(frozen=True)
class ImportEvent:
    """What the import of a file into a study has come to.

    `n_rows` of the file are for the study; `n_saved` of them are on file by now, of which `n_new`
    were not before. The study had `n_before` answers before the file.
    """

    study: str
    kind: str
    file: str
    sha256: str
    n_rows: int
    n_saved: int
    n_new: int
    n_before: int

    @property
    def unfinished(self) -> bool:
        """Whether rows of the file are missing in the study."""
        return self.kind != "finished"

    @property
    def words(self) -> str:
        """What an unfinished import has come to, as a sentence."""
        return (
            f"The import of '{self.file}' into the study '{self.study}' is not finished: "
            f"{self.n_saved:,} of {self.n_rows:,} rows are saved."
        )


def has_other_keys(database: Database, study: FrozenStudy) -> bool:
    """Whether equal rows of a file would not be recognised among the answers of the study.

    The keys of answers come from the codes of the bank that they were imported with.
    """
    own = study.study_id
    ((n_other,),) = database.rows(_OTHER_KEYS, [own, study.code, own])
    return bool(n_other)


def formats_of(database: Database, study_id: int) -> list[str]:
    """The answer formats of an imported study."""
    return [name for (name,) in database.rows(_FORMATS, [study_id])]


def add_imported_study(
    database: Database, design: Design, instrument_id: int, plan_hash: str
) -> int:
    """Save an imported study without answers. Returns the study's id."""
    check_name(database, design.study)
    study_id = stable_id("study", design.study)
    body = json.dumps(as_json_values(design), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_ADD_STUDY, [study_id, design.study, instrument_id, body, plan_hash])
    return study_id


def change_imported_study(
    database: Database, study_id: int, design: Design, plan_hash: str
) -> None:
    """Save what a study is after more answers have come to it."""
    body = json.dumps(as_json_values(design), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_CHANGE_STUDY, [body, plan_hash, study_id])


def add_answers(
    database: Database,
    study: FrozenStudy,
    rows: pa.Table,
    administrations: pa.Table,
    *,
    save: bool = True,
) -> int:
    """Add answers to an imported study, all or none. Returns how many were not on file.

    `rows` are tidy rows with the numbers of their `administrations`, and `row`, their number in the
    file from 1; columns of MAY_BE_BLANK may be left out. Rows that are on file already with the
    same answer stay as they are. Without `save`, the rows are only compared with those on file.

    Raises
    ------
    FileError
        A row has another answer than the one on file, or two rows become the same one.
    """
    with database.adding_answers(), database.transaction() as cursor:
        cursor.register("incoming", rows)
        cursor.register("incoming_administrations", administrations)
        cursor.execute(_KEYED, [study.code])
        blank = [
            f", cast({chr(39) * 2 if kind == 'varchar' else 'null'} as {kind}) as {name}"
            for name, kind in MAY_BE_BLANK.items()
            if name not in rows.column_names
        ]
        cursor.execute(_COMING.replace("$blank", "".join(blank)), [study.instrument_id])
        n_new = _leave_out_known(cursor, study, rows.num_rows)
        if save and n_new:
            own = [study.study_id]
            ((last,),) = cursor.execute(_LAST_ORDINAL, own).fetchall()
            cursor.execute(_RESPONDENTS)
            cursor.execute(_ADMINISTRATIONS, {"study": study.study_id})
            cursor.execute(_TRIALS, [*own, last])
            cursor.execute(_ATTEMPTS, own)
            cursor.execute(_TEXTS)
            cursor.execute(_RESPONSES, own)
        cursor.execute("drop table keyed")
        cursor.execute("drop table coming")
        cursor.unregister("incoming")
        cursor.unregister("incoming_administrations")
    return n_new


def _leave_out_known(cursor: duckdb.DuckDBPyConnection, study: FrozenStudy, n_rows: int) -> int:
    """Delete the coming rows that are on file; returns the number of the others."""
    ((n_coming, n_different),) = cursor.execute(_COUNT_COMING).fetchall()
    if n_coming != n_rows:
        raise RuntimeError("an item of the rows is not in the bank of the study")
    if n_coming != n_different:
        ((item, first, second),) = cursor.execute(_TWICE).fetchall()
        raise FileError(
            f"Answer {second:,}, item '{item}', is under the same conditions as answer {first:,}.",
            "Nothing of the file was imported. Delete one of them, or change its conditions.",
        )
    # most parts hold nothing that is known, or a person whose other answers are known
    cursor.execute(_OF_KNOWN_ADMINISTRATIONS, [study.study_id])
    ((n_likely,),) = cursor.execute("select count(*) from likely_known").fetchall()
    if n_likely:
        ((n_likely,),) = cursor.execute(_COUNT_KNOWN, [study.study_id]).fetchall()
    cursor.execute("drop table likely_known")
    if not n_likely:
        return int(n_coming)
    cursor.execute(_KNOWN, {"study": study.study_id})
    conflict = cursor.execute(f"{_CONFLICT} order by row limit 1").fetchone()
    if conflict is not None:
        row, item, answer, status, old_answer, old_status = conflict
        given, old = answer or status, old_answer or old_status or "no answer"
        differs = (
            f"'{given}', and the study has '{old}'"
            if given != old
            else (f"'{given}', as in the study, with another reply or score")
        )
        raise FileError(
            f"Answer {row:,} of the file, item '{item}': the file has {differs} under the same "
            f"conditions (study '{study.code}').",
            "Nothing of the file was imported. Correct the file, or import it under another name.",
        )
    cursor.execute(_LEAVE_OUT_KNOWN)
    cursor.execute("drop table known")
    ((n_new,),) = cursor.execute("select count(*) from coming").fetchall()
    return int(n_new)


def add_event(database: Database, study_id: int, event: ImportEvent) -> None:
    """Save what an import has come to."""
    values = [getattr(event, name.name) for name in fields(ImportEvent)[1:]]
    with database.transaction() as cursor:
        cursor.execute(_ADD_EVENT, [study_id, *values])


def unfinished_imports(database: Database) -> tuple[ImportEvent, ...]:
    """The newest event of each study whose last import is not finished, the oldest first."""
    return tuple(event for event in _newest_events(database) if event.unfinished)


def last_finished_import(database: Database) -> ImportEvent | None:
    """The large file whose import finished last, if its study is there."""
    finished = [event for event in _newest_events(database) if not event.unfinished]
    return finished[-1] if finished else None


def _newest_events(database: Database) -> list[ImportEvent]:
    """The newest event of each study, the oldest first."""
    return [ImportEvent(*row) for row in database.rows(_EVENTS)]


def undo_import(database: Database, study: FrozenStudy, n_before: int) -> int:
    """Delete the answers that came after the first `n_before`; the study too, if none are left.

    Returns how many were deleted.

    Raises
    ------
    DesignError
        Answers among them were drawn for an audit or coded anew.
    """
    with database.adding_answers(), database.transaction() as cursor:
        cursor.execute(_UNDONE_TRIALS, [study.study_id, n_before])
        ((n_used,),) = cursor.execute(_IN_USE).fetchall()
        if n_used:
            raise DesignError(
                f"{n_used:,} of these answers were drawn for an audit or coded anew.",
                "Continue the import instead: choose the same file again.",
            )
        ((n_undone,),) = cursor.execute("select count(*) from undone").fetchall()
        for sql in _UNDO:
            cursor.execute(sql, {"study": study.study_id} if "$study" in sql else [])
        cursor.execute("drop table undone")
    return int(n_undone)
