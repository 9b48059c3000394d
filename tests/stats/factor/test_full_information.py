"""Full information with many gaps, against lavaan 0.6-14 (golden/gold_fiml.R)."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from core.errors import NotEnoughData
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import compare_models
from tests.stats.incomplete_answers import incomplete_sets

SETS = {one.name: one for one in incomplete_sets()}
TEXT = (Path(__file__).parents[1] / "golden" / "fiml_lavaan.csv").read_text(encoding="utf-8")
GOLDEN = [row for row in csv.DictReader(TEXT.splitlines()) if row["converged"] == "TRUE"]
SETTLED = [row for row in GOLDEN if row["em_settled"] == "TRUE"]
UNSETTLED = [row for row in GOLDEN if row["em_settled"] == "FALSE"]
NAMES = ["y1", "y2", "y3", "y4", "y5", "y6"]
ONE = "F =~ " + " + ".join(NAMES)


def fitted(name):
    one = SETS[name]
    return fit_cfa(one.scores(), one.names, one.model, missing="fiml")


@pytest.mark.parametrize("row", SETTLED[::2], ids=lambda row: row["name"])
def test_chi_square_and_scaling_equal_lavaan_where_its_saturated_model_settles(row):
    ours = fitted(row["name"])
    assert ours.fit.chi2 == pytest.approx(float(row["chisq"]), abs=1e-3)
    assert ours.fit.baseline_chi2 == pytest.approx(float(row["baseline.chisq"]), abs=1e-3)
    assert ours.log_likelihood == pytest.approx(float(row["logl"]), abs=1e-4)
    factor = float(row["chisq.scaling.factor"])
    assert ours.scaled.scaling_factor == pytest.approx(factor, abs=1e-3)
    assert ours.robust.rmsea == pytest.approx(float(row["rmsea.robust"]), abs=1e-3)
    assert ours.robust.cfi == pytest.approx(float(row["cfi.robust"]), abs=1e-3)


@pytest.mark.parametrize("row", [UNSETTLED[0], UNSETTLED[-3]], ids=lambda row: row["name"])
def test_without_a_likeliest_covariance_matrix_there_are_estimates_and_no_test(row):
    """lavaan's EM does not settle within 5000 steps either."""
    ours = fitted(row["name"])
    assert ours.converged
    assert ours.log_likelihood == pytest.approx(float(row["logl"]), abs=1e-3)
    assert all(e.se > 0 for e in ours.parameters if e.free)
    assert math.isnan(ours.fit.chi2)
    assert math.isnan(ours.srmr)
    assert ours.scaled is None
    assert ours.robust is None
    assert np.isnan(ours.groups[0].residual_correlations).all()
    present = ~np.isnan(SETS[row["name"]].scores())
    (note,) = [problem for problem in ours.problems if "Too many answers are missing" in problem]
    together = present.T.astype(int) @ present
    assert f"{present.all(axis=1).sum()} row" in note
    assert f"{together[together > 0].min()} rows hold both" in note
    assert compare_models(ours, ours).problems


def test_no_search_is_called_a_maximum_short_of_it():
    """With this set lavaan stops short of the maximum: its saturated log-likelihood is lower."""
    (row,) = [row for row in GOLDEN if row["name"] == "set135"]
    ours = fitted("set135")
    unrestricted = ours.log_likelihood + ours.fit.chi2 / 2
    assert unrestricted > float(row["unrestricted.logl"])


def test_a_scaling_factor_that_is_not_positive_leaves_the_corrected_indices_undefined():
    rng = np.random.default_rng(16)
    answers = rng.standard_normal((10, 1)) * 0.6 + rng.standard_normal((10, 6)) * 0.8
    fit = fit_cfa(answers, NAMES, ONE)
    assert math.isfinite(fit.fit.chi2)
    for version in (fit.scaled, fit.robust):
        assert version.df == fit.fit.df
        for name in ("chi2", "p", "cfi", "tli", "rmsea", "rmsea_high", "scaling_factor"):
            assert math.isnan(getattr(version, name)), name
    assert any("scaling factor of the model is -0.196" in problem for problem in fit.problems)


def test_items_that_determine_each_other_are_refused_with_gaps_too():
    rng = np.random.default_rng(3)
    answers = rng.standard_normal((300, 6)) + rng.standard_normal((300, 1))
    answers[:, 5] = answers[:, 4] + answers[:, 3]
    answers[rng.random(answers.shape) < 0.1] = np.nan
    with pytest.raises(NotEnoughData, match=r"determine each other exactly: y4, y5, y6\."):
        fit_cfa(answers, NAMES, ONE, missing="fiml")


def test_few_rows_on_a_plane_do_not_make_items_dependent():
    """In this set 6 rows hold y1, y6 and y7, and lie on a plane by chance."""
    fit = fitted("set158")
    assert any("Too many answers are missing" in problem for problem in fit.problems)


def test_parameters_on_their_way_to_infinity_are_no_maximum():
    fit = fitted("set199")
    assert not fit.converged
    assert any("found no maximum" in problem for problem in fit.problems)
