"""Which items go together, with no model given beforehand?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from core.analysis.factors.efa.script import exploratory_files
from core.analysis.kit import sentences
from core.analysis.kit.factor_models.groups import (
    NormalityScores,
    n_scores_used,
    normality_table,
)
from core.analysis.kit.factor_models.models import subscales_of_items
from core.analysis.kit.matrices import (
    MISSING_COLUMNS,
    ScoreMatrix,
    choose_missing,
    distinct,
    group_name,
    incomplete_administrations,
    score_matrices,
    with_options,
)
from core.analysis.kit.options import By, MissingRows
from core.analysis.kit.registry import Choice, Number, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.scripts.scales import scale_groups
from core.charts.curves import exploratory_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text, percent_text
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    key,
    number,
    p_value,
    point_estimate,
    remark,
    text,
)
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.factor.adequacy import (
    MinimumAveragePartial,
    SamplingAdequacy,
    minimum_average_partial,
    sampling_adequacy,
)
from core.stats.factor.exploratory import (
    SALIENT,
    ExploratoryFactors,
    InputCorrelation,
    ParallelAnalysis,
    exploratory_factors,
    parallel_analysis,
)
from core.stats.inputs import ROWS_USED, ItemRule, name_list
from core.stats.scores import contrary_items, keying_note

LEAST_KMO = 0.5
"""Below it Kaiser (1974) calls items unacceptable for factors."""
_EIGENVALUES = TableSpec(
    "eigenvalues",
    "Eigenvalues and those of chance",
    (
        key("number", "Number", "From the largest.", "count"),
        count("n", "n", "Administrations behind the correlations."),
        number(
            "eigenvalue",
            "Eigenvalue",
            "points",
            "Of the correlations chosen: variance of a component, in items. Horn (1965).",
        ),
        number(
            "chance_mean",
            "Chance, mean",
            "points",
            "Mean of the same eigenvalue in data without any common factor. Horn (1965).",
        ),
        number(
            "chance_percentile",
            "Chance, 95th percentile",
            "points",
            "Of the same data; an eigenvalue above it stands out. Glorfeld (1995).",
        ),
        text("stands_out", "Stands out", "Whether it counts towards the number of factors."),
        number(
            "map_squares",
            "Left, r²",
            "correlation",
            "Mean squared partial correlation of the items after so many components: least at the "
            "number of factors by MAP. Velicer (1976).",
        ),
        number(
            "map_fourth_powers",
            "Left, r⁴",
            "correlation",
            "Mean fourth power of the same. Velicer, Eaton & Fava (2000).",
        ),
    ),
    "Eigenvalues",
)
_ADEQUACY = TableSpec(
    "adequacy",
    "Before the analysis",
    (
        count("n", "n", "Administrations behind the correlations."),
        count("n_items", "Items", "Items that vary."),
        number(
            "kmo",
            "KMO",
            "proportion",
            "Kaiser-Meyer-Olkin measure: squared correlations over these plus squared partial "
            "correlations. Kaiser (1974): under .5 unacceptable, from .7 middling, from .8 good.",
            (LEAST_KMO,),
        ),
        number(
            "bartlett",
            "Bartlett's χ²",
            "points",
            "Test that no items correlate at all. Bartlett (1950). Any large sample rejects it: it "
            "does not say that factors are worth while.",
        ),
        count("df", "df", "Pairs of items."),
        p_value("p", "p", "Of Bartlett's test."),
        count("by_parallel", "Factors, parallel analysis", "Eigenvalues above chance."),
        count("by_map", "Factors, MAP", "Where the mean squared partial correlation is least."),
        count("by_map_fourth", "Factors, MAP r⁴", "Where the mean fourth power is least."),
        remark("Why a number is undefined, and cautions."),
    ),
    "Adequacy",
)
_ITEM_ADEQUACY = TableSpec(
    "item_adequacy",
    "Adequacy of the items",
    (
        key("item", "Item", "As named in the bank."),
        number(
            "kmo",
            "KMO",
            "proportion",
            "The measure over the correlations of this item: under .5 it shares too little with "
            "the others. Kaiser (1974).",
            (LEAST_KMO,),
        ),
    ),
    "Adequacy",
)
_LOADINGS = TableSpec(
    "loadings",
    "Loadings",
    (
        key("item", "Item", "As named in the bank."),
        key("factor", "Factor", "Numbered as the rotation leaves them.", "count"),
        point_estimate(
            "loading",
            "Loading",
            "correlation",
            "Weight of the factor in the item, the others "
            "held fixed, after direct oblimin; Jennrich & Sampson (1966).",
            (-SALIENT, SALIENT),
        ),
        number(
            "structure",
            "Correlation with the factor",
            "correlation",
            "Loadings times the correlations of the factors. Harman & Jones (1966).",
        ),
        number(
            "communality",
            "Communality",
            "proportion",
            "Share of the item's variance that all factors explain together. "
            "Harman & Jones (1966).",
        ),
        text(
            "against",
            "Against its subscale",
            "Whether the item loads .30 or more with "
            "another sign than most of its subscale, on the factor that the subscale loads on "
            "most: check its keying.",
        ),
    ),
    "Loadings",
)
_FACTORS = TableSpec(
    "factors",
    "Factors",
    (
        key("factor", "Factor", "Numbered as the rotation leaves them.", "count"),
        number(
            "sum_of_squares",
            "Sum of squares",
            "points",
            "Item variance the factor explains, in items. Harman & Jones (1966).",
        ),
        number("share", "Share of variance", "proportion", "Sum of squares / number of items."),
        key("other", "With factor", "The other of a pair; empty where there is none.", "count"),
        point_estimate(
            "correlation",
            "Correlation",
            "correlation",
            "Between the two factors, as rotated; Jennrich & Sampson (1966).",
        ),
        count("n", "n", "Administrations behind the correlations."),
        *MISSING_COLUMNS,
    ),
    "Factors",
)
_REPETITIONS = {"pearson": 500, "polychoric": 100}
"""Sets of chance data; a polychoric one takes as long as many others."""
_ALL_ANSWERS: Mapping[InputCorrelation, ItemRule] = {"pearson": "fiml", "polychoric": "pairwise"}
"""How all answers are used."""
_REMEDY = "It needs items that vary and several administrations (contexts or repetitions)."
_NOT_ORDERED = (
    "Bartlett's test is of correlations of scores; polychoric ones vary more than it knows, so it "
    "is left out."
)
_TOO_SHARP = "Bartlett's test takes all answers as given, so its p is too small."
_FEW_PER_ITEM = 5  # administrations; Gorsuch (1983) asks for as many at least
_FEW = (
    "{n} administrations are few for {n_items} items; in another sample the loadings may look "
    "different."
)
_FEWER = (
    "{n} administrations are fewer than the {n_items} items, so that the correlations follow from "
    "one another: read neither the number of factors nor the loadings as a result."
)


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How many factors stand out from chance, and what the extracted ones explain."""
    explained = sentences.rows_by_group(sentences.table_of(result, "factors"))
    loadings = sentences.rows_by_group(sentences.table_of(result, "loadings"))
    adequacy = sentences.rows_by_group(sentences.table_of(result, "adequacy"))

    def sentence(group: str, rows: Sequence[sentences.TableRow]) -> str:
        if rows[0]["n"] < len(rows):
            return (
                f"The number of factors is not judged: {rows[0]['n']} administrations are fewer "
                f"than the {len(rows)} items."
            )
        n = sum(row["stands_out"] == "yes" for row in rows)
        suggested = f"{count_text(n, 'factor')} {'stands' if n == 1 else 'stand'} out from chance"
        if group in adequacy:
            row = adequacy[group][0]
            counts = dict.fromkeys((int(row["by_map"]), int(row["by_map_fourth"])))
            suggested += f" (by MAP {' or '.join(map(str, counts))})"
            if math.isfinite(row["kmo"]):
                suggested = f"KMO {sentences.coefficient_text(row['kmo'])}; {suggested}"
        shares = {row["factor"]: row["share"] for row in explained.get(group, [])}
        defined = [share for share in shares.values() if math.isfinite(share)]
        if not defined:
            return f"{suggested}; what they explain is undefined (no solution was found)."
        extracted = count_text(len(defined), "factor")
        return sentences.with_items_against(
            f"{suggested}; {extracted} extracted, {percent_text(sum(defined))} of the variance "
            f"explained{sentences.rule_words(explained[group][0])}.",
            [str(row["item"]) for row in loadings.get(group, []) if row["against"]],
        )

    eigenvalues = sentences.rows_by_group(sentences.table_of(result, "eigenvalues"))
    return tuple(
        sentences.GroupAnswer(group, sentence(group, rows)) for group, rows in eigenvalues.items()
    )


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
            _solution(matrix, number, correlation, seed, rule)
        except NotEnoughData:
            continue
        groups.append(group)
        numbers.append(number)
    if not groups:
        raise NotEnoughData("No factors can be found in any group.", _REMEDY)
    return exploratory_files(groups, numbers, correlation, rule)


