"""What a fitted model says: loadings, correlations of factors and residuals, variances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from core.analysis.factor_models.cfa_found import Factored, Row, estimated, table
from core.domain.results import Column, ResultTable
from core.psychometrics.factor_models.cfa_model import COVARIANCE, LOADING
from core.psychometrics.factor_models.cfa_result import CfaResult, Estimate
from core.psychometrics.ordered.wlsmv import THRESHOLD


def loadings_table(found: Sequence[Factored], group: Sequence[Column], level: float) -> ResultTable:
    """One row per group, factor and item; NaN where the group has no estimates."""
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("factor", "Factor", help="As in the model, which the last table shows."),
        Column("item", "Item", help="Or the factor that a general factor stands behind."),
        Column("estimate", "Loading", "points", "In score points; 1 where it sets the unit of the "
               "factor. Jöreskog (1969)."),
        Column("se", "SE", "points", "Standard error; 0 where fixed. By sandwich under MLR."),
        Column("z", "z", "points", "Loading / SE."),
        Column("p", "p", "p", "Two-sided, of a loading of 0."),
        Column("ci_low", f"{interval} low", "points", "Loading - z SE."),
        Column("ci_high", f"{interval} high", "points", "Loading + z SE."),
        Column("standardized", "Standardized", "correlation", "With factor and item of variance "
               "1; its square is a share of variance if the item has one factor."),
        Column("standardized_se", "SE of standardized", "correlation", "By the delta method; "
               "Rosseel (2012)."),
        Column("standardized_low", f"Standardized {interval} low", "correlation",
               "Standardized loading - z SE."),
        Column("standardized_high", f"Standardized {interval} high", "correlation",
               "Standardized loading + z SE."),
    )  # fmt: skip
    rows: list[Row] = []
    for one in found:
        lead = one.group
        if not one.usable:
            rows += [(*lead, *names, *(math.nan,) * 10) for names in one.prepared.loads]
            continue
        fit, model = one.usable
        for raw in (e for e in fit.parameters if e.op == LOADING):
            std = fit.standardized_estimate(raw.left, raw.op, raw.right)
            names = (model.name(raw.left), model.name(raw.right))
            numbers = (raw.estimate, raw.se, raw.z, raw.p, raw.low, raw.high)
            rows.append((*lead, *names, *numbers, std.estimate, std.se, std.low, std.high))
    return table("loadings", "Loadings", rows, columns)


def correlations_table(
    found: Sequence[Factored], group: Sequence[Column], level: float
) -> ResultTable:
    """One row per group and pair of factors."""
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("factor_1", "Factor", help="As in the model."),
        Column("factor_2", "Other factor", help="As in the model."),
        Column("correlation", "Correlation", "correlation", "Free of the error of the items. "
               "Fixed at 0 in bifactor models and with method factors."),
        Column("se", "SE", "correlation", "By the delta method; none where the correlation is "
               "fixed or follows from other parameters."),
        Column("p", "p", "p", "Two-sided, of a correlation of 0."),
        Column("ci_low", f"{interval} low", "correlation", "Correlation - z SE."),
        Column("ci_high", f"{interval} high", "correlation", "Correlation + z SE."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in estimated(found):
        own = {
            frozenset((e.left, e.right)): (e.se, e.p, e.low, e.high)
            for e in fit.standardized
            if e.op == COVARIANCE and e.free
        }
        for i, j in combinations(range(len(fit.factors)), 2):
            pair = (fit.factors[i], fit.factors[j])
            value = float(fit.groups[0].factor_correlations[i, j])
            errors = own.get(frozenset(pair), (math.nan,) * 4)
            rows.append((*lead, *map(model.name, pair), value, *errors))
    return table("factor_correlations", "Correlations of factors", rows, columns)


def residual_covariances_table(
    found: Sequence[Factored], group: Sequence[Column], level: float
) -> ResultTable:
    """What pairs of items share beside the factors, where the model leaves it free."""
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("item_1", "Item", help="As named in the bank."),
        Column("item_2", "Other item", help="As named in the bank."),
        Column("covariance", "Residual covariance", "points squared", "Of what the factors leave "
               "of both items; free in this model. Jöreskog (1969)."),
        Column("se", "SE", "points squared", "Standard error; by sandwich under MLR and WLSMV."),
        Column("p", "p", "p", "Two-sided, of a covariance of 0."),
        Column("correlation", "Residual correlation", "correlation", "Covariance / square root of "
               "the product of both residual variances."),
        Column("ci_low", f"{interval} low", "correlation", "Of the correlation: it - z SE."),
        Column("ci_high", f"{interval} high", "correlation", "Of the correlation: it + z SE."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in estimated(found):
        for raw in fit.parameters:
            if raw.free and _is_residual(fit, raw) and raw.left != raw.right:
                std = fit.standardized_estimate(raw.left, raw.op, raw.right)
                names = (model.name(raw.left), model.name(raw.right))
                numbers = (raw.estimate, raw.se, raw.p, std.estimate, std.low, std.high)
                rows.append((*lead, *names, *numbers))
    return table("residual_covariances", "Free residual covariances", rows, columns)


def item_variances_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    """How much of each item the factors explain, and how much they leave."""
    columns = (
        *group,
        Column("item", "Item", help="As named in the bank."),
        Column("residual_variance", "Residual variance", "points squared", "What the factors leave "
               "of the item's variance; below 0 it is impossible (a Heywood case). Under WLSMV of "
               "the normal variable behind the answers. Jöreskog (1969)."),
        Column("residual_standardized", "Standardized", "proportion", "Residual variance / "
               "variance of the item in the model."),
        Column("r_squared", "R²", "proportion", "Share of the item's variance that the factors "
               "explain: 1 - residual variance / variance; undefined where the residual variance "
               "is below 0. Bollen (1989)."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in estimated(found):
        own = fit.groups[0]
        shares = own.standardized_residual_variances
        numbers = np.column_stack([own.residual_variances, shares, own.r_squared]).tolist()
        for item, cells in zip(fit.items, numbers, strict=True):
            rows.append((*lead, model.name(item), *cells))
    return table("item_variances", "Variances of items", rows, columns)


def _is_residual(fit: CfaResult, e: Estimate) -> bool:
    """Whether a parameter is a residual variance or covariance of items."""
    return e.op == COVARIANCE and e.left in fit.items


def thresholds_table(
    found: Sequence[Factored], group: Sequence[Column], level: float
) -> ResultTable:
    """Where the normal variables behind ordered answers are cut into options."""
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("item", "Item", help="As named in the bank."),
        Column("number", "Threshold", "count", "Between this option and the next of those that "
               "were chosen, from the lowest score."),
        Column("estimate", "Estimate", "points", "In standard deviations of the normal variable: "
               "its quantile at the share of answers up to this option. Olsson (1979)."),
        Column("se", "SE", "points", "Standard error; Muthén, du Toit & Spisic (1997)."),
        Column("z", "z", "points", "Threshold / SE."),
        Column("p", "p", "p", "Two-sided, of a threshold of 0, where half of the answers are "
               "above it."),
        Column("ci_low", f"{interval} low", "points", "Threshold - z SE."),
        Column("ci_high", f"{interval} high", "points", "Threshold + z SE."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in estimated(found):
        for e in (e for e in fit.parameters if e.op == THRESHOLD):
            numbers = (int(e.right.removeprefix("t")), e.estimate, e.se, e.z, e.p, e.low, e.high)
            rows.append((*lead, model.name(e.left), *numbers))
    return table("thresholds", "Thresholds of ordered answers", rows, columns)
