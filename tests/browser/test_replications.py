"""A small study of the published design, beside the printed numbers on the page and as a file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from core.workflow.designs import presets, studies
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.browser.test_way_through import download

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

STUDY = "policy_stances"


def collect(app):
    """Eight statements in six forms and two templates, by simulated people."""
    workspace = open_workspace(app.database)
    design = presets.design(workspace, presets.by_code(STUDY), first_items=8)
    studies.freeze(workspace, replace(design, respondents=("Simulated person",)))
    control.start(workspace, STUDY)
    control.wait(workspace, STUDY, every_s=0.05)
    workspace.close()


def test_the_numbers_of_a_study_stand_beside_the_published_and_leave_as_the_command_writes(
    page, app, shot
):
    collect(app)
    app.start()
    go(page, app, f"replications?study={STUDY}&published=political_kappa")
    expect(page.get_by_text("of 18 printed values").first).to_be_visible()
    chart = page.locator("[data-testid='stVegaLiteChart'][aria-label^='Dot plot of Paraphrases']")
    expect(chart).to_be_visible()
    expect(page.get_by_text("The statements, parties and positions").first).to_be_visible()
    shot(page, "1-beside")
    from_page = download(page, "CSV")
    page.get_by_role("link", name="Design 5-political-worldviews").click()
    expect(page.get_by_text("The choices below now hold the design")).to_be_visible()
    expect(page.get_by_text("The bank policy_239 was brought in.")).to_be_visible()
    name = page.get_by_role("textbox", name="Name of the study")
    expect(name).to_have_value("political_worldviews")
    settled(page)
    shot(page, "2-design")
    app.stop()
    command = app.command("replicate", "political_kappa", "--study", STUDY)
    assert from_page == command.stdout
    assert from_page.count(b"\n") == 1 + 6 * 6
