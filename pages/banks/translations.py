"""Translations: the texts of a bank in two languages side by side, the second one to edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.domain.languages import language_name, offered_languages
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.banks import grid as bank_grid
from core.workflow.banks.editing import text_language
from core.workflow.banks.grid import (
    ACCEPTED,
    CODE,
    DRAFTER,
    EARLIER,
    SOURCE,
    TARGET,
    GridEdits,
    GridTextColumn,
)
from pages.banks.editor import BankEditor, form_word, show_messages
from pages.shared import grids

_ROWS_A_PAGE = 100
_TEXT_WIDTH = 380
_LETTERS_A_LINE = 52
_LINE_PX = 20
_MOST_LINES = 6
_LEAST_ROW_PX = 66  # Streamlit wraps text in rows that are this high
_GRID_PX = 460


def translations_section(editor: BankEditor) -> None:
    """Source and target language, and the texts of a form in both, row by row."""
    if not editor.bank.items:
        st.info("The bank has no items yet. Type them under Items first.")
        return
    places = _choose(editor)
    if places is None:
        return
    source, target, only = places
    rows = _rows(editor, target, only)
    page = 1
    n_pages = max(1, -(-len(rows) // _ROWS_A_PAGE))
    if n_pages > 1:
        page = st.pagination(n_pages, key=f"bank_translations_page_{editor.code}_{n_pages}")
    shown = rows[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    if shown:
        _grid(editor, source, target, (source, target, only, page), shown)
    else:
        st.info("Every item has a reviewed text in this language and form.")
    # What changes with each edit stands below the grid, so that the grid does not move.
    st.caption(_state_words(editor.bank, target))
    show_messages(editor)


def _choose(editor: BankEditor) -> tuple[GridTextColumn, GridTextColumn, bool] | None:
    """Source and target of the translation, and whether only the texts to do are shown."""
    bank, code = editor.bank, editor.code
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.selectbox(
            "From",
            bank.languages,
            format_func=language_name,
            width=220,
            key=f"bank_translate_from_{code}",
        )
        others = [known for known in bank.languages if known != source]
        offered = [known for known in offered_languages(others) if known != source]
        target = st.selectbox(
            "Into",
            offered,
            0 if others else None,
            format_func=language_name,
            width=240,
            accept_new_options=True,
            placeholder="Choose a language",
            key=f"bank_translate_into_{code}_{source}",
            help="The languages of the bank come first. A new language is added to the bank with "
            "its first text. For a language that is not in the list, type its code, such as "
            "pt-BR.",
        )
        texts = list(
            dict.fromkeys(
                [(ORIGINAL, ""), *((w.form, w.mood) for i in bank.items for w in i.wordings)]
            )
        )
        form, mood = st.selectbox(
            "Form", texts, format_func=_form_words, width=180, key=f"bank_translate_form_{code}"
        )
        only = st.toggle(
            "Only texts to do",
            key=f"bank_translate_only_{code}",
            help="Items whose text is missing, is a draft that nobody has reviewed, or translates "
            "an original that has changed since. An item that you have done stays until you change "
            "a choice above the table.",
        )
    if target is None:
        st.info("Choose the language to translate into.")
        return None
    try:
        language = text_language(target)
    except UserError as error:
        st.error(error.problem)
        return None
    return GridTextColumn(source, form, mood), GridTextColumn(language, form, mood), only


def _form_words(text: tuple[str, str]) -> str:
    form, mood = text
    return form_word(form) + (f" ({mood})" if mood else "")


def _rows(editor: BankEditor, target: GridTextColumn, only: bool) -> tuple[int, ...]:
    """Places of the items in the table; they stay the same while one types."""
    key = f"bank_translate_rows_{editor.code}"
    codes = tuple(item.code for item in editor.bank.items)
    choice = (target, only, editor.number, hash(codes))
    saved: tuple[object, tuple[int, ...]] | None = st.session_state.get(key)
    if saved is None or saved[0] != choice:
        every = tuple(range(len(editor.bank.items)))
        rows = bank_grid.rows_to_translate(editor.bank, target) if only else every
        saved = st.session_state[key] = (choice, rows)
    return saved[1]


def _grid(
    editor: BankEditor,
    source: GridTextColumn,
    target: GridTextColumn,
    showing: object,
    rows: Sequence[int],
) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        return bank_grid.translation_rows(bank, rows, source, target)

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        return bank_grid.edit_translations(bank, rows, target, edits)

    grid = editor.grid("translations", showing, frame, apply)
    # The frame stays as it was when the grid was drawn: the grid itself holds what was typed, and
    # another frame would take the cell away in which somebody types.
    row_px = _row_height(grid.frame)
    st.data_editor(
        grid.frame,
        key=grid.key,
        hide_index=True,
        height=min(row_px * len(grid.frame) + 40, _GRID_PX),
        row_height=row_px,
        placeholder="",
        disabled=[CODE, SOURCE, EARLIER, DRAFTER],
        column_config=_columns(source, target),
        on_change=editor.catch_up,
        alt=f"Items with their text in {language_name(source.language)} and in "
        f"{language_name(target.language)}",
    )
    grids.fetch_editors()


def _columns(source: GridTextColumn, target: GridTextColumn) -> dict[str, Any]:
    config = st.column_config
    return {
        CODE: config.TextColumn("Item", width=104, pinned=True),
        SOURCE: config.TextColumn(language_name(source.language), width=_TEXT_WIDTH),
        EARLIER: config.TextColumn(
            "Made from",
            width=_TEXT_WIDTH,
            help="The text in the first language of the bank that was translated, where it has "
            "changed since. Edit the translation, or accept it if it is still right.",
        ),
        DRAFTER: config.TextColumn(
            "Draft by",
            width=96,
            help="The model that wrote the text, which nobody has reviewed. A draft that you edit "
            "counts as reviewed.",
        ),
        ACCEPTED: config.CheckboxColumn(
            "Accept", width=70, help="Tick it to accept the text as it is."
        ),
        TARGET: config.TextColumn(
            language_name(target.language),
            width=_TEXT_WIDTH,
            help="Double-click a cell or press Enter to edit it; Enter goes on to the next row. "
            "Every change is saved at once.",
        ),
    }


def _row_height(frame: pd.DataFrame) -> int:
    """Pixels for the longest text of the table, within limits."""
    longest = max((len(str(t)) for name in (SOURCE, TARGET) for t in frame[name]), default=0)
    lines = min(-(-longest // _LETTERS_A_LINE), _MOST_LINES)
    return max(_LEAST_ROW_PX, _LINE_PX * lines + 12)


def _state_words(bank: Instrument, target: GridTextColumn) -> str:
    """How many target texts are missing, unreviewed or outdated, and how many are done."""
    todo = [bank.items[row] for row in bank_grid.rows_to_translate(bank, target)]
    written = [w for item in todo if (w := bank_grid.wording_of(item, target)) and w.text.strip()]
    n_drafts = sum(bool(wording.drafted_by) for wording in written)
    n_outdated = len(written) - n_drafts
    missing, done = len(todo) - len(written), len(bank.items) - len(todo)
    items = count_text(len(bank.items), "item")
    outdated = f", {n_outdated:,} made from a text that changed since" if n_outdated else ""
    return (
        f"{language_name(target.language)}: {done:,} of {items} done, {missing:,} missing, "
        f"{n_drafts:,} unreviewed{outdated}."
    )
