import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.stats.groups import clustered_odds_ratio, odds_ratio


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


def of_texts(seed=1, n_units=12, per_unit=4):
    """Texts of units whose use of a word differs; half of each unit's are of the first group."""
    draw = np.random.default_rng(seed)
    units = np.repeat(np.arange(n_units), per_unit)
    of_first = np.tile([True, False], n_units * per_unit // 2)
    total = draw.integers(80, 160, len(units)).astype(float)
    logit = -3 + 0.8 * draw.normal(size=n_units)[units] + 0.4 * of_first
    events = draw.binomial(total.astype(int), 1 / (1 + np.exp(-logit))).astype(float)
    return events, total, of_first, units


@pytest.mark.parametrize("of_each_text", [False, True])
def test_the_pooled_odds_ratio_agrees_with_statsmodels_logistic_regression(of_each_text):
    """With variances of clusters and G / (G - 1); 1e-8, as it is iterated there."""
    events, total, of_first, units = of_texts()
    units = np.arange(len(events)) if of_each_text else units
    found = clustered_odds_ratio(events, total, of_first, units, 0.9)
    design = np.column_stack([np.ones(len(events)), of_first])
    counts = np.column_stack([events, total - events])
    model = sm.GLM(counts, design, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": units, "use_correction": False}
    )
    n = len(np.unique(units))
    error = model.bse[1] * math.sqrt(n / (n - 1))
    half = stats.t.ppf(0.95, n - 1) * error
    assert found.value == pytest.approx(math.exp(model.params[1]), rel=1e-8)
    assert math.log(found.low) == pytest.approx(model.params[1] - half, rel=1e-8)
    assert math.log(found.high) == pytest.approx(model.params[1] + half, rel=1e-8)
    assert found.t == pytest.approx(model.params[1] / error, rel=1e-8)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.t), n - 1), rel=1e-12)
    assert found.n_units == n


def test_texts_of_one_unit_have_a_ratio_without_an_interval():
    events, total, of_first, units = of_texts()
    found = clustered_odds_ratio(events, total, of_first, np.zeros_like(units), 0.95)
    assert math.isfinite(found.value)
    assert np.isnan([found.low, found.high, found.p]).all()
    assert "one unit" in found.problems[0]


def test_intervals_of_odds_ratios_cover_where_words_depend_on_who_writes():
    """400 studies of 12 contexts with 4 texts; Woolf's interval would cover some 80 %."""
    truth = 0.4
    held = 0
    for seed in range(400):
        found = clustered_odds_ratio(*of_texts(seed, n_units=40), 0.95)
        held += math.log(found.low) <= truth <= math.log(found.high)
    assert 0.92 <= held / 400 <= 0.98


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
    events, total = np.array(counts[::2], float), np.array(counts[1::2], float)
    found = clustered_odds_ratio(events, total, np.array([True, False]), np.arange(2), 0.95)
    assert math.isnan(found.value)
    assert math.isnan(found.p)
    assert reason in found.problems[0]
