"""Do groups that ought to differ have different scores?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.analysis.kit.adjusting import STARS
from core.analysis.scales.score_correlations import MOST_LEVELS, level_pairs, table
from core.analysis.shared.comparisons import asked_alike
from core.analysis.shared.matrices import (
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.shared.options import (
    FORMAT_POINTS,
    INDEPENDENT_ROWS,
    SETTING_CHOICES,
    TAILS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    SettingName,
    Tail,
    adjustment_words,
)
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Choice, Rows, analysis
from core.analysis.shared.rows import (
    Floats,
    analysis_unit,
    row_cautions,
    row_notes,
    rows_are_people,
    with_alternatives,
)
from core.analysis.shared.scores import (
    administration_labels,
    administration_scores,
    basis_text,
    left_out_caution,
    level_name,
    level_sort_key,
    over_shared_items,
    scores_remedy,
    scores_used,
    shown_scales,
    unanswered_notes,
)
from core.analysis.shared.scripts.comparisons import SeparateGroups, group_files
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    coefficient_text,
    decimal_text,
    interval_text,
    join_parts,
    p_text,
    scale_name,
    statistic_text,
    table_of,
)
from core.charts.dots import group_charts
from core.domain.frames import CONTEXT_SET, HIGHEST, ITEM_SCORES, LOWEST, REWRITING
from core.domain.notes import Place, about
from core.domain.results import AnalysisResult, Column, TextFile, with_tabs
from core.domain.study import FACTORS, SETTINGS
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.correlation import Alternative
from core.stats.groups import (
    KnownGroupsTest,
    MeanTest,
    known_groups,
    mean_interval,
    summary,
    welch_t,
)
from core.stats.inputs import name_list
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

    `members` has a row per administration that belongs to any: `group`, `place` (order of the
    group) and the factors set side by side. `what` says what the groups are.
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
    def where(self) -> str:
        """What to call it in a note."""
        return Place(group_name(self.lead), "scale", self.scale)


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
    members = administration_labels(
        item_scores, tuple(dict.fromkeys((*names, compared, "context")))
    )
    notes: tuple[str, ...] = ()
    if typed:
        chosen = _read_groups(typed, [str(name) for name in members["context"].unique()])
        order = {name: place for place, name in enumerate(dict.fromkeys(chosen.values()))}
        n_all = len(members)
        members = members[members["context"].astype(str).isin(list(chosen))]
        group = members["context"].astype(str).map(chosen)
        if len(members) < n_all:
            left_out = n_all - len(members)
            notes = (f"{left_out} of {n_all} administrations are under contexts in no group.",)
    else:
        levels = sorted(members[factor].unique(), key=level_sort_key)
        order = {str(level_name(level)): place for place, level in enumerate(levels)}
        group = members[factor].map(lambda level: str(level_name(level)))
    members = members.assign(group_name=group, group_place=group.map(order))
    alike, cautions = _asked_alike(item_scores, members, names, decided)
    members = members[alike]
    shared = members.groupby("context")["group_name"].nunique()
    return KnownGroups(
        item_scores,
        members,
        names,
        "groups as typed" if typed else factor.replace("_", " "),
        notes,
        len(shared) > 1 and bool((shared > 1).any()),
        tuple(cautions),
    )


def _asked_alike(
    item_scores: pd.DataFrame, members: pd.DataFrame, by: Sequence[str], decided: Sequence[str]
) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Which administrations were given in ways that all groups have, and cautions.

    People are others in every group, and so are contexts of which groups share none: these are
    individuals. Contexts that some groups share are the same in what is compared.
    """
    own = members.assign(group_name=members["group_name"].astype(str), item="", status="")
    names = [name for name in FACTORS if name not in own and name in item_scores]
    own = own.join(administration_labels(item_scores, names)) if names else own
    apart = {*by, *decided, *(("context", "respondent") if rows_are_people(item_scores) else ())}
    contexts = own.groupby("group_name")["context"].unique()
    if sum(map(len, contexts)) == own["context"].nunique():
        apart.add("context")
    return asked_alike(own, by, "group_name", tuple(apart))


