"""Regressions among factors, covariates and definitions against lavaan (gold_regressions.R)."""

import numpy as np
import pytest

from core.errors import NotEnoughData
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.comparison import compare_models
from core.stats.factor.model_text import ModelTextError, parse_model
from core.stats.factor.wlsmv import fit_wlsmv
from tests.stats.reference import INDICES, WHOLE, compare_wlsmv, expected, scores

GOLDEN = expected("regressions_lavaan")
SIZE = 1e-4  # of a number, where lavaan's own search ends


def answers(name):
    """The rows of a data set and the names of its columns."""
    if name == "bfi":
        items = [f"{scale}{k}" for scale in "ACENO" for k in range(1, 6)]
        people = scores("bfi_people")
        return np.hstack([scores("bfi25", items), people]), [*items, "male", "age10"]
    rows, items = scores("hs1939").copy(), [f"x{k}" for k in range(1, 10)]
    if name == "gaps":
        number = np.arange(1, len(rows) + 1)
        for k, item in enumerate(("x4", "x5", "x7", "x8", "x9"), start=1):
            rows[number % 8 == k, items.index(item)] = np.nan
        rows[number % 43 == 0, 0] = np.nan
    return rows, items


def fitted(case):
    """Our fit of one of lavaan's."""
    model, data, estimator, missing = case.split()
    rows, items = answers(data)
    text = GOLDEN["models"].get(model, model)
    if estimator == "WLSMV":
        return fit_wlsmv(rows, items, text)
    return fit_cfa(rows, items, text, estimator=estimator, missing=missing)


@pytest.fixture(scope="module", params=list(GOLDEN["fits"]))
def pair(request):
    """Our fit and lavaan's."""
    return fitted(request.param), GOLDEN["fits"][request.param]


def test_the_fit_of_a_model_with_regressions_is_that_of_lavaan(pair):
    ours, theirs = pair
    compared = 0
    versions = (("", ours.fit), (".scaled", ours.scaled), (".robust", ours.robust))
    for suffix, version in versions:
        for key, name in INDICES.items():
            if key + suffix in theirs["fit"] and version is not None:
                value = theirs["fit"][key + suffix]
                assert getattr(version, name) == pytest.approx(value, rel=SIZE, abs=SIZE), key
                compared += 1
    for key, name in WHOLE.items():
        if key in theirs["fit"]:
            assert getattr(ours, name) == pytest.approx(theirs["fit"][key], rel=SIZE), key
            compared += 1
    if "chisq.scaling.factor" in theirs["fit"]:
        factor = theirs["fit"]["chisq.scaling.factor"]
        assert ours.scaled.scaling_factor == pytest.approx(factor, rel=SIZE)
    assert compared >= 16


def test_estimates_errors_and_standardized_estimates_are_those_of_lavaan(pair):
    ours, theirs = pair
    compared = 0
    for rows, estimates, column in (
        (theirs["parameters"], ours.parameters, "est"),
        (theirs["standardized"], ours.standardized, "est.std"),
    ):
        by_names = {(e.left, e.op, e.right): e for e in estimates}
        by_names |= {(e.right, e.op, e.left): e for e in estimates if e.op == "~~"}
        defined = {e.left: e for e in estimates if e.op == ":="}
        for row in rows:
            # residual variances of ordered answers follow from the rest, and are no parameters
            follows = ours.estimator == "WLSMV" and row["lhs"] == row["rhs"] in ours.items
            if row["op"] in ("~*~", "~1", "|") or follows:
                continue
            e = (
                defined[row["lhs"]]
                if row["op"] == ":="
                else by_names[row["lhs"], row["op"], row["rhs"]]
            )
            assert e.estimate == pytest.approx(row[column], rel=SIZE, abs=SIZE), row
            assert e.se == pytest.approx(row["se"], rel=5 * SIZE, abs=SIZE), row
            assert e.low == pytest.approx(row["ci.lower"], rel=5 * SIZE, abs=SIZE), row
            if row["pvalue"] is not None:
                assert e.p == pytest.approx(row["pvalue"], abs=SIZE), row
            compared += 1
    assert compared >= 30


def test_explained_shares_of_factors_and_outcomes_are_those_of_lavaan(pair):
    ours, theirs = pair
    shares = ours.groups[0].outcomes
    assert shares
    for name, share in shares.items():
        assert share == pytest.approx(theirs["r_squared"][name], abs=SIZE)


