"""Shares of wins of pairs: by hand, published counts, resamples and the test of the order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.stats.paired_comparison.wins import order_test, resampled_counts, win_shares
from core.stats.resampling import Bootstrap

GOLDEN = Path(__file__).parents[2] / "golden" / "preference"
BRANDS = ("Apple", "Samsung", "Huawei")
PAIRS = ((0, 1), (0, 2), (1, 2))


def brand_counts():
    """(pairs, formats, 2) wins of the first brand of each pair and answers, and the formats."""
    rows = pd.read_csv(GOLDEN / "brand_counts.csv").set_index(["format", "entity", "entity_b"])
    formats = list(dict.fromkeys(rows.index.get_level_values(0)))
    wins, n = np.zeros((3, 5, 2)), np.zeros((3, 5, 2))
    for p, (i, j) in enumerate(PAIRS):
        for f, name in enumerate(formats):
            one, other = rows.loc[name, BRANDS[i], BRANDS[j]], rows.loc[name, BRANDS[j], BRANDS[i]]
            wins[p, f] = one["wins"], other["n"] - other["wins"]
            n[p, f] = one["n"], other["n"]
    return wins, n, formats


def test_the_published_counts_give_the_published_shares():
    wins, n, formats = brand_counts()
    share = win_shares(wins, n).share
    assert dict(zip(formats, share[0].round(3), strict=False)) == {
        "a_b": 0.526,
        "likert_4": 0.517,
        "likert_5": 0.627,
        "name_entity": 0.865,
        "yes_no": 0.493,
    }
    assert share[:, -1].round(4).tolist() == [0.6057, 0.5920, 0.5403]


def test_orders_count_alike_and_so_do_formats():
    # 9 of 10 named first, 1 of 2 named second: (.9 + .5) / 2; the other format 1 of 4 and 0 of 4
    shares = win_shares(np.array([[[9.0, 1], [1, 0]]]), np.array([[[10.0, 2], [4, 4]]]))
    assert shares.share[0] == pytest.approx([0.7, 0.125, (0.7 + 0.125) / 2])
    assert shares.effect[0] == pytest.approx([0.4, 0.25, 0.325])
    assert shares.by_order[0, -1] == pytest.approx([0.575, 0.25])


def test_one_order_alone_has_a_share_and_no_effect():
    shares = win_shares(np.array([[[3.0, 0], [0, 0]]]), np.array([[[4.0, 0], [0, 0]]]))
    assert shares.share[0, [0, 2]].tolist() == [0.75, 0.75]
    assert np.isnan(shares.share[0, 1])
    assert np.isnan(shares.effect[0]).all()


def test_resamples_draw_whole_units():
    generator = np.random.default_rng(3)
    n = np.full((6, 1, 1, 2), 10.0)
    wins = generator.integers(0, 11, size=n.shape).astype(float)
    resampled_wins, resampled_n = resampled_counts(wins, n, Bootstrap(400, 1), orders_apart=False)
    assert (resampled_n == 60).all()
    sums = {round(float(wins[list(draw), 0, 0, 0].sum())) for draw in np.ndindex(6, 6, 6, 6, 6, 6)}
    assert set(resampled_wins[:, 0, 0, 0].astype(int).tolist()) <= sums
    # both orders of an item are drawn together
    same = resampled_counts(
        np.repeat(wins[..., :1], 2, axis=-1), n, Bootstrap(50, 1), orders_apart=False
    )[0]
    assert (same[..., 0] == same[..., 1]).all()


def test_units_of_each_order_are_drawn_by_themselves():
    n = np.zeros((7, 1, 1, 2))
    n[:3, ..., 0], n[3:, ..., 1] = 10, 10
    _, drawn = resampled_counts(n / 2, n, Bootstrap(100, 1), orders_apart=True)
    assert (drawn[..., 0] == 30).all()
    assert (drawn[..., 1] == 40).all()


def test_the_order_is_tested_by_exchanging_it_within_items():
    # 3 items with differences .5, .5, .5: of 8 exchanges, 2 are as far from 0
    wins = np.zeros((3, 1, 1, 2))
    wins[..., 0] = 5
    p = order_test(wins, np.full(wins.shape, 10.0), orders_apart=False)
    assert p.tolist() == [[0.25, 0.25]]


def test_the_order_is_tested_by_moving_whole_repetitions():
    # 2 + 2 repetitions with 4, 4 and 1, 1 wins: of 6 divisions, 2 are as far from 0
    wins = np.array([4.0, 4, 1, 1]).reshape(4, 1, 1, 1) * [1, 1]
    n = np.zeros((4, 1, 1, 2))
    n[:2, ..., 0], n[2:, ..., 1] = 5, 5
    p = order_test(wins * (n > 0), n, orders_apart=True)
    assert p.tolist() == [[pytest.approx(1 / 3), pytest.approx(1 / 3)]]


def test_p_is_that_of_scipy():
    generator = np.random.default_rng(5)
    wins = generator.binomial(10, [0.6, 0.45], size=(9, 2)).astype(float)
    p = order_test(wins[:, None, None], np.full((9, 1, 1, 2), 10.0), orders_apart=False)
    ours = stats.permutation_test(
        (wins[:, 0], wins[:, 1]),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=10_000,
        vectorized=True,
    )
    assert p[0, 0] == pytest.approx(ours.pvalue)
    n = np.zeros((8, 1, 1, 2))
    n[:5, ..., 0], n[5:, ..., 1] = 10, 10
    own = wins[:8, 0].reshape(8, 1, 1, 1) * (n > 0)
    p = order_test(own, n, orders_apart=True)
    apart = stats.permutation_test(
        (wins[:5, 0], wins[5:8, 0]),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        permutation_type="independent",
        n_resamples=10_000,
        vectorized=True,
    )
    # scipy doubles the smaller tail; ours counts both ends by distance from 0
    both = np.abs(apart.null_distribution) >= abs(apart.statistic) - 1e-12
    assert p[0, 0] == pytest.approx(both.mean())


def test_random_permutations_are_near_the_exact_p():
    generator = np.random.default_rng(5)
    wins = generator.binomial(10, [0.55, 0.45], size=(14, 2)).astype(float)
    n = np.full((14, 1, 1, 2), 10.0)
    exact = stats.permutation_test(
        (wins[:, 0], wins[:, 1]),
        lambda x, y, axis: (x - y).mean(axis=axis),
        permutation_type="samples",
        n_resamples=2**14,
        vectorized=True,
    )
    drawn = order_test(wins[:, None, None], n, orders_apart=False, seed=3)[0, 0]
    assert drawn == pytest.approx(exact.pvalue, abs=0.015)
    apart = np.zeros((24, 1, 1, 2))
    apart[:12, ..., 0], apart[12:, ..., 1] = 10, 10
    own = np.concatenate([wins[:12, 0], wins[:12, 1]])
    division = stats.permutation_test(
        (own[:12], own[12:]),
        lambda x, y, axis: np.abs(x.mean(axis=axis) - y.mean(axis=axis)),
        permutation_type="independent",
        n_resamples=20_000,
        vectorized=True,
        alternative="greater",
        rng=1,
    )
    p = order_test(own.reshape(24, 1, 1, 1) * (apart > 0), apart, orders_apart=True)[0, 0]
    assert p == pytest.approx(division.pvalue, abs=0.02)


def test_pairs_asked_of_other_units_are_tested_by_themselves():
    generator = np.random.default_rng(2)
    wins = generator.binomial(10, 0.5, size=(6, 2, 1, 2)).astype(float)
    n = np.full(wins.shape, 10.0)
    wins[:2, 1], n[:2, 1] = 0, 0
    both = order_test(wins, n, orders_apart=False)
    assert both[0] == pytest.approx(order_test(wins[:, :1], n[:, :1], orders_apart=False)[0])
    assert both[1] == pytest.approx(order_test(wins[2:, 1:], n[2:, 1:], orders_apart=False)[0])


@pytest.mark.parametrize("apart", [True, False])
def test_one_order_or_one_unit_has_no_test(apart):
    one_way = np.ones((4, 1, 1, 2)) * [1.0, 0.0]
    assert np.isnan(order_test(one_way, one_way, orders_apart=apart)).all()
    one = np.ones((1, 1, 1, 2))
    assert np.isnan(order_test(one, one, orders_apart=apart)).all()
