"""Do scores stay in the same order when one thing about the asking changes?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.shared.matrices import by_columns, data_cautions, data_notes, score_matrices
from core.analysis.shared.options import (
    FORMAT_POINTS,
    SETTING_CHOICES,
    TAILS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    Resamples,
    Seed,
    SettingName,
    Tail,
    adjustment_words,
)
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Choice, analysis
from core.analysis.shared.rows import (
    n_planned,
    n_without_score,
    row_cautions,
    row_notes,
    with_alternatives,
)
from core.analysis.shared.scores import (
    PairedScores,
    basis_text,
    left_out_caution,
    level_name,
    paired_scores,
    prepare_pairing,
    scores_remedy,
    scores_used,
    unanswered_notes,
)
from core.analysis.shared.scripts.comparisons import PairedColumns, correlation_files
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    coefficient_text,
    interval_text,
    join_parts,
    scale_name,
    table_of,
)
from core.charts.dots import score_correlation_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Note, about, kind_of
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.correlation import (
    Alternative,
    Correlation,
    CorrelationMethod,
    correlation,
    stars,
)
from core.stats.groups import Adjustment, MeanTest, adjusted_p, paired_t, summary
from core.stats.inputs import name_list
from core.stats.reliability.stability import intraclass, retest_agreement
from core.stats.resampling import Bootstrap

# Columns of the tables.

_ADJUSTED = (
    "Over the scales and pairs of levels of the group; Holm (1979) or Benjamini & Hochberg (1995)."
)
STARS = Column("stars", "Stars", help="Of adjusted p: * below .05, ** below .01, *** below .001.")
_NONCENTRAL = "By the noncentral t distribution, two-sided; Cumming & Finch (2001)."


_BASIS = (
    Column("n_without", "Without score", "count", "Pairs of which a score is missing."),
    Column("n_items", "Items", "count", "Items that have answers under all levels."),
    Column("items_left_out", "Items left out", "count", "Answered under some levels only."),
    Column("n_fewer", "Fewer items", "count", "Pairs with a score of some of the items only."),
)


def _pair_columns() -> tuple[Column, ...]:
    return (
        Column("scale", "Scale", help="All items together, then each subscale."),
        Column("first", "First", help="A level of what is compared."),
        Column("second", "Second", help="The level it is compared with, all else the same."),
    )


def _correlation_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of correlations."""
    interval = f"{ci_level * 100:g}% CI"
    fisher = "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000)."
    resampled = "Percentiles over resampled pairs, where asked for; Efron (1979)."
    return (
        *_pair_columns(),
        Column("kind", "Kind", help="pearson: linear. spearman: of mean ranks."),
        Column("r", "r", "correlation", "How far the pairs keep their order, -1 to 1."),
        Column("ci_low", f"{interval} low", "correlation", fisher),
        Column("ci_high", f"{interval} high", "correlation", fisher),
        Column("bootstrap_low", f"Bootstrap {interval} low", "correlation", resampled),
        Column("bootstrap_high", f"Bootstrap {interval} high", "correlation", resampled),
        Column("p", "p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom."),
        Column("p_adjusted", "Adjusted p", "p", _ADJUSTED),
        STARS,
        Column("n_pairs", "Pairs", "count", "Pairs with both scores."),
        Column("without_partner", "Without partner", "count", "Scores under one level only."),
        *_BASIS,
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def _difference_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of mean differences."""
    interval = f"{ci_level * 100:g}% CI"
    return (
        *_pair_columns(),
        Column("mean_first", "M first", "points", "Over the pairs with both scores."),
        Column("mean_second", "M second", "points", "Over the pairs with both scores."),
        Column("difference", "Second − first", "points", "Difference of the means."),
        Column("ci_low", f"{interval} low", "points", "By t with n - 1 degrees of freedom."),
        Column("ci_high", f"{interval} high", "points", "By t with n - 1 degrees of freedom."),
        Column("t", "t", "points", "Paired t test; Student (1908)."),
        Column("df", "df", "count", "Degrees of freedom: pairs - 1."),
        Column("p", "p", "p", "Against a difference of 0, in the direction expected."),
        Column("p_adjusted", "Adjusted p", "p", _ADJUSTED),
        STARS,
        Column("d_z", "d_z", "points", "Difference / SD of the differences; Cohen (1988)."),
        Column("d_z_low", f"d_z {interval} low", "points", _NONCENTRAL),
        Column("d_z_high", f"d_z {interval} high", "points", _NONCENTRAL),
        Column("n_pairs", "Pairs", "count", "Pairs with both scores."),
        Column("remark", "Remark", help="Why undefined."),
    )


def _repetition_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of all repetitions together."""
    interval = f"{ci_level * 100:g}% CI"
    forms = (
        "ICC1: repetitions interchangeable; ICC2: a random sample of repetitions, level counts; "
        "ICC3: only the order of units counts; with k, of the mean of all. Shrout & Fleiss (1979)."
    )
    how = "McGraw & Wong (1996)."
    return (
        Column("scale", "Scale", help="All items together, then each subscale."),
        Column("coefficient", "Coefficient", help=forms),
        Column("value", "Value", "correlation", "At most 1; may be negative."),
        Column("ci_low", f"{interval} low", "correlation", how),
        Column("ci_high", f"{interval} high", "correlation", how),
        Column("p", "p", "p", "F test against 0."),
        Column("n_units", "Units", "count", "With a score in every repetition."),
        Column("n_repetitions", "Repetitions", "count"),
        Column("n_left_out", "Missing", "count", "Units lacking the score of some repetition."),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


# Rows of the tables: pairs of levels of one factor.

Which = Literal["all", "first"]
_KINDS: tuple[CorrelationMethod, ...] = ("pearson", "spearman")
MOST_LEVELS = 12
"""With more levels, each is compared with the first only, and a note says so."""
_IDENTICAL = Note(
    "The two scores are identical in every pair, as with a model at temperature 0: agreement is by "
    "construction and says nothing about reliability.",
    kind="identical",
)


@dataclass(eq=False)
class PairTables:
    """Rows of the tables, notes, and which administrations were used on which scale."""

    correlations: list[tuple[Any, ...]] = field(default_factory=list)
    differences: list[tuple[Any, ...]] = field(default_factory=list)
    repetitions: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    used: dict[str, set[int]] = field(default_factory=dict)
    any_defined: bool = False


def _compare(
    tables: PairTables,
    scale: PairedScores,
    which: Which,
    level: float,
    alternative: Alternative = "two-sided",
    bootstrap: Bootstrap | None = None,
    *,
    studies: bool = False,
) -> None:
    """Add the pairs of levels of one scale to the tables; `studies` may have asked other items."""
    levels = list(scale.scores.columns)
    pairs = level_pairs(levels, which)
    if scale.items_left_out and studies:
        tables.cautions.append(
            about(
                scale.where,
                f"the studies asked different items ({len(scale.items_left_out)} are "
                "not in all of them), so means are of different scales.",
            )
        )
    elif scale.items_left_out:
        tables.cautions.append(
            left_out_caution(scale.where, scale.n_items, scale.items_left_out, "levels")
        )
    if not pairs:
        tables.cautions.append(about(scale.where, "there is one level only, so nothing to pair."))
    if which == "all" and len(pairs) < math.comb(len(levels), 2):
        tables.notes.append(
            about(
                scale.where,
                f"of {len(levels)} levels, each is compared with the first only "
                f"(every pair is taken up to {MOST_LEVELS}).",
            )
        )
    undefined: dict[str, list[str]] = {}
    for first, second in pairs:
        both = scale.scores[[first, second]].dropna(how="all")
        x, y = (both[one].to_numpy(dtype=np.float64) for one in (first, second))
        correlations = [
            correlation(x, y, kind=kind, level=level, bootstrap=bootstrap) for kind in _KINDS
        ]
        shift = paired_t(x, y, alternative=alternative, level=level)
        paired = np.isfinite(x) & np.isfinite(y)
        lead = (*scale.group, scale.scale, level_name(first), level_name(second))
        asked = scale.administrations[[first, second]].notna().any(axis=1).sum()
        n_answered = scale.n_answered.loc[both.index[paired], [first, second]]
        most = n_answered.max() if studies else scale.n_items
        basis = (
            int(asked - paired.sum()),
            scale.n_items,
            len(scale.items_left_out),
            int((n_answered < most).any(axis=1).sum()),
        )
        same = (_IDENTICAL,) if paired.any() and (x == y)[paired].all() else ()
        tables.correlations += [_correlation_row(lead, one, basis, same) for one in correlations]
        tables.differences.append(_difference_row(lead, x[paired], y[paired], shift))
        problems = [text for one in correlations for text in one.problems]
        for problem in dict.fromkeys((*problems, *shift.problems, *same)):
            if kind_of(problem) in ("undefined", "identical"):
                undefined.setdefault(problem, []).append(
                    f"{level_name(first)} with {level_name(second)}"
                )
        if math.isfinite(correlations[0].r) or math.isfinite(shift.difference):
            tables.any_defined = True
            ids = scale.administrations.loc[both.index[paired], [first, second]]
            used = tables.used.setdefault(scale.scale, set())
            used.update(one for cell in ids.to_numpy().ravel() for one in cell)
    tables.cautions += [
        about(scale.where, problem, name_list(where)) for problem, where in undefined.items()
    ]


def _compare_repetitions(tables: PairTables, scale: PairedScores, level: float) -> None:
    """Add the intraclass correlations of all repetitions of one scale, and their mean r."""
    if scale.scores.shape[1] < 2:
        return
    table = scale.scores.to_numpy(dtype=np.float64)
    agreement, retest = intraclass(table, level=level), retest_agreement(table, level=level)
    lead, remark = (*scale.group, scale.scale), " ".join(agreement.problems)
    counts = (agreement.n, agreement.k, agreement.n_left_out)
    tables.repetitions += [
        (*lead, one.form, one.value, one.low, one.high, one.p, *counts, remark)
        for one in agreement.forms
    ]
    complete = np.isfinite(table).all(axis=1)
    nan = math.nan
    tables.repetitions.append(
        (
            *lead,
            "mean r of all pairs",
            retest.mean_r,
            nan,
            nan,
            nan,
            int(complete.sum()),
            table.shape[1],
            int((~complete).sum()),
            " ".join(retest.problems),
        )
    )
    tables.cautions += [
        f"{scale.where}, intraclass correlations: {problem}" for problem in agreement.problems
    ]


def table(
    name: str,
    title: str,
    rows: Sequence[tuple[Any, ...]],
    columns: tuple[Column, ...],
    family: Sequence[str] = (),
    adjust: Adjustment | None = None,
) -> ResultTable:
    """A result table; with `adjust`, its p adjusted within each family of rows, and its stars."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    if adjust and len(frame):
        families = frame.groupby(list(family), sort=False).ngroup() if family else 0
        adjusted = frame["p"].groupby(np.broadcast_to(families, len(frame)))
        frame["p_adjusted"] = adjusted.transform(
            lambda p: adjusted_p(p.to_numpy(dtype=np.float64), adjust)
        )
        frame["stars"] = frame["p_adjusted"].map(stars)
    return ResultTable(name, title, frame, columns)


def level_pairs(levels: Sequence[Any], which: Which = "all") -> list[tuple[Any, Any]]:
    """The pairs of levels to compare."""
    if which == "first" or len(levels) > MOST_LEVELS:
        return [(levels[0], other) for other in levels[1:]]
    return list(combinations(levels, 2))


def _correlation_row(
    lead: tuple[Any, ...], one: Correlation, basis: tuple[int, ...], same: tuple[str, ...]
) -> tuple[Any, ...]:
    return (
        *lead,
        one.kind,
        one.r,
        one.low,
        one.high,
        one.bootstrap_low,
        one.bootstrap_high,
        one.p,
        math.nan,
        "",
        one.n,
        one.n_left_out,
        *basis,
        " ".join(one.problems + same),
    )


def _difference_row(lead: tuple[Any, ...], x: Any, y: Any, shift: MeanTest) -> tuple[Any, ...]:
    return (
        *lead,
        summary(x).mean,
        summary(y).mean,
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
        len(x),
        " ".join(shift.problems),
    )


_COMPARED = (
    ("language", "Languages"),
    ("form", "Forms (alternate form)"),
    ("label_order", "Orders of options"),
    ("repetition", "Repetitions (test-retest)"),
    ("format", "Answer formats"),
    ("template", "Instructions"),
    ("entity", "Entities"),
    ("phase", "Phases"),
    ("items_per_call", "Numbers of items per call"),
    ("history", "Histories (own earlier answers, or none)"),
    *SETTING_CHOICES,
    ("study", "Studies"),
    ("rewriting", "Contexts and their rewritings (ablation)"),
)
_INDEPENDENT_PAIRS = (
    "Intervals and p take pairs as independent.",
    "Pairs of one model are not, so the true uncertainty is larger.",
)
_TWO_LEVELS = (
    "It needs two levels of {factor}, asked in several contexts (or whatever else differs) that "
    "are the same under both."
)
_REMEDIES = {
    "study": "Choose two studies that asked the same models under the same contexts.",
    "rewriting": "It needs contexts rewritten from others of the study, and these others.",
}

Factor = Annotated[
    Literal[
        "language",
        "form",
        "label_order",
        "repetition",
        "format",
        "template",
        "entity",
        "phase",
        "items_per_call",
        "history",
        SettingName,
        "study",
        "rewriting",
    ],
    Choice("Compare scores between", _COMPARED, help="All other factors are held the same."),
]
Pairs = Annotated[
    Which,
    Choice("Pairs of levels", (("all", "Every pair"), ("first", "Each with the first"))),
]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Pearson's correlation of every scale and pair of levels."""

    def of(row: TableRow, rows: Sequence[TableRow]) -> str:
        # The levels of no other factor are whole numbers.
        repetition = "repetition " if str(row["first"]).isdigit() else ""
        scale = scale_name(row["scale"], (other["scale"] for other in rows))
        what = f"{scale}, {repetition}{row['first']} with {row['second']}"
        if not math.isfinite(row["r"]):
            return f"{what}: r is undefined (too few pairs, or no variance)"
        return (
            f"{what}: r = "
            f"{coefficient_text(row['r'])}{interval_text(row['ci_low'], row['ci_high'])}, "
            f"n = {int(row['n_pairs']):,}{_basis_text(row)}"
        )

    return answers_by_group(
        table_of(result, "correlations"),
        "scale",
        lambda rows: join_parts(
            (of(row, rows) for row in rows if row["kind"] == "pearson"), "correlations"
        ),
    )


def _basis_text(row: TableRow) -> str:
    """Who is left out of a pair of levels, and which items."""
    n = {column.name: int(row[column.name]) for column in _BASIS}
    return basis_text(n["n_without"], n["n_fewer"], n["n_items"], n["items_left_out"], row="pair")


def _score_correlations_scripts(
    item_scores: ItemScores,
    *,
    factor: Factor = "form",
    by: By = ("respondent",),
    pairs: Pairs = "all",
    incomplete: Complete = "prorated",
    alternative: Tail = "two-sided",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 0,
    seed: Seed = 0,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `score_correlations`."""
    del resamples, seed  # bootstrap intervals depend on the random numbers
    scales, _, _ = paired_scores(prepare_pairing(item_scores, factor, by), incomplete)
    tables = []
    for one in scales:
        levels = list(one.scores.columns)
        places = {level: place for place, level in enumerate(levels)}
        tables.append(
            PairedColumns(
                one.group,
                one.scale,
                tuple(str(level_name(level)) for level in levels),
                one.scores.to_numpy(dtype=np.float64),
                tuple((places[x], places[y]) for x, y in level_pairs(levels, pairs)),
            )
        )
    remarks = [f"Scores are paired by {factor.replace('_', ' ')}, all else the same."]
    if factor == "repetition":
        remarks.append("The intraclass correlations of all repetitions are not computed here.")
    return correlation_files(
        tables,
        name="score_correlations",
        title="Score correlations",
        incomplete=incomplete,
        kinds=_KINDS,
        adjust=adjust,
        ci_level=ci_level,
        differences=True,
        alternative=alternative,
        remarks=remarks,
    )


_TABS = {
    "correlations": "Correlations",
    "differences": "Mean differences",
    "repetitions": "Repetitions",
}


@analysis(
    title="Score correlations",
    question="Do scores keep their order when one thing about the asking changes?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=score_correlation_charts,
    scripts=_score_correlations_scripts,
    references=(
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Bonett & Wright (2000) doi:10.1007/BF02294183",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Shrout & Fleiss (1979) doi:10.1037/0033-2909.86.2.420",
        "McGraw & Wong (1996) doi:10.1037/1082-989X.1.1.30",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "language correlation",
        "correlation between languages",
        "test-retest",
        "retest",
        "alternate forms",
        "parallel forms",
        "option order",
        "repeatability",
        "stability",
        "correlation between models",
        "correlation of scores",
        "convergent",
        "concurrent",
        "intraclass",
        "ICC",
        "agreement",
        "option order symmetry",
    ),
    requires="scores",
)
def score_correlations(
    item_scores: ItemScores,
    *,
    factor: Factor = "form",
    by: By = ("respondent",),
    pairs: Pairs = "all",
    incomplete: Complete = "prorated",
    alternative: Tail = "two-sided",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 0,
    seed: Seed = 0,
) -> AnalysisResult:
    """Correlations and mean differences of scores between levels of a factor, matched on all else.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Scores under two levels of it are paired where study and all other factors are the same.
        "study" pairs the studies of the frame. "rewriting" pairs contexts of which the column
        `rewriting` says "rewritten" with those named in `origin`.
    by : tuple of factors
        Groups to set side by side; `factor` itself is ignored here.
    pairs : "all" or "first"
        Every pair of levels, or each with the first. Above 12 levels always the latter.
    incomplete : "prorated", "listwise", "half" or "available"
        A score needs answers to 80 % of the planned items of the scale, to all, to half of them,
        or to any.
    alternative : "two-sided", "greater" or "less"
        What p of a mean difference tests: greater is the second level above the first.
    adjust : "holm" or "benjamini-hochberg"
        Adjustment of p over the scales and pairs of levels of a group.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    resamples, seed : int
        Bootstrap of pairs; 0 resamples for none.

    Returns
    -------
    AnalysisResult
        `correlations`, one row per group, scale, pair of levels and kind (pearson, spearman): `r`
        (unitless), `ci_low`, `ci_high`, `bootstrap_low`, `bootstrap_high`, `p`, `p_adjusted`,
        `stars`, `n_pairs`, `without_partner`, `n_without`, `n_items`, `items_left_out`, `n_fewer`,
        `remark`. `differences`, one row per group, scale
        and pair: means and mean difference (second minus first) in score points with interval,
        paired t, p, d_z with interval. `repetitions`, where they are compared: six intraclass
        correlations and the mean r of all pairs.

    Raises
    ------
    NotEnoughData
        The frame lacks a column that is asked for, or nowhere is there a correlation or a mean
        difference. If only somewhere, the rest is NaN with a remark; a note says where and why.

    Notes
    -----
    The unit of analysis is a pair of administrations, each scored by the mean of its items after
    reverse-keying. Intervals by Fisher's z (Bonett and Wright's variance for Spearman); p against
    0 by t with n - 2 degrees of freedom. Pairs of one model are not independent; p is then too
    small. Correlations agree with R 4.2.2, intraclass ones with psych 2.4.12 (see docs/analyses).
    """
    paired = prepare_pairing(item_scores, factor, by)
    names = paired.by
    matrices = score_matrices(paired.item_scores, names)
    scales, compared_scores, match_notes = paired_scores(paired, incomplete)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    tables = PairTables(notes=list(match_notes), cautions=list(paired.confounded))
    for scale in with_progress(scales, "scales"):
        _compare(tables, scale, pairs, ci_level, alternative, bootstrap, studies=factor == "study")
        if factor == "repetition":
            _compare_repetitions(tables, scale, ci_level)
    if not tables.any_defined:
        why_not = [*tables.cautions, *tables.notes]
        raise NotEnoughData(
            f"No scores can be paired by {factor}. {' '.join(why_not[:1])}".strip(),
            scores_remedy(
                item_scores,
                incomplete,
                with_alternatives(
                    _REMEDIES.get(factor, _TWO_LEVELS.format(factor=factor)),
                    item_scores,
                    _COMPARED,
                    factor,
                ),
            ),
        )
    lead = by_columns(names)
    correlations = table(
        "correlations",
        "Correlations",
        tables.correlations,
        (*lead, *_correlation_columns(ci_level)),
        (*names, "kind"),
        adjust,
    )
    differences = table(
        "differences",
        "Mean differences",
        tables.differences,
        (*lead, *_difference_columns(ci_level)),
        names,
        adjust,
    )
    together = table(
        "repetitions",
        "All repetitions together",
        tables.repetitions,
        (*lead, *_repetition_columns(ci_level)),
    )
    n_missing = n_without_score(item_scores)
    n_used = scores_used(compared_scores, tables.used)
    return AnalysisResult(
        tables=with_tabs(
            (correlations, differences, *((together,) if factor == "repetition" else ())), _TABS
        ),
        unit="one pair of administrations that differ in nothing but what is compared (a row, "
        "where notes speak of rows)",
        n_used=n_used,
        n_missing=n_missing,
        method="Scores are means of items after reverse-keying, paired by "
        f"{factor.replace('_', ' ')}, all else the same; {ci_level * 100:g}% intervals by "
        f"Fisher's z (correlations) and t (differences); p of differences "
        f"{TAILS[alternative]}{adjustment_words(adjust, (correlations, differences))}.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *tables.cautions,
            *((FORMAT_POINTS,) if "format" in (factor, *paired.merged) else ()),
            *row_cautions(item_scores, *_INDEPENDENT_PAIRS),
        ),
        notes=(
            *data_notes(item_scores),
            *tables.notes,
            *unanswered_notes(item_scores),
            *row_notes(item_scores, *_INDEPENDENT_PAIRS),
        ),
        n_left_out=n_planned(item_scores) - n_missing - n_used,
    )
