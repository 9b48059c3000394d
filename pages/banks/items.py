"""The items of a bank in a grid, its columns, parties, and directions of forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import streamlit as st

from core.domain.instrument import (
    INVERTED_FORMS,
    ITEM_COLUMNS,
    LEANINGS,
    ORIGINAL,
    Instrument,
)
from core.domain.numbers import count_text
from core.errors import UserError
from core.workflow.banks import editing, pasted, translations
from core.workflow.banks import grid as bank_grid
from core.workflow.banks.grid import (
    ANNOTATION,
    ATTRIBUTE,
    CODE,
    LOADING,
    NUMBER,
    PARTY,
    POSITION,
    TEXT,
    GridEdits,
    GridTextColumn,
    text_column,
)
from pages.banks.editor import (
    BankEditor,
    Grid,
    column_title,
    form_word,
    gaps_words,
    moved_words,
    show_messages,
    text_title,
)
from pages.banks.versions import show_groups
from pages.shared import grids, widgets

# The parties of a bank with their leanings: add one, change its leaning, remove one.


def _party_form(editor: BankEditor, *, after_adding: Callable[[], None]) -> None:
    """A form that adds a party and then calls `after_adding`, and one that removes a party."""
    name_key, leaning_key = editor.key("party_name"), editor.key("party_leaning")
    country_key = editor.key("party_country")
    with st.form(editor.key("party_form"), border=True, clear_on_submit=True):
        left, right = st.columns(2)
        left.text_input(
            "Add a party",
            key=name_key,
            placeholder="Greenfield",
            help="The grid gets a column for its position on each item. If you type the name of a "
            "party of the bank, its leaning changes.",
        )
        right.selectbox("Leaning", LEANINGS, key=leaning_key)
        st.text_input(
            "Country of the party",
            key=country_key,
            placeholder="Freedonia",
            help="Any text. If you leave it empty, a party of the bank keeps its country.",
        )
        st.form_submit_button(
            "Add party",
            icon=":material/add:",
            on_click=_set_party,
            args=(editor, name_key, leaning_key, country_key, after_adding),
        )
    if editor.bank.parties:
        _party_removal_form(editor)


def _party_removal_form(editor: BankEditor) -> None:
    leanings = {
        party.code: f"{party.code} ({', '.join(filter(None, (party.leaning, party.country)))})"
        for party in editor.bank.parties
    }
    key = editor.key("party_gone")
    with st.form(editor.key("party_removal"), border=True):
        st.selectbox("Party", list(leanings), format_func=leanings.__getitem__, key=key)
        st.form_submit_button(
            "Remove this party with its positions",
            icon=":material/delete:",
            on_click=_remove_party,
            args=(editor, key),
        )


def _set_party(
    editor: BankEditor,
    name_key: str,
    leaning_key: str,
    country_key: str,
    after_adding: Callable[[], None],
) -> None:
    values = st.session_state.to_dict()
    name, leaning = str(values.get(name_key) or ""), str(values.get(leaning_key) or LEANINGS[0])
    country = str(values.get(country_key) or "")
    if editor.commit(
        lambda bank: editing.set_party(bank, name, leaning, country), "Party", redraw=True
    ):
        after_adding()


def _remove_party(editor: BankEditor, key: str) -> None:
    code = str(st.session_state.to_dict().get(key) or "")
    editor.commit(lambda bank: editing.remove_party(bank, code), "Party removed", redraw=True)


# Which columns the grid of items shows, and new ones: forms, moods, domains, parties.

# Columns of texts shown before anybody has chosen.
_MOST_AT_FIRST = 8
_OWN_FORM = ""
_ATTRIBUTES, _LOADINGS, _ANNOTATIONS, _POSITIONS = (
    "attributes",
    "loadings",
    "annotations",
    "positions",
)
_FACT_TITLES = {
    **{name: column.title for name, column in ITEM_COLUMNS.items()},
    _ATTRIBUTES: "Attributes",
    _LOADINGS: "Domains",
    _ANNOTATIONS: "Annotators",
    _POSITIONS: "Parties",
}
_VALUE_KINDS = {ATTRIBUTE: "texts", NUMBER: "numbers"}


@dataclass
class ColumnChoice:
    """What this tab shows of one bank's columns, and columns added that nobody has filled yet."""

    hidden: set[str]
    facts: list[str] | None = None  # None: those that are used
    texts: list[GridTextColumn] = field(default_factory=list)
    domains: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)  # columns of the grid
    annotators: list[str] = field(default_factory=list)


