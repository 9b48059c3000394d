"""Writes a question bank to one CSV file or one Excel workbook, without loss."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from core.domain.attributes import number_of
from core.domain.instrument import (
    ATTRIBUTE,
    ITEM_COLUMNS,
    KINDS,
    LEANINGS,
    MIDPOINTS,
    Instrument,
    Item,
    ResponseFormat,
    attribute_problems,
    whole_number,
)
from core.domain.item_columns import join_pairs
from core.errors import BankError
from core.files.banks.reading import (
    ANNOTATOR_MARK,
    AS_TEXT,
    BANK_FIELDS,
    COLUMNS,
    CSV_COLUMNS,
    DIRECTIONS,
    LOADING,
    MOODS,
    ONLY_WHEN_USED,
    OPTIONAL,
    PARTY,
    SHEETS,
    TEXT_MARKS,
    WordingColumn,
    is_of_items,
    text_column,
    text_name,
)
from core.files.tables import MAX_COLUMNS
from core.files.writing import Cell, csv_bytes, csv_fault, plain_number, workbook, xlsx_fault

Record = dict[str, Cell]
_DIRECTION_WORDS = {sign: word for word, sign in DIRECTIONS.items()}


def records(bank: Instrument) -> Iterator[Record]:
    """Every row of the file, without empty texts."""
    values = (
        bank.code,
        bank.title,
        bank.description,
        bank.licence,
        bank.citation,
        " ".join(bank.languages),
        bank.kind,
    )
    for code, value in zip(BANK_FIELDS, values, strict=True):
        if (code, value) != ("kind", "items"):
            yield {"record": "bank", "code": code, "value": value}
    for party in bank.parties:
        country = _filled(country=party.country)
        yield {"record": "party", "code": party.code, "value": party.leaning, **country}
    for response_format in bank.formats:
        yield from _of_format(response_format)
    columns = {name: _attribute_column(bank, name) for name in bank.attribute_names()}
    for position, item in enumerate(bank.items, start=1):
        yield _of_item(position, item, columns)


def _attribute_column(bank: Instrument, name: str) -> str:
    """The column of an attribute; it says so where its texts look like numbers."""
    values = (item.attributes.get(name) for item in bank.items)
    numbers_in_texts = any(isinstance(v, str) and number_of(v) is not None for v in values)
    return f"{ATTRIBUTE}{name}{AS_TEXT if numbers_in_texts else ''}"


def _optional_columns(records: list[Record]) -> tuple[str, ...]:
    """The optional columns in use: those of attributes, domains, annotators and parties last."""
    used = dict.fromkeys(column for record in records for column in record)
    coded = [c for c in used if c.startswith(LOADING) and ANNOTATOR_MARK in c]
    prefixes = (ATTRIBUTE, LOADING, PARTY)
    named = {
        prefix: [c for c in used if c.startswith(prefix) and c not in coded and is_of_items(c)]
        for prefix in prefixes
    }
    named[LOADING] += sorted(coded)
    return (*(c for c in OPTIONAL if c in used), *(c for group in named.values() for c in group))


def _text_names(bank: Instrument, records: list[Record]) -> tuple[str, ...]:
    """Text columns in order of first use, items first; reading back keeps this order."""
    items_first = sorted(records, key=lambda record: record["record"] != "item")
    used = [column for record in items_first for column in record if column.startswith("text_")]
    return tuple(dict.fromkeys([*used, *(text_name(lang) for lang in bank.languages)]))


def _of_format(response_format: ResponseFormat) -> Iterator[Record]:
    code, midpoint, mood = response_format.code, response_format.midpoint, response_format.mood
    ratings = join_pairs(
        {r.code: f"{plain_number(r.low)}..{plain_number(r.high)}" for r in response_format.ratings}
    )
    shown = None if midpoint == "coin" else midpoint
    if shown or mood or ratings:
        cells = _filled(midpoint=shown, mood=mood, ratings=ratings)
        yield {"record": "format", "code": code, **cells}
    if not response_format.options:
        yield {"record": "option", "format": code}
    for position, option in enumerate(response_format.options, start=1):
        labels = {text_name(k): v for k, v in option.labels.items() if v}
        fixed = (code, position, option.code, option.points, option.stance)
        yield {"record": "option", **dict(zip(COLUMNS["option"], fixed, strict=True)), **labels}


def _of_item(position: int, item: Item, columns: Mapping[str, str]) -> Record:
    """The row of an item; `columns` are those of attributes by name."""
    facts = {name: column.written(getattr(item, name)) for name, column in ITEM_COLUMNS.items()}
    texts = {text_name(w.language, w.form, w.mood): w.text for w in item.wordings if w.text}
    marks = {
        column: {
            text_name(w.language, w.form, w.mood): str(getattr(w, name))
            for w in item.wordings
            if w.text and getattr(w, name)
        }
        for column, name in TEXT_MARKS.items()
    }
    words = {form: _DIRECTION_WORDS.get(sign, "") for form, sign in item.directions.items()}
    return {
        "record": "item",
        "position": position,
        "code": item.code,
        **{n: cell for n, cell in facts.items() if n in COLUMNS["item"] or cell not in ("", None)},
        **_filled(directions=join_pairs(words)),
        **_filled(**{column: join_pairs(dict(sorted(of.items()))) for column, of in marks.items()}),
        **{
            columns[name]: value if isinstance(value, str) else whole_number(value)
            for name, value in item.attributes.items()
        },
        **{f"{LOADING}{domain}": sign for domain, sign in item.loadings.items()},
        **{
            f"{LOADING}{domain}{ANNOTATOR_MARK}{annotator}": sign
            for annotator, signs in item.annotations.items()
            for domain, sign in signs.items()
        },
        **{f"{PARTY}{party}": sign for party, sign in item.positions.items()},
        **texts,
    }


def _filled(**cells: str | None) -> Record:
    """The cells that are not empty."""
    return {column: cell for column, cell in cells.items() if cell}


# Parts of a bank that a file cannot hold.

_SIGNS = (-1, 0, 1)


def _refuse_losses(
    bank: Instrument, records: list[dict[str, Cell]], fault: Callable[[str], str]
) -> None:
    """Raise BankError with every part that the file cannot hold."""
    losses = [*_structure_losses(bank), *_column_losses(bank)]
    for item in bank.items:
        losses.extend(_item_losses(item))
    for response_format in bank.formats:
        losses.extend(_format_losses(response_format))
    for record in records:
        for column, cell in record.items():
            reason = fault(column) or (fault(cell) if isinstance(cell, str) else "")
            if reason:
                where = f"{record['record']} {record.get('code') or record.get('format')!r}"
                losses.append(f"{where}, {column!r}: {reason}")
    used = {column for record in records for column in record}
    n_columns = len(used.union(CSV_COLUMNS, map(text_name, bank.languages)))
    if n_columns > MAX_COLUMNS:
        losses.append(f"there are {n_columns} columns, more than {MAX_COLUMNS}")
    if losses:
        raise BankError(
            f"Bank {bank.code!r} cannot be written to this kind of file without loss: "
            f"{'; '.join(losses)}.",
            "Change these places, then export again.",
        )


def _structure_losses(bank: Instrument) -> Iterator[str]:
    if bank.kind not in KINDS:
        yield f"its kind {bank.kind!r} is not one of {', '.join(KINDS)}"
    if " ".join(bank.languages).split() != list(bank.languages):
        yield "a language code is empty or holds a space"
    yield from _repeats("sets of response options", (f.code for f in bank.formats))
    yield from _repeats("parties", (party.code for party in bank.parties))
    for party in bank.parties:
        if party.leaning not in LEANINGS:
            yield f"party {party.code!r} leans {party.leaning!r}, not {', '.join(LEANINGS)}"


def _repeats(what: str, codes: Iterable[str]) -> Iterator[str]:
    for code, count in Counter(codes).items():
        if count > 1:
            yield f"{count} {what} have the code {code!r}"


def _column_losses(bank: Instrument) -> Iterator[str]:
    """Names that cannot be a column, or that would be another column."""
    wordings = [WordingColumn(w.language, w.form, w.mood) for i in bank.items for w in i.wordings]
    labels = [WordingColumn(lang) for f in bank.formats for o in f.options for lang in o.labels]
    for column in dict.fromkeys([*wordings, *labels]):
        if text_column(text_name(*column).strip()) != column:
            mood = f" and mood {column.mood!r}" if column.mood else ""
            yield (
                f"language {column.language!r} with form {column.form!r}{mood} makes no readable "
                "column name"
            )
    parties = {party.code for party in bank.parties}
    placed = {party for item in bank.items for party in item.positions}
    coders = {name for item in bank.items for name in item.annotations}
    coded = {domain for item in bank.items for s in item.annotations.values() for domain in s}
    of_loadings = dict.fromkeys([*bank.domains(), *sorted(coded | coders)])
    for name in (*of_loadings, *sorted(parties | placed)):
        marked = name in of_loadings and ANNOTATOR_MARK in name
        if not name or name.strip() != name or marked:
            yield f"{name!r} makes no readable column name"
    for problem in attribute_problems(bank):
        yield f"{problem.where}: {problem.what}"
    for name in sorted(placed - parties):
        yield f"items have positions of {name!r}, which is not one of the bank's parties"


def _item_losses(item: Item) -> Iterator[str]:
    where = f"item {item.code!r}"
    for name, column in ITEM_COLUMNS.items():
        if loss := column.loss(getattr(item, name)):
            yield f"{where} {loss}"
    if len({(w.language, w.form, w.mood) for w in item.wordings}) < len(item.wordings):
        yield f"{where} has two texts in the same language and form"
    for form, direction in item.directions.items():
        if not form or direction not in DIRECTIONS.values():
            yield f"{where} has the direction {direction} for the form {form!r}, not 1 or -1"
    yield from _sign_losses(where, LOADING, item.loadings)
    yield from _sign_losses(where, PARTY, item.positions)
    for signs in item.annotations.values():
        yield from _sign_losses(where, LOADING, signs)
        if not signs:
            yield f"{where} has an annotator without a code"
    if not all(value != "" for value in item.attributes.values()):
        yield f"{where} has an attribute without a value"


def _sign_losses(where: str, prefix: str, signs: Mapping[str, int]) -> Iterator[str]:
    for name, value in signs.items():
        if value not in _SIGNS:
            yield f"{where} has {value} in {prefix + name!r}, not -1, 0 or 1"


def _format_losses(response_format: ResponseFormat) -> Iterator[str]:
    where = f"the set of response options {response_format.code!r}"
    if response_format.midpoint not in MIDPOINTS:
        yield f"{where} has the midpoint {response_format.midpoint!r}"
    if response_format.mood and response_format.mood not in MOODS:
        yield f"{where} has the mood {response_format.mood!r}, not {' or '.join(MOODS)}"
    for option in response_format.options:
        if option.points is not None and not math.isfinite(option.points):
            yield f"option {option.code!r} has points that are no number"
        if option.stance is not None and option.stance not in _SIGNS:
            yield f"option {option.code!r} has the stance {option.stance}, not -1, 0 or 1"


# The files. The cell `record` names the kind of a row: a fact about the bank, a party, a set of
# response options, an option, or an item.


def instrument_to_csv(instrument: Instrument) -> bytes:
    """The bank as one UTF-8 CSV file; BankError where a part cannot be in one."""
    rows_of_bank = list(records(instrument))
    _refuse_losses(instrument, rows_of_bank, csv_fault)
    header = (
        *CSV_COLUMNS,
        *_optional_columns(rows_of_bank),
        *_text_names(instrument, rows_of_bank),
    )
    rows = ([record.get(column) for column in header] for record in rows_of_bank)
    return csv_bytes([header, *rows])


def instrument_to_xlsx(instrument: Instrument) -> bytes:
    """The bank as a workbook with a sheet for each kind of row; BankError as for CSV."""
    rows_of_bank = list(records(instrument))
    _refuse_losses(instrument, rows_of_bank, xlsx_fault)
    sheets: dict[str, list[Iterable[Cell]]] = {}
    for title, kind in SHEETS.items():
        sheet_rows = [record for record in rows_of_bank if record["record"] == kind]
        if kind in ONLY_WHEN_USED and not sheet_rows:
            continue
        header = COLUMNS[kind]
        if kind in ("party", "option", "item"):
            header = (*header, *_optional_columns(sheet_rows))
        if kind in ("option", "item"):
            header = (*header, *_text_names(instrument, sheet_rows))
        sheets[title] = [
            header,
            *([record.get(column) for column in header] for record in sheet_rows),
        ]
    return workbook(sheets)
