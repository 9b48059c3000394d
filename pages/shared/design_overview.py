"""What a design comes to: calls, tokens, cost, cautions, and the prompts as they will be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.domain.study import Design
from core.workflow import respondents, studies
from core.workflow.studies import PlanSize
from pages.shared import widgets

_NUMBER = "design_example_number"
_WHO = "design_example_who"
_FACTOR_WORDS: Mapping[str, tuple[str, str]] = {
    "respondents x temperatures": ("respondent", "respondents"),
    "languages": ("language", "languages"),
    "contexts": ("persona", "personas"),
    "entities": ("entity", "entities"),
    "repetitions": ("repetition", "repetitions"),
    "items": ("item", "items"),
}
_ROLES: Mapping[str, str] = {
    "system": "System message: said before the question",
    "user": "User message: the question itself",
    "assistant": "Assistant message: an earlier reply",
}


def plan_size(design: Design) -> PlanSize:
    """The number of calls as a product, with tokens and cost of each respondent."""
    size = studies.size(widgets.workspace(), design)
    with_temperatures = bool(design.temperatures)
    words = " × ".join(
        _counted(name, count, with_temperatures)
        for name, count in (size.factors[-1], *size.factors[:-1])
        if name not in ("contexts", "entities") or count > 1 or _given(design, name)
    )
    st.write(f"{words} = **{size.trials:,} calls**")
    st.caption(
        f"{size.administrations:,} administrations: one respondent answering the bank once under "
        "one set of conditions."
    )
    rows = [
        (
            person.label, person.calls,
            f"{person.tokens_low:,} to {person.tokens_high:,}" if person.tokens_high else "unknown",
            _range(person.cost_low, person.cost_high),
        )
        for person in size.respondents
    ]  # fmt: skip
    if rows:
        frame = pd.DataFrame(rows, columns=["Respondent", "Calls", "Tokens", "Cost"])
        widgets.table(frame, alt="Calls, tokens and cost of each respondent")
        _altogether(size)
    return size


def cautions(design: Design, *, also: str = "") -> bool:
    """What stands in the way and what should be known; whether nothing stands in the way.

    `also` is something in the way that the design itself does not show; empty for nothing.
    """
    found = widgets.workspace()
    for caution in studies.cautions(found, design):
        st.warning(widgets.plain(caution), icon=":material/info:")
    widgets.honesty_note(
        p for p in respondents.offered(widgets.workspace()) if p.label in design.respondents
    )
    trouble = [*studies.check(found, design), *([also] if also else [])]
    if trouble:
        lines = "\n".join(f"- {widgets.plain(line)}" for line in trouble)
        st.info(f"Still to do before this design can be frozen:\n\n{lines}")
    return not trouble


def examples(design: Design, size: PlanSize) -> None:
    """One planned prompt after the other, to the letter."""
    if not size.prompts or not design.respondents:
        st.info("Choose a bank with items, a language and a respondent to see the prompts.")
        return
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
    request = studies.example(widgets.workspace(), replace(design, respondents=(who,)), number - 1)
    trial = request.trial
    parts = {"item": trial.item.code, "language": trial.language, "persona": trial.context,
             "entity": trial.entity}  # fmt: skip
    told = ", ".join(f"{name} {value}" for name, value in parts.items() if value)
    st.caption(f"As it will be sent: {widgets.plain(told)}.")
    for message in request.messages:
        with st.container(border=True):
            st.caption(_ROLES.get(message["role"], message["role"]))
            widgets.text_block(message["content"], language=trial.language, monospace=True)


def _step(by: int, last: int) -> None:
    """Go on by one, from the last to the first."""
    st.session_state[_NUMBER] = (st.session_state.get(_NUMBER, 1) - 1 + by) % last + 1


def _given(design: Design, name: str) -> bool:
    return bool(design.contexts if name == "contexts" else design.entities)


def _counted(name: str, count: int, with_temperatures: bool) -> str:
    one, several = _FACTOR_WORDS[name]
    word = one if count == 1 else several
    if name.startswith("respondents") and with_temperatures:
        word = "respondents at their temperatures"
    return f"{count:,} {word}"


def _altogether(size: PlanSize) -> None:
    if size.unpriced:
        names = widgets.plain(", ".join(size.unpriced))
        st.caption(
            f"Cost altogether: unknown, because prices are not entered for {names}. "
            "Enter them on the page Respondents."
        )
    else:
        st.caption(
            f"Cost altogether: {widgets.plain(_range(*size.cost))}. An estimate: the upper end "
            "assumes that every reply is as long as allowed."
        )


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "unknown"
    if high == 0:
        return "free"
    return f"US${_money(low)} to {_money(high)}"


def _money(dollars: float) -> str:
    return f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"
