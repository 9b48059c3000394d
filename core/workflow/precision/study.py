"""The precision of a planned study: half-widths of intervals, and the numbers that targets need."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from core import progress
from core.analysis.kit.sentences import GroupAnswer, Light, share_text
from core.domain import tables
from core.domain.numbers import count_text, judged_decimals, number_text, percent_text
from core.domain.results import AnalysisResult, ResultTable
from core.domain.study import SimulationSettings
from core.errors import NotEnoughData, UserError
from core.stats.distributions import wilson_interval
from core.stats.precision import RequiredNumber, fit_width_law, required_number
from core.workflow import background, saved_inputs
from core.workflow.background import Computation
from core.workflow.precision.plans import AXES, Axis, RespondentPlan, load_plan, simulate
from core.workflow.precision.statistics import (
    STATISTICS,
    MeasuredStatistic,
    PreparedStatistic,
    Statistic,
    prepare,
)
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace

DEFAULT_TRUTH = SimulationSettings(loading=0.5, noise=0.1)
"""Loadings and noise of many scales of models: lower and higher than those of good human scales."""
REPLICATIONS = (2, 500)
"""Fewest and most replications."""
MOST_TRIALS = 200_000
"""Trials of the largest simulated study; what needs more follows from the law of half-widths."""
_SHARES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # of the plan
_BEYOND = (1.5, 2.0)
_FEWEST = 4  # contexts or repetitions
_SENTENCES = 3  # of a reason
_FURTHER = 2  # numbers beyond these, where a target needs more

ROW = ["statistic", "group", "scale"]


@dataclass(frozen=True)
class PrecisionRequest:
    """What to simulate and what to look at.

    `targets` are the half-widths wanted, by the names of STATISTICS. `assurance` is the share of
    replications that are to reach the target at the recommended number.
    """

    study: str
    targets: Mapping[str, float]
    truth: SimulationSettings = DEFAULT_TRUTH
    respondent: str = ""
    axis: Axis | Literal[""] = ""
    replications: int = 20
    assurance: float = 0.8
    numbers: tuple[int, ...] = field(default=())


def precision(workspace: Workspace, request: PrecisionRequest) -> AnalysisResult:
    """The half-width of each statistic's interval, at several numbers of contexts or repetitions.

    The frozen plan is answered by simulated people of the truth of the request, again and again
    with other people, and analyzed by the analyses of the pages of results.

    Returns
    -------
    AnalysisResult
        `precision`, a row per statistic, group and scale: value, half-width and share of
        replications within the target at the planned number; the recommended number, and the share
        of further replications within the target there. `curves`, a row per statistic, group,
        scale and number simulated.

    Raises
    ------
    NotEnoughData
        The request names no statistic or an unknown one, or none can be computed.
    DesignError
        The study has no plan to simulate, or a setting describes no respondent.
    """
    _check(request)
    plan = load_plan(workspace, request.study, respondent=request.respondent, axis=request.axis)
    prepared, cautions = _prepared(workspace, request, plan)
    numbers = request.numbers or _numbers(plan)
    at = {one.statistic.name: numbers for one in prepared}
    steps = _Steps(request.replications * (len(numbers) + _FURTHER + 1) * len(prepared))
    first = range(request.replications)
    measured, undefined = _measure(plan, request, prepared, at, first, steps)
    if measured.empty:
        raise NotEnoughData(
            f"No statistic can be computed. {' '.join(undefined.values())}",
            "Choose other statistics, or change the design.",
        )
    curves = _curves(measured, request)
    further = _further_numbers(_rows(curves, request, plan), plan)
    if further:
        more, _ = _measure(plan, request, prepared, further, first, steps)
        curves = _curves(pd.concat([measured, more], ignore_index=True), request)
    rows = _rows(curves, request, plan)
    later = range(request.replications, 2 * request.replications)
    steps.remaining(request.replications * len(prepared))
    checked = _check_numbers(plan, request, prepared, rows, later, steps)
    frame = rows.merge(checked, on=ROW, how="left")
    cautions += [
        f"{STATISTICS[name].title}: undefined in some replications. {reason}"
        for name, reason in undefined.items()
    ]
    return AnalysisResult(
        tables=_tables(frame, curves, plan),
        unit=f"one {AXES[plan.axis][0]} of a simulated study",
        n_used=plan.trials_of(plan.planned),
        n_missing=0,
        method=_method(plan, request, sorted(set(curves["number"].tolist()))),
        cautions=(_HONESTY, *cautions),
        notes=_notes(plan, request),
    )


_HONESTY = (
    "Simulated people are no models. These numbers hold if the truth is as assumed; try "
    "others, such as lower loadings and more noise."
)


def _check(request: PrecisionRequest) -> None:
    """Refuse a request that asks for nothing, or for what cannot be."""
    if not request.targets:
        raise NotEnoughData("No statistic is chosen.", "Choose one with its target.")
    for name, target in request.targets.items():
        if not 0 < target < math.inf:
            raise NotEnoughData(
                f"The target of '{name}' is {target}.", "Give a number above 0, such as 0.05."
            )
    low, high = REPLICATIONS
    if not low <= request.replications <= high:
        raise NotEnoughData(
            f"{request.replications} replications are asked for.", f"Give {low} to {high}."
        )
    if not 0 < request.assurance < 1:
        raise NotEnoughData(
            f"The share of replications is {request.assurance}.", "Give one between 0 and 1."
        )


def _prepared(
    workspace: Workspace, request: PrecisionRequest, plan: RespondentPlan
) -> tuple[list[PreparedStatistic], list[str]]:
    """The statistics that the design allows, and why it does not allow the others."""
    prepared, cautions = [], []
    for name in request.targets:
        try:
            prepared.append(prepare(workspace, name, plan))
        except NotEnoughData as error:
            if name not in STATISTICS:
                raise
            cautions.append(f"{STATISTICS[name].title} is undefined. {error.problem}")
    if not prepared:
        raise NotEnoughData(" ".join(cautions), "Choose other statistics, or change the design.")
    return prepared, cautions


def _numbers(plan: RespondentPlan) -> tuple[int, ...]:
    """The numbers of contexts or repetitions to simulate: up to the plan, and some beyond it."""
    wanted = [math.ceil(share * plan.planned) for share in (*_SHARES, *_BEYOND)]
    wanted = [number for number in wanted if number >= min(_FEWEST, plan.planned)]
    possible = [number for number in wanted if plan.trials_of(number) <= MOST_TRIALS]
    return tuple(sorted(set(possible or wanted[:1])))


def _further_numbers(rows: pd.DataFrame, plan: RespondentPlan) -> dict[str, tuple[int, ...]]:
    """Further numbers to simulate, where the law of half-widths says what a target needs.

    They are the largest number that the law gives for a row of the statistic, as far as it can be
    simulated, and one halfway between it and the largest simulated one.
    """
    largest = MOST_TRIALS * plan.planned // plan.trials_of(plan.planned)
    reached = max(_numbers(plan))
    further = {}
    for name, own in rows[rows["needed_basis"] == "law"].groupby("statistic", sort=False):
        top = min(int(own["needed"].max()), largest)
        if top > reached:
            between = math.ceil(math.sqrt(top * reached))
            further[str(name)] = tuple(sorted({between, top} - {reached}))
    return further


class _Steps:
    """Progress over all analyses of a request."""

    def __init__(self, total: int) -> None:
        self._done, self._total = 0, total

    def remaining(self, steps: int) -> None:
        """Only so many steps are left."""
        self._done = self._total - steps

    def next(self) -> None:
        self._done += 1
        self.report()

    def report(self, *_: Any) -> None:
        """Tell the watcher; raises `Cancelled` where it was given up."""
        progress.step(min(self._done, self._total), self._total, "analyses")


def _measure(
    plan: RespondentPlan,
    request: PrecisionRequest,
    prepared: Iterable[PreparedStatistic],
    at: Mapping[str, Sequence[int]],
    replications: Iterable[int],
    steps: _Steps,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Every value in every replication, at the numbers `at` of each statistic.

    Also why a statistic was undefined somewhere.
    """
    rows: list[tuple[Any, ...]] = []
    undefined: dict[str, str] = {}
    pairs = [(one, number) for one in prepared for number in at.get(one.statistic.name, ())]
    numbers = sorted({number for _, number in pairs})
    for replication in replications:
        steps.report()
        study = simulate(plan, max(numbers), request.truth, replication)
        for number in numbers:
            if plan.second_phase and plan.axis == "repetition":
                study = simulate(plan, number, request.truth, replication)
            for one in (one for one, own in pairs if own == number):
                name = one.statistic.name
                try:
                    values = _quietly(one, study, number)
                except UserError as error:
                    where = count_text(number, AXES[plan.axis][0])
                    undefined.setdefault(name, f"{where}: {_first_sentences(error.problem)}")
                    values = ()
                rows += [
                    (name, own.group, own.scale, number, replication, own.value, own.low, own.high)
                    for own in values
                ]
                steps.next()
    return pd.DataFrame(rows, columns=[*ROW, "number", "replication", *_VALUES]), undefined


