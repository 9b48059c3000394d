"""The tables of one group: components, coefficients, D-study, and numbers of levels needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.analysis.scales.generalizability.facets import GroupDesign
from core.analysis.shared.matrices import group_name
from core.domain.notes import about, undefined_note
from core.domain.results import Column
from core.stats.inputs import Floats, name_list
from core.stats.resampling import percentile_interval
from core.stats.variance.coefficients import (
    REPLICATES,
    Coefficients,
    Measurement,
    coefficients,
    levels_needed,
    measurement,
)
from core.stats.variance.components import VarianceComponents, shares_of

N_DRAWS = 4000
"""Of components, for intervals."""

_GRID = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)
_LEAST_END = 20  # of a curve of the D-study
_MOST_END = 1000
_FEW_LEVELS = 3
_NEGATIVE = "Estimated below 0; counts as 0 in shares and coefficients."
_NO_DEGREES = undefined_note(
    "Undefined: its levels come up with too few levels of the other facets to be told apart."
)
_BRENNAN = "Brennan (2001)."


@dataclass(frozen=True)
class StudyPlan:
    """What is measured with how many levels, and which coefficient is wanted."""

    objects: str
    fixed: tuple[str, ...]
    numbers: Mapping[str, float]
    target: float
    level: float
    seed: int


@dataclass(eq=False)
class GroupTables:
    """Rows of the tables of all groups, cautions and notes."""

    components: list[tuple[Any, ...]] = field(default_factory=list)
    coefficients: list[tuple[Any, ...]] = field(default_factory=list)
    decisions: list[tuple[Any, ...]] = field(default_factory=list)
    needs: list[tuple[Any, ...]] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_used: int = 0


def component_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of components."""
    interval = f"{ci_level * 100:g}% CI"
    how = (
        "Generalized interval: components of mean squares divided by random chi-squares; "
        "Weerahandi (1993). At least 0."
    )
    return (
        Column("source", "Source", help="A facet, facets that work together, or what is left."),
        Column(
            "levels",
            "Levels",
            "count",
            "Levels of a facet or combinations that have answers; of the residual, answers.",
        ),
        Column("df", "df", "count", "Degrees of freedom."),
        Column(
            "mean_square", "MS", "points squared", "Sum of squares / df. Of scores from 0 to 100."
        ),
        Column(
            "estimate",
            "Variance",
            "points squared",
            "Variance component as estimated; may be "
            "below 0. Scores go from 0 to 100 points of the format. " + _BRENNAN,
        ),
        Column(
            "se",
            "SE",
            "points squared",
            "Standard error, from the mean squares as scaled "
            "chi-squares with df + 2; Brennan (2001), section 6.1.",
        ),
        Column("ci_low", f"{interval} low", "points squared", how),
        Column("ci_high", f"{interval} high", "points squared", how),
        Column(
            "share",
            "Share",
            "proportion",
            "Of the sum of all components, the variance of one "
            "answer. Components below 0 count as 0.",
        ),
        Column("share_low", f"Share, {interval} low", "proportion", how),
        Column("share_high", f"Share, {interval} high", "proportion", how),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def coefficient_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of coefficients."""
    interval = f"{ci_level * 100:g}% CI"
    how = "Generalized interval; Weerahandi (1993)."
    return (
        Column("objects", "Measured", help="What the scores are of: the object of measurement."),
        Column("study", "Study", help="These answers, or a planned study."),
        Column(
            "coefficient",
            "Coefficient",
            help="G: how well the order of scores holds over "
            "other levels of the facets. Phi: how well the scores themselves hold. "
            "Cronbach et al. (1972); " + _BRENNAN,
        ),
        Column("value", "Value", "correlation", "Universe-score variance / (itself + error)."),
        Column("ci_low", f"{interval} low", "correlation", how),
        Column("ci_high", f"{interval} high", "correlation", how),
        Column(
            "universe",
            "Universe-score variance",
            "points squared",
            "Between the objects, averaged over everything else.",
        ),
        Column(
            "error",
            "Error variance",
            "points squared",
            "Of a mean score: relative for G, absolute for phi.",
        ),
        Column(
            "sem",
            "SEM",
            "points",
            "Standard error of measurement: root of the error variance, in points from 0 to 100.",
        ),
        Column("over", "Averaged over", help="Levels of the facets behind one score."),
        Column("n", "n", "count", "Objects measured."),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


DECISION_COLUMNS = (
    Column("facet", "Facet", help="Its number of levels varies; the others stay as in the study."),
    Column("levels", "Levels", help="Of this facet behind one score."),
    Column("g", "G", "correlation", "Relative coefficient with so many levels; " + _BRENNAN),
    Column("phi", "Phi", "correlation", "Absolute coefficient with so many levels; " + _BRENNAN),
    Column("sem_relative", "SEM, relative", "points", "Root of the relative error variance."),
    Column("sem_absolute", "SEM, absolute", "points", "Root of the absolute error variance."),
    Column("study", "Study", help="Whether the study has this number."),
)

NEED_COLUMNS = (
    Column("facet", "Facet", help="Only its number of levels changes."),
    Column("levels", "Levels in the study", help="On average, where objects differ."),
    Column("target", "Target", "correlation", "The coefficient wanted."),
    Column("needed_g", "Needed for G", "count", "The fewest levels with which G reaches it."),
    Column("limit_g", "Limit of G", "correlation", "With as many levels as one likes."),
    Column("needed_phi", "Needed for phi", "count", "The fewest with which phi reaches it."),
    Column("limit_phi", "Limit of phi", "correlation", "With as many levels as one likes."),
    Column("remark", "Remark", help="Why no number is enough."),
)


def add_group(
    tables: GroupTables, own: GroupDesign, parts: VarianceComponents, plan: StudyPlan
) -> None:
    """Add the rows, cautions and notes of one group."""
    where = group_name(own.group)
    defined = bool(np.isfinite(parts.estimates).all()) and parts.total > 0
    separable = len(parts.effects) > 1
    draws = parts.draws(N_DRAWS, plan.seed) if defined and separable else np.empty((0, 0))
    reason = _why_undefined(own, parts)
    _add_components(tables, own, parts, draws, plan.level, reason)
    if reason:
        tables.cautions.append(about(where, reason))
    else:
        tables.n_used += own.n_scores
    _add_notes(tables, own, parts, where)
    number = _object_of(own, plan.objects)
    if reason or number is None:
        name = plan.objects if number is None else own.facets[number]
        remark = reason or (
            undefined_note(f"Undefined: {_object_words(plan.objects)} not differ in these answers.")
        )
        tables.coefficients += [
            (*own.group, name, "These answers", coefficient, *[math.nan] * 6, "", 0, remark)
            for coefficient in ("G", "phi")
        ]
        return
    _add_measurement(tables, own, parts, draws, number, plan)


def _why_undefined(own: GroupDesign, parts: VarianceComponents) -> str:
    """Why no share of a group is defined; empty where they are."""
    if not own.facets:
        return undefined_note(
            "Undefined: there is one item, and nothing in the asking varies but repetition."
        )
    if len(parts.effects) == 1:
        return undefined_note(
            f"Undefined: {own.facets[0]} alone varies, with one answer each, so that nothing can "
            "be told from chance."
        )
    if parts.problems and not np.isfinite(parts.estimates).all():
        return undefined_note(f"Undefined: {parts.problems[0][0].lower()}{parts.problems[0][1:]}")
    if parts.total <= 0:
        return undefined_note("Undefined: all scores are the same.")
    return ""


def _add_components(
    tables: GroupTables,
    own: GroupDesign,
    parts: VarianceComponents,
    draws: Floats,
    level: float,
    reason: str,
) -> None:
    """Rows of the table of components."""
    sources = [own.source(effect) for effect in parts.effects[:-1]] + [own.residual]
    nothing = [math.nan] * len(sources)
    positive = np.maximum(draws, 0.0)
    drawn_shares = shares_of(positive)
    shares = parts.shares if not reason else nothing
    errors = parts.errors if len(draws) else nothing
    rows = []
    for place, source in enumerate(sources):
        lead = (*own.group, source, parts.n_levels[place])
        if reason:
            rows.append((*lead, parts.degrees[place], *[math.nan] * 8, reason))
            continue
        ends = percentile_interval(positive[:, place], level)
        share_ends = percentile_interval(drawn_shares[:, place], level)
        remark = _NEGATIVE if parts.estimates[place] < 0 else ""
        rows.append(
            (
                *lead,
                parts.degrees[place],
                parts.mean_squares[place],
                parts.estimates[place],
                errors[place],
                ends.low,
                ends.high,
                shares[place],
                share_ends.low,
                share_ends.high,
                remark,
            )
        )
    without = [
        (
            *own.group,
            own.source(effect),
            own.effects.margins[effect].n_levels,
            0,
            *[math.nan] * 8,
            _NO_DEGREES,
        )
        for effect in parts.undefined
    ]
    effects = [own.order(effect) for effect in (*parts.effects[:-1], *parts.undefined)]
    ordered = sorted(zip(effects, [*rows[:-1], *without], strict=True), key=lambda pair: pair[0])
    tables.components += [*(row for _, row in ordered), rows[-1]]


def _add_notes(
    tables: GroupTables, own: GroupDesign, parts: VarianceComponents, where: str
) -> None:
    """Cautions and notes on the design of a group."""
    if own.confounded:
        tables.cautions.append(
            about(
                where,
                f"{name_list(own.confounded)}: levels go one to one, so these cannot be told "
                "apart, and one source holds both.",
            )
        )
    if own.left_out:
        tables.cautions.append(
            about(
                where,
                f"{name_list(own.left_out)} vary as well and count as residual. Choose other "
                "facets to see them.",
            )
        )
    if parts.undefined:
        names = name_list([own.source(effect) for effect in parts.undefined])
        tables.cautions.append(about(where, f"{names}: {_NO_DEGREES[0].lower()}{_NO_DEGREES[1:]}"))
    if np.isfinite(parts.estimates).all():
        below = [
            own.source(effect)
            for effect, value in zip(parts.effects[:-1], parts.estimates, strict=False)
            if value < 0
        ]
        if below:
            tables.notes.append(
                about(where, f"{name_list(below)}: estimated below 0, which counts as 0.")
            )
    few = [
        f"{name} ({levels})"
        for name, levels in zip(own.facets, own.cells.levels, strict=True)
        if levels <= _FEW_LEVELS
    ]
    if few:
        tables.notes.append(
            about(
                where,
                f"{name_list(few)}: a variance from so few levels is hardly known; see its "
                "interval.",
            )
        )
    if parts.method != "ANOVA":
        full = math.prod(own.cells.levels)
        nested = any(own.effects.closures[1 << one] != 1 << one for one in range(len(own.facets)))
        how = "REML" if parts.method == "REML" else "sums of squares (Henderson's method 1)"
        gaps = (
            f"{full - own.cells.n_cells:,} of {full:,} combinations of facets have no usable answer"
            if own.cells.n_cells < full and not nested
            else "the numbers of levels or answers differ"
        )
        tables.notes.append(
            about(
                where,
                f"{gaps}, so components are estimated by {how} and intervals are approximate.",
            )
        )
    tables.notes += [
        about(where, problem) for problem in parts.problems if np.isfinite(parts.estimates).all()
    ]


def _object_of(own: GroupDesign, objects: str) -> int | None:
    """The facet that is measured: the one chosen, else respondents, contexts, entities or items."""
    wanted = (
        ("respondent", "model", "context", "entity", "item")
        if objects == "automatic"
        else (objects,)
    )
    return next((n for name in wanted if (n := own.number(name)) is not None), None)


def _object_words(objects: str) -> str:
    return "what could be measured does" if objects == "automatic" else f"the {objects} does"


def _add_measurement(
    tables: GroupTables,
    own: GroupDesign,
    parts: VarianceComponents,
    draws: Floats,
    number: int,
    plan: StudyPlan,
) -> None:
    """Coefficients of these answers and of the planned study, and the D-study."""
    fixed = 0
    for name in plan.fixed:
        place = own.number(name)
        fixed |= 0 if place is None else 1 << place
    measured = measurement(parts, own.effects.closures, 1 << number, fixed)
    n = own.effects.margins[own.effects.closures[1 << number]].n_levels
    lead = (*own.group, own.facets[number])
    numbers = _planned(own, measured, plan.numbers)
    for study, chosen in (("These answers", {}), ("Planned", numbers)):
        if study == "Planned" and not numbers:
            continue
        value, drawn = (coefficients(measured, chosen, d) for d in (None, draws))
        for row in _coefficient_rows(value, drawn, plan.level):
            over = _over(own, measured, chosen)
            tables.coefficients.append((*lead, study, *row, over, n, ""))
    for facet in measured.observed:
        if measured.is_fixed(facet):
            continue
        _add_decisions(tables, own, measured, facet, numbers, plan.target)


def _planned(
    own: GroupDesign, measured: Measurement, numbers: Mapping[str, float]
) -> dict[int, float]:
    """The numbers of a planned study by facet; those of other facets do not count."""
    planned = {}
    for name, value in numbers.items():
        facet = (
            REPLICATES if name == "repetition" and own.number(name) is None else (own.number(name))
        )
        if facet is not None and facet in measured.observed:
            planned[facet] = value
    return planned


def _coefficient_rows(
    value: Coefficients, drawn: Coefficients, level: float
) -> list[tuple[str, float, float, float, float, float, float]]:
    """G and phi with their intervals, variances and standard errors of measurement."""
    rows = []
    for name, point, draws, error in (
        ("G", value.generalizability, drawn.generalizability, value.relative),
        ("phi", value.dependability, drawn.dependability, value.absolute),
    ):
        ends = percentile_interval(draws, level)
        rows.append(
            (
                name,
                float(point),
                ends.low,
                ends.high,
                float(value.universe),
                float(error),
                math.sqrt(float(error)),
            )
        )
    return rows


def _over(own: GroupDesign, measured: Measurement, numbers: Mapping[int, float]) -> str:
    """What a score is averaged over: "40 items, 10 contexts (fixed)"."""
    return ", ".join(
        own.counted(facet, numbers.get(facet, observed))
        + (" (fixed)" if measured.is_fixed(facet) else "")
        for facet, observed in measured.observed.items()
    )


def _add_decisions(
    tables: GroupTables,
    own: GroupDesign,
    measured: Measurement,
    facet: int,
    numbers: Mapping[int, float],
    target: float,
) -> None:
    """The coefficients over numbers of levels of one facet, and how many the target needs."""
    name = "repetition" if facet == REPLICATES else own.facets[facet]
    name = name[0].upper() + name[1:]
    observed = numbers.get(facet, measured.observed[facet])
    relative, absolute = (
        levels_needed(measured, facet, target, absolute=one, numbers=numbers)
        for one in (False, True)
    )
    end = max(
        _LEAST_END,
        2 * observed,
        *(1.2 * need.levels for need in (relative, absolute) if need.levels <= _MOST_END),
    )
    grid = {float(one) for one in _GRID if one <= end} | {observed}
    grid |= {need.levels for need in (relative, absolute) if need.levels <= end}
    for levels in sorted(grid):
        value = coefficients(measured, {**numbers, facet: levels})
        tables.decisions.append(
            (
                *own.group,
                name,
                levels,
                float(value.generalizability),
                float(value.dependability),
                math.sqrt(float(value.relative)),
                math.sqrt(float(value.absolute)),
                "as it is" if levels == observed else "",
            )
        )
    never = [n for n, need in (("G", relative), ("phi", absolute)) if math.isnan(need.levels)]
    remark = (
        f"{' and '.join(never)}: no number of levels of this facet is enough alone."
        if never
        else ""
    )
    tables.needs.append(
        (
            *own.group,
            name,
            observed,
            target,
            relative.levels,
            relative.limit,
            absolute.levels,
            absolute.limit,
            remark,
        )
    )
