"""Do the items measure what the bank says they measure?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from core.analysis.factors.cfa.tables import cfa_tables
from core.analysis.kit import sentences
from core.analysis.kit.factor_models import fit as model_fit
from core.analysis.kit.factor_models.groups import (
    FittedGroup,
    PreparedGroup,
    choose_estimator,
    fit_model,
    missing_rule,
    prepare_groups,
)
from core.analysis.kit.factor_models.models import (
    ESTIMATOR_WORDS,
    MODELS,
    ORDERED_RULES,
    EstimatorKind,
    FactorEstimator,
    FactorModel,
    ModelNames,
    ModelText,
    WrittenModel,
)
from core.analysis.kit.matrices import (
    COSTLY_SHARE,
    distinct,
    incomplete_administrations,
)
from core.analysis.kit.options import By, ConfidenceLevel, MissingRows
from core.analysis.kit.registry import Switch, analysis
from core.analysis.kit.results import Findings, score_result
from core.analysis.kit.scripts.factor_models import SyntaxGroup, cfa_files
from core.charts.dots import loading_charts
from core.charts.panels import Chart, Theme
from core.charts.path_diagram import path_diagrams
from core.domain.frames import ITEM_SCORES
from core.domain.notes import kind_of
from core.domain.numbers import percent_text
from core.domain.results import AnalysisResult, TextFile
from core.domain.wide_scores import ItemScores
from core.errors import NotEnoughData, TooLarge, UserError
from core.progress import with_progress
from core.stats.validation import FEWEST_ROWS

# Scripts for other software.


def cfa_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    model_text: ModelText = "",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> tuple[TextFile, ...]:
    """Scripts for lavaan and semopy, and their data, with the models that `cfa` fits.

    Parameters
    ----------
    item_scores, by, model, model_text, estimator, missing, ci_level
        As in `cfa`.

    Returns
    -------
    tuple of TextFile
        Of every group that has a model, whether or not it can be fitted.

    Raises
    ------
    NotEnoughData
        No group has a model.
    ModelTextError
        The model text cannot be read.
    """
    chosen, _ = choose_estimator(estimator, item_scores, model_text)
    prepared = prepare_groups(item_scores, distinct(by), model, model_text, chosen, missing)
    groups = [
        script_group(group.name, group, group.model, prepared.names)
        for group in prepared.groups
        if group.model is not None
    ]
    if not groups:
        raise NotEnoughData(
            "No group has items for this model, so there is nothing to write.",
            "Choose another model, or ask more items.",
        )
    return cfa_files(groups, estimator=prepared.estimator, ci_level=ci_level)


def script_group(
    name: str, group: PreparedGroup, model: WrittenModel, names: ModelNames, answers: str = ""
) -> SyntaxGroup:
    """One group as the writers take it."""
    return SyntaxGroup(
        name=name,
        scores=group.scores,
        items=model.items,
        model=model.text,
        dropped=group.dropped,
        titles=changed_names(names.shown, names.items),
        answers=answers,
    )


def changed_names(shown: Mapping[str, str], items: Mapping[str, str]) -> dict[str, str]:
    """Names in a model text to those that users know, where the two differ.

    `shown` has all of them, `items` the text's name of each item. A factor with the name of an item
    keeps the text's.
    """
    return {
        safe: real for safe, real in shown.items() if safe != real and items.get(real, safe) == safe
    }


_WEIGHTED = (
    "Under WLSMV read the scaled χ² and the scaled indices: the plain ones have no known "
    "distribution."
)

TWO_SUBSCALES = (
    "A second-order factor above two subscales is not identified by itself: both raw loadings are "
    "held at 1, so its part in the subscales only restates their correlation."
)


def _cfa_charts(
    result: AnalysisResult,
    theme: Theme,
    *,
    significant_only: Annotated[
        bool, Switch("Draw only loadings with p < .05", help="The tables keep all of them.")
    ] = False,
) -> tuple[Chart, ...]:
    """The path diagram of each group and the loadings on each factor.

    `significant_only` leaves loadings with p of .05 or more out of path diagrams; fixed ones, which
    have no p, stay.
    """
    diagrams = path_diagrams(result, theme, significant_only=significant_only)
    loadings = (replace(chart, tab="Loadings") for chart in loading_charts(result, theme))
    return (*diagrams, *loadings)


_GIVEN = (
    " Means, variances and covariances of covariates are those of the answers: no parameters, and "
    "no part of the degrees of freedom and of the likelihood (fixed.x of lavaan)."
)
_ENOUGH_FOR_REGRESSIONS = 100
_SHORT_INTERVALS = (
    f"with fewer than {_ENOUGH_FOR_REGRESSIONS} administrations the intervals of regressions are "
    "a little too short (of 30 and 60 they covered 91 to 95% in simulated studies, "
    "instead of 95%), and their p too small."
)


_NUMBER_WORDS = ("One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
_MODEL_NAMES: Mapping[str, str] = {
    "method": "Model with a method factor",
    "bifactor": "Bifactor model",
    "second_order": "Second-order model",
}
_TYPED = "typed"


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Fit of the model in each group, whether it is acceptable, and what its regressions say."""
    loadings, regressions = (
        sentences.rows_by_group(sentences.table_of(result, name))
        if any(table.name == name for table in result.tables)
        else {}
        for name in ("loadings", "regressions")
    )

    def sentence(group: str, row: sentences.TableRow) -> str:
        n_factors = len({row["factor"] for row in loadings.get(group, [])})
        model = _model_name(result.choices.get("model", ""), n_factors)
        fit = f"{model}, {group}: {model_fit.fit_sentence(row)}{sentences.rule_words(row)}."
        return f"{fit}{_regression_sentence(regressions.get(group, []))}"

    return tuple(
        sentences.NamedGroupAnswer(group, sentence(group, row), model_fit.fit_light(row))
        for group, (row,) in sentences.rows_by_group(sentences.table_of(result, "fit")).items()
    )


