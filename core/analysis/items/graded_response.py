"""How well does each item measure the trait, and at which levels of it?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import ScoreMatrix, score_matrices, with_options
from core.analysis.kit.options import By
from core.analysis.kit.registry import Number, analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.rows import Floats
from core.analysis.kit.scripts.item_response import graded_response_files
from core.analysis.kit.scripts.scales import scale_groups
from core.charts.curves import graded_response_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, TextFile
from core.domain.tables import TableRows, TableSpec, count, key, number, text
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.irt import graded_response as model
from core.stats.ordered.answer_options import score_list

_SAMEJIMA = "Samejima (1969)."
_SUBSCALE = key("subscale", "Subscale", "As in the bank.")
_ITEM = key("item", "Item", "As named in the bank.")
_N = count("n", "n", "Administrations with a score for the item.")

INFORMATION = TableSpec(
    "information",
    "Test information",
    (
        _SUBSCALE,
        key("trait", "Trait", "Level in standard deviations; 0 is the group's mean.", "points"),
        number(
            "information", "Information", "points", f"Of all items together, 1 / SD². {_SAMEJIMA}"
        ),
        number(
            "standard_error",
            "SE",
            "points",
            "1 / √information: of a trait score there, in SD, by maximum likelihood.",
        ),
        number(
            "reliability",
            "Reliability",
            "correlation",
            "Information / (information + 1); Green and others (1984).",
        ),
    ),
    "Information",
)
FIT = TableSpec(
    "fit",
    "Fit and reliability",
    (
        _SUBSCALE,
        count("n_items", "Items", "Items in the model: those with two scores or more."),
        count("n_administrations", "Administrations", "With at least one score."),
        count("n_parameters", "Parameters", "One a, and one b for each step of an item."),
        text("converged", "Converged", "A maximum of the likelihood was found."),
        count("iterations", "Steps", "Of EM (Bock and Aitkin, 1981) or Newton's method."),
        number("log_likelihood", "Log-likelihood", "points", "Marginal, where the search ended."),
        number("aic", "AIC", "points", "2 · parameters - 2 · log-likelihood; smaller is better."),
        number("bic", "BIC", "points", "ln(administrations) · parameters - 2 · log-likelihood."),
        number(
            "marginal_reliability",
            "Marginal reliability",
            "correlation",
            "Mean of I / (I + 1) over a standard normal trait; Green and others (1984).",
        ),
        number(
            "empirical_reliability",
            "Empirical reliability",
            "correlation",
            "Variance of the trait scores / (that + mean squared standard error).",
        ),
    ),
    "Fit",
)


def _items_spec(most: int) -> TableSpec:
    """The table of items, of which one has as many thresholds as `most`."""
    thresholds = [
        column
        for k in range(1, most + 1)
        for column in (
            number(
                f"b{k}",
                f"b{k}",
                "points",
                f"Level of the trait, in SD, above which score {k} is passed more often than not. "
                f"{_SAMEJIMA}",
            ),
            number(f"b{k}_se", f"SE of b{k}", "points", "By the delta method."),
        )
    ]
    columns = (
        _SUBSCALE,
        _ITEM,
        text(
            "options",
            "Scores chosen",
            "Scores somebody chose, lowest first; b1 lies between the first and the second. "
            "Options nobody chose are closed up.",
        ),
        _N,
        number(
            "a",
            "a",
            "points",
            "Discrimination: rise of the log odds of a higher score per standard deviation of the "
            f"trait, without the factor 1.7. {_SAMEJIMA}",
        ),
        number("a_se", "SE of a", "points", "From the observed information; Louis (1982)."),
        *thresholds,
        text("converged", "Converged", "If not, a and b are no estimates; do not report."),
    )
    return TableSpec("items", "Items", columns, "Items")


def _item_information_spec(levels: Floats) -> TableSpec:
    """The table of the information of each item at some levels of the trait, and its highest."""
    columns = (
        _SUBSCALE,
        _ITEM,
        _N,
        number(
            "highest",
            "Highest",
            "points",
            "Highest information of the item over the range of the trait, Σ P'² / P over its "
            f"options. {_SAMEJIMA}",
        ),
        number("highest_at", "Highest at", "points", "Level of the trait, in SD, where it is."),
        *(
            number(
                f"at_{level:g}",
                f"At {level:g}".replace("-", "−"),
                "points",
                f"Information at a trait of {level:g} SD, 1 / SD². The items of a subscale add up "
                "to the test information there.",
            )
            for level in levels.tolist()
        ),
    )
    return TableSpec("item_information", "Item information", columns, "Information")


_TRAIT_ORIGIN = (
    "The trait has mean 0 and standard deviation 1 within each group and subscale, so a and b of "
    "different groups do not stand on one scale."
)
_DEPENDENCE = (
    "Standard errors take {rows} as independent.",
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


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How steep the items of every subscale are, and how reliable the trait is."""
    items = sentences.rows_by_group(sentences.table_of(result, "items"))

    def part(row: sentences.TableRow, scales: Sequence[str], group: str) -> str:
        several = len(scales) > 1 or row["subscale"]
        scale = f"{sentences.scale_name(row['subscale'], scales)}: " if several else ""
        of_scale = [item["a"] for item in items[group] if item["subscale"] == row["subscale"]]
        slopes = [slope for slope in of_scale if math.isfinite(slope)]
        if not row["converged"] or not slopes:
            return f"{scale}undefined (the search found no maximum, or too few answers)"
        low, high = map(sentences.decimal_text, (min(slopes), max(slopes)))
        return (
            f"{scale}{count_text(len(slopes), 'item')} with a from {low} to {high}, marginal "
            f"reliability {sentences.coefficient_text(row['marginal_reliability'])}"
        )

    answers = []
    for group, rows in sentences.rows_by_group(sentences.table_of(result, "fit")).items():
        scales = [row["subscale"] for row in rows]
        parts = [part(row, scales, group) for row in rows]
        answers.append(sentences.GroupAnswer(group, sentences.join_parts(parts, "subscales")))
    return tuple(answers)