def _grouped_scores(
    known: KnownGroups, incomplete: ScoreRule
) -> tuple[tuple[GroupedScores, ...], ItemScores]:
    """The scores of every scale and group, for each combination set side by side.

    Also the item scores that they are made of.
    """
    members = known.members
    lead_of = members.groupby(list(known.by), sort=False).ngroup() if known.by else 0
    cells = members.assign(group=lead_of, level=members["group_name"])
    shared = over_shared_items(known.item_scores, cells)
    scores = administration_scores(shared.item_scores, incomplete)
    scored = scores.join(cells, on="administration", how="inner")
    scales = []
    for number, own in scored.groupby("group", sort=True):
        lead = tuple(own[name].iloc[0] for name in known.by)
        names = [scale for of, scale in shared.n_items if of == number]
        absent = [
            scale
            for scale in names
            if shared.left_out[number, scale] and not shared.n_items[number, scale]
        ]
        for scale in shown_scales([*own["scale"], *absent]):
            rows = own[own["scale"] == scale]
            if scale in absent:  # nothing to compare, but to be named
                rows = own.drop_duplicates("administration").assign(score=math.nan, n_answered=0)
            rows = rows.sort_values("group_place", kind="stable")
            n_items = shared.n_items[number, scale]
            by_group = {str(name): part for name, part in rows.groupby("group_name", sort=False)}
            scales.append(
                GroupedScores(
                    lead,
                    scale,
                    {name: part["score"].to_numpy(dtype=float) for name, part in by_group.items()},
                    {name: part["administration"].tolist() for name, part in by_group.items()},
                    n_items,
                    shared.left_out[number, scale],
                    {
                        name: int((part["score"].notna() & (part["n_answered"] < n_items)).sum())
                        for name, part in by_group.items()
                    },
                )
            )
    return tuple(scales), shared.item_scores


def _read_groups(typed: TypedGroups, contexts: Sequence[str]) -> dict[str, str]:
    """The group of each context typed; raises where they do not fit the contexts there are."""
    chosen: dict[str, str] = {}
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
        if chosen.setdefault(context, group) != group:
            raise NotEnoughData(
                f"Context '{context}' is in two groups: {chosen[context]} and {group}.",
                "Give each context one group.",
            )
    if len(set(chosen.values())) < 2:
        raise NotEnoughData(
            "The groups typed are fewer than two.", "Give some contexts a second group."
        )
    return chosen


# Tables: groups, omnibus tests, pairs.

Row = tuple[Any, ...]

Pairs = dict[tuple[str, str], MeanTest]

_FEWER = Column("n_fewer", "Fewer items", "count", "Scores of some of the items only.")
_SCALE = Column("scale", "Scale", help="All items together, then each subscale.")


@dataclass(frozen=True, eq=False)
class ScaleComparison:
    """What one scale adds to the tables, what to say about it, and the administrations used."""

    groups: list[Row]
    tests: list[Row]
    pairs: list[Row]
    notes: list[str]
    cautions: list[str]
    used: set[int]

    @property
    def defined(self) -> bool:
        """Whether any two groups could be compared."""
        return bool(self.used)


def _compare_scale(own: GroupedScores, alternative: Alternative, level: float) -> ScaleComparison:
    """The groups of one scale, compared all together and two by two."""
    lead = (*own.lead, own.scale)
    names = list(own.scores)
    pairs = {
        (first, second): welch_t(
            own.scores[second], own.scores[first], alternative=alternative, level=level
        )
        for first, second in level_pairs(names)
    }
    if len(names) == 2:
        shift = pairs[names[0], names[1]]
        test, problems = _two_groups_row(shift), shift.problems
    else:
        together = known_groups(own.scores, level=level)
        test, problems = _several_groups_row(together), together.problems
    counts = [int(np.isfinite(scores).sum()) for scores in own.scores.values()]
    n_missing = sum(map(len, own.scores.values())) - sum(counts)
    return ScaleComparison(
        [
            (*lead, name, *_group_row(scores, own.n_fewer[name], level))
            for name, scores in own.scores.items()
        ],
        [
            (
                *lead,
                len(names),
                *test,
                sum(counts),
                n_missing,
                own.n_items,
                len(own.items_left_out),
                sum(own.n_fewer.values()),
                " ".join(problems),
            )
        ],
        [(*lead, *pair, *_pair_row(shift)) for pair, shift in pairs.items()],
        _pair_notes(own),
        [
            *_basis_cautions(own),
            *(about(own.where, problem) for problem in problems),
            *_undefined_pairs(own, pairs),
        ],
        _used_administrations(own, pairs),
    )


def _basis_cautions(own: GroupedScores) -> list[str]:
    """That groups have answers to different items, or scores of some of the items only."""
    cautions = []
    if own.items_left_out:
        cautions.append(left_out_caution(own.where, own.n_items, own.items_left_out, "groups"))
    if any(own.n_fewer.values()):
        counts = ", ".join(
            f"{name} {n_fewer} of {int(np.isfinite(own.scores[name]).sum())}"
            for name, n_fewer in own.n_fewer.items()
        )
        cautions.append(
            about(
                own.where,
                f"some scores are means of some of the {own.n_items} items ({counts}); "
                "groups may differ in which items these are.",
            )
        )
    return cautions


