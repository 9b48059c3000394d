"""From the page Report to the files: ticked, made, and opened as a reader opens them."""

from __future__ import annotations

import io

import docx
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go

pytestmark = pytest.mark.browser


def test_a_report_is_made_on_the_page_and_both_files_show_it(app, page, shot, tmp_path):
    app.command("sample", "simulated")
    app.start()
    go(page, app, "report?study=sample_simulated")
    page.get_by_text("Exploratory factors").click()
    expect(page.get_by_text("6 analyses. HTML and Word.")).to_be_visible()
    page.get_by_role("textbox", name="Authors").fill("A. <b>Author</b>")
    page.get_by_role("textbox", name="Authors").press("Enter")
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_text("What was left out (")).to_be_visible()
    shot(page, "made")
    files = {}
    for title in ("HTML (", "Word ("):
        with page.expect_download() as started:
            page.get_by_role("button", name=title).click()
        files[title] = tmp_path / started.value.suggested_filename
        started.value.save_as(files[title])
    document = docx.Document(io.BytesIO(files["Word ("].read_bytes()))
    assert document.core_properties.author == "A. <b>Author</b>"

    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(files["HTML ("].as_uri())
    expect(page.get_by_role("heading", name="In short")).to_be_visible()
    expect(page.get_by_role("table", name="Table 1")).to_be_visible()
    assert page.get_by_role("img").count() == 3
    expect(page.get_by_role("heading", name="What was left out")).to_be_visible()
    # a second one stands over the wide tables at the end; both are folded away
    reliability = page.get_by_role("heading", name="Reliability").first
    expect(reliability).to_be_hidden()
    page.get_by_role("link", name="Reliability").first.click()
    expect(reliability).to_be_visible()
    page.reload()
    page.emulate_media(media="print")
    expect(page.locator("h3", has_text="Item statistics").first).to_be_visible()
    page.emulate_media(media="screen")
    assert page.locator("table").count() == len(document.tables)
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 100)")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
