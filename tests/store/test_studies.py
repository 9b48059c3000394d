from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from core.domain.study import Context, Design, Respondent
from core.domain.values import stable_id
from core.errors import DesignError
from core.files import answers
from core.files.columns import read_columns
from core.store import banks, imports, respondents, studies
from core.store.database import Database

PEOPLE = (Respondent("one", "simulated", "m"), Respondent("two", "simulated", "m2"))


def frozen(database, bank, *, people=PEOPLE, **changes):
    values = {
        "study": "s",
        "instrument": "small",
        "respondents": ("one", "two"),
        "languages": ("en", "de"),
        "formats": ("three",),
        "contexts": (Context("p1", "a nurse"), Context("p2", "a pilot"), Context("p3", "")),
        "entities": ("Acme", "Zeta"),
        "repetitions": 2,
    }
    design = Design(**{**values, **changes})
    version = banks.publish(database, bank)
    for person in people:
        respondents.add(database, person)
    return studies.freeze(
        database,
        design,
        instrument_id=version.instrument_id,
        respondent_ids=[[p.respondent_id for p in people]] * len(design.crossings()),
        settings={p.respondent_id: design.stated_settings(p) for p in people},
        plan_hash_of=lambda n, x: f"{n}-{x}",
        templates={"standard": "{}"},
    )


def test_a_plan_crosses_every_factor_once(database, small_bank):
    record = frozen(database, small_bank)
    assert record.n_trials == 2 * 2 * 3 * 2 * 2 * 4
    plan = studies.plan(database, record.study_id).to_pandas()
    cells = plan.drop(columns=["ordinal", "trial_id", "call_id"])
    assert not cells.duplicated().any()
    assert plan["ordinal"].tolist() == list(range(1, 193))


def test_items_of_one_administration_are_asked_together_in_bank_order(database, small_bank):
    plan = studies.plan(database, frozen(database, small_bank).study_id).to_pandas()
    assert plan["item"].tolist() == ["a1", "a2", "b1", "b2"] * 48
    assert plan["repetition"].is_monotonic_increasing


def test_ids_are_those_that_python_computes(database, small_bank):
    record = frozen(database, small_bank)
    row = studies.plan(database, record.study_id).to_pandas().iloc[0]
    administration = stable_id(
        "administration",
        "s",
        PEOPLE[0].respondent_id,
        "en",
        "p1",
        "Acme",
        "",
        "original",
        "three",
        "standard",
        "as_is",
        "initial",
        1,
    )
    assert row["respondent"] == "one"
    assert row["trial_id"] == stable_id("trial", administration, "a1")


def test_a_plan_made_twice_has_the_same_hash(small_bank):
    hashes = []
    for _ in range(2):
        database = Database(":memory:")
        hashes.append(frozen(database, small_bank).plan_hash)
        database.close()
    assert hashes[0] == hashes[1]


def test_a_taken_name_is_refused_and_nothing_is_kept(database, small_bank):
    frozen(database, small_bank)
    with pytest.raises(DesignError, match="already"):
        frozen(database, small_bank, repetitions=9)
    assert database.rows("select count(*) from study") == [(1,)]
    assert database.rows("select count(*) from trial") == [(192,)]


def test_without_contexts_and_entities_each_item_is_asked_once(database, small_bank):
    record = frozen(database, small_bank, contexts=(), entities=(), repetitions=1)
    assert record.n_trials == 2 * 2 * 4


def test_an_import_that_fails_at_its_last_row_keeps_nothing(database, small_bank):
    text = "item,answer,raw,format\na1,3,Three.,three\na2,1,One.,three\n"
    rows = answers.tidy_frame(read_columns("x.csv", text.encode()))
    rows = rows.assign(row=[1, 2], administration=0)
    table = pa.Table.from_pandas(rows, preserve_index=False)
    asked = pa.Table.from_pandas(
        rows.head(1).assign(model="m", language="en", form="original"), preserve_index=False
    )
    design = Design(study="s", instrument="small", respondents=("m",), languages=("en",))
    version = banks.publish(database, small_bank)
    imports.add_imported_study(database, design, version.instrument_id, "hash")
    study = studies.frozen_study(database, "s")
    without_status = table.set_column(
        table.column_names.index("status"), "status", pa.array(["answered", None])
    )
    with pytest.raises(duckdb.ConstraintException):  # the responses are written last
        imports.add_answers(database, study, without_status, asked)
    tables = ("respondent", "administration", "trial", "attempt", "attempt_text", "response")
    for name in tables:
        assert database.rows(f"select count(*) from {name}") == [(0,)], name  # noqa: S608
    for expected in (2, 0):  # rows on file are recognised
        assert imports.add_answers(database, study, table, asked) == expected
    assert studies.get(database, "s").n_responses == 2
