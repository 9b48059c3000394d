from __future__ import annotations

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given

from core.analysis.scales.internal_consistency import internal_consistency
from core.analysis.scales.reliability import reliability
from core.errors import NotEnoughData
from tests.analysis.score_frames import GOLDEN, golden, item_scores

LIKERT = hnp.arrays(
    np.int64, st.tuples(st.integers(4, 12), st.integers(2, 6)), elements=st.integers(1, 5)
)
HAND = [[1, 1], [2, 3], [3, 2]]


def alpha_of(values, **options):
    result = internal_consistency(item_scores(values), **options)
    return result.tables[0].frame["alpha"].item()


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
@pytest.mark.parametrize("data", ["hs1939", "likert22"])
def test_agrees_with_psych(data, missing):
    expected, frame, tolerance = golden("internal_consistency", data)
    rows = internal_consistency(frame, missing=missing).tables[0].frame.set_index("subscale")
    assert list(rows.index) == list(expected)
    for subscale, part in expected.items():
        row, theirs = rows.loc[subscale], part[missing]
        assert row["n_administrations"] == theirs["n"]
        assert row["dropped"] == len(frame["administration"].unique()) - theirs["n"]
        assert row["alpha"] == pytest.approx(theirs["alpha"], abs=tolerance)
        ends = (theirs["feldt_low"], theirs["feldt_high"])
        if missing == "pairwise" and row["incomplete"]:  # psych counts every row as complete
            assert row["ci_high"] - row["ci_low"] > ends[1] - ends[0]
        else:
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(ends, abs=tolerance)


def test_a_constant_item_is_left_out_as_in_psych_and_named():
    expected, _, tolerance = golden("internal_consistency", "likert22")
    names = [f"i{number}" for number in range(12, 23)]  # i22 is constant
    values = pd.read_csv(GOLDEN / "internal_consistency" / "likert22.csv")[names]
    result = internal_consistency(item_scores(values, items=names), missing="pairwise")
    row = result.tables[0].frame.iloc[0]
    theirs = expected["F2"]["pairwise"]
    assert (row["n_items"], row["zero_variance_items"]) == (10, 1)
    assert row["alpha"] == pytest.approx(theirs["alpha"], abs=tolerance)
    assert "gpt, subscale s: left out for zero variance: i22." in result.all_notes


def test_worked_by_hand():
    # items (1,2,3) and (1,3,2): variances 1 and 1, covariance 1/2; alpha = 2 (1 - 2/3)
    assert alpha_of(HAND) == pytest.approx(2 / 3, abs=1e-14)
    # (1,2) and (2,1) cancel in the sum of three: the sum's variance is that of the third
    assert alpha_of([[1, 2, 1], [2, 1, 2]]) == pytest.approx(3 / 2 * (1 - 1.5 / 0.5))


@given(LIKERT)
def test_never_above_one_and_blind_to_item_order_row_order_and_origin(values):
    varying = values.var(axis=0) > 0
    assume(varying.sum() > 1)
    assume(values.sum(axis=1).var() > 0)
    alpha = alpha_of(values)
    assert alpha <= 1 + 1e-9
    for same in (values[:, ::-1], values[::-1], values + 7, 6 - (6 - values), 6 - values):
        assert alpha_of(same) == pytest.approx(alpha)


def test_identical_items_give_one_and_a_narrower_level_a_narrower_interval():
    assert alpha_of([[1, 1], [2, 2], [3, 3]]) == pytest.approx(1)
    frame = item_scores(np.random.default_rng(1).integers(1, 6, (30, 4)))
    wide, narrow = (
        internal_consistency(frame, ci_level=level).tables[0].frame.iloc[0] for level in (0.95, 0.8)
    )
    assert wide["ci_low"] < narrow["ci_low"] < wide["alpha"] < narrow["ci_high"] < wide["ci_high"]
    titles = {c.name: c.title for c in internal_consistency(frame, ci_level=0.8).tables[0].columns}
    assert titles["ci_high"] == "80% CI high"


def test_refusals_are_counted_not_scored():
    result = internal_consistency(item_scores([*HAND, [np.nan, 5]]), missing="listwise")
    row = result.tables[0].frame.iloc[0]
    assert row["alpha"] == pytest.approx(2 / 3)
    assert (row["n_administrations"], row["dropped"]) == (3, 1)
    assert (result.n_used, result.n_left_out, result.n_missing) == (6, 1, 1)
    pairwise = internal_consistency(item_scores([*HAND, [np.nan, 5]]), missing="pairwise")
    assert (pairwise.n_used, pairwise.n_left_out, pairwise.n_missing) == (7, 0, 1)