_VALUES = ["value", "low", "high"]


def _first_sentences(text: str) -> str:
    """The first sentences of a reason; an analysis may name every group."""
    parts = text.split(". ")
    return text if len(parts) <= _SENTENCES else ". ".join(parts[:_SENTENCES]) + "."


def _quietly(one: PreparedStatistic, study: Any, number: int) -> tuple[MeasuredStatistic, ...]:
    """The values, without the progress of the analysis itself."""
    with progress.watch(lambda *_: None):
        return one.measure(study, number)


def _curves(measured: pd.DataFrame, request: PrecisionRequest) -> pd.DataFrame:
    """Half-widths over replications, a row per statistic, group, scale and number.

    A number at which a row is never defined has a row of no replications, if another row of the
    statistic is defined there.
    """
    n = request.replications
    rows = []
    numbers = measured.groupby("statistic", sort=False)["number"].unique()
    for key, own in measured.groupby(ROW, sort=False):
        target = request.targets[str(key[0])]
        for number in sorted(numbers[str(key[0])].tolist()):
            here = own[own["number"] == number]
            half = np.full(n, np.inf)  # a replication without an interval reaches no target
            widths = (here["high"] - here["low"]).to_numpy() / 2
            half[: len(widths)] = np.where(np.isfinite(widths), widths, np.inf)
            defined = half[np.isfinite(half)]
            reached = int((half <= target).sum())
            low, high = wilson_interval(reached, n)
            rows.append(
                (
                    *key,
                    number,
                    target,
                    _mean(here["value"].dropna()),
                    _sd(here["value"].dropna()),
                    _mean(defined),
                    _sd(defined) / math.sqrt(max(len(defined), 1)),
                    _quantile(half, request.assurance),
                    reached / n,
                    low,
                    high,
                    len(defined),
                )
            )
    return pd.DataFrame(rows, columns=[column.name for column in _CURVES])


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _sd(values: Any) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def _quantile(half: Any, share: float) -> float:
    """The smallest half-width that this share of replications does not exceed."""
    return float(np.quantile(half, share, method="inverted_cdf"))


