from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from core.analysis.groups.group_comparison import analysis as module
from core.analysis.groups.group_comparison.analysis import group_comparison
from core.errors import NotEnoughData
from core.stats.groups import (
    average_variance_d,
    compare_summaries,
    simultaneous_interval,
    summary,
)
from core.stats.repeated_measures import repeated_measures
from core.workflow.statistics.analyses import by_name
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

GOLDEN_R = Path(__file__).parents[2] / "stats" / "golden" / "within_R.json"
SUBSCALES = ["x", "x", "y", "y"]


def grouped(tables, factor="context_set", subscales=None, **factors):
    """Administrations of every level of a factor, each under a context of its own."""
    frames, start = [], 2**61
    for level, values in tables.items():
        own = {factor: level} if factor not in ("context_set", "rewriting") else {}
        frame = item_scores(values, subscales=subscales, start=start, **own, **factors)
        width = np.shape(values)[1]
        names = [f"{level}{number}" for number in range(len(values))]
        frame = frame.assign(context=np.repeat(names, width))
        frames.append(frame if own else frame.assign(**{factor: level}))
        start += len(values)
    return pd.concat(frames, ignore_index=True)


def noisy(means, n=12, k=4, seed=0):
    draw = np.random.default_rng(seed).normal
    return {
        level: mean
        + 0.5 * (place + 1) * draw(size=(n + 3 * place, 1))
        + draw(size=(n + 3 * place, k))
        for place, (level, mean) in enumerate(means.items())
    }


def frames(result):
    return {table.name: table.frame for table in result.tables}


def test_two_groups_worked_by_hand():
    # means 2 and 4, both SD 1 with n = 3: difference 2, error √(2/3), t = √6, df = 4, d = 2
    frame = grouped({"a": [[1], [2], [3]], "b": [[3], [4], [5]]})
    found = frames(group_comparison(frame))
    pair, test = found["pairs"].iloc[0], found["tests"].iloc[0]
    assert (pair["first"], pair["second"], pair["difference"]) == ("a", "b", 2)
    assert (pair["t"], pair["df"], pair["d"]) == pytest.approx((math.sqrt(6), 4, 2), abs=1e-12)
    # t with 4 degrees of freedom: P(|T| > t) = 1 - (t / √(t² + 4)) (1 + 2 / (t² + 4))
    p = 1 - math.sqrt(0.6) * (1 + 2 / 10)
    assert pair["p"] == pytest.approx(p, abs=1e-12)
    assert test["test"] == "Welch's t"
    assert (test["statistic"], test["p"], test["value"]) == (pair["t"], pair["p"], pair["d"])
    assert (test["n"], test["n_groups"], test["effect"]) == (6, 2, "d")
    assert (pair["mean_first"], pair["mean_second"]) == (2, 4)
    (answer,) = by_name("group_comparison").answer(group_comparison(frame))
    assert "no clear difference between b and a (M = 4.00 and 2.00)" in answer.sentence  # p = .07
    group = found["groups"].set_index("group").loc["a"]
    assert (group["mean"], group["sd"], group["n"]) == (2, 1, 3)
    # t(.975; 2) = .95 / √(2 · .975 · .025) = 4.302653
    reach = 0.95 / math.sqrt(2 * 0.975 * 0.025) / math.sqrt(3)
    assert (group["ci_low"], group["ci_high"]) == pytest.approx((2 - reach, 2 + reach))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_two_groups_agree_with_scipy_on_every_scale(alternative):
    tables = noisy({"a": 2.0, "b": 2.8})
    result = group_comparison(grouped(tables, subscales=SUBSCALES), alternative=alternative)
    pairs = frames(result)["pairs"].set_index("scale")
    for scale, items in {"all items": slice(0, 4), "x": slice(0, 2), "y": slice(2, 4)}.items():
        first, second = (tables[name][:, items].mean(axis=1) for name in ("a", "b"))
        test = stats.ttest_ind(second, first, equal_var=False, alternative=alternative)
        row = pairs.loc[scale]
        own = (row["t"], row["df"], row["p"])
        assert own == pytest.approx((test.statistic, test.df, test.pvalue), rel=1e-9)
        ends = stats.ttest_ind(second, first, equal_var=False).confidence_interval()
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((ends.low, ends.high))
    told = {"two-sided": "two-tailed", "greater": "second above", "less": "second below"}
    assert told[alternative] in result.method