@pytest.mark.parametrize("estimator", ["ML", "MLR", "WLSMV"])
def test_the_test_of_one_regression_is_lavaans(estimator):
    rows, items = answers("bfi")
    restricted, freer = GOLDEN["restricted"], GOLDEN["models"]["chain"]
    if estimator == "WLSMV":
        difference = compare_wlsmv(rows, items, restricted, freer)
    else:
        fits = (fit_cfa(rows, items, text, estimator=estimator) for text in (restricted, freer))
        difference = compare_models(*fits)
    theirs = GOLDEN["differences"][estimator]
    assert difference.df == theirs["df"]
    assert difference.chi2 == pytest.approx(theirs["chi2"], rel=1e-3)
    assert difference.p == pytest.approx(theirs["p"], abs=SIZE)


def test_modification_indices_of_direct_effects_are_lavaans_score_tests():
    indices = fitted("people bfi ML listwise").modification_indices
    rows = {(i.left, i.op, i.right): i for i in indices}
    for item, covariate in (("A1", "male"), ("E3", "age10")):
        row = rows[item, "~", covariate]
        assert row.index == pytest.approx(GOLDEN["scores"][item], rel=1e-3)
        assert row.expected_change == pytest.approx(GOLDEN["scores"][f"{item}_change"], abs=1e-3)
    assert not [i for i in indices if i.op != "~" and "male" in (i.left, i.right)]


def test_groups_have_regressions_and_covariates_of_their_own():
    rows, items = answers("bfi")
    male = rows[:, items.index("male")] == 1
    text = "A =~ A1 + A2 + A3 + A4 + A5\nE =~ E1 + E2 + E3 + E4 + E5\nE ~ A + age10\nA ~ age10"
    ours = fit_cfa(
        [rows[male], rows[~male]], items, text, estimator="ML", equal=frozenset({"loadings"})
    )
    theirs = GOLDEN["groups"]
    for key, value in (
        ("chisq", ours.fit.chi2),
        ("df", ours.fit.df),
        ("npar", ours.n_free),
        ("cfi", ours.fit.cfi),
        ("logl", ours.log_likelihood),
    ):
        assert value == pytest.approx(theirs["fit"][key], rel=SIZE), key
    for row in theirs["parameters"]:
        if row["op"] in ("~", "=~"):
            e = ours.estimate(row["lhs"], row["op"], row["rhs"], row["group"] - 1)
            assert e.estimate == pytest.approx(row["est"], abs=SIZE)
            assert e.se == pytest.approx(row["se"], abs=SIZE)


def test_rows_without_the_covariate_are_left_out_and_counted():
    ours = fitted("mimic gaps MLR fiml")
    assert (ours.n, ours.n_given) == (294, 301)
    assert any(problem.startswith("7 rows lack a covariate (x1") for problem in ours.problems)


def test_a_covariate_that_does_not_vary_leaves_with_its_regressions():
    rows, items = answers("hs1939")
    rows[:, 0] = 3
    ours = fit_cfa(rows, items, "V =~ x4 + x5 + x6\nV ~ a*x1 + b*x2\nboth := a + b")
    assert ours.dropped_items == ("x1",)
    assert [(e.left, e.right) for e in ours.parameters if e.op == "~"] == [("V", "x2")]
    assert not [e for e in ours.parameters if e.op == ":="]


def test_a_relation_that_the_text_forgets_is_named():
    rows, items = answers("hs1939")
    text = "V =~ x4 + x5 + x6\nS =~ x7 + x8 + x9\nS ~ V + x1"
    problems = fit_cfa(rows, items, text).problems
    assert [p for p in problems if "V as unrelated to x1" in p and "V ~ x1" in p]
    related = fit_cfa(rows, items, text + "\nV ~ x1").problems
    assert not [p for p in related if "unrelated" in p]


