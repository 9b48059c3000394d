"""Do scores that should go together do so, and those that should not, not?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Annotated, Any

import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import (
    ScoreMatrix,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.kit.options import (
    INDEPENDENT_ROWS,
    Adjust,
    By,
    Complete,
    ConfidenceLevel,
    Resamples,
    Seed,
    adjustment_words,
)
from core.analysis.kit.registry import Choice, DesignFactors, OtherData, analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.kit.rows import row_cautions, row_notes
from core.analysis.kit.scores import scores_remedy, scores_used
from core.analysis.kit.scripts.comparisons import PairedColumns, correlation_files
from core.analysis.scales.multitrait_matrix.scores import (
    MATCHED,
    ScoreSource,
    ScoreTable,
    averaging_factors,
    row_factors,
    score_tables,
    study_sources,
    text_source,
    with_prefixes,
)
from core.analysis.scales.multitrait_matrix.tables import (
    GroupCorrelations,
    correlate_scores,
    other_items,
    result_tables,
)
from core.analysis.words.odds_ratios import (
    Descriptor,
    First,
    FirstLists,
    Lists,
    ScoreOption,
    Second,
    choose_contrast,
)
from core.charts.heat_maps import score_matrix_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about, kind_of
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, TextFile
from core.progress import with_progress
from core.stats.correlation import CorrelationMethod
from core.stats.inputs import name_list
from core.stats.resampling import Bootstrap


def _add_matching(
    findings: Findings,
    sources: Sequence[ScoreSource],
    by: Sequence[str],
    split: Sequence[str],
    rows_by: Sequence[str],
) -> None:
    """What scores were matched on and averaged over."""
    if len(sources) > 1:
        matched_on = _row_words(rows_by, by, " and ")
        findings.notes.append(f"Scores of the studies are matched on {matched_on}.")
    for source in sources:
        over = averaging_factors(source, (*rows_by, *by, *split))
        if over:
            scores = f"{source.name}: scores" if len(sources) > 1 else "Scores"
            findings.notes.append(f"{scores} are averaged over {_factor_words(over, ' and ')}.")


def _add_cautions(
    findings: Findings, groups: Sequence[GroupCorrelations], sources: Sequence[ScoreSource]
) -> None:
    """Traits whose items differ between methods, and which pairs have no correlation and why."""
    for group in groups:
        for i, score in enumerate(group.table.scores):
            if others := other_items(group.table, i):
                findings.caution(
                    group_name(group.table.group),
                    f"{score.name} is of {len(group.table.items[i])} items; "
                    f"{name_list(sorted(others))} {'have' if len(others) > 1 else 'has'} answers "
                    "under another method only, so their means are not comparable.",
                )
    matched = {score.source for group in groups for score in group.table.scores}
    findings.cautions += [
        f"{source.name}: it has no scores of the same models and contexts, so it is not "
        "correlated with the others."
        for source in sources
        if source.name not in matched
    ]
    for group in groups:
        name, scores = group_name(group.table.group), group.table.scores
        if len(scores) < 2:
            findings.caution(name, "there is one score only, so nothing to correlate.")
        reasons: dict[str, list[str]] = {}
        for pair, problems in group.problems.items():
            for problem in problems:
                if kind_of(problem) == "undefined":
                    names = " with ".join(scores[number].name for number in pair)
                    reasons.setdefault(problem, []).append(names)
        findings.cautions += [
            about(name, reason, name_list(pairs)) for reason, pairs in reasons.items()
        ]


def _row_words(rows_by: Sequence[str], by: Sequence[str], between: str = " × ") -> str:
    """The factors that make a row, groups included."""
    return _factor_words([name for name in MATCHED if name in (*rows_by, *by)], between)


def _factor_words(factors: Sequence[str], between: str = " × ") -> str:
    """Factors as a reader calls them."""
    return between.join(name.replace("_", " ") for name in factors) or "administration"


Split = Annotated[
    tuple[str, ...],
    DesignFactors(
        "Separate scores by", help="Each level, such as each form, gets scores of its own."
    ),
]
Other = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Another scale's study",
        "item_scores",
        help="Its scores are correlated with these, for the same models and contexts.",
    ),
]
StudyOfTexts = Annotated[
    pd.DataFrame | None,
    OtherData(
        "Texts of a study",
        "texts",
        help="Scored by lists of words and correlated with the scores (concurrent validity).",
    ),
]
CorrelationKind = Annotated[
    CorrelationMethod,
    Choice("Correlation", (("pearson", "Pearson: linear"), ("spearman", "Spearman: of ranks"))),
]


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Correlations of the same and of different traits, where methods differ."""

    def span(rows: Sequence[sentences.TableRow], same_trait: bool) -> str:
        pairs = [row for row in rows if row["same_trait"] == same_trait and not row["same_method"]]
        defined = [row["r"] for row in pairs if math.isfinite(row["r"])]
        if not defined:
            return "undefined (no such pair)"
        low, high = map(sentences.coefficient_text, (min(defined), max(defined)))
        return (
            f"{low} (1 pair)"
            if len(defined) == 1
            else f"from {low} to {high} ({len(defined)} pairs)"
        )

    def basis(rows: Sequence[sentences.TableRow]) -> str:
        differ = [str(row["score"]) for row in rows if row["items_left_out"]]
        without, fewer = (
            max((int(row[name]) for row in rows), default=0) for name in ("n_without", "n_fewer")
        )
        parts = [
            f"{name_list(differ)} {'are' if len(differ) > 1 else 'is'} of fewer items than the "
            "same trait by another method"
            if differ
            else "",
            f"up to {count_text(without, 'administration')} without a score left out"
            if without
            else "",
            f"up to {count_text(fewer, 'score')} of some of the items" if fewer else "",
        ]
        return "".join(f"; {part}" for part in parts if part)

    def sentence(group: str, rows: Sequence[sentences.TableRow]) -> str:
        linear = [row for row in rows if row["kind"] == "pearson"]
        return (
            f"Across methods, correlations of the same trait: {span(linear, True)}; of different "
            f"traits: {span(linear, False)}{basis(scores.get(group, ()))}."
        )

    scores = sentences.rows_by_group(sentences.table_of(result, "scores"))
    groups = sentences.rows_by_group(sentences.table_of(result, "correlations"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows)) for group, rows in groups.items()
    )


