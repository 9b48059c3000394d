"""A pilot of templates from the page Design to its ranking, and its best in the design."""

from __future__ import annotations

import pytest

from core.domain.study import Block
from core.workflow import saved_inputs
from core.workflow.designs import forms, studies
from core.workflow.runs import control
from pages.shared import analysis_page
from tests.pages import apps
from tests.pages.test_design import PERSON, planned, said

CODES = ["personal_1", "personal_2", "impersonal_1", "impersonal_2"]


def own(name):
    return f"template pilot:{name}"


def test_a_pilot_is_planned_frozen_asked_and_its_best_templates_go_into_the_design(
    workspace, monkeypatch
):
    monkeypatch.setattr(analysis_page, "WAIT_S", 60)
    at = apps.open_page("templates")
    assert any("Pilot" in link.label for link in at.get("page_link"))
    at = planned(apps.open_page("design", pilot="1"), "views", bank="policy_60")
    at.number_input(key="design:repetitions").set_value(5).run()
    assert len(at.multiselect(key=own("templates")).value) == 6
    at.multiselect(key=own("templates")).set_value(CODES[:1]).run()
    assert "fewer than two are chosen" in said(at.warning) + said(at.error) + said(at.info)
    at.multiselect(key=own("templates")).set_value(CODES).run()
    at.number_input(key=own("items")).set_value(6).run()
    at.multiselect(key="design_pilot_formats:impersonal_1").set_value(["beneficial_harmful"]).run()
    assert "**24 calls**" in said(at.markdown)
    at.button(key="design_pilot_freeze").click().run()
    apps.fine(at)
    assert "template pilot of views is frozen: 24 trials" in said(at.success)
    (study,) = studies.list_studies(workspace)
    assert study.design.respondents == (PERSON,)
    control.start(workspace, study.code)
    control.wait(workspace, study.code, every_s=0.02)
    at = apps.open_page(
        "unexpected_outputs", timeout=90, study=study.code, analysis="template_pilot"
    )
    (link,) = [one for one in at.get("page_link") if "proposed templates" in one.label]
    assert "4 templates have from 83.3%" in said(at.markdown)
    proposed = dict(part.split("=") for part in link.proto.query_string.split("&")[:1])
    assert proposed["templates_of"]
    at = apps.new_session("design", templates_of=study.code)
    at.query_params["template"] = ["personal_2", "impersonal_1"]
    at = apps.fine(at.run())
    assert "now has the templates that template pilot of views proposes" in said(at.info)
    design = forms.to_design(workspace, saved_inputs.load(workspace, forms.DRAFT_NAME).value)
    assert design.templates == ("personal_2", "impersonal_1")
    assert design.repetitions == 5
    assert design.blocks == (
        Block(study.design.formats[0], templates=("personal_2",), formats=study.design.formats[:1]),
        Block("beneficial_harmful", templates=("impersonal_1",), formats=("beneficial_harmful",)),
    )
    assert not at.query_params.get("template")


@pytest.mark.parametrize("templates", [["gone"], []])
def test_templates_that_are_not_there_are_refused_in_words(workspace, templates):
    at = apps.new_session("design", templates_of="nowhere")
    if templates:
        at.query_params["template"] = templates
    at = apps.fine(at.run())
    assert ("nowhere" in said([*at.info, *at.warning, *at.error])) is bool(templates)
