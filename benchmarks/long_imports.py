"""Ten million answers imported as one study, beside the insert of the same rows by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure

AIM = 100.0
"""CPU-seconds for the import of ten million answers, a row each."""
ROWS = 10_000_000
GROWTH = 1.15
"""The tenth million may cost so many times the first."""


def measure(work: Path, *, quick: bool) -> Section:
    """Ten million answers of people from Parquet, beside the insert of the same rows by DuckDB."""
    call = caller(quick=quick)
    n_rows = 20_000 if quick else ROWS
    path = call(write_file, folder=str(work), n_rows=n_rows)["path"]
    alone = call(inserting, path=path, database=str(work / "alone.duckdb"))
    runs = [
        call(importing, path=path, database=str(work / f"long{number}.duckdb"))
        for number in range(1 if quick else 3)
    ]
    whole = sorted(runs, key=lambda run: float(run["cpu"]))[len(runs) // 2]
    growths = sorted(run["last"] / run["first"] if run["first"] else 1.0 for run in runs)
    growth = growths[len(runs) // 2]
    cpu = figure(whole["cpu"])
    table = [
        (
            "DuckDB: the rows of the file into one table of texts",
            figure(alone["seconds"]),
            figure(alone["cpu"]),
            figure(alone["bytes"] / n_rows),
            "1",
        ),
        (
            "Inkblot: every row checked, then saved",
            figure(whole["seconds"]),
            f"**{cpu}**" if whole["cpu"] > AIM else cpu,
            figure(whole["bytes"] / n_rows),
            figure(whole["cpu"] / alone["cpu"]),
        ),
    ]
    return Section(
        "Ten million answers",
        f"A Parquet file of {n_rows:,} answers of people to 22 items, a row each, imported as one "
        f"study. Aim: under {AIM:g} CPU-s, 2 GB and 60 bytes an answer; what misses it is "
        "bold.",
        ("", "s", "CPU-s", "bytes an answer in the database", "CPU-s / DuckDB's"),
        table,
        (
            f"At its peak {figure(whole['peak_mb'])} MB. The last million takes {figure(growth)} "
            f"times the CPU-s of the first (aim: at most {GROWTH:g}; {figure(growths[0])} to "
            f"{figure(growths[-1])} in {len(runs)} imports, of which the figures are medians).",
            "Until November 2026 a study had at most 1,500,000 rows; ten million answers in seven "
            "studies took a database of 200 bytes an answer, and a million more was saved in "
            "8.0 s into an empty database and in 14.8 s into a full one.",
        ),
        ("duckdb", "pandas", "pyarrow"),
    )


def write_file(*, folder: str, n_rows: int) -> Mapping[str, Any]:
    """A long file of answers from 1 to 5 that share a trait, 22 items to a person."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(1)
    people = n_rows // 22 + 1
    person = np.repeat(np.arange(people), 22)[:n_rows]
    item = np.tile(np.arange(22), people)[:n_rows]
    trait = draw.normal(size=people)[person] + draw.normal(size=n_rows)
    answer = np.clip(np.round(3 + trait), 1, 5).astype(int)
    columns = {
        "item": pa.array([f"i{number:02}" for number in range(1, 23)]).take(pa.array(item)),
        "model": pa.array([f"model_{number}" for number in range(4)]).take(pa.array(person % 4)),
        "repetition": pa.array(person // 4 + 1),
        "answer": pa.array(answer).cast(pa.string()),
        "format": pa.array(["likert_5"] * n_rows),
    }
    path = Path(folder) / "long.parquet"
    pq.write_table(pa.table(columns), path)
    return {"path": str(path)}


def inserting(*, path: str, database: str) -> Mapping[str, Any]:
    """Seconds of DuckDB for the rows of a Parquet file into one table, and the file's size."""
    import duckdb

    with Stopwatch() as watch, duckdb.connect(database) as connection:
        connection.execute("create table answer as select * from read_parquet(?)", [path])
    return {
        "seconds": watch.seconds,
        "cpu": watch.cpu,
        "bytes": Path(database).stat().st_size,
    }


def importing(*, path: str, database: str) -> Mapping[str, Any]:
    """Seconds of the import of a long file, and of its first and last million saved rows."""
    import time

    from core import progress
    from core.workflow.answers import imports
    from core.workflow.opening import open_workspace

    workspace = open_workspace(Path(database))
    saved: list[tuple[int, float]] = []

    def note(done: int, _total: int, unit: str) -> None:
        if unit == "rows saved":
            saved.append((done, time.process_time()))

    with Stopwatch() as watch, progress.watch(note):
        (study,) = imports.import_tidy(workspace, "long.parquet", Path(path))
    saved.append((study.n_rows, time.process_time()))
    workspace.close()
    most = min(1_000_000, study.n_rows)
    first = next((at - saved[0][1] for done, at in saved if done >= most), 0.0)
    earlier = [at for done, at in saved if done <= study.n_rows - most]
    last = saved[-1][1] - (earlier[-1] if earlier else saved[0][1])
    peak = machine.memory_peak() / 1e6
    return {
        "seconds": watch.seconds,
        "cpu": watch.cpu,
        "peak_mb": peak,
        "first": first,
        "last": last,
        "bytes": Path(database).stat().st_size,
    }
