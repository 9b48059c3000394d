"""Six criteria, a gate and a verdict for every model and kind of context."""

from __future__ import annotations

import streamlit as st

from core.domain.results import AnalysisResult
from core.workflow.designs import prepared
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics.computing import AnalysisRequest
from pages.shared import analysis_page, widgets

_PAGES = {
    "design": "pages/design/page.py",
    "banks": "pages/banks/page.py",
    "texts": "pages/texts.py",
    "import_export": "pages/import_export/page.py",
}


def _missing_criteria(
    study: StudyRecord, _request: AnalysisRequest, result: AnalysisResult
) -> None:
    """A link for each criterion without a coefficient: to a design that would collect it."""
    missing = prepared.missing_criteria(result)
    if not missing:
        return
    with st.container(key="missing_criteria", horizontal=True, vertical_alignment="center"):
        st.markdown("**Collect what is missing:**", width="content")
        for criterion in missing:
            proposal = prepared.prepare(widgets.workspace(), study.code, criterion)
            ready = proposal.design is not None
            st.page_link(
                _PAGES[proposal.page],
                label=criterion.capitalize(),
                icon=":material/edit_note:" if ready else ":material/add:",
                help=widgets.plain(proposal.sentence),
                query_params={"prepare": study.code, "criterion": criterion} if ready else None,
            )


analysis_page.show(
    "validation_report",
    "Validation report",
    "Is the scale a reliable and valid measure of these models? Six criteria with ratings, for "
    "every model and kind of context; validity is judged only where the scale is reliable.",
    above=_missing_criteria,
)
