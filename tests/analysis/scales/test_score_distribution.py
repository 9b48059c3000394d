from __future__ import annotations

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import kurtosis, skew

from core import progress
from core.analysis.scales.score_distribution import score_distribution
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores

LIKERT = hnp.arrays(
    float, st.tuples(st.integers(4, 12), st.integers(2, 4)), elements=st.integers(1, 5).map(float)
)
SHAPE = ["n", "mean", "sd", "skewness", "kurtosis", "min", "q1", "median", "q3", "max"]


def scores_of(frame, **options):
    return score_distribution(frame, **options).tables[0].frame


def test_worked_by_hand():
    # Scores 1, 2, 3, 6: mean 3, deviations -2, -1, 0, 3; m2 = 14/4, m3 = 18/4, m4 = 98/4.
    row = scores_of(item_scores([[1, 1], [2, 2], [2, 4], [6, 6]])).iloc[0]
    m2, m3, m4, n = 14 / 4, 18 / 4, 98 / 4, 4
    g1, g2 = m3 / m2**1.5, m4 / m2**2 - 3
    assert row["mean"] == 3
    assert row["variance"] == pytest.approx(14 / 3)
    assert row["sd"] == pytest.approx((14 / 3) ** 0.5)
    assert row["skewness"] == pytest.approx(g1 * (n * (n - 1)) ** 0.5 / (n - 2))
    assert row["kurtosis"] == pytest.approx((n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * g2 + 6))
    assert (row["min"], row["q1"], row["median"], row["q3"], row["max"]) == (1, 1.75, 2.5, 3.75, 6)
    assert row["range"] == 5
    assert (row["floor"], row["ceiling"]) == (0.25, 0.25)


def test_agrees_with_scipy():
    values = np.random.default_rng(4).integers(1, 6, (25, 6)).astype(float)
    row = scores_of(item_scores(values)).iloc[0]
    means = values.mean(axis=1)
    assert row["skewness"] == pytest.approx(skew(means, bias=False))
    assert row["kurtosis"] == pytest.approx(kurtosis(means, bias=False))


def test_subscales_and_all_items_stand_together_within_each_group():
    values = [[1, 2, 3], [2, 2, 5], [3, 5, 5]]
    frame = pd.concat(
        item_scores(values, respondent=name, start=start, subscales=["x", "x", "y"])
        for name, start in (("a", 1), ("b", 10))
    )
    rows = scores_of(frame)
    assert rows["respondent"].tolist() == ["a"] * 3 + ["b"] * 3
    assert rows["subscale"].tolist() == ["x", "y", "all items"] * 2
    assert rows["mean"].tolist()[:3] == pytest.approx([15 / 6, 13 / 3, 28 / 9])
    assert scores_of(item_scores(values))["subscale"].tolist() == ["s"]


def test_the_missing_rule_decides_which_administrations_have_a_score():
    frame = item_scores([[1, 3], [2, np.nan], [5, 5], [np.nan, np.nan]])
    complete, available = scores_of(frame).iloc[0], scores_of(frame, missing="available").iloc[0]
    assert (complete["n"], complete["missing"], complete["mean"]) == (2, 2, 3.5)
    assert (available["n"], available["missing"], available["mean"]) == (3, 1, 3)
    for rule, counts in (("listwise", (4, 1, 3)), ("half", (5, 0, 3)), ("available", (5, 0, 3))):
        result = score_distribution(frame, missing=rule)
        assert (result.n_used, result.n_left_out, result.n_missing) == counts
        assert result.n_planned == frame.shape[0]


def test_answers_to_half_of_the_items_make_a_score_and_are_counted_once():
    # of x and y: (3 of 3, 1 of 1), (1 of 3, 0 of 1), (1 of 3, 1 of 1), (2 of 3, 0 of 1)
    values = [
        [1, 2, 3, 4],
        [5, np.nan, np.nan, np.nan],
        [2, np.nan, np.nan, 4],
        [3, 5, np.nan, np.nan],
    ]
    frame = item_scores(values, subscales=["x", "x", "x", "y"])
    rows = scores_of(frame, missing="half").set_index("subscale")
    assert rows["n"].to_dict() == {"x": 2, "y": 2, "all items": 3}
    assert rows["mean"].to_dict() == {"x": 3, "y": 4, "all items": pytest.approx(9.5 / 3)}
    result = score_distribution(frame, missing="half")
    assert (result.n_used, result.n_left_out, result.n_missing) == (8, 1, 7)


@given(LIKERT, st.integers(-9, 9))
def test_order_does_not_matter_and_origin_only_moves(values, shift):
    expected = scores_of(item_scores(values))[SHAPE].to_numpy(dtype=float)
    for same in (values[::-1], values[:, ::-1]):
        found = scores_of(item_scores(same))[SHAPE].to_numpy(dtype=float)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    moved = scores_of(item_scores(values + shift))[SHAPE].to_numpy(dtype=float)
    moved[:, [1, 5, 6, 7, 8, 9]] -= shift
    np.testing.assert_allclose(moved, expected, atol=1e-6)


def test_adding_a_refusal_never_changes_a_score():
    values = [[1, 2], [2, 4], [5, 4], [3, 3]]
    for missing in ("listwise", "available"):
        before = scores_of(item_scores(values), missing=missing)
        after = scores_of(item_scores([*values, [np.nan, np.nan]]), missing=missing)
        assert after["missing"].item() == 1
        pd.testing.assert_frame_equal(before.drop(columns="missing"), after.drop(columns="missing"))


