"""Which of several measurement models describes the same answers best?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from core.analysis.factors.cfa.analysis import script_group
from core.analysis.factors.cfa_comparison.models import (
    CI_LEVEL,
    Candidate,
    GroupComparison,
    Models,
    candidate_models,
    compare_group,
    comparison_inputs,
    nesting,
)
from core.analysis.kit import sentences
from core.analysis.kit.factor_models import fit as model_fit
from core.analysis.kit.factor_models.groups import (
    LINE_COLUMNS,
    PreparedGroup,
    choose_estimator,
    missing_rule,
    text_lines,
    with_missing_rule,
)
from core.analysis.kit.factor_models.models import (
    ESTIMATOR_WORDS,
    ORDERED_RULES,
    EstimatorKind,
    FactorEstimator,
    WrittenModel,
)
from core.analysis.kit.matrices import MISSING_COLUMNS, distinct, group_name
from core.analysis.kit.options import By, MissingRows, adjustment_words
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.scripts.factor_models import SyntaxGroup, cfa_files
from core.charts.dots import model_charts
from core.domain.frames import ITEM_SCORES
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.tables import (
    TableRows,
    TableSpec,
    count,
    key,
    p_value,
    remark,
    text,
)
from core.errors import NotEnoughData
from core.progress import with_progress
from core.stats.factor.model import ParameterTable, parameter_table
from core.stats.factor.model_text import parse_model
from core.stats.inputs import name_list

# Tables.


def _fit_spec(estimator: EstimatorKind) -> TableSpec:
    """The fit of each model, and how far it is from the best."""
    return TableSpec(
        "fit",
        "Fit of the models",
        (
            key("factor_model", "Factor model", "As named in the option, or after the bank."),
            count("n", "n", "Administrations; the same for all models of a group."),
            *MISSING_COLUMNS,
            *model_fit.SIZE_COLUMNS,
            *model_fit.fit_columns(estimator),
            *model_fit.difference_columns(
                aic="AIC less the lowest AIC of the group's models "
                "of the same items; 0 for the best. Akaike (1974).",
                bic="BIC less the lowest BIC of the group's models "
                "of the same items; 10 or more is very strong. Raftery (1995).",
            ),
            remark("Why there are no numbers, or what not to compare."),
        ),
        "Fit",
    )


_OTHER_ITEMS = "AIC and BIC are compared with models of the same items and covariates only."
_CHEN = "Chen (2007) doi:10.1080/10705510701301834."
_DIFFERENCES = TableSpec(
    "differences",
    "Differences between models",
    (
        key("restricted", "Restricted model", "The one with more degrees of freedom."),
        key("freer", "Freer model", "The one with more free parameters."),
        *model_fit.difference_columns(
            chi2="What the restrictions cost in χ², scaled under "
            "MLR (Satorra & Bentler 2001) and WLSMV (Satorra 2000).",
            df="How many restrictions there are.",
            p="Of a difference this large if the restrictions hold. Satorra & Bentler (2001).",
        ),
        p_value(
            "p_adjusted",
            "p adjusted",
            "After Holm (1979), over the tests of the group.",
            "chi2_difference",
        ),
        *model_fit.difference_columns(
            cfi=f"Restricted less freer; -.01 or less is much. {_CHEN}",
            tli="Restricted less freer. Tucker & Lewis (1973).",
            rmsea=f"Restricted less freer; .015 or more is much. {_CHEN}",
            srmr="Restricted less freer. Bentler (1995).",
            aic="Restricted less freer; above 0 the freer is preferred. Akaike (1974).",
            bic="Restricted less freer; above 0 the freer is preferred. Schwarz (1978).",
        ),
        model_fit.VERSION,
        text(
            "nested",
            "Nested",
            "Whether the restricted model is a special case of the "
            "freer one: by their parameters, or from theory for models after the bank. Models of "
            "other items or covariates cannot be compared.",
        ),
        remark("Why there is no test, or how to take it."),
    ),
    "Differences",
)
_MODELS = TableSpec(
    "models",
    "Models that were compared",
    (key("factor_model", "Factor model", "As in the other tables."), *LINE_COLUMNS),
    "Syntax",
)


def _comparison_tables(
    groups: Sequence[GroupComparison], by: Sequence[str], estimator: EstimatorKind
) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    fits = TableRows(_fit_spec(estimator), by)
    differences, lines = TableRows(_DIFFERENCES, by), TableRows(_MODELS, by)
    for compared in groups:
        group, usable = compared.matrix.group, [c for c in compared.candidates if c.usable]
        same_items = len({_items(candidate) for candidate in usable}) < 2
        for candidate in compared.candidates:
            fit, model = candidate.fit, candidate.prepared.model
            comparable = [other for other in usable if _items(other) == _items(candidate)]
            fits.add(
                group,
                factor_model=candidate.name,
                **model_fit.size_cells(fit),
                incomplete=compared.incomplete,
                **model_fit.fit_cells(fit, estimator, model.name if model else str),
                aic_difference=_above_lowest(candidate, comparable, "aic"),
                bic_difference=_above_lowest(candidate, comparable, "bic"),
                remark=candidate.remark or ("" if same_items else _OTHER_ITEMS),
            )
            for line, words in text_lines(model) if model else ():
                lines.add(group, factor_model=candidate.name, line=line, text=words)
        for pair in compared.pairs:
            differences.add(
                group,
                restricted=pair.restricted,
                freer=pair.freer,
                **model_fit.difference_cells(pair.indices)
                | {"chi2_difference": pair.chi2, "df_difference": pair.df, "p_difference": pair.p},
                p_adjusted=pair.p_adjusted,
                nested=pair.nested,
                remark=pair.remark,
            )
    return fits.table(), differences.table(), lines.table()


def _above_lowest(candidate: Candidate, comparable: Sequence[Candidate], criterion: str) -> float:
    """How far a criterion is above the lowest of models of the same items; NaN where undefined."""
    if not candidate.usable:
        return math.nan
    return float(
        getattr(candidate.fit, criterion)
        - min(getattr(other.fit, criterion) for other in comparable)
    )


def _items(candidate: Candidate) -> tuple[frozenset[str], frozenset[str]]:
    """The items and covariates of a model that has a fit."""
    return candidate.fit.modeled if candidate.fit else (frozenset(), frozenset())


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


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The model of the lowest BIC in each group, and how far the next is."""

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        ranked = sorted(
            (row["bic_difference"], row["factor_model"])
            for row in rows
            if math.isfinite(row["bic_difference"])
        )
        if not ranked:
            return "The best model is undefined (no model has a BIC)."
        best = next(row for row in rows if row["factor_model"] == ranked[0][1])
        alike = [model for difference, model in ranked if difference < _CLOSE_BIC]
        if len(alike) > 1:
            same = ranked[len(alike) - 1][0] < _SAME_BIC
            how = "the same" if same else f"less than {_CLOSE_BIC} apart"
            first = f"{name_list(alike[:-1], 9)} and {alike[-1]} have the lowest BIC, {how}"
        else:
            first = f"{best['factor_model']} has the lowest BIC"
        others = [
            f"{model} is {sentences.decimal_text(difference, 1)} higher"
            for difference, model in ranked[len(alike) :][:1]
        ]
        fit = f"{model_fit.fit_sentence(best)}{sentences.rule_words(best)}"
        return f"{'; '.join([first, *others])}. {best['factor_model']}: {fit}."

    return sentences.answers_of_groups(sentences.table_of(result, "fit"), sentence)


