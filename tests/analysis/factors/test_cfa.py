from __future__ import annotations

import io
import re

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import stats

from core.analysis.factors.cfa.analysis import TWO_SUBSCALES, cfa, cfa_scripts
from core.analysis.kit.factor_models.models import proposed_text, written_model
from core.domain.frames import NUMERIC_FACTS
from core.domain.notes import of_kind
from core.errors import NotEnoughData, UserError
from core.progress import Cancelled, watch
from core.stats.factor.cfa import fit_cfa
from core.stats.normality import normality
from core.workflow.statistics import analyses
from tests.analysis.kit.scripts.running import run_r, written
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples
from tests.stats.reference import expected, scores

LIKERT = [f"i{k}" for k in range(1, 23)]  # i22 is constant and not in lavaan's model
LIKERT_SUBSCALES = ["F1"] * 11 + ["F2"] * 11
HS = [f"x{k}" for k in range(1, 10)]
HS_SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
TABLES = [
    "fit",
    "loadings",
    "factor_correlations",
    "residual_covariances",
    "item_variances",
    "residuals",
    "modification_indices",
    "normality",
    "model",
]
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
    "cfi_scaled": "cfi.scaled",
    "tli_scaled": "tli.scaled",
    "rmsea_scaled": "rmsea.scaled",
    "rmsea_scaled_low": "rmsea.ci.lower.scaled",
    "rmsea_scaled_high": "rmsea.ci.upper.scaled",
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
    assert [one.name for one in result.tables if one.name != "thresholds"] == TABLES
    return {one.name: one.frame for one in result.tables}


@pytest.mark.parametrize(
    ("estimator", "missing", "kind"),
    [
        ("ml", "listwise", "ML_listwise"),
        ("mlr", "listwise", "MLR_listwise"),
        ("fiml", "listwise", "FIML_MLR"),
        ("wlsmv", "listwise", "WLSMV_listwise"),
        # complete administrations alone would leave out 18 %
        ("ml", "automatic", "FIML_ML"),
        ("mlr", "automatic", "FIML_MLR"),
        ("automatic", "automatic", "FIML_MLR"),
        ("wlsmv", "automatic", "WLSMV_pairwise"),
        ("wlsmv", "available", "WLSMV_pairwise"),
    ],
)
def test_agrees_with_lavaan(estimator, missing, kind):
    theirs = expected("likert22_lavaan")[kind]
    result = cfa(likert(), estimator=estimator, missing=missing)
    found = frames(result)
    fit = found["fit"].iloc[0]
    assert (fit["n"], fit["n_items"]) == (theirs["nobs"], 21)
    assert fit["n_parameters"] == theirs["fit"]["npar"]
    for ours, name in KEYS.items():
        if name in theirs["fit"]:
            assert fit[ours] == pytest.approx(theirs["fit"][name], rel=1e-7, abs=1e-5), ours
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
        standardized = [other["est.std"], other["se"], other["ci.lower"], other["ci.upper"]]
        assert ours[
            ["standardized", "standardized_se", "standardized_low", "standardized_high"]
        ].tolist() == pytest.approx(standardized, abs=1e-4)
    theirs_r = next(
        row for row in theirs["standardized"] if (row["lhs"], row["rhs"]) == ("F1", "F2")
    )
    ours_r = found["factor_correlations"].iloc[0]
    assert ours_r["correlation"] == pytest.approx(theirs_r["est.std"], abs=1e-4)
    assert ours_r["se"] == pytest.approx(theirs_r["se"], abs=1e-4)
    limits = [theirs_r["ci.lower"], theirs_r["ci.upper"]]
    assert ours_r[["ci_low", "ci_high"]].tolist() == pytest.approx(limits, abs=1e-4)
    explained = found["item_variances"].set_index("item")["r_squared"]
    assert len(explained) == 21
    for item, value in theirs["rsquare"].items():
        assert explained[item] == pytest.approx(value, abs=1e-4), item
    if estimator != "wlsmv":  # lavaan's table has the total variance of 1 there
        own = {(row["lhs"], row["rhs"]): row["est"] for row in theirs["parameters"]}
        variances = found["item_variances"].set_index("item")["residual_variance"]
        for item, value in variances.items():
            assert value == pytest.approx(own[item, item], abs=1e-4), item
    indices = found["modification_indices"]
    assert len(indices) == 15
    wanted = [row["mi"] for row in theirs["modindices_top15"]]
    assert indices["index"].tolist() == pytest.approx(wanted, abs=1e-3)
    assert "gpt: Left out, because all answers are the same: i22." in result.all_notes


