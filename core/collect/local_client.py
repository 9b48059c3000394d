"""The local model as a chat client: started when first asked, its answers held to the options."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from core.collect import local_model
from core.collect.client import CallFailure, ChatRequest, FailureKind, Reply
from core.collect.openai_client import OpenAIClient
from core.collect.prompts import gbnf
from core.errors import CollectionError

_MOST_SLOTS = 4


class LocalClient:
    """Answers from a .gguf file on this machine.

    With one call at a time its prompt cache is off, and at temperature 0 the same prompt then
    always gets the same reply; with several at a time it is faster, but not reproducible.
    """

    def __init__(self, weights: str, *, at_once: int, timeout_s: float) -> None:
        """`weights` is the path of a .gguf file; empty means the model that came along."""
        self._weights = Path(weights) if weights else None
        self._at_once = at_once
        self._timeout_s = timeout_s
        self._client: OpenAIClient | None = None
        self._starting = asyncio.Lock()

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply, or raise CallFailure."""
        client = await self._started()
        extra = dict(request.sampling.extra_body)
        if request.choices:
            extra["grammar"] = gbnf(request.choices, len(request.question.items))
        sampling = replace(request.sampling, extra_body=extra)
        try:
            return await client.complete(replace(request, sampling=sampling, choices=()))
        except CallFailure as failure:
            if failure.kind is FailureKind.UNREACHABLE:  # it has died; the next try starts it anew
                await self._forget(client)
            raise

    async def close(self) -> None:
        """Release connections; the model itself stays ready for the next study."""
        if self._client is not None:
            await self._client.close()

    async def _forget(self, client: OpenAIClient) -> None:
        async with self._starting:
            if self._client is client:
                self._client = None
                await client.close()

    async def _started(self) -> OpenAIClient:
        async with self._starting:
            if self._client is None:
                try:
                    model = await asyncio.to_thread(
                        local_model.shared,
                        self._weights,
                        slots=min(self._at_once, _MOST_SLOTS),
                        cache_prompt=self._at_once > 1,
                    )
                except CollectionError as error:
                    raise CallFailure(FailureKind.NOT_FOUND, str(error)) from error
                self._client = OpenAIClient(
                    model.base_url, model.key, at_once=self._at_once, timeout_s=self._timeout_s
                )
            return self._client
