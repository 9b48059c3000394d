import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.distributions import (
    column_means,
    floor_and_ceiling,
    moments,
    quantile_groups,
    quartiles,
    skewness_and_kurtosis,
)


def test_moments_by_hand_leave_gaps_out():
    # 2, 4, 9: mean 5, squared deviations 9 + 1 + 16 = 26, over 2
    own = moments(np.array([2, np.nan, 4, 9]))
    assert (own.n, own.mean, own.variance, own.varies) == (3, 5, 13, True)
    assert own.sd == pytest.approx(math.sqrt(13))


def test_what_is_undefined_about_few_or_equal_scores_is_nan():
    none, one = moments(np.array([np.nan])), moments(np.array([3.0]))
    assert math.isnan(none.mean)
    assert one.mean == 3
    assert math.isnan(one.variance)
    equal = moments(np.full(3, 0.1 + 0.2))
    assert (equal.variance, equal.constant, equal.varies) == (0, True, False)
    assert np.isnan(skewness_and_kurtosis(np.full(5, 0.1))).all()
    assert np.isnan(quartiles(np.array([]))).all()


def test_shape_by_hand():
    # 1 2 3 10: deviations -3 -2 -1 6, m2 12.5, m3 45, m4 348.5
    # G1 = 45 / 12.5^1.5 · √(4 · 3) / 2; G2 = 3 / (2 · 1) · (5 (348.5 / 156.25 - 3) + 6)
    skew, kurtosis = skewness_and_kurtosis(np.array([1.0, 2, 3, 10]))
    assert skew == pytest.approx(45 / 12.5**1.5 * math.sqrt(12) / 2)
    assert kurtosis == pytest.approx(1.5 * (5 * (348.5 / 156.25 - 3) + 6))
    skew, kurtosis = skewness_and_kurtosis(np.array([0.0, 0, 3]))
    assert math.isfinite(skew)
    assert math.isnan(kurtosis)


def test_quartiles_interpolate_as_those_of_r():
    # type 7 of 1..8
    five = quartiles(np.array([8.0, 1, 2, 3, np.nan, 4, 5, 6, 7]))
    assert five.tolist() == [1, 2.75, 4.5, 6.25, 8]


def test_floor_and_ceiling_are_the_rows_that_stay_at_an_end():
    shares = np.array([[0, 0], [1, np.nan], [0, 1], [1, 1]])
    assert floor_and_ceiling(shares) == (0.25, 0.5)
    assert np.isnan(floor_and_ceiling(np.full((2, 2), np.nan))).all()


def test_means_of_columns_leave_gaps_out():
    means = column_means(np.array([[1, np.nan, np.nan], [3, 5, np.nan]]))
    assert means == pytest.approx([2, 5, np.nan], nan_ok=True)


def test_quartile_groups_are_those_found_by_hand():
    # Type 7 quartiles of 1..8: 2.75, 4.5, 6.25.
    assert quantile_groups([8, 1, 2, 3, 4, 5, 6, 7], 4, digits=10) == (4, 1, 1, 2, 2, 3, 3, 4)
    # Sorted 1 1 1 2 3 3 4 5: type 7 quartiles 1, 2.5, 3.25; a value at a division goes below.
    values = [1, 1, 1, 2, 3, 3, 4, 5]
    assert quantile_groups(values, 4, digits=10) == (1, 1, 1, 2, 3, 3, 4, 4)
    assert quantile_groups([2, 2, 2, 2], 4, digits=10) == (1, 1, 1, 1)
    assert quantile_groups([1, 2, 3], 2, digits=10) == (1, 1, 2)


@given(
    values=st.lists(st.integers(0, 8).map(lambda n: n / 3), min_size=2, max_size=40),
    n_groups=st.integers(2, 5),
)
def test_equal_scores_share_a_group_and_groups_follow_the_scores(values, n_groups):
    groups = quantile_groups(values, n_groups, digits=10)
    pairs = sorted(zip(values, groups, strict=True))
    assert all(1 <= group <= n_groups for group in groups)
    for (low, below), (high, above) in pairwise(pairs):
        assert below <= above
        assert below == above or low < high
