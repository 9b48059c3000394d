"""What it takes until Inkblot begins: the command line, and the first page of a new server."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.browser import DRAWN, served, visitor
from benchmarks.processes import ROOT
from benchmarks.report import Section, figure, ratio

TURNS, PAGES = 5, 3
_LOADED_S = 15  # what else is loaded in the background has been loaded by then
MEASURE: Mapping[str, tuple[str, ...]] = {
    "`python -m core --help`": ("-m", "core", "--help"),
    "`python -m core list`": ("-m", "core", "list"),
    "`python -m core list banks`": ("-m", "core", "list", "banks"),
    "`python -m core analyze --help`": ("-m", "core", "analyze", "--help"),
}
_AIMS = {"`python -m core --help`": 0.5, "`python -m core list`": 1.0}


def measure(work: Path, *, quick: bool) -> Section:
    """Commands in turns with `import pandas`, then new servers with a browser before them."""
    turns, pages = (1, 1) if quick else (TURNS, PAGES)
    database = work / "start.duckdb"
    environment = os.environ | {"INKBLOT_DB": str(database)}
    _cpu(("-m", "core", "init"), environment)
    found: dict[str, list[float]] = {name: [] for name in ("nothing", "pandas", *MEASURE)}
    for _ in range(turns):
        found["nothing"].append(_cpu(("-c", "pass"), environment))
        found["pandas"].append(_cpu(("-c", "import pandas"), environment))
        for name, arguments in MEASURE.items():
            found[name].append(_cpu(arguments, environment))
    spent = {name: median(values) for name, values in found.items()}
    rows: list[Sequence[object]] = [
        (
            name,
            _bold(spent[name], _AIMS.get(name)),
            figure(spent["pandas"]),
            ratio(spent[name], spent["pandas"]),
            "-",
        )
        for name in MEASURE
    ]
    firsts = [_first_page(work, database) for _ in range(pages)]
    seconds, cpu = (median(one[key] for one in firsts) for key in ("seconds", "cpu"))
    rows.append(
        (
            "First page of a new server",
            figure(cpu),
            figure(spent["pandas"]),
            ratio(cpu, spent["pandas"]),
            figure(seconds),
        )
    )
    again = median(one["again"] for one in firsts)
    return Section(
        "Start-up",
        "CPU-s from the start of a process until it has done its work, against `import pandas` in "
        "the same turns. Aim: 0.5 for the help text, 1 for the list, 3 s for the first page.",
        ("", "CPU-s", "import pandas, CPU-s", "ratio", "s on the clock"),
        rows,
        (
            f"`python -c pass` takes {figure(spent['nothing'])} CPU-s.",
            "The first page: from the start of the server until Home is drawn in Chromium; the "
            "CPU-s are those of the server. The same page in another new browser, once all is "
            f"loaded, takes {figure(again)} s, most of them in the browser.",
            f"Medians of {turns} processes, and of {pages} servers. Until November 2026 every "
            "command took 3.4 to 4.1 CPU-s, and the server 4.3 to 5.8 before its first page.",
        ),
        ("streamlit", "pandas", "duckdb", "playwright"),
    )


def _bold(cpu: float, aim: float | None) -> str:
    return f"**{figure(cpu)}**" if aim is not None and cpu > aim else figure(cpu)


def _cpu(arguments: Sequence[str], environment: Mapping[str, str]) -> float:
    """CPU-s of a Python with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _first_page(work: Path, database: Path) -> Mapping[str, float]:
    """Seconds until the first page of a new server is drawn, and until it is drawn again."""
    import psutil
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS, chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        began = time.perf_counter()
        with served(work, database) as app:
            with visitor(browser) as page:
                _draw(page, app.url)
                seconds = time.perf_counter() - began
                times = psutil.Process(app.process.pid).cpu_times()
                cpu = times.user + times.system
            time.sleep(_LOADED_S)
            began = time.perf_counter()
            with visitor(browser) as page:
                _draw(page, app.url)
                again = time.perf_counter() - began
        browser.close()
    return {"seconds": seconds, "cpu": cpu, "again": again}


def _draw(page: Any, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(DRAWN)
