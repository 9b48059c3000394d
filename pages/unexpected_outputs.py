"""Replies that are not just the label of an option, and how often one has to ask again."""

from __future__ import annotations

import streamlit as st

from core.domain.results import AnalysisResult
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses
from core.workflow.statistics.computing import AnalysisRequest
from pages.shared import analysis_page, widgets


def _proposed(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> None:
    """A link for each group: to the design with the templates that a pilot proposes for it."""
    if request.analysis != "template_pilot":
        return
    proposals = analyses.proposed_templates(result)
    with st.container(key="proposed_templates", horizontal=True, vertical_alignment="center"):
        for group, templates in proposals.items():
            of = f" ({widgets.plain(group)})" if len(proposals) > 1 else ""
            st.page_link(
                "pages/design/page.py",
                label=f"Use the proposed templates in a design{of}",
                icon=":material/edit_note:",
                help=f"Opens the page Design with {widgets.plain(', '.join(templates))}.",
                query_params={"templates_of": study.code, "template": list(templates)},
            )


analysis_page.show(
    "unexpected_outputs",
    "Unexpected outputs",
    "How often replies explain, evade, refuse or break off, in which language and for which items; "
    "and which prompt templates get usable answers.",
    above=_proposed,
)
