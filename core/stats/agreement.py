"""Agreement of coders: Cohen's and Fleiss' kappa, specific agreement, Krippendorff's alpha."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from core.domain.notes import undefined_note
from core.stats.inputs import (
    Estimate,
    Floats,
    Integers,
    check_level,
    mean_of_defined,
    ratios,
    undefined_size_note,
)
from core.stats.resampling import (
    Bootstrap,
    ResampledIntervals,
    bounded_intervals,
    resampled_totals,
    resampling_problems,
    row_weights,
    unit_intervals,
)
from core.stats.worldview import sd_within_conditions

# Intervals of agreement beyond chance.


def agreement_intervals(
    observed: Floats,
    chance: Floats,
    resampled: Floats,
    resampled_chance: Floats,
    n_units: Floats | Integers | int,
    level: float,
    lowest: float = -1.0,
) -> ResampledIntervals:
    """Intervals of kappas and alphas from resamples of whole units.

    Parameters
    ----------
    observed : (cells,)
        Kappas or alphas.
    chance : (cells,)
        Their disagreement by chance: what agreement beyond chance is divided by.
    resampled, resampled_chance : (resamples, cells)
        The same in resamples; where all codes are alike, NaN and a disagreement by chance of 0.
    n_units : int or (cells,)
        Units that are drawn.
    level : float in (0, 1)
        Coverage.
    lowest : float, default -1
        What they are where nothing agrees.

    Notes
    -----
    `unit_intervals` from -1 to 1, but for the error of the end away from 0. Where one category
    holds most codes, a few units with another one decide the disagreement by chance, and that end
    came out too near: with 10 units and a category of 80 % intervals of Fleiss' kappa covered 83 to
    88 %. Its error is that of Fieller (1954) doi:10.1111/j.2517-6161.1954.tb00159.x for a ratio
    whose denominator is estimated too. Where the denominator may be 0, the end is 1 or -1.

    Few units agree less than their population does, as they also say what chance is: kappa of 10
    units is .04 too low on average. The upper end is higher by the difference from the mean of the
    resamples (Efron & Tibshirani 1993, An introduction to the bootstrap, 10.2), and it is never
    lower than that of the share of the way from `lowest` to 1. Fleiss' kappas of .1 to .2 of 10
    units are covered in 91 to 93 %, without either in 90 %.

    Examples
    --------
    By hand: a variance of .01 · 9 / 8, so as 66.67 answers of which .75 agree, with t(8) = 2.306.

    >>> drawn = np.array([[0.4], [0.6]] * 500)
    >>> ends = agreement_intervals(np.array([0.5]), np.ones(1), drawn, np.ones((1000, 1)), 9, 0.95)
    >>> ends.low.round(4).tolist(), ends.high.round(4).tolist()
    ([0.2248], [0.7013])
    """
    ends = from_lowest = unit_intervals(observed, resampled, n_units, level, (-1.0, 1.0))
    if lowest > -1:
        from_lowest = unit_intervals(observed, resampled, n_units, level, (lowest, 1.0))
    too_low = np.fmax(observed - mean_of_defined(resampled, 0), 0.0)
    beyond = np.where(resampled_chance > 0, resampled * resampled_chance, 0.0)
    beyond, by_chance = (
        values - mean_of_defined(values, 0) for values in (beyond, resampled_chance)
    )
    g = np.maximum(np.asarray(n_units, dtype=np.float64), 2.0)
    moments = [
        mean_of_defined(one * other, 0) * g / (g - 1)
        for one, other in ((beyond, beyond), (by_chance, by_chance), (beyond, by_chance))
    ]
    ends = _with_errors_of_chance(ends, observed, chance, moments, g, level)
    high = np.fmax(ends.high, from_lowest.high + 0 * ends.low) + too_low * g / (g - 1)
    return replace(ends, high=np.minimum(high, 1.0))


def _with_errors_of_chance(
    ends: ResampledIntervals,
    observed: Floats,
    chance: Floats,
    moments: Sequence[Floats],
    n_units: Floats,
    level: float,
) -> ResampledIntervals:
    """The intervals with the upper end, and the lower one of a negative kappa, as by Fieller.

    `moments` are the variances of the numerator of kappa and of its denominator, and their
    covariance.
    """
    quantile = scipy.stats.t.ppf((1 + level) / 2, n_units - 1)
    above_variance, below_variance, covariance = (quantile**2 * moment for moment in moments)
    a = chance**2 - below_variance
    b = observed * chance**2 - covariance
    root = np.sqrt(np.maximum(b**2 - a * ((observed * chance) ** 2 - above_variance), 0.0))

    def with_error_of(end: Floats) -> tuple[Floats, Floats]:
        error = np.where(a > 0, (ratios(end, a) - observed) / quantile, _UNBOUNDED)
        return bounded_intervals(observed, error**2, n_units, level, (-1.0, 1.0))

    low, high = with_error_of(b - root)[0], with_error_of(b + root)[1]
    return replace(
        ends,
        low=np.where(observed < 0, np.fmin(ends.low, low), ends.low) + 0 * ends.low,
        high=np.fmax(ends.high, high) + 0 * ends.high,
    )


_UNBOUNDED = 1e4
"""An error of kappa that says nothing of where it lies."""


def _with_interval(
    result: Estimate,
    chance: float,
    resampled: Floats,
    bootstrap: Bootstrap,
    *,
    nominal: bool = False,
) -> Estimate:
    """Agreement with the interval of its resamples, (2, resamples) with those of chance."""
    ends = agreement_intervals(
        np.array([result.value]),
        np.array([chance]),
        resampled[0][:, None],
        resampled[1][:, None],
        result.n,
        result.level,
        max(-1.0, 1 - 1 / chance) if nominal else -1.0,
    ).of_cell(0)
    problems = result.problems + resampling_problems(ends, bootstrap)
    return replace(result, low=ends.low, high=ends.high, problems=problems)


# Cohen's kappa of two coders, plain or weighted, their agreement on one category, and Fleiss' kappa
# of several coders.
#
# Cohen's kappa and its variance are statsmodels'. Degenerate tables are answered here, because
# statsmodels divides by zero there. Fleiss' kappa is ours for speed: the bootstrap needs it for
# 2,000 resamples, which one matrix product gives 15 times faster than as many calls of statsmodels.
# It was checked against statsmodels 0.15.0 and R's irr 0.84.1.

Weights = Literal["none", "linear", "quadratic"]
_WEIGHT_NAMES = {"none": None, "linear": "linear", "quadratic": "quadratic"}
_NO_VARIETY = undefined_note(
    "Undefined: every code is the same category, so agreement by chance is complete as well."
)


def weighted_kappa(
    first: Floats, second: Floats, *, weights: Weights = "none", level: float = 0.95
) -> Estimate:
    """Cohen's kappa: how far two coders agree beyond chance; near misses may count in part.

    Parameters
    ----------
    first, second : (units,)
        Codes as numbers, in the same order of units; units that lack either are left out.
    weights : "none", "linear" or "quadratic"
        Whether a disagreement counts fully, or by the (squared) number of categories between the
        two codes among the categories that occur.
    level : float in (0, 1)
        Two-sided coverage.

    Returns
    -------
    Estimate : kappa, unitless, 1 for agreement, 0 for chance. NaN with a reason where there is no
    unit or only one category.

    Raises
    ------
    ValueError : the codes are of different lengths, or the level is not within 0 and 1.

    Notes
    -----
    Cohen (1960) doi:10.1177/001316446002000104, (1968) doi:10.1037/h0026256; variance of Fleiss,
    Cohen & Everitt (1969) doi:10.1037/h0028106, which takes units as independent. statsmodels
    computes both; agrees with irr 0.84.1 and psych 2.4.12 to 1e-12. The interval is Wilson's from
    -1 to 1 with this variance times n / (n - 1) and the quantile of t, as kappa plus and minus
    errors covers 58 to 92 % with 10 and 20 units, this one 92 to 98 %. Where a category has 80 % of
    the codes and kappa is low, 68 to 90 %. For codes that are not numbers, see `cohens_kappa`.

    Examples
    --------
    By hand: agreement is 35 / 50, and .5 by chance, so kappa is .2 / .5; the interval is Wilson's
    formula with the variance of psych's cohen.kappa (R), .1270 squared, and a bit more above.

    >>> times = [20, 5, 10, 15]
    >>> kappa = weighted_kappa(np.repeat([1, 1, 0, 0], times), np.repeat([1, 0, 1, 0], times))
    >>> round(kappa.value, 4), round(kappa.low, 4), round(kappa.high, 4)
    (0.4, 0.1208, 0.6218)
    """
    check_level(level)
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"codes of shapes {x.shape} and {y.shape} do not pair")
    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    kind = "Cohen's kappa" if weights == "none" else f"Cohen's kappa, {weights} weights"
    result = Estimate(
        math.nan,
        level=level,
        n=n,
        n_left_out=len(x) - n,
        method=f"{kind}, {level * 100:g}% interval (Wilson, error of Fleiss, Cohen and Everitt)",
    )
    if n == 0:
        return replace(result, problems=(undefined_note("Undefined: no unit was coded by both."),))
    codes, category = np.unique(np.concatenate([x[both], y[both]]), return_inverse=True)
    if len(codes) == 1:
        return replace(result, problems=(_NO_VARIETY,))
    table = np.zeros((len(codes), len(codes)))  # how often each pair of codes occurs
    np.add.at(table, (category[:n], category[n:]), 1)
    if min(np.count_nonzero(table.sum(axis=axis)) for axis in (0, 1)) == 1:
        reason = (
            "One coder gave every unit the same category: kappa is then 0 whatever the other coder "
            "chose, and has no interval."
        )
        return replace(result, value=0.0, problems=(reason,))
    from statsmodels.stats import inter_rater  # slow to load

    with np.errstate(divide="ignore", invalid="ignore"):  # its z where the error is 0
        kappa = inter_rater.cohens_kappa(table, wt=_WEIGHT_NAMES[weights])
    value, variance = float(kappa.kappa), float(kappa.var_kappa)
    observed = np.array([value])
    ends = ResampledIntervals(
        *bounded_intervals(
            observed,
            np.array([max(variance, 0.0) * n / (n - 1)]),
            np.array([float(n)]),
            level,
            (-1.0, 1.0),
        ),
        np.zeros(1, dtype=np.int64),
    )
    chance, moments = _chance_and_moments(table, weights)
    units = np.array([float(n)])
    interval = _with_errors_of_chance(ends, observed, chance, moments, units, level).of_cell(0)
    return replace(result, value=value, low=interval.low, high=interval.high)


def _chance_and_moments(table: Floats, weights: Weights) -> tuple[Floats, list[Floats]]:
    """Of a cross table: disagreement by chance, and what `_with_errors_of_chance` takes."""
    n, places = table.sum(), np.arange(len(table))
    apart = np.abs(places[:, None] - places) ** (2 if weights == "quadratic" else 1)
    lost = (apart > 0) * 1.0 if weights == "none" else apart / apart.max()
    share = table / n
    first, second = share.sum(axis=1), share.sum(axis=0)
    by_chance = float(first @ lost @ second)
    # what one unit more of a cell changes, to first order
    chance = (lost @ second)[:, None] + first @ lost - 2 * by_chance
    beyond = chance - (lost - float((share * lost).sum()))
    moments = [
        np.array([(share * one * other).sum() / (n - 1)])
        for one, other in ((beyond, beyond), (chance, chance), (beyond, chance))
    ]
    return np.array([by_chance]), moments


def cohens_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, level: float = 0.95
) -> Estimate:
    """Cohen's kappa of categories of any kind, without order.

    Parameters
    ----------
    first
        The category that one coder gave to each unit.
    second
        The category that the other coder gave to the same units, in the same order.
    level
        Two-sided coverage, between 0 and 1.

    Returns
    -------
    Estimate : kappa, 1 for complete agreement, 0 for chance, below 0 for less than chance. NaN with
    a reason where there is no unit or all codes are the same category: agreement by chance is then
    complete as well.

    Raises
    ------
    ValueError
        The coders coded different numbers of units, or the level is not within 0 and 1.

    Notes
    -----
    Cohen (1960) doi:10.1177/001316446002000104. The same as `weighted_kappa` without weights.

    Examples
    --------
    By hand: the coders agree on 3 of 4 units, and on half of them by chance.

    >>> cohens_kappa(["joy", "joy", "fear", "fear"], ["joy", "fear", "fear", "fear"]).value
    0.5
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} codings against {len(second)}")
    number = {category: code for code, category in enumerate(dict.fromkeys([*first, *second]))}
    codes = [np.array([number[category] for category in coder], float) for coder in (first, second)]
    return weighted_kappa(*codes, level=level)


