from __future__ import annotations

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.stats import pearsonr

from core import progress
from core.analysis.items.item_statistics import item_statistics, item_summary
from core.errors import NotEnoughData
from tests.analysis.score_frames import golden, item_scores

GAPS = st.one_of(st.integers(1, 5).map(float), st.just(float("nan")))
MATRICES = hnp.arrays(float, st.tuples(st.integers(4, 9), st.integers(3, 5)), elements=GAPS)
NUMBERS = ["mean", "variance", "discrimination", "ci_low", "ci_high", "alpha_if_dropped"]


def items_of(frame, **options):
    return item_statistics(frame, **options).tables[0].frame


def numbers_of(frame, **options):
    return items_of(frame, **options).set_index("item")[NUMBERS].sort_index()


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
@pytest.mark.parametrize("data", ["hs1939", "likert22"])
def test_agrees_with_psych(data, missing):
    expected, frame, tolerance = golden("item_statistics", data)
    rows = items_of(frame, missing=missing).set_index("item")
    for part in expected.values():
        own = rows.loc[part["items"]]
        for name, theirs in (("discrimination", "r_drop"), ("alpha_if_dropped",) * 2):
            for item, value in part[missing][theirs].items():
                assert own.loc[item, name] == pytest.approx(value, abs=tolerance)
        # Mean and spread always use every answer, as psych does under "pairwise".
        for item in part["items"]:
            assert own.loc[item, "mean"] == pytest.approx(part["pairwise"]["mean"][item])
            assert own.loc[item, "sd"] == pytest.approx(part["pairwise"]["sd"][item])
            assert own.loc[item, "n"] == part["pairwise"]["n"][item]
        if missing == "listwise":
            assert own["n_discrimination"].tolist() == list(part["listwise"]["n"].values())


def test_worked_by_hand():
    # Items (1,2,3,4), (1,3,2,4), (2,2,4,4). Rest of the first: (3,5,6,8): sums of squares 5 and 13,
    # product (-1.5)(-2.5) + (-.5)(-.5) + (.5)(.5) + (1.5)(2.5) = 8; r = 8 / sqrt(65).
    rows = items_of(item_scores([[1, 1, 2], [2, 3, 2], [3, 2, 4], [4, 4, 4]], keyed=[1, 1, -1]))
    first = rows.iloc[0]
    assert first["discrimination"] == pytest.approx(8 / 65**0.5, abs=1e-14)
    assert (first["mean"], first["variance"]) == pytest.approx((2.5, 5 / 3))
    # Fisher: atanh(r) -+ 1.959964 / sqrt(4 - 3)
    z = np.arctanh(8 / 65**0.5)
    low, high = np.tanh([z - 1.9599639845, z + 1.9599639845])
    assert (first["ci_low"], first["ci_high"]) == pytest.approx((low, high), abs=1e-9)
    # Without it, items two and three: variances 5/3 and 4/3, of their sum (3,5,6,8) 13/3; alpha
    # = 2 (1 - 3 / (13/3)).
    assert first["alpha_if_dropped"] == pytest.approx(2 * (1 - 9 / 13))
    assert rows["keyed"].tolist() == [1, 1, -1]


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_without_a_constant_item_alpha_is_that_of_the_items_that_vary(missing):
    """A constant adds nothing to the variance of the sum, and does not count among the items."""
    values = [[1, 1, 3, 2], [2, 3, 3, 2], [3, 2, 3, 4], [4, 4, 3, 4]]
    rows = items_of(item_scores(values), missing=missing)
    # Items (1,2,3,4), (1,3,2,4), (2,2,4,4): variances 5/3, 5/3, 4/3, of their sum (4,7,9,12) 34/3;
    # alpha = 3/2 (1 - (14/3) / (34/3)) = 15/17. Taken for one of four items, it were 45/34 - 5/17.
    constant = rows[rows["item"] == "i3"].iloc[0]
    assert constant["alpha_if_dropped"] == pytest.approx(15 / 17)
    # without the first, the second and the fourth item: as in the case worked by hand
    first = rows[rows["item"] == "i1"].iloc[0]
    assert first["alpha_if_dropped"] == pytest.approx(2 * (1 - 9 / 13))