def test_three_groups_agree_with_statsmodels_and_scipy():
    tables = noisy({"a": 2.0, "b": 2.4, "c": 3.5})
    found = frames(group_comparison(grouped(tables)))
    scores = [values.mean(axis=1) for values in tables.values()]
    welch, test = anova_oneway(scores, use_var="unequal"), found["tests"].iloc[0]
    assert test["test"] == "Welch's F"
    own = (test["statistic"], test["df1"], test["df2"], test["p"])
    wanted = (welch.statistic, welch.df_num, welch.df_denom, welch.pvalue)
    assert own == pytest.approx(wanted, rel=1e-9)
    everything = np.concatenate(scores)
    between = sum(len(own) * (own.mean() - everything.mean()) ** 2 for own in scores)
    total = ((everything - everything.mean()) ** 2).sum()
    noise = (total - between) / (len(everything) - 3)
    assert test["value"] == pytest.approx(between / total)
    assert test["omega_squared"] == pytest.approx((between - 2 * noise) / (total + noise))
    assert test["ci_low"] < test["value"] < test["ci_high"]
    for first, second, p in found["pairs"][["first", "second", "p"]].itertuples(index=False):
        one, two = (tables[name].mean(axis=1) for name in (first, second))
        assert p == pytest.approx(stats.ttest_ind(one, two, equal_var=False).pvalue)
    assert len(found["pairs"]) == 3
    # Games and Howell (1976): p of the studentized range is .05 at the ends of 95%
    for pair in found["pairs"].to_dict("records"):
        error = pair["difference"] / pair["t"]
        for end in ("ci_low", "ci_high"):
            q = abs(pair["difference"] - pair[end]) / error * np.sqrt(2)
            assert stats.studentized_range.sf(abs(q), 3, pair["df"]) == pytest.approx(0.05)


def test_intervals_of_pairs_hold_together_with_unequal_variances():
    """300 studies of four groups of 10 and 40: all six intervals hold at once."""
    draw = np.random.default_rng(4)
    held = []
    for _ in range(300):
        groups = [
            summary(draw.normal(scale=sd, size=n)) for sd, n in ((1, 10), (3, 10), (1, 40), (2, 40))
        ]
        tests = [compare_summaries(one, two) for one, two in combinations(groups, 2)]
        ends = [simultaneous_interval(test, 4, 6) for test in tests]
        held.append(all(low <= 0 <= high for low, high in ends))
    assert 0.92 <= np.mean(held) <= 0.98


def test_d_of_the_average_variance_holds_with_unequal_variances_and_sizes():
    draw, truth, held = np.random.default_rng(5), 1 / np.sqrt(5), []
    for _ in range(600):
        d = average_variance_d(
            summary(draw.normal(1, 3, size=10)), summary(draw.normal(0, 1, size=40))
        )
        held.append(d.low <= truth <= d.high)
    assert 0.92 <= np.mean(held) <= 0.98


def test_p_is_adjusted_over_scales_and_pairs_of_what_is_side_by_side():
    tables = noisy({"a": 2.0, "b": 2.4, "c": 3.5})
    frame = grouped(tables, subscales=SUBSCALES)
    other = grouped(noisy({"a": 2.0, "b": 2.1, "c": 2.2}, seed=4), respondent="llama")
    other["administration"] += 10_000
    both = pd.concat([frame, other], ignore_index=True)
    result = frames(group_comparison(both, adjust="benjamini-hochberg"))
    for name, size in (("pairs", 9), ("tests", 3)):
        own = result[name][result[name]["respondent"] == "gpt"]
        assert len(own) == size
        wanted = stats.false_discovery_control(own["p"].to_numpy())
        assert own["p_adjusted"].to_numpy() == pytest.approx(wanted)
    holm = frames(group_comparison(frame))["pairs"]
    assert holm["p_adjusted"].min() == pytest.approx(min(1, 9 * holm["p"].min()))


