"""Prompt templates: write, copy, rename, archive; versions; import and export."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal

from core.domain.characters import readable_value
from core.domain.difference import Difference
from core.domain.languages import typed_language
from core.domain.templates import (
    ENGLISH,
    LISTINGS,
    TEMPLATE,
    PromptTemplate,
    TemplateText,
    problems,
)
from core.domain.values import slug
from core.errors import DesignError, FileError
from core.files.templates import built_in_templates, read_templates, templates_yaml
from core.store import studies as study_store
from core.store import templates as store
from core.workflow import prompts
from core.workflow.workspace import Workspace

# The templates, each with its versions and the studies that use it.

BUILT_IN_VERSION = 0
"""The version of a template as it comes with Inkblot."""


@dataclass(frozen=True)
class TemplateSummary:
    """One line of the list of templates. `changed` says that a built-in one was edited."""

    template: PromptTemplate
    built_in: bool
    changed: bool
    n_versions: int
    used_in: tuple[str, ...]
    archived: bool


@dataclass(frozen=True)
class SavedVersion:
    """A version of a template; the one that comes with Inkblot has no time."""

    number: int
    saved_at: datetime | None
    template: PromptTemplate


def summaries(workspace: Workspace) -> tuple[TemplateSummary, ...]:
    """Every template, archived ones last, the built-in ones first."""
    built_in = _built_in()
    archived = store.archived(workspace.database)
    counts = store.counts(workspace.database)
    used = _studies_by_template(workspace)
    lines = [
        TemplateSummary(
            template,
            code in built_in,
            code in built_in and template != built_in[code],
            counts.get(code, 0),
            tuple(used[code]),
            code in archived,
        )
        for code, template in prompts.load_wordings(workspace).templates.items()
    ]
    return tuple(sorted(lines, key=lambda line: (line.archived, not line.built_in)))


def offered(workspace: Workspace) -> dict[str, PromptTemplate]:
    """The templates that are not archived, by their codes."""
    archived = store.archived(workspace.database)
    templates = prompts.load_wordings(workspace).templates
    return {code: one for code, one in templates.items() if code not in archived}


def load(workspace: Workspace, code: str) -> PromptTemplate:
    """The newest version of a template."""
    template = prompts.load_wordings(workspace).templates.get(code)
    if template is None:
        raise DesignError(f"There is no prompt template '{code}'.", "Choose one from the list.")
    return template


def versions(workspace: Workspace, code: str) -> tuple[SavedVersion, ...]:
    """The versions of a template, oldest first; of a built-in one, that one is the first."""
    built_in = _built_in().get(code)
    saved = []
    for one in store.versions(workspace.database, code):
        is_text = one.body != store.AS_BUILT_IN
        template = TEMPLATE.validate_json(one.body) if is_text else built_in
        if template is not None:  # one that no longer comes with Inkblot has no text
            saved.append(SavedVersion(one.number, one.saved_at, template))
    first = [SavedVersion(BUILT_IN_VERSION, None, built_in)] if built_in else []
    return (*first, *saved)


def _built_in() -> dict[str, PromptTemplate]:
    return {template.code: template for template in built_in_templates().templates}


def _studies_by_template(workspace: Workspace) -> Mapping[str, list[str]]:
    """Codes of the frozen studies that keep a copy of each template."""
    used = defaultdict(list)
    for study, template in study_store.templates_used(workspace.database):
        used[template].append(study)
    return used


# Saving. A template is never deleted: each save is a version, and studies keep their own copy.


def save(
    workspace: Workspace, template: PromptTemplate, *, expected_versions: int | None = None
) -> None:
    """Save a version of a template.

    Raises
    ------
    DesignError
        A placeholder is unknown or missing; names all of them. Nothing is saved.
    ConflictError
        Another tab saved a version after `expected_versions`. Nothing is saved.
    """
    template = readable_value(template)
    trouble = problems(template)
    if trouble:
        raise DesignError(
            f"The template '{template.code}' cannot be used: "
            f"{'; '.join(str(problem) for problem in trouble)}.",
            "Correct its text; nothing was saved.",
        )
    store.save(
        workspace.database,
        template.code,
        prompts.as_json(template),
        expected_versions=expected_versions,
    )


def create(workspace: Workspace, title: str) -> PromptTemplate:
    """A new template with a short English text to start from; its code is made of the title."""
    text = TemplateText("{item}\n\n{options}\n\n{reply}", "{items}\n\n{options}\n\n{reply}")
    template = PromptTemplate(_new_code(workspace, title), title.strip(), None, {ENGLISH: text})
    save(workspace, template)
    return template


def duplicate(workspace: Workspace, code: str, title: str) -> PromptTemplate:
    """A copy of a template under a new title, and the code made of it."""
    copy = replace(load(workspace, code), code=_new_code(workspace, title), title=title.strip())
    save(workspace, copy)
    return copy


def rename(workspace: Workspace, code: str, title: str) -> PromptTemplate:
    """The template under a new title and code; the old code is archived.

    Raises
    ------
    DesignError
        The template comes with Inkblot, the title is empty, or its code is taken.
    """
    if code in _built_in():
        raise DesignError(
            f"The template '{code}' comes with Inkblot and keeps its name.", "Copy it instead."
        )
    renamed = duplicate(workspace, code, title)
    store.set_archived(workspace.database, code, archived=True)
    return renamed


def restore(workspace: Workspace, code: str, number: int) -> None:
    """Save an earlier version again as the newest one; 0 sets a built-in template back."""
    earlier = {version.number: version for version in versions(workspace, code)}
    if number not in earlier:
        raise DesignError(
            f"The template '{code}' has no version {number}.", "Choose one of its versions."
        )
    if number == BUILT_IN_VERSION:
        store.save(workspace.database, code, store.AS_BUILT_IN, expected_versions=None)
    else:
        save(workspace, earlier[number].template)


def set_archived(workspace: Workspace, code: str, *, archived: bool) -> None:
    """Hide a template from the lists of choices, or bring it back. Designs that name it keep it."""
    load(workspace, code)
    store.set_archived(workspace.database, code, archived)


def _new_code(workspace: Workspace, title: str) -> str:
    if not title.strip():
        raise DesignError("The template has no title.", "Type a title.")
    code = slug(title)
    if code in prompts.load_wordings(workspace).templates:
        raise DesignError(
            f"There is a template '{code}' already.", "Choose another title; nothing was saved."
        )
    return code


# What changed between two versions.

PART_TITLES: Mapping[str, str] = {
    "single": "question with one item",
    "block": "question with a block of items",
    "persona": "sentence after a persona",
    "system": "system message",
    "history": "sentence after a conversation",
    "reply": "demand for one item",
    "block_reply": "demand for a block",
    "option": "an option in the list",
    "between_options": "between two options",
    "item": "an item in a block",
    "cue": "answer cue",
}
"""The parts of a text in words, in the order of a prompt's importance."""


