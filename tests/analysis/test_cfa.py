from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from core.analysis.cfa import cfa
from core.analysis.cfa_models import written_model
from core.errors import NotEnoughData
from tests.analysis.score_frames import item_scores
from tests.psychometrics.reference import expected, scores

LIKERT = [f"i{k}" for k in range(1, 23)]  # i22 is constant and not in lavaan's model
LIKERT_SUBSCALES = ["F1"] * 11 + ["F2"] * 11
HS = [f"x{k}" for k in range(1, 10)]
HS_SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
TABLES = ["fit", "loadings", "factor_correlations", "residuals", "modification_indices"]
KEYS = {
    "chi2": "chisq",
    "df": "df",
    "p": "pvalue",
    "chi2_scaled": "chisq.scaled",
    "p_scaled": "pvalue.scaled",
    "scaling_factor": "chisq.scaling.factor",
    "cfi": "cfi",
    "tli": "tli",
    "rmsea": "rmsea",
    "rmsea_low": "rmsea.ci.lower",
    "rmsea_high": "rmsea.ci.upper",
    "srmr": "srmr",
    "cfi_robust": "cfi.robust",
    "tli_robust": "tli.robust",
    "rmsea_robust": "rmsea.robust",
    "rmsea_robust_low": "rmsea.ci.lower.robust",
    "rmsea_robust_high": "rmsea.ci.upper.robust",
    "aic": "aic",
    "bic": "bic",
}


def likert():
    return item_scores(scores("likert22", LIKERT), items=LIKERT, subscales=LIKERT_SUBSCALES)


def schools(**factors):
    return item_scores(scores("hs1939"), items=HS, subscales=HS_SUBSCALES, **factors)


def frames(result):
    assert [one.name for one in result.tables] == TABLES
    return {one.name: one.frame for one in result.tables}


@pytest.mark.parametrize(
    ("estimator", "kind"), [("ml", "ML_listwise"), ("mlr", "MLR_listwise"), ("fiml", "FIML_MLR")]
)
def test_agrees_with_lavaan(estimator, kind):
    theirs = expected("likert22_lavaan")[kind]
    result = cfa(likert(), estimator=estimator)
    found = frames(result)
    fit = found["fit"].iloc[0]
    assert (fit["n"], fit["n_items"]) == (theirs["nobs"], 21)
    for ours, name in KEYS.items():
        if name in theirs["fit"]:
            assert fit[ours] == pytest.approx(theirs["fit"][name], rel=0, abs=1e-5), ours
        else:
            assert np.isnan(fit[ours]), ours
    loadings = found["loadings"].set_index(["factor", "item"])
    raw = [row for row in theirs["parameters"] if row["op"] == "=~"]
    std = [row for row in theirs["standardized"] if row["op"] == "=~"]
    assert len(loadings) == len(raw) == 21
    for one, other in zip(raw, std, strict=True):
        ours = loadings.loc[(one["lhs"], one["rhs"])]
        wanted = [one["est"], one["se"], one["ci.lower"], one["ci.upper"]]
        assert ours[["estimate", "se", "ci_low", "ci_high"]].tolist() == pytest.approx(
            wanted, abs=1e-4
        )
        assert ours["standardized"] == pytest.approx(other["est.std"], abs=1e-4)
        assert ours["standardized_se"] == pytest.approx(other["se"], abs=1e-4)
    theirs_r = next(
        row for row in theirs["standardized"] if (row["lhs"], row["rhs"]) == ("F1", "F2")
    )
    ours_r = found["factor_correlations"].iloc[0]
    assert ours_r["correlation"] == pytest.approx(theirs_r["est.std"], abs=1e-4)
    assert ours_r["se"] == pytest.approx(theirs_r["se"], abs=1e-4)
    indices = found["modification_indices"]
    assert len(indices) == 15
    wanted = [row["mi"] for row in theirs["modindices_top15"]]
    assert indices["index"].tolist() == pytest.approx(wanted, abs=1e-3)
    assert "gpt: left out, because all usable scores are equal or missing: i22." in result.notes


