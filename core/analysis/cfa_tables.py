"""The tables of confirmatory factor analysis: fit, loadings, what the model leaves unexplained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.cfa_models import UNNAMED, WrittenModel
from core.analysis.matrices import ScoreMatrix
from core.analysis.result import Column, ResultTable
from core.psychometrics.cfa_model import COVARIANCE, LOADING
from core.psychometrics.cfa_result import CfaResult, ModificationIndex

N_RESIDUALS, N_INDICES = 10, 15
YUAN_BENTLER = "Yuan & Bentler (2000) doi:10.1111/0081-1750.00078."
ROBUST = "Corrected for scores that are not normal; Brosseau-Liard & Savalei (2014)."
FIT_COLUMNS = (
    Column("chi2", "χ²", "points", "n times the misfit of model to answers; Jöreskog (1969)."),
    Column("df", "df", "count", "Moments minus free parameters."),
    Column("p", "p", "p", "Of answers this far from the model if it holds."),
    Column("chi2_scaled", "χ² scaled", "points", f"χ² / scaling factor; MLR. {YUAN_BENTLER}"),
    Column("p_scaled", "p scaled", "p", f"Of the scaled χ². {YUAN_BENTLER}"),
    Column("scaling_factor", "Scaling factor", "points", f"Over 1 for heavy tails. {YUAN_BENTLER}"),
    Column("cfi", "CFI", "correlation", "Gain over unrelated items; Bentler (1990)."),
    Column("tli", "TLI", "correlation", "The same per df; Tucker & Lewis (1973)."),
    Column("rmsea", "RMSEA", "correlation", "Misfit per df; Steiger (1990)."),
    Column("rmsea_low", "RMSEA 90% CI low", "correlation", "Browne & Cudeck (1993)."),
    Column("rmsea_high", "RMSEA 90% CI high", "correlation", "Browne & Cudeck (1993)."),
    Column("srmr", "SRMR", "correlation", "Typical residual correlation; Bentler (1995)."),
    Column("cfi_robust", "CFI robust", "correlation", ROBUST),
    Column("tli_robust", "TLI robust", "correlation", ROBUST),
    Column("rmsea_robust", "RMSEA robust", "correlation", ROBUST),
    Column("rmsea_robust_low", "RMSEA robust 90% CI low", "correlation", ROBUST),
    Column("rmsea_robust_high", "RMSEA robust 90% CI high", "correlation", ROBUST),
    Column("aic", "AIC", "points", "Lower is better, same answers only; Akaike (1974)."),
    Column("bic", "BIC", "points", "Lower is better, same answers only; Schwarz (1978)."),
    Column("converged", "Converged", help="If not, there are no estimates."),
    Column("admissible", "Admissible", help="No negative variance, no impossible correlation."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Factored:
    """One group with its model; None where it could not be fitted, for which a note is there."""

    matrix: ScoreMatrix
    fit: CfaResult | None
    model: WrittenModel | None
    n_used: int  # scores
    notes: tuple[str, ...]

    @property
    def usable(self) -> tuple[CfaResult, WrittenModel] | None:
        """Model and fit, if estimates were found."""
        if self.fit is None or self.model is None or not self.fit.converged:
            return None
        return self.fit, self.model


def fit_cells(fit: CfaResult | None) -> tuple[Any, ...]:
    """One cell per column of `FIT_COLUMNS`; NaN where there is nothing."""
    nan = math.nan
    if fit is None:
        return (*(nan,) * (len(FIT_COLUMNS) - 2), False, False)
    plain, scaled, robust = fit.fit, fit.scaled, fit.robust
    return (
        plain.chi2, plain.df, plain.p,
        *((scaled.chi2, scaled.p, scaled.scaling_factor) if scaled else (nan,) * 3),
        plain.cfi, plain.tli, plain.rmsea, plain.rmsea_low, plain.rmsea_high, fit.srmr,
        *((robust.cfi, robust.tli, robust.rmsea, robust.rmsea_low, robust.rmsea_high)
          if robust else (nan,) * 5),
        fit.aic, fit.bic, fit.converged, fit.admissible,
    )  # fmt: skip


def cfa_tables(
    found: Sequence[Factored], group: Sequence[Column], subscale_of: dict[str, str], level: float
) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    return (
        _fit_table(found, group),
        _loadings_table(found, group, subscale_of, level),
        _correlations_table(found, group, level),
        _residuals_table(found, group),
        modification_table(
            (
                (*one.matrix.group, *row)
                for one in found
                if one.usable
                for row in index_rows(one.usable[0].modification_indices, one.usable[1])
            ),
            group,
        ),
    )


def _fit_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("n", "n", "count", "Administrations the model was fitted to."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
        Column("n_items", "Items", "count", "Items in the model; constant ones are left out."),
        Column("n_parameters", "Parameters", "count", "Free parameters."),
        *FIT_COLUMNS,
    )
    rows = []
    for one in found:
        fit, given = one.fit, len(one.matrix.scores)
        counts = (fit.n, given - fit.n, len(fit.items), fit.n_free) if fit else (0, given, 0, 0)
        rows.append((*one.matrix.group, *counts, *fit_cells(fit)))
    return table("fit", "Fit", rows, columns)


def _loadings_table(
    found: Sequence[Factored], group: Sequence[Column], subscale_of: dict[str, str], level: float
) -> ResultTable:
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("factor", "Factor"),
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
        Column("standardized_se", "SE of standardized", "correlation", "By the delta method."),
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        lead = one.matrix.group
        if not one.usable:
            blank = (math.nan,) * 8
            rows += [
                (*lead, subscale_of[item] or UNNAMED, item, *blank) for item in one.matrix.items
            ]
            continue
        fit, model = one.usable
        for raw in (e for e in fit.parameters if e.op == LOADING):
            std = fit.standardized_estimate(raw.left, raw.op, raw.right)
            names = (model.name(raw.left), model.name(raw.right))
            numbers = (raw.estimate, raw.se, raw.z, raw.p, raw.low, raw.high)
            rows.append((*lead, *names, *numbers, std.estimate, std.se))
    return table("loadings", "Loadings", rows, columns)


def _correlations_table(
    found: Sequence[Factored], group: Sequence[Column], level: float
) -> ResultTable:
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("factor_1", "Factor"),
        Column("factor_2", "Other factor"),
        Column("correlation", "Correlation", "correlation", "Free of the error of the items. "
               "Fixed at 0 in bifactor models and with method factors."),
        Column("se", "SE", "correlation", "By the delta method; none where the correlation is "
               "fixed or follows from other parameters."),
        Column("p", "p", "p", "Two-sided, of a correlation of 0."),
        Column("ci_low", f"{interval} low", "correlation", "Correlation - z SE."),
        Column("ci_high", f"{interval} high", "correlation", "Correlation + z SE."),
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        if not one.usable:
            continue
        fit, model = one.usable
        own = {
            frozenset((e.left, e.right)): (e.se, e.p, e.low, e.high)
            for e in fit.standardized
            if e.op == COVARIANCE and e.free
        }
        for i, j in combinations(range(len(fit.factors)), 2):
            pair = (fit.factors[i], fit.factors[j])
            value = float(fit.groups[0].factor_correlations[i, j])
            errors = own.get(frozenset(pair), (math.nan,) * 4)
            rows.append((*one.matrix.group, *map(model.name, pair), value, *errors))
    return table("factor_correlations", "Correlations of factors", rows, columns)


def _residuals_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    columns = (
        *group,
        Column("item_1", "Item"),
        Column("item_2", "Other item"),
        Column("observed", "Correlation", "correlation", "As observed, or by full information."),
        Column("residual", "Residual", "correlation", "Observed minus what the model says; beyond "
               ".10 the pair shares something else. Kline (2016)."),
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for one in found:
        if not one.usable:
            continue
        fit, model = one.usable
        covariance = fit.groups[0].sample_covariance
        spread = np.sqrt(np.diag(covariance))
        observed = covariance / np.outer(spread, spread)
        residual = fit.groups[0].residual_correlations
        later, earlier = np.tril_indices(len(fit.items), -1)
        size = np.nan_to_num(np.abs(residual[later, earlier]), nan=-1.0)
        for k in np.argsort(-size, kind="stable")[:N_RESIDUALS]:
            i, j = int(earlier[k]), int(later[k])
            names = (model.name(fit.items[i]), model.name(fit.items[j]))
            rows.append((*one.matrix.group, *names, float(observed[i, j]), float(residual[i, j])))
    return table("residuals", "Largest residual correlations", rows, columns)


def index_rows(
    indices: Sequence[ModificationIndex], model: WrittenModel
) -> Iterable[tuple[Any, ...]]:
    """The largest indices: what is freed, between which names, and the numbers."""
    for m in indices[:N_INDICES]:
        kind = {LOADING: "loading", COVARIANCE: "covariance"}.get(m.op, "intercept")
        numbers = (m.index, m.p, m.expected_change, m.standardized_change)
        yield (kind, model.name(m.left), model.name(m.right), *numbers)


def modification_table(rows: Iterable[tuple[Any, ...]], lead: Sequence[Column]) -> ResultTable:
    """What would improve the fit most; `rows` as from `index_rows`, after the leading columns."""
    columns = (
        *lead,
        Column("parameter", "Parameter", help="A loading of the second name on the first, a "
               "covariance of the two (of residuals, for items), or an intercept."),
        Column("left", "Of"),
        Column("right", "With"),
        Column("index", "Modification index", "points", "Expected fall of χ² (1 df) if this were "
               "free; Sörbom (1989) doi:10.1007/BF02294623."),
        Column("p", "p", "p", "Of the index, unadjusted for looking at many."),
        Column("expected_change", "Expected change", "points", "Of the parameter, in raw units."),
        Column("standardized_change", "Standardized change", "correlation", "Standardized."),
    )  # fmt: skip
    return table("modification_indices", "Modification indices", rows, columns)


def table(
    name: str, title: str, rows: Iterable[tuple[Any, ...]], columns: Sequence[Column]
) -> ResultTable:
    """A table of rows in the order of its columns."""
    frame = pd.DataFrame(list(rows), columns=[column.name for column in columns])
    return ResultTable(name, title, frame, tuple(columns))
