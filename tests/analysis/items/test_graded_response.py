from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.items.graded_response.analysis import graded_response
from core.errors import NotEnoughData
from core.stats.irt.item_response import item_response, option_probabilities
from core.workflow.statistics.analyses import by_name
from tests.analysis.score_frames import item_scores
from tests.examples import few_examples
from tests.stats.simulated_answers import simulated

GOLDEN = Path(__file__).parents[2] / "stats" / "golden"


def tables(result):
    return {table.name: table.frame for table in result.tables}


def frame_of(seed=1, n=200, p=4, options=4, **more):
    return item_scores(simulated(seed, n=n, p=p, options=options).answers, **more)


@pytest.fixture(scope="module")
def fitted():
    return graded_response(frame_of(n=500, p=6))


def test_agrees_with_ltm_in_r():
    theirs = json.loads((GOLDEN / "grm_ltm.json").read_text())["likert22_6items"]
    names = [item["item"] for item in theirs["items"]]
    values = pd.read_csv(GOLDEN / "likert22.csv")[names].dropna()
    result = graded_response(item_scores(values, items=names))
    found, fit = tables(result)["items"].set_index("item"), tables(result)["fit"].iloc[0]
    assert fit["log_likelihood"] == pytest.approx(theirs["logLik"], abs=1e-4)
    n_parameters = sum(1 + len(item["b"]) for item in theirs["items"])
    assert fit["n_parameters"] == n_parameters
    assert fit["aic"] == pytest.approx(2 * n_parameters - 2 * theirs["logLik"], abs=1e-3)
    bic = n_parameters * np.log(theirs["n"]) - 2 * theirs["logLik"]
    assert fit["bic"] == pytest.approx(bic, abs=1e-3)
    for item in theirs["items"]:
        row = found.loc[item["item"]]
        assert row["a"] == pytest.approx(item["a"], abs=2e-4)
        thresholds = [row[f"b{k + 1}"] for k in range(len(item["b"]))]
        assert thresholds == pytest.approx(item["b"], abs=2e-4)


def test_true_parameters_lie_within_four_standard_errors(fitted):
    true = simulated(1, n=500, p=6, options=4)
    rows = tables(fitted)["items"]
    assert (abs(rows["a"] - true.slopes) < 4 * rows["a_se"]).all()
    for k in range(3):
        off = abs(rows[f"b{k + 1}"] - true.thresholds[:, k])
        assert (off < 4 * rows[f"b{k + 1}_se"]).all()
    assert rows["converged"].all()


def test_information_follows_from_the_parameters_in_the_table(fitted):
    rows, levels = tables(fitted)["items"], tables(fitted)["information"]
    own = tables(fitted)["item_information"].set_index("item")
    trait, total = levels["trait"].to_numpy(), 0.0
    for _, row in rows.iterrows():
        cuts = row[["b1", "b2", "b3"]].to_numpy(dtype=float)

        def chances(at, a=row["a"], cuts=cuts):
            above = 1 / (1 + np.exp(-a * (at[:, None] - cuts)))
            edge = np.ones((len(at), 1))
            return -np.diff(np.hstack([edge, above, 0 * edge]))

        slope = (chances(trait + 1e-5) - chances(trait - 1e-5)) / 2e-5
        of_item = (slope**2 / chances(trait)).sum(axis=1)
        total = total + of_item
        shown = own.loc[row["item"], [f"at_{level}" for level in range(-4, 5)]]
        assert shown.to_numpy(dtype=float) == pytest.approx(of_item[::4], rel=1e-5)
        assert own.loc[row["item"], "highest"] == pytest.approx(of_item.max(), rel=1e-5)
        assert own.loc[row["item"], "highest_at"] == trait[of_item.argmax()]
    assert levels["information"].to_numpy() == pytest.approx(total, rel=1e-5)
    assert levels["standard_error"].to_numpy() == pytest.approx(1 / np.sqrt(total), rel=1e-5)
    assert (trait[0], trait[-1], len(trait)) == (-4, 4, 33)


