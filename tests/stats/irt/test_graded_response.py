from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import NotEnoughData
from core.stats.irt.graded_response import (
    expectation,
    graded_response,
    observed_information,
    option_indicators,
    trait_grid,
)
from core.stats.irt.ordered_regression import category_terms
from core.stats.ordered.answer_options import numbered_answers
from tests.examples import few_examples
from tests.stats.simulated_answers import drawn, simulated

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def thousand_by_twenty():
    true = simulated(20)
    return true, graded_response(true.answers, true.names)


def slopes(fit):
    return np.array([item.discrimination for item in fit.items])


def thresholds(fit):
    return np.array([item.thresholds for item in fit.items])


def test_it_agrees_with_ltm_in_r():
    theirs = json.loads((GOLDEN / "grm_ltm.json").read_text())["likert22_6items"]
    names = [item["item"] for item in theirs["items"]]
    answers = pd.read_csv(GOLDEN / "likert22.csv")[names].dropna().to_numpy()
    fit = graded_response(answers, names)
    assert fit.converged
    assert fit.n_rows == theirs["n"]
    assert fit.log_likelihood == pytest.approx(theirs["logLik"], abs=1e-4)
    for item, theirs_of_item in zip(fit.items, theirs["items"], strict=True):
        assert item.discrimination == pytest.approx(theirs_of_item["a"], abs=2e-4)
        assert item.thresholds == pytest.approx(theirs_of_item["b"], abs=2e-4)


