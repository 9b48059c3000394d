"""The table of answers, fifty at a time, and which of them is open."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.workflow import answers
from core.workflow.answers import STATUS_WORDS
from core.workflow.studies import StudyRecord
from pages.shared.answers_filters import View, from_address, name_of, to_address
from pages.shared.factor_words import factor_word
from pages.shared.widgets import workspace

_PAGE_SIZE = 50
_HEIGHT = 440


def choose_answer(study: StudyRecord, view: View) -> int | None:
    """Show a page of answers and return the trial the reader has open."""
    code = study.code
    number = _restored(code, "page") or 1
    frame, total, number = _page(code, view, number)
    st.session_state[name_of(code, "page")] = number
    to_address("page", [str(number)] if number > 1 else [])
    if not total:
        st.info("No answer passes these filters. Take one out.")
        return None
    trials = [int(trial) for trial in frame["trial_id"]]
    opened = _restored(code, "answer")
    _table(code, view, frame, trials, number, opened)
    _page_buttons(code, number, total)
    _answer_buttons(code, trials, opened)
    to_address("answer", [str(opened)] if opened is not None else [])
    return opened


def _page(code: str, view: View, number: int) -> tuple[pd.DataFrame, int, int]:
    """The rows of a page, how many there are in all, and the page's number, were it too high."""

    def read(at: int) -> tuple[pd.DataFrame, int]:
        return answers.page(
            workspace(), code, view.filters, view.search,
            offset=(at - 1) * _PAGE_SIZE, limit=_PAGE_SIZE,
        )  # fmt: skip

    frame, total = read(number)
    last = max(math.ceil(total / _PAGE_SIZE), 1)
    if number > last:
        number = last
        frame, total = read(number)
    return frame, total, number


def _restored(code: str, what: str) -> int | None:
    """A number kept by this tab, or else by the address."""
    key = name_of(code, what)
    if key not in st.session_state:
        text = from_address(code, what)
        st.session_state[key] = int(text) if text.isdecimal() and len(text) < 20 else None
    found: int | None = st.session_state[key]
    return max(found, 1) if found is not None else None


def _table(
    code: str, view: View, frame: pd.DataFrame, trials: list[int], number: int, opened: int | None
) -> None:
    first = (number - 1) * _PAGE_SIZE + 1
    shown = pd.DataFrame({"Row": range(first, first + len(frame)), "Item": frame["item"]})
    for factor in view.factors:
        if factor in frame:
            shown[factor_word(factor).capitalize()] = frame[factor]
    shown["Status"] = frame["status"].map(lambda status: STATUS_WORDS.get(status, status))
    shown["Option"] = frame["option"].fillna("")
    shown["Reply"] = frame["reply"]
    key = _table_key(code, view, number)
    rows = [trials.index(opened)] if opened in trials else []
    texts: dict[str, Any] = {
        name: st.column_config.TextColumn(name, help=_HELP.get(name))
        for name in shown.columns
        if name not in ("Row", "Repetition")
    }
    st.caption(
        "Open an answer by ticking its row (with the keyboard: arrow keys to the row, then Shift "
        "and space), or with the buttons below."
    )
    st.dataframe(
        shown,
        hide_index=True,
        placeholder="",
        height=min(_HEIGHT, 36 * (len(shown) + 1) + 4),
        alt=f"Answers in rows {first} to {first + len(frame) - 1}: item, conditions, status, reply",
        column_config=texts,
        key=key,
        on_select=partial(_selected, code, key, tuple(trials)),
        selection_mode="single-row",
        selection_default={"selection": {"rows": rows, "columns": [], "cells": []}},
    )


_HELP = {
    "Option": "Code of the answer option that was read; empty where none was.",
    "Reply": "To the letter. Open the row for all of it.",
    "Status": "How the reply was understood.",
}


def _table_key(code: str, view: View, number: int) -> str:
    """Another page, filter or button press is another table, drawn with its own selection."""
    epoch = st.session_state.get(name_of(code, "epoch"), 0)
    return name_of(code, f"table:{number}:{epoch}:{hash((repr(view.filters), view.search))}")


def _selected(code: str, key: str, trials: tuple[int, ...]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    st.session_state[name_of(code, "answer")] = trials[rows[0]] if rows else None


def _page_buttons(code: str, number: int, total: int) -> None:
    last = max(math.ceil(total / _PAGE_SIZE), 1)
    first = (number - 1) * _PAGE_SIZE + 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Previous page", key="answers_previous_page", icon=":material/chevron_left:",
            disabled=number <= 1, on_click=_go_to_page, args=(code, number - 1),
        )  # fmt: skip
        st.button(
            "Next page", key="answers_next_page", icon=":material/chevron_right:",
            icon_position="right", disabled=number >= last,
            on_click=_go_to_page, args=(code, number + 1),
        )  # fmt: skip
        if last > 2:
            field = name_of(code, f"go:{number}:{last}")
            st.number_input(
                f"Page, 1 to {last:,}", 1, last, number, key=field, width=160,
                on_change=lambda: _go_to_page(code, int(st.session_state[field])),
            )  # fmt: skip
        st.text(f"Rows {first:,}–{min(first + _PAGE_SIZE - 1, total):,} of {total:,}")


def _answer_buttons(code: str, trials: list[int], opened: int | None) -> None:
    place = trials.index(opened) if opened in trials else None
    before = trials[place - 1] if place else None
    after = next(iter(trials[0 if place is None else place + 1 :]), None)
    with st.container(horizontal=True):
        st.button(
            "Previous answer", key="answers_previous", icon=":material/arrow_upward:",
            disabled=before is None, on_click=_open, args=(code, before),
        )  # fmt: skip
        st.button(
            "Read the first answer" if place is None else "Next answer", key="answers_next",
            icon=":material/arrow_downward:", disabled=after is None,
            on_click=_open, args=(code, after),
        )  # fmt: skip
        if opened is not None:
            st.button("Close the answer", key="answers_close", icon=":material/close:",
                      on_click=_open, args=(code, None))  # fmt: skip


def _go_to_page(code: str, number: int) -> None:
    st.session_state[name_of(code, "page")] = number
    _open(code, None)


def _open(code: str, trial: int | None) -> None:
    st.session_state[name_of(code, "answer")] = trial
    epoch = name_of(code, "epoch")
    st.session_state[epoch] = st.session_state.get(epoch, 0) + 1
