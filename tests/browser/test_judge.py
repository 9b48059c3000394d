"""From unclear replies on Audit to the codings of a judge in the data, and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.answers import browsing, judging
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.browser.conftest import go, settled
from tests.browser.test_published_designs import choose
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PERSON = "Second opinion"
UNREAD = "update response set status = 'ambiguous', option = null where option = '4'"


def prepare(database):
    """A finished study with unclear replies: their number, and the calls that they take."""
    workspace = open_workspace(database)
    freeze(workspace, simulated(seed=3), n_personas=2)
    catalog.save(workspace, simulated(PERSON, seed=9))
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.05)
    with workspace.database.transaction() as cursor:
        cursor.execute(UNREAD)
    planned = judging.plan(workspace, "study", PERSON)
    workspace.close()
    return planned.n_replies, planned.size.calls


def test_a_judge_decides_unclear_replies_and_is_undone(page, app, shot):
    n, calls = prepare(app.database)
    app.start()
    go(page, app, "audit?study=study")
    page.get_by_role("tab", name="Judge").click()
    choose(page, "Judge", PERSON)
    expect(page.get_by_text(f"{calls} calls", exact=True)).to_be_visible()
    page.get_by_role("button", name="Make the study of the judge").click()
    expect(page.get_by_text("The study judge_study is ready")).to_be_visible()
    page.get_by_role("link", name="Go to Collect").first.click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text(f"{calls} of {calls} replied").first).to_be_visible()
    go(page, app, "audit?study=study")
    page.get_by_role("tab", name="Judge").click()
    shot(page, "2-decided")
    page.get_by_role("button", name=f"Take over (n = {n})").click()
    undo = page.get_by_role("button", name=f"Undo (n = {n})")
    expect(undo).to_be_enabled()
    expect(page.get_by_text(f"{n} replies are as this judge coded them.")).to_be_visible()
    undo.click()
    expect(page.get_by_role("button", name=f"Take over (n = {n})")).to_be_enabled()
    settled(page)
    app.stop()
    workspace = open_workspace(app.database)
    kept = workspace.database.rows(
        "select cause, layer, judge, count(*) from recoding group by all"
    )
    assert ("undo", "judge", PERSON, n) in kept
    assert browsing.status_tally(workspace, "study", {}, "")["ambiguous"] == n
    workspace.close()
