"""Results as charts and tables, with their downloads and scripts."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pandas as pd
import streamlit as st
from altair.utils.schemapi import disable_debug_mode
from streamlit.delta_generator import DeltaGenerator

from core.analysis.kit.registry import Analysis
from core.analysis.kit.scores import level_name
from core.analysis.kit.sentences import GroupAnswers, Light, merge_notes
from core.charts import Chart, page_spec
from core.charts.panels import DECIMALS as CHART_DECIMALS
from core.charts.panels import Theme
from core.domain.attributes import is_attribute
from core.domain.factors import is_person_fact, level_text, levels_title
from core.domain.numbers import (
    count_text,
    number_text,
    p_decimals,
    percent_text,
    round_frame,
)
from core.domain.results import AnalysisResult, Column, ResultTable
from core.domain.study import FACTORS, LEAVE_OUT
from core.domain.tables import text, to_read
from core.workflow.statistics import analyses, marks, papers
from core.workflow.statistics.computing import AnalysisRequest
from pages.shared.downloads import download_when_asked, file_stem
from pages.shared.widgets import STUDY_PARAMETER, download, error_box, plain, table, workspace

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

# Altair checks every part of a chart against its schema, nine tenths of the time of a page. The
# tests of charts have the checks on.
disable_debug_mode()

LIGHTS: Mapping[Light, str] = {
    "green": ":green[:material/check_circle:]",
    "red": ":red[:material/cancel:]",
    "grey": ":gray[:material/do_not_disturb_on:]",
}
_WORDING = "The text of the item. Double-click it to read all of it."
_SYNTAX = "Syntax"  # the tab of scripts
_MOST_ANSWERS = 4  # groups whose sentences stand above the chart
_LONGEST_OPEN_NOTE = 240
_ESTIMATE = re.compile(r"\S+ [=<>] [−.\d]\S*( \[[^][]{1,24}\])?|\S+ \[[−.\d][^][]{1,24}\]")
_MOST_FOLDED = 40  # further groups on the page
_LINE = 45  # characters in a line of a wide column of text
_MOST_LINES = 4
_IN_VIEW = 8  # columns that a window shows at first
_WIDE = 360  # pixels of a column whose texts take several lines
_MOST_PRINTED = 200  # rows of a table in the style of a manuscript
_MOST_STYLED = 20_000  # cells; styling more makes a page slow
_FORMATS = {"count": "%d"} | {
    unit: f"%.{decimals}f" for unit, decimals in analyses.export.DECIMALS.items()
}


_drawn: WeakKeyDictionary[AnalysisResult, dict[Any, tuple[tuple[DrawnChart, ...], str]]] = (
    WeakKeyDictionary()
)
"""Charts of results that are still on file, by theme and options."""


def theme() -> Theme:
    """The chosen theme, so that marks keep their contrast."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show_result(
    analysis: Analysis,
    request: AnalysisRequest,
    result: AnalysisResult,
    chart_options: Mapping[str, Any],
    *,
    below: DeltaGenerator,
    in_short: Callable[[], None] | None = None,
    above: Callable[[], None] | None = None,
    tabs: Mapping[str, Callable[[], None]] = MappingProxyType({}),
) -> None:
    """The answer in sentences, notes in one line, the first chart, and the rest in tabs.

    The tabs are drawn in `below`, which is wider. `above` draws something below the answer, and
    then `in_short` something above it; `tabs` draw further tabs, or the top of a tab, by the titles
    of the tabs.
    """
    stem = file_stem(request.studies[0])
    answers = analysis.answer(result)
    _show_compared(analysis, request)
    lead = st.container()
    show_answers(analysis.name, answers, analysis.verdict, result.scope)
    if above:
        above()
    if in_short:
        with lead:
            in_short()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(
            _counts(analysis, result),
            help=f"A row of the analysis is {plain(result.unit)}.",
            width="content",
        )
        show_notes(analysis, result, [answer.group for answer in answers])
    drawn, without = _charts(analysis, result, chart_options)
    draw_chart = partial(_show_chart, analysis, request, result, chart_options, stem)
    for first in drawn[:1]:
        draw_chart(0, first)
    _show_where_charts_are(drawn[1:], without)
    contents: dict[str, list[Callable[[], None]]] = {}
    for shown in result.tables:
        if len(shown.frame):  # an empty table is in the ZIP only
            draw = partial(show_table, analysis, result, shown, stem, request)
            contents.setdefault(shown.tab or shown.title, []).append(draw)
    for number, further in enumerate(drawn[1:], 1):
        draw = partial(draw_chart, number, further)
        contents.setdefault(further.chart.tab, []).append(draw)
    for title, own in tabs.items():
        contents.setdefault(title, []).insert(0, own)
    syntax = contents.pop(_SYNTAX, [])
    if analysis.scripts is not None:
        syntax.append(lambda: _show_scripts(analysis, request, stem))
    if syntax:
        contents[_SYNTAX] = syntax
    contents["Method and files"] = [lambda: _show_method(analysis, result, stem)]
    with below:
        _show_tabs(analysis, contents)


