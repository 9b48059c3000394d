"""How well does each item measure the trait, and at which levels of it?"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.items.graded_response import tables
from core.analysis.kit import sentences
from core.analysis.kit.matrices import ScoreMatrix, score_matrices, with_options
from core.analysis.kit.options import Adjust, By, Seed, adjustment_words
from core.analysis.kit.registry import Choice, Number, Switch, analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.rows import administrations_of
from core.analysis.kit.scores import administration_labels
from core.analysis.kit.scripts.item_response import item_response_files
from core.analysis.kit.scripts.scales import scale_groups
from core.charts.curves import graded_response_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.study import FACTORS
from core.domain.tables import TableRows
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.groups import Adjustment
from core.stats.inputs import Floats
from core.stats.irt import item_response as response
from core.stats.irt import response_fit
from core.stats.irt.response_models import ModelName

_TRAIT_ORIGIN = (
    "The trait has mean 0 and standard deviation 1 within each group and subscale, so parameters "
    "of items of different groups do not stand on one scale."
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


IrtModel = Annotated[
    ModelName,
    Choice(
        "Model",
        (
            ("graded", "Graded response: scores in order"),
            ("partial_credit", "Partial credit: scores in order, all items alike steep"),
            ("generalized_partial_credit", "Generalized partial credit: steps between scores"),
            ("nominal", "Nominal: options need no order"),
        ),
        help="With two scores all of them are the two-parameter logistic model (2PL), and partial "
        "credit is Rasch's.",
    ),
]
CompareModels = Annotated[
    bool, Switch("Compare all models", help="Fits every model, and gives AIC and BIC of each.")
]
WithPersons = Annotated[
    bool,
    Switch("Trait and fit of each administration", help="lz, with a p from simulated answers."),
]


def _graded_response_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    irt_model: IrtModel = "graded",
    compare_models: CompareModels = False,
    person_fit: WithPersons = False,
    adjust: Adjust = "holm",
    limit: Limit = 4.0,
    levels: Levels = 33,
    points: Points = 61,
    steps: Steps = 500,
    seed: Seed = 1,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python; arguments as in `graded_response`."""
    return item_response_files(
        scale_groups(item_scores, by),
        model=irt_model,
        limit=limit,
        levels=levels,
        points=points,
        steps=steps,
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """How steep the items of every subscale are, and how reliable the trait is."""
    items = sentences.rows_by_group(sentences.table_of(result, "items"))

    def part(row: sentences.TableRow, scales: Sequence[str], group: str) -> str:
        several = len(scales) > 1 or row["subscale"]
        scale = f"{sentences.scale_name(row['subscale'], scales)}: " if several else ""
        slopes = [_slopes(item) for item in items[group] if item["subscale"] == row["subscale"]]
        slopes = [of_item for of_item in slopes if of_item]
        if not row["converged"] or not slopes:
            return f"{scale}undefined (the search found no maximum, or too few answers)"
        of_items = count_text(len(slopes), "item")
        if "a" in items[group][0]:
            steepness = sorted({of_item[0] for of_item in slopes})
            low, high = map(sentences.decimal_text, (steepness[0], steepness[-1]))
            alike = len(slopes) > len(steepness) == 1
            about = f"{of_items} with {f'one a of {low}' if alike else f'a from {low} to {high}'}"
        else:
            in_order = sum(list(of_item) == sorted(of_item) for of_item in slopes)
            about = (
                f"options of {in_order} of {of_items} rise with the trait in the order of scores"
            )
        reliability = sentences.coefficient_text(row["marginal_reliability"])
        return f"{scale}{about}, marginal reliability {reliability}"

    answers = []
    for group, rows in sentences.rows_by_group(sentences.table_of(result, "fit")).items():
        scales = [row["subscale"] for row in rows]
        parts = [part(row, scales, group) for row in rows]
        answers.append(sentences.GroupAnswer(group, sentences.join_parts(parts, "subscales")))
    return tuple(answers)


def _slopes(item: sentences.TableRow) -> tuple[float, ...]:
    """The slope of an item, or those of its options from the lowest up; none where undefined."""
    if "a" in item:
        return (item["a"],) if math.isfinite(item["a"]) else ()
    slopes = [value for name, value in item.items() if re.fullmatch(r"a\d+", name)]
    defined = [slope for slope in slopes if math.isfinite(slope)]
    return (0.0, *defined) if defined else ()


@analysis(
    title="Item response models",
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
        "Bock (1972) doi:10.1007/BF02291411",
        "Masters (1982) doi:10.1007/BF02296272",
        "Muraki (1992) doi:10.1177/014662169201600206",
        "Bock & Aitkin (1981) doi:10.1007/BF02293801",
        "Louis (1982), Journal of the Royal Statistical Society B 44, 226-233",
        "Green, Bock, Humphreys, Linn & Reckase (1984), Journal of Educational Measurement 21, "
        "347-360",
        "Bock & Mislevy (1982) doi:10.1177/014662168200600405",
        "Orlando & Thissen (2000) doi:10.1177/01466216000241003",
        "Kang & Chen (2008) doi:10.1111/j.1745-3984.2008.00071.x",
        "Drasgow, Levine & Williams (1985) doi:10.1111/j.2044-8317.1985.tb00817.x",
        "Snijders (2001) doi:10.1007/BF02294437",
    ),
    keywords=(
        "IRT",
        "item response theory",
        "GRM",
        "Samejima",
        "graded response model",
        "graded response",
        "partial credit",
        "generalized partial credit",
        "GPCM",
        "Rasch",
        "nominal response model",
        "2PL",
        "two-parameter logistic",
        "item fit",
        "S-X2",
        "person fit",
        "lz",
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
    irt_model: IrtModel = "graded",
    compare_models: CompareModels = False,
    person_fit: WithPersons = False,
    adjust: Adjust = "holm",
    limit: Limit = 4.0,
    levels: Levels = 33,
    points: Points = 61,
    steps: Steps = 500,
    seed: Seed = 1,
) -> AnalysisResult:
    """Slopes and thresholds of each item, how precisely each subscale measures, and what fits.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer. Every
        distinct score of an item is one option.
    by : tuple of factors
        A model of its own is fitted to each group and subscale.
    irt_model : "graded", "partial_credit", "generalized_partial_credit" or "nominal"
        The model; see `core.stats.irt.item_response`.
    compare_models : bool
        Fit the other models too, for AIC and BIC.
    person_fit : bool
        Give the trait and lz of each administration.
    limit, levels : float, int
        The information is given at so many levels of the trait from -limit to limit.
    points, steps : int
        Quadrature points, and steps of the search after which it is given up.

    Returns
    -------
    AnalysisResult
        `items`, `item_information` and `item_fit`, one row per group and item; `information`, one
        row per group, subscale and level of the trait; `fit`, one row per group and subscale;
        `models`, one row for each model of these; `person_fit`, one for each administration.

    Raises
    ------
    NotEnoughData
        No subscale of any group has three items with two different scores. If only some have, the
        others are NaN and a note names them.

    Notes
    -----
    The unit of analysis is one administration; each counts with the answers it has (missing at
    random given those), in item fit with all answers. Graded response: P(score of option k or
    more) = 1 / (1 + exp(-a (trait - b_k))). Partial credit: ln P(k) / P(k - 1) = a (trait - s_k).
    Nominal: ln P(k) / P(lowest) = a_k trait + c_k. All by marginal maximum likelihood. Where the
    search found no maximum, `converged` is false, standard errors, AIC, BIC, information,
    reliability and fit are NaN, and parameters are only where it stopped. Options that nobody chose
    are closed up, so b_k lies between the k-th and the next of `options`. Assumes one normal trait
    and answers independent given it. Repeated administrations of one model are not independent;
    standard errors and p are then too small. Agrees with ltm 1.2.0 in R (log-likelihood to 1e-4,
    parameters to 2e-4) and mirt 1.2.0 for Python.
    """
    matrices = with_options(item_scores, score_matrices(item_scores, by))
    findings = Findings()
    fits = [
        _fit_subscale(matrix, findings, irt_model, points, steps)
        for matrix in with_progress(matrices, "scales")
    ]
    modelled = [item for fit in fits if fit for item in fit.items]
    if not modelled:
        raise findings.refusal(
            "No item response model can be fitted.",
            "It needs a subscale with three items that vary over administrations (contexts or "
            "repetitions).",
            by,
        )
    fitted = partial(_fitted, points=points, steps=steps) if compare_models else None
    names = _administration_names(item_scores, by) if person_fit else None
    filled = _ResponseRows(by, irt_model, modelled, np.linspace(-limit, limit, levels))
    for matrix, fit in zip(matrices, fits, strict=True):
        filled.add(matrix, fit, adjust)
        if fitted:
            tables.add_models(filled.models, matrix, fit, partial(fitted, matrix))
        if names is not None and fit:
            of_persons = response_fit.person_fit(fit, seed=seed)
            tables.add_persons(filled.persons, matrix, fit, of_persons, names)
            _note_persons(findings, matrix, of_persons)
    result_tables = filled.tables(models=compare_models, persons=person_fit)
    return score_result(
        item_scores,
        result_tables,
        findings,
        n_used=sum(item.n_answers for item in modelled),
        method=f"{tables.MODEL_NAMES[irt_model]}, logistic metric, by marginal maximum "
        f"likelihood over {points} points of a standard normal trait; standard errors from the "
        "observed information. All answers count (missing at random). Scores are after "
        f"reverse-keying. Item fit by S-X²{adjustment_words(adjust, result_tables)}.",
        matrices=matrices,
        taken_for_granted=_DEPENDENCE,
        called="row",
        later_notes=[_TRAIT_ORIGIN],
    )


class _ResponseRows:
    """The rows of all tables."""

    def __init__(
        self,
        by: Sequence[str],
        model: ModelName,
        items: Sequence[response.ResponseItem],
        trait: Floats,
    ) -> None:
        self._trait = trait
        most = max(len(item.intercepts) for item in items)
        self._items = TableRows(tables.items_spec(model, most), by)
        levels_of_items = tables.item_information_spec(tables.whole_levels(trait))
        self._item_information = TableRows(levels_of_items, by)
        self._information = TableRows(tables.INFORMATION, by)
        self._models_of_scales = TableRows(tables.FIT, by)
        self._item_fit = TableRows(tables.ITEM_FIT, by)
        self.models = TableRows(tables.MODELS, by)
        self.persons = TableRows(tables.PERSON_FIT, by)

    def add(
        self, matrix: ScoreMatrix, fit: response.ItemResponseFit | None, adjust: Adjustment
    ) -> None:
        """The rows of one subscale of a group."""
        tables.add_items(self._items, self._item_information, matrix, fit, self._trait)
        tables.add_information(self._information, matrix, fit, self._trait)
        tables.add_fit(self._models_of_scales, matrix, fit)
        tables.add_item_fit(self._item_fit, matrix, fit, adjust)

    def tables(self, *, models: bool, persons: bool) -> list[ResultTable]:
        """The tables, with those of other models and of persons where they are asked for."""
        filled = [
            self._items,
            self._item_information,
            self._information,
            self._models_of_scales,
            self._item_fit,
        ]
        filled += [self.models] * models + [self.persons] * persons
        return [rows.table() for rows in filled]


def _fit_subscale(
    matrix: ScoreMatrix, findings: Findings, model: ModelName, points: int, steps: int
) -> response.ItemResponseFit | None:
    """The model of one matrix; None where there are too few items that vary."""
    scale = scale_of_group(matrix.group, matrix.subscale)
    try:
        fit = _fitted(matrix, model, points, steps)
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
            "the model did not converge. Standard errors, AIC, BIC, information, reliability and "
            "fit are undefined; parameters of items are where the search stopped, not estimates.",
        )
    return fit


