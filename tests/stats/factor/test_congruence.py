import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.factor.congruence import (
    congruence,
    congruence_of_levels,
    halves_congruence,
    matched,
)
from core.stats.factor.exploratory import minres, oblimin, oblimin_near
from core.stats.resampling import Bootstrap
from tests.stats.reference import expected, scores

ITEMS = [f"{scale}{number}" for scale in "ACENO" for number in range(1, 6)]


def men_and_women():
    table = scores("bfi25")
    return [table[table[:, 25] == gender][:, :25] for gender in (1, 2)]


def two_factors(n, seed, between=0.3):
    """Answers to six items of two factors."""
    draw = np.random.default_rng(seed)
    factors = draw.multivariate_normal([0, 0], [[1, between], [between, 1]], n)
    return 0.8 * factors[:, [0, 0, 0, 1, 1, 1]] + 0.6 * draw.standard_normal((n, 6))


def test_congruences_of_loadings_are_those_of_psych():
    theirs = {name: np.array(rows) for name, rows in expected("bfi25")["congruence"].items()}
    phi = congruence(theirs["men"], theirs["women"])
    assert phi == pytest.approx(theirs["phi"], abs=1e-8)
    # as printed the partners are not on the diagonal: .19, -.07, .08, .10, .98
    assert np.diag(phi).round(2).tolist() == [-0.19, -0.07, 0.08, 0.1, 0.98]
    partners = np.diag(congruence(theirs["men"], matched(theirs["men"], theirs["women"])))
    assert partners.round(2).tolist() == [0.95, 0.99, 0.96, 0.99, 0.98]


def test_the_factors_of_men_and_women_are_as_congruent_as_in_r():
    found = congruence_of_levels(men_and_women(), ITEMS, 5)
    men, women = (np.array(expected("bfi25")["congruence"][name]) for name in ("men", "women"))
    # psych ends its searches near 1e-5
    assert matched(men, found.loadings[0]) == pytest.approx(men, abs=1e-4)
    theirs = np.diag(congruence(men, matched(men, women)))
    assert sorted(found.phi[0]) == pytest.approx(sorted(theirs), abs=1e-4)
    assert (found.chance < 0.7).all()
    assert np.isnan(found.low).all()


@given(
    seed=st.integers(0, 100),
    order=st.permutations(range(3)),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=3, max_size=3),
)
def test_order_and_sign_of_factors_do_not_matter(seed, order, signs):
    loadings = np.random.default_rng(seed).normal(size=(9, 3))
    turned = loadings[:, order] * signs
    assert matched(loadings, turned) == pytest.approx(loadings, abs=1e-12)


def test_one_factor_of_equal_loadings_is_congruent_by_chance_alone():
    draw = np.random.default_rng(1).normal
    levels = [draw(size=(300, 1)) + draw(size=(300, 6)) for _ in range(2)]
    found = congruence_of_levels(levels, list("abcdef"), 1)
    assert found.phi[0, 0] > 0.99
    assert found.chance[0, 0] > 0.98


def test_the_interval_reaches_over_what_samples_vary_by():
    values = [
        congruence_of_levels([two_factors(150, s), two_factors(150, 900 + s)], list("abcdef"), 2)
        for s in range(40)
    ]
    spread = np.percentile([found.phi[0, 0] for found in values], [10, 90])
    drawn = congruence_of_levels(
        [two_factors(150, 5), two_factors(150, 6)],
        list("abcdef"),
        2,
        bootstrap=Bootstrap(100, 1),
    )
    assert drawn.low[0, 0] < spread[0] + 0.01
    assert drawn.high[0, 0] > spread[1] - 0.01
    assert drawn.n_undefined == 0
    assert (drawn.high <= 1).all()


def test_three_levels_are_compared_in_pairs_and_matched_to_the_first():
    levels = [two_factors(400, seed) for seed in range(3)]
    levels[1] = levels[1][:, [3, 4, 5, 0, 1, 2]]  # the factors change places
    found = congruence_of_levels(levels, list("abcdef"), 2)
    assert found.pairs == ((0, 1), (0, 2), (1, 2))
    assert found.phi.shape == (3, 2)
    assert (found.phi > 0.97).all()


def test_halves_agree_less_the_fewer_rows_they_have():
    few, many = two_factors(60, 1), two_factors(2000, 1)
    loadings = congruence_of_levels([many, many], list("abcdef"), 2).loadings[0]
    of_few, of_many = (np.median(halves_congruence(rows, loadings)) for rows in (few, many))
    assert of_few < of_many
    assert of_many > 0.99
    assert np.array_equal(halves_congruence(few, loadings), halves_congruence(few, loadings))


def test_gaps_are_bridged_by_pairs_of_answers():
    rows = two_factors(600, 2)
    gaps = rows.copy()
    gaps[np.arange(600), np.arange(600) % 6] = np.nan
    found = congruence_of_levels([rows, gaps], list("abcdef"), 2)
    assert (found.phi > 0.98).all()


def test_a_rotation_begun_near_the_best_ends_at_it():
    unrotated = minres(np.corrcoef(men_and_women()[0], rowvar=False), 5).loadings
    best = oblimin(unrotated, seed=1).loadings
    assert oblimin_near(unrotated, best + 0.05) == pytest.approx(best, abs=1e-3)
