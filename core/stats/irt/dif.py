"""Differential item functioning: do groups of the same trait answer an item differently?

Zumbo (1999), A handbook on the theory and methods of differential item functioning; Jodoin and
Gierl (2001), Applied Measurement in Education 14, 329-349; Crane and others (2006), Medical Care 44
(11 Suppl 3), S115-S123, for the change of slope; Choi, Gibbons and Crane (2011), Journal of
Statistical Software 39(8), doi:10.18637/jss.v039.i08.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from core.errors import NotEnoughData
from core.stats.groups import Adjustment, adjusted_p
from core.stats.inputs import Floats, Integers, score_matrix, size_problem
from core.stats.irt.ordered_regression import ProportionalOdds, proportional_odds
from core.stats.ordered.answer_options import (
    NumberedAnswers,
    Offered,
    never_chosen_note,
    numbered_answers,
    ordered_items,
    score_list,
)

# The three regressions of one item: matching score, with group, with their product.


@dataclass(frozen=True)
class DifTest:
    """Whether one model explains the answers better than a smaller one, and by how much."""

    chi_square: float
    df: int
    p_value: float
    p_adjusted: float  # over the items tested; the p-value itself where nothing is adjusted
    mcfadden_change: float  # rise of McFadden's R²
    nagelkerke_change: float  # rise of Nagelkerke's R²
    mcfadden_by_chance: float = math.nan  # mean rise where groups do not differ, of a χ² with df
    nagelkerke_by_chance: float = math.nan


@dataclass(frozen=True, eq=False)
class DifModels:
    """The fits of one item: matching score; then group as well; then their product as well."""

    matched: ProportionalOdds
    with_group: ProportionalOdds
    with_product: ProportionalOdds
    null_log_likelihood: float
    n_groups: int

    @property
    def uniform(self) -> DifTest:
        """Is the item easier for one group at every level of the matching score?"""
        return self._test(self.matched, self.with_group, 1)

    @property
    def non_uniform(self) -> DifTest:
        """Does the difference between groups depend on the level of the matching score?"""
        return self._test(self.with_group, self.with_product, 1)

    @property
    def total(self) -> DifTest:
        """Do the groups differ in either way?"""
        return self._test(self.matched, self.with_product, 2)

    @property
    def slope_change(self) -> float:
        """How far the matching score's slope moves, as a share of it, once the group is known."""
        slope = float(self.matched.coefficients[0])
        moved = abs(float(self.with_group.coefficients[0]) - slope)
        return moved / abs(slope) if slope else math.nan

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with which of the three models."""
        named = (
            ("Matching score alone", self.matched),
            ("With group", self.with_group),
            ("With group and product", self.with_product),
        )
        return tuple(f"{name}: {why}." for name, fit in named for why in fit.problems)

    def _test(self, smaller: ProportionalOdds, larger: ProportionalOdds, blocks: int) -> DifTest:
        """Likelihood-ratio test with the rise of both R², and what chance alone raises them.

        Where groups do not differ, the statistic is a chi-square whose mean is df, and the mean of
        exp(- chi-square / n) is (1 + 2 / n)^(- df / 2).
        """
        df = blocks * (self.n_groups - 1)
        usable = all(fit.converged or fit.separated for fit in (smaller, larger))
        if not usable:
            return DifTest(math.nan, df, math.nan, math.nan, math.nan, math.nan)
        statistic = max(2 * (larger.log_likelihood - smaller.log_likelihood), 0.0)
        p_value = float(scipy.stats.chi2.sf(statistic, df))
        largest = -math.expm1(2 / smaller.n * self.null_log_likelihood)
        mean_rise = -math.expm1(-df / 2 * math.log1p(2 / smaller.n))
        return DifTest(
            chi_square=statistic,
            df=df,
            p_value=p_value,
            p_adjusted=p_value,
            mcfadden_change=-statistic / 2 / self.null_log_likelihood,
            nagelkerke_change=self._nagelkerke(larger) - self._nagelkerke(smaller),
            mcfadden_by_chance=-df / 2 / self.null_log_likelihood,
            nagelkerke_by_chance=(1 / largest - self._nagelkerke(smaller)) * mean_rise,
        )

    def _nagelkerke(self, fit: ProportionalOdds) -> float:
        """Cox and Snell's R² as a share of the largest it could be: Nagelkerke (1991)."""
        per_row = 2 / fit.n
        cox_snell = -math.expm1(per_row * (self.null_log_likelihood - fit.log_likelihood))
        return cox_snell / -math.expm1(per_row * self.null_log_likelihood)


