"""The tables of one group: components, coefficients, D-study, and numbers of levels needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.analysis.kit.matrices import group_name
from core.analysis.kit.options import StatisticForm, reported_first
from core.analysis.kit.results import Findings
from core.analysis.scales.generalizability.facets import GroupDesign
from core.domain.notes import undefined_note
from core.domain.results import ResultTable
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    estimate,
    key,
    number,
    p_value,
    point_estimate,
    remark,
    text,
)
from core.stats.inputs import Estimate, Floats, name_list
from core.stats.resampling import percentile_interval, percentile_intervals
from core.stats.variance.coefficients import (
    REPLICATES,
    Measurement,
    coefficients,
    levels_needed,
    measurement,
)
from core.stats.variance.components import VarianceComponents, shares_by_chance, shares_of

_BRENNAN = "Brennan (2001)."
_GENERALIZED = (
    "Generalized interval: components of mean squares (of REML: of uncorrelated sums of "
    "components) divided by random chi-squares; Weerahandi (1993). At least 0. None with 2 or 3 "
    "levels."
)

_SOURCES = (
    key("source", "Source", "A facet, facets that work together, or what is left."),
    count(
        "levels",
        "Levels",
        "Levels of a facet or combinations that have answers; of the residual, answers.",
    ),
    count("df", "df", "Degrees of freedom."),
    number("mean_square", "MS", "points squared", "Sum of squares / df. Of scores from 0 to 100."),
    *estimate(
        "estimate",
        "Variance",
        "points squared",
        "Variance component as estimated; may be below 0. Scores go from 0 to 100 points of "
        "the format. " + _BRENNAN,
        _GENERALIZED,
        between=(
            number(
                "se",
                "SE",
                "points squared",
                "Standard error, from the mean squares as scaled chi-squares with df + 2, "
                "Brennan (2001), section 6.1; of REML, from the expected information.",
            ),
        ),
    ),
)
_CORRECTED_SHARE = (
    *estimate(
        "corrected",
        "Share, corrected",
        "proportion",
        "Of the sum of all components, the variance of one answer. Each may be estimated below 0, "
        "so that a source without variance has 0 on average; of REML by one step of scoring "
        "without the bound, which is minimum variance quadratic unbiased, Rao (1971). May lie "
        "outside its interval, which is within 0 and 1, because there components below 0 count as "
        "0.",
        _GENERALIZED,
        ends_title="Share, {level}",
        ends_name="share",
    ),
    p_value(
        "p",
        "p",
        "Of no variance: the share of draws of the generalized interval at 0 or below; that of the "
        "exact F test where there is one. Weerahandi (1995).",
        of="corrected",
    ),
)
_PUBLISHED_SHARE = (
    point_estimate(
        "share", "Share", "proportion", "The same, where components below 0 count as 0."
    ),
    number(
        "by_chance",
        "By chance",
        "proportion",
        "Mean share of a source without variance, the others being as estimated. Above 0 because "
        "estimates below 0 count as 0.",
    ),
)


def components_spec(reported: StatisticForm) -> TableSpec:
    """The table of components, with the form of the share first that the sentence takes."""
    shares = reported_first(reported, _CORRECTED_SHARE, _PUBLISHED_SHARE)
    columns = (*_SOURCES, *shares, remark("Why undefined, and cautions."))
    return TableSpec("components", "Variance components", columns, "Components")


COEFFICIENTS = TableSpec(
    "coefficients",
    "Coefficients",
    (
        key("objects", "Measured", "What the scores are of: the object of measurement."),
        key("design", "Design", "These answers, or a planned study."),
        key(
            "coefficient",
            "Coefficient",
            "G: how well the order of scores holds over other levels of the facets. Phi: how well "
            "the scores themselves hold. Cronbach et al. (1972); " + _BRENNAN,
        ),
        *estimate(
            "value",
            "Value",
            "correlation",
            "Universe-score variance / (itself + error).",
            "Generalized interval; Weerahandi (1993).",
        ),
        number(
            "universe",
            "Universe-score variance",
            "points squared",
            "Between the objects, averaged over everything else.",
        ),
        number(
            "error",
            "Error variance",
            "points squared",
            "Of a mean score: relative for G, absolute for phi.",
        ),
        number(
            "sem",
            "SEM",
            "points",
            "Standard error of measurement: root of the error variance, in points from 0 to 100.",
        ),
        text("over", "Averaged over", "Levels of the facets behind one score."),
        count("n", "n", "Objects measured."),
        remark("Why undefined, and cautions."),
    ),
    "Coefficients",
)
NEEDS = TableSpec(
    "needs",
    "Levels needed",
    (
        key("facet", "Facet", "Only its number of levels changes."),
        number("levels", "Levels in the study", help="On average, where objects differ."),
        number("target", "Target", "correlation", "The coefficient wanted."),
        count("needed_g", "Needed for G", "The fewest levels with which G reaches it."),
        number("limit_g", "Limit of G", "correlation", "With as many levels as one likes."),
        count("needed_phi", "Needed for phi", "The fewest with which phi reaches it."),
        number("limit_phi", "Limit of phi", "correlation", "With as many levels as one likes."),
        remark("Why no number is enough."),
    ),
    "D-study",
)
DECISIONS = TableSpec(
    "decisions",
    "Coefficients over numbers of levels",
    (
        key("facet", "Facet", "Its number of levels varies; the others stay as in the study."),
        key("levels", "Levels", "Of this facet behind one score."),
        number("g", "G", "correlation", "Relative coefficient with so many levels; " + _BRENNAN),
        number(
            "phi", "Phi", "correlation", "Absolute coefficient with so many levels; " + _BRENNAN
        ),
        number("sem_relative", "SEM, relative", "points", "Root of the relative error variance."),
        number("sem_absolute", "SEM, absolute", "points", "Root of the absolute error variance."),
        text("design", "Design", "Whether the study has this number."),
    ),
    "D-study",
)

N_DRAWS = 4000
"""Of components, for intervals and p."""
N_BY_CHANCE = 2000
"""Of components of which one is 0."""
_GRID = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000)
_LEAST_END = 20  # of a curve of the D-study
_MOST_END = 1000
_FEW_LEVELS = 3
_NO_DEGREES = undefined_note(
    "Undefined: its levels come up with too few levels of the other facets to be told apart."
)


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
    """Rows of the tables of all groups, and what is to be said beside them."""

    components: TableRows
    coefficients: TableRows
    needs: TableRows
    decisions: TableRows
    findings: Findings
    n_used: int = 0

    def tables(self) -> list[ResultTable]:
        """The tables in their order."""
        filled = (self.components, self.coefficients, self.needs, self.decisions)
        return [rows.table() for rows in filled]


def empty_tables(
    reported: StatisticForm, by: Sequence[str], ci_level: float, findings: Findings
) -> GroupTables:
    """The tables without rows."""
    specs = (components_spec(reported), COEFFICIENTS, NEEDS, DECISIONS)
    components, coefficients, needs, decisions = (TableRows(spec, by, ci_level) for spec in specs)
    return GroupTables(components, coefficients, needs, decisions, findings)


def add_group(
    tables: GroupTables, design: GroupDesign, parts: VarianceComponents, plan: StudyPlan
) -> None:
    """Add the rows, cautions and notes of one group."""
    reason = _why_undefined(design, parts)
    draws = np.empty((0, 0)) if reason else parts.draws(N_DRAWS, plan.seed)
    _add_components(tables.components, design, parts, draws, plan, reason)
    if reason:
        tables.findings.caution(group_name(design.group), reason)
    else:
        tables.n_used += design.n_scores
    _add_findings(tables.findings, design, parts)
    automatic = plan.objects == "automatic"
    names = ("respondent", "model", "context", "entity", "item") if automatic else (plan.objects,)
    facets = [facet for name in names if (facet := design.number(name)) is not None]
    if facets and not reason:
        _add_measurement(tables, design, parts, draws, facets[0], plan)
        return
    objects = "what could be measured does" if automatic else f"the {plan.objects} does"
    for coefficient in ("G", "phi"):
        tables.coefficients.add(
            design.group,
            objects=design.facets[facets[0]] if facets else plan.objects,
            design="These answers",
            coefficient=coefficient,
            value=Estimate(math.nan),
            universe=math.nan,
            error=math.nan,
            sem=math.nan,
            over="",
            n=0,
            remark=reason or undefined_note(f"Undefined: {objects} not differ in these answers."),
        )


def _why_undefined(design: GroupDesign, parts: VarianceComponents) -> str:
    """Why no share of a group is defined; empty where they are."""
    if not design.facets:
        return undefined_note(
            "Undefined: there is one item, and nothing in the asking varies but repetition."
        )
    if len(parts.effects) == 1:
        return undefined_note(
            f"Undefined: {design.facets[0]} alone varies, with one answer each, so that nothing "
            "can be told from chance."
        )
    if parts.problems and not np.isfinite(parts.estimates).all():
        return undefined_note(f"Undefined: {parts.problems[0][0].lower()}{parts.problems[0][1:]}")
    if parts.total <= 0:
        return undefined_note("Undefined: all scores are the same.")
    return ""


def _add_components(
    rows: TableRows,
    design: GroupDesign,
    parts: VarianceComponents,
    draws: Floats,
    plan: StudyPlan,
    reason: str,
) -> None:
    """Rows of the table of components: single facets first, the residual last."""
    positive = np.maximum(draws, 0.0)
    ends = percentile_intervals(positive, plan.level)
    share_ends = percentile_intervals(shares_of(positive), plan.level)
    p = ((draws <= 0).sum(axis=0) + 1) / (len(draws) + 1)
    by_chance = np.empty(0) if reason else shares_by_chance(parts, N_BY_CHANCE, plan.seed)
    nan = Estimate(math.nan)
    # the residual may be the same set of facets as their interaction
    effect_numbers = {effect: number for number, effect in enumerate(parts.effects[:-1])}
    ordered = sorted((*effect_numbers, *parts.undefined), key=design.order)
    sources = [(design.source(effect), effect_numbers.get(effect), effect) for effect in ordered]
    for source, i, effect in (*sources, (design.residual, len(effect_numbers), -1)):
        n_levels, df = (
            (design.effects.margins[effect].n_levels, 0.0)
            if i is None
            else (parts.n_levels[i], parts.degrees[i])
        )
        if i is None or reason:
            rows.add(
                design.group,
                source=source,
                levels=n_levels,
                df=df,
                mean_square=math.nan,
                estimate=nan,
                se=math.nan,
                corrected=nan,
                p=math.nan,
                share=math.nan,
                by_chance=math.nan,
                remark=_NO_DEGREES if i is None else reason,
            )
            continue
        below = parts.estimates[i] < 0
        remarks = ["Estimated below 0; counts as 0 in share and coefficients."] if below else []
        if not below and parts.corrected_shares[i] < 0:
            remarks = [
                "Without the bound of REML at 0 its estimate is below 0, and so is its corrected "
                "share."
            ]
        few = effect >= 0 and df < _FEW_LEVELS
        if few:
            remarks.append("No interval: a variance of so few levels is hardly known.")
        rows.add(
            design.group,
            source=source,
            levels=n_levels,
            df=df,
            mean_square=parts.mean_squares[i],
            estimate=Estimate(parts.estimates[i])
            if few
            else Estimate(parts.estimates[i], ends.low[i], ends.high[i]),
            se=parts.errors[i],
            corrected=Estimate(parts.corrected_shares[i])
            if few
            else Estimate(parts.corrected_shares[i], share_ends.low[i], share_ends.high[i]),
            p=math.nan if effect < 0 else p[i],
            share=parts.shares[i],
            by_chance=by_chance[i],
            remark=" ".join(remarks),
        )


def _add_findings(findings: Findings, design: GroupDesign, parts: VarianceComponents) -> None:
    """Cautions and notes on the design of a group."""
    group, n_levels = group_name(design.group), design.cells.levels
    defined = bool(np.isfinite(parts.estimates).all())
    if design.confounded:
        findings.caution(
            group,
            f"{name_list(design.confounded)}: levels go one to one, so these cannot be told "
            "apart, and one source holds both.",
        )
    if design.left_out:
        findings.caution(
            group,
            f"Differences by {name_list(design.left_out)} count as residual. Choose other "
            "facets to see them.",
        )
    if parts.undefined:
        names = name_list([design.source(effect) for effect in parts.undefined])
        findings.caution(group, f"{names}: {_NO_DEGREES[0].lower()}{_NO_DEGREES[1:]}")
    below = [
        design.source(effect)
        for effect, value in zip(parts.effects[:-1], parts.estimates, strict=False)
        if value < 0
    ]
    if below and defined:
        findings.note(group, f"{name_list(below)}: estimated below 0, which counts as 0.")
    few = [
        f"{name} ({n})" for name, n in zip(design.facets, n_levels, strict=True) if n <= _FEW_LEVELS
    ]
    if few:
        findings.note(
            group,
            f"{name_list(few)}: a variance of so few levels is hardly known and has no interval.",
        )
    if parts.method != "ANOVA":
        full = math.prod(n_levels)
        closures = design.effects.closures
        nested = any(closures[1 << facet] != 1 << facet for facet in range(len(design.facets)))
        how = "REML" if parts.method == "REML" else "sums of squares (Henderson's method 1)"
        n_empty = full - design.cells.n_cells
        gaps = (
            f"{n_empty:,} of {full:,} combinations of facets have no usable answer"
            if n_empty > 0 and not nested
            else "the numbers of levels or answers differ"
        )
        findings.note(
            group, f"{gaps}, so components are estimated by {how} and intervals are approximate."
        )
    for problem in parts.problems if defined else ():
        findings.note(group, problem)


def _add_measurement(
    tables: GroupTables,
    design: GroupDesign,
    parts: VarianceComponents,
    draws: Floats,
    objects: int,
    plan: StudyPlan,
) -> None:
    """Coefficients of these answers and of the planned study, and the D-study."""
    fixed = 0
    for name in plan.fixed:
        facet = design.number(name)
        fixed |= 0 if facet is None else 1 << facet
    closures = design.effects.closures
    measured = measurement(parts, closures, 1 << objects, fixed)
    planned: dict[int, float] = {}  # levels of facets that scores are averaged over
    for name, n_levels in plan.numbers.items():
        facet = design.number(name)
        facet = REPLICATES if facet is None and name == "repetition" else facet
        if facet is not None and facet in measured.observed:
            planned[facet] = n_levels
    studies: list[tuple[str, dict[int, float]]] = [("These answers", {}), ("Planned", planned)]
    for study, numbers in studies if planned else studies[:1]:
        value, of_draws = (coefficients(measured, numbers, values) for values in (None, draws))
        over = ", ".join(
            design.counted(facet, numbers.get(facet, observed))
            + (" (fixed)" if measured.is_fixed(facet) else "")
            for facet, observed in measured.observed.items()
        )
        for coefficient, point, resampled, error in (
            ("G", value.generalizability, of_draws.generalizability, float(value.relative)),
            ("phi", value.dependability, of_draws.dependability, float(value.absolute)),
        ):
            ends = percentile_interval(resampled, plan.level)
            tables.coefficients.add(
                design.group,
                objects=design.facets[objects],
                design=study,
                coefficient=coefficient,
                value=Estimate(float(point), ends.low, ends.high),
                universe=float(value.universe),
                error=error,
                sem=math.sqrt(error),
                over=over,
                n=design.effects.margins[closures[1 << objects]].n_levels,
                remark="",
            )
    for facet in measured.observed:
        if not measured.is_fixed(facet):
            _add_decisions(tables, design, measured, facet, planned, plan.target)


def _add_decisions(
    tables: GroupTables,
    design: GroupDesign,
    measured: Measurement,
    facet: int,
    numbers: Mapping[int, float],
    target: float,
) -> None:
    """The coefficients over numbers of levels of one facet, and how many the target needs."""
    name = "repetition" if facet == REPLICATES else design.facets[facet]
    name = name[0].upper() + name[1:]
    observed = numbers.get(facet, measured.observed[facet])
    relative, absolute = (
        levels_needed(measured, facet, target, absolute=absolute, numbers=numbers)
        for absolute in (False, True)
    )
    needed = [need.levels for need in (relative, absolute)]
    end = max(_LEAST_END, 2 * observed, *(1.2 * n for n in needed if n <= _MOST_END))
    grid = {float(n) for n in (*_GRID, *needed) if n <= end} | {observed}
    for n_levels in sorted(grid):
        value = coefficients(measured, {**numbers, facet: n_levels})
        tables.decisions.add(
            design.group,
            facet=name,
            levels=n_levels,
            g=float(value.generalizability),
            phi=float(value.dependability),
            sem_relative=math.sqrt(float(value.relative)),
            sem_absolute=math.sqrt(float(value.absolute)),
            design="as it is" if n_levels == observed else "",
        )
    never = [of for of, n in zip(("G", "phi"), needed, strict=True) if math.isnan(n)]
    tables.needs.add(
        design.group,
        facet=name,
        levels=observed,
        target=target,
        needed_g=relative.levels,
        limit_g=relative.limit,
        needed_phi=absolute.levels,
        limit_phi=absolute.limit,
        remark=f"{' and '.join(never)}: no number of levels of this facet is enough alone."
        if never
        else "",
    )
