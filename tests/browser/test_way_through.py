"""From the start page to a CSV file, as a researcher would."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def run_sample(page, app, shot, kind, seconds):
    go(page, app)
    shot(page, "1-home")
    page.get_by_role("button", name=f"Run it on {kind}").click()
    expect(page.get_by_text("The sample study is done")).to_be_visible(timeout=seconds * 1000)
    finished = r"^\d+ (answers, all|of \d+ replied, \d+ of \d+) usable, finished$"
    n_replies = page.get_by_text(re.compile(finished)).inner_text().split()[0]
    figure = page.get_by_test_id("stMetric").filter(has_text="Replies")
    expect(figure.get_by_test_id("stMetricValue")).to_have_text(n_replies)
    expect(page.get_by_text("no reply yet")).to_have_count(0)
    shot(page, "2-done")


def download(page, name):
    with page.expect_download() as started:
        page.get_by_role("button", name=name, exact=True).first.click()
    return started.value.path().read_bytes()


def statistics_csv(page, app, shot, study):
    go(page, app, f"item_statistics?study={study}")
    expect(page.get_by_text("Scored answers used").first).to_be_visible()
    settled(page)
    shot(page, "3-item-statistics")
    return download(page, "CSV")


def test_sample_study_on_simulated_people_from_home_to_csv(page, app, shot):
    app.start()
    run_sample(page, app, shot, "simulated people", 60)
    from_page = statistics_csv(page, app, shot, "sample_simulated")
    for analysis in ("internal_consistency", "score_distribution", "option_distribution"):
        go(page, app, f"item_statistics?study=sample_simulated&analysis={analysis}")
        expect(page.get_by_text(re.compile("(Scored a|A)nswers used")).first).to_be_visible()
        shot(page, f"4-{analysis}")
    go(page, app, "answers?study=sample_simulated")
    shot(page, "5-answers")
    app.stop()
    from_command = app.command("analyze", "item_statistics", "--study", "sample_simulated").stdout
    assert from_page == from_command
    assert from_page.count(b"\n") == 21


@pytest.mark.local_model
def test_sample_study_on_the_local_model_from_home_to_csv(page, app, shot):
    app.start()
    run_sample(page, app, shot, "the local model", 400)
    from_page = statistics_csv(page, app, shot, "sample_local")
    expect(page.get_by_text("Local model").first).to_be_visible()
    app.stop()
    from_command = app.command("analyze", "item_statistics", "--study", "sample_local").stdout
    assert from_page == from_command


def test_a_run_goes_on_when_the_browser_is_closed_and_shows_in_another_tab(
    browser, page, app, shot
):
    app.start()
    go(page, app)
    page.get_by_role("button", name="Run it on simulated people").click()
    page.get_by_text("of 500 replied").first.wait_for()
    page.context.close()
    later = browser.new_context().new_page()
    go(later, app, "collect?study=sample_simulated")
    expect(later.get_by_text("500 of 500").first).to_be_visible(timeout=60_000)
    shot(later, "collect")
    later.context.close()
