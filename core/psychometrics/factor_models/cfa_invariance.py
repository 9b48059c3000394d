"""Whether a measurement model means the same in several languages, models or forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from core.errors import NotEnoughData
from core.psychometrics.factor_models.cfa_compare import ModelDifference, compare_models
from core.psychometrics.factor_models.cfa_data import Missing
from core.psychometrics.factor_models.cfa_fit import Estimator, fit_cfa
from core.psychometrics.factor_models.cfa_model import ParsedModel, Scaling
from core.psychometrics.factor_models.cfa_result import CfaResult

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
    """One step of the ladder.

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
    """The ladder of invariance.

    Parameters
    ----------
    levels : from the freest to the most restricted.
    problems : of all levels, each named.
    """

    levels: tuple[InvarianceLevel, ...]
    problems: tuple[str, ...]


def invariance(
    scores: Mapping[str, np.ndarray],
    items: Sequence[str],
    model: str | ParsedModel,
    *,
    levels: Sequence[Level] = ("configural", "metric", "scalar"),
    estimator: Estimator = "MLR",
    missing: Missing = "listwise",
    scaling: Scaling = "marker",
    partial: frozenset[tuple[str, str, str]] = frozenset(),
    ci_level: float = 0.95,
) -> Invariance:
    """The same model in all groups, with more and more held equal, and what each step costs.

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
        An item that cannot be analysed in one group is left out of all.

    Raises
    ------
    NotEnoughData, ModelTextError
        As for `fit_cfa`, and where there is one group only.

    Notes
    -----
    Meredith (1993, doi:10.1007/BF02294825). Falls of CFI of .01 or rises of RMSEA of .015 are the
    usual signs against a step (Chen 2007, doi:10.1080/10705510701301834). Checked against published
    lavaan results for the two schools of Holzinger & Swineford (1939).
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
    return Invariance(ladder, tuple(_problems(ladder)))


def _problems(ladder: Sequence[InvarianceLevel]) -> list[str]:
    """Problems of all levels, each with the name of the first level that has it."""
    out: dict[str, Level] = {}
    for step in ladder:
        for problem in (*step.fit.problems, *(step.difference.problems if step.difference else ())):
            out.setdefault(problem, step.level)
    return [f"{level}: {problem}" for problem, level in out.items()]
