"""Do scores stay in the same order when one thing about the asking changes?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np

from core.analysis.kit import sentences
from core.analysis.kit.adjusting import STARS, with_adjusted_p
from core.analysis.kit.alternatives import with_alternatives
from core.analysis.kit.matrices import score_matrices
from core.analysis.kit.options import (
    FORMAT_POINTS,
    TAILS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    Resamples,
    Seed,
    Tail,
    adjustment_words,
)
from core.analysis.kit.registry import Choice, ComparedFactor, Switch, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.scores import (
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
from core.analysis.kit.scripts.comparisons import PairedColumns, correlation_files
from core.analysis.words.odds_ratios import Lists, Stereotypes
from core.charts.dots import score_correlation_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Note, about, kind_of
from core.domain.results import AnalysisResult, TextFile
from core.domain.study import SETTINGS
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    ends,
    estimate,
    key,
    number,
    p_value,
    remark,
)
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.correlation import Alternative, CorrelationMethod, correlation
from core.stats.groups import paired_t, summary
from core.stats.inputs import Estimate, name_list
from core.stats.reliability.stability import (
    intraclass,
    intraclass_of_components,
    retest_agreement,
)
from core.stats.resampling import Bootstrap
from core.stats.scores import ScoreRule

# The tables.

_ADJUSTED = (
    "Over the scales and pairs of levels of the group; Holm (1979) or Benjamini & Hochberg (1995)."
)
_SCALE = key("scale", "Scale", "All items together, then each subscale.")
_PAIR = (
    _SCALE,
    key("first", "First", "A level of what is compared."),
    key("second", "Second", "The level it is compared with, all else the same."),
)
_BASIS = (
    count("n_without", "Without score", "Pairs of which a score is missing."),
    count("n_items", "Items", "Items that have answers under all levels."),
    count("items_left_out", "Items left out", "Answered under some levels only."),
    count("n_fewer", "Fewer items", "Pairs with a score of some of the items only."),
)

CORRELATIONS = TableSpec(
    "correlations",
    "Correlations",
    (
        *_PAIR,
        key("kind", "Kind", "pearson: linear. spearman: of mean ranks."),
        *estimate(
            "r",
            "r",
            "correlation",
            "How far the pairs keep their order, -1 to 1.",
            "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000).",
        ),
        *ends(
            "bootstrap",
            "Bootstrap {level}",
            "correlation",
            "By Fisher's z, with its standard error over resampled pairs and t; where asked for.",
            of="r",
        ),
        p_value("p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom.", "r"),
        p_value("p_adjusted", "Adjusted p", _ADJUSTED, "r"),
        STARS,
        count("n_pairs", "Pairs", "Pairs with both scores."),
        count("without_partner", "Without partner", "Scores under one level only."),
        *_BASIS,
        remark("Why undefined, and cautions."),
    ),
    "Correlations",
)
DIFFERENCES = TableSpec(
    "differences",
    "Mean differences",
    (
        *_PAIR,
        number("mean_first", "M first", "points", "Over the pairs with both scores."),
        number("mean_second", "M second", "points", "Over the pairs with both scores."),
        *estimate(
            "difference",
            "Second − first",
            "points",
            "Difference of the means.",
            "By t with n - 1 degrees of freedom.",
        ),
        number("t", "t", "points", "Paired t test; Student (1908)."),
        count("df", "df", "Degrees of freedom: pairs - 1."),
        p_value("p", "p", "Against a difference of 0, in the direction expected.", "difference"),
        p_value("p_adjusted", "Adjusted p", _ADJUSTED, "difference"),
        STARS,
        *estimate(
            "d_z",
            "d_z",
            "points",
            "Difference / SD of the differences; Cohen (1988).",
            "By the noncentral t distribution, two-sided; Cumming & Finch (2001).",
            ends_title="d_z {level}",
            ends_name="d_z",
        ),
        count("n_pairs", "Pairs", "Pairs with both scores."),
        remark("Why undefined."),
    ),
    "Mean differences",
)
REPETITIONS = TableSpec(
    "repetitions",
    "All repetitions together",
    (
        _SCALE,
        key(
            "coefficient",
            "Coefficient",
            "ICC1: repetitions interchangeable; ICC2: a random sample of repetitions, level "
            "counts; ICC3: only the order of units counts; with k, of the mean of all. Shrout & "
            "Fleiss (1979).",
        ),
        *estimate(
            "value",
            "Value",
            "correlation",
            "At most 1; may be negative.",
            "McGraw & Wong (1996). None by mixed models.",
        ),
        p_value("p", "p", "F test against 0; none by mixed models.", "value"),
        count(
            "n_units", "Units", "With a score in every repetition; by mixed models, in any of them."
        ),
        count("n_repetitions", "Repetitions"),
        count("n_left_out", "Missing", "Other units."),
        remark("Why undefined, and cautions."),
    ),
    "Repetitions",
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
class _Tables:
    """Rows of the tables, what to say of them, and the administrations used on each scale."""

    correlations: TableRows
    differences: TableRows
    repetitions: TableRows
    findings: Findings
    used: dict[str, set[int]] = field(default_factory=dict)


def _compare(
    tables: _Tables,
    scale: PairedScores,
    which: Which,
    level: float,
    alternative: Alternative = "two-sided",
    bootstrap: Bootstrap | None = None,
    *,
    studies: bool = False,
) -> None:
    """Add the pairs of levels of one scale to the tables; `studies` may have asked other items."""
    levels, findings = list(scale.scores.columns), tables.findings
    pairs = level_pairs(levels, which)
    if scale.items_left_out and studies:
        findings.caution(
            scale.where,
            f"the studies asked different items ({len(scale.items_left_out)} are not in all of "
            "them), so means are of different scales.",
        )
    elif scale.items_left_out:
        findings.cautions.append(
            left_out_caution(scale.where, scale.n_items, scale.items_left_out, "levels")
        )
    if not pairs:
        findings.caution(scale.where, "there is one level only, so nothing to pair.")
    if which == "all" and len(pairs) < math.comb(len(levels), 2):
        findings.note(
            scale.where,
            f"of {len(levels)} levels, each is compared with the first only (every pair is taken "
            f"up to {MOST_LEVELS}).",
        )
    pairs_with_problem: dict[str, list[str]] = {}
    for first, second in pairs:
        both = scale.scores[[first, second]].dropna(how="all")
        x, y = (both[name].to_numpy(dtype=np.float64) for name in (first, second))
        correlations = [
            correlation(x, y, kind=kind, level=level, bootstrap=bootstrap) for kind in _KINDS
        ]
        shift = paired_t(x, y, alternative=alternative, level=level)
        paired = np.isfinite(x) & np.isfinite(y)
        asked = scale.administrations[[first, second]].notna().any(axis=1).sum()
        n_answered = scale.n_answered.loc[both.index[paired], [first, second]]
        most = n_answered.max() if studies else scale.n_items
        same = (_IDENTICAL,) if paired.any() and (x == y)[paired].all() else ()
        for coefficient in correlations:
            tables.correlations.add(
                scale.group,
                scale=scale.scale,
                first=level_name(first),
                second=level_name(second),
                kind=coefficient.kind,
                r=Estimate(coefficient.r, coefficient.low, coefficient.high),
                bootstrap_low=coefficient.bootstrap_low,
                bootstrap_high=coefficient.bootstrap_high,
                p=coefficient.p,
                p_adjusted=math.nan,
                stars="",
                n_pairs=coefficient.n,
                without_partner=coefficient.n_left_out,
                n_without=int(asked - paired.sum()),
                n_items=scale.n_items,
                items_left_out=len(scale.items_left_out),
                n_fewer=int((n_answered < most).any(axis=1).sum()),
                remark=" ".join(coefficient.problems + same),
            )
        tables.differences.add(
            scale.group,
            scale=scale.scale,
            first=level_name(first),
            second=level_name(second),
            mean_first=summary(x[paired]).mean,
            mean_second=summary(y[paired]).mean,
            difference=Estimate(shift.difference, shift.low, shift.high),
            t=shift.t,
            df=shift.df,
            p=shift.p,
            p_adjusted=math.nan,
            stars="",
            d_z=Estimate(shift.effect, shift.effect_low, shift.effect_high),
            n_pairs=int(paired.sum()),
            remark=" ".join(shift.problems),
        )
        problems = [problem for r in correlations for problem in r.problems]
        for problem in dict.fromkeys((*problems, *shift.problems, *same)):
            if kind_of(problem) in ("undefined", "identical"):
                pairs_with_problem.setdefault(problem, []).append(
                    f"{level_name(first)} with {level_name(second)}"
                )
        if math.isfinite(correlations[0].r) or math.isfinite(shift.difference):
            ids = scale.administrations.loc[both.index[paired], [first, second]]
            used = tables.used.setdefault(scale.scale, set())
            used.update(number for cell in ids.to_numpy().ravel() for number in cell)
    findings.cautions += [
        about(scale.where, problem, name_list(names))
        for problem, names in pairs_with_problem.items()
    ]


def _compare_repetitions(tables: _Tables, scale: PairedScores, level: float, *, gaps: bool) -> None:
    """Add the intraclass correlations of all repetitions of one scale, and their mean r."""
    if scale.scores.shape[1] < 2:
        return
    scores = scale.scores.to_numpy(dtype=np.float64)
    coefficients = intraclass_of_components if gaps else intraclass
    agreement, retest = coefficients(scores, level=level), retest_agreement(scores, level=level)
    for form in agreement.forms:
        tables.repetitions.add(
            scale.group,
            scale=scale.scale,
            coefficient=form.form,
            value=Estimate(form.value, form.low, form.high),
            p=form.p,
            n_units=agreement.n,
            n_repetitions=agreement.k,
            n_left_out=agreement.n_left_out,
            remark=" ".join(agreement.problems),
        )
    complete = np.isfinite(scores).all(axis=1)
    tables.repetitions.add(
        scale.group,
        scale=scale.scale,
        coefficient="mean r of all pairs",
        value=Estimate(retest.mean_r),
        p=math.nan,
        n_units=int(complete.sum()),
        n_repetitions=scores.shape[1],
        n_left_out=int((~complete).sum()),
        remark=" ".join(retest.problems),
    )
    tables.findings.cautions += [
        f"{scale.where}, intraclass correlations: {problem}" for problem in agreement.problems
    ]


def level_pairs(levels: Sequence[Any], which: Which = "all") -> list[tuple[Any, Any]]:
    """The pairs of levels to compare."""
    if which == "first" or len(levels) > MOST_LEVELS:
        return [(levels[0], other) for other in levels[1:]]
    return list(combinations(levels, 2))


IccGaps = Annotated[
    bool,
    Switch(
        "ICC keeps units with a gap",
        help="Where repetitions are compared: variances by mixed models (REML), which use units "
        "that lack some repetition; without intervals.",
    ),
]
_COMPARED = ComparedFactor(
    "Compare scores between",
    first=(
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
        *SETTINGS,
        "study",
        "rewriting",
    ),
    help="All other factors are held the same. Forms: alternate forms; repetitions: test-retest; "
    "contexts and their rewritings: ablation.",
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

Factor = Annotated[str, _COMPARED]
Pairs = Annotated[
    Which,
    Choice("Pairs of levels", (("all", "Every pair"), ("first", "Each with the first"))),
]


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Pearson's correlation of every scale and pair of levels; of several subscales the spread."""

    def basis(row: sentences.TableRow) -> str:
        counts = ("n_without", "n_fewer", "n_items", "items_left_out")
        return basis_text(*(int(row[name]) for name in counts), row="pair")

    def part(row: sentences.TableRow, scales: Sequence[str]) -> str:
        # The levels of no other factor are whole numbers.
        repetition = "repetition " if str(row["first"]).isdigit() else ""
        scale = sentences.scale_name(row["scale"], scales)
        pair = f"{scale}, {repetition}{row['first']} with {row['second']}"
        r = sentences.estimate_text(row, "r", "r", "too few pairs, or no variance")
        if not math.isfinite(row["r"]):
            return f"{pair}: {r}"
        return f"{pair}: {r}, n = {int(row['n_pairs']):,}{basis(row)}"

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        scales = [row["scale"] for row in rows]
        pearson = [row for row in rows if row["kind"] == "pearson"]
        whole, subscales = pearson[:1], [(row["scale"], row) for row in pearson[1:]]
        spread = ""
        if len({(row["first"], row["second"]) for row in pearson}) == 1 and not any(
            math.isfinite(row["r"]) and basis(row) for _, row in subscales
        ):
            spread = sentences.spread_text(subscales, "r", "r", "subscales")
        parts = [part(row, scales) for row in (whole if spread else pearson)]
        return sentences.join_parts([*parts, spread] if spread else parts, "correlations")

    return sentences.answers_of_groups(sentences.table_of(result, "correlations"), sentence)


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
    icc_gaps: IccGaps = False,
    lists: Lists = None,
    stereotypes: Stereotypes = (),
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `score_correlations`."""
    del lists, stereotypes  # they say what scores of texts are, see core/workflow/answers/texts.py
    del resamples, seed, icc_gaps  # bootstrap intervals depend on the random numbers
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
    icc_gaps: IccGaps = False,
    lists: Lists = None,
    stereotypes: Stereotypes = (),
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
        `factor` itself is ignored here.
    pairs : "all" or "first"
        Every pair of levels, or each with the first. Above 12 levels always the latter.
    incomplete : "prorated", "listwise", "half" or "available"
        A score needs answers to 80 % of the planned items of the scale, to all, to half of them,
        or to any.
    alternative : "two-sided", "greater" or "less"
        What p of a mean difference tests: greater is the second level above the first.
    adjust : "holm" or "benjamini-hochberg"
        Over the scales and pairs of levels of a group.
    resamples : int
        Of pairs; 0 for none.
    icc_gaps : bool
        Intraclass correlations by mixed models, which use units that lack some repetition.
    lists, stereotypes
        Of texts, how they were scored; not used here.

    Returns
    -------
    AnalysisResult
        `correlations`, one row per group, scale, pair of levels and kind (pearson, spearman);
        `differences`, one row per group, scale and pair; `repetitions`, where they are compared:
        six intraclass correlations and the mean r of all pairs.

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
    del lists, stereotypes  # they say what scores of texts are, see core/workflow/answers/texts.py
    paired = prepare_pairing(item_scores, factor, by)
    names = paired.by
    matrices = score_matrices(paired.item_scores, names)
    scales, compared_scores, match_notes = paired_scores(paired, incomplete)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    findings = Findings(list(paired.confounded), list(match_notes))
    specs = (CORRELATIONS, DIFFERENCES, REPETITIONS)
    of_r, of_shifts, of_repetitions = (TableRows(spec, names, ci_level) for spec in specs)
    tables = _Tables(of_r, of_shifts, of_repetitions, findings)
    for scale in with_progress(scales, "scales"):
        _compare(tables, scale, pairs, ci_level, alternative, bootstrap, studies=factor == "study")
        if factor == "repetition":
            _compare_repetitions(tables, scale, ci_level, gaps=icc_gaps)
    if not tables.used:
        raise _nothing_paired(findings, item_scores, factor, incomplete)
    correlations = with_adjusted_p(tables.correlations.table(), adjust, (*names, "kind"))
    differences = with_adjusted_p(tables.differences.table(), adjust, names)
    repetitions = [tables.repetitions.table()] if factor == "repetition" else []
    if "format" in (factor, *paired.merged):
        findings.cautions.append(FORMAT_POINTS)
    return score_result(
        item_scores,
        [correlations, differences, *repetitions],
        findings,
        n_used=scores_used(compared_scores, tables.used),
        method="Scores are means of items after reverse-keying, paired by "
        f"{factor.replace('_', ' ')}, all else the same; {ci_level * 100:g}% intervals by "
        f"Fisher's z (correlations) and t (differences); p of differences "
        f"{TAILS[alternative]}{adjustment_words(adjust, (correlations, differences))}.",
        matrices=matrices,
        taken_for_granted=_INDEPENDENT_PAIRS,
        unit="one pair of administrations that differ in nothing but what is compared (a row, "
        "where notes speak of rows)",
        later_notes=unanswered_notes(item_scores),
    )


def _nothing_paired(
    findings: Findings, item_scores: ItemScores, factor: str, incomplete: ScoreRule
) -> NotEnoughData:
    """Why there are no pairs, and what to do."""
    why_not = [*findings.cautions, *findings.notes]
    remedy = _REMEDIES.get(factor, _TWO_LEVELS.format(factor=factor))
    remedy = with_alternatives(remedy, item_scores, _COMPARED, factor)
    return NotEnoughData(
        f"No scores can be paired by {factor}. {' '.join(why_not[:1])}".strip(),
        scores_remedy(item_scores, incomplete, remedy),
    )
