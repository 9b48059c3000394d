"""What changes between two results: rows matched by their texts, numbers before and after."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from core.domain.results import AnalysisResult, Column, ResultTable
from core.workflow.statistics.result_changes import (
    change_sentence,
    changed_result,
    changed_table,
    largest_change,
)


def table(columns, *rows, name="main"):
    """A table of columns such as "mean:points"; without a unit, a column has the unit none."""
    split = [(*column.split(":"), "none")[:2] for column in columns.split()]
    declared = tuple(Column(code, code.capitalize(), unit) for code, unit in split)
    return ResultTable(
        name, "Title", pd.DataFrame(rows, columns=[c.name for c in declared]), declared
    )


def result(*tables, used):
    return AnalysisResult(tables, "one administration", used, 0, "Method.")


def rows(changes):
    return [tuple(row) for row in changes.frame.itertuples(index=False)]


def test_each_number_stands_before_after_and_as_a_difference():
    before = table("model item mean:points n:count", ("A", "x", 3.0, 10), ("A", "y", 2.0, 10))
    after = table("model item mean:points n:count", ("A", "y", 2.5, 8), ("A", "x", 3.0, 10))
    changes = changed_table(before, after)
    assert list(changes.frame) == [
        "model",
        "item",
        "mean_before",
        "mean_after",
        "mean_difference",
        "n_before",
        "n_after",
        "n_difference",
    ]
    assert rows(changes) == [("A", "x", 3, 3, 0, 10, 10, 0), ("A", "y", 2, 2.5, 0.5, 10, 8, -2)]
    assert [c.unit for c in changes.columns[2:5]] == ["points"] * 3
    assert changes.columns[4].title == "Mean, difference"
    assert largest_change(changes) == "Largest difference of Mean: 2.000 before, 2.500 after (y)."


def test_a_row_or_column_that_is_gone_is_undefined_and_never_zero():
    before = table("model mean:points r:correlation", ("A", 3.0, 0.5), ("B", 2.0, 0.1))
    after = table("model mean:points", ("A", 3.0), ("C", 1.0))
    changes = changed_table(before, after).frame
    assert changes["model"].tolist() == ["A", "B", "C"]
    missing = ["mean_after", "mean_difference"]
    assert changes.loc[1, missing].isna().all()
    assert math.isnan(changes["mean_before"][2])
    assert changes["r_after"].isna().all()
    assert "undefined afterwards in 1 of 3 rows" in largest_change(changed_table(before, after))


def test_a_verdict_that_changes_stands_before_and_after_and_matches_no_row_wrongly():
    columns = "group light verdict mean:points remark"
    before = table(columns, ("A", "green", "equal", 1.0, ""), ("B", "red", "different", 2.0, ""))
    after = table(columns, ("A", "grey", "unclear", 1.0, "few"), ("B", "red", "different", 2.0, ""))
    changes = changed_table(before, after).frame
    assert changes["group"].tolist() == ["A", "B"]
    assert changes["light_before"].tolist() == ["green", "red"]
    assert changes["verdict_after"].tolist() == ["unclear", "different"]
    assert changes["remark_after"].tolist() == ["few", ""]
    assert changes["mean_difference"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("columns", "old", "new"),
    [
        ("rank word", [(1, "a"), (2, "b")], [(1, "b"), (2, "a")]),  # a rank is the key
        ("mean:points share:proportion", [(1.0, 0.1)], [(2.0, 0.2)]),  # no text at all
        ("first second r:correlation", [("A", "B", 0.1), ("A", "C", 0.2)], [("A", "C", 0.3)]),
    ],
)
def test_rows_are_matched_by_as_many_columns_as_tell_them_apart(columns, old, new):
    changes = changed_table(table(columns, *old), table(columns, *new))
    assert len(changes.frame) == len(old)
    if "rank" in columns:
        assert rows(changes) == [(1, "a", "b"), (2, "b", "a")]
    elif "mean" in columns:
        assert changes.frame["mean_difference"].tolist() == [1]
    else:
        assert changes.frame["r_difference"].round(9).tolist()[1] == 0.1
        assert changes.frame["second"].tolist() == ["B", "C"]


def test_equal_rows_are_matched_by_their_place():
    before = table("model r:correlation", ("A", 0.1), ("A", 0.2))
    after = table("model r:correlation", ("A", 0.2), ("A", 0.2))
    assert changed_table(before, after).frame["r_difference"].tolist() == [0.1, 0]


def test_an_equal_table_changes_nothing():
    same = table("model flag n:count", ("A", True, 1), ("B", False, 2))
    changes = changed_table(same, same)
    assert list(changes.frame) == ["model", "flag", "n_before", "n_after", "n_difference"]
    assert largest_change(changes) == "No value of N changes."
    assert changes.frame["flag"].tolist() == ["yes", "no"]


def test_the_sentence_has_the_scores_used_and_the_changed_result_keeps_its_notes():
    before = result(table("item mean:points", ("x", 3.0)), table("a", ("b",), name="gone"), used=20)
    after = result(table("item mean:points", ("x", 2.0)), used=18)
    changed = changed_result(before, after, "scores")
    assert [one.name for one in changed.tables] == ["main"]
    sentence = change_sentence(before, after, "scores", changed.tables[0])
    assert sentence == (
        "Scores used: 18 instead of 20. Largest difference of Mean: 3.000 before, 2.000 after."
    )
    assert changed.notes == (sentence,)
