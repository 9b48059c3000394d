"""Sums and means over the conditions of a group, and of units drawn anew: by hand and by loops."""

from __future__ import annotations

import numpy as np

from core.analysis.kit.option_counts import (
    conditions_within,
    groups_of_cells,
    means_over_cells,
    redrawn_means_over_cells,
    sums_over_cells,
)
from core.stats.resampling import Bootstrap
from tests.analysis.hand_study import hand_study


def test_what_differs_between_conditions_is_all_but_the_repetition():
    frame = hand_study({"context", "template", "repetition", "language"})
    assert conditions_within(frame, ("language",), ("format",)) == [
        "study",
        "respondent",
        "context",
        "template",
    ]


def test_cells_begin_with_their_group():
    cells = [("a", "x"), ("b", "x"), ("a", "y")]
    code, groups = groups_of_cells(cells, 1)
    assert (code.tolist(), groups) == ([0, 1, 0], (("a",), ("b",)))
    code, groups = groups_of_cells(cells, 0)
    assert (code.tolist(), groups) == ([0, 0, 0], ((),))


def test_sums_and_means_by_hand():
    values, group = np.array([[1.0, 2], [3, np.nan], [5, np.nan]]), np.array([0, 1, 0])
    assert sums_over_cells(np.nan_to_num(values), group).tolist() == [[6, 2], [3, 0]]
    np.testing.assert_array_equal(means_over_cells(values, group), [[3, 2], [3, np.nan]])


def test_drawn_units_count_as_often_as_they_are_drawn():
    generator = np.random.default_rng(2)
    values = generator.normal(size=(12, 3))
    values[generator.random((12, 3)) < 0.2] = np.nan
    group, unit = np.arange(12) % 2, np.arange(12) // 2 % 4
    drawn = np.concatenate(
        list(redrawn_means_over_cells(values, group, unit, Bootstrap(25, seed=9)))
    )
    for block, units in zip(drawn, np.random.default_rng(9).integers(4, size=(25, 4)), strict=True):
        rows = np.concatenate([np.flatnonzero(unit == number) for number in units])
        np.testing.assert_allclose(block, means_over_cells_of_two(values[rows], group[rows]))


def means_over_cells_of_two(values, group):
    """The same with numpy's own mean; NaN where a group has no value."""
    means = np.full((2, values.shape[1]), np.nan)
    for number in range(2):
        for column, own in enumerate(values[group == number].T):
            if np.isfinite(own).any():
                means[number, column] = np.nanmean(own)
    return means