def _text_sources(texts: pd.DataFrame | None, options: tuple[Any, ...]) -> tuple[ScoreSource, ...]:
    """The scores of texts as a source; none without texts."""
    return () if texts is None else (text_source(texts, choose_contrast(texts, *options)),)


def _multitrait_matrix_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    split: Split = (),
    other: Other = None,
    texts: StudyOfTexts = None,
    lists: Lists = None,
    descriptor: Descriptor = "",
    first: First = "",
    second: Second = "",
    first_lists: FirstLists = "",
    score: ScoreOption = "log",
    kind: CorrelationKind = "pearson",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 0,
    seed: Seed = 0,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `multitrait_matrix`."""
    del resamples, seed  # bootstrap intervals depend on the random numbers
    methods = distinct(split)
    names = tuple(name for name in distinct(by) if name not in methods)
    sources = study_sources(item_scores, other, incomplete, (*names, *methods))
    choices = (lists, descriptor, first, second, first_lists, score)
    sources = with_prefixes([*sources, *_text_sources(texts, choices)])
    rows_by = row_factors(sources, names, methods)
    return correlation_files(
        [_paired_columns(own) for own in score_tables(sources, names, methods, rows_by, ci_level)],
        name="multitrait_matrix",
        title="Multitrait matrix",
        incomplete=incomplete,
        kinds=(kind,),
        adjust=adjust,
        ci_level=ci_level,
        remarks=(
            "Scores are averaged over the administrations of a row. alphas are Cronbach's alpha of "
            "each score, as Inkblot computes them from the items; r is corrected by them.",
        ),
    )


def _paired_columns(table: ScoreTable) -> PairedColumns:
    """The scores of a group with their reliabilities, and all of their pairs."""
    pairs = tuple(combinations(range(len(table.scores)), 2))
    return PairedColumns(
        table.group,
        "scores",
        tuple(score.name for score in table.scores),
        table.values,
        pairs,
        tuple(not table.scores[x].shares_answers(table.scores[y]) for x, y in pairs),
        tuple(own.value for own in table.reliabilities),
    )


@analysis(
    title="Multitrait matrix",
    question="Do scores that should go together do so, and those that should not, not?",
    topic="validity",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=score_matrix_charts,
    scripts=_multitrait_matrix_scripts,
    references=(
        "Campbell & Fiske (1959) doi:10.1037/h0046016",
        "Fisher (1921), On the 'probable error' of a coefficient of correlation",
        "Bonett & Wright (2000) doi:10.1007/BF02294183",
        "Spearman (1904) doi:10.2307/1412159",
        "Cronbach (1951) doi:10.1007/BF02310555",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
        "Benjamini & Hochberg (1995) doi:10.1111/j.2517-6161.1995.tb02031.x",
    ),
    keywords=(
        "MTMM",
        "multitrait",
        "multimethod",
        "convergent",
        "discriminant",
        "validity",
        "correlation matrix",
        "construct validity",
        "correlation with another scale",
        "correlation of subscales",
    ),
    rows_by=MATCHED,
    side_by_side=("language",),
    requires="scores",
)
def multitrait_matrix(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    split: Split = (),
    other: Other = None,
    texts: StudyOfTexts = None,
    lists: Lists = None,
    descriptor: Descriptor = "",
    first: First = "",
    second: Second = "",
    first_lists: FirstLists = "",
    score: ScoreOption = "log",
    kind: CorrelationKind = "pearson",
    incomplete: Complete = "prorated",
    adjust: Adjust = "holm",
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 0,
    seed: Seed = 0,
) -> AnalysisResult:
    """Correlations among all scores of a study and of another one, with reliabilities.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer. The
        scores of each study in it are separate.
    by : tuple of factors
        Those in `split` are ignored here.
    split : tuple of factors
        Every combination of their levels gets scores of its own: the methods of the matrix.
    other : ITEM_SCORES frame, optional
        Of another study, whose scores are matched with these.
    texts : TEXTS frame, optional
        Texts of the same models and contexts, scored by the odds ratios of listed words.
    lists, descriptor, first, second, first_lists, score
        How texts are scored, as in `odds_ratios`.
    adjust : "holm" or "benjamini-hochberg"
        Over the pairs of scores of a group.

    Returns
    -------
    AnalysisResult
        `correlations`, one row per group and pair of scores; `matrix`, one row per group and score:
        correlations below the diagonal, Cronbach's alpha on it; `scores`, one row per group and
        score.

    Raises
    ------
    NotEnoughData
        There is one score only, or no correlation is defined anywhere; a column that is asked for
        is missing; the other study is the same one. If only some are undefined, they are NaN with
        a remark.

    Notes
    -----
    A row is one respondent under one context (and language and repetition where the studies share
    them); its score is the mean over its administrations under whatever else was varied, such as
    forms that have no scores of their own. Each pair of scores uses the rows that have both.
    Interval by Fisher's z, p by t with n - 2 degrees of freedom. Rows are taken as independent;
    those of one model are not. Campbell & Fiske (1959). Correlations agree with R 4.2.2 (see
    docs/analyses).
    """
    methods = distinct(split)
    names = tuple(name for name in distinct(by) if name not in methods)
    sources = study_sources(item_scores, other, incomplete, (*names, *methods))
    choices = (lists, descriptor, first, second, first_lists, score)
    sources = with_prefixes([*sources, *_text_sources(texts, choices)])
    rows_by = row_factors(sources, names, methods)
    tables = tuple(score_tables(sources, names, methods, rows_by, ci_level))
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    groups = [
        correlate_scores(table, kind, ci_level, bootstrap)
        for table in with_progress(tables, "groups")
    ]
    findings = Findings()
    _add_matching(findings, sources, names, methods, rows_by)
    _add_cautions(findings, groups, sources)
    if not any(group.correlated for group in groups):
        raise findings.refusal(
            "No scores can be correlated.",
            scores_remedy(item_scores, incomplete, _NEEDS),
            names,
        )
    behind = _administrations_behind(groups)
    frames = {source.name: source.frame for source in sources if source.frame is not None}
    made = result_tables(groups, names, sources, adjust, ci_level)
    matrices = score_matrices(item_scores, names)
    return count_result(
        made,
        _with_those_of_data(findings, item_scores, matrices),
        unit=f"one {_row_words(rows_by, names)}, of which all administrations are "
        "averaged (a row, where notes speak of rows)",
        trials=sum(len(frame) for frame in frames.values()),
        usable=sum(int(frame["score"].notna().sum()) for frame in frames.values()),
        used=sum(scores_used(frame, behind.get(name, {})) for name, frame in frames.items()),
        method=f"Scores are means of items after reverse-keying; {kind.capitalize()} correlations "
        f"from the rows that have both; {ci_level * 100:g}% intervals by Fisher's z"
        f"{adjustment_words(adjust, made)}; reliability is Cronbach's alpha.",
    )


def _with_those_of_data(
    findings: Findings, item_scores: pd.DataFrame, matrices: Sequence[ScoreMatrix]
) -> Findings:
    """The findings between what is said of any such answers, and of any such rows."""
    return Findings(
        [
            *data_cautions(item_scores, matrices),
            *findings.cautions,
            *row_cautions(item_scores, *INDEPENDENT_ROWS),
        ],
        [
            *data_notes(item_scores),
            *findings.notes,
            *row_notes(item_scores, *INDEPENDENT_ROWS),
        ],
    )


_NEEDS = (
    "It needs two scores that vary over three contexts or more: subscales, levels of a factor that "
    "separates scores, or another study of the same models and contexts."
)


def _administrations_behind(
    groups: Iterable[GroupCorrelations],
) -> dict[str, dict[str, set[int]]]:
    """The administrations of each source and scale whose scores are correlated."""
    behind: dict[str, dict[str, set[int]]] = {}
    for group in groups:
        for i in group.correlated:
            correlated = group.table.scores[i]
            of_source = behind.setdefault(correlated.source, {})
            of_source.setdefault(correlated.scale, set()).update(group.table.behind[i].index)
    return behind
