"""The page Replications: without answers, beside one's own, and the way to a design."""

from __future__ import annotations

from dataclasses import replace

import streamlit

from core.workflow import saved_inputs
from core.workflow.designs import presets, studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from pages.shared import analysis_page, widgets
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import simulated

STUDY = "brand_preference"


def collected(workspace):
    """Ten comparisons of three brands in five formats, twice, by simulated people."""
    person = simulated(label="gpt-4o-2024-08-06", seed=3)
    catalog.save(workspace, person)
    design = presets.design(workspace, presets.by_code(STUDY), first_items=10)
    studies.freeze(workspace, replace(design, respondents=(person.label,)))
    control.start(workspace, STUDY)
    control.wait(workspace, STUDY, every_s=0.02)


def said(at):
    parts = [*at.markdown, *at.caption, *at.info, *at.warning]
    return "\n".join(str(part.value).replace("\\", "") for part in parts)


def table_of(at):
    """The numbers beside the published, by the titles of the columns."""
    return next(t.value for t in at.dataframe if "Yours" in getattr(t.value, "columns", ()))


def test_the_page_without_answers_beside_ones_own_and_with_chosen_levels(workspace, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    at = apps.open_page("replications", timeout=60)
    assert "No answers stand beside these numbers yet." in said(at)
    assert "What does a model think of a brand" in said(at)
    assert "Table 4.5 prints a grand total of 17.2." in said(at)
    at.query_params["published"] = "asi_ablation_letters"
    fine(at.run())
    assert "one-tailed gives 0.7865 to 0.7894." in said(at).replace("\\", "")
    assert "6 printed numbers checked against others of the paper: 1 cannot be right" in said(at)
    collected(workspace)
    at.query_params.update({"study": STUDY, "published": "brand_preference"})
    fine(at.run())
    assert at.selectbox(key="replications_table").value == "brand_preference"
    assert "of 3 printed values" in said(at)
    assert "The questions of Inkblot's designs are our own." in said(at)
    assert "60.6 for gemma-2b-it (62.6 is printed)" in said(at)
    table = table_of(at)
    assert set(table["Model"]) == {"gpt-4o"}  # the name with a date is the printed one's
    assert table["Printed"].tolist() == ["89.0", "97.3", "95.6"]
    assert "Comes out" not in table  # these are not the study's own answers
    of_formats = at.multiselect(key=widgets.filter_key(STUDY, "format"))
    fine(of_formats.set_value(of_formats.options[:1]).run())
    assert f"--where format={of_formats.options[0]}" in at.code[0].value
    fine(at.multiselect(key=widgets.filter_key(STUDY, "format")).set_value([]).run())
    option = f"replications:{STUDY}:options:ci_level"
    fine(at.number_input(key=option).set_value(0.9).run())
    assert "--option ci_level=0.9" in at.code[0].value
    fine(at.number_input(key=option).set_value(0.95).run())
    assert "--option" not in at.code[0].value
    key = f"replications:{STUDY}:model:gemma-2b-it"
    fine(at.selectbox(key=key).set_value("gpt-4o-2024-08-06").run())
    assert set(table_of(at)["Model"]) == {"gemma-2b-it", "gpt-4o"}
    saved = saved_inputs.load(workspace, f"replications:{STUDY}").value
    assert saved["model"] == {"gemma-2b-it": "gpt-4o-2024-08-06"}
    assert "--match gemma-2b-it=gpt-4o-2024-08-06" in at.code[0].value
    at.selectbox(key="replications_paper").set_value("ambivalent_sexism")
    fine(at.run())
    assert at.query_params["published"] in ("asi_score", ["asi_score"])
    fine(at.selectbox(key="replications_table").set_value("asi_extraction_audit").run())
    assert "An audit is coded by hand" in said(at)


def test_a_design_of_a_published_study_fills_the_page_and_brings_its_bank(workspace):
    at = apps.open_page("design", timeout=60, published="5-political-worldviews.yaml")
    assert "The bank policy_239 was brought in." in said(at)
    assert "published" not in at.query_params
    saved = saved_inputs.load(workspace, "design").value
    assert (saved["instrument"], saved["repetitions"]) == ("policy_239", 30)
    assert len(saved["blocks"]) == 6
    # With a design on the page, it is offered.
    at.query_params["published"] = "3-binary-choice.yaml"
    fine(at.run())
    assert saved_inputs.load(workspace, "design").value["instrument"] == "policy_239"
    fine(at.button(key="design_use_published").click().run())
    assert saved_inputs.load(workspace, "design").value["instrument"] == "questions_539"
    at.query_params["published"] = "nobody.yaml"
    fine(at.run())
    fine(at.button(key="design_use_published").click().run())
    assert "There is no design file 'nobody.yaml'." in at.error[0].value.replace("\\", "")
