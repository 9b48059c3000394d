"""Tables of papers: numbers as the APA prints them, and reasons and cautions as footnotes."""

from __future__ import annotations

import math
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from core.analysis.items.item_statistics import item_statistics
from core.domain.notes import Place, about, undefined_note
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import high_end, low_end, remark
from core.errors import FileError
from core.workflow.statistics import analyses
from core.workflow.statistics.papers import charts_zip, paper_fault, paper_file, paper_table
from tests.analysis.score_frames import item_scores

NAN = float("nan")
VALUES = np.array([[1.0, 1, 2], [2, 3, 2], [3, 2, 4], [4, 4, 4], [1, 5, np.nan]])


def table(unit="none", **columns):
    frame = pd.DataFrame(columns or {"value": [1.0]})
    roles = {"ci_low": "low", "ci_high": "high"}
    declared = (Column(c, c.capitalize(), unit, role=roles.get(c, "")) for c in frame)
    return ResultTable("t", "T", frame, tuple(declared))


def result_of(*tables, notes=(), cautions=()):
    return AnalysisResult(
        tables, "one administration", 10, 2, "Method; 95% interval.", notes, cautions=cautions
    )


def printed(own, **notes):
    """Cells with their marks after ^, as rows."""
    paper = paper_table(result_of(own, **notes), own)
    return paper, [
        [cell.text + (f"^{cell.mark}" if cell.marks else "") for cell in row] for row in paper.rows
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.456, "correlation", ".46"),
        (-0.456, "correlation", "−.46"),
        (-1.2, "correlation", "−1.20"),
        (0.999, "proportion", "1.00"),
        (1.0, "proportion", "1.00"),
        (0.0, "correlation", ".00"),
        (-0.001, "correlation", ".00"),
        (0.5, "points", "0.50"),
        (3.125, "points", "3.13"),
        (1.005, "points", "1.01"),
        (-0.125, "correlation", "−.13"),
        (0.0625, "p", ".063"),
        (-0.5, "points", "−0.50"),
        (10.05, "points squared", "10.05"),
        (0.0312, "p", ".031"),
        (0.0496, "p", ".0496"),
        (0.0004, "p", "< .001"),
        (12345, "count", "12,345"),
        (3.0, "count", "3"),
        (-1, "none", "−1"),
        (1.234, "none", "1.23"),
        ("-text", "none", "-text"),
        ("two\nlines", "none", "two lines"),
        (True, "none", "yes"),
        (math.nan, "points", "–"),
    ],
)
def test_numbers_are_printed_in_apa_style(value, unit, text):
    own = table(unit, value=[value])
    assert paper_table(result_of(own), own).rows[0][0].text == text


def test_intervals_become_one_column_in_brackets():
    result = item_statistics(item_scores(VALUES), missing="listwise")
    paper = paper_table(result, result.tables[0])
    frame = result.tables[0].frame.iloc[0]
    assert not any(title.endswith(("low", "high")) for title in paper.header)
    low, high = (f"{frame[name]:.2f}" for name in ("ci_low", "ci_high"))
    expected = f"[{low}, {high}]".replace("0.", ".").replace("-", "−")
    assert paper.rows[0][paper.header.index("95% CI")].text == expected
    own = table("correlation", ci_low=[NAN, 0.1, NAN], ci_high=[NAN, 1.0, 0.5])
    assert [row[0].text for row in paper_table(result_of(own), own).rows] == [
        "–",
        "[.10, 1.00]",
        "[–, .50]",
    ]
    frame = own.frame
    columns = (
        low_end("ci_low", "CI low, never", "none", ""),
        high_end("ci_high", "CI high, never", "none", ""),
    )
    own = ResultTable("t", "T", frame, columns)
    assert paper_table(result_of(own), own).header == ("CI, never",)


def test_an_undefined_number_has_its_remark_as_footnote_and_a_caution_stands_at_the_value():
    frame = pd.DataFrame(
        {
            "respondent": ["m", "m", "n", "n"],
            "scale": ["A", "B", "A", "B"],
            "r": [0.5, NAN, 0.2, NAN],
            "p": [0.01, NAN, 0.2, NAN],
            "remark": ["Check its keying.", "Only one answer.", "", ""],
        }
    )
    columns = (
        Column("respondent", "Respondent"),
        Column("scale", "Scale"),
        Column("r", "r", "correlation"),
        Column("p", "p", "p"),
        remark(),
    )
    paper, rows = printed(
        ResultTable("t", "T", frame, columns),
        notes=(about(Place("m", "scale", "B"), "Only one answer."),),
    )
    assert paper.header == ("Respondent", "Scale", "r", "p")
    assert paper.numeric == (False, False, True, True)
    assert rows == [
        ["m", "A", ".50^a", ".010"],
        ["m", "B", "–^b", "–^b"],
        ["n", "A", ".20", ".200"],
        ["n", "B", "–^c", "–^c"],
    ]
    assert paper.footnotes == (
        "Check its keying.",
        "Only one answer.",
        "Undefined or not applicable.",
    )
    assert "Only one answer" not in paper.note  # the remark says it


