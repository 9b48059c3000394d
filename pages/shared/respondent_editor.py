"""Adding and changing a respondent: its form, key, test, and what the buttons do."""

from __future__ import annotations

import streamlit as st

from core.domain.study import Respondent, RespondentKind
from core.errors import UserError
from core.workflow import drafts, respondent_drafts, respondents
from pages.shared import (
    draft_form,
    respondent_connection,
    respondent_form,
    respondent_words,
    widgets,
)
from pages.shared.draft_form import DraftForm

PARAMETER = "respondent"
_PROBLEM = "respondents_problem"
_DONE = "respondents_done"
_SAVED = "respondents_saved"


def edit(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """The form with its buttons, and a test of what it says now. `before` is None for a new one."""
    with st.container(border=True):
        _honesty(kind, form)
        respondent_form.fields(kind, form, new=before is None)
        if kind == "api":
            _service(form)
        form.show_notes()
        _buttons(kind, form, before)
    with widgets.error_box():
        respondent = respondent_drafts.to_respondent(kind, form.fields)
        respondent_connection.connection_test(respondent, form)


def show_done() -> None:
    """What the last button did."""
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(done)
    if st.session_state.pop(_SAVED, False):
        st.page_link("pages/design.py", label="Design a study with it", icon=":material/grid_on:")


def go_to(label: str) -> None:
    """Keep the chosen respondent in the address; an empty label means a new one."""
    if label:
        st.query_params[PARAMETER] = label
    else:
        st.query_params.pop(PARAMETER, None)


def put_away(label: str, away: bool) -> None:
    """Take a respondent off the list of choices, or put it back."""
    respondents.set_archived(widgets.workspace(), label, archived=away)
    go_to("" if away else label)
    words = "put away; bring it back any time" if away else "on offer again"
    st.session_state[_DONE] = f"{widgets.plain(label)} is {words}."


def _honesty(kind: RespondentKind, form: DraftForm) -> None:
    if kind == "simulated":
        st.warning(f"**Simulated.** {respondents.HONESTY_SIMULATED}", icon=":material/science:")
    elif kind == "local" and not form.fields["base_url"]:
        st.caption(respondents.HONESTY_LOCAL)


def _service(form: DraftForm) -> None:
    address, variable = form.fields["base_url"], form.fields["key_variable"]
    with widgets.error_box():
        state = respondent_words.key_state_words(address, variable)
        respondent_connection.key_field(address, variable, state)
    respondent_form.model_chooser(form)
    respondent_form.service_settings(form)


def _buttons(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        widgets.show_problem(problem)
    row = st.container(horizontal=True)
    row.button(
        "Add to the list" if before is None else "Save changes", key="respondents_save",
        type="primary", icon=":material/save:", on_click=_save, args=(kind, form, before),
        help="For studies yet to be frozen; frozen ones keep theirs." if before else None,
    )  # fmt: skip
    if form.saved_at:
        row.button(
            "Discard what I typed", key="respondents_discard", on_click=draft_form.forget,
            args=(form.name,),
        )  # fmt: skip
    if before is not None:
        row.button(
            "Put away", key="respondents_put_away", icon=":material/archive:", on_click=put_away,
            args=(before.label, True),
            help="Takes it off the list of choices. Studies keep it, and you can bring it back.",
        )  # fmt: skip


def _save(kind: RespondentKind, form: DraftForm, before: Respondent | None) -> None:
    """Keep what the draft in the database says, which may be newer than the form on screen."""
    found = widgets.workspace()
    kept = drafts.recall(found, form.name)
    fields = {**form.defaults, **(kept.value if kept else {})}
    try:
        respondent = respondent_drafts.to_respondent(kind, fields)
        if before is None:
            respondents.add(found, respondent)
        else:
            respondents.change(found, fields["before_id"], respondent)
    except UserError as error:
        st.session_state[_PROBLEM] = error
        return
    draft_form.forget(form.name)
    go_to(respondent.label)
    st.session_state[_DONE] = f"{widgets.plain(respondent.label)} is saved."
    st.session_state[_SAVED] = True
