"""Models behind an OpenAI-compatible address. With its batch service, the only import of openai."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient

from core.collect.client import (
    CallFailure,
    ChatRequest,
    FailureKind,
    Reply,
    broken_reply,
    read_json,
    read_reply,
    status_failure,
    truncate_body,
    withheld_reply,
)
from core.collect.endpoints import check_address, check_resolved_addresses, clean_key, is_private
from core.collect.limits import ServiceLimits, read_limits
from core.collect.prompts import json_schema
from core.collect.redaction import clean_body, clean_text
from core.collect.streams import read_stream
from core.errors import CollectionError

# What passes between the one client and the network: addresses looked up, replies without keys.

MAX_REPLY_BYTES = 16 * 1024 * 1024
_MAX_COMPRESSED_BYTES = 256 * 1024  # a compressed reply unpacks to a thousand times that

_STREAM_CUT = (aiohttp.ClientError, httpx2.ReadError, httpx2.RemoteProtocolError)

# They tell how a body travelled, and the body that is passed on has arrived.
_OF_TRAVEL = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class ReplyTooLarge(Exception):
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
        results = await ThreadedResolver().resolve(host, port, family)
        try:
            addresses = [result["host"] for result in results]
            check_resolved_addresses(self._base_url, addresses, with_key=self._with_key)
        except CollectionError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from None
        return results

    async def close(self) -> None:
        """There is nothing to release."""


class CleanTransport(httpx2.AsyncBaseTransport):
    """Passes responses on when they are complete, and without keys.

    It stands below everything that reads or logs a response: headers, status line and body.
    """

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, keys: Callable[[], Collection[str]], largest: int
    ) -> None:
        self._inner = inner
        self._keys = keys
        self._largest = largest  # bytes of a response

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request; TooLargeError where there is no end to it."""
        arriving = await self._inner.handle_async_request(request)
        compressed = arriving.headers.get("content-encoding", "identity") != "identity"
        limit = _MAX_COMPRESSED_BYTES if compressed else self._largest
        if isinstance(arriving.stream, httpx2.AsyncByteStream):
            arriving.stream = _LimitedStream(arriving.stream, limit)
        try:
            content = await self._content(arriving)
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

    async def _content(self, arriving: httpx2.Response) -> bytes:
        """The whole body; of a stream that breaks off, what came of it."""
        if not arriving.headers.get("content-type", "").startswith("text/event-stream"):
            return await arriving.aread()
        parts: list[bytes] = []
        try:
            async for part in arriving.aiter_bytes():
                parts.append(part)
        except _STREAM_CUT:
            if not parts:
                raise
        return b"".join(parts)

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
                raise ReplyTooLarge
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


# Models behind an OpenAI-compatible address.
#
# The chat resource of the openai package builds and checks many objects a call; posting the body
# and reading the JSON ourselves takes less than half its time and keeps replies exactly as they
# came.

_Found = TypeVar("_Found")

_MOST_LOGPROBS = 20  # what OpenAI's service gives at most
_LONGEST_CONNECT_S = 20.0

_NO_CONNECTION = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
    httpx2.ProxyError,
)
_CUT = (aiohttp.ClientError, httpx2.ReadError, httpx2.DecodingError)

# The package adds headers from its environment variables (organization, project, any others), which
# belong to one service and not to whichever address is called here. Only these leave the machine.
_OWN_HEADERS = frozenset({"host", "content-type", "content-length", "accept", "user-agent"})