def test_information_of_items_in_a_narrow_range_and_without_convergence():
    narrow = tables(graded_response(frame_of(), limit=1.5))["item_information"]
    assert [n for n in narrow if n.startswith("at_")] == ["at_-1", "at_0", "at_1"]
    assert narrow["highest_at"].abs().max() <= 1.5
    stopped = tables(graded_response(frame_of(), steps=1))["item_information"]
    assert stopped[["highest", "highest_at", "at_0"]].isna().all(axis=None)


def test_marginal_reliability_is_the_mean_over_a_normal_trait(fitted):
    result = graded_response(frame_of(n=500, p=6), limit=6.0, levels=401)
    levels = tables(result)["information"]
    weights = np.exp(-(levels["trait"] ** 2) / 2)
    mean = (levels["reliability"] * weights).sum() / weights.sum()
    assert tables(fitted)["fit"]["marginal_reliability"].item() == pytest.approx(mean, abs=1e-6)


def test_a_search_cut_short_is_said_and_leaves_no_standard_errors():
    result = graded_response(frame_of(n=500, p=6), steps=2)
    full = tables(graded_response(frame_of(n=500, p=6)))["fit"].iloc[0]
    assert full["iterations"] > 2  # or the search was not cut short
    found = tables(result)
    fit, rows = found["fit"].iloc[0], found["items"]
    assert not fit["converged"]
    assert fit["iterations"] == 2
    undefined = ["aic", "bic", "marginal_reliability", "empirical_reliability"]
    assert fit[undefined].isna().all()
    assert rows[["a_se", "b1_se", "b2_se", "b3_se"]].isna().all(axis=None)
    assert rows["a"].notna().all()
    assert not rows["converged"].any()
    assert found["information"]["information"].isna().all()
    assert any("gpt, subscale s: the model did not converge" in note for note in result.cautions)


def test_items_that_repeat_each_other_do_not_pass_as_an_estimate():
    column = simulated(3, n=80, p=3).answers[:, :1]
    result = graded_response(item_scores(np.repeat(column, 4, axis=1)))
    assert not tables(result)["fit"]["converged"].item()
    assert tables(result)["items"]["a_se"].isna().all()
    assert any("gpt, subscale s: the model did not converge" in note for note in result.cautions)


def test_every_score_is_used_left_out_or_missing():
    values = simulated(4, n=150, p=5, options=3, missing=0.1).answers
    values[:, 4] = 2.0
    result = graded_response(item_scores(values))
    missing = int(np.isnan(values).sum())
    assert (result.n_used, result.n_left_out, result.n_missing) == (600 - missing, 150, missing)
    last = tables(result)["items"].iloc[-1]
    assert (last["item"], last["n"], last["options"]) == ("i5", 150, "2")
    assert np.isnan([last["a"], last["b1"]]).all()
    assert any("all answers are the same: i5" in note for note in result.all_notes)


def test_an_option_nobody_chose_is_closed_up_and_named():
    values = simulated(5, n=200, p=4, options=3).answers
    values[:, 0] = np.where(values[:, 0] == 2, 3, values[:, 0])
    result = graded_response(item_scores(values))
    assert tables(result)["items"]["options"].tolist()[:2] == ["0, 1 and 3", "0, 1 and 2"]
    assert any("nobody chose are closed up: i1 (2); i2" in note for note in result.all_notes)


def test_groups_and_subscales_have_models_of_their_own_and_a_thin_one_hides_none():
    wide = frame_of(6, p=5, subscales=["calm"] * 3 + ["bold"] * 2, respondent="a")
    other = frame_of(7, p=5, subscales=["calm"] * 3 + ["bold"] * 2, respondent="b", start=900)
    result = graded_response(pd.concat([wide, other]))
    fit = tables(result)["fit"]
    assert fit[["respondent", "subscale"]].apply(tuple, axis=1).tolist() == [
        ("a", "calm"),
        ("a", "bold"),
        ("b", "calm"),
        ("b", "bold"),
    ]
    assert fit["converged"].tolist() == [True, False, True, False]
    assert fit["log_likelihood"].isna().tolist() == [False, True, False, True]
    assert any(note.startswith("b, subscale bold: not fitted. Only 2") for note in result.cautions)
    assert (result.n_used, result.n_left_out, result.n_missing) == (1200, 800, 0)
    alone = tables(graded_response(other))["items"]
    both = tables(result)["items"]
    pd.testing.assert_frame_equal(
        both[both["respondent"] == "b"].reset_index(drop=True), alone, rtol=1e-9
    )