def test_every_planned_score_is_counted_once():
    planned = scores("likert22", LIKERT)
    for estimator in ("mlr", "fiml"):
        result = cfa(likert(), estimator=estimator)
        fit = frames(result)["fit"].iloc[0]
        assert result.n_missing == np.isnan(planned).sum()
        assert result.n_planned == planned.size
        assert fit["n"] + fit["dropped"] == len(planned)
    assert result.n_used == np.isfinite(planned[:, :21]).sum()
    assert result.n_left_out == np.isfinite(planned[:, 21]).sum()


def test_the_largest_residuals_are_observed_minus_implied_correlations():
    found = frames(cfa(schools(), estimator="ml"))
    residuals = found["residuals"]
    assert len(residuals) == 10
    assert residuals["residual"].abs().is_monotonic_decreasing
    loading = found["loadings"].set_index("item")["standardized"]
    pairs = found["factor_correlations"]
    between = {
        frozenset(names): value
        for *names, value in zip(
            pairs["factor_1"], pairs["factor_2"], pairs["correlation"], strict=True
        )
    }
    owner = dict(zip(HS, HS_SUBSCALES, strict=True))
    observed = pd.DataFrame(scores("hs1939"), columns=HS).corr()
    for row in residuals.itertuples():
        a, b = row.item_1, row.item_2
        common = 1 if owner[a] == owner[b] else between[frozenset((owner[a], owner[b]))]
        assert row.observed == pytest.approx(observed.loc[a, b], abs=1e-9)
        implied = loading[a] * loading[b] * common
        assert row.residual == pytest.approx(row.observed - implied, abs=1e-6)


def test_degrees_of_freedom_of_every_model_are_those_counted_by_hand():
    """45 moments of nine items; 9 residual variances each, and what the factors need."""
    keyed = [1, -1, 1, -1, 1, 1, -1, 1, 1]
    frame = item_scores(scores("hs1939"), items=HS, subscales=HS_SUBSCALES, keyed=keyed)
    wanted = {
        "subscales": 45 - 9 - 6 - 6,  # six free loadings, six (co)variances of three factors
        "general": 45 - 9 - 8 - 1,
        "method": 45 - 9 - 6 - 6 - 3,  # and three loadings on the method factor
        "bifactor": 45 - 9 - 18,
        "second_order": 45 - 9 - 6 - 6,
    }
    for kind, df in wanted.items():
        found = frames(cfa(frame, model=kind, estimator="ml"))
        assert found["fit"]["df"].item() == df, kind
    loadings = found["loadings"]
    assert loadings[loadings["factor"] == "General"]["item"].tolist() == [
        "visual",
        "textual",
        "speed",
    ]


def test_a_constant_first_item_leaves_the_scale_of_bifactor_models_alone():
    values = np.column_stack([np.ones(301), scores("hs1939")])
    frame = item_scores(values, items=["same", *HS], subscales=["visual", *HS_SUBSCALES])
    with_it = frames(cfa(frame, model="bifactor", estimator="ml"))
    without = frames(cfa(schools(), model="bifactor", estimator="ml"))
    pd.testing.assert_frame_equal(with_it["fit"], without["fit"])
    pd.testing.assert_frame_equal(with_it["loadings"], without["loadings"])


def test_names_that_a_model_text_cannot_hold_come_back_as_they_were():
    items = ["1", "2", "x-3", "x 3", "F", "General", "é.7", "8", "9"]
    subscales = ["self-esteem"] * 3 + [""] * 3 + ["General"] * 3
    frame = item_scores(scores("hs1939"), items=items, subscales=subscales)
    found = frames(cfa(frame, model="second_order", estimator="ml"))
    same = frames(cfa(schools(), model="second_order", estimator="ml"))
    assert found["fit"]["chi2"].item() == pytest.approx(same["fit"]["chi2"].item())
    assert found["loadings"]["item"].tolist()[:9] == items
    assert set(found["loadings"]["factor"]) == {"self-esteem", "(none)", "General"}
    written = written_model("general", ["1", "x-3"], [1, 1], {"1": "a", "x-3": "a"})
    assert written.sentence("The variance of x_3 is negative; n_1.") == (
        "The variance of x-3 is negative; 1."
    )


