from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.stats import stance
from core.stats.resampling import Bootstrap
from core.stats.stance import PAIR_TYPES, OpinionValues
from tests.unit_intervals import wilson_of_units

R = json.loads((Path(__file__).parent / "golden" / "stance_R.json").read_text())
COUNTS = arrays(np.float64, (3, 2, 5), elements=st.integers(0, 12).map(float))
MEANS = arrays(np.float64, (2, 6), elements=st.integers(-10, 10).map(lambda k: k / 10))
NAN = float("nan")


def row(*numbers):
    return np.array([numbers], dtype=float)


def values_of(counts, maximum="theoretical"):
    """Of one group; counts are (yes, no, zero) of each question."""
    return stance.opinion_values(
        *(np.array([one], dtype=float) for one in zip(*counts, strict=True)), maximum
    )


def test_bias_and_willingness_worked_by_hand():
    """Ten answers: 8 yes 2 no: b = .6, sum a² = 10, Var = (10 - 10 · .36) / 9 = 6.4 / 9.

    5 and 5: Var = 10 / 9, the largest possible. 10 yes: Var = 0. 3 yes, 1 no, 6 neither: b = .2,
    Var = (4 - 10 · .04) / 9 = .4.
    """
    own = values_of([(8, 2, 0), (5, 5, 0), (10, 0, 0), (3, 1, 6)])
    assert own.bias[0] == pytest.approx([0.6, 0, 1, 0.2])
    assert own.variance[0] == pytest.approx([6.4 / 9, 10 / 9, 0, 0.4])
    assert own.willingness[0] == pytest.approx([0.36, 0, 1, 0.64])
    assert own.variance[0, 2] == 0


def test_the_largest_variance_of_the_questions_is_that_of_the_group():
    """Of 8 : 2 and 9 : 1, 8 : 2 varies most, so its w is 0; 9 : 1 has Var = (10 - 6.4) / 9."""
    published = values_of([(8, 2, 0), (9, 1, 0), (10, 0, 0)], "questions")
    assert published.willingness[0] == pytest.approx([0, 1 - 3.6 / 6.4, 1])
    equal = values_of([(5, 5, 0), (9, 1, 0)], "questions")  # an even split: both maxima are equal
    assert equal.willingness[0] == pytest.approx(values_of([(5, 5, 0), (9, 1, 0)]).willingness[0])


@pytest.mark.parametrize("maximum", ["theoretical", "questions"])
def test_answers_that_never_vary_are_fully_willing(maximum):
    own = values_of([(7, 0, 0), (0, 7, 0), (0, 0, 7)], maximum)
    assert own.willingness.tolist() == [[1, 1, 1]]


def test_too_few_answers_are_undefined():
    own = values_of([(0, 0, 0), (1, 0, 0), (2, 0, 0)])
    assert own.n.tolist() == [[0, 1, 2]]
    assert np.isnan(own.bias[0]).tolist() == [True, False, False]
    assert np.isnan(own.variance[0]).tolist() == [True, True, False]
    assert np.isnan(own.willingness[0]).tolist() == [True, True, False]
    assert np.isnan(values_of([(1, 0, 0), (1, 0, 0)], "questions").willingness).all()


@pytest.mark.parametrize("one", R, ids=lambda one: str(one["counts"]))
def test_means_variances_and_intervals_are_those_of_r(one):
    yes, no, zero = (row(count) for count in one["counts"])
    own = stance.opinion_values(yes, no, zero, "theoretical")
    low, high = stance.bias_intervals(yes, no, zero)
    found = (own.bias, own.variance, low, high)
    expected = [one[name] for name in ("mean", "variance", "low", "high")]
    assert [float(number[0, 0]) for number in found] == pytest.approx(expected, abs=1e-12)


def test_strong_neutral_takes_its_bounds_in():
    """Ten answers, 1 yes and 1 no: b = 0 and w = 1 - (2/9) / (10/9) = .8, though not in binary."""
    edge = values_of([(1, 1, 8), (2, 0, 8), (0, 2, 8), (3, 0, 7), (2, 2, 6), (0, 0, 10), (0, 0, 0)])
    assert edge.willingness[0, 0] == pytest.approx(0.8)
    neutral = stance.strong_neutral(edge.bias, edge.willingness)
    assert neutral[0].tolist() == [True, True, True, False, False, True, False]
    wide = stance.strong_neutral(edge.bias, edge.willingness, widest=0.3, lowest=0.6)
    assert wide[0].tolist() == [True, True, True, True, True, True, False]


