"""The Factors page: a model proposed, edited and restored, and what each edit changes."""

from __future__ import annotations

import pytest
import streamlit

from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, factor_models
from core.workflow.statistics.factor_models import ModelEdit
from pages.shared import analysis_page
from tests.pages import apps
from tests.pages.apps import fine, open_tab, tab_labels
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
    return apps.open_page("factors", timeout=90, study="study", analysis=analysis)


def box(at, label):
    (found,) = [
        b
        for b in (*at.selectbox, *at.multiselect, *at.text_area, *at.text_input)
        if b.label == label
    ]
    return found


def button(at, label):
    (found,) = [b for b in at.button if b.label == label]
    return found


def press(at, label):
    return fine(button(at, label).click().run())


def own_text(workspace):
    return analyses.saved_options(workspace, "study", analyses.by_name("cfa"))["model_text"]


def shown(at):
    return texts(at).replace("\\", "").replace("\u00a0", " ")  # within an estimate


def table_with(at, *columns):
    return next(d.value for d in at.dataframe if set(columns) <= set(d.value.columns))


def loadings(at):
    return table_with(open_tab(at, "cfa", "Loadings"), "Factor", "Item", "Loading")


def factor_of(at, item):
    table = loadings(at)
    return table.loc[table["Item"] == item, "Factor"].tolist()


def type_model(at, text):
    return fine(box(at, "Model text").set_value(text).run())


def edited_by(workspace, *edit):
    """The bank's model after one edit."""
    bank = factor_models.proposal(workspace, ["study"], "subscales")
    text, _ = factor_models.apply_edit(bank.text, ModelEdit(*edit), bank)
    return text


MOVE = ("move", "nature_01", "nature", "technology")
CROSS = ("add", "nature_01", "", "technology")


def test_the_fit_is_one_sentence_and_the_rest_stands_in_tabs(collected):
    at = open_page()
    fit = analyses.run(collected, "cfa", ["study"], {}, {})
    (answer,) = analyses.by_name("cfa").answer(fit)
    assert answer.sentence in shown(at)
    assert (answer.light, ":red[" in shown(at)) == ("red", True)
    assert ", robust CFI .93, robust RMSEA .063 [" in answer.sentence
    assert tab_labels(at) == [
        "Fit",
        "Loadings",
        "Residuals",
        "Modification",
        "Normality",
        "Second opinion",
        "Syntax",
        "Method and files",
    ]
    first = list(table_with(at, "χ²").columns[1:11])  # the statistics of the sentence
    assert first[:7] == [
        "Reported",
        "χ² scaled",
        "df",
        "p scaled",
        "CFI robust",
        "TLI robust",
        "RMSEA robust",
    ]
    assert first[7:] == ["RMSEA robust 90% CI low", "RMSEA robust 90% CI high", "SRMR"]
    assert "Your model against" not in shown(at)


def test_the_model_is_proposed_from_the_subscales_of_the_bank(collected):
    at = open_page()
    text = box(at, "Model text").value
    assert text == factor_models.proposal(collected, ["study"], "subscales").text
    assert text.count("=~") == 2
    assert own_text(collected) == ""
    assert button(at, "Undo").disabled
    assert button(at, "Restore the bank's model").disabled


def test_an_edited_model_is_refitted_compared_and_kept(collected):
    at = type_model(open_page(), edited_by(collected, *MOVE))
    assert "Your model against the bank's, Simulated: scaled χ²(169) = " in shown(at)
    assert "No test of Δχ² (as many free parameters in both)." in shown(at)
    assert factor_of(at, "nature_01") == ["technology"]
    again = open_page()
    assert factor_of(again, "nature_01") == ["technology"]
    assert "Your model against the bank's" in shown(again)


def test_the_change_has_the_numbers_of_the_comparison(collected):
    text = edited_by(collected, *CROSS)
    at = type_model(open_page(), text)
    bank = factor_models.proposal(collected, ["study"], "subscales").text
    models = f"## The bank's\n{bank}\n## Yours\n{text}"
    result = analyses.run(collected, "cfa_comparison", ["study"], {"models": models}, {})
    row = result.tables[1].frame.iloc[0]
    cfi = f"{-row['cfi_difference']:+.3f}".replace("0.", ".").replace("-", "−")
    p = f"{row['p_difference']:.3f}".lstrip("0")
    assert f"Δχ²(1) = {row['chi2_difference']:.1f}, p = {p}, ΔCFI {cfi}:" in shown(at)
    numbers = table_with(at, "Group", "Model", "BIC")
    assert numbers["Model"].tolist() == ["The bank's", "Yours", "Difference"]
    assert numbers["χ²"].tolist()[2] == row["chi2_difference"]
    assert numbers["BIC"].tolist()[2] == pytest.approx(-row["bic_difference"])


def test_regressions_are_added_and_taken_back_by_a_press(collected):
    at = open_page()
    box(at, "This").set_value("nature")
    at = fine(box(at, "explains this").set_value("technology").run())
    at = press(at, "Add")
    assert own_text(collected).endswith("technology ~ nature")
    table = table_with(open_tab(at, "cfa", "Loadings"), "Outcome", "Predictor", "Coefficient")
    assert table[["Outcome", "Predictor"]].to_numpy().tolist() == [["technology", "nature"]]
    assert "Standardized regressions: technology" in shown(at)
    assert "semopy counts the degrees of freedom" in shown(open_tab(at, "cfa", "Second opinion"))
    box(at, "This").set_value("technology")
    at = fine(box(at, "explains this").set_value("nature").run())
    at = press(at, "Add")
    assert "explained by itself, over others" in shown(at)
    at = press(at, "nature explains technology")
    assert own_text(collected) == ""


