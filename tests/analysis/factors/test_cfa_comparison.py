from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.cfa_comparison.analysis import cfa_comparison
from core.analysis.factors.cfa_comparison.models import (
    EQUAL_FIT,
    IRREGULAR,
    NOT_NESTED,
    OTHER_ITEMS,
    SAME_DF,
    is_special_case,
    preset_nesting,
)
from core.analysis.kit.factor_models.models import proposed_text
from core.errors import NotEnoughData, UserError
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import compare_models
from core.stats.factor.model import parameter_table
from core.stats.factor.model_text import parse_model
from tests.analysis.score_frames import item_scores
from tests.stats.reference import compare_wlsmv, expected, scores

HS = [f"x{k}" for k in range(1, 10)]
SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
KEYED = [1, -1, 1, -1, 1, 1, -1, 1, 1]
ONE = "g =~ " + " + ".join(HS)
THREE = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
TEXTS = f"## One\n{ONE}\n## Three\n{THREE}\n\n## Cross\n{THREE} # Joreskog\nvisual =~ x9\n"


def schools(**factors):
    options = {"items": HS, "subscales": SUBSCALES, "keyed": KEYED, **factors}
    return item_scores(scores("hs1939"), **options)


def likert():
    values = scores("likert22", [f"i{k}" for k in range(1, 9)] + [f"i{k}" for k in range(12, 17)])
    return item_scores(values, subscales=["F"] * 8 + ["G"] * 5)


def frames(result):
    assert [one.name for one in result.tables] == ["fit", "differences", "models"]
    return {one.name: one.frame for one in result.tables}


def pairs(result):
    return frames(result)["differences"].set_index(["restricted", "freer"])


def test_every_model_has_the_fit_it_has_alone():
    fit = frames(cfa_comparison(schools()))["fit"].set_index("factor_model")
    kinds = {
        "General factor": "general",
        "Subscales": "subscales",
        "Subscales and method": "method",
        "Second order": "second_order",
        "Bifactor": "bifactor",
    }
    assert set(fit.index) == set(kinds)
    for name, kind in kinds.items():
        alone = cfa(schools(), model=kind).tables[0].frame.iloc[0]
        for column in ("n", "df", "chi2", "chi2_scaled", "cfi_robust", "srmr", "aic", "bic"):
            assert fit.loc[name, column] == pytest.approx(alone[column], abs=1e-9), (name, column)


def test_one_factor_against_three_is_the_difference_of_the_two_published_chi_squares():
    """Three factors: 85.306 on 24 df, the tutorial of lavaan; one: 312.264 on 27."""
    result = cfa_comparison(schools(), models=TEXTS, estimator="ml")
    fit = frames(result)["fit"].set_index("factor_model")
    assert fit.loc[["One", "Three"], "chi2"].tolist() == pytest.approx([312.264, 85.306], abs=6e-4)
    aic, bic = fit["aic"] - fit["aic"].min(), fit["bic"] - fit["bic"].min()
    assert fit["aic_difference"].tolist() == pytest.approx(aic.tolist())
    assert fit["bic_difference"].tolist() == pytest.approx(bic.tolist())
    theirs = expected("hs1939_lavaan")["ML_listwise"]["fit"]
    assert fit.loc["Three", "chi2"] == pytest.approx(theirs["chisq"], abs=1e-5)
    assert fit.loc["Three", "aic"] == pytest.approx(theirs["aic"], abs=1e-5)
    found = pairs(cfa_comparison(schools(), estimator="ml"))
    row = found.loc[("General factor", "Subscales")]
    assert row["chi2_difference"] == pytest.approx(312.264 - 85.306, abs=1.2e-3)
    assert (row["df_difference"], row["nested"]) == (3, "yes")


