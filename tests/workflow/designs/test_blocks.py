"""Designs of blocks: sizes, prompts, messages, and the plan that freezing writes."""

from __future__ import annotations

import io
from dataclasses import replace

import pandas as pd
import pytest

from core.domain.study import Block, Context, Design
from core.errors import DesignError
from core.workflow.answers import exports, imports
from core.workflow.designs import studies
from core.workflow.designs.studies import design_of_yaml, design_yaml
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses, frames, roles
from tests.workflow.studies import finished, freeze, service, simulated

CONTEXTS = (Context("p1", "a nurse", language="en"), Context("p2", "a pilot", language="en"))


@pytest.fixture
def design(workspace):
    catalog.save(workspace, simulated())
    catalog.save(workspace, service("http://127.0.0.1:9/v1", temperature=0.5))
    return Design("s", "attitudes_20", ("Simulated",), contexts=CONTEXTS)


def said(workspace, design):
    return " ".join(studies.check(workspace, design))


def test_each_block_has_its_size_and_says_how_many_of_its_trials_are_new(workspace, design):
    blocks = (
        Block("all"),
        Block("some", contexts=("p1",), items_per_call=1, repetitions=3),
        Block("alone", contexts=("",), items=("nature_01", "nature_02")),
        Block("again", items=("nature_01",)),
    )
    size = studies.size(workspace, replace(design, blocks=blocks))
    assert [(b.name, b.trials, b.calls, b.new) for b in size.blocks] == [
        ("all", 40, 40, 40),
        ("some", 60, 60, 40),
        ("alone", 2, 2, 2),
        ("again", 2, 2, 0),
    ]
    assert (size.trials, size.calls) == (82, 82)
    # p1 and p2 once, p1 twice more, and once without
    assert size.administrations == 2 + 2 + 1
    assert size.prompts == 42
    assert [b.cost_high for b in size.blocks] == [0, 0, 0, 0]
    record = studies.freeze(workspace, replace(design, blocks=blocks))
    assert record.n_trials == 82
    assert said(workspace, replace(design, study="t", blocks=blocks)) == ""
    assert any(
        "'again' adds nothing" in c
        for c in studies.cautions(workspace, replace(design, blocks=blocks))
    )


def test_sizes_and_prompts_are_those_of_the_plan(workspace, design):
    """Calls of several sizes, in several languages of which one block has part of the items."""
    blocks = (
        Block("en", items_per_call=(8, 1)),
        Block("de", languages=("de",), items=("nature_01", "nature_03"), contexts=("",)),
    )
    mixed = replace(design, blocks=blocks, templates=("standard",))
    size = studies.size(workspace, mixed)
    record = studies.freeze(workspace, mixed)
    calls = workspace.database.rows(
        "select call_id, min(ordinal), list(i.code order by ordinal), any_value(a.language),"
        " any_value(a.context) from trial join administration a using (administration_id)"
        " join item i using (item_id) where trial.study_id = ? group by 1 order by 2",
        [record.study_id],
    )
    assert (size.trials, size.calls) == (82, len(calls)) == (82, 2 * (3 + 20) + 2)
    assert size.prompts == len(calls)
    for number, (_, _, items, language, context) in enumerate(calls):
        asked = studies.example(workspace, mixed, number).question
        assert [item.code for item in asked.items] == items
        assert (asked.language, asked.context) == (language, context)


def test_a_design_of_blocks_comes_back_from_its_file_with_the_same_plan_hash(workspace, design):
    blocks = (Block("a", items=("nature_01",), contexts=("",)), Block("b", contexts=("p2",)))
    first = studies.freeze(workspace, replace(design, blocks=blocks))
    again = design_of_yaml(design_yaml(first.design))
    assert again == first.design
    from core.workflow.opening import open_workspace

    other = open_workspace(":memory:")
    catalog.save(other, simulated())
    unpublished = replace(again, version=None)
    assert studies.freeze(other, unpublished).plan_hash == first.plan_hash
    other.close()


