"""Invariance of ordered answers against lavaan 0.6-14 (golden/gold_ordered_groups.R)."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import NotEnoughData
from core.stats.factor.comparison import LADDER, invariance
from core.stats.factor.ordered_groups import fit_ordered_levels
from core.stats.factor.ordered_levels import ordered_levels
from tests.stats.reference import scores

GOLDEN = pd.read_csv(
    Path(__file__).parents[1] / "golden" / "ordered_groups_lavaan.csv", index_col=["data", "step"]
)
NINE = [f"x{k}" for k in range(1, 10)]
THREE = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
FREE = frozenset({("x3", "~1", ""), ("x7", "|", "t2"), ("textual", "=~", "x5")})
NAMES = {
    "cfi.scaled": "cfi",
    "tli.scaled": "tli",
    "rmsea.scaled": "rmsea",
    "rmsea.ci.upper.scaled": "rmsea_high",
    "pvalue.scaled": "p",
}


def cut_into(values, options):
    low, high = values.min(axis=0), values.max(axis=0)
    return 1 + np.minimum(np.floor((values - low) / (high - low) * options), options - 1)


def schools(options):
    answers = cut_into(scores("hs1939", NINE), options)
    return {"a": answers[:156], "b": answers[156:]}


def ladder(name):
    """Our steps of one of the data sets, by name."""
    if name == "binary":
        items = [f"x{k}" for k in (1, 4, 5, 6, 8, 9)]
        values = scores("hs1939", items)
        rows = (values > np.median(values, axis=0)) + 1.0
        model, groups = "F =~ " + " + ".join(items), {"a": rows[:156], "b": rows[156:]}
    else:
        items, model, groups = NINE, THREE, schools(3 if name == "three" else 4)
    partial = FREE if name == "partial" else frozenset()
    steps = invariance(
        groups, items, model, levels=LADDER[True], estimator="WLSMV", partial=partial
    )
    return {step.name: step for step in steps.levels}


@pytest.mark.parametrize("name", ["three", "four", "partial", "binary"])
def test_every_step_is_that_of_lavaan(name):
    ours, theirs = ladder(name), GOLDEN.loc[name]
    for step, row in theirs.iterrows():
        mine = ours.get(f"partial {step}", ours[step])
        assert mine.fit.fit.df == row["df"]
        assert mine.fit.fit.chi2 == pytest.approx(row["chisq"], rel=1e-5)
        assert mine.fit.scaled.chi2 == pytest.approx(row["chisq.scaled"], rel=1e-5)
        assert mine.fit.srmr == pytest.approx(row["srmr"], abs=1e-5)
        for key, index in NAMES.items():
            assert getattr(mine.fit.scaled, index) == pytest.approx(row[key], abs=1e-5), key
        if mine.difference is not None and mine.difference.df:
            if name != "binary" or step != "scalar":  # whose step before is the configural one
                before = mine.before.removeprefix("partial ")
                assert mine.fit.fit.df - mine.difference.df == theirs.loc[before, "df"]
            assert mine.difference.chi2 == pytest.approx(row["difference"], rel=1e-4)
            assert mine.difference.p == pytest.approx(row["p_difference"], abs=1e-5)


def test_the_theta_parameterization_fits_as_lavaans_delta_does():
    ours = ladder("four")
    for step, row in GOLDEN.loc["delta"].iterrows():
        assert ours[step].fit.fit.chi2 == pytest.approx(row["chisq"], rel=1e-5)
        assert ours[step].fit.scaled.chi2 == pytest.approx(row["chisq.scaled"], rel=1e-5)


def test_the_largest_score_test_of_an_equality_is_that_of_lavaan():
    """lavTestScore looks at equal loadings and thresholds, and not at intercepts fixed at 0."""
    ours = ladder("four")
    for step in ("thresholds", "metric", "scalar"):
        indices = [
            index.index for index in ours[step].fit.release_indices if index.op in ("=~", "|")
        ]
        expected = GOLDEN.loc[("four", step), "largest_score"]
        assert max(indices) == pytest.approx(expected, rel=1e-4)


def test_steps_that_few_options_cannot_test_are_said_to_be_the_same_model():
    binary, three = ladder("binary"), ladder("three")
    for step in (binary["thresholds"], binary["metric"], three["thresholds"]):
        assert step.difference.df == 0
        assert np.isnan(step.difference.p)
        assert [problem.kind for problem in step.difference.problems] == ["same model"]
    assert binary["metric"].fit.fit.chi2 == pytest.approx(binary["configural"].fit.fit.chi2)


def simulated(n=1500, seed=4, *, shift=0.0, options=4):
    """Five items of one factor; at the second level item c is shifted, and the factor by 0.5."""
    rng = np.random.default_rng(seed)
    out = {}
    for number, level in enumerate(("x", "y")):
        factor = rng.normal(size=(n, 1)) + 0.5 * number
        latent = factor * np.array([1.0, 1, 0.9, 0.8, 1.2]) + rng.normal(size=(n, 5))
        latent[:, 2] += number * shift
        out[level] = np.digitize(latent, np.linspace(-1, 1.5, options - 1)) + 1.0
    return out


FIVE, ONE = list("abcde"), "F =~ a + b + c + d + e"


def test_an_item_that_differs_is_found_freed_and_measured():
    answers = simulated(shift=0.8)
    full = invariance(answers, FIVE, ONE, levels=LADDER[True], estimator="WLSMV").levels
    assert [step.level for step in full][:3] == ["configural", "thresholds", "metric"]
    assert full[3].difference.p < 1e-6
    worst = full[3].fit.release_indices[0]
    assert (worst.left, worst.op) == ("c", "~1")
    freed = invariance(
        answers,
        FIVE,
        ONE,
        levels=LADDER[True],
        estimator="WLSMV",
        partial=frozenset({("c", "~1", "")}),
    )
    partial = {step.name: step for step in freed.levels}
    assert list(partial)[-2:] == ["partial scalar", "partial strict"]
    assert partial["partial scalar"].before == "metric"
    assert partial["partial scalar"].difference.p > 0.01
    estimate = partial["partial scalar"].fit.estimate("c", "~1", "", group=1)
    assert abs(estimate.estimate - 0.8) < 3 * estimate.se
    effects = {effect.item: effect for effect in freed.effects}
    assert max(effects, key=lambda item: effects[item].dmacs) == "c"
    # by simulation: the mean score of c at the second level with and without the shift
    gap = simulated(400_000, 9, shift=0.8)["y"][:, 2] - simulated(400_000, 9)["y"][:, 2]
    assert effects["c"].points == pytest.approx(gap.mean(), abs=0.05)
    assert all(effects[item].dmacs < 0.1 for item in "abde")


def test_twenty_levels_of_equal_items_pass():
    rng = np.random.default_rng(7)
    levels = {}
    for number in range(20):
        factor = rng.normal(size=(150, 1)) + 0.05 * number
        latent = factor + rng.normal(size=(150, 4))
        levels[str(number)] = np.digitize(latent, [-1, 0, 1]) + 1.0
    steps = invariance(
        levels, list("abcd"), "F =~ a + b + c + d", levels=LADDER[True], estimator="WLSMV"
    ).levels
    assert all(step.fit.converged for step in steps)
    assert [step.difference.df for step in steps[1:]] == [19 * 4, 19 * 3, 19 * 3, 19 * 4]
    assert all(step.difference.p > 0.001 for step in steps[1:])


def test_an_option_that_a_level_lacks_is_joined_with_its_neighbor_everywhere():
    answers = simulated()
    answers["y"][answers["y"][:, 0] == 4, 0] = 3
    levels = ordered_levels(answers, FIVE, ONE)
    assert [len(cuts) for cuts in levels.answers.levels[0].thresholds] == [2, 3, 3, 3, 3]
    assert levels.option_scores[1] == (1, 2, 3, 4)
    assert levels.option_scores[0][:2] == (1, 2)
    assert 3 < levels.option_scores[0][2] < 4
    (note,) = levels.answers.problems
    assert note.startswith("a: options that nobody at some level chose are joined")
    result = fit_ordered_levels(levels, equal=frozenset({"thresholds"})).result
    assert result.fit.df == 2 * 5 + 4  # two configural models of five items; four items of 3 cuts


def test_an_item_with_one_option_at_a_level_and_thin_levels_are_named():
    answers = simulated(n=200)
    answers["y"][:, 0] = 2
    levels = ordered_levels(answers, FIVE, ONE)
    assert (levels.items, levels.dropped) == (tuple("bcde"), ("a",))
    with pytest.raises(NotEnoughData, match="5 usable rows for 5 items at y"):
        ordered_levels({"x": simulated()["x"], "y": simulated()["y"][:5]}, FIVE, ONE)


def test_a_factor_of_one_item_is_that_item():
    """By hand: 25 moments at each level, less 15 thresholds, 4 loadings and 1 covariance."""
    model = "F =~ a + b + c + d\nG =~ e"
    levels = ordered_levels(simulated(), FIVE, model)
    step = fit_ordered_levels(levels)
    assert step.result.fit.df == 2 * (15 + 10) - 2 * 15 - 2 * 4 - 2
    # thresholds and loadings equal: e gets an intercept and a variance at the second level
    later = fit_ordered_levels(levels, equal=frozenset({"thresholds", "loadings"}))
    assert later.result.fit.df == step.result.fit.df + 15 - 2 * 5 + 4 - 1
    assert not later.fit.undetermined