def _regression_sentence(rows: Sequence[sentences.TableRow]) -> str:
    """The standardized regressions; a direction is named where the interval leaves 0 out."""
    directions = {1: "rises with", -1: "falls with", 0: "shows no clear relation to"}
    parts = []
    for row in rows:
        low, high = row["standardized_low"], row["standardized_high"]
        size = sentences.coefficient_text(row["standardized"])
        regression = f"the coefficient of {row['predictor']} for {row['outcome']}"
        if row["se"] == 0:
            parts.append(f"{regression} is held at {sentences.decimal_text(row['estimate'])}")
        elif math.isnan(row["standardized"]):
            parts.append(f"{regression} is undefined")
        elif math.isnan(low) or math.isnan(high):
            parts.append(f"{regression} ({size}) has no defined interval")
        else:
            side = directions[sentences.side_of_interval(low, high)]
            interval = sentences.interval_text(low, high)
            parts.append(f"{row['outcome']} {side} {row['predictor']} ({size}{interval})")
    if not parts:
        return ""
    return f" Standardized regressions: {sentences.join_parts(parts, 'regressions')}"


def _model_name(model: str, n_factors: int) -> str:
    """The name of a chosen or typed model of so many factors."""
    if model in _MODEL_NAMES:
        return _MODEL_NAMES[model]
    number = _NUMBER_WORDS[n_factors - 1] if 1 <= n_factors <= 10 else str(n_factors)
    name = f"{number}-factor model"
    return f"Edited {name[:1].lower()}{name[1:]}" if model == _TYPED else name


