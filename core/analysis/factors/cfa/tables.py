"""The tables of confirmatory factor analysis: fit, estimates, residuals, modification indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from core.analysis.kit.factor_models import fit as model_fit
from core.analysis.kit.factor_models.groups import (
    LINE_COLUMNS,
    FittedGroup,
    normality_table,
    text_lines,
)
from core.analysis.kit.factor_models.models import (
    ORDERED_RULES,
    EstimatorKind,
    WrittenModel,
)
from core.analysis.kit.matrices import MISSING_COLUMNS, incomplete_administrations
from core.domain.results import Column, ResultTable, Unit
from core.domain.tables import (
    LEVEL,
    TableRows,
    TableSpec,
    count,
    ends,
    key,
    number,
    p_value,
    point_estimate,
    remark,
)
from core.stats.factor.model import COVARIANCE, DEFINED, LOADING, REGRESSION
from core.stats.factor.model_text import parse_model
from core.stats.factor.result import (
    CfaResult,
    ParameterEstimate,
    correlations_of_covariance,
)
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.inputs import Floats, name_list


def _ends(name: str, title: str, unit: Unit, what: str, of: str) -> tuple[Column, Column]:
    """The ends of an interval that reaches as far down as up, but with few rows."""
    low, high = ends(name, title, unit, "", of=of)
    few = (
        "with fewer than 100 rows by t, and of correlations and standardized loadings by Fisher's "
        "z, which ends at 1; in score points there is none below 20 rows."
    )
    return (
        replace(low, help=f"{what} - z SE; {few}"),
        replace(high, help=f"{what} + z SE; {few}"),
    )


def _errors_of_standardized(unit: Unit, what: str, source: str = "") -> tuple[Column, ...]:
    """The standard error of a standardized estimate and the ends of its interval."""
    return (
        number("standardized_se", "SE of standardized", unit, f"By the delta method{source}."),
        *_ends("standardized", f"Standardized {LEVEL}", unit, what, "standardized"),
    )


_FACTOR_PAIR = (
    key("factor_1", "Factor", "As in the model."),
    key("factor_2", "Other factor", "As in the model."),
)
_ITEM = key("item", "Item", "As named in the bank.")
_ITEM_PAIR = (
    key("item_1", "Item", "As named in the bank; or a factor that is explained."),
    key("item_2", "Other item", "As named in the bank; or a factor that is explained."),
)
_LOADINGS = TableSpec(
    "loadings",
    "Loadings",
    (
        key("factor", "Factor", "As in the model, which the last table shows."),
        key("item", "Item", "Or the factor that a general factor stands behind."),
        point_estimate(
            "estimate",
            "Loading",
            "points",
            "In score points; 1 where it sets the unit of the factor. Jöreskog (1969).",
        ),
        number("se", "SE", "points", "Standard error; 0 where fixed. By sandwich under MLR."),
        number("z", "z", "points", "Loading / SE."),
        p_value("p", "p", "Two-sided, by the normal distribution, of a loading of 0.", "estimate"),
        *_ends("ci", LEVEL, "points", "Loading", "estimate"),
        point_estimate(
            "standardized",
            "Standardized",
            "correlation",
            "With factor and item of variance "
            "1; its square is a share of variance if the item has one factor.",
        ),
        *_errors_of_standardized("correlation", "Standardized loading", "; Rosseel (2012)"),
    ),
    "Loadings",
)
_CORRELATIONS = TableSpec(
    "factor_correlations",
    "Correlations of factors",
    (
        *_FACTOR_PAIR,
        point_estimate(
            "correlation",
            "Correlation",
            "correlation",
            "Free of the error of the items. "
            "Fixed at 0 in bifactor models and with method factors.",
        ),
        number(
            "se",
            "SE",
            "correlation",
            "By the delta method; none where the correlation is "
            "fixed or follows from other parameters.",
        ),
        p_value("p", "p", "Two-sided, of a correlation of 0.", "correlation"),
        *_ends("ci", LEVEL, "correlation", "Correlation", "correlation"),
    ),
    "Loadings",
)
_REGRESSIONS = TableSpec(
    "regressions",
    "Regressions",
    (
        key("outcome", "Outcome", "A factor, or an item, that is explained."),
        key("predictor", "Predictor", "What explains it, with the other predictors held."),
        point_estimate(
            "estimate",
            "Coefficient",
            "points",
            "Change of the outcome for one unit of the predictor; the unit of a factor is that of "
            "its first item. Bollen (1989).",
        ),
        number("se", "SE", "points", "Standard error; by sandwich under MLR and WLSMV."),
        number("z", "z", "points", "Coefficient / SE."),
        p_value("p", "p", "Two-sided, of a coefficient of 0.", "estimate"),
        *_ends("ci", LEVEL, "points", "Coefficient", "estimate"),
        point_estimate(
            "standardized",
            "Standardized",
            "correlation",
            "With outcome and predictor of variance 1 (std.all of lavaan). Of a predictor of two "
            "values it depends on their shares.",
        ),
        *_errors_of_standardized("correlation", "Standardized coefficient"),
        number(
            "per_unit",
            "Per unit",
            "points",
            "Change of the outcome, in its standard deviations, for one unit of an observed "
            "predictor (std.nox of lavaan); of 0 and 1 the standardized difference of two groups.",
        ),
    ),
    "Loadings",
)
_OUTCOMES = TableSpec(
    "outcomes",
    "What explains the outcomes",
    (
        key("outcome", "Outcome", "As in the table of regressions."),
        number(
            "r_squared",
            "R²",
            "proportion",
            "Share of the variance of the outcome that its predictors and the factors it measures "
            "explain together: 1 - residual variance / variance; of a factor free of the error of "
            "its items. Bollen (1989).",
        ),
        remark("The factors it measures, which explain a part of it beside the predictors."),
    ),
    "Loadings",
)
_DEFINED = TableSpec(
    "defined",
    "Defined values",
    (
        key("name", "Name", "As the model text calls it."),
        key("expression", "Expression", "Of the labels of parameters."),
        point_estimate("estimate", "Estimate", "points", "From the estimates of the labels."),
        number("se", "SE", "points", "By the delta method; Sobel (1982) for a product."),
        number("z", "z", "points", "Estimate / SE."),
        p_value("p", "p", "Two-sided, of a value of 0.", "estimate"),
        *_ends("ci", LEVEL, "points", "Estimate", "estimate"),
        point_estimate(
            "standardized",
            "Standardized",
            "points",
            "The same from standardized estimates.",
        ),
        *_errors_of_standardized("points", "Standardized"),
    ),
    "Loadings",
)
_RESIDUAL_COVARIANCES = TableSpec(
    "residual_covariances",
    "Free residual covariances",
    (
        *_ITEM_PAIR,
        point_estimate(
            "covariance",
            "Residual covariance",
            "points squared",
            "Of what the factors leave of both items, or predictors of both outcomes; free in "
            "this model. Jöreskog (1969).",
        ),
        number("se", "SE", "points squared", "Standard error; by sandwich under MLR and WLSMV."),
        p_value("p", "p", "Two-sided, of a covariance of 0.", "covariance"),
        point_estimate(
            "correlation",
            "Residual correlation",
            "correlation",
            "Covariance / square root of the product of both residual variances.",
        ),
        *_ends("ci", LEVEL, "correlation", "Of the correlation: it", "correlation"),
    ),
    "Residuals",
)
_ITEM_VARIANCES = TableSpec(
    "item_variances",
    "Variances of items",
    (
        _ITEM,
        number(
            "residual_variance",
            "Residual variance",
            "points squared",
            "What the factors leave "
            "of the item's variance; below 0 it is impossible (a Heywood case). Under WLSMV of "
            "the normal variable behind the answers. Jöreskog (1969).",
        ),
        number(
            "residual_standardized",
            "Standardized",
            "proportion",
            "Residual variance / variance of the item in the model.",
        ),
        number(
            "r_squared",
            "R²",
            "proportion",
            "Share of the item's variance that the factors "
            "explain: 1 - residual variance / variance; undefined where the residual variance "
            "is below 0. Bollen (1989).",
        ),
    ),
    "Loadings",
)
_RESIDUALS = TableSpec(
    "residuals",
    "Largest residual correlations",
    (
        *_ITEM_PAIR,
        number("observed", "Correlation", "correlation", "As observed, or by full information."),
        number(
            "residual",
            "Residual",
            "correlation",
            "Observed minus what the model says; beyond "
            ".10 the pair shares something else. Kline (2016).",
        ),
    ),
    "Residuals",
)
_N_RESIDUALS = 10
_THRESHOLDS = TableSpec(
    "thresholds",
    "Thresholds of ordered answers",
    (
        _ITEM,
        key(
            "number",
            "Threshold",
            "Between this option and the next of those that were chosen, from the lowest score.",
            "count",
        ),
        point_estimate(
            "estimate",
            "Estimate",
            "points",
            "In standard deviations of the normal variable: "
            "its quantile at the share of answers up to this option. Olsson (1979).",
        ),
        number("se", "SE", "points", "Standard error; Muthén, du Toit & Spisic (1997)."),
        number("z", "z", "points", "Threshold / SE."),
        p_value(
            "p",
            "p",
            "Two-sided, of a threshold of 0, where half of the answers are above it.",
            "estimate",
        ),
        *_ends("ci", LEVEL, "points", "Threshold", "estimate"),
    ),
    "Loadings",
)
_MODEL = TableSpec("model", "Model that was fitted", LINE_COLUMNS, "Syntax")

Cells = dict[str, Any]
_RowsOf = Callable[[CfaResult, WrittenModel], Iterable[Cells]]


def cfa_tables(
    fits: Sequence[FittedGroup], by: Sequence[str], level: float, estimator: EstimatorKind
) -> Iterator[ResultTable]:
    """All tables, in the order they are read; WLSMV adds thresholds, regressions add theirs."""
    yield _fit_table(fits, by, estimator)
    yield _loadings_table(fits, by, level)
    for spec, rows_of in (
        *_structural_tables(fits),
        (_CORRELATIONS, _correlations),
        (_RESIDUAL_COVARIANCES, _residual_covariances),
        (_ITEM_VARIANCES, _item_variances),
        (_RESIDUALS, _largest_residuals),
        (model_fit.MODIFICATION, _modifications),
        *(((_THRESHOLDS, _thresholds),) if estimator in ORDERED_RULES else ()),
    ):
        rows = TableRows(spec, by, level)
        for fitted in fits:
            for cells in rows_of(*fitted.usable) if fitted.usable else ():
                rows.add(fitted.group, **cells)
        yield rows.table()
    modeled = [(fitted.group, fitted.prepared) for fitted in fits if fitted.prepared.model]
    yield normality_table(
        [(fitted.group, *_without_covariates(fitted)) for fitted in fits if fitted.prepared.model],
        by,
    )
    lines = TableRows(_MODEL, by)
    for group, prepared in modeled:
        for line, text in text_lines(prepared.model) if prepared.model else ():
            lines.add(group, line=line, text=text)
    yield lines.table()


def _without_covariates(fitted: FittedGroup) -> tuple[Floats, list[str]]:
    """Scores and names of the items whose distribution the model is about."""
    prepared, model = fitted.prepared, fitted.prepared.model
    given = set(parse_model(model.text).covariates) if model else set()
    columns = [k for k, item in enumerate(model.items if model else ()) if item not in given]
    return prepared.scores[:, columns], [prepared.item_names[k] for k in columns]


def _structural_tables(fits: Sequence[FittedGroup]) -> Iterator[tuple[TableSpec, _RowsOf]]:
    """The tables of regressions and of defined values, where a model has some."""
    operators = {e.op for fitted in fits if fitted.fit for e in fitted.fit.parameters}
    if REGRESSION in operators:
        yield _REGRESSIONS, _regressions
        yield _OUTCOMES, _outcomes
    if DEFINED in operators:
        yield _DEFINED, _defined


def _fit_table(
    fits: Sequence[FittedGroup], by: Sequence[str], estimator: EstimatorKind
) -> ResultTable:
    """One row per group: the indices that are reported, the counts, the other indices."""
    columns = model_fit.fit_columns(estimator)
    spec = TableSpec(
        "fit",
        "Fit",
        (
            *columns[: model_fit.FIRST_FIT_COLUMNS],
            count("n", "n", "Administrations the model was fitted to."),
            count("dropped", "Dropped", "Administrations left out for missing answers."),
            *MISSING_COLUMNS,
            *model_fit.SIZE_COLUMNS,
            *columns[model_fit.FIRST_FIT_COLUMNS :],
        ),
        "Fit",
    )
    rows = TableRows(spec, by)
    for fitted in fits:
        prepared, model = fitted.prepared, fitted.prepared.model
        size = model_fit.size_cells(fitted.fit)
        rows.add(
            fitted.group,
            **size,
            dropped=len(prepared.matrix.scores) - size["n"],
            incomplete=incomplete_administrations(prepared.answers)[1],
            **model_fit.fit_cells(fitted.fit, estimator, model.name if model else str),
        )
    return rows.table()


def _loadings_table(fits: Sequence[FittedGroup], by: Sequence[str], level: float) -> ResultTable:
    """One row per group, factor and item; NaN where the group has no estimates."""
    rows = TableRows(_LOADINGS, by, level)
    for fitted in fits:
        if not fitted.usable:
            for factor, item in fitted.prepared.loads:
                rows.add_undefined(fitted.group, factor=factor, item=item)
            continue
        fit, model = fitted.usable
        for raw in (e for e in fit.parameters if e.op == LOADING):
            standardized = fit.standardized_estimate(raw.left, raw.op, raw.right)
            rows.add(
                fitted.group,
                factor=model.name(raw.left),
                item=model.name(raw.right),
                **_both(raw, standardized, fit.n),
            )
    return rows.table()


def _tested(parameter: ParameterEstimate, name: str, n: int) -> Cells:
    """A parameter under its name with its error, its p and the ends of its interval."""
    low, high = parameter.interval(n, correlation=name == "correlation")
    return {
        name: parameter.estimate,
        "se": parameter.se,
        "p": parameter.p,
        "ci_low": low,
        "ci_high": high,
    }


def _correlations(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """Each pair of factors; without errors where a correlation follows from other parameters."""
    explained = _explained(fit)
    errors = {
        frozenset((e.left, e.right)): _tested(e, "correlation", fit.n)
        for e in fit.standardized
        if e.op == COVARIANCE and e.free and not explained.intersection((e.left, e.right))
    }
    undefined = dict.fromkeys(("se", "p", "ci_low", "ci_high"), np.nan)
    for i, j in combinations(range(len(fit.factors)), 2):
        first, second = fit.factors[i], fit.factors[j]
        yield {
            "factor_1": model.name(first),
            "factor_2": model.name(second),
            **errors.get(frozenset((first, second)), undefined),
            "correlation": float(fit.groups[0].factor_correlations[i, j]),
        }


def _explained(fit: CfaResult) -> set[str]:
    """Names that factors behind them or regressions explain."""
    return {p.right for p in fit.parameters if p.op == LOADING} | set(fit.groups[0].outcomes)


def _regressions(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """Each regression coefficient."""
    for raw in (e for e in fit.parameters if e.op == REGRESSION):
        yield {
            "outcome": model.name(raw.left),
            "predictor": model.name(raw.right),
            **_both(raw, fit.standardized_estimate(raw.left, raw.op, raw.right), fit.n),
            "per_unit": fit.change_per_unit(raw),
        }


def _outcomes(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """How much of each outcome its predictors and the factors it measures explain."""
    r_squared = dict(zip(fit.items, fit.groups[0].r_squared.tolist(), strict=True))
    for outcome in dict.fromkeys(e.left for e in fit.parameters if e.op == REGRESSION):
        share = fit.groups[0].outcomes.get(outcome, r_squared.get(outcome, np.nan))
        measured = [e.left for e in fit.parameters if (e.op, e.right) == (LOADING, outcome)]
        factors = name_list([model.name(factor) for factor in measured])
        yield {
            "outcome": model.name(outcome),
            "r_squared": share,
            "remark": f"Also explained by {factors}, which it measures." if measured else "",
        }


def _defined(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """What the text defines from parameters."""
    for raw in (e for e in fit.parameters if e.op == DEFINED):
        standardized = fit.standardized_estimate(raw.left, raw.op, raw.right)
        yield {"name": raw.left, "expression": raw.right, **_both(raw, standardized, fit.n)}


def _both(raw: ParameterEstimate, standardized: ParameterEstimate, n: int) -> Cells:
    """A parameter with everything tested, raw and standardized."""
    low, high = standardized.interval(n, correlation=raw.op in (LOADING, COVARIANCE))
    return {
        **_tested(raw, "estimate", n),
        "z": raw.z,
        "standardized": standardized.estimate,
        "standardized_se": standardized.se,
        "standardized_low": low,
        "standardized_high": high,
    }


def _residual_covariances(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """What pairs of items or outcomes share besides, where the model leaves it free."""
    residuals = _explained(fit) | set(fit.items)
    for raw in (e for e in fit.parameters if e.op == COVARIANCE and e.free):
        if raw.left != raw.right and residuals.issuperset((raw.left, raw.right)):
            standardized = fit.standardized_estimate(raw.left, raw.op, raw.right)
            yield {
                "item_1": model.name(raw.left),
                "item_2": model.name(raw.right),
                **_tested(standardized, "correlation", fit.n),
                "covariance": raw.estimate,
                "se": raw.se,
                "p": raw.p,
            }


def _item_variances(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """How much of each item the factors explain, and how much they leave."""
    (group,) = fit.groups
    columns = (group.residual_variances, group.standardized_residual_variances, group.r_squared)
    for item, *values in zip(fit.items, *(column.tolist() for column in columns), strict=True):
        names = ("residual_variance", "residual_standardized", "r_squared")
        if item not in fit.table.structural_items:
            yield {"item": model.name(item), **dict(zip(names, values, strict=True))}


def _largest_residuals(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """The largest residual correlations."""
    observed = correlations_of_covariance(fit.groups[0].sample_covariance)
    residual = fit.groups[0].residual_correlations
    later, earlier = np.tril_indices(len(fit.items), -1)
    size = np.nan_to_num(np.abs(residual[later, earlier]), nan=-1.0)
    for k in np.argsort(-size, kind="stable")[:_N_RESIDUALS]:
        i, j = int(earlier[k]), int(later[k])
        yield {
            "item_1": model.name(fit.items[i]),
            "item_2": model.name(fit.items[j]),
            "observed": float(observed[i, j]),
            "residual": float(residual[i, j]),
        }


def _modifications(fit: CfaResult, model: WrittenModel) -> Iterable[Cells]:
    """What would improve the fit most."""
    return model_fit.modification_rows(fit.modification_indices, model)


def _thresholds(fit: CfaResult, model: WrittenModel) -> Iterator[Cells]:
    """Where the normal variables behind ordered answers are cut into options."""
    for e in (e for e in fit.parameters if e.op == THRESHOLD):
        yield {
            "item": model.name(e.left),
            "number": int(e.right.removeprefix("t")),
            **_tested(e, "estimate", fit.n),
            "z": e.z,
        }
