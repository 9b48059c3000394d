import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.weightstats import ttost_paired

from core.stats.equivalence import equivalence, equivalence_verdict
from tests.stats.reference import expected, scores

R = expected("differences_R")


@pytest.mark.parametrize(
    ("name", "columns", "bound"),
    [
        ("tost_x1_x4_half", ("x1", "x4"), 0.5),
        ("tost_x1_x4_two", ("x1", "x4"), 2.0),
        ("tost_x2_x1_large", ("x2", "x1"), 1.2),
    ],
)
def test_both_one_sided_tests_equal_those_of_r(name, columns, bound):
    first, second = scores("hs1939", list(columns)).T
    own = equivalence(first, second, bound=bound)
    found = (own.difference, own.low, own.high, own.p, own.p_different)
    assert found == pytest.approx(R[name], rel=1e-9)


@given(seed=st.integers(0, 60), bound=st.floats(0.05, 2))
def test_the_interval_lies_within_the_bounds_where_the_tests_say_so(seed, bound):
    first, second = np.random.default_rng(seed).normal(size=(2, 12))
    own = equivalence(first, second, bound=bound)
    assert (own.p < 0.05) == (-bound < own.low and own.high < bound)
    theirs = ttost_paired(second, first, -bound, bound)[0]
    assert own.p == pytest.approx(theirs, rel=1e-9)


def test_rows_without_both_values_are_left_out():
    own = equivalence(
        np.array([0.1, 0.2, np.nan, 0.4, np.nan]),
        np.array([0.2, 0.1, 0.3, np.nan, np.nan]),
        bound=0.5,
    )
    assert (own.n, own.n_left_out) == (2, 2)
    assert own.difference == pytest.approx(0)
    assert own.first_mean == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([np.nan], [1.0], "no row has both values"),
        ([0.2], [0.3], "one row with both values"),
        ([0.1, 0.2, 0.7], [0.3, 0.4, 0.9], "the same in every row"),
        ([0.5, 0.2], [0.5, 0.2], "the same in every row"),
    ],
)
def test_without_a_test_there_is_a_reason_and_the_difference_stands(first, second, reason):
    own = equivalence(np.array(first), np.array(second), bound=0.1)
    assert reason in own.problems[0]
    assert np.isnan([own.p, own.low, own.p_different]).all()
    if len(first) > 1:
        assert own.difference == pytest.approx(second[0] - first[0])


def test_what_is_no_test_is_refused():
    values = np.arange(3.0)
    with pytest.raises(ValueError, match="not above 0"):
        equivalence(values, values, bound=0)
    with pytest.raises(ValueError, match="alpha"):
        equivalence(values, values, bound=1, alpha=0.6)
    with pytest.raises(ValueError, match="do not pair"):
        equivalence(values, values[:2], bound=1)


@pytest.mark.parametrize(
    ("p", "p_different", "word"),
    [
        (0.01, 0.3, "equivalent"),
        (0.01, 0.01, "equivalent, though different"),
        (0.3, 0.01, "different"),
        (0.3, 0.3, "undecided"),
        (np.nan, 0.3, "undefined"),
    ],
)
def test_the_verdict_comes_from_both_tests(p, p_different, word):
    assert equivalence_verdict(p, p_different) == word
