"""The rows of a question bank's file, and the columns they use."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.instrument import Instrument, Item, ResponseFormat
from core.files.bank_columns import (
    BANK_FIELDS,
    COLUMNS,
    LOADING,
    OPTIONAL,
    PARTY,
    is_of_items,
    text_name,
)
from core.files.bank_items import DIRECTIONS
from core.files.bank_lists import join, join_pairs
from core.files.guard import Cell, plain_number

Record = dict[str, Cell]
_DIRECTION_WORDS = {sign: word for word, sign in DIRECTIONS.items()}


def records(bank: Instrument) -> Iterator[Record]:
    """Every row of the file. An empty text is left out: it is the same as none."""
    values = (
        bank.code, bank.title, bank.description, bank.licence, bank.citation,
        " ".join(bank.languages), bank.kind,
    )  # fmt: skip
    for code, value in zip(BANK_FIELDS, values, strict=True):
        if (code, value) != ("kind", "items"):
            yield {"record": "bank", "code": code, "value": value}
    for party in bank.parties:
        yield {"record": "party", "code": party.code, "value": party.leaning}
    for response_format in bank.formats:
        yield from _of_format(response_format)
    for position, item in enumerate(bank.items, start=1):
        yield _of_item(position, item)


def optional_columns(records: list[Record]) -> tuple[str, ...]:
    """Columns that stand in a file only where they are used, those of domains and parties last."""
    used = dict.fromkeys(column for record in records for column in record)
    prefixes = (LOADING, PARTY)
    named = [column for prefix in prefixes for column in used if column.startswith(prefix)]
    return (*(column for column in OPTIONAL if column in used), *filter(is_of_items, named))


def text_names(bank: Instrument, records: list[Record]) -> tuple[str, ...]:
    """Text columns in order of first use, items first: an order that reading back keeps."""
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
        cells = _used(midpoint=shown, mood=mood, ratings=ratings)
        yield {"record": "format", "code": code, **cells}
    if not response_format.options:
        yield {"record": "option", "format": code}
    for position, option in enumerate(response_format.options, start=1):
        labels = {text_name(k): v for k, v in option.labels.items() if v}
        fixed = (code, position, option.code, option.points, option.stance)
        yield {"record": "option", **dict(zip(COLUMNS["option"], fixed, strict=True)), **labels}


def _of_item(position: int, item: Item) -> Record:
    fixed = (position, item.code, item.subscale, item.keyed)
    texts = {text_name(w.language, w.form, w.mood): w.text for w in item.wordings if w.text}
    drafts = {
        text_name(w.language, w.form, w.mood): w.drafted_by
        for w in item.wordings
        if w.text and w.drafted_by
    }
    words = {form: _DIRECTION_WORDS.get(sign, "") for form, sign in item.directions.items()}
    return {
        "record": "item",
        **dict(zip(COLUMNS["item"], fixed, strict=True)),
        **_used(pair=item.pair, genre=item.genre, tags=join(item.tags)),
        **({} if item.rank is None else {"rank": item.rank}),
        **_used(directions=join_pairs(words), drafts=join_pairs(dict(sorted(drafts.items())))),
        **{f"{LOADING}{domain}": sign for domain, sign in item.loadings.items()},
        **{f"{PARTY}{party}": sign for party, sign in item.positions.items()},
        **texts,
    }


def _used(**cells: str | None) -> Record:
    """Those that hold something."""
    return {column: cell for column, cell in cells.items() if cell}
