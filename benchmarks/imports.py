"""A wide SPSS file: its reading beside pyreadstat alone, and the import of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure

AIM = 20.0
"""CPU-seconds for the import of 20,000 people x 300 items."""
READ = (20_000, 300)


def measure(work: Path, *, quick: bool) -> Section:
    """Read a wide file with pyreadstat, then with Inkblot, then import one, in new processes."""
    call = caller(quick=quick)
    read_size = imported_size = (50, 10) if quick else READ
    repeats = 1 if quick else 3
    files = {
        size: call(write_file, folder=str(work), people=size[0], items=size[1])["path"]
        for size in {read_size, imported_size}
    }
    reads = [call(reading, path=files[read_size]) for _ in range(repeats)]
    one = {name: median(run[name] for run in reads) for name in reads[0]}
    whole = call(importing, path=files[imported_size], database=str(work / "imports.duckdb"))
    millions = imported_size[0] * imported_size[1] / 1e6
    per_million = whole["cpu"] / millions
    aimed = READ[0] * READ[1] / 1e6
    table = [
        ("pyreadstat alone", figure(one["alone"]), figure(one["alone_cpu"]), "1"),
        (
            "Inkblot: values, labels and missing values as text",
            figure(one["ours"]),
            figure(one["ours_cpu"]),
            figure(one["ours_cpu"] / one["alone_cpu"]),
        ),
        (
            f"Import of {imported_size[0]:,} people, mapping guessed",
            figure(whole["seconds"]),
            f"**{figure(whole['cpu'])}**" if per_million * aimed > AIM else figure(whole["cpu"]),
            "-",
        ),
    ]
    return Section(
        "Wide SPSS files",
        f"A .sav file of {read_size[0]:,} people x {read_size[1]} items with labels and "
        f"user-missing values. The import keeps one answer a row. Aim: {aimed:g} million answers "
        f"under {AIM:g} CPU-s; what misses it is bold.",
        ("", "s", "CPU-s", "CPU-s / pyreadstat's"),
        table,
        (
            f"The import takes {figure(per_million)} CPU-s for a million answers, most of it in "
            "the database, and at its peak "
            f"{figure(whole['peak_mb'])} MB.",
        ),
        ("duckdb", "pandas", "pyarrow", "pyreadstat"),
    )


def write_file(*, folder: str, people: int, items: int) -> Mapping[str, Any]:
    """A wide file of random answers from 1 to 5, one in a hundred missing for a stated reason."""
    import numpy as np
    import pandas as pd
    import pyreadstat

    draw = np.random.default_rng(1)
    values = draw.integers(1, 6, (people, items)).astype(float)
    values[draw.random((people, items)) < 0.01] = -9
    frame = pd.DataFrame(values, columns=[f"i{number}" for number in range(1, items + 1)])
    frame.insert(0, "person", [f"p{number}" for number in range(people)])
    labels = {1: "Strongly disagree", 5: "Strongly agree", -9: "No answer"}
    path = Path(folder) / f"wide_{people}_{items}.sav"
    asked = frame.columns[1:]
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels=dict.fromkeys(asked, labels),
        missing_ranges={name: [{"lo": -9, "hi": -9}] for name in asked},
    )
    return {"path": str(path)}


def reading(*, path: str) -> Mapping[str, Any]:
    """Seconds of pyreadstat alone, and of Inkblot's reader of columns, on the same file."""
    import pyreadstat

    from core.workflow.answers import mappings

    data = Path(path).read_bytes()
    with Stopwatch() as alone:
        pyreadstat.read_sav(path, user_missing=True)
    with Stopwatch() as ours:
        mappings.open_file(Path(path).name, data)
    return {
        "alone": alone.seconds,
        "alone_cpu": alone.cpu,
        "ours": ours.seconds,
        "ours_cpu": ours.cpu,
    }


def importing(*, path: str, database: str) -> Mapping[str, Any]:
    """Seconds of guessing the mapping and importing the file; the most memory of the process."""

    from core.workflow.answers import imports, mappings
    from core.workflow.opening import open_workspace

    file = Path(path)
    data = file.read_bytes()
    workspace = open_workspace(Path(database))
    with Stopwatch() as watch:
        opened = mappings.open_file(file.name, data)  # held until the end, as the page does
        mapping = mappings.guessed(workspace, opened)
        imports.import_tidy(workspace, file.name, data, mapping=mapping)
    workspace.close()
    peak = machine.memory_peak() / 1e6
    return {"seconds": watch.seconds, "cpu": watch.cpu, "peak_mb": peak}