def test_more_quadrature_points_change_nothing_that_is_reported():
    true = simulated(3, n=300, p=8)
    few, many = (graded_response(true.answers, true.names, n_points=q) for q in (61, 241))
    assert few.log_likelihood == pytest.approx(many.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(slopes(few), slopes(many), atol=1e-4)


def test_a_thousand_rows_give_back_the_parameters_they_were_drawn_from(thousand_by_twenty):
    true, fit = thousand_by_twenty
    assert fit.converged
    assert fit.problems == ()
    off = (slopes(fit) - true.slopes, (thresholds(fit) - true.thresholds).ravel())
    assert np.sqrt(np.mean(off[0] ** 2)) < 0.12
    assert np.sqrt(np.mean(off[1] ** 2)) < 0.10
    assert np.corrcoef(fit.scores, true.trait)[0, 1] > 0.95


def test_scores_are_as_uncertain_as_they_say(thousand_by_twenty):
    true, fit = thousand_by_twenty
    z = (fit.scores - true.trait) / fit.scores_se
    assert np.std(z) == pytest.approx(1, abs=0.07)


def test_missing_answers_widen_errors_and_bias_nothing():
    true = simulated(21, missing=0.3)
    fit = graded_response(true.answers, true.names)
    assert fit.converged
    z = (slopes(fit) - true.slopes) / [item.discrimination_se for item in fit.items]
    assert abs(z.mean()) < 0.8
    assert np.abs(z).max() < 3.5
    assert fit.items[0].n_answers == np.isfinite(true.answers[:, 0]).sum()


def test_standard_errors_are_the_spread_over_repeated_samples():
    slope, cut = np.array([1.0, 1.5, 2.0, 1.2, 0.9]), np.array([[-1.0, 0.0, 1.0]])
    estimates, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        trait = rng.standard_normal((400, 1))
        fit = graded_response(drawn(rng, slope * trait, -slope[:, None] * cut), list("abcde"))
        estimates.append([(item.discrimination, *item.thresholds) for item in fit.items])
        errors.append([(item.discrimination_se, *item.thresholds_se) for item in fit.items])
    ratio = np.std(estimates, axis=0) / np.mean(errors, axis=0)
    assert ratio.mean() == pytest.approx(1, abs=0.08)
    assert np.abs(ratio - 1).max() < 0.35


def test_the_information_is_the_curvature_of_the_likelihood():
    true = simulated(4, n=60, p=3, options=3)
    answers = true.answers.copy()
    answers[:, 2] = answers[:, 2] > 0
    answers[::7, 1] = np.nan
    codes = np.column_stack([numbered_answers(column).codes for column in answers.T])
    chosen, grid = option_indicators(codes, 3), trait_grid(61)
    at = np.array([[1.2, 0.8, -0.5], [0.9, 1.1, -1.0], [-1.5, 0.2, -np.inf]])
    free = np.isfinite(at)

    def gradient(values):
        moved = at.copy()
        moved[free] = values
        return expectation(chosen, moved, grid).gradient[free]

    def likelihood(values):
        moved = at.copy()
        moved[free] = values
        return expectation(chosen, moved, grid).log_likelihood

    step = 1e-5 * np.eye(free.sum())
    slope = [(likelihood(at[free] + e) - likelihood(at[free] - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(gradient(at[free]), slope, atol=1e-5)
    curvature = [(gradient(at[free] - e) - gradient(at[free] + e)) / 2e-5 for e in step]
    exact = observed_information(codes, at, expectation(chosen, at, grid), grid)
    np.testing.assert_allclose(exact, curvature, atol=1e-5)


@given(st.floats(-8, 8), st.floats(0.05, 8))
def test_the_chance_between_two_logits_is_the_plain_difference(upper, gap):
    terms = category_terms(np.array([upper]), np.array([upper - gap]))
    plain = 1 / (1 + np.exp(-upper)) - 1 / (1 + np.exp(gap - upper))
    assert np.exp(terms.log_probability[0]) == pytest.approx(plain, rel=1e-9)


def test_the_chance_keeps_its_digits_far_out():
    terms = category_terms(np.array([-700.0, 60.0]), np.array([-701.0, 59.0]))
    assert terms.log_probability[0] == pytest.approx(-700 + np.log1p(-np.exp(-1)))
    assert terms.log_probability[1] == pytest.approx(-59 + np.log1p(-np.exp(-1)))


def test_aic_and_bic_count_every_discrimination_and_threshold(thousand_by_twenty):
    _, fit = thousand_by_twenty
    assert fit.n_parameters == 20 * 5
    assert fit.aic == pytest.approx(200 - 2 * fit.log_likelihood)
    assert fit.bic == pytest.approx(100 * np.log(1000) - 2 * fit.log_likelihood)


def test_items_may_have_different_numbers_of_options():
    true = simulated(5, n=800, p=6)
    answers = true.answers.copy()
    answers[:, 0] = answers[:, 0] >= 2
    answers[:, 1] = np.minimum(answers[:, 1], 2)
    fit = graded_response(answers, true.names)
    assert fit.converged
    assert [len(item.thresholds) for item in fit.items] == [1, 2, 4, 4, 4, 4]
    # merging options moves no threshold that is left
    assert fit.items[0].thresholds[0] == pytest.approx(true.thresholds[0, 1], abs=0.2)
    assert fit.items[1].thresholds == pytest.approx(true.thresholds[1, :2], abs=0.2)


def test_an_option_nobody_chose_is_closed_up_and_named():
    true = simulated(6, n=300, p=4)
    spread = true.answers.copy()
    spread[:, 1] = np.array([0, 2, 3, 4, 6.0])[true.answers[:, 1].astype(int)]
    fit = graded_response(spread, true.names, offered=[range(5), range(8), range(5), range(5)])
    plain = graded_response(true.answers, true.names)
    assert fit.log_likelihood == plain.log_likelihood
    assert fit.items[1].options == (0, 2, 3, 4, 6)
    assert fit.problems == ("Options that nobody chose are closed up: i2 (1, 5 and 7).",)


def test_a_score_that_no_option_has_is_refused():
    true = simulated(6, n=30, p=3)
    with pytest.raises(NotEnoughData, match="none of its options"):
        graded_response(true.answers, true.names, offered=[[0, 1, 2, 3]] * 3)


def test_an_item_keyed_the_wrong_way_is_the_mirror_image_and_is_named():
    true = simulated(7, n=500, p=6)
    turned = true.answers.copy()
    turned[:, 2] = 4 - turned[:, 2]
    right, wrong = graded_response(true.answers, true.names), graded_response(turned, true.names)
    assert wrong.log_likelihood == pytest.approx(right.log_likelihood, abs=1e-6)
    assert wrong.items[2].discrimination == pytest.approx(-right.items[2].discrimination, abs=1e-4)
    np.testing.assert_allclose(
        wrong.items[2].thresholds[::-1], right.items[2].thresholds, atol=1e-4
    )
    np.testing.assert_allclose(wrong.scores, right.scores, atol=1e-4)
    assert any("check their keying" in problem and "i3" in problem for problem in wrong.problems)


@few_examples
@given(st.integers(0, 10_000))
def test_the_order_of_rows_and_items_and_the_unit_of_scores_do_not_matter(seed):
    true = simulated(8, n=150, p=5, options=4)
    rng = np.random.default_rng(seed)
    rows, items = rng.permutation(150), rng.permutation(5)
    fit = graded_response(true.answers, true.names)
    mixed = graded_response(
        10 + 5 * true.answers[np.ix_(rows, items)], [true.names[item] for item in items]
    )
    assert mixed.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(slopes(mixed), slopes(fit)[items], atol=1e-5)
    np.testing.assert_allclose(mixed.scores, fit.scores[rows], atol=1e-5)


def test_unrelated_items_are_not_made_to_measure_anything():
    answers = np.random.default_rng(9).integers(0, 4, (2000, 6)).astype(float)
    fit = graded_response(answers, list("abcdef"))
    assert np.abs(slopes(fit)).min() < 0.2
    assert np.var(fit.scores) < 0.6


@pytest.mark.parametrize("seed", [4, 25, 31, 53])
def test_the_trait_points_the_way_most_discrimination_does(seed):
    # seeds at which the search ends on the side opposite to where it began
    answers = np.random.default_rng(seed).integers(0, 3, (150, 5)).astype(float)
    fit = graded_response(answers, list("abcde"))
    assert fit.converged
    assert slopes(fit).sum() > 0
    keyed = slopes(fit) @ (answers - answers.mean(axis=0)).T
    assert np.corrcoef(fit.scores, keyed)[0, 1] > 0.5


def test_items_and_rows_that_say_nothing_are_left_out_in_words():
    true = simulated(10, n=200, p=6)
    answers = true.answers.copy()
    answers[:, 0] = np.nan
    answers[:, 1] = 3
    answers[4] = np.nan
    fit = graded_response(answers, true.names)
    assert [item.name for item in fit.items] == ["i3", "i4", "i5", "i6"]
    assert fit.scores.shape == (200,)
    assert np.flatnonzero(np.isnan(fit.scores)).tolist() == [4]
    assert np.isnan(fit.scores_se[4])
    said = " ".join(fit.problems)
    assert "nobody answered: i1" in said
    assert "all answers are the same: i2" in said
    assert "1 of 200 rows" in said


@pytest.mark.parametrize(
    "answers",
    [
        np.full((20, 4), np.nan),
        np.full((20, 4), 3.0),
        np.array([[1.0, 2, 3, 4]]),
        np.zeros((0, 4)),
        np.column_stack([np.arange(20) % 3, np.arange(20) % 4, np.ones(20), np.ones(20)]),
    ],
    ids=["all missing", "constant", "one row", "no rows", "two items that vary"],
)
def test_answers_that_determine_nothing_are_refused_with_a_remedy(answers):
    with pytest.raises(NotEnoughData) as refusal:
        graded_response(answers, list("abcd"))
    assert refusal.value.remedy


def test_one_item_is_refused():
    with pytest.raises(NotEnoughData):
        graded_response(np.arange(20.0)[:, None] % 3, ["a"])


def test_names_that_do_not_fit_the_answers_are_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="for 2 items"):
        graded_response(np.ones((4, 3)), ["a", "b"])


@pytest.mark.parametrize("case", ["repeated item", "three times the same", "perfect order"])
def test_an_item_that_repeats_another_is_said_not_to_converge(case):
    answers = simulated(11, n=200, p=4).answers
    if case == "repeated item":
        answers = np.column_stack([answers, answers[:, 0]])
    elif case == "three times the same":
        answers = np.column_stack([answers[:, 0]] * 3)
    else:
        answers = (np.linspace(-2, 2, 100)[:, None] > np.linspace(-1.5, 1.5, 6)).astype(float)
    fit = graded_response(answers, [f"i{number}" for number in range(answers.shape[1])])
    assert not fit.converged
    assert any("Discrimination above 6" in problem for problem in fit.problems)
    assert all(np.isnan(item.discrimination_se) for item in fit.items)


def test_more_items_than_rows_is_computed_with_a_warning_in_words():
    answers = np.random.default_rng(12).integers(0, 4, (10, 15)).astype(float)
    fit = graded_response(answers, [f"i{number}" for number in range(15)])
    assert any("the estimates are not stable" in problem for problem in fit.problems)
    assert np.isfinite(fit.log_likelihood)


def test_a_search_cut_short_says_so():
    true = simulated(13, n=200, p=5)
    fit = graded_response(true.answers, true.names, max_iterations=2)
    assert not fit.converged
    assert "No maximum was reached in 2 steps." in fit.problems
    assert np.isnan(fit.items[0].thresholds_se).all()


def test_a_grid_too_coarse_for_a_long_scale_is_said():
    true = simulated(14, n=300, p=20)
    fit = graded_response(true.answers, true.names, n_points=11)
    assert any("use more points" in problem for problem in fit.problems)