def test_contexts_are_compared_in_the_groups_the_user_types():
    tables = {"c": np.array([[1.0, 2], [2, 2], [2, 3], [4, 5], [5, 5], [3, 3]])}
    frame = grouped(tables)
    groups = (("c3", "high"), (" c4", "high "), ("c0", "low"), ("c1", "low"), ("", ""))
    result = group_comparison(frame, groups=groups, by=("respondent", "context"))
    found = frames(result)
    assert found["groups"]["group"].tolist() == ["high", "low"]
    assert found["groups"]["mean"].tolist() == [4.75, 1.75]
    assert found["pairs"]["difference"].item() == -3
    assert list(found["pairs"].columns[:2]) == ["respondent", "scale"]
    assert "2 of 6 administrations are under contexts in no group." in result.all_notes
    assert (result.n_used, result.n_left_out) == (8, 4)
    assert "groups as typed" in result.method


@pytest.mark.parametrize(
    ("groups", "problem", "remedy"),
    [
        ((("c9", "high"), ("c0", "low")), "no context 'c9'", "c"),
        ((("c0", "high"), ("c0", "low")), "'c0' is in two groups: high and low", "one group"),
        ((("c0", "high"), ("c1", "high")), "fewer than two", "second group"),
        ((("c0", ""), ("c1", "low")), "half empty: 'c0'", "remove"),
        ((("", "low"),), "half empty: 'low'", "remove"),
    ],
)
def test_groups_that_do_not_fit_are_explained(groups, problem, remedy):
    frame = grouped({"c": [[1], [2], [3]]})
    with pytest.raises(NotEnoughData, match=problem) as caught:
        group_comparison(frame, groups=groups)
    assert remedy in caught.value.remedy


def test_what_decides_the_groups_is_not_set_side_by_side():
    tables = noisy({"gpt-4": 2.0, "llama": 3.0})
    frame = grouped(tables, "model")
    frame["respondent"] = frame["model"] + " hot"
    found = frames(group_comparison(frame, factor="model"))
    assert list(found["pairs"].columns[:1]) == ["scale"]
    assert len(found["pairs"]) == 1
    found = frames(group_comparison(frame, factor="respondent", by=("respondent", "model")))
    assert found["groups"]["group"].tolist() == ["gpt-4 hot", "llama hot"]
    sets = grouped(tables)
    side = frames(group_comparison(sets, by=("respondent", "context")))["pairs"]
    assert side["respondent"].tolist() == ["gpt"]


def test_the_original_comes_first_and_typed_groups_in_the_order_typed():
    found = frames(
        group_comparison(grouped(noisy({"a": 3.0, "original": 2.0}), "form"), factor="form")
    )
    assert found["groups"]["group"].tolist() == ["form original", "form a"]
    frame = grouped({"c": [[1], [2], [3], [5]]})
    typed = (("c0", "low"), ("c2", "high"), ("c1", "low"), ("c3", "high"))
    found = frames(group_comparison(frame, groups=typed))
    assert found["pairs"][["first", "second", "difference"]].to_numpy().tolist() == [
        ["low", "high", 2.5]
    ]


def within(values, factor="language", repetitions=1, **factors):
    """The contexts of an array (contexts, levels, items) under every level."""
    parts = []
    for level, table in enumerate(np.moveaxis(np.asarray(values, dtype=float), 1, 0)):
        for repetition in range(repetitions):
            own = table if table.ndim == 2 else table[:, repetition]
            start = 1 + 100_000 * level + 1000 * repetition
            levels = {"repetition": repetition + 1, factor: f"l{level}"} | factors
            frame = item_scores(own, start=start, **levels)
            names = [f"c{number}" for number in range(len(own))]
            parts.append(frame.assign(context=np.repeat(names, own.shape[1])))
    return pd.concat(parts, ignore_index=True)


SLEEP = np.array(
    [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ]
).T


