"""The page Import and export: preview, keeping, refusing, and the files of a study."""

from __future__ import annotations

import gzip
import io
import threading
import time
from functools import partial

import pandas as pd
import pytest
import streamlit

from core import progress
from core.errors import FileError
from core.files import parts
from core.store import imports as import_store
from core.workflow.answers import exports, imports, wide
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.packages import making
from core.workflow.runs import control
from core.workflow.statistics import analyses
from pages.import_export.page import COLUMNS, EXAMPLE
from pages.shared.downloads import plan
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import freeze, simulated

PLAIN = b"item,answer,model,wave\nq1,4,m,1\nq2,2,m,1\nq1,5,n,2\nq2,1,n,2\n"


@pytest.fixture(autouse=True)
def no_leftovers():
    streamlit.cache_data.clear()


open_page = partial(apps.open_page, "import_export")


def upload(at, name, data):
    return fine(at.file_uploader[0].upload(name, data, "application/octet-stream").run())


def press(at, key):
    return fine(at.button(key=key).click().run())


def texts(at):
    shown = [*at.markdown, *at.caption, *at.info, *at.warning, *at.success]
    return "\n".join(part.value for part in shown)


def table(at, column):
    (found,) = [d.value for d in at.dataframe if column in d.value.columns]
    return found


def commands(at):
    return [block.value for block in at.code]


@pytest.fixture
def collected(workspace):
    freeze(workspace, simulated(refusal_rate=0.1), n_personas=2)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    return workspace


def test_an_empty_database_explains_the_format_and_keeps_nothing(workspace):
    at = open_page()
    assert table(at, "Needed")["Column"].tolist() == [row[0] for row in COLUMNS]
    assert any("There is no study yet" in one.value for one in at.caption)
    assert ".venv/bin/python -m core import answers.csv --study my_study" in commands(at)
    assert studies.list_studies(workspace) == ()


def test_the_example_file_can_be_imported(workspace):
    (done,) = imports.import_tidy(workspace, "example_answers.csv", EXAMPLE.encode())
    assert done.n_rows == EXAMPLE.count("\n") - 1
    result = analyses.run(workspace, "item_statistics", [done.study], {}, {})
    assert result.tables[0].frame["missing"].sum() == 2


def test_a_preview_shows_what_would_come_and_keeps_nothing(workspace):
    before = editing.summaries(workspace)
    at = upload(open_page(), "my answers.csv", PLAIN)
    coming = table(at, "Bank is").iloc[0]
    assert (coming["Study"], coming["Answers"], coming["n"], coming["Missing"]) == (
        "my_answers",
        4,
        4,
        0,
    )
    assert (coming["Items"], coming["Respondents"]) == (2, 2)
    assert "wave" in texts(at)
    assert table(at, "answer")["answer"].tolist() == ["4", "2", "5", "1"]
    assert ".venv/bin/python -m core import 'my answers.csv'" in commands(at)
    assert studies.list_studies(workspace) == ()
    assert editing.summaries(workspace) == before


def test_the_page_says_which_bank_people_and_scores_it_takes_and_lets_one_choose(workspace):
    """The items of a bank on file, in other letters, with raw points in the column score."""
    bank = next(b for b in editing.summaries(workspace) if b.code == "attitudes_20")
    items = [item.code for item in editing.load(workspace, bank.code).instrument.items]
    rows = [f"p{p},{item.upper()},{p},{p}" for p in (1, 2) for item in items]
    data = "\n".join(["Participant,item,answer,score", *rows]).encode()
    at = upload(open_page(), "m.csv", data)
    assert "do not fit the bank" in at.error[0].value
    assert "already keyed" in at.error[0].value
    (choice,) = [s for s in at.selectbox if s.label == "Scores in the file"]
    at = fine(choice.set_value("raw").run())
    assert not at.error
    assert "20 of 20 item codes match" in texts(at)
    assert "The column" in texts(at)
    assert "It is taken as the context" in texts(at)
    assert ".venv/bin/python -m core import m.csv --scores raw" in commands(at)
    (wish,) = [s for s in at.selectbox if s.label == "Bank of the items"]
    at = fine(wish.set_value(f"{bank.title} ({bank.code})").run())
    command = ".venv/bin/python -m core import m.csv --bank attitudes_20 --scores raw"
    assert command in commands(at)
    press(at, "data_keep")
    assert studies.load(workspace, "m").instrument == "attitudes_20"


