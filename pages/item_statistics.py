"""Statistics of each item and each scale, for any respondents side by side."""

from functools import partial

import streamlit as st

from core.domain.numbers import round_frame
from core.domain.results import AnalysisResult
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics.analyses import KnownTruth, known_truth
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.workspace import Workspace
from pages.shared import analysis_page, widgets
from pages.shared.analysis_page import Tabs


@st.cache_data(max_entries=10, show_spinner=False)
def truth(_workspace: Workspace, study_id: int) -> tuple[KnownTruth, ...]:
    """The known parameters of a frozen study, which never change."""
    code = next(
        s.code for s in studies.list_studies(_workspace, put_away=True) if s.study_id == study_id
    )
    return known_truth(_workspace, code)


def truth_tab(study: StudyRecord, _request: AnalysisRequest, _result: AnalysisResult) -> Tabs:
    """A tab with the true values behind the answers of simulated respondents."""
    people = studies.respondents_of(widgets.workspace(), study.code)
    if not any(person.simulation for person in people):
        return {}
    return {"True values": partial(show_truth, study)}


def show_truth(study: StudyRecord) -> None:
    """The true values behind the answers of simulated respondents."""
    st.write(
        "Compare these values with the other tables. Discriminations should rise with the "
        "loadings, and alpha should be close to its expected value within one language and one "
        "entity. With more administrations (one respondent answers the bank once), the values "
        "agree more closely."
    )
    for truth_of_one in truth(widgets.workspace(), study.study_id):
        st.text(truth_of_one.respondent)
        widgets.table(
            round_frame(truth_of_one.items, 3), alt="True loading and difficulty of each item"
        )
        widgets.table(round_frame(truth_of_one.alphas, 3), alt="Expected alpha of each subscale")


analysis_page.show(
    "item_statistics",
    "Item statistics",
    "Statistics of each item and each score: means, spread, discrimination, chosen options, and a "
    "comparison with the scores of people.",
    tabs=truth_tab,
)