def test_contexts_that_two_groups_share_are_paired():
    # Student (1908): t = 4.0621 with 9 df, p = .0028 (t.test of R, paired); d_z = t / √10
    result = group_comparison(within(SLEEP[:, :, None]), factor="language")
    test, pair = (frames(result)[name].iloc[0] for name in ("tests", "pairs"))
    assert (test["test"], test["design"], test["unit"]) == ("paired t", "within", "context")
    assert (test["statistic"], test["df2"], test["p"]) == pytest.approx((4.0621, 9, 0.002833), 1e-3)
    assert pair["d_z"] == pytest.approx(4.0621 / math.sqrt(10), rel=1e-4)
    assert (test["effect"], test["value"]) == ("d_av", pair["d"])
    assert test["value"] == pytest.approx(1.58 / math.sqrt(SLEEP.var(axis=0, ddof=1).mean()))
    assert pair["d_low"] < pair["d"] < pair["d_high"] < pair["d_z_high"]
    assert result.n_used == 20
    (answer,) = by_name("group_comparison").answer(result)
    first, second = pair["first"], pair["second"]
    higher = f"{second} is higher than {first} (M = 2.33 and 0.75), paired t(9) = 4.06"
    assert higher in answer.sentence
    assert not any("as independent" in note for note in result.all_notes)  # no row is tested
    assert "g_av = 0.77 [0.27, 1.37] (uncorrected: d_av = 0.83)" in answer.sentence
    assert answer.sentence.endswith("the same contexts in both groups, paired.")


def test_levels_that_are_numbers_are_named_with_what_is_compared():
    frame = within(SLEEP[:, :, None])
    levels = frame["language"].map({"l0": "0", "l1": "0.7"})
    result = group_comparison(frame.assign(temperature=levels, language="en"), factor="temperature")
    assert frames(result)["groups"]["group"].tolist() == ["temperature 0", "temperature 0.7"]


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_paired_test_may_be_one_tailed(alternative):
    frame = within(SLEEP[:, :, None])
    result = group_comparison(frame, factor="language", alternative=alternative)
    other = stats.ttest_rel(SLEEP[:, 1], SLEEP[:, 0], alternative=alternative)
    assert frames(result)["tests"]["p"].item() == pytest.approx(other.pvalue)


def test_three_groups_of_the_same_contexts_are_repeated_measures():
    expected = json.loads(GOLDEN_R.read_text())
    scores = np.array(expected["scores"])
    result = group_comparison(within(scores[:, :, None]), factor="language")
    test = frames(result)["tests"].iloc[0]
    assert test["test"] == "repeated-measures F"
    found = tuple(test[name] for name in ("statistic", "p", "value", "generalized"))
    wanted = tuple(expected[name] for name in ("f", "p", "partial", "generalized"))
    assert found == pytest.approx(wanted, rel=1e-8)
    pairs = frames(result)["pairs"].set_index(["first", "second"])
    assert len(pairs) == 6
    assert pairs.loc[("l0", "l3"), "t"] == pytest.approx(expected["t"])
    assert pairs.loc[("l0", "l3"), "p_adjusted"] > expected["t_p"]


def test_repetitions_of_a_context_are_averaged_first_and_this_is_said():
    draw = np.random.default_rng(3)
    values = draw.normal(size=(8, 1, 1, 1)) + draw.normal(size=(8, 2, 5, 3))
    result = group_comparison(within(values, repetitions=5), factor="language")
    means = values.mean(axis=(2, 3))
    other = stats.ttest_rel(means[:, 1], means[:, 0])
    test = frames(result)["tests"].iloc[0]
    assert (test["statistic"], test["p"]) == pytest.approx((other.statistic, other.pvalue))
    assert (test["n"], test["averaged"], result.n_used) == (8, "repetitions", 240)
    assert "averaged over repetitions" in result.unit
    apart = group_comparison(within(values, repetitions=5), factor="language", design="between")
    welch = stats.ttest_ind(means[:, 1], means[:, 0], equal_var=False)
    test = frames(apart)["tests"].iloc[0]
    assert (test["p"], test["design"]) == (pytest.approx(welch.pvalue), "between, some shared")
    assert any("takes them as different" in note for note in apart.cautions)


