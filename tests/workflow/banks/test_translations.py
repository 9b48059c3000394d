"""A translation remembers the text that it was made from, once that text has changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.instrument import Instrument, Item, Wording
from core.files.banks.reading import read_instrument
from core.files.banks.writing import instrument_to_csv, instrument_to_xlsx
from core.workflow.banks import drafting, editing, grid
from core.workflow.banks.grid import GridEdits, GridTextColumn, rows_to_translate
from core.workflow.banks.translations import keep_marks, mark_outdated

EN, DE = GridTextColumn("en"), GridTextColumn("de")
BANK = Instrument(
    "walks",
    "Walks",
    (
        Item("a", (Wording("en", "I like walks."), Wording("de", "Ich gehe gern spazieren."))),
        Item("b", (Wording("en", "I walk fast."), Wording("en", "I do not.", "negation"))),
    ),
    languages=("en", "de"),
)


def typed(bank, column, text, *, row=0):
    """The bank after a text was typed into the grid of items, as it is saved."""
    edits = GridEdits.of({"edited_rows": {str(row): {column.name: text}}}, len(bank.items))
    items = grid.edit_items(bank.items, range(len(bank.items)), edits)
    return mark_outdated(bank, replace(bank, items=items))


def german(bank):
    return grid.wording_of(bank.items[0], DE)


def test_a_changed_original_leaves_the_text_that_the_translation_was_made_from():
    bank = typed(BANK, EN, "I love walks.")
    assert german(bank) == Wording("de", "Ich gehe gern spazieren.", made_from="I like walks.")
    assert rows_to_translate(bank, DE) == (0, 1)
    # a second change keeps the text that was really translated
    assert german(typed(bank, EN, "I adore walks.")).made_from == "I like walks."
    assert german(typed(bank, EN, "I like  walks.")).made_from == ""  # as it was, but for a space
    (gap,) = (g for g in editing.gaps(bank, [DE]))
    assert (gap.n_missing, gap.n_unreviewed, gap.n_outdated) == (1, 0, 1)
    assert editing.rows_with_problems(bank, [DE], ()) == (0, 1)


def test_an_edit_reported_again_from_the_earlier_state_keeps_the_marks():
    bank = typed(BANK, EN, "I love walks.")
    again = replace(BANK, items=(grid.with_text(BANK.items[0], EN, "I love walks."), BANK.items[1]))
    assert keep_marks(bank, again) == bank
    accepted = replace(BANK, items=(bank.items[0], BANK.items[1]))
    assert german(keep_marks(BANK, accepted)).made_from == ""


@pytest.mark.parametrize("text", ["I like  walks.\n", "I like walks."])
def test_spaces_make_nothing_outdated(text):
    assert german(typed(BANK, EN, text)).made_from == ""


def test_a_text_that_is_taken_away_and_typed_anew_is_a_change():
    emptied = typed(BANK, EN, "")
    assert german(emptied).made_from == "I like walks."
    assert german(typed(emptied, EN, "I love walks.")).made_from == "I like walks."
    assert german(typed(emptied, EN, "I like walks.")).made_from == ""


def test_the_mark_goes_with_an_item_that_gets_another_code():
    bank = typed(BANK, EN, "I love walks.")
    edits = GridEdits.of({"edited_rows": {"0": {EN.name: "I love walks.", "code": "z"}}}, 2)
    items = grid.edit_items(BANK.items, range(2), edits)  # the grid still begins at the first state
    renamed = mark_outdated(bank, keep_marks(bank, replace(BANK, items=items)))
    assert renamed.items[0].code == "z"
    assert german(renamed).made_from == "I like walks."
    both = replace(BANK, items=items)
    assert german(mark_outdated(BANK, both)).made_from == "I like walks."


def test_a_draft_that_is_accepted_or_reworded_is_of_the_text_as_it_is():
    bank = typed(BANK, EN, "I love walks.")
    drafted = replace(
        bank, items=(grid.with_text(bank.items[0], DE, "Entwurf.", drafted_by="M"), bank.items[1])
    )
    assert german(drafted).made_from == ""
    stale = typed(drafted, EN, "I adore walks.")
    assert german(stale).made_from == "I love walks."
    place = ("a", DE)
    assert german(drafting.accept(stale, [place])).made_from == ""
    assert german(drafting.edit(stale, place, "Neu.")).made_from == ""


def test_a_change_of_the_translation_makes_nothing_outdated_and_brings_it_up_to_date():
    assert typed(BANK, DE, "Ich spaziere gern.").items[0].wordings[0].made_from == ""
    bank = typed(BANK, EN, "I love walks.")
    assert german(typed(bank, DE, "Ich liebe Spaziergänge.")).made_from == ""
    # the grid reports all its edits again with each new one: the same text is no confirmation
    assert german(typed(bank, DE, "Ich gehe gern spazieren.")).made_from == "I like walks."


def test_both_texts_changed_at_once_belong_together():
    cells = {EN.name: "I love walks.", DE.name: "Ich liebe Spaziergänge."}
    edits = GridEdits.of({"edited_rows": {"0": cells}}, 2)
    items = grid.edit_items(BANK.items, range(2), edits)
    assert german(mark_outdated(BANK, replace(BANK, items=items))).made_from == ""


def test_a_form_follows_the_original_of_its_own():
    negation = GridTextColumn("de", "negation")
    bank = typed(BANK, negation, "Ich nicht.", row=1)
    assert grid.wording_of(typed(bank, EN, "I run.", row=1).items[1], negation).made_from == ""
    changed = typed(bank, GridTextColumn("en", "negation"), "I do not walk.", row=1)
    assert grid.wording_of(changed.items[1], negation).made_from == "I do not."


def test_accepting_a_translation_confirms_it():
    bank = typed(BANK, EN, "I love walks.")
    frame = grid.translation_rows(bank, (0, 1), EN, DE)
    assert frame[grid.EARLIER].tolist() == ["I like walks.", ""]
    edits = GridEdits.of({"edited_rows": {"0": {grid.ACCEPTED: True}}}, 2)
    accepted = mark_outdated(bank, grid.edit_translations(bank, (0, 1), DE, edits))
    assert german(accepted) == Wording("de", "Ich gehe gern spazieren.")
    assert grid.EARLIER not in grid.translation_rows(accepted, (0, 1), EN, DE)


@pytest.mark.parametrize("file_format", ["csv", "xlsx"])
def test_a_file_holds_what_is_outdated(file_format):
    bank = typed(BANK, EN, "I love; walks=fun.")
    write = {"csv": instrument_to_csv, "xlsx": instrument_to_xlsx}[file_format]
    draft = read_instrument(f"walks.{file_format}", write(bank))
    assert draft.errors == ()
    assert draft.instrument == bank


def test_a_file_with_a_mark_and_no_text_is_refused_in_words():
    data = b"code,text_en,outdated\nq,One,text_de=Eins;text_en\n"
    assert [(e.column, e.reason) for e in read_instrument("b.csv", data).errors] == [
        ("outdated", "there is no text in 'text_de' in this row"),
        ("outdated", "the original of 'text_en' is missing, as in text_de=I like to walk"),
    ]


def test_saving_marks_what_an_edit_left_behind_and_undo_takes_it_back(workspace):
    state = editing.create(workspace, "Walks")
    first = replace(BANK, code=state.instrument.code, formats=state.instrument.formats)
    state = editing.save(workspace, first, expected_revision=state.revision)
    items = typed(first, EN, "I love walks.").items
    unmarked = replace(first, items=(grid.with_text(first.items[0], EN, "I love walks."), items[1]))
    state = editing.save(workspace, unmarked, expected_revision=state.revision)
    assert german(state.instrument).made_from == "I like walks."
    assert german(editing.undo(workspace, first.code).instrument).made_from == ""
