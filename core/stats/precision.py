"""How the half-width of an interval falls with the number of units, and the number a target needs.

Own code: libraries plan a single test by its formula (statsmodels.stats.power), and not an interval
that was simulated at a few numbers. Checked by hand, and against widths of known laws
(tests/stats/test_precision.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from core.stats.inputs import Floats

Basis = Literal["simulated", "law", "out of reach", "undefined"]

_LARGEST_FEW = 4  # numbers whose law says what lies beyond them; small ones fall faster
_LARGEST = 1e9  # units; a target that needs more is out of reach


@dataclass(frozen=True)
class WidthLaw:
    """half-width² = floor + slope / n, for n units.

    `floor` is what stays however many units there are, as where an interval is over items and the
    units are contexts.
    """

    floor: float
    slope: float

    def half_width(self, number: float) -> float:
        """The half-width at a number of units."""
        return math.sqrt(self.floor + self.slope / number)

    def number_for(self, target: float) -> float:
        """The number of units, not rounded, whose half-width is the target; inf where none is."""
        within = target**2 - self.floor
        number = self.slope / within if within > 0 else math.inf
        return number if number <= _LARGEST else math.inf


@dataclass(frozen=True)
class RequiredNumber:
    """The smallest number of units that reaches a target, and what says so.

    `number` is NaN where there is none. `basis` is "simulated" where the number lies within the
    simulated ones, "law" where the law of the largest says it.
    `at_most` is true where the smallest simulated number reaches the target already.
    """

    number: float
    basis: Basis
    at_most: bool = False


def fit_width_law(numbers: Sequence[float], half_widths: Sequence[float]) -> WidthLaw | None:
    """The law of half-widths at several numbers of units; None with fewer than two of them.

    Parameters
    ----------
    numbers, half_widths : sequences of the same length
        Units, and the half-width there; those that are not finite or not above 0 are left out.

    Notes
    -----
    Least squares of relative errors of half-width², floor and slope not below 0 (Lawson & Hanson,
    1974, non-negative least squares). Sampling variance of a mean of n independent units falls with
    1 / n, which gives the law.
    """
    n, width = (np.asarray(values, dtype=np.float64) for values in (numbers, half_widths))
    usable = np.isfinite(n) & np.isfinite(width) & (n > 0) & (width > 0)
    if len(np.unique(n[usable])) < 2:
        return None
    square = width[usable] ** 2
    design = np.column_stack([1 / square, 1 / (n[usable] * square)])
    scale = design.max(axis=0)
    (floor, slope), _ = scipy.optimize.nnls(design / scale, np.ones(len(square)))
    return WidthLaw(float(floor / scale[0]), float(slope / scale[1]))


def required_number(
    numbers: Sequence[float], half_widths: Sequence[float], target: float
) -> RequiredNumber:
    """The smallest number of units whose half-width is at most the target.

    Parameters
    ----------
    numbers : sequence, rising
        Numbers of units that were simulated.
    half_widths : sequence
        Half-widths there; NaN or inf where undefined.
    target : float, above 0
        The half-width wanted.

    Returns
    -------
    RequiredNumber
        Between the last simulated number above the target and the next one, by a straight line
        through the logarithms of both; beyond the largest, by `fit_width_law` of the four largest.
    """
    n, width = (np.asarray(values, dtype=np.float64) for values in (numbers, half_widths))
    if not np.isfinite(width).any():
        return RequiredNumber(math.nan, "undefined")
    above = np.flatnonzero(~(width <= target))
    if len(above) == 0:
        return RequiredNumber(float(n[0]), "simulated", at_most=True)
    last = int(above[-1])
    if last < len(n) - 1:
        return RequiredNumber(_between(n, width, last, target), "simulated")
    law = fit_width_law(n[-_LARGEST_FEW:].tolist(), width[-_LARGEST_FEW:].tolist())
    if law is None:
        return RequiredNumber(math.nan, "undefined")
    number = law.number_for(target)
    if not math.isfinite(number):
        return RequiredNumber(math.nan, "out of reach")
    return RequiredNumber(max(math.ceil(number), float(n[-1]) + 1), "law")


def _between(n: Floats, width: Floats, index: int, target: float) -> float:
    """The number between two simulated ones where the half-width is the target, rounded up."""
    upper = float(n[index + 1])
    if not np.isfinite(width[index]):  # undefined there, so nothing to draw a line from
        return upper
    steps = np.log(width[index]) - np.log(width[index + 1])
    share = (np.log(width[index]) - math.log(target)) / steps
    number = math.exp(np.log(n[index]) + share * (np.log(upper) - np.log(n[index])))
    return float(min(math.ceil(number - 1e-9), upper))
