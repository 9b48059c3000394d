"""Changing how a respondent of a frozen study is asked, where its service does not take a setting.

The plan and its hash stay. Each change is kept with its time and reason, holds for the calls made
after it, and is told wherever the methods of the study are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC

from core.domain.study import SETTINGS, Respondent
from core.errors import DesignError
from core.store import studies
from core.store import studies as store
from core.store.studies import Amendment
from core.workflow import study_log
from core.workflow.designs.studies import respondents_as_amended
from core.workflow.respondents.forms import parse_marks
from core.workflow.respondents.service_settings import (
    PARAMETERS,
    settings_in_use,
    with_completion_limit,
    without_setting,
)
from core.workflow.runs import control
from core.workflow.workspace import Workspace

__all__ = ["Amendment"]


def list_amendments(workspace: Workspace, study: str) -> tuple[Amendment, ...]:
    """The amendments of a study, oldest first."""
    return store.amendments(
        workspace.database, studies.frozen_study(workspace.database, study).study_id
    )


def settings_to_leave_out(workspace: Workspace, study: str, label: str) -> tuple[str, ...]:
    """The settings that the study sends to a service and that an amendment can leave out.

    Those of which the study states levels, such as temperatures, are not among them.
    """
    record = studies.frozen_study(workspace.database, study)
    person = _respondent(workspace, study, label, services_only=True)[1]
    sent = set(settings_in_use(person.sampling))
    held = record.design.answering == "enforced"
    sent_by_design = {"logprobs": record.design.first_token, "response_format": held}
    extra = person.sampling.extra_body
    sent |= {name for name, is_sent in sent_by_design.items() if is_sent and name not in extra}
    sent -= {name for name, levels in SETTINGS.items() if record.design.levels(levels)}
    return tuple(name for name in PARAMETERS if name in sent)


def amend(
    workspace: Workspace,
    study: str,
    label: str,
    *,
    leave_out: Sequence[str],
    reason: str,
    completion_limit: bool = False,
) -> Amendment:
    """Leave settings out of the calls of one respondent from now on, and keep time and reason.

    With `completion_limit`, its longest reply is sent as max_completion_tokens from now on.

    Raises
    ------
    DesignError
        The study is being asked or is imported, the respondent is not one of its services, a
        setting is not sent or is compared, nothing would change, or no reason is given.
    CollectionError
        No longest reply is set that could be sent under another name.
    """
    with workspace.database.deciding():
        key, person = _to_amend(workspace, study, label, reason, services_only=True)
        if not leave_out and not completion_limit:
            raise DesignError("The amendment changes nothing.", "Choose a setting to leave out.")
        _refuse_others(settings_to_leave_out(workspace, study, label), leave_out)
        sampling = person.sampling
        changes = [f"{PARAMETERS[name]} left to the service" for name in leave_out]
        if completion_limit:
            sampling = with_completion_limit(sampling)
            changes.append("longest reply sent as max_completion_tokens")
        for name in leave_out:
            sampling = without_setting(sampling, name)
        return _keep(workspace, study, key, replace(person, sampling=sampling), changes, reason)


def amend_marks(
    workspace: Workspace, study: str, label: str, *, marks: str, reason: str
) -> Amendment:
    """Add marks of reasoning to one respondent, and keep time and reason.

    `marks` are typed as in its settings. They hold for replies that come, and for those on file
    once they are read again.

    Raises
    ------
    CollectionError
        The marks cannot be read.
    DesignError
        The study is being asked or is imported, the respondent is not one of it, or no reason or no
        new mark is given.
    """
    with workspace.database.deciding():
        key, person = _to_amend(workspace, study, label, reason, services_only=False)
        known = person.sampling.reasoning_marks
        added = tuple(pair for pair in parse_marks(marks) if pair not in known)
        if not added:
            raise DesignError("The amendment adds no marks.", "Type the marks of the reasoning.")
        sampling = replace(person.sampling, reasoning_marks=(*known, *added))
        changes = [f"reasoning between {a} and {b} not read" for a, b in added]
        return _keep(workspace, study, key, replace(person, sampling=sampling), changes, reason)


def sentences(workspace: Workspace, study: str) -> tuple[str, ...]:
    """Each amendment of a study as a sentence for its methods, oldest first."""
    return tuple(
        f"Study '{study}' was amended on {one.amended_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC: "
        f"{one.respondent.label}, {one.change}. Reason: {one.reason.rstrip('.')}."
        for one in list_amendments(workspace, study)
    )


def _to_amend(
    workspace: Workspace, study: str, label: str, reason: str, *, services_only: bool
) -> tuple[int, Respondent]:
    """A respondent of a study that may be amended now, for a reason; as `_respondent`."""
    if control.progress(workspace, study).state in control.UNDER_WAY:
        raise DesignError(f"'{study}' is being asked.", "Pause it, then amend it.")
    found = _respondent(workspace, study, label, services_only=services_only)
    if not reason.strip():
        raise DesignError("The amendment has no reason.", "Say in a sentence why it is needed.")
    return found


def _respondent(
    workspace: Workspace, study: str, label: str, *, services_only: bool
) -> tuple[int, Respondent]:
    """A respondent that a study asks, as it is asked now, and the id of the plan for it."""
    record = studies.frozen_study(workspace.database, study)
    people = {
        person.label: (key, person)
        for key, person in respondents_as_amended(workspace, record.study_id).items()
        if person.kind == "api" or not services_only
    }
    if record.kind != "planned" or label not in people:
        noun = "service" if services_only else "respondent"
        names = ", ".join(people) or "none"
        raise DesignError(
            f"'{study}' asks no {noun} '{label}'.", f"{noun.capitalize()}s that it asks: {names}."
        )
    return people[label]


def _keep(
    workspace: Workspace,
    study: str,
    key: int,
    person: Respondent,
    changes: Sequence[str],
    reason: str,
) -> Amendment:
    """Write an amendment, and return it."""
    change = "; ".join(changes)
    with study_log.logged(workspace, study, f"Amended {person.label}: {change}"):
        store.add_amendment(
            workspace.database,
            studies.frozen_study(workspace.database, study).study_id,
            key,
            person,
            change=change,
            reason=" ".join(reason.split()),
        )
    return list_amendments(workspace, study)[-1]


def _refuse_others(possible: Sequence[str], leave_out: Sequence[str]) -> None:
    for name in leave_out:
        if name not in possible:
            raise DesignError(
                f"The setting '{name}' cannot be left out: the study does not send it, or compares "
                "its values.",
                f"Settings that can be left out: {', '.join(possible) or 'none'}.",
            )
