"""Comparing groups, and comparing models."""

import math

import numpy as np
import pytest

from core.errors import NotEnoughData
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import compare_models, invariance
from tests.stats.reference import scores

HS = [f"x{k}" for k in range(1, 10)]
THREE = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
LADDER = ("configural", "metric", "scalar", "strict")
ITEMS = ["a", "b", "c", "d", "e"]
ONE = "F =~ a + b + c + d + e"


def schools():
    """The first 156 rows are one school of Holzinger & Swineford, the others the second."""
    answers = scores("hs1939")
    return {"Pasteur": answers[:156], "Grant-White": answers[156:]}


def two_languages(n=600, seed=1, *, loading=0.0, intercept=0.0):
    """One factor; in the second language item c may differ in loading or intercept, F by 0.5."""
    rng = np.random.default_rng(seed)
    out = {}
    for number, name in enumerate(("English", "German")):
        slopes = np.array([0.8, 0.8, 0.7 + number * loading, 0.7, 0.6])
        origins = np.array([3, 3, 3 + number * intercept, 3, 3])
        factor = rng.normal(size=(n, 1)) + 0.5 * number
        out[name] = origins + factor * slopes + 0.6 * rng.normal(size=(n, 5))
    return out


@pytest.mark.parametrize("scaling", ["marker", "std.lv"])
def test_the_ladder_of_the_two_schools_is_the_published_one(scaling):
    """Chi-squares, CFI, RMSEA, AIC and BIC as printed in the tutorial of lavaan."""
    ladder = invariance(schools(), HS, THREE, levels=LADDER, estimator="ML", scaling=scaling).levels
    assert [s.fit.fit.df for s in ladder] == [48, 54, 60, 69]
    chi2 = [s.fit.fit.chi2 for s in ladder]
    assert chi2 == pytest.approx([115.851, 124.044, 164.103, 181.511], abs=6e-4)
    assert [s.fit.fit.cfi for s in ladder][:3] == pytest.approx([0.923, 0.921, 0.882], abs=6e-4)
    assert [s.fit.fit.rmsea for s in ladder][:3] == pytest.approx([0.097, 0.093, 0.107], abs=6e-4)
    assert [s.fit.aic for s in ladder][:3] == pytest.approx([7484.4, 7480.6, 7508.6], abs=0.06)
    assert [s.fit.bic for s in ladder][:3] == pytest.approx([7706.8, 7680.8, 7686.6], abs=0.06)
    assert ladder[1].difference.chi2 == pytest.approx(8.192, abs=1e-3)
    assert ladder[2].difference.chi2 == pytest.approx(40.059, abs=1e-3)


def test_the_configural_model_is_the_sum_of_the_groups():
    whole = invariance(schools(), HS, THREE, levels=("configural",)).levels[0].fit
    parts = [fit_cfa(g, HS, THREE, means=True) for g in schools().values()]
    assert whole.fit.chi2 == pytest.approx(sum(p.fit.chi2 for p in parts), abs=1e-6)
    assert whole.log_likelihood == pytest.approx(sum(p.log_likelihood for p in parts), abs=1e-6)
    weighted = sum(p.fit.df * p.scaled.scaling_factor for p in parts) / whole.fit.df
    assert whole.scaled.scaling_factor == pytest.approx(weighted, abs=1e-6)


def test_invariant_answers_pass_and_the_factor_mean_is_found():
    ladder = invariance(two_languages(), ITEMS, ONE).levels
    assert all(s.difference.p > 0.01 for s in ladder[1:])
    assert abs(ladder[2].difference.cfi) < 0.01
    mean = ladder[2].fit.estimate("F", "~1", "", group=1)
    # the factor is in units of the marker, which loads 0.8
    assert abs(mean.estimate - 0.4) < 3 * mean.se
    assert ladder[2].fit.estimate("F", "~1", "", group=0).estimate == 0