def test_floor_and_ceiling_are_judged_within_a_response_format():
    five = item_scores([[1, 1], [5, 5], [5, 4]], format="likert_5", respondent="a")
    seven = item_scores([[7, 7], [1, 2], [5, 5]], format="likert_7", respondent="b", start=9)
    rows = scores_of(pd.concat([five, seven]))
    assert rows["floor"].tolist() == pytest.approx([1 / 3, 0])
    assert rows["ceiling"].tolist() == pytest.approx([1 / 3, 1 / 3])


def test_bins_are_shared_by_groups_and_lose_nobody():
    frame = pd.concat(
        [
            item_scores([[1], [2], [3]], respondent="a"),
            item_scores([[4], [9], [9]], respondent="b", start=7),
        ]
    )
    bins = score_distribution(frame, bins=8).tables[1].frame
    a, b = (bins[bins["respondent"] == name].reset_index() for name in "ab")
    assert a["bin_low"].tolist() == b["bin_low"].tolist() == [low + 0.5 for low in range(9)]
    assert a["count"].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert b["count"].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 2]


def test_bins_stand_on_the_scores_there_can_be_and_subscales_of_a_format_share_their_range():
    values = [[1, 2, 3], [2, 2, 5], [3, 2, 4]]
    bins = score_distribution(item_scores(values, subscales=["x", "x", "y"])).tables[1].frame
    x, y = (bins[bins["subscale"] == name] for name in "xy")
    centers = ((x["bin_low"] + x["bin_high"]) / 2).tolist()
    assert centers == pytest.approx([1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5])
    assert x["count"].tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert ((y["bin_low"] + y["bin_high"]) / 2).tolist() == pytest.approx([1, 2, 3, 4, 5])


def test_scores_that_are_not_evenly_spaced_get_bins_of_equal_width():
    bins = score_distribution(item_scores([[1], [2.3], [9]]), bins=4).tables[1].frame
    assert bins["bin_low"].tolist() == [1, 3, 5, 7]
    assert bins["count"].tolist() == [2, 0, 0, 1]


@given(LIKERT, st.integers(4, 60), st.sampled_from(["listwise", "half", "available"]))
def test_no_score_falls_outside_the_bins(values, bins, missing):
    values[0, 0] = np.nan
    result = score_distribution(item_scores(values), bins=bins, missing=missing)
    assert result.tables[1].frame["count"].sum() == result.tables[0].frame["n"].sum()


def test_what_is_undefined_is_nan_and_named():
    same = score_distribution(item_scores([[3, 3]] * 5, repetition=np.repeat(range(5), 2)))
    row = same.tables[0].frame.iloc[0]
    assert row["sd"] == 0
    assert row[["skewness", "kurtosis", "floor", "ceiling"]].isna().all()
    said = "\n".join(same.all_notes)
    assert "gpt, s: skewness or kurtosis is undefined (all scores are equal)." in said
    assert "gpt, s: floor and ceiling are undefined (only one score came up)." in said
    assert "identical" in said
    assert "n overstates what is known" in said
    few = score_distribution(item_scores([[1, 2], [2, 2], [5, 5]]))
    assert "gpt, s: skewness or kurtosis is undefined (n = 3)." in few.all_notes
    gap = score_distribution(item_scores([[1, np.nan], [2, np.nan]], subscales=["x", "y"]))
    assert "gpt, y: no administration has a score." in gap.notes


def test_no_score_at_all_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="No administration has a score") as caught:
        score_distribution(item_scores([[1, np.nan], [np.nan, 2]]))
    assert caught.value.remedy


def test_floor_and_ceiling_effects_beyond_15_percent_are_pointed_out():
    values = [[1, 1]] * 3 + [[2, 3]] * 14 + [[5, 5]] * 3  # 3 of 20: 15 percent at either end
    assert not any("effect" in note for note in score_distribution(item_scores(values)).all_notes)
    said = score_distribution(item_scores([[1, 1], *values])).cautions
    assert (
        "Floor effect (more than 15% of administrations give the lowest answer throughout): gpt, s "
        "(19%). Differences beyond that end cannot show."
    ) in said
    assert not any("Ceiling effect" in note for note in said)
    # 13 of 86 are 15.1 percent: a share that is more than 15% is not written 15%
    near = score_distribution(item_scores([[1, 1]] * 13 + [[2, 3]] * 73))
    assert any("gpt, s (15.1%)" in note for note in near.cautions)
    top = score_distribution(item_scores([[5, 5], *values], subscales=["x", "y"])).cautions
    (note,) = (note for note in top if note.startswith("Ceiling effect"))
    assert "highest answer throughout): gpt, x (19%), gpt, y (19%), gpt, all items (19%)." in note


def test_models_and_context_sets_stand_side_by_side_each_with_its_histogram():
    frame = pd.concat(
        item_scores([[1, 2], [2, 4]], respondent=name, start=start).assign(context_set=kind)
        for start, name, kind in ((1, "a", "p"), (5, "a", "q"), (9, "b", "p"))
    )
    scores, bins = (
        table.frame for table in score_distribution(frame, by=("respondent", "context_set")).tables
    )
    expected = [("a", "p"), ("a", "q"), ("b", "p")]
    assert list(zip(scores["respondent"], scores["context_set"], strict=True)) == expected
    counts = bins.groupby(["respondent", "context_set"], sort=False)["count"].sum()
    assert counts.to_dict() == dict.fromkeys(expected, 2)


def test_whoever_watches_is_told_how_far_it_is():
    seen = []
    with progress.watch(lambda *step: seen.append(step)):
        score_distribution(item_scores([[1, 2], [2, 1]], subscales=["x", "y"]))
    assert seen == [(number, 3, "groups and subscales") for number in range(3)]
