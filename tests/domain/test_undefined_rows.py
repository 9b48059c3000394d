from __future__ import annotations

import math

import pytest

from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    key,
    number,
    point_estimate,
    remark,
    text,
)

SPEC = TableSpec(
    "table",
    "Table",
    (
        key("item", "Item"),
        count("n", "n"),
        number("mean", "Mean"),
        point_estimate("loading", "Loading", "correlation", "Of the item."),
        text("rule", "Rule"),
        remark(),
    ),
)


def test_a_row_without_numbers_has_nan_and_empty_texts_but_for_what_is_given():
    rows = TableRows(SPEC, ("language",))
    rows.add_undefined(("de",), item="a", n=0, remark="Too few.")
    (row,) = rows.table().frame.to_dict("records")
    assert (row["language"], row["item"], row["n"]) == ("de", "a", 0)
    assert math.isnan(row["mean"])
    assert math.isnan(row["loading"])
    assert (row["rule"], row["remark"]) == ("", "Too few.")


def test_a_row_without_numbers_has_no_cell_that_the_table_lacks():
    with pytest.raises(TypeError, match="has no columns"):
        TableRows(SPEC).add_undefined(item="a", median=2)
