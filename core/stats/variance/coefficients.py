"""Coefficients of generalizability, and what they would be with other numbers of levels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.stats.inputs import Floats, ratios
from core.stats.variance.components import VarianceComponents
from core.stats.variance.design import members

REPLICATES = -1
"""Stands for the number of answers in a cell among the numbers of levels."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What is measured, over which facets a score is averaged, and which of these are fixed.

    `objects` and `fixed` are sets of facets. `observed` has the number of levels of each other
    facet that an object meets in the data (a mean where objects differ), and under `REPLICATES` the
    number of answers in a cell where some cell has several. `shares` says how much of each
    component is left in the mean of all answers about one object.
    """

    components: VarianceComponents
    objects: int
    fixed: int
    observed: Mapping[int, float]
    shares: Floats

    def is_fixed(self, facet: int) -> bool:
        """Whether the levels of a facet are all there are; answers of a cell never are."""
        return facet != REPLICATES and bool(self.fixed >> facet & 1)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Variances of universe scores and errors; numbers, or arrays over draws of components."""

    universe: Floats
    relative: Floats
    absolute: Floats

    @property
    def generalizability(self) -> Floats:
        """G: universe-score variance over itself and relative error; NaN where both are 0."""
        return ratios(self.universe, self.universe + self.relative)

    @property
    def dependability(self) -> Floats:
        """Phi: universe-score variance over itself and absolute error; NaN where both are 0."""
        return ratios(self.universe, self.universe + self.absolute)


@dataclass(frozen=True)
class Need:
    """How many levels of a facet a coefficient needs; NaN where no number is enough.

    `limit` is the coefficient with as many levels as one likes.
    """

    levels: float
    limit: float


def measurement(
    components: VarianceComponents, closures: Mapping[int, int], objects: int, fixed: int = 0
) -> Measurement:
    """The measurement of some objects, averaged over all other facets as often as in the data.

    Parameters
    ----------
    components : VarianceComponents
        Of the answers.
    closures : mapping
        The closed set of each set of facets (`Effects.closures`).
    objects : int
        The facets whose levels are measured. Facets that they are nested in are measured with them.
    fixed : int
        Facets whose levels are all there are. Others are samples of their levels.

    Examples
    --------
    Six targets by four judges: a score is a mean over four judges.

    >>> from core.stats.variance.components import variance_components
    >>> from core.stats.variance.design import cells, effects
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> scores = np.array(rows, dtype=float)
    >>> design = cells(scores.ravel(), np.indices(scores.shape).reshape(2, -1), scores.shape)
    >>> measured = measurement(variance_components(design), effects(design).closures, 0b01)
    >>> measured.observed
    {1: 4.0}
    """
    design = components.design
    objects = closures[objects]
    n_objects = design.margin(objects, design.full).n_levels if objects else 1
    observed: dict[int, float] = {}
    for facet in members(design.everything & ~objects):
        around = objects | (closures[1 << facet] & ~(1 << facet))
        outer = design.margin(around, design.full).n_levels if around != objects else n_objects
        observed[facet] = design.margin(around | 1 << facet, design.full).n_levels / outer
    if design.replicated:
        observed[REPLICATES] = design.n / design.n_cells
    shares = np.array(
        [
            _share_left(components, closures, objects, index)
            for index in range(len(components.effects))
        ]
    )
    return Measurement(components, objects, fixed & ~objects, observed, shares)


def _share_left(
    components: VarianceComponents, closures: Mapping[int, int], objects: int, index: int
) -> float:
    """How much of a component is left in the mean of an object: a mean over the objects.

    The sum, over the levels of the effect that an object meets, of the squared share of its answers
    under them: 1 / number of levels where all are met equally often.
    """
    design = components.design
    of_objects = design.margin(objects, design.full)
    if index == len(components.effects) - 1:
        return float((1.0 / of_objects.counts).mean())
    joint = design.margin(closures[objects | components.effects[index]], design.full)
    totals = design.matched(objects, of_objects.codes, of_objects.counts, joint.codes)
    return float((joint.counts**2 / totals**2).sum() / of_objects.n_levels)


