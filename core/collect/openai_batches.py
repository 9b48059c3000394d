"""The batch service of an OpenAI-compatible address: files up, batches made, files down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from openai import APIResponseValidationError, AsyncOpenAI
from openai.types import Batch, FileObject

from core.collect.client import broken_reply
from core.collect.openai_client import OpenAIClient

_Found = TypeVar("_Found")

_LARGEST_FILE = 1024**3
_TIMEOUT_S = 900.0
_MARK = "inkblot_batch"
"""In the metadata of a batch at the service: which of our batches it is."""
_MOST_LISTED = 1000
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
"""The service's words for a batch on which nothing changes any more."""


@dataclass(frozen=True)
class ServiceBatch:
    """A batch as the service describes it. `made` of `total` calls have a reply or a failure."""

    service_id: str
    status: str
    output_file_id: str | None
    error_file_id: str | None
    made: int
    total: int
    problem: str

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self.status in FINAL


class BatchService(OpenAIClient):
    """The files and batches of one address with its key. Use and close it in one event loop."""

    def __init__(
        self, base_url: str, key: str | None, *, used_keys: Callable[[], Collection[str]]
    ) -> None:
        super().__init__(
            base_url,
            key,
            at_once=2,
            timeout_s=_TIMEOUT_S,
            used_keys=used_keys,
            largest=_LARGEST_FILE,
        )

    async def upload(self, path: Path) -> str:
        """Bring a file of requests to the service; its id there."""

        async def ask(package: AsyncOpenAI) -> FileObject:
            with path.open("rb") as file:
                return await package.files.create(file=(path.name, file), purpose="batch")

        file = await self.guarded(_checked(ask))
        if not isinstance(file, FileObject) or not isinstance(file.id, str):
            raise broken_reply("The service did not say under which id it keeps the file.")
        return file.id

    async def create(self, file_id: str, key: str) -> ServiceBatch:
        """Have the service work on a file; `key` marks the batch, so that `find` knows it."""
        return _described(
            await self.guarded(
                _checked(
                    lambda package: package.batches.create(
                        input_file_id=file_id,
                        endpoint="/v1/chat/completions",
                        completion_window="24h",
                        metadata={_MARK: key},
                    )
                )
            )
        )

    async def find(self, key: str) -> ServiceBatch | None:
        """The batch of that key among the newest of the service, or None."""

        async def ask(package: AsyncOpenAI) -> Batch | None:
            seen = 0
            async for batch in package.batches.list(limit=100):
                seen += 1
                if (batch.metadata or {}).get(_MARK) == key:
                    return batch
                if seen == _MOST_LISTED:
                    break
            return None

        found = await self.guarded(_checked(ask))
        return None if found is None else _described(found)

    async def retrieve(self, service_id: str) -> ServiceBatch:
        """How far a batch is."""
        return _described(
            await self.guarded(_checked(lambda package: package.batches.retrieve(service_id)))
        )

    async def cancel(self, service_id: str) -> ServiceBatch:
        """Ask the service to make no further call of a batch."""
        return _described(
            await self.guarded(_checked(lambda package: package.batches.cancel(service_id)))
        )

    async def fetch(self, file_id: str) -> bytes:
        """The content of a file of the service, without keys."""
        response = await self.guarded(_checked(lambda package: package.files.content(file_id)))
        return response.content


def _checked(
    ask: Callable[[AsyncOpenAI], Awaitable[_Found]],
) -> Callable[[AsyncOpenAI], Awaitable[_Found]]:
    """As `ask`, with a failure in plain words where the service sent something unexpected."""

    async def asked(package: AsyncOpenAI) -> _Found:
        try:
            return await ask(package)
        except (APIResponseValidationError, ValueError, AttributeError, TypeError):
            pass
        raise broken_reply("The service sent something that is no file and no batch.")

    return asked


def _described(batch: Batch) -> ServiceBatch:
    """A batch in our own words; CallFailure where it is none."""
    if not isinstance(batch, Batch) or not isinstance(batch.id, str):
        raise broken_reply("The service sent something that is no batch.")
    counts = batch.request_counts
    errors = (batch.errors.data if batch.errors else None) or []
    said = [error.message for error in errors[:3] if isinstance(error.message, str)]
    return ServiceBatch(
        service_id=batch.id,
        status=str(batch.status),
        output_file_id=batch.output_file_id or None,
        error_file_id=batch.error_file_id or None,
        made=(counts.completed or 0) + (counts.failed or 0) if counts else 0,
        total=(counts.total or 0) if counts else 0,
        problem=" ".join(" ".join(text.split())[:300] for text in said),
    )
