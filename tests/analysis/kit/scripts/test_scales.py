from __future__ import annotations

import csv
import inspect
import io

import numpy as np
import pandas as pd
import pytest

from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.registry import all_analyses
from core.analysis.kit.scripts.scales import (
    ScaleGroup,
    item_files,
    reliability_files,
    scale_groups,
)
from core.analysis.scales.internal_consistency import (
    internal_consistency,
    internal_consistency_scripts,
)
from core.analysis.scales.reliability import reliability, reliability_scripts
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.analysis.score_frames import golden, item_scores

TITLES = {
    "alpha": "α (Feldt)",
    "stratified alpha": "Stratified α",
    "omega total": "ω total (one factor)",
    "omega hierarchical": "ω hierarchical (second order)",
    "split-half, odd-even": "Split-half, odd-even",
    "split-half, mean": "Split-half, mean",
    "split-half, lowest": "Split-half, lowest",
    "split-half, highest": "Split-half, highest",
}


def from_python(folder, script):
    text = io.StringIO(run_python(folder, script))
    return pd.read_csv(
        text, sep="\t", quoting=csv.QUOTE_NONE, keep_default_na=False, na_values=["nan"]
    )


def nine_items(n=300, *, gaps=True):
    """Three subscales of three items, with gaps, a constant item and one never answered."""
    draw = np.random.default_rng(5).normal
    values = draw(size=(n, 1)) + 0.7 * np.repeat(draw(size=(n, 3)), 3, axis=1)
    values = np.clip(np.round(3 + values + draw(size=(n, 9))), 1, 5)
    if gaps:
        values[::11, 2] = np.nan
        values = np.column_stack([values, np.full(n, 2.0), np.full(n, np.nan)])
        values[3, 9] = np.nan
    subscales = [name for name in "abc" for _ in range(3)] + ["a", "b"]
    return item_scores(values, subscales=subscales[: values.shape[1]])


def compared(table, ours, *, tolerance):
    """The coefficients of a script beside those of the analysis; how many agreed."""
    mine = ours.set_index(["scale", "coefficient"])
    n = 0
    for row in table.to_dict("records"):
        if row["coefficient"] not in TITLES:
            continue
        own = mine.loc[(row["scale"], TITLES[row["coefficient"]])]
        close = 1e-4 if row["coefficient"].startswith("omega") else tolerance
        assert row["value"] == pytest.approx(own["value"], abs=close), row
        assert (row["n"], row["n_items"]) == (own["n"], own["n_items"])
        if np.isfinite(row["ci_low"]):
            limits = (own["ci_low"], own["ci_high"])
            assert (row["ci_low"], row["ci_high"]) == pytest.approx(limits, abs=close), row
        n += 1
    return n


def test_both_scripts_give_the_coefficients_of_reliability(tmp_path):
    frame = nine_items()
    ours = reliability(frame, ci_level=0.9, resamples=100).tables[0].frame
    folder = written(reliability_scripts(frame, ci_level=0.9, resamples=100), tmp_path)
    # all items: alpha, stratified, omega total, four halves; 3 subscales: alpha, omega, four halves
    assert compared(from_python(folder, "reliability.py"), ours, tolerance=1e-8) == 7 + 3 * 6
    (table,) = run_r(folder, "reliability.R", "results")
    assert compared(table, ours, tolerance=1e-6) == 8 + 3 * 6
    # Flanagan and Rulon's coefficient of psych is named as another one
    assert table["coefficient"].str.contains("Rulon").sum() == 8


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_both_scripts_give_the_alphas_of_internal_consistency(tmp_path, missing):
    frame = nine_items()
    result = internal_consistency(frame, missing=missing, ci_level=0.9)
    ours = result.tables[0].frame.set_index("subscale")
    folder = written(internal_consistency_scripts(frame, missing=missing, ci_level=0.9), tmp_path)
    tables = [from_python(folder, "reliability.py"), *run_r(folder, "reliability.R", "results")]
    for table in tables:
        assert table["scale"].tolist() == ["a", "b", "c"]
        for row in table.to_dict("records"):
            own = ours.loc[row["scale"]]
            wanted = (own["alpha"], own["ci_low"], own["ci_high"], own["n_administrations"])
            found = (row["value"], row["ci_low"], row["ci_high"], row["n"])
            assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("missing", ["listwise", "pairwise"])
