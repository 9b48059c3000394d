"""What a design warns of before it is frozen: contexts in another language than the items."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.instrument import Item, Wording
from core.domain.study import Context, Design
from core.workflow import sample
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.studies import service, simulated

ENGLISH = tuple(Context(f"e{n}", f"You are person {n}.", language="en") for n in range(3))
GERMAN = Context("d", "Sie sind Lehrerin.", language="de")
UNSTATED = Context("u", "You are a nurse.")


@pytest.fixture
def design(workspace):
    catalog.save(workspace, simulated())
    return Design("s", "attitudes_20", ("Simulated",))


def test_a_context_in_another_language_than_the_items_is_warned_of_with_its_calls(
    workspace, design
):
    mixed = replace(design, languages=("en", "de"), contexts=(*ENGLISH, GERMAN), repetitions=2)
    assert studies.size(workspace, mixed).calls == 20 * 2 * 4 * 2
    # 20 German items after 3 English personas and 20 English ones after a German one, twice.
    (said,) = studies.cautions(workspace, mixed)
    assert said.startswith("160 of 320 calls put a context in one language before items in another")
    assert "de before en, en before de" in said
    assert said.endswith("Simulated people read neither, so this matters to models alone.")
    catalog.save(workspace, service("http://127.0.0.1:9", "Model"))
    both = replace(mixed, respondents=("Simulated", "Model"))
    assert any(
        "Choose contexts in the language of the items" in one
        for one in studies.cautions(workspace, both)
    )


def test_calls_that_hold_several_items_are_counted_once(workspace, design):
    blocks = replace(design, languages=("de",), contexts=ENGLISH, items_per_call=8)
    (said,) = studies.cautions(workspace, blocks)
    assert said.startswith("9 of 9 calls put a context")


def test_a_region_makes_no_other_language_and_no_context_is_no_matter(workspace, design):
    british = replace(ENGLISH[0], language="en-GB")
    assert studies.cautions(workspace, replace(design, contexts=(british,))) == ()
    assert studies.cautions(workspace, replace(design, languages=("en", "de"))) == ()


def test_a_context_of_no_stated_language_is_named_where_items_are_in_several(workspace, design):
    assert studies.cautions(workspace, replace(design, contexts=(UNSTATED,))) == ()
    two = replace(design, languages=("en", "de"), contexts=(UNSTATED,))
    (said,) = studies.cautions(workspace, two)
    assert "of 1 persona or conversation the language is not stated" in said


def test_options_without_a_label_in_a_language_that_is_asked_are_warned_of(workspace, design):
    state = editing.create(workspace, "Walks")
    options = state.instrument.formats[0].options
    unlabelled = tuple(replace(o, labels={"en": f"Agree {o.code}"}) for o in options[1:])
    formats = (replace(state.instrument.formats[0], options=(options[0], *unlabelled)),)
    items = (Item("q1", (Wording("en", "I walk."), Wording("de", "Ich gehe."))),)
    bank = replace(state.instrument, items=items, formats=formats)
    editing.save(workspace, bank, expected_revision=state.revision)
    german = replace(design, instrument=bank.code, languages=("en", "de"))
    (said,) = studies.cautions(workspace, german)
    assert said.startswith("4 options of Likert, 5 options")
    assert "no label in German" in said
    assert studies.cautions(workspace, replace(german, languages=("en",))) == ()


def test_the_personas_that_come_along_say_their_language(workspace):
    found = sample.starter_personas(workspace.data_directory)
    assert {context.language for context in found} == {"en"}
