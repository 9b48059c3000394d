from __future__ import annotations

import numpy as np
import pytest

from core.analysis.kit.scripts.factor_models import SyntaxGroup, cfa_files
from core.stats.factor.cfa import fit_cfa
from core.stats.factor.model_text import (
    ModelTextError,
    add_method_factor,
    second_order_model,
    subscale_model,
)
from core.stats.factor.wlsmv import fit_wlsmv
from tests.analysis.kit.scripts.running import HOSTILE, run_python, run_r, written
from tests.stats.reference import scores

NINE = tuple(f"x{number}" for number in range(1, 10))
ABILITIES = {"visual": NINE[:3], "textual": NINE[3:6], "speed": NINE[6:]}
LIKERT = tuple(f"i{number}" for number in range(1, 22))
TWO = subscale_model({"F1": LIKERT[:11], "F2": LIKERT[11:]})
DETAILED = """
V =~ NA*x1 + a*x2 + a*x3   # a comment with "quotes"
V ~~ 1*V
T =~ x4 + x5 + x6; x1 ~~ x4
S =~ x7 + 0.8*x8 + start(0.9)*x9
V ~~ 0*S
"""
REGRESSIONS = """
V =~ x1 + x2 + x3
T =~ x4 + x5 + x6
T ~ a*V + x8
V ~ c*x8 + x9
x3 ~ x9
through := a*c
"""
REVERSED = ("i3", "i6", "i9", "i14", "i17", "i20")
MODELS = {
    "subscales": ("hs1939", NINE, subscale_model(ABILITIES)),
    "second order": ("hs1939", NINE, second_order_model(ABILITIES)),
    "method": ("likert22", LIKERT, add_method_factor(TWO, REVERSED)),
    "labels, starts and fixed values": ("hs1939", NINE, DETAILED),
    "regressions": ("hs1939", NINE, REGRESSIONS),
}
SUBSCALES = MODELS["subscales"][2]
MEASURES = "do.call(rbind, lapply(seq_along(results), function(i) data.frame(group = i, name = \
names(results[[i]]$measures), value = as.numeric(results[[i]]$measures))))"
STANDARDIZED = "do.call(rbind, lapply(seq_along(results), function(i) cbind(group = i, \
results[[i]]$standardized)))"
INDICES = "do.call(rbind, lapply(seq_along(results), function(i) cbind(group = i, \
results[[i]]$indices)))"
FIT = {
    "chisq": "chi2",
    "df": "df",
    "pvalue": "p",
    "cfi": "cfi",
    "tli": "tli",
    "rmsea": "rmsea",
    "rmsea.ci.lower": "rmsea_low",
    "rmsea.ci.upper": "rmsea_high",
}


def ours(values, items, model, estimator):
    if estimator == "wlsmv":
        return fit_wlsmv(values, items, model)
    how, missing = {"ml": ("ML", "listwise"), "mlr": ("MLR", "listwise"), "fiml": ("MLR", "fiml")}[
        estimator
    ]
    return fit_cfa(values, items, model, estimator=how, missing=missing)


def agrees_with_lavaan(fit, measures, standardized, indices):
    found = measures.set_index("name")["value"]
    for theirs, name in FIT.items():
        assert found[theirs] == pytest.approx(getattr(fit.fit, name), abs=1e-4), theirs
    assert found["srmr"] == pytest.approx(fit.srmr, abs=1e-4)
    assert found["npar"] == fit.n_free
    if fit.scaled:
        assert found["chisq.scaled"] == pytest.approx(fit.scaled.chi2, abs=1e-3)
        assert found["pvalue.scaled"] == pytest.approx(fit.scaled.p, abs=1e-4)
        assert found["cfi.robust"] == pytest.approx(fit.robust.cfi, abs=1e-4)
        assert found["rmsea.robust"] == pytest.approx(fit.robust.rmsea, abs=1e-4)
    if np.isfinite(fit.aic):
        assert found["aic"] == pytest.approx(fit.aic, abs=1e-3)
    n_compared, kinds = 0, ("=~", "~", ":=")
    rights = {(e.left, e.op): e.right for e in fit.parameters if e.op == ":="}
    for row in standardized[standardized["op"].isin(kinds)].to_dict("records"):
        right = rights.get((row["lhs"], row["op"]), row["rhs"])
        mine = fit.standardized_estimate(row["lhs"], row["op"], right)
        numbers = (mine.estimate, mine.low, mine.high)
        assert (row["est.std"], row["ci.lower"], row["ci.upper"]) == pytest.approx(
            numbers, abs=2e-4
        ), row
        n_compared += 1
    assert n_compared == sum(parameter.op in kinds for parameter in fit.parameters)
    largest = next(i for i in fit.modification_indices if i.op != "~")  # lavaan lists others
    indices = indices[indices["op"] != "~"]
    assert indices["mi"].iloc[0] == pytest.approx(largest.index, abs=1e-2)


