"""Maximum-likelihood factor analysis against lavaan 0.6-19 (golden/gold_cfa.R) and semopy.

lavaan stops its own search at about 1e-5 in the parameters, so a chi-square of several hundred may
differ by that share of itself; everything else is held to the tolerances below.
"""

import pandas as pd
import pytest

from core.stats.factor.cfa import fit_cfa
from tests.stats.reference import INDICES, WHOLE, expected, scores

INDEX, LOADING, MODIFICATION, ERROR = 5e-6, 5e-5, 5e-4, 1e-5
ITEMS = {
    "hs1939": [f"x{k}" for k in range(1, 10)],
    "likert22": [f"i{k}" for k in range(1, 23)],
    "heywood6": [f"y{k}" for k in range(1, 7)],
}
FITS = [
    ("hs1939", "ML_listwise"),
    ("hs1939", "MLR_listwise"),
    ("likert22", "ML_listwise"),
    ("likert22", "MLR_listwise"),
    ("likert22", "FIML_ML"),
    ("likert22", "FIML_MLR"),
    ("heywood6", "ML_listwise"),
    ("heywood6", "MLR_listwise"),
]
NAMES = {
    **INDICES,
    "chisq.scaling.factor": "scaling_factor",
    "baseline.chisq.scaling.factor": "baseline_scaling_factor",
}


@pytest.fixture(scope="module", params=FITS, ids=[f"{data}-{fit}" for data, fit in FITS])
def pair(request):
    """Our fit and lavaan's."""
    data, kind = request.param
    golden = expected(f"{data}_lavaan")
    ours = fit_cfa(
        scores(data),
        ITEMS[data],
        golden["model"],
        estimator="MLR" if "MLR" in kind else "ML",
        missing="fiml" if "FIML" in kind else "listwise",
    )
    return ours, golden[kind]


def test_fit_indices_agree_to_five_decimals(pair):
    ours, theirs = pair
    compared = 0
    for suffix, version in (("", ours.fit), (".scaled", ours.scaled), (".robust", ours.robust)):
        for key, name in NAMES.items():
            value = theirs["fit"].get(key if "factor" in key else key + suffix)
            belongs = ("factor" in key) == (suffix == ".scaled") or "factor" not in key
            if value is None or not belongs:
                continue
            assert getattr(version, name) == pytest.approx(value, rel=2e-7, abs=INDEX), key + suffix
            compared += 1
    for key, name in WHOLE.items():
        if theirs["fit"].get(key) is not None:
            assert getattr(ours, name) == pytest.approx(theirs["fit"][key], abs=INDEX), key
            compared += 1
    assert compared >= 18


def test_a_scaled_version_is_there_exactly_for_mlr(pair):
    ours, theirs = pair
    assert (ours.scaled is not None) == ("chisq.scaled" in theirs["fit"])
    assert (ours.robust is not None) == ("cfi.robust" in theirs["fit"])


@pytest.mark.parametrize(("table", "column"), [("parameters", "est"), ("standardized", "est.std")])
def test_estimates_agree_to_four_decimals_and_errors_to_five(pair, table, column):
    ours, theirs = pair
    find = ours.estimate if table == "parameters" else ours.standardized_estimate
    for row in theirs[table]:
        name = (row["lhs"], row["op"], row["rhs"])
        mine = find(*name)
        assert mine.estimate == pytest.approx(row[column], abs=LOADING), name
        assert mine.se == pytest.approx(row["se"], abs=ERROR), name
        if row["z"] is not None and row["se"] > 1e-8:
            assert mine.p == pytest.approx(row["pvalue"], abs=LOADING), name
            assert mine.low == pytest.approx(row["ci.lower"], abs=LOADING), name
            assert mine.high == pytest.approx(row["ci.upper"], abs=LOADING), name


def test_modification_indices_agree_to_three_decimals(pair):
    ours, theirs = pair
    mine = {(m.left, m.op, m.right): m for m in ours.modification_indices}
    for row in theirs["modindices_top15"]:
        name = (row["lhs"], row["op"], row["rhs"])
        assert mine[name].index == pytest.approx(row["mi"], abs=MODIFICATION), name
        assert mine[name].expected_change == pytest.approx(row["epc"], abs=LOADING), name
    best = theirs["modindices_top15"][0]
    first = ours.modification_indices[0]
    assert (first.left, first.op, first.right) == (best["lhs"], best["op"], best["rhs"])


def test_explained_variance_agrees(pair):
    ours, theirs = pair
    for item, value in theirs["rsquare"].items():
        found = ours.groups[0].r_squared[ours.items.index(item)]
        wanted = float("nan") if value is None else value  # NA at a negative residual variance
        assert found == pytest.approx(wanted, abs=LOADING, nan_ok=True)


def test_a_negative_residual_variance_is_reported_not_clamped():
    golden = expected("heywood6_lavaan")
    fit = fit_cfa(scores("heywood6"), ITEMS["heywood6"], golden["model"], estimator="ML")
    assert golden["ML_listwise"]["post_check"] is False
    assert fit.converged
    assert not fit.admissible
    assert fit.estimate("y1", "~~", "y1").estimate == pytest.approx(-0.162, abs=1e-3)
    assert any("y1 is negative" in problem for problem in fit.problems)


@pytest.mark.parametrize("data", ["hs1939", "likert22"])
def test_our_maximum_likelihood_agrees_with_semopy(data):
    semopy = pytest.importorskip("semopy")
    model = expected(f"{data}_lavaan")["model"]
    frame = pd.DataFrame(scores(data), columns=ITEMS[data]).iloc[:, :21].dropna()
    theirs = semopy.Model(model)
    result = theirs.fit(frame, options={"ftol": 1e-14})
    ours = fit_cfa(frame.to_numpy(), list(frame.columns), model, estimator="ML")
    # semopy writes a loading as a regression of the item on the factor
    for row in theirs.inspect().to_dict("records"):
        if row["op"] == "~":
            mine = ours.estimate(row["rval"], "=~", row["lval"])
        else:
            mine = _either(ours, row["lval"], row["rval"])
        assert mine.estimate == pytest.approx(float(row["Estimate"]), abs=2e-4), row
    assert ours.fit.chi2 == pytest.approx(ours.n * result.fun, abs=1e-4)
    # Only what semopy has right; its RMSEA, GFI and information criteria follow other formulas.
    indices = semopy.calc_stats(theirs).iloc[0]
    assert ours.fit.chi2 == pytest.approx(indices["chi2"], abs=1e-4)
    assert ours.fit.df == indices["DoF"]
    assert ours.fit.baseline_chi2 == pytest.approx(indices["chi2 Baseline"], abs=1e-3)
    assert ours.fit.cfi == pytest.approx(indices["CFI"], abs=1e-5)
    assert ours.fit.tli == pytest.approx(indices["TLI"], abs=1e-5)


def _either(fit, left, right):
    try:
        return fit.estimate(left, "~~", right)
    except KeyError:
        return fit.estimate(right, "~~", left)