@pytest.mark.parametrize(
    ("estimator", "kind", "version"),
    [
        ("ml", "ML_listwise", ""),
        ("mlr", "MLR_listwise", "robust"),
        ("fiml", "FIML_MLR", "robust"),
        ("wlsmv", "WLSMV_listwise", "scaled"),
    ],
)
def test_the_table_begins_with_the_statistics_of_the_sentence(estimator, kind, version):
    theirs = expected("likert22_lavaan")[kind]["fit"]
    scaled, which = (".scaled", f".{version}") if version else ("", "")
    names = [
        f"chisq{scaled}",
        "df",
        f"pvalue{scaled}",
        f"cfi{which}",
        f"tli{which}",
        f"rmsea{which}",
        f"rmsea.ci.lower{which}",
        f"rmsea.ci.upper{which}",
        "srmr",
    ]
    result = cfa(likert(), estimator=estimator, missing="listwise")
    row = frames(result)["fit"].iloc[0]
    assert row["reported"] == (version or "plain")
    first = row.index.get_loc("reported") + 1
    assert row.iloc[first : first + 9].tolist() == pytest.approx(
        [theirs[name] for name in names], rel=1e-7, abs=1e-5
    )
    ((_, sentence, _),) = analyses.by_name("cfa").answer(result)
    word, test = (f"{version} ", "scaled χ²") if version else ("", ": χ²")
    assert f"{test}({theirs['df']}) = {theirs[f'chisq{scaled}']:.1f}, p" in sentence
    cfi, rmsea = (f"{theirs[f'{name}{which}']:.2f}"[1:] for name in ("cfi", "rmsea"))
    assert f"{word}CFI {cfi}, {word}RMSEA {rmsea}" in sentence


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
    assert set(found["loadings"]["factor"]) == {"self-esteem", "(none)", "General", "General 3"}
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
    assert any(
        note.startswith("b: not fitted. There are 6 usable rows") for note in result.cautions
    )
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
    assert any(note.startswith("b: The model has more parameters") for note in result.cautions)


def test_an_impossible_estimate_is_reported_and_named():
    values = scores("heywood6")
    items = [f"y{k}" for k in range(1, 7)]
    frame = item_scores(values, items=items, subscales=["f"] * 3 + ["g"] * 3)
    result = cfa(frame, estimator="ml")
    assert not frames(result)["fit"]["admissible"].item()
    assert any(
        note.startswith("gpt: The residual variance of y1 is neg") for note in result.all_notes
    )


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


@few_examples
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


def typed(text, **options):
    """The tables of a typed model of the two schools together."""
    return frames(cfa(schools(), model_text=text, **{"estimator": "ml", **options}))


THREE = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"


@pytest.mark.parametrize("kind", ["subscales", "general", "method", "bifactor", "second_order"])
def test_the_text_of_a_model_gives_the_numbers_of_the_model(kind):
    frame = item_scores(
        scores("hs1939"), items=HS, subscales=HS_SUBSCALES, keyed=[1, -1, 1, -1, 1, 1, -1, 1, 1]
    )
    text = proposed_text(frame, kind).text
    chosen, again = cfa(frame, model=kind), cfa(frame, model_text=text)
    for one, other in zip(chosen.tables, again.tables, strict=True):
        pd.testing.assert_frame_equal(one.frame, other.frame)
    assert (chosen.all_notes, chosen.n_used) == (again.all_notes, again.n_used)


