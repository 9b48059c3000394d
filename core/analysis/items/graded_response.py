"""How well does each item measure the trait, and at which levels of it?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.shared.matrices import (
    ScoreMatrix,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    result_table,
    score_matrices,
    with_options,
)
from core.analysis.shared.options import By
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import Number, analysis
from core.analysis.shared.rows import Floats, analysis_unit, row_cautions, row_notes
from core.analysis.shared.scripts.item_response import graded_response_files
from core.analysis.shared.scripts.scales import scale_groups
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    coefficient_text,
    decimal_text,
    join_parts,
    rows_by_group,
    scale_name,
    table_of,
)
from core.charts.curves import graded_response_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import Place, about
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.errors import NotEnoughData
from core.stats.irt import graded_response as model
from core.stats.irt.graded_response import (
    GradedItem,
    GradedResponseFit,
    item_information,
    local_reliability,
    scale_information,
    standard_error,
    trait_reliability,
)
from core.stats.ordered.answer_options import score_list

# Tables: items, item information, test information, fit.

_SAMEJIMA = "Samejima (1969)."


@dataclass(frozen=True, eq=False)
class SubscaleFit:
    """One group and subscale with its model; None where there are too few items that vary."""

    matrix: ScoreMatrix
    fit: GradedResponseFit | None
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def n_used(self) -> int:
        """Scores that the model was fitted to."""
        return sum(item.n_answers for item in self.fit.items) if self.fit else 0


def _items_table(fits: Sequence[SubscaleFit], group: Sequence[Column]) -> ResultTable:
    """One row per group and item, with as many thresholds as the longest item has."""
    items = [item for one in fits if one.fit for item in one.fit.items]
    most = max(len(item.thresholds) for item in items)
    columns = [
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("item", "Item", help="As named in the bank."),
        Column(
            "options",
            "Scores chosen",
            help="Scores somebody chose, lowest first; b1 lies "
            "between the first and the second. Options nobody chose are closed up.",
        ),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column(
            "a",
            "a",
            "points",
            "Discrimination: rise of the log odds of a higher score per "
            f"standard deviation of the trait, without the factor 1.7. {_SAMEJIMA}",
        ),
        Column("a_se", "SE of a", "points", "From the observed information; Louis (1982)."),
    ]
    for k in range(1, most + 1):
        columns += [
            Column(
                f"b{k}",
                f"b{k}",
                "points",
                f"Level of the trait, in SD, above which score {k} "
                f"is passed more often than not. {_SAMEJIMA}",
            ),
            Column(f"b{k}_se", f"SE of b{k}", "points", "By the delta method."),
        ]
    columns.append(
        Column("converged", "Converged", help="If not, a and b are no estimates; do not report.")
    )
    rows = [
        (*one.matrix.group, one.matrix.subscale, name, *cells)
        for one in fits
        for name, cells in zip(one.matrix.items, _item_cells(one, most), strict=True)
    ]
    return result_table("items", "Items", rows, columns)


def _item_cells(one: SubscaleFit, most: int) -> list[tuple[Any, ...]]:
    """What is known of each item of a matrix; NaN for an item left out of the model."""
    known = {item.name: item for item in one.fit.items} if one.fit else {}
    converged = one.fit is not None and one.fit.converged
    answers = np.isfinite(one.matrix.scores).sum(axis=0).tolist()
    rows: list[tuple[Any, ...]] = []
    for place, name in enumerate(one.matrix.items):
        item = known.get(name)
        if item is None:
            column = one.matrix.scores[:, place]
            chosen = np.unique(column[np.isfinite(column)]).tolist()
            blank = (math.nan,) * (2 + 2 * most)
            rows.append((score_list(chosen) if chosen else "", answers[place], *blank, False))
        else:
            rows.append((score_list(item.options), item.n_answers, *_curve(item, most), converged))
    return rows


def _curve(item: GradedItem, most: int) -> tuple[float, ...]:
    """Discrimination and thresholds of an item, each followed by its standard error."""
    pairs = zip(item.thresholds, item.thresholds_se, strict=True)
    thresholds = [value for pair in pairs for value in pair]
    blank = [math.nan] * (2 * most - len(thresholds))
    return (item.discrimination, item.discrimination_se, *thresholds, *blank)


def _item_information_table(
    fits: Sequence[SubscaleFit], group: Sequence[Column], trait: Floats
) -> ResultTable:
    """One row per group and item: its information at whole levels of the trait, and its highest.

    The highest is looked for among the levels of `trait`. NaN where nothing converged, or the item
    was left out.
    """
    whole = np.arange(np.ceil(trait.min()), np.floor(trait.max()) + 1)
    columns = [
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("item", "Item", help="As named in the bank."),
        Column("n", "n", "count", "Administrations with a score for the item."),
        Column(
            "highest",
            "Highest",
            "points",
            "Highest information of the item over the range of "
            f"the trait, Σ P'² / P over its options. {_SAMEJIMA}",
        ),
        Column("highest_at", "Highest at", "points", "Level of the trait, in SD, where it is."),
    ]
    columns += [
        Column(
            f"at_{level:g}",
            f"At {level:g}".replace("-", "−"),
            "points",
            f"Information at a trait of {level:g} SD, 1 / SD². The items of a subscale add up "
            "to the test information there.",
        )
        for level in whole.tolist()
    ]
    rows: list[tuple[Any, ...]] = []
    for one in fits:
        known = {i.name: i for i in one.fit.items} if one.fit and one.fit.converged else {}
        answers = np.isfinite(one.matrix.scores).sum(axis=0).tolist()
        for name, n in zip(one.matrix.items, answers, strict=True):
            cells = (math.nan,) * (2 + whole.size)
            if name in known:
                over = item_information(known[name], trait)
                best = int(over.argmax())
                at = item_information(known[name], whole).tolist()
                cells = (float(over[best]), float(trait[best]), *at)
            rows.append((*one.matrix.group, one.matrix.subscale, name, n, *cells))
    return result_table("item_information", "Item information", rows, columns)


def _information_table(
    fits: Sequence[SubscaleFit], group: Sequence[Column], trait: Floats
) -> ResultTable:
    """One row per group, subscale and level of the trait; NaN where nothing converged."""
    columns = (
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("trait", "Trait", "points", "Level in standard deviations; 0 is the group's mean."),
        Column(
            "information", "Information", "points", f"Of all items together, 1 / SD². {_SAMEJIMA}"
        ),
        Column(
            "standard_error",
            "SE",
            "points",
            "1 / √information: of a trait score there, in SD, by maximum likelihood.",
        ),
        Column(
            "reliability",
            "Reliability",
            "correlation",
            "Information / (information + 1); Green and others (1984).",
        ),
    )
    rows: list[tuple[Any, ...]] = []
    for one in fits:
        known = np.full(trait.shape, np.nan)
        if one.fit and one.fit.converged:
            known = scale_information(one.fit.items, trait)
        numbers = (trait, known, standard_error(known), local_reliability(known))
        for row in zip(*(each.tolist() for each in numbers), strict=True):
            rows.append((*one.matrix.group, one.matrix.subscale, *row))
    return result_table("information", "Test information", rows, columns)


def _fit_table(fits: Sequence[SubscaleFit], group: Sequence[Column]) -> ResultTable:
    """One row per group and subscale."""
    columns = (
        *group,
        Column("subscale", "Subscale", help="As in the bank."),
        Column("n_items", "Items", "count", "Items in the model: those with two scores or more."),
        Column("n_administrations", "Administrations", "count", "With at least one score."),
        Column("n_parameters", "Parameters", "count", "One a, and one b for each step of an item."),
        Column("converged", "Converged", help="A maximum of the likelihood was found."),
        Column("iterations", "Steps", "count", "Of EM (Bock and Aitkin, 1981) or Newton's method."),
        Column("log_likelihood", "Log-likelihood", "points", "Marginal, where the search ended."),
        Column("aic", "AIC", "points", "2 · parameters - 2 · log-likelihood; smaller is better."),
        Column("bic", "BIC", "points", "ln(administrations) · parameters - 2 · log-likelihood."),
        Column(
            "marginal_reliability",
            "Marginal reliability",
            "correlation",
            "Mean of I / (I + 1) over a standard normal trait; Green and others (1984).",
        ),
        Column(
            "empirical_reliability",
            "Empirical reliability",
            "correlation",
            "Variance of the trait scores / (that + mean squared standard error).",
        ),
    )
    rows = [(*one.matrix.group, one.matrix.subscale, *_fit_cells(one.fit)) for one in fits]
    return result_table("fit", "Fit and reliability", rows, columns)


def _fit_cells(fit: GradedResponseFit | None) -> tuple[Any, ...]:
    """How well one model fits; AIC and BIC only at a maximum."""
    if fit is None:
        return (0, 0, 0, False, 0, *(math.nan,) * 5)
    aic, bic = (fit.aic, fit.bic) if fit.converged else (math.nan, math.nan)
    share = trait_reliability(fit)
    return (
        len(fit.items),
        fit.n_rows,
        fit.n_parameters,
        fit.converged,
        fit.n_iterations,
        fit.log_likelihood,
        aic,
        bic,
        share.marginal,
        share.empirical,
    )


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


def _graded_response_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    limit: Limit = 4.0,
    levels: Levels = 33,
    points: Points = 61,
    steps: Steps = 500,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `graded_response`."""
    return graded_response_files(
        scale_groups(item_scores, by), limit=limit, levels=levels, points=points, steps=steps
    )


