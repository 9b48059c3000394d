from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from core.stats.irt.item_response import item_response, option_probabilities
from core.stats.irt.response_fit import item_fit, person_fit
from core.stats.irt.response_models import MODELS
from tests.stats.simulated_answers import drawn, simulated

GOLDEN = Path(__file__).parents[1] / "golden"
MIRT = json.loads((GOLDEN / "irt_mirt.json").read_text())
"""Of mirt 1.2.0 for Python and, as `own`, of numpy by the same hand, before this was written."""


@pytest.fixture(scope="module")
def two_options():
    answers = pd.read_csv(GOLDEN / "irt_2pl_data.csv")
    return item_response(answers.to_numpy(float), list(answers), n_points=241)


def fit_of(model="graded", seed=2, **more):
    true = simulated(seed, **({"n": 400, "p": 5, "options": 3} | more))
    return item_response(true.answers, true.names, model=model)


def test_item_fit_of_two_options_agrees_with_mirt(two_options):
    theirs = MIRT["S_X2_package"]["data"]
    for item, of_sums, (value, df, p) in zip(
        item_fit(two_options), MIRT["S_X2_own"], theirs, strict=True
    ):
        assert item.s_x2 == pytest.approx(of_sums["S_X2"], abs=1e-4)
        assert item.s_x2 == pytest.approx(value, abs=1e-4)
        assert item.df == of_sums["df"] == df
        assert item.p == pytest.approx(p, abs=1e-5)
        assert item.n == 1000


def test_item_fit_of_several_options_agrees_with_mirt():
    """mirt 1.2.0: fit_mirt GPCM, 61 points, tol 1e-9; itemfit with min_expected 1, 61 points."""
    answers = pd.read_csv(GOLDEN / "irt_gpcm_data.csv")
    fit = item_response(answers.to_numpy(float), list(answers), model="generalized_partial_credit")
    theirs = [25.652883, 29.937165, 23.682746, 23.806745, 27.716111, 28.385365]
    assert [item.s_x2 for item in item_fit(fit)] == pytest.approx(theirs, abs=5e-4)
    assert [item.df for item in item_fit(fit)] == [30, 26, 29, 28, 27, 32]


@pytest.mark.parametrize("model", MODELS)
def test_item_fit_by_counting_all_patterns(model):
    """Expected shares by summing the chance of every pattern of answers instead of a recursion."""
    fit = fit_of(model, n=30_000, p=4)
    chances = [option_probabilities(item, fit.grid.points) for item in fit.items]
    joint = np.zeros((4, 9, 3))
    for pattern in product(range(3), repeat=4):
        of_items = np.prod([c[:, k] for c, k in zip(chances, pattern, strict=True)], axis=0)
        for item, option in enumerate(pattern):
            joint[item, sum(pattern), option] += of_items @ fit.grid.weights
    shares = joint / joint.sum(axis=2, keepdims=True)
    sums = fit.codes.sum(axis=1)
    for item, of_item in enumerate(item_fit(fit)):
        observed = np.array(
            [[((sums == s) & (fit.codes[:, item] == k)).sum() for k in range(3)] for s in range(9)]
        )
        expected = observed.sum(axis=1, keepdims=True) * shares[item]
        # sums of 1 and 7, at which an option is impossible, go to 2 and 6
        for table in (observed, expected):
            table[2] += table[1]
            table[6] += table[7]
        observed, expected = observed[2:7], expected[2:7]
        assert (expected >= 1).all()
        assert of_item.s_x2 == pytest.approx(((observed - expected) ** 2 / expected).sum())
        n_parameters = {"partial_credit": 2, "nominal": 4}.get(model, 3)
        assert of_item.df == 5 * 2 - n_parameters
        assert of_item.p == pytest.approx(chi2.sf(of_item.s_x2, of_item.df))
        excess = max(0, of_item.s_x2 - of_item.df)
        assert of_item.rmsea == pytest.approx(np.sqrt(excess / (of_item.df * 29_999)))


def test_an_item_of_another_shape_does_not_fit_and_adjusted_p_says_so():
    """Chances of the third item fall again above the middle of the trait."""
    rng = np.random.default_rng(3)
    trait = rng.standard_normal((2000, 1))
    answers = drawn(rng, 1.5 * trait + np.zeros(8), np.zeros((8, 1)))
    answers[:, 2] = rng.random(2000) < np.exp(-(trait[:, 0] ** 2))
    tests = item_fit(item_response(answers, list("abcdefgh")))
    assert tests[2].p_adjusted < 0.001
    assert min(tests, key=lambda test: test.p) is tests[2]
    by_share = item_fit(item_response(answers, list("abcdefgh")), "benjamini-hochberg")
    assert all(a.p_adjusted >= b.p_adjusted for a, b in zip(tests, by_share, strict=True))


