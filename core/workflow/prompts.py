"""Prompt templates, and the request that puts a planned call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from secrets import token_hex
from typing import Any

from core.collect.client import ChatRequest, Message, Question
from core.collect.prompts import allowed_replies, as_listed, item_text, literal_text, render
from core.domain import formats
from core.domain.characters import readable
from core.domain.instrument import Instrument, Item, ResponseFormat, Wording
from core.domain.study import Context, Design, ReasoningMarks, Respondent
from core.domain.templates import (
    REPLIES,
    TEMPLATE,
    PromptTemplate,
    ReplyWords,
    as_values,
)
from core.files import templates as template_files
from core.store import studies
from core.store import templates as template_store
from core.store.collection import PlannedCall
from core.workflow.workspace import Workspace

# Prompt templates: those that come with Inkblot, and those of the user.

_REPLY_WORDS_CODE = ""  # under this code a study keeps the sentences that ask for a reply


@dataclass(frozen=True)
class Wordings:
    """Templates by their codes, and how each language asks for a reply."""

    templates: Mapping[str, PromptTemplate]
    replies: Mapping[str, ReplyWords]


def load_wordings(workspace: Workspace) -> Wordings:
    """Every template a design can choose; one of the user's replaces the built-in of its code."""
    built_in = template_files.built_in_templates()
    templates = {template.code: template for template in built_in.templates}
    for code, body in template_store.newest(workspace.database).items():
        if body != template_store.AS_BUILT_IN:
            templates[code] = TEMPLATE.validate_json(body)
    return Wordings(templates, built_in.replies)


def wordings_as_json(wordings: Wordings, codes: Iterable[str]) -> dict[str, str]:
    """What a study keeps of the wordings: the templates it uses and the reply sentences."""
    texts = {code: as_json(wordings.templates[code]) for code in codes}
    return texts | {_REPLY_WORDS_CODE: as_json(wordings.replies)}


def study_wordings(workspace: Workspace, study_id: int) -> Wordings:
    """The wordings as a study was frozen with; of an earlier Inkblot, those that come along."""
    texts = studies.templates(workspace.database, study_id)
    if not texts:
        built_in = template_files.built_in_templates()
        return Wordings({t.code: t for t in built_in.templates}, built_in.replies)
    replies = REPLIES.validate_json(texts.pop(_REPLY_WORDS_CODE))
    return Wordings({code: TEMPLATE.validate_json(body) for code, body in texts.items()}, replies)


def as_json(value: PromptTemplate | Mapping[str, ReplyWords]) -> str:
    """A template, or reply words, as the JSON of which plan hashes are made."""
    return json.dumps(as_values(value), ensure_ascii=False, sort_keys=True)


# From a planned call to the request that puts it: the words, and what is shown in which order.

_NO_CONTEXT = Context("")
_MARK = f"[item {token_hex(8)}]"
"""Stands for an item, and for nothing that anybody wrote."""
_MOST_REMEMBERED = 256


