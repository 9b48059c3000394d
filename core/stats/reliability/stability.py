"""Stability of a score: retest, alternate forms, orders of the options, intraclass correlations."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.correlation import Correlation, correlation
from core.stats.groups import MeanTest, paired_t
from core.stats.inputs import (
    ROUNDING,
    Estimate,
    Floats,
    check_level,
    is_constant,
    ratios,
    undefined_size_note,
)
from core.stats.resampling import Bootstrap
from core.stats.variance.components import variance_components
from core.stats.variance.design import cells

# Retest correlations, and the agreement of alternate forms or orders of the options.

Version = Literal["alternate form", "option order"]


@dataclass(frozen=True)
class FormAgreement:
    """How two versions order the rows (`correlation`) and how their level differs (`shift`)."""

    what: Version
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
    what: Version,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> FormAgreement:
    """The agreement of scores from two forms, or from two orders of the options.

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

    Examples
    --------
    cor of R; by hand the second form is 1 higher on average.

    >>> first, second = np.array([1.0, 2, 3, 4]), np.array([3.0, 2, 5, 4])
    >>> result = form_agreement(first, second, what="alternate form")
    >>> round(result.correlation.r, 4), result.shift.difference
    (0.6, 1.0)
    """
    agreement = correlation(original, other, level=level, bootstrap=bootstrap)
    shift = paired_t(original, other, level=level)
    return FormAgreement(
        what, agreement, shift, _identical_scores_note(np.stack([original, other], axis=1))
    )


def retest_agreement(
    scores: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> Retest:
    """Retest reliability: the correlations of scores over pairs of occasions.

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
    so the mean has no interval: use `intraclass` for one.

    Examples
    --------
    cor of R; by hand tanh((atanh .8 + atanh .6 + 0) / 3) = (6^(2/3) - 1) / (6^(2/3) + 1).

    >>> result = retest_agreement(np.array([[1.0, 1, 2], [2, 3, 1], [3, 2, 4], [4, 4, 3]]))
    >>> [round(pair.r, 4) for pair in result.correlations], round(result.mean_r, 4)
    ([0.8, 0.6, 0.0], 0.5351)
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores need rows and occasions, not {table.ndim} dimensions")
    pairs = tuple(combinations(range(table.shape[1]), 2))
    correlations = tuple(
        correlation(table[:, first], table[:, second], level=level, bootstrap=bootstrap)
        for first, second in pairs
    )
    values = np.array([each.r for each in correlations if math.isfinite(each.r)])
    problems = _identical_scores_note(table)
    if not pairs:
        problems += (undefined_note("Undefined: there is only one occasion."),)
    elif not len(values):
        problems += tuple(dict.fromkeys(text for each in correlations for text in each.problems))
    mean = math.nan
    if len(values) and (values == values[0]).all():
        mean = float(values[0])
    elif (np.abs(values) == 1).any():
        problems += (
            "The mean is undefined: some pairs of occasions determine each other exactly, and "
            "Fisher's z of such a correlation is infinite. Read the pairs.",
        )
    elif len(values):
        mean = float(np.tanh(np.arctanh(values).mean()))
    return Retest(pairs, correlations, mean, problems)


def _identical_scores_note(scores: Floats) -> tuple[str, ...]:
    """A caution where versions give the same scores to every row."""
    complete = scores[np.isfinite(scores).all(axis=1)]
    if scores.shape[1] < 2 or not len(complete) or np.ptp(complete, axis=1).any():
        return ()
    return (
        "Scores are identical in every row, as with a model at temperature 0. Such agreement is by "
        "construction and says nothing about reliability.",
    )


# Intraclass correlations: how far repetitions (or raters) give the same score to the same unit.
# Ours because neither scipy nor statsmodels has them.

IccForm = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
ICC_FORMS: tuple[IccForm, ...] = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")


@dataclass(frozen=True)
class IntraclassCorrelation(Estimate):
    """One form of the coefficient, with its F test against 0 and its interval."""

    form: IccForm = "ICC1"
    f: float = math.nan
    df1: float = math.nan
    df2: float = math.nan
    p: float = math.nan


@dataclass(frozen=True)
class Intraclass:
    """All six forms, in the order of FORMS, of `n` units with `k` repetitions each."""

    forms: tuple[IntraclassCorrelation, ...]
    n: int
    k: int
    n_left_out: int
    level: float
    problems: tuple[str, ...] = ()

    def form(self, name: IccForm) -> IntraclassCorrelation:
        """The coefficient of that form."""
        return self.forms[ICC_FORMS.index(name)]


@dataclass(frozen=True)
class _MeanSquares:
    """Analysis of variance of units by repetitions."""

    units: float
    within: float
    repetitions: float
    error: float
    n: int
    k: int


