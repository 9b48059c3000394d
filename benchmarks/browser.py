"""How long a browser takes from an address or a link to a page that can be used."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled

ANSWERS, MANY = 1200, 100_000
AIM, AIM_FIRST, AIM_MANY, AIM_TOGETHER = 1.0, 2.0, 2.0, 3.0
FIRST = ("home", "design", "item_statistics", "factors")
REPEATS = 3
TOGETHER = 5  # people at once
LOOKS_S = 3.0  # at a page, before the next press
SIZE = {"width": 1280, "height": 800}
PATIENCE_MS = 120_000
DRAWN = "[data-testid='stApp'][data-test-script-state='notRunning'] h1"
BARE = """
import streamlit

one = streamlit.Page(lambda: streamlit.title("One"), title="One", url_path="one", default=True)
two = streamlit.Page(lambda: streamlit.title("Two"), title="Two", url_path="two")
streamlit.navigation([one, two]).run()
"""
# The page of an address is drawn: its title stands there, and its script has ended.
SHOWN = """([name, title]) => location.pathname.endsWith(name)
  && [...document.querySelectorAll('h1')].some((h1) => h1.innerText.startsWith(title))
  && document.querySelector("[data-testid='stApp']").dataset.testScriptState === 'notRunning'
  && !document.querySelector("[data-stale='true'] h1")"""
Times = Mapping[str, Sequence[float]]


def measure(work: Path, *, quick: bool) -> Section:
    """Open pages by their addresses in new servers, then by links: few answers, many, together."""
    n_many, people, repeats = (ANSWERS, 2, 1) if quick else (MANY, TOGETHER, REPEATS)
    few = filled(work, ANSWERS)
    first = FIRST[: 1 if quick else None]
    with _chromium() as browser:
        with _bare(work) as address, visitor(browser) as page:
            _opened(page, address)
            bare = median(_between_bare_pages(page) for _ in range(7))
        new = {name: median(_in_new_server(work, few, browser, name, repeats)) for name in first}
        with served(work, few) as app:
            by_link = _by_links(browser, app.url, repeats, quick)
            hurried = together = _together(app.url, people, 0.0, quick)
            if not quick:
                together = _together(app.url, people, LOOKS_S, quick)
        by_link_many = by_link
        if not quick:
            with served(work, filled(work, n_many)) as app:
                by_link_many = _by_links(browser, app.url, repeats, quick)
    rows = [
        (
            name,
            _bold(new.get(name), AIM_FIRST),
            _bold(median(by_link[name]), AIM),
            ratio(median(by_link[name]), bare),
            _bold(median(by_link_many.get(name, [np.nan])), AIM_MANY),
        )
        for name in by_link
    ]
    return Section(
        "Pages in a browser",
        f"From an address or a link to a page that can be used (its title stands there, its script "
        f"has ended; what is still being computed then stands there as a bar), in Chromium. 'New "
        f"server': the first page of a process that just began to serve, of a study of {ANSWERS:,} "
        "answers. 'By a link': of the side, as people go from page to page; each page was seen "
        "once before, so its result is on file. 'To a bare page': how many times what a link "
        f"between two pages of Streamlit takes that have a title alone, {figure(bare)} s. Aim: at "
        f"most {AIM_FIRST:g} s in a new server, {AIM:g} s by a link, {AIM_MANY:g} s with "
        f"{n_many:,} answers; what takes longer is bold.",
        ("Page", "new server, s", "by a link, s", "to a bare page", f"of {n_many:,} answers, s"),
        rows,
        (
            f"Medians of {repeats}. Pages that do not fit the study are left out.",
            f"{people} people at once, who look at each page for {LOOKS_S:g} s and then press the "
            f"next link; their browsers share the processors with the server: "
            f"{_shares(together)} (aim: 95 % within {AIM_TOGETHER:g} s). Without a pause, each "
            f"press as soon as the page stands there: {_shares(hurried)}.",
        ),
        ("streamlit", "playwright", "duckdb"),
    )


def _shares(times: Times) -> str:
    seconds = [one for of_page in times.values() for one in of_page]
    last = _bold(float(np.quantile(seconds, 0.95)), AIM_TOGETHER)
    return f"{len(seconds)} pages, median {figure(median(seconds))} s, 95 % within {last} s"


def _bold(seconds: float | None, aim: float) -> str:
    if seconds is None or np.isnan(seconds):
        return "-"
    return f"**{figure(seconds)}**" if seconds > aim else figure(seconds)


@contextmanager
def _chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS, chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def served(work: Path, database: Path) -> Iterator[Any]:
    """A server on a copy of the database, as start.py starts it."""
    from tests.browser.conftest import App

    copy = work / "served.duckdb"
    shutil.copy(database, copy)
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "1")
    app = App(copy, _free_port(), work / "served.log", {"OPENBLAS_NUM_THREADS": threads})
    app.start()
    try:
        yield app
    finally:
        app.stop()


@contextmanager
def _bare(work: Path) -> Iterator[str]:
    """The address of a page of Streamlit that has a title and nothing else."""
    script = work / "bare.py"
    script.write_text(BARE, encoding="utf-8")
    port = str(_free_port())
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless", "true"]
    with subprocess.Popen(
        [*command, "--server.port", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            while not _listens(int(port)):
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def visitor(browser: Any) -> Iterator[Any]:
    """A page of a browser that has an empty cache."""
    context = browser.new_context(viewport=SIZE)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def _opened(page: Any, address: str) -> float:
    """Seconds until the page of an address can be used."""
    started = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(DRAWN)
    return time.perf_counter() - started


def _between_bare_pages(page: Any) -> float:
    """Seconds from a press on the link of the other bare page until that stands there."""
    name, title = ("", "One") if page.url.endswith("two") else ("two", "Two")
    link = page.locator("[data-testid='stSidebarNavLink']").filter(has_text=title).first
    started = time.perf_counter()
    link.click()
    page.wait_for_function(SHOWN, arg=[name, title])
    return time.perf_counter() - started


def _in_new_server(
    work: Path, database: Path, browser: Any, name: str, repeats: int
) -> list[float]:
    times = []
    for _ in range(repeats):
        with served(work, database) as app, visitor(browser) as page:
            path = "" if name == "home" else name
            times.append(_opened(page, f"{app.url}/{path}?study={STUDY}"))
    return times


def _by_links(browser: Any, url: str, repeats: int, quick: bool) -> Times:
    """Seconds of each page by its link of the side, after all of them were seen once."""
    with visitor(browser) as page:
        names = _linked(page, url)[: 3 if quick else None]
        _walk(page, names)
        walks = [_walk(page, names) for _ in range(repeats)]
    return {name: [walk[name] for walk in walks if name in walk] for name in walks[0]}


def _linked(page: Any, url: str) -> list[tuple[str, str]]:
    """The names and titles of the pages that the side shows for the study."""
    from app import PAGES

    _opened(page, f"{url}/?study={STUDY}")
    page.locator(_LINKS).filter(has_text=PAGES[-1].title).first.wait_for()
    shown = [link.strip() for link in page.locator(_LINKS).all_inner_texts()]
    return [
        (entry.name, entry.title)
        for entry in PAGES
        if any(link.endswith(entry.title) for link in shown)
    ]


_LINKS = "[data-testid='stSidebar'] [data-testid='stPageLink'] a"


def _walk(page: Any, names: Sequence[tuple[str, str]], looks_s: float = 0.0) -> dict[str, float]:
    """Seconds from a press on the link of each page until it can be used."""
    times = {}
    for name, title in names:
        link = page.locator(f"{_LINKS}[href^='{'' if name == 'home' else name}?']").first
        if not link.is_visible():  # folded, as the page does not fit the study
            continue
        link.scroll_into_view_if_needed()
        started = time.perf_counter()
        link.click()
        path = "/" if name == "home" else name
        page.wait_for_function(SHOWN, arg=[path, "Inkblot" if name == "home" else title])
        times[name] = time.perf_counter() - started
        page.wait_for_timeout(1000 * looks_s)
    return times


def _together(url: str, people: int, looks_s: float, quick: bool) -> Times:
    """The same walk by several people at once, each in a browser of their own."""

    def one(number: int) -> dict[str, float]:
        with _chromium() as browser, visitor(browser) as page:
            names = _linked(page, url)[: 3 if quick else None]
            return _walk(page, [*names[number:], *names[:number]], looks_s)

    found = defaultdict(list)
    with ThreadPoolExecutor(people) as pool:
        for times in pool.map(one, range(people)):
            for name, seconds in times.items():
                found[name].append(seconds)
    return found
