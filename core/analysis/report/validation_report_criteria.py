"""The six criteria of the validation report in one group: coefficients and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextvars import Context
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.cfa import cfa
from core.analysis.factor_models.cfa_models import ESTIMATORS, MODELS
from core.analysis.factor_models.cfa_tables import FIT_COLUMNS
from core.analysis.items.cells import cells_of, scores_of
from core.analysis.matrices import ALL_ITEMS, ScoreMatrix, group_name, laid_out
from core.analysis.report.validation_report_people import PERSON, same_people
from core.analysis.report.validation_report_plan import Basis, Computed, Plan
from core.analysis.report.validation_report_scores import (
    USUAL,
    asked_with,
    baseline,
    matched,
    person_scores,
    scored_ids,
    varied,
)
from core.errors import UserError
from core.psychometrics.comparisons.correlation import correlation
from core.psychometrics.consistency.reliability import cronbach_alpha
from core.psychometrics.consistency.stability import What, form_agreement
from core.psychometrics.consistency.stratified_alpha import stratified_alpha
from core.psychometrics.item_rows import item_rows
from core.psychometrics.rating_bands import Criterion
from core.psychometrics.scale_scores import ScoreRule
from core.psychometrics.validation import Coefficient, ModelFit

_NO_BASELINE = (
    "Undefined: there are no answers to the original form with the options in their own order."
)
_INDICES = {"ml": "plain", "mlr": "robust", "fiml": "robust", "wlsmv": "scaled"}
"""Which indices are judged. The robust ones of WLSMV vary so much over samples that they reject
most true models of a few hundred rows."""
_SCORED: Mapping[ScoreRule, str] = {
    "listwise": "complete administrations",
    "half": "administrations with half of their answers or more",
    "available": "administrations with any answer",
}
"""Which administrations have a score, by the rule for missing answers."""
_NO_PEOPLE = "Undefined: the other study holds none of these respondents under these contexts."


def computed(
    group: tuple[Any, ...], own: pd.DataFrame, cases: pd.DataFrame, plan: Plan
) -> Computed:
    """Every criterion of one group.

    Parameters
    ----------
    group : tuple
        Values of the factors set side by side.
    own : ITEM_SCORES frame
        The rows of the group, of all forms and orders.
    cases : administrations
        The same, one row for each administration; see `administrations_of`.
    plan : Plan
        What is to be computed, and what of other studies.
    """
    result = Computed(group)
    usual = baseline(own)
    _consistency(result, usual, plan)
    usual_cases = baseline(cases)
    _stability(result, cases, usual_cases, plan)
    _external(result, cases, usual_cases, plan)
    _factorial(result, usual, plan)
    return result


def _consistency(result: Computed, usual: pd.DataFrame, plan: Plan) -> None:
    """Stratified alpha over the subscales, Cronbach's where there is one."""
    if usual.empty:
        result.found["internal consistency"] = _undefined(_NO_BASELINE)
        return
    cells, scores = cells_of(usual, ()), scores_of(usual)
    (whole,) = laid_out(cells.layouts(ALL_ITEMS), scores)
    parts = cells.layouts()
    owner = {item: part.subscale or "(none)" for part in parts for item in part.items}
    if len(parts) > 1:
        estimate = stratified_alpha(
            whole.scores, [owner[item] for item in whole.items], names=whole.items,
            level=plan.ci_level, bootstrap=plan.bootstrap,
        ).coefficient  # fmt: skip
    else:
        estimate = cronbach_alpha(
            whole.scores, names=whole.items, level=plan.ci_level, bootstrap=plan.bootstrap
        )
    result.found["internal consistency"] = Coefficient.of(estimate)
    result.basis["internal consistency"] = Basis(estimate.method, estimate.n_left_out)
    result.complete = _complete_on_varying(whole)
    if estimate.defined:
        result.used |= result.complete


def _stability(result: Computed, own: pd.DataFrame, usual: pd.DataFrame, plan: Plan) -> None:
    """Agreement with the alternate form, and with another order of the options."""
    group = dict(zip(plan.names, result.group, strict=True))
    alternate = asked_with(own, form=[plan.form], label_order=USUAL["label_order"])
    shuffled = asked_with(own, form=USUAL["form"], label_order=[plan.order])
    asked: tuple[tuple[What, str, pd.DataFrame | None, pd.DataFrame], ...] = (
        ("alternate form", plan.form, plan.alternate, alternate),
        ("option order", plan.order, plan.reordered, shuffled),
    )
    for what, level, beside, rows in asked:
        if beside is not None:
            _agreement(result, what, usual, same_people(beside, own, group), plan, beside=True)
        elif level and len(rows):
            _agreement(result, what, usual, rows, plan, beside=False)


def _agreement(
    result: Computed,
    what: What,
    usual: pd.DataFrame,
    rows: pd.DataFrame,
    plan: Plan,
    *,
    beside: bool,
) -> None:
    """Pearson's r of scores between the baseline and another asking of the same items."""
    level = plan.form if what == "alternate form" else plan.order
    other = "those of the other study" if beside else f"'{level}'"
    method = (
        f"Pearson r of scores, as usual with {other}, {_interval(plan)}; all else the same "
        f"({_SCORED[plan.missing]})"
    )
    if usual.empty or rows.empty:
        result.found[what] = _undefined(_NO_BASELINE if usual.empty else _NO_PEOPLE)
        return
    pairs = matched(usual, rows, plan.names, beside=beside)
    agreement = form_agreement(pairs.first, pairs.second, what=what, level=plan.ci_level)
    _keep(result, what, agreement.correlation, (*agreement.problems, *pairs.notes), method)
    result.used |= pairs.administrations


