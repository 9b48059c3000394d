"""Models on offer: add, change, test; and their keys."""

from __future__ import annotations

import asyncio
import os
import re
import time
import unicodedata
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from core.collect import endpoints, local_model
from core.collect.client import (
    CallFailure,
    ChatClient,
    ChatRequest,
    FailureKind,
    Question,
    Reply,
)
from core.collect.endpoints import SERVICES, Service
from core.collect.local_model import LocalClient
from core.collect.simulated import SimulatedClient
from core.domain.characters import readable_value
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.domain.study import STANDARD, Design, Respondent, SamplingSettings, SimulationSettings
from core.errors import CollectionError, ConflictError, DesignError
from core.store import respondents as store
from core.workflow import prompts
from core.workflow.prompts import StudyMaterials
from core.workflow.respondents import service_settings
from core.workflow.respondents.service_settings import ParameterCheck
from core.workflow.workspace import Workspace, key_for

__all__ = ["SERVICES", "Service"]


# Names of settings that hold keys. Settings are saved in the database, and keys must not be.

_KEY_PARTS = (
    "apikey",
    "accesskey",
    "privatekey",
    "authtoken",
    "accesstoken",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "authorization",
    "bearer",
    "credential",
    "cookie",
    "header",
)
_KEY_WORDS = frozenset({"auth", "pwd"})
_KEY_LAST_WORDS = frozenset({"key", "keys", "token"})
# What ends like a key and is none: a name for the service's cache, and tokens of a vocabulary.
_HARMLESS_ENDINGS = ("promptcachekey", "eostoken", "bostoken", "padtoken", "stoptoken", "masktoken")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def refuse_key_names(settings: Any) -> None:
    """Raise CollectionError if a name in additional settings, at any depth, is one of a key's."""
    waiting = [settings]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | tuple):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            if named := next((name for name in value if holds_key(str(name))), None):
                raise CollectionError(
                    f"The additional settings name '{str(named)[:60]}', which holds a key, and "
                    "they are saved in the database.",
                    "Delete it there. Type a key into the field for the key, or keep it in the "
                    "environment variable that is named there; both are saved nowhere.",
                )


def holds_key(name: str) -> bool:
    """Whether a setting of that name holds a key, however the name is spelt."""
    words = [word.lower() for word in _WORD.findall(unicodedata.normalize("NFKC", name))]
    joined = "".join(words)
    if joined.endswith(_HARMLESS_ENDINGS):
        return False
    return (
        any(part in joined for part in _KEY_PARTS)
        or not _KEY_WORDS.isdisjoint(words)
        or (bool(words) and words[-1] in _KEY_LAST_WORDS)
    )


# Models on offer: add, change, test; and the keys of a browser session.

HONESTY_LOCAL = local_model.MODEL_NOTE
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
        acquiescence=0.2, refusal_rate=0.03, explanation_rate=0.05, seed=1, refusing_tries=1
    ),
)
LOCAL = Respondent(
    label="SmolLM2 135M (included)",
    kind="local",
    model="SmolLM2-135M-Instruct",
    sampling=SamplingSettings(
        temperature=0.0, max_tokens=256, only_options=True, at_once=1, price_in=0.0, price_out=0.0
    ),
)
STARTER_RESPONDENTS = (SIMULATED, LOCAL)


@dataclass(frozen=True)
class TestReply:
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


def list_respondents(workspace: Workspace) -> tuple[Respondent, ...]:
    """Respondents a design can choose, by label."""
    return tuple(r for r, archived in store.offered_respondents(workspace.database) if not archived)


def list_archived(workspace: Workspace) -> tuple[Respondent, ...]:
    """Respondents put away."""
    return tuple(r for r, hidden in store.offered_respondents(workspace.database) if hidden)


def by_label(workspace: Workspace, label: str) -> Respondent:
    """The respondent of that label."""
    for respondent in list_respondents(workspace):
        if respondent.label == label:
            return respondent
    raise DesignError(f"There is no respondent '{label}'.", "Add it on the page Respondents.")


def save(workspace: Workspace, respondent: Respondent) -> None:
    """Offer a respondent; one of the same label is replaced for studies yet to come."""
    save_all(workspace, [respondent])


def save_all(workspace: Workspace, respondents: Sequence[Respondent]) -> None:
    """Offer respondents, all or none; see `check`."""
    made = [readable_value(respondent) for respondent in respondents]
    for respondent in made:
        check(respondent)
    store.offer(workspace.database, made)


