"""A click on a mark of a chart leads to the answers of its group and item."""

from __future__ import annotations

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


def test_a_group_an_item_and_a_level_by_itself_are_known_by_the_names_of_the_tables():
    levels = marks.levels_of_mark(RESULT, {"group": "a · de", "item": "q1"})
    assert levels == {"respondent": "a", "language": "de", "item": "q1"}
    assert marks.levels_of_mark(RESULT, {"group": "all", "item": "b · en"}) == {
        "respondent": "b",
        "language": "en",
    }
    assert marks.levels_of_mark(RESULT, {"group": "de"}) == {"language": "de"}
    assert marks.levels_of_mark(RESULT, {"group": "all", "item": "alpha", "n": 3}) == {}


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
