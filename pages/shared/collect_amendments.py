"""Amending a frozen study whose service does not take one of its settings."""

from __future__ import annotations

import streamlit as st

from core.errors import UserError
from core.workflow import amendments, collection, studies
from core.workflow.service_parameters import PARAMETERS
from core.workflow.studies import StudyRecord
from pages.shared import widgets

_NOTE = "amendment_note"
_RESPONDENT = "amendment_respondent"
_LEAVE_OUT = "amendment_leave_out"
_LIMIT = "amendment_limit"
_REASON = "amendment_reason"


def show(study: StudyRecord) -> None:
    """The amendments so far, and a form for another where the study asks a service."""
    found = widgets.workspace()
    if note := widgets.last_note(_NOTE):
        st.success(note)
    for sentence in amendments.sentences(found, study.code):
        st.text(sentence)
    people = studies.people_as_amended(found, study.study_id).values()
    services = sorted(person.label for person in people if person.kind == "api")
    if not services or study.n_responses >= study.n_trials:
        return
    rejected = _rejection(study.code)
    with st.expander("Change a setting that a service does not take", expanded=bool(rejected)):
        st.write(
            "Some models refuse settings such as temperature. Leave such a setting out here: the "
            "plan and its hash stay, the change holds for the calls made from now on, and time and "
            "reason are told with every result. The page Respondents finds what a service takes: "
            "press 'Test the connection' there."
        )
        label = st.selectbox("Respondent", services, key=_RESPONDENT)
        possible = amendments.can_leave_out(found, study.code, label)
        st.multiselect(
            "Settings to leave to the service", possible, format_func=PARAMETERS.__getitem__,
            key=f"{_LEAVE_OUT}:{study.code}:{label}",
            default=[name for name in possible if name in rejected],
        )  # fmt: skip
        if "max_tokens" in possible:
            st.checkbox(
                "Send the longest reply as max_completion_tokens", key=f"{_LIMIT}:{label}",
                help="Models that think before they answer take the limit under this name only.",
            )  # fmt: skip
        st.text_input(
            "Reason", key=f"{_REASON}:{study.code}", value=rejected,
            help="A sentence for the methods section of a paper.",
        )  # fmt: skip
        st.button(
            "Amend the study", key="amendment_keep", icon=":material/edit_note:",
            on_click=_amend, args=(study.code,),
        )  # fmt: skip


def _rejection(study: str) -> str:
    """What the service said where it rejected requests of this study last; empty if it did not."""
    words = collection.FAILURE_WORDS["rejected"]
    failures = collection.progress(widgets.workspace(), study).failures
    return next((failure.detail for failure in failures if failure.what == words), "")


def _amend(study: str) -> None:
    typed = st.session_state.to_dict()
    label = typed[_RESPONDENT]
    try:
        done = amendments.amend(
            widgets.workspace(),
            study,
            label,
            leave_out=typed.get(f"{_LEAVE_OUT}:{study}:{label}", []),
            completion_limit=typed.get(f"{_LIMIT}:{label}", False),
            reason=typed.get(f"{_REASON}:{study}", ""),
        )
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    st.session_state[_NOTE] = (
        f"{widgets.plain(label)}: {widgets.plain(done.change)}. Press Continue to go on."
    )
