"""The words a model reads: what is asked of it, in which order, and what it may reply.

The instructions around an item come from a prompt template (core/domain/templates.py); here they
are filled for one question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from string import ascii_uppercase

from core.collect.client import Message, Question
from core.domain.instrument import ORIGINAL, REPLY_TO_JUDGE, Item, Option, ResponseFormat
from core.domain.study import Context
from core.domain.templates import (
    ENGLISH,
    PromptTemplate,
    ReplyWords,
    TemplateText,
    fill,
    placeholders,
)
from core.errors import DesignError

_ENTITY, _ENTITY_B = "{entity}", "{entity_b}"
FALLBACK_LANGUAGE = ENGLISH
_CODE_AND_LABEL = "{code} = {label}"
_SMALL_WITHIN_SENTENCES = frozenset({"en", "es", "fr"})


def render(
    question: Question,
    template: PromptTemplate,
    replies: Mapping[str, ReplyWords],
    *,
    context: Context,
    system_prompt: str = "",
) -> tuple[Message, ...]:
    """The messages that put a question to a model.

    A system message, if needed, holds `system_prompt`, the system text of the template and, unless
    a text places it, the context's persona, verbatim, in the language of the items where it is
    translated; the messages of a conversation come next; a user message with the question is last.
    `replies` are the sentences that say how to reply, by language. Raises DesignError where an item
    has no text in the language and form asked, or names an entity and none is given, or where the
    template puts one item at a time and several are asked, or names options by letters and there
    are too many.
    """
    asked = as_listed(question, template)
    text = template.text(asked.language)
    body = _body(asked, template)
    values = _values(asked, text, replies)
    persona = context.text_in(question.language)
    values["persona"] = persona.strip()
    parts = [system_prompt, _fill_lines(text.system, values)]
    if "persona" not in placeholders(text.system + body):
        parts.append(_persona(text.persona, persona))
    parts = [part for part in parts if part.strip()]
    messages: list[Message] = [{"role": "system", "content": "\n\n".join(parts)}] if parts else []
    messages.extend(context.messages)
    history = text.history if context.messages else ""
    paragraphs = (history, _fill_lines(body, values), fill(text.cue, values))
    content = "\n\n".join(filter(None, paragraphs))
    return (*messages, {"role": "user", "content": content})


def literal_text(messages: Iterable[Message]) -> str:
    """What a base model goes on with: the texts of the messages, without who says them."""
    return "\n\n".join(message["content"] for message in messages)


def as_listed(question: Question, template: PromptTemplate) -> Question:
    """The question with the listing of its template and the language of the instructions."""
    return replace(
        question, listing=template.listing, instructions=template.instructions or question.language
    )


def listed_format(question: Question) -> ResponseFormat:
    """The response format with options named as the model sees them.

    Options are in the order shown; the place of an option leads back to its code in the bank.
    Raises DesignError where letters are too few.
    """
    shown = question.response_format
    if question.listing == "codes" or not shown.is_choice:
        return shown
    options = shown.options
    if question.listing == "labels":
        language = question.instructions or question.language
        keys = [_label(o, language) if _has_short_code(o) else o.code for o in options]
    elif question.listing == "numbers":
        keys = [str(number) for number in range(1, len(options) + 1)]
    elif len(options) > len(ascii_uppercase):
        raise DesignError(
            f"The response format '{shown.code}' has {len(options)} options, and there are "
            f"{len(ascii_uppercase)} letters.",
            "Choose a template that names options by numbers.",
        )
    else:
        keys = list(ascii_uppercase[: len(options)])
    renamed = (replace(option, code=key) for option, key in zip(options, keys, strict=True))
    return replace(shown, options=tuple(renamed))


def allowed_replies(question: Question) -> tuple[str, ...]:
    """What the model is to type for each option of a question, in the order shown."""
    return choices(listed_format(question), question.instructions or question.language)


def choices(response_format: ResponseFormat, language: str) -> tuple[str, ...]:
    """What the model is to type for each option, in the order of the options.

    Codes that are numbers or single letters are typed as they are; others would be typed as words,
    and words are given in the language of the study.
    """
    return tuple(
        option.code if _has_short_code(option) else _label(option, language)
        for option in response_format.options
    )


def _has_short_code(option: Option) -> bool:
    """Whether its code is a whole number or a single letter."""
    code = option.code
    return (len(code) == 1 and code.isalpha()) or code.removeprefix("-").isdecimal()


def item_text(item: Item, question: Question) -> str:
    """The text of an item as a question puts it, with the names of entities.

    Raises DesignError where there is no text, or an entity is named and none is given.
    """
    form, language = question.form, question.language
    text = item.text(language, form, question.response_format.mood).strip()
    if not text:
        which = "" if form == ORIGINAL else f" in the form '{form}'"
        raise DesignError(
            f"Item {item.code} has no text in '{language}'{which}.",
            "Add the text to the question bank, or leave that language out of the study.",
        )
    if "{" not in text or question.response_format.ratings or form == REPLY_TO_JUDGE:
        return text  # which names no entity, or was written by a model, braces and all
    for placeholder, name in ((_ENTITY, question.entity), (_ENTITY_B, question.entity_b)):
        if placeholder in text and not name.strip():
            raise DesignError(
                f"Item {item.code} asks about {placeholder}, but the study names none.",
                "Add at least one entity, or pair of entities, to the study.",
            )
    parts = text.split(_ENTITY_B)  # in turn, so that a name which is a placeholder stays as it is
    return question.entity_b.join(part.replace(_ENTITY, question.entity) for part in parts)


def gbnf(choices: tuple[str, ...], items: int = 1) -> str:
    """A grammar in GBNF (llama.cpp's notation) that admits exactly one of the choices.

    For several items it admits a numbered list with one choice a line.
    """
    option = " | ".join(f'"{_escape(choice)}"' for choice in choices)
    if items == 1:
        return f"root ::= {option}"
    lines = ' "\\n" '.join(f'"{number}. " option' for number in range(1, items + 1))
    return f"root ::= {lines}\noption ::= {option}"


def json_schema(choices: tuple[str, ...], items: int = 1) -> dict[str, object]:
    """A JSON schema that admits an object with one of the choices for each item.

    Its key is "answer", or for several items their numbers.
    """
    keys = ["answer"] if items == 1 else [str(number) for number in range(1, items + 1)]
    choice = {"type": "string", "enum": list(choices)}
    return {
        "type": "object",
        "properties": dict.fromkeys(keys, choice),
        "required": keys,
        "additionalProperties": False,
    }


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def _label(option: Option, language: str) -> str:
    """Its label in that language, else in English, else its code."""
    label = option.labels.get(language, "").strip()
    return label or option.labels.get(FALLBACK_LANGUAGE, "").strip() or option.code


def _persona(persona_line: str, persona: str) -> str:
    """A persona of the system message, with the sentence that follows it."""
    if not persona.strip():
        return ""
    return f"{persona}\n{persona_line}" if persona_line else persona


def _body(question: Question, template: PromptTemplate) -> str:
    """The text for one item, or for a block."""
    text = template.text(question.language)
    if len(question.items) == 1:
        return text.single
    if not text.block:
        raise DesignError(
            f"The template '{template.code}' puts one item at a time.",
            "Choose another template, or one item a call.",
        )
    return text.block


def _fill_lines(text: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders filled; without a persona, lines that place it are left out."""
    if not values["persona"] and "persona" in placeholders(text):
        lines = (line for line in text.split("\n") if "persona" not in placeholders(line))
        text = "\n".join(lines).strip("\n")
    return fill(text, values)


def _values(
    question: Question, text: TemplateText, replies: Mapping[str, ReplyWords]
) -> dict[str, str]:
    """What stands for each placeholder of a template but {persona}."""
    language, options = question.instructions, listed_format(question).options
    words = replies.get(language, replies[FALLBACK_LANGUAGE])
    listed = "options" in placeholders(text.single + text.system)
    short = listed and all(_has_short_code(option) for option in options)
    labels = [_inline(_label(option, language), question) for option in options]
    values = {
        "options": text.between_options.join(
            _listed(option, language, text.option) for option in options
        ),
        "labels": words.join_labels(labels) if labels else "",
        "opinion": _opinion(question),
        "count": str(len(question.items)),
    }
    if len(question.items) == 1:
        values["item"] = item_text(question.item, question)
        demand, built_in = text.reply, words.with_code if short else words.with_label
    else:
        values["items"] = "\n".join(
            fill(text.item, {"number": str(number), "item": item_text(item, question)})
            for number, item in enumerate(question.items, 1)
        )
        demand = text.block_reply
        built_in = words.block_with_code if short else words.block_with_label
    values["reply"] = fill(demand, values) if demand else built_in
    return values


def _inline(label: str, question: Question) -> str:
    """A label within a sentence: its first letter small, but in names and in German nouns."""
    name = label in (question.entity, question.entity_b)
    if name or question.instructions.split("-")[0] not in _SMALL_WITHIN_SENTENCES:
        return label
    return label[:1].lower() + label[1:]


def _opinion(question: Question) -> str:
    """The label of the option the user is said to hold."""
    held = question.response_format.option(question.opinion)
    return _label(held, question.instructions) if held else ""


def _listed(option: Option, language: str, pattern: str) -> str:
    """One option of the list: by the pattern, or the label alone where the code is a word."""
    label = _label(option, language)
    shows_code = "code" in placeholders(pattern or _CODE_AND_LABEL)
    if shows_code and (not _has_short_code(option) or label == option.code):
        return label
    return fill(pattern or _CODE_AND_LABEL, {"code": option.code, "label": label})
