from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.stats.leaning import SideCounts, acquiescence, leaning, most_chosen, unit_shares
from core.stats.resampling import Bootstrap
from tests.unit_intervals import wilson_of_error, wilson_of_units

NAN = float("nan")
BOOT = Bootstrap(400, seed=1)


def cells(rows, *, units_are_items=True):
    """Counts from (group, part, item, unit, positive, n)."""
    table = np.array(rows, dtype=float)
    codes = table[:, :4].astype(int)
    shape = tuple(int(size) for size in codes.max(axis=0) + 1)
    return SideCounts(*codes.T, table[:, 4], table[:, 5], shape, units_are_items)


def of_items(positive, n):
    """Counts of arrays (groups, parts, items), whose items are the units."""
    places = np.indices(positive.shape).reshape(3, -1)
    rows = np.column_stack([*places, places[2], positive.ravel(), n.ravel()])
    return cells(rows)


HAND = of_items(
    np.array([[[3, 1, 0], [4, 0, 2]], [[0, 0, 0], [1, 2, 0]]]),
    np.array([[[4, 2, 0], [4, 4, 4]], [[0, 0, 0], [2, 2, 0]]]),
)


def test_shares_of_items_formats_and_groups_worked_by_hand():
    result = leaning(HAND, bootstrap=BOOT)
    # Format 1: (3/4 + 1/2) / 2; format 2: (1 + 0 + 1/2) / 3; their mean.
    assert result.by_part[0].tolist() == pytest.approx([0.625, 0.5])
    assert result.share[0] == pytest.approx(0.5625)
    # The second group has no answers in format 1, and (1/2 + 1) / 2 in format 2.
    assert np.isnan(result.by_part[1, 0])
    assert result.share[1] == pytest.approx(0.75)
    assert result.n_items.tolist() == [[2, 3], [0, 2]]
    assert result.n_units.tolist() == [3, 2]
    assert (result.low <= result.share).all()
    assert (result.share <= result.high).all()


def test_an_item_asked_more_often_counts_no_more():
    few, many = np.array([[[1, 0, 2]]]), np.array([[[1, 0, 200]]])
    n_few, n_many = np.array([[[2, 2, 2]]]), np.array([[[2, 2, 200]]])
    assert leaning(of_items(few, n_few)).share == leaning(of_items(many, n_many)).share


def test_the_interval_of_items_is_that_of_a_mean():
    rng = np.random.default_rng(4)
    shares = rng.beta(4, 2, 150)
    counts = of_items(shares[None, None, :] * 30, np.full((1, 1, 150), 30.0))
    result = leaning(counts, bootstrap=Bootstrap(4000, seed=2), level=0.9)
    margin = 1.645 * shares.std() / np.sqrt(150)
    assert result.low[0] == pytest.approx(shares.mean() - margin, abs=0.002)
    assert result.high[0] == pytest.approx(shares.mean() + margin, abs=0.002)


def test_contexts_are_redrawn_as_a_whole():
    # Two contexts: all yes under one, all no under the other; three items in either.
    rows = [(0, 0, item, unit, 5 * unit, 5) for item in range(3) for unit in range(2)]
    own = cells(rows, units_are_items=False)
    result = leaning(own, bootstrap=Bootstrap(2000, seed=3))
    assert result.share[0] == 0.5
    assert (result.low[0], result.high[0]) == pytest.approx(wilson_of_units([0, 1]), abs=0.01)
    assert result.n_units[0] == 2
    # Over items there is nothing to vary.
    by_item = leaning(cells([(*row[:3], row[2], *row[4:]) for row in rows]), bootstrap=BOOT)
    assert np.isnan([by_item.low[0], by_item.high[0]]).all()


def test_redrawing_contexts_equals_drawing_them_one_by_one():
    rng = np.random.default_rng(9)
    n = rng.integers(0, 4, (6, 2, 5))  # contexts, formats, items
    positive = rng.binomial(n, 0.6)
    rows = [
        (0, part, item, unit, positive[unit, part, item], n[unit, part, item])
        for unit, part, item in np.ndindex(n.shape)
    ]
    own = leaning(cells(rows, units_are_items=False), bootstrap=Bootstrap(300, seed=7), level=0.8)
    drawn = np.random.default_rng(7).integers(6, size=(300, 6))
    values = []
    for units in drawn:
        with np.errstate(invalid="ignore"):
            shares = positive[units].sum(axis=0) / n[units].sum(axis=0)
        values.append(np.nanmean([np.nanmean(part) for part in shares]))
    expected = wilson_of_error(own.share[0], np.std(values) * np.sqrt(6 / 5), 6, 0.8)
    assert (own.low[0], own.high[0]) == pytest.approx(expected, abs=1e-12)


