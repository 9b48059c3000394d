"""All cases of the bench, and what no case judges, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.coverage import scores
from benchmarks.coverage.cases import Case


def cases() -> Iterator[Case]:
    """Every case, in the order of the printed table."""
    yield from scores.cases()


_RMSEA = "An interval of 90 % of a misfit that is 0 here; the test of the same fit is judged."
_PAIRS_OF_CFA = "One factor without residual covariances is simulated."
NOT_JUDGED: Mapping[str, str] = {
    "cfa.fit.rmsea_low": _RMSEA,
    "cfa.fit.rmsea_robust_low": _RMSEA,
    "cfa.fit.rmsea_scaled_low": _RMSEA,
    "cfa.factor_correlations.ci_low": _PAIRS_OF_CFA,
    "cfa.factor_correlations.p": _PAIRS_OF_CFA,
    "cfa.residual_covariances.ci_low": _PAIRS_OF_CFA,
    "cfa.residual_covariances.p": _PAIRS_OF_CFA,
    "cfa.loadings.p": "Loadings of 0 are not simulated; the intervals are judged.",
}
"""Intervals and tests ("analysis.table.column") that pages show and no case judges, and why."""

NO_CASE_YET = frozenset(
    {
        "annotator_agreement",
        "bias",
        "bias_shift",
        "cfa_comparison",
        "consistency_summary",
        "cross_language",
        "dif",
        "efa",
        "form_agreement",
        "generalizability",
        "instrument_rates",
        "invalid_answers",
        "invariance",
        "multitrait_matrix",
        "norm_comparison",
        "odds_ratios",
        "opinions",
        "preference",
        "random_consistency",
        "rater_agreement",
        "referential_consistency",
        "stance_reliability",
        "story_validity",
        "template_pilot",
        "unexpected_outputs",
        "validation_report",
        "word_association",
        "worldview",
    }
)
"""Analyses that show intervals or tests and have no case yet."""

NO_PROMISE = frozenset(
    {"cfa_check", "graded_response", "item_map", "option_distribution", "score_distribution"}
)
"""Analyses that show neither intervals nor tests."""
