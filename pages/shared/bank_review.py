"""Drafts of models that wait for a person: accept, edit or discard each one."""

from __future__ import annotations

import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.workflow import bank_drafts
from core.workflow.bank_columns import TextColumn
from core.workflow.bank_drafts import Place, PlacedDraft
from pages.shared import widgets
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import text_title

_ROWS_A_PAGE = 10


def review_section(desk: Desk) -> None:
    """The drafts a page at a time, each beside the text it was made of."""
    found = bank_drafts.drafts(desk.bank)
    st.header("Drafts to review")
    if not found:
        st.info("No draft waits for review.")
        return
    columns = list(dict.fromkeys(draft.place[1] for draft in found))
    chosen = columns[0]
    if len(columns) > 1:
        counts = {c: sum(draft.place[1] == c for draft in found) for c in columns}
        chosen = st.selectbox(
            "Text", columns, key=f"bank_review_{desk.code}_{hash(tuple(columns))}",
            format_func=lambda column: f"{text_title(column)}: {counts[column]:,}",
        )  # fmt: skip
    waiting = [draft for draft in found if draft.place[1] == chosen]
    st.caption(
        f"{len(found):,} waiting in all. Editing a draft accepts it; it is saved when you leave "
        "the field. Undo takes any of it back."
    )
    n_pages = -(-len(waiting) // _ROWS_A_PAGE)
    page = 1
    if n_pages > 1:
        page = st.pagination(n_pages, key=f"bank_review_page_{desk.code}_{n_pages}")
    shown = waiting[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    places = [draft.place for draft in shown]
    st.button(
        f"Accept all shown ({len(shown)})", key=desk.key("accept_shown"),
        icon=":material/done_all:", on_click=_accept, args=(desk, places),
    )  # fmt: skip
    for draft in shown:
        _draft(desk, draft)


def _draft(desk: Desk, draft: PlacedDraft) -> None:
    code, column = draft.place
    key = desk.key(f"review_{code}_{column.name}")
    with st.container(border=True):
        st.text(f"{code} · {text_title(column)} · drafted by {draft.wording.drafted_by}")
        for language, text in _beside(desk.bank, draft):
            widgets.text_block(text, language=language)
        st.text_area(
            "Draft", draft.wording.text, key=key, height="content", label_visibility="collapsed",
            on_change=_edit, args=(desk, draft.place, key),
        )  # fmt: skip
        with st.container(horizontal=True):
            st.button(
                "Accept", key=f"{key}_accept", icon=":material/check:", on_click=_accept,
                args=(desk, [draft.place]),
            )  # fmt: skip
            st.button(
                "Discard", key=f"{key}_discard", icon=":material/delete:", on_click=_discard,
                args=(desk, draft.place),
            )  # fmt: skip


def _beside(bank: Instrument, draft: PlacedDraft) -> list[tuple[str, str]]:
    """The original in the language of the draft, or else the same text in another language."""
    _, column = draft.place
    places = [TextColumn(column.language), TextColumn(column.language, ORIGINAL, column.mood)]
    places += [TextColumn(language, column.form, column.mood) for language in bank.languages]
    for place in places:
        text = draft.item.text(*place)
        if text and place != column and text != draft.wording.text:
            return [(place.language, text)]
    return []


def _accept(desk: Desk, places: list[Place]) -> None:
    desk.commit(lambda bank: bank_drafts.accept(bank, places), "Drafts accepted", redraw=True)


def _edit(desk: Desk, place: Place, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: bank_drafts.edit(bank, place, text), "Draft edited", redraw=True)


def _discard(desk: Desk, place: Place) -> None:
    desk.commit(lambda bank: bank_drafts.discard(bank, [place]), "Draft discarded", redraw=True)
