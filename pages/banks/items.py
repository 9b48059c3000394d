"""The items of a bank in a grid, its columns, parties, and directions of forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import INVERTED_FORMS, LEANINGS, ORIGINAL, Instrument
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.banks import editing, grid
from core.workflow.banks import grid as bank_columns
from core.workflow.banks import grid as bank_grid
from core.workflow.banks import grid as bank_paste
from core.workflow.banks.grid import (
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
    GridEdits,
    GridTextColumn,
)
from pages.banks.open_bank import (
    FACT_WORDS,
    Desk,
    Grid,
    column_title,
    form_word,
    gaps_words,
    moved_words,
    text_title,
)
from pages.banks.versions import show_groups
from pages.shared import widgets

# The parties of a bank with their leanings: add one, change its leaning, remove one.


def _party_form(desk: Desk, *, then: Callable[[], None]) -> None:
    """A form for a party and its leaning, and one to remove a party; `then` follows a new one."""
    name_key, leaning_key = desk.key("party_name"), desk.key("party_leaning")
    with st.form(desk.key("party_form"), border=True, clear_on_submit=True):
        left, right = st.columns(2)
        left.text_input(
            "Add a party", key=name_key, placeholder="Greenfield",
            help="The grid gets a column for its position on each item. The name of a party that "
            "is there changes its leaning.",
        )  # fmt: skip
        right.selectbox("Leaning", LEANINGS, key=leaning_key)
        st.form_submit_button(
            "Add party", icon=":material/add:", on_click=_set_party,
            args=(desk, name_key, leaning_key, then),
        )  # fmt: skip
    if desk.bank.parties:
        _removal(desk)


def _removal(desk: Desk) -> None:
    leanings = {party.code: f"{party.code} ({party.leaning})" for party in desk.bank.parties}
    key = desk.key("party_gone")
    with st.form(desk.key("party_removal"), border=True):
        st.selectbox("Parties", list(leanings), format_func=leanings.__getitem__, key=key)
        st.form_submit_button(
            "Remove this party and its positions", icon=":material/delete:", on_click=_remove_party,
            args=(desk, key),
        )  # fmt: skip


def _set_party(desk: Desk, name_key: str, leaning_key: str, then: Callable[[], None]) -> None:
    values = st.session_state.to_dict()
    name, leaning = str(values.get(name_key) or ""), str(values.get(leaning_key) or LEANINGS[0])
    if desk.commit(lambda bank: editing.set_party(bank, name, leaning), "Party", redraw=True):
        then()


def _remove_party(desk: Desk, key: str) -> None:
    code = str(st.session_state.to_dict().get(key) or "")
    desk.commit(lambda bank: editing.remove_party(bank, code), "Party removed", redraw=True)


# Which columns the grid of items shows, and new ones: forms, moods, domains, parties.

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
    texts: list[GridTextColumn] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)


def _choose_columns(desk: Desk) -> tuple[str, ...]:
    """The columns to show, from the code on, chosen in a popover."""
    chosen = _chosen(desk)
    texts = grid.text_columns(desk.bank, chosen.texts)
    with st.popover("Columns", icon=":material/view_column:"):
        _choose_texts(desk, chosen, [column.name for column in texts])
        facts = _choose_facts(desk, chosen)
        _form_form(desk)
        _domain_form(desk)
        _party_form(desk, then=lambda: _show_group(desk, _POSITIONS))
    bank = desk.bank
    domains = dict.fromkeys([*bank.domains(), *chosen.domains]) if _LOADINGS in facts else ()
    parties = grid.party_codes(bank) if _POSITIONS in facts else ()
    shown = (column for column in texts if column.name not in chosen.hidden)
    return grid.order_columns(facts, shown, domains, parties)


def _column_settings(columns: Sequence[str]) -> dict[str, Any]:
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
        names = [column.name for column in grid.text_columns(desk.bank)]
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
    used = [*grid.used_facts(bank)]
    used += [_LOADINGS] if bank.domains() or chosen.domains else []
    used += [_POSITIONS] if grid.party_codes(bank) else []
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
    offered = [*editing.offered_forms(desk.bank), *known, _OWN_FORM]
    with st.form(desk.key("form_form"), border=True):
        left, right = st.columns(2)
        left.selectbox(
            "Add a form", offered, key=form_key,
            format_func=lambda form: form_word(form) if form else "A name of your own",
            help="Another way of putting each item. With a negation or an opposite, who agrees "
            "with the original disagrees.",
        )  # fmt: skip
        right.selectbox(
            "For formats of mood", ["", *grid.MOODS], key=mood_key,
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
        form = form or editing.form_code(str(values.get(name_key) or ""))
    except UserError as error:
        desk.problem = error
        return
    chosen = _chosen(desk)
    for language in desk.bank.languages:
        column = GridTextColumn(language, form, mood)
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
        name = editing.domain_name(desk.bank, str(st.session_state.to_dict().get(key) or ""))
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


# How agreeing with each form of an item relates to agreeing with its original.

_WORDS = {1: "same", -1: "inverted"}


def _directions_expander(desk: Desk) -> None:
    """The directions of the forms: by name, and the items whose forms differ from it."""
    forms = [form for form in desk.bank.forms() if form != ORIGINAL]
    if not forms or not desk.bank.items:
        return
    with st.expander("Directions of the forms"):
        st.caption(
            "Same: who agrees with the original agrees with this form too. Inverted: who agrees "
            "with the original disagrees with it, and its answers are turned round. The name of a "
            "form decides, unless an item says otherwise."
        )
        codes = [item.code for item in desk.bank.items]
        code = st.selectbox("Item", codes, key=f"bank_direction_of_{desk.code}")
        columns = st.columns(3)
        for place, form in enumerate(forms):
            with columns[place % 3]:
                _choice(desk, str(code), form)
        _exceptions(desk.bank)


def _choice(desk: Desk, code: str, form: str) -> None:
    item = desk.bank.item(code)
    key = desk.key(f"direction_{code}_{form}")
    by_name = _WORDS[-1 if form in INVERTED_FORMS else 1]
    options = {None: f"{by_name} (by its name)", 1: _WORDS[1], -1: _WORDS[-1]}
    chosen = item.directions.get(form) if item else None
    st.selectbox(
        form_word(form), list(options), list(options).index(chosen), key=key,
        format_func=options.__getitem__, on_change=_keep, args=(desk, code, form, key),
    )  # fmt: skip


def _exceptions(bank: Instrument) -> None:
    rows = [
        {"Item": item.code, "Form": form_word(form), "Direction": _WORDS[direction]}
        for item in bank.items
        for form, direction in item.directions.items()
        if direction in _WORDS
    ]
    if rows:
        widgets.table(pd.DataFrame(rows), alt=f"Directions that items set themselves: {len(rows)}")
    else:
        st.caption("Every item goes by the names of its forms.")


def _keep(desk: Desk, code: str, form: str, key: str) -> None:
    direction = st.session_state.to_dict().get(key)
    desk.commit(
        lambda bank: editing.set_direction(bank, code, form, direction), "Direction", redraw=True
    )


# The items of a bank in a grid, a page of it at a time, languages and forms side by side.

_ROWS_A_PAGE = 200
_SEARCH = "bank_search"
_MAX_REMARKS = 10


def items_section(desk: Desk) -> None:
    """The grid with search, columns, pages, and what is missing or wrong."""
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    search = left.text_input(
        "Find items", key=f"{_SEARCH}_{desk.code}", icon=":material/search:", type="search",
        placeholder="Part of a code, subscale or text",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        columns = _choose_columns(desk)
        only = st.toggle(
            "Only items with a problem", key=f"bank_only_{desk.code}",
            help="Items that lack a text in the columns shown, hold a draft nobody reviewed, or "
            "are named below.",
        )  # fmt: skip
    texts = [bank_columns.text_column(name) for name in columns if name.startswith(TEXT)]
    problems = editing.problems_besides_gaps(desk.bank)
    among = editing.rows_with_problems(desk.bank, texts, problems) if only else None
    found = bank_grid.search_rows(desk.bank, search, among)
    n_pages = max(1, -(-len(found) // _ROWS_A_PAGE))
    page = 1
    if n_pages > 1:
        with right:
            page = st.pagination(n_pages, key=f"bank_pages_{desk.code}_{n_pages}_{search}_{only}")
    rows = found[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    # What changes with each edit stands below the grid, which would slide under the mouse else.
    _how_to_edit(columns)
    _grid(desk, (search, only, page, columns), rows, columns)
    _count_line(desk.bank, found, rows)
    if desk.bank.items:
        st.text(gaps_words(editing.gaps(desk.bank, texts)))
        show_groups(editing.group_problems(problems))
    _directions_expander(desk)


def _how_to_edit(columns: tuple[str, ...]) -> None:
    order = "; ".join(column_title(name) for name in columns[:4])
    order += "; …" if len(columns) > 4 else ""
    st.caption(
        "Double-click a cell (or press Enter) to edit it; the last, empty row adds an item; tick "
        "rows at the left and press Delete to remove them. To paste cells from Excel over these, "
        "click the first cell only once. To add rows, copy columns in the order shown "
        f"({order}), click the empty cell under Code, and paste. Everything is saved as you go."
    )


def _count_line(bank: Instrument, found: tuple[int, ...], rows: tuple[int, ...]) -> None:
    if not bank.items:
        st.info(
            "This bank has no items yet. Type the first one into the first row of the table.",
            icon=":material/edit:",
        )
        return
    n_items = count_text(len(bank.items), "item")
    of_all = f"{len(found):,} of {n_items} found" if len(found) < len(bank.items) else n_items
    shown = "" if len(rows) == len(found) else f", {len(rows):,} of them in this part"
    st.caption(f"{of_all}{shown}.")


def _grid(desk: Desk, showing: object, rows: tuple[int, ...], columns: tuple[str, ...]) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        return bank_grid.item_rows(bank, rows, columns)

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        edits = bank_paste.spread_blocks(edits, columns)
        return replace(bank, items=bank_grid.edit_items(base.items, rows, edits))

    grid = desk.grid("items", showing, frame, apply)
    if bank_paste.has_block(_edits(grid), columns) and desk.unsaved is None:
        told = _remarks(grid, columns)
        desk.redraw()
        grid = desk.grid("items", showing, frame, apply)
        grid.told = told
    st.data_editor(
        grid.frame,
        key=grid.key,
        num_rows="dynamic",
        hide_index=True,
        height=_height(len(grid.frame)),
        placeholder="",
        column_config=_column_settings((POSITION, *columns)),
        on_change=desk.catch_up,
        alt="Items of the bank: position, code, facts, and text in each language and form",
    )
    show_remarks((*grid.told, *_remarks(grid, columns)))
    codes = [item.code for item in grid.base.items], [item.code for item in desk.bank.items]
    moved = moved_words(_edits(grid), "item", *codes)
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes", key=desk.key("redraw"), on_click=desk.redraw,
            icon=":material/refresh:",
        )  # fmt: skip


def _edits(grid: Grid) -> GridEdits:
    return grid.edits(st.session_state.to_dict())


def _remarks(grid: Grid, columns: Sequence[str]) -> tuple[str, ...]:
    shown = [int(position) - 1 for position in grid.frame[POSITION]]
    return bank_paste.item_remarks(_edits(grid), columns, grid.base.items, shown)


def show_remarks(remarks: tuple[str, ...]) -> None:
    """What was typed or pasted and not taken as written, the first few in words."""
    if not remarks:
        return
    st.warning("Not everything was taken as written:")
    for remark in remarks[:_MAX_REMARKS]:
        st.text(f"• {remark}")
    if len(remarks) > _MAX_REMARKS:
        st.text(f"and {len(remarks) - _MAX_REMARKS:,} more")


def _height(n_rows: int) -> int:
    """Pixels for the header, the rows and some room for new ones, at most a screen."""
    return 37 + 35 * min(max(n_rows + 1, 6), 17)
