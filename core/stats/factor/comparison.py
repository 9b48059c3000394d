"""Comparison of nested factor models, and measurement invariance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from core.errors import NotEnoughData
from core.stats.factor.cfa import Estimator, fit_cfa
from core.stats.factor.fit_indices import p_value
from core.stats.factor.likelihood import LikelihoodRule
from core.stats.factor.model import ParsedModel, Scaling
from core.stats.factor.result import CfaResult, IndexVersion, contrary_notes
from core.stats.inputs import Floats

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


def _contradictions(restricted: CfaResult, freer: CfaResult) -> list[str]:
    """Why the two models cannot be compared by a chi-square difference."""
    out = []
    if not (restricted.converged and freer.converged):
        out.append("At least one of the models could not be fitted, so they cannot be compared.")
    if set(restricted.items) != set(freer.items) or restricted.n != freer.n:
        out.append("The models were fitted to different items or rows, so they cannot be compared.")
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

Level = Literal["configural", "metric", "scalar", "strict"]

_EQUAL: dict[Level, frozenset[str]] = {
    "configural": frozenset(),
    "metric": frozenset({"loadings"}),
    "scalar": frozenset({"loadings", "intercepts"}),
    "strict": frozenset({"loadings", "intercepts", "residuals"}),
}
"""What each level holds equal across groups."""


@dataclass(frozen=True, eq=False)
class InvarianceLevel:
    """One level of invariance.

    Parameters
    ----------
    level : its name. fit : the multi-group fit; its `release_indices` say what stands against it.
    difference : from the step before; None for the first.
    """

    level: Level
    fit: CfaResult
    difference: ModelDifference | None


@dataclass(frozen=True, eq=False)
class Invariance:
    """All levels of invariance.

    Parameters
    ----------
    levels : from the freest to the most restricted.
    problems : of all levels, each named.
    """

    levels: tuple[InvarianceLevel, ...]
    problems: tuple[str, ...]


def invariance(
    scores: Mapping[str, Floats],
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    levels: Sequence[Level] = ("configural", "metric", "scalar"),
    estimator: Estimator = "MLR",
    missing: LikelihoodRule = "listwise",
    scaling: Scaling = "marker",
    partial: frozenset[tuple[str, str, str]] = frozenset(),
    ci_level: float = 0.95,
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
        Steps, from the freest.
    estimator, missing, scaling, ci_level
        As for `fit_cfa`. With "marker", the first item of each factor is taken to be invariant.
    partial : set of (left, op, right)
        Parameters each group keeps for itself, such as ("F", "=~", "x2") or ("x2", "~1", "").

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
    lavaan results for the two schools of Holzinger & Swineford (1939).

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
    fits = [
        fit_cfa(
            list(scores.values()),
            items,
            model,
            estimator=estimator,
            missing=missing,
            scaling=scaling,
            equal=_EQUAL[level],
            partial=partial,
            group_names=list(scores),
            ci_level=ci_level,
        )
        for level in levels
    ]
    steps = [None, *(compare_models(after, before) for before, after in pairwise(fits))]
    ladder = tuple(
        InvarianceLevel(level, fit, step)
        for level, fit, step in zip(levels, fits, steps, strict=True)
    )
    first_level: dict[str, Level] = {}
    keying: list[str] = []
    for step in ladder:
        # items that load against the others do so at every level, and are named once
        contrary = contrary_notes(step.fit.standardized)
        keying = keying or contrary
        for problem in (*step.fit.problems, *(step.difference.problems if step.difference else ())):
            if problem not in contrary or problem in keying:
                first_level.setdefault(problem, step.level)
    problems = tuple(f"{level}: {problem}" for problem, level in first_level.items())
    return Invariance(ladder, problems)