def _show_where_charts_are(others: Sequence[DrawnChart], without: str) -> None:
    """The tabs of the charts after the first one, and a sentence on those without data."""
    if others:
        tabs = [plain(tab) for tab in dict.fromkeys(one.chart.tab for one in others)]
        where = f"tab {tabs[0]}" if len(tabs) == 1 else f"tabs {', '.join(tabs)}"
        st.caption(f"{count_text(len(others), 'further chart')}: see the {where}.")
    if without:
        st.caption(plain(without))


def _show_compared(analysis: Analysis, request: AnalysisRequest) -> None:
    """What an analysis compares, in the words of its option, so that no answer is misread."""
    chosen = analysis.compared(request.options)
    if chosen:
        label = next(o.kind.label for o in analysis.options if o.name == analysis.factor_option)
        st.markdown(f"{plain(label)}: **{plain(levels_title(chosen))}**")


def show_answers(key: str, answers: GroupAnswers, verdict: str = "", scope: str = "") -> None:
    """The sentence of each group, with its verdict; of many groups, the later ones are folded.

    `verdict` says in a tooltip what the lights mean, `scope` what every number is averaged over.
    """
    lines = [_answer_lines(answers[:_MOST_ANSWERS]), *([plain(scope)] if scope else [])]
    st.markdown("  \n".join(lines), help=plain(verdict) or None)
    further = answers[_MOST_ANSWERS:]
    if further:
        fold = st.expander(
            count_text(len(further), "more group"),
            key=f"more_answers:{key}",
            on_change="rerun",
        )
        if fold.open:
            with fold:
                st.markdown(_answer_lines(further[:_MOST_FOLDED]))
                if len(further) > _MOST_FOLDED:
                    st.caption(f"The tables have the other {len(further) - _MOST_FOLDED:,}.")


def _answer_lines(answers: GroupAnswers) -> str:
    """A line for each group; its name is left out where the sentence has it."""
    lines = []
    for answer in answers:
        mark = f"{LIGHTS[answer.light]} " if answer.light else ""
        named = "" if answer.names_group else f"**{plain(answer.group)}:** "
        lines.append(f"{mark}{named}{plain(_in_one_line(answer.sentence))}")
    return "  \n".join(lines)  # line breaks of one paragraph


def _in_one_line(sentence: str) -> str:
    """The sentence with estimates and intervals that no line break parts."""
    return _ESTIMATE.sub(lambda found: found.group().replace(" ", "\u00a0"), sentence)


def show_notes(analysis: Analysis, result: AnalysisResult, groups: Sequence[str]) -> None:
    """The first note that changes how to read the numbers, and a button that opens all."""
    cautions, notes = merge_notes(result.cautions, groups), merge_notes(result.notes, groups)
    n = len(cautions) + len(notes)
    if not n:
        return
    important = ", important" if n == 1 else f", {len(cautions)} important"
    label = count_text(n, "note") + (important if cautions else "")
    icon = ":material/warning:" if cautions else ":material/info:"
    with st.popover(label, icon=icon, type="tertiary", key=f"notes_fold:{analysis.name}"):
        for title, sentences in (
            ("These change how to read the numbers", cautions),
            ("For information", notes),
        ):
            if sentences:
                st.markdown(f"**{title}**")
                st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences))
    if cautions:  # the first stands open: few would look into a closed list
        short = textwrap.shorten(cautions[0], _LONGEST_OPEN_NOTE, placeholder=" …")
        st.caption(f":material/warning: {plain(short)}")


