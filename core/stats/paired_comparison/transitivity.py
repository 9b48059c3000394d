"""Whether preferences between pairs admit an order: cycles, circular triads, consistency."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from core.stats.inputs import Floats, Integers

_TIE = 1e-9
"""Shares this close to one half are ties; means of shares carry rounding."""
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False)
class PreferenceOrder:
    """The order of entities that their pairs admit.

    Fields
    ------
    levels : places of entities from the most preferred down. Entities of one level stand in a
        cycle, or no pair decides between them.
    cycles : for each set of entities that no order fits, a shortest cycle: each wins over the next,
        the last over the first.
    tied, unknown : pairs that are even, and pairs without a share.
    """

    levels: tuple[tuple[int, ...], ...]
    cycles: tuple[tuple[int, ...], ...]
    tied: tuple[tuple[int, int], ...]
    unknown: tuple[tuple[int, int], ...]

    @property
    def transitive(self) -> bool | None:
        """Whether an order fits; None where pairs are lacking that could close a cycle."""
        if self.cycles:
            return False
        return None if self.unknown else True


def preference_order(shares: Floats) -> PreferenceOrder:
    """The order, or the cycles, of entities by the shares of wins of their pairs.

    Parameters
    ----------
    shares : (entities, entities)
        Share of wins of the row over the column; NaN on the diagonal and where it is not known.

    Returns
    -------
    PreferenceOrder
        Entity i wins over j where its share is above one half. An even pair decides nothing.

    Notes
    -----
    Entities that can be reached from one another by wins are one strongly connected component, and
    no order fits them. Others are ordered by the longest chain of wins above them. Checked by hand.

    Examples
    --------
    The first wins over the second, the second over the third, and the third over the first.

    >>> none = math.nan
    >>> order = preference_order(np.array([[none, 0.8, 0.3], [0.2, none, 0.6], [0.7, 0.4, none]]))
    >>> order.cycles, order.transitive
    (((0, 1, 2),), False)
    """
    size = len(shares)
    beats = shares > 0.5 + _TIE
    pairs = list(combinations(range(size), 2))
    unknown = tuple((i, j) for i, j in pairs if math.isnan(shares[i, j]))
    tied = tuple((i, j) for i, j in pairs if abs(shares[i, j] - 0.5) <= _TIE)
    n_parts, part = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array(beats.astype(np.int64)), directed=True, connection="strong"
    )
    above = np.zeros((n_parts, n_parts), dtype=bool)
    winners, losers = np.nonzero(beats)
    above[part[winners], part[losers]] = True
    np.fill_diagonal(above, False)
    depth = np.zeros(n_parts, dtype=np.int64)
    for _ in range(n_parts):
        depth = np.where(above, depth[:, None] + 1, 0).max(axis=0, initial=0)
    of_entity = depth[part]
    levels = tuple(
        tuple(np.flatnonzero(of_entity == level).tolist()) for level in np.unique(of_entity)
    )
    members = [np.flatnonzero(part == number) for number in range(n_parts)]
    cycles = tuple(_shortest_cycle(beats, component) for component in members if len(component) > 1)
    return PreferenceOrder(levels, cycles, tied, unknown)


def _shortest_cycle(beats: np.ndarray, members: np.ndarray) -> tuple[int, ...]:
    """A shortest cycle among entities of which each can be reached from each."""
    graph = scipy.sparse.csr_array(beats[np.ix_(members, members)].astype(np.int64))
    best: list[int] = []
    for start in range(len(members)):
        _, before = scipy.sparse.csgraph.breadth_first_order(graph, start, directed=True)
        for last in np.flatnonzero(graph.toarray()[:, start]).tolist():
            path = [last]
            while path[-1] != start:
                path.append(int(before[path[-1]]))
            if not best or len(path) < len(best):
                best = path[::-1]
    return tuple(int(members[index]) for index in best)


@dataclass(frozen=True, eq=False)
class TriadCounts:
    """Triads of entities in each unit: all of whose pairs have answers, circular ones, tied ones.

    `n` counts triads whose three pairs are decided, `circular` those in which each entity wins
    once, `tied` those with an even pair; each is (units,).
    """

    n: Integers
    circular: Integers
    tied: Integers


def count_triads(shares: Floats, pairs: Sequence[tuple[int, int]], n_entities: int) -> TriadCounts:
    """How many triads of each unit are circular.

    Parameters
    ----------
    shares : (units, pairs)
        Share of wins of the first entity of each pair; NaN where it is not known.
    pairs : sequence of (entity, entity)
        Places of the entities of each pair.
    n_entities : int
        Number of entities.

    Notes
    -----
    Kendall & Babington Smith (1940) doi:10.1093/biomet/31.3-4.324. A triad with an even pair is
    neither circular nor transitive; one with an unknown pair is not counted. Checked by hand and
    against d = n(n - 1)(2n - 1)/12 - sum of squared wins / 2.

    Examples
    --------
    Two units of three entities: in a circle, and in order.

    >>> shares = np.array([[0.8, 0.2, 0.8], [0.8, 0.8, 0.8]])
    >>> triads = count_triads(shares, [(0, 1), (0, 2), (1, 2)], 3)
    >>> triads.n.tolist(), triads.circular.tolist()
    ([1, 1], [1, 0])
    """
    number_of = {pair: number for number, pair in enumerate(pairs)}
    sign = np.full((len(shares), 2 * len(pairs)), np.nan)
    decided = np.where(np.abs(shares - 0.5) <= _TIE, 0.0, np.sign(shares - 0.5))
    sign[:, 0::2], sign[:, 1::2] = decided, -decided
    both = {
        **{pair: 2 * number for pair, number in number_of.items()},
        **{pair[::-1]: 2 * number + 1 for pair, number in number_of.items()},
    }
    triads = [
        (both[i, j], both[j, k], both[k, i])
        for i, j, k in combinations(range(n_entities), 3)
        if (i, j) in both and (j, k) in both and (i, k) in both
    ]
    counts = np.zeros((3, len(shares)), dtype=np.int64)
    at_once = max(1, _CELLS_AT_ONCE // max(3 * len(shares), 1))
    for start in range(0, len(triads), at_once):
        sides = sign[:, np.array(triads[start : start + at_once])]
        complete = np.isfinite(sides).all(axis=2)
        tied = complete & (sides == 0).any(axis=2)
        circular = np.abs(sides.sum(axis=2)) == 3
        for row, hits in zip(counts, (complete & ~tied, circular, tied), strict=True):
            row += hits.sum(axis=1)
    return TriadCounts(counts[0], counts[1], counts[2])


def consistency(triads: TriadCounts, n_entities: int) -> Floats:
    """Kendall and Babington Smith's zeta of each unit: 1 without circular triads, 0 with the most.

    (units,); NaN where a triad is tied or unknown, or there are fewer than three entities.

    Examples
    --------
    By hand: three entities have one circular triad at most.

    >>> consistency(TriadCounts(np.array([1, 1]), np.array([1, 0]), np.array([0, 0])), 3).tolist()
    [0.0, 1.0]
    """
    every = math.comb(n_entities, 3)
    most = n_entities * (n_entities**2 - (1 if n_entities % 2 else 4)) / 24
    if n_entities < 3:
        return np.full(len(triads.n), np.nan)
    return np.where(triads.n == every, 1 - triads.circular / most, np.nan)
