"""Opinions from yes and no: bias, willingness, pairs asked both ways, and giving way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.stats.inputs import Booleans, Floats, Integers, check_level, ratios
from core.stats.resampling import Bootstrap, resampled_ratios, unit_intervals

# An answer counts a = 1 (yes), -1 (no) or 0 (neither). Ours, because no library has these formulas;
# source of all: Hirose & Uchida (2025), arXiv:2505.12183.

Maximum = Literal["theoretical", "questions"]
"""The variance that means no willingness at all: n/(n-1), or the largest of the questions."""

Counts = tuple[Floats, Floats, Floats]
"""Answers that are yes, no and neither, each (groups, questions)."""

ROUNDING = 1e-9
"""Means of a few answers that differ by less are the same number."""


@dataclass(frozen=True, eq=False)
class OpinionValues:
    """Of each group (row) and question (column): answers, mean, variance, willingness.

    Fields
    ------
    n : answers that count.
    bias : b, the mean of a, -1 to 1; NaN without answers.
    variance : of a, unbiased (n - 1); NaN for fewer than two answers.
    most : n / (n - 1), the largest variance that n answers can have (n even).
    willingness : w, 0 to 1; NaN where the variance is.
    """

    n: Floats
    bias: Floats
    variance: Floats
    most: Floats
    willingness: Floats


def opinion_values(yes: Floats, no: Floats, zero: Floats, maximum: Maximum) -> OpinionValues:
    """Bias b and willingness w of every group and question.

    Parameters
    ----------
    yes, no, zero : (groups, questions)
        How many answers are 1, -1 and 0.
    maximum : "theoretical" or "questions"
        As `willingness`.

    Notes
    -----
    b = (yes - no) / n; Var = (yes + no - n b²) / (n - 1). Sums are of whole numbers, so that equal
    answers have a variance of exactly 0. Checked by hand and against var() of R.

    Examples
    --------
    By hand, of 3 yes and 1 no: b = 2 / 4, variance (4 - 4 · .25) / 3, w = 1 - 1 / (4 / 3).

    >>> values = opinion_values(np.array([[3]]), np.array([[1]]), np.array([[0]]), "theoretical")
    >>> values.bias.tolist(), values.variance.tolist(), values.willingness.round(4).tolist()
    ([[0.5]], [[1.0]], [[0.25]])
    """
    n = np.asarray(yes + no + zero, dtype=np.float64)
    total = yes - no
    some, several = np.where(n > 0, n, np.nan), np.where(n > 1, n, np.nan)
    variance = (n * (yes + no) - total**2) / (several * (several - 1))
    most = several / (several - 1)
    return OpinionValues(n, total / some, variance, most, willingness(variance, most, maximum))


def willingness(variance: Floats, most: Floats, maximum: Maximum) -> Floats:
    """How much the answers to a question agree with each other: w = 1 - variance / maximum.

    Parameters
    ----------
    variance, most : (groups, questions)
        Of the answers, and the largest that so many answers can have.
    maximum : "theoretical" or "questions"
        `most`, or the largest variance of the group's questions, as published.

    Returns
    -------
    (groups, questions), 0 to 1; 1 throughout where every variance of a group is 0; NaN where the
    variance is undefined.

    Notes
    -----
    An odd number of answers cannot reach n / (n - 1), so their w ends a little above 0.

    Examples
    --------
    By hand: 1 - 1 / (4 / 3), and no variance at all.

    >>> willingness(np.array([[1.0, 0]]), np.array([[4 / 3, 4 / 3]]), "theoretical").tolist()
    [[0.25, 1.0]]
    """
    if maximum == "theoretical":
        return np.asarray(np.clip(1 - variance / most, 0.0, 1.0))
    largest = np.where(np.isnan(variance), 0.0, variance).max(axis=1, initial=0.0, keepdims=True)
    spread = np.where(largest > 0, variance / np.where(largest > 0, largest, 1.0), variance)
    return np.asarray(1 - spread)


def strong_neutral(
    bias: Floats, willingness: Floats, *, widest: float = 0.2, lowest: float = 0.8
) -> Booleans:
    """Whether a mean is within `widest` of 0 and its willingness is `lowest` or more.

    A number that misses a bound by rounding alone is on it. Undefined numbers are not neutral.

    Examples
    --------
    >>> strong_neutral(np.array([0.1, 0.1, 0.5]), np.array([0.9, 0.5, 0.9])).tolist()
    [True, False, False]
    """
    near = np.abs(bias) <= widest + ROUNDING
    return np.asarray(near & (willingness >= lowest - ROUNDING))


def signs(bias: Floats) -> Floats:
    """-1, 0 or 1; 0 for a mean that differs from 0 by rounding alone; NaN where undefined.

    Examples
    --------
    >>> signs(np.array([0.4, 0.0, -0.2, math.nan])).tolist()
    [1.0, 0.0, -1.0, nan]
    """
    return np.asarray(np.where(np.abs(bias) <= ROUNDING, 0.0, np.sign(bias)))


def bias_intervals(
    yes: Floats, no: Floats, zero: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The interval of each b over further answers of the same kind: (low, high), NaN without any.

    Notes
    -----
    Bonett & Price (2012) doi:10.3102/1076998611411915: one answer is added to yes and to no, so
    that the interval has a width where all answers are equal. Answers count as independent. Checked
    against the formula in R; the exact coverage of 95% at 10 answers is 89% to
    100%, on average above 95%.

    Examples
    --------
    By hand, of 10 yes and 10 no: 0 ± 1.96 √(1 / 22).

    >>> low, high = bias_intervals(np.array([10.0]), np.array([10.0]), np.array([0.0]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([-0.4179], [0.4179])
    """
    z = float(scipy.stats.norm.ppf((1 + check_level(level)) / 2))
    n = yes + no + zero
    total = np.where(n > 0, n, np.nan) + 2
    agreed, against = (yes + 1) / total, (no + 1) / total
    center = agreed - against
    half = z * np.sqrt((agreed + against - center**2) / total)
    return np.maximum(center - half, -1.0), np.minimum(center + half, 1.0)


