"""Cronbach's alpha: of a scale, of resamples, stratified, and of split halves."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy

from core.domain.notes import Note, undefined_note
from core.errors import UserError
from core.stats.factor.estimation import IncompleteCovariance, incomplete_covariance
from core.stats.inputs import (
    ROWS_USED,
    Estimate,
    Floats,
    Integers,
    ItemRule,
    UsableItems,
    check_level,
    item_labels,
    item_rows,
    name_list,
    rule_of_rows,
    too_few_reason,
    varying_columns,
    with_undefined_reason,
)
from core.stats.resampling import (
    Bootstrap,
    ResampledInterval,
    resampling_problems,
    row_weights,
    unit_intervals,
)
from core.stats.scores import items_against, negative_rest_notes

# Cronbach's alpha from the items' covariances; the formula stands here only.


@dataclass(frozen=True, eq=False)
class Covariances:
    """The parts of the items' covariance matrix (divisor n - 1) for alpha and discrimination.

    All entries are multiplied by `unit`. Without gaps it is n (n - 1): entries of whole scores are
    then whole numbers, and alpha is the same to the last digit in any order of rows and items.
    """

    own: Floats  # the diagonal: variances, exactly 0 for a constant item
    rows: Floats  # sums of rows: covariance of each item with the sum of all
    n: int  # administrations behind it
    unit: float = 1.0
    incomplete: IncompleteCovariance | None = None
    """Of the items that vary, by full information, where answers are missing."""
    problem: str = ""
    """Why there is no full information where it was asked for."""

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.own)

    @property
    def rest(self) -> Floats:
        """Variance of the sum of all items but this one, for each item."""
        return np.asarray(self.rows.sum() - 2 * self.rows + self.own)

    def alpha(self) -> float:
        """Cronbach's alpha; NaN where it is undefined.

        Items of zero variance do not count: a constant adds nothing to the variance of the score,
        and counting it in k would lower alpha.
        """
        return float(_alpha(np.count_nonzero(self.own), self.own.sum(), self.rows.sum()))

    def alpha_if_dropped(self) -> Floats:
        """Alpha of the other items, for each item."""
        others = np.count_nonzero(self.own) - (self.own != 0)
        return _alpha(others, self.own.sum() - self.own, self.rest)

    def discriminations(self) -> Floats:
        """Correlation of each item with the sum of the others; NaN where undefined."""
        variances, rest = self.own, self.rest
        # The variance of a constant sum is not exactly 0 after rounding.
        defined = (variances > 0) & (rest > 1e-12 * variances.sum())
        r = np.full(len(variances), np.nan)
        r[defined] = (self.rows - variances)[defined] / np.sqrt((variances * rest)[defined])
        return r

    def discrimination_errors(self) -> Floats:
        """Standard errors of Fisher's z of the discriminations, for full information; else NaN."""
        errors = np.full(len(self.own), np.nan)
        if self.incomplete is None:
            return errors
        r, unit = self.discriminations(), np.eye(len(self.own))
        varying = np.flatnonzero(self.own)
        for item in np.flatnonzero(np.isfinite(r) & (np.abs(r) < 1)):
            variance, rest = self.own[item], self.rest[item]
            others = (1 - unit[item]) * (self.own != 0)
            # r = c / sqrt(own rest), with c the covariance of the item and the sum of the others
            cross = (np.outer(unit[item], others) + np.outer(others, unit[item])) / 2
            slope = cross / np.sqrt(variance * rest)
            slope -= r[item] / 2 * np.outer(unit[item], unit[item]) / variance
            slope -= r[item] / 2 * np.outer(others, others) / rest
            error = self.incomplete.standard_error(slope[np.ix_(varying, varying)])
            errors[item] = error / (1 - r[item] ** 2)
        return errors


