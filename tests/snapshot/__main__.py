"""Write the snapshot into a folder: `python -m tests.snapshot FOLDER`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from core.workflow.opening import open_workspace
from tests.snapshot import exports, results
from tests.snapshot.studies import CATALOG


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.snapshot", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder that is empty or not there yet")
    parser.add_argument(
        "--only", action="append", default=[], metavar="STUDY", help="only this study; repeatable"
    )
    parser.add_argument(
        "--analysis", action="append", default=[], help="only results of this one; repeatable"
    )
    parsed = parser.parse_args()
    if parsed.folder.exists() and any(parsed.folder.iterdir()):
        parser.error(f"{parsed.folder} is not empty")
    write(parsed.folder, tuple(parsed.only), tuple(parsed.analysis))
    return 0


def write(folder: Path, only: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> None:
    """Make the studies in a database of their own and write all that comes of them.

    With names of analyses, their results alone.
    """
    with tempfile.TemporaryDirectory() as place:
        workspace = open_workspace(Path(place) / "snapshot.duckdb")
        try:
            if not only and not names:
                _timed("banks, contexts, plans", exports.write_common, workspace, folder)
            for entry in CATALOG:
                if not only or entry.name in only:
                    _timed(f"{entry.name}: answers", entry.make, workspace)
                    if not names:
                        what = f"{entry.name}: files"
                        _timed(what, exports.write_studies, workspace, entry, folder)
                    _timed(f"{entry.name}: results", results.write, workspace, entry, folder, names)
        finally:
            workspace.close()


def _timed(what: str, do: Callable[..., None], *arguments: object) -> None:
    """Do it, and say how many seconds of a processor it took."""
    started = time.process_time()
    do(*arguments)
    sys.stderr.write(f"{time.process_time() - started:6.1f} s  {what}\n")


if __name__ == "__main__":
    sys.exit(main())
