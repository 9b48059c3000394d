"""Which settings a service takes, found by sending each of them once by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.collect.client import CallFailure, ChatClient, ChatRequest, FailureKind
from core.domain.study import SamplingSettings
from core.errors import CollectionError

PARAMETERS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top-p",
    "max_tokens": "longest reply, as max_tokens",
    "max_completion_tokens": "longest reply, as max_completion_tokens",
    "seed": "seed",
    "logprobs": "probabilities of the first token",
    "response_format": "replies held to the options",
}
"""The settings that services take or refuse, by the name they are sent under, with our words."""

_SETTINGS = ("temperature", "top_p", "max_tokens", "seed")
_SENT_AS: Mapping[str, tuple[str, ...]] = {"logprobs": ("logprobs", "top_logprobs")}
_TYPICAL: Mapping[str, float] = {"temperature": 0.0, "top_p": 0.9, "max_tokens": 64, "seed": 1}
_MAX_AT_ONCE = 4


@dataclass(frozen=True)
class ParameterCheck:
    """Whether a service took a setting; None where that is not known. `message` has its words."""

    name: str
    accepted: bool | None
    message: str = ""


def settings_in_use(sampling: SamplingSettings) -> tuple[str, ...]:
    """The names of the settings that a respondent itself sends."""
    extra = sampling.extra_body
    sent = {name: getattr(sampling, name) for name in _SETTINGS} | dict(extra)
    return tuple(name for name in PARAMETERS if sent.get(name) is not None)


def without_setting(sampling: SamplingSettings, name: str) -> SamplingSettings:
    """The settings with one of PARAMETERS left to the service.

    Raises
    ------
    CollectionError
        There is no such setting.
    """
    if name not in PARAMETERS:
        raise CollectionError(
            f"There is no setting '{name}' to leave out.", f"Use one of: {', '.join(PARAMETERS)}."
        )
    sent_as = _SENT_AS.get(name, (name,))
    extra = {key: value for key, value in sampling.extra_body.items() if key not in sent_as}
    if name in _SETTINGS:
        empty: dict[str, Any] = {name: None}
        return replace(sampling, extra_body=extra, **empty)
    if name == "max_completion_tokens":
        return replace(sampling, extra_body=extra)
    # The design of a study asks for these; None among the additional settings takes them out.
    return replace(sampling, extra_body={**extra, **dict.fromkeys(sent_as)})


def with_completion_limit(sampling: SamplingSettings) -> SamplingSettings:
    """The settings with the longest reply sent as max_completion_tokens, as newer models want it.

    Raises
    ------
    CollectionError
        No longest reply is set.
    """
    limit = sampling.extra_body.get("max_tokens", sampling.max_tokens)
    if limit is None:
        raise CollectionError(
            "No longest reply is set, so there is nothing to send as max_completion_tokens.",
            "Leave the setting out instead.",
        )
    bare = without_setting(sampling, "max_tokens")
    return replace(bare, extra_body={**bare.extra_body, "max_completion_tokens": limit})


async def check_settings(client: ChatClient, request: ChatRequest) -> tuple[ParameterCheck, ...]:
    """Send a request once bare and once with each setting, of its own value where it has one.

    A setting counts as refused where the bare request is answered and the one with it is rejected.
    """
    if await _failure(client, _request_with_setting(request, None)) is not None:
        return tuple(ParameterCheck(name, None) for name in PARAMETERS)
    turns = asyncio.Semaphore(_MAX_AT_ONCE)

    async def tried(name: str) -> ParameterCheck:
        async with turns:
            failure = await _failure(client, _request_with_setting(request, name))
        if failure is None:
            return ParameterCheck(name, accepted=True)
        refused = failure.kind is FailureKind.REJECTED
        return ParameterCheck(name, False if refused else None, failure.message)

    return tuple(await asyncio.gather(*map(tried, PARAMETERS)))


async def _failure(client: ChatClient, request: ChatRequest) -> CallFailure | None:
    try:
        await client.complete(request)
    except CallFailure as failure:
        return failure
    return None


def _request_with_setting(request: ChatRequest, name: str | None) -> ChatRequest:
    """The request with only one of PARAMETERS, or with none."""
    sampling = request.sampling
    sent: dict[str, Any] = {n: getattr(sampling, n) for n in _SETTINGS} | dict(sampling.extra_body)
    bare = sampling
    for other in PARAMETERS:
        bare = without_setting(bare, other)
    extra = {key: value for key, value in bare.extra_body.items() if value is not None}
    bare = replace(bare, extra_body=extra)
    if name in _SETTINGS:
        own: dict[str, Any] = {name: _TYPICAL[name] if sent[name] is None else sent[name]}
        bare = replace(bare, **own)
    elif name == "max_completion_tokens":
        limit = sent.get(name) or sent.get("max_tokens") or _TYPICAL["max_tokens"]
        bare = replace(bare, extra_body={**extra, name: limit})
    return replace(
        request,
        sampling=bare,
        seed=None,
        first_token=name == "logprobs",
        choices=tuple(option.code for option in request.question.response_format.options)
        if name == "response_format"
        else (),
    )
