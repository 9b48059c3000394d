"""Facts about the people of a study: gender, age, education. They are factors of the person."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core.domain.attributes import NumberRange, number_range
from core.domain.instrument import value_text, whole_number
from core.domain.numbers import cell_number

PERSON_FACT = "person."
"""What the name of a fact begins with in files."""
NO_FACTS = ("", "context", "person")
"""Names, in small letters, that no fact can have, as they stand for the person."""
FactKind = Literal["category", "ordered", "number"]
FACT_KINDS: dict[FactKind, str] = {
    "category": "Category",
    "ordered": "Ordered category",
    "number": "Number",
}


@dataclass(frozen=True)
class PersonFact:
    """A fact about people. `levels` are its values in order.

    Those of a number are the cuts of its bands, if anybody has set them: the number with which each
    band but the first begins, so that 30 and 45 make "under 30", "30 to 44" and "45 and over".
    """

    name: str
    kind: FactKind
    levels: tuple[str, ...] = ()


def guessed_fact(name: str, values: Iterable[str]) -> PersonFact:
    """What a fact is by its values: a number where all are, else a category."""
    different = sorted({value for value in values if value})
    if different and all(cell_number(value) is not None for value in different):
        return PersonFact(name, "number")
    return PersonFact(name, "category", tuple(different))


def code_order(code: str) -> tuple[bool, float, str]:
    """Sorts codes: numbers and ranges of numbers by size, then texts.

    >>> sorted(["10", "b", "2"], key=code_order)
    ['2', '10', 'b']
    """
    held = wanted_range(code)
    return held is None, held.low if held else 0, code


def fact_problems(fact: PersonFact, values: Sequence[str]) -> tuple[str, ...]:
    """Values that a fact cannot have: no number, or none of its levels."""
    if fact.kind == "number":
        wrong = [value for value in (*fact.levels, *values) if value and cell_number(value) is None]
        what = "is no number"
        cuts = [cell_number(cut) or 0 for cut in fact.levels]
        if not wrong and cuts != sorted(set(cuts)):
            return (f"The cuts of {fact.name} do not rise: {' < '.join(fact.levels)}.",)
    elif fact.kind == "ordered":
        wrong = [value for value in values if value and value not in fact.levels]
        what = f"is none of its levels: {', '.join(fact.levels)}"
    else:
        return ()
    return tuple(f"'{value}' of {fact.name} {what}." for value in dict.fromkeys(wrong))


# Bands of a number. A filter reads them by their names, so that it needs no cuts.


class Band(NamedTuple):
    """Numbers from `low` on, up to the next band; the first band begins at minus infinity."""

    name: str
    low: float


_NUMBER = r"(-?[\d.]+(?:e[+-]?\d+)?)"
_UNDER = re.compile(rf"under {_NUMBER}")
_OVER = re.compile(rf"{_NUMBER} and over")
_BETWEEN = re.compile(rf"{_NUMBER} to (under )?{_NUMBER}")
_ALL_NUMBERS = "all numbers"


def bands(cuts: Iterable[float], *, whole: bool) -> tuple[Band, ...]:
    """The bands between some cuts, named in words; `whole` says that all values are whole.

    >>> [band.name for band in bands((30, 45), whole=True)]
    ['under 30', '30 to 44', '45 and over']
    >>> [band.name for band in bands((1.5, 2), whole=False)]
    ['under 1.5', '1.5 to under 2', '2 and over']
    """
    lows = sorted(set(cuts))
    texts = [_number_text(low) for low in lows]
    if not lows:
        return (Band(_ALL_NUMBERS, -math.inf),)
    whole = whole and all(low.is_integer() for low in map(float, lows))
    made = [Band(f"under {texts[0]}", -math.inf)]
    for low, text, high in zip(lows, texts, lows[1:], strict=False):
        end = f"to {_number_text(high - 1)}" if whole else f"to under {_number_text(high)}"
        made.append(Band(text if whole and high - 1 == low else f"{text} {end}", low))
    return (*made, Band(f"{texts[-1]} and over", lows[-1]))


def _number_text(number: float) -> str:
    return value_text(whole_number(float(number)))


def wanted_range(text: str) -> NumberRange | None:
    """The numbers that a filter names: a number, a range such as `..30`, or a band; None: none.

    >>> wanted_range("30 to 44")
    NumberRange(low=30.0, high=44.0)
    """
    if text == _ALL_NUMBERS:
        return NumberRange(-math.inf, math.inf)
    if under := _UNDER.fullmatch(text):
        return _between("-inf", under[1], below=True)
    if over := _OVER.fullmatch(text):
        return _between(over[1], "inf")
    if between := _BETWEEN.fullmatch(text):
        return _between(between[1], between[3], below=bool(between[2]))
    number = cell_number(text)
    return number_range(text) if number is None else NumberRange(number, number)


def _between(low: str, high: str, *, below: bool = False) -> NumberRange | None:
    """From a number to another, or to the last one below the other."""
    try:
        ends = float(low), float(high)
    except ValueError:
        return None
    return NumberRange(ends[0], math.nextafter(ends[1], -math.inf) if below else ends[1])


def proposed_cuts(
    quartiles: Iterable[float], low: float, high: float, *, whole: bool
) -> tuple[float, ...]:
    """Cuts near the quartiles of some numbers: multiples of 1, 2 or 5 times a power of ten.

    So bands have names such as "under 30" and "30 to 39". No band is empty at the ends.

    >>> proposed_cuts((27, 38, 49), 18, 69, whole=True)
    (30.0, 40.0, 50.0)
    """
    values = [*map(float, quartiles)]
    spread = (values[-1] - values[0] or high - low) if values else 0
    if not spread > 0:
        return ()
    power = 10.0 ** math.floor(math.log10(spread / 1.5))
    step = max(power * size for size in (1, 2, 5) if power * size <= spread / 1.5)
    step = max(step, 1) if whole else step
    digits = max(0, -math.floor(math.log10(step)))
    rounded = {round(math.floor(value / step + 0.5) * step, digits) for value in values}
    return tuple(sorted(cut for cut in rounded if low < cut <= high))
