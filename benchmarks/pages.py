"""How long the first view of each page takes on a large database."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from benchmarks.processes import ROOT, in_child
from benchmarks.report import Section, figure
from benchmarks.studies import filled

AIM = 1.0
SMALL = 2000
QUICK_PAGES = ("home", "item_statistics")
TIMEOUT_S = 300


def measure(work: Path, *, quick: bool) -> Section:
    """Open every page in turns, each time in a new process."""
    answers, repeats = (SMALL, 1) if quick else (1_000_000, 3)
    files = {"small": str(filled(work, SMALL)), "large": str(filled(work, answers))}
    rows, slow = [], []
    for page, analysis in _views(quick=quick):
        name = f"{page}: {analysis}" if analysis else page
        order = {"page": page, "analysis": analysis, **files}
        runs = [in_child(views, **order) for _ in range(repeats)]
        first, again = (median(run[view]["seconds"] for run in runs) for view in _VIEWS)
        problems = {problem for run in runs for view in _VIEWS for problem in run[view]["problems"]}
        shown = f"**{figure(first)}**" if first > AIM else figure(first)
        rows.append((name, f"{shown} (error on the page)" if problems else shown, figure(again)))
        if first > AIM:
            middle = sorted(runs, key=lambda run: run["first"]["seconds"])[repeats // 2]["first"]
            slow.append(f"{name}: {_reasons(middle)}")
    return Section(
        "Pages",
        f"One view of each page of a database with {answers:,} answers, drawn by Streamlit's "
        "AppTest in a new process with packages loaded and nothing cached, and the same view "
        f"again. It leaves out what the browser does. Aim: under {AIM:g} s; what takes longer is "
        "bold, and below stands what it waits for.",
        ("Page", "first view, s", "again, s"),
        rows,
        (*slow, f"Medians of {repeats}."),
        ("streamlit", "duckdb", "pandas", "altair"),
    )


_VIEWS = ("first", "again")


def _views(*, quick: bool) -> list[tuple[str, str]]:
    """Every page, and the page of analyses once for each of them."""
    if quick:
        return [(page, "") for page in QUICK_PAGES]
    from core.workflow import statistics

    found: list[tuple[str, str]] = []
    for page in sorted(path.stem for path in (ROOT / "pages").glob("[!_]*.py")):
        names = [analysis.name for analysis in statistics.analyses()]
        found += [(page, name) for name in names] if page == "item_statistics" else [(page, "")]
    return found


def _reasons(view: Mapping[str, Any]) -> str:
    """What a view spent most time on, in words."""
    parts: Sequence[tuple[str, float]] = sorted(view["parts"].items(), key=lambda p: -p[1])[:3]
    rest = view["seconds"] - sum(view["parts"].values())
    named = [f"`{name}` {figure(seconds)} s" for name, seconds in parts if seconds > 0.05]
    return ", ".join([*named, f"drawing and the rest {figure(rest)} s"])


def views(*, page: str, analysis: str, small: str, large: str) -> Mapping[str, Any]:
    """Seconds of the first and of a second view, and what they were spent on."""
    import streamlit as st

    from core.workflow.workspace import open_workspace

    _view(small, page, analysis)  # loads packages
    open_workspace(small).close()
    st.cache_data.clear()
    st.cache_resource.clear()
    open_workspace(large)
    found = {name: _view(large, page, analysis) for name in _VIEWS}
    open_workspace(large).close()
    return found


def _view(database: str, page: str, analysis: str) -> Mapping[str, Any]:
    """Draw a page in a new session."""
    from streamlit.testing.v1 import AppTest

    os.environ["INKBLOT_DB"] = database
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT_S)
    app.switch_page(f"pages/{page}.py")
    if analysis:
        app.query_params["analysis"] = analysis
    timer = _Timer()
    timer.watch()
    started = time.perf_counter()
    app.run()
    seconds = time.perf_counter() - started
    timer.leave()
    problems = [str(element.value) for element in (*app.error, *app.exception)]
    if not app.title and not problems:
        problems = ["The page stayed empty."]
    return {"seconds": seconds, "parts": timer.parts, "problems": problems}


class _Timer:
    """Notes how long a page waits for each verb of the workflow, from outside."""

    def __init__(self) -> None:
        self.parts: defaultdict[str, float] = defaultdict(float)
        self._inside = threading.local()
        self._replaced: list[tuple[ModuleType, str, Callable[..., Any]]] = []

    def watch(self) -> None:
        """Put a timer around every public function of core.workflow."""
        import core.workflow

        for module in vars(core.workflow).values():
            if isinstance(module, ModuleType) and module.__name__.startswith("core.workflow."):
                for name, verb in list(vars(module).items()):
                    if callable(verb) and getattr(verb, "__module__", "") == module.__name__:
                        self._replace(module, name, verb)

    def leave(self) -> None:
        """Take the timers away."""
        for module, name, verb in self._replaced:
            setattr(module, name, verb)

    def _replace(self, module: ModuleType, name: str, verb: Callable[..., Any]) -> None:
        if name.startswith("_") or isinstance(verb, type):
            return
        called = f"{module.__name__.rpartition('.')[2]}.{name}"

        @functools.wraps(verb)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "a_verb", False):  # its time is part of the outer one's
                return verb(*args, **kwargs)
            self._inside.a_verb, started = True, time.perf_counter()
            try:
                return verb(*args, **kwargs)
            finally:
                self._inside.a_verb = False
                self.parts[called] += time.perf_counter() - started

        self._replaced.append((module, name, verb))
        setattr(module, name, timed)
