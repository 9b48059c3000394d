"""Oblique rotation of loadings to simple structure (direct oblimin)."""
# Ours because statsmodels' rotate_factors goes from one start only, and the criterion has local
# minima; from each start both end at the same rotation.

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.psychometrics.arrays import Floats

_FLAT = 1e-7  # length of the projected slope that counts as a minimum
_NEARLY_FLAT = 1e-4  # enough to choose among starts
_ROUNDS = 3000
_TRIAL_ROUNDS = 200  # of a start, before the best one goes on
_STARTS = 20  # at random
_SAME = 1e-5  # difference of the criterion below which two rotations are one


@dataclass(frozen=True, eq=False)
class Rotation:
    """Rotated loadings (p, m), correlations of the factors (m, m), and how the search ended."""

    loadings: Floats
    factor_correlations: Floats
    criterion: float
    converged: bool
    starts: int
    starts_at_best: int  # starts that ended at this rotation; few: others are nearly as good


def oblimin(loadings: Floats, seed: int = 1) -> Rotation:
    """The oblique rotation in which items load on as few factors as possible.

    Parameters
    ----------
    loadings : (p, m) array
        Unrotated, of uncorrelated factors. With m = 1 there is nothing to rotate.
    seed : int
        Of the random starts besides the unrotated loadings; the criterion has local minima.

    Returns
    -------
    Rotation
        Factors in order of the variance they explain, each turned so that its loadings sum to
        more than 0. Without Kaiser's normalisation.

    Notes
    -----
    Direct quartimin, which is what R calls oblimin: Jennrich & Sampson (1966)
    doi:10.1007/BF02289465; gradient projection of Jennrich (2002) doi:10.1007/BF02294706.
    L P L' equals A A' of the unrotated A. Checked against statsmodels.
    """
    m = loadings.shape[1]
    rng = np.random.default_rng(seed)
    begin = [np.eye(m)]
    begin += [np.linalg.qr(rng.standard_normal((m, m)))[0] for _ in range(_STARTS if m > 1 else 0)]
    ends = [_descend(loadings, turn, _NEARLY_FLAT, _TRIAL_ROUNDS) for turn in begin]
    best = min(ends, key=lambda end: end[1])
    turn, criterion, converged = _descend(loadings, best[0], _FLAT, _ROUNDS)
    rotated = loadings @ np.linalg.inv(turn).T
    arranged, correlations = _arrange(rotated, turn.T @ turn)
    return Rotation(
        loadings=arranged,
        factor_correlations=correlations,
        criterion=criterion,
        converged=converged,
        starts=len(begin),
        starts_at_best=sum(end[1] < best[1] + _SAME for end in ends),
    )


def _criterion(loadings: Floats) -> Any:
    """Criterion and its derivative by the loadings: (float, (p, m))."""
    squares = loadings**2
    others = squares.sum(axis=1, keepdims=True) - squares
    return (squares * others).sum() / 4, loadings * others


def _descend(
    unrotated: Floats, turn: Floats, flat: float, rounds: int
) -> tuple[Floats, float, bool]:
    """Transformation (m, m) with columns of length 1 at a minimum, its criterion, converged."""
    step = 1.0
    value, slope = _at(unrotated, turn)
    for _ in range(rounds):
        projected = slope - turn * (turn * slope).sum(axis=0)
        steepness = float((projected**2).sum())
        if steepness < flat**2:
            return turn, value, True
        step *= 2
        for _ in range(30):
            moved = turn - step * projected
            moved = moved / np.sqrt((moved**2).sum(axis=0))
            new_value, new_slope = _at(unrotated, moved)
            if new_value < value - step * steepness / 2:
                break
            step /= 2
        turn, value, slope = moved, new_value, new_slope
    return turn, value, False


def _at(unrotated: Floats, turn: Floats) -> tuple[float, Floats]:
    """Criterion at a transformation, and its derivative by the transformation: (m, m)."""
    inverse = np.linalg.inv(turn)
    rotated = unrotated @ inverse.T
    value, slope = _criterion(rotated)
    return float(value), np.asarray(-(rotated.T @ slope @ inverse).T)


def _arrange(loadings: Floats, correlations: Floats) -> tuple[Floats, Floats]:
    """Factors by variance explained, largest first, with positive sums of loadings."""
    explained = (loadings * (loadings @ correlations)).sum(axis=0)
    order = np.argsort(-explained, kind="stable")
    sign = np.where(loadings[:, order].sum(axis=0) < 0, -1.0, 1.0)
    return loadings[:, order] * sign, correlations[np.ix_(order, order)] * np.outer(sign, sign)
