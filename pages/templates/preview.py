"""A prompt template with an item of a bank, exactly as it would be sent, and a test of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import Instrument
from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.templates import PromptTemplate
from core.errors import UserError
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.banks import editing as banks
from core.workflow.banks.editing import BankSummary
from core.workflow.respondents import catalog
from core.workflow.templates import preview
from core.workflow.templates.preview import CONVERSATION, NO_CONTEXT, PERSONA, Sample
from pages.design import overview
from pages.shared import draft_form, widgets
from pages.shared.draft_form import ChoiceField, DraftForm, NumberField, TextField

_DRAFT = "templates:preview"
_DEFAULTS: dict[str, Any] = {
    "bank": "",
    "item": 1,
    "items": 1,
    "format": "",
    "language": "",
    "context": "",
    "order": "as_is",
    "entity": "Company A",
    "entity_b": "Company B",
    "respondent": "",
}
_CONTEXTS = {"": NO_CONTEXT, "persona": PERSONA, "conversation": CONVERSATION}
_ORDERS = {"as_is": "as is", "inverted": "inverted", "random": "random"}
_TESTED = "templates_tested"


@dataclass(frozen=True)
class _Tested:
    """What was tested, so that a reply never stands beside another prompt, and its outcome."""

    key: tuple[object, ...]
    outcome: preview.TestedTemplate | UserError


def preview_section(template: PromptTemplate, *, usable: bool) -> None:
    """The choice of what to show, the messages, and the test."""
    form = draft_form.open_form(_DRAFT, _DEFAULTS)
    sample = _sample(form)
    if sample is None:
        st.info("There is no bank with texts and options yet. Write or import one.")
        st.page_link("pages/banks/page.py", label="Go to Banks", icon=":material/quiz:")
        return
    if not usable:
        st.info("Correct the text to see the prompt.")
        return
    with widgets.error_box():
        _show(form, template, sample)


def _show(form: DraftForm, template: PromptTemplate, sample: Sample) -> None:
    request = preview.request(widgets.workspace(), template, sample)
    overview.show_messages(request.messages, request.choices, language=sample.language)
    people = {
        respondent.label: respondent for respondent in catalog.list_respondents(widgets.workspace())
    }
    if not people:
        st.page_link("pages/respondents/page.py", label="Add a respondent to test the prompt")
        return
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        chosen = form.fields["respondent"]
        if chosen not in people:
            form.change({"respondent": next(iter(people))})
            chosen = next(iter(people))
        form = draft_form.open_form(_DRAFT, _DEFAULTS)
        form.draw(
            ChoiceField("respondent", "Respondent", list(people)),
            "The respondent that the test sends the prompt to, with its own settings.",
        )
    key = (request.messages, request.question.response_format.code, chosen)
    if row.button(
        "Test",
        key="templates_test",
        icon=":material/send:",
        help="Sends this prompt once and shows the reply and how it is read. Nothing is saved as "
        "data. A service may charge for the call.",
    ):
        with st.spinner("Waiting for a reply ..."):
            try:
                outcome: preview.TestedTemplate | UserError = preview.test(
                    widgets.workspace(), template, sample, people[chosen]
                )
            except UserError as error:
                outcome = error
            st.session_state[_TESTED] = _Tested(key, outcome)
    tested = st.session_state.get(_TESTED)
    if isinstance(tested, _Tested) and tested.key == key:
        _show_tested(tested.outcome)


def _show_tested(outcome: preview.TestedTemplate | UserError) -> None:
    if isinstance(outcome, UserError):
        widgets.show_problem(outcome)
        return
    with st.container(border=True):
        st.caption(f"Reply, after {outcome.seconds:.1f} seconds")
        widgets.text_block(outcome.reply or "(an empty reply)", monospace=True)
    rows = [
        {
            "Item": answer.item,
            "Read as": STATUS_WORDS[answer.status],
            "Option": answer.option,
            "Label": answer.label,
        }
        for answer in outcome.answers
    ]
    widgets.table(
        pd.DataFrame(rows), alt=f"How the reply was read: {count_text(len(rows), 'item')}"
    )


def _sample(form: DraftForm) -> Sample | None:
    """What the preview shows, chosen in a few small fields."""
    offered = {
        summary.code: summary
        for summary in banks.summaries(widgets.workspace())
        if not summary.archived and summary.can_be_asked
    }
    if not offered:
        return None
    code = form.fields["bank"] if form.fields["bank"] in offered else next(iter(offered))
    bank = offered[code].instrument
    formats = [summary.code for summary in bank.formats]
    settled = {
        "bank": code,
        "item": min(form.fields["item"], len(bank.items)),
        "items": min(form.fields["items"], len(bank.items)),
        "format": form.fields["format"] if form.fields["format"] in formats else formats[0],
        "language": form.fields["language"]
        if form.fields["language"] in bank.languages
        else bank.languages[0],
    }
    if any(form.fields[name] != value for name, value in settled.items()):
        form.change(settled)
        form = draft_form.open_form(form.name, form.defaults)
    _choices(form, offered, bank, formats)
    fields = form.fields
    return Sample(
        bank,
        fields["item"] - 1,
        fields["items"],
        fields["format"],
        fields["language"],
        label_order=fields["order"],
        context=_CONTEXTS[fields["context"]],
        entity=fields["entity"],
        entity_b=fields["entity_b"],
    )


def _choices(
    form: DraftForm, offered: Mapping[str, BankSummary], bank: Instrument, formats: list[str]
) -> None:
    banks = {code: summary.title for code, summary in offered.items()}
    languages = {code: language_name(code) for code in bank.languages}
    n_items = len(bank.items)
    form.draw(
        ChoiceField("bank", "Bank", banks),
        "The bank whose items are shown.",
        ChoiceField("format", "Answer format", formats),
        "The options of the items.",
        ChoiceField("language", "Items in", languages),
        "The language of the items.",
        columns=st.columns(3, vertical_alignment="bottom"),
    )
    form.draw(
        NumberField("item", f"Item (of {n_items:,})", 1, n_items),
        "The place of the first item in the bank.",
        NumberField("items", "In a call", 1, min(n_items, 100)),
        "Items in a call. With 2 or more, the question with a block of items is shown.",
        ChoiceField("context", "Context", {kind: kind or "none" for kind in _CONTEXTS}),
        "What comes before the question: a persona or a conversation of our own.",
        ChoiceField("order", "Order of options", _ORDERS),
        "Random: one random order, as an example.",
        columns=st.columns([3, 3, 4, 4], vertical_alignment="bottom"),
    )
    if any("{entity" in wording.text for item in bank.items for wording in item.wordings):
        form.draw(
            (
                TextField("entity", "First entity"),
                "Replaces {entity} in the items.",
                TextField("entity_b", "Second entity"),
                "Replaces {entity_b} in the items.",
            )
        )