def test_thresholds_are_those_of_lavaan_and_there_for_ordered_answers_only():
    theirs = expected("likert22_lavaan")["WLSMV_listwise"]["parameters"]
    wanted = {(r["lhs"], int(r["rhs"][1:])): r for r in theirs if r["op"] == "|"}
    fitted = cfa(likert(), estimator="wlsmv", missing="listwise")
    (table,) = [t for t in fitted.tables if t.name == "thresholds"]
    assert len(table.frame) == len(wanted) == 105
    for row in table.frame.itertuples():
        other = wanted[row.item, row.number]
        ours = [row.estimate, row.se, row.z, row.ci_low, row.ci_high]
        names = ["est", "se", "z", "ci.lower", "ci.upper"]
        assert ours == pytest.approx([other[name] for name in names], rel=1e-4, abs=1e-5)
    assert not [t for t in cfa(likert()).tables if t.name == "thresholds"]


def test_a_free_residual_covariance_is_the_fall_that_its_index_foretells():
    """Joreskog: freeing x7 ~~ x8 is the second step of the textbook's example."""
    plain, freed = typed(THREE), typed(f"{THREE}\nx7 ~~ x8")
    assert len(plain["residual_covariances"]) == 0
    row = freed["residual_covariances"].iloc[0]
    assert (row["item_1"], row["item_2"]) == ("x7", "x8")
    left = freed["item_variances"].set_index("item")["residual_variance"]
    assert row["correlation"] == pytest.approx(row["covariance"] / np.sqrt(left["x7"] * left["x8"]))
    assert row["ci_low"] < row["correlation"] < row["ci_high"]
    assert freed["fit"]["df"].item() == plain["fit"]["df"].item() - 1
    index = plain["modification_indices"].query("left == 'x7' and right == 'x8'")["index"].item()
    fall = plain["fit"]["chi2"].item() - freed["fit"]["chi2"].item()
    assert fall == pytest.approx(index, rel=0.15)


def test_variances_of_items_add_up_to_one():
    found = typed(THREE)
    variances = found["item_variances"]
    total = variances["residual_standardized"] + variances["r_squared"]
    np.testing.assert_allclose(total, 1)
    loading = found["loadings"].set_index("item")["standardized"]
    np.testing.assert_allclose(variances.set_index("item")["r_squared"], loading**2)
    observed = scores("hs1939").var(axis=0)  # reproduced exactly, there being no restriction
    np.testing.assert_allclose(
        variances["residual_variance"] / variances["residual_standardized"], observed, rtol=1e-5
    )


def test_the_tests_of_normality_are_those_of_the_items_in_the_model():
    found = typed("F =~ x1 + x2 + x3 + x4")["normality"].set_index("test")
    own = normality(scores("hs1939")[:, :4], HS[:4])
    assert found.loc["Mardia skewness", "value"] == pytest.approx(own.mardia.b1, abs=1e-12)
    assert found.loc["Mardia kurtosis", "statistic"] == own.mardia.kurtosis.statistic
    assert found.loc["Multivariate Shapiro-Wilk", "p_value"] == own.joint_shapiro.p_value
    few = own.mardia.kurtosis_small_sample
    assert found.loc["Mardia kurtosis, small sample", "p_value"] == few.p_value
    assert found["n"].tolist() == [301] * 5


def test_items_that_the_text_does_not_name_are_left_out_and_named():
    result = cfa(schools(), model_text="F =~ x1 + x2 + x3 + x4", estimator="ml")
    assert any("does not name them: x5, x6, x7, x8, x9" in note for note in result.all_notes)
    assert frames(result)["fit"]["n_items"].item() == 4
    assert (result.n_used, result.n_left_out) == (301 * 4, 301 * 5)
    assert result.method.startswith("Confirmatory factor analysis. The model of the text")


