"""The list of answers with the open one beside it: by mouse, by keyboard, by address."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.answers import browsing
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

HEADER_PX, ROW_PX = 36, 66


@pytest.fixture
def study(app):
    """60 answers of three simulated people; the trials of the first page."""
    workspace = open_workspace(app.database)
    freeze(workspace, simulated(refusal_rate=0.2, seed=4), n_personas=3)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    shown, _ = browsing.page(workspace, "study", {}, "")
    refused = browsing.page(workspace, "study", {"status": ["refused"]}, "")[1]
    workspace.close()
    app.start()
    return shown, refused


def row_of(number):
    return {"x": 160, "y": HEADER_PX + ROW_PX * number + ROW_PX // 2}


def test_an_answer_opens_beside_the_list_and_the_address_keeps_it(page, app, study, shot):
    shown, refused = study
    page.set_viewport_size({"width": 1280, "height": 800})
    go(page, app, "answers?study=study")
    expect(page.get_by_text("Answer 1 of the plan")).to_be_visible()
    list_box = page.locator(".st-key-answers_list_and_pane [data-testid='stDataFrame']").first
    pane = page.locator(".st-key-answers_steps")
    in_list, in_pane = list_box.bounding_box(), pane.bounding_box()
    assert in_pane["x"] >= in_list["x"] + in_list["width"]
    assert abs(in_pane["y"] - in_list["y"]) < 40
    assert in_list["y"] < 420  # on the first screen
    list_box.click(position=row_of(2), force=True)
    expect(page.get_by_text("Answer 3 of the plan")).to_be_visible()
    settled(page)
    assert list_box.bounding_box() == in_list
    assert f"answer={shown['trial_id'].iloc[2]}" in page.url
    page.keyboard.press("ArrowDown")
    expect(page.get_by_text("Answer 4 of the plan")).to_be_visible()
    page.get_by_role("button", name="Next", exact=False).last.focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_text("Answer 5 of the plan")).to_be_visible()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_text("Answer 4 of the plan")).to_be_visible()
    settled(page)
    page.reload()
    settled(page)
    expect(page.get_by_text("Answer 4 of the plan")).to_be_visible()
    shot(page, "pane")
    page.get_by_text(f"Refused {refused}", exact=True).click()
    expect(page.get_by_text(f"Rows 1–{refused} of {refused}")).to_be_visible()
    assert "status=refused" in page.url


def test_on_a_narrow_screen_the_answer_stands_below_the_list(page, app, study, shot):
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, app, "answers?study=study&status=refused")
    expect(page.get_by_text("Reply, verbatim")).to_be_attached()
    list_box = page.locator(".st-key-answers_list_and_pane [data-testid='stDataFrame']").first
    in_list = list_box.bounding_box()
    in_pane = page.locator(".st-key-answers_steps").bounding_box()
    assert in_pane["y"] >= in_list["y"] + in_list["height"]
    width = page.evaluate("document.querySelector(\"[data-testid='stMain']\").scrollWidth")
    assert width <= 390