def test_item_fit_is_undefined_with_the_reason():
    fit = fit_of()
    (stopped, *_) = item_fit(replace(fit, converged=False))
    assert np.isnan([stopped.s_x2, stopped.p, stopped.p_adjusted, stopped.rmsea]).all()
    assert "converge" in stopped.problem
    gaps = fit.codes.copy()
    gaps[np.arange(len(gaps)), np.arange(len(gaps)) % 5] = -1
    (incomplete, *_) = item_fit(replace(fit, codes=gaps))
    assert (incomplete.n, incomplete.problem) == (0, "no row answered all items")
    few = np.full_like(fit.codes, -1)
    few[:8] = fit.codes[:8]
    (thin, *_) = item_fit(replace(fit, codes=few))
    assert (thin.n, thin.df) == (8, 0)
    assert "too few sum scores" in thin.problem
    few[:119] = fit.codes[:119]
    (below, *_) = item_fit(replace(fit, codes=few))
    assert (below.df > 0, below.problem) == (True, "p needs 120 rows with all items")
    assert np.isnan([below.p, below.p_adjusted]).all()
    few[119] = fit.codes[119]
    assert np.isfinite(item_fit(replace(fit, codes=few))[0].p_adjusted)


def test_item_fit_takes_complete_rows_only():
    fit = fit_of()
    gaps = fit.codes.copy()
    gaps[::4, 0] = -1
    complete = np.arange(len(gaps)) % 4 != 0
    ours = item_fit(replace(fit, codes=gaps))
    assert ours == item_fit(replace(fit, codes=fit.codes[complete]))
    assert ours[0].n == complete.sum()


def test_person_fit_agrees_with_mirt(two_options):
    lz = person_fit(two_options, seed=1).lz
    assert lz[:5] == pytest.approx(MIRT["lz"]["own_first5"], abs=1e-5)
    assert lz.mean() == pytest.approx(MIRT["lz"]["mean"], abs=1e-4)
    assert lz.std() == pytest.approx(MIRT["lz"]["sd"], abs=1e-4)
    assert (lz < -1.645).mean() == MIRT["lz"]["share_below_-1.645_in_fitting_data"]


def test_person_fit_by_hand():
    """Chances of each option at the score, weighed by hand; the least likely answer is named."""
    fit = fit_of("nominal")
    result = person_fit(fit, seed=1)
    for row in (0, 17):
        chances = [option_probabilities(i, fit.scores[[row]])[0] for i in fit.items]
        logs = [np.log(c[k]) for c, k in zip(chances, fit.codes[row], strict=True)]
        mean = sum((c * np.log(c)).sum() for c in chances)
        variance = sum((c * np.log(c) ** 2).sum() - (c * np.log(c)).sum() ** 2 for c in chances)
        assert result.lz[row] == pytest.approx((sum(logs) - mean) / np.sqrt(variance))
        assert result.unlikely[row] == np.argmin(logs)


def test_p_of_rows_is_small_as_often_as_it_says_where_lz_is_not():
    """Ten items of five options: chance alone gives about 5 % of the rows a p below .05."""
    fit = fit_of(seed=4, n=3000, p=10, options=5)
    result = person_fit(fit, seed=2)
    assert (result.p < 0.05).mean() == pytest.approx(0.05, abs=0.015)
    assert (result.p < 0.5).mean() == pytest.approx(0.5, abs=0.03)
    assert result.lz.mean() > 0.02
    np.testing.assert_array_equal(result.p, person_fit(fit, seed=2).p)


def test_rows_that_answer_at_random_have_small_p():
    true = simulated(5, n=600, p=15, options=5)
    answers = true.answers.copy()
    answers[:30] = np.random.default_rng(6).integers(0, 5, (30, 15))
    p = person_fit(item_response(answers, true.names), seed=1).p
    assert (p[:30] < 0.05).mean() > 0.8
    assert (p[30:] < 0.05).mean() < 0.07


def test_rows_of_few_answers_have_no_p_and_rows_without_answers_nothing():
    true = simulated(6, n=200, p=6)
    answers = true.answers.copy()
    answers[0], answers[1, :2] = np.nan, np.nan
    result = person_fit(item_response(answers, true.names), seed=1)
    assert np.isnan([result.lz[0], result.p[0]]).all()
    assert result.unlikely[0] == -1
    assert np.isfinite(result.lz[1])
    assert np.isnan(result.p[1])
    assert result.unlikely[1] >= 2
    assert np.isfinite(result.p[2:]).all()
    stopped = replace(item_response(answers, true.names), converged=False)
    assert np.isnan(person_fit(stopped, seed=1).lz).all()
