"""The tables of the multitrait matrix: pairs of scores, the matrix, the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.analysis.kit.adjusting import STARS
from core.analysis.scales.multitrait_matrix.scores import Score, ScoreSource, ScoreTable
from core.analysis.scales.score_correlations import table
from core.analysis.shared.matrices import by_columns
from core.analysis.shared.scores import level_sort_key
from core.domain.notes import Note
from core.domain.results import Column, ResultTable
from core.stats.correlation import CorrelationMethod, TraitMatrix, stars, trait_matrix
from core.stats.groups import Adjustment, adjusted_p, summary
from core.stats.resampling import Bootstrap

# Columns of the tables.


def _correlation_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of correlations."""
    interval = f"{ci_level * 100:g}% CI"
    fisher = "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000)."
    resampled = "Percentiles over resampled rows, where asked for; Efron (1979)."
    return (
        Column("score_1", "Score 1"),
        Column("score_2", "Score 2"),
        Column(
            "same_trait",
            "Same trait",
            help="Both are of the same scale, taken in different ways: they should go together "
            "(convergence); Campbell & Fiske (1959).",
        ),
        Column(
            "same_method",
            "Same method",
            help="Both were taken in the same way, such as with the same form; what they share "
            "may be the way; Campbell & Fiske (1959).",
        ),
        Column("kind", "Kind", help="pearson: linear. spearman: of mean ranks."),
        Column("r", "r", "correlation", "How far the scores go together, -1 to 1."),
        Column("ci_low", f"{interval} low", "correlation", fisher),
        Column("ci_high", f"{interval} high", "correlation", fisher),
        Column("bootstrap_low", f"Bootstrap {interval} low", "correlation", resampled),
        Column("bootstrap_high", f"Bootstrap {interval} high", "correlation", resampled),
        Column("p", "p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom."),
        Column(
            "p_adjusted",
            "Adjusted p",
            "p",
            "Over the pairs of scores of the group; Holm (1979) or Benjamini & Hochberg (1995).",
        ),
        STARS,
        Column("n", "n", "count", "Rows that have both scores."),
        Column(
            "corrected",
            "Corrected r",
            "none",
            "What r would be between scores without error: r / square root of the product of both "
            "alphas; Spearman (1904). May exceed 1.",
        ),
        Column("remark", "Remark", help="Why undefined, and cautions."),
    )


def _matrix_columns(size: int) -> tuple[Column, ...]:
    """What follows the groups in the matrix: a numbered column for each of its scores."""
    meaning = "Correlation with the score of this number; on the diagonal Cronbach's alpha (1951)."
    return (
        Column("number", "Number", "count", "Heads the column of this score."),
        Column("score", "Score"),
        *(
            Column(str(number), str(number), "correlation", meaning)
            for number in range(1, size + 1)
        ),
    )


def _score_columns(ci_level: float) -> tuple[Column, ...]:
    """What follows the groups in the table of scores."""
    interval = f"α {ci_level * 100:g}% CI"
    feldt = "Feldt, Woodruff & Salih (1987)."
    return (
        Column("number", "Number", "count", "Its place in the matrix."),
        Column("score", "Score"),
        Column("mean", "M", "points", "Over the rows."),
        Column("sd", "SD", "points", "Over the rows, divisor n - 1."),
        Column("n", "n", "count", "Rows that have the score."),
        Column("n_without", "Without score", "count", "Administrations without the score."),
        Column("n_items", "Items", "count", "Items behind the score that were answered."),
        Column(
            "items_left_out",
            "Other items",
            "count",
            "Items of the same trait that were answered under another method only.",
        ),
        Column("n_fewer", "Fewer items", "count", "Administrations that lack some of the items."),
        Column(
            "alpha",
            "α",
            "correlation",
            "Cronbach's alpha (1951) of the items as they enter the score, averaged where "
            "administrations are averaged.",
        ),
        Column("alpha_low", f"{interval} low", "correlation", feldt),
        Column("alpha_high", f"{interval} high", "correlation", feldt),
        Column("n_alpha", "n of α", "count", "Rows with every item that varies."),
        Column("remark", "Remark", help="Why alpha is undefined, and cautions."),
    )


