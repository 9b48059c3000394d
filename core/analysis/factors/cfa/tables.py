"""The tables of confirmatory factor analysis: fit, estimates, residuals, modification indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np

from core.analysis.shared.factor_models.groups import (
    LINE_COLUMNS,
    GroupFit,
    Row,
    normality_table,
    text_lines,
    usable_fits,
)
from core.analysis.shared.factor_models.models import (
    LIKELIHOOD_RULES,
    ORDERED_RULES,
    EstimatorKind,
    WrittenModel,
)
from core.analysis.shared.matrices import (
    MISSING_COLUMNS,
    incomplete_administrations,
    result_table,
)
from core.analysis.shared.sentences import (
    Light,
    TableRow,
    against_text,
    coefficient_text,
    decimal_text,
    interval_text,
    judged_text,
    names_of,
    p_text,
)
from core.domain.results import Column, ResultTable
from core.stats.factor.model import COVARIANCE, LOADING
from core.stats.factor.result import (
    REPORTED_VERSION,
    CfaResult,
    IndexVersion,
    ModificationIndex,
    ParameterEstimate,
    contrary_loadings,
    correlations_of_covariance,
)
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.validation import (
    FEWEST_ROWS,
    FIT_CONVENTIONS,
    FIT_CUTOFFS_SOURCE,
    JUNG_2025,
    FactorialBand,
    Grade,
)

# Estimates: loadings, correlations of factors and residuals, variances.


def _loadings_table(fits: Sequence[GroupFit], group: Sequence[Column], level: float) -> ResultTable:
    """One row per group, factor and item; NaN where the group has no estimates."""
    interval = f"{level * 100:g}% CI"
    columns = (
        *group,
        Column("factor", "Factor", help="As in the model, which the last table shows."),
        Column("item", "Item", help="Or the factor that a general factor stands behind."),
        Column(
            "estimate",
            "Loading",
            "points",
            "In score points; 1 where it sets the unit of the factor. Jöreskog (1969).",
        ),
        Column("se", "SE", "points", "Standard error; 0 where fixed. By sandwich under MLR."),
        Column("z", "z", "points", "Loading / SE."),
        Column("p", "p", "p", "Two-sided, of a loading of 0."),
        Column("ci_low", f"{interval} low", "points", "Loading - z SE."),
        Column("ci_high", f"{interval} high", "points", "Loading + z SE."),
        Column(
            "standardized",
            "Standardized",
            "correlation",
            "With factor and item of variance "
            "1; its square is a share of variance if the item has one factor.",
        ),
        Column(
            "standardized_se",
            "SE of standardized",
            "correlation",
            "By the delta method; Rosseel (2012).",
        ),
        Column(
            "standardized_low",
            f"Standardized {interval} low",
            "correlation",
            "Standardized loading - z SE.",
        ),
        Column(
            "standardized_high",
            f"Standardized {interval} high",
            "correlation",
            "Standardized loading + z SE.",
        ),
    )
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
        Column(
            "correlation",
            "Correlation",
            "correlation",
            "Free of the error of the items. "
            "Fixed at 0 in bifactor models and with method factors.",
        ),
        Column(
            "se",
            "SE",
            "correlation",
            "By the delta method; none where the correlation is "
            "fixed or follows from other parameters.",
        ),
        Column("p", "p", "p", "Two-sided, of a correlation of 0."),
        Column("ci_low", f"{interval} low", "correlation", "Correlation - z SE."),
        Column("ci_high", f"{interval} high", "correlation", "Correlation + z SE."),
    )
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
        Column(
            "covariance",
            "Residual covariance",
            "points squared",
            "Of what the factors leave of both items; free in this model. Jöreskog (1969).",
        ),
        Column("se", "SE", "points squared", "Standard error; by sandwich under MLR and WLSMV."),
        Column("p", "p", "p", "Two-sided, of a covariance of 0."),
        Column(
            "correlation",
            "Residual correlation",
            "correlation",
            "Covariance / square root of the product of both residual variances.",
        ),
        Column("ci_low", f"{interval} low", "correlation", "Of the correlation: it - z SE."),
        Column("ci_high", f"{interval} high", "correlation", "Of the correlation: it + z SE."),
    )
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
        Column(
            "residual_variance",
            "Residual variance",
            "points squared",
            "What the factors leave "
            "of the item's variance; below 0 it is impossible (a Heywood case). Under WLSMV of "
            "the normal variable behind the answers. Jöreskog (1969).",
        ),
        Column(
            "residual_standardized",
            "Standardized",
            "proportion",
            "Residual variance / variance of the item in the model.",
        ),
        Column(
            "r_squared",
            "R²",
            "proportion",
            "Share of the item's variance that the factors "
            "explain: 1 - residual variance / variance; undefined where the residual variance "
            "is below 0. Bollen (1989).",
        ),
    )
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
        Column(
            "number",
            "Threshold",
            "count",
            "Between this option and the next of those that were chosen, from the lowest score.",
        ),
        Column(
            "estimate",
            "Estimate",
            "points",
            "In standard deviations of the normal variable: "
            "its quantile at the share of answers up to this option. Olsson (1979).",
        ),
        Column("se", "SE", "points", "Standard error; Muthén, du Toit & Spisic (1997)."),
        Column("z", "z", "points", "Threshold / SE."),
        Column(
            "p", "p", "p", "Two-sided, of a threshold of 0, where half of the answers are above it."
        ),
        Column("ci_low", f"{interval} low", "points", "Threshold - z SE."),
        Column("ci_high", f"{interval} high", "points", "Threshold + z SE."),
    )
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
        Column(
            "residual",
            "Residual",
            "correlation",
            "Observed minus what the model says; beyond "
            ".10 the pair shares something else. Kline (2016).",
        ),
    )
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
        Column(
            "parameter",
            "Parameter",
            help="A loading of the second name on the first, a "
            "covariance of the two (of residuals, for items), a variance, or an intercept.",
        ),
        Column("left", "Of", help="The factor, for a loading; else one of the two."),
        Column("right", "With", help="The item, for a loading; else the other."),
        Column(
            "index",
            "Modification index",
            "points",
            "Expected fall of χ² (1 df) if this were free; Sörbom (1989) doi:10.1007/BF02294623.",
        ),
        Column(
            "p",
            "p",
            "p",
            "Of the index as χ² with 1 df, unadjusted for looking at many; Sörbom (1989).",
        ),
        Column(
            "expected_change",
            "Expected change",
            "points",
            "The value the parameter would take, in raw units; Saris, Satorra & Sörbom (1987).",
        ),
        Column(
            "standardized_change",
            "Standardized change",
            "correlation",
            "The same with factors and items of variance 1.",
        ),
    )
    return result_table("modification_indices", "Modification indices", rows, columns)


# Fit, and all tables in their order.

T = TypeVar("T")
_AGAINST = (
    "Items whose standardized loading has the other sign than most of their factor, with an "
    "interval that excludes 0: check their keying."
)
_SCALED = "Yuan & Bentler (2000) under MLR, Asparouhov & Muthén (2010) under WLSMV."
_FROM_SCALED = "From the scaled χ²; under MLR rather read the robust ones."
_ROBUST = "Corrected for scores that are not normal; Savalei (2018), under WLSMV Savalei (2021)."
CFI_BOUNDS = tuple(band.lowest_cfi for band in FIT_CONVENTIONS.values())
RMSEA_BOUNDS = tuple(band.highest_rmsea for band in FIT_CONVENTIONS.values())
"""What judges CFI and RMSEA, by either convention."""
FIT_COLUMNS = (
    Column(
        "reported",
        "Reported",
        help="Version of the indices in the next columns, which "
        "sentences name and verdicts judge: plain under ML, robust under MLR and full "
        "information, scaled under WLSMV. With robust and scaled ones goes the scaled χ².",
    ),
    Column("chi2", "χ²", "points", "n times the misfit of model to answers; Jöreskog (1969)."),
    Column("df", "df", "count", "Moments minus free parameters."),
    Column(
        "p",
        "p",
        "p",
        "Of answers this far from the model if it holds; under WLSMV only that "
        "of the scaled χ² is to be believed. Jöreskog (1969).",
    ),
    Column("cfi", "CFI", "correlation", "Gain over unrelated items; Bentler (1990).", CFI_BOUNDS),
    Column("tli", "TLI", "correlation", "The same per df; Tucker & Lewis (1973)."),
    Column("rmsea", "RMSEA", "correlation", "Misfit per df; Steiger (1990).", RMSEA_BOUNDS),
    Column("rmsea_low", "90% CI low", "correlation", "Of RMSEA; Browne & Cudeck (1993)."),
    Column("rmsea_high", "90% CI high", "correlation", "Of RMSEA; Browne & Cudeck (1993)."),
    Column("srmr", "SRMR", "correlation", "Typical residual correlation; Bentler (1995)."),
    Column("chi2_scaled", "χ² scaled", "points", f"χ² / scaling factor + shift. {_SCALED}"),
    Column("p_scaled", "p scaled", "p", f"Of the scaled χ². {_SCALED}"),
    Column("scaling_factor", "Scaling factor", "points", f"Over 1 for heavy tails. {_SCALED}"),
    Column("shift", "Shift", "points", "χ² scaled = χ² / scaling factor + shift; 0 but for WLSMV."),
    Column("cfi_scaled", "CFI scaled", "correlation", _FROM_SCALED, CFI_BOUNDS),
    Column("tli_scaled", "TLI scaled", "correlation", _FROM_SCALED),
    Column("rmsea_scaled", "RMSEA scaled", "correlation", _FROM_SCALED, RMSEA_BOUNDS),
    Column("rmsea_scaled_low", "RMSEA scaled 90% CI low", "correlation", _FROM_SCALED),
    Column("rmsea_scaled_high", "RMSEA scaled 90% CI high", "correlation", _FROM_SCALED),
    Column("cfi_robust", "CFI robust", "correlation", _ROBUST, CFI_BOUNDS),
    Column("tli_robust", "TLI robust", "correlation", _ROBUST),
    Column("rmsea_robust", "RMSEA robust", "correlation", _ROBUST, RMSEA_BOUNDS),
    Column("rmsea_robust_low", "RMSEA robust 90% CI low", "correlation", _ROBUST),
    Column("rmsea_robust_high", "RMSEA robust 90% CI high", "correlation", _ROBUST),
    Column("aic", "AIC", "points", "Lower is better, same answers only; Akaike (1974)."),
    Column("bic", "BIC", "points", "Lower is better, same answers only; Schwarz (1978)."),
    Column("converged", "Converged", help="If not, there are no estimates."),
    Column("admissible", "Admissible", help="No negative variance, no impossible correlation."),
    Column("against", "Against their factor", help=_AGAINST),
)

_N_FIRST = [column.name for column in FIT_COLUMNS].index("srmr") + 1
"""How many columns a first look at the fit takes: what is reported, from χ² to SRMR."""
_INDEX_NAMES = ("cfi", "tli", "rmsea", "rmsea_low", "rmsea_high")


def _version_of(estimator: EstimatorKind) -> IndexVersion:
    """The version of the indices that an estimator reports."""
    if estimator == "wlsmv" or estimator == "wlsmv_pairwise":
        return REPORTED_VERSION["WLSMV"]
    return REPORTED_VERSION[LIKELIHOOD_RULES[estimator][0]]


def _reported_names(version: str) -> tuple[str, ...]:
    """The columns of the test and the indices that are reported, from χ² to the RMSEA's limits."""
    test = ("chi2", "df", "p") if version == "plain" else ("chi2_scaled", "df", "p_scaled")
    if version == "plain":
        return (*test, *_INDEX_NAMES)
    # rmsea_low is named rmsea_robust_low
    parts = (name.partition("_") for name in _INDEX_NAMES)
    return (*test, *(f"{name}_{version}{line}{end}" for name, line, end in parts))


