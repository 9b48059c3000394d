"""What pages and short analyses notice of heavy ones, and what handing answers over costs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.browser import _opened, served, visitor
from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled
from core.domain.wide_scores import ItemScores, WideScores
from core.store import frames
from core.workflow.opening import open_workspace
from core.workflow.workers import handover

PAGES = ("home", "banks", "answers", "collect")
SAMPLE = "sample_simulated"
HEAVY, POINTS = "graded_response", (241, 239)
REPEATS = 3
LONGEST_S = 60.0
_RESULT = ".st-key-result [data-testid='stDataFrame']"
_UNDER_WAY = "text=scales done"


def measure(work: Path, *, quick: bool) -> Section:
    """Pages and a short analysis beside two heavy ones; the hand-over of answers."""
    answers = 2000 if quick else 1_000_000
    call = caller(quick=quick)
    file = str(filled(work, answers))
    runs = [call(hand_over, path=file) for _ in range(1 if quick else 3)]
    rows: list[tuple[str, ...]] = [
        (
            f"Handing over {answers:,} answers {shape}, {step}, CPU-ms; Arrow IPC",
            figure(1000 * ours),
            figure(1000 * theirs),
            ratio(ours, theirs),
        )
        for shape in ("in rows", "as a wide table")
        for step in ("writing", "reading")
        for ours, theirs in [
            [median(run[f"{shape}, {step}, {way}"] for run in runs) for way in ("ours", "Arrow")]
        ]
    ]
    if not quick:
        rows = [*_beside_heavy_ones(work, file, call), *rows]
    return Section(
        "Workers",
        f"Two graded response models of {answers:,} answers are computed, which take minutes. "
        f"Meanwhile a browser opens pages ({', '.join(PAGES)}) and a short analysis (item "
        "statistics of the sample study). Aim: pages in at most 1.3 times what they take at rest, "
        "and a short analysis that starts within 1 s.",
        ("", "Inkblot", "the other", "ratio"),
        rows,
        (
            f"Pages: sums of medians of {REPEATS}, in a browser that has seen them before. 'As "
            "threads': as until November 2026, the same server without workers; a short analysis "
            "then waited until a heavy one had ended, once for 150 s.",
            "Reading maps the file; what an analysis does not touch is not read.",
        ),
        ("pandas", "pyarrow", "streamlit"),
    )


def _beside_heavy_ones(work: Path, file: str, call: Any) -> list[tuple[str, ...]]:
    """Seconds at rest, and beside heavy analyses by workers and by threads of the server."""
    prepared = work / "with_sample.duckdb"
    prepared.unlink(missing_ok=True)
    shutil.copy(file, prepared)
    call(prepare, path=str(prepared))
    rest = _visited(work, prepared, heavy=False)
    busy = {"by workers": _visited(work, prepared)}
    with _without_workers():
        busy["as threads"] = _visited(work, prepared)
    return [
        (
            f"{what} beside heavy ones {way}, s; at rest",
            figure(found[what]),
            figure(rest[what]),
            ratio(found[what], rest[what]),
        )
        for what in rest
        for way, found in busy.items()
        if (what, way) != ("A short analysis", "as threads")
    ]


def _visited(work: Path, database: Path, *, heavy: bool = True) -> Mapping[str, float]:
    """Seconds until a short analysis shows its result, and until pages are drawn."""
    from playwright.sync_api import TimeoutError, sync_playwright

    from tests.browser.conftest import ARGUMENTS, chromium

    own = work / "visited.duckdb"
    shutil.copy(database, own)  # results that a visit leaves behind would be there in the next
    with sync_playwright() as playwright, served(work, own) as app:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))

        def result(analysis: str) -> float:
            start = perf_counter()
            page.goto(f"{app.url}/{analysis}?study={SAMPLE}")
            try:
                page.wait_for_selector(_RESULT, timeout=1000 * LONGEST_S)
            except TimeoutError:
                return LONGEST_S
            return perf_counter() - start

        with visitor(browser) as page, visitor(browser) as other:
            for name in PAGES:  # loads packages, and is not counted
                _opened(page, app.url, name)
            result("reliability")
            if heavy:
                _begin_two(other, app.url)
            found = {"A short analysis": result("item_statistics")}
            found["Pages"] = sum(
                median(_opened(page, app.url, name) for _ in range(REPEATS)) for name in PAGES
            )
            if heavy and not other.locator(_UNDER_WAY).count():
                raise RuntimeError("the heavy analyses ended before the pages were drawn")
        browser.close()
    return found


def _begin_two(page: Any, url: str) -> None:
    """Begin a heavy analysis, and a second one with another option beside it."""
    page.goto(f"{url}/item_statistics?study={STUDY}&analysis={HEAVY}")
    page.wait_for_selector(_UNDER_WAY)
    points = page.get_by_role("spinbutton", name="Quadrature points")
    points.fill(str(POINTS[1]))
    points.press("Enter")
    page.wait_for_timeout(5000)
    page.reload()
    page.wait_for_selector(_UNDER_WAY)
    if points.input_value() != str(POINTS[1]):
        raise RuntimeError("the second heavy analysis was not begun")


@contextmanager
def _without_workers() -> Iterator[None]:
    """Servers begin as start.py begins them, but for what switches workers on."""
    import start

    usual = start.SERVE
    off = (
        "from core.workflow.workers import launching\nlaunching.use_workers = lambda: None\n"
        "from streamlit.web import cli\ncli.main()"
    )
    start.SERVE = ("-c", off, *usual[2:])
    try:
        yield
    finally:
        start.SERVE = usual


def prepare(*, path: str) -> None:
    """Collect the sample study, and choose what makes the heavy analysis heavy."""
    from core.workflow import sample
    from core.workflow.runs import control
    from core.workflow.statistics import analyses

    workspace = open_workspace(path)
    control.wait(workspace, sample.start_sample(workspace, "simulated"))
    analyses.save_option(workspace, STUDY, analyses.by_name(HEAVY), "points", POINTS[0])
    workspace.database.checkpoint()
    workspace.close()


# --- Handing over ---------------------------------------------------------------------------------


def hand_over(*, path: str) -> Mapping[str, float]:
    """CPU-s of writing and reading what analyses take, by Inkblot and by Arrow IPC."""
    database = open_workspace(path).database
    read_frames = {"in rows": frames.item_scores, "as a wide table": frames.wide_scores}
    return {
        f"{shape}, {what}": seconds
        for shape, read_frame in read_frames.items()
        for what, seconds in _timed(read_frame(database, [STUDY], {})).items()
    }


def _timed(frame: ItemScores | None) -> Mapping[str, float]:
    tables, arrays = _parts(frame)
    ways: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "ours": (lambda file: handover.write(file, frame), handover.read),
        "Arrow": (
            lambda file: _write_arrow(file, tables, arrays),
            lambda file: _read_arrow(file, len(tables), len(arrays)),
        ),
    }
    found: dict[str, float] = {}
    for way, (write, read) in ways.items():
        for _ in range(2):  # the first time loads packages
            with tempfile.NamedTemporaryFile() as file:
                with Stopwatch() as writing:
                    write(file)
                file.seek(0)
                with Stopwatch() as reading:
                    read(file)
        found |= {f"writing, {way}": writing.cpu, f"reading, {way}": reading.cpu}
    return found


def _parts(frame: ItemScores | None) -> tuple[list[pd.DataFrame], list[np.ndarray]]:
    """The tables and the other arrays that answers consist of."""
    if frame is None:
        raise RuntimeError("these answers do not come as a wide table")
    if not isinstance(frame, WideScores):
        return [frame], []
    return [frame.administrations, frame.items], [frame.scores, frame.status]


def _write_arrow(file: Any, tables: list[pd.DataFrame], arrays: list[np.ndarray]) -> None:
    with pa.OSFile(file.name, "wb") as target:
        for table in map(pa.Table.from_pandas, tables):
            with pa.ipc.new_stream(target, table.schema) as stream:
                stream.write_table(table)
        for array in arrays:
            pa.ipc.write_tensor(pa.Tensor.from_numpy(array), target)


def _read_arrow(file: Any, n_tables: int, n_arrays: int) -> list[Any]:
    source = pa.memory_map(file.name)
    tables = [pa.ipc.open_stream(source).read_pandas() for _ in range(n_tables)]
    return [*tables, *(pa.ipc.read_tensor(source).to_numpy() for _ in range(n_arrays))]