def test_units_with_a_gap_are_left_out_of_the_test_and_counted():
    values = np.concatenate([SLEEP, SLEEP[:, :1] + SLEEP[::-1, :1]], axis=1)
    values[3, 1] = values[5, 2] = np.nan
    result = group_comparison(within(values[:, :, None]), factor="language")
    test = frames(result)["tests"].iloc[0]
    assert (test["n"], test["n_missing"]) == (8, 2)
    complete = values[np.isfinite(values).all(axis=1)]
    assert test["statistic"] == pytest.approx(repeated_measures(complete).f)
    pairs = frames(result)["pairs"].set_index(["first", "second"])
    assert pairs["n_first"].tolist() == [9, 9, 8]
    assert frames(result)["groups"]["n"].tolist() == [10, 9, 9]
    (answer,) = by_name("group_comparison").answer(result)
    assert "(2 contexts with a gap left out)" in answer.sentence
    both = np.isfinite(values[:, 0]) & np.isfinite(values[:, 2])
    means = pairs[["mean_first", "mean_second"]].iloc[1].tolist()
    assert means == pytest.approx(values[both][:, [0, 2]].mean(axis=0))


@pytest.mark.parametrize(("n_shared", "design"), [(8, "within"), (7, "between, some shared")])
def test_groups_are_paired_where_two_thirds_of_the_smallest_have_every_group(n_shared, design):
    draw = np.random.default_rng(4).normal
    english, german = draw(size=(30, 1)), draw(size=(12, 1))
    frame = pd.concat(
        [
            within(english[:, None, :]),
            within(german[:, None, :]).assign(
                language="l1",
                administration=lambda own: own["administration"] + 500,
                context=[f"c{n}" if n < n_shared else f"other{n}" for n in range(12)],
            ),
        ]
    )
    result = group_comparison(frame, factor="language")
    test = frames(result)["tests"].iloc[0]
    assert test["design"] == design
    n = {"within": n_shared, "between, some shared": 42}[design]
    assert test["n"] == n
    forced = frames(group_comparison(frame, factor="language", design="within"))["tests"].iloc[0]
    other = stats.ttest_rel(german[:n_shared, 0], english[:n_shared, 0])
    assert forced["p"] == pytest.approx(other.pvalue)


def test_groups_that_share_no_unit_cannot_be_paired():
    frame = grouped(noisy({"a": 2.0, "b": 3.0}))
    with pytest.raises(NotEnoughData, match="Undefined"):
        group_comparison(frame, design="within")


def test_original_and_rewritten_contexts_are_paired_by_their_origin():
    draw = np.random.default_rng(5).normal
    original, change = draw(size=(20, 3)), draw(0.5, 1, size=(6, 3))
    frame = pd.concat(
        [
            within(original[:, None, :]).assign(rewriting="original"),
            within(original[:6, None, :] + change[:, None, :]).assign(
                rewriting="rewritten", administration=lambda own: own["administration"] + 5000
            ),
        ]
    ).assign(language="en")
    frame["origin"] = frame["context"]
    frame.loc[frame["rewriting"] == "rewritten", "context"] += "-r"
    result = group_comparison(frame, factor="rewriting", alternative="greater")
    other = stats.ttest_1samp(change.mean(axis=1), 0, alternative="greater")
    test = frames(result)["tests"].iloc[0]
    assert (test["test"], test["n"]) == ("paired t", 6)
    assert test["p"] == pytest.approx(other.pvalue)


def test_of_one_context_repetitions_are_units():
    draw = np.random.default_rng(6)
    values = draw.normal(size=(1, 2, 12, 4))
    result = group_comparison(within(values, "model", repetitions=12), factor="model", by=())
    means = values.mean(axis=3)[0]
    test = frames(result)["tests"].iloc[0]
    assert test["p"] == pytest.approx(stats.ttest_ind(*means, equal_var=False).pvalue)
    assert (test["unit"], test["n"], test["design"]) == ("repetition", 24, "between")


def test_a_model_without_contexts_stands_beside_people():
    draw = np.random.default_rng(7)
    people, model = draw.normal(size=(30, 1, 2)), draw.normal(1, 1, size=(1, 1, 9, 2))
    frame = pd.concat(
        [
            within(people, "study", respondent="people").assign(people=True),
            within(model, "study", repetitions=9).assign(
                study="machine",
                people=False,
                administration=lambda own: own["administration"] + 50_000,
            ),
        ]
    )
    result = group_comparison(frame, factor="study", by=())
    groups = frames(result)["groups"].set_index("group")
    assert groups["unit"].to_dict() == {"l0": "person", "machine": "repetition"}
    assert groups["n"].to_dict() == {"l0": 30, "machine": 9}
    (answer,) = by_name("group_comparison").answer(result)
    assert "not for other models, wordings or people" in answer.sentence