def test_both_scripts_give_the_discriminations_of_item_statistics(tmp_path, missing):
    _, frame, _ = golden("item_statistics", "likert22")
    ours = item_statistics(frame, missing=missing).tables[0].frame.set_index("item")
    groups = scale_groups(frame, ("respondent",))
    folder = written(item_files(groups, missing=missing, ci_level=0.95), tmp_path)
    tables = [from_python(folder, "items.py"), *run_r(folder, "items.R", "results")]
    for table in tables:
        assert set(table["item"]) == set(ours.index[ours["discrimination"].notna()])
        for row in table.to_dict("records"):
            names = ("discrimination", "ci_low", "ci_high", "alpha_if_dropped")
            own = ours.loc[row["item"]]
            wanted = [own[name] for name in names]
            assert [row[name] for name in names] == pytest.approx(wanted, abs=1e-6), row


def hostile_groups():
    values = np.random.default_rng(1).integers(1, 6, (40, len(HOSTILE))).astype(float)
    subscales = tuple(HOSTILE[place % 3] for place in range(len(HOSTILE)))
    return [
        ScaleGroup(name, values[number:], HOSTILE, subscales) for number, name in enumerate(HOSTILE)
    ]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_hostile_names_stay_data_in_both_scripts(tmp_path, locale):
    groups = hostile_groups()
    files = reliability_files(groups, ci_level=0.95, alpha_only=True, title="\n".join(HOSTILE))
    folder = written(files, tmp_path)
    table = from_python(folder, "reliability.py")
    (theirs,) = run_r(
        folder,
        "reliability.R",
        "cbind(results[-1], number = match(results$group, unique(results$group)))",
        locale=locale,
    )
    own = {file.name for file in files}
    assert {path.name for path in tmp_path.iterdir()} == own | {"after.R"}
    assert table["n"].tolist() == [40 - k for k in range(len(HOSTILE)) for _ in range(3)]
    assert theirs["value"].tolist() == pytest.approx(table["value"].tolist(), abs=1e-9)
    assert theirs["number"].max() == len(HOSTILE)


def test_hostile_names_stay_data_in_the_item_scripts(tmp_path):
    files = item_files(hostile_groups()[:2], missing="listwise", ci_level=0.95)
    folder = written(files, tmp_path)
    table = from_python(folder, "items.py")
    (theirs,) = run_r(folder, "items.R", "results[-1]")
    assert not (tmp_path / "pwned").exists()
    found = theirs["discrimination"].tolist()
    assert found == pytest.approx(table["discrimination"].tolist(), abs=1e-9)


def test_a_scale_that_cannot_be_computed_does_not_stop_the_others(tmp_path):
    values = np.column_stack([[1, 2, 3, 5], [1, 3, 2, 4], [1, 1, 1, 1], [2, 2, 2, 2]])
    group = ScaleGroup("g", values.astype(float), tuple("wxyz"), ("good", "good", "flat", "flat"))
    folder = written(reliability_files([group], ci_level=0.95), tmp_path)
    table = from_python(folder, "reliability.py").set_index(["scale", "coefficient"])
    assert ("flat", "too few rows or items") in table.index
    (theirs,) = run_r(folder, "reliability.R", "results")
    theirs = theirs.set_index(["scale", "coefficient"])
    for found in (table, theirs):
        assert int(found.loc[("good", "alpha"), "n_items"]) == 2


def test_the_scripts_take_the_options_that_the_analysis_takes():
    for analysis in all_analyses():
        if analysis.scripts is not None:
            own = inspect.signature(analysis.run).parameters
            assert dict(inspect.signature(analysis.scripts).parameters) == dict(own), analysis.name
    names = {analysis.name for analysis in all_analyses() if analysis.scripts is not None}
    assert names >= {"reliability", "internal_consistency"}


def test_groups_and_subscales_are_those_of_the_frame():
    frame = pd.concat(
        [nine_items(20, gaps=False), item_scores([[1, 2], [2, 1]], respondent="two", start=99)]
    )
    first, second = scale_groups(frame, ("respondent",))
    assert (first.name, second.name) == ("gpt", "two")
    assert first.subscales == tuple("aaabbbccc")
    assert second.scores.tolist() == [[1, 2], [2, 1]]
