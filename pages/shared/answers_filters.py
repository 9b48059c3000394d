"""Which answers are shown: filters and search, kept in the address so that a reload keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.workflow import answers
from core.workflow.answers import STATUS_WORDS
from core.workflow.studies import StudyRecord
from pages.shared.results import factor_word
from pages.shared.widgets import STUDY_PARAMETER, plain, workspace

SHOWN_STUDY = "answers_study"
LISTED_LEVELS = 1000  # more would make the page heavy; others can be typed
LONGEST_ADDRESS = 20  # values of one filter that are kept in the address


@dataclass(frozen=True)
class View:
    """What the reader wants to see. `factors` are those that vary in the study."""

    filters: Mapping[str, Sequence[Any]]
    search: str
    factors: tuple[str, ...]


def name_of(study: str, what: str) -> str:
    """Session key of something about the answers of a study."""
    return f"answers:{study}:{what}"


def choose_view(study: StudyRecord) -> View:
    """Controls for search, status, item and every factor that varies."""
    start = _address_at_first(study.code)
    levels = answers.levels(workspace(), study.code)
    columns = st.columns([2, 2, 2])
    with columns[0]:
        search = _search(study.code, start)
    with columns[1]:
        status = _filter(study.code, "status", list(STATUS_WORDS), start)
    with columns[2]:
        item = _filter(study.code, "item", levels.pop("item"), start)
    chosen = {"status": status, "item": item}
    if levels:
        with st.expander("More filters"):
            for name, values in levels.items():
                chosen[name] = _filter(study.code, name, values, start)
    filters = {name: values for name, values in chosen.items() if values}
    to_address("search", [search] if search else [])
    for name, values in chosen.items():
        to_address(name, [str(v) for v in values] if len(values) <= LONGEST_ADDRESS else [])
    return View(filters, search, tuple(levels))


def to_address(name: str, values: list[str]) -> None:
    """Keep something in the page's address; an empty list takes it out."""
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]


def from_address(study: str, name: str) -> str:
    """What the address said when this browser tab came to the study; empty for nothing."""
    values = _address_at_first(study).get(name)
    return values[0] if values else ""


def _address_at_first(study: str) -> Mapping[str, list[str]]:
    """The address as this tab found it; what it says of another study does not count."""
    if st.session_state.get(SHOWN_STUDY) not in (None, study):
        for name in [name for name in st.query_params if name != STUDY_PARAMETER]:
            del st.query_params[name]
    st.session_state[SHOWN_STUDY] = study
    key = name_of(study, "address")
    if key not in st.session_state:
        st.session_state[key] = {n: st.query_params.get_all(n) for n in st.query_params}
    found: Mapping[str, list[str]] = st.session_state[key]
    return found


def _search(study: str, start: Mapping[str, list[str]]) -> str:
    typed = st.text_input(
        "Search in replies and prompts",
        start.get("search", [""])[0],
        key=name_of(study, "search"),
        type="search",
        on_change=_back_to_start,
        args=(study,),
        persist_state="session",
        help="Finds the text anywhere in a reply or in a question as it was sent, in capital or "
        "small letters.",
    )
    return (typed or "").strip()


def _filter(study: str, name: str, values: list[Any], start: Mapping[str, list[str]]) -> list[Any]:
    """A choice among the levels of one factor; none chosen means all."""
    by_text = {str(value): value for value in values}
    listed = list(by_text)[:LISTED_LEVELS]
    long = len(by_text) > LISTED_LEVELS
    default = [text for text in start.get(name, []) if text in by_text]
    listed += [text for text in default if text not in listed]
    chosen = st.multiselect(
        factor_word(name).capitalize(),
        listed,
        default,
        format_func=_shown_as(name),
        key=name_of(study, f"where:{name}"),
        on_change=_back_to_start,
        args=(study,),
        accept_new_options=long,
        placeholder="All",
        persist_state="session",
        help=f"{len(by_text):,} levels. The first {LISTED_LEVELS:,} are listed; type another one."
        if long
        else None,
    )
    unknown = [text for text in chosen if text not in by_text]
    if unknown:
        st.caption(f"Not in this study: {plain(', '.join(unknown))}.")
    return [by_text.get(text, text) for text in chosen if text in by_text or name != "repetition"]


def _shown_as(name: str) -> Any:
    """Words of the levels. A multiselect shows its options as text, so nothing is escaped."""
    if name == "status":
        return lambda status: STATUS_WORDS[status].capitalize()
    return lambda text: text or "(none)"


def _back_to_start(study: str) -> None:
    """Other filters, other rows: the first page, and no answer open."""
    st.session_state[name_of(study, "page")] = 1
    st.session_state[name_of(study, "answer")] = None