def test_a_cross_loading_is_seen_to_be_a_restriction_less():
    found = pairs(cfa_comparison(schools(), models=TEXTS, estimator="ml"))
    row = found.loc[("Three", "Cross")]
    fits = [
        fit_cfa(scores("hs1939"), HS, t, estimator="ML") for t in (THREE, f"{THREE}\nvisual =~ x9")
    ]
    assert row["nested"] == "yes"
    assert row["df_difference"] == 1
    assert row["chi2_difference"] == pytest.approx(fits[0].fit.chi2 - fits[1].fit.chi2)
    assert row["remark"] == ""
    hidden = found.loc[("One", "Three")]
    assert (hidden["nested"], hidden["remark"]) == ("not known", NOT_NESTED)
    assert np.isnan(hidden["chi2_difference"])
    assert hidden["aic_difference"] > 100


def test_the_order_of_the_models_does_not_say_which_is_restricted():
    texts = f"## Cross\n{THREE}\nvisual =~ x9\n## Three\n{THREE}"
    row = frames(cfa_comparison(schools(), models=texts, estimator="ml"))["differences"].iloc[0]
    assert (row["restricted"], row["freer"]) == ("Three", "Cross")
    assert (row["df_difference"], row["nested"]) == (1, "yes")
    assert row["chi2_difference"] > 0


def test_the_difference_is_scaled_and_adjusted_over_the_tests_of_the_group():
    result = cfa_comparison(schools())
    found = pairs(result)
    values = scores("hs1939")
    one, three = (fit_cfa(values, HS, text) for text in (ONE, THREE))
    change = compare_models(one, three)
    row = found.loc[("General factor", "Subscales")]
    assert row["chi2_difference"] == pytest.approx(change.chi2)
    assert row["cfi_difference"] == pytest.approx(change.cfi)
    assert row["version"] == "robust"
    # second order and subscales are one model here, so what both are asked is asked once
    tested = found["p_difference"].dropna()
    doubled = [("General factor", "Second order"), ("Second order", "Subscales and method")]
    p = tested.drop(doubled).sort_values()
    by_hand = np.maximum.accumulate(np.minimum(p * np.arange(len(p), 0, -1), 1))
    assert (len(tested), len(p)) == (7, 5)
    np.testing.assert_allclose(found.loc[p.index, "p_adjusted"], by_hand, rtol=1e-5)
    for restricted, freer in doubled:
        twin = (
            restricted.replace("Second order", "Subscales"),
            freer.replace("Second order", "Subscales"),
        )
        assert found.loc[(restricted, freer), "p_adjusted"] == pytest.approx(
            found.loc[twin, "p_adjusted"], rel=1e-3
        )


def test_second_order_with_three_subscales_cannot_be_told_from_subscales():
    row = pairs(cfa_comparison(schools())).loc[("Subscales", "Second order")]
    assert (row["df_difference"], row["nested"], row["remark"]) == (0, "no", EQUAL_FIT)
    assert np.isnan(row["p_difference"])


def test_where_the_freer_model_is_not_determined_a_remark_says_so():
    found = pairs(cfa_comparison(schools(), estimator="ml"))
    assert found.loc[("Subscales", "Subscales and method"), "remark"] == IRREGULAR
    assert found.loc[("General factor", "Bifactor"), "remark"] == IRREGULAR
    assert found.loc[("General factor", "Subscales"), "remark"] == ""
    second = found.loc[("Second order", "Bifactor")]
    assert (second["nested"], second["remark"]) == ("yes", "")
    assert found.loc[("Subscales", "Bifactor"), "nested"] == "not known"
    assert preset_nesting("second_order", "bifactor", 2) == (True, True)
    assert preset_nesting("subscales", "bifactor", 3) is None


def test_the_usual_test_of_one_factor_against_two_holds_over_samples():
    """A correlation of 1 is no border, as the search may pass it; 1 degree of freedom."""
    draw = np.random.default_rng(5)
    names = [f"x{k}" for k in range(1, 7)]
    differences = []
    for _ in range(150):
        trait = draw.normal(size=(400, 1))
        values = trait * [0.8, 0.7, 0.6, 0.8, 0.7, 0.6] + 0.6 * draw.normal(size=(400, 6))
        one, two = (
            fit_cfa(values, names, text, estimator="ML").fit.chi2
            for text in ("g =~ " + " + ".join(names), "F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6")
        )
        differences.append(one - two)
    assert np.mean(differences) == pytest.approx(1, abs=3 * np.sqrt(2 / 150))
    assert np.mean(np.array(differences) > 3.841) < 0.1