def test_a_bank_is_attached_to_answers_that_came_without_one(workspace):
    codes = [i.code for i in editing.load(workspace, "attitudes_20").instrument.items]
    rows = [f"p{p},{code},{p}" for p in (1, 2) for code in codes]
    data = "\n".join(["person,item,answer", *rows]).encode()
    imports.import_tidy(workspace, "early.csv", data, bank=imports.NEW_BANK)
    at = open_page(study="early")
    assert "20 of 20 item codes match" in texts(at)
    assert ".venv/bin/python -m core attach early --bank attitudes_20" in commands(at)
    at = press(at, "data_attach")
    assert "Study early belongs to bank attitudes" in texts(at).replace("\\", "")
    assert studies.load(workspace, "early").instrument == "attitudes_20"
    assert not [button for button in at.button if button.key == "data_attach"]


def test_keeping_makes_the_study_and_leads_to_it(workspace):
    at = upload(open_page(), "x.csv.gz", gzip.compress(PLAIN))
    (name,) = [f for f in at.text_input if f.label == "Name of the study"]
    at = fine(name.set_value("pilot").run())
    assert table(at, "Bank is")["Study"].tolist() == ["pilot"]
    assert ".venv/bin/python -m core import x.csv.gz --study pilot" in commands(at)
    at = press(at, "data_keep")
    assert studies.load(workspace, "pilot").n_responses == 4
    assert "Study pilot now holds 4 imported answers (its items are those of the file)." in texts(
        at
    )
    links = {link.label: link.proto.query_string for link in at.get("page_link")}
    assert links["Read the answers"] == links["See item statistics"] == "study=pilot"
    assert at.file_uploader[0].value is None


def test_further_answers_are_told_beside_all_that_the_study_holds(workspace):
    imports.import_tidy(workspace, "s.csv", b"item,person,answer\na,p,1\nb,p,2\n")
    at = upload(open_page(), "s.csv", b"item,person,answer\nb,p,2\na,q,1\nb,q,2\n")
    (adds,) = [box for box in at.checkbox if box.label == "Add to the study, if it is there"]
    at = fine(adds.check().run())
    at = press(at, "data_keep")
    assert (
        "Study s now holds 4 imported answers, 2 of them new (its items are those of the file)."
        in texts(at)
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            b"item,answer\nq1,4\nq2,\n",
            ("bad\\.csv", "line 3", "column answer", "the answer is empty"),
        ),
        (b"item,answer,repetition\nq1,4,often\n", ("line 2", "column repetition", "'often'")),
        (b"item\nq1\n", ("no column is an item",)),
        (b"item,answer,format\nq1,9,likert_5\n", ("'9' is not an option",)),
        (b"", ("empty",)),
        (b"item,answer\n", ("no rows",)),
        ("item,answer\nq1,größer\n".encode("latin-1"), ("UTF",)),
    ],
)
def test_a_bad_file_is_refused_with_file_line_column_and_reason(workspace, data, words):
    at = upload(open_page(), "bad.csv", data)
    said = "".join(e.value for e in at.error).replace("\\", "")
    for word in words:
        assert word.replace("\\", "") in said
    assert not [button for button in at.button if button.key == "data_keep"]
    assert studies.list_studies(workspace) == ()


def test_a_taken_name_is_refused_before_keeping_and_another_one_helps(workspace):
    imports.import_tidy(workspace, "x.csv", PLAIN)
    at = upload(open_page(), "x.csv", PLAIN)
    assert "There is a study called" in at.error[0].value
    (name,) = [f for f in at.text_input if f.label == "Name of the study"]
    at = press(fine(name.set_value("second").run()), "data_keep")
    assert studies.load(workspace, "second").n_responses == 4


def test_an_export_can_come_back_under_another_name(collected):
    data = exports.export_tidy(collected, "study")
    with pytest.raises(FileError, match="already"):
        imports.import_tidy(collected, "back.csv", data)
    (done,) = imports.import_tidy(collected, "back.csv", data, study="back")
    assert (done.study, done.created_instrument) == ("back", False)
    again = exports.export_tidy(collected, "back")
    assert again == data.replace(b"\nstudy,", b"\nback,")


