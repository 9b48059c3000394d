"""What of a question bank a file could not give back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from core.domain.instrument import KINDS, LEANINGS, MIDPOINTS, Instrument, Item, ResponseFormat
from core.errors import BankError
from core.files.bank_columns import (
    CSV_COLUMNS,
    LOADING,
    MOODS,
    PARTY,
    TextColumn,
    text_column,
    text_name,
)
from core.files.bank_items import DIRECTIONS
from core.files.guard import Cell
from core.files.reading import MAX_COLUMNS

_MOST = 999_999_999  # nine digits, as the reader takes them
_SIGNS = (-1, 0, 1)


def refuse_losses(
    bank: Instrument, records: list[dict[str, Cell]], fault: Callable[[str], str]
) -> None:
    """Raise with everything that the file could not give back."""
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
    """Names that make no column, or the column of something else."""
    wordings = [TextColumn(w.language, w.form, w.mood) for i in bank.items for w in i.wordings]
    labels = [TextColumn(lang) for f in bank.formats for o in f.options for lang in o.labels]
    for column in dict.fromkeys([*wordings, *labels]):
        if text_column(text_name(*column).strip()) != column:
            mood = f" and mood {column.mood!r}" if column.mood else ""
            yield (
                f"language {column.language!r} with form {column.form!r}{mood} makes no readable "
                "column name"
            )
    parties = {party.code for party in bank.parties}
    placed = {party for item in bank.items for party in item.positions}
    for name in (*bank.domains(), *sorted(parties | placed)):
        if not name or name.strip() != name:
            yield f"{name!r} makes no readable column name"
    for name in sorted(placed - parties):
        yield f"items have positions of {name!r}, which is not one of the bank's parties"


def _item_losses(item: Item) -> Iterator[str]:
    where = f"item {item.code!r}"
    if item.keyed not in (1, -1):
        yield f"{where} is keyed {item.keyed}, not 1 or -1"
    if len({(w.language, w.form, w.mood) for w in item.wordings}) < len(item.wordings):
        yield f"{where} has two texts in the same language and form"
    if item.rank is not None and not 0 <= item.rank <= _MOST:
        yield f"{where} has the rank {item.rank}, which is not from 0 to {_MOST:,}"
    if not all(item.tags):
        yield f"{where} has an empty tag"
    for form, direction in item.directions.items():
        if not form or direction not in DIRECTIONS.values():
            yield f"{where} has the direction {direction} for the form {form!r}, not 1 or -1"
    yield from _sign_losses(where, LOADING, item.loadings)
    yield from _sign_losses(where, PARTY, item.positions)


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
