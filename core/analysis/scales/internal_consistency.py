"""Do the items of each subscale hang together?"""

from __future__ import annotations

from collections.abc import Sequence

from core.analysis.kit import sentences
from core.analysis.kit.matrices import (
    MISSING_COLUMNS,
    MISSING_WORDS,
    ScoreMatrix,
    choose_missing,
    incomplete_administrations,
    score_matrices,
    scores_of_groups,
)
from core.analysis.kit.options import By, ConfidenceLevel, MissingRule
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.scripts.scales import reliability_files, scale_groups
from core.charts.dots import alpha_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Place, kind_of
from core.domain.results import AnalysisResult, TextFile
from core.domain.tables import TableRows, TableSpec, count, estimate, key, text
from core.domain.wide_scores import ItemScores
from core.stats.inputs import Estimate, name_list, unanswered_items_note
from core.stats.reliability.alpha import Covariances, covariances, cronbach_alpha

ALPHA = TableSpec(
    "alpha",
    "Internal consistency",
    (
        key("subscale", "Subscale"),
        count("n_items", "Items", "Items with any variance."),
        count("zero_variance_items", "Zero variance", "Constant items, left out."),
        count("n_administrations", "Administrations", "Those alpha is computed from."),
        count("dropped", "Dropped", "Administrations left out for missing answers."),
        *MISSING_COLUMNS,
        *estimate(
            "alpha",
            "Cronbach's α",
            "correlation",
            "How far the items covary, as reliability of their sum: k / (k - 1) times 1 minus the "
            "items' variances over the variance of the sum. Cronbach (1951).",
            "From the F distribution of (1 - α) ratios; Feldt, Woodruff & Salih (1987). By full "
            "information, from the sandwich covariance of the items' covariances; of all pairs of "
            "answers, from what each administration adds to them, on the scale of ln(1 - α).",
        ),
        text("against", "Against the scale", sentences.AGAINST_HELP),
    ),
)


def internal_consistency_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRule = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python with their data that compute the same alphas."""
    rule, _ = choose_missing(missing, scores_of_groups(item_scores, by), "fiml")
    return reliability_files(
        scale_groups(item_scores, by),
        ci_level=ci_level,
        rule=rule,
        alpha_only=True,
        title="Internal consistency",
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Alpha of every subscale with its interval."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        named = [(row["subscale"] or "all items", row) for row in rows]
        parts = (
            f"{about}: "
            + sentences.estimate_text(row, "alpha", "α", "too few items that vary, or too few rows")
            for about, row in named
        )
        words = sentences.rule_words(*rows, n="n_administrations")
        listed = sentences.spread_text(named, "alpha", "α", "subscales") or (
            sentences.join_parts(parts, "subscales").removesuffix(".")
        )
        against = sentences.names_of(row["against"] for row in rows)
        return sentences.with_items_against(f"{listed}{words}.", against)

    return sentences.answers_of_groups(result.tables[0], sentence)


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
    missing : "automatic", "listwise", "pairwise" or "fiml"
        Administrations complete on the subscale, the covariances of all pairs of answers (the
        default of psych::alpha), or the likeliest covariances of all answers (full information).

    Returns
    -------
    AnalysisResult
        `alpha`, one row per group and subscale. Notes name the items left out.

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
    under "pairwise" with missing answers the interval is on the scale of ln(1 - alpha), by the
    delta method from what each administration adds to the covariances, and there is none where
    fewer than 5 administrations answer some pair of items. (psych takes Feldt's interval with all
    administrations, which covers 72 to 90 % with planned booklets.) Under "fiml" the interval is
    alpha plus and minus z standard errors, by
    the delta method from the sandwich covariance of the covariances; where no covariances are the
    likeliest, alpha and interval are of pairwise ones, as a caution says. Repeated administrations
    of one model are not independent, so the interval is then too narrow as well. Agrees with psych
    2.4.12 to 1e-6 (tests/golden/internal_consistency).
    """
    matrices = score_matrices(item_scores, by)
    rule, why = choose_missing(missing, scores_of_groups(item_scores, by), "fiml")
    rows = TableRows(ALPHA, by, ci_level)
    findings = Findings()
    n_used = 0
    for matrix in matrices:
        used = matrix.varying() if rule == "listwise" else matrix.answered()
        n_used += used.complete().size if rule == "listwise" else used.n_used
        counted = used if used.items else matrix.answered()  # with none, n is that of the answers
        table = covariances(counted.scores, "listwise" if rule == "listwise" else "pairwise")
        alpha = cronbach_alpha(matrix.scores, names=matrix.items, level=ci_level, missing=rule)
        n = alpha.n if alpha.defined else table.n
        never = [item for item in matrix.items if item not in matrix.answered().items]
        constant = _constant_items(matrix, used, counted, table)
        k = len(matrix.items) - len(never) - len(constant)
        incomplete = incomplete_administrations(matrix.scores)[1]
        rows.add(
            matrix.group,
            subscale=matrix.subscale,
            n_items=k,
            zero_variance_items=len(constant),
            n_administrations=n,
            dropped=len(matrix.scores) - n,
            incomplete=incomplete,
            missing_rule=rule,
            alpha=alpha,
            against=", ".join(alpha.against),
        )
        scale = scale_of_group(matrix.group, matrix.subscale)
        _add_findings(findings, scale, alpha, never, constant, f"n = {n}; items that vary: {k}")
    result_table = rows.table()
    if result_table.frame["alpha"].isna().all():
        raise findings.refusal(
            "Alpha cannot be computed.",
            "It needs a subscale with two items that vary and two administrations (contexts or "
            "repetitions).",
            by,
        )
    delta = "" if rule == "listwise" else ", of scales with missing answers by the delta method"
    return score_result(
        item_scores,
        [result_table],
        findings,
        n_used=n_used,
        method=f"Cronbach's α from {MISSING_WORDS[rule]}; {ci_level * 100:g}% interval after "
        f"Feldt, Woodruff and Salih (1987){delta}. Scores are after reverse-keying.",
        matrices=matrices,
        later_notes=why,
    )


def _constant_items(
    matrix: ScoreMatrix, used: ScoreMatrix, counted: ScoreMatrix, table: Covariances
) -> list[str]:
    """Items that are left out, as they vary nowhere or not over the complete administrations."""
    constant = [item for item in matrix.answered().items if item not in used.items]
    return constant + [
        item
        for item, variance in zip(counted.items, table.own, strict=True)
        if variance == 0 and item in used.items
    ]


def _add_findings(
    findings: Findings,
    scale: Place,
    alpha: Estimate,
    never: Sequence[str],
    constant: Sequence[str],
    sizes: str,
) -> None:
    """What was left out of a scale, and what is wrong with its alpha."""
    if never:
        findings.note(scale, unanswered_items_note(never))
    if constant:
        findings.note(scale, f"left out for zero variance: {name_list(constant)}.")
    if not alpha.defined:
        findings.caution(scale, f"alpha is undefined ({sizes}).")
    for problem in alpha.problems:
        if kind_of(problem) in ("keying", "interval"):
            findings.caution(scale, problem)