def _solution(
    matrix: ScoreMatrix,
    n_factors: int,
    correlation: InputCorrelation,
    seed: int,
    missing: ItemRule,
) -> ExploratoryFactors:
    """The factors of the items of one group."""
    return exploratory_factors(
        matrix.scores,
        matrix.items,
        n_factors,
        correlation=correlation,
        offered=matrix.options,
        seed=seed,
        missing=missing,
    )


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
        "Kaiser (1974) doi:10.1007/BF02291575",
        "Bartlett (1950) doi:10.1111/j.2044-8317.1950.tb00285.x",
        "Velicer (1976) doi:10.1007/BF02293557",
        "Velicer, Eaton & Fava (2000), Construct explication through factor or component analysis",
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
        "KMO",
        "sampling adequacy",
        "Bartlett's test",
        "MAP",
        "minimum average partial",
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
        factors), `normality` (Mardia and multivariate Shapiro-Wilk), `adequacy` (KMO, Bartlett,
        numbers of factors) and `item_adequacy`, each by group.

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
    filled = _ExploratoryRows(names)
    answers: list[NormalityScores] = []
    findings = Findings()
    too_few: list[str] = []
    n_used = 0
    rule, why = choose_missing(missing, (m.scores for m in matrices), _ALL_ANSWERS[correlation])
    for matrix in with_progress(matrices, "groups"):
        group = group_name(matrix.group)
        try:
            chance = _parallel_analysis(matrix, correlation, seed, rule)
            n_factors = factors or chance.n_suggested or 1
            solution = _solution(matrix, n_factors, correlation, seed, rule)
        except NotEnoughData as error:
            findings.caution(group, str(error))
            continue
        used = matrix.scores[:, [item in chance.names for item in matrix.items]]
        n_used += n_scores_used(used, rule)
        incomplete = incomplete_administrations(used)[1]
        n = chance.n
        few = _add_number_findings(findings, group, chance, n_factors)
        too_few += [group] if few else []
        answers.append((matrix.group, matrix.scores, matrix.items))
        against = _items_against(solution, subscale_of)
        _add_problems(findings, group, (*chance.problems, *solution.problems), against)
        before = sampling_adequacy(solution.correlations, solution.names, n)
        _add_adequacy_findings(findings, group, solution.names, before)
        gaps = bool(incomplete) and rule != "listwise"
        cells = _adequacy_cells(before, correlation, gaps=gaps)
        filled.add(matrix.group, chance, solution, against, before, cells)
        for row in _factor_cells(solution):
            filled.factors.add(matrix.group, **row, n=n, incomplete=incomplete, missing_rule=rule)
    if not answers:
        raise findings.refusal("No factors can be found.", _REMEDY, names)
    of_complete = ", complete on all items of its group" if rule == "listwise" else ""
    return score_result(
        item_scores,
        filled.tables(normality_table(answers, names)),
        findings,
        n_used=n_used,
        method=_method(correlation, rule, factors, seed, too_few),
        matrices=matrices,
        taken_for_granted=("", ""),
        unit=f"one administration{of_complete}",
        later_notes=why,
    )


