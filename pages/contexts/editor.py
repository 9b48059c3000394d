"""The open set: personas in a grid, conversations one at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.study import Context
from core.errors import UserError
from core.workflow.banks.grid import GridEdits
from core.workflow.contexts import sets
from core.workflow.contexts.sets import (
    CODE,
    CONTENT,
    LANGUAGE,
    ROLE,
    ROLES,
    TEXT,
    VARIANT_OF,
    language_code,
)
from core.workflow.opening import open_workspace
from pages.contexts.new_sets import beginning, tell
from pages.shared import widgets

# The grid of a set in this browser tab: what it was drawn from, and what of it is saved.
#
# The grid keeps being drawn from one base, so that it never loses the cursor or a second edit; each
# of its reports is applied to that base and saved at once. The database stays the truth.

_DESK = "contexts_desk"
_NUMBER = "contexts_grid_number"
_DRAWN_ANEW = -1  # no grid has this number, so that the next run makes a new one
_NEWER = "This set was changed in another tab or window. The newer state is shown."
Apply = Callable[[tuple[Context, ...], GridEdits], tuple[Context, ...]]


@dataclass(eq=False)
class Desk:
    """One grid being edited. Callbacks change it in place."""

    name: str
    part: str  # code of the conversation whose messages it shows; empty: all personas
    base: tuple[Context, ...]
    frame: pd.DataFrame
    apply: Apply
    number: int
    saved: tuple[Context, ...]
    problem: UserError | None = None
    unsaved: tuple[Context, ...] = ()
    note: str = ""

    @property
    def key(self) -> str:
        """Key of the grid, which lasts until it is drawn from something else."""
        return f"contexts_grid_{self.number}"

    def catch_up(self) -> None:
        """Save what the grid reports and the database does not hold yet."""
        edits = GridEdits.of(st.session_state.to_dict().get(self.key) or {})
        if not edits and self.saved == self.base:
            return
        changed = self.saved
        try:
            changed = self.apply(self.base, edits)
            if changed != self.saved:
                sets.save(open_workspace(), self.name, changed, expected=self.saved)
                self.saved = changed
        except UserError as error:
            self.problem = error
            self.unsaved = tuple(one for one in changed if one not in self.saved)
        else:
            self.forget()

    def forget(self) -> None:
        """Take the note on what was not saved away."""
        self.problem, self.unsaved = None, ()


def _open_desk(
    name: str, part: str, found: tuple[Context, ...], frame: pd.DataFrame, apply: Apply
) -> Desk:
    """The desk with this grid on it, everything typed saved, and the newest state known."""
    desk: Desk | None = st.session_state.get(_DESK)
    if desk is None or (desk.name, desk.part) != (name, part):
        return _fresh(name, part, found, frame, apply)
    if desk.key in st.session_state:
        before = desk.saved
        desk.catch_up()  # where Streamlit broke the callback off for the next click
        if desk.saved == found or desk.saved is not before:
            return desk
    fresh = _fresh(name, part, found, frame, apply)
    fresh.problem, fresh.unsaved = desk.problem, desk.unsaved
    if desk.saved != found:
        fresh.note = _NEWER
    return fresh


def _show_messages(desk: Desk) -> None:
    """What went wrong with the last edit, with what was typed where it could not be kept."""
    if desk.note:
        st.info(desk.note, icon=":material/sync:")
        desk.note = ""
    if desk.problem is not None:
        widgets.show_problem(desk.problem)
        for context in desk.unsaved[:20]:
            widgets.text_block(f"Not saved: {context.code}: {beginning(context)}")
        if desk.unsaved:
            st.button("I have copied what I need", key="contexts_seen", on_click=desk.forget)


def _save_now(name: str, change: Callable[[tuple[Context, ...]], tuple[Context, ...]]) -> None:
    """Save a change made by a button or a field next to the grid, after what was typed in it."""
    desk: Desk | None = st.session_state.get(_DESK)
    if desk is not None and desk.name == name:
        desk.catch_up()
    try:
        before = sets.load(open_workspace(), name)
        after = change(before)
        sets.save(open_workspace(), name, after, expected=before)
    except UserError as error:
        tell(error)
        return
    if desk is not None and desk.name == name:
        desk.saved, desk.number = after, _DRAWN_ANEW


def _fresh(
    name: str, part: str, found: tuple[Context, ...], frame: pd.DataFrame, apply: Apply
) -> Desk:
    number = st.session_state.get(_NUMBER, 0) + 1
    st.session_state[_NUMBER] = number
    desk = Desk(name, part, found, frame, apply, number, found)
    st.session_state[_DESK] = desk
    return desk


# Reading and editing a set: personas in a grid, conversations one at a time.

_CHOSEN = "context"


def editor_section(name: str) -> None:
    """The grid of personas, or the conversation that is chosen."""
    found = sets.load(widgets.workspace(), name)
    if any(context.messages for context in found):
        _one_of(name, found)
    else:
        _personas(name, found)


def _personas(name: str, found: tuple[Context, ...]) -> None:
    desk = _open_desk(
        name, "", found, sets.persona_rows(found),
        lambda base, edits: sets.edit_personas(base, edits),
    )  # fmt: skip
    _show_messages(desk)
    st.caption(
        "Double-click a cell (or press Enter) to edit it; the last, empty row adds a persona; tick "
        "rows at the left and press Delete to remove them. Everything is saved as you go. Frozen "
        "studies keep the texts they were frozen with."
    )
    _grid(
        desk,
        {
            CODE: st.column_config.TextColumn("Code", width="small", help="Empty: the next one."),
            TEXT: st.column_config.TextColumn("Persona", width="large"),
            LANGUAGE: st.column_config.TextColumn("Language", width="small", help="Such as en."),
            VARIANT_OF: st.column_config.TextColumn("Rewritten from", width="small", disabled=True),
        },
        f"Personas of the set: {len(found)}",
    )


def _one_of(name: str, found: tuple[Context, ...]) -> None:
    by_code = {context.code: context for context in found}
    wished = st.query_params.get(_CHOSEN, "")
    code = st.selectbox(
        f"Context (one of {len(found):,})", list(by_code),
        index=list(by_code).index(wished) if wished in by_code else 0,
        format_func=lambda chosen: f"{chosen}: {beginning(by_code[chosen])[:80]}",
        key=f"contexts_one:{name}:{len(found)}",
    )  # fmt: skip
    st.query_params[_CHOSEN] = code
    context = by_code[code]
    _about(name, context)
    if context.messages:
        _messages(name, found, context)
    else:
        _persona(name, context)
    st.button(
        "Remove it from the set", key=f"contexts_remove:{name}:{code}", icon=":material/delete:",
        on_click=_save_now, args=(name, partial(sets.remove_context, code=code)),
        disabled=len(found) == 1, help="Frozen studies keep their copy.",
    )  # fmt: skip


def _about(name: str, context: Context) -> None:
    key = f"contexts_tongue:{name}:{context.code}"
    if st.session_state.get(key) != context.language:
        st.session_state[key] = context.language
    st.text_input(
        "Language", key=key, width=220, placeholder="not stated",
        on_change=_set_field, args=(name, context.code, key, "language"),
        help="A code such as en, or an English name such as German.",
    )  # fmt: skip
    if context.variant_of:
        st.text(f"Rewritten from {context.variant_of}")


def _messages(name: str, found: tuple[Context, ...], context: Context) -> None:
    def apply(base: tuple[Context, ...], edits: Any) -> tuple[Context, ...]:
        before = next(known for known in base if known.code == context.code)
        edited = sets.edit_messages(before, edits)
        return sets.replace_context(base, context.code, edited)

    desk = _open_desk(name, context.code, found, sets.message_rows(context), apply)
    _show_messages(desk)
    st.caption(
        "Double-click a cell (or press Enter) to edit it; the last, empty row adds a message. "
        "Everything is saved as you go."
    )
    _grid(
        desk,
        {
            ROLE: st.column_config.SelectboxColumn("Role", options=list(ROLES), width="small"),
            CONTENT: st.column_config.TextColumn("Message", width="large"),
        },
        f"Messages of the conversation: {len(context.messages)}",
    )
    with st.expander("As the model reads it", expanded=True):
        for message in context.messages:
            st.markdown(f"**{message['role'].capitalize()}**")
            widgets.text_block(message["content"], language=context.language)


def _persona(name: str, context: Context) -> None:
    key = f"contexts_text:{name}:{context.code}"
    if st.session_state.get(key) != context.text:
        st.session_state[key] = context.text
    st.text_area(
        "Persona", key=key, on_change=_set_field, args=(name, context.code, key, "text")
    )  # fmt: skip


def _set_field(name: str, code: str, key: str, field: str) -> None:
    typed = st.session_state[key].strip()
    value = language_code(typed) if field == "language" else typed

    def change(found: tuple[Context, ...]) -> tuple[Context, ...]:
        before = next(known for known in found if known.code == code)
        changes: dict[str, Any] = {field: value}
        return sets.replace_context(found, code, replace(before, **changes))

    _save_now(name, change)


def _grid(desk: Desk, columns: dict[str, Any], alt: str) -> None:
    st.data_editor(
        desk.frame,
        key=desk.key,
        num_rows="dynamic",
        hide_index=True,
        height=37 + 35 * min(max(len(desk.frame) + 1, 4), 14),
        placeholder="",
        column_config=columns,
        on_change=desk.catch_up,
        alt=alt,
    )
