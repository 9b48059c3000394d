import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import Table2x2

from core.stats.groups import odds_ratio, woolf_odds_ratio


def test_odds_ratio_by_hand():
    # 4 of 100 words against 2 of 100: (4 / 96) / (2 / 98)
    assert odds_ratio(4, 100, 2, 100) == pytest.approx((4 / 96) / (2 / 98), abs=1e-15)


@pytest.mark.parametrize("counts", [(1, 1, 1, 9), (1, 9, 0, 9), (1, 9, 9, 9), (0, 0, 0, 0)])
def test_an_odds_ratio_that_cannot_be_computed_is_undefined(counts):
    assert math.isnan(odds_ratio(*counts))


@given(st.integers(1, 50), st.integers(60, 90), st.integers(1, 50), st.integers(60, 90))
def test_exchanging_the_groups_inverts_the_ratio(first, first_total, second, second_total):
    ratio = odds_ratio(first, first_total, second, second_total)
    other = odds_ratio(second, second_total, first, first_total)
    assert ratio * other == pytest.approx(1, abs=1e-12)


def test_the_pooled_odds_ratio_agrees_with_scipy():
    own = woolf_odds_ratio(10, 200, 3, 150, 0.9)
    other = stats.contingency.odds_ratio([[10, 190], [3, 147]], kind="sample")
    interval = other.confidence_interval(0.9)
    assert own.value == pytest.approx(other.statistic)
    assert (own.low, own.high) == pytest.approx((interval.low, interval.high))
    # the interval with one end at 1 has the level 1 - p
    limit = woolf_odds_ratio(10, 200, 3, 150, 1 - own.p)
    assert limit.low == pytest.approx(1)


def test_interval_and_p_agree_with_statsmodels():
    own = woolf_odds_ratio(10, 200, 3, 150, 0.9)
    other = Table2x2(np.array([[10, 190], [3, 147]]), shift_zeros=False)
    assert (own.low, own.high) == pytest.approx(other.oddsratio_confint(0.1), rel=1e-12)
    assert own.z == pytest.approx(other.log_oddsratio / other.log_oddsratio_se, rel=1e-12)
    assert own.p == pytest.approx(other.log_oddsratio_pvalue(), rel=1e-10)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ((0, 9, 1, 9), "the stereotyped group have no word of the list"),
        ((1, 9, 0, 9), "the other group have no word of the list"),
        ((9, 9, 1, 9), "the stereotyped group have no word but those of the list"),
        ((1, 9, 0, 0), "the other group have no word of the list"),
    ],
)
def test_an_odds_ratio_that_cannot_be_computed_says_why(counts, reason):
    own = woolf_odds_ratio(*counts, 0.95)
    assert math.isnan(own.value)
    assert math.isnan(own.p)
    assert reason in own.problems[0]
