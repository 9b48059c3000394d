"""The rows of a question bank's file, and what would keep them from giving the bank back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator

from core.domain.instrument import ORIGINAL, Instrument
from core.errors import BankError
from core.files.bank_columns import BANK_FIELDS, COLUMNS, text_column, text_name
from core.files.guard import Cell

Record = dict[str, Cell]
_STANCES = (None, -1, 0, 1)


def records(bank: Instrument) -> Iterator[Record]:
    """Every row of the file. An empty text is left out: it is the same as none."""
    values = (
        bank.code, bank.title, bank.description, bank.licence, bank.citation,
        " ".join(bank.languages),
    )  # fmt: skip
    for code, value in zip(BANK_FIELDS, values, strict=True):
        yield {"record": "bank", "code": code, "value": value}
    for response_format in bank.formats:
        if not response_format.options:
            yield {"record": "option", "format": response_format.code}
        for position, option in enumerate(response_format.options, start=1):
            labels = {text_name(k, ORIGINAL): v for k, v in option.labels.items() if v}
            fixed = (response_format.code, position, option.code, option.points, option.stance)
            yield {"record": "option", **dict(zip(COLUMNS["option"], fixed, strict=True)), **labels}
    for position, item in enumerate(bank.items, start=1):
        texts = {text_name(w.language, w.form): w.text for w in item.wordings if w.text}
        fixed_item = (position, item.code, item.subscale, item.keyed)
        yield {"record": "item", **dict(zip(COLUMNS["item"], fixed_item, strict=True)), **texts}


def text_names(bank: Instrument, records: list[Record]) -> tuple[str, ...]:
    """Text columns in order of first use, items first: an order that reading back keeps."""
    items_first = sorted(records, key=lambda record: record["record"] != "item")
    used = [column for record in items_first for column in record if column.startswith("text_")]
    return tuple(dict.fromkeys([*used, *(text_name(lang, ORIGINAL) for lang in bank.languages)]))


def refuse_losses(bank: Instrument, records: list[Record], fault: Callable[[str], str]) -> None:
    """Raise with everything that the file could not give back."""
    losses = [*_structure_losses(bank), *_value_losses(bank)]
    for record in records:
        for column, cell in record.items():
            reason = fault(column) or (fault(cell) if isinstance(cell, str) else "")
            if reason:
                where = f"{record['record']} {record.get('code') or record.get('format')!r}"
                losses.append(f"{where}, {column!r}: {reason}")
    if losses:
        raise BankError(
            f"Bank {bank.code!r} cannot be written to this kind of file without loss: "
            f"{'; '.join(losses)}.",
            "Change these places, then export again.",
        )


def _structure_losses(bank: Instrument) -> Iterator[str]:
    if " ".join(bank.languages).split() != list(bank.languages):
        yield "a language code is empty or holds a space"
    for code, count in Counter(f.code for f in bank.formats).items():
        if count > 1:
            yield f"{count} sets of response options have the code {code!r}"
    wordings = [(w.language, w.form) for item in bank.items for w in item.wordings]
    labels = [(lang, ORIGINAL) for f in bank.formats for o in f.options for lang in o.labels]
    for language, form in dict.fromkeys([*wordings, *labels]):
        if text_column(text_name(language, form).strip()) != (language, form):
            yield f"language {language!r} with form {form!r} makes no readable column name"
    for item in bank.items:
        if len({(w.language, w.form) for w in item.wordings}) < len(item.wordings):
            yield f"item {item.code!r} has two texts in the same language and form"


def _value_losses(bank: Instrument) -> Iterator[str]:
    for item in bank.items:
        if item.keyed not in (1, -1):
            yield f"item {item.code!r} is keyed {item.keyed}, not 1 or -1"
    for option in (option for f in bank.formats for option in f.options):
        if option.points is not None and not math.isfinite(option.points):
            yield f"option {option.code!r} has points that are no number"
        if option.stance not in _STANCES:
            yield f"option {option.code!r} has the stance {option.stance}, not -1, 0 or 1"
