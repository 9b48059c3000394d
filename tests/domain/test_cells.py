"""The cells of a design against the trials of its blocks written out one by one."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.cells import AXES, administrations, places, plan_cells
from core.domain.study import Block, Context, Design
from core.errors import DesignError

ITEMS = ("i1", "i2", "i3", "i4")
PAIRS = (("A", "B"), ("B", "A"), ("A", "C"))


def some(*levels):
    return st.lists(st.sampled_from(levels), min_size=1, unique=True).map(tuple)


BLOCKS = st.builds(
    Block,
    languages=some("en", "de"),
    forms=some("original", "negation"),
    templates=some("plain", "standard", "long"),
    contexts=some("", "p1", "p2"),
    pairs=some(*PAIRS),
    items=some(*ITEMS),
    items_per_call=some(0, 1, 10),
    histories=some("none", "own"),
    repetitions=st.integers(1, 5),
)
DESIGNS = st.builds(
    Design,
    st.just("s"),
    st.just("b"),
    st.just(("x",)),
    contexts=st.just((Context("p1", "a nurse"), Context("p2", "a pilot"))),
    swap_halves=st.booleans(),
    blocks=st.lists(BLOCKS, min_size=1, max_size=4).map(tuple),
)


def written_out(part, people):
    """Every trial of a crossing: the levels of its axes in their order, and the item."""
    half = (part.repetitions + 1) // 2 if part.swap_halves else part.repetitions
    contexts = [context.code for context in part.contexts] or [""]
    return {
        (repetition, *levels[:-2], pair[::-1] if repetition > half else pair, levels[-1], item)
        for repetition in range(1, part.repetitions + 1)
        for *levels, pair, item in itertools.product(
            people,
            part.languages,
            part.forms,
            ["f"],
            part.templates,
            part.label_orders,
            part.items_per_call,
            part.histories,
            contexts,
            part.pairs,
            part.items,
        )
        for levels in [(*levels[:-1], None, levels[-1])]
    }


def trials(plan, cells):
    """Every trial of some cells, as often as they hold it."""
    found = []
    for cell in cells:
        levels = [[plan.levels[axis][n] for n in cell.places(axis)] for axis in AXES]
        ranges, others = levels[0], levels[1:]
        repetitions = [n for first, last in ranges for n in range(first, last + 1)]
        items = [plan.items[n] for n in places(cell.items)]
        found.extend(itertools.product(repetitions, *others, items))
        product = len(repetitions)
        for own in others:
            product *= len(own)
        assert administrations(plan, cell) == product
    return found


def planned(design, items=ITEMS):
    parts = design.crossings()
    people = [(1, 2) if "en" in part.languages else (2,) for part in parts]
    return plan_cells(design, people, items), [
        written_out(part, own) for part, own in zip(parts, people, strict=True)
    ]


def with_format(design):
    return Design(**{**vars(design), "formats": ("f",)})


@settings(max_examples=25, deadline=None)
@given(DESIGNS.map(with_format))
def test_the_trials_of_all_blocks_are_in_the_cells_once(design):
    plan, blocks = planned(design)
    found = trials(plan, plan.cells)
    assert len(found) == len(set(found))
    assert set(found) == set().union(*blocks)
    assert [set(trials(plan, crossing)) for crossing in plan.crossed] == blocks


@settings(max_examples=25, deadline=None)
@given(DESIGNS.map(with_format))
def test_what_a_block_adds_is_what_no_earlier_one_asks(design):
    plan, blocks = planned(design)
    before = set()
    for own, added in zip(blocks, plan.added, strict=True):
        found = trials(plan, added)
        assert len(found) == len(set(found))
        assert set(found) == own - before
        before |= own


@settings(max_examples=15, deadline=None)
@given(DESIGNS.map(with_format))
def test_every_administration_is_in_one_cell_with_all_of_its_items(design):
    plan, blocks = planned(design)
    items_of = {}
    for *conditions, item in set().union(*blocks):
        items_of.setdefault(tuple(conditions), set()).add(item)
    found = {}
    for cell in plan.cells:
        for *conditions, item in trials(plan, [cell]):
            found.setdefault(tuple(conditions), {}).setdefault(id(cell), set()).add(item)
    assert {key: list(cells.values()) for key, cells in found.items()} == {
        key: [items] for key, items in items_of.items()
    }


def test_levels_stand_in_the_order_in_which_blocks_name_them_first():
    blocks = (Block(templates=("c", "a")), Block(templates=("b", "a"), repetitions=3))
    design = Design("s", "b", ("x",), formats=("f",), repetitions=2, blocks=blocks)
    plan = plan_cells(design, [(7,), (5, 7)], ITEMS)
    assert plan.levels["template"] == ("c", "a", "b")
    assert plan.levels["respondent"] == (7, 5)
    assert plan.levels["repetition"] == ((1, 2), (3, 3))


def test_a_pair_and_its_mirror_image_have_the_place_of_the_earlier_one():
    design = Design(
        "s",
        "b",
        ("x",),
        formats=("f",),
        swap_halves=True,
        repetitions=2,
        pairs=(("A", "C"), ("A", "B"), ("B", "A")),
    )
    plan = plan_cells(design, [(1,)], ITEMS)
    place = dict(zip(plan.levels["entities"], plan.entity_places, strict=True))
    assert place == {("A", "C"): 0, ("C", "A"): 0, ("A", "B"): 1, ("B", "A"): 1}


def test_blocks_that_overlap_in_too_many_ways_are_refused():
    """Each block has its own item and a half of the levels of three factors."""
    drawn = random.Random(1)

    def half():
        return tuple(drawn.sample([f"l{n}" for n in range(32)], 16))

    items = [f"i{n}" for n in range(60)]
    blocks = tuple(
        Block(templates=half(), forms=half(), languages=half(), items=(item,)) for item in items
    )
    design = Design("s", "b", ("x",), formats=("f",), blocks=blocks)
    with pytest.raises(DesignError, match="overlap in too many ways"):
        plan_cells(design, [(1,)] * len(blocks), items)