def test_settings_of_calls_make_respondents_of_their_own_in_each_block(workspace, design):
    blocks = (
        Block("cold", temperatures=(0.0, 0.5), items=("nature_01",)),
        Block("narrow", top_p=(0.9,), max_tokens=(50, 60), items=("nature_02",)),
    )
    both = replace(design, respondents=("Service", "Simulated"), blocks=blocks)
    labels = [person.label for person in studies.size(workspace, both).respondents]
    assert labels == [
        "Service T=0.0",
        "Service",
        "Simulated",
        "Service top_p=0.9 max_tokens=50",
        "Service top_p=0.9 max_tokens=60",
    ]
    assert studies.size(workspace, both).trials == 2 * (3 + 3)
    request = studies.example(workspace, both, 0, respondent=labels[-1])
    assert (request.sampling.top_p, request.sampling.max_tokens) == (0.9, 60)
    assert request.question.items[0].code == "nature_02"
    assert any("top_p mean nothing" in c for c in studies.cautions(workspace, both))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"blocks": (Block("a", languages=()),)},
            "The block 'a' has an empty list of languages. Leave out the key languages.",
        ),
        ({"blocks": (Block("a"), Block("a"))}, "Two blocks are called 'a'."),
        ({"blocks": (Block("a"), Block(items=("x",)))}, "Block 2: The bank has no item 'x'."),
        (
            {"blocks": (Block("a", contexts=("p9",)), Block("b"))},
            "The block 'a' names the context 'p9', which the design does not have.",
        ),
        ({"blocks": (Block("a", contexts=("p1", "p1")),)}, "names the context 'p1' twice"),
        (
            {"blocks": (Block("a"), Block("b", templates=("mine",)))},
            "Block 'b': There is no prompt template 'mine'.",
        ),
        (
            {"blocks": (Block("a", items=("nature_01", "nature_01")), Block("b"))},
            "Block 'a': The item 'nature_01' stands twice.",
        ),
        (
            {"blocks": (Block("a", entities=("A",), pairs=(("A", "B"),)), Block("b"))},
            "Block 'a': Both entities and pairs of entities are given",
        ),
        ({"blocks": (Block("a", repetitions=0),)}, "There must be at least one repetition."),
        (
            {"items_per_call": 5, "blocks": (Block("a"), Block("b", items=("nature_01",)))},
            "The block 'a' and the block 'b' put different items into the same calls",
        ),
        (
            {"histories": ("own",), "blocks": (Block("a"), Block("b", items=("nature_01",)))},
            "The block 'a' and the block 'b' put different items into the same calls",
        ),
        ({"items": ("nature_01", "x")}, "The bank has no item 'x'."),
        ({"top_p": (0.0,)}, "top_p must be above 0 and at most 1."),
        ({"max_tokens": (0,)}, "max_tokens must be at least 1."),
        ({"items_per_call": (5, 5)}, "A number of items per call stands twice."),
        ({"templates": ()}, "The list of templates is empty."),
        ({"second_phase": "mine"}, "There is no prompt template 'mine' for the second phase."),
        ({"second_phase": "standard"}, "of the second phase states no opinion"),
        (
            {"second_phase": "opposing", "items_per_call": 5},
            "A second phase needs one item a call and no history in the first.",
        ),
    ],
)
def test_what_is_wrong_in_a_block_has_one_message_that_names_it(workspace, design, changes, words):
    wrong = replace(design, **changes)
    assert words in said(workspace, wrong)
    with pytest.raises(DesignError):
        studies.freeze(workspace, wrong)
    assert studies.list_studies(workspace) == ()


def test_what_is_wrong_in_every_block_is_said_once(workspace, design):
    wrong = replace(design, forms=("mine",), blocks=(Block("a"), Block("b")))
    assert said(workspace, wrong).count("The bank has no form 'mine'.") == 1


def test_blocks_that_swap_a_pair_after_different_repetitions_contradict_each_other(workspace):
    from core.domain.formats import BUILT_IN
    from core.domain.instrument import Instrument, Item, Wording
    from core.files.banks.reading import ImportedBank
    from core.workflow.banks import editing

    catalog.save(workspace, simulated())
    items = (Item("q", (Wording("en", "Is {entity} better than {entity_b}?"),)),)
    bank = Instrument("pairs", "Pairs", items, (BUILT_IN["yes_no"],))
    editing.import_bank(workspace, ImportedBank(bank))
    blocks = (Block("four", repetitions=4), Block("two"))
    design = Design(
        "s",
        "pairs",
        ("Simulated",),
        templates=("question",),
        pairs=(("A", "B"), ("A", "C")),
        swap_halves=True,
        repetitions=2,
        blocks=blocks,
    )
    assert "swap the same pair after different repetitions" in said(workspace, design)
    apart = (replace(blocks[0], pairs=(("A", "B"),)), replace(blocks[1], pairs=(("A", "C"),)))
    assert said(workspace, replace(design, blocks=apart)) == ""
    assert studies.size(workspace, replace(design, blocks=apart)).trials == 4 + 2


def test_items_per_call_and_history_are_set_side_by_side_and_come_back_from_a_file(workspace):
    person = simulated()
    record = freeze(
        workspace, person, n_personas=6, items_per_call=(1, 5), histories=("none", "own")
    )
    assert record.n_trials == 6 * 20 * 4
    control.start(workspace, "study")
    assert finished(workspace).n_done == record.n_trials
    analysis = analyses.by_name("internal_consistency")
    by = roles.default_groups(workspace, analysis, ["study"], {}, {})
    assert {"items_per_call", "history"} <= set(by)
    asked = frames.item_scores(workspace, ["study"], {"items_per_call": ["5"]})
    assert set(asked["history"]) == {"none", "own"}
    data = exports.export_tidy(workspace, "study")
    imports.import_tidy(workspace, "a.csv", data.replace(b"\nstudy,", b"\nagain,"))
    again = exports.export_tidy(workspace, "again").replace(b"\nagain,", b"\nstudy,")
    columns = ["item", "context", "items_per_call", "history", "answer", "status"]
    first, second = (pd.read_csv(io.BytesIO(one), dtype="str")[columns] for one in (data, again))
    assert first.equals(second)
    assert set(first["items_per_call"]) == {"1", "5"}
