from __future__ import annotations

import csv
import io

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.analysis.kit.scripts.names import (
    Names,
    csv_text,
    distinct_lines,
    group_labels,
    safe_cell,
    text_csv,
)
from tests.analysis.kit.scripts.running import HOSTILE


@given(st.lists(st.text(), max_size=6))
def test_labels_of_groups_are_different_lines_that_survive_a_csv_file(names):
    labels = group_labels(names)
    assert len(set(labels)) == len(names)
    assert not any(label.startswith(("=", "+", "-", "@")) for label in labels)
    text = csv_text(["group", "x"], [(label, [1.0]) for label in labels])
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:] == labels
    text.encode("utf-8")


def test_groups_of_the_same_name_are_told_apart():
    assert distinct_lines(["a", "a\n", "", "a 2"]) == ["a", "a 2", "(none)", "a 2 2"]
    assert group_labels(["=1", "'=1"]) == ["'=1", "''=1"]


def test_plain_names_stay_and_others_become_names():
    names = Names()
    real = ("x1", "A.b_2", "a b", "a_b", "group", "if", "2x")
    made = ["x1", "A.b_2", "a_b", "a_b_2", "group_2", "item_if", "item_2x"]
    assert [names.of("item", own) for own in real] == made
    assert names.of("item", "项目") == "item"
    assert names.of("item", "项") == "item_2"
    assert names.of("factor", "x1") == "x1_2"
    assert names.of("item", "x1") == "x1"
    assert ("a_b", "item", "a b") in names.changed()
    assert ("x1_2", "factor", "x1") in names.changed()
    assert ("x1", "item", "x1") not in names.changed()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_becomes_a_short_plain_one(name):
    made = Names().of("item", name)
    assert made.isascii()
    assert made.replace("_", "").replace(".", "").isalnum()
    assert made[0].isalpha()
    assert len(made) <= 50


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_texts_survive_a_csv_file_as_single_lines(rows):
    cells = [tuple(map(safe_cell, row)) for row in rows]
    text = text_csv(("a", "b"), cells)
    assert len(text.splitlines()) == 1 + len(rows)
    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))][1:] == cells
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in cells for cell in row)


def test_numbers_keep_every_digit_and_gaps_are_empty():
    row = [1.0, 0.1, float("nan"), 1 / 3, float("inf"), -2.0, 1e300]
    text = csv_text(["group", *"abcdefg"], [("g", row)])
    cells = text.splitlines()[1].split(",")
    assert cells == ["g", "1", "0.1", "", "0.3333333333333333", "", "-2", "1e+300"]
