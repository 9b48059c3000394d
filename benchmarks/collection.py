"""What collecting costs: asked, parsed and stored by Inkblot, against the bare openai client."""

from __future__ import annotations

import asyncio
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
AIM = 1.3


def measure(work: Path, *, quick: bool) -> Section:
    """Collect the same calls with both, in turns."""
    calls, at_once, latency_s, repeats = (100, 16, 0.005, 1) if quick else (2000, 64, 0.05, 7)
    found: dict[str, list[Mapping[str, float]]] = {"ours": [], "bare": [], "posted": []}
    with service(latency_s) as where:
        for number in range(repeats):
            order = {**where, "calls": calls, "at_once": at_once}
            found["ours"].append(in_child(ours, path=str(work / f"c{number}.duckdb"), **order))
            found["bare"].append(in_child(bare, posted=False, **order))
            found["posted"].append(in_child(bare, posted=True, **order))
    ours_is, bare_is, posted_is = (_medians(runs, calls) for runs in found.values())
    pairs = zip(found["ours"], found["bare"], strict=True)
    spread = sorted(one["cpu"] / other["cpu"] for one, other in pairs)
    return Section(
        "Collection",
        f"{calls:,} calls, {at_once} in flight, to a service that takes {latency_s * 1000:g} ms, "
        "both through openai's aiohttp transport. Inkblot renders the prompts, asks, parses the "
        "replies and stores every attempt in a database file; the bare client, under a "
        "semaphore, gets finished prompts and keeps nothing. Inkblot posts bodies of its own, "
        "which spares it the package's checks of every reply; the second bare way does that too. "
        f"Aim: at most {AIM} times its processor time.",
        ("", "CPU-s per 1,000 calls", "calls/s"),
        (
            ("Inkblot", *map(figure, ours_is)),
            ("openai client, `chat.completions.create`", *map(figure, bare_is)),
            ("openai client, `post` of the finished body", *map(figure, posted_is)),
            ("Ratio to the first of these", *map(ratio, ours_is, bare_is)),
            ("Ratio to the second", *map(ratio, ours_is, posted_is)),
        ),
        (
            f"Medians of {repeats} runs each, in turns; the ratio of processor time was "
            f"{spread[0]:.2f} to {spread[-1]:.2f} pair by pair. Starting Python, loading packages "
            f"and the first {WARM_UP} calls are not counted.",
        ),
        ("openai", "aiohttp", "duckdb", "pyarrow"),
    )


def ours(*, base_url: str, key: str, path: str, calls: int, at_once: int) -> Mapping[str, float]:
    """Collect a frozen study into a new database file."""
    from core.workflow.opening import open_workspace
    from core.workflow.runs import control
    from tests.workflow.studies import KEY_VARIABLE, freeze
    from tests.workflow.studies import service as respondent

    os.environ[KEY_VARIABLE] = key
    workspace = open_workspace(path)
    person = respondent(base_url, at_once=at_once, timeout_s=60.0)
    for study, size in (("warm_up", WARM_UP), ("measured", calls)):
        freeze(workspace, person, study=study, n_personas=size // 20)
        with Stopwatch() as watch:
            control.start(workspace, study)
            progress = control.wait(workspace, study)
        if (progress.state, progress.n_done, progress.n_attempts) != ("finished", size, size):
            raise RuntimeError(f"not every call was answered: {progress}")
    events = {kind: at for at, kind, _ in control.history(workspace, study)}
    workspace.close()
    # Waiting looks twice a second, as a page does; the run itself knows when it ended.
    seconds = (events["finished"] - events["start"]).total_seconds()
    return {"cpu": watch.cpu, "seconds": seconds}


def bare(*, base_url: str, key: str, calls: int, at_once: int, posted: bool) -> Mapping[str, float]:
    """Ask the same with the openai client and forget the replies."""
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    messages = attitude_prompts(calls)

    async def ask_all() -> Mapping[str, float]:
        slots = asyncio.Semaphore(at_once)
        http_client = DefaultAioHttpClient()
        async with AsyncOpenAI(base_url=base_url, api_key=key, http_client=http_client) as client:

            async def ask(prompt: Any) -> bool:
                body = {"messages": prompt, **SETTINGS}
                async with slots:
                    if posted:
                        path = "/chat/completions"
                        answer = await client.post(path, cast_to=httpx2.Response, body=body)
                        return bool(answer.json()["choices"][0]["message"]["content"])
                    reply = await client.chat.completions.create(**body)
                return bool(reply.choices[0].message.content)

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
