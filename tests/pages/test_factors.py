"""The Factors page: a model proposed, an item moved, residuals, the text, models compared."""

from __future__ import annotations

import pytest
import streamlit

from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, factor_models
from pages.shared import analysis_page
from tests.pages import apps
from tests.pages.apps import fine
from tests.pages.test_statistics_pages import texts
from tests.workflow.studies import freeze, simulated


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    found = open_workspace(tmp_path_factory.mktemp("factors") / "shared.duckdb")
    freeze(found, simulated(seed=3), n_personas=60)
    control.start(found, "study")
    control.wait(found, "study", every_s=0.02)
    yield found
    found.close()


@pytest.fixture
def collected(shared, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    monkeypatch.setenv("INKBLOT_DB", shared.database.path)
    analysis = analyses.by_name("cfa")
    for name, value in (("model", "subscales"), ("model_text", "")):
        analyses.save_option(shared, "study", analysis, name, value)
    for name in factor_models.saved_models(shared, "study"):
        factor_models.delete_model(shared, "study", name)
    return shared


def open_page(analysis="cfa"):
    at = apps.open_page("factors", timeout=90, study="study", analysis=analysis)
    toggles = [t for t in at.toggle if t.label == "Edit the model"]
    return fine(toggles[0].set_value(True).run()) if toggles else at


def box(at, label):
    (found,) = [b for b in (*at.selectbox, *at.multiselect, *at.text_area, *at.text_input)
                if b.label == label]  # fmt: skip
    return found


def press(at, label):
    (button,) = [b for b in at.button if b.label == label]
    return fine(button.click().run())


def own_text(workspace):
    return analyses.saved_options(workspace, "study", analyses.by_name("cfa"))["model_text"]


def said(at):
    return "\n".join(s.value for s in at.success).replace("\\", "")


def loadings(at):
    return next(
        d.value for d in at.dataframe if {"Factor", "Item", "Loading"} <= set(d.value.columns)
    )


def factor_of(at, item):
    table = loadings(at)
    return table.loc[table["Item"] == item, "Factor"].tolist()


def test_the_model_is_proposed_from_the_subscales_of_the_bank(collected):
    at = open_page()
    text = box(at, "Model text").value
    assert text == factor_models.proposal(collected, ["study"], "subscales").text
    assert text.count("=~") == 2
    assert own_text(collected) == ""


def test_a_moved_item_is_refitted_and_kept(collected):
    at = open_page()
    item = box(at, "Item").value
    (own,) = factor_of(at, item)
    other = next(name for name in loadings(at)["Factor"].unique() if name != own)
    at = fine(box(at, "To").set_value(other).run())
    at = press(at, "Move")
    assert f"{item} was moved from {own} to {other}." in said(at)
    assert factor_of(at, item) == [other]
    assert factor_of(open_page(), item) == [other]
    at = press(at, "Restore the proposal")
    assert factor_of(at, item) == [own]
    assert own_text(collected) == ""


def test_a_cross_loading_is_an_action_of_its_own(collected):
    at = open_page()
    item = box(at, "Item").value
    (own,) = factor_of(at, item)
    other = box(at, "To").value
    at = press(at, "Add a cross-loading")
    assert f"A cross-loading was added: {item} measures {own} and {other}." in said(at)
    assert set(factor_of(at, item)) == {own, other}
    at = fine(box(at, "From").set_value(own).run())
    at = press(at, "Take off")
    assert f"{item} was taken off {own}." in said(at)
    assert factor_of(at, item) == [other]


def test_the_fit_is_read_before_any_chart(collected):
    at = open_page()
    assert list(at.dataframe[1].value.columns[1:10]) == [
        "χ²", "df", "p", "CFI", "TLI", "RMSEA", "90% CI low", "90% CI high", "SRMR",
    ]  # fmt: skip
    kinds = [part.type for part in at.main]
    assert at.header[0].value == "Fit"
    assert kinds.index("header") < kinds.index("vega_lite_chart")


def test_two_residuals_may_correlate_and_be_taken_apart_again(collected):
    at = open_page()
    pair = loadings(at)["Item"].tolist()[:2]
    at = fine(box(at, "Two items that share more than their factors").set_value(pair).run())
    at = press(at, "Let their residuals correlate")
    assert factor_models.residual_pairs(own_text(collected)) == (tuple(pair),)
    assert any("residual covariances" in heading.value for heading in at.header)
    at = press(at, "Remove the pair")
    assert factor_models.residual_pairs(own_text(collected)) == ()


def test_a_text_that_cannot_be_read_says_where_and_changes_nothing_else(collected):
    at = open_page()
    at = fine(box(at, "Model text").set_value("F =~ nature_01 + natur_02 + nature_03").run())
    assert "natur_02" in texts(at).replace("\\", "")
    assert "Did you mean" in texts(at)
    assert own_text(collected) == "F =~ nature_01 + natur_02 + nature_03"
    at = press(at, "Restore the proposal")
    assert len(loadings(at)) == 20


def test_the_help_on_model_texts_shows_every_asterisk(collected):
    at = open_page()
    assert r"0\.8\*a fixes" in box(at, "Model text").proto.help


def test_models_that_were_kept_are_compared(collected):
    at = open_page()
    items = loadings(at)["Item"].tolist()
    at = fine(box(at, "Model text").set_value(f"One =~ {' + '.join(items)}").run())
    at = fine(box(at, "Name of this model").set_value("All in one").run())
    at = press(at, "Save the model")
    assert factor_models.saved_models(collected, "study") == {
        "All in one": f"One =~ {' + '.join(items)}"
    }
    at = open_page("cfa_comparison")
    chosen = ["One factor per subscale", "All in one"]
    at = fine(box(at, "Models to compare").set_value(chosen).run())
    fit = next(d.value for d in at.dataframe if {"Model", "BIC"} <= set(d.value.columns))
    assert fit["Model"].tolist() == chosen
    at = press(at, "Delete the model")
    assert factor_models.saved_models(collected, "study") == {}


def test_a_preset_has_no_name_to_be_kept_under(collected):
    at = open_page()
    at = fine(box(at, "Name of this model").set_value("One factor per subscale").run())
    at = press(at, "Save the model")
    assert "cannot be kept under this name" in texts(at)


def test_scripts_are_shown_and_offered_with_their_data(collected):
    at = open_page()
    (toggle,) = [t for t in at.toggle if t.label == "Show R and Python scripts"]
    at = fine(toggle.set_value(True).run())
    code = "\n".join(block.value for block in at.code)
    assert "library(lavaan)" in code
    assert "semopy" in code
    labels = [button.proto.label for button in at.get("download_button")]
    assert "R and Python scripts with data (ZIP)" in labels


def test_the_fitted_model_is_checked_by_semopy_as_it_was_edited(collected):
    at = open_page()
    item = box(at, "Item").value
    (own,) = factor_of(at, item)
    other = next(name for name in loadings(at)["Factor"].unique() if name != own)
    at = fine(box(at, "To").set_value(other).run())
    at = press(at, "Move")
    here = loadings(at)
    at = press(at, "Check with semopy")
    assert at.query_params["analysis"] == "cfa_check"
    assert "Model: the edited model." in texts(at).replace("\\", "")
    assert "Both programs find the same solution" in texts(at)
    fit = next(d.value for d in at.dataframe if {"Index", "semopy"} <= set(d.value.columns))
    assert fit["Index"].tolist()[:3] == ["χ²", "df", "p"]
    checked = next(
        d.value for d in at.dataframe if {"Item", "semopy", "Factor"} <= set(d.value.columns)
    )
    assert checked["Item"].tolist() == here["Item"].tolist()
    assert checked.loc[checked["Item"] == item, "Factor"].tolist() == [other]
    at = press(at, "Change the model")
    assert at.query_params["analysis"] == "cfa"
    assert factor_of(at, item) == [other]