@analysis(
    title="Confirmatory factor analysis",
    question="Do the items measure what the bank says they measure?",
    topic="factors",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    in_reports=True,
    answer=_answer,
    charts=_cfa_charts,
    references=(
        "Jöreskog (1969) doi:10.1007/BF02289343",
        "Yuan & Bentler (2000) doi:10.1111/0081-1750.00078",
        "Rosseel (2012) doi:10.18637/jss.v048.i02",
        "Sörbom (1989) doi:10.1007/BF02294623",
        "Muthén, du Toit & Spisic (1997), Robust inference using weighted least squares",
        "Asparouhov & Muthén (2010), Simple second order chi-square correction",
        "Savalei (2021) doi:10.1080/00273171.2020.1717922",
        "Yuan, Tian & Yanagihara (2015) doi:10.1007/s11336-013-9386-5",
        "Mardia (1970) doi:10.1093/biomet/57.3.519",
        "Mardia (1974), Sankhya B 36, 115-128",
        "Rhemtulla, Brosseau-Liard & Savalei (2012) doi:10.1037/a0029315",
        "Hu & Bentler (1999) doi:10.1080/10705519909540118",
        "Xia & Yang (2019) doi:10.3758/s13428-018-1055-2",
    ),
    scripts=cfa_scripts,
    keywords=(
        "CFA",
        "confirmatory",
        "factor analysis",
        "factors",
        "measurement model",
        "structural equation model",
        "SEM",
        "lavaan",
        "fit",
        "CFI",
        "TLI",
        "RMSEA",
        "SRMR",
        "chi-square",
        "loadings",
        "path diagram",
        "residuals",
        "modification indices",
        "normality",
        "Mardia",
        "WLSMV",
        "FIML",
        "MLR",
        "factorial validity",
        "structure",
        "missing answers in a model",
        "model fit",
        "move an item",
        "regression among factors",
        "structural model",
        "MIMIC",
        "covariate",
        "mediation",
        "indirect effect",
    ),
    verdict="Green: the model fits. Red: it does not. Grey: its fit is undefined or of fewer than "
    f"{FEWEST_ROWS} rows, it has impossible estimates, or an item runs against its factor. A model "
    f"fits with {model_fit.FIT_BOUNDS}.",
    requires="scores",
)
def cfa(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    model_text: ModelText = "",
    estimator: FactorEstimator = "automatic",
    missing: MissingRows = "automatic",
    ci_level: ConfidenceLevel = 0.95,
) -> AnalysisResult:
    """Fit, loadings and misfit of the bank's own structure, or of a model typed in, in each group.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    model : str
        What the items of each group measure, with all subscales.
    model_text : str
        A model in the notation of lavaan that takes the place of `model`; empty for none. Items
        whose codes a text cannot hold are called as in `proposed_text`; items that the
        text does not name are left out and named.
    estimator : "automatic", "ml", "mlr", "fiml" or "wlsmv"
        Chosen by the number of options, as a note says (see `choose_estimator`). Or maximum
        likelihood, the same with corrected tests and errors, the latter with full information
        whatever `missing` is, or weighted least squares of polychoric correlations for ordered
        answers.
    missing : "automatic", "listwise" or "available"
        Complete administrations, or all by full information (WLSMV: pairwise).
    ci_level : float in (0, 1)
        Not of the interval of RMSEA, which covers 90 %.

    Returns
    -------
    AnalysisResult
        `fit`, one row per group; `loadings`, one per group, factor and item; where the model has
        them `regressions`, one per group, outcome and predictor, `outcomes`, what these explain,
        and `defined`, values of labels; `factor_correlations`; `residual_covariances`, those free;
        `item_variances`; `residuals`, the 10 largest residual correlations of each group;
        `modification_indices`, the 15 largest of each group; under WLSMV `thresholds`; `normality`
        of the items together; `model`, the text that was fitted, line by line.

    Raises
    ------
    NotEnoughData
        No group can be fitted. If only some cannot, their rows are NaN and a note says why. Or
        WLSMV is asked for, and scores are averages or continuous.
    TooLarge
        So many items that the tests would take too much memory.
    ModelTextError
        The model text cannot be read, or names an item that there is not.

    Notes
    -----
    The unit of analysis is one administration. But for WLSMV scores are taken as continuous, which
    suits five or more options; WLSMV suits fewer. Items of zero variance are left out and named; a
    typed model whose factor thereby loses all items is not fitted. A negative variance or a search
    without maximum is reported in a note, never mended. Where the search found no maximum, the
    numbers are NaN. Repeated administrations of one model are not independent: standard errors are
    then too small, and chi-square too large. Means and covariances of covariates are taken as they
    are in the answers and count neither as parameters nor in the degrees of freedom (fixed.x of
    lavaan). Agrees with lavaan 0.6-19 (fit to 1e-5, loadings to 1e-4).
    """
    names = distinct(by)
    chosen, why = choose_estimator(estimator, item_scores, model_text)
    prepared = prepare_groups(item_scores, names, model, model_text, chosen, missing)
    how = prepared.estimator
    findings = Findings(notes=[*prepared.notes])
    fits = [
        fit_group(group, how, ci_level, findings)
        for group in with_progress(prepared.groups, "groups")
    ]
    if not any(fitted.usable for fitted in fits):
        raise findings.refusal(
            "No factor model can be fitted.",
            "It needs more administrations (contexts or repetitions) than items, items that vary "
            "over them, and three or more for each factor.",
            names,
        )
    _add_cautions(findings, fits, prepared.groups, how)
    covariates = any(fitted.fit and fitted.fit.table.covariates for fitted in fits)
    given = _GIVEN if covariates else ""
    asked = _TYPED if model_text.strip() else model
    model_title = {**dict(MODELS), _TYPED: "The model of the text"}[asked]
    result = score_result(
        item_scores,
        cfa_tables(fits, names, ci_level, how),
        findings,
        n_used=sum(fitted.prepared.n_scores(missing_rule(how)) for fitted in fits if fitted.fit),
        method=f"Confirmatory factor analysis. {model_title}. {ESTIMATOR_WORDS[how]}. Unless the "
        "model says otherwise, the first loading of a factor is 1; bifactor and method factors "
        f"have variance 1. Scores are after reverse-keying.{given}",
        matrices=prepared.matrices,
        called="row",
        later_notes=(*why, *((_WEIGHTED,) if how in ORDERED_RULES else ())),
    )
    return replace(result, choices={"model": asked})