def _rows(curves: pd.DataFrame, request: PrecisionRequest, plan: RespondentPlan) -> pd.DataFrame:
    """What the planned number reaches, and the number that the target needs."""
    rows = []
    for key, own in curves.groupby(ROW, sort=False):
        numbers, target = own["number"].tolist(), float(own["target"].iloc[0])
        needed = required_number(numbers, own["assured"].tolist(), target)
        if needed.basis == "undefined":  # too few replications have an interval
            needed = RequiredNumber(math.nan, "undefined")
        typical = required_number(numbers, own["half_width"].tolist(), target)
        planned = own[own["number"] == plan.planned]
        if planned.empty:
            law = fit_width_law(numbers, own["half_width"].tolist())
            half = law.half_width(plan.planned) if law else math.nan
            at_plan = (math.nan, math.nan, half, math.nan, math.nan, math.nan, math.nan, "law")
        else:
            first = planned.iloc[0]
            names = ("value", "sd", "half_width", "error", "share", "share_low", "share_high")
            at_plan = (*(first[name] for name in names), "simulated")
        rows.append(
            (
                *key,
                AXES[plan.axis][1],
                plan.planned,
                target,
                *at_plan,
                typical.number,
                needed.number,
                needed.basis,
                _remark(needed, request, plan),
            )
        )
    return pd.DataFrame(rows, columns=[column.name for column in _ROW_COLUMNS])


def _remark(needed: RequiredNumber, request: PrecisionRequest, plan: RespondentPlan) -> str:
    """Where the recommended number comes from, as a sentence."""
    several = AXES[plan.axis][1]
    if needed.basis == "law":
        return f"Extrapolated beyond the simulated numbers of {several} by the law of half-widths."
    if needed.basis == "out of reach":
        return f"More {several} alone do not reach the target: the interval stays wider."
    if needed.basis == "undefined":
        return "Undefined: too few replications have an interval."
    if needed.at_most:
        return f"The smallest simulated number of {several} reaches the target already."
    return ""


