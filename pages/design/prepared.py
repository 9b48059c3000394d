"""The offer of a design that another page prepared: for a criterion, or of a published study."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import get_args

import streamlit as st

from core.errors import UserError
from core.stats.validation import Criterion
from core.workflow.designs import prepared, studies
from core.workflow.designs.prepared import PreparedDesign
from core.workflow.replications import published
from pages.design import overview
from pages.shared import widgets
from pages.shared.draft_form import DraftForm

STUDY, CRITERION = "prepare", "criterion"
"""The parts of an address that ask for a prepared design."""
PUBLISHED = "published"
"""The part that asks for the design file of a published study."""
TEXTS = "texts"
"""The part that asks for a design of a bank of the page Texts."""
_NOTE = "design_prepared_note"


def offer(form: DraftForm) -> None:
    """Offer the design that the address asks for; an empty form takes it at once."""
    if note := widgets.last_note(_NOTE):
        st.info(note)
    if file := st.query_params.get(PUBLISHED, ""):
        sentence = f"**The design {widgets.plain(file)} of a published study is ready.**"
        _take_or_offer(form, sentence, "design_use_published", partial(_take_published, form, file))
        return
    if code := st.query_params.get(widgets.COPY_PARAMETER, ""):
        sentence = f"**The design of the study {widgets.plain(code)} is ready as a new one.**"
        _take_or_offer(form, sentence, "design_use_copy", partial(_take_copy, form, code))
        return
    if bank := st.query_params.get(TEXTS, ""):
        sentence = f"**A design for the prompts of {widgets.plain(bank)} is ready.**"
        _take_or_offer(form, sentence, "design_use_texts", partial(_take_texts, form, bank))
        return
    study, named = st.query_params.get(STUDY, ""), st.query_params.get(CRITERION, "")
    criterion = next((name for name in get_args(Criterion) if name == named), None)
    if not study or criterion is None:
        return
    with widgets.error_box():
        proposal = prepared.prepare(widgets.workspace(), study, criterion)
        sentence = (
            f"**Prepared for {criterion} of {widgets.plain(study)}.** "
            f"{widgets.plain(proposal.sentence)}"
        )
        take = partial(_take, form, proposal) if proposal.design is not None else None
        _take_or_offer(form, sentence, "design_use_prepared", take)


def _take_or_offer(
    form: DraftForm, sentence: str, key: str, take: Callable[[], None] | None
) -> None:
    """Offer what is prepared, with a button where it can be taken; an empty form takes it."""
    if take is not None and not form.saved_at:
        take()
        st.rerun()
    with st.container(border=True):
        st.markdown(sentence)
        with st.container(horizontal=True):
            if take is not None:
                st.button(
                    "Use this design",
                    key=key,
                    on_click=take,
                    icon=":material/content_copy:",
                    help="Replaces the choices below. 'Restore the previous design' undoes this.",
                )
            st.button("Keep the present design", key="design_keep", on_click=_forget)


def _take_copy(form: DraftForm, code: str) -> None:
    """Fill the form with the design of a study."""
    _forget()
    try:
        overview.use_design(form, studies.load(widgets.workspace(), code).design)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    st.session_state[_NOTE] = (
        f"The choices below are those of the study {widgets.plain(code)}. Change what you want to, "
        "and freeze them as a new study."
    )


def _take_texts(form: DraftForm, bank: str) -> None:
    """Fill the form with a design of a bank of prompts."""
    _forget()
    try:
        fields = prepared.text_fields(widgets.workspace(), bank)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    overview.replace_fields(form, fields)
    st.session_state[_NOTE] = (
        f"The choices below now ask the prompts of {widgets.plain(bank)}. Choose the respondents, "
        "and check the rest before you freeze."
    )


def _take_published(form: DraftForm, file: str) -> None:
    """Fill the form with a design file, and bring its bank in."""
    _forget()
    try:
        fields, notes = published.design_fields(widgets.workspace(), file)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    overview.replace_fields(form, fields)
    about = [
        f"The choices below now hold the design {widgets.plain(file)}. Choose the respondents, and "
        "check the rest before you freeze.",
        *map(widgets.plain, notes),
    ]
    st.session_state[_NOTE] = " ".join(about)


def _take(form: DraftForm, proposal: PreparedDesign) -> None:
    """Fill the form with the prepared design; nothing is frozen."""
    try:
        fields, notes = prepared.fields(widgets.workspace(), proposal)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    overview.replace_fields(form, fields)
    about = [
        f"The choices below now hold the design prepared for {proposal.criterion}. Check them "
        "before you freeze.",
        *map(widgets.plain, (proposal.sentence, *notes)),
    ]
    st.session_state[_NOTE] = " ".join(about)
    _forget()


def _forget() -> None:
    """Take the prepared design off the address."""
    for part in (STUDY, CRITERION, PUBLISHED, widgets.COPY_PARAMETER, TEXTS):
        st.query_params.pop(part, None)