def test_a_gap_in_an_item_that_the_text_does_not_name_costs_no_administration():
    values = scores("hs1939").copy()
    values[:50, 8] = np.nan
    frame = item_scores(values, items=HS, subscales=HS_SUBSCALES)
    found = frames(cfa(frame, model_text="F =~ x1 + x2 + x3 + x4"))
    assert found["fit"][["n", "dropped"]].iloc[0].tolist() == [301, 0]


@pytest.mark.parametrize("seed", [54, 149])
def test_a_first_item_that_hardly_loads_does_not_hide_the_maximum(seed):
    rng = np.random.default_rng(seed)
    found = np.clip(np.round(3 + rng.normal(size=(40, 1)) + rng.normal(size=(40, 8))), 1, 5)
    found[:, 0] = rng.permutation(found[:, 0])
    names = [f"i{k}" for k in range(1, 9)]
    assert not fit_cfa(found, names, "F =~ " + " + ".join(names), estimator="ML").converged
    result = cfa(item_scores(found, items=names), estimator="ml")
    assert of_kind(result.notes, "unit changed")
    turned = "F =~ " + " + ".join(names[::-1])
    best = fit_cfa(found, names, turned, estimator="ML")
    assert best.converged
    row = result.tables[0].frame.iloc[0]
    assert (row["df"], row["chi2"]) == (best.fit.df, pytest.approx(best.fit.chi2, abs=1e-4))
    mine = result.tables[1].frame.set_index("item")["standardized"]
    for name in names:
        other = best.standardized_estimate("F", "=~", name).estimate
        assert abs(mine[name]) == pytest.approx(abs(other), abs=1e-3)


def test_a_second_order_factor_above_two_subscales_is_said_to_rest_on_their_correlation():
    frame = item_scores(scores("likert22", LIKERT), subscales=LIKERT_SUBSCALES)
    assert TWO_SUBSCALES in cfa(frame, model="second_order").cautions
    assert TWO_SUBSCALES not in cfa(frame).all_notes
    three = item_scores(scores("hs1939", HS), items=HS, subscales=HS_SUBSCALES)
    assert TWO_SUBSCALES not in cfa(three, model="second_order").all_notes


def test_costly_gaps_are_told_with_the_estimator_that_keeps_their_rows():
    values = np.array(scores("hs1939", HS))
    values[np.arange(40), np.arange(40) % 9] = np.nan
    frame = item_scores(values, items=HS, subscales=HS_SUBSCALES)

    def told(**options):
        return [
            n for n in cfa(frame, **options).cautions if n.startswith("Gaps in the answers cost")
        ]

    (said,) = told(estimator="mlr", missing="listwise")
    assert said == (
        "Gaps in the answers cost 13% of the administrations. All answers there are, which is an "
        "option, keep them."
    )
    assert told(estimator="mlr") == []
    assert told(estimator="fiml") == []
    frame = frame[~frame["administration"].isin(range(1, 31))]  # 10 of 271 are left
    assert told(estimator="ml") == []


def with_fact(values, kind):
    """The schools with a fact about each pupil, a number or a category."""
    frame = schools()
    numbers = pd.factorize(frame["administration"])[0]
    facts = np.resize(np.array(values, dtype=object), numbers.max() + 1)
    named = {"person.v": pd.Categorical(facts[numbers]), NUMERIC_FACTS: ""}
    return frame.assign(**named | ({NUMERIC_FACTS: "person.v"} if kind == "number" else {}))


BY_FACT = "F =~ x1 + x2 + x3\nF ~ person.v"


def test_people_without_a_covariate_are_no_gaps_in_the_answers():
    frame = with_fact(["1.5", "2", "4", "3", ""], "number")  # a fifth, 60 of 301, has none
    for missing in ("listwise", "available"):
        result = cfa(frame, estimator="mlr", missing=missing, model_text=BY_FACT)
        assert any("60 rows lack a covariate (person.v)" in n for n in result.cautions)
        assert not any("Gaps in the answers" in n for n in result.cautions)
        fit = result.tables[0].frame
        assert (fit["n"].tolist(), fit["incomplete"].tolist()) == ([241], [0])


