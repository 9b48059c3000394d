"""Models of ordered answers: against lavaan, by recovery, by property, on unusable data."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.errors import NotEnoughData, UserError
from core.stats.factor.model_text import bifactor_model
from core.stats.factor.wlsmv import fit_wlsmv
from tests.stats.reference import compare_wlsmv

GOLDEN = Path(__file__).parents[1] / "golden"
LAVAAN = json.loads((GOLDEN / "likert22_lavaan.json").read_text())
LIKERT = pd.read_csv(GOLDEN / "likert22.csv")
EMPTY_CELLS = json.loads((GOLDEN / "empty_cells_lavaan.json").read_text())["samples"]
EMPTY_CELL_ANSWERS = pd.read_csv(GOLDEN / "empty_cells.csv")
NAMES = [f"y{number}" for number in range(1, 9)]
TWO_FACTORS = "F =~ y1 + y2 + y3 + y4\nG =~ y5 + y6 + y7 + y8"
LOADINGS = np.array([0.8, 0.7, 0.6, 0.5, 0.75, 0.65, 0.55, 0.45])
CORRELATION = 0.4
CUTS = [-1.3, -0.6, 0.2, 1.0]
INDICES = {
    "chisq": "chi2",
    "pvalue": "p",
    "baseline.chisq": "baseline_chi2",
    "cfi": "cfi",
    "tli": "tli",
    "rmsea": "rmsea",
    "rmsea.ci.lower": "rmsea_low",
    "rmsea.ci.upper": "rmsea_high",
    "rmsea.pvalue": "rmsea_p_close",
}


@pytest.fixture(scope="module", params=["listwise", "pairwise"])
def both(request):
    """Our result and lavaan's, for one rule on missing answers."""
    found = fit_wlsmv(LIKERT.to_numpy(float), list(LIKERT), LAVAAN["model"], missing=request.param)
    return found, LAVAAN[f"WLSMV_{request.param}"]


def simulated(rng, n):
    """Ordered answers of two correlated factors with known loadings, 5 options."""
    factors = rng.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], size=n)
    noise = rng.standard_normal((n, 8)) * np.sqrt(1 - LOADINGS**2)
    hidden = factors[:, [0] * 4 + [1] * 4] * LOADINGS + noise
    return np.digitize(hidden, CUTS).astype(float)


@pytest.mark.parametrize("version", ["", ".scaled", ".robust"])
def test_fit_indices_equal_lavaan_to_five_decimals(both, version):
    found, wanted = both
    indices = {"": found.fit, ".scaled": found.scaled, ".robust": found.robust}[version]
    compared = 0
    for theirs, ours in INDICES.items():
        expected = wanted["fit"].get(theirs + version)
        if expected is not None:
            decimals = 1e-4 if theirs.endswith("chisq") else 5e-6  # of thousands, and of one
            assert getattr(indices, ours) == pytest.approx(expected, abs=decimals), theirs
            compared += 1
    assert compared >= 6


def test_scaling_srmr_and_counts_equal_lavaan(both):
    found, wanted = both
    fit = wanted["fit"]
    assert found.scaled.scaling_factor == pytest.approx(fit["chisq.scaling.factor"], abs=1e-6)
    assert found.scaled.baseline_scaling_factor == pytest.approx(
        fit["baseline.chisq.scaling.factor"], abs=1e-6
    )
    assert found.srmr == pytest.approx(fit["srmr"], abs=1e-6)
    assert (found.n, found.n_free, found.fit.df) == (wanted["nobs"], fit["npar"], fit["df"])
    assert found.fit.baseline_df == fit["baseline.df"] if "baseline.df" in fit else True
    scaled = found.fit.chi2 / found.scaled.scaling_factor + found.scaled.shift
    assert found.scaled.chi2 == pytest.approx(scaled)


@pytest.mark.parametrize(
    ("ours", "theirs", "value"),
    [("parameters", "parameters", "est"), ("standardized", "standardized", "est.std")],
)
def test_estimates_and_errors_equal_lavaan(both, ours, theirs, value):
    found, wanted = both
    rows = {(row["lhs"], row["op"], row["rhs"]): row for row in wanted[theirs]}
    estimates = getattr(found, ours)
    assert sum(each.op == "|" for each in estimates) == 105
    for each in estimates:
        row = rows[each.left, each.op, each.right]
        assert each.estimate == pytest.approx(row[value], abs=1e-5)
        assert each.se == pytest.approx(row["se"], abs=1e-6)
        if each.se:
            assert each.z == pytest.approx(row["z"], rel=1e-4)
            assert each.low == pytest.approx(row["ci.lower"], abs=1e-5)


