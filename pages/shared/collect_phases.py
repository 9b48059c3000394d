"""The second phase of a study: offered when the first is complete."""

from __future__ import annotations

import streamlit as st

from core.errors import UserError
from core.workflow import phases
from core.workflow.studies import StudyRecord
from pages.shared import widgets

_NOTE = "phase_note"


def show(study: StudyRecord) -> None:
    """Where the phases stand, and the button that plans the second."""
    if not phases.can_have_opposing(widgets.workspace(), study.code):
        return
    now = phases.state(widgets.workspace(), study.code)
    widgets.last_note(_NOTE)
    if now.opposing:
        st.caption(
            f"Two phases: {now.initial:,} trials without an opinion, {now.opposing:,} with the "
            f"opposite one. Plan of the second: {now.plan_hash[:12]}, frozen "
            f"{now.frozen_at:%Y-%m-%d %H:%M}."
        )
        return
    if now.unanswered:
        return
    with st.expander("A second phase: does the model give way?"):
        st.write(
            "Every question is put again, as often and under the same conditions, by a user who "
            "says the opposite of what the model said: against where its mean reply was in "
            "favor or neutral, in favor where it was against (Hirose & Uchida, 2025)."
        )
        offered = phases.fitting_templates(widgets.workspace())
        st.selectbox(
            "Prompt template", list(offered), format_func=offered.__getitem__, key="phase_template",
            help="Templates whose text holds {opinion}, the answer the user is said to hold.",
        )  # fmt: skip
        st.button(
            f"Plan {now.initial:,} more trials", key="phase_plan", icon=":material/add_task:",
            on_click=_plan, args=(study.code,),
        )  # fmt: skip


def _plan(study: str) -> None:
    template = st.session_state.to_dict()["phase_template"]
    try:
        phases.plan_opposing(widgets.workspace(), study, template)
    except UserError as error:
        st.session_state[_NOTE] = error