def covariances(
    scores: Floats, missing: ItemRule, names: Sequence[str] | None = None
) -> Covariances:
    """Covariances of the items of an (administrations, items) matrix, NaN where undefined.

    "listwise" keeps the rows without gaps; "pairwise" takes each pair of items from the rows that
    hold both, and counts the rows with any answer; "fiml" takes the likeliest covariances of all
    answers (divisor n). Where there are none of these, they are pairwise, and `problem` says why,
    with the names of the items.

    Examples
    --------
    r.drop and alpha.drop of psych's alpha (R).

    >>> scores = np.array([[3.0, 4, 3], [2, 2, 3], [4, 5, 4], [1, 2, 1], [5, 4, 5]])
    >>> table = covariances(scores, "listwise")
    >>> table.discriminations().round(4).tolist(), table.alpha_if_dropped().round(4).tolist()
    ([0.9701, 0.7741, 0.8811], [0.8235, 0.9783, 0.8974])
    """
    answered = ~np.isnan(scores)
    if missing == "fiml" and not answered.all():
        return _all_answers(scores, item_labels(scores, names))
    rows = answered.all(axis=1) if missing == "listwise" else answered.any(axis=1)
    values, present, n = scores[rows], answered[rows], int(rows.sum())
    if n < 2:
        unknown = np.full(scores.shape[1], np.nan)
        return Covariances(unknown, unknown, n)
    # Starting from each item's lowest score keeps constants exactly constant at any origin.
    lowest = np.where(present, values, np.inf).min(axis=0)
    used = present & varying_columns(values)
    shifted = np.where(used, values - np.where(np.isfinite(lowest), lowest, 0), 0)
    if present.all():
        totals, sums = shifted.sum(axis=1), shifted.sum(axis=0)
        variances = n * (shifted**2).sum(axis=0) - sums**2
        return Covariances(
            variances, n * (shifted.T @ totals) - sums * totals.sum(), n, n * (n - 1.0)
        )
    means = shifted.sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    centered = np.where(used, shifted - means, 0)
    return Covariances(*_pairwise(centered, present.astype(np.float64)), n)


def _all_answers(scores: Floats, names: Sequence[str]) -> Covariances:
    """Covariances by full information, or pairwise with the reason."""
    pairwise = covariances(scores, "pairwise")
    varying = np.flatnonzero(pairwise.own > 0)
    if len(varying) < 2:
        return pairwise
    used = scores[:, varying]
    used = used[np.isfinite(used).any(axis=1)]
    try:
        likeliest = incomplete_covariance(used, [names[column] for column in varying.tolist()])
    except UserError as error:
        return replace(pairwise, problem=error.problem)
    variances, rows = np.zeros((2, scores.shape[1]))
    variances[varying], rows[varying] = np.diag(likeliest.matrix), likeliest.matrix.sum(axis=1)
    return Covariances(variances, rows, pairwise.n, incomplete=likeliest)


def incomplete_rows(rows: UsableItems) -> tuple[IncompleteCovariance | None, str]:
    """Covariances of rows with gaps by full information, or why there are none; neither without."""
    if rule_of_rows(rows, "fiml") == "listwise":
        return None, ""
    try:
        return incomplete_covariance(rows.scores, rows.names), ""
    except UserError as error:
        return None, undefined_note(f"Undefined by full information. {error.problem}")


def _pairwise(centered: Floats, present: Floats) -> tuple[Floats, Floats]:
    """Diagonal and row sums of the pairwise covariances, some columns at a time."""
    k = centered.shape[1]
    variances, rows = np.full(k, np.nan), np.zeros(k)
    for start in range(0, k, 512):
        block = slice(start, start + 512)
        pairs = present.T @ present[:, block]
        sums = (centered.T @ present[:, block]) * (present.T @ centered[:, block])
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (centered.T @ centered[:, block] - sums / pairs) / (pairs - 1)
        part[pairs < 2] = np.nan
        rows += part.sum(axis=1)
        variances[block] = np.diag(part[block])
    return variances, rows


