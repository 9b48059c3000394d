"""The plan of a design as cells: products of levels that share no trial, each with its items.

Each crossing of a design is a product of levels, and the products may overlap. They are cut into
cells, so that every trial is in one cell, whatever number of crossings ask it. Levels and items
are bits of whole numbers by their place, so that products are compared without writing them out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.domain.study import Design
from core.errors import DesignError

AXES = (
    "repetition",
    "respondent",
    "language",
    "form",
    "format",
    "template",
    "label_order",
    "items_per_call",
    "history",
    "entities",
    "context",
)
"""What a cell is a product of, in the order of asking."""

_MOST_CELLS = 5_000

_REPETITION, _ENTITIES = AXES.index("repetition"), AXES.index("entities")
_PER_CALL, _HISTORY = AXES.index("items_per_call"), AXES.index("history")

Product = tuple[int, ...]
"""The levels of each axis, as bits by their place."""


@dataclass(frozen=True)
class Cell:
    """A product of levels in which every administration asks the same items."""

    levels: Product
    items: int

    def places(self, axis: str) -> tuple[int, ...]:
        """The places of its levels of an axis, in the order of asking."""
        return places(self.levels[AXES.index(axis)])


@dataclass(frozen=True)
class PlanCells:
    """The cells of a design.

    `levels` are those of each axis over all crossings, in the order of asking: ids of respondents,
    items per call as a number, two entities as the call names them, and ranges of repetitions from
    a first to a last one. `entity_places` order the entities: a pair and its mirror image stand
    together. `added` holds, for each crossing, the trials that no earlier one has.
    """

    levels: Mapping[str, tuple[Any, ...]]
    entity_places: tuple[int, ...]
    items: tuple[str, ...]
    cells: tuple[Cell, ...]
    added: tuple[tuple[Cell, ...], ...]
    crossed: tuple[tuple[Cell, ...], ...]
    """Each crossing by itself."""

    def repetitions(self, cell: Cell) -> int:
        """How many repetitions a cell has."""
        ranges = self.levels["repetition"]
        return sum(ranges[n][1] - ranges[n][0] + 1 for n in cell.places("repetition"))


@lru_cache(maxsize=4096)
def places(bits: int) -> tuple[int, ...]:
    """The places of the bits that are set, lowest first."""
    return tuple(n for n, bit in enumerate(reversed(f"{bits:b}")) if bit == "1")


def plan_cells(
    design: Design, respondents: Sequence[Sequence[int]], items: Sequence[str]
) -> PlanCells:
    """The cells of a design; `respondents` of each crossing by id, `items` are those of the bank.

    Raises
    ------
    DesignError
        Blocks overlap in so many ways that there are more than 5,000 cells.
    """
    crossings = design.crossings()
    ends = sorted({end for part in crossings for end in _ends(part) if end > 0})
    ranges = [(first + 1, last) for first, last in zip([0, *ends], ends, strict=False)]
    levels = {axis: list[Any]() for axis in AXES} | {"repetition": ranges}
    by_crossing = [
        [*_products(part, people, ranges)]
        for part, people in zip(crossings, respondents, strict=True)
    ]
    for axis in AXES[1:]:
        known = (level for products in by_crossing for one in products for level in one[axis])
        levels[axis] = list(dict.fromkeys(known))
    index = {axis: {level: n for n, level in enumerate(levels[axis])} for axis in AXES}
    place_of_item = {code: n for n, code in enumerate(items)}
    cells: list[Cell] = []
    added, crossed = [], []
    for part, products in zip(crossings, by_crossing, strict=True):
        asked = _bits(place_of_item, part.items or items)
        own = [
            Cell(tuple(_bits(index[axis], one[axis]) for axis in AXES), asked) for one in products
        ]
        crossed.append(tuple(own))
        new: list[Cell] = []
        for cell in own:
            cells, more = _add(cells, cell)
            new.extend(more)
        if len(cells) > _MOST_CELLS:
            raise DesignError(
                "The blocks overlap in too many ways.",
                "Plan a study for some of the blocks, and another one for the others.",
            )
        added.append(tuple(new))
    return PlanCells(
        {axis: tuple(found) for axis, found in levels.items()},
        _entity_places(crossings, levels["entities"]),
        tuple(items),
        tuple(cells),
        tuple(added),
        tuple(crossed),
    )


def given_entities(design: Design) -> tuple[tuple[str, str], ...]:
    """The entities of a design without blocks as pairs; one alone has an empty second one."""
    return design.pairs or tuple((name, "") for name in design.entities) or (("", ""),)


def overlap(one: Sequence[Cell], other: Sequence[Cell]) -> Iterator[Product]:
    """The products of levels that two crossings share, whatever their items."""
    for first in one:
        for second in other:
            common = _common(first.levels, second.levels)
            if all(common):
                yield common


def asks_in_company(plan: PlanCells, levels: Product) -> bool:
    """Whether a call of these levels depends on other items: it asks several, or has history."""
    alone = [plan.levels["items_per_call"][n] for n in places(levels[_PER_CALL])] == [1] and [
        plan.levels["history"][n] for n in places(levels[_HISTORY])
    ] == ["none"]
    return not alone


def overlap_but_for_repetition(one: Cell, other: Cell) -> bool:
    """Whether two cells share levels of every axis but repetition, and items."""
    common = _common(one.levels, other.levels)
    return bool(one.items & other.items) and all(
        bits for n, bits in enumerate(common) if n != _REPETITION
    )


def _ends(part: Design) -> Iterator[int]:
    """The repetitions after which a crossing ends or swaps its pairs."""
    yield part.repetitions
    if part.swap_halves:
        yield (part.repetitions + 1) // 2


def _products(
    part: Design, people: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> Iterator[dict[str, Sequence[Any]]]:
    """The levels of a crossing by axis: one product, or one for each half where pairs swap."""
    entities = given_entities(part)
    swapped = [(second, first) for first, second in entities]
    half = (part.repetitions + 1) // 2 if part.swap_halves else part.repetitions
    shared = {
        "respondent": people,
        "language": part.languages,
        "form": part.forms,
        "format": part.formats,
        "template": part.templates,
        "label_order": part.label_orders,
        "items_per_call": part.block_sizes,
        "history": part.histories,
        "context": [context.code for context in part.contexts] or [""],
    }
    for first, last, named in ((0, half, entities), (half, part.repetitions, swapped)):
        own = [one for one in ranges if first < one[0] and one[1] <= last]
        if own:
            yield {**shared, "repetition": own, "entities": named}


def _entity_places(
    crossings: Iterable[Design], levels: Sequence[tuple[str, str]]
) -> tuple[int, ...]:
    given = dict.fromkeys(pair for part in crossings for pair in given_entities(part))
    place = {pair: n for n, pair in enumerate(given)}
    last = len(place)
    return tuple(min(place.get((a, b), last), place.get((b, a), last)) for a, b in levels)


def _bits(index: Mapping[Any, int], levels: Iterable[Any]) -> int:
    """The levels as bits by their place; one that the index lacks is left out."""
    digits = bytearray(b"0" * max(len(index), 1))
    for level in levels:
        if level in index:
            digits[-1 - index[level]] = 49
    return int(digits, 2)


def _add(cells: Sequence[Cell], new: Cell) -> tuple[list[Cell], list[Cell]]:
    """The cells with those of a product of the same items, and the trials that it adds."""
    result: list[Cell] = []
    added: list[Cell] = []
    pending = [new.levels]
    for cell in cells:
        rest, outside = [cell.levels], []
        for product in pending:
            common = _common(product, cell.levels)
            if not all(common):
                outside.append(product)
                continue
            outside.extend(_without(product, cell.levels))
            if gain := new.items & ~cell.items:
                added.append(Cell(common, gain))
                result.append(Cell(common, cell.items | gain))
                rest = [piece for one in rest for piece in _without(one, common)]
        pending = outside
        result.extend(Cell(piece, cell.items) for piece in rest)
    own = [Cell(product, new.items) for product in pending]
    return result + own, added + own


def _common(one: Product, other: Product) -> Product:
    return tuple(a & b for a, b in zip(one, other, strict=True))


def _without(product: Product, other: Product) -> Iterator[Product]:
    """The product without another one, as products that share nothing."""
    if not all(_common(product, other)):
        yield product
        return
    rest = list(product)
    for axis, bits in enumerate(other):
        if outside := rest[axis] & ~bits:
            yield (*rest[:axis], outside, *rest[axis + 1 :])
        rest[axis] &= bits


def administrations(plan: PlanCells, cell: Cell) -> int:
    """Number of administrations of a cell."""
    per_repetition = math.prod(bits.bit_count() for bits in cell.levels[1:])
    return per_repetition * plan.repetitions(cell)
