"""How fast a corpus is filtered and sampled, and in how much memory."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure, ratio

AIM_S = 60


def measure(work: Path, *, quick: bool) -> Section:
    """The same rows as JSON Lines and Parquet, each read in turns with the lines alone."""
    rows, repeats = (2000, 1) if quick else (200_000, 2)
    call = caller(quick=quick)
    lines, parquet = work / "corpus.jsonl", work / "corpus.parquet"
    _write(lines, parquet, rows)
    found: dict[str, list[Mapping[str, float]]] = {"lines": [], "jsonl": [], "parquet": []}
    for _ in range(repeats):
        found["lines"].append(call(loads, file=str(lines)))
        found["jsonl"].append(call(ours, file=str(lines)))
        found["parquet"].append(call(ours, file=str(parquet)))
    plain = median(one["cpu"] for one in found["lines"])
    names = {
        "lines": "`json.loads` of each line",
        "jsonl": "Inkblot, JSON Lines",
        "parquet": "Inkblot, Parquet",
    }
    table = []
    for kind, label in names.items():
        seconds, cpu = (median(one[unit] for one in found[kind]) for unit in ("seconds", "cpu"))
        peak = max(one["peak"] for one in found[kind]) / 1e6
        share = "1" if kind == "lines" else ratio(cpu, plain)
        cells = map(figure, (seconds, cpu, rows / seconds, peak))
        table.append((label, *cells, share))
    size = lines.stat().st_size / 1e6
    return Section(
        "Choosing from a corpus",
        f"{rows:,} rows of two conversations (2 to 12 messages, {size:,.0f} MB as JSON Lines), "
        "filtered by language and length, cropped to the first exchange, without equal first "
        "messages, and 300 drawn, stratified by a column: counting, the sample, its texts and the "
        "hash of the file. Against `json.loads` of the lines, which keeps nothing. Aim: under "
        f"{AIM_S} s and 1,000 MB for 200,000 rows.",
        ("", "s", "CPU-s", "rows/s", "peak, MB", "ratio of CPU"),
        table,
        (f"Medians of {repeats}, each in a new process; the peak holds Python and its packages.",),
        ("pyarrow",),
    )


def ours(*, file: str) -> Mapping[str, float]:
    """Filter, crop and draw."""
    from benchmarks.machine import memory_peak
    from core.domain.recipes import CorpusChoices
    from core.workflow.contexts import corpora

    choices = CorpusChoices(
        ("conversation_a", "conversation_b"),
        code="question_id",
        language="language",
        languages=("en",),
        least_messages=4,
        exchanges=1,
        duplicates="first_message",
        count=100,
        stratify="winner",
    )
    with Stopwatch() as watch, open(file, "rb") as stream:
        corpus = corpora.Corpus(Path(file).name, stream)
        selection = corpora.select(corpus, choices)
        contexts = corpora.take(corpus, choices, selection)
        corpora.recipe_of(corpus, choices, selection)
    if len(contexts) != 300:
        raise RuntimeError(f"{len(contexts)} contexts were drawn")
    return {**watch.figures, "peak": memory_peak()}


def loads(*, file: str) -> Mapping[str, float]:
    """Read each line as JSON."""
    from benchmarks.machine import memory_peak

    with Stopwatch() as watch, open(file, "rb") as stream:
        for line in stream:
            json.loads(line)
    return {**watch.figures, "peak": memory_peak()}


def _rows(count: int) -> Iterator[dict[str, object]]:
    draw = random.Random(1)
    words = [f"word{number}" for number in range(5000)]

    def talk(number: int, turns: int) -> list[dict[str, str]]:
        messages = []
        for turn in range(turns):
            question = f"Question {number}.{turn} " + " ".join(draw.sample(words, 20))
            reply = " ".join(draw.sample(words, 100))
            messages += [
                {"role": "user", "content": question},
                {"role": "assistant", "content": reply},
            ]
        return messages

    for number in range(count):
        turns = draw.choice((1, 1, 2, 2, 3, 6))
        yield {
            "question_id": f"q{number}",
            "winner": ("model_a", "model_b", "tie")[number % 3],
            "conversation_a": talk(number, turns),
            "conversation_b": talk(number, turns),
            "turn": turns,
            "language": draw.choice(("English", "English", "German", "Chinese")),
        }


def _write(lines: Path, parquet: Path, count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    part: list[dict[str, object]] = []
    with lines.open("w", encoding="utf-8") as file:
        for number, row in enumerate(_rows(count), start=1):
            file.write(json.dumps(row) + "\n")
            part.append(row)
            if len(part) == 10_000 or number == count:
                table = pa.Table.from_pylist(part)
                writer = writer or pq.ParquetWriter(parquet, table.schema)
                writer.write_table(table)
                part = []
    if writer is not None:
        writer.close()
