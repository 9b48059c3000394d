"""A new user loads the sample studies by one click, and walks through every page that analyzes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.workflow.guide import STEPS
from core.workflow.statistics import analyses
from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RED = "[data-testid='stAlertContentError'], [data-testid='stException']"
TO_SEE = "[data-testid='stVegaLiteChart'], [data-testid='stDataFrame']"
TOPICS = tuple(dict.fromkeys(analysis.topic for analysis in analyses.all_analyses()))


def walk_with_the_guide(page, shot):
    """Every step has what it speaks of on its page, in view; Back and a reload keep the step."""
    page.get_by_role("button", name="Show me around").click()
    for number, step in enumerate(STEPS, 1):
        expect(page.get_by_text(f"Tour, step {number} of {len(STEPS)}")).to_be_visible()
        expect(page.locator(step.shows).first).to_be_in_viewport()
        expect(page.get_by_text(step.words)).to_be_visible()
        settled(page)
        shot(page, f"step-{number}")
        if number == 3:
            page.reload()
            expect(page.get_by_text(f"Tour, step 3 of {len(STEPS)}")).to_be_visible()
            page.go_back()
            expect(page.get_by_text(f"Tour, step 2 of {len(STEPS)}")).to_be_visible()
            page.go_forward()
            expect(page.get_by_text(f"Tour, step 3 of {len(STEPS)}")).to_be_visible()
            settled(page)
        if number < len(STEPS):
            page.locator(".st-key-guide_next a").click()
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_text("Tour, step")).to_have_count(0)
    assert "guide" not in page.url


def test_no_page_of_the_tour_is_red_and_a_grey_one_leads_to_numbers(page, app, shot):
    app.start()
    go(page, app)
    page.get_by_role("button", name="Load the sample studies").click()
    expect(page.get_by_text("The sample studies are loaded.")).to_be_visible(timeout=120_000)
    shot(page, "home")
    walk_with_the_guide(page, shot)
    led = []
    for topic in TOPICS:
        go(page, app, f"{topic}?study=sample_scale")
        see = page.get_by_role("button", name="See it with")
        result = page.locator("[class*='st-key-result']")
        expect(result.locator(TO_SEE).or_(see).first).to_be_visible()
        if see.count():
            led.append(topic)
            see.click()
            expect(result.locator(TO_SEE).first).to_be_visible()
            settled(page)
            shot(page, topic)
        assert page.locator(RED).count() == 0, topic
    assert {"words", "worldview", "consistency"} <= set(led)