def test_people_of_two_studies_with_the_same_codes_are_paired_only_when_asked():
    frame = within(SLEEP[:, :, None], "study", respondent="people").assign(people=True)
    apart = frames(group_comparison(frame, factor="study", by=()))["tests"].iloc[0]
    assert (apart["test"], apart["unit"]) == ("Welch's t", "person")
    result = group_comparison(frame, factor="study", by=(), design="within")
    paired = frames(result)["tests"].iloc[0]
    assert (paired["test"], paired["statistic"]) == ("paired t", pytest.approx(4.0621, rel=1e-4))
    (answer,) = by_name("group_comparison").answer(result)
    assert "the same people in both groups" in answer.sentence


def test_models_are_compared_over_the_contexts_that_both_were_asked_under():
    draw = np.random.default_rng(8).normal
    values = draw(size=(15, 2, 4)) + draw(size=(15, 1, 1))
    frame = within(values, "respondent")
    test = frames(group_comparison(frame, factor="respondent", by=()))["tests"].iloc[0]
    means = values.mean(axis=2)
    assert test["p"] == pytest.approx(stats.ttest_rel(means[:, 1], means[:, 0]).pvalue)


def test_without_contexts_respondents_or_entities_are_the_units():
    draw = np.random.default_rng(9).normal
    values = draw(size=(12, 2, 3))
    for name, unit in (("respondent", "respondent"), ("entity", "entity")):
        frame = within(values)
        frame = frame.assign(**{name: frame["context"], "context": ""})
        test = frames(group_comparison(frame, factor="language", by=()))["tests"].iloc[0]
        assert (test["unit"], test["test"], test["n"]) == (unit, "paired t", 12)


def test_the_same_difference_in_every_context_has_no_test_but_is_there():
    values = np.array([[1.0, 2], [3, 4], [5, 6]])
    result = group_comparison(within(values[:, :, None]), factor="language")
    pair = frames(result)["pairs"].iloc[0]
    assert pair["difference"] == 1
    assert math.isnan(pair["p"])
    assert "the same in every row" in pair["remark"]


def test_an_effect_of_two_units_has_no_corrected_value_and_a_remark():
    values = np.array([[1.0, 2], [3, 5]])
    found = frames(group_comparison(within(values[:, :, None]), factor="language"))
    for name, corrected in (("tests", "corrected"), ("pairs", "g")):
        row = found[name].iloc[0]
        assert math.isnan(row[corrected])
        assert "needs three units" in row["remark"]


def rejections(icc, n, seed, contexts=10, repetitions=10):
    """The share of studies of two models that do not differ with p below .05."""
    draw = np.random.default_rng(seed).normal
    places = np.arange(contexts * 2 * repetitions, dtype=float)
    frame = within(places.reshape(contexts, 2, repetitions, 1), "respondent", repetitions)
    order, n_below = frame["score"].to_numpy(dtype=int), 0
    for _ in range(n):
        traits = math.sqrt(icc) * draw(size=(contexts, 2, 1))
        noise = math.sqrt(1 - icc) * draw(size=(contexts, 2, repetitions))
        frame = frame.assign(score=(traits + noise).ravel()[order])
        result = group_comparison(frame, factor="respondent", by=())
        n_below += frames(result)["tests"]["p"].item() < 0.05
    return n_below / n


@pytest.mark.parametrize("icc", [0, 0.3, 0.8])
def test_ten_personas_asked_ten_times_are_ten_units_in_a_few_studies(icc):
    # as 200 rows, about every second study with an ICC of .8 would have a p below .05
    assert rejections(icc, 25, seed=11) <= 0.2


@pytest.mark.slow
@pytest.mark.parametrize("icc", [0, 0.3, 0.8])
def test_ten_personas_asked_ten_times_keep_the_type_one_error(icc):
    assert 0.03 <= rejections(icc, 600, seed=12) <= 0.07