def test_agrees_with_scipy_within_each_group():
    rng = np.random.default_rng(8)
    parts = [rng.integers(1, 6, (12, 4)), rng.integers(1, 6, (15, 4))]
    frame = pd.concat(
        item_scores(values, respondent=name, start=100 * len(name))
        for values, name in zip(parts, ("a", "bb"), strict=True)
    )
    rows = items_of(frame, ci_level=0.9)
    for values, name in zip(parts, ("a", "bb"), strict=True):
        own = rows[rows["respondent"] == name]
        for i in range(4):
            theirs = pearsonr(values[:, i], np.delete(values, i, axis=1).sum(axis=1))
            interval = theirs.confidence_interval(0.9)
            row = own.iloc[i]
            assert row["discrimination"] == pytest.approx(theirs.statistic)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high))
    assert list(rows.columns[:3]) == ["respondent", "subscale", "item"]


@given(MATRICES, st.randoms(use_true_random=False), st.sampled_from(["listwise", "pairwise"]))
def test_order_and_origin_do_not_matter(values, random, missing):
    if np.isnan(values).all():
        return
    frame = item_scores(values)
    rows = list(range(len(frame)))
    random.shuffle(rows)
    expected = numbers_of(frame, missing=missing)
    shuffled = numbers_of(frame.iloc[rows], missing=missing)
    np.testing.assert_allclose(shuffled, expected, atol=1e-9)
    moved = numbers_of(frame.assign(score=frame["score"] + 7), missing=missing)
    moved["mean"] -= 7
    np.testing.assert_allclose(moved, expected, atol=1e-9)


@given(MATRICES)
def test_reversing_twice_is_no_reversing_and_reversing_once_changes_the_sign(values):
    if np.isnan(values).all():
        return
    frame = item_scores(values)
    is_first = frame["item"] == "i1"
    once = frame.assign(score=frame["score"].where(~is_first, 6 - frame["score"]))
    twice = once.assign(score=once["score"].where(~is_first, 6 - once["score"]))
    np.testing.assert_allclose(numbers_of(twice), numbers_of(frame), atol=1e-12)
    np.testing.assert_allclose(
        numbers_of(once).loc["i1", "discrimination"],
        -numbers_of(frame).loc["i1", "discrimination"],
        atol=1e-9,
    )


def test_adding_a_refusal_changes_no_mean_and_is_counted():
    values = [[1, 1, 2], [2, 3, 2], [3, 2, 4], [4, 4, 4]]
    before = item_statistics(item_scores(values))
    after = item_statistics(item_scores([*values, [np.nan] * 3]))
    rows, more = before.tables[0].frame, after.tables[0].frame
    pd.testing.assert_frame_equal(rows.drop(columns="missing"), more.drop(columns="missing"))
    assert more["missing"].tolist() == [1, 1, 1]
    assert (after.n_used, after.n_missing) == (12, 3)


def test_the_summary_counts_items_by_group():
    values = [[1, 1, 2, 3], [2, 3, 2, 3], [3, 2, 4, 3], [4, 4, 4, np.nan], [1, 3, 3, 3]]
    result = item_statistics(item_scores(values, keyed=[1, -1, 1, 1]))
    items, summary = (table.frame for table in result.tables)
    row = summary.iloc[0]
    r = items["discrimination"]
    assert (row["items"], row["zero_variance_items"]) == (4, 1)
    assert row["good_items"] == sum(0.4 <= value <= 0.7 for value in r)
    assert row["mean_r_reverse"] == pytest.approx(r[1])
    assert row["mean_r_standard"] == pytest.approx(r[[0, 2]].mean())
    assert (row["scores_used"], row["missing"]) == (19, 1)


