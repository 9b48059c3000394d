"""The tables of confirmatory factor analysis, in the order they are read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from core.analysis.answers import TableRow, bounded, decimals, interval, p_of
from core.analysis.factor_models.cfa_estimates import (
    correlations_table,
    item_variances_table,
    loadings_table,
    residual_covariances_table,
    thresholds_table,
)
from core.analysis.factor_models.cfa_found import (
    LINE_COLUMNS,
    Factored,
    Row,
    estimated,
    table,
    text_lines,
)
from core.analysis.factor_models.cfa_misfit import index_rows, modification_table, residuals_table
from core.analysis.factor_models.cfa_normality import normality_table
from core.domain.results import Column, ResultTable
from core.psychometrics.factor_models.cfa_result import CfaResult, FitIndices
from core.psychometrics.rating_bands import JUNG_2025

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
    found: Sequence[Factored], group: Sequence[Column], level: float, *, ordered: bool
) -> tuple[ResultTable, ...]:
    """All tables; `level` is the coverage of intervals, `ordered` adds thresholds."""
    indices = (
        (*lead, *row)
        for lead, fit, model in estimated(found)
        for row in index_rows(fit.modification_indices, model)
    )
    answers = [
        (one.group, one.prepared.scores, one.prepared.item_names)
        for one in found
        if one.prepared.model
    ]
    return (
        _fit_table(found, group),
        loadings_table(found, group, level),
        correlations_table(found, group, level),
        residual_covariances_table(found, group, level),
        item_variances_table(found, group),
        residuals_table(found, group),
        modification_table(indices, group),
        *((thresholds_table(found, group, level),) if ordered else ()),
        normality_table(answers, group),
        _model_table(found, group),
    )


def _fit_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    counts = (
        Column("n", "n", "count", "Administrations the model was fitted to."),
        Column("dropped", "Dropped", "count", "Administrations left out for missing answers."),
        Column("n_items", "Items", "count", "Items in the model; constant ones are left out."),
        Column("n_parameters", "Parameters", "count", "Free parameters."),
    )
    rows = []
    for one in found:
        fit, given = one.fit, len(one.matrix.scores)
        numbers = (fit.n, given - fit.n, len(fit.items), fit.n_free) if fit else (0, given, 0, 0)
        rows.append((*one.group, *_fit_first(fit_cells(fit), numbers)))
    return table("fit", "Fit", rows, (*group, *_fit_first(FIT_COLUMNS, counts)))


def _fit_first(fit: Sequence[T], counts: Sequence[T]) -> tuple[T, ...]:
    """The first fit indices, then the counts, then the other indices."""
    return (*fit[:_N_FIRST], *counts, *fit[_N_FIRST:])


def _model_table(found: Sequence[Factored], group: Sequence[Column]) -> ResultTable:
    rows = [
        (*one.group, *line)
        for one in found
        if one.prepared.model
        for line in text_lines(one.prepared.model)
    ]
    return table("model", "Model that was fitted", rows, (*group, *LINE_COLUMNS))


def fit_in_words(fit: TableRow) -> str:
    """Test and indices of a fitted model, and whether they are acceptable; robust where they are.

    `fit` is a row of a table of fits. The bounds are those of the validation report.
    """
    if not math.isfinite(fit["chi2"]):
        return "the fit is undefined (not fitted, no test, or no maximum found; see the notes)"
    scaled = math.isfinite(fit["chi2_scaled"])
    chi2, p = (fit["chi2_scaled"], fit["p_scaled"]) if scaled else (fit["chi2"], fit["p"])
    kinds = ("_robust", "_scaled", "")
    kind = next((k for k in kinds if math.isfinite(fit[f"cfi{k}"] + fit[f"rmsea{k}"])), "")
    cfi, rmsea = fit[f"cfi{kind}"], fit[f"rmsea{kind}"]
    said = (
        f"χ²({int(fit['df'])}) = {decimals(chi2, 1)}, {p_of(p)}, CFI {bounded(cfi)}, RMSEA "
        f"{bounded(rmsea)}{interval(fit[f'rmsea{kind}_low'], fit[f'rmsea{kind}_high'])}"
    )
    bands = JUNG_2025.factorial
    verdict = {"+": "fits", "-": "does not fit"}.get(bands.rate(rmsea, cfi), "undecided")
    impossible = "" if fit["admissible"] else ", with impossible estimates"
    return (
        f"{said}{impossible}: {verdict} (CFI from {bounded(bands.lowest_cfi)}, RMSEA up to "
        f"{bounded(bands.highest_rmsea)})"
    )
