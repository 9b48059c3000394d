from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.analysis.groups.dif import dif
from core.analysis.items.graded_response.analysis import graded_response
from core.analysis.kit.registry import all_analyses
from tests.analysis.kit.scripts.running import HOSTILE, needs_r, run_python, run_r, written
from tests.analysis.score_frames import item_scores

GOLDEN = Path(__file__).parents[3] / "stats" / "golden"
ITEMS = list(HOSTILE[:5])
LEVELS = HOSTILE[5:8]
SUBSCALE = HOSTILE[8]


def hostile_answers(n=60):
    """Three levels of a factor; the second item is harder under the last; with gaps.

    The fourth item has two options, and a fourth level too few rows.
    """
    draw = np.random.default_rng(4).normal
    frames = []
    for number, level in enumerate((*LEVELS, "few")):
        rows = n if level in LEVELS else 5
        values = 3 + 1.2 * draw(size=(rows, 1)) + draw(size=(rows, len(ITEMS)))
        values[:, 1] -= 1.5 * (number == 2)
        values = np.clip(np.round(values), 1, 4)
        values[:, 3] = values[:, 3] > 2
        values[number::20, 2] = np.nan
        frames.append(
            item_scores(
                values,
                items=ITEMS,
                subscales=[SUBSCALE] * len(ITEMS),
                start=1 + number * n,
                language=level,
                respondent=HOSTILE[9],
            )
        )
    return pd.concat(frames, ignore_index=True)


def files_of(name, frame, **options):
    (scripts,) = (one.scripts for one in all_analyses() if one.name == name)
    return scripts(frame, **options)


def python_tables(folder, script):
    """The tables that the script prints, an empty line between them."""
    return [
        pd.read_csv(io.StringIO(text), sep="\t", quoting=csv.QUOTE_NONE, na_values=["nan"])
        for text in run_python(folder, script).split("\n\n")
    ]


def same_numbers(theirs, ours, columns, close):
    assert len(theirs) == len(ours)
    for name in columns:
        wanted = ours[name].to_numpy(dtype=float, na_value=np.nan)
        assert np.isfinite(wanted).any()
        found = theirs[name].to_numpy(dtype=float)
        assert found == pytest.approx(wanted, abs=close, rel=close, nan_ok=True), name


def test_both_scripts_test_for_differential_item_functioning(tmp_path):
    answers = hostile_answers()
    options = {"matching": "purified", "adjust": "benjamini-hochberg", "flag_level": 0.05}
    result = dif(answers, **options)
    items, tests, effects = (table.frame for table in result.tables[:3])
    assert items["matching"].tolist() == [True, False, True, True, True]
    folder = written(files_of("dif", answers, **options), tmp_path)
    of_r = run_r(folder, "dif.R", "items[-(1:3)]", "tests[-(1:3)]", "effects[-(1:5)]", locale="C")
    # searches end by themselves, and standard errors are taken from differences
    for tables, close in ((python_tables(folder, "dif.py"), 1e-6), (of_r, 1e-5)):
        names = (
            "n",
            "tested",
            "flagged",
            "p_uniform",
            "p_non_uniform",
            "p_total",
            "nagelkerke",
            "mcfadden",
            "above_choi",
            "slope_change",
            "matching",
        )
        same_numbers(tables[0], items, names, close)
        for name in ("jodoin_gierl", "zumbo_thomas"):
            assert tables[0][name].tolist() == items[name].tolist()
        names = ("chi_square", "df", "p", "p_adjusted", "mcfadden", "nagelkerke")
        same_numbers(tables[1], tests, names, close)
        names = ("n", "log_odds", "standard_error", "points", "unsigned_points", "standardized")
        same_numbers(tables[2], effects, names, close)
    assert not (tmp_path / "pwned").exists()


MODELS = {
    "graded": ("a", "b1", "b2", "b3"),
    "partial_credit": ("a", "s1", "s2", "s3"),
    "generalized_partial_credit": ("a", "s1", "s2", "s3"),
    "nominal": ("a1", "a2", "a3", "c1", "c2", "c3"),
}


@pytest.mark.parametrize("model", MODELS)
def test_the_python_script_fits_the_item_response_model(model, tmp_path):
    answers = hostile_answers()
    # steep nominal slopes need more points by Gauss and Hermite's rule
    options = {"irt_model": model, "points": 101 if model == "nominal" else 61}
    result = graded_response(answers, **options)
    items, _, information, fit, _ = (table.frame for table in result.tables)
    folder = written(files_of("graded_response", answers, **options), tmp_path)
    tables = python_tables(folder, "graded_response.py")
    values = tables[0].pivot(index="item", columns="parameter")
    names = list(dict.fromkeys(tables[0]["item"]))
    for parameter in MODELS[model]:
        for kind, ending in (("value", ""), ("standard_error", "_se")):
            found = values[kind][parameter][names].to_numpy()
            wanted = items[f"{parameter}{ending}"].to_numpy()
            assert found == pytest.approx(wanted, abs=2e-5, rel=2e-5, nan_ok=True), parameter
    names = (
        "log_likelihood",
        "aic",
        "bic",
        "n_parameters",
        "n_administrations",
        "n_items",
        "marginal_reliability",
        "empirical_reliability",
    )
    same_numbers(tables[1], fit, names, 1e-5)
    names = ("trait", "information", "standard_error", "reliability")
    same_numbers(tables[2], information, names, 2e-5)
    assert not (tmp_path / "pwned").exists()


def test_the_python_script_of_the_graded_response_model_agrees_with_ltm(tmp_path):
    theirs = json.loads((GOLDEN / "grm_ltm.json").read_text())["likert22_6items"]
    names = [item["item"] for item in theirs["items"]]
    values = pd.read_csv(GOLDEN / "likert22.csv")[names].dropna()
    files = files_of("graded_response", item_scores(values, items=names))
    items, fit, _ = python_tables(written(files, tmp_path), "graded_response.py")
    assert fit["log_likelihood"].tolist() == pytest.approx([theirs["logLik"]], abs=1e-4)
    wanted = [number for item in theirs["items"] for number in (item["a"], *item["b"])]
    assert items["value"].tolist() == pytest.approx(wanted, abs=2e-4)


def test_r_can_read_the_script_of_the_graded_response_model(tmp_path):
    """Few have ltm, so that the script itself is not run; its names must stay data all the same."""
    needs_r()
    written(files_of("graded_response", hostile_answers()), tmp_path)
    code = """
      one <- as.list(parse('graded_response.R'))
      one <- Filter(function(own) !grepl('library', deparse(own)[1]), one)
      grm <- function(...) stop('a stand-in for ltm')
      for (own in one) eval(own)
    """
    done = subprocess.run(
        ["Rscript", "-e", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
    )
    assert done.stdout.count("not fitted: a stand-in for ltm") == 1
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".R", ".py"}
    others = files_of("graded_response", hostile_answers(), irt_model="nominal")
    assert {Path(one.name).suffix for one in others} == {".csv", ".py"}
