import itertools
import math

import numpy as np
import pytest
from scipy.stats import f_oneway, ncf, ttest_1samp, ttest_ind, ttest_ind_from_stats
from statsmodels.stats.oneway import anova_oneway

from core.stats.groups import (
    MORE_ALIKE,
    Summary,
    compare_summaries,
    compare_with_norms,
    known_groups,
    mean_interval,
    summary,
    unbiased_factor,
    welch_t,
)


def groups():
    generator = np.random.default_rng(0)
    return {
        "left": generator.normal(0.0, 1, 20),
        "middle": generator.normal(0.5, 2, 30),
        "right": generator.normal(1.5, 1, 25),
    }


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
def test_two_groups_are_compared_as_scipy_compares_them(side):
    first, second = groups()["left"], groups()["middle"]
    own = welch_t(first, second, alternative=side)
    other = ttest_ind(first, second, equal_var=False, alternative=side)
    assert (own.t, own.df, own.p) == pytest.approx((other.statistic, other.df, other.pvalue))
    ends = ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (own.low, own.high) == pytest.approx((ends.low, ends.high))


def test_the_interval_of_a_mean_is_that_of_scipy():
    scores = groups()["middle"]
    ends = ttest_1samp(scores, 0).confidence_interval(0.9)
    assert mean_interval(summary(scores), 0.9) == pytest.approx((ends.low, ends.high))
    assert np.isnan(mean_interval(summary(scores[:1]))).all()


def test_typed_norms_give_the_test_of_their_summaries():
    model = np.array([1.2, 1.5, np.nan, 1.1, 1.9, 1.4])
    norms = Summary(mean=2.1, sd=0.7, n=820)
    own, kept = compare_with_norms(model, norms), summary(model)
    other = ttest_ind_from_stats(kept.mean, kept.sd, kept.n, 2.1, 0.7, 820, equal_var=False)
    assert (own.t, own.p) == pytest.approx((other.statistic, other.pvalue))
    assert (own.n, own.n_left_out) == ((5, 820), 1)


def test_the_effect_of_two_groups_by_hand():
    # equal sizes: pooled SD is the root of the mean of 1 and 3 squared, √5
    own = compare_summaries(Summary(4, 1, 50), Summary(2, 3, 50))
    assert own.effect == pytest.approx(2 / np.sqrt(5), rel=1e-12)
    assert own.effect_low < own.effect < own.effect_high
    assert own.difference == 2


def test_swapping_the_groups_turns_everything_round():
    first, second = groups()["left"], groups()["right"]
    own, turned = welch_t(first, second), welch_t(second, first)
    assert (turned.t, turned.effect, turned.low) == pytest.approx((-own.t, -own.effect, -own.high))
    assert turned.effect_low == pytest.approx(-own.effect_high, abs=1e-8)


def test_three_groups_are_compared_as_scipy_and_statsmodels_compare_them():
    own, values = known_groups(groups()), list(groups().values())
    classic, welch = f_oneway(*values), anova_oneway(values, use_var="unequal")
    assert (own.classic_f, own.classic_p) == pytest.approx((classic.statistic, classic.pvalue))
    assert (own.f, own.p) == pytest.approx((welch.statistic, welch.pvalue))
    assert (own.df1, own.df2) == pytest.approx((welch.df_num, welch.df_denom))


def test_the_share_of_variance_between_groups_by_hand():
    # means 1, 3; 2 between each: between 4 * 1 = 4, within 4 * 1 = 4 with deviations of 1
    own = known_groups({"a": np.array([0.0, 2]), "b": np.array([2.0, 4])})
    assert own.eta_squared == pytest.approx(0.5, abs=1e-14)
    assert own.classic_f == pytest.approx(2.0, abs=1e-14)
    assert own.omega_squared == pytest.approx((4 - 2) / (8 + 2), abs=1e-14)
    # one of three degrees of freedom is between: a third by chance, and (1/2 - 1/3) / (2/3) is left
    assert own.by_chance == pytest.approx(1 / 3, abs=1e-14)
    assert own.epsilon_squared == pytest.approx((4 - 2) / 8, abs=1e-14)


def test_chance_gives_the_mean_share_of_all_deals_and_nothing_corrected():
    scores = np.array([0.0, 1, 1, 4, 9, 2])
    deals = [
        known_groups({"a": scores[order[:2]], "b": scores[order[2:4]], "c": scores[order[4:]]})
        for order in map(np.array, itertools.permutations(range(6)))
        if order[0] < order[1] and order[2] < order[3] and order[4] < order[5]
    ]
    assert len(deals) == 90
    assert np.mean([own.eta_squared for own in deals]) == pytest.approx(deals[0].by_chance)
    assert np.mean([own.epsilon_squared for own in deals]) == pytest.approx(0, abs=1e-12)


def test_groups_more_alike_than_by_chance_have_no_interval():
    scores = np.array([0.0, 1, 2, 3, 4])
    own = known_groups({"a": scores, "b": scores + 0.1, "c": scores + 0.05})
    assert own.problems == (MORE_ALIKE,)
    assert np.isnan((own.low, own.high)).all()
    assert own.epsilon_squared < 0 < own.eta_squared


def test_hedges_factor_makes_d_of_few_units_right_on_average():
    draw = np.random.default_rng(6).normal(size=(200_000, 2, 4))
    spread = np.sqrt(draw.var(axis=2, ddof=1).mean(axis=1))
    d = (1 + draw.mean(axis=2) @ [-1, 1]) / spread
    assert d.mean() > 1.1
    assert d.mean() * unbiased_factor(6) == pytest.approx(1, abs=0.01)
    assert math.isnan(unbiased_factor(1.9))


