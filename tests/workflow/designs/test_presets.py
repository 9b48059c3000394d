"""Published designs on our own banks: what they plan, and that simulated people answer it all."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import DesignError
from core.workflow.answers import browsing
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.designs import presets, studies
from core.workflow.designs.presets import CONVERSATIONS, PERSONAS
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.workflow.studies import simulated

CODES = [preset.code for preset in presets.PUBLISHED_DESIGNS]
SMALL = {"words_english": 60, "words_chinese": 60, "scale_companion": 4}


def designed(workspace, code, first_items=None):
    person = simulated()
    catalog.save(workspace, person)
    found = presets.design(workspace, presets.by_code(code), first_items=first_items)
    return replace(found, respondents=(person.label,))


@pytest.mark.parametrize("code", CODES)
def test_every_trial_of_a_short_published_study_is_asked_and_coded(workspace, code):
    design = designed(workspace, code, SMALL.get(code, 6))
    record = studies.freeze(workspace, design)
    size = studies.size(workspace, replace(design, version=record.version))
    assert (record.n_trials, size.missing) == (size.trials, 0)
    assert control.start(workspace, record.code)
    progress = control.wait(workspace, record.code, every_s=0.02)
    assert (progress.state, progress.n_done) == ("finished", record.n_trials)
    counted = browsing.overview(workspace, record.code).loc[0]
    # these people refuse and explain nothing
    assert (counted["planned"], counted["n"]) == (record.n_trials, record.n_trials)


def test_every_published_study_in_full_can_be_frozen(workspace):
    for code in CODES:
        design = designed(workspace, code)
        assert studies.check(workspace, design) == ()
        assert design.instrument == presets.by_code(code).design.instrument


@pytest.mark.parametrize("preset", presets.PUBLISHED_DESIGNS, ids=CODES)
def test_every_published_study_tells_its_source_and_what_differs(preset):
    assert any(year in preset.source for year in ("2024", "2025", "ACL"))
    assert preset.differs
    assert all(line.endswith(".") for line in (*preset.differs, preset.sentence))


def test_full_designs_ask_as_much_as_the_published_ones(workspace):
    sizes = {code: studies.size(workspace, designed(workspace, code)) for code in CODES}
    trials = {code: (size.trials, size.calls) for code, size in sizes.items()}
    assert trials == {
        "brand_image": (100 * 4 * 3 * 30, 4 * 3 * 30),
        "brand_preference": (100 * 5 * 3 * 30, 5 * 3 * 30),
        "scale_personas": (22 * 60 * 3, 22 * 60 * 3),  # three of four cells
        "scale_conversations": (22 * 30 * 3, 22 * 30 * 3),
        "scale_companion": (8 * 60, 8 * 60),
        "opinions_six_languages": (60 * 6 * 10, 60 * 6 * 10),
        "words_english": (5000 * 2, 167 * 2),
        "words_chinese": (5000 * 2, 167 * 2),
        "policy_stances": (60 * 6 * 6 * 2 * 30, 60 * 6 * 6 * 2 * 30),
    }


def test_a_short_variant_copies_the_first_items_into_a_bank_of_its_own(workspace):
    before = editing.load(workspace, "brand_100")
    design = designed(workspace, "brand_image", 10)
    copy = editing.load(workspace, design.instrument).instrument
    assert design.instrument == "brand_100_first10"
    assert copy.items == before.instrument.items[:10]
    assert copy.formats == before.instrument.formats
    assert editing.load(workspace, "brand_100") == before
    assert design.repetitions == 2


def test_a_short_variant_made_twice_is_one_bank_unless_it_was_edited(workspace):
    preset = presets.by_code("brand_image")
    first = presets.design(workspace, preset, first_items=5).instrument
    assert presets.design(workspace, preset, first_items=5).instrument == first
    state = editing.load(workspace, first)
    edited = replace(state.instrument, description="mine")
    editing.save(workspace, edited, expected_revision=state.revision)
    assert presets.design(workspace, preset, first_items=5).instrument == f"{first}_2"
    assert editing.load(workspace, first).instrument.description == "mine"


@pytest.mark.parametrize("count", [1, 2, 7, 10, 59])
def test_linked_items_come_into_a_short_variant_together_or_not_at_all(workspace, count):
    design = designed(workspace, "opinions_six_languages", count)
    items = editing.load(workspace, design.instrument).instrument.items
    codes = {item.code for item in items}
    assert 0 < len(items) <= count
    assert {item.pair for item in items if item.pair} <= codes
    assert studies.check(workspace, design) == ()


def test_a_number_of_items_below_one_is_refused(workspace):
    with pytest.raises(DesignError, match="at least one item"):
        presets.design(workspace, presets.by_code("brand_image"), first_items=0)


def test_personas_and_first_exchanges_in_english_are_kept_as_sets(workspace):
    fields = presets.fields(workspace, presets.by_code("scale_personas"))
    assert (fields["personas"], fields["persona_set"]) == ("set", PERSONAS)
    fields = presets.fields(workspace, presets.by_code("scale_conversations"), first_items=3)
    assert (fields["persona_set"], fields["persona_count"]) == (CONVERSATIONS, 5)
    found = sets.load_all(workspace)[CONVERSATIONS]
    assert {context.language for context in found} == {"en"}
    assert {len(context.messages) for context in found} == {2}


def test_a_set_of_the_user_under_that_name_stays_as_it_is(workspace):
    own = sets.parse_personas("You are mine.")
    sets.save(workspace, CONVERSATIONS, own)
    fields = presets.fields(workspace, presets.by_code("scale_conversations"))
    assert sets.load_all(workspace)[CONVERSATIONS] == own
    assert (fields["personas"], len(fields["personas_own"])) == ("own", 30)


def test_a_bank_put_away_is_brought_back_for_its_preset(workspace):
    editing.set_archived(workspace, "policy_60", archived=True)
    presets.fields(workspace, presets.by_code("policy_stances"))
    shown = {bank.code for bank in editing.summaries(workspace) if not bank.archived}
    assert "policy_60" in shown


def test_the_name_of_a_study_that_exists_gets_a_number(workspace):
    studies.freeze(workspace, designed(workspace, "scale_companion", 2))
    fields = presets.fields(workspace, presets.by_code("scale_companion"))
    assert fields["study"] == "scale_companion_2"
    assert "respondents" not in fields


def test_a_scale_is_asked_in_three_of_four_cells_of_form_and_order(workspace):
    design = designed(workspace, "scale_personas", 6)
    record = studies.freeze(workspace, design)
    cells = set(workspace.database.rows("select form, label_order from administration"))
    assert record.n_trials == 6 * 5 * 3
    assert cells == {("original", "as_is"), ("original", "random"), ("alternate", "as_is")}


def test_each_template_of_the_stances_has_its_own_labels_also_in_the_short_variant(workspace):
    for first_items, pairs in ((None, 6), (4, 2)):
        design = designed(workspace, "policy_stances", first_items)
        own = [(part.templates, part.formats) for part in design.crossings()]
        assert len(own) == pairs
        assert all(len(templates) == len(formats) == 1 for templates, formats in own)
        assert {code for _, formats in own for code in formats} == set(design.formats)
        assert studies.check(workspace, design) == ()