_WORDS: Mapping[object, str] = {
    None: "not stated",
    True: "personal",
    False: "impersonal",
    **{str(listing): words for listing, words in LISTINGS.items()},
}


def compare(old: PromptTemplate, new: PromptTemplate) -> tuple[Difference, ...]:
    """Every difference of two versions; those that a model would read are critical."""
    return tuple(_differences(old, new))


def _differences(old: PromptTemplate, new: PromptTemplate) -> Iterator[Difference]:
    for name in ("title", "personal", "listing", "instructions"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            shown = tuple(str(_WORDS.get(value, value)) for value in (before, after))
            yield Difference(
                "Template", f"{name} changed", shown[0], shown[1], critical=name == "listing"
            )
    for language in sorted(old.texts.keys() | new.texts.keys()):
        where = f"Language {language}"
        if language not in old.texts:
            yield Difference(where, "added", "", new.texts[language].single, critical=False)
        elif language not in new.texts:
            yield Difference(where, "removed", old.texts[language].single, "", critical=True)
        else:
            yield from _text_differences(where, old.texts[language], new.texts[language])


def _text_differences(where: str, old: TemplateText, new: TemplateText) -> Iterator[Difference]:
    for part, title in PART_TITLES.items():
        before, after = getattr(old, part), getattr(new, part)
        if before != after:
            yield Difference(where, f"{title} changed", before, after, critical=True)


# Import and export.

ImportState = Literal["new", "changed", "unchanged"]


def check_file(
    workspace: Workspace, name: str, data: bytes
) -> tuple[tuple[PromptTemplate, ImportState], ...]:
    """The templates of a YAML file, and whether each is new, or a change of one on file.

    Raises
    ------
    FileError
        Something in the file is wrong; names the line.
    """
    templates, replies = read_templates(name, data)
    if replies:
        raise FileError(
            f"{name}: only the built-in file has 'replies'.",
            "Write the sentence under 'reply' and 'block_reply' in the texts of a template.",
        )
    known = prompts.load_wordings(workspace).templates
    states: dict[str, ImportState] = {
        one.code: "unchanged"
        if known.get(one.code) == one
        else "changed"
        if one.code in known
        else "new"
        for one in templates
    }
    return tuple((one, states[one.code]) for one in templates)


def import_file(
    workspace: Workspace, name: str, data: bytes
) -> tuple[tuple[PromptTemplate, ImportState], ...]:
    """Save the templates of a file that are new or changed, each as a version; all or none.

    Raises
    ------
    FileError
        Something in the file is wrong; names the line. Nothing is saved.
    """
    checked = check_file(workspace, name, data)
    bodies = {one.code: prompts.as_json(one) for one, state in checked if state != "unchanged"}
    store.save_all(workspace.database, bodies)
    return checked


def export(workspace: Workspace, codes: Iterable[str]) -> bytes:
    """A YAML file of templates that imports back as the same ones."""
    return templates_yaml(load(workspace, code) for code in codes)


# A template as the fields of a form, and back.


_PERSONAL = {None: "", True: "personal", False: "impersonal"}


def fields_of(template: PromptTemplate) -> dict[str, Any]:
    """The template as one flat set of fields; the texts under "language:part"."""
    values: dict[str, Any] = {
        "title": template.title,
        "personal": _PERSONAL[template.personal],
        "listing": template.listing,
        "instructions": template.instructions,
        "languages": list(template.texts),
    }
    for language, text in template.texts.items():
        values |= text_fields(language, text)
    return values


def text_fields(language: str, text: TemplateText) -> dict[str, str]:
    """The fields of the text in one language."""
    return {f"{language}:{part.name}": getattr(text, part.name) for part in fields(TemplateText)}


def template_of(code: str, values: Mapping[str, Any]) -> PromptTemplate:
    """The template that the fields of a form describe."""
    empty = TemplateText("")
    texts = {
        language: TemplateText(
            **{
                part.name: values.get(f"{language}:{part.name}", getattr(empty, part.name))
                for part in fields(TemplateText)
            }
        )
        for language in values["languages"]
    }
    personal = next(view for view, name in _PERSONAL.items() if name == values["personal"])
    return PromptTemplate(
        code,
        values["title"].strip() or code,
        personal,
        texts,
        values["listing"],
        values["instructions"],
    )


def new_language(template: PromptTemplate, typed: str) -> str:
    """The code of a language that a template does not have yet, by its code or name."""
    language = typed_language(typed)
    if not language or language in template.texts:
        raise DesignError(
            f"'{typed.strip()}' is a language that the template has already."
            if language
            else f"'{typed.strip()}' is not a language code or the name of a common language.",
            "Choose another language from the list.",
        )
    return language
