"""Running and editing with the keyboard alone, and edits that survive a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from tests.browser.conftest import drawn, go, settled, write_in_cell

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

_FOCUS_IS_IN = "selector => !!document.activeElement.closest(selector)"
GRID = "[data-testid='data-grid-canvas']"


def tab_to(page, selector, most=80):
    """Press Tab until the focus is inside an element, once it is there and the page at rest."""
    page.locator(selector).first.wait_for(state="attached")
    settled(page)
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(_FOCUS_IS_IN, selector):
            return
    raise AssertionError(f"{selector} cannot be reached with the keyboard")


def test_the_sample_study_runs_and_is_read_with_the_keyboard_alone(page, app, shot):
    app.start()
    go(page, app)
    tab_to(page, ".st-key-sample_simulated")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The sample study is done")).to_be_visible(timeout=60_000)
    settled(page)  # a link that is drawn anew loses the focus
    tab_to(page, "a[href*='item_statistics']")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Scored answers used").first).to_be_visible()
    shot(page, "statistics")


def test_items_are_edited_with_the_keyboard_and_survive_reload_and_page_change(page, app, shot):
    app.start()
    go(page, app, "banks?bank=opinions_30")
    tab_to(page, GRID)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    for text in ("First edit", "Second edit"):
        drawn(page)
        page.keyboard.press("Enter")
        editor = page.locator(".gdg-input").last  # what is typed before it is there is lost
        editor.wait_for()
        expect(editor).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type(text, delay=20)
        page.keyboard.press("Enter")
        page.wait_for_timeout(400)
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", name="Inkblot")).to_be_visible()
    go(page, app, "banks?bank=opinions_30")
    settled(page)
    shot(page, "after-reload")
    app.stop(kill=True)
    workspace = open_workspace(app.database)
    items = editing.load(workspace, "opinions_30").instrument.items
    workspace.close()
    kept = " ".join(f"{i.code} {i.subscale} {i.text('en')}" for i in items)
    assert "First edit" in kept
    assert "Second edit" in kept


def test_the_grid_of_a_new_bank_stays_in_its_place_while_one_types(page, app):
    workspace = open_workspace(app.database)
    code = editing.create(workspace, "Calm", response_format="likert_5").instrument.code
    workspace.close()
    app.start()
    go(page, app, f"banks?bank={code}")
    grid = page.locator("[data-testid='stDataFrame']").first
    grid.locator(GRID).wait_for()
    grid.scroll_into_view_if_needed()
    before = grid.bounding_box()
    for row in range(2):
        subscale = {"x": 250, "y": 35 + 17 + 35 * row}  # below a header of 35 pixels
        write_in_cell(page, grid, subscale, f"Calm {row}", "Enter")
        expect(page.get_by_text(f"{row + 1} item{'s' * row}.", exact=True)).to_be_visible()
        page.wait_for_timeout(1000)  # an edit is sent a moment later
        settled(page)
        assert grid.bounding_box() == before
    app.stop(kill=True)
    workspace = open_workspace(app.database)
    items = editing.load(workspace, code).instrument.items
    workspace.close()
    assert [item.subscale for item in items] == ["Calm 0", "Calm 1"]
