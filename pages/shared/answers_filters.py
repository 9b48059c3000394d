"""Which answers are shown: filters and search, kept in the address so that a reload keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.workflow.answers import STATUS_WORDS
from core.workflow.studies import StudyRecord
from pages.shared.factor_words import factor_word
from pages.shared.widgets import STUDY_PARAMETER, plain

_WRITTEN = "answers_address"
_SHOWN_STUDY = "answers_study"
_WORDS = {"tries": "Replies it took"}
_LISTED_LEVELS = 1000  # more would make the page heavy; others can be typed
_LONGEST_ADDRESS = 20  # values of one filter that are kept in the address


@dataclass(frozen=True)
class View:
    """What the reader wants to see. `factors` are those that vary in the study."""

    filters: Mapping[str, Sequence[Any]]
    search: str
    factors: tuple[str, ...]


def name_of(study: str, what: str) -> str:
    """Session key of something about the answers of a study."""
    return f"answers:{study}:{what}"


def choose_view(study: StudyRecord, found: Mapping[str, list[Any]]) -> View:
    """Controls for search, status, item and every factor that varies, as `answers.levels` has."""
    _follow_link(study.code)
    start = _address_at_first(study.code)
    levels = dict(found)
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
    to_address("search", [search] if search else [])
    for name, values in chosen.items():
        to_address(name, [str(v) for v in values] if len(values) <= _LONGEST_ADDRESS else [])
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


def to_address(name: str, values: list[str]) -> None:
    """Keep something in the page's address; an empty list takes it out."""
    if values:
        st.query_params[name] = values
    elif name in st.query_params:
        del st.query_params[name]
    st.session_state[_WRITTEN] = _address()


def from_address(study: str, name: str) -> str:
    """What the address said when this browser tab came to the study; empty for nothing."""
    values = _address_at_first(study).get(name)
    return values[0] if values else ""


def _follow_link(study: str) -> None:
    """Take over an address that this page has not written itself: somebody came by a link."""
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
    """What the address says beside the study."""
    return {n: st.query_params.get_all(n) for n in st.query_params if n != STUDY_PARAMETER}


def _address_at_first(study: str) -> Mapping[str, list[str]]:
    """The address as this tab found it; what it says of another study does not count."""
    if st.session_state.get(_SHOWN_STUDY) not in (None, study):
        for name in [name for name in st.query_params if name != STUDY_PARAMETER]:
            del st.query_params[name]
    st.session_state[_SHOWN_STUDY] = study
    key = name_of(study, "address")
    if key not in st.session_state:
        st.session_state[key] = {n: st.query_params.get_all(n) for n in st.query_params}
    found: Mapping[str, list[str]] = st.session_state[key]
    return found


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
        help="Finds the text anywhere in a reply or in a question as it was sent, in capital or "
        "small letters.",
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
        help=f"{len(by_text):,} levels. The first {_LISTED_LEVELS:,} are listed; type another one."
        if long
        else None,
    )
    unknown = [text for text in chosen if text not in by_text]
    if unknown:
        st.caption(f"Not in this study: {plain(', '.join(unknown))}.")
    numbers = name in ("repetition", "tries")
    return [by_text.get(text, text) for text in chosen if text in by_text or not numbers]


def _heading(study: str, levels: Mapping[str, Any], start: Mapping[str, list[str]]) -> str:
    """Says what a closed box of filters holds."""
    held = [
        name
        for name in levels
        if st.session_state.get(name_of(study, f"where:{name}"), start.get(name))
    ]
    words = [_WORDS.get(name, factor_word(name)) for name in held]
    return f"More filters (chosen: {', '.join(words)})" if words else "More filters"


def _shown_as(name: str) -> Any:
    """Words of the levels. A multiselect shows its options as text, so nothing is escaped."""
    if name == "status":
        return lambda status: STATUS_WORDS[status].capitalize()
    return lambda text: text or "(none)"


def _back_to_start(study: str) -> None:
    """Other filters, other rows: the first page, and no answer open."""
    st.session_state[name_of(study, "page")] = 1
    st.session_state[name_of(study, "answer")] = None
