"""How agreeing with each form of an item relates to agreeing with its original."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument import INVERTED_FORMS, ORIGINAL, Instrument
from core.workflow import bank_edits
from pages.shared import widgets
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import form_word

_WORDS = {1: "same", -1: "inverted"}


def directions_expander(desk: Desk) -> None:
    """The directions of the forms: by name, and the items whose forms differ from it."""
    forms = [form for form in desk.bank.forms() if form != ORIGINAL]
    if not forms or not desk.bank.items:
        return
    with st.expander("Directions of the forms"):
        st.caption(
            "Same: who agrees with the original agrees with this form too. Inverted: who agrees "
            "with the original disagrees with it, and its answers are turned round. The name of a "
            "form decides, unless an item says otherwise."
        )
        codes = [item.code for item in desk.bank.items]
        code = st.selectbox("Item", codes, key=f"bank_direction_of_{desk.code}")
        columns = st.columns(3)
        for place, form in enumerate(forms):
            with columns[place % 3]:
                _choice(desk, str(code), form)
        _exceptions(desk.bank)


def _choice(desk: Desk, code: str, form: str) -> None:
    item = desk.bank.item(code)
    key = desk.key(f"direction_{code}_{form}")
    by_name = _WORDS[-1 if form in INVERTED_FORMS else 1]
    options = {None: f"{by_name} (by its name)", 1: _WORDS[1], -1: _WORDS[-1]}
    chosen = item.directions.get(form) if item else None
    st.selectbox(
        form_word(form), list(options), list(options).index(chosen), key=key,
        format_func=options.__getitem__, on_change=_keep, args=(desk, code, form, key),
    )  # fmt: skip


def _exceptions(bank: Instrument) -> None:
    rows = [
        {"Item": item.code, "Form": form_word(form), "Direction": _WORDS[direction]}
        for item in bank.items
        for form, direction in item.directions.items()
        if direction in _WORDS
    ]
    if rows:
        widgets.table(pd.DataFrame(rows), alt=f"Directions that items set themselves: {len(rows)}")
    else:
        st.caption("Every item goes by the names of its forms.")


def _keep(desk: Desk, code: str, form: str, key: str) -> None:
    direction = st.session_state.to_dict().get(key)
    desk.commit(
        lambda bank: bank_edits.set_direction(bank, code, form, direction), "Direction", redraw=True
    )
