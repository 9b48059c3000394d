"""Contexts of a design, personas or conversations: none, a saved set, typed, or from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text, name_with_count
from core.domain.study import Context, describe_contexts
from core.errors import UserError
from core.workflow.contexts import sets as contexts
from core.workflow.designs import forms
from pages.shared import widgets
from pages.shared.draft_form import ChoiceField, DraftForm, LongTextField, NumberField, RadioField

_KINDS: Mapping[str, str] = {
    "none": "None",
    "set": "A saved set",
    "typed": "Type personas",
    "file": "From a file",
}
_OWN = "Those of the loaded design"
_SET_NAME = "design_set_name"
_NOTE = "design_persona_note"


def still_to_choose(fields: Mapping[str, Any]) -> str:
    """What the user must do before the chosen personas are part of the design, or empty."""
    kind = fields["personas"]
    if kind == "typed" and not fields["personas_text"].strip():
        return "Type personas, then press Ctrl+Enter: the design shown here has none yet."
    if kind == "set" and fields["persona_set"] not in contexts.names(widgets.workspace()):
        return "Choose a set. The design shown here has no personas or conversations yet."
    if kind == "file":
        return "Save the content of the file as a set. The design shown here does not have it yet."
    return ""


def personas(form: DraftForm) -> None:
    """The choice of personas or conversations, with a table of those in the design."""
    kinds = {**_KINDS, "own": _OWN} if form.fields["personas_own"] else _KINDS
    form.draw(
        RadioField("personas", "Personas or conversations", kinds),
        "A persona is a line before the item, such as 'You are a 34-year-old nurse'. A "
        "conversation is a list of earlier messages before the item. Every item is asked under "
        "each of them. A model, or a simulated person, that is to stand for many people needs as "
        "many personas; without any it is one.",
    )
    kind = form.fields["personas"]
    if kind == "none":
        return
    with st.container(border=True):
        if note := widgets.last_note(_NOTE):
            st.success(note)
        if kind == "file":
            _from_file(form)
            return
        if kind == "set":
            _saved_set(form)
        elif kind == "typed":
            examples = "You are a 34-year-old nurse in Porto.\nYou are a retired teacher."
            form.draw(
                LongTextField("personas_text", "Personas, one per line", examples, height=140)
            )
        if still_to_choose(form.fields):
            return
        with widgets.error_box():
            context_set = forms.chosen_personas(widgets.workspace(), form.fields)
            _how_many(form, context_set)
            if kind != "set":
                _save_as_set(form, context_set)


def _saved_set(form: DraftForm) -> None:
    sets = contexts.load_all(widgets.workspace())
    titles = {name: name_with_count(name, f"{len(sets[name]):,}") for name in sets}
    form.draw(
        ChoiceField("persona_set", "Set", titles, "Choose a set"),
        "Read, edit, cut and rewrite sets on the page Contexts.",
    )
    if recipe := contexts.load_recipe(widgets.workspace(), form.fields["persona_set"]):
        st.caption(widgets.plain(recipe.sentence))
    st.page_link("pages/contexts/page.py", label="Go to Contexts", icon=":material/theater_comedy:")


def _how_many(form: DraftForm, context_set: tuple[Context, ...]) -> None:
    label = f"Number to use (of {len(context_set):,}), from the top"
    form.draw(NumberField("persona_count", label, 1, empty="all"), "Empty: all.")
    selection = context_set[: form.fields["persona_count"] or len(context_set)]
    with st.expander(f"Personas or conversations of the design ({len(selection):,})"):
        st.caption(widgets.plain(describe_contexts(selection)))
        _table(selection, "Personas or conversations of the design")


def _from_file(form: DraftForm) -> None:
    uploaded = st.file_uploader(
        "Personas: a text file with one per line, or CSV or Excel with the columns code and text. "
        "Conversations: JSONL or CSV",
        type=["txt", "csv", "xlsx", "jsonl", "ndjson"],
        key="design_persona_file",
        max_upload_size=50,
    )
    if uploaded is None:
        return
    with widgets.error_box():
        context_set = contexts.read_contexts(uploaded.name, uploaded.getvalue())
        words = widgets.plain(describe_contexts(context_set))
        st.caption(f"{words}. Nothing is saved until you save a set.")
        _table(context_set, "Personas or conversations in the file")
        _save_as_set(form, context_set, suggested_name=uploaded.name.rsplit(".", 1)[0])


def _save_as_set(
    form: DraftForm, context_set: tuple[Context, ...], suggested_name: str = ""
) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Name of the set",
        value=suggested_name,
        key=f"{_SET_NAME}:{suggested_name}",
        help="You can use a set in several studies. A frozen study has its own copy.",
    )
    exists = name.strip() in contexts.names(widgets.workspace())
    if exists:
        st.warning(
            "A set with this name exists. Saving replaces it; frozen studies keep their copies."
        )
    right.button(
        "Replace the set" if exists else "Save as set",
        key="design_save_set",
        icon=":material/save:",
        on_click=_save,
        args=(form, name, context_set),
    )


def _save(form: DraftForm, name: str, context_set: tuple[Context, ...]) -> None:
    try:
        contexts.save(widgets.workspace(), name, context_set, made="Saved on the page Design")
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    form.change({"personas": "set", "persona_set": name.strip()})
    counted_words = count_text(
        len(context_set), "persona or conversation is", "personas or conversations are"
    )
    st.session_state[_NOTE] = f"{counted_words} saved as {widgets.plain(name.strip())}."


def _table(listed: tuple[Context, ...], alt: str) -> None:
    columns = ["Code", "Text", "Language"]
    frame = pd.DataFrame([(c.code, _text(c), c.language) for c in listed], columns=columns)
    if not any(context.language for context in listed):
        frame = frame.drop(columns="Language")
    widgets.table(frame, alt=f"{alt}: {len(listed)}")


def _text(context: Context) -> str:
    """The text of a persona, or the messages of a conversation with their roles."""
    lines = (f"{message['role']}: {message['content']}" for message in context.messages)
    return "\n".join(filter(None, (context.text, *lines)))
