"""The grid of a set in this browser tab: what it was drawn from, and what of it is saved.

The grid keeps being drawn from one base, so that it never loses the cursor or a second edit; each
of its reports is applied to that base and saved at once. The database stays the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.domain.study import Context
from core.errors import UserError
from core.workflow import contexts
from core.workflow.bank_grid import GridEdits
from core.workflow.opening import open_workspace
from pages.shared import widgets
from pages.shared.contexts_keeping import beginning, tell

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
                contexts.save(open_workspace(), self.name, changed, expected=self.saved)
                self.saved = changed
        except UserError as error:
            self.problem = error
            self.unsaved = tuple(one for one in changed if one not in self.saved)
        else:
            self.forget()

    def forget(self) -> None:
        """Take the note on what was not saved away."""
        self.problem, self.unsaved = None, ()


def open_desk(
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


def show_messages(desk: Desk) -> None:
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


def save_now(name: str, change: Callable[[tuple[Context, ...]], tuple[Context, ...]]) -> None:
    """Save a change made by a button or a field next to the grid, after what was typed in it."""
    desk: Desk | None = st.session_state.get(_DESK)
    if desk is not None and desk.name == name:
        desk.catch_up()
    try:
        before = contexts.load(open_workspace(), name)
        after = change(before)
        contexts.save(open_workspace(), name, after, expected=before)
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
