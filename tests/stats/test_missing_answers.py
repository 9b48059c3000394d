"""Coefficients and models of answers with gaps, against lavaan and psych (gold_missing.R)."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from core.domain.notes import kind_of
from core.errors import NotEnoughData
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.estimation import incomplete_covariance
from core.stats.factor.exploratory import exploratory_factors, parallel_analysis
from core.stats.factor.wlsmv import fit_wlsmv
from core.stats.inputs import usable_items
from core.stats.reliability.alpha import (
    covariances,
    cronbach_alpha,
    split_half,
    stratified_alpha,
)
from core.stats.reliability.omega import omega_hierarchical, omega_total
from core.stats.resampling import Bootstrap

GOLDEN = Path(__file__).parent / "golden"
THEIRS = json.loads((GOLDEN / "missing_R.json").read_text())
SETS = ("gaps20", "booklets9")
Z = 1.959963984540054


def answers(name):
    """Scores and names of the items of one set."""
    lines = (GOLDEN / f"{name}.csv").read_text().splitlines()
    items = [item.strip('"') for item in lines[0].split(",")]
    rows = [[float(cell or "nan") for cell in line.split(",")] for line in lines[1:]]
    return np.array(rows), items


@pytest.mark.parametrize("name", SETS)
def test_covariances_alpha_and_discriminations_are_those_of_lavaan_and_psych(name):
    """R: saturated MLR model of all answers, alpha defined by its cells; psych::alpha of these."""
    values, items = answers(name)
    theirs = THEIRS[name]
    assert incomplete_covariance(values, items).matrix == pytest.approx(
        np.array(theirs["covariance"]), abs=1e-5
    )
    alpha = cronbach_alpha(values, names=items, missing="fiml")
    assert alpha.value == pytest.approx(theirs["psych_alpha"], abs=1e-6)
    assert (alpha.high - alpha.value) / Z == pytest.approx(theirs["alpha"]["se"], abs=2e-5)
    assert alpha.n == len(values)
    assert "all answers by full information" in alpha.method
    table = covariances(values, "fiml", items)
    assert table.discriminations() == pytest.approx(theirs["psych_r_drop"], abs=1e-5)
    assert table.alpha_if_dropped() == pytest.approx(theirs["psych_alpha_drop"], abs=1e-5)
    assert math.atanh(table.discriminations()[0]) == pytest.approx(theirs["z"]["est"], abs=1e-5)
    assert table.discrimination_errors()[0] == pytest.approx(theirs["z"]["se"], abs=2e-4)


@pytest.mark.parametrize("name", SETS)
def test_stratified_alpha_and_omega_of_all_answers_are_those_of_lavaan(name):
    """Omega: lavaan's two stages; its interval takes the information at the model, ours as seen."""
    values, items = answers(name)
    theirs = THEIRS[name]
    strata = [place % 3 for place in range(len(items))]
    stratified = stratified_alpha(values, strata, names=items, missing="fiml").coefficient
    assert stratified.value == pytest.approx(theirs["stratified"]["est"], abs=1e-6)
    error = (stratified.high - stratified.value) / Z
    assert error == pytest.approx(theirs["stratified"]["se"], abs=2e-5)
    omega = omega_total(values, names=items, missing="fiml")
    assert omega.value == pytest.approx(theirs["omega"]["est"], abs=1e-5)
    of_log = np.log(1 - omega.value) - np.log(1 - omega.high)
    error = of_log * (1 - omega.value) / student.ppf(0.975, omega.n - 1)
    assert error == pytest.approx(theirs["omega"]["se"], rel=0.05)


@pytest.mark.parametrize("name", SETS)
def test_factor_models_of_all_answers_are_those_of_lavaan(name):
    values, items = answers(name)
    model = f"F =~ {' + '.join(items)}"
    for fit, kind, indices in (
        (fit_cfa(values, items, model, missing="fiml"), "fiml", "robust"),
        (fit_wlsmv(values, items, model, missing="pairwise"), "wlsmv", "scaled"),
    ):
        theirs, judged = THEIRS[name][kind], getattr(fit, indices)
        assert (fit.n, fit.fit.df) == (theirs["ntotal"], theirs["df"])
        assert fit.scaled.chi2 == pytest.approx(theirs["chisq.scaled"], abs=2e-3)
        assert judged.cfi == pytest.approx(theirs[f"cfi.{indices}"], abs=1e-4)
        assert judged.rmsea == pytest.approx(theirs[f"rmsea.{indices}"], abs=1e-4)
        loadings = [e for e in fit.standardized if e.op == "=~"]
        for ours, other, error in zip(
            loadings, *THEIRS[name][f"{kind}_loadings"].values(), strict=True
        ):
            assert ours.estimate == pytest.approx(other, abs=1e-4)
            assert ours.se == pytest.approx(error, abs=1e-4)


