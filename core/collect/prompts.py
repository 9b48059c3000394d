"""The words a model reads: what is asked of it, in which order, and what it may reply.

The instructions around an item come from a prompt template (core/domain/templates.py); here they
are filled for one question.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.collect.client import Message, Question
from core.domain.instrument import ORIGINAL, Item, Option, ResponseFormat
from core.domain.study import Context
from core.domain.templates import ENGLISH, PromptTemplate, ReplyWords, fill, placeholders
from core.errors import DesignError

_ENTITY, _ENTITY_B = "{entity}", "{entity_b}"
FALLBACK_LANGUAGE = ENGLISH
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

    A system message, if needed, holds `system_prompt` and then the context's persona, verbatim; the
    messages of a conversation come next; a user message with the question is last. `replies` are
    the sentences that say how to reply, by language. Raises DesignError where an item has no text
    in the language and form asked, or names an entity and none is given, or where the template
    puts one item at a time and several are asked.
    """
    text = template.text(question.language)
    system = _system(text.persona, context.text, system_prompt)
    user = _user(question, template, replies)
    messages: list[Message] = [*context.messages, {"role": "user", "content": user}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return tuple(messages)


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
    if question.response_format.ratings:  # what is rated was written by a model, braces and all
        return text
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


def _system(persona_line: str, persona: str, system_prompt: str) -> str:
    parts = [system_prompt] if system_prompt.strip() else []
    if persona.strip():
        parts.append(f"{persona}\n{persona_line}" if persona_line else persona)
    return "\n\n".join(parts)


def _user(question: Question, template: PromptTemplate, replies: Mapping[str, ReplyWords]) -> str:
    """The template filled for one item, or for a numbered block of them."""
    language, options = question.language, question.response_format.options
    text = template.text(language)
    words = replies.get(language, replies[FALLBACK_LANGUAGE])
    listed = "options" in placeholders(text.single)
    short = listed and all(_has_short_code(option) for option in options)
    labels = [_inline(_label(option, language), question) for option in options]
    values = {
        "options": "\n".join(_listed(option, language) for option in options),
        "labels": words.join_labels(labels) if labels else "",
        "opinion": _opinion(question),
    }
    if len(question.items) == 1:
        values["item"] = item_text(question.item, question)
        values["reply"] = words.with_code if short else words.with_label
        return fill(text.single, values)
    if not text.block:
        raise DesignError(
            f"The template '{template.code}' puts one item at a time.",
            "Choose another template, or one item a call.",
        )
    values["items"] = "\n".join(
        f"{number}. {item_text(item, question)}" for number, item in enumerate(question.items, 1)
    )
    values["count"] = str(len(question.items))
    values["reply"] = words.block_with_code if short else words.block_with_label
    return fill(text.block, values)


def _inline(label: str, question: Question) -> str:
    """A label within a sentence: its first letter small, but in names and in German nouns."""
    name = label in (question.entity, question.entity_b)
    if name or question.language.split("-")[0] not in _SMALL_WITHIN_SENTENCES:
        return label
    return label[:1].lower() + label[1:]


def _opinion(question: Question) -> str:
    """The label of the option the user is said to hold."""
    held = question.response_format.option(question.opinion)
    return _label(held, question.language) if held else ""


def _listed(option: Option, language: str) -> str:
    """One line of the list of options: code and label, or the label alone for codes in words."""
    label = _label(option, language)
    if not _has_short_code(option) or label == option.code:
        return label
    return f"{option.code} = {label}"
