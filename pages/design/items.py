"""The items that a design or a block asks: chosen one by one, by attribute or at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.attributes import is_numeric, known_attributes
from core.domain.attributes import levels as attribute_values
from core.domain.instrument import Instrument
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.designs.item_choice import ItemChoice, choose_items
from pages.design import levels
from pages.shared import widgets

_LARGEST = 2**31 - 1  # what a whole number of the database holds
_NONE = ""

Taken = Callable[[list[str], str], None]
"""Takes the codes of the chosen items and, after a draw or a filter, the sentence about it."""


def item_chooser(
    bank: Instrument,
    chosen: Sequence[str],
    key: str,
    take: Taken,
    *,
    language: str = "en",
    may_be_empty: bool = True,
) -> None:
    """The items that are asked; where that may be empty, none chosen means all of the bank."""
    if not bank.items:
        return
    all_items = f"all {count_text(len(bank.items), 'item')} of the bank"
    levels.codes(
        "Items that are asked",
        chosen,
        {
            item.code: levels.code_and_text(
                item.code,
                item.text(language) or next((w.text for w in item.wordings), ""),
            )
            for item in bank.items
        },
        key,
        lambda codes: take(codes, ""),
        empty=all_items if may_be_empty else "choose items",
        help="Empty: all items of the bank." if may_be_empty else "",
    )
    popover = st.popover(
        "Choose by attribute or at random",
        icon=":material/filter_alt:",
        key=f"{key}:choice",
        on_change="rerun",
    )
    if popover.open:
        with popover:
            _by_choice(bank, key, take)


def _by_choice(bank: Instrument, key: str, take: Taken) -> None:
    """Filters, a sample and its seed; the sentence about them; a button that takes the items."""
    names = known_attributes(bank)
    where: dict[str, list[str]] = {}
    if names:
        for name in st.multiselect(
            "Only items with",
            names,
            key=f"{key}:attributes",
            format_func=_attribute_name,
            placeholder="any attribute",
            help="Attributes are the columns of the bank beside the text, such as its subscale or "
            "genre.",
        ):
            numeric = is_numeric(bank, name)
            values = st.multiselect(
                _attribute_name(name),
                attribute_values(bank, name),
                key=f"{key}:of:{name}",
                format_func=lambda value: value or "(none)",
                accept_new_options=numeric,
                help="Items with one of these values."
                + (" Type a range such as 1..100 for all numbers between." if numeric else ""),
            )
            if values:
                where[name] = values
    left, right = st.columns(2)
    count = left.number_input(
        "Draw at random",
        1,
        _LARGEST,
        None,
        1,
        key=f"{key}:count",
        placeholder="all of them",
        help="The number of items to draw. Empty: all items with these attributes.",
    )
    seed = right.number_input(
        "Seed",
        0,
        _LARGEST,
        1,
        1,
        key=f"{key}:seed",
        disabled=count is None,
        help="The same seed draws the same items again.",
    )
    stratify = _NONE
    if names:
        stratify = st.selectbox(
            "Equally many of each",
            [_NONE, *names],
            key=f"{key}:stratify",
            format_func=lambda name: _attribute_name(name) if name else "not stratified",
            disabled=count is None,
            help="A stratified sample: the same number of items of each value of this attribute.",
        )
    try:
        chosen = choose_items(
            bank,
            ItemChoice(
                where,
                None if count is None else int(count),
                stratify if count is not None else _NONE,
                int(seed),
            ),
        )
    except UserError as error:
        widgets.show_problem(error)
        return
    st.caption(widgets.plain(chosen.sentence))
    st.button(
        "Take these items",
        key=f"{key}:take",
        on_click=take,
        args=(list(chosen.codes), chosen.sentence),
        help="Writes the sentence above into the notes of the design.",
    )


def _attribute_name(name: str) -> str:
    return name.removeprefix("item.").replace("_", " ")