def fit_columns(estimator: EstimatorKind) -> tuple[Column, ...]:
    """`FIT_COLUMNS`, those first that the estimator reports, so that tables begin as sentences."""
    first = ("reported", *_reported_names(_version_of(estimator)), "srmr")
    columns = {column.name: column for column in FIT_COLUMNS}
    return (
        *(columns[name] for name in first),
        *(column for name, column in columns.items() if name not in first),
    )


def fit_cells(
    fit: CfaResult | None, estimator: EstimatorKind, name: Callable[[str], str] = str
) -> Row:
    """One cell per column of `fit_columns`; NaN where there is nothing.

    `name` gives the name that users know of an item of the model text.
    """
    cells: dict[str, Any] = dict.fromkeys((column.name for column in FIT_COLUMNS), math.nan)
    cells |= {"reported": _version_of(estimator), "against": ""}
    cells |= {"converged": False, "admissible": False}
    if fit is not None:
        cells["df"] = fit.fit.df
    if fit is not None and fit.converged:
        cells |= {"chi2": fit.fit.chi2, "p": fit.fit.p, "srmr": fit.srmr}
        if fit.scaled is not None:
            scaled = fit.scaled
            cells |= {"chi2_scaled": scaled.chi2, "p_scaled": scaled.p}
            cells |= {"scaling_factor": scaled.scaling_factor, "shift": scaled.shift}
        for version, of in (("plain", fit.fit), ("scaled", fit.scaled), ("robust", fit.robust)):
            if of is not None:
                pairs = zip(_reported_names(version)[3:], _INDEX_NAMES, strict=True)
                cells |= {own: getattr(of, key) for own, key in pairs}
        cells |= {"aic": fit.aic, "bic": fit.bic, "converged": True, "admissible": fit.admissible}
        cells["against"] = ", ".join(map(name, _items_against(fit)))
    return tuple(cells[column.name] for column in fit_columns(estimator))


