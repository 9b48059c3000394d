"""Blocks of a design, each a crossing of its own: a table of them, an editor, and quick ways."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.domain.instrument import Instrument
from core.domain.numbers import count_text
from core.domain.study import Context
from core.errors import UserError
from core.workflow import glossary
from core.workflow.contexts import by_score
from core.workflow.contexts.by_score import ALL_ITEMS, SCORE_RULES
from core.workflow.designs import forms, studies
from core.workflow.designs.blocks import CELL_FACTORS, FACTOR_TITLES, blocks_of_cells, level_words
from pages.design import items, levels
from pages.design.levels import Offered
from pages.shared import widgets
from pages.shared.draft_form import (
    DraftForm,
    Field,
    LongTextField,
    NumberField,
    RadioField,
    SeveralField,
    TextField,
    draw_field,
)

Draft = dict[str, Any]
"""A block as the draft holds it: what it states for itself, by the name of the field."""

_CHOSEN = "design_block_chosen"
_NOTE = "design_block_note"
_MOST_COLUMNS = 8  # of a grid of cells; more are too narrow to read
_LARGEST = 2**31 - 1  # what a whole number of the database holds
_WITHOUT = ""  # the code for asking without a context

_EMPTY = (
    "All chosen levels are crossed: every form with every order of the options, and so on. Add a "
    "block where they must not be."
)
_ABOUT = (
    "Each block is a crossing of its own. A block has the choices of the design, except for what "
    "you change in the block. A trial of several blocks is asked once."
)


def section(form: DraftForm, bank: Instrument, offered: Offered) -> None:
    """The blocks of the design: buttons, the editor of one block, and quick ways to several."""
    drafts: list[Draft] = form.fields["blocks"]
    with st.expander("Blocks", expanded=bool(drafts or form.fields["blocks_before"])):
        st.caption(_ABOUT if drafts else _EMPTY, help=glossary.meaning("Block"))
        if note := widgets.last_note(_NOTE):
            st.info(note)
        index = _choose(drafts)
        _buttons(form, index)
        _quick_ways(form, offered)
        if drafts:
            with st.container(border=True):
                _editor(form, bank, offered, index)


# Adding, copying and removing blocks.


def _choose(drafts: Sequence[Draft]) -> int:
    """The place of the block that is edited, counted from 0."""
    if not drafts:
        return 0
    indices = range(len(drafts))
    if st.session_state.get(_CHOSEN) not in indices:
        st.session_state[_CHOSEN] = 0
    if len(drafts) == 1:
        return 0
    return st.selectbox(
        "Block to edit",
        indices,
        key=_CHOSEN,
        format_func=lambda index: forms.block_title(index, drafts[index].get("name", "")),
    )


def _buttons(form: DraftForm, index: int) -> None:
    drafts = form.fields["blocks"]
    with st.container(horizontal=True):
        st.button(
            "Add a block",
            key="design_block_add",
            icon=":material/add:",
            on_click=_add,
            args=(form,),
        )
        if drafts:
            st.button(
                "Copy",
                key="design_block_copy",
                icon=":material/content_copy:",
                on_click=_copy,
                args=(form, index),
                help="Adds a copy of this block after it.",
            )
            st.button(
                "Remove",
                key="design_block_remove",
                icon=":material/delete:",
                on_click=_remove,
                args=(form, index),
                help="Removes this block. 'Restore the blocks' undoes this.",
            )
        if form.fields["blocks_before"] is not None:
            st.button(
                "Restore the blocks",
                key="design_block_undo",
                icon=":material/undo:",
                on_click=_restore,
                args=(form,),
                help="Restores the blocks from before one was removed or all were written anew.",
            )


def _add(form: DraftForm) -> None:
    blocks = form.stored()["blocks"]
    if _keep(form, [*blocks, {}]):
        st.session_state[_CHOSEN] = len(blocks)


def _copy(form: DraftForm, index: int) -> None:
    blocks = form.stored()["blocks"]
    copied = {**blocks[index], "name": _copied_name(blocks, index)}
    if _keep(form, [*blocks[: index + 1], copied, *blocks[index + 1 :]]):
        st.session_state[_CHOSEN] = index + 1


def _copied_name(blocks: Sequence[Draft], index: int) -> str:
    """The name with the next free number behind it; a block without a name keeps none."""
    name = blocks[index].get("name", "").strip()
    taken = {block.get("name", "").strip() for block in blocks}
    number = 2
    while name and f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}" if name else ""


def _remove(form: DraftForm, index: int) -> None:
    blocks = form.stored()["blocks"]
    _replace(form, [*blocks[:index], *blocks[index + 1 :]])


def _restore(form: DraftForm) -> None:
    _replace(form, form.stored()["blocks_before"] or [])


def _replace(form: DraftForm, blocks: list[Draft]) -> None:
    """Write other blocks; the user can restore those of before."""
    _keep(form, blocks, blocks_before=form.stored()["blocks"])


def _keep(form: DraftForm, blocks: list[Draft], **also: Any) -> bool:
    """Save the blocks, unless another tab has changed them; return whether they are saved."""
    if form.changed_elsewhere("blocks"):
        st.session_state[_NOTE] = (
            "Another tab changed the blocks, so your last change was not saved. The page now shows "
            "the newer blocks."
        )
        return False
    form.change({"blocks": blocks, **also})
    return True


def _set(form: DraftForm, index: int, factor: str, value: Any) -> None:
    """Save what one block states about a factor."""
    blocks = form.stored()["blocks"]
    blocks_of_page = form.fields["blocks"]
    if len(blocks) != len(blocks_of_page) and blocks_of_page[index] in blocks:
        index = blocks.index(blocks_of_page[index])  # a click in the same run has moved it
    index = min(index, len(blocks) - 1)
    _keep(form, _with_block(blocks, index, {**blocks[index], factor: value}))


def _with_block(blocks: Sequence[Draft], index: int, block: Draft) -> list[Draft]:
    return [*blocks[:index], block, *blocks[index + 1 :]]


# One block: its name, and the factors in which it differs from the design.


def _editor(form: DraftForm, bank: Instrument, offered: Offered, index: int) -> None:
    block = form.fields["blocks"][index]
    left, right = st.columns([2, 3])
    with left:
        name = TextField("name", "Name of the block", f"Block {index + 1}")
        _block_field(form, index, name, block.get("name", ""))
    stated = [factor for factor in FACTOR_TITLES if factor in block]
    titles = {factor: FACTOR_TITLES[factor] for factor in _factors(form, block)}
    with right:
        draw_field(
            SeveralField(
                "stated", "Different in this block", titles, "nothing: all is as in the design"
            ),
            _key(index, "stated"),
            stated,
            partial(_take_stated, form, bank, index),
            "Choose what this block has of its own. Everything else is as in the design.",
        )
    for factor in stated:
        _factor(form, bank, offered, index, factor)


def _factors(form: DraftForm, block: Draft) -> list[str]:
    """The factors in which a block can differ; those that the design lacks are left out."""
    lacking = {
        "contexts": form.fields["personas"] == "none",
        "entities": not form.fields["entities_text"].strip(),
        "pairs": not form.fields["pairs_text"].strip(),
    }
    return [name for name in FACTOR_TITLES if name in block or not lacking.get(name)]


def _take_stated(form: DraftForm, bank: Instrument, index: int, chosen: list[str]) -> None:
    """Begin with the levels of the design in a factor that is new in this block."""
    blocks = form.stored()["blocks"]
    old = blocks[index]
    names = ["name"] * ("name" in old) + [name for name in FACTOR_TITLES if name in chosen]
    block = {n: old[n] if n in old else _level_of_design(form, bank, n) for n in names}
    _keep(form, _with_block(blocks, index, block))


def _level_of_design(form: DraftForm, bank: Instrument, factor: str) -> Any:
    if factor == "contexts":
        return [_WITHOUT]
    if factor == "formats":
        return list(form.fields["formats"]) or [format.code for format in bank.formats[:1]]
    fields = {
        "entities": "entities_text",
        "pairs": "pairs_text",
        "temperatures": "temperatures_text",
    }
    value = form.fields[fields.get(factor, factor)]
    return list(value) if isinstance(value, list) else value


def _key(index: int, factor: str) -> str:
    return f"design_block:{index}:{factor}"


def _factor(form: DraftForm, bank: Instrument, offered: Offered, index: int, factor: str) -> None:
    """The widget of one factor of a block."""
    title = FACTOR_TITLES[factor]
    value = form.fields["blocks"][index][factor]
    if factor in offered:
        # The levels of the design stand first.
        of_design = [level for level in form.fields[factor] if level in offered[factor]]
        words = {level: offered[factor][level] for level in (*of_design, *offered[factor])}
        key = f"{_key(index, factor)}:drop"
        field: Field = SeveralField(factor, title, words, removal_key=key)
        _block_field(form, index, field, value, "The levels of the design stand first.")
    elif factor == "items":
        items.item_chooser(
            bank,
            value,
            _key(index, factor),
            partial(_take_codes, form, index, factor),
            language=next(iter(form.fields["languages"]), "en"),
            may_be_empty=False,
        )
    elif factor == "contexts":
        _contexts(form, index)
    elif factor in forms.NUMBER_LISTS:
        field = levels.numbers(factor, title, "each respondent's own")
        example = forms.NUMBER_LISTS[factor].example
        help = f"Type numbers with commas between them, such as {example}."
        _block_field(form, index, field, value, help)
    elif factor == "repetitions":
        _block_field(form, index, NumberField(factor, title, 1, _LARGEST, width=240), value)
    else:  # entities, or pairs of them
        if not isinstance(value, str):
            value = "\n".join(
                entity if isinstance(entity, str) else " | ".join(entity) for entity in value
            )
        field = LongTextField(factor, f"{title}, one per line", height=100)
        _block_field(form, index, field, value)


def _block_field(form: DraftForm, index: int, field: Field, value: Any, help: str = "") -> None:
    """A field whose value one block states."""
    take = partial(_set, form, index, field.name)
    draw_field(field, _key(index, field.name), value, take, help)


def _take_codes(form: DraftForm, index: int, factor: str, codes: list[str], sentence: str) -> None:
    """Chosen codes into the block, and the sentence about a draw into the notes of the design."""
    blocks = form.stored()["blocks"]
    block = {**blocks[index], factor: codes}
    also = {}
    if sentence:
        title = forms.block_title(index, block.get("name", ""))
        also["notes"] = forms.with_note(form.stored()["notes"], f"{title}: {sentence}")
    _keep(form, _with_block(blocks, index, block), **also)


# The personas or conversations of a block: none, chosen ones, or some of each group of a score.


def _contexts(form: DraftForm, index: int) -> None:
    title, value = FACTOR_TITLES["contexts"], form.fields["blocks"][index]["contexts"]
    draw_field(
        RadioField("kind", title, {True: "None", False: "Chosen"}),
        f"{_key(index, 'contexts')}:kind",
        value == [_WITHOUT],
        lambda without: _set(form, index, "contexts", [_WITHOUT] if without else []),
        "None: the items are asked without a persona or conversation.",
    )
    if value == [_WITHOUT]:
        return
    contexts = _contexts_of_design(form)
    levels.codes(
        f"Chosen {title.lower()}",
        value,
        {
            context.code: levels.code_and_text(
                context.code,
                context.text or next((m["content"] for m in context.messages), ""),
            )
            for context in contexts
        },
        _key(index, "contexts"),
        lambda codes: _take_codes(form, index, "contexts", codes, ""),
        empty="choose some of those of the design",
    )
    popover = st.popover(
        "Choose by a score of an earlier study",
        icon=":material/bar_chart:",
        key=f"{_key(index, 'contexts')}:score",
        on_change="rerun",
    )
    if popover.open:
        with popover:
            _by_score(form, index, contexts)


def _contexts_of_design(form: DraftForm) -> tuple[Context, ...]:
    """The contexts of the design as far as they can be read; a fault is shown elsewhere."""
    try:
        contexts = forms.chosen_personas(widgets.workspace(), form.fields)
    except UserError:
        return ()
    return contexts[: form.fields["persona_count"] or len(contexts)]


def _by_score(form: DraftForm, index: int, contexts: Sequence[Context]) -> None:
    """A draw of as many contexts from each quantile group of a score."""
    records = [s for s in studies.list_studies(widgets.workspace()) if s.kind == "planned"]
    records = [s for s in reversed(records) if s.n_usable and s.design.contexts]
    if not records:
        st.info("No study has answers under personas or conversations yet. Ask one first.")
        return
    key = f"{_key(index, 'contexts')}:score"
    designs = {record.code: record.design for record in records}
    study = st.selectbox("Study", list(designs), key=f"{key}:study")
    person = st.selectbox("Respondent", designs[study].respondents, key=f"{key}:person:{study}")
    subscales = by_score.subscales(widgets.workspace(), study, person)
    subscale = st.selectbox(
        "Score",
        [ALL_ITEMS, *subscales],
        key=f"{key}:subscale:{study}",
        format_func=lambda name: name or "All items",
        help="Mean of the item scores.",
    )
    rule = st.selectbox(
        "Missing answers",
        list(SCORE_RULES),
        format_func=SCORE_RULES.__getitem__,
        key=f"{key}:rule",
    )
    columns = st.columns(3)
    n_groups = columns[0].number_input(
        "Groups", 2, 20, 4, 1, key=f"{key}:groups", help="4 groups are quartiles."
    )
    each = columns[1].number_input("From each", 1, 10_000, 10, 1, key=f"{key}:each")
    seed = columns[2].number_input("Seed", 0, _LARGEST, 1, 1, key=f"{key}:seed")

    def take() -> None:
        try:
            codes, sentence = by_score.draw_codes(
                widgets.workspace(),
                contexts,
                study,
                person,
                subscale=subscale,
                rule=rule,
                n_groups=int(n_groups),
                per_group=int(each),
                seed=int(seed),
            )
        except UserError as error:
            st.session_state[_NOTE] = error
            return
        st.session_state[_NOTE] = widgets.plain(sentence)
        _take_codes(form, index, "contexts", list(codes), sentence)

    st.button(
        "Draw and take them",
        key=f"{key}:take",
        on_click=take,
        help="Writes a sentence about the draw into the notes of the design.",
    )


# Quick ways to several blocks: a grid of two factors, in which the ticked cells are asked.

_WAYS: tuple[tuple[str, str, str, str, bool, str], ...] = (
    ("cells", "Leave out cells", "", "", False,
     "Untick the cells that are not asked."),
    ("formats", "Each template with its own format", "templates", "formats", True,
     "Tick the answer formats that are asked with each template."),
    ("models", "Templates by model", "respondents", "templates", False,
     "Tick the templates that each respondent is asked with."),
)  # fmt: skip
"""Key, label, factors of rows and columns (empty: chosen by the user), whether only the diagonal is
ticked at first, and what to do."""


def _quick_ways(form: DraftForm, offered: Offered) -> None:
    varied = [name for name in CELL_FACTORS if len(_chosen_levels(form, name)) > 1]
    st.caption("Or make several blocks at once:")
    with st.container(horizontal=True):
        for key, label, row, column, diagonal, what in _WAYS:
            possible = {row, column} <= {*varied} if row else len(varied) > 1
            missing = (
                f"Choose two or more levels of {FACTOR_TITLES[row].lower()} and of "
                f"{FACTOR_TITLES[column].lower()} first."
                if row
                else "Choose two or more levels of two factors first."
            )
            popover = st.popover(
                label,
                icon=":material/grid_on:",
                disabled=not possible,
                help="" if possible else missing,
                key=f"design_way:{key}",
                on_change="rerun",
            )
            if popover.open and possible:
                with popover:
                    st.caption(what)
                    if not row:
                        row, column = _two_factors(key, varied)
                    _grid(form, offered, key, row, column, diagonal=diagonal)


def _chosen_levels(form: DraftForm, factor: str) -> list[str]:
    return list(form.fields[factor])


def _two_factors(key: str, varied: Sequence[str]) -> tuple[str, str]:
    """The factors of rows and columns, two different ones."""
    first = [name for name in ("forms", "label_orders") if name in varied]
    order = [*first, *(name for name in varied if name not in first)]
    left, right = st.columns(2)
    row = left.selectbox("Rows", order, key=f"{key}:row", format_func=FACTOR_TITLES.__getitem__)
    others = [name for name in order if name != row]
    column = right.selectbox(
        "Columns", others, key=f"{key}:column:{row}", format_func=FACTOR_TITLES.__getitem__
    )
    return row, column


def _grid(
    form: DraftForm, offered: Offered, key: str, row: str, column: str, *, diagonal: bool
) -> None:
    """Check boxes of the cells, and the button that writes blocks for the ticked ones."""
    rows, columns = _chosen_levels(form, row), _chosen_levels(form, column)
    if len(columns) > _MOST_COLUMNS:
        st.info(
            f"A grid has at most {_MOST_COLUMNS} columns. Exchange rows and columns, or add the "
            "blocks one by one."
        )
        return
    widths = [2, *[1] * len(columns)]
    head = st.columns(widths)
    for column_index, level in enumerate(columns, 1):
        head[column_index].text(level_words(column, level))
    cells: dict[str, list[str]] = {level: [] for level in rows}
    for number, level in enumerate(rows):
        line = st.columns(widths)
        line[0].text(level_words(row, level))
        for column_index, other in enumerate(columns, 1):
            cell_key = f"design_cell:{key}:{row}:{level}:{column}:{other}"
            ticked = line[column_index].checkbox(
                widgets.plain(f"{level_words(row, level)}, {level_words(column, other)}"),
                value=not diagonal or number % len(columns) == column_index - 1,
                key=cell_key,
                label_visibility="collapsed",
            )
            if ticked:
                cells[level].append(other)
    written = blocks_of_cells(row, column, cells, columns)
    n_cells = sum(map(len, cells.values()))
    st.caption(
        f"{count_text(n_cells, 'cell')} of {len(rows) * len(columns)}: "
        + (f"{count_text(len(written), 'block')}." if written else "no block is needed.")
    )
    before = form.fields["blocks"]
    st.button(
        "Replace the blocks" if before else "Write the blocks",
        key=f"design_way:{key}:write",
        type="primary",
        disabled=not written,
        on_click=_replace,
        args=(form, [forms.block_fields(block) for block in written]),
        help="'Restore the blocks' undoes this." if before else None,
    )
