"""Prompt templates from YAML: the built-in ones, or a file of one's own in the same shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from core.domain.templates import PromptTemplate, ReplyWords, TemplateText, placeholders, problems
from core.errors import FileError
from core.files.reading import check_size, decode
from core.files.yaml_reading import read_yaml

BUILT_IN = Path(__file__).parents[2] / "data" / "templates.yaml"

_COMPARE = "Compare it with the built-in templates, data/templates.yaml."
_REPLY_KEYS = {
    "with_code": "with_code",
    "with_label": "with_label",
    "block_with_code": "block_with_code",
    "block_with_label": "block_with_label",
    "or": "joining",
    "comma": "comma",
}


class TemplateFile(NamedTuple):
    """What a file of templates holds: the templates, and how each language asks for a reply."""

    templates: tuple[PromptTemplate, ...]
    replies: Mapping[str, ReplyWords]  # by language; empty where a file leaves them out


@cache
def built_in() -> TemplateFile:
    """The templates that come with Inkblot; read once."""
    return read_templates(BUILT_IN.name, BUILT_IN.read_bytes())


def read_templates(name: str, data: bytes) -> TemplateFile:
    """The templates and reply words of a YAML file in UTF-8.

    Raises
    ------
    FileError
        The file is too large or not YAML, or something in it is missing, unknown, repeated or of
        the wrong kind; names the file, the template and the place.
    """
    check_size(name, len(data))
    body = read_yaml(name, decode(name, data))
    _refuse_half_characters(name, body)
    return _file(name, body)


def _refuse_half_characters(name: str, body: object) -> None:
    try:
        for text in _texts(body):
            text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise FileError(
            f"{name}: there is half a character (such as \\ud800), which cannot be kept.",
            "Write the character itself.",
        ) from error


def _texts(body: object) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict):
        for key, value in body.items():
            yield from _texts(key)
            yield from _texts(value)
    elif isinstance(body, list):
        for value in body:
            yield from _texts(value)


def _file(name: str, body: object) -> TemplateFile:
    top = _mapping(name, body, ("persona", "replies", "templates"))
    personas = {
        language: _text(f"{name}, persona, language '{language}'", sentence)
        for language, sentence in _mapping(f"{name}, persona", top.get("persona", {})).items()
    }
    replies = {
        language: _reply_words(f"{name}, replies, language '{language}'", words)
        for language, words in _mapping(f"{name}, replies", top.get("replies", {})).items()
    }
    templates = _mapping(f"{name}, templates", top.get("templates", {}))
    if not templates:
        raise FileError(f"{name}: there are no templates.", _COMPARE)
    made = tuple(_template(name, code, found, personas) for code, found in templates.items())
    return TemplateFile(made, replies)


def _reply_words(where: str, body: object) -> ReplyWords:
    words = _mapping(where, body, tuple(_REPLY_KEYS))
    texts: dict[str, str] = {}
    for key, field in _REPLY_KEYS.items():
        if key not in words:
            raise FileError(f"{where}: '{key}' is missing.", _COMPARE)
        texts[field] = _text(f"{where}, {key}", words[key])
        for placeholder in placeholders(texts[field]):
            raise FileError(
                f"{where}, {key}: {{{placeholder}}} has no place here.", "Put it in a template."
            )
    return ReplyWords(**texts)


def _template(name: str, code: str, body: object, personas: Mapping[str, str]) -> PromptTemplate:
    where = f"{name}, template '{code}'"
    keys = _mapping(where, body, ("title", "personal", "texts"))
    personal = keys.get("personal")
    if personal is not None and not isinstance(personal, bool):
        raise FileError(f"{where}, personal: this is neither true nor false.", _COMPARE)
    texts = {
        language: _template_text(f"{where}, language '{language}'", text, personas.get(language))
        for language, text in _mapping(f"{where}, texts", keys.get("texts", {})).items()
    }
    title = _text(f"{where}, title", keys.get("title", code))
    template = PromptTemplate(code, title, personal, texts)
    for problem in problems(template):
        raise FileError(f"{where}, {problem}.", _COMPARE)
    return template


def _template_text(where: str, body: object, persona: str | None) -> TemplateText:
    keys = {"persona": persona or "", **_mapping(where, body, ("single", "block", "persona"))}
    return TemplateText(
        *(_text(f"{where}, {key}", keys.get(key, "")) for key in ("single", "block", "persona"))
    )


def _mapping(where: str, body: object, allowed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys that stand there: texts, and only those allowed where some are named."""
    if not isinstance(body, dict):
        raise FileError(f"{where}: there should be keys with a value each.", _COMPARE)
    for key in body:
        if not isinstance(key, str) or not key.strip():
            raise FileError(
                f"{where}: the key {key!r} is not a text.",
                "Put it in quotation marks; without them, YAML reads no as 'false'.",
            )
        if allowed and key not in allowed:
            known = ", ".join(f"'{known}'" for known in allowed)
            raise FileError(f"{where}: the key '{key}' is unknown.", f"Known are {known}.")
    return body


def _text(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise FileError(f"{where}: this is not a text.", "Put it in quotation marks.")
    return value
