"""From Home to an analysis by the search box, with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
STUDY = "sample_simulated"
NEWER = "item,answer\nq1,1\nq2,2\n"


@pytest.fixture
def home(app, page, tmp_path):
    """Home in a session that last looked at the older of two studies."""
    app.command("sample", "simulated")
    (tmp_path / "newer.csv").write_text(NEWER, encoding="utf-8")
    app.command("import", str(tmp_path / "newer.csv"))
    app.start()
    go(page, app, f"answers?study={STUDY}")
    for _ in range(5):  # the search box is one of the first things that Tab reaches
        page.keyboard.press("Tab")
        if box(page).evaluate("element => element === document.activeElement"):
            break
    expect(box(page)).to_be_focused()
    page.get_by_role("link", name="Home", exact=True).click()
    expect(page.get_by_role("heading", name="Inkblot")).to_be_visible()
    settled(page)
    return page


def box(page):
    return page.get_by_role("searchbox", name="Search", exact=True)


def to_the_box(page):
    """Press Ctrl+K, which works as soon as the page is alive."""
    for _ in range(40):
        page.keyboard.press("Control+k")
        if box(page).evaluate("element => element === document.activeElement"):
            return
        page.wait_for_timeout(250)
    raise AssertionError("Ctrl+K does not lead to the search box")


def arrives(page, name, analysis):
    expect(page).to_have_url(re.compile(rf"/{name}\?.*analysis={analysis}"))
    expect(page).to_have_url(re.compile(rf"study={STUDY}"))
    settled(page)


def test_words_lead_to_their_analysis_by_keyboard_and_the_study_stays(home):
    page = home
    steps = page.evaluate("history.length")
    to_the_box(page)
    page.keyboard.type("CFA")
    page.keyboard.press("Enter")
    arrives(page, "factors", "cfa")
    expect(page.get_by_role("heading", name="Factor models")).to_be_visible()
    expect(box(page)).to_have_value("")
    to_the_box(page)
    page.keyboard.type("alpha")
    page.keyboard.press("Enter")
    arrives(page, "reliability", "internal_consistency")
    # another analysis of the same page, by the list of what is found
    to_the_box(page)
    page.keyboard.type("language correlation")
    first = page.get_by_test_id("stSidebar").get_by_role("link").first
    expect(first).to_contain_text("Score correlations")
    for _ in range(3):
        page.keyboard.press("Tab")
        if first.evaluate("element => element === document.activeElement"):
            break
    page.keyboard.press("Enter")
    arrives(page, "reliability", "score_correlations")
    chosen = page.get_by_role("radio", name="Score correlations")
    expect(chosen).to_be_checked()
    assert page.evaluate("history.length") == steps + 3
    page.go_back()
    arrives(page, "reliability", "internal_consistency")
    page.go_back()
    arrives(page, "factors", "cfa")


def test_what_somebody_wants_to_do_a_question_and_a_study_are_proposed_while_typing(home):
    page = home
    hits = page.get_by_test_id("stSidebar").locator(".st-key-search_hits").get_by_role("link")
    to_the_box(page)
    page.keyboard.type("make a rep")
    expect(hits.first).to_contain_text("Make a report")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/report\?"))
    settled(page)
    to_the_box(page)
    page.keyboard.type("weak items")
    expect(hits.first).to_contain_text("Which items are weak?")
    page.keyboard.press("Enter")
    arrives(page, "item_statistics", "item_statistics")
    to_the_box(page)
    page.keyboard.type("newer")
    expect(hits.first).to_contain_text("newer")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/answers\?.*study=newer"))


def test_on_a_phone_the_pages_are_folded_and_the_search_works(app, browser):
    app.command("sample", "simulated")
    app.start()
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    go(page, app)
    expect(box(page)).not_to_be_in_viewport()
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(box(page)).to_be_in_viewport()
    box(page).fill("kappa")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Audit").first.click()
    expect(page.get_by_role("heading", name="Audit", level=1)).to_be_in_viewport()
    expect(box(page)).not_to_be_in_viewport()  # the menu no longer lies over the page
    page.context.close()
