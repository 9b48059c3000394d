"""A new set from a set: one language, the first exchanges, a random draw."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.study import Context
from core.workflow import contexts
from core.workflow.contexts import Making
from pages.shared import widgets
from pages.shared.bank_words import language_name
from pages.shared.contexts_keeping import keep_as_set, preview

_ALL = "all"
_NOT_STATED = ""


def making_section(name: str) -> None:
    """The choices, what they leave, and a button to keep it under a name that says how."""
    found = contexts.load(widgets.workspace(), name)
    making = _choices(name, found)
    if making == Making():
        st.caption(
            "Choose a language, a number of exchanges or a number to draw. This set stays as it is."
        )
        return
    left = contexts.make(found, making)
    if not left:
        st.info("Nothing is left with these choices. Choose another language or a larger number.")
        return
    if making.count is not None and making.count > len(left):
        st.warning(f"There are only {len(left):,} to draw from; all of them are taken.")
    preview(left, "Contexts of the new set")
    wish = contexts.suggested_name(name, making)
    keep_as_set(left, wish, key="made", made=f"Made from '{name}': {wish.removeprefix(name)[2:]}")


def _choices(name: str, found: Sequence[Context]) -> Making:
    languages = sorted({context.language for context in found})
    columns = [*st.columns(2), *st.columns(2)]  # four in a row are too narrow beside the menu
    language = columns[0].selectbox(
        "Language", [_ALL, *languages], format_func=_language_words,
        key=f"contexts_language:{name}", help="Only contexts in this language.",
    )  # fmt: skip
    exchanges = columns[1].number_input(
        "First exchanges", 1, None, None, 1, key=f"contexts_exchanges:{name}", placeholder="all",
        disabled=not any(context.messages for context in found),
        help="Cut each conversation after so many exchanges of user and assistant. "
        "Empty: as long as they are.",
    )  # fmt: skip
    count = columns[2].number_input(
        "Draw at random", 1, None, None, 1, key=f"contexts_count:{name}", placeholder="all",
        help="Keep so many, drawn at random. Empty: all.",
    )  # fmt: skip
    seed = columns[3].number_input(
        "Seed", 0, 2**31, 1, 1, key=f"contexts_seed:{name}", disabled=count is None,
        help="The same seed draws the same contexts again.",
    )  # fmt: skip
    return Making(
        language=None if language == _ALL else language,
        exchanges=None if exchanges is None else int(exchanges),
        count=None if count is None else int(count),
        seed=int(seed) if count is not None else Making.seed,
    )


def _language_words(language: str) -> str:
    if language == _ALL:
        return "All languages"
    return "Not stated" if language == _NOT_STATED else language_name(language)
