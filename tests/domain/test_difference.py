from __future__ import annotations

from dataclasses import replace

from core.domain.difference import differences
from core.domain.instrument import Item, Option, ResponseFormat, Wording


def found(old, new):
    return {(change.where, change.what): change for change in differences(old, new)}


def with_first_item(bank, **changes):
    return replace(bank, items=(replace(bank.items[0], **changes), *bank.items[1:]))


def test_nothing_changed_is_nothing_found(small_bank):
    assert differences(small_bank, small_bank) == ()


def test_keying_and_subscale_are_critical_and_said_in_words(small_bank):
    changes = found(small_bank, with_first_item(small_bank, keyed=-1, subscale="B"))
    keying = changes["Item a1", "keying changed"]
    assert (keying.before, keying.after, keying.critical) == ("keyed", "reverse-keyed", True)
    assert changes["Item a1", "subscale changed"].critical


def test_a_new_text_is_shown_with_its_language_and_is_not_critical(small_bank):
    wordings = (Wording("en", "New."), Wording("de", "Satz zu a1."))
    (change,) = differences(small_bank, with_first_item(small_bank, wordings=wordings))
    assert (change.what, change.before, change.after, change.critical) == (
        "text changed (en, original)", "Text of a1.", "New.", False,
    )  # fmt: skip


def test_items_added_removed_and_moved_are_told_apart(small_bank):
    a1, a2, b1, _ = small_bank.items
    new = replace(small_bank, items=(a2, a1, b1, Item("c1", (Wording("en", "C."),))))
    changes = found(small_bank, new)
    assert changes["Item b2", "removed"].critical
    assert changes["Item c1", "added"].after == "C."
    assert changes["Bank", "items are in another order"].after == "a2 a1 b1"


def test_points_are_critical_and_labels_are_not(small_bank):
    (three,) = small_bank.formats
    first, *rest = three.options
    points = ResponseFormat("three", (replace(first, points=0.0), *rest))
    labels = ResponseFormat("three", (replace(first, labels={"en": "no"}), *rest))
    assert [
        c.critical for c in differences(small_bank, replace(small_bank, formats=(points,)))
    ] == [True]
    assert [
        c.critical for c in differences(small_bank, replace(small_bank, formats=(labels,)))
    ] == [False]


def test_critical_changes_come_first(small_bank):
    new = with_first_item(replace(small_bank, title="Other"), keyed=-1)
    assert [change.critical for change in differences(small_bank, new)] == [True, False]


def test_another_set_of_options_is_named(small_bank):
    other = ResponseFormat("two", (Option("1", 1.0, {}), Option("2", 2.0, {})))
    changes = found(small_bank, replace(small_bank, formats=(other,)))
    assert changes["Response options three", "removed"].critical
    assert changes["Response options two", "added"].after == "1 = 1.0, 2 = 2.0"
