"""All cases of the bench, and what no case judges, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.coverage import (
    comparisons,
    counts,
    designs,
    item_means,
    item_response,
    pairs,
    repetitions,
    scores,
    statements,
    structure,
    texts,
)
from benchmarks.coverage.cases import Case


def cases() -> Iterator[Case]:
    """Every case, in the order of the printed table."""
    yield from scores.cases()
    yield from counts.cases()
    yield from designs.cases()
    yield from repetitions.cases()
    yield from comparisons.cases()
    yield from item_response.cases()
    yield from item_means.cases()
    yield from pairs.cases()
    yield from structure.cases()
    yield from statements.cases()
    yield from texts.cases()


_RMSEA = "An interval of 90 % of a misfit that is 0 here; the test of the same fit is judged."
_LARGEST = "Only the largest are listed; adjusted p are judged."
_PAIRS_OF_CFA = "One factor without residual covariances is simulated."
NOT_JUDGED: Mapping[str, str] = {
    "cfa.fit.rmsea_low": _RMSEA,
    "cfa.fit.rmsea_robust_low": _RMSEA,
    "cfa.fit.rmsea_scaled_low": _RMSEA,
    "cfa_comparison.fit.rmsea_low": _RMSEA,
    "cfa_comparison.fit.rmsea_robust_low": _RMSEA,
    "cfa_comparison.fit.rmsea_scaled_low": _RMSEA,
    "invariance.steps.rmsea_low": _RMSEA,
    "invariance.steps.rmsea_robust_low": _RMSEA,
    "invariance.steps.rmsea_scaled_low": _RMSEA,
    "cfa.modification_indices.p": _LARGEST,
    "invariance.releases.p": _LARGEST,
    "cfa.factor_correlations.ci_low": _PAIRS_OF_CFA,
    "cfa.factor_correlations.p": _PAIRS_OF_CFA,
    "cfa.residual_covariances.ci_low": _PAIRS_OF_CFA,
    "cfa.residual_covariances.p": _PAIRS_OF_CFA,
    "cross_language.equivalence.ci_low": "An interval of 90 %, for a test at .05.",
    "generalizability.components.ci_low": "In points of 0 to 100; the shares are judged.",
    "bias_shift.groups.share_low": "Of few decided questions; its truth depends on all chances.",
    "bias_shift.questions.ci_low": "Of one question, given the direction of its first answers.",
    "graded_response.item_fit.p_adjusted": "Of all items of a scale at once; p itself is judged.",
    "cfa.defined.p": "Values of 0 are not simulated; the intervals are judged.",
    "cfa.loadings.p": "Loadings of 0 are not simulated; the intervals are judged.",
    **dict.fromkeys(
        (
            "invalid_answers.items.wilson_low",
            "invalid_answers.summary.wilson_low",
            "invalid_answers.tries.wilson_low",
            "unexpected_outputs.items.wilson_low",
            "unexpected_outputs.outputs.wilson_low",
            "template_pilot.levels.wilson_low",
            "template_pilot.templates.wilson_low",
            "cross_language.chi_square.p",
            "unexpected_outputs.tests.p",
            "preference.fit.ci_low",
            "preference.fit.p",
            "preference.fit.p_without",
            "preference.strengths.ci_low",
        ),
        "It takes answers as independent, as its title says; that of whole units is judged.",
    ),
    **dict.fromkeys(
        (
            "opinions.questions.ci_low",
            "stance_reliability.verdicts.low",
            "cross_language.item_values.ci_low",
        ),
        "Of a single item, whose share no row of the result says.",
    ),
    **dict.fromkeys(
        (
            "opinions.agreement.ci_low",
            "opinions.genres.b_low",
            "opinions.genres.w_low",
            "opinions.pair_types.ci_low",
            "bias.acquiescence.ci_low",
            "cross_language.correlation_differences.ci_low",
            "cross_language.correlation_differences.p",
            "cross_language.correlation_differences.p_adjusted",
        ),
        "Genres, pairs, opposite statements and a second respondent are not simulated yet.",
    ),
    **dict.fromkeys(
        (
            "word_association.agreement.kappa_low",
            "word_association.agreement.share_low",
        ),
        "Of classes of words, whose truth depends on all chances.",
    ),
    "opinions.groups.share_low": "Its truth depends on all chances.",
    "preference.winners.ci_low": "Of the share of whichever entity wins, which shares judge.",
    **dict.fromkeys(
        ("preference.order_effects.p", "preference.order_effects.p_adjusted"),
        "In what is simulated, being named first has an effect.",
    ),
    "unexpected_outputs.tests.v_low": "Of a truth of 0, which Languages compared judges.",
}
"""Intervals and tests ("analysis.table.column") that pages show and no case judges, and why."""

NO_PROMISE = frozenset(
    {"cfa_check", "item_map", "option_distribution", "score_distribution", "validation_report"}
)
"""Analyses that show neither intervals nor tests, but for those of other analyses: what the report
of validation shows is computed and judged as internal consistency, stratified alpha of reliability,
correlation of scores, and fit of a factor model."""