def _answer(result: AnalysisResult) -> GroupAnswers:
    """How steep the items of every subscale are, and how reliable the trait is."""
    items = rows_by_group(table_of(result, "items"), "subscale")

    def of(row: TableRow, rows: Sequence[TableRow], own: Sequence[TableRow]) -> str:
        several = len(rows) > 1 or row["subscale"]
        name = scale_name(row["subscale"], (one["subscale"] for one in rows))
        scale = f"{name}: " if several else ""
        slopes = [one["a"] for one in own if math.isfinite(one["a"])]
        if not row["converged"] or not slopes:
            return f"{scale}undefined (the search found no maximum, or too few answers)"
        return (
            f"{scale}{count_text(len(slopes), 'item')} with a from "
            f"{decimal_text(min(slopes))} to {decimal_text(max(slopes))}, marginal reliability "
            f"{coefficient_text(row['marginal_reliability'])}"
        )

    return tuple(
        GroupAnswer(
            group,
            join_parts(
                (
                    of(row, rows, [o for o in items[group] if o["subscale"] == row["subscale"]])
                    for row in rows
                ),
                "subscales",
            ),
        )
        for group, rows in rows_by_group(table_of(result, "fit"), "subscale").items()
    )


_TABS = {
    "items": "Items",
    "item_information": "Information",
    "information": "Information",
    "fit": "Fit",
}