def kappas_of_tables(tables: Floats) -> Floats:
    """Cohen's kappa of many tables of two categories at once, and the disagreement by chance.

    Parameters
    ----------
    tables : (..., 4)
        Units that both coders call positive, only the first, only the second, and neither.

    Returns
    -------
    (2, ...) kappas and disagreements. A kappa is NaN without units, and where all codes are the
    same category; 0 where one coder used a single category, as by the formula.

    Notes
    -----
    Cohen (1960) doi:10.1177/001316446002000104. Ours for speed: a bootstrap needs thousands.
    Equals `weighted_kappa`, and scikit-learn's cohen_kappa_score.
    """
    both, first, second, neither = np.moveaxis(np.asarray(tables, dtype=np.float64), -1, 0)
    n = both + first + second + neither
    positive = (both + first) * (both + second)
    chance = positive + (neither + first) * (neither + second)  # n² times agreement by chance
    kappas = ratios(n * (both + neither) - chance, n**2 - chance)
    return np.stack([kappas, ratios(n**2 - chance, n**2)])


@dataclass(frozen=True, eq=False)
class FormKappas:
    """Kappa of the original with another wording in each template, and over templates.

    `kappas`, `low`, `high` and `n` (pairs of stances) have an entry for each template; `mean`,
    `sd` (n - 1) and the interval `mean_low`, `mean_high` are over the `n_templates` with a kappa.
    Intervals are over other statements; NaN for fewer than two statements.
    """

    kappas: Floats
    low: Floats
    high: Floats
    n: Integers
    mean: float
    sd: float
    mean_low: float
    mean_high: float
    n_templates: int


