"""Sets of personas and conversations: import, type, edit, cut down, rewrite with a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd
import streamlit as st

from core.domain.numbers import count_text
from core.domain.study import Context
from core.workflow.contexts import sets
from core.workflow.contexts.sets import SetSummary
from pages.banks.editor import saved_words
from pages.contexts import corpus, editor, new_sets, rewriting
from pages.contexts.new_sets import go_to
from pages.shared import study_bar, widgets
from pages.shared.downloads import file_stem

# The table of sets, the head of one set, and its downloads.

_UNKNOWN = "saved by an older Inkblot, which did not record the time"


def _list_section() -> None:
    """The table of sets; choosing one opens it."""
    summaries = sets.summaries(widgets.workspace())
    if not summaries:
        st.info("There is no set yet. Import one from a file, or type personas, below.")
        return
    chosen = st.selectbox(
        "Open a set",
        [summary.name for summary in summaries],
        index=None,
        key="contexts_open",
        placeholder=f"Choose one of {len(summaries)}",
    )
    if chosen:
        go_to(chosen)
        st.rerun()
    event = widgets.table(
        pd.DataFrame([_row(summary) for summary in summaries]),
        alt=f"Sets of contexts: {count_text(len(summaries), 'row')}. Choose one in the box above.",
        key=f"contexts_table_{len(summaries)}",
        column_config={
            "Set": st.column_config.TextColumn(width=220),
            "n": st.column_config.NumberColumn(help="Contexts in the set.", width=50),
            "Messages": st.column_config.TextColumn(help="Messages per conversation.", width=80),
            "Languages": st.column_config.TextColumn(width=100),
            "Saved": st.column_config.TextColumn(width=120, help=f"Empty: {_UNKNOWN}."),
            "Made": st.column_config.TextColumn(help="How the set was made."),
        },
        on_select="rerun",
        selection_mode="single-row",
    )
    chosen_rows = event["selection"]["rows"]
    if chosen_rows:
        go_to(summaries[chosen_rows[0]].name)
        st.rerun()


def header(name: str, context_set: tuple[Context, ...]) -> None:
    """What the set holds, when it was saved and how it was made."""
    about = next(summary for summary in sets.summaries(widgets.workspace()) if summary.name == name)
    saved = saved_words(about.saved_at) if about.saved_at else _UNKNOWN.capitalize()
    st.text(" · ".join((saved, sets.describe_contexts(context_set))))
    if about.made:
        st.text(f"{about.made}.")
    if recipe := sets.load_recipe(widgets.workspace(), name):
        corpus.show_recipe(recipe)


def _download_section(name: str) -> None:
    """The set as files that read back as the same contexts."""
    context_set = sets.load(widgets.workspace(), name)
    stem = file_stem(name)
    with widgets.error_box():
        widgets.download(
            "JSON Lines", sets.contexts_jsonl(context_set), f"{stem}.jsonl", key="contexts_jsonl"
        )
    with widgets.error_box():
        widgets.download("CSV", sets.contexts_csv(context_set), f"{stem}.csv", key="contexts_csv")
    st.caption(
        "Both files hold codes, languages, texts, and the original of each rewritten context. In "
        "CSV, each persona and each message of a conversation is a row. A text that a spreadsheet "
        "could read as a formula gets an apostrophe in front; the import removes it."
    )


def _row(summary: SetSummary) -> dict[str, object]:
    saved_at = summary.saved_at
    return {
        "Set": summary.name,
        "Kind": summary.kind,
        "n": summary.n_contexts,
        "Messages": _lengths(summary.lengths),
        "Languages": ", ".join(summary.languages) or "not stated",
        "Saved": f"{saved_at.astimezone():%Y-%m-%d %H:%M}" if saved_at else "",
        "Made": summary.made,
    }


def _lengths(lengths: tuple[int, int] | None) -> str:
    if lengths is None:
        return ""
    low, high = lengths
    return str(low) if low == high else f"{low} to {high}"


_NEW_SETS: Mapping[str, Callable[[], None]] = {
    "Import a file": new_sets.file_section,
    "Choose from a corpus": corpus.corpus_section,
    "Type personas": new_sets.typed_section,
    "Choose by a score": new_sets.scores_section,
}
_PARTS: Mapping[str, Callable[[str], None]] = {
    "Read and edit": editor.editor_section,
    "New set from it": new_sets.making_section,
    "Rewrite with a model": rewriting.rewriting_section,
    "Review rewritings": rewriting.review_section,
    "Download": _download_section,
}


def _all_sets() -> None:
    with widgets.error_box():
        _list_section()
    st.header("Add a set")
    section = st.segmented_control(
        "How",
        list(_NEW_SETS),
        default="Import a file",
        required=True,
        key="contexts_new",
        label_visibility="collapsed",
        persist_state="session",
    )
    with widgets.error_box():
        _NEW_SETS[section or "Import a file"]()


def _one_set(name: str) -> None:
    st.button(
        "All sets",
        icon=":material/arrow_back:",
        key="contexts_all",
        on_click=new_sets.go_to,
        args=(None,),
    )
    context_set = sets.load(widgets.workspace(), name)
    st.header(widgets.plain(name), anchor=False)
    header(name, context_set)
    words = {part: part for part in _PARTS}
    n_waiting = rewriting.n_waiting(name)
    words["Review rewritings"] += f" ({n_waiting:,})"
    part = st.segmented_control(
        "Part of the page",
        list(_PARTS),
        default="Read and edit",
        required=True,
        key="contexts_part",
        format_func=words.__getitem__,
        label_visibility="collapsed",
        persist_state="session",
    )
    with widgets.error_box():
        _PARTS[part or "Read and edit"](name)


study_bar.page_header(
    "Contexts",
    "A context is the text that a model reads before the items: a persona or an earlier "
    "conversation. Studies use sets of contexts.",
)
new_sets.show_message()
_chosen_set = st.query_params.get(new_sets.SET_PARAMETER)
with widgets.error_box():
    if _chosen_set:
        _one_set(_chosen_set)
    else:
        _all_sets()