_CLOSE_BIC = 2
"""A difference of BIC up to which there is hardly any evidence for either model: Raftery (1995),
Sociological Methodology 25, 111-163."""
_SAME_BIC = 0.05
"""Models that fit alike, such as two correlated factors and a second order of two."""


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
    verdict=f"A model fits with {model_fit.FIT_BOUNDS}.",
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
    findings = Findings(notes=[*inputs.notes])
    groups = [
        compare_group(matrix, inputs, how, findings)
        for matrix in with_progress(inputs.matrices, "groups")
    ]
    candidates = [candidate for compared in groups for candidate in compared.candidates]
    if not any(candidate.usable for candidate in candidates):
        remarks = dict.fromkeys(candidate.remark for candidate in candidates if candidate.remark)
        raise Findings(findings.cautions, [*findings.notes, *remarks]).refusal(
            "No factor model can be fitted.",
            "It needs more administrations (contexts or repetitions) than items, items that vary "
            "over them, and three or more for each factor.",
            distinct(by),
        )
    tables = _comparison_tables(groups, distinct(by), how)
    adjusted = adjustment_words("holm", tables)
    corrected = "" if how in ("ml", "ml_fiml") else " corrected"
    return score_result(
        item_scores,
        tables,
        findings,
        n_used=sum(compared.n_used for compared in groups),
        method="Confirmatory factor analyses of the same administrations. "
        f"{ESTIMATOR_WORDS[how]}. Differences of χ²{corrected}"
        f"{adjusted}{' within each group' if adjusted else ''}. "
        "Scores are after reverse-keying.",
        matrices=inputs.matrices,
        called="row",
        later_notes=(*why, *why_all),
    )