@pytest.mark.parametrize("estimator", ["ml", "mlr"])
@pytest.mark.parametrize("name", MODELS)
def test_lavaan_gives_our_numbers_for_every_kind_of_model(tmp_path, name, estimator):
    data, items, model = MODELS[name]
    values = scores(data, list(items))
    group = SyntaxGroup("people", values, items, model)
    files = cfa_files([group], estimator=estimator, ci_level=0.95)
    tables = run_r(written(files, tmp_path), "cfa.R", MEASURES, STANDARDIZED, INDICES)
    agrees_with_lavaan(ours(values, items, model, estimator), *tables)


@pytest.mark.parametrize("estimator", ["fiml", "wlsmv"])
def test_lavaan_gives_our_numbers_with_missing_and_with_ordered_answers(tmp_path, estimator):
    values = scores("likert22", list(LIKERT))
    assert np.isnan(values).any()
    files = cfa_files([SyntaxGroup("g", values, LIKERT, TWO)], estimator=estimator, ci_level=0.95)
    tables = run_r(written(files, tmp_path), "cfa.R", MEASURES, STANDARDIZED, INDICES)
    agrees_with_lavaan(ours(values, LIKERT, TWO, estimator), *tables)


def test_the_interval_has_the_level_asked_for(tmp_path):
    values = scores("hs1939", list(NINE))
    group = SyntaxGroup("pupils", values, NINE, SUBSCALES)
    files = cfa_files([group], estimator="ml", ci_level=0.8)
    (table,) = run_r(written(files, tmp_path), "cfa.R", STANDARDIZED)
    fit = fit_cfa(values, NINE, SUBSCALES, estimator="ML", ci_level=0.8)
    own = fit.standardized_estimate("visual", "=~", "x2")
    row = table[table["rhs"] == "x2"].iloc[0]
    assert (row["ci.lower"], row["ci.upper"]) == pytest.approx((own.low, own.high), abs=1e-4)


@pytest.mark.parametrize("seed", [54, 149])
def test_lavaan_finds_the_maximum_behind_a_first_item_that_hardly_loads(tmp_path, seed):
    rng = np.random.default_rng(seed)
    values = np.clip(np.round(3 + rng.normal(size=(40, 1)) + rng.normal(size=(40, 8))), 1, 5)
    values[:, 0] = rng.permutation(values[:, 0])
    items = LIKERT[:8]
    model = "F =~ " + " + ".join(items)
    files = cfa_files([SyntaxGroup("g", values, items, model)], estimator="ml", ci_level=0.95)
    (measures,) = run_r(written(files, tmp_path), "cfa.R", MEASURES)
    best = fit_cfa(values, items, model, estimator="ML", scaling="std.lv")
    found = measures.set_index("name")["value"]
    assert (found["df"], found["chisq"]) == (20, pytest.approx(best.fit.chi2, abs=1e-4))


def printed(text):
    """What the Python script says of each group: fit by name, loadings by factor and item."""
    groups = []
    for line in text.splitlines():
        cells = line.split("\t")
        if line.startswith("== "):
            groups.append(({}, {}))
        elif cells[0] in ("loading", "regression"):
            groups[-1][1][tuple(cells[1:3])] = (float(cells[3]), float(cells[4]))
        elif len(cells) == 2:
            groups[-1][0][cells[0]] = float(cells[1])
    return groups


def agrees_with_semopy(fit, found):
    indices, loadings = found
    wanted = {"n": fit.n, "chi2": fit.fit.chi2, "df": fit.fit.df}
    wanted |= {"cfi": fit.fit.cfi, "tli": fit.fit.tli}
    assert indices == pytest.approx(wanted, abs=1e-4)
    mine = {
        ((raw.left, raw.right) if raw.op == "=~" else (raw.right, raw.left)): (
            raw.estimate,
            standard.estimate,
        )
        for raw, standard in zip(fit.parameters, fit.standardized, strict=True)
        if raw.op in ("=~", "~")
    }
    assert set(loadings) == set(mine)
    for names, numbers in mine.items():
        assert loadings[names] == pytest.approx(numbers, abs=1e-3), names


@pytest.mark.parametrize("name", MODELS)
def test_semopy_gives_our_maximum_likelihood_for_every_kind_of_model(tmp_path, name):
    pytest.importorskip("semopy")
    data, items, model = MODELS[name]
    values = scores(data, list(items))
    group = SyntaxGroup("people", values, items, model)
    files = cfa_files([group], estimator="mlr", ci_level=0.95)
    (found,) = printed(run_python(written(files, tmp_path), "cfa.py"))
    agrees_with_semopy(ours(values, items, model, "ml"), found)


def test_semopy_uses_complete_rows_and_says_when_the_numbers_are_others(tmp_path):
    pytest.importorskip("semopy")
    values = scores("likert22", list(LIKERT))
    group = SyntaxGroup("g", values, LIKERT, TWO)
    files = cfa_files([group], estimator="fiml", ci_level=0.95)
    text = run_python(written(files, tmp_path), "cfa.py")
    assert "gives OTHER numbers" in text
    (found,) = printed(text)
    agrees_with_semopy(ours(values, LIKERT, TWO, "ml"), found)


