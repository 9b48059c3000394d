"""The import of files whose columns have any names: roles, bank and keys on the page."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import streamlit
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.workflow.answers import bank_attachment, imports, mappings
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.statistics import analyses
from tests.pages import apps
from tests.pages.apps import fine
from tests.people_files import EXPECTED, ITEMS, files

open_page = partial(apps.open_page, "import_export")
FILES = files()


@pytest.fixture(autouse=True)
def no_leftovers():
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()


def upload(at, name, data, place=0):
    return fine(at.file_uploader[place].upload(name, data, "application/octet-stream").run())


def grid(at, column):
    (shown,) = [d for d in at.dataframe if d.proto.editing_mode and column in d.value.columns]
    return shown


def edit(at, column, edits):
    """What the browser sends after edits of a grid: all of them since it was drawn."""
    state = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
    states = at._tree.get_widget_states()
    editor = grid(at, column).proto.id
    states.widgets.append(WidgetState(id=editor, string_value=json.dumps(state)))
    return fine(at._run(states))


def field(at, label):
    (found,) = [
        f for f in [*at.text_input, *at.text_area, *at.selectbox, *at.checkbox] if f.label == label
    ]
    return found


def texts(at):
    return "\n".join(part.value for part in [*at.markdown, *at.caption, *at.warning, *at.success])


def press(at, key):
    return fine(at.button(key=key).click().run())


def test_an_spss_file_comes_in_with_keys_and_a_second_one_finds_its_bank(workspace):
    at = upload(open_page(), "people.sav", FILES["people.sav"])
    shown = grid(at, "Role").value.set_index("Column")
    assert shown["Role"].tolist() == [
        "person or context",
        *["group of people"] * 2,
        *["item"] * 22,
    ]
    assert shown.loc["i1", "Label"] == "Statement 1."
    assert shown.loc["gender", "Values"] == "1 = female, 2 = male"
    assert shown.loc["i1", "Missing in the file"] == "-8 = Refused to say, -9 = No answer"
    assert field(at, "Model").value == "people"
    keys = {
        str(row): {"Reversed": item in EXPECTED["reversed"], "Subscale": "F1" if row < 11 else ""}
        for row, item in enumerate(ITEMS)
    }
    at = edit(at, "Reversed", keys)
    assert "6 of 22 items" in texts(at)
    command = ".venv/bin/python -m core import people.sav --mapping people-mapping.yaml"
    assert command in [block.value for block in at.code]
    at = press(at, "data_keep")
    result = analyses.run(
        workspace, "internal_consistency", ["people"], {"missing": "listwise"}, {}
    )
    alpha = result.tables[0].frame.set_index("subscale")["alpha"]["F1"]
    assert alpha == pytest.approx(EXPECTED["F1"]["listwise"]["alpha"], abs=1e-12)
    at = upload(at, "wave2.csv", FILES["people.csv"])
    assert "22 of 22 item codes match" in field(at, "Bank of the items").value
    assert not [d for d in at.dataframe if "Reversed" in d.value.columns]
    press(at, "data_keep")
    assert studies.load(workspace, "wave2").instrument == "people"


def test_roles_labels_and_missing_values_can_be_changed(workspace):
    data = b"who,q1,q2,note\nx,Agree,7,5\ny,Disagree,Agree,6\n"
    at = upload(open_page(), "w.csv", data)
    assert "is a label without a value" in at.error[0].value
    at = fine(field(at, "Answers and their labels").set_value("1 = Disagree\n2 = Agree").run())
    assert "'7' is none of the answers 1, 2" in at.error[0].value.replace("\\", "")
    at = fine(field(at, "Further values that mean missing").set_value("7 = refused, NA").run())
    at = edit(at, "Role", {"0": {"Role": "person or context"}, "3": {"Role": "ignore"}})
    assert not at.error
    at = edit(at, "Reversed", {"1": {"Item code": "Q2", "Reversed": True}})
    at = fine(field(at, "Language").set_value("de").run())
    press(at, "data_keep")
    bank = editing.load(workspace, "w").instrument
    assert [(item.code, item.keyed) for item in bank.items] == [("q1", 1), ("Q2", -1)]
    assert bank.formats[0].options[1].labels == {"de": "Agree"}


def test_a_scale_without_reversed_items_is_keyed_once_somebody_says_so(workspace):
    data = b"who,q1,q2,q3\nx,1,2,2\ny,4,5,4\nz,3,3,2\n"
    at = upload(open_page(), "w.csv", data)
    at = edit(at, "Role", {"0": {"Role": "person or context"}})
    at = fine(field(at, "All items are one scale, and none is reversed").check().run())
    press(at, "data_keep")
    bank = editing.load(workspace, "w").instrument
    assert [(item.keyed, item.subscale) for item in bank.items] == [(1, "scale")] * 3
    assert not bank_attachment.is_unkeyed(workspace, "w")


def test_a_saved_mapping_is_used_again_and_one_of_another_file_is_refused(workspace):
    data = b"Participant,Question,Response\nx,q1,1\nx,q2,2\n"
    mapping = mappings.AnswerMapping(
        "long",
        {"Participant": "context", "Question": "item", "Response": "answer"},
        new_bank=mappings.NewBank("Saved", ("q2",)),
    )
    at = upload(open_page(), "l.csv", data)
    at = upload(at, "m.yaml", mappings.write_mapping(mapping).encode(), place=1)
    assert field(at, "Title of the new bank").value == "Saved"
    assert grid(at, "Reversed").value["Reversed"].tolist() == [False, True]
    at = upload(at, "other.yaml", b"layout: wide\ncolumns: {a: item}\n", place=1)
    assert "has no column" in at.error[0].value
    assert studies.list_studies(workspace) == ()


def test_the_layout_and_the_columns_of_a_tidy_file_can_be_changed(workspace):
    data = b"item,answer,age\nq1,1,30\nq2,2,31\n"
    at = upload(open_page(), "t.csv", data)
    assert not [d for d in at.dataframe if d.proto.editing_mode]
    at = fine(at.toggle[0].set_value(True).run())
    assert grid(at, "Role").value["Role"].tolist() == ["item", "answer", "tag"]
    at = fine(at.radio[0].set_value("wide").run())
    assert "no column is an item" in at.error[0].value
    with pytest.raises(Exception, match="no column 'item'"):
        imports.import_tidy(workspace, "x.csv", b"id,q1\n1,2\n")


def test_the_rows_of_the_header_are_found_shown_and_chosen(workspace):
    titled = b"Study of May,,\nid,q1,q2\np1,1,2\np2,2,1\np3,3,3\np4,1,1\np5,2,2\n"
    at = upload(open_page(), "t.csv", titled)
    assert "The names of the columns are taken from row 2" in texts(at)
    rows = {n.label.partition(" (")[0]: n for n in at.number_input}
    assert rows["Row with the names of the columns"].value == 2
    assert grid(at, "Role").value["Column"].tolist() == ["id", "q1", "q2"]
    press(at, "data_keep")
    assert studies.load(workspace, "t").n_trials == 10


def test_a_file_that_cannot_be_read_by_its_first_row_can_be_by_another(workspace):
    data = b"a,a,b\nid,q1,q2\np1,1,2\np2,2,1\n"
    at = upload(open_page(), "t.csv", data)
    assert "two columns are called 'a'" in at.error[0].value
    at = fine(at.number_input[0].set_value(2).run())
    assert not at.error
    assert grid(at, "Role").value["Column"].tolist() == ["id", "q1", "q2"]
    assert any("import t.csv --mapping t-mapping.yaml" in block.value for block in at.code)
    press(at, "data_keep")
    assert studies.load(workspace, "t").n_trials == 4


def test_people_who_stand_twice_are_shown_and_solved_and_reversed_items_taken(workspace):
    plain = [n * 7 % 5 + 1 for n in range(40)]
    rows = [f"p{n},{x},{min(x + n % 2, 5)},{6 - x}" for n, x in enumerate(plain)]
    data = "\n".join(["id,q1,q2,q3", *rows, "p7,1,1,1"]).encode()
    at = upload(open_page(), "w.csv", data)
    assert "the person 'p7' stands in line 9 already" in at.error[0].value.replace("\\", "")
    (shown,) = (d.value for d in at.dataframe if "Place" in d.value.columns)
    assert shown["Place"].tolist() == ["line 9", "line 42"]
    at = fine(
        next(r for r in at.radio if r.label == "What to do with them").set_value("first").run()
    )
    assert not at.error
    assert "These items look reversed" in "\n".join(i.value for i in at.info)
    (take,) = (b for b in at.button if b.label == "Take what is proposed")
    at = fine(take.click().run())
    assert grid(at, "Reversed").value["Reversed"].tolist() == [False, False, True]
    press(at, "data_keep")
    assert studies.load(workspace, "w").n_trials == 120
    bank = editing.load(workspace, "w").instrument
    assert [item.keyed for item in bank.items] == [1, 1, -1]


def test_the_imported_study_is_the_one_that_pages_show(workspace):
    for name in ("one.csv", "two.csv"):
        imports.import_tidy(workspace, name, b"item,answer\nq1,1\nq1,2\n".replace(b"q1,2\n", b""))
    at = apps.open_page("import_export", study="one")
    assert at.query_params["study"] in ("one", ["one"])
    at = upload(at, "three.csv", b"person,item,answer\np1,q1,1\np2,q1,2\n")
    at = press(at, "data_keep")
    assert at.query_params["study"] in ("three", ["three"])
    assert "three now holds 2 imported answers" in texts(at)
    assert [s.value for s in at.selectbox if s.label == "Study"] == ["three"]
    again = upload(at, "three.csv", b"person,item,answer\np3,q1,1\n")
    again = fine(next(s for s in again.selectbox if s.label == "Study").set_value("one").run())
    again = fine(again.checkbox(key="data_add:1").check().run())
    again = press(again, "data_keep")
    assert again.query_params["study"] in ("three", ["three"])
    assert [s.value for s in again.selectbox if s.label == "Study"] == ["three"]


def test_files_of_other_tools_come_in_with_their_items_persons_and_replies(workspace):
    folder = Path(__file__).parents[1] / "golden" / "other_tools"
    name = "qualtrics_text.csv"
    at = upload(open_page(), name, (folder / name).read_bytes())
    assert "This is a file of Qualtrics" in texts(at)
    shown = grid(at, "Role").value.set_index("Column")
    assert shown.loc["Q2_1", "Label"].startswith("Long-time residents")
    assert shown.loc[["ResponseId", "IPAddress"], "Role"].tolist() == [
        "person or context",
        "ignore",
    ]
    assert "8 of 8 item codes match" in field(at, "Bank of the items").value
    at = press(at, "data_keep")
    name = "openai_batch.jsonl"
    at = upload(at, name, (folder / name).read_bytes())
    roles = grid(at, "Role").value.set_index("Column")["Role"]
    assert roles["response.body.choices.message.content"] == "reply"
    assert "12 certain, 0 likely, 0 guess, 3 without an answer" in at.info[0].value
    at = press(at, "data_keep")
    kept = [study.code for study in studies.list_studies(workspace)]
    assert sorted(kept) == ["openai_batch", "qualtrics_text"]
    at = upload(at, "half.json", b'{"eval": {"model": ')
    assert "this is not JSON, or only a part of it" in at.error[0].value
