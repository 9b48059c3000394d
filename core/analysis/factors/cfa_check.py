"""Does another program find the same for a factor model?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import combinations
from typing import Annotated, Any

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import cfa_scripts, fit_group
from core.analysis.kit import sentences
from core.analysis.kit.factor_models.groups import (
    FittedGroup,
    PreparedGroup,
    n_scores_used,
    prepare_groups,
)
from core.analysis.kit.factor_models.models import MODELS, FactorModel, FactorModelText
from core.analysis.kit.matrices import data_cautions, data_notes, distinct
from core.analysis.kit.options import By
from core.analysis.kit.registry import analysis
from core.analysis.kit.results import Findings
from core.analysis.kit.rows import analysis_unit
from core.analysis.kit.scripts.factor_models import semopy_lines, semopy_starts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about, of_kind
from core.domain.numbers import judged_decimals, number_text
from core.domain.results import AnalysisResult, ResultTable, TextFile
from core.domain.tables import TableRows, TableSpec, key, number, text
from core.progress import step
from core.stats.factor.model import COVARIANCE, LOADING, Scaling
from core.stats.factor.model_text import ModelTextError, parse_model
from core.stats.factor.semopy_check import (
    SemopyFit,
    SemopyIndices,
    align_factors,
    fit_semopy,
    semopy_indices,
)

_AGREE_CHI2, _AGREE = 0.01, 0.001
"""Largest differences that pass for none: of chi-square; of CFI, TLI, RMSEA and standardized
estimates."""
_CheckedText = Annotated[
    str,
    FactorModelText(
        "Model text",
        lines=10,
        preset="model",
        fitted_by="cfa",
        taken_over=("by",),
        help="As of the confirmatory factor analysis.",
    ),
]
_CI_LEVEL = 0.95  # of intervals that are not shown
_INDICES = (
    ("chi2", "χ²", "Same definition: n times the misfit"),
    ("df", "df", "Same definition"),
    ("p", "p", "Same definition"),
    ("baseline_chi2", "Baseline χ²", "Same, unless residual variances are held"),
    ("baseline_df", "Baseline df", "Same, unless residual variances are held"),
    ("cfi", "CFI", "Same, but semopy's may exceed 1"),
    ("tli", "TLI", "Same definition"),
    ("rmsea", "RMSEA", "semopy divides by n - 1, here by n"),
    ("gfi", "GFI", "semopy's is the normed fit index (NFI)"),
    ("agfi", "AGFI", "From semopy's GFI"),
    ("log_likelihood", "Log-likelihood", "semopy gives χ² / n instead"),
    ("aic", "AIC", "semopy takes χ² / n for log-likelihood"),
    ("bic", "BIC", "semopy takes χ² / n for log-likelihood"),
)
_DEFINITIONS = (
    ("Baseline χ², CFI, TLI", "All variances of the baseline are free.",
     "Variances of the baseline are fixed or equal where residual variances of the model are."),
    ("CFI", "Kept within 0 and 1.",
     "1 - (χ² - df) / (baseline χ² - baseline df), over 1 where χ² is below df."),
    ("RMSEA", "Root of (χ² - df) / (df n), as in lavaan.", "Root of (χ² - df) / (df (n - 1))."),
    ("GFI", "Not reported.",
     "1 - χ² / baseline χ², which is the NFI of Bentler and Bonett and not the GFI of Jöreskog."),
    ("AGFI", "Not reported.", "1 - (1 - GFI) baseline df / df, with the GFI above."),
    ("Log-likelihood", "Of normal scores, with its constant.",
     "χ² / n, which is the misfit and grows as the likelihood falls."),
    ("AIC", "2 parameters - 2 log-likelihood.",
     "2 parameters - 2 χ² / n: it falls as the model fits worse. Do not choose models by it."),
    ("BIC", "ln(n) parameters - 2 log-likelihood.",
     "ln(n) parameters - 2 χ² / n: the same caution."),
    ("Variances", "May be below 0, which a note reports.", "Held at 0 or above."),
)  # fmt: skip


_SIDES = (
    number("program", "This program", "compared", "By ML on complete administrations."),
    number("semopy", "semopy", "compared", "By its objective MLW, on the same answers."),
    number("difference", "Difference", "compared", "This program - semopy."),
)
_STANDARDIZED = "Standardized: with factor and item of variance 1."
_FIT = TableSpec(
    "fit",
    "Fit by both programs",
    (
        key("index", "Index", "The last table says where definitions differ."),
        *_SIDES,
        number(
            "converted",
            "Converted",
            "compared",
            "What semopy's definition gives for the solution of this program.",
        ),
        number("left", "Left", "compared", "Converted - semopy: the difference of solutions."),
        text("remark", "Definition", "How semopy defines the index, compared with here."),
    ),
    "Fit",
)
_LOADINGS = TableSpec(
    "loadings",
    "Loadings by both programs",
    (
        key("factor", "Factor", "As in the model."),
        key("item", "Item", "Or the factor that a general factor stands behind."),
        *_SIDES,
        number("program_standardized", "Std. this program", "compared", _STANDARDIZED),
        number("semopy_standardized", "Std. semopy", "compared", _STANDARDIZED),
        number(
            "standardized_difference",
            "Std. difference",
            "compared",
            "Standardized, this program - semopy.",
        ),
    ),
    "Loadings",
)
_CORRELATIONS = TableSpec(
    "factor_correlations",
    "Correlations of factors by both programs",
    (
        key("factor_1", "Factor", "As in the model."),
        key("factor_2", "Other factor", "As in the model."),
        *_SIDES,
    ),
    "Loadings",
)
_VARIANCES = TableSpec(
    "variances",
    "Free variances and covariances by both programs",
    (
        key("left_side", "Of", "An item, of which it is the residual, or a factor."),
        key("right_side", "And", "The same for a variance, another for a covariance."),
        *_SIDES,
    ),
    "Variances",
)
_DEFINED = TableSpec(
    "definitions",
    "Where the definitions differ",
    (key("index", "Index"), text("program", "This program"), text("semopy", "semopy")),
    "Definitions",
)

Cells = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _GroupCheck:
    """One group: the fit of this program, if there is one, and that of semopy."""

    fitted: FittedGroup
    semopy: SemopyFit = field(default_factory=SemopyFit)
    converted: SemopyIndices = field(default_factory=SemopyIndices)
    """The solution of this program by the definitions of semopy."""


def _cfa_check_scripts(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    model_text: _CheckedText = "",
) -> tuple[TextFile, ...]:
    """Scripts for lavaan and semopy by maximum likelihood, and their data; see `cfa_scripts`."""
    return cfa_scripts(
        item_scores, by=by, model=model, model_text=model_text, estimator="ml", missing="listwise"
    )


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Whether both programs agree in each group, and the largest difference of a loading."""
    loadings = sentences.rows_by_group(sentences.table_of(result, "loadings"))
    correlations = sentences.rows_by_group(sentences.table_of(result, "factor_correlations"))

    def answer(group: str, rows: Sequence[sentences.TableRow]) -> sentences.GroupAnswer:
        by_index = {row["index"]: row for row in rows}
        chi2 = by_index["χ²"]
        of_loadings = _sizes(row["standardized_difference"] for row in loadings.get(group, []))
        if not math.isfinite(chi2["left"]) or not of_loadings:
            sentence = "The comparison is undefined (a program has no solution or no test)."
            return sentences.GroupAnswer(group, sentence, "grey")
        others = [
            *_sizes(by_index[name]["left"] for name in ("CFI", "TLI", "RMSEA") if name in by_index),
            *of_loadings,
            *_sizes(row["difference"] for row in correlations.get(group, [])),
        ]
        alike = abs(chi2["left"]) <= _AGREE_CHI2 and max(others) <= _AGREE
        largest = sentences.judged_text(max(of_loadings), [_AGREE], 4)
        return sentences.GroupAnswer(
            group,
            f"Both programs {'agree' if alike else 'differ'}: χ² is "
            f"{sentences.decimal_text(chi2['program'])} here and "
            f"{sentences.decimal_text(chi2['semopy'])} in semopy, "
            f"and standardized loadings differ by {largest} at most.",
            "green" if alike else "red",
        )

    fit = sentences.rows_by_group(sentences.table_of(result, "fit"))
    return tuple(answer(group, rows) for group, rows in fit.items())


