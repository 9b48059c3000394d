"""Cross a bank with respondents and conditions, see what it comes to, and freeze the plan."""

from __future__ import annotations

import streamlit as st

from core.workflow import design_drafts
from pages.shared import (
    design_choices,
    design_examples,
    design_frozen,
    design_overview,
    design_personas,
    design_presets,
    draft_form,
    widgets,
)
from pages.shared.draft_form import DraftForm


def main() -> None:
    st.title("Design")
    st.caption(
        "Choose what is asked, who answers and under which conditions; see what that comes to; "
        "freeze it into a plan."
    )
    with widgets.error_box():
        form = draft_form.open_form(
            design_drafts.DRAFT, design_drafts.defaults(widgets.workspace())
        )
        design_presets.start_from_preset(form)
        with st.expander("Start from a file, or from nothing"):
            design_frozen.start_from_file(form)
        st.header("Choose")
        design_choices.choices(form)
        form.show_notes()
        overview(form)
        st.header("Frozen studies")
        design_frozen.frozen_studies(form)


def overview(form: DraftForm) -> None:
    """What the choices come to; an error here leaves the rest of the page as it is."""
    st.header("What it comes to")
    with widgets.error_box():
        without = design_personas.still_to_choose(form.fields)
        fields = {**form.fields, "personas": "none"} if without else form.fields
        design = design_drafts.to_design(widgets.workspace(), fields)
        size = design_overview.plan_size(design)
        ready = design_overview.cautions(design, also=without)
        st.header("What will be sent")
        with widgets.error_box():
            design_examples.examples(design, size)
        st.header("Freeze")
        design_frozen.freeze_button(form, design, ready=ready)


main()