def _add_cautions(
    findings: Findings,
    fits: Sequence[FittedGroup],
    groups: Sequence[PreparedGroup],
    how: EstimatorKind,
) -> None:
    """Few rows for regressions, answers lost with gaps, and a general factor of two subscales."""
    for fitted in fits:
        fit = fitted.usable[0] if fitted.usable else None
        if fit and fit.n < _ENOUGH_FOR_REGRESSIONS and fit.has_regressions:
            findings.caution(fitted.prepared.name, _SHORT_INTERVALS)
    modeled = [group for group in groups if group.model]
    counts = [incomplete_administrations(group.explained_scores) for group in modeled]
    n, lost = (sum(of_groups) for of_groups in zip(*counts, strict=True))
    if missing_rule(how) == "listwise" and lost > COSTLY_SHARE * n:
        findings.cautions.append(
            f"Gaps in the answers cost {percent_text(lost / n)} of the administrations. All "
            "answers there are, which is an option, keep them."
        )
    if any(
        group.kind == "second_order" and len({factor for factor, _ in group.loads}) == 2
        for group in modeled
    ):
        findings.cautions.append(TWO_SUBSCALES)


def fit_group(
    group: PreparedGroup, estimator: EstimatorKind, ci_level: float, findings: Findings
) -> FittedGroup:
    """The model of one group fitted to its answers, with what is to be said of it.

    Raises
    ------
    TooLarge
        So many items that the tests would take too much memory.
    """
    for sentence in group.left_out:
        findings.note(group.name, sentence)
    if group.model is None:
        findings.caution(group.name, f"not fitted. {group.reason}")
        return FittedGroup(group, None)
    try:
        fit = fit_model(group.scores, group.model, estimator, ci_level, group.offered)
    except TooLarge:
        raise
    except UserError as error:
        findings.caution(group.name, f"not fitted. {group.model.sentence(error.problem)}")
        return FittedGroup(group, None)
    for problem in fit.problems:
        if kind_of(problem) == "unit changed":
            findings.note(group.name, problem)
        else:
            findings.caution(group.name, group.model.sentence(problem))
    return FittedGroup(group, fit)
