from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.stats import norm

from core.errors import NotEnoughData
from core.stats.irt.item_response import ResponseItem, item_response, option_probabilities
from core.stats.irt.marginal_likelihood import Search, option_indicators, trait_grid
from core.stats.irt.ordered_regression import category_terms
from core.stats.irt.response_models import MODELS
from core.stats.ordered.answer_options import numbered_answers
from tests.examples import few_examples
from tests.stats.simulated_answers import drawn, simulated

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def thousand_by_twenty():
    true = simulated(20)
    return true, item_response(true.answers, true.names)


def slopes(fit):
    return np.array([item.discrimination for item in fit.items])


def thresholds(fit):
    return np.array([item.thresholds for item in fit.items])


def test_it_agrees_with_ltm_in_r():
    theirs = json.loads((GOLDEN / "grm_ltm.json").read_text())["likert22_6items"]
    names = [item["item"] for item in theirs["items"]]
    answers = pd.read_csv(GOLDEN / "likert22.csv")[names].dropna().to_numpy()
    fit = item_response(answers, names)
    assert fit.converged
    assert fit.n_rows == theirs["n"]
    assert fit.log_likelihood == pytest.approx(theirs["logLik"], abs=1e-4)
    for item, theirs_of_item in zip(fit.items, theirs["items"], strict=True):
        assert item.discrimination == pytest.approx(theirs_of_item["a"], abs=2e-4)
        assert item.thresholds == pytest.approx(theirs_of_item["b"], abs=2e-4)


MIRT = json.loads((GOLDEN / "irt_mirt.json").read_text())
"""Of mirt 1.2.0 for Python, computed before these models were written here; sums over 241 points
and S-X2 in numpy by the same hand."""


@pytest.mark.parametrize(
    ("model", "data", "theirs"),
    [
        *(
            (name, "2pl", "2PL")
            for name in ("graded", "generalized_partial_credit", "nominal")
        ),
        ("generalized_partial_credit", "gpcm", "GPCM"),
        ("nominal", "gpcm", "NRM"),
    ],
)  # fmt: skip
def test_it_agrees_with_mirt(model, data, theirs):
    answers, wanted = pd.read_csv(GOLDEN / f"irt_{data}_data.csv"), MIRT[theirs]
    fit = item_response(answers.to_numpy(float), list(answers), model=model)
    assert fit.converged
    assert fit.log_likelihood == pytest.approx(wanted["logL_own_241_nodes"], abs=1e-5)
    if theirs == "NRM":
        ours = [(0.0, *item.slopes) for item in fit.items]
        np.testing.assert_allclose(ours, wanted["slopes"], atol=2e-4)
        ours = [(0.0, *item.intercepts) for item in fit.items]
        np.testing.assert_allclose(ours, wanted["intercepts"], atol=2e-4)
        return
    a = wanted.get("a", wanted.get("discrimination"))
    np.testing.assert_allclose([item.slopes[0] for item in fit.items], a, atol=2e-4)
    if theirs == "2PL" and model != "nominal":
        np.testing.assert_allclose(thresholds(fit)[:, 0], wanted["b"], atol=2e-4)
        np.testing.assert_allclose(fit.scores[:5], wanted["eap_first5_own"], atol=1e-4)
    elif theirs == "GPCM":
        np.testing.assert_allclose(thresholds(fit), wanted["steps"], atol=2e-4)


def test_partial_credit_has_one_slope_and_mirt_with_slopes_of_1_is_a_little_less_likely():
    """Its likelihood at mirt's steps is mirt's, and its own maximum, with one slope, is higher."""
    answers, wanted = pd.read_csv(GOLDEN / "irt_gpcm_data.csv"), MIRT["PCM"]
    codes = answers.to_numpy()
    intercepts = -np.cumsum(wanted["steps"], axis=1)
    at = np.column_stack([np.ones(len(intercepts)), intercepts])
    search = Search(codes, MODELS["partial_credit"], trait_grid(241))
    theirs = search.expectation(option_indicators(codes, 4), at)
    assert theirs.log_likelihood == pytest.approx(wanted["logL_own_241_nodes"], abs=1e-6)
    # the slope is fixed, all other derivatives are 0
    assert np.abs(theirs.gradient[1:]).max() < 0.01
    fit = item_response(codes.astype(float), list(answers), model="partial_credit")
    assert len({item.slopes for item in fit.items}) == 1
    assert fit.n_parameters == 1 + 6 * 3
    assert 0 < fit.log_likelihood - wanted["logL_own_241_nodes"] < 0.1
    assert fit.items[0].slopes[0] == pytest.approx(1, abs=2 * fit.items[0].slopes_se[0])


