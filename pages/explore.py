"""Explore: any measure of a study, crossed with up to three factors, as chart and table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import export
from core.charts import with_item_texts
from core.charts.crossed import CrossedFactors, crossed_chart
from core.domain.numbers import count_text
from core.domain.people import wanted_range
from core.domain.results import ResultTable
from core.domain.study import LEAVE_OUT
from core.errors import NotEnoughData
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, explore, item_attributes
from core.workflow.statistics.explore import FollowUp, View
from core.workflow.statistics.result_changes import changed_table, largest_change
from pages.shared import downloads, left_out, results, study_bar, widgets
from pages.shared.widgets import STUDY_PARAMETER, factor_title, factor_word, plain, workspace

_WRITTEN = "explore_written"
_ROLES = ("axis", "color", "panel")
_TABLE_WIDTH = 460  # pixels beside the chart
_TABLE_HEIGHT = 460
_MOST_LISTED = 1000  # levels of one filter
_MOST_AT_ONCE = 4  # filters of facts about people that stand open on the page


# The view: kept in the address, in the controls, and with the study.


def _key(study: str, name: str) -> str:
    return f"explore:{study}:{name}"


def _restore(study: str, levels: Mapping[str, list[Any]]) -> None:
    """Set the controls from a link, or at first from what is saved with the study.

    `levels` are those of the filters, with the kinds of answers that can be left out.
    """
    address = _address()
    view: View | None = None
    if address and address != st.session_state.get(_WRITTEN):
        try:
            view = explore.view_from_address(address)
        except NotEnoughData as error:
            widgets.show_problem(error)
    if view is not None:
        _set_controls(study, view)
        _set_filters(study, levels, view)
    elif _key(study, "measure") not in st.session_state:
        view = explore.saved_view(workspace(), study) or explore.default_view(workspace(), study)
        _set_controls(study, view)
        if not any(widgets.filter_key(study, factor) in st.session_state for factor in levels):
            _set_filters(study, levels, view)


def _address() -> dict[str, list[str]]:
    """The parameters of the address, without the study."""
    return {n: st.query_params.get_all(n) for n in st.query_params if n != STUDY_PARAMETER}


def _set_controls(study: str, view: View) -> None:
    for name in ("measure", "option", *_ROLES):
        st.session_state[_key(study, name)] = getattr(view, name)
    st.session_state[_key(study, "saved")] = view.address


def _set_filters(study: str, levels: Mapping[str, list[Any]], view: View) -> None:
    unknown = {
        factor: [name for name in names if name not in map(str, levels.get(factor, ()))]
        for factor, names in view.where.items()
    }
    for factor, values in levels.items():
        chosen = view.where.get(factor, ())
        typed = []
        if widgets.takes_ranges(factor, values):
            typed = [name for name in unknown.get(factor, ()) if wanted_range(name)]
            unknown[factor] = [name for name in unknown.get(factor, ()) if name not in typed]
        key = widgets.filter_key(study, factor)
        st.session_state[key] = [*(level for level in values if str(level) in chosen), *typed]
    for factor, names in unknown.items():
        if names:
            st.warning(
                f"Not in this study, so not filtered by {plain(factor_word(factor))}: "
                f"{plain(', '.join(names))}."
            )


def _keep(study: str, view: View) -> None:
    """Write the view to the address, and save it with the study where a person has changed it."""
    for name in _address().keys() - view.address.keys():
        del st.query_params[name]
    for name, values in view.address.items():
        st.query_params[name] = values
    st.session_state[_WRITTEN] = _address()
    if st.session_state.get(_key(study, "saved")) != view.address:
        explore.save_view(workspace(), study, view)
        st.session_state[_key(study, "saved")] = view.address


# The controls.


def _choose_view(study: str, levels: Mapping[str, list[Any]], kinds: tuple[str, ...]) -> View:
    """One row of controls: measure, option, axis, colors, panels. `kinds` are to be left out."""
    with st.container(horizontal=True, key="explore_controls", vertical_alignment="bottom"):
        titles = {measure.code: measure.title for measure in explore.MEASURES}
        measure = st.selectbox(
            "Measure",
            list(titles),
            format_func=titles.__getitem__,
            key=_key(study, "measure"),
            width=230,
            help=plain(_help(st.session_state[_key(study, "measure")])),
        )
        option = _choose_option(study) if explore.measure_of(measure).of_option else ""
        chosen: dict[str, str] = {}
        for role, label in (("axis", "Axis"), ("color", "Colors"), ("panel", "Panels")):
            chosen[role] = _choose_factor(study, role, label, levels, tuple(chosen.values()))
    where = _filters(study, levels)
    if kinds and explore.measure_of(measure).attempt_number:
        st.caption("This measure counts attempts, so no answers are left out.")
    elif kinds:
        where[LEAVE_OUT] = kinds
    return View(measure, option=option, where=where, **chosen)


def _help(code: str) -> str:
    return explore.measure_of(code).help


def _choose_option(study: str) -> str:
    labels = explore.options_of(workspace(), study)
    if not labels:
        raise NotEnoughData(
            "No answer of this study chose an option.", "Choose another measure or another study."
        )
    key = _key(study, "option")
    if st.session_state.get(key) not in labels:
        st.session_state[key] = next(iter(labels))

    def shown(code: str) -> str:
        return f"{code}: {labels[code]}" if labels[code] not in ("", code) else code

    return st.selectbox("Option", list(labels), format_func=shown, key=key, width=200)


def _choose_factor(
    study: str, role: str, label: str, levels: Mapping[str, list[Any]], taken: tuple[str, ...]
) -> str:
    """A factor that no earlier control has; a factor of a link that does not vary is listed too."""
    key = _key(study, role)
    now = st.session_state.get(key, "")
    factors = [*([] if role == "axis" else [""]), *(name for name in levels if name not in taken)]
    if explore.is_factor(now) and now not in (*factors, *taken):
        factors.append(now)
    if now not in factors:  # taken, or the word of a factor that was taken when the browser sent it
        st.session_state[key] = factors[0]
    return st.selectbox(
        label,
        factors,
        format_func=lambda name: factor_title(name) or "None",
        key=key,
        width=150,
    )


def _choose_answers(
    study: str, levels: Mapping[str, list[Any]], counts: Mapping[str, int], people: DeltaGenerator
) -> tuple[str, ...]:
    """The filters, and the kinds of answers to leave out; all pages of statistics share them.

    Filters of facts about people that have few levels stand in the row `people`.
    """
    listed = {factor: _listed(study, factor, values) for factor, values in levels.items()}
    at_once = [factor for factor in levels if widgets.has_pills(factor, listed)][:_MOST_AT_ONCE]
    with st.popover("Filter", icon=":material/filter_alt:"):
        widgets.choose_filters(study, listed, [name for name in listed if name not in at_once])
    with people:
        widgets.choose_filters(study, listed, at_once)
    kinds: tuple[str, ...] = ()
    if counts:
        with st.popover("Leave out", icon=":material/remove_circle:"):
            kinds = left_out.choose_kinds(study, counts)
    chosen = [*widgets.filter_words(_filters(study, levels)), *left_out.words(kinds)]
    if chosen:
        st.caption(plain(". ".join(chosen) + "."), width="content")
    return kinds


def _listed(study: str, factor: str, values: list[Any]) -> list[Any]:
    """The levels of a filter: the first ones, and those chosen by a link."""
    chosen = st.session_state.get(widgets.filter_key(study, factor)) or []
    return list(dict.fromkeys([*values[:_MOST_LISTED], *(one for one in chosen if one in values)]))


def _filters(study: str, levels: Mapping[str, list[Any]]) -> dict[str, tuple[str, ...]]:
    """The levels chosen in the filters, as text."""
    chosen = {
        factor: tuple(map(str, st.session_state.get(widgets.filter_key(study, factor)) or ()))
        for factor in levels
    }
    return {factor: values for factor, values in chosen.items() if values}


# The result, counted once until the answers change.


@st.cache_data(max_entries=50, show_spinner=False)
def _counted(
    revision: str, study: str, address: Mapping[str, list[str]], _view: View
) -> ResultTable:
    """The table of a view; `address` and the revision of the answers tell one from another."""
    return explore.count_view(workspace(), study, _view)


@st.cache_data(max_entries=20, show_spinner=False)
def _levels(revision: str, study: str) -> dict[str, list[Any]]:
    """The levels of the factors that a page offers."""
    return explore.levels_of_factors(workspace(), study)


def _revision(study: str) -> str:
    """Something that changes with the answers of the study."""
    return repr((workspace().process, analyses.revision(workspace(), [study])))


def _show(study: StudyRecord, view: View) -> None:
    """The answer in a sentence, ways on, and chart and table side by side."""
    table = _counted(_revision(study.code), study.code, view.address, view)
    pooled = explore.pooled_words(workspace(), study.code, view)
    st.markdown(plain(" ".join(filter(None, [explore.answer(table, view), pooled]))))
    texts = analyses.item_texts(workspace(), [study.code], view.where)
    ways_on = st.container(horizontal=True, key="explore_ways_on", vertical_alignment="center")
    with st.container(key="statistics", horizontal=True, gap="medium"):
        with st.container(key="result"):
            _show_chart(study, table, view, texts)
        with st.container(key="explore_table", width=_TABLE_WIDTH):
            row = _show_table(table, view, texts)
    with ways_on:
        _ways_on(study, view, table, row)
    measure = explore.measure_of(view.measure)
    notes = explore.left_out_notes(workspace(), study.code, view)
    interval = [measure.interval, explore.interval_words(table)]
    st.caption(plain(" ".join(filter(None, [*notes, measure.help, *interval]))))
    if view.where.get(LEAVE_OUT):
        _show_left_out(study.code, view, table)


def _show_left_out(study: str, view: View, table: ResultTable) -> None:
    """What leaving out changes: the view with all answers beside the one shown."""
    fold = st.expander(left_out.TITLE, key="explore_left_out", on_change="rerun")
    if fold.open:
        with fold:
            where = {name: levels for name, levels in view.where.items() if name != LEAVE_OUT}
            every = replace(view, where=where)
            changes = changed_table(_counted(_revision(study), study, every.address, every), table)
            left_out.show_changes(changes, largest_change(changes), downloads.file_stem(study))


def _show_chart(
    study: StudyRecord, table: ResultTable, view: View, texts: Mapping[str, str]
) -> None:
    factors = CrossedFactors(view.axis, view.color, view.panel)
    results.show_drawing(
        lambda theme: with_item_texts(crossed_chart(table, factors, theme), texts),
        f"{downloads.file_stem(study.code)}-explore",
        "explore_chart",
    )


def _show_table(table: ResultTable, view: View, texts: Mapping[str, str]) -> int | None:
    """The table; returns the row that is ticked."""
    shown = _numbers_first(results.with_wordings(table, [texts] * len(table.frame)))
    event = results.numbers(
        shown,
        key=f"explore_table:{hash(str(view))}",
        alt=f"{table.title}: {count_text(len(table.frame), 'row')}",
        height=min(_TABLE_HEIGHT, 36 * (len(table.frame) + 1) + 4),
        on_select="rerun",
        selection_mode="single-row",
    )
    return next(iter(event.selection.rows), None)


def _numbers_first(table: ResultTable) -> ResultTable:
    """The wordings of items after the numbers, and no column of remarks or units that says nothing.

    Where all intervals have the same unit, the sentence below names it.
    """
    last = [column for column in table.columns if column.name == "item_wording"]
    columns = [column for column in table.columns if column not in last] + last
    empty = {"remark"} if not table.frame["remark"].any() else set()
    if "unit" in table.frame and table.frame["unit"].nunique() < 2:
        empty.add("unit")
    columns = [column for column in columns if column.name not in empty]
    names = [column.name for column in columns]
    return ResultTable(table.name, table.title, table.frame[names], tuple(columns))


def _ways_on(study: StudyRecord, view: View, table: ResultTable, row: int | None) -> None:
    """The analysis that tests what one sees, the file, and the replies behind it or a row."""
    follow = explore.follow_up(view, imported=study.kind == "imported")
    if follow is not None:
        title = analyses.by_name(follow.analysis).title
        label = f"Test this difference with {title}" if follow.tests else f"See more with {title}"
        if st.button(plain(label), key="explore_follow", icon=":material/biotech:"):
            _go_to_analysis(study.code, follow)
    widgets.download(
        "CSV",
        export.table_csv(table),
        f"{downloads.file_stem(study.code)}-{table.name}.csv",
        key="explore_csv",
    )
    replies = explore.replies_of_row(view, table, row)
    st.page_link(
        "pages/answers/page.py",
        label="Replies behind the chart" if row is None else "Replies of the ticked row",
        icon=":material/forum:",
        query_params={
            STUDY_PARAMETER: study.code,
            **item_attributes.as_item_filter(workspace(), study.code, replies),
        },
    )
    if row is None:
        st.caption("Tick a row of the table to read its replies.", width="content")


def _go_to_analysis(study: str, follow: FollowUp) -> None:
    """Open the page of the analysis with the options that fit."""
    analysis = analyses.by_name(follow.analysis)
    explore.save_follow_up(workspace(), study, follow)
    st.session_state[widgets.analysis_chooser(analysis.topic)] = analysis.name
    st.switch_page(
        f"pages/{analysis.topic}.py",
        query_params={STUDY_PARAMETER: study, "analysis": analysis.name},
    )


def main() -> None:
    """The page."""
    purpose = (
        "Cross any measure of a study with up to three factors. The address holds the view, so a "
        "link shows the same."
    )
    with widgets.error_box():
        row, study = study_bar.answered_study("Explore", purpose)
        if study is None:
            return
        levels = _levels(_revision(study.code), study.code)
        counts = left_out.count_kinds([study.code])
        _restore(study.code, {**levels, LEAVE_OUT: list(counts)})
        people = st.container(horizontal=True, key="explore_people")
        with row:
            kinds = _choose_answers(study.code, levels, counts, people)
        view = _choose_view(study.code, levels, kinds)
        _keep(study.code, view)
        _show(study, view)


main()
