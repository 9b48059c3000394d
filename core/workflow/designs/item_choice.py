"""A choice among the items of a bank: by attributes, and at random with a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.attributes import known_attributes, levels, matching_items
from core.domain.instrument import ATTRIBUTE, Instrument, Item
from core.domain.numbers import count_text
from core.errors import DesignError

Filters = Mapping[str, Sequence[str]]
"""Attribute (`item.genre`) -> the values of which an item needs one."""


@dataclass(frozen=True)
class ItemChoice:
    """Which items of a bank to take.

    Of the items that pass `where`, `count` are drawn at random (None: all are taken), as many from
    each value of the attribute `stratify_by` as the values allow; empty: of all alike.
    """

    where: Filters = field(default_factory=dict)
    count: int | None = None
    stratify_by: str = ""
    seed: int = 1


@dataclass(frozen=True)
class ChosenItems:
    """The codes of the chosen items in bank order, and a sentence on how they were chosen."""

    codes: tuple[str, ...]
    sentence: str


def choose_items(bank: Instrument, choice: ItemChoice) -> ChosenItems:
    """The items of a bank that a choice takes.

    The same choice takes the same items on every machine. A stratified sample has equally many
    items of each value; where a value has too few, the others give more, as equally as they can.

    Raises
    ------
    DesignError
        The bank lacks an attribute, no item passes, or fewer pass than are to be drawn.
    """
    stratify = (choice.stratify_by,) if choice.stratify_by else ()
    _require_attributes(bank, (*choice.where, *stratify))
    passing = matching_items(bank, choice.where)
    filtered = _filter_words(choice.where)
    if not passing:
        raise DesignError(
            f"No item of bank '{bank.code}' passes the filter {filtered}.", "Choose other values."
        )
    items, drawn = passing, ""
    if choice.count is not None:
        items = _drawn(bank, passing, choice)
        drawn = _drawing_words(bank, items, choice)
    sentence = f"{count_text(len(items), 'item')} of the {len(bank.items):,} of bank '{bank.code}'"
    if choice.where:
        sentence += f" with {filtered}"
    if choice.count is not None:
        sentence += f" ({len(passing):,} pass), {drawn}" if choice.where else f", {drawn}"
    return ChosenItems(tuple(item.code for item in items), f"{sentence}.")


def _require_attributes(bank: Instrument, names: Sequence[str]) -> None:
    known = known_attributes(bank)
    for name in names:
        if name not in known:
            raise DesignError(
                f"The items of bank '{bank.code}' have no attribute '{name}'.",
                f"They have: {', '.join(known)}." if known else "Add one on the page Banks.",
            )


def _drawn(bank: Instrument, items: Sequence[Item], choice: ItemChoice) -> tuple[Item, ...]:
    """A random sample of the items in their order."""
    count = choice.count or 0
    if not 1 <= count <= len(items):
        raise DesignError(
            f"A sample of {count_text(count, 'item')} cannot be drawn from {len(items):,}.",
            f"Choose a number from 1 to {len(items):,}.",
        )
    strata = _strata(bank, items, choice.stratify_by)
    generator = random.Random(choice.seed)
    places: list[int] = []
    for stratum, size in zip(strata, _sizes([*map(len, strata)], count), strict=True):
        places += generator.sample(stratum, size)
    return tuple(items[place] for place in sorted(places))


def _strata(bank: Instrument, items: Sequence[Item], attribute: str) -> list[list[int]]:
    """The places of the items by the value of the attribute, in order of its values."""
    if not attribute:
        return [[*range(len(items))]]
    places: dict[str, list[int]] = {value: [] for value in levels(bank, attribute)}
    for place, item in enumerate(items):
        places[item.attribute(attribute.removeprefix(ATTRIBUTE))].append(place)
    return [stratum for stratum in places.values() if stratum]


def _sizes(available: Sequence[int], count: int) -> list[int]:
    """How many to draw of each stratum: equally many, the first ones one more where it is uneven.

    A stratum with fewer gives all, and the others share what it lacks.
    """
    sizes = [0] * len(available)
    left = count
    while left:
        open_strata = [k for k, size in enumerate(sizes) if size < available[k]]
        share = max(1, left // len(open_strata))
        for k in open_strata:
            more = min(share, available[k] - sizes[k], left)
            sizes[k] += more
            left -= more
    return sizes


def _filter_words(where: Filters) -> str:
    return " and ".join(
        f"{name} = {' or '.join(value or '(none)' for value in values)}"
        for name, values in where.items()
    )


def _drawing_words(bank: Instrument, items: Sequence[Item], choice: ItemChoice) -> str:
    words = f"drawn at random with seed {choice.seed}"
    if not choice.stratify_by:
        return words
    own = [item.attribute(choice.stratify_by.removeprefix(ATTRIBUTE)) for item in items]
    counts = ", ".join(
        f"{value or '(none)'} {own.count(value):,}"
        for value in levels(bank, choice.stratify_by)
        if value in own
    )
    return f"{words}, stratified by {choice.stratify_by} ({counts})"
