"""What collecting costs: asked, parsed and stored by Inkblot, against openai's client, aiohttp."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import Stopwatch, in_child, service
from benchmarks.prompts import attitude_prompts
from benchmarks.report import Section, figure, ratio

SETTINGS = {"model": "test-model", "temperature": 0.0, "max_tokens": 64}
WARM_UP = 100
AIM = 0.6
AIM_RATE = 1000
BLOCK = 20
AIM_BLOCK = 2
PEERS = {
    "created": "openai client, `chat.completions.create`",
    "posted": "openai client, `post` of the finished body",
    "aiohttp": "aiohttp, `post` of the finished body",
}
BEFORE = (
    "Before calls were posted by aiohttp (docs/decisions/0046-posting-calls.md), Inkblot took 1.42 "
    "to 1.46 CPU-s per 1,000 calls and made 498 to 517 calls/s on this machine when it was quiet "
    "(three runs of 10,000; in the same runs 1.24 to 1.30 and 0.64 to 0.68 for the openai client). "
    "Before calls were written down a moment ahead (docs/decisions/0001-single-writer.md), it took "
    "0.77 CPU-s and made 741 calls/s (1.35 and 715 for the openai client): calls waited for each "
    "other's writing, until all 64 went out and came back together."
)
INSPECT = (
    "Inspect 0.3.285, which keeps a transcript of each sample, took 19.4 CPU-s per 1,000 calls and "
    "made 52 calls/s against the same service on this machine: 2,000 samples, 64 connections, two "
    "runs in an environment of its own, so not in the same turns."
)


def measure(work: Path, *, quick: bool) -> Section:
    """Collect the same calls with each, in turns."""
    calls, at_once, latency_s, repeats = (100, 16, 0.005, 1) if quick else (10_000, 64, 0.05, 3)
    found: dict[str, list[Mapping[str, float]]] = {"ours": [], **{name: [] for name in PEERS}}
    blocks = []
    with service(latency_s) as where, service(latency_s, "--blocks", "willing") as asked_in_blocks:
        for number in range(repeats):
            order = {**where, "calls": calls, "at_once": at_once}
            found["ours"].append(in_child(ours, path=str(work / f"c{number}.duckdb"), **order))
            for name in PEERS:
                found[name].append(in_child(bare, peer=name, **order))
            path = str(work / f"b{number}.duckdb")
            order = {**order, **asked_in_blocks, "items": BLOCK, "calls": calls // 5}
            blocks.append(in_child(ours, path=path, **order))
    ours_is, *others = (_medians(runs, calls) for runs in found.values())
    blocks_are = _medians(blocks, calls // 5)
    pairs = zip(found["ours"], found["created"], strict=True)
    spread = sorted(one["cpu"] / other["cpu"] for one, other in pairs)
    return Section(
        "Collection",
        f"{calls:,} calls, {at_once} in flight, to a service that takes {latency_s * 1000:g} ms. "
        "Inkblot renders the prompts, asks, parses the replies and stores every attempt in a "
        "database file; the others, under a semaphore, get finished prompts and keep nothing. "
        "All use aiohttp below. Aim: at most "
        f"{AIM} CPU-s per 1,000 calls, and {AIM_RATE:,} calls/s on a quiet machine; a call with "
        f"{BLOCK} items takes at most {AIM_BLOCK} times the CPU-s of a call with one.",
        ("", "CPU-s per 1,000 calls", "calls/s"),
        (
            ("Inkblot", *map(figure, ours_is)),
            *(
                (words, *map(figure, peer))
                for words, peer in zip(PEERS.values(), others, strict=True)
            ),
            ("Ratio to the first of these", *map(ratio, ours_is, others[0])),
            ("Ratio to the last", *map(ratio, ours_is, others[-1])),
            (f"Inkblot, {BLOCK} items a call", *map(figure, blocks_are)),
            ("Ratio to one item a call", *map(ratio, blocks_are, ours_is)),
        ),
        (
            f"Medians of {repeats} runs each, in turns; the ratio of processor time to the first "
            f"was {spread[0]:.2f} to {spread[-1]:.2f} pair by pair. Starting Python, loading "
            f"packages and the first {WARM_UP} calls are not counted.",
            BEFORE,
            INSPECT,
        ),
        ("openai", "aiohttp", "duckdb", "pyarrow"),
    )


def ours(
    *, base_url: str, key: str, path: str, calls: int, at_once: int, items: int = 1
) -> Mapping[str, float]:
    """Collect a frozen study into a new database file, so many items a call."""
    from core.workflow.opening import open_workspace
    from core.workflow.preloading import leave_out_loaded
    from core.workflow.runs import control
    from tests.workflow.studies import KEY_VARIABLE, freeze
    from tests.workflow.studies import service as respondent

    os.environ[KEY_VARIABLE] = key
    workspace = open_workspace(path)
    person = respondent(base_url, at_once=at_once, timeout_s=60.0)
    for study, size in (("warm_up", WARM_UP), ("measured", calls)):
        leave_out_loaded()  # as the app does
        people = size * items // 20
        freeze(workspace, person, study=study, n_personas=people, items_per_call=items)
        with Stopwatch() as watch:
            control.start(workspace, study)
            progress = control.wait(workspace, study)
        done = ("finished", size * items, size)
        if (progress.state, progress.n_done, progress.n_attempts) != done:
            raise RuntimeError(f"not every call was answered: {progress}")
    events = {kind: at for at, kind, _ in control.history(workspace, study)}
    workspace.close()
    # Waiting looks twice a second, as a page does; the run itself knows when it ended.
    seconds = (events["finished"] - events["start"]).total_seconds()
    return {"cpu": watch.cpu, "seconds": seconds}


def bare(*, base_url: str, key: str, calls: int, at_once: int, peer: str) -> Mapping[str, float]:
    """Ask the same without Inkblot and forget the replies."""
    import aiohttp
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    messages = attitude_prompts(calls)

    async def ask_all() -> Mapping[str, float]:
        slots = asyncio.Semaphore(at_once)
        http_client = DefaultAioHttpClient()
        connector = aiohttp.TCPConnector(limit=at_once)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        async with (
            AsyncOpenAI(base_url=base_url, api_key=key, http_client=http_client) as client,
            aiohttp.ClientSession(base_url + "/", connector=connector, headers=headers) as session,
        ):

            async def answered(body: Any) -> str:
                if peer == "created":
                    reply = await client.chat.completions.create(**body)
                    return reply.choices[0].message.content or ""
                if peer == "posted":
                    path = "/chat/completions"
                    response = await client.post(path, cast_to=httpx2.Response, body=body)
                    content = response.content
                else:
                    data = json.dumps(body).encode()
                    async with session.post("chat/completions", data=data) as arriving:
                        content = await arriving.read()
                return str(json.loads(content)["choices"][0]["message"]["content"])

            async def ask(prompt: Any) -> bool:
                async with slots:
                    return bool(await answered({"messages": prompt, **SETTINGS}))

            await asyncio.gather(*map(ask, messages[:WARM_UP]))
            with Stopwatch() as watch:
                replies = await asyncio.gather(*map(ask, messages))
        if len(replies) != calls or not all(replies):
            raise RuntimeError("not every call was answered")
        return watch.figures

    return asyncio.run(ask_all())


def _medians(runs: Sequence[Mapping[str, float]], calls: int) -> tuple[float, float]:
    """Processor seconds per 1,000 calls, and calls a second."""
    cpu, seconds = (median(run[name] for run in runs) for name in ("cpu", "seconds"))
    return cpu / calls * 1000, calls / seconds
