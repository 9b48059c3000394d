"""Whether the same factors come out twice: congruence of loadings, with factors matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from core.progress import with_progress
from core.stats.factor.exploratory import (
    factors_of_correlations,
    minres,
    oblimin_near,
    pairwise_correlations,
)
from core.stats.inputs import Floats
from core.stats.resampling import Bootstrap, cosine_intervals

_CHANCE = 95.0  # percentile of the congruences of factors whose items are exchanged at random


def congruence(first: Floats, second: Floats) -> Floats:
    """Tucker's congruence of every factor of one solution with every one of another.

    Parameters
    ----------
    first, second : (p, m) and (p, l) arrays
        Loadings of the same items.

    Returns
    -------
    (m, l) array : sum of x y / sqrt(sum of x² sum of y²), not centered; NaN for a factor without
    loadings. Tucker (1951); Lorenzo-Seva & ten Berge (2006) doi:10.1027/1614-2241.2.2.57.

    Examples
    --------
    By hand: 1.76 / sqrt(1.9 · 1.655).

    >>> x, y = np.array([[0.7, 0.6, 0.5, 0.8, 0.4], [0.65, 0.7, 0.4, 0.75, 0.5]])[:, :, None]
    >>> congruence(x, y).round(7).tolist()
    [[0.9907608]]
    """
    lengths = np.sqrt(np.outer((first**2).sum(axis=0), (second**2).sum(axis=0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(first.T @ second / lengths)


def matched(first: Floats, second: Floats) -> Floats:
    """The loadings of the second solution with its factors in the order and sign of the first's.

    Each factor gets the partner that makes the sum of absolute congruences largest (the Hungarian
    method), and is reflected where its congruence is negative. Nothing is rotated.

    Examples
    --------
    >>> first = np.array([[0.8, 0], [0.7, 0.1], [0, 0.6]])
    >>> matched(first, -first[:, ::-1]).tolist() == first.tolist()
    True
    """
    phi = np.nan_to_num(congruence(first, second))
    order = scipy.optimize.linear_sum_assignment(-np.abs(phi))[1]
    signs = np.where(phi[np.arange(len(order)), order] < 0, -1.0, 1.0)
    return np.asarray(second[:, order] * signs)


def _of_partners(first: Floats, second: Floats) -> Floats:
    """Congruence of each factor with that in the same column: (m,)."""
    return np.asarray(np.diag(congruence(first, second)))


def _correlations(scores: Floats) -> Floats:
    """Pearson correlations of rows, of all pairs of answers where there are gaps."""
    if np.isnan(scores).any():
        return pairwise_correlations(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.corrcoef(scores, rowvar=False))


@dataclass(frozen=True, eq=False)
class LoadingCongruence:
    """Loadings of each level and the congruence of each pair of levels, factor by factor.

    Fields
    ------
    loadings : (p, m) of each level, matched to those of the first.
    pairs : positions of the two levels.
    phi, low, high : (pairs, m), with the interval of `cosine_intervals` over resampled rows, NaN
        without.
    chance : (pairs, m), the 95th percentile where the items of the second are exchanged.
    n_undefined : resamples without a solution.
    problems : cautions on the solution of each level.
    """

    loadings: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    phi: Floats
    low: Floats
    high: Floats
    chance: Floats
    n_undefined: int
    problems: tuple[tuple[str, ...], ...]


def congruence_of_levels(
    levels: Sequence[Floats],
    names: Sequence[str],
    n_factors: int,
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
    permutations: int = 1000,
    seed: int = 1,
) -> LoadingCongruence:
    """Congruence of the exploratory factors of the same items at several levels.

    Parameters
    ----------
    levels : sequence of (n, p) arrays
        Scores at each level, NaN where there is none; every item varies at each.
    names : p names
        For messages.
    n_factors : int
        Factors to extract at each level.
    level : float in (0, 1)
        Coverage of the intervals, which are of the phi of all that the rows are drawn from.
    bootstrap : Bootstrap, optional
        Of the rows of each level; without it there is no interval.
    permutations, seed : int
        Of the items, for what chance would give; the seed is also of the starts of the rotation.

    Raises
    ------
    NotEnoughData
        As `factors_of_correlations`.

    Notes
    -----
    Minres factors rotated by oblimin; factors come in any order and sign, so those of each level
    are matched to the first's (`matched`), and those of a resample to those of its level, before
    levels are compared within the resample. A resample is rotated from the rotation of its level
    on, not from many starts. Rows are taken as independent. Factors with loadings of one sign on
    all items are congruent by chance already: read phi beside `chance`. Agrees with
    factor.congruence of psych 2.2.9 on its fa, men and women of its bfi, to 1e-3.

    Examples
    --------
    Two samples of the same two factors; the second has its items in the other order of factors.

    >>> parts = np.indices((2,) * 8).reshape(8, -1).T * 2.0 - 1
    >>> scores = 0.8 * parts[:, [0, 0, 0, 1, 1, 1]] + 0.6 * parts[:, 2:]
    >>> congruence_of_levels([scores, -scores], list("abcdef"), 2).phi.round(3).tolist()
    [[1.0, 1.0]]
    """
    solutions = [
        factors_of_correlations(_correlations(rows), names, n_factors, n=len(rows), seed=seed)
        for rows in levels
    ]
    first = solutions[0].loadings
    loadings = tuple(matched(first, solution.loadings) for solution in solutions)
    pairs = tuple(combinations(range(len(levels)), 2))
    resampled = _resampled(levels, loadings, pairs, bootstrap)
    phi = np.array([_of_partners(loadings[a], loadings[b]) for a, b in pairs])
    ends = cosine_intervals(phi.ravel(), resampled.reshape(len(resampled), -1), level)
    shape = len(pairs), n_factors
    return LoadingCongruence(
        loadings=loadings,
        pairs=pairs,
        phi=phi,
        low=ends.low.reshape(shape),
        high=ends.high.reshape(shape),
        chance=np.array(
            [_by_chance(loadings[a], loadings[b], permutations, seed) for a, b in pairs]
        ),
        n_undefined=int(np.isnan(resampled).any(axis=(1, 2)).sum()) if bootstrap else 0,
        problems=tuple(solution.problems for solution in solutions),
    )


def _by_chance(first: Floats, second: Floats, permutations: int, seed: int) -> Floats:
    """The congruence that factors of items in random order exceed in a twentieth of cases: (m,)."""
    draw = np.random.default_rng(seed)
    values = []
    for _ in range(permutations):
        exchanged = second[draw.permutation(len(second))]
        values.append(_of_partners(first, matched(first, exchanged)))
    return np.asarray(np.percentile(values, _CHANCE, axis=0))


def _solution_near(scores: Floats, target: Floats) -> Floats:
    """Loadings of rows, matched to those of a solution of nearly the same rows; NaN without."""
    table = _correlations(scores)
    if not np.isfinite(table).all():
        return np.full(target.shape, np.nan)
    return matched(target, oblimin_near(minres(table, target.shape[1]).loadings, target))


def _resampled(
    levels: Sequence[Floats],
    loadings: Sequence[Floats],
    pairs: Sequence[tuple[int, int]],
    bootstrap: Bootstrap | None,
) -> Floats:
    """Congruences of every resample: (resamples, pairs, m); one line of NaN without a bootstrap."""
    n_factors = loadings[0].shape[1]
    if bootstrap is None:
        return np.full((1, len(pairs), n_factors), np.nan)
    draw = np.random.default_rng(bootstrap.seed)
    values = np.empty((bootstrap.n_resamples, len(pairs), n_factors))
    for number in with_progress(range(bootstrap.n_resamples), "resamples"):
        redrawn = [
            _solution_near(rows[draw.integers(0, len(rows), len(rows))], target)
            for rows, target in zip(levels, loadings, strict=True)
        ]
        # its second solution is matched to that of its first level, as in the sample
        values[number] = [
            _of_partners(redrawn[a], matched(redrawn[a], redrawn[b])) for a, b in pairs
        ]
    return values


def halves_congruence(
    scores: Floats, loadings: Floats, *, splits: int = 20, seed: int = 1
) -> Floats:
    """Congruence of the factors of two random halves of the rows: (splits, m).

    Parameters
    ----------
    scores : (n, p) array
        NaN where there is no score.
    loadings : (p, m) array
        Of all rows; the factors of the halves are matched to them.
    splits, seed : int
        Number of random splits; the same seed draws the same ones.

    Examples
    --------
    Halves of rows that have two factors and hardly any error find them both.

    >>> draw = np.random.default_rng(1).normal
    >>> scores = draw(size=(400, 2))[:, [0, 0, 0, 1, 1, 1]] + draw(size=(400, 6)) / 3
    >>> loadings = np.repeat(np.eye(2), 3, axis=0)
    >>> bool((halves_congruence(scores, loadings) > 0.99).all())
    True
    """
    draw = np.random.default_rng(seed)
    values = np.full((splits, loadings.shape[1]), np.nan)
    for split in range(splits):
        order = draw.permutation(len(scores))
        half = len(scores) // 2
        first, second = (_solution_near(scores[r], loadings) for r in (order[:half], order[half:]))
        values[split] = _of_partners(first, matched(first, second))
    return values