def _alpha(k: Any, trace: Any, total: Any) -> Floats:
    """Alpha from number of items, sum of variances and variance of the sum; NaN if undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / (k - np.float64(1)) * (1 - trace / total)
    return np.where((k > 1) & (total > 1e-12 * trace), value, np.nan)


# Cronbach's and stratified alpha of many resamples at once.

_NEGATIVE = (
    "Negative: the items correlate negatively on average. Check which items are reverse-keyed."
)
_CONSTANT_SUM = undefined_note("Undefined: the sum of the items is the same in every row.")
ENOUGH_ROWS = 5  # per item: with 2 per item a 95% interval covered 91% of samples
_FEW_ROWS = "{n} rows are few for {k} items: the interval is somewhat too narrow."
_ENOUGH_IN_PAIR = 5  # rows: with fewer a 95% interval covered 88% of samples
_FEW_IN_PAIR = (
    "No interval: some pair of items has answers in {n} rows, and an interval needs {least}."
)
_UNKNOWN_PAIR = undefined_note(
    "Undefined: fewer than two rows hold the answers of some pair of items."
)
_ROUNDING = 1e-12  # share of a variance below which an item is constant in a resample


@dataclass(frozen=True, eq=False)
class ResampledMoments:
    """Centered scores and weights of rows, from which the variances of every resample follow."""

    centered: Floats  # (n, k)
    floors: Floats  # (k,) variance under which an item counts as constant
    weights: Floats  # (resamples, n), lines summing to n

    @classmethod
    def of(cls, scores: Floats) -> ResampledMoments:
        """The sample itself as the only resample."""
        centered = scores - scores.mean(axis=0)
        return cls(centered, _ROUNDING * centered.var(axis=0), np.ones((1, len(scores))))

    def variances(self, columns: Floats) -> Floats:
        """(resamples, columns) variances, divisor n, of (n, columns) values."""
        n = len(columns)
        means = self.weights @ columns / n
        return np.asarray(self.weights @ columns**2 / n - means**2)


def _alpha_coefficients(moments: ResampledMoments, groups: Sequence[Integers]) -> Floats:
    """Stratified alpha of every resample; NaN where undefined. One group: Cronbach's alpha."""
    variances = moments.variances(moments.centered)
    variances = np.where(variances > moments.floors, variances, 0.0)
    sums = np.stack([moments.centered[:, group].sum(axis=1) for group in groups], axis=1)
    parts = moments.variances(sums)
    total = moments.variances(sums.sum(axis=1, keepdims=True))[:, 0]
    error = np.zeros(len(total))
    for number, group in enumerate(groups):
        items = np.count_nonzero(variances[:, group], axis=1).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = items / (items - 1)
        factor[items == 0] = 0.0
        factor[items == 1] = np.nan
        error += parts[:, number] - factor * (parts[:, number] - variances[:, group].sum(axis=1))
    defined = total > _ROUNDING * variances.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - error / total, np.nan)


def _resampled_interval(
    result: Estimate, rows: UsableItems, groups: Sequence[Integers], bootstrap: Bootstrap
) -> Estimate:
    """The estimate with its interval by the standard error of ln(1 - alpha) over resampled rows."""
    sample = ResampledMoments.of(rows.scores)
    values = np.concatenate(
        [
            _alpha_coefficients(replace(sample, weights=weights), groups)
            for weights in row_weights(rows.n, bootstrap)
        ]
    )
    gaps = 1 - np.append(values, result.value)
    logs = np.full(len(gaps), np.nan)
    np.log(gaps, out=logs, where=gaps > _ROUNDING)
    ends = unit_intervals(logs[-1:], logs[:-1, None], rows.n, result.level, bounds=None)
    interval = ResampledInterval(
        1 - math.exp(ends.high[0]), 1 - math.exp(ends.low[0]), int(ends.n_undefined[0])
    )
    return replace(
        result,
        low=interval.low,
        high=interval.high,
        problems=result.problems + resampling_problems(interval, bootstrap),
    )


# Cronbach's alpha of one scale, with Feldt's or a resampled interval.


