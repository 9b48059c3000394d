"""From a published design in six languages to correlations, a scatter, an item, and a file."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from tests.browser.conftest import go, settled
from tests.browser.test_published_designs import choose, freeze_preset, run
from tests.browser.test_way_through import download

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CHECKBOX_OF_FIRST_ROW = {"x": 18, "y": 36 + 17}
STUDY, N_ITEMS, LANGUAGES = "opinions_six_languages", 10, ("en", "es", "fr", "de", "ja", "zh")


def wordings(app):
    """The wordings of each item of the bank of the design, by language."""
    workspace = open_workspace(app.database)
    items = editing.load(workspace, "debates_60").instrument.items
    workspace.close()
    return {item.code: {name: item.text(name) for name in LANGUAGES} for item in items}


def chart(page, words):
    """The chart whose text for screen readers begins with these words."""
    return page.locator(f"[data-testid='stVegaLiteChart'][aria-label^='{words}']")


def open_tab(page, title):
    page.get_by_role("tab", name=title).click()
    page.wait_for_timeout(500)  # its contents are computed when it is opened
    settled(page)


def test_opinions_in_six_languages_from_the_preset_to_a_file(page, app, shot):
    asked = wordings(app)
    app.start()
    freeze_preset(page, app, shot, "Opinions", N_ITEMS, "Simulated person")
    run(page, app, STUDY, "Start", N_ITEMS * len(LANGUAGES) * 2)

    go(page, app, f"languages?study={STUDY}")
    choose(page, "Value of an item", "b: opinion")
    expect(page.get_by_text("Answers used").first).to_be_visible()
    expect(chart(page, "Heat map of correlations between 6 levels")).to_be_visible()
    shot(page, "3-matrix")
    from_page = download(page, "CSV")

    open_tab(page, "Scatter")
    expect(chart(page, "Scatter").first).to_be_visible()
    shot(page, "4-scatter")

    open_tab(page, "Items that differ most")
    table = page.locator("[data-testid='stDataFrame']:visible").first
    table.scroll_into_view_if_needed()
    table.click(position=CHECKBOX_OF_FIRST_ROW, force=True)
    links = page.get_by_role("link", name=re.compile("^Replies in [a-z]{2}$"))
    expect(links).to_have_count(2)
    asked_in = [parse_qs(urlsplit(one.get_attribute("href")).query) for one in links.all()]
    item, pair = asked_in[0]["item"][0], [one["language"][0] for one in asked_in]
    for language in pair:
        wording = page.get_by_text(asked[item][language], exact=True)
        expect(wording.filter(visible=True).first).to_be_visible()
    shot(page, "5-both-wordings")
    links.first.click()
    expect(page.get_by_text("Reply, verbatim")).to_be_visible()
    shown = {}
    for language in pair:
        go(page, app, f"answers?study={STUDY}&item={item}&language={language}")
        expect(page.get_by_text("Reply, verbatim")).to_be_visible()
        expect(page.get_by_text(f"item {item}").first).to_be_visible()
        settled(page)
        shown[language] = page.get_by_test_id("stMain").inner_text()
        shot(page, f"6-item-{language}")
    app.stop()

    replies = replies_to(app, item)
    for language, text in shown.items():
        question, _, pane = text.partition("Reply, verbatim")
        assert asked[item][language] in question
        assert replies[language] in pane.split("\n")[:6]
    command = app.command("analyze", "cross_language", "--study", STUDY, "--option", "measure=b")
    assert from_page == command.stdout
    assert from_page.count(b"\n") == 1 + 15  # a pair of languages in each row


def replies_to(app, item):
    """The first reply on file to an item in each language."""
    workspace = open_workspace(app.database)
    rows = workspace.database.rows(
        "select a.language, arg_min(x.reply, t.ordinal) from trial t join item i using (item_id)"
        " join administration a using (administration_id) join attempt m using (call_id)"
        " join attempt_text x using (attempt_id) where i.code = ? group by 1",
        [item],
    )
    workspace.close()
    return dict(rows)
