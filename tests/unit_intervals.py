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


def farther_end(value, chance, moments, n_units, level=0.95):
    """The upper end of a kappa with the error of Fieller: where its numerator less k times its
    denominator is as many errors from 0 as the quantile of t says.

    `moments` are the variances of numerator and denominator, and their covariance.
    """
    quantile = stats.t.ppf((1 + level) / 2, n_units - 1)
    above, below, both = quantile**2 * np.array(moments)
    if chance**2 <= below:
        return 1.0
    square = value * chance
    roots = np.roots([chance**2 - below, -2 * (square * chance - both), square**2 - above])
    error = (roots.max() - value) / quantile
    return wilson_of_error(value, error, n_units, level, (-1, 1))[1]


def ends_of_agreement(value, chance, drawn, drawn_chance, n_units, *, nominal=False):
    """The ends for a kappa of 0 or more, with its resamples and their disagreements by chance.

    Of `nominal` codes it can be no lower than where no two codes of a unit are the same.
    """
    drawn, drawn_chance = np.array(drawn), np.array(drawn_chance)
    scale = n_units / (n_units - 1)
    error = np.nanstd(drawn) * np.sqrt(scale)
    low, high = wilson_of_error(value, error, n_units, bounds=(-1, 1))
    moments = np.cov(np.nan_to_num(drawn) * drawn_chance, drawn_chance, ddof=0) * scale
    apart = farther_end(value, chance, (moments[0, 0], moments[1, 1], moments[0, 1]), n_units)
    least = max(1 - 1 / chance, -1) if nominal else -1
    of_share = wilson_of_error(value, error, n_units, bounds=(least, 1))[1]
    too_low = max(value - np.nanmean(drawn), 0) * scale
    return low, min(max(high, apart, of_share) + too_low, 1)
