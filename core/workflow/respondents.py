"""Models on offer: add, change, test; and the keys of a browser session."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from core.collect import endpoints, local_model, openai_client
from core.collect.client import CallFailure, ChatClient, ChatRequest, FailureKind, Question
from core.collect.endpoints import PRESETS, Preset
from core.collect.local_client import LocalClient
from core.collect.simulated import SimulatedClient
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.domain.study import STANDARD, Design, Respondent, SamplingSettings, SimulationSettings
from core.errors import CollectionError, ConflictError, DesignError
from core.store import respondents as store
from core.workflow import service_parameters, templates
from core.workflow.questions import Asked
from core.workflow.secret_names import refuse_key_names
from core.workflow.service_parameters import ParameterCheck
from core.workflow.workspace import Workspace, key_for

__all__ = ["PRESETS", "Preset"]

HONESTY_LOCAL = local_model.HONESTY
HONESTY_SIMULATED = (
    "Simulated respondents are not models of language: they are formulas with a known truth, there "
    "to rehearse a study and to check the statistics. Their answers say nothing about any model."
)
KeyState = Literal[
    "typed", "secrets", "environment", "not_needed", "missing", "elsewhere", "unusable"
]
"""`elsewhere`: the variable holds a key, but it belongs to another address."""
_T = TypeVar("_T")

SIMULATED = Respondent(
    label="Simulated person",
    kind="simulated",
    model="graded response model",
    # the limit means nothing here; without it, earlier studies would have other trial ids
    sampling=SamplingSettings(max_tokens=64, at_once=8, price_in=0.0, price_out=0.0),
    simulation=SimulationSettings(
        acquiescence=0.2, refusal_rate=0.03, explanation_rate=0.05, seed=1
    ),
)
LOCAL = Respondent(
    label="SmolLM2 135M (comes along)",
    kind="local",
    model="SmolLM2-135M-Instruct",
    sampling=SamplingSettings(
        temperature=0.0, max_tokens=12, only_options=True, at_once=1, price_in=0.0, price_out=0.0
    ),
)
STARTER_RESPONDENTS = (SIMULATED, LOCAL)


@dataclass(frozen=True)
class Trial:
    """What a test call gave.

    `rejected` are the service's words where it did not take the request as it was set; `parameters`
    says of a service which settings it takes.
    """

    prompt: str
    reply: str
    seconds: float
    model: str
    rejected: str = ""
    parameters: tuple[ParameterCheck, ...] = ()

    @property
    def refused(self) -> tuple[str, ...]:
        """The names of the settings that the service does not take."""
        return tuple(check.name for check in self.parameters if check.accepted is False)


def offered(workspace: Workspace) -> tuple[Respondent, ...]:
    """Respondents a design can choose, by label."""
    return tuple(r for r, archived in store.on_shelf(workspace.database) if not archived)


def archived(workspace: Workspace) -> tuple[Respondent, ...]:
    """Respondents put away."""
    return tuple(r for r, hidden in store.on_shelf(workspace.database) if hidden)


def by_label(workspace: Workspace, label: str) -> Respondent:
    """The respondent of that label."""
    for respondent in offered(workspace):
        if respondent.label == label:
            return respondent
    raise DesignError(f"There is no respondent '{label}'.", "Add it on the page Respondents.")


def save(workspace: Workspace, respondent: Respondent) -> None:
    """Offer a respondent; one of the same label is replaced for studies yet to come.

    Raises
    ------
    CollectionError
        Its address is not one a key may be sent to, or a field is missing.
    """
    if not respondent.label.strip():
        raise CollectionError("The respondent has no name.", "Type a name.")
    if not respondent.model.strip():
        raise CollectionError("No model is chosen.", "Type the model's name, or list the models.")
    if respondent.kind == "api":
        endpoints.check_address(respondent.base_url)
        refuse_key_names(respondent.sampling.extra_body)
    if respondent.kind == "local":
        _check_weights(respondent.base_url)
    store.shelve(workspace.database, respondent)


def add(workspace: Workspace, respondent: Respondent) -> None:
    """Offer a new respondent; DesignError where its name is taken, by one put away as well."""
    if respondent.label in {known.label for known, _ in store.on_shelf(workspace.database)}:
        raise DesignError(
            f"There is a respondent called '{respondent.label}' already, on offer or put away.",
            "Type another name, or choose that one from the list to change it.",
        )
    save(workspace, respondent)


def change(workspace: Workspace, before_id: int, respondent: Respondent) -> None:
    """Replace a respondent for studies yet to come; frozen studies keep theirs.

    `before_id` is the respondent_id of the state that was changed.

    Raises
    ------
    ConflictError
        Another tab has changed it since; nothing is replaced.
    """
    if by_label(workspace, respondent.label).respondent_id != before_id:
        raise ConflictError(
            f"'{respondent.label}' was changed in another tab meanwhile.",
            "What you typed is kept here. Choose 'Discard what I typed' to see the newer settings, "
            "or save it under another name.",
        )
    save(workspace, respondent)


def _check_weights(path: str) -> None:
    """Raise CollectionError where no model file is at that path; empty is the one that came."""
    if not path:
        return
    file = Path(path)
    if file.suffix.lower() != ".gguf":
        raise CollectionError(
            f"'{path}' is not a .gguf file.", "Give the full path of a model file ending in .gguf."
        )
    if not file.is_file():
        raise CollectionError(f"There is no file '{path}'.", "Check the path of the model file.")


def set_archived(workspace: Workspace, label: str, *, archived: bool) -> None:
    """Take a respondent off the list of choices, or put it back."""
    store.set_archived(workspace.database, label, archived)


def remember_key(workspace: Workspace, base_url: str, key: str) -> None:
    """Use a typed key for this address in this browser session. It is written nowhere."""
    workspace.keys.remember(base_url, key.strip())


def forget_key(workspace: Workspace, base_url: str) -> None:
    """Forget the key typed for an address."""
    workspace.keys.forget(base_url)


def has_key(workspace: Workspace, base_url: str, key_variable: str) -> bool:
    """Whether a key would be sent to this address."""
    return key_for(workspace, base_url, key_variable) is not None


def key_state(workspace: Workspace, base_url: str, key_variable: str) -> KeyState:
    """Where the key for an address would come from; never the key itself."""
    try:
        if workspace.keys.find(base_url, "", {}) is not None:
            return "typed"
        found = has_key(workspace, base_url, key_variable)
    except CollectionError:
        return "unusable"
    if found:
        return "secrets" if key_variable in workspace.secrets else "environment"
    if not key_variable:
        return "not_needed"
    known = bool(os.environ.get(key_variable) or workspace.secrets.get(key_variable))
    return "elsewhere" if known else "missing"


def list_models(workspace: Workspace, base_url: str, key_variable: str) -> tuple[str, ...]:
    """Names of the models a service offers."""
    endpoints.check_address(base_url)
    key = key_for(workspace, base_url, key_variable)
    return _now(workspace, openai_client.list_models(base_url, key, used_keys=workspace.keys.used))


def test(workspace: Workspace, respondent: Respondent) -> Trial:
    """Put one harmless statement to a respondent and return what it said.

    A service is asked once more with each setting, to find which of them it takes.

    Raises
    ------
    CollectionError
        There was no reply, for another reason than a setting that the service does not take.
    """
    statement = Item("test", (Wording("en", "I like to go for a walk."),), "test")
    response_format = BUILT_IN["likert_5"]
    wordings = templates.offered(workspace)
    bank = Instrument("test", "Test", (statement,), (response_format,))
    asked = Asked(Design("test", "test", (respondent.label,)), bank, {}, wordings)
    question = Question((statement,), response_format, "en", template=STANDARD)
    request = asked.request(respondent, question)

    async def ask() -> Trial:
        client = client_for(workspace, respondent)
        try:
            return await _tried(workspace, client, respondent, request)
        finally:
            await client.close()

    return _now(workspace, ask())


async def _tried(
    workspace: Workspace, client: ChatClient, respondent: Respondent, request: ChatRequest
) -> Trial:
    """The reply to a request, or why it was rejected, and which settings a service takes."""
    prompt = request.messages[-1]["content"]
    started = time.monotonic()
    try:
        reply = await client.complete(request)
        found = Trial(prompt, reply.text, time.monotonic() - started, reply.model)
    except CallFailure as failure:
        if failure.kind is not FailureKind.REJECTED or respondent.kind != "api":
            raise
        words = workspace.keys.redact(failure.message)
        found = Trial(prompt, "", time.monotonic() - started, "", rejected=words)
    if respondent.kind != "api":
        return found
    checks = await service_parameters.check(client, request)
    if found.rejected and not any(check.accepted for check in checks):
        raise CallFailure(FailureKind.REJECTED, found.rejected)
    redacted = (replace(check, said=workspace.keys.redact(check.said)) for check in checks)
    return replace(found, parameters=tuple(redacted))


def client_for(workspace: Workspace, respondent: Respondent) -> ChatClient:
    """The client that reaches a respondent; a local model is started when it is not running."""
    sampling = respondent.sampling
    if respondent.kind == "simulated":
        if respondent.simulation is None:
            raise CollectionError(
                f"'{respondent.label}' has no simulation settings.", "Save it again."
            )
        return SimulatedClient(respondent.simulation)
    if respondent.kind == "local":
        return LocalClient(
            respondent.base_url, at_once=sampling.at_once, timeout_s=sampling.timeout_s
        )
    endpoints.check_address(respondent.base_url)
    key = key_for(workspace, respondent.base_url, respondent.key_variable)
    return openai_client.OpenAIClient(
        respondent.base_url, key, at_once=sampling.at_once, timeout_s=sampling.timeout_s,
        used_keys=workspace.keys.used,
    )  # fmt: skip


def _now(workspace: Workspace, work: Coroutine[Any, Any, _T]) -> _T:
    """Run a single call and turn its failure into something a page can show."""
    try:
        return asyncio.run(work)
    except CallFailure as failure:
        raise CollectionError(
            workspace.keys.redact(failure.message), "Check address, model name and key."
        ) from None
