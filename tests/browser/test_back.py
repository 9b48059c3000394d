"""Back in the browser leads to the page as it was left: analysis, options and tab."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
STUDY = "sample_simulated"


def test_back_returns_to_the_analysis_the_options_and_the_tab(app, page):
    app.command("sample", "simulated")
    app.start()
    go(page, app, f"reliability?study={STUDY}&analysis=internal_consistency")
    tab = page.get_by_role("tab", name="Method")
    level = page.get_by_role("spinbutton", name="Confidence level")
    level.fill("0.9")
    level.press("Enter")
    settled(page)
    tab.click()
    settled(page)
    expect(tab).to_have_attribute("aria-selected", "true")
    steps = page.evaluate("history.length")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Answers", exact=True).click()
    expect(page.get_by_role("heading", name="Answers", level=1)).to_be_visible()
    settled(page)
    assert page.evaluate("history.length") == steps + 1
    page.go_back()
    expect(page).to_have_url(re.compile("/reliability.*analysis=internal_consistency"))
    expect(page.get_by_role("heading", name="Reliability", level=1)).to_be_visible()
    settled(page)
    expect(level).to_have_value("0.90")
    expect(tab).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("known", ["&analysis=internal_consistency", ""], ids=["other", "further"])
def test_parameters_that_come_before_the_name_of_their_page_are_no_step_of_their_own(
    app, page, known
):
    app.start()
    go(page, app, "glossary")
    page.wait_for_function("window.inkblotHistory")  # the side of the page is at work
    settled(page)
    start, end = f"reliability?study=a{known}", "factors?study=a&analysis=cfa"
    place, steps = page.evaluate(
        """([start, early, end]) => {
          history.pushState({}, "", start);
          const before = history.length;
          history.pushState({}, "", early);
          history.pushState({}, "", end);
          return [location.href, history.length - before];
        }""",
        [f"/{start}", f"/reliability?{end.partition('?')[2]}", f"/{end}"],
    )
    assert (place, steps) == (f"{app.url}/{end}", 1)
    page.go_back()
    expect(page).to_have_url(f"{app.url}/{start}")
