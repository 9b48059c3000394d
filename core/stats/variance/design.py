"""The cells of a design, and the effects that can be told apart in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.stats.inputs import Floats, Integers

# A set of facets is a whole number whose bits say which facets are in it. The levels of a set are
# the combinations of levels of its facets that come up. A set is closed if no further facet is
# constant within each of its levels: with items that belong to one subscale each, {item} is not
# closed, and {item, subscale} is. Each closed set but the empty one is an effect. So crossed,
# nested and confounded facets need no rules of their own; Tjur (1984) and Bailey (2008) have the
# theory.

_SPARSE = 4
"""Tables of codes may hold this many times as many places as there are rows to place."""


@dataclass(frozen=True, eq=False)
class Margin:
    """The levels of one set of facets: number and sum of the answers of each, and codes."""

    counts: Floats
    sums: Floats
    codes: Integers
    """(facets, levels): the level of each facet, meaningful for the facets of the set."""

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class DesignCells:
    """Every combination of levels that has answers, with their number, sum and squares.

    Sums and squares are of deviations from the mean of all answers, which keeps the sums of squares
    exact. `within` is the sum of squares of answers about the mean of their cell.
    """

    levels: tuple[int, ...]
    full: Margin
    within: float
    mean: float

    @property
    def n_facets(self) -> int:
        """Number of facets."""
        return len(self.levels)

    @property
    def n_cells(self) -> int:
        """Number of cells that have answers."""
        return self.full.n_levels

    @cached_property
    def n(self) -> int:
        """Number of answers."""
        return int(self.full.counts.sum())

    @property
    def everything(self) -> int:
        """The set of all facets."""
        return (1 << self.n_facets) - 1

    @property
    def replicated(self) -> bool:
        """Whether some cell has several answers."""
        return self.n > self.n_cells

    def numbers(self, facets: int, codes: Integers) -> Integers:
        """One number for each distinct combination of levels of these facets, with gaps."""
        number = np.zeros(codes.shape[1], dtype=np.int64)
        for facet in members(facets):
            number = number * self.levels[facet] + codes[facet]
        return number

    def places(self, facets: int, codes: Integers) -> tuple[Integers, Integers]:
        """The first row of each level of these facets, and the level of each row."""
        number = self.numbers(facets, codes)
        size = int(np.prod([self.levels[facet] for facet in members(facets)], dtype=np.int64))
        if size > _SPARSE * len(number):
            _, first, level_of = np.unique(number, return_index=True, return_inverse=True)
            return first, np.asarray(level_of, dtype=np.int64)
        first = np.full(size, -1, dtype=np.int64)
        first[number[::-1]] = np.arange(len(number))[::-1]
        taken = first >= 0
        renumbered = np.cumsum(taken) - 1
        return first[taken], renumbered[number]

    def matched(self, facets: int, codes: Integers, values: Floats, wanted: Integers) -> Floats:
        """The values of levels of some facets, one for each column of other codes."""
        number, wanted_number = self.numbers(facets, codes), self.numbers(facets, wanted)
        size = int(np.prod([self.levels[facet] for facet in members(facets)], dtype=np.int64))
        if size > _SPARSE * max(len(number), len(wanted_number)):
            order = np.argsort(number)
            return values[order[np.searchsorted(number, wanted_number, sorter=order)]]
        table = np.zeros(size)
        table[number] = values
        return table[wanted_number]

    def margin(self, facets: int, of: Margin) -> Margin:
        """The levels of a set of facets, summed over those of a set that contains it."""
        first, level_of = self.places(facets, of.codes)
        return Margin(
            _sums(level_of, of.counts, len(first)),
            _sums(level_of, of.sums, len(first)),
            of.codes[:, first],
        )


def cells(values: Floats, codes: Integers, levels: Sequence[int]) -> DesignCells:
    """The cells of some answers.

    Parameters
    ----------
    values : (answers,)
        Finite scores.
    codes : (facets, answers)
        The level of each facet, 0 to its number of levels - 1.
    levels : sequence of int
        Number of levels of each facet.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> design = cells(np.array([1.0, 2, 3, 6]), codes, [2, 2])
    >>> design.n_cells, design.mean, design.replicated
    (4, 3.0, False)
    """
    mean = float(values.mean())
    deviations = values - mean
    every = Margin(np.ones(len(values)), deviations, codes)
    answers = DesignCells(tuple(levels), every, 0.0, mean)
    first, cell_of = answers.places(answers.everything, codes)
    counts = np.bincount(cell_of, minlength=len(first)).astype(np.float64)
    sums = _sums(cell_of, deviations, len(first))
    rest = deviations - (sums / counts)[cell_of]
    within = float(rest @ rest) if len(first) < len(values) else 0.0
    return DesignCells(tuple(levels), Margin(counts, sums, codes[:, first]), within, mean)


def _sums(level_of: Integers, values: Floats, n_levels: int) -> Floats:
    """The sum of the values of each level."""
    return np.asarray(np.bincount(level_of, values, n_levels), dtype=np.float64)


def members(facets: int) -> Iterator[int]:
    """The numbers of the facets in a set.

    Examples
    --------
    >>> list(members(0b101))
    [0, 2]
    """
    facet = 0
    while facets >> facet:
        if facets >> facet & 1:
            yield facet
        facet += 1


def size(facets: int) -> int:
    """How many facets are in a set."""
    return facets.bit_count()


def contains(larger: int, smaller: int) -> bool:
    """Whether all facets of a set are in another."""
    return larger & smaller == smaller


@dataclass(frozen=True, eq=False)
class Effects:
    """The closed sets of facets of some cells, small ones first, with their levels.

    `closures` has the closed set that each set of facets amounts to.
    """

    sets: tuple[int, ...]
    margins: dict[int, Margin]
    closures: dict[int, int]

    def generators(self, effect: int) -> tuple[int, ...]:
        """The smallest sets of facets that amount to an effect."""
        sets = [facets for facets, closure in self.closures.items() if closure == effect]
        least = min(map(size, sets))
        return tuple(sorted(facets for facets in sets if size(facets) == least))


def effects(design: DesignCells) -> Effects:
    """The effects of a design: its closed sets of facets but the empty one.

    Examples
    --------
    Two crossed facets: each, and both together.

    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> design = cells(np.array([1.0, 2, 3, 6]), codes, [2, 2])
    >>> effects(design).sets
    (1, 2, 3)
    """
    every = range(design.everything + 1)
    margins = {design.everything: design.full}
    for facets in reversed(every[:-1]):
        larger = [facets | 1 << facet for facet in members(design.everything & ~facets)]
        smallest = min(larger, key=lambda chosen: margins[chosen].n_levels)
        margins[facets] = design.margin(facets, margins[smallest])
    closures = {}
    for facets in every:
        closure = facets
        for facet in range(design.n_facets):
            if margins[facets | 1 << facet].n_levels == margins[facets].n_levels:
                closure |= 1 << facet
        closures[facets] = closure
    sets = sorted({c for c in closures.values() if c != closures[0]}, key=lambda c: (size(c), c))
    return Effects(tuple(sets), {chosen: margins[chosen] for chosen in (*sets, 0)}, closures)


def same_partition(codes: Sequence[Integers], levels: Sequence[int]) -> list[list[int]]:
    """Groups of facets whose levels go one to one, so that nothing can tell them apart.

    Parameters
    ----------
    codes : (facets, answers)
        The level of each facet.
    levels : sequence of int
        Number of levels of each facet; all come up.

    Examples
    --------
    The levels of the first and the third go one to one.

    >>> first, second = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> same_partition([first, second, 1 - first], [2, 2, 2])
    [[0, 2], [1]]
    """
    groups: list[list[int]] = []
    for facet, n_levels in enumerate(levels):
        for group in groups:
            if levels[group[0]] != n_levels:
                continue
            first, second = codes[group[0]], codes[facet]
            partner = np.empty(n_levels, dtype=np.int64)
            partner[first] = second
            if (partner[first] == second).all() and len(np.unique(partner)) == n_levels:
                group.append(facet)
                break
        else:
            groups.append([facet])
    return groups
