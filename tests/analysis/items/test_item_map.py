from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.items.item_map import MOST_GROUPS, STATISTICS, item_map
from core.analysis.items.item_statistics import item_statistics
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores

BY = ("respondent", "context_set")


def in_sets(parts):
    """One frame out of (values, respondent, context set) triples, administrations numbered on."""
    frames, start = [], 1
    for values, respondent, context_set in parts:
        frame = item_scores(values, respondent=respondent, start=start)
        frames.append(frame.assign(context_set=context_set))
        start += len(values)
    return pd.concat(frames)


@pytest.fixture
def frame():
    rng = np.random.default_rng(5)
    parts = [
        (rng.integers(1, 6, (9, 3)).astype(float), respondent, context_set)
        for respondent in ("m1", "m2")
        for context_set in ("chats", "personas")
    ]
    parts[1][0][0, 1] = np.nan
    return in_sets(parts)


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
@pytest.mark.parametrize("statistic", [name for name in STATISTICS if name != "missing_share"])
def test_the_map_shows_the_numbers_of_item_statistics(frame, statistic, missing):
    shown = item_map(frame, statistic=statistic, missing=missing).tables[0].frame
    items = item_statistics(frame, by=BY, missing=missing).tables[0].frame
    assert shown.columns.tolist() == [*BY, "subscale", "item", "value", "n"]
    pd.testing.assert_frame_equal(shown[[*BY, "item"]], items[[*BY, "item"]])
    np.testing.assert_array_equal(shown["value"], items[statistic])
    behind = "n_discrimination" if statistic in ("discrimination", "alpha_if_dropped") else "n"
    assert shown["n"].tolist() == items[behind].tolist()


def test_the_share_of_missing_answers_is_of_all_that_were_planned():
    values = [[1, 2], [np.nan, 3], [np.nan, np.nan], [2, 2]]
    rows = item_map(in_sets([(values, "m", "a")]), statistic="missing_share").tables[0].frame
    assert rows["value"].tolist() == [0.5, 0.25]
    assert rows["n"].tolist() == [4, 4]


def test_the_wide_table_has_a_row_per_item_and_a_column_per_group(frame):
    long, wide = (table for table in item_map(frame).tables)
    assert wide.frame["item"].tolist() == ["i1", "i2", "i3"]
    titles = [column.title for column in wide.columns[2:]]
    assert titles == ["m1 · chats", "m1 · personas", "m2 · chats", "m2 · personas"]
    assert [column.name for column in wide.columns[2:]] == [
        "group_m1_chats",
        "group_m1_personas",
        "group_m2_chats",
        "group_m2_personas",
    ]
    by_column = wide.frame.drop(columns=["subscale", "item"]).to_numpy()
    np.testing.assert_array_equal(by_column.T.ravel(), long.frame["value"])


def test_an_item_that_a_group_was_not_asked_is_empty_in_its_column():
    first = item_scores([[1, 2], [2, 4]], items=["a", "b"], respondent="m1")
    second = item_scores([[3, 5], [3, 1]], items=["b", "c"], respondent="m2", start=9)
    wide = item_map(pd.concat([first, second]), by=("respondent",)).tables[1].frame
    assert wide["item"].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(wide["group_m1"], [1.5, 3, np.nan])
    np.testing.assert_array_equal(wide["group_m2"], [np.nan, 3, 3])


def test_names_that_users_gave_make_safe_and_different_columns():
    names = ["=A1 <b>", "=a1 b", "模型", "", "item", "Item", "x" * 200, "x" * 201]
    frame = pd.concat(
        item_scores([[number, 2]], respondent=name, start=number + 1)
        for number, name in enumerate(names)
    )
    wide = item_map(frame, by=("respondent",)).tables[1]
    columns = wide.columns[2:]
    assert [column.name for column in columns[:4]] == [
        "group_a1_b",
        "group_a1_b_2",
        "group",
        "group_respondent_none",
    ]
    assert all(column.name.isascii() and len(column.name) < 80 for column in columns)
    assert len({column.name for column in wide.columns}) == len(names) + 2
    assert len({column.title for column in wide.columns}) == len(names) + 2
    assert columns[5].title == "Item (2)"
    assert wide.frame[[column.name for column in columns]].iloc[0].tolist() == list(range(8))


def test_names_that_read_alike_are_numbered():
    frame = pd.concat(
        item_scores([[1, 2]], respondent=respondent, start=start).assign(context_set=context_set)
        for start, respondent, context_set in ((1, "a · b", "c"), (2, "a", "b · c"))
    )
    assert [c.title for c in item_map(frame).tables[1].columns[2:]] == [
        "a · b · c",
        "a · b · c (2)",
    ]


def test_with_very_many_groups_the_wide_table_shows_the_first_and_says_so():
    n = MOST_GROUPS + 3
    frame = pd.concat(
        item_scores([[number % 5, 2]], start=number + 1, context=f"c{number}")
        for number in range(n)
    )
    result = item_map(frame, by=("context",))
    assert len(result.tables[0].frame) == 2 * n
    assert len(result.tables[1].columns) == 2 + MOST_GROUPS
    assert any(f"There are {n} groups" in note for note in result.all_notes)


def test_what_is_undefined_is_empty_and_named():
    result = item_map(in_sets([([[1, 2], [2, 2]], "m", "a")]), statistic="discrimination")
    assert result.tables[0].frame["value"].isna().all()
    assert any("m · a: item i2: zero variance" in note for note in result.all_notes)
    assert result.notes[-1].startswith("A map shows no uncertainty")
    means = item_map(in_sets([([[1, 2], [2, 2]], "m", "a")]))
    assert not any("so difficulty takes" in note for note in means.all_notes)
    ends = item_map(in_sets([([[1, 2], [2, 2]], "m", "a")]), statistic="difficulty")
    assert any("so difficulty takes the lowest" in note for note in ends.cautions)
    assert not any("zero variance" in note for note in means.all_notes)


def test_answers_not_kept_by_context_set_are_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="no factor context_set"):
        item_map(item_scores([[1, 2]]))
    with pytest.raises(NotEnoughData, match="no scored answers") as caught:
        item_map(item_scores([[np.nan, np.nan]]), by=())
    assert caught.value.remedy
