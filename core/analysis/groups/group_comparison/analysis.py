"""Do groups that ought to differ have different scores?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.groups.group_comparison.grouping import (
    ComparisonDesign,
    Design,
    GroupedScores,
    TypedGroups,
    group_members,
    grouped_scores,
)
from core.analysis.groups.group_comparison.tables import (
    BETWEEN_ONLY,
    GROUPS,
    PAIRS,
    WITHIN_ONLY,
    tests_spec,
)
from core.analysis.kit import scores, sentences
from core.analysis.kit.adjusting import with_adjusted_p
from core.analysis.kit.alternatives import with_alternatives
from core.analysis.kit.matrices import score_matrices
from core.analysis.kit.options import (
    FORMAT_POINTS,
    INDEPENDENT_ROWS,
    TAILS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    Reported,
    Tail,
    adjustment_words,
)
from core.analysis.kit.registry import Choice, ComparedFactor, Rows, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.scripts.comparisons import SeparateGroups, group_files
from core.analysis.scales.score_correlations import MOST_LEVELS, level_pairs
from core.analysis.words.odds_ratios import Lists, Stereotypes
from core.charts.dots import group_charts
from core.domain import tables
from core.domain.factors import levels_word
from core.domain.frames import HIGHEST, ITEM_SCORES, LOWEST
from core.domain.notes import about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.study import SETTINGS
from core.progress import with_progress
from core.stats.correlation import Alternative
from core.stats.groups import (
    MeanTest,
    average_variance_d,
    known_groups,
    mean_interval,
    paired_t,
    simultaneous_interval,
    summary,
    unbiased_factor,
    welch_t,
)
from core.stats.inputs import Estimate, name_list
from core.stats.repeated_measures import average_d, repeated_measures


def _used_columns(table: ResultTable, designs: Sequence[ComparisonDesign]) -> ResultTable:
    """The table without the columns of within or between designs where there is none."""
    idle: tuple[str, ...] = () if any(design.within for design in designs) else WITHIN_ONLY
    idle += BETWEEN_ONLY if all(design.within for design in designs) else ()
    columns = tuple(column for column in table.columns if column.name not in idle)
    return replace(table, columns=columns, frame=table.frame[[c.name for c in columns]])


def _unit_words(designs: Sequence[ComparisonDesign]) -> str:
    """What a row is, where it is not one administration; empty where it is."""
    kinds = dict.fromkeys(kind for one in designs for kind in one.units)
    averaged = dict.fromkeys(name for one in designs for name in one.averaged)
    if not averaged:
        return ""
    return (
        f"one {' or '.join(kinds)} in a group, averaged over "
        f"{name_list([levels_word(name) for name in averaged], 12)} (a row, where notes speak of "
        "rows)"
    )


def _add_means(scale: GroupedScores, groups: tables.TableRows) -> None:
    """Add the mean of each group with its interval."""
    for name, values in scale.scores.items():
        group, ends, remark = summary(values), (math.nan, math.nan), ""
        if group.n < 2:
            remark = "No SD and no interval: it needs two scores."
        elif group.sd > 0:
            ends = mean_interval(group, groups.level)
        else:
            remark = "No interval: every score is the same."
        groups.add(
            scale.lead,
            scale=scale.scale,
            group=name,
            mean=Estimate(group.mean, *ends),
            sd=group.sd,
            unit=scale.kinds[name],
            n=group.n,
            n_missing=len(values) - group.n,
            n_fewer=scale.n_fewer[name],
            remark=remark,
        )


def _add_basis(scale: GroupedScores, findings: Findings) -> None:
    """Say which pairs are compared, and that groups have answers to different items."""
    if len(scale.scores) > MOST_LEVELS:
        findings.note(
            scale.where,
            f"of {len(scale.scores)} groups, each is compared with the first only "
            f"(every pair is taken up to {MOST_LEVELS}).",
        )
    if scale.items_left_out:
        findings.cautions.append(
            scores.left_out_caution(scale.where, scale.n_items, scale.items_left_out, "groups")
        )
    if any(scale.n_fewer.values()):
        counts = ", ".join(
            f"{name} {n_fewer} of {int(np.isfinite(scale.scores[name]).sum())}"
            for name, n_fewer in scale.n_fewer.items()
        )
        findings.caution(
            scale.where,
            f"some scores are means of some of the {scale.n_items} items ({counts}); "
            "groups may differ in which items these are.",
        )


_ADJUSTED_LATER: dict[str, Any] = {"p_adjusted": math.nan, "stars": ""}


def _add_pair(
    scale: GroupedScores,
    levels: tuple[str, str],
    n_pairs: int,
    pairs: tables.TableRows,
    alternative: Alternative,
) -> MeanTest:
    """Compare two groups, one of so many pairs, and add the row."""
    (first, second), level, within = levels, pairs.level, scale.design.within
    x, y = scale.scores[first], scale.scores[second]
    if within:
        shift = paired_t(x, y, alternative=alternative, level=level)
        average = average_d(x, y, level=level)
        d = Estimate(average.value, average.low, average.high)
        g, n = average.corrected, (shift.n[0], shift.n[0])
        remarks = (*shift.problems, *average.problems)
        d_z = Estimate(shift.effect, shift.effect_low, shift.effect_high)
        both = np.isfinite(x) & np.isfinite(y)
        x, y = x[both], y[both]
        d_average = Estimate(math.nan)
    else:
        shift = welch_t(y, x, alternative=alternative, level=level)
        d = Estimate(shift.effect, shift.effect_low, shift.effect_high)
        g, n = d.value * unbiased_factor(sum(shift.n) - 2), (shift.n[1], shift.n[0])
        remarks = shift.problems
        d_z = Estimate(math.nan)
        d_average = average_variance_d(summary(y), summary(x), level)
    pairs.add(
        scale.lead,
        scale=scale.scale,
        first=first,
        second=second,
        mean_first=summary(x).mean,
        mean_second=summary(y).mean,
        difference=Estimate(
            shift.difference,
            *simultaneous_interval(shift, len(scale.scores), n_pairs, within=within),
        ),
        t=shift.t,
        df=shift.df,
        p=shift.p,
        d=d,
        g=g,
        d_z=d_z,
        d_average=d_average,
        n_first=n[0],
        n_second=n[1],
        remark=" ".join(remarks),
        **_ADJUSTED_LATER,
    )
    return shift


def _compare_scale(
    scale: GroupedScores,
    tests: tables.TableRows,
    pairs: tables.TableRows,
    findings: Findings,
    alternative: Alternative,
) -> set[int]:
    """Compare the groups of one scale all together and two by two, and add the rows.

    Returns the administrations with a score in a group that could be compared with another.
    """
    level, within = tests.level, scale.design.within
    undefined: dict[str, list[str]] = {}  # pairs by problem
    shifts: dict[tuple[str, str], MeanTest] = {}
    compared = list(level_pairs(list(scale.scores)))
    for first, second in compared:
        shift = _add_pair(scale, (first, second), len(compared), pairs, alternative)
        shifts[first, second] = shift
        for problem in shift.problems:
            undefined.setdefault(problem, []).append(f"{first} with {second}")
    if within:
        n_units, n_used = len(scale.complete), int(scale.complete.sum())
        test, problems = _test_within(scale, list(shifts.values()), level)
    else:
        n_units = sum(map(len, scale.scores.values()))
        n_used = sum(int(np.isfinite(values).sum()) for values in scale.scores.values())
        test, problems = _test_between(scale, list(shifts.values()), level)
    tests.add(
        scale.lead,
        scale=scale.scale,
        n_groups=len(scale.scores),
        design=scale.design.words,
        unit=" and ".join(dict.fromkeys(scale.kinds.values())),
        averaged=" and ".join(map(levels_word, scale.design.averaged)),
        n=n_used,
        n_missing=n_units - n_used,
        n_items=scale.n_items,
        items_left_out=len(scale.items_left_out),
        n_fewer=sum(scale.n_fewer.values()),
        remark=" ".join(problems),
        **test,
        **_ADJUSTED_LATER,
    )
    _add_basis(scale, findings)
    for problem in problems:
        findings.caution(scale.where, problem)
    if len(scale.scores) > 2:
        findings.cautions += [
            about(scale.where, problem, name_list(names)) for problem, names in undefined.items()
        ]
    used: set[int] = set()
    for (first, second), shift in shifts.items():
        if not math.isfinite(shift.difference):
            continue
        rows = scale.scored[scale.scored["level"].isin([first, second])]
        if within:
            both = np.isfinite(scale.scores[first]) & np.isfinite(scale.scores[second])
            rows = rows[rows["unit"].isin(scale.units[first][both])]
        used.update(rows["administration"])
    return used


_NO_SHARES: dict[str, Any] = {
    "by_chance": math.nan,
    "generalized": math.nan,
    "generalized_corrected": Estimate(math.nan),
    "generalized_by_chance": math.nan,
    "omega_squared": math.nan,
}


def _test_between(
    scale: GroupedScores, shifts: Sequence[MeanTest], level: float
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The cells of the test of two groups, or of three or more, and its problems.

    The classic F takes the place of Welch's where a group does not vary.
    """
    cells = _NO_SHARES | {"epsilon": math.nan}
    if len(scale.scores) == 2:
        (shift,) = shifts
        g = shift.effect * unbiased_factor(sum(shift.n) - 2)
        return cells | {
            "test": "Welch's t",
            "statistic": shift.t,
            "df1": math.nan,
            "df2": shift.df,
            "p": shift.p,
            "effect": "d",
            "value": shift.effect,
            "corrected": Estimate(g, shift.effect_low, shift.effect_high),
        }, shift.problems
    omnibus = known_groups(scale.scores, level=level)
    cells |= {
        "test": "Welch's F",
        "statistic": omnibus.f,
        "df1": omnibus.df1,
        "df2": omnibus.df2,
        "p": omnibus.p,
        "effect": "η²",
        "value": omnibus.eta_squared,
        "corrected": Estimate(omnibus.epsilon_squared, omnibus.low, omnibus.high),
        "by_chance": omnibus.by_chance,
        "omega_squared": omnibus.omega_squared,
    }
    if math.isnan(omnibus.f) and math.isfinite(omnibus.classic_f):
        cells |= {
            "test": "classic F",
            "statistic": omnibus.classic_f,
            "df2": float(sum(group.n - 1 for group in omnibus.summaries)),
            "p": omnibus.classic_p,
        }
    return cells, omnibus.problems


