from __future__ import annotations

import math

import pytest

from core.analysis.kit.adjusting import STARS, with_adjusted_p
from core.domain.tables import TableRows, TableSpec, key, number, p_value

TESTS = TableSpec(
    "tests",
    "Tests",
    (
        key("scale", "Scale"),
        number("difference", "Difference", "points"),
        p_value("p", "p"),
        p_value("p_adjusted", "Adjusted p"),
        STARS,
    ),
)


def rows_of_tests(*cells):
    rows = TableRows(TESTS, ["group"])
    for group, scale, p in cells:
        rows.add([group], scale=scale, difference=1e-17, p=p, p_adjusted=math.nan, stars="missing")
    return rows


def test_p_is_adjusted_within_each_family_after_holm():
    # Of a, .01 counts twice and .04 once; c alone stays as it is; without a p there is none.
    rows = rows_of_tests(
        ("a", "x", 0.04), ("c", "x", 0.0005), ("a", "y", 0.01), ("a", "z", math.nan)
    )
    frame = with_adjusted_p(rows.table(), "holm", ["group"]).frame
    assert frame["p_adjusted"].tolist() == pytest.approx(
        [0.04, 0.0005, 0.02, math.nan], nan_ok=True
    )
    assert frame["stars"].tolist() == ["*", "***", "*", ""]


def test_without_a_family_all_rows_are_one():
    frame = with_adjusted_p(rows_of_tests(("a", "x", 0.04), ("c", "x", 0.01)).table(), "holm").frame
    assert frame["p_adjusted"].tolist() == pytest.approx([0.04, 0.02])


def test_a_table_without_rows_stays_as_it_is():
    table = rows_of_tests().table()
    assert with_adjusted_p(table, "holm", ["group"]) is table


def test_rows_keep_their_last_digit_and_a_table_takes_rounding_for_zero():
    rows = rows_of_tests(("a", "x", 0.04))
    assert rows.frame()["difference"].tolist() == [1e-17]
    assert rows.table().frame["difference"].tolist() == [0.0]
