"""Keeping contexts as a set, going to a set, and how contexts look in a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.study import Context
from core.errors import UserError
from core.workflow import contexts
from core.workflow.opening import open_workspace
from pages.shared import widgets

SET_PARAMETER = "set"
_DONE = "contexts_done"
_SHOWN = 200
_LONGEST = 300


def go_to(name: str | None) -> None:
    """Put a set into the address, so that a reload shows it again; None: the list."""
    if name is None:
        st.query_params.pop(SET_PARAMETER, None)
    else:
        st.query_params[SET_PARAMETER] = name


def show_done() -> None:
    """What the last click came to, once."""
    done = st.session_state.pop(_DONE, None)
    if isinstance(done, UserError):
        widgets.show_problem(done)
    elif done:
        st.success(done)


def tell(done: str | UserError) -> None:
    """Have the next run show what a click came to; text may be Markdown."""
    st.session_state[_DONE] = done


def keep_as_set(found: tuple[Context, ...], wish: str, *, key: str, made: str) -> None:
    """A name and a button that keeps the contexts as a set and opens it."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Name of the set", value=wish, key=f"contexts_name:{key}:{wish}",
        help="Under this name designs offer the set. A frozen study holds its own copy.",
    )  # fmt: skip
    exists = name.strip() in contexts.sets(widgets.workspace())
    if exists:
        st.warning("There is a set of that name; saving replaces it. Frozen studies keep theirs.")
    right.button(
        "Replace the set" if exists else "Save as set", key=f"contexts_save:{key}", type="primary",
        icon=":material/save:", on_click=_save, args=(name, found, made), disabled=not found,
    )  # fmt: skip


def preview(found: Sequence[Context], alt: str) -> None:
    """The first contexts in a table, after a line that says how many there are."""
    st.text(contexts.describe(found)[:1].upper() + contexts.describe(found)[1:])
    if not found:
        return
    if len(found) > _SHOWN:
        st.caption(f"The first {_SHOWN}:")
    widgets.table(rows(found[:_SHOWN]), alt=f"{alt}: {len(found)}", column_config=_COLUMNS)


def rows(found: Sequence[Context]) -> pd.DataFrame:
    """One row per context: code, language, number of messages, and how it begins."""
    frame = pd.DataFrame(
        [(c.code, c.language, len(c.messages) or None, beginning(c), c.variant_of) for c in found],
        columns=["Code", "Language", "Messages", "Text", "Rewritten from"],
    )
    unused = [
        column
        for column in ("Language", "Messages", "Rewritten from")
        if not frame[column].fillna("").astype(str).str.strip().any()
    ]
    return frame.drop(columns=unused)


def beginning(context: Context) -> str:
    """How a context begins: its persona, or its first message."""
    text = context.text or next((message["content"] for message in context.messages), "")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_COLUMNS = {
    "Code": st.column_config.TextColumn(width="small"),
    "Language": st.column_config.TextColumn(width="small"),
    "Messages": st.column_config.NumberColumn(width="small"),
    "Text": st.column_config.TextColumn(width="large"),
    "Rewritten from": st.column_config.TextColumn(width="small"),
}


def _save(name: str, found: tuple[Context, ...], made: str) -> None:
    try:
        contexts.save(open_workspace(), name, found, made=made)
    except UserError as error:
        tell(error)
        return
    kept = counted(len(found), "context is", "contexts are")
    tell(f"{kept} kept as {widgets.plain(name.strip())}.")
    go_to(name.strip())
