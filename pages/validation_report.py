"""Six criteria, a gate and a verdict for every model and kind of context."""

import streamlit as st

from core.domain.results import AnalysisResult
from core.workflow.statistics import analyses
from pages.shared import analysis_page, widgets

_MARKS = {True: ":material/check_circle:", False: ":material/cancel:", None: ":material/help:"}
_MOST = 40


def verdicts(result: AnalysisResult) -> None:
    """The verdict of every group in a sentence."""
    verdicts_of_groups = analyses.verdicts(result)
    st.header("Verdict")
    for group, passed, sentence in verdicts_of_groups[:_MOST]:
        st.markdown(f"{_MARKS[passed]} **{widgets.plain(group)}** {widgets.plain(sentence)}")
    if len(verdicts_of_groups) > _MOST:
        st.caption(f"The table of verdicts has the other {len(verdicts_of_groups) - _MOST:,}.")


st.title("Validation report")
st.caption(
    "Is the scale a reliable and valid measure of these models? Six criteria with ratings, for "
    "every model and kind of context; validity is judged only where the scale is reliable."
)
analysis_page.show("validation_report", above=verdicts)
