"""Simulate studies, and write how often intervals cover and tests err: docs/coverage.md."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.coverage.cases import Case
from benchmarks.coverage.catalog import cases
from benchmarks.coverage.report import AGAIN, text, text_again, wrong
from benchmarks.coverage.runs import judged
from core.workflow.statistics import analyses

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "coverage.md"
KEPT = ROOT / "build" / "coverage.jsonl"
QUICK, FULL = 5, 500


def main(arguments: list[str] | None = None) -> int:
    """Judge the cases named, or all; 0 when done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ANALYSIS", help="default: all")
    parser.add_argument("--studies", type=int, default=FULL, help=f"of each case; {FULL}")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} studies of each")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--anew", action="store_true", help="forget the studies that were judged")
    parser.add_argument(
        "--again",
        action="store_true",
        help=f"judge the designs that promise too much again, in {len(AGAIN)} other studies",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the sections of these analyses are written anew; default: docs/coverage.md, where "
        "all are judged",
    )
    asked = parser.parse_args(arguments)
    if asked.anew:
        KEPT.unlink(missing_ok=True)
    every = list(cases())
    chosen = [case for case in every if not asked.names or case.analysis in asked.names]
    studies = QUICK if asked.quick else asked.studies
    kept = None if asked.quick else KEPT
    if asked.again:
        _judge_again(asked.out or FILE, every, chosen, asked.workers)
        return 0
    found = judged(chosen, range(studies), kept, asked.workers)
    if not asked.out and (asked.quick or asked.names):
        sys.stdout.write(text(every, found, studies))
        return 0
    file = asked.out or FILE
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(text(every, found, studies, before), encoding="utf-8")
    return 0


def _judge_again(file: Path, every: Sequence[Case], named: Sequence[Case], workers: int) -> None:
    page = file.read_text(encoding="utf-8")
    designs = wrong(page)
    chosen = [
        case for case in named if (analyses.by_name(case.analysis).title, case.design) in designs
    ]
    found = judged(chosen, AGAIN, KEPT, workers)
    file.write_text(text_again(every, found, page), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
