"""Whom or what the items are about: entities, or ordered pairs of them."""

from __future__ import annotations

import streamlit as st

from core.domain.instrument import Instrument
from core.workflow import design_drafts
from pages.shared import draft_form
from pages.shared.draft_form import DraftForm


def entities(form: DraftForm, bank: Instrument) -> None:
    """Entities and pairs, where the bank has a place for them or something is typed already."""
    texts = [w.text for item in bank.items for w in item.wordings]
    compares = any("{entity_b}" in text for text in texts)
    names = compares or any("{entity}" in text for text in texts)
    typed = bool(form.fields["entities_text"] or form.fields["pairs_text"])
    if not (names or typed):
        return
    with st.expander("Entities", expanded=True):
        form.long_text(
            "entities_text", "Entities, one on each line", height=100,
            placeholder="a brand, party or person on each line",
            help="Each takes the place of {entity} in the items, and all items are asked about "
            "each." + (" Here they serve to make pairs below." if compares else ""),
        )  # fmt: skip
        if compares or form.fields["pairs_text"]:
            _pairs(form)


def _pairs(form: DraftForm) -> None:
    typed = design_drafts.lines(form.fields["entities_text"])
    swaps = form.fields["swap_halves"]
    st.button(
        "Make all pairs of these entities", key="design_make_pairs", icon=":material/compare:",
        disabled=len(set(typed)) < 2, on_click=_make_pairs, args=(form,),
        help="Writes every pair below and empties the list above: "
        + ("each two once, as both orders are asked anyway." if swaps else "each two both ways."),
    )  # fmt: skip
    form.long_text(
        "pairs_text", "Pairs, one on each line", height=130, placeholder="one | other",
        help="Written as: one | other. The first takes the place of {entity}, the second that of "
        "{entity_b}.",
    )  # fmt: skip
    form.toggle(
        "swap_halves", "Ask half of the repetitions the other way round",
        help="The second half of the repetitions names the second entity first, so that a habit "
        "of preferring what is named first cancels out. It takes two repetitions or more.",
    )  # fmt: skip


def _make_pairs(form: DraftForm) -> None:
    typed = design_drafts.lines(form.fields["entities_text"])
    pairs = design_drafts.pairs_of(typed, both_ways=not form.fields["swap_halves"])
    changes = {"pairs_text": pairs, "entities_text": ""}
    draft_form.set_fields(form.name, form.defaults, changes)