def hostile_groups():
    """A group for every hostile name, whose items and factors have such names as well."""
    shown = (*HOSTILE[:7], "group", "if")
    model = SUBSCALES.replace("visual", "x10").replace("speed", "x11")
    titles = dict(zip(NINE, shown, strict=True)) | {"x10": "group", "x11": HOSTILE[0]}
    values = scores("hs1939", list(NINE))
    return [
        SyntaxGroup(name, values[number:], NINE, model, dropped=HOSTILE, titles=titles)
        for number, name in enumerate(HOSTILE)
    ]


def test_hostile_names_stay_data_in_python(tmp_path):
    pytest.importorskip("semopy")
    groups = hostile_groups()
    files = cfa_files(groups, estimator="ml", ci_level=0.95, title="\n".join(HOSTILE))
    found = printed(run_python(written(files, tmp_path), "cfa.py"))
    assert {path.name for path in tmp_path.iterdir()} == {file.name for file in files}
    assert [indices["n"] for indices, _ in found] == [301 - k for k in range(len(HOSTILE))]
    fit = ours(groups[-1].scores, NINE, SUBSCALES, "ml")
    assert found[-1][0]["chi2"] == pytest.approx(fit.fit.chi2, abs=1e-4)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_hostile_names_stay_data_in_r(tmp_path, locale):
    groups = hostile_groups()
    files = cfa_files(groups, estimator="ml", ci_level=0.95, title="\n".join(HOSTILE))
    (table,) = run_r(written(files, tmp_path), "cfa.R", MEASURES, locale=locale)
    own = {file.name for file in files}
    assert {path.name for path in tmp_path.iterdir()} == own | {"after.R"}
    sizes = table[table["name"] == "ntotal"]["value"].tolist()
    assert sizes == [301 - number for number in range(len(HOSTILE))]
    fit = ours(groups[-1].scores, NINE, SUBSCALES, "ml")
    chi2 = table[(table["name"] == "chisq") & (table["group"] == len(HOSTILE))]["value"].item()
    assert chi2 == pytest.approx(fit.fit.chi2, abs=1e-4)


def test_code_in_a_model_text_is_refused_and_comments_are_not_passed_on():
    values = scores("hs1939", list(NINE))
    evil = SyntaxGroup("g", values, NINE, 'F =~ system("touch pwned")*x1 + x2 + x3')
    with pytest.raises(ModelTextError):
        cfa_files([evil], estimator="ml", ci_level=0.95)
    plain = SyntaxGroup("g", values, NINE, 'F =~ x1 + x2 + x3  # "); system("touch pwned")')
    files = cfa_files([plain], estimator="ml", ci_level=0.95)
    assert not any("pwned" in file.text for file in files)


def test_groups_with_different_items_share_one_table():
    values = np.arange(12.0).reshape(3, 4)
    first = SyntaxGroup("a", values, ("p", "q", "r", "unused"), "F =~ p + q + r")
    second = SyntaxGroup("b", values[:1], ("r", "s", "t", "p"), "F =~ r + s + t")
    data = cfa_files([first, second], estimator="ml", ci_level=0.95)[0]
    assert data.text == "group,p,q,r,s,t\na,0,1,2,,\na,4,5,6,,\na,8,9,10,,\nb,3,,0,1,2\n"


def test_the_same_name_in_the_text_may_be_two_items_of_two_groups():
    # each group's names are made for it alone, so "a_b" is another item in the second group
    values = np.arange(6.0).reshape(2, 3)
    first = SyntaxGroup("1", values, ("a_b", "c", "d"), "F =~ a_b + c + d", titles={"a_b": "a b"})
    second = SyntaxGroup("2", values, ("a_b", "c", "d"), "F =~ a_b + c + d")
    made = cfa_files([first, second], estimator="ml", ci_level=0.95)
    files = {file.name: file.text.splitlines() for file in made}
    assert files["data.csv"][0] == "group,a_b,c,d,a_b_2"
    assert files["data.csv"][3] == "2,,1,2,0"
    assert files["names.csv"][1:] == ['a_b,item,"a b"', "a_b_2,item,a_b"]
    assert '2,2,lavaan,"F =~ a_b_2 + c + d"' in files["models.csv"]


def test_a_group_that_cannot_be_fitted_does_not_stop_the_others(tmp_path):
    values = scores("hs1939", list(NINE))
    flat = values.copy()
    flat[:, 0] = 1
    groups = [
        SyntaxGroup(name, own, NINE, SUBSCALES) for name, own in (("flat", flat), ("fine", values))
    ]
    folder = written(cfa_files(groups, estimator="ml", ci_level=0.95), tmp_path)
    (table,) = run_r(
        folder, "cfa.R", "data.frame(ok = vapply(results, function(r) is.null(r$problem), NA))"
    )
    assert table["ok"].tolist() == [False, True]
    pytest.importorskip("semopy")
    text = run_python(folder, "cfa.py")
    assert "Not fitted" in text.split("== fine ==")[0]
    assert "chi2" in text.split("== fine ==")[1]
