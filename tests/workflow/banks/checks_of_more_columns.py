"""What a field of an item gets by its declaration alone; test_more_columns.py runs these checks."""

from __future__ import annotations

import io
from dataclasses import replace

import openpyxl
import pytest

from core.domain.attributes import known_attributes
from core.domain.difference import differences
from core.domain.instrument import Instrument, Item, content_hash, problems
from core.errors import BankError
from core.files.banks.reading import read_instrument
from core.files.banks.writing import instrument_to_csv, instrument_to_xlsx
from core.store import banks as store
from core.workflow import glossary
from core.workflow.answers import exports, imports
from core.workflow.banks import editing, grid
from core.workflow.banks.grid import GridEdits
from core.workflow.opening import open_workspace
from core.workflow.statistics import explore, frames
from core.workflow.statistics.explore import View
from tests.pages import apps
from tests.pages.test_banks import report


@pytest.fixture
def bank(small_bank: Instrument) -> Instrument:
    """The small bank: a1 has both facts, a2 one, the other items none."""
    first, second, *others = small_bank.items
    facts = (replace(first, difficulty=7, author="Ann; Ben"), replace(second, difficulty=0))
    return replace(small_bank, items=(*facts, *others))


@pytest.fixture
def kept(workspace, bank):
    """The bank in the database."""
    return store.save_draft(workspace.database, bank, expected_revision=None, summary="Created")


@pytest.mark.parametrize("write", [instrument_to_csv, instrument_to_xlsx])
def test_a_file_has_the_columns_where_an_item_fills_them_and_reads_back(bank, small_bank, write):
    name = "bank.csv" if write is instrument_to_csv else "bank.xlsx"
    imported = read_instrument(name, write(bank))
    assert imported.instrument == bank
    assert not imported.errors
    assert not imported.warnings
    assert b"difficulty" not in instrument_to_csv(small_bank)


def test_the_columns_stand_in_the_header_of_both_kinds_of_file(bank):
    header = instrument_to_csv(bank).decode("utf-8-sig").splitlines()[0].split(",")
    assert {"difficulty", "author"} < {*header}
    workbook = openpyxl.load_workbook(io.BytesIO(instrument_to_xlsx(bank)))
    titles = [cell.value for cell in workbook["items"][1]]
    assert titles[titles.index("keyed") + 1 :][:2] == ["difficulty", "author"]


def test_a_wrong_cell_of_a_file_is_an_error_of_its_row():
    imported = read_instrument("bank.csv", b"code,text,difficulty\nq1,One,hard\nq2,Two,3\n")
    (error,) = imported.errors
    assert (error.line, error.column) == (2, "difficulty")
    assert error.reason == "'hard' is not a whole number"
    assert [item.difficulty for item in imported.instrument.items] == [None, 3]


def test_the_grid_shows_takes_and_checks_the_columns(bank, small_bank):
    assert grid.columns_of(bank)[-2:] == ("difficulty", "author")
    assert "author" not in grid.columns_of(small_bank)
    rows = grid.item_rows(bank, (0, 1, 2))
    assert rows["difficulty"].tolist()[:2] == [7, 0]
    assert rows["difficulty"].dtype == "float64"
    assert rows["author"].tolist() == ["Ann; Ben", "", ""]
    edits = GridEdits({0: {"difficulty": "4", "author": " Cy "}, 1: {"difficulty": "hard"}}, (), ())
    first, second, *_ = grid.edit_items(bank.items, range(4), edits)
    assert (first.difficulty, first.author, second.difficulty) == (4, "Cy", 0)
    (remark,) = grid.item_remarks(edits, grid.columns_of(bank), bank.items, range(4))
    assert remark == "Item a2: “hard” under Difficulty is no number from 0 up; nothing changed."
    assert grid.search_rows(bank, "ben") == (0,)


def test_the_page_banks_offers_the_columns_and_saves_what_is_typed(workspace, kept):
    at = apps.open_page("banks", bank="small")
    (table,) = [table for table in at.dataframe if table.proto.editing_mode]
    assert [*table.value.columns][-2:] == ["difficulty", "author"]
    assert "From 0: easy." in table.proto.columns
    (facts,) = [choice for choice in at.multiselect if choice.label == "Facts about the items"]
    assert {"Difficulty", "Author"} < {*facts.options}
    report(at, {"2": {"difficulty": 5, "author": "Di"}})
    saved = editing.load(workspace, "small").instrument.items[2]
    assert (saved.difficulty, saved.author) == (5, "Di")


def test_a_value_that_no_file_holds_and_an_attribute_of_the_name_are_refused(bank):
    with pytest.raises(BankError, match="item 'q' has the difficulty -1, which is not from 0 to"):
        instrument_to_csv(replace(bank, items=(Item("q", difficulty=-1),)))
    items = (replace(bank.items[0], attributes={"author": "Ann"}),)
    (problem,) = [p for p in problems(replace(bank, items=items)) if "Attribute" in p.where]
    assert problem.what == "is the name of a column that every bank has"
    with pytest.raises(BankError, match="name of a column that every bank has"):
        editing.attribute_name(bank, "difficulty")


def test_a_change_of_the_columns_is_a_difference_of_versions(bank):
    items = (replace(bank.items[0], difficulty=8, author="Cy"), *bank.items[1:])
    changed = replace(bank, items=items)
    assert content_hash(changed) != content_hash(bank)
    assert [(d.what, d.before, d.after, d.critical) for d in differences(bank, changed)] == [
        ("author changed", "Ann; Ben", "Cy", True),
        ("difficulty changed", "7", "8", False),
    ]


def test_a_database_file_keeps_the_columns_of_the_working_copy_and_of_a_version(
    workspace, kept, bank
):
    version = editing.publish(workspace, "small")
    path = workspace.database.path
    workspace.close()
    again = open_workspace(path)
    try:
        assert editing.load(again, "small").instrument == bank
        assert store.instrument(again.database, version.instrument_id) == bank
    finally:
        again.close()


def test_an_export_of_a_study_has_the_columns_and_analyses_filter_and_group_by_them(
    workspace, kept, bank
):
    answers = [f"s,small,{item},m,{answer}" for item, answer in (("a1", 3), ("a2", 2), ("b1", 1))]
    text = "\n".join(["study,instrument,item,model,answer", *answers])
    imports.import_tidy(workspace, "answers.csv", text.encode())
    assert read_instrument("bank.csv", exports.bank_csv(workspace, "s")).instrument == bank
    assert known_attributes(bank)[-2:] == ("item.difficulty", "item.author")

    def asked(**filters):
        where = {f"item.{name}": values for name, values in filters.items()}
        return sorted(frames.item_scores(workspace, ["s"], where)["item"].unique())

    assert asked(difficulty=["0..5"]) == ["a2"]
    assert asked(difficulty=["7", ""]) == ["a1", "b1"]
    assert asked(author=["Ann; Ben"]) == ["a1"]
    view = explore.count_view(workspace, "s", View("mean_score", "item.difficulty"))
    means = view.frame.set_index("item.difficulty")["value"].to_dict()
    assert means == {"0": 2, "7": 3, "(none)": 1}


def test_the_glossary_explains_the_columns(workspace):
    terms = {term.name: term for term in glossary.terms()}
    assert terms["Difficulty"].meaning == "From 0: easy."
    assert terms["Author"].group == terms["Subscale"].group
    at = apps.open_page("glossary")
    assert "Who wrote the item." in [part.value for part in at.markdown]
