"""Which columns the grid of items shows, and new ones: forms, moods, domains, parties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.errors import UserError
from core.workflow import bank_columns, bank_edits
from core.workflow.bank_columns import (
    CODE,
    GENRE,
    KEYED,
    KEYED_WORDS,
    LOADING,
    PAIR,
    PARTY,
    POSITION,
    RANK,
    SUBSCALE,
    TAGS,
    TEXT,
    TextColumn,
)
from pages.shared.bank_desk import Desk
from pages.shared.bank_parties import party_form
from pages.shared.bank_words import FACT_WORDS, column_title, form_word, text_title

_MOST_AT_FIRST = 8
"""Columns of texts shown before anybody has chosen."""
_OWN_FORM = ""
_LOADINGS, _POSITIONS = "loadings", "positions"
_FACT_TITLES = {**FACT_WORDS, _LOADINGS: "Domains", _POSITIONS: "Parties"}
_HELP = {
    SUBSCALE: "Items with the same subscale are scored together.",
    KEYED: "+ or 1, or for a reverse-keyed item −, -1, R or reverse; empty means +. "
    "Reverse-keyed: agreeing means less of what is measured; the points are turned round before "
    "scoring.",
    PAIR: "Code of the item that asks the same with the two things exchanged.",
    GENRE: "What kind of item it is, such as debate, or for a word its part of speech.",
    TAGS: "Keywords with commas between them.",
}


@dataclass
class Chosen:
    """What this tab shows of one bank's columns, and columns added that nobody has filled yet."""

    hidden: set[str]
    facts: list[str] | None = None  # None: those that are used
    texts: list[TextColumn] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)


def choose_columns(desk: Desk) -> tuple[str, ...]:
    """The columns to show, from the code on, chosen in a popover."""
    chosen = _chosen(desk)
    texts = bank_columns.text_columns(desk.bank, chosen.texts)
    with st.popover("Columns", icon=":material/view_column:"):
        _choose_texts(desk, chosen, [column.name for column in texts])
        facts = _choose_facts(desk, chosen)
        _form_form(desk)
        _domain_form(desk)
        party_form(desk, then=lambda: _show_group(desk, _POSITIONS))
    bank = desk.bank
    domains = dict.fromkeys([*bank.domains(), *chosen.domains]) if _LOADINGS in facts else ()
    parties = bank_columns.party_codes(bank) if _POSITIONS in facts else ()
    shown = (column for column in texts if column.name not in chosen.hidden)
    return bank_columns.in_order(facts, shown, domains, parties)


def column_settings(columns: Sequence[str]) -> dict[str, Any]:
    """How the grid shows each of these columns."""
    config = st.column_config
    found: dict[str, Any] = {
        POSITION: config.NumberColumn(
            "Position", step=1, min_value=1, width=105, pinned=True,
            help="Where the item stands in the questionnaire. Type another number to move it.",
        ),
        CODE: config.TextColumn(
            "Code", width=110, pinned=True,
            help="The short name of the item, the same in every language and in every result.",
        ),
    }  # fmt: skip
    n_texts = sum(name.startswith(TEXT) for name in columns)
    others = (name for name in columns if name not in found)
    return found | {name: _setting(name, 320 if n_texts <= 2 else 260) for name in others}


def _setting(name: str, text_width: int) -> Any:
    config, title = st.column_config, column_title(name)
    if name.startswith(TEXT):
        return config.TextColumn(
            title, width=text_width,
            help="What is asked. {entity} stands for a brand, party or person named by the design.",
        )  # fmt: skip
    if name.startswith(LOADING):
        told = "Domain: +1, −1 or 0, as agreeing means more, less or neither of it; empty: no part."
        return config.TextColumn(title, width=110, help=told)
    if name.startswith(PARTY):
        told = "Party: +1, −1 or 0, as it is for, against or neither; empty: not known."
        return config.TextColumn(title, width=100, help=told)
    if name == RANK:
        told = "Place by frequency, 1 for the most frequent."
        return config.NumberColumn(title, width=80, min_value=0, step=1, help=told)
    default = KEYED_WORDS[1] if name == KEYED else None
    width = 90 if name == KEYED else 110
    return config.TextColumn(title, width=width, default=default, help=_HELP[name])


def _chosen(desk: Desk) -> Chosen:
    key = f"bank_columns_{desk.code}"
    found: Chosen | None = st.session_state.get(key)
    if found is None:
        names = [column.name for column in bank_columns.text_columns(desk.bank)]
        found = st.session_state[key] = Chosen(set(names[_MOST_AT_FIRST:]))
    return found


