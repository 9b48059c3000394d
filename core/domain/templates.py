"""Prompt templates: the instructions around an item in each language, with placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

ENGLISH = "en"
"""The language that every template has; a language without a text takes this one."""

_IN_SINGLE = frozenset({"item", "options", "labels", "reply", "opinion"})
_IN_BLOCK = frozenset({"items", "count", "options", "labels", "reply"})
_KNOWN = _IN_SINGLE | _IN_BLOCK
_ANSWERING = ("options", "labels", "reply")  # one of these names the possible replies

_PLACEHOLDER = re.compile(r"\{(" + "|".join(sorted(_KNOWN)) + r")\}")
# not with quotation marks: those stand in JSON, which a template may ask for
_BRACES = re.compile(r'\{([^{}"\n]*)\}')


@dataclass(frozen=True)
class TemplateText:
    """The instructions in one language.

    `single` puts one item. `block` puts a numbered list of items; empty: the template cannot.
    `persona` follows the description of a persona.
    """

    single: str
    block: str = ""
    persona: str = ""


@dataclass(frozen=True)
class PromptTemplate:
    """One wording of the instructions.

    `personal` says whether the template asks for the model's own view; None: it does not say.
    """

    code: str
    title: str
    personal: bool | None
    texts: Mapping[str, TemplateText]  # language -> text

    def text(self, language: str) -> TemplateText:
        """The text in that language, else in English."""
        return self.texts.get(language, self.texts[ENGLISH])


@dataclass(frozen=True)
class ReplyWords:
    """How a language asks for a reply, and joins labels within a sentence.

    The first two are for one item, the `block_` ones for a numbered list; `joining` stands before
    the last label and `comma` between earlier ones, both with their spaces.
    """

    with_code: str
    with_label: str
    block_with_code: str
    block_with_label: str
    joining: str
    comma: str

    def join_labels(self, labels: Sequence[str]) -> str:
        """The labels within a sentence, such as "agree or disagree", in the order given."""
        *earlier, last = labels
        return self.comma.join(earlier) + self.joining + last if earlier else last


TEMPLATE = TypeAdapter(PromptTemplate)
REPLIES = TypeAdapter(dict[str, ReplyWords])
"""Read a template, and reply words by language, from their JSON."""


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with each placeholder replaced by the value of its name, without the braces.

    Placeholders inside a value stay as they are. Raises KeyError for a placeholder without a value.
    """
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], text)


def placeholders(text: str) -> frozenset[str]:
    """Names of the placeholders in a text."""
    return frozenset(_PLACEHOLDER.findall(text))


def problems(template: PromptTemplate) -> tuple[str, ...]:
    """Every fault that makes a template unusable, with its place."""
    faults: list[str] = []
    if not template.code.strip():
        faults.append("the template has no code")
    if ENGLISH not in template.texts:
        faults.append(f"language '{ENGLISH}': there is no text")
    with_block = any(text.block.strip() for text in template.texts.values())
    for language, text in template.texts.items():
        where = f"language '{language}'"
        faults.extend(_text_problems(f"{where}, single", text.single, "item", _IN_SINGLE))
        if text.block.strip():
            faults.extend(_text_problems(f"{where}, block", text.block, "items", _IN_BLOCK))
        elif with_block:
            faults.append(f"{where}, block: it is empty, while other languages have one")
        faults.extend(_unknown(f"{where}, persona", text.persona, frozenset()))
    return tuple(faults)


def _text_problems(where: str, text: str, required: str, allowed: frozenset[str]) -> Iterator[str]:
    yield from _unknown(where, text, allowed)
    names = placeholders(text)
    if required not in names:
        yield f"{where}: {{{required}}} is missing"
    elif not names.intersection(_ANSWERING) and text.strip() != f"{{{required}}}":
        yield f"{where}: {{reply}} is missing, as there is neither {{options}} nor {{labels}}"


def _unknown(where: str, text: str, allowed: frozenset[str]) -> Iterator[str]:
    """Placeholders that have no value there, with those that have one."""
    for name in dict.fromkeys(_BRACES.findall(text)):
        if name not in allowed:
            what = "has no place here" if name in _KNOWN else "is no placeholder"
            known = ", ".join(f"{{{other}}}" for other in sorted(allowed)) or "none"
            yield f"{where}: {{{name}}} {what} (known here: {known})"
