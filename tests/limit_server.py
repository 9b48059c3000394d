"""A real HTTP server that refuses calls beyond a limit of calls and of tokens in a minute.

In a test:           with LimitServer(requests=60, minute_s=2.0) as server: ... server.base_url
In another process:  python -m tests.limit_server --requests 600 --minute 6
A minute slides: at any moment, the calls of the last `minute_s` seconds are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import threading
import time
from collections import deque

from aiohttp import web


class Window:
    """What was taken in the last minute, of one limit."""

    def __init__(self, limit: float | None, minute_s: float) -> None:
        self.limit = limit
        self.minute_s = minute_s
        self.taken: deque[tuple[float, float]] = deque()
        self.sum = 0.0

    def left(self, now: float) -> float:
        while self.taken and self.taken[0][0] <= now - self.minute_s:
            self.sum -= self.taken.popleft()[1]
        return float("inf") if self.limit is None else self.limit - self.sum

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until the amount would be taken; 0: now."""
        missing = amount - self.left(now)
        if missing <= 0:
            return 0.0
        for at, taken in self.taken:
            missing -= taken
            if missing <= 0:
                return at + self.minute_s - now
        return self.minute_s

    def take(self, amount: float, now: float) -> None:
        self.taken.append((now, amount))
        self.sum += amount


class LimitServer:
    """Runs in a thread with its own loop, on 127.0.0.1 and a free port.

    `headers` is whether it states its limits as OpenAI's service does. A reply takes `reply_tokens`
    and a prompt a token for four characters.
    """

    def __init__(
        self,
        *,
        requests: float | None = None,
        tokens: float | None = None,
        minute_s: float = 60.0,
        headers: bool = True,
        retry_after: bool = True,
        latency_s: float = 0.02,
        reply_tokens: int = 20,
    ) -> None:
        self.windows = {"requests": Window(requests, minute_s), "tokens": Window(tokens, minute_s)}
        self.headers, self.retry_after = headers, retry_after
        self.latency_s, self.reply_tokens = latency_s, reply_tokens
        self.taken: list[tuple[float, float]] = []  # when, and how many tokens
        self.refused: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self.base_url = ""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    def __enter__(self) -> LimitServer:
        self._thread.start()
        self._ready.wait(20)
        return self

    def __exit__(self, *_exc) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(20)

    async def _main(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/figures", self._figures)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._ready.set()
        await self._closing.wait()
        await runner.cleanup()

    async def _figures(self, _request: web.Request) -> web.StreamResponse:
        """When calls were taken with their tokens, and refused; asked from other processes."""
        return web.json_response(
            {"taken": self.taken, "refused": self.refused, "most_in_flight": self.most_in_flight}
        )

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        tokens_in = sum(len(message["content"]) for message in body["messages"]) // 4 + 1
        tokens = tokens_in + self.reply_tokens
        now = time.monotonic()
        amounts = {"requests": 1, "tokens": tokens}
        wait = max(window.wait_s(amounts[name], now) for name, window in self.windows.items())
        if wait > 0:
            self.refused.append(now)
            stated = self._stated(now) | (
                {"Retry-After-Ms": f"{wait * 1000:.0f}"} if self.retry_after else {}
            )
            error = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
            return web.json_response(error, status=429, headers=stated)
        for name, window in self.windows.items():
            window.take(amounts[name], now)
        self.taken.append((now, tokens))
        stated = self._stated(now)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(self.latency_s)
        self.in_flight -= 1
        usage = {"prompt_tokens": tokens_in, "completion_tokens": self.reply_tokens}
        choice = {"message": {"role": "assistant", "content": "3"}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": usage}, headers=stated)

    def _stated(self, now: float) -> dict[str, str]:
        stated = {}
        for name, window in self.windows.items():
            if self.headers and window.limit is not None:
                stated[f"x-ratelimit-limit-{name}"] = f"{window.limit:g}"
                stated[f"x-ratelimit-remaining-{name}"] = f"{window.left(now):g}"
                stated[f"x-ratelimit-reset-{name}"] = f"{window.minute_s:g}s"
        return stated


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=float)
    parser.add_argument("--tokens", type=float)
    parser.add_argument("--minute", type=float, default=60.0)
    parser.add_argument("--latency", type=float, default=0.02)
    parser.add_argument("--no-headers", action="store_true")
    parser.add_argument("--no-retry-after", action="store_true")
    asked = parser.parse_args()
    server = LimitServer(
        requests=asked.requests,
        tokens=asked.tokens,
        minute_s=asked.minute,
        latency_s=asked.latency,
        headers=not asked.no_headers,
        retry_after=not asked.no_retry_after,
    )
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with server:
        sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
        sys.stdout.flush()
        while not ended.wait(0.5):
            pass


if __name__ == "__main__":
    main()
