"""Agreement of a score with itself: over occasions, alternate forms and orders of the options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from core.psychometrics.arrays import Floats
from core.psychometrics.comparisons.correlation import Correlation, correlation
from core.psychometrics.comparisons.group_tests import MeanTest, paired_t
from core.psychometrics.resampling import Bootstrap

What = Literal["alternate form", "option order"]


@dataclass(frozen=True)
class FormAgreement:
    """How two versions order the rows (`correlation`) and how their level differs (`shift`)."""

    what: What
    correlation: Correlation
    shift: MeanTest
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Retest:
    """Correlations of all pairs of occasions, by position, and their mean by Fisher's z."""

    pairs: tuple[tuple[int, int], ...]
    correlations: tuple[Correlation, ...]
    mean_r: float
    problems: tuple[str, ...] = ()


def form_agreement(
    original: Floats,
    other: Floats,
    *,
    what: What,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> FormAgreement:
    """How well scores from two forms, or from two orders of the options, agree.

    Parameters
    ----------
    original, other : (rows,)
        Scores of the same rows in the same order, NaN where there is none (row left out).
    what : "alternate form" or "option order"
        What differs between the two.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    bootstrap : Bootstrap, optional
        Resample rows for percentile intervals as well.

    Returns
    -------
    FormAgreement : Pearson's r, and the paired difference other - original, because two forms may
    order the rows alike and still differ in level. Undefined values are NaN with a reason.

    Raises
    ------
    ValueError : the scores are of different lengths.

    Notes
    -----
    Alternate-form reliability and option-order symmetry are Pearson correlations of scores over
    rows. Checked through `correlation` and `paired_t`, which agree with R.
    """
    agreement = correlation(original, other, level=level, bootstrap=bootstrap)
    shift = paired_t(original, other, level=level)
    return FormAgreement(what, agreement, shift, _identical(np.stack([original, other], axis=1)))


def retest_agreement(
    scores: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> Retest:
    """How well scores on one occasion are ordered like those on another.

    Parameters
    ----------
    scores : (rows, occasions)
        One score per row and occasion, NaN where there is none; each pair of occasions uses the
        rows that have both.
    level : float in (0, 1)
        Two-sided coverage of the intervals.
    bootstrap : Bootstrap, optional
        Resample rows for percentile intervals as well.

    Returns
    -------
    Retest : Pearson's r of each pair, and their mean over the pairs that have one. Where some r
    are exactly 1 or -1 and others are not, the mean is NaN, because Fisher's z has no mean.

    Raises
    ------
    ValueError : the table is not two-dimensional.

    Notes
    -----
    The mean is tanh(mean of atanh r); Fisher (1921). Pairs of one set of rows are not independent,
    so the mean has no interval: use `core.psychometrics.consistency.intraclass` for one.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores need rows and occasions, not {table.ndim} dimensions")
    pairs = tuple(combinations(range(table.shape[1]), 2))
    found = tuple(
        correlation(table[:, first], table[:, second], level=level, bootstrap=bootstrap)
        for first, second in pairs
    )
    values = np.array([each.r for each in found if math.isfinite(each.r)])
    problems = _identical(table)
    if not pairs:
        problems += ("Undefined: there is only one occasion.",)
    elif not len(values):
        problems += tuple(dict.fromkeys(text for each in found for text in each.problems))
    mean, reason = _mean_correlation(values)
    return Retest(pairs, found, mean, (*problems, *reason))


def _mean_correlation(values: Floats) -> tuple[float, tuple[str, ...]]:
    """Mean by Fisher's z; NaN with the reason where some z are infinite and others are not."""
    if not len(values):
        return math.nan, ()
    if (values == values[0]).all():
        return float(values[0]), ()
    if (np.abs(values) == 1).any():
        return math.nan, (
            "The mean is undefined: some pairs of occasions determine each other exactly, and "
            "Fisher's z of such a correlation is infinite. Read the pairs.",
        )
    return float(np.tanh(np.arctanh(values).mean())), ()


def _identical(scores: Floats) -> tuple[str, ...]:
    """A caution where versions give the same scores to every row."""
    complete = scores[np.isfinite(scores).all(axis=1)]
    if scores.shape[1] < 2 or not len(complete) or np.ptp(complete, axis=1).any():
        return ()
    return (
        "Scores are identical in every row, as with a model at temperature 0: agreement is by "
        "construction and says nothing about reliability.",
    )