def test_one_bad_study_of_several_in_a_file_keeps_none_of_them(workspace):
    text = (
        "study,instrument,item,answer,format\n"
        "good,new_bank,q1,1,likert_5\n"
        "bad,attitudes_20,no_such_item,1,likert_5\n"
    )
    before = editing.summaries(workspace)
    with pytest.raises(FileError, match="no item 'no_such_item'"):
        imports.import_tidy(workspace, "two.csv", text.encode())
    assert studies.list_studies(workspace) == ()
    assert editing.summaries(workspace) == before


def test_two_studies_of_one_new_bank_share_it(workspace):
    text = "study,instrument,item,answer\na,new,q1,1\na,new,q2,2\nb,new,q1,2\nb,new,q2,1\n"
    found = imports.preview_tidy(workspace, "two.csv", text.encode(), study="ignored")
    assert [(s.study, s.creates_instrument) for s in found.studies] == [("a", True), ("b", False)]
    kept = imports.import_tidy(workspace, "two.csv", text.encode(), study="ignored")
    assert [(s.study, s.created_instrument) for s in kept] == [("a", True), ("b", False)]


def test_a_preview_and_the_import_agree_on_a_parquet_file(workspace):
    frame = pd.DataFrame({"item": ["q1", "q2"], "answer": ["1", None], "status": ["", "refused"]})
    written = io.BytesIO()
    frame.to_parquet(written)
    found = imports.preview_tidy(workspace, "p.parquet", written.getvalue())
    assert (found.n_rows, found.studies[0].n_usable) == (2, 1)
    (done,) = imports.import_tidy(workspace, "p.parquet", written.getvalue())
    assert done.n_rows == found.studies[0].n_rows


def test_a_planned_study_gives_answers_bank_plan_and_design(collected):
    at = open_page(study="study")
    labels = {button.proto.label for button in at.get("download_button")}
    assert {
        "Bank of the study",
        "Plan with its hash and time",
        "Design, to plan the study again",
    } <= labels
    assert ".venv/bin/python -m core export study study_files" in commands(at)
    at = press(press(at, "prepare:csv"), "prepare:parquet")
    labels = {button.proto.label for button in at.get("download_button")}
    for file_format, word in (("csv", "CSV"), ("parquet", "Parquet")):
        data = exports.export_tidy(collected, "study", file_format)
        assert f"Download {word} ({len(data):,} bytes)" in labels
    assert plan("study").count(b"\n") == 42
    assert exports.bank_csv(collected, "study") == editing.export(
        collected, "attitudes_20", "csv", studies.load(collected, "study").version
    )


def test_a_row_for_each_administration_is_a_file_of_other_programs(collected):
    at = press(
        press(open_page(study="study"), "prepare:wide:scores:sav"), "prepare:wide:scores:xlsx"
    )
    at = fine(at.segmented_control(key="wide_values:study").set_value("answers").run())
    at = press(at, "prepare:wide:answers:csv")
    labels = {button.proto.label for button in at.get("download_button")}
    data = wide.export_wide(collected, "study", "answers", "csv")
    assert f"Download CSV, answers ({len(data):,} bytes)" in labels
    at = fine(at.segmented_control(key="wide_values:study").set_value("scores").run())
    labels = [button.proto.label for button in at.get("download_button")]
    for words, file_format in (("SPSS", "sav"), ("Excel", "xlsx")):
        data = wide.export_wide(collected, "study", "scores", file_format)
        assert f"Download {words}, scores ({len(data):,} bytes)" in labels


def test_a_file_prepared_earlier_is_made_anew_when_answers_have_come_in(workspace):
    freeze(workspace, simulated(), n_personas=1)
    at = press(open_page(study="study"), "prepare:csv")
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    at = fine(at.run())
    assert "The answers have changed since" in texts(at)
    at = press(at, "prepare:csv")
    (button,) = [b for b in at.get("download_button") if "Download CSV" in b.proto.label]
    assert f"{len(exports.export_tidy(workspace, 'study')):,} bytes" in button.proto.label


def test_an_imported_study_has_no_plan_and_says_so(workspace):
    imports.import_tidy(workspace, "x.csv", PLAIN)
    at = open_page(study="x")
    assert "no plan and no design" in texts(at)
    labels = [button.proto.label for button in at.get("download_button")]
    counts = "Counts of usable answers and of all others"
    assert labels == ["Example file", "Bank of the study", counts]


