"""How well a factor model fits: columns and cells of tables, sentences, verdicts, what misfits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.analysis.kit import sentences
from core.analysis.kit.factor_models.models import (
    LIKELIHOOD_RULES,
    EstimatorKind,
    WrittenModel,
)
from core.domain.results import Column, Role, Unit
from core.domain.tables import (
    TableSpec,
    count,
    estimate,
    key,
    number,
    p_value,
    point_estimate,
    text,
)
from core.stats.factor.comparison import ModelDifference
from core.stats.factor.fit_indices import few_rows_factor
from core.stats.factor.fit_indices import p_value as chi2_p
from core.stats.factor.model import INTERCEPT, LOADING, REGRESSION
from core.stats.factor.result import (
    REPORTED_VERSION,
    CfaResult,
    IndexVersion,
    ModificationIndex,
    contrary_loadings,
)
from core.stats.factor.wlsmv import THRESHOLD
from core.stats.groups import adjusted_p
from core.stats.validation import (
    FEWEST_ROWS,
    FIT_CONVENTIONS,
    FIT_CUTOFFS_SOURCE,
    JUNG_2025,
    FactorialBand,
    Grade,
)

# Columns and cells of the fit of a model.

_SCALED = "Yuan & Bentler (2000) under MLR, Asparouhov & Muthén (2010) under WLSMV."
_FROM_SCALED = "From the scaled χ²; under MLR rather read the robust ones."
_ROBUST = (
    "Corrected for scores that are not normal; Savalei (2018), under WLSMV Savalei (2021). Empty "
    "under WLSMV for models over several levels, for whose equal thresholds there is no such "
    "correction: read the scaled ones."
)
CFI_BOUNDS = tuple(band.lowest_cfi for band in FIT_CONVENTIONS.values())
RMSEA_BOUNDS = tuple(band.highest_rmsea for band in FIT_CONVENTIONS.values())
"""What judges CFI and RMSEA, by either convention."""


def _indices(version: IndexVersion, cfi: str, tli: str, rmsea: str, limits: str) -> list[Column]:
    """CFI, TLI and RMSEA with its interval, of one version; the texts are their tooltips."""
    title, name = ("", "") if version == "plain" else (f" {version}", f"_{version}")
    return [
        number(f"cfi{name}", f"CFI{title}", "correlation", cfi, CFI_BOUNDS),
        number(f"tli{name}", f"TLI{title}", "correlation", tli),
        *estimate(
            f"rmsea{name}",
            f"RMSEA{title}",
            "correlation",
            rmsea,
            limits,
            ends_title=f"RMSEA{title} 90% CI" if title else "90% CI",
            ends_name=f"rmsea{name}",
            bounds=RMSEA_BOUNDS,
        ),
    ]


FIT_COLUMNS = (
    Column(  # without a role: it stays before the numbers whose version it names
        "reported",
        "Reported",
        help="Version of the indices in the next columns, which "
        "sentences name and verdicts judge: plain under ML, robust under MLR and full "
        "information, scaled under WLSMV. With robust and scaled ones goes the scaled χ².",
    ),
    number("chi2", "χ²", "points", "n times the misfit of model to answers; Jöreskog (1969)."),
    count("df", "df", "Moments minus free parameters."),
    p_value(
        "p",
        "p",
        "Of answers this far from the model if it holds; under WLSMV only that "
        "of the scaled χ² is to be believed. Jöreskog (1969).",
    ),
    *_indices(
        "plain",
        "Gain over unrelated items; Bentler (1990).",
        "The same per df; Tucker & Lewis (1973).",
        "Misfit per df; Steiger (1990).",
        "Of RMSEA; Browne & Cudeck (1993).",
    ),
    number("srmr", "SRMR", "correlation", "Typical residual correlation; Bentler (1995)."),
    p_value(
        "p_few_rows",
        "p for few rows",
        "Of χ² times the factor of Yuan, Tian and Yanagihara (2015): with few rows the other p are "
        "too small. Under MLR of the scaled χ² if every group has 60 rows and five for each item, "
        "else of the plain one. For complete answers; empty where every group has 100 rows and 20 "
        "for each item, as it makes no difference there.",
    ),
    number("chi2_scaled", "χ² scaled", "points", f"χ² / scaling factor + shift. {_SCALED}"),
    p_value("p_scaled", "p scaled", f"Of the scaled χ². {_SCALED}"),
    number("scaling_factor", "Scaling factor", "points", f"Over 1 for heavy tails. {_SCALED}"),
    number("shift", "Shift", "points", "χ² scaled = χ² / scaling factor + shift; 0 but for WLSMV."),
    *_indices("scaled", *[_FROM_SCALED] * 4),
    *_indices("robust", *[_ROBUST] * 4),
    number("aic", "AIC", "points", "Lower is better, same answers only; Akaike (1974)."),
    number("bic", "BIC", "points", "Lower is better, same answers only; Schwarz (1978)."),
    text("converged", "Converged", "If not, there are no estimates."),
    text("admissible", "Admissible", "No negative variance, no impossible correlation."),
    text(
        "against",
        "Against their factor",
        "Items whose standardized loading has the other sign than most of their factor, with an "
        "interval that excludes 0: check their keying.",
    ),
)
SIZE_COLUMNS = (
    count("n_items", "Items", "Items in the model; constant ones are left out."),
    count("n_parameters", "Parameters", "Free parameters."),
)
VERSION = text("version", "Indices", "Version of the CFI, TLI and RMSEA that are compared.")
FIRST_FIT_COLUMNS = [column.name for column in FIT_COLUMNS].index("srmr") + 1
"""How many columns a first look at the fit takes: what is reported, from χ² to SRMR."""
_MANY_ROWS, _MANY_ROWS_OF_ITEM = 100, 20
"""With so many rows in a group, χ² is as large as it should be."""
_SCALED_ROWS, _SCALED_ROWS_OF_ITEM = 60, 5
"""With fewer rows in a group, the scaled χ² is farther from its distribution than the plain one."""
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


def are_few_rows(n: int, n_items: int) -> bool:
    """Whether χ² of a group of n complete rows is larger than it should be."""
    return n < max(_MANY_ROWS, _MANY_ROWS_OF_ITEM * n_items)


def _few_rows_factor(fit: CfaResult) -> float:
    """What χ² is multiplied by; NaN where the formula does not hold, or rows are many."""
    rows, items = [group.n for group in fit.groups], len(fit.items)
    holds = fit.estimator in ("ML", "MLR") and fit.missing == "listwise"
    if not holds or not are_few_rows(min(rows), items):
        return math.nan
    return few_rows_factor(fit.fit.df, items, rows)


def _few_rows_p(fit: CfaResult) -> float:
    """The p for few rows; NaN where there is none, or none is needed."""
    fewest = min(group.n for group in fit.groups)
    enough = fewest >= max(_SCALED_ROWS, _SCALED_ROWS_OF_ITEM * len(fit.items))
    test = fit.scaled if fit.scaled is not None and enough else fit.fit
    return chi2_p(test.chi2 * _few_rows_factor(fit), fit.fit.df)


def fit_cells(
    fit: CfaResult | None, estimator: EstimatorKind, name: Callable[[str], str] = str
) -> dict[str, Any]:
    """The cells of `FIT_COLUMNS`; NaN where there is nothing.

    `name` gives the name that users know of an item of the model text.
    """
    cells: dict[str, Any] = {column.name: math.nan for column in FIT_COLUMNS}
    cells |= {"reported": _version_of(estimator), "against": ""}
    cells |= {"converged": False, "admissible": False}
    if fit is not None:
        cells["df"] = fit.fit.df
    if fit is not None and fit.converged:
        cells |= {"chi2": fit.fit.chi2, "p": fit.fit.p, "srmr": fit.srmr}
        cells["p_few_rows"] = _few_rows_p(fit)
        if fit.scaled is not None:
            scaled = fit.scaled
            cells |= {"chi2_scaled": scaled.chi2, "p_scaled": scaled.p}
            cells |= {"scaling_factor": scaled.scaling_factor, "shift": scaled.shift}
        for version, indices in (
            ("plain", fit.fit),
            ("scaled", fit.scaled),
            ("robust", fit.robust),
        ):
            if indices is not None:
                pairs = zip(_reported_names(version)[3:], _INDEX_NAMES, strict=True)
                cells |= {column: getattr(indices, index) for column, index in pairs}
        cells |= {"aic": fit.aic, "bic": fit.bic, "converged": True, "admissible": fit.admissible}
        against = (
            e.right
            for contrary in contrary_loadings(fit.standardized)
            for e in contrary
            if e.low * e.high > 0  # by more than chance
        )
        cells["against"] = ", ".join(map(name, dict.fromkeys(against)))
    return cells


def size_cells(fit: CfaResult | None) -> dict[str, Any]:
    """The cells of `SIZE_COLUMNS`, of `n`, and of the rule for missing answers."""
    if fit is None:
        return {"n": 0, "missing_rule": "", "n_items": 0, "n_parameters": 0}
    return {
        "n": fit.n,
        "missing_rule": fit.missing,
        "n_items": len(fit.items),
        "n_parameters": fit.n_free,
    }


_DIFFERENCES: tuple[tuple[str, str, Unit, tuple[float, ...]], ...] = (
    ("chi2", "Δχ²", "points", ()),
    ("df", "Δdf", "count", ()),
    ("p", "p of Δχ²", "p", ()),
    ("p_few_rows", "p of Δχ² for few rows", "p", ()),
    ("cfi", "ΔCFI", "correlation", (-0.01,)),
    ("tli", "ΔTLI", "correlation", ()),
    ("rmsea", "ΔRMSEA", "correlation", (0.015,)),
    ("srmr", "ΔSRMR", "correlation", ()),
    ("aic", "ΔAIC", "points", ()),
    ("bic", "ΔBIC", "points", ()),
)
"""Name, title, unit and bounds of how far two models are apart; Chen (2007) has the bounds."""


def difference_columns(**helps: str) -> tuple[Column, ...]:
    """The columns of differences between two models; `helps` are the tooltips by name."""
    roles: Mapping[Unit, Role] = {"count": "count", "p": "p"}
    return tuple(
        Column(
            f"{name}_difference",
            title,
            unit,
            helps[name],
            bounds,
            roles.get(unit, "number"),
            of="chi2_difference" if unit == "p" else "",
        )
        for name, title, unit, bounds in _DIFFERENCES
        if name in helps
    )


def difference_cells(
    difference: ModelDifference | None, restricted: CfaResult | None = None
) -> dict[str, Any]:
    """The cells of `difference_columns` and of `VERSION`; NaN where models are not compared.

    p for few rows stands beside them where the fit of the `restricted` model is given.
    """
    names = [name for name, *_ in _DIFFERENCES if name != "p_few_rows"]
    cells = {f"{name}_difference": getattr(difference, name, math.nan) for name in names}
    if restricted is not None:
        chi2, df = (difference.chi2, difference.df) if difference else (math.nan, 0)
        cells["p_few_rows_difference"] = chi2_p(chi2 * _few_rows_factor(restricted), df)
    return cells | {"version": difference.version if difference else ""}


# What a model leaves unexplained.

_N_INDICES = 15
MODIFICATION = TableSpec(
    "modification_indices",
    "Modification indices",
    (
        key(
            "parameter",
            "Parameter",
            "A loading of the second name on the first, a "
            "covariance of the two (of residuals, for items), a regression of the first name on "
            "the second, a variance, an intercept, or a threshold.",
        ),
        key("left", "Of", "The factor, for a loading; the outcome, for a regression; else one."),
        key("right", "With", "The item, for a loading; the covariate; else the other."),
        number(
            "index",
            "Modification index",
            "points",
            "Expected fall of χ² (1 df) if this were free; Sörbom (1989) doi:10.1007/BF02294623.",
        ),
        p_value(
            "p",
            "p",
            "Of the index as χ² with 1 df, unadjusted for looking at many; Sörbom (1989).",
        ),
        p_value(
            "p_adjusted",
            "Adjusted p",
            "For all parameters that could be free, of which the largest indices are listed; "
            "Benjamini & Hochberg (1995).",
        ),
        point_estimate(
            "expected_change",
            "Expected change",
            "points",
            "The value the parameter would take, in raw units; Saris, Satorra & Sörbom (1987).",
        ),
        point_estimate(
            "standardized_change",
            "Standardized change",
            "correlation",
            "The same with factors and items of variance 1.",
        ),
    ),
    "Modification",
)


_PARAMETER_WORDS = {
    LOADING: "loading",
    INTERCEPT: "intercept",
    REGRESSION: "regression",
    THRESHOLD: "threshold",
}


def modification_rows(
    indices: Sequence[ModificationIndex], model: WrittenModel
) -> Iterator[dict[str, Any]]:
    """The largest indices: what is freed, between which names, and the numbers."""
    adjusted = adjusted_p(np.array([index.p for index in indices]), "benjamini-hochberg")
    for index, p in zip(indices[:_N_INDICES], adjusted.tolist(), strict=False):
        covariance = "variance" if index.left == index.right else "covariance"
        yield {
            "parameter": _PARAMETER_WORDS.get(index.op, covariance),
            "left": model.name(index.left),
            "right": model.name(index.right),
            "index": index.index,
            "p": index.p,
            "p_adjusted": p,
            "expected_change": index.expected_change,
            "standardized_change": index.standardized_change,
        }


# Sentences and verdicts.


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
        return f"{scaled}χ²({int(self.df)}) = {sentences.decimal_text(self.chi2, 1)}"

    @property
    def indices(self) -> str:
        """CFI and RMSEA in words, with the decimals that show how the bounds judge them."""
        which = "" if self.version == "plain" else f"{self.version} "
        cfi = sentences.judged_text(self.cfi, CFI_BOUNDS)
        rmsea = sentences.judged_text(self.rmsea, RMSEA_BOUNDS)
        interval = sentences.interval_text(self.rmsea_low, self.rmsea_high)
        return f"{which}CFI {cfi}, {which}RMSEA {rmsea}{interval}"


def reported_fit(fit: sentences.TableRow) -> ReportedFit | None:
    """The test and the indices that the first columns of a table of fits have.

    `fit` is a row of such a table; None where the model has no test of this version.
    """
    chi2, *numbers = (float(fit[name]) for name in _reported_names(fit["reported"]))
    if not math.isfinite(chi2):
        return None
    df, p, cfi, tli, rmsea, low, high = numbers
    return ReportedFit(chi2, df, p, cfi, tli, rmsea, low, high, str(fit["reported"]))


def _bounds_words(band: FactorialBand) -> str:
    """When a model fits by a convention."""
    return (
        f"CFI from {sentences.coefficient_text(band.lowest_cfi)} and RMSEA up to "
        f"{sentences.coefficient_text(band.highest_rmsea)}"
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


def fit_sentence(fit: sentences.TableRow) -> str:
    """Test and indices of a fitted model, whether it fits, by whom, and items that run against it.

    `fit` is a row of a table of fits with its `n`.
    """
    reported = reported_fit(fit)
    if reported is None:
        return "the fit is undefined (not fitted, no test, or no maximum found; see the notes)"
    few_rows = float(fit.get("p_few_rows", math.nan))  # results of earlier versions have none
    p = sentences.p_text(reported.p)
    p += f", {few_rows_words(few_rows)}" if math.isfinite(few_rows) else ""
    test = f"{reported.chi2_words}, {p}, {reported.indices}"
    against = (
        f"; {sentences.against_text(sentences.names_of([fit['against']]))}"
        if fit["against"]
        else ""
    )
    return f"{test}: {_verdict(fit, reported)}{against}"


def few_rows_words(p: float) -> str:
    """A p for few rows, by the name of its column."""
    return f"p for few rows{sentences.p_text(p).removeprefix('p')}"


def _verdict(fit: sentences.TableRow, reported: ReportedFit) -> str:
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


def fit_rating(fit: sentences.TableRow) -> Grade:
    """+ where a model fits by the first convention, - where not; empty where that is not judged.

    It is not judged without a test, or from few rows. A model with impossible estimates may not
    fit, but never fits.
    """
    reported = reported_fit(fit)
    if reported is None or fit["n"] < FEWEST_ROWS:
        return ""
    rating = JUNG_2025.factorial.rate(reported.rmsea, reported.cfi)
    return rating if fit["admissible"] or rating == "-" else ""


def fit_light(fit: sentences.TableRow) -> sentences.Light:
    """Whether the model fits, and no item runs against its factor."""
    rating = fit_rating(fit)
    if rating == "-":
        return "red"
    return "green" if rating == "+" and not fit["against"] else "grey"
