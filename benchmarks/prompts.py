"""The prompts Inkblot would send, for those who ask without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BANK = Path(__file__).parents[1] / "data" / "banks" / "attitudes_20.csv"


def attitude_prompts(calls: int) -> list[Any]:
    """Messages that put 20 items to calls / 20 numbered personas, in the order of a plan."""
    from core.collect.client import Question
    from core.domain.study import STANDARD, Design
    from core.files import templates
    from core.files.banks.reading import read_instrument
    from core.workflow.prompts import StudyMaterials, Wordings
    from tests.workflow.studies import personas, service

    bank = read_instrument(BANK.name, BANK.read_bytes()).instrument
    person = service("http://127.0.0.1:1/v1")
    contexts = personas(calls // 20)
    built_in = templates.built_in_templates()
    asked = StudyMaterials(
        Design("prompts", bank.code, (person.label,), contexts=contexts),
        bank,
        {context.code: context for context in contexts},
        Wordings({found.code: found for found in built_in.templates}, built_in.replies),
    )
    questions = (
        Question((item,), bank.formats[0], "en", context.code, template=STANDARD)
        for context in contexts
        for item in bank.items
    )
    return [
        [dict(message) for message in asked.request(person, question).messages]
        for question in questions
    ]
