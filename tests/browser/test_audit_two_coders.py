"""Two coders in two browsers code the same replies, one adjudicates, all by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.answers import audits
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import PATIENCE_MS, go, settled
from tests.browser.test_keyboard import tab_to
from tests.workflow.answers.test_audits import ANNA, BEN, KAPPA
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

KEYS = {"refused": "x", "neutral": "n"}
NOTE = "not sure: x or 1, n = 2"  # its letters are keys of codes


def prepare(database):
    """A sample of ten replies of one model, and their trials in the order of coding."""
    workspace = open_workspace(database)
    freeze(workspace, simulated(refusal_rate=0.2, seed=3), n_personas=1)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    audit = audits.draw_audit(workspace, "study", seed=1, per_model=10)
    trials = audits.load_sample(workspace, audit).trials
    workspace.close()
    return trials


@pytest.fixture
def second_page(browser):
    """A page of another browser session."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    found = context.new_page()
    found.set_default_timeout(PATIENCE_MS)
    yield found
    context.close()


def coded(page, number):
    expect(page.get_by_text(f"{number} of 10 replies coded", exact=True)).to_be_visible()
    settled(page)


def code_all(page, trials, codes, *, note_at=None):
    for number, (trial, code) in enumerate(zip(trials, codes, strict=True), start=1):
        button = page.locator(f"[class*='st-key-audit_option-{trial}-']")
        expect(button.first).to_be_visible()
        settled(page)
        if number == note_at:
            tab_to(page, "textarea")
            page.keyboard.type(NOTE)
            page.keyboard.press("Tab")
            settled(page)
            coded(page, number - 1)
        page.keyboard.press(KEYS.get(code, code))
        coded(page, number)


def open_tab(page, name):
    """Open a tab of the page with the arrow keys."""
    tab_to(page, "[role='tab'][aria-selected='true']")
    for _ in range(4):
        if page.locator("[role='tab']:focus").inner_text() == name:
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("[role='tab'][aria-selected='true']")).to_have_text(name)
    settled(page)


def test_two_coders_code_alone_and_differences_are_adjudicated(page, second_page, app, shot):
    trials = prepare(app.database)
    app.start()
    go(page, app, "audit?study=study&coder=Anna")
    code_all(page, trials, ANNA, note_at=3)
    expect(page.get_by_text("Every reply of this sample is coded")).to_be_visible()

    go(second_page, app, "audit?study=study")
    tab_to(second_page, "[aria-label^='Selected Coder 1'], .stSelectbox input[aria-label*='Coder']")
    second_page.keyboard.press("ControlOrMeta+a")
    second_page.keyboard.type("Ben")
    second_page.keyboard.press("Enter")
    expect(second_page.get_by_text("Anna: 10 of 10")).to_be_visible()
    settled(second_page)
    expect(second_page.get_by_text("kappa")).to_have_count(0)  # Ben has coded nothing yet
    second_page.keyboard.press("Escape")
    code_all(second_page, trials, BEN)
    text = f"Anna and Ben: kappa {KAPPA:.2f}"
    expect(second_page.get_by_text(text)).to_be_visible()

    second_page.reload()  # the name stands in the address
    settled(second_page)
    open_tab(second_page, "Adjudicate")
    expect(second_page.get_by_text("0 of 3 replies on which coders differ")).to_be_visible()
    codes = second_page.locator(".st-key-audit_codes")
    expect(codes).to_contain_text("Anna")
    expect(codes).to_contain_text("1 (answered)")
    expect(codes).to_contain_text("2 (answered)")
    expect(codes).to_contain_text(NOTE)
    shot(second_page, "1-adjudicate")
    for number, key in enumerate(("1", "m", "x"), start=1):
        second_page.keyboard.press(key)
        expect(second_page.get_by_text(f"{number} of 3 replies on which")).to_be_visible()
        settled(second_page)
    second_page.keyboard.press("Backspace")  # the last decision was wrong
    expect(second_page.get_by_text("Ben decided: refused")).to_be_visible()
    settled(second_page)
    second_page.keyboard.press("n")
    expect(
        second_page.get_by_text("Every reply on which coders differ has a final")
    ).to_be_visible()
    settled(second_page)

    open_tab(second_page, "Replies")
    expect(second_page.locator(".st-key-audit_take button").first).to_be_visible()
    settled(second_page)
    shot(second_page, "2-replies")
    tab_to(second_page, ".st-key-audit_take")
    second_page.keyboard.press("Enter")
    expect(second_page.locator(".st-key-audit_take button").first).to_be_disabled()
    settled(second_page)
    open_tab(second_page, "Agreement")
    expect(second_page.get_by_text("How often coders agree")).to_be_visible()
    settled(second_page)
    shot(second_page, "3-agreement")
    app.stop()

    workspace = open_workspace(app.database)
    (audit,) = audits.list_audits(workspace, "study")
    sample = audits.load_sample(workspace, audit)
    workspace.close()
    assert sample.coders == ("Anna", "Ben")
    assert sample.notes == {(trials[2], "Anna"): NOTE}
    final = [*ANNA[:5], "ambiguous", *ANNA[6:8], "neutral", *ANNA[9:]]
    for trial, code in zip(trials, final, strict=True):
        assert sample.data(trial).kind[1] == code
    assert {one["adjudicator"] for one in sample.adjudications.values()} == {"Ben"}
