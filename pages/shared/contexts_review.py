"""Reading rewritings beside their originals: edit, accept into a set, or discard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pandas as pd
import streamlit as st

from core.domain.study import Context, Message
from core.errors import UserError
from core.workflow import context_drafts, contexts
from core.workflow.context_drafts import Draft
from core.workflow.opening import open_workspace
from pages.shared import draft_form, widgets
from pages.shared.contexts_keeping import SET_PARAMETER, beginning, tell
from pages.shared.draft_form import DraftForm


def n_waiting(name: str) -> int:
    """How many rewritings of a set nobody has decided on."""
    drafts = context_drafts.of_set(widgets.workspace(), name)
    return sum(draft.state == "waiting" for draft in drafts)


def review_section(name: str) -> None:
    """One waiting rewriting at a time, and a list of those decided on."""
    drafts = context_drafts.of_set(widgets.workspace(), name)
    if not drafts:
        st.info("Nothing of this set was rewritten yet. Start under Rewrite with a model.")
        return
    found = contexts.load(widgets.workspace(), name)
    places = {context.code: place for place, context in enumerate(found)}
    waiting = sorted(  # as they stand in the set; replies arrive in any order
        (draft for draft in drafts if draft.state == "waiting"),
        key=lambda draft: places.get(draft.original.code, len(places)),
    )
    accepted = [draft for draft in drafts if draft.state == "accepted"]
    st.caption(
        f"{len(drafts):,} rewritings: {len(waiting):,} wait, {len(accepted):,} accepted, "
        f"{len(drafts) - len(waiting) - len(accepted):,} discarded."
    )
    if waiting:
        form = _target(name)
        _one(name, _choose(waiting), form)
    else:
        st.success("Every rewriting has been decided on.")
    for target in dict.fromkeys(draft.set_name for draft in accepted):
        st.page_link(
            "pages/contexts.py", label=f"Open the set {widgets.plain(target)}",
            icon=":material/arrow_forward:", query_params={SET_PARAMETER: target},
        )  # fmt: skip
    _decided(drafts)


def _target(name: str) -> DraftForm:
    """Where accepted rewritings go; kept with the set."""
    form = draft_form.open_form(
        f"contexts:review:{name}", {"into": f"{name}, rewritten", "with_original": True}
    )
    form.text(
        "into", "Accepted rewritings go into the set",
        help="It is made with the first rewriting that you accept. Only accepted ones are in it.",
    )  # fmt: skip
    form.toggle(
        "with_original", "Put each original beside its rewriting",
        help="With both in one set a single study can ask under each, and compare them in pairs.",
    )  # fmt: skip
    return form


def _choose(waiting: Sequence[Draft]) -> Draft:
    by_code = {draft.variant.code: draft for draft in waiting}
    code = st.selectbox(
        f"Waiting ({len(waiting):,})", list(by_code),
        format_func=lambda chosen: f"{chosen}: {beginning(by_code[chosen].original)[:80]}",
        key="contexts_draft",
    )  # fmt: skip
    return by_code[code]


def _one(name: str, draft: Draft, form: DraftForm) -> None:
    with st.container(border=True):
        left, right = st.columns(2)
        left.markdown(f"**Original**: {widgets.plain(draft.original.code)}")
        right.markdown(f"**Rewriting**: {widgets.plain(draft.variant.code)}")
        if draft.original.messages:
            for place in range(len(draft.original.messages)):
                _message(name, draft, place)
        else:
            _side_by_side(name, draft, None, "Rewriting", draft.original.text, draft.variant.text)
        with st.container(horizontal=True):
            st.button(
                "Accept", key="contexts_accept", type="primary", icon=":material/check:",
                on_click=_accept, args=(name, draft, dict(form.fields)),
                help="Put it into the set named above; from then on studies can use it.",
            )  # fmt: skip
            st.button(
                "Discard", key="contexts_discard", icon=":material/close:",
                on_click=_discard, args=(name, draft), help="Put it aside; no set gets it.",
            )  # fmt: skip
    edited = ", then edited by hand" if draft.edited else ""
    moment = f"{datetime.fromisoformat(draft.written_at).astimezone():%Y-%m-%d %H:%M}"
    written_by = f"Written by {draft.respondent} ({draft.model}) on {moment}{edited}."
    widgets.text_block(f"{written_by} Instruction: {draft.instruction}")


def _message(name: str, draft: Draft, place: int) -> None:
    original, variant = draft.original.messages[place], draft.variant.messages[place]
    label = f"{place + 1} {original['role']}"
    _side_by_side(name, draft, place, label, original["content"], variant["content"])


def _side_by_side(
    name: str, draft: Draft, place: int | None, label: str, before: str, after: str
) -> None:
    left, right = st.columns(2)
    with left:
        st.caption(label if place is not None else "Original")
        widgets.text_block(before, language=draft.original.language)
    key = f"contexts_edit:{name}:{draft.variant.code}:{place}"
    if st.session_state.get(key) != after:
        st.session_state[key] = after
    right.text_area(
        f"{label}, rewritten" if place is not None else label, key=key, height="content",
        on_change=_edit, args=(name, draft.variant.code, place, key),
    )  # fmt: skip


def _edit(name: str, code: str, place: int | None, key: str) -> None:
    typed = st.session_state[key].strip()
    try:
        drafts = context_drafts.of_set(open_workspace(), name)
        variant = next(draft.variant for draft in drafts if draft.variant.code == code)
        context_drafts.edit(open_workspace(), name, code, _with_text(variant, place, typed))
    except UserError as error:
        tell(error)


def _with_text(variant: Context, place: int | None, text: str) -> Context:
    if place is None:
        return replace(variant, text=text)
    messages: list[Message] = list(variant.messages)
    messages[place] = {"role": messages[place]["role"], "content": text}
    return replace(variant, messages=tuple(messages))


def _accept(name: str, draft: Draft, fields: dict[str, object]) -> None:
    code, into = draft.variant.code, str(fields["into"])
    try:
        context_drafts.accept(
            open_workspace(), name, code, into, with_original=bool(fields["with_original"])
        )
    except UserError as error:
        tell(error)
    else:
        tell(f"{widgets.plain(code)} is now in the set {widgets.plain(into.strip())}.")


def _discard(name: str, draft: Draft) -> None:
    try:
        context_drafts.discard(open_workspace(), name, draft.variant.code)
    except UserError as error:
        tell(error)


def _decided(drafts: Sequence[Draft]) -> None:
    decided = [draft for draft in drafts if draft.state != "waiting"]
    if not decided:
        return
    rows = [
        (d.variant.code, d.original.code, d.state, d.set_name, beginning(d.variant))
        for d in decided
    ]
    with st.expander(f"Decided ({len(decided):,})"):
        widgets.table(
            pd.DataFrame(rows, columns=["Code", "Original", "Decision", "Set", "Text"]),
            alt=f"Rewritings accepted or discarded: {len(decided)}",
        )