@given(st.integers(1, 20), st.integers(-3, 3), st.integers(1, 3))
@few_examples
def test_origin_and_unit_of_the_scores_change_no_estimate(seed, origin, unit):
    values = simulated(seed, n=120, p=4, options=3).answers
    plain = tables(graded_response(item_scores(values)))["items"]
    moved = tables(graded_response(item_scores(origin + unit * values)))["items"]
    numbers = ["a", "a_se", "b1", "b1_se", "b2", "b2_se"]
    np.testing.assert_allclose(plain[numbers], moved[numbers], rtol=1e-6)


MODELS = ("graded", "partial_credit", "generalized_partial_credit", "nominal")


def partial_credit_data():
    answers = pd.read_csv(GOLDEN / "irt_gpcm_data.csv")
    return item_scores(answers, items=list(answers))


def test_each_model_has_its_columns_and_agrees_with_mirt():
    """Of mirt 1.2.0 for Python; see tests/stats/irt/test_item_response.py."""
    theirs = json.loads((GOLDEN / "irt_mirt.json").read_text())
    frame = partial_credit_data()
    general = tables(graded_response(frame, irt_model="generalized_partial_credit"))["items"]
    assert general["a"].to_numpy() == pytest.approx(theirs["GPCM"]["discrimination"], abs=2e-4)
    steps = general[["s1", "s2", "s3"]].to_numpy()
    np.testing.assert_allclose(steps, theirs["GPCM"]["steps"], atol=2e-4)
    nominal = tables(graded_response(frame, irt_model="nominal"))["items"]
    for name, part in (("a", "slopes"), ("c", "intercepts")):
        wanted = np.array(theirs["NRM"][part])[:, 1:]
        columns = [f"{name}{k}" for k in (1, 2, 3)]
        np.testing.assert_allclose(nominal[columns].to_numpy(), wanted, atol=2e-4)
    assert "a" not in nominal
    alike = tables(graded_response(frame, irt_model="partial_credit"))["items"]
    assert (len(set(alike["a"])), len(set(alike["a_se"]))) == (1, 1)


def test_models_are_compared_by_aic_and_bic():
    theirs = json.loads((GOLDEN / "irt_mirt.json").read_text())
    result = graded_response(partial_credit_data(), compare_models=True)
    models = tables(result)["models"]
    assert models["n_parameters"].tolist() == [24, 19, 24, 36]
    wanted = [theirs["GPCM"]["logL_own_241_nodes"], theirs["NRM"]["logL_own_241_nodes"]]
    assert models["log_likelihood"].tolist()[2:] == pytest.approx(wanted, abs=1e-4)
    for _, row in models.iterrows():
        misfit = -2 * row["log_likelihood"]
        assert row["aic"] == pytest.approx(2 * row["n_parameters"] + misfit)
        assert row["bic"] == pytest.approx(np.log(1000) * row["n_parameters"] + misfit)
    own = tables(result)["fit"]
    assert own["aic"].item() == models["aic"][0]
    assert "models" not in tables(graded_response(partial_credit_data()))


def test_item_fit_stands_beside_every_item_with_the_reason_where_it_is_undefined():
    values = simulated(4, n=300, p=5, options=3).answers
    values[:, 4] = 2.0
    values[:60, 0] = np.nan
    rows = tables(graded_response(item_scores(values), adjust="benjamini-hochberg"))["item_fit"]
    assert rows["n"].tolist() == [240] * 4 + [0]
    assert rows["remark"].tolist() == [""] * 4 + ["not in the model"]
    assert rows["p"].notna().tolist() == [True] * 4 + [False]
    assert (rows["p_adjusted"][:4] >= rows["p"][:4]).all()
    stopped = tables(graded_response(item_scores(values), steps=1))["item_fit"]
    assert stopped["p"].isna().all()
    assert "converge" in stopped["remark"][0]