def _score_differences(
    fit: ProportionalOdds, scores: Floats, matching: Floats, group: Integers, number: int
) -> Floats:
    """Expected score in a group minus that in the reference group, of the rows of the group.

    `fit` is the model with the product, `scores` those of the options, lowest first.
    """
    middle, rows = matching.mean(), matching[group == number]
    n_groups = (len(fit.coefficients) + 1) // 2
    slopes = fit.coefficients
    own = slopes[number] + slopes[n_groups + number - 1] * (rows - middle)
    steps = np.diff(scores)
    reached = [
        scipy.special.expit(fit.thresholds + (slopes[0] * rows + add)[:, None]) @ steps
        for add in (own, np.zeros(len(rows)))
    ]
    return np.asarray(reached[0] - reached[1])


def _effect(
    models: DifModels,
    answers: Floats,
    scores: Floats,
    matching: Floats,
    group: Integers,
    number: int,
    label: str,
) -> GroupEffect:
    """Log odds and differences in score points of one group."""
    fit, own = models.with_group, (answers[group == 0], answers[group == number])
    gaps = _score_differences(models.with_product, scores, matching, group, number)
    freedom = [max(len(rows) - 1, 0) for rows in own]
    spread = math.nan
    if min(freedom) > 0:
        spreads = [float(rows.std(ddof=1)) for rows in own]
        spread = float(np.average(spreads, weights=freedom))
    mean = float(gaps.mean())
    return GroupEffect(
        label,
        float(fit.coefficients[number]),
        float(fit.standard_errors[number]),
        mean,
        float(np.abs(gaps).mean()),
        mean / spread if spread else math.nan,
    )


def _dif_models(codes: Integers, matching: Floats, group: Integers, n_groups: int) -> DifModels:
    """Fit the three models to one item.

    Parameters
    ----------
    codes
        (n,) answers counted from 0, at least two different ones, none missing.
    matching
        (n,) score that says how much of the trait a row has; not constant.
    group
        (n,) 0 for the reference group, then 1, 2 ...; every group has rows.
    n_groups
        How many groups there are.
    """
    member = (group[:, None] == np.arange(1, n_groups)).astype(np.float64)
    score = matching[:, None]
    # centered, so that the product correlates little with score and group
    product = (score - score.mean()) * member
    return DifModels(
        matched=proportional_odds(codes, score),
        with_group=proportional_odds(codes, np.hstack([score, member])),
        with_product=proportional_odds(codes, np.hstack([score, member, product])),
        null_log_likelihood=proportional_odds(codes, np.zeros((codes.size, 0))).log_likelihood,
        n_groups=n_groups,
    )


# The results of an item, and the magnitude of its effect.