def _external(result: Computed, own: pd.DataFrame, usual: pd.DataFrame, plan: Plan) -> None:
    """Correlations with another scale and with the score of texts, over contexts."""
    group = dict(zip(plan.names, result.group, strict=True))
    theirs: dict[Criterion, pd.DataFrame | None] = {
        "concurrent": plan.downstream, "convergent": plan.convergent,
    }  # fmt: skip
    for what, frame in theirs.items():
        if frame is None:
            continue
        people = same_people(frame, own, group)
        if usual.empty or people.empty:
            result.found[what] = _undefined(_NO_BASELINE if usual.empty else _NO_PEOPLE)
            continue
        pooled = sorted({*varied(usual, plan.names)} | {*varied(people, plan.names)})
        averaged = f", averaged over {' and '.join(pooled)}" if pooled else ""
        scores = people if what == "concurrent" else person_scores(people)
        both = person_scores(usual).merge(scores, on=list(PERSON), suffixes=("_1", "_2"))
        found = correlation(
            both["score_1"].to_numpy(), both["score_2"].to_numpy(), level=plan.ci_level
        )
        with_what = "the score of texts" if what == "concurrent" else "the score of the other scale"
        method = (
            f"Pearson r with {with_what} over respondents and contexts{averaged}, "
            f"{_interval(plan)} ({_SCORED[plan.missing]})"
        )
        _keep(result, what, found, (), method)
        if math.isfinite(found.r):
            result.used |= scored_ids(same_people(usual, both, {}))


def _factorial(result: Computed, usual: pd.DataFrame, plan: Plan) -> None:
    """RMSEA and CFI of the factor model: plain under ML, scaled under WLSMV, else robust."""
    if usual.empty:
        result.factorial = ModelFit(math.nan, math.nan, problems=(_NO_BASELINE,))
        return
    try:
        # in a context of its own, as its progress would hide that of the groups
        fitted = Context().run(
            cfa, usual, by=plan.names, model=plan.model, estimator=plan.estimator,
            ci_level=plan.ci_level,
        )  # fmt: skip
    except UserError as error:
        result.factorial = ModelFit(math.nan, math.nan, problems=(f"Undefined. {error.problem}",))
        return
    table = next(table.frame for table in fitted.tables if table.name == "fit")
    (row,) = table.to_dict("records")
    kind = _INDICES[plan.estimator]
    which = "" if kind == "plain" else f"_{kind}"
    rmsea, low, high, cfi = (
        float(row[name])
        for name in (f"rmsea{which}", f"rmsea{which}_low", f"rmsea{which}_high", f"cfi{which}")
    )
    lead = f"{group_name(result.group)}: "
    said = tuple(note.removeprefix(lead) for note in fitted.notes if note.startswith(lead))
    if not (math.isfinite(rmsea) and math.isfinite(cfi)):
        why = next((note for note in said if "indices" in note or "no tests" in note), "")
        said = (f"Undefined: the model has no {kind} RMSEA and CFI. {why}".rstrip(), *said)
    result.factorial = ModelFit(rmsea, cfi, low, high, int(row["n"]), said)
    result.fit = {"n": row["n"]} | {column.name: row[column.name] for column in FIT_COLUMNS}
    result.basis["factorial"] = Basis(
        f"{dict(MODELS)[plan.model]}; {dict(ESTIMATORS)[plan.estimator]}; {kind} RMSEA and CFI, "
        "90% interval of RMSEA",
        int(row["dropped"]),
    )
    if math.isfinite(rmsea):
        answered = usual.loc[usual["score"].notna(), "administration"]
        result.used |= (
            {int(one) for one in answered.unique()} if plan.estimator == "fiml" else result.complete
        )


def _complete_on_varying(whole: ScoreMatrix) -> set[int]:
    """Administrations without a gap in the items that vary, which alpha and model are made of."""
    kept = item_rows(whole.scores, whole.items).kept
    complete = np.isfinite(whole.scores[:, kept]).all(axis=1)
    return {int(one) for one in whole.administrations[complete]}


def _keep(
    result: Computed, what: Criterion, found: Any, problems: Sequence[str], method: str
) -> None:
    """Enter a correlation as the coefficient of a criterion."""
    own = Coefficient.of(found)
    said = (*own.problems, *problems)
    if found.n_left_out and not any("left out" in problem for problem in said):
        both = own.n + found.n_left_out
        said = (f"{found.n_left_out} of {both} pairs were left out: a missing score.", *said)
    result.found[what] = Coefficient(own.value, own.low, own.high, own.n, said)
    result.basis[what] = Basis(method, found.n_left_out)


def _interval(plan: Plan) -> str:
    return f"{plan.ci_level * 100:g}% interval (Fisher's z)"


def _undefined(reason: str) -> Coefficient:
    return Coefficient(math.nan, problems=(reason,))
