"""What a view of the page Explore costs, against pandas on the exported rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled

TOLERANCE = 1e-9
AIM = 1.0
FACTORS = ("item", "respondent", "language")  # axis, color, panel
MEASURES = ("mean_score", "option_share", "refused", "entropy", "tokens_in")
OPTION = "4"


def measure(work: Path, *, quick: bool) -> Section:
    """Views of one database, each time in a new process."""
    answers, repeats = (2000, 1) if quick else (100_000, 3)
    call = caller(quick=quick)
    path = filled(work, answers)
    runs = [call(views, path=str(path)) for _ in range(repeats)]
    largest = max(run["difference"] for run in runs)
    if largest > TOLERANCE:
        raise RuntimeError(f"the two ways differ by {largest}")
    rows: list[tuple[str, ...]] = []
    for name in MEASURES:
        (first, _), (again, own_cpu), (pandas, cpu) = (
            [median(run[name][part][one] for run in runs) for one in ("seconds", "cpu")]
            for part in ("first", "again", "pandas")
        )
        shown = f"**{figure(first)}**" if first > AIM else figure(first)
        ratios = ratio(again, pandas), ratio(own_cpu, cpu)
        rows.append((name, shown, figure(again), figure(own_cpu), figure(pandas), *ratios))
    export = median(run["export"] for run in runs)
    return Section(
        "Explore",
        f"A view of the page Explore of {answers:,} answers: one measure by item, respondent and "
        "language, from the database file to the finished table with its intervals, against "
        "`DataFrame.groupby` of the exported rows, already read, with the same mean, SD and counts "
        f"and no interval. Aim: under {AIM:g} s.",
        (
            "Measure",
            "first view, s",
            "again, s",
            "again, CPU-s",
            "pandas, s",
            "ratio of s, again to pandas",
            "of CPU-s",
        ),
        rows,
        (
            "Both ways give the same numbers. Reading the rows for pandas comes on top: "
            f"{figure(export)} s.",
            "Until 27 November 2026 intervals took answers as independent. With contexts as units, "
            "a view takes about 1.5 times the CPU-s (0.11 before, 0.17 after, of a mean score).",
            f"Medians of {repeats}. The first view of a process reads the file; the measures "
            "follow each other in the order of the table. The page counts a view once until the "
            "answers change.",
        ),
        ("duckdb", "pandas"),
    )


def views(*, path: str) -> Mapping[str, Any]:
    """Seconds of each measure in both ways, and the largest difference of their numbers."""
    from core.store import answers, studies
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import explore

    workspace = open_workspace(path)
    study_id = studies.get(workspace.database, STUDY).study_id
    found: dict[str, Any] = {}
    tables = {}
    for name in MEASURES:
        option = OPTION if name == "option_share" else ""
        view = explore.View(name, *FACTORS, option=option)
        with Stopwatch() as first:
            explore.count_view(workspace, STUDY, view)
        with Stopwatch() as again:
            table = explore.count_view(workspace, STUDY, view)
        found[name] = {"first": first.figures, "again": again.figures}
        tables[name] = table.frame.set_index(list(FACTORS))["value"]
    with Stopwatch() as export:
        rows = answers.tidy(workspace.database, study_id).to_pandas()
    workspace.close()
    rows = rows.rename(columns={"model": "respondent"})
    differences = []
    for name in MEASURES:
        with Stopwatch() as plain:
            expected = by_pandas(rows, name)
        found[name]["pandas"] = plain.figures
        if set(tables[name].index) != set(expected.index):
            raise RuntimeError("the two do not cover the same answers")
        differences.append(float((tables[name] - expected).abs().max()))
    return {**found, "export": export.seconds, "difference": max(differences)}


def by_pandas(rows: Any, name: str) -> Any:
    """The measure for each combination of levels, as one would write it in a notebook."""
    keys = list(FACTORS)
    if name in ("mean_score", "tokens_in"):
        column = "score" if name == "mean_score" else name
        return rows.groupby(keys)[column].agg(["mean", "std", "count"])["mean"]
    if name == "refused":
        return (rows["status"] == "refused").groupby([rows[key] for key in keys]).mean()
    chosen = rows[rows["answer"] != ""]
    if name == "option_share":
        return (chosen["answer"] == OPTION).groupby([chosen[key] for key in keys]).mean()
    import numpy as np

    shares = chosen.groupby(keys)["answer"].value_counts(normalize=True)
    return -(shares * np.log2(shares)).groupby(level=keys).sum()
