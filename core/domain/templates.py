"""Prompt templates: the instructions around an item in each language, with placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from pydantic import TypeAdapter

from core.domain.values import json_value

ENGLISH = "en"
"""The language that every template has; a language without a text takes this one."""

Listing = Literal["codes", "labels", "letters", "numbers"]
LISTINGS: Mapping[Listing, str] = MappingProxyType(
    {
        "codes": "bank codes",
        "labels": "labels only",
        "letters": "letters A, B, C",
        "numbers": "numbers 1, 2, 3",
    }
)
"""What a template names the options by, in words; letters and numbers in the order shown."""

PLACED = ("letters", "numbers")
"""Listings in which an option has the letter or number of its place."""

_ANSWERING = frozenset({"options", "labels", "reply"})  # one of these names the possible replies
PART_PLACEHOLDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "system": ("persona", "options", "labels", "reply", "count"),
        "single": ("item", "options", "labels", "reply", "opinion", "persona"),
        "block": ("items", "count", "options", "labels", "reply", "persona"),
        "persona": (),
        "history": (),
        "reply": ("labels",),
        "block_reply": ("labels", "count"),
        "option": ("code", "label"),
        "between_options": (),
        "item": ("number", "item"),
        "cue": ("labels", "reply", "count"),
    }
)
"""The placeholders that have a value in each part of a text, the usual ones first."""

_KNOWN = frozenset(name for names in PART_PLACEHOLDERS.values() for name in names)
_PLACEHOLDER = re.compile(r"\{(" + "|".join(sorted(_KNOWN)) + r")\}")
# not with quotation marks: those stand in JSON, which a template may ask for
_BRACES = re.compile(r'\{([^{}"\n]*)\}')


@dataclass(frozen=True)
class TemplateText:
    """The instructions in one language.

    `single` puts one item. `block` puts a numbered list of items; empty: the template cannot.
    `persona` follows the description of a persona where no text places {persona}. `system` is a
    text of the system message. `history` stands between a conversation and the question. `reply`
    and `block_reply` take the place of {reply}; empty: the sentence of the language. `option` is
    how an option is listed; empty: code and label, or the label alone for codes in words. `item`
    is how an item of a block is listed. `cue` ends the question.
    """

    single: str
    block: str = ""
    persona: str = ""
    system: str = ""
    history: str = ""
    reply: str = ""
    block_reply: str = ""
    option: str = ""
    between_options: str = "\n"
    item: str = "{number}. {item}"
    cue: str = ""


@dataclass(frozen=True)
class PromptTemplate:
    """One wording of the instructions.

    `personal` says whether the template asks for the model's own view; None: it does not say.
    `listing` says how the options are named to the model. `instructions` is the language of the
    instructions and of the option labels; empty: that of the items.
    """

    code: str
    title: str
    personal: bool | None
    texts: Mapping[str, TemplateText]  # language -> text
    listing: Listing = "codes"
    instructions: str = ""

    def text(self, language: str) -> TemplateText:
        """The text for items in that language; where there is none, the English one."""
        return self.texts.get(self.instructions or language) or self.texts[ENGLISH]

    @property
    def kind(self) -> str:
        """Personal or impersonal; empty where the template does not say."""
        return {True: "personal", False: "impersonal", None: ""}[self.personal]

    @property
    def states_opinion(self) -> bool:
        """Whether the template states an opinion of the user, as a second phase does."""
        return any("opinion" in placeholders(text.single) for text in self.texts.values())


# A template without later parts keeps the JSON, and a plan with it the hash, that it had before.
_LATER_DEFAULTS: Mapping[str, object] = MappingProxyType(
    {
        field.name: field.default
        for shape, first in ((TemplateText, 3), (PromptTemplate, 4))
        for field in fields(shape)[first:]
    }
)


def as_values(value: object) -> Any:
    """A template or reply words as plain JSON values, without later parts at their defaults."""
    return json_value(value, _LATER_DEFAULTS)


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
    parts = _parts(text)
    return "".join([values[part] if at % 2 else part for at, part in enumerate(parts)])


@lru_cache(maxsize=1024)
def _parts(text: str) -> list[str]:
    """What stands between the placeholders of a text, and in turn their names."""
    return _PLACEHOLDER.split(text)


@lru_cache(maxsize=1024)
def placeholders(text: str) -> frozenset[str]:
    """Names of the placeholders in a text."""
    return frozenset(_PLACEHOLDER.findall(text))


@dataclass(frozen=True)
class TemplateProblem:
    """A fault of a template; language and part are empty where it has no such place."""

    what: str
    language: str = ""
    part: str = ""

    def __str__(self) -> str:
        """The place and the fault, such as "language 'en', single: {item} is missing"."""
        language = f"language '{self.language}'" if self.language else ""
        place = ", ".join(filter(None, (language, self.part)))
        return f"{place}: {self.what}" if place else self.what


def problems(template: PromptTemplate) -> tuple[TemplateProblem, ...]:
    """Every fault that makes a template unusable, with its place."""
    faults: list[TemplateProblem] = []
    if not template.code.strip():
        faults.append(TemplateProblem("the template has no code"))
    needed = template.instructions or ENGLISH
    if needed not in template.texts:
        faults.append(TemplateProblem("there is no text", needed))
    with_block = any(text.block.strip() for text in template.texts.values())
    for language, text in template.texts.items():
        for part in PART_PLACEHOLDERS:
            unknown = _unknown(part, getattr(text, part))
            faults.extend(TemplateProblem(what, language, part) for what in unknown)
        missing = _missing(template, text)
        faults.extend(TemplateProblem(what, language, part) for part, what in missing)
        if with_block and not text.block.strip():
            what = "it is empty, while other languages have one"
            faults.append(TemplateProblem(what, language, "block"))
    return tuple(faults)


def remarks(template: PromptTemplate) -> tuple[str, ...]:
    """What a template does without, and a reader should know; it can be used all the same."""
    sentences = []
    for language, text in template.texts.items():
        for part, alone in (("single", "{item}"), ("block", "{items}")):
            body = getattr(text, part).strip()
            if body not in ("", alone) and not _ANSWERING & _answering_names(text, part):
                sentences.append(
                    f"language '{language}', {part}: no placeholder names the possible replies. "
                    "The text must name them itself."
                )
    return tuple(sentences)


def _answering_names(text: TemplateText, part: str) -> frozenset[str]:
    """The placeholders of all that a model reads with one part."""
    demand = text.block_reply if part == "block" else text.reply
    return placeholders(f"{text.system}\n{getattr(text, part)}\n{demand}\n{text.cue}")


def _missing(template: PromptTemplate, text: TemplateText) -> Iterator[tuple[str, str]]:
    """Parts that lack what they cannot do without, and what it is."""
    required = {"single": "item", "item": "item"}
    if text.block.strip():
        required["block"] = "items"
    if template.listing == "labels" and text.option:
        required["option"] = "label"
    for part, name in required.items():
        if name not in placeholders(getattr(text, part)):
            yield part, f"{{{name}}} is missing"
    if not text.between_options:
        yield "between_options", "it is empty"
    yield from _unlisted(template.listing, text)


def _unlisted(listing: Listing, text: TemplateText) -> Iterator[tuple[str, str]]:
    """Parts that do not show the options as they are to be named."""
    shows_code = "code" in placeholders(text.option)
    if listing == "labels" and shows_code:
        yield "option", "{code} has no place where options are listed by their labels only"
    if listing != "labels" and text.option and not shows_code:
        yield "option", "{code} is missing, unless options are listed by their labels only"
    if listing not in PLACED:
        return
    keys = "A, B" if listing == "letters" else "1, 2"
    for part in ("single", "block"):
        body = getattr(text, part).strip()
        if body and "options" not in placeholders(f"{text.system}\n{body}"):
            yield part, f"{{options}} is missing, where options are named {keys} and so on"


def _unknown(part: str, text: str) -> Iterator[str]:
    """Placeholders that have no value in a part, with those that have one."""
    allowed = PART_PLACEHOLDERS[part]
    for name in dict.fromkeys(_BRACES.findall(text)):
        if name not in allowed:
            what = "has no place here" if name in _KNOWN else "is no placeholder"
            known = ", ".join(f"{{{other}}}" for other in sorted(allowed)) or "none"
            near = get_close_matches(name.strip(), allowed, n=1)
            hint = f"; did you mean {{{near[0]}}}?" if near else ""
            yield f"{{{name}}} {what} (known here: {known}{hint})"
