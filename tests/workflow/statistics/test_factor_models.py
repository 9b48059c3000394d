"""Edited factor models: compared with the bank's over the same answers, and parameters freed."""

from __future__ import annotations

import pytest

from core.analysis.factors.cfa_comparison.change import model_changes
from core.analysis.kit.factor_models import editing
from core.errors import DesignError
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, computing, factor_models
from core.workflow.statistics.computing import AnalysisRequest
from tests.workflow.studies import freeze, simulated

OPTIONS = {"by": ("respondent",), "model": "subscales", "estimator": "automatic", "ci_level": 0.95}


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    found = open_workspace(tmp_path_factory.mktemp("models") / "shared.duckdb")
    freeze(found, simulated(seed=3), n_personas=60)
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    yield found
    found.close()


def request_for(text, **more):
    return AnalysisRequest("cfa", ("study",), {**OPTIONS, "model_text": text}, **more)


def test_an_edited_model_is_compared_over_the_answers_it_is_fitted_to(collected):
    bank = factor_models.proposal(collected, ["study"], "subscales")
    edited = editing.with_cross_loading(bank.text, "nature_01", "technology")
    where = {"context": [f"p{n:04}" for n in range(1, 51)]}
    asked = factor_models.comparison_with_bank(request_for(edited, where=where), bank)
    computation = computing.computation_of(collected, asked)
    assert computation.wait(30)
    (change,) = model_changes(computation.value())
    fitted = computing.computation_of(collected, request_for(edited, where=where))
    assert fitted.wait(30)
    fit = fitted.value().tables[0].frame.iloc[0]
    assert fit["n"] == 50
    assert (change.edited.chi2, change.edited.cfi) == (fit["chi2_scaled"], fit["cfi_robust"])
    assert change.edited_bic == fit["bic"]
    assert (change.df, change.is_tested) == (1, True)
    again = computing.computation_of(collected, asked)
    assert again is computation  # not computed twice


def test_without_an_edit_nothing_is_compared(collected):
    bank = factor_models.proposal(collected, ["study"], "subscales")
    assert factor_models.comparison_with_bank(request_for("  \n"), bank) is None


@pytest.mark.parametrize("kind", ["loading", "covariance"])
def test_the_row_of_a_modification_index_is_an_edit(collected, kind):
    bank = factor_models.proposal(collected, ["study"], "subscales")
    moved = editing.move_item(bank.text, "nature_01", "nature", "technology")
    options = {**OPTIONS, "model_text": moved}
    result = analyses.run(collected, "cfa", ["study"], options, {})
    rows = next(t for t in result.tables if t.name == "modification_indices").frame
    before = result.tables[0].frame.iloc[0]
    row = rows[rows["parameter"] == kind].iloc[0]
    freed = factor_models.free_parameter(moved, kind, row["left"], row["right"])
    after = analyses.run(collected, "cfa", ["study"], {**options, "model_text": freed}, {})
    fit = after.tables[0].frame.iloc[0]
    assert fit["df"] == before["df"] - 1
    # The index is about the fall of χ² (Sörbom, 1989), less of a large one.
    assert before["chi2"] - fit["chi2"] > 0.7 * row["index"] > 3
    with pytest.raises(DesignError, match="One press cannot free"):
        factor_models.free_parameter(freed, kind, row["left"], row["right"])


def test_one_press_frees_no_variance(collected):
    bank = factor_models.proposal(collected, ["study"], "subscales")
    with pytest.raises(DesignError, match="One press cannot free"):
        factor_models.free_parameter(bank.text, "variance", "nature", "nature")