def _sizes(differences: Iterable[float]) -> list[float]:
    """The sizes of the differences that are defined."""
    return [abs(difference) for difference in differences if math.isfinite(difference)]


@analysis(
    title="Check with semopy",
    question="Does another program find the same for this model and these answers?",
    topic="factors",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    references=(
        "Igolkina & Meshcheryakov (2020) doi:10.1080/10705511.2019.1704289",
        "Meshcheryakov, Igolkina & Samsonova (2021) arXiv:2106.01140",
        "Jöreskog (1969) doi:10.1007/BF02289343",
        "Bentler & Bonett (1980) doi:10.1037/0033-2909.88.3.588",
        "Bentler (1990) doi:10.1037/0033-2909.107.2.238",
    ),
    scripts=_cfa_check_scripts,
    keywords=(
        "semopy",
        "second opinion",
        "other program",
        "CFA",
        "CFI",
        "RMSEA",
        "chi-square",
        "verification",
        "check of a factor model",
    ),
    verdict="Green: χ² differs by .01 at most, and CFI, TLI, RMSEA, standardized loadings and "
    "correlations of factors by .001, all by semopy's definitions. Red: something differs more. "
    "Grey: a program has no solution or no test.",
    requires="scores",
)
def cfa_check(
    item_scores: pd.DataFrame,
    *,
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    model_text: _CheckedText = "",
) -> AnalysisResult:
    """The same model fitted to the same answers by this program and by semopy, side by side.

    Parameters
    ----------
    item_scores, by, model, model_text
        As in `cfa`.

    Returns
    -------
    AnalysisResult
        `fit`, one row per group and index; `loadings`, one per group, factor and item;
        `factor_correlations`; `variances`, the free variances and covariances; `definitions`, where
        the two programs mean different things by one name.

    Raises
    ------
    NotEnoughData
        Neither program fits the model in any group.
    TooLarge
        So many items that the tests would take too much memory.
    ModelTextError
        The model text cannot be read, names an item that there is not, or has regressions.

    Notes
    -----
    The unit of analysis is one administration. Both programs fit by maximum likelihood, which takes
    scores as continuous and normal, to the administrations that are complete on the items of the
    model; items of zero variance are left out of both. `converted` is what semopy's definition of
    an index gives for the solution of this program, so a difference that remains there is one of
    solutions. Where one program has no solution, its numbers are NaN and a note says why. Checked
    against semopy 2.3.11 run by itself, and against lavaan 0.6-19.
    """
    names = distinct(by)
    prepared = prepare_groups(item_scores, names, model, model_text, "ml", "listwise")
    if any(group.model and parse_model(group.model.text).regressions for group in prepared.groups):
        raise ModelTextError(
            "semopy counts the degrees of freedom of regressions in another way, so this model is "
            "not compared.",
            "Take the R script of the confirmatory factor analysis, which fits it with lavaan.",
        )
    findings = Findings(notes=[*prepared.notes])
    checks: list[_GroupCheck] = []
    for position, group in enumerate(prepared.groups):
        next_step = partial(step, position, len(prepared.groups), "groups")
        next_step()
        checks.append(_check_group(group, findings, next_step))
    usable = [check for check in checks if check.fitted.usable or check.semopy.estimates]
    if not usable:
        raise findings.refusal(
            "Neither program can fit the model.",
            "It needs more complete administrations (contexts or repetitions) than items, items "
            "that vary over them, and three or more for each factor. The confirmatory factor "
            "analysis itself can use all answers.",
            names,
        )
    n_used = sum(n_scores_used(check.fitted.prepared.scores, "listwise") for check in usable)
    matrices = prepared.matrices
    model_title = "The model of the text" if model_text.strip() else dict(MODELS)[model]
    differences = [
        about(check.fitted.prepared.name, sentence)
        for check in checks
        if check.fitted.usable and check.semopy.estimates
        for sentence in [_disagreement(check)]
        if sentence
    ]
    return AnalysisResult(
        tables=_tables(checks, names),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"{model_title}. This program and semopy {version('semopy')} fit the same model "
        "to the same complete administrations by maximum likelihood (ML), whatever estimator the "
        "confirmatory factor analysis uses: numbers of WLSMV, corrected tests of MLR, and full "
        "information are others. Scores are after reverse-keying.",
        cautions=(*differences, *data_cautions(item_scores, matrices), *findings.cautions),
        notes=(*data_notes(item_scores), *findings.notes),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _check_group(
    group: PreparedGroup, findings: Findings, next_step: Callable[[], None]
) -> _GroupCheck:
    """Both fits of one group, with what is to be said of them."""
    fitted = fit_group(group, "ml", _CI_LEVEL, findings)
    fit, model = fitted.fit, group.model
    if fit is None or model is None:
        return _GroupCheck(fitted)
    parsed = parse_model(model.text, items=model.items)
    scaling: Scaling = "std.lv" if of_kind(fit.problems, "unit changed") else "marker"
    semopy = fit_semopy(
        group.scores[np.isfinite(group.scores).all(axis=1)],
        model.items,
        semopy_lines(parsed, scaling=scaling),
        semopy_starts(parsed, scaling=scaling),
        after_step=next_step,
    )
    if semopy.problem:
        findings.caution(group.name, f"semopy has no solution. {model.sentence(semopy.problem)}")
    if fit.converged and semopy.estimates:
        semopy, turned = align_factors(semopy, fit)
        if turned:
            findings.note(
                group.name,
                f"semopy's solution has all signs of {', '.join(map(model.name, turned))} "
                "reversed, which fits as well; they are turned here.",
            )
    return _GroupCheck(fitted, semopy, semopy_indices(fit))


def _disagreement(check: _GroupCheck) -> str:
    """What differs by more than rounding, by how much and why; empty where nothing does."""
    chi2 = check.converted.chi2 - check.semopy.indices.chi2
    differences = []
    if abs(chi2) > _AGREE_CHI2:
        differences.append(f"χ² differs by {_size_text(chi2, _AGREE_CHI2)}")
    for name, title, _ in _INDICES:
        difference = getattr(check.converted, name) - getattr(check.semopy.indices, name)
        if name in ("cfi", "tli", "rmsea") and abs(difference) > _AGREE:
            differences.append(f"{title} by {_size_text(difference, _AGREE)}")
    for what, sizes in (
        ("a standardized loading", [row["standardized_difference"] for row in _loadings(check)]),
        ("a correlation of factors", [row["difference"] for row in _correlations(check)]),
    ):
        largest = max(_sizes(sizes), default=0.0)
        if largest > _AGREE:
            differences.append(f"{what} by up to {_size_text(largest, _AGREE)}")
    if not differences:
        return ""
    return f"the programs differ: {', '.join(differences)}. {_difference_reason(check, chi2)}"


def _size_text(difference: float, bound: float) -> str:
    """How large a difference is, with the decimals that show that it exceeds its bound."""
    return number_text(abs(difference), judged_decimals(abs(difference), [bound], 4))


def _difference_reason(check: _GroupCheck, chi2: float) -> str:
    """Why two solutions differ, as far as the numbers tell."""
    negative = [
        str(row["left_side"])
        for row in _variances(check)
        if row["left_side"] == row["right_side"] and row["program"] < 0
    ]
    if negative:
        return (
            f"The variance of {', '.join(negative)} is negative in the solution of this program; "
            "semopy holds variances at 0 or above, so it cannot reach that solution."
        )
    if math.isnan(chi2):
        return "This program gives the model no test; a note below says why."
    if abs(chi2) <= _AGREE_CHI2:
        return "Both fit alike, so the answers hardly distinguish these parameters."
    better = "this program" if chi2 < 0 else "semopy"
    return f"The solution of {better} has the smaller χ², so the other is not the best there is."


def _tables(checks: Sequence[_GroupCheck], by: Sequence[str]) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    tables = []
    for spec, rows_of in (
        (_FIT, _fit),
        (_LOADINGS, _loadings),
        (_CORRELATIONS, _correlations),
        (_VARIANCES, _variances),
    ):
        rows = TableRows(spec, by)
        for check in checks:
            for cells in rows_of(check):
                rows.add(check.fitted.group, **cells)
        tables.append(rows.table())
    names = [column.name for column in _DEFINED.columns]
    return (*tables, _DEFINED.table(pd.DataFrame(_DEFINITIONS, columns=names)))


def _sides(program: float, semopy: float) -> Cells:
    """A number of both programs with its difference."""
    return {"program": program, "semopy": semopy, "difference": program - semopy}


def _fit(check: _GroupCheck) -> Iterator[Cells]:
    """Each index; NaN where this program has none."""
    fit = check.fitted.fit
    for name, title, definition in _INDICES:
        program = getattr(fit.fit, name, getattr(fit, name, math.nan)) if fit else math.nan
        semopy, converted = getattr(check.semopy.indices, name), getattr(check.converted, name)
        yield {
            "index": title,
            **_sides(program, semopy),
            "converted": converted,
            "left": converted - semopy,
            "remark": definition,
        }


def _loadings(check: _GroupCheck) -> Iterator[Cells]:
    """Each loading, raw and standardized."""
    fit, model = check.fitted.fit, check.fitted.prepared.model
    if model is None or fit is None:
        undefined = {column.name: math.nan for column in _LOADINGS.columns}
        for factor, item in check.fitted.prepared.loads:
            yield undefined | {"factor": factor, "item": item}
        return
    for raw in (e for e in fit.parameters if e.op == LOADING):
        semopy = check.semopy.estimate(raw.left, raw.op, raw.right)
        standardized = fit.standardized_estimate(raw.left, raw.op, raw.right).estimate
        yield {
            "factor": model.name(raw.left),
            "item": model.name(raw.right),
            **_sides(raw.estimate, semopy.estimate),
            "program_standardized": standardized,
            "semopy_standardized": semopy.standardized,
            "standardized_difference": standardized - semopy.standardized,
        }


def _correlations(check: _GroupCheck) -> Iterator[Cells]:
    """Each pair of factors."""
    fit, model = check.fitted.fit, check.fitted.prepared.model
    if model is None or fit is None:
        return
    for i, j in combinations(range(len(fit.factors)), 2):
        first, second = fit.factors[i], fit.factors[j]
        yield {
            "factor_1": model.name(first),
            "factor_2": model.name(second),
            **_sides(
                float(fit.groups[0].factor_correlations[i, j]),
                check.semopy.correlation(first, second),
            ),
        }


def _variances(check: _GroupCheck) -> Iterator[Cells]:
    """Each free variance or covariance."""
    fit, model = check.fitted.fit, check.fitted.prepared.model
    if model is None or fit is None:
        return
    for raw in (e for e in fit.parameters if e.op == COVARIANCE and e.free):
        yield {
            "left_side": model.name(raw.left),
            "right_side": model.name(raw.right),
            **_sides(raw.estimate, check.semopy.estimate(raw.left, raw.op, raw.right).estimate),
        }
