"""Columns of SPSS files and workbooks, with labels and missing values; and files of other kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.errors import FileError
from core.files import columns
from core.files.columns import ColumnLabels, read_columns
from core.files.tables import read_table
from tests.people_files import sav, spss, xlsx


def problem(name, data):
    with pytest.raises(FileError) as refused:
        read_columns(name, data)
    return str(refused.value)


def test_numbers_dates_and_texts_of_spss_are_text_and_its_words_stay():
    frame = pd.DataFrame(
        {
            "i1": [1.0, -9, np.nan],
            "i2": [2.5, 5, 95],
            "day": pd.to_datetime(["2026-01-02", None, "2026-01-03"]),
            "s": ["x", "zz", ""],
        }
    )
    read = read_columns(
        "a.sav",
        spss(
            frame,
            column_labels={"i1": "I like tea."},
            variable_value_labels={"i1": {1: "No", -9: "Refused", -8: "Gone"}, "s": {"x": "Ex"}},
            variable_measure={"i1": "ordinal", "i2": "scale", "s": "nominal"},
            missing_ranges={
                "i1": [{"lo": -9, "hi": -8}],
                "i2": [{"lo": 90, "hi": 99}],
                "s": ["zz"],
            },
        ),
    )
    assert {name: texts.to_pylist() for name, texts in read.columns.items()} == {
        "i1": ["1", "-9", ""],
        "i2": ["2.5", "5", "95"],
        "day": ["2026-01-02T00:00:00", "", "2026-01-03T00:00:00"],
        "s": ["x", "zz", ""],
    }
    assert read.labels == {
        "i1": ColumnLabels(
            "I like tea.",
            {"1": "No", "-9": "Refused", "-8": "Gone"},
            frozenset({"-9", "-8"}),
            is_ordinal=True,
        ),
        "i2": ColumnLabels("", {}, frozenset({"95"})),
        "s": ColumnLabels("", {"x": "Ex"}, frozenset({"zz"})),
    }
    assert read.place(1) == "row 2"


def test_rows_of_a_workbook_are_those_of_the_sheet():
    read = read_columns("a.xlsx", xlsx(["q1", "q2"], [1, None], [None, None], ["x", 2.5]))
    assert {name: texts.to_pylist() for name, texts in read.columns.items()} == {
        "q1": ["1", "x"],
        "q2": ["", "2.5"],
    }
    assert read.place(1) == "row 4"


def test_faulty_files_of_each_kind_have_one_message(monkeypatch):
    whole = sav()
    for data in (whole[:300], whole[:-400], b"hello"):
        assert "not an SPSS file, or it is damaged or incomplete" in problem("a.sav", data)
    assert "cell B2: there is a formula" in problem("a.xlsx", xlsx(["q1", "q2"], [1, "=1+1"]))
    assert "damaged or incomplete" in problem("a.xlsx", xlsx(["q1"], [1])[:800])
    assert "answers are read from .csv, .tsv, .txt, .xlsx" in problem("a.ods", b"")
    assert "two columns are called 'i1'" in problem("a.csv", b"i1,i1\n1,2\n")
    monkeypatch.setattr(columns, "_MAX_SPSS_CELLS", 3)
    assert "more than 3 cells" in problem("a.sav", whole)
    monkeypatch.setattr(columns, "_MAX_SPSS_CELLS", 10**6)
    monkeypatch.setattr(columns, "MAX_ROWS_TIDY", 39)
    assert "more than 39 rows" in problem("a.sav", whole)


def test_a_text_of_spss_in_another_encoding_is_told():
    data = spss(pd.DataFrame({"s": ["caf\u00e9"], "i1": [1]}))
    assert b"caf\xc3\xa9" in data
    message = problem("a.sav", data.replace(b"caf\xc3\xa9", b"caf\xe9\xe9"))
    assert "not in the encoding that the file names" in message


def test_protected_and_old_workbooks_are_told_apart():
    container = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(FileError, match="protected by a password"):
        read_table("a.xlsx", container + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(FileError, match=r"workbook of an old kind \(\.xls\)"):
        read_table("a.xlsx", container)
