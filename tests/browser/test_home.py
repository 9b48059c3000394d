"""What a person does with studies on Home, by mouse and keyboard, and what is then on file."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError, expect

from core.workflow import shelf
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from tests.browser.conftest import PATIENCE_MS, go, settled
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def two_studies(app):
    workspace = open_workspace(app.database)
    for study in ("first", "second"):
        freeze(workspace, simulated(), study=study, n_personas=1)
        control.start(workspace, study)
        control.wait(workspace, study, every_s=0.05)
    workspace.close()
    app.start()


def choose(page, study, change):
    """Open the menu of a study, and take a line of it, once the page is at rest."""
    settled(page)
    button = page.locator(f".st-key-more-{study}").get_by_role("button").first
    line = page.get_by_role("menuitem", name=change).or_(page.get_by_role("option", name=change))
    for _ in range(3):  # a page that is drawn anew at this moment closes the menu
        button.click()
        with suppress(TimeoutError):
            line.wait_for(timeout=PATIENCE_MS / 6)
            break
    line.click()
    settled(page)


def test_a_study_is_renamed_deleted_brought_back_and_its_design_copied(
    page, app, two_studies, shot
):
    go(page, app)
    choose(page, "first", "Rename")
    field = page.get_by_label("New name of first", exact=True)
    field.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Honesty <b>again</b>")
    page.keyboard.press("Enter")
    listed = page.locator(".st-key-studies")
    expect(listed.get_by_role("link", name="Honesty <b>again</b>")).to_be_visible()
    expect(listed.get_by_text("In files: first.").first).to_be_visible()

    choose(page, "second", "Delete")
    expect(page.get_by_text("second is deleted.")).to_be_visible()
    expect(listed.get_by_role("link", name="second", exact=True)).to_have_count(0)
    shot(page, "1-deleted")
    page.get_by_role("button", name="Undo").click()
    expect(listed.get_by_role("link", name="second", exact=True)).to_be_visible()

    choose(page, "second", "Archive")
    expect(listed.get_by_role("link", name="second", exact=True)).to_have_count(0)
    page.reload()
    settled(page)
    page.get_by_text("Archived and deleted: 1 study").click()
    expect(page.get_by_role("button", name="Bring back")).to_be_visible()
    shot(page, "2-archived")
    go(page, app, "answers?study=second")
    expect(page.get_by_text("The study second was archived.")).to_be_visible()
    expect(page.get_by_label("Study", exact=True)).to_have_value("Honesty <b>again</b>")

    go(page, app)
    choose(page, "first", "Use its design")
    expect(page.get_by_label("Name of the study", exact=True)).to_have_value("first_2")
    app.stop()
    workspace = open_workspace(app.database)
    assert [(one.code, one.place) for one in shelf.put_away(workspace)] == [("second", "archived")]
    workspace.close()


def test_a_question_in_plain_words_opens_the_analysis_that_answers_it(page, app, two_studies, shot):
    go(page, app)
    page.get_by_role("link", name="Do the items measure the same thing?").click()
    expect(page.get_by_role("heading", name="Reliability")).to_be_visible()
    expect(page.get_by_text("Internal consistency").first).to_be_visible()
    settled(page)
    shot(page, "3-answer")
    page.get_by_text("Score correlations", exact=True).click()
    expect(page.get_by_text("Do scores keep their order")).to_be_visible()
    settled(page)
    study = page.get_by_label("Study", exact=True)
    study.click()
    page.get_by_role("option", name="first").click()
    expect(study).to_have_value("first")
    expect(page).to_have_url(re.compile("study=first"))  # the choice is a step once it is there
    settled(page)

    page.go_back()  # each choice and each page is one step
    expect(study).to_have_value("second")
    expect(page.get_by_text("Do scores keep their order")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_text("Do the items of each subscale hang together?")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    settled(page)
    page.go_forward()
    expect(page.get_by_text("Do the items of each subscale hang together?")).to_be_visible()
    expect(study).to_have_value("second")
