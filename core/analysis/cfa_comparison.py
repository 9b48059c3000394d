"""Which of several measurement models describes the same answers best?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from core.analysis.answers import GroupAnswers, TableRow, answered, decimals, table_of
from core.analysis.factor_models.cfa_comparison_scripts import cfa_comparison_scripts
from core.analysis.factor_models.cfa_comparison_tables import comparison_tables
from core.analysis.factor_models.cfa_competing import Models, competing_models, question
from core.analysis.factor_models.cfa_models import ESTIMATORS, FactorEstimator
from core.analysis.factor_models.cfa_tables import fit_in_words
from core.analysis.factor_models.estimator_choice import chosen_estimator
from core.analysis.matrices import (
    INDEPENDENCE,
    by_columns,
    data_notes,
    distinct,
)
from core.analysis.options import By
from core.analysis.progress import each
from core.analysis.registry import analysis
from core.analysis.rows import caution, unit_of
from core.charts.comparisons import model_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData


def _answer(result: AnalysisResult) -> GroupAnswers:
    """The model of the lowest BIC in each group, and how far the next is."""

    def sentence(rows: Sequence[TableRow]) -> str:
        ranked = sorted(
            (row["bic_difference"], row["model"])
            for row in rows
            if math.isfinite(row["bic_difference"])
        )
        if not ranked:
            return "The best model is undefined (no model has a BIC)."
        best = next(row for row in rows if row["model"] == ranked[0][1])
        others = [f"{model} is {decimals(d, 1)} higher" for d, model in ranked[1:2]]
        return (
            f"{'; '.join([best['model'] + ' has the lowest BIC', *others])}; {fit_in_words(best)}."
        )

    return answered(table_of(result, "fit"), "model", sentence)


@analysis(
    title="Comparison of factor models",
    question="Which of several measurement models describes the same answers best?",
    topic="factors",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=model_charts,
    references=(
        "Satorra & Bentler (2001) doi:10.1007/BF02296192",
        "Satorra (2000), Scaled and adjusted restricted tests in multi-sample analysis",
        "Akaike (1974) doi:10.1109/TAC.1974.1100705",
        "Schwarz (1978) doi:10.1214/aos/1176344136",
        "Yung, Thissen & McLeod (1999) doi:10.1007/BF02294531",
        "Savalei & Kolenikov (2008) doi:10.1037/1082-989X.13.2.150",
        "Holm (1979), Scandinavian Journal of Statistics 6, 65-70",
    ),
    scripts=cfa_comparison_scripts,
)
def cfa_comparison(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    models: Models = "",
    estimator: FactorEstimator = "automatic",
) -> AnalysisResult:
    """Fit of several models side by side, and tests of each against those it is a case of.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    by : tuple of factors
        Groups to set side by side; models are compared within each.
    models : str
        Model texts as in confirmatory factor analysis, each under a line `## Name`; empty for the
        models that follow from the bank.
    estimator : "automatic", "ml", "mlr", "fiml" or "wlsmv"
        As in confirmatory factor analysis.

    Returns
    -------
    AnalysisResult
        `fit`, one row per group and model, with the distance of AIC and BIC from the lowest among
        models of the same items; `differences`, one row per group and pair of models, the one with
        more degrees of freedom first; `models`, the texts that were fitted, line by line.

    Raises
    ------
    NotEnoughData
        No model can be fitted in any group. If only some cannot, a remark says why.
    TooLarge
        So many items that the tests would take too much memory.
    ModelTextError
        A text has no name, fewer than two models, or cannot be read.

    Notes
    -----
    The unit of analysis is one administration. All models of a group are fitted to the same
    administrations: those complete on all items that any of them uses (full information: all).
    A pair is tested only where the first is known to be a special case of the second: from their
    parameters, or, for models that follow from the bank, from theory. The difference of χ² is
    scaled after Satorra and Bentler (2001) under MLR and full information, after Satorra (2000)
    under WLSMV; p is adjusted after Holm over the tests of a group. Items of zero variance are
    left out and named. Repeated administrations of one model are not independent; p is then too
    small.
    """
    how, why = chosen_estimator(estimator, item_scores)
    asked = question(item_scores, by, models)
    found = [competing_models(matrix, asked, how) for matrix in each(asked.matrices, "groups")]
    notes = [*asked.notes, *(note for one in found for note in one.notes)]
    if not any(model.usable for one in found for model in one.candidates):
        reasons = [c.remark for one in found for c in one.candidates if c.remark]
        raise NotEnoughData(
            f"No factor model can be fitted. {' '.join([*notes, *dict.fromkeys(reasons)][:3])}",
            "It needs more administrations (contexts or repetitions) than items, items that vary "
            "over them, and three or more for each factor.",
        )
    n_used = sum(one.n_used for one in found)
    return AnalysisResult(
        tables=comparison_tables(found, by_columns(distinct(by))),
        unit=unit_of(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in asked.matrices),
        method="Confirmatory factor analyses of the same administrations. "
        f"{dict(ESTIMATORS)[how]}. Differences of χ² "
        f"{'corrected, ' if how != 'ml' else ''}p adjusted after Holm within each group. "
        "Scores are after reverse-keying.",
        notes=(
            *data_notes(item_scores, asked.matrices),
            *notes,
            *why,
            *caution(item_scores, *INDEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in asked.matrices) - n_used,
    )
