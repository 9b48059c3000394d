from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.instrument import Instrument, Item
from core.errors import DesignError
from core.workflow.designs.item_choice import ItemChoice, choose_items

GENRES = ["debate"] * 20 + ["news"] * 6 + ["sport"] * 3
BANK = Instrument(
    "films",
    "Films",
    tuple(
        Item(f"q{place:02}", genre=genre, attributes={"country": "DE" if place % 2 else "FR"})
        for place, genre in enumerate(GENRES)
    ),
)
GENRE_OF = {item.code: item.genre for item in BANK.items}


def chosen(**settings):
    return choose_items(BANK, ItemChoice(**settings))


def test_without_a_count_every_item_that_passes_is_taken():
    choice = chosen(where={"item.genre": ["sport", "news"]})
    assert list(choice.codes) == [c for c, genre in GENRE_OF.items() if genre != "debate"]
    assert choice.sentence == ("9 items of the 29 of bank 'films' with item.genre = sport or news.")


def test_a_sample_is_the_same_for_the_same_seed_and_in_bank_order():
    first, again, other = chosen(count=10), chosen(count=10), chosen(count=10, seed=2)
    assert first == again
    assert first.codes != other.codes
    assert list(first.codes) == sorted(first.codes)
    assert first.sentence == ("10 items of the 29 of bank 'films', drawn at random with seed 1.")


def test_a_stratified_sample_has_equally_many_items_of_each_value():
    choice = chosen(count=9, stratify_by="item.genre")
    assert Counter(GENRE_OF[code] for code in choice.codes) == {"debate": 3, "news": 3, "sport": 3}
    assert choice.sentence.endswith("stratified by item.genre (debate 3, news 3, sport 3).")


def test_a_value_with_too_few_items_gives_all_and_the_others_share_the_rest():
    choice = chosen(count=19, stratify_by="item.genre")
    counts = Counter(GENRE_OF[code] for code in choice.codes)
    assert counts == {"debate": 10, "news": 6, "sport": 3}


@given(st.integers(1, 29), st.integers(0, 99), st.sampled_from(["", "item.genre", "item.country"]))
def test_a_sample_has_the_size_asked_for_and_no_item_twice(count, seed, stratify_by):
    codes = chosen(count=count, seed=seed, stratify_by=stratify_by).codes
    assert len(codes) == len(set(codes)) == count


def test_every_item_is_drawn_about_as_often_as_any_other():
    drawn = Counter(code for seed in range(600) for code in chosen(count=10, seed=seed).codes)
    # 600 draws with probability 10/29: mean 207, SD 11.6
    assert len(drawn) == 29
    assert all(abs(n - 600 * 10 / 29) < 5 * 11.7 for n in drawn.values())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"where": {"item.year": ["1"]}}, "no attribute 'item.year'. They have: item.keyed"),
        ({"stratify_by": "item.year", "count": 2}, "no attribute 'item.year'"),
        ({"where": {"item.genre": ["opera"]}}, "No item of bank 'films' passes the filter"),
        ({"count": 30}, "A sample of 30 items cannot be drawn from 29."),
        ({"count": 0}, "Choose a number from 1 to 29."),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(settings, words):
    with pytest.raises(DesignError) as refused:
        chosen(**settings)
    assert words in str(refused.value)
