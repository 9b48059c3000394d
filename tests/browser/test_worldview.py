"""A short study of the preset of political stances: spider, leaning, parties, and a file."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from core.domain.study import Respondent, SimulationSettings
from core.workflow.designs import presets, studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.browser.test_way_through import download

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

STUDY, N_ITEMS, PERSON = "policy_stances", 24, "Firm person"
LEANING = SimulationSettings(loading=0.7, leaning=3.0)
"""Of every answer, so that nearly all stances are reliable."""


def collect(app):
    """Statements in two forms, two templates with labels of their own, ten times each."""
    workspace = open_workspace(app.database)
    catalog.add(workspace, Respondent(PERSON, "simulated", "simulated", simulation=LEANING))
    design = presets.design(workspace, presets.by_code(STUDY), first_items=N_ITEMS)
    short = replace(
        design,
        respondents=(PERSON,),
        forms=("original", "negation"),
        label_orders=("as_is",),
        repetitions=10,
    )
    studies.freeze(workspace, short)
    control.start(workspace, STUDY)
    control.wait(workspace, STUDY, every_s=0.05)
    workspace.close()


def test_reliable_stances_add_up_to_a_worldview_on_the_page_and_in_its_file(page, app, shot):
    collect(app)
    app.start()
    go(page, app, f"worldview?study={STUDY}&analysis=worldview")
    expect(
        page.get_by_text(re.compile("statements (asked )?count,.* mean over 2 templates")).first
    ).to_be_visible()
    spider = page.locator("[data-testid='stVegaLiteChart'][aria-label*='Spider chart']").first
    expect(spider).to_be_visible()
    settled(page)
    shot(page, "1-spider")
    from_page = download(page, "CSV")

    page.get_by_role("tab", name="Leaning").click()
    page.wait_for_timeout(500)  # its contents are computed when it is opened
    settled(page)
    sides = download(page, "CSV")
    page.get_by_role("tab", name="Parties", exact=True).click()
    page.wait_for_timeout(500)
    settled(page)
    shot(page, "2-parties")
    parties = download(page, "CSV")
    app.stop()

    for name, written in (("domains", from_page), ("leaning", sides), ("parties", parties)):
        command = app.command("analyze", "worldview", "--study", STUDY, "--table", name)
        assert written == command.stdout, name
    assert b"all countries,left" in sides
    assert from_page.count(b"\n") > 3
