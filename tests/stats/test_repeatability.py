import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from core.stats.repeatability import (
    corrected_entropies,
    entropies,
    even_entropies,
    largest_entropy,
)
from tests.stats.reference import expected

HAND = expected("divergence_hand")
COUNTS = st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any)


@pytest.mark.parametrize("case", HAND["entropy_bits"])
def test_entropy_is_what_hand_calculation_gives(case):
    bits = entropies(case["p"], unit="bits")
    assert bits == pytest.approx(case["v"], abs=1e-12)
    largest = largest_entropy(len(case["p"]), "bits")
    assert bits / largest == pytest.approx(case["normalised"], abs=1e-12)
    assert entropies(case["p"]) == pytest.approx(case["v"] * math.log(2), abs=1e-12)


@given(counts=st.lists(COUNTS, min_size=1, max_size=4), order=st.permutations(range(5)))
def test_entropy_is_scipys_bounded_and_blind_to_the_names_of_options(counts, order):
    found = entropies(np.array(counts))
    assert found == pytest.approx([entropy(own) for own in counts], abs=1e-12)
    assert ((found >= 0) & (found <= largest_entropy(5) + 1e-12)).all()
    assert entropies(np.array(counts)[:, order]) == pytest.approx(found, abs=1e-12)


def test_the_correction_for_few_answers_worked_by_hand():
    """3 yes and 1 no: 2 - 3/4 log2 3 bits, and 1 / (2 * 4) nats more."""
    nats = (2 - 0.75 * math.log2(3)) * math.log(2)
    assert corrected_entropies([3, 1]) == pytest.approx(nats + 1 / 8, abs=1e-12)
    bits = corrected_entropies([3, 1, 0], unit="bits")
    assert bits == pytest.approx((nats + 1 / 8) / math.log(2), abs=1e-12)
    assert corrected_entropies([[4, 0], [0, 0]]) == pytest.approx([0, math.nan], nan_ok=True)


def test_the_correction_takes_most_of_the_bias_away():
    """The mean entropy of 10 answers of share .3, against that of the share itself."""
    drawn = np.random.default_rng(1).binomial(10, 0.3, 20_000)
    counts = np.stack([drawn, 10 - drawn], axis=1)
    true = entropy([0.3, 0.7])
    plain, corrected = entropies(counts).mean() - true, corrected_entropies(counts).mean() - true
    assert plain == pytest.approx(-1 / 20, abs=0.01)
    assert abs(corrected) < 0.01


def test_a_certain_answer_has_entropy_zero_and_not_minus_zero():
    assert str(float(entropies([5, 0, 0]))) == "0.0"


def test_no_answers_have_no_entropy():
    assert np.isnan(entropies([0, 0, 0]))
    assert np.isnan(corrected_entropies([0.0, 0.0]))


@pytest.mark.parametrize("bad", [[-1, 2], [np.nan, 1], [], 3.0])
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(ValueError, match="weight"):
        entropies(bad)


@pytest.mark.parametrize(("n", "n_options"), [(1, 2), (2, 2), (5, 2), (4, 3), (3, 5), (6, 1)])
def test_the_entropy_of_even_answers_is_the_mean_over_all_sequences(n, n_options):
    """By listing them; scipy's entropy of each."""
    sequences = itertools.product(range(n_options), repeat=n)
    each = [entropy(np.bincount(own, minlength=n_options)) for own in sequences]
    mean = even_entropies(np.array([float(n)]), np.array([n_options]))[0]
    assert mean == pytest.approx(np.mean(each), abs=1e-12)
    assert even_entropies(np.array(0.0), np.array(n_options)) == pytest.approx(
        math.nan, nan_ok=True
    )


def test_many_even_answers_have_the_same_mean_by_series():
    exact = even_entropies(np.array([10_000.0] * 2), np.array([2, 7]))
    series = even_entropies(np.array([10_001.0] * 2), np.array([2, 7]))
    assert (series > exact).all()
    assert series == pytest.approx(exact, abs=1e-7)
    slope = np.array([1, 6]) / (2 * 10_000.5**2)
    assert series - exact == pytest.approx(slope, rel=1e-2)