def test_ordered_answers_have_a_difference_test_of_their_own():
    frame = likert()
    result = cfa_comparison(frame, estimator="wlsmv", missing="listwise")
    row = pairs(result).loc[("General factor", "Subscales")]
    items = [f"i{k}" for k in range(1, 14)]
    one = "g =~ " + " + ".join(items)
    two = "F =~ " + " + ".join(items[:8]) + "\nG =~ " + " + ".join(items[8:])
    values = frame["score"].to_numpy().reshape(-1, 13)
    own = compare_wlsmv(values, items, one, two)
    assert row["df_difference"] == own.df == 1
    assert row["chi2_difference"] == pytest.approx(own.chi2, rel=1e-6)
    assert row["p_difference"] == pytest.approx(own.p, rel=1e-5)
    fit = frames(result)["fit"].set_index("factor_model")
    alone = cfa(frame, estimator="wlsmv", missing="listwise").tables[0].frame.iloc[0]
    assert fit.loc["Subscales", "chi2_scaled"] == pytest.approx(alone["chi2_scaled"])
    assert fit[["aic", "aic_difference"]].isna().all(axis=None)


def test_models_of_different_items_share_rows_but_not_criteria():
    values = scores("hs1939").copy()
    values[:40, 8] = np.nan
    frame = item_scores(values, items=HS, subscales=SUBSCALES)
    texts = f"## All\n{THREE}\n## Fewer\nvisual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6"
    result = cfa_comparison(frame, models=texts, estimator="ml", missing="listwise")
    fit = frames(result)["fit"]
    assert fit["n"].tolist() == [261, 261]
    assert fit["aic_difference"].tolist() == [0, 0]
    assert all("same items" in remark for remark in fit["remark"])
    row = frames(result)["differences"].iloc[0]
    assert row["remark"] == OTHER_ITEMS
    assert np.isnan(
        row[["chi2_difference", "cfi_difference", "aic_difference"]].astype(float)
    ).all()
    assert (result.n_used, result.n_missing, result.n_left_out) == (261 * 9, 40, 40 * 8)
    full = frames(cfa_comparison(frame, models=texts, estimator="fiml"))["fit"]
    assert full["n"].tolist() == [301, 301]


def test_a_model_that_cannot_be_fitted_keeps_its_row_and_says_why():
    values = scores("hs1939").copy()
    values[:, :3] = 2
    frame = item_scores(values, items=HS, subscales=SUBSCALES)
    texts = f"## Three\n{THREE}\n## Two\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
    result = cfa_comparison(frame, models=texts)
    fit = frames(result)["fit"].set_index("factor_model")
    assert fit.loc["Three", "remark"] == "Not fitted. No item that varies is left of visual."
    assert np.isnan(fit.loc["Three", "chi2"])
    assert fit.loc["Two", "converged"]
    assert len(frames(result)["differences"]) == 0
    assert any("all answers are the same: x1, x2, x3" in note for note in result.all_notes)


def test_models_that_the_items_cannot_have_are_named_in_a_note():
    result = cfa_comparison(schools(keyed=[1] * 9))
    assert "Subscales and method" not in set(frames(result)["fit"]["factor_model"])
    assert any("not among the models: Subscales and a method" in note for note in result.all_notes)
    one = cfa_comparison(schools(subscales=["s"] * 9))
    assert set(frames(one)["fit"]["factor_model"]) == {"Subscales", "Subscales and method"}


def test_one_model_alone_is_shown_and_nothing_compared():
    result = cfa_comparison(schools(subscales=["s"] * 9, keyed=[1] * 9))
    assert frames(result)["fit"]["factor_model"].tolist() == ["Subscales"]
    assert any("only one model" in note for note in result.cautions)


def test_the_texts_that_were_compared_are_given_with_the_result():
    models = frames(cfa_comparison(schools(), models=TEXTS))["models"]
    assert models.query("factor_model == 'Cross'")["text"].tolist() == [
        "visual =~ x1 + x2 + x3",
        "textual =~ x4 + x5 + x6",
        "speed =~ x7 + x8 + x9 # Joreskog",
        "visual =~ x9",
    ]


