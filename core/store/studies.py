"""Studies on file: frozen designs with contexts, templates and plan, and their amendments."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa

from core.domain.recipes import RECIPE, Recipe
from core.domain.study import (
    DESIGN,
    RESPONDENT,
    Context,
    Design,
    Respondent,
    Status,
    as_json_values,
    respondent_json,
)
from core.domain.values import json_value, name_fault, stable_id
from core.errors import DesignError
from core.store.database import Database
from core.store.plans import write_plan

_ADD_STUDY = "insert into study values (?, ?, 'planned', ?, ?, ?, now())"
_NAMED = """
select 1 from study where code = $name or study_id in (
    select study_id from study_shelf group by study_id having arg_max(title, number) = $name
)
"""
_SHELVE = """
insert into study_shelf (study_id, changed_at, member, title, place, what)
values (?, now(), ?, ?, ?, ?)
"""
_ADD_TEMPLATE = "insert into study_template values (?, ?, ?)"
_ADD_RECIPE = "insert into study_recipe values (?, ?, ?, ?)"
_RECIPES = "select set_name, contexts, body from study_recipe where study_id = ? order by set_name"
_SHELF = """left join (
    select study_id, arg_max(title, number) as title, arg_max(place, number) as place
    from study_shelf group by study_id
) p using (study_id)"""
_SUMMARY = f"""
select s.study_id, s.code, s.kind, s.design, s.plan_hash, s.frozen_at, s.instrument_id,
    i.code, i.version, coalesce(p.title, ''), coalesce(p.place, 'listed')
from study s join instrument i using (instrument_id)
    {_SHELF}
where s.code = coalesce(?, s.code)
order by s.frozen_at, s.code
"""  # noqa: S608 - all parts are constants of the program
_NAMES = f"""
select s.code, coalesce(p.title, '') from study s {_SHELF}
where coalesce(p.place, 'listed') = 'listed' order by s.frozen_at, s.code
"""  # noqa: S608 - all parts are constants of the program
_COUNTS = """
select study_id, t.n, coalesce(r.n, 0), coalesce(r.usable, 0), coalesce(f.n, 0) from
    (select study_id, count(*) as n from trial {of_study} group by study_id) t
    left join (
        select study_id, count(*) as n,
            count(*) filter (status in (select unnest($usable))) as usable
        from response {of_study} group by study_id
    ) r using (study_id)
    left join (
        select study_id, count(*) as n from (select * from trial {of_study})
            semi join (select call_id from attempt where outcome <> 'reply') using (call_id)
            anti join (select trial_id from response {of_study}) using (trial_id)
        group by study_id
    ) f using (study_id)
"""
_REVISION = """
with chosen as (select study_id, code, instrument_id from study where code in (select unnest(?)))
select code, instrument_id,
    (select count(*) from trial t where t.study_id = s.study_id),
    (select concat_ws(' ', count(*), count(layer), sum(parser)) from response r
     where r.study_id = s.study_id),
    (select count(*) from attempt a where a.study_id = s.study_id),
    (select count(*) from recoding c where c.study_id = s.study_id),
    (select max(number) from import_event e where e.study_id = s.study_id),
    (select count(*) from study_log l where l.study_id = s.study_id)
from chosen s order by code
"""
# DuckDB knows the number of rows of a table without reading it.
_SIZES = """
select (select count(*) from trial), (select count(*) from response),
    (select count(*) from attempt), (select count(*) from recoding)
"""
_USABLE = [str(status) for status in Status if status.usable]
_RESPONDENTS = """
select distinct r.respondent_id from administration a join respondent r using (respondent_id)
where a.study_id = ? order by 1
"""
_CONTEXTS = """
select code, text, messages, language, variant_of from study_context where study_id = ?
"""
_CONTEXT_TEXTS = (
    "select code, language, text from context_text where study_id = ? order by language"
)
_TEMPLATES_USED = """
select s.code, t.code from study s join study_template t on t.study_id = s.study_id
where t.code <> '' order by s.frozen_at, s.code
"""
_TEMPLATES = "select code, body from study_template where study_id = ? order by code"
_PLAN = """
select t.ordinal, t.trial_id, t.call_id, t.position, r.name as respondent, a.language, a.context,
    a.entity, a.entity_b, a.form, a.format, a.template, a.label_order,
    replace(c.option_order, chr(31), ' ') as option_order, a.phase, c.opinion,
    a.items_per_call, a.history, a.temperature, a.top_p, a.max_tokens, a.repetition,
    i.code as item
from trial t join administration a using (administration_id)
    join respondent r using (respondent_id) join item i using (item_id)
    left join call_shown c on c.call_id = t.call_id