def coefficients(
    measured: Measurement, numbers: Mapping[int, float] | None = None, draws: Floats | None = None
) -> Coefficients:
    """Variances of the mean score of an object over so many levels of each facet.

    Parameters
    ----------
    measured : Measurement
        What is measured.
    numbers : mapping of facet to number, optional
        Levels of the facets in a study; those of the data where it names none. Fixed facets always
        have those of the data.
    draws : (draws, effects), optional
        Components to use in place of the estimates. Negative ones count as 0.

    Notes
    -----
    Brennan (2001), sections 4.1, 4.2 and 5.1.2: an effect counts for the universe scores if it has
    facets of the objects and else only fixed ones; for relative error if it has facets of the
    objects and a random one; for absolute error if it has any random one but the objects. It is
    divided by the number of levels of all its facets but the objects; where objects meet levels
    unequally often, as in section 7.1.3, by the number of equally frequent levels with the same
    effect on a mean.

    Examples
    --------
    The targets of Shrout & Fleiss (1979): of a mean of four judges G is their ICC(3,4) of .91, and
    phi their ICC(2,4) of .62.

    >>> from core.stats.variance.components import variance_components
    >>> from core.stats.variance.design import cells, effects
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> scores = np.array(rows, dtype=float)
    >>> design = cells(scores.ravel(), np.indices(scores.shape).reshape(2, -1), scores.shape)
    >>> measured = measurement(variance_components(design), effects(design).closures, 0b01)
    >>> result = coefficients(measured)
    >>> round(float(result.generalizability), 2), round(float(result.dependability), 2)
    (0.91, 0.62)
    """
    values = np.maximum(measured.components.estimates if draws is None else draws, 0.0)
    universe, relative, absolute = (
        values @ weight for weight in _weights(measured, {**measured.observed, **(numbers or {})})
    )
    return Coefficients(universe, relative, absolute)


def levels_needed(
    measured: Measurement,
    facet: int,
    target: float,
    *,
    absolute: bool,
    numbers: Mapping[int, float] | None = None,
) -> Need:
    """The least number of levels of a facet with which a coefficient reaches its target.

    Parameters
    ----------
    measured : Measurement
        What is measured.
    facet : int
        A random facet, or `REPLICATES`.
    target : float in (0, 1)
        Of the coefficient.
    absolute : bool
        Of phi, else of G.
    numbers : mapping, optional
        Levels of the other facets, as for `coefficients`.

    Notes
    -----
    The error is a + b / number, because each effect is divided at most once by it. Undefined where
    a alone is too much error for the target.

    Examples
    --------
    By hand from the targets of Shrout & Fleiss (1979), ICC(3,1) = .7148: a G of .8 takes
    4 (1 - .7148) / .7148 = 1.6 judges, so two.

    >>> from core.stats.variance.components import variance_components
    >>> from core.stats.variance.design import cells, effects
    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> scores = np.array(rows, dtype=float)
    >>> design = cells(scores.ravel(), np.indices(scores.shape).reshape(2, -1), scores.shape)
    >>> measured = measurement(variance_components(design), effects(design).closures, 0b01)
    >>> levels_needed(measured, 1, 0.8, absolute=False)
    Need(levels=2, limit=1.0)
    """
    once, never = (
        coefficients(measured, {**(numbers or {}), facet: number}) for number in (1.0, math.inf)
    )
    first, rest = (result.absolute if absolute else result.relative for result in (once, never))
    limit = float(ratios(once.universe, once.universe + rest))
    room = float(once.universe) * (1 - target) / target - float(rest)
    shrinking = float(first) - float(rest)
    if not math.isfinite(limit) or once.universe <= 0:
        return Need(math.nan, limit)
    if shrinking <= 1e-12 * float(first):  # more levels change nothing
        return Need(1.0 if room >= 0 else math.nan, limit)
    if room <= 0:
        return Need(math.nan, limit)
    return Need(max(1.0, math.ceil(shrinking / room - 1e-9)), limit)


def _weights(measured: Measurement, numbers: Mapping[int, float]) -> tuple[Floats, Floats, Floats]:
    """Weights of the components in universe-score variance, relative and absolute error."""
    parts = measured.components
    design = parts.design
    weights = np.zeros((3, len(parts.effects)))
    for index, effect in enumerate(parts.effects):
        residual = index == len(parts.effects) - 1
        outside = effect & ~measured.objects
        share = measured.shares[index]
        for facet in members(outside & ~measured.fixed):
            share *= measured.observed[facet] / numbers[facet]
        if residual and design.replicated:
            share *= measured.observed[REPLICATES] / numbers[REPLICATES]
        random = outside & ~measured.fixed or (residual and design.replicated)
        if not random:
            weights[0, index] = share if effect & measured.objects else 0.0
            continue
        weights[1, index] = share if effect & measured.objects else 0.0
        weights[2, index] = share
    return weights[0], weights[1], weights[2]
