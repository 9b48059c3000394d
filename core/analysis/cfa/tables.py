"""The tables of confirmatory factor analysis: fit, estimates, residuals, modification indices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np

from core.analysis.shared.factor_models.groups import (
    LINE_COLUMNS,
    GroupFit,
    Row,
    normality_table,
    text_lines,
    usable_fits,
)
from core.analysis.shared.factor_models.models import WrittenModel
from core.analysis.shared.matrices import (
    MISSING_COLUMNS,
    incomplete_administrations,
    result_table,
)
from core.analysis.shared.sentences import (
    Light,
    TableRow,
    coefficient_text,
    decimal_text,
    interval_text,
    p_text,
)
from core.domain.results import Column, ResultTable
from core.stats.factor.model import COVARIANCE, LOADING
from core.stats.factor.result import (
    CfaResult,
    FitIndices,
    ModificationIndex,
    ParameterEstimate,
    correlations_of_covariance,
)
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.validation import JUNG_2025

# Estimates: loadings, correlations of factors and residuals, variances.


def _loadings_table(fits: Sequence[GroupFit], group: Sequence[Column], level: float) -> ResultTable:
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
    for one in fits:
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
    return result_table("loadings", "Loadings", rows, columns, "Loadings")


def _correlations_table(
    fits: Sequence[GroupFit], group: Sequence[Column], level: float
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
    for lead, fit, model in usable_fits(fits):
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
    return result_table("factor_correlations", "Correlations of factors", rows, columns, "Loadings")


def _residual_covariances_table(
    fits: Sequence[GroupFit], group: Sequence[Column], level: float
) -> ResultTable:
    """What pairs of items share besides the factors, where the model leaves it free."""
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
    for lead, fit, model in usable_fits(fits):
        for raw in fit.parameters:
            if raw.free and _is_residual(fit, raw) and raw.left != raw.right:
                std = fit.standardized_estimate(raw.left, raw.op, raw.right)
                names = (model.name(raw.left), model.name(raw.right))
                numbers = (raw.estimate, raw.se, raw.p, std.estimate, std.low, std.high)
                rows.append((*lead, *names, *numbers))
    return result_table(
        "residual_covariances", "Free residual covariances", rows, columns, "Residuals"
    )


def _item_variances_table(fits: Sequence[GroupFit], group: Sequence[Column]) -> ResultTable:
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
    for lead, fit, model in usable_fits(fits):
        own = fit.groups[0]
        shares = own.standardized_residual_variances
        numbers = np.column_stack([own.residual_variances, shares, own.r_squared]).tolist()
        for item, cells in zip(fit.items, numbers, strict=True):
            rows.append((*lead, model.name(item), *cells))
    return result_table("item_variances", "Variances of items", rows, columns, "Loadings")


def _is_residual(fit: CfaResult, e: ParameterEstimate) -> bool:
    """Whether a parameter is a residual variance or covariance of items."""
    return e.op == COVARIANCE and e.left in fit.items


def _thresholds_table(
    fits: Sequence[GroupFit], group: Sequence[Column], level: float
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
    for lead, fit, model in usable_fits(fits):
        for e in (e for e in fit.parameters if e.op == THRESHOLD):
            numbers = (int(e.right.removeprefix("t")), e.estimate, e.se, e.z, e.p, e.low, e.high)
            rows.append((*lead, model.name(e.left), *numbers))
    return result_table("thresholds", "Thresholds of ordered answers", rows, columns, "Loadings")


# Misfit: residual correlations and modification indices.

_N_RESIDUALS, _N_INDICES = 10, 15


def _residuals_table(fits: Sequence[GroupFit], group: Sequence[Column]) -> ResultTable:
    """The largest residual correlations of each group."""
    columns = (
        *group,
        Column("item_1", "Item", help="As named in the bank."),
        Column("item_2", "Other item", help="As named in the bank."),
        Column("observed", "Correlation", "correlation", "As observed, or by full information."),
        Column("residual", "Residual", "correlation", "Observed minus what the model says; beyond "
               ".10 the pair shares something else. Kline (2016)."),
    )  # fmt: skip
    rows: list[Row] = []
    for lead, fit, model in usable_fits(fits):
        observed = correlations_of_covariance(fit.groups[0].sample_covariance)
        residual = fit.groups[0].residual_correlations
        later, earlier = np.tril_indices(len(fit.items), -1)
        size = np.nan_to_num(np.abs(residual[later, earlier]), nan=-1.0)
        for k in np.argsort(-size, kind="stable")[:_N_RESIDUALS]:
            i, j = int(earlier[k]), int(later[k])
            names = (model.name(fit.items[i]), model.name(fit.items[j]))
            rows.append((*lead, *names, float(observed[i, j]), float(residual[i, j])))
    return result_table("residuals", "Largest residual correlations", rows, columns, "Residuals")


def modification_rows(indices: Sequence[ModificationIndex], model: WrittenModel) -> Iterable[Row]:
    """The largest indices: what is freed, between which names, and the numbers."""
    for m in indices[:_N_INDICES]:
        covariance = "variance" if m.left == m.right else "covariance"
        kind = {LOADING: "loading", COVARIANCE: covariance}.get(m.op, "intercept")
        numbers = (m.index, m.p, m.expected_change, m.standardized_change)
        yield (kind, model.name(m.left), model.name(m.right), *numbers)


def modification_table(rows: Iterable[Row], lead: Sequence[Column]) -> ResultTable:
    """What would improve the fit most; `rows` as from `index_rows`, after the leading columns."""
    columns = (
        *lead,
        Column("parameter", "Parameter", help="A loading of the second name on the first, a "
               "covariance of the two (of residuals, for items), a variance, or an intercept."),
        Column("left", "Of", help="The factor, for a loading; else one of the two."),
        Column("right", "With", help="The item, for a loading; else the other."),
        Column("index", "Modification index", "points", "Expected fall of χ² (1 df) if this were "
               "free; Sörbom (1989) doi:10.1007/BF02294623."),
        Column("p", "p", "p", "Of the index as χ² with 1 df, unadjusted for looking at many; "
               "Sörbom (1989)."),
        Column("expected_change", "Expected change", "points", "The value the parameter would "
               "take, in raw units; Saris, Satorra & Sörbom (1987)."),
        Column("standardized_change", "Standardized change", "correlation", "The same with factors "
               "and items of variance 1."),
    )  # fmt: skip
    return result_table("modification_indices", "Modification indices", rows, columns)


# Fit, and all tables in their order.

T = TypeVar("T")
_SCALED = "Yuan & Bentler (2000) under MLR, Asparouhov & Muthén (2010) under WLSMV."
_FROM_SCALED = "From the scaled χ²; where robust ones are there, rather read these."
_ROBUST = "Corrected for scores that are not normal; Savalei (2018), under WLSMV Savalei (2021)."
FIT_COLUMNS = (
    Column("chi2", "χ²", "points", "n times the misfit of model to answers; Jöreskog (1969)."),
    Column("df", "df", "count", "Moments minus free parameters."),
    Column("p", "p", "p", "Of answers this far from the model if it holds; under WLSMV only that "
           "of the scaled χ² is to be believed. Jöreskog (1969)."),
    Column("cfi", "CFI", "correlation", "Gain over unrelated items; Bentler (1990)."),
    Column("tli", "TLI", "correlation", "The same per df; Tucker & Lewis (1973)."),
    Column("rmsea", "RMSEA", "correlation", "Misfit per df; Steiger (1990)."),
    Column("rmsea_low", "90% CI low", "correlation", "Of RMSEA; Browne & Cudeck (1993)."),
    Column("rmsea_high", "90% CI high", "correlation", "Of RMSEA; Browne & Cudeck (1993)."),
    Column("srmr", "SRMR", "correlation", "Typical residual correlation; Bentler (1995)."),
    Column("chi2_scaled", "χ² scaled", "points", f"χ² / scaling factor + shift. {_SCALED}"),
    Column("p_scaled", "p scaled", "p", f"Of the scaled χ². {_SCALED}"),
    Column("scaling_factor", "Scaling factor", "points", f"Over 1 for heavy tails. {_SCALED}"),
    Column("shift", "Shift", "points", "χ² scaled = χ² / scaling factor + shift; 0 but for WLSMV."),
    Column("cfi_scaled", "CFI scaled", "correlation", _FROM_SCALED),
    Column("tli_scaled", "TLI scaled", "correlation", _FROM_SCALED),
    Column("rmsea_scaled", "RMSEA scaled", "correlation", _FROM_SCALED),
    Column("rmsea_scaled_low", "RMSEA scaled 90% CI low", "correlation", _FROM_SCALED),
    Column("rmsea_scaled_high", "RMSEA scaled 90% CI high", "correlation", _FROM_SCALED),
    Column("cfi_robust", "CFI robust", "correlation", _ROBUST),
    Column("tli_robust", "TLI robust", "correlation", _ROBUST),
    Column("rmsea_robust", "RMSEA robust", "correlation", _ROBUST),
    Column("rmsea_robust_low", "RMSEA robust 90% CI low", "correlation", _ROBUST),
    Column("rmsea_robust_high", "RMSEA robust 90% CI high", "correlation", _ROBUST),
    Column("aic", "AIC", "points", "Lower is better, same answers only; Akaike (1974)."),
    Column("bic", "BIC", "points", "Lower is better, same answers only; Schwarz (1978)."),
    Column("converged", "Converged", help="If not, there are no estimates."),
    Column("admissible", "Admissible", help="No negative variance, no impossible correlation."),
)  # fmt: skip

_N_FIRST = [column.name for column in FIT_COLUMNS].index("srmr") + 1
"""How many columns a first look at the fit takes: from χ² to SRMR."""


def fit_cells(fit: CfaResult | None) -> Row:
    """One cell per column of `FIT_COLUMNS`; NaN where there is nothing."""
    nan = math.nan
    if fit is None or not fit.converged:
        df = nan if fit is None else fit.fit.df
        return (nan, df, *(nan,) * (len(FIT_COLUMNS) - 4), False, False)
    scaled = fit.scaled
    return (
        fit.fit.chi2, fit.fit.df, fit.fit.p, *_indices(fit.fit), fit.srmr,
        *((scaled.chi2, scaled.p, scaled.scaling_factor, scaled.shift) if scaled else (nan,) * 4),
        *_indices(scaled), *_indices(fit.robust),
        fit.aic, fit.bic, True, fit.admissible,
    )  # fmt: skip


def _indices(version: FitIndices | None) -> tuple[float, ...]:
    """CFI, TLI, RMSEA and its limits of one version."""
    if version is None:
        return (math.nan,) * 5
    v = version
    return v.cfi, v.tli, v.rmsea, v.rmsea_low, v.rmsea_high


def cfa_tables(
    fits: Sequence[GroupFit], group: Sequence[Column], level: float, *, ordered: bool
) -> tuple[ResultTable, ...]:
    """All tables; `level` is the coverage of intervals, `ordered` adds thresholds."""
    indices = (
        (*lead, *row)
        for lead, fit, model in usable_fits(fits)
        for row in modification_rows(fit.modification_indices, model)
    )
    answers = [
        (one.group, one.prepared.scores, one.prepared.item_names)
        for one in fits
        if one.prepared.model
    ]
    return (
        _fit_table(fits, group),
        _loadings_table(fits, group, level),
        _correlations_table(fits, group, level),
        _residual_covariances_table(fits, group, level),
        _item_variances_table(fits, group),
        _residuals_table(fits, group),
        replace(modification_table(indices, group), tab="Modification"),
        *((_thresholds_table(fits, group, level),) if ordered else ()),
        normality_table(answers, group),
        _model_table(fits, group),
    )


def _fit_table(fits: Sequence[GroupFit], group: Sequence[Column]) -> ResultTable:
    counts = (
        Column("n", "n", "count", "Administrations the model was fitted to."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
        *MISSING_COLUMNS,
        Column("n_items", "Items", "count", "Items in the model; constant ones are left out."),
        Column("n_parameters", "Parameters", "count", "Free parameters."),
    )
    rows = []
    for one in fits:
        fit, given = one.fit, len(one.matrix.scores)
        incomplete = incomplete_administrations(one.prepared.scores)[1]
        numbers: Row = (0, given, incomplete, "", 0, 0)
        if fit:
            dropped = given - fit.n
            numbers = (fit.n, dropped, incomplete, fit.missing, len(fit.items), fit.n_free)
        rows.append((*one.group, *_fit_first(fit_cells(fit), numbers)))
    return result_table("fit", "Fit", rows, (*group, *_fit_first(FIT_COLUMNS, counts)), "Fit")


def _fit_first(fit: Sequence[T], counts: Sequence[T]) -> tuple[T, ...]:
    """The first fit indices, then the counts, then the other indices."""
    return (*fit[:_N_FIRST], *counts, *fit[_N_FIRST:])


def _model_table(fits: Sequence[GroupFit], group: Sequence[Column]) -> ResultTable:
    rows = [
        (*one.group, *line)
        for one in fits
        if one.prepared.model
        for line in text_lines(one.prepared.model)
    ]
    return result_table("model", "Model that was fitted", rows, (*group, *LINE_COLUMNS), "Syntax")


class ReportedFit(NamedTuple):
    """The test and the indices of a model that sentences report."""

    chi2: float
    df: float
    p: float
    cfi: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float

    @property
    def test(self) -> str:
        """The test of fit in words."""
        return f"χ²({int(self.df)}) = {decimal_text(self.chi2, 1)}, {p_text(self.p)}"

    @property
    def indices(self) -> str:
        """CFI and RMSEA in words."""
        interval = interval_text(self.rmsea_low, self.rmsea_high)
        return f"CFI {coefficient_text(self.cfi)}, RMSEA {coefficient_text(self.rmsea)}{interval}"


def reported_fit(fit: TableRow) -> ReportedFit | None:
    """The scaled test and the robust indices where they are, else the plain ones.

    `fit` is a row of a table of fits; None where the model has no test.
    """
    if not math.isfinite(fit["chi2"]):
        return None
    scaled = math.isfinite(fit["chi2_scaled"])
    chi2, p = (fit["chi2_scaled"], fit["p_scaled"]) if scaled else (fit["chi2"], fit["p"])
    kinds = ("_robust", "_scaled", "")
    kind = next((k for k in kinds if math.isfinite(fit[f"cfi{k}"] + fit[f"rmsea{k}"])), "")
    return ReportedFit(
        chi2, fit["df"], p, fit[f"cfi{kind}"], fit[f"rmsea{kind}"],
        fit[f"rmsea{kind}_low"], fit[f"rmsea{kind}_high"],
    )  # fmt: skip


_BANDS = JUNG_2025.factorial
FIT_BOUNDS = (
    f"CFI from {coefficient_text(_BANDS.lowest_cfi)} and RMSEA up to "
    f"{coefficient_text(_BANDS.highest_rmsea)}, the robust ones where there are any (bounds of "
    "Jung, 2025)"
)
"""When a model fits."""
_VERDICTS: Mapping[str, str] = {"+": "fits", "-": "does not fit"}


def fit_sentence(fit: TableRow) -> str:
    """Test and indices of a fitted model, and whether they are acceptable; robust where they are.

    `fit` is a row of a table of fits. The bounds are those of the validation report.
    """
    reported = reported_fit(fit)
    if reported is None:
        return "the fit is undefined (not fitted, no test, or no maximum found; see the notes)"
    verdict = _VERDICTS.get(_BANDS.rate(reported.rmsea, reported.cfi), "undecided")
    impossible = "" if fit["admissible"] else ", with impossible estimates"
    return f"{reported.test}, {reported.indices}{impossible}: {verdict}"


def fit_light(fit: TableRow) -> Light:
    """Whether the fit is acceptable; not known without a test or with impossible estimates."""
    reported = reported_fit(fit)
    rating = _BANDS.rate(reported.rmsea, reported.cfi) if reported else ""
    if rating == "-":
        return "red"
    return "green" if rating == "+" and fit["admissible"] else "grey"