def test_each_administration_has_its_trait_and_fit_if_asked_for():
    values = simulated(9, n=150, p=8, options=4).answers
    values[5] = np.nan
    frame = item_scores(values)
    frame["context"] = "c" + frame["administration"].astype(str)
    result = graded_response(frame, person_fit=True)
    rows = tables(result)["person_fit"]
    assert rows["row"].tolist() == list(range(1, 151))
    assert rows["administration"].tolist()[:2] == ["c1", "c2"]
    assert rows["n"].tolist()[4:6] == [8, 0]
    assert rows[["trait", "lz", "p"]].isna().all(axis=1).tolist() == [k == 5 for k in range(150)]
    assert set(rows["unlikely"]) <= {"", *(f"i{k}" for k in range(1, 9))}
    low = int((rows["p"] < 0.05).sum())
    assert any(f"{low} of 149 administrations" in note for note in result.notes)
    again = tables(graded_response(frame, person_fit=True, seed=2))["person_fit"]
    pd.testing.assert_series_equal(again["lz"], rows["lz"])
    assert not again["p"].equals(rows["p"])
    stopped = tables(graded_response(frame, person_fit=True, steps=1))["person_fit"]
    assert stopped[["trait", "trait_se", "lz", "p"]].isna().all(axis=None)
    assert "person_fit" not in tables(graded_response(frame))


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_a_sentence_curves_and_help_beside_its_numbers(model):
    values = simulated(5, n=200, p=4, options=3).answers
    values[:, 1] = values[:, 1] > 0
    frame = item_scores(values)
    result = graded_response(frame, irt_model=model, compare_models=True, person_fit=True)
    for table in result.tables:
        bare = [column.name for column in table.columns if not column.help]
        assert set(bare) <= {"respondent", "subscale", "item"}
    analysis = by_name("graded_response")
    ((_, sentence, _),) = analysis.answer(result)
    rows = tables(result)["items"]
    if model == "nominal":
        in_order = sum(row["a1"] > 0 and not row["a2"] <= row["a1"] for _, row in rows.iterrows())
        assert f"options of {in_order} of 4 items rise" in sentence
    else:
        ends = f"{rows['a'].min():.2f}", f"{rows['a'].max():.2f}"
        about = f"one a of {ends[0]}," if model == "partial_credit" else "a from {} to {},"
        assert f"4 items with {about.format(*ends)}" in sentence
    curves = analysis.charts(result, "light")[0].table
    sums = curves.groupby(["item", "trait"])["probability"].sum()
    np.testing.assert_allclose(sums, 1)
    numbers = curves.groupby("item")["number"].nunique()
    assert numbers.tolist() == [3, 2, 3, 3]
    fit = item_response(values, ["i1", "i2", "i3", "i4"], model=model)
    for item in fit.items:
        drawn = curves[curves["item"] == item.name].pivot(index="trait", columns="number")
        wanted = option_probabilities(item, drawn.index.to_numpy())
        np.testing.assert_allclose(drawn["probability"].to_numpy(), wanted, atol=1e-9)


def test_nothing_to_fit_is_an_error_with_a_next_step():
    with pytest.raises(NotEnoughData, match="No item response model can be fitted") as caught:
        graded_response(item_scores(simulated(8, n=50, p=2).answers))
    assert "three items" in caught.value.remedy
    with pytest.raises(NotEnoughData, match="subscale s: not fitted"):
        graded_response(item_scores(np.full((5, 4), np.nan)))


def test_every_column_of_numbers_has_a_tooltip(fitted):
    for table in fitted.tables:
        bare = [column.name for column in table.columns if not column.help]
        assert set(bare) <= {"respondent", "subscale", "item"}
