from __future__ import annotations

import time

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from core.analysis.kit.matrices import score_matrices
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.stats.reliability.alpha import covariances
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples

VALUES = np.array([[1, 2, 3], [4, np.nan, 6]])


def kinds(frame):
    text = ["study", "item", "subscale", "status", *FACTORS]
    yield frame
    yield frame.astype(dict.fromkeys(text, "category"))
    yield frame.astype(dict.fromkeys(text, object))


def test_rows_and_columns_stand_in_order_of_first_appearance_in_any_column_type():
    frame = item_scores(VALUES, items=["b", "a", "c"], subscales=["y", "x", "y"], keyed=[1, -1, 1])
    for kind in kinds(frame):
        first, second = score_matrices(kind, ("respondent",))
        assert (first.group, first.subscale, first.items) == (("gpt",), "y", ("b", "c"))
        assert (second.subscale, second.items, second.keyed) == ("x", ("a",), (-1,))
        assert first.administrations.tolist() == [1, 2]
        np.testing.assert_array_equal(first.scores, [[1, 3], [4, 6]])
        np.testing.assert_array_equal(second.scores, [[2], [np.nan]])
        assert (second.n_used, second.n_missing) == (1, 1)


def test_groups_are_crossed_and_hold_only_their_own_items():
    parts = [
        item_scores([[1, 2]], respondent="m1", language="en"),
        item_scores([[3]], items=["other"], start=2, respondent="m2", language="en"),
        item_scores([[5, 6]], start=3, respondent="m1", language="de"),
    ]
    for kind in kinds(pd.concat(parts)):
        matrices = score_matrices(kind, ("respondent", "language", "respondent"))
        assert [m.group for m in matrices] == [("m1", "en"), ("m1", "de"), ("m2", "en")]
        assert [m.items for m in matrices] == [("i1", "i2"), ("i1", "i2"), ("other",)]
        assert len(score_matrices(kind, ())) == 1


def test_numbers_stay_numbers_and_missing_factors_are_empty():
    frame = item_scores([[1.0], [2.0]], items=[7])
    frame["repetition"] = [1, 10]
    frame["context"] = [None, ""]
    matrices = score_matrices(frame, ("repetition", "context"))
    assert [m.group for m in matrices] == [(1, ""), (10, "")]
    assert matrices[0].items == ("7",)


def test_a_repeated_cell_is_an_error_and_never_averaged():
    frame = item_scores([[1.0, 2.0]])
    with pytest.raises(TypeError, match="twice"):
        score_matrices(pd.concat([frame, frame]), ("respondent",))


def test_the_whole_bank_is_one_matrix_on_request():
    (matrix,) = score_matrices(item_scores(VALUES, subscales=["x", "y", "x"]), (), whole=True)
    np.testing.assert_array_equal(matrix.scores, VALUES)
    assert matrix.subscale == "all items"


def test_no_rows_and_unknown_factors_are_said_plainly():
    with pytest.raises(NotEnoughData, match="no answers yet"):
        score_matrices(item_scores(VALUES).iloc[:0], ())
    with pytest.raises(NotEnoughData, match="no factor color"):
        score_matrices(item_scores(VALUES), ("color",))


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_covariances_are_those_of_pandas(missing):
    rng = np.random.default_rng(3)
    values = rng.integers(1, 6, (40, 600)).astype(float)  # more items than one block holds
    values[rng.random(values.shape) < 0.0002] = np.nan
    assert 0 < np.isnan(values).sum() < 38
    frame = pd.DataFrame(values)
    expected = (frame if missing == "pairwise" else frame.dropna()).cov().to_numpy()
    found = covariances(values, missing)
    np.testing.assert_allclose(found.own / found.unit, np.diag(expected), atol=1e-12)
    np.testing.assert_allclose(found.rows / found.unit, expected.sum(axis=1), atol=1e-9)
    assert found.n == (40 if missing == "pairwise" else len(frame.dropna()))


