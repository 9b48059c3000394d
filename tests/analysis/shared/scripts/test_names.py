from __future__ import annotations

import ast
import csv
import io

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.analysis.shared.scripts.names import (
    Names,
    comment,
    csv_text,
    distinct_lines,
    fill_template,
    group_labels,
    one_line,
    python_text,
    r_script,
    r_text,
)
from tests.analysis.shared.scripts.running import HOSTILE


@given(st.text())
def test_any_text_is_one_text_in_python_and_a_comment_is_only_comment(text):
    assert ast.literal_eval(python_text(text)) == text
    assert all(line.startswith("# ") for line in comment(text).splitlines())
    tree = ast.parse(comment(text) + "x = 1\n")
    assert len(tree.body) == 1


@given(st.text())
def test_a_text_in_r_ends_where_it_should_and_is_ascii(text):
    written = r_text(one_line(text))
    assert written.isascii()
    assert written.isprintable()
    inside = written[1:-1].replace("\\\\", "").replace('\\"', "")
    assert '"' not in inside
    assert r_script(written) == written


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
    assert "# a_b stands for the item a b\n" in names.table()
    assert "# x1_2 stands for the factor x1\n" in names.table()
    assert "for the item x1" not in names.table()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_becomes_a_short_plain_one(name):
    made = Names().of("item", name)
    assert made.isascii()
    assert made.replace("_", "").replace(".", "").isalnum()
    assert made[0].isalpha()
    assert len(made) <= 50


def test_what_is_put_into_a_template_is_not_searched_again():
    assert fill_template("@a@ and @b@", {"a": "@b@", "b": "2"}) == "@b@ and 2"


def test_numbers_keep_every_digit_and_gaps_are_empty():
    row = [1.0, 0.1, float("nan"), 1 / 3, float("inf"), -2.0, 1e300]
    text = csv_text(["group", *"abcdefg"], [("g", row)])
    cells = text.splitlines()[1].split(",")
    assert cells == ["g", "1", "0.1", "", "0.3333333333333333", "", "-2", "1e+300"]