@pytest.mark.parametrize("model", ["partial_credit", "generalized_partial_credit", "nominal"])
def test_items_of_people_have_their_maximum_where_scipy_finds_it(model):
    """Five items of psych::bfi with gaps; the likelihood is written anew."""
    answers = pd.read_csv(GOLDEN / "bfi25.csv").iloc[:400, :5].to_numpy(float) - 1
    answers[::9, 2] = np.nan
    points = np.linspace(-8, 8, 161)
    weights = norm.pdf(points)
    n_options, n_items = 6, 5

    def log_odds(free, item):
        """Of each option at each point, against the lowest."""
        numbers = np.arange(n_options)[:, None]
        if model == "nominal":
            own = free[10 * item : 10 * item + 10]
            return np.r_[0, own[:5]][:, None] * points + np.r_[0, own[5:]][:, None]
        slope = free[item if model == "generalized_partial_credit" else 0]
        steps = free[free.size - 25 + 5 * item : free.size - 20 + 5 * item]
        return numbers * slope * points + np.r_[0, steps][:, None]

    def misfit(free):
        joint = np.tile(np.log(weights / weights.sum()), (len(answers), 1))
        for item in range(n_items):
            odds = log_odds(free, item)
            of_option = odds - np.log(np.exp(odds).sum(axis=0))
            answered = np.isfinite(answers[:, item])
            joint[answered] += of_option[answers[answered, item].astype(int)]
        return -np.log(np.exp(joint).sum(axis=1)).sum()

    fit = item_response(answers, list("abcde"), model=model)
    assert fit.converged
    if model == "nominal":
        free = np.concatenate([np.r_[item.slopes, item.intercepts] for item in fit.items])
    else:
        number = n_items if model == "generalized_partial_credit" else 1
        free = np.concatenate(
            [
                [item.slopes[0] for item in fit.items][:number],
                *(item.intercepts for item in fit.items),
            ]
        )
    assert free.size == fit.n_parameters
    assert fit.log_likelihood == pytest.approx(-misfit(free), abs=1e-4)
    search = minimize(misfit, free + 0.02, method="L-BFGS-B", options={"maxfun": 20_000})
    assert fit.log_likelihood >= -search.fun - 1e-4
    np.testing.assert_allclose(approx_fprime(free, misfit, 1e-5), 0, atol=0.02)


def test_options_in_no_order_are_told_apart_by_the_nominal_model_alone():
    """The slopes that the answers were drawn with: the middle score leads at the top."""
    rng = np.random.default_rng(7)
    slopes, intercepts = np.array([0.0, 1.8, 0.7, -0.9]), np.array([0.0, 0.3, 0.5, 0.1])
    trait = rng.standard_normal(1500)
    log_odds = np.multiply.outer(trait, slopes) + intercepts
    answers = (log_odds[:, None] + rng.gumbel(size=(1500, 8, 4))).argmax(axis=2).astype(float)
    fits = {
        model: item_response(answers, list("abcdefgh"), model=model)
        for model in ("graded", "nominal")
    }
    nominal = fits["nominal"]
    assert nominal.converged
    assert nominal.aic < fits["graded"].aic - 500
    estimates = np.array([item.slopes for item in nominal.items])
    errors = np.array([item.slopes_se for item in nominal.items])
    # the trait points to where scores rise over all items, so that its direction is arbitrary here
    sign = np.sign(np.corrcoef(nominal.scores, trait)[0, 1])
    assert np.abs((sign * estimates - slopes[1:]) / errors).max() < 4
    assert nominal.items[0].thresholds == ()