def intraclass(scores: Floats, *, level: float = 0.95) -> Intraclass:
    """The share of the variance of scores that lies between units, not between repetitions.

    Parameters
    ----------
    scores : (units, repetitions)
        One score per unit (context, say) and repetition or rater, in score points; NaN where there
        is none. Units with a gap are left out (listwise).
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    Intraclass : six forms, unitless, at most 1, may be negative. ICC1: repetitions are
    interchangeable; ICC2: repetitions are a random sample, differences of level count; ICC3:
    repetitions are fixed, only their order of units counts; with k, of the mean of all
    repetitions. NaN with a reason where nothing varies or under two units or repetitions; without
    an interval where every unit's repetitions are identical.

    Raises
    ------
    ValueError : the table is not two-dimensional or the level not within 0 and 1.

    Notes
    -----
    Shrout & Fleiss (1979) doi:10.1037/0033-2909.86.2.420; intervals of McGraw & Wong (1996)
    doi:10.1037/1082-989X.1.1.30, Satterthwaite's degrees of freedom for ICC2. Agrees with psych
    2.4.12, ICC(lmer = FALSE), to 1e-9.

    Examples
    --------
    Six targets and four judges of Shrout & Fleiss (1979), who print .17, .29, .71, .44, .62, .91.

    >>> rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> [round(one.value, 2) for one in intraclass(np.array(rows)).forms]
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    check_level(level)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"scores need units and repetitions, not {table.ndim} dimensions")
    complete = table[np.isfinite(table).all(axis=1)]
    n, k = complete.shape
    undefined = Intraclass(
        tuple(IntraclassCorrelation(math.nan, level=level, n=n, form=form) for form in ICC_FORMS),
        n,
        k,
        len(table) - n,
        level,
    )
    if n < 2 or k < 2:
        reason: str = undefined_note(
            "Undefined: intraclass correlations need two units with two repetitions each, and "
            f"there are {n} complete units of {k}."
        )
        return replace(undefined, problems=(reason,))
    reason = undefined_size_note(complete)
    if not reason and is_constant(complete.ravel()):
        reason = undefined_note("Undefined: every score is the same, so the units do not differ.")
    if reason:
        return replace(undefined, problems=(reason,))
    if (np.ptp(complete, axis=1) == 0).all():
        same = []
        for form in undefined.forms:
            df1, df2 = _df(form.form, n, k)
            same.append(replace(form, value=1.0, f=math.inf, df1=df1, df2=df2, p=0.0))
        reason = (
            "The repetitions of every unit are identical, so agreement is complete by construction "
            "(as with a model at temperature 0) and has no interval."
        )
        return replace(undefined, forms=tuple(same), problems=(reason,))
    squares, exact = _mean_squares(complete)
    forms = tuple(_form(form, squares, level) for form in ICC_FORMS)
    problems = (
        ("Units differ by the same amounts in every repetition: ICC3 has no interval.",)
        if exact
        else ()
    )
    return replace(undefined, forms=forms, problems=problems)


def intraclass_of_components(scores: Floats, *, level: float = 0.95) -> Intraclass:
    """As `intraclass`, with the units that lack some repetition, by mixed models.

    Parameters
    ----------
    scores : (units, repetitions)
        As in `intraclass`; only units without any score are left out.
    level : float in (0, 1)
        Of the intervals, which there are none of.

    Returns
    -------
    Intraclass : the six forms without test and interval. NaN with a reason as in `intraclass`, and
    where the effects cannot be told apart.

    Notes
    -----
    Variances by REML: of units and the rest for ICC1, of units, repetitions and the rest for the
    others. ICC1 and ICC2 are the units' share of all, ICC3 that of units and rest. Right where
    scores are missing at random. Variances may be below 0 (`VarianceComponents.unbounded`), so that
    chance does not push coefficients up: without gaps they are those of `intraclass`. Agrees with
    lme of nlme 3.1 (R) to 5e-5, where nothing is below 0.

    Examples
    --------
    By lme of nlme (R), the table of `intraclass` with two gaps.

    >>> rows = [[9, 2, 5, 8], [6, 1, math.nan, 2], [8, 4, 6, 8], [7, 1, 2, 6]]
    >>> rows += [[math.nan, 5, 6, 9], [6, 2, 4, 7]]
    >>> [round(one.value, 2) for one in intraclass_of_components(np.array(rows)).forms[:3]]
    [0.01, 0.3, 0.72]
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[np.isfinite(table).any(axis=1)]
    n, k = table.shape
    undefined = Intraclass(
        tuple(IntraclassCorrelation(math.nan, level=level, n=n, form=form) for form in ICC_FORMS),
        n,
        k,
        len(scores) - n,
        level,
    )
    present = np.isfinite(table)
    values, codes = table[present], np.array(np.nonzero(present))
    reason = undefined_size_note(values)
    if n < 2 or (present.sum(axis=1) > 1).sum() < 1:
        reason = undefined_note(
            "Undefined: intraclass correlations need two units, one of them with two repetitions."
        )
    elif not reason and is_constant(values):
        reason = undefined_note("Undefined: every score is the same, so the units do not differ.")
    if reason:
        return replace(undefined, problems=(reason,))
    one_way = variance_components(cells(values, codes[:1], [n]), "reml")
    two_way = variance_components(cells(values, codes, [n, k]), "reml")
    if not (len(one_way.effects) == 2 and len(two_way.effects) == 3):
        reason = undefined_note("Undefined: units and repetitions cannot be told apart.")
        return replace(undefined, problems=(reason,))
    (units, rest), parts = one_way.unbounded, two_way.unbounded
    singles = {
        "ICC1": ratios(units, units + rest),
        "ICC2": ratios(parts[0], parts.sum()),
        "ICC3": ratios(parts[0], parts[0] + parts[2]),
    }
    forms = []
    for form in undefined.forms:
        value, problems = float(singles[form.form[:4]]), form.problems
        if form.form.endswith("k"):
            shared = 1 + (k - 1) * value
            value = k * value / shared if shared > ROUNDING else math.nan
            if not shared > ROUNDING:
                problems = (undefined_note(f"Undefined: {_NO_SHARED}"),)
        forms.append(replace(form, value=value, problems=problems))
    notes = dict.fromkeys((*one_way.problems, *two_way.problems))
    return replace(undefined, forms=tuple(forms), problems=tuple(notes))


