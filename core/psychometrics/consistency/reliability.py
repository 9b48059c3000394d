"""Cronbach's alpha of one scale, with Feldt's or a resampled interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import f

from core.psychometrics.arrays import Floats
from core.psychometrics.consistency.alpha_moments import (
    FLAT,
    NEGATIVE,
    resampled_interval,
)
from core.psychometrics.consistency.item_covariances import Missing, covariances
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.item_rows import item_rows, too_little, with_reason
from core.psychometrics.keying import against_rest
from core.psychometrics.resampling import Bootstrap


def cronbach_alpha(
    scores: Floats,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
    missing: Missing = "listwise",
) -> Estimate:
    """How consistently the items of one scale rank the rows: Cronbach's alpha with its interval.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. A row is the unit of analysis.
        Constant items are left out and named.
    names : sequence of str, optional
        Items' names for messages.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Resample rows for a percentile interval; without it the interval is Feldt's. Only of
        complete rows.
    missing : "listwise" or "pairwise"
        Take the rows without a gap, or each covariance from the rows that hold both items; n then
        counts the rows with any answer.

    Returns
    -------
    Estimate : alpha, unitless, at most 1, may be negative. NaN with a reason under two complete
    rows, two varying items, or a constant sum. Items that correlate negatively with the rest are
    named.

    Raises
    ------
    ValueError : the table is not two-dimensional, the level not within 0 and 1, or a bootstrap is
    asked for with "pairwise".

    Notes
    -----
    k / (k - 1) (1 - sum of item variances / variance of the sum); Cronbach (1951)
    doi:10.1007/BF02310555. Feldt's interval takes (1 - population alpha) / (1 - alpha) as F with
    n - 1 and (n - 1)(k - 1) degrees of freedom; Feldt, Woodruff & Salih (1987)
    doi:10.1177/014662168701100107, formulas 6 and 7; some programs take n (k - 1) instead. Rows are
    taken as independent; repeats of one model are not.
    Agrees with psych 2.4.12 to 1e-12.
    """
    check_level(level)
    if bootstrap and missing == "pairwise":
        raise ValueError("rows with gaps are not resampled")
    rows = item_rows(scores, names, rows="complete" if missing == "listwise" else "any")
    used = "complete rows" if missing == "listwise" else "all pairs of answers"
    interval = "percentile bootstrap" if bootstrap else "Feldt"
    result = Estimate(
        math.nan,
        level=level,
        n=rows.n,
        n_left_out=rows.n_left_out,
        method=f"Cronbach's alpha, {used}, {level * 100:g}% interval ({interval})",
        problems=rows.problems,
    )
    reason = too_little(rows)
    if reason:
        return replace(result, problems=with_reason(rows, reason))
    table = covariances(rows.scores, missing)
    value = table.alpha()
    if math.isnan(value):
        return replace(result, problems=(*rows.problems, FLAT))
    negative = (NEGATIVE,) if value < 0 else ()
    against = against_rest(rows.names, table.discriminations())
    result = replace(result, value=value, problems=rows.problems + negative + against)
    if bootstrap:
        return resampled_interval(result, rows, [np.arange(rows.n_items)], bootstrap)
    low, high = feldt_interval(value, rows.n, rows.n_items, level)
    return replace(result, low=low, high=high)


def feldt_interval(alpha: float, n: int, k: int, level: float = 0.95) -> tuple[float, float]:
    """Ends of Feldt's two-sided interval of alpha from n rows of k items; NaN for NaN."""
    if math.isnan(alpha):
        return math.nan, math.nan
    tail, df1, df2 = (1 - check_level(level)) / 2, n - 1, (n - 1) * (k - 1)
    return (
        1 - (1 - alpha) * float(f.isf(tail, df1, df2)),
        1 - (1 - alpha) * float(f.ppf(tail, df1, df2)),
    )
