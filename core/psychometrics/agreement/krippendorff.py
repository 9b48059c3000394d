"""Krippendorff's alpha: agreement of any number of coders on any scale, with gaps."""
# Ours because neither scipy nor statsmodels has Krippendorff's alpha.

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.resampling import (
    Bootstrap,
    row_weights,
    with_resampled_interval,
)
from core.psychometrics.score_values import undefined_for_size

Metric = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    ratings: Floats,
    metric: Metric = "nominal",
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """How far coders agree beyond chance, whatever their number and the scale of the codes.

    Parameters
    ----------
    ratings : (coders, units)
        Codes as numbers; NaN where a coder did not code the unit. Units coded fewer than twice
        pair with nothing and are left out.
    metric : "nominal", "ordinal", "interval" or "ratio"
        How much two codes disagree: at all; by ranks between them; by their squared difference;
        by it relative to their sum (codes not negative).
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Units resampled for the percentile interval; 2,000 resamples of seed 0 by default.

    Returns
    -------
    Estimate : alpha, unitless, 1 for agreement, 0 for chance, negative below it. `n` counts units.
    NaN with a reason where no unit was coded twice or all codes are the same.

    Raises
    ------
    ValueError : the table is not two-dimensional or the level not within 0 and 1.

    Notes
    -----
    1 - observed / expected disagreement of pairable codes; Krippendorff (2011, Computing
    Krippendorff's alpha-reliability; 2019, Content Analysis, chapter 12). Ordinal distances are
    differences of mid-ranks. The interval resamples units, which are taken as independent.
    Agrees with R's irr 0.84.1, kripp.alpha, to 1e-12.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings need coders and units, not {table.ndim} dimensions")
    bootstrap = bootstrap or Bootstrap()
    coded = np.isfinite(table)
    pairable = coded.sum(axis=0) >= 2
    codes = np.unique(table[:, pairable][coded[:, pairable]])
    n = int(pairable.sum())
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=n,
        n_left_out=table.shape[1] - n,
        method=f"Krippendorff's alpha ({metric}), {level * 100:g}% interval (percentile bootstrap "
        "over units)",
    )
    problem = _undefined(codes, metric, n)
    if problem:
        return replace(result, problems=(problem,))
    units = _Units(_counts(table[:, pairable], codes), codes, metric)
    value = float(units.alphas(np.ones((1, n)))[0])
    resampled = np.concatenate([units.alphas(weights) for weights in row_weights(n, bootstrap)])
    return with_resampled_interval(replace(result, value=value), resampled, bootstrap)


def _undefined(codes: Floats, metric: Metric, n: int) -> str:
    """Why there is no alpha; empty where there is."""
    if n == 0:
        return "Undefined: no unit was coded by two coders."
    if len(codes) == 1:
        return "Undefined: every code is the same, so chance agrees as fully as the coders."
    if metric == "ratio" and codes[0] < 0:
        return "Undefined: codes on a ratio scale cannot be negative."
    return undefined_for_size(codes) if metric in ("interval", "ratio") else ""


def _counts(table: Floats, codes: Floats) -> Floats:
    """(units, codes) how many coders gave each code to each unit."""
    coder, unit = np.nonzero(np.isfinite(table))
    place = unit * len(codes) + np.searchsorted(codes, table[coder, unit])
    counts = np.bincount(place, minlength=table.shape[1] * len(codes))
    return counts.reshape(-1, len(codes)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Units:
    """Pairable units: (units, codes) counts, and the codes' values in increasing order."""

    counts: Floats
    codes: Floats
    metric: Metric

    def alphas(self, weights: Floats) -> Floats:
        """Alpha of every resample, from (resamples, units) weights; NaN where undefined."""
        totals = weights @ self.counts
        pairs = 1 / (self.counts.sum(axis=1) - 1)
        if self.metric in ("ordinal", "interval"):
            places = self._places(totals)
            observed = ((weights * pairs) * _squared(self.counts, places)).sum(axis=1)
            expected = _squared(totals[:, None, :], places)[:, 0]
        else:
            distances = self._distances()
            own = ((self.counts @ distances) * self.counts).sum(axis=1)
            observed = weights @ (pairs * own)
            expected = ((totals @ distances) * totals).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            alphas = 1 - (totals.sum(axis=1) - 1) * observed / expected
        varied = np.count_nonzero(totals, axis=1) > 1
        return np.asarray(np.where(varied, alphas, np.nan))

    def _places(self, totals: Floats) -> Floats:
        """(resamples or 1, codes) positions whose squared differences are the disagreement."""
        if self.metric == "ordinal":
            return np.asarray(np.cumsum(totals, axis=1) - totals / 2)
        return (self.codes - float(self.codes.mean()))[None, :]

    def _distances(self) -> Floats:
        """(codes, codes) disagreement that is the same in every resample."""
        first, second = self.codes[:, None], self.codes[None, :]
        if self.metric == "nominal":
            return np.asarray(first != second, dtype=np.float64)
        total = first + second
        relative: Floats = np.zeros_like(total)
        np.divide(first - second, total, out=relative, where=total > 0)
        return relative**2


def _squared(counts: Floats, places: Floats) -> Floats:
    """Squared differences of position summed over all ordered pairs within each unit.

    `counts` is (units, codes), or (resamples, 1, codes) where each has its own.
    """
    if counts.ndim == 2:
        first, second = places @ counts.T, places**2 @ counts.T
    else:
        first = (counts * places[:, None, :]).sum(axis=2)
        second = (counts * places[:, None, :] ** 2).sum(axis=2)
    return np.asarray(2 * (counts.sum(axis=-1) * second - first**2))