@analysis(
    title="Graded response model",
    question="How well does each item measure the trait, and at which levels of it?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=graded_response_charts,
    scripts=_graded_response_scripts,
    references=(
        "Samejima (1969) doi:10.1007/BF03372160",
        "Bock & Aitkin (1981) doi:10.1007/BF02293801",
        "Louis (1982), Journal of the Royal Statistical Society B 44, 226-233",
        "Green, Bock, Humphreys, Linn & Reckase (1984), Journal of Educational Measurement 21, "
        "347-360",
    ),
    keywords=(
        "IRT",
        "item response theory",
        "GRM",
        "Samejima",
        "graded response",
        "discrimination parameter",
        "item difficulty",
        "thresholds",
        "information curve",
        "trait",
        "characteristic curve",
    ),
    requires="scores",
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
    fits = [_fit_subscale(matrix, points, steps) for matrix in with_progress(matrices, "scales")]
    cautions = [caution for one in fits for caution in one.cautions]
    if not any(one.fit for one in fits):
        raise NotEnoughData(
            f"No graded response model can be fitted. {' '.join(cautions[:3])}",
            "It needs a subscale with three items that vary over administrations (contexts or "
            "repetitions).",
        )
    n_used = sum(one.n_used for one in fits)
    trait = np.linspace(-limit, limit, levels)
    group = by_columns(names)
    return AnalysisResult(
        tables=with_tabs(
            (
                _items_table(fits, group),
                _item_information_table(fits, group, trait),
                _information_table(fits, group, trait),
                _fit_table(fits, group),
            ),
            _TABS,
        ),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method="Graded response model (Samejima, 1969), logistic metric, by marginal maximum "
        f"likelihood over {points} points of a standard normal trait; standard errors from the "
        "observed information. All answers count (missing at random). Scores are after "
        "reverse-keying.",
        cautions=(
            *data_cautions(item_scores, matrices),
            *cautions,
            *row_cautions(item_scores, *_DEPENDENCE),
        ),
        notes=(
            *data_notes(item_scores),
            *(note for one in fits for note in one.notes),
            _TRAIT_ORIGIN,
            *row_notes(item_scores, *_DEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _fit_subscale(matrix: ScoreMatrix, points: int, steps: int) -> SubscaleFit:
    """The model of one matrix with its notes and cautions."""
    where = Place(group_name(matrix.group), "subscale", matrix.subscale)
    try:
        fit = model.graded_response(
            matrix.scores,
            matrix.items,
            offered=matrix.options,
            n_points=points,
            max_iterations=steps,
        )
    except NotEnoughData as error:
        return SubscaleFit(matrix, None, cautions=(about(where, f"not fitted. {error.problem}"),))
    cautions = [about(where, doubt) for doubt in fit.doubts]
    others = [problem for problem in fit.problems if problem not in fit.doubts]
    if not fit.converged:
        cautions.append(
            about(
                where,
                "the model did not converge. Standard errors, AIC, BIC, information and "
                "reliability are undefined; a and b are where the search stopped, not estimates.",
            )
        )
    notes = tuple(about(where, problem) for problem in others)
    return SubscaleFit(matrix, fit, notes, tuple(cautions))
