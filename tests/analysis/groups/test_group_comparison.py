from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from core.analysis.groups.group_comparison.analysis import group_comparison
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

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
    assert found["groups"]["group"].tolist() == ["original", "a"]
    frame = grouped({"c": [[1], [2], [3], [5]]})
    typed = (("c0", "low"), ("c2", "high"), ("c1", "low"), ("c3", "high"))
    found = frames(group_comparison(frame, groups=typed))
    assert found["pairs"][["first", "second", "difference"]].to_numpy().tolist() == [
        ["low", "high", 2.5]
    ]


def test_the_same_contexts_under_several_groups_are_pointed_out():
    tables = noisy({"original": 2.0, "b": 3.0})
    frame = grouped(tables, "form")
    apart = group_comparison(frame, factor="form")
    assert not any("pair by pair" in note for note in apart.all_notes)
    frame["context"] = frame["context"].str.extract(r"(\d+)$")[0].to_numpy()
    (note,) = [n for n in group_comparison(frame, factor="form").cautions if "pair by pair" in n]
    assert note.endswith("Score correlations makes it.")
    people = frame.assign(respondent=frame["form"], form="original")
    (note,) = [
        n
        for n in group_comparison(people, factor="respondent", by=()).cautions
        if "pair by pair" in n
    ]
    assert "Score correlations" not in note  # it pairs no respondents


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


def test_contexts_that_one_group_alone_was_asked_under_are_left_out_unless_all_are_its_own():
    one, more = [[2, 2], [3, 3]], [[2, 2], [3, 3], [5, 5]]
    frame = grouped({"en": one, "de": more}, "language").assign(people=False)
    shared = frame.assign(context=frame["context"].str[2:])
    result = group_comparison(shared, factor="language", by=())
    assert frames(result)["groups"]["mean"].tolist() == [2.5, 2.5]
    assert any("left out: de with context 2." in text for text in result.cautions)
    apart = frames(group_comparison(frame, factor="language", by=()))
    assert sorted(apart["groups"]["mean"].tolist()) == pytest.approx([2.5, 10 / 3])