def _group_row(scores: Floats, n_fewer: int, level: float) -> Row:
    """Mean, SD, n and the interval of the mean of one group."""
    known, n_missing = summary(scores), int((~np.isfinite(scores)).sum())
    counts = known.n, n_missing, n_fewer
    if known.n < 2:
        remark = "No SD and no interval: it needs two scores."
        return (known.mean, known.sd, math.nan, math.nan, *counts, remark)
    if known.sd > 0:
        return (known.mean, known.sd, *mean_interval(known, level), *counts, "")
    remark = "No interval: every score is the same."
    return (known.mean, 0.0, math.nan, math.nan, *counts, remark)


def _two_groups_row(shift: MeanTest) -> Row:
    """The test of two groups."""
    return (
        "Welch's t",
        shift.t,
        math.nan,
        shift.df,
        shift.p,
        math.nan,
        "",
        "d",
        shift.effect,
        shift.effect_low,
        shift.effect_high,
        math.nan,
    )


def _several_groups_row(omnibus: KnownGroupsTest) -> Row:
    """The test of three groups or more; the classic one where a group does not vary."""
    test = ("Welch's F", omnibus.f, omnibus.df1, omnibus.df2, omnibus.p)
    if math.isnan(omnibus.f) and math.isfinite(omnibus.classic_f):
        df2 = float(sum(own.n - 1 for own in omnibus.summaries))
        test = (
            "classic F",
            omnibus.classic_f,
            omnibus.df1,
            df2,
            omnibus.classic_p,
        )
    return (
        *test,
        math.nan,
        "",
        "η²",
        omnibus.eta_squared,
        omnibus.low,
        omnibus.high,
        omnibus.omega_squared,
    )


def _pair_row(shift: MeanTest) -> Row:
    """The test of one pair of groups; n come as (second, first)."""
    return (
        shift.difference,
        shift.low,
        shift.high,
        shift.t,
        shift.df,
        shift.p,
        math.nan,
        "",
        shift.effect,
        shift.effect_low,
        shift.effect_high,
        *reversed(shift.n),
        " ".join(shift.problems),
    )


def _undefined_pairs(own: GroupedScores, pairs: Pairs) -> list[str]:
    """Undefined pairs among three groups or more."""
    if len(own.scores) < 3:
        return []
    pairs_by_problem: dict[str, list[str]] = {}
    for (first, second), shift in pairs.items():
        for problem in shift.problems:
            pairs_by_problem.setdefault(problem, []).append(f"{first} with {second}")
    return [
        about(own.where, problem, name_list(where)) for problem, where in pairs_by_problem.items()
    ]


def _pair_notes(own: GroupedScores) -> list[str]:
    """That not all pairs were taken."""
    if len(own.scores) <= MOST_LEVELS:
        return []
    return [
        about(
            own.where,
            f"of {len(own.scores)} groups, each is compared with the first only "
            f"(every pair is taken up to {MOST_LEVELS}).",
        )
    ]


def _used_administrations(own: GroupedScores, pairs: Pairs) -> set[int]:
    """Administrations with a score in a group that could be compared with another."""
    names = {name for pair, shift in pairs.items() if math.isfinite(shift.t) for name in pair}
    return {
        one
        for name in names
        for one, score in zip(own.administrations[name], own.scores[name], strict=True)
        if math.isfinite(score)
    }


def _group_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of means."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        _SCALE,
        Column("group", "Group", help="A level of what is compared, or a group as typed."),
        Column("mean", "M", "points", "Mean of the scores of the group."),
        Column("sd", "SD", "points", "Standard deviation, divisor n - 1."),
        Column("ci_low", f"{interval} low", "points", "Of the mean, by t with n - 1 df."),
        Column("ci_high", f"{interval} high", "points", "Of the mean, by t with n - 1 df."),
        Column("n", "n", "count", "Administrations with a score."),
        Column("n_missing", "Missing", "count", "Administrations without a score."),
        _FEWER,
        Column("remark", "Remark", help="Why undefined."),
    )