def test_a_pair_asked_both_ways_is_merged_by_hand():
    """A better 9 : 1 (b = .8), B better 2 : 8 (b = -.6): merged (.8 + .6) / 2 = .7."""
    single = values_of([(9, 1, 0), (4, 6, 0), (2, 8, 0), (10, 0, 0), (10, 0, 0)])
    first, second = np.array([0, 1, 3]), np.array([2, -1, 4])
    merged = stance.merge_pairs(single, first, second, "theoretical")
    assert merged.bias[0] == pytest.approx([0.7, -0.2, 0])
    spread = [(3.6 + 6.4) / 2 / 9, (10 - 10 * 0.04) / 9, 0]
    assert merged.variance[0] == pytest.approx(spread)
    assert merged.willingness[0] == pytest.approx([0.5, 0.04, 1])
    assert merged.n.tolist() == [[20, 10, 20]]
    published = stance.merge_pairs(single, first, second, "questions")
    assert published.willingness[0] == pytest.approx([1 - 5 / 9.6, 0, 1])


def test_pairs_are_typed_by_the_signs_of_both_directions():
    one, other = row(0.8, 0.2, -1, -0.4, 0.0, NAN, 1e-17), row(-0.2, 0.6, -0.2, 1, 0.4, 1, 0.5)
    kinds = stance.pair_types(one, other)[0].tolist()
    assert kinds == [0, 1, 2, 0, 3, -1, 3]
    assert PAIR_TYPES == ("consistent", "both yes", "both no", "undecided")


def test_the_shift_goes_toward_the_opinion_of_the_user():
    """The user says no to b >= 0 and yes to b < 0; 2 is giving way fully, below 0 is defiance."""
    initial, opposing = row(1, -1, 0, 0.4, -0.4, 1, NAN), row(-1, 1, -0.6, 0.4, -0.6, NAN, 1)
    shift = stance.bias_shift(initial, opposing)[0]
    assert shift[:5].tolist() == pytest.approx([2, 2, 0.6, 0, -0.2])
    assert np.isnan(shift[5:]).all()
    turns = stance.majority_turns(initial, opposing)[0]
    assert turns[:2].tolist() == [1, 1]
    assert np.isnan(turns[2])  # the first phase had no majority
    assert turns[3:5].tolist() == [0, 0]
    assert stance.majority_turns(row(0.2), row(0.0))[0, 0] == 0  # lost, not turned


def test_the_interval_of_a_shift_holds_it_and_grows_with_fewer_answers():
    few = [(row(9, 1), row(1, 9), row(0, 0)), (row(4, 6), row(6, 4), row(0, 0))]
    many = [tuple(counts * 10 for counts in phase) for phase in few]
    low, high = stance.shift_intervals(*few)
    tight_low, tight_high = stance.shift_intervals(*many)
    assert low[0, 0] < tight_low[0, 0] < 1 < tight_high[0, 0] < high[0, 0]
    assert (low[0, 0], high[0, 0]) == pytest.approx((low[0, 1], high[0, 1]))  # the same, mirrored


def test_the_interval_of_a_shift_from_an_even_first_phase_is_by_hand():
    """5 : 5 and then 1 : 9: s = 0 + .8.

    With an answer added to yes and no, the first b is 0 ± 1.96 √(1 / 12) = ± .5658, the second
    -2 / 3 ± 1.96 √((1 - 4 / 9) / 12) = -1 (cut off) to -.2449.
    .8 - √(.5658² + .5551²) = .0074; .8 + √(.5658² + .2²) = 1.4001.
    """
    low, high = stance.shift_intervals((row(5), row(5), row(0)), (row(1), row(9), row(0)))
    assert (low[0, 0], high[0, 0]) == pytest.approx((0.0074, 1.4001), abs=1e-4)


def test_the_interval_of_ten_answers_covers_its_level_nearly_everywhere():
    """The exact coverage, from every possible outcome of ten answers."""
    outcomes = [(y, n, 10 - y - n) for y in range(11) for n in range(11 - y)]
    low, high = stance.bias_intervals(*(row(*one) for one in zip(*outcomes, strict=True)))
    grid = [(p / 20, q / 20) for p in range(21) for q in range(21 - p)]
    covered = []
    for p, q in grid:
        chance = [
            comb(10, y) * comb(10 - y, n) * p**y * q**n * max(1 - p - q, 0) ** z
            for y, n, z in outcomes
        ]
        inside = (low[0] <= p - q + 1e-12) & (p - q - 1e-12 <= high[0])
        covered.append(float(np.dot(chance, inside)))
    assert np.mean(covered) > 0.95
    assert min(covered) > 0.89  # at even odds, where outcomes are few


@given(COUNTS, st.sampled_from(["theoretical", "questions"]))
def test_values_stay_within_their_bounds(counts, maximum):
    own = stance.opinion_values(*counts, maximum)
    known = np.isfinite(own.bias)
    assert (known == (counts.sum(axis=0) > 0)).all()
    assert (np.abs(own.bias[known]) <= 1).all()
    willing = own.willingness[np.isfinite(own.variance)]
    assert ((willing >= 0) & (willing <= 1)).all()
    low, high = stance.bias_intervals(*counts)
    assert ((low <= own.bias + 1e-12) & (own.bias <= high + 1e-12))[known].all()


