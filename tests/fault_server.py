"""A real HTTP server that speaks the chat API, and misbehaves as it is told.

In a test:           with FaultServer(script=[Step(status=500)]) as server: ... server.base_url
In another process:  python -m tests.fault_server --latency 0.05   (prints its address as JSON)
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import format_datetime

from aiohttp import web

CLOSED_AFTER_S = 0.2


@dataclass(frozen=True)
class Step:
    """What one request gets. The default is the normal answer."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    reason: str | None = None  # the words of the status line; None: the usual ones
    body: object = None  # JSON value, str or bytes; None: the normal answer, or an error body
    content: object = ...  # replaces the text of the normal answer (None and lists allowed)
    extra: dict = field(default_factory=dict)  # laid over the normal answer
    latency_s: float = 0.0
    until: threading.Event | None = None  # no reply before it is set
    hang: bool = False  # receive the request and never reply
    cut: bool = False  # close the connection in the middle of the reply
    drop: bool = False  # close it before the reply


def retry_after(seconds: float, **kwargs) -> Step:
    return Step(status=429, headers={"Retry-After": f"{seconds:g}"}, **kwargs)


def retry_at(moment) -> Step:
    """429 with an HTTP date (an aware datetime in UTC)."""
    return Step(status=429, headers={"Retry-After": format_datetime(moment, usegmt=True)})


def filtered(content: str | None = None) -> Step:
    """A reply that the provider's content filter ended, as OpenAI and Azure send it."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "content_filter"}
    return Step(extra={"choices": [choice]})


AZURE_FILTER = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
        "management policy. Please modify your prompt and retry.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"hate": {"filtered": True, "severity": "high"}},
        },
    }
}
"""What Azure sends with status 400 where its filter withholds a reply because of the prompt."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived, and when."""

    path: str
    headers: dict
    body: dict
    at: float


Script = Sequence[Step | None] | Callable[[int, dict], Step | None]


def default_text(messages) -> str:
    """A digit from 1 to 5 that depends on nothing but the messages."""
    text = json.dumps(messages, sort_keys=True)
    return str(int(hashlib.sha256(text.encode()).hexdigest(), 16) % 5 + 1)


NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
EVASION = "Let me think about it."


MOST_PATIENCE = 3


def patience(messages, item: str) -> int:
    """How many times a block must be put until `item` is answered, 1 to 3; 4 is never."""
    return _drawn(messages, item) % 4 + 1


