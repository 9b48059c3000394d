"""Do scores stay in the same order when one thing about the asking changes?"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import pandas as pd

from core.analysis.alternatives import or_instead
from core.analysis.answers import (
    GroupAnswers,
    TableRow,
    answered,
    bounded,
    interval,
    joined,
    table_of,
)
from core.analysis.comparisons.paired_scores import pairing, scores_of_pairs
from core.analysis.comparisons.score_comparison import (
    Compared,
    Which,
    compare,
    compare_repetitions,
    table,
)
from core.analysis.comparisons.score_comparison_columns import (
    correlation_columns,
    difference_columns,
    repetition_columns,
)
from core.analysis.comparisons.score_comparison_options import (
    ADJUSTMENT_NAMES,
    FORMAT_POINTS,
    TAILS,
    Adjust,
    Complete,
    Resamples,
    Seed,
    Tail,
)
from core.analysis.comparisons.scores import remedy, scores_used
from core.analysis.matrices import by_columns, data_notes, score_matrices
from core.analysis.options import By, ConfidenceLevel
from core.analysis.progress import each
from core.analysis.registry import Choice, analysis
from core.analysis.rows import caution
from core.charts.coefficients import score_correlation_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData
from core.psychometrics.resampling import Bootstrap

_COMPARED = (
    ("form", "Forms (alternate form)"), ("label_order", "Orders of options"),
    ("repetition", "Repetitions (test-retest)"), ("format", "Answer formats"),
    ("template", "Instructions"), ("language", "Languages"), ("entity", "Entities"),
    ("phase", "Phases"), ("study", "Studies"),
    ("rewriting", "Contexts and their rewritings (ablation)"),
)  # fmt: skip
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
    Literal["form", "label_order", "repetition", "format", "template", "language", "entity",
            "phase", "study", "rewriting"],
    Choice("Compare scores between", _COMPARED, help="All other factors are held the same."),
]  # fmt: skip
Pairs = Annotated[
    Which,
    Choice("Pairs of levels", (("all", "Every pair"), ("first", "Each with the first"))),
]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Pearson's correlation of every scale and pair of levels."""

    def of(row: TableRow) -> str:
        what = f"{row['scale']}, {row['first']} with {row['second']}"
        if not math.isfinite(row["r"]):
            return f"{what}: r is undefined (too few pairs, or no variance)"
        return (
            f"{what}: r = {bounded(row['r'])}{interval(row['ci_low'], row['ci_high'])}, "
            f"n = {int(row['n_pairs']):,}"
        )

    return answered(
        table_of(result, "correlations"),
        "scale",
        lambda rows: joined(map(of, (r for r in rows if r["kind"] == "pearson")), "correlations"),
    )


@analysis(
    title="Score correlations",
    question="Do scores keep their order when one thing about the asking changes?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=score_correlation_charts,
    references=(
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Bonett & Wright (2000) doi:10.1007/BF02294183",
        "Cumming & Finch (2001) doi:10.1177/0013164401614002",
        "Shrout & Fleiss (1979) doi:10.1037/0033-2909.86.2.420",
        "McGraw & Wong (1996) doi:10.1037/1082-989X.1.1.30",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
)
def score_correlations(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "form",
    by: By = ("respondent",),
    pairs: Pairs = "all",
    incomplete: Complete = "listwise",
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
    incomplete : "listwise", "half" or "available"
        A score needs answers to all planned items of the scale, to half of them, or to any.
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
        `stars`, `n_pairs`, `without_partner`, `remark`. `differences`, one row per group, scale
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
    paired = pairing(item_scores, factor, by)
    names = paired.by
    matrices = score_matrices(paired.item_scores, names)
    scales, match_notes = scores_of_pairs(paired, incomplete)
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    compared = Compared(notes=list(match_notes))
    for scale in each(scales, "scales"):
        compare(compared, scale, pairs, ci_level, alternative, bootstrap)
        if factor == "repetition":
            compare_repetitions(compared, scale, ci_level)
    if not compared.any_defined:
        raise NotEnoughData(
            f"No scores can be paired by {factor}. {' '.join(compared.notes[:1])}".strip(),
            remedy(
                item_scores,
                incomplete,
                or_instead(
                    _REMEDIES.get(factor, _TWO_LEVELS.format(factor=factor)),
                    item_scores,
                    _COMPARED,
                    factor,
                ),
            ),
        )
    lead = by_columns(names)
    correlations = table(
        "correlations", "Correlations", compared.correlations,
        (*lead, *correlation_columns(ci_level)), (*names, "kind"), adjust,
    )  # fmt: skip
    differences = table(
        "differences", "Mean differences", compared.differences,
        (*lead, *difference_columns(ci_level)), names, adjust,
    )  # fmt: skip
    together = table(
        "repetitions", "All repetitions together", compared.repetitions,
        (*lead, *repetition_columns(ci_level)),
    )  # fmt: skip
    n_missing = int(item_scores["score"].isna().sum())
    n_used = scores_used(item_scores, compared.used)
    return AnalysisResult(
        tables=(correlations, differences, *((together,) if factor == "repetition" else ())),
        unit="one pair of administrations that differ in nothing but what is compared (a row, "
        "where notes speak of rows)",
        n_used=n_used,
        n_missing=n_missing,
        method="Scores are means of items after reverse-keying, paired by "
        f"{factor.replace('_', ' ')}, all else the same; {ci_level * 100:g}% intervals by "
        f"Fisher's z (correlations) and t (differences); p of differences "
        f"{TAILS[alternative]}; p adjusted after {ADJUSTMENT_NAMES[adjust]}.",
        notes=(
            *data_notes(item_scores, matrices),
            *compared.notes,
            *((FORMAT_POINTS,) if "format" in (factor, *paired.merged) else ()),
            *caution(item_scores, *_INDEPENDENT_PAIRS),
        ),
        n_left_out=len(item_scores) - n_missing - n_used,
    )
