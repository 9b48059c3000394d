"""A bank as rows of grids: columns, cells pasted or typed, and the bank that comes of edits."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from core.domain.attributes import is_numeric
from core.domain.characters import readable
from core.domain.instrument import (
    ITEM_COLUMNS,
    ORIGINAL,
    Instrument,
    Item,
    Option,
    ResponseFormat,
    Wording,
    value_text,
    whole_number,
)
from core.domain.item_columns import DASHES

# The columns of the grids of a bank: which there are, what a cell shows, what is typed into it.

POSITION, CODE = "position", "code"
POINTS, STANCE = "points", "stance"
SOURCE, EARLIER, DRAFTER, ACCEPTED, TARGET = "source", "earlier", "drafter", "accepted", "target"
"""Columns of the grid of translations besides the code."""
TEXT, LOADING, PARTY = "text:", "loading:", "party:"
"""Columns of texts, domains and parties are called by one of these and what they hold."""
ATTRIBUTE, NUMBER = "attribute:", "number:"
"""Columns of attributes with texts, and of those with numbers, likewise."""
ANNOTATION, ANNOTATOR_MARK = "annotation:", "@"
"""Columns of annotators, which are called `annotation:welfare@anna`."""
STANCE_WORDS = {-1: "against (−1)", 0: "neutral (0)", 1: "for (+1)"}
SIGN_WORDS = {-1: "−1", 0: "0", 1: "+1"}
MOODS = ("statement", "question", "choice")

_SIGNS: Mapping[str, int | None] = {
    "": None, "none": None, "+": 1, "1": 1, "+1": 1, "1.0": 1, "for": 1, "for (+1)": 1,
    "0": 0, "0.0": 0, "neutral": 0, "neutral (0)": 0,
    "-": -1, "-1": -1, "-1.0": -1, "against": -1, "against (-1)": -1,
}  # fmt: skip


class GridTextColumn(NamedTuple):
    """What the texts of one column have in common."""

    language: str
    form: str = ORIGINAL
    mood: str = ""

    @property
    def name(self) -> str:
        """The name of the column in a grid."""
        if self.form == ORIGINAL and not self.mood:
            return TEXT + self.language
        return f"{TEXT}{self.language}:{self.form}:{self.mood}"


def text_column(name: str) -> GridTextColumn:
    """Language, form and mood of a column of texts, from its name."""
    language, mark, rest = name.removeprefix(TEXT).partition(":")
    if not mark:
        return GridTextColumn(language)
    form, _, mood = rest.rpartition(":")
    return GridTextColumn(language, form, mood)


def text_columns(
    bank: Instrument, added: Iterable[GridTextColumn] = ()
) -> tuple[GridTextColumn, ...]:
    """Every language, form and mood the bank has texts in, the same form side by side.

    The original is there for each of its languages, with texts or without; so is what was `added`.
    """
    wanted = [GridTextColumn(language) for language in bank.languages]
    wanted += dict.fromkeys(
        GridTextColumn(w.language, w.form, w.mood) for item in bank.items for w in item.wordings
    )
    wanted += added
    columns = list(dict.fromkeys(wanted))
    forms = list(dict.fromkeys([ORIGINAL, *(column.form for column in columns)]))
    languages = list(dict.fromkeys(column.language for column in columns))
    moods = ("", *MOODS)

    def place(column: GridTextColumn) -> tuple[int, int, int]:
        mood = moods.index(column.mood) if column.mood in moods else len(moods)
        return forms.index(column.form), mood, languages.index(column.language)

    return tuple(sorted(columns, key=place))


def used_facts(bank: Instrument) -> tuple[str, ...]:
    """Facts that any item has; subscale and keying also in a bank of questions that uses none."""
    empty = Item("")
    used = {
        name: any(getattr(item, name) != getattr(empty, name) for item in bank.items)
        for name in ITEM_COLUMNS
    }
    scoring = [name for name, column in ITEM_COLUMNS.items() if column.is_of_scoring]
    others = any(used[name] for name in used if name not in scoring)
    if bank.kind == "items" and (any(used[name] for name in scoring) or not others):
        used |= dict.fromkeys(scoring, True)
    return tuple(name for name in used if used[name])


def order_columns(
    facts: Iterable[str],
    texts: Iterable[GridTextColumn],
    domains: Iterable[str],
    parties: Iterable[str],
    attributes: Iterable[str] = (),
    annotations: Iterable[str] = (),
) -> tuple[str, ...]:
    """The columns of a grid from the code on: what scoring needs, then texts, then the rest.

    Those of attributes and annotations are named as in the grid.
    """
    chosen = {*facts}
    columns = [(name, c.is_of_scoring) for name, c in ITEM_COLUMNS.items() if name in chosen]
    return (
        CODE,
        *(name for name, is_of_scoring in columns if is_of_scoring),
        *(column.name for column in texts),
        *(name for name, is_of_scoring in columns if not is_of_scoring),
        *attributes,
        *(LOADING + domain for domain in domains),
        *annotations,
        *(PARTY + party for party in parties),
    )


def party_codes(bank: Instrument) -> tuple[str, ...]:
    """The parties of the bank, and those that only positions of items name."""
    placed = (party for item in bank.items for party in item.positions)
    return tuple(dict.fromkeys([*(party.code for party in bank.parties), *placed]))


def attribute_columns(bank: Instrument, added: Iterable[str] = ()) -> tuple[str, ...]:
    """The columns of the attributes of a bank, and those `added` that no item has a value in."""
    names = bank.attribute_names()
    known = [(NUMBER if is_numeric(bank, name) else ATTRIBUTE) + name for name in names]
    new = [column for column in added if column.partition(":")[2] not in names]
    return tuple(dict.fromkeys([*known, *new]))


def annotation_columns(
    bank: Instrument, domains: Iterable[str] = (), annotators: Iterable[str] = ()
) -> tuple[str, ...]:
    """A column for each domain and annotator of a bank; the arguments are further ones."""
    coded = (d for item in bank.items for signs in item.annotations.values() for d in signs)
    all_domains = dict.fromkeys([*bank.domains(), *domains, *coded])
    named = (name for item in bank.items for name in item.annotations)
    people = dict.fromkeys([*named, *annotators])
    return tuple(f"{ANNOTATION}{d}{ANNOTATOR_MARK}{who}" for d in all_domains for who in people)


def columns_of(bank: Instrument) -> tuple[str, ...]:
    """The columns of the grid where nobody has chosen any, without the position."""
    return order_columns(
        used_facts(bank),
        text_columns(bank),
        bank.domains(),
        party_codes(bank),
        attribute_columns(bank),
        annotation_columns(bank),
    )


def cell_value(item: Item, column: str) -> Any:
    """What the grid shows of an item in a column; None or empty where there is nothing."""
    if column.startswith(TEXT):
        return _wording_text(item, text_column(column))
    if column.startswith(LOADING):
        return _sign_word(item.loadings.get(column.removeprefix(LOADING)))
    if column.startswith(PARTY):
        return _sign_word(item.positions.get(column.removeprefix(PARTY)))
    if column.startswith(NUMBER):
        return item.attributes.get(column.removeprefix(NUMBER))
    if column.startswith(ATTRIBUTE):
        return item.attribute(column.removeprefix(ATTRIBUTE))
    if column.startswith(ANNOTATION):
        domain, annotator = _annotation(column)
        return _sign_word(item.annotations.get(annotator, {}).get(domain))
    value = getattr(item, column)
    return value if column == CODE else ITEM_COLUMNS[column].shown(value)


def with_cell(item: Item, column: str, value: Any) -> Item:
    """The item after something was typed into a column; as it was where that is not understood."""
    if column.startswith(TEXT):
        return with_text(item, text_column(column), cell_text(value))
    if column.startswith(LOADING):
        loadings = _with_sign(item.loadings, column.removeprefix(LOADING), value)
        return replace(item, loadings=loadings)
    if column.startswith(PARTY):
        return replace(
            item, positions=_with_sign(item.positions, column.removeprefix(PARTY), value)
        )
    if column.startswith((ATTRIBUTE, NUMBER)):
        return _with_attribute(item, column, value)
    if column.startswith(ANNOTATION):
        return _with_annotation(item, column, value)
    if column == CODE:
        return replace(item, code=cell_text(value).strip())
    if column not in ITEM_COLUMNS:
        return item
    before = getattr(item, column)
    try:
        changes: dict[str, Any] = {column: ITEM_COLUMNS[column].typed(cell_text(value), before)}
    except ValueError:
        return item
    return replace(item, **changes)


def _wording_text(item: Item, column: GridTextColumn) -> str:
    """The text in just that language, form and mood; empty where there is none."""
    wording = wording_of(item, column)
    return wording.text if wording else ""


def wording_of(item: Item, column: GridTextColumn) -> Wording | None:
    """The wording in just that language, form and mood, or None."""
    return next((w for w in item.wordings if (w.language, w.form, w.mood) == column), None)


def with_text(item: Item, column: GridTextColumn, text: str, *, drafted_by: str = "") -> Item:
    """The item with another text there, its place among the wordings kept; empty takes it away.

    The same text again says nothing of the original that it was made from.
    """
    old = wording_of(item, column)
    made_from = old.made_from if old and old.text == text and not drafted_by else ""
    new = Wording(column.language, text, column.form, column.mood, drafted_by, made_from)
    wordings = [new if wording is old else wording for wording in item.wordings]
    if old is None:
        wordings.append(new)
    return replace(item, wordings=tuple(w for w in wordings if w is not new or text))


def _is_sign(value: Any) -> bool:
    """Whether what was typed says for, against, neutral or nothing."""
    return _sign_key(value) in _SIGNS


def _read_sign(value: Any) -> int | None:
    """1, 0, -1 or None from words such as +1, for, 0, neutral, −1, against."""
    return _SIGNS.get(_sign_key(value))


def _sign_word(sign: int | None) -> str:
    """A loading or position as the grid shows it."""
    return "" if sign is None else SIGN_WORDS.get(sign, str(sign))


def _read_number(value: Any) -> float | None:
    """The number typed or pasted, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def cell_text(value: Any) -> str:
    """A cell as text, readable."""
    return "" if value is None else readable(str(value))


