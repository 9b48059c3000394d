"""Sets of response options in a grid: codes, points, stance and a label in each language."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from core.domain import formats
from core.domain.instrument import Instrument
from core.workflow import bank_edits, bank_grid
from core.workflow.bank_grid import CODE, POINTS, POSITION, STANCE, TEXT, GridEdits
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import language_name, moved_words


def options_section(desk: Desk) -> None:
    """Choose a set, edit it, replace it by a built-in one, add or remove a set."""
    bank = desk.bank
    if not bank.formats:
        st.info("This bank has no response options yet. Add a set below.")
        _add_form(desk)
        return
    codes = [f.code for f in bank.formats]
    code = codes[0]
    if len(codes) > 1:
        code = st.selectbox(
            "Set of response options", codes, key=desk.key("set"),
            help="A study asks with the first set unless its design names another.",
        )  # fmt: skip
    else:
        st.text(f"Set: {code}")
    _grid(desk, code)
    st.caption(
        "Points are what an answer scores; leave them empty for an option that is not scored, such "
        "as “don't know”. Everything is saved as you go."
    )
    left, middle, right = st.columns(3)
    with left.popover("Replace by a built-in set", icon=":material/swap_horiz:"):
        _replace_form(desk, code)
    with middle.popover("Add another set", icon=":material/add:"):
        _add_form(desk)
    with right.popover("Remove this set", icon=":material/delete:"):
        st.write("Remove this set of response options? Undo brings it back.")
        st.button(
            "Yes, remove it", key=desk.key(f"remove_set_{code}"), type="primary",
            on_click=_remove, args=(desk, code),
        )  # fmt: skip


def _grid(desk: Desk, code: str) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        found = bank.format(code)
        return bank_grid.option_rows(bank, found) if found else pd.DataFrame()

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        found = base.format(code)
        if found is None:
            return bank
        return bank_edits.with_format(bank, code, bank_grid.edit_options(found.options, edits))

    grid = desk.grid("options", code, frame, apply)
    st.data_editor(
        grid.frame,
        key=grid.key,
        num_rows="dynamic",
        hide_index=True,
        placeholder="",
        column_config=_columns(grid.base),
        on_change=desk.catch_up,
        alt="Response options: position, code, points, stance and label in each language",
    )
    moved = moved_words(grid.edits(st.session_state.to_dict()), "options", "6")
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes", key=desk.key("redraw"), on_click=desk.redraw,
            icon=":material/refresh:",
        )  # fmt: skip


def _columns(bank: Instrument) -> dict[str, Any]:
    config = st.column_config
    columns: dict[str, Any] = {
        POSITION: config.NumberColumn("Position", step=1, min_value=1, width=105),
        CODE: config.TextColumn(
            "Code", width=90, help="What is stored for this answer, the same in every language."
        ),
        POINTS: config.NumberColumn(
            "Points", width=80,
            help="What this answer scores on an item that is not reverse-keyed.",
        ),
        STANCE: config.SelectboxColumn(
            "Stance", options=list(bank_grid.STANCE_WORDS.values()), width=120,
            help="Whether the answer is for or against what the item says, or neither.",
        ),
    }  # fmt: skip
    for language in bank.languages:
        columns[TEXT + language] = config.TextColumn(
            f"Label, {language_name(language)}", width=220, help="The words that are shown."
        )
    return columns


def _choose_built_in(label: str, key: str, *extra: str) -> None:
    titles = {**formats.titles, "": "Options of your own"}
    st.selectbox(label, [*formats.BUILT_IN, *extra], format_func=titles.__getitem__, key=key)


def _replace_form(desk: Desk, code: str) -> None:
    key = desk.key("replacement")
    with st.form(desk.key("replace_form"), border=False):
        _choose_built_in("Built-in set", key)
        st.caption("Labels are there in English, Spanish and German. Undo brings the old set back.")
        st.form_submit_button("Replace", type="primary", on_click=_replace, args=(desk, code, key))


def _add_form(desk: Desk) -> None:
    key, name_key = desk.key("added"), desk.key("added_name")
    with st.form(desk.key("add_form"), border=False):
        _choose_built_in("Set", key, "")
        st.text_input("Name, for options of your own", key=name_key, placeholder="frequency_5")
        st.form_submit_button("Add set", on_click=_add, args=(desk, key, name_key))


def _replace(desk: Desk, code: str, key: str) -> None:
    new = str(st.session_state.to_dict().get(key) or "")
    desk.commit(
        lambda bank: bank_edits.replace_format(bank, code, new), "Options replaced", redraw=True
    )


def _add(desk: Desk, key: str, name_key: str) -> None:
    values = st.session_state.to_dict()
    code = str(values.get(key) or values.get(name_key) or "")
    desk.commit(lambda bank: bank_edits.add_format(bank, code), "Options added", redraw=True)


def _remove(desk: Desk, code: str) -> None:
    desk.commit(lambda bank: bank_edits.remove_format(bank, code), "Options removed", redraw=True)
