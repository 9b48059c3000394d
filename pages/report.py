"""Design, methods and chosen results of a study as one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.analysis.kit.factor_models.models import FactorModelText
from core.analysis.kit.registry import Analysis, AnalysisOption
from core.domain.study import LEAVE_OUT
from core.errors import UserError
from core.workflow.background import Computation
from core.workflow.designs.studies import StudyRecord
from core.workflow.reports import choices, making, viewing
from core.workflow.reports.choices import Offer, ReportChoices, ReportRequest
from core.workflow.reports.making import Report
from core.workflow.statistics import analyses
from core.workflow.statistics.frames import ChosenAnswers
from core.workflow.workspace import Workspace
from pages.shared import analysis_options, analysis_page, downloads, left_out, study_bar, widgets
from pages.shared.analysis_options import Editor
from pages.shared.widgets import plain, workspace

_PURPOSE = (
    "Design, methods, chosen results and what was left out, as one file for readers and reviewers."
)
_WIDTH = 380
_PROBLEM = "report_problem"
_WANTED = "report_wanted"


def _show() -> None:
    with widgets.error_box():
        row, study = study_bar.answered_study("Report", _PURPOSE)
        if study is None:
            return
        with row:
            where = _which_answers(study)
        draft = choices.saved(workspace(), study.code)
        offers = choices.offers(workspace(), study.code)
        top = st.container()
        st.header("Analyses")
        left, right = st.columns(2, gap="medium")
        with left, st.container(gap="xsmall"):
            _list_of_analyses(study, draft, offers)
        with right:
            _options(study, draft, where)
        with top, widgets.error_box():  # after the options, which save what is chosen
            _title_and_authors(study, draft)
            request = choices.request_of(workspace(), study.code, draft, choices.today(), where)
            _files(study, request)


def _which_answers(study: StudyRecord) -> dict[str, list[object]]:
    """The filters of all analyses of the report."""
    with st.popover("Filter", icon=":material/filter_alt:"):
        chosen = analysis_page.filters(study)
    kinds = left_out.choose((study.code,))
    parts = [*widgets.filter_words(chosen), *left_out.words(kinds)]
    if parts:
        st.caption(plain(". ".join(parts) + "."), width="content")
    return chosen | ({LEAVE_OUT: list(kinds)} if kinds else {})


def _title_and_authors(study: StudyRecord, draft: ReportChoices) -> None:
    """Fields for what stands above the report; every change is saved."""
    fields = {"title": draft.title, "authors": draft.authors, "longest_table": draft.longest_table}
    keys = {name: f"report_{name}:{study.code}" for name in fields}
    for name, value in fields.items():  # another tab may have changed them
        st.session_state[keys[name]] = value
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Title",
            key=keys["title"],
            width=_WIDTH,
            on_change=_save,
            args=(study.code, "title", keys["title"]),
        )
        st.text_input(
            "Authors",
            key=keys["authors"],
            width=_WIDTH,
            placeholder="A. Author; B. Author",
            help="Names with semicolons between them.",
            on_change=_save,
            args=(study.code, "authors", keys["authors"]),
        )
        st.number_input(
            "Longest table",
            1,
            key=keys["longest_table"],
            width=150,
            help="In rows. The report names longer tables with the command that writes them.",
            on_change=_save,
            args=(study.code, "longest_table", keys["longest_table"]),
        )
    widgets.last_note(_PROBLEM)


def _save(study: str, field: str, key: str) -> None:
    """Keep what was typed in a field."""
    try:
        choices.save(workspace(), study, **{field: st.session_state[key]})
    except UserError as error:
        st.session_state[_PROBLEM] = error


# Making the report.


def _files(study: StudyRecord, request: ReportRequest) -> None:
    """The button, the progress, or the finished files."""
    if st.session_state.pop(_WANTED, False):  # here, with all that was just typed and chosen
        making.forget(workspace(), request)
        making.computation_of(workspace(), request)
    computation = making.known(workspace(), request)
    if computation is not None and computation.state != "cancelled":
        computation.wait(analysis_page.WAIT_S)
    if computation is None or computation.state == "cancelled":
        _button(request, cancelled=computation is not None)
    elif not computation.ended:
        analysis_page.watch(computation, _progress_words)
    else:
        _downloads(study, request, computation)


def _button(request: ReportRequest, *, cancelled: bool) -> None:
    if not request.analyses:
        st.info("No analysis is ticked: the report has the design and the answers alone.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Make the report",
            type="primary",
            icon=":material/description:",
            key="report_make",
            on_click=_want,
        )
        count = len(request.analyses)
        st.caption(
            "The report is canceled. No file is saved."
            if cancelled
            else f"{count:,} {'analysis' if count == 1 else 'analyses'}. HTML and Word."
        )


def _want() -> None:
    st.session_state[_WANTED] = True


def _progress_words(computation: Computation[Any]) -> str:
    """Which analysis is computed, such as "3 of 10: Factor model"."""
    if not computation.total:
        return "Reading the study ..."
    return plain(f"{computation.done + 1:,} of {computation.total:,}: {computation.unit}")


def _downloads(
    study: StudyRecord, request: ReportRequest, computation: Computation[Report]
) -> None:
    """The files of a finished report, and what they leave out."""
    try:
        report = computation.value()
    except UserError as error:
        making.forget(workspace(), request)
        widgets.show_problem(error)
        return
    stem = f"{downloads.file_stem(study.code)}-report"
    with st.container(horizontal=True, vertical_alignment="center"):
        for ending, title in making.FILES.items():
            data = report.files[ending]
            size = f"{len(data) / 1e6:,.1f} MB" if len(data) >= 100_000 else f"{len(data):,} bytes"
            widgets.download(
                f"{title} (.{ending}, {size})",
                data,
                f"{stem}.{ending}",
                key=f"report_download:{ending}",
            )
        downloads.download_when_asked(
            "Page to look at (.zip)",
            partial(_view, workspace(), request),
            f"{stem}-view.zip",
            key="report_download:view",
        )
        st.caption(f"{report.n_tables:,} tables, {report.n_figures:,} figures.")
    st.caption(
        "The page to look at is for reviewers and co-authors: unpack it and open index.html. It "
        "has charts that answer the mouse, all tables as CSV, and every reply, with a search. It "
        "needs no Inkblot and no network. Making it takes as long as the report."
    )
    with st.expander(f"What was left out ({len(report.left_out):,})", expanded=True):
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.left_out))
    with st.expander("Command line"):
        downloads.command("report", study.code, "--out", f"{stem}.docx")
        downloads.command("view", study.code, "--out", f"{stem}-view")


def _view(of: Workspace, request: ReportRequest) -> bytes:
    return viewing.as_zip(viewing.make(of, request))


# Analyses: which, in which order, with which options.


def _list_of_analyses(study: StudyRecord, draft: ReportChoices, offers: Sequence[Offer]) -> None:
    """A box to tick for each analysis that fits; those of the report come first, in its order."""
    by_name = {one.analysis.name: one for one in offers}
    for place, name in enumerate(draft.analyses):
        _row(study, by_name[name], draft.analyses, place)
    others = [one for one in offers if not one.fault and one.analysis.name not in draft.analyses]
    if others:
        st.caption("Not in the report:")
    for one in others:
        _row(study, one, draft.analyses, None)
    rest = [one for one in offers if one.fault and one.analysis.name not in draft.analyses]
    if rest:
        with st.expander(f"Analyses that say nothing of this study ({len(rest):,})"):
            lines = (f"- **{plain(one.analysis.title)}**: {plain(one.fault)}" for one in rest)
            st.markdown("\n".join(lines))


def _row(study: StudyRecord, offer: Offer, chosen: Sequence[str], place: int | None) -> None:
    """One analysis: its box, and in the report the ways to its options and up the list."""
    analysis = offer.analysis
    key = f"report_tick:{study.code}:{analysis.name}"
    st.session_state[key] = place is not None  # another tab may have changed it
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.checkbox(
            plain(analysis.title),
            help=plain(analysis.question),
            key=key,
            width="stretch",
            on_change=_tick,
            args=(study.code, tuple(chosen), analysis.name),
        )
        if place is None:
            return
        if offer.fault:
            st.badge("Does not fit", color="orange", help=plain(offer.fault))
        st.button(
            "Options",
            icon=":material/tune:",
            type="tertiary",
            help=plain(analysis.title),
            key=f"report_options:{study.code}:{analysis.name}",
            on_click=_open_options,
            args=(study.code, analysis.name),
        )
        st.button(
            "Up",
            icon=":material/arrow_upward:",
            type="tertiary",
            disabled=place == 0,
            help=plain(f"Move {analysis.title} up"),
            key=f"report_up:{study.code}:{analysis.name}",
            on_click=_move_up,
            args=(study.code, tuple(chosen), place),
        )


def _tick(study: str, chosen: Sequence[str], name: str) -> None:
    """Take an analysis into the report, as its last one, or out of it."""
    ticked = st.session_state[f"report_tick:{study}:{name}"]
    others = [one for one in chosen if one != name]
    choices.save(workspace(), study, analyses=[*others, name] if ticked else others)


def _move_up(study: str, chosen: Sequence[str], place: int) -> None:
    moved = list(chosen)
    moved.insert(place - 1, moved.pop(place))
    choices.save(workspace(), study, analyses=moved)


def _open_options(study: str, name: str) -> None:
    st.session_state[f"report_open:{study}"] = name


def _options(
    study: StudyRecord, draft: ReportChoices, where: Mapping[str, Sequence[object]]
) -> None:
    """The options of one analysis of the report, the same as on its own page."""
    opened = st.session_state.get(f"report_open:{study.code}", "")
    if opened not in draft.analyses:
        st.caption(
            "Each analysis has the options last chosen for it on its own page. Press Options "
            "to change them here."
        )
        return
    analysis = analyses.by_name(opened)
    with st.container(border=True):
        st.markdown(f"**{plain(analysis.title)}**: options")
        analysis_options.option_form(
            analysis,
            study,
            ChosenAnswers(where=where),
            {FactorModelText: Editor(_set_there, _model)},
        )
        if not analysis.options:
            st.caption("This analysis has no options.")


def _set_there(option: AnalysisOption) -> tuple[str, ...]:
    """The options that the editor of factor models sets."""
    kind: Any = option.kind
    return tuple(filter(None, (option.name, kind.preset, *kind.taken_over)))


def _model(
    study: StudyRecord, _: Analysis, option: AnalysisOption, __: ChosenAnswers
) -> dict[str, Any]:
    """The way to the editor of the model."""
    st.caption(f"{plain(option.kind.label)}: as last chosen on the page Factor models.")
    st.page_link(
        "pages/factors/page.py",
        label="Edit the model",
        icon=":material/account_tree:",
        query_params={widgets.STUDY_PARAMETER: study.code},
    )
    return {}


_show()
