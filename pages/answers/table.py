"""Filters of answers, kept in the address, and the table of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.workflow.answers import browsing
from core.workflow.answers.browsing import STATUS_WORDS
from core.workflow.designs.studies import StudyRecord
from pages.shared.widgets import STUDY_PARAMETER, factor_word, plain, workspace

# Filters and search, which are saved in the address, so that a reload keeps them.

_WRITTEN = "answers_address"
_SHOWN_STUDY = "answers_study"
_WORDS = {"tries": "Number of replies"}
_LISTED_LEVELS = 1000  # more would make the page heavy; others can be typed
_LONGEST_ADDRESS = 20  # values of one filter that are kept in the address


@dataclass(frozen=True)
class View:
    """Filters and search of the list. `factors` are those that vary in the study."""

    filters: Mapping[str, Sequence[Any]]
    search: str
    factors: tuple[str, ...]


def name_of(study: str, what: str) -> str:
    """Session key of something about the answers of a study."""
    return f"answers:{study}:{what}"


def choose_view(study: StudyRecord, factor_levels: Mapping[str, list[Any]]) -> View:
    """Controls for search, status, item and the other factors of `answers.levels`."""
    _follow_link(study.code)
    start = _address_at_first(study.code)
    levels = dict(factor_levels)
    columns = st.columns([2, 2, 2])
    with columns[0]:
        search = _search(study.code, start)
    with columns[1]:
        status = _filter(study.code, "status", list(STATUS_WORDS), start)
    with columns[2]:
        item = _filter(study.code, "item", levels.pop("item"), start)
    chosen = {"status": status, "item": item}
    if levels:
        with st.expander(_heading(study.code, levels, start)):
            for name, values in levels.items():
                chosen[name] = _filter(study.code, name, values, start)
    st.button(
        "Clear all filters", key="answers_clear", icon=":material/filter_alt_off:",
        disabled=not search and not any(chosen.values()), on_click=show_only, args=(study.code, {}),
    )  # fmt: skip
    filters = {name: values for name, values in chosen.items() if values}
    _to_address("search", [search] if search else [])
    for name, values in chosen.items():
        _to_address(name, [str(v) for v in values] if len(values) <= _LONGEST_ADDRESS else [])
    return View(filters, search, tuple(levels))


def show_only(study: str, chosen: Mapping[str, Sequence[Any]]) -> None:
    """Set the filters to these levels and clear all others; for callbacks of buttons and tables."""
    names = [name for name in st.session_state.to_dict() if isinstance(name, str)]
    start = name_of(study, "where:")
    for key in names:
        if key.startswith(start):
            st.session_state[key] = [str(v) for v in chosen.get(key.removeprefix(start), ())]
    st.session_state[name_of(study, "search")] = ""
    _back_to_start(study)


def _to_address(name: str, values: list[str]) -> None:
    """Save values in the page's address; an empty list removes them."""
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]
    st.session_state[_WRITTEN] = _address()


def _from_address(study: str, name: str) -> str:
    """The value in the address when this browser tab opened the study, or empty."""
    values = _address_at_first(study).get(name)
    return values[0] if values else ""


def _follow_link(study: str) -> None:
    """Apply the filters of an address that this page has not written, such as a link's."""
    address = _address()
    first = name_of(study, "address")
    if first not in st.session_state or not address or address == st.session_state.get(_WRITTEN):
        return
    st.session_state[first] = address
    show_only(study, {name: values for name, values in address.items() if name != "search"})
    st.session_state[name_of(study, "search")] = address.get("search", [""])[0]
    for what in ("page", "answer"):
        st.session_state.pop(name_of(study, what), None)


def _address() -> dict[str, list[str]]:
    """The values of the address, without the study."""
    return {n: st.query_params.get_all(n) for n in st.query_params if n != STUDY_PARAMETER}


def _address_at_first(study: str) -> Mapping[str, list[str]]:
    """The address when this tab opened the page; values for another study are dropped."""
    if st.session_state.get(_SHOWN_STUDY) not in (None, study):
        for name in [name for name in st.query_params if name != STUDY_PARAMETER]:
            del st.query_params[name]
    st.session_state[_SHOWN_STUDY] = study
    key = name_of(study, "address")
    if key not in st.session_state:
        st.session_state[key] = {n: st.query_params.get_all(n) for n in st.query_params}
    address: Mapping[str, list[str]] = st.session_state[key]
    return address


