"""Explore in a browser: a view on the first screen, kept by reload and address, to the analysis."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
SIZE = {"width": 1280, "height": 800}
CHART = "[data-testid='stVegaLiteChart']"


@pytest.fixture
def collected(app):
    workspace = open_workspace(app.database)
    freeze(
        workspace,
        simulated(refusal_rate=0.1, seed=3),
        study="crossed",
        n_personas=6,
        languages=("en", "de"),
        repetitions=2,
    )
    control.start(workspace, "crossed")
    control.wait(workspace, "crossed", every_s=0.05)
    workspace.close()
    app.start()
    return app


def choose(page, label, option):
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


def expect_chosen(page, values):
    """Wait until the controls show these values; while they are drawn anew, some are not there."""
    boxes = page.locator(".st-key-explore_controls").get_by_role("combobox")
    expect(boxes).to_have_count(len(values))
    for box, value in zip(boxes.all(), values, strict=True):
        expect(box).to_have_value(value)


def test_a_view_on_the_first_screen_is_kept_and_leads_to_its_analysis(browser, page, collected):
    page.set_viewport_size(SIZE)
    go(page, collected, "explore?study=crossed")
    choose(page, "Measure", "Share of an option")
    choose(page, "Option", "4: Agree")
    choose(page, "Axis", "Subscale")
    choose(page, "Panels", "Repetition")
    expected = ["Share of an option", "4: Agree", "Subscale", "Language", "Repetition"]
    expect_chosen(page, expected)
    expect(page.get_by_text("Share of option 4: from")).to_be_visible()
    expect(page.locator(CHART)).to_have_count(2)
    box = page.locator(CHART).first.bounding_box()
    assert box["y"] + box["height"] <= SIZE["height"]
    settled(page)  # while a page is drawn anew, its old table stands beside the new one
    expect(page.get_by_test_id("stDataFrame")).to_have_count(1)
    table = page.get_by_test_id("stDataFrame").bounding_box()
    assert table["x"] >= box["x"] + box["width"]  # beside the chart
    assert table["y"] < SIZE["height"] / 2

    page.reload()
    settled(page)
    page.wait_for_selector(CHART)
    expect_chosen(page, expected)

    other = browser.new_context(viewport=SIZE)
    second = other.new_page()
    second.goto(page.url)
    second.wait_for_selector(CHART)
    settled(second)
    expect_chosen(second, expected)
    other.close()

    go(page, collected)
    go(page, collected, "explore?study=crossed")  # saved with the study
    expect_chosen(page, expected)

    choose(page, "Measure", "Mean score")
    expect(page.get_by_text("Mean score: from")).to_be_visible()
    choose(page, "Axis", "Language")
    # drawn after the table
    expect(page.get_by_text("Tick a row of the table")).to_be_visible()
    settled(page)
    settled(page)  # while a page is drawn anew, its old table stands beside the new one
    expect(page.get_by_test_id("stDataFrame")).to_have_count(1)
    table = page.get_by_test_id("stDataFrame").bounding_box()
    page.mouse.click(table["x"] + 17, table["y"] + 54)  # the box of the first row
    replies = page.get_by_role("link", name="Replies of the ticked row")
    expect(replies).to_be_visible()
    assert "repetition=1&language=de" in replies.get_attribute("href")
    page.get_by_role("button", name="Test this difference with Score correlations").click()
    expect(page.get_by_role("heading", name="Reliability", level=1)).to_be_visible()
    settled(page)
    assert "analysis=score_correlations" in page.url
    expect(page.get_by_role("combobox", name="Compare scores between")).to_have_value("Languages")
