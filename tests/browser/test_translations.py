"""Translating in the grid of a bank: nothing moves while one types, and nothing is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from tests.browser.conftest import drawn, go, settled, write_in_cell

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GRID = "[data-testid='data-grid-canvas']"
ROW_PX, HEADER_PX = 66, 36
IN_TARGET_PX = 700  # beyond item, source and state


def open_translations(page, app):
    go(page, app, "banks?bank=attitudes_20")
    page.get_by_text("Translations", exact=True).click()
    page.get_by_role("combobox", name="Into").wait_for()
    settled(page)
    page.locator(GRID).first.wait_for()
    return page.locator("[data-testid='stDataFrame']").first


def choose(page, label, option):
    page.get_by_role("combobox", name=label).click()
    page.keyboard.type(option, delay=20)
    page.keyboard.press("Enter")
    settled(page)
    page.wait_for_timeout(500)


def saved_texts(app, language):
    workspace = open_workspace(app.database)
    items = editing.load(workspace, "attitudes_20").instrument.items
    workspace.close()
    return [item.text(language) for item in items]


def test_the_grid_of_translations_stays_in_its_place_and_saves_every_cell(page, app, shot):
    app.start()
    grid = open_translations(page, app)
    shot(page, "spanish")
    choose(page, "Into", "French")
    before = grid.bounding_box()
    places = []
    for row, text in enumerate(("Une promenade", "Plus un appareil", "Je préfère")):
        y = HEADER_PX + ROW_PX * row + ROW_PX // 2
        write_in_cell(page, grid, {"x": IN_TARGET_PX, "y": y}, text, "Tab")
        places.append(grid.bounding_box())
        expect(page.get_by_text(f"{row + 1} of 20 items done")).to_be_visible()
        settled(page)
        places.append(grid.bounding_box())
    assert places == [before] * len(places)
    shot(page, "french")
    # with the keyboard alone: Enter goes on to the next row
    grid.click(position={"x": IN_TARGET_PX, "y": HEADER_PX + ROW_PX * 3 + 30}, force=True)
    for text in ("Quatre", "Cinq"):
        drawn(page)
        page.keyboard.type(text[0])
        expect(page.locator(".gdg-input").last).to_be_focused()  # what comes before it is lost
        page.keyboard.type(text[1:], delay=20)
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
    expect(page.get_by_text("5 of 20 items done")).to_be_visible()
    assert grid.bounding_box() == before
    page.reload()
    settled(page)
    app.stop()
    french = saved_texts(app, "fr")
    assert french[:5] == ["Une promenade", "Plus un appareil", "Je préfère", "Quatre", "Cinq"]
    assert not any(french[5:])
    assert all(saved_texts(app, "es"))
