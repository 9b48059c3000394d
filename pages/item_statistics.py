"""How each item and each scale behaves, for any respondents side by side."""

import streamlit as st

from core.analysis.registry import Analysis
from core.analysis.result import AnalysisResult
from core.workflow import answers, statistics, studies
from core.workflow.studies import StudyRecord
from core.workflow.truth import KnownTruth, known_truth
from core.workflow.workspace import Workspace
from pages.shared import data_files, results, widgets

ANALYSIS_PARAMETER = "analysis"


def choose_analysis() -> Analysis:
    analyses = statistics.analyses()
    names = [analysis.name for analysis in analyses]
    wished = st.query_params.get(ANALYSIS_PARAMETER, "item_statistics")
    chosen = st.segmented_control(
        "Analysis",
        names,
        default=wished if wished in names else names[0],
        format_func={a.name: widgets.plain(a.title) for a in analyses}.__getitem__,
        key="analysis_chooser",
        required=True,
    )
    st.query_params[ANALYSIS_PARAMETER] = chosen
    return statistics.by_name(chosen)


def filters(study: StudyRecord) -> dict[str, list[object]]:
    """Only some of the answers: any factor that varies in this study, or some items."""
    with st.expander("Only some of the answers"):
        levels = answers.levels(widgets.workspace(), study.code)
        chosen = {
            name: st.multiselect(
                results.factor_word(name).capitalize(),
                values,
                key=f"where:{study.code}:{name}",
                persist_state="session",
            )
            for name, values in levels.items()
        }
    return {name: values for name, values in chosen.items() if values}


@st.cache_data(max_entries=30, show_spinner="Computing ...")
def computed(
    revision: object,
    name: str,
    study: str,
    options: dict[str, object],
    where: dict[str, list[object]],
) -> AnalysisResult:
    """The result, kept as long as the answers (`revision`) stay the same."""
    return statistics.run(widgets.workspace(), name, [study], options, where)


@st.cache_data(max_entries=10, show_spinner=False)
def truth(_found: Workspace, study_id: int) -> tuple[KnownTruth, ...]:
    """Known truth of a frozen study, which does not change any more."""
    code = next(s.code for s in studies.listed(_found) if s.study_id == study_id)
    return known_truth(_found, code)


def show_truth(study: StudyRecord) -> None:
    """What the statistics should find, where simulated respondents answered."""
    if not any(person.simulation for person in studies.people(widgets.workspace(), study.code)):
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
                widgets.table(found.items.round(3), alt="True loading and difficulty of each item")
            with right:
                widgets.table(found.alphas.round(3), alt="Alpha to expect of each subscale")


def main() -> None:
    st.title("Item statistics")
    st.caption(
        "How each item and each scale behaves: means, spread, discrimination, reliability. "
        "Rows are administrations: one respondent answering the bank once, under one persona."
    )
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        if study.n_responses == 0:
            st.info("This study has no answers yet. Start it on the page Collect.")
            st.page_link("pages/collect.py", label="Go to Collect", icon=":material/play_circle:")
            return
        widgets.honesty_note(studies.people(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        if study.n_responses < study.n_trials:
            st.warning(
                f"{study.n_responses:,} of {study.n_trials:,} planned answers are in; "
                "the numbers will change as more arrive."
            )
        analysis = choose_analysis()
        st.write(widgets.plain(analysis.question))
        options = results.option_form(analysis)
        where = filters(study)
        found = widgets.workspace()
        revision = (found.process, statistics.revision(found, [study.code]))
        result = computed(revision, analysis.name, study.code, options, where)
        results.show_result(analysis, result, file_stem=data_files.file_stem(study.code))
        show_truth(study)


main()
