"""G, phi and D-studies against published tables, alpha, and hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.reliability.alpha import cronbach_alpha
from core.stats.variance.coefficients import (
    REPLICATES,
    coefficients,
    levels_needed,
    measurement,
)
from core.stats.variance.components import variance_components
from core.stats.variance.design import cells, effects
from tests.stats.variance import designs

P, I, O = 1, 2, 4  # noqa: E741 - persons, items, occasions as sets of one facet


def measured(design, objects=P, fixed=0, estimator="automatic"):
    parts = variance_components(design, estimator)
    return measurement(parts, effects(design).closures, objects, fixed)


def g_and_phi(own, numbers=None):
    value = coefficients(own, numbers)
    return float(value.generalizability), float(value.dependability)


def test_published_intraclass_correlations():
    """Shrout and Fleiss (1979): ICC(3,1) .71, ICC(2,1) .29, ICC(3,4) .91, ICC(2,4) .62."""
    own = measured(designs.shrout_fleiss())
    assert g_and_phi(own) == pytest.approx((0.91, 0.62), abs=0.005)
    assert g_and_phi(own, {1: 1}) == pytest.approx((0.71, 0.29), abs=0.005)


def test_published_decision_studies():
    """Brennan (2001), tables 4.1 and 5.1: coefficients of synthetic data sets 3 and 4."""
    # p x I x O with 4 items and 2 occasions, from the components in the same table:
    # relative .5750/4 + .1009/2 + .9352/8 = .3111, absolute + .4417/4 + .0074/2 + .1565/8 = .4448
    own = coefficients(measured(designs.brennan_3()))
    assert (float(own.relative), float(own.absolute)) == pytest.approx((0.3111, 0.4448), abs=1e-4)
    # p x (R:T) with 3 tasks and 4 raters each
    assert g_and_phi(measured(designs.brennan_4())) == pytest.approx((0.55, 0.46), abs=0.005)


def test_published_fixed_facet():
    """Brennan (2001), section 4.4: with 4 items fixed, G = .81 and phi = .79."""
    own = measured(designs.brennan_3(), fixed=I)
    assert g_and_phi(own) == pytest.approx((0.81, 0.79), abs=0.005)
    # universe score .5528 + .5750/4 = .6966; relative .1009/2 + .9352/8 = .1673
    value = coefficients(own)
    assert float(value.universe) == pytest.approx(0.6966, abs=1e-4)
    assert float(value.relative) == pytest.approx(0.1673, abs=1e-4)
    # a fixed facet keeps its levels
    assert g_and_phi(own, {1: 100}) == g_and_phi(own)


def test_published_unbalanced_design():
    """Brennan (2001), section 7.1.3: G = .716 and phi = .4277 with categories of 2, 4, 2 items."""
    own = measured(designs.brennan_unbalanced(), estimator="anova")
    assert g_and_phi(own) == pytest.approx((0.716, 0.4277), abs=5e-4)


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_g_of_persons_by_items_is_alpha(seed, n_items):
    draw = np.random.default_rng(seed)
    scores = draw.normal(size=(9, n_items)) + draw.normal(size=(9, 1)) * 2
    rows = [(p, i, scores[p, i]) for p in range(9) for i in range(n_items)]
    alpha = cronbach_alpha(scores).value
    if alpha > 0:  # alpha below 0 has no counterpart, as a variance is not
        assert g_and_phi(measured(designs.design(rows)))[0] == pytest.approx(alpha)


def test_repetitions_shrink_the_residual_alone():
    components = {(0,): 1.0, (1,): 0.5, (0, 1): 0.4, (): 0.9}
    own = measured(cells(*designs.simulated((8, 6), components, 1, repetitions=3), (8, 6)))
    assert own.observed == {1: 6.0, REPLICATES: 3.0}
    person, item, both, residual = own.components.estimates
    value = coefficients(own, {REPLICATES: 5, 1: 10})
    assert float(value.universe) == pytest.approx(person)
    assert float(value.relative) == pytest.approx(both / 10 + residual / 50)
    assert float(value.absolute) == pytest.approx((item + both) / 10 + residual / 50)


def test_levels_needed_are_the_fewest():
    """Spearman-Brown: with one item .5, four items have .8 (4 · .5 / (1 + 3 · .5))."""
    own = measured(designs.brennan_3())
    for facet, target in ((1, 0.8), (1, 0.9), (2, 0.7)):
        for absolute in (False, True):
            need = levels_needed(own, facet, target, absolute=absolute)
            if math.isnan(need.levels):
                assert need.limit < target
                continue
            reached, before = (
                g_and_phi(own, {facet: n})[absolute] for n in (need.levels, need.levels - 1 or 0.5)
            )
            assert reached >= target > before
    halves = designs.design(
        [
            (p, i, v)
            for p, row in enumerate([(0, 0), (2, 0), (0, 2), (2, 2)])
            for i, v in enumerate(row)
        ]
    )
    assert math.isnan(levels_needed(measured(halves), 1, 0.8, absolute=False).levels)


def test_a_target_beyond_the_limit_needs_no_number():
    need = levels_needed(measured(designs.brennan_3()), 2, 0.8, absolute=True)
    assert math.isnan(need.levels)
    # occasions without end leave .4417/4 + .5750/4 of error: .5528 / (.5528 + .2542)
    assert need.limit == pytest.approx(0.5528 / (0.5528 + 0.25418), abs=1e-4)


def test_more_levels_never_lower_a_coefficient():
    own = measured(designs.brennan_4())
    values = [g_and_phi(own, {1: n}) for n in (1, 2, 5, 20, 1000)]
    assert values == sorted(values)
