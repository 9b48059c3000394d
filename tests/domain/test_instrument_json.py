from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.instrument import (
    INSTRUMENT,
    Instrument,
    Item,
    Option,
    Party,
    ResponseFormat,
    Wording,
    content_hash,
    to_dict,
)

text = st.text(max_size=5)
signs = st.dictionaries(text, st.sampled_from([-1, 0, 1]), max_size=2)
wordings = st.builds(Wording, text, text, text, text, text)
items = st.builds(
    Item,
    text,
    st.lists(wordings, max_size=3).map(tuple),
    text,
    st.sampled_from([1, -1]),
    text,
    text,
    st.lists(text, max_size=2).map(tuple),
    st.none() | st.integers(),
    signs,
    signs,
    signs,
    st.dictionaries(text, text | st.integers() | st.floats(-9, 9), max_size=2),
    st.dictionaries(text, signs, max_size=2),
)
options = st.builds(
    Option,
    text,
    st.none() | st.floats(-9, 9),
    st.dictionaries(text, text, max_size=2),
    st.sampled_from([None, -1, 0, 1]),
)
formats = st.builds(
    ResponseFormat,
    text,
    st.lists(options, max_size=3).map(tuple),
    st.sampled_from(["coin", "half", "drop"]),
    text,
)
instruments = st.builds(
    Instrument,
    code=text,
    title=text,
    items=st.lists(items, max_size=3).map(tuple),
    formats=st.lists(formats, max_size=2).map(tuple),
    languages=st.lists(text, max_size=2).map(tuple),
    description=text,
    licence=text,
    citation=text,
    kind=st.sampled_from(["items", "words", "prompts"]),
    parties=st.lists(
        st.builds(Party, text, st.sampled_from(["left", "centre", "right"]), text), max_size=2
    ).map(tuple),
)


@given(instruments)
def test_an_instrument_comes_back_from_json_with_its_hash(instrument):
    again = INSTRUMENT.validate_json(json.dumps(to_dict(instrument)))
    assert again == instrument
    assert content_hash(again) == content_hash(instrument)


# computed before banks had kinds, parties, moods and the like
HASH_OF_TEA = "f57c264c6b198d1396d42dc78c9a43c378624580bcd14069e7081b8884e82489"


def test_an_instrument_without_the_new_fields_keeps_the_content_and_hash_it_always_had(small_bank):
    body = to_dict(small_bank)
    assert set(body) == {
        "code",
        "title",
        "description",
        "licence",
        "citation",
        "languages",
        "formats",
        "items",
    }
    assert set(body["items"][0]) == {"code", "subscale", "keyed", "wordings"}
    assert set(body["items"][0]["wordings"][0]) == {"language", "form", "text"}
    assert set(body["formats"][0]) == {"code", "options"}
    assert set(body["formats"][0]["options"][0]) == {"code", "points", "stance", "labels"}
    tea = Instrument("tea", "Tea", (Item("q1", (Wording("en", "I like tea."),)),))
    assert content_hash(tea) == HASH_OF_TEA


def test_the_code_of_a_bank_is_no_part_of_its_content(small_bank):
    assert content_hash(replace(small_bank, code="other")) == content_hash(small_bank)


ITEM = Item("q", (Wording("en", "One"),))
SCALE = ResponseFormat("f", (Option("1", 1.0),))


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "words"},
        {"parties": (Party("p", "left"),)},
        {"parties": (Party("p", "left", "Freedonia"),)},
        {"formats": (replace(SCALE, midpoint="half"),)},
        {"formats": (replace(SCALE, mood="statement"),)},
        {"items": (replace(ITEM, pair="r"),)},
        {"items": (replace(ITEM, genre="noun"),)},
        {"items": (replace(ITEM, tags=("a",)),)},
        {"items": (replace(ITEM, rank=0),)},
        {"items": (replace(ITEM, loadings={"d": 0}),)},
        {"items": (replace(ITEM, positions={"p": 1}),)},
        {"items": (replace(ITEM, directions={"negation": 1}),)},
        {"items": (replace(ITEM, attributes={"country": "DE"}),)},
        {"items": (replace(ITEM, annotations={"anna": {"d": 0}}),)},
        {"items": (replace(ITEM, wordings=(Wording("en", "One", mood="choice"),)),)},
        {"items": (replace(ITEM, wordings=(Wording("en", "One", drafted_by="m"),)),)},
    ],
)
def test_every_field_counts_in_the_hash(changes):
    bank = Instrument("b", "B", (ITEM,), (SCALE,))
    assert content_hash(replace(bank, **changes)) != content_hash(bank)