def cronbach_alpha(
    scores: Floats,
    *,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
    missing: ItemRule = "listwise",
) -> Estimate:
    """Cronbach's alpha of the items of one scale, with its interval.

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
        Resample rows for the interval; without it the interval is Feldt's. With missing answers
        it is neither: see below.
    missing : "listwise", "pairwise" or "fiml"
        Take the rows without a gap, each covariance from the rows that hold both items, or the
        likeliest covariances of all answers; n then counts the rows with any answer. Without gaps
        all three are the same.

    Returns
    -------
    Estimate : alpha, unitless, at most 1, may be negative. NaN with a reason under two complete
    rows, two varying items, or a constant sum. Items that correlate negatively with the rest are
    named.

    Raises
    ------
    ValueError : the table is not two-dimensional, the level not within 0 and 1, or rows with gaps
    are to be resampled.

    Notes
    -----
    k / (k - 1) (1 - sum of item variances / variance of the sum); Cronbach (1951)
    doi:10.1007/BF02310555. Feldt's interval takes (1 - population alpha) / (1 - alpha) as F with
    n - 1 and (n - 1)(k - 1) degrees of freedom; Feldt, Woodruff & Salih (1987)
    doi:10.1177/014662168701100107, formulas 6 and 7; some programs take n (k - 1) instead.

    Resampled and "pairwise" intervals are on the scale of ln(1 - alpha), with the quantile of t
    with n - 1 degrees of freedom. The standard error over resamples is that of `unit_intervals`;
    percentiles cover 84 to 90 % with 10 to 50 rows. That of "pairwise" comes from what each row
    adds to alpha through its pairs of answers (delta method), over 1 - 1 / rows of the pair, as
    HC3 has it; Feldt's interval of all rows covers 72 to 89 % with planned booklets. With "fiml"
    the interval is alpha plus and minus z standard errors by the delta method, from the sandwich
    covariance of the covariances; without the likeliest covariances, alpha and its interval are
    those of "pairwise". Rows are taken as independent; repeats of one model are not.
    Agrees with psych 2.4.12 to 1e-12, with missing answers with psych 2.2.9 of the covariances of
    lavaan 0.6-14 to 1e-5.

    Examples
    --------
    alpha and alpha.ci of psych (R).

    >>> scores = np.array([[3.0, 4, 3], [2, 2, 3], [4, 5, 4], [1, 2, 1], [5, 4, 5]])
    >>> alpha = cronbach_alpha(scores)
    >>> round(alpha.value, 4), round(alpha.low, 4), round(alpha.high, 4)
    (0.9364, 0.6787, 0.9929)
    """
    check_level(level)
    rows = item_rows(scores, names, "listwise" if missing == "listwise" else "available")
    missing = rule_of_rows(rows, missing)
    if bootstrap and missing == "pairwise":
        raise ValueError("rows with gaps are not resampled")
    interval = "Feldt" if missing == "listwise" else "delta method"
    interval = "bootstrap of ln(1 - alpha)" if bootstrap and missing == "listwise" else interval
    result = Estimate(
        math.nan,
        level=level,
        n=rows.n,
        n_left_out=rows.n_left_out,
        method=f"Cronbach's alpha, {ROWS_USED[missing]}, {level * 100:g}% interval ({interval})",
        problems=rows.problems,
    )
    reason = too_few_reason(rows)
    if reason:
        return replace(result, problems=with_undefined_reason(rows, reason))
    table = covariances(rows.scores, missing, rows.names)
    value = table.alpha()
    if math.isnan(value):
        reason = _UNKNOWN_PAIR if np.isnan(table.rows).any() else _CONSTANT_SUM
        return replace(result, problems=(*rows.problems, reason))
    negative = (_NEGATIVE,) if value < 0 else ()
    rest = table.discriminations()
    cautions = negative_rest_notes(rows.names, rest)
    result = replace(
        result,
        value=value,
        problems=rows.problems + negative + cautions,
        against=items_against(rows.names, rest, rows.n, level),
    )
    return _with_interval(result, rows, table, missing, bootstrap)


def _with_interval(
    result: Estimate,
    rows: UsableItems,
    table: Covariances,
    missing: ItemRule,
    bootstrap: Bootstrap | None,
) -> Estimate:
    """Alpha with the interval of its rule for missing answers."""
    whole = [np.arange(rows.n_items)]
    if missing == "fiml" and table.incomplete:
        return _delta_interval(result, table, _alpha_slope(table.incomplete, whole))
    if missing == "fiml":
        method = result.method.replace(ROWS_USED[missing], ROWS_USED["pairwise"])
        why = Note(f"Covariances of all pairs of answers: {table.problem}", kind="interval")
        result = replace(result, method=method, problems=(*result.problems, why))
        return _pairwise_interval(result, rows.scores)
    if missing == "pairwise":
        return _pairwise_interval(result, rows.scores)
    if bootstrap:
        return _resampled_interval(result, rows, whole, bootstrap)
    low, high = feldt_interval(result.value, rows.n, rows.n_items, result.level)
    return replace(result, low=low, high=high)


