"""How each item and each scale behaves, for any respondents side by side."""

import streamlit as st

from core.domain.numbers import round_frame
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics.analyses import KnownTruth, known_truth
from core.workflow.workspace import Workspace
from pages.shared import analysis_page, widgets


@st.cache_data(max_entries=10, show_spinner=False)
def truth(_found: Workspace, study_id: int) -> tuple[KnownTruth, ...]:
    """Known truth of a frozen study, which does not change any more."""
    code = next(s.code for s in studies.list_studies(_found) if s.study_id == study_id)
    return known_truth(_found, code)


def show_truth(study: StudyRecord) -> None:
    """What the statistics should find, where simulated respondents answered."""
    if not any(
        person.simulation for person in studies.respondents_of(widgets.workspace(), study.code)
    ):
        return
    with st.expander("The known truth behind the simulated answers"):
        st.write(
            "Set it beside the tables above: discriminations should rise with the loadings, and "
            "alpha should come close to the value to expect, the closer the more administrations."
        )
        for found in truth(widgets.workspace(), study.study_id):
            st.text(found.respondent)
            left, right = st.columns([2, 1])
            with left:
                widgets.table(
                    round_frame(found.items, 3), alt="True loading and difficulty of each item"
                )
            with right:
                widgets.table(round_frame(found.alphas, 3), alt="Alpha to expect of each subscale")


st.title("Item statistics")
st.caption(
    "How each item and each score behaves: means, spread, discrimination, options chosen, and how "
    "the scores compare with those of people."
)
analysis_page.show("item_statistics", after=show_truth)