@dataclass(frozen=True)
class StudyMaterials:
    """All that the words of a study's calls are made of."""

    design: Design
    bank: Instrument
    contexts: Mapping[str, Context]
    wordings: Wordings
    reasoning_marks: Mapping[int, ReasoningMarks] = field(default_factory=dict)
    """Of respondents that have marks of their own, by their ids in the plan."""

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """The items by their codes."""
        return {item.code: item for item in self.bank.items}

    @cached_property
    def formats(self) -> Mapping[str, ResponseFormat]:
        """The response formats by their codes."""
        return {response_format.code: response_format for response_format in self.bank.formats}

    def question(self, call: PlannedCall) -> Question:
        """What a planned call asks, its options in the order they are shown."""
        template = self.wordings.templates[call.template]
        return Question(
            tuple(self.items[planned.item] for planned in call.items),
            self._shown_format(call),
            call.language,
            call.context,
            call.entity,
            call.entity_b,
            call.form,
            call.template,
            call.phase,
            call.repetition,
            call.opinion,
            listing=template.listing,
            instructions=template.instructions or call.language,
            reasoning_marks=self.reasoning_marks.get(call.respondent_id, ()),
        )

    @cached_property
    def _formats_shown(self) -> dict[tuple[object, ...], ResponseFormat]:
        """Formats as calls show them, the same value for the same look."""
        return {}

    def _shown_format(self, call: PlannedCall) -> ResponseFormat:
        entities = (call.entity, call.entity_b)
        key = (call.format, call.label_order, call.option_order, entities)
        shown = self._formats_shown.get(key)
        if shown is None:
            _make_room(self._formats_shown)
            shown = self._formats_shown[key] = shown_format(
                self.formats[call.format], call.label_order, call.option_order, entities=entities
            )
        return shown

    def request(
        self, respondent: Respondent, question: Question, earlier: tuple[Message, ...] = ()
    ) -> ChatRequest:
        """The request that puts a question to a respondent.

        `earlier` are the messages of the questions before and their replies; they come between
        the context and the question, which is the last message. The settings are sent as they are
        set; only a seed is moved on by the repetition, so that repetitions are independent draws.
        A model that completes text has all of it in one message, which is sent literally.
        """
        sampling = respondent.sampling
        template = self.wordings.templates[question.template]
        if (question.listing, question.instructions) != _listed(question, template):
            question = as_listed(question, template)
        if question.reasoning_marks != sampling.reasoning_marks:
            question = replace(question, reasoning_marks=sampling.reasoning_marks)
        messages = self._messages(question, template, sampling.system_prompt)
        if sampling.completes_text:
            messages = ({"role": "user", "content": literal_text(messages)},)
        seed = None if sampling.seed is None else sampling.seed + question.repetition - 1
        enforced = sampling.only_options or self.design.answering == "enforced"
        held = enforced and question.response_format.is_choice
        allowed = allowed_replies(question) if held else ()
        return ChatRequest(
            respondent.model,
            (*messages[:-1], *earlier, messages[-1]),
            sampling,
            question,
            seed,
            allowed,
            self.design.first_token,
        )

    @cached_property
    def _layouts(self) -> dict[tuple[object, ...], tuple[ResponseFormat, tuple[Message, ...]]]:
        """Messages of single items with a mark in place of the item, and their format."""
        return {}

    def _messages(
        self, question: Question, template: PromptTemplate, system_prompt: str
    ) -> tuple[Message, ...]:
        """The messages of a question.

        Messages of single items that differ in nothing else are rendered once, with a mark in
        place of the item: rendering takes three quarters of the time of planning a request.
        """
        context = self.contexts.get(question.context, _NO_CONTEXT)
        words = self.wordings.replies
        if len(question.items) > 1:
            return render(question, template, words, context=context, system_prompt=system_prompt)
        shown = question.response_format
        key = (
            id(shown),
            question.template,
            question.listing,
            question.instructions,
            question.language,
            question.context,
            question.entity,
            question.entity_b,
            question.form,
            question.phase,
            question.opinion,
            system_prompt,
        )
        layout = self._layouts.get(key)
        if layout is None or layout[0] is not shown:
            marked = Item(_MARK, (Wording(question.language, _MARK, question.form),))
            messages = render(
                replace(question, items=(marked,)),
                template,
                words,
                context=context,
                system_prompt=system_prompt,
            )
            _make_room(self._layouts)
            layout = self._layouts[key] = (shown, messages)
        text = item_text(question.item, question)
        return tuple(
            {**message, "content": message["content"].replace(_MARK, text)}
            if _MARK in message["content"]
            else message
            for message in layout[1]
        )

    def exchanges(
        self, respondent: Respondent, calls: Sequence[PlannedCall], replies: Mapping[int, str]
    ) -> tuple[Message, ...]:
        """The questions of those calls of a chain that are answered, each with its reply."""
        messages: tuple[Message, ...] = ()
        for call in calls:
            if not call.waits:
                asked = self.request(respondent, self.question(call)).messages[-1]
                messages = (*messages, asked, said(replies.get(call.call_id, "")))
        return messages


def said(text: str) -> Message:
    """A reply as a message before a later question: as it is kept, in this run or from another."""
    return {"role": "assistant", "content": readable(text)}


def _listed(question: Question, template: PromptTemplate) -> tuple[str, str]:
    """How a template names options, and the language of its instructions."""
    return template.listing, template.instructions or question.language


def _make_room(memory: dict[tuple[object, ...], Any]) -> None:
    """Forget all where a memory is full."""
    if len(memory) >= _MOST_REMEMBERED:
        memory.clear()


def shown_format(
    response_format: ResponseFormat,
    label_order: str,
    option_order: tuple[str, ...] | None,
    *,
    entities: tuple[str, str],
) -> ResponseFormat:
    """The format as one call shows it: its options in their order, with the names of entities."""
    shown = response_format
    if any("{" in label for option in shown.options for label in option.labels.values()):
        shown = formats.name_entities(shown, *entities)
    if option_order is not None:
        return formats.reorder_options(shown, option_order)
    if label_order == "inverted":
        return formats.reorder_options(shown, [option.code for option in reversed(shown.options)])
    return shown
