from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.discrete.discrete_model import Logit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from core.stats.irt.ordered_regression import proportional_odds
from tests.examples import few_examples


def example(seed=0, n=400):
    rng = np.random.default_rng(seed)
    score, group = rng.normal(10, 3, n), rng.integers(0, 2, n)
    predictors = np.column_stack([score, group, score * group])
    reached = 0.3 * score + 0.5 * group + rng.logistic(size=n)
    return (reached[:, None] > [1, 2, 3, 4.5]).sum(axis=1), predictors


def test_it_agrees_with_statsmodels():
    codes, predictors = example()
    # statsmodels is exact only near the maximum: give it a predictor of mean 0
    predictors = predictors - predictors.mean(axis=0)
    ours = proportional_odds(codes, predictors)
    theirs = OrderedModel(codes, predictors, distr="logit").fit(
        method="newton", disp=False, maxiter=200
    )
    assert ours.converged
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-8)
    np.testing.assert_allclose(ours.coefficients, theirs.params[:3], rtol=1e-5)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse[:3], rtol=1e-3)
    cuts = theirs.model.transform_threshold_params(theirs.params)[1:-1]
    np.testing.assert_allclose(ours.thresholds, -cuts, rtol=1e-5)


def test_with_two_options_it_is_logistic_regression():
    codes, predictors = example(1)
    codes = (codes > 2).astype(int)
    ours = proportional_odds(codes, predictors)
    theirs = Logit(codes, np.column_stack([np.ones(400), predictors])).fit(disp=False, tol=1e-12)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-8)
    np.testing.assert_allclose([*ours.thresholds, *ours.coefficients], theirs.params, rtol=1e-5)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse[1:], rtol=1e-5)


def test_a_fourfold_table_by_hand():
    # 30 of 40 against 20 of 60: odds 3 against 1/2
    group = np.repeat([1, 0], [40, 60])
    codes = np.concatenate([np.repeat([1, 0], [30, 10]), np.repeat([1, 0], [20, 40])])
    fit = proportional_odds(codes, group[:, None].astype(float))
    assert fit.coefficients[0] == pytest.approx(np.log(6))
    assert fit.standard_errors[0] == pytest.approx(np.sqrt(1 / 30 + 1 / 10 + 1 / 20 + 1 / 40))
    assert fit.thresholds[0] == pytest.approx(np.log(1 / 2))
    by_hand = 30 * np.log(3 / 4) + 10 * np.log(1 / 4) + 20 * np.log(1 / 3) + 40 * np.log(2 / 3)
    assert fit.log_likelihood == pytest.approx(by_hand)


def test_without_predictors_the_answers_have_their_own_frequencies():
    codes = np.repeat([0, 1, 2], [10, 30, 60])
    fit = proportional_odds(codes, np.zeros((100, 0)))
    by_hand = 10 * np.log(0.1) + 30 * np.log(0.3) + 60 * np.log(0.6)
    assert fit.log_likelihood == pytest.approx(by_hand)
    assert fit.thresholds == pytest.approx([np.log(9), np.log(1.5)])
    assert fit.converged


@few_examples
@given(st.floats(-50, 50), st.floats(0.01, 100))
def test_unit_and_origin_of_a_predictor_do_not_change_the_fit(origin, unit):
    codes, predictors = example(2, n=120)
    plain = proportional_odds(codes, predictors[:, :2])
    moved = proportional_odds(codes, predictors[:, :2] * [unit, 1] + [origin, 0])
    assert moved.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-8)
    assert moved.coefficients * [unit, 1] == pytest.approx(plain.coefficients, rel=1e-5)


def test_turning_the_answers_round_turns_the_coefficients_round():
    codes, predictors = example(3)
    plain, turned = proportional_odds(codes, predictors), proportional_odds(4 - codes, predictors)
    np.testing.assert_allclose(turned.coefficients, -plain.coefficients, rtol=1e-5)
    np.testing.assert_allclose(turned.standard_errors, plain.standard_errors, rtol=1e-5)


@pytest.mark.parametrize("whole", [True, False], ids=["wholly", "in part"])
def test_separation_is_said_and_has_no_finite_estimate(whole):
    group = np.repeat([0.0, 1.0], 20)[:, None]
    codes = np.repeat([0, 1], 20)
    limit = 0.0
    if not whole:
        codes[30:] = 0
        limit = 20 * np.log(0.5)
    fit = proportional_odds(codes, group)
    assert fit.separated
    assert not fit.converged
    assert np.isnan([*fit.coefficients, *fit.standard_errors, *fit.thresholds]).all()
    assert fit.log_likelihood == pytest.approx(limit, abs=1e-6)
    assert "separate" in fit.problems[0]


def test_a_strong_but_finite_effect_is_no_separation():
    group = np.repeat([0.0, 1.0], 2000)[:, None]
    codes = np.repeat([0, 1], 2000)
    codes[0], codes[-1] = 1, 0
    fit = proportional_odds(codes, group)
    assert fit.converged
    assert fit.coefficients[0] == pytest.approx(2 * np.log(1999), rel=1e-6)


@pytest.mark.parametrize("case", ["constant", "twice the same"])
def test_predictors_that_say_nothing_new_give_no_numbers_but_a_reason(case):
    codes, predictors = example(4)
    column = predictors[:, :1]
    given_ = np.ones((400, 1)) if case == "constant" else np.hstack([column, 2 * column])
    fit = proportional_odds(codes, given_)
    assert np.isnan(fit.log_likelihood)
    assert np.isnan(fit.coefficients).all()
    assert fit.problems == ("predictors determine each other",)


@pytest.mark.parametrize("codes", [[0, 0, 0], [0, 2, 2], []], ids=["same", "skipped", "none"])
def test_answers_that_are_not_numbered_from_zero_are_a_mistake_of_the_caller(codes):
    with pytest.raises(ValueError, match="shares"):
        proportional_odds(np.array(codes, dtype=int), np.zeros((len(codes), 0)))