def test_hostile_files_are_shown_as_text(workspace):
    evil = "![x](http://evil.invalid/a.png) <img src=x> =1+1 :red[x]"
    data = f'item,answer,raw,"{evil}"\n"{evil}",1,"{evil}",1\n'.encode()
    at = upload(open_page(), f"{evil.replace('/', '_')}.csv", data)
    assert table(at, "answer")["raw"].tolist() == [evil]
    shown = [*at.markdown, *at.caption, *at.error, *at.success]
    assert "![x](" not in "".join(part.value for part in shown)
    at = press(at, "data_keep")
    assert "![x](" not in "".join(part.value for part in [*at.success, *at.markdown, *at.caption])


def test_a_package_is_made_and_its_study_comes_in_elsewhere(collected, tmp_path, monkeypatch):
    at = fine(open_page(study="study"))
    at.multiselect(key="package_analyses:study").set_value(["internal_consistency"])
    press(at, "package_make")
    made = making.package_of(collected, "study", ["internal_consistency"], begin=False)
    made.wait(20)
    monkeypatch.setenv("INKBLOT_DB", str(tmp_path / "elsewhere.duckdb"))
    streamlit.cache_resource.clear()
    at = fine(open_page())
    upload(at, "study.zip", made.value().data)
    assert "Study **study**: 40 answers, of 40 questions, by Simulated." in texts(at)
    press(at, "package_keep")
    assert "Study study now holds 40 imported answers (bank attitudes\\_20)." in texts(at)
    at = fine(open_page())
    upload(at, "study.zip", made.value().data)
    assert any("There is a study called" in error.value for error in at.error)


def test_a_large_file_comes_in_in_the_background_and_can_be_undone(workspace, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 100)
    rows = [
        f"q{item},p{person},{1 + (item + person) % 5}" for person in range(9) for item in range(4)
    ]
    data = "\n".join(["item,context,answer", *rows]).encode()
    left = ("rows saved", 20)

    def stops(done, total, unit):
        if (unit, done) == left:
            raise progress.Cancelled

    with pytest.raises(progress.Cancelled), progress.watch(stops):
        imports.import_tidy(workspace, "big.csv", data)
    at = open_page()
    assert "into the study big is not finished: 20 of 36 rows" in texts(at)
    at = press(at, "data_undo:big")
    assert "The import into the study big is undone: 20 answers are deleted." in texts(at)
    assert studies.list_studies(workspace) == ()
    at = wait_for(
        upload(at, "big.csv", data), lambda at: any(b.key == "data_keep" for b in at.button)
    )
    assert table(at, "Bank is")[["Answers", "On file"]].to_numpy().tolist() == [[36, 0]]
    at = press(at, "data_keep")
    assert "The import has begun." in at.toast[0].value
    at = wait_for(at, lambda at: "Study big now holds 36 imported answers" in texts(at))
    assert "The import is finished." in at.toast[0].value
    assert studies.load(workspace, "big").n_responses == 36
    last = "finished: **big\\.csv** into the study big, 36 rows, 36 of them new."
    assert last not in texts(at)  # what was imported is said above
    assert last in texts(fine(open_page()))  # after a reload


def test_a_canceled_import_tells_what_is_saved_once_the_part_under_way_is(workspace, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 100)
    begun, go_on, add = threading.Event(), threading.Event(), import_store.add_answers

    def held(*given, **choices):
        if workspace.database.row("select count(*) from trial")[0]:
            begun.set()
            go_on.wait(30)
        return add(*given, **choices)

    monkeypatch.setattr(import_store, "add_answers", held)
    rows = [f"q{item},p{person},1" for person in range(9) for item in range(4)]
    at = upload(open_page(), "big.csv", "\n".join(["item,context,answer", *rows]).encode())
    at = press(wait_for(at, lambda at: any(b.key == "data_keep" for b in at.button)), "data_keep")
    assert begun.wait(30)
    at = press(at, "cancel_computing:import of big.csv")
    assert "saved first" in at.get("progress")[0].proto.text
    assert "is not finished" not in texts(at)
    go_on.set()
    at = wait_for(at, lambda at: "big is not finished" in texts(at))
    (on_file,) = workspace.database.row("select count(*) from trial")
    assert on_file == 20
    assert f"{on_file} of 36 rows are saved" in texts(at)
    assert "The import is canceled." in texts(at)


def wait_for(at, holds):
    """The page once something holds, drawn again and again."""
    for _ in range(100):
        if holds(at):
            return at
        time.sleep(0.1)
        at = fine(at.run())
    raise AssertionError(texts(at))
