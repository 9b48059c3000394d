"""Word association: which side a word falls on again and again over the tests of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.stats.inputs import Floats, Integers, check_level, ratios
from core.stats.resampling import Bootstrap, resampled_ratios, unit_intervals

# Ours: a rule of three lines, which no library has. Checked by hand, and on published answers to
# 5,000 words, which give the published shares to four decimals.

WordClass = Literal["positive", "negative", "neutral", "inconsistent"]
WORD_CLASSES: tuple[WordClass, ...] = ("positive", "negative", "neutral", "inconsistent")
"""What `word_classes` numbers from 0: the same in all tests, or not the same."""
UNKNOWN_CLASS = -1


def word_classes(positive: Floats, negative: Floats, neutral: Floats, tests: int = 0) -> Integers:
    """The class of every word over its tests.

    Parameters
    ----------
    positive, negative, neutral : (...) arrays of one shape
        In how many tests each word got the positive label, the negative one, and neither. A reply
        without a usable label counts as neutral in the Core Sentiment Inventory; a test that was
        not asked counts nowhere.
    tests : int
        How many tests a word needs; 0 for the largest number of any word.

    Returns
    -------
    array of that shape : places in `WORD_CLASSES`
        0, 1, 2 where all tests agree, 3 where two differ. -1 where a test is missing and the others
        agree, or the word has no test: the missing one could agree or not.

    Raises
    ------
    ValueError
        The shapes differ.

    Notes
    -----
    The unit is the word. Source: Core Sentiment Inventory, where optimism is the share of words of
    class 0, pessimism that of class 1, and neutrality that of classes 2 and 3 together.

    Examples
    --------
    By the rule: always positive; positive once and neutral once; always neutral; asked once only.

    >>> positive, neutral = np.array([2.0, 1, 0, 1]), np.array([0.0, 1, 2, 0])
    >>> word_classes(positive, np.zeros(4), neutral, tests=2).tolist()
    [0, 3, 2, -1]
    """
    if not positive.shape == negative.shape == neutral.shape:
        raise ValueError(f"counts of {positive.shape}, {negative.shape} and {neutral.shape}")
    counts = np.stack([positive, negative, neutral])
    n = counts.sum(axis=0)
    needed = tests or max(float(n.max(initial=1)), 1)
    classes = np.where(n >= needed, counts.argmax(axis=0), UNKNOWN_CLASS)
    differ = (counts > 0).sum(axis=0) > 1
    return np.asarray(np.where(differ, WORD_CLASSES.index("inconsistent"), classes), dtype=np.int64)


# Rates of words, with intervals over the words.

Rate = Literal["optimism", "pessimism", "neutrality", "consistency", "reluctancy"]
RATES: tuple[Rate, ...] = ("optimism", "pessimism", "neutrality", "consistency", "reluctancy")


@dataclass(frozen=True, eq=False)
class UnitRates:
    """Ratios of totals over units, such as shares of words: arrays, one value for each cell.

    Fields
    ------
    value, low, high : the ratio and its interval, NaN where undefined.
    n : units with a part in the denominator.
    """

    value: Floats
    low: Floats
    high: Floats
    n: Integers

    def cells(self, chosen: slice) -> UnitRates:
        """The rates of some cells."""
        return UnitRates(self.value[chosen], self.low[chosen], self.high[chosen], self.n[chosen])


def unit_rates(
    above: Floats, below: Floats, *, bootstrap: Bootstrap | None = None, level: float = 0.95
) -> UnitRates:
    """Totals over units divided by totals over units, with intervals over the units.

    Parameters
    ----------
    above, below : (units, cells)
        What each unit adds to the numerator and to the denominator: 0 or 1 for a share of units,
        counts for a share of answers. `above` is at most `below`.
    bootstrap : Bootstrap, optional
        Resamples whole units, those of each cell alone, and the same ones for cells of the same
        units; without it there are no intervals.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    UnitRates : proportions. NaN where the denominator is 0.

    Raises
    ------
    ValueError
        A value is not finite, the shapes differ, or the level is not within 0 and 1.

    Notes
    -----
    Intervals as in `unit_intervals`, of the units that have a rate. Unit of analysis: one unit.

    Examples
    --------
    By hand: 2 of 4.

    >>> rates = unit_rates(np.array([[1.0], [0], [1]]), np.array([[1.0], [1], [2]]))
    >>> rates.value.tolist(), rates.n.tolist()
    ([0.5], [3])
    """
    check_level(level)
    total, part = below.sum(axis=0), above.sum(axis=0)
    value = ratios(part, total)
    n = (below > 0).sum(axis=0)
    low, high = np.full((2, *value.shape), np.nan)
    if bootstrap is not None:
        inside = below > 0
        _, units = np.unique(inside, axis=1, return_inverse=True)
        for number in range(units.max(initial=-1) + 1):
            cells = units == number
            rows = inside[:, cells][:, 0]
            if rows.any():
                parts, wholes = above[rows][:, cells], below[rows][:, cells]
                drawn = resampled_ratios(parts, wholes, bootstrap)
                ends = unit_intervals(value[cells], drawn, n[cells], level)
                low[cells], high[cells] = ends.low, ends.high
    return UnitRates(value, low, high, np.asarray(n, dtype=np.int64))


def association_rates(
    classes: Integers,
    neutral: Floats,
    tests: Floats,
    *,
    groups: Integers | None = None,
    bootstrap: Bootstrap | None = None,
    level: float = 0.95,
) -> dict[Rate, UnitRates]:
    """Optimism, pessimism, neutrality, consistency and reluctancy of each group.

    Parameters
    ----------
    classes : (conditions, words)
        Places in `WORD_CLASSES`, as `word_classes` gives them; -1 for words that do not count.
    neutral, tests : (conditions, words)
        How many answers to each word are neutral, and how many answers there are.
    groups : (conditions,), optional
        The number of each condition's group, such as all contexts of a model; by default each is
        a group of its own. A word counts once for each condition of its group.
    bootstrap, level
        As in `unit_rates`, a word with all its conditions; groups of the same words are of the
        same draws.

    Returns
    -------
    dict of UnitRates, one value for each group
        Optimism and pessimism are the shares of words of the classes positive and negative,
        neutrality that of neutral and inconsistent words: the three add to 1. Consistency is 1 -
        the share of inconsistent words, among words with two or more tests; NaN where no word has
        two. Reluctancy is the share of neutral answers among all answers.

    Notes
    -----
    The unit is the word. Source: Core Sentiment Inventory. Checked by hand, and on published
    answers to 5,000 words.

    Examples
    --------
    By hand: two of four words are positive, one is negative and one inconsistent, which has the one
    neutral answer of eight.

    >>> neutral, tests = np.array([[0.0, 0, 0, 1]]), np.full((1, 4), 2.0)
    >>> rates = association_rates(np.array([[0, 0, 1, 3]]), neutral, tests)
    >>> [float(rates[rate].value[0]) for rate in RATES]
    [0.5, 0.25, 0.25, 0.75, 0.125]
    """
    counted = classes >= 0
    of: dict[WordClass, Floats] = {
        name: np.asarray(classes == number, dtype=np.float64)
        for number, name in enumerate(WORD_CLASSES)
    }
    words, again = (np.asarray(some, dtype=np.float64) for some in (counted, counted & (tests > 1)))
    parts: dict[Rate, tuple[Floats, Floats]] = {
        "optimism": (of["positive"], words),
        "pessimism": (of["negative"], words),
        "neutrality": (of["neutral"] + of["inconsistent"], words),
        "consistency": (again * (1 - of["inconsistent"]), again),
        "reluctancy": (np.where(counted, neutral, 0.0), np.where(counted, tests, 0.0)),
    }
    of_group = np.arange(len(classes)) if groups is None else groups
    n_groups = int(of_group.max(initial=-1)) + 1
    member = (of_group == np.arange(n_groups)[:, None]) * 1.0
    above, below = (
        np.vstack([member @ pair[side] for pair in parts.values()]).T for side in (0, 1)
    )
    rates = unit_rates(above, below, bootstrap=bootstrap, level=level)
    return {
        name: rates.cells(slice(number * n_groups, (number + 1) * n_groups))
        for number, name in enumerate(parts)
    }