def form_kappas(
    original: Floats,
    others: Floats,
    bootstrap: Bootstrap | None = None,
    level: float = 0.95,
    conditions: Integers | None = None,
) -> FormKappas:
    """How far stances on another wording agree with those on the original, beyond chance.

    Parameters
    ----------
    original : (statements, templates)
        Stances, 1 or -1; NaN for none.
    others : (statements, templates, wordings)
        Stances on other wordings as chosen; several wordings are pooled.
    bootstrap : Bootstrap, optional
        Draws whole statements, the same in all templates; no intervals without it.
    level : float in (0, 1)
        Coverage of the intervals, of `agreement_intervals`.
    conditions : (templates,), optional
        The condition of each template; the SD is that of templates within one.

    Notes
    -----
    Ceron et al. (2024) doi:10.1162/tacl_a_00710, table 4. Checked against scikit-learn, and the
    kappas of six people that the study prints.

    Examples
    --------
    By hand, of four statements and one template: 3 of 4 agree, half of them by chance.

    >>> original, other = np.array([[1.0], [1], [-1], [-1]]), np.array([1.0, -1, -1, -1])
    >>> form_kappas(original, other[:, None, None]).mean
    0.5
    """
    check_level(level)
    both = np.isfinite(original)[:, :, None] & np.isfinite(others)
    yes, same = (original > 0)[:, :, None], others > 0
    tables = np.stack(
        [
            (both & a & b).sum(axis=2)
            for a, b in ((yes, same), (yes, ~same), (~yes, same), (~yes, ~same))
        ],
        axis=-1,
    ).astype(np.float64)
    kappas, chances = kappas_of_tables(tables.sum(axis=0))
    defined = kappas[np.isfinite(kappas)]
    mean = float(defined.mean()) if defined.size else math.nan
    sd = float(sd_within_conditions(kappas[:, None], conditions)[0])
    ends = np.full((2, len(kappas) + 1), np.nan)
    if bootstrap is not None and (tables.sum(axis=(1, 2)) > 0).sum() > 1 and defined.size:
        flat = tables.reshape(len(tables), -1)
        drawn = [
            kappas_of_tables(totals.reshape(len(totals), *tables.shape[1:]))
            for totals in resampled_totals(flat, bootstrap)
        ]
        resampled = np.concatenate(drawn, axis=1)
        values, by_chance = np.concatenate([resampled, mean_of_defined(resampled)[..., None]], 2)
        interval = agreement_intervals(
            np.append(kappas, mean),
            np.append(chances, mean_of_defined(chances)),
            values,
            by_chance,
            np.append(both.any(axis=2).sum(axis=0), both.any(axis=(1, 2)).sum()),
            level,
        )
        ends = np.stack([interval.low, interval.high])
    return FormKappas(
        kappas,
        ends[0, :-1],
        ends[1, :-1],
        both.sum(axis=(0, 2)).astype(np.int64),
        mean,
        sd,
        float(ends[0, -1]),
        float(ends[1, -1]),
        len(defined),
    )


