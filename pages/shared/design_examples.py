"""The prompts of a design as they will be sent, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.domain.instrument import ORIGINAL
from core.domain.study import Design
from core.workflow import studies
from core.workflow.studies import PlanSize
from pages.shared import widgets

_NUMBER = "design_example_number"
_WHO = "design_example_who"
_ROLES: Mapping[str, str] = {
    "system": "System message: said before the question",
    "user": "User message: earlier in the conversation",
    "assistant": "Assistant message: an earlier reply",
}
_QUESTION = "User message: the question itself"


def examples(design: Design, size: PlanSize) -> None:
    """One planned prompt after the other, to the letter."""
    if not size.prompts or not design.respondents:
        st.info("Choose a bank with items, a language and a respondent to see the prompts.")
        return
    who, number = _which(design, size)
    request = studies.example(widgets.workspace(), replace(design, respondents=(who,)), number - 1)
    asked = request.question
    parts = {
        "item": asked.item.code if len(asked.items) == 1 else "",
        "items": f"{len(asked.items):,}" if len(asked.items) > 1 else "",
        "form": asked.form if asked.form != ORIGINAL else "",
        "format": asked.response_format.code,
        "template": asked.template,
        "language": asked.language,
        "context": asked.context,
        "entity": asked.entity,
        "second entity": asked.entity_b,
    }
    told = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    st.caption(f"As it will be sent: {widgets.plain(told)}.")
    if design.item_order == "shuffled" or "random" in design.label_orders:
        st.caption("What comes in random order is shown here as it stands in the bank.")
    last = len(request.messages) - 1
    for place, message in enumerate(request.messages):
        role = _QUESTION if place == last else _ROLES.get(message["role"], message["role"])
        with st.container(border=True):
            st.caption(role)
            widgets.text_block(message["content"], language=asked.language, monospace=True)
    if request.choices:
        st.caption(f"The reply is held to: {widgets.plain(', '.join(request.choices))}.")


def _which(design: Design, size: PlanSize) -> tuple[str, int]:
    """The respondent and the number of the prompt, counted from 1, that the user wants to see."""
    shown = st.session_state.get(_NUMBER, 1)
    if not 1 <= shown <= size.prompts:
        st.session_state[_NUMBER] = min(max(shown, 1), size.prompts)
    st.session_state.setdefault(_NUMBER, 1)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    who = design.respondents[0]
    if len(design.respondents) > 1:
        if st.session_state.get(_WHO) not in design.respondents:
            st.session_state[_WHO] = who
        who = row.selectbox("To", design.respondents, key=_WHO)
    row.button(
        "Previous", key="design_previous", icon=":material/chevron_left:", on_click=_step,
        args=(-1, size.prompts),
    )  # fmt: skip
    number = row.number_input(
        f"Prompt (of {size.prompts:,})", 1, size.prompts, step=1, key=_NUMBER, width=180
    )
    row.button(
        "Next", key="design_next", icon=":material/chevron_right:", on_click=_step,
        args=(1, size.prompts),
    )  # fmt: skip
    return who, number


def _step(by: int, last: int) -> None:
    """Go on by one, from the last to the first."""
    st.session_state[_NUMBER] = (st.session_state.get(_NUMBER, 1) - 1 + by) % last + 1
