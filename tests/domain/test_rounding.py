"""Ties go away from zero, as a reader rounds the digits that are printed."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.numbers import (
    judged_decimals,
    number_text,
    percent_text,
    round_half_away,
)
from core.domain.results import Column, ResultTable

# 1.005 and 2.675 are stored a little below the tie, which binary rounding would follow
BY_HAND = [
    (3.125, 2, "3.13"), (-3.125, 2, "-3.13"), (1.005, 2, "1.01"), (2.675, 2, "2.68"),
    (0.5, 0, "1"), (1.5, 0, "2"), (2.5, 0, "3"), (0.0005, 3, "0.001"), (-0.001, 2, "0.00"),
    (1e-30, 3, "0.000"), (3.1249999, 2, "3.12"), (1234567.885, 2, "1234567.89"), (7, 2, "7.00"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "decimals", "text"), BY_HAND)
def test_ties_are_rounded_away_from_zero_on_the_decimal_text(value, decimals, text):
    assert number_text(value, decimals) == text
    assert round_half_away([value], decimals).tolist() == [float(text)]


def test_what_rounds_to_zero_has_no_sign():
    assert not np.signbit(round_half_away([-0.001, -0.0, 0.001], 2)).any()


def test_shares_are_rounded_as_percentages():
    assert [percent_text(share) for share in (0.125, 0.005, 0.285, 1)] == [
        "13%",
        "1%",
        "29%",
        "100%",
    ]
    assert percent_text(0.0105, 1) == "1.1%"


def test_what_is_not_a_number_stays_so():
    assert (number_text(math.nan, 2), percent_text(math.inf)) == ("nan", "inf")
    np.testing.assert_array_equal(
        round_half_away([math.nan, -math.inf, 1e300], 2), [math.nan, -math.inf, 1e300]
    )


@given(st.floats(-1e12, 1e12), st.integers(0, 4))
def test_an_array_is_rounded_as_its_texts_are(value, decimals):
    assert round_half_away(np.array([[value]]), decimals)[0, 0] == float(
        number_text(value, decimals)
    )


def test_a_result_has_no_rounding_noise_around_zero_and_keeps_small_p():
    # 0.1 + 0.2 - 0.3 is 5.55e-17 in binary; the difference of the decimal numbers is 0
    noise = 0.1 + 0.2 - 0.3
    frame = pd.DataFrame({"low": [-noise, -0.0, 1e-9], "p": [1e-30, noise, 0.5], "n": [1, 2, 3]})
    columns = (
        Column("low", "Low", "correlation"),
        Column("p", "p", "p"),
        Column("n", "n", "count"),
    )
    table = ResultTable("t", "T", frame, columns)
    assert table.frame["low"].tolist() == [0.0, 0.0, 1e-9]
    assert not np.signbit(table.frame["low"]).any()
    assert table.frame["p"].tolist() == [1e-30, noise, 0.5]
    assert frame["low"][0] == -noise  # the frame given stays as it is


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (0.0531, [0.05], "0.053"),
        (0.0504, [0.05], "0.0504"),
        (0.05, [0.05], "0.05"),
        (0.8996, [0.9, 0.95], "0.8996"),
        (0.9461, [0.9, 0.95], "0.946"),
        (0.93, [0.9], "0.93"),
        (-0.01004, [-0.01], "-0.01004"),
        (0.055, [0.05, 0.06], "0.055"),
        (0.7, [], "0.70"),
        (0.3 + 1e-16, [0.3], "0.30"),
        (math.nan, [0.3], "nan"),
        (0.2, [math.nan], "0.20"),
    ],
)
def test_a_judged_number_is_written_on_its_own_side_of_its_bounds(value, bounds, text):
    assert number_text(value, judged_decimals(value, bounds, 2)) == text


@given(st.floats(-2, 2), st.lists(st.sampled_from([-0.01, 0.05, 0.06, 0.3, 0.7, 0.9, 0.95])))
def test_whoever_compares_what_is_printed_comes_to_the_same_verdict(value, bounds):
    printed = float(number_text(value, judged_decimals(value, bounds, 2)))
    for bound in bounds:
        if abs(value - bound) > 1e-9:
            assert (printed > bound, printed < bound) == (value > bound, value < bound)
