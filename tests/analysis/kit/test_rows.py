from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.rows import average_over, row_cautions, row_notes
from core.domain.frames import ITEM_SCORES, check_frame
from tests.analysis.score_frames import item_scores

NAN = float("nan")


def asked_twice(first, second):
    """Two repetitions of the same contexts."""
    frames = []
    for repetition, values in enumerate((first, second), 1):
        frame = item_scores(values, start=1 + 100 * (repetition - 1))
        context = (frame["administration"] - 100 * (repetition - 1)).map("c{}".format)
        frames.append(frame.assign(repetition=repetition, context=context))
    return pd.concat(frames, ignore_index=True)


def wide(frame):
    return frame.pivot(index="administration", columns="item", values="score").to_numpy()


def test_repetitions_are_averaged_cell_by_cell():
    frame = asked_twice([[1, 2], [3, 4]], [[3, 2], [5, 1]])
    found = average_over(frame, ["repetition"])
    check_frame(found, ITEM_SCORES)
    assert wide(found).tolist() == [[2, 2], [4, 2.5]]
    assert found["administration"].unique().tolist() == [1, 2]
    assert found["context"].astype(str).unique().tolist() == ["c1", "c2"]
    assert (found["repetition"] == 0).all()


def test_a_mean_is_of_the_usable_scores_and_nothing_is_no_score():
    frame = asked_twice([[1, NAN], [3, NAN]], [[NAN, NAN], [5, 1]])
    found = average_over(frame, ["repetition"])
    np.testing.assert_equal(wide(found), [[1, NAN], [4, 1]])
    status = found.set_index(["administration", "item"])["status"]
    assert set(status[found.set_index(["administration", "item"])["score"].notna()]) == {"answered"}
    assert (status[found["score"].isna().to_numpy()] != "answered").all()


def test_other_factors_stay_apart():
    frame = asked_twice([[1, 2], [3, 4]], [[3, 2], [5, 1]])
    assert len(average_over(frame, ["form"])) == len(frame)
    found = average_over(frame, ["context"])
    assert wide(found).tolist() == [[2, 3], [4, 1.5]]
    assert found["repetition"].unique().tolist() == [1, 2]


def test_contexts_averaged_over_keep_their_kind_apart_and_lose_their_origin():
    frame = asked_twice([[1, 2], [3, 4]], [[3, 2], [5, 1]]).assign(
        context_set=["personas", "personas", "conversations", "conversations"] * 2,
        origin=["c1", "c1", "c2", "c2"] * 2,
        rewriting="original",
    )
    found = average_over(frame, ["context", "repetition"])
    assert found.groupby("context_set", observed=True)["score"].mean().to_dict() == {
        "personas": 2.0,
        "conversations": 3.25,
    }
    assert set(found["origin"]) == {""}


def test_nothing_to_average_gives_the_frame_itself():
    frame = asked_twice([[1, 2]], [[3, 4]])
    assert average_over(frame, []) is frame


def test_item_statistics_of_averaged_rows_are_those_of_the_means():
    first = np.random.default_rng(1).integers(1, 6, (20, 4)).astype(float)
    second = np.random.default_rng(2).integers(1, 6, (20, 4)).astype(float)
    both = average_over(asked_twice(first, second), ["repetition"])
    found = item_statistics(both).tables[0].frame
    direct = item_statistics(item_scores((first + second) / 2)).tables[0].frame
    assert found["discrimination"].tolist() == pytest.approx(direct["discrimination"].tolist())


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(random):
    frame = asked_twice([[1, NAN, 2], [3, 4, 4]], [[3, 2, 5], [5, 1, NAN]])
    places = list(range(len(frame)))
    random.shuffle(places)
    mixed = average_over(frame.iloc[places].reset_index(drop=True), ["repetition"])
    plain = average_over(frame, ["repetition"])
    key = ["context", "item"]
    left = mixed.astype({"context": str, "item": str}).sort_values(key)["score"].tolist()
    right = plain.astype({"context": str, "item": str}).sort_values(key)["score"].tolist()
    assert left == pytest.approx(right, nan_ok=True)


@pytest.mark.parametrize(
    ("repetitions", "people", "cautioned"),
    [([1, 2], False, True), ([0], False, False), ([1], False, False), ([1, 2], True, False)],
)
def test_a_caution_on_repetitions_stands_only_where_they_are_rows(repetitions, people, cautioned):
    frame = pd.concat(
        [
            item_scores([[1.0], [2.0]], start=10 * place, repetition=number)
            for place, number in enumerate(repetitions, 1)
        ]
    ).assign(people=people)
    cautions, notes = (of(frame, "Rows count.", "These recur.") for of in (row_cautions, row_notes))
    assert (cautions, notes) == (
        (("Rows count. These recur.",), ()) if cautioned else ((), ("Rows count.",))
    )
