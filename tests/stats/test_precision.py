from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.precision import fit_width_law, required_number

NUMBERS = [25, 50, 100, 200, 400]


def test_the_law_of_a_mean_is_found_again_and_gives_the_textbook_number():
    # half-width of a mean with SD 1: 1.96 / sqrt(n); ±0.05 needs (1.96 / 0.05)² = 1536.64
    widths = [1.96 / math.sqrt(n) for n in NUMBERS]
    law = fit_width_law(NUMBERS, widths)
    assert law.floor == pytest.approx(0, abs=1e-12)
    assert law.slope == pytest.approx(1.96**2)
    assert law.half_width(100) == pytest.approx(0.196)
    needed = required_number(NUMBERS, widths, 0.05)
    assert (needed.number, needed.basis) == (1537, "law")


@given(st.floats(0.001, 0.5), st.floats(0.1, 10))
def test_a_law_with_a_floor_is_found_again(floor, slope):
    law = fit_width_law(NUMBERS, [math.sqrt(floor**2 + slope / n) for n in NUMBERS])
    assert law.floor == pytest.approx(floor**2, rel=1e-4, abs=1e-7)
    assert law.slope == pytest.approx(slope, rel=1e-4)


def test_a_number_between_simulated_ones_lies_on_the_straight_line_of_logarithms():
    # from ±0.2 at 100 to ±0.1 at 400: ±0.15 at 100 * (0.2 / 0.15)² = 177.8
    needed = required_number([100, 400], [0.2, 0.1], 0.15)
    assert (needed.number, needed.basis, needed.at_most) == (178, "simulated", False)
    assert required_number([100, 400], [0.2, 0.1], 0.1).number == 400


def test_a_target_that_is_missed_again_later_counts_as_missed():
    assert required_number([10, 20, 40], [0.1, 0.3, 0.1], 0.2).number > 20


def test_what_cannot_be_named_has_its_reason():
    easy = required_number([10, 20], [0.1, 0.05], 0.2)
    assert (easy.number, easy.at_most) == (10, True)
    floor = [math.sqrt(0.04 + 1 / n) for n in NUMBERS]
    beyond = required_number(NUMBERS, floor, 0.1)
    assert math.isnan(beyond.number)
    assert beyond.basis == "out of reach"
    nowhere = required_number([10, 20], [math.nan, math.inf], 0.1)
    assert math.isnan(nowhere.number)
    assert nowhere.basis == "undefined"
    assert fit_width_law([10, 20], [0.1, math.nan]) is None
    # undefined below, so that no line can be drawn: the first number that reaches it
    assert required_number([10, 20], [math.inf, 0.1], 0.1).number == 20