def digit(messages, item: str) -> str:
    """A digit from 1 to 5 that depends on the item and on what stands before the block."""
    return str(_drawn(messages, item) // 4 % 5 + 1)


def _drawn(messages, item: str) -> int:
    text = json.dumps([messages[:-1], item], sort_keys=True)
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


class Blocks:
    """A script that answers numbered blocks with numbered lists, and evades items at first.

    Which items, and how often, depends on the messages alone; counted are the times it was put.
    A willing one evades none.
    """

    def __init__(self, *, willing: bool = False) -> None:
        self.willing = willing
        self.times: Counter[str] = Counter()

    def __call__(self, _number: int, body: dict) -> Step:
        messages = body["messages"]
        prompt = json.dumps(messages, sort_keys=True)
        self.times[prompt] += 1
        lines = [
            f"{place}. {self._said(messages, item, self.times[prompt])}"
            for place, item in NUMBERED.findall(messages[-1]["content"])
        ]
        return Step(content="\n".join(lines))

    def _said(self, messages, item: str, times: int) -> str:
        needed = 1 if self.willing else patience(messages, item)
        return digit(messages, item) if needed <= min(times, MOST_PATIENCE) else EVASION


class FaultServer:
    """Runs in a thread with its own loop, on 127.0.0.1 and a free port."""

    def __init__(
        self,
        script: Script = (),
        *,
        key: str | None = "sk-test-canary-0123456789",
        latency_s: float = 0.0,
        models: Sequence[str] = ("model-b", "model-a"),
        models_step: Step | None = None,
        keep_requests: bool = True,
        port: int = 0,
    ) -> None:
        self.key = key
        self.requests: list[Seen] = []
        self.total = 0
        self.max_in_flight = 0
        self.base_url = ""
        self.script = script
        self.latency_s = latency_s
        self._models = tuple(models)
        self._models_step = models_step
        self._keep = keep_requests
        self._port = port
        self._in_flight = 0
        self._chats = 0
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="fault-server", daemon=True)

    def __enter__(self) -> FaultServer:
        self._thread.start()
        self._ready.wait(20)
        if self._problem is not None:
            raise self._problem
        return self

    def __exit__(self, *_exc) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(20)

    @property
    def chats(self) -> list[Seen]:
        """The chat requests among all."""
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as problem:  # noqa: BLE001  # raised again where the test can see it
            self._problem = problem
        finally:
            self._ready.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/completions", self._chat)
        app.router.add_get("/v1/models", self._list)
        app.router.add_get("/received", self._received)
        app.router.add_route("*", "/{rest:.*}", self._other)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=CLOSED_AFTER_S)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", self._port).start()
            self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            self._ready.set()
            await self._closing.wait()
        finally:
            await runner.cleanup()

    async def _note(self, request: web.Request) -> dict:
        body = json.loads(await request.read() or b"{}")
        self.total += 1
        if self._keep:
            self.requests.append(
                Seen(request.path, dict(request.headers), body, time.perf_counter())
            )
        return body

    async def _received(self, _request: web.Request) -> web.StreamResponse:
        """How many chat requests came in; asked from other processes."""
        return web.json_response(self._chats)

    async def _other(self, request: web.Request) -> web.StreamResponse:
        await self._note(request)
        return web.json_response({"error": {"message": "no such page"}}, status=404)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        await self._note(request)
        if self._models_step is not None:
            return await self._act(request, self._models_step, {})
        if not self._allowed(request):
            return self._refused()
        return web.json_response({"object": "list", "data": [{"id": m} for m in self._models]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            body = await self._note(request)
            self._chats += 1
            step = self._step(self._chats - 1, body)
            if step is None and not self._allowed(request):
                return self._refused()
            return await self._act(request, step or Step(), body)
        finally:
            self._in_flight -= 1

    def _step(self, number: int, body: dict) -> Step | None:
        if callable(self.script):
            return self.script(number, body)
        return self.script[number] if number < len(self.script) else None

    def _allowed(self, request: web.Request) -> bool:
        return self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}"

    def _refused(self) -> web.Response:
        return web.json_response({"error": {"message": "Incorrect key provided"}}, status=401)

    async def _act(self, request: web.Request, step: Step, body: dict) -> web.StreamResponse:
        wait = max(step.latency_s, self.latency_s)
        if wait:
            await asyncio.sleep(wait)
        if step.until is not None:
            assert await asyncio.to_thread(step.until.wait, 60)
        if step.hang:
            await self._closing.wait()
        if step.drop:
            request.transport.abort()
        content, kind = self._content(step, body)
        headers = {"Content-Type": kind, **step.headers}
        if step.cut:
            return await self._cut(request, step.status, content, headers)
        return web.Response(body=content, status=step.status, headers=headers, reason=step.reason)

    def _content(self, step: Step, body: dict) -> tuple[bytes, str]:
        if isinstance(step.body, bytes):
            return step.body, "application/json"
        if isinstance(step.body, str):
            return step.body.encode(), "text/html"
        value = step.body
        if value is None and step.status >= 300:
            value = {"error": {"message": f"scripted {step.status}", "type": "scripted"}}
        elif value is None:
            value = {**self._answer(step, body), **step.extra}
        return json.dumps(value).encode(), "application/json"

    def _answer(self, step: Step, body: dict) -> dict:
        messages = body.get("messages", [])
        text = default_text(messages) if step.content is ... else step.content
        tokens = sum(len(message["content"]) for message in messages) // 4 + 1
        return {
            "id": f"chatcmpl-{self.total}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": f"{body.get('model', '')}-snapshot",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": tokens,
                "completion_tokens": 1,
                "total_tokens": tokens + 1,
            },
        }

    async def _cut(
        self, request: web.Request, status: int, content: bytes, headers: dict
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers=headers)
        response.content_length = len(content)
        await response.prepare(request)
        await response.write(content[: len(content) // 2])
        await asyncio.sleep(0.01)
        request.transport.abort()
        return response


FAULTS: tuple[Step, ...] = (
    Step(status=500),
    retry_after(0.05),
    Step(cut=True),
    Step(body=b'{"choices": [{"mess'),
    Step(drop=True),
    Step(status=503),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="sk-test-canary-0123456789", help="empty: none needed")
    parser.add_argument("--fault-every", type=int, default=0, help="every n-th call fails")
    parser.add_argument("--blocks", choices=("evading", "willing"), help="answer numbered blocks")
    options = parser.parse_args()
    blocks = Blocks(willing=options.blocks == "willing")

    def script(number: int, body: dict) -> Step | None:
        every = options.fault_every
        if every and number % every == every - 1:
            return FAULTS[(number // every) % len(FAULTS)]
        return blocks(number, body) if options.blocks else None

    server = FaultServer(
        script,
        key=options.key or None,
        latency_s=options.latency,
        keep_requests=False,
        port=options.port,
    )
    serve_until_ended(server)


def serve_until_ended(server):
    """Run a server of the tests as a process: print its address and key, end with a signal."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with server:
        sys.stdout.write(json.dumps({"base_url": server.base_url, "key": server.key}) + "\n")
        sys.stdout.flush()
        while not ended.wait(0.5):
            pass


if __name__ == "__main__":
    main()
