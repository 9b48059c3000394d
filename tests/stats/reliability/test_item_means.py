"""Errors of item means and correlations without them, against analyses of variance by hand."""

import math

import numpy as np
import pytest

from core.stats.reliability.item_means import (
    MeanParts,
    corrected_correlation,
    unit_covariances,
    unit_deviations,
)

# Shrout & Fleiss (1979), table 2: six targets (items here), four judges; ICC(1,4) = .44 and
# ICC(3,4) = .91, which is Cronbach's alpha.
SHROUT = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)


def of_units(*tables):
    """A cell for each unit of each table (items, units), all with the same weight."""
    values = np.concatenate([table.T for table in tables])
    there = np.isfinite(values)
    row = np.repeat(np.arange(len(tables)), [table.shape[1] for table in tables])
    k = np.array([there[row == number].sum(axis=0) for number in range(len(tables))])
    weight = np.where(there, 1 / k[row], 0.0)
    return MeanParts(row, np.where(there, values, 0.0), weight)


ALL = np.ones(6, dtype=bool)


def mean_squares(table):
    """Between items, within items, and of item by unit: the analysis of variance by hand."""
    n, k = table.shape
    grand, items, units = table.mean(), table.mean(axis=1), table.mean(axis=0)
    between = k * sum((m - grand) ** 2 for m in items) / (n - 1)
    within = sum((table[i, j] - items[i]) ** 2 for i in range(n) for j in range(k)) / (n * (k - 1))
    both = sum(
        (table[i, j] - items[i] - units[j] + grand) ** 2 for i in range(n) for j in range(k)
    ) / ((n - 1) * (k - 1))
    return between, within, both


def test_the_reliability_over_answers_to_single_items_is_the_published_intraclass_correlation():
    means = SHROUT.mean(axis=1)
    table = np.full((6, 24), np.nan)
    for item in range(6):
        table[item, 4 * item : 4 * item + 4] = SHROUT[item]
    (own,) = unit_deviations(of_units(table), np.arange(24))
    errors = unit_covariances(own, own, ALL)
    result = corrected_correlation(means, means, (*errors[:2], 0.0))
    assert result.first_reliability == pytest.approx(0.442797, abs=1e-6)  # psych::ICC, ICC1k
    between, within, _ = mean_squares(SHROUT)
    assert result.first_reliability == pytest.approx((between - within) / between, abs=1e-12)


def test_the_reliability_over_judges_of_all_items_is_the_published_one_too():
    means = SHROUT.mean(axis=1)
    (own,) = unit_deviations(of_units(SHROUT), np.arange(4))
    errors = unit_covariances(own, own, ALL)
    result = corrected_correlation(means, means, (*errors[:2], 0.0))
    assert result.second_reliability == pytest.approx(0.909316, abs=1e-6)  # psych::ICC, ICC3k
    between, _, both = mean_squares(SHROUT)
    assert result.second_reliability == pytest.approx((between - both) / between, abs=1e-12)


def test_what_a_unit_adds_to_every_item_is_no_error():
    (own,) = unit_deviations(of_units(SHROUT), np.arange(4))
    (other,) = unit_deviations(of_units(SHROUT + np.array([5.0, -3.0, 40.0, 0.0])), np.arange(4))
    errors = unit_covariances(own, other, ALL)
    assert errors == pytest.approx((unit_covariances(own, own, ALL)[0],) * 3)


def residuals_of(table):
    return table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()


def test_errors_that_both_means_share_are_the_mean_product_of_unit_by_item():
    draw = np.random.default_rng(4)
    first, second = draw.normal(size=(2, 6, 5))
    second = second + first
    parts = of_units(first, second)
    errors = unit_covariances(*unit_deviations(parts, np.tile(np.arange(5), 2)), ALL)
    residuals = [residuals_of(table) for table in (first, second)]
    for (a, b), error in zip(((0, 0), (1, 1), (0, 1)), errors, strict=True):
        product = (residuals[a] * residuals[b]).sum() / (5 * 4)
        assert error == pytest.approx(product / 5, abs=1e-12)
    apart = unit_covariances(*unit_deviations(parts, np.arange(10)), ALL)
    assert apart == pytest.approx((*errors[:2], 0.0))


def test_repetitions_are_taken_as_a_sample_under_each_condition():
    draw = np.random.default_rng(5)
    tables = draw.normal(size=(2, 6, 4)) + np.array([0.0, 30.0])[:, None, None]
    values = np.concatenate([table.T for table in tables])
    parts = MeanParts(np.zeros(8, int), values, np.full((8, 6), 1 / 8))
    (own,) = unit_deviations(parts, np.arange(8), np.repeat([0, 1], 4))
    both = [(residuals_of(table) ** 2).sum() / (5 * 3) / 4 for table in tables]
    assert unit_covariances(own, own, ALL)[0] == pytest.approx(sum(both) / 4, abs=1e-12)