def test_a_group_that_cannot_be_fitted_gets_empty_rows_and_a_reason():
    few = item_scores(
        scores("hs1939")[:6], items=HS, subscales=HS_SUBSCALES, respondent="b", start=999
    )
    result = cfa(pd.concat([schools(), few]))
    found = frames(result)
    fit = found["fit"].set_index("respondent")
    assert fit["converged"].to_dict() == {"gpt": True, "b": False}
    assert np.isnan(fit.loc["b", "chi2"])
    assert (fit.loc["b", "n"], fit.loc["b", "dropped"]) == (0, 6)
    theirs = found["loadings"].query("respondent == 'b'")
    assert theirs["item"].tolist() == HS
    assert theirs["estimate"].isna().all()
    assert any(note.startswith("b: not fitted. There are 6 usable rows") for note in result.notes)
    assert (result.n_used, result.n_left_out, result.n_missing) == (301 * 9, 54, 0)


def test_more_parameters_than_the_answers_can_hold_leave_no_numbers_and_a_reason():
    two = schools().query("item in ('x1', 'x2')").assign(respondent="b")
    two["administration"] += 1000
    with pytest.raises(NotEnoughData, match="more parameters than variances"):
        cfa(two)
    result = cfa(pd.concat([schools(), two]))
    fit = frames(result)["fit"].set_index("respondent")
    assert fit.loc["b", ["chi2", "cfi", "srmr", "aic"]].isna().all()
    loadings = frames(result)["loadings"].query("respondent == 'b'")
    assert loadings["item"].tolist() == ["x1", "x2"]
    assert loadings["standardized"].isna().all()
    assert any(note.startswith("b: The model has more parameters") for note in result.notes)


def test_an_impossible_estimate_is_reported_and_named():
    values = scores("heywood6")
    items = [f"y{k}" for k in range(1, 7)]
    frame = item_scores(values, items=items, subscales=["f"] * 3 + ["g"] * 3)
    result = cfa(frame, estimator="ml")
    assert not frames(result)["fit"]["admissible"].item()
    assert any(note.startswith("gpt: The residual variance of y1 is neg") for note in result.notes)


@pytest.mark.parametrize(
    ("kind", "message"),
    [("bifactor", "needs two subscales"), ("second_order", "two subscales"), ("method", "0 are")],
)
def test_a_model_these_items_cannot_have_is_refused_with_the_reason(kind, message):
    with pytest.raises(NotEnoughData, match=message):
        cfa(item_scores(scores("hs1939"), items=HS), model=kind)


@pytest.mark.parametrize("values", [[[1, 2, 3]], [[1, 1]] * 9, [[np.nan] * 3] * 9])
def test_nothing_to_fit_is_an_error_with_a_next_step(values):
    with pytest.raises(NotEnoughData, match=r"No factor model can be fitted.*gpt") as caught:
        cfa(item_scores(values))
    assert "more administrations" in caught.value.remedy


@settings(max_examples=6, deadline=None, derandomize=True)
@given(seed=st.integers(0, 999))
def test_the_order_of_the_frame_does_not_matter(seed):
    shuffled = schools().sample(frac=1, random_state=seed)
    first, second = frames(cfa(schools())), frames(cfa(shuffled))
    numbers = ["chi2", "chi2_scaled", "cfi_robust", "srmr"]
    np.testing.assert_allclose(
        second["fit"][numbers].to_numpy(), first["fit"][numbers].to_numpy(), rtol=1e-5
    )
    both = [f["loadings"].set_index("item")["standardized"].loc[HS] for f in (first, second)]
    np.testing.assert_allclose(both[1].abs(), both[0].abs(), atol=1e-5)
