import math

import numpy as np
import pytest

from core.stats.correlation import correlation
from core.stats.reliability.stability import form_agreement, retest_agreement


def occasions(n: int = 30, k: int = 3):
    generator = np.random.default_rng(0)
    return generator.normal(size=(n, 1)) + 0.5 * generator.normal(size=(n, k))


def test_an_alternate_form_is_judged_by_order_and_by_level():
    table = occasions()
    result = form_agreement(table[:, 0], table[:, 1] + 2, what="alternate form")
    own = correlation(table[:, 0], table[:, 1])
    assert result.correlation.r == pytest.approx(own.r, abs=1e-12)
    assert result.shift.difference == pytest.approx((table[:, 1] - table[:, 0]).mean() + 2)
    assert result.shift.p < 0.001
    assert not result.problems


def test_retest_correlates_every_pair_of_occasions_and_averages_their_z():
    table = occasions()
    result = retest_agreement(table)
    assert result.pairs == ((0, 1), (0, 2), (1, 2))
    values = [np.corrcoef(table[:, a], table[:, b])[0, 1] for a, b in result.pairs]
    assert [own.r for own in result.correlations] == pytest.approx(values, abs=1e-12)
    assert result.mean_r == pytest.approx(np.tanh(np.mean(np.arctanh(values))), abs=1e-12)


def test_identical_scores_are_named_as_agreement_by_construction():
    first = occasions()[:, 0]
    assert "temperature 0" in form_agreement(first, first, what="option order").problems[0]
    assert "temperature 0" in retest_agreement(np.column_stack([first, first])).problems[0]
    assert retest_agreement(np.column_stack([first, first])).mean_r == 1


def test_gaps_cost_only_the_pairs_they_belong_to():
    table = occasions()
    table[:4, 0] = np.nan
    assert [own.n for own in retest_agreement(table).correlations] == [26, 26, 30]


@pytest.mark.parametrize("table", [occasions()[:, :1], np.ones((5, 3)), np.full((5, 2), np.nan)])
def test_bad_tables_give_no_mean_but_a_reason(table):
    result = retest_agreement(table)
    assert np.isnan(result.mean_r)
    assert any("Undefined" in text for text in result.problems)


def test_pairs_that_agree_exactly_leave_the_mean_undefined_unless_all_do():
    first = np.array([1.0, 2, 3, 4, 6])
    third = np.array([2.0, 1, 4, 3, 5])
    mixed = retest_agreement(np.column_stack([first, 2 * first, third]))
    assert math.isnan(mixed.mean_r)
    assert any("determine each other exactly" in problem for problem in mixed.problems)
    assert retest_agreement(np.column_stack([first, 2 * first])).mean_r == 1
    opposite = retest_agreement(np.column_stack([first, -first, first]))
    assert math.isnan(opposite.mean_r)
