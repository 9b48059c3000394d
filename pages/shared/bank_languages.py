"""The languages of a bank, and what the bank says of itself."""

from __future__ import annotations

import streamlit as st

from core.domain.instrument import KINDS
from core.workflow import bank_edits
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import language_name, texts_words

_ABOUT_LABELS = {
    "title": ("Title", "How the bank is called in lists and reports."),
    "description": ("Description", "What it measures, for whom, and how far it was validated."),
    "licence": ("License", "Under which terms the items may be used, for example CC BY 4.0."),
    "citation": ("Citation", "Where the items come from, as a reference list would give it."),
}


def languages_section(desk: Desk) -> None:
    """The languages with how complete they are; add one, remove one."""
    bank = desk.bank
    for language in bank.languages:
        n_texts = sum(
            any(w.language == language and w.text.strip() for w in item.wordings)
            for item in bank.items
        )
        left, right = st.columns([3, 1], vertical_alignment="center")
        left.text(f"{language_name(language)}: {texts_words(n_texts, len(bank.items))}")
        if len(bank.languages) > 1:
            with right.popover("Remove", icon=":material/delete:"):
                _confirm_removal(desk, language, n_texts)
    key = desk.key("new_language")
    with st.form(desk.key("language_form"), border=False, clear_on_submit=False):
        st.text_input(
            "Add a language", key=key, placeholder="French, or fr",
            help="Its English name, such as French, or its code of two or three letters, such as "
            "fr for French or pt-BR for Brazilian Portuguese. The grid gets a column for it.",
        )  # fmt: skip
        st.form_submit_button(
            "Add language", icon=":material/add:", on_click=_add_language, args=(desk, key)
        )


def _add_language(desk: Desk, key: str) -> None:
    name = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: bank_edits.add_language(bank, name), "Language added", redraw=True)


def _confirm_removal(desk: Desk, language: str, n_texts: int) -> None:
    st.write(
        f"Remove this language with its item texts ({n_texts:,}) and its option "
        "labels? Undo brings them back, and published versions keep them."
    )
    st.button(
        "Yes, remove it", key=desk.key(f"remove_{language}"), type="primary",
        on_click=_remove_language, args=(desk, language),
    )  # fmt: skip


def _remove_language(desk: Desk, language: str) -> None:
    desk.commit(
        lambda bank: bank_edits.remove_language(bank, language), "Language removed", redraw=True
    )


def about_section(desk: Desk) -> None:
    """Title, description, license and citation, saved as you leave each field."""
    for field, (label, explanation) in _ABOUT_LABELS.items():
        key = desk.key(f"about_{field}")
        control = st.text_area if field in ("description", "citation") else st.text_input
        control(
            label, getattr(desk.bank, field), key=key, help=explanation,
            on_change=_keep_about, args=(desk, field, key),
        )  # fmt: skip
    kinds, key = list(KINDS), desk.key("about_kind")
    st.selectbox(
        "Kind", kinds, kinds.index(desk.bank.kind), format_func=KINDS.__getitem__, key=key,
        on_change=_keep_kind, args=(desk, key),
        help="What the items are. Words are asked about one by one; a prompt asks for a text.",
    )  # fmt: skip
    st.caption("A field is saved when you leave it (Tab, or a click elsewhere).")


def _keep_about(desk: Desk, field: str, key: str) -> None:
    text = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: bank_edits.set_about(bank, field, text), f"{field} edited")


def _keep_kind(desk: Desk, key: str) -> None:
    kind = str(st.session_state.to_dict().get(key) or "items")
    desk.commit(lambda bank: bank_edits.set_kind(bank, kind), "Kind edited")
