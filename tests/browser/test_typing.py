"""Every table that people type into, with real keys at a person's speed, and then the database."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import expect

from core.domain.study import Context
from core.workflow import people
from core.workflow.answers import imports
from core.workflow.banks import editing
from core.workflow.contexts import sets
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace
from tests.browser.conftest import ROOT, drawn, go, settled
from tests.browser.test_design_blocks import upload

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GRID = "[data-testid='data-grid-canvas']"
TYPED = ("Loud noise bothers me.", "Happy", "I", "I like to walk in the rain.")
ROW_PX, FIRST_ROW_PX = 35, 52


@dataclass(frozen=True)
class Place:
    """Where a grid that grows stands: its page, what opens it, the column to type into.

    `rows` of it are filled before anybody types. `read` gives the texts on file, all of them.
    """

    name: str
    page: str
    column: str
    rows: int
    read: Callable[[Workspace], list[str]]
    opened_by: tuple[tuple[str, str], ...] = ()


def items(workspace):
    return [item.text("en") for item in editing.load(workspace, "typed").instrument.items]


def options(workspace):
    (known,) = editing.load(workspace, "typed").instrument.formats
    return [option.labels.get("en", "") for option in known.options]


def personas(workspace):
    return [context.text for context in sets.load(workspace, "typed")]


def messages(workspace):
    (talk,) = sets.load(workspace, "talk")
    return [message["content"] for message in talk.messages]


def groups(workspace):
    analysis = analyses.by_name("group_comparison")
    return [group for _, group in analyses.saved_options(workspace, "people", analysis)["groups"]]


PLACES = {
    "pages/banks/items.py": Place("items", "banks?bank=typed", "Text, English (en)", 2, items),
    "pages/banks/options.py": Place(
        "options",
        "banks?bank=typed",
        "Label, English (en)",
        5,
        options,
        (("radio", "Response options"),),
    ),
    "pages/contexts/editor.py": Place("personas", "contexts?set=typed", "Persona", 2, personas),
    "pages/contexts/editor.py: messages": Place(
        "messages", "contexts?set=talk", "Message", 2, messages
    ),
}


ELSEWHERE = {"pages/shared/analysis_options.py": "test_groups_are_typed_and_pasted_as_they_are"}
"""Files with a grid that grows and a test of their own here, by its name."""


EDITORS = {
    "pages/import_export/mapping.py": "test_roles_and_codes_of_an_import_are_chosen_and_typed",
    "pages/import_export/people.py": "test_facts_about_people_are_typed",
    "pages/banks/translations.py": "tests/browser/test_translations.py",
    "pages/shared/grids.py": "the grids that grow",
}
"""Files with a grid to edit, and where it is typed into."""


def test_every_grid_that_grows_is_typed_into_here():
    callers, editors = set(), set()
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(getattr(node, "func", None), "attr", "")
            if name == "growing_grid":
                callers.add(path.relative_to(ROOT).as_posix())
                alt = next(k.value for k in node.keywords if k.arg == "alt")
                # A text that changes with the rows draws a new grid, and what was typed is lost.
                assert not isinstance(alt, ast.JoinedStr), path
            if name == "data_editor":  # a grid with a line of its own for new rows swallows keys
                editors.add(path.relative_to(ROOT).as_posix())
                modes = [ast.unparse(k.value) for k in node.keywords if k.arg == "num_rows"]
                assert modes in ([], ["'delete'"]), path
    assert editors == {*EDITORS}
    assert callers == {place.partition(":")[0] for place in PLACES} | {*ELSEWHERE}


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
    said = ({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."})
    sets.save(workspace, "talk", (Context("c1", messages=said),), made="by hand")
    workspace.close()
    app.start()
    return app


def on_file(app, read):
    """What is in the database, once the app is killed."""
    app.stop(kill=True)
    workspace = open_workspace(app.database)
    found = read(workspace)
    workspace.close()
    return found


def opened(page, app, place):
    go(page, app, place.page)
    settled(page)
    for role, name in place.opened_by:
        page.get_by_role(role, name=name).click()
        settled(page)


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


def type_into(page, text, end, delay_ms=60):
    """Type a text and the key that ends it, at a person's speed, and no key ahead of the screen.

    A machine under load draws a frame slower than a person types; a person then waits.
    """
    for place, key in enumerate((*text, end)):
        page.keyboard.press(key, delay=delay_ms)
        if place == 0:
            page.wait_for_selector("#portal > *", state="attached")  # the editor of the cell
        drawn(page)


def left(page):
    """Wait for the answer to the last cell, which the grid sends a moment after it is left."""
    page.wait_for_timeout(1500)
    settled(page)
    drawn(page)


_FETCHED = "performance.getEntriesByType('resource').map(one => one.name).join()"


def test_the_editors_of_cells_are_there_before_a_cell_is_edited(page, typed):
    """Else the browser fetches the first one after the first key, and the next keys are lost."""
    opened(page, typed, PLACES["pages/banks/items.py"])
    page.wait_for_function(f"{_FETCHED}.includes('data-grid-overlay-editor')")
    assert "number-overlay-editor" in page.evaluate(_FETCHED)


FAST, SLOW = 60, 150
"""Milliseconds between two keys: of somebody who types well, and of somebody who looks for them.

