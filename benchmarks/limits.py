"""How much of the rate that a service allows is used, and how many calls it refuses."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.processes import ROOT, caller
from benchmarks.report import Section

AIM = 0.9
MOST_REFUSED = 0.02
TOKENS_A_CALL = 40
WAYS = {
    "set": "set by the user",
    "stated": "stated in headers",
    "shown": "shown by refusals with a wait",
    "bare": "shown by refusals alone",
}


def measure(_work: Path, *, quick: bool) -> Section:
    """Collect for some minutes from a service with a limit, known in each of four ways."""
    minute_s, minutes, calls = (1.0, 2, 50) if quick else (6.0, 5, 600)
    run = caller(quick=quick)
    rows = []
    for kind in ("requests", "tokens"):
        limit = calls if kind == "requests" else calls * TOKENS_A_CALL
        for way, words in WAYS.items():
            order = {"kind": kind, "way": way, "limit": limit}
            found = run(collect, minute_s=minute_s, minutes=minutes, **order)
            rows.append(
                (
                    "calls" if kind == "requests" else "tokens",
                    words,
                    f"**{found['used']:.1%}**",
                    f"{found['used_first']:.1%}",
                    f"{found['refused']:.1%}",
                    f"{found['most_in_flight']:g}",
                )
            )
    return Section(
        "Limits of services",
        f"A service takes {calls:,} calls, or {calls * TOKENS_A_CALL:,} tokens, in a sliding "
        f"minute; a reply takes 20 ms. To save time, a minute has {minute_s:g} seconds here, for "
        f"the service and for Inkblot; {minutes} of them are measured, at most 16 calls at once. "
        f"Aim: at least {AIM:.0%} of the allowed rate used, and at most {MOST_REFUSED:.0%} of "
        "calls refused (429) where the limit is set, stated, or comes with a wait.",
        (
            "limit of",
            "Inkblot knows it",
            "used",
            "in the first minute",
            "calls refused",
            "in flight at most",
        ),
        rows,
        (
            "A short minute is the harder case: travel and waiting take a larger share of it. "
            "Of a limit that is set or stated, 97 % is used on purpose.",
        ),
        ("openai", "aiohttp"),
    )


def collect(
    *, kind: str, way: str, limit: int, minute_s: float, minutes: int
) -> Mapping[str, float]:
    """Ask for that long; shares of what was allowed, and of calls that were refused."""
    from core.collect import limits

    before, limits.MINUTE_S = limits.MINUTE_S, minute_s
    try:
        with _service(kind, way, limit, minute_s) as base_url:
            began = asyncio.run(_ask(base_url, kind, way, limit, minute_s, minutes))
            figures = json.loads(urllib.request.urlopen(_figures(base_url)).read())
    finally:
        limits.MINUTE_S = before

    def used(until: float) -> float:
        spent = sum(
            tokens if kind == "tokens" else 1
            for at, tokens in figures["taken"]
            if began <= at < began + until * minute_s
        )
        return spent / (limit * until)

    refused = len(figures["refused"])
    return {
        "used": used(minutes),
        "used_first": used(1),
        "refused": refused / max(refused + len(figures["taken"]), 1),
        "most_in_flight": figures["most_in_flight"],
    }


async def _ask(
    base_url: str, kind: str, way: str, limit: int, minute_s: float, minutes: int
) -> float:
    """Ask for that long; the moment at which asking began."""
    from random import Random

    from core.collect.budget import Budget
    from core.collect.client import ChatRequest, Question
    from core.collect.lanes import Control, EndpointCalls, Task
    from core.collect.openai_client import OpenAIClient
    from core.collect.runner import RetryPolicy, run
    from core.domain.instrument import Item, ResponseFormat
    from core.domain.study import SamplingSettings

    control = Control()
    question = Question((Item("i1"),), ResponseFormat("likert_5", ()), "en")

    async def tasks() -> AsyncIterator[Task]:
        for number in range(1_000_000):
            text = f"statement {number} " + "word " * (10 + number % 10)
            message = {"role": "user", "content": text}
            settings = SamplingSettings(max_tokens=100)
            yield Task(number, ChatRequest("m", (message,), settings, question))

    async def forget(_attempt: Any) -> None:
        pass

    client = OpenAIClient(base_url, None, at_once=16, timeout_s=60)
    own = limit if way == "set" else None
    lane = EndpointCalls(
        "service",
        client,
        tasks(),
        16,
        own if kind == "requests" else None,
        tokens_per_minute=own if kind == "tokens" else None,
    )
    asyncio.get_running_loop().call_later(minute_s * minutes, control.request_stop, "stop")
    scale = minute_s / 60  # waits shrink with the minute
    policy = RetryPolicy(base_s=scale, cap_s=60 * scale, retry_after_cap_s=600 * scale)
    began = time.monotonic()
    try:
        await run(
            [lane],
            record=forget,
            control=control,
            policy=policy,
            budget=Budget(None),
            random=Random(1),
        )
    finally:
        await client.close()
    return began


@contextmanager
def _service(kind: str, way: str, limit: int, minute_s: float) -> Iterator[str]:
    """The address of a service with that limit in a process of its own."""
    words = [f"--{kind}", str(limit), "--minute", str(minute_s)]
    words += [] if way == "stated" else ["--no-headers"]
    words += ["--no-retry-after"] if way == "bare" else []
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.limit_server", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None:
            raise RuntimeError("the service has no output")
        yield json.loads(process.stdout.readline())["base_url"]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _figures(base_url: str) -> str:
    return base_url.removesuffix("/v1") + "/figures"
