"""Variance components against published tables, lme4 (R), hand and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.variance.components import shares_by_chance, variance_components
from core.stats.variance.design import cells, effects, members
from core.stats.variance.reml import fit_reml
from tests.examples import few_examples
from tests.stats.reference import expected
from tests.stats.variance import designs

LME4 = expected("variance_lme4")


def by_facets(parts):
    """Estimates by the numbers of the facets of each effect, the residual under ()."""
    keys = [tuple(members(effect)) for effect in parts.effects[:-1]] + [()]
    return dict(zip(keys, parts.estimates.tolist(), strict=True))


def of_lme4(name):
    own = LME4[name]
    codes = np.array([own["codes"][facet] for facet in own["facets"]])
    return cells(np.array(own["values"], dtype=float), codes, (codes.max(axis=1) + 1).tolist())


def test_a_crossed_design_worked_by_hand():
    # Scores 1 2 / 3 8 of two rows and two columns. Means: rows 1.5 and 5.5, columns 2 and 5, all
    # 3.5. SS rows 2·(2² + 2²) = 16, columns 2·(1.5² + 1.5²) = 9, all (2.5² + 1.5² + .5² + 4.5²) =
    # 29, so residual 4, each with df 1. Rows (16 - 4) / 2 = 6, columns (9 - 4) / 2 = 2.5.
    parts = variance_components(designs.design([(0, 0, 1), (0, 1, 2), (1, 0, 3), (1, 1, 8)]))
    assert parts.method == "ANOVA"
    assert parts.squares == pytest.approx([16, 9, 4])
    assert parts.degrees == pytest.approx([1, 1, 1])
    assert parts.estimates == pytest.approx([6, 2.5, 4])
    assert parts.shares == pytest.approx([0.48, 0.2, 0.32])
    # SE of rows: sqrt(2·16²/3 + 2·4²/3) / 2; of the residual: sqrt(2·4²/3)
    assert parts.errors[[0, 2]] == pytest.approx([(2 * 272 / 3) ** 0.5 / 2, (32 / 3) ** 0.5])


def test_published_crossed_design():
    """Brennan (2001), table 3.3: p x i x o of synthetic data set 3."""
    parts = variance_components(designs.brennan_3())
    assert parts.squares == pytest.approx([62.20, 37.45, 3.20, 56.30, 12.05, 7.50, 25.25])
    assert parts.degrees == pytest.approx([9, 3, 1, 27, 9, 3, 27])
    assert parts.estimates == pytest.approx(
        [0.5528, 0.4417, 0.0074, 0.5750, 0.1009, 0.1565, 0.9352], abs=5e-5
    )


def test_published_nested_design():
    """Brennan (2001), table 3.4: p x (r:t) of synthetic data set 4."""
    parts = variance_components(designs.brennan_4())
    assert parts.method == "ANOVA"
    found = by_facets(parts)
    wanted = {(0,): 0.4731, (1,): 0.3252, (1, 2): 0.6475, (0, 1): 0.5596, (): 2.3802}
    assert found == pytest.approx(wanted, abs=5e-5)


def test_published_unbalanced_design():
    """Brennan (2001), section 7.1: p x (i:h) by analogous ANOVA."""
    parts = variance_components(designs.brennan_unbalanced(), "anova")
    assert parts.method == "analogous ANOVA"
    wanted = {(0,): 1.2014, (1,): 2.9161, (1, 2): 0.2946, (0, 1): 0.9913, (): 0.8429}
    assert by_facets(parts) == pytest.approx(wanted, abs=2e-4)  # the book rounds on the way


@pytest.mark.parametrize("name", list(LME4))
def test_reml_agrees_with_lme4(name):
    own = LME4[name]
    parts = variance_components(of_lme4(name), "reml")
    assert parts.method == "REML"
    place = {facet: number for number, facet in enumerate(own["facets"])}
    found = {frozenset(key): value for key, value in by_facets(parts).items()}
    closures = effects(of_lme4(name)).closures
    for source, value in own["components"].items():
        key = () if source == "Residual" else [place[one] for one in source.split(":")]
        closed = frozenset(members(closures[sum(1 << one for one in key)])) if key else frozenset()
        assert found[closed] == pytest.approx(value, rel=2e-4, abs=2e-6)


def test_anova_is_taken_where_balanced_and_reml_where_not():
    methods = {name: variance_components(of_lme4(name)).method for name in LME4}
    assert methods["penicillin"] == methods["crossed"] == methods["pastes"] == "ANOVA"
    assert methods["gaps"] == methods["uneven"] == methods["nested"] == "REML"


def test_reml_is_anova_in_balanced_designs_without_negative_estimates():
    for own in (designs.brennan_3(), designs.brennan_4(), designs.shrout_fleiss()):
        by_squares, by_likelihood = (variance_components(own, one) for one in ("anova", "reml"))
        assert by_likelihood.estimates == pytest.approx(by_squares.estimates, rel=1e-4, abs=1e-5)


def test_reml_finds_the_same_top_from_anywhere():
    """Four facets of which most do nothing: every start leads to the same estimates."""
    levels = (12, 5, 3, 2)
    components = {(0,): 0.04, (1,): 0.06, (0, 1): 0.09, (0, 1, 2): 0.06, (): 0.75}
    own = cells(*designs.simulated(levels, components, 3, missing=0.03, repetitions=3), levels)
    lower = [one for one in effects(own).sets if one != own.everything]
    starts = np.full(16, 0.05), np.array([*np.full(15, 0.01), 1.0]), np.array([*np.zeros(15), 1.0])
    fits = [fit_reml(own, lower, start, of_cells=True) for start in starts]
    assert all(fit.converged for fit in fits)
    for fit in fits[1:]:
        assert fit.estimates == pytest.approx(fits[0].estimates, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("repetitions", [1, 3])
def test_the_covariance_of_reml_is_that_of_full_matrices(repetitions):
    """Traces of products of whole projections, of which the program has parts only."""
    components = {(0,): 1.0, (1,): 0.6, (0, 1): 0.3, (): 0.7}
    levels, chance = (9, 7), {"missing": 0.3, "repetitions": repetitions}
    own = cells(*designs.simulated(levels, components, 1, **chance), levels)
    parts = variance_components(own, "reml")
    parted = [own.places(one, own.full.codes)[1] for one in parts.effects[:-1]]
    added = [(place[:, None] == place).astype(float) for place in parted]
    added.append(np.diag(1 / own.full.counts))
    inverse = np.linalg.inv(np.tensordot(parts.estimates, added, 1))
    ones = inverse.sum(axis=1)
    projection = inverse - np.outer(ones, ones) / ones.sum()
    information = np.array(
        [[np.trace(projection @ a @ projection @ b) / 2 for b in added] for a in added]
    )
    information[-1, -1] += (own.n - own.n_cells) / parts.estimates[-1] ** 2 / 2
    assert parts.covariance == pytest.approx(np.linalg.inv(information), rel=1e-8)
    assert parts.errors == pytest.approx(np.sqrt(np.diag(parts.covariance)))


@pytest.mark.parametrize("repetitions", [1, 3])
def test_the_step_without_a_bound_is_that_of_full_matrices(repetitions):
    """MINQUE at the REML estimates: half the traces times components are the quadratic forms."""
    levels, chance = (9, 7), {"missing": 0.3, "repetitions": repetitions}
    own = cells(*designs.simulated(levels, {(1,): 0.6, (): 0.7}, 3, **chance), levels)
    parts = variance_components(own, "reml")
    assert (parts.estimates == 0).any()
    parted = [own.places(one, own.full.codes)[1] for one in parts.effects[:-1]]
    added = [(place[:, None] == place).astype(float) for place in parted]
    added.append(np.diag(1 / own.full.counts))
    inverse = np.linalg.inv(np.tensordot(parts.estimates, added, 1))
    ones = inverse.sum(axis=1)
    projection = inverse - np.outer(ones, ones) / ones.sum()
    projected = projection @ (own.full.sums / own.full.counts)
    forms = np.array([projected @ one @ projected for one in added])
    forms[-1] += own.within / parts.estimates[-1] ** 2
    assert parts.stepped == pytest.approx(parts.covariance @ forms / 2, rel=1e-8)
    assert parts.corrected_shares == pytest.approx(parts.stepped / parts.stepped.sum())


def test_the_step_without_a_bound_gives_the_mean_squares_of_balanced_designs():
    for seed in range(40):
        values, codes = designs.simulated((6, 5), {(0,): 0.5, (): 1.0}, seed)
        own = cells(values, codes, (6, 5))
        by_squares, by_likelihood = (variance_components(own, one) for one in ("anova", "reml"))
        assert by_likelihood.corrected_shares == pytest.approx(
            by_squares.corrected_shares, rel=1e-3, abs=1e-4
        )


def test_a_source_without_variance_has_none_on_average_once_corrected():
    """And what chance gives to the share as estimated is what many studies give."""
    levels = (30, 8)
    shares, corrected, by_chance, p = [], [], [], []
    for seed in range(200):
        simulated = designs.simulated(levels, {(1,): 0.2, (): 0.5}, seed, missing=0.2)
        parts = variance_components(cells(*simulated, levels))
        assert parts.method == "REML"
        shares.append(parts.shares[0])
        corrected.append(parts.corrected_shares[0])
        by_chance.append(shares_by_chance(parts, 500, seed)[0])
        p.append((parts.draws(500, seed)[:, 0] <= 0).mean())
    error = np.std(corrected) / np.sqrt(200)
    assert abs(np.mean(corrected)) < 2.5 * error
    assert np.mean(shares) > 5 * error
    assert np.mean(by_chance) == pytest.approx(np.mean(shares), rel=0.3)
    assert 0.015 < np.mean(np.array(p) < 0.05) < 0.095


def test_draws_of_reml_are_those_of_mean_squares_in_balanced_designs():
    for own in (designs.brennan_3(), designs.shrout_fleiss()):
        by_squares, by_likelihood = (
            variance_components(own, one).draws(100_000, 3) for one in ("anova", "reml")
        )
        middle = [
            np.quantile(draws, [0.1, 0.5, 0.9], axis=0) for draws in (by_squares, by_likelihood)
        ]
        assert middle[1] == pytest.approx(middle[0], rel=0.05, abs=0.02)


def test_intervals_of_reml_hold_where_each_person_has_a_few_items():
    """150 studies of 40 persons with 3 of 12 items each: 95% intervals of each component."""
    components, levels = {(0,): 0.3, (1,): 0.2, (): 0.5}, (40, 12)
    held = []
    for seed in range(150):
        values, codes = designs.simulated(levels, components, seed)
        order = np.random.default_rng(seed).random(levels).argsort(axis=1).argsort(axis=1)
        asked = (order < 3)[codes[0], codes[1]]
        parts = variance_components(cells(values[asked], codes[:, asked], levels))
        assert parts.method == "REML"
        low, high = np.quantile(np.maximum(parts.draws(1000, seed), 0), [0.025, 0.975], axis=0)
        held.append((low <= [0.3, 0.2, 0.5]) & (high >= [0.3, 0.2, 0.5]))
    assert (np.mean(held, axis=0) > 0.9).all()


def test_a_negative_estimate_stays_and_counts_as_zero():
    # Scores 0 1 / 1 0: all rows and columns have the same mean, so each is (0 - 1) / 2 = -.5
    parts = variance_components(designs.design([(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]))
    assert parts.estimates == pytest.approx([-0.5, -0.5, 1])
    assert parts.shares == pytest.approx([0, 0, 1])
    assert variance_components(parts.design, "reml").estimates[:2] == pytest.approx([0, 0])


def test_equal_scores_have_no_shares():
    parts = variance_components(designs.design([(0, 0, 3), (0, 1, 3), (1, 0, 3), (1, 1, 3)]))
    assert parts.total == 0
    assert np.isnan(parts.shares).all()


def test_an_effect_without_degrees_of_freedom_is_named_and_left_out():
    # Each row meets one column of its own but the first, which meets both: no interaction is left.
    own = designs.design([(0, 0, 1), (0, 1, 2), (1, 0, 4), (1, 0, 5), (2, 1, 7), (2, 1, 9)])
    parts = variance_components(own)
    assert parts.undefined
    assert np.isfinite(parts.estimates).all()
    assert set(parts.undefined) & set(parts.effects[:-1]) == set()


@few_examples
@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.1, 20), st.booleans())
def test_shift_scale_and_order_of_levels(seed, shift, scale, gaps):
    components = {(0,): 1.0, (1,): 0.5, (0, 1): 0.4, (2,): 0.2, (): 0.8}
    values, codes = designs.simulated((5, 6, 3), components, seed, missing=0.15 if gaps else 0.0)
    own = variance_components(cells(values, codes, (5, 6, 3)))
    moved = variance_components(cells(values * scale + shift, codes, (5, 6, 3)))
    assert moved.estimates == pytest.approx(own.estimates * scale**2, rel=1e-3, abs=1e-4 * scale**2)
    assert own.shares.sum() == pytest.approx(1)
    draw = np.random.default_rng(seed)
    renamed = np.array([draw.permutation(n)[own] for n, own in zip((5, 6, 3), codes, strict=True)])
    order = draw.permutation(len(values))
    again = variance_components(cells(values[order], renamed[:, order], (5, 6, 3)))
    assert again.estimates == pytest.approx(own.estimates, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(("missing", "repetitions"), [(0.0, 1), (0.0, 2), (0.25, 2)])
def test_known_components_are_recovered_and_covered(missing, repetitions):
    """100 studies of 12 x 10 x 6: estimates without bias, 90% intervals that hold the truth."""
    components = {(0,): 1.0, (1,): 0.6, (2,): 0.3, (0, 1): 0.5, (0, 2): 0.2, (1, 2): 0.1, (): 0.7}
    levels = (12, 10, 6)
    keys = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    truth = np.array([components[key] for key in keys])
    estimates, held = [], []
    for seed in range(100):
        own = cells(
            *designs.simulated(levels, components, seed, missing=missing, repetitions=repetitions),
            levels,
        )
        parts = variance_components(own, "anova")
        draws = parts.draws(1000, seed)[:, :6]
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        estimates.append(parts.estimates[:6])
        held.append((low <= truth) & (truth <= high))
    # a mean of 100 estimates lies within 4 standard errors of the truth
    spread = np.std(estimates, axis=0) / 10
    assert (np.abs(np.mean(estimates, axis=0) - truth) < 4 * spread).all()
    # 100 intervals at .90: between .80 and .99 (binomial, p < .002 either way), each source
    assert (np.mean(held, axis=0) >= 0.80).all()
    assert np.mean(held) == pytest.approx(0.90, abs=0.04)
