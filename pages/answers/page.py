"""Answers: counts by status, and each answer with its reply and reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.charts import with_theme_ink
from core.domain.numbers import count_text, round_frame
from core.domain.results import Column, ResultTable
from core.domain.study import FACTORS
from core.workflow.answers import browsing
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.runs import control
from core.workflow.statistics import analyses
from pages.answers import detail, table
from pages.shared import downloads, results, widgets
from pages.shared.widgets import factor_word

# Answers of each status by condition; a click on a number lists these answers.

# Factors of few levels: one count by all of them serves several tables.
_COARSE = tuple(
    name for name in FACTORS if name not in ("context", "entity", "entity_b", "repetition")
)
_AT_FIRST = ("model", "language", "format", "phase", "form")
_HELP = {
    "planned": "Trials. A trial asks one respondent one item once.",
    "asked": "Trials that were sent, with or without a reply. Percentages refer to these.",
    "n": "Answers that can be scored.",
    "missing": "All other trials, including those not asked yet.",
    "answered with explanation": "The reply holds an option and more text than its code or label.",
    "neutral, non-committal": "The reply takes no side, without refusing.",
    "refused": "The reply says that the model will not or cannot answer.",
}


def _status_section(study: StudyRecord, revision: object, levels: Iterable[str]) -> None:
    """The table of statuses, by the factors that the reader chooses as rows."""
    st.header("Statuses by condition")
    varied = set(levels)
    by = _choose_rows(study.code, [n for n in FACTORS if n in varied or n == "model"])
    if not by:
        st.info("Choose at least one factor for the rows.")
        return
    tally = _tallied(revision, study.code, _COARSE if set(by) <= set(_COARSE) else tuple(by))
    shown = browsing.status_shares(browsing.status_table(tally, by), by)
    st.caption(
        "Click a number to list its answers below (with the keyboard: move to the number with the "
        f"arrow keys). {count_text(len(shown), 'row')}, "
        f"n = {int(shown['n'].sum()):,} usable of {int(shown['planned'].sum()):,} planned trials."
    )
    _draw(study.code, shown, by)
    data = analyses.export.frame_csv(shown)
    name = f"{downloads.file_stem(study.code)}-statuses.csv"
    widgets.download("CSV", data, name, key="answers_statuses_csv")


def _choose_rows(study: str, offered: list[str]) -> list[str]:
    start = [name for name in _AT_FIRST if name in offered]
    chosen: list[str] = st.multiselect(
        "Rows", offered, start, format_func=factor_word,
        key=table.name_of(study, "status_rows"), persist_state="session",
        help="The table has one row for each combination of these factors. You can choose the "
        "model and every factor that varies in this study.",
    )  # fmt: skip
    return chosen


@st.cache_data(max_entries=20, show_spinner=False)
def _tallied(revision: object, study: str, by: tuple[str, ...] = _COARSE) -> pd.DataFrame:
    """Trials by factors and status, kept as long as the answers (`revision`) stay the same."""
    return browsing.status_counts(widgets.workspace(), study, by)


def _draw(study: str, shown: pd.DataFrame, by: Sequence[str]) -> None:
    key = table.name_of(study, f"statuses:{':'.join(by)}")
    rows = count_text(len(shown), "row")
    widgets.table(
        round_frame(shown, 1, [name for name in map(str, shown) if name.endswith("%")]),
        alt=f"Answers by {', '.join(map(factor_word, by))} and status: {rows}",
        key=key,
        on_select=partial(_open_number, study, key, shown, tuple(by)),
        selection_mode="single-cell",
        placeholder="–",
        column_config={name: _column(name, by) for name in shown.columns},
    )


def _column(name: str, by: Sequence[str]) -> Any:
    if name in by:
        title = factor_word(name).capitalize()
        if name == "repetition":
            return st.column_config.NumberColumn(title, format="%d", pinned=True)
        return st.column_config.TextColumn(title, pinned=True)
    title = name if name == "n" else name[:1].upper() + name[1:]
    if name.endswith("%"):
        return st.column_config.NumberColumn(
            title, format="%.1f", help="Percentage of the trials asked."
        )
    return st.column_config.NumberColumn(title, format="localized", help=_HELP.get(name))


def _open_number(study: str, key: str, shown: pd.DataFrame, by: tuple[str, ...]) -> None:
    """Filter the list of answers to what the chosen number counts."""
    cells = st.session_state[key]["selection"]["cells"]
    if not cells:
        return
    row, column = cells[0]
    chosen: dict[str, Sequence[Any]] = {name: [shown[name].iloc[row]] for name in by}
    if column not in by:
        chosen["status"] = browsing.statuses_of(column)
    table.show_only(study, chosen)


# The page: counts by respondent, statuses by condition, and the answers.

_COUNTS = {
    "Planned": "Trials. A trial asks one respondent one item once.",
    "n": "Answers that can be scored.",
    "Missing": "All other trials: refused, off the scale, not asked yet and so on. They are "
    "counted and shown, but never scored.",
}


def counts(study: StudyRecord, revision: object) -> None:
    """How many answers there are of each kind, by respondent: a table and a chart."""
    overview = browsing.status_table(_tallied(revision, study.code), ["respondent"])
    st.header("Answers by status")
    usable = control.usable_words(study.n_usable, study.n_asked)
    st.write(f"Answers: **{usable}** (replies with an option, of the questions asked).")
    shown = overview.rename(columns=str.capitalize).rename(columns={"N": "n"})
    widgets.table(
        shown,
        alt=f"Answers by respondent and status: {count_text(len(overview), 'respondent')}",
        column_config={"Respondent": st.column_config.TextColumn()}
        | {
            name: st.column_config.NumberColumn(format="localized", help=_COUNTS.get(name))
            for name in shown.columns[1:]
        },
    )
    columns = tuple(Column(name, name) for name in shown.columns)
    data = analyses.export.table_csv(ResultTable("counts", "Answers by status", shown, columns))
    name = f"{downloads.file_stem(study.code)}-what_came_back.csv"
    widgets.download("CSV", data, name, key="answers_counts_csv")
    theme = results.theme()
    chart = browsing.status_chart(overview, theme=theme)
    st.altair_chart(with_theme_ink(chart.spec, theme), alt=chart.alt, key="answers_chart")
    with st.expander("Data of this chart"):
        st.caption(widgets.plain(chart.alt))
        widgets.table(chart.table, alt="Data of the chart: trials by respondent and status")


def rows(study: StudyRecord, levels: dict[str, list[Any]]) -> None:
    """The answers that pass the filters, a page at a time, and one answer in full."""
    st.header("List of answers")
    view = table.choose_view(study, levels)
    trial = table.choose_answer(study, view)
    if trial is not None:
        detail.show_answer(study, trial, view.factors)


def main() -> None:
    st.title("Answers")
    st.caption(
        "See every answer with its prompt and its reply, and how Inkblot read the reply. The "
        "tables count trials. A trial asks one respondent one item once."
    )
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        widgets.honesty_note(studies.respondents_of(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        widgets.unkeyed_note(study.code)
        if study.n_responses == 0:
            st.info("This study has no answers yet. Start it on the page Collect.")
            st.page_link(
                "pages/collect/page.py", label="Go to Collect", icon=":material/play_circle:",
                query_params={widgets.STUDY_PARAMETER: study.code},
            )  # fmt: skip
        workspace = widgets.workspace()
        revision = (workspace.process, analyses.revision(workspace, [study.code]))
        levels = browsing.levels(workspace, study.code)
        with widgets.error_box():
            counts(study, revision)
        with widgets.error_box():
            _status_section(study, revision, levels)
        with widgets.error_box():
            rows(study, levels)
        st.header("Check the readings")
        st.page_link(
            "pages/audit.py", label="Code a sample of replies yourself (Audit)",
            icon=":material/fact_check:", query_params={widgets.STUDY_PARAMETER: study.code},
        )  # fmt: skip
        with widgets.error_box():
            detail.reading_section(study)
        st.header("Download")
        st.caption("The file holds all answers of the study; the filters above do not apply.")
        with widgets.error_box():
            downloads.answers_file(study.code, "csv")


main()
