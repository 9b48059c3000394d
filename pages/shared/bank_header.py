"""The head of a bank's page: its title, when it was saved, and what can be done with all of it."""

from __future__ import annotations

from html import escape

import streamlit as st

from core.domain.counts import counted
from core.domain.instrument_problems import problems
from core.errors import UserError
from core.workflow import banks
from core.workflow.opening import open_workspace
from pages.shared import bank_list
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import counted_word, saved_words


def heading(title: str) -> None:
    """The title of the bank, to the letter."""
    # not st.subheader: Markdown makes a link of an address in a title, escaped or not
    style = "margin:0;padding:0;overflow-wrap:anywhere"
    st.html(f'<h2 dir="auto" style="{style}">{escape(title)}</h2>')


def header(desk: Desk) -> None:
    """What the bank is, and undo, redo, a copy, putting it away."""
    bank = desk.bank
    n_problems = len(problems(bank))
    parts = (
        saved_words(desk.saved_at) if desk.revision > 1 else "No changes yet",
        bank.code, counted_word(bank), ", ".join(bank.languages),
        *((counted(n_problems, "problem"),) if n_problems else ()),
        *(("put away",) if desk.state.archived else ()),
    )  # fmt: skip
    st.text(" · ".join(parts))
    with st.container(horizontal=True):
        st.button(
            "Undo", key="bank_undo", icon=":material/undo:", disabled=not desk.state.can_undo,
            on_click=desk.step, args=(banks.undo,), help="Take back the last change of this bank.",
        )  # fmt: skip
        st.button(
            "Redo", key="bank_redo", icon=":material/redo:", disabled=not desk.state.can_redo,
            on_click=desk.step, args=(banks.redo,), help="Bring back what was undone.",
        )  # fmt: skip
        st.button(
            "Duplicate", key="bank_duplicate", icon=":material/content_copy:", on_click=_duplicate,
            args=(desk,), help="A copy under a new code, free to edit.",
        )  # fmt: skip
        st.button(
            "Bring back" if desk.state.archived else "Put away", key="bank_archive",
            icon=":material/inventory_2:", on_click=_put_away, args=(desk,),
            help="A bank that is put away leaves the lists. Nothing is deleted.",
        )  # fmt: skip


def leave(desk: Desk) -> None:
    """Go back to the list, with everything typed saved."""
    desk.catch_up()
    bank_list.open_bank(None)


def _duplicate(desk: Desk) -> None:
    desk.catch_up()
    try:
        copy = banks.duplicate(open_workspace(), desk.code)
    except UserError as error:
        desk.problem = error
    else:
        bank_list.open_bank(copy.instrument.code)


def _put_away(desk: Desk) -> None:
    desk.catch_up()
    try:
        banks.set_archived(open_workspace(), desk.code, archived=not desk.state.archived)
    except UserError as error:
        desk.problem = error
    desk.is_fresh = False
