"""From a mark of a chart to the replies behind it, by a click."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_click_on_a_mark_leads_to_the_replies_of_its_item(app, page, shot):
    app.command("sample", "simulated")
    app.start()
    go(page, app, "item_statistics?study=sample_simulated&analysis=item_statistics")
    points = page.get_by_test_id("stVegaLiteChart").first.locator("g.mark-symbol.role-mark path")
    expect(points.first).to_be_visible()
    expect(page.get_by_text("Click a mark to read the replies behind it.")).to_be_visible()
    settled(page)
    points.first.click(force=True)
    link = page.get_by_role("link", name=re.compile("Replies behind the mark: .*"))
    expect(link).to_be_visible()
    shot(page, "mark_chosen")
    item = link.inner_text().split(", ")[-1].strip()
    link.click()
    expect(page).to_have_url(re.compile(rf"/answers\?.*item={item}"))
    settled(page)
    expect(page.get_by_role("heading", name="Answers", level=1)).to_be_visible()
