from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.analysis.factors.cfa_comparison.analysis import cfa_comparison, cfa_comparison_scripts
from core.errors import NotEnoughData
from tests.analysis.kit.scripts.running import run_python, run_r, written
from tests.analysis.score_frames import item_scores
from tests.stats.reference import scores

NINE = [f"x{number}" for number in range(1, 10)]
SUBSCALES = ["visual"] * 3 + ["textual"] * 3 + ["speed"] * 3
KEYED = [1, -1, 1, 1, -1, 1, 1, -1, 1]
LIKERT = [f"i{number}" for number in range(1, 9)]
ORDERED = """
## Unrelated
a =~ i1 + i2 + i3 + i4
b =~ i5 + i6 + i7 + i8
a ~~ 0*b
## Two
a =~ i1 + i2 + i3 + i4
b =~ i5 + i6 + i7 + i8
## Two and a pair
a =~ i1 + i2 + i3 + i4
b =~ i5 + i6 + i7 + i8
i1 ~~ i5
"""
CHI2 = "do.call(rbind, lapply(results, function(r) data.frame(name = r$name, \
chi2 = r$measures[['chisq']], df = r$measures[['df']])))"


def two_groups():
    values = scores("hs1939", NINE)
    frames = [
        item_scores(own, items=NINE, subscales=SUBSCALES, keyed=KEYED, start=start, respondent=name)
        for own, start, name in ((values, 1, "Model A"), (values[:200], 1001, 'Model "B"'))
    ]
    return pd.concat(frames, ignore_index=True)


def agree(result, fits, differences):
    """R's models and differences against ours, group and model by name."""
    tables = {table.name: table.frame for table in result.tables}
    ours = tables["fit"]
    names = ours["respondent"] + ", " + ours["factor_model"]
    ours = ours.set_axis(names).loc[fits["name"]]
    known = ours["chi2"].notna().to_numpy()  # lavaan tests models that are not identified, too
    np.testing.assert_allclose(fits["chi2"][known], ours["chi2"][known], rtol=1e-5)
    np.testing.assert_array_equal(fits["df"], ours["df"])
    tested = tables["differences"].dropna(subset=["p_difference"])
    assert len(tested) == len(differences) or not known.all()
    assert len(tested) >= 3
    lead = tested["respondent"] + ", "
    tested = tested.assign(restricted=lead + tested["restricted"], freer=lead + tested["freer"])
    both = tested.merge(differences, on=["restricted", "freer"], validate="one_to_one")
    assert len(both) == len(tested)
    np.testing.assert_allclose(both["chi2"], both["chi2_difference"], rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(both["df"], both["df_difference"])
    np.testing.assert_allclose(both["p"], both["p_difference"], rtol=1e-2, atol=1e-5)


@pytest.mark.parametrize("estimator", ["ml", "mlr"])
def test_lavaan_gives_our_differences_of_the_models_of_the_bank(tmp_path, estimator):
    frame = two_groups()
    files = cfa_comparison_scripts(frame, estimator=estimator)
    tables = run_r(written(files, tmp_path), "cfa.R", CHI2, "differences")
    agree(cfa_comparison(frame, estimator=estimator), *tables)


def test_lavaan_gives_our_differences_of_typed_models_of_ordered_answers(tmp_path):
    values = scores("likert22", LIKERT)
    assert np.isnan(values).any()
    frame = item_scores(values, items=LIKERT, respondent="m")
    files = cfa_comparison_scripts(frame, models=ORDERED, estimator="wlsmv")
    fits, differences = run_r(written(files, tmp_path), "cfa.R", CHI2, "differences")
    assert len(differences) == 3
    agree(cfa_comparison(frame, models=ORDERED, estimator="wlsmv"), fits, differences)


def test_the_answers_of_a_group_stand_once_in_the_data_whatever_the_number_of_models(tmp_path):
    pytest.importorskip("semopy")
    files = cfa_comparison_scripts(two_groups(), estimator="ml")
    data = next(file.text for file in files if file.name == "data.csv")
    assert len(data.splitlines()) == 1 + 301 + 200
    text = run_python(written(files, tmp_path), "cfa.py")
    assert text.count("== Model A, ") == 5
    assert "== Model A, Subscales ==" in text


def test_pairs_that_are_no_special_case_of_each_other_are_not_tested():
    crossed = (
        "## A\nf =~ x1 + x2 + x3\ng =~ x4 + x5 + x6\n## B\nf =~ x1 + x2 + x4 + x3\nf =~ x5 + x6"
    )
    files = cfa_comparison_scripts(two_groups(), models=crossed + "\nx1 ~~ x2\nx3 ~~ x4")
    assert "pairs.csv" not in {file.name for file in files}


def test_nothing_to_fit_is_an_error_with_a_next_step():
    frame = item_scores(np.ones((5, 3)))
    with pytest.raises(NotEnoughData, match="nothing to write"):
        cfa_comparison_scripts(frame)