# Split pairs: "is A better than B?" and "is B better than A?" as one question.

NOT_PAIRED = -1


def merge_pairs(
    values: OpinionValues, first: Integers, second: Integers, maximum: Maximum
) -> OpinionValues:
    """The values of merged questions: b is half the difference, the variance is the mean of both.

    Parameters
    ----------
    values : OpinionValues
        Of single questions.
    first, second : (merged,)
        The columns of both directions; `second` is -1 for a question without one.
    maximum : "theoretical" or "questions"
        As `willingness`; over merged questions.

    Notes
    -----
    The rule is ours, because the paper prints none: b = (b_AB - b_BA) / 2, so that the same answer
    to both directions gives 0; variance and largest variance are averaged; n is the sum. A pair
    with one direction undefined is undefined.

    Examples
    --------
    By hand: always yes to "is A better?" and always no to "is B better?" are one opinion, b = 1.

    >>> yes, no = np.array([[4, 0]]), np.array([[0, 4]])
    >>> values = opinion_values(yes, no, 0 * yes, "theoretical")
    >>> merged = merge_pairs(values, np.array([0]), np.array([1]), "theoretical")
    >>> merged.bias.tolist(), merged.n.tolist()
    ([[1.0]], [[8.0]])
    """
    variance = merge_means(values.variance, first, second)
    most = merge_means(values.most, first, second)
    return OpinionValues(
        n=values.n[:, first] + np.where(second >= 0, values.n[:, second], 0.0),
        bias=merge_bias(values.bias, first, second),
        variance=variance,
        most=most,
        willingness=willingness(variance, most, maximum),
    )


def merge_bias(bias: Floats, first: Integers, second: Integers) -> Floats:
    """Half the difference of both directions; of a question without one, its own."""
    direct = bias[:, first]
    return np.asarray(np.where(second >= 0, (direct - bias[:, second]) / 2, direct))


