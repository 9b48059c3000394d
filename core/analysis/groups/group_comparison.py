"""Do groups that ought to differ have different scores?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.kit import scores, sentences
from core.analysis.kit.adjusting import STARS, with_adjusted_p
from core.analysis.kit.alternatives import with_alternatives
from core.analysis.kit.comparisons import asked_alike
from core.analysis.kit.matrices import distinct, score_matrices
from core.analysis.kit.options import (
    FORMAT_POINTS,
    INDEPENDENT_ROWS,
    TAILS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    Tail,
    adjustment_words,
)
from core.analysis.kit.registry import ComparedFactor, Rows, analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.rows import Floats, rows_are_people
from core.analysis.kit.scripts.comparisons import SeparateGroups, group_files
from core.analysis.scales.score_correlations import MOST_LEVELS, level_pairs
from core.charts.dots import group_charts
from core.domain import tables
from core.domain.factors import CONTEXT_SET, REWRITING
from core.domain.frames import HIGHEST, ITEM_SCORES, LOWEST
from core.domain.notes import Place, about
from core.domain.results import AnalysisResult, TextFile
from core.domain.study import FACTORS, SETTINGS
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.correlation import Alternative
from core.stats.groups import MeanTest, known_groups, mean_interval, summary, welch_t
from core.stats.inputs import Estimate, name_list
from core.stats.scores import ScoreRule

# The groups and their scores.

TypedGroups = tuple[tuple[str | float, ...], ...]

_DETERMINED_BY = {
    "model": ("respondent",),
    "respondent": ("model",),
    CONTEXT_SET: ("context",),
    REWRITING: ("context",),
}
"""Factors that have one level of what is compared in each of theirs, so they cannot hold it."""


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Which administration belongs to which group.

    `members` has a row per administration that belongs to any: `group_name`, `group_place` (order
    of the group) and the factors set side by side. `what` says what the groups are.
    """

    item_scores: pd.DataFrame
    members: pd.DataFrame
    by: tuple[str, ...]
    what: str
    notes: tuple[str, ...]
    matched: bool  # whether the same contexts stand under several groups
    cautions: tuple[str, ...] = ()  # what is left out since not all groups were asked it


@dataclass(frozen=True, eq=False)
class GroupedScores:
    """Scores of one scale by group: arrays in order of the groups, and administrations.

    They are of the `n_items` that have answers in all groups; `items_left_out` have in some only.
    `n_fewer` counts the scores that are of fewer items.
    """

    lead: tuple[Any, ...]
    scale: str
    scores: dict[str, Floats]
    administrations: dict[str, list[int]]
    n_items: int
    items_left_out: tuple[str, ...]
    n_fewer: dict[str, int]

    @property
    def where(self) -> Place:
        """What to call it in a note."""
        return scale_of_group(self.lead, self.scale, "scale")


def _group_members(
    item_scores: pd.DataFrame, factor: str, typed: TypedGroups, by: Sequence[str]
) -> KnownGroups:
    """The group of every administration: a level of `factor`, or the typed group of its context.

    Raises
    ------
    NotEnoughData
        There are no rows, a column is missing, or the typed groups do not fit the contexts.
    """
    if item_scores.empty:
        raise NotEnoughData(
            "There are no answers yet.", "Run or import a study, or widen the filters."
        )
    compared = "context" if typed else factor
    decided = (compared, *_DETERMINED_BY.get(compared, ()))
    names = tuple(name for name in distinct(by) if name not in decided)
    members = scores.administration_labels(item_scores, distinct((*names, compared, "context")))
    notes: tuple[str, ...] = ()
    if typed:
        group_of = _read_groups(typed, [str(name) for name in members["context"].unique()])
        order = {name: place for place, name in enumerate(dict.fromkeys(group_of.values()))}
        n_all = len(members)
        members = members[members["context"].astype(str).isin(list(group_of))]
        group = members["context"].astype(str).map(group_of)
        if len(members) < n_all:
            left_out = n_all - len(members)
            notes = (f"{left_out} of {n_all} administrations are under contexts in no group.",)
    else:
        levels = scores.levels_in_order(item_scores, factor)
        order = {str(scores.level_name(level)): place for place, level in enumerate(levels)}
        group = members[factor].map(lambda level: str(scores.level_name(level)))
    members = members.assign(group_name=group, group_place=group.map(order))
    # People are others in every group, and so are contexts of which groups share none: these are
    # individuals. Contexts that some groups share are the same in what is compared.
    asked = members.assign(group_name=members["group_name"].astype(str), item="", status="")
    further = [name for name in FACTORS if name not in asked and name in item_scores]
    if further:
        asked = asked.join(scores.administration_labels(item_scores, further))
    individuals = {"context", "respondent"} if rows_are_people(item_scores) else set()
    contexts = asked.groupby("group_name")["context"].unique()
    if sum(map(len, contexts)) == asked["context"].nunique():
        individuals.add("context")
    alike, cautions = asked_alike(
        asked, names, "group_name", tuple({*names, *decided, *individuals})
    )
    members = members[alike]
    n_groups = members.groupby("context")["group_name"].nunique()
    return KnownGroups(
        item_scores,
        members,
        names,
        "groups as typed" if typed else factor.replace("_", " "),
        notes,
        len(n_groups) > 1 and bool((n_groups > 1).any()),
        tuple(cautions),
    )


