"""What every page of statistics has: study, analysis, options, progress and result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.kit.factor_models.models import FactorModelText
from core.analysis.kit.registry import Analysis, Topic
from core.domain.frames import ITEM_SCORES, OPTION_COUNTS
from core.domain.results import AnalysisResult
from core.domain.study import LEAVE_OUT
from core.errors import NotEnoughData, UserError, WrongOption
from core.workflow import tour
from core.workflow.answers import browsing
from core.workflow.background import Computation
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import (
    analyses,
    computing,
    fits,
    item_attributes,
    person_facts,
    roles,
)
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.statistics.frames import ChosenAnswers
from core.workflow.statistics.result_changes import change_sentence, changed_tables
from pages.shared import analysis_options, left_out, results, study_bar, widgets
from pages.shared.analysis_options import NO_EDITORS, Editors
from pages.shared.widgets import plain

# How long a page waits for a result before it shows progress; most results take less time.
WAIT_S = 0.4
_POLL_S = 0.5
_ANALYSIS_PARAMETER = "analysis"
_OPTIONS_SWITCH = "options_switch"
_LAST_SHOWN = "result_last_shown"  # of this tab of the browser: its request and the result
_OF_OPTIONS = (ITEM_SCORES, OPTION_COUNTS)  # answers can be left out of these

Tabs = Mapping[str, Callable[[], None]]
"""Further tabs of a result: what draws each, by its title."""
Drawn = TypeVar("Drawn")
OfResult = Callable[[StudyRecord, AnalysisRequest, AnalysisResult], Drawn]
"""What a page draws of a result of its own."""


def show(
    topic: Topic,
    title: str,
    purpose: str,
    *,
    in_short: OfResult[None] | None = None,
    above: OfResult[None] | None = None,
    tabs: OfResult[Tabs] | None = None,
    editors: Editors = NO_EDITORS,
) -> None:
    """The page of a topic.

    Parameters
    ----------
    topic : Topic
        Whose analyses stand here.
    title, purpose : str
        Of the page.
    in_short, above : function, optional
        Draw something above and below (which comes first) the sentences that answer the question.
    tabs : function, optional
        What to draw in further tabs, or above the tables of a tab.
    editors : mapping, optional
        Editors of the kinds of options that take more than a widget.
    """
    with widgets.error_box():
        row, study = study_bar.answered_study(title, purpose)
        if study is None:
            return
        analysis = _choose_analysis(topic, title)
        st.caption(widgets.plain(analysis.question))
        with row:
            answers, place_of_roles = _which_answers(study, analysis)
        options_and_answer = st.container(key="statistics", horizontal=True, gap="medium")
        tables = st.container(key="result_tables")
        with (
            options_and_answer,
            _in_grey_if_unfit(study, analysis),
        ):
            options, chart_options = _options(analysis, study, answers, editors)
            over = analyses.averaged_factors(
                widgets.workspace(), study.code, analysis, options, answers
            )
            request = AnalysisRequest(
                analysis.name, (study.code, *answers.others), options, answers.where, over
            )
            with place_of_roles:
                _roles_of_factors(study, analysis, request, answers)
            with (
                st.container(key="result"),
                widgets.error_box(),
                _in_grey_if_unfit(study, analysis),
            ):
                why = fits.why_meaningless(widgets.workspace(), study.code, analysis)
                # several studies together can have what each lacks
                if why and not answers.others and not _wants_anyway(study, analysis):
                    does_not_fit(study, analysis, why, computable=True)
                    return
                result = result_of(request, cancels_earlier=True)
                if result is not None:
                    st.session_state[_LAST_SHOWN] = request, result
                    results.show_result(
                        analysis,
                        request,
                        result,
                        chart_options,
                        below=tables,
                        in_short=_of(in_short, study, request, result),
                        above=_of(above, study, request, result),
                        tabs={
                            **(tabs(study, request, result) if tabs else {}),
                            **_left_out_tab(analysis, request, result),
                        },
                    )
                    return
                if not computing.computation_of(widgets.workspace(), request).ended:
                    _show_earlier(analysis, request, chart_options, tables)


def _of(
    draw: OfResult[None] | None,
    study: StudyRecord,
    request: AnalysisRequest,
    result: AnalysisResult,
) -> Callable[[], None] | None:
    return None if draw is None else partial(draw, study, request, result)


def _show_earlier(
    analysis: Analysis,
    request: AnalysisRequest,
    chart_options: Mapping[str, Any],
    tables: DeltaGenerator,
) -> None:
    """The result shown last, if only options differ: without the tabs that compute something."""
    last, earlier = st.session_state.get(_LAST_SHOWN, (request, None))
    if earlier is None or (last.analysis, last.studies) != (request.analysis, request.studies):
        return
    with st.container(key="result_before"):
        st.caption("Until then, in grey: the result before the last change.")
        results.show_result(analysis, last, earlier, chart_options, below=tables)


@contextmanager
def _in_grey_if_unfit(study: StudyRecord, analysis: Analysis) -> Generator[None]:
    """Say in grey that an analysis has too few answers; what somebody typed wrongly stays red."""
    try:
        yield
    except WrongOption:
        raise
    except NotEnoughData as error:
        does_not_fit(study, analysis, str(error))


def does_not_fit(
    study: StudyRecord, analysis: Analysis, why: str, *, computable: bool = False
) -> None:
    """One grey line: why an analysis says nothing of a study, and a sample study that it fits.

    Where it is `computable`, it can be computed all the same.
    """
    sample = tour.shown_by(analysis)
    loaded = {record.code for record in studies.list_studies(widgets.workspace())}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(why), width="content")
        if sample is not None and sample.code in loaded and sample.code != study.code:
            st.button(
                f"See it with {sample.code}",
                type="tertiary",
                icon=":material/tour:",
                key="see_sample",
                help=plain(sample.about),
                on_click=widgets.switch_study,
                args=(sample.code,),
            )
        elif sample is not None and sample.code not in loaded:
            st.page_link(
                "pages/home.py",
                label="Sample studies that have it",
                icon=":material/tour:",
                help="Home loads them by one click.",
            )
        if computable:
            st.button(
                "Compute it all the same",
                type="tertiary",
                key="compute_anyway",
                on_click=st.session_state.update,
                args=({_anyway(study, analysis): True},),
            )


def _anyway(study: StudyRecord, analysis: Analysis) -> str:
    return f"anyway:{study.code}:{analysis.name}"


def _wants_anyway(study: StudyRecord, analysis: Analysis) -> bool:
    return bool(st.session_state.get(_anyway(study, analysis)))


def _left_out_tab(analysis: Analysis, request: AnalysisRequest, result: AnalysisResult) -> Tabs:
    """The tab that shows what leaving out changes, where answers are left out."""
    if not request.where.get(LEAVE_OUT):
        return {}
    every = {name: levels for name, levels in request.where.items() if name != LEAVE_OUT}

    def draw() -> None:
        before = result_of(replace(request, where=every))
        if before is None:
            return
        tables = {t.title: t for t in changed_tables(before, result) if len(t.frame)}
        titles = list(tables)
        title = titles[0] if titles else ""
        if len(titles) > 1:
            title = st.selectbox("Table", titles, key=f"left_out_table:{analysis.name}", width=420)
        if title:
            sentence = change_sentence(before, result, analysis.needs.noun, tables[title])
            left_out.show_changes(tables[title], sentence, f"{request.studies[0]}-{analysis.name}")

    return {left_out.TITLE: draw}


def _cancel_earlier(request: AnalysisRequest, computation: Computation[Any]) -> None:
    """Cancel what is still computed for this tab of the same studies with other options."""
    key = f"computing:{request.analysis}"
    studies, earlier = st.session_state.get(key, ((), computation))
    if studies == request.studies and earlier is not computation:
        earlier.cancel()
    st.session_state[key] = request.studies, computation


def result_of(request: AnalysisRequest, *, cancels_earlier: bool = False) -> AnalysisResult | None:
    """The result, or None while it is being computed; raises the error of the computation."""
    computation = computing.computation_of(widgets.workspace(), request)
    if cancels_earlier:
        _cancel_earlier(request, computation)
    computation.wait(WAIT_S)
    if computation.may_be_repeated:
        if isinstance(computation.error, UserError):
            widgets.show_problem(computation.error)
        else:
            st.info("The computation is canceled. No result is saved.", icon=":material/cancel:")
        st.button(
            "Compute again",
            icon=":material/refresh:",
            key=f"compute_again:{request.analysis}",
            on_click=computing.forget,
            args=(widgets.workspace(), request),
        )
        return None
    if computation.ended:
        return computation.value()
    watch(computation)
    return None


def progress_words(computation: Computation[Any]) -> str:
    """How far a computation is."""
    if computation.state == "waiting":
        return "Waiting until other analyses are done ..."
    if not computation.total:
        return "Computing ..."
    return f"Computing: {computation.done:,} of {computation.total:,} {computation.unit} done ..."


@st.fragment(run_every=_POLL_S)
def watch(
    computation: Computation[Any], words: Callable[[Computation[Any]], str] = progress_words
) -> None:
    """A progress bar with a button to cancel; redraws the page at the end."""
    if computation.ended:
        st.rerun()
    share = computation.done / computation.total if computation.total else 0.0
    st.progress(share, text=words(computation))
    st.button(
        "Cancel",
        icon=":material/stop_circle:",
        key=f"cancel_computing:{computation.name}",
        on_click=computation.cancel,
        disabled=computation.stopping,
    )
    st.caption("You can leave this page. The result will be here when you return.")


def _of_topic(topic: Topic, title: str) -> list[Analysis]:
    """The analyses of a page; the one with the page's name or title comes first."""
    own = [analysis for analysis in analyses.all_analyses() if analysis.topic == topic]
    return sorted(own, key=lambda analysis: topic != analysis.name and title != analysis.title)