def test_a_condition_without_a_second_answer_varies_as_the_rest_of_the_item_does():
    # answers 1, 3 under one condition (variance 2), and 5 alone under the other
    values = np.array([[1.0], [3.0], [5.0]])
    parts = MeanParts(np.zeros(3, int), values, np.array([[0.25], [0.25], [0.5]]))
    (own,) = unit_deviations(parts, np.arange(3), np.array([0, 0, 1]))
    assert (own.values**2).sum() == pytest.approx(2 * (0.25 / 2 + 0.25))
    (alone,) = unit_deviations(parts, np.zeros(3, int))
    assert np.isnan(alone.values).all()
    assert all(map(math.isnan, unit_covariances(alone, alone, np.array([True]))))


def test_errors_are_known_where_half_of_the_items_are_repeated():
    table = SHROUT.copy()
    table[3:, 1:] = np.nan
    (own,) = unit_deviations(of_units(table), np.arange(4))
    assert math.isfinite(unit_covariances(own, own, ALL)[0])
    table[2, 1:] = np.nan
    (own,) = unit_deviations(of_units(table), np.arange(4))
    assert math.isnan(unit_covariances(own, own, ALL)[0])


def test_spearmans_correction_and_its_interval_by_hand():
    draw = np.random.default_rng(1)
    x = draw.normal(size=20)
    y = 1.5 * x + draw.normal(size=20)
    r = np.corrcoef(x, y)[0, 1]
    errors = 0.2 * x.var(ddof=1), 0.1 * y.var(ddof=1), 0.0
    result = corrected_correlation(x, y, errors)
    assert (result.first_reliability, result.second_reliability) == pytest.approx((0.8, 0.9))
    assert result.value == pytest.approx(r / math.sqrt(0.8 * 0.9))
    ends = np.tanh(np.arctanh(r) + np.array([-1, 1]) * 1.959964 / math.sqrt(17))
    assert [result.low, result.high] == pytest.approx(ends / math.sqrt(0.72), abs=1e-6)
    rough = corrected_correlation(x, y, (0.4 * x.var(ddof=1), *errors[1:]))
    t = 2.100922  # of 18 degrees of freedom, from a table
    ends = np.tanh(np.arctanh(r) + np.array([-1, 1]) * t / math.sqrt(17))
    assert [rough.low, rough.high] == pytest.approx(ends / math.sqrt(0.54), abs=1e-6)
    shared = corrected_correlation(x, y, (*errors[:2], 0.1 * np.cov(x, y)[0, 1]))
    assert shared.value == pytest.approx(0.9 * result.value)
    alone = np.tanh(np.arctanh(0.9 * r) + np.array([-1, 1]) * 1.959964 / math.sqrt(17))
    assert shared.high - shared.low < np.ptp(alone) / math.sqrt(0.72)


def test_means_of_equal_truth_may_be_more_than_equal():
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 3, 5, 4])
    result = corrected_correlation(x, y, (0.75, 0.75, 0.0))
    assert result.value == pytest.approx(0.8 / 0.7)
    assert result.low < 1 < result.high
    assert not result.problems
    same = corrected_correlation(x, x + np.array([0, 0.1, 0, 0, 0]), (0.75, 0.75, 0.0))
    assert same.low > 1
    assert "errors that they share" in same.problems[0]


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ((3.0, 0.1, 0.0), "not above 0"),
        ((math.nan, 0.1, 0.0), "unknown"),
        ((0.6, 0.1, 0.0), ""),
        ((0.0, 0.0, 0.0), "the same each time"),
    ],
)
def test_what_cannot_be_corrected_says_why(errors, words):
    x = np.array([1.0, 2, 3, 2, 1])
    result = corrected_correlation(x, x[::-1] + np.array([0, 0.5, 0, 0, 0]), errors)
    assert math.isfinite(result.value) == (words in ("", "the same each time"))
    assert words in " ".join(result.problems)


def test_few_items_or_means_that_do_not_vary_have_nothing_to_correct():
    for x in ([1.0, 2], [1.0, 1, 1, 1], [0.1 + 0.2, 0.3, 0.3, 0.3]):
        result = corrected_correlation(np.array(x), np.arange(len(x)) * 1.0, (0.0, 0.1, 0.0))
        assert math.isnan(result.value)
        assert math.isnan(result.first_reliability)
        assert not result.problems
    with pytest.raises(ValueError, match="do not pair"):
        corrected_correlation(np.ones(2), np.ones(3), (0.1, 0.1, 0.0))