def test_the_interval_of_eta_squared_inverts_the_noncentral_f_of_brown_and_forsythe():
    """F and both degrees of freedom by statsmodels; SS between by what chance makes of it."""
    own = known_groups(groups())
    bf = anova_oneway(list(groups().values()), use_var="bf")
    df1, df2 = bf.df_num, bf.df_denom
    assert df1 < 2
    sizes, variances = np.array([[len(x), x.var(ddof=1)] for x in groups().values()]).T
    by_chance = ((1 - sizes / 75) * variances).sum()
    within = (sizes * variances).sum()
    for end, probability in ((own.low, 0.975), (own.high, 0.025)):
        between = end / (1 - end) * within  # of the population
        noncentrality = between / by_chance * df1
        assert ncf.cdf(bf.statistic, df1, df2, noncentrality) == pytest.approx(
            probability, abs=1e-6
        )


def test_with_equal_groups_the_interval_of_eta_squared_is_that_of_the_classic_f():
    """Three groups of 1,000 with the same SD: both intervals have the same degrees of freedom."""
    scores = np.tile([-1.0, 1.0], 500)
    own = known_groups({"a": scores, "b": scores + 0.2, "c": scores + 0.4})
    for end, probability in ((own.low, 0.975), (own.high, 0.025)):
        noncentrality = end * 3000 / (1 - end)
        assert ncf.cdf(own.classic_f, 2, 2997, noncentrality) == pytest.approx(
            probability, abs=1e-6
        )


@pytest.mark.parametrize(
    ("sizes", "means"), [((40, 10, 10), (0, 4, -4)), ((10, 40, 40), (0, 2, -2))]
)
def test_the_interval_of_eta_squared_covers_where_sizes_and_sds_differ(sizes, means):
    """300 studies, SDs of 1, 3 and 3: at least 91 % (95 % has fewer in 1 of 1,000 runs)."""
    draw = np.random.default_rng(5)
    sizes, means, sds = map(np.array, (sizes, means, (1.0, 3.0, 3.0)))
    shares = sizes / sizes.sum()
    between = shares @ (means - shares @ means) ** 2
    truth = between / (between + shares @ sds**2)
    covered = 0
    for _ in range(300):
        own = known_groups(
            {str(k): draw.normal(means[k], sds[k], sizes[k]) for k in range(len(sizes))}
        )
        covered += own.low <= truth <= own.high
    assert covered >= 273


@pytest.mark.parametrize("sds", [(1.0, 5 / 3, 7 / 3, 3.0), (3.0, 7 / 3, 5 / 3, 1.0)])
def test_the_interval_of_eta_squared_lies_above_nothing_as_seldom_as_it_promises(sds):
    """400 studies of 10, 20, 30, 40 scores: above 0 in 2.5 %; more than 5.5 % is p < .001."""
    draw = np.random.default_rng(11)
    above = 0
    for _ in range(400):
        groups = {
            str(n): draw.normal(0, sd, n) for n, sd in zip((10, 20, 30, 40), sds, strict=True)
        }
        above += known_groups(groups).low > 0
    assert above <= 22


def test_a_group_of_one_is_left_out_and_named():
    own = known_groups({**groups(), "lonely": np.array([3.0, np.nan])})
    assert own.groups == ("left", "middle", "right")
    assert "lonely" in own.problems[0]
    assert own.f == known_groups(groups()).f


def test_a_constant_group_has_only_the_classic_test():
    own = known_groups({"flat": np.ones(5), "other": np.arange(6.0)})
    assert np.isnan([own.f, own.p]).all()
    assert np.isfinite(own.classic_p)
    assert "does not vary" in own.problems[0]


@pytest.mark.parametrize(
    "scores",
    [
        {},
        {"a": np.arange(4.0)},
        {"a": np.ones(3), "b": np.full(3, 2.0)},
        {"a": np.full(3, np.nan), "b": np.arange(3.0)},
    ],
)
def test_bad_groups_give_no_test_but_a_reason(scores):
    own = known_groups(scores)
    assert np.isnan([own.f, own.p, own.eta_squared]).all()
    assert any("Undefined" in text for text in own.problems)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Summary(1, 0, 5), Summary(2, 0, 5)),
        (Summary(1, 1, 1), Summary(2, 1, 5)),
        (Summary(1, float("nan"), 5), Summary(2, 1, 5)),
    ],
)
def test_bad_summaries_give_no_test_but_a_reason(first, second):
    own = compare_summaries(first, second)
    assert np.isnan([own.t, own.p, own.effect]).all()
    assert "Undefined" in own.problems[0]


def test_a_negative_spread_is_refused():
    with pytest.raises(ValueError, match="negative"):
        compare_summaries(Summary(1, -1, 5), Summary(2, 1, 5))


def test_a_group_of_scores_beyond_all_numbers_is_left_out_and_named():
    rng = np.random.default_rng(4)
    groups = {name: rng.normal(size=20) + place for place, name in enumerate("abc")}
    result = known_groups(groups | {"huge": groups["a"] * 1e300})
    assert result.groups == ("a", "b", "c")
    assert result.f == known_groups(groups).f
    assert result.problems == ("Left out for scores too large or too small to compute with: huge.",)


def test_effects_of_plants_are_those_of_effectsize():
    """Dobson (1983), R's PlantGrowth; effectsize 0.8.3 on R 4.2.2."""
    weights = {
        "ctrl": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
        "trt1": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
        "trt2": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
    }
    result = known_groups({name: np.array(values) for name, values in weights.items()})
    assert result.eta_squared == pytest.approx(0.2641482968, abs=1e-9)
    assert result.epsilon_squared == pytest.approx(0.2096407633, abs=1e-9)
    assert result.omega_squared == pytest.approx(0.2040788460, abs=1e-9)
