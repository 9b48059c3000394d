"""The likelihood of two-way tables of ordered answers, and the correlation that maximises it."""

from __future__ import annotations

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.ordered.bivariate_normal import cell_probabilities, cell_slopes

BOUND = 3.2  # of Fisher's z: correlations are sought within +- .9967
_LEAST_PROBABILITY = 1e-12
_ROUNDS = 100


def slopes_of_likelihood(
    first: Floats, second: Floats, correlation: Floats
) -> tuple[Floats, Floats]:
    """Cell probabilities, and d log probability / d correlation: two (pairs, a, b) arrays."""
    cells = np.maximum(cell_probabilities(first, second, correlation), _LEAST_PROBABILITY)
    return cells, cell_slopes(first, second, correlation) / cells


def likeliest_correlations(tables: Floats, first: Floats, second: Floats) -> Floats:
    """The correlation of greatest likelihood of each table, given thresholds: (pairs,).

    Parameters
    ----------
    tables : (pairs, a + 1, b + 1) array
        Counts.
    first, second : (pairs, a) and (pairs, b) arrays
        Thresholds of the two variables, in standard deviations.

    Notes
    -----
    Scoring on Fisher's z; a step out of the bracket where the slope changes sign is replaced by
    its middle. A table that pulls to +-1 ends at the bound.
    """
    count = len(tables)
    low, high = np.full(count, -BOUND), np.full(count, BOUND)
    z = np.zeros(count)
    active = np.arange(count)
    for _ in range(_ROUNDS):
        r = np.tanh(z[active])
        cells, slopes = slopes_of_likelihood(first[active], second[active], r)
        table = tables[active]
        slope = (table * slopes).sum(axis=(1, 2))
        information = table.sum(axis=(1, 2)) * (cells * slopes**2).sum(axis=(1, 2))
        low[active] = np.where(slope > 0, z[active], low[active])
        high[active] = np.where(slope < 0, z[active], high[active])
        step = slope / np.maximum(information * (1 - r**2), 1e-300)
        wanted = z[active] + step
        inside = (wanted > low[active]) & (wanted < high[active])
        moved = np.where(inside, wanted, (low[active] + high[active]) / 2)
        done = (np.abs(step) < 1e-12) | (high[active] - low[active] < 1e-10)
        z[active] = np.where(done & inside, wanted, np.where(done, z[active], moved))
        active = active[~done]
        if not active.size:
            break
    return np.tanh(z)
