"""What counting the options of ten million answers costs, and resampling many cells."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks import machine
from benchmarks.processes import Stopwatch, caller, in_child
from benchmarks.report import Section, figure, ratio

COLD_AIM, WARM_AIM, MEMORY_AIM = 3.0, 1.0, 2000.0
TOLERANCE = 1e-12
LANGUAGES = ("en", "de", "fr", "es")
FACTORS = ("model", "language", "phase")
CELL = ("study", *FACTORS, "item", "option", "status")
TEMPLATE = "opposing"
MB = 1e6

# Answers are hashes of their trials' keys: random enough, and the same every time.
_RESPONSES = """
insert into response (trial_id, study_id, attempt_id, status, option, parser, tries)
select trial_id, study_id, trial_id, case when r >= 97 then 'refused' else 'answered' end,
    case when r >= 97 then null when r >= 90 then 'neutral' when r >= 35 then 'yes' else 'no' end,
    1, 1
from (select *, hash(trial_id) % 100 as r from trial)
where trial_id not in (select trial_id from response) order by study_id, ordinal
"""
_ATTEMPTS = """
insert into attempt
select r.trial_id, r.study_id, t.call_id, 1, t.item_id, 1,
    timestamptz '2026-01-01 00:00:00+00' + to_milliseconds(t.ordinal), 0.2, 'reply', null, '',
    'stop', 'model-snapshot', 90, 1, 0.0, false
from response r join trial t using (trial_id)
order by t.study_id, t.ordinal
"""
_FINISHED = """
insert into run_event (study_id, reported_at, kind, process, detail)
select study_id, now(), 'finished', 'benchmark', '{}' from study
"""


_ROWS = """
select s.code as study, p.model, a.language, a.phase, i.code as item,
    coalesce(r.option, '') as option, r.status
from trial t join administration a using (administration_id) join item i using (item_id)
    join respondent p using (respondent_id) join response r using (trial_id)
    join study s on s.study_id = t.study_id
