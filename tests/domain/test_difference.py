from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.difference import changed_words, differences
from core.domain.instrument import Item, Option, Party, ResponseFormat, Wording


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


def test_another_text_is_critical_with_its_words_and_a_first_one_is_not(small_bank):
    """Models of earlier studies have read the text that was there."""
    wordings = (Wording("en", "New."), Wording("de", "Satz zu a1."), Wording("fr", "Phrase."))
    changes = found(small_bank, with_first_item(small_bank, wordings=wordings))
    text = changes["Item a1", "text changed (en, original)"]
    assert (text.before, text.after, text.critical) == ("Text of a1.", "New.", True)
    assert text.words == "Text of a1 → New"
    first = changes["Item a1", "text changed (fr, original)"]
    assert (first.before, first.after, first.words, first.critical) == ("", "Phrase.", "", False)
    gone = found(small_bank, with_first_item(small_bank, wordings=wordings[:1]))
    assert gone["Item a1", "text changed (de, original)"].critical


def test_a_text_with_other_spaces_is_not_critical(small_bank):
    """No word is another one."""
    wordings = (Wording("en", "Text  of a1. "), *small_bank.items[0].wordings[1:])
    (change,) = differences(small_bank, with_first_item(small_bank, wordings=wordings))
    assert change.what == "text changed (en, original), in spaces or line breaks"
    assert (change.words, change.critical) == ("", False)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("I often help.", "I always help.", "often → always"),
        ("I help.", "I never help at all.", "+ never; + at all"),
        ("Ich bin nicht froh", "Ich bin froh", "− nicht"),
        ("我经常帮助别人。", "我总是帮助别人。", "经常 → 总是"),
        ("don't", "do", "don't → do"),
        ("a <b> c", "a <b> c", ""),
        ("क्या अक्सर", "क्या हमेशा", "अक्सर → हमेशा"),
        ("السَّلَامُ عليكم", "السَّلَامُ عليك", "عليكم → عليك"),
        ("cafe\u0301 noir", "caf\u00e9 noir", ""),
        ("ฉันชอบ", "ฉันไม่ชอบ", "+ ไม่"),
        ("1", "-1", "1 → -1"),
        ("no = 1,000.50", "no = 1,000.60", "1,000.50 → 1,000.60"),
        ("well-being now", "well being now", "well-being → well being"),
        ("a " * 2000, "b " * 2000, "long texts, see before and after"),
        ("same words", "same  words", ""),
    ],
)
def test_changed_words_are_those_that_a_reader_would_mark(before, after, words):
    assert changed_words(before, after) == words


def test_items_added_removed_and_moved_are_told_apart(small_bank):
    a1, a2, b1, _ = small_bank.items
    new = replace(small_bank, items=(a2, a1, b1, Item("c1", (Wording("en", "C."),))))
    changes = found(small_bank, new)
    assert changes["Item b2", "removed"].critical
    assert changes["Item c1", "added"].after == "C."
    assert changes["Bank", "items are in another order"].after == "a2 a1 b1"


def test_points_and_other_labels_are_critical_and_labels_of_a_new_language_are_not(small_bank):
    (three,) = small_bank.formats
    first, *rest = three.options
    points = ResponseFormat("three", (replace(first, points=0.0), *rest))
    labels = ResponseFormat("three", (replace(first, labels={"en": "no"}), *rest))
    assert [
        c.critical for c in differences(small_bank, replace(small_bank, formats=(points,)))
    ] == [True]
    assert [
        c.critical for c in differences(small_bank, replace(small_bank, formats=(labels,)))
    ] == [True]
    more = ResponseFormat("three", (replace(first, labels={**first.labels, "fr": "non"}), *rest))
    assert [c.critical for c in differences(small_bank, replace(small_bank, formats=(more,)))] == [
        False
    ]


def test_critical_changes_come_first(small_bank):
    new = with_first_item(replace(small_bank, title="Other"), keyed=-1)
    assert [change.critical for change in differences(small_bank, new)] == [True, False]


def test_another_set_of_options_is_named(small_bank):
    other = ResponseFormat("two", (Option("1", 1.0, {}), Option("2", 2.0, {})))
    changes = found(small_bank, replace(small_bank, formats=(other,)))
    assert changes["Response options three", "removed"].critical
    assert changes["Response options two", "added"].after == "1 = 1.0, 2 = 2.0"


