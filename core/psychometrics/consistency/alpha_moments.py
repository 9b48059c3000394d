"""Cronbach's and stratified alpha of many resamples at once, from products of moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.estimate import Estimate
from core.psychometrics.resampling import (
    Bootstrap,
    row_weights,
    with_resampled_interval,
)
from core.psychometrics.usable_items import UsableItems

NEGATIVE = (
    "Negative: the items run against each other on average. Check which items are reverse-keyed."
)
FLAT = "Undefined: the sum of the items is the same in every row."
# A resample may lack an item's variance but for rounding of the moments.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Moments:
    """Item and row values centered once, from which any resample's variances are products."""

    centered: Floats  # (n, k)
    floors: Floats  # (k,) variance under which an item counts as constant
    weights: Floats  # (resamples, n), lines summing to n

    @classmethod
    def of(cls, scores: Floats) -> Moments:
        """The sample itself as the only resample."""
        centered = scores - scores.mean(axis=0)
        return cls(centered, _ROUNDING * centered.var(axis=0), np.ones((1, len(scores))))

    def variances(self, columns: Floats) -> Floats:
        """(resamples, columns) variances, divisor n, of (n, columns) values."""
        n = len(columns)
        means = self.weights @ columns / n
        return np.asarray(self.weights @ columns**2 / n - means**2)


def alpha_coefficients(moments: Moments, groups: Sequence[Integers]) -> Floats:
    """Stratified alpha of every resample; NaN where undefined. One group: Cronbach's alpha."""
    own = moments.variances(moments.centered)
    own = np.where(own > moments.floors, own, 0.0)
    sums = np.stack([moments.centered[:, group].sum(axis=1) for group in groups], axis=1)
    parts = moments.variances(sums)
    total = moments.variances(sums.sum(axis=1, keepdims=True))[:, 0]
    error = np.zeros(len(total))
    for place, group in enumerate(groups):
        items = np.count_nonzero(own[:, group], axis=1).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = items / (items - 1)
        factor[items == 0] = 0.0
        factor[items == 1] = np.nan
        error += parts[:, place] - factor * (parts[:, place] - own[:, group].sum(axis=1))
    known = total > _ROUNDING * own.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(known, 1 - error / total, np.nan)


def resampled_interval(
    result: Estimate, rows: UsableItems, groups: Sequence[Integers], bootstrap: Bootstrap
) -> Estimate:
    """The estimate with a percentile interval over resampled rows."""
    sample = Moments.of(rows.scores)
    values = np.concatenate(
        [
            alpha_coefficients(replace(sample, weights=weights), groups)
            for weights in row_weights(rows.n, bootstrap)
        ]
    )
    return with_resampled_interval(result, values, bootstrap)