def _alpha_slope(incomplete: IncompleteCovariance | None, groups: Sequence[Integers]) -> Floats:
    """How stratified alpha moves with the covariances, (k, k); one group: Cronbach's alpha.

    Empty without full information.
    """
    if incomplete is None:
        return np.empty((0, 0))
    matrix = incomplete.matrix
    total, k = matrix.sum(), len(matrix)
    error, slope = 0.0, np.zeros((k, k))
    for group in groups:
        block = np.ix_(group, group)
        factor = len(group) / (len(group) - 1) if len(group) > 1 else 1.0
        part = matrix[block]
        error += part.sum() - factor * (part.sum() - np.trace(part))
        slope[block] += 1 - factor * (1 - np.eye(len(group)))
    return np.asarray(error / total**2 - slope / total)


def _delta_interval(result: Estimate, table: Covariances, slope: Floats) -> Estimate:
    """The estimate with its interval by the delta method, none without full information."""
    if table.incomplete is None:
        method = result.method.replace("full information", "all pairs of answers")
        reason = f"No interval, and covariances of all pairs of answers: {table.problem}"
        method = method.removesuffix(f", {result.level * 100:g}% interval (delta method)")
        return replace(result, method=f"{method}, no interval", problems=(*result.problems, reason))
    reach = NormalDist().inv_cdf((1 + result.level) / 2) * table.incomplete.standard_error(slope)
    few = (
        (Note(_FEW_ROWS.format(n=result.n, k=table.n_items), kind="interval"),)
        if result.n < ENOUGH_ROWS * table.n_items
        else ()
    )
    return replace(
        result,
        low=result.value - reach,
        high=min(result.value + reach, 1.0),
        problems=(*result.problems, *few),
    )


def _pairwise_interval(result: Estimate, scores: Floats) -> Estimate:
    """The estimate from all pairs of answers with its interval on the scale of ln(1 - alpha).

    What a row adds to each covariance is what its two answers' product of deviations differs by
    from the covariance; the derivatives of alpha weigh the covariances.
    """
    answered = np.isfinite(scores)
    present = answered.astype(np.float64)
    means = np.where(answered, scores, 0.0).sum(axis=0) / present.sum(axis=0)
    centered = np.where(answered, scores - means, 0.0)
    pairs = present.T @ present
    if pairs.min() < _ENOUGH_IN_PAIR or result.value >= 1 - _ROUNDING:
        reason = (
            _FEW_IN_PAIR.format(n=int(pairs.min()), least=_ENOUGH_IN_PAIR)
            if pairs.min() < _ENOUGH_IN_PAIR
            else "No interval: alpha is 1."
        )
        method = result.method.replace(
            f"{result.level * 100:g}% interval (delta method)", "no interval"
        )
        note = Note(reason, kind="interval")
        return replace(result, method=method, problems=(*result.problems, note))
    sums = centered.T @ present
    in_pair = sums / pairs  # the mean of the row's item over the rows that hold the column's too
    covariance = (centered.T @ centered - sums * in_pair.T) / (pairs - 1)
    k, total, trace = scores.shape[1], covariance.sum(), np.trace(covariance)
    slope = k / (k - 1) * (np.eye(k) - trace / total) / total / (1 - result.value)
    # over 1 - 1 / pairs, the leverage of a row
    weight = slope * pairs / (pairs - 1) ** 2
    alone = weight * in_pair * in_pair.T - slope * covariance / (pairs - 1)
    added = (centered @ weight - 2 * present @ (weight * in_pair)) * centered
    added += (present @ alone) * present
    n = result.n
    error = math.sqrt(float((added.sum(axis=1) ** 2).sum()) * n / (n - 1))
    reach = float(scipy.stats.t.ppf((1 + result.level) / 2, n - 1)) * error
    gap = 1 - result.value
    return replace(result, low=1 - gap * math.exp(reach), high=1 - gap * math.exp(-reach))


def feldt_interval(alpha: float, n: int, k: int, level: float = 0.95) -> tuple[float, float]:
    """Ends of Feldt's two-sided interval of alpha from n rows of k items; NaN for NaN."""
    if math.isnan(alpha):
        return math.nan, math.nan
    tail, df1, df2 = (1 - check_level(level)) / 2, n - 1, (n - 1) * (k - 1)
    return (
        1 - (1 - alpha) * float(scipy.stats.f.isf(tail, df1, df2)),
        1 - (1 - alpha) * float(scipy.stats.f.ppf(tail, df1, df2)),
    )


