"""The items of a bank in a grid, a page of it at a time, languages and forms side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.instrument import Instrument
from core.workflow import bank_columns, bank_gaps, bank_grid, bank_paste
from core.workflow.bank_columns import POSITION, TEXT
from core.workflow.bank_grid import GridEdits
from pages.shared.bank_columns import choose_columns, column_settings
from pages.shared.bank_desk import Desk, Grid
from pages.shared.bank_directions import directions_expander
from pages.shared.bank_preview import show_groups
from pages.shared.bank_words import column_title, gaps_words, moved_words

_ROWS_A_PAGE = 200
_SEARCH = "bank_search"
_MAX_REMARKS = 10


def items_section(desk: Desk) -> None:
    """The grid with search, columns, pages, and what is missing or wrong."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    search = left.text_input(
        "Find items", key=f"{_SEARCH}_{desk.code}", icon=":material/search:", type="search",
        placeholder="Part of a code, subscale or text",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        columns = choose_columns(desk)
        only = st.toggle(
            "Only items with a problem", key=f"bank_only_{desk.code}",
            help="Items that lack a text in the columns shown, hold a draft nobody reviewed, or "
            "are named below.",
        )  # fmt: skip
    texts = [bank_columns.text_column(name) for name in columns if name.startswith(TEXT)]
    problems = bank_gaps.problems_besides_gaps(desk.bank)
    among = bank_gaps.troubled_rows(desk.bank, texts, problems) if only else None
    found = bank_grid.found_rows(desk.bank, search, among)
    n_pages = max(1, -(-len(found) // _ROWS_A_PAGE))
    page = 1
    if n_pages > 1:
        with right:
            page = st.pagination(n_pages, key=f"bank_pages_{desk.code}_{n_pages}_{search}_{only}")
    rows = found[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    # What changes with each edit stands below the grid, which would slide under the mouse else.
    _how_to_edit(columns)
    _grid(desk, (search, only, page, columns), rows, columns)
    _count_line(desk.bank, found, rows)
    if desk.bank.items:
        st.text(gaps_words(bank_gaps.gaps(desk.bank, texts)))
        show_groups(bank_gaps.grouped(problems))
    directions_expander(desk)


def _how_to_edit(columns: tuple[str, ...]) -> None:
    order = "; ".join(column_title(name) for name in columns[:4])
    order += "; …" if len(columns) > 4 else ""
    st.caption(
        "Double-click a cell (or press Enter) to edit it; the last, empty row adds an item; tick "
        "rows at the left and press Delete to remove them. To paste cells from Excel over these, "
        "click the first cell only once. To add rows, copy columns in the order shown "
        f"({order}), click the empty cell under Code, and paste. Everything is saved as you go."
    )


def _count_line(bank: Instrument, found: tuple[int, ...], rows: tuple[int, ...]) -> None:
    if not bank.items:
        st.info(
            "This bank has no items yet. Type the first one into the first row of the table.",
            icon=":material/edit:",
        )
        return
    n_items = counted(len(bank.items), "item")
    of_all = f"{len(found):,} of {n_items} found" if len(found) < len(bank.items) else n_items
    shown = "" if len(rows) == len(found) else f", {len(rows):,} of them in this part"
    st.caption(f"{of_all}{shown}.")


def _grid(desk: Desk, showing: object, rows: tuple[int, ...], columns: tuple[str, ...]) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        return bank_grid.item_rows(bank, rows, columns)

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        edits = bank_paste.spread(edits, columns)
        return replace(bank, items=bank_grid.edit_items(base.items, rows, edits))

    grid = desk.grid("items", showing, frame, apply)
    if bank_paste.has_block(_edits(grid), columns) and desk.unsaved is None:
        told = _remarks(grid, columns)
        desk.redraw()
        grid = desk.grid("items", showing, frame, apply)
        grid.told = told
    st.data_editor(
        grid.frame,
        key=grid.key,
        num_rows="dynamic",
        hide_index=True,
        height=_height(len(grid.frame)),
        placeholder="",
        column_config=column_settings((POSITION, *columns)),
        on_change=desk.catch_up,
        alt="Items of the bank: position, code, facts, and text in each language and form",
    )
    show_remarks((*grid.told, *_remarks(grid, columns)))
    codes = [item.code for item in grid.base.items], [item.code for item in desk.bank.items]
    moved = moved_words(_edits(grid), "item", *codes)
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes", key=desk.key("redraw"), on_click=desk.redraw,
            icon=":material/refresh:",
        )  # fmt: skip


def _edits(grid: Grid) -> GridEdits:
    return grid.edits(st.session_state.to_dict())


def _remarks(grid: Grid, columns: Sequence[str]) -> tuple[str, ...]:
    shown = [int(position) - 1 for position in grid.frame[POSITION]]
    return bank_paste.remarks(_edits(grid), columns, grid.base.items, shown)


def show_remarks(remarks: tuple[str, ...]) -> None:
    """What was typed or pasted and not taken as written, the first few in words."""
    if not remarks:
        return
    st.warning("Not everything was taken as written:")
    for remark in remarks[:_MAX_REMARKS]:
        st.text(f"• {remark}")
    if len(remarks) > _MAX_REMARKS:
        st.text(f"and {len(remarks) - _MAX_REMARKS:,} more")


def _height(n_rows: int) -> int:
    """Pixels for the header, the rows and some room for new ones, at most a screen."""
    return 37 + 35 * min(max(n_rows + 1, 6), 17)
