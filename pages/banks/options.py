"""Sets of response options: a grid of codes, points, stance and labels, and rules of a set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain import formats
from core.domain.instrument import MIDPOINTS, Instrument, ResponseFormat
from core.domain.languages import language_name, offered_languages
from core.workflow.banks import editing
from core.workflow.banks import grid as bank_grid
from core.workflow.banks.grid import (
    CODE,
    MOODS,
    POINTS,
    POSITION,
    STANCE,
    STANCE_WORDS,
    TEXT,
    GridEdits,
)
from pages.banks.editor import BankEditor, moved_words
from pages.banks.items import show_remarks
from pages.shared import grids

_BUILT_IN_LANGUAGES = sorted(
    {
        language
        for built_in in formats.BUILT_IN.values()
        for option in built_in.options
        for language in option.labels
    }
)


def options_section(editor: BankEditor) -> None:
    """Choose a set, edit it, replace it by a built-in one, add or remove a set."""
    bank = editor.bank
    if not bank.formats:
        st.info("This bank has no response options yet. Add a set below.")
        _add_form(editor)
        return
    codes = [f.code for f in bank.formats]
    code = codes[0]
    if len(codes) > 1:
        code = st.selectbox(
            "Set of response options",
            codes,
            key=editor.key("set"),
            help="A study uses the first set unless its design names another.",
        )
    else:
        st.text(f"Set: {code}")
    response_format = bank.format(code)
    if response_format is None:
        return
    if response_format.is_free_text:
        st.info("This set has no options: the model's reply is saved as a text.")
    _rules(editor, response_format)
    _grid(editor, code, _label_languages(editor, response_format))
    st.caption(
        "Points are the score of an answer; leave them empty for an option without a score, such "
        "as “don't know”. The stance says whether an answer is for, against or neither; analyses "
        "that turn answers into 0 or 1 use it. Every change is saved at once."
    )
    left, middle, right = st.columns(3)
    with left.popover("Replace with a built-in set", icon=":material/swap_horiz:"):
        _replace_form(editor, code)
    with middle.popover("Add another set", icon=":material/add:"):
        _add_form(editor)
    with right.popover("Remove this set", icon=":material/delete:"):
        st.write("Remove this set of response options? Undo restores it.")
        st.button(
            "Yes, remove it",
            key=editor.key(f"remove_set_{code}"),
            type="primary",
            on_click=_remove,
            args=(editor, code),
        )


def _rules(editor: BankEditor, response_format: ResponseFormat) -> None:
    """How a neutral option counts, and which wording of an item this set takes."""
    left, right = st.columns(2)
    midpoint_key, mood_key = (
        editor.key(f"midpoint_{response_format.code}"),
        editor.key(f"mood_{response_format.code}"),
    )
    midpoints = list(MIDPOINTS)
    left.selectbox(
        "A neutral answer counts as",
        midpoints,
        midpoints.index(response_format.midpoint),
        format_func=MIDPOINTS.__getitem__,
        key=midpoint_key,
        on_change=_save_rules,
        args=(editor, response_format.code, midpoint_key, mood_key),
        help="How analyses that turn answers into 0 or 1 count an option with a neutral stance.",
    )
    moods = ["", *MOODS]
    right.selectbox(
        "Use item texts of mood",
        moods,
        moods.index(response_format.mood) if response_format.mood in moods else 0,
        format_func=lambda mood: mood or "any (the text without a mood)",
        key=mood_key,
        on_change=_save_rules,
        args=(editor, response_format.code, midpoint_key, mood_key),
        help="An item is asked with its text of this mood. If it has none, it is asked with its "
        "text without a mood.",
    )


def _save_rules(editor: BankEditor, code: str, midpoint_key: str, mood_key: str) -> None:
    values = st.session_state.to_dict()
    midpoint, mood = str(values.get(midpoint_key)), str(values.get(mood_key) or "")
    editor.commit(lambda bank: editing.set_rules(bank, code, midpoint=midpoint, mood=mood), "Rules")


def _label_languages(editor: BankEditor, response_format: ResponseFormat) -> list[str]:
    """The languages whose labels are shown: those of the bank until others are chosen."""
    own = editor.bank.languages
    labelled = (language for option in response_format.options for language in option.labels)
    known = list(offered_languages([*own, *labelled]))
    return st.multiselect(
        "Labels in",
        known,
        list(own),
        format_func=language_name,
        key=f"bank_labels_{editor.code}_{hash(own)}",
        help="You can write labels in any language, even before the items are translated.",
    )


def _grid(editor: BankEditor, code: str, languages: list[str]) -> None:
    columns = (CODE, POINTS, STANCE, *(TEXT + language for language in languages))

    def frame(bank: Instrument) -> pd.DataFrame:
        response_format = bank.format(code)
        return (
            bank_grid.option_rows(bank, response_format, languages)
            if response_format
            else pd.DataFrame()
        )

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        response_format = base.format(code)
        if response_format is None:
            return bank
        options = bank_grid.edit_options(
            response_format.options, bank_grid.spread_blocks(edits, columns)
        )
        return editing.with_format(bank, code, options)

    def remarks() -> tuple[str, ...]:
        edits = grid.edits(st.session_state.to_dict())
        return bank_grid.option_remarks(edits, columns, [str(c) for c in grid.frame[CODE]])

    showing = (code, tuple(languages))
    grid = editor.grid("options", showing, frame, apply)
    edits = grid.edits(st.session_state.to_dict())
    if bank_grid.has_block(edits, columns) and editor.unsaved is None:
        earlier_remarks = remarks()
        editor.redraw()
        grid = editor.grid("options", showing, frame, apply)
        grid.remarks = earlier_remarks
    grids.growing_grid(
        grid.frame,
        key=grid.key,
        columns=_columns(languages),
        on_change=editor.catch_up,
        alt="Response options: position, code, points, stance and label in each language",
    )
    show_remarks((*grid.remarks, *remarks()))
    grids.add_rows_button(editor.key("more_options"), editor.redraw)
    _box(editor, code, columns)
    codes = [
        [o.code for o in f.options] if (f := bank.format(code)) else []
        for bank in (grid.base, editor.bank)
    ]
    moved = moved_words(grid.edits(st.session_state.to_dict()), "option", *codes)
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes",
            key=editor.key("redraw"),
            on_click=editor.redraw,
            icon=":material/refresh:",
        )


def _box(editor: BankEditor, code: str, columns: tuple[str, ...]) -> None:
    """The box for several options at once."""
    own = f"bank_options_remarks_{editor.code}"

    def add(rows: list[dict[str, str]]) -> bool:
        edits = GridEdits({}, rows, ())
        st.session_state[own] = bank_grid.option_remarks(edits, columns, ())

        def change(bank: Instrument) -> Instrument:
            known = bank.format(code)
            options = bank_grid.edit_options(known.options if known else (), edits)
            return editing.with_format(bank, code, options)

        return editor.commit(change, "Options added", redraw=True)

    labels = [name for name in columns if name.startswith(TEXT)]
    if labels:
        titles = {name: name.capitalize() for name in (CODE, POINTS, STANCE)}
        titles |= {name: f"Label, {language_name(name.removeprefix(TEXT))}" for name in labels}
        key = f"bank_options_box_{editor.code}_{code}"
        grids.box_of_rows(titles, labels[0], key=key, what="option", add=add)
        show_remarks(st.session_state.pop(own, ()))


def _columns(languages: Sequence[str]) -> dict[str, Any]:
    config = st.column_config
    columns: dict[str, Any] = {
        POSITION: config.NumberColumn("Position", step=1, min_value=1, width=105),
        CODE: config.TextColumn(
            "Code", width=90, help="The code stored for this answer, the same in every language."
        ),
        POINTS: config.NumberColumn(
            "Points",
            width=80,
            help="The score of this answer on an item that is not reverse-keyed.",
        ),
        STANCE: config.SelectboxColumn(
            "Stance",
            width=130,
            options=list(STANCE_WORDS.values()),
            help="Whether the answer is for or against the item; empty if no stance fits. In the "
            "box below the table: +1 or for, −1 or against, 0 or neutral.",
        ),
    }
    for language in languages:
        columns[TEXT + language] = config.TextColumn(
            f"Label, {language_name(language)}", width=220, help="The words that models read."
        )
    return columns


def _choose_built_in(label: str, key: str, *extra: str) -> None:
    titles = {**formats.TITLES, "": "Options of your own"}
    st.selectbox(label, [*formats.BUILT_IN, *extra], format_func=titles.__getitem__, key=key)


def _replace_form(editor: BankEditor, code: str) -> None:
    key = editor.key("replacement")
    with st.form(editor.key("replace_form"), border=False):
        _choose_built_in("Built-in set", key)
        named = ", ".join(language_name(language) for language in _BUILT_IN_LANGUAGES)
        st.caption(f"The set has labels in {named}. Undo restores the old set.")
        st.form_submit_button(
            "Replace", type="primary", on_click=_replace, args=(editor, code, key)
        )


def _add_form(editor: BankEditor) -> None:
    key, name_key = editor.key("added"), editor.key("added_name")
    with st.form(editor.key("add_form"), border=False):
        _choose_built_in("Set", key, "")
        st.text_input("Name of your own options", key=name_key, placeholder="frequency_5")
        st.form_submit_button("Add set", on_click=_add, args=(editor, key, name_key))


def _replace(editor: BankEditor, code: str, key: str) -> None:
    new = str(st.session_state.to_dict().get(key) or "")
    editor.commit(
        lambda bank: editing.replace_format(bank, code, new), "Options replaced", redraw=True
    )


def _add(editor: BankEditor, key: str, name_key: str) -> None:
    values = st.session_state.to_dict()
    code = str(values.get(key) or values.get(name_key) or "")
    editor.commit(lambda bank: editing.add_format(bank, code), "Options added", redraw=True)


def _remove(editor: BankEditor, code: str) -> None:
    editor.commit(lambda bank: editing.remove_format(bank, code), "Options removed", redraw=True)
