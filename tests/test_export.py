from __future__ import annotations

import csv
import io
import json
import math
import zipfile

import hypothesis.strategies as st
import numpy as np
import pandas as pd
from hypothesis import given

from core.analysis.items.item_statistics import item_statistics
from core.charts.panels import two_decimals
from core.domain.characters import readable
from core.domain.results import AnalysisResult, Column, ResultTable
from core.export import display_frame, result_json, result_zip, table_csv
from core.files.writing import unguard
from core.workflow.statistics.papers import paper_table
from tests.analysis.score_frames import item_scores

VALUES = np.array([[1.0, 1, 2], [2, 3, 2], [3, 2, 4], [4, 4, 4], [1, 5, np.nan]])


def table(unit="none", name="value", **columns):
    frame = pd.DataFrame(columns or {name: [1.0]})
    return ResultTable("t", "T", frame, tuple(Column(c, c.capitalize(), unit) for c in frame))


def result_of(*tables, notes=()):
    return AnalysisResult(tables, "one administration", 10, 2, "Method; 95% interval.", notes)


def read(data):
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def test_csv_has_every_digit_empty_cells_for_undefined_and_plain_line_ends():
    data = table_csv(table(a=[0.1 + 0.2, math.nan], b=[3, 4], c=[True, False], d=["ä, b", None]))
    assert data == 'a,b,c,d\n0.30000000000000004,3,true,"ä, b"\n,4,false,\n'.encode()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_read_back_are_the_numbers_written(values):
    rows = read(table_csv(table(value=values)))
    assert [float(row[0]) for row in rows[1:]] == values


@given(st.lists(st.text(min_size=1).map(readable), min_size=1))
def test_texts_come_back_and_none_starts_a_formula(values):
    rows = read(table_csv(table(value=values, other=["x"] * len(values))))
    assert [unguard(row[0]) for row in rows[1:]] == values
    assert not any(row[0].startswith(tuple("=+-@\t\r")) for row in rows)


def test_formulas_are_guarded_and_negative_numbers_are_not():
    assert table_csv(table(a=["=1+1", "-2"], b=[-2.5, -3.0])) == b"a,b\n'=1+1,-2.5\n'-2,-3\n"


def test_the_zip_holds_every_table_and_is_the_same_every_time():
    result = item_statistics(item_scores(VALUES))
    data = result_zip(result)
    assert data == result_zip(item_statistics(item_scores(VALUES)))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["items.csv", "summary.csv", "result.json"]
        assert archive.read("items.csv") == table_csv(result.tables[0])
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}


def test_json_keeps_every_number_and_undefined_is_null():
    result = item_statistics(item_scores(VALUES[:, :1]))
    body = json.loads(result_json(result))
    rows = body["tables"][0]["rows"]
    columns = [column["name"] for column in body["tables"][0]["columns"]]
    first = dict(zip(columns, rows[0], strict=True))
    frame = result.tables[0].frame
    assert first["variance"] == frame["variance"][0]
    assert first["discrimination"] is None
    assert first["zero_variance"] is False
    assert (body["n_used"], body["n_missing"]) == (5, 0)
    assert body["notes"] == [*result.cautions, *result.notes]
    assert json.loads(result_json(result_of(table(a=[math.inf]))))["tables"][0]["rows"] == [["inf"]]


def test_the_grid_the_paper_and_the_charts_round_a_tie_alike_and_csv_does_not_round():
    tied = table("points", mean=[3.125, -0.005, 2.675])
    assert display_frame(tied)["mean"].tolist() == [3.13, -0.01, 2.68]
    printed = paper_table(result_of(tied), tied)
    assert [row[0].text for row in printed.rows] == ["3.13", "−0.01", "2.68"]
    assert [two_decimals(value) for value in tied.frame["mean"]] == ["3.13", "-0.01", "2.68"]
    assert table_csv(tied) == b"mean\n3.125\n-0.005\n2.675\n"


def test_json_counts_what_an_analysis_leaves_out():
    partly = AnalysisResult((), "one administration", 410, 9, "Method", n_left_out=81)
    assert json.loads(result_json(partly))["n_left_out"] == 81


def test_an_empty_table_is_a_header():
    empty = table(value=[])
    assert table_csv(empty) == b"value\n"