def _choose_columns(editor: BankEditor) -> tuple[str, ...]:
    """The columns to show, from the code on, chosen in a popover."""
    choice = _column_choice(editor)
    texts = bank_grid.text_columns(editor.bank, choice.texts)
    with st.popover("Columns", icon=":material/view_column:"):
        _choose_texts(editor, choice, [column.name for column in texts])
        facts = _choose_facts(editor, choice)
        _new_form_form(editor)
        _new_attribute_form(editor)
        _attribute_change_form(editor)
        _new_domain_form(editor)
        _new_annotator_form(editor)
        _party_form(editor, after_adding=lambda: _show_group(editor, _POSITIONS))
    bank = editor.bank
    domains = dict.fromkeys([*bank.domains(), *choice.domains]) if _LOADINGS in facts else ()
    parties = bank_grid.party_codes(bank) if _POSITIONS in facts else ()
    shown = (column for column in texts if column.name not in choice.hidden)
    attributes = bank_grid.attribute_columns(bank, choice.attributes)
    coded = bank_grid.annotation_columns(bank, choice.domains, choice.annotators)
    return bank_grid.order_columns(
        facts,
        shown,
        domains,
        parties,
        attributes if _ATTRIBUTES in facts else (),
        coded if _ANNOTATIONS in facts else (),
    )


def _column_settings(columns: Sequence[str]) -> dict[str, Any]:
    """How the grid shows each of these columns."""
    config = st.column_config
    settings: dict[str, Any] = {
        POSITION: config.NumberColumn(
            "Position",
            step=1,
            min_value=1,
            width=105,
            pinned=True,
            help="The place of the item in the questionnaire. Type another number to move it.",
        ),
        CODE: config.TextColumn(
            "Code",
            width=110,
            pinned=True,
            help="The short name of the item, the same in every language and in every result.",
        ),
    }
    n_texts = sum(name.startswith(TEXT) for name in columns)
    others = (name for name in columns if name not in settings)
    return settings | {name: _setting(name, 320 if n_texts <= 2 else 260) for name in others}


def _setting(name: str, text_width: int) -> Any:
    config, title = st.column_config, column_title(name)
    if name.startswith(TEXT):
        return config.TextColumn(
            title,
            width=text_width,
            help="The text of the item. {entity} stands for a brand, party or person that the "
            "design names.",
        )
    if name.startswith(LOADING):
        help_text = (
            "Domain: +1 if agreeing means more of it, −1 if it means less, 0 if neither; empty if "
            "the item does not belong to it."
        )
        return config.TextColumn(title, width=110, help=help_text)
    if name.startswith(PARTY):
        help_text = "Party: +1 if it is for, −1 if against, 0 if neither; empty if unknown."
        return config.TextColumn(title, width=100, help=help_text)
    if name.startswith(ANNOTATION):
        help_text = (
            "The code that one annotator gives: +1, 0 or −1; empty if there is none. The column of "
            "the domain, which holds the consensus, does not follow from it."
        )
        return config.TextColumn(title, width=120, help=help_text)
    if name.startswith((ATTRIBUTE, NUMBER)):
        own = name.partition(":")[2]
        help_text = f"An attribute of the items. Filters and groups of analyses call it item.{own}."
        column = config.NumberColumn if name.startswith(NUMBER) else config.TextColumn
        return column(title, width=120, help=widgets.plain(help_text))
    fact = ITEM_COLUMNS[name]
    # A column of choices would drop what is pasted and is not among them, such as R, in silence.
    if fact.is_number and not fact.choices:
        return config.NumberColumn(title, width=80, min_value=0, step=1, help=fact.help)
    return config.TextColumn(title, width=110, help=fact.help)


