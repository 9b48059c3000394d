"""How far groups differ in single items of a factor model: dMACS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from core.stats.factor.model import Structure
from core.stats.factor.result import CfaResult
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.inputs import Floats

_FARTHEST = 8.0  # standard deviations
_POINTS = (2001, 161)  # in one dimension, and in each of two
_TINY = 1e-12


@dataclass(frozen=True)
class ItemEffect:
    """What an item adds to the difference of a group from the first one, at the same factors.

    Parameters
    ----------
    group, item : position of the group, from 1, and name of the item.
    points : expected score of the item in the group minus that in the first group, in score points,
        mean over the group's distribution of the factors.
    dmacs : root mean square of these differences, over the pooled standard deviation of the item.
    """

    group: int
    item: str
    points: float
    dmacs: float


def item_effects(
    configural: CfaResult, scalar: CfaResult, scores: Sequence[Floats]
) -> tuple[ItemEffect, ...]:
    """The effect of every item in every group against the first one.

    Parameters
    ----------
    configural : CfaResult
        Each group with parameters of its own; continuous or ordered answers.
    scalar : CfaResult
        The same items with equal loadings and intercepts, perhaps but for some items. Its means
        and variances of the factors bring the parameters of each group to one unit.
    scores : sequence of (n, p) arrays
        Of each group, the scores of these items, NaN where missing.

    Returns
    -------
    tuple of ItemEffect, group by group; none where a model has no estimates.

    Notes
    -----
    Nye & Drasgow (2011 doi:10.1037/a0022955): the expected score of an item under the parameters of
    both groups, squared difference over the normal distribution of the factors in the group, root
    over the pooled standard deviation. Of ordered answers the expected score is that of their
    options, by quadrature. Nye & Drasgow take the unit from one item that is free of differences;
    here all items that the second model holds equal give it. Checked against a computation in R
    from lavaan's estimates, and against answers simulated with a known difference.

    Examples
    --------
    By hand: two groups that differ by 1 in one of four items, of standard deviation sqrt(2).

    >>> from core.stats.factor.cfa import fit_cfa
    >>> parts = np.indices((2,) * 5).reshape(5, -1).T * 2.0 - 1
    >>> scores = np.tile(parts[:, [0]] + parts[:, 1:], (2, 1))
    >>> groups = [scores, scores + np.array([0, 0, 0, 1])]
    >>> equal = frozenset({"loadings", "intercepts"})
    >>> fits = [
    ...     fit_cfa(groups, list("abcd"), "F =~ a + b + c + d", equal=held, partial=freed)
    ...     for held, freed in ((frozenset(), frozenset()), (equal, frozenset({("d", "~1", "")})))
    ... ]
    >>> [round(effect.points, 3) + 0 for effect in item_effects(*fits, groups)]
    [0.0, 0.0, 0.0, 1.0]
    >>> round(item_effects(*fits, groups)[3].dmacs * float(np.std(scores[:, 3], ddof=1)), 3)
    1.0
    """
    if not (configural.converged and scalar.converged) or configural.items != scalar.items:
        return ()
    sizes = np.array([np.isfinite(rows).sum(axis=0) - 1 for rows in scores])
    spreads = np.array([np.nanstd(rows, axis=0, ddof=1) for rows in scores])
    reference = _Unit.of(configural, scalar, 0)
    effects = []
    for group in range(1, len(configural.groups)):
        own = _Unit.of(configural, scalar, group)
        shift = (own.means - reference.means) / reference.spreads
        slopes = reference.slopes * (own.spreads / reference.spreads)
        intercepts = reference.intercepts + reference.slopes @ shift
        pooled = (sizes[0] * spreads[0] + sizes[group] * spreads[group]) / (sizes[0] + sizes[group])
        for k, item in enumerate(configural.items):
            ends = np.array([intercepts[k], own.intercepts[k]])
            pair = np.vstack([slopes[k], own.slopes[k]])
            covariance = pair @ own.correlations @ pair.T
            if configural.option_scores:
                mean, square = _ordered_difference(
                    ends, covariance, configural, k, (0, group), (reference, own)
                )
            else:
                mean = float(ends[1] - ends[0])
                square = mean**2 + float(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
            effects.append(
                ItemEffect(group, item, mean, math.sqrt(max(square, 0.0)) / float(pooled[k]))
            )
    return tuple(effects)


@dataclass(frozen=True, eq=False)
class _Unit:
    """Items of one group by standardized factors, and where these stand in the common unit."""

    intercepts: Floats  # (p,)
    slopes: Floats  # (p, m)
    residuals: Floats  # (p,)
    correlations: Floats  # (m, m)
    means: Floats  # (m,)
    spreads: Floats  # (m,)

    @classmethod
    def of(cls, configural: CfaResult, scalar: CfaResult, group: int) -> _Unit:
        """The items of a group."""
        at, common = (
            Structure(fit.table).matrices(fit.theta[: fit.table.n_free], group)
            for fit in (configural, scalar)
        )
        mean, spread = (
            at.total_paths @ at.factor_means,
            np.sqrt(np.maximum(np.diag(at.factor_covariance), _TINY)),
        )
        # a factor may point the other way where no loading is fixed
        signs = np.where((at.loadings * common.loadings).sum(axis=0) < 0, -1.0, 1.0)
        scale = spread * signs
        return cls(
            at.intercepts + at.loadings @ mean,
            at.loadings * scale,
            np.diag(at.residuals),
            at.factor_covariance / np.outer(scale, scale),
            common.total_paths @ common.factor_means,
            np.sqrt(np.maximum(np.diag(common.factor_covariance), _TINY)),
        )


def _ordered_difference(
    ends: Floats,
    covariance: Floats,
    configural: CfaResult,
    item: int,
    groups: tuple[int, int],
    units: tuple[_Unit, _Unit],
) -> tuple[float, float]:
    """Mean and mean square of the difference of two expected scores of options."""
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    # an item of a single factor takes one dimension, in which steep curves need many points
    line = values[0] < 1e-10 * values[1]
    grid = np.linspace(-_FARTHEST, _FARTHEST, _POINTS[0] if line else _POINTS[1])
    first, second = np.meshgrid(np.zeros(1) if line else grid, grid)
    points = np.vstack([first.ravel(), second.ravel()])
    weights = np.exp(-(points**2).sum(axis=0) / 2)
    weights /= weights.sum()
    places = ends[:, None] + root @ points
    steps = np.diff(configural.option_scores[item])
    expected = []
    for group, unit, place in zip(groups, units, places, strict=True):
        cuts = np.array(
            [
                configural.estimate(configural.items[item], THRESHOLD, f"t{k + 1}", group).estimate
                for k in range(len(steps))
            ]
        )
        spread = math.sqrt(max(float(unit.residuals[item]), 1e-6))
        expected.append(scipy.special.ndtr((place[:, None] - cuts) / spread) @ steps)
    gap = expected[1] - expected[0]
    return float(weights @ gap), float(weights @ gap**2)
