"""The check of a factor model by semopy, as a table of both programs and sentences on them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors import cfa_check as module
from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_check import cfa_check
from core.domain.notes import of_kind
from core.errors import NotEnoughData, UserError
from core.progress import Cancelled, watch
from core.stats.factor.semopy_check import SemopyFit
from core.workflow.statistics import analyses
from tests.analysis.factors.test_cfa import HS, HS_SUBSCALES, likert, schools
from tests.analysis.score_frames import item_scores
from tests.stats.reference import expected, scores

SIX = [f"y{k}" for k in range(1, 7)]


def tables(result):
    return {one.name: one.frame for one in result.tables}


def lights(result):
    """Whether both programs agree in each group, as the sentences say, too."""
    answers = analyses.by_name("cfa_check").answer(result)
    words = {"green": "agree", "red": "differ", "grey": "undefined"}
    assert all(words[light] in sentence for _, sentence, light in answers)
    return [light for _, _, light in answers]


def notes(result):
    return "\n".join(result.all_notes)


def index(result, title, column):
    fit = tables(result)["fit"]
    return fit.loc[fit["index"] == title, column].item()


def heywood(**factors):
    values = scores("heywood6", SIX)
    return item_scores(values, items=SIX, subscales=["f"] * 3 + ["g"] * 3, **factors)


def together(*parts):
    shifted, start = [], 0
    for part in parts:
        shifted.append(part.assign(administration=part["administration"] + start))
        start = int(shifted[-1]["administration"].max())
    return pd.concat(shifted, ignore_index=True)


@pytest.mark.parametrize(
    ("model", "name", "chi2"),
    [
        ("subscales", "three", 85.306),
        ("second_order", "second_order", 85.306),
        ("general", "one", 312.264),
    ],
)
def test_both_programs_stand_side_by_side(model, name, chi2):
    golden = expected("semopy")[name]["fit"]
    result = cfa_check(schools(), model=model)
    assert index(result, "χ²", "program") == pytest.approx(chi2, abs=6e-4)  # lavaan
    assert index(result, "χ²", "semopy") == pytest.approx(golden["chi2"], abs=1e-6)
    for title, key in (("CFI", "CFI"), ("TLI", "TLI"), ("RMSEA", "RMSEA"), ("AIC", "AIC")):
        assert index(result, title, "semopy") == pytest.approx(golden[key], abs=1e-6)
        assert index(result, title, "left") == pytest.approx(0, abs=1e-6)
    rmsea = index(result, "RMSEA", "program")
    assert rmsea == pytest.approx(golden["RMSEA"] * math.sqrt(300 / 301), abs=1e-8)
    assert lights(result) == ["green"]
    found = tables(result)["loadings"]
    assert found["standardized_difference"].abs().max() < 1e-6
    assert found["difference"].abs().max() < 1e-5
    assert tables(result)["variances"]["difference"].abs().max() < 1e-5


def test_what_the_confirmatory_factor_analysis_says_by_ml_stands_under_this_program():
    frame = likert()
    check, fit = cfa_check(frame), cfa(frame, estimator="ml", missing="listwise")
    row = tables(fit)["fit"].iloc[0]
    for title, name in (
        ("χ²", "chi2"),
        ("df", "df"),
        ("p", "p"),
        ("CFI", "cfi"),
        ("TLI", "tli"),
        ("RMSEA", "rmsea"),
        ("AIC", "aic"),
        ("BIC", "bic"),
    ):
        assert index(check, title, "program") == pytest.approx(row[name], rel=1e-12), title
    own, other = tables(check)["loadings"], tables(fit)["loadings"]
    assert own[["factor", "item"]].equals(other[["factor", "item"]])
    assert own["program"].tolist() == other["estimate"].tolist()
    assert own["program_standardized"].tolist() == other["standardized"].tolist()
    pairs = tables(check)["factor_correlations"]
    assert pairs["program"].tolist() == tables(fit)["factor_correlations"]["correlation"].tolist()
    assert pairs["semopy"].tolist() == pytest.approx(pairs["program"].tolist(), abs=1e-6)
    counts = ("n_used", "n_left_out", "n_missing")
    assert [getattr(check, name) for name in counts] == [getattr(fit, name) for name in counts]
    assert "i22" in notes(check)
    assert "whatever estimator the confirmatory factor analysis uses" in check.method


def test_a_method_factor_and_a_typed_model_are_checked_too():
    keyed = [-1 if k in (3, 6, 9, 14, 17, 20) else 1 for k in range(1, 23)]
    items = [f"i{k}" for k in range(1, 23)]
    frame = item_scores(
        scores("likert22", items), items=items, subscales=["F1"] * 11 + ["F2"] * 11, keyed=keyed
    )
    assert lights(cfa_check(frame, model="method")) == ["green"]
    text = "V =~ x1 + x2 + x3 + x9\nS =~ NA*x7 + x8 + x9\nS ~~ 1*S\nx1 ~~ x7"
    typed = cfa_check(schools(), model_text=text)
    assert lights(typed) == ["green"]
    assert set(tables(typed)["loadings"]["factor"]) == {"V", "S"}
    assert typed.method.startswith("The model of the text.")


def test_items_of_any_name_are_checked_under_their_names():
    names = ["1. Größe", "group", "a b", "=1+1", "~", "START", "x;y", "文", "p1"]
    frame = item_scores(scores("hs1939"), items=names, subscales=["=~ v"] * 3 + HS_SUBSCALES[3:])
    result = cfa_check(frame)
    assert lights(result) == ["green"]
    assert tables(result)["loadings"]["item"].tolist() == names
    assert index(result, "χ²", "semopy") == pytest.approx(85.306, abs=6e-4)


def test_a_negative_variance_is_named_as_the_reason_why_the_programs_differ():
    result = cfa_check(heywood())
    assert result.cautions[0].startswith("gpt: the programs differ: χ² differs by 0.0797")
    assert "The variance of y1 is negative in the solution of this program" in result.cautions[0]
    assert index(result, "χ²", "left") == pytest.approx(4.50556362 - 4.58528872, abs=1e-6)


def test_a_model_that_is_not_identified_has_many_solutions_and_no_test():
    text = "V =~ x1 + x2 + x3 + x9\nS =~ NA*x7 + x8 + x9\nS ~~ 1*S\nx7 ~~ x8"
    first, *others = cfa_check(schools(), model_text=text).cautions
    assert first.startswith("gpt: the programs differ: a standardized loading")
    assert first.endswith("This program gives the model no test; a note below says why.")
    assert any("do not determine all parameters" in note for note in others)


def test_a_group_where_semopy_fails_shows_this_program_and_the_reason(monkeypatch):
    calls = []
    real = module.fit_semopy

    def fails_once(*arguments, **more):
        calls.append(arguments)
        failed = SemopyFit(problem="The search ended without a maximum: stuck.")
        return failed if len(calls) == 1 else real(*arguments, **more)

    monkeypatch.setattr(module, "fit_semopy", fails_once)
    result = cfa_check(together(schools(respondent="a"), schools(respondent="b")))
    assert (
        "a: semopy has no solution. The search ended without a maximum: stuck." in result.cautions
    )
    assert lights(result) == ["grey", "green"]
    fit = tables(result)["fit"].set_index(["respondent", "index"])
    assert fit.loc[("a", "χ²"), "program"] == pytest.approx(85.306, abs=6e-4)
    assert np.isnan(fit.loc[("a", "χ²"), ["semopy", "difference", "left"]].astype(float)).all()
    assert fit.loc[("b", "χ²"), "semopy"] == pytest.approx(85.306, abs=6e-4)
    loadings = tables(result)["loadings"]
    assert loadings.loc[loadings["respondent"] == "a", "semopy"].isna().all()
    assert loadings.loc[loadings["respondent"] == "a", "program"].notna().all()


def test_a_group_that_neither_program_can_fit_keeps_empty_rows_and_a_reason():
    few = item_scores(scores("hs1939")[:5], items=HS, subscales=HS_SUBSCALES, respondent="few")
    result = cfa_check(together(schools(respondent="many"), few))
    fit = tables(result)["fit"].set_index(["respondent", "index"])
    assert np.isnan(fit.loc[("few", "χ²"), ["program", "semopy"]].astype(float)).all()
    assert any(note.startswith("few: ") and "fitted" in note for note in result.all_notes)
    with pytest.raises(NotEnoughData, match="Neither program can fit the model"):
        cfa_check(few)


def test_items_that_do_not_vary_are_left_out_of_both():
    values = scores("hs1939")
    values[:, 3] = 2.0
    result = cfa_check(item_scores(values, items=HS, subscales=HS_SUBSCALES))
    assert "x4" not in tables(result)["loadings"]["item"].tolist()
    assert "x4" in notes(result)
    assert lights(result) == ["green"]


def test_a_model_without_degrees_of_freedom_has_no_test_in_either():
    frame = schools()
    result = cfa_check(frame[frame["item"].isin(HS[:3])])
    for title in ("p", "TLI", "RMSEA"):
        assert math.isnan(index(result, title, "program"))
        assert math.isnan(index(result, title, "semopy"))


def test_factors_get_the_same_unit_in_both_where_the_first_item_hardly_loads():
    rng = np.random.default_rng(54)
    values = np.clip(np.round(3 + rng.normal(size=(40, 1)) + rng.normal(size=(40, 8))), 1, 5)
    values[:, 0] = rng.permutation(values[:, 0])
    result = cfa_check(item_scores(values))
    assert of_kind(result.notes, "unit changed")
    assert lights(result) == ["green"]
    assert tables(result)["loadings"]["difference"].abs().max() < 1e-3


def test_every_definition_that_differs_has_a_sentence():
    (table,) = [t for t in cfa_check(schools()).tables if t.name == "definitions"]
    said = " ".join(table.frame["index"])
    for name in ("RMSEA", "AIC", "BIC", "GFI", "AGFI", "Baseline", "CFI", "Log-likelihood"):
        assert name in said


def test_it_can_be_cancelled_within_a_group():
    steps = []

    def record(*report):
        steps.append(report)
        if len(steps) == 3:
            raise Cancelled

    with watch(record), pytest.raises(Cancelled):
        cfa_check(schools())
    assert steps == [(0, 1, "groups")] * 3


def test_regressions_are_refused_with_what_to_take_instead():
    frame = item_scores(scores("hs1939"), items=[f"x{k}" for k in range(1, 10)])
    text = "V =~ x1 + x2 + x3\nT =~ x4 + x5 + x6\nT ~ V"
    with pytest.raises(UserError, match="semopy counts") as refusal:
        cfa_check(frame, model_text=text)
    assert "R script" in refusal.value.remedy
