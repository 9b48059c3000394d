"""What every page of statistics has: study, analysis, options, progress and result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.analysis.shared.registry import Analysis, Topic
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.workflow.answers import browsing
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs import control
from core.workflow.statistics import analyses, computing, frames
from core.workflow.statistics.computing import AnalysisRequest, Computation
from pages.shared import analysis_options, downloads, results, widgets
from pages.shared.widgets import factor_word

# How long a page waits for a result before it shows progress; most results take less time.
WAIT_S = 0.4
_POLL_S = 0.5


def _result_of(question: AnalysisRequest) -> AnalysisResult | None:
    """The result, or None while it is being computed; raises the error of the computation."""
    computation = computing.computation_of(widgets.workspace(), question)
    computation.wait(WAIT_S)
    if computation.state == "cancelled":
        st.info("The computation is canceled. No result is saved.", icon=":material/cancel:")
        st.button(
            "Compute again", icon=":material/refresh:", key="compute_again",
            on_click=computing.forget, args=(widgets.workspace(), question),
        )  # fmt: skip
        return None
    if computation.ended:
        return computation.value()
    _watch(computation)
    return None


@st.fragment(run_every=_POLL_S)
def _watch(computation: Computation) -> None:
    """A progress bar with a button to cancel; redraws the page at the end."""
    if computation.ended:
        st.rerun()
    waiting = computation.state == "waiting"
    text = (
        "Waiting until other analyses are done ..."
        if waiting
        else f"Computing: {computation.done} of {computation.total} {computation.unit} done ..."
        if computation.total
        else "Computing ..."
    )
    st.progress(computation.done / computation.total if computation.total else 0.0, text=text)
    st.button(
        "Cancel", icon=":material/stop_circle:", key="cancel_computing", on_click=computation.cancel
    )
    st.caption("You can leave this page. The result will be here when you return.")


_ANALYSIS_PARAMETER = "analysis"


def show(
    topic: Topic,
    *,
    above: Callable[[AnalysisResult], None] | None = None,
    below: Callable[[StudyRecord], None] | None = None,
) -> None:
    """The page of a topic below its title.

    `above` draws something above every result and `below` something below it.
    """
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        if study.n_responses == 0:
            st.info("This study has no answers yet. Start it on the page Collect.")
            st.page_link(
                "pages/collect/page.py", label="Go to Collect", icon=":material/play_circle:"
            )
            return
        widgets.notes_of_study(study.code)
        if study.n_responses < study.n_trials:
            st.warning(
                f"{study.n_responses:,} of {study.n_trials:,} planned replies have arrived ("
                f"{control.usable_words(study.n_usable, study.n_asked)}). "
                "The numbers change with each new reply."
            )
        analysis = _choose_analysis(topic)
        st.write(widgets.plain(analysis.question))
        options = analysis_options.option_form(analysis, study)
        other_studies, averaged, filters = _which_answers(study, analysis)
        question = AnalysisRequest(
            analysis.name, (study.code, *other_studies), options, filters, averaged
        )
        result = _result_of(question)
        if result is not None:
            if above:
                above(result)
            _show(analysis, question, result)
            if below:
                below(study)


def _show(analysis: Analysis, question: AnalysisRequest, result: AnalysisResult) -> None:
    stem = downloads.file_stem(question.studies[0])
    results.show_result(analysis, result, file_stem=stem)
    results.show_scripts(analysis, question, file_stem=stem)


def _choose_analysis(topic: Topic) -> Analysis:
    names = [analysis.name for analysis in analyses.all_analyses() if analysis.topic == topic]
    names.sort(key=lambda name: name != topic)  # the analysis with the page's name comes first
    in_address = st.query_params.get(_ANALYSIS_PARAMETER, "")
    default = in_address if in_address in names else topic if topic in names else names[0]
    chosen = default
    if len(names) > 1:
        titles = {name: widgets.plain(analyses.by_name(name).title) for name in names}
        key = widgets.analysis_chooser(topic)
        # Not as a default: it would clash with a choice made by a button of another analysis.
        st.session_state.setdefault(key, default)
        choice = st.segmented_control(
            "Analysis", names, format_func=titles.__getitem__, key=key, required=True
        )
        chosen = choice or default
    st.query_params[_ANALYSIS_PARAMETER] = chosen
    return analyses.by_name(chosen)


def _which_answers(
    study: StudyRecord, analysis: Analysis
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, list[object]]]:
    """Other studies of the analysis, the factors to average over, and the filters."""
    with st.expander("Choose the answers and the unit of analysis"):
        levels = browsing.levels(widgets.workspace(), study.code)
        other_studies = _together(study)
        averaged = _rows(study, levels) if analysis.needs is ITEM_SCORES else ()
        filters = {
            name: st.multiselect(
                f"Only {factor_word(name)}", values,
                key=f"where:{study.code}:{name}", persist_state="session",
            )
            for name, values in levels.items()
        }  # fmt: skip
    return other_studies, averaged, {name: values for name, values in filters.items() if values}


def _together(study: StudyRecord) -> tuple[str, ...]:
    """Other studies with the same bank."""
    others = [
        record.code
        for record in reversed(studies.list_studies(widgets.workspace()))
        if record.instrument == study.instrument and record.code != study.code
        and record.n_responses
    ]  # fmt: skip
    if not others:
        return ()
    chosen = st.multiselect(
        "Add the answers of other studies", others, key=f"together:{study.code}",
        persist_state="session",
        help="Studies with the same bank. To compare the studies, choose Study under Side by side.",
    )  # fmt: skip
    return tuple(chosen)


def _rows(study: StudyRecord, levels: Mapping[str, list[Any]]) -> tuple[str, ...]:
    """The factors whose combinations are the rows; returns the factors to average over."""
    factors = [name for name in levels if name != "item"]
    if not factors:
        st.caption("A row is one administration: one respondent answers the whole bank once.")
        return ()
    chosen = st.multiselect(
        "A row is one combination of", factors, factors, format_func=factor_word,
        key=f"rows:{study.code}", persist_state="session",
        help="The unit of analysis. If you remove a factor, rows that differ only in this factor "
        "are averaged. Factors that an analysis compares are never averaged.",
    )  # fmt: skip
    for sentence in frames.implications(chosen, brought_in=study.kind == "imported"):
        st.caption(widgets.plain(sentence))
    return tuple(name for name in factors if name not in chosen)
