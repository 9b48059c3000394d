import numpy as np
import pytest

from core.analysis.kit.matrices import ALL_ITEMS
from core.analysis.kit.scores import administration_scores
from core.analysis.scales.score_distribution import score_distribution
from core.stats.scores import row_scores, scale_scores, shares_of_range
from core.workflow.contexts.by_score import mean_scores
from tests.analysis.score_frames import item_scores

GAP = np.nan
VALUES = np.array([[1, 2, 3, 4], [5, 5, 1, GAP], [4, 2, GAP, GAP], [3, GAP, GAP, GAP], [GAP] * 4])
BY_HAND = {
    "prorated": [2.5, GAP, GAP, GAP, GAP],  # 3 of 4 are 75 %
    "listwise": [2.5, GAP, GAP, GAP, GAP],
    "half": [2.5, 11 / 3, 3, GAP, GAP],
    "available": [2.5, 11 / 3, 3, 3, GAP],
}


def test_a_prorated_score_needs_four_fifths_of_the_items_and_not_one_less():
    """Of 5 items 4, of 10 items 8, of 9 items 8 (7.2), of 22 items 18 (17.6): by whole numbers."""
    for n_items in range(1, 301):
        answered = np.arange(n_items + 1)
        scores = scale_scores(3.0 * answered, answered, np.full(n_items + 1, n_items), "prorated")
        assert (np.isfinite(scores) == ((answered * 5 >= n_items * 4) & (answered > 0))).all()
        assert np.nanmax(scores) == np.nanmin(scores) == 3.0


def test_a_row_is_scored_by_the_items_that_it_was_to_answer():
    """Four of five answered, where five or four were planned."""
    values = np.array([[1, 2, 3, 4, GAP], [1, 2, 3, 4, GAP], [1, 2, 3, GAP, GAP]])
    expected = [2.5, 2.5, GAP]
    np.testing.assert_array_equal(row_scores(values, "prorated", [5, 4, 4]), expected)
    np.testing.assert_array_equal(row_scores(values, "listwise", [5, 4, 4]), [GAP, 2.5, GAP])


@pytest.mark.parametrize("rule", BY_HAND)
def test_every_place_that_scores_a_scale_gives_the_same_score(rule):
    expected = BY_HAND[rule]
    sums, answered = np.nansum(VALUES, axis=1), np.isfinite(VALUES).sum(axis=1)
    np.testing.assert_array_equal(scale_scores(sums, answered, [4] * 5, rule), expected)
    np.testing.assert_array_equal(row_scores(VALUES, rule), expected)
    frame = item_scores(VALUES)
    found = administration_scores(frame, rule)
    whole = found.loc[found["scale"] == ALL_ITEMS, "score"]
    np.testing.assert_array_equal(whole.to_numpy(dtype=float), expected)
    frame["context"] = "p" + frame["administration"].astype(str)
    of_contexts = mean_scores(frame, ["p1", "p2", "p3", "p4", "p5"], rule)
    assert [one.score for one in of_contexts] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    row = score_distribution(frame, missing=rule).tables[0].frame.iloc[0]
    assert (row["n"], row["mean"]) == (np.isfinite(expected).sum(), np.nanmean(expected))


def test_shares_of_the_range_lie_between_its_ends_and_need_two():
    # 2 of 1 to 5: a quarter of the way
    lowest, highest = np.array([1.0, 1, 1, 3]), np.array([5.0, 5, 5, 3])
    shares = shares_of_range(np.array([2, 5, GAP, 3]), lowest, highest)
    np.testing.assert_array_equal(shares, [0.25, 1, GAP, GAP])
