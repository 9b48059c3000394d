from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from core.analysis.shared.comparisons import MOST_PAIRS, comparison_table

NAN = float("nan")


def long(groups, names, values):
    """One row per group and item, from a matrix of groups by items."""
    return pd.DataFrame(
        [
            {**dict(zip(names, group, strict=True)), "item": f"i{place}", "share": share}
            for group, row in zip(groups, values, strict=True)
            for place, share in enumerate(row)
        ]
    )


def compared(frame, by, **options):
    result = comparison_table(frame, by, units=("item",), value="share", title="Yes", **options)
    return result.tables[0].frame if result.tables else None, result.notes


FOUR = (("gpt", "en"), ("gpt", "de"), ("gemma", "en"), ("gemma", "de"))
SHARES = [[0.1, 0.2, 0.9], [0.3, 0.4, 0.8], [0.5, 0.6, 0.7], [0.9, 0.9, 0.9]]


def test_pairs_differ_in_exactly_one_factor():
    frame, _ = compared(long(FOUR, ("model", "language"), SHARES), ("model", "language"))
    cells = frame[["factor", "held", "first", "second"]].values.tolist()
    assert cells == [
        ["Model", "en", "gpt", "gemma"],
        ["Model", "de", "gpt", "gemma"],
        ["Language", "gpt", "en", "de"],
        ["Language", "gemma", "en", "de"],
    ]
    # Second minus first: gemma in English has .6 on average, gpt .4.
    assert frame["difference"].tolist() == pytest.approx([0.2, 0.4, 0.1, 0.3])
    assert frame["first_mean"].tolist() == pytest.approx([0.4, 0.5, 0.4, 0.6])
    assert frame["n"].tolist() == [3, 3, 3, 3]


def test_p_is_adjusted_within_each_factor():
    frame, notes = compared(
        long(FOUR, ("model", "language"), np.random.default_rng(2).random((4, 9))),
        ("model", "language"),
    )
    for _, own in frame.groupby("factor"):
        p = own["p"].to_numpy()
        small, large = sorted(p)
        assert sorted(own["p_adjusted"]) == pytest.approx(
            [min(1, 2 * small), max(min(1, 2 * small), large)]
        )
    assert "adjusted after Holm over the pairs that differ in the same factor" in notes[0]


def test_an_item_that_one_group_lacks_is_left_out_of_its_pairs_and_counted():
    values = [[0.1, NAN, 0.4, 0.5], [0.2, 0.3, 0.4, 0.9]]
    frame, _ = compared(long([("a",), ("b",)], ("model",), values), ("model",), resamples=0)
    assert frame[["n", "n_left_out"]].values.tolist() == [[3, 1]]
    assert frame["difference"].iloc[0] == pytest.approx(0.5 / 3)
    assert frame[["ci_low", "ci_high"]].isna().all(axis=None)
    missing_row = long([("a",), ("b",)], ("model",), values).drop(index=1)
    again, _ = compared(missing_row, ("model",), resamples=0)
    pd.testing.assert_frame_equal(frame, again)


def test_of_a_model_and_its_respondents_the_respondents_are_compared():
    groups = [("gpt", "cold"), ("gpt", "warm"), ("gemma", "warm gemma")]
    frame, _ = compared(long(groups, ("model", "respondent"), np.eye(3)), ("model", "respondent"))
    assert frame[["factor", "held", "first", "second"]].values.tolist() == [
        ["Respondent", "gpt", "cold", "warm"],
        ["Respondent", "", "cold", "warm gemma"],
        ["Respondent", "", "warm", "warm gemma"],
    ]


def test_attributes_of_items_are_held_and_never_compared():
    rows = long([("a", "x"), ("b", "x")], ("model", "item.genre"), np.eye(2))
    frame, _ = compared(rows, ("model", "item.genre"))
    assert frame[["factor", "held"]].values.tolist() == [["Model", "x"]]
    none, notes = compared(long([("x",), ("y",)], ("item.genre",), np.eye(2)), ("item.genre",))
    assert none is None
    assert notes == ("Groups by item: genre share no units, so they are not compared in pairs.",)


@pytest.mark.parametrize(
    ("groups", "names", "words"),
    [
        ([("a",)], ("model",), "one group only"),
        ([("a", "en"), ("b", "de")], ("model", "language"), "No two groups differ in one factor"),
    ],
)
def test_where_nothing_can_be_compared_a_note_says_why(groups, names, words):
    none, notes = compared(long(groups, names, np.eye(len(groups))), names)
    assert none is None
    assert words in notes[0]
    assert compared(long([()], (), [[1.0]]), ())[1] == (
        "There is one group only, so no groups are compared.",
    )


def test_of_very_many_pairs_the_first_are_compared_and_the_others_counted():
    groups = [(f"m{a}", f"l{b}") for a, b in product(range(20), range(4))]
    frame, notes = compared(
        long(groups, ("model", "language"), np.zeros((80, 2))), ("model", "language"), resamples=0
    )
    assert len(frame) == MOST_PAIRS == 300
    # 4 languages with 190 pairs of models each, 20 models with 6 pairs of languages each.
    assert "880 pairs of groups differ in one factor; the first 300 are compared" in notes[1]


def test_two_rows_of_one_item_are_a_fault():
    rows = long([("a",), ("b",)], ("model",), np.eye(2))
    with pytest.raises(TypeError, match="two rows of one unit"):
        compared(pd.concat([rows, rows.iloc[:1]]), ("model",))


def test_the_unit_is_named_as_the_analysis_calls_it():
    rows = long([("a",), ("b",)], ("model",), np.eye(2)).rename(columns={"item": "context"})
    result = comparison_table(
        rows, ("model",), units=("context",), value="share", title="Yes", unit_name="context"
    )
    titles = {column.name: column.title for column in result.tables[0].columns}
    assert titles["n"] == "Contexts"
    assert "over the contexts that both have" in result.notes[0]
