from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.efa.analysis import efa
from core.analysis.kit.registry import all_analyses
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.analysis.score_frames import item_scores

ITEMS = list(HOSTILE[:7])


def hostile_answers(n=150):
    """Two factors of three items each and an item that does not vary, with gaps, in two groups."""
    draw = np.random.default_rng(8).normal
    frames = []
    for number, group in enumerate(HOSTILE[:2]):
        factors = draw(size=(n, 2)) @ [[1, 0.4], [0, 0.9]]
        values = np.round(3 + np.repeat(factors, 3, axis=1) + draw(size=(n, 6)))
        values = np.column_stack([np.clip(values, 1, 4), np.full(n, 2.0)])
        values[number::40, 2] = np.nan
        frames.append(item_scores(values, items=ITEMS, start=1 + number * n, respondent=group))
    return pd.concat(frames, ignore_index=True)


def in_one_column(result):
    """The numbers of three tables under each other, named as in the scripts."""
    eigen, loadings, factors = (table.frame for table in result.tables[:3])
    first = factors.drop_duplicates(["respondent", "factor"])
    return {
        "eigenvalue": eigen["eigenvalue"],
        "loading": loadings["loading"],
        "structure": loadings["structure"],
        "communality": loadings[loadings["factor"] == 1]["communality"],
        "sum of squares": first["sum_of_squares"],
        "share of variance": first["share"],
        "correlation of factors": factors["correlation"].dropna(),
    }


# scripts end their searches by themselves: Pearson to 1e-6 in Python, polychoric to 1e-5; psych
# ends its search near 1e-5
@pytest.mark.parametrize(("correlation", "close"), [("pearson", 1e-6), ("polychoric", 1e-5)])
def test_both_scripts_give_the_factors(tmp_path, correlation, close):
    answers = hostile_answers()
    if correlation == "polychoric":  # chance data take long
        answers = answers[answers["respondent"] == HOSTILE[0]]
    result = efa(answers, correlation=correlation, factors=2)
    (scripts,) = (one.scripts for one in all_analyses() if one.name == "efa")
    folder = written(scripts(answers, correlation=correlation, factors=2), tmp_path)
    text = io.StringIO(run_python(folder, "efa.py"))
    tables = [
        (close, pd.read_csv(text, sep="\t", quoting=csv.QUOTE_NONE)),
        (5e-5, run_r(folder, "efa.R", "results[c(2, 4:6)]", locale="C")[0]),
    ]
    for tolerance, table in tables:
        for statistic, wanted in in_one_column(result).items():
            own = table[table["statistic"] == statistic]
            if statistic in ("loading", "structure") and "item" not in table:
                # R goes through the items of a factor, the table through the factors of an item
                blocks = np.split(own["value"].to_numpy(), answers["respondent"].nunique())
                found = np.concatenate([block.reshape(2, -1).T.ravel() for block in blocks])
            else:
                found = own["value"].to_numpy()
            assert found == pytest.approx(wanted.to_numpy(), abs=tolerance), statistic
    assert not (tmp_path / "pwned").exists()