def _read_groups(typed: TypedGroups, contexts: Sequence[str]) -> dict[str, str]:
    """The group of each context typed; raises where they do not fit the contexts there are."""
    group_of: dict[str, str] = {}
    for row in typed:
        context, group = (str(cell).strip() for cell in row)
        if not context and not group:
            continue
        if not context or not group:
            raise NotEnoughData(
                f"A row of the groups is half empty: '{context or group}'.",
                "Type a context and its group, or remove the row.",
            )
        if context not in contexts:
            near = get_close_matches(context, contexts, n=3) or list(contexts)
            raise NotEnoughData(
                f"There is no context '{context}' among the answers.",
                f"Use a code of the contexts, such as {name_list(near, 3)}.",
            )
        if group_of.setdefault(context, group) != group:
            raise NotEnoughData(
                f"Context '{context}' is in two groups: {group_of[context]} and {group}.",
                "Give each context one group.",
            )
    if len(set(group_of.values())) < 2:
        raise NotEnoughData(
            "The groups typed are fewer than two.", "Give some contexts a second group."
        )
    return group_of


def _grouped_scores(
    grouping: KnownGroups, incomplete: ScoreRule
) -> tuple[tuple[GroupedScores, ...], ItemScores]:
    """The scores of every scale and group, for each combination set side by side.

    Also the item scores that they are made of.
    """
    members = grouping.members
    by = list(grouping.by)
    side = members.groupby(by, sort=False).ngroup() if by else 0
    cells = members.assign(group=side, level=members["group_name"])
    shared = scores.over_shared_items(grouping.item_scores, cells)
    scored = scores.administration_scores(shared.item_scores, incomplete).join(
        cells, on="administration", how="inner"
    )
    scales = []
    for number, of_side in scored.groupby("group", sort=True):
        lead = tuple(of_side[name].iloc[0] for name in by)
        absent = [
            scale
            for side_number, scale in shared.n_items
            if side_number == number
            and shared.left_out[number, scale]
            and not shared.n_items[number, scale]
        ]
        for scale in scores.shown_scales([*of_side["scale"], *absent]):
            rows = of_side[of_side["scale"] == scale]
            if scale in absent:  # nothing to compare, but to be named
                rows = of_side.drop_duplicates("administration").assign(
                    score=math.nan, n_answered=0
                )
            rows = rows.sort_values("group_place", kind="stable")
            n_items = shared.n_items[number, scale]
            rows = rows.assign(fewer=rows["score"].notna() & (rows["n_answered"] < n_items))
            by_group = {str(name): part for name, part in rows.groupby("group_name", sort=False)}
            scales.append(
                GroupedScores(
                    lead,
                    scale,
                    {name: part["score"].to_numpy(dtype=float) for name, part in by_group.items()},
                    {name: part["administration"].tolist() for name, part in by_group.items()},
                    n_items,
                    shared.left_out[number, scale],
                    {name: int(part["fewer"].sum()) for name, part in by_group.items()},
                )
            )
    return tuple(scales), shared.item_scores


# Tables: groups, tests of all groups together, pairs.

_SCALE = tables.key("scale", "Scale", "All items together, then each subscale.")
_N = tables.count("n", "n", "Administrations with a score.")
_MISSING = tables.count("n_missing", "Missing", "Administrations without a score.")
_FEWER = tables.count("n_fewer", "Fewer items", "Scores of some of the items only.")