def _items_against(fit: CfaResult) -> tuple[str, ...]:
    """Items that load against the others of their factor by more than chance."""
    clear = (
        e.right for own in contrary_loadings(fit.standardized) for e in own if e.low * e.high > 0
    )
    return tuple(dict.fromkeys(clear))


def cfa_tables(
    fits: Sequence[GroupFit], group: Sequence[Column], level: float, estimator: EstimatorKind
) -> tuple[ResultTable, ...]:
    """All tables; `level` is the coverage of intervals; WLSMV adds thresholds."""
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
        _fit_table(fits, group, estimator),
        _loadings_table(fits, group, level),
        _correlations_table(fits, group, level),
        _residual_covariances_table(fits, group, level),
        _item_variances_table(fits, group),
        _residuals_table(fits, group),
        replace(modification_table(indices, group), tab="Modification"),
        *((_thresholds_table(fits, group, level),) if estimator in ORDERED_RULES else ()),
        normality_table(answers, group),
        _model_table(fits, group),
    )


def _fit_table(
    fits: Sequence[GroupFit], group: Sequence[Column], estimator: EstimatorKind
) -> ResultTable:
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
        model = one.prepared.model
        cells = fit_cells(fit, estimator, model.name if model else str)
        rows.append((*one.group, *_fit_first(cells, numbers)))
    columns = (*group, *_fit_first(fit_columns(estimator), counts))
    return result_table("fit", "Fit", rows, columns, "Fit")


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
    """The test and the indices of a model that sentences report, and the version they are."""

    chi2: float
    df: float
    p: float
    cfi: float
    tli: float
    rmsea: float
    rmsea_low: float
    rmsea_high: float
    version: str

    @property
    def chi2_words(self) -> str:
        """χ² with its version and degrees of freedom."""
        scaled = "" if self.version == "plain" else "scaled "
        return f"{scaled}χ²({int(self.df)}) = {decimal_text(self.chi2, 1)}"

    @property
    def indices(self) -> str:
        """CFI and RMSEA in words, with the decimals that show how the bounds judge them."""
        which = "" if self.version == "plain" else f"{self.version} "
        cfi, rmsea = judged_text(self.cfi, CFI_BOUNDS), judged_text(self.rmsea, RMSEA_BOUNDS)
        interval = interval_text(self.rmsea_low, self.rmsea_high)
        return f"{which}CFI {cfi}, {which}RMSEA {rmsea}{interval}"


