"""Which items go together, with no model given beforehand?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import pandas as pd

from core.analysis.factors.efa.script import exploratory_files
from core.analysis.shared.factor_models.groups import (
    NormalityScores,
    n_scores_used,
    normality_table,
)
from core.analysis.shared.factor_models.models import subscales_of_items
from core.analysis.shared.matrices import (
    MISSING_COLUMNS,
    ScoreMatrix,
    by_columns,
    choose_missing,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
    with_options,
)
from core.analysis.shared.options import By, MissingRows
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Choice, Number, analysis
from core.analysis.shared.scripts.scales import scale_groups
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    rows_by_group,
    rule_words,
    table_of,
    with_items_against,
)
from core.charts.curves import exploratory_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.stats.factor.exploratory import (
    SALIENT,
    ExploratoryFactors,
    InputCorrelation,
    ParallelAnalysis,
    exploratory_factors,
    parallel_analysis,
)
from core.stats.inputs import ROWS_USED, ItemRule
from core.stats.scores import contrary_items, keying_note

Row = tuple[Any, ...]
_EIGENVALUES = (
    Column("number", "Number", "count", "From the largest."),
    Column("n", "n", "count", "Administrations behind the correlations."),
    Column(
        "eigenvalue",
        "Eigenvalue",
        "points",
        "Of the correlations chosen: variance of a component, in items. Horn (1965).",
    ),
    Column(
        "chance_mean",
        "Chance, mean",
        "points",
        "Mean of the same eigenvalue in data without any common factor. Horn (1965).",
    ),
    Column(
        "chance_percentile",
        "Chance, 95th percentile",
        "points",
        "Of the same data; an eigenvalue above it stands out. Glorfeld (1995).",
    ),
    Column("stands_out", "Stands out", help="Whether it counts towards the number of factors."),
)
_LOADINGS = (
    Column("item", "Item", help="As named in the bank."),
    Column("factor", "Factor", "count", "Numbered as the rotation leaves them."),
    Column(
        "loading",
        "Loading",
        "correlation",
        "Weight of the factor in the item, the others "
        "held fixed, after direct oblimin; Jennrich & Sampson (1966).",
        (-SALIENT, SALIENT),
    ),
    Column(
        "structure",
        "Correlation with the factor",
        "correlation",
        "Loadings times the correlations of the factors. Harman & Jones (1966).",
    ),
    Column(
        "communality",
        "Communality",
        "proportion",
        "Share of the item's variance that all factors explain together. Harman & Jones (1966).",
    ),
    Column(
        "against",
        "Against its subscale",
        help="Whether the item loads .30 or more with "
        "another sign than most of its subscale, on the factor that the subscale loads on "
        "most: check its keying.",
    ),
)
_FACTORS = (
    Column("factor", "Factor", "count", "Numbered as the rotation leaves them."),
    Column(
        "sum_of_squares",
        "Sum of squares",
        "points",
        "Item variance the factor explains, in items. Harman & Jones (1966).",
    ),
    Column("share", "Share of variance", "proportion", "Sum of squares / number of items."),
    Column("other", "With factor", "count", "The other of a pair; empty where there is none."),
    Column(
        "correlation",
        "Correlation",
        "correlation",
        "Between the two factors, as rotated; Jennrich & Sampson (1966).",
    ),
    Column("n", "n", "count", "Administrations behind the correlations."),
    *MISSING_COLUMNS,
)
_REPETITIONS = {"pearson": 500, "polychoric": 100}
"""Sets of chance data; a polychoric one takes as long as many others."""
_ALL_ANSWERS: Mapping[InputCorrelation, ItemRule] = {"pearson": "fiml", "polychoric": "pairwise"}
"""How all answers are used."""
_REMEDY = "It needs items that vary and several administrations (contexts or repetitions)."
_FEW_PER_ITEM = 5  # administrations; Gorsuch (1983) asks for as many at least


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How many factors stand out from chance, and what the extracted ones explain."""
    explained = rows_by_group(table_of(result, "factors"), "factor")
    loadings = rows_by_group(table_of(result, "loadings"), "item")

    def sentence(group: str, rows: Sequence[TableRow]) -> str:
        if rows[0]["n"] < len(rows):
            return (
                f"The number of factors is not judged: {rows[0]['n']} administrations are fewer "
                f"than the {len(rows)} items."
            )
        n = sum(row["stands_out"] == "yes" for row in rows)
        suggested = f"{count_text(n, 'factor')} {'stands' if n == 1 else 'stand'} out from chance"
        shares = {row["factor"]: row["share"] for row in explained.get(group, [])}
        known = [share for share in shares.values() if math.isfinite(share)]
        if not known:
            return f"{suggested}; what they explain is undefined (no solution was found)."
        extracted = count_text(len(known), "factor")
        return with_items_against(
            f"{suggested}; {extracted} extracted, {percent_text(sum(known))} of the variance "
            f"explained{rule_words(explained[group][0])}.",
            [str(row["item"]) for row in loadings.get(group, []) if row["against"]],
        )

    groups = rows_by_group(table_of(result, "eigenvalues"), "number")
    return tuple(GroupAnswer(group, sentence(group, rows)) for group, rows in groups.items())


