"""Do the same exploratory factors come out at every level of a factor, and in random halves?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.factors.invariance.levels import (
    COMPARED,
    Factor,
    Fewest,
    group_factors,
    scores_by_level,
)
from core.analysis.kit import sentences
from core.analysis.kit.alternatives import (
    AdministrationLevels,
    administration_levels,
    too_many_levels,
    with_alternatives,
)
from core.analysis.kit.factor_models.groups import n_scores_used
from core.analysis.kit.factor_models.models import left_out_notes, varying_items
from core.analysis.kit.matrices import (
    MISSING_COLUMNS,
    ScoreMatrix,
    choose_missing,
    group_name,
    incomplete_administrations,
    score_matrices,
)
from core.analysis.kit.options import By, ConfidenceLevel, MissingRows, Seed
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.rows import Floats
from core.domain.factors import levels_word
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    estimate,
    key,
    number,
    point_estimate,
    remark,
    text,
)
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.factor.congruence import (
    LoadingCongruence,
    congruence_of_levels,
    halves_congruence,
)
from core.stats.factor.exploratory import SALIENT, parallel_analysis
from core.stats.inputs import ROWS_USED, ItemRule, name_list
from core.stats.resampling import Bootstrap

SIMILAR, SAME = 0.85, 0.95
"""Bounds of congruence by Lorenzo-Seva & ten Berge (2006)."""
_SPLITS = 20
_NAMED_ITEMS = 4
_CONGRUENCE = TableSpec(
    "congruence",
    "Congruence of the factors of two levels",
    (
        key("first", "First"),
        key("second", "Second"),
        key("factor", "Factor", "Numbered as at the first level of all.", "count"),
        text("items", "Items", "Those that load most on it at the first level, .30 or more."),
        *estimate(
            "phi",
            "Congruence φ",
            "correlation",
            "Tucker's congruence of the factor's loadings at the two levels; from .95 the same "
            "factor, from .85 a similar one. Lorenzo-Seva & ten Berge (2006).",
            "Of the φ without sampling errors, which lower φ: by noncentral chi-square, from "
            "resampled administrations, factors matched in each. Only where resamples are asked "
            "for.",
            bounds=(SIMILAR, SAME),
        ),
        number(
            "chance",
            "By chance",
            "correlation",
            "What φ exceeds in 5% of cases where the items of the second level stand in random "
            "order. Not below φ, the congruence says nothing.",
        ),
        count("n_first", "n first", "Administrations of the first of the two."),
        count("n_second", "n second", "Administrations of the second of the two."),
        *MISSING_COLUMNS,
        remark("Cautions on the solutions."),
    ),
    "Congruence",
)
_HALVES = TableSpec(
    "halves",
    "Congruence of random halves of a level",
    (
        key("level", "Level"),
        key("factor", "Factor", "Numbered as at the first level of all.", "count"),
        point_estimate(
            "median",
            "Median φ",
            "correlation",
            f"Of {_SPLITS} random splits of the administrations in halves: how well a level agrees "
            "with itself. Levels cannot be expected to agree better.",
            (SIMILAR, SAME),
        ),
        number("low", "Lowest 5%", "correlation", "Of the same splits."),
        count("n", "n of a half", "Administrations of one half."),
        remark("Why a number is undefined."),
    ),
    "Halves",
)
_LOADINGS = TableSpec(
    "loadings",
    "Loadings of each level",
    (
        key("item", "Item", "As named in the bank."),
        key("factor", "Factor", "Numbered as at the first level of all.", "count"),
        key("level", "Level"),
        point_estimate(
            "loading",
            "Loading",
            "correlation",
            "Minres, direct oblimin; matched to the first level and reflected.",
            (-SALIENT, SALIENT),
        ),
    ),
    "Loadings",
)
_TWO_LEVELS = (
    "It needs two levels, each with enough administrations of three items that vary: leave a level "
    "out by a filter, or collect more."
)

Factors = Annotated[
    int, Number("Factors (0: as many as stand out from chance at the first level)", 0, 20)
]
Resamples = Annotated[
    int,
    Number(
        "Bootstrap resamples", 0, 2000, help="For intervals of φ; 0 for none. 200 take seconds."
    ),
]
Permutations = Annotated[
    int, Number("Random orders of the items", 100, 10_000, help="For the level by chance.")
]


@dataclass(frozen=True, eq=False)
class _Compared:
    """One group with the scores of its levels, over the items that vary at each, and the result."""

    group: tuple[Any, ...]
    items: tuple[str, ...]
    scores: dict[str, Floats]
    incomplete: int
    result: LoadingCongruence


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How many factors reach the bounds of congruence, pair by pair of levels."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        pairs: dict[tuple[str, str], list[float]] = {}
        for row in rows:
            pairs.setdefault((row["first"], row["second"]), []).append(row["phi"])
        parts = []
        for (first, second), values in pairs.items():
            low, high = (sentences.coefficient_text(f(values)) for f in (min, max))
            reached = [sum(value >= bound for value in values) for bound in (SAME, SIMILAR)]
            parts.append(
                f"{first} with {second}: φ {low if len(values) == 1 else f'{low} to {high}'} "
                f"({reached[0]} of {len(values)} from .95, {reached[1]} from .85)"
            )
        number_of_factors = count_text(len({row["factor"] for row in rows}), "factor")
        chance = max(row["chance"] - row["phi"] for row in rows)
        by_chance = " Some φ are reached by chance too." if chance >= 0 else ""
        listed = sentences.join_parts(parts, "pairs").removesuffix(".")
        return (
            f"{number_of_factors}; {listed}{sentences.rule_words(rows[0], n='n_first')}.{by_chance}"
        )

    return sentences.answers_of_groups(sentences.table_of(result, "congruence"), sentence)


@analysis(
    title="Congruence of factors",
    question="Do the same exploratory factors come out at every level of a factor?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    references=(
        "Tucker (1951), A method for synthesis of factor analysis studies",
        "Lorenzo-Seva & ten Berge (2006) doi:10.1027/1614-2241.2.2.57",
        "Harman & Jones (1966) doi:10.1007/BF02289468",
        "Jennrich & Sampson (1966) doi:10.1007/BF02289465",
    ),
    keywords=(
        "Tucker's phi",
        "congruence",
        "factor congruence",
        "replication of factors",
        "factorial invariance",
        "split-half of factors",
        "comparability of languages",
        "comparability of models",
    ),
    requires="scores",
)
def loading_congruence(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    factors: Factors = 0,
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 0,
    permutations: Permutations = 500,
    seed: Seed = 0,
) -> AnalysisResult:
    """Tucker's congruence of exploratory factors between the levels of a factor.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are compared, every two of them.
    by : tuple of factors
        Levels are compared within each of these groups; `factor` itself is ignored here.
    factors : int
        Factors to extract at every level; 0 takes what parallel analysis suggests at the first.
    missing : "automatic", "listwise" or "available"
        Complete administrations, or the correlations of all pairs of answers.

    Returns
    -------
    AnalysisResult
        `congruence`, a row per group, pair of levels and factor; `halves`, the same of 20 random
        splits of each level; `loadings` of each level.

    Raises
    ------
    NotEnoughData
        Levels can be compared in no group. If only in some, a caution names the others.

    Notes
    -----
    The unit of analysis is one administration. An item that does not vary at every level is left
    out of all. Factors of each level are matched to those of the first by the Hungarian method on
    absolute congruences, and reflected; they are not rotated toward each other, which would raise
    φ. Repeated administrations of one model are not independent, so intervals are too narrow and
    halves too much alike. Checked as written in docs/analyses/loading_congruence.md.
    """
    names = group_factors(by, factor)
    matrices = score_matrices(item_scores, names, whole=True)
    level_of = administration_levels(item_scores, factor)
    by_level = (scores_by_level(matrix, level_of, fewest)[0] for matrix in matrices)
    rows_of_levels = [rows for levels in by_level for rows in levels.values()]
    rule, why = choose_missing(missing, rows_of_levels, "pairwise")
    findings = Findings(notes=[*level_of.notes])
    compare = partial(
        congruence_of_levels,
        level=ci_level,
        bootstrap=Bootstrap(resamples, seed) if resamples else None,
        permutations=permutations,
        seed=seed,
    )
    groups: list[_Compared] = []
    for matrix in with_progress(matrices, "groups"):
        place = group_name(matrix.group)
        scores, items = _level_scores(matrix, factor, level_of, fewest, rule, findings)
        if not scores:
            continue
        levels = [*scores.values()]
        try:
            n_factors = factors or _suggested(levels[0], items, rule, seed)
            result = compare(levels, items, n_factors)
        except NotEnoughData as error:
            findings.caution(place, f"not compared. {error}")
            continue
        _add_problems(findings, place, list(scores), result)
        incomplete = sum(incomplete_administrations(rows)[1] for rows in scores.values())
        groups.append(_Compared(matrix.group, items, scores, incomplete, result))
    if not groups:
        reason = " ".join([*findings.cautions, *findings.notes][:1])
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {reason}",
            with_alternatives(_TWO_LEVELS, item_scores, COMPARED, factor),
        )
    congruence = TableRows(_CONGRUENCE, names, ci_level)
    halves, loadings = TableRows(_HALVES, names), TableRows(_LOADINGS, names)
    for compared in groups:
        _add_congruence(congruence, compared, rule, resampled=resamples > 0)
        _add_levels(halves, loadings, compared, seed)
    return score_result(
        item_scores,
        [congruence.table(), halves.table(), loadings.table()],
        findings,
        n_used=sum(n_scores_used(rows, rule) for g in groups for rows in g.scores.values()),
        method=_method(factor, rule, ci_level, resamples, permutations, seed),
        matrices=matrices,
        called="row",
        later_notes=why,
    )


def _add_problems(
    findings: Findings, place: str, levels: Sequence[str], result: LoadingCongruence
) -> None:
    """What is wrong with the factors of each level, and resamples without a solution."""
    for level, problems in zip(levels, result.problems, strict=True):
        for problem in problems:
            findings.caution(place, f"{level}: {problem}")
    if result.n_undefined:
        words = count_text(result.n_undefined, "resample")
        findings.note(place, f"{words} had no solution and are left out.")


def _method(
    factor: str, rule: ItemRule, ci_level: float, resamples: int, permutations: int, seed: int
) -> str:
    """How factors are found, matched and compared."""
    interval = "no intervals"
    if resamples:
        drawn_from = f"{resamples:,} resamples by noncentral chi-square"
        interval = f"{ci_level * 100:g}% intervals of {drawn_from}"
    return (
        "Tucker's congruence of minres factors of Pearson correlations "
        f"({ROWS_USED[rule]}), direct oblimin, comparing {levels_word(factor)}; factors matched by "
        f"absolute congruence and reflected; level by chance from {permutations:,} random orders "
        f"of the items; {interval}; seed {seed}. Scores are after reverse-keying."
    )


def _suggested(scores: Floats, items: Sequence[str], rule: ItemRule, seed: int) -> int:
    """Factors that stand out from chance; one where none does, and what the items can carry."""
    found = parallel_analysis(scores, items, seed=seed, missing=rule).n_suggested
    return min(max(found, 1), max(len(items) // 2, 1))


def _level_scores(
    matrix: ScoreMatrix,
    factor: str,
    level_of: AdministrationLevels,
    fewest: int,
    rule: ItemRule,
    findings: Findings,
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Scores of the levels over items that vary at each; none where they cannot be compared."""
    place = group_name(matrix.group)
    scores, few = scores_by_level(matrix, level_of, fewest)
    if few:
        words = f"left out, with fewer than {fewest} administrations: {name_list(few)}."
        findings.note(place, words)
    reason = too_many_levels(factor, list(scores))
    if len(scores) < 2:
        reason = "not compared, as fewer than two levels are left."
    if reason:
        findings.caution(place, reason)
        return {}, ()
    every = list(scores.values())
    varying = varying_items(every, rule)
    for words in left_out_notes(every, matrix.items, rule):
        findings.note(place, words)
    items = tuple(item for item, varies in zip(matrix.items, varying, strict=True) if varies)
    used = {level: rows[:, varying] for level, rows in scores.items()}
    if rule == "listwise":
        used = {level: rows[~np.isnan(rows).any(axis=1)] for level, rows in used.items()}
    return used, items


