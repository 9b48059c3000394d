"""A click on a mark of a chart leads to the answers of its group and item."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.tables import count, key
from core.workflow.statistics import marks

RESULT = AnalysisResult(
    method="",
    unit="a row",
    n_used=3,
    n_missing=0,
    tables=(
        ResultTable(
            "items",
            "Items",
            pd.DataFrame(
                {
                    "respondent": ["a", "a", "b"],
                    "language": ["en", "de", "en"],
                    "item": ["q1", "q1", "q2"],
                    "n": [1, 2, 3],
                }
            ),
            (
                Column("respondent", "Respondent", role="group"),
                Column("language", "Language", role="group"),
                key("item", "Item"),
                count("n", "n"),
            ),
        ),
    ),
    item_texts={"q1": "One", "q2": "Two"},
)


def levels(**mark):
    behind = marks.levels_of_mark(RESULT, mark)
    return behind.levels, behind.is_whole


def test_a_group_an_item_and_a_level_by_itself_are_known_by_the_names_of_the_tables():
    both = {"respondent": "a", "language": "de"}
    assert levels(group="a · de", item="q1") == ({**both, "item": "q1"}, True)
    assert levels(group="all", item="b · en") == ({"respondent": "b", "language": "en"}, True)
    assert levels(group="de") == ({"language": "de"}, True)
    # what the mark stands for is more than its group
    assert levels(group="a · de", item="alpha") == (both, False)
    assert levels(group="all", item="alpha") == ({}, False)


def test_a_group_of_what_no_filter_names_has_no_replies_of_its_own():
    """Its item alone would lead to the replies of all groups."""
    assert levels(group="a · personas", item="q1") == ({}, False)
    # where the groups are the rows of a chart, something else may stand in their place
    assert levels(group="everyday", item="a · de") == (
        {"respondent": "a", "language": "de"},
        False,
    )
    (table,) = RESULT.tables
    frame = table.frame.copy()
    frame.insert(0, "context_set", ["personas", "none", "none"])
    columns = (Column("context_set", "Set", role="group"), *table.columns)
    by_set = replace(RESULT, tables=(ResultTable("items", "Items", frame, columns),))
    assert marks.levels_of_mark(by_set, {"group": "personas · a · en", "item": "q1"}).levels == {}
    several = (Column("study", "Study", role="group"), *table.columns)
    frame = table.frame.copy()
    frame.insert(0, "study", ["one", "two", "two"])
    by_study = replace(RESULT, tables=(ResultTable("items", "Items", frame, several),))
    found = marks.levels_of_mark(by_study, {"group": "two · a · de", "item": "q1"})
    assert found.levels == {"study": "two", "respondent": "a", "language": "de", "item": "q1"}


def test_the_mark_that_explains_itself_can_be_picked_and_a_line_cannot():
    line = {"mark": "line", "encoding": {"tooltip": []}}
    rule = {"mark": {"type": "rule"}, "encoding": {"x": {}}}
    point = {"mark": {"type": "point", "size": 9}, "encoding": {"x": {}, "tooltip": []}}
    spec = {"layer": [rule, point, point], "width": 3}
    picked = marks.with_pickable_marks(spec, ["group", "value"])
    assert [("params" in layer) for layer in picked["layer"]] == [False, True, False]
    (parameter,) = picked["layer"][1]["params"]
    assert parameter == {"name": "picked", "select": {"type": "point", "fields": ["group"]}}
    assert picked["layer"][1]["mark"] == {"type": "point", "size": 9, "cursor": "pointer"}
    assert spec["layer"][1] == point
    assert marks.with_pickable_marks({"layer": [line]}, ["group"]) is None
    assert marks.with_pickable_marks(spec, ["value"]) is None
    assert marks.with_pickable_marks(point, ["item"])["params"][0]["name"] == marks.PICKED
