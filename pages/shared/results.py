"""Results as charts and tables, with their downloads and scripts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal, cast

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis.shared.registry import Analysis
from core.charts import Chart, with_theme_ink
from core.charts.panels import DECIMALS as CHART_DECIMALS
from core.domain.numbers import count_text, number_text, percent_text, round_frame
from core.domain.results import AnalysisResult, Column, ResultTable
from core.workflow.statistics import analyses
from core.workflow.statistics.computing import AnalysisRequest
from pages.shared import analysis_options
from pages.shared.widgets import download, error_box, plain, table, workspace

_LAST_DRAWN = "last_drawn"
_LINE = 45  # characters in a line of a wide column of text
_MOST_LINES = 4
_WIDE = 360  # pixels of a column whose texts take several lines
_MOST_STYLED = 20_000  # cells; styling more makes a page slow
_FORMATS = {"count": "%d"} | {
    unit: f"%.{decimals}f" for unit, decimals in analyses.export.DECIMALS.items()
}


def theme() -> Literal["light", "dark"]:
    """The chosen theme, so that marks keep their contrast."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show_result(analysis: Analysis, result: AnalysisResult, *, file_stem: str) -> None:
    """Cautions, charts with their data, and tables with CSV and an APA view."""
    st.caption(
        f"A row of the analysis is {plain(result.unit)}. {_counts(result)} {plain(result.method)}"
    )
    if result.notes:
        notes = [plain(note) for note in result.notes]
        st.info(notes[0] if len(notes) == 1 else "\n".join(f"- {note}" for note in notes))
    fit, others = _fit_first(result.tables)
    for shown in fit:
        _show_table(analysis, result, shown, file_stem)
    drawn = _chart_specs(analysis, result, analysis_options.chart_options(analysis))
    for number, (chart, panels) in enumerate(drawn):
        _show_panels(chart, panels, f"chart:{analysis.name}:{number}")
        with st.expander("Data of this chart"):
            st.caption(plain(chart.alt))
            table(round_frame(chart.data, CHART_DECIMALS), alt=f"Data of the chart {chart.title}")
    for shown in others:
        if len(shown.frame):  # an empty table is in the ZIP only
            _show_table(analysis, result, shown, file_stem)
    data = analyses.export.result_zip(result)
    download("All tables (ZIP)", data, f"{file_stem}-{analysis.name}.zip", key="download:all")
    with st.expander("References"):
        for reference in analysis.references:
            st.text(reference)


def _fit_first(
    tables: tuple[ResultTable, ...],
) -> tuple[tuple[ResultTable, ...], tuple[ResultTable, ...]]:
    """The fit of a model, which is read before any chart, and the other tables."""
    n_first = int(bool(tables) and tables[0].name == "fit")
    return tables[:n_first], tables[n_first:]


def show_scripts(analysis: Analysis, question: AnalysisRequest, *, file_stem: str) -> None:
    """Scripts that compute the same with other software, to read and download with the data."""
    if analysis.scripts is None:
        return
    shown = st.toggle(
        "Show R and Python scripts", key=f"syntax:{analysis.name}",
        help="The scripts compute this analysis with other software and come with their data, so "
        "that a reviewer can check it.",
    )  # fmt: skip
    if not shown:
        return
    with error_box():
        files = analyses.scripts(
            workspace(), question.analysis, question.studies, question.options, question.where,
            question.over,
        )  # fmt: skip
        data = analyses.export.files_zip({file.name: file.text.encode() for file in files})
        download(
            "R and Python scripts with data (ZIP)", data,
            f"{file_stem}-{analysis.name}-scripts.zip", key="download:syntax",
        )  # fmt: skip
        for file in files:
            if not file.name.endswith(".csv"):
                st.text(file.name)
                language = "r" if file.name.endswith(".R") else "python"
                st.code(file.text, language=language, height=360)


