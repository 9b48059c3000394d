"""Do the items measure the same thing under all levels of a factor?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from core.analysis.factor_models.cfa_models import (
    HOW,
    LIKELIHOODS,
    MODELS,
    FactorModel,
    LikelihoodEstimator,
    LikelihoodKind,
    ModelKind,
    across_groups,
    subscales_of_items,
    varying_items,
    written_model,
)
from core.analysis.factor_models.invariance_tables import STEPS, Ladder, invariance_tables
from core.analysis.matrices import (
    INDEPENDENCE,
    Floats,
    ScoreMatrix,
    by_columns,
    data_notes,
    distinct,
    group_name,
    score_matrices,
    some_of,
)
from core.analysis.options import By
from core.analysis.progress import each
from core.analysis.registry import Choice, Number, analysis
from core.analysis.result import AnalysisResult
from core.domain.frames import ITEM_SCORES
from core.errors import NotEnoughData, UserError
from core.psychometrics.factor_models.cfa_invariance import invariance as climb

COMPARED = (
    ("language", "Languages"), ("respondent", "Respondents"), ("form", "Forms"),
    ("entity", "Entities"), ("template", "Instructions"), ("label_order", "Orders of options"),
)  # fmt: skip
MARKER = (
    "With the first loading of a factor fixed at 1, its first item is taken to be invariant; if it "
    "is not, other items seem to differ."
)

Factor = Annotated[
    Literal["language", "respondent", "form", "entity", "template", "label_order"],
    Choice("Compare", COMPARED, help="The factor whose levels should measure the same."),
]
Fewest = Annotated[
    int,
    Number("Fewest administrations of a level", 3, 1000, help="A level with fewer is left out."),
]


@analysis(
    title="Measurement invariance",
    question="Do the items measure the same thing under all levels of a factor?",
    topic="comparability",
    needs=ITEM_SCORES,
    references=(
        "Meredith (1993) doi:10.1007/BF02294825",
        "Satorra & Bentler (2001) doi:10.1007/BF02296192",
        "Chen (2007) doi:10.1080/10705510701301834",
    ),
)
def invariance(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: LikelihoodEstimator = "mlr",
    fewest: Fewest = 10,
) -> AnalysisResult:
    """What it costs to hold loadings, intercepts, then residuals equal across levels of a factor.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    factor : str
        Its levels are compared.
    by : tuple of factors
        Levels are compared within each of these groups; `factor` itself is ignored here.
    model, estimator : str
        As in confirmatory factor analysis; the same model at every level.
    fewest : int
        A level with fewer administrations in a group is left out.

    Returns
    -------
    AnalysisResult
        `steps`, four rows per group: configural (same structure), metric (equal loadings), scalar
        (and equal intercepts), strict (and equal residual variances), each with its fit and its
        difference from the step before. `releases`, the 15 largest gains of each group and step
        from giving one level its own value of one equal parameter. `levels`, administrations used
        of each level.

    Raises
    ------
    NotEnoughData
        Levels can be compared in no group. If only in some, the others are NaN and a note says why.

    Notes
    -----
    The unit of analysis is one administration; scores are taken as continuous. An item that does
    not vary at every level is left out of all. Steps are compared by the chi-square difference
    (scaled after Satorra and Bentler, 2001, under MLR). Equal loadings are needed to compare
    relations, equal intercepts to compare means, equal residual variances to compare variances and
    reliability of scores. Repeated administrations of one model are not
    independent; p is then too small. Agrees with published lavaan results for two schools of
    Holzinger and Swineford (1939).
    """
    names = tuple(name for name in distinct(by) if name != factor)
    matrices = score_matrices(item_scores, names, whole=True)
    subscale_of, notes = subscales_of_items(item_scores)
    level_of = _level_of(item_scores, factor)
    found = [
        _climbed(matrix, level_of, subscale_of, fewest, model, estimator)
        for matrix in each(matrices, "groups")
    ]
    notes += [note for one in found for note in one.notes]
    if not any(one.found_any for one in found):
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {' '.join(notes[:1])}",
            "It needs two levels, each with more administrations than items and a model that can "
            "be fitted: leave a level out by a filter, choose a simpler model, or collect more.",
        )
    n_used = sum(one.n_used for one in found)
    word = dict(COMPARED)[factor].lower()
    caution = () if model in ("method", "bifactor") else (MARKER,)
    return AnalysisResult(
        tables=invariance_tables(found, by_columns(names)),
        unit="one administration: a respondent answering the bank once under one context and "
        "repetition (a row, where notes speak of rows)",
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Multi-group confirmatory factor analysis comparing {word}. {dict(MODELS)[model]}. "
        f"{dict(LIKELIHOODS)[estimator]}. Scores are after reverse-keying.",
        notes=(*data_notes(item_scores, matrices), *notes, *caution, INDEPENDENCE),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _level_of(item_scores: pd.DataFrame, factor: str) -> dict[int, str]:
    """The level of the factor that each administration was under."""
    own = item_scores[["administration", factor]].drop_duplicates("administration")
    return {
        int(administration): "(none)" if pd.isna(level) or level == "" else str(level)
        for administration, level in zip(own["administration"], own[factor], strict=True)
    }


def _climbed(
    matrix: ScoreMatrix,
    level_of: Mapping[int, str],
    subscale_of: Mapping[str, str],
    fewest: int,
    kind: ModelKind,
    estimator: LikelihoodKind,
) -> Ladder:
    """The steps of one group, and what has to be said about them."""
    where = group_name(matrix.group)
    how, missing = HOW[estimator]
    scores, few = _by_level(matrix, level_of, fewest)
    ladder = Ladder(matrix, {level: len(rows) for level, rows in scores.items()}, (), None)
    if few:
        ladder = ladder.noting(
            f"{where}: left out, with fewer than {fewest} administrations: {some_of(few)}."
        )
    if len(scores) < 2:
        return ladder.noting(f"{where}: not compared, as fewer than two levels are left.")
    varying = varying_items(list(scores.values()), missing)
    constant = [item for item, kept in zip(matrix.items, varying, strict=True) if not kept]
    if constant:
        ladder = ladder.noting(
            f"{where}: left out, because at some level all usable scores are equal or missing: "
            f"{', '.join(constant)}."
        )
    items = [item for item, kept in zip(matrix.items, varying, strict=True) if kept]
    keyed = [key for key, kept in zip(matrix.keyed, varying, strict=True) if kept]
    kept_scores = {level: rows[:, varying] for level, rows in scores.items()}
    try:
        written = written_model(kind, items, keyed, subscale_of)
    except NotEnoughData as error:
        return ladder.noting(f"{where}: not compared. {error.problem}")
    try:
        text, scaling = across_groups(kind, written.text)
        result = climb(
            kept_scores,
            written.items,
            text,
            levels=tuple(STEPS),
            estimator=how,
            missing=missing,
            scaling=scaling,
        )
    except UserError as error:
        return ladder.noting(f"{where}: not compared. {written.sentence(error.problem)}")
    for problem in result.problems:
        ladder = ladder.noting(f"{where}: {written.sentence(problem)}")
    n_used = sum(_used(rows, missing == "fiml") for rows in kept_scores.values())
    return replace(ladder, climbed=result, model=written, n_used=n_used)


def _by_level(
    matrix: ScoreMatrix, level_of: Mapping[int, str], fewest: int
) -> tuple[dict[str, Floats], list[str]]:
    """Scores of each level with enough administrations that hold an answer, and the other levels.

    Levels stand in alphabetical order.
    """
    levels = np.array([level_of[int(one)] for one in matrix.administrations], dtype=object)
    answered = np.asarray(np.isfinite(matrix.scores).any(axis=1))
    every = sorted(set(levels.tolist()))
    few = [level for level in every if int(answered[levels == level].sum()) < fewest]
    return {level: matrix.scores[levels == level] for level in every if level not in few}, few


def _used(scores: Floats, every_row: bool) -> int:
    """Scores that count: all, or those of rows without gaps."""
    present = np.isfinite(scores)
    return int((present if every_row else present[present.all(axis=1)]).sum())
