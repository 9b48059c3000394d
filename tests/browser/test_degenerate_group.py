"""Results of sound groups beside degenerate ones, as a researcher sees them."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from tests.browser.conftest import go, settled
from tests.workflow import degenerate_study
from tests.workflow.degenerate_study import CONSTANT, ONE_ROW, SOUND, STUDY

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAGES = {
    "item_statistics": "item_statistics",
    "graded_response": "item_statistics",
    "score_distribution": "item_statistics",
    "internal_consistency": "reliability",
    "reliability": "reliability",
    "cfa": "factors",
    "efa": "factors",
    "dif": "comparability",
    "multitrait_matrix": "validity",
}
CHART = "[data-testid='stVegaLiteChart']"
HEIGHT_PX = 100  # a chart that is drawn has more


def notes_of(page):
    """The notes of the result, which open on a click."""
    page.locator("[class*='st-key-notes_fold'] button").first.click()
    body = page.locator("[data-testid='stPopoverBody']").last
    expect(body).to_be_visible()
    return body.inner_text()


def test_degenerate_groups_are_named_and_the_sound_ones_drawn_on_every_page(page, app, shot):
    workspace = open_workspace(app.database)
    degenerate_study.bring_in(workspace)
    workspace.close()
    app.start()
    for analysis, address in PAGES.items():
        go(page, app, f"{address}?study={STUDY}&analysis={analysis}")
        expect(page.locator(f"{CHART} svg, {CHART} canvas").first).to_be_visible(timeout=120_000)
        settled(page)
        page.wait_for_timeout(500)
        shot(page, analysis)
        assert page.locator("[data-testid='stAlertContentError']").count() == 0, analysis
        for chart in page.locator(CHART).all():
            assert chart.bounding_box()["height"] > HEIGHT_PX, analysis
        answers = page.locator("[data-testid='stMain']").inner_text()
        assert all(group in answers for group in SOUND), analysis
        notes = notes_of(page)
        assert CONSTANT in notes, analysis
        assert ONE_ROW in notes, analysis
