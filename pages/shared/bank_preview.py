"""How an item reads in a language and form, and what a study would stumble over in the bank."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.domain.instrument_problems import problems
from core.workflow import bank_gaps
from core.workflow.bank_gaps import ProblemGroup
from pages.shared import widgets
from pages.shared.bank_desk import Desk
from pages.shared.bank_words import form_word, language_name

_MAX_PROBLEMS = 200
_MAX_GROUPS = 4
_MAX_PLACES = 3


def _group_words(group: ProblemGroup) -> str:
    """Problems of one kind in a line, with the first places."""
    more = len(group.places) - _MAX_PLACES
    places = ", ".join(group.places[:_MAX_PLACES]) + (f" and {more:,} more" if more > 0 else "")
    return f"• {group.title}: {places}"


def show_groups(groups: tuple[ProblemGroup, ...]) -> None:
    """The kinds of problems beside the grid, the rest by their number."""
    for group in groups[:_MAX_GROUPS]:
        st.text(_group_words(group))
    if len(groups) > _MAX_GROUPS:
        st.text(f"• and other kinds, listed under Problems: {len(groups) - _MAX_GROUPS:,}")


def preview_section(desk: Desk) -> None:
    """One item with its response options, as it reads in a language."""
    bank = desk.bank
    if not bank.items:
        st.info("There is nothing to read yet: the bank has no items.")
        return
    columns = st.columns(4)
    place = columns[0].number_input(
        f"Item (1 to {len(bank.items):,})", 1, len(bank.items), key=f"bank_read_{desk.code}"
    )
    language = columns[1].selectbox(
        "Language", bank.languages, format_func=language_name, key=f"bank_read_in_{desk.code}"
    )
    form = columns[2].selectbox(
        "Form", bank.forms(), format_func=form_word, key=f"bank_read_form_{desk.code}"
    )
    code = ""
    if bank.formats:
        code = columns[3].selectbox(
            "Response options", [f.code for f in bank.formats], key=f"bank_read_with_{desk.code}"
        )
    item = bank.items[int(place) - 1]
    keyed = "reverse-keyed" if item.keyed < 0 else "keyed +"
    subscale = f"subscale {item.subscale}" if item.subscale else "no subscale"
    with st.container(border=True):
        st.text(f"{item.code} · {subscale} · {keyed}")
        response_format = bank.format(code)
        text = item.text(language, form, response_format.mood if response_format else "")
        if text:
            widgets.text_block(text, language=language)
        else:
            st.warning("This item has no text in this language and form yet.")
        if item.direction(form) < 0:
            st.caption("Inverted: who agrees with the original disagrees with this form.")
        for option in response_format.options if response_format else ():
            label = option.labels.get(language, "") or "(no label)"
            widgets.text_block(f"○ {label}", language=language)
    st.caption("The exact request a model receives, with its instructions, is shown on Design.")


def problems_section(desk: Desk) -> None:
    """What a study would stumble over, by item, in words."""
    found = problems(desk.bank)
    if not found:
        st.success("Nothing to mend: a study can use this bank.", icon=":material/check:")
        return
    n_blocking = sum(problem.blocks for problem in found)
    st.write(
        f"{len(found):,} to look at; {n_blocking:,} would stop a study; the rest are gaps that "
        "matter only for a study that asks for what is missing."
    )
    for group in bank_gaps.grouped(found):
        st.text(_group_words(group))
    rows = [
        {
            "Weight": "Stops a study" if problem.blocks else "Gap",
            "Where": problem.where,
            "What": problem.what,
        }
        for problem in sorted(found, key=lambda problem: not problem.blocks)[:_MAX_PROBLEMS]
    ]
    if len(found) > len(rows):
        st.caption(f"The first {len(rows):,} are listed.")
    widgets.table(pd.DataFrame(rows), alt=f"Problems of the bank: {len(rows)} rows")