def _counts(result: AnalysisResult) -> str:
    """Scores used, left out and missing, which add up to all planned scores."""
    share = result.n_missing / max(result.n_planned, 1)
    left_out = f" Left out by the analysis: **{result.n_left_out:,}**." if result.n_left_out else ""
    return (
        f"Scores used: **{result.n_used:,}**.{left_out} "
        f"Missing: **{result.n_missing:,}** ({percent_text(share, 1)} of {result.n_planned:,})."
    )


def _chart_specs(
    analysis: Analysis, result: AnalysisResult, options: Mapping[str, Any]
) -> list[tuple[Chart, list[dict[str, Any]]]]:
    """The charts with the specifications of their panels, cached until the result changes.

    Altair checks every part of a specification, which is slow on a page with many panels.
    """
    if analysis.charts is None:
        return []
    state, colors = st.session_state.get(_LAST_DRAWN), theme()
    if state and state[0] is result and state[1:3] == (colors, options):
        return cast("list[tuple[Chart, list[dict[str, Any]]]]", state[3])
    drawn = [
        (chart, [with_theme_ink(panel, colors).to_dict() for panel in chart.panels])
        for chart in analysis.charts(result, colors, **options)
    ]
    st.session_state[_LAST_DRAWN] = (result, colors, options, drawn)
    return drawn


def _show_panels(chart: Chart, panels: list[dict[str, Any]], key: str) -> None:
    """The panels of a chart, one under another, as wide as the page."""
    for number, panel in enumerate(panels, 1):
        which = f"Panel {number} of {len(panels)}. " if len(panels) > 1 else ""
        st.vega_lite_chart(
            spec=panel, width="stretch", alt=which + chart.alt, key=f"{key}:{number}"
        )


def _show_table(
    analysis: Analysis, result: AnalysisResult, shown: ResultTable, file_stem: str
) -> None:
    st.header(plain(shown.title))
    apa = st.toggle(
        "APA style", key=f"apa:{analysis.name}:{shown.name}",
        help="The table in the style of a manuscript (APA, 7th edition): rounded, with a note, and "
        "without leading zeros for values that cannot exceed 1.",
    )  # fmt: skip
    columns = shown.columns
    alt = f"{shown.title}: {count_text(len(shown.frame), 'row')}"
    if apa:
        table(analyses.export.apa_table(shown), alt=alt)
        note = analyses.export.apa_note(result, shown, analyses.software_versions())
        st.caption(plain(note))
    else:
        small = small_p_columns(shown)  # these come with texts of their own
        formats = {c.title: None if c.title in small else _format(c, shown.frame) for c in columns}
        table(
            titled(shown),
            alt=alt,
            column_config={
                c.title: _column_config(c, shown.frame[c.name], formats[c.title]) for c in columns
            },
            row_height=row_height(shown),
        )
    name = f"{file_stem}-{shown.name}.csv"
    download("CSV", analyses.export.table_csv(shown), name, key=f"csv:{shown.name}")


def _format(column: Column, frame: pd.DataFrame) -> str | None:
    """The number format of a column; whole numbers without a unit have none."""
    whole = not pd.api.types.is_float_dtype(frame[column.name])
    return None if whole and column.unit == "none" else _FORMATS[column.unit]


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
    return "< .001" if p < 0.001 else number_text(p, 3)


def _longest(values: pd.Series) -> int:
    """Characters of the longest text of a column; 0 where it holds no text."""
    texts = values[values.map(lambda value: isinstance(value, str))]
    return int(texts.str.len().max()) if len(texts) else 0


def row_height(shown: ResultTable) -> int | None:
    """Pixels of a row that shows texts of a few lines in full; None for the usual height.

    Longer texts stay in one line and open on a double-click, because high rows would spread a
    table over several screens.
    """
    if shown.frame.size > _MOST_STYLED:
        return None
    longest = max((_longest(shown.frame[column.name]) for column in shown.columns), default=0)
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
    return st.column_config.TextColumn(
        column.title, help=plain(column.help) or None, pinned=column.name == "item",
        width=_WIDE if _LINE < _longest(values) <= _LINE * _MOST_LINES else None,
    )  # fmt: skip
