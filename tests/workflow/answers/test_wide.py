"""The table with a row for each administration, as CSV, Excel and SPSS files."""

from __future__ import annotations

import io

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from core.__main__ import main
from core.errors import NotEnoughData
from core.workflow.answers import imports, mappings, wide
from core.workflow.statistics import analyses
from tests.people_files import ITEMS, people, sav

LONG = (
    "item,context,repetition,answer,status\n"
    "calm,=1+1,1,1,\ncalm,b,1,3,\nupset,=1+1,1,3,\nupset,b,1,,refused\n"
)


@pytest.fixture
def two(workspace):
    """Two contexts, one of which a spreadsheet takes for a formula; an answer is missing."""
    imports.import_tidy(workspace, "two.csv", LONG.encode())
    return workspace


def sav_table(data, tmp_path):
    path = tmp_path / "wide.sav"
    path.write_bytes(data)
    return pyreadstat.read_sav(str(path), user_missing=True)


def test_a_row_is_a_context_and_a_column_an_item(two, tmp_path):
    csv = pd.read_csv(io.BytesIO(wide.export_wide(two, "two", "answers", "csv")))
    assert csv["context"].tolist() == ["'=1+1", "b"]
    assert csv["calm"].tolist() == [1, 3]
    assert csv["upset"].iloc[0] == 3
    assert csv["upset"].isna().tolist() == [False, True]
    assert not {"phase", "entity", "temperature"} & set(csv)  # they say nothing here
    book = openpyxl.load_workbook(io.BytesIO(wide.export_wide(two, "two", "answers", "xlsx")))
    header, *rows = book.active.iter_rows()
    cells = {title.value: cell for title, cell in zip(header, rows[0], strict=True)}
    assert cells["context"].data_type == "s"
    assert (cells["calm"].value, rows[1][list(cells).index("upset")].value) == (1, None)
    frame, about = sav_table(wide.export_wide(two, "two", "answers", "sav"), tmp_path)
    code = frame["upset"].iloc[1]
    assert code < -90
    assert about.variable_value_labels["upset"][code]
    ((lowest, highest),) = [one.values() for one in about.missing_ranges["upset"]]
    assert lowest <= code <= highest == -91


def test_facts_about_people_stand_beside_their_scores_and_come_back(workspace, tmp_path):
    guess = mappings.guessed(workspace, mappings.open_file("people.sav", sav()))
    imports.import_tidy(workspace, "people.sav", sav(), mapping=guess, study="s")
    frame, about = sav_table(wide.export_wide(workspace, "s", "scores", "sav"), tmp_path)
    assert len(frame) == len(people())
    assert set(frame["person.gender"]) == {"female", "male"}
    assert about.column_names_to_labels[ITEMS[0]] == "Statement 1."
    again = wide.export_wide(workspace, "s", "answers", "sav")
    guess = mappings.guessed(workspace, mappings.open_file("again.sav", again))
    imports.import_tidy(workspace, "again.sav", again, mapping=guess, study="again")
    alphas = [
        analyses.run(workspace, "internal_consistency", [study], {}, {}).tables[0].frame["alpha"]
        for study in ("s", "again")
    ]
    assert alphas[0].tolist() == pytest.approx(alphas[1].tolist())


def test_what_has_no_values_or_too_many_items_is_said(two, monkeypatch):
    words = "item,context,answer,status\nw,a,,refused\nw,b,,refused\n"
    imports.import_tidy(two, "none.csv", words.encode())
    with pytest.raises(NotEnoughData, match="no scores"):
        wide.export_wide(two, "none", "scores", "csv")
    monkeypatch.setattr(wide, "MOST_ITEMS", 1)
    with pytest.raises(NotEnoughData, match="too many"):
        wide.export_wide(two, "two", "answers", "csv")


def test_the_command_writes_both_tables(two, tmp_path):
    path = two.database.path
    data = wide.export_wide(two, "two", "answers", "xlsx")
    two.close()
    assert main(["--db", path, "export", "two", str(tmp_path / "out"), "--wide", "xlsx"]) == 0
    assert (tmp_path / "out" / "wide_answers.xlsx").read_bytes() == data
    assert "wide_answers.xlsx" in (tmp_path / "out" / "SHA256SUMS").read_text()


def test_the_command_fails_where_there_is_no_wide_table(two, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(wide, "MOST_ITEMS", 1)
    path = two.database.path
    two.close()
    assert main(["--db", path, "export", "two", str(tmp_path / "out"), "--wide", "csv"]) == 2
    assert "one answer per row" in capsys.readouterr().err


def test_an_item_named_as_a_condition_stands_beside_it(two):
    rows = "item,model,context,answer\nmodel,a,c,1\nmodel,b,c,2\nq,a,c,3\nq,b,c,1\n"
    imports.import_tidy(two, "odd.csv", rows.encode())
    made = pd.read_csv(io.BytesIO(wide.export_wide(two, "odd", "answers", "csv")))
    assert made[["condition.model", "model", "q"]].to_numpy().tolist() == [["a", 1, 3], ["b", 2, 1]]


def test_points_below_minus_90_are_no_missing_values(two):
    rows = "item,context,answer,status\nq,a,-95,\nq,b,5,\nq,c,,refused\nr,a,5,\nr,b,-95,\nr,c,5,\n"
    imports.import_tidy(two, "low.csv", rows.encode())
    made = pd.read_csv(io.BytesIO(wide.export_wide(two, "low", "answers", "csv")))
    assert made["q"].tolist()[:2] == [-95, 5]
    assert made["q"].isna().tolist() == [False, False, True]


def test_a_code_that_looks_like_a_number_stays_a_text(two):
    rows = "item,context,answer,person.zip,person.age\n" + "".join(
        f"{item},{who},{answer},{place},{age}\n"
        for who, place, age in (("a", "00501", 30), ("b", "01001", 41), ("c", "02002", 52))
        for item, answer in (("q", 1), ("r", 2))
    )
    imports.import_tidy(two, "zip.csv", rows.encode())
    made = wide.export_wide(two, "zip", "answers", "csv").decode()
    assert "00501" in made
    assert pd.read_csv(io.StringIO(made))["person.age"].tolist() == [30, 41, 52]
