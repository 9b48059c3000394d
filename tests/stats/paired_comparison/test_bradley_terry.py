"""The Bradley-Terry model: R's glm, Agresti's baseball data, worked by hand, and no maximum."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.stats.paired_comparison.bradley_terry import bradley_terry, resampled_strengths

GOLDEN = Path(__file__).parents[2] / "golden" / "preference"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
BASEBALL = {  # BradleyTerry2, vignette: strengths above Baltimore's, with and without home
    "Boston": (1.1438, 1.1077),
    "Cleveland": (0.7047, 0.6839),
    "Detroit": (1.4754, 1.4364),
    "Milwaukee": (1.6196, 1.5814),
    "NewYork": (1.2813, 1.2476),
    "Toronto": (1.3271, 1.2945),
}


def counts_of(data):
    """Entities, cells and counts of one data set of the golden file."""
    if data == "baseball":
        rows = pd.read_csv(GOLDEN / "baseball.csv")
        rows = rows.assign(
            entity=rows["home"],
            entity_b=rows["away"],
            wins=rows["home_wins"],
            n=rows["home_wins"] + rows["away_wins"],
        )
    else:
        rows = pd.read_csv(GOLDEN / "brand_counts.csv")
        rows = rows if data == "all" else rows[rows["format"] == data]
        rows = rows.groupby(["entity", "entity_b"])[["wins", "n"]].sum().reset_index()
    names = EXPECTED["data"][data]["names"]
    return names, [
        *(rows[name].map(names.index).to_numpy() for name in ("entity", "entity_b")),
        rows["wins"].to_numpy(dtype=float),
        rows["n"].to_numpy(dtype=float),
    ]


def table(*cells):
    """Cells (first, second, wins of the first, n) as arrays."""
    first, second, wins, n = zip(*cells, strict=True)
    return np.array(first), np.array(second), np.array(wins, float), np.array(n, float)


@pytest.mark.parametrize("data", EXPECTED["data"])
def test_strengths_errors_and_fit_are_those_of_r(data):
    names, cells = counts_of(data)
    model = bradley_terry(*cells, names=names)
    ours = EXPECTED["data"][data]["with_order"]
    close = {"abs": EXPECTED["tolerance"]}
    assert model.strengths == pytest.approx(ours["strengths"], **close)
    assert model.errors == pytest.approx(ours["errors"], **close)
    assert (model.first, model.first_error) == pytest.approx(
        (ours["first"], ours["first_error"]), **close
    )
    assert (model.fit.deviance, model.fit.p) == pytest.approx(
        (ours["deviance"], ours["p"]), abs=1e-6
    )
    plain = EXPECTED["data"][data]["without_order"]
    assert model.without_first.deviance == pytest.approx(plain["deviance"], abs=1e-6)
    assert (model.fit.df, model.without_first.df) == (ours["df"], plain["df"])


def test_agrestis_baseball_teams_have_their_published_strengths():
    names, cells = counts_of("baseball")
    model = bradley_terry(*cells, names=names)
    above = dict(
        zip(names, model.strengths - model.strengths[names.index("Baltimore")], strict=True)
    )
    assert {name: round(above[name], 4) for name in BASEBALL} == {
        name: value for name, (value, _) in BASEBALL.items()
    }
    assert (round(model.first, 4), round(model.first_error, 4)) == (0.3023, 0.1309)
    assert (round(model.fit.deviance, 2), model.fit.df) == (38.64, 35)
    assert (round(model.without_first.deviance, 2), model.without_first.df) == (44.05, 36)


def test_without_a_second_order_the_order_is_not_in_the_model():
    names, (first, second, wins, n) = counts_of("all")
    one_way = first < second
    model = bradley_terry(first[one_way], second[one_way], wins[one_way], n[one_way], names=names)
    assert math.isnan(model.first)
    assert model.without_first is None
    assert model.fit.df == 1


def test_two_entities_by_hand():
    # 30 of 40 for the first: odds 3, so strengths ± log(3)/2; variance of the logit 1/30 + 1/10
    model = bradley_terry(*table((0, 1, 30, 40)), names=["A", "B"])
    assert model.strengths == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert model.errors == pytest.approx([math.sqrt(1 / 30 + 1 / 10) / 2] * 2)
    assert model.worth == pytest.approx([0.75, 0.25])
    assert (model.fit.deviance, model.fit.df) == (pytest.approx(0, abs=1e-12), 0)
    assert math.isnan(model.fit.p)


def test_a_cycle_of_equal_wins_has_equal_strengths_and_a_bad_fit():
    # each wins 8 of 10 over the next; deviance = 3 * 2 * (8 log(8/5) + 2 log(2/5))
    model = bradley_terry(
        *table((0, 1, 8, 10), (1, 2, 8, 10), (2, 0, 8, 10)), names=["A", "B", "C"]
    )
    assert model.strengths == pytest.approx([0, 0, 0], abs=1e-12)
    assert model.fit.deviance == pytest.approx(6 * (8 * math.log(1.6) + 2 * math.log(0.4)))
    assert model.fit.df == 1


def test_an_entity_that_always_wins_is_undefined_and_not_a_huge_number():
    cells = table((0, 1, 10, 10), (1, 0, 0, 10), (1, 2, 6, 10), (2, 0, 0, 10))
    model = bradley_terry(*cells, names=["A", "B", "C"])
    assert np.isnan(model.strengths).all()
    assert model.problems == (
        "Undefined: a strength is infinite, because A never loses and B, C never win against the "
        "other entities.",
    )


def test_entities_that_no_comparison_links_are_named():
    model = bradley_terry(*table((0, 1, 5, 9), (2, 3, 5, 9)), names=["A", "B", "C", "D"])
    assert np.isnan(model.strengths).all()
    assert model.problems[0].endswith("directly or through others: A, B; C, D.")


def test_an_entity_without_answers_has_no_strength_and_the_others_have_theirs():
    model = bradley_terry(*table((0, 1, 30, 40), (0, 2, 0, 0)), names=["A", "B", "C"])
    assert model.strengths[:2] == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert math.isnan(model.strengths[2])
    empty = bradley_terry(*table((0, 1, 0, 0)), names=["A", "B"])
    assert empty.problems == ("Undefined: no pair has an answer with a side.",)


def test_an_infinite_order_is_left_out_of_the_model():
    model = bradley_terry(*table((0, 1, 10, 10), (1, 0, 10, 10)), names=["A", "B"])
    assert model.strengths == pytest.approx([0, 0])
    assert math.isnan(model.first)
    assert model.problems == (
        "The effect of being named first is infinite, so the model leaves it out.",
    )


def test_resamples_are_fitted_as_one_by_one_and_have_no_huge_numbers():
    names, (first, second, wins, n) = counts_of("name_entity")
    drawn = np.stack([wins, np.minimum(wins + 3, n), np.where(first == 0, n, np.minimum(wins, 0))])
    strengths, order = resampled_strengths(
        first, second, drawn, np.stack([n] * 3), n_entities=3, ordered=True
    )
    for row in (0, 1):
        alone = bradley_terry(first, second, drawn[row], n, names=names)
        assert strengths[row] == pytest.approx(alone.strengths, abs=1e-8)
        assert order[row] == pytest.approx(alone.first, abs=1e-8)
    assert np.isnan(strengths[2]).all()


def test_impossible_counts_are_refused():
    for cell in ((0, 1, 5, 4), (0, 1, -1, 4), (0, 0, 1, 4)):
        with pytest.raises(ValueError, match=r"wins|itself"):
            bradley_terry(*table(cell), names=["A", "B"])


COUNTS = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=6, max_size=6)


@given(COUNTS)
def test_naming_entities_otherwise_only_moves_their_strengths(counts):
    cells = [(0, 1), (1, 2), (0, 2), (1, 0), (2, 1), (2, 0)]
    rows = [(i, j, w, w + lost) for (i, j), (w, lost) in zip(cells, counts, strict=True)]
    model = bradley_terry(*table(*rows), names=["A", "B", "C"])
    turned = [((i + 1) % 3, (j + 1) % 3, w, n) for i, j, w, n in rows]
    other = bradley_terry(*table(*turned), names=["C", "A", "B"])
    assert other.strengths == pytest.approx(np.roll(model.strengths, 1), abs=1e-7)
    assert other.fit.deviance == pytest.approx(model.fit.deviance, abs=1e-7)
    assert model.fit.deviance <= model.without_first.deviance + 1e-9