def _choose_analysis(topic: Topic, title: str) -> Analysis:
    names = [analysis.name for analysis in _of_topic(topic, title)]
    in_address = st.query_params.get(_ANALYSIS_PARAMETER, "")
    default = in_address if in_address in names else names[0]
    chosen = default
    key = widgets.analysis_chooser(topic)
    opened = (default, st.session_state.get(key))
    names = [name for name in names if name in opened or not _is_a_tab(analyses.by_name(name))]
    if len(names) > 1:
        titles = {name: widgets.plain(analyses.by_name(name).title) for name in names}
        # Not as a default: it would clash with a choice made by a button of another analysis.
        st.session_state.setdefault(key, default)
        choice = st.segmented_control(
            "Analysis",
            names,
            format_func=titles.__getitem__,
            key=key,
            required=True,
            label_visibility="collapsed",
        )
        chosen = choice or default
    st.query_params[_ANALYSIS_PARAMETER] = chosen
    return analyses.by_name(chosen)


def _is_a_tab(analysis: Analysis) -> bool:
    """Whether it stands in a tab of another analysis, whose model it takes over."""
    kinds = [option.kind for option in analysis.options]
    return any(isinstance(kind, FactorModelText) and kind.fitted_by for kind in kinds)


def _options(
    analysis: Analysis, study: StudyRecord, answers: ChosenAnswers, editors: Editors
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options beside the result, and those of its charts; a narrow window folds them."""
    opened = st.session_state.get(_OPTIONS_SWITCH, False)
    with st.container(key="options" if opened else "options_folded", width=320):
        options = analysis_options.option_form(analysis, study, answers, editors)
        return options, analysis_options.chart_options(analysis, study, options)


def _which_answers(study: StudyRecord, analysis: Analysis) -> tuple[ChosenAnswers, DeltaGenerator]:
    """Other studies, filters and roles of factors; and the place of the menu of roles."""
    with st.popover("Filter", icon=":material/filter_alt:"):
        other_studies = _together(study, analysis)
        chosen = filters(study)
    place_of_roles = st.container(
        horizontal=True, vertical_alignment="center", width="content", key="roles"
    )
    kinds = left_out.choose((study.code, *other_studies)) if analysis.needs in _OF_OPTIONS else ()
    _state_of_bar(other_studies, chosen, kinds)
    with st.container(key="options_fold", width="content"):
        st.toggle("Options", key=_OPTIONS_SWITCH, persist_state="session")
    where = chosen | ({LEAVE_OUT: list(kinds)} if kinds else {})
    roles_of_study = analyses.saved_roles(widgets.workspace(), study.code)
    return ChosenAnswers(other_studies, where, roles_of_study), place_of_roles


def filters(study: StudyRecord) -> dict[str, list[object]]:
    """Draw the filters of a study, which all pages of statistics share, and return those in use."""
    levels = browsing.levels(widgets.workspace(), study.code)
    attributes = item_attributes.attribute_levels(widgets.workspace(), study.code)
    facts = person_facts.levels(widgets.workspace(), study.code)
    chosen = widgets.choose_filters(study.code, {**facts, **levels, **attributes})
    return {name: values for name, values in chosen.items() if values}


def _state_of_bar(
    other_studies: tuple[str, ...],
    filters: Mapping[str, list[object]],
    kinds: tuple[str, ...],
) -> None:
    """What is chosen in the menus, where it is not everything there is."""
    parts = [*widgets.filter_words(filters), *left_out.words(kinds)]
    parts += [f"With {', '.join(other_studies)}"] if other_studies else []
    if parts:
        st.caption(widgets.plain(". ".join(parts) + "."), width="content")


def _together(study: StudyRecord, analysis: Analysis) -> tuple[str, ...]:
    """Other studies with the same bank, or with any, where the analysis begins with studies."""
    any_bank = any("study" in o.default for o in analysis.options if o.name == "by")
    others = {
        record.code: record.name
        for record in reversed(studies.list_studies(widgets.workspace()))
        if (any_bank or record.instrument == study.instrument)
        and record.code != study.code
        and record.n_responses
    }
    if not others:
        return ()
    chosen = st.multiselect(
        "Add the answers of other studies",
        list(others),
        format_func=lambda code: others.get(code, code),
        key=f"together:{'any:' if any_bank else ''}{study.code}",
        persist_state="session",
        help=("" if any_bank else "Studies with the same bank. ")
        + "To compare the studies, choose "
        + ("Studies under Compare." if analysis.factor_option else "study under Separately for."),
    )
    return tuple(chosen)


def _roles_of_factors(
    study: StudyRecord, analysis: Analysis, request: AnalysisRequest, answers: ChosenAnswers
) -> None:
    """The menu in which each factor that varies has its role, and what these roles are."""
    workspace = widgets.workspace()
    every = computing.roles_of_request(workspace, request)
    if not every:
        return
    with st.popover("What varies", icon=":material/account_tree:"):
        st.caption(
            "What each factor does in which these answers vary. A choice holds for the study on "
            "all pages; what an analysis compares, it compares in any case."
        )
        for one in every:
            if not one.n_levels:  # chosen under Separately for or Compare alone
                continue
            saved = answers.roles.get(one.factor, "")
            words = {"": "By rule" if saved else f"By rule: {roles.ROLES[one.role].lower()}"}
            words |= {role: roles.ROLES[role] for role in roles.CHOSEN_ROLES}
            chosen = st.selectbox(
                f"{plain(one.word[:1].upper() + one.word[1:])}: {one.n_levels}",
                list(words),
                list(words).index(saved),
                format_func=words.__getitem__,
                key=f"role:{study.code}:{one.factor}",
                help="Set apart: a group of results for each level. Averaged: before anything is "
                "computed. Each a row: levels count as individuals, or as repetitions.",
            )
            if chosen != saved:
                analyses.save_role(workspace, study.code, one.factor, chosen)
                st.rerun()
        rows = [one.factor for one in every if one.role == "rows" and one.called != "people"]
        for sentence in roles.implications(rows, brought_in=study.kind == "imported"):
            st.caption(plain(sentence))
    st.caption(plain(roles.role_words(every)), width="content")