def test_a_constant_item_has_exactly_no_variance():
    values = np.array([[0.1, 1], [0.1, 2], [0.1, 4]])
    assert (np.full(3, 0.1) - np.full(3, 0.1).sum() / 3).any()  # why means alone would not do
    assert covariances(values, "listwise").own[0] == 0
    assert covariances(np.vstack([values, [0.1, np.nan]]), "pairwise").own[0] == 0


def test_a_million_rows_take_well_under_half_a_second():
    n, k = 45_455, 22
    frame = pd.DataFrame(
        {
            "administration": np.tile(np.arange(n), k),
            "item": np.repeat([f"i{j}" for j in range(k)], n),
            "subscale": np.repeat(["x", "y"], n * k // 2),
            "respondent": np.tile(np.array([f"m{j % 4}" for j in range(n)]), k),
            "keyed": 1,
            "score": np.random.default_rng(1).integers(1, 6, n * k).astype(float),
        }
    ).astype({"item": "category", "subscale": "category", "respondent": "category"})
    started = time.process_time()
    matrices = score_matrices(frame, ("respondent",))
    assert time.process_time() - started < 0.5
    assert sum(m.n_used for m in matrices) == n * k


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.05, 0.5, 1]), st.sampled_from([2, 15]))
@few_examples
def test_every_score_stands_where_pandas_puts_it_however_full_the_frame_is(seed, share, n_groups):
    rng = np.random.default_rng(seed)
    ids = rng.choice(2**62, 40, replace=False)
    groups = rng.integers(0, n_groups, 40)
    person, item = np.nonzero(rng.random((40, 6)) < share)
    if not len(person):
        return
    order = rng.permutation(len(person))
    person, item = person[order], item[order]
    frame = pd.DataFrame(
        {
            "administration": ids[person],
            "item": [f"i{number}" for number in item],
            "subscale": [("x", "y")[number % 2] for number in item],
            "keyed": np.where(item < 3, 1, -1),
            "respondent": [f"m{number}" for number in groups[person]],
            "score": np.where(rng.random(len(item)) < 0.2, np.nan, rng.normal(size=len(item))),
        }
    )
    parts = {key: own for key, own in frame.groupby(["respondent", "subscale"])}
    matrices = score_matrices(frame, ("respondent",))
    assert {(*m.group, m.subscale) for m in matrices} == set(parts)
    for matrix in matrices:
        own = parts[(*matrix.group, matrix.subscale)]
        wide = own.pivot(index="administration", columns="item", values="score")
        expected = wide.loc[matrix.administrations, list(matrix.items)]
        np.testing.assert_array_equal(matrix.scores, expected)
        assert matrix.scores.shape == wide.shape
        keys = own.drop_duplicates("item").set_index("item")["keyed"]
        assert matrix.keyed == tuple(keys[list(matrix.items)])


def test_group_codes_beyond_sixteen_bits_are_kept_apart():
    # 300 values of each of two factors: codes up to 90,000, though few of them come up.
    n = np.arange(300)
    frame = pd.DataFrame(
        {
            "administration": n,
            "item": "i",
            "subscale": "s",
            "keyed": 1,
            "repetition": n,
            "context": n[::-1],
            "score": n.astype(float),
        }
    )
    matrices = score_matrices(frame, ("repetition", "context"))
    assert [m.scores.item() for m in matrices] == n.tolist()
    assert [m.group for m in matrices] == [(number, 299 - number) for number in n]


@pytest.mark.parametrize("n", [2, 2000])
def test_a_repeated_cell_is_found_in_a_full_frame_and_among_many_items_asked_once(n):
    frame = item_scores(np.ones((n, 1)))
    frame["item"] = [f"i{number}" for number in range(n)]
    score_matrices(frame, ())
    again = frame.iloc[[0]].assign(subscale="another", respondent="another")
    with pytest.raises(TypeError, match="twice"):
        score_matrices(pd.concat([frame, again]), ("respondent",))
