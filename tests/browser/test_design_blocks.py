"""A design of two blocks with an own template: drawn in the browser, then loaded from its files."""

from __future__ import annotations

import re
import shutil

import pytest
from playwright.sync_api import expect

from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from tests.browser.conftest import go, settled
from tests.browser.test_published_designs import choose
from tests.browser.test_way_through import download

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

OWN = "Say whether you agree: {item}\n\n{options}\n\n{reply}"


def sent(page):
    page.wait_for_timeout(500)  # a change is sent a moment later
    settled(page)


def typed(page, field, text):
    field.fill(text)
    field.press("Control+Enter" if "\n" in text else "Enter")
    sent(page)


def upload(page, label, file):
    page.get_by_test_id("stFileUploader").filter(has_text=label).locator("input").set_input_files(
        file
    )
    sent(page)


def write_template(page, app, shot):
    go(page, app, "templates")
    page.get_by_role("button", name="New").click()
    title = page.get_by_role("textbox", name="Title").last
    typed(page, title, "Mine")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("Mine is saved.")).to_be_visible()
    typed(page, page.get_by_role("textbox", name="Question with one item").first, OWN)
    page.get_by_role("button", name="Save as a version").click()
    expect(page.get_by_text("is saved as version")).to_be_visible()
    shot(page, "1-template")
    page.get_by_role("tab", name="Files").click()
    sent(page)
    return download(page, "This template (YAML)")


def draw(page, app, shot):
    """Three of four cells of form and order, one block with two numbers of items per call."""
    go(page, app, "design")
    choose(page, re.compile("^Bank"), "policy_60")
    typed(page, page.get_by_role("textbox", name="Name of the study"), "drawn")
    choose(page, re.compile("^Respondents"), "Simulated person", several=True)
    page.get_by_text("Wording", exact=True).click()
    choose(page, re.compile("^Forms"), "negation", several=True)
    choose(page, re.compile("^Order of the options"), "inverted", several=True)
    choose(page, re.compile("^Prompt templates"), "Mine", several=True)
    page.get_by_text("Blocks", exact=True).click()
    expect(page.get_by_text("All chosen levels are crossed")).to_be_visible()
    shot(page, "2-before")
    page.get_by_role("button", name="Leave out cells").click()
    page.get_by_role("checkbox", name="negation, inverted").uncheck(force=True)
    expect(page.get_by_text("3 cells of 4: 2 blocks.")).to_be_visible()
    page.get_by_role("button", name="Write the blocks").click()
    sent(page)
    page.keyboard.press("Escape")
    name = page.get_by_role("textbox", name="Name of the block")
    typed(page, name, "original, both orders")
    choose(page, re.compile("^Different in this block"), "Repetitions", several=True)
    block = page.get_by_role("spinbutton", name="Repetitions").last
    typed(page, block, "2")
    shot(page, "3-blocks")
    # two templates, 60 items: originals in two orders and twice, negations once
    expect(page.get_by_text("2 blocks = ")).to_contain_text("600 calls")


def test_a_design_of_two_blocks_and_an_own_template_comes_back_with_the_same_hash(
    page, app, shot, tmp_path
):
    app.start()
    template, design = tmp_path / "template.yaml", tmp_path / "design.yaml"
    template.write_bytes(write_template(page, app, shot))
    draw(page, app, shot)
    page.get_by_role("button", name="Freeze the design").click()
    expect(page.get_by_text("drawn is frozen: 600 trials")).to_be_visible()
    shot(page, "4-frozen")
    design.write_bytes(download(page, "Design (YAML)"))
    app.stop()
    shutil.move(app.database, tmp_path / "first.duckdb")

    app.start()
    go(page, app, "templates")
    page.get_by_role("tab", name="Files").click()
    upload(page, "A file of templates", template)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Imported: mine.")).to_be_visible()
    go(page, app, "design")
    page.get_by_text("Start from a file or with an empty design").click()
    upload(page, "A design saved from this page", design)
    page.get_by_role("button", name="Use this design").click()
    expect(page.get_by_text("2 blocks = ")).to_contain_text("600 calls")
    shot(page, "5-loaded")
    page.get_by_role("button", name="Freeze the design").click()
    expect(page.get_by_text("drawn is frozen: 600 trials")).to_be_visible()
    app.stop()

    hashes = []
    for database in (tmp_path / "first.duckdb", app.database):
        workspace = open_workspace(database)
        hashes.append(studies.load(workspace, "drawn").plan_hash)
        workspace.close()
    assert hashes[0] == hashes[1]
