"""The tables of the multitrait matrix: pairs of scores, the matrix, the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.analysis.kit.adjusting import STARS
from core.analysis.kit.scores import level_sort_key
from core.analysis.scales.multitrait_matrix.scores import Score, ScoreSource, ScoreTable
from core.domain.results import ResultTable
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
    text,
)
from core.stats.correlation import CorrelationMethod, TraitMatrix, stars, trait_matrix
from core.stats.groups import Adjustment, adjusted_p, summary
from core.stats.inputs import Estimate
from core.stats.resampling import Bootstrap

CORRELATIONS = TableSpec(
    "correlations",
    "Correlations of scores",
    (
        key("score_1", "Score 1"),
        key("score_2", "Score 2"),
        text(
            "same_trait",
            "Same trait",
            "Both are of the same scale, taken in different ways: they should go together "
            "(convergence); Campbell & Fiske (1959).",
        ),
        text(
            "same_method",
            "Same method",
            "Both were taken in the same way, such as with the same form; what they share "
            "may be the way; Campbell & Fiske (1959).",
        ),
        text("kind", "Kind", "pearson: linear. spearman: of mean ranks."),
        *estimate(
            "r",
            "r",
            "correlation",
            "How far the scores go together, -1 to 1.",
            "Fisher's z; Fisher (1921), for Spearman Bonett & Wright (2000).",
        ),
        *ends(
            "bootstrap",
            "Bootstrap {level}",
            "correlation",
            "By Fisher's z, with its standard error over resampled rows and t; where asked for.",
            of="r",
        ),
        p_value("p", "p", "Against a correlation of 0: t with n - 2 degrees of freedom.", "r"),
        p_value(
            "p_adjusted",
            "Adjusted p",
            "Over the pairs of scores of the group; Holm (1979) or Benjamini & Hochberg (1995).",
            "r",
        ),
        STARS,
        count("n", "n", "Rows that have both scores."),
        number(
            "corrected",
            "Corrected r",
            help="What r would be between scores without error: r / square root of the product of "
            "both alphas; Spearman (1904). May exceed 1.",
        ),
        remark("Why undefined, and cautions."),
    ),
    "Correlations",
)
SCORES = TableSpec(
    "scores",
    "Scores",
    (
        count("number", "Number", "Its place in the matrix."),
        key("score", "Score"),
        number("mean", "M", "points", "Over the rows."),
        number("sd", "SD", "points", "Over the rows, divisor n - 1."),
        count("n", "n", "Rows that have the score."),
        count("n_without", "Without score", "Administrations without the score."),
        count("n_items", "Items", "Items behind the score that were answered."),
        count(
            "items_left_out",
            "Other items",
            "Items of the same trait that were answered under another method only.",
        ),
        count("n_fewer", "Fewer items", "Administrations that lack some of the items."),
        *estimate(
            "alpha",
            "α",
            "correlation",
            "Cronbach's alpha (1951) of the items as they enter the score, averaged where "
            "administrations are averaged.",
            "Feldt, Woodruff & Salih (1987).",
            ends_title="α {level}",
            ends_name="alpha",
        ),
        count("n_alpha", "n of α", "Rows with every item that varies."),
        remark("Why alpha is undefined, and cautions."),
    ),
    "Scores",
)


def _matrix_spec(size: int) -> TableSpec:
    """The matrix, with a numbered column for each of its scores."""
    meaning = "Correlation with the score of this number; on the diagonal Cronbach's alpha (1951)."
    columns = (
        count("number", "Number", "Heads the column of this score."),
        key("score", "Score"),
        *(number(str(n), str(n), "correlation", meaning) for n in range(1, size + 1)),
    )
    return TableSpec("matrix", "Matrix (reliabilities on the diagonal)", columns, "Matrix")


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
        """The numbers of the scores of each pair."""
        return list(combinations(range(len(self.table.scores)), 2))

    @property
    def correlated(self) -> list[int]:
        """The scores that have a correlation with another one."""
        pairs = [pair for pair in self.pairs if math.isfinite(self.matrix.r[pair])]
        return sorted({score for pair in pairs for score in pair})


def correlate_scores(
    table: ScoreTable, kind: CorrelationMethod, level: float, bootstrap: Bootstrap | None
) -> GroupCorrelations:
    """The correlations among the scores of a group."""
    names = [str(n) for n in range(len(table.scores))]
    alphas = {
        name: alpha.value
        for name, alpha in zip(names, table.reliabilities, strict=True)
        if alpha.value > _NO_RELIABILITY
    }
    correlations = trait_matrix(table.values, names, kind=kind, level=level, reliabilities=alphas)
    resampled = None
    if bootstrap:
        resampled = trait_matrix(table.values, names, kind=kind, level=level, bootstrap=bootstrap)
    problems = {  # once each
        pair: tuple(dict.fromkeys((*own, *(resampled.of_pairs[pair] if resampled else ()))))
        for pair, own in correlations.of_pairs.items()
    }
    return GroupCorrelations(table, kind, correlations, resampled, problems)


def other_items(table: ScoreTable, score: int) -> frozenset[str]:
    """The items of a score's trait that were answered under other methods only."""
    of_trait = [
        items
        for other, items in zip(table.scores, table.items, strict=True)
        if table.scores[score].same_trait(other)
    ]
    return frozenset().union(*of_trait) - table.items[score]


