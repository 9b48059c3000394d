from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.instrument import (
    FREE_TEXT,
    Instrument,
    Item,
    Option,
    Rating,
    ResponseFormat,
    Wording,
    problems,
)


def item(code, *texts, **fields):
    return Item(code, tuple(Wording("en", text) for text in texts), **fields)


def scale(*labelled, code="f"):
    options = tuple(Option(o, None, {"en": label} if label else {}) for o, label in labelled)
    return ResponseFormat(code, options)


YES_NO = scale(("yes", "Yes"), ("no", "No"))


def bank(*items, formats=(YES_NO,), languages=("en",)):
    return Instrument("b", "B", items, formats, languages)


def said(instrument):
    return [(problem.where, problem.what, problem.blocks) for problem in problems(instrument)]


def test_a_sound_bank_has_no_problem(small_bank):
    assert problems(small_bank) == ()


def test_a_bank_without_items_or_options_cannot_be_used():
    assert said(bank(formats=())) == [
        ("Bank", "has no items yet", True),
        ("Response options", "there are none yet", True),
    ]


def test_a_format_that_asks_for_a_text_needs_no_options():
    free = ResponseFormat(FREE_TEXT, ())
    assert said(bank(item("q", "Write."), formats=(free,))) == []
    assert said(bank(item("q", "Write."), formats=(replace(free, code="other"),))) == [
        ("Response options other", "there must be at least two", True)
    ]


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([item(" ", "One")], ("Item without a code", "1 item has no code", True)),
        ([item("q", "One"), item("q", "Two")], ("Item q", "the code is used 2 times", True)),
        (
            [item("q\tOne", "One")],
            (
                "Item q One",
                "the code holds a tab or line break, as if several cells were pasted into it",
                True,
            ),
        ),
        ([item("q")], ("Item q", "has no text in 'en'", False)),
        (
            [item("q", "I like {entity}.", "It is fine.")],
            ("Item q", "its text in 'en' does not name {entity}", False),
        ),
        (
            [item("q", "Is {entity} better?", "Is {entity} better than {entity_b}?")],
            ("Item q", "its text in 'en' does not name {entity_b}", False),
        ),
        (
            [item("q", "One", pair="q")],
            ("Item q", "its partner 'q' is no other item", False),
        ),
        (
            [item("q", "One", pair="x")],
            ("Item q", "its partner 'x' is no other item", False),
        ),
        (
            [item("q", "One", pair="r"), item("r", "Two")],
            ("Item q", "names 'r' as its partner, which does not name it back", False),
        ),
        (
            [item("q", "One"), item("r", "  one ")],
            ("Item r", "has the same text in 'en' as item q", False),
        ),
        (
            [item("q", "One", subscale="a"), item("r", "Two")],
            ("Item r", "belongs to no subscale", False),
        ),
    ],
)
def test_what_is_wrong_with_an_item_is_said_with_its_place(items, found):
    assert said(bank(*items)) == [found]


def test_partners_that_name_each_other_are_in_order():
    assert said(bank(item("q", "One", pair="r"), item("r", "Two", pair="q"))) == []


def test_the_same_text_for_another_mood_is_no_repeat():
    other = Item("r", (Wording("en", "One", mood="statement"),))
    assert said(bank(item("q", "One"), other)) == []


@pytest.mark.parametrize(
    ("options", "what", "blocks"),
    [
        (scale(("a", "A")), "there must be at least two", True),
        (scale((" ", "One"), ("b", "Two")), "an option has no code", True),
        (scale(("x", "One"), ("X", "Two")), "the code 'x' is used 2 times", True),
        (scale(("a", "Same"), ("b", "same ")), "2 options are labelled 'same' in 'en'", True),
        (scale(("a", "One"), ("b", "")), "option 'b' has no label in 'en'", False),
        (
            scale(("yes", "No"), ("no", "Never")),
            "the label 'no' of 'yes' is the code of another option",
            True,
        ),
    ],
)
def test_what_is_wrong_with_response_options_is_said_with_their_code(options, what, blocks):
    assert said(bank(item("q", "One"), formats=(options,))) == [
        ("Response options f", what, blocks)
    ]


def test_texts_and_labels_are_asked_for_in_every_language():
    assert said(bank(item("q", "One"), languages=("en", "de"))) == [
        ("Item q", "has no text in 'de'", False),
        ("Response options f", "option 'yes' has no label in 'de'", False),
        ("Response options f", "option 'no' has no label in 'de'", False),
    ]


@pytest.mark.parametrize(("low", "high", "sound"), [(1, 5, True), (3, 3, False), (5, 1, False)])
def test_a_rating_needs_a_low_below_its_high(low, high, sound):
    rated = ResponseFormat("f", (), ratings=(Rating("quality", low, high),))
    fault = (
        "Response options f",
        "the rating 'quality' needs a name and a low below its high",
        True,
    )
    assert said(bank(item("q", "Write."), formats=(rated,))) == ([] if sound else [fault])