_NO_SHARED = (
    "repetitions differ so much more than units that a mean of them has no variance of units."
)


def _df(form: IccForm, n: int, k: int) -> tuple[float, float]:
    """Degrees of freedom of the F test."""
    return n - 1.0, float(n * (k - 1) if form.startswith("ICC1") else (n - 1) * (k - 1))


def _mean_squares(scores: Floats) -> tuple[_MeanSquares, bool]:
    """Mean squares, and whether the error is only rounding (then exactly 0)."""
    n, k = scores.shape
    centered = scores - scores.mean()
    units, repetitions = centered.mean(axis=1), centered.mean(axis=0)
    error = float(((centered - units[:, None] - repetitions) ** 2).sum())
    exact = error < 1e-20 * float((centered**2).sum()) * n * k
    error = 0.0 if exact else error
    between = n * float((repetitions**2).sum())
    return _MeanSquares(
        units=k * float((units**2).sum()) / (n - 1),
        within=(between + error) / (n * (k - 1)),
        repetitions=between / (k - 1),
        error=error / ((n - 1) * (k - 1)),
        n=n,
        k=k,
    ), exact


def _form(form: IccForm, squares: _MeanSquares, level: float) -> IntraclassCorrelation:
    """One form with F test and interval; forms of means are stepped up from the single one."""
    error = squares.within if form.startswith("ICC1") else squares.error
    df1, df2 = _df(form, squares.n, squares.k)
    ratio = squares.units / error if error > 0 else math.inf
    n, k = squares.n, squares.k
    shift = k * (squares.repetitions - squares.error) / n if form.startswith("ICC2") else 0.0
    below = squares.units + (k - 1) * error + shift
    value = (squares.units - error) / below if below > 0 else math.nan
    if form.startswith("ICC2"):
        low, high = _random_interval(squares, value, level)
    elif math.isinf(ratio):
        low, high = math.nan, math.nan
    else:
        tail = (1 - level) / 2
        least = ratio / float(scipy.stats.f.isf(tail, df1, df2))
        most = ratio * float(scipy.stats.f.isf(tail, df2, df1))
        low, high = ((end - 1) / (end + k - 1) for end in (least, most))
    if form.endswith("k"):  # Spearman-Brown: the coefficient of a mean of k from that of one
        value, low, high = (
            k * end / parts if (parts := 1 + (k - 1) * end) > 0 else math.nan
            for end in (value, low, high)
        )
    return IntraclassCorrelation(
        value,
        low,
        high,
        level,
        n,
        form=form,
        f=ratio,
        df1=df1,
        df2=df2,
        p=float(scipy.stats.f.sf(ratio, df1, df2)),
    )


def _random_interval(squares: _MeanSquares, value: float, level: float) -> tuple[float, float]:
    """Interval of ICC2, from Satterthwaite's degrees of freedom."""
    if squares.error == 0 or math.isnan(value):
        return math.nan, math.nan
    n, k = squares.n, squares.k
    a = k * value * squares.repetitions / squares.error
    b = n * (1 + (k - 1) * value) - k * value
    df = (n - 1) * (k - 1) * (a + b) ** 2 / ((n - 1) * a**2 + b**2)
    tail = (1 - level) / 2
    upper, lower = (
        float(scipy.stats.f.isf(tail, n - 1, df)),
        float(scipy.stats.f.isf(tail, df, n - 1)),
    )
    rest = k * squares.repetitions + (k * n - k - n) * squares.error
    low = n * (squares.units - upper * squares.error) / (upper * rest + n * squares.units)
    high = n * (lower * squares.units - squares.error) / (rest + n * lower * squares.units)
    return low, high