@pytest.mark.parametrize("name", SETS)
def test_exploratory_loadings_of_all_answers_are_those_of_psych(name):
    """psych::fa (minres) of lavaan's likeliest correlations, and of its pairwise polychorics."""
    values, items = answers(name)
    for kind, missing, key in (
        ("pearson", "fiml", "minres"),
        ("polychoric", "pairwise", "minres_polychoric"),
    ):
        found = exploratory_factors(values, items, 1, correlation=kind, missing=missing)
        assert found.loadings[:, 0] == pytest.approx(THEIRS[name][key], abs=1e-4)
        assert found.n == len(values)


def test_chance_lacks_the_answers_that_the_items_lack():
    """Booklets: with each pair of items on some 125 of 300 rows, chance reaches higher."""
    values, items = answers("booklets9")
    found = parallel_analysis(values, items, repetitions=100, missing="fiml")
    assert found.n_suggested == 1
    complete = parallel_analysis(np.nan_to_num(values, nan=1.0), items, repetitions=100)
    assert found.chance_percentile[0] > complete.chance_percentile[0] + 0.1
    assert found.chance_mean.sum() == pytest.approx(9)


def test_without_gaps_all_rules_are_the_same():
    values = answers("gaps20")[0][:, :6]
    values = values[np.isfinite(values).all(axis=1)]
    owner = [0, 0, 1, 1, 2, 2]
    for missing in ("fiml", "pairwise"):
        assert cronbach_alpha(values, missing=missing) == cronbach_alpha(values)
        few = Bootstrap(100, 0)
        assert stratified_alpha(values, owner, bootstrap=few, missing=missing) == stratified_alpha(
            values, owner, bootstrap=few
        )
    assert omega_total(values, missing="fiml") == omega_total(values)
    assert split_half(values, missing="fiml") == split_half(values)
    assert omega_hierarchical(values, owner, missing="fiml") == omega_hierarchical(values, owner)


def test_answers_that_determine_no_covariances_give_alpha_of_pairs_without_an_interval():
    """Of 12 rows 9 lack an answer, and no two items are answered both by more than 9 rows."""
    values, items = answers("booklets9")
    few = values[:12]
    alpha = cronbach_alpha(few, names=items, missing="fiml")
    assert alpha.value == pytest.approx(cronbach_alpha(few, missing="pairwise").value)
    assert math.isnan(alpha.low)
    assert alpha.method == "Cronbach's alpha, all pairs of answers, no interval"
    assert [kind_of(problem) for problem in alpha.problems[-2:]] == ["interval"] * 2
    for other in (omega_total(few, missing="fiml"), split_half(few, missing="fiml")):
        assert any("Undefined by full information." in problem for problem in other.problems)


def test_two_items_that_nobody_answered_both_are_named():
    values = np.array(
        [
            [1, 2, np.nan],
            [2, 3, np.nan],
            [3, 1, np.nan],
            [np.nan, 2, 1.0],
            [np.nan, 1, 2],
            [np.nan, 3, 2],
        ]
    )
    alpha = cronbach_alpha(values, names=["a", "b", "c"], missing="fiml")
    assert math.isnan(alpha.value)
    assert "hold the answers of some pair of items" in alpha.problems[-1]
    with pytest.raises(NotEnoughData, match="a and c are never answered in the same row"):
        incomplete_covariance(values, ["a", "b", "c"])


def test_rows_so_few_that_the_search_leaves_all_bounds_end_in_a_reason():
    """25 rows of 20 items with gaps: rounding would take the search to no matrix at all."""
    values, items = answers("gaps20")
    for start in range(0, 200, 25):
        found = cronbach_alpha(values[start : start + 25], names=items, missing="fiml")
        assert math.isfinite(found.value)
        assert math.isfinite(found.low) or "Too many answers are missing" in found.problems[-1]


def test_no_remedy_asks_to_make_answers_up():
    values, items = answers("booklets9")
    with pytest.raises(NotEnoughData) as refused:
        usable_items(values, items)
    assert "No row holds a score of every item" in refused.value.problem
    assert refused.value.remedy == (
        "Ask more items or more administrations. Or use all answers there are, where the analysis "
        "has a choice of missing answers."
    )
