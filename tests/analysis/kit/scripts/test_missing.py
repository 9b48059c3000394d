"""Scripts of answers with gaps give what the analyses give with the rule that these chose."""

import csv
import io

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa.analysis import cfa
from core.analysis.factors.efa.analysis import efa
from core.analysis.items.item_statistics import item_statistics
from core.analysis.kit.registry import all_analyses
from core.analysis.scales.internal_consistency import internal_consistency
from core.analysis.scales.reliability import reliability
from tests.analysis.kit.scripts.running import run_python, run_r, written
from tests.analysis.score_frames import item_scores
from tests.stats.test_missing_answers import answers

THIRDS = ["a"] * 3 + ["b"] * 3 + ["c"] * 3
NAMES = {
    "alpha": "α (full information)", "stratified alpha": "Stratified α",
    "omega total": "ω total (one factor)", "omega hierarchical": "ω hierarchical (second order)",
    "split-half, odd-even": "Split-half, odd-even",
    "split-half, mean": "Split-half, mean", "split-half, lowest": "Split-half, lowest",
    "split-half, highest": "Split-half, highest",
}  # fmt: skip


def booklets():
    return item_scores(answers("booklets9")[0], subscales=THIRDS)


def files(name, frame, folder, **options):
    """The scripts of an analysis with its own defaults, written into a folder."""
    (analysis,) = [one for one in all_analyses() if one.name == name]
    return written(analysis.scripts(frame, **options), folder)


def from_python(folder, script):
    text = io.StringIO(run_python(folder, script))
    return pd.read_csv(text, sep="\t", quoting=csv.QUOTE_NONE, na_values=["nan"])


@pytest.mark.parametrize("software", ["R", "Python"])
def test_reliability(tmp_path, software):
    frame = booklets()
    folder = files("reliability", frame, tmp_path)
    if software == "R":
        (table,) = run_r(folder, "reliability.R", "results")
    else:
        table = from_python(folder, "reliability.py")
    ours = reliability(frame, resamples=100).tables[0].frame.set_index(["scale", "coefficient"])
    n = 0
    for row in table.to_dict("records"):
        mine = ours.loc[(row["scale"], NAMES[row["coefficient"]])]
        assert row["value"] == pytest.approx(mine["value"], abs=2e-5), row
        assert row["n"] == mine["n"]
        # lavaan's interval of omega takes the information at the model, ours as observed
        close = 1e-4 if row["coefficient"] == "alpha" else 4e-3
        if np.isfinite(row["ci_low"]):
            ends = mine[["ci_low", "ci_high"]].tolist()
            assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=close), row
            n += 1
    assert {*table["coefficient"]} >= {"alpha", "stratified alpha", "omega total"}
    assert n == (8 if software == "R" else 0)


@pytest.mark.parametrize("software", ["R", "Python"])
def test_internal_consistency_and_item_statistics(tmp_path, software):
    frame = booklets()
    alpha = internal_consistency(frame).tables[0].frame.set_index("subscale")
    items = item_statistics(frame).tables[0].frame.set_index("item")
    (tmp_path / "alpha").mkdir()
    (tmp_path / "items").mkdir()
    first = files("internal_consistency", frame, tmp_path / "alpha")
    second = files("item_statistics", frame, tmp_path / "items")
    if software == "R":
        (table,), (rows,) = (
            run_r(first, "reliability.R", "results"),
            run_r(second, "items.R", "results"),
        )
    else:
        table, rows = from_python(first, "reliability.py"), from_python(second, "items.py")
    assert table["value"].tolist() == pytest.approx(alpha["alpha"].tolist(), abs=1e-5)
    mine = items.loc[rows["item"]]
    for name in ("discrimination", "alpha_if_dropped"):
        assert rows[name].tolist() == pytest.approx(mine[name].tolist(), abs=1e-5)
    assert rows["n"].tolist() == mine["n_discrimination"].tolist()
    if software == "R":
        for name in ("ci_low", "ci_high"):
            assert table[name].tolist() == pytest.approx(alpha[name].tolist(), abs=1e-4)
            assert rows[name].tolist() == pytest.approx(mine[name].tolist(), abs=1e-4)


@pytest.mark.parametrize("software", ["R", "Python"])
@pytest.mark.parametrize("correlation", ["pearson", "polychoric"])
def test_exploratory_factors(tmp_path, software, correlation):
    frame = booklets()
    options = {"factors": 2, "correlation": correlation}
    folder = files("efa", frame, tmp_path, **options)
    if software == "R":
        (table,) = run_r(folder, "efa.R", "results")
    else:
        table = from_python(folder, "efa.py")
    eigen, loadings = (one.frame for one in efa(frame, **options).tables[:2])
    found = table[table["statistic"] == "eigenvalue"]["value"]
    assert found.tolist() == pytest.approx(eigen["eigenvalue"].tolist(), abs=2e-5)
    found = table[table["statistic"] == "loading"].set_index(["item", "number"])["value"]
    for row in loadings.itertuples():
        assert found[row.item, row.factor] == pytest.approx(row.loading, abs=2e-4)


@pytest.mark.parametrize("estimator", ["ml", "mlr", "automatic"])
def test_confirmatory_factor_analysis(tmp_path, estimator):
    """Automatic is WLSMV here: four options."""
    frame = booklets()
    measures = "data.frame(name = names(results[[1]]$measures), value = results[[1]]$measures)"
    folder = files("cfa", frame, tmp_path, estimator=estimator)
    (table,) = run_r(folder, "cfa.R", measures)
    theirs = table.set_index("name")["value"]
    (ours,) = cfa(frame, estimator=estimator).tables[0].frame.to_dict("records")
    pairs = {"chisq": "chi2", "df": "df", "cfi": "cfi", "rmsea": "rmsea", "srmr": "srmr"}
    if estimator != "ml":
        pairs |= {"chisq.scaled": "chi2_scaled", "rmsea.robust": "rmsea_robust"}
    for other, mine in pairs.items():
        assert ours[mine] == pytest.approx(theirs[other], abs=2e-3), other
    assert ours["missing_rule"] == ("pairwise" if estimator == "automatic" else "fiml")
