"""Do the items of each subscale hang together?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.analysis.shared.matrices import (
    INDEPENDENCE,
    MISSING_COLUMNS,
    MISSING_WORDS,
    ScoreMatrix,
    by_columns,
    choose_missing,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
    scores_of_groups,
)
from core.analysis.shared.options import By, ConfidenceLevel, MissingRule
from core.analysis.shared.registry import analysis
from core.analysis.shared.rows import analysis_unit, row_cautions, row_notes
from core.analysis.shared.scripts.scales import reliability_files, scale_groups
from core.analysis.shared.sentences import (
    AGAINST_HELP,
    GroupAnswers,
    TableRow,
    answers_by_group,
    coefficient_text,
    interval_text,
    join_parts,
    names_of,
    rule_words,
    with_items_against,
)
from core.charts.dots import alpha_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Place, about, kind_of
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.inputs import ItemRule, name_list, unanswered_items_note
from core.stats.reliability.alpha import ENOUGH_ROWS, covariances, cronbach_alpha

_FELDT = (
    "From the F distribution of (1 - α) ratios; Feldt, Woodruff & Salih (1987). By full "
    "information, from the sandwich covariance of the items' covariances (delta method)."
)


def internal_consistency_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python with their data that compute the same alphas."""
    rule, _ = choose_missing(missing, scores_of_groups(item_scores, distinct(by)), "fiml")
    return reliability_files(
        scale_groups(item_scores, by),
        ci_level=ci_level,
        rule=rule,
        alpha_only=True,
        title="Internal consistency",
    )


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Alpha of every subscale with its interval."""

    def of(row: TableRow) -> str:
        name = row["subscale"] or "all items"
        if not math.isfinite(row["alpha"]):
            return about(name, "α is undefined (too few items that vary, or too few rows)")
        return about(
            name,
            f"α = {coefficient_text(row['alpha'])}{interval_text(row['ci_low'], row['ci_high'])}",
        )

    def sentence(rows: Sequence[TableRow]) -> str:
        words = rule_words(*rows, n="n_administrations")
        against = names_of(row["against"] for row in rows)
        parts = join_parts(map(of, rows), "subscales").removesuffix(".")
        return with_items_against(f"{parts}{words}.", against)

    return answers_by_group(result.tables[0], "subscale", sentence)


@analysis(
    title="Internal consistency",
    question="Do the items of each subscale hang together?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=alpha_charts,
    references=(
        "Cronbach (1951) doi:10.1007/BF02310555",
        "Feldt, Woodruff & Salih (1987) doi:10.1177/014662168701100107",
    ),
    scripts=internal_consistency_scripts,
    keywords=(
        "alpha",
        "Cronbach",
        "Cronbach's alpha",
        "internal consistency",
        "reliability",
        "item-total",
        "alpha if item dropped",
    ),
    requires="scores",
)
def internal_consistency(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Cronbach's alpha of each group and subscale, with its interval.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; alpha is computed within each.
    missing : "automatic", "listwise", "pairwise" or "fiml"
        Administrations complete on the subscale, the covariances of all pairs of answers (the
        default of psych::alpha), or the likeliest covariances of all answers (full information).
        Automatic: the last, where administrations complete on all items leave out more than a tenth
        of those of any group, as a note says.
    ci_level : float in (0, 1)
        Two-sided coverage of the interval.

    Returns
    -------
    AnalysisResult
        `alpha`, one row per group and subscale: `n_items` (with variance), `zero_variance_items`
        (left out), `n_administrations` (used), `dropped` (administrations not used), `incomplete`
        (with a gap), `missing_rule` (of that row; without gaps all are the same), `alpha` (at most
        1, may be negative), `ci_low`, `ci_high`, `against` (items that run against the rest of the
        subscale). Notes name the items left out.

    Raises
    ------
    NotEnoughData
        Alpha is undefined for every group and subscale. If only for some, those are NaN and a
        note names them.

    Notes
    -----
    The unit of analysis is one administration. With k items, alpha = k / (k - 1) (1 - sum of the
    items' variances / variance of their sum). Items never answered are left out and named before
    rows are judged, since listwise they would cost every row. So are items of zero variance, whose
    gaps cost no row either: a constant adds nothing to the variance of the score, true or error,
    so counting it in k would only lower alpha; psych::alpha and SPSS leave them out too. The
    interval takes
    (1 - population alpha) / (1 - alpha) as F with n - 1 and (n - 1)(k - 1) degrees of freedom;
    under "pairwise", n is the number of administrations with any answer, as in psych, which makes
    it somewhat too narrow. Under "fiml" the interval is alpha plus and minus z standard errors, by
    the delta method from the sandwich covariance of the covariances; where no covariances are the
    likeliest, alpha is of pairwise ones, without interval, as a note says. Repeated administrations
    of one model are not independent, so the interval is then too narrow as well. Agrees with psych
    2.4.12 to 1e-6 (tests/golden/internal_consistency).
    """
    names = distinct(by)
    matrices = score_matrices(item_scores, names)
    interval = f"{ci_level * 100:g}% CI"
    columns = (
        *by_columns(names),
        Column("subscale", "Subscale"),
        Column("n_items", "Items", "count", "Items with any variance."),
        Column("zero_variance_items", "Zero variance", "count", "Constant items, left out."),
        Column("n_administrations", "Administrations", "count", "Those alpha is computed from."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
        *MISSING_COLUMNS,
        Column(
            "alpha",
            "Cronbach's α",
            "correlation",
            "How far the items covary, as reliability of their sum: k / (k - 1) times 1 minus the "
            "items' variances over the variance of the sum. Cronbach (1951).",
        ),
        Column("ci_low", f"{interval} low", "correlation", _FELDT),
        Column("ci_high", f"{interval} high", "correlation", _FELDT),
        Column("against", "Against the scale", help=AGAINST_HELP),
    )
    rows: list[tuple[Any, ...]] = []
    notes: list[str] = []
    cautions: list[str] = []
    n_used = 0
    rule, why = choose_missing(missing, scores_of_groups(item_scores, names), "fiml")
    for matrix in matrices:
        used = matrix.varying() if rule == "listwise" else matrix.answered()
        row, own_notes, own_cautions = _row(matrix, used, rule, ci_level)
        rows.append(row)
        notes.extend(own_notes)
        cautions.extend(own_cautions)
        n_used += used.complete().size if rule == "listwise" else used.n_used
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    if frame["alpha"].isna().all():
        raise NotEnoughData(
            f"Alpha cannot be computed. {' '.join([*cautions, *notes][:3])}".strip(),
            "It needs a subscale with two items that vary and two administrations (contexts or "
            "repetitions).",
        )
    delta = (
        ", of scales with missing answers by the delta method (full information)"
        if rule == "fiml"
        else ""
    )
    return AnalysisResult(
        tables=(ResultTable("alpha", "Internal consistency", frame, columns),),
        unit=analysis_unit(item_scores),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Cronbach's α from {MISSING_WORDS[rule]}; {ci_level * 100:g}% interval after "
        f"Feldt, Woodruff and Salih (1987){delta}. Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(*data_notes(item_scores), *notes, *why, *row_notes(item_scores, *INDEPENDENCE)),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _row(
    matrix: ScoreMatrix, used: ScoreMatrix, missing: ItemRule, ci_level: float
) -> tuple[tuple[Any, ...], list[str], list[str]]:
    """The row of one matrix of which some items are used, with its notes and cautions."""
    judged = used if used.items else matrix.answered()  # with none, n is still that of the answers
    table = covariances(judged.scores, "listwise" if missing == "listwise" else "pairwise")
    estimate = cronbach_alpha(matrix.scores, names=matrix.items, level=ci_level, missing=missing)
    value = estimate.value
    n = table.n if math.isnan(value) else estimate.n
    answered = matrix.answered().items
    never = [item for item in matrix.items if item not in answered]
    constant = [item for item in answered if item not in used.items]
    # items that vary, but not over the administrations that are complete
    constant += [
        item
        for item, own in zip(judged.items, table.own, strict=True)
        if own == 0 and item in used.items
    ]
    k = len(matrix.items) - len(never) - len(constant)
    where = Place(group_name(matrix.group), "subscale", matrix.subscale)
    notes: list[str] = []
    cautions: list[str] = []
    if never:
        notes.append(about(where, unanswered_items_note(never)))
    if constant:
        notes.append(about(where, f"left out for zero variance: {name_list(constant)}."))
    if math.isnan(value):
        cautions.append(about(where, f"alpha is undefined (n = {n}; items that vary: {k})."))
    cautions += [
        about(where, problem) for problem in estimate.problems if kind_of(problem) == "keying"
    ]
    incomplete = incomplete_administrations(matrix.scores)[1]
    all_answers = missing == "fiml" and incomplete and math.isfinite(value)
    if all_answers and (math.isnan(estimate.low) or n < ENOUGH_ROWS * k):
        # alpha's last problem then is that of its interval
        cautions.append(about(where, estimate.problems[-1]))
    counts = (k, len(constant), n, len(matrix.scores) - n, incomplete, missing)
    numbers = (*counts, value, estimate.low, estimate.high)
    row = (*matrix.group, matrix.subscale, *numbers, ", ".join(estimate.against))
    return row, notes, cautions