def _search(study: str, start: Mapping[str, list[str]]) -> str:
    key = name_of(study, "search")
    typed = st.text_input(
        "Search in replies and prompts",
        "" if key in st.session_state else start.get("search", [""])[0],
        key=key,
        type="search",
        on_change=_back_to_start,
        args=(study,),
        persist_state="session",
        help="Finds the text anywhere in a reply or a prompt. Capital and small letters are the "
        "same.",
    )
    return (typed or "").strip()


def _filter(study: str, name: str, values: list[Any], start: Mapping[str, list[str]]) -> list[Any]:
    """A choice among the levels of one factor; none chosen means all."""
    by_text = {str(value): value for value in values}
    listed = list(by_text)[:_LISTED_LEVELS]
    long = len(by_text) > _LISTED_LEVELS
    default = [text for text in start.get(name, []) if text in by_text]
    listed += [text for text in default if text not in listed]
    key = name_of(study, f"where:{name}")
    listed += [text for text in st.session_state.get(key, []) if text not in listed]
    chosen = st.multiselect(
        _WORDS.get(name) or factor_word(name).capitalize(),
        listed,
        None if key in st.session_state else default,
        format_func=_shown_as(name),
        key=key,
        on_change=_back_to_start,
        args=(study,),
        accept_new_options=long,
        placeholder="All",
        persist_state="session",
        help=f"There are {len(by_text):,} levels. The list has the first {_LISTED_LEVELS:,}; type "
        "any other."
        if long
        else None,
    )
    unknown = [text for text in chosen if text not in by_text]
    if unknown:
        st.caption(f"Not in this study: {plain(', '.join(unknown))}.")
    numbers = name in ("repetition", "tries")
    return [by_text.get(text, text) for text in chosen if text in by_text or not numbers]


def _heading(study: str, levels: Mapping[str, Any], start: Mapping[str, list[str]]) -> str:
    """The label of the box of filters, with the filters that are set."""
    chosen = [
        name
        for name in levels
        if st.session_state.get(name_of(study, f"where:{name}"), start.get(name))
    ]
    words = [_WORDS.get(name, factor_word(name)) for name in chosen]
    return f"More filters (chosen: {', '.join(words)})" if words else "More filters"


def _shown_as(name: str) -> Any:
    """Words of the levels. A multiselect shows its options as text, so nothing is escaped."""
    if name == "status":
        return lambda status: STATUS_WORDS[status].capitalize()
    return lambda text: text or "(none)"


def _back_to_start(study: str) -> None:
    """Go to the first page and close the answer."""
    st.session_state[name_of(study, "page")] = 1
    st.session_state[name_of(study, "answer")] = None


# The table of answers, a page at a time, and the open answer.

_PAGE_SIZE = 50
_HEIGHT = 440


def choose_answer(study: StudyRecord, view: View) -> int | None:
    """Show a page of answers and return the trial that is open."""
    code = study.code
    number = _restored(code, "page") or 1
    frame, total, number = _page(code, view, number)
    st.session_state[name_of(code, "page")] = number
    _to_address("page", [str(number)] if number > 1 else [])
    if not total:
        st.info("No answer passes these filters. Remove a filter.")
        return None
    trials = [int(trial) for trial in frame["trial_id"]]
    opened = _restored(code, "answer")
    _table(code, view, frame, trials, number, opened)
    _page_buttons(code, number, total)
    _answer_buttons(code, trials, opened)
    _to_address("answer", [str(opened)] if opened is not None else [])
    return opened


def _page(code: str, view: View, number: int) -> tuple[pd.DataFrame, int, int]:
    """The rows of a page, the total number of rows, and the number of the page shown."""

    def read(at: int) -> tuple[pd.DataFrame, int]:
        return browsing.page(
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
    """A number saved in this tab, or else in the address."""
    key = name_of(code, what)
    if key not in st.session_state:
        text = _from_address(code, what)
        st.session_state[key] = int(text) if text.isdecimal() and len(text) < 20 else None
    number: int | None = st.session_state[key]
    return max(number, 1) if number is not None else None


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
        "To open an answer, tick its row (with the keyboard: move to the row with the arrow keys, "
        "then press Shift and space) or use the buttons below."
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
    "Option": "Code of the answer option that was read from the reply; empty if there is none.",
    "Reply": "Verbatim. Open the row to see the whole reply.",
    "Status": "Whether the reply holds an answer, or why not.",
}


def _table_key(code: str, view: View, number: int) -> str:
    """A new page, filter or button press makes a new table with its own selection."""
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
