"""Which of several measurement models describes the same answers best?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from core.analysis.factors.cfa.analysis import script_group
from core.analysis.factors.cfa_comparison.models import (
    CI_LEVEL,
    Candidate,
    GroupComparison,
    Models,
    PairComparison,
    candidate_models,
    compare_group,
    comparison_inputs,
    nesting,
)
from core.analysis.shared.factor_models.fit import FIT_BOUNDS, fit_cells, fit_columns, fit_sentence
from core.analysis.shared.factor_models.groups import (
    LINE_COLUMNS,
    PreparedGroup,
    choose_estimator,
    missing_rule,
    text_lines,
    with_missing_rule,
)
from core.analysis.shared.factor_models.models import (
    ESTIMATOR_WORDS,
    ORDERED_RULES,
    EstimatorKind,
    FactorEstimator,
    WrittenModel,
)
from core.analysis.shared.matrices import (
    INDEPENDENCE,
    MISSING_COLUMNS,
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    group_name,
    result_table,
)
from core.analysis.shared.options import By, MissingRows, adjustment_words
from core.analysis.shared.progress import with_progress
from core.analysis.shared.registry import analysis
from core.analysis.shared.rows import analysis_unit, row_cautions, row_notes
from core.analysis.shared.scripts.factor_models import SyntaxGroup, cfa_files
from core.analysis.shared.sentences import (
    GroupAnswers,
    TableRow,
    answers_by_group,
    decimal_text,
    rule_words,
    table_of,
)
from core.charts.dots import model_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.errors import NotEnoughData
from core.stats.factor.model import ParameterTable, parameter_table
from core.stats.factor.model_text import parse_model
from core.stats.inputs import name_list

# Tables.

Row = tuple[Any, ...]
_CHEN = "Chen (2007) doi:10.1080/10705510701301834."
_OTHER_ITEMS_REMARK = "AIC and BIC are compared with models of the same items only."


def _comparison_tables(
    groups: Sequence[GroupComparison], group: Sequence[Column], estimator: EstimatorKind
) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    return (
        _fit_table(groups, group, estimator),
        _differences_table(groups, group),
        _models_table(groups, group),
    )


def _fit_table(
    groups: Sequence[GroupComparison], group: Sequence[Column], estimator: EstimatorKind
) -> ResultTable:
    columns = (
        *group,
        Column("model", "Model", help="As named in the option, or after the bank."),
        Column("n", "n", "count", "Administrations; the same for all models of a group."),
        *MISSING_COLUMNS,
        Column("n_items", "Items", "count", "Items in the model; constant ones are left out."),
        Column("n_parameters", "Parameters", "count", "Free parameters."),
        *fit_columns(estimator),
        Column(
            "aic_difference",
            "ΔAIC",
            "points",
            "AIC less the lowest AIC of the group's models "
            "of the same items; 0 for the best. Akaike (1974).",
        ),
        Column(
            "bic_difference",
            "ΔBIC",
            "points",
            "BIC less the lowest BIC of the group's models "
            "of the same items; 10 or more is very strong. Raftery (1995).",
        ),
        Column("remark", "Remark", help="Why there are no numbers, or what not to compare."),
    )
    rows: list[Row] = []
    for one in groups:
        for model in one.candidates:
            fit = model.fit
            counts: Row = (0, one.incomplete, "", 0, 0)
            if fit:
                counts = (fit.n, one.incomplete, fit.missing, len(fit.items), fit.n_free)
            distances = (
                _distance_from_best(model, one, "aic"),
                _distance_from_best(model, one, "bic"),
            )
            remark = model.remark or ("" if _same_items(one) else _OTHER_ITEMS_REMARK)
            written = model.prepared.model
            cells = _ordered(fit_cells(fit, estimator, written.name if written else str), estimator)
            rows.append((*one.matrix.group, model.name, *counts, *cells, *distances, remark))
    return result_table("fit", "Fit of the models", rows, columns)


def _ordered(cells: dict[str, Any], estimator: EstimatorKind) -> Row:
    return tuple(cells[column.name] for column in fit_columns(estimator))


def _same_items(one: GroupComparison) -> bool:
    """Whether all models of a group that have estimates are about the same items."""
    return len({frozenset(m.usable[0].items) for m in one.candidates if m.usable}) < 2


def _distance_from_best(model: Candidate, one: GroupComparison, criterion: str) -> float:
    """How far a criterion is above the lowest of models of the same items; NaN where unknown."""
    if not model.usable:
        return math.nan
    fit = model.usable[0]
    values = [
        getattr(other.usable[0], criterion)
        for other in one.candidates
        if other.usable and set(other.usable[0].items) == set(fit.items)
    ]
    return float(getattr(fit, criterion) - min(values))


def _differences_table(groups: Sequence[GroupComparison], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("restricted", "Restricted model", help="The one with more degrees of freedom."),
        Column("freer", "Freer model", help="The one with more free parameters."),
        Column(
            "chi2_difference",
            "Δχ²",
            "points",
            "What the restrictions cost in χ², scaled under "
            "MLR (Satorra & Bentler 2001) and WLSMV (Satorra 2000).",
        ),
        Column("df_difference", "Δdf", "count", "How many restrictions there are."),
        Column(
            "p_difference",
            "p of Δχ²",
            "p",
            "Of a difference this large if the restrictions hold. Satorra & Bentler (2001).",
        ),
        Column("p_adjusted", "p adjusted", "p", "After Holm (1979), over the tests of the group."),
        Column(
            "cfi_difference",
            "ΔCFI",
            "correlation",
            f"Restricted less freer; -.01 or less is much. {_CHEN}",
            (-0.01,),
        ),
        Column(
            "tli_difference", "ΔTLI", "correlation", "Restricted less freer. Tucker & Lewis (1973)."
        ),
        Column(
            "rmsea_difference",
            "ΔRMSEA",
            "correlation",
            f"Restricted less freer; .015 or more is much. {_CHEN}",
            (0.015,),
        ),
        Column("srmr_difference", "ΔSRMR", "correlation", "Restricted less freer. Bentler (1995)."),
        Column(
            "aic_difference",
            "ΔAIC",
            "points",
            "Restricted less freer; above 0 the freer is preferred. Akaike (1974).",
        ),
        Column(
            "bic_difference",
            "ΔBIC",
            "points",
            "Restricted less freer; above 0 the freer is preferred. Schwarz (1978).",
        ),
        Column("version", "Indices", help="Version of the CFI, TLI and RMSEA that are compared."),
        Column(
            "nested",
            "Nested",
            help="Whether the restricted model is a special case of the "
            "freer one: by their parameters, or from theory for models after the bank.",
        ),
        Column("remark", "Remark", help="Why there is no test, or how to take it."),
    )
    rows = [
        (*one.matrix.group, pair.restricted, pair.freer, *_cells(pair))
        for one in groups
        for pair in one.pairs
    ]
    return result_table("differences", "Differences between models", rows, columns)


def _cells(pair: PairComparison) -> Row:
    """The numbers of one pair."""
    tests = (pair.chi2, pair.df, pair.p, pair.p_adjusted)
    d = pair.indices
    indices: Row = (*(math.nan,) * 6, "")
    if d is not None:
        indices = (d.cfi, d.tli, d.rmsea, d.srmr, d.aic, d.bic, d.version)
    return (*tests, *indices, pair.nested, pair.remark)


def _models_table(groups: Sequence[GroupComparison], group: Sequence[Column]) -> ResultTable:
    columns = (*group, Column("model", "Model", help="As in the other tables."), *LINE_COLUMNS)
    rows = [
        (*one.matrix.group, candidate.name, *line)
        for one in groups
        for candidate in one.candidates
        if candidate.prepared.model
        for line in text_lines(candidate.prepared.model)
    ]
    return result_table("models", "Models that were compared", rows, columns)


# Scripts for other software.


def cfa_comparison_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    models: Models = "",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
) -> tuple[TextFile, ...]:
    """Scripts for lavaan and semopy, and their data, with the models that are compared.

    Parameters
    ----------
    item_scores, by, models, estimator, missing
        As in `cfa_comparison`.

    Returns
    -------
    tuple of TextFile
        As of `cfa_files`, every model of every group; `cfa.R` also tests the differences of the
        pairs of which the first model is known to be a special case of the second.

    Raises
    ------
    NotEnoughData
        No group has a model.
    ModelTextError
        The models cannot be read.
    """
    chosen, _ = choose_estimator(estimator, item_scores)
    inputs = comparison_inputs(item_scores, by, models)
    how, _ = with_missing_rule(chosen, missing, inputs.named_scores)
    groups: list[SyntaxGroup] = []
    pairs: list[tuple[int, int]] = []
    for matrix in inputs.matrices:
        candidates, where = candidate_models(matrix, inputs, how), group_name(matrix.group)
        known = [
            (n, one, one.model) for n, one in candidates.prepared.items() if one.model is not None
        ]
        pairs += [
            (len(groups) + one, len(groups) + other)
            for one, other in _nested_pairs([(one, model) for _, one, model in known], how)
        ]
        groups += [
            script_group(f"{where}, {name}", one, model, inputs.names, answers=where)
            for name, one, model in known
        ]
    if not groups:
        raise NotEnoughData(
            "No group has items for these models, so there is nothing to write.",
            "Choose other models, or ask more items.",
        )
    return cfa_files(
        groups,
        estimator=how,
        ci_level=CI_LEVEL,
        title="Comparison of factor models",
        pairs=pairs,
    )


def _nested_pairs(
    known: Sequence[tuple[PreparedGroup, WrittenModel]], estimator: EstimatorKind
) -> list[tuple[int, int]]:
    """Places of the pairs that are tested, the model with fewer parameters first."""
    tables = [_table(model, estimator) for _, model in known]
    pairs = []
    for one, other in combinations(range(len(known)), 2):
        first, second = sorted((one, other), key=lambda k: tables[k].n_free)
        (restricted, small), (freer, large) = known[first], known[second]
        if tables[first].n_free == tables[second].n_free or set(small.items) != set(large.items):
            continue
        if nesting((restricted, tables[first]), (freer, tables[second]))[0]:
            pairs.append((first, second))
    return pairs


def _table(model: WrittenModel, estimator: EstimatorKind) -> ParameterTable:
    """The parameters of a model, as they are fitted."""
    parsed = parse_model(model.text, items=model.items)
    means = missing_rule(estimator) == "fiml"
    return parameter_table(parsed, means=means, ordered=estimator in ORDERED_RULES)


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
        alike = [model for difference, model in ranked if difference < _CLOSE_BIC]
        if len(alike) > 1:
            same = ranked[len(alike) - 1][0] < _SAME_BIC
            how = "the same" if same else f"less than {_CLOSE_BIC} apart"
            first = f"{name_list(alike[:-1], 9)} and {alike[-1]} have the lowest BIC, {how}"
        else:
            first = f"{best['model']} has the lowest BIC"
        others = [
            f"{model} is {decimal_text(difference, 1)} higher"
            for difference, model in ranked[len(alike) :][:1]
        ]
        fit = f"{fit_sentence(best)}{rule_words(best)}"
        return f"{'; '.join([first, *others])}. {best['model']}: {fit}."

    return answers_by_group(table_of(result, "fit"), "model", sentence)


_CLOSE_BIC = 2
"""A difference of BIC up to which there is hardly any evidence for either model: Raftery (1995),
Sociological Methodology 25, 111-163."""
_SAME_BIC = 0.05
"""Models that fit alike, such as two correlated factors and a second order of two."""
_TABS = {"fit": "Fit", "differences": "Differences", "models": "Syntax"}


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
    keywords=(
        "CFA",
        "model comparison",
        "nested models",
        "chi-square difference",
        "AIC",
        "BIC",
        "CFI",
        "RMSEA",
        "bifactor",
        "second-order",
        "method factor",
        "general factor",
    ),
    verdict=f"A model fits with {FIT_BOUNDS}.",
    requires="scores",
)
def cfa_comparison(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    models: Models = "",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
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
    estimator, missing : str
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
    administrations: those complete on all items that any of them uses (full information and
    pairwise: all).
    A pair is tested only where the first is known to be a special case of the second: from their
    parameters, or, for models that follow from the bank, from theory. The difference of χ² is
    scaled after Satorra and Bentler (2001) under MLR and full information, after Satorra (2000)
    under WLSMV; p is adjusted after Holm over the tests of a group. Items of zero variance are
    left out and named. Repeated administrations of one model are not independent; p is then too
    small.
    """
    chosen, why = choose_estimator(estimator, item_scores)
    inputs = comparison_inputs(item_scores, by, models)
    how, why_all = with_missing_rule(chosen, missing, inputs.named_scores)
    groups = [
        compare_group(matrix, inputs, how) for matrix in with_progress(inputs.matrices, "groups")
    ]
    notes = [*inputs.notes, *(note for one in groups for note in one.notes)]
    cautions = [caution for one in groups for caution in one.cautions]
    if not any(model.usable for one in groups for model in one.candidates):
        reasons = [c.remark for one in groups for c in one.candidates if c.remark]
        why_not = [*cautions, *notes, *dict.fromkeys(reasons)]
        raise NotEnoughData(
            f"No factor model can be fitted. {' '.join(why_not[:3])}",
            "It needs more administrations (contexts or repetitions) than items, items that vary "
            "over them, and three or more for each factor.",
        )
    n_used = sum(one.n_used for one in groups)
    made = _comparison_tables(groups, by_columns(distinct(by)), how)
    adjusted = adjustment_words("holm", made)
    corrected = "" if how in ("ml", "ml_fiml") else " corrected"
    return AnalysisResult(
        tables=with_tabs(made, _TABS),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in inputs.matrices),
        method="Confirmatory factor analyses of the same administrations. "
        f"{ESTIMATOR_WORDS[how]}. Differences of χ²{corrected}"
        f"{adjusted}{' within each group' if adjusted else ''}. "
        "Scores are after reverse-keying.",
        cautions=(
            *data_cautions(item_scores, inputs.matrices),
            *cautions,
            *row_cautions(item_scores, *INDEPENDENCE),
        ),
        notes=(
            *data_notes(item_scores),
            *notes,
            *why,
            *why_all,
            *row_notes(item_scores, *INDEPENDENCE),
        ),
        n_left_out=sum(matrix.n_used for matrix in inputs.matrices) - n_used,
    )
