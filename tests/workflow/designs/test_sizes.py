"""The blocks that ask a prompt of a design."""

from __future__ import annotations

from core.domain.study import Block, Design
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from tests.workflow.studies import personas, simulated


def test_each_prompt_names_the_blocks_whose_levels_it_has(workspace):
    catalog.save(workspace, simulated("A"))
    catalog.save(workspace, simulated("B"))
    design = Design(
        "s", "policy_60", ("A", "B"), items=("open_foreign_policy_01", "open_foreign_policy_02"),
        forms=("original", "negation"), contexts=personas(2), repetitions=2,
        formats=("agree_disagree", "support_oppose"),
        blocks=(
            Block("first", forms=("original",), contexts=("",)),
            Block("second", respondents=("B",), items=("open_foreign_policy_02",)),
            Block("third", formats=("support_oppose",), repetitions=1),
        ),
    )  # fmt: skip
    seen = set()
    for person in studies.size(workspace, design).respondents:
        for number in range(person.prompts):
            question = studies.example(workspace, design, number, respondent=person.label).question
            expected = (
                *((0,) if question.form == "original" and not question.context else ()),
                *((1,) if person.label == "B" and question.context
                  and question.items[0].code == "open_foreign_policy_02" else ()),
                *((2,) if question.response_format.code == "support_oppose" and question.context
                  else ()),
            )  # fmt: skip
            own = studies.blocks_of_example(workspace, design, number, respondent=person.label)
            assert own == expected
            seen.add(own)
    assert seen == {(0,), (1,), (2,), (1, 2)}