def reported_fit(fit: TableRow) -> ReportedFit | None:
    """The test and the indices that the first columns of a table of fits have.

    `fit` is a row of such a table; None where the model has no test of this version.
    """
    numbers = [float(fit[name]) for name in _reported_names(fit["reported"])]
    if not math.isfinite(numbers[0]):
        return None
    chi2, df, p, cfi, tli, rmsea, low, high = numbers
    return ReportedFit(chi2, df, p, cfi, tli, rmsea, low, high, str(fit["reported"]))


def _bounds_words(band: FactorialBand) -> str:
    """When a model fits by a convention."""
    return (
        f"CFI from {coefficient_text(band.lowest_cfi)} and RMSEA up to "
        f"{coefficient_text(band.highest_rmsea)}"
    )


FIT_BOUNDS = (
    "; ".join(f"{_bounds_words(band)} by {name}" for name, band in FIT_CONVENTIONS.items())
    + ". The first decides, and the sentence says what the other says. The indices are the plain "
    "ones under ML, the robust ones under MLR, the scaled ones under WLSMV. " + FIT_CUTOFFS_SOURCE
)
"""When a model fits, by whom, and what these cutoffs rest on."""
_FIT_WORDS: Mapping[str, str] = {"+": "fits", "-": "does not fit"}


