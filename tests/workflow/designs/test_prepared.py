"""Designs prepared for criteria of validation that a study has no coefficient of."""

from __future__ import annotations

from typing import get_args

import pandas as pd
import pytest

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.errors import DesignError
from core.files.banks.reading import ImportedBank
from core.stats.validation import Criterion
from core.store import banks
from core.workflow import saved_inputs
from core.workflow.answers import imports
from core.workflow.banks import editing, text_prompts
from core.workflow.designs import forms, prepared, presets, studies
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.workflow.studies import freeze, simulated

CRITERIA = get_args(Criterion)


@pytest.fixture
def asked(workspace):
    """A scale that has an alternate form, asked in its original form under forty personas."""
    presets.starter_bank(workspace, "attitude_22")
    collect(workspace, "study", bank="attitude_22", n_personas=40)
    return workspace


def collect(workspace, study, **factors):
    freeze(workspace, simulated(loading=0.8), study=study, **factors)
    run(workspace, study)


def run(workspace, study):
    control.start(workspace, study)
    control.wait(workspace, study, every_s=0.02)


def report(workspace, **options):
    return analyses.run(
        workspace, "validation_report", ["study"], {"resamples": 100, **options}, {}
    )


def value(result, criterion):
    frame = next(table.frame for table in result.tables if table.name == "criteria")
    return frame.set_index("criterion")["value"][criterion]


def ask_as_prepared(workspace, criterion):
    """Freeze the design that the page would show, and collect its answers."""
    fields, notes = prepared.fields(workspace, prepared.prepare(workspace, "study", criterion))
    assert notes == ()
    design = forms.to_design(workspace, fields)
    assert studies.check(workspace, design) == ()
    studies.freeze(workspace, design)
    run(workspace, design.study)
    return design


OPTIONS = {
    "alternate form": "alternate",
    "option order": "reordered",
    "convergent": "convergent",
}


@pytest.mark.parametrize("criterion", OPTIONS)
def test_the_prepared_design_gives_the_criterion_its_coefficient(asked, criterion):
    before = report(asked)
    assert criterion in prepared.missing_criteria(before)
    assert not {"internal consistency", "factorial"} & set(prepared.missing_criteria(before))
    design = ask_as_prepared(asked, criterion)
    first = studies.load(asked, "study").design
    assert (design.respondents, design.contexts) == (first.respondents, first.contexts)
    after = report(asked, **{OPTIONS[criterion]: design.study})
    assert criterion not in prepared.missing_criteria(after)
    assert -1 <= value(after, criterion) <= 1


def test_too_few_contexts_are_joined_by_the_personas_that_come_along(workspace):
    presets.starter_bank(workspace, "attitude_22")
    collect(workspace, "study", bank="attitude_22", n_personas=1)
    for criterion in ("internal consistency", "factorial"):
        found = prepared.prepare(workspace, "study", criterion)
        assert found.sentence.endswith("asks the same under 61 contexts.")
        first = studies.load(workspace, "study").design
        assert found.design.contexts[:1] == first.contexts
    design = ask_as_prepared(workspace, "factorial")
    result = analyses.run(workspace, "validation_report", [design.study], {"resamples": 100}, {})
    assert not {"internal consistency", "factorial"} & set(prepared.missing_criteria(result))


def test_texts_need_prompts_and_lists_of_words(asked):
    found = prepared.prepare(asked, "study", "concurrent")
    assert (found.design, found.page) == (None, "texts")
    assert "Add a bank of prompts that ask for texts first" in found.sentence
    with pytest.raises(DesignError, match="scores texts of the respondents"):
        prepared.fields(asked, found)
    for bank in editing.summaries(asked):
        if bank.kind == "words":
            editing.set_archived(asked, bank.code, archived=True)
    text_prompts.create_descriptor_prompts(
        asked,
        "letters",
        "A letter about {name}.",
        {"name": ["Ann | female", "Bob | male"]},
        language="en",
    )
    again = prepared.prepare(asked, "study", "concurrent")
    assert "Add a bank of lists of words first" in again.sentence
    words = (Item("a_1", (Wording("en", "warm"),), "a"),)
    listed = Instrument("lists", "Lists", words, (BUILT_IN["free_text"],), kind="words")
    editing.import_bank(asked, ImportedBank(listed))
    design = ask_as_prepared(asked, "concurrent")
    assert (design.instrument, design.templates) == ("letters", ("free",))
    assert design.contexts == studies.load(asked, "study").design.contexts


def test_a_bank_without_another_form_or_a_companion_is_to_be_completed_first(workspace):
    collect(workspace, "study", n_personas=2)
    for criterion, words in (
        ("alternate form", "attitudes_20 has no other form of all items in en"),
        ("convergent", "Another scale for the same construct is missing"),
    ):
        found = prepared.prepare(workspace, "study", criterion)
        assert (found.design, found.page) == (None, "banks")
        assert words in found.sentence
    bank = editing.load(workspace, "attitudes_20").instrument
    companion = Instrument("attitudes_20_companion", "Other", bank.items[:4], bank.formats)
    editing.import_bank(workspace, ImportedBank(companion))
    found = prepared.prepare(workspace, "study", "convergent")
    assert found.design.instrument == "attitudes_20_companion"


def test_a_form_written_after_the_study_was_asked_is_taken_from_the_working_copy(workspace):
    collect(workspace, "study", n_personas=2)
    bank = editing.load(workspace, "attitudes_20").instrument
    worded = tuple(
        Item(
            item.code,
            (
                *item.wordings,
                Wording("en", f"Again: {item.text('en')}", "paraphrase_1"),
                Wording("en", f"Not: {item.text('en')}", "negation"),
            ),
            item.subscale,
            item.keyed,
        )
        for item in bank.items
    )
    state = banks.draft(workspace.database, bank.code)
    changed = Instrument(bank.code, bank.title, worded, bank.formats, bank.languages)
    banks.save_draft(workspace.database, changed, expected_revision=state.revision, summary="forms")
    found = prepared.prepare(workspace, "study", "alternate form")
    assert (found.design.forms, found.design.version) == (("paraphrase_1",), None)


def test_people_cannot_be_asked_again(workspace):
    rows = [{"study": "people", "instrument": "own", "model": "p1", "item": "i1", "answer": 1}]
    imports.import_tidy(workspace, "p.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    for criterion in CRITERIA:
        found = prepared.prepare(workspace, "people", criterion)
        assert (found.design, found.page) == (None, "import_export")


def test_preparing_changes_nothing_that_is_saved(asked):
    def saved():
        return (
            [study.code for study in studies.list_studies(asked)],
            [state.instrument.code for state in banks.drafts(asked.database)],
            saved_inputs.load(asked, forms.DRAFT_NAME),
        )

    before = saved()
    for criterion in CRITERIA:
        prepared.prepare(asked, "study", criterion)
    assert saved() == before
    design = prepared.prepare(asked, "study", "option order").design
    assert forms.free_name(asked, design.study) == "study_random"