def test_modification_indices_equal_lavaan_to_three_decimals(both):
    found, wanted = both
    rows = wanted["modindices_top15"]
    for ours, theirs in zip(found.modification_indices, rows, strict=False):
        assert (ours.left, ours.right) == (theirs["lhs"], theirs["rhs"])
        assert ours.index == pytest.approx(theirs["mi"], abs=5e-4)
        # lavaan 0.6-19 has the other sign for this estimator (its issue 401), times (n - 1) / n
        change = -ours.standardized_change * (found.n - 1) / found.n
        assert change == pytest.approx(theirs["sepc.all"], abs=1e-5)


def test_freeing_a_parameter_changes_it_as_expected(both):
    found, _ = both
    largest = found.modification_indices[0]
    freed = fit_wlsmv(
        LIKERT.to_numpy(float),
        list(LIKERT),
        f"{LAVAAN['model']}\n{largest.left} {largest.op} {largest.right}",
        missing=found.missing,
    )
    change = freed.estimate(largest.left, largest.op, largest.right).estimate
    assert change == pytest.approx(largest.expected_change, rel=0.02)
    assert found.fit.chi2 - freed.fit.chi2 == pytest.approx(largest.index, rel=0.02)


def test_variance_explained_equals_lavaan(both):
    found, wanted = both
    for item, value in zip(found.items, found.groups[0].r_squared, strict=True):
        assert value == pytest.approx(wanted["rsquare"][item], abs=1e-5)


@pytest.mark.parametrize("sample", range(1, 13))
def test_yes_no_items_with_empty_cells_equal_lavaan(sample):
    """Shares of yes from .10 to .90; from .02 in samples 9, 10 and 12 (gold_empty_cells.R)."""
    wanted = EMPTY_CELLS[sample - 1]
    answers = EMPTY_CELL_ANSWERS[EMPTY_CELL_ANSWERS["sample"] == sample].drop(columns="sample")
    found = fit_wlsmv(
        answers.to_numpy(float),
        list(answers),
        "F =~ " + " + ".join(answers),
        missing=wanted["missing"],
    )
    fit = wanted["fit"]
    assert wanted["empty_cells"] >= 1
    assert (found.n, found.fit.df) == (wanted["n"], fit["df"])
    assert found.scaled.p == pytest.approx(fit["pvalue.scaled"], abs=1e-5)
    assert found.scaled.cfi == pytest.approx(fit["cfi.scaled"], abs=1e-5)
    assert found.scaled.tli == pytest.approx(fit["tli.scaled"], abs=1e-5)
    assert found.scaled.rmsea == pytest.approx(fit["rmsea.scaled"], abs=1e-5)
    assert found.srmr == pytest.approx(fit["srmr"], abs=1e-5)
    assert found.fit.chi2 == pytest.approx(fit["chisq"], rel=1e-5)
    assert found.scaled.chi2 == pytest.approx(fit["chisq.scaled"], rel=1e-5)
    if fit["cfi.robust"] is not None:  # lavaan has none where correlations contradict each other
        assert found.robust.cfi == pytest.approx(fit["cfi.robust"], abs=1e-5)
        assert found.robust.rmsea == pytest.approx(fit["rmsea.robust"], abs=1e-5)
    loadings = [each for each in found.standardized if each.op == "=~"]
    for row, loading, error in zip(loadings, wanted["loadings"], wanted["se"], strict=True):
        assert row.estimate == pytest.approx(loading, abs=1e-4)
        assert row.se == pytest.approx(error, abs=1e-5)


def test_an_item_outside_the_model_costs_no_rows():
    scores = LIKERT.to_numpy(float).copy()
    scores[:, 21] = np.nan
    found = fit_wlsmv(scores, list(LIKERT), LAVAAN["model"])
    assert found.n == 243


