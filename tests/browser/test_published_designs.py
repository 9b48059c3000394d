"""Two published designs, shortened, from the list of presets to coded answers, in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.respondents.catalog import LOCAL
from tests.browser.conftest import go, settled
from tests.fault_server import FaultServer
from tests.workflow.designs.test_presets_asked import willing
from tests.workflow.studies import KEY_VARIABLE, service

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def choose(page, label, option, *, several=False):
    """One option of a selectbox or a multiselect, by typing its name."""
    box = page.get_by_role("combobox", name=label)
    box.click()
    box.press_sequentially(option, delay=20)
    page.get_by_role("option", name=option).first.click()
    if several:
        page.keyboard.press("Escape")
    page.wait_for_timeout(500)  # the choice is sent a moment later, and moves what stands below
    settled(page)


def freeze_preset(page, app, shot, title, items, respondent):
    go(page, app, "design")
    choose(page, re.compile("Start from a published design"), title)
    page.get_by_text("Use a short variant for a test run").click()
    settled(page)
    field = page.get_by_role("spinbutton", name="Number of items, from the top")
    field.fill(str(items))
    field.press("Enter")
    page.wait_for_timeout(500)  # the change is sent a moment later
    settled(page)
    page.get_by_role("button", name="Use this design").click()
    expect(page.get_by_text("The choices below now hold the design.")).to_be_visible()
    expect(page.get_by_text(f"{items} items ×").first).to_be_visible()
    choose(page, re.compile("^Respondents"), respondent, several=True)
    shot(page, "1-design")
    page.get_by_role("button", name="Freeze the design").click()
    expect(page.get_by_text(" is frozen: ").first).to_be_visible()
    shot(page, "2-frozen")


def run(page, app, study, button, done):
    go(page, app, f"collect?study={study}")
    page.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_text(f"{done} of {done} replied").first).to_be_visible(timeout=120_000)
    expect(page.get_by_text("finished").first).to_be_visible()


def counted(app):
    workspace = open_workspace(app.database)
    rows = workspace.database.rows(
        "select a.phase, r.status, count(*) from response r join trial t using (trial_id)"
        " join administration a using (administration_id) group by all order by all"
    )
    workspace.close()
    return rows


def test_opinions_in_six_languages_in_both_phases_by_a_service(page, app, shot):
    with FaultServer(script=willing) as server:
        workspace = open_workspace(app.database)
        catalog.save(workspace, service(server.base_url))
        workspace.close()
        app.environment[KEY_VARIABLE] = server.key
        app.start()
        freeze_preset(page, app, shot, "Opinions", 3, "Service")
        study = "opinions_six_languages"
        run(page, app, study, "Start", 36)
        expect(page.get_by_text("All have a reply.")).to_be_visible()  # drawn anew at the end
        settled(page)
        page.get_by_text("Add a second phase: does the model change its opinion?").click()
        page.wait_for_timeout(500)  # it opens by and by
        settled(page)
        page.get_by_role("button", name="Plan 36 more questions").click()
        expect(page.get_by_text("36 with the opposite opinion")).to_be_visible()
        run(page, app, study, "Continue", 72)
        shot(page, "3-both-phases")
        go(page, app, f"answers?study={study}")
        shot(page, "4-answers")
    app.stop()
    assert counted(app) == [("initial", "answered", 36), ("opposing", "answered", 36)]


@pytest.mark.local_model
def test_words_by_first_reaction_by_the_local_model(page, app, shot):
    app.start()
    freeze_preset(page, app, shot, "Words by first reaction, English", 8, LOCAL.label)
    run(page, app, "words_english", "Start", 16)
    go(page, app, "answers?study=words_english")
    shot(page, "3-answers")
    app.stop()
    rows = counted(app)
    assert sum(count for _, _, count in rows) == 16
    assert ("initial", "answered", 16) in rows  # held to the two words
