"""Does another program find the same for a factor model?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import cfa_scripts
from core.analysis.shared.factor_models.groups import (
    UNIT_CHANGED,
    PreparedGroup,
    Row,
    fit_model,
    fit_remarks,
    n_scores_used,
    prepare_groups,
)
from core.analysis.shared.factor_models.models import (
    MODELS,
    FactorModel,
    FactorModelText,
    WrittenModel,
)
from core.analysis.shared.matrices import (
    by_columns,
    data_cautions,
    data_notes,
    distinct,
    result_table,
)
from core.analysis.shared.options import By
from core.analysis.shared.progress import step
from core.analysis.shared.registry import analysis
from core.analysis.shared.rows import Floats, analysis_unit
from core.analysis.shared.scripts.factor_models import semopy_lines, semopy_starts
from core.analysis.shared.sentences import (
    GroupAnswer,
    GroupAnswers,
    TableRow,
    decimal_text,
    judged_text,
    rows_by_group,
    table_of,
)
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about
from core.domain.numbers import judged_decimals, number_text
from core.domain.results import AnalysisResult, Column, ResultTable, TextFile, with_tabs
from core.errors import NotEnoughData, TooLarge, UserError
from core.stats.factor.model import COVARIANCE, LOADING, Scaling
from core.stats.factor.model_text import parse_model
from core.stats.factor.result import CfaResult
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


@dataclass(frozen=True, eq=False)
class _GroupCheck:
    """One group: the fit of this program, if there is one, and that of semopy."""

    prepared: PreparedGroup
    own: CfaResult | None
    theirs: SemopyFit
    notes: tuple[str, ...] = ()
    own_indices: SemopyIndices = field(default_factory=SemopyIndices)
    cautions: tuple[str, ...] = ()

    @property
    def group(self) -> Row:
        """The cells that lead every row of the group."""
        return self.prepared.matrix.group


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


def _answer(result: AnalysisResult) -> GroupAnswers:
    """Whether both programs agree in each group, and the largest difference of a loading."""
    loadings = rows_by_group(table_of(result, "loadings"), "factor")
    correlations = rows_by_group(table_of(result, "factor_correlations"), "factor_1")

    def answer(group: str, rows: Sequence[TableRow]) -> GroupAnswer:
        left = {row["index"]: abs(row["left"]) for row in rows}
        chi2 = next(row for row in rows if row["index"] == "χ²")
        own = _known(row["standardized_difference"] for row in loadings.get(group, []))
        if not math.isfinite(left["χ²"]) or not own:
            sentence = "The comparison is undefined (a program has no solution or no test)."
            return GroupAnswer(group, sentence, "grey")
        others = _known(left.get(name, math.nan) for name in ("CFI", "TLI", "RMSEA"))
        others += own + _known(row["difference"] for row in correlations.get(group, []))
        alike = left["χ²"] <= _AGREE_CHI2 and max(others) <= _AGREE
        return GroupAnswer(
            group,
            f"Both programs {'agree' if alike else 'differ'}: χ² is "
            f"{decimal_text(chi2['program'])} here and {decimal_text(chi2['semopy'])} in semopy, "
            f"and standardized loadings differ by {judged_text(max(own), [_AGREE], 4)} at most.",
            "green" if alike else "red",
        )

    groups = rows_by_group(table_of(result, "fit"), "index")
    return tuple(answer(group, rows) for group, rows in groups.items())


def _known(differences: Iterable[float]) -> list[float]:
    """The sizes of the differences that are defined."""
    return [abs(one) for one in differences if math.isfinite(one)]


_TABS = {
    "fit": "Fit",
    "loadings": "Loadings",
    "factor_correlations": "Loadings",
    "variances": "Variances",
    "definitions": "Definitions",
}


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
        The model text cannot be read, or names an item that there is not.

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
    groups = prepared.groups
    checked = [_check_group(group, place, len(groups)) for place, group in enumerate(groups)]
    notes = [*prepared.notes, *(note for one in checked for note in one.notes)]
    cautions = [caution for one in checked for caution in one.cautions]
    usable = [one for one in checked if _has_solution(one) or one.theirs.estimates]
    if not usable:
        raise NotEnoughData(
            f"Neither program can fit the model. {' '.join([*cautions, *notes][:3])}",
            "It needs more complete administrations (contexts or repetitions) than items, items "
            "that vary over them, and three or more for each factor. The confirmatory factor "
            "analysis itself can use all answers.",
        )
    n_used = sum(n_scores_used(one.prepared.scores, "listwise") for one in usable)
    matrices = prepared.matrices
    model_title = "The model of the text" if model_text.strip() else dict(MODELS)[model]
    return AnalysisResult(
        tables=with_tabs(_tables(checked, by_columns(names)), _TABS),
        unit=analysis_unit(item_scores, called="row"),
        n_used=n_used,
        n_missing=sum(matrix.n_missing for matrix in matrices),
        method=f"{model_title}. This program and semopy {version('semopy')} fit the same model "
        f"to the "
        "same complete administrations by maximum likelihood (ML), whatever estimator the "
        "confirmatory factor analysis uses: numbers of WLSMV, corrected tests of MLR, and full "
        "information are others. Scores are after reverse-keying.",
        cautions=(
            *_disagreements(checked),
            *data_cautions(item_scores, matrices),
            *cautions,
        ),
        notes=(*data_notes(item_scores), *notes),
        n_left_out=sum(matrix.n_used for matrix in matrices) - n_used,
    )


def _check_group(group: PreparedGroup, place: int, n_groups: int) -> _GroupCheck:
    """Both fits of one group with their notes."""
    step(place, n_groups, "groups")
    model = group.model
    if model is None:
        return _GroupCheck(group, None, SemopyFit(), group.notes, cautions=group.cautions)
    notes, cautions = list(group.notes), list(group.cautions)
    own: CfaResult | None = None
    try:
        own = fit_model(group.scores, model, "ml", _CI_LEVEL)
        own_notes, own_cautions = fit_remarks(group, own)
        notes, cautions = list(own_notes), list(own_cautions)
    except TooLarge:
        raise
    except UserError as error:
        problem = model.sentence(error.problem)
        return _GroupCheck(
            group,
            None,
            SemopyFit(),
            tuple(notes),
            cautions=(*cautions, about(group.name, f"not fitted. {problem}")),
        )
    theirs = fit_semopy(
        *_complete(group.scores, model),
        *_semopy_model(model, own),
        after_step=lambda: step(place, n_groups, "groups"),
    )
    if theirs.problem:
        cautions.append(
            about(group.name, f"semopy has no solution. {model.sentence(theirs.problem)}")
        )
    turned: tuple[str, ...] = ()
    if own.converged and theirs.estimates:
        theirs, turned = align_factors(theirs, own)
    if turned:
        named = ", ".join(map(model.name, turned))
        notes.append(
            about(
                group.name,
                f"semopy's solution has all signs of {named} reversed, which fits as "
                "well; they are turned here.",
            )
        )
    return _GroupCheck(group, own, theirs, tuple(notes), semopy_indices(own), tuple(cautions))


def _has_solution(one: _GroupCheck) -> bool:
    """Whether this program has a solution."""
    return one.own is not None and one.own.converged


def _complete(scores: Floats, model: WrittenModel) -> tuple[Floats, tuple[str, ...]]:
    """The rows without gaps, and the items they are of."""
    return scores[np.isfinite(scores).all(axis=1)], model.items


def _semopy_model(model: WrittenModel, own: CfaResult) -> tuple[list[str], dict[str, str]]:
    """The model and its starts as semopy reads them, with factors in the unit they have here."""
    parsed = parse_model(model.text, items=model.items)
    scaling: Scaling = "std.lv" if UNIT_CHANGED in own.problems else "marker"
    return semopy_lines(parsed, scaling=scaling), semopy_starts(parsed, scaling=scaling)


def _disagreements(checked: Sequence[_GroupCheck]) -> tuple[str, ...]:
    """Where the programs do not find the same, by how much and why."""
    both = [one for one in checked if _has_solution(one) and one.theirs.estimates]
    disagreements = {one.prepared.name: _disagreement_sentence(one) for one in both}
    return tuple(about(name, sentence) for name, sentence in disagreements.items() if sentence)


def _disagreement_sentence(one: _GroupCheck) -> str:
    """What differs by more than rounding, in sentences; empty where nothing does."""
    chi2 = one.own_indices.chi2 - one.theirs.indices.chi2
    differences = []
    if abs(chi2) > _AGREE_CHI2:
        differences.append(f"χ² differs by {_size_text(chi2, _AGREE_CHI2)}")
    for name, title, _ in _INDICES:
        difference = getattr(one.own_indices, name) - getattr(one.theirs.indices, name)
        if name in ("cfi", "tli", "rmsea") and abs(difference) > _AGREE:
            differences.append(f"{title} by {_size_text(difference, _AGREE)}")
    largest_loading = max(
        (abs(row[-1]) for row in _loading_rows(one) if row[-1] == row[-1]), default=0.0
    )
    if largest_loading > _AGREE:
        differences.append(f"a standardized loading by up to {_size_text(largest_loading, _AGREE)}")
    largest_correlation = max(
        (abs(row[-1]) for row in _correlation_rows(one) if row[-1] == row[-1]), default=0.0
    )
    if largest_correlation > _AGREE:
        differences.append(
            f"a correlation of factors by up to {_size_text(largest_correlation, _AGREE)}"
        )
    return (
        f"the programs differ: {', '.join(differences)}. {_difference_reason(one, chi2)}"
        if differences
        else ""
    )


def _size_text(difference: float, bound: float) -> str:
    """How large a difference is, with the decimals that show that it exceeds its bound."""
    return number_text(abs(difference), judged_decimals(abs(difference), [bound], 4))


def _difference_reason(one: _GroupCheck, chi2: float) -> str:
    """Why two solutions differ, as far as the numbers tell."""
    negative = [
        str(name)
        for name, other, estimate, _, _ in _variance_rows(one)
        if name == other and estimate < 0
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


def _tables(checked: Sequence[_GroupCheck], group: Sequence[Column]) -> tuple[ResultTable, ...]:
    """All tables, in the order they are read."""
    program = Column("program", "This program", "compared", "By ML on complete administrations.")
    semopy = Column("semopy", "semopy", "compared", "By its objective MLW, on the same answers.")
    difference = Column("difference", "Difference", "compared", "This program - semopy.")
    sides = (program, semopy, difference)
    standardized = (
        Column(
            "program_standardized",
            "Std. this program",
            "compared",
            "Standardized: with factor and item of variance 1.",
        ),
        Column(
            "semopy_standardized",
            "Std. semopy",
            "compared",
            "Standardized: with factor and item of variance 1.",
        ),
        Column(
            "standardized_difference",
            "Std. difference",
            "compared",
            "Standardized, this program - semopy.",
        ),
    )
    fit = (
        Column("index", "Index", help="The last table says where definitions differ."),
        *sides,
        Column(
            "converted",
            "Converted",
            "compared",
            "What semopy's definition gives for the solution of this program.",
        ),
        Column("left", "Left", "compared", "Converted - semopy: the difference of solutions."),
        Column("remark", "Definition", help="How semopy defines the index, compared with here."),
    )
    loading = (
        Column("factor", "Factor", help="As in the model."),
        Column("item", "Item", help="Or the factor that a general factor stands behind."),
    )
    pair = (
        Column("factor_1", "Factor", help="As in the model."),
        Column("factor_2", "Other factor", help="As in the model."),
    )
    variance = (
        Column("left_side", "Of", help="An item, of which it is the residual, or a factor."),
        Column("right_side", "And", help="The same for a variance, another for a covariance."),
    )
    definitions = (
        Column("index", "Index"),
        Column("program", "This program"),
        Column("semopy", "semopy"),
    )

    def rows(of: Iterator[tuple[Row, Iterator[Row]]]) -> list[Row]:
        return [(*lead, *cells) for lead, own in of for cells in own]

    return (
        result_table(
            "fit",
            "Fit by both programs",
            rows((c.group, _fit_rows(c)) for c in checked),
            (*group, *fit),
        ),
        result_table(
            "loadings",
            "Loadings by both programs",
            rows((c.group, _loading_rows(c)) for c in checked),
            (*group, *loading, *sides, *standardized),
        ),
        result_table(
            "factor_correlations",
            "Correlations of factors by both programs",
            rows((c.group, _correlation_rows(c)) for c in checked),
            (*group, *pair, *sides),
        ),
        result_table(
            "variances",
            "Free variances and covariances by both programs",
            rows((c.group, _variance_rows(c)) for c in checked),
            (*group, *variance, *sides),
        ),
        result_table("definitions", "Where the definitions differ", _DEFINITIONS, definitions),
    )


def _fit_rows(one: _GroupCheck) -> Iterator[Row]:
    """One row per index."""
    own = _own_indices(one)
    for name, title, remark in _INDICES:
        here, there = own[name], getattr(one.theirs.indices, name)
        converted = getattr(one.own_indices, name)
        yield title, here, there, here - there, converted, converted - there, remark


def _own_indices(one: _GroupCheck) -> dict[str, float]:
    """The indices as this program defines them; NaN where it has none."""
    fit = one.own
    if fit is None:
        return {name: math.nan for name, _, _ in _INDICES}
    plain = fit.fit
    return {
        "chi2": plain.chi2,
        "df": float(plain.df),
        "p": plain.p,
        "baseline_chi2": plain.baseline_chi2,
        "baseline_df": float(plain.baseline_df),
        "cfi": plain.cfi,
        "tli": plain.tli,
        "rmsea": plain.rmsea,
        "gfi": math.nan,
        "agfi": math.nan,
        "log_likelihood": fit.log_likelihood,
        "aic": fit.aic,
        "bic": fit.bic,
    }


def _loading_rows(one: _GroupCheck) -> Iterator[Row]:
    """One row per loading: raw and standardized by both, each with its difference."""
    model, fit = one.prepared.model, one.own
    if model is None or fit is None:
        for names in one.prepared.loads:
            yield (*names, *(math.nan,) * 6)
        return
    standardized = {(e.left, e.op, e.right): e.estimate for e in fit.standardized}
    for raw in (e for e in fit.parameters if e.op == LOADING):
        key = (raw.left, raw.op, raw.right)
        theirs = one.theirs.estimate(*key)
        here, there = standardized[key], theirs.standardized
        yield (
            model.name(raw.left),
            model.name(raw.right),
            raw.estimate,
            theirs.estimate,
            raw.estimate - theirs.estimate,
            here,
            there,
            here - there,
        )


def _correlation_rows(one: _GroupCheck) -> Iterator[Row]:
    """One row per pair of factors."""
    model, fit = one.prepared.model, one.own
    if model is None or fit is None:
        return
    for i, j in combinations(range(len(fit.factors)), 2):
        pair = (fit.factors[i], fit.factors[j])
        here = float(fit.groups[0].factor_correlations[i, j])
        there = one.theirs.correlation(*pair)
        yield (*map(model.name, pair), here, there, here - there)


def _variance_rows(one: _GroupCheck) -> Iterator[Row]:
    """One row per free variance or covariance."""
    model, fit = one.prepared.model, one.own
    if model is None or fit is None:
        return
    for raw in (e for e in fit.parameters if e.op == COVARIANCE and e.free):
        there = one.theirs.estimate(raw.left, raw.op, raw.right).estimate
        names = (model.name(raw.left), model.name(raw.right))
        yield (*names, raw.estimate, there, raw.estimate - there)
