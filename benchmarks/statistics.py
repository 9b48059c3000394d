"""What item statistics cost, against a pivot and a loop of correlations in pandas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled

TOLERANCE = 1e-9


def measure(work: Path, *, quick: bool) -> Section:
    """Item statistics of one database, each time in a new process."""
    answers, repeats = (2000, 1) if quick else (1_000_000, 3)
    path = filled(work, answers)
    runs = [in_child(both, path=str(path)) for _ in range(repeats)]
    largest = max(run["difference"] for run in runs)
    if largest > TOLERANCE:
        raise RuntimeError(f"the two discriminations differ by {largest}")
    whole, read, own, pandas = (median(run[name] for run in runs) for name in _PARTS)
    return Section(
        "Item statistics",
        f"{answers:,} answers ({answers // 20:,} administrations of 20 items on two subscales, "
        "five respondents side by side), from the database file to finished tables, against the "
        "discriminations alone by `DataFrame.pivot` and one `Series.corr` per item on the frame "
        "already read.",
        ("", "s", "ratio to pandas"),
        (
            ("Inkblot, from file to tables", figure(whole), ratio(whole, pandas)),
            ("- of which reading the frame", figure(read), figure(read / pandas)),
            ("- of which checking and statistics", figure(own), ratio(own, pandas)),
            ("pandas, frame already read", figure(pandas), "1"),
        ),
        (
            f"Both give the same discriminations; the largest difference is {largest:.1g}.",
            "Inkblot's tables also hold means, variances, intervals, alpha if dropped and counts "
            f"of what is missing. Medians of {repeats}.",
        ),
        ("duckdb", "pandas", "numpy"),
    )


_PARTS = ("whole", "read", "own", "pandas")


def both(*, path: str) -> Mapping[str, float]:
    """Seconds of each way, and the largest difference between their discriminations."""
    from core.store import frames
    from core.workflow import statistics
    from core.workflow.workspace import open_workspace

    workspace = open_workspace(path)
    with Stopwatch() as whole:
        result = statistics.run(workspace, "item_statistics", [STUDY], {}, {})
    with Stopwatch() as reading:
        frame = frames.item_scores(workspace.database, [STUDY], {})
    with Stopwatch() as plain:
        expected = correlations(frame)
    workspace.close()
    items = result.tables[0].frame.set_index(["respondent", "item"])["discrimination"]
    if set(items.index) != set(expected):
        raise RuntimeError("the two do not cover the same items")
    return {
        "whole": whole.seconds,
        "read": reading.seconds,
        "own": whole.seconds - reading.seconds,
        "pandas": plain.seconds,
        "difference": max(abs(items[key] - r) for key, r in expected.items()),
    }


def correlations(frame: Any) -> dict[tuple[str, str], float]:
    """Discrimination of every item for every respondent, as one would write it in a notebook."""
    found = {}
    for (respondent, _), part in frame.groupby(["respondent", "subscale"], observed=True):
        wide = part.pivot(index="administration", columns="item", values="score").dropna()
        total = wide.sum(axis=1)
        for item in wide.columns:
            found[respondent, item] = wide[item].corr(total - wide[item])
    return found