def test_undefined_statistics_are_nan_and_named():
    values = np.array([[1.0, 2, 5, 1, 1], [2, 2, 5, 2, 2], [3, 2, 5, 4, 5], [5, 2, 5, 3, 1]])
    frame = item_scores(values, subscales=["x", "x", "x", "alone", "two"])
    never = item_scores(values[:, :1] * np.nan, items=["never"], subscales=["two"])
    result = item_statistics(pd.concat([frame, never]))
    rows = result.tables[0].frame.set_index("item")
    assert rows.loc[["i2", "i3", "i4", "i5", "never"], "discrimination"].isna().all()
    assert rows.loc["i1", "discrimination"] != rows.loc["i1", "discrimination"]  # rest is constant
    assert rows.loc["i2", "variance"] == 0
    said = "\n".join(result.all_notes)
    assert "gpt: 2 items i2, i3: zero variance, so discrimination is undefined." in said
    assert "gpt: item i4: the only item of its subscale" in said
    assert "gpt: item never: no usable answer." in said
    assert "item" in said
    assert "i1, i5: discrimination is undefined (too few administrations" in said
    assert "administrations as independent" in said


@pytest.mark.parametrize("seed", range(8))
def test_what_rounding_leaves_of_a_constant_sum_is_not_variance(seed):
    others = np.random.default_rng(seed).normal(size=(9, 1)) / 3
    values = np.hstack([np.arange(9.0)[:, None] % 4, others, 0.7 - others])
    rows = items_of(item_scores(values)).set_index("item")
    assert np.isnan(rows.loc["i1", "discrimination"])
    assert rows.loc[["i2", "i3"], "discrimination"].notna().all()


def test_many_items_are_counted_and_the_first_named():
    values = np.column_stack([np.arange(5.0), np.ones((5, 8))])
    notes = item_statistics(item_scores(values)).all_notes
    assert any("8 items i2, i3, i4, i5, i6 and 3 more: zero variance" in note for note in notes)


def test_two_items_of_perfect_agreement_have_no_interval():
    result = item_statistics(item_scores([[1, 1], [2, 2], [3, 3], [4, 4]]))
    rows = result.tables[0].frame
    assert rows["discrimination"].tolist() == pytest.approx([1, 1])
    assert rows[["ci_low", "alpha_if_dropped"]].isna().all(axis=None)
    said = "\n".join(result.all_notes)
    assert "2 items i1, i2: no interval" in said
    assert "alpha if dropped is undefined" in said


def test_one_administration_and_identical_ones_are_pointed_out():
    one = item_statistics(item_scores([[1, 2, 3]]))
    assert one.tables[0].frame["mean"].tolist() == [1, 2, 3]
    assert one.tables[0].frame["variance"].isna().all()
    assert "gpt: there is only one administration" in one.cautions[0]
    same = item_statistics(item_scores([[1, 2, 3]] * 4, respondent="echo"))
    assert "echo: all 4 administrations are identical" in same.cautions[0]


def test_trials_not_asked_and_several_studies_are_pointed_out():
    frame = item_scores([[1, 2, 3], [2, 1, np.nan], [3, 3, 1]])
    frame["status"] = frame["status"].replace("refused", "not_asked")
    other = item_scores([[1, 2, 2]], start=9, study="t")
    said = "\n".join(item_statistics(pd.concat([frame, other])).all_notes)
    assert "1 planned trials have not been asked yet" in said
    assert "Answers of 2 studies are analyzed together." in said


def test_nothing_scored_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="no scored answers") as caught:
        item_statistics(item_scores([[np.nan, np.nan]]))
    assert caught.value.remedy


def test_a_pair_of_items_never_answered_together_leaves_pairwise_numbers_undefined():
    values = [[1, np.nan, 2], [2, np.nan, 1], [np.nan, 3, 3], [np.nan, 4, 1]]
    rows = items_of(item_scores(values), missing="pairwise")
    assert rows["discrimination"].isna().all()
    assert rows["mean"].notna().all()


