"""The parties of a bank with their leanings: add one, change its leaning, remove one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.instrument import LEANINGS
from core.workflow import bank_edits
from pages.shared.bank_desk import Desk


def party_form(desk: Desk, *, then: Callable[[], None]) -> None:
    """A form for a party and its leaning, and one to remove a party; `then` follows a new one."""
    name_key, leaning_key = desk.key("party_name"), desk.key("party_leaning")
    with st.form(desk.key("party_form"), border=True, clear_on_submit=True):
        left, right = st.columns(2)
        left.text_input(
            "Add a party", key=name_key, placeholder="Greenfield",
            help="The grid gets a column for its position on each item. The name of a party that "
            "is there changes its leaning.",
        )  # fmt: skip
        right.selectbox("Leaning", LEANINGS, key=leaning_key)
        st.form_submit_button(
            "Add party", icon=":material/add:", on_click=_set_party,
            args=(desk, name_key, leaning_key, then),
        )  # fmt: skip
    if desk.bank.parties:
        _removal(desk)


def _removal(desk: Desk) -> None:
    leanings = {party.code: f"{party.code} ({party.leaning})" for party in desk.bank.parties}
    key = desk.key("party_gone")
    with st.form(desk.key("party_removal"), border=True):
        st.selectbox("Parties", list(leanings), format_func=leanings.__getitem__, key=key)
        st.form_submit_button(
            "Remove this party and its positions", icon=":material/delete:", on_click=_remove_party,
            args=(desk, key),
        )  # fmt: skip


def _set_party(desk: Desk, name_key: str, leaning_key: str, then: Callable[[], None]) -> None:
    values = st.session_state.to_dict()
    name, leaning = str(values.get(name_key) or ""), str(values.get(leaning_key) or LEANINGS[0])
    if desk.commit(lambda bank: bank_edits.set_party(bank, name, leaning), "Party", redraw=True):
        then()


def _remove_party(desk: Desk, key: str) -> None:
    code = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: bank_edits.remove_party(bank, code), "Party removed", redraw=True)
