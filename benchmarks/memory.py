"""Whether the collector's memory stays flat however many calls it makes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks import machine
from benchmarks.processes import Stopwatch, in_child, service
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY

AIM = 1.3
MB = 1e6


def measure(work: Path, *, quick: bool) -> Section:
    """Collect a small and a large study, each planned and collected in processes of their own."""
    sizes = (100, 400) if quick else (2000, 20_000, 200_000)
    found = []
    with service(0.0) as where:
        for calls in sizes:
            path = str(work / f"memory_{calls}.duckdb")
            in_child(planned, base_url=where["base_url"], path=path, calls=calls)
            found.append(in_child(collected, key=where["key"], path=path, calls=calls))
            Path(path).unlink()
    small, *_, large = found
    without = [run["peak"] - run["database"] for run in (small, large)]
    return Section(
        "Memory",
        "The most memory the process that collects holds, for studies of different size (20 items, "
        "one persona for every 20 calls, 64 in flight, a service without delay; the plan was "
        f"frozen by another process). Aim: at most {AIM} times as much for the larger one.",
        ("Calls", "peak, MB", "of which database, MB", "before the first call, MB", "calls/s"),
        [
            (
                f"{calls:,}",
                *(figure(run[part] / MB) for part in ("peak", "database", "before")),
                figure(calls / run["seconds"]),
            )
            for calls, run in zip(sizes, found, strict=True)
        ]
        + [
            ("Ratio, last to first", ratio(large["peak"], small["peak"]), "", "", ""),
            ("Ratio without the database's part", ratio(without[1], without[0]), "", "", ""),
        ],
        (
            "Until November 2026 the ratio was 1.78.",
            "The database's part (counted at the end) is its cache of the file, which stays within "
            "INKBLOT_MEMORY.",
        ),
        packages=("openai", "aiohttp", "duckdb", "pyarrow"),
    )


def planned(*, base_url: str, path: str, calls: int) -> None:
    """Freeze a study of so many calls."""
    from core.workflow.opening import open_workspace
    from tests.workflow.studies import freeze
    from tests.workflow.studies import service as respondent

    workspace = open_workspace(path)
    person = respondent(base_url, at_once=64, timeout_s=60.0)
    freeze(workspace, person, study=STUDY, n_personas=calls // 20)
    workspace.close()


def collected(*, key: str, path: str, calls: int) -> Mapping[str, float]:
    """Collect it."""
    from core.workflow.opening import open_workspace
    from core.workflow.runs import control
    from tests.workflow.studies import KEY_VARIABLE

    os.environ[KEY_VARIABLE] = key
    workspace = open_workspace(path)
    before = machine.memory_peak()
    with Stopwatch() as watch:
        control.start(workspace, STUDY)
        progress = control.wait(workspace, STUDY, every_s=1.0)
    if (progress.state, progress.n_done) != ("finished", calls):
        raise RuntimeError(f"not every call was answered: {progress}")
    held = workspace.database.row("select sum(memory_usage_bytes) from duckdb_memory()")
    workspace.close()
    own = {"database": float(held[0]) if held else 0.0}
    return {**own, "before": before, "peak": machine.memory_peak(), **watch.figures}