@dataclass(frozen=True)
class SpecificAgreement:
    """Agreement of two coders on one category.

    Fields
    ------
    both : units to which both gave the category.
    only_first, only_second : units to which only that coder gave it.
    value : a proportion, 0 to 1; NaN where neither coder gave it, and then `problem` says so.
    """

    both: int
    only_first: int
    only_second: int
    value: float
    problem: str = ""


def specific_agreement(
    first: Sequence[Hashable], second: Sequence[Hashable], category: Hashable
) -> SpecificAgreement:
    """How far two coders agree on one category: the chance that the other gives it too.

    Parameters
    ----------
    first, second
        The category that each coder gave to each unit, in the same order of units.
    category
        The category whose agreement is asked for.

    Returns
    -------
    SpecificAgreement : 2a / (2a + b + c), with a units that both and b and c units that only one of
    them gave the category.

    Raises
    ------
    ValueError
        The coders coded different numbers of units.

    Notes
    -----
    Also called positive agreement; the mean of both coders' shares of their own uses of the
    category on which the other agrees, weighted by their uses. Spitzer & Fleiss (1974)
    doi:10.1192/bjp.125.4.341; Fleiss (1981, Statistical Methods for Rates and Proportions,
    chapter 13). Equals 1 - scipy.spatial.distance.dice. Not corrected for chance: kappa is.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} codings against {len(second)}")
    pairs = [(a == category, b == category) for a, b in zip(first, second, strict=True)]
    both, only_first, only_second = (
        pairs.count(used) for used in ((True, True), (True, False), (False, True))
    )
    uses = 2 * both + only_first + only_second
    if uses == 0:
        reason = undefined_note("Undefined: neither coder used this category.")
        return SpecificAgreement(0, 0, 0, math.nan, reason)
    return SpecificAgreement(both, only_first, only_second, 2 * both / uses)


_RESAMPLED = "Wilson with t and the standard error over resampled units"


def fleiss_kappa(
    ratings: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> Estimate:
    """Fleiss' kappa: how far several coders agree beyond chance on categories without order.

    Parameters
    ----------
    ratings : (units, coders)
        Codes as numbers, NaN for none. Units with a gap are left out; for gaps, Krippendorff's
        alpha loses less.
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Units resampled for the interval (`unit_intervals` from -1 to 1); 2,000 resamples of
        seed 0 by default.

    Returns
    -------
    Estimate : kappa, unitless. NaN with a reason where there are fewer than two coders, no complete
    unit, or only one category.

    Raises
    ------
    ValueError : the table is not two-dimensional or the level not within 0 and 1.

    Notes
    -----
    Fleiss (1971) doi:10.1037/h0031619. The interval resamples units, taken as independent; his
    standard error holds only where there is no agreement beyond chance, and does not serve for an
    interval (Gwet 2021, doi:10.1177/0013164420973080). So many codes say what chance is that
    kappa comes out lower than Krippendorff's alpha, which corrects for it; the upper end is that
    of alpha. Agrees with R's irr 0.84.1, kappam.fleiss,
    to 1e-12.

    Examples
    --------
    By hand: two of three pairs of coders differ on one of four units, so agreement is 10 / 12, by
    chance (5 / 12)² + (7 / 12)² = 37 / 72, and kappa 23 / 35 = .6571.

    >>> ratings = np.array([[0.0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]])
    >>> round(fleiss_kappa(ratings).value, 4)
    0.6571
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings need units and coders, not {table.ndim} dimensions")
    bootstrap = bootstrap or Bootstrap()
    complete = table[np.isfinite(table).all(axis=1)]
    n, coders = complete.shape
    result = Estimate(
        math.nan,
        level=check_level(level),
        n=n,
        n_left_out=len(table) - n,
        method=f"Fleiss' kappa, {level * 100:g}% interval ({_RESAMPLED})",
    )
    if n == 0 or coders < 2:
        reason = undefined_note(
            f"Undefined: {n} units are coded by all of {coders} coders; two coders are needed."
        )
        return replace(result, problems=(reason,))
    codes = np.unique(complete)
    if len(codes) == 1:
        return replace(result, problems=(_NO_VARIETY,))
    counts = (complete[:, :, None] == codes).sum(axis=1).astype(np.float64)
    value, chance = _fleiss(counts, np.ones((1, n)))[:, 0].tolist()
    drawn = [_fleiss(counts, weights) for weights in row_weights(n, bootstrap)]
    result = _with_interval(
        replace(result, value=value),
        chance,
        np.concatenate(drawn, axis=1),
        bootstrap,
        nominal=True,
    )
    return replace(result, high=1 - (1 - result.high) * (1 - 1 / (n * coders)))


