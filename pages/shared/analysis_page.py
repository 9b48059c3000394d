"""What every page of statistics has: study, analysis, options, what a row is, and the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.analysis.registry import Analysis, Topic
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.workflow import answers, collection, statistics, studies, units
from core.workflow.computing import Question
from core.workflow.studies import StudyRecord
from pages.shared import analysis_options, analysis_progress, data_files, results, widgets
from pages.shared.factor_words import factor_word

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
            st.page_link("pages/collect.py", label="Go to Collect", icon=":material/play_circle:")
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
        question = Question(analysis.name, (study.code, *beside), options, where, over)
        result = analysis_progress.result_of(question)
        if result is not None:
            if lead:
                lead(result)
            _show(analysis, question, result)
            if after:
                after(study)


def _show(analysis: Analysis, question: Question, result: AnalysisResult) -> None:
    stem = data_files.file_stem(question.studies[0])
    results.show_result(analysis, result, file_stem=stem)
    results.show_scripts(analysis, question, file_stem=stem)


def _choose_analysis(topic: Topic) -> Analysis:
    names = [analysis.name for analysis in statistics.analyses() if analysis.topic == topic]
    names.sort(key=lambda name: name != topic)  # what gives the page its name comes first
    wished = st.query_params.get(_ANALYSIS_PARAMETER, "")
    default = wished if wished in names else topic if topic in names else names[0]
    chosen = default
    if len(names) > 1:
        titles = {name: widgets.plain(statistics.by_name(name).title) for name in names}
        key = widgets.analysis_chooser(topic)
        # Not as a default: what a button of another analysis chooses here would clash with it.
        st.session_state.setdefault(key, default)
        taken = st.segmented_control(
            "Analysis", names, format_func=titles.__getitem__, key=key, required=True
        )
        chosen = taken or default
    st.query_params[_ANALYSIS_PARAMETER] = chosen
    return statistics.by_name(chosen)


def _which_answers(
    study: StudyRecord, analysis: Analysis
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, list[object]]]:
    """Other studies analyzed together, factors averaged over, and filters."""
    with st.expander("Which answers, and what a row is"):
        levels = answers.levels(widgets.workspace(), study.code)
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
        for record in reversed(studies.listed(widgets.workspace()))
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
    for sentence in units.implications(chosen, brought_in=study.kind == "imported"):
        st.caption(widgets.plain(sentence))
    return tuple(name for name in factors if name not in chosen)
