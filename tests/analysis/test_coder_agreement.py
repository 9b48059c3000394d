from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from statsmodels.stats.inter_rater import cohens_kappa as theirs_kappa
from statsmodels.stats.proportion import proportion_confint

from core.analysis.coder_agreement import cohens_kappa, wilson_interval


def test_wilson_worked_by_hand():
    # z = 2 has a coverage of erf(√2). n = 4, p = 1/2: middle (1/2 + 1/2) / 2 = 1/2, and
    # reach 2 √(1/16 + 4/64) / 2 = √(1/8)
    low, high = wilson_interval(2, 4, level=math.erf(math.sqrt(2)))
    assert (low, high) == pytest.approx((0.5 - math.sqrt(1 / 8), 0.5 + math.sqrt(1 / 8)))
    # no success: the upper end is z²/n / (1 + z²/n) = 1/2
    assert wilson_interval(0, 4, level=math.erf(math.sqrt(2))) == pytest.approx((0, 0.5))


@given(st.integers(1, 10_000), st.floats(0, 1), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(n, share, level):
    successes = round(share * n)
    theirs = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert wilson_interval(successes, n, level=level) == pytest.approx(theirs, abs=1e-12)


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


def test_kappa_worked_by_hand():
    # agree on 3 of 4: 3/4. Expected: 3/4 · 1/2 + 1/4 · 1/2 = 1/2. (3/4 - 1/2) / (1/2) = 1/2
    assert cohens_kappa(["a", "a", "a", "b"], ["a", "a", "b", "b"]) == 0.5
    # each used each category half of the time and agreed half of the time: chance
    assert cohens_kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0
    assert cohens_kappa(["a", "b"], ["b", "a"]) == -1
    assert cohens_kappa(["a", "b", None], ["a", "b", None]) == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=200))
def test_kappa_agrees_with_statsmodels_where_it_is_defined(pairs):
    table = np.zeros((5, 5))
    for one, other in pairs:
        table[one, other] += 1
    found = cohens_kappa([one for one, _ in pairs], [other for _, other in pairs])
    if len({*map(tuple, map(sorted, pairs))}) == 1 and pairs[0][0] == pairs[0][1]:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(theirs_kappa(table, return_results=False), abs=1e-12)


def test_kappa_is_undefined_without_variety_and_refuses_unequal_lengths():
    assert math.isnan(cohens_kappa([], []))
    assert math.isnan(cohens_kappa(["a", "a"], ["a", "a"]))
    assert cohens_kappa(["a", "a"], ["b", "b"]) == 0
    with pytest.raises(ValueError, match="2 codings against 1"):
        cohens_kappa(["a", "b"], ["a"])
