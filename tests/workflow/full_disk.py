"""Runs a study, or imports answers, on a disk that is full for a while; prints JSON.

The limit is the operating system's own on the size of a file this process may write, so that the
database meets a real failed write; it is lifted again to see that nothing was lost.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import time
from hashlib import sha256
from pathlib import Path

from core.errors import StoreError
from core.store import saved_inputs
from core.workflow.answers import browsing, imports
from core.workflow.opening import open_workspace
from core.workflow.runs import collector, control
from tests.workflow.studies import freeze, simulated


def main(path: Path) -> None:
    """A run."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead of the process ending
    collector.RETRY_WRITING_S = 0.2
    workspace = open_workspace(path)
    freeze(workspace, simulated(), n_personas=200)
    sizes = [file.stat().st_size for file in path.parent.glob("x.duckdb*")]
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(sizes) + 150_000, hard))
    control.start(workspace, "study")
    deadline = time.monotonic() + 60
    seen = ""
    while not seen and time.monotonic() < deadline:
        time.sleep(0.05)
        seen = next(iter(collector.write_problems.values()), "")
    shown = control.progress(workspace, "study")
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    ended = control.wait(workspace, "study", every_s=0.05)
    control.start(workspace, "study")
    finished = control.wait(workspace, "study", every_s=0.05)
    counts = browsing.status_counts(workspace, "study", ["respondent"])["count"].sum()
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


def import_answers(path: Path) -> None:
    """An import of more than the disk takes, twice, and once more when there is room."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    workspace = open_workspace(path)
    workspace.database.checkpoint()
    before = path.stat().st_size
    rows = (
        f"i{n % 100},{n % 5 + 1},m{n // 100},{sha256(b'%d' % n).hexdigest() * 3}"
        for n in range(100_000)
    )
    data = "\n".join(["item,answer,model,raw", *rows]).encode()
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (before + 10_000_000, hard))
    said, files = [], []
    for _ in range(2):
        try:
            imports.import_tidy(workspace, "a.csv", data)
        except StoreError as error:
            said.append(str(error))
        files.append({file.name: file.stat().st_size for file in path.parent.iterdir()})
    saved_inputs.save_page_input(
        workspace.database, "typed", "a text"
    )  # small things are kept meanwhile
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    kept = saved_inputs.page_input(workspace.database, "typed")
    (done,) = imports.import_tidy(workspace, "a.csv", data)
    print(  # noqa: T201
        json.dumps(
            {
                "before": before,
                "said": said,
                "files": files,
                "kept": kept and kept[0],
                "rows": done.n_rows,
            }
        )
    )
    workspace.close()


if __name__ == "__main__":
    {"run": main, "import": import_answers}[sys.argv[1]](Path(sys.argv[2]))
