"""The second phase: asking again with an opinion opposite to what was answered first."""

from __future__ import annotations

import hashlib
import json

from core.domain.json_values import plain
from core.domain.templates import placeholders
from core.errors import DesignError
from core.store import phases as store
from core.store import studies
from core.store.phases import Phases
from core.workflow import templates
from core.workflow.workspace import Workspace

__all__ = ["Phases"]

_OPINION = "opinion"


def state(workspace: Workspace, study: str) -> Phases:
    """How far the phases of a study are."""
    record = studies.get(workspace.database, study)
    return store.state(workspace.database, record.study_id)


def fitting_templates(workspace: Workspace) -> dict[str, str]:
    """Titles of the templates that tell an opinion, by their codes."""
    return {
        code: template.title
        for code, template in templates.offered(workspace).templates.items()
        if _OPINION in placeholders(template.text("en").single)
    }


def can_have_opposing(workspace: Workspace, study: str) -> bool:
    """Whether a second phase makes sense: a planned study that asks one item at a time."""
    record = studies.get(workspace.database, study)
    return record.kind == "planned" and record.design.items_per_call == 1


def plan_opposing(workspace: Workspace, study: str, template: str) -> Phases:
    """Plan the second phase from the coded answers of the first; nothing is asked yet.

    Raises
    ------
    DesignError
        The study asks several items a call, the template tells no opinion, or as in
        `core.store.phases.add_opposing`. Nothing is changed then.
    """
    record = studies.get(workspace.database, study)
    if not can_have_opposing(workspace, study):
        raise DesignError(
            "A second phase needs a planned study that asks one item at a time.",
            "Freeze a study with one item a call.",
        )
    if template not in fitting_templates(workspace):
        raise DesignError(
            f"The template '{template}' does not tell an opinion.",
            "Choose one whose text holds {opinion}.",
        )
    body = json.dumps(
        plain(templates.offered(workspace).templates[template]),
        ensure_ascii=False, sort_keys=True,
    )  # fmt: skip

    def plan_hash_of(count: int, mark: int) -> str:
        text = json.dumps([record.plan_hash, template, body, count, str(mark)])
        return hashlib.sha256(text.encode()).hexdigest()

    store.add_opposing(
        workspace.database,
        record.study_id,
        instrument_id=record.instrument_id,
        template=template,
        body=body,
        plan_hash_of=plan_hash_of,
    )
    return state(workspace, study)