def _show_tabs(analysis: Analysis, contents: Mapping[str, Sequence[Callable[[], None]]]) -> None:
    """Tabs, of which only the open one is computed; the one that was open last stays open.

    Streamlit forgets it when another page is opened, and Back would lead to the first tab.
    """
    labels = [plain(title) for title in contents]
    key, kept = f"tabs:{analysis.name}", f"last_tab:{analysis.name}"
    if key not in st.session_state and st.session_state.get(kept) in labels:
        st.session_state[key] = st.session_state[kept]
    opened = st.tabs(labels, key=key, on_change="rerun")
    st.session_state[kept] = st.session_state[key]
    for tab, parts in zip(opened, contents.values(), strict=True):
        if tab.open:
            with tab, error_box():
                for draw in parts:
                    draw()


def _show_method(analysis: Analysis, result: AnalysisResult, stem: str) -> None:
    """What a row is, how it was computed, all tables as files, and the references."""
    st.markdown(f"A row of the analysis is {plain(result.unit)}. {plain(result.method)}")
    data = analyses.export.result_zip(result)
    with st.container(horizontal=True):
        download("All tables (ZIP)", data, f"{stem}-{analysis.name}.zip", key="download:all")
        paper_menu(
            "All tables for a paper", result, result.tables, f"{stem}-{analysis.name}", "all tables"
        )
    st.markdown("**References**")
    for reference in analysis.references:
        st.text(reference)


def _show_scripts(analysis: Analysis, request: AnalysisRequest, stem: str) -> None:
    """Scripts that compute the same with other software, to read and download with the data."""
    st.caption(
        "The scripts compute this analysis with other software and come with their data, so that a "
        "reviewer can check it."
    )
    files = analyses.scripts(
        workspace(),
        request.analysis,
        request.studies,
        request.options,
        request.where,
        request.over,
    )
    data = analyses.export.files_zip({file.name: file.text.encode() for file in files})
    download(
        "R and Python scripts with data (ZIP)",
        data,
        f"{stem}-{analysis.name}-scripts.zip",
        key="download:syntax",
    )
    for file in files:
        if not file.name.endswith(".csv"):
            st.text(file.name)
            language = "r" if file.name.endswith(".R") else "python"
            st.code(file.text, language=language, height=360)


def _counts(analysis: Analysis, result: AnalysisResult) -> str:
    """Answers (or texts, ratings) used, left out and missing, which add up to all planned ones."""
    noun = analysis.needs.noun.capitalize()
    share = result.n_missing / max(result.n_planned, 1)
    other = result.n_left_out - result.n_second_phase
    later = f" · of the second phase **{result.n_second_phase:,}**" if result.n_second_phase else ""
    left_out = later + (f" · left out by the analysis **{other:,}**" if other else "")
    return (
        f"{noun} used **{result.n_used:,}**{left_out} · missing **{result.n_missing:,}** "
        f"({percent_text(share, 1)} of {result.n_planned:,})"
    )


def _charts(
    analysis: Analysis, result: AnalysisResult, options: Mapping[str, Any]
) -> tuple[tuple[DrawnChart, ...], str]:
    """The charts of a result in the theme of the page, drawn once for all sessions.

    With a sentence on those that have no data.
    """
    drawn, key = _drawn.setdefault(result, {}), (theme(), tuple(sorted(options.items())))
    if key not in drawn:
        charts, without = papers.drawn_charts(analysis, result, theme(), options)
        drawn[key] = tuple(DrawnChart(chart, theme()) for chart in charts), without
    return drawn[key]


@dataclass(eq=False)
class DrawnChart:
    """A chart, and the specifications of its panels once they are wanted."""

    chart: Chart
    theme: Theme

    @cached_property
    def panels(self) -> list[dict[str, Any]]:
        """The panels as Vega-Lite; unchecked, see `disable_debug_mode` above."""
        return [page_spec(panel, self.theme) for panel in self.chart.panels]

    @cached_property
    def pickable(self) -> list[dict[str, Any] | None]:
        """The panels whose marks can be clicked; None for one without such marks."""
        columns = [str(name) for name in self.chart.data]
        return [marks.with_pickable_marks(panel, columns) for panel in self.panels]


def show_panels(drawn: DrawnChart, key: str, *, picks: bool = False) -> list[Mapping[str, Any]]:
    """The panels of a chart, as many in a row as it says; the marks that were clicked, if asked."""
    chart, panels = drawn.chart, drawn.panels
    pickable = drawn.pickable if picks else [None] * len(panels)
    picked: list[Mapping[str, Any]] = []
    for place, (panel, words) in enumerate(zip(panels, chart.panel_alts, strict=True), 1):
        if place % chart.across == 1 % chart.across:
            row = st.columns(chart.across)
        shown: dict[str, Any] = {"width": "stretch", "alt": words, "key": f"{key}:{place}"}
        box = row[(place - 1) % chart.across]
        with box.container(key=f"wide:{key}:{place}") if chart.wide else box:
            if (clickable := pickable[place - 1]) is None:
                st.vega_lite_chart(spec=panel, **shown)
            else:
                event = st.vega_lite_chart(spec=clickable, on_select="rerun", **shown)
                picked += event["selection"].get(marks.PICKED, [])
    return picked