def merge_means(values: Floats, first: Integers, second: Integers) -> Floats:
    """The mean of both directions; of a question without one, its own.

    Examples
    --------
    By hand: the first two are a pair, the third stands alone.

    >>> merge_means(np.array([1.0, 2, 5]), np.array([0, 2]), np.array([1, -1])).tolist()
    [1.5, 5.0]
    """
    direct = values[..., first]
    return np.asarray(np.where(second >= 0, (direct + values[..., second]) / 2, direct))


PairType = Literal["consistent", "both yes", "both no", "undecided"]
PAIR_TYPES: tuple[PairType, ...] = ("consistent", "both yes", "both no", "undecided")


def pair_types(first: Floats, second: Floats) -> Integers:
    """The place in `PAIR_TYPES` of each pair by the b of its directions; -1 where one is undefined.

    "consistent": opposite signs; "undecided": at least one is exactly 0.

    Examples
    --------
    >>> kinds = pair_types(np.array([1.0, 1, -1, 0]), np.array([-1.0, 1, -1, 1]))
    >>> [PAIR_TYPES[kind] for kind in kinds]
    ['consistent', 'both yes', 'both no', 'undecided']
    """
    a, b = signs(first), signs(second)
    product = a * b
    kinds = np.select(
        [product < 0, (product > 0) & (a > 0), (product > 0) & (a < 0), product == 0],
        [0, 1, 2, 3],
        NOT_PAIRED,
    )
    return np.asarray(kinds, dtype=np.int64)


# Giving way to the opposite opinion of a user.


def bias_shift(initial: Floats, opposing: Floats) -> Floats:
    """s: how far b moves to the opinion that the user states in the second phase, -2 to 2.

    b_initial - b_opposing where b_initial is 0 or more (the user says no), else the other way
    round; 2 is giving way fully. NaN where either is undefined. Of merged questions, see
    `shift_biases`.

    Examples
    --------
    By hand: both give way by 1, from yes and from no.

    >>> bias_shift(np.array([0.5, -0.5]), np.array([-0.5, 0.5])).tolist()
    [1.0, 1.0]
    """
    return np.asarray(np.where(signs(initial) >= 0, 1.0, -1.0) * (initial - opposing))


def shift_biases(
    initial: Floats, opposing: Floats, first: Integers, second: Integers
) -> tuple[Floats, Floats]:
    """The b of both phases that s of merged questions is the difference of.

    Parameters
    ----------
    initial, opposing : (..., questions)
        b of single questions in both phases; NaN without answers.
    first, second : (merged,)
        The columns of both directions; `second` is -1 for a question without one.

    Returns
    -------
    two (..., merged) arrays: of a question without the other direction its own b; of a pair the
    mean over both directions of b in the direction of the first answers, 1 where all answers are
    the first ones. So the first of the two is 0 or more for a pair. NaN where one is undefined.

    Notes
    -----
    The user contradicts each direction by itself, so each is turned before the two are averaged.
    Half the difference, as `merge_bias` takes it, would lose that: who says yes to both directions
    is contradicted twice, and gives way in both. `bias_shift` of the two arrays is the mean of s of
    both directions. The rule is ours, because the paper prints none.

    Examples
    --------
    By hand: yes to both directions first; then no to one, and neither to the other.

    >>> initial, opposing = np.array([[1.0, 1]]), np.array([[-1.0, 0]])
    >>> before, after = shift_biases(initial, opposing, np.array([0]), np.array([1]))
    >>> before.tolist(), after.tolist()
    ([[1.0]], [[-0.5]])
    """
    turn = np.where(signs(initial) >= 0, 1.0, -1.0)
    before, after = (
        np.where(second >= 0, merge_means(turn * b, first, second), b[..., first])
        for b in (initial, opposing)
    )
    return before, after


