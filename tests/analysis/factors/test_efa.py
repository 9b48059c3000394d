import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.factors.efa.analysis import efa
from core.errors import NotEnoughData
from core.stats.factor.exploratory import exploratory_factors, parallel_analysis
from core.stats.normality import normality
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores
from tests.stats.reference import expected, scores

LOADINGS = np.array([[0.8, 0], [0.7, 0], [0.6, 0], [0, 0.8], [0, 0.7], [0, 0.6]])
CORRELATION = 0.3


def answers(n=2000, seed=1):
    draw = np.random.default_rng(seed)
    factors = draw.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], n)
    errors = draw.standard_normal((n, 6)) * np.sqrt(1 - (LOADINGS**2).sum(1))
    return factors @ LOADINGS.T + errors


def tables(result):
    return {table.name: table.frame for table in result.tables}


def test_two_simulated_factors_are_found_with_their_loadings_and_correlation():
    found = tables(efa(item_scores(answers()), seed=3))
    assert (found["eigenvalues"]["stands_out"] == "yes").sum() == 2
    wide = found["loadings"].pivot(index="item", columns="factor", values="loading").abs()
    own = [wide.loc[f"i{i + 1}"].max() for i in range(6)]
    other = [wide.loc[f"i{i + 1}"].min() for i in range(6)]
    assert own == pytest.approx([0.8, 0.7, 0.6, 0.8, 0.7, 0.6], abs=0.05)
    assert max(other) < 0.06
    between = found["factors"]["correlation"].dropna().abs().tolist()
    assert between == pytest.approx([CORRELATION], abs=0.06)


def test_the_table_holds_the_numbers_of_the_pure_function():
    values = answers(200)
    frame = tables(efa(item_scores(values), factors=2))["loadings"]
    pure = exploratory_factors(values, [f"i{n}" for n in range(1, 7)], 2)
    assert frame["loading"].to_numpy().reshape(6, 2) == pytest.approx(pure.loadings, abs=1e-12)


def test_normality_is_that_of_the_items_with_its_coefficients_and_remarks():
    values = answers(200)
    found = tables(efa(item_scores(values)))["normality"].set_index("test")
    own = normality(values, [f"i{n}" for n in range(1, 7)])
    assert found.loc["Mardia skewness", ["value", "statistic", "df"]].tolist() == pytest.approx(
        [own.mardia.b1, 200 * own.mardia.b1 / 6, 6 * 7 * 8 / 6]
    )
    assert found.loc["Mardia kurtosis", "value"] == pytest.approx(own.mardia.b2)
    assert found.loc["Mardia kurtosis", "p_value"] == own.mardia.kurtosis.p_value
    assert found.loc["Multivariate Shapiro-Wilk", "value"] == own.joint_shapiro.statistic
    assert (found["remark"] == "").all()
    few = tables(efa(item_scores(values[:9])))["normality"].set_index("test")
    assert np.isnan(few.loc["Multivariate Shapiro-Wilk", "p_value"])
    assert "12" in few.loc["Multivariate Shapiro-Wilk", "remark"]


def test_adequacy_and_numbers_of_factors_stand_before_the_analysis():
    theirs = expected("bfi25")
    values = scores("bfi25")[:, :25]
    result = efa(item_scores(values), factors=5)
    found = tables(result)
    row = found["adequacy"].iloc[0]
    assert row["kmo"] == pytest.approx(theirs["kmo"]["overall"], abs=1e-9)
    assert row["bartlett"] == pytest.approx(theirs["bartlett"]["chi2"], abs=1e-6)
    assert (row["df"], row["p"], row["by_map"], row["by_map_fourth"]) == (300, 0, 5, 5)
    assert found["item_adequacy"]["kmo"].to_numpy() == pytest.approx(theirs["kmo"]["items"])
    left = found["eigenvalues"]["map_squares"].to_numpy()
    assert left[:8] == pytest.approx(theirs["map"]["psych"], abs=1e-9)
    ((_, sentence, _),) = analyses.by_name("efa").answer(result)
    assert sentence.startswith("KMO .85; ")
    assert "(by MAP 5)" in sentence


def test_items_that_share_too_little_are_a_caution_or_named():
    values = np.random.default_rng(2).normal(size=(400, 6))
    values[:, 1] = values[:, 0] + values[:, 2] + 0.1 * values[:, 1]
    low = efa(item_scores(values))
    assert any("KMO is" in note for note in low.cautions)
    lone = np.random.default_rng(3).normal(size=(400, 1))  # goes with one item only
    mixed = np.column_stack([answers(400), lone])
    mixed[:, [0]] += lone
    found = efa(item_scores(mixed)).notes
    assert any("KMO under .50): i1, i7." in note for note in found)


def test_a_singular_matrix_and_ordered_answers_say_what_is_left_out():
    values = answers(300)
    values[:, 5] = values[:, 0] + values[:, 3]
    result = efa(item_scores(values), factors=2)
    row = tables(result)["adequacy"].iloc[0]
    assert np.isnan([row["kmo"], row["bartlett"]]).all()
    assert "i1, i4, i6." in row["remark"]
    ordered = efa(item_scores(np.clip(np.round(answers(300)), -1, 1)), correlation="polychoric")
    row = tables(ordered)["adequacy"].iloc[0]
    assert row["kmo"] > 0.5
    assert np.isnan([row["bartlett"], row["p"]]).all()
    assert "Bartlett" in row["remark"]