def test_groups_are_compared_each_by_itself():
    second = schools(respondent="b", start=5000)
    second = second.assign(score=second["score"] * 2 + 1)
    found = frames(cfa_comparison(pd.concat([schools(), second]), models=TEXTS, estimator="ml"))
    chi2 = found["fit"].pivot(index="factor_model", columns="respondent", values="chi2")
    assert chi2["b"].tolist() == pytest.approx(chi2["gpt"].tolist(), rel=1e-6)
    assert len(found["differences"]) == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (THREE, "Line 1 .* has no model name above"),
        (f"## A\n{ONE}", "there is one"),
        ("# nothing", "there is none"),
        (f"##\n{ONE}", "line 1 has no name"),
        (f"## A\n{ONE}\n## A\n{THREE}", r'Two models are called "A" \(line 3\)'),
        (f"## A\n{ONE}\n## B\nF =~ x1 + x22", r'Model "B": .* line 4 .*Did you mean "x2"'),
        (f"## A\n{ONE}\n## B\n", 'Model "B": The model text measures nothing'),
    ],
)
def test_a_list_of_models_that_cannot_be_read_is_refused_with_the_place(text, message):
    with pytest.raises(UserError, match=message) as caught:
        cfa_comparison(schools(), models=text)
    assert caught.value.remedy


@pytest.mark.parametrize("values", [[[1, 2, 3]], [[1, 1]] * 9, [[np.nan] * 3] * 9])
def test_nothing_to_fit_is_an_error_with_a_next_step(values):
    with pytest.raises(NotEnoughData, match="No factor model can be fitted"):
        cfa_comparison(item_scores(values))


def table(text):
    return parameter_table(parse_model(text))


@pytest.mark.parametrize(
    ("restricted", "freer", "nested"),
    [
        ("F =~ a + b + c + d", "F =~ a + b + c + d\na ~~ b", True),
        ("F =~ a + b + c + d\na ~~ b", "F =~ a + b + c + d", False),
        ("F =~ a + b\nG =~ c + d\nF ~~ 0*G", "F =~ a + b\nG =~ c + d", True),
        ("F =~ a + b\nG =~ c + d\nG ~~ 0.5*F", "F =~ a + b\nG =~ c + d", True),
        ("F =~ a + k*b + k*c + d", "F =~ a + b + c + d", True),
        ("F =~ a + b + c + d\nc ~~ d", "F =~ a + k*b + k*c + d\na ~~ b\nc ~~ d", False),
        ("F =~ a + 2*b + 2*c + d", "F =~ a + k*b + k*c + d", True),
        ("F =~ a + 2*b + 3*c + d", "F =~ a + k*b + k*c + d", False),
        ("F =~ a + b + c + d", "F =~ b + a + c + d", False),  # another marker: not seen
        ("F =~ a + b + c", "F =~ a + b + c\nM =~ NA*a + b\nM ~~ 1*M\nM ~~ 0*F", True),
        ("F =~ a + b + c", "F =~ a + b + c\nM =~ a + b\nM ~~ 0*F", True),
        ("F =~ a + b + c", "F =~ a + b + c\nM =~ a + b\nM ~~ 1*M\nM ~~ 0*F", False),
        ("F =~ a + b + c", "F =~ a + k*b + c\nM =~ NA*a + k*c\nM ~~ 1*M\nM ~~ 0*F", False),
        ("F =~ a + b\nH =~ c + d", "F =~ a + b\nG =~ c + d", False),
    ],
)
def test_a_special_case_is_told_by_its_parameters(restricted, freer, nested):
    assert is_special_case(table(restricted), table(freer)) is nested