def _choose_texts(desk: Desk, chosen: Chosen, names: list[str]) -> None:
    key = desk.key(f"texts_{hash(tuple(names))}")
    st.multiselect(
        "Texts", names, [name for name in names if name not in chosen.hidden], key=key,
        format_func=column_title, on_change=_keep_texts, args=(chosen, names, key),
        help="Each language, form and mood the bank has is a column.",
    )  # fmt: skip


def _keep_texts(chosen: Chosen, names: list[str], key: str) -> None:
    shown = st.session_state.to_dict().get(key) or []
    chosen.hidden = (chosen.hidden - set(names)) | (set(names) - set(shown))


def _choose_facts(desk: Desk, chosen: Chosen) -> list[str]:
    bank = desk.bank
    used = [*bank_columns.used_facts(bank)]
    used += [_LOADINGS] if bank.domains() or chosen.domains else []
    used += [_POSITIONS] if bank_columns.party_codes(bank) else []
    shown = used if chosen.facts is None else chosen.facts
    key = desk.key(f"facts_{hash(tuple(shown)) if chosen.facts is None else ''}")
    st.multiselect(
        "Facts about the items", list(_FACT_TITLES), shown, key=key,
        format_func=_FACT_TITLES.__getitem__, on_change=_keep_facts, args=(chosen, key),
        help="Those the bank uses are shown until you choose.",
    )  # fmt: skip
    return [name for name in _FACT_TITLES if name in shown]


def _keep_facts(chosen: Chosen, key: str) -> None:
    chosen.facts = list(st.session_state.to_dict().get(key) or [])


def _form_form(desk: Desk) -> None:
    form_key, name_key, mood_key = (desk.key(f"new_form_{part}") for part in ("", "name", "mood"))
    known = desk.bank.forms()
    offered = [*bank_edits.offered_forms(desk.bank), *known, _OWN_FORM]
    with st.form(desk.key("form_form"), border=True):
        left, right = st.columns(2)
        left.selectbox(
            "Add a form", offered, key=form_key,
            format_func=lambda form: form_word(form) if form else "A name of your own",
            help="Another way of putting each item. With a negation or an opposite, who agrees "
            "with the original disagrees.",
        )  # fmt: skip
        right.selectbox(
            "For formats of mood", ["", *bank_columns.MOODS], key=mood_key,
            format_func=lambda mood: mood or "any",
            help="A statement to agree with, a question, a choice between two: a text with a mood "
            "is asked with the response options of that mood, in place of the text for any.",
        )  # fmt: skip
        st.text_input("Own name of the form", key=name_key, placeholder="shortened")
        st.form_submit_button(
            "Add columns", icon=":material/add:", on_click=_add_form,
            args=(desk, form_key, name_key, mood_key),
        )  # fmt: skip


def _add_form(desk: Desk, form_key: str, name_key: str, mood_key: str) -> None:
    values = st.session_state.to_dict()
    form, mood = str(values.get(form_key) or ""), str(values.get(mood_key) or "")
    try:
        form = form or bank_edits.form_code(str(values.get(name_key) or ""))
    except UserError as error:
        desk.problem = error
        return
    chosen = _chosen(desk)
    for language in desk.bank.languages:
        column = TextColumn(language, form, mood)
        chosen.hidden.discard(column.name)
        if column not in chosen.texts:
            chosen.texts.append(column)
    titles = [text_title(column) for column in chosen.texts[-len(desk.bank.languages) :]]
    desk.note = f"Added: {'; '.join(titles)}. A column is kept once a text stands in it."


def _domain_form(desk: Desk) -> None:
    key = desk.key("new_domain")
    with st.form(desk.key("domain_form"), border=True, clear_on_submit=True):
        st.text_input(
            "Add a domain", key=key, placeholder="law_and_order",
            help="Something the items say more, less or nothing about, such as a field of policy.",
        )  # fmt: skip
        st.form_submit_button(
            "Add domain", icon=":material/add:", on_click=_add_domain, args=(desk, key)
        )


def _add_domain(desk: Desk, key: str) -> None:
    try:
        name = bank_edits.domain_name(desk.bank, str(st.session_state.to_dict().get(key) or ""))
    except UserError as error:
        desk.problem = error
        return
    _chosen(desk).domains.append(name)
    _show_group(desk, _LOADINGS)


def _show_group(desk: Desk, group: str) -> None:
    """Show the columns of domains or parties, where facts have been chosen without them."""
    chosen = _chosen(desk)
    if chosen.facts is not None and group not in chosen.facts:
        chosen.facts = [*chosen.facts, group]