def _add_congruence(
    table: TableRows, compared: _Compared, rule: ItemRule, *, resampled: bool
) -> None:
    """A row for each pair of levels and factor."""
    result, levels = compared.result, list(compared.scores)
    sizes = [len(rows) for rows in compared.scores.values()]
    for pair, (a, b) in enumerate(result.pairs):
        problems = dict.fromkeys(
            f"{levels[each]}: {problem}" for each in (a, b) for problem in result.problems[each]
        )
        for column, loadings in enumerate(result.loadings[0].T):
            phi, low = float(result.phi[pair, column]), float(result.low[pair, column])
            why = [_NO_FARTHER] if resampled and math.isnan(low) and math.isfinite(phi) else []
            order = np.argsort(-np.abs(loadings), kind="stable")[:_NAMED_ITEMS]
            heavy = [compared.items[row] for row in order if abs(loadings[row]) >= SALIENT]
            table.add(
                compared.group,
                first=levels[a],
                second=levels[b],
                factor=column + 1,
                items=", ".join(heavy),
                phi=phi,
                ci_low=low,
                ci_high=float(result.high[pair, column]),
                chance=float(result.chance[pair, column]),
                n_first=sizes[a],
                n_second=sizes[b],
                incomplete=compared.incomplete,
                missing_rule=rule,
                remark=" ".join([*problems, *why]),
            )


_NO_FARTHER = (
    "No interval: the loadings lie no farther apart than errors of sampling take them, or most "
    "resamples have no factors."
)


def _add_levels(halves: TableRows, loadings: TableRows, compared: _Compared, seed: int) -> None:
    """Rows of the halves and of the loadings of each level."""
    for (level, rows), of_level in zip(
        compared.scores.items(), compared.result.loadings, strict=True
    ):
        values = halves_congruence(rows, of_level, splits=_SPLITS, seed=seed)
        defined = np.isfinite(values).all(axis=1)
        for column in range(of_level.shape[1]):
            phi = values[defined, column]
            halves.add(
                compared.group,
                level=level,
                factor=column + 1,
                median=float(np.median(phi)) if len(phi) else math.nan,
                low=float(np.percentile(phi, 5)) if len(phi) else math.nan,
                n=len(rows) // 2,
                remark="" if len(phi) else "No split has two halves in which all items vary.",
            )
        for item, line in zip(compared.items, of_level.tolist(), strict=True):
            for column, loading in enumerate(line, start=1):
                loadings.add(compared.group, item=item, factor=column, level=level, loading=loading)