def _column_choice(editor: BankEditor) -> ColumnChoice:
    key = f"bank_columns_{editor.code}"
    choice: ColumnChoice | None = st.session_state.get(key)
    if choice is None:
        names = [column.name for column in bank_grid.text_columns(editor.bank)]
        choice = st.session_state[key] = ColumnChoice(set(names[_MOST_AT_FIRST:]))
    return choice


def _choose_texts(editor: BankEditor, choice: ColumnChoice, names: list[str]) -> None:
    key = editor.key(f"texts_{hash(tuple(names))}")
    st.multiselect(
        "Texts",
        names,
        [name for name in names if name not in choice.hidden],
        key=key,
        format_func=column_title,
        on_change=_save_texts,
        args=(choice, names, key),
        help="The bank has one column of texts for each language, form and mood.",
    )


def _save_texts(choice: ColumnChoice, names: list[str], key: str) -> None:
    shown = st.session_state.to_dict().get(key) or []
    choice.hidden = (choice.hidden - set(names)) | (set(names) - set(shown))


def _choose_facts(editor: BankEditor, choice: ColumnChoice) -> list[str]:
    bank = editor.bank
    used = [*bank_grid.used_facts(bank)]
    used += [_ATTRIBUTES] if bank_grid.attribute_columns(bank, choice.attributes) else []
    used += [_LOADINGS] if bank.domains() or choice.domains else []
    coded = bank_grid.annotation_columns(bank, choice.domains, choice.annotators)
    used += [_ANNOTATIONS] if coded else []
    used += [_POSITIONS] if bank_grid.party_codes(bank) else []
    shown = used if choice.facts is None else choice.facts
    key = editor.key(f"facts_{hash(tuple(shown)) if choice.facts is None else ''}")
    st.multiselect(
        "Facts about the items",
        list(_FACT_TITLES),
        shown,
        key=key,
        format_func=_FACT_TITLES.__getitem__,
        on_change=_save_facts,
        args=(choice, key),
        help="Until you choose, the grid shows the facts that the bank uses.",
    )
    return [name for name in _FACT_TITLES if name in shown]


def _save_facts(choice: ColumnChoice, key: str) -> None:
    choice.facts = list(st.session_state.to_dict().get(key) or [])


def _new_form_form(editor: BankEditor) -> None:
    form_key, name_key, mood_key = (editor.key(f"new_form_{part}") for part in ("", "name", "mood"))
    known = editor.bank.forms()
    offered = [*editing.offered_forms(editor.bank), *known, _OWN_FORM]
    with st.form(editor.key("form_form"), border=True):
        left, right = st.columns(2)
        left.selectbox(
            "Add a form",
            offered,
            key=form_key,
            format_func=lambda form: form_word(form) if form else "A name of your own",
            help="A form is another wording of each item. A person who agrees with the original "
            "disagrees with its negation or opposite.",
        )
        right.selectbox(
            "For formats of mood",
            ["", *bank_grid.MOODS],
            key=mood_key,
            format_func=lambda mood: mood or "any",
            help="The mood is a statement, a question or a choice between two. Response options "
            "with a mood take the text of that mood, or else the text for any mood.",
        )
        st.text_input("Name of your own form", key=name_key, placeholder="shortened")
        st.form_submit_button(
            "Add columns",
            icon=":material/add:",
            on_click=_add_form,
            args=(editor, form_key, name_key, mood_key),
        )


def _add_form(editor: BankEditor, form_key: str, name_key: str, mood_key: str) -> None:
    values = st.session_state.to_dict()
    form, mood = str(values.get(form_key) or ""), str(values.get(mood_key) or "")
    try:
        form = form or editing.form_code(str(values.get(name_key) or ""))
    except UserError as error:
        editor.problem = error
        return
    choice = _column_choice(editor)
    for language in editor.bank.languages:
        column = GridTextColumn(language, form, mood)
        choice.hidden.discard(column.name)
        if column not in choice.texts:
            choice.texts.append(column)
    titles = [text_title(column) for column in choice.texts[-len(editor.bank.languages) :]]
    editor.note = f"Added: {'; '.join(titles)}. A column is saved with its first text."