@analysis(
    title="Graded response model",
    question="How well does each item measure the trait, and at which levels of it?",
    topic="item_statistics",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    takes_averages=False,
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
        A model of its own is fitted to each group and subscale.
    limit, levels : float, int
        The information is given at so many levels of the trait from -limit to limit.
    points, steps : int
        Quadrature points, and steps of the search after which it is given up.

    Returns
    -------
    AnalysisResult
        `items` and `item_information`, one row per group and item; `information`, one row per
        group, subscale and level of the trait; `fit`, one row per group and subscale.

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
    matrices = with_options(item_scores, score_matrices(item_scores, by))
    findings = Findings()
    fits = [
        _fit_subscale(matrix, findings, points, steps)
        for matrix in with_progress(matrices, "scales")
    ]
    modelled = [item for fit in fits if fit for item in fit.items]
    if not modelled:
        raise findings.refusal(
            "No graded response model can be fitted.",
            "It needs a subscale with three items that vary over administrations (contexts or "
            "repetitions).",
            by,
        )
    trait = np.linspace(-limit, limit, levels)
    most = max(len(item.thresholds) for item in modelled)
    items = TableRows(_items_spec(most), by)
    item_information = TableRows(_item_information_spec(_whole_levels(trait)), by)
    information, of_fit = TableRows(INFORMATION, by), TableRows(FIT, by)
    for matrix, fit in zip(matrices, fits, strict=True):
        _add_items(items, item_information, matrix, fit, trait)
        of_scale = np.full(trait.shape, np.nan)
        if fit and fit.converged:
            of_scale = model.scale_information(fit.items, trait)
        errors, shares = model.standard_error(of_scale), model.local_reliability(of_scale)
        columns = (array.tolist() for array in (trait, of_scale, errors, shares))
        for level, value, error, share in zip(*columns, strict=True):
            information.add(
                matrix.group,
                subscale=matrix.subscale,
                trait=level,
                information=value,
                standard_error=error,
                reliability=share,
            )
        reliability = model.trait_reliability(fit) if fit else None
        at_maximum = fit is not None and fit.converged
        of_fit.add(
            matrix.group,
            subscale=matrix.subscale,
            n_items=len(fit.items) if fit else 0,
            n_administrations=fit.n_rows if fit else 0,
            n_parameters=fit.n_parameters if fit else 0,
            converged=at_maximum,
            iterations=fit.n_iterations if fit else 0,
            log_likelihood=fit.log_likelihood if fit else math.nan,
            aic=fit.aic if fit and at_maximum else math.nan,
            bic=fit.bic if fit and at_maximum else math.nan,
            marginal_reliability=reliability.marginal if reliability else math.nan,
            empirical_reliability=reliability.empirical if reliability else math.nan,
        )
    return score_result(
        item_scores,
        [rows.table() for rows in (items, item_information, information, of_fit)],
        findings,
        n_used=sum(item.n_answers for item in modelled),
        method="Graded response model (Samejima, 1969), logistic metric, by marginal maximum "
        f"likelihood over {points} points of a standard normal trait; standard errors from the "
        "observed information. All answers count (missing at random). Scores are after "
        "reverse-keying.",
        matrices=matrices,
        taken_for_granted=_DEPENDENCE,
        called="row",
        later_notes=[_TRAIT_ORIGIN],
    )


def _fit_subscale(
    matrix: ScoreMatrix, findings: Findings, points: int, steps: int
) -> model.GradedResponseFit | None:
    """The model of one matrix; None where there are too few items that vary."""
    scale = scale_of_group(matrix.group, matrix.subscale)
    try:
        fit = model.graded_response(
            matrix.scores,
            matrix.items,
            offered=matrix.options,
            n_points=points,
            max_iterations=steps,
        )
    except NotEnoughData as error:
        findings.caution(scale, f"not fitted. {error.problem}")
        return None
    for doubt in fit.doubts:
        findings.caution(scale, doubt)
    for problem in fit.problems:
        if problem not in fit.doubts:
            findings.note(scale, problem)
    if not fit.converged:
        findings.caution(
            scale,
            "the model did not converge. Standard errors, AIC, BIC, information and reliability "
            "are undefined; a and b are where the search stopped, not estimates.",
        )
    return fit


def _add_items(
    items: TableRows,
    item_information: TableRows,
    matrix: ScoreMatrix,
    fit: model.GradedResponseFit | None,
    trait: Floats,
) -> None:
    """The rows of the items of a matrix; NaN for those left out of the model.

    The highest information is looked for among the levels of `trait`; NaN where nothing converged.
    """
    of_model = {item.name: item for item in fit.items} if fit else {}
    converged = fit is not None and fit.converged
    for name, scores in zip(matrix.items, matrix.scores.T, strict=True):
        answers = scores[np.isfinite(scores)]
        curve, at_levels = (
            {column.name: math.nan for column in rows.spec.columns if column.role == "number"}
            for rows in (items, item_information)
        )
        item = of_model.get(name)
        options = item.options if item else np.unique(answers).tolist()
        if item:
            curve |= {"a": item.discrimination, "a_se": item.discrimination_se}
            for k, (b, se) in enumerate(zip(item.thresholds, item.thresholds_se, strict=True), 1):
                curve |= {f"b{k}": b, f"b{k}_se": se}
        if item and converged:
            over = model.item_information(item, trait)
            highest = int(over.argmax())
            at_whole = model.item_information(item, _whole_levels(trait)).tolist()
            numbers = (float(over[highest]), float(trait[highest]), *at_whole)
            at_levels = dict(zip(at_levels, numbers, strict=True))
        items.add(
            matrix.group,
            subscale=matrix.subscale,
            item=name,
            options=score_list(options) if options else "",
            n=item.n_answers if item else len(answers),
            converged=converged and item is not None,
            **curve,
        )
        item_information.add(
            matrix.group, subscale=matrix.subscale, item=name, n=len(answers), **at_levels
        )


def _whole_levels(trait: Floats) -> Floats:
    """The whole numbers within some levels of the trait."""
    return np.arange(np.ceil(trait.min()), np.floor(trait.max()) + 1)
