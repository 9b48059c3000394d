"""Pages are left while they compute, faster than they are drawn, and none stays empty."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

WAY = (
    "Reliability",
    "Invariance and DIF",
    "Explore",
    "Factor models",
    "Home",
    "Consistency",
    "Item statistics",
    "Validity and groups",
)
ROUNDS = 4
WAITS_MS = (20, 150, 400)


def test_pages_that_are_left_while_they_compute_leave_no_empty_page(page, app):
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    workspace = open_workspace(app.database)
    # with repetitions, as Consistency is folded for a study without
    freeze(workspace, simulated(), n_personas=20, languages=("en", "de"), repetitions=2)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    workspace.close()
    app.start()
    go(page, app, "reliability?study=study")
    side = page.get_by_test_id("stSidebar")
    for turn in range(ROUNDS):
        for place, name in enumerate(WAY):
            side.get_by_role("link", name=name, exact=True).click()
            page.wait_for_timeout(WAITS_MS[(turn + place) % len(WAITS_MS)])
        expect(page.get_by_role("heading", name=WAY[-1])).to_be_visible()
        settled(page)
        expect(page.locator("[data-testid='stException']")).to_have_count(0)
    expect(page.locator(".st-key-result").get_by_text("Scored answers used")).to_be_visible()
    assert faults == []
