"""The Banks page, with grids edited the way a browser reports it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.WidgetStates_pb2 import WidgetState

from core.domain.difference import differences
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Option, Wording
from core.errors import BankError, ConflictError, StoreError
from core.store import banks as store
from core.workflow.answers import imports
from core.workflow.banks import drafting, editing, grid
from core.workflow.banks.grid import GridEdits, GridTextColumn, edit_items, edit_options
from core.workflow.respondents import catalog
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.pages import apps
from tests.pages.apps import fine
from tests.workflow.studies import KEY_VARIABLE, freeze, service, simulated

HOSTILE = "=1+1 <img src=x onerror=alert(1)> ![](http://evil.invalid/x.png) :red[x] مرحبا 🙂"
EN, DE = "text:en", "text:de"


@pytest.fixture
def kept(workspace, small_bank):
    """The small bank in the database, as the page will find it."""
    return store.save_draft(
        workspace.database, small_bank, expected_revision=None, summary="Created"
    )


@pytest.fixture
def opened(kept):
    return open_page(bank="small")


open_page = partial(apps.open_page, "banks")


def go_to(at, section):
    return fine(at.segmented_control(key="bank_section").set_value(section).run())


def editor(at):
    """The grid on the page: the one table that can be edited."""
    (found,) = [d for d in at.dataframe if d.proto.editing_mode]
    return found


def filled(at):
    """The rows of that grid without the empty ones at its end."""
    return editor(at).value.dropna(how="all")


def report(at, edited=None, added=(), deleted=()):
    """What the browser sends after edits: all of them since the grid was drawn."""
    state = {"edited_rows": edited or {}, "added_rows": list(added), "deleted_rows": list(deleted)}
    states = at._tree.get_widget_states()
    sent = WidgetState(id=editor(at).proto.id, string_value=json.dumps(state))
    states.widgets.append(sent)
    return fine(at._run(states))


def items(workspace, code="small"):
    return editing.load(workspace, code).instrument.items


def texts(workspace, language="en"):
    return [item.text(language) for item in items(workspace)]


def errors(at):
    return " ".join(error.value for error in at.error)


def facts(at):
    """The line above the grid."""
    (line,) = [h.proto.body for h in at.get("html") if "white-space:nowrap" in h.proto.body]
    return line


def typed_rows(at):
    """The English texts of rows that could not be saved."""
    (rows,) = [d.value for d in at.dataframe if "Text, English (en)" in d.value.columns]
    return list(rows["Text, English (en)"])


def messages(at):
    return " ".join(e.value for kind in (at.info, at.success, at.warning) for e in kind)


# The list


def test_the_list_names_items_languages_versions_and_studies(workspace, kept):
    table = open_page().dataframe[0].value.set_index("Code")
    assert table.loc["small", ["Items", "Languages", "Versions"]].tolist() == [4, "en, de", 0]
    assert table.loc["small", "Kind"] == "questions"
    assert table.loc["words_en_5000", ["Kind", "Items"]].tolist() == ["words", 5000]
    assert table.loc["small", "Used in"] == "no study yet"
    assert table.loc["small", "Saved"].startswith("at ")


def test_an_empty_list_says_what_to_do(workspace):
    for bank in editing.summaries(workspace):
        editing.set_archived(workspace, bank.code, archived=True)
    at = open_page()
    assert "Create one" in messages(at)
    fine(at.toggle(key="bank_show_archived").set_value(True).run())
    assert set(at.dataframe[0].value["State"]) == {"archived"}


def test_choosing_a_bank_puts_it_into_the_address(kept):
    at = open_page()
    fine(at.selectbox(key="bank_open").set_value("small").run())
    assert at.query_params["bank"] in ("small", ["small"])
    assert list(filled(at)["code"]) == ["a1", "a2", "b1", "b2"]
    fine(at.button(key="bank_all").click().run())
    assert "bank" not in at.query_params
    assert at.selectbox(key="bank_open").value is None


def test_a_bank_that_is_not_there_is_told(workspace):
    assert "There is no bank 'nowhere'" in errors(open_page(bank="nowhere")).replace("\\", "")


def test_a_new_bank_opens_with_its_response_options(workspace):
    at = open_page()
    at.text_input(key="bank_new_title").set_value(HOSTILE)
    at.selectbox(key="bank_new_format").set_value("yes_no")
    fine(at.button[0].click().run())
    made = [b for b in editing.summaries(workspace) if b.title == HOSTILE]
    assert len(made) == 1
    bank = editing.load(workspace, made[0].code).instrument
    assert bank.formats == (BUILT_IN["yes_no"],)
    assert filled(at).empty
    assert "no items yet" in messages(at)


def test_a_bank_without_a_title_is_not_made(workspace):
    before = len(editing.summaries(workspace))
    at = open_page()
    at.button[0].click().run()
    assert "no title" in errors(at)
    assert len(editing.summaries(workspace)) == before


# Edits of the grid


def test_two_edits_in_a_row_are_both_kept_and_the_grid_stays_as_drawn(workspace, opened):
    drawn = editor(opened).proto.id
    report(opened, {"0": {EN: "First."}})
    assert editor(opened).proto.id == drawn
    report(opened, {"0": {EN: "First."}, "1": {DE: HOSTILE, "keyed": "+"}})
    assert editor(opened).proto.id == drawn
    assert texts(workspace)[:2] == ["First.", "Text of a2."]
    assert items(workspace)[1].text("de") == HOSTILE
    assert [item.keyed for item in items(workspace)] == [1, 1, 1, 1]
    assert "Saved at" in facts(opened)


def test_edits_are_there_after_a_reload(workspace, opened):
    report(opened, {"2": {EN: "Kept.", "subscale": "C"}})
    row = filled(open_page(bank="small")).iloc[2]
    assert (row[EN], row["subscale"]) == ("Kept.", "C")


def test_edits_are_there_after_another_part_of_the_page_was_open(workspace, opened):
    report(opened, {"2": {EN: "Kept."}})
    go_to(opened, "Versions")
    go_to(opened, "Items")
    assert filled(opened)[EN][2] == "Kept."
    report(opened, {"3": {EN: "Next."}})
    assert texts(workspace)[2:] == ["Kept.", "Next."]


def click_with_edit(at, key, edit):
    """A click that reaches the page in one report with the edit before it."""
    states = at._tree.get_widget_states()
    clicked = at.button(key=key).proto.id
    others = [state for state in states.widgets if state.id != clicked]
    del states.widgets[:]
    states.widgets.append(WidgetState(id=clicked, trigger_value=True))
    states.widgets.extend(others)
    sent = json.dumps({"edited_rows": edit})
    states.widgets.append(WidgetState(id=editor(at).proto.id, string_value=sent))
    return fine(at._run(states))


def test_an_edit_that_arrives_together_with_leaving_is_kept(workspace, opened):
    click_with_edit(opened, "bank_all", {"0": {EN: "Just before leaving."}})
    assert texts(workspace)[0] == "Just before leaving."
    assert "bank" not in opened.query_params


def test_an_edit_that_arrives_together_with_undo_is_saved_and_then_taken_back(workspace, opened):
    report(opened, {"0": {EN: "One."}})
    click_with_edit(opened, "bank_undo", {"0": {EN: "Two."}})
    assert texts(workspace)[0] == "One."
    fine(opened.button(key="bank_redo").click().run())
    assert texts(workspace)[0] == "Two."


def test_a_new_row_without_a_code_gets_the_next_free_one(workspace, opened):
    report(opened, added=[{}])
    report(opened, added=[{EN: "Typed later."}, {"code": "item_6"}, {EN: "Third."}])
    assert [item.code for item in items(workspace)][4:] == ["item_5", "item_6", "item_7"]
    assert texts(workspace)[4] == "Typed later."
    fine(opened.button(key="bank_redraw_small_0").click().run())
    assert list(filled(opened)["code"])[4:] == ["item_5", "item_6", "item_7"]


def test_all_rows_can_be_deleted_and_brought_back(workspace, opened):
    report(opened, deleted=[0, 1, 2, 3])
    assert items(workspace) == ()
    assert "no items yet" in messages(opened)
    fine(opened.button(key="bank_undo").click().run())
    assert len(items(workspace)) == 4
    assert len(filled(opened)) == 4
    fine(opened.button(key="bank_redo").click().run())
    assert items(workspace) == ()


def test_a_code_typed_twice_is_kept_as_typed_and_told(workspace, opened):
    report(opened, {"1": {"code": "a1"}})
    assert [item.code for item in items(workspace)] == ["a1", "a1", "b1", "b2"]
    go_to(opened, "Problems")
    assert "used 2 times" in opened.dataframe[0].value["What"][0]
    go_to(opened, "Versions")
    at = fine(opened.button(key="bank_publish_small_0").click().run())
    assert "not ready for a version" in errors(at)
    assert editing.versions(workspace, "small") == ()


def test_undo_takes_back_the_edit_just_typed(workspace, opened):
    report(opened, {"0": {EN: "One."}})
    report(opened, {"0": {EN: "Two."}})
    fine(opened.button(key="bank_undo").click().run())
    assert filled(opened)[EN][0] == "One."
    report(opened, {"1": {EN: "After undo."}})
    assert texts(workspace)[:2] == ["One.", "After undo."]


def test_an_edit_after_another_tab_saved_is_shown_and_the_newer_state_loaded(workspace, opened):
    report(opened, {"0": {EN: "Mine, saved."}})
    state = editing.load(workspace, "small")
    editing.save(
        workspace,
        replace(state.instrument, title="From another tab"),
        expected_revision=state.revision,
    )
    report(opened, {"0": {EN: "Mine, saved."}, "1": {EN: HOSTILE}})
    assert "changed in another tab" in errors(opened)
    assert typed_rows(opened) == [HOSTILE]
    assert texts(workspace)[:2] == ["Mine, saved.", "Text of a2."]
    assert editing.load(workspace, "small").instrument.title == "From another tab"
    assert list(filled(opened)[EN][:2]) == ["Mine, saved.", "Text of a2."]
    report(opened, {"1": {EN: "Again."}})
    assert texts(workspace)[:2] == ["Mine, saved.", "Again."]
    fine(opened.button(key="bank_seen_small_1").click().run())
    assert not opened.error


def test_what_another_tab_saved_is_shown_before_anything_is_typed(workspace, opened):
    state = editing.load(workspace, "small")
    changed = replace(state.instrument, items=state.instrument.items[:2])
    editing.save(workspace, changed, expected_revision=state.revision)
    fine(opened.run())
    assert "changed in another tab" in messages(opened)
    assert len(filled(opened)) == 2


def test_a_full_disk_shows_what_was_typed_and_the_edit_is_kept_once_there_is_room(
    workspace, opened, monkeypatch
):
    save = editing.save

    def full(*_, **__):
        raise StoreError("The disk is full.", "Free some space.")

    monkeypatch.setattr(editing, "save", full)
    report(opened, {"0": {EN: "Precious."}})
    assert "disk is full" in errors(opened).replace("\\", "")
    assert "Not saved" in facts(opened)
    assert "Precious." in typed_rows(opened)
    monkeypatch.setattr(editing, "save", save)
    report(opened, {"0": {EN: "Precious."}, "1": {EN: "More."}})
    assert texts(workspace)[:2] == ["Precious.", "More."]
    assert not opened.error


def test_ten_thousand_items_are_shown_in_parts_and_edits_of_one_part_lose_no_other(workspace):
    many = tuple(Item(f"i{n}", (Wording("en", f"Statement {n}."),)) for n in range(10_000))
    bank = Instrument("big", "Big", many, (BUILT_IN["likert_5"],))
    store.save_draft(workspace.database, bank, expected_revision=None, summary="")
    at = open_page(bank="big")
    assert len(filled(at)) == 200
    report(at, {"3": {EN: "On the first part."}})
    at.text_input(key="bank_search_big").set_value("Statement 9999")
    fine(at.run())
    assert list(filled(at)["position"]) == [10_000]
    report(at, {"0": {EN: "Found and edited."}}, added=[{EN: "Added while searching."}])
    found = items(workspace, "big")
    assert len(found) == 10_001
    assert found[3].text("en") == "On the first part."
    assert found[9_999].text("en") == "Found and edited."
    assert found[10_000] == Item("item_10001", (Wording("en", "Added while searching."),))
    untouched = {*range(10_000)} - {3, 9_999}
    assert all(found[n] == many[n] for n in untouched)


# Pasting


def test_pasted_words_for_reverse_are_kept_and_an_unknown_one_is_told(workspace, opened):
    keyed = [item.keyed for item in items(workspace)]
    report(opened, {"0": {"keyed": "R"}, "1": {"keyed": "![](http://x)"}, "2": {"keyed": "-1"}})
    assert [item.keyed for item in items(workspace)] == [-1, keyed[1], -1, keyed[3]]
    told = [text.value for text in opened.text if "is not known" in text.value]
    assert len(told) == 1
    assert told[0].startswith("• Item a2: “![](http://x)”")
    assert "changed or ignored" in messages(opened)
    above = ":red[1 cell was changed or ignored: see below the table.]"
    assert above in [caption.value for caption in opened.caption]
    fine(opened.button(key="bank_reset_cells_small_0").click().run())
    assert filled(opened)["keyed"][1] == ("+", "- reverse")[keyed[1] < 0]
    assert above not in [caption.value for caption in opened.caption]
    report(opened, {"1": {"keyed": "R"}})
    assert items(workspace)[1].keyed == -1
    assert "changed or ignored" not in messages(opened)


def test_a_block_pasted_into_the_empty_row_is_spread_and_shown(workspace, opened):
    report(opened, added=[{"keyed": "+", "code": "x1\tC\tR\tOne.\tEins.\nx2\tC\twhat\tTwo."}])
    assert [(i.code, i.keyed, i.text("en")) for i in items(workspace)[4:]] == [
        ("x1", -1, "One."),
        ("x2", 1, "Two."),
    ]
    assert list(filled(opened)["code"])[4:] == ["x1", "x2"]
    assert any("Item x2: “what”" in text.value for text in opened.text)
    report(opened, {"5": {"keyed": "-"}})
    assert len(items(workspace)) == 6
    assert items(workspace)[5].keyed == -1


def test_a_language_of_pasted_heads_comes_to_the_bank_and_what_is_left_out_is_named(
    workspace, opened
):
    heads, rows = "Nr\tItem\tFrançais\tDeutsch", "1\tOn time.\tÀ l'heure.\tPünktlich."
    at = opened.text_area(key="bank_box_small").set_value(f"{heads}\n{rows}").run()
    fine(at.button(key="bank_box_small:add").click().run())
    assert editing.load(workspace, "small").instrument.languages == ("en", "de", "fr")
    added = items(workspace)[-1]
    assert [added.text(language) for language in ("en", "de", "fr")] == [
        "On time.",
        "Pünktlich.",
        "À l'heure.",
    ]
    assert [one.value for one in at.success] == ["1 item added."]
    assert any("Left out" in one.value and "Nr" in one.value for one in at.warning)


def test_the_note_on_new_codes_is_for_rows_left_without_one(workspace, opened):
    report(opened, added=[{"code": "mine", EN: "Typed."}])
    assert not [c for c in opened.caption if "without a code" in c.value]
    report(opened, added=[{"code": "mine", EN: "Typed."}, {EN: "No code."}])
    given = next(item.code for item in items(workspace) if item.text("en") == "No code.")
    said = [c.value for c in opened.caption if "without a code" in c.value]
    assert said == [f"The new item without a code has been given {given}."]


# Other parts


def test_response_options_are_edited_and_replaced(workspace, opened):
    go_to(opened, "Response options")
    report(opened, {"0": {"points": 0, DE: "niemals", "stance": None}}, added=[{EN: "no idea"}])
    (three,) = editing.load(workspace, "small").instrument.formats
    assert three.options[0] == Option("1", 0.0, {"en": "disagree", "de": "niemals"}, None)
    assert three.options[3] == Option("4", None, {"en": "no idea"}, None)
    opened.selectbox(key="bank_replacement_small_0").set_value("yes_no")
    next(b for b in opened.button if b.label == "Replace").click()
    fine(opened.run())
    assert editing.load(workspace, "small").instrument.formats == (BUILT_IN["yes_no"],)
    assert list(filled(opened)["code"]) == ["yes", "no"]


def test_a_language_is_added_and_removed_and_undo_brings_its_texts_back(workspace, opened):
    go_to(opened, "Languages")
    chooser = opened.selectbox(key="bank_new_language_small_0")
    assert "Arabic (العربية, ar)" in chooser.options
    assert "German (Deutsch, de)" not in chooser.options
    chooser.set_value("ar")
    fine(next(b for b in opened.button if b.label == "Add language").click().run())
    assert editing.load(workspace, "small").instrument.languages == ("en", "de", "ar")
    go_to(opened, "Items")
    report(opened, {"0": {"text:ar": "مرحبا"}})
    go_to(opened, "Languages")
    fine(opened.button(key="bank_remove_de_small_1").click().run())
    assert texts(workspace, "de") == [""] * 4
    fine(opened.button(key="bank_undo").click().run())
    assert texts(workspace, "de")[0] == "Satz zu a1."
    assert texts(workspace, "ar")[0] == "مرحبا"


def test_facts_about_the_bank_are_saved_and_an_empty_title_is_not(workspace, opened):
    go_to(opened, "About")
    opened.text_area(key="bank_about_description_small_0").set_value(HOSTILE)
    fine(opened.run())
    assert editing.load(workspace, "small").instrument.description == HOSTILE
    opened.text_input(key="bank_about_title_small_0").set_value(" ")
    fine(opened.run())
    assert "needs a title" in errors(opened)
    assert editing.load(workspace, "small").instrument.title == "Small bank"


def test_an_item_is_read_with_its_language_and_direction(workspace, opened):
    report(opened, {"0": {DE: "<b>مرحبا</b>"}})
    go_to(opened, "Read an item")
    fine(opened.selectbox(key="bank_read_in_small").set_value("de").run())
    shown = " ".join(html.proto.body for html in opened.get("html"))
    assert 'dir="auto" lang="de"' in shown
    assert "&lt;b&gt;مرحبا&lt;/b&gt;" in shown
    assert "weder noch" in shown


def test_versions_show_what_changed_and_flag_critical_changes_in_words(workspace, opened):
    go_to(opened, "Versions")
    assert "no version yet" in messages(opened)
    fine(opened.button(key="bank_publish_small_0").click().run())
    assert "Version 1 is published" in messages(opened)
    assert "the same" in messages(opened)
    go_to(opened, "Items")
    report(opened, {"0": {"keyed": "- reverse"}, "1": {EN: "Reworded."}, "3": {"position": 1}})
    go_to(opened, "Versions")
    changes = opened.dataframe[1].value
    assert changes[["Where", "Weight"]].to_numpy().tolist() == [
        ["Item a1", "Critical"],
        ["Item a2", "Critical"],
        ["Item a2", "Minor"],
        ["Bank", "Minor"],
    ]
    assert "Text of a2 → Reworded" in list(changes["Words"])
    assert "translates an earlier text (de, original)" in list(changes["What"])


def test_files_of_a_bank_are_offered_and_import_back(workspace, opened):
    report(opened, {"0": {EN: HOSTILE}})
    go_to(opened, "Export")
    assert len(opened.get("download_button")) == 2
    for name in ("csv", "xlsx"):
        data = editing.export(workspace, "small", name, None)
        read = editing.read_instrument(f"small.{name}", data)
        assert read.instrument == editing.load(workspace, "small").instrument


def test_a_file_is_shown_first_and_kept_on_a_click(workspace, kept):
    same = editing.export(workspace, "small", "csv", None)
    data = same.replace(b"item,b2,", b"item,b3,")
    assert data != same
    before = len(editing.summaries(workspace))
    at = open_page()
    at.file_uploader(key="bank_upload_0").set_value(("small.csv", same, "text/csv"))
    fine(at.run())
    assert "This bank is on file, as small." in at.info[0].value
    fine(at.button(key="bank_import").click().run())
    assert len(editing.summaries(workspace)) == before
    at = open_page()
    at.file_uploader(key="bank_upload_0").set_value(("small.csv", data, "text/csv"))
    fine(at.run())
    assert list(at.dataframe[1].value["Code"]) == ["a1", "a2", "b1", "b3"]
    assert len(editing.summaries(workspace)) == before
    fine(at.button(key="bank_import").click().run())
    assert len(items(workspace, "small_2")) == len(items(workspace))
    assert at.query_params["bank"] in ("small_2", ["small_2"])


def test_words_of_texts_are_shown_with_what_is_left_out_and_saved_on_a_click(workspace, kept):
    before = len(editing.summaries(workspace))
    text = f"{HOSTILE} The dogs ran. A dog barks in London."
    rows = json.dumps({"id": "a long code of the row, longer than the text" * 9, "text": text})
    at = open_page()
    at.file_uploader(key="bank_words_files").set_value([("my.jsonl", rows.encode(), "text/plain")])
    fine(at.run())
    (column,) = [box for box in at.selectbox if box.label.startswith("Column of the texts")]
    assert (column.options, column.value) == (["id", "text"], "text")
    left_out, words = (frame.value for frame in at.dataframe[-2:])
    assert words.loc[0].tolist() == [1, "dog", "noun", 2]
    assert "Names" in left_out["Reason"].tolist()
    assert any(text.value.startswith("1 noun and 2 verbs from 1 text with") for text in at.text)
    fine(at.number_input(key="bank_words_top").set_value(1).run())
    assert len(at.dataframe[-1].value) == 1
    fine(at.multiselect(key="bank_words_genres").set_value([]).run())
    assert "No part of speech is chosen" in errors(at)
    at.multiselect(key="bank_words_genres").set_value(["noun", "verb"])
    fine(at.selectbox(key="bank_words_language").set_value("zh").run())
    assert "No word is left for the list" in errors(at)
    assert len(editing.summaries(workspace)) == before
    fine(at.selectbox(key="bank_words_language").set_value("en").run())
    fine(at.button(key="bank_words_save").click().run())
    bank = editing.load(workspace, "frequent_words_of_my_english_en").instrument
    assert (bank.kind, [item.text("en") for item in bank.items]) == ("words", ["dog"])
    assert at.query_params["bank"] in (bank.code, [bank.code])


def test_a_file_of_a_bank_that_is_there_is_announced_as_a_second_one(workspace, kept):
    early = b"item,answer\nA1,1\nA2,2\nB1,3\nB2,1\n"
    imports.import_tidy(workspace, "early.csv", early, bank=imports.NEW_BANK)
    data = editing.export(workspace, "small", "csv", None)
    data = data.replace(b",-1,", b",1,", 1)
    at = open_page()
    at.file_uploader(key="bank_upload_0").set_value(("small.csv", data, "text/csv"))
    fine(at.run())
    (told,) = [w.value.replace("\\", "") for w in at.warning]
    assert "with other content" in told
    assert "Small bank (small)" in told
    assert "the code small_2" in told.replace("`", "")
    (said,) = [i.value for i in at.info if "has no bank" in i.value]
    assert said.startswith("Study early holds imported answers")
    assert "4 of 4 item codes match" in said
    other = b"code,text\na1,Something else.\n"
    at.file_uploader(key="bank_upload_0").set_value(("unheard_of.csv", other, "text/csv"))
    fine(at.run())
    assert "second bank" not in messages(at)
    assert not [i.value for i in at.info if "has no bank" in i.value]


def test_the_texts_of_a_language_are_counted_in_plain_words(workspace, opened):
    report(opened, {"0": {DE: ""}})
    go_to(opened, "Languages")
    lines = [text.value for text in opened.text]
    assert "English (en): all 4 items have a text" in lines
    assert "German (Deutsch, de): 3 of 4 items with a text, 1 without" in lines


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"code,text\na1,x\na1,y\n", "is in line 2 already"),
        (b"record,code\nitem,a1\nwhat,a2\n", "is not one of bank,"),
        ("code,text\na1,caf\xe9\n".encode("latin-1"), "is not UTF-8"),
        (b"", "is empty"),
    ],
)
def test_a_bad_file_is_told_by_row_and_changes_nothing(workspace, data, told):
    before = editing.summaries(workspace)
    at = open_page()
    at.file_uploader(key="bank_upload_0").set_value(("bad.csv", data, "text/csv"))
    fine(at.run())
    tables = " ".join(d.value.to_string() for d in at.dataframe)
    assert told in f"{errors(at)} {tables}".replace("\\", "")
    assert not [b for b in at.button if b.label == "Import this bank"]
    assert editing.summaries(workspace) == before


def test_a_sheet_with_other_heads_is_led_to_the_box_that_knows_them(workspace):
    at = open_page()
    data = "Nr,Item,Deutsch\n1,I am late.,Ich bin spät.\n".encode()
    at.file_uploader(key="bank_upload_0").set_value(("sheet.csv", data, "text/csv"))
    fine(at.run())
    assert any("paste the rows with their heads" in one.value for one in at.info)
    assert not [one.value for one in at.text if "languages" in one.value]  # no rows without texts


def test_a_copy_is_opened_and_a_bank_put_away_can_be_brought_back(workspace, opened):
    fine(opened.button(key="bank_archive").click().run())
    assert editing.load(workspace, "small").archived
    assert opened.button(key="bank_archive").label == "Restore"
    fine(opened.button(key="bank_archive").click().run())
    assert not editing.load(workspace, "small").archived
    fine(opened.button(key="bank_duplicate").click().run())
    assert items(workspace, "small_copy") == items(workspace)
    assert opened.query_params["bank"] in ("small_copy", ["small_copy"])


def test_a_broken_bank_opens_in_every_part(workspace):
    bank = Instrument("broken", HOSTILE, (Item("", ()), Item("x"), Item("x")), (), ("en", "zz"))
    store.save_draft(workspace.database, bank, expected_revision=None, summary="")
    at = open_page(bank="broken")
    for part in (
        "Response options",
        "Languages",
        "About",
        "Drafts",
        "Read an item",
        "Problems",
        "Versions",
        "Export",
        "Items",
    ):
        go_to(at, part)
    assert len(filled(at)) == 3


def test_undo_is_refused_when_another_tab_was_faster(workspace, kept):
    editing.save(workspace, replace(kept.instrument, title="New"), expected_revision=kept.revision)
    with pytest.raises(ConflictError):
        editing.undo(workspace, "small", expected_revision=kept.revision)
    assert editing.load(workspace, "small").instrument.title == "New"


# Columns, problems, rules


def shown(at):
    return list(filled(at))


def submit(at, label):
    return fine(next(b for b in at.button if b.label == label).click().run())


def keep(workspace, bank):
    store.save_draft(workspace.database, bank, expected_revision=None, summary="")
    return open_page(bank=bank.code)


def test_columns_are_hidden_and_shown_and_edits_of_hidden_ones_stay(workspace, opened):
    report(opened, {"0": {DE: "Neu."}})
    texts_shown = next(m for m in opened.multiselect if m.label == "Texts")
    fine(texts_shown.set_value([EN]).run())
    assert shown(opened) == ["position", "code", "subscale", "keyed", EN]
    report(opened, {"1": {EN: "Second."}})
    assert texts(workspace, "de")[0] == "Neu."
    assert texts(workspace)[1] == "Second."
    facts = next(m for m in opened.multiselect if m.label == "Facts about the items")
    fine(facts.set_value(["tags", "loadings"]).run())
    assert shown(opened) == ["position", "code", EN, "tags"]
    report(opened, {"0": {"tags": "x, y"}})
    assert items(workspace)[0].tags == ("x", "y")
    assert [item.subscale for item in items(workspace)] == ["A", "A", "B", "B"]


def test_a_form_for_a_mood_is_added_filled_and_kept(workspace, opened):
    opened.selectbox(key="bank_new_form__small_0").set_value("negation")
    opened.selectbox(key="bank_new_form_mood_small_0").set_value("statement")
    submit(opened, "Add columns")
    column = "text:en:negation:statement"
    assert shown(opened)[-2:] == [column, "text:de:negation:statement"]
    report(opened, {"0": {column: "Not a1."}})
    wording = Wording("en", "Not a1.", "negation", "statement")
    assert items(workspace)[0].wordings[-1] == wording
    assert any("en negation: 3 missing" in text.value for text in opened.text)
    assert column in shown(open_page(bank="small"))


def test_a_form_of_an_own_name_needs_one(opened):
    opened.selectbox(key="bank_new_form__small_0").set_value("")
    submit(opened, "Add columns")
    assert "cannot be called" in errors(opened)
    opened.selectbox(key="bank_new_form__small_0").set_value("")
    opened.text_input(key="bank_new_form_name_small_0").set_value("Plain words")
    submit(opened, "Add columns")
    assert "text:en:plain_words:" in shown(opened)


def test_a_domain_and_a_party_become_columns_that_take_signs(workspace, opened):
    opened.text_input(key="bank_new_domain_small_0").set_value("law and order")
    submit(opened, "Add domain")
    opened.text_input(key="bank_party_name_small_0").set_value("Greens")
    opened.selectbox(key="bank_party_leaning_small_0").set_value("left")
    submit(opened, "Add party")
    assert shown(opened)[-2:] == ["loading:law_and_order", "party:Greens"]
    report(opened, {"0": {"loading:law_and_order": "-1", "party:Greens": "for"}})
    assert items(workspace)[0].loadings == {"law_and_order": -1}
    assert items(workspace)[0].positions == {"Greens": 1}
    report(opened, {"0": {"party:Greens": "perhaps"}})
    assert "changed or ignored" in messages(opened)
    assert items(workspace)[0].positions == {}
    submit(opened, "Remove this party with its positions")
    assert editing.load(workspace, "small").instrument.parties == ()


def test_an_attribute_is_added_filled_renamed_removed_and_brought_back(workspace, opened):
    opened.text_input(key="bank_new_attribute_small_0").set_value("land")
    submit(opened, "Add attribute")
    assert shown(opened)[-1] == "attribute:land"
    report(opened, {"0": {"attribute:land": "DE"}, "2": {"attribute:land": "FR"}})
    assert [item.attributes for item in items(workspace)] == [
        {"land": "DE"},
        {},
        {"land": "FR"},
        {},
    ]
    opened.text_input(key="bank_attribute_new_name_small_0").set_value("country")
    submit(opened, "Rename")
    assert items(workspace)[0].attributes == {"country": "DE"}
    assert shown(opened)[-1] == "attribute:country"
    submit(opened, "Remove with its values")
    assert not any(item.attributes for item in items(workspace))
    fine(opened.button(key="bank_undo").click().run())
    assert items(workspace)[0].attributes == {"country": "DE"}


def test_an_annotator_codes_beside_the_consensus(workspace, opened):
    opened.text_input(key="bank_new_domain_small_0").set_value("law")
    submit(opened, "Add domain")
    opened.text_input(key="bank_new_annotator_small_0").set_value("anna")
    submit(opened, "Add annotator")
    assert shown(opened)[-2:] == ["loading:law", "annotation:law@anna"]
    report(opened, {"0": {"annotation:law@anna": "-1"}})
    assert items(workspace)[0].annotations == {"anna": {"law": -1}}
    assert items(workspace)[0].loadings == {}


def test_a_direction_of_its_own_survives_the_next_edit_of_the_grid(workspace, small_bank):
    bank = with_negation(small_bank)
    at = keep(workspace, bank)
    report(at, {"0": {EN: "Before."}})
    direction = next(s for s in at.selectbox if s.label == "Negation")
    assert direction.options[0] == "inverted (by its name)"
    fine(direction.set_value(1).run())
    report(at, {"1": {EN: "After."}})
    assert [item.directions for item in items(workspace)][:2] == [{"negation": 1}, {}]
    assert texts(workspace)[:2] == ["Before.", "After."]


def with_negation(bank):
    negated = Wording("en", "Not so.", "negation")
    first = replace(bank.items[0], wordings=(*bank.items[0].wordings, negated))
    return replace(bank, items=(first, *bank.items[1:]))


def test_only_items_with_a_problem_are_shown_and_stay_while_they_are_mended(workspace, opened):
    report(opened, {"1": {DE: ""}, "3": {EN: "Text of a1."}})
    assert any(text.value == "de: 1 missing, 1 of an earlier original" for text in opened.text)
    assert any("text of an earlier one: b2" in text.value for text in opened.text)
    fine(opened.toggle(key="bank_only_small").set_value(True).run())
    assert list(filled(opened)["code"]) == ["a2", "b2"]
    report(opened, {"0": {DE: "Da."}})
    assert list(filled(opened)["code"]) == ["a2", "b2"]
    report(opened, {"0": {DE: "Da."}, "1": {EN: "Its own."}})
    assert texts(workspace)[3] == "Its own."
    assert texts(workspace, "de")[1] == "Da."


def test_five_thousand_words_are_opened_and_edited_in_a_second(workspace):
    at = open_page(bank="words_en_5000")
    assert shown(at) == ["position", "code", EN, "genre", "rank"]
    started = time.perf_counter()
    report(at, {"0": {"genre": "verb"}})
    assert time.perf_counter() - started < 3
    assert items(workspace, "words_en_5000")[0].genre == "verb"
    assert "5,000 words" in facts(at)


def test_the_rules_of_a_set_and_labels_in_any_language_are_kept(workspace, opened):
    go_to(opened, "Response options")
    fine(opened.selectbox(key="bank_midpoint_three_small_0").set_value("half").run())
    fine(opened.selectbox(key="bank_mood_three_small_0").set_value("question").run())
    labels = next(m for m in opened.multiselect if m.label == "Labels in")
    fine(labels.set_value(["en", "ja"]).run())
    report(opened, {"0": {"text:ja": "いいえ", "stance": "0"}, "1": {"stance": "hm"}})
    (three,) = editing.load(workspace, "small").instrument.formats
    assert (three.midpoint, three.mood) == ("half", "question")
    assert three.options[0].labels == {"en": "disagree", "de": "nein", "ja": "いいえ"}
    assert [option.stance for option in three.options] == [0, 0, 1]
    assert "changed or ignored" in messages(opened)


def test_every_built_in_set_can_be_chosen(opened):
    go_to(opened, "Response options")
    assert len(opened.selectbox(key="bank_replacement_small_0").options) == 15


def test_the_kind_of_a_bank_is_changed(workspace, opened):
    go_to(opened, "About")
    fine(opened.selectbox(key="bank_about_kind_small_0").set_value("prompts").run())
    assert editing.load(workspace, "small").instrument.kind == "prompts"


# Drafts of models


def without_german(bank):
    items = (
        replace(item, wordings=tuple(w for w in item.wordings if w.language != "de"))
        for item in bank.items
    )
    return replace(bank, items=tuple(items))


def test_missing_texts_are_drafted_and_what_was_not_kept_is_listed(
    workspace, small_bank, monkeypatch
):
    monkeypatch.setenv(KEY_VARIABLE, "sk-test-canary-0123456789")

    def script(_number, body):
        refused = body["messages"][-1]["content"].endswith("b1.")
        return Step(content="I'm sorry, I can't help with that." if refused else "Ein Satz.")

    with FaultServer(script) as server:
        catalog.save(workspace, service(server.base_url))
        at = go_to(keep(workspace, without_german(small_bank)), "Drafts")
        assert any("cannot write texts" in caption.value for caption in at.caption)
        fine(at.selectbox(key="bank_draft_model_small").set_value("Service").run())
        assert any(text.value == "4 items of 4 without this text" for text in at.text)
        fine(at.button(key="bank_draft_small_0").click().run())
    drafted = [w for item in items(workspace) for w in item.wordings if w.drafted_by]
    assert drafted == [Wording("de", "Ein Satz.", drafted_by="Service")] * 3
    assert at.dataframe[0].value.to_numpy().tolist() == [["b1", "the model refused"]]
    assert any("3 drafted, 1 failed" in text.value for text in at.text)


def test_drafts_are_accepted_discarded_and_edited_on_the_page(workspace, small_bank):
    bank = without_german(small_bank)
    words = {item.code: f"Satz {item.code}." for item in bank.items}
    bank = drafting.add_drafts(bank, GridTextColumn("de"), words, "Model")
    at = go_to(keep(workspace, bank), "Drafts")
    fine(at.button(key="bank_review_a1_text:de_small_0_accept").click().run())
    fine(at.button(key="bank_review_a2_text:de_small_1_discard").click().run())
    fine(at.text_area(key="bank_review_b1_text:de_small_2").set_value("Besser.").run())
    assert texts(workspace, "de") == ["Satz a1.", "", "Besser.", "Satz b2."]
    assert [
        d.item.code for d in drafting.list_drafts(editing.load(workspace, "small").instrument)
    ] == ["b2"]
    fine(at.button(key="bank_accept_shown_small_3").click().run())
    assert not drafting.list_drafts(editing.load(workspace, "small").instrument)
    assert "There is no draft to review" in messages(at)
    fine(at.button(key="bank_undo").click().run())
    assert len(drafting.list_drafts(editing.load(workspace, "small").instrument)) == 1


def test_a_draft_edited_in_the_grid_is_a_text_of_a_person(workspace, small_bank):
    words = {item.code: "Entwurf." for item in small_bank.items}
    bank = drafting.add_drafts(without_german(small_bank), GridTextColumn("de"), words, "Model")
    at = keep(workspace, bank)
    assert any(text.value == "de: 4 unreviewed" for text in at.text)
    report(at, {"0": {DE: "Mein Satz."}})
    assert items(workspace)[0].wordings[-1] == Wording("de", "Mein Satz.")
    assert any(text.value == "de: 3 unreviewed" for text in at.text)


@pytest.mark.parametrize("page", ["item_statistics", "answers", "collect", "import_export"])
def test_unreviewed_texts_are_said_where_the_results_of_a_study_are(workspace, small_bank, page):
    words = {"a1": "Entwurf."}
    bank = replace(small_bank, items=small_bank.items[:1])
    bank = drafting.add_drafts(without_german(bank), GridTextColumn("de"), words, "Model")
    store.save_draft(workspace.database, bank, expected_revision=None, summary="")
    freeze(workspace, simulated(), bank="small", n_personas=2, languages=("de",))
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    at = apps.open_page(page)
    said = messages(at) + " ".join(f"{part.value} {part.help}" for part in at.markdown)
    assert "Unreviewed texts" in said


# Edits of rows, without a page


def numbered(n):
    return tuple(Item(f"c{place}") for place in range(1, n + 1))


def order(found):
    return "".join(item.code.removeprefix("c") for item in found)


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ({4: 2}, "15234"),
        ({0: 4}, "23415"),
        ({0: 99}, "23451"),
        ({4: 1, 0: 5}, "52341"),
        ({2: 3}, "12345"),
    ],
)
def test_a_new_position_moves_an_item_there(moves, expected):
    edits = GridEdits({row: {"position": to} for row, to in moves.items()}, (), ())
    assert order(edit_items(numbered(5), range(5), edits)) == expected


def test_added_rows_follow_the_rows_shown_or_go_where_their_position_says():
    added = [{"code": "c6"}, {"code": "c7", "position": 1}]
    assert order(edit_items(numbered(5), (0, 1), GridEdits({}, added, ()))) == "7126345"


def test_forms_besides_the_original_survive_an_edit():
    item = Item("a", (Wording("en", "Old."), Wording("en", "Paraphrase.", "paraphrase_1")))
    (new,) = edit_items((item,), (0,), GridEdits({0: {EN: "New."}}, (), ()))
    assert new.wordings == (Wording("en", "New."), Wording("en", "Paraphrase.", "paraphrase_1"))
    (bare,) = edit_items((item,), (0,), GridEdits({0: {EN: None}}, (), ()))
    assert bare.wordings == (Wording("en", "Paraphrase.", "paraphrase_1"),)


def test_options_move_and_new_ones_get_free_codes():
    options = (Option("1", 1.0), Option("3", 3.0))
    edits = GridEdits({1: {"position": 1}}, [{}, {"points": 5}], ())
    assert [o.code for o in edit_options(options, edits)] == ["3", "1", "4", "5"]


cell = st.one_of(st.none(), st.text(max_size=5))
some_edits = st.builds(
    GridEdits,
    st.dictionaries(
        st.integers(0, 5),
        st.fixed_dictionaries(
            {}, optional={"code": cell, EN: cell, "position": st.integers(1, 9) | st.none()}
        ),
    ),
    st.lists(st.fixed_dictionaries({}, optional={"code": cell, EN: cell}), max_size=4),
    st.sets(st.integers(0, 5)),
)


@given(edits=some_edits, n_shown=st.integers(0, 6))
def test_no_row_is_lost_or_doubled_and_none_out_of_sight_is_touched(edits, n_shown):
    before = tuple(Item(f"c{n}", (Wording("en", f"t{n}"),)) for n in range(6))
    rows = range(6 - n_shown, 6)
    after = edit_items(before, rows, edits)
    n_deleted = len({row for row in edits.deleted if row < n_shown})
    assert len(after) == 6 - n_deleted + len(edits.added)
    hidden = before[: 6 - n_shown]
    assert [item for item in after if item in hidden] == list(hidden)
    assert all(item.code for item in after if item.code.startswith("item_"))


@given(edits=some_edits)
def test_edits_applied_to_the_same_base_always_give_the_same_bank(edits):
    before = numbered(6)
    assert edit_items(before, range(6), edits) == edit_items(before, range(6), edits)
    assert edit_items(before, range(6), GridEdits({}, (), ())) == before


def test_removing_a_language_takes_its_texts_and_labels_and_nothing_else(small_bank):
    left = editing.remove_language(small_bank, "de")
    assert {change.what.split()[0] for change in differences(small_bank, left)} == {
        "languages",
        "text",
        "labels",
    }
    with pytest.raises(BankError):
        editing.remove_language(left, "en")


def test_sets_of_options_cannot_share_a_name(small_bank):
    with pytest.raises(BankError):
        editing.add_format(small_bank, "three")
    with pytest.raises(BankError):
        editing.add_format(small_bank, "  ")
    two = editing.add_format(small_bank, "likert_7")
    with pytest.raises(BankError):
        editing.replace_format(two, "three", "likert_7")
    assert editing.remove_format(two, "likert_7") == small_bank


def test_rows_show_every_text_and_say_reverse_in_words(small_bank):
    rows = grid.item_rows(small_bank, (1,))
    assert rows.iloc[0].tolist() == [2, "a2", "A", "- reverse", "Text of a2.", "Satz zu a2."]


# Translations: two languages side by side.


def test_translations_stand_side_by_side_and_what_is_typed_is_saved(workspace, opened):
    go_to(opened, "Translations")
    frame = filled(opened)
    assert list(frame.columns) == ["code", "source", "target"]
    assert frame["source"].tolist() == texts(workspace, "en")
    assert frame["target"].tolist() == texts(workspace, "de")
    report(opened, {"1": {"target": "Neuer Satz."}, "2": {"target": ""}})
    assert texts(workspace, "de")[:3] == ["Satz zu a1.", "Neuer Satz.", ""]
    drawn = editor(opened)
    assert drawn.value["target"].tolist()[1] != "Neuer Satz."  # the grid itself holds it
    assert "German (Deutsch, de): 3 of 4 items done, 1 missing, 0 unreviewed." in [
        caption.value for caption in opened.caption
    ]


def test_a_translation_into_a_new_language_adds_it_with_its_first_text(workspace, opened):
    go_to(opened, "Translations")
    into = opened.selectbox(key="bank_translate_into_small_en")
    assert into.options[0] == "German (Deutsch, de)"
    fine(into.set_value("fr").run())
    assert editing.load(workspace, "small").instrument.languages == ("en", "de")
    grid = editor(opened).proto.id
    report(opened, {"0": {"target": "Une phrase."}})
    report(opened, {"0": {"target": "Une phrase."}, "3": {"target": "La fin."}})
    assert editing.load(workspace, "small").instrument.languages == ("en", "de", "fr")
    assert texts(workspace, "fr") == ["Une phrase.", "", "", "La fin."]
    assert editor(opened).proto.id == grid


def test_only_texts_to_do_stay_in_the_table_until_a_choice_changes(workspace, opened):
    go_to(opened, "Translations")
    report(opened, {"1": {"target": ""}, "2": {"target": ""}})
    fine(opened.toggle(key="bank_translate_only_small").set_value(True).run())
    assert filled(opened)["code"].tolist() == [i.code for i in items(workspace)[1:3]]
    report(opened, {"0": {"target": "Wieder da."}})
    assert len(filled(opened)) == 2
    assert texts(workspace, "de")[1] == "Wieder da."


def test_a_draft_is_accepted_as_it_is_or_by_typing_another_text(workspace, kept):
    bank = editing.load(workspace, "small")
    drafts = {item.code: f"Entwurf {item.code}" for item in bank.instrument.items[:2]}
    column = GridTextColumn("de", "paraphrase_1")
    drafted = drafting.add_drafts(bank.instrument, column, drafts, "M")
    editing.save(workspace, drafted, expected_revision=bank.revision)
    at = open_page(bank="small")
    go_to(at, "Translations")
    fine(at.selectbox(key="bank_translate_form_small").set_value(("paraphrase_1", "")).run())
    frame = filled(at)
    assert frame["drafter"].tolist() == ["M", "M", "", ""]
    report(at, {"0": {"accepted": True}, "1": {"target": "Eigener Text"}})
    line = "German (Deutsch, de): 2 of 4 items done, 2 missing, 0 unreviewed."
    assert line in [caption.value for caption in at.caption]
    forms = [w for i in items(workspace) for w in i.wordings if w.form == "paraphrase_1"]
    first = items(workspace)[0].code
    assert [(w.text, w.drafted_by) for w in forms] == [
        (f"Entwurf {first}", ""),
        ("Eigener Text", ""),
    ]


def test_a_translation_of_a_changed_text_shows_what_it_was_made_from_and_is_accepted(
    workspace, kept
):
    state = editing.load(workspace, "small")
    first = items(workspace)[0]
    text = grid.wording_of(first, GridTextColumn("en")).text
    changed = grid.with_text(first, GridTextColumn("en"), "A new text.")
    bank = replace(state.instrument, items=(changed, *state.instrument.items[1:]))
    editing.save(workspace, bank, expected_revision=state.revision)
    at = open_page(bank="small")
    assert any(line.value == "de: 1 of an earlier original" for line in at.text)
    go_to(at, "Translations")
    assert filled(at)["earlier"].tolist() == [text, "", "", ""]
    line = "3 of 4 items done, 0 missing, 0 unreviewed, 1 made from a text that changed since."
    assert any(caption.value.endswith(line) for caption in at.caption)
    report(at, {"0": {"accepted": True}})
    assert {w.made_from for item in items(workspace) for w in item.wordings} == {""}


def test_loadings_are_previewed_with_their_faults_and_make_a_version(workspace, kept):
    at = open_page()
    wrong = b"statement_id,text,welfare\na1,x,1.0\nq9,y,2\nb2,z,-1.0\n"
    fine(at.file_uploader(key="loadings_upload_0").set_value(("d.csv", wrong, "text/csv")).run())
    assert at.selectbox(key="loadings_bank_d.csv").value == "small"
    assert at.multiselect(key="loadings_signs_d.csv_3_loadings").value == ["welfare"]
    (faults,) = [d.value for d in at.dataframe if "What is wrong" in d.value]
    assert faults[["Line", "Column"]].to_numpy().tolist() == [[3, "statement_id"]]
    assert not [b for b in at.button if b.key == "loadings_import"]
    fine(at.checkbox(key="loadings_skip").check().run())
    assert "2 of 4 items load on at least one of 1 domain." in " ".join(t.value for t in at.text)
    fine(at.button(key="loadings_import").click().run())
    assert "version 1: 2 of 4 items load" in " ".join(s.value for s in at.success)
    bank = editing.load(workspace, "small").instrument
    assert [item.loadings for item in bank.items] == [{"welfare": 1}, {}, {}, {"welfare": -1}]