def test_ten_thousand_items_are_no_trouble():
    values = np.random.default_rng(2).integers(1, 6, (30, 10_000)).astype(float)
    result = item_statistics(item_scores(values))
    assert len(result.tables[0].frame) == 10_000


def test_scores_left_out_of_discrimination_are_told():
    frame = item_scores([[1, 1, 2], [2, 3, 2], [3, 2, 4], [4, 4, 4], [1, 5, np.nan]])
    told = (
        "Discrimination and alpha leave out 2 usable scores in incomplete administrations; means "
        "and variances use them."
    )
    assert told in item_statistics(frame, missing="listwise").all_notes
    assert told not in item_statistics(frame, missing="pairwise").all_notes
    assert item_statistics(frame).n_planned == 15


def remarks_of(frame, **options):
    return items_of(frame, **options).set_index("item")["remark"]


def test_difficulty_is_the_mean_as_a_share_of_the_scores_that_came_up():
    # Lowest 1 and highest 5 of the format: means 2 and 4 are a quarter and three quarters up.
    rows = items_of(item_scores([[1, 5], [3, 3]])).set_index("item")
    assert rows["difficulty"].tolist() == pytest.approx([0.25, 0.75])
    # The ends are those of the format anywhere in the data, so another model's answers count.
    both = pd.concat(
        [
            item_scores([[1, 2], [2, 2]], respondent="a", format="five"),
            item_scores([[5, 5]], respondent="b", format="five", start=5),
            item_scores([[0, 1]], respondent="c", format="two", start=9),
        ]
    )
    result = item_statistics(both)
    rows = result.tables[0].frame.set_index(["respondent", "item"])["difficulty"]
    assert rows["a", "i1"] == pytest.approx((1.5 - 1) / 4)
    assert (rows["b", "i1"], rows["c", "i1"], rows["c", "i2"]) == (1, 0, 1)
    assert any("narrower than the options printed" in note for note in result.cautions)


def test_difficulty_leaves_gaps_out_and_is_undefined_where_one_score_came_up():
    rows = items_of(item_scores([[1, np.nan], [np.nan, 3], [4, 4], [5, 2]]))
    assert rows["difficulty"].tolist() == pytest.approx([(10 / 3 - 1) / 4, (3 - 1) / 4])
    same = item_statistics(item_scores([[2, 2], [2, 2]]))
    assert same.tables[0].frame["difficulty"].isna().all()
    assert any("difficulty is undefined (only one score came up" in note for note in same.all_notes)


def test_a_reverse_keyed_item_answered_like_the_others_is_told_from_a_misfit():
    # As worded, i3 rises with i1 and i2; recoded (6 - x) it falls.
    raw = np.array([[1.0, 1, 1], [2, 3, 2], [3, 3, 4], [4, 4, 4], [5, 4, 5], [2, 1, 2]])
    recoded = raw * [1, 1, -1] + [0, 0, 6]
    said = remarks_of(item_scores(recoded, keyed=[1, 1, -1]))
    assert said["i3"].startswith("Answered in the direction opposite to its key: as worded")
    assert "overlook the negation" in said["i3"]
    assert "include" not in said["i3"]  # r is near -1, so chance is no explanation
    # The same numbers with a standard key: there is no wording to overlook.
    said = remarks_of(item_scores(recoded, keyed=[1, 1, 1]))
    assert said["i3"].startswith("Goes against the other items: it may be keyed the wrong way")
    # Three reverse-keyed items are understood, and the fourth rises with what they deny: as worded,
    # too, it goes against most of the others.
    trait = np.arange(1.0, 6)
    noise = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]])
    scores = np.column_stack([trait[:, None] + noise, 6 - trait])
    rows = items_of(item_scores(scores, keyed=[1, -1, -1, -1, -1])).set_index("item")
    assert rows.loc["i5", "discrimination"] < -0.9
    assert rows.loc["i5", "remark"].startswith("Goes against the other items")
    assert (rows.loc[["i1", "i2", "i3", "i4"], "remark"] == "").all()


