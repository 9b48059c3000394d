"""Characters that no file or picture can hold."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import MappingProxyType
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.domain.characters import readable, readable_json, readable_value
from core.domain.instrument import Item, Wording

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))


def in_xml(text):
    """Whether XML 1.0 has a place for all of it: Char in section 2.2 of the recommendation."""
    return all(
        one in "\t\n\r" or " " <= one <= "\ud7ff" or "\ue000" <= one <= "\ufffd" or one > "\uffff"
        for one in text
    )


def test_no_character_is_left_that_xml_or_a_picture_has_no_place_for():
    made = readable(EVERY_CHARACTER)
    assert in_xml(made)
    assert not {"\u2028", "\u2029"} & set(made)
    kept = [one for one in EVERY_CHARACTER if in_xml(one) and one not in "\u2028\u2029"]
    assert all(readable(one) == one for one in kept[:70_000:7])
    ElementTree.fromstring(f"<a>{made.replace('&', '').replace('<', '')}</a>")


def test_line_separators_become_line_feeds_and_other_characters_their_escapes():
    assert readable("a\u2028b\u2029c\x0bd\x0ce") == "a\nb\nc\nd\ne"
    assert readable("4\0 \x01\ud800\ufffe") == r"4\u0000 \u0001\ud800\ufffe"
    assert readable("tab\tline\r\nend \\u0000 \x85 é 🙂") == "tab\tline\r\nend \\u0000 \x85 é 🙂"


@given(st.recursive(st.text(), lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts)))
def test_json_becomes_readable_as_its_value_does(value):
    made = json.loads(readable_json(json.dumps(value, ensure_ascii=False)))
    assert made == readable_value(value)
    assert readable_value(made) is made


@pytest.mark.parametrize("kind", [list, tuple])
def test_frozen_values_become_readable_throughout_and_others_stay_the_same_object(kind):
    item = Item("q", (Wording("en", "one\u2028two"),), attributes={"a\0": 2, "b": "\x01"})
    made = readable_value(kind([item]))
    wordings = (Wording("en", "one\ntwo"),)
    assert made == kind(
        [replace(item, wordings=wordings, attributes={"a\\u0000": 2, "b": "\\u0001"})]
    )
    assert readable_value(made) is made
    frozen = readable_value(MappingProxyType({"a": "\0"}))
    assert (type(frozen), dict(frozen)) == (MappingProxyType, {"a": r"\u0000"})