def _new_domain_form(editor: BankEditor) -> None:
    key = editor.key("new_domain")
    with st.form(editor.key("domain_form"), border=True, clear_on_submit=True):
        st.text_input(
            "Add a domain",
            key=key,
            placeholder="law_and_order",
            help="A topic that the items are for, against or silent about, such as a field of "
            "policy.",
        )
        st.form_submit_button(
            "Add domain", icon=":material/add:", on_click=_add_domain, args=(editor, key)
        )


def _add_domain(editor: BankEditor, key: str) -> None:
    try:
        name = editing.domain_name(editor.bank, str(st.session_state.to_dict().get(key) or ""))
    except UserError as error:
        editor.problem = error
        return
    _column_choice(editor).domains.append(name)
    _show_group(editor, _LOADINGS)


def _new_attribute_form(editor: BankEditor) -> None:
    name_key, kind_key = editor.key("new_attribute"), editor.key("new_attribute_kind")
    with st.form(editor.key("attribute_form"), border=True, clear_on_submit=True):
        left, right = st.columns(2)
        left.text_input(
            "Add an attribute",
            key=name_key,
            placeholder="country",
            help="A column of your own, such as country or year. Analyses filter and group by it.",
        )
        right.selectbox(
            "Its values are",
            list(_VALUE_KINDS),
            format_func=_VALUE_KINDS.__getitem__,
            key=kind_key,
            help="All values of an attribute are texts, or all are numbers.",
        )
        st.form_submit_button(
            "Add attribute",
            icon=":material/add:",
            on_click=_add_attribute,
            args=(editor, name_key, kind_key),
        )


def _add_attribute(editor: BankEditor, name_key: str, kind_key: str) -> None:
    values = st.session_state.to_dict()
    choice = _column_choice(editor)
    try:
        name = editing.attribute_name(editor.bank, str(values.get(name_key) or ""))
    except UserError as error:
        editor.problem = error
        return
    kind = str(values.get(kind_key) or ATTRIBUTE)
    _forget_added_attribute(editor, name)
    choice.attributes.append(kind + name)
    _show_group(editor, _ATTRIBUTES)
    editor.note = f"Added: item.{name}. The column is saved with its first value."


def _attribute_change_form(editor: BankEditor) -> None:
    names = editor.bank.attribute_names()
    if not names:
        return
    chosen_key, name_key = editor.key("attribute_chosen"), editor.key("attribute_new_name")
    with st.form(editor.key("attribute_change"), border=True, clear_on_submit=True):
        left, right = st.columns(2)
        left.selectbox("Attribute", names, key=chosen_key)
        right.text_input("New name", key=name_key)
        with st.container(horizontal=True):
            st.form_submit_button(
                "Rename",
                icon=":material/edit:",
                on_click=_rename_attribute,
                args=(editor, chosen_key, name_key),
            )
            st.form_submit_button(
                "Remove with its values",
                icon=":material/delete:",
                on_click=_remove_attribute,
                args=(editor, chosen_key),
            )


def _rename_attribute(editor: BankEditor, chosen_key: str, name_key: str) -> None:
    values = st.session_state.to_dict()
    name, new = str(values.get(chosen_key) or ""), str(values.get(name_key) or "")
    if editor.commit(
        lambda bank: editing.rename_attribute(bank, name, new), "Attribute renamed", redraw=True
    ):
        _forget_added_attribute(editor, name)


def _remove_attribute(editor: BankEditor, chosen_key: str) -> None:
    name = str(st.session_state.to_dict().get(chosen_key) or "")
    if editor.commit(
        lambda bank: editing.remove_attribute(bank, name), "Attribute removed", redraw=True
    ):
        _forget_added_attribute(editor, name)


