"""The messages that a template makes of a bank's items, and a reply to them that is not kept."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Final

from core.collect.client import ChatRequest, Question
from core.domain.instrument import ORIGINAL, Instrument, Item
from core.domain.study import Context, Design, LabelOrder, Respondent, Status
from core.domain.templates import PromptTemplate
from core.errors import DesignError
from core.workflow import prompts
from core.workflow.prompts import StudyMaterials, Wordings, shown_format
from core.workflow.respondents import catalog
from core.workflow.runs.reading import read_reply
from core.workflow.workspace import Workspace

NO_CONTEXT: Final = Context("")
PERSONA: Final = Context("persona", "You are a baker in a small town by the sea.")
CONVERSATION: Final = Context(
    "conversation",
    messages=(
        {"role": "user", "content": "Will it rain on Sunday?"},
        {"role": "assistant", "content": "Probably in the evening. The morning stays dry."},
    ),
)
"""Contexts to look at a template with; both are our own."""

_NOBODY = Respondent("preview", "simulated", "preview")
_SEED = 1


@dataclass(frozen=True)
class Sample:
    """What a template is shown with: items of a bank under one set of conditions."""

    bank: Instrument
    first_item: int  # its place, from 0
    n_items: int
    response_format: str
    language: str
    form: str = ORIGINAL
    label_order: LabelOrder = "as_is"
    context: Context = NO_CONTEXT
    entity: str = ""
    entity_b: str = ""

    @property
    def items(self) -> tuple[Item, ...]:
        """The items, fewer at the end of the bank."""
        return self.bank.items[self.first_item : self.first_item + self.n_items]


@dataclass(frozen=True)
class ReadAnswer:
    """What one item came to in a reply."""

    item: str
    status: Status
    option: str  # its code in the bank; empty: none
    label: str


@dataclass(frozen=True)
class TestedTemplate:
    """The reply to a preview and how it was read. Nothing of it is kept."""

    reply: str
    seconds: float
    answers: tuple[ReadAnswer, ...]


def request(
    workspace: Workspace,
    template: PromptTemplate,
    sample: Sample,
    respondent: Respondent = _NOBODY,
) -> ChatRequest:
    """The request that a study would send with this template.

    Raises
    ------
    DesignError
        The bank has no items, an item has no text, or the template cannot be used so.
    """
    if not sample.items:
        raise DesignError("The bank has no items.", "Choose another bank.")
    design = Design("preview", sample.bank.code, (respondent.label,))
    replies = prompts.load_wordings(workspace).replies
    materials = StudyMaterials(
        design,
        sample.bank,
        {sample.context.code: sample.context},
        Wordings({template.code: template}, replies),
    )
    return materials.request(respondent, _question(template, sample))


def test(
    workspace: Workspace, template: PromptTemplate, sample: Sample, respondent: Respondent
) -> TestedTemplate:
    """Send a preview to a respondent, and read the reply as a study would.

    Raises
    ------
    CollectionError
        There was no reply.
    """
    asked = request(workspace, template, sample, respondent)
    started = time.monotonic()
    reply = catalog.ask(workspace, respondent, asked)
    seconds = time.monotonic() - started
    language = template.instructions or sample.language
    answers = []
    for item, parsed in zip(sample.items, read_reply(reply, asked.question), strict=True):
        option = asked.question.response_format.option(parsed.option or "")
        label = option.labels.get(language, "") if option else ""
        answers.append(ReadAnswer(item.code, parsed.status, parsed.option or "", label))
    return TestedTemplate(reply.text, seconds, tuple(answers))


def _question(template: PromptTemplate, sample: Sample) -> Question:
    response_format = sample.bank.format(sample.response_format)
    if response_format is None:
        raise DesignError(
            f"The bank has no answer format '{sample.response_format}'.", "Choose one of its own."
        )
    order = None
    if sample.label_order == "random":
        codes = [option.code for option in response_format.options]
        order = tuple(random.Random(_SEED).sample(codes, len(codes)))
    entities = (sample.entity, sample.entity_b)
    shown = shown_format(response_format, sample.label_order, order, entities=entities)
    opinion = shown.options[-1].code if template.states_opinion and shown.options else ""
    return Question(
        sample.items,
        shown,
        sample.language,
        sample.context.code,
        *entities,
        sample.form,
        template.code,
        opinion=opinion,
    )