# Tables: pairs of scores, the matrix, the scores.

Row = tuple[Any, ...]

PART_OF_WHOLE = (
    "Part and whole: the scores share answers, so they go together by construction. Left out of "
    "the tests that p is adjusted for."
)
ABOVE_ONE = "Corrected beyond 1: a reliability is estimated too low."
NOT_CORRECTED = "Not corrected: it needs two positive reliabilities."

_NO_RELIABILITY = 1e-9
"""An alpha up to here is 0 but for rounding, and nothing can be corrected by it."""


@dataclass(frozen=True, eq=False)
class GroupCorrelations:
    """The scores of a group with their correlations, in the order of the scores."""

    table: ScoreTable
    kind: CorrelationMethod
    matrix: TraitMatrix
    resampled: TraitMatrix | None
    problems: Mapping[tuple[int, int], tuple[str, ...]]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Places of the scores of each pair."""
        size = len(self.table.scores)
        return [(one, two) for one in range(size) for two in range(one + 1, size)]

    @property
    def defined(self) -> bool:
        """Whether any two scores have a correlation."""
        return any(math.isfinite(self.matrix.r[pair]) for pair in self.pairs)


def correlate_scores(
    table: ScoreTable, kind: CorrelationMethod, level: float, bootstrap: Bootstrap | None
) -> GroupCorrelations:
    """The correlations among the scores of a group."""
    # numbers for names, so that a problem tells its pair whatever the scores are called
    names = [str(place) for place in range(len(table.scores))]
    alphas = {
        name: own.value
        for name, own in zip(names, table.reliabilities, strict=True)
        if own.value > _NO_RELIABILITY
    }
    correlations = trait_matrix(table.values, names, kind=kind, level=level, reliabilities=alphas)
    resampled = None
    if bootstrap:
        resampled = trait_matrix(table.values, names, kind=kind, level=level, bootstrap=bootstrap)
    problems = (*correlations.problems, *(resampled.problems if resampled else ()))
    return GroupCorrelations(table, kind, correlations, resampled, _problems_by_pair(problems))


def _problems_by_pair(problems: Sequence[str]) -> dict[tuple[int, int], tuple[str, ...]]:
    """The problems of each pair of places, once each; others are of the matrix as a whole."""
    problems_of: dict[tuple[int, int], tuple[str, ...]] = {}
    for problem in problems:
        if isinstance(problem, Note) and problem.place:
            first, second = problem.place.split(" with ")  # the scores are called by their places
            pair = int(first), int(second)
            reason = Note(problem.words, kind=problem.kind)
            problems_of[pair] = tuple(dict.fromkeys((*problems_of.get(pair, ()), reason)))
    return problems_of


def _correlation_rows(own: GroupCorrelations, adjust: Adjustment) -> list[Row]:
    """One row per pair of scores, with p adjusted over those that share no answers."""
    scores, matrix = own.table.scores, own.matrix
    shared = [scores[one].shares_answers(scores[two]) for one, two in own.pairs]
    p = [
        math.nan if by_construction else float(matrix.p[pair])
        for pair, by_construction in zip(own.pairs, shared, strict=True)
    ]
    adjusted = adjusted_p(np.array(p), adjust)
    return [
        _correlation_row(own, pair, by_construction, float(value))
        for pair, by_construction, value in zip(own.pairs, shared, adjusted, strict=True)
    ]


def _correlation_row(
    own: GroupCorrelations, pair: tuple[int, int], by_construction: bool, adjusted: float
) -> Row:
    matrix, resampled = own.matrix, own.resampled
    one, two = (own.table.scores[place] for place in pair)
    corrected = math.nan if by_construction else float(matrix.corrected[pair])
    remarks = [PART_OF_WHOLE] if by_construction else []
    remarks += own.problems.get(pair, ())
    if abs(corrected) > 1:
        remarks.append(ABOVE_ONE)
    elif math.isnan(corrected) and math.isfinite(matrix.r[pair]) and not by_construction:
        remarks.append(NOT_CORRECTED)
    ends = (resampled.low[pair], resampled.high[pair]) if resampled else (math.nan, math.nan)
    p = float(matrix.p[pair])
    return (
        *own.table.group,
        one.name,
        two.name,
        one.same_trait(two),
        one.same_method(two),
        own.kind,
        *(float(value) for value in (matrix.r[pair], matrix.low[pair], matrix.high[pair], *ends)),
        p,
        adjusted,
        stars(adjusted),
        int(matrix.n[pair]),
        corrected,
        " ".join(remarks),
    )


def _matrix_rows(own: GroupCorrelations, numbers: Mapping[Score, int]) -> list[Row]:
    """One row per score: correlations below the diagonal, reliability on it."""
    places = {numbers[score]: place for place, score in enumerate(own.table.scores)}
    rows = []
    for place, score in enumerate(own.table.scores):
        cells = [math.nan] * len(numbers)
        for number, column in places.items():
            if column < place:
                cells[number - 1] = float(own.matrix.r[place, column])
        cells[numbers[score] - 1] = own.table.reliabilities[place].value
        rows.append((*own.table.group, numbers[score], score.name, *cells))
    return rows


def other_items(table: ScoreTable, place: int) -> frozenset[str]:
    """The items of a score's trait that were answered under other methods only."""
    score = table.scores[place]
    same = [
        items
        for other, items in zip(table.scores, table.items, strict=True)
        if score.same_trait(other)
    ]
    return frozenset().union(*same) - table.items[place]


