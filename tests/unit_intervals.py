"""Intervals of means over units by statsmodels: those of Wilson, with the quantile of t."""

from __future__ import annotations

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


def wilson_of_error(mean, error, n_units, level=0.95, bounds=(0.0, 1.0)):
    """The ends for a mean with this standard error."""
    lowest, width = bounds[0], bounds[1] - bounds[0]
    share = (mean - lowest) / width
    n = share * (1 - share) / (error / width) ** 2
    beyond = 2 * stats.norm.sf(stats.t.ppf((1 + level) / 2, n_units - 1))
    low, high = proportion_confint(n * share, n, alpha=beyond, method="wilson")
    return lowest + width * low, lowest + width * high


def wilson_of_units(values, level=0.95, bounds=(0.0, 1.0)):
    """The ends for the mean of these values of units."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    return wilson_of_error(values.mean(), error, len(values), level, bounds)
