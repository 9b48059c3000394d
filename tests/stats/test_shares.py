import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.distributions import (
    option_shares,
    share,
    wilson_interval,
    wilson_intervals,
)
from tests.stats.reference import expected


@pytest.mark.parametrize("case", expected("divergence_hand")["proportion_ci"])
def test_both_intervals_of_a_share_equal_those_of_r(case):
    own = share(case["k"], case["n"])
    assert own.share == pytest.approx(case["p"], abs=1e-14)
    assert (own.low, own.high) == pytest.approx(tuple(case["wilson"]), abs=1e-12)
    limit = case["percentile_bootstrap_limit"]
    assert (own.bootstrap_low, own.bootstrap_high) == pytest.approx(tuple(limit), abs=1e-12)


def test_the_bootstrap_interval_is_what_many_resamples_come_to():
    generator = np.random.default_rng(0)
    resampled = generator.binomial(1000, 0.25, size=200_000) / 1000
    own = share(250, 1000)
    ends = np.quantile(resampled, [0.025, 0.975])
    assert (own.bootstrap_low, own.bootstrap_high) == pytest.approx(tuple(ends), abs=0.0011)


def test_intervals_of_many_shares_are_those_of_each():
    low, high = wilson_intervals(np.array([0, 3, 7, 0]), np.array([7, 7, 7, 0]))
    each = [wilson_interval(k, n) for k, n in ((0, 7), (3, 7), (7, 7), (0, 0))]
    np.testing.assert_array_equal(np.transpose([low, high]), each)
    with pytest.raises(ValueError, match="more successes"):
        wilson_intervals(np.array([2]), np.array([1]))


@pytest.mark.parametrize("successes", [0, 20])
def test_none_and_all_have_a_wilson_interval_and_a_caution_about_the_other(successes):
    own = share(successes, 20)
    assert own.high - own.low > 0.15
    assert own.bootstrap_low == own.bootstrap_high == successes / 20
    assert "no width" in own.problems[0]


def test_no_trials_have_no_share_but_a_reason():
    own = share(0, 0)
    assert np.isnan([own.share, own.low, own.bootstrap_low]).all()
    assert "no trials" in own.problems[0]


def test_option_shares_add_up_to_one():
    own = option_shares(np.array([3, 0, 7]))
    assert [each.share for each in own] == pytest.approx([0.3, 0, 0.7])
    assert [each.n for each in own] == [10, 10, 10]
    assert all(np.isnan(each.share) for each in option_shares(np.zeros(3)))


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="successes"):
        share(3, 2)
    with pytest.raises(ValueError, match="whole"):
        option_shares(np.array([0.5, 1]))


def test_wilson_worked_by_hand():
    # z = 2 has a coverage of erf(√2). n = 4, p = 1/2: middle (1/2 + 1/2) / 2 = 1/2, and
    # reach 2 √(1/16 + 4/64) / 2 = √(1/8)
    low, high = wilson_interval(2, 4, level=math.erf(math.sqrt(2)))
    assert (low, high) == pytest.approx((0.5 - math.sqrt(1 / 8), 0.5 + math.sqrt(1 / 8)))
    # no success: the upper end is z²/n / (1 + z²/n) = 1/2
    assert wilson_interval(0, 4, level=math.erf(math.sqrt(2))) == pytest.approx((0, 0.5))


@given(st.integers(1, 500), st.integers(0, 500))
def test_wilson_stays_within_0_and_1_and_holds_the_share_seen(n, successes):
    successes = min(successes, n)
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1


def test_nothing_coded_has_no_interval_and_nonsense_is_refused():
    assert all(math.isnan(end) for end in wilson_interval(0, 0))
    for successes, n, level in ((3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 0.0)):
        with pytest.raises(ValueError, match=r"successes|coverage"):
            wilson_interval(successes, n, level=level)
