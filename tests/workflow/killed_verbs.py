"""Does one thing after the other in a process of its own, and kills it as it is told.

Reads orders from its input, one JSON a line, and prints how each ended. Every order is a fork of
this process, so that packages are loaded once and a kill comes after a part of the work, not of
the loading.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

from core.workflow.answers import exports, imports, rereading
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import exported_tables
from tests.workflow.studies import KEY_VARIABLE, freeze, simulated

ROOT = Path(__file__).parents[2]
STUDIES, ROWS = ("one", "two"), 5000


@contextmanager
def orders() -> Iterator[Callable[..., dict]]:
    """Has verbs done: `order(verb, path, after)` says how one ended; after None: no kill."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.workflow.killed_verbs"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", KEY_VARIABLE: "sk-test-canary-0123456789"},
    ) as process:

        def order(verb, path, after=None):
            line = json.dumps({"verb": verb, "path": str(path), "after": after})
            process.stdin.write(line + "\n")
            process.stdin.flush()
            ended = json.loads(process.stdout.readline())
            assert ended["status"] in (0, -signal.SIGKILL)
            return ended

        yield order
        process.stdin.close()


def tidy_file() -> bytes:
    """Answers of two studies."""
    rows = (
        f"{study},i{n % 50},{n % 5 + 1},m{n // 50},{sha256(b'%d' % n).hexdigest()}"
        for study in STUDIES
        for n in range(ROWS)
    )
    return "\n".join(["study,item,answer,model,raw", *rows]).encode()


def first_start(path, ready):
    ready()
    open_workspace(path).close()


def import_answers(path, ready):
    workspace, data = open_workspace(path), tidy_file()
    ready()
    imports.import_tidy(workspace, "a.csv", data)
    workspace.close()


def freeze_study(path, ready):
    workspace = open_workspace(path)
    ready()
    freeze(workspace, simulated(), n_personas=100, repetitions=5)
    workspace.close()


def run(path, ready):
    workspace = open_workspace(path)
    count = "select count(*) from sending"
    before = workspace.database.row(count)
    state = control.progress(workspace, "study")
    if state.n_done < state.n_trials:
        control.start(workspace, "study")
        # The first call opens the connection, the second leaves when it stands.
        while workspace.database.row(count) < (before[0] + 2,):
            time.sleep(0.005)
    ready()
    control.wait(workspace, "study", every_s=0.1)
    workspace.close()


def reread(path, ready):
    workspace = open_workspace(path)
    ready()
    rereading.apply_rereading(workspace, rereading.preview_rereading(workspace, "study"))
    workspace.close()


def export(path, ready):
    workspace = open_workspace(path)
    ready()
    exports.export_study(workspace, "study", Path(path).parent / "exported")
    workspace.close()


def export_tables(path, ready):
    workspace = open_workspace(path)
    ready()
    exported_tables.export_tables(workspace, ["study"], Path(path).parent / "tables")
    workspace.close()


def done(order, ready) -> int:
    """The exit code of the process that does what was ordered."""
    try:
        globals()[order["verb"]](order["path"], ready)
    except BaseException:  # noqa: BLE001  # the parent must hear of it
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os._exit(done(order, partial(os.write, tell, b"!")))
        os.close(tell)
        os.read(told, 1)
        os.close(told)
        begun = time.monotonic()
        ended, status = 0, 0
        while not ended and (order["after"] is None or time.monotonic() - begun < order["after"]):
            time.sleep(0.002)
            ended, status = os.waitpid(child, os.WNOHANG)
        if not ended:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        status = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begun
        sys.stdout.write(json.dumps({"status": status, "seconds": seconds}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
