import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import wasserstein_distance

from core.stats.distributions import (
    earth_movers_distance,
    entropy_bits,
    jensen_shannon_bits,
    resampled_distance,
)
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected

HAND = expected("divergence_hand")
COUNTS = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)


@pytest.mark.parametrize("case", HAND["entropy_bits"])
def test_entropy_is_what_hand_calculation_gives(case):
    assert entropy_bits(case["p"]) == pytest.approx(case["v"], abs=1e-12)
    assert entropy_bits(case["p"], normalized=True) == pytest.approx(case["normalised"], abs=1e-12)


@pytest.mark.parametrize("case", HAND["jsd_bits"])
def test_jensen_shannon_is_what_hand_calculation_gives(case):
    assert jensen_shannon_bits(case["p"], case["q"]) == pytest.approx(case["v"], abs=1e-12)


@pytest.mark.parametrize("case", HAND["emd01"])
def test_earth_movers_distance_is_what_hand_calculation_gives(case):
    assert earth_movers_distance(case["p"], case["q"]) == pytest.approx(case["v"], abs=1e-12)


@given(p=COUNTS, q=COUNTS)
def test_distances_are_symmetric_bounded_zero_for_the_same_and_equal_scipys(p, q):
    places = np.linspace(0, 1, 5)
    moved = wasserstein_distance(places, places, p, q)
    assert earth_movers_distance(p, q) == pytest.approx(moved, abs=1e-12)
    assert jensen_shannon_bits(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-7)
    for distance in (jensen_shannon_bits, earth_movers_distance):
        assert distance(p, q) == pytest.approx(distance(q, p), abs=1e-12)
        assert 0 <= distance(p, q) <= 1 + 1e-12
        assert distance(p, [3 * count for count in p]) == pytest.approx(0, abs=1e-12)
    assert 0 <= entropy_bits(p) <= np.log2(5) + 1e-12


def test_positions_may_be_given():
    distance = earth_movers_distance(
        [1, 0], [0, 1], first_positions=[0.2, 1], second_positions=[0, 0.9]
    )
    assert distance == pytest.approx(0.7, abs=1e-15)


def test_a_single_option_lies_in_the_middle_of_the_scale():
    assert earth_movers_distance([3], [0, 1]) == earth_movers_distance([3], [1, 0]) == 0.5


def test_a_certain_answer_has_entropy_zero_and_not_minus_zero():
    assert str(entropy_bits([5, 0, 0])) == "0.0"


@pytest.mark.parametrize("distance", ["jensen-shannon", "earth mover's"])
def test_the_interval_of_a_distance_holds_it_and_depends_on_the_seed_only(distance):
    first, second = [40, 30, 20, 10], [10, 20, 30, 40]
    own = resampled_distance(first, second, distance)
    exact = {"jensen-shannon": jensen_shannon_bits, "earth mover's": earth_movers_distance}
    assert own.value == pytest.approx(exact[distance](first, second), abs=1e-12)
    assert own.low < own.value < own.high
    assert own == resampled_distance(first, second, distance)
    other = resampled_distance(first, second, distance, bootstrap=Bootstrap(2000, 1))
    assert own.low != other.low


@pytest.mark.parametrize("empty", [[0, 0, 0], [0.0, 0.0, 0.0]])
def test_nothing_to_share_out_is_undefined(empty):
    assert np.isnan(entropy_bits(empty))
    assert np.isnan(jensen_shannon_bits(empty, [1, 2, 3]))
    assert np.isnan(earth_movers_distance([1, 2, 3], empty))
    own = resampled_distance([1, 2, 3], empty, "jensen-shannon")
    assert np.isnan(own.value)
    assert own.problems


def test_one_option_has_no_normalized_entropy():
    assert entropy_bits([4]) == 0
    assert np.isnan(entropy_bits([4], normalized=True))


@pytest.mark.parametrize("bad", [[-1, 2], [np.nan, 1], [], [[1, 2]]])
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(ValueError, match="weight"):
        entropy_bits(bad)


def test_options_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="options"):
        jensen_shannon_bits([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="position"):
        earth_movers_distance([1, 2], [1, 2], first_positions=[0, 2])
    with pytest.raises(ValueError, match="whole"):
        resampled_distance([0.5, 0.5], [1, 2], "jensen-shannon")