def test_codes_of_a_category_are_no_numbers():
    result = cfa(with_fact(["1", "2"], "category"), estimator="ml", model_text=BY_FACT)
    assert any("person.v as covariate: 0 is 1, 1 is 2" in note for note in result.notes)
    with pytest.raises(NotEnoughData, match="3 categories"):
        cfa(with_fact(["1", "2", "3"], "category"), model_text=BY_FACT)
    amounts = cfa(with_fact(["1", "2", "3"], "number"), estimator="ml", model_text=BY_FACT)
    assert not any("as covariate" in note for note in amounts.notes)


def test_an_infinite_number_of_a_person_counts_as_none():
    values = [str(k % 7) for k in range(300)] + ["inf"]
    result = cfa(with_fact(values, "number"), estimator="ml", model_text=BY_FACT)
    assert any("1 value of person.v is no finite number" in note for note in result.notes)
    assert result.tables[0].frame["n"].tolist() == [300]


def test_a_constant_item_is_taken_out_of_the_text_and_the_model_shows_it():
    values = scores("hs1939").copy()
    values[:, 1] = 3
    frame = item_scores(values, items=HS, subscales=HS_SUBSCALES)
    result = cfa(frame, model_text=f"{THREE} # all\nx2 ~~ x4", estimator="ml")
    assert "gpt: Left out, because all answers are the same: x2." in result.all_notes
    found = frames(result)
    assert found["model"]["text"].tolist() == [
        "visual =~ x1 + x3",
        "textual =~ x4 + x5 + x6",
        "speed =~ x7 + x8 + x9",
    ]
    assert found["model"]["line"].tolist() == [1, 2, 3]
    same = frames(cfa(frame, estimator="ml"))
    pd.testing.assert_frame_equal(found["fit"], same["fit"])


def test_a_factor_without_items_leaves_the_group_out_with_the_reason():
    values = scores("hs1939").copy()
    values[:, :3] = 3
    flat = item_scores(values, items=HS, subscales=HS_SUBSCALES, respondent="flat", start=5000)
    result = cfa(pd.concat([schools(), flat]), model_text=THREE)
    assert "flat: not fitted. No item that varies is left of visual." in result.cautions
    theirs = frames(result)["loadings"].query("respondent == 'flat'")
    assert theirs[["factor", "item"]].to_numpy().tolist() == [
        [owner, item] for owner, item in zip(HS_SUBSCALES, HS, strict=True)
    ]
    assert theirs.drop(columns=["respondent", "factor", "item"]).isna().all(axis=None)


def test_an_item_nobody_of_a_group_was_asked_is_left_out_there():
    few = schools(respondent="b", start=5000).query("item != 'x9'")
    result = cfa(pd.concat([schools(), few]), model_text=THREE, estimator="ml")
    assert "b: Left out, because nobody answered: x9." in result.all_notes
    assert frames(result)["fit"]["n_items"].tolist() == [9, 8]


def test_a_misspelt_item_is_named_with_its_line_and_the_nearest_name():
    with pytest.raises(UserError, match=r'line 2 .*"x44".*Did you mean "x4"') as caught:
        cfa(schools(), model_text="F =~ x1 + x2 + x3\nG =~ x44 + x5")
    assert caught.value.remedy


def test_codes_that_no_text_can_hold_are_offered_as_they_have_to_be_written():
    items = ["a 1", "a-1", "a_1", *HS[3:]]
    frame = item_scores(scores("hs1939"), items=items, subscales=HS_SUBSCALES)
    with pytest.raises(UserError) as caught:
        cfa(frame, model_text="F =~ a 1 + a-1")
    assert "a 1 as a_1_2, a-1 as a_1_3" in caught.value.remedy
    found = frames(cfa(frame, model_text="F =~ a_1_2 + a_1_3 + a_1 + x4", estimator="ml"))
    assert found["loadings"]["item"].tolist() == ["a 1", "a-1", "a_1", "x4"]
    assert found["model"]["text"].tolist() == ["F =~ a 1 + a-1 + a_1 + x4"]