def _test_within(
    scale: GroupedScores, shifts: Sequence[MeanTest], level: float
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The same of groups with the same units: the paired t, or F of repeated measures."""
    if len(scale.scores) == 2:
        (shift,) = shifts
        average = average_d(*scale.scores.values(), level=level)
        return _NO_SHARES | {
            "test": "paired t",
            "statistic": shift.t,
            "df1": math.nan,
            "df2": shift.df,
            "epsilon": math.nan,
            "p": shift.p,
            "effect": "d_av",
            "value": average.value,
            "corrected": replace(average, value=average.corrected),
        }, (*shift.problems, *average.problems)
    groups = scale.tested
    small = [name for name in scale.scores if name not in groups]
    problems = [f"Left out for having fewer than two scores: {name_list(small)}."] if small else []
    if len(groups) < 2:
        groups = tuple(scale.scores)
    omnibus = repeated_measures(
        np.column_stack([scale.scores[name] for name in groups]), level=level
    )
    partial, generalized = omnibus.partial, omnibus.generalized
    return _NO_SHARES | {
        "test": "repeated-measures F",
        "statistic": omnibus.f,
        "df1": omnibus.df1,
        "df2": omnibus.df2,
        "epsilon": omnibus.epsilon,
        "p": omnibus.p,
        "effect": "partial η²",
        "value": partial.value,
        "corrected": replace(partial, value=partial.corrected),
        "by_chance": partial.by_chance,
        "generalized": generalized.value,
        "generalized_corrected": replace(generalized, value=generalized.corrected),
        "generalized_by_chance": generalized.by_chance,
    }, (*problems, *omnibus.problems)


# The analysis.

_COMPARED = ComparedFactor(
    "Compare",
    first=(
        "context_set",
        "rewriting",
        "respondent",
        "language",
        "form",
        "entity",
        "template",
        "label_order",
        "phase",
        "items_per_call",
        "history",
        *SETTINGS,
        "format",
        "model",
    ),
    then_facts=True,
    help="Its levels are the groups, unless you type groups.",
)
"""Formats come late: their scales may differ in length."""

GroupFactor = Annotated[str, _COMPARED]
Groups = Annotated[
    TypedGroups,
    Rows(
        "Groups of contexts or people you expect to differ",
        (("context", "Context", "text"), ("group", "Group", "text")),
        help="Such as personas expected to score high or low. They take the place of the levels; "
        "contexts not listed are left out.",
    ),
]
ChosenDesign = Annotated[
    Design,
    Choice(
        "Design of the comparison",
        (
            ("automatic", "Automatic: within, if persons are the same"),
            ("within", "Within: the same contexts or people in every group"),
            ("between", "Between: other contexts or people in every group"),
        ),
        help="Within pairs the scores of a context or person. Automatic does so where two thirds "
        "of the contexts of the smallest group are in all groups.",
    ),
]
_TWO_GROUPS = "It needs two groups of two contexts or more each, with scores that vary."
_SHARED = (
    "Some contexts, people or other units are in several of the groups, and the test takes them as "
    "different ones. Under Design of the comparison, within pairs those that are in all groups."
)


def _format_caution(item_scores: pd.DataFrame) -> str:
    """That means of formats are not compared, with the points of each where they are known."""
    if not {"format", LOWEST, HIGHEST} <= {*item_scores.columns}:
        return FORMAT_POINTS
    ends = item_scores.groupby("format", sort=True)[[LOWEST, HIGHEST]].agg(
        {LOWEST: "min", HIGHEST: "max"}
    )
    named = [
        f"{name} ({low:g} to {high:g})" if low < high else str(name)
        for name, low, high in ends.itertuples()
    ]
    return f"{FORMAT_POINTS} Points: {name_list(named)}."


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Whether the groups differ on every scale, and which has the higher mean."""
    form = sentences.first_column(sentences.table_of(result, "tests"), "corrected", "value")
    means = sentences.rows_by_group(sentences.table_of(result, "groups"))
    pairs = sentences.rows_by_group(sentences.table_of(result, "pairs"))

    def part(group: str, row: sentences.TableRow, scales: Sequence[str]) -> str:
        scale = sentences.scale_name(row["scale"], scales)
        within, unit = row.get("design") == "within", str(row.get("unit", "row"))
        gaps = ""
        if within and row["n_missing"]:
            gaps = f" ({count_text(row['n_missing'], unit)} with a gap left out)"
        basis = scores.basis_text(
            0 if within else int(row["n_missing"]),
            *(int(row[name]) for name in ("n_fewer", "n_items", "items_left_out")),
            row=unit if " " not in unit else "row",
        )
        if not math.isfinite(row["p_adjusted"]):
            why = "too few scores in a group, or no variance"
            return f"{scale}: undefined ({why}){gaps}{basis}"
        of_scale = [
            [one for one in rows[group] if one["scale"] == row["scale"]] for rows in (means, pairs)
        ]
        differ = _difference_text(row["p_adjusted"] < 0.05, *of_scale)
        degrees = (row["df1"], row["df2"])
        adjusted = "adjusted " if len(scales) > 1 else ""
        test = sentences.statistic_text(row["test"], degrees, row["statistic"])
        return (
            f"{scale}: {differ}, {test}, {adjusted}{sentences.p_text(row['p_adjusted'])}, "
            f"{_effect_text(row, form)}{_few_text(of_scale[0])}{gaps}{basis}"
        )

    def sentence(group: str, rows: Sequence[sentences.TableRow]) -> str:
        scales = [row["scale"] for row in rows]
        parts = sentences.join_parts((part(group, row, scales) for row in rows), "scales")
        return parts + _design_words(rows[0])

    tested = sentences.rows_by_group(sentences.table_of(result, "tests"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows)) for group, rows in tested.items()
    )


