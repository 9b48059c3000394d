"""From a study of words by simulated people to top words, stories, a judge, and the curve."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled
from tests.browser.test_languages import chart
from tests.browser.test_published_designs import choose, freeze_preset, run
from tests.browser.test_way_through import download

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

PERSON = "Simulated person"
N_WORDS, SIZE, GROUPS = 40, 5, 3
N_STORIES = (SIZE + 1) * GROUPS


def design_and_run(page, app, bank):
    """From the link on the page Texts to a finished study of the bank."""
    page.get_by_role("link", name="Design a study").click()
    expect(
        page.get_by_text(re.compile("A design for the prompts of|now ask the prompts"))
    ).to_have_count(1)
    settled(page)
    use = page.get_by_role("button", name="Use this design")
    if use.count():
        use.click()
        expect(page.get_by_text("now ask the prompts")).to_be_visible()
    choose(page, re.compile("^Respondents"), PERSON, several=True)
    page.get_by_role("button", name="Freeze the design").click()
    expect(page.get_by_text(" is frozen: ").first).to_be_visible()
    run(page, app, bank, "Start", N_STORIES)


def test_words_of_simulated_people_become_stories_whose_ratings_follow_them(page, app, shot):
    app.start()
    freeze_preset(page, app, shot, "Words by first reaction, English", N_WORDS, PERSON)
    run(page, app, "words_english", "Start", 2 * N_WORDS)
    go(page, app, "words?study=words_english")
    expect(page.get_by_text("Answers used").first).to_be_visible()
    page.get_by_role("tab", name="Top words").click()
    shot(page, "top-words")

    go(page, app, "texts")
    page.get_by_text("A word study", exact=True).click()
    settled(page)
    choose(page, "Word study", "words_english")
    choose(page, "Respondent", PERSON)
    expect(
        page.get_by_text(re.compile(rf"Of {N_WORDS} words, \d+ are consistently"))
    ).to_be_visible()
    field = page.get_by_role("spinbutton", name="Groups for each count")
    field.fill(str(GROUPS))
    field.press("Enter")
    page.wait_for_timeout(500)
    settled(page)
    page.get_by_role("button", name="Make the prompts").last.click()
    expect(page.get_by_text(f"holds {N_STORIES} prompts")).to_be_visible()
    design_and_run(page, app, "stories")

    go(page, app, "texts?step=judge")
    page.get_by_role("button", name="Make the judge's bank").click()
    expect(page.get_by_text(f"asks a judge to rate {N_STORIES} texts")).to_be_visible()
    design_and_run(page, app, "judge_stories")

    go(page, app, "words?study=judge_stories&analysis=story_validity")
    expect(chart(page, "Mean rating by negative words")).to_be_visible()
    expect(page.get_by_text("Tragedy rises with negative words").first).to_be_visible()
    settled(page)
    shot(page, "curve")
    from_page = download(page, "CSV")
    app.stop()
    command = app.command("analyze", "story_validity", "--study", "judge_stories")
    assert from_page == command.stdout
    assert from_page.count(b"\n") == 1 + 2 * 2  # two qualities, with means and single stories