def _forget_added_attribute(editor: BankEditor, name: str) -> None:
    """Take away the column that was added for an attribute which the bank no longer has."""
    choice = _column_choice(editor)
    choice.attributes = [c for c in choice.attributes if c.partition(":")[2] != name]


def _new_annotator_form(editor: BankEditor) -> None:
    key = editor.key("new_annotator")
    with st.form(editor.key("annotator_form"), border=True, clear_on_submit=True):
        st.text_input(
            "Add an annotator",
            key=key,
            placeholder="anna",
            help="A person who codes the items. The grid gets a column for each domain.",
        )
        st.form_submit_button(
            "Add annotator", icon=":material/add:", on_click=_add_annotator, args=(editor, key)
        )


def _add_annotator(editor: BankEditor, key: str) -> None:
    try:
        name = editing.annotator_name(str(st.session_state.to_dict().get(key) or ""))
    except UserError as error:
        editor.problem = error
        return
    choice = _column_choice(editor)
    choice.annotators.append(name)
    _show_group(editor, _ANNOTATIONS)
    if not bank_grid.annotation_columns(editor.bank, choice.domains, choice.annotators):
        editor.note = "Add a domain, too: an annotator codes each domain."


def _show_group(editor: BankEditor, group: str) -> None:
    """Show a group of columns if the chosen facts do not include it."""
    choice = _column_choice(editor)
    if choice.facts is not None and group not in choice.facts:
        choice.facts = [*choice.facts, group]


# How agreeing with each form of an item relates to agreeing with its original.

_DIRECTION_WORDS = {1: "same", -1: "inverted"}


def _directions_expander(editor: BankEditor) -> None:
    """The directions of the forms: by name, and the items whose forms differ from it."""
    forms = [form for form in editor.bank.forms() if form != ORIGINAL]
    if not forms or not editor.bank.items:
        return
    with st.expander("Directions of the forms"):
        st.caption(
            "Same: a person who agrees with the original also agrees with this form. Inverted: "
            "that person disagrees with this form, so its scores are reversed. The name of the "
            "form sets its direction, unless you choose another one for an item."
        )
        codes = [item.code for item in editor.bank.items]
        code = st.selectbox("Item", codes, key=f"bank_direction_of_{editor.code}")
        columns = st.columns(3)
        for place, form in enumerate(forms):
            with columns[place % 3]:
                _direction_choice(editor, str(code), form)
        _direction_exceptions(editor.bank)


def _direction_choice(editor: BankEditor, code: str, form: str) -> None:
    item = editor.bank.item(code)
    key = editor.key(f"direction_{code}_{form}")
    by_name = _DIRECTION_WORDS[-1 if form in INVERTED_FORMS else 1]
    options = {None: f"{by_name} (by its name)", 1: _DIRECTION_WORDS[1], -1: _DIRECTION_WORDS[-1]}
    chosen = item.directions.get(form) if item else None
    st.selectbox(
        form_word(form),
        list(options),
        list(options).index(chosen),
        key=key,
        format_func=options.__getitem__,
        on_change=_save_direction,
        args=(editor, code, form, key),
    )


def _direction_exceptions(bank: Instrument) -> None:
    rows = [
        {"Item": item.code, "Form": form_word(form), "Direction": _DIRECTION_WORDS[direction]}
        for item in bank.items
        for form, direction in item.directions.items()
        if direction in _DIRECTION_WORDS
    ]
    if rows:
        widgets.table(pd.DataFrame(rows), alt=f"Directions that items set themselves: {len(rows)}")
    else:
        st.caption("All directions follow the names of the forms.")


def _save_direction(editor: BankEditor, code: str, form: str, key: str) -> None:
    direction = st.session_state.to_dict().get(key)
    editor.commit(
        lambda bank: editing.set_direction(bank, code, form, direction), "Direction", redraw=True
    )


# The items of a bank in a grid, a page of it at a time, languages and forms side by side.

_ROWS_A_PAGE = 200
_SEARCH = "bank_search"
_MAX_REMARKS = 10