def items_table():
    frame = pd.DataFrame(
        {
            "respondent": ["m", "m", "n"],
            "item": ["i1", "i12", "i1"],
            "r": [NAN, -0.4, 0.2],
        }
    )
    columns = (
        Column("respondent", "Respondent"),
        Column("item", "Item"),
        Column("r", "r", "correlation"),
    )
    return ResultTable("t", "T", frame, columns)


def test_notes_on_a_group_become_footnotes_where_they_name_a_row():
    paper, rows = printed(
        items_table(),
        notes=(
            about("m", "item i1: zero variance, so r is undefined."),
            "All contexts are one.",
        ),
        cautions=(
            about("m", "i12 loads against the others: check its keying."),
            about("n", "few; not xi1."),
        ),
    )
    assert rows == [["m", "i1", "–^a"], ["m", "i12", "−.40^b"], ["n^c", "i1", ".20"]]
    assert paper.footnotes == (
        "item i1: zero variance, so r is undefined.",
        "i12 loads against the others: check its keying.",
        "few; not xi1.",
    )
    assert "All contexts are one." in paper.note
    assert "zero variance" not in paper.note


def test_a_remark_that_refers_to_notes_brings_them():
    own = items_table()
    frame = own.frame.assign(remark=["No test; see the notes.", "", ""])
    own = ResultTable("t", "T", frame, (*own.columns, remark()))
    paper, rows = printed(own, cautions=(about("m", undefined_note("i1 has no variance.")),))
    assert rows[0] == ["m", "i1", "–^a, b"]
    assert paper.footnotes == ("No test; see the notes.", "i1 has no variance.")


def test_a_remark_of_its_own_is_the_reason_of_a_row():
    own = items_table()
    frame = own.frame.assign(remark=["i1 has one answer.", "", ""])
    own = ResultTable("t", "T", frame, (*own.columns, remark()))
    paper, rows = printed(own, cautions=(about("m", undefined_note("i1 has no variance.")),))
    assert paper.footnotes == ("i1 has no variance.", "i1 has one answer.")
    assert rows[0][-1] == "–^b"


def test_without_groups_what_names_no_row_stands_in_the_general_note():
    paper, rows = printed(
        table("correlation", item=["a", "b"], r=[0.1, 0.2]),
        cautions=(
            about("all administrations", "b is odd."),
            about("all administrations", "few rows."),
        ),
    )
    assert rows == [["a", ".10"], ["b", ".20^a"]]
    assert paper.footnotes == ("b is odd.",)
    assert "all administrations: few rows." in paper.note


def test_the_general_note_says_unit_n_missing_method_and_software():
    own = table()
    paper = paper_table(result_of(own), own, {"scipy": "1.17.1", "Inkblot": "0.1.0"}, 4)
    assert (paper.name, paper.title) == ("Table 4", "T")
    assert paper.note == (
        "Unit of analysis: one administration. Answers used: 10 (2 missing, 16.7% of 12). "
        "Method; 95% interval. Software: Inkblot 0.1.0, scipy 1.17.1."
    )
    partly = AnalysisResult((), "one administration", 410, 9, "Method", n_left_out=81)
    assert "used: 410 (81 left out by the analysis; 9 missing, 1.8% of 500)." in (
        paper_table(partly, own).note
    )
    plain = AnalysisResult((), "one trial", 1234, 0, "Counts")
    assert paper_table(plain, own).note == (
        "Unit of analysis: one trial. Answers used: 1,234 (none missing). Counts."
    )


def test_a_file_has_the_tables_with_rows_in_order():
    tables = (table(), table(value=[]), table(value=[2.0]))
    text = paper_file(result_of(*tables), tables, "html", {}, 7).decode()
    assert [f"<b>Table {n}</b>" in text for n in (7, 8, 9)] == [True, True, False]


def test_tables_without_rows_or_with_too_many_cells_are_no_tables_of_a_paper():
    assert paper_fault([table()]) == ""
    assert paper_fault([table(value=[])]) == "The tables have no rows."
    large = table(value=[1.0] * 20_001)
    with pytest.raises(FileError, match="20,001 cells, more than the 20,000 of a paper"):
        paper_file(result_of(large), [large], "tex", {})


def test_charts_come_in_every_format_with_their_words():
    analysis = analyses.by_name("item_statistics")
    result = item_statistics(item_scores(VALUES))
    with zipfile.ZipFile(BytesIO(charts_zip(analysis, result)[0])) as archive:
        names = archive.namelist()
        assert archive.read("chart_1.txt").startswith(b"Discrimination")
    assert names[:4] == ["chart_1.txt", "chart_1.png", "chart_1.svg", "chart_1.vl.json"]
    with pytest.raises(FileError, match=r"'cfa_check' has no charts for this result\."):
        charts_zip(analyses.by_name("cfa_check"), result)