def test_ordered_answers_take_no_observed_covariate():
    rows, items = answers("bfi")
    with pytest.raises(ModelTextError) as refusal:
        fit_wlsmv(rows[:300], items, "A =~ A2 + A3 + A4\nA ~ C1")
    assert "C1" in refusal.value.problem
    assert "MLR" in refusal.value.remedy
    made_factor = fit_wlsmv(rows[:300], items, "A =~ A2 + A3 + A4\nC =~ C1\nA ~ C")
    assert made_factor.converged


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("F ~ F", '"F" is explained by itself'),
        ("F ~ G\nG ~ F", "over others"),
        ("F ~ y\ny ~ F", "over others"),
        ("F ~ nothing", '"nothing" is neither an item'),
        ("F ~ x1", '"x1" measures a factor'),
        ("x1 ~ F", "F =~ x1 says already"),
        ("F ~ y\nF ~ y", "written twice"),
        ("F ~ y\ny ~~ y", "are those of the answers"),
        ("F ~ y\ny ~ 1", "are those of the answers"),
        ("F ~ y\ny ~~ z", "are those of the answers"),
        ("F ~~ G\nF ~ G", "F ~~ G stands beside it"),
        ("y ~ F + z\nF ~~ y", "y ~~ F stands beside it"),
        ("y ~ F\nx1 ~~ y", "joins an item and a factor"),
        ("F ~ a*G\neffect := a*b", '"b" is not the label'),
        ("F ~ a*G\nF := a", '"F" is the name of something else'),
        ("F ~ a*G\neffect := exp(a)", "joined by + - * / ^"),
        ("F ~ a*G\neffect := a**a", "joined by + - * / ^"),
        ("F ~ a*G\neffect := 2*3", "no label"),
        ("F ~ a*G\neffect := a if a", "joined by + - * / ^"),
        ("F ~ a*G\neffect := (a).b", "joined by + - * / ^"),
        ("F ~ a*G\neffect :=", "joined by + - * / ^"),
        ("F ~ a*G\neffect := a*__import__('os')", "joined by + - * / ^"),
    ],
)
def test_an_impossible_regression_or_definition_is_refused_with_its_line(line, problem):
    text = f"F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6\n{line}"
    with pytest.raises(ModelTextError) as refusal:
        parse_model(text, items=[*(f"x{k}" for k in range(1, 7)), "y", "z"])
    assert problem in refusal.value.problem
    assert "in line " in refusal.value.problem


@pytest.mark.parametrize("lines", ["F ~~ 0*G\nF ~ G", "F ~~ G\nF ~ 0*G", "F ~~ G\nF ~ G\nG ~ y"])
def test_a_covariance_beside_a_regression_stays_where_one_is_fixed_or_another_name_explains(lines):
    assert parse_model(f"F =~ x1 + x2 + x3\nG =~ x4 + x5 + x6\n{lines}").regressions


def test_definitions_are_computed_by_the_rules_of_arithmetic():
    rows, items = answers("hs1939")
    text = "V =~ x4 + a*x5 + b*x6\nm := (a + b)/2 - -1^2\nd := 2*m - 3e-1"
    ours = fit_cfa(rows, items, text, estimator="ML")
    a, b = (ours.estimate("V", "=~", item).estimate for item in ("x5", "x6"))
    values = {e.left: e for e in ours.parameters if e.op == ":="}
    assert values["m"].estimate == pytest.approx((a + b) / 2 + 1)
    assert values["d"].estimate == pytest.approx(a + b + 2 - 0.3)
    assert values["d"].se == pytest.approx(2 * values["m"].se)


@pytest.mark.parametrize("label", ["a.b", "lambda", "in", "True", "\u00b5", "\ufb01", "v1", "e"])
def test_a_definition_takes_every_label_that_a_parameter_takes(label):
    text = f"F =~ x1 + x2 + x3\nG =~ x4 + r*x5\nF ~ {label}*G\ni := 2e0*r^2 - {label}*r/.5"
    (value,) = parse_model(text).defined
    slopes = dict(zip((label, "r"), np.eye(2), strict=True))
    number, by_each = value.value({label: (3.0, slopes[label]), "r": (2.0, slopes["r"])})
    # by hand: 2 * 4 - 3 * 2 * 2, whose slopes are -2 r by the label and 4 r - 2 label by r
    assert (number, by_each.tolist()) == (-4.0, [-4.0, 2.0])
    assert set(value.names) == {label, "r"}
    renamed = value.renamed(lambda name: f"n_{name}")
    assert (renamed.problem, set(renamed.names)) == ("", {f"n_{label}", "n_r"})


@pytest.mark.parametrize("expression", ["p/0", "p*9^9^9^9", "p*1e400"])
@pytest.mark.filterwarnings("error")
def test_an_infinite_value_is_undefined_and_named(expression):
    rows, items = answers("hs1939")
    ours = fit_cfa(rows, items, f"V =~ x4 + p*x5 + x6\nm := {expression}\nd := 2*m")
    values = {e.left: e for e in ours.parameters if e.op == ":="}
    assert np.isnan([values[name].estimate for name in "md"]).all()
    assert np.isnan([values[name].se for name in "md"]).all()
    assert any("no finite numbers: m, d" in problem for problem in ours.problems)


def test_a_model_of_covariates_alone_is_refused():
    rows, items = answers("hs1939")
    rows[:, 3:6] = 1
    with pytest.raises(NotEnoughData):
        fit_cfa(rows, items, "V =~ x4 + x5 + x6\nV ~ x1 + x2")
