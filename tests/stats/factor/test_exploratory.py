"""Exploratory factors and their number: by hand, invariants, a second program, recovery."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.multivariate.factor import Factor
from statsmodels.multivariate.factor_rotation import rotate_factors

from core.errors import NotEnoughData
from core.stats.factor.exploratory import (
    exploratory_factors,
    factors_of_correlations,
    minres,
    oblimin,
    parallel_analysis,
)
from tests.examples import few_examples

GOLDEN = Path(__file__).parents[1] / "golden"
HS = pd.read_csv(GOLDEN / "hs1939.csv")
LIKERT = pd.read_csv(GOLDEN / "likert22.csv")
PATTERN = np.zeros((12, 3))
PATTERN[:4, 0], PATTERN[4:8, 1], PATTERN[8:, 2] = (
    [0.8, 0.7, 0.6, 0.5],
    [0.75, 0.65, 0.7, 0.55],
    [0.6, 0.7, -0.8, 0.5],
)
PHI = np.array([[1, 0.4, 0.2], [0.4, 1, -0.3], [0.2, -0.3, 1]])
NAMES = [f"y{number}" for number in range(1, 13)]


def population():
    """Correlations of twelve items of three correlated factors."""
    matrix = PATTERN @ PHI @ PATTERN.T
    np.fill_diagonal(matrix, 1)
    return matrix


def matched(found):
    """Loadings and factor correlations in the order and signs of PATTERN."""
    order = np.abs(found.loadings.T @ PATTERN).argmax(axis=0)
    assert sorted(order) == [0, 1, 2]
    loadings = found.loadings[:, order]
    sign = np.sign((loadings * PATTERN).sum(axis=0))
    phi = found.factor_correlations[np.ix_(order, order)] * np.outer(sign, sign)
    return loadings * sign, phi


def test_one_factor_of_three_items_worked_by_hand():
    # l1^2 = r12 r13 / r23 = .48 * .4 / .3 = .64, and so on: .8 .6 .5
    matrix = np.array([[1, 0.48, 0.4], [0.48, 1, 0.3], [0.4, 0.3, 1]])
    found = factors_of_correlations(matrix, ["a", "b", "c"], 1)
    np.testing.assert_allclose(found.loadings[:, 0], [0.8, 0.6, 0.5], atol=1e-6)
    np.testing.assert_allclose(found.communalities, [0.64, 0.36, 0.25], atol=1e-6)
    assert found.sums_of_squares[0] == pytest.approx(1.25, abs=1e-6)
    assert found.shares[0] == pytest.approx(1.25 / 3, abs=1e-6)
    assert found.rmsr == pytest.approx(0, abs=1e-6)
    assert found.df == 0


def test_a_perfect_structure_comes_back_exactly():
    found = factors_of_correlations(population(), NAMES, 3)
    loadings, phi = matched(found)
    np.testing.assert_allclose(loadings, PATTERN, atol=1e-4)
    np.testing.assert_allclose(phi, PHI, atol=1e-4)
    assert found.converged
    assert found.df == 33
    assert found.problems == ()


def test_known_loadings_are_recovered_from_a_sample():
    rng = np.random.default_rng(31)
    scores = rng.multivariate_normal(np.zeros(12), population(), size=5000)
    loadings, phi = matched(exploratory_factors(scores, NAMES, 3))
    assert np.abs(loadings - PATTERN).max() < 0.06
    assert np.abs(phi - PHI).max() < 0.06


def test_polychoric_factors_recover_loadings_that_pearson_understates():
    rng = np.random.default_rng(32)
    hidden = rng.multivariate_normal(np.zeros(12), population(), size=5000)
    scores = np.digitize(hidden, [0.8, 1.6]).astype(float)
    polychoric = matched(exploratory_factors(scores, NAMES, 3, correlation="polychoric"))[0]
    pearson = matched(exploratory_factors(scores, NAMES, 3))[0]
    assert np.abs(polychoric - PATTERN).max() < 0.1
    own = np.abs(PATTERN) > 0
    assert np.abs(pearson[own]).mean() < np.abs(PATTERN[own]).mean() - 0.08


def test_extraction_equals_iterated_principal_axes_of_statsmodels():
    matrix = np.corrcoef(HS.to_numpy(float), rowvar=False)
    theirs = Factor(corr=matrix, n_factor=3, method="pa").fit(maxiter=20_000, tol=1e-12)
    ours = factors_of_correlations(matrix, list(HS), 3)
    np.testing.assert_allclose(ours.communalities, theirs.communality, atol=1e-6)


def test_extraction_is_not_beaten_by_other_uniquenesses():
    matrix = np.corrcoef(HS.to_numpy(float), rowvar=False)
    found = minres(matrix, 2)
    apart = ~np.eye(9, dtype=bool)

    def misfit(loadings):
        return float(((matrix - loadings @ loadings.T)[apart] ** 2).sum())

    best, rng = misfit(found.loadings), np.random.default_rng(33)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(200):
            moved = found.loadings + size * rng.standard_normal(found.loadings.shape)
            assert misfit(moved) >= best - 1e-12


@pytest.mark.parametrize("n_factors", [2, 3, 4])
def test_rotation_keeps_the_common_correlations(n_factors):
    found = exploratory_factors(HS.to_numpy(float), list(HS), n_factors)
    common = found.loadings @ found.factor_correlations @ found.loadings.T
    np.testing.assert_allclose(common, found.unrotated @ found.unrotated.T, atol=1e-10)
    np.testing.assert_allclose(np.diag(found.factor_correlations), 1, atol=1e-12)
    assert np.linalg.eigvalsh(found.factor_correlations)[0] > 0
    np.testing.assert_allclose(np.diag(common), found.communalities, atol=1e-12)
    assert found.sums_of_squares.sum() == pytest.approx(found.communalities.sum())
    assert (np.diff(found.sums_of_squares) <= 1e-12).all()
    assert (found.loadings.sum(axis=0) > 0).all()


def oblimin_criterion(loadings):
    """Half the sum over pairs of factors of how their squared loadings vary together."""
    squares = loadings**2
    together = squares.T @ squares
    return (together.sum() - np.trace(together)) / 4


@pytest.mark.parametrize("n_factors", [2, 3, 4])
def test_rotation_is_as_simple_as_that_of_statsmodels(n_factors):
    unrotated = minres(np.corrcoef(HS.to_numpy(float), rowvar=False), n_factors).loadings
    ours = oblimin(unrotated)
    theirs = np.asarray(rotate_factors(unrotated, "oblimin", 0, "oblique")[0])
    assert ours.converged
    assert ours.criterion <= oblimin_criterion(theirs) + 1e-9
    assert ours.criterion == pytest.approx(oblimin_criterion(ours.loadings), abs=1e-12)
    if ours.starts_at_best == ours.starts:
        explained = np.abs(theirs).sum(axis=0)
        mine = np.abs(ours.loadings).sum(axis=0)
        np.testing.assert_allclose(np.sort(mine), np.sort(explained), atol=1e-3)


def test_rotation_is_not_beaten_by_other_oblique_turns():
    unrotated = minres(np.corrcoef(HS.to_numpy(float), rowvar=False), 3).loadings
    best, rng = oblimin(unrotated).criterion, np.random.default_rng(34)
    for _ in range(2000):
        turn = rng.standard_normal((3, 3))
        turn /= np.sqrt((turn**2).sum(axis=0))
        assert oblimin_criterion(unrotated @ np.linalg.inv(turn).T) >= best - 1e-10


def test_unrelated_items_have_empty_factors():
    found = factors_of_correlations(np.eye(6), NAMES[:6], 2)
    assert np.abs(found.loadings).max() < 0.3
    assert any("no loading of .30" in problem for problem in found.problems)


@few_examples
@given(seed=st.integers(0, 10_000))
def test_order_and_direction_of_items_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    order, sign = rng.permutation(12), rng.choice([-1.0, 1.0], 12)
    turned = (population() * np.outer(sign, sign))[np.ix_(order, order)]
    one = factors_of_correlations(population(), NAMES, 3)
    other = factors_of_correlations(turned, [NAMES[i] for i in order], 3)
    np.testing.assert_allclose(other.communalities, one.communalities[order], atol=1e-5)
    np.testing.assert_allclose(
        np.sort(other.sums_of_squares), np.sort(one.sums_of_squares), atol=1e-3
    )


def test_a_heywood_case_is_reported_in_words():
    # l1^2 = .9 * .9 / .5 > 1
    matrix = np.array([[1, 0.9, 0.9], [0.9, 1, 0.5], [0.9, 0.5, 1]])
    found = factors_of_correlations(matrix, ["a", "b", "c"], 1)
    assert found.heywood == ("a",)
    assert any("Heywood" in problem and " a " in problem for problem in found.problems)


def test_a_factor_without_loadings_is_reported():
    matrix = np.full((6, 6), 0.5)
    np.fill_diagonal(matrix, 1)
    matrix[0, 1] = matrix[1, 0] = 0.53
    found = factors_of_correlations(matrix, NAMES[:6], 2)
    assert any("no loading of .30" in problem for problem in found.problems)


def test_factors_that_are_one_are_reported():
    rng = np.random.default_rng(35)
    scores = 0.7 * rng.standard_normal((1000, 1)) + 0.7 * rng.standard_normal((1000, 9))
    found = exploratory_factors(scores, NAMES[:9], 3)
    assert any("they may be one factor" in problem for problem in found.problems)


def test_a_constant_item_is_left_out_and_named():
    found = exploratory_factors(LIKERT.to_numpy(float), list(LIKERT), 2)
    assert "i22" not in found.names
    assert found.loadings.shape == (21, 2)
    assert found.n == 243
    assert any("i22" in problem for problem in found.problems)


def test_more_items_than_rows_is_computed_with_a_warning():
    scores = np.random.default_rng(36).standard_normal((8, 12))
    found = exploratory_factors(scores, NAMES, 1)
    assert np.isfinite(found.loadings).all()
    assert any("mostly chance" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("scores", "n_factors", "message"),
    [
        (np.ones((30, 4)), 1, "No item varies"),
        (np.full((30, 4), np.nan), 1, "No item varies"),
        (np.random.default_rng(1).standard_normal((30, 2)), 1, "at least three items"),
        (np.random.default_rng(1).standard_normal((30, 4)), 4, "cannot carry 4 factors"),
        (np.random.default_rng(1).standard_normal((30, 4)), 0, "cannot carry 0 factors"),
    ],
    ids=["constant", "missing", "two items", "too many", "none"],
)
def test_what_has_no_factors_is_one_clear_message(scores, n_factors, message):
    with pytest.raises(NotEnoughData, match=message):
        exploratory_factors(scores, NAMES[: scores.shape[1]], n_factors)


def test_the_known_number_of_factors_is_proposed():
    rng = np.random.default_rng(37)
    scores = rng.multivariate_normal(np.zeros(12), population(), size=800)
    found = parallel_analysis(scores, NAMES, repetitions=200)
    assert found.n_suggested == 3
    assert (np.diff(found.eigenvalues) <= 0).all()
    assert found.eigenvalues.sum() == pytest.approx(12)
    assert found.chance_mean.sum() == pytest.approx(12)


def test_holzinger_swineford_has_three_factors():
    assert parallel_analysis(HS.to_numpy(float), list(HS)).n_suggested == 3


def test_chance_alone_is_seldom_taken_for_factors():
    rng = np.random.default_rng(38)
    proposed = [
        parallel_analysis(rng.standard_normal((150, 8)), NAMES[:8], repetitions=100).n_suggested
        for _ in range(60)
    ]
    assert np.mean(np.array(proposed) > 0) < 0.15


def test_eigenvalues_of_two_items_worked_by_hand():
    scores = np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0], [4.0, 4.0]])  # r = .8
    found = parallel_analysis(scores, ["a", "b"], repetitions=10)
    np.testing.assert_allclose(found.eigenvalues, [1.8, 0.2], atol=1e-12)


def test_the_same_seed_gives_the_same_chance():
    one, same, other = (
        parallel_analysis(HS.to_numpy(float), list(HS), seed=seed, repetitions=50)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.chance_percentile, same.chance_percentile)
    assert not np.array_equal(one.chance_percentile, other.chance_percentile)


def test_an_item_that_others_predict_leaves_an_eigenvalue_of_nothing():
    scores = np.random.default_rng(39).standard_normal((100, 4))
    scores[:, 3] = scores[:, 0] + scores[:, 1]
    found = parallel_analysis(scores, NAMES[:4], repetitions=20)
    assert found.eigenvalues[-1] == pytest.approx(0, abs=1e-12)
    assert found.n_suggested >= 1


def test_chance_is_drawn_once_for_all_answers_of_one_size():
    def needed(answers):
        began = time.process_time()
        found = parallel_analysis(answers, [f"i{k}" for k in range(60)], repetitions=200)
        return found, time.process_time() - began

    rng = np.random.default_rng(8)
    (first, anew), (second, again) = (needed(rng.normal(size=(400, 60))) for _ in range(2))
    assert again < anew / 5
    assert (first.chance_mean == second.chance_mean).all()
    assert (first.eigenvalues != second.eigenvalues).all()


def test_too_little_for_parallel_analysis_is_one_clear_message():
    with pytest.raises(NotEnoughData, match="too few"):
        parallel_analysis(np.array([[1.0, 2.0], [2.0, 1.0]]), ["a", "b"])
