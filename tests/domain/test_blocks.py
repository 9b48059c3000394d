"""A design of blocks: each block is a crossing, and what it does not state is the design's."""

from __future__ import annotations

import json
from dataclasses import replace

from core.domain.study import (
    DESIGN,
    Block,
    Context,
    Design,
    Respondent,
    SamplingSettings,
    as_json_values,
)
from core.workflow.designs.studies import design_of_yaml, design_yaml

DESIGN_OF_TWO = Design(
    "s",
    "bank",
    ("a", "b"),
    contexts=(Context("c1", "One."), Context("c2", "Two.")),
    blocks=(
        Block("first", forms=("original",), contexts=("c2",), items_per_call=(10, 30)),
        Block("second", respondents=("a",), contexts=("",), repetitions=5, top_p=(0.9, 1)),
    ),
)


def test_a_block_takes_what_it_does_not_state_from_the_design():
    first, second = DESIGN_OF_TWO.crossings()
    assert (first.respondents, second.respondents) == (("a", "b"), ("a",))
    assert (first.block_sizes, second.block_sizes) == ((10, 30), (1,))
    assert [context.code for context in first.contexts] == ["c2"]
    assert second.contexts == ()
    assert (first.repetitions, second.repetitions) == (1, 5)
    assert first.blocks == second.blocks == ()


def test_a_design_without_blocks_is_one_crossing():
    design = replace(DESIGN_OF_TWO, blocks=())
    assert design.crossings() == (design,)


def test_blocks_survive_yaml_and_json():
    assert design_of_yaml(design_yaml(DESIGN_OF_TWO)) == DESIGN_OF_TWO
    body = as_json_values(DESIGN_OF_TWO)
    assert DESIGN.validate_json(json.dumps(body)) == DESIGN_OF_TWO
    assert body["blocks"][1] == {
        "name": "second",
        "respondents": ["a"],
        "contexts": [""],
        "repetitions": 5,
        "top_p": [0.9, 1],
    }


def test_a_design_without_later_fields_keeps_its_json():
    later = {"items", "top_p", "max_tokens", "histories", "second_phase", "blocks"}
    assert not later & set(as_json_values(Design("s", "bank", ("a",))))


def test_later_settings_at_their_defaults_keep_the_id_of_a_respondent():
    person = Respondent("a", "api", "m", "https://x/v1")
    assert person.respondent_id == 3110979549690052275
    limited = replace(person, sampling=SamplingSettings(tokens_per_minute=100))
    assert limited.respondent_id != person.respondent_id
