"""Runs a study on a disk that is full for a while, and prints what was seen as JSON.

The limit is the operating system's own on the size of a file this process may write, so that the
database meets a real failed write; it is lifted again to see that nothing was lost.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from pathlib import Path

from core.workflow import answers, collection, collector
from core.workflow.workspace import open_workspace
from tests.workflow.studies import freeze, simulated


def main(path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead of the process ending
    collector.RETRY_WRITING_S = 0.2
    workspace = open_workspace(path)
    freeze(workspace, simulated(), n_personas=200)
    sizes = [file.stat().st_size for file in path.parent.glob("x.duckdb*")]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) + 150_000, hard))
    collection.start(workspace, "study")
    deadline = time.monotonic() + 60
    seen = ""
    while not seen and time.monotonic() < deadline:
        time.sleep(0.05)
        seen = next(iter(collector.trouble.values()), "")
    shown = collection.progress(workspace, "study")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    ended = collection.wait(workspace, "study", every_s=0.05)
    collection.start(workspace, "study")
    finished = collection.wait(workspace, "study", every_s=0.05)
    counts = answers.counts(workspace, "study").drop(columns="respondent").to_numpy().sum()
    (attempts,) = workspace.database.row("select count(*) from attempt")
    print(  # noqa: T201
        json.dumps(
            {
                "trouble": seen,
                "reason": shown.reason,
                "after": ended.state,
                "finished": finished.state,
                "done": finished.n_done,
                "counted": int(counts),
                "attempts": attempts,
            }
        )
    )
    workspace.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