# Stratified alpha: the reliability of a total made of several subscales.


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
    missing: ItemRule = "listwise",
) -> StratifiedAlpha:
    """Stratified alpha: the reliability of the total of several subscales.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Constant items are left out and named.
    strata : sequence of length items
        The subscale of each item.
    names : sequence of str, optional
        Items' names for messages.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Rows resampled for the interval, as in `cronbach_alpha`; 2,000 resamples of seed 0 by
        default. Only of complete rows.
    missing : "listwise", "pairwise" or "fiml"
        As in `cronbach_alpha`. With gaps there is an interval for "fiml" only, by the delta method.

    Returns
    -------
    StratifiedAlpha : the coefficient (at most 1, may be negative) and its parts. NaN with a reason
    where a subscale has a single varying item, whose error variance is unknown. A subscale that
    is constant throughout adds nothing and is named.

    Raises
    ------
    ValueError : there are not as many strata as items, or as `cronbach_alpha`.

    Notes
    -----
    1 - sum over subscales of var(X_s) (1 - alpha_s) / var(X), X_s sums of items, X their total;
    Cronbach, Schönemann & McKie (1965) doi:10.1177/001316446502500201. With one stratum it is
    Cronbach's alpha. Agrees with the same formula in R to 1e-12; interval by resampling rows.

    Examples
    --------
    By hand, of items that are the sum of a general, a group and a unique part of variance 1 each:
    two subscales with a variance of 10 and an alpha of .8, of a total of 28: 1 - 2 · 10 · .2 / 28.

    >>> parts = np.indices((2,) * 7).reshape(7, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, [1, 1, 2, 2]] + parts[:, 3:]
    >>> round(stratified_alpha(scores, ["A", "A", "B", "B"]).coefficient.value, 4)
    0.8571
    """
    rows = item_rows(scores, names, "listwise" if missing == "listwise" else "available")
    missing = rule_of_rows(rows, missing)
    if len(strata) != np.shape(scores)[1]:
        raise ValueError(f"{len(strata)} strata for {np.shape(scores)[1]} items")
    bootstrap = bootstrap or Bootstrap()
    labels = tuple(dict.fromkeys(strata))
    member = np.array([labels.index(strata[item]) for item in rows.columns], dtype=np.int64)
    groups = [np.flatnonzero(member == number) for number in range(len(labels))]
    problems = _strata_problems(rows, labels, groups)
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=rows.n,
        n_left_out=rows.n_left_out,
        method=f"stratified alpha of {len(labels)} subscales, {ROWS_USED[missing]}, "
        f"{level * 100:g}% interval "
        f"({'bootstrap of ln(1 - alpha)' if missing == 'listwise' else 'delta method'})",
        problems=problems,
    )
    if too_few_reason(rows):
        undefined = tuple(math.nan for _ in labels)
        return StratifiedAlpha(result, labels, undefined, undefined, math.nan)
    whole, parts = _strata_covariances(rows, groups, missing)
    value = _stratified_value(rows, groups, whole, parts, missing)
    if math.isfinite(value):
        negative = (_NEGATIVE,) if value < 0 else ()
        rest = _rest_in_subscale(rows.n_items, groups, parts)
        result = replace(
            result,
            value=value,
            problems=problems + negative + negative_rest_notes(rows.names, rest),
            against=items_against(rows.names, rest, rows.n, level),
        )
        if missing == "listwise":
            result = _resampled_interval(result, rows, groups, bootstrap)
        else:
            result = _delta_interval(result, whole, _alpha_slope(whole.incomplete, groups))
    elif all(len(group) != 1 for group in groups):
        reason = _UNKNOWN_PAIR if np.isnan(whole.rows).any() else _CONSTANT_SUM
        result = replace(result, problems=(*problems, reason))
    return StratifiedAlpha(
        coefficient=result,
        strata=labels,
        alphas=tuple(part.alpha() for part in parts),
        variances=tuple(float(part.rows.sum() / part.unit) for part in parts),
        total_variance=float(whole.rows.sum() / whole.unit),
    )


def _stratified_value(
    rows: UsableItems,
    groups: Sequence[Integers],
    whole: Covariances,
    parts: Sequence[Covariances],
    missing: ItemRule,
) -> float:
    if sum(len(group) > 0 for group in groups) == 1:  # nothing is stratified
        return whole.alpha()
    if missing == "listwise":
        return float(_alpha_coefficients(ResampledMoments.of(rows.scores), groups)[0])
    errors = (part.rows.sum() / part.unit * (1 - part.alpha()) for part in parts if part.n_items)
    return 1 - float(sum(errors)) / float(whole.rows.sum())