class OpenAIClient:
    """One address with its key. Use and close it in one event loop."""

    def __init__(
        self, base_url: str, key: str | None, *, at_once: int, timeout_s: float,
        used_keys: Callable[[], Collection[str]] = frozenset, largest: int | None = None,
    ) -> None:  # fmt: skip
        """`used_keys` names the keys to take out of replies beside the client's own.

        A response of more than `largest` bytes is a failure; None: MAX_REPLY_BYTES.
        """
        check_address(base_url, with_key=key is not None)
        self._base_url = base_url
        self._key = None if key is None else clean_key(key)
        self._timeout_s = timeout_s
        self._resolved = False
        http_client = _HttpClient(
            CheckedResolver(base_url, with_key=key is not None),
            lambda: {*used_keys(), *([self._key] if self._key else [])},
            largest or MAX_REPLY_BYTES,
            follow_redirects=False,
            timeout=httpx2.Timeout(timeout_s, connect=min(_LONGEST_CONNECT_S, timeout_s / 2)),
            limits=httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once),
            trust_env=not is_private(base_url),  # a proxy cannot reach this computer's own ports
            event_hooks={"request": [self._only_own_headers]},
        )
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=self._key or "none",  # never sent: the hook sets what is
            admin_api_key="",
            max_retries=0,
            http_client=http_client,
        )

    def __repr__(self) -> str:
        """The address, never the key."""
        return f"OpenAIClient({self._base_url!r})"

    async def complete(self, request: ChatRequest) -> Reply:
        """The model's reply, verbatim but for keys; CallFailure where there is none.

        A reply that the provider's content filter withheld with an error is an empty reply.
        """
        try:
            stream = request.sampling.stream
            reply, limits = await self._call(
                "/chat/completions", request_body(request, stream=stream),
                read_stream if stream else _read_whole,
            )  # fmt: skip
            return reply if limits is None else replace(reply, limits=limits)
        except CallFailure as failure:
            if not failure.filtered:
                raise
            return withheld_reply(failure)

    async def models(self) -> tuple[str, ...]:
        """The names of the models the service offers, in its order."""
        return (await self._call("/models", None, _names))[0]

    async def close(self) -> None:
        """Release connections."""
        await self._client.close()

    async def _call(
        self, path: str, content: bytes | None, read: Callable[[bytes], _Found]
    ) -> tuple[_Found, ServiceLimits | None]:
        """What `read` makes of the body that came back, and the limits that the service states.

        A failure keeps the body.
        """
        answer: httpx2.Response | None = None

        async def ask(_: AsyncOpenAI) -> tuple[_Found, ServiceLimits | None]:
            nonlocal answer
            answer = await self._send(path, content)
            return read(answer.content), read_limits(answer.headers)

        return await self.guarded(ask, lambda: answer)

    async def guarded(
        self,
        ask: Callable[[AsyncOpenAI], Awaitable[_Found]],
        received: Callable[[], httpx2.Response | None] = lambda: None,
    ) -> _Found:
        """What a use of the package came to, CallFailure where it failed.

        Failures are raised free of the exceptions behind them, which may quote what a service
        said about the key. They keep the body of what was `received`.
        """
        answer = None
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._check_resolved()
                return await ask(self._client)
        except CallFailure as raised:
            failure = raised
        except (APIStatusError, APIConnectionError, TimeoutError, aiohttp.ClientError) as error:
            answer = error.response if isinstance(error, APIStatusError) else None
            failure = self._failure(error)
        except ReplyTooLarge:
            failure = broken_reply("The reply was larger than any answer to a question can be.")
        answer = received() if answer is None else answer
        if answer is not None:
            failure.body = truncate_body(answer.content)
            failure.limits = read_limits(answer.headers)
        raise failure from None

    async def _send(self, path: str, content: bytes | None) -> httpx2.Response:
        if content is None:
            return await self._client.get(path, cast_to=httpx2.Response)
        headers = {"Content-Type": "application/json"}
        return await self._client.post(
            path, cast_to=httpx2.Response, content=content, options={"headers": headers}
        )

    async def _only_own_headers(self, request: httpx2.Request) -> None:
        for name in set(request.headers) - _OWN_HEADERS:
            del request.headers[name]
        request.headers["Accept-Encoding"] = "identity"
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"

    async def _check_resolved(self) -> None:
        """Before the first call, look where the address's name leads."""
        if self._resolved:
            return
        host = urlsplit(self._base_url).hostname
        try:
            entries = await asyncio.get_running_loop().getaddrinfo(host, 0, type=socket.SOCK_STREAM)
            addresses = {str(entry[4][0]) for entry in entries}
            check_resolved_addresses(self._base_url, addresses, with_key=self._key is not None)
        except UnicodeError:
            words = f"No computer can have the name {host}."
            raise CallFailure(FailureKind.UNREACHABLE, words) from None
        except OSError:
            return  # a proxy may know the name; else connecting fails with its own message
        except CollectionError as error:
            raise CallFailure(FailureKind.REJECTED, str(error)) from None
        self._resolved = True

    def _failure(self, error: Exception) -> CallFailure:
        """What an exception means, in plain words."""
        if isinstance(error, APIStatusError):
            answer = error.response
            return status_failure(error.status_code, answer.headers, answer.content)
        host = urlsplit(self._base_url).hostname
        chain = _chain(error)
        if _any(chain, aiohttp.ClientConnectorCertificateError, ssl.SSLError):
            words = f"No safe connection to {host}: it has no https or no valid certificate."
            return CallFailure(FailureKind.UNREACHABLE, words)
        if _any(chain, *_NO_CONNECTION):
            words = f"No connection to {host}. Is the address right, and is the service running?"
            return CallFailure(FailureKind.UNREACHABLE, words)
        if _any(chain, TimeoutError):
            words = f"No reply within {self._timeout_s:g} seconds."
            return CallFailure(FailureKind.TIMEOUT, words)
        # httpx2's own time-out exceptions say nothing: the transport uses them for cuts as well.
        if _any(chain, *_CUT):
            return broken_reply("The connection was cut before the reply was complete.")
        return broken_reply("The service sent something that is no reply.")


