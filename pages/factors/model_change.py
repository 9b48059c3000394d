"""What the page of factor models adds to a fit: the bank's model, edits, the second opinion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.analysis.factors.cfa_comparison.change import CHANGE_BOUNDS, ModelChange, model_changes
from core.analysis.kit.sentences import GroupAnswer, coefficient_text, decimal_text
from core.domain.factors import level_text
from core.domain.results import AnalysisResult, ResultTable
from core.errors import UserError
from core.workflow.designs.studies import StudyRecord
from core.workflow.statistics import analyses, factor_models
from core.workflow.statistics.computing import AnalysisRequest
from core.workflow.statistics.factor_models import Proposal
from pages.factors import editor
from pages.shared import analysis_page, downloads, results, widgets
from pages.shared.analysis_page import Tabs
from pages.shared.widgets import plain

_FITTED = "cfa"
_CHECK = "cfa_check"
_PRESSED = ("loading", "covariance", "regression")
_MOST_ROWS = 15  # modification indices with a button


def show_change(study: StudyRecord, request: AnalysisRequest, _result: AnalysisResult) -> None:
    """What the edited model changes in the fit of each group; nothing where none is edited."""
    if request.analysis != _FITTED:
        return
    asked = factor_models.comparison_with_bank(request, _bank_model(study, request))
    if asked is None:
        return
    with st.container(key="model_change", gap="small"), widgets.error_box():
        compared = analysis_page.result_of(asked)
        if compared is None:
            return
        changes = model_changes(compared)
        with st.container(horizontal=True, gap="small", vertical_alignment="top"):
            with st.container(width="stretch"):
                results.show_answers(
                    "model_change",
                    tuple(GroupAnswer(one.group, one.sentence, one.light) for one in changes),
                    CHANGE_BOUNDS,
                )
            with st.popover("Numbers", icon=":material/compare_arrows:", type="tertiary"):
                widgets.table(
                    _numbers(changes),
                    alt="Fit of the bank's model and of the edited model",
                    column_config={
                        title: st.column_config.NumberColumn(title, format=f"%.{places}f")
                        for title, places in _PLACES.items()
                    },
                )


_PLACES = {"χ²": 2, "df": 0, "p": 3, "CFI": 3, "RMSEA": 3, "BIC": 2}


def _numbers(changes: tuple[ModelChange, ...]) -> pd.DataFrame:
    """Both models of each group and the difference."""
    rows = []
    for change in changes:
        for name, fit, bic in (
            ("The bank's", change.bank, change.bank_bic),
            ("Yours", change.edited, change.edited_bic),
        ):
            numbers = (fit.chi2, fit.df, fit.p, fit.cfi, fit.rmsea) if fit else (None,) * 5
            rows.append((change.group, name, *numbers, bic))
        test = (change.chi2, change.df, change.p) if change.is_tested else (None,) * 3
        rows.append((change.group, "Difference", *test, change.cfi, change.rmsea, change.bic))
    return pd.DataFrame(rows, columns=["Group", "Model", *_PLACES])


def tabs(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> Tabs:
    """Edits of one press above the modification indices, and the fit by another program."""
    if request.analysis != _FITTED:
        return {}
    return {
        "Modification": partial(_show_edits, study, request, result),
        "Second opinion": partial(_show_check, request),
    }


def _bank_model(study: StudyRecord, request: AnalysisRequest) -> Proposal:
    """The model of the chosen preset; empty where these items have none."""
    try:
        return editor.bank_model(study, request.options["model"])
    except UserError:
        return Proposal("", {})


def _show_check(request: AnalysisRequest) -> None:
    """The same model fitted by semopy."""
    options = {name: request.options[name] for name in ("by", "model", "model_text")}
    asked = AnalysisRequest(_CHECK, request.studies, options, request.where, request.over)
    check = analyses.by_name(_CHECK)
    st.caption(f"{plain(check.question)} semopy fits the same model by ML.")
    result = analysis_page.result_of(asked)
    if result is None:
        return
    answers = check.answer(result)
    results.show_answers(check.name, answers, check.verdict, result.scope)
    results.show_notes(check, result, [answer.group for answer in answers])
    stem = downloads.file_stem(request.studies[0])
    for shown in result.tables:
        if len(shown.frame):
            results.show_table(check, result, shown, stem)


def _show_edits(study: StudyRecord, request: AnalysisRequest, result: AnalysisResult) -> None:
    """A button for each of the largest modification indices, which frees the parameter."""
    table = next(one for one in result.tables if one.name == "modification_indices")
    proposed = _bank_model(study, request)
    text = request.options["model_text"] or proposed.text
    rows = _rows(table)
    if not rows or not proposed.text:
        return
    st.caption(
        "One press frees the parameter in the model of all groups. χ² falls by about the index "
        "(1 df). Free only what you can explain: with many looks, some indices are large by chance."
    )
    with st.container(key="modification_presses", height=260, gap="xxsmall"):
        for number, row in enumerate(rows):
            group = f"{plain(row['group'])}: " if row["several"] else ""
            change = coefficient_text(row["standardized_change"])
            st.button(
                f"{group}**{plain(_short(row))}** · index {decimal_text(row['index'], 1)} · "
                f"expected {change}",
                icon=":material/add:",
                key=f"free:{number}",
                type="tertiary",
                help=plain(_words(row, result.item_texts)),
                on_click=_free,
                args=(study, proposed, text, row),
            )


def _rows(table: ResultTable) -> list[Mapping[str, Any]]:
    """The largest indices that one press can free, each with the name of its group."""
    frame = table.frame
    factors = list(frame.columns[: list(frame.columns).index("parameter")])
    groups = [" · ".join(map(level_text, factors, values)) for values in frame[factors].to_numpy()]
    rows = frame.assign(group=groups, several=len(set(groups)) > 1)
    rows = rows[rows["parameter"].isin(_PRESSED)].sort_values("index", ascending=False)
    records = rows.head(_MOST_ROWS).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in records]


def _short(row: Mapping[str, Any]) -> str:
    """The parameter in the notation of model texts."""
    operator = {"loading": "=~", "regression": "~"}.get(row["parameter"], "~~")
    return f"{row['left']} {operator} {row['right']}"


def _words(row: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """What the press does, with the wordings of the items."""
    left, right = (
        f"{name} ({texts[name]})" if name in texts else name for name in (row["left"], row["right"])
    )
    if row["parameter"] == "loading":
        return f"Adds a cross-loading of {right} on {left}."
    if row["parameter"] == "regression":
        return f"Lets {right} explain {left} directly, beside what its factor does."
    return f"Lets the residuals of {left} and {right} correlate."


def _free(study: StudyRecord, proposed: Proposal, text: str, row: Mapping[str, Any]) -> None:
    """Free the parameter of a row in the model as it is now."""
    kind, left, right = row["parameter"], row["left"], row["right"]
    assigned = factor_models.assignment(text)
    factors = dict.fromkeys(factor for own in assigned.values() for factor in own)
    of_items = {proposed.name(name): name for name in assigned}
    of_factors = {proposed.name(name): name for name in factors}
    first = of_factors if kind == "loading" else of_items
    second = of_items

    def change(now: str) -> tuple[str, str]:
        names = first.get(left, of_factors.get(left, left)), second.get(right, right)
        freed = factor_models.free_parameter(now, kind, *names)
        return freed, f"Freed: {_short(row)}."

    editor.change_model(study, analyses.by_name(_FITTED), proposed, change)
