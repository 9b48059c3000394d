"""Answers: counts by status, and each answer with its reply and reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.charts import page_spec
from core.domain.numbers import count_text, round_frame, usable_words
from core.domain.study import FACTORS, Certainty
from core.workflow import study_log
from core.workflow.answers import browsing
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.answers.readings import (
    CERTAINTY_MEANINGS,
    CERTAINTY_WORDS,
    HEDGED_WORDS,
    JUDGED_WORDS,
)
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, person_facts
from pages.answers import detail, table
from pages.shared import downloads, results, study_bar, widgets
from pages.shared.widgets import factor_word

# Counts of statuses by condition; a click on a number lists these answers.

# Factors of few levels: one count by all of them serves several tables.
_COARSE = tuple(
    name for name in FACTORS if name not in ("context", "entity", "entity_b", "repetition")
)
_ROW_LINES = 4  # rows of the table that are seen at once
_HELP = {
    "planned": "Trials. A trial asks one respondent one item once.",
    "asked": "Trials that were sent, with or without a reply. Percentages refer to these.",
    "n": "Answers that can be scored.",
    "missing": "All other trials: refused, off the scale, not asked yet and so on. They are "
    "counted and shown, but never scored.",
    "answered with explanation": "The reply holds an option and more text than its code or label.",
    "neutral, non-committal": "The reply takes no side, without refusing.",
    "refused": "The reply says that the model will not or cannot answer.",
    **{CERTAINTY_WORDS[one]: f"Answers where {CERTAINTY_MEANINGS[one]}." for one in Certainty},
    HEDGED_WORDS: "Answers whose reply also says that it has no opinion of its own.",
    JUDGED_WORDS: "Answers coded by a judge, a respondent that was asked what the reply chooses.",
    "person": "Answers coded by a person.",
}


def _counts(
    row: DeltaGenerator,
    study: StudyRecord,
    revision: object,
    varied: Collection[str],
    *,
    readings_known: bool,
) -> None:
    """The table of statuses, by the factors that the reader chooses as rows in the top `row`."""
    how_read = False
    with row:
        usable = usable_words(study.n_usable, study.n_asked)
        st.markdown(
            f"**{usable}**",
            width="content",
            help="Replies with an option, of the questions asked. Press a number of the table to "
            "list its answers (with the keyboard: move to the number with the arrow keys).",
        )
        with st.popover("Counts", icon=":material/table_rows:"):
            by = _choose_rows(study.code, [n for n in FACTORS if n in varied or n == "model"])
            percent = st.toggle(
                "Percentages",
                key=table.name_of(study.code, "percent"),
                persist_state="session",
                help="Shares of the trials asked, beside the counts.",
            )
            if readings_known:
                how_read = st.toggle(
                    "How answers were read",
                    key=table.name_of(study.code, "how_read"),
                    persist_state="session",
                    help="Of the answers that can be scored: how many are certain, likely or a "
                    "guess, come with a disclaimer, or were coded by a judge or a person. One "
                    "answer can count in several of these columns.",
                )
            file = st.container()
        widgets.import_link()
    if not by:
        st.caption("Choose at least one factor for the rows of the table of counts.")
        return
    tally = _tallied(revision, study.code, _COARSE if set(by) <= set(_COARSE) else tuple(by))
    shown = browsing.status_shares(browsing.status_table(tally, by), by)
    if how_read:
        shown = browsing.with_readings(shown, _readings(revision, study.code, tuple(by)), by)
    data = analyses.export.frame_csv(shown)
    name = f"{downloads.file_stem(study.code)}-statuses.csv"
    with file:
        widgets.download("CSV of the counts", data, name, key="answers_statuses_csv")
    _draw(study.code, shown, by, percent=percent)


def _choose_rows(study: str, offered: list[str]) -> list[str]:
    chosen: list[str] = st.multiselect(
        "Rows",
        offered,
        ["respondent" if "respondent" in offered else "model"],
        format_func=factor_word,
        key=table.name_of(study, "status_rows"),
        persist_state="session",
        help="The table has one row for each combination of these factors. You can choose the "
        "model and every factor that varies in this study.",
    )
    return chosen


@st.cache_data(max_entries=20, show_spinner=False)
def _tallied(revision: object, study: str, by: tuple[str, ...] = _COARSE) -> pd.DataFrame:
    """Trials by factors and status, kept as long as the answers (`revision`) stay the same."""
    return browsing.status_counts(widgets.workspace(), study, by)


@st.cache_data(max_entries=20, show_spinner=False)
def _readings(revision: object, study: str, by: tuple[str, ...]) -> pd.DataFrame:
    """Answers by factors and how they were read, kept as long as the answers stay the same."""
    return browsing.reading_counts(widgets.workspace(), study, by)


def _draw(study: str, shown: pd.DataFrame, by: Sequence[str], *, percent: bool) -> None:
    key = table.name_of(study, f"statuses:{':'.join(by)}")
    columns = [name for name in map(str, shown) if percent or name not in browsing.SHARES]
    rows = count_text(len(shown), "row")
    widgets.table(
        round_frame(shown, 1, [name for name in map(str, shown) if name in browsing.SHARES]),
        alt=f"Answers by {', '.join(map(factor_word, by))} and status: {rows}",
        key=key,
        height=min(len(shown), _ROW_LINES) * 35 + 38,
        column_order=columns,
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
    if name in browsing.SHARES:
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
        reading = browsing.READING_FILTERS.get(column)
        statuses = browsing.statuses_of("n" if reading else column)
        chosen |= reading or {}
        present = set(map(str, shown)) & set(STATUS_WORDS.values())
        chosen["status"] = [s for s in statuses if STATUS_WORDS[s] in present] or statuses
    table.show_only(study, chosen)


# The page: counts, the list of answers with the open one beside it, and what is done with them.

_CHART, _REREADING = "Chart of statuses", "Read the replies again"
_FILE, _LOG = "Download", "Who did what"


def _answers(
    study: StudyRecord,
    levels: table.Levels,
    facts: table.Levels,
    read: table.Levels,
    statuses: Mapping[str, int],
) -> None:
    """The answers that pass the filters, a page at a time, and the open answer beside them."""
    view = table.choose_view(study, levels, facts, read, statuses)
    shown = table.load_page(study, view)
    if shown is None:
        st.info("No answer passes these filters. Remove a filter.")
        return
    with st.container(key="answers_list_and_pane"):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            table.show_list(study, view, shown)
        with right, widgets.error_box():
            table.answer_buttons(study, shown)
            detail.show_answer(study, shown.opened, view.factors)


def _chart(study: StudyRecord, revision: object) -> None:
    """How many trials of each respondent have which status."""
    overview = browsing.status_table(_tallied(revision, study.code), ["respondent"])
    theme = results.theme()
    chart = browsing.status_chart(overview, theme=theme)
    st.vega_lite_chart(spec=page_spec(chart.spec, theme), alt=chart.alt, key="answers_chart")
    with st.expander("Data of this chart"):
        st.caption(widgets.plain(chart.alt))
        widgets.table(chart.table, alt="Data of the chart: trials by respondent and status")


def _tools(study: StudyRecord, revision: object) -> None:
    """Chart, reading the replies again, the file, and the log, each when its tab is open."""
    chart, rereading, file, log = st.tabs(
        [_CHART, _REREADING, _FILE, _LOG], key="answers_tools", on_change="rerun"
    )
    if chart.open:
        with chart, widgets.error_box():
            _chart(study, revision)
    if rereading.open:
        with rereading, widgets.error_box():
            detail.reading_section(study)
    if file.open:
        with file, widgets.error_box():
            st.caption("The file holds all answers of the study; the filters do not apply.")
            downloads.answers_file(study.code, "csv")
    if log.open:
        with log, widgets.error_box():
            _log(study)


def _log(study: StudyRecord) -> None:
    """Who did what with the study, newest first."""
    rows = study_log.entries(widgets.workspace(), study.code)
    st.caption(
        "What was done with the study since this Inkblot keeps a log, newest first. Names are "
        "those of the logins of a lab, and of coders."
    )
    if not rows:
        st.info("Nothing is on the log yet.")
        return
    cells = [(widgets.moment(entry.done_at), entry.member, entry.what) for entry in rows]
    widgets.table(
        pd.DataFrame(cells, columns=["When", "Who", "What"]),
        alt=f"Log of the study: {len(rows)} entries",
        column_config={"What": st.column_config.TextColumn(width="large")},
    )
    downloads.download_when_asked(
        "Log as CSV",
        lambda: study_log.as_csv(widgets.workspace(), study.code),
        f"{downloads.file_stem(study.code)}-log.csv",
        key="download:log",
    )
    downloads.command("log", study.code)


def main() -> None:
    with widgets.error_box():
        row, study = study_bar.study_row(
            "Answers", "See every answer with its prompt and its reply, and how Inkblot read it."
        )
        if study is None:
            widgets.no_study()
            return
        if study.n_responses == 0:
            st.info("This study has no answers yet. Start it on the page Collect.")
            st.page_link(
                "pages/collect/page.py",
                label="Go to Collect",
                icon=":material/play_circle:",
                query_params={widgets.STUDY_PARAMETER: study.code},
            )
        workspace = widgets.workspace()
        revision = (workspace.process, analyses.revision(workspace, [study.code]))
        levels = browsing.all_levels(workspace, study.code)
        facts = person_facts.levels(workspace, study.code)
        read = browsing.reading_levels(workspace, study.code)
        tally = _tallied(revision, study.code).groupby("status")["count"].sum()
        statuses = {s: int(tally[s]) for s in STATUS_WORDS if s in tally}
        with widgets.error_box():
            varied = [name for name in levels if len(levels[name]) > 1]
            _counts(row, study, revision, varied, readings_known=any(read.values()))
        with widgets.error_box():
            _answers(study, levels, facts, read, statuses)
        with st.container(horizontal=True):
            st.page_link(
                "pages/audit/page.py",
                label="Code a sample of replies yourself (Audit)",
                icon=":material/fact_check:",
                query_params={widgets.STUDY_PARAMETER: study.code},
            )
            study_bar.texts_link(study)
        _tools(study, revision)


main()