def test_groups_stand_side_by_side():
    frame = pd.concat(
        [
            item_scores(HAND, respondent="a"),
            item_scores([[1, 1], [2, 2], [3, 3]], respondent="b", start=9),
        ]
    )
    rows = internal_consistency(frame).tables[0].frame
    assert rows["respondent"].tolist() == ["a", "b"]
    assert rows["alpha"].tolist() == pytest.approx([2 / 3, 1])
    whole = internal_consistency(frame, by=()).tables[0].frame
    assert whole.columns[0] == "subscale"
    assert whole["n_administrations"].tolist() == [6]


def test_one_thin_subscale_does_not_hide_the_others():
    values = np.column_stack([HAND, [1, 2, 3]])
    result = internal_consistency(item_scores(values, subscales=["calm", "calm", "bold"]))
    assert result.tables[0].frame["alpha"].isna().tolist() == [False, True]
    assert "gpt, subscale bold: alpha is undefined (n = 3; items that vary: 1)." in result.cautions


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_an_item_never_answered_is_left_out_and_named_and_costs_no_rows(missing):
    values = np.column_stack([HAND, [np.nan] * 3, HAND])
    frame = item_scores(values, subscales=["x"] * 3 + ["y"] * 2)
    result = internal_consistency(frame, missing=missing)
    rows = result.tables[0].frame.set_index("subscale")
    assert rows.loc["x", "alpha"] == pytest.approx(2 / 3)
    assert rows.loc["x", ["n_items", "n_administrations", "dropped"]].tolist() == [2, 3, 0]
    assert "gpt, subscale x: Left out, because nobody answered: i3." in result.all_notes
    assert not any("undefined" in note for note in result.all_notes)
    assert (result.n_used, result.n_left_out, result.n_missing) == (12, 0, 3)
    alone = internal_consistency(frame[frame["item"] != "i3"], missing=missing)
    pd.testing.assert_frame_equal(alone.tables[0].frame, result.tables[0].frame)


def test_it_uses_the_rows_that_reliability_uses_where_an_item_was_never_answered():
    values = np.random.default_rng(3).integers(1, 6, (20, 4)).astype(float)
    values[:, 3] = np.nan
    values[0, 0] = np.nan
    frame = item_scores(values)
    own = internal_consistency(frame).tables[0].frame.iloc[0]
    other = reliability(frame, resamples=100).tables[0].frame.iloc[0]
    assert other["coefficient"] == "α (Feldt)"
    numbers = ("n_administrations", "alpha", "ci_low", "ci_high")
    theirs = [other[name] for name in ("n", "value", "ci_low", "ci_high")]
    assert [own[name] for name in numbers] == pytest.approx(theirs, abs=1e-12)


def test_a_subscale_without_any_answer_is_undefined_and_the_others_are_not():
    values = np.column_stack([HAND, np.full((3, 2), np.nan)])
    result = internal_consistency(item_scores(values, subscales=["x", "x", "y", "y"]))
    row = result.tables[0].frame.set_index("subscale").loc["y"]
    assert np.isnan(row["alpha"])
    assert row[["n_items", "n_administrations", "dropped"]].tolist() == [0, 0, 3]
    assert "gpt, subscale y: Left out, because nobody answered: i3, i4." in result.all_notes
    assert (result.n_used, result.n_left_out, result.n_missing) == (6, 0, 6)


def test_items_that_cancel_leave_alpha_undefined():
    with pytest.raises(NotEnoughData, match="alpha is undefined"):
        internal_consistency(item_scores([[1, 5], [2, 4], [3, 3]]))


def test_nothing_to_compute_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match=r"Alpha cannot be computed.*n = 1") as caught:
        internal_consistency(item_scores([[1, 2, 3]]))
    assert "two administrations" in caught.value.remedy


def test_gaps_of_a_constant_item_cost_no_administration():
    """A constant says nothing, so a missing answer to it takes nothing away."""
    values = np.array([[1, 2, 3.0], [2, 2, 3], [4, 3, np.nan], [5, 5, 3], [3, 4, np.nan]])
    with_constant = internal_consistency(item_scores(values)).tables[0].frame.iloc[0]
    without = internal_consistency(item_scores(values[:, :2])).tables[0].frame.iloc[0]
    assert with_constant["alpha"] == without["alpha"]
    counts = ["n_items", "zero_variance_items", "n_administrations", "dropped"]
    assert with_constant[counts].tolist() == [2, 1, 5, 0]