def conventions_words(rmsea: float, cfi: float) -> str:
    """Whether a model fits by each of the conventions; empty where an index is undefined."""
    verdicts = {name: band.rate(rmsea, cfi) for name, band in FIT_CONVENTIONS.items()}
    if "" in verdicts.values():
        return ""
    (first, rating), (second, other) = verdicts.items()
    if rating == other:
        return f"{_FIT_WORDS[rating]} by {first} {'and' if rating == '+' else 'or'} by {second}"
    return f"{_FIT_WORDS[rating]} by {first}, {_FIT_WORDS[other]} by {second}"


def fit_sentence(fit: TableRow) -> str:
    """Test and indices of a fitted model, whether it fits, by whom, and items that run against it.

    `fit` is a row of a table of fits with its `n`.
    """
    reported = reported_fit(fit)
    if reported is None:
        return "the fit is undefined (not fitted, no test, or no maximum found; see the notes)"
    test = f"{reported.chi2_words}, {p_text(reported.p)}, {reported.indices}"
    against = f"; {against_text(names_of([fit['against']]))}" if fit["against"] else ""
    return f"{test}: {_verdict(fit, reported)}{against}"


def _verdict(fit: TableRow, reported: ReportedFit) -> str:
    """Whether a model with a test fits, or why that is not judged."""
    if fit["n"] < FEWEST_ROWS:
        return f"not judged, of fewer than {FEWEST_ROWS} rows"
    words = conventions_words(reported.rmsea, reported.cfi)
    if not words:
        return "undecided"
    impossible = "" if fit["admissible"] else "with impossible estimates"
    if impossible and fit_rating(fit) != "-":
        return f"not judged, {impossible}"
    source = "cutoffs from ML"
    if reported.version == "scaled":
        source += ", under which the same misfit shows more"
    return f"{words} ({source})" + (f", {impossible}" if impossible else "")


def fit_rating(fit: TableRow) -> Grade:
    """+ where a model fits by the first convention, - where not; empty where that is not judged.

    It is not judged without a test, or from few rows. A model with impossible estimates may not
    fit, but never fits.
    """
    reported = reported_fit(fit)
    if reported is None or fit["n"] < FEWEST_ROWS:
        return ""
    rating = JUNG_2025.factorial.rate(reported.rmsea, reported.cfi)
    return rating if fit["admissible"] or rating == "-" else ""


def fit_light(fit: TableRow) -> Light:
    """Whether the model fits, and no item runs against its factor."""
    rating = fit_rating(fit)
    if rating == "-":
        return "red"
    return "green" if rating == "+" and not fit["against"] else "grey"