where t.study_id = ? order by t.ordinal
"""


Place = Literal["listed", "archived", "deleted"]
"""Where a study stands: in all lists, or put away and in the lists of what is put away alone."""


@dataclass(frozen=True)
class FrozenStudy:
    """What a study was frozen or imported as, without its answers; `title` is '' or its new name.

    The code never changes, as the ids of trials are made of it.
    """

    study_id: int
    code: str
    kind: str  # planned or imported
    design: Design
    plan_hash: str
    frozen_at: datetime
    instrument_id: int
    instrument: str
    version: int
    title: str
    place: Place

    @property
    def name(self) -> str:
        """What people read in lists."""
        return self.title or self.code


@dataclass(frozen=True)
class StudyRecord(FrozenStudy):
    """A study on file, and how many answers it has.

    Usable answers have an option. Asked trials have a response, or all of their calls failed so
    far.
    """

    n_trials: int
    n_responses: int
    n_usable: int
    n_asked: int


def freeze(
    database: Database,
    design: Design,
    *,
    instrument_id: int,
    respondent_ids: Sequence[Sequence[int]],
    settings: Mapping[int, Mapping[str, str]],
    plan_hash_of: Callable[[int, int], str],
    templates: Mapping[str, str],
) -> StudyRecord:
    """Write a study with its plan; all of it or nothing.

    `plan_hash_of(n_trials, fingerprint)` gives the plan hash from the plan as written, so that a
    plan made twice has the same hash and the same trial ids. `templates` are the prompt templates
    of the study as JSON, by code. `respondent_ids` are those of each crossing of the design,
    `settings` the levels of SETTINGS of each of them.

    Raises
    ------
    DesignError
        No new study can have that name, the plan has no trial, or two trials have the same id.
    """
    check_name(database, design.study)
    study_id = stable_id("study", design.study)
    with database.transaction() as cursor:
        count, fingerprint = write_plan(
            cursor,
            design,
            study_id=study_id,
            instrument_id=instrument_id,
            respondent_ids=respondent_ids,
            settings=settings,
        )
        for code, body in templates.items():
            cursor.execute(_ADD_TEMPLATE, [study_id, code, body])
        body = json.dumps(as_json_values(design), ensure_ascii=False)
        plan_hash = plan_hash_of(count, fingerprint)
        cursor.execute(_ADD_STUDY, [study_id, design.study, instrument_id, body, plan_hash])
    return get(database, design.study)


def check_name(database: Database, name: str) -> None:
    """Raise DesignError where a new study cannot have this name."""
    if fault := name_fault(name):
        raise DesignError(f"The name of the study {fault}.", "Type another name.")
    if is_there(database, name):
        raise DesignError(f"There is a study called '{name}' already.", "Type another name.")


def is_there(database: Database, name: str) -> bool:
    """Whether a study is on file that had that name at first, or is shown under it."""
    return database.row(_NAMED, {"name": name}) is not None


def studies(database: Database, *, put_away: bool = False) -> tuple[StudyRecord, ...]:
    """Every study, oldest first; those archived or deleted only with `put_away`."""
    counts = _counts(database)
    records = (_record(_frozen(row), counts) for row in database.rows(_SUMMARY, [None]))
    return tuple(record for record in records if put_away or record.place == "listed")


def names(database: Database) -> tuple[tuple[str, str], ...]:
    """The code and the new name, if any, of each study in lists; neither designs nor counts."""
    return tuple((code, title) for code, title in database.rows(_NAMES))


def shelve(
    database: Database, study: FrozenStudy, title: str, place: Place, *, member: str, what: str
) -> None:
    """Give a study another name or place in lists; nothing of its plan or answers changes."""
    with database.transaction() as cursor:
        cursor.execute(_SHELVE, [study.study_id, member, title, place, what])


def get(database: Database, code: str) -> StudyRecord:
    """One study by its code."""
    study = frozen_study(database, code)
    return _record(study, _counts(database, study.study_id))


def frozen_study(database: Database, code: str) -> FrozenStudy:
    """One study by its code; its answers, which may be millions, are not counted."""
    row = database.row(_SUMMARY, [code])
    if row is None:
        raise DesignError(f"There is no study '{code}'.", "Choose one from the list of studies.")
    return _frozen(row)


def revision(database: Database, codes: Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """Numbers that change when the answers of these studies do: for caches only.

    They are the bank's version and the numbers of trials, responses, attempts, recodings and
    entries in the log. Rows of these tables are added and never deleted, and a response never
    changes without a recoding. Only how it was read does: then its version of the rules changes, or
    its layer is new. Facts about people may change in any way, which the log of the study says.
    """
    return tuple(database.rows(_REVISION, [list(codes)]))


def respondent_ids(database: Database, study_id: int) -> tuple[int, ...]:
    """The respondents of a study."""
    return tuple(row[0] for row in database.rows(_RESPONDENTS, [study_id]))


def contexts(database: Database, study_id: int) -> dict[str, Context]:
    """The contexts of a study by their codes."""
    translations: dict[str, list[tuple[str, str]]] = {}
    for code, language, text in database.rows(_CONTEXT_TEXTS, [study_id]):
        translations.setdefault(code, []).append((language, text))
    return {
        code: Context(
            code,
            text,
            tuple(json.loads(messages or "[]")),
            language,
            variant_of,
            translations=tuple(translations.get(code, ())),
        )
        for code, text, messages, language, variant_of in database.rows(_CONTEXTS, [study_id])
    }


@dataclass(frozen=True)
class StudyRecipe:
    """The recipe of a set, and how many contexts of the study are from the set."""

    set_name: str
    n_contexts: int
    recipe: Recipe


def add_recipe(database: Database, study_id: int, entry: StudyRecipe) -> None:
    """Keep with a study how its contexts were chosen from a corpus."""
    body = json.dumps(json_value(entry.recipe), ensure_ascii=False)
    with database.transaction() as cursor:
        cursor.execute(_ADD_RECIPE, [study_id, entry.set_name, entry.n_contexts, body])


def recipes(database: Database, study_id: int) -> tuple[StudyRecipe, ...]:
    """The recipes of the contexts of a study, by the name of the set."""
    return tuple(
        StudyRecipe(name, count, RECIPE.validate_json(body))
        for name, count, body in database.rows(_RECIPES, [study_id])
    )


def templates(database: Database, study_id: int) -> dict[str, str]:
    """The prompt templates of a study, as JSON, by their codes."""
    return dict(database.rows(_TEMPLATES, [study_id]))


def templates_used(database: Database) -> list[tuple[str, str]]:
    """Codes of studies and of the templates that they keep, oldest study first."""
    return database.rows(_TEMPLATES_USED)


def plan(database: Database, study_id: int) -> pa.Table:
    """The plan, one row per trial in the order of asking."""
    return database.arrow(_PLAN, [study_id])


Counts = dict[int, tuple[int, int, int, int]]
_COUNTED = "counts of studies"


def _counts(database: Database, study_id: int | None = None) -> Counts:
    """By study: trials, responses, usable ones, and trials whose calls all failed so far.

    Those of all studies are kept until a table has another number of rows (see `revision`).
    """
    sizes = None if database.in_transaction else database.row(_SIZES)
    before: Any
    counts: Counts
    before, counts = database.memory.get(_COUNTED, (None, {}))
    if sizes is not None and sizes == before:
        return counts
    if study_id is not None:
        sql = _COUNTS.format(of_study="where study_id = $study")
        return _by_study(database.rows(sql, {"usable": _USABLE, "study": study_id}))
    counts = _by_study(database.rows(_COUNTS.format(of_study=""), {"usable": _USABLE}))
    if sizes is not None:  # else what was read may be undone yet
        database.memory[_COUNTED] = sizes, counts
    return counts


def _by_study(rows: Sequence[tuple[Any, ...]]) -> Counts:
    return {row[0]: row[1:] for row in rows}


def _frozen(row: tuple[Any, ...]) -> FrozenStudy:
    study_id, code, kind, design, *others = row
    return FrozenStudy(study_id, code, kind, DESIGN.validate_json(design), *others)


def _record(study: FrozenStudy, counts: dict[int, tuple[int, int, int, int]]) -> StudyRecord:
    n_trials, n_responses, n_usable, n_failed = counts.get(study.study_id, (0, 0, 0, 0))
    return StudyRecord(
        **vars(study),
        n_trials=n_trials,
        n_responses=n_responses,
        n_usable=n_usable,
        n_asked=n_responses + n_failed,
    )


# Amendments: changes of a respondent after the study was frozen.

_ADD_AMENDMENT = """
insert into amendment (study_id, respondent_id, amended_at, change, reason, body)
values (?, ?, now(), ?, ?, ?)
"""
_AMENDMENTS = """
select respondent_id, amended_at, change, reason, body from amendment
where study_id = ? order by number
"""


@dataclass(frozen=True)
class Amendment:
    """A change of a respondent's settings. `respondent` has the settings from then on.

    `respondent_id` is that of the plan, which stays as it was frozen.
    """

    respondent_id: int
    amended_at: datetime
    change: str
    reason: str
    respondent: Respondent


def add_amendment(
    database: Database,
    study_id: int,
    respondent_id: int,
    respondent: Respondent,
    *,
    change: str,
    reason: str,
) -> None:
    """Append an amendment."""
    body = respondent_json(respondent)
    with database.transaction() as cursor:
        cursor.execute(_ADD_AMENDMENT, [study_id, respondent_id, change, reason, body])


def amendments(database: Database, study_id: int) -> tuple[Amendment, ...]:
    """The amendments of a study, oldest first."""
    return tuple(
        Amendment(respondent_id, at, change, reason, RESPONDENT.validate_json(body))
        for respondent_id, at, change, reason, body in database.rows(_AMENDMENTS, [study_id])
    )
