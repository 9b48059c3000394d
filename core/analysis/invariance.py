"""Do the items measure the same thing under all levels of a factor?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from core.analysis.alternatives import or_instead
from core.analysis.answers import GroupAnswers, TableRow, answered, bounded, table_of
from core.analysis.factor_models.cfa_groups import n_scores_used
from core.analysis.factor_models.cfa_models import (
    HOW,
    LIKELIHOODS,
    MODELS,
    FactorModel,
    LikelihoodEstimator,
    LikelihoodKind,
)
from core.analysis.factor_models.cfa_tables import fit_in_words
from core.analysis.factor_models.invariance_levels import (
    COMPARED,
    Factor,
    Fewest,
    Levels,
    groups_beside,
    question,
)
from core.analysis.factor_models.invariance_scripts import invariance_scripts
from core.analysis.factor_models.invariance_tables import STEPS, Ladder, invariance_tables
from core.analysis.matrices import INDEPENDENCE, by_columns, data_notes, group_name
from core.analysis.options import By
from core.analysis.progress import each
from core.analysis.registry import analysis
from core.analysis.rows import caution, unit_of
from core.charts.comparisons import invariance_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData, TooLarge, UserError
from core.psychometrics.factor_models.cfa_invariance import invariance as climb

_TWO_LEVELS = (
    "It needs two levels, each with more administrations than items and a model that can be "
    "fitted: leave a level out by a filter, choose a simpler model, or collect more."
)
_MARKER = (
    "With the first loading of a factor fixed at 1, its first item is taken to be invariant; if it "
    "is not, other items seem to differ."
)


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How far the items measure the same thing under all levels."""

    def sentence(rows: Sequence[TableRow]) -> str:
        start = next(row for row in rows if row["step"] == "configural")
        if not math.isfinite(start["cfi"]):
            return "Invariance is undefined (the model cannot be fitted at all levels)."
        held, stopped = "configural", " (by ΔCFI above −.01)"
        for row in rows:
            if row["step"] == "configural":
                continue
            change = row["cfi_difference"]
            if not change > -0.01:
                stopped = (
                    f"; {row['step']} does not (ΔCFI {bounded(change, 3)})"
                    if math.isfinite(change)
                    else f"; {row['step']} is undefined (no fit)"
                )
                break
            held = row["step"]
        model = fit_in_words(start)
        return f"{held.capitalize()} invariance holds{stopped}; the configural model: {model}."

    return answered(table_of(result, "steps"), "step", sentence)


@analysis(
    title="Measurement invariance",
    question="Do the items measure the same thing under all levels of a factor?",
    topic="comparability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=invariance_charts,
    references=(
        "Meredith (1993) doi:10.1007/BF02294825",
        "Satorra & Bentler (2001) doi:10.1007/BF02296192",
        "Chen (2007) doi:10.1080/10705510701301834",
    ),
    scripts=invariance_scripts,
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
    TooLarge
        So many items that the tests would take too much memory.

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
    names = groups_beside(by, factor)
    asked = question(item_scores, factor, names, model, estimator, fewest)
    found = [_climbed(asked.levels(matrix), estimator) for matrix in each(asked.matrices, "groups")]
    notes = [*asked.notes, *(note for one in found for note in one.notes)]
    if not any(one.found_any for one in found):
        raise NotEnoughData(
            f"No levels of {factor} can be compared. {' '.join(notes[:1])}",
            or_instead(_TWO_LEVELS, item_scores, COMPARED, factor),
        )
    n_used = sum(one.n_used for one in found)
    word = dict(COMPARED)[factor].lower()
    marker = () if model in ("method", "bifactor") else (_MARKER,)
    return AnalysisResult(
        tables=invariance_tables(found, by_columns(names)),
        unit=unit_of(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in asked.matrices),
        method=f"Multi-group confirmatory factor analysis comparing {word}. {dict(MODELS)[model]}. "
        f"{dict(LIKELIHOODS)[estimator]}. Scores are after reverse-keying.",
        notes=(
            *data_notes(item_scores, asked.matrices),
            *notes,
            *marker,
            *caution(item_scores, *INDEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in asked.matrices) - n_used,
    )


def _climbed(ready: Levels, estimator: LikelihoodKind) -> Ladder:
    """The steps of one group, and what has to be said about them."""
    where = group_name(ready.matrix.group)
    given = {level: len(rows) for level, rows in ready.scores.items()}
    ladder = Ladder(ready.matrix, given, ready.notes, None)
    written = ready.model
    if written is None:
        return ladder
    how, missing = HOW[estimator]
    try:
        result = climb(
            ready.scores,
            written.items,
            ready.text,
            levels=tuple(STEPS),
            estimator=how,
            missing=missing,
            scaling=ready.scaling,
        )
    except TooLarge:
        raise
    except UserError as error:
        return ladder.noting(f"{where}: not compared. {written.sentence(error.problem)}")
    for problem in result.problems:
        ladder = ladder.noting(f"{where}: {written.sentence(problem)}")
    n_used = sum(n_scores_used(rows, missing) for rows in ready.scores.values())
    return replace(ladder, climbed=result, model=written, n_used=n_used)