def _show_chart(
    analysis: Analysis,
    request: AnalysisRequest,
    result: AnalysisResult,
    options: Mapping[str, Any],
    stem: str,
    number: int,
    drawn: DrawnChart,
) -> None:
    """The panels of a chart, its files, and its data, computed when opened."""
    chart, key = drawn.chart, f"chart:{analysis.name}:{number}"
    picked = show_panels(drawn, key, picks=True)
    if number == 0 and not picked and any(drawn.pickable):
        st.caption("Click a mark to read the replies behind it.")
    for mark in picked[:1]:
        behind = marks.levels_of_mark(result, mark)
        # the items of an attribute are no filter of the replies, but for the item that has it
        by_attribute = any(map(is_attribute, request.where)) and "item" not in behind.levels
        if not behind.levels or by_attribute or _of_unknown_study(request, behind.levels):
            st.caption("The replies behind this mark cannot be chosen by filters alone.")
            continue
        named = ", ".join(level_text(name, value) for name, value in behind.levels.items())
        what = "Replies behind the mark" if behind.is_whole else "Replies of the group"
        _replies_link(f"{what}: {named}", behind.levels, request)
    picture_menu(
        lambda: papers.drawn_charts(analysis, result, options=options)[0][number],
        f"{stem}-{analysis.name}-chart_{number + 1}",
        key,
    )
    fold = st.expander("Data of this chart", key=f"data:{key}", on_change="rerun")
    if fold.open:
        with fold:
            st.caption(plain(chart.alt))
            table(round_frame(chart.data, CHART_DECIMALS), alt=f"Data of the chart {chart.title}")


def show_table(
    analysis: Analysis,
    result: AnalysisResult,
    shown: ResultTable,
    file_stem: str,
    request: AnalysisRequest | None = None,
) -> None:
    """One table, in the style of a manuscript if wished, and its file.

    With the `request` of the result, a tick at a row of an item leads to the replies behind it.
    """
    st.markdown(f"**{plain(shown.title)}**")
    apa = st.toggle(
        "APA style",
        key=f"apa:{analysis.name}:{shown.name}",
        help="The table in the style of a manuscript (APA, 7th edition): rounded, with a note, and "
        "without leading zeros for values that cannot exceed 1.",
    )
    read, common = to_read(shown)
    worded = with_wordings(read, _wordings_of_rows(result, shown, request))
    alt = f"{shown.title}: {count_text(len(shown.frame), 'row')}"
    if apa:
        _show_apa(result, shown)
        common = ()
    elif request is None or "item" not in shown.frame:
        numbers(worded, alt=alt, row_height=row_height(shown))
    else:
        link = st.container()  # above the table, so that a tick shows its effect
        event = numbers(
            worded,
            alt=alt,
            row_height=row_height(shown),
            on_select="rerun",
            selection_mode="single-row",
            key=f"rows:{analysis.name}:{shown.name}",
        )
        with link:
            if not event["selection"]["rows"]:
                st.caption("Tick a row to read the replies behind it.")
            for row in event["selection"]["rows"]:
                if row < len(shown.frame):
                    cells = {str(k): value for k, value in shown.frame.iloc[row].items()}
                    _replies_link("Replies of the ticked row", cells, request)
    if common:
        st.caption(plain(f"All rows: {'; '.join(common)}."))
    stem = f"{file_stem}-{shown.name}"
    with st.container(horizontal=True):
        download("CSV", analyses.export.table_csv(shown), f"{stem}.csv", key=f"csv:{shown.name}")
        names = [one.name for one in result.tables if len(one.frame)]
        number = names.index(shown.name) + 1 if shown.name in names else 1
        paper_menu("Table for a paper", result, [shown], stem, shown.name, number)


def _show_apa(result: AnalysisResult, shown: ResultTable) -> None:
    """The table as it is in a manuscript, to read or to copy into a word processor."""
    first = replace(shown, frame=shown.frame.head(_MOST_PRINTED))
    st.html(papers.html_table(papers.paper_table(result, first, analyses.software_versions())))
    further = len(shown.frame) - _MOST_PRINTED
    if further > 0:
        st.caption(f"The files have {further:,} more rows.")