def test_steps_out_of_order_and_items_of_two_options_are_noted():
    answers = pd.read_csv(GOLDEN / "irt_gpcm_data.csv")
    fit = item_response(answers.to_numpy(float), list(answers), model="generalized_partial_credit")
    (note,) = fit.problems
    assert note.endswith("p2 (2); p3 (2).")
    for item in fit.items:
        chances = option_probabilities(item, np.linspace(-6, 6, 481))
        likeliest = set(chances.argmax(axis=1))
        assert (likeliest == {0, 1, 2, 3}) == (item.name not in ("p2", "p3"))
    two = simulated(3, n=300, p=5, options=2)
    models = {
        model: item_response(two.answers, two.names, model=model)
        for model in ("graded", "generalized_partial_credit", "nominal")
    }
    assert np.ptp([fit.log_likelihood for fit in models.values()]) < 1e-6
    assert [len(fit.problems) for fit in models.values()] == [0, 1, 1]


@pytest.mark.parametrize("model", MODELS)
def test_every_model_takes_gaps_unequal_options_and_an_item_keyed_the_wrong_way(model):
    true = simulated(5, n=400, p=6, options=4, missing=0.2)
    answers = true.answers.copy()
    answers[:, 1] = answers[:, 1] > 1
    answers[:, 2] = answers[:, 2].clip(1)
    if model != "partial_credit":
        answers[:, 3] = 3 - answers[:, 3]
    fit = item_response(answers, true.names, model=model)
    assert fit.converged
    assert [len(item.options) for item in fit.items] == [4, 2, 3, 4, 4, 4]
    assert np.corrcoef(fit.scores, true.trait)[0, 1] > 0.75
    errors = np.concatenate([item.intercepts_se for item in fit.items])
    assert ((errors > 0) & (errors < 2)).all()
    sizes = {"partial_credit": 1 + 15, "nominal": 30}
    assert fit.n_parameters == sizes.get(model, 6 + 15)


def test_more_quadrature_points_change_nothing_that_is_reported():
    true = simulated(3, n=300, p=8)
    few, many = (item_response(true.answers, true.names, n_points=q) for q in (61, 241))
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
    fit = item_response(true.answers, true.names)
    assert fit.converged
    z = (slopes(fit) - true.slopes) / [item.slopes_se[0] for item in fit.items]
    assert abs(z.mean()) < 0.8
    assert np.abs(z).max() < 3.5
    assert fit.items[0].n_answers == np.isfinite(true.answers[:, 0]).sum()


def test_standard_errors_are_the_spread_over_repeated_samples():
    slope, cut = np.array([1.0, 1.5, 2.0, 1.2, 0.9]), np.array([[-1.0, 0.0, 1.0]])
    estimates, errors = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        trait = rng.standard_normal((400, 1))
        fit = item_response(drawn(rng, slope * trait, -slope[:, None] * cut), list("abcde"))
        estimates.append([(item.discrimination, *item.thresholds) for item in fit.items])
        errors.append([(item.slopes_se[0], *item.thresholds_se) for item in fit.items])
    ratio = np.std(estimates, axis=0) / np.mean(errors, axis=0)
    assert ratio.mean() == pytest.approx(1, abs=0.08)
    assert np.abs(ratio - 1).max() < 0.35


# parameters of three items with 3, 3 and 2 options
_POINTS_OF_CURVATURE = {
    "graded": [[1.2, 0.8, -0.5], [0.9, 1.1, -1.0], [-1.5, 0.2, -np.inf]],
    "partial_credit": [[0.9, 0.8, -0.5], [0.9, 1.1, -1.0], [0.9, 0.2, -np.inf]],
    "generalized_partial_credit": [[1.2, 0.8, -0.5], [0.9, 1.1, -1.0], [-1.5, 0.2, -np.inf]],
    "nominal": [[1.2, 0.7, 0.8, -0.5], [-0.9, 1, 1.1, 0], [-1.5, -np.inf, 0.2, -np.inf]],
}