def result_tables(
    groups: Sequence[GroupCorrelations],
    by: Sequence[str],
    sources: Sequence[ScoreSource],
    adjust: Adjustment,
    ci_level: float,
) -> tuple[ResultTable, ...]:
    """Pairs of scores, the matrix, and the scores, of all groups."""
    order = [source.name for source in sources]
    scores = list(dict.fromkeys(score for group in groups for score in group.table.scores))
    ranked = sorted(
        enumerate(scores),
        key=lambda score: (
            order.index(score[1].source),
            [level_sort_key(level) for level in score[1].method],
            score[0],
        ),
    )
    # every score has its number in the matrix, the same in every group
    numbers = {score: n for n, (_, score) in enumerate(ranked, 1)}
    correlations, matrix, of_scores = (
        TableRows(spec, by, ci_level) for spec in (CORRELATIONS, _matrix_spec(len(numbers)), SCORES)
    )
    for group in groups:
        _add_correlations(correlations, group, adjust)
        _add_scores(matrix, of_scores, group, numbers)
    return tuple(rows.table() for rows in (correlations, matrix, of_scores))


def _add_correlations(rows: TableRows, group: GroupCorrelations, adjust: Adjustment) -> None:
    """One row per pair of scores, with p adjusted over those that share no answers."""
    scores, matrix, resampled = group.table.scores, group.matrix, group.resampled
    shared = [scores[first].shares_answers(scores[second]) for first, second in group.pairs]
    tested = [
        math.nan if by_construction else float(matrix.p[pair])
        for pair, by_construction in zip(group.pairs, shared, strict=True)
    ]
    adjusted = adjusted_p(np.array(tested), adjust).tolist()
    for pair, by_construction, p in zip(group.pairs, shared, adjusted, strict=True):
        first, second = (scores[n] for n in pair)
        corrected = math.nan if by_construction else float(matrix.corrected[pair])
        remarks = [PART_OF_WHOLE] if by_construction else []
        remarks += group.problems.get(pair, ())
        if abs(corrected) > 1:
            remarks.append(ABOVE_ONE)
        elif math.isnan(corrected) and math.isfinite(matrix.r[pair]) and not by_construction:
            remarks.append(NOT_CORRECTED)
        rows.add(
            group.table.group,
            score_1=first.name,
            score_2=second.name,
            same_trait=first.same_trait(second),
            same_method=first.same_method(second),
            kind=group.kind,
            r=Estimate(float(matrix.r[pair]), float(matrix.low[pair]), float(matrix.high[pair])),
            bootstrap_low=float(resampled.low[pair]) if resampled else math.nan,
            bootstrap_high=float(resampled.high[pair]) if resampled else math.nan,
            p=float(matrix.p[pair]),
            p_adjusted=p,
            stars=stars(p),
            n=int(matrix.n[pair]),
            corrected=corrected,
            remark=" ".join(remarks),
        )


def _add_scores(
    matrix: TableRows, of_scores: TableRows, group: GroupCorrelations, numbers: Mapping[Score, int]
) -> None:
    """One row per score in both tables: its correlations and reliability, its mean and spread."""
    table = group.table
    for i, score in enumerate(table.scores):
        alpha, described = table.reliabilities[i], summary(table.values[:, i])
        cells = {str(n): math.nan for n in numbers.values()}
        for j, earlier in enumerate(table.scores[:i]):
            cells[str(numbers[earlier])] = float(group.matrix.r[i, j])
        cells[str(numbers[score])] = alpha.value
        matrix.add(table.group, number=numbers[score], score=score.name, **cells)
        of_scores.add(
            table.group,
            number=numbers[score],
            score=score.name,
            mean=described.mean,
            sd=described.sd,
            n=described.n,
            n_without=table.n_without[i],
            n_items=len(table.items[i]),
            items_left_out=len(other_items(table, i)),
            n_fewer=table.n_fewer[i],
            alpha=alpha,
            n_alpha=alpha.n,
            remark=" ".join(alpha.problems),
        )
