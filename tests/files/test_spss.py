"""Answers as SPSS files: names that SPSS takes, labels, user-missing values, equal bytes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from core.files.spss import SpssVariable, variable_names, write_sav

FRAME = pd.DataFrame(
    {"model": ["A", "Björn"], "q1": [1.0, -91.0], "Q1": [2.5, np.nan], "all": [3.0, 4.0]}
)
VARIABLES = [
    SpssVariable(
        "q1", "I like tea. (reverse-keyed)", {1: "no", 2: "yes", -91: "refused"}, (-99, -91)
    ),
    SpssVariable("Q1", "é" * 200, {2.5: "half"}),
    SpssVariable("all", "All of it", {}),
]


def test_values_labels_and_missing_values_are_read_back(tmp_path):
    path = tmp_path / "x.sav"
    path.write_bytes(write_sav(FRAME, VARIABLES, "tea"))
    frame, about = pyreadstat.read_sav(path, user_missing=True)
    assert frame.columns.tolist() == ["model", "q1", "Q1_2", "v_all"]
    assert frame["model"].tolist() == ["A", "Björn"]
    assert frame["q1"].tolist() == [1, -91]
    assert frame["Q1_2"].isna().tolist() == [False, True]
    assert about.variable_value_labels["q1"] == {1: "no", 2: "yes", -91: "refused"}
    assert about.missing_ranges == {"q1": [{"lo": -99, "hi": -91}]}
    assert about.column_names_to_labels["q1"] == "I like tea. (reverse-keyed)"
    assert about.column_names_to_labels["Q1_2"] == "é" * 125  # 250 bytes
    plain, _ = pyreadstat.read_sav(path)
    assert plain["q1"].isna().tolist() == [False, True]


def test_the_time_of_writing_is_not_in_the_file():
    assert write_sav(FRAME, VARIABLES, "tea")[92:109] == b"01 Jan 8000:00:00"


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("q1", "q1"),
        ("1q", "v_1q"),
        ("with", "v_with"),
        ("a b-c", "a_b_c"),
        ("", "v_"),
        ("q.", "q"),
        ("item.country", "item.country"),
        ("x" * 80, "x" * 58),
    ],
)
def test_names_that_spss_takes(column, name):
    assert variable_names([column]) == {column: name}