def _test_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of tests."""
    interval = f"Effect {ci_level * 100:g}% CI"
    how = "d by the noncentral t, Cumming & Finch (2001); η² by the noncentral F, Steiger (2004)."
    return (
        _SCALE,
        Column("n_groups", "Groups", "count"),
        Column(
            "test",
            "Test",
            help="Two groups: Welch's t (1947), second minus first. More: Welch's F (1951), or "
            "the classic F where a group does not vary.",
        ),
        Column("statistic", "t or F", "points", "Difference in units of its error."),
        Column("df1", "df 1", "points", "Groups - 1; of F only."),
        Column("df2", "df 2", "points", "Of the error; not whole where variances may differ."),
        Column("p", "p", "p", "Against equal means."),
        Column("p_adjusted", "Adjusted p", "p", "Over the scales of a group of results."),
        STARS,
        Column(
            "effect",
            "Effect",
            help="d: difference / pooled SD, Cohen (1988). η²: share of variance between groups.",
        ),
        Column("value", "Effect size", "points", "Of d or η², as the column Effect says."),
        Column("ci_low", f"{interval} low", "points", how),
        Column("ci_high", f"{interval} high", "points", how),
        Column(
            "omega_squared",
            "ω²",
            "points",
            "Share of variance between groups, corrected for chance; Hays (1963). May be "
            "negative, which means none.",
        ),
        Column("n", "n", "count", "Administrations with a score."),
        Column("n_missing", "Missing", "count", "Administrations without a score."),
        Column("n_items", "Items", "count", "Items that have answers in all groups."),
        Column("items_left_out", "Items left out", "count", "Answered in some groups only."),
        _FEWER,
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def _pair_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups set side by side in the table of pairs."""
    interval = f"{ci_level * 100:g}% CI"
    noncentral = "By the noncentral t distribution, two-sided; Cumming & Finch (2001)."
    return (
        _SCALE,
        Column("first", "First"),
        Column("second", "Second"),
        Column("difference", "Second − first", "points", "Difference of the means."),
        Column("ci_low", f"{interval} low", "points", "Two-sided, by Welch's t (1947)."),
        Column("ci_high", f"{interval} high", "points", "Two-sided, by Welch's t (1947)."),
        Column("t", "t", "points", "Welch (1947): variances may differ."),
        Column("df", "df", "points", "Not whole where variances differ."),
        Column("p", "p", "p", "Against equal means, in the direction expected."),
        Column("p_adjusted", "Adjusted p", "p", "Over scales and pairs of a group of results."),
        STARS,
        Column("d", "d", "points", "Difference / pooled SD; Cohen (1988)."),
        Column("d_low", f"d {interval} low", "points", noncentral),
        Column("d_high", f"d {interval} high", "points", noncentral),
        Column("n_first", "n first", "count"),
        Column("n_second", "n second", "count"),
        Column("remark", "Remark", help="Why undefined."),
    )


_FACTORS = (
    ("context_set", "Sets of contexts"),
    ("rewriting", "Contexts and their rewritings"),
    ("model", "Models"),
    ("respondent", "Respondents (model and settings)"),
    ("language", "Languages"),
    ("form", "Forms"),
    ("entity", "Entities"),
    ("template", "Instructions"),
    ("label_order", "Orders of options"),
    ("phase", "Phases"),
    ("items_per_call", "Numbers of items per call"),
    ("history", "Histories (own earlier answers, or none)"),
    *SETTING_CHOICES,
    ("format", "Answer formats"),
)
"""What groups can be made of. Formats come last: their scales may differ in length."""

