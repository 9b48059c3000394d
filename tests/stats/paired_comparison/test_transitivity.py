"""Orders, cycles and circular triads, worked by hand and against Kendall's formula."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.paired_comparison.transitivity import consistency, count_triads, preference_order

NAN = math.nan


def matrix(size, **shares):
    """Shares by pair, such as AB=.6: A wins 60% over B."""
    table = np.full((size, size), np.nan)
    for pair, value in shares.items():
        i, j = (ord(letter) - ord("A") for letter in pair)
        table[i, j], table[j, i] = value, 1 - value
    return table


def test_an_order_of_three():
    order = preference_order(matrix(3, AB=0.4, BC=0.7, AC=0.6))
    assert order.levels == ((1,), (0,), (2,))
    assert order.cycles == ()
    assert order.transitive is True


def test_a_cycle_of_three_is_no_order():
    order = preference_order(matrix(3, AB=0.6, BC=0.7, AC=0.2))
    assert order.cycles in (((0, 1, 2),), ((1, 2, 0),), ((2, 0, 1),))
    assert order.levels == ((0, 1, 2),)
    assert order.transitive is False


def test_a_cycle_below_a_winner_is_named_by_itself():
    order = preference_order(matrix(4, AB=0.9, AC=0.8, AD=0.7, BC=0.6, CD=0.6, BD=0.4))
    assert order.levels == ((0,), (1, 2, 3))
    assert [sorted(cycle) for cycle in order.cycles] == [[1, 2, 3]]
    (cycle,) = order.cycles
    assert all(
        matrix(4, BC=0.6, CD=0.6, BD=0.4)[i, j] > 0.5
        for i, j in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
    )


def test_of_a_long_cycle_the_shortest_part_is_shown():
    # A > B > C > D > A, and A > C, so that A > C > D > A is shorter
    order = preference_order(matrix(4, AB=0.6, BC=0.6, CD=0.6, AD=0.4, AC=0.6, BD=0.6))
    assert [len(cycle) for cycle in order.cycles] == [3]


def test_a_shorter_cycle_without_the_first_entity_is_found():
    # A > B > C > D > A, and B > C > D > B; A and C are even
    order = preference_order(matrix(4, AB=0.6, BC=0.6, CD=0.6, BD=0.4, AD=0.4, AC=0.5))
    assert [sorted(cycle) for cycle in order.cycles] == [[1, 2, 3]]


def test_ties_and_unknown_pairs_decide_nothing():
    order = preference_order(matrix(3, AB=0.5, AC=0.8))
    assert order.tied == ((0, 1),)
    assert order.unknown == ((1, 2),)
    assert order.transitive is None
    tied = preference_order(matrix(3, AB=0.1 + 0.2 + 0.2, AC=0.8, BC=0.8))
    assert tied.levels == ((0, 1), (2,))
    assert tied.transitive is True


def test_triads_by_hand():
    pairs = [(0, 1), (0, 2), (1, 2)]
    shares = np.array(
        [
            [0.6, 0.2, 0.7],  # A > B > C > A
            [0.6, 0.8, 0.7],  # A > B > C
            [0.5, 0.8, 0.7],  # A and B even
            [NAN, 0.8, 0.7],
        ]
    )
    triads = count_triads(shares, pairs, 3)
    assert triads.n.tolist() == [1, 1, 0, 0]
    assert triads.circular.tolist() == [1, 0, 0, 0]
    assert triads.tied.tolist() == [0, 0, 1, 0]
    assert consistency(triads, 3)[:2].tolist() == [0, 1]
    assert np.isnan(consistency(triads, 3)[2:]).all()
    assert np.isnan(consistency(count_triads(shares[:, :1], pairs[:1], 2), 2)).all()


@given(st.integers(3, 7), st.randoms(use_true_random=False))
def test_circular_triads_are_those_of_kendalls_formula(size, random):
    pairs = list(combinations(range(size), 2))
    won = np.array([random.random() < 0.5 for _ in pairs])
    triads = count_triads(won[None].astype(float), pairs, size)
    wins = np.zeros(size)
    for (i, j), first in zip(pairs, won, strict=True):
        wins[i if first else j] += 1
    expected = size * (size - 1) * (2 * size - 1) / 12 - (wins**2).sum() / 2
    assert triads.circular[0] == expected
    most = (size**3 - size) / 24 if size % 2 else (size**3 - 4 * size) / 24
    assert consistency(triads, size)[0] == pytest.approx(1 - expected / most)
    shares = np.full((size, size), np.nan)
    for (i, j), first in zip(pairs, won, strict=True):
        shares[i, j], shares[j, i] = float(first), float(not first)
    assert preference_order(shares).transitive is bool(expected == 0)


def test_the_most_circular_triads_of_five_are_five():
    pairs = list(combinations(range(5), 2))
    ring = np.array([[float((j - i) % 5 <= 2) for i, j in pairs]])
    triads = count_triads(ring, pairs, 5)
    assert triads.circular.tolist() == [5]
    assert consistency(triads, 5).tolist() == [0]