def paper_menu(
    label: str,
    result: AnalysisResult,
    tables: Sequence[ResultTable],
    stem: str,
    key: str,
    number: int = 1,
) -> None:
    """A menu of the tables in the formats of papers; a file is made when it is asked for.

    `number` is that of the first table until the user gives another.
    """
    with st.popover(label, icon=":material/article:", key=f"paper:{key}"):
        if fault := papers.paper_fault(tables):
            st.caption(f"{fault} They are available as CSV.")
            return
        first = st.number_input(
            "Number of the first table" if len(tables) > 1 else "Number of the table",
            1,
            999,
            number,
            key=f"paper_number:{key}",
        )
        for ending, form in papers.PAPER_FORMATS.items():
            download_when_asked(
                f"{form.title} (.{ending})",
                partial(
                    papers.paper_file, result, tables, ending, analyses.software_versions(), first
                ),
                f"{stem}.{ending}",
                key=f"paper:{key}:{ending}",
            )
        st.caption(
            "In the style of the APA, with numbered notes. Tables of the HTML file can be copied "
            "into a document."
        )


_PICTURE_FAULTS = "picture_faults"


def show_drawing(draw: Callable[[Theme], Chart], stem: str, key: str) -> None:
    """A chart in the theme of the page, and the menu of its files."""
    show_panels(DrawnChart(draw(theme()), theme()), key)
    picture_menu(partial(draw, "light"), stem, key)


def picture_menu(make: Callable[[], Chart], stem: str, key: str) -> None:
    """A menu of the formats of a chart; it is drawn for print when a file is asked for."""
    icon = ":material/image:"
    with st.popover("Save the chart", icon=icon, type="tertiary", key=f"picture:{key}"):
        faults: dict[str, str] = st.session_state.setdefault(_PICTURE_FAULTS, {})
        for ending, form in papers.PICTURE_FORMATS.items():
            download_when_asked(
                f"{form.title} (.{ending})",
                partial(_picture, make, form.write, faults, key),
                f"{stem}.{ending}",
                key=f"picture:{key}:{ending}",
            )
        if fault := faults.pop(key, ""):
            st.error(
                f"The picture could not be drawn: {plain(fault)}. Choose Vega-Lite, which any "
                "program for it can draw."
            )
        st.caption("On white, whatever the theme of this page. PNG has twice the pixels.")


def _picture(
    make: Callable[[], Chart], write: Callable[[Chart], bytes], faults: dict[str, str], key: str
) -> bytes:
    """The file. Streamlit says only that there is none; the menu says why when it is drawn next."""
    try:
        return write(make())
    except papers.DrawingFault as fault:
        faults[key] = str(fault)
        raise


def _of_unknown_study(request: AnalysisRequest, levels: Mapping[str, Any]) -> bool:
    return len(request.studies) > 1 and "study" not in levels


def _replies_link(label: str, cells: Mapping[str, Any], request: AnalysisRequest) -> None:
    """The way to the replies behind the row or mark of these cells, by its item and its group.

    Filters by attributes are left out, because the item passes them. The replies include those of
    answers that the analysis leaves out.
    """
    levels = {
        name: ["" if value == level_name("") else str(value)]
        for name, value in cells.items()
        if name in ("item", *FACTORS) or is_person_fact(name)
    }
    filters = {
        name: [str(value) for value in values]
        for name, values in request.where.items()
        if not is_attribute(name) and name != LEAVE_OUT
    }
    study = str(cells.get("study", request.studies[0]))
    st.page_link(
        "pages/answers/page.py",
        label=plain(label),
        icon=":material/forum:",
        query_params={STUDY_PARAMETER: study, **filters, **levels},
    )


def numbers(shown: ResultTable, *, alt: str, **options: Any) -> Any:
    """The table with its titles, tooltips and rounding; `options` are those of st.dataframe."""
    small = small_p_columns(shown)  # these come with texts of their own
    columns = shown.columns
    formats = {c.title: None if c.title in small else _format(c, shown.frame) for c in columns}
    configs = {c.title: _column_config(c, shown.frame[c.name], formats[c.title]) for c in columns}
    return table(titled(shown), alt=alt, column_config=configs, **options)