Magnitude = Literal["negligible", "moderate", "large", "unknown"]
# Rise of R² from which an effect is moderate, and large; both need a significant total test. Zumbo
# (1999) asks for p <= .01 and an explained variance of the latent answer; Jodoin & Gierl (2001)
# derived their bounds from yes-no items. For Nagelkerke's R² of ordered answers, as in R's difR and
# lordif, both are a convention.
_ZUMBO_THOMAS = (0.13, 0.26)
_JODOIN_GIERL = (0.035, 0.07)
_CHOI = 0.02  # rise of McFadden's R² from which lordif flags an item by effect
_UNTESTED = DifTest(math.nan, 0, math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class GroupEffect:
    """How much easier the item is for a group than for the reference group, trait held equal.

    Log odds ratio of an answer one step higher, from the model without the product; above 0 the
    group answers higher. The others are of the model with the product, over the rows of the group:
    the expected score of the item in the group minus that in the reference group at the same
    matching score, its mean, the mean of its size, and the mean in pooled standard deviations of
    the item.
    """

    group: str
    log_odds: float
    standard_error: float
    points: float
    unsigned_points: float
    standardized: float


@dataclass(frozen=True)
class ItemDif:
    """One item's tests; where `problems` explain it, numbers are NaN and magnitudes unknown."""

    name: str
    n: int  # rows with an answer, a matching score and a group
    n_per_group: tuple[int, ...]  # in the order of the result's `groups`
    uniform: DifTest
    non_uniform: DifTest
    total: DifTest
    effects: tuple[GroupEffect, ...]
    slope_change: float  # share of the matching score's slope; 0.1 is the usual bound
    flagged: bool  # the total test's adjusted p is below alpha, jodoin_gierl not negligible
    zumbo_thomas: Magnitude
    jodoin_gierl: Magnitude
    above_choi: bool  # McFadden's R² rises by 0.02 or more
    problems: tuple[str, ...]

    @property
    def tested(self) -> bool:
        """Whether there are tests to read."""
        return not math.isnan(self.total.p_value)


@dataclass(frozen=True)
class DifResult:
    """Every item's tests, and what they were matched on."""

    items: tuple[ItemDif, ...]
    groups: tuple[str, ...]  # the reference group first
    anchors: tuple[str, ...]  # items of the matching score; empty where a trait was given
    problems: tuple[str, ...]


def _untested(name: str, counts: tuple[int, ...], reason: str) -> ItemDif:
    """An item without numbers, and the reason."""
    return ItemDif(
        name=name,
        n=sum(counts),
        n_per_group=counts,
        uniform=_UNTESTED,
        non_uniform=_UNTESTED,
        total=_UNTESTED,
        effects=(),
        slope_change=math.nan,
        flagged=False,
        zumbo_thomas="unknown",
        jodoin_gierl="unknown",
        above_choi=False,
        problems=(reason,),
    )


def _adjusted(items: Sequence[ItemDif], adjust: Adjustment | None) -> list[ItemDif]:
    """The items with p-values adjusted over those that could be tested, test by test."""
    done = list(items)
    if adjust is None:
        return done
    for kind in ("uniform", "non_uniform", "total"):
        p_values = np.array([getattr(item, kind).p_value for item in items])
        for index, p_value in enumerate(adjusted_p(p_values, adjust)):
            test = replace(getattr(done[index], kind), p_adjusted=float(p_value))
            done[index] = replace(done[index], **{kind: test})
    return done


def with_magnitudes(item: ItemDif, alpha: float) -> ItemDif:
    """The item with its flag and magnitudes.

    Bounds of magnitude: .13 and .26 after Zumbo and Thomas (1997), .035 and .07 after Jodoin and
    Gierl (2001), here of Nagelkerke's R², as in R's difR. They were not derived for it: the former
    refer to the explained variance of a latent answer, the latter to yes-no items.
    """
    if math.isnan(item.total.p_adjusted):
        return item
    rise = item.total.nagelkerke_change if item.total.p_adjusted < alpha else 0.0
    jodoin_gierl = _magnitude(rise, _JODOIN_GIERL)
    return replace(
        item,
        flagged=jodoin_gierl != "negligible",
        zumbo_thomas=_magnitude(rise, _ZUMBO_THOMAS),
        jodoin_gierl=jodoin_gierl,
        above_choi=item.total.mcfadden_change >= _CHOI,
    )


def _magnitude(rise: float, bounds: tuple[float, float]) -> Magnitude:
    """How large a rise of R² is by two bounds."""
    if rise < bounds[0]:
        return "negligible"
    return "moderate" if rise < bounds[1] else "large"


# Differential item functioning: do groups of the same trait answer an item differently?


def differential_item_functioning(
    answers: Floats,
    names: Sequence[str],
    groups: Sequence[str | None],
    *,
    offered: Sequence[Offered] | None = None,
    trait: Floats | None = None,
    anchors: Sequence[str] | None = None,
    reference: str | None = None,
    order: Sequence[str] | None = None,
    alpha: float = 0.01,
    adjust: Adjustment | None = None,
) -> DifResult:
    """Items that favor a group among rows with the same level of the trait, and how strongly.

    Parameters
    ----------
    answers, names
        (n, p) scores of ordered options, reverse-keyed items scored, NaN where there is none; p
        names.
    groups
        n labels, at least two different ones; a row labelled None is left out.
    offered
        p lists of the scores each item offers, None where they are not known; those nobody chose
        are named.
    trait
        (n,) level of the trait for matching, such as scores of a graded response model. Without it
        each item is matched on the sum of the other items.
    anchors
        Names of the items that make up the matching score; without it, all that somebody answered.
    reference, order
        The group others are compared with, else the first; all labels in order, else the alphabet.
    alpha
        Level below which the total test is significant; Zumbo (1999) takes .01.
    adjust
        Adjust p-values over the items, separately for each of the three tests: Holm keeps the
        chance of any false flag at alpha, Benjamini-Hochberg the share of false flags.

    Returns
    -------
    DifResult
        An item is flagged where its total test is significant and the rise of Nagelkerke's R² not
        negligible after Jodoin and Gierl. Magnitudes are "negligible" where the test is not
        significant, whatever the rise.

    Raises
    ------
    NotEnoughData
        There are not two groups, there is nothing to match on, or scores are no ordered answers
        (see `ordered_items`).
    ValueError
        Lengths differ, or an anchor or the reference is unknown.

    Notes
    -----
    Missing data: a row counts for an item if it has an answer to it, a group and a matching score;
    a sum over items needs all of them. Unit of analysis: a row, independent of the others. Assumes
    proportional odds. A sum score measures with error: where groups differ in the trait itself,
    part of that difference shows as uniform functioning, the more so the shorter the scale; match
    on a trait, or on more items, then. Where an item functions differently, the others' sums
    contain it: see `purified_dif`. Options nobody chose are closed up; one that a
    group never chose stays and is named. Where a group or score separates the answers, tests use
    the limit of the likelihood and are rough.

    Checked against statsmodels' OrderedModel, a table by hand, and simulated answers.

    Examples
    --------
    Differences of deviances of glm(family = binomial) of R, A matched on B, and its log odds ratio.

    >>> times = [8, 4, 4, 8, 4, 8, 2, 10]
    >>> answers = np.repeat([[0.0, 0], [1, 0], [0, 1], [1, 1]] * 2, times, axis=0)
    >>> groups = ["a"] * 24 + ["b"] * 24
    >>> item = differential_item_functioning(answers, ["A", "B"], groups).items[0]
    >>> round(item.uniform.chi_square, 3), round(item.total.chi_square, 3)
    (3.493, 3.621)
    >>> round(item.effects[0].log_odds, 3)
    1.187

    By hand: of those who miss B 4 of 12 in a and 8 of 12 in b solve A, of the others 8 and 10.

    >>> round(item.effects[0].points, 4)
    0.25
    """
    matrix = score_matrix(answers, names)
    labels, group = _numbered_groups(groups, reference, order, matrix.shape[0])
    columns = _matching_items(matrix, names, anchors)
    numbered = ordered_items(matrix, names, offered)
    trait = _checked_trait(trait, matrix, columns)
    tested = [
        _item(name, matrix[:, item], _matching(matrix, item, columns, trait), group, labels)
        for item, name in enumerate(names)
    ]
    sum_of_all = trait is None and anchors is None
    return DifResult(
        items=tuple(with_magnitudes(item, alpha) for item in _adjusted(tested, adjust)),
        groups=labels,
        anchors=tuple(names[column] for column in columns) if trait is None else (),
        problems=tuple(_problems(matrix, names, group, numbered, sum_of_all=sum_of_all)),
    )


def _matching_items(
    matrix: Floats, names: Sequence[str], anchors: Sequence[str] | None
) -> list[int]:
    """The columns of the items that make up the matching score."""
    unknown = set(anchors or ()) - set(names)
    if unknown:
        raise ValueError(f"anchors {sorted(unknown)} are not among the items")
    asked = np.asarray(np.isfinite(matrix).any(axis=0))
    return [
        column
        for column, name in enumerate(names)
        if (asked[column] if anchors is None else name in anchors)
    ]


def _checked_trait(trait: Floats | None, matrix: Floats, columns: Sequence[int]) -> Floats | None:
    """A level of the trait for each row, in a usual unit; without it, other items have to match."""
    if trait is None:
        if not any(set(columns) - {item} for item in range(matrix.shape[1])):
            raise NotEnoughData(
                "There is no other item to match rows on.", "Add items, or give a trait score."
            )
        return None
    trait = np.asarray(trait, dtype=np.float64)
    if trait.shape != matrix.shape[:1]:
        raise ValueError(f"trait of shape {trait.shape} for {matrix.shape[0]} rows")
    reason = size_problem(trait)
    if reason:
        raise NotEnoughData(f"Trait scores {reason}.", "Give trait scores in a usual unit.")
    return trait


def _matching(matrix: Floats, item: int, columns: Sequence[int], trait: Floats | None) -> Floats:
    """What rows are matched on: the trait, or the sum without the item's own answers."""
    if trait is not None:
        return trait
    others = [column for column in columns if column != item]
    rest: Floats = matrix[:, others].sum(axis=1)
    return rest if others else np.full(len(matrix), np.nan)


def _problems(
    matrix: Floats,
    names: Sequence[str],
    group: Integers,
    numbered: Sequence[NumberedAnswers],
    *,
    sum_of_all: bool,
) -> list[str]:
    """Rows and items that are left out, and options that nobody chose."""
    problems = []
    n_without_group = int((group < 0).sum())
    if n_without_group:
        problems.append(f"{n_without_group} rows were left out: no group.")
    asked = np.asarray(np.isfinite(matrix).any(axis=0))
    unasked = [name for name, answers in zip(names, asked, strict=True) if not answers]
    if unasked and sum_of_all:
        problems.append(
            f"Not part of the matching score, because nobody answered: {', '.join(unasked)}."
        )
    answered = [(name, own) for name, own in zip(names, numbered, strict=True) if own.n > 0]
    unused = never_chosen_note([name for name, _ in answered], [own for _, own in answered])
    return [*problems, *unused]


def _numbered_groups(
    groups: Sequence[str | None], reference: str | None, order: Sequence[str] | None, n: int
) -> tuple[tuple[str, ...], Integers]:
    """Labels, reference first, and each row's place among them; -1 without a group."""
    if len(groups) != n:
        raise ValueError(f"{len(groups)} groups for {n} rows")
    present = {label for label in groups if label is not None}
    labels = sorted(present) if order is None else [label for label in order if label in present]
    if len(labels) < 2:
        raise NotEnoughData(
            f"All rows are of {len(labels)} group{'' if len(labels) == 1 else 's'}; comparing "
            "needs two.",
            "Choose a factor with two or more levels among the rows.",
        )
    if reference is not None and reference not in labels:
        raise ValueError(f"no row is of the reference group {reference!r}")
    labels.sort(key=lambda label: label != reference)
    number_of = {label: number for number, label in enumerate(labels)}
    numbers = [-1 if label is None else number_of[label] for label in groups]
    return tuple(labels), np.array(numbers, dtype=np.int64)


def _item(
    name: str, answers: Floats, matching: Floats, group: Integers, labels: tuple[str, ...]
) -> ItemDif:
    """One item's tests, not yet adjusted or judged."""
    used = np.isfinite(answers) & np.isfinite(matching) & (group >= 0)
    counts = tuple(int((group[used] == number).sum()) for number in range(len(labels)))
    numbered = numbered_answers(answers[used])
    absent = [label for label, count in zip(labels, counts, strict=True) if not count]
    if absent:
        reason = f"No rows of {', '.join(absent)} have an answer and a matching score."
        return _untested(name, counts, reason)
    if len(numbered.chosen) < 2:
        return _untested(name, counts, "All answers are the same.")
    if np.unique(matching[used]).size < 2:
        return _untested(name, counts, "The matching score is the same for all rows.")
    notes = []
    n_left_out = int((~used & (group >= 0)).sum())
    if n_left_out:
        notes.append(f"{n_left_out} rows were left out: no answer or no matching score.")
    for number, label in enumerate(labels):
        skipped = sorted(set(numbered.chosen) - set(answers[used & (group == number)].tolist()))
        if skipped:
            notes.append(f"Nobody in {label} chose {score_list(skipped)}.")
    models = _dif_models(numbered.codes, matching[used], group[used], len(labels))
    scores = np.asarray(numbered.chosen)
    effects = (
        _effect(models, answers[used], scores, matching[used], group[used], number, label)
        for number, label in enumerate(labels[1:], start=1)
    )
    return ItemDif(
        name=name,
        n=int(used.sum()),
        n_per_group=counts,
        uniform=models.uniform,
        non_uniform=models.non_uniform,
        total=models.total,
        effects=tuple(effects),
        slope_change=models.slope_change,
        flagged=False,
        zumbo_thomas="unknown",
        jodoin_gierl="unknown",
        above_choi=False,
        problems=(*notes, *models.problems),
    )


# Purification: matching on items without differential functioning only.


def purified_dif(
    answers: Floats,
    names: Sequence[str],
    groups: Sequence[str | None],
    *,
    offered: Sequence[Offered] | None = None,
    reference: str | None = None,
    order: Sequence[str] | None = None,
    alpha: float = 0.01,
    adjust: Adjustment | None = None,
) -> DifResult:
    """The same tests, matched on the sum of the items that are not flagged.

    As long as an item of the matching score is flagged, the one with the largest total chi-square
    is taken out of it and all items are tested again; it is still tested, but explains no other
    item any more. Parameters, missing-data rule and sources as in differential_item_functioning.
    `problems` says if fewer than two items were left to match on; the flags are then not to be
    trusted.

    One item at a time, because several that favor one group make the sound ones look as if they
    favored the other: taking out all that are flagged, as Choi and others (2011) do, can leave
    none. An item once taken out does not come back.

    Examples
    --------
    No item is flagged, so that both stay anchors; χ² as by glm of R.

    >>> times = [8, 4, 4, 8, 4, 8, 2, 10]
    >>> answers = np.repeat([[0.0, 0], [1, 0], [0, 1], [1, 1]] * 2, times, axis=0)
    >>> groups = ["a"] * 24 + ["b"] * 24
    >>> result = purified_dif(answers, ["A", "B"], groups)
    >>> result.anchors, [round(item.total.chi_square, 3) for item in result.items]
    (('A', 'B'), [3.621, 0.374])
    """
    anchors: tuple[str, ...] | None = None
    while True:
        result = differential_item_functioning(
            answers,
            names,
            groups,
            offered=offered,
            anchors=anchors,
            reference=reference,
            order=order,
            alpha=alpha,
            adjust=adjust,
        )
        flagged = [item for item in result.items if item.flagged and item.name in result.anchors]
        if not flagged:
            return result
        if len(result.anchors) <= 2:
            problem = "Fewer than two items are free of flags to match on."
            return replace(result, problems=(*result.problems, problem))
        worst = max(flagged, key=lambda item: item.total.chi_square)
        anchors = tuple(name for name in result.anchors if name != worst.name)