_CORRECTED = {"d": "g", "d_av": "g_av", "η²": "ε²", "partial η²": "partial ε²"}


def _effect_text(row: sentences.TableRow, form: str) -> str:
    """The effect with its interval, which is of both forms, and what chance gives."""
    name = row["effect"]
    write = sentences.decimal_text if name in ("d", "d_av") else sentences.coefficient_text
    interval = sentences.interval_text(row["ci_low"], row["ci_high"], write)
    value, chance = f"{name} = {write(row['value'])}", row.get("by_chance", math.nan)
    by_chance = f", where chance alone gives {write(chance)}" if math.isfinite(chance) else ""
    if form == "value" or not math.isfinite(row["corrected"]):
        return f"{value}{interval}{by_chance}"
    corrected = f"{_CORRECTED[name]} = {write(row['corrected'])}{interval}"
    return f"{corrected} (uncorrected: {value}{by_chance})"


def _difference_text(
    differ: bool, groups: Sequence[sentences.TableRow], pairs: Sequence[sentences.TableRow]
) -> str:
    """Which group is higher, with the means; of paired units those of the pairs.

    Of two, the second is set beside the first, as in the signs of the test and of the effect. Of
    three groups or more, which ones differ is told by the pairs; the ends are named.
    """
    if len(groups) == 2 and "mean_first" in pairs[0]:
        means = {pairs[0][name]: pairs[0][f"mean_{name}"] for name in ("first", "second")}
    else:
        means = {row["group"]: row["mean"] for row in groups if math.isfinite(row["mean"])}
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    first, second = (high, low) if len(means) > 2 else reversed(means)
    both = f"M = {sentences.decimal_text(means[first])} and {sentences.decimal_text(means[second])}"
    if len(means) > 2 and not differ:
        ends = [f"{sentences.decimal_text(means[end])} ({end})" for end in (low, high)]
        return f"no clear difference (M from {ends[0]} to {ends[1]})"
    if len(means) > 2:
        return f"groups differ (highest {first}, lowest {second}: {both}{_pairs_text(pairs)})"
    if not differ:
        return f"no clear difference between {first} and {second} ({both})"
    return f"{first} is {'higher' if first == high else 'lower'} than {second} ({both})"