def items_section(editor: BankEditor) -> None:
    """The grid with search, columns, pages, and what is missing or wrong."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        search = st.text_input(
            "Find items",
            key=f"{_SEARCH}_{editor.code}",
            icon=":material/search:",
            type="search",
            placeholder="Part of a code, subscale or text",
            width=320,
            label_visibility="collapsed",
        )
        columns = _choose_columns(editor)
        only = st.toggle(
            "Only items with a problem",
            key=f"bank_only_{editor.code}",
            help="Items that lack a text in the columns shown, have an unreviewed draft, or are "
            "listed below.",
        )
    texts = [bank_grid.text_column(name) for name in columns if name.startswith(TEXT)]
    problems = editing.problems_besides_gaps(editor.bank)
    with_problem = editing.rows_with_problems(editor.bank, texts, problems) if only else None
    matches = bank_grid.search_rows(editor.bank, search, with_problem)
    n_pages = max(1, -(-len(matches) // _ROWS_A_PAGE))
    page = 1
    if n_pages > 1:
        with row:
            page = st.pagination(n_pages, key=f"bank_pages_{editor.code}_{n_pages}_{search}_{only}")
    rows = matches[(page - 1) * _ROWS_A_PAGE : page * _ROWS_A_PAGE]
    # The texts that change with each edit are below the grid, so that the grid does not move.
    drawn = editor.grids.get("items")
    was_empty = not (drawn.base if drawn else editor.bank).items  # so the grid does not move either
    if was_empty:
        _box(editor, columns, opened=True)
    else:
        _what_was_added(editor)
    _how_to_edit(columns, len(_remarks(drawn, columns)) if drawn else 0)
    _grid(editor, (search, only, page, columns), rows, columns)
    grids.add_rows_button(editor.key("more_rows"), editor.redraw)
    if not was_empty:
        _box(editor, columns)
    show_messages(editor)
    _count_line(editor.bank, matches, rows)
    if editor.bank.items:
        st.text(gaps_words(editing.gaps(editor.bank, texts)))
        show_groups(editing.group_problems(problems))
    _directions_expander(editor)


def _how_to_edit(columns: tuple[str, ...], n_remarks: int) -> None:
    """The line above the grid, as high with a word on cells that were not taken as without."""
    order = "; ".join(column_title(name) for name in columns[:4])
    order += "; …" if len(columns) > 4 else ""
    not_taken = count_text(n_remarks, "cell was", "cells were")
    st.caption(
        f":red[{not_taken} changed or ignored: see below the table.]"
        if n_remarks
        else "Double-click a cell, or press Enter, to edit it. Every change is saved at once.",
        help="To add items, type into the empty rows at the end; 'Add rows' makes more of them. "
        "To remove rows, tick them at the left and press Delete. To paste cells from Excel over "
        "these, click the first cell once. To paste many new rows, use the box below the table; "
        f"copy the columns in the order shown ({widgets.plain(order)}).",
    )


def _count_line(bank: Instrument, matches: tuple[int, ...], rows: tuple[int, ...]) -> None:
    if not bank.items:
        st.info(
            "This bank has no items yet. Type or paste them into the box above the table, or into "
            "the table.",
            icon=":material/edit:",
        )
        return
    n_items = count_text(len(bank.items), "item")
    of_all = f"{len(matches):,} of {n_items} found" if len(matches) < len(bank.items) else n_items
    shown = "" if len(rows) == len(matches) else f", {len(rows):,} of them on this page"
    st.caption(f"{of_all}{shown}.")


def _grid(
    editor: BankEditor, showing: object, rows: tuple[int, ...], columns: tuple[str, ...]
) -> None:
    def frame(bank: Instrument) -> pd.DataFrame:
        return bank_grid.item_rows(bank, rows, columns)

    def apply(bank: Instrument, base: Instrument, edits: GridEdits) -> Instrument:
        edits = bank_grid.spread_blocks(edits, columns)
        items = bank_grid.edit_items(base.items, rows, edits)
        return translations.keep_marks(bank, replace(bank, items=items))

    grid = editor.grid("items", showing, frame, apply)
    if bank_grid.has_block(_edits(grid), columns) and editor.unsaved is None:
        earlier_remarks = _remarks(grid, columns)
        editor.redraw()
        grid = editor.grid("items", showing, frame, apply)
        grid.remarks = earlier_remarks
    grids.growing_grid(
        grid.frame,
        key=grid.key,
        columns=_column_settings((POSITION, *columns)),
        on_change=editor.catch_up,
        alt="Items of the bank: position, code, facts, and text in each language and form",
    )
    remarks = _remarks(grid, columns)
    show_remarks((*grid.remarks, *remarks))
    if remarks:
        st.button(
            "Show these cells as they are saved",
            key=editor.key("reset_cells"),
            on_click=editor.redraw,
            icon=":material/refresh:",
        )
    codes = [item.code for item in grid.base.items], [item.code for item in editor.bank.items]
    moved = moved_words(_edits(grid), "item", *codes)
    if moved:
        st.caption(moved)
        st.button(
            "Show the new order and codes",
            key=editor.key("redraw"),
            on_click=editor.redraw,
            icon=":material/refresh:",
        )


def _box(editor: BankEditor, columns: tuple[str, ...], *, opened: bool = False) -> None:
    """The box for many items at once, with what became of the last ones."""
    texts = [name for name in columns if name.startswith(TEXT)]

    def add(typed: list[dict[str, str]]) -> bool:
        rows = bank_grid.with_marked_keys(typed, texts[0]) if "keyed" in columns else typed
        edits = GridEdits({}, rows, ())
        named = tuple(dict.fromkeys((*columns, *(name for row in rows for name in row))))
        st.session_state[_box_remarks(editor)] = bank_grid.item_remarks(edits, named, (), ())
        languages = [text_column(name).language for name in named if name.startswith(TEXT)]

        def with_items(bank: Instrument) -> Instrument:
            for language in languages:
                if language not in bank.languages:
                    bank = editing.add_language(bank, language)
            items = bank_grid.edit_items(bank.items, range(len(bank.items)), edits)
            return replace(bank, items=items)

        return editor.commit(with_items, "Items added", redraw=True)

    titles = {name: column_title(name) for name in columns}

    def of_new_languages(text: str) -> dict[str, str]:
        codes = pasted.new_languages(text, titles, texts[0])
        names = [GridTextColumn(code).name for code in codes]
        return {name: column_title(name) for name in names}

    if texts:
        grids.box_of_rows(
            titles,
            texts[0],
            key=_box_key(editor),
            what="item",
            add=add,
            opened=opened,
            hint="(R) at its end: reverse-keyed" if "keyed" in columns else "",
            further=of_new_languages,
        )
        _what_was_added(editor)


def _what_was_added(editor: BankEditor) -> None:
    """What became of the last rows of the box, once: above the table where it has rows."""
    grids.show_added(_box_key(editor))
    show_remarks(st.session_state.pop(_box_remarks(editor), ()))


def _box_key(editor: BankEditor) -> str:
    return f"bank_box_{editor.code}"


def _box_remarks(editor: BankEditor) -> str:
    return f"bank_box_remarks_{editor.code}"


def _edits(grid: Grid) -> GridEdits:
    return grid.edits(st.session_state.to_dict())


def _remarks(grid: Grid, columns: Sequence[str]) -> tuple[str, ...]:
    shown = [int(position) - 1 for position in grid.frame[POSITION]]
    return bank_grid.item_remarks(_edits(grid), columns, grid.base.items, shown)


def show_remarks(remarks: tuple[str, ...]) -> None:
    """Typed or pasted cells that were changed or ignored, the first few in words."""
    if not remarks:
        return
    st.warning("Some cells were changed or ignored:")
    for remark in remarks[:_MAX_REMARKS]:
        st.text(f"• {remark}")
    if len(remarks) > _MAX_REMARKS:
        st.text(f"and {len(remarks) - _MAX_REMARKS:,} more")
