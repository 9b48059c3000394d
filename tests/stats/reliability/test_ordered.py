import math

import numpy as np
import pytest

from core.stats.reliability.ordered import ordered_reliability
from tests.stats.reference import expected, scores

ITEMS = ["A1", "A2", "A3", "A4", "A5"]


def of_bfi(**options):
    return ordered_reliability(scores("bfi25", ITEMS), names=ITEMS, **options)


def five_items(n, seed, loadings=(0.4, 0.7, 0.8, 0.5, 0.65)):
    """Answers 0 to 4 made of one factor."""
    draw, weights = np.random.default_rng(seed).normal, np.array(loadings)
    latent = weights * draw(size=(n, 1)) + np.sqrt(1 - weights**2) * draw(size=(n, len(weights)))
    return np.searchsorted([-1.2, -0.2, 0.6, 1.5], latent).astype(float)


def test_both_agree_with_r_on_agreeableness():
    found, theirs = of_bfi(), expected("bfi25")
    assert found.omega.value == pytest.approx(theirs["semtools"]["omega_categorical"], abs=1e-8)
    # psych ends its search of a polychoric correlation near 1e-5
    assert found.alpha.value == pytest.approx(theirs["ordinal_alpha"], abs=1e-5)
    assert (found.omega.n, found.omega.n_left_out) == (2436, 0)


def test_worked_by_hand_for_two_options_at_the_median():
    # four equal items in which two of three answers agree: the phi coefficient is 1/3, and the
    # latent correlation sin(π/6) = 1/2, whose single factor has loadings of sqrt(1/2)
    rows = [[0] * 4, [1] * 4] * 3 + [[int(a in pair) for a in range(4)] for pair in PAIRS]
    found = ordered_reliability(np.array(rows * 20, dtype=float))
    # parallel items: 4 r / (1 + 3 r), of the latent responses and of the answers
    assert found.alpha.value == pytest.approx(4 / 2 / (1 + 3 / 2), abs=1e-6)
    assert found.omega.value == pytest.approx(4 / 3 / (1 + 3 / 3), abs=1e-6)


PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_the_unit_of_the_points_does_not_matter_but_their_distances_do():
    table = five_items(400, 1)
    omega = ordered_reliability(table).omega.value
    assert ordered_reliability(10 * table - 3).omega.value == pytest.approx(omega, abs=1e-12)
    stretched = np.array([0.0, 1, 2, 3, 9])[table.astype(int)]
    assert ordered_reliability(stretched).omega.value < omega - 0.01


def test_omega_of_the_score_is_the_squared_correlation_of_score_and_true_score():
    # the share of the variance of the sum that the factor explains: correlate two sums of answers
    # with the same factor and other errors
    weights, draw = np.array([0.4, 0.7, 0.8, 0.5, 0.65]), np.random.default_rng(2).normal
    factor = draw(size=(200_000, 1))
    sums = []
    for _ in range(2):
        latent = weights * factor + np.sqrt(1 - weights**2) * draw(size=(200_000, 5))
        table = np.searchsorted([-1.2, -0.2, 0.6, 1.5], latent).astype(float)
        sums.append(table.sum(axis=1))
    parallel = np.corrcoef(*sums)[0, 1]
    assert ordered_reliability(table).omega.value == pytest.approx(parallel, abs=0.004)


def test_intervals_are_those_of_repeated_samples():
    results = [ordered_reliability(five_items(300, seed)) for seed in range(120)]
    for name in ("omega", "alpha"):
        estimates = [getattr(result, name) for result in results]
        spread = np.std([estimate.value for estimate in estimates], ddof=1)
        half = np.mean([estimate.high - estimate.low for estimate in estimates]) / 2
        assert half / 1.96 == pytest.approx(spread, rel=0.15)


def test_few_rows_have_a_value_without_an_interval():
    omega = ordered_reliability(five_items(199, 3)).omega
    assert omega.defined
    assert math.isnan(omega.low)
    assert any("under 200 rows" in problem for problem in omega.problems)


def test_rows_with_gaps_are_used_pairwise():
    table = five_items(400, 4)
    table[:100, 0] = np.nan
    assert ordered_reliability(table).omega.n == 300
    assert ordered_reliability(table, missing="fiml").omega.n == 400


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (five_items(300, 5)[:, :2], "omega needs three"),
        (np.random.default_rng(1).normal(size=(300, 4)), "different scores"),
        (np.ones((30, 4)), "no item varies"),
    ],
)
def test_what_is_undefined_says_why(table, reason):
    omega = ordered_reliability(table).omega
    assert math.isnan(omega.value)
    assert any(reason in problem for problem in omega.problems)
