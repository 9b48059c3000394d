"""Differences between groups that answered the same units: interval, permutation test, p."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import (
    ROUNDING,
    Booleans,
    Floats,
    Integers,
    check_level,
    mean_of_defined,
    ratios,
)

# Ours because scipy's permutation_test and bootstrap take one pair at a time and draw anew for
# each. Here one product of matrices gives a resample, or a permutation, of all pairs.

_ENUMERATED = 15
"""Up to this many units that differ, all patterns of signs are tried (32,768)."""
_PERMUTATIONS = 9_999
_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """Second group minus first, for each pair; every array has one number for each pair.

    Fields
    ------
    pairs : (pairs, 2) rows of the first and the second group.
    first_mean, second_mean : means over the units that both groups have, in units of the values.
    difference, low, high : mean of second minus first, and its interval of coverage `level`.
    p, p_adjusted : of no difference, two-sided; adjusted within each family of pairs.
    n : units with a value in both groups. n_left_out : units with a value in one of them only.
    problems : for each pair, why a number is undefined, and cautions, as whole sentences.
    """

    pairs: Integers
    first_mean: Floats
    second_mean: Floats
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    p_adjusted: Floats
    n: Integers
    n_left_out: Integers
    level: float
    problems: tuple[tuple[str, ...], ...]


def paired_differences(
    values: Floats,
    *,
    pairs: Sequence[tuple[int, int]] | None = None,
    families: Sequence[object] | None = None,
    adjustment: Adjustment = "holm",
    level: float = 0.95,
    seed: int = 0,
) -> PairedDifferences:
    """Mean paired difference of groups over the units they share, for every pair of groups.

    Parameters
    ----------
    values : (groups, units)
        One value for each group and unit, such as the share of yes of an item; NaN (or infinite)
        where there is none.
    pairs : sequence of (first, second), optional
        Rows of `values` to compare; every pair otherwise.
    families : one name for each pair, optional
        p is adjusted within each family; all pairs are one family otherwise.
    adjustment : "holm" or "benjamini-hochberg"
        How p is adjusted.
    level : float in (0, 1)
        Two-sided coverage of the intervals (t of the differences; Student 1908).
    seed : int
        Of the permutations.

    Returns
    -------
    PairedDifferences : NaN with a reason where no unit has both values; with one such unit there
    is a difference, but no interval and no p.

    Raises
    ------
    ValueError
        The values are no table, the level is not within 0 and 1, or families are not one per pair.

    Notes
    -----
    The unit of analysis is a unit: an item, context or repetition that both groups have. Units are
    taken as independent of each other; answers within a unit need not be. p is that of a
    permutation test that swaps the two groups within whole units: the share of patterns of signs
    whose mean difference is at least as large, either way. All patterns are tried where at most 15
    units differ, else 9,999 are drawn, and p = (b + 1) / 10,000; Phipson & Smyth (2010)
    doi:10.2202/1544-6115.1585. The test is that of Fisher (1935, The design of experiments, § 21).
    Checked by hand (Darwin's plants in Fisher's book: 1,726 of 32,768 patterns) and against
    scipy.stats.permutation_test.

    Examples
    --------
    Darwin's plants in Fisher (1935): 1,726 of 32,768 patterns of signs, and a mean of 314 / 15.

    >>> eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    >>> result = paired_differences(np.array([[0] * 15, eighths]))
    >>> round(float(result.p[0]) * 32768, 6), round(float(result.difference[0]), 4)
    (1726.0, 20.9333)
    """
    table = np.array(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"values need groups and units, not {table.ndim} dimensions")
    table[~np.isfinite(table)] = np.nan
    check_level(level)
    chosen = list(combinations(range(len(table)), 2)) if pairs is None else list(pairs)
    if families is not None and len(families) != len(chosen):
        raise ValueError(f"{len(families)} families for {len(chosen)} pairs")
    index = np.array(chosen, dtype=np.int64).reshape(len(chosen), 2)
    first, second = table[index[:, 0]], table[index[:, 1]]
    apart = second - first
    both = np.isfinite(apart)
    n = both.sum(axis=1)
    apart = np.where(both, apart, 0.0)
    shared = np.where(both, 1.0, np.nan)
    low, high, problems = _intervals(apart, both, level)
    for notes, size in zip(problems, n.tolist(), strict=True):
        if size == 0:
            notes.insert(0, undefined_note("Undefined: the two share no unit with a value."))
        elif size == 1:
            notes.insert(0, "No interval and no p: the two share one unit only.")
        elif (least := 2.0 ** (1 - size)) > 0.05:
            notes.insert(0, f"With {size} units, p cannot be below {least:.4g}.")
    p = np.where(n > 1, _sign_flip_p(apart, seed), np.nan)
    listed = [""] * len(chosen) if families is None else families
    names = np.array([str(family) for family in listed])
    adjusted = np.full(p.shape, np.nan)
    for name in np.unique(names):
        adjusted[names == name] = adjusted_p(p[names == name], adjustment)
    return PairedDifferences(
        pairs=index,
        first_mean=mean_of_defined(first * shared),
        second_mean=mean_of_defined(second * shared),
        difference=mean_of_defined(apart * shared),
        low=low,
        high=high,
        p=p,
        p_adjusted=adjusted,
        n=n,
        n_left_out=(np.isfinite(first) ^ np.isfinite(second)).sum(axis=1),
        level=level,
        problems=tuple(map(tuple, problems)),
    )


def _intervals(
    apart: Floats, both: Booleans, level: float
) -> tuple[Floats, Floats, list[list[str]]]:
    """Ends of the interval of each pair, and what is to be said of it."""
    n = both.sum(axis=1)
    mean = ratios(np.where(both, apart, 0.0).sum(axis=1), n)
    squares = np.where(both, (apart - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(ratios(squares, n * (n - 1)))
    alike = error <= ROUNDING * np.maximum(np.abs(mean), 1.0)
    half = np.where(alike, np.nan, scipy.stats.t.ppf((1 + level) / 2, np.maximum(n - 1, 1)) * error)
    problems = [
        ["No interval: all units differ alike."] if same and units > 1 else []
        for same, units in zip(alike, n, strict=True)
    ]
    return mean - half, mean + half, problems


def _sign_flip_p(apart: Floats, seed: int) -> Floats:
    """Two-sided p of each line of differences, where units without one are 0."""
    sizes = np.abs(apart).sum(axis=1)
    observed = np.abs(apart.sum(axis=1)) - ROUNDING * sizes
    differ = apart != 0
    few = differ.sum(axis=1) <= _ENUMERATED
    p = np.full(len(apart), np.nan)
    for pair in np.flatnonzero(few):
        sizes = apart[pair, differ[pair]]
        # every pattern of signs whose last is +: turning all signs gives the same size
        patterns = np.arange(2 ** max(len(sizes) - 1, 0))[:, None] >> np.arange(len(sizes))
        signs = 1.0 - 2.0 * (patterns & 1)
        p[pair] = (np.abs(signs @ sizes) >= observed[pair]).mean()
    if not few.all():
        many = apart[~few].T
        larger = np.zeros(many.shape[1])
        for signs in _drawn_signs(len(many), seed):
            larger += (np.abs(signs @ many) >= observed[~few]).sum(axis=0)
        p[~few] = (larger + 1) / (_PERMUTATIONS + 1)
    return p


def _drawn_signs(n_units: int, seed: int) -> Iterator[Floats]:
    """Signs of all units, in blocks of (permutations, units)."""
    generator = np.random.default_rng([seed, 1])
    at_once = max(1, _CELLS_AT_ONCE // max(n_units, 1))
    for start in range(0, _PERMUTATIONS, at_once):
        size = min(at_once, _PERMUTATIONS - start)
        bits = generator.integers(0, 256, (size, math.ceil(n_units / 8)), dtype=np.uint8)
        yield 1.0 - 2.0 * np.unpackbits(bits, axis=1)[:, :n_units].astype(np.float64)
