"""An audit with the keyboard alone, and a number that opens its answers."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from core.workflow.answers import agreement, audits, browsing
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.browser.test_keyboard import tab_to
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

STATUS_KEYS = {"refused": "x", "ambiguous": "m", "no_answer": "e", "off_scale": "o"}
N_CODED = 40  # replies of the study, which are fewer than a sample has
BACK_AT = 20  # the coding that goes wrong and is corrected


def prepare(database):
    """Simulated replies; for each, the key that a person who reads as Inkblot uses."""
    workspace = open_workspace(database)
    person = simulated(refusal_rate=0.15, explanation_rate=0.4, seed=8)
    freeze(workspace, person, n_personas=N_CODED // 20)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    page, _ = browsing.page(workspace, "study", {}, "", limit=200)
    keys = {
        int(trial): option if isinstance(option, str) else STATUS_KEYS[status]
        for trial, option, status in zip(
            page["trial_id"], page["option"], page["status"], strict=True
        )
    }
    workspace.close()
    return keys


def trial_on(page):
    """The trial whose coding buttons are on the page."""
    classes = page.locator("[class*='st-key-audit_option-']").first.get_attribute("class")
    return int(re.search(r"st-key-audit_option-(\d+)-", classes).group(1))


def statuses_in(url):
    return parse_qs(urlsplit(url).query).get("status")


def coded(page, number):
    expect(page.get_by_text(f"{number} of {N_CODED} replies coded", exact=True)).to_be_visible()
    settled(page)


def test_replies_are_coded_with_the_keyboard_alone(page, app, shot):
    keys = prepare(app.database)
    app.start()
    go(page, app, "audit?study=study")
    tab_to(page, ".st-key-audit_draw")
    page.keyboard.press("Enter")
    coded(page, 0)
    shot(page, "1-first-reply")
    for number in range(1, N_CODED + 1):
        trial = trial_on(page)
        page.keyboard.press("n" if number in (7, BACK_AT) else keys[trial])
        coded(page, number)
        if number == BACK_AT:
            page.keyboard.press("Backspace")
            expect(page.get_by_text("You coded this reply")).to_be_visible()
            settled(page)
            page.keyboard.press(keys[trial])
            expect(page.get_by_text("You coded this reply")).to_be_hidden()
            settled(page)
    expect(page.get_by_text("Every reply of this sample is coded")).to_be_visible()
    shot(page, "2-results")
    app.stop()
    workspace = open_workspace(app.database)
    (audit,) = audits.list_audits(workspace, "study")
    frame = audits.codings(workspace, audit)
    (row,) = agreement.results(audits.load_sample(workspace, audit)).frame.to_dict("records")
    workspace.close()
    assert (len(frame), audit.n_coded) == (N_CODED, N_CODED)
    assert frame["agrees"].sum() == N_CODED - 1
    assert row["disagreements"] == 1
    assert row["success"] in (
        1 - 1 / N_CODED,
        1.0,
    )  # the wrong one is a success if it was a refusal


def cell_in(grid, column):
    return grid.locator(f"canvas td[aria-colindex='{column}']").first


def click_first_cell(page, grid):
    """Click the first cell under the header until the grid, which draws itself late, has heard."""
    for _ in range(20):
        grid.locator("canvas").first.click(position={"x": 60, "y": 35 + 17}, force=True)
        page.wait_for_timeout(500)
        if cell_in(grid, 1).get_attribute("aria-selected") == "true":
            return 1
    raise AssertionError("no cell of the table can be chosen")


def test_a_number_in_the_table_of_statuses_opens_its_answers(page, app, shot):
    keys = prepare(app.database)
    refused = sum(key == "x" for key in keys.values())
    app.start()
    go(page, app, "answers?study=study")
    grid = page.locator("[class*='st-key-answers-study-statuses']")
    chosen = click_first_cell(page, grid)
    for column in range(2, 20):
        title = grid.locator(f"canvas th[aria-colindex='{chosen}']").text_content()
        if title == "Refused":
            break
        page.keyboard.press("ArrowRight")
        chosen = column
        expect(cell_in(grid, column)).to_have_attribute("aria-selected", "true")
    for _ in range(10):
        page.wait_for_timeout(1000)  # a choice is sent a moment later, and the page drawn anew
        settled(page)
        if statuses_in(page.url) == ["refused"]:
            break
        for key in ("ArrowLeft", "ArrowRight"):  # the grid forgets what it is told while drawn anew
            page.keyboard.press(key)
            page.wait_for_timeout(1000)
    assert statuses_in(page.url) == ["refused"]
    expect(page.get_by_text(re.compile(f"Rows 1–{refused} of {refused}$"))).to_be_visible()
    shot(page, "filtered")
