"""What two levels of a factor have to do with each other: the rows of `score_correlations`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from core.analysis.comparisons.paired_scores import PairedScores
from core.analysis.comparisons.scores import level_name
from core.domain.results import Column, ResultTable
from core.psychometrics.comparisons.correlation import Alternative, Correlation, Kind, correlation
from core.psychometrics.comparisons.group_tests import MeanTest, paired_t
from core.psychometrics.comparisons.mean_comparison import summary
from core.psychometrics.comparisons.multiple_testing import Adjustment, adjusted_p
from core.psychometrics.consistency.intraclass import intraclass
from core.psychometrics.consistency.stability import retest_agreement
from core.psychometrics.resampling import Bootstrap
from core.psychometrics.wording import listed

Which = Literal["all", "first"]
_KINDS: tuple[Kind, ...] = ("pearson", "spearman")
MOST_LEVELS = 12
"""With more levels, each is compared with the first only, and a note says so."""
_IDENTICAL = (
    "The two scores are identical in every pair, as with a model at temperature 0: agreement is by "
    "construction and says nothing about reliability."
)


@dataclass(eq=False)
class Compared:
    """Rows of the tables, notes, and which administrations were used on which scale."""

    correlations: list[tuple[Any, ...]] = field(default_factory=list)
    differences: list[tuple[Any, ...]] = field(default_factory=list)
    repetitions: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    used: dict[str, set[int]] = field(default_factory=dict)
    any_defined: bool = False


def compare(
    compared: Compared,
    scale: PairedScores,
    which: Which,
    level: float,
    alternative: Alternative = "two-sided",
    bootstrap: Bootstrap | None = None,
) -> None:
    """Add the pairs of levels of one scale to `compared`."""
    levels = list(scale.scores.columns)
    pairs = level_pairs(levels, which)
    if not pairs:
        compared.notes.append(f"{scale.where}: there is one level only, so nothing to pair.")
    if which == "all" and len(pairs) < math.comb(len(levels), 2):
        compared.notes.append(
            f"{scale.where}: of {len(levels)} levels, each is compared with the first only "
            f"(every pair is taken up to {MOST_LEVELS})."
        )
    undefined: dict[str, list[str]] = {}
    for first, second in pairs:
        both = scale.scores[[first, second]].dropna(how="all")
        x, y = (both[one].to_numpy(dtype=np.float64) for one in (first, second))
        found = [correlation(x, y, kind=kind, level=level, bootstrap=bootstrap) for kind in _KINDS]
        shift = paired_t(x, y, alternative=alternative, level=level)
        paired = np.isfinite(x) & np.isfinite(y)
        lead = (*scale.group, scale.scale, level_name(first), level_name(second))
        same = (_IDENTICAL,) if paired.any() and (x == y)[paired].all() else ()
        compared.correlations += [_correlation_row(lead, one, same) for one in found]
        compared.differences.append(_difference_row(lead, x[paired], y[paired], shift))
        problems = [text for one in found for text in one.problems]
        for problem in dict.fromkeys((*problems, *shift.problems, *same)):
            if problem.startswith("Undefined") or problem == _IDENTICAL:
                undefined.setdefault(problem, []).append(
                    f"{level_name(first)} with {level_name(second)}"
                )
        if math.isfinite(found[0].r) or math.isfinite(shift.difference):
            compared.any_defined = True
            ids = scale.administrations.loc[both.index[paired], [first, second]]
            used = compared.used.setdefault(scale.scale, set())
            used.update(one for cell in ids.to_numpy().ravel() for one in cell)
    compared.notes += [
        f"{scale.where}, {listed(where)}: {problem}" for problem, where in undefined.items()
    ]


def compare_repetitions(compared: Compared, scale: PairedScores, level: float) -> None:
    """Add the intraclass correlations of all repetitions of one scale, and their mean r."""
    if scale.scores.shape[1] < 2:
        return
    table = scale.scores.to_numpy(dtype=np.float64)
    found, retest = intraclass(table, level=level), retest_agreement(table, level=level)
    lead, remark = (*scale.group, scale.scale), " ".join(found.problems)
    counts = (found.n, found.k, found.n_left_out)
    compared.repetitions += [
        (*lead, one.form, one.value, one.low, one.high, one.p, *counts, remark)
        for one in found.forms
    ]
    complete = np.isfinite(table).all(axis=1)
    nan = math.nan
    compared.repetitions.append(
        (*lead, "mean r of all pairs", retest.mean_r, nan, nan, nan, int(complete.sum()),
         table.shape[1], int((~complete).sum()), " ".join(retest.problems))
    )  # fmt: skip
    compared.notes += [
        f"{scale.where}, intraclass correlations: {problem}" for problem in found.problems
    ]


def table(
    name: str,
    title: str,
    rows: Sequence[tuple[Any, ...]],
    columns: tuple[Column, ...],
    family: Sequence[str] = (),
    adjust: Adjustment | None = None,
) -> ResultTable:
    """A result table; with `adjust`, its p adjusted within each family of rows."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    if adjust and len(frame):
        families = frame.groupby(list(family), sort=False).ngroup() if family else 0
        adjusted = frame["p"].groupby(np.broadcast_to(families, len(frame)))
        frame["p_adjusted"] = adjusted.transform(
            lambda p: adjusted_p(p.to_numpy(dtype=np.float64), adjust)
        )
    return ResultTable(name, title, frame, columns)


def level_pairs(levels: Sequence[Any], which: Which = "all") -> list[tuple[Any, Any]]:
    """The pairs of levels to compare."""
    if which == "first" or len(levels) > MOST_LEVELS:
        return [(levels[0], other) for other in levels[1:]]
    return list(combinations(levels, 2))


def _correlation_row(
    lead: tuple[Any, ...], one: Correlation, same: tuple[str, ...]
) -> tuple[Any, ...]:
    return (
        *lead, one.kind, one.r, one.low, one.high, one.bootstrap_low, one.bootstrap_high, one.p,
        math.nan, one.stars, one.n, one.n_left_out, " ".join(one.problems + same),
    )  # fmt: skip


def _difference_row(lead: tuple[Any, ...], x: Any, y: Any, shift: MeanTest) -> tuple[Any, ...]:
    return (
        *lead, summary(x).mean, summary(y).mean, shift.difference, shift.low, shift.high,
        shift.t, shift.df, shift.p, math.nan, shift.stars, shift.effect, shift.effect_low,
        shift.effect_high, len(x),
        " ".join(shift.problems),
    )  # fmt: skip
