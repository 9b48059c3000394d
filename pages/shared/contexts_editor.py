"""Reading and editing a set: personas in a grid, conversations one at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.domain.study import Context
from core.workflow import context_edits, contexts
from core.workflow.context_edits import CODE, CONTENT, LANGUAGE, ROLE, ROLES, TEXT, VARIANT_OF
from core.workflow.contexts import language_code
from pages.shared import widgets
from pages.shared.contexts_desk import Desk, open_desk, save_now, show_messages
from pages.shared.contexts_keeping import beginning

_CHOSEN = "context"


def editor_section(name: str) -> None:
    """The grid of personas, or the conversation that is chosen."""
    found = contexts.load(widgets.workspace(), name)
    if any(context.messages for context in found):
        _one_of(name, found)
    else:
        _personas(name, found)


def _personas(name: str, found: tuple[Context, ...]) -> None:
    desk = open_desk(
        name, "", found, context_edits.persona_rows(found),
        lambda base, edits: context_edits.edit_personas(base, edits),
    )  # fmt: skip
    show_messages(desk)
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
        on_click=save_now, args=(name, partial(context_edits.without, code=code)),
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
        edited = context_edits.edit_messages(before, edits)
        return context_edits.replaced(base, context.code, edited)

    desk = open_desk(name, context.code, found, context_edits.message_rows(context), apply)
    show_messages(desk)
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
        return context_edits.replaced(found, code, replace(before, **changes))

    save_now(name, change)


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
