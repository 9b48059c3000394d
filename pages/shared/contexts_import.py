"""New sets from a file, seen before anything is kept, or typed in."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.domain.study import Context
from core.workflow import contexts
from pages.shared import draft_form
from pages.shared.contexts_keeping import keep_as_set, preview

_ENDINGS = ["csv", "tsv", "xlsx", "txt", "jsonl", "ndjson", "gz"]
_TYPED = "contexts:typed"
_TYPED_DEFAULTS = {"text": "", "language": ""}


def file_section() -> None:
    """A file, what is in it or the line that is wrong, and a button to keep it."""
    _help()
    uploaded = st.file_uploader(
        "File with personas or conversations", _ENDINGS, key="contexts_file",
        help="CSV, Excel, text or JSON Lines, up to 50 MB.",
    )  # fmt: skip
    if uploaded is None:
        st.caption("Choose a file; you will see what is in it before anything is kept.")
        return
    found = _read(uploaded.file_id, uploaded.name, uploaded.getvalue())
    preview(found, "Contexts in the file")
    keep_as_set(
        found, uploaded.name.split(".")[0], key="file", made=f"Imported from {uploaded.name}"
    )


def typed_section() -> None:
    """Personas, one a line; what is typed is kept until it becomes a set."""
    form = draft_form.open_form(_TYPED, _TYPED_DEFAULTS)
    form.long_text(
        "text", "Personas, one on each line", height=160,
        placeholder="You are a 34-year-old nurse in Porto.\nYou are a retired teacher in Oslo.",
        help="Each line is said to the model before the items, as it stands here.",
    )  # fmt: skip
    form.text(
        "language", "Language (optional)", placeholder="en", width=220,
        help="A code such as en, or an English name such as German.",
    )  # fmt: skip
    form.show_notes()
    if not form.fields["text"].strip():
        st.caption("Type at least one persona, then press Tab or Ctrl+Enter.")
        return
    language = contexts.language_code(form.fields["language"])
    found = tuple(
        replace(persona, language=language)
        for persona in contexts.parse_personas(form.fields["text"])
    )
    preview(found, "Personas typed")
    keep_as_set(found, "My personas", key="typed", made="Typed in")


@st.cache_data(max_entries=2, show_spinner="Reading the file ...")
def _read(file_id: str, name: str, _data: bytes) -> tuple[Context, ...]:
    return contexts.read_contexts(name, _data)


def _help() -> None:
    with st.expander("What the file looks like"):
        st.markdown(
            "- **Personas**: a text file with one on each line, or a table (CSV, Excel) with the "
            "columns `code` and `text`.\n"
            "- **Conversations**: a table with one message a row and the columns `code`, `role` "
            "(user, assistant, system) and `content`; or with one exchange a row and the columns "
            "`user` and `assistant`. Or JSON Lines: on each line an object whose `messages` is a "
            "list of objects with `role` and `content`; `conversation`, `from` and `value` are "
            "understood as well.\n"
            "- All may have `language`, and `variant_of` with the code of the context that this "
            "one was rewritten from. Contexts without a code get one."
        )
