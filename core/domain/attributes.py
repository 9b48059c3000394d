"""Attributes of items in filters and groups, where they are called `item.NAME`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.domain.instrument import (
    ATTRIBUTE,
    ATTRIBUTE_FIELDS,
    ITEM_COLUMNS,
    Instrument,
    Item,
    value_text,
    whole_number,
)
from core.domain.values import Number

NUMBER_FIELDS = tuple(name for name in ATTRIBUTE_FIELDS if ITEM_COLUMNS[name].is_number)
"""Those of `ATTRIBUTE_FIELDS` that hold numbers."""

# Other spellings, such as 007 or 20 digits, would not read back as they were written.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]\d+)?", re.ASCII)
_MOST_DIGITS = 15
_RANGE_MARK = ".."


class NumberRange(NamedTuple):
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float


NEGATIVE_WORDS = "negative_words"
"""The tag and attribute of a story's prompt: how many of its words are from the negative set."""
POSITIVE_LIST, NEGATIVE_LIST = "words_positive", "words_negative"
"""Attributes of a story's prompt: its words of each set, with commas between them."""


def is_attribute(name: str) -> bool:
    """Whether the name of a filter or group is that of an attribute."""
    return name.startswith(ATTRIBUTE)


def is_numeric(bank: Instrument, name: str) -> bool:
    """Whether an attribute (`item.NAME`) has numbers; one without values has not."""
    own = name.removeprefix(ATTRIBUTE)
    if own in ATTRIBUTE_FIELDS:
        return own in NUMBER_FIELDS
    values = (item.attributes[own] for item in bank.items if own in item.attributes)
    return not isinstance(next(values, ""), str)


def known_attributes(bank: Instrument) -> tuple[str, ...]:
    """Every attribute (`item.NAME`) that filters and groups can name, used fields first."""
    fields = (f for f in ATTRIBUTE_FIELDS if any(item.attribute(f) for item in bank.items))
    return tuple(ATTRIBUTE + name for name in (*fields, *bank.attribute_names()))


def levels(bank: Instrument, name: str) -> list[str]:
    """The values of an attribute (`item.NAME`) as text: numbers by size, texts in bank order.

    The empty text, of items without a value, is last.
    """
    own = name.removeprefix(ATTRIBUTE)
    values = list(dict.fromkeys(item.attribute(own) for item in bank.items))
    if is_numeric(bank, name):
        values.sort(key=lambda value: float(value or "inf"))
    return sorted(values, key=lambda value: not value)


def number_of(text: str) -> Number | None:
    """The number that a text writes; None where it is none, or would not read back the same."""
    text = text.strip()
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        return None
    number = whole_number(float(text))
    is_exact = sum(map(str.isdigit, text)) <= _MOST_DIGITS or value_text(number) == text
    return number if is_exact else None


def number_range(text: str) -> NumberRange | None:
    """The range that a text such as `1..100`, `..100` or `5..` writes; None where it is none."""
    low, mark, high = text.partition(_RANGE_MARK)
    ends = [number_of(end) for end in (low, high)]
    given = [bool(end.strip()) for end in (low, high)]
    if not mark or not any(given) or any(g and e is None for g, e in zip(given, ends, strict=True)):
        return None
    lowest, highest = ends
    return NumberRange(
        -math.inf if lowest is None else float(lowest),
        math.inf if highest is None else float(highest),
    )


def wanted_text(text: str) -> str:
    """A level as typed in a filter, a number as attributes write it: `2.50` is `2.5`."""
    number = number_of(text)
    return text if number is None else value_text(number)


def matching_items(bank: Instrument, filters: Mapping[str, Sequence[str]]) -> tuple[Item, ...]:
    """The items of a bank that pass all filters by attribute (`item.NAME`), in bank order."""
    numeric = {name: is_numeric(bank, name) for name in filters}
    return tuple(
        item
        for item in bank.items
        if all(
            _passes(item.attribute(name.removeprefix(ATTRIBUTE)), wanted, numeric=numeric[name])
            for name, wanted in filters.items()
        )
    )


def _passes(own: str, wanted: Iterable[str], *, numeric: bool) -> bool:
    """Whether a value is one of the wanted ones or, if a number, in one of the wanted ranges."""
    for text in wanted:
        if own == (wanted_text(text) if numeric else text):
            return True
        ends = number_range(text) if numeric and own else None
        if ends and ends.low <= float(own) <= ends.high:
            return True
    return False