def _fleiss(counts: Floats, weights: Floats) -> Floats:
    """(2, resamples): Fleiss' kappa and the disagreement by chance.

    From (resamples, units) weights; kappa is NaN where all codes are alike.
    """
    n, coders = counts.shape[0], counts[0].sum()
    agreement = (counts * (counts - 1)).sum(axis=1) / (coders * (coders - 1))
    totals = weights @ counts
    expected = ((totals / (n * coders)) ** 2).sum(axis=1)
    varied = np.count_nonzero(totals, axis=1) > 1
    chance = np.where(varied, 1 - expected, 0.0)
    return np.stack([ratios(weights @ agreement / n - expected, chance), chance])


# Krippendorff's alpha: agreement of any number of coders on any scale, with gaps.
# Ours because neither scipy nor statsmodels has it.

Metric = Literal["nominal", "ordinal", "interval", "ratio"]


def krippendorff_alpha(
    ratings: Floats,
    metric: Metric = "nominal",
    *,
    level: float = 0.95,
    bootstrap: Bootstrap | None = None,
) -> Estimate:
    """Krippendorff's alpha: agreement beyond chance of any number of coders on any scale.

    Parameters
    ----------
    ratings : (coders, units)
        Codes as numbers; NaN where a coder did not code the unit. Units with fewer than two codes
        are left out.
    metric : "nominal", "ordinal", "interval" or "ratio"
        How disagreement counts: any difference alike; by the ranks between two codes; by their
        squared difference; by this difference relative to their sum (codes not negative).
    level : float in (0, 1)
        Two-sided coverage.
    bootstrap : Bootstrap, optional
        Units resampled for the interval (`unit_intervals` from -1 to 1); 2,000 resamples of
        seed 0 by default.

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

    Examples
    --------
    The four coders of Krippendorff (2011), who prints .743, .815, .849 and .797.

    >>> gap = math.nan
    >>> a = [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap]
    >>> b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3]
    >>> c = [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap]
    >>> d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap]
    >>> metrics = ("nominal", "ordinal", "interval", "ratio")
    >>> [round(krippendorff_alpha(np.array([a, b, c, d]), metric).value, 3) for metric in metrics]
    [0.743, 0.815, 0.849, 0.797]
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
        method=f"Krippendorff's alpha ({metric}), {level * 100:g}% interval ({_RESAMPLED})",
    )
    problem: str = ""
    if n == 0:
        problem = undefined_note("Undefined: no unit was coded by two coders.")
    elif len(codes) == 1:
        problem = _NO_VARIETY
    elif metric == "ratio" and codes[0] < 0:
        problem = undefined_note("Undefined: codes on a ratio scale cannot be negative.")
    elif metric in ("interval", "ratio"):
        problem = undefined_size_note(codes)
    if problem:
        return replace(result, problems=(problem,))
    coder, unit = np.nonzero(coded[:, pairable])
    cells = unit * len(codes) + np.searchsorted(codes, table[:, pairable][coder, unit])
    counts = np.bincount(cells, minlength=n * len(codes)).reshape(n, len(codes))
    units = _Units(counts.astype(np.float64), codes, metric)
    value, chance = units.alphas(np.ones((1, n)))[:, 0].tolist()
    drawn = [units.alphas(weights) for weights in row_weights(n, bootstrap)]
    result = replace(result, value=value)
    nominal = metric == "nominal"
    return _with_interval(result, chance, np.concatenate(drawn, axis=1), bootstrap, nominal=nominal)


@dataclass(frozen=True, eq=False)
class _Units:
    """Pairable units: (units, codes) counts, and the codes' values in increasing order."""

    counts: Floats
    codes: Floats
    metric: Metric

    def alphas(self, weights: Floats) -> Floats:
        """(2, resamples): alpha and the disagreement by chance, from (resamples, units) weights.

        Alpha is NaN where all codes are alike.
        """
        totals = weights @ self.counts
        pairs = 1 / (self.counts.sum(axis=1) - 1)
        if self.metric in ("ordinal", "interval"):
            places = self._places(totals)
            observed = ((weights * pairs) * _squared_differences(self.counts, places)).sum(axis=1)
            expected = _squared_differences(totals[:, None, :], places)[:, 0]
        else:
            distances = self._distances()
            within = ((self.counts @ distances) * self.counts).sum(axis=1)
            observed = weights @ (pairs * within)
            expected = ((totals @ distances) * totals).sum(axis=1)
        varied = np.count_nonzero(totals, axis=1) > 1
        n, expected = totals.sum(axis=1), np.where(varied, expected, 0.0)
        return np.stack([1 - ratios((n - 1) * observed, expected), ratios(expected, n * (n - 1))])

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


