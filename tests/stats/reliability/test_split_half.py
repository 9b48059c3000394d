from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.reliability.alpha import _split_coefficients, cronbach_alpha, split_half
from tests.stats.reference import expected, scores
from tests.stats.reliability.test_alpha import simulated


def spearman_brown(first, second):
    r = np.corrcoef(first, second)[0, 1]
    return 2 * r / (1 + r)


def test_odd_even_is_the_stepped_up_correlation_of_the_two_sums():
    table = simulated(k=6)
    by_hand = spearman_brown(table[:, ::2].sum(axis=1), table[:, 1::2].sum(axis=1))
    assert split_half(table).odd_even == pytest.approx(by_hand, abs=1e-12)


def test_unequal_halves_are_stepped_up_by_their_lengths_as_r_does():
    # agreeableness of psych's bfi, items 1, 3 and 5 against 2 and 4
    table = scores("bfi25", ["A1", "A2", "A3", "A4", "A5"])
    assert split_half(table).odd_even == pytest.approx(expected("bfi25")["horst"], abs=1e-9)


@given(first=st.integers(1, 4), second=st.integers(1, 4))
def test_parallel_items_have_the_same_reliability_whatever_the_split(first: int, second: int):
    k = first + second
    covariance = np.full((k, k), 0.3) + 0.7 * np.eye(k)
    half = (np.arange(k) < first).astype(float)[None, :]
    of_sum = 0.3 * k / (1 + 0.3 * (k - 1))
    assert _split_coefficients(half, covariance)[0][0] == pytest.approx(of_sum, abs=1e-12)


def test_the_mean_is_over_every_way_to_halve_the_items_once():
    table = simulated(k=6)
    result = split_half(table)
    ways = [half for half in combinations(range(6), 3) if 0 in half]
    by_hand = [
        spearman_brown(
            table[:, half].sum(axis=1), table[:, sorted(set(range(6)) - set(half))].sum(axis=1)
        )
        for half in ways
    ]
    assert result.every_split
    assert result.n_splits == len(ways) == 10
    assert result.mean == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert (result.lowest, result.highest) == pytest.approx((min(by_hand), max(by_hand)), abs=1e-12)


@pytest.mark.parametrize("file", ["likert22_lavaan", "hs1939_lavaan"])
def test_rulons_coefficient_averages_to_rs_alpha_over_all_splits(file: str):
    reference = expected(file)
    for subscale, items in reference["subscales"].items():
        result = split_half(scores(reference["data"][:-4], items))
        alpha = reference["reliability"][subscale]["alpha_listwise_check"]
        assert result.mean_rulon == pytest.approx(alpha, abs=1e-12)


@given(k=st.integers(2, 9), seed=st.integers(0, 30))
def test_rulons_coefficient_averages_to_alpha_for_any_number_of_items(k: int, seed: int):
    table = simulated(n=40, k=k, seed=seed)
    alpha = cronbach_alpha(table).value
    assert split_half(table).mean_rulon == pytest.approx(alpha, abs=1e-10)


def test_many_items_are_split_at_random_from_the_seed():
    table = simulated(k=22)
    first, again, other = (split_half(table, max_splits=500, seed=seed) for seed in (4, 4, 5))
    assert not first.every_split
    assert first.n_splits == 500
    assert first == again
    assert first.mean != other.mean
    assert first.mean == pytest.approx(other.mean, abs=0.005)


@pytest.mark.parametrize(
    "table", [np.ones((5, 4)), np.ones((1, 4)), np.full((4, 4), np.nan), np.arange(5.0)[:, None]]
)
def test_bad_tables_give_no_coefficient_but_a_reason(table):
    result = split_half(table)
    assert np.isnan([result.odd_even, result.mean, result.lowest, result.highest]).all()
    assert result.problems


def test_halves_that_mirror_each_other_are_left_out_and_counted():
    first = np.array([1.0, 2, 3, 4])
    result = split_half(np.column_stack([first, 5 - first]))
    assert np.isnan(result.mean)
    assert any("no coefficient" in text for text in result.problems)