def _check_numbers(
    plan: RespondentPlan,
    request: PrecisionRequest,
    prepared: Sequence[PreparedStatistic],
    rows: pd.DataFrame,
    replications: range,
    steps: _Steps,
) -> pd.DataFrame:
    """The share of further replications within the target, at the number recommended for a row.

    Of each statistic, the largest number among its rows that can be simulated is taken.
    """
    parts = []
    for one in prepared:
        own = rows[(rows["statistic"] == one.statistic.name) & rows["needed"].notna()]
        possible = own[[plan.trials_of(int(n)) <= MOST_TRIALS for n in own["needed"]]]
        if possible.empty:
            continue
        number = int(possible["needed"].max())
        at = {one.statistic.name: [number]}
        measured, _ = _measure(plan, request, [one], at, replications, steps)
        if not measured.empty:
            part = _curves(measured, request)
            names = {
                "number": "checked",
                "share": "checked_share",
                "share_low": "checked_low",
                "share_high": "checked_high",
            }
            parts.append(part[[*ROW, *names]].rename(columns=names))
    if not parts:
        return pd.DataFrame(columns=[*ROW, *(c.name for c in _CHECKED)])
    return pd.concat(parts, ignore_index=True)


# The tables.

_NUMBER = "Number of contexts or repetitions, whichever is varied."
_HALF = "Half of upper end minus lower end of the interval; mean over replications."
_WITHIN = "Share of replications whose half-width is at most the target; the power of the design."
_WILSON = "95% interval for the few replications; Wilson (1927)."
_LEAD = (
    tables.key("statistic", "Statistic"),
    tables.key("group", "Group", "Levels with results of their own, empty for one group."),
    tables.key("scale", "Scale or pair"),
)
_CURVES = (
    *_LEAD,
    tables.count("number", "Number", _NUMBER),
    tables.number("target", "Target ±", "compared", "The half-width wanted."),
    tables.number("value", "Value", "compared", "Mean over replications."),
    tables.number(
        "sd", "SD of values", "compared", "Over replications: what the interval ought to reflect."
    ),
    tables.number("half_width", "Half-width ±", "compared", _HALF),
    tables.number(
        "error",
        "Its error",
        "compared",
        "Monte Carlo standard error of the mean half-width: SD / √replications.",
    ),
    tables.number(
        "assured",
        "Reached by the share wanted ±",
        "compared",
        "The half-width that the wanted share of replications does not exceed.",
    ),
    *tables.estimate(
        "share",
        "Within target",
        "proportion",
        _WITHIN,
        _WILSON,
        ends_title="Within 95%",
        ends_name="share",
    ),
    tables.count("defined", "Replications", "Replications with an interval."),
)
_ROW_COLUMNS = (
    *_LEAD,
    tables.key("varied", "Varied", "What the study has more or fewer of."),
    tables.count("planned", "Planned", _NUMBER),
    tables.number("target", "Target ±", "compared", "The half-width wanted."),
    tables.number("value", "Value", "compared", "Mean over replications, at the planned number."),
    tables.number(
        "sd", "SD of values", "compared", "Over replications: what the interval ought to reflect."
    ),
    tables.number("half_width", "Half-width ±", "compared", _HALF),
    tables.number(
        "error",
        "Its error",
        "compared",
        "Monte Carlo standard error of the mean half-width: SD / √replications.",
    ),
    *tables.estimate(
        "share",
        "Within target",
        "proportion",
        _WITHIN,
        _WILSON,
        ends_title="Within 95%",
        ends_name="share",
    ),
    tables.text("basis", "Planned number is", "simulated, or extrapolated by the law."),
    tables.count(
        "typical",
        "Needed on average",
        "Smallest number whose mean half-width is at most the target.",
    ),
    tables.count(
        "needed",
        "Recommended",
        "Smallest number at which the wanted share of replications is within the target.",
    ),
    tables.text(
        "needed_basis",
        "Recommendation is",
        "simulated: between simulated numbers. law: extrapolated beyond them by "
        "half-width² = floor + slope / number.",
    ),
    tables.remark(),
)
_CHECKED = (
    tables.count(
        "checked",
        "Checked at",
        "The largest recommended number of the statistic, simulated with further people.",
    ),
    *tables.estimate(
        "checked_share",
        "Within target there",
        "proportion",
        _WITHIN,
        _WILSON,
        ends_title="There 95%",
        ends_name="checked",
    ),
)