def _squared_differences(counts: Floats, places: Floats) -> Floats:
    """Squared differences of position summed over all ordered pairs within each unit.

    `counts` is (units, codes), or (resamples, 1, codes) where each has its own.
    """
    if counts.ndim == 2:
        first, second = places @ counts.T, places**2 @ counts.T
    else:
        first = (counts * places[:, None, :]).sum(axis=2)
        second = (counts * places[:, None, :] ** 2).sum(axis=2)
    return np.asarray(2 * (counts.sum(axis=-1) * second - first**2))


# Any number of coders of categories: the kappa of every two of them, and its mean.


@dataclass(frozen=True, eq=False)
class PairwiseKappas:
    """Cohen's kappa of every two coders, and its mean over pairs.

    Fields
    ------
    pairs : (first, second) places of the coders of each pair, in order.
    kappas : an Estimate for each pair.
    mean, sd : over the pairs that have a kappa; SD with divisor n - 1, NaN of one pair.
    low, high : ends of the interval of the mean over resampled units; NaN where there is none.
    n_units : units that two coders coded at least.
    problems : why the mean is undefined, and cautions.
    """

    pairs: tuple[tuple[int, int], ...]
    kappas: tuple[Estimate, ...]
    mean: float
    sd: float
    low: float
    high: float
    n_units: int
    problems: tuple[str, ...] = ()