def test_special_cases_never_fit_better():
    """Whatever is called nested has a chi-square at least as large, over many random texts."""
    draw = np.random.default_rng(4)
    values = scores("hs1939")[:, :6]
    extra = ["x1 ~~ x4", "x2 ~~ x3", "G =~ x1", "F =~ x6", "F ~~ 0*G", "x5 ~~ x6"]
    fits = []
    for _ in range(20):
        lines = [line for line in extra if draw.random() < 0.4]
        text = "\n".join(["F =~ x1 + x2 + x3", "G =~ x4 + x5 + x6", *lines])
        fit = fit_cfa(values, HS[:6], text, estimator="ML")
        fits += [fit] if np.isfinite(fit.fit.chi2) else []
    nested = [
        (one, other)
        for one in fits
        for other in fits
        if one.fit.df > other.fit.df and is_special_case(one.table, other.table)
    ]
    assert len(nested) > 10
    assert all(one.fit.chi2 > other.fit.chi2 - 1e-6 for one, other in nested)


def test_a_name_may_begin_with_a_number_sign():
    texts = f'## # 1\n{ONE}\n##Two: a "b"\n{THREE}'
    found = frames(cfa_comparison(schools(), models=texts, estimator="ml"))
    assert found["fit"]["factor_model"].tolist() == ["# 1", 'Two: a "b"']


def test_models_with_as_many_parameters_are_not_tested():
    texts = f"## A\n{THREE}\nx1 ~~ x2\n## B\n{THREE}\nx7 ~~ x8"
    row = frames(cfa_comparison(schools(), models=texts))["differences"].iloc[0]
    assert (row["remark"], row["df_difference"], row["nested"]) == (SAME_DF, 0, "no")


def test_a_model_that_the_answers_do_not_identify_is_not_tested():
    loose = "F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6\nF ~~ 0*G"
    texts = f"## Loose\n{loose}\nx5 ~~ x6\n## Freer\n{loose}\nx5 ~~ x6\nx1 ~~ x4"
    found = frames(cfa_comparison(schools(), models=texts))
    row = found["differences"].iloc[0]
    assert "not identified" in row["remark"]
    assert np.isnan(row["p_difference"])
    assert found["fit"]["remark"].tolist() == ["No test of fit; see the notes."] * 2


def test_every_column_is_explained():
    for one in cfa_comparison(schools(), models=TEXTS).tables:
        unexplained = [c.name for c in one.columns if not c.help and c.name != "respondent"]
        assert not unexplained, one.name


def test_a_preset_written_out_is_known_as_what_it_is():
    """The page hands presets over as texts when other models stand beside them."""
    texts = {kind: proposed_text(schools(), kind).text for kind in ("general", "subscales")}
    typed = "\n".join(f"## {kind}\n{text}" for kind, text in texts.items())
    own = pairs(cfa_comparison(schools(), models=typed)).loc[("general", "subscales")]
    preset = pairs(cfa_comparison(schools())).loc[("General factor", "Subscales")]
    assert own["nested"] == preset["nested"] == "yes"
    assert own["chi2_difference"] == pytest.approx(preset["chi2_difference"], abs=1e-9)


def test_a_regression_of_0_is_tested_as_in_lavaan():
    """lavTestLRT of lavaan 0.6-14 (gold_regressions.R), of psych's bfi."""
    golden = expected("regressions_lavaan")
    items = [f"{scale}{k}" for scale in "AEN" for k in range(1, 6)]
    bfi = item_scores(scores("bfi25", items), items=items, subscales=["s"] * 15)
    models = f"## Without\n{golden['restricted']}\n## With\n{golden['models']['chain']}"
    for estimator in ("ml", "mlr"):
        row = pairs(cfa_comparison(bfi, models=models, estimator=estimator)).loc["Without", "With"]
        theirs = golden["differences"][estimator.upper()]
        assert (row["nested"], row["df_difference"]) == ("yes", theirs["df"])
        assert row["chi2_difference"] == pytest.approx(theirs["chi2"], rel=1e-3)
        assert row["p_difference"] == pytest.approx(theirs["p"], abs=1e-4)


def test_a_covariate_is_no_item_that_measures_something():
    models = "## Item\nF =~ x1 + x2 + x3 + x4\n## Covariate\nF =~ x1 + x2 + x3\nF ~ x4"
    result = cfa_comparison(schools(), models=models, estimator="ml")
    assert pairs(result)["remark"].tolist() == [OTHER_ITEMS]
    assert frames(result)["fit"]["aic_difference"].tolist() == [0, 0]