Between slow keys the page is drawn anew, between fast ones it is not: each place has one of them,
and the place where items are typed has both.
"""


@pytest.mark.parametrize(
    ("file", "delay_ms"),
    [(file, delay) for file, delay in zip(PLACES, (FAST, SLOW, FAST, SLOW), strict=True)]
    + [(next(iter(PLACES)), SLOW)],
    ids=lambda value: value if isinstance(value, int) else PLACES[value].name,
)
def test_what_is_typed_into_empty_rows_is_kept_to_the_letter(page, typed, shot, file, delay_ms):
    place = PLACES[file]
    opened(page, typed, place)
    choose(page, place.column, place.rows)
    for text in TYPED:
        type_into(page, text, "Enter", delay_ms)
    left(page)
    shot(page, "typed")
    assert on_file(typed, place.read)[place.rows :] == list(TYPED)


def test_one_two_and_many_characters_replace_a_text(page, typed):
    go(page, typed, PLACES["pages/banks/items.py"].page)
    settled(page)
    for row, text in enumerate(("-", "ab")):
        choose(page, "Text, English (en)", row)
        type_into(page, text, "Enter")
        left(page)
    assert on_file(typed, items)[:2] == ["-", "ab"]


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
    assert on_file(typed, personas)[2:] == lines


def paste(page, text):
    """Put a text on the clipboard, as a copy in a spreadsheet does, and paste it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")
    left(page)


def test_cells_of_a_spreadsheet_pasted_into_the_table_fill_rows_and_columns(page, typed):
    place = PLACES["pages/banks/items.py"]
    opened(page, typed, place)
    choose(page, place.column, place.rows)
    paste(page, "\n".join(TYPED))
    assert on_file(typed, items)[place.rows :] == list(TYPED)


def test_keys_pasted_from_a_spreadsheet_are_read_in_each_of_their_words(page, typed):
    opened(page, typed, PLACES["pages/banks/items.py"])
    choose(page, "Keyed", 0)
    paste(page, "R\n-1")

    def keys(workspace):
        return [item.keyed for item in editing.load(workspace, "typed").instrument.items]

    assert on_file(typed, keys) == [-1, -1]


