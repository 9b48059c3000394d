from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.instrument import Item, Wording
from core.errors import BankError, ConflictError
from core.store import banks


def saved(database, bank, revision=None):
    return banks.save_draft(database, bank, expected_revision=revision, summary="test")


def test_a_draft_comes_back_as_it_was(database, small_bank):
    strange = replace(
        small_bank,
        title='=1+1 "quoted" <img onerror> مرحبا 🙂',
        items=(*small_bank.items, Item("x", (Wording("en", "line\nbreak\t'"),))),
    )
    saved(database, strange)
    assert banks.draft(database, "small").instrument == strange


def test_an_edit_from_an_older_state_is_a_conflict_and_changes_nothing(database, small_bank):
    first = saved(database, small_bank)
    second = saved(database, replace(small_bank, title="by tab one"), first.revision)
    with pytest.raises(ConflictError, match="another tab"):
        saved(database, replace(small_bank, title="by tab two"), first.revision)
    state = banks.draft(database, "small")
    assert state.instrument.title == "by tab one"
    assert state.revision == second.revision


def test_undo_and_redo_walk_through_every_save(database, small_bank):
    state = saved(database, small_bank)
    for title in ("one", "two", "three"):
        state = saved(database, replace(small_bank, title=title), state.revision)
    titles = []
    for _ in range(3):
        state = banks.undo(database, "small")
        titles.append(state.instrument.title)
    assert titles == ["two", "one", "Small bank"]
    assert not state.can_undo
    with pytest.raises(BankError, match="nothing to undo"):
        banks.undo(database, "small")
    assert banks.redo(database, "small").instrument.title == "one"
    state = banks.redo(database, "small")
    state = saved(database, replace(small_bank, title="another way"), state.revision)
    assert not state.can_redo
    assert banks.undo(database, "small").instrument.title == "two"


def test_publishing_twice_without_a_change_is_one_version(database, small_bank):
    first = banks.publish(database, small_bank)
    assert banks.publish(database, small_bank) == first
    second = banks.publish(database, replace(small_bank, title="changed"))
    assert (first.version, second.version) == (1, 2)


def test_a_version_never_changes(database, small_bank):
    version = banks.publish(database, small_bank)
    state = saved(database, small_bank)
    saved(database, replace(small_bank, items=small_bank.items[:1]), state.revision)
    assert banks.instrument(database, version.instrument_id) == small_bank
    rows = database.rows(
        "select code, subscale, keyed from item where instrument_id = ? order by position",
        [version.instrument_id],
    )
    assert rows == [("a1", "A", 1), ("a2", "A", -1), ("b1", "B", 1), ("b2", "B", 1)]


def test_a_version_holds_the_attributes_of_its_items_as_text_and_number(database, small_bank):
    values = ({"country": "DE", "year": 1999}, {"year": 2.5}, {}, {"country": "FR"})
    pairs = zip(small_bank.items, values, strict=True)
    items = tuple(replace(item, attributes=attributes) for item, attributes in pairs)
    banks.publish(database, replace(small_bank, items=items))
    rows = database.rows(
        "select code, name, text, number from item_attribute join item using (item_id)"
        " order by code, name"
    )
    assert rows == [
        ("a1", "country", "DE", None),
        ("a1", "year", "1999", 1999.0),
        ("a2", "year", "2.5", 2.5),
        ("b2", "country", "FR", None),
    ]


def test_only_the_newest_revisions_are_kept(database, small_bank, monkeypatch):
    monkeypatch.setattr(banks, "KEPT_REVISIONS", 3)
    state = saved(database, small_bank)
    for number in range(6):
        state = saved(database, replace(small_bank, title=str(number)), state.revision)
    assert database.rows("select count(*) from draft") == [(3,)]
    assert banks.undo(database, "small").instrument.title == "4"


def test_archived_banks_come_back(database, small_bank):
    saved(database, small_bank)
    banks.set_archived(database, "small", True)
    assert banks.draft(database, "small").archived
    banks.set_archived(database, "small", False)
    assert not banks.draft(database, "small").archived