where s.code = ?
"""


def measure(work: Path, *, quick: bool) -> Section:
    """Count the same answers in both ways, and resample; each time in a new process."""
    studies, items, repetitions, repeats = (2, 6, 4, 1) if quick else (10, 539, 232, 3)
    units, cells, resamples = (6, 20, 50) if quick else (539, 928, 1000)
    call = caller(quick=quick)
    path = filled(work, studies=studies, items=items, repetitions=repetitions)
    rows = work / "counts.parquet"
    n_answers = in_child(write_rows, path=str(path), rows=str(rows))
    ours, theirs, opinions, resampling = [], [], [], []
    for _ in range(repeats):
        ours.append(call(counted, path=str(path), out=str(work / "ours.parquet")))
        theirs.append(call(by_pandas, rows=str(rows), out=str(work / "theirs.parquet")))
        check_same(work / "ours.parquet", work / "theirs.parquet", n_answers)
        opinions.append(call(analyzed, path=str(path)))
        resampling.append(call(resampled, units=units, cells=cells, resamples=resamples))
    n_counts = ours[0]["n_counts"]
    own, pandas, analysis, drawn = map(_medians, (ours, theirs, opinions, resampling))
    table = [
        _row("Counts, first in a new process", own, "first", pandas, COLD_AIM),
        _row("- counted anew with coins", own, "anew", pandas),
        _row("- the same counts again", own, "again", pandas, WARM_AIM),
        _row(
            "`opinions` by model and language, first in a new process",
            analysis,
            "first",
            pandas,
            COLD_AIM,
        ),
        _row(
            "- the same analysis with another confidence level", analysis, "again", pandas, WARM_AIM
        ),
        _row("pandas, from Parquet to counts", pandas, "whole", pandas),
        ("- of which reading", figure(pandas["read"]), figure(pandas["read_cpu"]), "", "", ""),
        (
            "Resampling: `resampled_means` and intervals",
            figure(drawn["ours"]),
            figure(drawn["ours_cpu"]),
            figure(drawn["ours_peak"] / MB),
            "",
            "",
        ),
        (
            "- numpy, one resample after the other",
            figure(drawn["numpy"]),
            figure(drawn["numpy_cpu"]),
            "",
            "",
            "",
        ),
        (
            "- Ratio",
            ratio(drawn["ours"], drawn["numpy"]),
            ratio(drawn["ours_cpu"], drawn["numpy_cpu"]),
            "",
            "",
            "",
        ),
    ]
    return Section(
        "Counts of options",
        f"{n_answers:,} answers in {studies} studies analyzed together (one model each, "
        f"{len(LANGUAGES)} languages, {items} items, two phases, {repetitions} repetitions), from "
        f"the database file to {n_counts:,} counts kept apart by model, language and phase. "
        "Against `DataFrame.groupby` of the same rows from Parquet. Then "
        f"{resamples:,} resamples of {units} items with {cells} values each. "
        f"Aim: first view under {COLD_AIM:g} s, again under {WARM_AIM:g} s, memory under "
        f"{MEMORY_AIM / 1000:g} GB; what misses it is bold.",
        ("", "s", "CPU-s", "peak memory, MB", "ratio of s to pandas", "of CPU-s"),
        table,
        (
            "Both ways give the same counts, and both resamplings the same means.",
            f"Medians of {repeats}, in turns. Packages are loaded before (some 2 s); the file is "
            "in the cache of the system. Two threads of DuckDB need as many free cores: on a "
            "shared machine, the processor time says more than the seconds.",
            "Counts stay in memory until the answers change. 'Again' looks only whether they "
            "have; 'anew' is what another choice of factors takes in the same process.",
        ),
        ("duckdb", "pandas", "pyarrow", "numpy"),
    )


def _medians(runs: list[Mapping[str, float]]) -> dict[str, float]:
    return {name: median(run[name] for run in runs) for name in runs[0]}


def _row(
    name: str, run: Mapping[str, float], part: str, pandas: Mapping[str, float], aim: float = 0.0
) -> tuple[str, ...]:
    """A way of counting: seconds, processor seconds, memory, and both ratios to pandas."""
    seconds, cpu, peak = run[part], run[f"{part}_cpu"], run[f"{part}_peak"] / MB
    return (
        name,
        _bold(seconds, aim),
        figure(cpu),
        _bold(peak, MEMORY_AIM if aim else 0.0),
        ratio(seconds, pandas["whole"]),
        ratio(cpu, pandas["whole_cpu"]),
    )


def _bold(value: float, aim: float) -> str:
    return f"**{figure(value)}**" if aim and value > aim else figure(value)


def _figures(name: str, watch: Stopwatch) -> dict[str, float]:
    """Of one part: seconds, processor seconds, and the most memory held so far."""
    return {name: watch.seconds, f"{name}_cpu": watch.cpu, f"{name}_peak": machine.memory_peak()}


def counted(*, path: str, out: str) -> Mapping[str, float]:
    """Count by the frame that analyses read: first, with coins, and again."""
    from core.store import frames
    from core.workflow.opening import open_workspace

    with Stopwatch() as first:
        workspace = open_workspace(path)
        codes = [code for (code,) in workspace.database.rows("select code from study")]
        frame = frames.option_counts(workspace.database, codes, {}, factors=FACTORS)
    figures = _figures("first", first)
    with Stopwatch() as anew:
        frames.option_counts(workspace.database, codes, {}, factors=FACTORS, seed=1)
    figures |= _figures("anew", anew)
    with Stopwatch() as again:
        frames.option_counts(workspace.database, codes, {}, factors=FACTORS)
    figures |= _figures("again", again)
    workspace.close()
    frame[[*CELL, "count"]].to_parquet(out)
    return {**figures, "n_counts": len(frame)}


def analyzed(*, path: str) -> Mapping[str, float]:
    """An analysis of the counts, as a page and the command line run it."""
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    analyses.by_name("opinions")
    figures: dict[str, float] = {}
    for name, level in (("first", 0.95), ("again", 0.9)):
        with Stopwatch() as watch:
            workspace = open_workspace(path)
            codes = [code for (code,) in workspace.database.rows("select code from study")]
            options = {"by": ("model", "language"), "ci_level": level}
            analyses.run(workspace, "opinions", codes, options, {})
        figures |= _figures(name, watch)
    workspace.close()
    return figures


def by_pandas(*, rows: str, out: str) -> Mapping[str, float]:
    """The same counts as one would write it in a notebook."""
    import pandas as pd

    with Stopwatch() as whole:
        with Stopwatch() as read:
            frame = pd.read_parquet(rows)
        counts = frame.groupby(list(CELL), sort=False).size().rename("count").reset_index()
    counts.to_parquet(out)
    return {**_figures("whole", whole), **_figures("read", read)}


def check_same(ours: Path, theirs: Path, n_answers: int) -> None:
    """Raise where the two ways differ in a count."""
    import pandas as pd

    counts = [pd.read_parquet(file).astype({name: str for name in CELL}) for file in (ours, theirs)]
    own, other = (frame.set_index(list(CELL))["count"].sort_index() for frame in counts)
    if not own.equals(other) or own.sum() != n_answers:
        raise RuntimeError("the two ways differ in a count")


def resampled(*, units: int, cells: int, resamples: int) -> Mapping[str, float]:
    """Means of resampled units with their intervals, and the same in a loop over resamples."""
    import numpy as np

    from core.stats.resampling import Bootstrap, percentile_intervals, resampled_means

    values = np.random.default_rng(1).random((units, cells))
    with Stopwatch() as own:
        means = resampled_means(values, Bootstrap(resamples, seed=0))
        intervals = percentile_intervals(means, 0.95)
    figures = _figures("ours", own)
    with Stopwatch() as loop:
        generator = np.random.default_rng(0)
        draws = (generator.integers(units, size=units) for _ in range(resamples))
        expected = np.array([values[draw].mean(axis=0) for draw in draws])
        low = np.quantile(expected, 0.025, axis=0)
        np.quantile(expected, 0.975, axis=0)
    largest = max(abs(means - expected).max(), abs(intervals.low - low).max())
    if largest > TOLERANCE:
        raise RuntimeError(f"the two ways differ by {largest}")
    return {**figures, **_figures("numpy", loop)}


def write_rows(*, path: str, rows: str) -> int:
    """The answers as a Parquet file, one row each; how many there are."""
    import pyarrow.parquet as pq

    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    codes = workspace.database.rows("select code from study order by code")
    tables = (workspace.database.arrow(_ROWS, [code]) for (code,) in codes)
    first = next(tables)
    n_rows = first.num_rows
    with pq.ParquetWriter(rows, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
            n_rows += table.num_rows
    workspace.close()
    return n_rows


def filled(work: Path, *, studies: int, items: int, repetitions: int) -> Path:
    """A database with finished studies of one model each, in four languages and two phases."""
    path = work / f"counts_{studies}_{items}_{repetitions}.duckdb"
    if not path.exists():
        in_child(fill, path=str(path), studies=studies, items=items, repetitions=repetitions)
    return path


def fill(*, path: str, studies: int, items: int, repetitions: int) -> None:
    """Freeze the studies and answer both phases inside the database."""
    from dataclasses import replace

    from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
    from core.domain.study import Design
    from core.files.banks.reading import ImportedBank
    from core.workflow.banks import editing
    from core.workflow.designs import studies as designs
    from core.workflow.opening import open_workspace
    from core.workflow.respondents import catalog
    from tests.workflow.studies import service

    options = (("yes", 1, 1), ("neutral", 0, 0), ("no", -1, -1))
    bank = Instrument(
        "questions",
        "Questions",
        tuple(
            Item(f"q{n:03}", tuple(Wording(one, f"Question {n} ({one})?") for one in LANGUAGES))
            for n in range(1, items + 1)
        ),
        (ResponseFormat("opinion_3", tuple(Option(c, p, stance=s) for c, p, s in options)),),
        LANGUAGES,
    )
    workspace = open_workspace(path)
    editing.import_bank(workspace, ImportedBank(bank))
    codes = [f"study_{n:02}" for n in range(1, studies + 1)]
    for number, code in enumerate(codes, 1):
        label = f"model-{number}"
        person = replace(service("http://localhost", label), model=label)
        catalog.save(workspace, person)
        design = Design(
            study=code,
            instrument="questions",
            respondents=(person.label,),
            languages=LANGUAGES,
            repetitions=repetitions,
        )
        designs.freeze(workspace, design)
    with workspace.database.transaction() as cursor:
        cursor.execute(_RESPONSES)
    for code in codes:
        designs.plan_second_phase(workspace, code, TEMPLATE)
    with workspace.database.transaction() as cursor:
        cursor.execute(_RESPONSES)
        cursor.execute(_ATTEMPTS)
        cursor.execute(_FINISHED)
    workspace.database.checkpoint()
    workspace.close()
