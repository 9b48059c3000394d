"""Two tabs on the same study: pressing Start in both is one run, and every call is made once."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from core.workflow.opening import open_workspace
from tests.browser.conftest import go
from tests.fault_server import FaultServer
from tests.workflow.studies import KEY_VARIABLE, freeze, service

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_start_in_two_tabs_and_the_death_of_the_app_in_between(browser, app, shot):
    with FaultServer(latency_s=0.02) as server:
        workspace = open_workspace(app.database)
        freeze(workspace, service(server.base_url, at_once=2), study="tabs", n_personas=20)
        workspace.close()
        app.environment[KEY_VARIABLE] = server.key
        app.start()
        context = browser.new_context()
        tabs = [context.new_page(), context.new_page()]
        for tab in tabs:
            go(tab, app, "collect?study=tabs")
        buttons = [tab.get_by_role("button", name="Start", exact=True) for tab in tabs]
        for button in buttons:
            button.click(no_wait_after=True)
        expect(tabs[1].get_by_text("of 400 replied").first).to_be_visible()
        ends = time.monotonic() + 60
        while len(server.chats) < 20 and time.monotonic() < ends:
            tabs[1].wait_for_timeout(100)
        app.stop(kill=True)
        asked_before = len(server.chats)
        assert 0 < asked_before < 400
        app.start()
        for tab in tabs:
            go(tab, app, "collect?study=tabs")
        expect(
            tabs[0].get_by_text("Inkblot was closed while it ran this study").first
        ).to_be_visible()
        shot(tabs[0], "interrupted")
        tabs[0].get_by_role("button", name="Continue", exact=True).click()
        go(tabs[1], app, "collect?study=tabs")
        expect(tabs[1].get_by_text("400 of 400 replied").first).to_be_visible(timeout=60_000)
        shot(tabs[1], "finished")
        context.close()
        asked = [repr(seen.body["messages"]) for seen in server.chats]
    app.stop()
    assert len(set(asked)) == 400
    in_flight_when_killed = 2
    unwritten_when_killed = 150  # of the last second, at most
    assert len(asked) <= 400 + in_flight_when_killed + unwritten_when_killed
    workspace = open_workspace(app.database)
    assert workspace.database.row("select count(*) from response") == (400,)
    workspace.close()
