"""A prompt template is written, seen, tested, saved and restored in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from core.workflow.templates import editing
from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_template_is_written_previewed_tested_saved_and_restored(page, app, shot):
    app.start()
    go(page, app, "templates?template=conversation")
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    message = page.get_by_text("Options:").last
    expect(message).to_be_in_viewport()
    shot(page, "1-first-screen")
    text = page.get_by_role("textbox", name="Question with one item")
    text.fill("Which letter fits you best? {reply}\n\n{options}\n\n")
    text.press("Tab")
    expect(page.get_by_text("{item} is missing")).to_be_visible()
    page.get_by_role("button", name="{item}").first.click()
    expect(page.get_by_text("Which letter fits you best? Reply with its code")).to_be_visible()
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("Reply, after")).to_be_visible()
    shot(page, "2-tested")
    page.get_by_role("button", name="Save as a version").click()
    expect(page.get_by_text("conversation is saved as version 1.")).to_be_visible()
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_text("is again the template that comes with Inkblot")).to_be_visible()
    settled(page)
    expect(text).not_to_have_value("Which letter fits you best? {reply}\n\n{options}\n\n{item}")
    shot(page, "3-restored")
    app.stop()
    workspace = open_workspace(app.database)
    assert [one.number for one in editing.versions(workspace, "conversation")] == [0, 1, 2]
    workspace.close()
