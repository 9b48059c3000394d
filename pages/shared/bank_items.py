"""The items of a bank in a grid, a page of it at a time, and how one of them reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import Instrument
from core.workflow import bank_grid, bank_paste, banks
from core.workflow.bank_grid import CODE, KEYED, POSITION, SUBSCALE, TEXT, GridEdits
from pages.shared import widgets
from pages.shared.bank_desk import Desk, Grid
from pages.shared.bank_words import items_word, language_name, moved_words

ROWS_A_PAGE = 200
SEARCH = "bank_search"
MAX_PROBLEMS = 200
MAX_REMARKS = 10


def items_section(desk: Desk) -> None:
    """The grid with search, pages and what to know about new rows."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    search = left.text_input(
        "Find items", key=f"{SEARCH}_{desk.code}", icon=":material/search:", type="search",
        placeholder="Part of a code, subscale or text",
    )  # fmt: skip
    found = bank_grid.found_rows(desk.bank, search)
    n_pages = max(1, -(-len(found) // ROWS_A_PAGE))
    page = 1
    if n_pages > 1:
        with right:
            page = st.pagination(n_pages, key=f"bank_pages_{desk.code}_{n_pages}_{search}")
    rows = found[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE]
    _count_line(desk.bank, found, rows, search)
    _grid(desk, (search, page), rows)


def _count_line(
    bank: Instrument, found: tuple[int, ...], rows: tuple[int, ...], search: str
) -> None:
    if not bank.items:
        st.info(
            "This bank has no items yet. Type the first one into the first row of the table. Or "
            "copy rows in Excel (columns: code, subscale, keyed, text), click the empty cell "
            "under Code and paste them.",
            icon=":material/edit:",
        )
        return
    n_items = items_word(len(bank.items))
    of_all = f"{len(found):,} of {n_items} found" if search.strip() else n_items
    shown = "" if len(rows) == len(found) else f", {len(rows):,} of them in this part"
    st.caption(
        f"{of_all}{shown}. Double-click a cell (or press Enter) to edit it; the last, empty row "
        "adds an item; tick rows at the left and press Delete to remove them. To paste cells from "
        "Excel over these, click the first cell only once. To add rows, copy the columns code, "
        "subscale, keyed and text, click the empty cell under Code, and paste. Everything is saved "
        "as you go."
    )


def _grid(desk: Desk, showing: tuple[str, int], rows: tuple[int, ...]) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        return bank_grid.item_rows(bank, rows)

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        edits = bank_paste.spread(edits, base.languages)
        return replace(bank, items=bank_grid.edit_items(base.items, rows, edits))

    notes = st.container()
    grid = desk.grid("items", showing, frame, apply)
    if bank_paste.has_block(_edits(grid), grid.base.languages) and desk.unsaved is None:
        told = _remarks(grid)
        desk.redraw()
        grid = desk.grid("items", showing, frame, apply)
        grid.told = told
    with notes:
        _show_remarks((*grid.told, *_remarks(grid)))
    st.data_editor(
        grid.frame,
        key=grid.key,
        num_rows="dynamic",
        hide_index=True,
        height=_height(len(grid.frame)),
        placeholder="",
        column_config=_columns(grid.base),
        on_change=desk.catch_up,
        alt="Items of the bank: position, code, subscale, keying and text in each language",
    )
    moved = moved_words(_edits(grid), "items", "item_21")
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes", key=desk.key("redraw"), on_click=desk.redraw,
            icon=":material/refresh:",
        )  # fmt: skip


def _edits(grid: Grid) -> GridEdits:
    return grid.edits(st.session_state.to_dict())


def _remarks(grid: Grid) -> tuple[str, ...]:
    shown = [int(position) - 1 for position in grid.frame[POSITION]]
    return bank_paste.remarks(_edits(grid), grid.base.languages, grid.base.items, shown)


def _show_remarks(remarks: tuple[str, ...]) -> None:
    if not remarks:
        return
    st.warning("Not everything was taken as written:")
    for remark in remarks[:MAX_REMARKS]:
        st.text(f"• {remark}")
    if len(remarks) > MAX_REMARKS:
        st.text(f"and {len(remarks) - MAX_REMARKS:,} more")


def _height(n_rows: int) -> int:
    """Pixels for the header, the rows and some room for new ones, at most a screen."""
    return 37 + 35 * min(max(n_rows + 1, 6), 17)


def _columns(bank: Instrument) -> dict[str, Any]:
    config = st.column_config
    columns: dict[str, Any] = {
        POSITION: config.NumberColumn(
            "Position", step=1, min_value=1, width=105, pinned=True,
            help="Where the item stands in the questionnaire. Type another number to move it.",
        ),
        CODE: config.TextColumn(
            "Code", width=110, pinned=True,
            help="The short name of the item, the same in every language and in every result.",
        ),
        SUBSCALE: config.TextColumn(
            "Subscale", width=110, help="Items with the same subscale are scored together."
        ),
        KEYED: config.TextColumn(
            "Keyed", width=90, default=bank_grid.KEYED_WORDS[1],
            help="+ or 1, or for a reverse-keyed item −, -1, R or reverse; empty means +. "
            "Reverse-keyed: agreeing means less of what is measured; the points are turned round "
            "before scoring.",
        ),
    }  # fmt: skip
    for language in bank.languages:
        columns[TEXT + language] = config.TextColumn(
            f"Text, {language_name(language)}", width=320,
            help="What is asked. {entity} stands for a brand, party or person named by the design.",
        )  # fmt: skip
    return columns


def preview_section(desk: Desk) -> None:
    """One item with its response options, as it reads in a language."""
    bank = desk.bank
    if not bank.items:
        st.info("There is nothing to read yet: the bank has no items.")
        return
    columns = st.columns(3)
    place = columns[0].number_input(
        f"Item (1 to {len(bank.items):,})", 1, len(bank.items), key=f"bank_read_{desk.code}"
    )
    language = columns[1].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_read_in_{desk.code}"
    )
    code = ""
    if bank.formats:
        code = columns[2].selectbox(
            "Response options", [f.code for f in bank.formats], key=f"bank_read_with_{desk.code}"
        )
    item = bank.items[int(place) - 1]
    keyed = "reverse-keyed" if item.keyed < 0 else "keyed +"
    subscale = f"subscale {item.subscale}" if item.subscale else "no subscale"
    with st.container(border=True):
        st.text(f"{item.code} · {subscale} · {keyed}")
        if item.text(language):
            widgets.text_block(item.text(language), language=language)
        else:
            st.warning("This item has no text in this language yet.")
        response_format = bank.format(code)
        for option in response_format.options if response_format else ():
            label = option.labels.get(language, "") or "(no label)"
            widgets.text_block(f"○ {label}", language=language)
    st.caption("The exact request a model receives, with its instructions, is shown on Design.")


def problems_section(desk: Desk) -> None:
    """What a study would stumble over, by item, in words."""
    found = banks.bank_problems(desk.bank)
    if not found:
        st.success("Nothing to mend: a study can use this bank.", icon=":material/check:")
        return
    n_blocking = sum(problem.blocks for problem in found)
    st.write(
        f"{len(found):,} to look at; {n_blocking:,} would stop a study; the rest are gaps that "
        "matter only for a study in that language."
    )
    rows = [
        {
            "Weight": "Stops a study" if problem.blocks else "Gap",
            "Where": problem.where,
            "What": problem.what,
        }
        for problem in sorted(found, key=lambda problem: not problem.blocks)[:MAX_PROBLEMS]
    ]
    if len(found) > len(rows):
        st.caption(f"The first {len(rows):,} are listed.")
    widgets.table(pd.DataFrame(rows), alt=f"Problems of the bank: {len(rows)} rows")
