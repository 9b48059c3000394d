"""How long each page takes to be drawn, and until the result of its analysis is there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import page_views, validation_study
from benchmarks.processes import ROOT, caller
from benchmarks.report import Section, figure
from benchmarks.studies import filled

AIM = 1.0
SMALL = 2000
SMALL_REPORT = (1, 60)  # models, rows
LARGE_REPORT = (6, 300)
LONGEST_S = 60.0  # a result that takes longer is not waited for
ONCE_S = 5.0  # what takes longer is measured once
NOTHING = "-"

View = Mapping[str, Any]
Child = Callable[..., Mapping[str, View]]
Found = Mapping[str, Sequence[View]]  # by what a view is: drawn, result, again


def measure(work: Path, *, quick: bool) -> Section:
    """Open every page, and use those of the validation study, each time in a new process."""
    answers, repeats = (SMALL, 1) if quick else (1_000_000, 3)
    call = caller(quick=quick)
    files = {"small": str(filled(work, SMALL)), "large": str(filled(work, answers))}
    rows: list[tuple[str, ...]] = []
    slow: list[str] = []
    for page, analysis in _quick_views() if quick else _views():
        name = f"{page}: {analysis}" if analysis else page
        order = {"page": page, "analysis": analysis, "longest_s": LONGEST_S, **files}
        found = _viewed(partial(call, page_views.views, **order), repeats)
        rows.append(_line(name, found))
        slow += _reasons(name, found)
    models, contexts = SMALL_REPORT if quick else LARGE_REPORT
    files = {
        "small": str(validation_study.filled(work, *SMALL_REPORT)),
        "large": str(validation_study.filled(work, models, contexts)),
    }
    for name, steps in (
        ("validation study, validation_report", page_views.report_views),
        ("validation study, factors: cfa", page_views.model_views),
    ):
        kinds = ("result",) if quick else ("drawn", "result")
        for step, found in _used(partial(call, steps, **files), repeats, kinds).items():
            rows.append(_line(f"{name}, {step}", found))
            slow += _reasons(f"{name}, {step}", found)
    return Section(
        "Pages",
        f"Each page of a database with {answers:,} answers, drawn by Streamlit's AppTest in a new "
        "process with packages loaded and nothing cached; then the pages of a validation study "
        f"({models} models x two kinds of contexts x {contexts} rows x 22 items x three forms). "
        "It leaves out what the browser does. A page waits a moment for the result of an analysis "
        "and then shows how far it is: 'first draw' is until something can be seen, 'result' "
        f"until the tables and charts are. Aim: under {AIM:g} s; what takes longer is bold, and "
        "below stands what the result waits for.",
        ("Page", "first draw, s", "result, s", "the same view again, s"),
        rows,
        (
            *slow,
            f"Medians of {repeats}; what took over {ONCE_S:g} s was measured once, and a result "
            f"was waited for {LONGEST_S:g} s at most.",
        ),
        ("streamlit", "duckdb", "pandas", "altair"),
    )


def _quick_views() -> list[tuple[str, str]]:
    """A page without analyses, and one of an analysis that its page is named after."""
    from core.workflow.statistics import analyses

    first = next(one for one in analyses.all_analyses() if one.topic == one.name)
    return [("home", ""), (first.topic, first.name)]


def _views() -> list[tuple[str, str]]:
    """Every page, and the pages of analyses once for each of theirs."""
    from core.workflow.statistics import analyses

    found: list[tuple[str, str]] = []
    folder = ROOT / "pages"
    pages = {path.stem for path in folder.glob("[!_]*.py")}
    pages |= {path.parent.name for path in folder.glob("*/page.py")}
    for page in sorted(pages):
        own = [analysis.name for analysis in analyses.all_analyses() if analysis.topic == page]
        found += [(page, name) for name in own or [""]]
    return found


def _viewed(child: Child, repeats: int) -> Found:
    """Views of a page by what they are (see `page_views.views`)."""
    found: defaultdict[str, list[View]] = defaultdict(list)
    for _ in range(repeats):
        run = child()
        for kind, view in (run if "drawn" in run else {**run, **child(only_drawn=True)}).items():
            found[kind].append(view)
        if any(view["seconds"] > ONCE_S for view in run.values()):
            break
    return found


def _used(child: Child, repeats: int, kinds: Sequence[str]) -> dict[str, Found]:
    """Steps of using a page: each as users have it, and with patience until its result."""
    found: defaultdict[str, defaultdict[str, list[View]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(repeats):
        for kind in kinds:
            run = child(patience=LONGEST_S if kind == "result" else None)
            for step, view in run.items():
                found[step][kind].append(view)
        if any(view["seconds"] > ONCE_S for view in run.values()):
            break
    return dict(found)


def _line(name: str, found: Found) -> tuple[str, ...]:
    """A row of the table: what a view took."""
    every = [view for views in found.values() for view in views]
    note = (
        " (error on the page)"
        if any(view["problems"] for view in every)
        else " (asks for other answers)"
        if any(view["asks"] for view in every)
        else ""
    )
    shown = [_shown(found[kind]) if kind in found else NOTHING for kind in ("drawn", "result")]
    return (name + note, *shown, figure(_middle(found["again"])) if "again" in found else NOTHING)


def _shown(views: Sequence[View]) -> str:
    """Seconds of views, bold where they are too many."""
    seconds = _middle(views)
    if seconds >= LONGEST_S:
        return f"**over {LONGEST_S:g}**"
    return f"**{figure(seconds)}**" if seconds > AIM else figure(seconds)


def _middle(views: Sequence[View]) -> float:
    return median(view["seconds"] for view in views)


def _reasons(name: str, found: Found) -> list[str]:
    """What a slow view spent most time on, in words."""
    views = sorted(found.get("result") or found["drawn"], key=lambda view: view["seconds"])
    view = views[len(views) // 2]
    if view["seconds"] <= AIM or view["seconds"] >= LONGEST_S:
        return []
    parts: Sequence[tuple[str, float]] = sorted(view["parts"].items(), key=lambda p: -p[1])[:3]
    rest = view["seconds"] - sum(view["parts"].values())
    named = [f"`{called}` {figure(seconds)} s" for called, seconds in parts if seconds > 0.05]
    return [f"{name}: {', '.join([*named, f'drawing and the rest {figure(rest)} s'])}"]
