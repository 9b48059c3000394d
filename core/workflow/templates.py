"""Prompt templates: those that come with Inkblot, and those of the user."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.domain.json_values import plain
from core.domain.templates import REPLIES, TEMPLATE, PromptTemplate, ReplyWords, problems
from core.errors import DesignError
from core.files import template_files
from core.store import memory, studies
from core.workflow.workspace import Workspace

_SENTENCES = ""  # under this code a study keeps the sentences that ask for a reply


@dataclass(frozen=True)
class Wordings:
    """Templates by their codes, and how each language asks for a reply."""

    templates: Mapping[str, PromptTemplate]
    replies: Mapping[str, ReplyWords]


def offered(workspace: Workspace) -> Wordings:
    """Every template a design can choose; one of the user's replaces the built-in of its code."""
    built_in = template_files.built_in()
    found = {template.code: template for template in built_in.templates}
    for code, body in memory.saved_templates(workspace.database).items():
        found[code] = TEMPLATE.validate_json(body)
    return Wordings(found, built_in.replies)


def save(workspace: Workspace, template: PromptTemplate) -> None:
    """Keep a template; studies that are frozen hold their own copy of the one before.

    Raises
    ------
    DesignError
        A placeholder is unknown or missing; nothing is kept.
    """
    trouble = problems(template)
    if trouble:
        raise DesignError(
            f"The template '{template.code}' cannot be used: {trouble[0]}.", "Mend its text."
        )
    memory.save_template(
        workspace.database, template.code, json.dumps(plain(template), ensure_ascii=False)
    )


def to_keep(wordings: Wordings, codes: Iterable[str]) -> dict[str, str]:
    """What a study keeps of the wordings: the templates it uses and the reply sentences."""
    kept = {code: _json(wordings.templates[code]) for code in codes}
    return kept | {_SENTENCES: _json(wordings.replies)}


def of_study(workspace: Workspace, study_id: int) -> Wordings:
    """The wordings as a study was frozen with; of an earlier Inkblot, those that come along."""
    kept = studies.templates(workspace.database, study_id)
    if not kept:
        built_in = template_files.built_in()
        return Wordings({t.code: t for t in built_in.templates}, built_in.replies)
    replies = REPLIES.validate_json(kept.pop(_SENTENCES))
    return Wordings({code: TEMPLATE.validate_json(body) for code, body in kept.items()}, replies)


def _json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, sort_keys=True)