def _sign_key(value: Any) -> str:
    return cell_text(value).strip().casefold().translate(DASHES)


def _with_sign(signs: Mapping[str, int], name: str, value: Any) -> dict[str, int]:
    if not _is_sign(value):
        return dict(signs)
    sign = _read_sign(value)
    if sign is None:
        return {known: number for known, number in signs.items() if known != name}
    return {**signs, name: sign}


def _with_attribute(item: Item, column: str, value: Any) -> Item:
    """The item with another value of an attribute; an empty cell takes the value away."""
    prefix, _, name = column.partition(":")
    text = cell_text(value).strip()
    others = {known: own for known, own in item.attributes.items() if known != name}
    if not text:
        return replace(item, attributes=others)
    if f"{prefix}:" == ATTRIBUTE:
        return replace(item, attributes={**item.attributes, name: text})
    number = _read_number(value)
    if number is None:
        return item
    return replace(item, attributes={**item.attributes, name: whole_number(number)})


def _annotation(column: str) -> tuple[str, str]:
    """The domain and the annotator of a column."""
    domain, _, annotator = column.removeprefix(ANNOTATION).rpartition(ANNOTATOR_MARK)
    return domain, annotator


def _with_annotation(item: Item, column: str, value: Any) -> Item:
    """The item with another code by an annotator; one without any code is left out."""
    domain, annotator = _annotation(column)
    own = _with_sign(item.annotations.get(annotator, {}), domain, value)
    signs = {**item.annotations, annotator: own}
    return replace(item, annotations={name: codes for name, codes in signs.items() if codes})


