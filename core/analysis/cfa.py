"""Do the items measure what the bank says they measure?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from core.analysis.cfa_models import (
    ESTIMATORS,
    HOW,
    MODELS,
    EstimatorKind,
    FactorEstimator,
    FactorModel,
    ModelKind,
    subscales_of_items,
    varying_items,
    written_model,
)
from core.analysis.cfa_tables import Factored, cfa_tables
from core.analysis.matrices import (
    INDEPENDENCE,
    ScoreMatrix,
    by_columns,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.options import By, ConfidenceLevel
from core.analysis.registry import analysis
from core.analysis.result import AnalysisResult
from core.domain.frames import ITEM_SCORES
from core.errors import NotEnoughData, UserError
from core.psychometrics.cfa_fit import fit_cfa


@analysis(
    title="Confirmatory factor analysis",
    question="Do the items measure what the bank says they measure?",
    needs=ITEM_SCORES,
    references=(
        "Jöreskog (1969) doi:10.1007/BF02289343",
        "Yuan & Bentler (2000) doi:10.1111/0081-1750.00078",
        "Rosseel (2012) doi:10.18637/jss.v048.i02",
        "Sörbom (1989) doi:10.1007/BF02294623",
    ),
)
def cfa(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: FactorEstimator = "mlr",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Fit, loadings and misfit of the bank's own structure in each group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; a model of its own is fitted to each, with all subscales.
    model : str
        What the items measure: "subscales", "general", "method", "bifactor" or "second_order".
    estimator : "ml", "mlr" or "fiml"
        Maximum likelihood on complete administrations, the same with corrected tests and errors,
        or the latter on all administrations by full information.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals, except that of RMSEA, which covers 90 %.

    Returns
    -------
    AnalysisResult
        `fit`, one row per group; `loadings`, one per group, factor and item; `factor_correlations`;
        `residuals`, the 10 largest residual correlations of each group; `modification_indices`,
        the 15 largest of each group.

    Raises
    ------
    NotEnoughData
        No group can be fitted. If only some cannot, their rows are NaN and a note says why.

    Notes
    -----
    The unit of analysis is one administration; scores are taken as continuous, which suits five or
    more options. Items of zero variance are left out and named. A negative variance or a search
    without maximum is reported in a note, never mended. Where the search found no maximum, the
    numbers are NaN. Repeated administrations of one model are not independent: standard errors are
    then too small, and chi-square too large. Agrees with lavaan 0.6-19 (fit to 1e-5, loadings to
    1e-4).
    """
    names = distinct(by)
    matrices = score_matrices(item_scores, names, whole=True)
    subscale_of, notes = subscales_of_items(item_scores)
    found = [_factored(matrix, subscale_of, model, estimator, ci_level) for matrix in matrices]
    notes += [note for one in found for note in one.notes]
    if not any(one.usable for one in found):
        raise NotEnoughData(
            f"No factor model can be fitted. {' '.join(notes[:3])}",
            "It needs more administrations (contexts or repetitions) than items, items that vary "
            "over them, and three or more for each factor.",
        )
    n_used = sum(one.n_used for one in found)
    return AnalysisResult(
        tables=cfa_tables(found, by_columns(names), subscale_of, ci_level),
        unit="one administration: a respondent answering the bank once under one context and "
        "repetition (a row, where notes speak of rows)",
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"Confirmatory factor analysis. {dict(MODELS)[model]}. {dict(ESTIMATORS)[estimator]}"
        ". The first loading of a factor is 1; bifactor and method factors have variance 1. "
        "Scores are after reverse-keying.",
        notes=(*data_notes(item_scores, matrices), *notes, INDEPENDENCE),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _factored(
    matrix: ScoreMatrix,
    subscale_of: Mapping[str, str],
    kind: ModelKind,
    estimator: EstimatorKind,
    ci_level: float,
) -> Factored:
    """The model of one group, and what has to be said about it."""
    where = group_name(matrix.group)
    how, missing = HOW[estimator]
    varying = varying_items([matrix.scores], missing)
    constant = [item for item, kept in zip(matrix.items, varying, strict=True) if not kept]
    notes = []
    if constant:
        notes.append(
            f"{where}: left out, because all usable scores are equal or missing: "
            f"{', '.join(constant)}."
        )
    items = [item for item, kept in zip(matrix.items, varying, strict=True) if kept]
    keyed = [key for key, kept in zip(matrix.keyed, varying, strict=True) if kept]
    scores = matrix.scores[:, varying]
    try:
        written = written_model(kind, items, keyed, subscale_of)
    except NotEnoughData as error:
        return Factored(matrix, None, None, 0, (*notes, f"{where}: not fitted. {error.problem}"))
    try:
        fit = fit_cfa(
            scores, written.items, written.text, estimator=how, missing=missing, ci_level=ci_level
        )
    except UserError as error:
        reason = f"{where}: not fitted. {written.sentence(error.problem)}"
        return Factored(matrix, None, written, 0, (*notes, reason))
    notes += [f"{where}: {written.sentence(problem)}" for problem in fit.problems]
    present = np.isfinite(scores)
    counted = present if missing == "fiml" else present[present.all(axis=1)]
    return Factored(matrix, fit, written, int(counted.sum()), tuple(notes))