Factors = Annotated[int, Number("Factors (0: as many as stand out from chance)", 0, 20)]
Correlations = Annotated[
    Literal["pearson", "polychoric"],
    Choice(
        "Correlations",
        (("pearson", "Of the scores (Pearson)"), ("polychoric", "Behind ordered answers")),
        help="Polychoric correlations take answers as steps of normal variables.",
    ),
]
Seed = Annotated[int, Number("Seed", 0, 1_000_000)]


def _efa_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    factors: Factors = 0,
    correlation: Correlations = "pearson",
    missing: MissingRows = "automatic",
    seed: Seed = 1,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `efa`. Groups without factors are left out."""
    names = distinct(by)
    matrices = with_options(item_scores, score_matrices(item_scores, names, whole=True))
    rule, _ = choose_missing(missing, (own.scores for own in matrices), _ALL_ANSWERS[correlation])
    groups, numbers = [], []
    for matrix, group in zip(matrices, scale_groups(item_scores, names), strict=True):
        try:
            chance = None if factors else _parallel_analysis(matrix, correlation, seed, rule)
            number = chance.n_suggested or 1 if chance else factors
            exploratory_factors(
                matrix.scores,
                matrix.items,
                number,
                correlation=correlation,
                offered=matrix.options,
                seed=seed,
                missing=rule,
            )
        except NotEnoughData:
            continue
        groups.append(group)
        numbers.append(number)
    if not groups:
        raise NotEnoughData("No factors can be found in any group.", _REMEDY)
    return exploratory_files(groups, numbers, correlation, rule)


def _parallel_analysis(
    matrix: ScoreMatrix, correlation: InputCorrelation, seed: int, missing: ItemRule
) -> ParallelAnalysis:
    """Parallel analysis of the items of one group."""
    return parallel_analysis(
        matrix.scores,
        matrix.items,
        repetitions=_REPETITIONS[correlation],
        seed=seed,
        correlation=correlation,
        offered=matrix.options,
        missing=missing,
    )


_TABS = {
    "eigenvalues": "Eigenvalues",
    "loadings": "Loadings",
    "factors": "Factors",
    "normality": "Normality",
}


@analysis(
    title="Exploratory factors",
    question="Which items go together, with no model given beforehand?",
    topic="factors",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=exploratory_charts,
    scripts=_efa_scripts,
    references=(
        "Horn (1965) doi:10.1007/BF02289447",
        "Harman & Jones (1966) doi:10.1007/BF02289468",
        "Jennrich & Sampson (1966) doi:10.1007/BF02289465",
        "Mardia (1970) doi:10.1093/biomet/57.3.519",
    ),
    keywords=(
        "EFA",
        "exploratory factor analysis",
        "scree",
        "parallel analysis",
        "eigenvalues",
        "number of factors",
        "rotation",
        "oblimin",
        "loadings",
        "dimensionality",
    ),
    requires="scores",
    in_reports=True,
)
def efa(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    factors: Factors = 0,
    correlation: Correlations = "pearson",
    missing: MissingRows = "automatic",
    seed: Seed = 1,
) -> AnalysisResult:
    """Parallel analysis, minres factors rotated by oblimin, and tests of normality, by group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; all subscales of a group are analyzed together.
    factors : int
        Number of factors; 0 takes what parallel analysis suggests, and one where it finds none.
    correlation : "pearson" or "polychoric"
        What eigenvalues, number of factors and loadings are taken from.
    missing : "automatic", "listwise" or "available"
        Complete administrations, or all: Pearson correlations by full information (the likeliest
        covariances), polychoric ones of each pair of items; chance data lack the same answers.
        Automatic: all, where the complete ones leave out more than a tenth of those of any group.
    seed : int
        Of the chance data and of the starts of the rotation.

    Returns
    -------
    AnalysisResult
        `eigenvalues`, `loadings` (a row per item and factor), `factors` (a row per pair of
        factors) and `normality` (Mardia and multivariate Shapiro-Wilk), each by group.

    Raises
    ------
    NotEnoughData
        No group has three usable administrations of two items that vary.

    Notes
    -----
    The unit of analysis is one administration. Items without variance are left out and named.
    Checked as written in docs/analyses/efa.md.
    """
    names = distinct(by)
    matrices = with_options(item_scores, score_matrices(item_scores, names, whole=True))
    subscale_of, _ = subscales_of_items(item_scores)
    tables: dict[str, list[Row]] = {name: [] for name in ("eigen", "load", "factor")}
    answers: list[NormalityScores] = []
    notes: list[str] = []
    cautions: list[str] = []
    too_few: list[str] = []
    n_used = 0
    rule, why = choose_missing(missing, (own.scores for own in matrices), _ALL_ANSWERS[correlation])
    for matrix in with_progress(matrices, "groups"):
        where = group_name(matrix.group)
        try:
            chance = _parallel_analysis(matrix, correlation, seed, rule)
            number = factors or chance.n_suggested or 1
            solution = exploratory_factors(
                matrix.scores,
                matrix.items,
                number,
                correlation=correlation,
                offered=matrix.options,
                seed=seed,
                missing=rule,
            )
        except NotEnoughData as error:
            cautions.append(about(where, str(error)))
            continue
        own = matrix.scores[:, [item in chance.names for item in matrix.items]]
        n_used += n_scores_used(own, rule)
        counts = (chance.n, incomplete_administrations(own)[1], rule)
        notes.append(about(where, _suggestion(chance, number)))
        if chance.n < len(chance.names):
            too_few.append(where)
            cautions.append(
                about(
                    where,
                    f"{chance.n} administrations are fewer than the {len(chance.names)} "
                    "items, so that the correlations follow from one another: read neither the "
                    "number of factors nor the loadings as a result.",
                )
            )
        elif chance.n < _FEW_PER_ITEM * len(chance.names):
            cautions.append(
                about(
                    where,
                    f"{chance.n} administrations are few for {len(chance.names)} items; in "
                    "another sample the loadings may look different.",
                )
            )
        answers.append((matrix.group, matrix.scores, matrix.items))
        problems = (*chance.problems, *solution.problems)
        cautions.extend(about(where, problem) for problem in dict.fromkeys(problems))
        against = _items_against(solution, subscale_of)
        cautions.extend(
            about(where, keying_note(title, list(own), [[one] for one in own.values()]))
            for (title, _), own in against.items()
        )
        tables["eigen"] += [(*matrix.group, *row) for row in _eigenvalues(chance)]
        tables["load"] += [(*matrix.group, *row) for row in _loadings(solution, against)]
        tables["factor"] += [(*matrix.group, *row, *counts) for row in _factors(solution)]
    if not tables["load"]:
        raise NotEnoughData(
            f"No factors can be found. {' '.join(cautions[:3])}",
            _REMEDY,
        )
    scores = sum(matrix.n_used for matrix in matrices)
    return AnalysisResult(
        tables=with_tabs(
            (
                _table(
                    "eigenvalues",
                    "Eigenvalues and those of chance",
                    tables["eigen"],
                    names,
                    _EIGENVALUES,
                ),
                _table("loadings", "Loadings", tables["load"], names, _LOADINGS),
                _table("factors", "Factors", tables["factor"], names, _FACTORS),
                normality_table(answers, names),
            ),
            _TABS,
        ),
        unit="one administration"
        + (", complete on all items of its group" if rule == "listwise" else ""),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Minres on {correlation.replace('pearson', 'Pearson')} correlations "
        f"({ROWS_USED[rule]}), direct "
        f"oblimin; number of factors {'chosen' if factors else 'by parallel analysis'} "
        "(components of the same correlations, 95th percentile of "
        f"{_REPETITIONS[correlation]} sets of chance data"
        f"{', answers shuffled' if correlation == 'polychoric' else ''}), seed {seed}. Scores "
        "are after reverse-keying."
        + (f" Fewer administrations than items: {'; '.join(too_few)}." if too_few else ""),
        cautions=(*data_cautions(item_scores, matrices), *cautions),
        notes=(*data_notes(item_scores), *notes, *why),
        n_left_out=scores - n_used,
    )


def _items_against(
    solution: ExploratoryFactors, subscale_of: Mapping[str, str]
) -> dict[tuple[str, int], dict[str, float]]:
    """Items that load against the others of their subscale, on the factor it loads on most.

    Their loadings, by the words for subscale and factor, and the factor's number.
    """
    owners = [subscale_of.get(name, "") for name in solution.names]
    against: dict[tuple[str, int], dict[str, float]] = {}
    for subscale in dict.fromkeys(owners):
        places = [place for place, owner in enumerate(owners) if owner == subscale]
        own = solution.loadings[places]
        factor = int((own**2).sum(axis=0).argmax())
        names, loadings = [solution.names[place] for place in places], own[:, factor].tolist()
        contrary = contrary_items(names, loadings, SALIENT)
        if contrary:
            title = f"{subscale or 'the scale'} on factor {factor + 1}"
            against[title, factor + 1] = {names[k]: loadings[k] for k in contrary}
    return against


def _suggestion(chance: ParallelAnalysis, number: int) -> str:
    n_suggested = chance.n_suggested
    stand_out = (
        f"{n_suggested} factor{' stands' if n_suggested == 1 else 's stand'} out from chance"
    )
    return f"{stand_out}; {number} shown (n = {chance.n})."


def _eigenvalues(chance: ParallelAnalysis) -> Iterator[Row]:
    columns = (chance.eigenvalues, chance.chance_mean, chance.chance_percentile)
    for place, (own, mean, limit) in enumerate(zip(*columns, strict=True), 1):
        stands_out = "yes" if place <= chance.n_suggested else "no"
        yield place, chance.n, float(own), float(mean), float(limit), stands_out


def _loadings(
    solution: ExploratoryFactors, against: Mapping[tuple[str, int], Mapping[str, float]]
) -> Iterator[Row]:
    contrary = {(name, factor) for (_, factor), own in against.items() for name in own}
    for row, item in enumerate(solution.names):
        for column in range(solution.loadings.shape[1]):
            yield (
                item,
                column + 1,
                float(solution.loadings[row, column]),
                float(solution.structure[row, column]),
                float(solution.communalities[row]),
                (item, column + 1) in contrary,
            )


def _factors(solution: ExploratoryFactors) -> Iterator[Row]:
    for own, (squares, share) in enumerate(
        zip(solution.sums_of_squares, solution.shares, strict=True)
    ):
        pairs: list[tuple[float, float]] = [
            (other + 1, float(solution.factor_correlations[own, other]))
            for other in range(own + 1, len(solution.shares))
        ]
        for pair in pairs or [(math.nan, math.nan)]:
            yield own + 1, float(squares), float(share), *pair


def _table(
    name: str, title: str, rows: list[Row], by: tuple[str, ...], columns: tuple[Column, ...]
) -> ResultTable:
    leading = (*by_columns(by), *columns)
    frame = pd.DataFrame(rows, columns=[column.name for column in leading])
    return ResultTable(name, title, frame, leading)
