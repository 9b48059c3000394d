"""Shares of wins of pairs, orders of naming averaged, with intervals and a test of the order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.stats.inputs import Booleans, Floats
from core.stats.resampling import Bootstrap, row_weights

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class WinShares:
    """Shares of wins of the first entity of each pair; the last format is the mean of all formats.

    Leading axes are those of the counts. `by_order` is (..., pairs, formats + 1, 2): the first
    entity named first, and named second. `share` and `effect` are (..., pairs, formats + 1): the
    mean of the orders, and the first order less the second.
    """

    by_order: Floats
    share: Floats
    effect: Floats


def win_shares(wins: Floats, n: Floats, asked: Booleans | None = None) -> WinShares:
    """The shares of wins per format, and the mean in which formats count alike.

    Parameters
    ----------
    wins, n : (..., pairs, formats, 2)
        Answers for the first entity of the pair, and all answers with a side, when it is named
        first and when it is named second. Halves are allowed.
    asked : (pairs, formats, 2), optional
        The cells that means are over; those with answers otherwise. Resamples take the cells of
        the sample, so that a resample without answers in one of them has no mean.

    Returns
    -------
    WinShares
        Proportions, NaN where no answer has a side. A share is the mean of the orders asked, so
        that neither order counts more than the other; `effect` is NaN where one was not asked.

    Notes
    -----
    Sánchez Salazar (2024), where each order has half of the repetitions, so that the mean of the
    orders is the mean of all repetitions, of which those of the second order are inverted. Checked
    by hand and against the counts of that study.
    """
    by_order = np.divide(wins, n, out=np.full(np.shape(wins), np.nan), where=n > 0)
    cells = np.asarray(np.isfinite(by_order) if asked is None else asked)
    cells = np.broadcast_to(cells, by_order.shape)
    share = _mean(by_order, cells, -1)
    effect = by_order[..., 0] - by_order[..., 1]
    either, both = (np.asarray(some(cells, axis=-1)) for some in (np.any, np.all))
    over_formats = (
        _mean(by_order, cells, -2),
        _mean(share, either, -1),
        _mean(effect, both, -1),
    )
    return WinShares(
        np.concatenate([by_order, over_formats[0][..., None, :]], axis=-2),
        np.concatenate([share, over_formats[1][..., None]], axis=-1),
        np.concatenate([effect, over_formats[2][..., None]], axis=-1),
    )


def _mean(values: Floats, cells: Booleans, axis: int) -> Floats:
    """The mean over the cells; NaN where there is none, or one of them is NaN."""
    count = cells.sum(axis=axis)
    total = np.where(cells, values, 0.0).sum(axis=axis)
    means = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return np.asarray(means)


def resampled_counts(
    wins: Floats, n: Floats, bootstrap: Bootstrap, *, orders_apart: bool
) -> tuple[Floats, Floats]:
    """Counts of resamples in which whole units were drawn.

    Parameters
    ----------
    wins, n : (units, pairs, formats, 2)
        Of each unit, such as an item or a repetition.
    bootstrap : Bootstrap
        How many resamples, and the seed.
    orders_apart : bool
        Draw the units of each order by themselves, as many as the order has. For repetitions, as a
        repetition of one order is none of the other.

    Returns
    -------
    (resamples, pairs, formats, 2) wins and answers.
    """
    resampled = [np.empty((bootstrap.n_resamples, *wins.shape[1:])) for _ in range(2)]
    every = np.ones(len(wins), dtype=bool)
    for order in (0, 1):
        own = n[..., order].any(axis=(1, 2)) if orders_apart else every
        seed = bootstrap.seed + (order if orders_apart else 0)
        weights = row_weights(int(own.sum()), Bootstrap(bootstrap.n_resamples, seed))
        flat = [counts[own][..., order].reshape(int(own.sum()), -1) for counts in (wins, n)]
        start = 0
        for block in weights:
            for counts, into in zip(flat, resampled, strict=True):
                drawn = block @ counts
                into[start : start + len(block), ..., order] = drawn.reshape(
                    len(block), *wins.shape[1:3]
                )
            start += len(block)
    return resampled[0], resampled[1]


def order_test(wins: Floats, n: Floats, bootstrap: Bootstrap, *, orders_apart: bool) -> Floats:
    """Test the effect of the order of naming, by exchanging the orders of whole units.

    Parameters
    ----------
    wins, n : (units, pairs, formats, 2)
        As in `win_shares`, of each unit.
    bootstrap : Bootstrap
        How many permutations at most, and the seed. All are taken where there are no more.
    orders_apart : bool
        A unit was asked in one order only, such as a repetition: units move between the orders.
        Otherwise a unit, such as an item, was asked in both, and its two orders change places.

    Returns
    -------
    (pairs, formats + 1) two-sided p that the orders differ only by chance; NaN where an order was
    not asked, or where units can be arranged in no more than two ways.

    Notes
    -----
    p = share of permutations whose effect is at least as far from 0, the sample being one of them;
    Pitman (1937). Answers of one unit depend on each other, so that whole units move. Checked by
    hand and against scipy's permutation_test.
    """
    shape = wins.shape[1:3]
    observed = win_shares(wins.sum(axis=0), n.sum(axis=0))
    asked = n.sum(axis=0) > 0
    p = np.full((shape[0], shape[1] + 1), np.nan)
    for pair in range(shape[0]):
        own = wins[:, pair], n[:, pair]
        in_order = [own[1][..., order].any(axis=1) for order in (0, 1)]
        if not (in_order[0].any() and in_order[1].any()):
            continue
        if orders_apart:
            rows = np.concatenate([np.flatnonzero(one) for one in in_order])
            which = np.repeat([0, 1], [one.sum() for one in in_order])
            sides = [counts[rows, :, which] for counts in own]
            labels = _divisions(len(rows), int(in_order[0].sum()), bootstrap)
            first = [labels @ counts for counts in sides]
            second = [counts.sum(axis=0) - part for counts, part in zip(sides, first, strict=True)]
        else:
            used = in_order[0] | in_order[1]
            labels = _signs(int(used.sum()), bootstrap)
            first, second = (
                [
                    (1 - labels) @ counts[used][..., one] + labels @ counts[used][..., other]
                    for counts in own
                ]
                for one, other in ((0, 1), (1, 0))
            )
        if len(labels) <= 2:  # the sample and its mirror image
            continue
        permuted = win_shares(
            np.stack([first[0], second[0]], axis=-1)[:, None],
            np.stack([first[1], second[1]], axis=-1)[:, None],
            asked[pair][None],
        ).effect[:, 0]
        as_far = np.abs(permuted) >= np.abs(observed.effect[pair]) - _ROUNDING
        p[pair] = as_far.mean(axis=0)
    return np.where(np.isfinite(observed.effect), p, np.nan)


def _signs(n_units: int, bootstrap: Bootstrap) -> Floats:
    """Which units change their orders, in each permutation; the first leaves all as they are."""
    if 2.0**n_units <= bootstrap.n_resamples:
        return np.asarray((np.arange(2**n_units)[:, None] >> np.arange(n_units)) & 1, dtype=float)
    generator = np.random.default_rng(bootstrap.seed)
    signs = generator.integers(2, size=(bootstrap.n_resamples, n_units)).astype(np.float64)
    return np.concatenate([np.zeros((1, n_units)), signs])


def _divisions(n_units: int, n_first: int, bootstrap: Bootstrap) -> Floats:
    """Which units are of the first order, in each permutation; the first leaves all as they are."""
    if math.comb(n_units, n_first) <= bootstrap.n_resamples:
        chosen = list(combinations(range(n_units), n_first))
        divisions = np.zeros((len(chosen), n_units))
        divisions[np.arange(len(chosen))[:, None], np.array(chosen)] = 1.0
        return divisions
    generator = np.random.default_rng(bootstrap.seed)
    ranks = generator.random((bootstrap.n_resamples, n_units)).argsort(axis=1).argsort(axis=1)
    own = (np.arange(n_units) < n_first).astype(np.float64)
    return np.concatenate([own[None], (ranks < n_first).astype(np.float64)])
