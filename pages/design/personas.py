"""Contexts of a design, personas or conversations: none, a kept set, typed, or from a file."""

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
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm

_KINDS: Mapping[str, str] = {
    "none": "None",
    "set": "A kept set",
    "typed": "Type personas",
    "file": "From a file",
}
_OWN = "As in the design loaded"
_SET_NAME = "design_set_name"
_NOTE = "design_persona_note"


def still_to_choose(fields: Mapping[str, Any]) -> str:
    """What has to be done before the wished personas can take part; empty where they can."""
    kind = fields["personas"]
    if kind == "typed" and not fields["personas_text"].strip():
        return "No persona is typed yet. What is shown here is without personas."
    if kind == "set" and fields["persona_set"] not in contexts.load_all(widgets.workspace()):
        return "No set is chosen yet. What is shown here is without personas or conversations."
    if kind == "file":
        return (
            "What the file holds does not take part yet: save it as a set. What is shown here is "
            "without it."
        )
    return ""


def personas(form: DraftForm) -> None:
    """The choice of personas or conversations, with a look at those that take part."""
    kinds = {**_KINDS, "own": _OWN} if form.fields["personas_own"] else _KINDS
    form.radio(
        "personas", "Personas or conversations", kinds, horizontal=True,
        help="A persona is a line said before the item, such as 'You are a nurse of 34'. A "
        "conversation stands before it as earlier messages. Every item is asked under each of "
        "them.",
    )  # fmt: skip
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
            _kept_set(form)
        elif kind == "typed":
            form.long_text(
                "personas_text", "Personas, one on each line", height=140,
                placeholder="You are a 34-year-old nurse in Porto.\nYou are a retired teacher.",
            )  # fmt: skip
        if still_to_choose(form.fields):
            return
        with widgets.error_box():
            found = forms.chosen_personas(widgets.workspace(), form.fields)
            _how_many(form, found)
            if kind != "set":
                _save_as_set(form, found)


def _kept_set(form: DraftForm) -> None:
    sets = contexts.load_all(widgets.workspace())
    form.select(
        "persona_set", "Set", list(sets),
        lambda name: name_with_count(name, f"{len(sets[name]):,}"),
        placeholder="Choose a set",
        help="Sets are read, edited, cut and rewritten on the page Contexts.",
    )  # fmt: skip
    st.page_link("pages/contexts/page.py", label="Go to Contexts", icon=":material/theater_comedy:")


def _how_many(form: DraftForm, found: tuple[Context, ...]) -> None:
    form.number(
        "persona_count", f"How many of the {len(found):,}, from the top", 1, None, step=1,
        value=None, placeholder="all", help="Empty: all of them.",
    )  # fmt: skip
    taken = found[: form.fields["persona_count"] or len(found)]
    with st.expander(f"The {len(taken):,} that take part"):
        st.caption(widgets.plain(describe_contexts(taken)))
        _table(taken, "Personas or conversations that take part")


def _from_file(form: DraftForm) -> None:
    uploaded = st.file_uploader(
        "Personas: a text file with one on each line, or CSV or Excel with the columns code and "
        "text. Conversations: JSONL or CSV",
        type=["txt", "csv", "xlsx", "jsonl", "ndjson"], key="design_persona_file",
    )  # fmt: skip
    if uploaded is None:
        return
    with widgets.error_box():
        found = contexts.read_contexts(uploaded.name, uploaded.getvalue())
        st.caption(
            f"{widgets.plain(describe_contexts(found))}. Nothing is kept until you save a set."
        )
        _table(found, "Personas or conversations in the file")
        _save_as_set(form, found, wish=uploaded.name.rsplit(".", 1)[0])


def _save_as_set(form: DraftForm, found: tuple[Context, ...], wish: str = "") -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    name = left.text_input(
        "Keep them as a set called", value=wish, key=f"{_SET_NAME}:{wish}",
        help="A set can be chosen in other studies. A frozen study holds its own copy.",
    )  # fmt: skip
    exists = name.strip() in contexts.load_all(widgets.workspace())
    if exists:
        st.warning("There is a set of that name; saving replaces it. Frozen studies keep theirs.")
    right.button(
        "Replace the set" if exists else "Save as set", key="design_save_set",
        icon=":material/save:", on_click=_save, args=(form, name, found),
    )  # fmt: skip


def _save(form: DraftForm, name: str, found: tuple[Context, ...]) -> None:
    try:
        contexts.save(widgets.workspace(), name, found)
    except UserError as error:
        st.session_state[_NOTE] = error
        return
    changes = {"personas": "set", "persona_set": name.strip()}
    draft_form.set_fields(form.name, form.defaults, changes)
    kept = count_text(len(found), "persona or conversation is", "personas or conversations are")
    st.session_state[_NOTE] = f"{kept} kept as {widgets.plain(name.strip())}."


def _table(shown: tuple[Context, ...], alt: str) -> None:
    columns = ["Code", "Text", "Language"]
    frame = pd.DataFrame([(c.code, _text(c), c.language) for c in shown], columns=columns)
    if not any(context.language for context in shown):
        frame = frame.drop(columns="Language")
    widgets.table(frame, alt=f"{alt}: {len(shown)}")


def _text(context: Context) -> str:
    """A persona as it stands, a conversation with who says what."""
    said = (f"{message['role']}: {message['content']}" for message in context.messages)
    return "\n".join(filter(None, (context.text, *said)))
