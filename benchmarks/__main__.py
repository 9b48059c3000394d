"""Command line: measure, and write what was found."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from benchmarks import machine, report

ROOT = Path(__file__).parents[1]
NAMES = (
    "start_up", "collection", "limits", "memory", "plan", "blocks", "batches", "contexts",
    "parsing", "rereading", "statistics", "option_counts", "statement_tests", "words", "explore",
    "psychometrics", "many_items", "recovery", "imports", "long_imports", "wide_scores",
    "exported_tables", "reports", "pages", "browser", "workers", "local_model",
)  # fmt: skip
FILE = ROOT / "docs" / "benchmarks.md"
QUICK_FILE = ROOT / "build" / "benchmarks-quick.md"  # tiny sizes say nothing about speed


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named, or all; 0 when done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument(
        "--out",
        type=Path,
        help="default: docs/benchmarks.md, or with --quick build/benchmarks-quick.md",
    )
    asked = parser.parse_args(arguments)
    unknown = set(asked.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no benchmark '{min(unknown)}'; choose of {', '.join(NAMES)}")
    out = asked.out or (QUICK_FILE if asked.quick else FILE)
    with tempfile.TemporaryDirectory(prefix="inkblot-benchmarks-") as folder:
        for name in [name for name in NAMES if not asked.names or name in asked.names]:
            print(f"{name} ...", file=sys.stderr, flush=True)
            benchmark = importlib.import_module(f"benchmarks.{name}")
            with machine.Watch() as watch:
                section = benchmark.measure(Path(folder), quick=asked.quick)
            text = report.section_text(section, machine.described(section.packages, watch))
            report.write_section(out, section.title, text, quick=asked.quick)
            print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
