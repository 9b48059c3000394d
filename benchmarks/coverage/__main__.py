"""Simulate studies, and write how often intervals cover and tests err: docs/coverage.md."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.coverage.catalog import cases
from benchmarks.coverage.report import text
from benchmarks.coverage.runs import judged

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
    parser.add_argument("--out", type=Path, help="default: docs/coverage.md, where all are judged")
    asked = parser.parse_args(arguments)
    if asked.anew:
        KEPT.unlink(missing_ok=True)
    every = list(cases())
    chosen = [case for case in every if not asked.names or case.analysis in asked.names]
    judged_names = {case.analysis for case in chosen}
    others = dict.fromkeys(each.analysis for each in every if each.analysis not in judged_names)
    studies = QUICK if asked.quick else asked.studies
    kept = None if asked.quick else KEPT
    found = judged(chosen, studies, kept, asked.workers)
    written = text(chosen, found, studies, list(others))
    if not asked.out and (asked.quick or asked.names):
        sys.stdout.write(written)
    else:
        (asked.out or FILE).write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
