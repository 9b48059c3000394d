"""Stratified alpha: the reliability of a total made of several subscales."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.psychometrics.arrays import Floats, Integers
from core.psychometrics.consistency.alpha_moments import (
    FLAT,
    NEGATIVE,
    Moments,
    alpha_coefficients,
    resampled_interval,
)
from core.psychometrics.consistency.item_covariances import covariances
from core.psychometrics.consistency.reliability import cronbach_alpha
from core.psychometrics.estimate import Estimate, check_level
from core.psychometrics.item_rows import item_rows, too_little, with_reason
from core.psychometrics.keying import against_rest
from core.psychometrics.resampling import Bootstrap
from core.psychometrics.usable_items import UsableItems
from core.psychometrics.wording import listed


@dataclass(frozen=True)
class StratifiedAlpha:
    """Stratified alpha and the subscales it is made of.

    `strata` are their names, `alphas` Cronbach's alpha of each, `variances` the variance of each
    subscale's sum, `total_variance` that of the sum of all items (points squared, divisor n - 1).
    """

    coefficient: Estimate
    strata: tuple[Hashable, ...]
    alphas: tuple[float, ...]
    variances: tuple[float, ...]
    total_variance: float


def stratified_alpha(
    scores: Floats,
    strata: Sequence[Hashable],
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> StratifiedAlpha:
    """How reliable the total of several subscales is, each subscale being a stratum of items.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Rows with a gap anywhere are left
        out; constant items are left out and named.
    strata : sequence of length items
        The subscale of each item.
    names : sequence of str, optional
        Items' names for messages.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Rows resampled for the percentile interval; 2,000 resamples of seed 0 by default.

    Returns
    -------
    StratifiedAlpha : the coefficient (at most 1, may be negative) and its parts. NaN with a reason
    where a subscale has a single varying item, whose error variance nobody knows. A subscale that
    is constant throughout adds nothing and is named.

    Raises
    ------
    ValueError : there are not as many strata as items, or as `cronbach_alpha`.

    Notes
    -----
    1 - sum over subscales of var(X_s) (1 - alpha_s) / var(X), X_s sums of items, X their total;
    Cronbach, Schönemann & McKie (1965) doi:10.1177/001316446502500201. With one stratum it is
    Cronbach's alpha. Agrees with the same formula in R to 1e-12; interval by resampling rows.
    """
    rows = item_rows(scores, names)
    if len(strata) != np.shape(scores)[1]:
        raise ValueError(f"{len(strata)} strata for {np.shape(scores)[1]} items")
    bootstrap = bootstrap or Bootstrap()
    kept = [strata[place] for place in rows.kept]
    labels = tuple(dict.fromkeys(strata))
    groups = [
        np.array([place for place, own in enumerate(kept) if own == label], dtype=np.int64)
        for label in labels
    ]
    problems = _strata_problems(rows, labels, groups)
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=rows.n,
        n_left_out=rows.n_left_out,
        method=f"stratified alpha of {len(labels)} subscales, complete rows, "
        f"{level * 100:g}% interval (percentile bootstrap)",
        problems=problems,
    )
    if too_little(rows):
        undefined = tuple(math.nan for _ in labels)
        return StratifiedAlpha(result, labels, undefined, undefined, math.nan)
    if sum(len(group) > 0 for group in groups) == 1:  # nothing is stratified
        value = covariances(rows.scores, "listwise").alpha()
    else:
        value = float(alpha_coefficients(Moments.of(rows.scores), groups)[0])
    if math.isfinite(value):
        negative = (NEGATIVE,) if value < 0 else ()
        against = _against_their_subscale(rows, groups)
        result = replace(result, value=value, problems=problems + negative + against)
        result = resampled_interval(result, rows, groups, bootstrap)
    elif not any("Undefined" in problem for problem in problems):
        result = replace(result, problems=(*problems, FLAT))
    sums = np.array([rows.scores[:, group].sum(axis=1) for group in groups])
    return StratifiedAlpha(
        coefficient=result,
        strata=labels,
        alphas=tuple(cronbach_alpha(rows.scores[:, group]).value for group in groups),
        variances=tuple(float(value) for value in sums.var(axis=1, ddof=1)),
        total_variance=float(sums.sum(axis=0).var(ddof=1)),
    )


def _against_their_subscale(rows: UsableItems, groups: Sequence[Integers]) -> tuple[str, ...]:
    """A caution naming the items that go against the others of their subscale."""
    correlations = np.full(rows.n_items, np.nan)
    for group in groups:
        correlations[group] = covariances(rows.scores[:, group], "listwise").discriminations()
    return against_rest(rows.names, correlations)


def _strata_problems(
    rows: UsableItems, labels: Sequence[Hashable], groups: Sequence[Integers]
) -> tuple[str, ...]:
    """What is to be said of the rows, and what is wrong with the subscales as strata."""
    reason = too_little(rows)
    if reason:
        return with_reason(rows, reason)
    sizes = [len(group) for group in groups]
    single = [str(label) for label, size in zip(labels, sizes, strict=True) if size == 1]
    empty = [str(label) for label, size in zip(labels, sizes, strict=True) if size == 0]
    problems = []
    if single:
        problems.append(
            f"Undefined: alpha needs two items that vary in each subscale, and {listed(single)} "
            "has one."
        )
    if empty:
        problems.append(f"Constant, so without a part in the reliability: {listed(empty)}.")
    return (*rows.problems, *problems)