def test_groups_are_typed_and_pasted_as_they_are(page, typed):
    """The table of an analysis: typed into, pasted into as cells, and as a block into one cell."""
    typed.stop(kill=True)
    workspace = open_workspace(typed.database)
    rows = [f"p{p},q{q},{(p * q) % 5 + 1}" for p in range(1, 9) for q in (1, 2, 3)]
    imports.import_tidy(workspace, "people.csv", "\n".join(["person,item,answer", *rows]).encode())
    workspace.close()
    typed.start()
    go(page, typed, "validity?study=people&analysis=group_comparison")
    settled(page)
    page.get_by_text(
        "Groups of contexts or people you expect to differ"
    ).first.scroll_into_view_if_needed()
    choose(page, "Context", 0)
    for person, group in (("p1", "low"), ("p2", "-")):
        for text, end in ((person, "Tab"), (group, "Enter")):
            type_into(page, text, end, SLOW)
        page.keyboard.press("ArrowLeft")
    left(page)
    choose(page, "Context", 2)
    paste(page, "p3\tlow\np4\thigh")
    choose(page, "Context", 4)
    page.keyboard.press("Enter")  # into the editor of the cell, where a paste stays one text
    paste(page, "p5\thigh\np6\tvery high")
    page.keyboard.press("Enter")
    left(page)
    assert on_file(typed, groups) == ["low", "-", "low", "high", "high", "very high"]


def test_undo_takes_back_what_was_typed_last(page, typed):
    place = PLACES["pages/banks/items.py"]
    opened(page, typed, place)
    for row, text in enumerate(("A first text.", "A second text.")):
        choose(page, place.column, row)
        type_into(page, text, "Enter")
        left(page)
    page.get_by_role("button", name="Undo").click()
    left(page)
    first, second = on_file(typed, items)[:2]
    assert first == "A first text."
    assert second not in ("", "A second text.")


def test_roles_and_codes_of_an_import_are_chosen_and_typed_with_the_keyboard(page, typed, tmp_path):
    file = tmp_path / "small.csv"
    file.write_text(
        "id,q1,q2,note\n" + "".join(f"p{n},{n % 5},{n % 4},{n % 3}\n" for n in range(9))
    )
    go(page, typed, "import_export")
    upload(page, "File with answers", file)
    settled(page)
    choose(page, "Role", 3)
    page.keyboard.press("Enter")
    type_into(page, "ignore", "Enter", FAST)
    left(page)
    expect(page.get_by_text("ignore 1")).to_be_visible()
    settled(page)
    choose(page, "Item code", 0)  # the first click brings the focus over and shows no cell chosen
    for row, (code, scale) in enumerate((("A", "x"), ("Loud noise", "calm"))):
        for column, text in (("Item code", code), ("Subscale", scale)):
            choose(page, column, row)
            type_into(page, text, "Enter", FAST)
            left(page)
    page.get_by_role("button", name="Import these answers").click()
    expect(page.get_by_text("now holds 18 imported answers")).to_be_visible()

    def read(workspace):
        bank = editing.load(workspace, "small").instrument
        tags = workspace.database.rows("select distinct tags from trial")
        return [(item.code, item.subscale) for item in bank.items], tags

    assert on_file(typed, read) == ([("A", "x"), ("Loud noise", "calm")], [(None,)])


def test_facts_about_people_are_typed_and_kept(page, typed):
    typed.stop(kill=True)
    workspace = open_workspace(typed.database)
    rows = [f"p{p},q{q},{p % 5 + 1},{20 + p},{'fm'[p % 2]}" for p in range(9) for q in (1, 2)]
    data = "\n".join(["person,item,answer,person.age,person.gender", *rows]).encode()
    imports.import_tidy(workspace, "people.csv", data)
    workspace.close()
    typed.start()
    go(page, typed, "import_export?study=people")
    settled(page)
    for column, row, text in (("age", 0, "7"), ("gender", 1, "-"), ("age", 2, "1999")):
        choose(page, column, row)
        type_into(page, text, "Enter", SLOW)
        left(page)

    def read(workspace):
        return people.table(workspace, "people")[["age", "gender"]].head(3).to_numpy().tolist()

    assert on_file(typed, read) == [["7", "f"], ["21", "-"], ["1999", "f"]]
