"""Read what was said and how it was understood, answer by answer."""

from typing import Any

import streamlit as st

from core.charts import readable
from core.domain.counts import counted
from core.domain.results import Column, ResultTable
from core.workflow import answer_charts, answers, collection, statistics, studies
from core.workflow.studies import StudyRecord
from pages.shared import (
    answers_detail,
    answers_filters,
    answers_reading,
    answers_rows,
    answers_statuses,
    data_files,
    results,
    widgets,
)

COUNTS = {
    "Planned": "Trials: items put once each.",
    "n": "Answers that can be scored.",
    "Missing": "All others: refused, off the scale, not asked yet and so on. They are counted and "
    "shown, never scored.",
}


def counts(study: StudyRecord, revision: object) -> None:
    """How many answers there are of each kind, by respondent: a table and a chart."""
    overview = answers.status_table(answers_statuses.tallied(revision, study.code), ["respondent"])
    st.header("What came back")
    usable = collection.usable_words(study.n_usable, study.n_asked)
    st.write(f"Answers: **{usable}** (an option was chosen, of the questions asked).")
    shown = overview.rename(columns=str.capitalize).rename(columns={"N": "n"})
    widgets.table(
        shown,
        alt=f"Answers by respondent and status: {counted(len(overview), 'respondent')}",
        column_config={"Respondent": st.column_config.TextColumn()}
        | {
            name: st.column_config.NumberColumn(format="localized", help=COUNTS.get(name))
            for name in shown.columns[1:]
        },
    )
    columns = tuple(Column(name, name) for name in shown.columns)
    data = statistics.export.table_csv(ResultTable("counts", "What came back", shown, columns))
    name = f"{data_files.file_stem(study.code)}-what_came_back.csv"
    widgets.download("CSV", data, name, key="answers_counts_csv")
    theme = results.theme()
    chart = answer_charts.status_chart(overview, theme=theme)
    st.altair_chart(readable(chart.spec, theme), alt=chart.alt, key="answers_chart")
    with st.expander("The data of this chart"):
        st.caption(widgets.plain(chart.alt))
        widgets.table(chart.table, alt="Data of the chart: trials by respondent and status")


def rows(study: StudyRecord, levels: dict[str, list[Any]]) -> None:
    """The answers that pass the filters, a page at a time, and the chosen one in full."""
    st.header("Answers")
    view = answers_filters.choose_view(study, levels)
    trial = answers_rows.choose_answer(study, view)
    if trial is not None:
        answers_detail.show_answer(study, trial, view.factors)


def main() -> None:
    st.title("Answers")
    st.caption(
        "Every answer with the question as it was put, the reply to the letter, and how it was "
        "read. Counts are of trials: one item put once to one respondent."
    )
    with widgets.error_box():
        study = widgets.study_chooser()
        if study is None:
            return
        widgets.honesty_note(studies.people(widgets.workspace(), study.code))
        widgets.unreviewed_note(study)
        widgets.unkeyed_note(study.code)
        if study.n_responses == 0:
            st.info("This study has no answers yet. Start it on the page Collect.")
            st.page_link(
                "pages/collect.py", label="Go to Collect", icon=":material/play_circle:",
                query_params={widgets.STUDY_PARAMETER: study.code},
            )  # fmt: skip
        workspace = widgets.workspace()
        revision = (workspace.process, statistics.revision(workspace, [study.code]))
        levels = answers.levels(workspace, study.code)
        with widgets.error_box():
            counts(study, revision)
        with widgets.error_box():
            answers_statuses.status_section(study, revision, levels)
        with widgets.error_box():
            rows(study, levels)
        st.header("How far the readings can be trusted")
        st.page_link(
            "pages/audit.py", label="Code a sample of replies yourself (Audit)",
            icon=":material/fact_check:", query_params={widgets.STUDY_PARAMETER: study.code},
        )  # fmt: skip
        with widgets.error_box():
            answers_reading.reading_section(study)
        st.header("Download")
        st.caption("The file holds every answer, not only those that pass the filters above.")
        with widgets.error_box():
            data_files.answers_file(study.code, "csv")


main()