# A bank as rows of a grid, and the bank that comes of editing them.
#
# A grid reports all its edits since it was drawn, each time anew. They are applied to the state it
# was drawn from, so applying them twice, or late, gives the same bank and never loses an edit.

Cells = Mapping[str, Any]
_Entry = TypeVar("_Entry", Item, Option)
_SortKey = tuple[int, int, int]


@dataclass(frozen=True)
class GridEdits:
    """What was typed into a grid, by row number of the grid as it was drawn."""

    edited: Mapping[int, Cells]
    added: Sequence[Cells]
    deleted: Collection[int]

    @classmethod
    def of(cls, state: Mapping[str, Any], n_rows: int | None = None) -> GridEdits:
        """The edits in the state of a data editor.

        `n_rows` are the rows that stood for something; those after them were empty, and are new
        where something was typed into them.
        """
        edited = {int(row): cells for row, cells in state.get("edited_rows", {}).items()}
        deleted = frozenset(state.get("deleted_rows", ()))
        added = [*state.get("added_rows", ())]
        if n_rows is not None:
            filled = {row: edited.pop(row) for row in sorted(edited) if row >= n_rows}
            added = [
                *(cells for row, cells in filled.items() if row not in deleted and _holds(cells)),
                *added,
            ]
            deleted = frozenset(row for row in deleted if row < n_rows)
        return cls(edited, added, deleted)

    def __bool__(self) -> bool:
        """Whether anything was edited."""
        return bool(self.edited or self.added or self.deleted)


