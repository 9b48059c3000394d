"""What passes between the one client and the network: addresses looked up, replies without keys."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Collection

import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from core.collect.client import CallFailure, FailureKind
from core.collect.endpoints import check_resolved
from core.collect.redaction import clean_body, clean_text
from core.errors import CollectionError

MAX_REPLY_BYTES = 16 * 1024 * 1024
_MAX_COMPRESSED_BYTES = 256 * 1024  # a compressed reply unpacks to a thousand times that

# They tell how a body travelled, and the body that is passed on has arrived.
_OF_TRAVEL = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class TooLargeError(Exception):
    """More came than fits the memory set aside for a reply."""


class CheckedResolver(AbstractResolver):
    """Looks names up for each connection, and refuses addresses to which nothing may be sent.

    The addresses that are checked are those that are connected to: a name that is looked up once
    for the check and again for the connection can lead elsewhere the second time.
    """

    def __init__(self, base_url: str, *, with_key: bool) -> None:
        self._base_url = base_url
        self._with_key = with_key

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a name; CallFailure if any of them is forbidden."""
        found = await ThreadedResolver().resolve(host, port, family)
        try:
            addresses = [result["host"] for result in found]
            check_resolved(self._base_url, addresses, with_key=self._with_key)
        except CollectionError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from None
        return found

    async def close(self) -> None:
        """There is nothing to release."""


class CleanTransport(httpx2.AsyncBaseTransport):
    """Passes responses on when they are complete, and without keys.

    It stands below everything that reads or logs a response: headers, status line and body.
    """

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, keys: Callable[[], Collection[str]]
    ) -> None:
        self._inner = inner
        self._keys = keys

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request; TooLargeError where there is no end to it."""
        arriving = await self._inner.handle_async_request(request)
        compressed = arriving.headers.get("content-encoding", "identity") != "identity"
        limit = _MAX_COMPRESSED_BYTES if compressed else MAX_REPLY_BYTES
        if isinstance(arriving.stream, httpx2.AsyncByteStream):
            arriving.stream = _LimitedStream(arriving.stream, limit)
        try:
            content = await arriving.aread()
        finally:
            await arriving.aclose()
        keys = self._keys()
        headers = [
            (name, clean_text(value, keys))
            for name, value in arriving.headers.multi_items()
            if name not in _OF_TRAVEL and clean_text(name, keys) == name
        ]
        return httpx2.Response(  # without the service's words in the status line
            arriving.status_code, headers=headers, content=clean_body(content, keys),
            request=request,
        )  # fmt: skip

    async def aclose(self) -> None:
        """Release connections."""
        await self._inner.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    """A reply's bytes, cut off with an exception beyond the limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLargeError
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