@pytest.mark.parametrize("model", MODELS)
def test_the_information_is_the_curvature_of_the_likelihood(model):
    true = simulated(4, n=60, p=3, options=3)
    answers = true.answers.copy()
    answers[:, 2] = answers[:, 2] > 0
    answers[::7, 1] = np.nan
    codes = np.column_stack([numbered_answers(column).codes for column in answers.T])
    chosen, search = option_indicators(codes, 3), Search(codes, MODELS[model], trait_grid(61))
    at = np.array(_POINTS_OF_CURVATURE[model])
    free = np.isfinite(at).ravel()
    # each free parameter moves some of the items' parameters; a slope that they share moves all
    directions = np.eye(at.size)[free]
    if model == "partial_credit":
        slope = np.zeros((1, at.size))
        slope[0, :: at.shape[1]] = 1
        directions = np.vstack([slope, directions[directions @ slope[0] == 0]])

    def moved(step):
        parameters = at.copy().ravel()
        parameters[free] += (step @ directions)[free]
        return search.expectation(chosen, parameters.reshape(at.shape))

    steps = 1e-5 * np.eye(len(directions))
    slope = [(moved(e).log_likelihood - moved(-e).log_likelihood) / 2e-5 for e in steps]
    now = moved(0 * steps[0])
    np.testing.assert_allclose(now.gradient, slope, atol=1e-5)
    curvature = [(moved(-e).gradient - moved(e).gradient) / 2e-5 for e in steps]
    exact = search.observed_information(chosen, at, now)
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
    fit = item_response(answers, true.names)
    assert fit.converged
    assert [len(item.thresholds) for item in fit.items] == [1, 2, 4, 4, 4, 4]
    # merging options moves no threshold that is left
    assert fit.items[0].thresholds[0] == pytest.approx(true.thresholds[0, 1], abs=0.2)
    assert fit.items[1].thresholds == pytest.approx(true.thresholds[1, :2], abs=0.2)


def test_an_option_nobody_chose_is_closed_up_and_named():
    true = simulated(6, n=300, p=4)
    spread = true.answers.copy()
    spread[:, 1] = np.array([0, 2, 3, 4, 6.0])[true.answers[:, 1].astype(int)]
    fit = item_response(spread, true.names, offered=[range(5), range(8), range(5), range(5)])
    plain = item_response(true.answers, true.names)
    assert fit.log_likelihood == plain.log_likelihood
    assert fit.items[1].options == (0, 2, 3, 4, 6)
    assert fit.problems == ("Options that nobody chose are closed up: i2 (1, 5 and 7).",)


def test_a_score_that_no_option_has_is_refused():
    true = simulated(6, n=30, p=3)
    with pytest.raises(NotEnoughData, match="none of its options"):
        item_response(true.answers, true.names, offered=[[0, 1, 2, 3]] * 3)


def test_an_item_keyed_the_wrong_way_is_the_mirror_image_and_is_named():
    true = simulated(7, n=500, p=6)
    turned = true.answers.copy()
    turned[:, 2] = 4 - turned[:, 2]
    right, wrong = item_response(true.answers, true.names), item_response(turned, true.names)
    assert wrong.log_likelihood == pytest.approx(right.log_likelihood, abs=1e-6)
    assert wrong.items[2].discrimination == pytest.approx(-right.items[2].discrimination, abs=1e-4)
    np.testing.assert_allclose(
        wrong.items[2].thresholds[::-1], right.items[2].thresholds, atol=1e-4
    )
    np.testing.assert_allclose(wrong.scores, right.scores, atol=1e-4)
    assert any("check their keying" in problem and "i3" in problem for problem in wrong.problems)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_names_the_item_keyed_the_wrong_way(model):
    true = simulated(7, n=500, p=6)
    turned = true.answers.copy()
    turned[:, 2] = 4 - turned[:, 2]
    notes = [
        item_response(answers, true.names, model=model).doubts for answers in (true.answers, turned)
    ]
    assert not any("keying" in text for text in notes[0])
    assert [text for text in notes[1] if "keying" in text and " i3;" in text]


