"""Comparison of nested factor models, and measurement invariance."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.domain.notes import Note, kind_of
from core.errors import NotEnoughData
from core.stats.factor.cfa import Estimator, fit_cfa
from core.stats.factor.fit_indices import p_value
from core.stats.factor.item_effects import ItemEffect, item_effects
from core.stats.factor.likelihood import LikelihoodRule
from core.stats.factor.model import COVARIANCE, INTERCEPT, LOADING, ParsedModel, Scaling
from core.stats.factor.ordered_groups import OrderedStep, fit_ordered_levels
from core.stats.factor.ordered_levels import OrderedLevels, Partial, ordered_levels
from core.stats.factor.result import CfaResult, IndexVersion, contrary_notes
from core.stats.factor.wlsmv import THRESHOLD, difference_test
from core.stats.inputs import Floats, PairRule
from core.stats.ordered.answer_options import Offered

# The comparison of two nested models.

_ROUNDING = 1e-6


@dataclass(frozen=True)
class ModelDifference:
    """The restricted model minus the freer one.

    Parameters
    ----------
    chi2, df, p : test that the restrictions hold.
    scaling_factor : what the difference was divided by; 1 without correction.
    cfi, tli, rmsea, srmr : differences of the indices that are reported of both models (see
        `REPORTED_VERSION`), else of the plain ones; `version` says which.
    aic, bic : differences; above 0 where the freer model is preferred. NaN without a likelihood.
    version : "robust", "scaled" or "plain".
    problems : why something is undefined, or must not be believed.
    """

    chi2: float
    df: int
    p: float
    scaling_factor: float
    cfi: float
    tli: float
    rmsea: float
    srmr: float
    aic: float
    bic: float
    version: IndexVersion
    problems: tuple[str, ...]


def compare_models(restricted: CfaResult, freer: CfaResult) -> ModelDifference:
    """Chi-square difference with the right correction, and differences of the indices.

    Parameters
    ----------
    restricted, freer : CfaResult
        Two fits of the same answers by the same estimator, the first a special case of the second.
        Whether it is one cannot be seen from the fits; only contradictions are reported.

    Returns
    -------
    ModelDifference
        ML: difference of chi-squares. MLR: Satorra & Bentler (2001, doi:10.1007/BF02296192) with
        Yuan-Bentler factors, cd = (df0 c0 - df1 c1) / (df0 - df1). WLSMV: NaN, since its
        chi-squares cannot be subtracted. Checked against the formula by hand.

    Examples
    --------
    lavTestLRT of lavaan 0.6-14 (R), of equal loadings against free ones.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> texts = ("F =~ v*a + v*b + v*c + v*d", "F =~ a + b + c + d")
    >>> equal, free = (fit_cfa(scores, list("abcd"), text, estimator="ML") for text in texts)
    >>> difference = compare_models(equal, free)
    >>> round(difference.chi2, 3), difference.df, round(difference.p, 4)
    (7.839, 3, 0.0495)
    """
    problems = _contradictions(restricted, freer)
    df = restricted.fit.df - freer.fit.df
    chi2, factor = math.nan, math.nan
    if not problems:
        chi2, factor, trouble = _difference(restricted, freer, df)
        problems += trouble
    # the version that is reported of both models; plain where one of them lacks it
    (version, first), (other, second) = restricted.reported, freer.reported
    if version != other:
        version, first, second = "plain", restricted.fit, freer.fit
    return ModelDifference(
        chi2=chi2,
        df=df,
        p=p_value(chi2, df),
        scaling_factor=factor,
        cfi=first.cfi - second.cfi,
        tli=first.tli - second.tli,
        rmsea=first.rmsea - second.rmsea,
        srmr=restricted.srmr - freer.srmr,
        aic=restricted.aic - freer.aic,
        bic=restricted.bic - freer.bic,
        version=version,
        problems=tuple(problems),
    )


def _compare_ordered(restricted: OrderedStep, freer: OrderedStep) -> ModelDifference:
    """The same of two steps of ordered answers, whose chi-squares have a difference test."""
    test = difference_test(restricted.fit, freer.fit)
    same = restricted.fit.df == freer.fit.df and restricted.fit.converged and freer.fit.converged
    (version, first), (other, second) = restricted.result.reported, freer.result.reported
    if version != other:
        version, first, second = "plain", restricted.result.fit, freer.result.fit
    return ModelDifference(
        chi2=test.chi2,
        df=test.df,
        p=test.p,
        scaling_factor=test.scaling_factor,
        cfi=first.cfi - second.cfi,
        tli=first.tli - second.tli,
        rmsea=first.rmsea - second.rmsea,
        srmr=restricted.result.srmr - freer.result.srmr,
        aic=math.nan,
        bic=math.nan,
        version=version,
        problems=(_SAME_MODEL,) if same else test.problems,
    )


def _contradictions(restricted: CfaResult, freer: CfaResult) -> list[str]:
    """Why the two models cannot be compared by a chi-square difference."""
    out = []
    if not (restricted.converged and freer.converged):
        out.append("At least one of the models could not be fitted, so they cannot be compared.")
    if restricted.modeled != freer.modeled or restricted.n != freer.n:
        out.append(
            "The models were fitted to different items, covariates or rows, so they cannot be "
            "compared."
        )
    if (restricted.estimator, restricted.missing) != (freer.estimator, freer.missing):
        out.append("The models were fitted by different estimators, so they cannot be compared.")
    if restricted.fit.df <= freer.fit.df:
        out.append(
            "The first model has no more degrees of freedom than the second, so it is not a "
            "special case of it; compare AIC and BIC."
        )
    if "WLSMV" in (restricted.estimator, freer.estimator):
        out.append("Scaled and shifted chi-squares of WLSMV cannot be subtracted.")
    return out


def _difference(restricted: CfaResult, freer: CfaResult, df: int) -> tuple[float, float, list[str]]:
    """Chi-square difference, its factor, and why it is undefined."""
    plain = restricted.fit.chi2 - freer.fit.chi2
    if np.isnan(plain):
        return math.nan, math.nan, ["At least one of the models has no test of fit."]
    if plain < -_ROUNDING * max(1.0, restricted.fit.chi2):
        reason = "The model with more restrictions fits better, so it is not nested."
        return math.nan, math.nan, [reason]
    if restricted.estimator != "MLR":
        return max(plain, 0.0), 1.0, []
    weighted = [
        m.fit.df * (m.scaled.scaling_factor if m.scaled is not None else 0.0)
        for m in (restricted, freer)
    ]
    factor = (weighted[0] - weighted[1]) / df
    if np.isnan(factor):
        reason = "A scaled χ² is undefined, so the difference cannot be corrected."
        return math.nan, math.nan, [reason]
    if factor <= 0:
        reason = (
            "The correction of the chi-square difference is not positive, which happens in small "
            "samples; compare AIC, BIC and the indices instead."
        )
        return math.nan, factor, [reason]
    return max(plain, 0.0) / factor, factor, []


# Measurement invariance over groups, such as languages, models or forms.

Level = Literal["configural", "thresholds", "metric", "scalar", "strict"]
LADDER: Mapping[bool, tuple[Level, ...]] = {
    False: ("configural", "metric", "scalar", "strict"),
    True: ("configural", "thresholds", "metric", "scalar", "strict"),
}
"""The steps of continuous and of ordered answers, from the freest."""

_ADDS: dict[Level, str] = {
    "thresholds": "thresholds",
    "metric": "loadings",
    "scalar": "intercepts",
    "strict": "residuals",
}
"""What each step holds equal across groups, beside what the steps before it do."""
_KINDS = {
    THRESHOLD: "thresholds",
    LOADING: "loadings",
    INTERCEPT: "intercepts",
    COVARIANCE: "residuals",
}
_SAME_MODEL = Note(
    "This step cannot be tested: items with so few options say nothing of it, and it is the same "
    "model as the step before (Wu & Estabrook, 2016).",
    kind="same model",
)


def held_equal(level: Level, *, ordered: bool = False) -> frozenset[str]:
    """What a step holds equal, of thresholds, loadings, intercepts and residuals.

    Examples
    --------
    >>> sorted(held_equal("scalar"))
    ['intercepts', 'loadings']
    """
    steps = LADDER[ordered]
    return frozenset(_ADDS[step] for step in steps[1 : steps.index(level) + 1])


@dataclass(frozen=True, eq=False)
class InvarianceLevel:
    """One level of invariance.

    Parameters
    ----------
    level : its name. fit : the multi-group fit; its `release_indices` say what stands against it.
    difference : from the step before; None for the first.
    freed : whether some parameters are exempt from equality.
    before : the step that the difference is from, by name; empty for the first.
    """

    level: Level
    fit: CfaResult
    difference: ModelDifference | None
    freed: bool = False
    before: str = ""

    @property
    def name(self) -> str:
        """The level, "partial" before it where some parameters are exempt."""
        return step_name(self.level, self.freed)


def step_name(level: Level, freed: bool) -> str:
    """What a step is called.

    Examples
    --------
    >>> step_name("scalar", True)
    'partial scalar'
    """
    return f"partial {level}" if freed else level


@dataclass(frozen=True)
class PlannedStep:
    """A step to be fitted, and the place of the step before it; -1 for the first."""

    level: Level
    freed: bool
    before: int


def planned_steps(levels: Sequence[Level], partial: Partial, *, ordered: bool) -> list[PlannedStep]:
    """The steps, and once more those that hold equal what is exempt.

    Examples
    --------
    >>> ladder = ("configural", "metric", "scalar")
    >>> steps = planned_steps(ladder, frozenset({("b", "~1", "")}), ordered=False)
    >>> [(step_name(step.level, step.freed), step.before) for step in steps]
    [('configural', -1), ('metric', 0), ('scalar', 1), ('partial scalar', 1)]
    """
    steps = [PlannedStep(level, False, k - 1) for k, level in enumerate(levels)]
    kinds = {_KINDS[op] for _, op, _ in partial}
    affected = [k for k, level in enumerate(levels) if kinds & held_equal(level, ordered=ordered)]
    for k in affected:
        before = k - 1 if k == affected[0] else len(steps) - 1
        steps.append(PlannedStep(levels[k], True, before))
    return steps


@dataclass(frozen=True, eq=False)
class Invariance:
    """All levels of invariance.

    Parameters
    ----------
    levels : from the freest to the most restricted; then, with parameters exempt, once more from
        the first that holds one of them equal.
    problems : of all levels, each named.
    effects : of each item in each group against the first; none without the configural and scalar
        steps. The last scalar one gives the unit.
    """

    levels: tuple[InvarianceLevel, ...]
    problems: tuple[str, ...]
    effects: tuple[ItemEffect, ...] = ()


def invariance(
    scores: Mapping[str, Floats],
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    levels: Sequence[Level] = ("configural", "metric", "scalar"),
    estimator: Estimator | Literal["WLSMV"] = "MLR",
    missing: LikelihoodRule | PairRule = "listwise",
    scaling: Scaling = "marker",
    partial: Partial = frozenset(),
    ci_level: float = 0.95,
    offered: Sequence[Offered] | None = None,
) -> Invariance:
    """The same model in all groups, with more parameters held equal at each level.

    Parameters
    ----------
    scores : mapping
        Name of the group to its (n, p) score points, NaN where missing; a row is one
        administration, independent of the others.
    items : p names
        Names of the columns.
    model : str or ParsedModel
        The measurement model of every group.
    levels : sequence of str
        Steps, from the freest, of `LADDER`.
    estimator, missing, scaling, ci_level, offered
        As for `fit_cfa`, or "WLSMV" with the rules of `ordered_levels`, whose factors have variance
        1 in the first group. With "marker", the first item of each factor is taken to be invariant.
    partial : set of (left, op, right)
        Parameters each group keeps for itself in further steps, such as ("F", "=~", "x2"),
        ("x2", "~1", ""), ("x2", "|", "t1") or ("x2", "~~", "x2").

    Returns
    -------
    Invariance
        An item that cannot be analyzed in one group is left out of all.

    Raises
    ------
    NotEnoughData, ModelTextError
        As for `fit_cfa`, and where there is one group only.

    Notes
    -----
    Meredith (1993, doi:10.1007/BF02294825). Falls of CFI of .01 or rises of RMSEA of .015 are the
    usual signs against a step (Chen 2007, doi:10.1080/10705510701301834). Checked against published
    lavaan results for the two schools of Holzinger & Swineford (1939); ordered answers and partial
    steps against lavaan 0.6-14.

    Examples
    --------
    lavaan 0.6-14 (R), of two groups that differ by 1 in one item only.

    >>> parts = np.indices((2,) * 6).reshape(6, -1).T * 2.0 - 1
    >>> scores = parts[:, [0]] + parts[:, 2:]
    >>> scores[:, :2] += parts[:, [1]]
    >>> groups = {"first": scores, "second": scores + np.array([0, 0, 1, 0])}
    >>> ladder = invariance(groups, list("abcd"), "F =~ a + b + c + d", estimator="ML").levels
    >>> [(level.level, round(level.fit.fit.chi2, 3), level.fit.fit.df) for level in ladder]
    [('configural', 12.881, 4), ('metric', 12.881, 7), ('scalar', 32.16, 10)]
    """
    if len(scores) < 2:
        raise NotEnoughData(
            f"Invariance compares groups, and there is {len(scores)}.", "Choose several groups."
        )
    if not levels:
        raise ValueError("no level of invariance to fit")
    ordered = estimator == "WLSMV"
    steps = planned_steps(levels, partial, ordered=ordered)
    compared: list[OrderedStep] = []
    if estimator == "WLSMV":
        rule: PairRule = "pairwise" if missing == "pairwise" else "listwise"
        answers = ordered_levels(scores, items, model, missing=rule, offered=offered)
        compared = _ordered_fits(answers, steps, partial, ci_level)
        fits, rows = [step.result for step in compared], answers.scores()
    else:
        fit = functools.partial(
            fit_cfa,
            [*scores.values()],
            items,
            model,
            estimator=estimator,
            missing="fiml" if missing == "fiml" else "listwise",
            scaling=scaling,
            group_names=[*scores],
            ci_level=ci_level,
        )
        fits = [
            fit(equal=held_equal(step.level), partial=partial if step.freed else frozenset())
            for step in steps
        ]
        rows = _rows_of_items(scores.values(), items, fits[0].items, complete=missing == "listwise")
    ladder = _ladder(steps, fits, compared)
    problems = _problems_of_ladder(ladder)
    ends = [step.fit for step in ladder if step.level in ("configural", "scalar")]
    if not {"configural", "scalar"} <= set(levels):
        return Invariance(ladder, problems)
    return Invariance(ladder, problems, item_effects(ends[0], ends[-1], rows))


def _ordered_fits(
    answers: OrderedLevels, steps: Sequence[PlannedStep], partial: Partial, ci_level: float
) -> list[OrderedStep]:
    """The fit of each step to ordered answers."""
    return [
        fit_ordered_levels(
            answers,
            equal=held_equal(step.level, ordered=True),
            partial=partial if step.freed else frozenset(),
            ci_level=ci_level,
        )
        for step in steps
    ]


def _ladder(
    steps: Sequence[PlannedStep], fits: Sequence[CfaResult], ordered_fits: Sequence[OrderedStep]
) -> tuple[InvarianceLevel, ...]:
    """Each step with what it costs against the one before; `ordered_fits` of ordered answers."""

    def difference(after: int, before: int) -> ModelDifference | None:
        if before < 0:
            return None
        if ordered_fits:
            return _compare_ordered(ordered_fits[after], ordered_fits[before])
        return compare_models(fits[after], fits[before])

    names = [step_name(step.level, step.freed) for step in steps]
    return tuple(
        InvarianceLevel(
            step.level,
            fits[k],
            difference(k, step.before),
            step.freed,
            names[step.before] if step.before >= 0 else "",
        )
        for k, step in enumerate(steps)
    )


def _rows_of_items(
    scores: Iterable[Floats], items: Sequence[str], kept: Sequence[str], *, complete: bool
) -> list[Floats]:
    """The columns of the items that are analyzed, of complete rows or of all."""
    places = [items.index(item) for item in kept]
    rows = [np.asarray(own)[:, places] for own in scores]
    return [own[np.isfinite(own).all(axis=1)] for own in rows] if complete else rows


def _problems_of_ladder(ladder: Sequence[InvarianceLevel]) -> tuple[Note, ...]:
    """The problems of all steps, each with the first step that has it."""
    first_level: dict[str, str] = {}
    keying: list[str] = []
    for step in ladder:
        # items that load against the others do so at every level, and are named once
        contrary = contrary_notes(step.fit.standardized)
        keying = keying or contrary
        for problem in (*step.fit.problems, *(step.difference.problems if step.difference else ())):
            if problem not in contrary or problem in keying:
                first_level.setdefault(problem, step.name)
    return tuple(
        Note(problem, kind=kind_of(problem), detail=name) for problem, name in first_level.items()
    )
