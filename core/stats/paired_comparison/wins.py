"""Shares of wins of pairs, orders of naming averaged, with intervals and a test of the order."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.stats.inputs import Booleans, Floats, ratios
from core.stats.resampling import Bootstrap, resampled_totals

_ROUNDING = 1e-12
_PERMUTATIONS = 9_999
_CELLS_AT_ONCE = 500_000


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

    Examples
    --------
    By hand: 3 of 4 when named first and 1 of 2 when named second.

    >>> shares = win_shares(np.array([[[3.0, 1]]]), np.array([[[4.0, 2]]]))
    >>> shares.share[0, 0].tolist(), shares.effect[0, 0].tolist()
    (0.625, 0.25)
    """
    by_order = ratios(wins, n)
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
    return ratios(np.where(cells, values, 0.0).sum(axis=axis), cells.sum(axis=axis))


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

    Examples
    --------
    Of two equal units, every resample is the sample.

    >>> wins, n = np.full((2, 1, 1, 2), 1.0), np.full((2, 1, 1, 2), 3.0)
    >>> counts = resampled_counts(wins, n, Bootstrap(1), orders_apart=False)
    >>> [part.ravel().tolist() for part in counts]
    [[2.0, 2.0], [6.0, 6.0]]
    """
    size = int(np.prod(wins.shape[1:3]))
    both = np.concatenate([counts.reshape(len(wins), size, 2) for counts in (wins, n)], axis=1)
    resampled = np.empty((bootstrap.n_resamples, 2 * size, 2))
    for order in (0, 1):
        used = n[..., order].any(axis=(1, 2)) | (not orders_apart)
        seed = bootstrap.seed + (order if orders_apart else 0)
        totals = resampled_totals(both[used][..., order], Bootstrap(bootstrap.n_resamples, seed))
        resampled[..., order] = np.concatenate(list(totals))
    shape = (bootstrap.n_resamples, *wins.shape[1:])
    return resampled[:, :size].reshape(shape), resampled[:, size:].reshape(shape)


def order_test(wins: Floats, n: Floats, *, orders_apart: bool, seed: int = 0) -> Floats:
    """Test the effect of the order of naming, by exchanging the orders of whole units.

    Parameters
    ----------
    wins, n : (units, pairs, formats, 2)
        As in `win_shares`, of each unit.
    orders_apart : bool
        A unit was asked in one order only, such as a repetition: units move between the orders.
        Otherwise a unit, such as an item, was asked in both, and its two orders change places.
    seed : int
        Of the permutations, where there are more than 9,999.

    Returns
    -------
    (pairs, formats + 1) two-sided p that the orders differ only by chance; NaN where an order was
    not asked, or where units can be arranged in no more than two ways.

    Notes
    -----
    p = share of permutations whose effect is at least as far from 0, the sample being one of them;
    Pitman (1937) doi:10.2307/2984124. All are taken where there are no more than 9,999, else as
    many are drawn; Phipson & Smyth (2010) doi:10.2202/1544-6115.1585. Answers of one unit depend on
    each other, so that whole units move. Checked by hand and against scipy's permutation_test.

    Examples
    --------
    By hand: of the 8 ways to exchange the orders of three units, only all and none have an effect
    as large; the one format is the mean of all formats too.

    >>> wins = np.array([[[[1.0, 0]]]] * 3)
    >>> order_test(wins, np.ones((3, 1, 1, 2)), orders_apart=False).tolist()
    [[0.25, 0.25]]
    """
    observed = win_shares(wins.sum(axis=0), n.sum(axis=0))
    p = np.full(observed.effect.shape, np.nan)
    asked_in = np.asarray(n.any(axis=2))  # (units, pairs, 2)
    alike: dict[bytes, list[int]] = {}
    for pair in range(wins.shape[1]):
        alike.setdefault(asked_in[:, pair].tobytes(), []).append(pair)
    for pairs in alike.values():  # pairs asked of the same units are tested together
        orders = asked_in[:, pairs[0]]
        if not orders.any(axis=0).all():
            continue
        counts = np.stack([wins[:, pairs], n[:, pairs]], axis=1)
        p[pairs] = _exchange_p(counts, orders, observed.effect[pairs], orders_apart, seed)
    return np.where(np.isfinite(observed.effect), p, np.nan)


def _exchange_p(
    counts: Floats, asked_in: Booleans, effect: Floats, orders_apart: bool, seed: int
) -> Floats:
    """The p of pairs that were asked of the same units.

    `counts` is (units, 2, pairs, formats, 2): wins and answers; `asked_in` (units, 2).
    """
    if orders_apart:
        rows = [np.flatnonzero(asked_in[:, order]) for order in (0, 1)]
        units = np.concatenate([counts[members][..., order] for order, members in enumerate(rows)])
        total = units.sum(axis=0)
        arranged = _divisions(len(units), len(rows[0]), seed)
    else:
        units = counts[asked_in.any(axis=1)]
        arranged = _exchanges(len(units), seed)
    cells = counts.sum(axis=0)[1] > 0
    further, n_arranged = np.zeros(effect.shape), 0
    for labels in arranged:
        if orders_apart:
            first = np.tensordot(labels, units, axes=1)
            both = np.stack([first, total - first], axis=-1)
        else:
            moved = np.tensordot(labels, units, axes=1)
            stayed = units.sum(axis=0) - moved
            both = stayed + moved[..., ::-1]
        permuted = win_shares(both[:, 0], both[:, 1], cells).effect
        further += (np.abs(permuted) >= np.abs(effect) - _ROUNDING).sum(axis=0)
        n_arranged += len(labels)
    return further / n_arranged if n_arranged > 2 else np.full(effect.shape, np.nan)


def _exchanges(n_units: int, seed: int) -> Iterator[Floats]:
    """Which units exchange their orders, in blocks of (permutations, units); one leaves all."""
    if 2.0**n_units <= _PERMUTATIONS + 1:
        yield ((np.arange(2**n_units)[:, None] >> np.arange(n_units)) & 1).astype(np.float64)
        return
    generator = np.random.default_rng([seed, 1])  # not the draws of the bootstrap
    yield np.zeros((1, n_units))
    for size in _block_sizes(n_units):
        yield generator.integers(2, size=(size, n_units)).astype(np.float64)


def _divisions(n_units: int, n_first: int, seed: int) -> Iterator[Floats]:
    """Which units are of the first order, in blocks of (permutations, units); one is the sample."""
    if math.comb(n_units, n_first) <= _PERMUTATIONS + 1:
        chosen = np.array(list(combinations(range(n_units), n_first)))
        divisions = np.zeros((len(chosen), n_units))
        divisions[np.arange(len(chosen))[:, None], chosen] = 1.0
        yield divisions
        return
    generator = np.random.default_rng([seed, 1])
    yield (np.arange(n_units) < n_first).astype(np.float64)[None]
    for size in _block_sizes(n_units):
        ranks = generator.random((size, n_units)).argsort(axis=1).argsort(axis=1)
        yield (ranks < n_first).astype(np.float64)


def _block_sizes(n_units: int) -> list[int]:
    """How many permutations are drawn at once, so that memory is bounded."""
    at_once = min(_PERMUTATIONS, max(1, _CELLS_AT_ONCE // max(n_units, 1)))
    whole, rest = divmod(_PERMUTATIONS, at_once)
    return [at_once] * whole + [rest] * (rest > 0)
