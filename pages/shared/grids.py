"""Tables that people type into: a grid with empty rows at its end, and a box for many rows.

A grid that grows by a line of its own takes the first keys typed into that line for itself. So
no grid of the app has such a line: empty rows are there before anybody types, and more come by a
button. What is pasted beyond the last row of a grid is lost, so rows in number go into the box.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit
import streamlit as st

from core.domain.numbers import count_text
from core.workflow.banks.grid import GridEdits, rows_of_text
from core.workflow.banks.pasted import pasted_rows
from pages.shared import widgets

EMPTY_ROWS = 10
_EDITORS = "static/static/js/*overlay-editor*.js"
"""Parts of Streamlit's table that the browser fetches when a cell is first edited."""
_ROW_PX, _MOST_ROWS = 35, 17


def fetch_editors() -> None:
    """Have the browser fetch the editors of cells before one is opened.

    While it fetches the first one, the next keys are lost.
    """
    st.html(f"<script>{_fetching()}</script>", unsafe_allow_javascript=True)


@cache
def _fetching() -> str:
    files = sorted(Path(streamlit.__file__).parent.glob(_EDITORS))
    names = [f"./static/js/{file.name}" for file in files]
    return f"for (const name of {json.dumps(names)}) import(new URL(name, location.href).href)"


def growing_grid(
    frame: pd.DataFrame,
    *,
    key: str,
    columns: Mapping[str, Any],
    alt: str,
    on_change: Callable[[], None] | None = None,
) -> pd.DataFrame:
    """A grid of a frame with empty rows to fill; rows are removed by ticking them and Delete."""
    shown = with_empty_rows(frame)
    edited: pd.DataFrame = st.data_editor(
        shown,
        key=key,
        num_rows="delete",
        hide_index=True,
        height=37 + _ROW_PX * min(len(shown), _MOST_ROWS),
        placeholder="",
        column_config=dict(columns),
        on_change=on_change,
        alt=alt,
    )
    fetch_editors()
    if _last_row_is_filled(st.session_state.to_dict().get(key) or {}, len(shown)):
        st.warning(
            "The last row is filled. What was pasted beyond it is not in the table: press "
            "'Add rows', or paste it into the box below.",
            icon=":material/playlist_add:",
        )
    return edited


def add_rows_button(key: str, on_click: Callable[..., Any], args: tuple[Any, ...] = ()) -> None:
    """The button for more empty rows; `on_click` has the grid drawn anew."""
    st.button(
        "Add rows",
        key=key,
        on_click=on_click,
        args=args,
        icon=":material/add:",
        help=f"{EMPTY_ROWS} more empty rows at the end of the table.",
    )


def with_empty_rows(frame: pd.DataFrame, number: int = EMPTY_ROWS) -> pd.DataFrame:
    """The frame with empty rows at its end."""
    whole = {name: "Int64" for name, kind in frame.dtypes.items() if kind == "int64"}
    empty = pd.DataFrame(index=range(number), columns=frame.columns, dtype="object")
    parts = [frame.astype(whole), empty.where(empty.notna(), None)]
    joined = pd.concat(parts, ignore_index=True) if len(frame) else parts[1]
    kinds = {name: whole.get(str(name), kind) for name, kind in frame.dtypes.items()}
    return joined.astype(kinds)


def spread_blocks(edited: pd.DataFrame) -> pd.DataFrame | None:
    """The rows with every pasted block as cells of its own; None where no cell holds a block.

    What is pasted into the editor of one cell comes as one text, with tabs and line ends.
    """
    if not any(map(_is_block, edited.to_numpy().ravel())):
        return None
    names = [str(name) for name in edited.columns]
    rows: list[dict[str, Any]] = []
    for cells in edited.dropna(how="all").to_dict("records"):
        block = next((n for n in names if _is_block(cells[n])), "")
        if not block:
            rows.append({str(name): value for name, value in cells.items()})
            continue
        before = {name: cells[name] for name in names[: names.index(block)]}
        more = rows_of_text(str(cells[block]), names[names.index(block) :], block)
        rows += [{**(before if place == 0 else {}), **row} for place, row in enumerate(more)]
    spread = pd.DataFrame(rows, columns=names, dtype="object")
    for name, kind in edited.dtypes.items():
        if pd.api.types.is_numeric_dtype(kind):
            spread[name] = pd.to_numeric(spread[name], errors="coerce")
    return spread


def _is_block(value: Any) -> bool:
    return isinstance(value, str) and ("\t" in value.strip() or "\n" in value.strip())


def _last_row_is_filled(state: Mapping[str, Any], n_rows: int) -> bool:
    cells = GridEdits.of(state).edited.get(n_rows - 1, {})
    return any(str(value or "").strip() for value in cells.values())


def box_of_rows(
    columns: Mapping[str, str],
    single: str,
    *,
    key: str,
    what: str,
    add: Callable[[list[dict[str, str]]], bool],
    opened: bool = False,
    hint: str = "",
    further: Callable[[str], Mapping[str, str]] = lambda _text: {},
) -> None:
    """A box to type or paste rows into, one a line.

    `columns` are those of the table with their titles; `further` gives those that the table gets
    for what was pasted. A line without tabs is the cell of the column `single`. `add` takes the
    rows, and says whether they are kept; the box is then emptied.
    """
    done = f"{key}:done"
    with st.expander(
        f"Type or paste {what}s, one per line", expanded=opened, icon=":material/playlist_add:"
    ):
        order = "; ".join(columns.values())
        st.text_area(
            f"New {what}s",
            key=key,
            height=150,
            label_visibility="collapsed",
            placeholder=f"One {what} per line{f'. {hint}' if hint else ''}\n"
            f"Or rows copied from a spreadsheet, with heads of columns or in this order: {order}",
        )
        st.button(
            f"Add these {what}s",
            key=f"{key}:add",
            icon=":material/add:",
            on_click=_add,
            args=(key, done, columns, single, what, add, further),
        )
    show_added(key)  # below the box, which may be folded


def show_added(key: str) -> None:
    """What became of the rows of the box with this key, once; where people look first."""
    added, left_out = st.session_state.pop(f"{key}:done", ("", ""))
    if added:
        st.success(added)
    if left_out:
        st.warning(left_out)


def _add(
    key: str,
    done: str,
    columns: Mapping[str, str],
    single: str,
    what: str,
    add: Callable[[list[dict[str, str]]], bool],
    further: Callable[[str], Mapping[str, str]],
) -> None:
    text = st.session_state.to_dict().get(key) or ""
    rows, left_out = pasted_rows(text, {**columns, **further(text)}, single)
    if rows and add(rows):
        st.session_state[key] = ""
        words = f"Left out, as the table has no such column: {', '.join(left_out)}."
        st.session_state[done] = (
            f"{count_text(len(rows), what)} added.",
            widgets.plain(words) if left_out else "",
        )
