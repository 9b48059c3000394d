"""Pilots of templates: what a pilot asks, and its best templates in a design."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.study import Block, Design
from core.errors import DesignError
from core.workflow import saved_inputs
from core.workflow.banks import editing
from core.workflow.designs import forms, presets, studies
from core.workflow.templates import pilots
from core.workflow.templates.pilots import TemplatePilot, pilot_design, with_templates
from tests.workflow.studies import freeze, personas, simulated

PAIR = ("agree_disagree", "beneficial_harmful")
DESIGN = Design(
    "views",
    "policy_60",
    ("Simulated person",),
    formats=PAIR[:1],
    contexts=personas(5),
    forms=("original", "negation"),
    repetitions=30,
)
CHOSEN = ("personal_1", "personal_2", "impersonal_1")


@pytest.fixture
def policy(workspace):
    presets.starter_bank(workspace, "policy_60")
    return workspace


def test_a_pilot_asks_a_seeded_sample_of_each_subscale_with_every_template(policy):
    pilot = TemplatePilot(
        CHOSEN, {"impersonal_1": PAIR[1:]}, items=10, label_orders=("as_is", "inverted")
    )
    found = pilot_design(policy, DESIGN, pilot)
    assert found.study == "template pilot of views"
    assert (found.templates, found.formats) == (CHOSEN, PAIR)
    assert found.blocks == (
        Block("agree_disagree", templates=CHOSEN[:2], formats=PAIR[:1]),
        Block("beneficial_harmful", templates=CHOSEN[2:], formats=PAIR[1:]),
    )
    assert (found.forms, found.repetitions, len(found.contexts)) == (("original",), 1, 3)
    assert "10 items of the 60" in found.notes
    size = studies.size(policy, found)
    assert size.trials == 3 * 10 * 2 * 3  # templates, items, orders, contexts
    again = pilot_design(policy, DESIGN, pilot)
    assert again.items == found.items
    assert pilot_design(policy, DESIGN, replace(pilot, seed=2)).items != found.items
    bank = editing.load(policy, "policy_60").instrument
    subscales = [item.subscale for item in bank.items if item.code in found.items]
    counts = [subscales.count(name) for name in {item.subscale for item in bank.items}]
    assert max(counts) - min(counts) <= 1
    studies.freeze(policy, found)
    assert pilot_design(policy, DESIGN, pilot).study == "template pilot of views_2"


def test_one_template_is_no_pilot_and_few_items_are_all_asked(policy):
    with pytest.raises(DesignError, match="fewer than two"):
        pilot_design(policy, DESIGN, TemplatePilot(("personal_1",)))
    few = replace(DESIGN, items=(editing.load(policy, "policy_60").instrument.items[0].code,))
    assert pilot_design(policy, few, TemplatePilot(CHOSEN)).items == few.items


def test_templates_that_cannot_ask_the_design_are_not_offered(policy):
    fitting = pilots.fitting_templates(policy, DESIGN)
    assert "personal_1" in fitting
    assert not any(one.states_opinion for one in fitting.values())
    assert pilots.first_choice(fitting) == (
        "personal_1",
        "personal_2",
        "personal_3",
        "impersonal_1",
        "impersonal_2",
        "impersonal_3",
    )
    several = pilots.fitting_templates(policy, replace(DESIGN, items_per_call=10))
    assert "free" not in several
    assert "free" in fitting


def test_the_published_design_keeps_the_label_pair_of_each_template(policy):
    preset = presets.by_code("policy_stances").design
    without = replace(DESIGN, formats=())  # the first format of the bank
    found = pilot_design(policy, without, TemplatePilot(CHOSEN, {"impersonal_1": PAIR[1:]}))
    first = editing.load(policy, "policy_60").instrument.formats[0].code
    assert pilots.formats_of(found)["personal_1"] == (first,)
    pilot = pilot_design(policy, preset, TemplatePilot(preset.templates, items=8))
    assert pilots.formats_of(pilot) == pilots.formats_of(preset)


def test_blocks_keep_the_templates_that_stay_and_others_get_blocks_of_their_own():
    blocks = (
        Block("a", templates=("t1", "t2"), formats=("x",)),
        Block("b", templates=("t3",), formats=("y",)),
    )
    design = Design("s", "b", (), formats=("x", "y"), templates=("t1", "t2", "t3"), blocks=blocks)
    found = with_templates(design, {"t2": ("x",), "t4": ("z",)})
    assert found.templates == ("t2", "t4")
    assert found.blocks == (
        Block("a", templates=("t2",), formats=("x",)),
        Block("z", templates=("t4",), formats=("z",)),
    )
    assert found.formats == ("x", "z")
    simple = with_templates(design, {"t4": ("z",), "t5": ("z",)})
    assert (simple.blocks, simple.formats) == ((), ("z",))
    opened = replace(design, blocks=(Block("long", repetitions=9),))
    assert with_templates(opened, {"t4": ("z",)}).blocks == opened.blocks


def test_proposed_templates_go_into_the_draft_on_the_same_bank_or_into_the_design_of_the_study(
    policy,
):
    freeze(
        policy,
        simulated(),
        study="p",
        bank="policy_60",
        n_personas=1,
        templates=CHOSEN,
        formats=PAIR[:1],
    )
    fields, notes = pilots.fields_with_proposed(policy, "p", ["personal_2", "gone"])
    assert (fields["templates"], fields["formats"]) == (["personal_2"], ["agree_disagree"])
    assert notes[0] == "Not on file here: gone."
    assert "all items of the bank" in notes[1]
    draft = {**fields, "templates": ["standard"], "forms": ["negation"], "repetitions": 7}
    saved_inputs.save(policy, forms.DRAFT_NAME, draft)
    fields, notes = pilots.fields_with_proposed(policy, "p", CHOSEN[1:])
    assert (fields["templates"], fields["repetitions"]) == (["personal_2", "impersonal_1"], 7)
    assert fields["forms"] == ["negation"]
    with pytest.raises(DesignError, match="None of the templates"):
        pilots.fields_with_proposed(policy, "p", ["gone"])