def test_scores_that_are_the_likeliest_at_no_level_by_hand():
    # steps 2, 0, 1: 3 is above 0 from 1 on, where 1 and 2 are no higher than both
    item = ResponseItem("a", (0.0, 1.0, 2.0, 3.0), 9, slopes=(1.0,), intercepts=(-2.0, -2.0, -3.0))
    assert item.never_likeliest == (1.0, 2.0)
    turned = replace(item, slopes=(-1.0,))
    assert turned.never_likeliest == (1.0, 2.0)
    far = replace(item, intercepts=(9.0, 8.0, -20.0))  # steps -9, 1, 28
    assert far.never_likeliest == ()


@few_examples
@given(st.integers(0, 10_000))
def test_the_order_of_rows_and_items_and_the_unit_of_scores_do_not_matter(seed):
    true = simulated(8, n=150, p=5, options=4)
    rng = np.random.default_rng(seed)
    rows, items = rng.permutation(150), rng.permutation(5)
    fit = item_response(true.answers, true.names)
    mixed = item_response(
        10 + 5 * true.answers[np.ix_(rows, items)], [true.names[item] for item in items]
    )
    assert mixed.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-7)
    np.testing.assert_allclose(slopes(mixed), slopes(fit)[items], atol=1e-5)
    np.testing.assert_allclose(mixed.scores, fit.scores[rows], atol=1e-5)


def test_unrelated_items_are_not_made_to_measure_anything():
    answers = np.random.default_rng(9).integers(0, 4, (2000, 6)).astype(float)
    fit = item_response(answers, list("abcdef"))
    assert np.abs(slopes(fit)).min() < 0.2
    assert np.var(fit.scores) < 0.6


@pytest.mark.parametrize("seed", [4, 25, 31, 53])
def test_the_trait_points_the_way_most_discrimination_does(seed):
    # seeds at which the search ends on the side opposite to where it began
    answers = np.random.default_rng(seed).integers(0, 3, (150, 5)).astype(float)
    fit = item_response(answers, list("abcde"))
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
    fit = item_response(answers, true.names)
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
        item_response(answers, list("abcd"))
    assert refusal.value.remedy


def test_one_item_is_refused():
    with pytest.raises(NotEnoughData):
        item_response(np.arange(20.0)[:, None] % 3, ["a"])


def test_names_that_do_not_fit_the_answers_are_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="for 2 items"):
        item_response(np.ones((4, 3)), ["a", "b"])


@pytest.mark.parametrize("case", ["repeated item", "three times the same", "perfect order"])
def test_an_item_that_repeats_another_is_said_not_to_converge(case):
    answers = simulated(11, n=200, p=4).answers
    if case == "repeated item":
        answers = np.column_stack([answers, answers[:, 0]])
    elif case == "three times the same":
        answers = np.column_stack([answers[:, 0]] * 3)
    else:
        answers = (np.linspace(-2, 2, 100)[:, None] > np.linspace(-1.5, 1.5, 6)).astype(float)
    fit = item_response(answers, [f"i{number}" for number in range(answers.shape[1])])
    assert not fit.converged
    assert any("Discrimination above 6" in problem for problem in fit.problems)
    assert all(np.isnan(item.slopes_se[0]) for item in fit.items)


def test_more_items_than_rows_is_computed_with_a_warning_in_words():
    answers = np.random.default_rng(12).integers(0, 4, (10, 15)).astype(float)
    fit = item_response(answers, [f"i{number}" for number in range(15)])
    assert any("the estimates are not stable" in problem for problem in fit.problems)
    assert np.isfinite(fit.log_likelihood)


def test_a_search_cut_short_says_so():
    true = simulated(13, n=200, p=5)
    fit = item_response(true.answers, true.names, max_iterations=2)
    assert not fit.converged
    assert "No maximum was reached in 2 steps." in fit.problems
    assert np.isnan(fit.items[0].thresholds_se).all()


def test_a_grid_too_coarse_for_a_long_scale_is_said():
    true = simulated(14, n=300, p=20)
    fit = item_response(true.answers, true.names, n_points=11)
    assert any("use more points" in problem for problem in fit.problems)
