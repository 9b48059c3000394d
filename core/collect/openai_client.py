"""Models behind an OpenAI-compatible address. With its batch service, the only import of openai."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from multidict import CIMultiDict
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from yarl import URL

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
from core.collect.prompts import json_schema, literal_text
from core.collect.redaction import clean_body, clean_text
from core.collect.streams import read_stream
from core.errors import CollectionError

# What passes between the one client and the network: addresses looked up, replies without keys.

MAX_REPLY_BYTES = 16 * 1024 * 1024

# They tell how a body travelled, and the body that is passed on has arrived.
_OF_TRAVEL = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_WAY = "inkblot_way"
"""In the extensions of a request: which transport takes it? Nothing is sent."""


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


@dataclass(frozen=True)
class Answer:
    """A complete response without keys. `headers` are found by their names in any case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class CleanTransport(httpx2.AsyncBaseTransport):
    """Sends requests by aiohttp; passes responses on when they are complete, and without keys.

    It stands below everything that reads or logs a response: headers, status line and body. Calls
    of a study come to `send`; requests of the openai package come to `handle_async_request`.
    """

    def __init__(
        self,
        session: Callable[[], aiohttp.ClientSession],
        keys: Callable[[], Collection[str]],
        largest: int,
        timeout: aiohttp.ClientTimeout,
        proxy: URL | None,
    ) -> None:
        self._make_session = session
        self._session: aiohttp.ClientSession | None = None
        self._keys = keys
        self._largest = largest  # bytes of a response
        self._timeout = timeout
        self._proxy = proxy

    async def send(
        self, method: str, url: URL | str, headers: Mapping[str, str], content: Any
    ) -> Answer:
        """The response to a request; ReplyTooLarge where there is no end to it."""
        if self._session is None:
            self._session = self._make_session()
        async with self._session.request(
            method,
            url,
            headers=headers,
            data=content,
            proxy=self._proxy,
            timeout=self._timeout,
            allow_redirects=False,
        ) as response:
            content = await self._content(response)
        keys = self._keys()
        return Answer(
            response.status, _clean_headers(response.headers, keys), clean_body(content, keys)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response to a request of the package, without the service's words in its status."""
        if _WAY in request.extensions:
            return httpx2.Response(204, extensions={_WAY: self})
        content: Any = request.stream if _is_streamed(request) else request.content or None
        answer = await self.send(request.method, str(request.url), request.headers, content)
        headers = [pair for pair in answer.headers.items() if pair[0].lower() not in _OF_TRAVEL]
        return httpx2.Response(
            answer.status, headers=headers, content=answer.content, request=request
        )

    async def _content(self, response: aiohttp.ClientResponse) -> bytes:
        """The whole body; of a stream that breaks off, what came of it."""
        parts: list[bytes] = []
        left = self._largest
        try:
            async for part in response.content.iter_any():
                left -= len(part)
                if left < 0:
                    raise ReplyTooLarge
                parts.append(part)
        except aiohttp.ClientError as error:
            is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            if not parts or not is_stream or isinstance(error, TimeoutError):
                raise
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def aclose(self) -> None:
        """Release connections."""
        if self._session is not None:
            await self._session.close()


def _clean_headers(headers: Mapping[str, str], keys: Collection[str]) -> Mapping[str, str]:
    """Headers without keys; those with a key in the name are left out."""
    text = "\n".join(part for pair in headers.items() for part in pair)
    if text.isascii() and clean_text(text, keys) == text:
        return headers
    return CIMultiDict(
        (name, clean_text(_readable(value), keys))
        for name, value in headers.items()
        if clean_text(name, keys) == name
    )


def _readable(value: str) -> str:
    """A header's value without the surrogates that stand for bytes that are no UTF-8."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _is_streamed(request: httpx2.Request) -> bool:
    """Whether the body of a request is made while it is sent."""
    try:
        return request.content is None
    except httpx2.RequestNotRead:
        return True


# Models behind an OpenAI-compatible address.
#
# The openai package, and httpx2 below it, build and check many objects a call. So each call is
# posted by aiohttp, with the address and the headers that the package gives, and its reply is read
# here: docs/decisions/0046-posting-calls.md. Files and batches go through the package as a whole.

_Found = TypeVar("_Found")

_MOST_LOGPROBS = 20  # what OpenAI's service gives at most
_MOST_LOGPROBS_OF_TEXT = 5  # the same, where a text is completed
_LONGEST_CONNECT_S = 20.0
_KEPT_OPEN_S = 5.0  # connections without a call

_NO_CONNECTION = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.InvalidURL,
)

# The package adds headers from its environment variables (organization, project, any others), which
# belong to one service and not to whichever address is called here. Only these leave the machine.
_OWN_HEADERS = frozenset({"host", "content-type", "content-length", "accept", "user-agent"})


class OpenAIClient:
    """One address with its key. Use and close it in one event loop."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        at_once: int,
        timeout_s: float,
        used_keys: Callable[[], Collection[str]] = frozenset,
        largest: int | None = None,
    ) -> None:
        """`used_keys` names the keys to take out of replies beside the client's own.

        A response of more than `largest` bytes is a failure; None: MAX_REPLY_BYTES.
        """
        check_address(base_url, with_key=key is not None)
        self._base_url = base_url
        self._key = None if key is None else clean_key(key)
        self._timeout_s = timeout_s
        self._resolved = False
        self._at_once = at_once
        self._used_keys = used_keys
        self._largest = largest or MAX_REPLY_BYTES
        self._ways: dict[str, _Way] = {}
        self._http_client = _HttpClient(
            self._transport,
            follow_redirects=False,
            trust_env=not is_private(base_url),  # a proxy cannot reach this computer's own ports
            event_hooks={"request": [self._only_own_headers]},
        )
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=self._key or "none",  # never sent: the hook sets what is
            admin_api_key="",
            max_retries=0,
            timeout=timeout_s,
            http_client=self._http_client,
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
            completes = request.sampling.completes_text
            reply, limits = await self._call(
                "/completions" if completes else "/chat/completions",
                request_body(request, stream=stream),
                read_stream if stream else _read_whole,
            )
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
        answer: Answer | None = None

        async def ask(_: AsyncOpenAI) -> tuple[_Found, ServiceLimits | None]:
            nonlocal answer
            answer = await self._send(path, content)
            if not 200 <= answer.status < 300:
                raise status_failure(answer.status, answer.headers, answer.content)
            return read(answer.content), read_limits(answer.headers)

        return await self.guarded(ask, lambda: answer)

    async def guarded(
        self,
        ask: Callable[[AsyncOpenAI], Awaitable[_Found]],
        received: Callable[[], Answer | None] = lambda: None,
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
        except APIStatusError as error:
            response = error.response
            answer = Answer(response.status_code, response.headers, response.content)
            failure = status_failure(answer.status, answer.headers, answer.content)
        except (APIConnectionError, TimeoutError, aiohttp.ClientError) as error:
            failure = self._failure(error)
        except ReplyTooLarge:
            failure = broken_reply("The reply was larger than any answer to a question can be.")
        answer = answer or received()
        if answer is not None:
            failure.body = truncate_body(answer.content)
            failure.limits = read_limits(answer.headers)
        raise failure from None

    async def _send(self, path: str, content: bytes | None) -> Answer:
        """What comes back from a path: of a post where there is a content, else of a get."""
        way = self._ways.get(path)
        if way is None:
            way = self._ways[path] = await self._way(path)
        if content is None:
            return await way.transport.send("GET", way.url, way.headers, None)
        headers = {**way.headers, "Content-Type": "application/json"}
        return await way.transport.send("POST", way.url, headers, content)

    async def _way(self, path: str) -> _Way:
        """Where requests to a path go, as the package and its client below would send them."""
        url = str(self._client.base_url).rstrip("/") + path
        named = {k: v for k, v in self._client.default_headers.items() if isinstance(v, str)}
        request = self._http_client.build_request("GET", url, headers=named, extensions={_WAY: ""})
        answer = await self._http_client.send(request)
        headers = {k: v for k, v in request.headers.items() if k != "content-type"}
        return _Way(answer.extensions[_WAY], URL(str(request.url)), headers)

    def _transport(self, proxy: httpx2.Proxy | None, **tls: Any) -> CleanTransport:
        """The connections to the address, by themselves or through a proxy."""
        url = None if proxy is None else URL(str(proxy.url))
        if url is not None and proxy is not None and proxy.auth is not None:
            url = url.with_user(proxy.auth[0]).with_password(proxy.auth[1])

        def session() -> aiohttp.ClientSession:
            with_key = self._key is not None
            connector = aiohttp.TCPConnector(
                resolver=CheckedResolver(self._base_url, with_key=with_key)
                if url is None
                else None,
                ssl=httpx2.create_ssl_context(**tls),
                limit=self._at_once,
                keepalive_timeout=_KEPT_OPEN_S,
            )
            # no cookies, by which a service could connect the calls of a study
            return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())

        connect_s = min(_LONGEST_CONNECT_S, self._timeout_s / 2)
        timeout = aiohttp.ClientTimeout(sock_connect=connect_s)  # `guarded` limits the whole
        return CleanTransport(session, self._secrets, self._largest, timeout, url)

    def _secrets(self) -> set[str]:
        """The keys to take out of replies."""
        return {*self._used_keys(), *([self._key] if self._key else [])}

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
        if _any(chain, aiohttp.ClientError):
            return broken_reply("The connection was cut before the reply was complete.")
        return broken_reply("The service sent something that is no reply.")


