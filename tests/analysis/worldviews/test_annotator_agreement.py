from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from core.analysis.worldviews.annotator_agreement import annotator_agreement as analysis
from core.domain.frames import BANK_TABLES
from core.errors import NotEnoughData
from core.stats.agreement import pairwise_kappas
from core.stats.resampling import Bootstrap
from core.workflow.statistics import analyses
from tests.analysis.statement_frames import statements
from tests.examples import few_examples
from tests.unit_intervals import ends_of_agreement

CODES = {
    "anna": {"s1": 1, "s2": 1, "s3": -1, "s4": 0, "s5": 0},
    "ben": {"s1": 1, "s2": -1, "s3": -1, "s4": 0},
    "cara": {"s1": 1, "s2": 1, "s3": -1, "s4": 0, "s5": 1},
}
"""Of one domain. Anna and Ben: 3 of 4 alike, chance (2*1 + 1*2 + 1*1) / 16; Anna and Cara: 4 of 5,
chance (2*3 + 1*1 + 2*1) / 25; Ben and Cara: as Anna and Ben."""


def annotations(codes, domain="welfare"):
    rows = [("s", a, i, domain, v) for a, own in codes.items() for i, v in own.items()]
    return pd.DataFrame(rows, columns=list(BANK_TABLES["annotations"].columns))


def run(table):
    frame = statements({("s1", "t", "as_is", "original"): (10, 0)})
    result = analysis(frame, annotations=table, resamples=200)
    return result, {t.name: t.frame for t in result.tables}


def test_kappas_of_three_annotators_worked_by_hand():
    result, tables = run(annotations(CODES))
    pairs = tables["pairs"].set_index(["first", "second"])
    with_ben, without = (0.75 - 5 / 16) / (11 / 16), (0.8 - 9 / 25) / (16 / 25)
    assert pairs["kappa"].to_dict() == pytest.approx(
        {
            ("anna", "ben"): with_ben,
            ("anna", "cara"): without,
            ("ben", "cara"): with_ben,
        }
    )
    assert pairs["n"].tolist() == [4, 5, 4]
    (row,) = tables["domains"].to_dict("records")
    mean = (2 * with_ben + without) / 3
    assert row["kappa"] == pytest.approx(mean)
    assert row["sd"] == pytest.approx(abs(without - with_ben) / math.sqrt(3))
    assert (row["pairs"], row["annotators"], row["n"], row["same"]) == (3, 3, 5, 0.6)
    assert row["ci_low"] < row["kappa"] < row["ci_high"]
    assert result.n_used == 14
    (answer,) = analyses.by_name("annotator_agreement").answer(result)
    assert answer.sentence.startswith("3 annotators: mean kappa over pairs in 1 domain welfare .65")


def test_what_has_no_kappa_says_why_and_the_rest_stands():
    with pytest.raises(NotEnoughData, match="The bank has no annotators"):
        run(annotations({}))
    result, tables = run(annotations({"anna": CODES["anna"]}))
    assert "There is one annotator, so there is no agreement." in result.cautions
    assert tables["domains"].loc[0, "remark"] == (
        "Undefined: two annotators are needed, and the number of annotators is 1."
    )
    assert "No domain has a kappa" in analyses.by_name("annotator_agreement").answer(result)[0][1]
    apart = {"anna": {"s1": 0}, "ben": {"s2": 0}, "cara": {"s2": 0}}
    rows = [
        annotations(CODES),
        annotations({"anna": {"s1": 0}, "ben": {"s1": 0}}, "law"),
        annotations(apart, "migration"),
    ]
    _, tables = run(pd.concat(rows))
    own = tables["domains"].set_index("domain")
    assert own["kappa"].isna().tolist() == [False, True, True]
    assert "no two annotators have a kappa" in own.loc["law", "remark"]
    remarks = tables["pairs"].set_index(["domain", "first", "second"])["remark"]
    assert remarks["migration", "anna", "ben"] == "Undefined: no item was coded by both."
    assert "every code is the same category" in remarks["law", "anna", "ben"]


@few_examples
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_means_and_intervals_agree_with_one_table_at_a_time(seed, n_coders):
    chance = np.random.default_rng(seed)
    codes = chance.integers(-1, 2, (12, n_coders)).astype(float)
    codes[chance.random(codes.shape) < 0.1] = np.nan

    def mean_kappa(table):
        values = []
        for a, b in combinations(range(n_coders), 2):
            own = table[np.isfinite(table[:, [a, b]]).all(axis=1)]
            if len(own) and len(np.unique(own[:, [a, b]])) > 1:
                values.append(cohen_kappa_score(own[:, a].astype(int), own[:, b].astype(int)))
        return np.mean(values) if values else math.nan

    def mean_chance(table):
        values = []
        for a, b in combinations(range(n_coders), 2):
            own = table[np.isfinite(table[:, [a, b]]).all(axis=1)][:, [a, b]]
            if len(own):
                values.append((own[:, 0][:, None] != own[:, 1]).mean())
        return np.mean(values)

    bootstrap = Bootstrap(50, 7)
    found = pairwise_kappas(codes, bootstrap=bootstrap)
    assert found.mean == pytest.approx(mean_kappa(codes))
    twice = codes[np.isfinite(codes).sum(axis=1) >= 2]
    generator = np.random.default_rng(7)
    drawn = [twice[rows] for rows in generator.integers(len(twice), size=(50, len(twice)))]
    chances = [mean_chance(table) for table in drawn]
    values = [mean_kappa(table) for table in drawn]
    ends = ends_of_agreement(found.mean, mean_chance(twice), values, chances, len(twice))
    assert found.high == pytest.approx(ends[1])
    if found.mean >= 0:
        assert found.low == pytest.approx(ends[0])