def test_formats_are_told_not_to_be_compared_by_means():
    frame = grouped(noisy({"likert_5": 2.0, "likert_7": 3.0}), "format")
    result = group_comparison(frame, factor="format")
    assert any("not comparable" in note for note in result.cautions)
    ends = {"likert_5": 5.0, "likert_7": 7.0}
    with_ends = frame.assign(lowest=1.0, highest=frame["format"].map(ends))
    (said,) = [
        note for note in group_comparison(with_ends, factor="format").cautions if "Points" in note
    ]
    assert said.endswith("Points: likert_5 (1 to 5), likert_7 (1 to 7).")


def test_a_group_that_does_not_vary_and_one_too_small_are_remarked_upon():
    tables = {"a": [[1], [2], [3]], "b": [[2], [2], [2]], "c": [[4], [6], [5]], "d": [[9]]}
    result = group_comparison(grouped(tables))
    found = frames(result)
    test = found["tests"].iloc[0]
    classic = stats.f_oneway([1, 2, 3], [2, 2, 2], [4, 6, 5])
    assert test["test"] == "classic F"
    assert (test["statistic"], test["p"]) == pytest.approx((classic.statistic, classic.pvalue))
    assert (test["df1"], test["df2"]) == (2, 6)
    assert "classic F" in test["remark"]
    assert "fewer than two scores: d" in test["remark"]
    groups = found["groups"].set_index("group")
    assert "needs two scores" in groups.loc["d", "remark"]
    assert math.isnan(groups.loc["d", "ci_low"])
    assert "every score is the same" in groups.loc["b", "remark"]
    assert math.isnan(groups.loc["b", "ci_low"])
    lone = found["pairs"].set_index(["first", "second"]).loc[("a", "d")]
    assert math.isnan(lone["t"])
    assert "each group needs two members" in lone["remark"]
    assert any("a with d, b with d, c with d: Undefined" in note for note in result.cautions)
    assert (result.n_used, result.n_left_out) == (9, 1)


def test_above_twelve_groups_each_is_compared_with_the_first_only():
    tables = noisy({f"g{number:02d}": 2.0 for number in range(13)}, n=4)
    result = group_comparison(grouped(tables))
    pairs = frames(result)["pairs"]
    assert pairs["first"].unique().tolist() == ["g00"]
    assert len(pairs) == 12
    assert any("of 13 groups, each is compared with the first only" in n for n in result.all_notes)


def test_answers_missing_are_counted_and_half_may_be_enough():
    tables = noisy({"a": 2.0, "b": 3.0}, n=5)
    tables["a"][0, 0] = np.nan
    result = group_comparison(grouped(tables))
    row = frames(result)["groups"].set_index("group").loc["a"]
    assert (row["n"], row["n_missing"]) == (4, 1)
    test = frames(result)["tests"].iloc[0]
    assert (test["n"], test["n_missing"]) == (12, 1)
    assert (result.n_used, result.n_missing, result.n_left_out) == (48, 1, 3)
    half = group_comparison(grouped(tables), incomplete="half")
    assert (half.n_used, half.n_missing, half.n_left_out) == (51, 1, 0)


def test_a_scale_that_nobody_varies_on_is_undefined_and_does_not_hide_the_others():
    tables = noisy({"a": 2.0, "b": 3.0})
    for values in tables.values():
        values[:, 2:] = 3
    result = group_comparison(grouped(tables, subscales=SUBSCALES))
    tests = frames(result)["tests"].set_index("scale")
    assert tests["p"].isna().to_dict() == {"all items": False, "x": False, "y": True}
    assert "neither group varies" in tests.loc["y", "remark"]
    assert any("scale y: Undefined" in note for note in result.cautions)
    assert math.isnan(tests.loc["y", "p_adjusted"])


def test_categories_as_the_store_reads_them_give_the_same():
    frame = grouped(noisy({"a": 2.0, "b": 3.0, "c": 2.0}), subscales=SUBSCALES)
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "iuf"]
    stored = frame.astype(dict.fromkeys(texts, "category"))
    for own, other in zip(
        group_comparison(frame).tables, group_comparison(stored).tables, strict=True
    ):
        pd.testing.assert_frame_equal(own.frame, other.frame)