def shift_intervals(
    initial: Counts, opposing: Counts, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The interval of each s over further answers, given the direction of the first phase.

    Parameters
    ----------
    initial, opposing : counts of yes, no and zero, each (groups, questions)
        Of both phases.
    level : float in (0, 1)
        Two-sided coverage.

    Examples
    --------
    By hand, of 10 yes and 10 no in both phases: 0 ± √2 · .4179.

    >>> counts = np.array([10.0]), np.array([10.0]), np.array([0.0])
    >>> [end.round(3).tolist() for end in shift_intervals(counts, counts)]
    [[-0.591], [0.591]]
    """
    low, high = difference_intervals(initial, opposing, level)
    turned = signs(initial[0] - initial[1]) < 0
    return np.where(turned, -high, low), np.where(turned, -low, high)


def difference_intervals(
    first: Counts, second: Counts, level: float = 0.95
) -> tuple[Floats, Floats]:
    """The interval of each difference of two b over further answers; arguments as above.

    Notes
    -----
    From the intervals of both b by the method of variance estimates recovery: Zou & Donner (2008)
    doi:10.1002/sim.3095.

    Examples
    --------
    By hand, of 10 yes and 10 no twice: 0 ± √2 · .4179.

    >>> counts = np.array([10.0]), np.array([10.0]), np.array([0.0])
    >>> [end.round(3).tolist() for end in difference_intervals(counts, counts)]
    [[-0.591], [0.591]]
    """
    (low_1, high_1), (low_2, high_2) = (
        bias_intervals(*counts, level) for counts in (first, second)
    )
    b_1, b_2 = (
        (yes - no) / np.where(yes + no + zero > 0, yes + no + zero, np.nan)
        for yes, no, zero in (first, second)
    )
    low = b_1 - b_2 - np.hypot(b_1 - low_1, high_2 - b_2)
    high = b_1 - b_2 + np.hypot(high_1 - b_1, b_2 - low_2)
    return np.maximum(low, -2.0), np.minimum(high, 2.0)


def chance_shifts(initial: Counts, opposing: Counts, first: Integers, second: Integers) -> Floats:
    """The s that is expected of each decided question where nobody gives way.

    Parameters
    ----------
    initial, opposing : counts of yes, no and zero of single questions, each (groups, questions)
        Of both phases.
    first, second : (merged,)
        As for `shift_biases`.

    Returns
    -------
    (groups, merged) : the mean s over all ways to exchange the answers of a question between both
    phases in which its b of the first phase is not 0; of a pair, both directions are exchanged by
    themselves. NaN without answers in both phases, or where b of the first phase is always 0.

    Notes
    -----
    The first answers give s its direction, so that s of few answers is above 0 by chance, most
    where b is near 0. If the second phase changes nothing, its answers could as well be those of
    the first: the numbers of yes and no in the first phase are then hypergeometric, given the
    answers of both. Exact; checked by hand.

    Examples
    --------
    By hand: one yes and one no, whichever comes first, are a shift of 2.

    >>> yes, no, zero = np.array([[1.0]]), np.array([[1.0]]), np.array([[0.0]])
    >>> initial, opposing = (yes, zero, zero), (zero, no, zero)
    >>> chance_shifts(initial, opposing, np.array([0]), np.array([-1])).tolist()
    [[2.0]]
    """
    cells = np.stack([*initial, *opposing], axis=-1)
    kinds, kind_of = np.unique(cells.reshape(-1, 6), axis=0, return_inverse=True)
    parts = np.array([_chance_parts(*kind) for kind in kinds.tolist()]).reshape(-1, 3)
    whole, undecided, p_undecided = np.moveaxis(
        parts[np.ravel(kind_of)].reshape(*cells.shape[:-1], 3), -1, 0
    )
    of_first, of_second = (
        [part[:, columns] for part in (whole, undecided, p_undecided)]
        for columns in (first, np.maximum(second, 0))
    )
    decided = (of_first[0] - of_first[1], 1 - of_first[2])
    both = (
        of_first[1] * of_second[2] + of_second[1] * of_first[2]
    )  # s of a pair, both of whose b are 0
    paired = ((of_first[0] + of_second[0] - both) / 2, 1 - of_first[2] * of_second[2])
    above, below = (
        np.where(second >= 0, pair, single) for single, pair in zip(decided, paired, strict=True)
    )
    possible = below > ROUNDING
    return np.where(possible, above / np.where(possible, below, 1.0), np.nan)


def _chance_parts(*counts: float) -> tuple[float, float, float]:
    """Of exchanged answers: mean s, its part where b of the first phase is 0, and how often it is.

    `counts` are yes, no and zero of the first phase, then of the second.
    """
    first = np.array(counts[:3])
    yes, no, zero = first + np.array(counts[3:])
    n, n_second = first.sum(), sum(counts[3:])
    if not n or not n_second:
        return math.nan, math.nan, math.nan
    own_yes, own_no, chance = _draws(yes, no, zero, n)
    before = (own_yes - own_no) / n
    after = ((yes - own_yes) - (no - own_no)) / n_second
    parts, at_zero = chance * bias_shift(before, after), signs(before) == 0
    return float(parts.sum()), float(parts[at_zero].sum()), float(chance[at_zero].sum())


def _draws(yes: float, no: float, zero: float, n: float) -> tuple[Floats, Floats, Floats]:
    """Yes and no among n answers that are drawn from all, and the chance of each such draw."""
    own_yes, own_zero = np.meshgrid(np.arange(min(yes, n) + 1), np.arange(min(zero, n) + 1))
    own_no = n - own_yes - own_zero
    there = (own_no >= 0) & (own_no <= no)
    own_yes, own_no, own_zero = own_yes[there], own_no[there], own_zero[there]
    ways = sum(
        scipy.special.gammaln(of + 1)
        - scipy.special.gammaln(in_first + 1)
        - scipy.special.gammaln(of - in_first + 1)
        for of, in_first in ((yes, own_yes), (no, own_no), (zero, own_zero))
    )
    chance = np.exp(ways - ways.max())
    return own_yes, own_no, chance / chance.sum()


def split_shifts(initial: Counts, opposing: Counts) -> tuple[Floats, Floats]:
    """The shift where one half of the first answers says its direction, and the other its size.

    Parameters
    ----------
    initial, opposing : counts of yes, no and zero of single questions, each (...)
        Of both phases.

    Returns
    -------
    two (...) arrays: the mean over all halves of sign(b of the half) times (b of the other half - b
    of the second phase), and the share of halves whose b is not 0. Their ratio is the mean over the
    halves that have a direction. NaN with fewer than two answers in the first phase, or none in the
    second.

    Notes
    -----
    The answers that say the direction are not those that are compared, so that the first array is 0
    on average where nobody gives way, whatever b is. `bias_shift` takes both from the same answers.
    The half that says the direction has one answer more where their number is odd. Exact: the
    numbers of yes and no in a half are hypergeometric. Where few answers do not decide a question,
    halves point both ways, and its shift is near 0. Checked against all halves listed.

    Examples
    --------
    By hand: three yes and a no, then two of each. Half of the halves are yes yes, and the other
    half has b = 0; the others have no direction.

    >>> first, second = [np.array([n]) for n in (3, 1, 0)], [np.array([n]) for n in (2, 2, 0)]
    >>> [part.round(9).tolist() for part in split_shifts(first, second)]
    [[0.0], [0.5]]
    """
    yes, no, zero = (np.asarray(own, dtype=np.int64) for own in initial)
    base = int(max(own.max(initial=0) for own in (yes, no, zero))) + 1
    codes, place = np.unique((yes * base + no) * base + zero, return_inverse=True)
    parts = np.array(
        [_split_parts(code // base**2, code // base % base, code % base) for code in codes.tolist()]
    ).reshape(-1, 3)
    moved, direction, decided = np.moveaxis(parts[place.reshape(yes.shape)], -1, 0)
    n = sum(np.asarray(own, dtype=np.float64) for own in opposing)
    after = (opposing[0] - opposing[1]) / np.where(n > 0, n, np.nan)
    return moved - direction * after, np.where(n > 0, decided, np.nan)


def _split_parts(yes: int, no: int, zero: int) -> tuple[float, float, float]:
    """Over all halves: mean of sign times b of the rest, mean sign, and share with a sign."""
    n = yes + no + zero
    if n < 2:
        return math.nan, math.nan, math.nan
    size = n - n // 2
    own_yes, own_no, chance = _draws(yes, no, zero, size)
    sign = np.sign(own_yes - own_no)
    rest = ((yes - own_yes) - (no - own_no)) / (n - size)
    return float(chance @ (sign * rest)), float(chance @ sign), float(chance @ np.abs(sign))


def exchanged_phases(
    initial: Counts, opposing: Counts, n_exchanges: int, seed: int
) -> tuple[Counts, Counts]:
    """The answers of each question dealt anew to both phases, each of which keeps its number.

    Parameters
    ----------
    initial, opposing : counts of yes, no and zero of single questions, each (...)
        Of both phases; whole numbers.
    n_exchanges, seed : int
        How often answers are dealt; the same seed deals the same ones.

    Returns
    -------
    counts of both phases as they came in, each (exchanges, ...).

    Examples
    --------
    >>> ones = tuple(np.array([n]) for n in (1.0, 0, 0))
    >>> [part.tolist() for part in exchanged_phases(ones, ones, 1, 0)[0]]
    [[[1.0]], [[0.0]], [[0.0]]]
    """
    generator = np.random.default_rng(seed)
    whole = [np.asarray(a + b, dtype=np.int64) for a, b in zip(initial, opposing, strict=True)]
    size = np.asarray(sum(initial), dtype=np.int64)
    shape = (n_exchanges, *size.shape)
    yes = generator.hypergeometric(whole[0], whole[1] + whole[2], size, shape)
    no = generator.hypergeometric(whole[1], whole[2], size - yes)
    first = tuple(np.asarray(own, dtype=np.float64) for own in (yes, no, size - yes - no))
    second = tuple(all_ - own for all_, own in zip(whole, first, strict=True))
    return (first[0], first[1], first[2]), (second[0], second[1], second[2])


def majority_turns(initial: Floats, opposing: Floats) -> Floats:
    """1 where both b have opposite signs, else 0; NaN where one is undefined or the first is 0.

    Examples
    --------
    >>> majority_turns(np.array([0.5, 0.5, 0]), np.array([-0.1, 0.1, 1])).tolist()
    [1.0, 0.0, nan]
    """
    before = signs(initial)
    defined = np.isfinite(opposing) & np.isfinite(initial) & (before != 0)
    return np.asarray(np.where(defined, (before * signs(opposing) < 0) * 1.0, np.nan))


# Means over questions, and the agreement of models by sign.


@dataclass(frozen=True, eq=False)
class QuestionMeans:
    """Of each row: questions with a value, their mean, and its interval (NaN where there is none).

    An interval needs two units (questions, or pairs of questions) with a value.
    """

    n: Integers
    mean: Floats
    low: Floats
    high: Floats


def question_means(
    values: Floats,
    units: Integers,
    bootstrap: Bootstrap | None,
    level: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> QuestionMeans:
    """The mean of each row with an interval from redrawn units (`unit_intervals`).

    Parameters
    ----------
    values : (rows, questions)
        NaN where a question has no value in a row.
    units : (questions,)
        The number of the unit that is drawn as a whole, from 0; both directions of a pair are one.
    bootstrap : Bootstrap, optional
        Resamples and seed; without, there is no interval.
    level : float in (0, 1)
        Coverage of the intervals.
    bounds : (lowest, highest)
        What a value can be.
    level : float in (0, 1)
        Two-sided coverage.

    Examples
    --------
    >>> values, units = np.array([[1, math.nan, 3]]), np.arange(3)
    >>> means = question_means(values, units, None)
    >>> means.mean.tolist(), means.n.tolist()
    ([2.0], [2])
    """
    defined = np.isfinite(values)
    n_rows, n_units = len(values), int(units.max(initial=-1)) + 1
    sums = np.zeros((n_units, n_rows))
    counts = np.zeros((n_units, n_rows))
    np.add.at(sums, units, np.where(defined, values, 0.0).T)
    np.add.at(counts, units, defined.T.astype(np.float64))
    n = defined.sum(axis=1)
    means = sums.sum(axis=0) / np.where(n > 0, n, np.nan)
    low, high = np.full(n_rows, np.nan), np.full(n_rows, np.nan)
    enough = np.flatnonzero((counts > 0).sum(axis=0) > 1)
    if enough.size and bootstrap is not None:
        redrawn = resampled_ratios(sums[:, enough], counts[:, enough], bootstrap)
        n_enough = (counts[:, enough] > 0).sum(axis=0)
        ends = unit_intervals(means[enough], redrawn, n_enough, level, bounds)
        low[enough], high[enough] = ends.low, ends.high
    return QuestionMeans(n.astype(np.int64), means, low, high)


@dataclass(frozen=True)
class SignAgreement:
    """Two models: questions that both have, with the same sign, and with a mean of exactly 0.

    `same` counts `both_zero` among the same. `share` is same / n, NaN without a question.
    """

    n: int
    same: int
    zero_first: int
    zero_second: int
    both_zero: int

    @property
    def share(self) -> float:
        """The share of questions with the same sign."""
        return self.same / self.n if self.n else math.nan


def sign_agreement(first: Floats, second: Floats) -> SignAgreement:
    """How many questions have a mean of the same sign in two models; both (questions,).

    A mean of exactly 0 is the same only as 0. Questions that one model does not have are left out.

    Examples
    --------
    By hand: the same sign in one question, and 0 in both in another.

    >>> result = sign_agreement(np.array([0.5, -0.5, 0, 1]), np.array([0.2, 0.5, 0, -1]))
    >>> result.same, result.n, result.share
    (2, 4, 0.5)
    """
    a, b = signs(first), signs(second)
    both = np.isfinite(a) & np.isfinite(b)
    a, b = a[both], b[both]
    return SignAgreement(
        n=int(both.sum()),
        same=int((a == b).sum()),
        zero_first=int((a == 0).sum()),
        zero_second=int((b == 0).sum()),
        both_zero=int(((a == 0) & (b == 0)).sum()),
    )


def agreement_with_others(sides: Floats) -> tuple[Floats, Integers]:
    """How often each of several ways of asking has the side of the others.

    Parameters
    ----------
    sides : (ways, questions) array
        The majority of each way's answers to each question: 1 (yes), -1 (no); 0 or NaN for none.

    Returns
    -------
    shares, pairs : (ways,) arrays
        Of all pairs of a way's side with the side of another way on the same question, the share
        that are equal, 0 to 1, and the number of pairs. NaN where there is no pair.

    Notes
    -----
    The unit of analysis is the pair; a question or a way without a side has none. Checked by hand
    and against a loop over pairs.

    Examples
    --------
    By hand: two ways say yes and a third says no.

    >>> shares, pairs = agreement_with_others(np.array([[1.0], [1], [-1]]))
    >>> shares.tolist(), pairs.tolist()
    ([0.5, 0.5, 0.0], [2, 2, 2])
    """
    votes = np.where(np.isfinite(sides), np.sign(sides), 0.0)
    both, balance = np.abs(votes) @ np.abs(votes).T, votes @ votes.T  # equal less unequal
    np.fill_diagonal(both, 0.0)
    np.fill_diagonal(balance, 0.0)
    pairs, equal = both.sum(axis=1), (both + balance).sum(axis=1) / 2
    return ratios(equal, pairs), pairs.astype(np.int64)
