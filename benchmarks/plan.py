"""What freezing a plan costs, against crossing the same factors with pandas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import ITEMS, PERSONAS, large_design


def measure(work: Path, *, quick: bool) -> Section:
    """Freeze and cross plans of growing size, in turns."""
    sizes, repeats = ((2000,), 1) if quick else ((100_000, 1_000_000), 3)
    rows = []
    for trials in sizes:
        found: dict[str, list[Mapping[str, float]]] = {"ours": [], "theirs": []}
        for number in range(repeats):
            path = work / f"plan_{trials}_{number}.duckdb"
            found["ours"].append(in_child(freeze, path=str(path), trials=trials))
            path.unlink()
            found["theirs"].append(
                in_child(cross, path=str(path.with_suffix(".parquet")), trials=trials)
            )
            path.with_suffix(".parquet").unlink()
        ours, theirs = (
            {k: median(run[k] for run in runs) for k in _KEYS} for runs in found.values()
        )
        rows.append(
            (
                f"{trials:,}",
                *(figure(ours[k]) for k in _KEYS),
                *(figure(theirs[k]) for k in _KEYS),
                *(ratio(ours[k], theirs[k]) for k in _KEYS),
            )
        )
    return Section(
        "Plan",
        "Freezing a design (checks, publishing the bank, crossing, ids by hash, order of asking, "
        "search for equal ids, plan hash, and writing, all in one transaction) against "
        '`pandas.merge(how="cross")` of the same factors written by `to_parquet`, which has '
        "neither ids nor keys nor checks.",
        ("Trials", "Inkblot s", "CPU-s", "pandas s", "CPU-s", "ratio of s", "of CPU-s"),
        rows,
        (f"Medians of {repeats}, each in a new process and a new file.",),
        ("duckdb", "pandas", "pyarrow"),
    )


_KEYS = ("seconds", "cpu")


def freeze(*, path: str, trials: int) -> Mapping[str, float]:
    """Freeze a plan in a new database."""
    from core.workflow.designs import studies
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    design = large_design(path, trials, 1)
    with Stopwatch() as watch:
        record = studies.freeze(workspace, design)
    if record.n_trials != trials:
        raise RuntimeError(f"{record.n_trials} trials instead of {trials}")
    workspace.close()
    return watch.figures


def cross(*, path: str, trials: int) -> Mapping[str, float]:
    """Cross the same factors with pandas and write them to a Parquet file."""
    import pandas as pd

    personas = min(PERSONAS, trials // (ITEMS * 2))
    factors = {
        "repetition": range(1, trials // (ITEMS * personas) + 1),
        "respondent": ["Simulated 1"],
        "language": ["en"],
        "entity": [""],
        "context": [f"p{n:04}" for n in range(1, personas + 1)],
        "item": [f"item{n:02}" for n in range(1, ITEMS + 1)],
    }
    pd.DataFrame({"warm": ["up"]}).to_parquet(path)
    with Stopwatch() as watch:
        plan = pd.DataFrame({"form": ["original"], "template": ["standard"], "phase": ["initial"]})
        for name, levels in factors.items():
            plan = plan.merge(pd.DataFrame({name: list(levels)}), how="cross")
        plan.to_parquet(path)
    if len(plan) != trials:
        raise RuntimeError(f"{len(plan)} trials instead of {trials}")
    return watch.figures
