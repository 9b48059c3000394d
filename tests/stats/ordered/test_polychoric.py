"""Polychoric correlations: against lavaan, by hand, by property, by recovery, on unusable data."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from core.errors import NotEnoughData
from core.stats.ordered.polychoric import (
    FAR,
    bivariate_normal,
    cell_probabilities,
    ordered_moments,
    polychoric,
)
from tests.examples import few_examples

GOLDEN = Path(__file__).parents[1] / "golden"
LAVAAN = json.loads((GOLDEN / "likert22_lavaan.json").read_text())
LIKERT = pd.read_csv(GOLDEN / "likert22.csv").iloc[:, :21]


def two_by_two(a, b, c, d):
    """Rows of the table [[a, b], [c, d]]."""
    cells = [[0, 0]] * a + [[0, 1]] * b + [[1, 0]] * c + [[1, 1]] * d
    return np.array(cells, dtype=float)


def simulated(rng, n, correlations, cuts):
    """Ordered scores of normal variables with known correlations and thresholds."""
    hidden = rng.multivariate_normal(np.zeros(len(cuts)), correlations, size=n)
    columns = zip(hidden.T, cuts, strict=True)
    return np.column_stack([np.digitize(column, cut) for column, cut in columns]).astype(float)


@pytest.mark.parametrize("r", [-0.997, -0.9, -0.3, 0.0, 0.5, 0.9, 0.98, 0.997])
def test_bivariate_normal_probability_equals_numerical_integration(r):
    rng = np.random.default_rng(5)
    for h, k in rng.normal(size=(6, 2)):
        rest = math.sqrt(1 - r * r)
        expected = quad(
            lambda x, k=k, rest=rest: norm.pdf(x) * norm.cdf((k - r * x) / rest),
            -10,
            h,
            epsabs=1e-12,
            limit=500,
            points=[k / r] if r and -10 < k / r < h else None,
        )[0]
        found = bivariate_normal(np.array([[h]]), np.array([[k]]), np.array([r]))[0, 0, 0]
        assert found == pytest.approx(expected, abs=1e-10)


def test_cells_of_a_table_sum_to_one_and_padding_has_no_probability():
    cuts = np.array([[-1.0, 0.2, FAR]])
    cells = cell_probabilities(cuts, cuts, np.array([0.6]))
    assert cells.sum() == pytest.approx(1, abs=1e-14)
    assert cells[0, 3].sum() == pytest.approx(0, abs=1e-14)


def test_listwise_correlations_and_thresholds_equal_lavaan():
    found, wanted = polychoric(LIKERT.to_numpy(float), list(LIKERT)), LAVAAN["WLSMV_sampstat"]
    assert found.answers.n == 243
    np.testing.assert_allclose(found.correlations, wanted["polychoric"], rtol=0, atol=1e-6)
    thresholds = np.concatenate(found.thresholds)
    np.testing.assert_allclose(thresholds, list(wanted["thresholds"].values()), rtol=0, atol=1e-12)


def test_sampling_variances_equal_lavaan():
    found = ordered_moments(polychoric(LIKERT.to_numpy(float), list(LIKERT))).covariance()
    wanted = LAVAAN["WLSMV_sampstat"]["diag_gamma"]
    np.testing.assert_allclose(np.diag(found), wanted, rtol=1e-6)


def test_pairwise_thresholds_and_their_errors_equal_lavaan():
    found = polychoric(LIKERT.to_numpy(float), list(LIKERT), missing="pairwise")
    rows = [row for row in LAVAAN["WLSMV_pairwise"]["parameters"] if row["op"] == "|"]
    thresholds = np.concatenate(found.thresholds)
    np.testing.assert_allclose(thresholds, [row["est"] for row in rows], rtol=0, atol=1e-12)
    variances = np.diag(ordered_moments(found).covariance())[: len(thresholds)]
    errors = np.sqrt(variances / (found.answers.n - 1))
    np.testing.assert_allclose(errors, [row["se"] for row in rows], rtol=1e-10)


def test_even_two_by_two_table_worked_by_hand():
    # thresholds 0, and P(both low) = 1/4 + asin(r) / (2 pi) = .4
    found = polychoric(two_by_two(40, 10, 10, 40), ["a", "b"])
    assert found.thresholds[0][0] == pytest.approx(0, abs=1e-15)
    assert found.correlations[0, 1] == pytest.approx(math.sin(2 * math.pi * 0.15), abs=1e-12)


def test_its_standard_error_worked_by_hand():
    # at thresholds 0 the correlation does not move with them, so its variance is that of
    # sin(2 pi (p - 1/4)) with p the share of agreement over 2: (pi cos)^2 p' (1 - p') / n
    found = ordered_moments(polychoric(two_by_two(40, 10, 10, 40), ["a", "b"]))
    variance = (math.pi * math.cos(2 * math.pi * 0.15)) ** 2 * 0.8 * 0.2
    assert (found.correlations[:, 0] ** 2).mean() == pytest.approx(variance, rel=1e-10)


def test_an_empty_cell_of_two_by_two_gets_half_an_answer():
    found = polychoric(two_by_two(20, 0, 10, 20), ["a", "b"])
    # lavCor of lavaan 0.6-14, which fits 19.5, .5, 10.5, 19.5; the counts stay as observed
    assert found.correlations[0, 1] == pytest.approx(0.908708558, abs=1e-6)
    np.testing.assert_array_equal(found.tables[0], [[20, 0], [10, 20]])
    assert any("1 of 4 cells" in problem for problem in found.problems)


def test_known_correlations_and_thresholds_are_recovered():
    correlations = np.array([[1, 0.7, -0.4], [0.7, 1, 0], [-0.4, 0, 1]])
    cuts = [[-1.5, -0.5, 0.8], [0.5, 1.0, 1.4, 2.0], [0.3]]
    scores = simulated(np.random.default_rng(11), 30_000, correlations, cuts)
    found = polychoric(scores, ["a", "b", "c"])
    assert np.abs(found.correlations - correlations).max() < 0.015
    for estimated, true in zip(found.thresholds, cuts, strict=True):
        assert np.abs(estimated - true).max() < 0.03
    moments = ordered_moments(found)
    errors = np.sqrt((moments.correlations**2).mean(axis=0) / len(scores))
    true = correlations[np.triu_indices(3, 1)]
    assert (np.abs(found.pair_correlations - true) < 3 * errors).all()


def test_standard_errors_equal_the_spread_over_samples():
    rng = np.random.default_rng(12)
    correlations = np.array([[1, 0.5, 0.3], [0.5, 1, 0.2], [0.3, 0.2, 1]])
    cuts = [[-1.0, 0.0, 1.0], [0.5, 1.2], [-0.3]]
    estimates, errors = [], []
    for _ in range(600):  # the spread itself is then known to 3 %; bands are four times that
        found = polychoric(simulated(rng, 400, correlations, cuts), ["a", "b", "c"])
        estimates.append(np.concatenate([*found.thresholds, found.pair_correlations]))
        errors.append(np.sqrt(np.diag(ordered_moments(found).covariance()) / 400))
    ratio = np.mean(errors, axis=0) / np.std(estimates, axis=0)
    assert ((ratio > 0.88) & (ratio < 1.12)).all()


@few_examples
@given(seed=st.integers(0, 10_000))
def test_only_the_order_of_the_options_counts(seed):
    rng = np.random.default_rng(seed)
    scores = simulated(rng, 120, [[1, 0.4], [0.4, 1]], [[-0.5, 0.5], [-1, 0, 1]])
    r = polychoric(scores, ["a", "b"]).correlations[0, 1]
    stretched = np.column_stack([scores[:, 0] ** 3 + 5, np.exp(scores[:, 1])])
    assert polychoric(stretched, ["a", "b"]).correlations[0, 1] == r
    shuffled = scores[rng.permutation(120)]
    assert polychoric(shuffled, ["a", "b"]).correlations[0, 1] == pytest.approx(r, abs=1e-12)
    swapped = polychoric(scores[:, ::-1], ["b", "a"])
    assert swapped.correlations[0, 1] == pytest.approx(r, abs=1e-9)
    turned = polychoric(scores * [1, -1], ["a", "b"])
    assert turned.correlations[0, 1] == pytest.approx(-r, abs=1e-9)


def test_pairwise_equals_listwise_without_gaps():
    scores = LIKERT.dropna().to_numpy(float)
    one = polychoric(scores, list(LIKERT))
    other = polychoric(scores, list(LIKERT), missing="pairwise")
    np.testing.assert_array_equal(one.correlations, other.correlations)


def test_three_answers_of_six_give_two_thresholds_and_are_named():
    rng = np.random.default_rng(3)
    scores = simulated(rng, 300, [[1, 0.5], [0.5, 1]], [[-1, -0.5, 0, 0.5, 1], [-0.5, 0.5]])
    scores[:, 1] += 2  # options 2, 3 and 4 of 0 to 5
    found = polychoric(scores, ["a", "b"], offered=[range(6), range(6)])
    assert [len(each) for each in found.thresholds] == [5, 2]
    assert found.answers.options[1] == (2, 3, 4)
    assert "Options that nobody chose are closed up: b (0, 1 and 5)." in found.problems


def test_empty_cells_are_counted():
    rng = np.random.default_rng(3)
    scores = simulated(rng, 40, [[1, 0.9], [0.9, 1]], [[-1, 0, 1], [-1, 0, 1]])
    table = pd.crosstab(scores[:, 0], scores[:, 1]).to_numpy()
    empty = int((table == 0).sum())
    assert empty > 0
    found = polychoric(scores, ["a", "b"])
    assert any(f"{empty} of 16 cells" in problem for problem in found.problems)


@pytest.mark.parametrize("sign", [1, -1])
def test_twins_are_at_the_bound_and_named(sign):
    a = np.random.default_rng(3).integers(0, 4, 100).astype(float)
    found = polychoric(np.column_stack([a, sign * a]), ["a", "b"])
    assert found.correlations[0, 1] == pytest.approx(sign * 0.9967, abs=1e-3)
    assert any("bound" in problem and "a with b" in problem for problem in found.problems)


def test_items_never_answered_together_have_no_correlation():
    scores = np.random.default_rng(3).integers(0, 4, (100, 3)).astype(float)
    scores[:50, 0] = np.nan
    scores[50:, 1] = np.nan
    found = polychoric(scores, ["a", "b", "c"], missing="pairwise")
    assert math.isnan(found.correlations[0, 1])
    assert math.isfinite(found.correlations[0, 2])
    assert any("a with b" in problem for problem in found.problems)


def test_contradicting_pairs_are_reported():
    a, b = np.random.default_rng(3).integers(0, 4, (2, 200)).astype(float)
    found = polychoric(np.column_stack([a, b, a + b]), ["a", "b", "c"])
    assert any("not positive definite" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((30, 2)), "No item varies"),
        (np.full((30, 2), np.nan), "No item varies"),
        (np.array([[1.0, 2.0]]), "No item varies"),
        (np.column_stack([np.arange(30) % 3, np.ones(30)]), "Only a varies"),
        (np.column_stack([np.arange(30) % 3, np.arange(30)]), "30 different scores"),
        (np.array([[1, np.nan], [np.nan, 2], [2, np.nan], [np.nan, 3]]), "No row holds"),
    ],
    ids=["constant", "missing", "one row", "one item", "continuous", "no shared row"],
)
def test_what_has_no_correlation_is_one_clear_message(scores, message):
    with pytest.raises(NotEnoughData, match=message):
        polychoric(scores, ["a", "b"])