class _ExploratoryRows:
    """The rows of all tables but that of normality."""

    def __init__(self, by: Sequence[str]) -> None:
        self._eigenvalues, self._loadings = TableRows(_EIGENVALUES, by), TableRows(_LOADINGS, by)
        self._adequacy, self._items = TableRows(_ADEQUACY, by), TableRows(_ITEM_ADEQUACY, by)
        self.factors = TableRows(_FACTORS, by)

    def add(
        self,
        group: tuple[Any, ...],
        chance: ParallelAnalysis,
        solution: ExploratoryFactors,
        against: Mapping[tuple[str, int], Mapping[str, float]],
        before: SamplingAdequacy,
        adequacy: Mapping[str, Any],
    ) -> None:
        """The rows of a group; `adequacy` are cells of the measures before the analysis."""
        partial = minimum_average_partial(solution.correlations)
        self._adequacy.add(
            group,
            n=chance.n,
            n_items=len(chance.names),
            by_parallel=chance.n_suggested,
            by_map=partial.n_by_squares,
            by_map_fourth=partial.n_by_fourth_powers,
            **adequacy,
        )
        for item, kmo in zip(solution.names, before.items.tolist(), strict=True):
            self._items.add(group, item=item, kmo=kmo)
        for cells in _eigenvalue_cells(chance, partial):
            self._eigenvalues.add(group, **cells)
        for cells in _loading_cells(solution, against):
            self._loadings.add(group, **cells)

    def tables(self, normality: ResultTable) -> tuple[ResultTable, ...]:
        """The tables in their order."""
        factors = (self._eigenvalues, self._loadings, self.factors)
        before = (self._adequacy, self._items)
        return (
            *(rows.table() for rows in factors),
            normality,
            *(rows.table() for rows in before),
        )