def _holds(cells: Cells) -> bool:
    """Whether anything was typed into a row."""
    return any(cell_text(value).strip() for value in cells.values())


def rows_of_text(text: str, columns: Sequence[str], single: str) -> list[dict[str, str]]:
    """The rows of a text, one a line.

    With tabs, a line has the cells of `columns` as a spreadsheet copies them; without, all of it
    is the cell of the column `single`.
    """
    if "\t" not in text:
        return [{single: line.strip()} for line in text.splitlines() if line.strip()]
    return [dict(zip(columns, cells, strict=False)) for cells in cells_of_block(text)]


_REVERSED_MARK = re.compile(r"\s*\(\s*(?:r|rev\.?|reversed?)\s*\)\.?$", re.I)


def with_marked_keys(rows: Iterable[dict[str, str]], text: str) -> list[dict[str, str]]:
    """Rows in which an (R) at the end of an item's `text` is its keying, if they state none."""
    return [
        row | {text: _REVERSED_MARK.sub("", row[text]), "keyed": "R"}
        if _REVERSED_MARK.search(row.get(text, ""))
        and _REVERSED_MARK.sub("", row[text]).strip()
        and not row.get("keyed", "").strip()
        else row
        for row in rows
    ]


def item_rows(
    bank: Instrument, rows: Sequence[int], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """The items at these places (from 0), one row each, with these columns after the position."""
    items = [bank.items[row] for row in rows]
    shown = columns_of(bank) if columns is None else columns
    frame: dict[str, Any] = {POSITION: pd.Series([row + 1 for row in rows], dtype="int64")}
    for column in shown:
        values = [cell_value(item, column) for item in items]
        fact = ITEM_COLUMNS.get(column)
        is_number = fact.is_number and not fact.choices if fact else column.startswith(NUMBER)
        frame[column] = pd.Series(values, dtype="float64") if is_number else _texts(values)
    return pd.DataFrame(frame)


def translation_rows(
    bank: Instrument, rows: Sequence[int], source: GridTextColumn, target: GridTextColumn
) -> pd.DataFrame:
    """The items at these places (from 0): code, source text, target text.

    Where there are drafts, who wrote them stands before the target; where originals have changed,
    the text before; and a column to accept the target as it is.
    """
    items = [bank.items[row] for row in rows]
    wordings = [wording_of(item, target) for item in items]
    columns: dict[str, Any] = {
        CODE: _texts(item.code for item in items),
        SOURCE: _texts(_wording_text(item, source) for item in items),
    }
    drafters = [wording.drafted_by if wording else "" for wording in wordings]
    earlier = [wording.made_from if wording else "" for wording in wordings]
    if any(earlier):
        columns[EARLIER] = _texts(earlier)
    if any(drafters):
        columns[DRAFTER] = _texts(drafters)
    if any(drafters) or any(earlier):
        columns[ACCEPTED] = pd.Series([False] * len(items), dtype="bool")
    columns[TARGET] = _texts(wording.text if wording else "" for wording in wordings)
    return pd.DataFrame(columns)


def rows_to_translate(bank: Instrument, target: GridTextColumn) -> tuple[int, ...]:
    """Places (from 0) of the items whose target text is missing, a draft, or outdated."""
    wordings = [wording_of(item, target) for item in bank.items]
    return tuple(
        row
        for row, w in enumerate(wordings)
        if w is None or not w.text.strip() or w.drafted_by or w.made_from
    )


def edit_translations(
    bank: Instrument, rows: Sequence[int], target: GridTextColumn, edits: GridEdits
) -> Instrument:
    """The bank after edits of a grid of translations that showed the items at `rows`.

    A text that was typed or accepted counts as reviewed, and as made from the original as it is
    now. A language that is new to the bank comes with its first text.
    """
    items = list(bank.items)
    for place, cells in edits.edited.items():
        if place >= len(rows):
            continue
        item = items[rows[place]]
        wording = wording_of(item, target)
        if TARGET in cells:
            item = with_text(item, target, cell_text(cells[TARGET]))
        elif cells.get(ACCEPTED) and wording:
            accepted = replace(wording, drafted_by="", made_from="")
            wordings = (accepted if w is wording else w for w in item.wordings)
            item = replace(item, wordings=tuple(wordings))
        items[rows[place]] = item
    is_new = target.language not in bank.languages
    has_texts = any(wording_of(item, target) for item in items)
    added = (target.language,) if is_new and has_texts else ()
    return replace(bank, items=tuple(items), languages=(*bank.languages, *added))


def option_rows(
    bank: Instrument, response_format: ResponseFormat, languages: Sequence[str] | None = None
) -> pd.DataFrame:
    """The options of one set, one row each, a label column per language."""
    options = response_format.options
    columns: dict[str, Any] = {
        POSITION: pd.Series(range(1, len(options) + 1), dtype="int64"),
        CODE: _texts(option.code for option in options),
        POINTS: pd.Series([option.points for option in options], dtype="float64"),
        STANCE: _texts(_stance_word(option.stance) for option in options),
    }
    for language in bank.languages if languages is None else languages:
        columns[TEXT + language] = _texts(option.labels.get(language, "") for option in options)
    return pd.DataFrame(columns)


def search_rows(
    bank: Instrument, search: str, among: Iterable[int] | None = None
) -> tuple[int, ...]:
    """Places (from 0) of the items whose code, a fact or text holds `search`; all without one."""
    places = range(len(bank.items)) if among is None else among
    wanted = search.strip().casefold()
    if not wanted:
        return tuple(places)
    return tuple(row for row in places if _matches(bank.items[row], wanted))


def edit_items(items: Sequence[Item], rows: Sequence[int], edits: GridEdits) -> tuple[Item, ...]:
    """The items after edits of a grid that showed those at `rows` (places from 0).

    A row that got no code is given the next free one. An item with a new position is put there;
    added rows follow the last row shown.
    """
    typed = {rows[row]: cells for row, cells in edits.edited.items() if row < len(rows)}
    deleted = {rows[row] for row in edits.deleted if row < len(rows)}
    entries = [
        None if place in deleted else _edited_item(item, typed.get(place, {}))
        for place, item in enumerate(items)
    ]
    after = rows[-1] + 1 if rows else len(items)
    codes_left = [entry.code for entry in entries if entry is not None]
    codes = _new_codes("item_", codes_left, edits.added, len(items))
    added = [
        _edited_item(Item(code), cells) for code, cells in zip(codes, edits.added, strict=True)
    ]
    added = [replace(item, code=code) for code, item in zip(codes, added, strict=True)]
    return tuple(_ordered_entries(entries, typed, added, edits.added, after))


def edit_options(options: Sequence[Option], edits: GridEdits) -> tuple[Option, ...]:
    """The response options after edits of their grid; a new one without a code gets a free one."""
    entries = [
        None if place in edits.deleted else _edited_option(option, edits.edited.get(place, {}))
        for place, option in enumerate(options)
    ]
    codes_left = [entry.code for entry in entries if entry is not None]
    codes = _new_codes("", codes_left, edits.added, len(options))
    added = [
        replace(_edited_option(Option(code, None), cells), code=code)
        for code, cells in zip(codes, edits.added, strict=True)
    ]
    return tuple(_ordered_entries(entries, edits.edited, added, edits.added, len(options)))


def codes_given(edits: GridEdits, before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """The codes that new rows without one were given, by the codes before and after the edits."""
    cells = (*edits.edited.values(), *edits.added)
    known = {*before, *(cell_text(row.get(CODE)).strip() for row in cells)}
    return tuple(code for code in after if code not in known)


def unsaved_items(before: Instrument, after: Instrument) -> tuple[int, ...]:
    """Places (from 0) in `after` of the items that `before` does not hold as they are."""
    known: dict[str, list[Item]] = {}
    for item in before.items:
        known.setdefault(item.code, []).append(item)
    return tuple(
        place for place, item in enumerate(after.items) if item not in known.get(item.code, ())
    )


def _matches(item: Item, wanted: str) -> bool:
    texts = [item.code, *map(value_text, item.attributes.values())]
    texts += (wording.text for wording in item.wordings)
    for value in (getattr(item, name) for name in ITEM_COLUMNS):
        texts += value if isinstance(value, tuple) else [value] if isinstance(value, str) else []
    return any(wanted in text.casefold() for text in texts)


def _edited_item(item: Item, cells: Cells) -> Item:
    for column, value in cells.items():
        item = with_cell(item, column, value)
    return item


def _edited_option(option: Option, cells: Cells) -> Option:
    for column, value in cells.items():
        text = cell_text(value)
        if column == CODE:
            option = replace(option, code=text.strip())
        elif column == POINTS and (_read_number(value) is not None or not text.strip()):
            option = replace(option, points=_read_number(value))
        elif column == STANCE and _is_sign(value):
            option = replace(option, stance=_read_sign(value))
        elif column.startswith(TEXT):
            labels = {**option.labels, column.removeprefix(TEXT): text}
            option = replace(option, labels={k: v for k, v in labels.items() if v})
    return option


def _new_codes(
    stem: str, taken: Sequence[str], added: Sequence[Cells], n_before: int
) -> tuple[str, ...]:
    """The code of each added row: as typed, or the next free one."""
    typed = [cell_text(cells.get(CODE)).strip() for cells in added]
    used = {code.casefold() for code in (*taken, *typed)}
    codes, number = [], n_before
    for code in typed:
        if not code:
            number += 1
            while f"{stem}{number}" in used:
                number += 1
            code = f"{stem}{number}"
        codes.append(code)
    return tuple(codes)


def _ordered_entries(
    entries: Sequence[_Entry | None],
    typed: Mapping[int, Cells],
    added: Sequence[_Entry],
    added_cells: Sequence[Cells],
    after: int,
) -> Iterator[_Entry]:
    """Entries that are left, moved ones at the position typed for them, added ones after `after`.

    A place is (position as drawn, 0 before / 1 at / 2 after the entry drawn there, order).
    """
    placed: list[tuple[_SortKey, _Entry]] = []
    for place, entry in enumerate(entries):
        if entry is not None:
            own = place + 1
            wished = _position(typed.get(place, {}), own)
            side = 1 + (wished > own) - (wished < own)
            placed.append(((wished, side, place), entry))
    for number, (entry, cells) in enumerate(zip(added, added_cells, strict=True)):
        wished = _position(cells, 0)
        where, side = (wished, 0) if wished else (after, 3)
        placed.append(((where, side, len(entries) + number), entry))
    return (entry for _, entry in sorted(placed, key=lambda entry_place: entry_place[0]))


def _position(cells: Cells, otherwise: int) -> int:
    """The position typed, or `otherwise`."""
    number = _read_number(cells.get(POSITION))
    return otherwise if number is None else int(number)


def _stance_word(stance: int | None) -> str:
    return "" if stance is None else STANCE_WORDS.get(stance, str(stance))


def _texts(values: Iterable[str | None]) -> pd.Series:
    return pd.Series(list(values), dtype="object")


# Cells pasted or typed into a grid: spread over the grid, and what cannot be read.
#
# A block copied in a spreadsheet and pasted while one cell is open for typing arrives as a single
# text with tabs and line breaks. In a new row it is spread over the cells and rows it came from.

_CELL = re.compile(r'(?:"((?:[^"]|"")*)"(?=[\t\n]|\Z)|([^\t\n]*))([\t\n]|\Z)')
_BREAKS = re.compile(r"[\t\r\n]")


def spread_blocks(edits: GridEdits, columns: Sequence[str]) -> GridEdits:
    """The edits with each block pasted into one cell of a new row as rows of cells.

    `columns` are those the grid shows, from the code on.
    """
    added = [row for cells in edits.added for row in _rows_of_block(cells, columns)]
    return replace(edits, added=added)


def has_block(edits: GridEdits, columns: Sequence[str]) -> bool:
    """Whether a new row holds a block that `spread` takes apart."""
    return any(_block_column(cells, columns) is not None for cells in edits.added)


def item_remarks(
    edits: GridEdits, columns: Sequence[str], items: Sequence[Item], rows: Sequence[int]
) -> tuple[str, ...]:
    """What was typed and not taken as written, by item; `rows` are the places the grid shows."""
    sentences: list[str] = []
    for row, cells in edits.edited.items():
        if row < len(rows) and row not in edits.deleted:
            item = items[rows[row]]
            code = _written(cells.get(CODE)) or item.code
            sentences += _cell_remarks(f"Item {_shortened(code)}", cells, item)
    for cells in spread_blocks(edits, columns).added:
        code = _written(cells.get(CODE))
        where = f"Item {_shortened(code)}" if code else "New item"
        sentences += _cell_remarks(where, cells, Item(""))
    return (*sentences, *_overflow_remarks(edits, columns))


def option_remarks(
    edits: GridEdits, columns: Sequence[str], codes: Sequence[str]
) -> tuple[str, ...]:
    """What was typed into the grid of response options and not taken as written, by option."""
    sentences: list[str] = []
    for row, cells in edits.edited.items():
        if row < len(codes) and row not in edits.deleted:
            sentences += _option_cell_remarks(_shortened(codes[row]), cells)
    for cells in spread_blocks(edits, columns).added:
        sentences += _option_cell_remarks(_shortened(_written(cells.get(CODE))), cells)
    return (*sentences, *_overflow_remarks(edits, columns))


def _overflow_remarks(edits: GridEdits, columns: Sequence[str]) -> Iterator[str]:
    n_beyond = sum(_n_overflowing(cells, columns) for cells in edits.added)
    if n_beyond:
        yield (
            f"Pasted rows: what stood to the right of the last column of this table was left out "
            f"(cells: {n_beyond:,}). Show the missing column first, then paste again."
        )


def _cell_remarks(where: str, cells: Cells, item: Item) -> Iterator[str]:
    if _BREAKS.search(_written(cells.get(CODE))):
        yield (
            f"{where}: several cells were pasted into one code. Press Undo, click the cell only "
            "once, and paste again."
        )
    for name, fact in ITEM_COLUMNS.items():
        written = _written(cells.get(name))
        try:
            fact.typed(written, getattr(item, name))
        except ValueError as reason:
            yield f"{where}: “{_shortened(written)}” under {fact.title} {reason}"
    for column, value in cells.items():
        written = _written(value)
        if column.startswith(NUMBER) and written and _read_number(value) is None:
            yield (
                f"{where}: “{_shortened(written)}” under {_shortened(column.removeprefix(NUMBER))} "
                "is no number; nothing changed."
            )
    yield from _sign_remarks(where, cells)


def _option_cell_remarks(code: str, cells: Cells) -> Iterator[str]:
    points = _written(cells.get(POINTS))
    if points and _read_number(points) is None:
        yield f"Option {code}: “{_shortened(points)}” under Points is no number, such as 2.5."
    yield from _sign_remarks(f"Option {code}", cells)


def _sign_remarks(where: str, cells: Cells) -> Iterator[str]:
    """Cells that should say for, against or neutral, and do not."""
    for column, value in cells.items():
        takes_sign = column.startswith((LOADING, ANNOTATION, PARTY)) or column == STANCE
        if takes_sign and not _is_sign(value):
            yield (
                f"{where}: “{_shortened(_written(value))}” under "
                f"{_shortened(column.partition(':')[2]) or 'Stance'} is not known, so nothing "
                "changed there. Write +1, 0 or −1, or leave it empty."
            )


def _block_column(cells: Cells, columns: Sequence[str]) -> int | None:
    """Which column holds a block; a line break alone may belong to the text of an item."""
    for place, column in enumerate(columns):
        written = _written(cells.get(column))
        if "\t" in written or (not column.startswith(TEXT) and _BREAKS.search(written)):
            return place
    return None


def _rows_of_block(cells: Cells, columns: Sequence[str]) -> list[Cells]:
    place = _block_column(cells, columns)
    if place is None:
        return [cells]
    block = cells_of_block(str(cells[columns[place]]))
    rows: list[dict[str, Any]] = [
        dict(zip(columns[place:], values, strict=False)) for values in block
    ]
    others = {column: value for column, value in cells.items() if column != columns[place]}
    if not rows:
        return [others]
    position = {POSITION: cells[POSITION]} if POSITION in cells else {}
    return [{**others, **rows[0]}, *({**position, **row} for row in rows[1:])]


def _n_overflowing(cells: Cells, columns: Sequence[str]) -> int:
    place = _block_column(cells, columns)
    if place is None:
        return 0
    room = len(columns) - place
    block = cells_of_block(str(cells[columns[place]]))
    return sum(bool(value.strip()) for values in block for value in values[room:])


def cells_of_block(text: str) -> list[list[str]]:
    """Rows of cells as a spreadsheet puts them on the clipboard; blank rows are left out."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    rows: list[list[str]] = [[]]
    for match in _CELL.finditer(text):
        quoted, plain, end = match.groups()
        rows[-1].append(plain if quoted is None else _unquoted(quoted))
        if not end:
            break
        if end == "\n":
            rows.append([])
    return [row for row in rows if any(cell.strip() for cell in row)]


def _unquoted(inside: str) -> str:
    """A cell found in quotation marks, which are its own unless it needed them."""
    return inside.replace('""', '"') if _BREAKS.search(inside) else f'"{inside}"'


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _written(value: Any) -> str:
    return "" if value is None else str(value).strip()