def test_averaged_scores_and_scores_with_many_steps_are_no_ordered_answers():
    with pytest.raises(NotEnoughData, match=r"x1 has 35 different scores; .* at most 20") as caught:
        cfa(schools(), estimator="wlsmv")
    assert "MLR" in caught.value.remedy
    many = np.random.default_rng(1).integers(0, 101, (200, 4))
    with pytest.raises(NotEnoughData, match=r"i1 has \d+ different scores; ordered answers"):
        cfa(item_scores(many), estimator="wlsmv")


def test_a_model_of_ordered_answers_that_does_not_settle_has_no_numbers():
    """Two items and two factors: one correlation for as many parameters as one."""
    frame = item_scores(np.random.default_rng(2).integers(1, 6, (80, 2)))
    with pytest.raises(NotEnoughData, match="No factor model can be fitted"):
        cfa(frame, estimator="wlsmv", model_text="F =~ i1 + i2\nF ~~ F\ni1 ~~ i2")


CHAIN = """visual =~ x1 + x2 + x3
textual =~ x4 + x5 + x6
textual ~ a*visual + x8
visual ~ b*x8 + x9
x3 ~ x9
through := a*b"""


def test_regressions_have_tables_and_a_sentence_with_lavaans_numbers(tmp_path):
    given, kind = schools(), {"estimator": "mlr", "model_text": CHAIN}
    result = cfa(given, **kind)
    tables = {one.name: one.frame for one in result.tables}
    files = cfa_scripts(given, **kind)
    raw, standardized, per_unit, shares = run_r(
        written(files, tmp_path),
        "cfa.R",
        "as.data.frame(unclass(results[[1]]$estimates))",
        "as.data.frame(unclass(results[[1]]$standardized))",
        "as.data.frame(unclass(standardizedSolution(results[[1]]$fit, type = 'std.nox')))",
        "data.frame(value = lavInspect(results[[1]]$fit, 'rsquare'), name = "
        "names(lavInspect(results[[1]]$fit, 'rsquare')))",
    )
    rows = tables["regressions"].set_index(["outcome", "predictor"])
    theirs = raw[raw["op"] == "~"].set_index(["lhs", "rhs"])
    standard = standardized[standardized["op"] == "~"].set_index(["lhs", "rhs"])
    assert len(rows) == len(theirs) == 5
    for names, row in rows.iterrows():
        numbers = theirs.loc[names, ["est", "se", "z", "pvalue", "ci.lower", "ci.upper"]]
        columns = ["estimate", "se", "z", "p", "ci_low", "ci_high"]
        assert row[columns].tolist() == pytest.approx(numbers.tolist(), abs=1e-4)
        numbers = standard.loc[names, ["est.std", "se", "ci.lower", "ci.upper"]]
        columns = [f"standardized{end}" for end in ("", "_se", "_low", "_high")]
        assert row[columns].tolist() == pytest.approx(numbers.tolist(), abs=1e-4)
    steps = per_unit[per_unit["op"] == "~"].set_index(["lhs", "rhs"])["est.std"]
    for names, value in rows["per_unit"].items():
        expected_step = np.nan if names[1] == "visual" else steps[names]
        assert value == pytest.approx(expected_step, abs=1e-4, nan_ok=True)
    explained = dict(zip(shares["name"], shares["value"], strict=True))
    for row in tables["outcomes"].to_dict("records"):
        assert row["r_squared"] == pytest.approx(explained[row["outcome"]], abs=1e-4)
    (defined,) = tables["defined"].to_dict("records")
    (through,) = raw[raw["op"] == ":="].to_dict("records")
    assert defined["estimate"] == pytest.approx(through["est"], abs=1e-4)
    assert defined["se"] == pytest.approx(through["se"], abs=1e-4)
    assert not {"x8", "x9"} & set(tables["item_variances"]["item"])
    assert "fixed.x" in result.method
    (answer,) = analyses.by_name("cfa").answer(result)
    assert "textual rises with visual (" in answer.sentence
    assert not np.isfinite(tables["factor_correlations"]["p"]).any()