_FIRST = (
    "statistic", "group", "scale", "varied", "planned", "target", "half_width", "error", "share",
    "share_low", "share_high", "needed", "needed_basis", "checked", "checked_share", "checked_low",
    "checked_high", "typical", "value", "sd", "basis", "remark",
)  # fmt: skip
_COLUMNS = tuple(sorted((*_ROW_COLUMNS, *_CHECKED), key=lambda column: _FIRST.index(column.name)))


def _tables(
    frame: pd.DataFrame, curves: pd.DataFrame, plan: RespondentPlan
) -> tuple[ResultTable, ...]:
    frame = frame[[column.name for column in _COLUMNS]]
    return (
        ResultTable("precision", "Precision of the planned study", frame, _COLUMNS),
        ResultTable("curves", f"Half-width by number of {AXES[plan.axis][1]}", curves, _CURVES),
    )


def _method(plan: RespondentPlan, request: PrecisionRequest, numbers: Sequence[int]) -> str:
    several = AXES[plan.axis][1]
    truth = ", ".join(
        f"{name.replace('_', ' ')} {value:g}"
        for name, value in asdict(request.truth).items()
        if value or name == "loading"
    )
    return (
        f"The frozen plan of {plan.respondent} is answered by simulated people ({truth}) in "
        f"{request.replications} replications of {', '.join(f'{n:,}' for n in numbers)} {several} "
        f"({plan.planned:,} are planned), each of other people with the same items. Analyses: "
        f"{'; '.join(_analysis_words(name) for name in request.targets)}. A number is recommended "
        f"where {request.assurance:.0%} of the replications have a half-width of at most the "
        "target."
    )


def _analysis_words(name: str) -> str:
    statistic: Statistic = STATISTICS[name]
    analysis = analyses.by_name(statistic.analysis)
    return f"{statistic.title} by {analysis.title} ({statistic.level} interval)"


def _notes(plan: RespondentPlan, request: PrecisionRequest) -> tuple[str, ...]:
    notes = [
        f"{count_text(plan.trials_of(plan.planned), 'answer')} of one respondent are simulated; "
        "each other respondent of the design reaches the same precision under the same truth.",
    ]
    if plan.axis == "repetition" or len(plan.trials["repetition"].unique()) > 1:
        stays = request.truth.stability
        who = f"by people whose traits correlate {stays:g}" if stays else "by another person"
        notes.append(
            f"Each repetition is answered {who}. Repetitions of a model at temperature 0 are "
            "copies and add nothing."
        )
    return tuple(notes)


def answers(result: AnalysisResult) -> tuple[GroupAnswer, ...]:
    """What the planned number reaches and which number the target needs, for each statistic.

    Of several groups and scales, the one that needs most speaks for the statistic. Green where the
    recommended number is planned, red where more are needed or none is enough, gray where the
    half-width is undefined.
    """
    found = []
    smallest = result.tables[1].frame.groupby("statistic")["number"].min()
    for name, own in result.tables[0].frame.groupby("statistic", sort=False):
        reach = own["needed_basis"].map({"out of reach": 2, "undefined": 1}).fillna(0)
        worst = own.assign(reach=reach).sort_values(["reach", "needed"], kind="stable").iloc[-1]
        row = worst.to_dict()
        light: Light = "grey" if row["needed_basis"] == "undefined" else "red"
        if row["needed"] <= row["planned"]:
            light = "green"
        where = ", ".join(filter(None, [row["group"], row["scale"]]))
        widest = (
            f", of {where}, which needs most" if len(own) > 1 else f", {where}" if where else ""
        )
        sentence = _sentence(row, smallest[name])
        found.append(GroupAnswer(f"{STATISTICS[str(name)].title}{widest}", sentence, light))
    return tuple(found)


VERDICT = (
    "Green: the planned number is at least the recommended one. Red: the target needs more, or "
    "more do not reach it. Gray: undefined. The table has every group and scale."
)


