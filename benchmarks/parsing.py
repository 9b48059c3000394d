"""How many replies a second are read, against the regular expression of a published study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio

CORPUS = Path(__file__).parents[1] / "tests" / "collect" / "corpus" / "replies.jsonl"
AIM = 20_000


def measure(work: Path, *, quick: bool) -> Section:
    """Read the replies of the tests' corpus again and again, both ways in turns."""
    count, repeats = (2000, 1) if quick else (100_000, 3)
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(repeats):
        found["ours"].append(in_child(ours, count=count)["cpu"])
        found["theirs"].append(in_child(theirs, count=count)["cpu"])
    mine, pattern = (median(seconds) for seconds in found.values())
    rows = [
        ("Inkblot", figure(mine), figure(count / mine), ratio(mine, pattern)),
        ("first digit by a regular expression", figure(pattern), figure(count / pattern), "1"),
    ]
    return Section(
        "Reading replies",
        f"{count:,} replies to single questions of the tests' corpus (six languages, all formats, "
        "from bare codes to paragraphs), read on one core, against `re.search` for the first "
        f"digit, which reads numbers only and anything as one. Aim: {AIM:,} replies a second.",
        ("", "CPU-s", "replies/s", "ratio of CPU"),
        rows,
        (f"Medians of {repeats}, each in a new process; what is built once for a format counts.",),
    )


def ours(*, count: int) -> Mapping[str, float]:
    """Read with the parser."""
    from core.collect.replies.reader import parse

    asked = [_asked(line) for line in _single()]
    with Stopwatch() as watch:
        for number in range(count):
            text, response_format, language, finish_reason = asked[number % len(asked)]
            parse(text, response_format, language, finish_reason=finish_reason)
    return watch.figures


def theirs(*, count: int) -> Mapping[str, float]:
    """Look for the first digit."""
    import re

    digit = re.compile(r"\d")
    texts = [str(line["reply"]) for line in _single()]
    with Stopwatch() as watch:
        for number in range(count):
            digit.search(texts[number % len(texts)])
    return watch.figures


def _single() -> list[dict]:
    lines = map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if "items" not in line]


def _asked(line: Mapping) -> tuple:
    from core.domain import formats

    found = formats.BUILT_IN[line["format"]]
    if "entity" in line:
        found = formats.name_entities(found, line["entity"], line["entity_b"])
    return line["reply"], found, line["language"], line.get("finish_reason", "stop")