@given(st.integers(0, 10_000), st.floats(-50, 50))
@few_examples
def test_blind_to_the_order_of_rows_and_to_the_origin_of_the_points(seed, shift):
    frame = grouped(noisy({"a": 2.0, "b": 2.5, "c": 3.5}, n=6, seed=seed))
    wanted = frames(group_comparison(frame))
    other = frame.sample(frac=1, random_state=seed)
    other["score"] += shift
    found = frames(group_comparison(other))
    assert found["groups"]["mean"].to_numpy() == pytest.approx(
        wanted["groups"]["mean"].to_numpy() + shift, abs=1e-9
    )
    for name, values in (("tests", ["p", "value", "ci_high"]), ("pairs", ["p", "d", "ci_low"])):
        own, own_wanted = (one[name][values].to_numpy() for one in (found, wanted))
        assert own == pytest.approx(own_wanted, abs=1e-7)


def test_nothing_to_compare_is_an_error_with_a_next_step():
    frame = grouped({"a": [[1], [2], [3]]})
    with pytest.raises(NotEnoughData, match="No groups can be compared") as caught:
        group_comparison(frame)
    assert "two groups" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="each group needs two members"):
        group_comparison(grouped({"a": [[1]], "b": [[2]]}))
    with pytest.raises(NotEnoughData, match="no factor context_set"):
        group_comparison(frame.drop(columns="context_set"))
    with pytest.raises(NotEnoughData, match="no factor rewriting"):
        group_comparison(frame, factor="rewriting")
    with pytest.raises(NotEnoughData, match="no answers yet"):
        group_comparison(frame.iloc[:0])


def test_groups_are_compared_over_the_ways_of_asking_that_both_have():
    # The same answers of both languages to the original; German was also asked the negation,
    # where everyone scores 5. The means are equal, not 3 and 4.
    same = [[2, 2], [3, 3], [4, 4]]
    frame = pd.concat(
        [
            grouped({"en": same, "de": same}, "language", form="original"),
            grouped({"de": [[5, 5], [5, 5], [5, 5]]}, "language", form="negation").assign(
                administration=lambda own: own["administration"] + 2**40
            ),
        ]
    )
    for contexts in (frame["context"], frame["context"].str[2:]):
        result = group_comparison(frame.assign(context=contexts), factor="language", by=())
        found = frames(result)
        assert found["groups"]["mean"].tolist() == [3, 3]
        assert found["groups"]["n"].tolist() == [3, 3]
        assert any("left out: de with form negation." in text for text in result.cautions)
        assert result.n_left_out == 6


def test_contexts_that_one_group_alone_was_asked_under_are_not_paired():
    one, more = [[2, 2], [3, 4]], [[2, 2], [3, 3], [5, 5]]
    frame = grouped({"en": one, "de": more}, "language").assign(people=False)
    shared = frame.assign(context=frame["context"].str[2:])
    result = group_comparison(shared, factor="language", by=())
    test = frames(result)["tests"].iloc[0]
    assert (test["n"], test["n_missing"], test["test"]) == (2, 1, "paired t")
    assert frames(result)["pairs"]["difference"].item() == pytest.approx(0.25)
    apart = frames(group_comparison(frame, factor="language", by=()))
    assert apart["tests"]["test"].item() == "Welch's t"
    assert sorted(apart["groups"]["mean"].tolist()) == pytest.approx([2.75, 10 / 3])


def test_of_three_groups_the_sentence_names_the_pairs_that_differ_and_those_of_few():
    row = {"first": "a", "second": "b", "p_adjusted": 0.9}
    pairs = [row, {**row, "second": "c", "p_adjusted": 0.01}, {**row, "first": "b", "second": "c"}]
    assert module._pairs_text(pairs) == "; pairs that differ: a and c"
    assert module._pairs_text([row, row]) == "; pairs that differ: none by itself"
    assert module._pairs_text([pairs[1]]) == "; every pair differs"
    groups = [{"group": "a", "n": 30}, {"group": "b", "n": 4}, {"group": "c", "n": 0}]
    assert module._few_text(groups) == " (few: n of b 4)"
    assert module._few_text(groups[:1]) == ""
