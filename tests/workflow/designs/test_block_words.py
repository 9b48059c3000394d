"""Blocks made from ticked cells, and blocks in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.study import Block, Design
from core.errors import DesignError
from core.workflow.designs import forms
from core.workflow.designs.blocks import blocks_of_cells, differences, unused_levels

FORMS, ORDERS = ("original", "alternate"), ("as_is", "random")


def test_three_of_four_cells_are_two_blocks():
    cells = {"original": ["random", "as_is"], "alternate": ["as_is"]}
    both, one = blocks_of_cells("forms", "label_orders", cells, ORDERS)
    assert (both.forms, both.label_orders) == (("original",), ("as_is", "random"))
    assert (one.forms, one.label_orders) == (("alternate",), ("as_is",))
    assert one.name == "alternate × as in the bank"
    assert one.templates is None


def test_rows_with_the_same_cells_are_one_block_and_empty_rows_none():
    cells = {"t1": ["yes_no"], "t2": ["a_b"], "t3": ["yes_no"], "t4": []}
    blocks = blocks_of_cells("templates", "formats", cells, ("yes_no", "a_b"))
    assert [(block.templates, block.formats) for block in blocks] == [
        (("t1", "t3"), ("yes_no",)),
        (("t2",), ("a_b",)),
    ]


def test_a_full_crossing_needs_no_block():
    assert blocks_of_cells("forms", "label_orders", dict.fromkeys(FORMS, ORDERS), ORDERS) == ()


ROWS, COLUMNS = "abcd", "xyz"


@given(st.fixed_dictionaries({row: st.sets(st.sampled_from(COLUMNS)) for row in ROWS}))
def test_blocks_ask_each_ticked_cell_once_and_no_other(cells):
    blocks = blocks_of_cells("templates", "formats", cells, COLUMNS)
    asked = [(row, column) for b in blocks for row in b.templates for column in b.formats]
    ticked = [(row, column) for row in ROWS for column in cells[row]]
    assert len(set(asked)) == len(asked)
    if len(ticked) == len(ROWS) * len(COLUMNS):
        assert blocks == ()
    else:
        assert sorted(asked) == sorted(ticked)
    names = [block.name for block in blocks]
    assert len(set(names)) == len(names)


def test_names_of_blocks_differ_where_levels_are_only_counted():
    templates = [f"a long name of a template {number}" for number in range(6)]
    cells = {name: ["yes_no" if place < 3 else "a_b"] for place, name in enumerate(templates)}
    first, second = blocks_of_cells("templates", "formats", cells, ("yes_no", "a_b"))
    assert (first.name, second.name) == ("3 templates × yes_no", "3 templates × a_b")


def test_two_blocks_never_get_the_same_name():
    templates = [f"a long name of a template {number}" for number in range(6)]
    formats = [f"a long name of a format {number}" for number in range(6)]
    cells = {
        t: [f for f in formats if f != other] for t, other in zip(templates, formats, strict=True)
    }
    names = [block.name for block in blocks_of_cells("templates", "formats", cells, formats)]
    assert len(set(names)) == 6


def test_a_block_says_in_words_how_it_differs():
    assert differences(Block("all")) == ""
    block = Block(
        "x",
        label_orders=("inverted",),
        contexts=("",),
        items=tuple("abcdef"),
        top_p=(0.9, 1.0),
        items_per_call=0,
        histories=("own",),
        forms=(),
        temperatures=(),
        repetitions=3,
        pairs=(("Ford", "Fiat"),),
    )
    assert differences(block).split("; ") == [
        "Items: 6",
        "Personas or conversations: none",
        "Pairs of entities: Ford | Fiat",
        "Forms: none chosen",
        "Order of the options: inverted",
        "Items per call: all",
        "History: the model sees its own earlier answers",
        "Temperatures: each respondent's own",
        "Top-p: 0.9, 1",
        "Repetitions: 3",
    ]


def test_levels_that_no_block_asks_are_named():
    design = Design("s", "b", ("a",), forms=FORMS, label_orders=ORDERS)
    assert unused_levels(design) == ()
    blocks = (Block(forms=("original",)), Block(label_orders=("as_is",), forms=("negation",)))
    design = Design("s", "b", ("a",), forms=FORMS, label_orders=ORDERS, blocks=blocks)
    assert unused_levels(design) == ("Forms: no block asks alternate.",)


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        ({"top_p": "0.9, 2"}, "The value of top-p 2 does not lie between 0 and 1"),
        ({"max_tokens": "many"}, "'many' is not a number of tokens"),
        ({"items_per_call": "0"}, "The number of items 0 does not lie between 1 and"),
        ({"pairs": "Ford"}, "'Ford', is not a pair of entities"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_name_of_its_block(draft, words):
    with pytest.raises(DesignError, match=r"^Block 2 \(mine\): .*") as told:
        forms.to_blocks([{}, {"name": "mine", **draft}])
    assert words in told.value.problem


def test_numbers_and_lines_are_read_as_typed():
    (block,) = forms.to_blocks(
        [
            {
                "items_per_call": "1, 10, all",
                "temperatures": "0; 0.7",
                "entities": "Ford\n\nFiat",
                "pairs": "Ford | Fiat",
                "max_tokens": "",
            }
        ]
    )
    assert block == Block(
        items_per_call=(1, 10, 0),
        temperatures=(0.0, 0.7),
        entities=("Ford", "Fiat"),
        pairs=(("Ford", "Fiat"),),
        max_tokens=(),
    )