@pytest.mark.parametrize(
    ("changes", "what", "before", "after"),
    [
        ({"pair": "a2"}, "partner changed", "", "a2"),
        ({"loadings": {"health": -1}}, "domain 'health' changed", "0", "-1"),
        ({"positions": {"greens": 1}}, "position of 'greens' changed", "0", "1"),
        (
            {"directions": {"negation": 1}},
            "direction of the form 'negation' changed",
            "inverted",
            "same",
        ),
    ],
)
def test_what_turns_results_around_is_critical(small_bank, changes, what, before, after):
    (change,) = differences(small_bank, with_first_item(small_bank, **changes))
    assert (change.where, change.what, change.before, change.after, change.critical) == (
        "Item a1",
        what,
        before,
        after,
        True,
    )


def test_a_zero_that_is_written_out_and_a_rule_that_is_stated_change_nothing(small_bank):
    new = with_first_item(
        small_bank,
        loadings={"health": 0},
        positions={"greens": 0},
        directions={"negation": -1, "paraphrase_1": 1},
    )
    assert differences(small_bank, new) == ()


@pytest.mark.parametrize(
    ("changes", "what", "after"),
    [
        ({"genre": "drinks"}, "genre changed", "drinks"),
        ({"tags": ("hot", "black")}, "tags changed", "hot, black"),
        ({"rank": 0}, "rank changed", "0"),
        ({"attributes": {"year": 1999}}, "item.year changed", "1999"),
        (
            {"annotations": {"anna": {"health": 0}}},
            "domain 'health' changed by annotator 'anna'",
            "0",
        ),
    ],
)
def test_what_only_sorts_items_is_not_critical(small_bank, changes, what, after):
    (change,) = differences(small_bank, with_first_item(small_bank, **changes))
    assert (change.what, change.before, change.after, change.critical) == (what, "", after, False)


def test_a_wording_for_one_mood_and_an_accepted_draft_are_named_and_not_critical(small_bank):
    statement = Wording("en", "Tea is good.", mood="statement")
    draft = Wording("de", "Satz zu a1.", drafted_by="gpt")
    old = with_first_item(small_bank, wordings=(small_bank.items[0].wordings[0], draft))
    new = with_first_item(small_bank, wordings=(*small_bank.items[0].wordings, statement))
    changes = found(old, new)
    assert [change.critical for change in changes.values()] == [False, False]
    assert changes["Item a1", "text changed (en, original, statement)"].after == "Tea is good."
    assert changes["Item a1", "draft accepted (de, original)"].before == "gpt"
    back = found(new, old)
    assert back["Item a1", "text marked as a draft (de, original)"].after == "gpt"


def test_midpoint_and_mood_of_a_format_are_critical_and_said_in_words(small_bank):
    (three,) = small_bank.formats
    other = replace(three, midpoint="half", mood="statement")
    changes = found(small_bank, replace(small_bank, formats=(other,)))
    midpoint = changes["Response options three", "what an answer without a side counts changed"]
    assert (midpoint.after, midpoint.critical) == ("0.5", True)
    mood = changes["Response options three", "which wordings it takes changed"]
    assert (mood.before, mood.after, mood.critical) == ("general", "statement", True)


def test_parties_and_the_kind_of_a_bank_are_critical(small_bank):
    old = replace(small_bank, parties=(Party("p", "left"), Party("q", "left")))
    new = replace(small_bank, parties=(Party("q", "right"), Party("r", "centre")), kind="words")
    changes = found(old, new)
    assert all(change.critical for change in changes.values())
    assert changes["Party p", "removed"].before == "left"
    assert changes["Party r", "added"].after == "centre"
    assert changes["Party q", "leaning changed"].after == "right"
    assert changes["Bank", "kind changed"].after == "a list of words"


def test_the_country_of_a_party_is_not_critical(small_bank):
    old = replace(small_bank, parties=(Party("p", "left", "DE"), Party("q", "left")))
    new = replace(small_bank, parties=(Party("p", "left", "AT"), Party("r", "left", "FR")))
    change = found(old, new)["Party p", "country changed"]
    assert (change.before, change.after, change.critical) == ("DE", "AT", False)
    assert ("Party r", "country changed") not in found(old, new)
