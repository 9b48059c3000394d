"""How well does each item measure the trait, and at which levels of it?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.answers import (
    GroupAnswers,
    TableRow,
    bounded,
    by_group,
    decimals,
    joined,
    table_of,
)
from core.analysis.factor_models.graded_response_tables import (
    Fitted,
    fit_table,
    information_table,
    item_information_table,
    items_table,
)
from core.analysis.items.offered_options import with_options
from core.analysis.matrices import (
    ScoreMatrix,
    by_columns,
    data_notes,
    distinct,
    group_name,
    score_matrices,
)
from core.analysis.options import By
from core.analysis.progress import each
from core.analysis.registry import Number, analysis
from core.analysis.rows import caution, unit_of
from core.charts.curves import graded_response_charts
from core.domain.counts import counted
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult
from core.errors import NotEnoughData
from core.psychometrics.response_theory import graded_response as model

_TRAIT_ORIGIN = (
    "The trait has mean 0 and standard deviation 1 within each group and subscale, so a and b of "
    "different groups do not stand on one scale."
)
_DEPENDENCE = (
    "Standard errors take administrations as independent.",
    "Repeated administrations of one model are not, so the true uncertainty is larger.",
)

Limit = Annotated[
    float,
    Number("Trait range (± SD)", 1, 6, help="The table of information runs this far either way."),
]
Levels = Annotated[
    int, Number("Levels of the trait", 3, 401, help="Rows of the table of information.")
]
Points = Annotated[
    int,
    Number(
        "Quadrature points", 21, 241, help="Over which the likelihood is integrated, from -6 to 6."
    ),
]
Steps = Annotated[
    int, Number("Most steps", 1, 5000, help="After which the search for the maximum is given up.")
]


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How steep the items of every subscale are, and how reliable the trait is."""
    items = by_group(table_of(result, "items"), "subscale")

    def of(row: TableRow, own: Sequence[TableRow]) -> str:
        slopes = [one["a"] for one in own if math.isfinite(one["a"])]
        if not row["converged"] or not slopes:
            return f"{row['subscale']}: undefined (the search found no maximum, or too few answers)"
        return (
            f"{row['subscale']}: {counted(len(slopes), 'item')} with a from "
            f"{decimals(min(slopes))} to {decimals(max(slopes))}, marginal reliability "
            f"{bounded(row['marginal_reliability'])}"
        )

    return tuple(
        (
            group,
            joined(
                (
                    of(row, [o for o in items[group] if o["subscale"] == row["subscale"]])
                    for row in rows
                ),
                "subscales",
            ),
        )
        for group, rows in by_group(table_of(result, "fit"), "subscale").items()
    )


@analysis(
    title="Graded response model",
    question="How well does each item measure the trait, and at which levels of it?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=graded_response_charts,
    references=(
        "Samejima (1969) doi:10.1007/BF03372160",
        "Bock & Aitkin (1981) doi:10.1007/BF02293801",
        "Louis (1982), Journal of the Royal Statistical Society B 44, 226-233",
        "Green, Bock, Humphreys, Linn & Reckase (1984), Journal of Educational Measurement 21, "
        "347-360",
    ),
)
def graded_response(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    limit: Limit = 4.0,
    levels: Levels = 33,
    points: Points = 61,
    steps: Steps = 500,
) -> AnalysisResult:
    """Discrimination and thresholds of each item, and how precisely each subscale measures.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer. Every
        distinct score of an item is one ordered option.
    by : tuple of factors
        Groups to set side by side; a model of its own is fitted to each group and subscale.
    limit, levels : float, int
        The information is given at so many levels of the trait from -limit to limit.
    points, steps : int
        Quadrature points, and steps of the search after which it is given up.

    Returns
    -------
    AnalysisResult
        `items`, one row per group and item: `options` chosen by somebody, `n`, `a`, `a_se`, and
        `b1`, `b1_se` and so on, `converged`. `item_information`, one row per group and item:
        `highest`, `highest_at`, and information at whole levels of the trait. `information`, one
        row per group, subscale and level
        of the trait: `information`, `standard_error`, `reliability`. `fit`, one row per group and
        subscale: log-likelihood, AIC, BIC, convergence, marginal and empirical reliability.

    Raises
    ------
    NotEnoughData
        No subscale of any group has three items with two different scores. If only some have, the
        others are NaN and a note names them.

    Notes
    -----
    The unit of analysis is one administration; each counts with the answers it has (missing at
    random given those). P(score of option k or more) = 1 / (1 + exp(-a (trait - b_k))), fitted by
    marginal maximum likelihood. Where the search found no maximum, `converged` is false, standard
    errors, AIC, BIC, information and reliability are NaN, and a and b are only where it stopped.
    Options that nobody chose are closed up, so b_k lies between the k-th and the next of `options`.
    Assumes one normal trait and answers independent given it. Repeated administrations of one model
    are not independent; standard errors are then too small. Agrees with ltm 1.2.0 in R
    (log-likelihood to 1e-4, parameters to 2e-4).
    """
    names = distinct(by)
    matrices = with_options(item_scores, score_matrices(item_scores, names))
    found = [_fitted(matrix, points, steps) for matrix in each(matrices, "scales")]
    notes = [note for one in found for note in one.notes]
    if not any(one.fit for one in found):
        raise NotEnoughData(
            f"No graded response model can be fitted. {' '.join(notes[:3])}",
            "It needs a subscale with three items that vary over administrations (contexts or "
            "repetitions).",
        )
    n_used = sum(one.n_used for one in found)
    trait = np.linspace(-limit, limit, levels)
    group = by_columns(names)
    return AnalysisResult(
        tables=(
            items_table(found, group),
            item_information_table(found, group, trait),
            information_table(found, group, trait),
            fit_table(found, group),
        ),
        unit=unit_of(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method="Graded response model (Samejima, 1969), logistic metric, by marginal maximum "
        f"likelihood over {points} points of a standard normal trait; standard errors from the "
        "observed information. All answers count (missing at random). Scores are after "
        "reverse-keying.",
        notes=(
            *data_notes(item_scores, matrices),
            *notes,
            _TRAIT_ORIGIN,
            *caution(item_scores, *_DEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _fitted(matrix: ScoreMatrix, points: int, steps: int) -> Fitted:
    """The model of one matrix, and what has to be said about it."""
    where = f"{group_name(matrix.group)}, subscale {matrix.subscale or '(none)'}"
    try:
        fit = model.graded_response(
            matrix.scores, matrix.items, offered=matrix.options, n_points=points,
            max_iterations=steps,
        )  # fmt: skip
    except NotEnoughData as error:
        return Fitted(matrix, None, (f"{where}: not fitted. {error.problem}",))
    notes = [f"{where}: {problem}" for problem in fit.problems]
    if not fit.converged:
        notes.append(
            f"{where}: the model did not converge. Standard errors, AIC, BIC, information and "
            "reliability are undefined; a and b are where the search stopped, not estimates."
        )
    return Fitted(matrix, fit, tuple(notes))