def _sentence(row: Mapping[Hashable, Any], smallest: int) -> str:
    """The precision of one row; `smallest` is the smallest number that was simulated."""
    planned, target = f"{row['planned']:,.0f} planned {row['varied']}", f"{row['target']:g}"
    if not math.isfinite(row["half_width"]):
        return f"Undefined at the {planned}. {row['remark']}".strip()
    value = f"{_digits(row['value'])} " if math.isfinite(row["value"]) else ""
    share = (
        f" ({percent_text(row['share'])} of the replications are within ±{target})"
        if math.isfinite(row["share"])
        else " by extrapolation"
    )
    half_width = row["half_width"]
    width = number_text(half_width, judged_decimals(half_width, [row["target"]], 3))
    parts = [f"{value}±{width} at the {planned}{share}."]
    if math.isfinite(row["needed"]):
        most = "at most " if row["needed"] == smallest else ""
        parts.append(f"±{target} needs {most}{row['needed']:,.0f} {row['varied']}.")
    if math.isfinite(row["checked"]):
        ends = (row["checked_low"], row["checked_high"])
        parts.append(
            f"At {row['checked']:,.0f}, {share_text(row['checked_share'], *ends, 0)} of further "
            "replications are within it."
        )
    elif row["remark"]:
        parts.append(row["remark"])
    return " ".join(parts)


def _digits(value: float) -> str:
    return number_text(value, 3)


# In the background; the last result of a study stays with it.


def start(workspace: Workspace, request: PrecisionRequest) -> Computation[AnalysisResult]:
    """Compute in the background and save the result; one at a time for each study."""
    key = _key(workspace, request.study)
    before = background.known(key)
    if before is not None and before.ended:
        background.forget_key(key)

    def compute() -> AnalysisResult:
        result = precision(workspace, request)
        save_result(workspace, request, result)
        return result

    return background.begin(key, "precision", compute)


def under_way(workspace: Workspace, study: str) -> Computation[AnalysisResult] | None:
    """The computation of a study that runs, or that ended without a result; None for none."""
    computation = background.known(_key(workspace, study))
    return None if computation is None or computation.state == "done" else computation


def _key(workspace: Workspace, study: str) -> str:
    return f"precision:{workspace.process}:{workspace.name}:{study}"


def save_result(workspace: Workspace, request: PrecisionRequest, result: AnalysisResult) -> None:
    """Keep a result, in place of the one before."""
    body = {
        "request": {**asdict(request), "targets": dict(request.targets)},
        "tables": {
            table.name: [[_plain(v) for v in row] for row in table.frame.to_numpy(dtype=object)]
            for table in result.tables
        },
        "columns": {table.name: list(table.frame.columns) for table in result.tables},
        "title": result.tables[1].title,
        **{name: getattr(result, name) for name in _KEPT},
        **{name: list(getattr(result, name)) for name in ("cautions", "notes")},
    }
    saved_inputs.save(workspace, _name(request.study), body)


_KEPT = ("unit", "n_used", "n_missing", "method")


def _name(study: str) -> str:
    return f"precision_result:{study}"


def _plain(value: Any) -> Any:
    """A cell as JSON has it: null for a number that is not finite."""
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def saved_result(
    workspace: Workspace, study: str
) -> tuple[PrecisionRequest, AnalysisResult] | None:
    """The last result of a study with what it was asked for; None where there is none.

    A result of a version of Inkblot with other columns counts as none.
    """
    draft = saved_inputs.load(workspace, _name(study))
    if draft is None:
        return None
    body = dict(draft.value)
    known = {"precision": _COLUMNS, "curves": _CURVES}
    if body.get("columns") != {name: [c.name for c in own] for name, own in known.items()}:
        return None  # of another version of Inkblot
    asked = dict(body["request"])
    asked["truth"] = SimulationSettings(**asked["truth"])
    asked["numbers"] = tuple(asked["numbers"])
    tables = []
    titles = {"precision": "Precision of the planned study", "curves": body["title"]}
    for name, columns in known.items():
        frame = pd.DataFrame(body["tables"][name], columns=body["columns"][name])
        for column in columns:
            if column.unit != "none":
                frame[column.name] = frame[column.name].astype(np.float64)
        tables.append(ResultTable(name, titles[name], frame, columns))
    result = AnalysisResult(
        tables=tuple(tables),
        cautions=tuple(body["cautions"]),
        notes=tuple(body["notes"]),
        **{name: body[name] for name in _KEPT},
    )
    return PrecisionRequest(**asked), result