def _fitted(
    matrix: ScoreMatrix, model: ModelName, points: int, steps: int
) -> response.ItemResponseFit:
    return response.item_response(
        matrix.scores,
        matrix.items,
        model=model,
        offered=matrix.options,
        n_points=points,
        max_iterations=steps,
    )


def _note_persons(findings: Findings, matrix: ScoreMatrix, result: response_fit.PersonFit) -> None:
    """How many administrations have unlikely answers, and how many by chance alone."""
    tested = int(np.isfinite(result.p).sum())
    if tested:
        findings.note(
            scale_of_group(matrix.group, matrix.subscale),
            f"{int((result.p < 0.05).sum())} of {count_text(tested, 'administration')} have p of "
            "lz below .05; chance alone gives at most one in twenty.",
        )


def _administration_names(item_scores: pd.DataFrame, by: Sequence[str]) -> dict[int, str]:
    """The levels of each administration, by its id, of the factors that vary."""
    asked = administrations_of(item_scores)
    varying = [
        name
        for name in FACTORS
        if name in asked and name not in (*by, "model") and len(asked[name].unique()) > 1
    ]
    labels = administration_labels(item_scores, varying)
    texts = labels.astype(str).agg(" · ".join, axis=1) if varying else [""] * len(labels)
    return {int(number): str(words) for number, words in zip(labels.index, texts, strict=True)}