def test_undo_takes_back_one_change_and_restore_all(collected):
    at = open_page()
    first, second = edited_by(collected, *MOVE), edited_by(collected, *CROSS)
    at = type_model(type_model(at, first), second)
    at = press(at, "Undo")
    assert own_text(collected) == first == box(at, "Model text").value
    at = type_model(at, second)
    at = press(at, "Restore the bank's model")
    assert own_text(collected) == ""
    assert "Your model against" not in shown(at)
    at = press(at, "Undo")
    assert own_text(collected) == second


def test_a_row_of_the_modification_indices_is_freed_by_one_press(collected):
    at = type_model(open_page(), edited_by(collected, *MOVE))
    at = open_tab(at, "cfa", "Modification")
    row = table_with(at, "Parameter", "Of", "With").iloc[0]
    first = next(b for b in at.button if "index" in b.label)
    assert f"index {row['Modification index']:.1f}" in first.label.replace("\\", "")
    at = fine(first.click().run())
    if row["Parameter"] == "loading":
        assert row["Of"] in factor_models.assignment(own_text(collected))[row["With"]]
    else:
        assert factor_models.residual_pairs(own_text(collected)) == ((row["Of"], row["With"]),)
    assert "Your model against the bank's" in shown(at)
    assert not button(at, "Undo").disabled


def test_the_second_opinion_is_about_the_edited_model(collected):
    at = type_model(open_page(), edited_by(collected, *MOVE))
    here = loadings(at)
    at = open_tab(at, "cfa", "Second opinion")
    assert "Both programs agree" in shown(at)
    fit = table_with(at, "Index", "semopy")
    assert fit["Index"].tolist()[:3] == ["χ²", "df", "p"]
    checked = table_with(at, "Item", "semopy", "Factor")
    assert checked["Item"].tolist() == here["Item"].tolist()
    assert checked.loc[checked["Item"] == "nature_01", "Factor"].tolist() == ["technology"]


def test_the_check_by_itself_takes_over_the_edited_model(collected):
    type_model(open_page(), edited_by(collected, *MOVE))
    at = open_page("cfa_check")
    assert "Model: the edited model." in shown(at)
    at = press(at, "Change the model")
    assert at.query_params["analysis"] == "cfa"
    assert factor_of(at, "nature_01") == ["technology"]


def test_scripts_are_shown_and_offered_with_their_data(collected):
    at = open_tab(open_page(), "cfa", "Syntax")
    code = "\n".join(block.value for block in at.code)
    assert "library(lavaan)" in code
    assert "semopy" in code
    labels = [one.proto.label for one in at.get("download_button")]
    assert "R and Python scripts with data (ZIP)" in labels


def test_a_text_that_cannot_be_read_says_where_and_changes_nothing_else(collected):
    at = type_model(open_page(), "F =~ nature_01 + natur_02 + nature_03")
    assert "natur_02" in shown(at)
    assert "Did you mean" in shown(at)
    assert own_text(collected) == "F =~ nature_01 + natur_02 + nature_03"
    at = press(at, "Restore the bank's model")
    assert len(loadings(at)) == 20


def test_the_help_on_model_texts_shows_every_asterisk(collected):
    assert r"0\.8\*a fixes" in box(open_page(), "Model text").proto.help


def test_models_that_were_kept_are_compared(collected):
    at = open_page()
    items = loadings(at)["Item"].tolist()
    at = type_model(at, f"One =~ {' + '.join(items)}")
    at = fine(box(at, "Name of this model").set_value("All in one").run())
    at = press(at, "Save the model")
    assert factor_models.saved_models(collected, "study") == {
        "All in one": f"One =~ {' + '.join(items)}"
    }
    at = open_page("cfa_comparison")
    chosen = ["One factor per subscale", "All in one"]
    at = fine(box(at, "Models to compare").set_value(chosen).run())
    assert table_with(at, "Factor model", "BIC")["Factor model"].tolist() == chosen
    at = press(at, "Delete the model")
    assert factor_models.saved_models(collected, "study") == {}


def test_a_preset_has_no_name_to_be_kept_under(collected):
    at = open_page()
    at = fine(box(at, "Name of this model").set_value("One factor per subscale").run())
    at = press(at, "Save the model")
    assert "cannot be kept under this name" in shown(at)


def test_the_model_is_that_of_the_answers_and_not_of_a_study_of_the_same_name(
    collected, tmp_path, monkeypatch
):
    assert "technology" in box(open_page(), "Model text").value
    other = open_workspace(tmp_path / "other.duckdb")
    freeze(other, simulated(seed=3), bank="opinions_30", n_personas=40)
    control.start(other, "study")
    control.wait(other, "study", every_s=0.02)
    monkeypatch.setenv("INKBLOT_DB", other.database.path)
    assert "traffic" in box(open_page(), "Model text").value
    other.close()
