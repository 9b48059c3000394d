import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import hypergeom, wasserstein_distance

from core.stats.divergence import (
    chance_distances,
    earth_movers_distances,
    jensen_shannon_bits,
    mean_with_others,
    pair_places,
    permutation_test,
)
from core.stats.inputs import mean_of_defined
from tests.stats.reference import expected

HAND = expected("divergence_hand")
COUNTS = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)
FIVE = np.linspace(0, 1, 5)
ONE_GROUP = np.zeros(1, dtype=np.int64)


def on_one_scale(p, q):
    """Two distributions over evenly spaced options of their own, on all positions of both."""
    own = [np.linspace(0, 1, len(weights)) for weights in (p, q)]
    places = sorted({*own[0], *own[1]})
    rows = np.zeros((2, len(places)))
    for row, positions, weights in zip(rows, own, (p, q), strict=True):
        row[[places.index(place) for place in positions]] = weights
    return rows, places


@pytest.mark.parametrize("case", HAND["jsd_bits"])
def test_jensen_shannon_is_what_hand_calculation_gives(case):
    (found,) = jensen_shannon_bits([case["p"], case["q"]])
    assert found == pytest.approx(case["v"], abs=1e-12)


@pytest.mark.parametrize("case", HAND["emd01"])
def test_earth_movers_distance_is_what_hand_calculation_gives(case):
    (found,) = earth_movers_distances(*on_one_scale(case["p"], case["q"]))
    assert found == pytest.approx(case["v"], abs=1e-12)


@given(three=st.lists(COUNTS, min_size=3, max_size=3), order=st.permutations(range(5)))
def test_distances_of_three_formats_are_scipys_symmetric_and_bounded(three, order):
    weights = np.array(three)
    pairs = list(itertools.combinations(three, 2))
    divergences, moved = jensen_shannon_bits(weights), earth_movers_distances(weights, FIVE)
    assert divergences == pytest.approx([jensenshannon(p, q, 2) ** 2 for p, q in pairs], abs=1e-7)
    scipys = [wasserstein_distance(FIVE, FIVE, p, q) for p, q in pairs]
    assert moved == pytest.approx(scipys, abs=1e-12)
    for found in (divergences, moved):
        assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    turned = weights[::-1]  # the pairs come in the opposite order
    assert jensen_shannon_bits(turned)[::-1] == pytest.approx(divergences, abs=1e-12)
    assert earth_movers_distances(turned, FIVE)[::-1] == pytest.approx(moved, abs=1e-12)
    assert jensen_shannon_bits(weights[:, order]) == pytest.approx(divergences, abs=1e-12)


@given(own=COUNTS)
def test_equal_distributions_have_distance_zero_however_many_answers(own):
    weights = np.array([own, 3 * np.array(own)])
    assert jensen_shannon_bits(weights) == pytest.approx(0, abs=1e-12)
    assert earth_movers_distances(weights, FIVE) == pytest.approx(0, abs=1e-12)


def test_a_format_without_answers_is_undefined_and_the_other_pairs_stand():
    weights = [[3, 0], [0, 0], [0, 5]]
    nan = math.nan
    assert jensen_shannon_bits(weights) == pytest.approx([nan, 1, nan], nan_ok=True)
    assert earth_movers_distances(weights, [0, 1]) == pytest.approx([nan, 1, nan], nan_ok=True)
    means = mean_of_defined(jensen_shannon_bits(weights))
    assert means == 1
    with_others = mean_with_others(jensen_shannon_bits(weights), 3)
    assert with_others == pytest.approx([1, nan, 1], nan_ok=True)


def test_the_part_of_each_format_is_the_mean_of_its_pairs():
    """Of pairs 12, 13, 14, 23, 24, 34: format 1 is in the first three, format 4 in the last."""
    assert np.stack(pair_places(4)).T.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    found = mean_with_others(np.array([1.0, 2, 3, 4, 5, 6]), 4)
    assert found == pytest.approx([2, (1 + 4 + 5) / 3, (2 + 4 + 6) / 3, (3 + 5 + 6) / 3])


def test_positions_that_do_not_fit_are_refused():
    for bad in ([0, 2], [0, 0.5, 1], [1, 0]):
        with pytest.raises(ValueError, match="position"):
            earth_movers_distances([[1, 2], [1, 2]], bad)
    with pytest.raises(ValueError, match="weight"):
        jensen_shannon_bits([[-1, 2], [1, 2]])


def test_all_permutations_of_an_item_listed_by_hand():
    """Two formats, yes yes and no no: 2 of the 6 ways to deal them are as far apart (1 bit), 4 give
    the same shares (0 bits), so chance gives 1/3 bit, and as much once in three."""
    found = permutation_test(
        np.array([[2, 0]]), np.array([[2, 2]]), ONE_GROUP, n_permutations=9000, seed=3
    )
    assert found.chance[0, 0] == pytest.approx(1 / 3, abs=0.02)
    assert found.p_items[0] == pytest.approx(1 / 3, abs=0.02)
    assert found.p_sums[0] == pytest.approx(1 / 3, abs=0.02)