def check(respondent: Respondent) -> None:
    """Refuse a respondent that cannot be asked.

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
        _check_model_file(respondent.base_url)


def add(workspace: Workspace, respondent: Respondent) -> None:
    """Offer a new respondent; DesignError where its name is taken, by one put away as well."""
    if respondent.label in {
        known.label for known, _ in store.offered_respondents(workspace.database)
    }:
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


def _check_model_file(path: str) -> None:
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
        is_sent = has_key(workspace, base_url, key_variable)
    except CollectionError:
        return "unusable"
    if is_sent:
        return "secrets" if key_variable in workspace.secrets else "environment"
    if not key_variable:
        return "not_needed"
    known = bool(os.environ.get(key_variable) or workspace.secrets.get(key_variable))
    return "elsewhere" if known else "missing"


def list_models(workspace: Workspace, base_url: str, key_variable: str) -> tuple[str, ...]:
    """Names of the models a service offers."""
    from core.collect import openai_client  # slow to load

    workspace.refuse_asking()
    endpoints.check_address(base_url)
    key = key_for(workspace, base_url, key_variable)
    return _run_call(
        workspace, openai_client.list_models(base_url, key, used_keys=workspace.keys.used)
    )


def test(workspace: Workspace, respondent: Respondent) -> TestReply:
    """Put one harmless statement to a respondent and return what it said.

    A service is asked once more with each setting, to find which of them it takes.

    Raises
    ------
    CollectionError
        There was no reply, for another reason than a setting that the service does not take.
    """
    statement = Item("test", (Wording("en", "I like to go for a walk."),), "test")
    response_format = BUILT_IN["likert_5"]
    wordings = prompts.load_wordings(workspace)
    bank = Instrument("test", "Test", (statement,), (response_format,))
    materials = StudyMaterials(Design("test", "test", (respondent.label,)), bank, {}, wordings)
    question = Question((statement,), response_format, "en", template=STANDARD)
    request = materials.request(respondent, question)

    async def ask() -> TestReply:
        client = client_for(workspace, respondent)
        try:
            return await _test_reply(workspace, client, respondent, request)
        finally:
            await client.close()

    return _run_call(workspace, ask())


async def _test_reply(
    workspace: Workspace, client: ChatClient, respondent: Respondent, request: ChatRequest
) -> TestReply:
    """The reply to a request, or why it was rejected, and which settings a service takes."""
    prompt = request.messages[-1]["content"]
    started = time.monotonic()
    try:
        reply = await client.complete(request)
        test_reply = TestReply(prompt, reply.text, time.monotonic() - started, reply.model)
    except CallFailure as failure:
        if failure.kind is not FailureKind.REJECTED or respondent.kind != "api":
            raise
        words = workspace.keys.redact(failure.message)
        test_reply = TestReply(prompt, "", time.monotonic() - started, "", rejected=words)
    if respondent.kind != "api":
        return test_reply
    checks = await service_settings.check_settings(client, request)
    if test_reply.rejected and not any(check.accepted for check in checks):
        raise CallFailure(FailureKind.REJECTED, test_reply.rejected)
    redacted = (replace(check, message=workspace.keys.redact(check.message)) for check in checks)
    return replace(test_reply, parameters=tuple(redacted))


def ask(workspace: Workspace, respondent: Respondent, request: ChatRequest) -> Reply:
    """The reply of a respondent to a single request; nothing of it is kept.

    Raises
    ------
    CollectionError
        There was no reply.
    """

    async def answer() -> Reply:
        client = client_for(workspace, respondent)
        try:
            return await client.complete(request)
        finally:
            await client.close()

    return _run_call(workspace, answer())


def client_for(workspace: Workspace, respondent: Respondent) -> ChatClient:
    """The client that reaches a respondent; a local model is started when it is not running."""
    workspace.refuse_asking()
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
    from core.collect import openai_client  # slow to load

    endpoints.check_address(respondent.base_url)
    key = key_for(workspace, respondent.base_url, respondent.key_variable)
    return openai_client.OpenAIClient(
        respondent.base_url,
        key,
        at_once=sampling.at_once,
        timeout_s=sampling.timeout_s,
        used_keys=workspace.keys.used,
    )


def _run_call(workspace: Workspace, work: Coroutine[Any, Any, _T]) -> _T:
    """Run a single call and turn its failure into something a page can show."""
    try:
        return asyncio.run(work)
    except CallFailure as failure:
        raise CollectionError(
            workspace.keys.redact(failure.message), "Check address, model name and key."
        ) from None