def test_few_rows_have_a_caution_on_the_intervals_of_regressions():
    few = item_scores(scores("hs1939")[:99], items=HS, subscales=HS_SUBSCALES)
    cautions = cfa(few, estimator="mlr", model_text=CHAIN).cautions
    assert any("intervals of regressions" in caution for caution in cautions)
    cautions = cfa(schools(), estimator="mlr", model_text=CHAIN).cautions
    assert not any("too short" in caution for caution in cautions)


def test_few_rows_have_their_own_p_and_intervals():
    few = {n: item_scores(scores("hs1939")[:n], items=HS, subscales=HS_SUBSCALES) for n in (15, 60)}
    tables = {n: cfa(rows, estimator="ml", missing="listwise").tables for n, rows in few.items()}
    fits = {n: next(t.frame for t in of_n if t.name == "fit").loc[0] for n, of_n in tables.items()}
    fit = fits[60]
    factor = 1 - (2.381 + 0.361 * 9 + 0.006 * 21) / 60
    assert fit["p_few_rows"] == pytest.approx(stats.chi2.sf(fit["chi2"] * factor, 24), rel=1e-9)
    row = next(t.frame for t in tables[60] if t.name == "loadings").loc[1]
    # Fisher's z has n - 3, a loading in score points n - 1
    half = stats.t.ppf(0.975, [59, 57]) * [row["se"], row["standardized_se"]]
    assert row["ci_low"] == pytest.approx(row["estimate"] - half[0])
    z = np.arctanh(row["standardized"]) - half[1] / (1 - row["standardized"] ** 2)
    assert row["standardized_low"] == pytest.approx(np.tanh(z))
    narrow = cfa(few[60], estimator="ml", missing="listwise", ci_level=0.8).tables
    narrow = next(t.frame for t in narrow if t.name == "loadings").loc[1]
    assert narrow["ci_low"] == pytest.approx(row["estimate"] - stats.t.ppf(0.9, 59) * row["se"])
    fewest = next(t.frame for t in tables[15] if t.name == "loadings")
    assert fewest.loc[fewest["se"] > 0, "ci_low"].isna().all()
    assert (
        "p for few rows"
        in analyses.by_name("cfa")
        .answer(cfa(few[60], estimator="ml", missing="listwise"))[0]
        .sentence
    )
    assert np.isnan(cfa(schools(), estimator="ml").tables[0].frame["p_few_rows"][0])


def test_an_outcome_that_measures_a_factor_names_it_beside_the_predictors():
    text = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8\n"
    text += "top =~ visual + textual + speed\nx1 ~ x9\nvisual ~ x9\ntop ~ x9"
    result = cfa(schools(), estimator="ml", model_text=text)
    rows = next(one.frame for one in result.tables if one.name == "outcomes").set_index("outcome")
    assert rows["remark"].to_dict() == {
        "x1": "Also explained by visual, which it measures.",
        "visual": "Also explained by top, which it measures.",
        "top": "",
    }


def test_a_fixed_or_undefined_coefficient_is_no_finding():
    # x7 explains both, so the covariance of the residuals cannot be told from the regression
    text = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nvisual ~ x7 + 0*x9\n"
    text += "textual ~ visual + x7\ntextual ~~ visual"
    result = cfa(schools(), estimator="ml", model_text=text)
    (answer,) = analyses.by_name("cfa").answer(result)
    assert "the coefficient of visual for textual (" in answer.sentence
    assert "has no defined interval" in answer.sentence
    assert "the coefficient of x9 for visual is held at 0.00" in answer.sentence
    assert "no clear relation" not in answer.sentence