def _strata_covariances(
    rows: UsableItems, groups: Sequence[Integers], missing: ItemRule
) -> tuple[Covariances, list[Covariances]]:
    """Covariances of all items, and of those of each stratum; one matrix by full information."""
    whole = covariances(rows.scores, missing, rows.names)
    if whole.incomplete is None:
        rule: ItemRule = "pairwise" if missing == "fiml" else missing
        return whole, [covariances(rows.scores[:, group], rule) for group in groups]
    matrix = whole.incomplete.matrix
    blocks = [matrix[np.ix_(group, group)] for group in groups]
    return whole, [Covariances(np.diag(block), block.sum(axis=1), whole.n) for block in blocks]


def _rest_in_subscale(
    n_items: int, groups: Sequence[Integers], parts: Sequence[Covariances]
) -> Floats:
    """The correlation of each item with the rest of its subscale."""
    correlations = np.full(n_items, np.nan)
    for group, part in zip(groups, parts, strict=True):
        correlations[group] = part.discriminations()
    return correlations


def _strata_problems(
    rows: UsableItems, labels: Sequence[Hashable], groups: Sequence[Integers]
) -> tuple[str, ...]:
    """The problems of the rows, and of the subscales as strata."""
    reason = too_few_reason(rows)
    if reason:
        return with_undefined_reason(rows, reason)
    sizes = [len(group) for group in groups]
    single = [str(label) for label, size in zip(labels, sizes, strict=True) if size == 1]
    empty = [str(label) for label, size in zip(labels, sizes, strict=True) if size == 0]
    problems: list[str] = []
    if single:
        words = "Undefined: alpha needs two items that vary in each subscale, and "
        problems.append(undefined_note(f"{words}{name_list(single)} has one."))
    if empty:
        problems.append(f"Constant, and so left out of the reliability: {name_list(empty)}.")
    return (*rows.problems, *problems)


# Split-half reliability: odd against even items, and the mean over all or many random splits.


@dataclass(frozen=True)
class SplitHalf:
    """Stepped-up coefficients of ways to halve a scale, each unitless and at most 1.

    `odd_even` is the split by position; `mean`, `lowest`, `highest` are over `n_splits` splits,
    which are all there are where `every_split`. `mean_rulon` is the mean of Flanagan and Rulon's
    coefficient, which over all splits is Cronbach's alpha.
    """

    odd_even: float
    mean: float
    lowest: float
    highest: float
    mean_rulon: float
    n_splits: int
    every_split: bool
    n: int
    n_left_out: int
    problems: tuple[str, ...] = ()


