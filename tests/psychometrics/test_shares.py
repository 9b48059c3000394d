import numpy as np
import pytest

from core.psychometrics.comparisons.shares import option_shares, share
from tests.psychometrics.reference import expected


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