def _wordings_of_rows(
    result: AnalysisResult, shown: ResultTable, request: AnalysisRequest | None
) -> Sequence[Mapping[str, str]]:
    """The wordings of items for each row: those of its language, and else of the result."""
    if request is None or "language" not in shown.frame or not result.item_texts:
        return [result.item_texts] * len(shown.frame)
    languages = shown.frame["language"].astype(str)
    own = analyses.wordings(workspace(), request.studies, sorted(set(languages)))
    texts = {name: {**result.item_texts, **own[name]} for name in own}
    return [texts[name] for name in languages]


def with_wordings(shown: ResultTable, texts: Sequence[Mapping[str, str]]) -> ResultTable:
    """The table with the wording of each item behind its numbers; on pages only, not in files.

    `texts` has those of each row.
    """
    frame, columns = shown.frame.copy(), list(shown.columns)
    end = next((n for n, column in enumerate(columns) if column.role == "remark"), len(columns))
    for column in shown.columns:
        of_items = column.name == "item" or column.name.startswith("item_")
        codes = frame[column.name] if of_items else ()
        wordings = [own.get(code, "") for own, code in zip(texts, codes, strict=False)]
        if any(wordings):
            name = f"{column.name}_wording"
            frame.insert(end, name, wordings)
            columns.insert(end, text(name, f"{column.title}: wording", _WORDING))
            end += 1
    return ResultTable(shown.name, shown.title, frame, tuple(columns))


def _format(column: Column, frame: pd.DataFrame) -> str | None:
    """The number format of a column; whole numbers without a unit have none."""
    if pd.api.types.is_float_dtype(frame[column.name]) and column.unit != "count":
        return f"%.{analyses.export.decimals_of(column, frame[column.name])}f"
    return None if column.unit == "none" else _FORMATS[column.unit]


def small_p_columns(shown: ResultTable) -> list[Hashable]:
    """Titles of the columns with a p that three decimals would show as 0."""
    if shown.frame.size > _MOST_STYLED:
        return []
    columns = [(c, shown.frame[c.name]) for c in shown.columns if c.unit == "p"]
    return [c.title for c, p in columns if pd.api.types.is_numeric_dtype(p) and p.lt(0.001).any()]


def titled(shown: ResultTable) -> pd.DataFrame | Styler:
    """The table with column titles; a p below .001 reads '< .001'."""
    small = small_p_columns(shown)
    exact = {c.name: shown.frame[c.name] for c in shown.columns if c.title in small}
    frame = analyses.export.display_frame(shown).assign(**exact)
    frame = frame.rename(columns={c.name: c.title for c in shown.columns})
    if not small:
        return frame
    styled = frame.reset_index(drop=True).style.format(precision=2, na_rep="")
    return styled.format(_p_text, subset=small, na_rep="")


def _p_text(p: Any) -> str:
    return "< .001" if p < 0.001 else number_text(p, p_decimals(p))


def _longest(values: pd.Series) -> int:
    """Characters of the longest text of a column; 0 where it holds no text."""
    texts = values[values.map(lambda value: isinstance(value, str))]
    return int(texts.str.len().max()) if len(texts) else 0


def row_height(shown: ResultTable) -> int | None:
    """Pixels of a row that shows texts of a few lines in full; None for the usual height.

    Longer texts, and those of columns that one scrolls to, stay in one line and open on a
    double-click, because high rows would spread a table over several screens.
    """
    if shown.frame.size > _MOST_STYLED:
        return None
    in_view = shown.columns[:_IN_VIEW]
    longest = max((_longest(shown.frame[column.name]) for column in in_view), default=0)
    lines = -(-longest // _LINE)
    # The table breaks lines only if there is room for one more line.
    return 14 + 21 * (lines + 1) if 1 < lines <= _MOST_LINES else None


def _column_config(column: Column, values: pd.Series, number_format: str | None) -> Any:
    """Rounding and tooltip; text columns stay text, so that nothing in them becomes a link."""
    if pd.api.types.is_bool_dtype(values):
        return st.column_config.CheckboxColumn(column.title, help=plain(column.help) or None)
    if pd.api.types.is_numeric_dtype(values):
        return st.column_config.NumberColumn(
            column.title, help=plain(column.help) or None, format=number_format
        )
    wide = _LINE < _longest(values) <= _LINE * _MOST_LINES
    wording = column.name.endswith("_wording")
    return st.column_config.TextColumn(
        column.title,
        help=plain(column.help) or None,
        pinned=column.name == "item",
        width="medium" if wording else _WIDE if wide else None,
    )
