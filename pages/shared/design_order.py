"""How the calls are put: in which order, how many items at once, and what becomes of replies."""

from __future__ import annotations

import streamlit as st

from pages.shared import draft_form
from pages.shared.draft_form import DraftForm

SEVERAL = -1
_PER_CALL = {1: "One", SEVERAL: "Several", 0: "All of the bank"}
_AT_FIRST = 10  # items in a call where "Several" is chosen
_LARGEST = 2**31 - 1  # what a whole number of the database holds


def order(form: DraftForm) -> None:
    """Items per call, item order, and the seed of every random order."""
    with st.expander("Order"):
        left, right = st.columns(2)
        with left:
            _items_per_call(form)
        with right:
            form.radio(
                "item_order", "Order of the items",
                {"fixed": "As in the bank", "shuffled": "Shuffled"}, horizontal=True,
                help="Shuffled: drawn anew for every administration, that is one respondent "
                "answering the bank once under one set of conditions.",
            )  # fmt: skip
        form.number(
            "seed", "Seed of the random orders", -_LARGEST, _LARGEST, step=1, width=240,
            help="The same number gives the same random orders of items and options again.",
        )  # fmt: skip


def unusable_answers(form: DraftForm) -> None:
    """Whether a refusal or another reply without an answer is kept or asked for again."""
    with st.expander("Answers that cannot be used"):
        form.number(
            "ask_again", "Ask again, at most so many times", 0, None, step=1, width=280,
            help="0 keeps the first reply, whatever it is. Otherwise a refusal or another reply "
            "from which no option can be read is asked for again; every attempt is kept and "
            "counted.",
        )  # fmt: skip


def structured_answering(form: DraftForm) -> None:
    """Whether replies are free, and whether the first token's probabilities are recorded."""
    with st.expander("Structured answering"):
        form.radio(
            "answering", "Replies",
            {"free": "Free, and read afterwards", "enforced": "Held to the options"},
            horizontal=True,
            help="Held to the options: a schema or grammar lets the model write nothing but an "
            "option, so that it can neither refuse nor explain. The service or local model must "
            "know how to do that.",
        )  # fmt: skip
        form.toggle(
            "first_token", "Record the probabilities of the first token",
            help="How likely each option was, besides the one written. Services that do not tell "
            "leave it empty.",
        )  # fmt: skip


def _items_per_call(form: DraftForm) -> None:
    per_call = form.fields["items_per_call"]
    shown = per_call if per_call in (0, 1) else SEVERAL
    key = draft_form.key_of(form.name, "per_call_choice")
    if st.session_state.get(key) != shown:
        st.session_state[key] = shown
    st.radio(
        "Items in one call", list(_PER_CALL), format_func=_PER_CALL.__getitem__, key=key,
        horizontal=True, on_change=_take_per_call, args=(form, key),
        help="One: every item on its own, without the others before it. Several or all: as a "
        "numbered list, in fewer calls; the reply gets room for 16 tokens an item, if the "
        "respondent's limit is lower.",
    )  # fmt: skip
    if shown == SEVERAL:
        form.number("items_per_call", "How many in a call", 2, None, step=1, width=240)


def _take_per_call(form: DraftForm, key: str) -> None:
    chosen = st.session_state[key]
    changes = {"items_per_call": _AT_FIRST if chosen == SEVERAL else chosen}
    draft_form.set_fields(form.name, form.defaults, changes)
