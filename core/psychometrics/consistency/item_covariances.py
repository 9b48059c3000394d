"""Sums of the items' covariances, and Cronbach's alpha from them: the one place of the formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.score_values import varying_columns

Missing = Literal["listwise", "pairwise"]


@dataclass(frozen=True, eq=False)
class Covariances:
    """What alpha and discrimination need of the items' covariance matrix C (divisor n - 1).

    All entries are multiplied by `unit`. Without gaps it is n (n - 1): entries of whole scores are
    then whole numbers, and alpha is the same to the last digit in any order of rows and items.
    """

    own: Floats  # the diagonal: variances, exactly 0 for a constant item
    rows: Floats  # sums of rows: covariance of each item with the sum of all
    n: int  # administrations behind it
    unit: float = 1.0

    @property
    def rest(self) -> Floats:
        """Variance of the sum of all items but this one, for each item."""
        return np.asarray(self.rows.sum() - 2 * self.rows + self.own)

    def alpha(self) -> float:
        """Cronbach's alpha; NaN where it is undefined.

        Items of zero variance are left out: a constant adds nothing to the variance of the score,
        true or error, and counting it in k would lower alpha for no reason.
        """
        return float(_alpha(np.count_nonzero(self.own), self.own.sum(), self.rows.sum()))

    def alpha_if_dropped(self) -> Floats:
        """Alpha of the other items, for each item."""
        others = np.count_nonzero(self.own) - (self.own != 0)
        return _alpha(others, self.own.sum() - self.own, self.rest)

    def discriminations(self) -> Floats:
        """Correlation of each item with the sum of the others; NaN where undefined."""
        own, rest = self.own, self.rest
        # What rounding leaves of a constant sum is not variance.
        defined = (own > 0) & (rest > 1e-12 * own.sum())
        r = np.full(len(own), np.nan)
        r[defined] = (self.rows - own)[defined] / np.sqrt((own * rest)[defined])
        return r


def covariances(scores: Floats, missing: Missing) -> Covariances:
    """Covariances of the items of an (administrations, items) matrix, NaN where undefined.

    "listwise" keeps the rows without gaps; "pairwise" takes each pair of items from the rows that
    hold both, and counts the rows with any answer.
    """
    answered = ~np.isnan(scores)
    kept = answered.all(axis=1) if missing == "listwise" else answered.any(axis=1)
    values, present, n = scores[kept], answered[kept], int(kept.sum())
    if n < 2:
        unknown = np.full(scores.shape[1], np.nan)
        return Covariances(unknown, unknown, n)
    # Starting from each item's lowest score keeps constants exactly constant at any origin.
    lowest = np.where(present, values, np.inf).min(axis=0)
    used = present & varying_columns(values)
    shifted = np.where(used, values - np.where(np.isfinite(lowest), lowest, 0), 0)
    if present.all():
        totals, sums = shifted.sum(axis=1), shifted.sum(axis=0)
        own = n * (shifted**2).sum(axis=0) - sums**2
        return Covariances(own, n * (shifted.T @ totals) - sums * totals.sum(), n, n * (n - 1.0))
    means = shifted.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    centered = np.where(used, shifted - means, 0)
    return Covariances(*_pairwise(centered, present.astype(np.float64)), n)


def _pairwise(centered: Floats, present: Floats) -> tuple[Floats, Floats]:
    """Diagonal and row sums of the pairwise covariances, some columns at a time."""
    k = centered.shape[1]
    own, rows = np.full(k, np.nan), np.zeros(k)
    for start in range(0, k, 512):
        block = slice(start, start + 512)
        pairs = present.T @ present[:, block]
        sums = (centered.T @ present[:, block]) * (present.T @ centered[:, block])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (centered.T @ centered[:, block] - sums / pairs) / (pairs - 1)
        part[pairs < 2] = np.nan
        rows += part.sum(axis=1)
        own[block] = np.diag(part[block])
    return own, rows


def _alpha(k: Any, trace: Any, total: Any) -> Floats:
    """Alpha from number of items, sum of variances and variance of the sum; NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - np.float64(1)) * (1 - trace / total)
    return np.where((k > 1) & (total > 1e-12 * trace), value, np.nan)
