"""What a design comes to: trials, calls, tokens, cost, and what should be known beforehand."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.domain.counts import counted
from core.domain.study import Design
from core.workflow import respondents, studies
from core.workflow.studies import PlanSize
from pages.shared import widgets

_FACTOR_WORDS: Mapping[str, tuple[str, str]] = {
    "respondents x temperatures": ("respondent", "respondents"),
    "languages": ("language", "languages"),
    "forms": ("form", "forms"),
    "formats": ("answer format", "answer formats"),
    "templates": ("template", "templates"),
    "label orders": ("order of options", "orders of options"),
    "contexts": ("persona", "personas"),
    "conversations": ("conversation", "conversations"),
    "entities": ("entity", "entities"),
    "pairs": ("pair of entities", "pairs of entities"),
    "repetitions": ("repetition", "repetitions"),
    "items": ("item", "items"),
}
_ALWAYS = ("respondents x temperatures", "languages", "repetitions", "items")


def plan_size(design: Design) -> PlanSize:
    """The number of calls as a product, with tokens and cost of each respondent."""
    size = studies.size(widgets.workspace(), design)
    st.write(f"{_product(design, size)} = {_outcome(size)}")
    if size.missing:
        what = "Left out" if design.skip_missing else "Cannot be asked yet"
        st.caption(
            f"{what}: {size.missing:,}, because an item has no text in a chosen language and form."
        )
    st.caption(
        f"{counted(size.administrations, 'administration')}: one respondent answering the bank "
        f"once under one set of conditions.{_settings(design)}"
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


def _product(design: Design, size: PlanSize) -> str:
    """The factors with their numbers of levels, items first; usual ones of one level left out."""
    words = (
        _counted(_named(design, name), count, with_temperatures=bool(design.temperatures))
        for name, count in (size.factors[-1], *size.factors[:-1])
        if name in _ALWAYS or count > 1 or _given(design, name)
    )
    return " × ".join(words)


def _outcome(size: PlanSize) -> str:
    """Trials and calls; one number where every call holds one trial and nothing is missing."""
    calls = f"**{size.calls:,} {'call' if size.calls == 1 else 'calls'}**"
    if size.trials == size.calls and not size.missing:
        return calls
    total = size.trials + size.missing
    less = f"{total:,}, less {size.missing:,} without a text: " if size.missing else ""
    return f"{less}**{counted(size.trials, 'trial')}** in {calls}"


def _settings(design: Design) -> str:
    """What holds for every call and is not as usual, as a sentence with a space before it."""
    per_call = f"up to {design.items_per_call:,}" if design.items_per_call else "all"
    words = (
        "" if design.items_per_call == 1 else f"{per_call} items in a call",
        "items shuffled" if design.item_order == "shuffled" else "",
        "half of the repetitions the other way round" if design.swap_halves else "",
        f"unusable answers asked again up to {design.ask_again:,} times"
        if design.ask_again
        else "",
        "replies held to the options" if design.answering == "enforced" else "",
        "probabilities of the first token recorded" if design.first_token else "",
    )
    told = ", ".join(filter(None, words))
    return f" Set besides: {told}." if told else ""


def _given(design: Design, name: str) -> bool:
    given = {"contexts": design.contexts, "entities": design.entities, "pairs": design.pairs}
    return bool(given.get(name))


def _named(design: Design, name: str) -> str:
    """The name of a factor; contexts are conversations where all of them are."""
    if name == "contexts" and design.contexts and all(c.messages for c in design.contexts):
        return "conversations"
    return name


def _counted(name: str, count: int, *, with_temperatures: bool) -> str:
    one, several = _FACTOR_WORDS[name]
    word = one if count == 1 else several
    if name.startswith("respondents") and with_temperatures and count > 1:
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