def pairwise_kappas(
    ratings: Floats, *, level: float = 0.95, bootstrap: Bootstrap | None = None
) -> PairwiseKappas:
    """Cohen's kappa of every two of any number of coders, with mean and SD over the pairs.

    Parameters
    ----------
    ratings : (units, coders)
        Codes as numbers, NaN for none. A pair uses the units that both coded.
    level : float in (0, 1)
        Two-sided coverage of all intervals.
    bootstrap : Bootstrap, optional
        Resamples of units for the interval of the mean; 2,000 of seed 0 by default.

    Raises
    ------
    ValueError : the table is not two-dimensional or the level not within 0 and 1.

    Notes
    -----
    Cohen (1960) doi:10.1177/001316446002000104; mean over pairs as Light (1971)
    doi:10.1037/h0031643, which for two coders is Cohen's kappa. Pairs share coders, so that the SD
    over pairs gives no standard error of the mean; the
    interval is that of `unit_intervals` from -1 to 1, of resampled units. A
    resample leaves out the pairs without a kappa. Checked against scikit-learn's
    cohen_kappa_score, and the interval against resampling one table at a time.

    Examples
    --------
    By hand: the first and the third coder agree, and each has .5 with the second; mean 2 / 3.

    >>> result = pairwise_kappas(np.array([[1.0, 1, 1], [1, 0, 1], [0, 0, 0], [0, 0, 0]]))
    >>> [kappa.value for kappa in result.kappas], round(result.mean, 4)
    ([0.5, 1.0, 0.5], 0.6667)
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings need units and coders, not {table.ndim} dimensions")
    bootstrap = bootstrap or Bootstrap()
    coders = table.shape[1]
    pairs = tuple((a, b) for a in range(coders) for b in range(a + 1, coders))
    kappas = tuple(weighted_kappa(table[:, a], table[:, b], level=level) for a, b in pairs)
    values = np.array([kappa.value for kappa in kappas])
    defined = values[np.isfinite(values)]
    twice = np.isfinite(table).sum(axis=1) >= 2
    result = PairwiseKappas(pairs, kappas, math.nan, math.nan, math.nan, math.nan, int(twice.sum()))
    if not defined.size:
        reason = undefined_note(
            "Undefined: no two coders have a kappa (no common unit, or one category alone)."
        )
        if coders < 2:
            reason = undefined_note(
                f"Undefined: two coders are needed, and the number of coders is {coders}."
            )
        return replace(result, problems=(reason,))
    tables = _pair_tables(table[twice], pairs)
    mean = float(defined.mean())
    agreed = _with_interval(
        Estimate(mean, level=level, n=int(twice.sum())),
        float(_mean_kappas(tables.sum(axis=0)[None], len(pairs))[1, 0]),
        np.concatenate(
            [_mean_kappas(totals, len(pairs)) for totals in resampled_totals(tables, bootstrap)],
            axis=1,
        ),
        bootstrap,
    )
    problems = agreed.problems
    if defined.size < len(pairs):
        problems += (f"{len(pairs) - defined.size} of {len(pairs)} pairs have no kappa.",)
    return replace(
        result,
        mean=mean,
        sd=float(defined.std(ddof=1)) if defined.size > 1 else math.nan,
        low=agreed.low,
        high=agreed.high,
        problems=problems,
    )


def _pair_tables(table: Floats, pairs: Sequence[tuple[int, int]]) -> Floats:
    """(units, pairs * categories²) 1 where a unit has the two codes of a pair."""
    codes = np.unique(table[np.isfinite(table)])
    code = np.searchsorted(codes, np.nan_to_num(table, nan=codes[0]))
    coded = np.isfinite(table)
    size = len(codes)
    tables: Floats = np.zeros((len(table), len(pairs), size * size))
    for k, (a, b) in enumerate(pairs):
        units = np.flatnonzero(coded[:, a] & coded[:, b])
        tables[units, k, code[units, a] * size + code[units, b]] = 1
    return tables.reshape(len(table), -1)


def _mean_kappas(totals: Floats, n_pairs: int) -> Floats:
    """(2, lines) of cross tables: the mean kappa over pairs, and the mean disagreement by chance.

    The kappa is NaN where no pair has one.
    """
    size = round(math.sqrt(totals.shape[1] / n_pairs))
    cross = totals.reshape(len(totals), n_pairs, size, size)
    n = cross.sum(axis=(2, 3))
    same = np.trace(cross, axis1=2, axis2=3)
    chance = (cross.sum(axis=2) * cross.sum(axis=3)).sum(axis=2)  # n² times agreement by chance
    apart = mean_of_defined(ratios(n**2 - chance, n**2))
    return np.stack([mean_of_defined(ratios(n * same - chance, n**2 - chance)), apart])
