"""Factor models on simulated answers: recovery, invariance to what must not matter, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import NotEnoughData
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import compare_models
from core.stats.factor.model_text import (
    ModelTextError,
    bifactor_model,
    parse_model,
    second_order_model,
    subscale_model,
)
from tests.examples import few_examples
from tests.stats.reference import scores

ITEMS = ["x1", "x2", "x3", "x4", "x5", "x6"]
TWO = "F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6"
LOADINGS = np.array([0.9, 0.8, 0.6, 0.7, 0.8, 0.5])
HS = [f"x{k}" for k in range(1, 10)]
THREE = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"


def two_factor_answers(n=300, seed=1, correlation=0.4):
    rng = np.random.default_rng(seed)
    factors = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size=n)
    common = factors[:, [0, 0, 0, 1, 1, 1]] * LOADINGS
    return common + rng.normal(size=(n, 6)) * np.sqrt(1 - LOADINGS**2) + 3


def standard_loadings(fit):
    return np.array([e.estimate for e in fit.standardized if e.op == "=~"])


@pytest.mark.parametrize("missing", ["listwise", "fiml"])
def test_known_loadings_are_recovered_within_their_errors(missing):
    answers = two_factor_answers(n=4000)
    if missing == "fiml":
        answers[np.random.default_rng(2).random(answers.shape) < 0.1] = np.nan
    fit = fit_cfa(answers, ITEMS, TWO, missing=missing)
    rows = [e for e in fit.standardized if e.op == "=~"]
    assert all(abs(e.estimate - v) < 3.5 * e.se for e, v in zip(rows, LOADINGS, strict=True))
    assert fit.groups[0].factor_correlations[0, 1] == pytest.approx(0.4, abs=0.06)
    assert fit.fit.p > 0.001
    assert fit.problems == ()


def test_full_information_corrects_what_listwise_deletion_distorts():
    """x4 to x6 are missing where x1 is high: listwise means are too low, full information not."""
    answers = two_factor_answers(n=4000, seed=4)
    answers[answers[:, 0] > 3.5, 3:] = np.nan
    full = fit_cfa(answers, ITEMS, TWO, missing="fiml")
    listwise = fit_cfa(answers, ITEMS, TWO, means=True)
    assert full.n == 4000
    assert full.estimate("x4", "~1", "").estimate == pytest.approx(3, abs=0.07)
    assert listwise.estimate("x4", "~1", "").estimate < 2.9


def test_the_scaled_test_holds_its_level_where_the_plain_one_does_not():
    """Heavy tails (multivariate t with 8 degrees of freedom) inflate the plain chi-square."""
    rng = np.random.default_rng(3)
    plain, scaled = [], []
    for seed in range(30):
        tails = np.sqrt(8 / rng.chisquare(8, size=(400, 1)))
        fit = fit_cfa((two_factor_answers(400, 100 + seed) - 3) * tails, ITEMS, TWO)
        plain.append(fit.fit.chi2)
        scaled.append(fit.scaled.chi2)
    assert np.mean(plain) > 10
    assert np.mean(scaled) == pytest.approx(8, abs=2)


def test_complete_answers_give_the_same_with_full_information():
    answers = two_factor_answers()
    listwise = fit_cfa(answers, ITEMS, TWO, means=True)
    full = fit_cfa(answers, ITEMS, TWO, missing="fiml")
    assert full.fit.chi2 == pytest.approx(listwise.fit.chi2, abs=1e-7)
    assert full.scaled.chi2 == pytest.approx(listwise.scaled.chi2, abs=1e-5)
    np.testing.assert_allclose(full.theta, listwise.theta, atol=1e-7)


@few_examples
@given(seed=st.integers(0, 1000))
def test_order_of_rows_and_items_does_not_matter(seed):
    answers = two_factor_answers(120, seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(120), rng.permutation(6)
    first = fit_cfa(answers, ITEMS, TWO)
    second = fit_cfa(answers[rows][:, columns], [ITEMS[c] for c in columns], TWO)
    if first.converged:
        assert second.scaled.chi2 == pytest.approx(first.scaled.chi2, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(standard_loadings(second), standard_loadings(first), atol=1e-6)


@few_examples
@given(seed=st.integers(0, 1000), power=st.floats(-3, 3), shift=st.floats(-100, 100))
def test_units_and_origin_of_an_item_do_not_matter(seed, power, shift):
    answers = two_factor_answers(150, seed)
    other = answers.copy()
    other[:, 1] = other[:, 1] * 10**power + shift
    first, second = fit_cfa(answers, ITEMS, TWO), fit_cfa(other, ITEMS, TWO)
    if first.converged:
        assert second.fit.chi2 == pytest.approx(first.fit.chi2, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(standard_loadings(second), standard_loadings(first), atol=1e-6)


def test_reversing_an_item_turns_its_loading_and_nothing_else():
    answers = two_factor_answers()
    turned = answers.copy()
    turned[:, 1] = 6 - turned[:, 1]
    first, second = fit_cfa(answers, ITEMS, TWO), fit_cfa(turned, ITEMS, TWO)
    sign = np.array([1, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(
        standard_loadings(second), sign * standard_loadings(first), atol=1e-6
    )
    assert second.fit.chi2 == pytest.approx(first.fit.chi2, abs=1e-7)


def test_the_scale_of_the_factors_does_not_change_the_fit():
    answers = scores("hs1939")
    marker, unit = (fit_cfa(answers, HS, THREE, scaling=s) for s in ("marker", "std.lv"))
    assert unit.scaled.chi2 == pytest.approx(marker.scaled.chi2, abs=1e-5)
    np.testing.assert_allclose(standard_loadings(unit), standard_loadings(marker), atol=1e-7)
    errors = [[e.se for e in f.standardized if e.op == "=~"] for f in (marker, unit)]
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-6)


def test_a_second_order_factor_of_three_fits_like_covarying_factors():
    subscales = {"visual": HS[:3], "textual": HS[3:6], "speed": HS[6:]}
    first = fit_cfa(scores("hs1939"), HS, subscale_model(subscales))
    second = fit_cfa(scores("hs1939"), HS, second_order_model(subscales))
    assert second.fit.chi2 == pytest.approx(first.fit.chi2, abs=1e-6)
    assert second.fit.df == first.fit.df
    loadings = [second.standardized_estimate("General", "=~", f).estimate for f in subscales]
    implied = first.groups[0].factor_correlations
    assert loadings[0] * loadings[1] == pytest.approx(implied[0, 1], abs=1e-6)


def test_a_modification_index_foretells_the_fall_of_chi_square():
    before = fit_cfa(scores("hs1939"), HS, THREE, estimator="ML")
    foretold = next(m for m in before.modification_indices if m.op == "~~")
    after = fit_cfa(
        scores("hs1939"), HS, f"{THREE}\n{foretold.left} ~~ {foretold.right}", estimator="ML"
    )
    change = compare_models(before, after)
    assert (foretold.left, foretold.right) == ("x7", "x8")
    assert change.df == 1
    assert change.chi2 == pytest.approx(foretold.index, rel=0.1)
    assert after.estimate("x7", "~~", "x8").estimate == pytest.approx(
        foretold.expected_change, rel=0.4
    )


def test_equal_labels_are_one_parameter_and_cost_degrees_of_freedom():
    answers = two_factor_answers()
    free = fit_cfa(answers, ITEMS, "F =~ x1 + x2 + x3 + x4", estimator="ML")
    tied = fit_cfa(answers, ITEMS, "F =~ x1 + a*x2 + a*x3 + x4", estimator="ML")
    assert tied.fit.df == free.fit.df + 1
    assert tied.estimate("F", "=~", "x2").estimate == tied.estimate("F", "=~", "x3").estimate
    assert tied.fit.chi2 > free.fit.chi2


def test_a_bifactor_model_of_answers_made_that_way_is_recovered():
    rng = np.random.default_rng(8)
    general, special = rng.normal(size=(3000, 1)), rng.normal(size=(3000, 3))
    answers = (
        0.6 * general + 0.5 * np.repeat(special, 4, axis=1) + 0.6 * rng.normal(size=(3000, 12))
    )
    items = [f"b{k}" for k in range(12)]
    subscales = {f"S{k}": items[4 * k : 4 * k + 4] for k in range(3)}
    fit = fit_cfa(answers, items, bifactor_model(subscales), estimator="ML")
    assert fit.admissible
    assert fit.fit.df == 54 - 12
    loadings = [fit.estimate("General", "=~", i).estimate for i in items]
    assert np.abs(loadings).mean() == pytest.approx(0.6, abs=0.05)


# what cannot be analysed


def test_constant_and_empty_items_are_left_out_by_name():
    answers = np.column_stack([two_factor_answers(), np.ones(300), np.full(300, np.nan)])
    fit = fit_cfa(answers, [*ITEMS, "same", "empty"], TWO.replace("x3", "x3 + same + empty"))
    assert fit.dropped_items == ("same", "empty")
    assert fit.items == tuple(ITEMS)
    assert fit.n == 300
    assert "Left out, because nobody answered: empty." in fit.problems
    assert "Left out, because all answers are the same: same." in fit.problems


def test_rows_left_out_are_counted():
    answers = two_factor_answers()
    answers[:7, 2] = np.nan
    fit = fit_cfa(answers, ITEMS, TWO)
    assert (fit.n, fit.n_given) == (293, 300)
    assert any(problem.startswith("7 of 300 rows") for problem in fit.problems)


def test_columns_the_model_does_not_mention_cost_no_rows():
    answers = np.column_stack([two_factor_answers(), np.full(300, np.nan)])
    assert fit_cfa(answers, [*ITEMS, "other"], TWO).n == 300


@pytest.mark.parametrize(
    ("answers", "what"),
    [
        (np.full((30, 6), np.nan), "0 items vary"),
        (np.ones((30, 6)), "0 items vary"),
        (two_factor_answers(1), "0 items vary"),
        (two_factor_answers(2), "more items than rows"),
        (two_factor_answers(6), "more items than rows"),
    ],
)
def test_too_little_is_refused_in_one_message(answers, what):
    for missing in ("listwise", "fiml"):
        with pytest.raises(NotEnoughData, match=what):
            fit_cfa(answers, ITEMS, TWO, missing=missing)


def test_items_that_determine_each_other_are_named():
    answers = two_factor_answers()
    answers[:, 2] = answers[:, 0] + answers[:, 1]
    with pytest.raises(NotEnoughData, match="exactly: x1, x2, x3"):
        fit_cfa(answers, ITEMS, TWO)


def test_items_never_answered_together_are_named():
    answers = two_factor_answers()
    answers[:150, 0] = np.nan
    answers[150:, 1] = np.nan
    with pytest.raises(NotEnoughData, match="x1 and x2 are never answered in the same row"):
        fit_cfa(answers, ITEMS, TWO, missing="fiml")


def test_a_misspelt_item_is_refused_before_anything_is_computed():
    with pytest.raises(ModelTextError, match="x33"):
        fit_cfa(two_factor_answers(), ITEMS, TWO.replace("x3", "x33"))
    with pytest.raises(ModelTextError, match="z1"):
        fit_cfa(two_factor_answers(), ITEMS, parse_model("F =~ z1 + x2 + x3"))


@pytest.mark.parametrize("estimator", ["ML", "MLR"])
def test_a_saturated_model_says_that_it_cannot_be_tested(estimator):
    """lavaan prints a chi-square of 0.000, and NA for its p."""
    fit = fit_cfa(two_factor_answers(), ITEMS, "F =~ x1 + x2 + x3", estimator=estimator)
    assert fit.fit.df == 0
    assert fit.fit.chi2 == 0
    assert math.isnan(fit.fit.p)
    assert fit.scaled is None
    assert fit.admissible
    assert any("cannot be tested" in problem for problem in fit.problems)
    assert all(e.se > 0 for e in fit.parameters if e.free)


def test_too_many_parameters_give_reasons_instead_of_numbers():
    fit = fit_cfa(two_factor_answers(), ITEMS, "F =~ x1 + x2")
    assert not fit.converged
    assert math.isnan(fit.fit.chi2)
    assert math.isnan(fit.log_likelihood)
    assert any("more parameters than" in problem for problem in fit.problems)


def test_an_unidentified_model_has_no_standard_errors():
    fit = fit_cfa(two_factor_answers(), ITEMS, "F =~ NA*x1 + x2 + x3 + x4")
    assert not fit.admissible
    assert any("do not determine all parameters" in problem for problem in fit.problems)
    assert all(math.isnan(e.se) for e in fit.parameters if e.free)
    # the parameters that AIC and BIC would count are more than there are
    assert math.isnan(fit.aic)
    assert math.isnan(fit.bic)
    assert math.isfinite(fit.log_likelihood)


def test_a_search_without_end_is_reported_as_such():
    """Unrelated items: the likelihood rises for ever as one residual variance falls."""
    fits = [
        fit_cfa(np.random.default_rng(seed).normal(size=(40, 6)), ITEMS, TWO)
        for seed in (7, 9, 12, 14)
    ]
    stopped = [fit for fit in fits if not fit.converged]
    assert stopped
    for fit in stopped:
        assert math.isnan(fit.fit.chi2)
        assert math.isnan(fit.srmr)
        assert any("found no maximum" in problem for problem in fit.problems)
    assert all(fit.problems for fit in fits if not fit.admissible)


def test_huge_standard_errors_are_reported_by_name():
    """The bifactor model of the nine tests has a Heywood case that no answers pin down."""
    subscales = {"visual": HS[:3], "textual": HS[3:6], "speed": HS[6:]}
    fit = fit_cfa(scores("hs1939"), HS, bifactor_model(subscales))
    assert fit.converged
    assert not fit.admissible
    assert any("standard errors of visual =~ x1" in problem for problem in fit.problems)
    assert fit.standardized_estimate("visual", "=~", "x1").se > 1


def test_impossible_residual_covariances_are_reported():
    rng = np.random.default_rng(2)
    answers = two_factor_answers(200) + rng.normal(size=(200, 6)) * 0.1
    text = "F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6\nx1 ~~ 0.9*x4"
    fit = fit_cfa(answers, ITEMS, text)
    assert not fit.admissible
    assert any("residual" in problem for problem in fit.problems)


def test_fewer_rows_than_parameters_are_reported():
    fit = fit_cfa(two_factor_answers(13), ITEMS, TWO)
    assert any("13 rows for 13 parameters" in problem for problem in fit.problems)


def test_factors_that_are_one_are_reported():
    fits = [fit_cfa(two_factor_answers(400, s, 0.999), ITEMS, TWO) for s in range(6)]
    beyond = [f for f in fits if f.converged and abs(f.groups[0].factor_correlations[0, 1]) > 1]
    assert beyond
    for fit in beyond:
        assert not fit.admissible
        assert any("factors is not positive definite" in p and "F and G" in p for p in fit.problems)


def test_a_factor_with_one_item_is_fitted_and_said_to_be_without_error():
    fit = fit_cfa(two_factor_answers(), ITEMS, "F =~ x1\nG =~ x4 + x5 + x6")
    assert fit.converged
    assert fit.estimate("x1", "~~", "x1").estimate == 0
    assert any("F is measured by x1 alone" in problem for problem in fit.problems)


def test_three_answers_in_a_long_format_can_be_fitted():
    answers = np.clip(np.round(two_factor_answers(400)), 2, 4)
    fit = fit_cfa(answers, ITEMS, TWO)
    assert fit.converged
    assert np.isfinite(fit.scaled.chi2)