@dataclass(frozen=True)
class _Way:
    """Where requests to a path go, with what stands before their bodies."""

    transport: CleanTransport
    url: URL
    headers: Mapping[str, str]


class _HttpClient(httpx2.AsyncClient):
    """The client below the openai package, with our transports.

    It chooses between them by the proxies that the environment names. It has no arguments for
    transports and proxies at once, so the two methods that make transports are replaced.
    """

    def __init__(self, transport: Callable[..., CleanTransport], **settings: Any) -> None:
        self._make_transport = transport
        super().__init__(**settings)

    def _init_transport(self, *args: Any, **settings: Any) -> httpx2.AsyncBaseTransport:
        return self._make_transport(None, **_tls(**settings))

    def _init_proxy_transport(
        self, proxy: httpx2.Proxy, *args: Any, **settings: Any
    ) -> httpx2.AsyncBaseTransport:
        return self._make_transport(proxy, **_tls(**settings))


def _tls(*, verify: Any, cert: Any, trust_env: bool, **_: Any) -> dict[str, Any]:
    """Of the settings of a transport, those that decide which certificates are trusted."""
    return {"verify": verify, "cert": cert, "trust_env": trust_env}


async def list_models(
    base_url: str,
    key: str | None,
    used_keys: Callable[[], Collection[str]] = frozenset,
) -> tuple[str, ...]:
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
        **_asked(request),
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


def _asked(request: ChatRequest) -> dict[str, Any]:
    """The text that a base model goes on with, or the messages of a chat."""
    if request.sampling.completes_text:
        return {"prompt": literal_text(request.messages)}
    return {"messages": [dict(message) for message in request.messages]}


def _answering(request: ChatRequest) -> dict[str, Any]:
    """Settings that hold answers to the options, and that ask for the first token's chances."""
    if request.sampling.completes_text:
        if request.choices:
            raise CallFailure(
                FailureKind.REJECTED, "A model that completes text cannot be held to the options."
            )
        return {"logprobs": _MOST_LOGPROBS_OF_TEXT} if request.first_token else {}
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
