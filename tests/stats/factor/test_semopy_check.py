"""Our engine and semopy side by side, against semopy run by itself (golden/gold_semopy.py)."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.analysis.kit.scripts.factor_models import semopy_lines, semopy_starts
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.model_text import (
    add_method_factor,
    bifactor_model,
    one_factor_model,
    parse_model,
    second_order_model,
    subscale_model,
)
from core.stats.factor.semopy_check import align_factors, fit_semopy, semopy_indices
from tests.stats.reference import expected, scores

ITEMS = {
    "hs1939": [f"x{k}" for k in range(1, 10)],
    "likert22": [f"i{k}" for k in range(1, 22)],
    "heywood6": [f"y{k}" for k in range(1, 7)],
}
NINE, LIKERT = ITEMS["hs1939"], ITEMS["likert22"]
ABILITIES = {"visual": NINE[:3], "textual": NINE[3:6], "speed": NINE[6:]}
HALVES = {"F1": LIKERT[:11], "F2": LIKERT[11:]}
REVERSED = ["i3", "i6", "i9", "i14", "i17", "i20"]
EQUAL = "\nx1 ~~ e*x1\nx2 ~~ e*x2\nx3 ~~ 0.8*x3"
MODELS = {
    "three": ("hs1939", subscale_model(ABILITIES)),
    "second_order": ("hs1939", second_order_model(ABILITIES, name="g")),
    "one": ("hs1939", one_factor_model(NINE, name="g")),
    "two": ("likert22", subscale_model(HALVES)),
    "negative_variance": ("heywood6", "f =~ y1 + y2 + y3\ng =~ y4 + y5 + y6"),
    "equal_residuals": ("hs1939", subscale_model(ABILITIES) + EQUAL),
    "method": ("likert22", add_method_factor(subscale_model(HALVES), REVERSED)),
    "bifactor": ("likert22", bifactor_model(HALVES, name="g")),
}
# Chi-square as printed by lavaan: 85.306 and 312.264 in its tutorials, the rest in golden/*.json.
LAVAAN = {"three": 85.306, "second_order": 85.306, "one": 312.264, "two": 494.791}
NAMES = {
    "chi2": "chi2", "df": "DoF", "p": "chi2 p-value", "baseline_chi2": "chi2 Baseline",
    "baseline_df": "DoF Baseline", "cfi": "CFI", "tli": "TLI", "rmsea": "RMSEA", "gfi": "GFI",
    "agfi": "AGFI", "log_likelihood": "LogLik", "aic": "AIC", "bic": "BIC",
}  # fmt: skip


def complete(data):
    values = scores(data, ITEMS[data])
    return values[np.isfinite(values).all(axis=1)]


def theirs(values, items, text, **more):
    model = parse_model(text, items=items)
    return fit_semopy(values, items, semopy_lines(model), semopy_starts(model), **more)


def both(name):
    data, text = MODELS[name]
    values = complete(data)
    ours = fit_cfa(values, ITEMS[data], text, estimator="ML")
    return ours, theirs(values, ITEMS[data], text)


@pytest.mark.parametrize(
    "name", ["three", "second_order", "one", "two", "negative_variance", "equal_residuals"]
)
def test_semopy_gives_what_it_gives_when_run_by_itself(name):
    _, found = both(name)
    golden = expected("semopy")[name]
    assert found.problem == ""
    for own, key in NAMES.items():
        # its own baseline ends its search at 1e-6 of the misfit, ours at 1e-14
        near = 1e-3 if own == "baseline_chi2" else 1e-5
        assert getattr(found.indices, own) == pytest.approx(golden["fit"][key], abs=near), own
    for left, op, right, estimate, standardized in golden["estimates"]:
        names = (right, "=~", left) if op == "~" else (left, op, right)
        mine = found.estimate(*names)
        assert (mine.estimate, mine.standardized) == pytest.approx(
            (estimate, standardized), abs=1e-5
        ), names


@pytest.mark.parametrize("name", LAVAAN)
def test_both_engines_give_the_chi_square_of_lavaan(name):
    ours, found = both(name)
    assert ours.fit.chi2 == pytest.approx(LAVAAN[name], abs=6e-4)
    assert found.indices.chi2 == pytest.approx(LAVAAN[name], abs=6e-4)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "negative_variance"])
def test_indices_of_one_engine_follow_from_the_other_by_its_definitions(name):
    ours, found = both(name)
    converted = semopy_indices(ours)
    for own in NAMES:
        assert getattr(converted, own) == pytest.approx(getattr(found.indices, own), abs=1e-6), own
    for one in ours.parameters:
        standardized = ours.standardized_estimate(one.left, one.op, one.right)
        other = align_factors(found, ours)[0].estimate(one.left, one.op, one.right)
        if one.free or one.estimate:
            assert one.estimate == pytest.approx(other.estimate, abs=2e-5), one
            assert standardized.estimate == pytest.approx(other.standardized, abs=2e-6), one
    for i, factor in enumerate(ours.factors):
        for j, second in enumerate(ours.factors[:i]):
            own = ours.groups[0].factor_correlations[i, j]
            assert found.correlation(factor, second) == pytest.approx(own, abs=2e-6)


def test_the_definitions_that_differ_do_so_by_the_factor_they_should():
    ours, found = both("three")
    n, q, chi2 = 301, 21, 85.30552176979555
    assert ours.fit.rmsea / found.indices.rmsea == pytest.approx(math.sqrt((n - 1) / n), abs=1e-9)
    assert found.indices.log_likelihood == pytest.approx(chi2 / n, abs=1e-9)
    assert found.indices.aic == pytest.approx(2 * q - 2 * chi2 / n, abs=1e-6)
    assert found.indices.bic == pytest.approx(q * math.log(n) - 2 * chi2 / n, abs=1e-6)
    # lavaan: nfi 0.907, gfi 0.943 (HolzingerSwineford1939)
    assert found.indices.gfi == pytest.approx(0.907, abs=5e-4)


def test_semopy_cannot_reach_a_solution_with_a_negative_variance():
    ours, found = both("negative_variance")
    assert ours.estimate("y1", "~~", "y1").estimate < -0.1
    assert found.estimate("y1", "~~", "y1").estimate == pytest.approx(0, abs=1e-9)
    assert found.indices.chi2 > ours.fit.chi2 + 0.05
    assert found.indices.cfi > 1
    assert ours.fit.cfi == 1


def test_a_factor_with_all_signs_reversed_is_turned():
    ours, found = both("method")
    upright, _ = align_factors(found, ours)
    mirror = type(found)(
        found.indices,
        tuple(
            type(one)(one.left, one.op, one.right, -one.estimate, -one.standardized)
            if (one.left, one.op) == ("Method", "=~")
            else one
            for one in upright.estimates
        ),
        found.factors,
        found.factor_correlations,
    )
    back, turned = align_factors(mirror, ours)
    assert turned == ("Method",)
    assert back.estimates == upright.estimates


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.ones((40, 6)), "does not vary"),
        (np.random.default_rng(1).normal(size=(6, 6)), "6 complete rows for 6 items"),
        (np.repeat(np.random.default_rng(2).normal(size=(40, 3)), 2, axis=1), "determine each"),
        (np.full((40, 6), np.nan), "gaps"),
    ],
)
def test_semopy_is_not_asked_where_it_would_mend_the_data_in_silence(values, said):
    found = theirs(values, ITEMS["heywood6"], MODELS["negative_variance"][1])
    assert said in found.problem
    assert found.estimates == ()
    assert math.isnan(found.indices.chi2)
    assert math.isnan(found.estimate("f", "=~", "y1").estimate)
    assert math.isnan(found.correlation("f", "g"))


def test_a_search_without_an_end_is_a_result_with_a_reason(monkeypatch):
    monkeypatch.setattr("core.stats.factor.semopy_check._MOST_STEPS", 3)
    data, text = MODELS["three"]
    found = theirs(complete(data), ITEMS[data], text)
    assert found.problem.startswith("The search ended without a maximum: Iteration limit reached")
    assert math.isnan(found.indices.cfi)


def test_a_fault_of_semopy_is_a_result_with_a_reason():
    # an item that only residuals mention: semopy has no place for it
    text = "f =~ y1 + y2 + y3\ny4 ~~ y5"
    values = complete("heywood6")[:, :5]
    found = theirs(values, ITEMS["heywood6"][:5], text)
    assert found.problem.startswith("semopy stopped with ")


def test_factors_without_any_fixed_loading_below_each_other_do_not_make_semopy_search_for_ever():
    text = "f =~ NA*x1 + x2 + x3\nf ~~ 1*f\ng =~ 1*f + x4 + x5 + x6"
    done = threading.Event()

    def fit():
        theirs(complete("hs1939")[:, :6], NINE[:6], text)
        done.set()

    threading.Thread(target=fit, daemon=True).start()
    assert done.wait(30)


def test_the_search_can_be_stopped_between_its_steps():
    class Stopped(Exception):
        pass

    def stop():
        raise Stopped

    data, text = MODELS["three"]
    with pytest.raises(Stopped):
        theirs(complete(data), ITEMS[data], text, after_step=stop)


def test_semopy_writes_to_no_log(caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        both("method")  # a factor without a fixed loading, on which semopy remarks
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")


def test_semopy_draws_no_random_numbers():
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    both("three")
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_two_models_fitted_at_once_stay_apart():
    names = ["three", "one"] * 4
    wanted = {name: both(name)[1].indices.chi2 for name in set(names)}
    found: list[tuple[str, float]] = []
    threads = [
        threading.Thread(target=lambda n=name: found.append((n, both(n)[1].indices.chi2)))
        for name in names
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that threads get in each other's way
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(found) == len(names)
    assert all(chi2 == pytest.approx(wanted[name], abs=1e-9) for name, chi2 in found)


def test_semopy_is_not_imported_before_it_is_needed():
    code = "import sys, core.workflow.statistics.analyses; print('semopy' in sys.modules)"
    root = Path(__file__).parents[3]
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "False"