def _pairs_text(pairs: Sequence[sentences.TableRow]) -> str:
    """Which pairs of three groups or more differ, as all of them need not."""
    apart = [f"{row['first']} and {row['second']}" for row in pairs if row["p_adjusted"] < 0.05]
    if len(apart) == len(pairs):
        return "; every pair differs"
    return f"; pairs that differ: {', '.join(apart) or 'none by itself'}"


_FEW = 10
"""Units of a group below which one of them can make a difference by itself."""


def _few_text(groups: Sequence[sentences.TableRow]) -> str:
    """The groups of few units, as a sentence within a sentence."""
    small = [f"{row['group']} {int(row['n'])}" for row in groups if 0 < row["n"] < _FEW]
    return f" (few: n of {', '.join(small)})" if small else ""


def _design_words(row: sentences.TableRow) -> str:
    """What is paired and averaged, and what repetitions beside other units speak for."""
    if "design" not in row:  # of a result on file, made before designs were chosen
        return ""
    unit, words = str(row["unit"]), ""
    several = " and ".join(map(levels_word, unit.split(" and ")))
    if row["design"] == "within":
        which = "both groups" if row["n_groups"] == 2 else "all groups"
        words += f" Within design: the same {several} in {which}, paired."
    elif row["design"] != "between":
        words += (
            f" Between design, though some {several} are in several groups: the test takes "
            "them as different ones."
        )
    if row["averaged"]:
        words += f" Each score is of one {unit}: the mean over {row['averaged']}."
    if " and " in unit and {"repetition", "administration"} & set(unit.split(" and ")):
        words += (
            " A group of one context has its repetitions as rows: what is said of it holds for "
            "this model as it was asked here, not for other models, wordings or people."
        )
    return words


