"""How far distributions of answers lie apart, for every pair of formats of many items at once.

Ours because scipy compares two distributions at a time, and returns the root of the divergence.
Checked against scipy (jensenshannon squared, wasserstein_distance), R and by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.inputs import Booleans, Floats, Integers, mean_of_defined, ratios
from core.stats.repeatability import entropies_of_shares, shares

_CELLS_AT_ONCE = 1_000_000
_TIE = 1e-9
"""Sums of divergences that differ by less are equal but for rounding."""


# Divergence and distance of every pair of formats.


def pair_places(n_formats: int) -> tuple[Integers, Integers]:
    """The first and the second format of each pair, in the order of all pairs here.

    Examples
    --------
    >>> [places.tolist() for places in pair_places(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    first, second = np.triu_indices(n_formats, k=1)
    return np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)


def jensen_shannon_bits(weights: Floats) -> Floats:
    """Jensen-Shannon divergence of every pair of formats, over options without order.

    Parameters
    ----------
    weights : (..., formats, options)
        Counts or shares, the options of all formats in the same order.

    Returns
    -------
    (..., pairs) divergences in bits, pairs as in `pair_places`: 0 for equal distributions, 1 where
    no option has answers in both; NaN where either has none.

    Raises
    ------
    ValueError : there are no options, or a weight is negative or not a number.

    Notes
    -----
    Entropy of the mean distribution less mean of the entropies; Lin (1991) doi:10.1109/18.61115.
    Some libraries return its square root, the distance. It is never below 0, so it is above 0 by
    chance where the formats are alike and answers are few; see `permutation_test`. Agrees with
    scipy's jensenshannon(base=2) squared to 1e-12, with R and with values worked by hand.

    Examples
    --------
    By hand: 1 where no option is shared. Of (.5, .5) and (1, 0) the mean is (.75, .25), whose
    entropy of .8113 bits is .3113 above the mean entropy of both.

    >>> jensen_shannon_bits(np.array([[1, 0], [0, 1]])).tolist()
    [1.0]
    >>> jensen_shannon_bits(np.array([[1, 1], [1, 0]])).round(4).tolist()
    [0.3113]
    """
    p = shares(weights)
    first, second = pair_places(p.shape[-2])
    of_formats = entropies_of_shares(p, "bits")
    together = entropies_of_shares((p[..., first, :] + p[..., second, :]) / 2, "bits")
    divergences = together - (of_formats[..., first] + of_formats[..., second]) / 2
    return np.asarray(np.clip(divergences, 0.0, 1.0))


def earth_movers_distances(weights: Floats, positions: Floats) -> Floats:
    """How far answers move along the scale to turn one format's into another's.

    Parameters
    ----------
    weights : (..., formats, positions)
        Counts or shares of the answers at each position; formats may use different ones.
    positions : (positions,)
        Where they lie on 0 to 1, ascending.

    Returns
    -------
    (..., pairs) distances, pairs as in `pair_places`: 0 for equal distributions, 1 where one format
    has all answers at 0 and the other all at 1; NaN where either has none.

    Raises
    ------
    ValueError : a weight is negative or not a number; positions do not match, do not ascend or
    leave 0 to 1.

    Notes
    -----
    Area between the two cumulative distributions (Wasserstein-1); Rubner, Tomasi & Guibas (2000)
    doi:10.1023/A:1026543900054. Agrees with scipy's wasserstein_distance to 1e-12 and by hand.

    Examples
    --------
    By hand: all answers move from 0 to 1, or half of them from 0 to .5.

    >>> weights = np.array([[2, 0, 0], [0, 0, 1], [1, 1, 0]])
    >>> earth_movers_distances(weights, np.array([0, 0.5, 1])).tolist()
    [1.0, 0.25, 0.75]
    """
    p, places = shares(weights), np.asarray(positions, dtype=np.float64)
    steps = np.diff(places)
    within = places.shape == p.shape[-1:] and ((places >= 0) & (places <= 1)).all()
    if not within or (steps <= 0).any():
        raise ValueError("options need one position each, ascending within 0 and 1")
    first, second = pair_places(p.shape[-2])
    below = np.cumsum(p, axis=-1)[..., :-1]
    return np.asarray(np.abs(below[..., first, :] - below[..., second, :]) @ steps)


# Means over pairs of formats.


def mean_with_others(values: Floats, n_formats: int) -> Floats:
    """Of each format, the mean over its pairs with the others: (..., pairs) to (..., formats).

    Examples
    --------
    By hand, of the pairs (0, 1), (0, 2) and (1, 2).

    >>> mean_with_others(np.array([1.0, 2, 3]), 3).tolist()
    [1.5, 2.0, 2.5]
    """
    first, second = pair_places(n_formats)
    means = [mean_of_defined(values[..., (first == k) | (second == k)]) for k in range(n_formats)]
    return np.stack(means, axis=-1)


# The permutation test.


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """What divergences are where answers of an item are dealt to its formats at random.

    `chance` (rows, pairs) is the mean divergence in bits; `p_items` (items,) and `p_sums`
    (groups,) are the shares of permutations that give as much as the answers or more, of an item's
    mean over pairs and of its sum over the items of a group. NaN where undefined.
    """

    chance: Floats
    p_items: Floats
    p_sums: Floats
    n_permutations: int


def permutation_test(
    positive: Floats,
    n: Floats,
    groups: Integers,
    *,
    items: Integers | None = None,
    n_permutations: int = 1000,
    seed: int = 0,
) -> PermutationTest:
    """Whether the formats of an item differ by more than answers dealt at random would.

    Parameters
    ----------
    positive, n : (rows, formats)
        Numbers of answers that are yes, and of all; whole numbers. A row is an item, or an item
        under one condition, such as a context: answers are dealt within it.
    groups : (items,)
        Numbers from 0 of the groups whose items are summed.
    items : (rows,), optional
        The number of each row's item, from 0; its divergences are means over its rows. By default
        each row is an item.
    n_permutations : int
        How often the answers are dealt; p is 1 / (n_permutations + 1) at least.
    seed : int
        The same seed deals the same answers.

    Raises
    ------
    ValueError : a count is not whole, or there are more yes than answers.

    Notes
    -----
    The answers of one item are exchangeable between formats if the format makes no difference, so
    the numbers of yes are drawn from the multivariate hypergeometric distribution: each format
    keeps its number of answers, the item its number of yes. p counts the answers themselves as one
    permutation; Phipson & Smyth (2010) doi:10.2202/1544-6115.1585. Checked against all permutations
    listed by hand, and against the mean under the hypergeometric distribution of scipy.

    Examples
    --------
    By hand: two yes of four answers fall on one format in 2 of 6 ways, and then the divergence is
    1; else it is 0.

    >>> result = permutation_test(np.array([[2, 0]]), np.array([[2, 2]]), np.array([0]))
    >>> result.chance.round(1).tolist(), result.p_items.round(1).tolist()
    ([[0.3]], [0.3])
    """
    yes, total = np.asarray(positive, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if (yes % 1).any() or (total % 1).any() or (yes < 0).any() or (yes > total).any():
        raise ValueError("a permutation needs whole numbers of yes among whole numbers of answers")
    own_items = np.arange(len(yes)) if items is None else items
    observed = _item_means(mean_of_defined(_divergences(yes, total)), own_items)
    n_groups = int(groups.max(initial=-1)) + 1
    sums = _group_sums(observed, groups, n_groups)
    chance = np.zeros((len(yes), yes.shape[1] * (yes.shape[1] - 1) // 2))
    as_many = np.zeros(len(observed))
    as_many_sums = np.zeros(n_groups)
    for dealt in _dealt(yes, total, n_permutations, seed):
        divergences = _divergences(dealt, total)
        chance += divergences.sum(axis=0)
        means = _item_means(mean_of_defined(divergences), own_items)
        as_many += (means >= observed - _TIE).sum(axis=0)
        as_many_sums += (_group_sums(means, groups, n_groups) >= sums - _TIE).sum(axis=0)
    defined = np.isfinite(observed)
    in_groups = np.bincount(groups[defined], minlength=n_groups) > 0
    chance = chance / n_permutations if n_permutations else np.full(chance.shape, np.nan)
    return PermutationTest(
        chance,
        _p(as_many, defined, n_permutations),
        _p(as_many_sums, in_groups, n_permutations),
        n_permutations,
    )


def chance_distances(
    counts: Floats, positions: Floats, *, n_permutations: int = 1000, seed: int = 0
) -> Floats:
    """The mean earth mover's distance where the answers of a row are dealt to formats at random.

    Parameters
    ----------
    counts : (rows, formats, positions)
        Whole numbers of answers at each position.
    positions : (positions,)
        Where they lie on 0 to 1, ascending.
    n_permutations, seed : int
        As in `permutation_test`.

    Returns
    -------
    (rows, pairs) array
        NaN where a format of the pair has no answer.

    Notes
    -----
    The distance is the sum over steps of the difference of the shares below, whose mean is that of
    dealt answers below or above the step. Checked against all deals listed by hand.

    Examples
    --------
    By hand: two answers at either end fall alike in 4 of 6 deals, and apart in 2.

    >>> counts = np.array([[[2, 0], [0, 2]]])
    >>> chance_distances(counts, np.array([0.0, 1.0])).round(1).tolist()
    [[0.3]]
    """
    first, second = pair_places(counts.shape[1])
    total = np.asarray(counts, dtype=np.float64).sum(axis=-1)
    mean = np.zeros((len(counts), len(first)))
    below = np.cumsum(counts, axis=-1)[..., :-1]
    for place, step in enumerate(np.diff(positions).tolist()):
        for dealt in _dealt(below[..., place], total, n_permutations, seed + place):
            share = ratios(dealt, total)
            mean += step * np.abs(share[..., first] - share[..., second]).sum(axis=0)
    return mean / n_permutations


def _divergences(yes: Floats, total: Floats) -> Floats:
    """Divergences of every pair of formats, from numbers of yes and of answers."""
    return jensen_shannon_bits(np.stack([yes, np.broadcast_to(total, yes.shape) - yes], axis=-1))


def _item_means(values: Floats, items: Integers) -> Floats:
    """Means of the values that are defined, over the rows (last axis) of each item."""
    shape = (len(items), int(items.max(initial=-1)) + 1)
    member = scipy.sparse.csr_array(
        (np.ones(len(items)), (np.arange(len(items)), items)), shape=shape
    )
    defined = np.isfinite(values)
    above, below = (
        np.asarray(part @ member) for part in (np.where(defined, values, 0.0), defined * 1.0)
    )
    return ratios(above, below)


def _dealt(yes: Floats, total: Floats, n_permutations: int, seed: int) -> Iterator[Floats]:
    """Numbers of yes of every format where an item's answers are dealt anew, in blocks."""
    generator = np.random.default_rng(seed)
    size = total.astype(np.int64)
    at_once = max(1, _CELLS_AT_ONCE // max(yes.size, 1))
    for start in range(0, n_permutations, at_once):
        block = min(at_once, n_permutations - start)
        dealt = np.empty((block, *yes.shape))
        good = np.broadcast_to(yes.sum(axis=1).astype(np.int64), (block, len(yes)))
        left = np.broadcast_to(size.sum(axis=1), (block, len(yes)))
        for k in range(yes.shape[1] - 1):
            of_format = generator.hypergeometric(good, left - good, size[:, k])
            dealt[:, :, k] = of_format
            good, left = good - of_format, left - size[:, k]
        dealt[:, :, -1] = good  # all that is left
        yield dealt


def _group_sums(values: Floats, groups: Integers, n_groups: int) -> Floats:
    """Sums of the values that are defined, over the items (last axis) of each group."""
    member = (groups[:, None] == np.arange(n_groups)).astype(np.float64)
    return np.asarray(np.where(np.isfinite(values), values, 0.0) @ member)


def _p(as_many: Floats, defined: Booleans, n_permutations: int) -> Floats:
    """The share of permutations that give as much, with the answers themselves as one."""
    return np.where(defined & (n_permutations > 0), (as_many + 1) / (n_permutations + 1), np.nan)