def split_half(
    scores: Floats,
    *,
    names: Sequence[str] | None = None,
    max_splits: int = 10_000,
    seed: int = 0,
    missing: ItemRule = "listwise",
) -> SplitHalf:
    """Split-half reliability, stepped up to the full length of the scale.

    Parameters
    ----------
    scores : (rows, items)
        Score points after reverse-keying, NaN for no answer. Constant items are left out; odd and
        even count the items that remain.
    names : sequence of str, optional
        Items' names for messages.
    max_splits : int
        All splits are used where there are no more than this; else this many random ones.
    seed : int
        Of the random splits.
    missing : "listwise" or "fiml"
        Take the rows without a gap, or the likeliest covariances of all answers.

    Returns
    -------
    SplitHalf : NaN with a reason under two complete rows or two varying items. A split with a
    constant half, or with halves correlated at -1, has no coefficient and is left out.

    Raises
    ------
    ValueError : the table is not two-dimensional, or there is no split to draw.

    Notes
    -----
    2 r / (1 + r), r between the halves' sums; Spearman (1910), Brown (1910)
    doi:10.1111/j.2044-8295.1910.tb00206.x, doi:10.1111/j.2044-8295.1910.tb00207.x. With an odd
    number of items one half is an item longer, and Horst (1951) takes their lengths into account:
    2 r / (r + sqrt(r² + 4 p q (1 - r²))) with p and q the shares of the items in the halves, which
    for p = q is the same. Rulon (1939): 4 cov(halves) / var(total), and for unequal halves
    k² / (k1 k2) in place of 4 (Raju 1970, doi:10.1007/BF02291365). Checked by hand, in R, and
    against alpha by Rulon's identity.

    Examples
    --------
    By hand, of items that are the sum of a common and a unique part of variance 1 each: halves of
    two correlate by 4 / 6, whatever the split; stepped up (4 / 3) / (5 / 3).

    >>> parts = np.indices((2,) * 5).reshape(5, -1).T * 2.0 - 1
    >>> halves = split_half(parts[:, [0]] + parts[:, 1:])
    >>> round(halves.odd_even, 4), round(halves.mean, 4), halves.n_splits
    (0.8, 0.8, 3)

    Three such items, halves of one and two: they correlate by 2 / sqrt(12), and a sum of three such
    items has a reliability of 9 / 12.

    >>> parts = np.indices((2,) * 4).reshape(4, -1).T * 2.0 - 1
    >>> round(split_half(parts[:, [0]] + parts[:, 1:]).odd_even, 4)
    0.75
    """
    if max_splits < 1:
        raise ValueError(f"{max_splits} splits")
    rows = item_rows(scores, names, "listwise" if missing == "listwise" else "available")
    reason, incomplete = too_few_reason(rows), None
    if not reason:
        incomplete, reason = incomplete_rows(rows)
    if reason:
        why, n = with_undefined_reason(rows, reason), (rows.n, rows.n_left_out)
        return SplitHalf(*(math.nan,) * 5, 0, False, *n, why)
    k, problems = rows.n_items, list(rows.problems)
    covariance = incomplete.matrix if incomplete else np.cov(rows.scores, rowvar=False)
    by_position = (np.arange(k) % 2 == 0).astype(np.float64)[None, :]
    odd_even = float(_split_coefficients(by_position, covariance)[0][0])
    halves, every = _splits(k, max_splits, seed)
    values, rulon = _split_coefficients(halves, covariance)
    defined = values[np.isfinite(values)]
    if math.isnan(odd_even):
        problems.append(
            undefined_note("Undefined for odd and even items, because a half is constant.")
        )
    if len(defined) < len(values):
        problems.append(f"{len(values) - len(defined)} splits have no coefficient.")
    return SplitHalf(
        odd_even=odd_even,
        mean=float(defined.mean()) if len(defined) else math.nan,
        lowest=float(defined.min()) if len(defined) else math.nan,
        highest=float(defined.max()) if len(defined) else math.nan,
        mean_rulon=float(rulon.mean()),
        n_splits=len(values),
        every_split=every,
        n=rows.n,
        n_left_out=rows.n_left_out,
        problems=tuple(problems),
    )


def _splits(k: int, max_splits: int, seed: int) -> tuple[Floats, bool]:
    """(splits, k) indicators of the first half, and whether these are all the splits."""
    size = k // 2
    number = math.comb(k, size) // (2 if k % 2 == 0 else 1)
    if number <= max_splits:
        # With equal halves, fixing the first item in one of them counts each split once.
        if k % 2 == 0:
            chosen = [(0, *rest) for rest in combinations(range(1, k), size - 1)]
        else:
            chosen = list(combinations(range(k), size))
        places = np.array(chosen, dtype=np.int64)
    else:
        generator = np.random.default_rng(seed)
        places = np.argsort(generator.random((max_splits, k)), axis=1)[:, :size]
    halves = np.zeros((len(places), k))
    np.put_along_axis(halves, places, 1.0, axis=1)
    return halves, number <= max_splits


def _split_coefficients(halves: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Horst's (for equal halves Spearman-Brown's) and Rulon's of every split; NaN if undefined."""
    others = 1 - halves
    of_halves = halves @ covariance
    first, between = (of_halves * halves).sum(axis=1), (of_halves * others).sum(axis=1)
    second = ((others @ covariance) * others).sum(axis=1)
    total = first + second + 2 * between
    floor = 1e-12 * np.trace(covariance)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = between / np.sqrt(first * second)
        length = halves.shape[1] ** 2 / (halves.sum(axis=1) * others.sum(axis=1))
        # r² + 4 p q (1 - r²), in a form that is exactly 1 for equal halves
        root = np.sqrt(1 - (1 - 4 / length) * (1 - r**2))
        defined = (np.minimum(first, second) > floor) & (r > -1)
        stepped = np.where(defined, 2 * r / (r + root), np.nan)
        return stepped, np.where(total > floor, length * between / total, np.nan)
