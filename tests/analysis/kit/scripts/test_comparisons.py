from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from core.analysis.groups.group_comparison.analysis import group_comparison
from core.analysis.kit.registry import all_analyses
from core.analysis.scales.multitrait_matrix.analysis import multitrait_matrix
from core.analysis.scales.score_correlations import score_correlations
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.analysis.score_frames import item_scores

LEVELS = HOSTILE[:3]
GROUPS = HOSTILE[3:5]
SCALES = HOSTILE[8:10]


def hostile_answers(n=24):
    """Two groups under three levels of a factor with gaps, all of them named in a hostile way.

    The second group is asked under two of the levels only. The second scale differs so much under
    the last level that R's own noncentral t is no longer exact.
    """
    draw = np.random.default_rng(3).normal
    frames = []
    for group, levels in zip(GROUPS, (LEVELS, LEVELS[1:]), strict=True):
        trait = draw(size=(n, 1))
        for shift, level in enumerate(levels):
            values = np.clip(np.round(3 + 0.3 * shift + trait + draw(size=(n, 4))), 1, 5)
            values[:, 2:] += 20 * (level == LEVELS[2])
            values[shift::9, 1] = np.nan
            start = 1 + n * len(frames)
            frame = item_scores(
                values,
                subscales=np.repeat(SCALES, 2).tolist(),
                start=start,
                respondent=group,
                form=level,
            )
            frames.append(frame.assign(context=np.repeat([f"c{k}" for k in range(n)], 4)))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def answers():
    return hostile_answers()


def python_tables(folder, script):
    """The tables that the script prints, an empty line between them."""
    texts = run_python(folder, script).split("\n\n")
    return [
        pd.read_csv(io.StringIO(text), sep="\t", quoting=csv.QUOTE_NONE, na_values=["nan"])
        for text in texts
    ]


def same_numbers(theirs, ours, columns):
    """Rows stand in the same order, so that names need not be compared; to 1e-8 or 9 digits."""
    assert len(theirs) == len(ours)
    for own, name in columns.items():
        wanted = ours[name].to_numpy(dtype=float)
        found = theirs[own].to_numpy(dtype=float)
        assert np.isfinite(wanted).any()
        assert found == pytest.approx(wanted, rel=1e-8, abs=1e-8, nan_ok=True), own


def files_of(name, frame, **options):
    (scripts,) = (one.scripts for one in all_analyses() if one.name == name)
    return scripts(frame, **options)


PAIR = {name: name for name in ("r", "ci_low", "ci_high", "p", "p_adjusted")}


def test_both_scripts_give_score_correlations_and_differences(tmp_path, answers):
    options = {"alternative": "greater", "adjust": "benjamini-hochberg", "ci_level": 0.9}
    result = score_correlations(answers, **options)
    folder = written(files_of("score_correlations", answers, **options), tmp_path)
    of_r = run_r(
        folder, "score_correlations.R", "correlations[-(1:4)]", "differences[-(1:4)]", locale="C"
    )
    for tables in (python_tables(folder, "score_correlations.py"), of_r):
        correlations, differences = (table.frame for table in result.tables)
        if tables is not of_r:  # Python prints one family of p values after the other
            correlations = correlations.sort_values(
                ["respondent", "kind"],
                key=lambda own: own.map([*GROUPS, "pearson", "spearman"].index),
                kind="stable",
            )
        same_numbers(tables[0], correlations, PAIR | {"n": "n_pairs"})
        names = (
            "difference",
            "ci_low",
            "ci_high",
            "t",
            "df",
            "d_z",
            "d_z_low",
            "d_z_high",
            "p",
            "p_adjusted",
        )
        same_numbers(tables[1], differences, {name: name for name in names})
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("design", ["within", "between"])
def test_both_scripts_compare_three_groups_and_two(tmp_path, answers, design):
    options = {"factor": "form", "design": design}
    result = group_comparison(answers, **options)
    folder = written(files_of("group_comparison", answers, **options), tmp_path)
    of_r = run_r(
        folder, "group_comparison.R", "means[-(1:3)]", "tests[-(1:2)]", "pairs[-(1:4)]", locale="C"
    )
    for tables in (python_tables(folder, "group_comparison.py"), of_r):
        means, tests, pairs = (table.frame for table in result.tables)
        names = ("n", "mean", "sd", "ci_low", "ci_high")
        same_numbers(tables[0], means, {name: name for name in names})
        within = design == "within"
        effects = ("value", "corrected", "ci_low", "ci_high", "by_chance")
        general = [f"generalized{of}" for of in ("", "_corrected", "_low", "_high", "_by_chance")]
        names = ("statistic", "df1", "df2", *effects, "p", "p_adjusted")
        names = (*names, *(("epsilon", *general) if within else ("omega_squared",)))
        same_numbers(tables[1], tests, {name: name for name in names})
        assert tables[1]["test"].tolist() == tests["test"].tolist()
        assert set(tests["n_groups"]) == {2, 3}
        ends = ("difference", "ci_low", "ci_high", "t", "df", "d", "d_low", "d_high", "g")
        kind = "d_z" if within else "d_average"
        of_differences = (kind, f"{kind}_low", f"{kind}_high")
        names = (*ends, *of_differences, "p", "p_adjusted")
        same_numbers(tables[2], pairs, {name: name for name in names})
    assert not (tmp_path / "pwned").exists()


def test_both_scripts_have_the_corrected_effect_of_equal_differences(tmp_path):
    """One scale of three contexts with equal differences, and one of two contexts."""
    first = np.array([[0.1, 1], [0.2, 2], [0.7, np.nan]])
    frames = []
    for number, values in enumerate((first, first + 0.2)):
        frame = item_scores(
            values, subscales=list("ab"), start=1 + 3 * number, form=f"form {number}"
        )
        frames.append(frame.assign(context=np.repeat(["c0", "c1", "c2"], 2)))
    answers, options = pd.concat(frames, ignore_index=True), {"factor": "form"}
    result = group_comparison(answers, **options)
    folder = written(files_of("group_comparison", answers, **options), tmp_path)
    of_r = run_r(folder, "group_comparison.R", "tests[-(1:2)]", "pairs[-(1:4)]", locale="C")
    for tables in (python_tables(folder, "group_comparison.py")[1:], of_r):
        _, tests, pairs = (table.frame for table in result.tables)
        same_numbers(tables[0], tests, {"value": "value", "corrected": "corrected"})
        same_numbers(tables[1], pairs, {"d": "d", "g": "g"})


def test_both_scripts_give_the_correlations_of_the_multitrait_matrix(tmp_path, answers):
    options = {"split": ("form",), "kind": "spearman", "incomplete": "available"}
    ours = multitrait_matrix(answers, **options).tables[0].frame
    folder = written(files_of("multitrait_matrix", answers, **options), tmp_path)
    tables = python_tables(folder, "multitrait_matrix.py")
    tables += run_r(folder, "multitrait_matrix.R", "correlations[-(1:4)]")
    for table in tables:
        same_numbers(table, ours, PAIR | {"n": "n", "corrected": "corrected"})
    assert not (tmp_path / "pwned").exists()
