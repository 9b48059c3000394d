"""The words a model reads: what is asked of it, in which order, and what it may reply.

The statement stands last. All items put to one persona then share the beginning of their prompt,
which servers keep between requests and need not read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.collect.client import Message
from core.domain.instrument import ORIGINAL, Item, Option, ResponseFormat
from core.errors import DesignError

TEMPLATE = "standard"
"""Name of the only wording of the instructions there is, as it is stored with every trial."""

ENTITY = "{entity}"
FALLBACK_LANGUAGE = "en"


@dataclass(frozen=True)
class _Wording:
    """The instructions in one language."""

    persona: str
    choose: str
    reply_with_code: str
    reply_with_label: str
    options: str
    statement: str
    cue: str


_WORDINGS: Mapping[str, _Wording] = MappingProxyType(
    {
        "en": _Wording(
            persona="Answer as this person would.",
            choose="How do you respond to the statement below? Choose exactly ONE option.",
            reply_with_code="Reply with its code only, without an explanation.",
            reply_with_label="Reply with the option only, without an explanation.",
            options="Options:",
            statement="Statement:",
            cue="Your answer:",
        ),
        "es": _Wording(
            persona="Responde como lo haría esta persona.",
            choose="¿Cómo respondes a la afirmación de abajo? Elige exactamente UNA opción.",
            reply_with_code="Responde solo con su código, sin explicación.",
            reply_with_label="Responde solo con la opción, sin explicación.",
            options="Opciones:",
            statement="Afirmación:",
            cue="Tu respuesta:",
        ),
        "de": _Wording(
            persona="Antworte so, wie diese Person antworten würde.",
            choose="Wie antwortest du auf die Aussage unten? Wähle genau EINE Option.",
            reply_with_code="Antworte nur mit ihrem Code, ohne Erklärung.",
            reply_with_label="Antworte nur mit der Option, ohne Erklärung.",
            options="Optionen:",
            statement="Aussage:",
            cue="Deine Antwort:",
        ),
    }
)


def render(
    item: Item,
    response_format: ResponseFormat,
    *,
    language: str,
    context: str = "",
    entity: str = "",
    system_prompt: str = "",
    form: str = ORIGINAL,
) -> tuple[Message, ...]:
    """The messages that put one item to a model: a system message if needed, and a user message.

    The system message holds `system_prompt` and then `context`, a persona, verbatim; `entity` takes
    the place of `{entity}` in the item's text. Raises DesignError where the item has no text in
    that language and form, or asks about an entity and none is given.
    """
    statement = _statement(item, language=language, entity=entity, form=form)
    system = _system(language=language, context=context, system_prompt=system_prompt)
    user = _instructions(response_format, language) + _ending(statement, language)
    messages: list[Message] = [{"role": "user", "content": user}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return tuple(messages)


def choices(response_format: ResponseFormat, language: str) -> tuple[str, ...]:
    """What the model is to type for each option, in the order of the options.

    Codes that are numbers or single letters are typed as they are; others would be typed as words,
    and words are given in the language of the study.
    """
    return tuple(
        option.code if has_short_code(option) else _label(option, language)
        for option in response_format.options
    )


def has_short_code(option: Option) -> bool:
    """Whether its code is a whole number or a single letter."""
    code = option.code
    return (len(code) == 1 and code.isalpha()) or code.removeprefix("-").isdecimal()


def gbnf(choices: tuple[str, ...]) -> str:
    """A grammar in GBNF (llama.cpp's notation) that admits exactly one of the choices."""
    return "root ::= " + " | ".join(f'"{_escape(choice)}"' for choice in choices)


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def _wording(language: str) -> _Wording:
    return _WORDINGS.get(language, _WORDINGS[FALLBACK_LANGUAGE])


def _label(option: Option, language: str) -> str:
    """Its label in that language, else in English, else its code."""
    label = option.labels.get(language, "").strip()
    return label or option.labels.get(FALLBACK_LANGUAGE, "").strip() or option.code


def _statement(item: Item, *, language: str, entity: str, form: str) -> str:
    text = item.text(language, form).strip()
    if not text:
        which = "" if form == ORIGINAL else f" in the form '{form}'"
        raise DesignError(
            f"Item {item.code} has no text in '{language}'{which}.",
            "Add the text to the question bank, or leave that language out of the study.",
        )
    if ENTITY in text and not entity.strip():
        raise DesignError(
            f"Item {item.code} asks about {ENTITY}, but the study names none.",
            "Add at least one entity to the study.",
        )
    return text.replace(ENTITY, entity)


def _system(*, language: str, context: str, system_prompt: str) -> str:
    parts = [system_prompt] if system_prompt.strip() else []
    if context.strip():
        parts.append(f"{context}\n{_wording(language).persona}")
    return "\n\n".join(parts)


def _instructions(response_format: ResponseFormat, language: str) -> str:
    """Everything that is the same for all items of one format."""
    wording = _wording(language)
    short = all(has_short_code(option) for option in response_format.options)
    reply = wording.reply_with_code if short else wording.reply_with_label
    lines = [
        f"{wording.choose} {reply}",
        "",
        wording.options,
        *(_listed(option, language) for option in response_format.options),
    ]
    return "\n".join(lines)


def _listed(option: Option, language: str) -> str:
    """One line of the list of options: code and label, or the label alone for codes in words."""
    label = _label(option, language)
    if not has_short_code(option) or label == option.code:
        return label
    return f"{option.code} = {label}"


def _ending(statement: str, language: str) -> str:
    wording = _wording(language)
    return f"\n\n{wording.statement} {statement}\n\n{wording.cue}"
