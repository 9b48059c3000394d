"""The statistics whose precision can be asked for, and their rows in the results of analyses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.analysis.kit.factor_models.fit import reported_fit
from core.analysis.kit.registry import Analysis
from core.analysis.kit.rows import average_over
from core.analysis.kit.sentences import TableRow, table_of
from core.domain.factors import grouping_title
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.domain.study import FACTORS
from core.errors import NotEnoughData
from core.workflow.precision.plans import RespondentPlan, SimulatedStudy
from core.workflow.statistics import analyses, roles
from core.workflow.workspace import Workspace

Interval = tuple[float, float, float]
"""Value, lower and upper end."""


@dataclass(frozen=True)
class Statistic:
    """A number with an interval that an analysis reports, in one or several rows of a table.

    `target` is the half-width on offer. `parts` are the columns that tell the rows of a group
    apart. `factor` is what the statistic compares levels of, empty for nothing.
    """

    name: str
    title: str
    target: float
    analysis: str
    table: str
    read: Callable[[TableRow], Interval]
    parts: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    factor: str = ""
    level: str = "95%"


def _columns(value: str, low: str, high: str) -> Callable[[TableRow], Interval]:
    """Reads three columns of a row."""
    return lambda row: (row[value], row[low], row[high])


def _rmsea(row: TableRow) -> Interval:
    """The RMSEA that the page reports, in the version of its estimator."""
    fit = reported_fit(row)
    return (fit.rmsea, fit.rmsea_low, fit.rmsea_high) if fit else (math.nan, math.nan, math.nan)


_CORRELATED = {
    "language": "languages",
    "form": "forms",
    "label_order": "orders of options",
    "template": "prompt templates",
    "format": "answer formats",
    "repetition": "repetitions",
}
_PEARSON = _columns("r", "ci_low", "ci_high")

STATISTICS: Mapping[str, Statistic] = {
    one.name: one
    for one in (
        Statistic(
            "alpha",
            "Cronbach's α",
            0.05,
            "internal_consistency",
            "alpha",
            _columns("alpha", "ci_low", "ci_high"),
            ("subscale",),
        ),
        *(
            Statistic(
                f"r_{factor}",
                f"Correlation between {several}",
                0.05,
                "score_correlations",
                "correlations",
                _PEARSON,
                ("scale", "first", "second"),
                {"factor": factor},
                {"kind": "pearson"},
                factor,
            )
            for factor, several in _CORRELATED.items()
        ),
        Statistic(
            "rmsea", "RMSEA of the bank's factor model", 0.02, "cfa", "fit", _rmsea, level="90%"
        ),
        Statistic(
            "kappa",
            "Kappa of the original with other wordings",
            0.1,
            "form_agreement",
            "kappas",
            _columns("kappa", "ci_low", "ci_high"),
            ("wording",),
        ),
        Statistic(
            "share",
            "Share of positive answers",
            0.05,
            "bias",
            "bias",
            _columns("share", "ci_low", "ci_high"),
        ),
        Statistic(
            "b", "Mean opinion b", 0.1, "opinions", "groups", _columns("b", "b_low", "b_high")
        ),
        Statistic(
            "giving_way",
            "Giving way (of 2)",
            0.1,
            "bias_shift",
            "groups",
            _columns("corrected", "ci_low", "ci_high"),
            factor="phase",
        ),
    )
}
"""Every statistic by its name on the command line."""


def obstacle(statistic: Statistic, plan: RespondentPlan) -> str:
    """Why the design does not allow a statistic, as a sentence; empty where it may."""
    if statistic.factor == "phase":
        return "" if plan.second_phase else "The design has no second phase."
    if not statistic.factor:
        return ""
    levels = plan.trials[statistic.factor].nunique()
    if statistic.factor == plan.axis == "repetition" and levels > 1:
        return (
            "Repetitions are what is varied here. Choose contexts for that, if the design has "
            "several."
        )
    words = grouping_title(statistic.factor).lower()
    return "" if levels > 1 else f"The design has one {words} only, and this compares several."


@dataclass(frozen=True)
class MeasuredStatistic:
    """One value of a statistic with its interval: the group, and the scale or pair, as words."""

    group: str
    scale: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PreparedStatistic:
    """A statistic with the groups and the averages that its analysis begins with in a study."""

    statistic: Statistic
    analysis: Analysis
    options: Mapping[str, Any]
    by: tuple[str, ...]
    over: tuple[str, ...]

    def measure(self, study: SimulatedStudy, number: int) -> tuple[MeasuredStatistic, ...]:
        """Every value in a study of so many contexts or repetitions.

        Raises
        ------
        UserError
            The analysis cannot be computed.
        """
        if self.analysis.needs is ITEM_SCORES:
            frame = average_over(study.item_scores(number), self.over)
        else:
            asked = {*self.analysis.keeps, *self.by, *map(str, self.options.values())}
            frame = study.option_counts(
                number, [name for name in FACTORS if name in asked], self.options.get("seed", 0)
            )
        result = self.analysis.run(frame, **self.options, by=self.by)
        return tuple(self._rows(result))

    def _rows(self, result: AnalysisResult) -> Iterator[MeasuredStatistic]:
        statistic = self.statistic
        shown = [name for name in self.by if name != "respondent"]
        frame = table_of(result, statistic.table).frame
        for row in frame.to_dict("records"):
            if any(row[name] != wanted for name, wanted in statistic.where.items()):
                continue
            parts = [str(row[name]) for name in statistic.parts]
            pair = " with ".join(parts[1:]) if len(parts) > 2 else ""
            yield MeasuredStatistic(
                ", ".join(str(row[name]) for name in shown),
                ": ".join(filter(None, [parts[0] or "all items" if parts else "", pair])),
                *statistic.read({str(name): cell for name, cell in row.items()}),
            )


def prepare(workspace: Workspace, name: str, plan: RespondentPlan) -> PreparedStatistic:
    """A statistic as its analysis computes it by default for this study.

    Intervals of shares are over what the study has more or fewer of.

    Raises
    ------
    NotEnoughData
        There is no such statistic, or the design does not allow it.
    """
    statistic = STATISTICS.get(name)
    if statistic is None:
        raise NotEnoughData(
            f"There is no statistic '{name}' here.", f"Choose among: {', '.join(STATISTICS)}."
        )
    reason = obstacle(statistic, plan)
    if reason:
        raise NotEnoughData(reason, "Change the design, or leave this statistic out.")
    analysis = analyses.by_name(statistic.analysis)
    options: dict[str, Any] = dict(statistic.options)
    if name == "share":
        options["resample"] = plan.axis
    where = {"respondent": [plan.respondent]}
    over = roles.default_average(workspace, analysis, [plan.study], options, where)
    by = roles.default_groups(workspace, analysis, [plan.study], options, where, over)
    by = tuple(name for name in by if name not in (plan.axis, "phase"))
    several = plan.trials["format"].nunique() > 1 and "format" not in analysis.keeps
    if several and statistic.factor != "format" and "format" not in by:
        by = (*by, "format")
    return PreparedStatistic(statistic, analysis, options, by, over)
