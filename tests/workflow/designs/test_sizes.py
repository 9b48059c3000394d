"""The cost of a design, and the blocks that ask a prompt of it."""

from __future__ import annotations

from dataclasses import replace

from core.domain.study import Block, Design
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.studies import personas, service, simulated


def test_each_prompt_names_the_blocks_whose_levels_it_has(workspace):
    catalog.save(workspace, simulated("A"))
    catalog.save(workspace, simulated("B"))
    design = Design(
        "s",
        "policy_60",
        ("A", "B"),
        items=("open_foreign_policy_01", "open_foreign_policy_02"),
        forms=("original", "negation"),
        contexts=personas(2),
        repetitions=2,
        formats=("agree_disagree", "support_oppose"),
        blocks=(
            Block("first", forms=("original",), contexts=("",)),
            Block("second", respondents=("B",), items=("open_foreign_policy_02",)),
            Block("third", formats=("support_oppose",), repetitions=1),
        ),
    )
    seen = set()
    for person in studies.size(workspace, design).respondents:
        for number in range(person.prompts):
            question = studies.example(workspace, design, number, respondent=person.label).question
            expected = (
                *((0,) if question.form == "original" and not question.context else ()),
                *(
                    (1,)
                    if person.label == "B"
                    and question.context
                    and question.items[0].code == "open_foreign_policy_02"
                    else ()
                ),
                *(
                    (2,)
                    if question.response_format.code == "support_oppose" and question.context
                    else ()
                ),
            )
            own = studies.blocks_of_example(workspace, design, number, respondent=person.label)
            assert own == expected
            seen.add(own)
    assert seen == {(0,), (1,), (2,), (1, 2)}


def test_the_total_cost_is_that_of_all_respondents_from_a_token_to_the_longest_replies(workspace):
    """Prompts are free here; a token of a reply costs one and two dollars, of 10 and 7 at most."""
    for label, price, longest in (("A", 1_000_000.0, 10), ("B", 2_000_000.0, 7)):
        person = service("https://example.org/v1", label, price_in=0.0, price_out=price)
        catalog.save(
            workspace, replace(person, sampling=replace(person.sampling, max_tokens=longest))
        )
    design = Design("s", "attitudes_20", ("A", "B"), contexts=personas(3), ask_again=2)
    size = studies.size(workspace, design)
    assert [person.calls for person in size.respondents] == [60, 60]
    # at least a token for each call; at most three tries of the longest reply
    assert [person.cost_low for person in size.respondents] == [60, 120]
    assert [person.cost_high for person in size.respondents] == [60 * 3 * 10, 60 * 3 * 7 * 2]
    assert size.cost == (180, 1800 + 2520)
    free = replace(design, respondents=("A",), ask_again=0)
    assert studies.size(workspace, free).cost == (60, 600)