def test_chance_is_the_mean_under_the_hypergeometric_distribution():
    """Formats of 5, 8 and 3 answers, 6 of all 16 yes: the second and third have 11 together."""
    found = permutation_test(
        np.array([[3, 1, 2]]), np.array([[5, 8, 3]]), ONE_GROUP, n_permutations=20_000
    )

    def mean_divergence(n1, n2):
        total = 0.0
        for x in range(min(n1, 6) + 1):
            for y in range(min(n2, 6 - x) + 1):
                chance = hypergeom(16, 6, n1).pmf(x) * hypergeom(16 - n1, 6 - x, n2).pmf(y)
                total += chance * float(jensenshannon([x, n1 - x], [y, n2 - y], 2)) ** 2
        return total

    exact = [mean_divergence(5, 8), mean_divergence(5, 3), mean_divergence(8, 3)]
    assert found.chance[0] == pytest.approx(exact, abs=0.004)


def test_p_is_even_where_formats_are_alike_and_least_where_they_differ():
    generator = np.random.default_rng(5)
    alike = generator.binomial(20, 0.4, (400, 3))
    groups = np.zeros(400, dtype=np.int64)
    n = np.full((400, 3), 20)
    found = permutation_test(alike, n, groups, n_permutations=199, seed=1)
    assert np.mean(found.p_items <= 0.1) == pytest.approx(0.1, abs=0.04)
    apart = permutation_test(np.array([[20, 0]]), n[:1, :2], ONE_GROUP, n_permutations=199)
    assert apart.p_items[0] == apart.p_sums[0] == pytest.approx(1 / 200)


def test_what_cannot_be_permuted_is_undefined_or_refused():
    groups = np.array([0, 1])
    found = permutation_test(
        np.array([[1, 2], [1, 0]]), np.array([[3, 3], [3, 0]]), groups, n_permutations=20
    )
    assert (
        np.isfinite(found.p_items).tolist() == np.isfinite(found.p_sums).tolist() == [True, False]
    )
    assert np.isfinite(found.chance[:, 0]).tolist() == [True, False]
    none = permutation_test(np.array([[1, 2]]), np.array([[3, 3]]), ONE_GROUP, n_permutations=0)
    assert np.isnan([none.chance[0, 0], none.p_items[0], none.p_sums[0]]).all()
    for yes, n in (([[0.5, 1]], [[2, 2]]), ([[3, 1]], [[2, 2]])):
        with pytest.raises(ValueError, match="whole"):
            permutation_test(np.array(yes), np.array(n), ONE_GROUP)


def test_rows_of_one_item_are_dealt_by_themselves_and_averaged():
    """Two items under two conditions each: chance is that of each row, p of their means."""
    positive, n = np.array([[4, 0], [0, 4], [3, 1], [2, 2]]), np.full((4, 2), 4)
    alone = permutation_test(positive, n, np.zeros(4, dtype=int), n_permutations=4000, seed=1)
    both = permutation_test(
        positive,
        n,
        np.zeros(2, dtype=int),
        items=np.array([0, 0, 1, 1]),
        n_permutations=4000,
        seed=1,
    )
    assert both.chance == pytest.approx(alone.chance)
    # each row of the first item separates its formats in 2 of C(8, 4) = 70 deals
    assert both.p_items[0] == pytest.approx((2 / 70) ** 2, abs=1.5e-3)
    assert both.p_sums == pytest.approx(alone.p_sums, abs=0.02)


def test_the_distance_by_chance_is_the_mean_over_all_deals():
    """Three formats of 2, 1 and 3 answers at 0, .4 and 1; every order of the six, by scipy."""
    counts = np.array([[[1, 1, 0], [0, 0, 1], [0, 1, 2]], [[2, 0, 0], [0, 0, 0], [1, 0, 2]]])
    positions = np.array([0.0, 0.4, 1.0])
    found = chance_distances(counts, positions, n_permutations=20_000, seed=2)
    for row, sizes in enumerate(((2, 1, 3), (2, 0, 3))):
        answers = np.repeat(positions, counts[row].sum(axis=0))
        sums = np.zeros(3)
        orders = list(itertools.permutations(answers))
        for order in orders:
            parts = np.split(np.array(order), np.cumsum(sizes)[:-1])
            sums += [
                wasserstein_distance(a, b) if len(a) and len(b) else math.nan
                for a, b in itertools.combinations(parts, 2)
            ]
        assert found[row] == pytest.approx(sums / len(orders), abs=0.004, nan_ok=True)