def _score_rows(own: GroupCorrelations, numbers: Mapping[Score, int]) -> list[Row]:
    """One row per score: what it is, its mean and spread, and its reliability."""
    rows = []
    table = own.table
    for place, (score, values, alpha) in enumerate(
        zip(table.scores, table.values.T, table.reliabilities, strict=True)
    ):
        known = summary(values)
        others = other_items(table, place)
        rows.append(
            (
                *table.group,
                numbers[score],
                score.name,
                known.mean,
                known.sd,
                known.n,
                table.n_without[place],
                len(table.items[place]),
                len(others),
                table.n_fewer[place],
                alpha.value,
                alpha.low,
                alpha.high,
                alpha.n,
                " ".join(alpha.problems),
            )
        )
    return rows


def result_tables(
    groups: Sequence[GroupCorrelations],
    by: Sequence[str],
    sources: Sequence[ScoreSource],
    adjust: Adjustment,
    ci_level: float,
) -> tuple[ResultTable, ...]:
    """Pairs of scores, the matrix, and the scores, of all groups."""
    numbers = _numbers(groups, [source.name for source in sources])
    made = (
        (
            "correlations",
            "Correlations of scores",
            _correlation_columns(ci_level),
            [row for group in groups for row in _correlation_rows(group, adjust)],
        ),
        (
            "matrix",
            "Matrix (reliabilities on the diagonal)",
            _matrix_columns(len(numbers)),
            [row for group in groups for row in _matrix_rows(group, numbers)],
        ),
        (
            "scores",
            "Scores",
            _score_columns(ci_level),
            [row for group in groups for row in _score_rows(group, numbers)],
        ),
    )
    return tuple(
        table(name, title, rows, (*by_columns(by), *columns)) for name, title, columns, rows in made
    )


def _numbers(groups: Sequence[GroupCorrelations], order: Sequence[str]) -> dict[Score, int]:
    """Every score there is with its place in the matrix, the same in every group."""
    seen = list(dict.fromkeys(score for group in groups for score in group.table.scores))
    ranked = sorted(
        seen,
        key=lambda score: (
            order.index(score.source),
            [level_sort_key(one) for one in score.method],
            seen.index(score),
        ),
    )
    return {score: number for number, score in enumerate(ranked, 1)}


def defined_places(own: GroupCorrelations) -> Sequence[int]:
    """The scores that have a correlation with another one."""
    pairs = [pair for pair in own.pairs if math.isfinite(own.matrix.r[pair])]
    return sorted({place for pair in pairs for place in pair})