def _scripts(
    item_scores: pd.DataFrame,
    *,
    factor: GroupFactor = "context_set",
    groups: Groups = (),
    design: ChosenDesign = "automatic",
    by: By = ("respondent",),
    alternative: Tail = "two-sided",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    reported: Reported = "corrected",
    ci_level: ConfidenceLevel = 0.95,
    lists: Lists = None,
    stereotypes: Stereotypes = (),
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `group_comparison`."""
    del lists, stereotypes, reported  # scores of texts: see core/workflow/answers/texts.py
    known = group_members(item_scores, factor, groups, by, design)
    tables = []
    for own in grouped_scores(known, incomplete, design)[0]:
        places = {name: place for place, name in enumerate(own.scores)}
        pairs = tuple((places[x], places[y]) for x, y in level_pairs(list(own.scores)))
        tables.append(SeparateGroups(own.lead, own.scale, own.scores, pairs, own.design.within))
    return group_files(
        tables,
        title=f"Comparison of groups: {known.what}",
        incomplete=incomplete,
        adjust=adjust,
        alternative=alternative,
        ci_level=ci_level,
    )


@analysis(
    title="Comparison of groups",
    question="Do groups that ought to differ have different scores?",
    topic="validity",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    averages_units=True,
    answer=_answer,
    charts=group_charts,
    scripts=_scripts,
    references=(
        "Cronbach & Meehl (1955) doi:10.1037/h0040957",
        "Welch (1947) doi:10.1093/biomet/34.1-2.28",
        "Welch (1951) doi:10.1093/biomet/38.3-4.330",
        "Games & Howell (1976) doi:10.3102/10769986001002113",
        "Bonett (2008) doi:10.1037/1082-989X.13.2.99",
        "Student (1908) doi:10.1093/biomet/6.1.1",
        "Greenhouse & Geisser (1959) doi:10.1007/BF02289823",
        "Olejnik & Algina (2003) doi:10.1037/1082-989X.8.4.434",
        "Algina & Keselman (2003) doi:10.1177/0013164403256358",
        "Cumming (2012), Understanding the new statistics",
        "Smithson (2003), Confidence intervals",
        "Cohen (1988), Statistical power analysis for the behavioral sciences",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Steiger (2004) doi:10.1037/1082-989X.9.2.164",
        "Brown & Forsythe (1974), Technometrics 16, 129-132",
        "Mehrotra (1997), Communications in Statistics - Simulation 26, 1139-1145",
        "Hays (1963), Statistics for psychologists",
        "Hedges (1981) doi:10.3102/10769986006002107",
        "Kelley (1935) doi:10.1073/pnas.21.9.554",
        "Mordkoff (2019) doi:10.1177/2515245919855053",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "known groups",
        "group differences",
        "t test",
        "paired t test",
        "Welch",
        "ANOVA",
        "repeated measures",
        "within-subjects",
        "Greenhouse-Geisser",
        "Cohen's d",
        "effect size",
        "eta squared",
        "validity",
        "mean differences",
        "comparison of models",
        "compare models",
        "compare groups",
    ),
    requires="scores",
    in_reports=True,
)
def group_comparison(
    item_scores: pd.DataFrame,
    *,
    factor: GroupFactor = "context_set",
    groups: Groups = (),
    design: ChosenDesign = "automatic",
    by: By = ("respondent",),
    alternative: Tail = "two-sided",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    reported: Reported = "corrected",
    ci_level: ConfidenceLevel = 0.95,
    lists: Lists = None,
    stereotypes: Stereotypes = (),
) -> AnalysisResult:
    """Means of known groups on every scale, tested all together and two by two.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are the groups compared.
    groups : rows of (context, group)
        Groups typed by the user; they take the place of the levels of `factor`. Contexts not
        listed are left out and counted.
    design : "automatic", "within" or "between"
        Whether scores of the same unit are paired; automatic where two thirds of the units of the
        smallest group are in all groups.
    by : tuple of factors
        What is compared, and what it decides, is ignored here.
    alternative : "two-sided", "greater" or "less"
        What p of two groups tests: greater is the second above the first. Three groups or more
        are tested for any difference.

    Returns
    -------
    AnalysisResult
        `groups`, one row per scale and group; `tests`, one row per scale: Welch's t with Cohen's d
        for two groups, Welch's F with eta squared for more, or the paired t and F of repeated
        measures; effects as published, corrected for chance with their interval, and by chance;
        `pairs`, one row per scale and pair of groups.

    Raises
    ------
    NotEnoughData
        No two groups can be compared on any scale, a column that is asked for is missing, or the
        typed groups do not fit the contexts. If only some tests are undefined, they are NaN with
        a remark, and a note says where.

    Notes
    -----
    The unit is a person, or a context (an entity, a respondent, where contexts do not vary): its
    administrations in a group, each scored by the mean of its items, are averaged first. Where one
    context alone was asked, its repetitions are the units. In a within design the units with a
    score in every group are paired; pairs of groups take the units that both have. Forms, formats,
    templates and so on in which not all groups were asked are left out and named. Units are
    taken as independent. In a between design variances may differ; scores are taken as normal
    within groups, which matters little from 30 units. Welch (1947, 1951); Greenhouse & Geisser
    (1959). Agrees with scipy's ttest_ind and ttest_rel, statsmodels' anova_oneway and AnovaRM, and
    with t.test, aov and anova of R.
    """
    del lists, stereotypes  # they say what scores of texts are, see core/workflow/answers/texts.py
    grouping = group_members(item_scores, factor, groups, by, design)
    scales, compared_scores = grouped_scores(grouping, incomplete, design)
    findings = Findings(list(grouping.cautions), list(grouping.notes))
    specs = (GROUPS, tests_spec(reported), PAIRS)
    means, tests, pairs = (tables.TableRows(spec, grouping.by, ci_level) for spec in specs)
    used: dict[str, set[int]] = {}
    for scale in with_progress(scales, "scales"):
        _add_means(scale, means)
        compared = _compare_scale(scale, tests, pairs, findings, alternative)
        used.setdefault(scale.scale, set()).update(compared)
    if not any(used.values()):
        needs = _TWO_GROUPS
        if not groups:
            needs = with_alternatives(_TWO_GROUPS, item_scores, _COMPARED, factor)
        remedy = scores.scores_remedy(item_scores, incomplete, needs)
        raise findings.refusal("No groups can be compared.", remedy, grouping.by)
    designs = list(dict.fromkeys(scale.design for scale in scales))
    findings.cautions += [_format_caution(item_scores)] * (factor == "format" and not groups)
    findings.cautions += [_SHARED] * any(one.shared and not one.within for one in designs)
    result_tables = (
        means.table(),
        with_adjusted_p(_used_columns(tests.table(), designs), adjust, grouping.by),
        with_adjusted_p(_used_columns(pairs.table(), designs), adjust, grouping.by),
    )
    return score_result(
        item_scores,
        result_tables,
        findings,
        n_used=scores.scores_used(compared_scores, used),
        method=f"{_method(grouping.what, designs, alternative, ci_level)}"
        f"{adjustment_words(adjust, result_tables)}.",
        matrices=score_matrices(item_scores, grouping.by),
        taken_for_granted=INDEPENDENT_ROWS if any(not one.within for one in designs) else ("", ""),
        called="row",
        unit=_unit_words(designs),
        later_notes=scores.unanswered_notes(item_scores),
    )


def _method(
    groups: str, designs: Sequence[ComparisonDesign], alternative: Alternative, ci_level: float
) -> str:
    """What is compared by which tests."""
    tests_named = " and ".join(
        name
        for name, within in (
            ("paired tests and analysis of variance of repeated measures", True),
            ("Welch's tests", False),
        )
        if any(one.within == within for one in designs)
    )
    return (
        f"Scores are means of items after reverse-keying; groups by {groups}; "
        f"{tests_named}, {TAILS[alternative]} for two groups; {ci_level * 100:g}% intervals"
    )