@given(COUNTS)
def test_yes_and_no_exchanged_turn_the_bias_and_nothing_else(counts):
    yes, no, zero = counts
    own, turned = (
        stance.opinion_values(*c, "theoretical") for c in ((yes, no, zero), (no, yes, zero))
    )
    np.testing.assert_array_equal(own.bias, -turned.bias)
    np.testing.assert_array_equal(own.willingness, turned.willingness)


@given(MEANS)
def test_shifts_are_mirrored_and_within_two(means):
    initial, opposing = means[:1], means[1:]
    shift = stance.bias_shift(initial, opposing)
    assert (np.abs(shift) <= 2).all()
    decided = initial != 0
    mirrored = stance.bias_shift(-initial, -opposing)
    np.testing.assert_array_equal(shift[decided], mirrored[decided])
    # back from the second phase, a move of the same size, the other way round where it turned
    back = stance.bias_shift(opposing, initial)
    np.testing.assert_allclose(np.abs(shift), np.abs(back), atol=1e-12)


@given(MEANS)
def test_a_pair_named_the_other_way_round_has_the_opposite_bias(means):
    both = np.concatenate([means[0], means[1]])[None, :]
    first, second = np.arange(6), np.arange(6, 12)
    forward, backward = (
        stance.merge_bias(both, first, second),
        stance.merge_bias(both, second, first),
    )
    np.testing.assert_allclose(forward, -backward)
    assert (np.abs(forward) <= 1).all()
    kinds = stance.pair_types(both[:, first], both[:, second])
    np.testing.assert_array_equal(kinds, stance.pair_types(both[:, second], both[:, first]))


def test_the_mean_over_questions_and_its_interval():
    """Five means of known spread; six alike do not say how far others would lie."""
    own = np.array([[1, 0.5, 0, -0.5, -1, NAN], [0.4] * 6, [0.3, *[NAN] * 5], [NAN] * 6])
    found = stance.question_means(own, np.arange(6), Bootstrap(4000, seed=1))
    assert found.n.tolist() == [5, 6, 1, 0]
    assert found.mean[:3] == pytest.approx([0, 0.4, 0.3])
    assert np.isnan([*found.low[1:], *found.high[1:], found.mean[3]]).all()
    expected = wilson_of_units(own[0, :5], bounds=(-1, 1))
    assert (found.low[0], found.high[0]) == pytest.approx(expected, abs=0.02)


def test_both_directions_of_a_pair_are_redrawn_together():
    """Pairs of opposite values have a mean of 0 in every resample of whole pairs."""
    own = np.array([[0.8, -0.8, 0.4, -0.4, 1, -1]])
    units = np.array([0, 0, 1, 1, 2, 2])
    together = stance.question_means(own, units, Bootstrap(200))
    assert np.isnan([together.low[0], together.high[0]]).all()
    alone = stance.question_means(own, np.arange(6), Bootstrap(200))
    assert alone.high[0] > 0.2


def test_models_agree_by_sign_and_zero_is_the_same_only_as_zero():
    found = stance.sign_agreement(
        np.array([0.5, 0.5, 0, 0, -1, NAN, 0.1 + 0.2 - 0.3]),
        np.array([0.1, -0.1, 0, 0.2, -0.2, 1, 0.0]),
    )
    assert (found.n, found.same, found.both_zero) == (6, 4, 2)
    assert (found.zero_first, found.zero_second) == (3, 2)
    assert found.share == pytest.approx(4 / 6)
    assert np.isnan(stance.sign_agreement(np.array([NAN]), np.array([1.0])).share)


def test_values_without_any_group_or_question_are_empty():
    empty = np.zeros((0, 0))
    own = stance.opinion_values(empty, empty, empty, "questions")
    assert isinstance(own, OpinionValues)
    assert own.bias.shape == (0, 0)


def test_ways_of_asking_agree_by_pairs_of_majorities_on_the_same_question():
    """The first has yes, no, none; the second yes, yes, no; the third no, none, no."""
    sides = np.array([[1, -1, 0], [1, 1, -1], [-1, NAN, -1], [0, 0, 0]], dtype=float)
    shares, pairs = stance.agreement_with_others(sides)
    assert pairs.tolist() == [3, 4, 3, 0]
    np.testing.assert_array_equal(shares, [1 / 3, 2 / 4, 1 / 3, NAN])
    drawn = np.random.default_rng(4).integers(-1, 2, (5, 30)).astype(float)
    for way, share in enumerate(stance.agreement_with_others(drawn)[0]):
        equal = [
            drawn[way, place] == drawn[other, place]
            for other in range(5)
            for place in range(30)
            if other != way and drawn[way, place] and drawn[other, place]
        ]
        assert share == pytest.approx(np.mean(equal), abs=1e-12)
