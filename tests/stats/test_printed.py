"""Ranges of what follows from rounded numbers: by hand, by all corners, and never too narrow."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from core.stats.printed import (
    PrintedScale,
    Range,
    alpha_range,
    mean_range,
    p_range,
    printed_range,
    share_range,
    sum_range,
)


def around(value, decimals=2):
    return printed_range(f"{value:.{decimals}f}")


def stratified(variances, sds, sd):
    """Stratified alpha of exact numbers, of means of items, as the formula has it."""
    n = sum(map(len, variances))
    lost = 0.0
    for own, width in zip(variances, sds, strict=True):
        k, total = len(own), (len(own) * width) ** 2
        alpha = k / (k - 1) * (1 - sum(own) / total)
        lost += total * (1 - alpha)
    return 1 - lost / (n * sd) ** 2


@pytest.mark.parametrize(
    ("text", "decimals", "low", "high"),
    [
        (".63", None, 0.625, 0.635),
        ("-0.81", None, -0.815, -0.805),
        ("2.7", 2, 2.695, 2.705),
        ("<.001", None, 0, 0.001),
        ("859", None, 858.5, 859.5),
    ],
)
def test_a_printed_number_is_all_that_rounds_to_it(text, decimals, low, high):
    assert printed_range(text, decimals) == Range(low, high)


@pytest.mark.parametrize("text", ["", "-", "nan", "inf", "3,5"])
def test_what_is_no_number_has_no_range(text):
    with pytest.raises(ValueError, match=r"number|could not convert"):
        printed_range(text)


def test_alpha_lies_between_its_values_at_all_corners_and_reaches_both():
    variances, sds, sd = ((1.2, 0.8, 1.5), (0.6, 0.9)), (0.81, 0.7), 0.66
    flat = [*itertools.chain(*variances), *sds, sd]
    corners = []
    for signs in itertools.product((-1, 1), repeat=len(flat)):
        moved = [value + sign * 0.005 for value, sign in zip(flat, signs, strict=True)]
        corners.append(stratified((moved[:3], moved[3:5]), moved[5:7], moved[7]))
    parts = [
        PrintedScale(tuple(map(around, own)), around(width))
        for own, width in zip(variances, sds, strict=True)
    ]
    found = alpha_range(parts, around(sd))
    assert (found.low, found.high) == pytest.approx((min(corners), max(corners)), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_a_table_that_was_rounded_from_real_scores_is_never_said_to_be_wrong(seed):
    """200 printed numbers: alpha, three means, and a total of each of 40 samples."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(80, 2)) @ np.array([[1, 0.3], [0.3, 1]])
    scores = np.clip(np.round(2.5 + np.repeat(common, 4, axis=1) + rng.normal(size=(80, 8))), 0, 5)
    halves = scores[:, :4], scores[:, 4:]
    parts = [
        PrintedScale(
            tuple(around(v) for v in half.var(axis=0, ddof=1)),
            around(half.mean(axis=1).std(ddof=1)),
        )
        for half in halves
    ]
    alpha = stratified(
        [half.var(axis=0, ddof=1) for half in halves],
        [half.mean(axis=1).std(ddof=1) for half in halves],
        scores.mean(axis=1).std(ddof=1),
    )
    follows = alpha_range(parts, around(scores.mean(axis=1).std(ddof=1)))
    assert follows.meets(around(alpha))
    assert not follows.meets(around(alpha + 0.1))
    for half in (*halves, scores):
        items = [around(mean) for mean in half.mean(axis=0)]
        assert mean_range(items).meets(around(half.mean()))
        assert not mean_range(items).meets(around(half.mean() + 0.02))
    totals = [around(total, 1) for total in scores.sum(axis=0) / 7]
    assert sum_range(totals).meets(around(scores.sum() / 7, 1))


@pytest.mark.parametrize(
    ("t", "df", "tail", "low", "high"),
    [  # pt(t, df, lower.tail = FALSE) of R 4.2.2 at both ends
        ("2.12", 31, "greater", 0.02083096651379, 0.02128453551293),
        ("-0.81", 31, "greater", 0.78652450363539, 0.78935508935932),
        ("-0.81", 31, "less", 0.21064491064068, 0.21347549636461),
        ("2.12", 31, "two-sided", 0.04166193302759, 0.04256907102587),
    ],
)
def test_p_of_a_rounded_t_agrees_with_r(t, df, tail, low, high):
    found = p_range(printed_range(t), df, tail)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_p_of_a_t_around_zero_may_be_one():
    assert p_range(printed_range("0.00"), 10, "two-sided").high == 1


def test_shares_and_what_cannot_be_computed():
    assert share_range(Range(859, 859), 6600).meets(printed_range("13.0"))
    with pytest.raises(ValueError, match="a share of 0"):
        share_range(Range(1, 1), 0)
    with pytest.raises(ValueError, match="mean of nothing"):
        mean_range([])
    with pytest.raises(ValueError, match="0 degrees of freedom"):
        p_range(Range(0, 1), 0, "greater")
    with pytest.raises(ValueError, match="two items or more"):
        alpha_range([PrintedScale((Range(1, 1),), Range(1, 1))], Range(1, 1))
    undefined = alpha_range([PrintedScale((Range(0, 0),) * 2, Range(0, 0))], Range(0, 0.005))
    assert math.isnan(undefined.low)
    assert not undefined.meets(Range(-1, 1))