def test_a_negative_discrimination_that_may_be_chance_is_called_so():
    values = [[1, 2, 3], [2, 1, 2], [3, 3, 3], [4, 4, 2], [5, 5, 3], [3, 4, 2], [2, 2, 3]]
    frame = item_scores(values)
    row = items_of(frame).set_index("item").loc["i3"]
    assert -1 < row["discrimination"] < 0 < row["ci_high"]
    assert row["remark"].endswith("The interval includes 0, so it may be chance.")
    assert any("i3: negative discrimination" in note for note in item_statistics(frame).cautions)


def test_a_standard_item_among_reverse_keyed_ones_answered_alike_is_told():
    raw = np.array([[1.0, 1, 2], [2, 2, 2], [3, 4, 3], [4, 4, 5], [5, 5, 4], [1, 2, 1]])
    keyed = [1, -1, -1]
    frame = item_scores(np.where(np.array(keyed) < 0, 6 - raw, raw), keyed=keyed)
    rows = items_of(frame).set_index("item")
    assert rows.loc["i1", "discrimination"] < 0
    assert "reverse-keyed ones among them" in rows.loc["i1", "remark"]


def test_remarks_name_why_a_number_is_undefined():
    values = np.array([[1.0, 5, 1, 2], [2, 5, 1, 2], [3, 5, 1, 2], [5, 5, 4, 2], [1, 5, 1, np.nan]])
    values = np.column_stack([values, [1, 1, 2, 2, 4], np.full(5, np.nan), [3] + [np.nan] * 4])
    frame = item_scores(values, subscales=["x", "x", "x", "y", "alone", "x", "x"])
    said = remarks_of(frame, missing="pairwise")
    assert said["i2"].startswith("Zero variance")
    assert said["i4"].startswith("Zero variance")
    assert said["i5"].startswith("The only item of its subscale")
    assert said["i6"] == "No usable answer."
    assert said["i7"] == "Only one usable answer, so nothing can vary."
    rows = remarks_of(item_scores([[1, 1, 4], [2, 1, 2], [3, 1, 5], [5, 3, 4], [4, 1, 1]]))
    assert rows["i2"].endswith("its discrimination rests on one administration.")
    assert remarks_of(item_scores([[1, 5], [2, 5], [3, 5]]))["i1"].startswith(
        "Discrimination is undefined: too few"
    )


def test_the_summary_stands_by_subscale_and_then_for_all_items():
    rng = np.random.default_rng(3)
    common = rng.normal(size=(60, 1))
    values = np.clip(np.round(3 + common * [1, 1, 1, 1, 0.2, -1, 1, 1]), 1, 5) + 0.0
    values[:, 2:] += np.round(rng.normal(size=(60, 6)) * 0.8)
    values[:, 7] = 2
    keyed, subscales = [1, 1, 1, -1, -1, -1, 1, 1], ["x"] * 6 + ["y"] * 2
    result = item_statistics(item_scores(values, keyed=keyed, subscales=subscales))
    items, summary = (table.frame for table in result.tables)
    assert summary["subscale"].tolist() == ["x", "y", "all items"]
    for _, row in summary.iterrows():
        own = items if row["subscale"] == "all items" else items[items.subscale == row["subscale"]]
        r = own["discrimination"].tolist()
        assert row["undefined_items"] == sum(np.isnan(r))
        assert row["below_items"] == sum(value < 0.4 for value in r)
        assert row["above_items"] == sum(value > 0.7 for value in r)
        assert row["negative_items"] == sum(value < 0 for value in r)
        counts = row[["undefined_items", "below_items", "good_items", "above_items"]]
        assert counts.sum() == row["items"] == len(own)
    x = summary.iloc[0]
    assert x["negative_items"] == 1
    assert x["above_items"] > 0
    assert x["mean_item_mean"] == pytest.approx(values[:, :6].mean())
    assert x["mean_reverse"] == pytest.approx(values[:, 3:6].mean())
    assert x["mean_standard"] == pytest.approx(values[:, :3].mean())
    assert np.isnan(summary.iloc[1]["mean_reverse"])  # no reverse-keyed item in y


