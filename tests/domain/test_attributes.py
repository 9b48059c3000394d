from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.attributes import (
    is_numeric,
    known_attributes,
    levels,
    matching_items,
    number_of,
    number_range,
)
from core.domain.instrument import Instrument, Item, attribute_fault, problems, value_text

FILMS = Instrument(
    "films",
    "Films",
    (
        Item("a", genre="debate", rank=3, attributes={"country": "DE", "year": 1999}),
        Item("b", genre="debate", rank=20, attributes={"country": "FR", "year": 2004.5}),
        Item("c", genre="news", attributes={"country": "DE"}),
        Item("d", attributes={"year": 1950}),
    ),
)


def codes(**filters):
    where = {f"item.{name}": values for name, values in filters.items()}
    return [item.code for item in matching_items(FILMS, where)]


def test_items_pass_that_have_one_of_the_values_of_every_filter():
    assert codes(country=["DE"]) == ["a", "c"]
    assert codes(country=["FR", ""]) == ["b", "d"]
    assert codes(country=["DE"], genre=["news"]) == ["c"]
    assert codes() == ["a", "b", "c", "d"]


def test_a_number_passes_by_its_value_or_by_a_range():
    assert codes(year=["1999.0", "1950"]) == ["a", "d"]
    assert codes(year=["1999.."]) == ["a", "b"]
    assert codes(rank=["..3"]) == ["a"]
    assert codes(year=["1950..1999", ""]) == ["a", "c", "d"]
    assert codes(country=["A..Z"]) == []  # a text is no range


def test_levels_are_numbers_by_size_and_texts_in_bank_order_and_no_value_is_last():
    assert levels(FILMS, "item.year") == ["1950", "1999", "2004.5", ""]
    assert levels(FILMS, "item.country") == ["DE", "FR", ""]
    assert levels(FILMS, "item.rank") == ["3", "20", ""]
    assert is_numeric(FILMS, "item.rank")
    assert not is_numeric(FILMS, "item.genre")


def test_the_attributes_of_a_bank_are_the_fields_in_use_and_its_own():
    assert known_attributes(FILMS) == (
        "item.keyed",
        "item.genre",
        "item.rank",
        "item.country",
        "item.year",
    )


@pytest.mark.parametrize("text", ["007", "1e5", "0x10", "1_000", "", "1,5", "9" * 16, "nan"])
def test_a_text_that_would_not_read_back_the_same_is_no_number(text):
    assert number_of(text) is None


@given(st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_from_its_text(number):
    assert number_of(value_text(number)) == number


@pytest.mark.parametrize("text", ["..", "a..b", "1", "1...5", "..x"])
def test_a_range_needs_a_number_and_two_dots(text):
    assert number_range(text) is None


@pytest.mark.parametrize("name", ["country", "Land der Herkunft", "jahr_2", "国", "a-b"])
def test_a_name_of_letters_digits_and_blanks_is_allowed(name):
    assert attribute_fault(name) == ""


@pytest.mark.parametrize("name", ["", "a.b", " a", "a  b", "a,b", "a=b", "a:b", "Code", "rank"])
def test_a_name_that_files_or_filters_cannot_tell_from_others_is_not(name):
    assert attribute_fault(name)


def test_an_attribute_of_texts_and_numbers_is_one_problem_that_names_both_items():
    items = (
        *FILMS.items,
        Item("e", attributes={"year": "old"}),
        Item("f", attributes={"year": ""}),
    )
    blocking = [p for p in problems(replace(FILMS, items=items)) if p.where.startswith("Attr")]
    assert [p.where for p in blocking] == ["Attribute item.year"]
    assert "item a has the number '1999', but item e has the text 'old'" in blocking[0].what
    assert blocking[0].blocks


def test_two_names_that_differ_in_capital_letters_alone_are_a_problem():
    items = (*FILMS.items, Item("e", attributes={"Year": 1}))
    what = [p.what for p in problems(replace(FILMS, items=items)) if p.where.startswith("Attr")]
    assert what == ["differs from 'year' in capital letters alone"]
