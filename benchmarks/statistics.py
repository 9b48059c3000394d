"""What item statistics cost, against correlations in pandas, and against R's psych."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import r, validation_study
from benchmarks.processes import Stopwatch, caller
from benchmarks.psychometrics import compare
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled

TOLERANCE = 1e-9


def measure(work: Path, *, quick: bool) -> Section:
    """Item statistics of one database, each time in a new process."""
    answers, repeats = (2000, 1) if quick else (1_000_000, 3)
    call = caller(quick=quick)
    path = filled(work, answers)
    runs = [call(both, path=str(path)) for _ in range(repeats)]
    largest = max(run["difference"] for run in runs)
    if largest > TOLERANCE:
        raise RuntimeError(f"the two discriminations differ by {largest}")
    whole, read, plain = (median(run[name] for run in runs) for name in _PARTS)
    pandas = read + plain
    rows = [
        ("Inkblot, from file to tables", figure(whole), ratio(whole, pandas)),
        ("pandas, from file to discriminations", figure(pandas), "1"),
        ("- of which reading the rows by SQL", figure(read), figure(read / pandas)),
        ("- of which the correlations", figure(plain), figure(plain / pandas)),
    ]
    notes = [f"Both give the same discriminations; the largest difference is {largest:.1g}."]
    if r.has("psych"):
        expected = call(write_csv, path=str(path), folder=str(work))
        found = _by_r(work, expected, repeats)
        by_r, r_read = (median(run.numbers[f"{part} s"] for run in found) for part in _R_PARTS)
        rows += [
            ("R's psych::alpha, from file to item statistics", figure(by_r), figure(by_r / pandas)),
            ("- of which reading the file", figure(r_read), figure(r_read / pandas)),
        ]
        rows += [("Inkblot to R, both from file", "", ratio(whole, by_r))]
        notes.append(
            f"{r.versions('psych')} reads a file of one row for each administration, finds the "
            "same discriminations, and is timed without its start "
            f"({figure(median(run.start_up for run in found))} s)."
        )
    return Section(
        "Item statistics",
        f"{answers:,} answers ({answers // 20:,} administrations of 20 items on two subscales, "
        "five respondents side by side), from the database file to finished tables, against the "
        "discriminations alone by `DataFrame.pivot` and one `Series.corr` per item, on rows that "
        "the same database gives.",
        ("", "s", "ratio to pandas"),
        rows,
        (
            *notes,
            "Inkblot's tables also hold means, variances, intervals, alpha if dropped and counts "
            f"of what is missing. Medians of {repeats}.",
            "pandas comes after Inkblot in the same process, with the packages loaded and the file "
            "in the system's memory.",
        ),
        ("duckdb", "pandas", "numpy"),
    )


def _by_r(work: Path, expected: Mapping[str, Any], repeats: int) -> list[r.Ran]:
    """Runs of R on the same scores, of which the first is compared."""
    subscales = ";".join(",".join(items) for items in expected["subscales"])
    found = [r.run("item_statistics.R", work / "answers.csv", subscales) for _ in range(repeats)]
    theirs = {name: value for name, value in found[0].numbers.items() if "/" in name}
    compare("discrimination", expected["numbers"], theirs, TOLERANCE)
    return found


_COMPLETE = {"missing": "listwise"}
"""As the others do it, on complete administrations."""
_PARTS = ("whole", "read", "plain")
_R_PARTS = ("script", "read")


def write_csv(*, path: str, folder: str) -> Mapping[str, Any]:
    """The scores as a file for R, and Inkblot's discriminations and subscales."""
    from core.store import frames
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    workspace = open_workspace(path)
    frame = frames.item_scores(workspace.database, [STUDY], {})
    validation_study.wide(frame, ("respondent",)).to_csv(Path(folder, "answers.csv"), index=False)
    result = analyses.run(workspace, "item_statistics", [STUDY], _COMPLETE, {}, ())
    workspace.close()
    table = result.tables[0].frame
    items = frame.drop_duplicates("item").groupby("subscale", observed=True)["item"]
    rows = zip(table["respondent"], table["item"], table["discrimination"], strict=True)
    return {
        "subscales": [list(map(str, own)) for _, own in items],
        "numbers": {f"{respondent}/{item}": value for respondent, item, value in rows},
    }


def both(*, path: str) -> Mapping[str, float]:
    """Seconds of each way, and the largest difference between their discriminations."""
    from core.store import frames
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    workspace = open_workspace(path)
    with Stopwatch() as whole:
        result = analyses.run(workspace, "item_statistics", [STUDY], _COMPLETE, {}, ())
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
        "plain": plain.seconds,
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
