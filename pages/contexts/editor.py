"""The open set: personas in a grid, conversations one at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.languages import language_name, offered_languages
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
    TEXT_IN,
    VARIANT_OF,
    language_code,
)
from pages.contexts.new_sets import beginning, leave_message
from pages.shared import grids, widgets
from pages.shared.draft_form import LongTextField, TextField, draw_field

# The grid of a set: the state it shows, and the state that is saved.
#
# The grid is drawn from one base, so that it never loses the cursor or a second edit. Each of its
# reports is applied to that base and saved at once. The database is the truth.

_EDITOR = "contexts_desk"
_NUMBER = "contexts_grid_number"
_DRAWN_ANEW = -1  # no grid has this number, so that the next run makes a new one
_NEWER = "This set was changed in another tab or window. The page now shows the newer state."
Apply = Callable[[tuple[Context, ...], GridEdits], tuple[Context, ...]]


@dataclass(eq=False)
class SetEditor:
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
        """Key of the grid; a new base gets a new key."""
        return f"contexts_grid_{self.number}"

    def catch_up(self) -> None:
        """Save the edits that the grid reports and the database does not hold yet."""
        edits = GridEdits.of(st.session_state.to_dict().get(self.key) or {}, len(self.frame))
        if not edits and self.saved == self.base:
            return
        changed = self.saved
        try:
            changed = self.apply(self.base, edits)
            if changed != self.saved:
                sets.save(widgets.workspace(), self.name, changed, expected=self.saved)
                self.saved = changed
        except UserError as error:
            self.problem = error
            self.unsaved = tuple(context for context in changed if context not in self.saved)
        else:
            self.forget()

    def forget(self) -> None:
        """Take the note on what was not saved away."""
        self.problem, self.unsaved = None, ()


def _open_editor(
    name: str, part: str, context_set: tuple[Context, ...], frame: pd.DataFrame, apply: Apply
) -> SetEditor:
    """The editor of this grid, with all edits saved and the newest state of the database."""
    editor: SetEditor | None = st.session_state.get(_EDITOR)
    if editor is None or (editor.name, editor.part) != (name, part):
        return _new_editor(name, part, context_set, frame, apply)
    if editor.key in st.session_state:
        before = editor.saved
        editor.catch_up()  # where Streamlit broke the callback off for the next click
        if editor.saved == context_set or editor.saved is not before:
            return editor
    editor_now = _new_editor(name, part, context_set, frame, apply)
    editor_now.problem, editor_now.unsaved = editor.problem, editor.unsaved
    if editor.saved != context_set:
        editor_now.note = _NEWER
    return editor_now


def _show_messages(editor: SetEditor) -> None:
    """The problem of the last edit, with the texts that could not be saved."""
    if editor.note:
        st.info(editor.note, icon=":material/sync:")
        editor.note = ""
    if editor.problem is not None:
        widgets.show_problem(editor.problem)
        for context in editor.unsaved[:20]:
            widgets.text_block(f"Not saved: {context.code}: {beginning(context)}")
        if editor.unsaved:
            st.button("I have copied what I need", key="contexts_seen", on_click=editor.forget)


def _save_now(name: str, change: Callable[[tuple[Context, ...]], tuple[Context, ...]]) -> bool:
    """Save a change made by a button or a field next to the grid, after what was typed in it.

    Returns whether that went well.
    """
    editor: SetEditor | None = st.session_state.get(_EDITOR)
    if editor is not None and editor.name == name:
        editor.catch_up()
    try:
        before = sets.load(widgets.workspace(), name)
        after = change(before)
        sets.save(widgets.workspace(), name, after, expected=before)
    except UserError as error:
        leave_message(error)
        return False
    if editor is not None and editor.name == name:
        editor.saved, editor.number = after, _DRAWN_ANEW
    return True


def _new_editor(
    name: str, part: str, context_set: tuple[Context, ...], frame: pd.DataFrame, apply: Apply
) -> SetEditor:
    number = st.session_state.get(_NUMBER, 0) + 1
    st.session_state[_NUMBER] = number
    editor = SetEditor(name, part, context_set, frame, apply, number, context_set)
    st.session_state[_EDITOR] = editor
    return editor


# Reading and editing a set: personas in a grid, conversations one at a time.

_CHOSEN = "context"


def editor_section(name: str) -> None:
    """The grid of personas, or the conversation that is chosen."""
    context_set = sets.load(widgets.workspace(), name)
    if any(context.messages for context in context_set):
        _one_context(name, context_set)
    else:
        _personas(name, context_set)


_MOST_CODES = 10  # named one by one
_ADDED_LANGUAGES = "contexts_languages:"  # + set: columns that nobody has typed into yet


def _add_language(name: str) -> None:
    """A box that adds a column for the personas in a further language."""
    key, added = f"contexts_add_language:{name}", _ADDED_LANGUAGES + name
    context_set = sets.load(widgets.workspace(), name)
    known = {*sets.translated_to(context_set), *(persona.language for persona in context_set)}

    def add() -> None:
        if chosen := st.session_state[key]:
            st.session_state[added] = (*st.session_state.get(added, ()), chosen)
            st.session_state[key] = None
            _save_now(name, lambda context_set: context_set)

    st.selectbox(
        "Add a language",
        [code for code in offered_languages() if code not in known],
        None,
        format_func=language_name,
        key=key,
        on_change=add,
        width=280,
        placeholder="Choose a language",
        help="A column for the personas in that language. A study that asks items in it takes the "
        "text of that column. A model can propose the texts under Rewrite with a model.",
    )


def _outdated(name: str, context_set: tuple[Context, ...]) -> None:
    """The personas whose translations were made from an earlier text, until somebody confirms."""
    codes = [persona.code for persona in context_set if persona.outdated]
    if not codes:
        return
    some = ", ".join(codes[:_MOST_CODES]) + (" ..." if len(codes) > _MOST_CODES else "")
    st.warning(
        widgets.plain(
            f"The text of {some} changed after it was translated. Change its translations, or say "
            "that they are still right."
        )
    )
    st.button(
        "The translations are still right",
        key=f"contexts_confirm:{name}",
        icon=":material/check:",
        on_click=_confirm,
        args=(name,),
    )


def _confirm(name: str) -> None:
    _save_now(name, sets.confirm_translations)


def _personas(name: str, context_set: tuple[Context, ...]) -> None:
    added = st.session_state.get(_ADDED_LANGUAGES + name, ())
    editor = _open_editor(
        name,
        "",
        context_set,
        sets.persona_rows(context_set, added),
        lambda base, edits: sets.edit_personas(base, edits),
    )
    _show_messages(editor)
    st.caption(
        "To edit a cell, double-click it or press Enter. To add personas, type into the empty "
        "rows at the end. To remove rows, tick them at the left and press Delete. Every change is "
        "saved at once. Frozen studies keep their texts."
    )
    _grid(
        editor,
        {
            CODE: st.column_config.TextColumn(
                "Code", width="small", help="Empty: the next free code."
            ),
            TEXT: st.column_config.TextColumn("Persona", width="large"),
            LANGUAGE: st.column_config.TextColumn("Language", width="small", help="Such as en."),
            VARIANT_OF: st.column_config.TextColumn("Rewritten from", width="small", disabled=True),
            **{
                column: st.column_config.TextColumn(_title(column), width="large")
                for column in editor.frame.columns
                if column.startswith(TEXT_IN)
            },
        },
        "Personas of the set: code, text and language",
        what="persona",
        single=TEXT,
    )
    _outdated(name, context_set)
    _add_language(name)


def _one_context(name: str, context_set: tuple[Context, ...]) -> None:
    by_code = {context.code: context for context in context_set}
    in_address = st.query_params.get(_CHOSEN, "")
    code = st.selectbox(
        f"Context (one of {len(context_set):,})",
        list(by_code),
        index=list(by_code).index(in_address) if in_address in by_code else 0,
        format_func=lambda chosen: f"{chosen}: {beginning(by_code[chosen])[:80]}",
        key=f"contexts_one:{name}:{len(context_set)}",
    )
    st.query_params[_CHOSEN] = code
    context = by_code[code]
    _language_field(name, context)
    if context.messages:
        _messages(name, context_set, context)
    else:
        _persona(name, context)
    st.button(
        "Remove this context from the set",
        key=f"contexts_remove:{name}:{code}",
        icon=":material/delete:",
        on_click=_remove,
        args=(name, code),
        disabled=len(context_set) == 1,
        help="Frozen studies keep their copy.",
    )


def _remove(name: str, code: str) -> None:
    _save_now(name, partial(sets.remove_context, code=code))


def _language_field(name: str, context: Context) -> None:
    draw_field(
        TextField("language", "Language", "not stated", width=220),
        f"contexts_tongue:{name}:{context.code}",
        context.language,
        partial(_set_field, name, context.code, "language"),
        "A code such as en, or an English name such as German.",
    )
    if context.variant_of:
        st.text(f"Rewritten from {context.variant_of}")


def _messages(name: str, context_set: tuple[Context, ...], context: Context) -> None:
    def apply(base: tuple[Context, ...], edits: Any) -> tuple[Context, ...]:
        before = next(context_now for context_now in base if context_now.code == context.code)
        edited = sets.edit_messages(before, edits)
        return sets.replace_context(base, context.code, edited)

    editor = _open_editor(name, context.code, context_set, sets.message_rows(context), apply)
    _show_messages(editor)
    st.caption(
        "To edit a cell, double-click it or press Enter. To add messages, type into the "
        "empty rows at the end. Every change is saved at once."
    )
    _grid(
        editor,
        {
            ROLE: st.column_config.SelectboxColumn("Role", options=list(ROLES), width="small"),
            CONTENT: st.column_config.TextColumn("Message", width="large"),
        },
        "Messages of the conversation: role and text",
        what="message",
        single=CONTENT,
    )
    with st.expander("As the model reads it", expanded=True):
        for message in context.messages:
            st.markdown(f"**{message['role'].capitalize()}**")
            widgets.text_block(message["content"], language=context.language)


def _persona(name: str, context: Context) -> None:
    draw_field(
        LongTextField("text", "Persona"),
        f"contexts_text:{name}:{context.code}",
        context.text,
        partial(_set_field, name, context.code, "text"),
    )


def _set_field(name: str, code: str, field: str, typed: str) -> None:
    typed = typed.strip()
    value = language_code(typed) if field == "language" else typed

    def change(context_set: tuple[Context, ...]) -> tuple[Context, ...]:
        before = next(context for context in context_set if context.code == code)
        changes: dict[str, Any] = {field: value}
        changed = sets.with_outdated(before, replace(before, **changes))
        return sets.replace_context(context_set, code, changed)

    _save_now(name, change)


def _grid(editor: SetEditor, columns: dict[str, Any], alt: str, *, what: str, single: str) -> None:
    grids.growing_grid(
        editor.frame, key=editor.key, columns=columns, on_change=editor.catch_up, alt=alt
    )
    redraw = partial(_save_now, editor.name, lambda context_set: context_set)
    grids.add_rows_button("contexts_more_rows", redraw, ())

    def add(rows: list[dict[str, str]]) -> bool:
        return _save_now(
            editor.name, lambda context_set: editor.apply(context_set, GridEdits({}, rows, ()))
        )

    titles = {name: _title(name) for name in editor.frame.columns}
    key = f"contexts_box:{editor.name}:{editor.part}"
    grids.box_of_rows(titles, single, key=key, what=what, add=add)


def _title(column: str) -> str:
    if column.startswith(TEXT_IN):
        return f"Persona, {language_name(column.removeprefix(TEXT_IN))}"
    return _TITLES[column]


_TITLES = {
    CODE: "Code",
    TEXT: "Persona",
    LANGUAGE: "Language",
    VARIANT_OF: "Rewritten from",
    ROLE: "Role",
    CONTENT: "Message",
}
