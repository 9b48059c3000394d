"""The editor of factor models in a real browser: presses, keys, drag, and what they change."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from playwright.sync_api import expect

from core.analysis.kit.factor_models import editing
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, factor_models
from tests.browser.conftest import go
from tests.workflow.studies import freeze, simulated

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

CHANGE = ".st-key-model_change"
SLOW_MS = 120_000  # what a fit may take on a busy machine
FOCUSED = "document.activeElement.shadowRoot?.activeElement?.getAttribute('aria-label')"


@pytest.fixture
def collected(app):
    """A running app with a study of 60 personas that answered 20 items."""
    workspace = open_workspace(app.database)
    freeze(workspace, simulated(seed=3), n_personas=60)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    workspace.close()
    app.start()
    return app


def factors(page, app):
    page.set_viewport_size({"width": 1280, "height": 800})
    go(page, app, "factors?study=study&analysis=cfa")
    expect(cell(page, "Take nature_01 off nature")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").first).to_be_visible(timeout=SLOW_MS)


def cell(page, words):
    return page.get_by_role("button", name=words, exact=True)


def change(page):
    """What the edit changes, as its sentence says."""
    return page.locator(CHANGE)


def said(page):
    return page.locator("[data-part='said']")


def on_the_command_line(app, models, folder):
    """The tables of cfa_comparison of these models as the command line writes them."""
    out = folder / "comparison.zip"
    app.command(
        "analyze",
        "cfa_comparison",
        "--study",
        "study",
        "--out",
        str(out),
        "--option",
        f"models={models}",
    )
    with zipfile.ZipFile(out) as archive:
        names = {name.removesuffix(".csv"): name for name in archive.namelist()}
        return {
            name: list(csv.DictReader(io.StringIO(archive.read(names[name]).decode("utf-8-sig"))))
            for name in ("fit", "differences")
        }


def test_one_press_moves_an_item_and_shows_the_change_of_the_fit_in_place(
    page, collected, tmp_path
):
    factors(page, collected)
    # First screen: the sentence with CFI and RMSEA, the items and the diagram, without scrolling.
    for part in (
        page.get_by_text("robust CFI .93, robust RMSEA .063"),
        cell(page, "Move nature_01 from nature to technology"),
        page.get_by_test_id("stVegaLiteChart").first,
    ):
        box = part.bounding_box()
        assert box is not None
        assert box["y"] < 600
    chart = page.get_by_test_id("stVegaLiteChart").first.bounding_box()
    editor = page.locator("[data-part='scroller']").bounding_box()
    assert editor["x"] + editor["width"] <= chart["x"]  # beside the diagram

    cell(page, "Move nature_01 from nature to technology").click()
    expect(said(page)).to_have_text("nature_01 moved from nature to technology.")
    expect(change(page)).to_contain_text(
        "Your model against the bank's, Simulated: scaled χ²(169) = ", timeout=SLOW_MS
    )
    moved = change(page).inner_text().replace("\u00a0", " ")
    page.get_by_role("button", name="Undo").click()
    expect(said(page)).to_contain_text("Taken back: nature_01 moved")
    expect(change(page)).to_have_count(0, timeout=SLOW_MS)
    # A cross-loading has a test.
    cell(page, "Add a cross-loading of nature_01: then press a factor").click()
    cell(page, "Add a cross-loading of nature_01 on technology").click()
    expect(change(page)).to_contain_text("Δχ²(1) = ", timeout=SLOW_MS)
    crossed = change(page).inner_text().replace("\u00a0", " ")
    collected.stop()

    workspace = open_workspace(collected.database)
    bank = factor_models.proposal(workspace, ["study"], "subscales").text
    saved = analyses.saved_options(workspace, "study", analyses.by_name("cfa"))["model_text"]
    workspace.close()
    assert factor_models.assignment(saved)["nature_01"] == ("nature", "technology")
    other = editing.move_item(bank, "nature_01", "nature", "technology")
    for shown, text in ((moved, other), (crossed, saved)):
        tables = on_the_command_line(
            collected, factor_models.comparison_text({"Bank": bank, "Mine": text}), tmp_path
        )
        (row,) = tables["differences"]
        theirs, mine = tables["fit"]
        cfi, bic = -float(row["cfi_difference"]), -float(row["bic_difference"])
        assert "ΔCFI " + f"{cfi:+.3f}".replace("0.", ".", 1).replace("-", "−") in shown
        if row["p_difference"]:
            assert f"Δχ²({row['df_difference']}) = {float(row['chi2_difference']):.1f}" in shown
        else:
            for fit in (theirs, mine):
                assert f"χ²({fit['df']}) = {float(fit['chi2_scaled']):.1f}" in shown
            assert "ΔBIC " + f"{bic:+.1f}".replace("-", "−") in shown


def test_items_are_moved_with_the_keyboard_alone(page, collected):
    factors(page, collected)
    page.get_by_role("searchbox", name="Filter items or factors").focus()
    page.keyboard.press("Tab")
    while page.evaluate(FOCUSED) is None or "nature_01" not in page.evaluate(FOCUSED):
        page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Take nature_01 off nature"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) == "Move nature_02 from nature to technology"
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("nature_02 moved from nature to technology.")
    expect(change(page)).to_contain_text("Your model against the bank's", timeout=SLOW_MS)
    assert page.evaluate(FOCUSED) == "Take nature_02 off technology"  # the focus stays there
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("+")
    expect(said(page)).to_have_text("nature_02 has a cross-loading on nature.")
    page.keyboard.press("Enter")  # again: off nature
    expect(said(page)).to_have_text("nature_02 is off nature.")


def test_items_are_dragged_filtered_and_put_on_a_new_factor(page, collected):
    factors(page, collected)
    page.get_by_role("searchbox", name="Filter items or factors").fill("nature_03")
    expect(page.locator(".row:not(.head)")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter items or factors").fill("")
    heading = page.locator("button.heading", has_text="technology")
    heading.scroll_into_view_if_needed()
    page.locator(".row", has_text="nature_10").drag_to(heading)
    expect(said(page)).to_have_text("nature_10 moved from nature to technology.")
    name = page.get_by_role("textbox", name="Name of a new factor")
    name.fill("Calm 2")
    name.press("Enter")
    expect(page.locator("[data-part='hint']")).to_contain_text("Begin with a letter")
    name.fill("Calm")
    name.press("Enter")
    for item in ("nature_01", "nature_02", "nature_04"):
        cell(page, f"Move {item} from nature to Calm").click()
        expect(said(page)).to_have_text(f"{item} moved from nature to Calm.")
    expect(page.get_by_text("three-factor model, Simulated")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Restore the bank's model").click()
    expect(page.get_by_text("Two-factor model, Simulated")).to_be_visible(timeout=SLOW_MS)
    expect(cell(page, "Take nature_01 off nature")).to_be_visible()
