"""The real app in a process of its own, and a real browser in front of it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    Locator,
    Page,
    Position,
    TimeoutError,
    expect,
    sync_playwright,
)

import start

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCREENSHOTS = ROOT / "build" / "screenshots"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 60_000  # two processes share two cores, one of them with a model
_TWO_FRAMES = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
FAILED = pytest.StashKey[bool]()
expect.set_options(timeout=PATIENCE_MS)  # results are computed in the background
_CONTENT_HEIGHT = """
Math.ceil(document.querySelector("[data-testid='stMainBlockContainer']").scrollHeight) + 40
"""


def chromium() -> str | None:
    """Where an installed Chromium or Chrome is."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
    mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    return next((path for name in names if (path := shutil.which(name))), None) or (
        mac if Path(mac).exists() else None
    )


@dataclass
class App:
    """A running Inkblot with a database of its own."""

    database: Path
    port: int
    log: Path
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    *start.SERVE,
                    "--server.port",
                    str(self.port),
                    "--server.headless",
                    "true",
                ],
                cwd=ROOT,
                env=os.environ
                | {"INKBLOT_DB": str(self.database), start.TOKEN_VARIABLE: start.WITHOUT_TOKEN}
                | self.environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(self.log.read_text())

    def stop(self, *, kill: bool = False) -> None:
        if self.process is not None:
            self.process.kill() if kill else self.process.terminate()
            self.process.wait(60)
            self.process = None

    def command(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """The command line on the same database; the app must be stopped."""
        return subprocess.run(
            [sys.executable, "-m", "core", "--db", str(self.database), *arguments],
            cwd=ROOT,
            capture_output=True,
            timeout=300,
            check=True,
        )


@pytest.fixture
def app(tmp_path) -> Iterator[App]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = App(tmp_path / "inkblot.duckdb", port, tmp_path / "app.log")
    yield found
    found.stop()


# Ends with this folder: while Playwright's loop runs, no other test could use asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.fail("No Chromium or Chrome is installed; python3 start.py --test installs one.")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield found
        found.close()


def pytest_collection_modifyitems(items):
    """Repeat a test of this folder that failed, once; the summary names it as RERUN.

    Browser, app and other tests share two cores, so a wait can run out, or a key can come before
    the page is drawn. A fault of the product fails twice.
    """
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def page(browser, request) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    found = context.new_page()
    found.set_default_timeout(PATIENCE_MS)
    yield found
    if request.node.stash.get(FAILED, False):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        found.screenshot(path=SCREENSHOTS / f"{request.node.name}-failed.png")
    context.close()


@pytest.fixture
def shot(request):
    """Keep a screenshot under build/ where somebody wants to look: with INKBLOT_SCREENSHOTS set.

    Whole pages are drawn anew at their full height for it, which takes seconds each.
    """
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> None:
        if not os.environ.get("INKBLOT_SCREENSHOTS"):
            return
        height = page.evaluate(_CONTENT_HEIGHT)
        page.set_viewport_size({"width": 1280, "height": min(max(900, height), 6000)})
        page.wait_for_timeout(400)
        page.screenshot(path=SCREENSHOTS / f"{request.node.name}-{name}.png")
        page.set_viewport_size({"width": 1280, "height": 900})

    return take


def settled(page: Page) -> None:
    """Wait until Streamlit has finished running the page."""
    page.wait_for_selector("[data-testid='stApp'][data-test-script-state='notRunning']")


def drawn(page: Page) -> None:
    """Wait until the grid has taken the focus, as it does in the frame after a click or a key.

    Nobody types within a frame, but a test does, and the grid takes the focus from the editor.
    """
    page.evaluate(_TWO_FRAMES)


def go(page: Page, app: App, path: str = "") -> None:
    """Open a page of the app and wait until it is drawn; reload it once, as a user would.

    A browser that connects while both cores are busy can lose its first connection.
    """
    page.goto(f"{app.url}/{path}")
    for patience_ms in (PATIENCE_MS, 2 * PATIENCE_MS):
        settled(page)
        with suppress(TimeoutError):
            page.wait_for_selector("h1", timeout=patience_ms)
            return
        page.reload()
    raise AssertionError(f"{path} stays empty. The app says:\n{app.log.read_text()}")


def write_in_cell(page: Page, grid: Locator, place: Position, text: str, end: str) -> None:
    """Open the editor of a cell of a grid with a double click, replace its text, and leave it."""
    editor = page.locator(".gdg-input").last
    for _ in range(3):  # a grid that is drawn anew at this moment opens no editor
        grid.dblclick(position=place, force=True)
        with suppress(TimeoutError):
            editor.wait_for(timeout=PATIENCE_MS / 6)
            break
    editor.fill(text)
    editor.press(end)
