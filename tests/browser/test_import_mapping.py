"""People's answers brought in by the browser: a wide SPSS file with a reversed item, a long CSV."""

from __future__ import annotations

import io

import openpyxl
import pytest
from playwright.sync_api import expect

from core.workflow.banks import editing
from core.workflow.opening import open_workspace
from tests.browser.conftest import go, settled
from tests.browser.test_design_blocks import sent, upload
from tests.people_files import sav, xlsx
from tests.workflow.answers.test_messy_files import X, alpha, titled_workbook

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

LONG = "Participant,Question,Response\n" + "\n".join(
    f"p{person},q{item},{(person + item) % 5 + 1}" for person in range(9) for item in (1, 2, 3)
)


def tick(page, nth_row, share):
    """Tick a box of the grid of keys, at a share of its width."""
    title = page.locator("th", has_text="Reversed")
    shown = page.get_by_test_id("stDataFrame").filter(has=title).last
    shown.scroll_into_view_if_needed()
    box = shown.bounding_box()
    shown.click(position={"x": box["width"] * share, "y": 36 + 35 * nth_row + 17}, force=True)
    sent(page)


def bring_in(page):
    page.get_by_role("button", name="Import these answers").click()
    expect(page.get_by_text("imported answers (")).to_be_visible()
    sent(page)


def test_a_messy_workbook_comes_to_alpha_without_leaving_the_page(page, app, tmp_path, shot):
    """Title rows, joined cells, labels as text, -99, one person twice: seen, solved, computed."""
    rows = [
        [cell.value for cell in row]
        for row in openpyxl.load_workbook(io.BytesIO(titled_workbook())).active.iter_rows()
    ]
    again = ["P7", 27, *["Agree"] * 6]
    file = tmp_path / "messy.xlsx"
    file.write_bytes(xlsx(*rows, again))
    app.start()
    go(page, app, "import_export")
    upload(page, "File with answers", file)
    expect(page.get_by_text("names of the columns are taken from row 5")).to_be_visible()
    expect(page.get_by_text("the person 'P7' stands in row 13 already").first).to_be_visible()
    shot(page, "seen")
    page.get_by_text("Keep the first row, leave out the others").click()
    expect(page.get_by_text("Reverse-keyed: 0 of 6 items").first).to_be_visible()
    bring_in(page)
    done = page.get_by_text("now holds 366 imported answers")
    expect(done).to_be_in_viewport()
    page.get_by_role("link", name="See reliability").click()
    settled(page)
    expect(page.get_by_text(f"α = {alpha(X):.2f}".replace("0.", ".")).first).to_be_visible()
    shot(page, "alpha")


def test_a_wide_and_a_long_file_come_in_with_a_reversed_item(page, app, tmp_path):
    wide, long = tmp_path / "people.sav", tmp_path / "long.csv"
    wide.write_bytes(sav())
    long.write_text(LONG)
    app.start()
    go(page, app, "import_export")
    upload(page, "File with answers", wide)
    expect(page.get_by_text("Reverse-keyed: 0 of 22 items").first).to_be_visible()
    tick(page, 2, 0.69)
    expect(page.get_by_text("Reverse-keyed: 1 of 22 items").first).to_be_visible()
    bring_in(page)
    upload(page, "File with answers", long)
    expect(page.get_by_text("Reverse-keyed: 0 of 3 items").first).to_be_visible()
    tick(page, 1, 0.61)
    expect(page.get_by_text("Reverse-keyed: 1 of 3 items").first).to_be_visible()
    bring_in(page)
    expect(page.get_by_text("Study long now holds 27 imported answers")).to_be_visible()
    app.stop()
    workspace = open_workspace(app.database)
    reversed_items = {
        code: [i.code for i in editing.load(workspace, code).instrument.items if i.keyed == -1]
        for code in ("people", "long")
    }
    workspace.close()
    assert reversed_items == {"people": ["i3"], "long": ["q2"]}