def test_the_summary_worked_by_hand_from_a_table_of_items():
    items = pd.DataFrame(
        {
            "model": ["a"] * 5 + ["b"],
            "subscale": "s",
            "keyed": [1, 1, 1, -1, -1, 1],
            "n": 10,
            "missing": [0, 1, 0, 0, 0, 3],
            "mean": [1.0, 2, 3, 4, 6, 2],
            "discrimination": [0.4, 0.7, 0.71, -0.2, np.nan, 0.39],
            "zero_variance": [False] * 4 + [True, False],
        }
    )
    first, second = item_summary(items, ("model",)).to_dict("records")
    assert first == {
        "model": "a",
        "subscale": "s",
        "items": 5,
        "zero_variance_items": 1,
        "undefined_items": 1,
        "good_items": 2,
        "below_items": 1,
        "above_items": 1,
        "negative_items": 1,
        "mean_r_reverse": -0.2,
        "mean_r_standard": pytest.approx(1.81 / 3),
        "mean_item_mean": 3.2,
        "mean_reverse": 5,
        "mean_standard": 2,
        "scores_used": 50,
        "missing": 1,
    }
    assert (second["model"], second["good_items"], second["below_items"]) == ("b", 0, 1)
    assert item_summary(items, ()).columns[0] == "subscale"


def test_whoever_watches_is_told_how_far_it_is():
    seen = []
    frame = item_scores([[1, 2], [2, 1], [3, 3]], subscales=["x", "y"])
    with progress.watch(lambda *step: seen.append(step)):
        item_statistics(frame)
    assert seen == [(0, 2, "groups and subscales"), (1, 2, "groups and subscales")]


def test_an_item_nobody_answered_costs_the_others_nothing():
    values = np.array([[1, 2, 5.0], [2, 4, 4], [4, 3, 2], [5, 5, 1]])
    gap = np.column_stack([values[:, :2], [np.nan] * 4, values[:, 2:]])
    found = item_statistics(item_scores(gap)).tables[0].frame
    plain = item_statistics(item_scores(values)).tables[0].frame
    others = found[found["item"] != "i3"]
    for name in ("discrimination", "alpha_if_dropped", "n_discrimination"):
        assert others[name].tolist() == pytest.approx(plain[name].tolist(), nan_ok=True)
    (never,) = found[found["item"] == "i3"].to_dict("records")
    assert never["n"] == 0
    assert never["n_discrimination"] == 0
    assert np.isnan(never["discrimination"])


def test_difficulty_takes_the_ends_of_the_options_where_they_are_known():
    """Answers 1 to 3 of options 0 to 5: the range is that of the options."""
    values = [[1, 2], [3, 2], [2, 1], [1, 3]]
    frame = item_scores(values).assign(lowest=0.0, highest=5.0)
    found = item_statistics(frame)
    assert found.tables[0].frame["difficulty"].tolist() == pytest.approx([1.75 / 5, 2 / 5])
    assert not any("so difficulty takes" in note for note in found.all_notes)
    for unknown in (
        item_scores(values),
        frame.assign(lowest=np.nan),
        frame.assign(highest=2.0),  # an imported score lies beyond it
    ):
        found = item_statistics(unknown)
        assert found.tables[0].frame["difficulty"].tolist() == pytest.approx([0.75 / 2, 1 / 2])
        assert any("so difficulty takes" in note for note in found.all_notes)
