"""Prompt templates from YAML: the built-in ones, or a file of one's own in the same shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, TypeAdapter

from core.domain.templates import (
    Listing,
    PromptTemplate,
    ReplyWords,
    TemplateText,
    as_values,
    placeholders,
    problems,
)
from core.errors import FileError
from core.files.tables import check_size, decode
from core.files.yaml_files import Shape, line_of, read_shape, write_yaml

BUILT_IN_FILE = Path(__file__).parents[2] / "data" / "templates.yaml"

_COMPARE = "Compare it with the built-in templates, data/templates.yaml."
_NOUNS = {
    "persona": "persona, language",
    "replies": "replies, language",
    "templates": "template",
    "texts": "language",
}


def _without_placeholder(text: str) -> str:
    for placeholder in placeholders(text):
        raise ValueError(f"{{{placeholder}}} has no place here", "Put it in a template.")
    return text


_Sentence = Annotated[str, AfterValidator(_without_placeholder)]


class _Replies(Shape):
    with_code: _Sentence
    with_label: _Sentence
    block_with_code: _Sentence
    block_with_label: _Sentence
    joining: _Sentence = Field(alias="or")
    comma: _Sentence


class _Text(Shape):
    single: str = ""
    block: str = ""
    persona: str | None = None  # None: that of the language
    system: str = ""
    history: str = ""
    reply: str = ""
    block_reply: str = ""
    option: str = ""
    between_options: str = TemplateText.between_options
    item: str = TemplateText.item
    cue: str = ""


class _Template(Shape):
    title: str | None = None  # None: its code
    personal: bool | None = None
    listing: Listing = "codes"
    instructions: str = ""
    texts: dict[str, _Text] = Field(default_factory=dict)


class _File(Shape):
    persona: dict[str, str] = Field(default_factory=dict)
    replies: dict[str, _Replies] = Field(default_factory=dict)
    templates: dict[str, _Template] = Field(default_factory=dict)


_FILE = TypeAdapter(_File)


class TemplateFile(NamedTuple):
    """What a file of templates holds: the templates, and how each language asks for a reply."""

    templates: tuple[PromptTemplate, ...]
    replies: Mapping[str, ReplyWords]  # by language; empty where a file leaves them out


@cache
def built_in_templates() -> TemplateFile:
    """The templates that come with Inkblot; read once."""
    return read_templates(BUILT_IN_FILE.name, BUILT_IN_FILE.read_bytes())


def read_templates(name: str, data: bytes) -> TemplateFile:
    """The templates and reply words of a YAML file in UTF-8.

    Raises
    ------
    FileError
        The file is too large or not YAML, or something in it is missing, unknown, repeated or of
        the wrong kind; names the file, the line, the template and the place.
    """
    check_size(name, len(data))
    text = decode(name, data)
    file = read_shape(_FILE, name, text, compare=_COMPARE, nouns=_NOUNS, with_line=True)
    if not file.templates:
        raise FileError(f"{name}: there are no templates.", _COMPARE)
    made = tuple(_template(code, file) for code in file.templates)
    for template in made:
        for problem in problems(template):
            path = ("templates", template.code, "texts", problem.language, problem.part)
            line = line_of(text, [step for step in path if step])
            raise FileError(
                f"{name}, line {line}, template '{template.code}', {problem}.", _COMPARE
            )
    return TemplateFile(
        made, {language: ReplyWords(**vars(words)) for language, words in file.replies.items()}
    )


def _template(code: str, file: _File) -> PromptTemplate:
    stated = file.templates[code]
    texts = {
        language: TemplateText(
            **{**vars(text), "persona": _persona(text, file.persona.get(language, ""))}
        )
        for language, text in stated.texts.items()
    }
    title = code if stated.title is None else stated.title
    return PromptTemplate(code, title, stated.personal, texts, stated.listing, stated.instructions)


def _persona(text: _Text, of_language: str) -> str:
    return of_language if text.persona is None else text.persona


def templates_yaml(templates: Iterable[PromptTemplate]) -> bytes:
    """A file of templates; `read_templates` reads the same ones back.

    Parts that are empty or at their defaults are left out.
    """
    body = {}
    for template in templates:
        values = as_values(template)
        del values["code"]
        values["texts"] = {
            language: {part: text for part, text in parts.items() if text or part == "single"}
            for language, parts in values["texts"].items()
        }
        body[template.code] = {name: value for name, value in values.items() if value is not None}
    return write_yaml({"templates": body}).encode("utf-8", "surrogatepass")
