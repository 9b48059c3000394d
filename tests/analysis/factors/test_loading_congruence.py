import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.loading_congruence import loading_congruence
from core.errors import NotEnoughData
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores
from tests.stats.factor.test_congruence import ITEMS, men_and_women, two_factors
from tests.stats.reference import expected

FEW = {"permutations": 100}


def levels(*tables, items=None, **factors):
    """Scores of a table for each language."""
    return pd.concat(
        [
            item_scores(table, items=items, language=f"l{k}", start=1 + 10_000 * k, **factors)
            for k, table in enumerate(tables, start=1)
        ],
        ignore_index=True,
    )


def tables(result):
    return {table.name: table.frame for table in result.tables}


def test_men_and_women_have_the_congruences_of_psych():
    result = loading_congruence(levels(*men_and_women(), items=ITEMS), factors=5, **FEW)
    found = tables(result)
    phi = found["congruence"].sort_values("phi")["phi"].to_numpy()
    theirs = np.abs(np.array(expected("bfi25")["congruence"]["phi"]))
    assert phi == pytest.approx(np.sort(theirs.max(axis=1)), abs=1e-4)
    assert found["congruence"][["n_first", "n_second"]].drop_duplicates().size == 2
    heavy = found["congruence"].set_index("factor")["items"]
    assert any(set(items.split(", ")) <= {"N1", "N2", "N3", "N4", "N5"} for items in heavy)
    assert len(found["loadings"]) == 25 * 5 * 2
    halves = found["halves"]
    assert (halves["low"] <= halves["median"]).all()
    assert halves.set_index("level").loc["l2", "median"].min() > 0.9
    ((_, sentence, light),) = analyses.by_name("loading_congruence").answer(result)
    assert sentence == "5 factors; l1 with l2: φ .95 to .99 (4 of 5 from .95, 5 from .85)."
    assert light is None


def test_as_many_factors_as_stand_out_and_no_interval_without_resamples():
    found = tables(loading_congruence(levels(two_factors(300, 1), two_factors(300, 2)), **FEW))
    rows = found["congruence"]
    assert rows["factor"].tolist() == [1, 2]
    assert rows[["ci_low", "ci_high"]].isna().all(axis=None)
    frame = levels(two_factors(300, 1), two_factors(300, 2))
    drawn = tables(loading_congruence(frame, resamples=40, **FEW))["congruence"]
    assert (drawn["ci_low"] < drawn["phi"]).all()
    assert drawn["phi"].tolist() == rows["phi"].tolist()


def test_factors_no_better_than_chance_are_said_to_be():
    draw = np.random.default_rng(1).normal
    one_factor = [draw(size=(300, 1)) + draw(size=(300, 6)) for _ in range(2)]
    result = loading_congruence(levels(*one_factor), factors=1, **FEW)
    row = tables(result)["congruence"].iloc[0]
    ((_, sentence, _),) = analyses.by_name("loading_congruence").answer(result)
    assert ("reached by chance" in sentence) == (row["chance"] >= row["phi"])
    assert row["chance"] > 0.98


def test_items_that_do_not_vary_and_few_administrations_are_named():
    first, second, few = (two_factors(n, n) for n in (200, 220, 9))
    second[:, 5] = 3
    result = loading_congruence(levels(first, second, few), factors=2, **FEW)
    assert any("fewer than 10 administrations: l3" in note for note in result.all_notes)
    assert any("i6" in note for note in result.all_notes)
    assert "i6" not in set(tables(result)["loadings"]["item"])
    assert result.n_used == 5 * 420


def test_missing_answers_are_used_in_pairs():
    first, second = two_factors(300, 3), two_factors(300, 4)
    first[np.arange(0, 300, 3), 0] = np.nan
    found = tables(loading_congruence(levels(first, second), factors=2, **FEW))["congruence"]
    assert set(found["missing_rule"]) == {"pairwise"}
    assert set(found["incomplete"]) == {100}
    alone = loading_congruence(levels(first, second), factors=2, missing="listwise", **FEW)
    assert set(tables(alone)["congruence"]["n_first"]) == {200}


def test_a_group_that_cannot_be_compared_does_not_cost_the_others():
    both = levels(two_factors(200, 5), two_factors(200, 6))
    alone = item_scores(two_factors(90, 7), language="l1", start=50_000, respondent="other")
    frame = pd.concat([both, alone], ignore_index=True)
    result = loading_congruence(frame, factors=2, **FEW)
    assert set(tables(result)["congruence"]["respondent"]) == {"gpt"}
    assert any("fewer than two levels" in note for note in result.cautions)
    with pytest.raises(NotEnoughData, match="No levels of language can be compared"):
        loading_congruence(alone, factors=2, **FEW)


def test_more_factors_than_items_can_carry_are_refused_with_the_reason():
    frame = levels(two_factors(200, 5), two_factors(200, 6))
    with pytest.raises(NotEnoughData, match="cannot carry 4 factors"):
        loading_congruence(frame, factors=4, **FEW)
