"""Sets of personas and conversations: import, type, edit, cut down, rewrite with a model."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.workflow import contexts
from pages.shared import (
    contexts_editor,
    contexts_import,
    contexts_keeping,
    contexts_list,
    contexts_making,
    contexts_review,
    contexts_rewriting,
    contexts_scores,
    widgets,
)

NEW_SETS: Mapping[str, Callable[[], None]] = {
    "Import a file": contexts_import.file_section,
    "Type personas": contexts_import.typed_section,
    "Choose by a score": contexts_scores.scores_section,
}
PARTS: Mapping[str, Callable[[str], None]] = {
    "Read and edit": contexts_editor.editor_section,
    "New set from it": contexts_making.making_section,
    "Rewrite with a model": contexts_rewriting.rewriting_section,
    "Review rewritings": contexts_review.review_section,
    "Download": contexts_list.download_section,
}


def all_sets() -> None:
    with widgets.error_box():
        contexts_list.list_section()
    st.header("Add a set")
    section = st.segmented_control(
        "How", list(NEW_SETS), default="Import a file", required=True, key="contexts_new",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    with widgets.error_box():
        NEW_SETS[section or "Import a file"]()


def one_set(name: str) -> None:
    st.button(
        "All sets", icon=":material/arrow_back:", key="contexts_all",
        on_click=contexts_keeping.go_to, args=(None,),
    )  # fmt: skip
    found = contexts.load(widgets.workspace(), name)
    st.header(widgets.plain(name), anchor=False)
    contexts_list.header(name, found)
    words = {part: part for part in PARTS}
    n_waiting = contexts_review.n_waiting(name)
    words["Review rewritings"] += f" ({n_waiting:,})"
    part = st.segmented_control(
        "Part of the page", list(PARTS), default="Read and edit", required=True,
        key="contexts_part", format_func=words.__getitem__, label_visibility="collapsed",
        persist_state="session",
    )  # fmt: skip
    with widgets.error_box():
        PARTS[part or "Read and edit"](name)


st.title("Contexts")
st.caption(
    "What a model is told before the items: sets of personas and of earlier conversations that "
    "studies can use."
)
contexts_keeping.show_done()
chosen_set = st.query_params.get(contexts_keeping.SET_PARAMETER)
with widgets.error_box():
    if chosen_set:
        one_set(chosen_set)
    else:
        all_sets()