def test_groups_with_other_items_have_the_interval_they_have_alone():
    rng = np.random.default_rng(0)
    n = np.full((2, 1, 8), 10.0)
    n[0, :, 5:], n[1, :, :5] = 0, 0
    positive = rng.binomial(n.astype(int), 0.4)
    together = leaning(of_items(positive, n), bootstrap=BOOT)
    alone = leaning(of_items(positive[1:, :, 5:], n[1:, :, 5:]), bootstrap=BOOT)
    assert together.share[1] == pytest.approx(alone.share[0], abs=1e-12)
    assert [together.low[1], together.high[1]] == pytest.approx([alone.low[0], alone.high[0]])


def test_without_answers_or_with_one_unit_there_is_no_share_or_no_interval():
    result = leaning(
        of_items(np.array([[[2, 0]], [[0, 0]]]), np.array([[[3, 0]], [[0, 0]]])), bootstrap=BOOT
    )
    assert result.share[0] == pytest.approx(2 / 3)
    assert np.isnan([result.low[0], result.share[1], result.low[1]]).all()
    assert np.isnan(leaning(HAND).low).all()  # none asked for


def test_acquiescence_is_yes_to_both_less_no_to_both():
    # Each pair of statements was put ten times; (first, second) are answered together.
    rng = np.random.default_rng(5)
    yes = rng.random((12, 10, 2)) < 0.7
    both, neither = yes.all(axis=2).mean(), (~yes).all(axis=2).mean()
    positive = yes.sum(axis=1).T[None]  # (group, kind, pair)
    own = acquiescence(of_items(positive, np.full(positive.shape, 10)), bootstrap=BOOT)
    assert own.index[0] == pytest.approx(both - neither, abs=1e-12)
    assert own.index[0] == pytest.approx(own.first[0] + own.second[0] - 1, abs=1e-12)
    assert (own.n_first[0], own.n_second[0]) == (12, 12)
    assert own.low[0] < own.index[0] < own.high[0]


def test_acquiescence_needs_both_kinds_in_one_format():
    n = np.array([[[4, 4], [0, 0], [0, 0], [4, 4]], [[4, 4], [4, 4], [4, 0], [0, 0]]])
    own = acquiescence(of_items(n // 2, n), bootstrap=BOOT)
    assert np.isnan([own.index[0], own.low[0]]).all()
    assert (own.n_first[0], own.n_second[0]) == (0, 0)
    assert own.index[1] == 0  # of format 1 alone
    assert own.n_first[1] == 2


def test_shares_of_units_are_those_that_groups_are_compared_over():
    assert unit_shares(HAND)[0].tolist() == pytest.approx([0.875, 0.25, 0.5])
    assert np.isnan(unit_shares(HAND)[1, 2])
    rows = [(0, 0, 0, 0, 1, 2), (0, 0, 1, 0, 2, 2), (0, 1, 0, 0, 0, 5), (0, 0, 0, 1, 0, 0)]
    own = unit_shares(cells(rows, units_are_items=False))
    assert own[0, 0] == pytest.approx((0.75 + 0) / 2)
    assert np.isnan(own[0, 1])


def test_preference_is_of_shares_and_mode_of_counts():
    # Item 1 was answered nine times, always A; items 2 and 3 once each, with B.
    most = most_chosen(np.array([[9, 0], [0, 1], [0, 1], [0, 0]]))
    assert (most.preferred, most.most, most.count) == ((1,), (0,), 9)
    assert most.share == pytest.approx(2 / 3)
    even = most_chosen(np.array([[1, 0], [0, 1]]))
    assert (even.preferred, even.most) == ((0, 1), (0, 1))
    assert most_chosen(np.zeros((2, 2))).preferred == ()


@given(
    n=arrays(np.int64, (2, 2, 4), elements=st.integers(0, 3)),
    share=arrays(np.float64, (2, 2, 4), elements=st.sampled_from([0.0, 0.5, 1.0])),
)
def test_turning_every_answer_turns_the_share_about_one_half(n, share):
    own = of_items(share * n, n)
    turned = replace(own, positive=own.n - own.positive)
    one, other = (leaning(counts, bootstrap=Bootstrap(40)) for counts in (own, turned))
    np.testing.assert_allclose(one.share, 1 - other.share, atol=1e-12)
    np.testing.assert_allclose(one.low, 1 - other.high, atol=1e-12)
    index, opposite = (acquiescence(counts).index for counts in (own, turned))
    np.testing.assert_allclose(index, -opposite, atol=1e-12)
    defined = one.share[np.isfinite(one.share)]
    assert ((defined >= 0) & (defined <= 1)).all()
