"""How often the parser read what a person read, and the replies on which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.rounding import rounded_frame
from core.workflow import answers, audits, statistics
from core.workflow.audits import Audit
from core.workflow.statistics import ResultTable
from core.workflow.studies import StudyRecord
from pages.shared import data_files, widgets

_DECIMALS = {"proportion": 3, "correlation": 2}
_FORMATS = {"count": "%d"} | {unit: f"%.{decimals}f" for unit, decimals in _DECIMALS.items()}


def results_section(study: StudyRecord, audit: Audit) -> None:
    """Success rates with intervals and kappa by model, and the disagreements."""
    st.header("How often Inkblot read what you read")
    if audit.n_coded == 0:
        st.info("Code a reply to see a result here.")
        return
    if audit.at_end and not audit.finished:
        st.info("The result is shown when every reply is coded, as chosen when drawing the sample.")
        return
    stem = f"{data_files.file_stem(study.code)}-audit_{audit.seed}_{audit.per_model}"
    found = audits.results(widgets.workspace(), audit)
    st.caption(
        f"Of {audit.n_coded:,} replies coded so far ({audit.n - audit.n_coded:,} of the sample are "
        "missing). Success: Inkblot took the option that you took, or none where you found none. "
        "Interval: Wilson (1927), 95 %. Kappa: Cohen (1960). Inkblot's reading is the one on file "
        "now, or the one before your coding took its place."
    )
    widgets.table(
        _rounded(found).rename(columns={c.name: c.title for c in found.columns}),
        alt=f"Agreement of person and parser, by model: {len(found.frame)}",
        placeholder="undefined",
        column_config={
            c.title: st.column_config.NumberColumn(c.title, format=_FORMATS[c.unit], help=c.help)
            for c in found.columns
            if c.unit in _FORMATS
        }
        | {"Model": st.column_config.TextColumn("Model")},
    )
    coded = audits.codings(widgets.workspace(), audit)
    with st.container(horizontal=True):
        data = statistics.export.table_csv(found)
        widgets.download("CSV", data, f"{stem}.csv", key="audit_csv")
        data = statistics.export.frame_csv(coded)
        widgets.download("All codings (CSV)", data, f"{stem}-codings.csv", key="audit_codings_csv")
    _disagreements(study, audit, coded[~coded["agrees"].astype(bool)])


def _rounded(found: ResultTable) -> pd.DataFrame:
    frame = found.frame
    for column in found.columns:
        if column.unit in _DECIMALS:
            frame = rounded_frame(frame, _DECIMALS[column.unit], [column.name])
    return frame


def _disagreements(study: StudyRecord, audit: Audit, frame: pd.DataFrame) -> None:
    st.header("Disagreements")
    if frame.empty:
        st.caption("None: you and Inkblot read all these replies alike.")
        return
    st.caption(
        f"n = {len(frame):,}. Tick rows to read them in full. Your coding can take the place "
        "of Inkblot's reading in the data; the old reading is kept and can be brought back."
    )
    shown = pd.DataFrame(
        {
            "Place": frame["ordinal"],
            "Model": frame["model"],
            "Item": frame["item"],
            "You": _in_words(frame, "person"),
            "Inkblot": _in_words(frame, "parser"),
            "Counts as": frame["success"].map({True: "success", False: "failure"}),
            "In the data": frame["taken"].map({True: "yours", False: "Inkblot's"}),
            "Reply": frame["reply"],
        }
    )
    event = widgets.table(
        shown, alt=f"Replies read differently: {len(shown)}", key=f"audit_table:{audit.audit_id}",
        on_select="rerun", selection_mode="multi-row",
        column_config={
            "Counts as": st.column_config.TextColumn(
                help="A failure is another option, or one where the other found none. Another "
                "reason for none is a disagreement, but not a failure."
            ),
            "In the data": st.column_config.TextColumn(help="Whose reading is analyzed."),
            **{name: st.column_config.TextColumn() for name in ("Model", "Item", "Reply")},
        },
    )  # fmt: skip
    ticked = [row for row in event["selection"]["rows"] if row < len(frame)]
    _take_buttons(audit, frame, frame.iloc[ticked])
    for row in frame.iloc[ticked[:5]].to_dict("records"):
        _in_full(study, row)
    if len(ticked) > 5:
        st.caption("The first five of the ticked replies are shown in full.")


def _take_buttons(audit: Audit, frame: pd.DataFrame, ticked: pd.DataFrame) -> None:
    chosen = frame if ticked.empty else ticked
    which = f"all (n = {len(frame):,})" if ticked.empty else f"those ticked (n = {len(ticked):,})"
    taken = chosen["taken"].astype(bool)
    with st.container(horizontal=True):
        st.button(
            f"Take your coding for {which}", key="audit_take", icon=":material/edit:",
            disabled=bool(taken.all()), on_click=_take, args=(audit, _trials(chosen[~taken])),
            help="The data then hold your coding. An option of yours that Inkblot did not see "
            "stands as an answer with explanation.",
        )  # fmt: skip
        st.button(
            f"Bring Inkblot's reading back for {which}", key="audit_give_back",
            icon=":material/undo:", disabled=not taken.any(), on_click=_give_back,
            args=(audit, _trials(chosen[taken])),
        )  # fmt: skip


def _in_full(study: StudyRecord, row: Mapping[Any, Any]) -> None:
    with st.container(border=True):
        st.caption(widgets.plain(f"Answer {row['ordinal']} of the plan, item {row['item']}"))
        widgets.text_block(str(row["reply"]), monospace=True)
        st.page_link(
            "pages/answers.py", label="Open it on Answers", icon=":material/forum:",
            query_params={widgets.STUDY_PARAMETER: study.code, "answer": str(row["trial_id"])},
        )  # fmt: skip


def _in_words(frame: pd.DataFrame, coder: str) -> list[str]:
    columns = (frame[f"{coder}_status"], frame[f"{coder}_option"])
    return [answers.in_words(status, option) for status, option in zip(*columns, strict=True)]


def _trials(frame: pd.DataFrame) -> tuple[int, ...]:
    return tuple(int(trial) for trial in frame["trial_id"])


def _take(audit: Audit, trials: tuple[int, ...]) -> None:
    audits.take(widgets.workspace(), audit, trials)
    st.cache_data.clear()  # numbers on other pages rest on what has just changed


def _give_back(audit: Audit, trials: tuple[int, ...]) -> None:
    audits.give_back(widgets.workspace(), audit, trials)
    st.cache_data.clear()