def test_known_loadings_and_thresholds_are_recovered():
    found = fit_wlsmv(simulated(np.random.default_rng(21), 8000), NAMES, TWO_FACTORS)
    assert found.converged
    assert found.admissible
    rows = [each for each in found.standardized if each.op == "=~"]
    for row, true in zip(rows, LOADINGS, strict=True):
        assert abs(row.estimate - true) < 0.025
        assert abs(row.estimate - true) < 3.5 * row.se
    assert found.standardized_estimate("F", "~~", "G").estimate == pytest.approx(0.4, abs=0.03)
    assert found.scaled.p > 0.01
    cuts = [each for each in found.parameters if each.op == "|"]
    assert len(cuts) == 8 * len(CUTS)
    for cut, true in zip(cuts, CUTS * 8, strict=True):
        assert abs(cut.estimate - true) < 0.05
        assert abs(cut.estimate - true) < 3.5 * cut.se


def test_errors_and_test_hold_over_samples():
    rng = np.random.default_rng(22)
    fits = [fit_wlsmv(simulated(rng, 500), NAMES, TWO_FACTORS) for _ in range(150)]
    loadings = np.array([[e.estimate for e in fit.standardized if e.op == "=~"] for fit in fits])
    errors = np.array([[e.se for e in fit.standardized if e.op == "=~"] for fit in fits])
    # With 150 samples the spread is known to 6 %, and errors are some 3 % small at 500 rows.
    ratio = errors.mean(axis=0) / loadings.std(axis=0)
    assert ((ratio > 0.8) & (ratio < 1.2)).all()
    statistics = np.array([fit.scaled.chi2 for fit in fits])
    assert statistics.mean() == pytest.approx(19, abs=2)
    assert statistics.var() == pytest.approx(38, rel=0.5)
    assert np.mean([fit.scaled.p < 0.05 for fit in fits]) < 0.12


def test_the_unit_of_the_factors_does_not_matter():
    scores = simulated(np.random.default_rng(23), 500)
    marker = fit_wlsmv(scores, NAMES, TWO_FACTORS)
    unit = fit_wlsmv(scores, NAMES, TWO_FACTORS, scaling="std.lv")
    assert unit.scaled.chi2 == pytest.approx(marker.scaled.chi2, abs=1e-6)
    for one, other in zip(marker.standardized, unit.standardized, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-6)
        assert one.se == pytest.approx(other.se, abs=1e-6)


def test_pairwise_equals_listwise_without_gaps():
    scores = simulated(np.random.default_rng(23), 300)
    one, other = (
        fit_wlsmv(scores, NAMES, TWO_FACTORS, missing=rule) for rule in ("listwise", "pairwise")
    )
    assert one.scaled.chi2 == other.scaled.chi2
    np.testing.assert_array_equal(one.covariance, other.covariance)


def test_correlated_residuals_and_a_bifactor_model_fit_better():
    rng = np.random.default_rng(24)
    scores = simulated(rng, 1500)
    plain = fit_wlsmv(scores, NAMES, "F =~ " + " + ".join(NAMES))
    text = bifactor_model({"F": NAMES[:4], "G": NAMES[4:]})
    bifactor = fit_wlsmv(scores, NAMES, text)
    assert bifactor.scaled.chi2 < plain.scaled.chi2
    assert plain.scaled.p < 1e-6
    assert bifactor.fit.df == 28 - 16


def test_a_factor_of_one_item_is_that_item():
    scores = simulated(np.random.default_rng(25), 600)
    found = fit_wlsmv(scores, NAMES, "F =~ y1 + y2 + y3 + y4\nG =~ y5")
    assert found.converged
    assert math.isfinite(found.estimate("F", "~~", "G").se)
    assert found.estimate("G", "=~", "y5").estimate == 1
    assert found.groups[0].r_squared[4] == pytest.approx(1)
    assert any("y5 alone" in problem for problem in found.problems)


def test_a_constant_item_is_left_out_of_data_and_model():
    scores = simulated(np.random.default_rng(25), 400)
    scores[:, 2] = 3
    found = fit_wlsmv(scores, NAMES, TWO_FACTORS)
    assert found.dropped_items == ("y3",)
    assert "y3" not in found.items
    assert found.n == 400
    assert any("y3" in problem for problem in found.problems)


def test_a_marker_without_variance_passes_its_role_on():
    scores = simulated(np.random.default_rng(25), 400)
    scores[:, 0] = np.nan
    found = fit_wlsmv(scores, NAMES, TWO_FACTORS)
    assert found.estimate("F", "=~", "y2").estimate == 1
    assert found.converged


