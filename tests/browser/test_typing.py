"""Every table that people type into, with real keys at a person's speed, and then the database."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import expect

from core.domain.study import Context
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.opening import open_workspace
from tests.browser.conftest import ROOT, drawn, go, settled

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GRID = "[data-testid='data-grid-canvas']"
TYPED = ("Loud noise bothers me.", "Happy", "I", "I like to walk in the rain.")
ROW_PX, FIRST_ROW_PX = 35, 52


@dataclass(frozen=True)
class Place:
    """Where a grid that grows stands: its page, the column to type into, and how it is read."""

    page: str
    column: str
    rows: int
    read: str


PLACES = {
    "pages/banks/items.py": Place("banks?bank=typed", "Text, English (en)", 2, "items"),
    "pages/contexts/editor.py": Place("contexts?set=typed", "Persona", 2, "personas"),
}
ELSEWHERE = {
    "pages/banks/options.py": "the same grid and editor as the items of a bank",
    "pages/shared/analysis_options.py": "tests/pages/test_statistics_pages.py",
}
"""Files with a grid that grows and no session of their own here, with the reason."""


def test_every_grid_that_grows_is_typed_into_here():
    callers = set()
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(getattr(node, "func", None), "attr", "")
            if name == "growing_grid":
                callers.add(path.relative_to(ROOT).as_posix())
                alt = next(k.value for k in node.keywords if k.arg == "alt")
                # A text that changes with the rows draws a new grid, and what was typed is lost.
                assert not isinstance(alt, ast.JoinedStr), path
            if name == "data_editor":  # a grid with a line of its own for new rows swallows keys
                modes = [ast.unparse(k.value) for k in node.keywords if k.arg == "num_rows"]
                assert modes in ([], ["'delete'"]), path
    assert callers == {*PLACES, *ELSEWHERE}


@pytest.fixture
def typed(app):
    workspace = open_workspace(app.database)
    code = editing.create(workspace, "Typed", response_format="likert_5").instrument.code
    assert code == "typed"
    state = editing.load(workspace, code)
    items = editing.load(workspace, "attitudes_20").instrument.items[:2]
    editing.save(
        workspace, replace(state.instrument, items=items), expected_revision=state.revision
    )
    people = (Context("p1", "You are a baker."), Context("p2", "You are a nurse."))
    sets.save(workspace, "typed", people, made="by hand")
    workspace.close()
    app.start()
    return app


def texts(app, kind):
    app.stop(kill=True)
    workspace = open_workspace(app.database)
    if kind == "items":
        found = [item.text("en") for item in editing.load(workspace, "typed").instrument.items]
    else:
        found = [context.text for context in sets.load(workspace, "typed")]
    workspace.close()
    return found


def choose(page, column, row):
    """Click the first cell of a grid, and go to a cell by arrow keys."""
    title = page.locator(f"{GRID} th", has_text=column)
    title.first.wait_for(state="attached")
    grid = page.locator("[data-testid='stDataFrame']").filter(has=title).last
    grid.scroll_into_view_if_needed()
    titles = grid.locator(f"{GRID} th").all_text_contents()
    place = next(n for n, title in enumerate(t for t in titles if t) if title == column)
    grid.click(position={"x": 70, "y": FIRST_ROW_PX}, force=True)
    drawn(page)
    for _ in range(row):
        page.keyboard.press("ArrowDown")
    for _ in range(place):
        page.keyboard.press("ArrowRight")
    drawn(page)


@pytest.mark.parametrize("delay_ms", [60, 150])
@pytest.mark.parametrize("file", PLACES, ids=[place.read for place in PLACES.values()])
def test_what_is_typed_into_empty_rows_is_kept_to_the_letter(page, typed, shot, file, delay_ms):
    place = PLACES[file]
    go(page, typed, place.page)
    settled(page)
    choose(page, place.column, place.rows)
    for text in TYPED:
        page.keyboard.type(text, delay=delay_ms)
        page.keyboard.press("Enter", delay=delay_ms)
    expect(page.get_by_text(f"{place.rows + len(TYPED)} {place.read}").first).to_be_visible()
    settled(page)
    shot(page, "typed")
    assert texts(typed, place.read)[place.rows :] == list(TYPED)


def test_one_two_and_many_characters_replace_a_text(page, typed):
    go(page, typed, PLACES["pages/banks/items.py"].page)
    settled(page)
    for row, text in enumerate(("-", "ab")):
        choose(page, "Text, English (en)", row)
        page.keyboard.type(text, delay=60)
        page.keyboard.press("Enter")
        page.wait_for_timeout(800)
        settled(page)
    assert texts(typed, "items")[:2] == ["-", "ab"]


def test_many_rows_go_into_the_box_as_lines_or_as_cells_of_a_spreadsheet(page, typed):
    go(page, typed, PLACES["pages/contexts/editor.py"].page)
    settled(page)
    lines = [f"You are person number {n}." for n in range(1, 301)]
    page.get_by_text("Type or paste personas, one per line").click()
    box = page.get_by_role("textbox", name="New personas")
    box.fill("\n".join(lines))
    box.press("Control+Enter")
    page.get_by_role("button", name="Add these personas").click()
    expect(page.get_by_text("300 personas added.")).to_be_visible()
    assert texts(typed, "personas")[2:] == lines