def _add_number_findings(
    findings: Findings, group: str, chance: ParallelAnalysis, n_factors: int
) -> bool:
    """How many factors there are of how many rows; whether these are fewer than the items."""
    n, n_items = chance.n, len(chance.names)
    stand_out = "factor stands" if chance.n_suggested == 1 else "factors stand"
    findings.note(
        group, f"{chance.n_suggested} {stand_out} out from chance; {n_factors} shown (n = {n})."
    )
    if n < n_items:
        findings.caution(group, _FEWER.format(n=n, n_items=n_items))
    elif n < _FEW_PER_ITEM * n_items:
        findings.caution(group, _FEW.format(n=n, n_items=n_items))
    return n < n_items


def _add_problems(
    findings: Findings,
    group: str,
    problems: Iterable[str],
    against: Mapping[tuple[str, int], Mapping[str, float]],
) -> None:
    """What is wrong with number and loadings, each once, and items that load the other way."""
    for problem in dict.fromkeys(problems):
        findings.caution(group, problem)
    for (title, _), contrary in against.items():
        findings.caution(
            group, keying_note(title, list(contrary), [[x] for x in contrary.values()])
        )


def _method(
    correlation: InputCorrelation,
    rule: ItemRule,
    factors: int,
    seed: int,
    too_few: Sequence[str],
) -> str:
    """How factors and their number are found, of which correlations."""
    few = f" Fewer administrations than items: {'; '.join(too_few)}." if too_few else ""
    return (
        f"Minres on {correlation.replace('pearson', 'Pearson')} correlations "
        f"({ROWS_USED[rule]}), direct "
        f"oblimin; number of factors {'chosen' if factors else 'by parallel analysis'} "
        "(components of the same correlations, 95th percentile of "
        f"{_REPETITIONS[correlation]} sets of chance data"
        f"{', answers shuffled' if correlation == 'polychoric' else ''}), seed {seed}. Scores "
        f"are after reverse-keying.{few}"
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
        rows = [row for row, owner in enumerate(owners) if owner == subscale]
        squares = (solution.loadings[rows] ** 2).sum(axis=0)
        factor = int(squares.argmax())
        names = [solution.names[row] for row in rows]
        loadings = solution.loadings[rows, factor].tolist()
        contrary = contrary_items(names, loadings, SALIENT)
        if contrary:
            title = f"{subscale or 'the scale'} on factor {factor + 1}"
            against[title, factor + 1] = {names[k]: loadings[k] for k in contrary}
    return against


def _adequacy_cells(
    before: SamplingAdequacy, correlation: InputCorrelation, *, gaps: bool
) -> dict[str, Any]:
    """The measures and the test, which is left out of polychoric correlations."""
    ordered = correlation == "polychoric"
    test = _NOT_ORDERED if ordered else _TOO_SHARP if gaps else ""
    return {
        "kmo": before.overall,
        "bartlett": math.nan if ordered else before.chi2,
        "df": before.df,
        "p": math.nan if ordered else before.p,
        "remark": before.problem or test,
    }


def _add_adequacy_findings(
    findings: Findings, group: str, names: Sequence[str], before: SamplingAdequacy
) -> None:
    """That items share too little for factors, all together or some of them."""
    low = [name for name, kmo in zip(names, before.items, strict=True) if kmo < LEAST_KMO]
    if before.overall < LEAST_KMO:
        findings.caution(
            group,
            f"KMO is {sentences.coefficient_text(before.overall)}: the items share too little for "
            "factors, which Kaiser (1974) calls unacceptable under .50.",
        )
    elif low:
        words = "share little with the others (KMO under .50)"
        findings.note(group, f"items that {words}: {name_list(low)}.")
    if before.problem:
        findings.note(group, f"KMO and Bartlett's test: {before.problem}")


def _eigenvalue_cells(
    chance: ParallelAnalysis, partial: MinimumAveragePartial
) -> Iterator[dict[str, Any]]:
    """Each eigenvalue with those of chance, and what is shared after it."""
    columns = (
        chance.eigenvalues,
        chance.chance_mean,
        chance.chance_percentile,
        [*partial.squares[1:], math.nan],
        [*partial.fourth_powers[1:], math.nan],
    )
    for position, (eigenvalue, mean, limit, squares, fourth) in enumerate(
        zip(*columns, strict=True), 1
    ):
        yield {
            "number": position,
            "n": chance.n,
            "eigenvalue": float(eigenvalue),
            "chance_mean": float(mean),
            "chance_percentile": float(limit),
            "stands_out": "yes" if position <= chance.n_suggested else "no",
            "map_squares": float(squares),
            "map_fourth_powers": float(fourth),
        }


def _loading_cells(
    solution: ExploratoryFactors, against: Mapping[tuple[str, int], Mapping[str, float]]
) -> Iterator[dict[str, Any]]:
    """Each item on each factor."""
    contrary = {(name, factor) for (_, factor), names in against.items() for name in names}
    for row, item in enumerate(solution.names):
        for column in range(solution.loadings.shape[1]):
            yield {
                "item": item,
                "factor": column + 1,
                "loading": float(solution.loadings[row, column]),
                "structure": float(solution.structure[row, column]),
                "communality": float(solution.communalities[row]),
                "against": (item, column + 1) in contrary,
            }


def _factor_cells(solution: ExploratoryFactors) -> Iterator[dict[str, Any]]:
    """Each factor with every later one; the last one alone."""
    n_factors = len(solution.shares)
    for first in range(n_factors):
        pairs: list[tuple[float, float]] = [
            (second + 1, float(solution.factor_correlations[first, second]))
            for second in range(first + 1, n_factors)
        ]
        for second, correlation in pairs or [(math.nan, math.nan)]:
            yield {
                "factor": first + 1,
                "sum_of_squares": float(solution.sums_of_squares[first]),
                "share": float(solution.shares[first]),
                "other": second,
                "correlation": correlation,
            }