def test_few_administrations_for_the_items_are_pointed_out():
    values = np.random.default_rng(3).normal(size=(60, 6)).cumsum(axis=1)
    few = efa(item_scores(values[:29]))
    assert any("29 administrations are few for 6 items" in note for note in few.cautions)
    fewer = efa(item_scores(values[:5]))
    assert any("5 administrations are fewer than the 6 items" in note for note in fewer.cautions)
    assert "Fewer administrations than items: " in fewer.method
    answer = analyses.by_name("efa").answer
    assert answer(fewer) == (
        (
            "gpt",
            "The number of factors is not judged: 5 administrations are fewer than the 6 items.",
            None,
        ),
    )
    assert "extracted" in answer(few)[0].sentence
    assert not any("are few for" in note for note in efa(item_scores(values[:30])).all_notes)


def test_every_column_is_explained():
    for one in efa(item_scores(answers(100))).tables:
        assert not [c.name for c in one.columns if not c.help and c.name != "respondent"]


def test_each_group_is_analyzed_by_itself_and_one_without_variance_is_named():
    one = item_scores(answers(100), respondent="a")
    two = item_scores(np.ones((100, 6)), start=1000, respondent="b")
    result = efa(pd.concat([one, two]))
    assert set(tables(result)["loadings"]["respondent"]) == {"a"}
    assert any(note.startswith("b: ") for note in result.all_notes)
    assert result.n_used + result.n_missing + result.n_left_out == 1200


def test_gaps_leave_an_administration_out_and_a_constant_item_is_named():
    values = answers(60)
    values[0, 0] = math.nan
    values[:, 5] = 3
    result = efa(item_scores(values), factors=1)
    assert result.n_used == 59 * 5
    assert result.n_missing == 1
    assert any("i6" in note for note in result.all_notes)
    assert "i6" not in set(tables(result)["loadings"]["item"])


@pytest.mark.parametrize(
    "values",
    [np.ones((1, 3)), np.ones((9, 1)), np.ones((9, 4)), np.full((9, 4), np.nan)],
    ids=["one row", "one item", "constant", "nothing"],
)
def test_what_cannot_be_computed_says_what_it_needs(values):
    with pytest.raises(NotEnoughData, match="No factors can be found"):
        efa(item_scores(values))


@given(st.permutations(range(6)))
def test_the_order_of_the_items_does_not_change_a_communality(order):
    values = answers(150)
    names = [f"i{n}" for n in range(1, 7)]
    plain = tables(efa(item_scores(values), factors=2))["loadings"]
    mixed = tables(
        efa(item_scores(values[:, list(order)], items=[names[n] for n in order]), factors=2)
    )["loadings"]
    expected = plain.groupby("item")["communality"].first()
    assert mixed.groupby("item")["communality"].first()[expected.index].to_numpy() == (
        pytest.approx(expected.to_numpy(), abs=1e-6)
    )


def test_everything_comes_from_the_correlations_that_were_asked_for():
    """Eigenvalues and loadings of psych 2.x (gold_ordered.R); Pearson's first one is 2.019."""
    folder = Path(__file__).parents[2] / "stats" / "golden"
    wanted = json.loads((folder / "ordered_scales.json").read_text())["yes_no"]
    frame = item_scores(pd.read_csv(folder / "ordered_scales.csv").filter(like="b").to_numpy())
    result = efa(frame, correlation="polychoric")
    found = tables(result)
    eigenvalues = found["eigenvalues"]["eigenvalue"]
    np.testing.assert_allclose(eigenvalues, wanted["eigenvalues"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(found["loadings"]["loading"], wanted["loadings"], rtol=0, atol=1e-4)
    assert (found["eigenvalues"]["stands_out"] == "yes").sum() == 1
    pearson = tables(efa(frame))["eigenvalues"]["eigenvalue"]
    assert [pearson[0]] == pytest.approx(wanted["pearson_first"], abs=1e-8)
    assert "components of the same correlations, 95th percentile of 100 sets" in result.method


def test_chance_of_polychoric_correlations_is_as_wide_as_they_are():
    """Unrelated yes-no answers at uneven shares: no factor may stand out."""
    rng = np.random.default_rng(4)
    shares = [0.1, 0.2, 0.5, 0.8, 0.9, 0.15]
    suggested = []
    for _ in range(8):
        answers = (rng.random((150, 6)) < shares).astype(float)
        found = parallel_analysis(answers, list("abcdef"), repetitions=40, correlation="polychoric")
        suggested.append(found.n_suggested)
    assert suggested.count(0) >= 6


def test_items_that_load_against_their_subscale_are_named():
    values = answers(400)
    values[:, [1, 4]] *= -1
    frame = item_scores(values, subscales=["A", "A", "A", "B", "B", "B"])
    notes = [note for note in efa(frame, factors=2).cautions if "check its keying" in note]
    assert len(notes) == 2
    assert notes[0].startswith("gpt: i2 (")
    assert "loads against the other items of A on factor" in notes[0]
    assert notes[1].startswith("gpt: i5 (")
    apart = item_scores(answers(400) * [1, 1, 1, -1, -1, -1], subscales=["A"] * 3 + ["B"] * 3)
    assert not any("keying" in note for note in efa(apart, factors=1).all_notes)
