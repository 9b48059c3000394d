"""Sets of response options: a grid of codes, points, stance and labels, and rules of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain import formats
from core.domain.instrument import MIDPOINTS, Instrument, ResponseFormat
from core.workflow.banks import editing
from core.workflow.banks import grid as bank_grid
from core.workflow.banks import grid as bank_paste
from core.workflow.banks.grid import CODE, MOODS, POINTS, POSITION, STANCE, TEXT, GridEdits
from pages.banks.items import show_remarks
from pages.banks.open_bank import Desk, language_name, moved_words

_BUILT_IN_LANGUAGES = sorted(
    {
        language
        for found in formats.BUILT_IN.values()
        for option in found.options
        for language in option.labels
    }
)


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
    found = bank.format(code)
    if found is None:
        return
    if found.is_free_text:
        st.info("This set has no options: what a model writes is kept as a text.")
    _rules(desk, found)
    _grid(desk, code, _label_languages(desk, found))
    st.caption(
        "Points are what an answer scores; leave them empty for an option that is not scored, such "
        "as “don't know”. The stance says whether an answer is for, against, or neither; results "
        "that make answers 0 or 1 go by it. Everything is saved as you go."
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


def _rules(desk: Desk, found: ResponseFormat) -> None:
    """How a neutral option counts, and which wording of an item this set takes."""
    left, right = st.columns(2)
    midpoint_key, mood_key = desk.key(f"midpoint_{found.code}"), desk.key(f"mood_{found.code}")
    left.selectbox(
        "A neutral answer counts as", list(MIDPOINTS), list(MIDPOINTS).index(found.midpoint),
        format_func=MIDPOINTS.__getitem__, key=midpoint_key, on_change=_keep_rules,
        args=(desk, found.code, midpoint_key, mood_key),
        help="Where answers are made 0 or 1: what becomes of an option whose stance is neutral.",
    )  # fmt: skip
    moods = ["", *MOODS]
    right.selectbox(
        "Takes items worded as", moods, moods.index(found.mood) if found.mood in moods else 0,
        format_func=lambda mood: mood or "any: the text without a mood", key=mood_key,
        on_change=_keep_rules, args=(desk, found.code, midpoint_key, mood_key),
        help="Where an item has a text of that mood, these options are asked with it; where it "
        "has none, with its text for any.",
    )  # fmt: skip


def _keep_rules(desk: Desk, code: str, midpoint_key: str, mood_key: str) -> None:
    values = st.session_state.to_dict()
    midpoint, mood = str(values.get(midpoint_key)), str(values.get(mood_key) or "")
    desk.commit(lambda bank: editing.set_rules(bank, code, midpoint=midpoint, mood=mood), "Rules")


def _label_languages(desk: Desk, found: ResponseFormat) -> list[str]:
    """The languages whose labels are shown: those of the bank until others are chosen."""
    own = desk.bank.languages
    labelled = (language for option in found.options for language in option.labels)
    known = list(dict.fromkeys([*own, *labelled, *editing.LANGUAGES]))
    return st.multiselect(
        "Labels in", known, list(own), format_func=language_name,
        key=f"bank_labels_{desk.code}_{hash(own)}",
        help="Labels can be written in any language, also before the items are translated.",
    )  # fmt: skip


def _grid(desk: Desk, code: str, languages: list[str]) -> None:
    columns = (CODE, POINTS, STANCE, *(TEXT + language for language in languages))

    def frame(bank: Instrument) -> pd.DataFrame:
        found = bank.format(code)
        return bank_grid.option_rows(bank, found, languages) if found else pd.DataFrame()

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        found = base.format(code)
        if found is None:
            return bank
        options = bank_grid.edit_options(found.options, bank_paste.spread_blocks(edits, columns))
        return editing.with_format(bank, code, options)

    def remarks() -> tuple[str, ...]:
        edits = grid.edits(st.session_state.to_dict())
        return bank_paste.option_remarks(edits, columns, [str(c) for c in grid.frame[CODE]])

    showing = (code, tuple(languages))
    grid = desk.grid("options", showing, frame, apply)
    edits = grid.edits(st.session_state.to_dict())
    if bank_paste.has_block(edits, columns) and desk.unsaved is None:
        told = remarks()
        desk.redraw()
        grid = desk.grid("options", showing, frame, apply)
        grid.told = told
    st.data_editor(
        grid.frame,
        key=grid.key,
        num_rows="dynamic",
        hide_index=True,
        placeholder="",
        column_config=_columns(languages),
        on_change=desk.catch_up,
        alt="Response options: position, code, points, stance and label in each language",
    )
    show_remarks((*grid.told, *remarks()))
    codes = [[o.code for o in f.options] if (f := bank.format(code)) else []
             for bank in (grid.base, desk.bank)]  # fmt: skip
    moved = moved_words(grid.edits(st.session_state.to_dict()), "option", *codes)
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes", key=desk.key("redraw"), on_click=desk.redraw,
            icon=":material/refresh:",
        )  # fmt: skip


def _columns(languages: Sequence[str]) -> dict[str, Any]:
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
        # Not a list to choose from: pasted into one, words it does not know would be dropped.
        STANCE: config.TextColumn(
            "Stance", width=120,
            help="Whether the answer is for or against what the item says, or neither: +1 or for, "
            "−1 or against, 0 or neutral; empty where it is none of them.",
        ),
    }  # fmt: skip
    for language in languages:
        columns[TEXT + language] = config.TextColumn(
            f"Label, {language_name(language)}", width=220, help="The words that are shown."
        )
    return columns


def _choose_built_in(label: str, key: str, *extra: str) -> None:
    titles = {**formats.TITLES, "": "Options of your own"}
    st.selectbox(label, [*formats.BUILT_IN, *extra], format_func=titles.__getitem__, key=key)


def _replace_form(desk: Desk, code: str) -> None:
    key = desk.key("replacement")
    with st.form(desk.key("replace_form"), border=False):
        _choose_built_in("Built-in set", key)
        named = ", ".join(language_name(language) for language in _BUILT_IN_LANGUAGES)
        st.caption(f"Labels come along in {named}. Undo brings the old set back.")
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
        lambda bank: editing.replace_format(bank, code, new), "Options replaced", redraw=True
    )


def _add(desk: Desk, key: str, name_key: str) -> None:
    values = st.session_state.to_dict()
    code = str(values.get(key) or values.get(name_key) or "")
    desk.commit(lambda bank: editing.add_format(bank, code), "Options added", redraw=True)


def _remove(desk: Desk, code: str) -> None:
    desk.commit(lambda bank: editing.remove_format(bank, code), "Options removed", redraw=True)
