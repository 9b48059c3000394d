"""Leaving out guesses, answers with a disclaimer and judged answers, and what that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.numbers import count_text
from core.domain.results import ResultTable
from core.domain.study import LEAVE_OUT, LEFT_OUT_KINDS
from core.workflow.statistics import analyses, left_out
from pages.shared import results, widgets
from pages.shared.widgets import plain, workspace

TITLE = "What leaving out changes"
_NAMES = {
    "guess": "guesses",
    "hedged": "answers with a disclaimer",
    "judged": "judged answers",
}
_WRITTEN = "left_out_written"
_HELP = (
    "These answers count as missing in everything on this page. An answer of several kinds is left "
    f"out once. The tab {TITLE} has each number with them and without."
)


def choose(studies: Sequence[str]) -> tuple[str, ...]:
    """The kinds of answers to leave out of an analysis of these studies.

    The control is there where the studies have such answers. The choice is kept in the address.
    """
    counts = count_kinds(studies)
    if not counts:
        return ()
    study = studies[0]
    _read_address(study, counts)
    with st.popover("Leave out", icon=":material/remove_circle:"):
        kinds = choose_kinds(study, counts)
    if kinds:
        st.query_params[LEAVE_OUT] = list(kinds)
    elif LEAVE_OUT in st.query_params:
        del st.query_params[LEAVE_OUT]
    st.session_state[_WRITTEN] = (study, list(kinds))
    return kinds


def choose_kinds(study: str, counts: Mapping[str, int]) -> tuple[str, ...]:
    """Pills of the kinds that there are, with their counts; all pages of statistics share them."""
    chosen = st.pills(
        "Leave out",
        list(counts),
        selection_mode="multi",
        key=widgets.filter_key(study, LEAVE_OUT),
        persist_state="session",
        format_func=lambda kind: f"{_NAMES[kind].capitalize()} {counts[kind]:,}",
        help=_HELP,
    )
    for kind in counts:
        st.caption(plain(f"{_NAMES[kind].capitalize()}: {left_out.KIND_HELP[kind]}"))
    return tuple(kind for kind in LEFT_OUT_KINDS if kind in chosen)


def count_kinds(studies: Sequence[str]) -> dict[str, int]:
    """How many answers of these studies are of each kind; kinds without any are left out."""
    codes = tuple(studies)
    revision = repr((workspace().process, analyses.revision(workspace(), codes)))
    counts = _counted(revision, codes)
    return {kind: counts[kind] for kind in LEFT_OUT_KINDS if counts[kind]}


@st.cache_data(max_entries=50, show_spinner=False)
def _counted(revision: str, studies: tuple[str, ...]) -> dict[str, int]:
    """The counts, kept as long as the answers (`revision`) stay the same."""
    return left_out.answer_kinds(workspace(), studies)


def words(kinds: Sequence[str]) -> list[str]:
    """What is left out, as a phrase beside those of the filters."""
    return [f"Left out: {', '.join(_NAMES[kind] for kind in kinds)}"] if kinds else []


def _read_address(study: str, counts: Mapping[str, int]) -> None:
    """Take over what a link, or the address after a reload, leaves out of this study."""
    asked = st.query_params.get_all(LEAVE_OUT)
    written = st.session_state.get(_WRITTEN)
    if asked and (written is None or (written[0] == study and written[1] != asked)):
        kinds = [kind for kind in asked if kind in counts]
        st.session_state[widgets.filter_key(study, LEAVE_OUT)] = kinds


def show_changes(changes: ResultTable, sentence: str, file_stem: str) -> None:
    """The sentence on what leaving out changes, the table of changes, and its file."""
    st.markdown(plain(sentence))
    st.markdown(f"**{plain(changes.title)}**")
    rows = count_text(len(changes.frame), "row")
    results.numbers(changes, alt=f"{changes.title}, with and without answers left out: {rows}")
    widgets.download(
        "CSV",
        analyses.export.table_csv(changes),
        f"{file_stem}-{changes.name}-left_out.csv",
        key=f"csv:left_out:{changes.name}",
    )
