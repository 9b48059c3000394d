"""What word association costs, against a loop of pandas over the same answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.processes import Stopwatch, caller, in_child
from benchmarks.report import Section, figure, ratio

AIM = 2.0
TOLERANCE = 1e-12
STUDY = "words"
MODELS = ("model-1", "model-2", "model-3")
SIZES = (10, 30, 50, 100)
BY = ("respondent", "items_per_call")
RESAMPLES = 1000
MB = 1e6


def measure(work: Path, *, quick: bool) -> Section:
    """Analyze the same answers in both ways, each time in a new process."""
    words, repeats = (40, 1) if quick else (5000, 3)
    call = caller(quick=quick)
    path, rows = work / f"words_{words}.duckdb", work / f"words_{words}.parquet"
    n_answers = in_child(fill, path=str(path), rows=str(rows), words=words)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(call(analyzed, path=str(path)))
        theirs.append(call(by_pandas, rows=str(rows)))
        check_same(ours[-1]["rates"], theirs[-1]["rates"])
    own, pandas = (
        {name: median(run[name] for run in runs) for name in runs[0] if name != "rates"}
        for runs in (ours, theirs)
    )
    table = [
        _row("First in a new process", own, "first", pandas, AIM),
        _row("- of which the tables, from counts", own, "tables", pandas),
        _row("- the same with another confidence level", own, "again", pandas, AIM),
        (
            "pandas, a loop over conditions",
            figure(pandas["whole"]),
            figure(pandas["whole_cpu"]),
            figure(pandas["whole_peak"] / MB),
            "1",
            "1",
        ),
        (
            "- of which resampling",
            figure(pandas["resampling"]),
            figure(pandas["resampling_cpu"]),
            "",
            "",
            "",
        ),
    ]
    return Section(
        "Word association",
        f"{n_answers:,} answers: {words:,} words x 2 tests x {len(MODELS) * len(SIZES)} conditions "
        f"({len(MODELS)} models, {len(SIZES)} numbers of words per call), from the database file "
        f"to all tables of `word_association` with {RESAMPLES:,} resamples of words: rates with "
        "intervals, top words, agreement of all pairs of conditions, and their comparison by "
        "10,000 permutations. Against a loop that groups the rows of each condition by word with "
        "`DataFrame.groupby`, from Parquet, and gives the five rates with intervals alone. Aim: "
        f"under {AIM:g} s; what misses it is bold.",
        ("", "s", "CPU-s", "peak memory, MB", "ratio of s to pandas", "of CPU-s"),
        table,
        (
            "Both ways give the same rates.",
            f"Medians of {repeats}, in turns. Packages are loaded before.",
        ),
        ("duckdb", "pandas", "pyarrow", "numpy", "statsmodels"),
    )


def _row(
    name: str, run: Mapping[str, float], part: str, pandas: Mapping[str, float], aim: float = 0.0
) -> tuple[str, ...]:
    """Seconds, processor seconds, memory, and both ratios to pandas."""
    seconds, cpu, peak = run[part], run[f"{part}_cpu"], run[f"{part}_peak"] / MB
    shown = f"**{figure(seconds)}**" if aim and seconds > aim else figure(seconds)
    return (
        name,
        shown,
        figure(cpu),
        figure(peak),
        ratio(seconds, pandas["whole"]),
        ratio(cpu, pandas["whole_cpu"]),
    )


def _figures(name: str, watch: Stopwatch) -> dict[str, float]:
    return {name: watch.seconds, f"{name}_cpu": watch.cpu, f"{name}_peak": machine.memory_peak()}


def analyzed(*, path: str) -> Mapping[str, Any]:
    """The analysis as a page and the command line run it."""
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses, bank_tables, frames

    analysis = analyses.by_name("word_association")
    figures: dict[str, Any] = {}
    for name, level in (("first", 0.95), ("again", 0.9)):
        with Stopwatch() as watch:
            workspace = open_workspace(path)
            options = {"by": BY, "ci_level": level, "resamples": RESAMPLES}
            result = analyses.run(workspace, "word_association", [STUDY], options, {})
        figures |= _figures(name, watch)
        workspace.close()
    rates = next(table.frame for table in result.tables if table.name == "groups")
    workspace = open_workspace(path)
    frame = frames.load_frame(workspace, analysis, [STUDY], {}, {"by": BY})
    tables = bank_tables.load(workspace, analysis, [STUDY])
    with Stopwatch() as watch:
        analysis.run(frame, by=BY, resamples=RESAMPLES, **tables)
    workspace.close()
    return {**figures, **_figures("tables", watch), "rates": _keyed(rates.to_dict("records"))}


_RATES = ("optimism", "pessimism", "neutrality", "consistency", "reluctancy")


def _keyed(records: list[dict[Any, Any]]) -> dict[str, list[float]]:
    return {
        f"{row['respondent']} {row['items_per_call']}": [float(row[rate]) for rate in _RATES]
        for row in records
    }


def by_pandas(*, rows: str) -> Mapping[str, Any]:
    """The rates of every condition, as one would write them in a notebook."""
    import numpy as np
    import pandas as pd

    records, spent = [], {"resampling": 0.0, "resampling_cpu": 0.0}
    with Stopwatch() as whole:
        frame = pd.read_parquet(rows)
        conditions = frame.groupby(["respondent", "items_per_call"], sort=False)
        for (respondent, size), own in conditions:
            by_word = own.groupby("item")["answer"]
            answers = by_word.agg(
                lambda tests: tests.iloc[0] if (tests == tests.iloc[0]).all() else "inconsistent"
            )
            neutral = by_word.agg(lambda tests: (tests == "").mean())
            parts = np.column_stack(
                [
                    answers == "comedy",
                    answers == "tragedy",
                    answers.isin(["", "inconsistent"]),
                    answers != "inconsistent",
                    neutral,
                ]
            ).astype(float)
            with Stopwatch() as watch:
                generator = np.random.default_rng(0)
                draws = (generator.integers(len(parts), size=len(parts)) for _ in range(RESAMPLES))
                means = np.array([parts[draw].mean(axis=0) for draw in draws])
                np.quantile(means, [0.025, 0.975], axis=0)
            spent["resampling"] += watch.seconds
            spent["resampling_cpu"] += watch.cpu
            values = dict(zip(_RATES, parts.mean(axis=0).tolist(), strict=True))
            records.append({"respondent": respondent, "items_per_call": size, **values})
    return {**_figures("whole", whole), **spent, "rates": _keyed(records)}


def check_same(ours: Mapping[str, list[float]], theirs: Mapping[str, list[float]]) -> None:
    """Raise where the two ways differ in a rate."""
    apart = [
        abs(one - other)
        for name, own in ours.items()
        for one, other in zip(own, theirs[name], strict=True)
    ]
    if ours.keys() != theirs.keys() or max(apart) > TOLERANCE:
        raise RuntimeError("the two ways differ in a rate")


def fill(*, path: str, rows: str, words: int) -> int:
    """Bring in the answers, in the database and as a Parquet file; how many there are."""
    import numpy as np
    import pandas as pd

    from core.files.answers import write_tidy
    from core.workflow.answers.imports import import_tidy
    from core.workflow.opening import open_workspace

    generator = np.random.default_rng(4)
    leaning = generator.normal(size=words)
    parts = []
    for model in MODELS:
        for size in SIZES:
            for test in (1, 2):
                felt = leaning + generator.normal(scale=0.7, size=words)
                answer = np.where(felt > 0, "comedy", "tragedy").astype(object)
                answer[generator.random(words) < 0.03] = ""
                parts.append(
                    pd.DataFrame(
                        {
                            "item": [f"w{n:05}" for n in range(1, words + 1)],
                            "model": model,
                            "language": "en",
                            "format": "comedy_tragedy",
                            "items_per_call": str(size),
                            "repetition": test,
                            "answer": answer,
                        }
                    )
                )
    frame = pd.concat(parts, ignore_index=True)
    frame["status"] = np.where(frame["answer"] == "", "neutral", "answered")
    number = frame["item"].str[1:].astype(int).astype(str)
    frame["tags"] = '{"rank": "' + number + '", "word": "word ' + number + '"}'
    workspace = open_workspace(path)
    import_tidy(workspace, "words.csv", write_tidy(frame, "csv"), study=STUDY)
    workspace.database.checkpoint()
    workspace.close()
    frame.rename(columns={"model": "respondent"}).to_parquet(rows)
    return len(frame)