def test_a_model_without_regressions_has_no_tables_of_them():
    names = [one.name for one in cfa(schools(), estimator="ml").tables]
    assert not {"regressions", "outcomes", "defined"} & set(names)


def test_observed_covariates_choose_mlr_and_are_refused_under_wlsmv():
    values = np.clip(np.round(scores("hs1939") / 2), 1, 4)
    given = item_scores(values, items=HS, subscales=HS_SUBSCALES)
    text = "textual =~ x4 + x5 + x6\ntextual ~ x8"
    result = cfa(given, model_text=text)
    assert result.tables[0].frame["reported"].tolist() == ["robust"]
    assert any(note.startswith("Estimator: MLR") and "x8" in note for note in result.notes)
    with pytest.raises(UserError) as refusal:
        cfa(given, model_text=text, estimator="wlsmv")
    assert "x8" in refusal.value.problem
    assert "MLR" in refusal.value.remedy


def test_the_scripts_hold_the_models_and_the_answers():
    values = scores("hs1939").copy()
    values[:, 1] = 3
    flat = item_scores(values, items=HS, subscales=HS_SUBSCALES, respondent="flat", start=5000)
    files = {f.name: f.text for f in cfa_scripts(pd.concat([schools(), flat]), estimator="ml")}
    programs = {"cfa.R", "cfa.py", "shared.R", "shared.py"}
    assert set(files) == programs | {"data.csv", "settings.csv", "models.csv"}
    table = pd.read_csv(io.StringIO(files["data.csv"]))
    assert len(table) == 602
    assert table["x2"].isna().sum() == 301
    np.testing.assert_allclose(table.loc[:300, HS], scores("hs1939"))
    assert "x2" in files["models.csv"]
    with pytest.raises(NotEnoughData, match="nothing to write"):
        cfa_scripts(schools().assign(subscale="one"), model="bifactor")


def test_groups_are_told_to_whoever_watches_and_can_be_stopped():
    frame = pd.concat([schools(), schools(respondent="b", start=5000)])
    told = []
    with watch(lambda *step: told.append(step)):
        cfa(frame, estimator="ml")
    assert told == [(0, 2, "groups"), (1, 2, "groups")]

    def stop(done, total, what):
        raise Cancelled

    with watch(stop), pytest.raises(Cancelled):
        cfa(frame)


def test_every_column_is_explained():
    for one in cfa(likert(), estimator="wlsmv").tables:
        unexplained = [c.name for c in one.columns if not c.help and c.name != "respondent"]
        assert not unexplained, one.name


@pytest.mark.parametrize("estimator", ["mlr", "wlsmv"])
def test_items_keyed_the_wrong_way_are_named(estimator):
    rng = np.random.default_rng(7)
    trait = rng.normal(size=(300, 1))
    values = np.clip(np.round(3 + trait + rng.normal(size=(300, 6))), 1, 5)
    values[:, [1, 4]] = 6 - values[:, [1, 4]]
    result = cfa(item_scores(values), estimator=estimator)
    (note,) = [note for note in result.cautions if "check their keying" in note]
    assert re.fullmatch(
        r"gpt: i2 \(-0\.\d\d\), i5 \(-0\.\d\d\) load against the other items of s: "
        r"check their keying\.",
        note,
    )
    values[:, 0] = 6 - values[:, 0]  # the item that sets the unit is the wrong one, with another
    values[:, 1] = 6 - values[:, 1]
    result = cfa(item_scores(values), estimator=estimator)
    (note,) = [note for note in result.cautions if "check their keying" in note]
    assert re.search(r"i1 \(0\.\d\d\), i5 \(0\.\d\d\) load against", note)
    values[:, [0, 4]] = 6 - values[:, [0, 4]]
    assert not any("keying" in note for note in cfa(item_scores(values)).all_notes)
