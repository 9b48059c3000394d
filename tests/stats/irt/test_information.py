from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.irt.item_response import (
    ResponseItem,
    item_information,
    item_response,
    local_reliability,
    option_curves,
    option_probabilities,
    scale_information,
    standard_error,
    trait_reliability,
)
from tests.stats.simulated_answers import simulated

TRAIT = np.linspace(-4, 4, 81)


def item(slope, thresholds, model="graded"):
    cuts = tuple(map(float, thresholds))
    logits = -slope * np.array(cuts)
    intercepts = logits if model == "graded" else logits.cumsum()
    options = tuple(map(float, range(len(cuts) + 1)))
    return ResponseItem("i", options, 100, (slope,), tuple(intercepts), cuts, model=model)


@given(
    st.floats(-3, 3).filter(lambda slope: abs(slope) > 0.05),
    st.lists(st.floats(-3, 3), min_size=1, max_size=5, unique_by=lambda cut: round(cut, 2)),
)
def test_chances_of_the_options_sum_to_one(slope, cuts):
    # intercepts fall from option to option, whichever way the item is keyed
    chances = option_probabilities(item(slope, sorted(cuts, reverse=slope < 0)), TRAIT)
    assert chances.shape == (81, len(cuts) + 1)
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-12)


def test_chances_at_a_threshold_by_hand():
    # at the middle threshold, half of the answers lie above; one unit away, expit(2) do
    chances = option_probabilities(item(2.0, (-1, 0, 1)), np.array([0.0]))[0]
    far = 1 / (1 + np.exp(2))
    assert chances == pytest.approx([far, 0.5 - far, 0.5 - far, far])


@pytest.mark.parametrize("model", ["graded", "generalized_partial_credit"])
def test_curves_from_reported_parameters_are_the_chances_of_the_options(model):
    cuts = (-1.3, 0.2, 0.9)
    curves = option_curves(model, (1.7,), cuts, TRAIT)
    wanted = option_probabilities(item(1.7, cuts, model), TRAIT)
    np.testing.assert_allclose(curves, wanted, atol=1e-14)


def test_neighboring_options_of_partial_credit_are_even_at_their_step_and_nominal_ones_by_hand():
    even = option_probabilities(item(1.2, (0.5, -0.3), "partial_credit"), np.array([0.5, -0.3]))
    assert even[0, 0] == pytest.approx(even[0, 1])
    assert even[1, 1] == pytest.approx(even[1, 2])
    # odds of 1 to exp(1) to exp(-1) at a trait of 0.5
    odds = np.exp([0, 1, -1])
    curves = option_curves("nominal", (1.0, -2.0), (0.5, 0.0), np.array([0.5]))
    assert curves[0] == pytest.approx(odds / odds.sum())


def test_error_and_reliability_of_an_information_by_hand():
    information = np.array([0.0, 4, np.nan])
    np.testing.assert_array_equal(standard_error(information), [np.inf, 0.5, np.nan])
    np.testing.assert_array_equal(local_reliability(information), [0, 0.8, np.nan])


def test_information_of_two_options_is_the_logistic_one():
    chance = 1 / (1 + np.exp(-1.7 * (TRAIT - 0.4)))
    ours = item_information(item(1.7, (0.4,)), TRAIT)
    np.testing.assert_allclose(ours, 1.7**2 * chance * (1 - chance), rtol=1e-10)


NOMINAL = ResponseItem("i", (0, 1, 2), 9, (1.2, -0.4), (0.3, -1.0), model="nominal")


@pytest.mark.parametrize(
    "of_model",
    [item(1.4, (-1.2, 0.1, 0.5, 2)), item(-1.4, (1, 0.1, 0.5), "partial_credit"), NOMINAL],
)
def test_information_is_the_squared_slope_of_each_chance_over_that_chance(of_model):
    slope = (
        option_probabilities(of_model, TRAIT + 1e-5) - option_probabilities(of_model, TRAIT - 1e-5)
    ) / 2e-5
    expected = (slope**2 / option_probabilities(of_model, TRAIT)).sum(axis=1)
    np.testing.assert_allclose(item_information(of_model, TRAIT), expected, rtol=1e-6)


def test_splitting_an_option_in_two_never_loses_information():
    few, many = item(1.4, (-1, 1)), item(1.4, (-1, 0, 1))
    assert (item_information(many, TRAIT) >= item_information(few, TRAIT)).all()


def test_information_of_a_scale_is_the_sum_over_its_items():
    items = [item(1.0, (0,)), item(2.0, (-1, 1))]
    both = item_information(items[0], TRAIT) + item_information(items[1], TRAIT)
    np.testing.assert_allclose(scale_information(items, TRAIT), both)
    assert (scale_information([], TRAIT) == 0).all()


def test_reliability_is_the_squared_correlation_of_scores_with_the_trait():
    true = simulated(30, n=3000, p=10)
    fit = item_response(true.answers, true.names)
    reliability = trait_reliability(fit)
    squared = np.corrcoef(fit.scores, true.trait)[0, 1] ** 2
    assert reliability.marginal == pytest.approx(squared, abs=0.02)
    assert reliability.empirical == pytest.approx(squared, abs=0.02)


def test_gaps_lower_the_empirical_reliability_and_not_the_marginal_one():
    true = simulated(31, n=1500, p=10, missing=0.6)
    reliability = trait_reliability(item_response(true.answers, true.names))
    assert reliability.empirical < reliability.marginal - 0.03


def test_a_fit_without_convergence_has_no_reliability():
    true = simulated(32, n=100, p=4)
    fit = replace(item_response(true.answers, true.names), converged=False)
    reliability = trait_reliability(fit)
    assert np.isnan([reliability.marginal, reliability.empirical]).all()
    assert "did not converge" in reliability.problems[0]