def test_three_answers_of_six_can_be_fitted_and_are_named():
    scores = np.clip(simulated(np.random.default_rng(26), 400), 1, 3)
    found = fit_wlsmv(scores, NAMES, TWO_FACTORS, offered=[range(6)] * len(NAMES))
    assert found.converged
    assert sum(each.op == "|" for each in found.parameters) == 16
    assert any("Options that nobody chose are closed up" in one for one in found.problems)


def test_a_model_that_is_not_identified_has_no_errors_and_names_the_parameters():
    scores = simulated(np.random.default_rng(27), 400)
    found = fit_wlsmv(scores, NAMES, f"{TWO_FACTORS}\nH =~ F + G")
    assert not found.admissible
    assert found.scaled is None
    assert math.isnan(found.fit.chi2)
    assert math.isnan(found.estimate("H", "=~", "G").se)
    said = [problem for problem in found.problems if "not identified" in problem]
    assert "H =~ G" in said[0]
    assert not found.modification_indices


def test_a_model_without_degrees_of_freedom_has_estimates_but_no_test():
    scores = simulated(np.random.default_rng(27), 400)
    found = fit_wlsmv(scores, NAMES, "F =~ y1 + y2 + y3")
    assert found.scaled is None
    assert found.fit.chi2 == 0
    assert math.isnan(found.fit.p)
    assert math.isnan(found.fit.rmsea)
    assert math.isfinite(found.estimate("F", "=~", "y2").se)
    assert any("no degrees of freedom" in problem for problem in found.problems)


def test_three_items_worked_by_hand():
    # three loadings reproduce three correlations: l1^2 = r12 r13 / r23
    scores = simulated(np.random.default_rng(27), 400)
    found = fit_wlsmv(scores, NAMES, "F =~ y1 + y2 + y3")
    r = found.groups[0].sample_covariance
    first = found.standardized_estimate("F", "=~", "y1").estimate
    assert first == pytest.approx(math.sqrt(r[0, 1] * r[0, 2] / r[1, 2]), abs=1e-7)
    assert found.fit.df == 0


def test_a_heywood_case_is_reported_in_words():
    rng = np.random.default_rng(28)
    a = rng.standard_normal(400)
    b = a + 0.1 * rng.standard_normal(400)
    c = a + 4 * rng.standard_normal(400)
    d = b - a + 0.05 * c + rng.standard_normal(400) * 0.3
    hidden = np.column_stack([a, b, c, d])
    scores = np.digitize(stats.zscore(hidden), [-1, 0, 1]).astype(float)
    found = fit_wlsmv(scores, NAMES[:4], "F =~ y1 + y2 + y3 + y4")
    own = found.groups[0]
    assert (own.residual_variances < 0).any()
    # undefined, as lavaan has it
    assert (np.isnan(own.r_squared) == (own.residual_variances < 0)).all()
    assert not found.admissible
    assert any("Heywood" in problem for problem in found.problems)


def test_no_more_rows_than_items_has_no_test():
    scores = np.random.default_rng(29).integers(0, 2, (8, 8)).astype(float)
    found = fit_wlsmv(scores, NAMES, "F =~ " + " + ".join(NAMES))
    assert found.scaled is None
    assert not found.admissible
    assert any("8 rows for 8 items" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("change", "text", "message"),
    [
        (lambda x: x[:1], TWO_FACTORS, "No item varies"),
        (lambda x: np.full_like(x, np.nan), TWO_FACTORS, "No item varies"),
        (np.ones_like, TWO_FACTORS, "No item varies"),
        (lambda x: x, "F =~ y1 + y2", "2 free parameters and only 1 correlations"),
        (lambda x: x, "F =~ y1", "Only y1 varies"),
        (lambda x: x, "F =~ y1 + y22", '"y22" is neither'),
        (lambda x: x + np.arange(len(x))[:, None] / 7, TWO_FACTORS, "different scores"),
    ],
    ids=["one row", "missing", "constant", "two items", "one item", "misspelt", "continuous"],
)
def test_what_cannot_be_fitted_is_one_clear_message(change, text, message):
    scores = change(simulated(np.random.default_rng(30), 200))
    with pytest.raises(UserError, match=message):
        fit_wlsmv(scores, NAMES, text)