def test_a_different_intercept_is_found_and_named():
    answers = two_languages(intercept=0.5)
    ladder = invariance(answers, ITEMS, ONE).levels
    assert ladder[1].difference.p > 0.01
    assert ladder[2].difference.p < 1e-6
    assert ladder[2].difference.cfi < -0.01
    worst = ladder[2].fit.release_indices[0]
    assert (worst.left, worst.op) == ("c", "~1")
    freed = invariance(answers, ITEMS, ONE, partial=frozenset({("c", "~1", "")})).levels[-1]
    assert freed.difference.p > 0.01
    shift = [freed.fit.estimate("c", "~1", "", group=g).estimate for g in (0, 1)]
    assert shift[1] - shift[0] == pytest.approx(0.5, abs=0.12)


def test_a_different_loading_is_found_and_named():
    answers = two_languages(loading=-0.4)
    ladder = invariance(answers, ITEMS, ONE).levels
    assert ladder[1].difference.p < 1e-6
    worst = ladder[1].fit.release_indices[0]
    assert (worst.op, worst.right) == ("=~", "c")
    freed = invariance(answers, ITEMS, ONE, partial=frozenset({("F", "=~", "c")})).levels[3]
    assert freed.difference.p > 0.01
    # 0.7 and 0.3, in units of a marker that loads 0.8
    for group, true in ((0, 0.7 / 0.8), (1, 0.3 / 0.8)):
        own = freed.fit.estimate("F", "=~", "c", group=group)
        assert abs(own.estimate - true) < 3 * own.se
        assert own.estimate == pytest.approx(true, abs=0.12)


def test_missing_answers_do_not_stand_in_the_way():
    answers = two_languages()
    rng = np.random.default_rng(3)
    for group in answers.values():
        group[rng.random(group.shape) < 0.1] = np.nan
    ladder = invariance(answers, ITEMS, ONE, missing="fiml").levels
    assert ladder[2].fit.n == 1200
    assert ladder[2].difference.p > 0.01
    assert 0.9 < ladder[2].fit.robust.cfi <= 1


def test_an_item_constant_in_one_group_is_left_out_of_all():
    answers = two_languages()
    answers["German"][:, 3] = 3
    result = invariance(answers, ITEMS, ONE)
    assert result.levels[0].fit.dropped_items == ("d",)
    assert any("d" in problem for problem in result.problems)


def test_one_group_is_refused():
    with pytest.raises(NotEnoughData, match="compares groups"):
        invariance({"English": two_languages()["English"]}, ITEMS, ONE)


def test_the_corrected_difference_is_worked_from_its_formula():
    free = fit_cfa(scores("hs1939"), HS, THREE)
    tied = fit_cfa(scores("hs1939"), HS, THREE + "\nvisual ~~ 0*textual\nvisual ~~ 0*speed")
    change = compare_models(tied, free)
    c0, c1 = tied.scaled.scaling_factor, free.scaled.scaling_factor
    factor = (26 * c0 - 24 * c1) / 2
    assert change.df == 2
    assert change.scaling_factor == pytest.approx(factor)
    assert change.chi2 == pytest.approx((tied.fit.chi2 - free.fit.chi2) / factor)
    assert change.version == "robust"


def test_models_that_are_not_nested_are_compared_by_criteria_only():
    one = fit_cfa(scores("hs1939"), HS, THREE)
    other = fit_cfa(scores("hs1939"), HS, THREE.replace("x3", "x7x").replace("+ x7x", ""))
    change = compare_models(one, other)
    assert math.isnan(change.chi2)
    assert any("different items" in problem for problem in change.problems)
    same = compare_models(one, one)
    assert math.isnan(same.p)
    assert any(
        "not a special case" in problem.replace("so it is ", "") for problem in same.problems
    )
    assert same.aic == 0


def test_different_estimators_are_not_compared():
    fits = [fit_cfa(scores("hs1939"), HS, THREE, estimator=e) for e in ("ML", "MLR")]
    assert any("different estimators" in p for p in compare_models(*fits).problems)