class _HttpClient(DefaultAioHttpClient):
    """The client below the openai package, with checked addresses and clean replies.

    The package has no arguments for these, so the two methods that make transports are replaced.
    """

    def __init__(
        self, resolver: CheckedResolver, keys: Callable[[], Collection[str]], largest: int,
        **settings: Any,
    ) -> None:  # fmt: skip
        self._resolver = resolver
        self._keys = keys
        self._largest = largest
        super().__init__(**settings)

    def _init_transport(self, *args: Any, **settings: Any) -> httpx2.AsyncBaseTransport:
        transport: Any = super()._init_transport(*args, **settings)

        def session() -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(
                resolver=self._resolver,
                ssl=transport.ssl_context,
                limit=transport.limits.max_connections,
                keepalive_timeout=transport.limits.keepalive_expiry,
            )
            return aiohttp.ClientSession(connector=connector)

        transport.client = session
        return CleanTransport(transport, self._keys, self._largest)

    def _init_proxy_transport(self, *args: Any, **settings: Any) -> httpx2.AsyncBaseTransport:
        transport = super()._init_proxy_transport(*args, **settings)
        return CleanTransport(transport, self._keys, self._largest)


async def list_models(
    base_url: str, key: str | None, used_keys: Callable[[], Collection[str]] = frozenset,
) -> tuple[str, ...]:  # fmt: skip
    """The names of the models a service offers; CallFailure where it does not say."""
    client = OpenAIClient(base_url, key, at_once=1, timeout_s=15, used_keys=used_keys)
    try:
        return await client.models()
    finally:
        await client.close()


def _read_whole(content: bytes) -> Reply:
    """The reply in a body that is one JSON text."""
    return read_reply(read_json(content))


def _names(content: bytes) -> tuple[str, ...]:
    """The names in a list of models."""
    body = read_json(content)
    entries = body.get("data", body.get("models")) if isinstance(body, Mapping) else body
    if not isinstance(entries, list):
        raise broken_reply("The service sent no list of models.")
    names = (entry.get("id") for entry in entries if isinstance(entry, Mapping))
    return tuple(name for name in names if isinstance(name, str))


def request_body(request: ChatRequest, *, stream: bool = False) -> bytes:
    """The request as JSON. None among the additional settings leaves that setting out."""
    sampling = request.sampling
    optional = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": request.seed if request.seed is not None else sampling.seed,
    }
    body = {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        **{name: value for name, value in optional.items() if value is not None},
        **_answering(request),
        **sampling.extra_body,
    }
    body = {name: value for name, value in body.items() if value is not None}
    body.pop("stream", None)  # a streamed reply is not one JSON text
    if stream:
        body["stream"] = True
        if "stream_options" not in sampling.extra_body:
            body["stream_options"] = {"include_usage": True}
    else:
        body.pop("stream_options", None)
    try:
        # Escaped to ASCII, because lone surrogates have no UTF-8 form.
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError):
        raise CallFailure(
            FailureKind.REJECTED, "The additional settings hold a value that JSON cannot express."
        ) from None


def _answering(request: ChatRequest) -> dict[str, Any]:
    """Settings that hold answers to the options, and that ask for the first token's chances."""
    found: dict[str, Any] = {}
    if request.choices:
        schema = json_schema(request.choices, len(request.question.items))
        named = {"name": "answer", "strict": True, "schema": schema}
        found["response_format"] = {"type": "json_schema", "json_schema": named}
    if request.first_token:
        found |= {"logprobs": True, "top_logprobs": _MOST_LOGPROBS}
    return found


def _chain(error: BaseException | None) -> list[BaseException]:
    """An exception and what led to it."""
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__
    return chain


def _any(chain: list[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(error, kinds) for error in chain)
