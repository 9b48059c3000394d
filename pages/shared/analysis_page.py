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
from core.workflow.runs import collection
from core.workflow.statistics import analyses, computing, frames
from core.workflow.statistics.computing import AnalysisRequest, Computation
from pages.shared import analysis_options, downloads, results, widgets
from pages.shared.widgets import factor_word

# Results computed in the background: the result if it is there, else how far it is.

PATIENCE_S = 0.4
"""How long a page waits before it shows progress instead; most results are there by then."""
_LOOK_EVERY_S = 0.5


def _result_of(question: AnalysisRequest) -> AnalysisResult | None:
    """The result, or None after showing how far it is; raises what kept it from being computed."""
    computation = computing.computation_of(widgets.workspace(), question)
    computation.wait(PATIENCE_S)
    if computation.state == "cancelled":
        st.info("Cancelled. Nothing was kept.", icon=":material/cancel:")
        st.button(
            "Compute again", icon=":material/refresh:", key="compute_again",
            on_click=computing.forget, args=(widgets.workspace(), question),
        )  # fmt: skip
        return None
    if computation.ended:
        return computation.value()
    _watch(computation)
    return None


@st.fragment(run_every=_LOOK_EVERY_S)
def _watch(computation: Computation) -> None:
    """A bar with how far it is, and a way to stop it; draws the page anew when it has ended."""
    if computation.ended:
        st.rerun()
    waiting = computation.state == "waiting"
    said = (
        "Waiting for other analyses ..."
        if waiting
        else f"Computing: {computation.done} of {computation.total} {computation.unit} done ..."
        if computation.total
        else "Computing ..."
    )
    st.progress(computation.done / computation.total if computation.total else 0.0, text=said)
    st.button(
        "Cancel", icon=":material/stop_circle:", key="cancel_computing", on_click=computation.cancel
    )
    st.caption("You may leave this page; the result will be here when you come back.")


# What every page of statistics has: study, analysis, options, what a row is, and the result.

_ANALYSIS_PARAMETER = "analysis"


def show(
    topic: Topic,
    *,
    lead: Callable[[AnalysisResult], None] | None = None,
    after: Callable[[StudyRecord], None] | None = None,
) -> None:
    """The page of a topic below its title.

    `lead` is drawn above every result and `after` below it.
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
                f"{study.n_responses:,} of {study.n_trials:,} planned replies are in ("
                f"{collection.usable_words(study.n_usable, study.n_asked)}); "
                "the numbers will change as more arrive."
            )
        analysis = _choose_analysis(topic)
        st.write(widgets.plain(analysis.question))
        options = analysis_options.option_form(analysis, study)
        beside, over, where = _which_answers(study, analysis)
        question = AnalysisRequest(analysis.name, (study.code, *beside), options, where, over)
        result = _result_of(question)
        if result is not None:
            if lead:
                lead(result)
            _show(analysis, question, result)
            if after:
                after(study)


def _show(analysis: Analysis, question: AnalysisRequest, result: AnalysisResult) -> None:
    stem = downloads.file_stem(question.studies[0])
    results.show_result(analysis, result, file_stem=stem)
    results.show_scripts(analysis, question, file_stem=stem)


def _choose_analysis(topic: Topic) -> Analysis:
    names = [analysis.name for analysis in analyses.all_analyses() if analysis.topic == topic]
    names.sort(key=lambda name: name != topic)  # what gives the page its name comes first
    wished = st.query_params.get(_ANALYSIS_PARAMETER, "")
    default = wished if wished in names else topic if topic in names else names[0]
    chosen = default
    if len(names) > 1:
        titles = {name: widgets.plain(analyses.by_name(name).title) for name in names}
        key = widgets.analysis_chooser(topic)
        # Not as a default: what a button of another analysis chooses here would clash with it.
        st.session_state.setdefault(key, default)
        taken = st.segmented_control(
            "Analysis", names, format_func=titles.__getitem__, key=key, required=True
        )
        chosen = taken or default
    st.query_params[_ANALYSIS_PARAMETER] = chosen
    return analyses.by_name(chosen)


def _which_answers(
    study: StudyRecord, analysis: Analysis
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, list[object]]]:
    """Other studies analyzed together, factors averaged over, and filters."""
    with st.expander("Which answers, and what a row is"):
        levels = browsing.levels(widgets.workspace(), study.code)
        beside = _together(study)
        over = _rows(study, levels) if analysis.needs is ITEM_SCORES else ()
        where = {
            name: st.multiselect(
                f"Only these: {factor_word(name)}", values,
                key=f"where:{study.code}:{name}", persist_state="session",
            )
            for name, values in levels.items()
        }  # fmt: skip
    return beside, over, {name: values for name, values in where.items() if values}


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
        "Together with the answers of", others, key=f"together:{study.code}",
        persist_state="session",
        help="Studies with the same bank. Put them side by side by choosing Study there.",
    )  # fmt: skip
    return tuple(chosen)


def _rows(study: StudyRecord, levels: Mapping[str, list[Any]]) -> tuple[str, ...]:
    """What makes a row; administrations that differ in something else only are averaged."""
    factors = [name for name in levels if name != "item"]
    if not factors:
        st.caption("A row is one administration: the bank answered once.")
        return ()
    chosen = st.multiselect(
        "A row is one combination of", factors, factors, format_func=factor_word,
        key=f"rows:{study.code}", persist_state="session",
        help="The unit of analysis. Take one out, and the scores of rows that differ in nothing "
        "else are averaged. What is set side by side or compared below is never averaged.",
    )  # fmt: skip
    for sentence in frames.implications(chosen, brought_in=study.kind == "imported"):
        st.caption(widgets.plain(sentence))
    return tuple(name for name in factors if name not in chosen)
