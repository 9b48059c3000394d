"""How the items are worded: their forms, the instructions around them, the order of options."""

from __future__ import annotations

import streamlit as st

from core.domain.instrument import ORIGINAL, Instrument
from core.domain.study import LABEL_ORDERS, STANDARD
from core.domain.templates import PromptTemplate
from core.workflow import phases, templates
from pages.shared import widgets
from pages.shared.design_levels import levels
from pages.shared.draft_form import DraftForm

_PERSONAL = {True: "asks for its own view", False: "asks for no view of its own"}


def wording(form: DraftForm, bank: Instrument) -> None:
    """Forms, templates and label orders, with the texts of the templates to read."""
    with st.expander("Wording"):
        left, right = st.columns(2)
        with left:
            levels(
                form, "forms", "Forms", {name: name for name in bank.forms()},
                placeholder=ORIGINAL,
                help="Rewordings of the items that the bank holds, such as a paraphrase or a "
                "negation. Everything is asked in each of them.",
            )  # fmt: skip
        with right:
            levels(
                form, "label_orders", "Order of the options",
                {str(code): words for code, words in LABEL_ORDERS.items()},
                placeholder=LABEL_ORDERS["as_is"],
                help="Whether the first option is chosen because it is the first shows when the "
                "options also come in another order.",
            )  # fmt: skip
        _templates(form)
        form.toggle(
            "skip_missing", "Leave out items without a text",
            help="Where an item has no text in a chosen language and form, ask the others only. "
            "Off: the design cannot be frozen until every text is there.",
        )  # fmt: skip


def _templates(form: DraftForm) -> None:
    found = widgets.workspace()
    offered = templates.offered(found).templates
    # they tell an opinion, which only the second phase of a study has
    later = phases.fitting_templates(found)
    titles = {
        code: f"{template.title} ({code})"
        for code, template in offered.items()
        if code not in later or code in form.fields["templates"]
    }
    levels(
        form, "templates", "Instructions (prompt templates)", titles,
        placeholder=titles.get(STANDARD, STANDARD),
        help="The sentences around the item. With several, everything is asked in each of them.",
    )  # fmt: skip
    chosen = [code for code in form.fields["templates"] if code in offered] or [STANDARD]
    language = next(iter(form.fields["languages"]), "en")
    with st.popover("Read the instructions", icon=":material/visibility:"):
        st.caption(
            "Words in braces are filled in for each call: the item, its options, and the "
            "sentence that asks for a reply."
        )
        for code in chosen:
            _preview(offered[code], language, block=form.fields["items_per_call"] != 1)


def _preview(template: PromptTemplate, language: str, *, block: bool) -> None:
    """The text of one template as the study would use it."""
    kind = "" if template.personal is None else f" ({_PERSONAL[template.personal]})"
    st.write(f"**{widgets.plain(template.title)}**{kind}")
    text = template.text(language)
    with st.container(border=True):
        if block and not text.block:
            st.caption("This template puts one item at a time.")
        body = text.block if block and text.block else text.single
        widgets.text_block(body, language=language, monospace=True)
    if text.persona:
        st.caption(f"After a persona: {widgets.plain(text.persona)}")