GroupFactor = Annotated[
    Literal[
        "context_set",
        "rewriting",
        "model",
        "respondent",
        "language",
        "form",
        "entity",
        "template",
        "label_order",
        "phase",
        "items_per_call",
        "history",
        SettingName,
        "format",
    ],
    Choice("Compare", _FACTORS, help="Its levels are the groups, unless you type groups."),
]
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
_PAIRED_REMEDY = "Score correlations makes it."
_PAIRED_FACTORS = {
    "rewriting",
    "language",
    "form",
    "format",
    "template",
    "label_order",
    "entity",
    "phase",
    "items_per_call",
    "history",
    *SETTINGS,
}


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


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether the groups differ on every scale."""

    def of(row: TableRow, rows: Sequence[TableRow]) -> str:
        scale = scale_name(row["scale"], (other["scale"] for other in rows))
        counts = ("n_missing", "n_fewer", "n_items", "items_left_out")
        basis = basis_text(*(int(row[name]) for name in counts))
        if not math.isfinite(row["p_adjusted"]):
            return f"{scale}: undefined (too few scores in a group, or no variance){basis}"
        differ = "groups differ" if row["p_adjusted"] < 0.05 else "no clear difference"
        test = statistic_text(row["test"], (row["df1"], row["df2"]), row["statistic"])
        write = decimal_text if row["effect"] == "d" else coefficient_text
        effect = f"{row['effect']} = {write(row['value'])}"
        return (
            f"{scale}: {differ}, {test}, adjusted {p_text(row['p_adjusted'])}, {effect}"
            f"{interval_text(row['ci_low'], row['ci_high'], write)}{basis}"
        )

    return answers_by_group(
        table_of(result, "tests"),
        "scale",
        lambda rows: join_parts((of(row, rows) for row in rows), "scales"),
    )


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


_TABS = {"groups": "Groups", "tests": "Tests", "pairs": "Pairs"}


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
        What to set side by side; what is compared, and what it decides, is ignored here.
    alternative : "two-sided", "greater" or "less"
        What p of two groups tests: greater is the second above the first. Three groups or more
        are tested for any difference.
    incomplete : "prorated", "listwise", "half" or "available"
        A score needs answers to 80 % of the planned items of the scale, to all, to half of them,
        or to any.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p, over the scales (`tests`) or over scales and pairs of groups (`pairs`).
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.

    Returns
    -------
    AnalysisResult
        `groups`, one row per scale and group: `n`, `mean` and `sd` in score points, interval.
        `tests`, one row per scale: Welch's t with Cohen's d for two groups, Welch's F with eta
        squared and omega squared for more. `pairs`, one row per scale and pair of groups:
        difference of means (second minus first) with interval, Welch's t, p, d with interval.

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
    known = _group_members(item_scores, factor, groups, by)
    names = known.by
    scales, compared_scores = _grouped_scores(known, incomplete)
    comparisons = [
        _compare_scale(scale, alternative, ci_level) for scale in with_progress(scales, "scales")
    ]
    notes = [*known.notes, *(note for one in comparisons for note in one.notes)]
    cautions = [*known.cautions, *(caution for one in comparisons for caution in one.cautions)]
    if not any(one.defined for one in comparisons):
        raise NotEnoughData(
            f"No groups can be compared. {' '.join([*cautions, *notes][:3])}".strip(),
            scores_remedy(
                item_scores,
                incomplete,
                _TWO_GROUPS
                if groups
                else with_alternatives(_TWO_GROUPS, item_scores, _FACTORS, factor),
            ),
        )
    used: dict[str, set[int]] = {}
    for scale, one in zip(scales, comparisons, strict=True):
        used.setdefault(scale.scale, set()).update(one.used)
    lead = by_columns(names)
    n_missing, n_used = int(item_scores["score"].isna().sum()), scores_used(compared_scores, used)
    made = (
        table("groups", "Groups", _rows(comparisons, "groups"), (*lead, *_group_columns(ci_level))),
        table(
            "tests",
            "All groups together",
            _rows(comparisons, "tests"),
            (*lead, *_test_columns(ci_level)),
            names,
            adjust,
        ),
        table(
            "pairs",
            "Groups two by two",
            _rows(comparisons, "pairs"),
            (*lead, *_pair_columns(ci_level)),
            names,
            adjust,
        ),
    )
    return AnalysisResult(
        tables=with_tabs(made, _TABS),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=n_missing,
        method=f"Scores are means of items after reverse-keying; groups by {known.what}; Welch's "
        f"tests, {TAILS[alternative]} for two groups; {ci_level * 100:g}% intervals"
        f"{adjustment_words(adjust, made)}.",
        cautions=(
            *data_cautions(item_scores, score_matrices(item_scores, names)),
            *cautions,
            *((_format_caution(item_scores),) if factor == "format" and not groups else ()),
            *((_matched_note(factor, typed=bool(groups)),) if known.matched else ()),
            *row_cautions(item_scores, *INDEPENDENT_ROWS),
        ),
        notes=(
            *data_notes(item_scores),
            *notes,
            *unanswered_notes(item_scores),
            *row_notes(item_scores, *INDEPENDENT_ROWS),
        ),
        n_left_out=len(item_scores) - n_missing - n_used,
    )


def _matched_note(factor: str, *, typed: bool) -> str:
    """That pairs are not used, and where they are."""
    return f"{_MATCHED} {_PAIRED_REMEDY}" if factor in _PAIRED_FACTORS and not typed else _MATCHED


def _rows(
    comparisons: Sequence[ScaleComparison], which: Literal["groups", "tests", "pairs"]
) -> list[tuple[Any, ...]]:
    """The rows of one table from every scale."""
    return [row for one in comparisons for row in getattr(one, which)]
