import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.factor.adequacy import minimum_average_partial, sampling_adequacy
from tests.stats.reference import expected, scores

ITEMS = [f"{scale}{number}" for scale in "ACENO" for number in range(1, 6)]


def correlations_of_bfi():
    return np.corrcoef(scores("bfi25", ITEMS), rowvar=False)


def test_the_measure_of_adequacy_and_bartletts_test_are_those_of_psych():
    theirs, found = expected("bfi25"), sampling_adequacy(correlations_of_bfi(), ITEMS, 2436)
    assert found.overall == pytest.approx(theirs["kmo"]["overall"], abs=1e-9)
    assert found.items == pytest.approx(np.array(theirs["kmo"]["items"]), abs=1e-9)
    assert found.chi2 == pytest.approx(theirs["bartlett"]["chi2"], abs=1e-6)
    assert (found.df, found.p) == (theirs["bartlett"]["df"], 0)


def test_velicers_averages_are_those_of_psych():
    theirs, found = expected("bfi25")["map"], minimum_average_partial(correlations_of_bfi())
    assert found.squares[1:9] == pytest.approx(np.array(theirs["psych"]), abs=1e-9)
    assert found.squares[:9] == pytest.approx(np.array(theirs["square"]), abs=1e-9)
    assert found.fourth_powers[:9] == pytest.approx(np.array(theirs["fourth"]), abs=1e-9)
    assert (found.n_by_squares, found.n_by_fourth_powers) == (5, 5)


@given(seed=st.integers(0, 50), order=st.permutations(range(5)), signs=st.integers(0, 31))
def test_the_order_of_items_and_their_keys_do_not_matter(seed, order, signs):
    table = np.random.default_rng(seed).normal(size=(40, 5)).cumsum(axis=1)
    turned = table[:, order] * [1 - 2 * (signs >> item & 1) for item in range(5)]
    first, second = (np.corrcoef(each, rowvar=False) for each in (table, turned))
    names = list("abcde")
    one, other = sampling_adequacy(first, names, 40), sampling_adequacy(second, names, 40)
    assert other.overall == pytest.approx(one.overall)
    assert other.items == pytest.approx(one.items[list(order)])
    squares = (minimum_average_partial(each).squares for each in (first, second))
    assert next(squares)[:4] == pytest.approx(next(squares)[:4])


def test_items_that_are_combinations_of_others_are_named():
    table = np.random.default_rng(1).normal(size=(50, 4))
    table = np.column_stack([table, table[:, 0] + table[:, 2]])
    found = sampling_adequacy(np.corrcoef(table, rowvar=False), list("abcde"), 50)
    assert np.isnan([found.overall, found.chi2, *found.items]).all()
    assert "a, c, e." in found.problem


def test_correlations_that_contradict_each_other_have_no_measure():
    table = np.array([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]])
    found = sampling_adequacy(table, list("abc"), 50)
    assert np.isnan(found.overall)
    assert "not positive definite" in found.problem


def test_items_without_any_correlation_have_no_measure_and_no_component():
    assert np.isnan(sampling_adequacy(np.eye(3), list("abc"), 50).overall)
    assert minimum_average_partial(np.eye(3)).n_by_squares == 0