def test_hardly_more_rows_than_items_never_breaks():
    rng = np.random.default_rng(46)
    for _ in range(30):
        scores = rng.integers(0, 2, (9, 8)).astype(float)
        scores[:, 0] = scores[:, 1] if rng.random() < 0.3 else scores[:, 0]
        try:
            found = fit_wlsmv(scores, NAMES, TWO_FACTORS)
        except NotEnoughData as refusal:
            assert refusal.remedy  # noqa: PT017 - either outcome is right here
        else:
            assert found.problems
            assert found.scaled is None or not found.scaled.chi2 > 1e6


def test_pairs_never_answered_together_are_named():
    scores = simulated(np.random.default_rng(30), 200)
    scores[:100, 0] = np.nan
    scores[100:, 1] = np.nan
    with pytest.raises(NotEnoughData, match="y1 with y2"):
        fit_wlsmv(scores, NAMES, TWO_FACTORS, missing="pairwise")


@pytest.mark.parametrize("seed", [40, 41, 42])
def test_only_the_order_of_options_and_rows_counts(seed):
    rng = np.random.default_rng(seed)
    scores = simulated(rng, 250)
    one = fit_wlsmv(scores, NAMES, TWO_FACTORS)
    other = fit_wlsmv(np.exp(scores)[rng.permutation(250)], NAMES, TWO_FACTORS)
    assert other.scaled.chi2 == pytest.approx(one.scaled.chi2, abs=1e-6)
    turned = fit_wlsmv(scores * [1, -1, 1, 1, 1, 1, 1, 1], NAMES, TWO_FACTORS)
    assert turned.scaled.chi2 == pytest.approx(one.scaled.chi2, abs=1e-5)
    loading = one.standardized_estimate("F", "=~", "y2").estimate
    assert turned.standardized_estimate("F", "=~", "y2").estimate == pytest.approx(
        -loading, abs=1e-6
    )


def test_difference_of_one_restriction_equals_the_wald_test():
    scores = simulated(np.random.default_rng(43), 12_000)
    scores[:, 0] = np.maximum(scores[:, 0], scores[:, 4] - 2)  # what the factors do not explain
    freer = TWO_FACTORS + "\ny1 ~~ y5"
    found = compare_wlsmv(scores, NAMES, TWO_FACTORS, freer)
    wald = fit_wlsmv(scores, NAMES, freer).estimate("y1", "~~", "y5").z ** 2
    assert wald > 10
    assert found.df == 1
    assert found.shift == pytest.approx(0, abs=1e-9)
    assert found.chi2 == pytest.approx(wald, rel=0.1)


def test_difference_of_true_restrictions_is_a_chi_square():
    rng = np.random.default_rng(44)
    freer = TWO_FACTORS + "\ny1 ~~ y5\ny2 ~~ y6\ny3 ~~ y8"
    found = [compare_wlsmv(simulated(rng, 400), NAMES, TWO_FACTORS, freer) for _ in range(50)]
    assert {each.df for each in found} == {3}
    assert np.mean([each.chi2 for each in found]) == pytest.approx(3, abs=0.8)
    assert np.mean([each.p < 0.05 for each in found]) < 0.13


def test_difference_does_not_depend_on_the_order_of_items():
    scores = simulated(np.random.default_rng(45), 400)
    one = compare_wlsmv(scores, NAMES, "F =~ " + " + ".join(NAMES), TWO_FACTORS)
    turned = "F =~ " + " + ".join(reversed(NAMES))
    other = compare_wlsmv(scores, NAMES, turned, TWO_FACTORS)
    assert one.chi2 == pytest.approx(other.chi2, rel=1e-6)
    assert one.p < 1e-6


@pytest.mark.parametrize(
    ("restricted", "freer", "reason"),
    [
        (TWO_FACTORS, TWO_FACTORS, "no more degrees of freedom"),
        (TWO_FACTORS, "F =~ " + " + ".join(NAMES), "no more degrees of freedom"),
    ],
)
def test_models_that_cannot_be_compared_say_why(restricted, freer, reason):
    scores = simulated(np.random.default_rng(45), 300)
    found = compare_wlsmv(scores, NAMES, restricted, freer)
    assert math.isnan(found.chi2)
    assert reason in found.problems[0]
