"""How many answers of each kind there are under each condition; a number opens the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.rounding import rounded_frame
from core.domain.study import FACTORS
from core.workflow import answers, statistics
from core.workflow.studies import StudyRecord
from pages.shared import answers_filters, data_files, widgets
from pages.shared.factor_words import factor_word

_COARSE = tuple(
    name for name in FACTORS if name not in ("context", "entity", "entity_b", "repetition")
)
"""Factors of few levels: one count by all of them serves several tables."""
_AT_FIRST = ("model", "language", "format", "phase", "form")
_HELP = {
    "planned": "Trials: items put once each.",
    "asked": "Trials that were sent, with or without a reply. Percentages are of these.",
    "n": "Answers that can be scored.",
    "missing": "All others, not asked yet included.",
    "answered with explanation": "An option with more around it than its code or label.",
    "neutral, non-committal": "The model declined to take a side without refusing.",
    "refused": "The model said that it would not or could not answer.",
}


def status_section(study: StudyRecord, revision: object, levels: Iterable[str]) -> None:
    """The table of statuses, by the factors that the reader chooses as rows."""
    st.header("Statuses by condition")
    varied = set(levels)
    by = _choose_rows(study.code, [n for n in FACTORS if n in varied or n == "model"])
    if not by:
        st.info("Choose at least one factor for the rows.")
        return
    tally = tallied(revision, study.code, _COARSE if set(by) <= set(_COARSE) else tuple(by))
    shown = answers.status_shares(answers.status_table(tally, by), by)
    st.caption(
        "Click a number to see the answers behind it in the list below (with the keyboard: "
        f"move to it with the arrow keys). {counted(len(shown), 'row')}, "
        f"n = {int(shown['n'].sum()):,} usable of {int(shown['planned'].sum()):,} planned trials."
    )
    _draw(study.code, shown, by)
    data = statistics.export.frame_csv(shown)
    name = f"{data_files.file_stem(study.code)}-statuses.csv"
    widgets.download("CSV", data, name, key="answers_statuses_csv")


def _choose_rows(study: str, offered: list[str]) -> list[str]:
    start = [name for name in _AT_FIRST if name in offered]
    chosen: list[str] = st.multiselect(
        "Rows", offered, start, format_func=factor_word,
        key=answers_filters.name_of(study, "status_rows"), persist_state="session",
        help="One row for each combination of these factors. Besides the model, those that this "
        "study varies are offered.",
    )  # fmt: skip
    return chosen


@st.cache_data(max_entries=20, show_spinner=False)
def tallied(revision: object, study: str, by: tuple[str, ...] = _COARSE) -> pd.DataFrame:
    """Trials by factors and status, kept as long as the answers (`revision`) stay the same."""
    return answers.tally(widgets.workspace(), study, by)


def _draw(study: str, shown: pd.DataFrame, by: Sequence[str]) -> None:
    key = answers_filters.name_of(study, f"statuses:{':'.join(by)}")
    rows = counted(len(shown), "row")
    widgets.table(
        rounded_frame(shown, 1, [name for name in map(str, shown) if name.endswith("%")]),
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
        return st.column_config.NumberColumn(title, format="%.1f", help="Of the trials asked.")
    return st.column_config.NumberColumn(title, format="localized", help=_HELP.get(name))


def _open_number(study: str, key: str, shown: pd.DataFrame, by: tuple[str, ...]) -> None:
    """Filter the list of answers to what the chosen number counts."""
    cells = st.session_state[key]["selection"]["cells"]
    if not cells:
        return
    row, column = cells[0]
    chosen: dict[str, Sequence[Any]] = {name: [shown[name].iloc[row]] for name in by}
    if column not in by:
        chosen["status"] = answers.statuses_of(column)
    answers_filters.show_only(study, chosen)
