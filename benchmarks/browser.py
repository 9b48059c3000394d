"""How long a browser takes from an address to a page that can be used."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import Section, figure
from benchmarks.studies import STUDY, filled

ANSWERS = 1200
AIM, AIM_FIRST = 1.0, 2.0
FIRST = ("home", "design", "item_statistics", "factors")
REPEATS = 3
SIZE = {"width": 1280, "height": 800}
PATIENCE_MS = 120_000
DRAWN = "[data-testid='stApp'][data-test-script-state='notRunning'] h1"


def measure(work: Path, *, quick: bool) -> Section:
    """Open pages in Chromium: each one first in a new server, then all in one server."""
    from playwright.sync_api import sync_playwright

    from app import PAGES
    from tests.browser.conftest import ARGUMENTS, chromium

    database = filled(work, ANSWERS)
    names = [page.name for page in PAGES][: 2 if quick else None]
    first = FIRST[: 1 if quick else None]
    repeats = 1 if quick else REPEATS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        in_new_server: dict[str, float] = {}
        for name in first:
            times = []
            for _ in range(repeats):
                with served(work, database) as app, visitor(browser) as page:
                    times.append(_opened(page, app.url, name))
            in_new_server[name] = median(times)
        in_new_browser, again = {}, {}
        with served(work, database) as app:
            with visitor(browser) as page:  # loads packages, and is not counted
                for name in names:
                    _opened(page, app.url, name)
            for name in names:
                fresh, later = [], []
                for _ in range(repeats):
                    with visitor(browser) as page:
                        fresh.append(_opened(page, app.url, name))
                        later.append(_opened(page, app.url, name))
                in_new_browser[name], again[name] = median(fresh), median(later)
        browser.close()
    rows = [
        (
            name,
            _bold(in_new_server.get(name), AIM_FIRST),
            _bold(in_new_browser[name], AIM),
            _bold(again[name], AIM),
        )
        for name in dict.fromkeys((*names, *first))
        if name in again
    ]
    return Section(
        "Pages in a browser",
        f"From the address to a page that can be used (drawn, with its script at the end), in "
        f"Chromium, on a study of {ANSWERS:,} answers. 'New server': the first page of a process "
        "that just began to serve. 'New browser': nothing of the app in its cache. Aim: at most "
        f"{AIM_FIRST:g} s in a new server, {AIM:g} s otherwise; what takes longer is bold.",
        ("Page", "new server, s", "new browser, s", "again, s"),
        rows,
        (f"Medians of {repeats}.",),
        ("streamlit", "playwright", "duckdb"),
    )


def _bold(seconds: float | None, aim: float) -> str:
    if seconds is None:
        return "-"
    return f"**{figure(seconds)}**" if seconds > aim else figure(seconds)


@contextmanager
def served(work: Path, database: Path) -> Iterator[Any]:
    """A server on a copy of the database, as start.py starts it."""
    from tests.browser.conftest import App

    copy = work / "served.duckdb"
    shutil.copy(database, copy)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "1")
    app = App(copy, port, work / "served.log", {"OPENBLAS_NUM_THREADS": threads})
    app.start()
    try:
        yield app
    finally:
        app.stop()


@contextmanager
def visitor(browser: Any) -> Iterator[Any]:
    """A page of a browser that has an empty cache."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def _opened(page: Any, url: str, name: str) -> float:
    """Seconds until a page can be used."""
    address = "" if name == "home" else name
    started = time.perf_counter()
    page.goto(f"{url}/{address}?study={STUDY}")
    page.wait_for_selector(DRAWN)
    return time.perf_counter() - started
