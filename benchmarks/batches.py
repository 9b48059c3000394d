"""How many calls a second go out as batch files and come in, against plain Python's JSON lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from statistics import median

from benchmarks import machine
from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio

AIM = 20_000
ITEMS = 20
SIZES = (20_000, 100_000)
REPEATS = 3


def measure(work: Path, *, quick: bool) -> Section:
    """Write and take files of two sizes; the smaller one shows whether memory grows."""
    sizes, repeats = ((400,), 1) if quick else (SIZES, REPEATS)
    rows = []
    for calls in sizes:
        runs = []
        for number in range(repeats):
            folder = work / f"batches_{calls}_{number}"
            folder.mkdir()
            runs.append(in_child(export_and_import, folder=str(folder), calls=calls))
            for file in folder.rglob("*.*"):
                file.unlink()
        for name, words in (("export", "plain_write"), ("import", "plain_read")):
            cpu = median(run[name]["cpu"] for run in runs)
            seconds = median(run[name]["seconds"] for run in runs)
            plain = median(run[words]["cpu"] for run in runs)
            peak = max(run[name]["peak"] for run in runs)
            rows.append(
                (
                    f"{name} of {calls:,}",
                    figure(seconds),
                    figure(cpu),
                    figure(calls / seconds),
                    figure(calls / cpu),
                    figure(calls / plain),
                    ratio(cpu, plain),
                    figure(peak),
                )
            )
    return Section(
        "Batches",
        f"Calls of a plan of {ITEMS} items and many personas, written as OpenAI Batch JSONL "
        "(prompts rendered, kept in the database with hashes and costs at worst), and their "
        "replies taken from an output file (read, coded and stored in one transaction), against "
        "plain Python that only writes the same lines by `json.dumps`, or only reads them by "
        f"`json.loads`, in the same process. Aim: {AIM:,} calls a second each way.",
        (
            "",
            "s",
            "CPU-s",
            "calls/s",
            "calls/CPU-s",
            "plain lines/CPU-s",
            "ratio of CPU",
            "peak MB",
        ),
        rows,
        (
            f"{'One run' if repeats == 1 else f'Medians of {repeats} runs'}, each in a new process "
            "and a new file. Peaks are those of the process so far, freezing of the plan included; "
            "the export holds the calls of one file, 50,000 at most.",
        ),
        ("duckdb", "pyarrow"),
    )


def export_and_import(*, folder: str, calls: int) -> Mapping[str, Mapping[str, float]]:
    """Write all calls of a plan as files, answer them, and take the answers."""
    from core.workflow.opening import open_workspace
    from core.workflow.runs.batches import replies, requests
    from tests.workflow.studies import freeze, service

    place = Path(folder)
    workspace = open_workspace(place / "inkblot.duckdb")
    person = service("http://127.0.0.1:9/v1", price_in=1.0, price_out=1.0)
    freeze(workspace, person, n_personas=calls // ITEMS)
    figures = {}
    with Stopwatch() as watch:
        batches = requests.export(workspace, "study", place / "out")
    figures["export"] = {**watch.figures, "peak": _peak()}
    output = place / "output.jsonl"
    plain = {"seconds": 0.0, "cpu": 0.0}
    with output.open("w", encoding="utf-8") as answers, (place / "plain").open("w") as copy:
        for batch in batches:
            with (place / "out" / batch.file).open(encoding="utf-8") as file:
                while lines := [json.loads(line) for line in islice(file, 5000)]:
                    with Stopwatch() as watch:
                        copy.writelines(json.dumps(line) + "\n" for line in lines)
                    plain = {name: plain[name] + value for name, value in watch.figures.items()}
                    answers.writelines(json.dumps(_answer(line)) + "\n" for line in lines)
    figures["plain_write"] = plain
    with Stopwatch() as watch, output.open("rb") as file:
        replies.import_replies(workspace, "study", "output.jsonl", file)
    figures["import"] = {**watch.figures, "peak": _peak()}
    with Stopwatch() as watch, output.open("rb") as file:
        for line in file:
            json.loads(line)
    figures["plain_read"] = watch.figures
    workspace.close()
    return figures


def _peak() -> float:
    """The most memory of this process so far, in MB."""
    return machine.memory_peak() / 1e6


def _answer(request: Mapping) -> dict:
    """A line of an output file."""
    message = {"role": "assistant", "content": str(int(request["custom_id"]) % 5 + 1)}
    return {
        "id": f"batch_req_{request['custom_id']}",
        "custom_id": request["custom_id"],
        "response": {
            "status_code": 200,
            "request_id": "req",
            "body": {
                "id": "chatcmpl",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "snapshot",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
            },
        },
        "error": None,
    }