GROUPS = tables.TableSpec(
    "groups",
    "Groups",
    (
        _SCALE,
        tables.key("group", "Group", "A level of what is compared, or a group as typed."),
        *tables.estimate(
            "mean",
            "M",
            "points",
            "Mean of the scores of the group.",
            "Of the mean, by t with n - 1 df.",
            between=(tables.number("sd", "SD", "points", "Standard deviation, divisor n - 1."),),
        ),
        _N,
        _MISSING,
        _FEWER,
        tables.remark("Why undefined."),
    ),
    "Groups",
)
TESTS = tables.TableSpec(
    "tests",
    "All groups together",
    (
        _SCALE,
        tables.count("n_groups", "Groups"),
        tables.text(
            "test",
            "Test",
            "Two groups: Welch's t (1947), second minus first. More: Welch's F (1951), or "
            "the classic F where a group does not vary.",
        ),
        tables.number("statistic", "t or F", "points", "Difference in units of its error."),
        tables.number("df1", "df 1", "points", "Groups - 1; of F only."),
        tables.number(
            "df2", "df 2", "points", "Of the error; not whole where variances may differ."
        ),
        tables.p_value("p", "p", "Against equal means.", of="value"),
        tables.p_value(
            "p_adjusted", "Adjusted p", "Over the scales of a group of results.", of="value"
        ),
        STARS,
        tables.text(
            "effect",
            "Effect",
            "d: difference / pooled SD, Cohen (1988). η²: share of variance between groups.",
        ),
        *tables.estimate(
            "value",
            "Effect size",
            "points",
            "Of d or η², as the column Effect says.",
            "d by the noncentral t, Cumming & Finch (2001); η² by the noncentral F, Steiger "
            "(2004).",
            ends_title=f"Effect {tables.LEVEL}",
        ),
        tables.number(
            "omega_squared",
            "ω²",
            "points",
            "Share of variance between groups, corrected for chance; Hays (1963). May be "
            "negative, which means none.",
        ),
        _N,
        _MISSING,
        tables.count("n_items", "Items", "Items that have answers in all groups."),
        tables.count("items_left_out", "Items left out", "Answered in some groups only."),
        _FEWER,
        tables.remark("Why undefined, and cautions."),
    ),
    "Tests",
)
PAIRS = tables.TableSpec(
    "pairs",
    "Groups two by two",
    (
        _SCALE,
        tables.key("first", "First"),
        tables.key("second", "Second"),
        *tables.estimate(
            "difference",
            "Second − first",
            "points",
            "Difference of the means.",
            "Two-sided, by Welch's t (1947).",
        ),
        tables.number("t", "t", "points", "Welch (1947): variances may differ."),
        tables.number("df", "df", "points", "Not whole where variances differ."),
        tables.p_value(
            "p", "p", "Against equal means, in the direction expected.", of="difference"
        ),
        tables.p_value(
            "p_adjusted",
            "Adjusted p",
            "Over scales and pairs of a group of results.",
            of="difference",
        ),
        STARS,
        *tables.estimate(
            "d",
            "d",
            "points",
            "Difference / pooled SD; Cohen (1988).",
            "By the noncentral t distribution, two-sided; Cumming & Finch (2001).",
            ends_title=f"d {tables.LEVEL}",
            ends_name="d",
        ),
        tables.count("n_first", "n first"),
        tables.count("n_second", "n second"),
        tables.remark("Why undefined."),
    ),
    "Pairs",
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
    level = tests.level
    adjusted_later: dict[str, Any] = {"p_adjusted": math.nan, "stars": ""}
    undefined: dict[str, list[str]] = {}  # pairs by problem
    shifts = {
        (first, second): welch_t(
            scale.scores[second], scale.scores[first], alternative=alternative, level=level
        )
        for first, second in level_pairs(list(scale.scores))
    }
    for (first, second), shift in shifts.items():
        pairs.add(
            scale.lead,
            scale=scale.scale,
            first=first,
            second=second,
            difference=Estimate(shift.difference, shift.low, shift.high),
            t=shift.t,
            df=shift.df,
            p=shift.p,
            d=Estimate(shift.effect, shift.effect_low, shift.effect_high),
            n_first=shift.n[1],
            n_second=shift.n[0],
            remark=" ".join(shift.problems),
            **adjusted_later,
        )
        for problem in shift.problems:
            undefined.setdefault(problem, []).append(f"{first} with {second}")
    n = sum(int(np.isfinite(values).sum()) for values in scale.scores.values())
    test, problems = _test_of_all(scale, list(shifts.values()), level)
    tests.add(
        scale.lead,
        scale=scale.scale,
        n_groups=len(scale.scores),
        n=n,
        n_missing=sum(map(len, scale.scores.values())) - n,
        n_items=scale.n_items,
        items_left_out=len(scale.items_left_out),
        n_fewer=sum(scale.n_fewer.values()),
        remark=" ".join(problems),
        **test,
        **adjusted_later,
    )
    _add_basis(scale, findings)
    for problem in problems:
        findings.caution(scale.where, problem)
    if len(scale.scores) > 2:
        findings.cautions += [
            about(scale.where, problem, name_list(names)) for problem, names in undefined.items()
        ]
    compared = {name for pair, shift in shifts.items() if math.isfinite(shift.t) for name in pair}
    return {
        administration
        for name in compared
        for administration, score in zip(
            scale.administrations[name], scale.scores[name], strict=True
        )
        if math.isfinite(score)
    }


def _test_of_all(
    scale: GroupedScores, shifts: Sequence[MeanTest], level: float
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The cells of the test of two groups, or of three or more, and its problems.

    The classic F takes the place of Welch's where a group does not vary.
    """
    if len(scale.scores) == 2:
        (shift,) = shifts
        cells = {
            "test": "Welch's t",
            "statistic": shift.t,
            "df1": math.nan,
            "df2": shift.df,
            "p": shift.p,
            "effect": "d",
            "value": Estimate(shift.effect, shift.effect_low, shift.effect_high),
            "omega_squared": math.nan,
        }
        return cells, shift.problems
    omnibus = known_groups(scale.scores, level=level)
    cells = {
        "test": "Welch's F",
        "statistic": omnibus.f,
        "df1": omnibus.df1,
        "df2": omnibus.df2,
        "p": omnibus.p,
        "effect": "η²",
        "value": Estimate(omnibus.eta_squared, omnibus.low, omnibus.high),
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
    help="Its levels are the groups, unless you type groups.",
)
"""Formats come late: their scales may differ in length."""

GroupFactor = Annotated[str, _COMPARED]
Groups = Annotated[
    TypedGroups,
    Rows(
        "Groups of contexts you expect to differ",
        (("context", "Context", "text"), ("group", "Group", "text")),
        help="Such as personas expected to score high or low. They take the place of the levels; "
        "contexts not listed are left out.",
    ),
]
_TWO_GROUPS = "It needs two groups of two contexts or more each, with scores that vary."
_MATCHED = (
    "The same contexts are under several of the groups, and this test takes them as different "
    "ones; a comparison pair by pair would show smaller differences."
)
_WITHOUT_PAIRS = ("context_set", "model", "respondent")
"""Factors whose levels are other individuals, so that no pairs can be made of them."""


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
    """Whether the groups differ on every scale."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        parts = []
        for row in rows:
            scale = sentences.scale_name(row["scale"], (other["scale"] for other in rows))
            counts = ("n_missing", "n_fewer", "n_items", "items_left_out")
            basis = scores.basis_text(*(int(row[name]) for name in counts))
            if not math.isfinite(row["p_adjusted"]):
                parts.append(
                    f"{scale}: undefined (too few scores in a group, or no variance){basis}"
                )
                continue
            differ = "groups differ" if row["p_adjusted"] < 0.05 else "no clear difference"
            degrees = (row["df1"], row["df2"])
            test = sentences.statistic_text(row["test"], degrees, row["statistic"])
            is_d = row["effect"] == "d"
            write = sentences.decimal_text if is_d else sentences.coefficient_text
            parts.append(
                f"{scale}: {differ}, {test}, adjusted {sentences.p_text(row['p_adjusted'])}, "
                f"{row['effect']} = {write(row['value'])}"
                f"{sentences.interval_text(row['ci_low'], row['ci_high'], write)}{basis}"
            )
        return sentences.join_parts(parts, "scales")

    return sentences.answers_of_groups(sentences.table_of(result, "tests"), sentence)


def _group_comparison_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: GroupFactor = "context_set",
    groups: Groups = (),
    by: By = ("respondent",),
    alternative: Tail = "two-sided",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `group_comparison`."""
    known = _group_members(item_scores, factor, groups, by)
    tables = []
    for own in _grouped_scores(known, incomplete)[0]:
        places = {name: place for place, name in enumerate(own.scores)}
        pairs = tuple((places[x], places[y]) for x, y in level_pairs(list(own.scores)))
        tables.append(SeparateGroups(own.lead, own.scale, own.scores, pairs))
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
    answer=_answer,
    charts=group_charts,
    scripts=_group_comparison_scripts,
    references=(
        "Cronbach & Meehl (1955) doi:10.1037/h0040957",
        "Welch (1947) doi:10.1093/biomet/34.1-2.28",
        "Welch (1951) doi:10.1093/biomet/38.3-4.330",
        "Cohen (1988), Statistical power analysis for the behavioral sciences",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Steiger (2004) doi:10.1037/1082-989X.9.2.164",
        "Hays (1963), Statistics for psychologists",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "known groups",
        "group differences",
        "t test",
        "Welch",
        "ANOVA",
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
    by: By = ("respondent",),
    alternative: Tail = "two-sided",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
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
    by : tuple of factors
        What is compared, and what it decides, is ignored here.
    alternative : "two-sided", "greater" or "less"
        What p of two groups tests: greater is the second above the first. Three groups or more
        are tested for any difference.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p, over the scales (`tests`) or over scales and pairs of groups (`pairs`).

    Returns
    -------
    AnalysisResult
        `groups`, one row per scale and group; `tests`, one row per scale: Welch's t with Cohen's d
        for two groups, Welch's F with eta squared and omega squared for more; `pairs`, one row per
        scale and pair of groups.

    Raises
    ------
    NotEnoughData
        No two groups can be compared on any scale, a column that is asked for is missing, or the
        typed groups do not fit the contexts. If only some tests are undefined, they are NaN with
        a remark, and a note says where.

    Notes
    -----
    A row is one administration, scored by the mean of its items. Forms, formats, instructions,
    contexts and so on in which not all groups were asked are left out and named. Rows are taken as
    independent; those of one model are not, and p is then too small. Variances may differ between
    groups; scores are taken as normal within groups, which matters little from 30 rows each. Welch
    (1947, 1951). Agrees with scipy's ttest_ind and statsmodels' anova_oneway.
    """
    grouping = _group_members(item_scores, factor, groups, by)
    scales, compared_scores = _grouped_scores(grouping, incomplete)
    findings = Findings(list(grouping.cautions), list(grouping.notes))
    means, tests, pairs = (
        tables.TableRows(spec, grouping.by, ci_level) for spec in (GROUPS, TESTS, PAIRS)
    )
    used: dict[str, set[int]] = {}
    for scale in with_progress(scales, "scales"):
        _add_means(scale, means)
        compared = _compare_scale(scale, tests, pairs, findings, alternative)
        used.setdefault(scale.scale, set()).update(compared)
    if not any(used.values()):
        needs = _TWO_GROUPS
        if not groups:
            needs = with_alternatives(_TWO_GROUPS, item_scores, _COMPARED, factor)
        raise findings.refusal(
            "No groups can be compared.", scores.scores_remedy(item_scores, incomplete, needs)
        )
    if factor == "format" and not groups:
        findings.cautions.append(_format_caution(item_scores))
    if grouping.matched:
        paired = "" if groups or factor in _WITHOUT_PAIRS else " Score correlations makes it."
        findings.cautions.append(_MATCHED + paired)
    result_tables = (
        means.table(),
        with_adjusted_p(tests.table(), adjust, grouping.by),
        with_adjusted_p(pairs.table(), adjust, grouping.by),
    )
    return score_result(
        item_scores,
        result_tables,
        findings,
        n_used=scores.scores_used(compared_scores, used),
        method=f"Scores are means of items after reverse-keying; groups by {grouping.what}; "
        f"Welch's tests, {TAILS[alternative]} for two groups; {ci_level * 100:g}% intervals"
        f"{adjustment_words(adjust, result_tables)}.",
        matrices=score_matrices(item_scores, grouping.by),
        taken_for_granted=INDEPENDENT_ROWS,
        called="row",
        later_notes=scores.unanswered_notes(item_scores),
    )
